/* join.h - tensors put side by side: concat and stack, when everything is checked. */
#ifndef TSRI_JOIN_H
#define TSRI_JOIN_H

#include "op.h"

/* out = the tensors along an axis: one after another, or, if stacked, along an axis that they do not
 * have. out overlaps none of them. */
tsr_status tsri_join_run(tsr_tensor *out, int n, const tsr_tensor *const *tensors, int axis, bool stacked);

#endif
