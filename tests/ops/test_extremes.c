/* test_extremes.c - results that are representable come out, however large or small the elements are.
 *
 * Elements are powers of two, or ordinary numbers times one: then what the op must give is known exactly, or
 * from the same op on the ordinary numbers. Every case is tried along either axis, on every other element,
 * and with one thread and with three, which must give the same bits. */
#include <math.h>

#include "test.h"
#include "tessera/threads.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const int64_t lengths[] = { 1,   2,   3,   5,    8,    16,   17,    31,    64,
                                   100, 257, 410, 1000, 4096, 5000, 33333, 100000 };

/* Tensors ---------------------------------------------------------------------------------- */

typedef double (*value_fn)(int64_t i, int64_t n, double big);

/* How lanes of n elements lie: each in a row, in a column, in every other place of a row. */
typedef enum layout { ROWS, COLUMNS, GAPS, LAYOUTS } layout;

/* (width, n) numbers of a dtype; every lane has the same. */
static tsr_tensor *make(tsr_dtype dtype, layout how, int64_t width, int64_t n, value_fn value, double big)
{
    tsr_tensor *wide = NULL, *all = NULL, *z = NULL;
    const int64_t step = how == GAPS ? 2 : 1;
    const int64_t shape[2] = { how == COLUMNS ? n : width, how == COLUMNS ? width : n * step };
    EXPECT_OK(tsr_empty(&wide, TSR_F64, 2, shape));
    double *to = wide->data;
    for (int64_t j = 0; j < width; j++)
        for (int64_t i = 0; i < n * step; i++)
            to[how == COLUMNS ? i * width + j : j * n * step + i] = value(i / step, n, big);
    EXPECT_OK(tsr_cast(&all, wide, dtype));
    if (how == ROWS)         EXPECT_OK(tsr_slice(&z, all, 1, 0, n, 1));
    else if (how == COLUMNS) EXPECT_OK(tsr_transpose(&z, all, 0, 1));
    else                     EXPECT_OK(tsr_slice(&z, all, 1, 0, n * step, 2));
    tsr_release_all(&wide, &all);
    return z;
}

static double number(const tsr_tensor *t, int64_t i)
{
    double v = NAN;
    tsr_tensor *wide = NULL;
    if (!t || tsr_cast(&wide, t, TSR_F64) != TSR_OK) return NAN;
    if (i < tsr_numel(wide)) v = ((const double *)wide->data)[i];
    tsr_release(&wide);
    return v;
}

typedef tsr_status (*op_fn)(tsr_tensor **z, const tsr_tensor *x);

/* The op with one thread and with three; NULL if they differ. */
static tsr_tensor *run(op_fn op, const tsr_tensor *x, const char *name)
{
    tsr_tensor *one = NULL, *three = NULL;
    EXPECT_OK(tsr_set_threads(1));
    EXPECT_OK(op(&one, x));
    EXPECT_OK(tsr_set_threads(3));
    EXPECT_OK(op(&three, x));
    EXPECT_OK(tsr_set_threads(0));
    const bool same =
        one && three && tsr_same_desc(one, three) &&
        memcmp(one->data, three->data, (size_t)tsr_numel(one) * tsr_dtype_size(one->dtype)) == 0;
    EXPECT_MSG(same, "%s: bits depend on the threads", name);
    tsr_release(&three);
    return one;
}

/* Products ---------------------------------------------------------------------------------- */

static tsr_status prod_lanes(tsr_tensor **z, const tsr_tensor *x)
{
    return tsr_prod(z, x, TSR_AXES(1), false);
}
static tsr_status prod_all(tsr_tensor **z, const tsr_tensor *x)   { return tsr_prod(z, x, 0, NULL, false); }

