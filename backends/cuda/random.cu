/* random.cu - random numbers: seed and row-major index give the value, bit for bit that of the CPU.
 *
 * Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, 2011) gives four words for a block; a thread does one
 * block. Additions and products are rounded one by one: built without fused multiply-adds. */
#include <cmath>
#include <cstring>

#include "convert.cuh"
#include "cuda.h"
#include "nest.cuh"
#include "same_math.cuh"

namespace tsrc {

enum { STREAM_UNIFORM = 0, STREAM_NORMAL = 1, STREAM_INTEGERS = 2, STREAM_EXPONENTIAL = 3 };

TSRC_FN void philox(uint32_t (&c)[4], uint64_t seed)
{
    uint32_t k0 = uint32_t(seed), k1 = uint32_t(seed >> 32);
#pragma unroll
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        const uint32_t high0 = __umulhi(0xD2511F53u, c[0]), low0 = 0xD2511F53u * c[0];
        const uint32_t high1 = __umulhi(0xCD9E8D57u, c[2]), low1 = 0xCD9E8D57u * c[2];
        c[0] = high1 ^ c[1] ^ k0;
        c[2] = high0 ^ c[3] ^ k1;
        c[1] = low1;
        c[3] = low0;
    }
}

TSRC_FN void words_of(uint32_t (&w)[4], uint64_t seed, uint64_t block, uint32_t stream, uint32_t attempt)
{
    w[0] = uint32_t(block);
    w[1] = uint32_t(block >> 32);
    w[2] = stream;
    w[3] = attempt;
    philox(w, seed);
}

TSRC_FN uint64_t bits_of(uint32_t low, uint32_t high) { return uint64_t(high) << 32 | low; }

/* What a tensor of random numbers is to hold. */
struct Draw {
    uint64_t seed;
    double low, width, unit, first, last; /* uniform: (low + width u) * unit, held to first .. last */
    int64_t from;                         /* integers: from, and how many */
    uint64_t range;                       /* 0: 2^64 */
    double rate;
    int op, real, parts, wide; /* dtype of parts; how many an element has; two numbers a block */
};

/* Numbers of a block, in f64 (which holds those made in f32), or integers. */
TSRC_FN void make_reals(const Draw &d, const uint32_t (&w)[4], double (&v)[4])
{
    if (d.op == TSR_OP_UNIFORM && d.wide) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const double u =
                double(int64_t(bits_of(w[2 * i], w[2 * i + 1]) >> 11)) * (1.0 / 9007199254740992.0);
            const double x = (d.low + d.width * u) * d.unit, least = x < d.first ? d.first : x;
            v[i] = least > d.last ? d.last : least;
        }
    } else if (d.op == TSR_OP_UNIFORM) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float u = float(int32_t(w[i] >> 8)) * (1.0f / 16777216.0f);
            const float x = (float(d.low) + float(d.width) * u) * float(d.unit);
            const float least = x < float(d.first) ? float(d.first) : x;
            v[i] = double(least > float(d.last) ? float(d.last) : least);
        }
    } else if (d.op == TSR_OP_RANDN && d.wide) {
        normal_pair(v[0], v[1], bits_of(w[0], w[1]), bits_of(w[2], w[3]));
    } else if (d.op == TSR_OP_RANDN) {
#pragma unroll
        for (int i = 0; i < 4; i += 2) {
            float even, odd;
            normal_pair(even, odd, w[i], w[i + 1]);
            v[i] = double(even);
            v[i + 1] = double(odd);
        }
    } else if (d.wide) {
#pragma unroll
        for (int i = 0; i < 2; i++) v[i] = exponential(bits_of(w[2 * i], w[2 * i + 1])) / d.rate;
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++) v[i] = double(exponential(w[i])) / d.rate;
    }
}

/* Integer i of a block; what would make some values likelier than others is drawn again (Lemire, 2019). */
TSRC_FN int64_t make_integer(const Draw &d, const uint32_t (&w)[4], uint64_t block, int i)
{
    uint32_t again[4] = { w[0], w[1], w[2], w[3] };
    const uint64_t r = d.range;
    if (!d.wide) {
        const uint32_t threshold = uint32_t(((uint64_t(1) << 32) - r) % r);
        uint64_t product = uint64_t(again[i]) * r;
        for (uint32_t attempt = 1; uint32_t(product) < threshold; attempt++) {
            words_of(again, d.seed, block, STREAM_INTEGERS, attempt);
            product = uint64_t(again[i]) * r;
        }
        return int64_t(uint64_t(d.from) + (product >> 32));
    }
    const uint64_t threshold = (0 - r) % r;
    uint64_t bits = bits_of(again[2 * i], again[2 * i + 1]);
    for (uint32_t attempt = 1; bits < threshold; attempt++) {
        words_of(again, d.seed, block, STREAM_INTEGERS, attempt);
        bits = bits_of(again[2 * i], again[2 * i + 1]);
    }
    return int64_t(uint64_t(d.from) + bits % r);
}

