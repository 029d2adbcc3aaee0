/* compare.c - the same desc, the same memory, the same values, nearly the same
 * values.
 *
 * A question about two elements is a small inline function (same_f32, close_f32);
 * all_hold() asks it of every pair in a tile and is compiled once for each, so
 * that nothing is called through a pointer inside a loop. Values are compared
 * first in whatever order is fastest, up to the first that differs. Only when
 * there is one, and the caller wants to know which, a second walk in row-major
 * order looks at all of them.
 */
#include "tessera/compare.h"

#include "core/text.h"
#include "core/half.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/same_math.h"
#include "core/tensor_int.h"
#include "backend/device_run.h"

/* Descs and memory ------------------------------------------------------------- */

bool tsr_same_desc(const tsr_tensor *a, const tsr_tensor *b)
{
    return !tsr_is_none(a) && !tsr_is_none(b) && tsr_desc_same(&a->desc, &b->desc);
}

bool tsr_same_shape(const tsr_tensor *a, const tsr_tensor *b)
{
    return !tsr_is_none(a) && !tsr_is_none(b) && tsr_desc_same_shape(&a->desc, &b->desc);
}

bool tsr_identical(const tsr_tensor *a, const tsr_tensor *b)
{
    if (!tsr_is_allocated(a) || !tsr_is_allocated(b)) return false;
    if (a->data != b->data || a->device != b->device || !tsr_desc_same(&a->desc, &b->desc)) return false;
    return tsr_desc_numel(&a->desc) > 0 || a->storage == b->storage;
}

/* Elements --------------------------------------------------------------------- */

#define X(ID, suffix, S, kind, name) \
    static inline S load_##suffix(const char *p) { S v; memcpy(&v, p, sizeof v); return v; }
#include "tessera/dtype.def"
#undef X

