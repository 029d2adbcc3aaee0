/* test_special_values.c - the special cases of the Python array API standard (2024.12), function
 * by function, in the order of the standard's pages.
 *
 * A row is operands and result as doubles; it is tried in f64, f32, f16 and bf16, with both one
 * element and a row of them. Results are compared as they are in the dtype: NaN with NaN, zeros
 * with their sign, all others within a unit (a half, a third or all of pi is rounded). Where the
 * standard asks for any sign (of a NaN, always) none is asked for here.
 */
#include <math.h>

#include "test.h"

#define INF INFINITY
#define PI  3.14159265358979323846

typedef tsr_status (*unary_fn)(tsr_tensor **, const tsr_tensor *);
typedef tsr_status (*binary_fn)(tsr_tensor **, const tsr_tensor *, const tsr_tensor *);

typedef struct row1 { double x, z; } row1;
typedef struct row2 { double x, y, z; } row2;

static const tsr_dtype dtypes[] = { TSR_F64, TSR_F32, TSR_F16, TSR_BF16 };
static const double    units[]  = { 0x1p-52, 0x1p-23, 0x1p-10, 0x1p-7 };
enum { DTYPES = 4, WIDTH = 5 };

/* Comparing ---------------------------------------------------------------------------- */

static bool is_same(double got, double want, double unit)
{
    if (isnan(want)) return isnan(got);
    if (isinf(want)) return got == want;
    if (want == 0) return got == 0 && !signbit(got) == !signbit(want);
    return fabs(got - want) <= unit * fabs(want);
}

static double value_of(const tsr_tensor *t, int64_t i)
{
    tsr_scalar s = tsr_scalar_i64(0);
    EXPECT_OK(tsr_get(&s, t, TSR_INDEX(i)));
    return tsr_scalar_to_f64(s);
}

/* All elements of a row are the same. */
static void expect_row(const char *name, const tsr_tensor *z, double x, double y, double want, double unit)
{
    for (int64_t i = 0; i < tsr_numel(z); i++) {
        const double got = value_of(z, i);
        EXPECT_MSG(is_same(got, want, unit), "%s(%g, %g) in %s is %g, not %g", name, x, y,
                   tsr_dtype_name(z->dtype), got, want);
    }
}

static void expect1(const char *name, unary_fn fn, const row1 *rows, size_t n)
{
    for (size_t r = 0; r < n; r++)
        for (int d = 0; d < DTYPES; d++) {
            tsr_tensor *x = NULL, *z = NULL;
            EXPECT_OK(tsr_full(&x, dtypes[d], TSR_SHAPE(WIDTH), TSR_SCALAR(rows[r].x)));
            EXPECT_OK(fn(&z, x));
            expect_row(name, z, rows[r].x, 0, rows[r].z, units[d]);
            tsr_release(&x);
            tsr_release(&z);
        }
}

static void expect2(const char *name, binary_fn fn, const row2 *rows, size_t n)
{
    for (size_t r = 0; r < n; r++)
        for (int d = 0; d < DTYPES; d++) {
            tsr_tensor *x = NULL, *y = NULL, *z = NULL;
            EXPECT_OK(tsr_full(&x, dtypes[d], TSR_SHAPE(WIDTH), TSR_SCALAR(rows[r].x)));
            EXPECT_OK(tsr_full(&y, dtypes[d], TSR_SHAPE(WIDTH), TSR_SCALAR(rows[r].y)));
            EXPECT_OK(fn(&z, x, y));
            expect_row(name, z, rows[r].x, rows[r].y, rows[r].z, units[d]);
            tsr_release(&z);
            EXPECT_OK(fn(&z, x, TSR_NUMBER(rows[r].y)));
            expect_row(name, z, rows[r].x, rows[r].y, rows[r].z, units[d]);
            tsr_release(&x);
            tsr_release(&y);
            tsr_release(&z);
        }
}

