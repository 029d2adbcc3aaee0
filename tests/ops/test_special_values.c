/* test_special_values.c - the special cases of the Python array API standard, function by function.
 *
 * A function is a table of rules: what kind of operand (or of real and imaginary part) gives what
 * result. Every pair of sample values is tried in one call, in f64, f32, f16, bf16 and f8e5m2 or
 * in c128 and c64, in a row and with gaps; every rule that a pair falls under is checked, and a
 * rule that no pair falls under fails. Zeros are compared with their sign, numbers within a unit,
 * NaN with NaN. IS_ANY_... is where the standard leaves a sign open.
 *
 * The rules are those of version 2024.12, with the complex square root as 2025.12 mended it. Where
 * the standard allows two results the rule names ours, and a comment says so.
 */
#include <math.h>

#include "test.h"

#define INF   INFINITY
#define PI    3.14159265358979323846
#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef tsr_status (*unary_fn)(tsr_tensor **, const tsr_tensor *);
typedef tsr_status (*binary_fn)(tsr_tensor **, const tsr_tensor *, const tsr_tensor *);

typedef struct dtype_case { tsr_dtype dtype; double unit; } dtype_case;
static const dtype_case reals[] = {
    { TSR_F64, 0x1p-52 }, { TSR_F32, 0x1p-23 }, { TSR_F16, 0x1p-10 }, { TSR_BF16, 0x1p-7 },
    { TSR_F8E5M2, 0x1p-2 },
};
static const dtype_case complexes[] = { { TSR_C128, 0x1p-52 }, { TSR_C64, 0x1p-23 } };

/* Kinds of operands ---------------------------------------------------------------------- */

/* Exact in every dtype. */
static const double samples[] = {
    NAN, -NAN, INF, -INF, 0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, -1.5, 2, -2, 2.5, -2.5, 3, -3, 7, -7, 20, -20,
    0x1p-10, -0x1p-10,
};
enum { SAMPLES = sizeof samples / sizeof *samples, PAIRS = SAMPLES * SAMPLES };

typedef enum kind {
    ANY, A_NAN, NUMBER, SIGNED, UNSIGNED,          /* the last two by the sign bit */
    PLUS_0, MINUS_0, ZERO, NOT_0, ONE, MINUS_1, UNIT, NOT_1,
    PLUS_INF, MINUS_INF, INFINITE, FINITE, NONZERO, POSITIVE, NEGATIVE,  /* the last three finite */
    ABOVE_0, BELOW_0, ABOVE_1, BELOW_1, BELOW_MINUS_1, INSIDE_1, OUTSIDE_1,
    WHOLE, FRACTION, ODD_ABOVE_0, OTHER_ABOVE_0, ODD_BELOW_0, OTHER_BELOW_0,
} kind;

static bool is_odd(double v) { return isfinite(v) && fmod(fabs(v), 2) == 1; }

static bool is_kind(kind k, double v)
{
    switch (k) {
    case ANY:           return true;
    case A_NAN:         return isnan(v);
    case NUMBER:        return !isnan(v);
    case SIGNED:        return signbit(v);
    case UNSIGNED:      return !signbit(v);
    case PLUS_0:        return v == 0 && !signbit(v);
    case MINUS_0:       return v == 0 && signbit(v);
    case ZERO:          return v == 0;
    case NOT_0:         return v != 0;
    case ONE:           return v == 1;
    case MINUS_1:       return v == -1;
    case UNIT:          return fabs(v) == 1;
    case NOT_1:         return v != 1;
    case PLUS_INF:      return v == INF;
    case MINUS_INF:     return v == -INF;
    case INFINITE:      return isinf(v);
    case FINITE:        return isfinite(v);
    case NONZERO:       return isfinite(v) && v != 0;
    case POSITIVE:      return isfinite(v) && v > 0;
    case NEGATIVE:      return isfinite(v) && v < 0;
    case ABOVE_0:       return v > 0;
    case BELOW_0:       return v < 0;
    case ABOVE_1:       return v > 1;
    case BELOW_1:       return v < 1;
    case BELOW_MINUS_1: return v < -1;
    case INSIDE_1:      return fabs(v) < 1;
    case OUTSIDE_1:     return fabs(v) > 1;
    case WHOLE:         return isfinite(v) && v == trunc(v);
    case FRACTION:      return isfinite(v) && v != trunc(v);
    case ODD_ABOVE_0:   return v > 0 && is_odd(v);
    case OTHER_ABOVE_0: return v > 0 && !is_odd(v);
    case ODD_BELOW_0:   return v < 0 && is_odd(v);
    case OTHER_BELOW_0: return v < 0 && !is_odd(v);
    }
    return false;
}

/* Results --------------------------------------------------------------------------------- */

typedef enum result {
    IS_ANYTHING, IS_NAN, IS_SIGNED_NAN, IS_UNSIGNED_NAN,
    IS_PLUS_0, IS_MINUS_0, IS_ANY_0, IS_1, IS_MINUS_1, IS_INF, IS_MINUS_INF, IS_ANY_INF,
    IS_X, IS_Y, IS_ABS_X, IS_ABS_Y, IS_MINUS_ABS_X, IS_EVEN_X,
    IS_PI, IS_MINUS_PI, IS_PI_2, IS_MINUS_PI_2, IS_ANY_PI_2, IS_PI_4, IS_MINUS_PI_4, IS_3PI_4, IS_MINUS_3PI_4,
    IS_ABOVE_0, IS_BELOW_0,                             /* or a zero of that sign */
    IS_INF_COS_Y, IS_INF_SIN_Y, IS_0_COS_Y, IS_0_SIN_Y, /* of the sign that cos y or sin y has */
    IS_FALSE = IS_PLUS_0, IS_TRUE = IS_1,
} result;

/* NaN with NaN, zeros with their sign, others within a unit. */
static bool is_same(double got, double want, double unit)
{
    if (isnan(want)) return isnan(got);
    if (isinf(want)) return got == want;
    if (want == 0) return got == 0 && !signbit(got) == !signbit(want);
    return fabs(got - want) <= unit * fabs(want);
}

/* The value that a result names, of operands x and y. */
static double value_of(result r, double x, double y)
{
    switch (r) {
    case IS_PLUS_0:      return 0.0;
    case IS_MINUS_0:     return -0.0;
    case IS_1:           return 1;
    case IS_MINUS_1:     return -1;
    case IS_INF:         return INF;
    case IS_MINUS_INF:   return -INF;
    case IS_X:           return x;
    case IS_Y:           return y;
    case IS_ABS_X:       return fabs(x);
    case IS_ABS_Y:       return fabs(y);
    case IS_MINUS_ABS_X: return -fabs(x);
    case IS_EVEN_X:      return copysign(2 * nearbyint(x / 2), x);
    case IS_PI:          return PI;
    case IS_MINUS_PI:    return -PI;
    case IS_PI_2:        return PI / 2;
    case IS_MINUS_PI_2:  return -PI / 2;
    case IS_PI_4:        return PI / 4;
    case IS_MINUS_PI_4:  return -PI / 4;
    case IS_3PI_4:       return 3 * PI / 4;
    case IS_MINUS_3PI_4: return -3 * PI / 4;
    case IS_INF_COS_Y:   return copysign(INF, cos(y));
    case IS_INF_SIN_Y:   return copysign(INF, sin(y));
    case IS_0_COS_Y:     return copysign(0, cos(y));
    case IS_0_SIN_Y:     return copysign(0, sin(y));
    default:             return NAN;
    }
}

static bool is_result(result r, double x, double y, double got, double unit)
{
    switch (r) {
    case IS_ANYTHING:     return true;
    case IS_NAN:          return isnan(got);
    case IS_SIGNED_NAN:   return isnan(got) && signbit(got);
    case IS_UNSIGNED_NAN: return isnan(got) && !signbit(got);
    case IS_ANY_0:        return got == 0;
    case IS_ANY_INF:      return isinf(got);
    case IS_ANY_PI_2:     return is_same(fabs(got), PI / 2, unit);
    case IS_ABOVE_0:      return !isnan(got) && !signbit(got);
    case IS_BELOW_0:      return !isnan(got) && signbit(got);
    default:              return is_same(got, value_of(r, x, y), unit);
    }
}

/* Running ---------------------------------------------------------------------------------- */

/* Sample pairs, as first and second operands or as real and imaginary parts. */
static double first(int64_t i) { return samples[i / SAMPLES]; }
static double second(int64_t i) { return samples[i % SAMPLES]; }

/* A row of PAIRS elements with `gap` elements from each to the next. */
static tsr_tensor *row_of(tsr_dtype dtype, int64_t gap)
{
    tsr_tensor *wide = NULL, *row = NULL;
    EXPECT_OK(tsr_empty(&wide, dtype, TSR_SHAPE(PAIRS * gap)));
    EXPECT_OK(tsr_slice(&row, wide, 0, 0, PAIRS * gap, gap));
    tsr_release(&wide);
    return row;
}

static tsr_tensor *samples_in(tsr_dtype dtype, double (*of)(int64_t), int64_t gap)
{
    double v[PAIRS];
    tsr_tensor *exact = NULL, *row = row_of(dtype, gap);
    for (int64_t i = 0; i < PAIRS; i++) v[i] = of(i);
    EXPECT_OK(tsr_from_data(&exact, TSR_F64, TSR_SHAPE(PAIRS), v));
    EXPECT_OK(tsr_copy(row, exact));
    tsr_release(&exact);
    return row;
}

static tsr_tensor *complex_samples_in(tsr_dtype dtype, int64_t gap)
{
    tsr_c128 v[PAIRS];
    tsr_tensor *exact = NULL, *row = row_of(dtype, gap);
    for (int64_t i = 0; i < PAIRS; i++) v[i] = (tsr_c128){ first(i), second(i) };
    EXPECT_OK(tsr_from_data(&exact, TSR_C128, TSR_SHAPE(PAIRS), v));
    EXPECT_OK(tsr_copy(row, exact));
    tsr_release(&exact);
    return row;
}

static void values_of(tsr_c128 *v, tsr_tensor **t)
{
    tsr_scalar s = tsr_scalar_i64(0);
    for (int64_t i = 0; i < PAIRS; i++) {
        EXPECT_OK(tsr_get(&s, *t, TSR_INDEX(i)));
        v[i] = tsr_scalar_to_c128(s);
    }
    tsr_release(t);
}

