/* functions.cpp - further functions of elements. Short floats are computed wide, and rounded once. */
#include "elementwise.h"

#include <cmath>

using namespace face;

namespace
{

/* body(&y, x) on a wide copy of x, and the result to where it belongs. */
template <class Body>
tsr_status widened(tsr_tensor **out, const tsr_tensor *in, Body &&body)
{
    Temp x, y;
    TSR_TRY(tsr_cast(&x, in, wide(in)));
    TSR_TRY(body(&y, x));
    return tsr_copy(*out, y);
}

template <class Body>
tsr_status widened(tsr_tensor **out, const tsr_tensor *in_a, const tsr_tensor *in_b, Body &&body)
{
    Temp a, b, c;
    TSR_TRY(tsr_cast(&a, in_a, wide(in_a)));
    TSR_TRY(tsr_cast(&b, in_b, wide(in_a)));
    TSR_TRY(body(&c, a, b));
    return tsr_copy(*out, c);
}

tsr_status relu6(tsr_tensor **out, const tsr_tensor *x) { return tsr_hardtanh(out, x, 0, 6); }

/* scale * x, and scale * alpha * (exp(x) - 1) below 0. */
tsr_status selu(tsr_tensor **out, const tsr_tensor *in)
{
    const double alpha = 1.6732632423543772848, scale = 1.0507009873554804934;
    return widened(out, in, [=](tsr_tensor **y, const tsr_tensor *x) -> tsr_status {
        TSR_TRY(tsr_elu(y, x, alpha));
        return tsr_mul(y, *y, TSR_NUMBER(scale));
    });
}

tsr_status softsign(tsr_tensor **out, const tsr_tensor *in)
{
    return widened(out, in, [](tsr_tensor **y, const tsr_tensor *x) -> tsr_status {
        TSR_TRY(tsr_abs(y, x));
        TSR_TRY(tsr_add(y, *y, TSR_NUMBER(1)));
        return tsr_div(y, x, *y);
    });
}

tsr_status tanhshrink(tsr_tensor **out, const tsr_tensor *in)
{
    return widened(out, in, [](tsr_tensor **y, const tsr_tensor *x) -> tsr_status {
        TSR_TRY(tsr_tanh(y, x));
        return tsr_sub(y, x, *y);
    });
}

/* Adds 1 to x where that is below 8, and subtracts 1 / x from y. */
tsr_status digamma_step(tsr_tensor **y, tsr_tensor **x)
{
    Temp below, step, zero;
    TSR_TRY(tsr_lt(&below, *x, TSR_NUMBER(8)));
    TSR_TRY(tsr_zeros_like(&zero, *x));
    TSR_TRY(tsr_reciprocal(&step, *x));
    TSR_TRY(tsr_where(&step, below, step, zero));
    TSR_TRY(tsr_sub(y, *y, step));
    TSR_TRY(tsr_cast(&step, below, (*x)->dtype));
    return tsr_add(x, *x, step);
}

/* The asymptotic series from 8 on: log x - 1 / 2x - sum of B(2k) / 2k x^2k; below, by the recurrence.
 * -infinity at 0, and NaN below it, as in the original. */
tsr_status digamma(tsr_tensor **out, const tsr_tensor *in)
{
    static const double terms[] = { -1.0 / 132, 1.0 / 240, -1.0 / 252, 1.0 / 120, -1.0 / 12 };
    Temp x, y, inverse, square, series, at_zero, below, special;
    TSR_TRY(tsr_cast(&x, in, TSR_F64));
    TSR_TRY(tsr_eq(&at_zero, x, TSR_NUMBER(0)));
    TSR_TRY(tsr_lt(&below, x, TSR_NUMBER(0)));
    TSR_TRY(tsr_zeros_like(&y, x));
    for (int i = 0; i < 8; i++) TSR_TRY(digamma_step(&y, &x));
    TSR_TRY(tsr_reciprocal(&inverse, x));
    TSR_TRY(tsr_square(&square, inverse));
    TSR_TRY(tsr_zeros_like(&series, x));
    for (const double term : terms) {
        TSR_TRY(tsr_add(&series, series, TSR_NUMBER(term)));
        TSR_TRY(tsr_mul(&series, series, square));
    }
    TSR_TRY(tsr_log(&x, x));
    TSR_TRY(tsr_mul(&inverse, inverse, TSR_NUMBER(0.5)));
    TSR_TRY(tsr_sub(&x, x, inverse));
    TSR_TRY(tsr_add(&x, x, series));
    TSR_TRY(tsr_add(&y, y, x));
    TSR_TRY(tsr_full_like(&special, y, TSR_SCALAR(-HUGE_VAL)));
    TSR_TRY(tsr_where(&y, at_zero, special, y));
    TSR_TRY(tsr_full_like(&special, y, TSR_SCALAR((double)NAN)));
    TSR_TRY(tsr_where(&y, below, special, y));
    return tsr_copy(*out, y);
}

/* a - b * trunc(a / b), which has the sign of a. */
tsr_status fmod_of(tsr_tensor **out, const tsr_tensor *in_a, const tsr_tensor *in_b)
{
    return widened(out, in_a, in_b,
                   [](tsr_tensor **c, const tsr_tensor *a, const tsr_tensor *b) -> tsr_status {
                       Temp size_a, size_b;
                       TSR_TRY(tsr_abs(&size_a, a));
                       TSR_TRY(tsr_abs(&size_b, b));
                       TSR_TRY(tsr_remainder(c, size_a, size_b));
                       return tsr_copysign(c, *c, a);
                   });
}

tsr_status logaddexp2(tsr_tensor **out, const tsr_tensor *in_a, const tsr_tensor *in_b)
{
    return widened(out, in_a, in_b,
                   [](tsr_tensor **c, const tsr_tensor *a, const tsr_tensor *b) -> tsr_status {
                       const double ln2 = 0.69314718055994530942;
                       Temp x, y;
                       TSR_TRY(tsr_mul(&x, a, TSR_NUMBER(ln2)));
                       TSR_TRY(tsr_mul(&y, b, TSR_NUMBER(ln2)));
                       TSR_TRY(tsr_logaddexp(c, x, y));
                       return tsr_mul(c, *c, TSR_NUMBER(1 / ln2));
                   });
}

/* a * 2^b */
tsr_status ldexp_of(tsr_tensor **out, const tsr_tensor *in_a, const tsr_tensor *in_b)
{
    return widened(out, in_a, in_b,
                   [](tsr_tensor **c, const tsr_tensor *a, const tsr_tensor *b) -> tsr_status {
                       TSR_TRY(tsr_exp2(c, b));
                       return tsr_mul(c, a, *c);
                   });
}

} // namespace