#define IS1(name, ...)                                                         \
    do {                                                                       \
        static const row1 rows_[] = { __VA_ARGS__ };                           \
        expect1(#name, tsr_##name, rows_, sizeof rows_ / sizeof *rows_);       \
    } while (0)
#define IS2(name, ...)                                                         \
    do {                                                                       \
        static const row2 rows_[] = { __VA_ARGS__ };                           \
        expect2(#name, tsr_##name, rows_, sizeof rows_ / sizeof *rows_);       \
    } while (0)

/* One operand --------------------------------------------------------------------------- */

static void test_abs_at_special_values_is_as_the_standard_says(void)
{
    IS1(abs, { NAN, NAN }, { -0.0, 0.0 }, { -INF, INF }, { -2.5, 2.5 });
}

static void test_acos_at_special_values_is_as_the_standard_says(void)
{
    IS1(acos, { NAN, NAN }, { 1.5, NAN }, { -1.5, NAN }, { INF, NAN }, { -INF, NAN }, { 1, 0.0 }, { -1, PI });
}

static void test_acosh_at_special_values_is_as_the_standard_says(void)
{
    IS1(acosh, { NAN, NAN }, { 0.5, NAN }, { -INF, NAN }, { 1, 0.0 }, { INF, INF });
}

static void test_asin_at_special_values_is_as_the_standard_says(void)
{
    IS1(asin, { NAN, NAN }, { 1.5, NAN }, { -1.5, NAN }, { 0.0, 0.0 }, { -0.0, -0.0 }, { 1, PI / 2 },
        { -1, -PI / 2 });
}

static void test_asinh_at_special_values_is_as_the_standard_says(void)
{
    IS1(asinh, { NAN, NAN }, { 0.0, 0.0 }, { -0.0, -0.0 }, { INF, INF }, { -INF, -INF });
}

static void test_atan_at_special_values_is_as_the_standard_says(void)
{
    IS1(atan, { NAN, NAN }, { 0.0, 0.0 }, { -0.0, -0.0 }, { INF, PI / 2 }, { -INF, -PI / 2 });
}

static void test_atanh_at_special_values_is_as_the_standard_says(void)
{
    IS1(atanh, { NAN, NAN }, { -1.5, NAN }, { 1.5, NAN }, { -1, -INF }, { 1, INF }, { 0.0, 0.0 },
        { -0.0, -0.0 });
}

static void test_ceil_at_special_values_is_as_the_standard_says(void)
{
    IS1(ceil, { 3, 3 }, { INF, INF }, { -INF, -INF }, { 0.0, 0.0 }, { -0.0, -0.0 }, { NAN, NAN },
        { -0.5, -0.0 }, { 0.5, 1 }, { -1.5, -1 });
}

static void test_cos_at_special_values_is_as_the_standard_says(void)
{
    IS1(cos, { NAN, NAN }, { 0.0, 1 }, { -0.0, 1 }, { INF, NAN }, { -INF, NAN });
}
static void test_cosh_at_special_values_is_as_the_standard_says(void)
{
    IS1(cosh, { NAN, NAN }, { 0.0, 1 }, { -0.0, 1 }, { INF, INF }, { -INF, INF });
}
static void test_exp_at_special_values_is_as_the_standard_says(void)
{
    IS1(exp, { NAN, NAN }, { 0.0, 1 }, { -0.0, 1 }, { INF, INF }, { -INF, 0.0 });
}
static void test_exp2_at_special_values_is_as_the_standard_says(void)
{
    IS1(exp2, { NAN, NAN }, { 0.0, 1 }, { -0.0, 1 }, { INF, INF }, { -INF, 0.0 }, { 3, 8 });
}

static void test_expm1_at_special_values_is_as_the_standard_says(void)
{
    IS1(expm1, { NAN, NAN }, { 0.0, 0.0 }, { -0.0, -0.0 }, { INF, INF }, { -INF, -1 });
}

static void test_floor_at_special_values_is_as_the_standard_says(void)
{
    IS1(floor, { 3, 3 }, { INF, INF }, { -INF, -INF }, { 0.0, 0.0 }, { -0.0, -0.0 }, { NAN, NAN },
        { 0.5, 0.0 }, { -0.5, -1 });
}

static void test_log_at_special_values_is_as_the_standard_says(void)
{
    IS1(log, { NAN, NAN }, { -1, NAN }, { -INF, NAN }, { 0.0, -INF }, { -0.0, -INF }, { 1, 0.0 },
        { INF, INF });
}
static void test_log2_at_special_values_is_as_the_standard_says(void)
{
    IS1(log2, { NAN, NAN }, { -1, NAN }, { 0.0, -INF }, { -0.0, -INF }, { 1, 0.0 }, { INF, INF }, { 8, 3 });
}
static void test_log10_at_special_values_is_as_the_standard_says(void)
{
    IS1(log10, { NAN, NAN }, { -1, NAN }, { 0.0, -INF }, { -0.0, -INF }, { 1, 0.0 }, { INF, INF },
        { 100, 2 });
}

static void test_log1p_at_special_values_is_as_the_standard_says(void)
{
    IS1(log1p, { NAN, NAN }, { -1.5, NAN }, { -1, -INF }, { -0.0, -0.0 }, { 0.0, 0.0 }, { INF, INF });
}

static void test_reciprocal_at_special_values_is_as_the_standard_says(void)
{
    IS1(reciprocal, { NAN, NAN }, { 0.0, INF }, { -0.0, -INF }, { INF, 0.0 }, { -INF, -0.0 }, { 4, 0.25 });
}

static void test_round_takes_halves_to_even(void)
{
    IS1(round, { 3, 3 }, { INF, INF }, { -INF, -INF }, { 0.0, 0.0 }, { -0.0, -0.0 }, { NAN, NAN },
        { 0.5, 0.0 }, { 1.5, 2 }, { 2.5, 2 }, { 3.5, 4 }, { -0.5, -0.0 }, { -1.5, -2 }, { -2.5, -2 },
        { 2.75, 3 });
}

static void test_sign_at_special_values_is_as_the_standard_says(void)
{
    IS1(sign, { 2, 1 }, { -2, -1 }, { INF, 1 }, { -INF, -1 }, { 0.0, 0.0 }, { -0.0, 0.0 }, { NAN, NAN });
}

static void test_sin_at_special_values_is_as_the_standard_says(void)
{
    IS1(sin, { NAN, NAN }, { 0.0, 0.0 }, { -0.0, -0.0 }, { INF, NAN }, { -INF, NAN });
}
static void test_sinh_at_special_values_is_as_the_standard_says(void)
{
    IS1(sinh, { NAN, NAN }, { 0.0, 0.0 }, { -0.0, -0.0 }, { INF, INF }, { -INF, -INF });
}
static void test_square_at_special_values_is_as_the_standard_says(void)
{
    IS1(square, { NAN, NAN }, { -0.0, 0.0 }, { -INF, INF }, { INF, INF }, { -3, 9 });
}

static void test_sqrt_at_special_values_is_as_the_standard_says(void)
{
    IS1(sqrt, { NAN, NAN }, { -1, NAN }, { -INF, NAN }, { 0.0, 0.0 }, { -0.0, -0.0 }, { INF, INF }, { 4, 2 });
}

static void test_tan_at_special_values_is_as_the_standard_says(void)
{
    IS1(tan, { NAN, NAN }, { 0.0, 0.0 }, { -0.0, -0.0 }, { INF, NAN }, { -INF, NAN });
}
static void test_tanh_at_special_values_is_as_the_standard_says(void)
{
    IS1(tanh, { NAN, NAN }, { 0.0, 0.0 }, { -0.0, -0.0 }, { INF, 1 }, { -INF, -1 });
}

static void test_trunc_at_special_values_is_as_the_standard_says(void)
{
    IS1(trunc, { 3, 3 }, { INF, INF }, { -INF, -INF }, { 0.0, 0.0 }, { -0.0, -0.0 }, { NAN, NAN },
        { 0.5, 0.0 }, { -0.5, -0.0 }, { -2.75, -2 });
}

static void test_questions_of_one_at_special_values_are_as_the_standard_says(void)
{
    IS1(isfinite, { 1, 1 }, { INF, 0.0 }, { -INF, 0.0 }, { NAN, 0.0 });
    IS1(isinf, { 1, 0.0 }, { INF, 1 }, { -INF, 1 }, { NAN, 0.0 });
    IS1(isnan, { 1, 0.0 }, { INF, 0.0 }, { -INF, 0.0 }, { NAN, 1 });
    IS1(signbit, { 0.0, 0.0 }, { -0.0, 1 }, { INF, 0.0 }, { -INF, 1 }, { 2, 0.0 }, { -2, 1 }, { NAN, 0.0 },
        { -NAN, 1 });
    IS1(logical_not, { 0.0, 1 }, { -0.0, 1 }, { 2, 0.0 }, { NAN, 0.0 }, { INF, 0.0 });
}

/* Beyond the standard: what the activations do at the ends. */
static void test_activations_go_to_their_limits(void)
{
    IS1(relu, { NAN, NAN }, { -0.0, 0.0 }, { INF, INF }, { -INF, 0.0 }, { -2, 0.0 }, { 2, 2 });
    IS1(sigmoid, { NAN, NAN }, { 0.0, 0.5 }, { INF, 1 }, { -INF, 0.0 });
    IS1(silu, { NAN, NAN }, { 0.0, 0.0 }, { INF, INF }, { -INF, -0.0 });
    IS1(gelu, { NAN, NAN }, { 0.0, 0.0 }, { INF, INF }, { -INF, -0.0 });
    IS1(gelu_tanh, { NAN, NAN }, { 0.0, 0.0 }, { INF, INF }, { -INF, -0.0 });
    IS1(softplus, { NAN, NAN }, { INF, INF }, { -INF, 0.0 });
    IS1(hardswish, { NAN, NAN }, { 3, 3 }, { -3, -0.0 }, { INF, INF }, { -INF, -0.0 });
    IS1(erf, { NAN, NAN }, { 0.0, 0.0 }, { -0.0, -0.0 }, { INF, 1 }, { -INF, -1 });
    IS1(erfc, { NAN, NAN }, { 0.0, 1 }, { INF, 0.0 }, { -INF, 2 });
    IS1(rsqrt, { NAN, NAN }, { -1, NAN }, { 0.0, INF }, { -0.0, -INF }, { INF, 0.0 }, { 4, 0.5 });
}

/* The largest numbers of f64 do not overflow on the way. */
static void test_activations_keep_the_largest_numbers(void)
{
    tsr_tensor *x = NULL, *z = NULL;
    static const unary_fn all[] = {
        tsr_relu, tsr_silu, tsr_gelu, tsr_gelu_tanh, tsr_softplus, tsr_hardswish
    };
    EXPECT_OK(tsr_full(&x, TSR_F64, TSR_SHAPE(1), TSR_SCALAR(1.5e308)));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        EXPECT_OK(all[i](&z, x));
        expect_row("activation", z, 1.5e308, 0, 1.5e308, 0);
        tsr_release(&z);
    }
    tsr_release(&x);
}

/* Two operands --------------------------------------------------------------------------- */

static void test_add_at_special_values_is_as_the_standard_says(void)
{
    IS2(add, { NAN, 1, NAN }, { 1, NAN, NAN }, { INF, -INF, NAN }, { -INF, INF, NAN }, { INF, INF, INF },
        { -INF, -INF, -INF }, { INF, 1, INF }, { -INF, 1, -INF }, { 1, INF, INF }, { 1, -INF, -INF },
        { -0.0, -0.0, -0.0 }, { -0.0, 0.0, 0.0 }, { 0.0, -0.0, 0.0 }, { 0.0, 0.0, 0.0 }, { 0.0, 2, 2 },
        { 2, -0.0, 2 }, { 2, -2, 0.0 });
    IS2(sub, { INF, INF, NAN }, { INF, -INF, INF }, { 0.0, 0.0, 0.0 }, { -0.0, 0.0, -0.0 }, { 1, NAN, NAN });
}

static void test_mul_at_special_values_is_as_the_standard_says(void)
{
    IS2(mul, { NAN, 1, NAN }, { 0.0, INF, NAN }, { -0.0, INF, NAN }, { INF, 0.0, NAN }, { INF, INF, INF },
        { INF, -INF, -INF }, { -INF, 2, -INF }, { -2, INF, -INF }, { 0.0, -2, -0.0 }, { -0.0, -2, 0.0 });
}

static void test_div_at_special_values_is_as_the_standard_says(void)
{
    IS2(div, { NAN, 1, NAN }, { 1, NAN, NAN }, { INF, INF, NAN }, { -INF, INF, NAN }, { 0.0, 0.0, NAN },
        { -0.0, 0.0, NAN }, { 0.0, 2, 0.0 }, { -0.0, 2, -0.0 }, { 0.0, -2, -0.0 }, { -0.0, -2, 0.0 },
        { 2, 0.0, INF }, { 2, -0.0, -INF }, { -2, 0.0, -INF }, { -2, -0.0, INF }, { INF, 2, INF },
        { INF, -2, -INF }, { -INF, 2, -INF }, { -INF, -2, INF }, { 2, INF, 0.0 }, { 2, -INF, -0.0 },
        { -2, INF, -0.0 }, { -2, -INF, 0.0 });
}

static void test_floor_divide_at_special_values_is_as_the_standard_says(void)
{
    IS2(floor_div, { NAN, 1, NAN }, { 1, NAN, NAN }, { INF, INF, NAN }, { INF, -INF, NAN },
        { -INF, INF, NAN }, { 0.0, 0.0, NAN }, { 0.0, -0.0, NAN }, { 0.0, 2, 0.0 }, { -0.0, 2, -0.0 },
        { 0.0, -2, -0.0 }, { -0.0, -2, 0.0 }, { 2, 0.0, INF }, { 2, -0.0, -INF }, { -2, 0.0, -INF },
        { -2, -0.0, INF }, { INF, 2, INF }, { INF, -2, -INF }, { -INF, 2, -INF }, { -INF, -2, INF },
        { 2, INF, 0.0 }, { 2, -INF, -1 }, { -2, INF, -1 }, { -2, -INF, 0.0 }, { 5, 2, 2 }, { -5, 2, -3 },
        { 5, -2, -3 }, { -5, -2, 2 }, { 0.0, INF, 0.0 }, { -0.0, INF, -0.0 }, { 0.0, -INF, -0.0 });
}

static void test_remainder_at_special_values_is_as_the_standard_says(void)
{
    IS2(remainder, { NAN, 1, NAN }, { 1, NAN, NAN }, { NAN, INF, NAN }, { NAN, -INF, NAN }, { INF, INF, NAN },
        { INF, -INF, NAN }, { -INF, INF, NAN }, { -INF, -INF, NAN }, { INF, 2, NAN }, { -INF, 2, NAN },
        { INF, -2, NAN }, { 2, 0.0, NAN }, { 2, -0.0, NAN }, { 0.0, 0.0, NAN }, { 0.0, 2, 0.0 },
        { -0.0, 2, 0.0 }, { 0.0, -2, -0.0 }, { -0.0, -2, -0.0 }, { 2, INF, 2 }, { 2, -INF, -INF },
        { -2, INF, INF }, { -2, -INF, -2 }, { 0.0, INF, 0.0 }, { -0.0, -INF, -0.0 }, { 5, 2, 1 },
        { -5, 2, 1 }, { 5, -2, -1 }, { -5, -2, -1 }, { 4, 2, 0.0 }, { 4, -2, -0.0 }, { -4, 2, 0.0 },
        { 1.25, 0.5, 0.25 }, { -1.25, 0.5, 0.25 });
}

static void test_pow_at_special_values_is_as_the_standard_says(void)
{
    IS2(pow, { 2, NAN, NAN }, { 1, NAN, 1 }, { NAN, 0.0, 1 }, { NAN, -0.0, 1 }, { INF, 0.0, 1 },
        { NAN, 2, NAN }, { 2, INF, INF }, { -2, INF, INF }, { 2, -INF, 0.0 }, { -2, -INF, 0.0 },
        { 1, INF, 1 }, { 1, -INF, 1 }, { -1, INF, 1 }, { -1, -INF, 1 }, { 0.5, INF, 0.0 }, { -0.5, INF, 0.0 },
        { 0.5, -INF, INF }, { -0.5, -INF, INF }, { INF, 2, INF }, { INF, -2, 0.0 }, { -INF, 3, -INF },
        { -INF, 2, INF }, { -INF, 2.5, INF }, { -INF, -3, -0.0 }, { -INF, -2, 0.0 }, { -INF, -2.5, 0.0 },
        { 0.0, 2, 0.0 }, { 0.0, -2, INF }, { 0.0, -INF, INF }, { -0.0, 3, -0.0 }, { -0.0, 2, 0.0 },
        { -0.0, 2.5, 0.0 }, { -0.0, -3, -INF }, { -0.0, -2, INF }, { -0.0, -2.5, INF }, { -2, 0.5, NAN },
        { -2, 3, -8 }, { 2, -1, 0.5 });
}

static void test_atan2_at_special_values_is_as_the_standard_says(void)
{
    IS2(atan2, { NAN, 1, NAN }, { 1, NAN, NAN }, { 2, 0.0, PI / 2 }, { 2, -0.0, PI / 2 }, { 0.0, 2, 0.0 },
        { 0.0, 0.0, 0.0 }, { 0.0, -0.0, PI }, { 0.0, -2, PI }, { -0.0, 2, -0.0 }, { -0.0, 0.0, -0.0 },
        { -0.0, -0.0, -PI }, { -0.0, -2, -PI }, { -2, 0.0, -PI / 2 }, { -2, -0.0, -PI / 2 }, { 2, INF, 0.0 },
        { 2, -INF, PI }, { -2, INF, -0.0 }, { -2, -INF, -PI }, { INF, 2, PI / 2 }, { -INF, 2, -PI / 2 },
        { INF, INF, PI / 4 }, { INF, -INF, 3 * PI / 4 }, { -INF, INF, -PI / 4 }, { -INF, -INF, -3 * PI / 4 });
}

static void test_hypot_at_special_values_is_as_the_standard_says(void)
{
    IS2(hypot, { INF, NAN, INF }, { -INF, NAN, INF }, { NAN, INF, INF }, { NAN, -INF, INF }, { NAN, 1, NAN },
        { 1, NAN, NAN }, { NAN, NAN, NAN }, { 3, 4, 5 }, { 0.0, -2, 2 }, { -0.0, 0.0, 0.0 });
}

static void test_copysign_at_special_values_is_as_the_standard_says(void)
{
    IS2(copysign, { 2, -1, -2 }, { -2, 1, 2 }, { 2, -0.0, -2 }, { 2, 0.0, 2 }, { 0.0, -1, -0.0 },
        { -0.0, 1, 0.0 }, { INF, -1, -INF }, { 2, NAN, 2 }, { 2, -NAN, -2 }, { NAN, 1, NAN });
}

static void test_logaddexp_at_special_values_is_as_the_standard_says(void)
{
    IS2(logaddexp, { NAN, 1, NAN }, { 1, NAN, NAN }, { NAN, INF, NAN }, { INF, 1, INF }, { 1, INF, INF },
        { INF, -INF, INF }, { INF, INF, INF }, { -INF, -INF, -INF }, { -INF, 2, 2 }, { 2, -INF, 2 },
        { 0.0, 0.0, 0.69314718055994530942 }, { 1000, 1000, 1000.69314718055994530942 });
}

static void test_maximum_and_minimum_at_special_values_are_as_the_standard_says(void)
{
    IS2(maximum, { NAN, 1, NAN }, { 1, NAN, NAN }, { -0.0, 0.0, 0.0 }, { 0.0, -0.0, 0.0 }, { -INF, 1, 1 },
        { INF, 1, INF });
    IS2(minimum, { NAN, 1, NAN }, { 1, NAN, NAN }, { -0.0, 0.0, -0.0 }, { 0.0, -0.0, -0.0 },
        { -INF, 1, -INF }, { INF, 1, 1 });
    IS2(fmax, { NAN, 1, 1 }, { 1, NAN, 1 }, { NAN, NAN, NAN }, { -INF, NAN, -INF });
    IS2(fmin, { NAN, 1, 1 }, { 1, NAN, 1 }, { NAN, NAN, NAN }, { INF, NAN, INF });
}

static void test_comparisons_at_special_values_are_as_the_standard_says(void)
{
    IS2(eq, { NAN, NAN, 0.0 }, { 0.0, -0.0, 1 }, { INF, INF, 1 }, { INF, -INF, 0.0 });
    IS2(ne, { NAN, NAN, 1 }, { 0.0, -0.0, 0.0 }, { INF, INF, 0.0 });
    IS2(lt, { NAN, 1, 0.0 }, { 1, NAN, 0.0 }, { -0.0, 0.0, 0.0 }, { -INF, INF, 1 });
    IS2(le, { NAN, 1, 0.0 }, { 1, NAN, 0.0 }, { 0.0, -0.0, 1 }, { INF, INF, 1 });
    IS2(gt, { NAN, 1, 0.0 }, { 1, NAN, 0.0 }, { 0.0, -0.0, 0.0 }, { INF, 1, 1 });
    IS2(ge, { NAN, 1, 0.0 }, { 1, NAN, 0.0 }, { -0.0, 0.0, 1 }, { INF, INF, 1 });
    IS2(logical_and, { NAN, 1, 1 }, { NAN, 0.0, 0.0 }, { -0.0, 1, 0.0 });
    IS2(logical_or, { NAN, 0.0, 1 }, { 0.0, -0.0, 0.0 });
    IS2(logical_xor, { NAN, 0.0, 1 }, { NAN, INF, 0.0 }, { -0.0, 0.0, 0.0 });
}

/* nextafter depends on the dtype: its least and largest numbers. */
static void test_nextafter_at_special_values_is_as_the_standard_says(void)
{
    static const double least[]   = { 0x1p-1074, 0x1p-149, 0x1p-24, 0x1p-133 };
    static const double largest[] = { 0x1.fffffffffffffp1023, 0x1.fffffep127, 65504, 0x1.fep127 };
    IS2(nextafter, { NAN, 1, NAN }, { 1, NAN, NAN }, { 1, 1, 1 }, { 0.0, -0.0, -0.0 }, { -0.0, 0.0, 0.0 },
        { INF, INF, INF }, { -INF, -INF, -INF });
    for (int d = 0; d < DTYPES; d++) {
        const row2 rows[] = {
            { 0.0, 1, least[d] },           { 0.0, -1, -least[d] },      { -0.0, 1, least[d] },
            { -0.0, -INF, -least[d] },      { least[d], 0.0, 0.0 },      { -least[d], 1, -0.0 },
            { largest[d], INF, INF },       { -largest[d], -INF, -INF }, { INF, 0.0, largest[d] },
            { -INF, 0.0, -largest[d] },     { 1, INF, 1 + units[d] },    { 1, 0.0, 1 - units[d] / 2 },
            { -1, 0.0, -1 + units[d] / 2 }, { -1, -INF, -1 - units[d] },
        };
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
            tsr_tensor *x = NULL, *z = NULL;
            EXPECT_OK(tsr_full(&x, dtypes[d], TSR_SHAPE(WIDTH), TSR_SCALAR(rows[r].x)));
            EXPECT_OK(tsr_nextafter(&z, x, TSR_NUMBER(rows[r].y)));
            expect_row("nextafter", z, rows[r].x, rows[r].y, rows[r].z, 0);
            tsr_release(&x);
            tsr_release(&z);
        }
    }
}