struct DrawArgs {
    tsrc_nest nest; /* z in row-major order */
    uint64_t first; /* element that the nest begins with */
    uint64_t blocks, block0;
    Draw d;
};

/* Puts number k of the stream, if it is of this nest, where it belongs. */
template <class V> TSRC_FN void place_number(const DrawArgs &p, uint64_t k, V v)
{
    const uint64_t element = k / uint32_t(p.d.parts);
    if (element < p.first || element - p.first >= p.nest.total) return;
    int64_t at[1];
    find_group(p.nest, uint32_t(element - p.first), at);
    char *z = p.nest.data[0] + at[0] +
              int64_t(k % uint32_t(p.d.parts)) * (p.d.real == TSR_F64   ? 8
                                                  : p.d.real == TSR_F32 ? 4
                                                                        : 2);
    if constexpr (sizeof(V) == sizeof(int64_t) && V(0.5) == V(0))
        store_integer(p.d.real, z, v);
    else
        store_float(p.d.real, z, v);
}

__global__ void __launch_bounds__(TSRC_THREADS) draw_kernel(const __grid_constant__ DrawArgs p)
{
    const uint64_t i = uint64_t(blockIdx.x) * TSRC_THREADS + threadIdx.x;
    if (i >= p.blocks) return;
    const uint64_t block = p.block0 + i;
    const int each = p.d.wide ? 2 : 4;
    const uint32_t stream = p.d.op == TSR_OP_UNIFORM    ? STREAM_UNIFORM
                            : p.d.op == TSR_OP_RANDN    ? STREAM_NORMAL
                            : p.d.op == TSR_OP_INTEGERS ? STREAM_INTEGERS
                                                        : STREAM_EXPONENTIAL;
    uint32_t w[4];
    words_of(w, p.d.seed, block, stream, 0);
    if (p.d.op == TSR_OP_INTEGERS) {
        for (int k = 0; k < each; k++) place_number(p, block * each + k, make_integer(p.d, w, block, k));
        return;
    }
    double v[4];
    make_reals(p.d, w, v);
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (k < each) place_number(p, block * each + k, v[k]);
}

/* Dropout: element i is kept where number i of the uniform f32 stream reaches p. ------------------------ */

struct DropArgs {
    tsrc_nest nest; /* z, x in row-major order */
    uint64_t first, seed;
    double scale;
    uint32_t threshold;
    int dtype;
};

__global__ void __launch_bounds__(TSRC_THREADS) drop_kernel(const __grid_constant__ DropArgs p)
{
    const uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x;
    if (i >= p.nest.total) return;
    const uint64_t element = p.first + i;
    uint32_t w[4];
    words_of(w, p.seed, element / 4, STREAM_UNIFORM, 0);
    const uint32_t word = element % 4 == 0 ? w[0] : element % 4 == 1 ? w[1] : element % 4 == 2 ? w[2] : w[3];
    const bool kept = word >> 8 >= p.threshold;
    int64_t at[2];
    find_group(p.nest, i, at);
    const char *x = p.nest.data[1] + at[1];
    char *z = p.nest.data[0] + at[0];
    if (p.dtype == TSR_F64)
        *reinterpret_cast<double *>(z) = kept ? *reinterpret_cast<const double *>(x) * p.scale : 0;
    else
        store_float(p.dtype, z, kept ? load_f32(p.dtype, x) * float(p.scale) : 0.0f);
}

/* Host -------------------------------------------------------------------------------------------------- */

static tsr_dtype real_of(tsr_dtype dtype)
{
    return dtype == TSR_C32 ? TSR_F16 : dtype == TSR_C64 ? TSR_F32 : dtype == TSR_C128 ? TSR_F64 : dtype;
}

