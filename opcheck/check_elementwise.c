/* check_elementwise.c - every elementwise op, for every dtype its signature names.
 *
 * Two questions are asked of each: does it give for strided, turned and repeated
 * operands what it gives for packed copies of them, and is that what plain
 * arithmetic in double, or in 64-bit integers, gives?
 */
#include <math.h>
#include <string.h>

#include "op_facts.h"
#include "trial.h"

enum { INPUT, RESULT = 3, PACKED, PACKED_RESULT = 7, MOST_IN = 3 };

typedef tsr_status (*one_fn)(tsr_tensor **, const tsr_tensor *);
typedef tsr_status (*two_fn)(tsr_tensor **, const tsr_tensor *, const tsr_tensor *);
typedef tsr_status (*three_fn)(tsr_tensor **, const tsr_tensor *, const tsr_tensor *, const tsr_tensor *);

/* What is right: of floats; of integers (extended to 64 bits, the result to be cut); of
 * complex numbers. Each may be NULL. */
typedef double   (*float_fn)(const double *x);
typedef uint64_t (*integer_fn)(const uint64_t *x, bool is_signed);
typedef value    (*complex_fn)(const value *x);

typedef struct rule {
    const char *name;
    one_fn      one;
    two_fn      two;
    three_fn    three;
    float_fn    of_floats;
    integer_fn  of_integers;
    complex_fn  of_complex;
} rule;

/* Arithmetic on floats ------------------------------------------------------------------- */

static double float_abs(const double *x) { return fabs(x[0]); }
static double float_neg(const double *x) { return -x[0]; }
static double float_sign(const double *x) { return isnan(x[0]) ? x[0] : (double)((x[0] > 0) - (x[0] < 0)); }
static double float_square(const double *x) { return x[0] * x[0]; }
static double float_sqrt(const double *x) { return sqrt(x[0]); }
static double float_rsqrt(const double *x) { return 1 / sqrt(x[0]); }
static double float_reciprocal(const double *x) { return 1 / x[0]; }
static double float_exp(const double *x) { return exp(x[0]); }
static double float_exp2(const double *x) { return exp2(x[0]); }
static double float_expm1(const double *x) { return expm1(x[0]); }
static double float_log(const double *x) { return log(x[0]); }
static double float_log2(const double *x) { return log2(x[0]); }
static double float_log10(const double *x) { return log10(x[0]); }
static double float_log1p(const double *x) { return log1p(x[0]); }
static double float_sin(const double *x) { return sin(x[0]); }
static double float_cos(const double *x) { return cos(x[0]); }
static double float_tan(const double *x) { return tan(x[0]); }
static double float_asin(const double *x) { return asin(x[0]); }
static double float_acos(const double *x) { return acos(x[0]); }
static double float_atan(const double *x) { return atan(x[0]); }
static double float_sinh(const double *x) { return sinh(x[0]); }
static double float_cosh(const double *x) { return cosh(x[0]); }
static double float_tanh(const double *x) { return tanh(x[0]); }
static double float_asinh(const double *x) { return asinh(x[0]); }
static double float_acosh(const double *x) { return acosh(x[0]); }
static double float_atanh(const double *x) { return atanh(x[0]); }
static double float_erf(const double *x) { return erf(x[0]); }
static double float_erfc(const double *x) { return erfc(x[0]); }
static double float_ceil(const double *x) { return ceil(x[0]); }
static double float_floor(const double *x) { return floor(x[0]); }
static double float_round(const double *x) { return rint(x[0]); }
static double float_trunc(const double *x) { return trunc(x[0]); }
static double float_isfinite(const double *x) { return isfinite(x[0]); }
static double float_isinf(const double *x) { return isinf(x[0]) != 0; }
static double float_isnan(const double *x) { return isnan(x[0]); }
static double float_signbit(const double *x) { return signbit(x[0]) != 0; }
static double float_logical_not(const double *x) { return x[0] == 0; }
static double float_same(const double *x) { return x[0]; }
static double float_zero(const double *x) { (void)x; return 0; }
static double float_angle(const double *x) { return isnan(x[0]) ? x[0] : signbit(x[0]) ? acos(-1) : 0; }
static double float_relu(const double *x) { return x[0] < 0 ? 0 : x[0]; }

