/* statistics.h - what ops that count and choose share: operands as packed memory. */
#ifndef TSRI_STATISTICS_H
#define TSRI_STATISTICS_H

#include "composed.h"
#include "tessera/ops/statistics.h"
#include "tessera/scope.h"

/* *t packed, of this dtype and on the host: itself, or a copy that *temporary holds, to be released. */
tsr_status tsri_as_packed(const tsr_tensor **t, tsr_tensor **temporary, const char *op, tsr_dtype dtype);

/* The same beside x, on whose device the rest is computed. */
tsr_status tsri_as_packed_beside(const tsr_tensor **t, tsr_tensor **temporary, const char *op,
                                 tsr_dtype dtype, const tsr_tensor *x);

/* A packed tensor beside x; of the host, if x is on the CPU. */
tsr_status tsri_make_packed_beside(tsr_tensor **out, const char *op, tsr_dtype dtype, int ndim,
                                   const int64_t *shape, const tsr_tensor *x);

#endif
