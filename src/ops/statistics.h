/* statistics.h - what ops that count and choose share: operands as packed memory of the host. */
#ifndef TSRI_STATISTICS_H
#define TSRI_STATISTICS_H

#include "composed.h"
#include "tessera/ops/statistics.h"
#include "tessera/scope.h"

/* *t packed, of this dtype and on the host: itself, or a copy that *temporary holds, to be released. */
tsr_status tsri_as_packed(const tsr_tensor **t, tsr_tensor **temporary, const char *op, tsr_dtype dtype);

/* A packed tensor of the host. */
tsr_status tsri_make_packed(tsr_tensor **out, const char *op, tsr_dtype dtype, int ndim,
                            const int64_t *shape);

/* Copies made[i], where it is not NULL, to its result beside x: all results are there, or none is
 * changed. */
tsr_status tsri_deliver(const char *op, int n, tsr_tensor **const *outs, const tsr_tensor *const *made,
                        const tsr_tensor *x);

/* TSR_EDTYPE for complex numbers. */
tsr_status tsri_check_ordered(const char *op, const char *what, const tsr_tensor *t);

#endif