static void test_clip_at_special_values_is_as_the_standard_says(void)
{
    static const double rows[][4] = {
        { NAN, 0, 1, NAN }, { 0.5, NAN, 1, NAN }, { 0.5, 0, NAN, NAN }, { -INF, 0, 1, 0 }, { INF, 0, 1, 1 },
        { 0.5, 0, 1, 0.5 }, { 5, 3, 2, 2 } /* bounds that cross: the upper */, { 5, -INF, INF, 5 },
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int d = 0; d < DTYPES; d++) {
            tsr_tensor *x = NULL, *z = NULL;
            EXPECT_OK(tsr_full(&x, dtypes[d], TSR_SHAPE(WIDTH), TSR_SCALAR(rows[r][0])));
            EXPECT_OK(tsr_clip(&z, x, TSR_NUMBER(rows[r][1]), TSR_NUMBER(rows[r][2])));
            expect_row("clip", z, rows[r][0], rows[r][1], rows[r][3], units[d]);
            tsr_release(&x);
            tsr_release(&z);
        }
}

/* Integers: the edges that C leaves undefined. */
static void test_integers_wrap_at_their_ends(void)
{
    tsr_tensor *x = NULL, *z = NULL;
    int64_t got = 0;
    static const struct { binary_fn fn; int64_t x, y, z;
    } rows[] = {
        { tsr_floor_div, INT64_MIN, -1, INT64_MIN },
        { tsr_remainder, INT64_MIN, -1, 0 },
        { tsr_floor_div, 7, 0, 0 },
        { tsr_remainder, 7, 0, 0 },
        { tsr_add, INT64_MAX, 1, INT64_MIN },
        { tsr_sub, INT64_MIN, 1, INT64_MAX },
        { tsr_mul, INT64_MIN, -1, INT64_MIN },
        { tsr_pow, 2, 63, INT64_MIN },
        { tsr_pow, 0, 0, 1 },
        { tsr_pow, 3, -1, 0 },
        { tsr_pow, -1, -3, -1 },
        { tsr_pow, 0, -1, 0 },
        { tsr_shift_left, 1, 64, 0 },
        { tsr_shift_left, 1, -1, 0 },
        { tsr_shift_left, 1, 63, INT64_MIN },
        { tsr_shift_right, -5, 64, -1 },
        { tsr_shift_right, -5, 1, -3 },
        { tsr_shift_right, -5, -1, -1 },
        { tsr_shift_right, 5, 99, 0 },
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        EXPECT_OK(tsr_full(&x, TSR_I64, TSR_SHAPE(1), TSR_SCALAR(rows[r].x)));
        EXPECT_OK(rows[r].fn(&z, x, TSR_NUMBER(rows[r].y)));
        EXPECT_OK(tsr_item_i64(&got, z));
        EXPECT_MSG(got == rows[r].z, "row %zu: %lld, not %lld", r, (long long)got, (long long)rows[r].z);
        tsr_release(&x);
        tsr_release(&z);
    }
    EXPECT_OK(tsr_full(&x, TSR_I64, TSR_SHAPE(1), TSR_SCALAR(INT64_MIN)));
    EXPECT_OK(tsr_abs(&z, x));
    EXPECT_OK(tsr_item_i64(&got, z));
    EXPECT(got == INT64_MIN);
    tsr_release(&x);
    tsr_release(&z);
}

