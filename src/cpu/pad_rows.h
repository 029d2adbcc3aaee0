/* pad_rows.h - short rows of a large result that a constant pads. */
#ifndef TSRI_CPU_PAD_ROWS_H
#define TSRI_CPU_PAD_ROWS_H

#include "core/status_int.h"
#include "tessera/tensor.h"

/* out = x with before[d] elements ahead of it in dim d, and value around it. False, and nothing was done, if
 * out is small or not contiguous, or rows are long or have strides. The host reaches both. */
bool tsri_cpu_pad(tsr_status *s, tsr_tensor *out, const tsr_tensor *x, const int64_t *before,
                  tsr_scalar value);

#endif
