/* test_compare.c - four questions, against a naive indexer. */
#include "test.h"

enum { BYTES = 1 << 15 };

static const double not_finite[1] = { 1e308 };
static double infinity_(void) { return not_finite[0] * 10; }
static double nan_(void) { return infinity_() - infinity_(); }

/* A naive reference ------------------------------------------------------------- */

static const char *element(const tsr_tensor *t, const int64_t *index)
{
    int64_t at = 0;
    for (int i = 0; i < t->ndim; i++) at += t->shape[i] == 1 ? 0 : index[i] * t->stride[i];
    return (const char *)t->data + at * (int64_t)tsr_dtype_size(t->dtype);
}

static tsr_scalar scalar_at(const tsr_tensor *t, const int64_t *index)
{
    tsr_scalar s = tsr_scalar_i64(0);
    EXPECT_OK(tsr_scalar_load(&s, t->dtype, element(t, index)));
    return s;
}

static bool next_index(const tsr_tensor *t, int64_t *index)
{
    for (int i = t->ndim - 1; i >= 0; i--) {
        if (++index[i] < t->shape[i]) return true;
        index[i] = 0;
    }
    return false;
}

static bool same_scalar(tsr_scalar a, tsr_scalar b)
{
    switch (a.dtype) {
    case TSR_I64:  return a.as.i == b.as.i;
    case TSR_F64:  return a.as.c.re == b.as.c.re;
    case TSR_C128: return a.as.c.re == b.as.c.re && a.as.c.im == b.as.c.im;
    default:       return a.as.u == b.as.u;
    }
}

static double absolute(double x) { return x < 0 ? -x : x; }
static bool is_nan(double x) { return x != x; }

/* For values that a double holds exactly; complex ones have one part 0 or are
 * multiples of (3, 4). */
static double size_of(tsr_scalar s)
{
    const tsr_c128 c = tsr_scalar_to_c128(s);
    if (is_nan(c.re) || is_nan(c.im)) return nan_();
    if (c.im == 0) return absolute(c.re);
    if (c.re == 0) return absolute(c.im);
    return absolute(c.re) * 5 / 3;
}

static double error_of(tsr_scalar a, tsr_scalar b)
{
    const tsr_c128 x = tsr_scalar_to_c128(a), y = tsr_scalar_to_c128(b);
    return size_of(tsr_scalar_c128(x.re - y.re, x.im - y.im));
}

static bool is_close(tsr_scalar a, tsr_scalar b, double rtol, double atol, bool equal_nan)
{
    const double error = error_of(a, b);
    if (same_scalar(a, b)) return true;
    const double x = size_of(a), y = size_of(b);
    if (is_nan(x) || is_nan(y)) return equal_nan && is_nan(x) && is_nan(y);
    if (x > 1e308 || y > 1e308) return false;
    return error <= atol + rtol * y;
}

/* Random pairs ------------------------------------------------------------------- */

static unsigned char memory[2][BYTES];

/* A few values, so that many pairs agree: small whole numbers, -0, 0, and for floats
 * infinities and NaN now and then. */
static tsr_scalar random_value(uint64_t *r, tsr_dtype dtype)
{
    const tsr_kind kind = tsr_dtype_kind(dtype);
    const double v = (double)(test_below(r, 5) - 2);
    if (kind == TSR_BOOLEAN) return tsr_scalar_bool(test_below(r, 2));
    if (kind == TSR_UNSIGNED) return tsr_scalar_u64((uint64_t)test_below(r, 4));
    if (kind == TSR_SIGNED) return tsr_scalar_i64(test_below(r, 5) - 2);
    if (test_below(r, 40) == 0) return tsr_scalar_f64(nan_());
    if (test_below(r, 40) == 0) return tsr_scalar_f64(test_below(r, 2) ? infinity_() : -infinity_());
    if (test_below(r, 8) == 0) return tsr_scalar_f64(-0.0);
    return kind == TSR_COMPLEX ? tsr_scalar_c128(3 * v, 4 * v) : tsr_scalar_f64(v);
}

