/* math_complex.cuh - functions of complex numbers, computed in double.
 *
 * Products and quotients follow C's annex G where parts are infinite. Odd and even functions are taken
 * from the quadrant where both parts are positive, so that f(-x) and f(conj x) have the bits of f(x). */
#ifndef TSRC_MATH_COMPLEX_CUH
#define TSRC_MATH_COMPLEX_CUH

#include <thrust/complex.h>

#include "math_real.cuh"

namespace tsrc {

using Thrust = thrust::complex<double>;

TSRC_FN Thrust seen(Complex x) { return Thrust(x.re, x.im); }
TSRC_FN Complex back(const Thrust &x) { return { x.real(), x.imag() }; }

TSRC_FN bool is_zero(Complex x) { return x.re == 0 && x.im == 0; }

TSRC_FN Complex op_neg(Complex x) { return { -x.re, -x.im }; }
TSRC_FN Complex op_conj(Complex x) { return { x.re, -x.im }; }
TSRC_FN Complex op_add(Complex x, Complex y) { return { x.re + y.re, x.im + y.im }; }
TSRC_FN Complex op_sub(Complex x, Complex y) { return { x.re - y.re, x.im - y.im }; }
TSRC_FN Complex op_round(Complex x) { return { rint(x.re), rint(x.im) }; }

/* An infinite number as a corner of a box: 1 or 0 with the part's sign. */
TSRC_FN double boxed(double v, bool is_infinite) { return copysign(is_infinite ? 1.0 : 0.0, v); }
TSRC_FN double without_nan(double v) { return v != v ? copysign(0.0, v) : v; }

TSRC_CALL Complex op_mul(Complex x, Complex y)
{
    double a = x.re, b = x.im, c = y.re, d = y.im;
    const double ac = a * c, bd = b * d, ad = a * d, bc = b * c;
    Complex z = { ac - bd, ad + bc };
    if (z.re == z.re || z.im == z.im) return z;
    bool again = false;
    if (isinf(a) || isinf(b)) {
        a = boxed(a, isinf(a));
        b = boxed(b, isinf(b));
        c = without_nan(c);
        d = without_nan(d);
        again = true;
    }
    if (isinf(c) || isinf(d)) {
        c = boxed(c, isinf(c));
        d = boxed(d, isinf(d));
        a = without_nan(a);
        b = without_nan(b);
        again = true;
    }
    if (!again && (isinf(ac) || isinf(bd) || isinf(ad) || isinf(bc))) {
        a = without_nan(a);
        b = without_nan(b);
        c = without_nan(c);
        d = without_nan(d);
        again = true;
    }
    if (again) z = { INFINITY * (a * c - b * d), INFINITY * (a * d + b * c) };
    return z;
}

TSRC_CALL Complex op_div(Complex x, Complex y)
{
    double a = x.re, b = x.im, c = y.re, d = y.im;
    int scale = 0;
    const double size = fmax(fabs(c), fabs(d)), log_size = logb(size);
    if (isfinite(log_size)) {
        scale = -int(log_size);
        c = scalbn(c, scale);
        d = scalbn(d, scale);
    }
    const double square = c * c + d * d;
    Complex z = { scalbn((a * c + b * d) / square, scale), scalbn((b * c - a * d) / square, scale) };
    if (z.re == z.re || z.im == z.im) return z;
    if (square == 0 && (a == a || b == b)) {
        z = { copysign(double(INFINITY), c) * a, copysign(double(INFINITY), c) * b };
    } else if ((isinf(a) || isinf(b)) && isfinite(c) && isfinite(d)) {
        a = boxed(a, isinf(a));
        b = boxed(b, isinf(b));
        z = { INFINITY * (a * c + b * d), INFINITY * (b * c - a * d) };
    } else if (isinf(log_size) && log_size > 0 && isfinite(a) && isfinite(b)) {
        c = boxed(c, isinf(c));
        d = boxed(d, isinf(d));
        z = { 0.0 * (a * c + b * d), 0.0 * (b * c - a * d) };
    }
    return z;
}

TSRC_FN Complex op_reciprocal(Complex x) { return op_div(Complex{ 1, 0 }, x); }

/* (a - b)(a + b) does not cancel as a^2 - b^2 does. */
TSRC_FN Complex op_square(Complex x)
{
    const double a = fabs(x.re), b = fabs(x.im), re = (a - b) * (a + b), im = 2 * (x.re * x.im);
    return isfinite(re) && isfinite(im) ? Complex{ re, im } : op_mul(x, x);
}

TSRC_CALL Complex op_sqrt(Complex x) { return back(thrust::sqrt(seen(x))); }
TSRC_CALL Complex op_exp(Complex x) { return back(thrust::exp(seen(x))); }
TSRC_CALL Complex op_log(Complex x) { return back(thrust::log(seen(x))); }
TSRC_CALL Complex op_acos(Complex x) { return back(thrust::acos(seen(x))); }
TSRC_CALL Complex op_acosh(Complex x) { return back(thrust::acosh(seen(x))); }

TSRC_FN Complex op_rsqrt(Complex x) { return op_reciprocal(op_sqrt(x)); }

TSRC_FN Thrust first_quadrant(Complex x) { return Thrust(fabs(x.re), fabs(x.im)); }
TSRC_FN Complex with_signs(Complex z, bool re, bool im) { return { re ? -z.re : z.re, im ? -z.im : z.im }; }
TSRC_FN Complex as_odd(Complex x, const Thrust &z)
{
    return with_signs(back(z), signbit(x.re), signbit(x.im));
}

TSRC_CALL Complex op_sinh(Complex x) { return as_odd(x, thrust::sinh(first_quadrant(x))); }
TSRC_CALL Complex op_tanh(Complex x)
{
    return as_odd(x, isinf(x.re) ? Thrust(1, 0) : thrust::tanh(first_quadrant(x)));
}
TSRC_CALL Complex op_asinh(Complex x) { return as_odd(x, thrust::asinh(first_quadrant(x))); }
TSRC_CALL Complex op_atanh(Complex x) { return as_odd(x, thrust::atanh(first_quadrant(x))); }
TSRC_CALL Complex op_cosh(Complex x)
{
    return with_signs(back(thrust::cosh(first_quadrant(x))), false, signbit(x.re) != signbit(x.im));
}

TSRC_FN Complex times_i(Complex x) { return { -x.im, x.re }; }
TSRC_FN Complex over_i(Complex x) { return { x.im, -x.re }; }
TSRC_FN Complex op_sin(Complex x) { return over_i(op_sinh(times_i(x))); }
TSRC_FN Complex op_cos(Complex x) { return op_cosh(times_i(x)); }
TSRC_FN Complex op_tan(Complex x) { return over_i(op_tanh(times_i(x))); }
TSRC_FN Complex op_asin(Complex x) { return over_i(op_asinh(times_i(x))); }
TSRC_FN Complex op_atan(Complex x) { return over_i(op_atanh(times_i(x))); }

/* x / |x|, and 0 for 0; near 1, where the magnitude neither overflows nor loses bits. */
TSRC_CALL Complex op_sign(Complex x)
{
    const double larger = fmax(fabs(x.re), fabs(x.im));
    if (is_zero(x)) return { 0, 0 };
    const int scale = larger > 0 && isfinite(larger) ? -ilogb(larger) : 0;
    const double a = scalbn(x.re, scale), b = scalbn(x.im, scale), size = hypot(a, b);
    return { a / size, b / size };
}

/* expm1(a) cos b + (cos b - 1) + i exp(a) sin b, and cos b - 1 = -2 sin^2(b / 2). From 40 on the 1 is
 * lost; below -1 nothing cancels. The 0 at the end makes a zero positive. */
TSRC_CALL Complex op_expm1(Complex x)
{
    if (!isfinite(x.re) || !isfinite(x.im) || x.re > 40 || x.re < -1) {
        const Complex e = op_exp(x);
        return { e.re - 1, e.im };
    }
    const double half = sin(x.im / 2);
    return { expm1(x.re) * cos(x.im) - 2 * half * half + 0.0, exp(x.re) * sin(x.im) };
}

TSRC_FN Complex over(Complex x, double by) { return { x.re / by, x.im / by }; }
TSRC_FN Complex op_log2(Complex x) { return over(op_log(x), 0.69314718055994530942); }
TSRC_FN Complex op_log10(Complex x) { return over(op_log(x), 2.30258509299404568402); }

/* |1 + x|^2 - 1 = 2a + a^2 + b^2, whose terms may cancel: what each step lost is put back. */
TSRC_FN double size_less_1(double a, double b)
{
    const double aa = a * a, bb = b * b, aa_lost = fma(a, a, -aa), bb_lost = fma(b, b, -bb);
    const double low = fmin(aa, bb), high = fmax(aa, bb);
    const double squares = high + low, squares_lost = (high - squares) + low;
    const double sum = 2 * a + squares, was = sum - 2 * a;
    const double sum_lost = (2 * a - (sum - was)) + (squares - was);
    return sum + (sum_lost + (squares_lost + (aa_lost + bb_lost)));
}

TSRC_CALL Complex op_log1p(Complex x)
{
    const double more = size_less_1(x.re, x.im);
    if (!(more > -0.5 && more < 3)) return op_log({ 1 + x.re, x.im });
    return { 0.5 * log1p(more), atan2(x.im, 1 + x.re) };
}

TSRC_CALL Complex op_pow(Complex x, Complex y)
{
    if (is_zero(y)) return { 1, 0 };
    if (is_zero(x) && y.re > 0) return { 0, 0 };
    return op_exp(op_mul(y, op_log(x)));
}

TSRC_FN double op_abs(Complex x) { return called_hypot(x.re, x.im); }
TSRC_FN double op_real(Complex x) { return x.re; }
TSRC_FN double op_imag(Complex x) { return x.im; }
TSRC_FN double op_angle(Complex x) { return called_atan2(x.im, x.re); }

TSRC_FN bool op_isfinite(Complex x) { return isfinite(x.re) && isfinite(x.im); }
TSRC_FN bool op_isinf(Complex x) { return isinf(x.re) || isinf(x.im); }
TSRC_FN bool op_isnan(Complex x) { return isnan(x.re) || isnan(x.im); }
TSRC_FN bool op_logical_not(Complex x) { return is_zero(x); }
TSRC_FN bool op_eq(Complex x, Complex y) { return x.re == y.re && x.im == y.im; }
TSRC_FN bool op_ne(Complex x, Complex y) { return !op_eq(x, y); }
TSRC_FN bool op_logical_and(Complex x, Complex y) { return !is_zero(x) && !is_zero(y); }
TSRC_FN bool op_logical_or(Complex x, Complex y) { return !is_zero(x) || !is_zero(y); }
TSRC_FN bool op_logical_xor(Complex x, Complex y) { return is_zero(x) != is_zero(y); }

} // namespace tsrc

#endif
