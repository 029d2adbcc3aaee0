/* quant.h - what the table of traits knows of quantised tensors. */
#ifndef TSRI_QUANT_H
#define TSRI_QUANT_H

#include "dispatch.h"

/* Quantise and dequantise. */
tsr_status tsri_infer_quantise(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                               const void *params);
tsr_status tsri_parts_quantise(const tsr_op *op);
tsr_status tsri_parts_dequantise(const tsr_op *op);

tsr_status tsri_infer_quant_range(tsr_desc *out, const char *name, tsr_op_kind kind,
                                  const tsr_desc *const *in, const void *params);
tsr_status tsri_parts_quant_range(const tsr_op *op);

tsr_status tsri_infer_quant_dynamic(tsr_desc *out, const char *name, tsr_op_kind kind,
                                    const tsr_desc *const *in, const void *params);
tsr_status tsri_parts_quant_dynamic(const tsr_op *op);

/* Blocks (blocks.c). */
tsr_status tsri_infer_dequantise_blocks(tsr_desc *out, const char *name, tsr_op_kind kind,
                                        const tsr_desc *const *in, const void *params);
tsr_status tsri_infer_linear_blocks(tsr_desc *out, const char *name, tsr_op_kind kind,
                                    const tsr_desc *const *in, const void *params);
tsr_status tsri_parts_linear_blocks(const tsr_op *op);

#endif
