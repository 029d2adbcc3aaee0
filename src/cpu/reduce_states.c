/* reduce_states.c - states of a reduction: initial values, merging, finalising. */
#include "reduce_run.h"

#ifndef TSR_FREESTANDING

#include <math.h>

static bool is_whole(tsri_numbers numbers) { return numbers == TSRI_SIGNEDS || numbers == TSRI_UNSIGNEDS; }

static void set_reals(double *f, int64_t width, double value)
{
    for (int64_t i = 0; i < width; i++) f[i] = value;
}

static void set_integers(int64_t *z, int64_t width, int64_t value)
{
    for (int64_t i = 0; i < width; i++) z[i] = value;
}

void tsri_states_begin(tsri_states *g, tsri_acc_kind kind, tsri_numbers numbers, int64_t width)
{
    const bool whole = is_whole(numbers), complex = numbers == TSRI_COMPLEXES;
    switch (kind) {
    case TSRI_ACC_NONZERO: set_integers(g->i[0], width, 0); return;
    case TSRI_ACC_PROD:
        if (whole) set_integers(g->i[0], width, 1);
        else       set_reals(g->f[0], width, 1);
        if (!whole)  set_reals(g->f[1], width, 0);
        if (complex) set_reals(g->f[2], width, 0);
        return;
    case TSRI_ACC_LARGEST:
    case TSRI_ACC_FIND:
        if (whole) set_integers(g->i[0], width, INT64_MIN);
        else       set_reals(g->f[0], width, -INFINITY);
        if (kind == TSRI_ACC_FIND) set_integers(g->i[1], width, -1);
        else if (!whole)               set_reals(g->f[1], width, 0);
        return;
    default:
        if (whole) set_integers(g->i[0], width, 0);
        else for (int slot = 0; slot < (complex ? 4 : 2); slot++) set_reals(g->f[slot], width, 0);
    }
}

/* Merging ----------------------------------------------------------------------------- */

static void merge_largest(tsri_states *a, const tsri_states *b, bool whole, int64_t width)
{
    for (int64_t i = 0; i < width; i++)
        if (whole) a->i[0][i] = b->i[0][i] > a->i[0][i] ? b->i[0][i] : a->i[0][i];
        else       a->f[0][i] = tsri_larger(b->f[0][i], a->f[0][i]);
    for (int64_t i = 0; i < width && !whole; i++) a->f[1][i] += b->f[1][i];
}

/* Does x replace y as the largest? `earlier`: x has the lower index. */
static bool beats(double x, double y, bool earlier)
{
    return x > y || (x != x && y == y) || (earlier && (x == y || (x != x && y != y)));
}

static bool beats_whole(int64_t x, int64_t y, bool earlier) { return x > y || (earlier && x == y); }

static void merge_found(tsri_states *a, const tsri_states *b, bool whole, int64_t width)
{
    for (int64_t i = 0; i < width; i++) {
        if (b->i[1][i] < 0) continue;
        /* The states of joined rows are not in order. */
        const bool none = a->i[1][i] < 0, earlier = b->i[1][i] < a->i[1][i];
        if (!none && !(whole ? beats_whole(b->i[0][i], a->i[0][i], earlier)
                             : beats(b->f[0][i], a->f[0][i], earlier)))
            continue;
        if (whole) a->i[0][i] = b->i[0][i];
        else       a->f[0][i] = b->f[0][i];
        a->i[1][i] = b->i[1][i];
    }
}

static void merge_products(tsri_states *a, const tsri_states *b, tsri_numbers numbers, int64_t width)
{
    for (int64_t i = 0; i < width; i++) {
        if (is_whole(numbers)) {
            a->u[0][i] *= b->u[0][i];
            continue;
        }
        a->f[1][i] += b->f[1][i];
        if (numbers == TSRI_COMPLEXES) {
            tsri_take_complex(&a->f[0][i], &a->f[2][i], &a->f[1][i], b->f[0][i], b->f[2][i]);
        } else {
            a->f[0][i] *= b->f[0][i];
            a->f[1][i] += tsri_take_exponent(&a->f[0][i]);
        }
    }
}

static void merge_sums(double *sum, double *lost, const double *more, const double *more_lost, int64_t width)
{
    for (int64_t i = 0; i < width; i++) {
        tsri_add_exactly(&sum[i], &lost[i], more[i]);
        lost[i] += more_lost[i];
    }
}

void tsri_states_merge(tsri_states *a, const tsri_states *b, tsri_acc_kind kind, tsri_numbers numbers,
                       int64_t width)
{
    switch (kind) {
    case TSRI_ACC_PROD:    merge_products(a, b, numbers, width); return;
    case TSRI_ACC_LARGEST: merge_largest(a, b, is_whole(numbers), width); return;
    case TSRI_ACC_FIND:    merge_found(a, b, is_whole(numbers), width); return;
    default: break;
    }
    if (is_whole(numbers) || kind == TSRI_ACC_NONZERO) {
        for (int64_t i = 0; i < width; i++) a->u[0][i] += b->u[0][i];
        return;
    }
    for (int slot = 0; slot < (numbers == TSRI_COMPLEXES ? 4 : 2); slot += 2)
        merge_sums(a->f[slot], a->f[slot + 1], b->f[slot], b->f[slot + 1], width);
}