static double alternating(int64_t i, int64_t n, double big)
{
    return i == n - 1 && n % 2 ? 1 : i % 2 ? 1 / big : big;
}
static double then_small(int64_t i, int64_t n, double big)
{
    return i == n - 1 && n % 2 ? 1 : i < n / 2 ? big : 1 / big;
}
static double small_first(int64_t i, int64_t n, double big)  { return then_small(i, n, 1 / big); }
static double zero_first(int64_t i, int64_t n, double big)   { (void)n; return i == 0 ? 0 : big; }
static double zero_last(int64_t i, int64_t n, double big)    { return i == n - 1 ? -0.0 : -big; }
static double only_big(int64_t i, int64_t n, double big)     { (void)i; (void)n; return big; }
static double infinite(int64_t i, int64_t n, double big) { return i == n - 1 ? (double)INFINITY : -1 / big; }
static double both(int64_t i, int64_t n, double big)
{
    (void)n;
    return i == 0 ? (double)INFINITY : i == 1 ? 0 : big;
}

static double product_of_then(int64_t n, double big)     { (void)n; (void)big; return 1; }
static double product_of_zero(int64_t n, double big)     { (void)n; (void)big; return 0; }
static double product_of_zeros(int64_t n, double big)    { (void)big; return n % 2 ? -0.0 : 0.0; }
static double product_of_bigs(int64_t n, double big)     { return n == 1 ? big : (double)INFINITY; }
static double product_of_smalls(int64_t n, double big)
{
    (void)big;
    return n % 2 ? (double)INFINITY : -(double)INFINITY;
}
static double product_of_both(int64_t n, double big)
{
    (void)big;
    return n == 1 ? (double)INFINITY : (double)NAN;
}

static const struct {
    const char *name;
    value_fn value;
    double (*wanted)(int64_t n, double big);
} products[] = {
    { "big and small alternate", alternating, product_of_then },
    { "big, then small", then_small, product_of_then },
    { "small, then big", small_first, product_of_then },   { "zero first", zero_first, product_of_zero },
    { "zero last", zero_last, product_of_zeros },          { "big", only_big, product_of_bigs },
    { "infinity last", infinite, product_of_smalls },      { "infinity and zero", both, product_of_both },
};

/* A power of two that has a reciprocal, and of which two do not fit. */
static const struct { tsr_dtype dtype; double big;
} floats[] = {
    { TSR_F64, 0x1p1000 },  { TSR_F32, 0x1p120 },   { TSR_F16, 0x1p14 },  { TSR_BF16, 0x1p120 },
    { TSR_F8E5M2, 0x1p14 }, { TSR_C128, 0x1p1000 }, { TSR_C64, 0x1p120 },
};

static bool same_number(double a, double b)
{
    return (a != a && b != b) || (a == b && signbit(a) == signbit(b));
}

static bool is_complex(tsr_dtype d) { return tsr_dtype_kind(d) == TSR_COMPLEX; }

/* Infinite parts of complex products leave NaN, as one step of them does. */
static bool applies(tsr_dtype dtype, double wanted, int64_t n)
{
    return !is_complex(dtype) || (n > 1 && isfinite(wanted) && wanted != 0);
}

static void expect_products(int f, int c, layout how, int64_t width, int64_t n)
{
    const double big = floats[f].big, wanted = products[c].wanted(n, big);
    if (!applies(floats[f].dtype, wanted, n)) return;
    tsr_tensor *x = make(floats[f].dtype, how, width, n, products[c].value, big);
    tsr_tensor *z = run(prod_lanes, x, products[c].name),
               *all = width == 1 ? run(prod_all, x, products[c].name) : NULL;
    for (int64_t j = 0; j < width; j += width > 1 ? width - 1 : 1) {
        const double v =
            is_complex(floats[f].dtype) && z
                ? ((z->dtype == TSR_C64) ? (double)((float *)z->data)[2 * j] : ((double *)z->data)[2 * j])
                : number(z, j);
        EXPECT_MSG(same_number(v, wanted), "%s of %s, layout %d, n %lld, width %lld: %g, not %g",
                   products[c].name, tsr_dtype_name(floats[f].dtype), (int)how, (long long)n,
                   (long long)width, v, wanted);
    }
    if (all && !is_complex(floats[f].dtype)) EXPECT(same_number(number(all, 0), wanted));
    tsr_release_all(&x, &z, &all);
}

