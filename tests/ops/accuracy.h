/* accuracy.h - the floating functions measured in units in the last place.
 *
 * The functions and what each may be off are rows of op.def. What is right comes from wider arithmetic
 * (opcheck/reference_functions.inc): long double for f32 and shorter dtypes, _Float128 for f64 where the
 * C library has it. Results are compared as a value in two doubles.
 *
 *     acc_result r;
 *     acc_measure(&r, &acc_functions[i], TSR_F32, 1 << 14, acc_reference_for(TSR_F32));
 *     EXPECT(r.most <= acc_bound(&acc_functions[i], TSR_F32));
 */
#ifndef TSR_TEST_ACCURACY_H
#define TSR_TEST_ACCURACY_H

/* For the functions of _Float128, before any header of the C library. */
#ifndef __STDC_WANT_IEC_60559_TYPES_EXT__
#define __STDC_WANT_IEC_60559_TYPES_EXT__ 1
#endif
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opcheck/elementwise_ops.h"
#include "tessera/op_rows.h"
#include "tessera/tessera.h"

#if defined(__GLIBC__) && defined(__FLT128_MANT_DIG__) && __FLT128_MANT_DIG__ > LDBL_MANT_DIG
#define ACC_FLOAT128 1
#else
#define ACC_FLOAT128 0
#endif

/* (high + low) * 2^scale */
typedef struct acc_value { double high, low; int scale; } acc_value;

/* v, or the number beside it on the side of what was lost if v's last bit is 0: rounded to odd. */
static inline double acc_odd(double v, double lost)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return lost == 0 || (bits & 1) ? v : nextafter(v, lost > 0 ? (double)INFINITY : -(double)INFINITY);
}

/* A value of a wide type in two doubles. */
#define ACC_SPLIT(W, F, name)                                                                           \
    static inline acc_value name(W v)                                                                   \
    {                                                                                                   \
        if (v != v || v - v != 0 || v == 0) return (acc_value){ (double)v, 0, 0 };                      \
        const int e = F(ilogb)(v), scale = e > 600 || e < -600 ? e : 0;                                 \
        const W m = F(scalbn)(v, -scale);                                                               \
        const double high = (double)m, low = (double)(m - (W)high);                                     \
        return (acc_value){ high, acc_odd(low, (double)(m - (W)high - (W)low)), scale };                \
    }