static void repeat_sum(double *sum, double *lost, double times)
{
    const double product = *sum * times;
    *lost = *lost * times + fma(*sum, times, -product);
    *sum = product;
}

void tsri_states_repeat(tsri_states *g, tsri_acc_kind kind, tsri_numbers numbers, int64_t width,
                        int64_t times)
{
    if (times == 1 || kind == TSRI_ACC_LARGEST) return;
    if (is_whole(numbers) || kind == TSRI_ACC_NONZERO) {
        for (int64_t i = 0; i < width; i++) g->u[0][i] *= (uint64_t)times;
        return;
    }
    for (int slot = 0; slot < (numbers == TSRI_COMPLEXES ? 4 : 2); slot += 2)
        for (int64_t i = 0; i < width; i++) repeat_sum(&g->f[slot][i], &g->f[slot + 1][i], (double)times);
}

/* Between passes ---------------------------------------------------------------------- */

static double sum_of(const tsri_states *g, int slot, int64_t i)
{
    return tsri_with_error(g->f[slot][i], g->f[slot + 1][i]);
}

static double extreme_of(const tsri_reduction *r, const tsri_states *g, int64_t i)
{
    return g->f[1][i] != 0 ? NAN : r->least ? -g->f[0][i] : g->f[0][i];
}

/* The mean and its rounding error, which would otherwise count as a deviation. */
static void set_mean(tsri_states *k, const tsri_states *g, int slot, int64_t i, double n)
{
    const double mean = sum_of(g, slot, i) / n;
    k->f[slot][i] = mean;
    k->f[slot + 1][i] = (fma(-mean, n, g->f[slot][i]) + g->f[slot + 1][i]) / n;
}

/* A power of two that scales x to near 1. */
static double scale_of(double x)
{
    const int e = x > 0 && x < INFINITY ? ilogb(x) : 0;
    return ldexp(1, e > 1000 ? -1000 : e < -1000 ? 1000 : -e);
}

void tsri_states_plain(tsri_states *k, tsri_acc_kind kind, int64_t width)
{
    if (kind == TSRI_ACC_SQUARES) set_reals(k->f[0], width, 1);
}

/* k->f[1] holds the extreme. */
void tsri_states_constants(tsri_states *k, const tsri_states *g, const tsri_reduction *r, int64_t width)
{
    const bool spread = r->kind[1] == TSRI_ACC_DEVIATIONS;
    for (int64_t i = 0; i < width; i++) {
        if (spread) {
            set_mean(k, g, 0, i, (double)r->count);
            if (r->numbers == TSRI_COMPLEXES) set_mean(k, g, 2, i, (double)r->count);
            continue;
        }
        const double m = extreme_of(r, g, i);
        const bool plain = m - m == 0;
        k->f[1][i] = m;
        k->f[3][i] = r->p;
        if (r->op == TSR_OP_LOGSUMEXP)                 k->f[0][i] = plain ? m : 0;
        else if (r->kind[1] == TSRI_ACC_SQUARES)   k->f[0][i] = scale_of(m);
        else                                           k->f[0][i] = plain && m != 0 ? m : 1;
    }
}

/* Results ------------------------------------------------------------------------------- */

/* Converts to the dtype of the result. */
static void give(const tsri_reduction *r, char *z, int64_t step, const void *wide, int64_t width)
{
    if (r->round && step == r->rounded) {
        const tsri_tile t = { .rows = 1, .cols = width, .ptr = { z, (char *)(uintptr_t)wide },
                              .col_step = { step, sizeof(double) } };
        r->round(&t, NULL);
    } else {
        r->narrow(z, step, wide, width);
    }
}

/* sum_of for each output, or extreme_of. */
static void finalise(const tsri_reduction *r, tsri_states *g, int64_t width, bool extremes)
{
    const tsri_strip s = { .width = width, .least = r->least, .size = extremes };
    tsri_cpu_kernels_get()->accumulate[TSRI_ACC_FINALISE][TSR_F64](g, &s, NULL);
}

static void divide(double *f, int64_t width, double by)
{
    for (int64_t i = 0; i < width; i++) f[i] /= by;
}

static double norm(const tsri_reduction *r, const tsri_states *g, const tsri_states *k, int64_t i)
{
    if (r->count == 0) return 0;
    if (r->p == 0) return (double)g->i[0][i];
    if (r->p == 1) return sum_of(g, 0, i);
    if (isinf(r->p)) return extreme_of(r, g, i);
    const double m = k->f[1][i];
    if (r->passes == 2 && (m == 0 || m - m != 0)) return m;
    if (r->p == 2) return sqrt(sum_of(g, 0, i)) / k->f[0][i];
    return m * pow(sum_of(g, 0, i), 1 / r->p);
}

