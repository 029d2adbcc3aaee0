/* reduce_integer.cu - reductions of integers, of complex numbers, and counts of what is not zero. */
#include <type_traits>

#include "reduce_real.cuh"

namespace tsrc {

/* Integers: unsigned bits in memory; the flag says that they have a sign. */
template <class B> TSRC_FN int64_t widen(B b, int has_sign)
{
    if constexpr (sizeof(B) == 8)
        return int64_t(b);
    else
        return has_sign ? int64_t(std::make_signed_t<B>(b)) : int64_t(b);
}

template <class B> struct IntegerLanes {
    enum { n = 16 / sizeof(B) > 8 ? 8 : 16 / sizeof(B) };
};

TSRC_FN double as_word(int64_t v) { return __longlong_as_double(v); }
TSRC_FN int64_t from_word(double w) { return __double_as_longlong(w); }

/* Bytes are added up four at a time. */
template <int N> TSRC_FN int64_t sum_of_bytes(const uint8_t *x, int has_sign)
{
    const uint32_t *words = reinterpret_cast<const uint32_t *>(x);
    int s = 0;
    unsigned u = 0;
#pragma unroll
    for (int i = 0; i < N / 4; i++) {
        if (has_sign)
            s = __dp4a(int(words[i]), 0x01010101, s);
        else
            u = __dp4a(words[i], 0x01010101u, u);
    }
    return has_sign ? int64_t(s) : int64_t(u);
}

template <class B, bool PRODUCT> struct IntegerTotal {
    using S = Plain<B>;
    using State = uint64_t;
    enum { V = IntegerLanes<B>::n, W = 1, BLOCKS = 1 };
    static TSRC_FN State begin(const ReduceArgs &) { return PRODUCT ? 1 : 0; }
    template <int N>
    static TSRC_FN void take(const ReduceArgs &a, const Words &, State &s, const B *x, uint64_t)
    {
        if constexpr (sizeof(B) == 1 && N % 4 == 0 && !PRODUCT) {
            s += uint64_t(sum_of_bytes<N>(x, a.flag));
        } else {
#pragma unroll
            for (int i = 0; i < N; i++) merge(a, s, uint64_t(widen(x[i], a.flag)));
        }
    }
    static TSRC_FN void merge(const ReduceArgs &, State &s, State o) { s = PRODUCT ? s * o : s + o; }
    static TSRC_FN Words pack(State s) { return { { as_word(int64_t(s)), 0, 0, 0 } }; }
    static TSRC_FN State unpack(const Words &w) { return uint64_t(from_word(w.w[0])); }
    static TSRC_FN void finish(const ReduceArgs &, const Words &w, const Words &, char *z, Words *)
    {
        *reinterpret_cast<int64_t *>(z) = from_word(w.w[0]);
    }
};

/* Signed numbers in the order that is asked for: unsigned ones have their top bit inverted, and all bits
 * are inverted for the smallest. */
TSRC_FN int64_t ordered(const ReduceArgs &a, int64_t v)
{
    if (!a.flag) v ^= int64_t(1) << 63;
    return a.least ? ~v : v;
}

template <class B> struct IntegerLargest {
    using S = Plain<B>;
    using State = int64_t;
    enum { V = IntegerLanes<B>::n, W = 1, BLOCKS = 1 };
    static TSRC_FN State begin(const ReduceArgs &) { return INT64_MIN; }
    template <int N>
    static TSRC_FN void take(const ReduceArgs &a, const Words &, State &s, const B *x, uint64_t)
    {
#pragma unroll
        for (int i = 0; i < N; i++) merge(a, s, ordered(a, widen(x[i], a.flag)));
    }
    static TSRC_FN void merge(const ReduceArgs &, State &s, State o) { s = o > s ? o : s; }
    static TSRC_FN Words pack(State s) { return { { as_word(s), 0, 0, 0 } }; }
    static TSRC_FN State unpack(const Words &w) { return from_word(w.w[0]); }
    static TSRC_FN void finish(const ReduceArgs &a, const Words &w, const Words &, char *z, Words *)
    {
        store_integer(a.to, z, ordered(a, from_word(w.w[0]))); /* inverted twice is as it was */
    }
};

template <class B> struct IntegerFind {
    using S = Plain<B>;
    using State = Found<int64_t>;
    enum { V = IntegerLanes<B>::n, W = 2, BLOCKS = 1 };
    static TSRC_FN State begin(const ReduceArgs &) { return { INT64_MIN, -1 }; }
    template <int N>
    static TSRC_FN void take(const ReduceArgs &a, const Words &, State &s, const B *x, uint64_t at)
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const int64_t v = ordered(a, a.from == TSR_BOOL ? int64_t(x[i] != 0) : widen(x[i], a.flag));
            if (v > s.value || s.at < 0) s = { v, int64_t(at) + i };
        }
    }
    static TSRC_FN void merge(const ReduceArgs &, State &s, const State &o) { merge_found(s, o); }
    static TSRC_FN Words pack(const State &s) { return { { as_word(s.value), as_word(s.at), 0, 0 } }; }
    static TSRC_FN State unpack(const Words &w) { return { from_word(w.w[0]), from_word(w.w[1]) }; }
    static TSRC_FN void finish(const ReduceArgs &, const Words &w, const Words &, char *z, Words *)
    {
        *reinterpret_cast<int64_t *>(z) = from_word(w.w[1]);
    }
};

