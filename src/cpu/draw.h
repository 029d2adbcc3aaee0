/* draw.h - random integers and exponential numbers on the CPU. */
#ifndef TSRI_CPU_DRAW_H
#define TSRI_CPU_DRAW_H

#include "tessera/backend.h"

tsr_status tsri_cpu_integers(const tsr_op *op);
tsr_status tsri_cpu_exponential(const tsr_op *op);

#endif
