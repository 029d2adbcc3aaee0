/* rope.cu - rotary positions: a thread rotates one pair of all heads at one place. */
#include <cstring>

#include "convert.cuh"
#include "cuda.h"
#include "nest.cuh"

namespace tsrc {

struct RopeArgs {
    tsrc_place places; /* z, x over the dims before the sequence */
    char *z;
    const char *x;
    const int64_t *positions;
    const char *sines, *cosines; /* tables; NULL: by theta */
    uint32_t total;              /* threads */
    uint32_t sequence, heads, pairs;
    int64_t step_position;                 /* elements */
    int64_t seq[2], head[2], one[2];       /* bytes: z, x */
    int64_t table_row[2], table_column[2]; /* bytes: sines, cosines */
    double theta;
    int mode, dtype, dtype_table;
};

__global__ void __launch_bounds__(TSRC_THREADS) rope_kernel(const __grid_constant__ RopeArgs a)
{
    const uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x;
    if (i >= a.total) return;
    const uint32_t pair = i % a.pairs, rest = i / a.pairs, s = rest % a.sequence;
    const int64_t position = a.positions[s * a.step_position];
    double sine, cosine;
    if (a.sines) {
        sine = load_real(a.dtype_table, a.sines + position * a.table_row[0] + pair * a.table_column[0]);
        cosine = load_real(a.dtype_table, a.cosines + position * a.table_row[1] + pair * a.table_column[1]);
    } else {
        sincos(double(position) / pow(a.theta, double(pair) / double(a.pairs)), &sine, &cosine);
    }
    int64_t z = s * a.seq[0], x = s * a.seq[1];
    find_place(a.places, rest / a.sequence, z, x);
    const uint32_t first = a.mode == 0 ? pair : 2 * pair,
                   second = a.mode == 0 ? pair + a.pairs : 2 * pair + 1;
    for (uint32_t h = 0; h < a.heads; h++) {
        const char *from = a.x + x + h * a.head[1];
        char *to = a.z + z + h * a.head[0];
        const double p = load_real(a.dtype, from + first * a.one[1]),
                     q = load_real(a.dtype, from + second * a.one[1]);
        store_float(a.dtype, to + first * a.one[0], p * cosine - q * sine);
        store_float(a.dtype, to + second * a.one[0], q * cosine + p * sine);
    }
}

static int64_t step_of(const tsr_tensor *t, int d)
{
    return t->shape[d] > 1 ? t->stride[d] * tsrc_size(t->dtype) : 0;
}

static bool plan_rope(RopeArgs &a, const tsr_op *op)
{
    const tsr_tensor *z = op->out[0], *x = op->in[0], *positions = op->in[1];
    const tsr_rope_params *p = static_cast<const tsr_rope_params *>(op->params);
    tsr_loop l;
    std::memset(&a, 0, sizeof a);
    const int last = x->ndim - 1;
    const tsr_tensor *const both[] = { z, x };
    tsrc_ordered(&l, 2, both, 7u << (last - 2));
    a.sequence = uint32_t(x->shape[last - 2]);
    a.heads = uint32_t(x->shape[last - 1]);
    a.pairs = uint32_t(x->shape[last] / 2);
    if (l.ndim > TSRC_DIMS || numel(x) > TSRC_LIMIT) return false;
    tsrc_place_of(&a.places, &l, 0);
    a.total = a.places.count * a.sequence * a.pairs;
    a.z = static_cast<char *>(z->data);
    a.x = static_cast<const char *>(x->data);
    a.positions = static_cast<const int64_t *>(positions->data);
    a.step_position = positions->shape[0] > 1 ? positions->stride[0] : 0;
    for (int o = 0; o < 2; o++) {
        a.seq[o] = step_of(both[o], last - 2);
        a.head[o] = step_of(both[o], last - 1);
        a.one[o] = step_of(both[o], last);
    }
    a.theta = p->theta;
    a.mode = p->mode;
    a.dtype = x->dtype;
    if (op->kind == TSR_OP_ROPE_WITH) {
        const tsr_tensor *const tables[] = { op->in[2], op->in[3] };
        a.sines = static_cast<const char *>(tables[0]->data);
        a.cosines = static_cast<const char *>(tables[1]->data);
        a.dtype_table = tables[0]->dtype;
        for (int o = 0; o < 2; o++) {
            a.table_row[o] = step_of(tables[o], 0);
            a.table_column[o] = step_of(tables[o], 1);
        }
    }
    return true;
}

bool has_rope(const tsr_op *op)
{
    RopeArgs a;
    return op->nin > 1 && op->in[0] && op->in[1] && op->params && plan_rope(a, op);
}

tsr_status run_rope(const Work &w)
{
    RopeArgs a;
    (void)plan_rope(a, w.op);
    if (numel(w.op->out[0]) == 0) return TSR_OK;
    return launch(w, (const void *)rope_kernel, tsrc_blocks(a.total, TSRC_THREADS), TSRC_THREADS, 0, a);
}

} // namespace tsrc
