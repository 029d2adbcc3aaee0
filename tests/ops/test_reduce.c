/* test_reduce.c - what reductions and scans promise beside their results: accuracy of long and large ones,
 * the ends of ranges, nothing, results over operands, refusals and their words. The results are checked by
 * tests/net (opcheck/check_reduce.c).
 */
#include <math.h>

#include "core/threads_int.h"
#include "ops/op.h"
#include "opcheck/trial.h"
#include "test.h"

typedef long double wide;

typedef struct op_case {
    const char *name;
    tsr_status (*over)(tsr_tensor **, const tsr_tensor *, int, const int *, bool);
    tsr_status (*with)(tsr_tensor **, const tsr_tensor *, int, const int *, bool, double);
    tsr_status (*arg)(tsr_tensor **, const tsr_tensor *, int, bool);
    tsr_status (*scan)(tsr_tensor **, const tsr_tensor *, int);
} op_case;

static const op_case ops[] = {
    { "sum", .over = tsr_sum },
    { "prod", .over = tsr_prod },
    { "mean", .over = tsr_mean },
    { "var", .with = tsr_var },
    { "std", .with = tsr_std },
    { "max", .over = tsr_max },
    { "min", .over = tsr_min },
    { "any", .over = tsr_any },
    { "all", .over = tsr_all },
    { "count_nonzero", .over = tsr_count_nonzero },
    { "logsumexp", .over = tsr_logsumexp },
    { "norm", .with = tsr_norm },
    { "argmax", .arg = tsr_argmax },
    { "argmin", .arg = tsr_argmin },
    { "cumsum", .scan = tsr_cumsum },
    { "cumprod", .scan = tsr_cumprod },
    { "cummax", .scan = tsr_cummax },
};
enum { OPS = sizeof ops / sizeof *ops };

static tsr_status call(const op_case *op, tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes,
                       bool keepdims, double a)
{
    if (op->over) return op->over(out, x, naxes, axes, keepdims);
    if (op->with) return op->with(out, x, naxes, axes, keepdims, a);
    const int axis = naxes ? axes[0] : TSR_ALL_AXES;
    return op->arg ? op->arg(out, x, axis, keepdims) : op->scan(out, x, axis);
}

/* Cases ------------------------------------------------------------------------------------ */

/* Large ------------------------------------------------------------------------------------- */

/* Numbers between -1 and 1 that share nothing with the library's generator. */
static void fill_tensor(tsr_tensor *t)
{
    uint64_t state = 7;
    for (int64_t i = 0; i < tsr_numel(t); i++)
        write_value(t->dtype, element(t, i), real_value((double)(int64_t)test_next(&state) * 0x1p-63));
}

/* The only element of t, which is released. */
static double take(tsr_tensor **t)
{
    tsr_scalar s = { 0 };
    double v = NAN;
    EXPECT(*t && tsr_numel(*t) == 1);
    if (*t && tsr_scalar_load(&s, (*t)->dtype, (*t)->data) == TSR_OK) {
        tsr_tensor *as = NULL;
        EXPECT_OK(tsr_cast(&as, *t, TSR_F64));
        if (as) v = *(const double *)as->data;
        tsr_release(&as);
    }
    tsr_release(t);
    return v;
}

static tsr_tensor *vector(tsr_dtype dtype, int64_t n)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_empty(&t, dtype, 1, (const int64_t[]){ n }));
    return t;
}