/* Complex ---------------------------------------------------------------------------------- */

/* A part that may be anything: the standard leaves its sign or value open. */
#define FREE 12345678.0

typedef struct row_c { tsr_c128 x, z; } row_c;

static bool is_part(double got, double want, double unit)
{
    if (want == FREE) return true;
    return is_same(got, want, 4 * unit);
}

static void expect_complex(const char *name, unary_fn fn, const row_c *rows, size_t n)
{
    for (size_t r = 0; r < n; r++)
        for (int d = 0; d < 2; d++) {
            tsr_tensor *x = NULL, *z = NULL;
            tsr_scalar s = tsr_scalar_i64(0);
            EXPECT_OK(tsr_full(&x, d ? TSR_C64 : TSR_C128, TSR_SHAPE(2), TSR_SCALAR(rows[r].x)));
            EXPECT_OK(fn(&z, x));
            EXPECT_OK(tsr_get(&s, z, TSR_INDEX(1)));
            const tsr_c128 got = tsr_scalar_to_c128(s);
            EXPECT_MSG(is_part(got.re, rows[r].z.re, units[d]) && is_part(got.im, rows[r].z.im, units[d]),
                       "%s(%g, %g) in %s is (%g, %g), not (%g, %g)", name, rows[r].x.re, rows[r].x.im,
                       tsr_dtype_name(x->dtype), got.re, got.im, rows[r].z.re, rows[r].z.im);
            tsr_release(&x);
            tsr_release(&z);
        }
}

