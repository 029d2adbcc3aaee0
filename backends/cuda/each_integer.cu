/* each_integer.cu - elementwise kernels of integers and bool, and where.
 *
 * Arithmetic is done unsigned, where wrapping is defined, in at least 32 bits. What does not look at
 * the sign is done for both kinds by the kernels of the unsigned one. */
#include <type_traits>

#include "compare.cuh"
#include "convert.cuh"
#include "each.cuh"

namespace tsrc {

template <class S> using Wide = std::conditional_t<sizeof(S) == 8, uint64_t, uint32_t>;
template <class S> TSRC_FN bool negative(S x) { return std::is_signed<S>::value && x < S(0); }

template <class S> TSRC_FN S op_neg(S x)    { return S(Wide<S>(0) - Wide<S>(x)); }
template <class S> TSRC_FN S op_abs(S x)    { return negative(x) ? op_neg(x) : x; }
template <class S> TSRC_FN S op_sign(S x)   { return S(negative(x) ? -1 : x != 0); }
template <class S> TSRC_FN S op_square(S x) { return S(Wide<S>(x) * Wide<S>(x)); }
template <class S> TSRC_FN S op_same(S x)   { return x; }
template <class S> TSRC_FN S op_imag(S)     { return S(0); }
template <class S> TSRC_FN S op_relu(S x)   { return negative(x) ? S(0) : x; }
template <class S> TSRC_FN S op_bitwise_not(S x) { return S(~Wide<S>(x)); }
template <class S> TSRC_FN S op_add(S x, S y) { return S(Wide<S>(x) + Wide<S>(y)); }
template <class S> TSRC_FN S op_sub(S x, S y) { return S(Wide<S>(x) - Wide<S>(y)); }
template <class S> TSRC_FN S op_mul(S x, S y) { return S(Wide<S>(x) * Wide<S>(y)); }

/* By 0 gives 0; the one quotient that overflows wraps. */
template <class S> static __device__ __noinline__ S op_floor_div(S x, S y)
{
    if (y == 0) return 0;
    if (std::is_signed<S>::value && y == S(-1)) return op_neg(x);
    const S q = S(x / y);
    return std::is_signed<S>::value && x % y != 0 && negative(x) != negative(y) ? S(q - 1) : q;
}

template <class S> static __device__ __noinline__ S op_remainder(S x, S y)
{
    if (y == 0 || (std::is_signed<S>::value && y == S(-1))) return 0;
    const S r = S(x % y);
    return std::is_signed<S>::value && r != 0 && negative(r) != negative(y) ? S(r + y) : r;
}

template <class S> static __device__ __noinline__ S op_pow(S x, S y)
{
    if (negative(y)) return S(x == 1 ? 1 : x == S(-1) ? (y % 2 ? -1 : 1) : 0);
    Wide<S> result = 1, base = Wide<S>(x);
    for (std::make_unsigned_t<S> n = std::make_unsigned_t<S>(y); n; n >>= 1) {
        if (n & 1) result *= base;
        base *= base;
    }
    return S(result);
}

template <class S> TSRC_FN S op_maximum(S x, S y) { return x > y ? x : y; }
template <class S> TSRC_FN S op_minimum(S x, S y) { return x < y ? x : y; }
template <class S> TSRC_FN S op_bitwise_and(S x, S y) { return S(x & y); }
template <class S> TSRC_FN S op_bitwise_or(S x, S y)  { return S(x | y); }
template <class S> TSRC_FN S op_bitwise_xor(S x, S y) { return S(x ^ y); }
template <class S> TSRC_FN bool shifts_out(S y)
{
    return negative(y) || std::make_unsigned_t<S>(y) >= 8 * sizeof(S);
}
template <class S> TSRC_FN S op_shift_left(S x, S y)
{
    return shifts_out(y) ? S(0) : S(Wide<S>(x) << Wide<S>(y));
}
template <class S> TSRC_FN S op_shift_right(S x, S y)
{
    return !shifts_out(y) ? S(x >> y) : negative(x) ? S(-1) : S(0);
}

template <class S> TSRC_FN bool op_yes(S) { return true; }
template <class S> TSRC_FN bool op_no(S)  { return false; }
template <class S> TSRC_FN bool op_signbit(S x)     { return negative(x); }

TSRC_OP1(neg) TSRC_OP1(abs) TSRC_OP1(sign) TSRC_OP1(square) TSRC_OP1(same) TSRC_OP1(imag) TSRC_OP1(relu)
TSRC_OP1(bitwise_not) TSRC_OP1(yes) TSRC_OP1(no) TSRC_OP1(signbit) TSRC_OP1(logical_not) TSRC_OP2(add)
TSRC_OP2(sub) TSRC_OP2(mul) TSRC_OP2(floor_div) TSRC_OP2(remainder) TSRC_OP2(pow) TSRC_OP2(maximum)
TSRC_OP2(minimum) TSRC_OP2(bitwise_and) TSRC_OP2(bitwise_or) TSRC_OP2(bitwise_xor) TSRC_OP2(shift_left)
TSRC_OP2(shift_right) TSRC_OP2(eq) TSRC_OP2(ne) TSRC_OP2(lt) TSRC_OP2(le) TSRC_OP2(gt) TSRC_OP2(ge)
TSRC_OP2(logical_and) TSRC_OP2(logical_or) TSRC_OP2(logical_xor)

struct clip_ {
    enum { N = 3 };
    template <class S, class T> static TSRC_FN T run(const EachArgs &, T x, T low, T high)
    {
        return op_minimum(op_maximum(x, low), high);
    }
};

struct fma_ {
    enum { N = 3 };
    template <class S, class T> static TSRC_FN T run(const EachArgs &, T x, T y, T w)
    {
        return T(Wide<T>(x) * Wide<T>(y) + Wide<T>(w));
    }
};

struct addcmul_ {
    enum { N = 3 };
    template <class S, class T> static TSRC_FN T run(const EachArgs &p, T x, T y, T w)
    {
        return T(Wide<T>(x) + Wide<T>(to_i64(p.a)) * Wide<T>(y) * Wide<T>(w));
    }
};

/* Tables ------------------------------------------------------------------------------------------ */

template <class T> static void fill_signed(EachTable t)
{
    using S = Plain<T>;
#define X(ID, name) t[TSR_OP_##ID] = make_each<S, S, name##_>();
    X(ABS, abs) X(SIGN, sign) X(RELU, relu) X(FLOOR_DIV, floor_div) X(REMAINDER, remainder) X(POW, pow)
    X(MAXIMUM, maximum) X(MINIMUM, minimum) X(SHIFT_RIGHT, shift_right) X(SHIFT_LEFT, shift_left)
    X(CLIP, clip)
#undef X
    t[TSR_OP_FMAX] = t[TSR_OP_MAXIMUM];
    t[TSR_OP_FMIN] = t[TSR_OP_MINIMUM];
#define X(ID, name) t[TSR_OP_##ID] = make_each<S, SBool, name##_>();
    X(SIGNBIT, signbit) X(LT, lt) X(LE, le) X(GT, gt) X(GE, ge)
#undef X
}

template <class T> static void fill_bits(EachTable t, EachTable also)
{
    using S = Plain<T>;
#define X(ID, name) t[TSR_OP_##ID] = also[TSR_OP_##ID] = make_each<S, S, name##_>();
    X(NEG, neg) X(SQUARE, square) X(CONJ, same) X(BITWISE_NOT, bitwise_not) X(ADD, add) X(SUB, sub)
    X(MUL, mul) X(BITWISE_AND, bitwise_and) X(BITWISE_OR, bitwise_or) X(BITWISE_XOR, bitwise_xor)
    X(FMA, fma) X(ADDCMUL, addcmul) X(IMAG, imag)
#undef X
    static const tsr_op_kind same[] = { TSR_OP_REAL, TSR_OP_CEIL, TSR_OP_FLOOR, TSR_OP_ROUND, TSR_OP_TRUNC };
    for (tsr_op_kind k : same) t[k] = also[k] = t[TSR_OP_CONJ];
#define X(ID, name) t[TSR_OP_##ID] = also[TSR_OP_##ID] = make_each<S, SBool, name##_>();
    X(LOGICAL_NOT, logical_not) X(EQ, eq) X(NE, ne) X(LOGICAL_AND, logical_and) X(LOGICAL_OR, logical_or)
    X(LOGICAL_XOR, logical_xor) X(ISFINITE, yes) X(ISINF, no)
#undef X
    t[TSR_OP_ISNAN] = also[TSR_OP_ISNAN] = t[TSR_OP_ISINF];
}

void fill_each_integers(EachTable *c)
{
    fill_signed<int8_t>(c[CLASS_I8]);
    fill_signed<int16_t>(c[CLASS_I16]);
    fill_signed<int32_t>(c[CLASS_I32]);
    fill_signed<int64_t>(c[CLASS_I64]);
    fill_signed<uint8_t>(c[CLASS_U8]);
    fill_signed<uint16_t>(c[CLASS_U16]);
    fill_signed<uint32_t>(c[CLASS_U32]);
    fill_signed<uint64_t>(c[CLASS_U64]);
    fill_bits<uint8_t>(c[CLASS_U8], c[CLASS_I8]);
    fill_bits<uint16_t>(c[CLASS_U16], c[CLASS_I16]);
    fill_bits<uint32_t>(c[CLASS_U32], c[CLASS_I32]);
    fill_bits<uint64_t>(c[CLASS_U64], c[CLASS_I64]);
}

/* Any byte but 0 is true. */
struct STruth {
    using Bits = uint8_t;
    using T = bool;
    static TSRC_FN T    load(Bits b, int) { return b != 0; }
    static TSRC_FN Bits store(T v, int) { return v; }
};

struct truth_not_ {
    enum { N = 1 };
    template <class S> static TSRC_FN bool run(const EachArgs &, bool x) { return !x; }
};

#define TRUTH(name, value)                                                                      \
    struct name##_ {                                                                            \
        enum { N = 2 };                                                                         \
        template <class S> static TSRC_FN bool run(const EachArgs &, bool x, bool y) { return value; } \
    };
