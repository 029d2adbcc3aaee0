/* attention.h - attention on the CPU. */
#ifndef TSRI_CPU_ATTENTION_H
#define TSRI_CPU_ATTENTION_H

#include "tessera/backend.h"

tsr_status tsri_cpu_attention(const tsr_op *op);

#endif