UNARY(Acos, tsr_acos, FLOATS)
UNARY(Asin, tsr_asin, FLOATS)
UNARY(Asinh, tsr_asinh, FLOATS)
UNARY(Digamma, digamma, FLOATS)
UNARY(Floor, tsr_floor, NUMBERS)
UNARY(Relu6, relu6, FLOATS)
UNARY(Selu, selu, FLOATS)
UNARY(Sinh, tsr_sinh, FLOATS)
UNARY(Softsign, softsign, FLOATS)
UNARY(Tanhshrink, tanhshrink, FLOATS)

BINARY(BitwiseRightShift, tsr_shift_right, INTEGERS)
BINARY(FloorDivide, tsr_floor_div, NUMBERS)
BINARY(Fmin, tsr_fmin, FLOATS)
BINARY(Fmod, fmod_of, FLOATS)
BINARY(Hypot, tsr_hypot, FLOATS)
BINARY(LogAddExp, tsr_logaddexp, FLOATS)
BINARY(LogAddExp2, logaddexp2, FLOATS)

/* The exponent may be an integer. */
infiniStatus_t infiniopCreateLdexpDescriptor(Handle handle, Desc *out, T y, T x, T exponent)
{
    return Draft(TAG_Ldexp, handle, out, 1, { y, x, exponent })
        .dtypes(0, FLOATS)
        .one_dtype({ 0, 1 })
        .dtypes(2, NUMBERS)
        .one_shape({ 0, 1, 2 })
        .finish();
}

infiniStatus_t infiniopLdexp(Desc desc, P, size_t, P y, C x, C exponent, P stream)
{
    return run(desc, TAG_Ldexp, stream, { y, x, exponent },
               [](tsr_tensor **t, const InfiniopDescriptor &) { return ldexp_of(&t[0], t[1], t[2]); });
}

/* Its operand comes first when it is described. */
infiniStatus_t infiniopCreateTanDescriptor(Handle handle, Desc *out, T x, T y)
{
    return create_unary(TAG_Tan, handle, out, y, x, FLOATS);
}