TEST(test_large_sums_match_long_double_within_units_of_the_sum_of_sizes)
{
    static const tsr_dtype dtypes[] = { TSR_F16, TSR_BF16, TSR_F32, TSR_F64 };
    for (int d = 0; d < 4; d++)
        for (int64_t columns = 1; columns <= 1000; columns *= 1000) {  /* one run, and side by side */
            tsr_tensor *x = NULL, *z = NULL;
            const int64_t rows = 1200000 / columns;
            EXPECT_OK(tsr_empty(&x, dtypes[d], 2, (const int64_t[]){ rows, columns }));
            if (!x) return;
            fill_tensor(x);
            EXPECT_OK(tsr_sum(&z, x, 1, (const int[]){ 0 }, false));
            for (int64_t j = 0; z && j < columns; j += 37) {
                wide sum = 0, size = 0;
                for (int64_t i = 0; i < rows; i++) {
                    const wide v = (wide)value_at(x, i * columns + j).re;
                    sum += v;
                    size += fabsl(v);
                }
                const value want = real_value((double)sum);
                EXPECT_MSG(is_near(z->dtype, element(z, j), want, (double)size * 0x1p-50), "%s: %g, not %Lg",
                           tsr_dtype_name(x->dtype), value_at(z, j).re, sum);
            }
            tsr_release_all(&z, &x);
        }
}

TEST(test_ten_million_tenths_sum_to_a_million)
{
    tsr_tensor *x = NULL, *z = NULL;
    EXPECT_OK(tsr_full(&x, TSR_F32, 1, (const int64_t[]){ 10000000 }, TSR_SCALAR(0.1)));
    EXPECT_OK(tsr_sum(&z, x, 0, NULL, false));
    EXPECT(take(&z) == (double)(float)(1e7 * (double)0.1f));
    EXPECT_OK(tsr_mean(&z, x, 0, NULL, false));
    EXPECT(take(&z) == (double)0.1f);
    EXPECT_OK(tsr_var(&z, x, 0, NULL, false, 0));
    EXPECT(take(&z) == 0);
    tsr_release(&x);
}

TEST(test_more_than_2_to_the_31_elements_are_reduced)
{
    tsr_tensor *one = NULL, *x = NULL, *z = NULL;
    const int64_t shape[] = { 65536, 65536 };
    EXPECT_OK(tsr_full(&one, TSR_F32, 0, NULL, TSR_SCALAR(1)));
    EXPECT_OK(tsr_expand(&x, one, 2, shape));
    EXPECT_OK(tsr_sum(&z, x, 0, NULL, false));
    EXPECT(take(&z) == 4294967296.0);
    EXPECT_OK(tsr_max(&z, x, 0, NULL, false));
    EXPECT(take(&z) == 1);
    EXPECT_OK(tsr_mean(&z, x, 0, NULL, false));
    EXPECT(take(&z) == 1);
    EXPECT_OK(tsr_std(&z, x, 0, NULL, false, 1));
    EXPECT(take(&z) == 0);
    EXPECT_OK(tsr_count_nonzero(&z, x, 0, NULL, false));
    EXPECT(take(&z) == 4294967296.0);
    EXPECT_OK(tsr_norm(&z, x, 0, NULL, false, 2));
    EXPECT(take(&z) == 65536);
    EXPECT_OK(tsr_any(&z, x, 0, NULL, false));
    EXPECT(take(&z) == 1);
    tsr_release_all(&x, &one);
}

/* Windows over a short vector: as many elements, none of them repeated along a dim of stride 0. */
TEST(test_overlapping_windows_are_reduced_element_by_element)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    const int64_t side = 5000;
#else
    const int64_t side = 50000;
#endif
    tsr_tensor *v = vector(TSR_I8, 2 * side), *x = NULL, *z = NULL;
    if (!v) return;
    memset(v->data, 1, (size_t)(2 * side));
    ((int8_t *)v->data)[side - 1] = 3;
    EXPECT_OK(tsr_as_strided(&x, v, 2, (const int64_t[]){ side, side }, (const int64_t[]){ 1, 1 }, 0));
    EXPECT_OK(tsr_sum(&z, x, 0, NULL, false));
    EXPECT(take(&z) == (double)(side * side + 2 * side));
    EXPECT_OK(tsr_max(&z, x, 0, NULL, false));
    EXPECT(take(&z) == 3);
    tsr_release_all(&x, &v);
}

/* Hard numbers -------------------------------------------------------------------------------- */