TEST(test_products_do_not_overflow_on_the_way)
{
    for (size_t f = 0; f < COUNT(floats); f++)
        for (size_t c = 0; c < COUNT(products); c++)
            for (int how = 0; how < LAYOUTS; how++)
                for (size_t l = 0; l < COUNT(lengths); l++) {
                    expect_products((int)f, (int)c, (layout)how, 1, lengths[l]);
                    if (lengths[l] <= 1000) expect_products((int)f, (int)c, (layout)how, 21, lengths[l]);
                }
}

/* Factors of any exponent, subnormal ones too, whose product is known: each 2^e is met by 2^-e or two halves
 * of it. */
static double any_power(int64_t i, int64_t n, double big)
{
    const int e = 1 + (int)(i / 4 * 37 % 1074);
    (void)n; (void)big;
    switch (i % 4) {
    case 0:  return i + 3 < n ? ldexp(1, -e) : 1;
    case 1:  return i + 2 < n ? -ldexp(1, e / 2) : 1;
    case 2:  return i + 1 < n ? -ldexp(1, e - e / 2) : 1;
    default: return 1;
    }
}

TEST(test_products_take_subnormal_factors)
{
    for (int how = 0; how < LAYOUTS; how++)
        for (size_t l = 0; l < COUNT(lengths); l++) {
            const int64_t width = lengths[l] <= 1000 ? 9 : 1;
            tsr_tensor *x = make(TSR_F64, (layout)how, width, lengths[l], any_power, 0),
                       *z = run(prod_lanes, x, "powers");
            for (int64_t j = 0; j < width; j++)
                EXPECT_MSG(number(z, j) == 1, "layout %d, n %lld: %a", how, (long long)lengths[l],
                           number(z, j));
            tsr_release_all(&x, &z);
        }
}

/* Just inside and just outside of the range. */
TEST(test_products_are_rounded_once_at_the_ends)
{
    static const struct { double x[3], wanted;
    } cases[] = {
        { { 0x1p-1000, 0x1.8p-74, 1 }, 0x1p-1073 },
        { { 0x1p-537, 0x1p-537, 1 }, 0x1p-1074 },
        { { 0x1p-537, 0x1p-538, 1 }, 0 },
        { { 0x1p-600, 0x1p-600, 0x1p1000 }, 0x1p-200 },
        { { 0x1.fffffffffffffp1000, 0x1p23, 1 }, 0x1.fffffffffffffp1023 },
        { { 0x1p600, -0x1p600, 0x1p-1000 }, -0x1p200 },
    };
    for (size_t c = 0; c < COUNT(cases); c++) {
        tsr_tensor *x = NULL, *z = NULL;
        EXPECT_OK(tsr_empty(&x, TSR_F64, TSR_SHAPE(3)));
        memcpy(x->data, cases[c].x, sizeof cases[c].x);
        EXPECT_OK(tsr_prod(&z, x, 0, NULL, false));
        EXPECT_MSG(number(z, 0) == cases[c].wanted, "case %d: %a, not %a", (int)c, number(z, 0),
                   cases[c].wanted);
        tsr_release_all(&x, &z);
    }
}

/* i big, i / big, ...: factors rotate the product by a quarter each. */
TEST(test_complex_products_rotate)
{
    for (size_t l = 0; l < COUNT(lengths); l++)
        for (int wide = 0; wide < 2; wide++) {
            const int64_t n = lengths[l] / 4 * 4;
            tsr_tensor *x = NULL, *z = NULL;
            EXPECT_OK(tsr_zeros(&x, wide ? TSR_C128 : TSR_C64, TSR_SHAPE(n)));
            for (int64_t i = 0; i < n; i++)
                if (wide) ((double *)x->data)[2 * i + 1] = i < n / 2 ? 0x1p900 : 0x1p-900;
                else      ((float *)x->data)[2 * i + 1] = i < n / 2 ? 0x1p100f : 0x1p-100f;
            z = run(prod_all, x, "complex");
            const double re = z ? wide ? ((double *)z->data)[0] : (double)((float *)z->data)[0] : NAN;
            EXPECT_MSG(re == 1, "n %lld: %g", (long long)n, re);
            tsr_release_all(&x, &z);
        }
}

