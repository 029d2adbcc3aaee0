/* test_statistics.c - what is particular about counts, quantiles and covariances: words of failures, ends of
 * ranges, results that overlap operands. That every op of the family is right is for opcheck. */
#include <math.h>

#include "test.h"

static tsr_tensor *vector(tsr_dtype dtype, int64_t n, const double *v)
{
    tsr_tensor *wide = NULL, *out = NULL;
    EXPECT_OK(tsr_from_data(&wide, TSR_F64, TSR_SHAPE(n), v));
    EXPECT_OK(tsr_cast(&out, wide, dtype));
    tsr_release(&wide);
    return out;
}
#define VECTOR(dtype, ...)                                                              \
    vector(dtype, (int64_t)(sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double)), \
           (const double[]){ __VA_ARGS__ })

static void expect_numbers(const tsr_tensor *t, int64_t n, const double *want)
{
    tsr_tensor *wide = NULL;
    EXPECT_OK(tsr_cast(&wide, t, TSR_F64));
    EXPECT(tsr_numel(wide) == n);
    for (int64_t i = 0; i < n && wide; i++) {
        const double got = ((const double *)wide->data)[i];
        EXPECT_MSG(got == want[i] || (isnan(got) && isnan(want[i])), "element %lld is %.17g, not %.17g",
                   (long long)i, got, want[i]);
    }
    tsr_release(&wide);
}
#define EXPECT_NUMBERS(t, ...)                                                                 \
    expect_numbers(t, (int64_t)(sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double)), \
                   (const double[]){ __VA_ARGS__ })

TEST(test_bincount_says_what_is_wrong)
{
    tsr_tensor *x = VECTOR(TSR_I32, 1, -2, 3), *f = VECTOR(TSR_F32, 1, 2), *z = NULL;
    tsr_tensor *large = NULL, *c = NULL;
    EXPECT_OK(tsr_full(&large, TSR_U64, TSR_SHAPE(1), tsr_scalar_u64(UINT64_MAX)));
    EXPECT_OK(tsr_cast(&c, f, TSR_C64));
    EXPECT_FAILS(tsr_bincount(NULL, x, NULL, 0), TSR_ENULL, "bincount: out");
    EXPECT_FAILS(tsr_bincount(&z, NULL, NULL, 0), TSR_ENULL, "bincount: x");
    EXPECT_FAILS(tsr_bincount(&z, f, NULL, 0), TSR_EDTYPE,
                 "bincount: x: dtype must be integer, but x is f32(2 | 1)");
    EXPECT_FAILS(tsr_bincount(&z, x, f, 0), TSR_ESHAPE,
                 "bincount: weights is f32(2 | 1), but x is i32(3 | 1)");
    EXPECT_FAILS(tsr_bincount(&z, f, c, 0), TSR_EDTYPE, "bincount: x");
    EXPECT_FAILS(tsr_bincount(&z, x, NULL, -1), TSR_EINVAL, "bincount: minlength is -1");
    EXPECT_FAILS(tsr_bincount(&z, x, NULL, 0), TSR_EINVAL, "negative");
    EXPECT_FAILS(tsr_bincount(&z, large, NULL, 0), TSR_EINVAL, "above 2^63");
    EXPECT(z == NULL);
    tsr_release_all(&x, &f, &large, &c);
}

/* Long enough for several threads, and for tables beside each other; the largest is rare. */
TEST(test_counts_of_many_are_complete)
{
    tsr_tensor *x = NULL, *z = NULL, *edges = NULL, *total = NULL;
    int64_t sum = 0;
    for (int64_t most = 3; most < 100000; most *= 40) {
        EXPECT_OK(tsr_integers(&x, TSR_I64, TSR_SHAPE(300001), 0, most, 5));
        EXPECT_OK(tsr_bincount(&z, x, NULL, 0));
        EXPECT(tsr_numel(z) <= most);
        EXPECT_OK(tsr_sum(&total, z, 0, NULL, false));
        EXPECT_OK(tsr_item_i64(&sum, total));
        EXPECT(sum == 300001);
        tsr_release_all(&z, &total);
        EXPECT_OK(tsr_histogram(&z, &edges, x, most, 0, 0, NULL, false));
        EXPECT_OK(tsr_sum(&total, z, 0, NULL, false));
        EXPECT_OK(tsr_item_i64(&sum, total));
        EXPECT(sum == 300001);
        tsr_release_all(&x, &z, &edges, &total);
    }
}