/* z = fn(x) over all pairs; real functions take the first of each. */
static void run_unary(tsr_c128 *z, unary_fn fn, tsr_dtype dtype, int64_t gap)
{
    const bool is_complex = dtype == TSR_C64 || dtype == TSR_C128;
    tsr_tensor *x = is_complex ? complex_samples_in(dtype, gap) : samples_in(dtype, first, gap), *out = NULL;
    EXPECT_OK(fn(&out, x));
    tsr_release(&x);
    values_of(z, &out);
}

static void run_binary(tsr_c128 *z, binary_fn fn, tsr_dtype dtype, int64_t gap)
{
    tsr_tensor *x = samples_in(dtype, first, gap), *y = samples_in(dtype, second, gap), *out = NULL;
    EXPECT_OK(fn(&out, x, y));
    tsr_release_all(&x, &y);
    values_of(z, &out);
}

/* Rules ------------------------------------------------------------------------------------- */

/* What x, and what y, or what parts of x: what z, or what parts of z. */
typedef struct rule { kind x, y; result re, im; } rule;

static void expect_rules(const char *name, const tsr_c128 *z, const dtype_case *d, const rule *rules,
                         size_t n)
{
    for (size_t r = 0; r < n; r++) {
        int found = 0;
        for (int64_t i = 0; i < PAIRS; i++) {
            const double x = first(i), y = second(i);
            if (!is_kind(rules[r].x, x) || !is_kind(rules[r].y, y)) continue;
            found++;
            EXPECT_MSG(is_result(rules[r].re, x, y, z[i].re, d->unit) &&
                       is_result(rules[r].im, x, y, z[i].im, d->unit),
                       "%s(%g, %g) in %s is (%g, %g), against rule %zu", name, x, y,
                       tsr_dtype_name(d->dtype), z[i].re, z[i].im, r);
        }
        EXPECT_MSG(found > 0, "%s: nothing falls under rule %zu", name, r);
    }
}

static void expect_unary(const char *name, unary_fn fn, const dtype_case *d, size_t nd, const rule *rules,
                         size_t n)
{
    tsr_c128 z[PAIRS];
    for (size_t i = 0; i < nd; i++)
        for (int64_t gap = 1; gap <= 3; gap += 2) {
            run_unary(z, fn, d[i].dtype, gap);
            expect_rules(name, z, &d[i], rules, n);
        }
}

static void expect_binary(const char *name, binary_fn fn, const rule *rules, size_t n)
{
    tsr_c128 z[PAIRS];
    for (size_t i = 0; i < COUNT(reals); i++)
        for (int64_t gap = 1; gap <= 3; gap += 2) {
            run_binary(z, fn, reals[i].dtype, gap);
            expect_rules(name, z, &reals[i], rules, n);
        }
}

#define R1(k, r) { k, ANY, r, IS_ANYTHING }
#define R2(kx, ky, r) { kx, ky, r, IS_ANYTHING }

