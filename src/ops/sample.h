/* sample.h - what the table of traits knows of sampling. */
#ifndef TSRI_SAMPLE_H
#define TSRI_SAMPLE_H

#include "dispatch.h"

tsr_status tsri_parts_sample(const tsr_op *op);
double     tsri_work_sample(const tsr_desc *const *in, const tsr_desc *out, const void *params);

#endif
