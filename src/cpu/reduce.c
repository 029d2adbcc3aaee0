/* reduce.c - the kernels that collect and scan, in plain C over libm, and their table.
 *
 * LIMIT: powers and exponentials go through libm one element at a time. */
#ifndef TSR_FREESTANDING

#include <math.h>

#include "core/half.h"
#include "kernels.h"

enum {
    LANES = 16,  /* sums of a leaf that are added to independently, so that the machine need not wait */
    LEAF  = 128, /* elements of a run whose sum is taken without carrying errors */
    ROWS  = 8    /* the same for outputs side by side */
};

/* What a scan carries along. */
typedef struct carried { double re, re_lost, im, im_lost; } carried;

/* Pairwise. */
static inline double fold_lanes(double lane[LANES])
{
    for (int w = LANES / 2; w > 0; w /= 2)
        for (int l = 0; l < w; l++) lane[l] += lane[l + w];
    return lane[0];
}

/* Which kernels there are for each class of dtypes: X(kernel, KIND). */
#define COUNT_COLLECTS(X) X(nonzero, NONZERO) X(zero, ZERO)
#define REAL_COLLECTS(X)  COUNT_COLLECTS(X) X(sum, SUM) X(prod, PROD) X(max, MAX) X(min, MIN) X(argmax, ARGMAX) \
                         X(argmin, ARGMIN)
#define NORM_COLLECTS(X)  X(abs_max, ABS_MAX) X(abs_min, ABS_MIN) X(abs_sum, ABS_SUM) X(squares, SQUARES) \
                         X(powers, POWERS) X(deviations, DEVIATIONS)
#define FLOAT_COLLECTS(X) NORM_COLLECTS(X) X(exps, EXPS)
#define COMPLEX_COLLECTS(X) COUNT_COLLECTS(X) NORM_COLLECTS(X) X(sum, SUM) X(prod, PROD)

#define TEMPLATE "reduce_float.inc"
#include "template/each_float.inc"
#undef TEMPLATE
#define TEMPLATE "reduce_integer.inc"
#include "template/each_integer.inc"
#undef TEMPLATE
#define TEMPLATE "reduce_complex.inc"
#include "template/each_complex.inc"
#undef TEMPLATE

/* bool is an unsigned byte of which any value but 0 is 1. */
#define S uint8_t
#define IS_SIGNED 0
#define DTYPE TSR_BOOL
#define LOAD(s) ((s) != 0)
#define NAME(x) x##_bool
#include "template/reduce_integer.inc"
#include "template/end_class.inc"

/* c32 is only asked whether it is zero, which its bits tell. */
#define S tsr_c32
#define NAME(x) x##_c32
static inline bool is_set_c32(tsr_c32 x) { return ((x.re | x.im) & 0x7fff) != 0; }
#include "template/reduce_count.inc"
#include "template/end_class.inc"

void tsri_cpu_reduce_portable(tsri_cpu_kernels *k)
{
    enter_f8e4m3(k); enter_f8e5m2(k); enter_f16(k); enter_bf16(k); enter_f32(k); enter_f64(k);
    enter_i8(k); enter_i16(k); enter_i32(k); enter_i64(k);
    enter_u8(k); enter_u16(k); enter_u32(k); enter_u64(k);
    enter_c64(k); enter_c128(k);
    enter_bool(k);
#define X(kernel, KIND) k->collect[TSRI_COLLECT_##KIND][TSR_C32] = kernel##_c32;
    COUNT_COLLECTS(X)
#undef X
}

#else

#include "kernels.h"

/* A freestanding build has no libm, and no reductions. */
void tsri_cpu_reduce_portable(tsri_cpu_kernels *k) { (void)k; }

#endif