/* Reductions and norms ------------------------------------------------------------------------ */

static double ordinary(int64_t i, int64_t n, double big)
{
    (void)n;
    return ((double)(i * 7919 % 1000) - 300) / 256 * big;
}
static double positive(int64_t i, int64_t n, double big)
{
    (void)n;
    return (1 + (double)(i * 7919 % 1000) / 1024) * big;
}

static tsr_status std_lanes(tsr_tensor **z, const tsr_tensor *x)
{
    return tsr_std(z, x, TSR_AXES(1), false, 0);
}
static tsr_status std_all(tsr_tensor **z, const tsr_tensor *x)    { return tsr_std(z, x, 0, NULL, false, 0); }
static tsr_status var_lanes(tsr_tensor **z, const tsr_tensor *x)
{
    return tsr_var(z, x, TSR_AXES(1), false, 0);
}
static tsr_status mean_lanes(tsr_tensor **z, const tsr_tensor *x)
{
    return tsr_mean(z, x, TSR_AXES(1), false);
}
static tsr_status mean_all(tsr_tensor **z, const tsr_tensor *x)   { return tsr_mean(z, x, 0, NULL, false); }
static tsr_status norm_1(tsr_tensor **z, const tsr_tensor *x)
{
    return tsr_norm(z, x, TSR_AXES(1), false, 1);
}
static tsr_status norm_2(tsr_tensor **z, const tsr_tensor *x)
{
    return tsr_norm(z, x, TSR_AXES(1), false, 2);
}
static tsr_status norm_3(tsr_tensor **z, const tsr_tensor *x)
{
    return tsr_norm(z, x, TSR_AXES(1), false, 3);
}
static tsr_status norm_half(tsr_tensor **z, const tsr_tensor *x)
{
    return tsr_norm(z, x, TSR_AXES(1), false, 0.5);
}
static tsr_status norm_inf(tsr_tensor **z, const tsr_tensor *x)
{
    return tsr_norm(z, x, TSR_AXES(1), false, INFINITY);
}
static tsr_status norm_least(tsr_tensor **z, const tsr_tensor *x)
{
    return tsr_norm(z, x, TSR_AXES(1), false, -2);
}
static tsr_status rms(tsr_tensor **z, const tsr_tensor *x)        { return tsr_rms_norm(z, x, NULL, 0); }
static tsr_status layer(tsr_tensor **z, const tsr_tensor *x)
{
    return tsr_layer_norm(z, x, 1, NULL, NULL, 0);
}
static tsr_status instance(tsr_tensor **z, const tsr_tensor *x)
{
    tsr_tensor *three = NULL;
    tsr_status s = tsr_unsqueeze(&three, x, 0);
    if (s == TSR_OK) s = tsr_instance_norm(z, three, NULL, NULL, 0);
    tsr_release(&three);
    return s;
}

/* degree: by which power of a factor of x the result grows. */
static const struct { const char *name; op_fn op; value_fn value; int degree;
} ops[] = {
    { "std", std_lanes, ordinary, 1 },        { "std of all", std_all, ordinary, 1 },
    { "var", var_lanes, ordinary, 2 },        { "mean", mean_lanes, positive, 1 },
    { "mean of all", mean_all, positive, 1 }, { "norm 1", norm_1, ordinary, 1 },
    { "norm 2", norm_2, ordinary, 1 },        { "norm 3", norm_3, ordinary, 1 },
    { "norm 1/2", norm_half, ordinary, 1 },   { "norm inf", norm_inf, ordinary, 1 },
    { "norm -2", norm_least, positive, 1 },   { "rms_norm", rms, ordinary, 0 },
    { "layer_norm", layer, ordinary, 0 },     { "instance_norm", instance, ordinary, 0 },
};

