/* swiglu.c - up * silu(gate), as one of the elementwise kernels: in double, rounded once. */
#ifndef TSR_FREESTANDING

#include <math.h>

#include "core/half.h"
#include "cpu/kernels.h"
#include "cpu/template/math.inc"

#define TEMPLATE "../nn/swiglu.inc"
#include "cpu/template/each_float.inc"
#undef TEMPLATE

void tsri_cpu_swiglu_portable(tsri_cpu_kernels *k)
{
    tsri_tile_fn *slot = k->elementwise[TSR_OP_SWIGLU];
    slot[TSR_F8E4M3] = swiglu_f8e4m3;
    slot[TSR_F8E5M2] = swiglu_f8e5m2;
    slot[TSR_F16] = swiglu_f16;
    slot[TSR_BF16] = swiglu_bf16;
    slot[TSR_F32] = swiglu_f32;
    slot[TSR_F64] = swiglu_f64;
}

#endif