TRUTH(truth_and, x && y) TRUTH(truth_or, x || y) TRUTH(truth_eq, x == y) TRUTH(truth_ne, x != y)
TRUTH(truth_lt, !x && y) TRUTH(truth_le, !x || y) TRUTH(truth_gt, x && !y) TRUTH(truth_ge, x || !y)

void fill_each_bool(EachTable t)
{
    t[TSR_OP_LOGICAL_NOT] = t[TSR_OP_BITWISE_NOT] = make_each<STruth, STruth, truth_not_>();
    t[TSR_OP_LOGICAL_AND] = make_each<STruth, STruth, truth_and_>();
    t[TSR_OP_LOGICAL_OR] = make_each<STruth, STruth, truth_or_>();
    t[TSR_OP_EQ] = make_each<STruth, STruth, truth_eq_>();
    t[TSR_OP_NE] = make_each<STruth, STruth, truth_ne_>();
    t[TSR_OP_LT] = make_each<STruth, STruth, truth_lt_>();
    t[TSR_OP_LE] = make_each<STruth, STruth, truth_le_>();
    t[TSR_OP_GT] = make_each<STruth, STruth, truth_gt_>();
    t[TSR_OP_GE] = make_each<STruth, STruth, truth_ge_>();
    t[TSR_OP_LOGICAL_XOR] = t[TSR_OP_BITWISE_XOR] = t[TSR_OP_NE];
    t[TSR_OP_BITWISE_AND] = t[TSR_OP_MINIMUM] = t[TSR_OP_FMIN] = t[TSR_OP_LOGICAL_AND];
    t[TSR_OP_BITWISE_OR] = t[TSR_OP_MAXIMUM] = t[TSR_OP_FMAX] = t[TSR_OP_LOGICAL_OR];
}