/* Far below 0 a factor that vanishes wins over the size of x. */
static double gated(double x, double gate) { return gate == 0 && !isnan(x) ? 0 : x * gate; }
static double float_gelu(const double *x) { return gated(x[0], 0.5 * erfc(-x[0] * sqrt(0.5))); }
static double float_gelu_tanh(const double *x)
{
    return gated(x[0], 0.5 * (1 + tanh(sqrt(2 / acos(-1)) * (x[0] + 0.044715 * x[0] * x[0] * x[0]))));
}
static double float_sigmoid(const double *x) { return 1 / (1 + exp(-x[0])); }
static double float_silu(const double *x) { return gated(x[0], float_sigmoid(x)); }
static double float_hardswish(const double *x) { return gated(x[0], fmin(fmax(x[0] + 3, 0), 6) / 6); }
static double float_softplus(const double *x) { return x[0] > 30 ? x[0] : log1p(exp(x[0])); }
static double float_elu(const double *x) { return x[0] < 0 ? 1.5 * expm1(x[0]) : x[0]; }
static double float_leaky_relu(const double *x) { return x[0] < 0 ? 0.125 * x[0] : x[0]; }
static double float_hardtanh(const double *x) { return x[0] < -1 ? -1 : x[0] > 1.5 ? 1.5 : x[0]; }

static double float_add(const double *x) { return x[0] + x[1]; }
static double float_sub(const double *x) { return x[0] - x[1]; }
static double float_mul(const double *x) { return x[0] * x[1]; }
static double float_div(const double *x) { return x[0] / x[1]; }
static double float_pow(const double *x) { return pow(x[0], x[1]); }
static double float_atan2(const double *x) { return atan2(x[0], x[1]); }
static double float_hypot(const double *x) { return hypot(x[0], x[1]); }
static double float_copysign(const double *x) { return copysign(x[0], x[1]); }
static double float_maximum(const double *x) { return isnan(x[0]) || isnan(x[1]) ? NAN : fmax(x[0], x[1]); }
static double float_minimum(const double *x) { return isnan(x[0]) || isnan(x[1]) ? NAN : fmin(x[0], x[1]); }
static double float_fmax(const double *x) { return fmax(x[0], x[1]); }
static double float_fmin(const double *x) { return fmin(x[0], x[1]); }
static double float_eq(const double *x) { return x[0] == x[1]; }
static double float_ne(const double *x) { return x[0] != x[1]; }
static double float_lt(const double *x) { return x[0] < x[1]; }
static double float_le(const double *x) { return x[0] <= x[1]; }
static double float_gt(const double *x) { return x[0] > x[1]; }
static double float_ge(const double *x) { return x[0] >= x[1]; }
static double float_logical_and(const double *x) { return x[0] != 0 && x[1] != 0; }
static double float_logical_or(const double *x) { return x[0] != 0 || x[1] != 0; }
static double float_logical_xor(const double *x) { return (x[0] != 0) != (x[1] != 0); }

static double float_remainder(const double *x)
{
    const double r = fmod(x[0], x[1]);
    return r != 0 && !isnan(r) && (r < 0) != (x[1] < 0) ? r + x[1] : r;
}

static double float_logaddexp(const double *x)
{
    if (isnan(x[0]) || isnan(x[1])) return NAN;
    return x[0] == x[1] ? x[0] + log(2) : fmax(x[0], x[1]) + log1p(exp(-fabs(x[0] - x[1])));
}

static double float_where(const double *x) { return x[0] != 0 ? x[1] : x[2]; }
static double float_fma(const double *x) { return fma(x[0], x[1], x[2]); }
static double float_addcmul(const double *x) { return x[0] + 2 * x[1] * x[2]; }
static double float_clip(const double *x)
{
    return isnan(x[0]) || isnan(x[1]) || isnan(x[2]) ? NAN : fmin(fmax(x[0], x[1]), x[2]);
}

/* Arithmetic on integers ------------------------------------------------------------------ */

static bool is_below(uint64_t a, uint64_t b, bool sign) { return sign ? (int64_t)a < (int64_t)b : a < b; }

