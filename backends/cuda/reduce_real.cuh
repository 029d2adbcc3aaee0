/* reduce_real.cuh - accumulating floats. Every float is added up in f64; f64 itself with the errors
 * carried along. */
#include <type_traits>

#include "reduce.cuh"

namespace tsrc {

/* A power of two that scales x near 1. */
TSRC_FN double scale_of(double x)
{
    const int e = x > 0 && x < INFINITY ? ilogb(x) : 0;
    return ldexp(1.0, e > 1000 ? -1000 : e < -1000 ? 1000 : -e);
}

/* What the second pass needs to know: w[0] is what it works with, w[1] the extreme or the rest of the
 * mean. */
TSRC_FN void leave_extreme(const ReduceArgs &a, double m, Words *next)
{
    const bool plain = m - m == 0;
    next->w[1] = m;
    if (a.op == TSR_OP_LOGSUMEXP)
        next->w[0] = plain ? m : 0;
    else if (a.p == 2)
        next->w[0] = scale_of(m);
    else
        next->w[0] = plain && m != 0 ? m : 1;
}

TSRC_FN void leave_mean(const ReduceArgs &a, const Sum &s, int slot, Words *next)
{
    const double n = double(a.plan.count), mean = total(s) / n;
    next->w[slot] = mean;
    next->w[slot + 1] = (fma(-mean, n, s.sum) + s.lost) / n;
}

static __device__ __noinline__ double norm_of(const ReduceArgs &a, double sum, const Words &k)
{
    if (a.p == 1) return sum;
    const double m = k.w[1];
    if (a.constants && (m == 0 || m - m != 0)) return m;
    if (a.p == 2) return sqrt(sum) / (a.constants ? k.w[0] : 1.0);
    return m * pow(sum, 1 / a.p);
}

/* What a sum of floats is as a result. */
TSRC_FN double sum_result(const ReduceArgs &a, double sum, const Words &k)
{
    const double over = double(a.plan.count) - a.p;
    switch (a.op) {
    case TSR_OP_MEAN: return sum / double(a.plan.count);
    case TSR_OP_VAR: return a.plan.count > 0 && over > 0 ? sum / over : double(NAN);
    case TSR_OP_STD: return a.plan.count > 0 && over > 0 ? sqrt(sum / over) : double(NAN);
    case TSR_OP_NORM: return a.plan.count == 0 ? 0.0 : norm_of(a, sum, k);
    case TSR_OP_LOGSUMEXP: return k.w[1] - k.w[1] == 0 ? k.w[1] + log(sum) : k.w[1];
    default: return sum;
    }
}

static __device__ __noinline__ double called_power(double x, double p) { return pow(x, p); }
static __device__ __noinline__ double called_exp_f64(double x) { return exp(x); }

/* Sums of f(x). KIND says which. What is shorter than f64 has digits to spare there. */
template <class Storage, int KIND> struct SumOf {
    using S = Storage;
    static constexpr bool EXACTLY = sizeof(typename S::Bits) == 8;
    using State = std::conditional_t<EXACTLY, Sum, double>;
    enum {
        V = 16 / sizeof(typename S::Bits) > 8 ? 8 : 16 / sizeof(typename S::Bits),
        W = EXACTLY ? 2 : 1,
        BLOCKS = 1
    };
    static TSRC_FN State begin(const ReduceArgs &) { return {}; }

    static TSRC_FN double term(const ReduceArgs &a, const Words &k, double x)
    {
        if constexpr (KIND == ACCUMULATE_ABS)
            return fabs(x);
        else if constexpr (KIND == ACCUMULATE_SQUARES) {
            const double v = a.constants ? x * k.w[0] : x;
            return v * v;
        } else if constexpr (KIND == ACCUMULATE_POWERS)
            return called_power(fabs(x) / k.w[0], a.p);
        else if constexpr (KIND == ACCUMULATE_EXPS)
            return called_exp_f64(x - k.w[0]);
        else if constexpr (KIND == ACCUMULATE_DEVIATIONS) {
            const double d = (x - k.w[0]) - k.w[1];
            return d * d;
        } else
            return x;
    }

    template <int N>
    static TSRC_FN void take(const ReduceArgs &a, const Words &k, State &s, const typename S::Bits *x,
                             uint64_t)
    {
        if constexpr (EXACTLY) {
#pragma unroll
            for (int i = 0; i < N; i++) add_exactly(s, term(a, k, x[i]));
        } else {
            double t = term(a, k, double(S::load(x[0], a.flag)));
#pragma unroll
            for (int i = 1; i < N; i++) t += term(a, k, double(S::load(x[i], a.flag)));
            s += t;
        }
    }

    static TSRC_FN void merge(const ReduceArgs &, State &s, const State &o)
    {
        if constexpr (EXACTLY) {
            add_exactly(s, o.sum);
            s.lost += o.lost;
        } else {
            s += o;
        }
    }
    static TSRC_FN Words pack(const State &s)
    {
        if constexpr (EXACTLY) return { { s.sum, s.lost, 0, 0 } };
        else return { { s, 0, 0, 0 } };
    }
    static TSRC_FN State unpack(const Words &w)
    {
        if constexpr (EXACTLY) return { w.w[0], w.w[1] };
        else return w.w[0];
    }
    static TSRC_FN void finish(const ReduceArgs &a, const Words &w, const Words &k, char *z, Words *next)
    {
        const Sum s = { w.w[0], EXACTLY ? w.w[1] : 0 };
        if (next)
            leave_mean(a, s, 0, next);
        else
            store_float(a.to, z, sum_result(a, total(s), k));
    }
};

/* Deviations from the mean so far: elements come a few at a time, with a mean of their own, and means and
 * squares about them are put together. */
struct Deviations {
    double n, mean, squares;
};

TSRC_FN void join_deviations(Deviations &s, const Deviations &o)
{
    const double n = s.n + o.n, part = o.n * __drcp_rn(n > 0 ? n : 1.0), off = o.mean - s.mean;
    s.squares += o.squares + off * off * (s.n * part);
    s.mean = fma(off, part, s.mean);
    s.n = n;
}

template <class Storage> struct MomentsOf {
    using S = Storage;
    using State = Deviations;
    enum { V = 4, W = 3, BLOCKS = 1, BATCH = 4 };
    static TSRC_FN State begin(const ReduceArgs &) { return { 0, 0, 0 }; }
    template <int N>
    static TSRC_FN void take(const ReduceArgs &a, const Words &, State &s, const typename S::Bits *x,
                             uint64_t)
    {
        double v[N], sum = 0;
#pragma unroll
        for (int i = 0; i < N; i++) {
            v[i] = double(S::load(x[i], a.flag));
            sum = i > 0 ? sum + v[i] : v[i];
        }
        Deviations own = { double(N), sum * (1.0 / N), 0 };
#pragma unroll
        for (int i = 0; i < N; i++) own.squares = fma(v[i] - own.mean, v[i] - own.mean, own.squares);
        join_deviations(s, own);
    }
    static TSRC_FN void merge(const ReduceArgs &, State &s, const State &o)
    {
        if (s.n == 0) s = o;
        else if (o.n > 0) join_deviations(s, o);
    }
    static TSRC_FN Words pack(const State &s) { return { { s.n, s.mean, s.squares, 0 } }; }
    static TSRC_FN State unpack(const Words &w) { return { w.w[0], w.w[1], w.w[2] }; }
    static TSRC_FN void finish(const ReduceArgs &a, const Words &w, const Words &k, char *z, Words *)
    {
        store_float(a.to, z, sum_result(a, w.w[2], k));
    }
};

template <class Storage> struct ProductOf {
    using S = Storage;
    using State = double;
    enum { V = 16 / sizeof(typename S::Bits) > 8 ? 8 : 16 / sizeof(typename S::Bits), W = 1, BLOCKS = 1 };
    static TSRC_FN State begin(const ReduceArgs &) { return 1; }
    template <int N>
    static TSRC_FN void take(const ReduceArgs &a, const Words &, State &s, const typename S::Bits *x,
                             uint64_t)
    {
#pragma unroll
        for (int i = 0; i < N; i++) s *= double(S::load(x[i], a.flag));
    }
    static TSRC_FN void merge(const ReduceArgs &, State &s, State o) { s *= o; }
    static TSRC_FN Words pack(State s) { return { { s, 0, 0, 0 } }; }
    static TSRC_FN State unpack(const Words &w) { return w.w[0]; }
    static TSRC_FN void finish(const ReduceArgs &a, const Words &w, const Words &, char *z, Words *)
    {
        store_float(a.to, z, w.w[0]);
    }
};

/* The largest of x, -x, |x| or -|x|; NaN once one was met. */
template <class Storage> struct LargestOf {
    using S = Storage;
    using T = typename S::T;
    using State = T;
    enum { V = 16 / sizeof(typename S::Bits) > 8 ? 8 : 16 / sizeof(typename S::Bits), W = 1, BLOCKS = 1 };
    static TSRC_FN State begin(const ReduceArgs &) { return T(-INFINITY); }
    static TSRC_FN T larger(T a, T b) { return b > a || b != b ? b : a; }
    template <int N>
    static TSRC_FN void take(const ReduceArgs &a, const Words &, State &s, const typename S::Bits *x,
                             uint64_t)
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            T v = S::load(x[i], a.flag);
            if (a.size) v = fabs(v);
            if (a.least) v = -v;
            if (s == s) s = larger(s, v);
        }
    }
    static TSRC_FN void merge(const ReduceArgs &, State &s, State o)
    {
        if (s == s) s = larger(s, o);
    }
    static TSRC_FN Words pack(State s) { return { { double(s), 0, 0, 0 } }; }
    static TSRC_FN State unpack(const Words &w) { return T(w.w[0]); }
    static TSRC_FN void finish(const ReduceArgs &a, const Words &w, const Words &, char *z, Words *next)
    {
        const double m = a.least ? -w.w[0] : w.w[0];
        if (next)
            leave_extreme(a, m, next);
        else
            store_float(a.to, z, a.op == TSR_OP_NORM && a.plan.count == 0 ? 0.0 : m);
    }
};

