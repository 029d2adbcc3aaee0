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
#include "template/isa_suffix.inc"

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
#define NAME(x) ISA(x##_f32)
#include "template/reduce_float.inc"
#include "template/end_class.inc"

#define S double
#define DTYPE TSR_F64
#define NAME(x) ISA(x##_f64)
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
#define NAME(x) ISA(x##_bool)
#include "template/reduce_scan_integer.inc"
#include "template/end_class.inc"

/* The only kernel of c32 tests for zero, by the bits. */
#define S tsr_c32
#define NAME(x) ISA(x##_c32)
static inline bool NAME(is_set)(tsr_c32 x) { return ((x.re | x.im) & 0x7fff) != 0; }
#include "template/reduce_each.inc"
#include "template/end_class.inc"

/* Bools: the first that is set, or for the least the first that is not, ends the search. A state's value is
 * whether there was one. */

static uint64_t first_bytes(int64_t n) { return n >= 8 ? ~(uint64_t)0 : ~(~(uint64_t)0 << 8 * n); }

/* A bit, the last of its byte, for each of the first n <= 8 bools that is set, or is not. */
static uint64_t found_bools(const char *x, int64_t n, bool least)
{
    const uint64_t ones = 0x0101010101010101, low = 0x7f * ones, last = 0x80 * ones;
    uint64_t word = 0;
    if (n >= 8) memcpy(&word, x, 8);
    else        for (int64_t i = 0; i < n; i++) word |= (uint64_t)(uint8_t)x[i] << 8 * i;
    const uint64_t set = ((word & low) + low) | word;
    return (least ? ~set : set) & last & first_bytes(n);
}

static void keep_bool(tsri_states *g, int64_t j, bool found, int64_t at)
{
    if (g->i[1][j] >= 0 && found <= g->i[0][j]) return;
    g->i[0][j] = found;
    g->i[1][j] = at;
}

static void find_in_bools(tsri_states *g, const tsri_strip *s, int64_t j)
{
    const char *x = s->x + j * s->across;
    for (int64_t i = 0; i < s->n; i += 8) {
        const uint64_t found = found_bools(x + i, s->n - i, s->least);
        if (found == 0) continue;
        keep_bool(g, j, true, s->at + i + __builtin_ctzll(found) / 8);
        return;
    }
    keep_bool(g, j, false, s->at);
}

/* Eight columns. */
static void find_in_columns(tsri_states *g, const tsri_strip *s, int64_t j)
{
    const int64_t outs = s->width - j < 8 ? s->width - j : 8;
    uint64_t open = first_bytes(outs);
    for (int64_t l = 0; l < outs; l++) keep_bool(g, j + l, false, s->at);
    for (int64_t i = 0; i < s->n && (open & 0x8080808080808080); i++) {
        uint64_t found = found_bools(s->x + i * s->step + j, outs, s->least) & open;
        open &= ~found;
        for (; found; found &= found - 1) keep_bool(g, j + __builtin_ctzll(found) / 8, true, s->at + i);
    }
}

static void find_bool(tsri_states *g, const tsri_strip *s, const tsri_states *k)
{
    (void)k;
    for (int64_t j = 0; j < s->width && s->n > 0; j += s->by_runs ? 1 : 8)
        if (s->by_runs) find_in_bools(g, s, j);
        else            find_in_columns(g, s, j);
}

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
    ISA(enter_f32)(k); ISA(enter_f64)(k);
    ISA(enter_c64)(k); ISA(enter_c128)(k);
    ISA(enter_integers)(k);
    ISA(enter_short)(k);
    k->accumulate[TSRI_ACC_FIND][TSR_BOOL] = find_bool;
    k->accumulate[TSRI_ACC_NONZERO][TSR_C32] = ISA(nonzero_c32);
#define X(ID, suffix, S, mant, exp, inf, dlpack) ISA(enter_scans_##suffix)(k);
#include "core/short_floats.def"
#undef X
    ISA(enter_scans_f32)(k); ISA(enter_scans_f64)(k);
    ISA(enter_scans_i8)(k); ISA(enter_scans_i16)(k); ISA(enter_scans_i32)(k); ISA(enter_scans_i64)(k);
    ISA(enter_scans_u8)(k); ISA(enter_scans_u16)(k); ISA(enter_scans_u32)(k); ISA(enter_scans_u64)(k);
    ISA(enter_scans_bool)(k);
}

#else

#include "kernels.h"

/* A freestanding build has no libm, and no reductions. */
void tsri_cpu_reduce_portable(tsri_cpu_kernels *k) { (void)k; }

#endif