template <class B> static Reducer integer_of_size(Accumulation kind)
{
    switch (kind) {
    case ACCUMULATE_SUM: return make_reducer<IntegerTotal<B, false>>();
    case ACCUMULATE_PROD: return make_reducer<IntegerTotal<B, true>>();
    case ACCUMULATE_LARGEST: return make_reducer<IntegerLargest<B>>();
    case ACCUMULATE_FIND: return make_reducer<IntegerFind<B>>();
    default: return {};
    }
}

Reducer integer_reducer(Accumulation kind, tsr_dtype dtype)
{
    switch (tsrc_size(dtype)) {
    case 1: return integer_of_size<uint8_t>(kind);
    case 2: return integer_of_size<uint16_t>(kind);
    case 4: return integer_of_size<uint32_t>(kind);
    default: return integer_of_size<uint64_t>(kind);
    }
}

/* Not zero ------------------------------------------------------------------------------------------ */

TSRC_FN bool is_set(uint8_t b, uint64_t mask) { return (b & mask) != 0; }
TSRC_FN bool is_set(uint16_t b, uint64_t mask) { return (b & mask) != 0; }
TSRC_FN bool is_set(uint32_t b, uint64_t mask) { return (b & mask) != 0; }
TSRC_FN bool is_set(uint64_t b, uint64_t mask) { return (b & mask) != 0; }
TSRC_FN bool is_set(Half4 b, uint64_t mask) { return ((b.a | b.b) & mask) != 0; }
TSRC_FN bool is_set(Half8 b, uint64_t mask) { return ((b.a | b.b) & mask) != 0; }
TSRC_FN bool is_set(Bits16 b, uint64_t mask) { return ((b.a | b.b) & mask) != 0; }

/* How many of N bytes have one of these bits. */
template <int N> TSRC_FN int bytes_set(const uint8_t *x, uint32_t mask)
{
    const uint32_t *words = reinterpret_cast<const uint32_t *>(x);
    int n = 0;
#pragma unroll
    for (int i = 0; i < N / 4; i++) {
        const uint32_t w = words[i] & (mask * 0x01010101u);
        n += __popc((((w & 0x7f7f7f7fu) + 0x7f7f7f7fu) | w) & 0x80808080u);
    }
    return n;
}

