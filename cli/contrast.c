/* contrast.c - comparing in pieces, each cut into segments that threads share.
 *
 * First only bytes are compared, which is enough for equal tensors. From the first piece that differs on, the
 * elements are read again and compared as numbers. Segments do not depend on the number of threads, and their
 * results are added in order, so the sums do not depend on it either.
 */
#include "contrast.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "room.h"
#include "wide.h"

enum { PIECE = 1 << 22, SEGMENT = 1 << 16, RUN = 512, SEGMENTS = 2 * PIECE / SEGMENT };

/* The two pieces, packed, as numbers and in the dtype whose steps are counted. */
typedef struct pair {
    tsr_tensor *piece[2], *numbers[2], *steps[2];
    bool        counts_steps, long_integers; /* integers of 64 bits: doubles do not hold them */
    int         parts;                       /* numbers to an element: 2 of complex ones */
} pair;

/* A kind of error at element `at` of a piece. */
typedef struct peak { double size; int64_t at; } peak;
enum { ERROR, RELATIVE, STEPS, PEAKS };

typedef struct segment {
    int64_t changed, differ, nans;
    double  distance, norm_a, norm_b, dot;
    peak    peak[PEAKS];
} segment;

/* Numbers of both sides, and how far they are apart: |a - b|, and in steps of the dtype. */
typedef struct run {
    const double *a, *b;
    double        error[RUN], steps[RUN], room[2][RUN];
} run;

typedef struct job {
    const pair      *p;
    const tolerance *t;
    int64_t          count;               /* numbers of the piece */
    segment          found[SEGMENTS];
    atomic_bool      differs;             /* of bytes */
} job;

static void release_pair(pair *p)
{
    for (int i = 0; i < 2; i++) {
        tsr_release(&p->steps[i]);
        tsr_release(&p->numbers[i]);
        tsr_release(&p->piece[i]);
    }
}

/* Making pairs ------------------------------------------------------------------------- */

static bool is_complex(tsr_dtype dtype) { return tsr_dtype_kind(dtype) == TSR_COMPLEX; }

/* Complex numbers as twice as many real ones. */
static tsr_status split_parts(tsr_tensor **t)
{
    if (!is_complex((*t)->dtype)) return TSR_OK;
    if ((*t)->ndim == 0) TSR_TRY(tsr_unsqueeze(t, *t, 0));
    return tsr_bit_view(t, *t, tsr_dtype_real((*t)->dtype));
}

/* Both packed; a real one beside a complex one becomes complex. */
static tsr_status pack(pair *p)
{
    const bool mixed = is_complex(p->piece[0]->dtype) != is_complex(p->piece[1]->dtype);
    p->parts = is_complex(p->piece[0]->dtype) || mixed ? 2 : 1;
    for (int i = 0; i < 2; i++) {
        tsr_tensor *wide = NULL;
        if (mixed) {
            TSR_TRY(tsr_cast(&wide, p->piece[i], TSR_C128));
            tsr_release(&p->piece[i]);
            p->piece[i] = wide;
        }
        TSR_TRY(tsr_contiguous(&p->piece[i], p->piece[i]));
        TSR_TRY(split_parts(&p->piece[i]));
    }
    return TSR_OK;
}

/* The dtype in which steps from one to the other can be counted; TSR_DTYPE_INVALID if none. */
static tsr_dtype dtype_of_steps(tsr_dtype a, tsr_dtype b)
{
    const bool floats = tsr_dtype_kind(a) == TSR_FLOATING && tsr_dtype_kind(b) == TSR_FLOATING;
    if (a == b) return a;
    if (!floats) return TSR_DTYPE_INVALID;
    return tsr_dtype_size(a) <= tsr_dtype_size(b) ? a : b;
}

static tsr_status retain_as(tsr_tensor **out, tsr_tensor *t)
{
    tsr_release(out);
    *out = t;
    tsr_retain(t);
    return TSR_OK;
}