/* What numbers times 2^by come to is what the numbers do, times a power of two, where that is a number. */
static void expect_scaled(size_t o, tsr_dtype dtype, double unit, layout how, int64_t width, int64_t n,
                          int by)
{
    tsr_tensor *x = make(dtype, how, width, n, ops[o].value, 1);
    tsr_tensor *y = make(dtype, how, width, n, ops[o].value, ldexp(1, by));
    tsr_tensor *a = run(ops[o].op, x, ops[o].name), *b = run(ops[o].op, y, ops[o].name),
               *wide[2] = { NULL, NULL };
    EXPECT_OK(tsr_cast(&wide[0], a, TSR_F64));
    EXPECT_OK(tsr_cast(&wide[1], b, TSR_F64));
    for (int64_t i = 0; wide[0] && wide[1] && i < tsr_numel(wide[0]); i++) {
        const double v = ((double *)wide[0]->data)[i],
                     w = ldexp(((double *)wide[1]->data)[i], -by * ops[o].degree);
        const bool fits = fabs(ldexp(v, by * ops[o].degree)) < (dtype == TSR_F64 ? 0x1p1023 : 0x1p127);
        const bool near = v != v ? w != w : !fits || fabs(v - w) <= unit * (fabs(v) + (ops[o].degree == 0));
        EXPECT_MSG(near, "%s of %s times 2^%d, layout %d, n %lld, width %lld: %.17g, not %.17g", ops[o].name,
                   tsr_dtype_name(dtype), by, (int)how, (long long)n, (long long)width, w, v);
        if (!near) break;
    }
    tsr_release(&x); tsr_release(&y); tsr_release(&a); tsr_release(&b);
    tsr_release(&wide[0]); tsr_release(&wide[1]);
}

static void expect_scaled_all(tsr_dtype dtype, double unit, const int *powers, size_t count)
{
    for (size_t o = 0; o < COUNT(ops); o++)
        for (int how = 0; how < LAYOUTS; how++)
            for (size_t l = 0; l < COUNT(lengths); l++)
                for (size_t p = 0; p < count; p++) {
                    if (ops[o].degree == 2 && powers[p] != powers[0] && powers[p] != powers[1]) continue;
                    expect_scaled(o, dtype, unit, (layout)how, 1, lengths[l], powers[p]);
                    if (lengths[l] <= 410)
                        expect_scaled(o, dtype, unit, (layout)how, 18, lengths[l], powers[p]);
                }
}

TEST(test_large_and_small_doubles_keep_their_digits)
{
    expect_scaled_all(TSR_F64, 0x1p-44, (const int[]){ 505, -495, 700, -700, 1000, -1000 }, 6);
}

TEST(test_large_and_small_floats_keep_their_digits)
{
    expect_scaled_all(TSR_F32, 0x1p-20, (const int[]){ 55, -55, 100, -100 }, 4);
    expect_scaled_all(TSR_BF16, 0x1p-6, (const int[]){ 55, -55, 100, -100 }, 4);
}

/* The sum leaves the range, its mean does not; sums may come back. */
TEST(test_sums_come_back_into_the_range)
{
    for (size_t l = 0; l < COUNT(lengths); l++) {
        tsr_tensor *x = make(TSR_F64, ROWS, 1, lengths[l], only_big, 0x1.8p1023),
                   *z = run(mean_all, x, "mean");
        EXPECT_MSG(number(z, 0) == 0x1.8p1023, "mean of %lld: %g", (long long)lengths[l], number(z, 0));
        tsr_release_all(&x, &z);
    }
    tsr_tensor *x = NULL, *z = NULL;
    EXPECT_OK(tsr_empty(&x, TSR_F64, TSR_SHAPE(4)));
    memcpy(x->data, (const double[]){ 0x1p1023, 0x1p1023, -0x1p1023, -0x1p1022 }, 4 * sizeof(double));
    EXPECT_OK(tsr_sum(&z, x, 0, NULL, false));
    EXPECT_MSG(number(z, 0) == 0x1p1022, "%g", number(z, 0));
    tsr_release_all(&x, &z);
}

/* What leads from one sum to the next, all within the range, where sums of neighbours are not. */
static double winding(int64_t i, int64_t n, double big)
{
    static const double sum[] = { -1.5, -0.5, 0.5, 1.5, 0.25, -1.25, 0.5, -0.75, 1, -0.25 };
    (void)n;
    return (sum[i % 10] - (i ? sum[(i - 1) % 10] : 0)) * big;
}