static Draw draw_of(const tsr_op *op)
{
    Draw d;
    const tsr_dtype dtype = op->out[0]->dtype, real = real_of(dtype);
    std::memset(&d, 0, sizeof d);
    d.op = op->kind;
    d.real = real;
    d.parts = real == dtype ? 1 : 2;
    d.wide = real == TSR_F64;
    if (op->kind == TSR_OP_INTEGERS) {
        const tsr_integers_params *p = static_cast<const tsr_integers_params *>(op->params);
        d.seed = p->seed;
        d.from = p->low;
        d.range = uint64_t(p->high) - uint64_t(p->low);
        d.wide = d.range > uint64_t(1) << 32;
    } else if (op->kind == TSR_OP_EXPONENTIAL) {
        const tsr_exponential_params *p = static_cast<const tsr_exponential_params *>(op->params);
        d.seed = p->seed;
        d.rate = p->rate;
    } else {
        const tsr_random_params *p = static_cast<const tsr_random_params *>(op->params);
        d.seed = p->seed;
        if (op->kind == TSR_OP_UNIFORM) {
            const tsrc_range r = tsrc_range_of(real, p->low, p->high);
            d.low = r.low;
            d.width = r.width;
            d.unit = r.unit;
            d.first = r.first;
            d.last = r.last;
        }
    }
    return d;
}

/* Parts are met in row-major order, so that each begins where the last one ended. */
struct DrawJob {
    const Work *w;
    DrawArgs args;
};

static int draw_part(const tsr_loop *part, void *context)
{
    DrawJob *j = static_cast<DrawJob *>(context);
    DrawArgs &a = j->args;
    const int size = tsrc_size(j->w->op->out[0]->dtype);
    tsrc_nest_of(&a.nest, part, &size, 1);
    const uint64_t each = a.d.wide ? 2 : 4, parts = uint64_t(a.d.parts);
    a.block0 = a.first * parts / each;
    a.blocks = ((a.first + a.nest.total) * parts + each - 1) / each - a.block0;
    TSRC_TRY(
        launch(*j->w, (const void *)draw_kernel, tsrc_blocks(a.blocks, TSRC_THREADS), TSRC_THREADS, 0, a));
    a.first += a.nest.total;
    return TSR_OK;
}

/* Row-major parts: only the outermost dims are cut. */
static int split_ordered(const tsr_loop *l, tsrc_part_fn fn, void *context)
{
    if (l->ndim <= TSRC_DIMS) return tsrc_split(l, TSRC_DIMS, TSRC_LIMIT, fn, context);
    for (int64_t i = 0; i < l->n[0]; i++) {
        tsr_loop part = *l;
        part.ndim--;
        for (int o = 0; o < l->noperands; o++)
            part.data[o] = static_cast<char *>(l->data[o]) + i * l->step[0][o];
        for (int d = 0; d < part.ndim; d++) {
            part.n[d] = l->n[d + 1];
            for (int o = 0; o < l->noperands; o++) part.step[d][o] = l->step[d + 1][o];
        }
        const int s = split_ordered(&part, fn, context);
        if (s != 0) return s;
    }
    return 0;
}

tsr_status run_random(const Work &w)
{
    tsr_loop l;
    DrawJob job;
    const tsr_tensor *z = w.op->out[0];
    job.w = &w;
    job.args.first = 0;
    job.args.d = draw_of(w.op);
    tsrc_ordered(&l, 1, &z, 0);
    return static_cast<tsr_status>(split_ordered(&l, draw_part, &job));
}

struct DropJob {
    const Work *w;
    DropArgs args;
};

static int drop_part(const tsr_loop *part, void *context)
{
    DropJob *j = static_cast<DropJob *>(context);
    const int size = tsrc_size(static_cast<tsr_dtype>(j->args.dtype)), sizes[] = { size, size };
    tsrc_nest_of(&j->args.nest, part, sizes, 1);
    TSRC_TRY(launch(*j->w, (const void *)drop_kernel, tsrc_blocks(j->args.nest.total, TSRC_THREADS),
                    TSRC_THREADS, 0, j->args));
    j->args.first += j->args.nest.total;
    return TSR_OK;
}

tsr_status run_dropout(const Work &w)
{
    tsr_loop l;
    DropJob job;
    const tsr_dropout_params *p = static_cast<const tsr_dropout_params *>(w.op->params);
    const tsr_tensor *const both[] = { w.op->out[0], w.op->in[0] };
    job.w = &w;
    job.args.first = 0;
    job.args.seed = p->seed;
    job.args.scale = 1 / (1 - p->p);
    job.args.threshold = uint32_t(std::ceil(p->p * 16777216.0));
    job.args.dtype = w.op->in[0]->dtype;
    tsrc_ordered(&l, 2, both, 0);
    return static_cast<tsr_status>(split_ordered(&l, drop_part, &job));
}

} // namespace tsrc