static void random_strides(uint64_t *r, int ndim, const int64_t *shape, int64_t *stride)
{
    const bool any = test_below(r, 3) == 0;
    int order[TSR_MAX_NDIM];
    int64_t step = 1;
    for (int i = 0; i < ndim; i++) order[i] = i;
    for (int i = ndim - 1; i > 0; i--) {
        const int j = test_below(r, 2) ? i : (int)test_below(r, i + 1), o = order[i];
        order[i] = order[j];
        order[j] = o;
    }
    for (int k = ndim - 1; k >= 0; k--) {
        const int i = order[k];
        stride[i] = any ? test_below(r, 41) - 20 : test_below(r, 5) == 0 ? -step : step;
        if (shape[i] == 1 && test_below(r, 2)) stride[i] = INT64_MIN + test_below(r, 3); /* junk */
        if (test_below(r, 10) == 0 && shape[i] > 1) stride[i] = 0;
        step *= (shape[i] > 0 ? shape[i] : 1) + (test_below(r, 4) == 0);
    }
}

static bool place_random(tsr_tensor *t, int which, uint64_t *r, tsr_dtype dtype, int ndim,
                         const int64_t *shape)
{
    int64_t stride[TSR_MAX_NDIM], lo, hi;
    tsr_desc d;
    random_strides(r, ndim, shape, stride);
    EXPECT_OK(tsr_desc_init(&d, dtype, ndim, shape, stride));
    if (tsr_desc_span(&d, &lo, &hi) > BYTES) return false;
    EXPECT_OK(tsr_place(t, memory[which] - lo, &d));
    return true;
}

static void fill_pair(tsr_tensor *a, tsr_tensor *b, uint64_t *r)
{
    int64_t index[TSR_MAX_NDIM] = { 0 };
    const bool alike = test_below(r, 4) != 0;
    if (tsr_numel(a) == 0) return;
    do {
        const tsr_scalar v = random_value(r, a->dtype);
        const tsr_scalar w = alike && test_below(r, 300) ? v : random_value(r, a->dtype);
        EXPECT_OK(tsr_scalar_store((char *)element(a, index), a->dtype, v));
        EXPECT_OK(tsr_scalar_store((char *)element(b, index), b->dtype, w));
    } while (next_index(a, index));
}

/* What a report must say, found by looking at every pair. */
typedef struct expected {
    bool    equal;
    int64_t differ;
    int64_t first[TSR_MAX_NDIM], worst[TSR_MAX_NDIM];
    double  worst_error;
} expected;

static expected look(const tsr_tensor *a, const tsr_tensor *b, double rtol, double atol, bool equal_nan)
{
    expected e = { .equal = true };
    int64_t index[TSR_MAX_NDIM] = { 0 };
    if (tsr_numel(a) == 0) return e;
    do {
        const tsr_scalar x = scalar_at(a, index), y = scalar_at(b, index);
        const double error = error_of(x, y);
        if (!same_scalar(x, y)) e.equal = false;
        if (is_close(x, y, rtol, atol, equal_nan)) continue;
        if (e.differ == 0) memcpy(e.first, index, sizeof index);
        if (e.differ == 0 || (!is_nan(e.worst_error) && (is_nan(error) || error > e.worst_error))) {
            memcpy(e.worst, index, sizeof index);
            e.worst_error = error;
        }
        e.differ++;
    } while (next_index(a, index));
    return e;
}

static void check_report(const tsr_close_report *report, const expected *e, const tsr_tensor *a,
                         const tsr_tensor *b)
{
    EXPECT(report->count == tsr_numel(a));
    EXPECT_MSG(report->differ == e->differ, "%lld differ, not %lld", (long long)report->differ,
               (long long)e->differ);
    if (e->differ == 0) return;
    EXPECT(!memcmp(report->first.index, e->first, sizeof e->first));
    EXPECT_MSG(!memcmp(report->worst.index, e->worst, sizeof e->worst), "%s: error %g, not %g",
               tsr_dtype_name(a->dtype), report->worst.error, e->worst_error);
    EXPECT(is_nan(e->worst_error) ? is_nan(report->worst.error) : report->worst.error == e->worst_error);
    EXPECT(same_scalar(report->first.a, scalar_at(a, e->first)) || is_nan(size_of(report->first.a)));
    EXPECT(same_scalar(report->first.b, scalar_at(b, e->first)) || is_nan(size_of(report->first.b)));
}