static tsr_status cumsum_last(tsr_tensor **z, const tsr_tensor *x) { return tsr_cumsum(z, x, -1); }

TEST(test_running_sums_come_back_into_the_range)
{
    static const int64_t widths[] = { 1, 5, 40 };
    for (layout how = ROWS; how < LAYOUTS; how++)
        for (size_t l = 0; l < COUNT(lengths) && lengths[l] <= 1000; l++)
            for (size_t w = 0; w < COUNT(widths); w++) {
                tsr_tensor *x = make(TSR_F64, how, widths[w], lengths[l], winding, 0x1p1023),
                           *z = run(cumsum_last, x, "cumsum");
                double want = 0;
                for (int64_t i = 0; z && i < lengths[l]; i++) {
                    want += winding(i, lengths[l], 0x1p1023);
                    for (int64_t j = 0; j < widths[w]; j++)
                        EXPECT_MSG(TSR_AT(double, z, j, i) == want, "layout %d, sum %lld of %lld: %g",
                                   (int)how, (long long)i, (long long)lengths[l], TSR_AT(double, z, j, i));
                }
                tsr_release_all(&x, &z);
            }
}

/* The distance between the ends may be beyond the largest number. */
TEST(test_progressions_reach_across_the_range)
{
    tsr_tensor *z = NULL;
    EXPECT_OK(tsr_arange(&z, TSR_F64, TSR_SCALAR(-0x1.8p1023), TSR_SCALAR(0x1.8p1023), TSR_SCALAR(0x1p1022)));
    EXPECT(z && tsr_numel(z) == 6);
    for (int64_t i = 0; z && i < tsr_numel(z); i++) {
        const double want = ((double)i - 3) * 0x1p1022;
        EXPECT_MSG(number(z, i) == want, "%lld: %g", (long long)i, number(z, i));
    }
    tsr_release(&z);
    EXPECT_OK(tsr_arange(&z, TSR_F64, TSR_SCALAR(0x1.8p1023), TSR_SCALAR(-0x1.8p1023),
                         TSR_SCALAR(-0x1p1023)));
    EXPECT(z && tsr_numel(z) == 3 && number(z, 2) == -0x1p1022);
    tsr_release(&z);
}

/* What is infinite or NaN stays so, and deviations of equal numbers are 0. */
TEST(test_infinite_and_equal_elements)
{
    static const double given[][3] = {
        { INFINITY, 1, 2 }, { INFINITY, -INFINITY, 1 }, { NAN, 1e300, 1 }, { 3, 3, 3 }
    };
    static const double mean[] = { INFINITY, NAN, NAN, 3 }, std[] = { NAN, NAN, NAN, 0 };
    for (size_t c = 0; c < COUNT(given); c++) {
        tsr_tensor *x = NULL, *m = NULL, *s = NULL;
        EXPECT_OK(tsr_empty(&x, TSR_F64, TSR_SHAPE(1, 3)));
        memcpy(x->data, given[c], sizeof given[c]);
        EXPECT_OK(tsr_mean(&m, x, TSR_AXES(1), false));
        EXPECT_OK(tsr_std(&s, x, TSR_AXES(1), false, 0));
        EXPECT(same_number(number(m, 0), mean[c]));
        EXPECT(same_number(number(s, 0), std[c]));
        tsr_release(&x); tsr_release(&m); tsr_release(&s);
    }
}

