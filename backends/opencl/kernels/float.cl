/* float.cl - functions of floats and doubles. value is the class's type; long functions are computed
 * in `much`, the widest type there is, and rounded once. */

typedef struct extra { wide a, b; long whole; } extra;

#ifdef CLASS_DOUBLE
typedef double much;
#else
typedef wide much;
#endif
#define MUCH(x) ((much)(x))

/* What rounding took from constants, and where functions leave their range. */
#if defined(HAS_F64)
#define SQRT_HALF_LOST 4.8336466567264567e-17
#define CUBIC_LOST 2.1960211427085595e-18
#define TWICE_LOST -9.96930880911092e-17
#define GELU_TAIL -30.0
#define EXP_LEAST -700.0
#define PI 3.14159265358979323846
#else
#define SQRT_HALF_LOST 1.21016171e-8f
#define CUBIC_LOST 1.54614449e-9f
#define TWICE_LOST -4.53406804e-8f
#define GELU_TAIL -10.0f
#define EXP_LEAST -80.0f
#define PI 3.14159265f
#endif

static inline value op_neg(value x)        { return -x; }
static inline value op_abs(value x)        { return fabs(x); }
static inline value op_sign(value x) { return x > 0 ? (value)1 : x < 0 ? (value)-1 : x != x ? x : (value)0; }
static inline value op_square(value x)     { return x * x; }
static inline value op_reciprocal(value x) { return (value)1 / x; }
static inline value op_conj(value x)       { return x; }
static inline value op_real(value x)       { return x; }
static inline value op_imag(value x)       { return 0; }
static inline value op_relu(value x)       { return x > 0 || x != x ? x : (value)0; }

static inline value op_sqrt(value x)  { return sqrt(x); }
static inline value op_rsqrt(value x) { return (value)(MUCH(1) / sqrt(MUCH(x))); }
static inline value op_exp(value x)   { return exp(x); }
static inline value op_exp2(value x)  { return exp2(x); }
static inline value op_expm1(value x) { return expm1(x); }
static inline value op_log(value x)   { return log(x); }
static inline value op_log2(value x)  { return log2(x); }
static inline value op_log10(value x) { return log10(x); }
static inline value op_log1p(value x) { return log1p(x); }
static inline value op_sin(value x)   { return sin(x); }
static inline value op_cos(value x)   { return cos(x); }
static inline value op_tan(value x)   { return (value)tan(MUCH(x)); }
static inline value op_asin(value x)  { return asin(x); }
static inline value op_acos(value x)  { return acos(x); }
static inline value op_atan(value x)  { return atan(x); }
static inline value op_sinh(value x)  { return (value)sinh(MUCH(x)); }
static inline value op_cosh(value x)  { return (value)cosh(MUCH(x)); }
static inline value op_tanh(value x)  { return tanh(x); }
static inline value op_asinh(value x) { return asinh(x); }
static inline value op_acosh(value x) { return acosh(x); }
static inline value op_atanh(value x) { return atanh(x); }
static inline value op_erf(value x)   { return (value)erf(MUCH(x)); }
static inline value op_erfc(value x)  { return (value)erfc(MUCH(x)); }
static inline value op_ceil(value x)  { return ceil(x); }
static inline value op_floor(value x) { return floor(x); }
static inline value op_round(value x) { return rint(x); }
static inline value op_trunc(value x) { return trunc(x); }

/* The angle of a real number: 0, or pi below zero; NaN for NaN. */
static inline value op_angle(value x) { return x != x ? x : signbit(x) ? (value)PI : (value)0; }

/* By the side that does not overflow, and exactly 0 and 1 far out. */
static inline much sigmoid(much x)
{
    const much e = exp(x < 0 ? x : -x);
    return x < 0 ? e / (1 + e) : 1 / (1 + e);
}

static inline value op_sigmoid(value x) { return (value)sigmoid(MUCH(x)); }