/* Where ------------------------------------------------------------------------------------------- */

template <class B> struct WhereLanes {
    enum {
        whole = alignof(B) == sizeof(B) && sizeof(B) <= 8,
        n = !whole ? 1 : sizeof(B) < 4 ? 8 : 16 / sizeof(B)
    };
};

template <class B> TSRC_FN void where_apart(const EachArgs &p)
{
    const uint32_t first = blockIdx.x * (TSRC_THREADS * TSRC_EACH_AHEAD) + threadIdx.x;
    B v[TSRC_EACH_AHEAD];
    int64_t to[TSRC_EACH_AHEAD];
#pragma unroll
    for (int k = 0; k < TSRC_EACH_AHEAD; k++) {
        int64_t at[4];
        if (first + k * TSRC_THREADS >= p.nest.total) continue;
        find_group(p.nest, first + k * TSRC_THREADS, at);
        const bool c = *reinterpret_cast<const uint8_t *>(p.nest.data[1] + at[1]);
        v[k] = *reinterpret_cast<const B *>(c ? p.nest.data[2] + at[2] : p.nest.data[3] + at[3]);
        to[k] = at[0];
    }
#pragma unroll
    for (int k = 0; k < TSRC_EACH_AHEAD; k++)
        if (first + k * TSRC_THREADS < p.nest.total) *reinterpret_cast<B *>(p.nest.data[0] + to[k]) = v[k];
}

