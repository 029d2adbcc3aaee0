/* each_complex.cu - elementwise kernels of c64 and c128. */
#include "each.cuh"
#include "math_complex.cuh"

namespace tsrc {

TSRC_OP1(neg) TSRC_OP1(sign) TSRC_OP1(square) TSRC_OP1(sqrt) TSRC_OP1(rsqrt) TSRC_OP1(reciprocal)
TSRC_OP1(exp) TSRC_OP1(expm1) TSRC_OP1(log) TSRC_OP1(log2) TSRC_OP1(log10) TSRC_OP1(log1p) TSRC_OP1(sin)
TSRC_OP1(cos) TSRC_OP1(tan) TSRC_OP1(asin) TSRC_OP1(acos) TSRC_OP1(atan) TSRC_OP1(sinh) TSRC_OP1(cosh)
TSRC_OP1(tanh) TSRC_OP1(asinh) TSRC_OP1(acosh) TSRC_OP1(atanh) TSRC_OP1(round) TSRC_OP1(conj) TSRC_OP1(abs)
TSRC_OP1(real) TSRC_OP1(imag) TSRC_OP1(angle) TSRC_OP1(isfinite) TSRC_OP1(isinf) TSRC_OP1(isnan)
TSRC_OP1(logical_not) TSRC_OP2(add) TSRC_OP2(sub) TSRC_OP2(mul) TSRC_OP2(div) TSRC_OP2(pow) TSRC_OP2(eq)
TSRC_OP2(ne) TSRC_OP2(logical_and) TSRC_OP2(logical_or) TSRC_OP2(logical_xor)

struct lerp_ {
    enum { N = 3 };
    template <class S> static TSRC_FN Complex run(const EachArgs &, Complex x, Complex y, Complex w)
    {
        const Complex d = op_sub(y, x);
        if (op_abs(w) < 0.5) return op_add(x, op_mul(w, d));
        return op_sub(y, op_mul(d, Complex{ 1 - w.re, -w.im }));
    }
};

struct fma_ {
    enum { N = 3 };
    template <class S> static TSRC_FN Complex run(const EachArgs &, Complex x, Complex y, Complex w)
    {
        return op_add(op_mul(x, y), w);
    }
};

struct addcmul_ {
    enum { N = 3 };
    template <class S> static TSRC_FN Complex run(const EachArgs &p, Complex x, Complex y, Complex w)
    {
        return op_add(x, op_mul(Complex{ p.a * y.re, p.a * y.im }, w));
    }
};

/* Parts, as results. */
struct PartF32 {
    using Bits = float;
    static TSRC_FN float store(double v, int) { return float(v); }
};

struct PartF64 {
    using Bits = double;
    static TSRC_FN double store(double v, int) { return v; }
};

template <class S, class R> static void fill_complex(EachTable t)
{
#define X(ID, name) t[TSR_OP_##ID] = make_each<S, S, name##_>();
    X(NEG, neg) X(SIGN, sign) X(SQUARE, square) X(SQRT, sqrt) X(RSQRT, rsqrt) X(RECIPROCAL, reciprocal)
    X(EXP, exp) X(EXPM1, expm1) X(LOG, log) X(LOG2, log2) X(LOG10, log10) X(LOG1P, log1p) X(SIN, sin)
    X(COS, cos) X(TAN, tan) X(ASIN, asin) X(ACOS, acos) X(ATAN, atan) X(SINH, sinh) X(COSH, cosh)
    X(TANH, tanh) X(ASINH, asinh) X(ACOSH, acosh) X(ATANH, atanh) X(ROUND, round) X(CONJ, conj) X(ADD, add)
    X(SUB, sub) X(MUL, mul) X(DIV, div) X(POW, pow) X(LERP, lerp) X(FMA, fma) X(ADDCMUL, addcmul)
#undef X
#define X(ID, name) t[TSR_OP_##ID] = make_each<S, R, name##_>();
    X(ABS, abs) X(REAL, real) X(IMAG, imag) X(ANGLE, angle)
#undef X
#define X(ID, name) t[TSR_OP_##ID] = make_each<S, SBool, name##_>();
    X(ISFINITE, isfinite) X(ISINF, isinf) X(ISNAN, isnan) X(LOGICAL_NOT, logical_not) X(EQ, eq) X(NE, ne)
    X(LOGICAL_AND, logical_and) X(LOGICAL_OR, logical_or) X(LOGICAL_XOR, logical_xor)
#undef X
}

void fill_each_complex(EachTable c64, EachTable c128)
{
    fill_complex<SC64, PartF32>(c64);
    fill_complex<SC128, PartF64>(c128);
}

}  // namespace tsrc