static void check_pair(const tsr_tensor *a, const tsr_tensor *b, uint64_t *r, int counts[3])
{
    static const double rtols[] = { -1, 0.5, 1e-3 }, atols[] = { -1, 1, 2.5 };
    const tsr_close_opts opts = { rtols[test_below(r, 3)], atols[test_below(r, 3)], test_below(r, 2) };
    const double rtol = opts.rtol < 0 ? 0 : opts.rtol, atol = opts.atol < 0 ? 0 : opts.atol;
    const expected e = look(a, b, rtol, atol, opts.equal_nan);
    tsr_close_report report;
    char text[TSR_MAX_NDIM * 24];
    bool equal = !e.equal, close = e.differ != 0;
    (void)tsr_desc_to_string(text, sizeof text, &a->desc);
    EXPECT_OK(tsr_equal(&equal, a, b));
    EXPECT_MSG(equal == e.equal, "equal says %d of %s", equal, text);
    EXPECT_OK(tsr_allclose(&close, a, b, &opts, NULL));
    EXPECT_MSG(close == (e.differ == 0), "allclose says %d of %s", close, text);
    EXPECT_OK(tsr_allclose(&close, a, b, &opts, &report));
    EXPECT(close == (e.differ == 0));
    check_report(&report, &e, a, b);
    counts[0] += e.equal;
    counts[1] += e.differ == 0;
    counts[2]++;
}

TEST(test_compare_agrees_with_a_naive_indexer)
{
    uint64_t r = 3;
    int counts[3] = { 0 };
    while (counts[2] < 25000) {
        const tsr_dtype dtype = (tsr_dtype)(1 + test_below(&r, TSR_DTYPE_COUNT - 1));
        const int ndim = (int)test_below(&r, 6);
        int64_t shape[TSR_MAX_NDIM];
        tsr_tensor a, b;
        for (int i = 0; i < ndim; i++) shape[i] = test_below(&r, 30) ? 1 + test_below(&r, 6) : 0;
        if (ndim > 0 && test_below(&r, 8) == 0) shape[ndim - 1] = 1 + test_below(&r, 200);
        if (!place_random(&a, 0, &r, dtype, ndim, shape)) continue;
        if (!place_random(&b, 1, &r, dtype, ndim, shape)) continue;
        if (tsr_numel(&a) > 3000) continue;
        fill_pair(&a, &b, &r);
        check_pair(&a, &b, &r, counts);
    }
    EXPECT_MSG(counts[0] > 3000 && counts[0] < 22000, "%d of %d equal", counts[0], counts[2]);
    EXPECT_MSG(counts[1] > 3000 && counts[1] < 22000, "%d of %d close", counts[1], counts[2]);
}

/* One element that differs, at every place of every row length around a group. */
TEST(test_equal_sees_a_difference_at_every_place)
{
    for (int k = 1; k < TSR_DTYPE_COUNT; k++) {
        const tsr_dtype dtype = (tsr_dtype)k;
        const size_t size = tsr_dtype_size(dtype);
        for (int64_t n = 1; n < 140; n += n < 60 ? 13 : 1)
            for (int64_t at = 0; at < n; at++) {
                tsr_desc d;
                tsr_tensor a, b;
                bool equal = false;
                memset(memory, 0, sizeof memory);
                EXPECT_OK(tsr_desc_init(&d, dtype, 1, &n, NULL));
                EXPECT_OK(tsr_place(&a, memory[0], &d));
                EXPECT_OK(tsr_place(&b, memory[1], &d));
                memory[1][(size_t)n * size] = 1; /* just beyond the end */
                EXPECT_OK(tsr_equal(&equal, &a, &b));
                EXPECT(equal);
                memory[0][(size_t)at * size] = 1;
                EXPECT_OK(tsr_equal(&equal, &a, &b));
                EXPECT_MSG(!equal, "%s: place %d of %d", tsr_dtype_name(dtype), (int)at, (int)n);
            }
    }
}

/* Particular values --------------------------------------------------------------- */

/* Two tensors of one element; equality, closeness and the report. */
typedef struct comparison {
    bool             equal, close;
    tsr_close_report report;
} comparison;

