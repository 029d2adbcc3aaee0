/* cpu_run.h - op -> loop -> kernel, split over threads. */
#ifndef TSRI_CPU_RUN_H
#define TSRI_CPU_RUN_H

#include "core/status_int.h"
#include "tessera/backend.h"

tsr_status tsri_cpu_copy(const tsr_op *op);
tsr_status tsri_cpu_fill(const tsr_op *op);
tsr_status tsri_cpu_random(const tsr_op *op);

/* Any op of the elementwise table. */
bool       tsri_cpu_has_elementwise(const tsr_op *op);
tsr_status tsri_cpu_elementwise(const tsr_op *op);

#endif
