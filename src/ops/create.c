/* create.c - new tensors: empty, filled, copied from data, counted up. */
#include "op.h"
#include "core/mem.h"
#include "tessera/move.h"
#include "tessera/view.h"

static tsr_status make_filled(tsr_tensor **out, const char *op, const tsr_desc *d, tsr_scalar value)
{
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_TRY(tsri_result(out, &origin, op, d, NULL));
    return tsri_result_end(out, origin, tsri_fill_run(*out, value));
}

static tsr_status make_full(tsr_tensor **out, const char *op, tsr_dtype dtype, int ndim, const int64_t *shape,
                            tsr_scalar value)
{
    tsr_desc d;
    TSRI_TRY(tsri_desc_packed(&d, op, dtype, ndim, shape));
    return make_filled(out, op, &d, value);
}

tsr_status tsr_empty(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    tsr_desc d;
    tsri_origin origin;
    TSRI_TRY(tsri_desc_packed(&d, "empty", dtype, ndim, shape));
    return tsri_result(out, &origin, "empty", &d, NULL);
}

tsr_status tsr_zeros(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    enum { SMALL = 4096 };  /* bytes; so few are filled here, without the general call */
    tsr_desc d;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    int64_t lo;
    TSRI_TRY(tsri_desc_packed(&d, "zeros", dtype, ndim, shape));
    TSRI_TRY(tsri_result(out, &origin, "zeros", &d, NULL));
    const int64_t bytes = tsri_desc_span(&d, &lo);
    if (origin != TSRI_ORIGIN_MADE || bytes > SMALL || !tsri_is_here(*out))
        return tsri_result_end(out, origin, tsri_fill_run(*out, tsr_scalar_i64(0)));
    memset((*out)->data, 0, (size_t)bytes);
    return TSR_OK;
}

tsr_status tsr_ones(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    return make_full(out, "ones", dtype, ndim, shape, tsr_scalar_i64(1));
}

tsr_status tsr_full(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape, tsr_scalar value)
{
    return make_full(out, "full", dtype, ndim, shape, value);
}

/* A result like `like`: made with its device and kind, or checked to fit. */
static tsr_status result_like(tsr_tensor **out, tsri_origin *origin, const char *op, const tsr_tensor *like)
{
    tsr_desc d;
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", op);
    TSRI_TRY(tsri_check_tensor(op, "like", like));
    TSRI_TRY(tsri_desc_packed_like(&d, &like->desc, like->dtype));
    /* A mapped file has no other of its kind: beside it, host memory is used. */
    return tsri_result_in(out, origin, op, &d, like->device, tsri_memory_beside(like));
}

static tsr_status filled_like(tsr_tensor **out, const char *op, const tsr_tensor *like, tsr_scalar value)
{
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_TRY(result_like(out, &origin, op, like));
    return tsri_result_end(out, origin, tsri_fill_run(*out, value));
}

tsr_status tsr_empty_like(tsr_tensor **out, const tsr_tensor *like)
{
    tsri_origin origin;
    return result_like(out, &origin, "empty_like", like);
}

tsr_status tsr_zeros_like(tsr_tensor **out, const tsr_tensor *like)
{
    return filled_like(out, "zeros_like", like, tsr_scalar_i64(0));
}

tsr_status tsr_ones_like(tsr_tensor **out, const tsr_tensor *like)
{
    return filled_like(out, "ones_like", like, tsr_scalar_i64(1));
}

tsr_status tsr_full_like(tsr_tensor **out, const tsr_tensor *like, tsr_scalar value)
{
    return filled_like(out, "full_like", like, value);
}

tsr_status tsr_clone(tsr_tensor **out, const tsr_tensor *t)
{
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_CHECK(out, TSR_ENULL, "clone: out is NULL");
    TSRI_TRY(tsri_check_tensor("clone", "t", t));
    if (!t->data && tsr_is_none(*out)) return tsr_declare(out, &t->desc, t->device, t->memory);
    TSRI_TRY(tsri_check_allocated("clone", "t", t));
    TSRI_TRY(result_like(out, &origin, "clone", t));
    const bool new_memory = origin != TSRI_ORIGIN_GIVEN;
    return tsri_result_end(out, origin, new_memory ? tsri_copy_run(*out, t) : tsr_copy(*out, t));
}

tsr_status tsr_from_data(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape, const void *data)
{
    tsr_desc d;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_TRY(tsri_desc_packed(&d, "from_data", dtype, ndim, shape));
    TSRI_CHECK(data || tsr_desc_numel(&d) == 0, TSR_ENULL, "from_data: data is NULL");
    TSRI_TRY(tsri_result(out, &origin, "from_data", &d, NULL));
    return tsri_result_end(out, origin, tsr_load(*out, data, (size_t)tsr_desc_bytes(&d)));
}

