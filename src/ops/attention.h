/* attention.h - what the table of traits knows of attention. */
#ifndef TSRI_ATTENTION_H
#define TSRI_ATTENTION_H

#include "dispatch.h"

tsr_status tsri_infer_attention(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                const void *params);
tsr_status tsri_parts_attention(const tsr_op *op);
double     tsri_work_attention(const tsr_desc *const *in, const tsr_desc *out, const void *params);

tsr_status tsri_infer_self_attention(tsr_desc *out, const char *name, tsr_op_kind kind,
                                     const tsr_desc *const *in, const void *params);
tsr_status tsri_parts_self_attention(const tsr_op *op);
double     tsri_work_self_attention(const tsr_desc *const *in, const tsr_desc *out, const void *params);

#endif
