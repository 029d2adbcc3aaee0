/* statistics.h - what histograms, quantiles and covariances share: operands as packed tensors of the host. */
#ifndef TSRI_STATISTICS_H
#define TSRI_STATISTICS_H

#include "composed.h"
#include "tessera/ops/statistics.h"
#include "tessera/scope.h"

/* *t packed, of this dtype and on the host: itself, or a copy that *temporary holds, to be released. */
tsr_status tsri_as_packed(const tsr_tensor **t, tsr_tensor **temporary, const char *op, tsr_dtype dtype);

/* TSR_EDTYPE for complex numbers. */
tsr_status tsri_check_ordered(const char *op, const char *what, const tsr_tensor *t);

#endif
