/* contract.h - sums of products of tensors, by the names of dims. */
#ifndef TSRI_CONTRACT_H
#define TSRI_CONTRACT_H

#include "op.h"

/* A tensor whose dims have names. The view looks at memory that somebody else holds. */
typedef struct tsri_named {
    tsr_tensor view;
    uint8_t    name[TSR_MAX_NDIM];
} tsri_named;

/* Which dim has the name, or -1. */
static inline int tsri_find_dim(const tsri_named *t, uint8_t name)
{
    for (int i = 0; i < t->view.ndim; i++)
        if (t->name[i] == name) return i;
    return -1;
}

/* z = the sum of a * b over the names that z lacks; b NULL counts as 1. All are of one
 * dtype, have memory, and z overlaps neither. A name stands once in a tensor and has one
 * size everywhere; those of z stand in a or b; one that z lacks stands in both, unless b
 * is NULL. */
tsr_status tsri_contract(const char *op, const tsri_named *z, const tsri_named *a, const tsri_named *b);

#endif