static comparison ask(tsr_dtype dtype, tsr_scalar x, tsr_scalar y, const tsr_close_opts *opts)
{
    comparison w = { 0 };
    tsr_desc d;
    tsr_tensor a, b;
    EXPECT_OK(tsr_desc_init(&d, dtype, 0, NULL, NULL));
    EXPECT_OK(tsr_scalar_store(memory[0], dtype, x));
    EXPECT_OK(tsr_scalar_store(memory[1], dtype, y));
    EXPECT_OK(tsr_place(&a, memory[0], &d));
    EXPECT_OK(tsr_place(&b, memory[1], &d));
    EXPECT_OK(tsr_equal(&w.equal, &a, &b));
    EXPECT_OK(tsr_allclose(&w.close, &a, &b, opts, &w.report));
    EXPECT(w.close == (w.report.differ == 0));
    return w;
}

static const tsr_close_opts exactly = { -1, -1, false };

TEST(test_zeros_are_equal_and_nans_are_not)
{
    static const tsr_dtype floats[] = { TSR_F8E4M3, TSR_F8E5M2, TSR_F16, TSR_BF16, TSR_F32, TSR_F64, TSR_C32,
                                        TSR_C64, TSR_C128 };
    for (size_t k = 0; k < sizeof floats / sizeof *floats; k++) {
        const tsr_dtype t = floats[k];
        const tsr_scalar nan = tsr_scalar_f64(nan_()), zero = tsr_scalar_f64(0), one = tsr_scalar_f64(1);
        EXPECT(ask(t, tsr_scalar_f64(-0.0), zero, &exactly).equal);
        EXPECT(ask(t, tsr_scalar_f64(-0.0), zero, &exactly).close);
        EXPECT(!ask(t, nan, nan, &exactly).equal);
        EXPECT(!ask(t, nan, nan, &exactly).close);
        EXPECT(ask(t, nan, nan, &(tsr_close_opts){ .equal_nan = true }).close);
        EXPECT(!ask(t, nan, one, &(tsr_close_opts){ .equal_nan = true }).close);
        EXPECT(!ask(t, one, tsr_scalar_f64(-1), &exactly).equal);
        const comparison w = ask(t, one, nan, NULL);
        EXPECT(is_nan(w.report.worst.error) && w.report.worst.ulps == -1);
    }
}

TEST(test_infinities_are_close_to_themselves_only)
{
    static const tsr_dtype floats[] = { TSR_F8E5M2, TSR_F16, TSR_BF16, TSR_F32, TSR_F64, TSR_C32, TSR_C64,
                                        TSR_C128 };
    const tsr_close_opts wide = { 1e6, 1e300, false };
    for (size_t k = 0; k < sizeof floats / sizeof *floats; k++) {
        const tsr_dtype t = floats[k];
        const tsr_scalar inf = tsr_scalar_f64(infinity_()), minus = tsr_scalar_f64(-infinity_());
        EXPECT(ask(t, inf, inf, &exactly).close && ask(t, inf, inf, &exactly).equal);
        EXPECT(!ask(t, inf, minus, &wide).close);
        EXPECT(!ask(t, inf, tsr_scalar_f64(1), &wide).close);
        EXPECT(!ask(t, tsr_scalar_f64(1), minus, &wide).close);
        EXPECT(ask(t, tsr_scalar_f64(1), inf, &wide).report.worst.error == infinity_());
    }
}

TEST(test_ulps_count_steps_between_floats)
{
    comparison w = ask(TSR_F32, tsr_scalar_f64(2), tsr_scalar_f64(2.5), NULL);
    EXPECT(w.report.differ == 1 && w.report.first.ulps == 2097152 && w.report.first.error == 0.5);
    w = ask(TSR_F16, tsr_scalar_f64(1), tsr_scalar_f64(1.0009765625), &exactly);
    EXPECT(w.report.first.ulps == 1);
    w = ask(TSR_F64, tsr_scalar_f64(-4.9e-324), tsr_scalar_f64(4.9e-324), &exactly);
    EXPECT(w.report.first.ulps == 2);
    w = ask(TSR_F64, tsr_scalar_f64(-1e308), tsr_scalar_f64(1e308), NULL);
    EXPECT(w.report.first.ulps == -1);
    w = ask(TSR_F32, tsr_scalar_f64(infinity_()), tsr_scalar_f64(3.4028234663852886e38), NULL);
    EXPECT(w.report.first.ulps == 1);
    w = ask(TSR_F8E4M3, tsr_scalar_f64(448), tsr_scalar_f64(-448), NULL);
    EXPECT(w.report.first.ulps == 2 * 0x7e);
    w = ask(TSR_C64, tsr_scalar_f64(1), tsr_scalar_f64(2), NULL);
    EXPECT(w.report.first.ulps == -1);
}