/* Counts by the width of their bin and all that count: 3 and 1 of 4, in widths of 1 and 3. */
TEST(test_a_density_has_an_area_of_one)
{
    static const double values[] = { 0, 0.25, 0.5, 4, 9 }, ends[] = { 0, 1, 4 };
    tsr_tensor *x = NULL, *edges = NULL, *z = NULL;
    EXPECT_OK(tsr_from_data(&x, TSR_F64, TSR_SHAPE(5), values));
    EXPECT_OK(tsr_from_data(&edges, TSR_F64, TSR_SHAPE(3), ends));
    EXPECT_OK(tsr_histogram_with(&z, x, edges, NULL, true));
    EXPECT(z && z->dtype == TSR_F64 && TSR_AT(double, z, 0) == 0.75 && TSR_AT(double, z, 1) == 1.0 / 12);
    tsr_release_all(&x, &edges, &z);
}

TEST(test_histogram_says_what_is_wrong)
{
    tsr_tensor *x = VECTOR(TSR_F32, 1, 2, 3), *infinite = VECTOR(TSR_F32, 1, INFINITY), *z = NULL, *e = NULL;
    tsr_tensor *down = VECTOR(TSR_F64, 1, 2, 1.5), *one = VECTOR(TSR_F64, 1), *c = NULL;
    EXPECT_OK(tsr_cast(&c, x, TSR_C64));
    EXPECT_FAILS(tsr_histogram(NULL, &e, x, 2, 0, 0, NULL, false), TSR_ENULL, "histogram: counts");
    EXPECT_FAILS(tsr_histogram(&z, NULL, x, 2, 0, 0, NULL, false), TSR_ENULL, "histogram: edges");
    EXPECT_FAILS(tsr_histogram(&z, &z, x, 2, 0, 0, NULL, false), TSR_EINVAL, "the same handle");
    EXPECT_FAILS(tsr_histogram(&z, &e, NULL, 2, 0, 0, NULL, false), TSR_ENULL, "histogram: x");
    EXPECT_FAILS(tsr_histogram(&z, &e, c, 2, 0, 0, NULL, false), TSR_EDTYPE,
                 "histogram: x: dtype must be real");
    EXPECT_FAILS(tsr_histogram(&z, &e, x, 2, 0, 0, c, false), TSR_EDTYPE,
                 "histogram: weights: dtype must be real");
    EXPECT_FAILS(tsr_histogram(&z, &e, x, 0, 0, 0, NULL, false), TSR_EINVAL, "histogram: bins is 0");
    EXPECT_FAILS(tsr_histogram(&z, &e, x, 2, 2, 1, NULL, false), TSR_EINVAL, "the range is 2 to 1");
    EXPECT_FAILS(tsr_histogram(&z, &e, x, 2, 0, NAN, NULL, false), TSR_EINVAL, "the range is 0 to nan");
    EXPECT_FAILS(tsr_histogram(&z, &e, infinite, 2, 0, 0, NULL, false), TSR_EINVAL, "x is from 1 to inf");
    EXPECT_FAILS(tsr_histogram_with(&z, x, NULL, NULL, false), TSR_ENULL, "histogram_with: edges");
    EXPECT_FAILS(tsr_histogram_with(&z, x, c, NULL, false), TSR_EDTYPE,
                 "histogram_with: edges: dtype must be real");
    EXPECT_FAILS(tsr_histogram_with(&z, x, one, NULL, false), TSR_ESHAPE, "a vector of 2 or more");
    EXPECT_FAILS(tsr_histogram_with(&z, x, down, NULL, false), TSR_EINVAL,
                 "edges[1] is 2, and the next is 1.5");
    EXPECT(z == NULL && e == NULL);
    tsr_release_all(&x, &infinite, &down, &one, &c);
}