static uint64_t integer_neg(const uint64_t *x, bool sign) { (void)sign; return 0 - x[0]; }
static uint64_t integer_abs(const uint64_t *x, bool sign)
{
    return is_below(x[0], 0, sign) ? 0 - x[0] : x[0];
}
static uint64_t integer_sign(const uint64_t *x, bool sign)
{
    return x[0] == 0 ? 0 : is_below(x[0], 0, sign) ? UINT64_MAX : 1;
}
static uint64_t integer_square(const uint64_t *x, bool sign) { (void)sign; return x[0] * x[0]; }
static uint64_t integer_same(const uint64_t *x, bool sign) { (void)sign; return x[0]; }
static uint64_t integer_zero(const uint64_t *x, bool sign) { (void)x; (void)sign; return 0; }
static uint64_t integer_one(const uint64_t *x, bool sign) { (void)x; (void)sign; return 1; }
static uint64_t integer_signbit(const uint64_t *x, bool sign) { return is_below(x[0], 0, sign); }
static uint64_t integer_relu(const uint64_t *x, bool sign) { return is_below(x[0], 0, sign) ? 0 : x[0]; }
static uint64_t integer_logical_not(const uint64_t *x, bool sign) { (void)sign; return x[0] == 0; }
static uint64_t integer_bitwise_not(const uint64_t *x, bool sign) { (void)sign; return ~x[0]; }
static uint64_t integer_add(const uint64_t *x, bool sign) { (void)sign; return x[0] + x[1]; }
static uint64_t integer_sub(const uint64_t *x, bool sign) { (void)sign; return x[0] - x[1]; }
static uint64_t integer_mul(const uint64_t *x, bool sign) { (void)sign; return x[0] * x[1]; }
static uint64_t integer_maximum(const uint64_t *x, bool sign)
{
    return is_below(x[0], x[1], sign) ? x[1] : x[0];
}
static uint64_t integer_minimum(const uint64_t *x, bool sign)
{
    return is_below(x[0], x[1], sign) ? x[0] : x[1];
}
static uint64_t integer_eq(const uint64_t *x, bool sign) { (void)sign; return x[0] == x[1]; }
static uint64_t integer_ne(const uint64_t *x, bool sign) { (void)sign; return x[0] != x[1]; }
static uint64_t integer_lt(const uint64_t *x, bool sign) { return is_below(x[0], x[1], sign); }
static uint64_t integer_le(const uint64_t *x, bool sign) { return !is_below(x[1], x[0], sign); }
static uint64_t integer_gt(const uint64_t *x, bool sign) { return is_below(x[1], x[0], sign); }
static uint64_t integer_ge(const uint64_t *x, bool sign) { return !is_below(x[0], x[1], sign); }
static uint64_t integer_logical_and(const uint64_t *x, bool sign) { (void)sign; return x[0] && x[1]; }
static uint64_t integer_logical_or(const uint64_t *x, bool sign) { (void)sign; return x[0] || x[1]; }
static uint64_t integer_logical_xor(const uint64_t *x, bool sign) { (void)sign; return !x[0] != !x[1]; }
static uint64_t integer_bitwise_and(const uint64_t *x, bool sign) { (void)sign; return x[0] & x[1]; }
static uint64_t integer_bitwise_or(const uint64_t *x, bool sign) { (void)sign; return x[0] | x[1]; }
static uint64_t integer_bitwise_xor(const uint64_t *x, bool sign) { (void)sign; return x[0] ^ x[1]; }
/* A shift that is negative is a very long one, seen without a sign. */
static uint64_t integer_shift_left(const uint64_t *x, bool sign)
{
    (void)sign;
    return x[1] < 64 ? x[0] << x[1] : 0;
}
static uint64_t integer_shift_right(const uint64_t *x, bool sign)
{
    const uint64_t fill = is_below(x[0], 0, sign) ? UINT64_MAX : 0;
    return x[1] < 64 ? (x[0] ^ fill) >> x[1] ^ fill : fill;
}
static uint64_t integer_where(const uint64_t *x, bool sign) { (void)sign; return x[0] ? x[1] : x[2]; }
static uint64_t integer_fma(const uint64_t *x, bool sign) { (void)sign; return x[0] * x[1] + x[2]; }
static uint64_t integer_addcmul(const uint64_t *x, bool sign) { (void)sign; return x[0] + 2 * x[1] * x[2]; }
static uint64_t integer_clip(const uint64_t *x, bool sign)
{
    const uint64_t high = is_below(x[0], x[1], sign) ? x[1] : x[0];
    return is_below(high, x[2], sign) ? high : x[2];
}

