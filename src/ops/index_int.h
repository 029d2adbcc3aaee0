/* index_int.h - operands that hold indices. */
#ifndef TSRI_INDEX_INT_H
#define TSRI_INDEX_INT_H

#include "op.h"

/* *t as i64: itself, or a copy in *temporary. TSR_EDTYPE unless of integers. */
tsr_status tsri_as_integers(const tsr_tensor **t, tsr_tensor **temporary, const char *op, const char *what);

typedef struct tsri_index_range {
    int64_t low, high;
} tsri_index_range;

/* The first element of t, which is i64, that is neither allowed nor *except (NULL: no exception): its value,
 * and its index in at[]. *found is false if there is none. */
tsr_status tsri_find_outside(bool *found, int64_t *value, int64_t *at, const tsr_tensor *t,
                             tsri_index_range allowed, const int64_t *except);

#endif