static tsr_status make_numbers(pair *p)
{
    const tsr_dtype x = p->piece[0]->dtype, y = p->piece[1]->dtype, steps = dtype_of_steps(x, y);
    const bool is_long = numbers_dtype(x) != TSR_F64 && numbers_dtype(x) == numbers_dtype(y) &&
                         (tsr_dtype_size(x) == 8 || tsr_dtype_size(y) == 8);
    p->counts_steps = steps != TSR_DTYPE_INVALID;
    p->long_integers = is_long;
    for (int i = 0; i < 2; i++) {
        TSR_TRY(is_long ? numbers_of(&p->numbers[i], p->piece[i]) : retain_as(&p->numbers[i], p->piece[i]));
        if (!p->counts_steps) continue;
        if (steps == p->piece[i]->dtype) TSR_TRY(retain_as(&p->steps[i], p->piece[i]));
        else {
            tsr_release(&p->steps[i]);
            TSR_TRY(tsr_cast(&p->steps[i], p->piece[i], steps));
        }
    }
    return TSR_OK;
}

/* Runs ----------------------------------------------------------------------------------- */

/* |a - b| of long integers. */
static void errors_of_integers(double *out, const pair *p, int64_t from, int64_t n)
{
    const uint64_t *x = (const uint64_t *)p->numbers[0]->data + from;
    const uint64_t *y = (const uint64_t *)p->numbers[1]->data + from;
    const uint64_t sign = p->numbers[0]->dtype == TSR_U64 ? 0 : (uint64_t)1 << 63;
    for (int64_t i = 0; i < n; i++) {
        const bool more = (x[i] ^ sign) > (y[i] ^ sign);
        out[i] = (double)(more ? x[i] - y[i] : y[i] - x[i]);
    }
}

/* How many numbers of a float dtype lie between two, from sign and magnitude. */
#define STEPS_OF(name, bits, number, order, distance)                                           \
    static void name(double *out, const void *left, const void *right, int64_t n) CLI_WIDE;     \
    static void name(double *out, const void *left, const void *right, int64_t n)               \
    {                                                                                           \
        const uint##bits##_t *x = left, *y = right;                                             \
        const number most = (number)INT##bits##_MAX;                                            \
        for (int64_t i = 0; i < n; i++) {                                                       \
            const number p = -(number)(x[i] >> (bits - 1)), q = -(number)(y[i] >> (bits - 1));  \
            const order  a = (order)(((x[i] & most) ^ p) - p), b = (order)(((y[i] & most) ^ q) - q); \
            out[i] = distance(a, b);                                                            \
        }                                                                                       \
    }
#define SHORT_DISTANCE(a, b) fabs((double)(a) - (double)(b)) /* exactly */
#define LONG_DISTANCE(a, b) (double)(a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a)
STEPS_OF(steps_of_8, 8, uint32_t, int32_t, SHORT_DISTANCE)
STEPS_OF(steps_of_16, 16, uint32_t, int32_t, SHORT_DISTANCE)
STEPS_OF(steps_of_32, 32, uint32_t, int32_t, SHORT_DISTANCE)
STEPS_OF(steps_of_64, 64, uint64_t, int64_t, LONG_DISTANCE)

static void subtract(double *out, const double *a, const double *b, int64_t n) CLI_WIDE;
static void subtract(double *out, const double *a, const double *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = fabs(a[i] - b[i]);
}

/* Steps of integers are their errors. */
static void fill_steps(run *r, const pair *p, int64_t from, int64_t n)
{
    if (!p->counts_steps) {
        for (int64_t i = 0; i < n; i++) r->steps[i] = -1;
        return;
    }
    const tsr_dtype dtype = p->steps[0]->dtype;
    const size_t size = tsr_dtype_size(dtype);
    const char *x = (const char *)p->steps[0]->data + (size_t)from * size;
    const char *y = (const char *)p->steps[1]->data + (size_t)from * size;
    if (tsr_dtype_kind(dtype) != TSR_FLOATING) memcpy(r->steps, r->error, (size_t)n * sizeof *r->steps);
    else if (size == 8)                        steps_of_64(r->steps, x, y, n);
    else if (size == 4)                        steps_of_32(r->steps, x, y, n);
    else if (size == 2)                        steps_of_16(r->steps, x, y, n);
    else                                       steps_of_8(r->steps, x, y, n);
}

static void fill_run(run *r, const pair *p, int64_t from, int64_t n)
{
    r->a = doubles_at(r->room[0], p->numbers[0], from, n);
    r->b = doubles_at(r->room[1], p->numbers[1], from, n);
    if (p->long_integers) errors_of_integers(r->error, p, from, n);
    else                  subtract(r->error, r->a, r->b, n);
    fill_steps(r, p, from, n);
}