/* z = f(x) in a wide type, whose functions have the prefix `of`. */
#define ACC_EVALUATE(W, WC, split, of, name)                                                            \
    static inline void name(acc_value *z, const acc_function *f, const double *d)                       \
    {                                                                                                   \
        const W x[6] = { (W)d[0], (W)d[1], (W)d[2], (W)d[3], (W)d[4], (W)d[5] };                        \
        if (f->is_complex) {                                                                            \
            const WC v = of##complexes[f->op->kind](x, f->op->facts.params);                            \
            z[0] = split(of##re(v));                                                                    \
            z[1] = split(of##im(v));                                                                    \
        } else {                                                                                        \
            z[0] = split(of##reals[f->op->kind](x, f->op->facts.params));                               \
        }                                                                                               \
    }

/* The functions ----------------------------------------------------------------------------- */

/* A row of op.def, for real or for complex numbers. */
typedef struct acc_function {
    const elementwise_op *op;
    bool is_complex;
} acc_function;

/* z = f(x): one value, or the parts of a complex one, from operands or their parts in angle. */
typedef void (*acc_reference_fn)(acc_value *z, const acc_function *f, const double *x);

#define ACC_LONG(f) f##l
#define W       long double
#define WC      long double complex
#define F(f)    f##l
#define NAME(x) acc_long_##x
#include "opcheck/reference_functions.inc"
ACC_SPLIT(long double, ACC_LONG, acc_split_long)
ACC_EVALUATE(long double, long double complex, acc_split_long, acc_long_, acc_evaluate_long)

#if ACC_FLOAT128
__extension__ typedef _Float128          acc_float128;
__extension__ typedef _Complex _Float128 acc_complex256;
#define ACC_FINE(f) f##f128
#define W       acc_float128
#define WC      acc_complex256
#define F(f)    f##f128
#define NAME(x) acc_fine_##x
#include "opcheck/reference_functions.inc"
ACC_SPLIT(acc_float128, ACC_FINE, acc_split_fine)
ACC_EVALUATE(acc_float128, acc_complex256, acc_split_fine, acc_fine_, acc_evaluate_fine)
#else
#define acc_evaluate_fine acc_evaluate_long
#endif

/* Functions that are rounded, and exact ones of one operand: the errors of the others depend on more than
 * the value (opcheck/reference.c). */
static inline bool acc_is_measured(const elementwise_op *op, bool is_complex)
{
    const double *e = op->facts.errors;
    if (is_complex) return acc_long_complexes[op->kind] && e[ERRORS_C64] > 0;
    return acc_long_reals[op->kind] && (e[ERRORS_F32] > 0 || op->nin == 1);
}

static acc_function acc_functions[2 * TSR_OP_COUNT];

/* Fills acc_functions, real ones first; returns how many there are. */
static inline int acc_list(void)
{
    int n = 0;
    for (int is_complex = 0; is_complex < 2; is_complex++)
        for (int i = 0; i < elementwise_count; i++)
            if (acc_is_measured(&elementwise_ops[i], is_complex))
                acc_functions[n++] = (acc_function){ &elementwise_ops[i], is_complex };
    return n;
}

/* Formats ------------------------------------------------------------------------------------ */

/* Of one part. Numbers lie from 2^low up; `beyond` is where the next number after the largest would be. */
typedef struct acc_format { int bits, digits, low, top; double beyond; bool infinite; } acc_format;

static inline tsr_dtype acc_part(tsr_dtype d) { return d == TSR_C64 ? TSR_F32 : d == TSR_C128 ? TSR_F64 : d; }
static inline bool acc_is_complex(tsr_dtype d) { return d == TSR_C64 || d == TSR_C128; }
static inline bool acc_is_short(tsr_dtype d) { return d != TSR_F32 && d != TSR_F64 && !acc_is_complex(d); }

static inline acc_format acc_format_of(tsr_dtype d)
{
    switch (acc_part(d)) {
    case TSR_F8E4M3: return (acc_format){ 8, 4, -6, 8, 480, false };
    case TSR_F8E5M2: return (acc_format){ 8, 3, -14, 15, 0x1p16, true };
    case TSR_F16:    return (acc_format){ 16, 11, -14, 15, 0x1p16, true };
    case TSR_BF16:   return (acc_format){ 16, 8, -126, 127, 0x1p128, true };
    case TSR_F32:    return (acc_format){ 32, 24, -126, 127, 0x1p128, true };
    default:         return (acc_format){ 64, 53, -1022, 1023, INFINITY, true };
    }
}

/* What a function may be off in a dtype. */
static inline double acc_bound(const acc_function *f, tsr_dtype d)
{
    const double *e = f->op->facts.errors;
    if (acc_is_complex(d)) return e[d == TSR_C64 ? ERRORS_C64 : ERRORS_C128];
    return e[acc_is_short(d) ? ERRORS_SHORT : d == TSR_F32 ? ERRORS_F32 : ERRORS_F64];
}

/* A pattern's value; the patterns that are not numbers in e4m3 are NaN. */
static inline double acc_decode(tsr_dtype d, uint64_t bits)
{
    const acc_format f = acc_format_of(d);
    const int fraction = f.digits - 1;
    const uint64_t magnitude = bits & (((uint64_t)1 << (f.bits - 1)) - 1);
    const int e = (int)(magnitude >> fraction), last = (1 << (f.bits - f.digits)) - 1;
    const uint64_t m = magnitude & (((uint64_t)1 << fraction) - 1);
    double v = ldexp((double)(e ? m | (uint64_t)1 << fraction : m), (e ? e - 1 : 0) + f.low - fraction);
    if (f.infinite && e == last) v = m ? (double)NAN : (double)INFINITY;
    if (!f.infinite && magnitude == 0x7f) v = (double)NAN;
    return bits >> (f.bits - 1) ? -v : v;
}

static inline uint64_t acc_load(const void *p, int bits)
{
    uint64_t v = 0;
    for (int i = bits / 8 - 1; i >= 0; i--) v = v << 8 | ((const unsigned char *)p)[i];
    return v;
}

static inline void acc_store(void *p, int bits, uint64_t v)
{
    for (int i = 0; i < bits / 8; i++, v >>= 8) ((unsigned char *)p)[i] = (unsigned char)v;
}

/* Errors ------------------------------------------------------------------------------------- */

/* The exponent of a value: 2^e <= |v| < 2^(e + 1). */
static inline int acc_exponent(acc_value v)
{
    const int e = ilogb(v.high);
    const bool below = fabs(v.high) == ldexp(1, e) && (v.low < 0) == (v.high > 0) && v.low != 0;
    return e + v.scale - below;
}

/* A unit in the last place beside a value of this exponent is 2 to this. */
static inline int acc_unit(const acc_format *f, int exponent)
{
    const int held = exponent < f->low ? f->low : exponent > f->top ? f->top : exponent;
    return held - f->digits + 1;
}

/* got - want in units of 2^unit, as a difference that is exact and the low part of `want`, which goes off
 * it. An infinity counts as the number after the largest. */
typedef struct acc_gap { double gap, low; } acc_gap;

static inline acc_gap acc_off(const acc_format *f, double got, acc_value want, int unit)
{
    const acc_gap wrong = { (double)INFINITY, 0 }, right = { 0, 0 };
    const double beyond = ldexp(f->beyond == INFINITY ? 1 : f->beyond,
                                (f->beyond == INFINITY ? 1024 : 0) - unit);
    const double high = ldexp(want.high, want.scale - unit), low = ldexp(want.low, want.scale - unit);
    double g = ldexp(got, -unit);
    if (isnan(want.high)) return isnan(got) ? right : wrong;
    if (isnan(got) && (f->infinite || fabs(high) < beyond - 0.5)) return wrong;
    if (isnan(got)) g = copysign(beyond, high);
    if (isinf(got)) g = copysign(beyond, got);
    if (fabs(high) >= beyond) return (acc_gap){ g - copysign(beyond, high), 0 };
    return (acc_gap){ g - high, low };
}

static inline double acc_size(acc_gap g) { return fabs(g.gap - g.low); }

/* The error in units of `want`; and is `got` the number nearest to it, of two the even one? */
static inline double acc_error(const acc_format *f, double got, acc_value want, bool *rounded)
{
    const bool plain = isfinite(want.high) && want.high != 0;
    const int unit = acc_unit(f, plain ? acc_exponent(want) : isinf(want.high) ? f->top : f->low);
    const acc_gap g = acc_off(f, got, want, unit);
    const bool half = g.low == g.gap - 0.5 || g.low == g.gap + 0.5;
    *rounded = half ? !isfinite(got) || fmod(ldexp(got, -unit), 2) == 0 : g.low > g.gap - 0.5 &&
    g.low < g.gap + 0.5;
    return acc_size(g);
}

/* Samples ------------------------------------------------------------------------------------- */

static inline uint64_t acc_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline int64_t acc_below(uint64_t *state, int64_t n)
{
    return (int64_t)(acc_next(state) % (uint64_t)n);
}

/* Zeros, ends of domains, and where results begin to overflow, to vanish or to round to 1: of f32,
 * then of f64. */
static const double acc_centres[] = {
    0, 1, -1, 0.5, -0.5, 2, 3, -3, 10, 0.25, 1.4142135623730951, 2.718281828459045, 1e-4, 0x1p-12, 0x1p-26,
    88.722839, -87.336545, -103.97208, 128, -126, -149, 89.415986, 9.0109, -16.6, 16.6, 10.0544, -5.6, 17.3,
    709.782712893384, -708.396418532264, -745.133219101941, 1024, -1022, -1074, 710.475860073944, 19.06,
    -36.7, 36.7, 27.226017, 26.543, -38.5, -8.3, 37.5, 713.98692, 91.9,
    /* zeros of lgamma and of digamma */
    -2.4570247382208006, -2.7476826467274127, -3.1435808883499798, -5.0082181683225935, -16.999999999999996,
    1.4616321449683623,
};
enum { ACC_CENTRES = sizeof acc_centres / sizeof *acc_centres };

/* The pattern of a value in f32 or f64. */
static inline uint64_t acc_encode(tsr_dtype d, double v)
{
    uint64_t bits = 0;
    const float narrow = (float)v;
    if (acc_part(d) == TSR_F32) {
        uint32_t b;
        memcpy(&b, &narrow, sizeof b);
        return b;
    }
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Random digits, and an exponent from -spread up to spread. */
static inline double acc_spread(uint64_t *state, int64_t spread)
{
    const double m = 1 + (double)(acc_next(state) >> 12) * 0x1p-52;
    const double v = ldexp(m, (int)(acc_below(state, 2 * spread + 1) - spread));
    return acc_next(state) & 1 ? -v : v;
}

/* A pattern: any of the dtype; or within 2^-12 .. 2^12; or near a centre; or near a multiple of pi / 2. */
static inline uint64_t acc_sample(tsr_dtype d, uint64_t *state)
{
    const acc_format f = acc_format_of(d);
    const int64_t kind = acc_below(state, 8);
    if (acc_is_short(d) || kind < 3) return acc_next(state) >> (64 - f.bits);
    if (kind < 6) return acc_encode(d, acc_spread(state, 12));
    if (kind == 6) {
        const double centre = acc_centres[acc_below(state, ACC_CENTRES)];
        const uint64_t beside = acc_encode(d, centre) + (uint64_t)acc_below(state, 65);
        return centre == 0 ? beside : beside - 32;
    }
    const double k = (double)(acc_next(state) >> (44 + acc_below(state, 20)));
    return acc_encode(d, k * 1.57079632679489661923) + (uint64_t)acc_below(state, 5) - 2;
}

/* The parts of a complex number: both within 2^-12 .. 2^12; one much smaller; near the unit circle; near
 * 1, -1, i or -i; or of any size whose square is a number. */
static inline void acc_sample_complex(tsr_dtype d, bool narrow, uint64_t *state, uint64_t part[2])
{
    const int64_t kind = narrow ? 0 : acc_below(state, 8);
    double a = acc_spread(state, narrow ? 3 : 12), b = acc_spread(state, narrow ? 3 : 12);
    if (kind == 4) b *= ldexp(1, (int)-acc_below(state, 40));
    if (kind == 5) {
        const double angle = acc_spread(state, 2), beside = acc_spread(state, 0);
        const double size = 1 + ldexp(beside, (int)-acc_below(state, 50) - 2);
        a = size * cos(angle);
        b = size * sin(angle);
    }
    if (kind == 6) {
        a = acc_spread(state, 0) > 0 ? 1 : -1;
        a += acc_spread(state, 0) * ldexp(1, (int)-acc_below(state, 30) - 1);
        b = acc_spread(state, 0) * ldexp(1, (int)-acc_below(state, 30) - 1);
    }
    if (kind == 7) {
        a = acc_spread(state, d == TSR_C64 ? 62 : 300);
        b = acc_spread(state, d == TSR_C64 ? 62 : 300);
    }
    const bool exchange = acc_next(state) & 1;
    part[0] = acc_encode(d, exchange ? b : a);
    part[1] = acc_encode(d, exchange ? a : b);
}

/* Measuring ------------------------------------------------------------------------------------- */

enum { ACC_BLOCK = 4096 };

typedef struct acc_result {
    double  most, at[6];       /* the largest error, and the operands there, or their parts in angle */
    double  most_in_part;      /* complex: in units of the part itself */
    int64_t count, rounded;    /* results, and those that are the nearest number */
} acc_result;

/* Operand o of element i as patterns of its parts: all patterns in angle while there are as many elements
 * asked for as there are patterns, else random ones. */
static inline void acc_operand(uint64_t *part, const acc_function *f, tsr_dtype d, int o, int64_t i,
                               int64_t n, uint64_t *state)
{
    const int bits = acc_format_of(d).bits;
    const bool all = acc_is_short(d) && bits * f->op->nin <= 16 && n >= (int64_t)1 << (bits * f->op->nin);
    if (all) part[0] = (uint64_t)i >> (bits * o) & (((uint64_t)1 << bits) - 1);
    else if (f->is_complex) acc_sample_complex(d, f->op->facts.narrow, state, part);
    else part[0] = acc_sample(d, state);
}

/* One element's result against the reference. */
static inline void acc_judge(acc_result *r, const acc_function *f, tsr_dtype d, const double *x,
                             const double *got, const acc_value *want)
{
    const acc_format format = acc_format_of(d);
    const int parts = f->is_complex ? 2 : 1;
    int largest = -5000;
    double most = 0;
    bool rounded = true;
    for (int p = 0; p < parts; p++) {
        bool near = false;
        const double off = acc_error(&format, got[p], want[p], &near);
        if (off > r->most_in_part) r->most_in_part = off;
        if (off > most) most = off;
        rounded = rounded && near;
        if (isfinite(want[p].high) && want[p].high != 0 &&
            acc_exponent(want[p]) > largest) largest = acc_exponent(want[p]);
    }
    for (int o = 0; f->op->facts.of_terms && o < f->op->nin; o++)
        if (isfinite(x[o]) && x[o] != 0 && (f->op->nin > 1 || x[o] < 0) && ilogb(x[o]) > largest)
            largest = ilogb(x[o]);
    if ((f->op->facts.of_terms || f->is_complex) && isfinite(most)) {
        most = 0;
        for (int p = 0; p < parts; p++) {
            const double off = acc_size(acc_off(&format, got[p], want[p], acc_unit(&format, largest)));
            if (off > most) most = off;
        }
    }
    r->count++;
    r->rounded += rounded;
    if (r->count > 1 && most <= r->most) return;
    r->most = most;
    memcpy(r->at, x, sizeof r->at);
}

/* Is this what accuracy is not about? Complex infinities and NaN have their own rules, and of sums of
 * infinite terms lerp promises nothing. */
static inline bool acc_is_skipped(const acc_function *f, const acc_value *want, const double *x)
{
    const bool finite_only = f->is_complex || (f->op->facts.of_terms && f->op->nin == 3);
    bool skip = false;
    for (int i = 0; i < 6; i++) skip = skip || !isfinite(x[i]);
    for (int p = 0; p < 2; p++) skip = skip || !isfinite(want[p].high);
    return finite_only && skip;
}

/* Fill the operands of a block, element by element. */
static inline void acc_fill(tsr_tensor *const *in, const acc_function *f, int64_t from, int64_t n,
                            int64_t total, uint64_t *state)
{
    const int parts = f->is_complex ? 2 : 1, bits = acc_format_of(in[0]->dtype).bits;
    for (int64_t i = 0; i < n; i++)
        for (int o = 0; o < f->op->nin; o++) {
            uint64_t pattern[2] = { 0, 0 };
            acc_operand(pattern, f, in[o]->dtype, o, from + i, total, state);
            for (int p = 0; p < parts; p++)
                acc_store((char *)in[o]->data + (i * parts + p) * (bits / 8), bits, pattern[p]);
        }
}

/* Part p of element i. */
static inline double acc_get(const tsr_tensor *t, int64_t i, int p)
{
    const int bits = acc_format_of(t->dtype).bits, parts = acc_is_complex(t->dtype) ? 2 : 1;
    return acc_decode(t->dtype, acc_load((const char *)t->data + (i * parts + p) * (bits / 8), bits));
}

static inline void acc_compare(acc_result *r, const acc_function *f, tsr_tensor *const *in,
                               const tsr_tensor *out, acc_reference_fn reference)
{
    const int parts = f->is_complex ? 2 : 1;
    for (int64_t i = 0; i < tsr_numel(out); i++) {
        double x[6] = { 0 }, got[2] = { 0 };
        acc_value want[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
        for (int k = 0; k < f->op->nin * parts; k++) x[k] = acc_get(in[k / parts], i, k % parts);
        for (int p = 0; p < (acc_is_complex(out->dtype) ? 2 : 1); p++) got[p] = acc_get(out, i, p);
        reference(want, f, x);
        if (!acc_is_skipped(f, want, x)) acc_judge(r, f, in[0]->dtype, x, got, want);
    }
}

static inline bool acc_block(acc_result *r, const acc_function *f, tsr_dtype d, int64_t from, int64_t n,
                             int64_t total, acc_reference_fn reference, uint64_t *state)
{
    tsr_tensor *in[3] = { NULL, NULL, NULL }, *out = NULL;
    bool ok = true;
    for (int o = 0; o < f->op->nin; o++) ok = ok && tsr_empty(&in[o], d, TSR_SHAPE(n)) == TSR_OK;
    if (ok) acc_fill(in, f, from, n, total, state);
    ok = ok && elementwise_call(f->op, &out, (const tsr_tensor *const *)in, NULL) == TSR_OK;
    if (ok) acc_compare(r, f, in, out, reference);
    for (int o = 0; o < 3; o++) tsr_release(&in[o]);
    tsr_release(&out);
    return ok;
}

/* Measure a function in a dtype over `n` elements against a reference. False if the library failed. */
static inline bool acc_measure(acc_result *r, const acc_function *f, tsr_dtype d, int64_t n,
                               acc_reference_fn reference)
{
    uint64_t state = 20240612u;
    *r = (acc_result){ 0 };
    for (int64_t i = 0; i < n; i += ACC_BLOCK)
        if (!acc_block(r, f, d, i, n - i < ACC_BLOCK ? n - i : ACC_BLOCK, n, reference, &state)) return false;
    return true;
}

/* Long double suffices for f32 and shorter; f64 takes the widest. */
static inline acc_reference_fn acc_reference_for(tsr_dtype d)
{
    return acc_part(d) == TSR_F64 ? acc_evaluate_fine : acc_evaluate_long;
}

#endif