template <class B> struct NotZero {
    using S = Plain<B>;
    using State = int64_t;
    enum { V = alignof(B) == sizeof(B) ? IntegerLanes<B>::n : 1, W = 1, BLOCKS = 1 };
    static TSRC_FN State begin(const ReduceArgs &) { return 0; }
    template <int N>
    static TSRC_FN void take(const ReduceArgs &a, const Words &, State &s, const B *x, uint64_t)
    {
        if constexpr (sizeof(B) == 1 && N % 4 == 0) {
            s += bytes_set<N>(x, uint32_t(a.mask));
        } else {
#pragma unroll
            for (int i = 0; i < N; i++) s += is_set(x[i], a.mask);
        }
    }
    static TSRC_FN void merge(const ReduceArgs &, State &s, State o) { s += o; }
    static TSRC_FN Words pack(State s) { return { { as_word(s), 0, 0, 0 } }; }
    static TSRC_FN State unpack(const Words &w) { return from_word(w.w[0]); }
    static TSRC_FN void finish(const ReduceArgs &a, const Words &w, const Words &, char *z, Words *)
    {
        const int64_t n = from_word(w.w[0]);
        if (a.op == TSR_OP_NORM)
            store_float(a.to, z, double(n));
        else if (a.op == TSR_OP_COUNT_NONZERO)
            *reinterpret_cast<int64_t *>(z) = n;
        else if (a.op == TSR_OP_ALL || a.op == TSR_OP_MIN)
            *reinterpret_cast<uint8_t *>(z) = n == int64_t(a.plan.count);
        else
            *reinterpret_cast<uint8_t *>(z) = n > 0;
    }
};

Reducer nonzero_reducer(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_C32: return make_reducer<NotZero<Half4>>();
    case TSR_C64: return make_reducer<NotZero<Half8>>();
    case TSR_C128: return make_reducer<NotZero<Bits16>>();
    default: break;
    }
    switch (tsrc_size(dtype)) {
    case 1: return make_reducer<NotZero<uint8_t>>();
    case 2: return make_reducer<NotZero<uint16_t>>();
    case 4: return make_reducer<NotZero<uint32_t>>();
    default: return make_reducer<NotZero<uint64_t>>();
    }
}

/* Complex numbers ------------------------------------------------------------------------------------ */

template <class Storage> struct ComplexSum {
    using S = Storage;
    struct State {
        Sum re, im;
    };
    enum { V = 1, W = 4, BLOCKS = 1 };
    static TSRC_FN State begin(const ReduceArgs &) { return { { 0, 0 }, { 0, 0 } }; }
    template <int N>
    static TSRC_FN void take(const ReduceArgs &, const Words &, State &s, const typename S::Bits *x, uint64_t)
    {
        add_exactly(s.re, double(x->re));
        add_exactly(s.im, double(x->im));
    }
    static TSRC_FN void merge(const ReduceArgs &, State &s, const State &o)
    {
        add_exactly(s.re, o.re.sum);
        add_exactly(s.im, o.im.sum);
        s.re.lost += o.re.lost;
        s.im.lost += o.im.lost;
    }
    static TSRC_FN Words pack(const State &s) { return { { s.re.sum, s.re.lost, s.im.sum, s.im.lost } }; }
    static TSRC_FN State unpack(const Words &w) { return { { w.w[0], w.w[1] }, { w.w[2], w.w[3] } }; }
    static TSRC_FN void finish(const ReduceArgs &a, const Words &w, const Words &, char *z, Words *next)
    {
        const State s = unpack(w);
        const double n = a.op == TSR_OP_MEAN ? double(a.plan.count) : 1.0;
        if (next) {
            leave_mean(a, s.re, 0, next);
            leave_mean(a, s.im, 2, next);
        } else {
            store_complex(a.to, z, total(s.re) / n, total(s.im) / n);
        }
    }
};

template <class Storage> struct ComplexProduct {
    using S = Storage;
    using State = Complex;
    enum { V = 1, W = 2, BLOCKS = 1 };
    static TSRC_FN State begin(const ReduceArgs &) { return { 1, 0 }; }
    static TSRC_FN void merge(const ReduceArgs &, State &s, const State &o)
    {
        s = { s.re * o.re - s.im * o.im, s.re * o.im + s.im * o.re };
    }
    template <int N>
    static TSRC_FN void take(const ReduceArgs &a, const Words &, State &s, const typename S::Bits *x,
                             uint64_t)
    {
        merge(a, s, S::load(*x, 0));
    }
    static TSRC_FN Words pack(const State &s) { return { { s.re, s.im, 0, 0 } }; }
    static TSRC_FN State unpack(const Words &w) { return { w.w[0], w.w[1] }; }
    static TSRC_FN void finish(const ReduceArgs &a, const Words &w, const Words &, char *z, Words *)
    {
        store_complex(a.to, z, w.w[0], w.w[1]);
    }
};

