/* each_real.cuh - elementwise kernels of one floating storage type S; fill_each fills in a table. */
#include "each.cuh"
#include "math_real.cuh"

namespace tsrc {

TSRC_OP1(neg) TSRC_OP1(abs) TSRC_OP1(sign) TSRC_OP1(square) TSRC_OP1(sqrt) TSRC_OP1(rsqrt)
TSRC_OP1(reciprocal) TSRC_OP1(exp) TSRC_OP1(exp2) TSRC_OP1(expm1) TSRC_OP1(log) TSRC_OP1(log2)
TSRC_OP1(log10) TSRC_OP1(log1p) TSRC_OP1(sin) TSRC_OP1(cos) TSRC_OP1(tan) TSRC_OP1(asin) TSRC_OP1(acos)
TSRC_OP1(atan) TSRC_OP1(sinh) TSRC_OP1(cosh) TSRC_OP1(tanh) TSRC_OP1(asinh) TSRC_OP1(acosh) TSRC_OP1(atanh)
TSRC_OP1(erf) TSRC_OP1(erfc) TSRC_OP1(ceil) TSRC_OP1(floor) TSRC_OP1(round) TSRC_OP1(trunc) TSRC_OP1(same)
TSRC_OP1(imag) TSRC_OP1(angle) TSRC_OP1(relu) TSRC_OP1(softplus) TSRC_OP1(hardswish) TSRC_OP1(isfinite)
TSRC_OP1(isinf) TSRC_OP1(isnan) TSRC_OP1(signbit) TSRC_OP1(logical_not) TSRC_OP2(add) TSRC_OP2(sub)
TSRC_OP2(mul) TSRC_OP2(div) TSRC_OP2(floor_div) TSRC_OP2(remainder) TSRC_OP2(pow) TSRC_OP2(atan2)
TSRC_OP2(hypot) TSRC_OP2(maximum) TSRC_OP2(minimum) TSRC_OP2(fmax) TSRC_OP2(fmin) TSRC_OP2(logaddexp)
TSRC_OP2(eq) TSRC_OP2(ne) TSRC_OP2(lt) TSRC_OP2(le) TSRC_OP2(gt) TSRC_OP2(ge) TSRC_OP2(logical_and)
TSRC_OP2(logical_or) TSRC_OP2(logical_xor) TSRC_OP1(lgamma) TSRC_OP1(digamma) TSRC_OP1(i0) TSRC_OP1(erfinv)

/* Gates: results of two bytes take the short way. */
#define GATE(name)                                                                                       \
    struct name##_ {                                                                                     \
        enum { N = 1 };                                                                                  \
        template <class S, class T> static TSRC_FN T run(const EachArgs &, T x)                          \
        {                                                                                                \
            if constexpr (sizeof(typename S::Bits) <= 2) return short_##name(x);                         \
            else return op_##name(x);                                                                    \
        }                                                                                                \
    };
GATE(gelu) GATE(gelu_tanh) GATE(silu) GATE(sigmoid)
#undef GATE

struct swiglu_ {
    enum { N = 2 };
    template <class S, class T> static TSRC_FN T run(const EachArgs &p, T gate, T up)
    {
        return silu_::run<S>(p, gate) * up;
    }
};

struct elu_ {
    enum { N = 1 };
    template <class S, class T> static TSRC_FN T run(const EachArgs &p, T x)
    {
        return x < 0 ? T(p.a) * op_expm1(x) : x;
    }
};

struct leaky_relu_ {
    enum { N = 1 };
    template <class S, class T> static TSRC_FN T run(const EachArgs &p, T x)
    {
        return x < 0 ? T(p.a) * x : x;
    }
};

struct hardtanh_ {
    enum { N = 1 };
    template <class S, class T> static TSRC_FN T run(const EachArgs &p, T x)
    {
        return x < T(p.a) ? T(p.a) : x > T(p.b) ? T(p.b) : x;
    }
};

struct clip_ {
    enum { N = 3 };
    template <class S, class T> static TSRC_FN T run(const EachArgs &, T x, T low, T high)
    {
        return op_minimum(op_maximum(x, low), high);
    }
};

struct lerp_ {
    enum { N = 3 };
    template <class S, class T> static TSRC_FN T run(const EachArgs &, T x_, T y_, T w_)
    {
        const double x = x_, y = y_, w = w_;
        return T(w < 0.5 ? x + w * (y - x) : y - (y - x) * (1 - w));
    }
};

/* Rounded once: for short floats the last bit of the sum in f32 is set if bits were cut off. */
struct fma_ {
    enum { N = 3 };
    template <class S, class T> static TSRC_FN T run(const EachArgs &, T x, T y, T w)
    {
        if constexpr (sizeof(typename S::Bits) >= 4) return fused(x, y, w);
        else return odd_f32(fma_odd(double(x), double(y), double(w)));
    }
};

struct addcmul_ {
    enum { N = 3 };
    template <class S, class T> static TSRC_FN T run(const EachArgs &p, T x, T y, T w)
    {
        return x + T(p.a) * y * w;
    }
};