tsr_status tsr_eye(tsr_tensor **out, tsr_dtype dtype, int64_t rows, int64_t cols, int64_t k)
{
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    tsr_desc d;
    tsr_tensor place, *diagonal = tsr_place_none(&place);
    TSRI_TRY(tsr_desc_init(&d, dtype, TSR_SHAPE(rows, cols), NULL));
    TSRI_TRY(tsri_result(out, &origin, "eye", &d, NULL));
    tsr_status s = tsri_fill_run(*out, tsr_scalar_i64(0));
    if (s == TSR_OK) s = tsr_diagonal(&diagonal, *out, k, 0, 1);
    if (s == TSR_OK) s = tsri_fill_run(diagonal, tsr_scalar_i64(1));
    tsr_release(&diagonal);
    return tsri_result_end(out, origin, s);
}

/* Progressions -------------------------------------------------------------------
 *
 * Values are worked out a chunk at a time, exactly (i64, u64) or in f64 or c128,
 * and copied into the result, which converts them. */

enum { CHUNK = 64 };

typedef struct line {
    double from, by;
    bool   halved;  /* `by` is half the step: the whole is too long for a double */
} line;

typedef struct progression {
    int64_t   n;
    tsr_dtype dtype, dtype_after;  /* of values before and from index `wrap_at` on: I64 and U64
                                      (the bits are the same; the sign changes there), F64 or C128 */
    int64_t   wrap_at;
    uint64_t  start, step;         /* integers, as bits */
    line      re, im;              /* floats */
    tsr_c128  last;
    bool      ends;                /* the last value is `last` exactly */
} progression;

static double line_at(const line *l, double i)
{
    return l->halved ? (l->from / 2 + i * l->by) * 2 : l->from + i * l->by;
}

static void progression_at(void *chunk, int64_t slot, const progression *p, int64_t i)
{
    const bool end = p->ends && i == p->n - 1;
    if (p->dtype == TSR_F64) {
        ((double *)chunk)[slot] = end ? p->last.re : line_at(&p->re, (double)i);
    } else if (p->dtype == TSR_C128) {
        const tsr_c128 v = { line_at(&p->re, (double)i), line_at(&p->im, (double)i) };
        ((tsr_c128 *)chunk)[slot] = end ? p->last : v;
    } else {
        ((uint64_t *)chunk)[slot] = p->start + (uint64_t)i * p->step;
    }
}

static tsr_status fill_progression(tsr_tensor *out, const progression *p)
{
    tsr_c128 chunk[CHUNK];
    tsr_tensor values, place, *part = tsr_place_none(&place);
    for (int64_t at = 0, n; at < p->n; at += n) {
        const int64_t left = (at < p->wrap_at && p->wrap_at < p->n ? p->wrap_at : p->n) - at;
        tsr_desc d;
        n = left < CHUNK ? left : CHUNK;
        for (int64_t i = 0; i < n; i++) progression_at(chunk, i, p, at + i);
        TSRI_TRY(tsr_desc_init(&d, at < p->wrap_at ? p->dtype : p->dtype_after, TSR_SHAPE(n), NULL));
        TSRI_TRY(tsr_place(&values, chunk, &d));
        TSRI_TRY(tsr_slice(&part, out, 0, at, at + n, 1));
        const tsr_status s = tsri_copy_run(part, &values);
        tsr_release(&part);
        TSRI_TRY(s);
        part = tsr_place_none(&place);
    }
    return TSR_OK;
}

static tsr_status make_progression(tsr_tensor **out, const char *op, tsr_dtype dtype, const progression *p)
{
    tsr_desc d;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_TRY(tsr_desc_init(&d, dtype, TSR_SHAPE(p->n), NULL));
    TSRI_TRY(tsri_result(out, &origin, op, &d, NULL));
    return tsri_result_end(out, origin, fill_progression(*out, p));
}

static bool is_integer(tsr_scalar s)
{
    return s.dtype == TSR_I64 || s.dtype == TSR_U64 || s.dtype == TSR_BOOL;
}

static bool is_negative(tsr_scalar s) { return s.dtype == TSR_I64 && s.as.i < 0; }

static bool is_finite(double v) { return v - v == 0; }

static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

/* How many of start, start + step, ... lie before stop, and how many of those come
 * before the sign changes: *wrap_at. -1 if it exceeds i64. Integers reach from -2^63
 * to 2^64 - 1, so what lies on each side of zero is counted for itself. */