#define value_bool load_bool
#define value_i8   load_i8
#define value_i16  load_i16
#define value_i32  load_i32
#define value_i64  load_i64
#define value_u8   load_u8
#define value_u16  load_u16
#define value_u32  load_u32
#define value_u64  load_u64
#define X(ID, suffix, S, mant, exp, inf, dlpack) \
    static inline double value_##suffix(const char *p) \
    { return (double)tsri_##suffix##_to_f32(load_##suffix(p)); }
#include "core/short_floats.def"
#undef X
static inline double   value_f32(const char *p)    { return (double)load_f32(p); }
static inline double   value_f64(const char *p)    { return load_f64(p); }
static inline tsr_c128 value_c32(const char *p)    { return (tsr_c128){ value_f16(p), value_f16(p + 2) }; }
static inline tsr_c128 value_c64(const char *p)    { return (tsr_c128){ value_f32(p), value_f32(p + 4) }; }
static inline tsr_c128 value_c128(const char *p)   { return load_c128(p); }

static inline double size_of(double x) { return x < 0 ? -x : x; }
static inline bool is_nan(double x)    { return x != x; }
static inline bool is_inf(double x)    { return size_of(x) > 1.7976931348623157e308; }

/* sqrt(x^2 + y^2) without overflow in between; NaN if either is. */
static double length_of(double x, double y)
{
    const double a = size_of(x), b = size_of(y), large = a > b ? a : b, small = a > b ? b : a;
    if (is_nan(x) || is_nan(y)) return x + y;
    if (large == 0 || is_inf(large)) return large;
    return large * tsri_sqrt_f64(1 + small / large * (small / large));
}

/* Are two elements the same value? --------------------------------------------
 *
 * Floats are compared by their patterns, which no mode of the processor touches:
 * equal and not NaN (above `top`), or both zero. No branches,
 * so that loops become vector code. */

static inline bool same_pattern(uint32_t a, uint32_t b, uint32_t sign, uint32_t top)
{
    return (((a ^ b) == 0) & ((a & ~sign) <= top)) | (((a | b) & ~sign) == 0);
}

#define X(ID, suffix, S, mant, exp, inf, dlpack)                                                 \
    static inline bool same_##suffix(const char *a, const char *b, const void *p)                \
    {                                                                                            \
        (void)p;                                                                                 \
        return same_pattern(load_##suffix(a), load_##suffix(b), 1u << ((mant) + (exp)),          \
                            TSRI_SHORT_NUMBER(mant, exp, inf));                                  \
    }
#include "core/short_floats.def"
#undef X

static inline bool same_f32(const char *a, const char *b, const void *p)
{
    (void)p;
    return same_pattern(load_u32(a), load_u32(b), 0x80000000u, 0x7f800000u);
}

static inline bool same_f64(const char *a, const char *b, const void *p)
{
    const uint64_t x = load_u64(a), y = load_u64(b), rest = INT64_MAX;
    (void)p;
    return (((x ^ y) == 0) & ((x & rest) <= 0x7ff0000000000000u)) | (((x | y) & rest) == 0);
}

static inline bool same_c32(const char *a, const char *b, const void *p)
{
    return same_f16(a, b, p) & (int)same_f16(a + 2, b + 2, p);
}

static inline bool same_c64(const char *a, const char *b, const void *p)
{
    return same_f32(a, b, p) & (int)same_f32(a + 4, b + 4, p);
}

static inline bool same_c128(const char *a, const char *b, const void *p)
{
    return same_f64(a, b, p) & (int)same_f64(a + 8, b + 8, p);
}

static inline bool same_u8(const char *a, const char *b, const void *p)
{
    (void)p;
    return *a == *b;
}

static inline bool same_u16(const char *a, const char *b, const void *p)
{
    (void)p;
    return load_u16(a) == load_u16(b);
}

static inline bool same_u32(const char *a, const char *b, const void *p)
{
    (void)p;
    return load_u32(a) == load_u32(b);
}

static inline bool same_u64(const char *a, const char *b, const void *p)
{
    (void)p;
    return load_u64(a) == load_u64(b);
}

#define same_bool same_u8
#define same_i8   same_u8
#define same_i16  same_u16
#define same_i32  same_u32
#define same_i64  same_u64

/* Are two elements close? -------------------------------------------------------- */

typedef struct tolerance {
    double rtol, atol; /* not negative, finite */
    bool   equal_nan;
} tolerance;

/* Integers that lie `apart`, the second of which is `size` from 0. No double need
 * hold their distance. */
static inline bool close_integers(uint64_t apart, uint64_t size, const tolerance *t)
{
    const double bound = t->atol + t->rtol * (double)size;
    return bound >= 18446744073709551616.0 || apart <= (uint64_t)bound;
}

static inline uint64_t distance_i64(int64_t a, int64_t b)
{
    return a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
}

static inline bool close_signed(int64_t a, int64_t b, const tolerance *t)
{
    return a == b || close_integers(distance_i64(a, b), distance_i64(b, 0), t);
}

static inline bool close_unsigned(uint64_t a, uint64_t b, const tolerance *t)
{
    return a == b || close_integers(a < b ? b - a : a - b, b, t);
}

static inline bool close_real(double a, double b, const tolerance *t)
{
    if (a == b) return true; /* the same infinity as well */
    if (is_nan(a) || is_nan(b)) return t->equal_nan && is_nan(a) && is_nan(b);
    if (is_inf(a) || is_inf(b)) return false;
    return size_of(a - b) <= t->atol + t->rtol * size_of(b);
}

/* A complex value is NaN or infinite if a part is. */
static inline bool close_complex(tsr_c128 a, tsr_c128 b, const tolerance *t)
{
    const bool nan_a = is_nan(a.re) || is_nan(a.im), nan_b = is_nan(b.re) || is_nan(b.im);
    if (a.re == b.re && a.im == b.im) return true;
    if (nan_a || nan_b) return t->equal_nan && nan_a && nan_b;
    if (is_inf(a.re) || is_inf(a.im) || is_inf(b.re) || is_inf(b.im)) return false;
    return length_of(a.re - b.re, a.im - b.im) <= t->atol + t->rtol * length_of(b.re, b.im);
}

#define close_BOOLEAN  close_unsigned
#define close_UNSIGNED close_unsigned
#define close_SIGNED   close_signed
#define close_FLOATING close_real
#define close_COMPLEX  close_complex

#define X(ID, suffix, S, kind, name)                                          \
    static bool close_##suffix(const char *a, const char *b, const void *t)   \
    {                                                                         \
        return close_##kind(value_##suffix(a), value_##suffix(b), t);         \
    }
#include "tessera/dtype.def"
#undef X

/* Tiles -------------------------------------------------------------------------- */

typedef bool (*pair_fn)(const char *a, const char *b, const void *params);

/* Are n packed pairs the same? In groups, so that the loop that does the work
 * has a fixed length and no exit in its middle: it becomes vector code. */
static TSRI_ALWAYS_INLINE bool packed_same(const char *a, const char *b, int64_t size, int64_t n,
                                           pair_fn same)
{
    enum { GROUP = 64 };
    int64_t i = 0;
    for (; i + GROUP <= n; i += GROUP) {
        int fails = 0;
        for (int64_t j = i; j < i + GROUP; j++) fails |= !same(a + j * size, b + j * size, NULL);
        if (fails) return false;
    }
    for (; i < n; i++)
        if (!same(a + i * size, b + i * size, NULL)) return false;
    return true;
}

static TSRI_ALWAYS_INLINE bool all_hold(const tsri_tile *t, pair_fn holds, const void *params)
{
    for (int64_t r = 0; r < t->rows; r++) {
        const char *a = t->ptr[0] + r * t->row_step[0], *b = t->ptr[1] + r * t->row_step[1];
        for (int64_t c = 0; c < t->cols; c++, a += t->col_step[0], b += t->col_step[1])
            if (!holds(a, b, params)) return false;
    }
    return true;
}

static TSRI_ALWAYS_INLINE bool all_same(const tsri_tile *t, int64_t size, pair_fn same)
{
    if (t->col_step[0] != size || t->col_step[1] != size) return all_hold(t, same, NULL);
    for (int64_t r = 0; r < t->rows; r++)
        if (!packed_same(t->ptr[0] + r * t->row_step[0], t->ptr[1] + r * t->row_step[1], size, t->cols, same))
            return false;
    return true;
}

#define X(ID, suffix, S, kind, name)                                \
    static bool tile_same_##suffix(const tsri_tile *t, void *p)     \
    {                                                               \
        (void)p;                                                    \
        return all_same(t, sizeof(S), same_##suffix);               \
    }                                                               \
    static bool tile_close_##suffix(const tsri_tile *t, void *p)    \
    {                                                               \
        return all_hold(t, close_##suffix, p);                      \
    }
#include "tessera/dtype.def"
#undef X

static const struct {
    tsri_visit_fn tile_same, tile_close;
    pair_fn       close;
} of_dtype[TSR_DTYPE_COUNT] = {
#define X(ID, suffix, S, kind, name) [TSR_##ID] = { tile_same_##suffix, tile_close_##suffix, close_##suffix },
#include "tessera/dtype.def"
#undef X
};

static void build_loop(tsri_loop *loop, const tsr_tensor *a, const tsr_tensor *b, int lead)
{
    const int64_t size = (int64_t)tsr_dtype_size(a->dtype);
    const tsri_operand operands[2] = { { a->data, a->stride, size }, { b->data, b->stride, size } };
    tsri_loop_build(loop, a->ndim, a->shape, 2, operands, lead);
}

/* Equality ----------------------------------------------------------------------- */

/* Do equal values have equal bytes, and lie in two plain runs? */
static bool is_memcmp(const tsri_loop *loop, tsr_dtype dtype)
{
    const tsr_kind kind = tsr_dtype_kind(dtype);
    const int64_t size = (int64_t)tsr_dtype_size(dtype);
    return kind != TSR_FLOATING && kind != TSR_COMPLEX && loop->ndim == 1 && loop->dim[0].step[0] == size &&
           loop->dim[0].step[1] == size;
}

static bool are_equal(const tsr_tensor *a, const tsr_tensor *b)
{
    tsri_loop loop;
    build_loop(&loop, a, b, 0);
    if (is_memcmp(&loop, a->dtype))
        return memcmp(loop.base[0], loop.base[1], (size_t)tsr_desc_bytes(&a->desc)) == 0;
    return tsri_loop_visit(&loop, of_dtype[a->dtype].tile_same, NULL);
}

/* With memory, that the host reaches or a device can be asked for. */
static tsr_status check_operand(const char *op, const char *what, const tsr_tensor *t)
{
    if (!tsr_is_allocated(t) || t->device == TSR_CPU) return tsri_check_host(op, what, t);
    return TSR_OK;
}

tsr_status tsr_equal(bool *out, const tsr_tensor *a, const tsr_tensor *b)
{
    tsr_tensor *temporary[2] = { NULL, NULL };
    TSRI_CHECK(out, TSR_ENULL, "equal: out is NULL");
    TSRI_TRY(check_operand("equal", "a", a));
    TSRI_TRY(check_operand("equal", "b", b));
    *out = false;
    if (a->dtype != b->dtype || !tsr_desc_same_shape(&a->desc, &b->desc)) return TSR_OK;
    tsr_status s = tsri_copy_to_host(&a, &temporary[0]);
    if (s == TSR_OK) s = tsri_copy_to_host(&b, &temporary[1]);
    if (s == TSR_OK) *out = are_equal(a, b);
    for (int i = 0; i < 2; i++) tsr_release(&temporary[i]);
    return s;
}

/* Closeness ---------------------------------------------------------------------- */

/* A pair that is not close. */
typedef struct finding {
    int64_t     element; /* its number in row-major order */
    const char *a, *b;
    double      error;
    uint64_t    exact;   /* the error of integers, which a double may not hold */
} finding;

typedef struct survey {
    tsr_dtype dtype;
    tolerance tol;
    int64_t   seen, differ;
    finding   first, worst;
} survey;

static void measure(finding *f, tsr_dtype dtype)
{
    tsr_scalar a = { 0 }, b = { 0 };
    (void)!tsr_scalar_load(&a, dtype, f->a); /* cannot fail: the dtype is a tensor's */
    (void)!tsr_scalar_load(&b, dtype, f->b);
    f->exact = 0;
    switch (a.dtype) {
    case TSR_F64:  f->error = size_of(a.as.c.re - b.as.c.re); return;
    case TSR_C128: f->error = length_of(a.as.c.re - b.as.c.re, a.as.c.im - b.as.c.im); return;
    case TSR_I64:  f->exact = distance_i64(a.as.i, b.as.i); break;
    default:       f->exact = a.as.u < b.as.u ? b.as.u - a.as.u : a.as.u - b.as.u; break;
    }
    f->error = (double)f->exact;
}

static bool is_worse(const finding *f, const finding *than)
{
    if (is_nan(f->error) || is_nan(than->error)) return is_nan(f->error) && !is_nan(than->error);
    return f->error > than->error || (f->error == than->error && f->exact > than->exact);
}

static void note(survey *s, finding f)
{
    measure(&f, s->dtype);
    if (s->differ++ == 0) s->first = s->worst = f;
    else if (is_worse(&f, &s->worst)) s->worst = f;
}

/* Tiles come in row-major order, so counting elements numbers them. */
static bool survey_tile(const tsri_tile *t, void *context)
{
    survey *s = context;
    const pair_fn close = of_dtype[s->dtype].close;
    for (int64_t r = 0; r < t->rows; r++) {
        const char *a = t->ptr[0] + r * t->row_step[0], *b = t->ptr[1] + r * t->row_step[1];
        for (int64_t c = 0; c < t->cols; c++, a += t->col_step[0], b += t->col_step[1], s->seen++)
            if (!close(a, b, &s->tol)) note(s, (finding){ .element = s->seen, .a = a, .b = b });
    }
    return true;
}

/* A float's place among the representable values of its dtype, 0 being 0. */
static int64_t place_of(tsr_dtype dtype, const char *p)
{
    const size_t size = tsr_dtype_size(dtype);
    const uint64_t bits = size == 1 ? load_u8(p) : size == 2 ? load_u16(p)
                        : size == 4 ? load_u32(p) : load_u64(p);
    const uint64_t sign = (uint64_t)1 << (8 * size - 1);
    const int64_t magnitude = (int64_t)(bits & ~sign);
    return bits & sign ? -magnitude : magnitude;
}

static int64_t ulps_of(const finding *f, tsr_dtype dtype)
{
    const tsr_kind kind = tsr_dtype_kind(dtype);
    if (kind == TSR_COMPLEX || is_nan(f->error)) return -1;
    const uint64_t ulps = kind != TSR_FLOATING ? f->exact
                          : distance_i64(place_of(dtype, f->a), place_of(dtype, f->b));
    return ulps <= INT64_MAX ? (int64_t)ulps : -1;
}

static tsr_mismatch describe(const finding *f, const tsr_desc *d)
{
    tsr_mismatch m = { .error = f->error, .ulps = ulps_of(f, d->dtype) };
    int64_t rest = f->element;
    for (int i = d->ndim - 1; i >= 0; i--) {
        m.index[i] = rest % d->shape[i];
        rest /= d->shape[i];
    }
    (void)!tsr_scalar_load(&m.a, d->dtype, f->a);
    (void)!tsr_scalar_load(&m.b, d->dtype, f->b);
    return m;
}

static tsr_status read_tolerance(double *out, const char *name, double given, double standard)
{
    TSRI_CHECK(!is_nan(given) && !is_inf(given), TSR_EINVAL, "allclose: %s is %g, and must be finite", name,
               given);
    *out = given == 0 ? standard : given < 0 ? 0 : given;
    return TSR_OK;
}

static tsr_status read_opts(tolerance *out, const tsr_close_opts *opts)
{
    TSRI_TRY(read_tolerance(&out->rtol, "rtol", opts ? opts->rtol : 0, 1e-5));
    TSRI_TRY(read_tolerance(&out->atol, "atol", opts ? opts->atol : 0, 1e-8));
    out->equal_nan = opts && opts->equal_nan;
    return TSR_OK;
}

static tsr_status allclose(bool *out, const tsr_tensor *a, const tsr_tensor *b, const tsr_close_opts *opts,
                           tsr_close_report *report)
{
    survey s = { 0 };
    tsri_loop loop;
    TSRI_CHECK(a->dtype == b->dtype, TSR_EDTYPE, "allclose: a is %s and b is %s: dtypes differ",
               TSRI_DESC(&a->desc), TSRI_DESC(&b->desc));
    TSRI_CHECK(tsr_desc_same_shape(&a->desc, &b->desc), TSR_ESHAPE,
               "allclose: a is %s and b is %s: shapes differ", TSRI_DESC(&a->desc), TSRI_DESC(&b->desc));
    TSRI_TRY(read_opts(&s.tol, opts));

    build_loop(&loop, a, b, 0);
    *out = tsri_loop_visit(&loop, of_dtype[a->dtype].tile_close, &s.tol);
    if (!report) return TSR_OK;
    *report = (tsr_close_report){ .count = tsr_desc_numel(&a->desc) };
    if (*out) return TSR_OK;

    s.dtype = a->dtype;
    build_loop(&loop, a, b, TSRI_ORDERED);
    (void)tsri_loop_visit(&loop, survey_tile, &s);
    report->differ = s.differ;
    report->first = describe(&s.first, &a->desc);
    report->worst = describe(&s.worst, &a->desc);
    return TSR_OK;
}

tsr_status tsr_allclose(bool *out, const tsr_tensor *a, const tsr_tensor *b, const tsr_close_opts *opts,
                        tsr_close_report *report)
{
    tsr_tensor *temporary[2] = { NULL, NULL };
    TSRI_CHECK(out, TSR_ENULL, "allclose: out is NULL");
    TSRI_TRY(check_operand("allclose", "a", a));
    TSRI_TRY(check_operand("allclose", "b", b));
    tsr_status s = tsri_copy_to_host(&a, &temporary[0]);
    if (s == TSR_OK) s = tsri_copy_to_host(&b, &temporary[1]);
    if (s == TSR_OK) s = allclose(out, a, b, opts, report);
    for (int i = 0; i < 2; i++) tsr_release(&temporary[i]);
    return s;
}

/* The report as text ------------------------------------------------------------- */

static void put_scalar(tsri_text *text, tsr_scalar s)
{
    switch (s.dtype) {
    case TSR_BOOL: tsri_put(text, "%s", s.as.u ? "true" : "false"); return;
    case TSR_U64:  tsri_put_u64(text, s.as.u); return;
    case TSR_I64:  tsri_put_i64(text, s.as.i); return;
    default:       break;
    }
    tsri_put_f64(text, s.as.c.re);
    if (s.dtype != TSR_C128) return;
    if (is_nan(s.as.c.im) || tsri_f64_bits(s.as.c.im) >> 63 == 0) tsri_put_char(text, '+');
    tsri_put_f64(text, s.as.c.im);
    tsri_put_char(text, 'i');
}

static void put_mismatch(tsri_text *text, const char *what, const tsr_mismatch *m, int ndim)
{
    tsri_put(text, "; %s at (", what);
    for (int i = 0; i < ndim; i++) tsri_put(text, i ? ", %lld" : "%lld", (long long)m->index[i]);
    tsri_put(text, "): ");
    put_scalar(text, m->a);
    tsri_put(text, " vs ");
    put_scalar(text, m->b);
    tsri_put(text, " (%g", m->error);
    if (m->ulps >= 0) tsri_put(text, ", %lld ulp%s", (long long)m->ulps, m->ulps == 1 ? "" : "s");
    tsri_put(text, ")");
}

static bool is_same_place(const tsr_mismatch *a, const tsr_mismatch *b, int ndim)
{
    for (int i = 0; i < ndim; i++)
        if (a->index[i] != b->index[i]) return false;
    return true;
}

size_t tsr_close_report_to_string(char *out, size_t size, const tsr_close_report *report, int ndim)
{
    tsri_text text = tsri_text_into(out, out ? size : 0);
    if (!report) return 0;
    if (ndim < 0) ndim = 0;
    if (ndim > TSR_MAX_NDIM) ndim = TSR_MAX_NDIM;
    tsri_put(&text, "%lld of %lld differ", (long long)report->differ, (long long)report->count);
    if (report->differ == 0) return text.length;
    if (is_same_place(&report->first, &report->worst, ndim)) {
        put_mismatch(&text, "first and worst", &report->first, ndim);
    } else {
        put_mismatch(&text, "first", &report->first, ndim);
        put_mismatch(&text, "worst", &report->worst, ndim);
    }
    return text.length;
}