/* Sizes divided, then turned to the divisor's side. */
static uint64_t integer_remainder(const uint64_t *x, bool sign)
{
    const bool below = is_below(x[0], 0, sign), by_below = is_below(x[1], 0, sign);
    const uint64_t a = below ? 0 - x[0] : x[0], b = by_below ? 0 - x[1] : x[1];
    if (b == 0) return 0;
    const uint64_t r = below ? 0 - a % b : a % b;
    return r != 0 && below != by_below ? r + x[1] : r;
}

static uint64_t integer_floor_div(const uint64_t *x, bool sign)
{
    const bool below = is_below(x[0], 0, sign), by_below = is_below(x[1], 0, sign);
    const uint64_t a = below ? 0 - x[0] : x[0], b = by_below ? 0 - x[1] : x[1];
    if (b == 0) return 0;
    return below == by_below ? a / b : 0 - (a / b + (a % b != 0));
}

/* Arithmetic on complex numbers ------------------------------------------------------------- */

static value complex_neg(const value *x) { return complex_value(-x[0].re, -x[0].im); }
static value complex_abs(const value *x) { return real_value(hypot(x[0].re, x[0].im)); }
static value complex_conj(const value *x) { return complex_value(x[0].re, -x[0].im); }
static value complex_real(const value *x) { return real_value(x[0].re); }
static value complex_imag(const value *x) { return real_value(x[0].im); }
static value complex_add(const value *x) { return complex_value(x[0].re + x[1].re, x[0].im + x[1].im); }
static value complex_sub(const value *x) { return complex_value(x[0].re - x[1].re, x[0].im - x[1].im); }
static value complex_mul(const value *x)
{
    return complex_value(x[0].re * x[1].re - x[0].im * x[1].im, x[0].re * x[1].im + x[0].im * x[1].re);
}
static value complex_square(const value *x) { return complex_mul((const value[]){ x[0], x[0] }); }
static value truth(bool is) { return (value){ .bits = is, .re = is }; }
static value complex_eq(const value *x) { return truth(x[0].re == x[1].re && x[0].im == x[1].im); }
static value complex_ne(const value *x) { return truth(x[0].re != x[1].re || x[0].im != x[1].im); }
static value complex_logical_not(const value *x) { return truth(x[0].re == 0 && x[0].im == 0); }
static value complex_where(const value *x) { return x[0].bits ? x[1] : x[2]; }

/* Ops with parameters, at some of them --------------------------------------------------------- */

static tsr_status elu(tsr_tensor **out, const tsr_tensor *x) { return tsr_elu(out, x, 1.5); }
static tsr_status leaky_relu(tsr_tensor **out, const tsr_tensor *x) { return tsr_leaky_relu(out, x, 0.125); }
static tsr_status hardtanh(tsr_tensor **out, const tsr_tensor *x) { return tsr_hardtanh(out, x, -1, 1.5); }
static tsr_status addcmul(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y, const tsr_tensor *w)
{
    return tsr_addcmul(out, x, y, w, 2);
}

/* The ops: name, function, and what is right for floats, integers, complex numbers. ------------- */

#define ONE(n)   .name = #n, .one = tsr_##n
#define TWO(n)   .name = #n, .two = tsr_##n
#define THREE(n) .name = #n, .three = tsr_##n