/* The widest range there is, one that has no width, and one with more bins than numbers between its ends. */
TEST(test_histograms_of_odd_ranges)
{
    tsr_tensor *x = VECTOR(TSR_F64, -1.5e308, 0, 1.5e308), *same = VECTOR(TSR_F32, 3, 3);
    tsr_tensor *z = NULL, *e = NULL;
    EXPECT_OK(tsr_histogram(&z, &e, x, 3, 0, 0, NULL, false));
    EXPECT_NUMBERS(z, 1, 1, 1);
    tsr_release_all(&z, &e);
    EXPECT_OK(tsr_histogram(&z, &e, same, 2, 0, 0, NULL, false));
    EXPECT_NUMBERS(z, 0, 2);
    EXPECT_NUMBERS(e, 2.5, 3, 3.5);
    tsr_release_all(&z, &e, &x);
    x = VECTOR(TSR_F64, -0x1.8p1023, 0x1.8p1023, 0);
    EXPECT_OK(tsr_histogram(&z, &e, x, 4, 0, 0, NULL, false));
    EXPECT_NUMBERS(z, 1, 0, 1, 1);
    EXPECT_NUMBERS(e, -0x1.8p1023, -0x1.8p1022, 0, 0x1.8p1022, 0x1.8p1023);
    tsr_release_all(&z, &e);
    EXPECT_OK(tsr_histogram(&z, &e, x, 1, 0, 0, NULL, false));
    EXPECT_NUMBERS(z, 3);
    EXPECT_NUMBERS(e, -0x1.8p1023, 0x1.8p1023);
    tsr_release_all(&z, &e, &x);
    x = VECTOR(TSR_F64, 1, 1 + 0x1p-52);
    EXPECT_OK(tsr_histogram(&z, &e, x, 5, 0, 0, NULL, false));
    EXPECT_NUMBERS(z, 0, 0, 1, 0, 1);
    tsr_release_all(&z, &e, &x, &same);
}

/* Many elements, in bins of different widths: some empty, some beyond the edges. */
TEST(test_histograms_of_many_elements_by_edges)
{
    enum { N = 5000, BINS = 8 };
    const double edge[BINS + 1] = { 0.5, 1, 1, 4, 4.25, 7, 60, 61.5, 90 };
    tsr_tensor *x = NULL, *edges = NULL, *z = NULL;
    int64_t wanted[BINS] = { 0 };
    EXPECT_OK(tsr_empty(&x, TSR_F64, TSR_SHAPE(N)));
    EXPECT_OK(tsr_empty(&edges, TSR_F64, TSR_SHAPE(BINS + 1)));
    memcpy(edges->data, edge, sizeof edge);
    for (int64_t i = 0; i < N; i++) {
        const double v = (double)(i * 37 % 400) / 4;
        ((double *)x->data)[i] = v;
        for (int b = 0; b < BINS; b++)
            wanted[b] += v >= edge[b] && (v < edge[b + 1] || (b == BINS - 1 && v == edge[b + 1]));
    }
    EXPECT_OK(tsr_histogram_with(&z, x, edges, NULL, false));
    EXPECT(memcmp(z->data, wanted, sizeof wanted) == 0);
    tsr_release_all(&x, &edges, &z);
}