/* The first of the largest, or of the NaNs. The index is -1 until there is one. */
template <class T> struct Found {
    T value;
    int64_t at;
};

template <class T> TSRC_FN bool beats(T x, T y) { return x > y || (x != x && y == y); }

template <class T> TSRC_FN void merge_found(Found<T> &s, const Found<T> &o)
{
    if (o.at < 0) return;
    const bool same = s.value == o.value || (s.value != s.value && o.value != o.value);
    if (s.at < 0 || beats(o.value, s.value) || (same && o.at < s.at)) s = o;
}

template <class Storage> struct FindOf {
    using S = Storage;
    using T = typename S::T;
    using State = Found<T>;
    enum {
        V = 16 / sizeof(typename S::Bits) > 8 ? 8 : 16 / sizeof(typename S::Bits),
        W = 2,
        BLOCKS = sizeof(typename S::Bits) <= 4 ? 6 : 1
    };
    static TSRC_FN State begin(const ReduceArgs &) { return { T(-INFINITY), -1 }; }

    static TSRC_FN T asked(const ReduceArgs &a, typename S::Bits b)
    {
        const T v = S::load(b, a.flag);
        return a.least ? -v : v;
    }

    /* Most groups hold nothing better: that is seen from their largest. What follows is short, since of a
     * warp's threads nearly always one gets there. */
    template <int N>
    static TSRC_FN void take(const ReduceArgs &a, const Words &, State &s, const typename S::Bits *x,
                             uint64_t at)
    {
        T v[N], most = T(-INFINITY);
        bool nan = false;
#pragma unroll
        for (int i = 0; i < N; i++) {
            v[i] = asked(a, x[i]);
            most = fmax(most, v[i]);
            nan = nan || v[i] != v[i];
        }
        if (nan) {
#pragma unroll
            for (int i = 0; i < N; i++)
                if (beats(v[i], s.value) || s.at < 0) s = { v[i], int64_t(at) + i };
        } else if (most > s.value || s.at < 0) {
            int first = N - 1;
#pragma unroll
            for (int i = N - 2; i >= 0; i--)
                if (v[i] == most) first = i;
            s = { most, int64_t(at) + first };
        }
    }
    static TSRC_FN void merge(const ReduceArgs &, State &s, const State &o) { merge_found(s, o); }
    static TSRC_FN Words pack(const State &s)
    {
        return { { double(s.value), __longlong_as_double(s.at), 0, 0 } };
    }
    static TSRC_FN State unpack(const Words &w) { return { T(w.w[0]), __double_as_longlong(w.w[1]) }; }
    static TSRC_FN void finish(const ReduceArgs &, const Words &w, const Words &, char *z, Words *)
    {
        *reinterpret_cast<int64_t *>(z) = __double_as_longlong(w.w[1]);
    }
};

