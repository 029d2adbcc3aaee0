/* pad_rows.h - short rows of a large result that a constant pads. */
#ifndef TSRI_PAD_ROWS_H
#define TSRI_PAD_ROWS_H

#include "op.h"

/* Is t, padded to out, such that tsri_pad_rows may be called? Rows of t run on, and out is packed and the
 * host's. */
bool tsri_pads_rows(const tsr_tensor *out, const tsr_tensor *t);

/* out = t with `before` elements of each dim ahead of it, and value around. */
tsr_status tsri_pad_rows(tsr_tensor *out, const tsr_tensor *t, const int64_t *before, tsr_scalar value);

#endif