/* Far below 0, where the sigmoid is exp(x) and has lost bits, x goes between two halves of it. */
static inline value op_silu(value v)
{
    const much x = v;
    if (isinf(x) && x < 0) return (value)-0.0f;
    return (value)(x < -80 ? x * exp(x / 2) * exp(x / 2) : x * sigmoid(x));
}

/* Far below 0, where erfc vanishes first: a series, with what rounding took from x^2 put back. */
static inline much gelu_tail(much x)
{
    const much square = x * x, lost = fma(x, x, -square), r = 1 / square;
    const much high = 1 - 7 * r * (1 - 9 * r * (1 - 11 * r * (1 - 13 * r)));
    const much series = 1 - r * (1 - 3 * r * (1 - 5 * r * high));
    return -MUCH(0.39894228040143267794) * series * (1 - lost / 2) * exp(-square / 2);
}

/* x / 2 erfc(-x / sqrt 2). Below -1 that is steep: the part of the argument that rounding took is put
 * back by the derivative, -2 / sqrt(pi) exp(-t^2). */
static inline much gelu(much x)
{
    if (x < GELU_TAIL) return x < -40 ? MUCH(-0.0f) : gelu_tail(x);
    const much t = -x * MUCH(0.70710678118654752440);
    if (!(x < -1)) return x / 2 * erfc(t);
    const much lost = fma(-x, MUCH(0.70710678118654752440), -t) + x * SQRT_HALF_LOST;
    return x / 2 * (erfc(t) - lost * MUCH(1.12837916709551257390) * exp(-t * t));
}

static inline value op_gelu(value x) { return (value)gelu(MUCH(x)); }

/* 2 sqrt(2 / pi) (x + 0.044715 x^3), and what rounding took from it: in twice the digits. */
static inline much gelu_argument(much x, much *lost)
{
    const much cubic = MUCH(0.044715), twice = MUCH(1.59576912160573071176);
    const much square = x * x, square_lost = fma(x, x, -square);
    const much part = cubic * square;
    const much part_lost = fma(cubic, square, -part) + (cubic * square_lost + CUBIC_LOST * square);
    const much sum = 1 + part, sum_lost = (part > 1 ? (part - sum) + 1 : (1 - sum) + part) + part_lost;
    const much inner = x * sum, inner_lost = fma(x, sum, -inner) + x * sum_lost;
    const much t = twice * inner;
    *lost = fma(twice, inner, -t) + (twice * inner_lost + TWICE_LOST * inner);
    return t;
}

/* x / 2 (1 + tanh(t / 2)) = x sigmoid(t), without cancelling. */
static inline value op_gelu_tanh(value v)
{
    const much x = v;
    if (!(x < -1)) {
        if (x > 40) return v;
        return (value)(x * sigmoid(MUCH(1.59576912160573071176) * (x + MUCH(0.044715) * x * x * x)));
    }
    if (x < -40) return (value)-0.0f;
    much lost;
    const much t = gelu_argument(x, &lost);
    if (t < EXP_LEAST) return (value)(x * (1 + lost) * exp(t / 2) * exp(t / 2));
    const much e = exp(t) * (1 + lost);
    return (value)(x * (e / (1 + e)));
}

static inline value op_softplus(value v)
{
    const much x = v;
    return (value)(x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)));
}

/* Infinite at 0, -1, -2 .. and at both infinities, which not every compiler's is. */
static inline value op_lgamma(value v)
{
    const much x = v;
    return isinf(x) || (x <= 0 && x == rint(x)) ? (value)INFINITY : (value)lgamma(x);
}

/* For x > 0: Stirling's series, from where it converges. */
static inline much digamma_right(much x)
{
    much sum = 0;
    for (; x < 10; x += 1) sum -= 1 / x;
    const much r = 1 / (x * x);
    const much high = r * (MUCH(1) / 240 - r * (MUCH(1) / 132 - r * (MUCH(691) / 32760 - r / 12)));
    const much series = MUCH(1) / 12 - r * (MUCH(1) / 120 - r * (MUCH(1) / 252 - high));
    return sum + (log(x) - (MUCH(0.5f) / x + r * series));
}

