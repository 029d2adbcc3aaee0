/* attention.cu - from an op to a plan of attention and its kernel; see attention.h. */
#include <cstring>

#include "attention.h"
#include "cuda.h"

namespace tsrc {

static int64_t step_of(const tsr_tensor *t, int dim)
{
    return t->shape[dim] > 1 ? t->stride[dim] * tsrc_size(t->dtype) : 0;
}

/* Operand o, whose dims are the last of ndim; (m, h, d) stands for (h, m, d) if heads are second. */
static void plan_operand(AttentionArgs &a, int o, const tsr_tensor *t, int ndim, bool heads_second)
{
    const int last = t->ndim - 1;
    int64_t step[TSR_MAX_NDIM] = { 0 }; /* of dim ndim - 1 - i */
    for (int i = 0; i <= last; i++) step[i] = step_of(t, last - i);
    Heads &h = a.of[o];
    h.data = static_cast<char *>(t->data);
    h.col = step[0];
    h.row = step[heads_second ? 2 : 1];
    h.head = step[heads_second ? 1 : 2];
    const int64_t cols = last >= 0 ? t->shape[last] : 1, size = tsrc_size(t->dtype);
    h.wide = h.col == size && cols * size % 16 == 0 && reinterpret_cast<uintptr_t>(h.data) % 16 == 0 &&
             h.row % 16 == 0 && h.head % 16 == 0;
    for (int i = 3; i < ndim; i++) {
        a.step[i - 3][o] = step[i];
        h.wide = h.wide && step[i] % 16 == 0;
    }
}

static bool plan_sizes(AttentionArgs &a, const tsr_op *op, bool heads_second)
{
    const tsr_tensor *q = op->in[0], *k = op->in[1], *v = op->in[2];
    const int last = q->ndim - 1, head = last - (heads_second ? 1 : 2), row = last - (heads_second ? 2 : 1);
    const int64_t m = q->shape[row], n = k->shape[row], d = q->shape[last], e = v->shape[last];
    const int64_t heads = q->shape[head], kv_heads = k->shape[head];
    if (d > MOST_SIZE || e > MOST_SIZE || m > TSRC_LIMIT || n > TSRC_LIMIT || heads > TSRC_LIMIT)
        return false;
    if (numel(op->out[0]) == 0) return true;
    if (heads / kv_heads * m > TSRC_LIMIT) return false;
    a.m = uint32_t(m);
    a.n = uint32_t(n);
    a.d = uint32_t(d);
    a.e = uint32_t(e);
    a.kv_heads = uint32_t(kv_heads);
    a.shared = uint32_t(heads / kv_heads);
    return true;
}

static bool plan_attention(AttentionArgs &a, const tsr_op *op)
{
    const tsr_attention_params *p = static_cast<const tsr_attention_params *>(op->params);
    const tsr_tensor *q = op->in[0], *mask = op->nin > 3 ? op->in[3] : nullptr;
    const bool self = op->kind == TSR_OP_SELF_ATTENTION;
    const tsr_dtype t = q->dtype;
    std::memset(&a, 0, sizeof a);
    if (t != TSR_F16 && t != TSR_BF16 && t != TSR_F32 && t != TSR_F64) return false;
    a.nd = q->ndim - 3;
    if (a.nd > TSRC_DIMS || !plan_sizes(a, op, self)) return false;
    for (int i = 0; i < a.nd; i++) {
        if (q->shape[a.nd - 1 - i] > TSRC_LIMIT) return false;
        a.batch[i] = tsrc_div_by(uint32_t(q->shape[a.nd - 1 - i]));
    }
    const tsr_tensor *const of[] = { q, op->in[1], op->in[2], op->out[0], mask };
    for (int o = 0; o < OPERANDS; o++)
        if (of[o]) plan_operand(a, o, of[o], q->ndim, self);
    a.mask_dtype = mask ? mask->dtype : TSR_BOOL;
    a.causal = self || p->causal;
    const bool early = tsrc_size(t) > 2 && p->scale >= -1 && p->scale <= 1; /* q does not overflow then */
    a.early = early ? p->scale : 1;
    a.late = early ? 1 : p->scale;
    return true;
}

static AttentionKernel kernel_for(tsr_dtype dtype, const AttentionArgs &a)
{
    if (dtype == TSR_F64) return fma_attention(a);
    return dtype == TSR_F32 ? tf32_attention(a) : mma_attention(dtype, a);
}

/* Blocks that the op takes, or 0 if they are too many. */
static int64_t blocks_of(const tsr_op *op, const AttentionArgs &a, uint32_t rows)
{
    int64_t blocks = int64_t(tsrc_blocks(uint64_t(a.shared) * a.m, rows)) * a.kv_heads;
    for (int i = 0; i < a.nd && blocks <= TSRC_LIMIT; i++) blocks *= op->in[0]->shape[i];
    return blocks <= TSRC_LIMIT ? blocks : 0;
}

static size_t least_shared()
{
    int least = 0, bytes = 0;
    for (int i = 0; i < device_total; i++)
        if (cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, i) == cudaSuccess)
            least = i == 0 || bytes < least ? bytes : least;
    return size_t(least);
}