/* One element ---------------------------------------------------------------------------- */

static void note(peak *e, double size, int64_t at)
{
    if (size > e->size) *e = (peak){ size, at };
}

/* Long integers may differ where their doubles do not: the error tells. */
static bool is_close(double b, double error, double steps, const tolerance *t)
{
    if (error == 0) return true;
    if (t->ulps > 0 && steps >= 0 && steps <= (double)t->ulps) return true;
    return isfinite(b) && error <= t->atol + t->rtol * fabs(b);
}

/* Is number i of a run close? Notes its errors. */
static bool compare_number(segment *s, const run *r, int64_t i, int64_t at, const tolerance *t, bool *changed)
{
    const double a = r->a[i], b = r->b[i];
    if (isnan(a) || isnan(b)) {
        const bool same = isnan(a) && isnan(b);
        s->nans += !same;
        *changed = *changed || !same || t->nan_differs;
        return same && !t->nan_differs;
    }
    const double error = isinf(a) && a == b ? 0 : r->error[i];
    if (isfinite(a) && isfinite(b)) {
        s->distance += error * error;
        s->norm_a += a * a;
        s->norm_b += b * b;
        s->dot += a * b;
    }
    if (error == 0) return true;
    *changed = true;
    note(&s->peak[ERROR], error, at);
    note(&s->peak[RELATIVE], b != 0 ? error / fabs(b) : INFINITY, at);
    note(&s->peak[STEPS], r->steps[i], at);
    return is_close(b, error, r->steps[i], t);
}

static void compare_one_by_one(segment *s, const run *r, int64_t from, int64_t n, int parts,
                               const tolerance *t)
{
    for (int64_t i = 0; i < n; i += parts) {
        bool close = true, changed = false;
        for (int k = 0; k < parts; k++)
            close = compare_number(s, r, i + k, from + i + k, t, &changed) && close;
        s->changed += changed;
        s->differ += !close;
    }
}

/* Many at once ---------------------------------------------------------------------------- */

typedef struct sums {
    double  distance, norm_a, norm_b, dot;
    double  error, excess; /* the largest error, and the most that one is above `relative` times |b| */
    int64_t changed;
} sums;

/* Adds a pair of numbers to the sums that the loop around has. */
#define ADD(x, y)                                                           \
    do {                                                                    \
        const double a = (double)(x), b = (double)(y), e = fabs(a - b);     \
        dd += e * e;                                                        \
        aa += a * a;                                                        \
        bb += b * b;                                                        \
        ab += a * b;                                                        \
        changed += (x) != (y);                                              \
        error = e > error ? e : error;                                      \
    } while (0)

/* Of a whole run. What is NaN shows in the sums. The excess is left out if none is wanted. */
#define SUM_RUN(name, type, count, wants_excess)                                                \
    static void name(sums *out, const type *x, const type *y, double relative) CLI_WIDE;        \
    static void name(sums *out, const type *x, const type *y, double relative)                  \
    {                                                                                           \
        double dd = 0, aa = 0, bb = 0, ab = 0, error = 0, excess = 0;                           \
        count  changed = 0;                                                                     \
        CLI_SIMD(reduction(+ : dd, aa, bb, ab, changed) reduction(max : error, excess))         \
        for (int i = 0; i < RUN; i++) {                                                         \
            const double size = fabs((double)y[i]);                                             \
            const double more = fabs((double)x[i] - (double)y[i]) - relative * size;            \
            ADD(x[i], y[i]);                                                                    \
            if (wants_excess) excess = more > excess ? more : excess;                           \
        }                                                                                       \
        *out = (sums){ dd, aa, bb, ab, error, excess, changed };                                \
    }
SUM_RUN(sum_floats, float, int32_t, true)
SUM_RUN(sum_floats_briefly, float, int32_t, false)
SUM_RUN(sum_doubles, double, int64_t, true)