/* Below 0 by reflection; NaN at -1, -2 .. */
static inline value op_digamma(value v)
{
    const much x = v;
    if (x == 0) return (value)(-1 / x);
    if (!(x < 0)) return x - x == 0 ? (value)digamma_right(x) : v;
    const much e = x - rint(x);
    if (e == 0 || x - x != 0) return (value)NAN;
    return (value)(digamma_right(1 - x) - MUCH(PI) * (cospi(e) / sinpi(e)));
}

/* The sum of (x / 2)^2k / k!^2; beyond 20, exp(x) / sqrt(2 pi x) times the series in 1 / x, which is as good
 * there. exp(x) overflows first: its root is multiplied twice. */
static inline value op_i0(value v)
{
    const much a = fabs(MUCH(v));
    const bool converges = a <= 20;
    much term = 1, sum = 1;
    if (a > 800) return (value)INFINITY;
    for (int k = 1; k < 60; k++) {
        const much odd = 2 * k - 1;
        term *= converges ? a * a / 4 / ((much)k * k) : odd * odd / (8 * a * k);
        if (!converges && k > 20) break;
        sum += term;
    }
    const much root = exp(a / 2);
    return (value)(converges || a != a ? sum + (a - a) : root * (sum / sqrt(2 * MUCH(PI) * a)) * root);
}

/* Halley's steps from a guess; beyond a half with erfc, which has the digits that erf lacks. */
static inline value op_erfinv(value v)
{
    const much a = fabs(MUCH(v)), l = log1p(-a * a) / 2, b = 2 / (MUCH(PI) * MUCH(0.147f)) + l;
    if (!(a < 1)) return a == 1 ? (value)(v * INFINITY) : (value)NAN;
    if (a < MUCH(1e-4f))
        return (value)(v * MUCH(0.88622692545275801365) * (1 + MUCH(0.26179938779914943654) * a * a));
    much y = sqrt(sqrt(b * b - 2 * l / MUCH(0.147f)) - b);
    for (int i = 0; i < 3; i++) {
        const much off = a < MUCH(0.5f) ? erf(y) - a : (1 - a) - erfc(y);
        const much step = off * MUCH(0.88622692545275801365) * exp(y * y);
        y -= step / (1 + y * step);
    }
    return copysign((value)y, v);
}

static inline value op_hardswish(value x)
{
    if (x >= 3) return x;  /* six times the largest numbers would overflow */
    return x <= -3 ? (value)-0.0f : (value)(MUCH(x) * (MUCH(x) + 3) / 6);
}

static inline value op_elu(value x, extra e) { return x < 0 ? (value)(MUCH(e.a) * expm1(MUCH(x))) : x; }
static inline value op_leaky_relu(value x, extra e) { return x < 0 ? (value)(MUCH(e.a) * MUCH(x)) : x; }
static inline value op_hardtanh(value x, extra e)
{
    return MUCH(x) < e.a ? (value)e.a : MUCH(x) > e.b ? (value)e.b : x;
}

static inline value op_add(value x, value y) { return x + y; }
static inline value op_sub(value x, value y) { return x - y; }
static inline value op_mul(value x, value y) { return x * y; }
static inline value op_div(value x, value y) { return x / y; }

/* Of two zeros +0 is the larger. */
static inline value op_maximum(value x, value y)
{
    return x != x ? x : y != y ? y : x == y ? (signbit(x) ? y : x) : x > y ? x : y;
}

static inline value op_minimum(value x, value y)
{
    return x != x ? x : y != y ? y : x == y ? (signbit(x) ? x : y) : x < y ? x : y;
}

