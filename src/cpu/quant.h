/* quant.h - quantised tensors on the CPU. */
#ifndef TSRI_CPU_QUANT_H
#define TSRI_CPU_QUANT_H

#include "tessera/backend.h"

tsr_status tsri_cpu_quantise(const tsr_op *op);
tsr_status tsri_cpu_dequantise(const tsr_op *op);

#endif