TEST(test_variance_does_not_cancel_under_a_large_mean)
{
    static const double shifts[] = { 0, 1e6, 1e9, 1e12, 1e15 };
    for (int s = 0; s < 5; s++)
        for (int columns = 0; columns < 2; columns++) {
            tsr_tensor *x = NULL, *z = NULL;
            EXPECT_OK(tsr_empty(&x, TSR_F64, 2, (const int64_t[]){ 1000, 20 }));
            if (!x) return;
            for (int i = 0; i < 20000; i++) ((double *)x->data)[i] = shifts[s] + (columns ? i / 20 : i) % 4;
            EXPECT_OK(tsr_var(&z, x, columns ? 1 : 0, (const int[]){ 0 }, false, 0));
            for (int64_t i = 0; z && i < tsr_numel(z); i++)
                EXPECT(fabs(((double *)z->data)[i] - 1.25) < 1e-12);
            tsr_release_all(&z, &x);
        }
    /* In f32, where 1e7 and 1 meet in the last bit. */
    tsr_tensor *x = vector(TSR_F32, 4000), *z = NULL;
    if (!x) return;
    for (int i = 0; i < 4000; i++) ((float *)x->data)[i] = 1e7f + (float)(i % 4);
    EXPECT_OK(tsr_var(&z, x, 0, NULL, false, 0));
    EXPECT(take(&z) == 1.25);
    tsr_release(&x);
}

TEST(test_logsumexp_and_norm_do_not_overflow)
{
    tsr_tensor *x = vector(TSR_F64, 2), *z = NULL;
    if (!x) return;
    double *v = x->data;
    v[0] = v[1] = 1e4;
    EXPECT_OK(tsr_logsumexp(&z, x, 0, NULL, false));
    EXPECT(fabs(take(&z) - (1e4 + log(2))) < 1e-11);
    v[0] = v[1] = -1e4;
    EXPECT_OK(tsr_logsumexp(&z, x, 0, NULL, false));
    EXPECT(fabs(take(&z) - (-1e4 + log(2))) < 1e-11);
    v[1] = INFINITY;
    EXPECT_OK(tsr_logsumexp(&z, x, 0, NULL, false));
    EXPECT(take(&z) == INFINITY);
    v[0] = v[1] = -INFINITY;
    EXPECT_OK(tsr_logsumexp(&z, x, 0, NULL, false));
    EXPECT(take(&z) == -INFINITY);
    static const double scales[] = { 1e300, 1e-300, 5e-324, 1, 1.5e307 };
    for (int i = 0; i < 5; i++) {
        v[0] = 3 * scales[i];
        v[1] = -4 * scales[i];
        EXPECT_OK(tsr_norm(&z, x, 0, NULL, false, 2));
        EXPECT(fabs(take(&z) / scales[i] - 5) < 1e-15 * 16);
        EXPECT_OK(tsr_norm(&z, x, 0, NULL, false, 3));
        if (scales[i] > 1e-320) EXPECT(fabs(take(&z) / scales[i] - cbrt(91)) < 1e-14);
        else                    tsr_release(&z);
        EXPECT_OK(tsr_norm(&z, x, 0, NULL, false, -2));
        if (scales[i] > 1e-320) EXPECT(fabs(take(&z) / scales[i] - 2.4) < 1e-14);
        else                    tsr_release(&z);
    }
    tsr_release(&x);
}

TEST(test_infinities_in_sums_stay_infinities)
{
    tsr_tensor *x = vector(TSR_F64, 1000), *z = NULL;
    if (!x) return;
    double *v = x->data;
    for (int i = 0; i < 1000; i++) v[i] = i;
    v[500] = INFINITY;
    EXPECT_OK(tsr_sum(&z, x, 0, NULL, false));
    EXPECT(take(&z) == INFINITY);
    v[501] = -INFINITY;
    EXPECT_OK(tsr_sum(&z, x, 0, NULL, false));
    EXPECT(isnan(take(&z)));
    EXPECT_OK(tsr_cumsum(&z, x, 0));
    EXPECT(z && ((double *)z->data)[499] == 124750 && ((double *)z->data)[500] == INFINITY &&
           isnan(((double *)z->data)[501]) && isnan(((double *)z->data)[999]));
    tsr_release_all(&z, &x);
}