template <class B>
__global__ void __launch_bounds__(TSRC_THREADS) where_kernel(const __grid_constant__ EachArgs p)
{
    constexpr int V = WhereLanes<B>::n;
    if (V == 1 || p.nest.per == 1) {
        where_apart<B>(p);
        return;
    }
    const uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x;
    if (i >= p.nest.total) return;
    int64_t at[4];
    const uint32_t column = find_group(p.nest, i, at);
    char *to = p.nest.data[0] + at[0];
    if (column + V <= p.nest.len) {
        uint8_t c[V];
        B x[V], y[V];
        load_lanes<Plain<uint8_t>, V>(c, p.nest.data[1] + at[1], p.nest.step[0][1], 0);
        load_lanes<Plain<B>, V>(x, p.nest.data[2] + at[2], p.nest.step[0][2], 0);
        load_lanes<Plain<B>, V>(y, p.nest.data[3] + at[3], p.nest.step[0][3], 0);
        Vec<B, V> z;
#pragma unroll
        for (int k = 0; k < V; k++) z.e[k] = c[k] ? x[k] : y[k];
        *reinterpret_cast<Vec<B, V> *>(to) = z;
        return;
    }
    const uint32_t count = min(uint32_t(p.nest.per), p.nest.len - column);
    for (uint32_t k = 0; k < count; k++) {
        const bool c = *reinterpret_cast<const uint8_t *>(p.nest.data[1] + at[1] + k * p.nest.step[0][1]);
        const char *x = p.nest.data[2] + at[2] + k * p.nest.step[0][2];
        const char *y = p.nest.data[3] + at[3] + k * p.nest.step[0][3];
        *reinterpret_cast<B *>(to + k * p.nest.step[0][0]) = *reinterpret_cast<const B *>(c ? x : y);
    }
}

Each where_each(int slot)
{
#define X(B) { (const void *)where_kernel<B>, WhereLanes<B>::n }
    static const Each kernels[] = { X(uint8_t), X(uint16_t), X(uint32_t), X(uint64_t),
                                    X(Bits16),  X(Half4),    X(Half8) };
#undef X
    return kernels[slot];
}

}  // namespace tsrc