static inline value op_fmax(value x, value y) { return x != x ? y : y != y ? x : op_maximum(x, y); }
static inline value op_fmin(value x, value y) { return x != x ? y : y != y ? x : op_minimum(x, y); }
static inline value op_clip(value x, value low, value high) { return op_minimum(op_maximum(x, low), high); }

static inline value op_pow(value x, value y)
{
    return x == 1 || y == 0 ? (value)1 : (value)pow(MUCH(x), MUCH(y));
}
static inline value op_atan2(value x, value y) { return (value)atan2(MUCH(x), MUCH(y)); }
static inline value op_hypot(value x, value y)
{
    return isinf(x) || isinf(y) ? (value)INFINITY : (value)hypot(MUCH(x), MUCH(y));
}

static inline value op_logaddexp(value u, value v)
{
    const much x = u, y = v;
    if (x == y) return (value)(x + MUCH(0.69314718055994530942));  /* equal infinities too */
    const much high = x > y ? x : y, low = x > y ? y : x;
    return x != x || y != y ? (value)(x + y) : (value)(high + log1p(exp(low - high)));
}

/* fmod is exact. */
static inline value op_remainder(value x, value y)
{
    const value r = fmod(x, y);
    if (r != r) return r;
    if (r != 0 && (r < 0) != (y < 0)) return isinf(y) ? y : (value)(MUCH(r) + MUCH(y));
    return r != 0 ? r : copysign((value)0, y);
}

/* A quotient just below a whole number may have been rounded up to it: what it leaves of x then has the
 * wrong sign, and fused the sign is exact. */
static inline value op_floor_div(value u, value v)
{
    const much x = u, y = v, q = floor(x / y);
    if (q - q != 0 || isinf(y)) return (value)q;
    const much left = fma(-q, y, x);
    return (value)(left != 0 && (left < 0) != (y < 0) ? q - 1 : q);
}

static inline value op_lerp(value u, value v, value s)
{
    const much x = u, y = v, w = s;
    return (value)(w < MUCH(0.5f) ? x + w * (y - x) : y - (y - x) * (1 - w));
}

/* x * y + w, rounded once to the dtype: a short float's product is exact in double, and a sum that
 * lost bits gets its last one set. */
static inline value op_fma(int dtype, value x, value y, value w)
{
#if defined(CLASS_FLOAT) && defined(HAS_F64)
    if (dtype != T_F32) {
        const double product = (double)x * (double)y, sum = product + (double)w;
        if (sum - sum != 0) return (value)sum;
        const double back = sum - product, lost = (product - (sum - back)) + ((double)w - back);
        const ulong bits = as_ulong(sum);
        if (lost == 0 || (bits & 1)) return odd_float(sum);
        return odd_float(as_double((lost > 0) == (sum > 0) ? bits + 1 : bits - 1));
    }
#endif
    return fma(x, y, w);
}

static inline value op_addcmul(value x, value y, value w, extra e) { return x + (value)e.a * y * w; }

static inline int op_isfinite(value x)    { return x - x == 0; }
static inline int op_isinf(value x)       { return x == x && x - x != 0; }
static inline int op_isnan(value x)       { return x != x; }
static inline int op_signbit(value x)     { return signbit(x) != 0; }
static inline int op_logical_not(value x) { return x == 0; }
static inline int op_eq(value x, value y) { return x == y; }
static inline int op_ne(value x, value y) { return x != y; }
static inline int op_lt(value x, value y) { return x < y; }
static inline int op_le(value x, value y) { return x <= y; }
static inline int op_gt(value x, value y) { return x > y; }
static inline int op_ge(value x, value y) { return x >= y; }
static inline int op_logical_and(value x, value y) { return x != 0 && y != 0; }
static inline int op_logical_or(value x, value y)  { return x != 0 || y != 0; }
static inline int op_logical_xor(value x, value y) { return (x != 0) != (y != 0); }
