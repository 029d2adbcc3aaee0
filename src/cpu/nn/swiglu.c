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
#define X(ID, suffix, S, mant, exp, inf, dlpack) slot[TSR_##ID] = ISA(swiglu_##suffix);
#include "core/short_floats.def"
#undef X
    slot[TSR_F32] = ISA(swiglu_f32);
    slot[TSR_F64] = ISA(swiglu_f64);
}

#endif