TEST(test_argmax_finds_the_first_of_equals_and_the_first_nan)
{
    tsr_tensor *x = vector(TSR_F32, 200000), *z = NULL, *flipped = NULL;
    if (!x) return;
    float *v = x->data;
    for (int i = 0; i < 200000; i++) v[i] = (float)(i % 1000);
    EXPECT_OK(tsr_argmax(&z, x, 0, false));
    EXPECT(take(&z) == 999);
    EXPECT_OK(tsr_argmin(&z, x, TSR_ALL_AXES, true));
    EXPECT(z && z->ndim == 1);
    EXPECT(take(&z) == 0);
    EXPECT_OK(tsr_flip(&flipped, x, 1, (const int[]){ 0 }));
    EXPECT_OK(tsr_argmin(&z, flipped, 0, false));
    EXPECT(take(&z) == 999);
    v[150000] = v[170000] = NAN;
    EXPECT_OK(tsr_argmax(&z, x, 0, false));
    EXPECT(take(&z) == 150000);
    EXPECT_OK(tsr_argmin(&z, flipped, 0, false));
    EXPECT(take(&z) == 29999);
    EXPECT_OK(tsr_max(&z, x, 0, NULL, false));
    EXPECT(isnan(take(&z)));
    EXPECT_OK(tsr_min(&z, x, 0, NULL, false));
    EXPECT(isnan(take(&z)));
    tsr_release_all(&flipped, &x);
}

TEST(test_any_and_all_see_one_element_among_many)
{
    tsr_tensor *x = NULL, *z = NULL;
    EXPECT_OK(tsr_zeros(&x, TSR_F16, 1, (const int64_t[]){ 300000 }));
    if (!x) return;
    uint16_t *v = x->data;
    for (int at = 0; at < 300000; at += 49999) {
        EXPECT_OK(tsr_any(&z, x, 0, NULL, false));
        EXPECT(take(&z) == 0);
        v[at] = 0x8001;
        EXPECT_OK(tsr_any(&z, x, 0, NULL, false));
        EXPECT(take(&z) == 1);
        v[at] = 0x8000;  /* -0 */
    }
    for (int i = 0; i < 300000; i++) v[i] = 0x7e00;  /* NaN is not zero */
    EXPECT_OK(tsr_all(&z, x, 0, NULL, false));
    EXPECT(take(&z) == 1);
    v[299999] = 0;
    EXPECT_OK(tsr_all(&z, x, 0, NULL, false));
    EXPECT(take(&z) == 0);
    tsr_release(&x);
}

/* Nothing, and one --------------------------------------------------------------------------- */

TEST(test_no_elements_give_each_ops_neutral_result)
{
    static const struct { int op; double result;
    } want[] = {
        { 0, 0 }, { 1, 1 }, { 2, NAN }, { 3, NAN },        { 4, NAN },
        { 7, 0 }, { 8, 1 }, { 9, 0 },   { 10, -INFINITY }, { 11, 0 },
    };
    tsr_tensor *x = NULL, *z = NULL;
    EXPECT_OK(tsr_empty(&x, TSR_F32, 2, (const int64_t[]){ 0, 3 }));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        for (int norm = 0; norm < 5; norm++) {
            const double ps[] = { 2, 0, -INFINITY, 3, -1 };
            EXPECT_OK(call(&ops[want[i].op], &z, x, 0, NULL, false, want[i].op == 11 ? ps[norm] : norm));
            const double got = take(&z);
            EXPECT_MSG(got == want[i].result || (isnan(got) && isnan(want[i].result)), "%s: %g",
                       ops[want[i].op].name, got);
        }
    EXPECT_FAILS(tsr_max(&z, x, 0, NULL, false), TSR_ESHAPE, "max: f32(0, 3");
    EXPECT_FAILS(tsr_min(&z, x, 1, (const int[]){ 0 }, false), TSR_ESHAPE, "no elements along axis 0");
    EXPECT_FAILS(tsr_argmax(&z, x, 0, false), TSR_ESHAPE, "argmax");
    EXPECT_FAILS(tsr_argmin(&z, x, TSR_ALL_AXES, false), TSR_ESHAPE, "argmin");
    EXPECT(z == NULL);
    EXPECT_OK(tsr_max(&z, x, 1, (const int[]){ 1 }, false));  /* no outputs: nothing is asked of nothing */
    EXPECT(z && tsr_numel(z) == 0);
    tsr_release_all(&z, &x);
}