static const rule rules[] = {
    { ONE(abs), .of_floats = float_abs, .of_integers = integer_abs, .of_complex = complex_abs },
    { ONE(neg), .of_floats = float_neg, .of_integers = integer_neg, .of_complex = complex_neg },
    { ONE(sign), .of_floats = float_sign, .of_integers = integer_sign },
    { ONE(square), .of_floats = float_square, .of_integers = integer_square, .of_complex = complex_square },
    { ONE(sqrt), .of_floats = float_sqrt },
    { ONE(rsqrt), .of_floats = float_rsqrt },
    { ONE(reciprocal), .of_floats = float_reciprocal },
    { ONE(exp), .of_floats = float_exp },
    { ONE(exp2), .of_floats = float_exp2 },
    { ONE(expm1), .of_floats = float_expm1 },
    { ONE(log), .of_floats = float_log },
    { ONE(log2), .of_floats = float_log2 },
    { ONE(log10), .of_floats = float_log10 },
    { ONE(log1p), .of_floats = float_log1p },
    { ONE(sin), .of_floats = float_sin },
    { ONE(cos), .of_floats = float_cos },
    { ONE(tan), .of_floats = float_tan },
    { ONE(asin), .of_floats = float_asin },
    { ONE(acos), .of_floats = float_acos },
    { ONE(atan), .of_floats = float_atan },
    { ONE(sinh), .of_floats = float_sinh },
    { ONE(cosh), .of_floats = float_cosh },
    { ONE(tanh), .of_floats = float_tanh },
    { ONE(asinh), .of_floats = float_asinh },
    { ONE(acosh), .of_floats = float_acosh },
    { ONE(atanh), .of_floats = float_atanh },
    { ONE(erf), .of_floats = float_erf },
    { ONE(erfc), .of_floats = float_erfc },
    { ONE(ceil), .of_floats = float_ceil, .of_integers = integer_same },
    { ONE(floor), .of_floats = float_floor, .of_integers = integer_same },
    { ONE(round), .of_floats = float_round, .of_integers = integer_same },
    { ONE(trunc), .of_floats = float_trunc, .of_integers = integer_same },
    { ONE(isfinite), .of_floats = float_isfinite, .of_integers = integer_one },
    { ONE(isinf), .of_floats = float_isinf, .of_integers = integer_zero },
    { ONE(isnan), .of_floats = float_isnan, .of_integers = integer_zero },
    { ONE(signbit), .of_floats = float_signbit, .of_integers = integer_signbit },
    { ONE(logical_not), .of_floats = float_logical_not, .of_integers = integer_logical_not,
      .of_complex = complex_logical_not },
    { ONE(bitwise_not), .of_integers = integer_bitwise_not },
    { ONE(conj), .of_floats = float_same, .of_integers = integer_same, .of_complex = complex_conj },
    { ONE(real), .of_floats = float_same, .of_integers = integer_same, .of_complex = complex_real },
    { ONE(imag), .of_floats = float_zero, .of_integers = integer_zero, .of_complex = complex_imag },
    { ONE(angle), .of_floats = float_angle },
    { ONE(relu), .of_floats = float_relu, .of_integers = integer_relu },
    { ONE(gelu), .of_floats = float_gelu },
    { ONE(gelu_tanh), .of_floats = float_gelu_tanh },
    { ONE(silu), .of_floats = float_silu },
    { ONE(sigmoid), .of_floats = float_sigmoid },
    { ONE(softplus), .of_floats = float_softplus },
    { ONE(hardswish), .of_floats = float_hardswish },
    { .name = "elu", .one = elu, .of_floats = float_elu },
    { .name = "leaky_relu", .one = leaky_relu, .of_floats = float_leaky_relu },
    { .name = "hardtanh", .one = hardtanh, .of_floats = float_hardtanh },
    { TWO(add), .of_floats = float_add, .of_integers = integer_add, .of_complex = complex_add },
    { TWO(sub), .of_floats = float_sub, .of_integers = integer_sub, .of_complex = complex_sub },
    { TWO(mul), .of_floats = float_mul, .of_integers = integer_mul, .of_complex = complex_mul },
    { TWO(div), .of_floats = float_div },
    { TWO(floor_div), .of_integers = integer_floor_div },
    { TWO(remainder), .of_floats = float_remainder, .of_integers = integer_remainder },
    { TWO(pow), .of_floats = float_pow },
    { TWO(atan2), .of_floats = float_atan2 },
    { TWO(hypot), .of_floats = float_hypot },
    { TWO(copysign), .of_floats = float_copysign },
    { TWO(nextafter) },
    { TWO(maximum), .of_floats = float_maximum, .of_integers = integer_maximum },
    { TWO(minimum), .of_floats = float_minimum, .of_integers = integer_minimum },
    { TWO(fmax), .of_floats = float_fmax, .of_integers = integer_maximum },
    { TWO(fmin), .of_floats = float_fmin, .of_integers = integer_minimum },
    { TWO(logaddexp), .of_floats = float_logaddexp },
    { TWO(eq), .of_floats = float_eq, .of_integers = integer_eq, .of_complex = complex_eq },
    { TWO(ne), .of_floats = float_ne, .of_integers = integer_ne, .of_complex = complex_ne },
    { TWO(lt), .of_floats = float_lt, .of_integers = integer_lt },
    { TWO(le), .of_floats = float_le, .of_integers = integer_le },
    { TWO(gt), .of_floats = float_gt, .of_integers = integer_gt },
    { TWO(ge), .of_floats = float_ge, .of_integers = integer_ge },
    { TWO(logical_and), .of_floats = float_logical_and, .of_integers = integer_logical_and },
    { TWO(logical_or), .of_floats = float_logical_or, .of_integers = integer_logical_or },
    { TWO(logical_xor), .of_floats = float_logical_xor, .of_integers = integer_logical_xor },
    { TWO(bitwise_and), .of_integers = integer_bitwise_and },
    { TWO(bitwise_or), .of_integers = integer_bitwise_or },
    { TWO(bitwise_xor), .of_integers = integer_bitwise_xor },
    { TWO(shift_left), .of_integers = integer_shift_left },
    { TWO(shift_right), .of_integers = integer_shift_right },
    { THREE(where), .of_floats = float_where, .of_integers = integer_where, .of_complex = complex_where },
    { THREE(clip), .of_floats = float_clip, .of_integers = integer_clip },
    { THREE(lerp) },
    { THREE(fma), .of_floats = float_fma, .of_integers = integer_fma },
    { .name = "addcmul", .three = addcmul, .of_floats = float_addcmul, .of_integers = integer_addcmul },
};