/* Of floats of 16 bits, two at a time, without an excess. */
#define SUM_HALVES(name, ...)                                                                   \
    static void name(sums *out, const uint16_t *x, const uint16_t *y) CLI_WIDE CLI_FUSED;       \
    static void name(sums *out, const uint16_t *x, const uint16_t *y)                           \
    {                                                                                           \
        double  dd = 0, aa = 0, bb = 0, ab = 0, error = 0;                                      \
        int32_t changed = 0;                                                                    \
        CLI_SIMD(reduction(+ : dd, aa, bb, ab, changed) reduction(max : error))                 \
        for (int i = 0; i < RUN; i += 2) {                                                      \
            uint32_t p, q;                                                                      \
            memcpy(&p, x + i, sizeof p);                                                        \
            memcpy(&q, y + i, sizeof q);                                                        \
            ADD(cli_upper_half(p << 16, __VA_ARGS__), cli_upper_half(q << 16, __VA_ARGS__));    \
            ADD(cli_upper_half(p, __VA_ARGS__), cli_upper_half(q, __VA_ARGS__));                \
        }                                                                                       \
        *out = (sums){ dd, aa, bb, ab, error, 0, changed };                                     \
    }
SUM_HALVES(sum_bf16, CLI_BF16)
SUM_HALVES(sum_scaled_f16, CLI_F16)

/* False if some may not be finite. */
static bool sum_f16(sums *out, const uint16_t *x, const uint16_t *y)
{
    const double unit = 0x1p112, square = unit * unit, infinite = 0x1p32; /* the square of 2^16 */
    sums s;
    sum_scaled_f16(&s, x, y);
    *out = (sums){ s.distance * square, s.norm_a * square,  s.norm_b * square, s.dot * square,
                   s.error * unit,      s.excess,           s.changed };
    return out->norm_a < infinite && out->norm_b < infinite;
}

/* Of bytes, exactly and without an excess. */
#define SUM_BYTES(name, type, pair)                                                                 \
    static void name(sums *out, const type *x, const type *y) CLI_WIDE;                             \
    static void name(sums *out, const type *x, const type *y)                                       \
    {                                                                                               \
        int32_t a = 0, b = 0, ab = 0, more_a = 0, more_b = 0, more_ab = 0, changed = 0;             \
        uint8_t error = 0;                                                                          \
        for (int i = 0; i < RUN; i++) {                                                             \
            const type    low = x[i] < y[i] ? x[i] : y[i], high = x[i] < y[i] ? y[i] : x[i];        \
            const uint8_t e = (uint8_t)(high - low);                                                \
            error = e > error ? e : error;                                                          \
        }                                                                                           \
        for (int i = 0; i < RUN; i += 128) {                                                        \
            uint8_t count = 0;                                                                      \
            for (int k = i; k < i + 128; k++) count = (uint8_t)(count + (x[k] != y[k]));            \
            changed += count;                                                                       \
        }                                                                                           \
        for (int i = 0; i < RUN; i += 2) {                                                          \
            pair v, w;                                                                              \
            memcpy(&v, x + i, sizeof v);                                                            \
            memcpy(&w, y + i, sizeof w);                                                            \
            const int16_t p = CLI_LOWER_BYTE(pair, v), q = CLI_LOWER_BYTE(pair, w);                 \
            const int16_t r = CLI_UPPER_BYTE(v), s = CLI_UPPER_BYTE(w);                             \
            a += p * p;                                                                             \
            b += q * q;                                                                             \
            ab += p * q;                                                                            \
            more_a += r * r;                                                                        \
            more_b += s * s;                                                                        \
            more_ab += r * s;                                                                       \
        }                                                                                           \
        a += more_a, b += more_b, ab += more_ab;                                                    \
        *out = (sums){ a + b - 2 * ab, a, b, ab, error, 0, changed };                               \
    }
SUM_BYTES(sum_i8, int8_t, int16_t)
SUM_BYTES(sum_u8, uint8_t, uint16_t)

/* The same where both sides have the same bytes. */
#define SUM_SQUARES(name, type)                                         \
    static double name(const type *x) CLI_WIDE;                         \
    static double name(const type *x)                                   \
    {                                                                   \
        double sum = 0;                                                 \
        CLI_SIMD(reduction(+ : sum))                                    \
        for (int i = 0; i < RUN; i++) sum += (double)x[i] * (double)x[i]; \
        return sum;                                                     \
    }
SUM_SQUARES(squares_of_floats, float)
SUM_SQUARES(squares_of_doubles, double)