TEST(test_integers_beyond_doubles_are_compared_exactly)
{
    const int64_t big = (int64_t)1 << 60;
    const tsr_close_opts two53 = { -1, 9007199254740992.0, false }, wide = { -1, 1e30, false };
    comparison w = ask(TSR_I64, tsr_scalar_i64(big), tsr_scalar_i64(big + 1), &exactly);
    EXPECT(!w.equal && !w.close && w.report.first.error == 1 && w.report.first.ulps == 1);
    w = ask(TSR_I64, tsr_scalar_i64(big), tsr_scalar_i64(big + 1), NULL);
    EXPECT(!w.equal && w.close);
    /* 2^53 + 1 apart, which as a double would be 2^53. */
    w = ask(TSR_I64, tsr_scalar_i64(0), tsr_scalar_i64(((int64_t)1 << 53) + 1), &two53);
    EXPECT(!w.close && w.report.first.ulps == ((int64_t)1 << 53) + 1);
    w = ask(TSR_I64, tsr_scalar_i64(INT64_MIN), tsr_scalar_i64(INT64_MAX), &exactly);
    EXPECT(!w.close && w.report.first.error == 2 * 9223372036854775808.0 && w.report.first.ulps == -1);
    EXPECT(w.report.first.a.as.i == INT64_MIN && w.report.first.b.as.i == INT64_MAX);
    EXPECT(ask(TSR_I64, tsr_scalar_i64(INT64_MIN), tsr_scalar_i64(INT64_MAX), &wide).close);
    w = ask(TSR_U64, tsr_scalar_u64(UINT64_MAX), tsr_scalar_u64(UINT64_MAX - 1), &exactly);
    EXPECT(!w.equal && !w.close && w.report.first.error == 1 && w.report.first.ulps == 1);
    EXPECT(!ask(TSR_U64, tsr_scalar_u64(3), tsr_scalar_u64(5), &(tsr_close_opts){ -1, 1.99, false }).close);
    EXPECT(ask(TSR_U64, tsr_scalar_u64(3), tsr_scalar_u64(5), &(tsr_close_opts){ -1, 2, false }).close);
    EXPECT(!ask(TSR_BOOL, tsr_scalar_bool(true), tsr_scalar_bool(false), NULL).close);
}

TEST(test_worst_of_integers_is_exact)
{
    int64_t a[3] = { 0, 0, 0 }, b[3] = { ((int64_t)1 << 60) + 1, ((int64_t)1 << 60) + 2, 5 };
    const int64_t n = 3;
    tsr_desc d;
    tsr_tensor ta, tb;
    tsr_close_report report;
    bool close = true;
    EXPECT_OK(tsr_desc_init(&d, TSR_I64, 1, &n, NULL));
    EXPECT_OK(tsr_place(&ta, a, &d));
    EXPECT_OK(tsr_place(&tb, b, &d));
    EXPECT_OK(tsr_allclose(&close, &ta, &tb, &exactly, &report));
    EXPECT(!close && report.differ == 3 && report.first.index[0] == 0 && report.worst.index[0] == 1);
}