/* Trials --------------------------------------------------------------------------------------- */

static int operands_of(const rule *r) { return r->one ? 1 : r->two ? 2 : 3; }

static tsr_status call(const rule *r, tsr_tensor **out, tsr_tensor *const *in)
{
    if (r->one) return r->one(out, in[0]);
    if (r->two) return r->two(out, in[0], in[1]);
    return r->three(out, in[0], in[1], in[2]);
}

/* The dtype of operand i, where its signature has one of its own (where's condition). */
static tsr_dtype operand_dtype(const trial *t, const op_facts *f, int i)
{
    const uint32_t dtypes = f->dtypes[i];
    if (dtypes >> t->check->dtype & 1) return t->check->dtype;
    for (int d = 1; d < TSR_DTYPE_COUNT; d++)
        if (dtypes >> d & 1) return (tsr_dtype)d;
    return t->check->dtype;
}

/* Operands of a shape, or of one that is repeated to it. The first has the whole shape. */
static void make_operands(trial *t, const op_facts *f, int n, int ndim, const int64_t *shape)
{
    for (int i = 0; i < n; i++) {
        int64_t own[TRIAL_RANK];
        int dropped = 0;
        memcpy(own, shape, sizeof own);
        if (i > 0 && once_in(t, 3)) {
            dropped = (int)random_below(t, ndim + 1);
            for (int d = 0; d < ndim; d++)
                if (once_in(t, 3) && shape[d] > 0) own[d] = 1;
        }
        make_input(t, INPUT + i, operand_dtype(t, f, i), ndim - dropped, own + dropped, FILL_SPECIAL);
        make_packed(t, PACKED + i, INPUT + i, ndim, shape);
    }
}

/* How far rounding on the way may carry a result away: a few units of the numbers involved. */
static double slack_of(tsr_dtype dtype, const value *x, int n, value wanted)
{
    double size = 1 + (isfinite(wanted.re) ? fabs(wanted.re) : 0);
    for (int i = 0; i < n; i++) {
        const double a = hypot(x[i].re, x[i].im);
        if (isfinite(a)) size += is_complex(dtype) ? a * (1 + a) : a;
    }
    return 16 * epsilon_of(dtype) * size;
}

/* With infinities, products of complex numbers depend on how they are worked out. */
static bool all_finite(const value *x)
{
    for (int i = 0; i < MOST_IN; i++)
        if (!isfinite(x[i].re) || !isfinite(x[i].im)) return false;
    return true;
}