#define IS_C(name, ...)                                                              \
    do {                                                                             \
        static const row_c rows_[] = { __VA_ARGS__ };                                \
        expect_complex(#name, tsr_##name, rows_, sizeof rows_ / sizeof *rows_);      \
    } while (0)

static void test_complex_exponentials_at_special_values_are_as_the_standard_says(void)
{
    IS_C(exp, { { 0.0, 0.0 }, { 1, 0.0 } }, { { -0.0, 0.0 }, { 1, 0.0 } }, { { 1, INF }, { NAN, NAN } },
         { { 1, NAN }, { NAN, NAN } }, { { INF, 0.0 }, { INF, 0.0 } }, { { -INF, 1 }, { 0.0, 0.0 } },
         { { INF, 1 }, { INF, INF } }, { { -INF, INF }, { FREE, FREE } }, { { INF, INF }, { FREE, NAN } },
         { { -INF, NAN }, { FREE, FREE } }, { { INF, NAN }, { FREE, NAN } }, { { NAN, 0.0 }, { NAN, 0.0 } },
         { { NAN, 1 }, { NAN, NAN } }, { { NAN, NAN }, { NAN, NAN } });
    IS_C(expm1, { { 0.0, 0.0 }, { 0.0, 0.0 } }, { { 1, INF }, { NAN, NAN } }, { { 1, NAN }, { NAN, NAN } },
         { { INF, 0.0 }, { INF, 0.0 } }, { { -INF, 1 }, { -1, 0.0 } }, { { INF, 1 }, { INF, INF } },
         { { -INF, INF }, { -1, FREE } }, { { INF, INF }, { FREE, NAN } }, { { -INF, NAN }, { -1, FREE } },
         { { INF, NAN }, { FREE, NAN } }, { { NAN, 0.0 }, { NAN, 0.0 } }, { { NAN, 1 }, { NAN, NAN } },
         { { NAN, NAN }, { NAN, NAN } }, { { 1000, 0.0 }, { INF, 0.0 } },
         { { 1e-30, 1e-30 }, { 1e-30, 1e-30 } });
}

static void test_complex_logarithms_at_special_values_are_as_the_standard_says(void)
{
    IS_C(log, { { -0.0, 0.0 }, { -INF, PI } }, { { 0.0, 0.0 }, { -INF, 0.0 } },
         { { 1, INF }, { INF, PI / 2 } }, { { 1, NAN }, { NAN, NAN } }, { { -INF, 1 }, { INF, PI } },
         { { INF, 1 }, { INF, 0.0 } }, { { -INF, INF }, { INF, 3 * PI / 4 } },
         { { INF, INF }, { INF, PI / 4 } }, { { INF, NAN }, { INF, NAN } }, { { -INF, NAN }, { INF, NAN } },
         { { NAN, 1 }, { NAN, NAN } }, { { NAN, INF }, { INF, NAN } }, { { NAN, NAN }, { NAN, NAN } });
    IS_C(log1p, { { -1, 0.0 }, { -INF, 0.0 } }, { { 1, INF }, { INF, PI / 2 } }, { { 1, NAN }, { NAN, NAN } },
         { { -INF, 1 }, { INF, PI } }, { { INF, 1 }, { INF, 0.0 } }, { { -INF, INF }, { INF, 3 * PI / 4 } },
         { { INF, INF }, { INF, PI / 4 } }, { { INF, NAN }, { INF, NAN } }, { { NAN, 1 }, { NAN, NAN } },
         { { NAN, INF }, { INF, NAN } }, { { NAN, NAN }, { NAN, NAN } },
         { { 1e-30, 1e-30 }, { 1e-30, 1e-30 } });
}

static void test_complex_roots_at_special_values_are_as_the_standard_says(void)
{
    IS_C(sqrt, { { 0.0, 0.0 }, { 0.0, 0.0 } }, { { -0.0, 0.0 }, { 0.0, 0.0 } }, { { 1, INF }, { INF, INF } },
         { { NAN, INF }, { INF, INF } }, { { 1, NAN }, { NAN, NAN } }, { { -INF, 1 }, { 0.0, INF } },
         { { INF, 1 }, { INF, 0.0 } }, { { -INF, NAN }, { NAN, FREE } }, { { INF, NAN }, { INF, NAN } },
         { { NAN, 1 }, { NAN, NAN } }, { { NAN, NAN }, { NAN, NAN } }, { { -4, 0.0 }, { 0.0, 2 } },
         { { -4, -0.0 }, { 0.0, -2 } });
}

static void test_complex_hyperbolics_at_special_values_are_as_the_standard_says(void)
{
    IS_C(sinh, { { 0.0, 0.0 }, { 0.0, 0.0 } }, { { 0.0, INF }, { FREE, NAN } }, { { 1, INF }, { NAN, NAN } },
         { { INF, 0.0 }, { INF, 0.0 } }, { { INF, 1 }, { INF, INF } }, { { INF, INF }, { FREE, NAN } },
         { { INF, NAN }, { FREE, NAN } }, { { NAN, 0.0 }, { NAN, 0.0 } }, { { NAN, 1 }, { NAN, NAN } });
    IS_C(cosh, { { 0.0, 0.0 }, { 1, 0.0 } }, { { 0.0, INF }, { NAN, FREE } }, { { 1, INF }, { NAN, NAN } },
         { { INF, 0.0 }, { INF, 0.0 } }, { { INF, 1 }, { INF, INF } }, { { INF, INF }, { INF, NAN } },
         { { INF, NAN }, { INF, NAN } }, { { NAN, 0.0 }, { NAN, FREE } }, { { NAN, 1 }, { NAN, NAN } });
    IS_C(tanh, { { 0.0, 0.0 }, { 0.0, 0.0 } }, { { 1, INF }, { NAN, NAN } }, { { INF, 1 }, { 1, FREE } },
         { { INF, INF }, { 1, FREE } }, { { INF, NAN }, { 1, FREE } }, { { NAN, 0.0 }, { NAN, 0.0 } },
         { { NAN, 1 }, { NAN, NAN } }, { { NAN, NAN }, { NAN, NAN } });
}

static void test_complex_inverses_at_special_values_are_as_the_standard_says(void)
{
    IS_C(acos, { { 0.0, 0.0 }, { PI / 2, -0.0 } }, { { 0.0, NAN }, { PI / 2, NAN } },
         { { 1, INF }, { PI / 2, -INF } }, { { -INF, 1 }, { PI, -INF } }, { { INF, 1 }, { 0.0, -INF } },
         { { -INF, INF }, { 3 * PI / 4, -INF } }, { { INF, INF }, { PI / 4, -INF } },
         { { INF, NAN }, { NAN, FREE } }, { { NAN, INF }, { NAN, -INF } });
    IS_C(acosh, { { 0.0, 0.0 }, { 0.0, PI / 2 } }, { { 1, INF }, { INF, PI / 2 } },
         { { -INF, 1 }, { INF, PI } }, { { INF, 1 }, { INF, 0.0 } }, { { INF, INF }, { INF, PI / 4 } },
         { { INF, NAN }, { INF, NAN } }, { { NAN, INF }, { INF, NAN } });
    IS_C(asinh, { { 0.0, 0.0 }, { 0.0, 0.0 } }, { { 1, INF }, { INF, PI / 2 } }, { { INF, 1 }, { INF, 0.0 } },
         { { INF, INF }, { INF, PI / 4 } }, { { INF, NAN }, { INF, NAN } }, { { NAN, 0.0 }, { NAN, 0.0 } },
         { { NAN, INF }, { FREE, NAN } });
    IS_C(atanh, { { 0.0, 0.0 }, { 0.0, 0.0 } }, { { 1, 0.0 }, { INF, 0.0 } }, { { 1, INF }, { 0.0, PI / 2 } },
         { { INF, 1 }, { 0.0, PI / 2 } }, { { INF, INF }, { 0.0, PI / 2 } }, { { INF, NAN }, { 0.0, NAN } },
         { { NAN, INF }, { FREE, PI / 2 } });
}

static void test_complex_parts_at_special_values_are_as_the_standard_says(void)
{
    IS_C(abs, { { INF, NAN }, { INF, 0.0 } }, { { NAN, -INF }, { INF, 0.0 } }, { { NAN, 0.0 }, { NAN, 0.0 } },
         { { -3, 4 }, { 5, 0.0 } }, { { -0.0, -0.0 }, { 0.0, 0.0 } });
    IS_C(conj, { { 1, 2 }, { 1, -2 } }, { { 1, 0.0 }, { 1, -0.0 } });
    IS_C(sign, { { 0.0, -0.0 }, { 0.0, 0.0 } }, { { NAN, 1 }, { NAN, NAN } }, { { 3, -4 }, { 0.6, -0.8 } },
         { { 1e-40, 0.0 }, { 1, 0.0 } });
    IS_C(round, { { 0.5, 1.5 }, { 0.0, 2 } }, { { -2.5, -INF }, { -2, -INF } });
    IS_C(isfinite, { { 1, 1 }, { 1, 0.0 } }, { { 1, INF }, { 0.0, 0.0 } }, { { NAN, 1 }, { 0.0, 0.0 } });
    IS_C(isinf, { { NAN, INF }, { 1, 0.0 } }, { { 1, NAN }, { 0.0, 0.0 } });
    IS_C(isnan, { { NAN, INF }, { 1, 0.0 } }, { { 1, INF }, { 0.0, 0.0 } });
}

int main(int argc, char **argv)
{
    TEST_BEGIN(argc, argv);
    RUN(test_abs_at_special_values_is_as_the_standard_says);
    RUN(test_acos_at_special_values_is_as_the_standard_says);
    RUN(test_acosh_at_special_values_is_as_the_standard_says);
    RUN(test_asin_at_special_values_is_as_the_standard_says);
    RUN(test_asinh_at_special_values_is_as_the_standard_says);
    RUN(test_atan_at_special_values_is_as_the_standard_says);
    RUN(test_atanh_at_special_values_is_as_the_standard_says);
    RUN(test_ceil_at_special_values_is_as_the_standard_says);
    RUN(test_cos_at_special_values_is_as_the_standard_says);
    RUN(test_cosh_at_special_values_is_as_the_standard_says);
    RUN(test_exp_at_special_values_is_as_the_standard_says);
    RUN(test_exp2_at_special_values_is_as_the_standard_says);
    RUN(test_expm1_at_special_values_is_as_the_standard_says);
    RUN(test_floor_at_special_values_is_as_the_standard_says);
    RUN(test_log_at_special_values_is_as_the_standard_says);
    RUN(test_log2_at_special_values_is_as_the_standard_says);
    RUN(test_log10_at_special_values_is_as_the_standard_says);
    RUN(test_log1p_at_special_values_is_as_the_standard_says);
    RUN(test_reciprocal_at_special_values_is_as_the_standard_says);
    RUN(test_round_takes_halves_to_even);
    RUN(test_sign_at_special_values_is_as_the_standard_says);
    RUN(test_sin_at_special_values_is_as_the_standard_says);
    RUN(test_sinh_at_special_values_is_as_the_standard_says);
    RUN(test_square_at_special_values_is_as_the_standard_says);
    RUN(test_sqrt_at_special_values_is_as_the_standard_says);
    RUN(test_tan_at_special_values_is_as_the_standard_says);
    RUN(test_tanh_at_special_values_is_as_the_standard_says);
    RUN(test_trunc_at_special_values_is_as_the_standard_says);
    RUN(test_questions_of_one_at_special_values_are_as_the_standard_says);
    RUN(test_activations_go_to_their_limits);
    RUN(test_activations_keep_the_largest_numbers);
    RUN(test_add_at_special_values_is_as_the_standard_says);
    RUN(test_mul_at_special_values_is_as_the_standard_says);
    RUN(test_div_at_special_values_is_as_the_standard_says);
    RUN(test_floor_divide_at_special_values_is_as_the_standard_says);
    RUN(test_remainder_at_special_values_is_as_the_standard_says);
    RUN(test_pow_at_special_values_is_as_the_standard_says);
    RUN(test_atan2_at_special_values_is_as_the_standard_says);
    RUN(test_hypot_at_special_values_is_as_the_standard_says);
    RUN(test_copysign_at_special_values_is_as_the_standard_says);
    RUN(test_logaddexp_at_special_values_is_as_the_standard_says);
    RUN(test_maximum_and_minimum_at_special_values_are_as_the_standard_says);
    RUN(test_comparisons_at_special_values_are_as_the_standard_says);
    RUN(test_nextafter_at_special_values_is_as_the_standard_says);
    RUN(test_clip_at_special_values_is_as_the_standard_says);
    RUN(test_integers_wrap_at_their_ends);
    RUN(test_complex_exponentials_at_special_values_are_as_the_standard_says);
    RUN(test_complex_logarithms_at_special_values_are_as_the_standard_says);
    RUN(test_complex_roots_at_special_values_are_as_the_standard_says);
    RUN(test_complex_hyperbolics_at_special_values_are_as_the_standard_says);
    RUN(test_complex_inverses_at_special_values_are_as_the_standard_says);
    RUN(test_complex_parts_at_special_values_are_as_the_standard_says);
    return TEST_END();
}
