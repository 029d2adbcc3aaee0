/* each.cuh - the kernel of all elementwise ops: a function of one to three elements, over a nest.
 *
 * A function is a struct with N, how many elements it takes, and run<S>(args, x, ...), where S
 * is the storage type (numbers.cuh) of its operands; Z is that of its result. */
#ifndef TSRC_EACH_CUH
#define TSRC_EACH_CUH

#include "each.h"
#include "nest.cuh"

namespace tsrc {

/* Neighbours that a thread does at once: 16 bytes, 8 elements at most; complex numbers one by one. */
template <class S> struct Lanes {
    enum { fit = 16 / sizeof(typename S::Bits), n = fit > 8 ? 8 : fit };
};
template <> struct Lanes<SC64> { enum { n = 1 }; };
template <> struct Lanes<SC128> { enum { n = 1 }; };

/* V neighbours, or one element for all of them. */
template <class S, int V>
TSRC_FN void load_lanes(typename S::T (&x)[V], const char *at, int64_t step, int flag)
{
    using Bits = typename S::Bits;
    if (step != 0) {
        const Vec<Bits, V> v = *reinterpret_cast<const Vec<Bits, V> *>(at);
#pragma unroll
        for (int k = 0; k < V; k++) x[k] = S::load(v.e[k], flag);
    } else {
        const typename S::T v = S::load(*reinterpret_cast<const Bits *>(at), flag);
#pragma unroll
        for (int k = 0; k < V; k++) x[k] = v;
    }
}

template <class S, class F, int V>
TSRC_FN auto apply(const EachArgs &p, const typename S::T (&x)[F::N][V], int k)
{
    if constexpr (F::N == 1) return F::template run<S>(p, x[0][k]);
    else if constexpr (F::N == 2) return F::template run<S>(p, x[0][k], x[1][k]);
    else return F::template run<S>(p, x[0][k], x[1][k], x[2][k]);
}

/* V neighbours of every operand. */
template <class S, class Z, class F, int V>
TSRC_FN void do_lanes(const EachArgs &p, const int64_t (&at)[F::N + 1])
{
    typename S::T x[F::N][V];
#pragma unroll
    for (int o = 0; o < F::N; o++)
        load_lanes<S, V>(x[o], p.nest.data[o + 1] + at[o + 1], p.nest.step[0][o + 1], p.flag);
    decltype(apply<S, F, V>(p, x, 0)) z[V];
#pragma unroll
    for (int k = 0; k < V; k++) z[k] = apply<S, F, V>(p, x, k);
    *reinterpret_cast<Vec<typename Z::Bits, V> *>(p.nest.data[0] + at[0]) = Packing<Z>::pack(z, p.flag);
}

/* One element after another. */
template <class S, class Z, class F>
TSRC_FN void do_singly(const EachArgs &p, const int64_t (&at)[F::N + 1], uint32_t count)
{
#pragma unroll 1
    for (uint32_t k = 0; k < count; k++) {
        typename S::T x[F::N][1];
#pragma unroll
        for (int o = 0; o < F::N; o++)
            x[o][0] = S::load(*reinterpret_cast<const typename S::Bits *>(
                                  p.nest.data[o + 1] + at[o + 1] + k * p.nest.step[0][o + 1]),
                              p.flag);
        *reinterpret_cast<typename Z::Bits *>(p.nest.data[0] + at[0] + k * p.nest.step[0][0]) =
            Z::store(apply<S, F, 1>(p, x, 0), p.flag);
    }
}

/* Elements a block apart, TSRC_EACH_AHEAD of a thread: all are loaded before the first is worked on. */
template <class S, class Z, class F> TSRC_FN void do_apart(const EachArgs &p)
{
    enum { N = F::N, AHEAD = TSRC_EACH_AHEAD };
    const uint32_t first = blockIdx.x * (TSRC_THREADS * AHEAD) + threadIdx.x;
    typename S::T x[N][AHEAD];
    int64_t to[AHEAD];
#pragma unroll
    for (int k = 0; k < AHEAD; k++) {
        int64_t at[N + 1];
        if (first + k * TSRC_THREADS >= p.nest.total) continue;
        find_group(p.nest, first + k * TSRC_THREADS, at);
        to[k] = at[0];
#pragma unroll
        for (int o = 0; o < N; o++)
            x[o][k] =
                S::load(*reinterpret_cast<const typename S::Bits *>(p.nest.data[o + 1] + at[o + 1]), p.flag);
    }
#pragma unroll 1
    for (uint32_t e = first, k = 0; k < AHEAD && e < p.nest.total; k++, e += TSRC_THREADS) {
        *reinterpret_cast<typename Z::Bits *>(p.nest.data[0] + to[0]) =
            Z::store(apply<S, F, AHEAD>(p, x, 0), p.flag);
#pragma unroll
        for (int next = 1; next < AHEAD; next++) { /* the next one moves up: registers have no index */
            to[next - 1] = to[next];
#pragma unroll
            for (int o = 0; o < N; o++) x[o][next - 1] = x[o][next];
        }
    }
}

template <class S, class Z, class F>
__global__ void __launch_bounds__(TSRC_THREADS) each_kernel(const __grid_constant__ EachArgs p)
{
    constexpr int V = Lanes<S>::n;
    if (V == 1 || p.nest.per == 1) {
        do_apart<S, Z, F>(p);
        return;
    }
    const uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x;
    if (i >= p.nest.total) return;
    int64_t at[F::N + 1];
    const uint32_t column = find_group(p.nest, i, at), per = uint32_t(p.nest.per);
    if (column + V <= p.nest.len) do_lanes<S, Z, F, V>(p, at);
    else do_singly<S, Z, F>(p, at, min(per, p.nest.len - column));
}

/* Functions that give bools. */
using SBool = Plain<uint8_t>;

/* Bits instead of numbers. */
template <class S> struct Raw {
    using Bits = typename S::Bits;
    using T = Bits;
    using Number = S;
    static TSRC_FN T    load(Bits b, int) { return b; }
    static TSRC_FN Bits store(T v, int) { return v; }
};

template <class S> struct Lanes<Raw<S>> { enum { n = Lanes<S>::n }; };

/* Rows of the lists in each_*.cu. */
template <class S, class Z, class F> inline Each make_each()
{
    return { (const void *)each_kernel<S, Z, F>, Lanes<S>::n };
}

/* op_NAME as a function of each_kernel. */
#define TSRC_OP1(name)                                                                                   \
    struct name##_ {                                                                                     \
        enum { N = 1 };                                                                                  \
        template <class S, class T> static TSRC_FN auto run(const EachArgs &, T x) { return op_##name(x); } \
    };
#define TSRC_OP2(name)                                                                                   \
    struct name##_ {                                                                                     \
        enum { N = 2 };                                                                                  \
        template <class S, class T> static TSRC_FN auto run(const EachArgs &, T x, T y)                  \
        {                                                                                                \
            return op_##name(x, y);                                                                      \
        }                                                                                                \
    };

}  // namespace tsrc

#endif