/* False if there is no plain arithmetic for it. */
static bool answer(const rule *r, tsr_dtype dtype, const value *x, value *wanted)
{
    if (is_complex(dtype) && r->of_complex && all_finite(x)) {
        *wanted = r->of_complex(x);
    } else if (is_float(dtype) && r->of_floats) {
        *wanted = real_value(r->of_floats((const double[]){ x[0].re, x[1].re, x[2].re }));
        wanted->bits = wanted->re != 0; /* of a comparison */
    } else if (!is_float(part_of(dtype)) && r->of_integers) {
        wanted->bits =
            r->of_integers((const uint64_t[]){ x[0].bits, x[1].bits, x[2].bits }, is_signed(dtype));
        if (dtype == TSR_BOOL) wanted->bits &= 1;
    } else {
        return false;
    }
    return true;
}

/* The result against plain arithmetic, where there is some. */
static void check_values(trial *t, const rule *r, int n, int result)
{
    const tsr_dtype dtype = t->check->dtype;
    GO_ON(t);
    const int64_t count = tsr_numel(t->tensor[result]);
    for (int64_t k = first_sample(t, count, 8); k >= 0; k = next_sample(t, k, count, 8)) {
        value x[MOST_IN] = { { 0 } }, wanted = { 0 };
        for (int i = 0; i < n; i++) x[i] = value_at(t->tensor[PACKED + i], k);
        if (answer(r, dtype, x, &wanted)) check_near(t, result, k, wanted, slack_of(dtype, x, n, wanted));
    }
}

/* The result written over the first operand, where it has the same dtype. */
static void check_in_place(trial *t, const rule *r, int n)
{
    tsr_tensor *in[MOST_IN];
    GO_ON(t);
    if (t->tensor[PACKED]->dtype != t->tensor[PACKED_RESULT]->dtype) return;
    for (int i = 0; i < n; i++) in[i] = t->tensor[PACKED + i];
    NEED(t, call(r, &t->tensor[PACKED], in));
    check_same(t, PACKED, PACKED_RESULT, true);
}

static void check_op(trial *t)
{
    const rule *r = t->check->about;
    const int n = operands_of(r);
    const tsr_pair_params params = { 1, 2 };
    int64_t shape[TRIAL_RANK];
    op_facts f;
    MUST(t, op_facts_get(&f, t->check->op), "the signature cannot be read: %s", tsr_last_error());
    const int ndim = random_shape(t, shape, 0, TRIAL_RANK, true);
    make_operands(t, &f, n, ndim, shape);
    GO_ON(t);
    NEED(t, call(r, &t->tensor[PACKED_RESULT], t->tensor + PACKED));
    check_inferred(t, n, INPUT, strcmp(f.info->params, "none") ? &params : NULL, PACKED_RESULT);
    make_output(t, RESULT, t->tensor[PACKED_RESULT]->dtype, ndim, shape);
    GO_ON(t);
    NEED(t, call(r, &t->tensor[RESULT], t->tensor + INPUT));
    check_gaps(t, RESULT);
    check_same(t, RESULT, PACKED_RESULT, true);
    check_values(t, r, n, RESULT);
    if (once_in(t, 4)) check_in_place(t, r, n);
}

/* The operand that says what the op computes in: the first whose dtype is not fixed. */
static int main_operand(const op_facts *f)
{
    for (int i = 0; i < f->signature.noperands; i++)
        if (f->dtypes[i] & (f->dtypes[i] - 1)) return i;
    return 0;
}

void list_elementwise(check_list *list)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        op_facts f;
        const tsr_op_kind kind = tsr_op_find(rules[i].name);
        if (!op_facts_get(&f, kind)) continue;
        const uint32_t dtypes = f.dtypes[main_operand(&f)];
        for (int d = 1; d < TSR_DTYPE_COUNT; d++)
            if (dtypes >> d & 1)
                add_check(list,
                          (check){ .family = "elementwise",
                                   .op = kind,
                                   .run = check_op,
                                   .about = &rules[i],
                                   .dtype = (tsr_dtype)d },
                          rules[i].name);
    }
}