/* On patterns: the sign is a bit, and the next number is the next pattern. */
struct copysign_ {
    enum { N = 2 };
    template <class S, class B> static TSRC_FN B run(const EachArgs &, B x_, B y_)
    {
        if constexpr (sizeof(B) == 4) {
            return __uint_as_float((__float_as_uint(x_) & 0x7fffffffu) | (__float_as_uint(y_) & 0x80000000u));
        } else if constexpr (sizeof(B) == 8) {
            return copysign(x_, y_);
        } else {
            const B sign = B(B(1) << (8 * sizeof(B) - 1));
            return B((x_ & B(~sign)) | (y_ & sign));
        }
    }
};

template <class U, class T> TSRC_FN U pattern_after(U x, U y, T vx, T vy)
{
    const U sign = U(U(1) << (8 * sizeof(U) - 1));
    if (vx != vx) return x;
    if (vy != vy || vx == vy) return y;
    if ((x & U(~sign)) == 0) return U((y & sign) | 1);
    return (vx < vy) == !(x & sign) ? U(x + 1) : U(x - 1);
}

struct nextafter_ {
    enum { N = 2 };
    template <class S, class B> static TSRC_FN B run(const EachArgs &p, B x, B y)
    {
        using Number = typename S::Number;
        if constexpr (sizeof(B) == 4)
            return __uint_as_float(pattern_after<uint32_t>(__float_as_uint(x), __float_as_uint(y), x, y));
        else if constexpr (sizeof(B) == 8)
            return __longlong_as_double((long long)pattern_after<uint64_t>(
                uint64_t(__double_as_longlong(x)), uint64_t(__double_as_longlong(y)), x, y));
        else
            return pattern_after<B>(x, y, Number::load(x, p.flag), Number::load(y, p.flag));
    }
};

/* S for ops that hand on elements or their bits, A for those that compute new ones. */
template <class S, class A = S> static void fill_moves(EachTable t)
{
#define X(ID, name) t[TSR_OP_##ID] = make_each<S, S, name##_>();
    X(ABS, abs) X(NEG, neg) X(SIGN, sign) X(CEIL, ceil) X(FLOOR, floor) X(ROUND, round) X(TRUNC, trunc)
    X(CONJ, same) X(REAL, same) X(IMAG, imag) X(ANGLE, angle) X(RELU, relu) X(MAXIMUM, maximum)
    X(MINIMUM, minimum) X(FMAX, fmax) X(FMIN, fmin) X(CLIP, clip) X(HARDTANH, hardtanh)
    X(LEAKY_RELU, leaky_relu) X(HARDSWISH, hardswish)
#undef X
#define X(ID, name) t[TSR_OP_##ID] = make_each<A, A, name##_>();
    X(SQUARE, square) X(RECIPROCAL, reciprocal) X(ADD, add) X(SUB, sub) X(MUL, mul) X(DIV, div) X(LERP, lerp)
    X(FMA, fma) X(ADDCMUL, addcmul)
#undef X
#define X(ID, name) t[TSR_OP_##ID] = make_each<A, SBool, name##_>();
    X(ISFINITE, isfinite) X(ISINF, isinf) X(ISNAN, isnan) X(SIGNBIT, signbit) X(LOGICAL_NOT, logical_not)
    X(EQ, eq) X(NE, ne) X(LT, lt) X(LE, le) X(GT, gt) X(GE, ge) X(LOGICAL_AND, logical_and)
    X(LOGICAL_OR, logical_or) X(LOGICAL_XOR, logical_xor)
#undef X
    t[TSR_OP_COPYSIGN] = make_each<Raw<S>, Raw<S>, copysign_>();
    t[TSR_OP_NEXTAFTER] = make_each<Raw<S>, Raw<S>, nextafter_>();
}

template <class S> static void fill_maths(EachTable t)
{
#define X(ID, name) t[TSR_OP_##ID] = make_each<S, S, name##_>();
    X(SQRT, sqrt) X(RSQRT, rsqrt) X(EXP, exp) X(EXP2, exp2) X(EXPM1, expm1) X(LOG, log) X(LOG2, log2)
    X(LOG10, log10) X(LOG1P, log1p) X(SIN, sin) X(COS, cos) X(TAN, tan) X(ASIN, asin) X(ACOS, acos)
    X(ATAN, atan) X(SINH, sinh) X(COSH, cosh) X(TANH, tanh) X(ASINH, asinh) X(ACOSH, acosh) X(ATANH, atanh)
    X(ERF, erf) X(ERFC, erfc) X(GELU, gelu) X(GELU_TANH, gelu_tanh) X(SILU, silu) X(SIGMOID, sigmoid)
    X(SOFTPLUS, softplus) X(ELU, elu) X(FLOOR_DIV, floor_div) X(REMAINDER, remainder) X(POW, pow)
    X(ATAN2, atan2) X(HYPOT, hypot) X(LOGADDEXP, logaddexp) X(SWIGLU, swiglu) X(LGAMMA, lgamma)
    X(DIGAMMA, digamma) X(I0, i0) X(ERFINV, erfinv)
#undef X
}

}  // namespace tsrc