static int64_t integer_count(int64_t *wrap_at, tsr_scalar start, tsr_scalar stop, tsr_scalar step)
{
    const bool forward = !is_negative(step);
    const uint64_t a = tsr_scalar_to_u64(start), b = tsr_scalar_to_u64(stop);
    const uint64_t by = forward ? tsr_scalar_to_u64(step) : 0 - tsr_scalar_to_u64(step);
    *wrap_at = INT64_MAX;
    if (is_negative(start) == is_negative(stop)) {
        if (forward ? a >= b : a <= b) return 0;
        const uint64_t n = divide_up(forward ? b - a : a - b, by);
        return n > INT64_MAX ? -1 : (int64_t)n;
    }
    if (is_negative(start) != forward) return 0;
    const uint64_t before = forward ? 0 - a : a, after = forward ? b : 0 - b;  /* distances from 0 */
    if (before / by >= INT64_MAX) return -1;
    const uint64_t first = divide_up(before, by);  /* not counting 0, which suits either side */
    const uint64_t next = first * by - before;     /* how far beyond 0 the next lies */
    const uint64_t second = next < after ? divide_up(after - next, by) : 0;
    *wrap_at = (int64_t)first;
    return second > INT64_MAX - first ? -1 : (int64_t)(first + second);
}

/* The count in f64. */
static int64_t real_count(double start, double stop, double step)
{
    const double n = (stop - start) / step;
    if (!(n > 0)) return 0;
    if (n >= 9.2e18) return -1;
    const int64_t whole = (int64_t)n;
    return whole + ((double)whole < n);
}

tsr_status tsr_arange(tsr_tensor **out, tsr_dtype dtype, tsr_scalar start, tsr_scalar stop, tsr_scalar step)
{
    progression p = { .wrap_at = INT64_MAX };
    TSRI_CHECK(out, TSR_ENULL, "arange: out is NULL");
    const tsr_kind kind = tsr_dtype_kind(dtype);
    TSRI_CHECK(kind == TSR_SIGNED || kind == TSR_UNSIGNED || kind == TSR_FLOATING, TSR_EDTYPE,
               "arange: %s; an integer or floating dtype is needed", tsr_dtype_name(dtype));
    TSRI_CHECK(start.dtype != TSR_C128 && stop.dtype != TSR_C128 && step.dtype != TSR_C128, TSR_EDTYPE,
               "arange: start, stop and step must be real");
    if (is_integer(start) && is_integer(stop) && is_integer(step)) {
        p.start = tsr_scalar_to_u64(start);
        p.step = tsr_scalar_to_u64(step);
        p.dtype = is_negative(start) ? TSR_I64 : TSR_U64;
        p.dtype_after = is_negative(start) ? TSR_U64 : TSR_I64;
        TSRI_CHECK(p.step != 0, TSR_EINVAL, "arange: step is 0");
        p.n = integer_count(&p.wrap_at, start, stop, step);
    } else {
        const double a = tsr_scalar_to_f64(start), b = tsr_scalar_to_f64(stop), by = tsr_scalar_to_f64(step);
        TSRI_CHECK(is_finite(a) && is_finite(b) && is_finite(by), TSR_EINVAL,
                   "arange: %g to %g by %g is not finite", a, b, by);
        TSRI_CHECK(by != 0, TSR_EINVAL, "arange: step is 0");
        const bool overflows = !is_finite(b - a);
        p.dtype = TSR_F64;
        p.re = (line){ a, overflows ? by / 2 : by, overflows };
        p.n = overflows ? real_count(a / 2, b / 2, by / 2) : real_count(a, b, by);
    }
    TSRI_CHECK(p.n >= 0, TSR_EOVERFLOW, "arange: more than 2^63 - 1 elements");
    return make_progression(out, "arange", dtype, &p);
}

static line line_between(double a, double b, double parts)
{
    const double span = b - a;
    return is_finite(span) ? (line){ a, span / parts, false } : (line){ a, (b / 2 - a / 2) / parts, true };
}

tsr_status tsr_linspace(tsr_tensor **out, tsr_dtype dtype, tsr_scalar start, tsr_scalar stop, int64_t n,
                        bool endpoint)
{
    TSRI_CHECK(out, TSR_ENULL, "linspace: out is NULL");
    const tsr_kind kind = tsr_dtype_kind(dtype);
    TSRI_CHECK(kind == TSR_FLOATING || kind == TSR_COMPLEX, TSR_EDTYPE,
               "linspace: %s; a floating or complex dtype is needed", tsr_dtype_name(dtype));
    TSRI_CHECK(n >= 0, TSR_EINVAL, "linspace: %lld values", (long long)n);
    const tsr_c128 a = tsr_scalar_to_c128(start), b = tsr_scalar_to_c128(stop);
    const double parts = (double)(endpoint ? tsri_max(n - 1, 1) : tsri_max(n, 1));
    const bool complex = start.dtype == TSR_C128 || stop.dtype == TSR_C128;
    TSRI_CHECK(!complex || kind == TSR_COMPLEX, TSR_EDTYPE, "linspace: complex ends for %s",
               tsr_dtype_name(dtype));
    const progression p = {
        .n     = n,
        .dtype = complex ? TSR_C128 : TSR_F64,
        .wrap_at  = INT64_MAX,
        .re    = line_between(a.re, b.re, parts),
        .im    = line_between(a.im, b.im, parts),
        .last  = b,
        .ends  = endpoint && n > 1,
    };
    return make_progression(out, "linspace", dtype, &p);
}