/* Real sums over complex numbers. */
template <class Storage> struct ComplexSizes {
    using S = Storage;
    using State = Sum;
    enum { V = 1, W = 2, BLOCKS = 1 };
    static TSRC_FN State begin(const ReduceArgs &) { return { 0, 0 }; }
    static __device__ __noinline__ double term(const ReduceArgs &a, const Words &k, Complex x)
    {
        if (a.kind == ACCUMULATE_ABS) return hypot(x.re, x.im);
        if (a.kind == ACCUMULATE_POWERS) return pow(hypot(x.re, x.im) / k.w[0], a.p);
        double re, im;
        if (a.kind == ACCUMULATE_DEVIATIONS) {
            re = (x.re - k.w[0]) - k.w[1];
            im = (x.im - k.w[2]) - k.w[3];
        } else {
            re = a.constants ? x.re * k.w[0] : x.re;
            im = a.constants ? x.im * k.w[0] : x.im;
        }
        return re * re + im * im;
    }
    template <int N>
    static TSRC_FN void take(const ReduceArgs &a, const Words &k, State &s, const typename S::Bits *x,
                             uint64_t)
    {
        add_exactly(s, term(a, k, S::load(*x, 0)));
    }
    static TSRC_FN void merge(const ReduceArgs &, State &s, const State &o)
    {
        add_exactly(s, o.sum);
        s.lost += o.lost;
    }
    static TSRC_FN Words pack(const State &s) { return { { s.sum, s.lost, 0, 0 } }; }
    static TSRC_FN State unpack(const Words &w) { return { w.w[0], w.w[1] }; }
    static TSRC_FN void finish(const ReduceArgs &a, const Words &w, const Words &k, char *z, Words *)
    {
        store_float(a.to, z, sum_result(a, total(unpack(w)), k));
    }
};

template <class Storage> struct ComplexLargest {
    using S = Storage;
    using State = double;
    enum { V = 1, W = 1, BLOCKS = 1 };
    static TSRC_FN State begin(const ReduceArgs &) { return -INFINITY; }
    static TSRC_FN void merge(const ReduceArgs &, State &s, State o)
    {
        if (s == s && (o > s || o != o)) s = o;
    }
    template <int N>
    static TSRC_FN void take(const ReduceArgs &a, const Words &, State &s, const typename S::Bits *x,
                             uint64_t)
    {
        const double v = hypot(double(x->re), double(x->im));
        merge(a, s, a.least ? -v : v);
    }
    static TSRC_FN Words pack(State s) { return { { s, 0, 0, 0 } }; }
    static TSRC_FN State unpack(const Words &w) { return w.w[0]; }
    static TSRC_FN void finish(const ReduceArgs &a, const Words &w, const Words &, char *z, Words *next)
    {
        const double m = a.least ? -w.w[0] : w.w[0];
        if (next)
            leave_extreme(a, m, next);
        else
            store_float(a.to, z, a.plan.count == 0 ? 0.0 : m);
    }
};

template <class S> static Reducer complex_of(Accumulation kind)
{
    switch (kind) {
    case ACCUMULATE_SUM: return make_reducer<ComplexSum<S>>();
    case ACCUMULATE_PROD: return make_reducer<ComplexProduct<S>>();
    case ACCUMULATE_LARGEST: return make_reducer<ComplexLargest<S>>();
    case ACCUMULATE_ABS:
    case ACCUMULATE_SQUARES:
    case ACCUMULATE_POWERS:
    case ACCUMULATE_DEVIATIONS: return make_reducer<ComplexSizes<S>>();
    default: return {};
    }
}

Reducer complex_reducer(Accumulation kind, tsr_dtype dtype)
{
    return dtype == TSR_C64 ? complex_of<SC64>(kind) : complex_of<SC128>(kind);
}

} // namespace tsrc
