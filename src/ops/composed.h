/* composed.h - what composed ops are made of: other views of operands, and an op on them. */
#ifndef TSRI_COMPOSED_H
#define TSRI_COMPOSED_H

#include "core/see.h"
#include "op.h"
#include "operands.h"

/* out = x where mask, else y; all of one shape, x and y of out's dtype. */
static inline tsr_status tsri_where_run(tsr_tensor *out, const tsr_tensor *mask, const tsr_tensor *x,
                                        const tsr_tensor *y)
{
    return tsri_op_run(
        &(tsr_op){ .kind = TSR_OP_WHERE, .nin = 3, .nout = 1, .in = { mask, x, y }, .out = { out } });
}

/* out = t with dim i shifted by shifts[i], which is in 0 .. size - 1. out does not overlap t. */
tsr_status tsri_roll_run(tsr_tensor *out, const tsr_tensor *t, const int64_t *shifts);

#endif