TEST(test_complex_values_are_measured_by_distance)
{
    const tsr_scalar x = tsr_scalar_c128(1, 1), y = tsr_scalar_c128(4, 5);
    comparison w = ask(TSR_C128, x, y, &(tsr_close_opts){ -1, 5, false });
    EXPECT(w.close);
    w = ask(TSR_C64, x, y, &(tsr_close_opts){ -1, 4.999, false });
    EXPECT(!w.close && w.report.first.error == 5);
    /* Squares would overflow, or vanish. */
    w = ask(TSR_C128, tsr_scalar_c128(3e200, 4e200), tsr_scalar_c128(0, 0), NULL);
    EXPECT_MSG(!w.close && absolute(w.report.first.error / 5e200 - 1) < 1e-15, "%g", w.report.first.error);
    w = ask(TSR_C128, tsr_scalar_c128(3e-200, 4e-200), tsr_scalar_c128(0, 0), &exactly);
    EXPECT_MSG(!w.close && absolute(w.report.first.error / 5e-200 - 1) < 1e-15, "%g", w.report.first.error);
    EXPECT(!ask(TSR_C64, tsr_scalar_c128(1, nan_()), tsr_scalar_c128(1, nan_()), NULL).close);
    EXPECT(ask(TSR_C64, tsr_scalar_c128(1, nan_()), tsr_scalar_c128(nan_(), 0),
               &(tsr_close_opts){ .equal_nan = true }).close);
    EXPECT(!ask(TSR_C64, tsr_scalar_c128(1, infinity_()), tsr_scalar_c128(2, infinity_()), NULL).close);
    EXPECT(ask(TSR_C64, tsr_scalar_c128(1, infinity_()), tsr_scalar_c128(1, infinity_()), NULL).close);
    EXPECT(!ask(TSR_C32, tsr_scalar_c128(1, 2), tsr_scalar_c128(1, 3), NULL).equal);
}

TEST(test_tolerance_is_relative_to_the_second)
{
    const tsr_close_opts tenth = { 0.1, -1, false };
    EXPECT(ask(TSR_F64, tsr_scalar_f64(100), tsr_scalar_f64(110), &tenth).close);
    EXPECT(!ask(TSR_F64, tsr_scalar_f64(110.5), tsr_scalar_f64(100), &tenth).close);
    EXPECT(ask(TSR_F64, tsr_scalar_f64(1), tsr_scalar_f64(1.000009), NULL).close);
    EXPECT(!ask(TSR_F64, tsr_scalar_f64(1), tsr_scalar_f64(1.00002), NULL).close);
    EXPECT(ask(TSR_F64, tsr_scalar_f64(0), tsr_scalar_f64(0.9e-8), NULL).close);
    EXPECT(!ask(TSR_F64, tsr_scalar_f64(0), tsr_scalar_f64(1.1e-8), NULL).close);
}

/* Reports, descs, memory ------------------------------------------------------------ */

TEST(test_report_reads_as_a_sentence)
{
    float x[6] = { 1, 2, 3, 4, 5, 6 }, y[6] = { 1, 2.5f, 3, 4, 5, 16 };
    tsr_desc d;
    tsr_tensor a, b;
    tsr_close_report report;
    char text[200];
    bool close;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 3), NULL));
    EXPECT_OK(tsr_place(&a, x, &d));
    EXPECT_OK(tsr_place(&b, y, &d));
    EXPECT_OK(tsr_allclose(&close, &a, &b, NULL, &report));
    const char *want = "2 of 6 differ; first at (0, 1): 2 vs 2.5 (0.5, 2097152 ulps); "
                       "worst at (1, 2): 6 vs 16 (10, 12582912 ulps)";
    const size_t length = tsr_close_report_to_string(text, sizeof text, &report, 2);
    EXPECT_MSG(length == strlen(want) && !strcmp(text, want), "%s", text);
    char cut[10];
    EXPECT(tsr_close_report_to_string(cut, sizeof cut, &report, 2) == length && !strcmp(cut, "2 of 6 di"));
    EXPECT(tsr_close_report_to_string(NULL, 0, &report, 2) == length);
    EXPECT(tsr_close_report_to_string(NULL, 9, &report, 2) == length);
    EXPECT(tsr_close_report_to_string(text, sizeof text, NULL, 2) == 0 && text[0] == '\0');
    y[1] = 2;
    EXPECT_OK(tsr_allclose(&close, &a, &b, NULL, &report));
    (void)tsr_close_report_to_string(text, sizeof text, &report, 2);
    want = "1 of 6 differ; first and worst at (1, 2): 6 vs 16 (10, 12582912 ulps)";
    EXPECT_MSG(!strcmp(text, want), "%s", text);
    y[5] = 6;
    EXPECT_OK(tsr_allclose(&close, &a, &b, NULL, &report));
    (void)tsr_close_report_to_string(text, sizeof text, &report, 2);
    EXPECT_MSG(!strcmp(text, "0 of 6 differ"), "%s", text);
    report = ask(TSR_C128, tsr_scalar_c128(1, -2), tsr_scalar_c128(1, nan_()), NULL).report;
    (void)tsr_close_report_to_string(text, sizeof text, &report, 0);
    EXPECT_MSG(!strcmp(text, "1 of 1 differ; first and worst at (): 1-2i vs 1+nani (nan)"), "%s", text);
    report = ask(TSR_U64, tsr_scalar_u64(UINT64_MAX), tsr_scalar_u64(UINT64_MAX - 1), &exactly).report;
    (void)tsr_close_report_to_string(text, sizeof text, &report, 0);
    EXPECT_MSG(strstr(text, "18446744073709551615 vs 18446744073709551614 (1, 1 ulp)") != NULL, "%s", text);
}