/* Can a block have so much shared memory on every device? */
static bool has_room(size_t shared)
{
    static const size_t room = least_shared();
    return shared <= room;
}

bool has_attention(const tsr_op *op)
{
    AttentionArgs a;
    if (op->nin < 3 || !op->in[0] || !op->in[1] || !op->in[2] || !op->params) return false;
    if (!plan_attention(a, op)) return false;
    const AttentionKernel k = kernel_for(op->in[0]->dtype, a);
    return numel(op->out[0]) == 0 || (has_room(k.shared) && blocks_of(op, a, k.rows) > 0);
}

/* Shares out keys to at most `most` blocks, each with a multiple of `least`. */
static void share_keys(AttentionArgs &a, int64_t most, uint32_t least)
{
    int64_t parts = a.n / least;
    if (parts > most) parts = most;
    if (parts > MOST_SHARES) parts = MOST_SHARES;
    if (parts < 1) parts = 1;
    a.part = tsrc_blocks(tsrc_blocks(a.n, uint32_t(parts)), least) * least;
    a.parts = a.part > 0 ? tsrc_blocks(a.n, a.part) : 1;
}

enum { LEAST_KEYS = 256 /* that are worth a block of a tile */ };

static tsr_status allow_shared(const Work &w, const void *kernel, size_t bytes)
{
    if (bytes == 0) return TSR_OK;
    return check(w.device, w.name(),
                 cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes)));
}

/* Few rows: a head's keys are shared out where heads alone would be too few blocks. */
static tsr_status run_decode(const Work &w, const DecodeKernel &k, AttentionArgs &a, int64_t heads)
{
    Scratch states(w);
    share_keys(a, k.enough / heads, k.keys);
    if (a.parts > 1) TSRC_TRY(states.take(size_t(heads) * a.parts * k.state));
    a.states = states.as<float>();
    TSRC_TRY(allow_shared(w, k.run, k.shared));
    TSRC_TRY(launch(w, k.run, uint32_t(heads * a.parts), k.threads, k.shared, a));
    return a.parts > 1 ? launch(w, k.join, uint32_t(heads * k.rows), k.width, 0, a) : TSR_OK;
}

/* Tiles of rows: their keys are shared out where they are too few for the GPU. */
static tsr_status run_tiles(const Work &w, const AttentionKernel &k, AttentionArgs &a, int64_t heads)
{
    const int64_t rows = int64_t(a.shared) * a.m, units = 2 * devices[w.device].units;
    Scratch states(w);
    a.tiles = tsrc_blocks(uint64_t(rows), k.rows);
    const int64_t blocks = heads * a.tiles;
    share_keys(a, k.join ? units / blocks : 1, LEAST_KEYS);
    if (a.parts > 1) TSRC_TRY(states.take(size_t(blocks) * a.parts * k.state));
    a.states = states.as<float>();
    TSRC_TRY(allow_shared(w, k.run, k.shared));
    TSRC_TRY(launch(w, k.run, uint32_t(blocks * a.parts), k.threads, k.shared, a));
    return a.parts > 1 ? launch(w, k.join, uint32_t(heads * rows), k.width, 0, a) : TSR_OK;
}

/* A block for each head of k, or with a mask for each tile. */
static tsr_status run_mend(const Work &w, const AttentionKernel &k, AttentionArgs &a, int64_t heads)
{
    a.tiles = tsrc_blocks(uint64_t(a.shared) * a.m, k.rows);
    a.parts = 1;
    a.part = a.n;
    TSRC_TRY(allow_shared(w, k.run, k.shared));
    const int64_t blocks = a.of[OF_MASK].data ? heads * a.tiles : heads;
    return launch(w, k.run, uint32_t(blocks), k.threads, k.shared, a);
}

tsr_status run_attention(const Work &w)
{
    AttentionArgs a;
    tsr_status status = TSR_OK;
    const tsr_dtype dtype = w.op->in[0]->dtype;
    if (numel(w.op->out[0]) == 0) return TSR_OK;
    (void)plan_attention(a, w.op);
    const int64_t heads = blocks_of(w.op, a, a.shared * a.m);
    if (dnn_attention(w, a, &status)) {
        const bool mends = status == TSR_OK && ((a.causal && a.m > 1) || a.of[OF_MASK].data);
        return mends ? run_mend(w, mend_attention(dtype), a, heads) : status;
    }
    const DecodeKernel decode = decode_attention(dtype, a);
    return decode.run && has_room(decode.shared) ? run_decode(w, decode, a, heads)
                                                 : run_tiles(w, kernel_for(dtype, a), a, heads);
}

} // namespace tsrc
