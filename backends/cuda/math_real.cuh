/* math_real.cuh - functions of float and double.
 *
 * Short floats are computed in float. Functions that cancel or are steep in their argument carry
 * what rounding took from it, so that float results are right to a few units in the last place
 * too. Long functions of double are not inlined: they are called. */
#ifndef TSRC_MATH_REAL_CUH
#define TSRC_MATH_REAL_CUH

#include "compare.cuh"

namespace tsrc {

#define TSRC_CALL static __device__ __noinline__

/* From libdevice ------------------------------------------------------------------------------ */

#define LIBDEVICE(name)                                        \
    TSRC_CALL double called_##name(double x) { return name(x); } \
    TSRC_FN float  op_##name(float x) { return name##f(x); }     \
    TSRC_FN double op_##name(double x) { return called_##name(x); }
/* Long in float, too. */
#define LIBDEVICE_LONG(name)                                   \
    TSRC_CALL double called_##name(double x) { return name(x); } \
    TSRC_CALL float  called_##name(float x) { return name##f(x); } \
    TSRC_FN float  op_##name(float x) { return called_##name(x); } \
    TSRC_FN double op_##name(double x) { return called_##name(x); }

LIBDEVICE(sqrt) LIBDEVICE(exp) LIBDEVICE(exp2) LIBDEVICE(expm1) LIBDEVICE(log) LIBDEVICE(log2)
LIBDEVICE(log10) LIBDEVICE(log1p) LIBDEVICE(tanh) LIBDEVICE(erf) LIBDEVICE(ceil) LIBDEVICE(floor)
LIBDEVICE(trunc) LIBDEVICE_LONG(sin) LIBDEVICE_LONG(cos) LIBDEVICE_LONG(tan) LIBDEVICE_LONG(asin)
LIBDEVICE_LONG(acos) LIBDEVICE_LONG(atan) LIBDEVICE_LONG(sinh) LIBDEVICE_LONG(cosh) LIBDEVICE_LONG(asinh)
LIBDEVICE_LONG(acosh) LIBDEVICE_LONG(atanh) LIBDEVICE_LONG(erfc) LIBDEVICE_LONG(erfinv) LIBDEVICE_LONG(lgamma)
#undef LIBDEVICE
#undef LIBDEVICE_LONG

TSRC_FN float  op_round(float x) { return rintf(x); }
TSRC_FN double op_round(double x) { return rint(x); }
template <class T> TSRC_FN T op_rsqrt(T x) { return T(1) / op_sqrt(x); }

/* Special functions ----------------------------------------------------------------------------- */

TSRC_CALL float  called_i0(float x) { return fabsf(x) > 800 ? INFINITY : cyl_bessel_i0f(x); }
TSRC_CALL double called_i0(double x) { return fabs(x) > 800 ? double(INFINITY) : cyl_bessel_i0(x); }
template <class T> TSRC_FN T op_i0(T x) { return called_i0(x); }

/* For x > 0: Stirling's series, from where it converges. */
template <class T> TSRC_FN T digamma_right(T x)
{
    T sum = 0;
    for (; x < T(10); x += 1) sum -= T(1) / x;
    const T r = T(1) / (x * x);
    const T high = r * (T(1) / 240 - r * (T(1) / 132 - r * (T(691) / 32760 - r / 12)));
    return sum + (op_log(x) - (T(0.5) / x + r * (T(1) / 12 - r * (T(1) / 120 - r * (T(1) / 252 - high)))));
}

TSRC_FN float  cotangent_pi(float e) { return 3.14159265f * (cospif(e) / sinpif(e)); }
TSRC_FN double cotangent_pi(double e) { return 3.14159265358979323846 * (cospi(e) / sinpi(e)); }

/* Below 0 by reflection; NaN at -1, -2 .. */
template <class T> TSRC_CALL T called_digamma(T x)
{
    if (x == 0) return T(-1) / x;
    if (!(x < 0)) return x - x == 0 ? digamma_right(x) : x;
    const T e = x - op_round(x);
    return e == 0 || x - x != 0 ? T(NAN) : digamma_right(T(1) - x) - cotangent_pi(e);
}
template <class T> TSRC_FN T op_digamma(T x) { return called_digamma(x); }

/* Arithmetic ------------------------------------------------------------------------------------ */

template <class T> TSRC_FN T op_neg(T x)        { return -x; }
template <class T> TSRC_FN T op_abs(T x)        { return x < 0 ? -x : x == 0 ? T(0) : x; }
template <class T> TSRC_FN T op_sign(T x)       { return x > 0 ? T(1) : x < 0 ? T(-1) : x != x ? x : T(0); }
template <class T> TSRC_FN T op_square(T x)     { return x * x; }
template <class T> TSRC_FN T op_reciprocal(T x) { return T(1) / x; }
template <class T> TSRC_FN T op_same(T x)       { return x; }
template <class T> TSRC_FN T op_imag(T)         { return T(0); }
template <class T> TSRC_FN T op_relu(T x)       { return x > 0 || x != x ? x : T(0); }
template <class T> TSRC_FN T op_angle(T x)
{
    return x != x ? x : signbit(x) ? T(3.14159265358979323846) : T(0);
}

template <class T> TSRC_FN T op_add(T x, T y) { return x + y; }
template <class T> TSRC_FN T op_sub(T x, T y) { return x - y; }
template <class T> TSRC_FN T op_mul(T x, T y) { return x * y; }
template <class T> TSRC_FN T op_div(T x, T y) { return x / y; }

/* Of two zeros +0 is the larger. */
template <class T> TSRC_FN T op_maximum(T x, T y)
{
    return x != x ? x : y != y ? y : x == y ? (signbit(x) ? y : x) : x > y ? x : y;
}
template <class T> TSRC_FN T op_minimum(T x, T y)
{
    return x != x ? x : y != y ? y : x == y ? (signbit(x) ? x : y) : x < y ? x : y;
}
template <class T> TSRC_FN T op_fmax(T x, T y) { return x != x ? y : y != y ? x : op_maximum(x, y); }
template <class T> TSRC_FN T op_fmin(T x, T y) { return x != x ? y : y != y ? x : op_minimum(x, y); }

template <class T> TSRC_FN bool op_isfinite(T x)    { return x - x == 0; }
template <class T> TSRC_FN bool op_isinf(T x)       { return x == x && x - x != 0; }
template <class T> TSRC_FN bool op_isnan(T x)       { return x != x; }
template <class T> TSRC_FN bool op_signbit(T x)     { return signbit(x) != 0; }

/* Gates ------------------------------------------------------------------------------------------ */

TSRC_FN float  fused(float x, float y, float w) { return fmaf(x, y, w); }
TSRC_FN double fused(double x, double y, double w) { return fma(x, y, w); }

/* What differs with the digits there are: rests of constants, and where results vanish. */
template <class T> struct Digits;
template <> struct Digits<double> {
    static constexpr double cubic_lost = 2.1960211427085595e-18, twice_lost = -9.96930880911092e-17;
    static constexpr double split = -700, gone = -40;
};
template <> struct Digits<float> {
    static constexpr float cubic_lost = float(0.044715 - double(0.044715f)),
                           twice_lost = float(1.59576912160573071176 - double(1.59576912160573071176f));
    static constexpr float split = -80, gone = -15;
};

template <class T> TSRC_FN T op_sigmoid(T x)
{
    const T e = op_exp(x < 0 ? x : -x);
    return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

/* Far below 0, where the sigmoid has lost bits, x goes between two halves of the exponential. */
template <class T> TSRC_FN T op_silu(T x)
{
    if (x == -INFINITY) return T(-0.0);
    if (x < Digits<T>::split) {
        const T half = op_exp(x / 2);
        return x * half * half;
    }
    return x * op_sigmoid(x);
}

/* Where the result has two bytes or fewer, the units' own reciprocal is good enough. */
TSRC_FN float short_reciprocal(float x)
{
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

TSRC_FN float short_sigmoid(float x)
{
    const float e = op_exp(-fabsf(x)), r = short_reciprocal(1 + e);
    return x < 0 ? e * r : r;
}

/* What is below -200 has vanished. */
TSRC_FN float short_silu(float x)
{
    const float held = x < -200 ? -200 : x;
    return held * short_sigmoid(held);
}

/* 0.5 erfc(a / sqrt 2) exp(a^2 / 2) for a >= 0, within 2^-24.9 and 2^-21.2: polynomials in 1 / (1 + 0.35 a),
 * fitted in relative error. */
TSRC_FN float normal_tail(float a)
{
    const float d = fused(0.35f, a, 1.0f), r = short_reciprocal(d), t = fused(r, fused(-d, r, 1.0f), r);
    float p = -0.029163932f;
    p = fused(p, t, 0.14406083f);
    p = fused(p, t, -0.25590193f);
    p = fused(p, t, 0.15939298f);
    p = fused(p, t, -0.023263880f);
    p = fused(p, t, 0.10557482f);
    p = fused(p, t, 0.11981549f);
    p = fused(p, t, 0.13986434f);
    return fused(p, t, 0.13962126f) * t;
}

TSRC_FN float short_normal_tail(float a)
{
    const float t = short_reciprocal(fused(0.35f, a, 1.0f));
    float p = 0.046609678f;
    p = fused(p, t, -0.19252547f);
    p = fused(p, t, 0.22425421f);
    p = fused(p, t, -0.0019868021f);
    p = fused(p, t, 0.14797122f);
    p = fused(p, t, 0.13580994f);
    return fused(p, t, 0.13986705f) * t;
}

/* -exp(-x^2 / 2) / sqrt(2 pi) (1 - 1/x^2 + 3/x^4 - 15/x^6 ...). */
TSRC_FN double gelu_tail(double x)
{
    const double square = x * x, lost = fused(x, x, -square), r = 1 / square;
    const double high = 1 - 7 * r * (1 - 9 * r * (1 - 11 * r * (1 - 13 * r)));
    const double series = 1 - r * (1 - 3 * r * (1 - 5 * r * high));
    return -0.39894228040143267794 * series * (1 - 0.5 * lost) * op_exp(-0.5 * square);
}

/* x / 2 erfc(-x / sqrt 2); below 0 that is steep, and the rest of the argument is put back by the
 * derivative, -2 / sqrt(pi) exp(-t^2). */
TSRC_CALL double op_gelu(double x)
{
    if (x < -30) return x < -40 ? -0.0 : gelu_tail(x);
    const double c = 0.70710678118654752440, t = -x * c;
    if (!(x < -1)) return 0.5 * x * op_erfc(t);
    const double lost = fused(-x, c, -t) + x * 4.8336466567264567e-17; /* c is short of its value by that */
    return 0.5 * x * (op_erfc(t) - lost * 1.12837916709551257390 * op_exp(-t * t));
}

/* x or 0, less |x| times the chance of lying beyond it. */
TSRC_FN float op_gelu(float x)
{
    const float a = fminf(fabsf(x), 15), square = a * a, lost = fused(a, a, -square);
    const float chance = normal_tail(a) * op_exp(-0.5f * square) * fused(-0.5f, lost, 1.0f);
    return fused(-a, chance, x < 0 ? -0.0f : x);
}

/* exp(-a^2 / 2) as a power of two. */
TSRC_FN float short_gelu(float x)
{
    const float a = fminf(fabsf(x), 15);
    float e;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(-0.72134752f * a * a));
    return fused(-a, short_normal_tail(a) * e, x < 0 ? -0.0f : x);
}

/* x sigmoid(t) with t = 2 sqrt(2 / pi) (x + 0.044715 x^3), below 0 in twice the digits. */
template <class T> TSRC_CALL T op_gelu_tanh(T x)
{
    const T twice = T(1.59576912160573071176), cubic = T(0.044715);
    if (!(x < -1)) return x * op_sigmoid(twice * (x + cubic * x * x * x));
    if (x < Digits<T>::gone) return T(-0.0);
    const T square = x * x, square_lost = fused(x, x, -square);
    const T part = cubic * square;
    const T part_lost = fused(cubic, square, -part) + (cubic * square_lost + Digits<T>::cubic_lost * square);
    const T sum = 1 + part, sum_lost = (part > 1 ? (part - sum) + 1 : (1 - sum) + part) + part_lost;
    const T inner = x * sum, inner_lost = fused(x, sum, -inner) + x * sum_lost;
    const T t = twice * inner;
    const T lost = fused(twice, inner, -t) + (twice * inner_lost + Digits<T>::twice_lost * inner);
    if (t < Digits<T>::split) {
        const T half = op_exp(t / 2);
        return x * (1 + lost) * half * half;
    }
    const T e = op_exp(t) * (1 + lost);
    return x * (e / (1 + e));
}

TSRC_FN float short_gelu_tanh(float x)
{
    const float held = x < Digits<float>::gone ? Digits<float>::gone : x;
    return held * short_sigmoid(1.5957691f * fused(0.044715f * held, held * held, held));
}

template <class T> TSRC_FN T op_softplus(T x)
{
    return x > 0 ? x + op_log1p(op_exp(-x)) : op_log1p(op_exp(x));
}

template <class T> TSRC_FN T op_hardswish(T x)
{
    if (x >= 3) return x;
    return x <= -3 ? T(-0.0) : x * (x + 3) / 6;
}

/* Two operands, in double for both ---------------------------------------------------------------- */

TSRC_CALL double called_logaddexp(double x, double y)
{
    if (x == y) return x + 0.69314718055994530942;  /* equal infinities too */
    const double high = x > y ? x : y, low = x > y ? y : x;
    return x != x || y != y ? x + y : high + log1p(exp(low - high));
}

/* fmod is exact. */
TSRC_CALL double called_remainder(double x, double y)
{
    const double r = fmod(x, y);
    if (r != r) return r;
    if (r != 0 && (r < 0) != (y < 0)) return isinf(y) ? y : r + y;
    return r != 0 ? r : copysign(0.0, y);
}

/* A quotient just below a whole number may have been rounded up to it: what it leaves of x then has the
 * wrong sign, which is exact if fused. */
TSRC_CALL double called_floor_div(double x, double y)
{
    const double q = floor(x / y);
    if (q - q != 0 || isinf(y)) return q;
    const double left = fma(-q, y, x);
    return left != 0 && (left < 0) != (y < 0) ? q - 1 : q;
}

TSRC_CALL double called_hypot(double x, double y)
{
    return isinf(x) || isinf(y) ? double(INFINITY) : hypot(x, y);
}
TSRC_CALL double called_pow(double x, double y) { return pow(x, y); }
TSRC_CALL float  called_pow(float x, float y) { return powf(x, y); }
TSRC_CALL double called_atan2(double x, double y) { return atan2(x, y); }
TSRC_CALL float  called_atan2(float x, float y) { return atan2f(x, y); }

template <class T> TSRC_FN T op_logaddexp(T x, T y) { return T(called_logaddexp(x, y)); }
template <class T> TSRC_FN T op_remainder(T x, T y) { return T(called_remainder(x, y)); }
template <class T> TSRC_FN T op_floor_div(T x, T y) { return T(called_floor_div(x, y)); }
template <class T> TSRC_FN T op_hypot(T x, T y)     { return T(called_hypot(x, y)); }
template <class T> TSRC_FN T op_pow(T x, T y)       { return x == 1 || y == 0 ? T(1) : called_pow(x, y); }
template <class T> TSRC_FN T op_atan2(T x, T y)     { return called_atan2(x, y); }

/* x y + w in f64, cut, with a last bit that says whether something was cut off. */
TSRC_FN double fma_odd(double x, double y, double w)
{
    const double r = __fma_rz(x, y, w);
    if (__fma_ru(x, y, w) == __fma_rd(x, y, w) || r != r) return r;
    return __longlong_as_double(__double_as_longlong(r) | 1);
}

}  // namespace tsrc

#endif