static bool same_bytes_at(const pair *p, int64_t from, int64_t n)
{
    const tsr_tensor *a = p->piece[0], *b = p->piece[1];
    const size_t size = tsr_dtype_size(a->dtype), at = (size_t)from * size;
    return a->dtype == b->dtype &&
           !memcmp((const char *)a->data + at, (const char *)b->data + at, (size_t)n * size);
}

/* Of two runs of one dtype. False if there is no such loop for them. */
static bool sum_as_stored(sums *out, const pair *p, int64_t from)
{
    const tsr_tensor *a = p->numbers[0], *b = p->numbers[1];
    const size_t at = (size_t)from * tsr_dtype_size(a->dtype);
    const void *x = (const char *)a->data + at, *y = (const char *)b->data + at;
    switch (a->dtype == b->dtype ? a->dtype : TSR_DTYPE_INVALID) {
    case TSR_F16:  return sum_f16(out, x, y);
    case TSR_BF16: sum_bf16(out, x, y); return true;
    case TSR_I8:   sum_i8(out, x, y); return true;
    case TSR_U8:   sum_u8(out, x, y); return true;
    default:       return false;
    }
}

static void sum_run(sums *out, const pair *p, int64_t from, double relative, bool brief)
{
    float f[2][RUN];
    double d[2][RUN];
    const tsr_tensor *a = p->numbers[0], *b = p->numbers[1];
    const bool same = same_bytes_at(p, from, RUN);
    if (brief && !same && sum_as_stored(out, p, from)) return;
    const float *x = floats_at(f[0], a, from, RUN), *y = x && !same ? floats_at(f[1], b, from, RUN) : NULL;
    if (same) {
        const double norm = x ? squares_of_floats(x) : squares_of_doubles(doubles_at(d[0], a, from, RUN));
        *out = (sums){ .norm_a = norm, .norm_b = norm, .dot = norm };
    } else if (x && y) {
        (brief ? sum_floats_briefly : sum_floats)(out, x, y, relative);
    } else {
        sum_doubles(out, doubles_at(d[0], a, from, RUN), doubles_at(d[1], b, from, RUN), relative);
    }
}

/* Squares of doubles that hold their integers exactly. */
static const double squares_exact = 0x1p106;

/* Is all of a run finite, and are its errors those of its numbers? */
static bool is_plain(const sums *s, const pair *p)
{
    if (p->long_integers && !(s->norm_a <= squares_exact && s->norm_b <= squares_exact)) return false;
    return isfinite(s->norm_a) && isfinite(s->norm_b) && isfinite(s->distance);
}

/* How many numbers of a run are not close. */
static int64_t count_different(const run *r, const tolerance *t) CLI_WIDE;
static int64_t count_different(const run *r, const tolerance *t)
{
    const double rtol = t->rtol, atol = t->atol, ulps = t->ulps ? (double)t->ulps : -1;
    int64_t count = 0;
    CLI_SIMD(reduction(+ : count))
    for (int i = 0; i < RUN; i++) {
        const double error = r->error[i], steps = r->steps[i];
        count += (error > 0) & (error > atol + rtol * fabs(r->b[i])) & ((steps < 0) | (steps > ulps));
    }
    return count;
}

/* The first number of the run that has the largest error; a division by 0 is infinite. */
static void find_peak(peak *e, const run *r, int kind, int64_t from)
{
    for (int64_t i = 0; i < RUN; i++) {
        const double b = fabs(r->b[i]), error = r->error[i];
        if (!(error > 0)) continue;
        const double relative = b > 0 ? error / b : INFINITY;
        const double size = kind == ERROR ? error : kind == STEPS ? r->steps[i] : relative;
        note(e, size, from + i);
    }
}

static double most_steps(const run *r) CLI_WIDE;
static double most_steps(const run *r)
{
    double most = 0;
    CLI_SIMD(reduction(max : most))
    for (int i = 0; i < RUN; i++) most = r->steps[i] > most ? r->steps[i] : most;
    return most;
}

/* What of a run is above the largest errors so far. r is filled, if it need be. */
static void note_peaks(segment *s, run *r, const sums *found, const pair *p, int64_t from, const tolerance *t,
                       bool filled)
{
    const bool error = found->error > s->peak[ERROR].size, relative = !t->brief && found->excess > 0;
    if (!error && t->brief) return;
    if (!filled) fill_run(r, p, from, RUN);
    if (error) find_peak(&s->peak[ERROR], r, ERROR, from);
    if (relative) find_peak(&s->peak[RELATIVE], r, RELATIVE, from);
    if (!t->brief && most_steps(r) > s->peak[STEPS].size) find_peak(&s->peak[STEPS], r, STEPS, from);
}