infiniStatus_t infiniopTan(Desc desc, P, size_t, P y, C x, P stream)
{
    return run(desc, TAG_Tan, stream, { y, x },
               [](tsr_tensor **t, const InfiniopDescriptor &) { return tsr_tan(&t[0], t[1]); });
}

infiniStatus_t infiniopCreateMulScalarDescriptor(Handle handle, Desc *out, T y, T x)
{
    return create_unary(TAG_MulScalar, handle, out, y, x, NUMBERS);
}

infiniStatus_t infiniopMulScalar(Desc desc, P, size_t, P y, C x, double alpha, P stream)
{
    return run(desc, TAG_MulScalar, stream, { y, x }, [=](tsr_tensor **t, const InfiniopDescriptor &) {
        return tsr_mul(&t[0], t[1], TSR_NUMBER(alpha));
    });
}

/* x^exponent in f64; without a tensor of exponents, the number. */
infiniStatus_t infiniopCreateFloatPowerDescriptor(Handle handle, Desc *out, T y, T x, T exponent,
                                                  float number)
{
    Draft draft(TAG_FloatPower, handle, out, 1, { y, x, exponent }, 1u << 2);
    draft.op.number[0] = number;
    return draft.dtypes(0, FLOATS).dtypes(1, NUMBERS).dtypes(2, NUMBERS).one_shape({ 0, 1, 2 }).finish();
}

infiniStatus_t infiniopFloatPower(Desc desc, P, size_t, P y, C x, C exponent, P stream)
{
    return run(desc, TAG_FloatPower, stream, { y, x, exponent },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Temp base, power, result;
                   TSR_TRY(tsr_cast(&base, t[1], TSR_F64));
                   if (t[2]) TSR_TRY(tsr_cast(&power, t[2], TSR_F64));
                   else TSR_TRY(tsr_full_like(&power, base, TSR_SCALAR(op.number[0])));
                   TSR_TRY(tsr_pow(&result, base, power));
                   return tsr_copy(t[0], result);
               });
}

/* start + weight (end - start); operands broadcast. Without a tensor of weights, the number. */
infiniStatus_t infiniopCreateLerpDescriptor(Handle handle, Desc *out, T y, T start, T end, T weight,
                                            float number)
{
    Draft draft(TAG_Lerp, handle, out, 1, { y, start, end, weight }, 1u << 3);
    draft.op.number[0] = number;
    draft.all_dtypes(FLOATS).one_dtype({ 0, 1, 2, 3 });
    for (int i = 1; i < 4; i++) draft.expand(i, 0);
    return draft.finish();
}

infiniStatus_t infiniopLerp(Desc desc, P, size_t, P y, C start, C end, C weight, P stream)
{
    return run(desc, TAG_Lerp, stream, { y, start, end, weight },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Temp a, b, w, result;
                   TSR_TRY(tsr_cast(&a, t[1], wide(t[1])));
                   TSR_TRY(tsr_cast(&b, t[2], wide(t[1])));
                   if (t[3]) TSR_TRY(tsr_cast(&w, t[3], wide(t[1])));
                   else TSR_TRY(tsr_full_like(&w, a, TSR_SCALAR(op.number[0])));
                   TSR_TRY(tsr_lerp(&result, a, b, w));
                   return tsr_copy(t[0], result);
               });
}

/* weight * x below 0; the weight has x's shape, by strides or broadcast. */
infiniStatus_t infiniopCreatePreluDescriptor(Handle handle, Desc *out, T y, T x, T weight)
{
    return Draft(TAG_Prelu, handle, out, 1, { y, x, weight })
        .all_dtypes(FLOATS)
        .one_dtype({ 0, 1, 2 })
        .one_shape({ 0, 1 })
        .expand(2, 0)
        .finish();
}

infiniStatus_t infiniopPrelu(Desc desc, P, size_t, P y, C x, C weight, P stream)
{
    return run(desc, TAG_Prelu, stream, { y, x, weight },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
                   Temp above, scaled;
                   TSR_TRY(tsr_gt(&above, t[1], TSR_NUMBER(0)));
                   TSR_TRY(tsr_mul(&scaled, t[1], t[2]));
                   return tsr_where(&t[0], above, t[1], scaled);
               });
}
