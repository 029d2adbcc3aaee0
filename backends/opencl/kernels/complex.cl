/* complex.cl - functions of complex numbers, in the widest type there is.
 *
 * Odd and even functions are computed where both parts are positive, so that f(-x) and f(conj x)
 * have the bits of f(x); circular functions come from hyperbolic ones. Infinities and NaNs follow
 * annex G of C11. Inverse functions follow Hull, Fairgrieve and Tang, "Implementing the complex
 * arcsine and arccosine functions using exception handling" (1997). */

typedef struct extra { wide a, b; long whole; } extra;

#define C(re, im) ((wide2)((re), (im)))
#define W(x) ((wide)(x))
#ifdef HAS_F64
#define INF ((double)INFINITY)
#define NOT_A_NUMBER nan(0ul)
#define BIG 1e150      /* its square does not overflow */
#define HUGE_HALF 8e307  /* above: twice it overflows */
#define TINY 1e-140    /* its square loses bits */
#define EXP_MOST 709.0
#define ONLY_EXP 40.0  /* 1 is lost beside exp of it */
#define LN2 0.69314718055994530942
#define LN10 2.30258509299404568402
#define HALF_PI 1.57079632679489661923
#define WHOLE_PI 3.14159265358979323846
#else
#define INF INFINITY
#define NOT_A_NUMBER nan(0u)
#define BIG 1e18f
#define HUGE_HALF 1.6e38f
#define TINY 1e-16f
#define EXP_MOST 88.0f
#define ONLY_EXP 20.0f
#define LN2 0.693147181f
#define LN10 2.30258509f
#define HALF_PI 1.57079633f
#define WHOLE_PI 3.14159265f
#endif

static inline int finite_parts(wide2 x) { return x.x - x.x == 0 && x.y - x.y == 0; }

/* Products and quotients ------------------------------------------------------------------------ */

static inline wide sign_or_zero(wide x) { return isnan(x) ? copysign(W(0), x) : x; }
static inline wide unit_if_inf(wide x)  { return copysign(isinf(x) ? W(1) : W(0), x); }

/* Both parts of a plain product are NaN: an infinity in it counts all the same. */
static inline wide2 infinite_product(wide2 x, wide2 y, wide2 plain)
{
    wide a = x.x, b = x.y, c = y.x, d = y.y;
    int again = 0;
    if (isinf(a) || isinf(b)) {
        a = unit_if_inf(a); b = unit_if_inf(b); c = sign_or_zero(c); d = sign_or_zero(d);
        again = 1;
    }
    if (isinf(c) || isinf(d)) {
        c = unit_if_inf(c); d = unit_if_inf(d); a = sign_or_zero(a); b = sign_or_zero(b);
        again = 1;
    }
    if (!again && (isinf(x.x * y.x) || isinf(x.y * y.y) || isinf(x.x * y.y) || isinf(x.y * y.x))) {
        a = sign_or_zero(a); b = sign_or_zero(b); c = sign_or_zero(c); d = sign_or_zero(d);
        again = 1;
    }
    return again ? C(INF * (a * c - b * d), INF * (a * d + b * c)) : plain;
}