/* Weights are taken after the row was brought near 1; eps counts as it does for ordinary rows. */
TEST(test_norms_of_large_rows_take_weights_and_eps)
{
    enum { N = 6 };
    tsr_tensor *x = NULL, *w = NULL, *b = NULL, *z = NULL;
    EXPECT_OK(tsr_empty(&x, TSR_F64, TSR_SHAPE(2, N)));
    EXPECT_OK(tsr_empty(&w, TSR_F64, TSR_SHAPE(N)));
    EXPECT_OK(tsr_empty(&b, TSR_F64, TSR_SHAPE(N)));
    for (int i = 0; i < N; i++) {
        ((double *)x->data)[i] = i % 2 ? -1e200 : 1e200;
        ((double *)x->data)[N + i] = i % 2 ? -1e-200 : 1e-200;
        ((double *)w->data)[i] = i;
        ((double *)b->data)[i] = 10;
    }
    EXPECT_OK(tsr_layer_norm(&z, x, 1, w, b, 1e-5));
    for (int i = 0; i < N; i++) {
        EXPECT(fabs(number(z, i) - (10 + (i % 2 ? -i : i))) < 1e-12);
        EXPECT(number(z, N + i) == 10);
    }
    tsr_release(&z);
    EXPECT_OK(tsr_rms_norm(&z, x, w, 0));
    for (int i = 0; i < N; i++) EXPECT(fabs(number(z, N + i) - (i % 2 ? -i : i)) < 1e-12);
    tsr_release(&x); tsr_release(&w); tsr_release(&b); tsr_release(&z);
}

/* The rounding error of a mean is no deviation, however large the numbers are. */
TEST(test_lanes_of_equal_elements_do_not_deviate)
{
    static const double sizes[] = { 0.1, 8.7, 1e200, 1e300, 1.1e300, 1.7e308, 1e-300 };
    static const int64_t counts[] = { 2, 7, 62, 263, 1000 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t j = 0; j < sizeof counts / sizeof *counts; j++) {
            tsr_tensor *x = NULL, *z = NULL, *v = NULL, *c = NULL;
            const double least = sizes[i] < 1e100 ? sizes[i] * 0x1p-48 : 0;
            EXPECT_OK(tsr_full(&x, TSR_F64, TSR_SHAPE(1, 2, counts[j]), TSR_SCALAR(sizes[i])));
            EXPECT_OK(tsr_full(&c, TSR_C128, 1, &counts[j], tsr_scalar_c128(sizes[i], -sizes[i] / 2)));
            EXPECT_OK(tsr_layer_norm(&z, x, 1, NULL, NULL, 1e-12));
            for (int64_t k = 0; k < 2 * counts[j]; k++) EXPECT(fabs(number(z, k)) < 0x1p-900);
            EXPECT_OK(tsr_instance_norm(&z, x, NULL, NULL, 1e-12));
            for (int64_t k = 0; k < 2 * counts[j]; k++) EXPECT(fabs(number(z, k)) < 0x1p-900);
            EXPECT_OK(tsr_std(&v, x, TSR_AXES(2), false, 0));
            EXPECT(number(v, 0) <= least && number(v, 1) <= least);
            tsr_release(&v);
            EXPECT_OK(tsr_std(&v, c, TSR_AXES(0), false, 0));
            EXPECT(number(v, 0) <= least);
            tsr_release(&x); tsr_release(&z); tsr_release(&v); tsr_release(&c);
        }
}

/* Elements ------------------------------------------------------------------------------------ */

static tsr_tensor *complex_of(double re, double im)
{
    tsr_tensor *x = NULL;
    EXPECT_OK(tsr_empty(&x, TSR_C128, TSR_SHAPE(9)));
    for (int i = 0; x && i < 9; i++) {
        ((double *)x->data)[2 * i] = re;
        ((double *)x->data)[2 * i + 1] = im;
    }
    return x;
}

static void expect_parts(const tsr_tensor *z, double re, double im, const char *what)
{
    const double *v = z->data;
    for (int i = 0; i < 9; i++)
        EXPECT_MSG(fabs(v[2 * i] - re) <= 1e-14 * fabs(re) &&
                       fabs(v[2 * i + 1] - im) <= 1e-14 * (fabs(im) + fabs(re)),
                   "%s: %g %g, not %g %g", what, v[2 * i], v[2 * i + 1], re, im);
}

