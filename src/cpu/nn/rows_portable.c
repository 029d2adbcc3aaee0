/* rows_portable.c - the row kernels in plain C over libm. */
#ifndef TSR_FREESTANDING

#include <math.h>

#include "core/mem.h"
#include "cpu/kernels.h"
#include "cpu/reduce.h"
#include "cpu/template/isa_suffix.inc"

enum {
    LANES = 16,  /* independent accumulators of a leaf */
    LEAF  = 512  /* elements whose sum is not compensated for rounding */
};

/* Adds lanes pairwise. */
static inline double sum_lanes(double lane[LANES])
{
    for (int w = LANES / 2; w > 0; w /= 2)
        for (int l = 0; l < w; l++) lane[l] += lane[l + w];
    return lane[0];
}

static void rotations_portable(double *cosines, double *sines, double at, const double *slowness, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        cosines[j] = cos(at / slowness[j]);
        sines[j] = sin(at / slowness[j]);
    }
}

#define T float
#define EXP(x) expf(x)
#define NAME(x) ISA(x##_f32)
#include "rows_portable.inc"
#undef T
#undef EXP
#undef NAME

#define T double
#define EXP(x) exp(x)
#define NAME(x) ISA(x##_f64)
#include "rows_portable.inc"
#undef T
#undef EXP
#undef NAME

void tsri_cpu_nn_portable(tsri_cpu_kernels *k)
{
    k->nn[TSRI_ROW_F32] = ISA(rows_f32);
    k->nn[TSRI_ROW_SHORT] = ISA(rows_f32);
    k->nn[TSRI_ROW_F64] = ISA(rows_f64);
    tsri_cpu_swiglu_portable(k);
}

#endif