#define UNARY(name, ...)                                                                \
    do {                                                                                \
        static const rule rules_[] = { __VA_ARGS__ };                                   \
        expect_unary(#name, tsr_##name, reals, COUNT(reals), rules_, COUNT(rules_));    \
    } while (0)
#define BINARY(name, ...)                                                               \
    do {                                                                                \
        static const rule rules_[] = { __VA_ARGS__ };                                   \
        expect_binary(#name, tsr_##name, rules_, COUNT(rules_));                        \
    } while (0)
#define COMPLEX(name, ...)                                                              \
    do {                                                                                \
        static const rule rules_[] = { __VA_ARGS__ };                                   \
        expect_unary(#name, tsr_##name, complexes, COUNT(complexes), rules_, COUNT(rules_)); \
    } while (0)

/* One real operand ---------------------------------------------------------------------------- */

TEST(test_signs_at_special_values_are_as_the_standard_says)
{
    UNARY(abs, R1(A_NAN, IS_NAN), R1(MINUS_0, IS_PLUS_0), R1(MINUS_INF, IS_INF), R1(FINITE, IS_ABS_X));
    UNARY(sign, R1(BELOW_0, IS_MINUS_1), R1(ZERO, IS_PLUS_0), R1(ABOVE_0, IS_1), R1(A_NAN, IS_NAN));
    UNARY(signbit, R1(SIGNED, IS_TRUE), R1(UNSIGNED, IS_FALSE));
    UNARY(neg, R1(PLUS_0, IS_MINUS_0), R1(MINUS_0, IS_PLUS_0), R1(PLUS_INF, IS_MINUS_INF), R1(A_NAN, IS_NAN));
    UNARY(conj, R1(NUMBER, IS_X), R1(A_NAN, IS_NAN));
    UNARY(real, R1(NUMBER, IS_X), R1(A_NAN, IS_NAN));
}

TEST(test_inverse_functions_at_special_values_are_as_the_standard_says)
{
    UNARY(acos, R1(A_NAN, IS_NAN), R1(ABOVE_1, IS_NAN), R1(BELOW_MINUS_1, IS_NAN), R1(ONE, IS_PLUS_0),
          R1(MINUS_1, IS_PI), R1(ZERO, IS_PI_2));
    UNARY(acosh, R1(A_NAN, IS_NAN), R1(BELOW_1, IS_NAN), R1(ONE, IS_PLUS_0), R1(PLUS_INF, IS_INF));
    UNARY(asin, R1(A_NAN, IS_NAN), R1(ABOVE_1, IS_NAN), R1(BELOW_MINUS_1, IS_NAN), R1(ZERO, IS_X),
          R1(ONE, IS_PI_2), R1(MINUS_1, IS_MINUS_PI_2));
    UNARY(asinh, R1(A_NAN, IS_NAN), R1(ZERO, IS_X), R1(INFINITE, IS_X));
    UNARY(atan, R1(A_NAN, IS_NAN), R1(ZERO, IS_X), R1(PLUS_INF, IS_PI_2), R1(MINUS_INF, IS_MINUS_PI_2));
    UNARY(atanh, R1(A_NAN, IS_NAN), R1(BELOW_MINUS_1, IS_NAN), R1(ABOVE_1, IS_NAN), R1(MINUS_1, IS_MINUS_INF),
          R1(ONE, IS_INF), R1(ZERO, IS_X));
}

TEST(test_circular_and_hyperbolic_functions_at_special_values_are_as_the_standard_says)
{
    UNARY(cos, R1(A_NAN, IS_NAN), R1(ZERO, IS_1), R1(INFINITE, IS_NAN));
    UNARY(sin, R1(A_NAN, IS_NAN), R1(ZERO, IS_X), R1(INFINITE, IS_NAN));
    UNARY(tan, R1(A_NAN, IS_NAN), R1(ZERO, IS_X), R1(INFINITE, IS_NAN));
    UNARY(cosh, R1(A_NAN, IS_NAN), R1(ZERO, IS_1), R1(INFINITE, IS_INF));
    UNARY(sinh, R1(A_NAN, IS_NAN), R1(ZERO, IS_X), R1(INFINITE, IS_X));
    UNARY(tanh, R1(A_NAN, IS_NAN), R1(ZERO, IS_X), R1(PLUS_INF, IS_1), R1(MINUS_INF, IS_MINUS_1));
}

TEST(test_exponentials_and_logarithms_at_special_values_are_as_the_standard_says)
{
    UNARY(exp, R1(A_NAN, IS_NAN), R1(ZERO, IS_1), R1(PLUS_INF, IS_INF), R1(MINUS_INF, IS_PLUS_0));
    UNARY(exp2, R1(A_NAN, IS_NAN), R1(ZERO, IS_1), R1(PLUS_INF, IS_INF), R1(MINUS_INF, IS_PLUS_0));
    UNARY(expm1, R1(A_NAN, IS_NAN), R1(ZERO, IS_X), R1(PLUS_INF, IS_INF), R1(MINUS_INF, IS_MINUS_1));
#define LOGARITHM R1(A_NAN, IS_NAN), R1(BELOW_0, IS_NAN), R1(ZERO, IS_MINUS_INF), R1(ONE, IS_PLUS_0), \
                  R1(PLUS_INF, IS_INF)
    UNARY(log, LOGARITHM);
    UNARY(log2, LOGARITHM);
    UNARY(log10, LOGARITHM);
#undef LOGARITHM
    UNARY(log1p, R1(A_NAN, IS_NAN), R1(BELOW_MINUS_1, IS_NAN), R1(MINUS_1, IS_MINUS_INF), R1(ZERO, IS_X),
          R1(PLUS_INF, IS_INF));
}

TEST(test_roundings_at_special_values_are_as_the_standard_says)
{
#define ROUNDED R1(WHOLE, IS_X), R1(INFINITE, IS_X), R1(ZERO, IS_X), R1(A_NAN, IS_NAN)
    UNARY(ceil, ROUNDED, R1(NEGATIVE, IS_BELOW_0));
    UNARY(floor, ROUNDED, R1(POSITIVE, IS_ABOVE_0));
    UNARY(trunc, ROUNDED, R1(NEGATIVE, IS_BELOW_0), R1(POSITIVE, IS_ABOVE_0));
    UNARY(round, ROUNDED);
#undef ROUNDED
}

/* The samples have 0.5, 1.5 and 2.5 and no other halves. */
TEST(test_round_takes_halves_to_even)
{
    tsr_c128 z[PAIRS];
    for (size_t d = 0; d < COUNT(reals); d++) {
        run_unary(z, tsr_round, reals[d].dtype, 1);
        for (int64_t i = 0; i < PAIRS; i++)
            if (is_kind(FRACTION, first(i)) && fabs(first(i)) >= 0.5)
                EXPECT_MSG(is_result(IS_EVEN_X, first(i), 0, z[i].re, 0), "round(%g) in %s is %g", first(i),
                           tsr_dtype_name(reals[d].dtype), z[i].re);
    }
}

TEST(test_powers_at_special_values_are_as_the_standard_says)
{
    UNARY(sqrt, R1(A_NAN, IS_NAN), R1(BELOW_0, IS_NAN), R1(ZERO, IS_X), R1(PLUS_INF, IS_INF));
    UNARY(square, R1(A_NAN, IS_NAN), R1(INFINITE, IS_INF), R1(ZERO, IS_PLUS_0), R1(NUMBER, IS_ABOVE_0));
    UNARY(reciprocal, R1(A_NAN, IS_NAN), R1(PLUS_0, IS_INF), R1(MINUS_0, IS_MINUS_INF),
          R1(PLUS_INF, IS_PLUS_0), R1(MINUS_INF, IS_MINUS_0), R1(POSITIVE, IS_ABOVE_0),
          R1(NEGATIVE, IS_BELOW_0));
    UNARY(rsqrt, R1(A_NAN, IS_NAN), R1(BELOW_0, IS_NAN), R1(PLUS_0, IS_INF), R1(MINUS_0, IS_MINUS_INF),
          R1(PLUS_INF, IS_PLUS_0));
}

TEST(test_questions_of_one_at_special_values_are_as_the_standard_says)
{
    UNARY(isfinite, R1(FINITE, IS_TRUE), R1(INFINITE, IS_FALSE), R1(A_NAN, IS_FALSE));
    UNARY(isinf, R1(FINITE, IS_FALSE), R1(INFINITE, IS_TRUE), R1(A_NAN, IS_FALSE));
    UNARY(isnan, R1(NUMBER, IS_FALSE), R1(A_NAN, IS_TRUE));
    UNARY(logical_not, R1(ZERO, IS_TRUE), R1(NOT_0, IS_FALSE));
}

/* Beyond the standard: what the activations do at the ends. */
TEST(test_activations_go_to_their_limits)
{
    UNARY(relu, R1(A_NAN, IS_NAN), R1(ZERO, IS_PLUS_0), R1(ABOVE_0, IS_X), R1(BELOW_0, IS_PLUS_0));
    UNARY(sigmoid, R1(A_NAN, IS_NAN), R1(PLUS_INF, IS_1), R1(MINUS_INF, IS_PLUS_0), R1(NUMBER, IS_ABOVE_0));
#define GATE R1(A_NAN, IS_NAN), R1(ZERO, IS_X), R1(PLUS_INF, IS_INF), R1(MINUS_INF, IS_MINUS_0), \
             R1(NEGATIVE, IS_BELOW_0), R1(POSITIVE, IS_ABOVE_0)
    UNARY(silu, GATE);
    UNARY(gelu, GATE);
    UNARY(gelu_tanh, GATE);
    UNARY(hardswish, GATE);
#undef GATE
    UNARY(softplus, R1(A_NAN, IS_NAN), R1(PLUS_INF, IS_INF), R1(MINUS_INF, IS_PLUS_0),
          R1(NUMBER, IS_ABOVE_0));
    UNARY(erf, R1(A_NAN, IS_NAN), R1(ZERO, IS_X), R1(PLUS_INF, IS_1), R1(MINUS_INF, IS_MINUS_1));
    UNARY(erfc, R1(A_NAN, IS_NAN), R1(ZERO, IS_1), R1(PLUS_INF, IS_PLUS_0), R1(NUMBER, IS_ABOVE_0));
    UNARY(erfinv, R1(A_NAN, IS_NAN), R1(ZERO, IS_X), R1(ONE, IS_INF), R1(MINUS_1, IS_MINUS_INF),
          R1(OUTSIDE_1, IS_NAN));
    UNARY(lgamma, R1(A_NAN, IS_NAN), R1(INFINITE, IS_INF), R1(ZERO, IS_INF), R1(ONE, IS_PLUS_0));
    UNARY(digamma, R1(A_NAN, IS_NAN), R1(PLUS_INF, IS_INF), R1(MINUS_INF, IS_NAN), R1(PLUS_0, IS_MINUS_INF),
          R1(MINUS_0, IS_INF), R1(MINUS_1, IS_NAN));
    UNARY(i0, R1(A_NAN, IS_NAN), R1(INFINITE, IS_INF), R1(ZERO, IS_1), R1(NUMBER, IS_ABOVE_0));
    UNARY(angle, R1(A_NAN, IS_NAN), R1(BELOW_0, IS_PI), R1(MINUS_0, IS_PI), R1(PLUS_0, IS_PLUS_0),
          R1(ABOVE_0, IS_PLUS_0));
}

/* The largest numbers of f64 do not overflow on the way. */
TEST(test_activations_keep_the_largest_numbers)
{
    static const unary_fn all[] = { tsr_relu, tsr_silu, tsr_gelu, tsr_gelu_tanh, tsr_softplus,
                                    tsr_hardswish };
    tsr_tensor *x = NULL, *z = NULL;
    double got = 0;
    EXPECT_OK(tsr_full(&x, TSR_F64, TSR_SHAPE(1), TSR_SCALAR(1.5e308)));
    for (size_t i = 0; i < COUNT(all); i++) {
        EXPECT_OK(all[i](&z, x));
        EXPECT_OK(tsr_item_f64(&got, z));
        EXPECT_MSG(got == 1.5e308, "activation %zu: %g", i, got);
        tsr_release(&z);
    }
    tsr_release(&x);
}

/* Two real operands -------------------------------------------------------------------------- */

TEST(test_add_and_subtract_at_special_values_are_as_the_standard_says)
{
    BINARY(add, R2(A_NAN, ANY, IS_NAN), R2(ANY, A_NAN, IS_NAN), R2(PLUS_INF, MINUS_INF, IS_NAN),
           R2(MINUS_INF, PLUS_INF, IS_NAN), R2(PLUS_INF, PLUS_INF, IS_INF),
           R2(MINUS_INF, MINUS_INF, IS_MINUS_INF), R2(INFINITE, FINITE, IS_X), R2(FINITE, INFINITE, IS_Y),
           R2(MINUS_0, MINUS_0, IS_MINUS_0), R2(MINUS_0, PLUS_0, IS_PLUS_0), R2(PLUS_0, ZERO, IS_PLUS_0),
           R2(ZERO, NONZERO, IS_Y), R2(NONZERO, ZERO, IS_X), R2(ONE, MINUS_1, IS_PLUS_0),
           R2(MINUS_1, ONE, IS_PLUS_0));
    BINARY(sub, R2(A_NAN, ANY, IS_NAN), R2(ANY, A_NAN, IS_NAN), R2(PLUS_INF, PLUS_INF, IS_NAN),
           R2(MINUS_INF, MINUS_INF, IS_NAN), R2(PLUS_INF, MINUS_INF, IS_INF), R2(INFINITE, FINITE, IS_X),
           R2(FINITE, PLUS_INF, IS_MINUS_INF), R2(FINITE, MINUS_INF, IS_INF), R2(MINUS_0, PLUS_0, IS_MINUS_0),
           R2(MINUS_0, MINUS_0, IS_PLUS_0), R2(PLUS_0, ZERO, IS_PLUS_0), R2(NONZERO, ZERO, IS_X),
           R2(ONE, ONE, IS_PLUS_0));
}

TEST(test_multiply_at_special_values_is_as_the_standard_says)
{
    BINARY(mul, R2(A_NAN, ANY, IS_NAN), R2(ANY, A_NAN, IS_NAN), R2(INFINITE, ZERO, IS_NAN),
           R2(ZERO, INFINITE, IS_NAN), R2(PLUS_INF, ABOVE_0, IS_INF), R2(PLUS_INF, BELOW_0, IS_MINUS_INF),
           R2(MINUS_INF, ABOVE_0, IS_MINUS_INF), R2(MINUS_INF, BELOW_0, IS_INF),
           R2(POSITIVE, PLUS_INF, IS_INF), R2(NEGATIVE, PLUS_INF, IS_MINUS_INF),
           R2(POSITIVE, MINUS_INF, IS_MINUS_INF), R2(NEGATIVE, MINUS_INF, IS_INF),
           R2(POSITIVE, POSITIVE, IS_ABOVE_0), R2(NEGATIVE, NEGATIVE, IS_ABOVE_0),
           R2(POSITIVE, NEGATIVE, IS_BELOW_0), R2(NEGATIVE, POSITIVE, IS_BELOW_0),
           R2(PLUS_0, POSITIVE, IS_PLUS_0), R2(PLUS_0, NEGATIVE, IS_MINUS_0),
           R2(MINUS_0, NEGATIVE, IS_PLUS_0), R2(MINUS_0, PLUS_0, IS_MINUS_0),
           R2(MINUS_0, MINUS_0, IS_PLUS_0));
}

/* What divide and floor_divide share. */
#define QUOTIENT                                                                                          \
    R2(A_NAN, ANY, IS_NAN), R2(ANY, A_NAN, IS_NAN), R2(INFINITE, INFINITE, IS_NAN),                        \
    R2(ZERO, ZERO, IS_NAN), R2(PLUS_0, POSITIVE, IS_PLUS_0), R2(MINUS_0, POSITIVE, IS_MINUS_0),            \
    R2(PLUS_0, NEGATIVE, IS_MINUS_0), R2(MINUS_0, NEGATIVE, IS_PLUS_0), R2(POSITIVE, PLUS_0, IS_INF),      \
    R2(POSITIVE, MINUS_0, IS_MINUS_INF), R2(NEGATIVE, PLUS_0, IS_MINUS_INF),                               \
    R2(NEGATIVE, MINUS_0, IS_INF), R2(PLUS_INF, PLUS_0, IS_INF), R2(PLUS_INF, MINUS_0, IS_MINUS_INF),      \
    R2(MINUS_INF, PLUS_0, IS_MINUS_INF), R2(MINUS_INF, MINUS_0, IS_INF), R2(PLUS_INF, POSITIVE, IS_INF),   \
    R2(PLUS_INF, NEGATIVE, IS_MINUS_INF), R2(MINUS_INF, POSITIVE, IS_MINUS_INF),                           \
    R2(MINUS_INF, NEGATIVE, IS_INF), R2(PLUS_0, PLUS_INF, IS_PLUS_0), R2(MINUS_0, PLUS_INF, IS_MINUS_0),   \
    R2(PLUS_0, MINUS_INF, IS_MINUS_0), R2(MINUS_0, MINUS_INF, IS_PLUS_0),                                  \
    R2(POSITIVE, PLUS_INF, IS_PLUS_0), R2(NEGATIVE, MINUS_INF, IS_PLUS_0),                                 \
    R2(POSITIVE, POSITIVE, IS_ABOVE_0), R2(NEGATIVE, NEGATIVE, IS_ABOVE_0),                                \
    R2(POSITIVE, NEGATIVE, IS_BELOW_0), R2(NEGATIVE, POSITIVE, IS_BELOW_0)

TEST(test_divide_at_special_values_is_as_the_standard_says)
{
    BINARY(div, QUOTIENT, R2(POSITIVE, MINUS_INF, IS_MINUS_0), R2(NEGATIVE, PLUS_INF, IS_MINUS_0));
}

/* A finite number by an infinity of the other sign is -0. The standard also allows Python's -1. */
TEST(test_floor_divide_at_special_values_is_as_the_standard_says)
{
    BINARY(floor_div, QUOTIENT, R2(POSITIVE, MINUS_INF, IS_MINUS_0), R2(NEGATIVE, PLUS_INF, IS_MINUS_0));
}

TEST(test_remainder_at_special_values_is_as_the_standard_says)
{
    BINARY(remainder, R2(A_NAN, ANY, IS_NAN), R2(ANY, A_NAN, IS_NAN), R2(INFINITE, ANY, IS_NAN),
           R2(ANY, ZERO, IS_NAN), R2(ZERO, ABOVE_0, IS_PLUS_0), R2(ZERO, BELOW_0, IS_MINUS_0),
           R2(POSITIVE, PLUS_INF, IS_X), R2(POSITIVE, MINUS_INF, IS_Y), R2(NEGATIVE, PLUS_INF, IS_Y),
           R2(NEGATIVE, MINUS_INF, IS_X), R2(FINITE, POSITIVE, IS_ABOVE_0), R2(FINITE, NEGATIVE, IS_BELOW_0),
           R2(WHOLE, ONE, IS_PLUS_0), R2(WHOLE, MINUS_1, IS_MINUS_0));
}

/* What Python's % gives, also where the sum with the divisor rounds up to it. */
TEST(test_remainder_is_that_of_python)
{
    static const double rows[][3] = {
        { 5, 2, 1 }, { -5, 2, 1 }, { 5, -2, -1 }, { -5, -2, -1 }, { 1.25, 0.5, 0.25 }, { -1.25, 0.5, 0.25 },
        { -1e-300, 3, 3 }, { 1e-300, -3, -3 }, { 1e300, 7, 1 }, { 5.5, 0x1p-1074, 0.0 },
    };
    for (size_t r = 0; r < COUNT(rows); r++) {
        tsr_tensor *x = NULL, *z = NULL;
        double got = 0;
        EXPECT_OK(tsr_full(&x, TSR_F64, TSR_SHAPE(1), TSR_SCALAR(rows[r][0])));
        EXPECT_OK(tsr_remainder(&z, x, TSR_NUMBER(rows[r][1])));
        EXPECT_OK(tsr_item_f64(&got, z));
        EXPECT_MSG(is_same(got, rows[r][2], 0), "%g %% %g is %g", rows[r][0], rows[r][1], got);
        tsr_release_all(&x, &z);
    }
}

TEST(test_pow_at_special_values_is_as_the_standard_says)
{
    BINARY(pow, R2(NOT_1, A_NAN, IS_NAN), R2(ONE, ANY, IS_1), R2(ANY, ZERO, IS_1), R2(A_NAN, NOT_0, IS_NAN),
           R2(OUTSIDE_1, PLUS_INF, IS_INF), R2(OUTSIDE_1, MINUS_INF, IS_PLUS_0), R2(UNIT, INFINITE, IS_1),
           R2(INSIDE_1, PLUS_INF, IS_PLUS_0), R2(INSIDE_1, MINUS_INF, IS_INF), R2(PLUS_INF, ABOVE_0, IS_INF),
           R2(PLUS_INF, BELOW_0, IS_PLUS_0), R2(MINUS_INF, ODD_ABOVE_0, IS_MINUS_INF),
           R2(MINUS_INF, OTHER_ABOVE_0, IS_INF), R2(MINUS_INF, ODD_BELOW_0, IS_MINUS_0),
           R2(MINUS_INF, OTHER_BELOW_0, IS_PLUS_0), R2(PLUS_0, ABOVE_0, IS_PLUS_0),
           R2(PLUS_0, BELOW_0, IS_INF), R2(MINUS_0, ODD_ABOVE_0, IS_MINUS_0),
           R2(MINUS_0, OTHER_ABOVE_0, IS_PLUS_0), R2(MINUS_0, ODD_BELOW_0, IS_MINUS_INF),
           R2(MINUS_0, OTHER_BELOW_0, IS_INF), R2(NEGATIVE, FRACTION, IS_NAN), R2(NUMBER, ONE, IS_X));
}

TEST(test_atan2_at_special_values_is_as_the_standard_says)
{
    BINARY(atan2, R2(A_NAN, ANY, IS_NAN), R2(ANY, A_NAN, IS_NAN), R2(ABOVE_0, ZERO, IS_PI_2),
           R2(BELOW_0, ZERO, IS_MINUS_PI_2), R2(ZERO, ABOVE_0, IS_X), R2(ZERO, PLUS_0, IS_X),
           R2(PLUS_0, MINUS_0, IS_PI), R2(PLUS_0, BELOW_0, IS_PI), R2(MINUS_0, MINUS_0, IS_MINUS_PI),
           R2(MINUS_0, BELOW_0, IS_MINUS_PI), R2(POSITIVE, PLUS_INF, IS_PLUS_0),
           R2(POSITIVE, MINUS_INF, IS_PI), R2(NEGATIVE, PLUS_INF, IS_MINUS_0),
           R2(NEGATIVE, MINUS_INF, IS_MINUS_PI), R2(PLUS_INF, FINITE, IS_PI_2),
           R2(MINUS_INF, FINITE, IS_MINUS_PI_2), R2(PLUS_INF, PLUS_INF, IS_PI_4),
           R2(PLUS_INF, MINUS_INF, IS_3PI_4), R2(MINUS_INF, PLUS_INF, IS_MINUS_PI_4),
           R2(MINUS_INF, MINUS_INF, IS_MINUS_3PI_4));
}

TEST(test_hypot_at_special_values_is_as_the_standard_says)
{
    BINARY(hypot, R2(INFINITE, ANY, IS_INF), R2(ANY, INFINITE, IS_INF), R2(ZERO, ANY, IS_ABS_Y),
           R2(ANY, ZERO, IS_ABS_X), R2(FINITE, A_NAN, IS_NAN), R2(A_NAN, FINITE, IS_NAN),
           R2(A_NAN, A_NAN, IS_NAN));
}

static tsr_status hypot_exchanged(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y)
{
    tsr_tensor *minus = NULL;
    EXPECT_OK(tsr_neg(&minus, x));
    const tsr_status s = tsr_hypot(out, y, minus);
    tsr_release(&minus);
    return s;
}

TEST(test_hypot_does_not_depend_on_order_and_signs)
{
    tsr_c128 z[PAIRS], rotated[PAIRS];
    for (size_t d = 0; d < COUNT(reals); d++) {
        run_binary(z, tsr_hypot, reals[d].dtype, 1);
        run_binary(rotated, hypot_exchanged, reals[d].dtype, 1);
        for (int64_t i = 0; i < PAIRS; i++) EXPECT(is_same(rotated[i].re, z[i].re, 0));
    }
}

TEST(test_copysign_at_special_values_is_as_the_standard_says)
{
    BINARY(copysign, R2(NUMBER, SIGNED, IS_MINUS_ABS_X), R2(NUMBER, UNSIGNED, IS_ABS_X),
           R2(A_NAN, SIGNED, IS_SIGNED_NAN), R2(A_NAN, UNSIGNED, IS_UNSIGNED_NAN));
}

TEST(test_logaddexp_at_special_values_is_as_the_standard_says)
{
    BINARY(logaddexp, R2(A_NAN, ANY, IS_NAN), R2(ANY, A_NAN, IS_NAN), R2(PLUS_INF, NUMBER, IS_INF),
           R2(NUMBER, PLUS_INF, IS_INF), R2(MINUS_INF, NONZERO, IS_Y), R2(NONZERO, MINUS_INF, IS_X),
           R2(MINUS_INF, MINUS_INF, IS_MINUS_INF));
}

/* Of two zeros the standard takes either: here +0 is the larger. */
TEST(test_maximum_and_minimum_at_special_values_are_as_the_standard_says)
{
    BINARY(maximum, R2(A_NAN, ANY, IS_NAN), R2(ANY, A_NAN, IS_NAN), R2(ZERO, PLUS_0, IS_PLUS_0),
           R2(PLUS_0, ZERO, IS_PLUS_0), R2(MINUS_INF, NUMBER, IS_Y), R2(NUMBER, PLUS_INF, IS_Y),
           R2(POSITIVE, BELOW_0, IS_X));
    BINARY(minimum, R2(A_NAN, ANY, IS_NAN), R2(ANY, A_NAN, IS_NAN), R2(ZERO, MINUS_0, IS_MINUS_0),
           R2(MINUS_0, ZERO, IS_MINUS_0), R2(MINUS_INF, NUMBER, IS_X), R2(NUMBER, PLUS_INF, IS_X),
           R2(POSITIVE, BELOW_0, IS_Y));
    BINARY(fmax, R2(A_NAN, ANY, IS_Y), R2(ANY, A_NAN, IS_X), R2(MINUS_INF, NUMBER, IS_Y));
    BINARY(fmin, R2(A_NAN, ANY, IS_Y), R2(ANY, A_NAN, IS_X), R2(PLUS_INF, NUMBER, IS_Y));
}

TEST(test_comparisons_at_special_values_are_as_the_standard_says)
{
#define NO_NAN(r) R2(A_NAN, ANY, r), R2(ANY, A_NAN, r)
    BINARY(eq, NO_NAN(IS_FALSE), R2(PLUS_INF, PLUS_INF, IS_TRUE), R2(MINUS_INF, MINUS_INF, IS_TRUE),
           R2(ZERO, ZERO, IS_TRUE), R2(ONE, ONE, IS_TRUE), R2(PLUS_INF, MINUS_INF, IS_FALSE),
           R2(FINITE, INFINITE, IS_FALSE), R2(ZERO, NONZERO, IS_FALSE));
    BINARY(ne, NO_NAN(IS_TRUE), R2(PLUS_INF, PLUS_INF, IS_FALSE), R2(MINUS_INF, MINUS_INF, IS_FALSE),
           R2(ZERO, ZERO, IS_FALSE), R2(ONE, ONE, IS_FALSE), R2(PLUS_INF, MINUS_INF, IS_TRUE),
           R2(MINUS_INF, PLUS_INF, IS_TRUE), R2(ZERO, NONZERO, IS_TRUE));
    BINARY(lt, NO_NAN(IS_FALSE), R2(ZERO, ZERO, IS_FALSE), R2(MINUS_INF, FINITE, IS_TRUE),
           R2(PLUS_INF, PLUS_INF, IS_FALSE));
    BINARY(le, NO_NAN(IS_FALSE), R2(ZERO, ZERO, IS_TRUE), R2(MINUS_INF, NUMBER, IS_TRUE),
           R2(PLUS_INF, FINITE, IS_FALSE));
    BINARY(gt, NO_NAN(IS_FALSE), R2(ZERO, ZERO, IS_FALSE), R2(PLUS_INF, FINITE, IS_TRUE),
           R2(MINUS_INF, NUMBER, IS_FALSE));
    BINARY(ge, NO_NAN(IS_FALSE), R2(ZERO, ZERO, IS_TRUE), R2(PLUS_INF, NUMBER, IS_TRUE),
           R2(MINUS_INF, FINITE, IS_FALSE));
#undef NO_NAN
    BINARY(logical_and, R2(NOT_0, NOT_0, IS_TRUE), R2(ZERO, ANY, IS_FALSE), R2(ANY, ZERO, IS_FALSE));
    BINARY(logical_or, R2(ZERO, ZERO, IS_FALSE), R2(NOT_0, ANY, IS_TRUE), R2(ANY, NOT_0, IS_TRUE));
    BINARY(logical_xor, R2(ZERO, ZERO, IS_FALSE), R2(NOT_0, NOT_0, IS_FALSE), R2(NOT_0, ZERO, IS_TRUE),
           R2(ZERO, NOT_0, IS_TRUE));
}

TEST(test_nextafter_at_special_values_is_as_the_standard_says)
{
    BINARY(nextafter, R2(A_NAN, ANY, IS_NAN), R2(ANY, A_NAN, IS_NAN), R2(ZERO, ZERO, IS_Y),
           R2(ONE, ONE, IS_1), R2(PLUS_INF, PLUS_INF, IS_INF), R2(MINUS_INF, MINUS_INF, IS_MINUS_INF),
           R2(ZERO, ABOVE_0, IS_ABOVE_0), R2(ZERO, BELOW_0, IS_BELOW_0));
}

/* Beside zeros, ones and the largest numbers of each dtype. */
TEST(test_nextafter_takes_the_next_number_of_the_dtype)
{
    static const double least[]   = { 0x1p-1074, 0x1p-149, 0x1p-24, 0x1p-133, 0x1p-16 };
    static const double largest[] = { 0x1.fffffffffffffp1023, 0x1.fffffep127, 65504, 0x1.fep127, 57344 };
    for (size_t d = 0; d < COUNT(reals); d++) {
        const double unit = reals[d].unit;
        const double rows[][3] = {
            { 0.0, 1, least[d] },     { 0.0, -1, -least[d] },       { -0.0, 1, least[d] },
            { -0.0, -INF, -least[d] }, { least[d], 0.0, 0.0 },   { -least[d], 1, -0.0 },
            { largest[d], INF, INF },   { -largest[d], -INF, -INF }, { INF, 0.0, largest[d] },
            { -INF, 0.0, -largest[d] },   { 1, INF, 1 + unit },       { 1, 0.0, 1 - unit / 2 },
            { -1, -INF, -1 - unit },  { -1, 0.0, -1 + unit / 2 },
        };
        for (size_t r = 0; r < COUNT(rows); r++) {
            tsr_tensor *x = NULL, *z = NULL;
            double got = 0;
            EXPECT_OK(tsr_full(&x, reals[d].dtype, TSR_SHAPE(1), TSR_SCALAR(rows[r][0])));
            EXPECT_OK(tsr_nextafter(&z, x, TSR_NUMBER(rows[r][1])));
            EXPECT_OK(tsr_item_f64(&got, z));
            EXPECT_MSG(is_same(got, rows[r][2], 0), "nextafter(%g, %g) in %s is %g", rows[r][0], rows[r][1],
                       tsr_dtype_name(reals[d].dtype), got);
            tsr_release_all(&x, &z);
        }
    }
}

/* Bounds that cross are left open; here the upper one wins. */
TEST(test_clip_at_special_values_is_as_the_standard_says)
{
    static const double rows[][4] = {
        { NAN, 0, 1, NAN }, { 0.5, NAN, 1, NAN }, { 0.5, 0, NAN, NAN }, { NAN, NAN, NAN, NAN },
        { INF, NAN, 1, NAN }, { -INF, 0, 1, 0.0 }, { INF, 0, 1, 1 }, { 0.5, 0, 1, 0.5 }, { 5, 3, 2, 2 },
        { 5, -INF, INF, 5 }, { -INF, -INF, INF, -INF },
    };
    for (size_t r = 0; r < COUNT(rows); r++)
        for (size_t d = 0; d < COUNT(reals); d++) {
            tsr_tensor *x = NULL, *z = NULL;
            double got = 0;
            EXPECT_OK(tsr_full(&x, reals[d].dtype, TSR_SHAPE(1), TSR_SCALAR(rows[r][0])));
            EXPECT_OK(tsr_clip(&z, x, TSR_NUMBER(rows[r][1]), TSR_NUMBER(rows[r][2])));
            EXPECT_OK(tsr_item_f64(&got, z));
            EXPECT_MSG(is_same(got, rows[r][3], 0), "clip(%g, %g, %g) in %s is %g", rows[r][0], rows[r][1],
                       rows[r][2], tsr_dtype_name(reals[d].dtype), got);
            tsr_release_all(&x, &z);
        }
}

/* Integers ---------------------------------------------------------------------------------- */

/* The edges that C leaves undefined. */
TEST(test_integers_wrap_at_their_ends)
{
    static const struct { binary_fn fn; int64_t x, y, z; } rows[] = {
        { tsr_floor_div, INT64_MIN, -1, INT64_MIN }, { tsr_remainder, INT64_MIN, -1, 0 },
        { tsr_floor_div, 7, 0, 0 },                  { tsr_remainder, 7, 0, 0 },
        { tsr_add, INT64_MAX, 1, INT64_MIN },        { tsr_sub, INT64_MIN, 1, INT64_MAX },
        { tsr_mul, INT64_MIN, -1, INT64_MIN },       { tsr_pow, 2, 63, INT64_MIN },
        { tsr_pow, 0, 0, 1 },                        { tsr_pow, 3, -1, 0 },
        { tsr_pow, -1, -3, -1 },                     { tsr_pow, 0, -1, 0 },
        { tsr_shift_left, 1, 64, 0 },                { tsr_shift_left, 1, -1, 0 },
        { tsr_shift_left, 1, 63, INT64_MIN },        { tsr_shift_right, -5, 64, -1 },
        { tsr_shift_right, -5, 1, -3 },              { tsr_shift_right, -5, -1, -1 },
        { tsr_shift_right, 5, 99, 0 },
    };
    tsr_tensor *x = NULL, *z = NULL;
    int64_t got = 0;
    for (size_t r = 0; r < COUNT(rows); r++) {
        EXPECT_OK(tsr_full(&x, TSR_I64, TSR_SHAPE(1), TSR_SCALAR(rows[r].x)));
        EXPECT_OK(rows[r].fn(&z, x, TSR_NUMBER(rows[r].y)));
        EXPECT_OK(tsr_item_i64(&got, z));
        EXPECT_MSG(got == rows[r].z, "row %zu: %lld, not %lld", r, (long long)got, (long long)rows[r].z);
        tsr_release_all(&x, &z);
    }
    EXPECT_OK(tsr_full(&x, TSR_I64, TSR_SHAPE(1), TSR_SCALAR(INT64_MIN)));
    EXPECT_OK(tsr_abs(&z, x));
    EXPECT_OK(tsr_item_i64(&got, z));
    EXPECT(got == INT64_MIN);
    tsr_release_all(&x, &z);
}

/* Complex ------------------------------------------------------------------------------------- */

#define NAN_NAN IS_NAN, IS_NAN

TEST(test_complex_exponentials_at_special_values_are_as_the_standard_says)
{
    COMPLEX(exp, { ZERO, PLUS_0, IS_1, IS_PLUS_0 }, { FINITE, PLUS_INF, NAN_NAN }, { FINITE, A_NAN, NAN_NAN },
            { PLUS_INF, PLUS_0, IS_INF, IS_PLUS_0 }, { MINUS_INF, FINITE, IS_0_COS_Y, IS_0_SIN_Y },
            { PLUS_INF, NONZERO, IS_INF_COS_Y, IS_INF_SIN_Y }, { MINUS_INF, PLUS_INF, IS_ANY_0, IS_ANY_0 },
            { PLUS_INF, PLUS_INF, IS_ANY_INF, IS_NAN }, { MINUS_INF, A_NAN, IS_ANY_0, IS_ANY_0 },
            { PLUS_INF, A_NAN, IS_ANY_INF, IS_NAN }, { A_NAN, PLUS_0, IS_NAN, IS_PLUS_0 },
            { A_NAN, NOT_0, NAN_NAN });
    COMPLEX(expm1, { ZERO, PLUS_0, IS_PLUS_0, IS_PLUS_0 }, { FINITE, PLUS_INF, NAN_NAN },
            { FINITE, A_NAN, NAN_NAN }, { PLUS_INF, PLUS_0, IS_INF, IS_PLUS_0 },
            { MINUS_INF, FINITE, IS_MINUS_1, IS_0_SIN_Y }, { PLUS_INF, NONZERO, IS_INF_COS_Y, IS_INF_SIN_Y },
            { MINUS_INF, PLUS_INF, IS_MINUS_1, IS_ANY_0 }, { PLUS_INF, PLUS_INF, IS_ANY_INF, IS_NAN },
            { MINUS_INF, A_NAN, IS_MINUS_1, IS_ANY_0 }, { PLUS_INF, A_NAN, IS_ANY_INF, IS_NAN },
            { A_NAN, PLUS_0, IS_NAN, IS_PLUS_0 }, { A_NAN, NOT_0, NAN_NAN });
}

TEST(test_complex_logarithms_at_special_values_are_as_the_standard_says)
{
#define LOGARITHM                                                                                         \
    { FINITE, PLUS_INF, IS_INF, IS_PI_2 }, { FINITE, A_NAN, NAN_NAN },                                     \
    { MINUS_INF, POSITIVE, IS_INF, IS_PI }, { PLUS_INF, POSITIVE, IS_INF, IS_PLUS_0 },                     \
    { MINUS_INF, PLUS_INF, IS_INF, IS_3PI_4 }, { PLUS_INF, PLUS_INF, IS_INF, IS_PI_4 },                    \
    { INFINITE, A_NAN, IS_INF, IS_NAN }, { A_NAN, FINITE, NAN_NAN }, { A_NAN, PLUS_INF, IS_INF, IS_NAN },  \
    { A_NAN, A_NAN, NAN_NAN }
    COMPLEX(log, { MINUS_0, PLUS_0, IS_MINUS_INF, IS_PI }, { PLUS_0, PLUS_0, IS_MINUS_INF, IS_PLUS_0 },
            LOGARITHM);
    COMPLEX(log1p, { MINUS_1, PLUS_0, IS_MINUS_INF, IS_PLUS_0 }, LOGARITHM,
            { PLUS_0, PLUS_0, IS_PLUS_0, IS_PLUS_0 });
#undef LOGARITHM
}

TEST(test_complex_roots_at_special_values_are_as_the_standard_says)
{
    COMPLEX(sqrt, { ZERO, PLUS_0, IS_PLUS_0, IS_PLUS_0 }, { ANY, PLUS_INF, IS_INF, IS_INF },
            { FINITE, A_NAN, NAN_NAN }, { MINUS_INF, POSITIVE, IS_PLUS_0, IS_INF },
            { PLUS_INF, POSITIVE, IS_INF, IS_PLUS_0 }, { MINUS_INF, A_NAN, IS_NAN, IS_ANY_INF },
            { PLUS_INF, A_NAN, IS_INF, IS_NAN }, { A_NAN, FINITE, NAN_NAN }, { A_NAN, A_NAN, NAN_NAN },
            { ONE, PLUS_0, IS_1, IS_PLUS_0 }, { MINUS_1, PLUS_0, IS_PLUS_0, IS_1 });
}

/* tanh of +0 and infinity or NaN is as the C standard has it since 2018. */
TEST(test_complex_hyperbolics_at_special_values_are_as_the_standard_says)
{
    COMPLEX(sinh, { PLUS_0, PLUS_0, IS_PLUS_0, IS_PLUS_0 }, { PLUS_0, PLUS_INF, IS_ANY_0, IS_NAN },
            { PLUS_0, A_NAN, IS_ANY_0, IS_NAN }, { POSITIVE, PLUS_INF, NAN_NAN },
            { POSITIVE, A_NAN, NAN_NAN }, { PLUS_INF, PLUS_0, IS_INF, IS_PLUS_0 },
            { PLUS_INF, POSITIVE, IS_INF_COS_Y, IS_INF_SIN_Y }, { PLUS_INF, PLUS_INF, IS_ANY_INF, IS_NAN },
            { PLUS_INF, A_NAN, IS_ANY_INF, IS_NAN }, { A_NAN, PLUS_0, IS_NAN, IS_PLUS_0 },
            { A_NAN, NONZERO, NAN_NAN }, { A_NAN, A_NAN, NAN_NAN });
    COMPLEX(cosh, { PLUS_0, PLUS_0, IS_1, IS_PLUS_0 }, { PLUS_0, PLUS_INF, IS_NAN, IS_ANY_0 },
            { PLUS_0, A_NAN, IS_NAN, IS_ANY_0 }, { NONZERO, PLUS_INF, NAN_NAN }, { NONZERO, A_NAN, NAN_NAN },
            { PLUS_INF, PLUS_0, IS_INF, IS_PLUS_0 }, { PLUS_INF, NONZERO, IS_INF_COS_Y, IS_INF_SIN_Y },
            { PLUS_INF, PLUS_INF, IS_ANY_INF, IS_NAN }, { PLUS_INF, A_NAN, IS_INF, IS_NAN },
            { A_NAN, ZERO, IS_NAN, IS_ANY_0 }, { A_NAN, NONZERO, NAN_NAN }, { A_NAN, A_NAN, NAN_NAN });
    COMPLEX(tanh, { PLUS_0, PLUS_0, IS_PLUS_0, IS_PLUS_0 }, { NONZERO, PLUS_INF, NAN_NAN },
            { PLUS_0, PLUS_INF, IS_PLUS_0, IS_NAN }, { NONZERO, A_NAN, NAN_NAN },
            { PLUS_0, A_NAN, IS_PLUS_0, IS_NAN }, { PLUS_INF, POSITIVE, IS_1, IS_PLUS_0 },
            { PLUS_INF, PLUS_INF, IS_1, IS_ANY_0 }, { PLUS_INF, A_NAN, IS_1, IS_ANY_0 },
            { A_NAN, PLUS_0, IS_NAN, IS_PLUS_0 }, { A_NAN, NOT_0, NAN_NAN });
}

TEST(test_complex_inverses_at_special_values_are_as_the_standard_says)
{
    COMPLEX(acos, { ZERO, PLUS_0, IS_PI_2, IS_MINUS_0 }, { ZERO, A_NAN, IS_PI_2, IS_NAN },
            { FINITE, PLUS_INF, IS_PI_2, IS_MINUS_INF }, { NONZERO, A_NAN, NAN_NAN },
            { MINUS_INF, POSITIVE, IS_PI, IS_MINUS_INF }, { PLUS_INF, POSITIVE, IS_PLUS_0, IS_MINUS_INF },
            { MINUS_INF, PLUS_INF, IS_3PI_4, IS_MINUS_INF }, { PLUS_INF, PLUS_INF, IS_PI_4, IS_MINUS_INF },
            { INFINITE, A_NAN, IS_NAN, IS_ANY_INF }, { A_NAN, FINITE, NAN_NAN },
            { A_NAN, PLUS_INF, IS_NAN, IS_MINUS_INF }, { A_NAN, A_NAN, NAN_NAN });
    COMPLEX(acosh, { ZERO, PLUS_0, IS_PLUS_0, IS_PI_2 }, { FINITE, PLUS_INF, IS_INF, IS_PI_2 },
            { NONZERO, A_NAN, NAN_NAN }, { PLUS_0, A_NAN, IS_NAN, IS_ANY_PI_2 },
            { MINUS_INF, POSITIVE, IS_INF, IS_PI }, { PLUS_INF, POSITIVE, IS_INF, IS_PLUS_0 },
            { MINUS_INF, PLUS_INF, IS_INF, IS_3PI_4 }, { PLUS_INF, PLUS_INF, IS_INF, IS_PI_4 },
            { INFINITE, A_NAN, IS_INF, IS_NAN }, { A_NAN, FINITE, NAN_NAN },
            { A_NAN, PLUS_INF, IS_INF, IS_NAN }, { A_NAN, A_NAN, NAN_NAN });
    COMPLEX(asinh, { PLUS_0, PLUS_0, IS_PLUS_0, IS_PLUS_0 }, { POSITIVE, PLUS_INF, IS_INF, IS_PI_2 },
            { FINITE, A_NAN, NAN_NAN }, { PLUS_INF, POSITIVE, IS_INF, IS_PLUS_0 },
            { PLUS_INF, PLUS_INF, IS_INF, IS_PI_4 }, { PLUS_INF, A_NAN, IS_INF, IS_NAN },
            { A_NAN, PLUS_0, IS_NAN, IS_PLUS_0 }, { A_NAN, NONZERO, NAN_NAN },
            { A_NAN, PLUS_INF, IS_ANY_INF, IS_NAN }, { A_NAN, A_NAN, NAN_NAN });
    COMPLEX(atanh, { PLUS_0, PLUS_0, IS_PLUS_0, IS_PLUS_0 }, { PLUS_0, A_NAN, IS_PLUS_0, IS_NAN },
            { ONE, PLUS_0, IS_INF, IS_PLUS_0 }, { POSITIVE, PLUS_INF, IS_PLUS_0, IS_PI_2 },
            { NONZERO, A_NAN, NAN_NAN }, { PLUS_INF, POSITIVE, IS_PLUS_0, IS_PI_2 },
            { PLUS_INF, PLUS_INF, IS_PLUS_0, IS_PI_2 }, { PLUS_INF, A_NAN, IS_PLUS_0, IS_NAN },
            { A_NAN, FINITE, NAN_NAN }, { A_NAN, PLUS_INF, IS_ANY_0, IS_PI_2 }, { A_NAN, A_NAN, NAN_NAN });
}

TEST(test_complex_parts_at_special_values_are_as_the_standard_says)
{
    COMPLEX(abs, { INFINITE, ANY, IS_INF, IS_PLUS_0 }, { ANY, INFINITE, IS_INF, IS_PLUS_0 },
            { ZERO, ANY, IS_ABS_Y, IS_PLUS_0 }, { ANY, ZERO, IS_ABS_X, IS_PLUS_0 },
            { A_NAN, FINITE, IS_NAN, IS_PLUS_0 }, { FINITE, A_NAN, IS_NAN, IS_PLUS_0 },
            { A_NAN, A_NAN, IS_NAN, IS_PLUS_0 });
    COMPLEX(conj, { ANY, PLUS_0, IS_X, IS_MINUS_0 }, { ANY, MINUS_0, IS_X, IS_PLUS_0 },
            { ANY, PLUS_INF, IS_X, IS_MINUS_INF });
    COMPLEX(real, { ANY, ANY, IS_X, IS_PLUS_0 });
    COMPLEX(imag, { ANY, ANY, IS_Y, IS_PLUS_0 });
    COMPLEX(sign, { ZERO, ZERO, IS_PLUS_0, IS_PLUS_0 }, { A_NAN, ANY, NAN_NAN }, { ANY, A_NAN, NAN_NAN },
            { POSITIVE, PLUS_0, IS_1, IS_PLUS_0 }, { ZERO, NEGATIVE, IS_X, IS_MINUS_1 });
    COMPLEX(round, { WHOLE, WHOLE, IS_X, IS_Y }, { INFINITE, ZERO, IS_X, IS_Y },
            { A_NAN, INFINITE, IS_NAN, IS_Y }, { ZERO, A_NAN, IS_X, IS_NAN });
    COMPLEX(isfinite, { FINITE, FINITE, IS_TRUE, IS_FALSE }, { ANY, A_NAN, IS_FALSE, IS_FALSE },
            { A_NAN, ANY, IS_FALSE, IS_FALSE }, { INFINITE, ANY, IS_FALSE, IS_FALSE },
            { ANY, INFINITE, IS_FALSE, IS_FALSE });
    COMPLEX(isinf, { INFINITE, ANY, IS_TRUE, IS_FALSE }, { ANY, INFINITE, IS_TRUE, IS_FALSE },
            { FINITE, FINITE, IS_FALSE, IS_FALSE }, { A_NAN, FINITE, IS_FALSE, IS_FALSE },
            { FINITE, A_NAN, IS_FALSE, IS_FALSE }, { A_NAN, A_NAN, IS_FALSE, IS_FALSE });
    COMPLEX(isnan, { A_NAN, ANY, IS_TRUE, IS_FALSE }, { ANY, A_NAN, IS_TRUE, IS_FALSE },
            { NUMBER, NUMBER, IS_FALSE, IS_FALSE });
    COMPLEX(logical_not, { ZERO, ZERO, IS_TRUE, IS_FALSE }, { NOT_0, ANY, IS_FALSE, IS_FALSE },
            { ANY, NOT_0, IS_FALSE, IS_FALSE });
}

/* Laws --------------------------------------------------------------------------------------- */

static int64_t index_of(double re, double im)
{
    for (int64_t i = 0; i < PAIRS; i++)
        if (is_same(first(i), re, 0) && is_same(second(i), im, 0)) return i;
    return -1;
}

static bool is_same_complex(tsr_c128 a, tsr_c128 b, double unit)
{
    return is_same(a.re, b.re, unit) && is_same(a.im, b.im, unit);
}

/* f(conj x) = conj f(x), and for odd functions f(-x) = -f(x), for even ones f(-x) = f(x). What
 * comes of a NaN has no sign to speak of. */
TEST(test_complex_functions_are_symmetric)
{
    static const struct { unary_fn fn; const char *name; int parity; } all[] = {
        { tsr_exp, "exp", 0 }, { tsr_expm1, "expm1", 0 }, { tsr_log, "log", 0 }, { tsr_log1p, "log1p", 0 },
        { tsr_log2, "log2", 0 }, { tsr_log10, "log10", 0 }, { tsr_sqrt, "sqrt", 0 }, { tsr_acos, "acos", 0 },
        { tsr_acosh, "acosh", 0 }, { tsr_asin, "asin", -1 }, { tsr_asinh, "asinh", -1 },
        { tsr_atan, "atan", -1 },
        { tsr_atanh, "atanh", -1 }, { tsr_sin, "sin", -1 }, { tsr_cos, "cos", 1 }, { tsr_tan, "tan", -1 },
        { tsr_sinh, "sinh", -1 }, { tsr_cosh, "cosh", 1 }, { tsr_tanh, "tanh", -1 },
    };
    tsr_c128 z[PAIRS];
    for (size_t f = 0; f < COUNT(all); f++)
        for (size_t d = 0; d < COUNT(complexes); d++) {
            run_unary(z, all[f].fn, complexes[d].dtype, 1);
            for (int64_t i = 0; i < PAIRS; i++) {
                const double a = first(i), b = second(i);
                const tsr_c128 mirrored = z[index_of(a, -b)], rotated = z[index_of(-a, -b)];
                const int p = all[f].parity;
                if (isnan(a) || isnan(b)) continue;
                EXPECT_MSG(is_same_complex(mirrored, (tsr_c128){ z[i].re, -z[i].im }, 0),
                           "%s(%g, %g) is (%g, %g), and mirrored (%g, %g)", all[f].name, a, b, z[i].re,
                           z[i].im, mirrored.re, mirrored.im);
                EXPECT_MSG(p == 0 || is_same_complex(rotated, (tsr_c128){ p * z[i].re, p * z[i].im }, 0),
                           "%s(%g, %g) is (%g, %g), and rotated (%g, %g)", all[f].name, a, b, z[i].re,
                           z[i].im, rotated.re, rotated.im);
            }
        }
}

static tsr_c128 sizes_of(tsr_c128 z) { return (tsr_c128){ fabs(z.re), fabs(z.im) }; }

/* f(x) is -i g(i x), or g(i x) for the cosine. */
TEST(test_complex_circular_functions_are_hyperbolic_ones_of_i_x)
{
    static const struct { unary_fn fn, rotated; const char *name; bool even; } all[] = {
        { tsr_sin, tsr_sinh, "sin", false }, { tsr_cos, tsr_cosh, "cos", true },
        { tsr_tan, tsr_tanh, "tan", false }, { tsr_asin, tsr_asinh, "asin", false },
        { tsr_atan, tsr_atanh, "atan", false },
    };
    tsr_c128 z[PAIRS], rotated[PAIRS];
    for (size_t f = 0; f < COUNT(all); f++)
        for (size_t d = 0; d < COUNT(complexes); d++) {
            run_unary(z, all[f].fn, complexes[d].dtype, 1);
            run_unary(rotated, all[f].rotated, complexes[d].dtype, 1);
            for (int64_t i = 0; i < PAIRS; i++) {
                const tsr_c128 g = rotated[index_of(-second(i), first(i))];
                const tsr_c128 want = all[f].even ? g : (tsr_c128){ g.im, -g.re };
                const bool has_nan = isnan(first(i)) || isnan(second(i));
                const tsr_c128 got = has_nan ? sizes_of(z[i]) : z[i];
                const tsr_c128 wanted = has_nan ? sizes_of(want) : want;
                EXPECT_MSG(is_same_complex(got, wanted, 4 * complexes[d].unit),
                           "%s(%g, %g) is (%g, %g), not (%g, %g)",
                           all[f].name, first(i), second(i), z[i].re, z[i].im, want.re, want.im);
            }
        }
}

TEST(test_complex_logarithms_differ_by_a_factor)
{
    tsr_c128 l[PAIRS], z[PAIRS];
    for (size_t d = 0; d < COUNT(complexes); d++)
        for (int base = 2; base <= 10; base += 8) {
            run_unary(l, tsr_log, complexes[d].dtype, 1);
            run_unary(z, base == 2 ? tsr_log2 : tsr_log10, complexes[d].dtype, 1);
            for (int64_t i = 0; i < PAIRS; i++) {
                const tsr_c128 want = { l[i].re / log(base), l[i].im / log(base) };
                EXPECT_MSG(is_same_complex(z[i], want, 4 * complexes[d].unit),
                           "log%d(%g, %g) is (%g, %g), not (%g, %g)", base, first(i), second(i), z[i].re,
                           z[i].im, want.re, want.im);
            }
        }
}

/* z = fn(x, w) over all pairs x, with one w. */
static void run_with(tsr_c128 *z, binary_fn fn, tsr_dtype dtype, tsr_c128 w)
{
    tsr_tensor *x = complex_samples_in(dtype, 1), *out = NULL;
    EXPECT_OK(fn(&out, x, TSR_NUMBER(w)));
    tsr_release(&x);
    values_of(z, &out);
}

/* The rules of real numbers, for each part by itself. */
TEST(test_complex_sums_follow_the_rules_of_real_ones_in_each_part)
{
    tsr_c128 z[PAIRS];
    for (size_t d = 0; d < COUNT(complexes); d++)
        for (int64_t w = 0; w < PAIRS; w++) {
            const tsr_c128 by = { first(w), second(w) };
            run_with(z, tsr_add, complexes[d].dtype, by);
            for (int64_t i = 0; i < PAIRS; i++) {
                const tsr_c128 want = { first(i) + by.re, second(i) + by.im };
                EXPECT_MSG(is_same_complex(z[i], want, complexes[d].unit), "(%g, %g) + (%g, %g) is (%g, %g)",
                           first(i), second(i), by.re, by.im, z[i].re, z[i].im);
            }
        }
}

TEST(test_complex_equality_is_that_of_both_parts)
{
    tsr_c128 same[PAIRS], other[PAIRS];
    for (size_t d = 0; d < COUNT(complexes); d++)
        for (int64_t w = 0; w < PAIRS; w++) {
            const tsr_c128 by = { first(w), second(w) };
            run_with(same, tsr_eq, complexes[d].dtype, by);
            run_with(other, tsr_ne, complexes[d].dtype, by);
            for (int64_t i = 0; i < PAIRS; i++) {
                const bool want = first(i) == by.re && second(i) == by.im;
                EXPECT(same[i].re == want && other[i].re == !want);
            }
        }
}

/* Of finite parts by the textbook; of NaN alone NaN; the rest is open, and ours are as C has them:
 * what has an infinite part is infinite, unless the other factor is 0. */
TEST(test_complex_products_and_quotients_at_special_values_are_as_the_standard_says)
{
    tsr_c128 product[PAIRS], quotient[PAIRS];
    for (size_t d = 0; d < COUNT(complexes); d++)
        for (int64_t w = 0; w < PAIRS; w++) {
            const tsr_c128 by = { first(w), second(w) };
            const bool by_nan = isnan(by.re) || isnan(by.im), by_inf = isinf(by.re) || isinf(by.im);
            const bool by_zero = by.re == 0 && by.im == 0;
            run_with(product, tsr_mul, complexes[d].dtype, by);
            run_with(quotient, tsr_div, complexes[d].dtype, by);
            for (int64_t i = 0; i < PAIRS; i++) {
                const double a = first(i), b = second(i);
                const tsr_c128 p = product[i], q = quotient[i];
                if (isfinite(a) && isfinite(b) && !by_nan && !by_inf) {
                    const tsr_c128 want = { a * by.re - b * by.im, a * by.im + b * by.re };
                    EXPECT_MSG(is_same_complex(p, want, complexes[d].unit),
                               "(%g, %g) * (%g, %g) is (%g, %g)", a, b, by.re, by.im, p.re, p.im);
                }
                if (isnan(a) && isnan(b) && isnan(by.re) && isnan(by.im))
                    EXPECT(isnan(p.re) && isnan(p.im) && isnan(q.re) && isnan(q.im));
                if ((isinf(a) || isinf(b)) && !by_zero && !(isnan(by.re) && isnan(by.im)) &&
                    !(by_nan && !by_inf))
                    EXPECT_MSG(isinf(p.re) || isinf(p.im), "(%g, %g) * (%g, %g) is (%g, %g)", a, b, by.re,
                               by.im, p.re, p.im);
                if (by_zero && (isinf(a) || isinf(b) || (a != 0 && !isnan(a) && !isnan(b))))
                    EXPECT_MSG(isinf(q.re) || isinf(q.im), "(%g, %g) / 0 is (%g, %g)", a, b, q.re, q.im);
                if (by_inf && isfinite(a) && isfinite(b))
                    EXPECT_MSG(q.re == 0 && q.im == 0, "(%g, %g) / (%g, %g) is (%g, %g)", a, b, by.re, by.im,
                               q.re, q.im);
            }
        }
}

/* As 1 / x and x * x; as exp(y log x), and more carefully at 0. */
TEST(test_complex_powers_at_special_values_are_as_the_standard_says)
{
    tsr_c128 z[PAIRS], want[PAIRS];
    tsr_tensor *one = NULL, *x = NULL, *out = NULL;
    for (size_t d = 0; d < COUNT(complexes); d++) {
        run_unary(z, tsr_reciprocal, complexes[d].dtype, 1);
        EXPECT_OK(tsr_ones(&one, complexes[d].dtype, TSR_SHAPE(PAIRS)));
        x = complex_samples_in(complexes[d].dtype, 1);
        EXPECT_OK(tsr_div(&out, one, x));
        values_of(want, &out);
        for (int64_t i = 0; i < PAIRS; i++) EXPECT(is_same_complex(z[i], want[i], 0));
        run_unary(z, tsr_square, complexes[d].dtype, 1);
        EXPECT_OK(tsr_mul(&out, x, x));
        values_of(want, &out);
        for (int64_t i = 0; i < PAIRS; i++) EXPECT(is_same_complex(z[i], want[i], 0));
        tsr_release_all(&one, &x);
        run_with(z, tsr_pow, complexes[d].dtype, (tsr_c128){ 0, 0 });
        for (int64_t i = 0; i < PAIRS; i++) EXPECT(z[i].re == 1 && z[i].im == 0);
        run_with(z, tsr_pow, complexes[d].dtype, (tsr_c128){ 2, 0 });
        for (int64_t i = 0; i < PAIRS; i++)
            if (first(i) == 0 && second(i) == 0) EXPECT(z[i].re == 0 && z[i].im == 0);
    }
}

/* Reductions ------------------------------------------------------------------------------------ */

typedef tsr_status (*reduce_fn)(tsr_tensor **, const tsr_tensor *, int, const int *, bool);

#define CORRECTED(name, fn, correction)                                                              \
    static tsr_status name(tsr_tensor **z, const tsr_tensor *x, int n, const int *axes, bool keep)   \
    { return fn(z, x, n, axes, keep, correction); }
CORRECTED(var_0, tsr_var, 0) CORRECTED(std_0, tsr_std, 0) CORRECTED(var_1, tsr_var, 1)
CORRECTED(std_1, tsr_std, 1)
#undef CORRECTED

static void expect_reduced(const char *name, reduce_fn fn, const dtype_case *d, int64_t n, const tsr_c128 *v,
                           tsr_c128 want)
{
    tsr_tensor *exact = NULL, *x = NULL, *z = NULL;
    tsr_scalar s = tsr_scalar_i64(0);
    EXPECT_OK(tsr_from_data(&exact, TSR_C128, TSR_SHAPE(n), v));
    EXPECT_OK(tsr_empty(&x, d->dtype, TSR_SHAPE(n)));
    EXPECT_OK(tsr_copy(x, exact));
    EXPECT_OK(fn(&z, x, 0, NULL, false));
    EXPECT_OK(tsr_get(&s, z, 0, NULL));
    const tsr_c128 got = tsr_scalar_to_c128(s);
    EXPECT_MSG(is_same_complex(got, want, d->unit),
               "%s of %lld %s, the first (%g, %g), is (%g, %g), not (%g, %g)", name, (long long)n,
               tsr_dtype_name(d->dtype), n ? v[0].re : 0, n ? v[0].im : 0, got.re, got.im, want.re, want.im);
    tsr_release_all(&exact, &x, &z);
}

typedef struct reduction { const char *name; reduce_fn fn; int64_t n; double v[3], z; } reduction;

static const reduction reductions[] = {
    { "sum", tsr_sum, 0, { 0 }, 0.0 },              { "prod", tsr_prod, 0, { 0 }, 1 },
    { "mean", tsr_mean, 0, { 0 }, NAN },            { "var", var_0, 0, { 0 }, NAN },
    { "std", std_0, 0, { 0 }, NAN },                { "any", tsr_any, 0, { 0 }, 0.0 },
    { "all", tsr_all, 0, { 0 }, 1 },                { "var", var_1, 1, { 3 }, NAN },
    { "std", std_1, 1, { 3 }, NAN },                { "sum", tsr_sum, 3, { 1, NAN, 2 }, NAN },
    { "sum", tsr_sum, 3, { 1, INF, 2 }, INF },      { "sum", tsr_sum, 3, { -INF, 1, -INF }, -INF },
    { "sum", tsr_sum, 3, { INF, 1, -INF }, NAN },   { "sum", tsr_sum, 3, { -0.0, 0.0, -0.0 }, 0.0 },
    { "prod", tsr_prod, 3, { 2, NAN, 0 }, NAN },    { "prod", tsr_prod, 3, { 2, INF, -1 }, -INF },
    { "prod", tsr_prod, 3, { 2, INF, 0 }, NAN },    { "prod", tsr_prod, 3, { 2, -0.0, 1 }, -0.0 },
    { "mean", tsr_mean, 3, { 1, NAN, 2 }, NAN },    { "mean", tsr_mean, 3, { 1, INF, 2 }, INF },
    { "mean", tsr_mean, 3, { -INF, INF, 2 }, NAN }, { "var", var_0, 3, { 1, NAN, 2 }, NAN },
    { "std", std_0, 3, { NAN, 1, 2 }, NAN },        { "var", var_0, 3, { 1, INF, 2 }, NAN },
    { "max", tsr_max, 3, { 1, NAN, 2 }, NAN },      { "min", tsr_min, 3, { 1, 2, NAN }, NAN },
    { "max", tsr_max, 3, { 1, INF, 2 }, INF },      { "min", tsr_min, 3, { -INF, 1, 2 }, -INF },
    { "max", tsr_max, 3, { INF, NAN, -INF }, NAN }, { "min", tsr_min, 3, { -INF, NAN, INF }, NAN },
    { "any", tsr_any, 3, { 0, NAN, 0 }, 1 },        { "any", tsr_any, 3, { -0.0, 0, 0 }, 0.0 },
    { "any", tsr_any, 3, { 0, 0, -INF }, 1 },       { "all", tsr_all, 3, { 1, NAN, INF }, 1 },
    { "all", tsr_all, 3, { 1, NAN, -0.0 }, 0.0 },   { "all", tsr_all, 3, { -INF, 1, 1 }, 1 },
};

TEST(test_reductions_at_special_values_are_as_the_standard_says)
{
    for (size_t r = 0; r < COUNT(reductions); r++)
        for (size_t d = 0; d < COUNT(reals); d++) {
            tsr_c128 v[3] = { { 0, 0 }, { 0, 0 }, { 0, 0 } };
            for (int i = 0; i < 3; i++) v[i].re = reductions[r].v[i];
            expect_reduced(reductions[r].name, reductions[r].fn, &reals[d], reductions[r].n, v,
                           (tsr_c128){ reductions[r].z, 0.0 });
        }
}

/* Each part by itself: NaN in one leaves the other. */
TEST(test_complex_reductions_at_special_values_are_as_the_standard_says)
{
    static const struct { const char *name; reduce_fn fn; int64_t n; tsr_c128 v[2], z; } rows[] = {
        { "sum", tsr_sum, 0, { { 0, 0 } }, { 0.0, 0.0 } },
        { "prod", tsr_prod, 0, { { 0, 0 } }, { 1, 0.0 } },
        { "mean", tsr_mean, 0, { { 0, 0 } }, { NAN, NAN } },
        { "mean", tsr_mean, 2, { { NAN, 1 }, { 2, 3 } }, { NAN, 2 } },
        { "mean", tsr_mean, 2, { { 1, NAN }, { 2, 3 } }, { 1.5, NAN } },
        { "mean", tsr_mean, 2, { { 1, INF }, { 2, 3 } }, { 1.5, INF } },
        { "sum", tsr_sum, 2, { { NAN, 1 }, { 2, INF } }, { NAN, INF } },
        { "sum", tsr_sum, 2, { { INF, 1 }, { -INF, 3 } }, { NAN, 4 } },
        { "prod", tsr_prod, 2, { { NAN, NAN }, { NAN, NAN } }, { NAN, NAN } },
        { "any", tsr_any, 2, { { 0, 0 }, { 0, NAN } }, { 1, 0.0 } },
        { "any", tsr_any, 2, { { 0, -0.0 }, { 0, 0 } }, { 0.0, 0.0 } },
        { "all", tsr_all, 2, { { 0, 1 }, { NAN, 0 } }, { 1, 0.0 } },
        { "all", tsr_all, 2, { { 0, 1 }, { 0, 0 } }, { 0.0, 0.0 } },
    };
    for (size_t r = 0; r < COUNT(rows); r++)
        for (size_t d = 0; d < COUNT(complexes); d++)
            expect_reduced(rows[r].name, rows[r].fn, &complexes[d], rows[r].n, rows[r].v, rows[r].z);
}