static bool has_tolerance(const tolerance *t) { return t->atol > 0 || t->rtol > 0 || t->ulps > 0; }

static void compare_run(segment *s, const pair *p, int64_t from, int64_t n, const tolerance *t)
{
    run r;
    sums found;
    const bool whole = n == RUN && p->parts == 1 && !t->nan_differs;
    if (whole) sum_run(&found, p, from, s->peak[RELATIVE].size, t->brief);
    if (!whole || !is_plain(&found, p)) {
        fill_run(&r, p, from, n);
        compare_one_by_one(s, &r, from, n, p->parts, t);
        return;
    }
    s->distance += found.distance;
    s->norm_a += found.norm_a;
    s->norm_b += found.norm_b;
    s->dot += found.dot;
    s->changed += found.changed;
    if (!found.changed) return;
    if (has_tolerance(t)) fill_run(&r, p, from, n);
    s->differ += has_tolerance(t) ? count_different(&r, t) : found.changed;
    note_peaks(s, &r, &found, p, from, t, has_tolerance(t));
}

/* Pieces ----------------------------------------------------------------------------------- */

static tsr_status compare_segments(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    for (int64_t k = begin; k < end; k++) {
        const int64_t last = (k + 1) * SEGMENT < j->count ? (k + 1) * SEGMENT : j->count;
        segment *s = &j->found[k];
        *s = (segment){ .peak = { { -1, 0 }, { -1, 0 }, { -1, 0 } } };
        for (int64_t i = k * SEGMENT; i < last; i += RUN)
            compare_run(s, j->p, i, i + RUN < last ? RUN : last - i, j->t);
    }
    return TSR_OK;
}

static tsr_status compare_bytes(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    const int64_t last = end * SEGMENT < j->count ? end * SEGMENT : j->count;
    if (atomic_load_explicit(&j->differs, memory_order_relaxed)) return TSR_OK;
    if (!same_bytes_at(j->p, begin * SEGMENT, last - begin * SEGMENT))
        atomic_store_explicit(&j->differs, true, memory_order_relaxed);
    return TSR_OK;
}

static int64_t segments_of(const job *j) { return (j->count + SEGMENT - 1) / SEGMENT; }

/* Where number i of a piece lies in the tensor; parts of complex numbers lie together. */
static void find_index(int64_t index[TSR_MAX_NDIM], const block *b, int64_t i)
{
    for (int axis = b->ndim - 1; axis >= 0; axis--) {
        index[axis] = b->from[axis] + i % b->count[axis];
        i /= b->count[axis];
    }
}

static void keep_peak(extreme *e, const peak *found, const pair *p, const block *b)
{
    if (!(found->size > e->size)) return;
    e->size = found->size;
    find_index(e->index, b, found->at / p->parts);
    const tsr_tensor *const *t = (const tsr_tensor *const *)p->piece;
    const char *at[2];
    for (int k = 0; k < 2; k++)
        at[k] = (const char *)t[k]->data + (size_t)found->at * tsr_dtype_size(t[k]->dtype);
    if (tsr_scalar_load(&e->a, t[0]->dtype, at[0]) != TSR_OK ||
        tsr_scalar_load(&e->b, t[1]->dtype, at[1]) != TSR_OK)
        e->a = e->b = tsr_scalar_i64(0);
}

static void add_segment(contrast *out, const segment *s, const pair *p, const block *where)
{
    out->changed += s->changed;
    out->differ += s->differ;
    out->nans += s->nans;
    out->distance += s->distance;
    out->norm_a += s->norm_a;
    out->norm_b += s->norm_b;
    out->dot += s->dot;
    keep_peak(&out->error, &s->peak[ERROR], p, where);
    keep_peak(&out->relative, &s->peak[RELATIVE], p, where);
    keep_peak(&out->steps, &s->peak[STEPS], p, where);
}

/* Items ------------------------------------------------------------------------------------ */