TEST(test_a_scalar_is_reduced_to_itself)
{
    tsr_tensor *x = NULL, *z = NULL;
    EXPECT_OK(tsr_full(&x, TSR_I32, 0, NULL, TSR_SCALAR(-7)));
    EXPECT_OK(tsr_sum(&z, x, 0, NULL, true));
    EXPECT(z && z->ndim == 0 && z->dtype == TSR_I64);
    EXPECT(take(&z) == -7);
    EXPECT_OK(tsr_argmax(&z, x, TSR_ALL_AXES, false));
    EXPECT(take(&z) == 0);
    EXPECT_OK(tsr_prod(&z, TSR_NUMBER(2.5), 0, NULL, false));
    EXPECT(take(&z) == 2.5);
    tsr_release(&x);
}

/* Bad input ----------------------------------------------------------------------------------- */

TEST(test_bad_arguments_are_refused_in_words)
{
    tsr_tensor *x = NULL, *b = NULL, *z = NULL, *none = NULL;
    EXPECT_OK(tsr_zeros(&x, TSR_F32, 2, (const int64_t[]){ 2, 3 }));
    EXPECT_OK(tsr_zeros(&b, TSR_BOOL, 1, (const int64_t[]){ 3 }));
    EXPECT_FAILS(tsr_sum(&z, none, 0, NULL, false), TSR_ENULL, "sum: x");
    EXPECT_FAILS(tsr_sum(&z, x, 1, NULL, false), TSR_ENULL, "sum: axes is NULL");
    EXPECT_FAILS(tsr_sum(&z, x, -1, (const int[]){ 0 }, false), TSR_EINVAL, "axes");
    EXPECT_FAILS(tsr_sum(&z, x, 17, (const int[17]){ 0 }, false), TSR_EINVAL, "axes");
    EXPECT_FAILS(tsr_sum(&z, x, 1, (const int[]){ 2 }, false), TSR_EINDEX, "axis 2 of f32(2, 3");
    EXPECT_FAILS(tsr_sum(&z, x, 1, (const int[]){ -3 }, false), TSR_EINDEX, "axis -3");
    EXPECT_FAILS(tsr_sum(&z, x, 2, (const int[]){ 1, -1 }, false), TSR_EINVAL, "axis -1 of f32(2, 3");
    EXPECT_FAILS(tsr_sum(&z, b, 0, NULL, false), TSR_EDTYPE,
                 "sum: x: dtype must be real/c64/c128, but x is bool");
    EXPECT_FAILS(tsr_var(&z, x, 0, NULL, false, NAN), TSR_EINVAL, "correction");
    EXPECT_FAILS(tsr_std(&z, x, 0, NULL, false, INFINITY), TSR_EINVAL, "correction");
    EXPECT_FAILS(tsr_norm(&z, x, 0, NULL, false, NAN), TSR_EINVAL, "p is NaN");
    EXPECT_FAILS(tsr_argmax(&z, x, 2, false), TSR_EINDEX, "argmax: axis 2");
    EXPECT_FAILS(tsr_cumsum(&z, x, TSR_ALL_AXES), TSR_EINDEX, "cumsum: axis");
    EXPECT_FAILS(tsr_cumprod(&z, b, 0), TSR_EDTYPE, "cumprod");
    EXPECT_FAILS(tsr_diff(&z, x, 0, -1), TSR_EINVAL, "n is -1");
    EXPECT_FAILS(tsr_diff(&z, x, 2, 1), TSR_EINDEX, "diff: axis 2");
    EXPECT_FAILS(tsr_diff(&z, b, 0, 1), TSR_EDTYPE, "diff: x: dtype must be");
    EXPECT_FAILS(tsr_sum(&b, x, 0, NULL, false), TSR_EDTYPE, "sum: the result is f32");
    EXPECT_FAILS(tsr_any(&b, x, 0, NULL, false), TSR_ESHAPE, "any: the result is bool");
    EXPECT_FAILS(tsr_diff(&x, x, 0, 1), TSR_ESHAPE, "diff: the result is f32(1, 3");
    EXPECT(z == NULL);
    tsr_release_all(&x, &b);
}