template <class S> static Reducer deviations_of()
{
    if constexpr (sizeof(typename S::Bits) == 8) return make_reducer<SumOf<S, ACCUMULATE_DEVIATIONS>>();
    else return {};
}

template <class S> static Reducer moments_of()
{
    if constexpr (sizeof(typename S::Bits) < 8) return make_reducer<MomentsOf<S>>();
    else return {};
}

template <class S> static Reducer reducer_of(Accumulation kind)
{
    switch (kind) {
    case ACCUMULATE_SUM: return make_reducer<SumOf<S, ACCUMULATE_SUM>>();
    case ACCUMULATE_ABS: return make_reducer<SumOf<S, ACCUMULATE_ABS>>();
    case ACCUMULATE_SQUARES: return make_reducer<SumOf<S, ACCUMULATE_SQUARES>>();
    case ACCUMULATE_POWERS: return make_reducer<SumOf<S, ACCUMULATE_POWERS>>();
    case ACCUMULATE_EXPS: return make_reducer<SumOf<S, ACCUMULATE_EXPS>>();
    case ACCUMULATE_DEVIATIONS: return deviations_of<S>();
    case ACCUMULATE_MOMENTS: return moments_of<S>();
    case ACCUMULATE_PROD: return make_reducer<ProductOf<S>>();
    case ACCUMULATE_LARGEST: return make_reducer<LargestOf<S>>();
    case ACCUMULATE_FIND: return make_reducer<FindOf<S>>();
    default: return {};
    }
}

} // namespace tsrc