TEST(test_quantiles_say_what_is_wrong)
{
    tsr_tensor *x = VECTOR(TSR_F32, 1, 2, 3), *q = VECTOR(TSR_F64, 0.5, 1.5), *c = NULL, *z = NULL;
    tsr_tensor *square = NULL, *whole = VECTOR(TSR_I32, 1);
    EXPECT_OK(tsr_cast(&c, x, TSR_C64));
    EXPECT_OK(tsr_ones(&square, TSR_F64, TSR_SHAPE(2, 2)));
    EXPECT_FAILS(tsr_median(NULL, x, 0, NULL, false), TSR_ENULL, "median: out");
    EXPECT_FAILS(tsr_median(&z, NULL, 0, NULL, false), TSR_ENULL, "median: x");
    EXPECT_FAILS(tsr_nanmedian(&z, c, 0, NULL, false), TSR_EDTYPE, "nanmedian: x: dtype must be");
    EXPECT_FAILS(tsr_median(&z, x, 1, (const int[]){ 1 }, false), TSR_EINDEX, "median");
    EXPECT_FAILS(tsr_quantile(&z, x, NULL, 0, NULL, false, 0), TSR_ENULL, "quantile: q");
    EXPECT_FAILS(tsr_quantile(&z, x, q, 0, NULL, false, 0), TSR_EINVAL, "q is 1.5, and must be from 0 to 1");
    EXPECT_FAILS(tsr_quantile(&z, x, whole, 0, NULL, false, 0), TSR_EDTYPE,
                 "quantile: q: dtype must be floating, but q is i32(1 | 1)");
    EXPECT_FAILS(tsr_nanquantile(&z, x, square, 0, NULL, false, 0), TSR_ESHAPE,
                 "nanquantile: q: rank must be 0 or 1");
    EXPECT_FAILS(tsr_quantile(&z, x, TSR_NUMBER(0.5), 0, NULL, false, (tsr_quantile_method)5), TSR_EINVAL,
                 "there is no method 5");
    EXPECT(z == NULL);
    tsr_release_all(&x, &q, &c, &square, &whole);
}

/* Keys of one digit, of all digits equal, and lanes long enough for long digits. */
TEST(test_medians_of_long_lanes)
{
    tsr_tensor *x = NULL, *y = NULL, *z = NULL;
    EXPECT_OK(tsr_arange(&x, TSR_F32, TSR_SCALAR(0), TSR_SCALAR(40000), TSR_SCALAR(1)));
    EXPECT_OK(tsr_shuffle(&y, x, 0, 3));
    EXPECT_OK(tsr_median(&z, y, 0, NULL, false));
    EXPECT_NUMBERS(z, 19999.5);
    tsr_release(&z);
    EXPECT_OK(tsr_quantile(&z, y, TSR_NUMBER(1.0), 0, NULL, false, TSR_QUANTILE_LINEAR));
    EXPECT_NUMBERS(z, 39999);
    tsr_release_all(&x, &y, &z);
    EXPECT_OK(tsr_full(&x, TSR_F64, TSR_SHAPE(9000), TSR_SCALAR(-2.5)));
    EXPECT_OK(tsr_median(&z, x, 0, NULL, true));
    EXPECT_NUMBERS(z, -2.5);
    tsr_release_all(&x, &z);
}

TEST(test_medians_at_the_ends)
{
    tsr_tensor *x = VECTOR(TSR_F64, 0x1.8p1023, 0x1.4p1023), *z = NULL, *empty = NULL;
    EXPECT_OK(tsr_median(&z, x, 0, NULL, false));
    EXPECT_NUMBERS(z, 0x1.6p1023);
    tsr_release_all(&x, &z);
    x = VECTOR(TSR_F64, -INFINITY, 1, INFINITY);
    EXPECT_OK(tsr_quantile(&z, x, TSR_NUMBER(0.5), 0, NULL, false, TSR_QUANTILE_LINEAR));
    EXPECT_NUMBERS(z, 1);
    tsr_release_all(&x, &z);
    EXPECT_OK(tsr_empty(&empty, TSR_I32, TSR_SHAPE(2, 0)));
    EXPECT_OK(tsr_median(&z, empty, 1, (const int[]){ 1 }, false));
    EXPECT_NUMBERS(z, NAN, NAN);
    tsr_release_all(&empty, &z);
}