TEST(test_same_desc_and_same_shape)
{
    tsr_tensor *a = NULL, *b = NULL, none = { 0 };
    tsr_desc d;
    EXPECT_OK(tsr_zeros(&a, TSR_F32, TSR_SHAPE(2, 1, 3)));
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, 3, (int64_t[]){ 2, 1, 3 }, (int64_t[]){ 3, 77, 1 }));
    EXPECT_OK(tsr_declare(&b, &d, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT(tsr_same_desc(a, b) && tsr_same_shape(a, b) && !tsr_identical(a, b));
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, 3, (int64_t[]){ 2, 1, 3 }, (int64_t[]){ 1, 0, 2 }));
    EXPECT_OK(tsr_declare(&b, &d, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT(!tsr_same_desc(a, b) && tsr_same_shape(a, b));
    EXPECT_OK(tsr_desc_init(&d, TSR_I32, 3, (int64_t[]){ 2, 1, 3 }, NULL));
    EXPECT_OK(tsr_declare(&b, &d, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT(!tsr_same_desc(a, b) && tsr_same_shape(a, b));
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, 2, (int64_t[]){ 2, 3 }, NULL));
    EXPECT_OK(tsr_declare(&b, &d, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT(!tsr_same_desc(a, b) && !tsr_same_shape(a, b));
    EXPECT(!tsr_same_desc(a, NULL) && !tsr_same_desc(NULL, NULL) && !tsr_same_desc(&none, &none));
    EXPECT(!tsr_same_shape(NULL, a) && !tsr_same_shape(&none, &none));
    tsr_release_all(&b, &a);
}

TEST(test_identical_means_the_same_memory_seen_the_same_way)
{
    tsr_tensor *a = NULL, *b = NULL, *c = NULL, none = { 0 };
    EXPECT_OK(tsr_zeros(&a, TSR_F32, TSR_SHAPE(3, 3)));
    EXPECT(tsr_identical(a, a));
    EXPECT_OK(tsr_slice(&b, a, 0, 0, 3, 1));
    EXPECT(tsr_identical(a, b));
    EXPECT_OK(tsr_wrap(&b, a->data, &a->desc)); /* another storage over the same bytes */
    EXPECT(tsr_identical(a, b));
    EXPECT_OK(tsr_transpose(&b, a, 0, 1));
    EXPECT(!tsr_identical(a, b));
    EXPECT_OK(tsr_select(&b, a, 0, 0));
    EXPECT_OK(tsr_select(&c, a, 0, 1));
    EXPECT(!tsr_identical(b, c) && !tsr_identical(a, b));
    EXPECT(!tsr_identical(a, NULL) && !tsr_identical(&none, &none) && !tsr_identical(NULL, NULL));
    tsr_release(&c);
    EXPECT_OK(tsr_declare(&c, &a->desc, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT(!tsr_identical(c, c));
    tsr_release_all(&c, &b, &a);
}

TEST(test_identical_empties_share_their_storage)
{
    tsr_tensor *a = NULL, *b = NULL, *c = NULL;
    bool equal = false;
    EXPECT_OK(tsr_zeros(&a, TSR_F32, TSR_SHAPE(0, 3)));
    EXPECT_OK(tsr_zeros(&b, TSR_F32, TSR_SHAPE(0, 3)));
    EXPECT_OK(tsr_slice(&c, a, 1, 0, 3, 1));
    EXPECT(tsr_identical(a, a) && !tsr_identical(a, b) && tsr_identical(a, c));
    EXPECT_OK(tsr_wrap(&b, memory[0], &a->desc)); /* one address, and no bytes to share at it */
    EXPECT_OK(tsr_wrap(&c, memory[0], &a->desc));
    EXPECT(tsr_identical(b, b) && !tsr_identical(b, c));
    EXPECT_OK(tsr_equal(&equal, a, b));
    EXPECT(equal);
    tsr_release_all(&c, &b, &a);
}

TEST(test_equal_of_other_shapes_and_dtypes_is_false_and_allclose_fails)
{
    tsr_tensor *a = NULL, *b = NULL, *c = NULL;
    bool out = true;
    EXPECT_OK(tsr_zeros(&a, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_zeros(&b, TSR_F32, TSR_SHAPE(3, 2)));
    EXPECT_OK(tsr_zeros(&c, TSR_I32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_equal(&out, a, b));
    EXPECT(!out);
    out = true;
    EXPECT_OK(tsr_equal(&out, a, c));
    EXPECT(!out);
    EXPECT_FAILS(tsr_allclose(&out, a, b, NULL, NULL), TSR_ESHAPE, "f32(3, 2");
    EXPECT_FAILS(tsr_allclose(&out, a, c, NULL, NULL), TSR_EDTYPE, "i32(2, 3");
    tsr_release_all(&c, &b, &a);
}

static _Alignas(64) unsigned char far_memory[64];

static void *far_alloc(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    return bytes <= sizeof far_memory && alignment <= 64 ? far_memory : NULL;
}

static void far_free(void *context, void *data, size_t bytes)
{
    (void)context;
    (void)data;
    (void)bytes;
}

TEST(test_compare_refuses_bad_arguments)
{
    tsr_tensor *a = NULL, *declared = NULL, *nowhere = NULL;
    tsr_memory far_away;
    tsr_close_report report = { .count = -7 };
    bool out = true;
    EXPECT_OK(tsr_zeros(&a, TSR_F32, TSR_SHAPE(2)));
    EXPECT_OK(tsr_declare(&declared, &a->desc, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_FAILS(tsr_equal(NULL, a, a), TSR_ENULL, "equal: out");
    EXPECT_FAILS(tsr_equal(&out, NULL, a), TSR_ENULL, "equal: a");
    EXPECT_FAILS(tsr_equal(&out, a, NULL), TSR_ENULL, "equal: b");
    EXPECT_FAILS(tsr_equal(&out, a, declared), TSR_ESTATE, "equal: b");
    EXPECT_FAILS(tsr_allclose(NULL, a, a, NULL, NULL), TSR_ENULL, "allclose: out");
    EXPECT_FAILS(tsr_allclose(&out, NULL, a, NULL, NULL), TSR_ENULL, "allclose: a");
    EXPECT_FAILS(tsr_allclose(&out, a, NULL, NULL, NULL), TSR_ENULL, "allclose: b");
    EXPECT_FAILS(tsr_allclose(&out, declared, a, NULL, NULL), TSR_ESTATE, "allclose: a");
    EXPECT_FAILS(tsr_allclose(&out, a, a, &(tsr_close_opts){ .rtol = nan_() }, &report), TSR_EINVAL, "rtol");
    EXPECT_FAILS(tsr_allclose(&out, a, a, &(tsr_close_opts){ .atol = infinity_() }, &report), TSR_EINVAL,
                 "atol");
    EXPECT(out && report.count == -7);
    /* Memory that the host cannot reach: a kind of our own that says so. */
    const tsr_memory_kind kind = { .size = sizeof kind, .name = "far-away", .alloc = far_alloc,
                                   .free = far_free };
    EXPECT_OK(tsr_memory_register(&far_away, &kind));
    EXPECT_OK(tsr_declare(&nowhere, &a->desc, TSR_CPU, far_away));
    EXPECT_OK(tsr_alloc(nowhere));
    EXPECT_FAILS(tsr_equal(&out, a, nowhere), TSR_EDEVICE, "equal: b");
    EXPECT_FAILS(tsr_allclose(&out, nowhere, a, NULL, NULL), TSR_EDEVICE, "allclose: a");
    EXPECT(out);
    tsr_release(&nowhere);
    EXPECT_OK(tsr_memory_unregister(far_away));
    tsr_release_all(&declared, &a);
}