TEST(test_complex_numbers_far_from_1)
{
    static const double bigs[] = { 0x1p660, 0x1p1020, 0x1p-660, 0x1p-1000 };
    for (size_t c = 0; c < COUNT(bigs); c++) {
        const double big = bigs[c];
        tsr_tensor *x = complex_of(3 * big, 4 * big), *y = complex_of(big, 2 * big), *z = NULL;
        EXPECT_OK(tsr_abs(&z, x));
        EXPECT(number(z, 0) == 5 * big && number(z, 8) == 5 * big);
        tsr_release(&z);
        EXPECT_OK(tsr_div(&z, x, y));
        expect_parts(z, 2.2, -0.4, "div");
        tsr_release(&z);
        EXPECT_OK(tsr_sqrt(&z, x));
        expect_parts(z, 2 * sqrt(big), sqrt(big), "sqrt");
        tsr_release(&z);
        EXPECT_OK(tsr_log(&z, x));
        expect_parts(z, log(5) + log(big), atan2(4, 3), "log");
        tsr_release(&z);
        if (big < 0x1p1000 && big > 0x1p-900) {
            EXPECT_OK(tsr_reciprocal(&z, y));
            expect_parts(z, 0.2 / big, -0.4 / big, "reciprocal");
            tsr_release(&z);
        }
        tsr_release_all(&x, &y);
    }
}

TEST(test_complex_quotients_do_not_overflow_on_the_way)
{
    tsr_tensor *x = complex_of(0x1.8p1023, -0x1.8p1023), *y = complex_of(-0x1p1021, 0x1.8p1021), *z = NULL;
    EXPECT_OK(tsr_div(&z, x, y));
    expect_parts(z, -60 / 13.0, -12 / 13.0, "div");
    tsr_release_all(&y, &z);
    y = complex_of(0x1p-500, 0);
    EXPECT_OK(tsr_div(&z, x, y));
    EXPECT(((double *)z->data)[0] == (double)INFINITY && ((double *)z->data)[1] == -(double)INFINITY);
    tsr_release_all(&x, &y, &z);
}

TEST(test_lerp_does_not_overflow_on_the_way)
{
    static const double weights[] = { 0, 0.25, 0.5, 0.75, 1 };
    for (size_t i = 0; i < COUNT(weights); i++) {
        tsr_tensor *x = make(TSR_F64, ROWS, 1, 33, only_big, 0x1.8p1023), *y = NULL, *z = NULL;
        tsr_tensor *a = complex_of(0x1.8p1023, -0x1.8p1023), *b = NULL;
        const double want = 0x1.8p1023 * (1 - 2 * weights[i]);
        EXPECT_OK(tsr_neg(&y, x));
        EXPECT_OK(tsr_lerp(&z, x, y, TSR_NUMBER(weights[i])));
        for (int j = 0; j < 33; j++) EXPECT(number(z, j) == want);
        tsr_release(&z);
        EXPECT_OK(tsr_neg(&b, a));
        EXPECT_OK(tsr_lerp(&z, a, b, TSR_NUMBER(weights[i])));
        expect_parts(z, want, -want, "lerp");
        tsr_release_all(&x, &y, &z, &a, &b);
    }
}

TEST(test_hypot_and_exponentials_far_out)
{
    static const double bigs[] = { 0x1p1020, 0x1p-1040, 0x1p600, 0x1p-600 };
    for (size_t c = 0; c < COUNT(bigs); c++) {
        tsr_tensor *x = make(TSR_F64, ROWS, 1, 33, only_big, 3 * bigs[c]),
                   *y = make(TSR_F64, ROWS, 1, 33, only_big, 4 * bigs[c]);
        tsr_tensor *z = NULL, *s = NULL, *l = NULL;
        EXPECT_OK(tsr_hypot(&z, x, y));
        EXPECT_OK(tsr_logsumexp(&l, y, 0, NULL, false));
        EXPECT_OK(tsr_softmax(&s, y, 1));
        EXPECT(number(z, 0) == 5 * bigs[c] && number(z, 32) == 5 * bigs[c]);
        EXPECT(fabs(number(l, 0) - (4 * bigs[c] + log(33))) <= 1e-15 * number(l, 0));
        EXPECT(fabs(number(s, 5) - 1.0 / 33) < 1e-16);
        tsr_release(&x); tsr_release(&y); tsr_release(&z); tsr_release(&s); tsr_release(&l);
    }
}