static inline wide2 op_mul(wide2 x, wide2 y)
{
    const wide2 z = C(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
    return isnan(z.x) && isnan(z.y) ? infinite_product(x, y, z) : z;
}

/* A power of two that brings x near 1. */
static inline int scale_of(wide x) { return x > 0 && x < INF ? -ilogb(x) : 0; }

static inline wide2 op_div(wide2 x, wide2 y)
{
    const wide most = fmax(fabs(y.x), fabs(y.y));
    const int scale = scale_of(most);
    const wide c = ldexp(y.x, scale), d = ldexp(y.y, scale), size = c * c + d * d;
    wide2 z = C(ldexp((x.x * c + x.y * d) / size, scale), ldexp((x.y * c - x.x * d) / size, scale));
    if (!isnan(z.x) || !isnan(z.y)) return z;
    if (size == 0 && (!isnan(x.x) || !isnan(x.y))) {
        const wide end = copysign(INF, y.x);
        return C(end * x.x, end * x.y);
    }
    if ((isinf(x.x) || isinf(x.y)) && finite_parts(y)) {
        const wide a = unit_if_inf(x.x), b = unit_if_inf(x.y);
        return C(INF * (a * c + b * d), INF * (b * c - a * d));
    }
    if (isinf(most) && finite_parts(x)) {
        const wide e = unit_if_inf(y.x), f = unit_if_inf(y.y);
        return C(W(0) * (x.x * e + x.y * f), W(0) * (x.y * e - x.x * f));
    }
    return z;
}

static inline wide2 op_add(wide2 x, wide2 y) { return x + y; }
static inline wide2 op_sub(wide2 x, wide2 y) { return x - y; }
static inline wide2 op_neg(wide2 x)          { return -x; }
static inline wide2 op_conj(wide2 x)         { return C(x.x, -x.y); }
static inline wide2 op_round(wide2 x)        { return rint(x); }
static inline wide2 op_reciprocal(wide2 x)   { return op_div(C(W(1), W(0)), x); }

/* (a - b)(a + b) does not cancel as a^2 - b^2 does; of magnitudes, so that 0 is +0. */
static inline wide2 op_square(wide2 x)
{
    const wide a = fabs(x.x), b = fabs(x.y), re = (a - b) * (a + b), im = 2 * (x.x * x.y);
    return re - re == 0 && im - im == 0 ? C(re, im) : op_mul(x, x);
}

/* Magnitudes and angles ---------------------------------------------------------------------------- */

static inline wide op_abs(wide2 x)   { return isinf(x.x) || isinf(x.y) ? INF : hypot(x.x, x.y); }
static inline wide op_real(wide2 x)  { return x.x; }
static inline wide op_imag(wide2 x)  { return x.y; }
static inline wide op_angle(wide2 x) { return atan2(x.y, x.x); }

/* x / |x|, and 0 for 0; near 1, where the magnitude neither overflows nor loses bits. */
static inline wide2 op_sign(wide2 x)
{
    if (x.x == 0 && x.y == 0) return C(W(0), W(0));
    const int scale = scale_of(fmax(fabs(x.x), fabs(x.y)));
    const wide a = ldexp(x.x, scale), b = ldexp(x.y, scale), size = hypot(a, b);
    return C(a / size, b / size);
}

/* m^2 + n^2 - 1, with what each step lost put back. m >= n >= 0, m near 1. */
static inline wide squares_less_1(wide m, wide n)
{
    const wide p = m * m, q = n * n, p_lost = fma(m, m, -p), q_lost = fma(n, n, -q);
    wide sum = p - 1, lost = 0;
    add_exactly(&sum, &lost, q);
    return sum + (lost + (p_lost + q_lost));
}

static inline wide log_size(wide2 x)
{
    const wide a = fabs(x.x), b = fabs(x.y), m = fmax(a, b), n = fmin(a, b);
    if (isinf(a) || isinf(b)) return INF;
    if (isnan(a) || isnan(b) || m == 0) return log(a + b);
    if (m > W(0.5f) && m < W(1.5f)) {
        const wide more = squares_less_1(m, n);
        if (more > W(-0.5f) && more < 1) return log1p(more) / 2;
    }
    if (m > HUGE_HALF) return log(hypot(m / 4, n / 4)) + 2 * LN2;
    if (m < TINY) return log(hypot(ldexp(m, 100), ldexp(n, 100))) - 100 * LN2;
    return log(hypot(m, n));
}

static inline wide2 op_log(wide2 x)   { return C(log_size(x), atan2(x.y, x.x)); }
static inline wide2 op_log2(wide2 x)  { return op_log(x) / LN2; }
static inline wide2 op_log10(wide2 x) { return op_log(x) / LN10; }

/* |1 + x|^2 - 1 = 2a + a^2 + b^2, whose terms may cancel: what each step lost is put back. */
static inline wide2 op_log1p(wide2 x)
{
    const wide a = x.x, b = x.y, aa = a * a, bb = b * b, aa_lost = fma(a, a, -aa), bb_lost = fma(b, b, -bb);
    wide sum = 2 * a, lost = 0;
    add_exactly(&sum, &lost, fmax(aa, bb));
    add_exactly(&sum, &lost, fmin(aa, bb));
    const wide more = sum + (lost + (aa_lost + bb_lost));
    if (!(more > W(-0.5f) && more < 3)) return op_log(C(1 + a, b));
    return C(log1p(more) / 2, atan2(b, 1 + a));
}

/* Roots and exponentials --------------------------------------------------------------------------- */

static inline wide2 op_sqrt(wide2 x)
{
    if (isinf(x.y)) return C(INF, x.y);
    if (isinf(x.x)) {
        if (x.x > 0) return C(INF, isnan(x.y) ? x.y : copysign(W(0), x.y));
        return isnan(x.y) ? C(x.y, INF) : C(W(0), copysign(INF, x.y));
    }
    if (isnan(x.x) || isnan(x.y)) return C(NOT_A_NUMBER, NOT_A_NUMBER);
    const wide most = fmax(fabs(x.x), fabs(x.y));
    if (most == 0) return C(W(0), x.y);
    const int half_scale = scale_of(most) / 2;
    const wide a = ldexp(x.x, 2 * half_scale), b = ldexp(x.y, 2 * half_scale);
    const wide t = sqrt((fabs(a) + hypot(a, b)) / 2), u = fabs(b) / (2 * t);
    const wide2 z = a >= 0 ? C(t, u) : C(u, t);
    return C(ldexp(z.x, -half_scale), copysign(ldexp(z.y, -half_scale), x.y));
}

static inline wide2 op_rsqrt(wide2 x) { return op_reciprocal(op_sqrt(x)); }

static inline wide2 op_exp(wide2 x)
{
    if (x.y == 0) return C(exp(x.x), x.y);
    if (x.y - x.y != 0) {
        if (isinf(x.x)) return x.x < 0 ? C(W(0), W(0)) : C(INF, NOT_A_NUMBER);
        return C(NOT_A_NUMBER, NOT_A_NUMBER);
    }
    const wide c = cos(x.y), s = sin(x.y);
    if (x.x > EXP_MOST && !isinf(x.x)) {
        const wide e = exp(x.x / 2);
        return C(e * c * e, e * s * e);
    }
    return C(exp(x.x) * c, exp(x.x) * s);
}

/* expm1(a) cos b + (cos b - 1) + i exp(a) sin b, and cos b - 1 = -2 sin^2(b / 2). */
static inline wide2 op_expm1(wide2 x)
{
    if (!finite_parts(x) || x.x > ONLY_EXP || x.x < -1) return op_exp(x) - C(W(1), W(0));
    const wide s = sin(x.y / 2);
    return C(expm1(x.x) * cos(x.y) - 2 * s * s + W(0), exp(x.x) * sin(x.y));
}

static inline wide2 op_pow(wide2 x, wide2 y)
{
    if (y.x == 0 && y.y == 0) return C(W(1), W(0));
    if (x.x == 0 && x.y == 0 && y.x > 0) return C(W(0), W(0));
    return op_exp(op_mul(y, op_log(x)));
}

/* Hyperbolic functions ------------------------------------------------------------------------------- */

static inline wide2 as_odd(wide2 x, wide2 z)
{
    return C(signbit(x.x) ? -z.x : z.x, signbit(x.y) ? -z.y : z.y);
}

/* exp(a) / 2 times the parts of a direction. */
static inline wide2 half_exp(wide a, wide re, wide im)
{
    if (isinf(a)) return C(INF * re, INF * im);
    const wide e = exp(a / 2);
    return C(e * (re / 2) * e, e * (im / 2) * e);
}

static inline wide2 first_sinh(wide a, wide b)
{
    if (b == 0) return C(sinh(a), b);
    if (b - b != 0) return C(a == 0 ? a : isinf(a) ? a : NOT_A_NUMBER, NOT_A_NUMBER);
    if (a > ONLY_EXP) return half_exp(a, cos(b), sin(b));
    return C(sinh(a) * cos(b), cosh(a) * sin(b));
}

static inline wide2 first_cosh(wide a, wide b)
{
    if (b == 0) return C(cosh(a), W(0));
    if (b - b != 0) return isinf(a) ? C(INF, NOT_A_NUMBER) : C(NOT_A_NUMBER, a == 0 ? W(0) : NOT_A_NUMBER);
    if (a > ONLY_EXP) return half_exp(a, cos(b), sin(b));
    return C(cosh(a) * cos(b), sinh(a) * sin(b));
}

/* By tan b, whose square takes no part where it overflows. */
static inline wide2 first_tanh(wide a, wide b)
{
    if (isinf(a)) return C(W(1), W(0));
    if (b - b != 0) return C(a == 0 ? a : NOT_A_NUMBER, NOT_A_NUMBER);
    if (isnan(a)) return C(a, b == 0 ? b : a);
    if (a > ONLY_EXP) return C(W(1), 4 * sin(b) * cos(b) * exp(-2 * a));
    const wide t = tan(b), beta = 1 + t * t, s = sinh(a), rho = sqrt(1 + s * s), below = 1 + beta * s * s;
    return isinf(beta) ? C(rho / s, 1 / t) : C(beta * rho * s / below, t / below);
}

static inline wide2 op_sinh(wide2 x) { return as_odd(x, first_sinh(fabs(x.x), fabs(x.y))); }
static inline wide2 op_tanh(wide2 x) { return as_odd(x, first_tanh(fabs(x.x), fabs(x.y))); }

static inline wide2 op_cosh(wide2 x)
{
    const wide2 z = first_cosh(fabs(x.x), fabs(x.y));
    return C(z.x, signbit(x.x) != signbit(x.y) ? -z.y : z.y);
}

static inline wide2 times_i(wide2 x) { return C(-x.y, x.x); }
static inline wide2 over_i(wide2 x)  { return C(x.y, -x.x); }

static inline wide2 op_sin(wide2 x) { return over_i(op_sinh(times_i(x))); }
static inline wide2 op_cos(wide2 x) { return op_cosh(times_i(x)); }
static inline wide2 op_tan(wide2 x) { return over_i(op_tanh(times_i(x))); }

/* Inverse functions ---------------------------------------------------------------------------------- */

/* asin of x + iy, both finite and not negative, as (re, im); and with `cosine` acos's real part in the
 * place of re. */
static inline wide2 first_asin(wide x, wide y, int cosine)
{
    if (fmax(x, y) > BIG) {
        const wide re = cosine ? atan2(y, x) : atan2(x, y);
        return C(re, log_size(C(x, y)) + LN2);
    }
    if (y < TINY && x != 1) {
        if (x < 1) return C(cosine ? acos(x) : asin(x), y / sqrt((1 - x) * (1 + x)));
        const wide far = sqrt((x - 1) * (x + 1));
        return C(cosine ? y / far : HALF_PI, log1p((x - 1) + far));
    }
    const wide r = hypot(x + 1, y), s = hypot(x - 1, y), a = (r + s) / 2, b = x / a, yy = y * y;
    wide2 z;
    if (b <= W(0.6417f)) {
        z.x = cosine ? acos(b) : asin(b);
    } else {
        const wide apx = a + x;
        const wide root = x <= 1 ? sqrt(apx / 2 * (yy / (r + (x + 1)) + (s + (1 - x))))
                                 : y * sqrt((apx / (r + (x + 1)) + apx / (s + (x - 1))) / 2);
        z.x = cosine ? atan2(root, x) : atan2(x, root);
    }
    if (a <= W(1.5f)) {
        const wide other = x < 1 ? (yy == 0 ? W(0) : yy / (s + (1 - x))) : s + (x - 1);
        const wide more = (yy / (r + (x + 1)) + other) / 2;
        z.y = log1p(more + sqrt(more * (a + 1)));
    } else {
        z.y = log(a + sqrt((a - 1) * (a + 1)));
    }
    return z;
}

static inline wide2 first_asinh(wide a, wide b)
{
    if (isinf(a)) return C(a, isnan(b) ? b : isinf(b) ? HALF_PI / 2 : W(0));
    if (isinf(b)) return C(INF, isnan(a) ? a : HALF_PI);
    if (isnan(a)) return C(a, b == 0 ? b : a);
    if (isnan(b)) return C(b, b);
    const wide2 z = first_asin(b, a, 0);
    return C(z.y, z.x);
}

static inline wide2 op_asinh(wide2 x) { return as_odd(x, first_asinh(fabs(x.x), fabs(x.y))); }
static inline wide2 op_asin(wide2 x)  { return over_i(op_asinh(times_i(x))); }

static inline wide2 op_acos(wide2 x)
{
    wide2 z;
    const wide a = fabs(x.x), b = fabs(x.y);
    if (isinf(a))      z = C(isnan(b) ? b : isinf(b) ? HALF_PI / 2 : W(0), INF);
    else if (isinf(b)) z = C(isnan(a) ? a : HALF_PI, INF);
    else if (isnan(a)) z = C(a, a);
    else if (isnan(b)) z = C(a == 0 ? HALF_PI : b, b);
    else               z = first_asin(a, b, 1);
    return C(signbit(x.x) ? WHOLE_PI - z.x : z.x, signbit(x.y) ? z.y : -z.y);
}

static inline wide2 op_acosh(wide2 x)
{
    const wide2 z = op_acos(x);
    return C(fabs(z.y), copysign(z.x, x.y));
}

static inline wide2 first_atanh(wide a, wide b)
{
    if (isinf(a) || isinf(b)) return C(W(0), isnan(b) ? b : HALF_PI);
    if (isnan(a)) return C(a, a);
    if (isnan(b)) return C(a == 0 ? a : b, b);
    if (fmax(a, b) > BIG) {
        const wide size = hypot(a / 2, b / 2);
        return C(a / size / size / 4, HALF_PI);
    }
    if (a == 1) return C((log(hypot(W(2), b)) - log(b)) / 2, b == 0 ? b : atan2(W(2), -b) / 2);
    if (b < TINY) return C(log1p(4 * a / ((1 - a) * (1 - a))) / 4, atan2(2 * b, (1 - a) * (1 + a)) / 2);
    return C(log1p(4 * a / ((1 - a) * (1 - a) + b * b)) / 4, atan2(2 * b, (1 - a) * (1 + a) - b * b) / 2);
}

static inline wide2 op_atanh(wide2 x) { return as_odd(x, first_atanh(fabs(x.x), fabs(x.y))); }
static inline wide2 op_atan(wide2 x)  { return over_i(op_atanh(times_i(x))); }

/* Questions, and three operands ------------------------------------------------------------------------ */

static inline int op_isfinite(wide2 x)    { return finite_parts(x); }
static inline int op_isinf(wide2 x)       { return isinf(x.x) || isinf(x.y); }
static inline int op_isnan(wide2 x)       { return isnan(x.x) || isnan(x.y); }
static inline int op_logical_not(wide2 x) { return x.x == 0 && x.y == 0; }
static inline int op_eq(wide2 x, wide2 y) { return x.x == y.x && x.y == y.y; }
static inline int op_ne(wide2 x, wide2 y) { return !op_eq(x, y); }
static inline int op_logical_and(wide2 x, wide2 y) { return !op_logical_not(x) && !op_logical_not(y); }
static inline int op_logical_or(wide2 x, wide2 y)  { return !op_logical_not(x) || !op_logical_not(y); }
static inline int op_logical_xor(wide2 x, wide2 y) { return op_logical_not(x) != op_logical_not(y); }

static inline wide2 op_lerp(wide2 x, wide2 y, wide2 w)
{
    return hypot(w.x, w.y) < W(0.5f) ? x + op_mul(w, y - x) : y - op_mul(y - x, C(W(1), W(0)) - w);
}

static inline wide2 op_fma(wide2 x, wide2 y, wide2 w) { return op_mul(x, y) + w; }
static inline wide2 op_addcmul(wide2 x, wide2 y, wide2 w, extra e)
{
    return x + op_mul(C(e.a * y.x, e.a * y.y), w);
}