/* Memory ---------------------------------------------------------------------------------------- */

/* One thread against three that share the outputs as finely as they may, bit for bit. */
static void expect_same_bits(const op_case *op, const tsr_tensor *x, int naxes, const int *axes)
{
    tsr_tensor *alone = NULL, *shared = NULL;
    EXPECT_OK(tsr_set_threads(1));
    EXPECT_OK(call(op, &alone, x, naxes, axes, false, 1));
    EXPECT_OK(tsr_set_threads(3));
    tsri_split_finely(true);
    EXPECT_OK(call(op, &shared, x, naxes, axes, false, 1));
    tsri_split_finely(false);
    for (int64_t i = 0; i < tsr_numel(alone); i++)
        if (!same_bits(alone->dtype, element(alone, i), element(shared, i))) {
            EXPECT_MSG(false, "%s: output %lld of %lld", op->name, (long long)i, (long long)tsr_numel(alone));
            break;
        }
    tsr_release_all(&alone, &shared);
}

/* Rows of few elements, rows in two dims, and one sum among others that overflows. */
TEST(test_bits_do_not_depend_on_how_outputs_are_shared)
{
    for (int n = 3; n <= 61; n += 29)
        for (int i = 0; i < OPS; i++) {
            tsr_tensor *rows = NULL, *apart = NULL;
            if (ops[i].arg || ops[i].scan) continue;
            EXPECT_OK(tsr_empty(&rows, TSR_F64, TSR_SHAPE(333, n)));
            EXPECT_OK(tsr_empty(&apart, TSR_F64, TSR_SHAPE(3, 657, n / 3 + 4)));
            fill_tensor(rows);
            fill_tensor(apart);
            expect_same_bits(&ops[i], rows, 1, (const int[]){ 1 });
            expect_same_bits(&ops[i], apart, 2, (const int[]){ 0, 2 });
            for (int k = 0; k < 2; k++) TSR_AT(double, rows, 100, k) = 1.7e308;
            expect_same_bits(&ops[i], rows, 1, (const int[]){ 1 });
            tsr_release_all(&rows, &apart);
        }
}

/* c64 at an address that suits floats only, beside a copy of it. Ops that do not take c64 fail for both. */
TEST(test_complex_numbers_may_be_aligned_as_their_parts)
{
    static _Alignas(64) float parts[1 + 2 * 5 * 77];
    for (int i = 0; i < OPS * 2; i++) {
        const op_case *op = &ops[i / 2];
        tsr_tensor *x = NULL, *copy = NULL, *z = NULL, *want = NULL;
        if (op->arg || op->scan) continue;
        for (int k = 0; k < 2 * 5 * 77; k++) parts[1 + k] = (float)(k % 13 - 6);
        EXPECT_OK(tsr_wrap(&x, parts + 1, TSR_DESC(TSR_C64, 5, 77)));
        EXPECT_OK(tsr_clone(&copy, x));
        const tsr_status s = call(op, &want, copy, 1, (const int[]){ i % 2 }, false, 1);
        EXPECT(call(op, &z, x, 1, (const int[]){ i % 2 }, false, 1) == s);
        for (int64_t k = 0; s == TSR_OK && k < tsr_numel(z); k++)
            EXPECT_MSG(same_bits(z->dtype, element(z, k), element(want, k)), "%s: output %lld", op->name,
                       (long long)k);
        tsr_release_all(&x, &copy, &z, &want);
    }
}
