/* create.c - tensors with something in them. */
#include "op.h"
#include "tessera/move.h"
#include "tessera/view.h"

static tsr_status make_filled(tsr_tensor **out, const char *op, const tsr_desc *d, tsr_scalar value)
{
    tsri_fresh fresh = TSRI_HAD;
    TSRI_TRY(tsri_result(out, &fresh, op, d));
    return tsri_result_end(out, fresh, tsri_fill_run(*out, value));
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
    tsri_fresh fresh;
    TSRI_TRY(tsri_desc_packed(&d, "empty", dtype, ndim, shape));
    return tsri_result(out, &fresh, "empty", &d);
}

tsr_status tsr_zeros(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    return make_full(out, "zeros", dtype, ndim, shape, tsr_scalar_i64(0));
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
static tsr_status result_like(tsr_tensor **out, tsri_fresh *fresh, const char *op, const tsr_tensor *like)
{
    tsr_desc d;
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", op);
    TSRI_TRY(tsri_check_tensor(op, "like", like));
    TSRI_TRY(tsri_desc_packed_like(&d, &like->desc, like->dtype));
    /* A mapping cannot be made like: its likes lie in host memory. */
    const tsr_memory memory = like->memory == TSR_MEMORY_FILE ? TSR_MEMORY_HOST : like->memory;
    return tsri_result_in(out, fresh, op, &d, like->device, memory);
}

static tsr_status filled_like(tsr_tensor **out, const char *op, const tsr_tensor *like, tsr_scalar value)
{
    tsri_fresh fresh = TSRI_HAD;
    TSRI_TRY(result_like(out, &fresh, op, like));
    return tsri_result_end(out, fresh, tsri_fill_run(*out, value));
}

tsr_status tsr_empty_like(tsr_tensor **out, const tsr_tensor *like)
{
    tsri_fresh fresh;
    return result_like(out, &fresh, "empty_like", like);
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
    tsri_fresh fresh = TSRI_HAD;
    TSRI_CHECK(out, TSR_ENULL, "clone: out is NULL");
    TSRI_TRY(tsri_check_tensor("clone", "t", t));
    if (!t->data && tsr_is_none(*out)) return tsr_declare(out, &t->desc, t->device, t->memory);
    TSRI_TRY(tsri_check_allocated("clone", "t", t));
    TSRI_TRY(result_like(out, &fresh, "clone", t));
    const bool new_memory = fresh != TSRI_HAD;
    return tsri_result_end(out, fresh, new_memory ? tsri_copy_run(*out, t) : tsr_copy(*out, t));
}

tsr_status tsr_from_data(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape, const void *data)
{
    tsr_desc d;
    tsri_fresh fresh = TSRI_HAD;
    TSRI_TRY(tsri_desc_packed(&d, "from_data", dtype, ndim, shape));
    TSRI_CHECK(data || tsr_desc_numel(&d) == 0, TSR_ENULL, "from_data: data is NULL");
    TSRI_TRY(tsri_result(out, &fresh, "from_data", &d));
    return tsri_result_end(out, fresh, tsr_load(*out, data, (size_t)tsr_desc_bytes(&d)));
}

tsr_status tsr_eye(tsr_tensor **out, tsr_dtype dtype, int64_t rows, int64_t cols, int64_t k)
{
    tsri_fresh fresh = TSRI_HAD;
    tsr_desc d;
    tsr_tensor place, *diagonal = tsr_place_none(&place);
    TSRI_TRY(tsr_desc_init(&d, dtype, TSR_SHAPE(rows, cols), NULL));
    TSRI_TRY(tsri_result(out, &fresh, "eye", &d));
    tsr_status s = tsri_fill_run(*out, tsr_scalar_i64(0));
    if (s == TSR_OK) s = tsr_diagonal(&diagonal, *out, k, 0, 1);
    if (s == TSR_OK) s = tsri_fill_run(diagonal, tsr_scalar_i64(1));
    tsr_release(&diagonal);
    return tsri_result_end(out, fresh, s);
}

/* Progressions -------------------------------------------------------------------
 *
 * Values are worked out a chunk at a time, exactly (i64) or in f64 or c128, and
 * copied into the result, which converts them. */

enum { CHUNK = 64 };

typedef struct progression {
    tsr_dtype  dtype;              /* of the chunk: I64, F64 or C128 */
    int64_t    n;
    tsr_scalar start, step, last;  /* of that dtype */
    bool       ends;               /* the last value is `last` exactly */
} progression;

static void progression_at(void *chunk, int64_t slot, const progression *p, int64_t i)
{
    const bool end = p->ends && i == p->n - 1;
    if (p->dtype == TSR_I64) {
        ((int64_t *)chunk)[slot] = (int64_t)((uint64_t)p->start.as.i + (uint64_t)i * (uint64_t)p->step.as.i);
    } else if (p->dtype == TSR_F64) {
        ((double *)chunk)[slot] = end ? p->last.as.c.re : p->start.as.c.re + (double)i * p->step.as.c.re;
    } else {
        const tsr_c128 v = { p->start.as.c.re + (double)i * p->step.as.c.re,
                             p->start.as.c.im + (double)i * p->step.as.c.im };
        ((tsr_c128 *)chunk)[slot] = end ? p->last.as.c : v;
    }
}

static tsr_status fill_progression(tsr_tensor *out, const progression *p)
{
    tsr_c128 chunk[CHUNK];
    tsr_tensor values, place, *part = tsr_place_none(&place);
    for (int64_t at = 0; at < p->n; at += CHUNK) {
        const int64_t n = p->n - at < CHUNK ? p->n - at : CHUNK;
        tsr_desc d;
        for (int64_t i = 0; i < n; i++) progression_at(chunk, i, p, at + i);
        TSRI_TRY(tsr_desc_init(&d, p->dtype, TSR_SHAPE(n), NULL));
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
    tsri_fresh fresh = TSRI_HAD;
    TSRI_TRY(tsr_desc_init(&d, dtype, TSR_SHAPE(p->n), NULL));
    TSRI_TRY(tsri_result(out, &fresh, op, &d));
    return tsri_result_end(out, fresh, fill_progression(*out, p));
}

static bool is_integer(tsr_scalar s) { return s.dtype == TSR_I64 || s.dtype == TSR_U64 || s.dtype == TSR_BOOL; }

static bool fits_i64(tsr_scalar s) { return s.dtype != TSR_U64 || s.as.u <= INT64_MAX; }

static bool is_finite(double v) { return v - v == 0; }

/* ceil(span / step) for start .. stop by step, exactly; -1 if it exceeds i64. */
static int64_t integer_count(int64_t start, int64_t stop, int64_t step)
{
    if (step > 0 ? start >= stop : start <= stop) return 0;
    const uint64_t span = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    const uint64_t by = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    const uint64_t n = span / by + (span % by != 0);
    return n > INT64_MAX ? -1 : (int64_t)n;
}

/* The same in f64. */
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
    progression p = { .dtype = TSR_I64 };
    TSRI_CHECK(out, TSR_ENULL, "arange: out is NULL");
    const tsr_kind kind = tsr_dtype_kind(dtype);
    TSRI_CHECK(kind == TSR_SIGNED || kind == TSR_UNSIGNED || kind == TSR_FLOATING, TSR_EDTYPE,
               "arange: %s; an integer or floating dtype is needed", tsr_dtype_name(dtype));
    TSRI_CHECK(start.dtype != TSR_C128 && stop.dtype != TSR_C128 && step.dtype != TSR_C128, TSR_EDTYPE,
               "arange: start, stop and step must be real");
    if (is_integer(start) && is_integer(stop) && is_integer(step) && fits_i64(start) && fits_i64(stop) &&
        fits_i64(step)) {
        p.start = tsr_scalar_i64(tsr_scalar_to_i64(start));
        p.step = tsr_scalar_i64(tsr_scalar_to_i64(step));
        TSRI_CHECK(p.step.as.i != 0, TSR_EINVAL, "arange: step is 0");
        p.n = integer_count(p.start.as.i, tsr_scalar_to_i64(stop), p.step.as.i);
    } else {
        const double a = tsr_scalar_to_f64(start), b = tsr_scalar_to_f64(stop), by = tsr_scalar_to_f64(step);
        TSRI_CHECK(is_finite(a) && is_finite(b) && is_finite(by), TSR_EINVAL, "arange: %g to %g by %g is not finite", a,
                   b, by);
        TSRI_CHECK(by != 0, TSR_EINVAL, "arange: step is 0");
        p.dtype = TSR_F64;
        p.start = tsr_scalar_f64(a);
        p.step = tsr_scalar_f64(by);
        p.n = real_count(a, b, by);
    }
    TSRI_CHECK(p.n >= 0, TSR_EOVERFLOW, "arange: more than 2^63 - 1 elements");
    return make_progression(out, "arange", dtype, &p);
}

/* (b - a) / parts without overflow where the difference has it. */
static double step_between(double a, double b, double parts)
{
    const double span = b - a;
    return is_finite(span) ? span / parts : b / parts - a / parts;
}

tsr_status tsr_linspace(tsr_tensor **out, tsr_dtype dtype, tsr_scalar start, tsr_scalar stop, int64_t n, bool endpoint)
{
    TSRI_CHECK(out, TSR_ENULL, "linspace: out is NULL");
    const tsr_kind kind = tsr_dtype_kind(dtype);
    TSRI_CHECK(kind == TSR_FLOATING || kind == TSR_COMPLEX, TSR_EDTYPE,
               "linspace: %s; a floating or complex dtype is needed", tsr_dtype_name(dtype));
    TSRI_CHECK(n >= 0, TSR_EINVAL, "linspace: %lld values", (long long)n);
    const tsr_c128 a = tsr_scalar_to_c128(start), b = tsr_scalar_to_c128(stop);
    const double parts = (double)(endpoint ? tsri_max(n - 1, 1) : tsri_max(n, 1));
    const double re = step_between(a.re, b.re, parts), im = step_between(a.im, b.im, parts);
    const bool complex = start.dtype == TSR_C128 || stop.dtype == TSR_C128;
    TSRI_CHECK(!complex || kind == TSR_COMPLEX, TSR_EDTYPE, "linspace: complex ends for %s", tsr_dtype_name(dtype));
    const progression p = {
        .dtype = complex ? TSR_C128 : TSR_F64,
        .n     = n,
        .start = complex ? tsr_scalar_c128(a.re, a.im) : tsr_scalar_f64(a.re),
        .step  = complex ? tsr_scalar_c128(re, im) : tsr_scalar_f64(re),
        .last  = complex ? tsr_scalar_c128(b.re, b.im) : tsr_scalar_f64(b.re),
        .ends  = endpoint && n > 1,
    };
    return make_progression(out, "linspace", dtype, &p);
}