static double logarithm(const tsri_states *g, const tsri_states *k, int64_t i)
{
    const double m = k->f[1][i];
    return m - m == 0 ? m + log(sum_of(g, 0, i)) : m;
}

/* tsri_scaled for each. If all 2^e are normal numbers, in a loop that compilers vectorise. */
static void join_products(double *m, const double *e, int64_t width)
{
    bool wide = false;
    for (int64_t i = 0; i < width; i++) wide |= !(e[i] > -1000) | !(e[i] < 1000);
    for (int64_t i = 0; i < width && wide; i++) m[i] = tsri_scaled(m[i], e[i]);
    for (int64_t i = 0; i < width && !wide; i++) {
        /* Its last bits are those of e + 1023. */
        union { double f; uint64_t u; } power = { e[i] + (0x1p52 + 1023) };
        power.u <<= 52;
        m[i] *= power.f;
    }
}

static void finish_real(const tsri_reduction *r, int64_t width, tsri_states *g, const tsri_states *k)
{
    const double over = (double)r->count - r->p;
    double *z = g->f[0];
    switch (r->op) {
    case TSR_OP_PROD: join_products(z, g->f[1], width); return;
    case TSR_OP_SUM:  finalise(r, g, width, false); return;
    case TSR_OP_MEAN:
        finalise(r, g, width, false);
        divide(z, width, (double)r->count);
        return;
    case TSR_OP_VAR:
    case TSR_OP_STD:
        finalise(r, g, width, false);
        divide(z, width, r->count > 0 && over > 0 ? over : NAN);
        for (int64_t i = 0; i < width && r->op == TSR_OP_STD; i++) z[i] = sqrt(z[i]);
        return;
    case TSR_OP_NORM:      for (int64_t i = 0; i < width; i++) z[i] = norm(r, g, k, i); return;
    case TSR_OP_LOGSUMEXP: for (int64_t i = 0; i < width; i++) z[i] = logarithm(g, k, i); return;
    default:               finalise(r, g, width, true);
    }
}

static void finish_complex(const tsri_reduction *r, char *z, int64_t step, int64_t width, tsri_states *g)
{
    tsr_c128 wide[TSRI_RUN];
    const double n = r->op == TSR_OP_MEAN ? (double)r->count : 1;
    const bool product = r->op == TSR_OP_PROD;
    for (int part = 0; part < 3 && product; part += 2) join_products(g->f[part], g->f[1], width);
    for (int64_t i = 0; i < width; i += TSRI_RUN) {
        const int64_t run = width - i < TSRI_RUN ? width - i : TSRI_RUN;
        for (int64_t l = 0; l < run && product; l++) wide[l] = (tsr_c128){ g->f[0][i + l], g->f[2][i + l] };
        for (int64_t l = 0; l < run && !product; l++)
            wide[l] = (tsr_c128){ sum_of(g, 0, i + l) / n, sum_of(g, 2, i + l) / n };
        r->narrow(z + i * step, step, wide, run);
    }
}

/* Undoes the xor with `flip` that made integers signed. */
static void unflip(const tsri_reduction *r, int64_t *z, int64_t width)
{
    const int unused = 64 - 8 * (int)r->wide;
    for (int64_t i = 0; i < width; i++) {
        const uint64_t bits = ((uint64_t)z[i] ^ r->flip) << unused;
        z[i] = r->numbers == TSRI_SIGNEDS ? (int64_t)bits >> unused : (int64_t)(bits >> unused);
    }
}

void tsri_states_finish(const tsri_reduction *r, char *z, int64_t step, int64_t width, tsri_states *g,
                        const tsri_states *k)
{
    int64_t *whole = g->i[0];
    const bool all = r->op == TSR_OP_ALL || r->op == TSR_OP_MIN;
    if (r->kind[0] == TSRI_ACC_FIND) {
        give(r, z, step, g->i[1], width);
    } else if (r->kind[0] == TSRI_ACC_NONZERO && r->op != TSR_OP_NORM) {
        for (int64_t i = 0; i < width && r->op != TSR_OP_COUNT_NONZERO; i++)
            whole[i] = all ? whole[i] == r->count : whole[i] > 0;
        r->narrow(z, step, whole, width);
    } else if (is_whole(r->numbers)) {
        if (r->kind[0] == TSRI_ACC_LARGEST) unflip(r, whole, width);
        r->narrow(z, step, whole, width);
    } else if (r->complex_result) {
        finish_complex(r, z, step, width, g);
    } else {
        finish_real(r, width, g, k);
        give(r, z, step, g->f[0], width);
    }
}

#endif