TEST(test_covariances_say_what_is_wrong)
{
    tsr_tensor *x = NULL, *cube = NULL, *truth = NULL, *z = NULL, *three = VECTOR(TSR_F64, 1, 2, -1);
    tsr_tensor *two = VECTOR(TSR_I32, 1, 2), *less = VECTOR(TSR_I32, 1, -1, 1);
    EXPECT_OK(tsr_ones(&x, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_ones(&cube, TSR_F32, TSR_SHAPE(2, 3, 4)));
    EXPECT_OK(tsr_ones(&truth, TSR_BOOL, TSR_SHAPE(2, 3)));
    EXPECT_FAILS(tsr_cov(NULL, x, 1, NULL, NULL), TSR_ENULL, "cov: out");
    EXPECT_FAILS(tsr_cov(&z, NULL, 1, NULL, NULL), TSR_ENULL, "cov: x");
    EXPECT_FAILS(tsr_cov(&z, cube, 1, NULL, NULL), TSR_ESHAPE, "cov: x: ");
    EXPECT_FAILS(tsr_corrcoef(&z, truth), TSR_EDTYPE, "corrcoef: x: dtype must be");
    EXPECT_FAILS(tsr_cov(&z, x, 1, three, NULL), TSR_EDTYPE, "cov: fweights: dtype must be");
    EXPECT_FAILS(tsr_cov(&z, x, 1, two, NULL), TSR_ESHAPE, "cov: fweights: ");
    EXPECT_FAILS(tsr_cov(&z, x, 1, less, NULL), TSR_EINVAL, "fweights[1] is -1");
    EXPECT_FAILS(tsr_cov(&z, x, 1, NULL, three), TSR_EINVAL, "aweights[2] is -1");
    EXPECT(z == NULL);
    tsr_release_all(&x, &cube, &truth, &three, &two, &less);
}

/* Coefficients do not depend on the unit, also where squares overflow or vanish. */
TEST(test_correlations_of_large_and_small_numbers)
{
    static const double unit[][2] = { { 0x1p66, 0x1p600 }, { 0x1p-74, 0x1p-600 } };
    const tsr_close_opts near = { .atol = 1e-5 };
    for (int d = 0; d < 4; d++) {
        const tsr_dtype dtype = (const tsr_dtype[]){ TSR_F32, TSR_F64, TSR_C64, TSR_C128 }[d];
        tsr_tensor *wide = NULL, *x = NULL, *want = NULL;
        EXPECT_OK(tsr_normal(&wide, TSR_F64, TSR_SHAPE(3, 20), 0, 1, 4));
        EXPECT_OK(tsr_cast(&x, wide, dtype));
        EXPECT_OK(tsr_corrcoef(&want, x));
        for (int u = 0; u < 2; u++) {
            tsr_tensor *scaled = NULL, *z = NULL;
            bool same = false;
            EXPECT_OK(tsr_mul(&scaled, x, TSR_NUMBER(unit[u][d % 2])));
            EXPECT_OK(tsr_corrcoef(&z, scaled));
            EXPECT_OK(tsr_allclose(&same, z, want, &near, NULL));
            EXPECT_MSG(same, "%s, unit %g", tsr_dtype_name(dtype), unit[u][d % 2]);
            tsr_release_all(&scaled, &z);
        }
        tsr_release_all(&wide, &x, &want);
    }
}

/* One observation has no covariance: 0 / 0, as NumPy has it. */
TEST(test_covariances_of_one_observation_are_nan)
{
    tsr_tensor *x = NULL, *z = NULL;
    EXPECT_OK(tsr_ones(&x, TSR_F64, TSR_SHAPE(2, 1)));
    EXPECT_OK(tsr_cov(&z, x, 1, NULL, NULL));
    EXPECT_NUMBERS(z, NAN, NAN, NAN, NAN);
    tsr_release(&z);
    for (int64_t n = 0; n < 2; n++) {
        tsr_tensor *few = NULL;
        EXPECT_OK(tsr_slice(&few, x, 1, 0, n, 1));
        EXPECT_OK(tsr_corrcoef(&z, few));
        EXPECT_NUMBERS(z, NAN, NAN, NAN, NAN);
        tsr_release_all(&few, &z);
    }
    tsr_release(&x);
}