/* Two items and how far the walk over them is. */
typedef struct walk {
    source   *a, *b;
    int64_t   ia, ib;
    cut       ca, cb;
    pair      p;
    job       j;
    progress *pr;
    double    done, total;
} walk;

static bool read_pair(walk *w, const block *where)
{
    if (!source_read_block(&w->p.piece[0], w->a, w->ia, &w->ca, where) ||
        !source_read_block(&w->p.piece[1], w->b, w->ib, &w->cb, where))
        return false;
    const double bytes = (double)tsr_byte_size(w->p.piece[0]);
    if (pack(&w->p) != TSR_OK) return complain(w->a->command, "%s", tsr_last_error()), false;
    w->j.count = tsr_numel(w->p.piece[0]);
    w->done += bytes;
    if (w->pr) progress_draw_bytes(w->pr, w->done, w->total);
    return true;
}

/* Pieces one after another, until bytes differ. False, with a complaint, if one cannot be read or seen. */
static bool see_pieces(walk *w, tsr_status (*see)(contrast *out, walk *w, const block *where), contrast *out)
{
    block where;
    bool more = block_first(&where, w->ca.ndim, w->ca.length, PIECE);
    for (; more && !atomic_load(&w->j.differs); more = block_next(&where)) {
        if (!read_pair(w, &where)) return false;
        if (see(out, w, &where) != TSR_OK) return complain(w->a->command, "%s", tsr_last_error()), false;
    }
    return true;
}

static tsr_status compare_piece(contrast *out, walk *w, const block *where)
{
    (void)out, (void)where;
    return tsr_parallel_for(segments_of(&w->j), 4, compare_bytes, &w->j);
}

static tsr_status measure_piece(contrast *out, walk *w, const block *where)
{
    job *j = &w->j;
    TSR_TRY(make_numbers(&w->p));
    TSR_TRY(tsr_parallel_for(segments_of(j), 1, compare_segments, j));
    for (int64_t k = 0; k < segments_of(j); k++) add_segment(out, &j->found[k], &w->p, where);
    return TSR_OK;
}

/* An index of the part as one of the whole tensor. */
static void locate(extreme *e, const cut *c)
{
    for (int i = 0; i < c->ndim; i++) {
        const tsr_file_range *r = &c->range[i];
        e->index[i] = (r->start == TSR_NONE ? 0 : r->start) + e->index[i] * r->step;
    }
}

static int64_t count_of(const cut *c)
{
    int64_t n = 1;
    for (int i = 0; i < c->ndim; i++) n *= c->length[i];
    return n;
}

bool contrast_items(contrast *out, source *a, int64_t ia, source *b, int64_t ib, const tolerance *t,
                    progress *pr, double done, double total)
{
    walk *w = room_for(1, sizeof *w); /* its segments would be much of a stack */
    w->a = a, w->ia = ia;
    w->b = b, w->ib = ib;
    w->pr = pr, w->done = done, w->total = total;
    w->j.p = &w->p, w->j.t = t;
    *out = (contrast){ .error.size = -1, .relative.size = -1, .steps.size = -1 };
    bool ok = source_cut(&w->ca, a, ia) && source_cut(&w->cb, b, ib);
    const bool by_bytes = a->items[ia].desc.dtype == b->items[ib].desc.dtype && !t->nan_differs;
    ok = ok && (!by_bytes || see_pieces(w, compare_piece, out));
    if (ok && (!by_bytes || atomic_load(&w->j.differs))) {
        atomic_store(&w->j.differs, false);
        w->done = done;
        ok = see_pieces(w, measure_piece, out);
    }
    if (ok) {
        out->count = count_of(&w->ca);
        locate(&out->error, &w->ca);
        locate(&out->relative, &w->ca);
        locate(&out->steps, &w->ca);
    }
    release_pair(&w->p);
    free(w);
    return ok;
}

double contrast_relative(const contrast *c)
{
    if (c->nans) return NAN;
    if (isinf(c->error.size)) return INFINITY;
    return c->distance == 0 ? 0 : sqrt(c->distance) / sqrt(c->norm_b);
}

double contrast_cosine(const contrast *c)
{
    if (c->nans) return NAN;
    if (!c->changed) return 1;
    const double size = sqrt(c->norm_a) * sqrt(c->norm_b);
    return size > 0 ? c->dot / size : 0;
}
