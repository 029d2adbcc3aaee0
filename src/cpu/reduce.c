/* reduce.c - kernels of reductions and scans, in plain C over libm, and their table.
 *
 * Reductions have kernels for f32, f64, signed integers and complex numbers; reduce_walk.c converts
 * other dtypes to these.
 *
 * LIMIT: powers and exponentials go through libm one element at a time. */
#ifndef TSR_FREESTANDING

#include <math.h>
#include <string.h>

#include "core/half.h"
#include "kernels.h"

enum {
    LANES = 16,  /* independent accumulators of a leaf: an addition need not wait for the one before */
    LEAF  = 128, /* elements of a run that are added without tracking the rounding error */
    ROWS  = 8    /* the same for outputs side by side */
};

/* The state of a scan. */
typedef struct carried { double re, re_lost, im, im_lost; } carried;

/* Pairwise. */
static inline double sum_lanes(double lane[LANES])
{
    for (int w = LANES / 2; w > 0; w /= 2)
        for (int l = 0; l < w; l++) lane[l] += lane[l + w];
    return lane[0];
}

#define S float
#define DTYPE TSR_F32
#define NAME(x) x##_f32
#include "template/reduce_float.inc"
#include "template/end_class.inc"

#define S double
#define DTYPE TSR_F64
#define NAME(x) x##_f64
#include "template/reduce_float.inc"
#include "template/end_class.inc"

#include "template/reduce_integer_widths.inc"

#define TEMPLATE "reduce_complex.inc"
#include "template/each_complex.inc"
#undef TEMPLATE
#define TEMPLATE "reduce_scan_float.inc"
#include "template/each_float.inc"
#undef TEMPLATE
#define TEMPLATE "reduce_scan_integer.inc"
#include "template/each_integer.inc"
#undef TEMPLATE

/* bool is an unsigned byte of which any value but 0 is 1. */
#define S uint8_t
#define IS_SIGNED 0
#define DTYPE TSR_BOOL
#define LOAD(s) ((s) != 0)
#define NAME(x) x##_bool
#include "template/reduce_scan_integer.inc"
#include "template/end_class.inc"

/* The only kernel of c32 tests for zero, by the bits. */
#define S tsr_c32
#define NAME(x) x##_c32
static inline bool is_set_c32(tsr_c32 x) { return ((x.re | x.im) & 0x7fff) != 0; }
#include "template/reduce_each.inc"
#include "template/end_class.inc"

static void finalise(tsri_states *g, const tsri_strip *s, const tsri_states *k)
{
    (void)k;
    for (int64_t i = 0; i < s->width && s->size; i++)
        g->f[0][i] = g->f[1][i] != 0 ? (double)NAN : s->least ? -g->f[0][i] : g->f[0][i];
    for (int64_t i = 0; i < s->width && !s->size; i++) g->f[0][i] = tsri_with_error(g->f[0][i], g->f[1][i]);
}

void tsri_cpu_reduce_portable(tsri_cpu_kernels *k)
{
    k->accumulate[TSRI_ACC_FINALISE][TSR_F64] = finalise;
    enter_f32(k); enter_f64(k);
    enter_integers(k);
    enter_c64(k); enter_c128(k);
    k->accumulate[TSRI_ACC_NONZERO][TSR_C32] = nonzero_c32;
#define X(ID, suffix, S, mant, exp, inf, dlpack) enter_scans_##suffix(k);
#include "core/short_floats.def"
#undef X
    enter_scans_f32(k); enter_scans_f64(k);
    enter_scans_i8(k); enter_scans_i16(k); enter_scans_i32(k); enter_scans_i64(k);
    enter_scans_u8(k); enter_scans_u16(k); enter_scans_u32(k); enter_scans_u64(k);
    enter_scans_bool(k);
}

#else

#include "kernels.h"

/* A freestanding build has no libm, and no reductions. */
void tsri_cpu_reduce_portable(tsri_cpu_kernels *k) { (void)k; }

#endif
