/* attention_dnn.cpp - attention of f16 and bf16 by cuDNN, as one graph: products, scale, what causal rows do
 * not see, softmax, products. Plans are made once for each shape, which compiles a kernel for it. */
#include "attention.h"
#include "dnn.h"

#if TSRC_DNN

#include <cmath>
#include <cstring>
#include <map>

namespace tsrc {

namespace {

enum { OPERAND_DIMS = 4, IDS = 10 };

/* Names of the tensors that have memory or are numbers; what is passed on is numbered from PASSED. */
enum { Q = 1, K, V, Z, SCALE, HIDDEN, KEYS, ROWS, MASK, PASSED };

struct Key {
    int32_t device, dtype, causal, mask; /* mask: its dtype; TSR_BOOL: none */
    int64_t batch, heads, kv_heads, m, n, d, e;
    int64_t stride[4][3]; /* of q, k, v, z: batch, head, row; elements */
    int64_t mask_shape[OPERAND_DIMS], mask_stride[OPERAND_DIMS];
    bool operator<(const Key &o) const { return std::memcmp(this, &o, sizeof *this) < 0; }
};

struct Kept {
    bool tried = false;
    DnnPlan plan;
};

enum { MOST_KEPT = 4096 };

std::map<Key, Kept> kept;

/* Virtual tensors of one graph. */
class Builder {
  public:
    Builder(DnnGraph &graph, const Key &key) : g(graph), k(key) {}
    bool build();

  private:
    DnnPart operand(int64_t id, int o, int64_t heads, int64_t rows, int64_t cols, bool flip);
    DnnPart number(int64_t id, cudnnDataType_t type);
    DnnPart passed(cudnnDataType_t type, bool row);
    DnnPart apply(cudnnPointwiseMode_t mode, DnnPart x, DnnPart b, bool row);
    DnnPart hide(DnnPart score);
    DnnPart soft(DnnPart score);
    DnnPart masked(DnnPart score);
    DnnGraph &g;
    const Key &k;
    int64_t next = PASSED;
    cudnnDataType_t io = CUDNN_DATA_HALF;
};

DnnPart Builder::operand(int64_t id, int o, int64_t heads, int64_t rows, int64_t cols, bool flip)
{
    const int64_t shape[] = { k.batch, heads, flip ? cols : rows, flip ? rows : cols };
    const int64_t row = k.stride[o][2];
    const int64_t stride[] = { k.stride[o][0], k.stride[o][1], flip ? 1 : row, flip ? row : 1 };
    return g.tensor(id, io, OPERAND_DIMS, shape, stride, DNN_MEMORY);
}

DnnPart Builder::number(int64_t id, cudnnDataType_t type)
{
    const int64_t ones[] = { 1, 1, 1, 1 };
    return g.tensor(id, type, OPERAND_DIMS, ones, ones, DNN_NUMBER);
}

/* Scores, or a number for each row of them. */
DnnPart Builder::passed(cudnnDataType_t type, bool row)
{
    const int64_t cols = row ? 1 : k.n, matrix = k.m * cols;
    const int64_t shape[] = { k.batch, k.heads, k.m, cols };
    const int64_t stride[] = { k.heads * matrix, matrix, cols, 1 };
    return g.tensor(next++, type, OPERAND_DIMS, shape, stride, DNN_PASSED);
}

DnnPart Builder::apply(cudnnPointwiseMode_t mode, DnnPart x, DnnPart b, bool row)
{
    const DnnPart y = passed(CUDNN_DATA_FLOAT, row);
    g.pointwise(mode, CUDNN_DATA_FLOAT, x, b, nullptr, y);
    return y;
}

/* Row i sees keys 0 .. i + n - m. */
DnnPart Builder::hide(DnnPart score)
{
    const cudnnDataType_t index = CUDNN_DATA_INT32;
    DnnPart row = passed(index, false);
    const DnnPart col = passed(index, false), sees = passed(CUDNN_DATA_BOOLEAN, false);
    g.pointwise(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_FLOAT, score, nullptr, nullptr, row, 2);
    g.pointwise(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_FLOAT, score, nullptr, nullptr, col, 3);
    if (k.n != k.m) {
        const DnnPart later = passed(index, false), end = passed(index, false);
        g.pointwise(CUDNN_POINTWISE_ADD, index, row, number(KEYS, index), nullptr, later);
        g.pointwise(CUDNN_POINTWISE_SUB, index, later, number(ROWS, index), nullptr, end);
        row = end;
    }
    g.pointwise(CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN, row, col, nullptr, sees);
    const DnnPart out = passed(CUDNN_DATA_FLOAT, false);
    g.pointwise(CUDNN_POINTWISE_BINARY_SELECT, CUDNN_DATA_FLOAT, score, number(HIDDEN, CUDNN_DATA_FLOAT),
                sees, out);
    return out;
}

/* cuDNN recognises softmax by the whole pattern of its ops, the logarithm too, whose result is not used. */
DnnPart Builder::soft(DnnPart score)
{
    const DnnPart largest = passed(CUDNN_DATA_FLOAT, true), sum = passed(CUDNN_DATA_FLOAT, true);
    g.reduce(CUDNN_REDUCE_TENSOR_MAX, score, largest);
    const DnnPart below = apply(CUDNN_POINTWISE_SUB, score, largest, false);
    const DnnPart weight = apply(CUDNN_POINTWISE_EXP, below, nullptr, false);
    g.reduce(CUDNN_REDUCE_TENSOR_ADD, weight, sum);
    (void)apply(CUDNN_POINTWISE_ADD, largest, apply(CUDNN_POINTWISE_LOG, sum, nullptr, true), true);
    const DnnPart out = passed(io, false);
    g.pointwise(CUDNN_POINTWISE_DIV, CUDNN_DATA_FLOAT, weight, sum, nullptr, out);
    return out;
}

DnnPart Builder::masked(DnnPart score)
{
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    (void)dnn_type(tsr_dtype(k.mask), &type);
    const DnnPart mask = g.tensor(MASK, type, OPERAND_DIMS, k.mask_shape, k.mask_stride, DNN_MEMORY);
    return apply(CUDNN_POINTWISE_ADD, score, mask, false);
}

bool Builder::build()
{
    if (!dnn_type(tsr_dtype(k.dtype), &io)) return false;
    const DnnPart q = operand(Q, 0, k.heads, k.m, k.d, false), kt = operand(K, 1, k.kv_heads, k.n, k.d, true),
                  v = operand(V, 2, k.kv_heads, k.n, k.e, false),
                  z = operand(Z, 3, k.heads, k.m, k.e, false);
    DnnPart score = passed(CUDNN_DATA_FLOAT, false);
    g.matmul(q, kt, score);
    score = apply(CUDNN_POINTWISE_MUL, score, number(SCALE, CUDNN_DATA_FLOAT), false);
    if (k.mask != TSR_BOOL) score = masked(score);
    if (k.causal) score = hide(score);
    g.matmul(soft(score), v, z);
    return true;
}

/* Which shapes it takes ---------------------------------------------------------------------------------- */

/* Batch dims as one: their steps for operand o follow from one another. False: they do not. */
bool join_batch(const AttentionArgs &a, int o, int64_t *step)
{
    int64_t count = 1;
    *step = 0;
    for (int i = 0; i < a.nd; i++) {
        const int64_t size = a.batch[i].d;
        if (size == 1) continue;
        if (count > 1 && a.step[i][o] != *step * count) return false;
        if (count == 1) *step = a.step[i][o];
        count *= size;
    }
    return true;
}

/* Elements from one to the next, or what packed ones have if there is but one. */
bool stride_of(int64_t *out, int64_t bytes, int64_t count, int64_t packed)
{
    *out = count > 1 ? bytes / 2 : packed;
    return count <= 1 || (bytes > 0 && bytes % 16 == 0);
}

bool key_of_operand(Key &k, const AttentionArgs &a, int o, int64_t heads, int64_t rows, int64_t cols)
{
    const Heads &h = a.of[o];
    int64_t batch, *s = k.stride[o], *row = s + 2;
    return cols % 8 == 0 && cols > 0 && h.col == 2 && reinterpret_cast<uintptr_t>(h.data) % 16 == 0 &&
           join_batch(a, o, &batch) && stride_of(row, h.row, rows, cols) &&
           stride_of(s + 1, h.head, heads, rows * *row) &&
           stride_of(s, batch, k.batch, heads * s[1]);
}

bool key_of(Key &k, const Work &w, const AttentionArgs &a)
{
    std::memset(&k, 0, sizeof k);
    k.device = w.device;
    k.dtype = w.op->in[0]->dtype;
    k.causal = a.causal && a.m > 1;
    k.mask = TSR_BOOL;
    k.batch = 1;
    for (int i = 0; i < a.nd; i++) k.batch *= a.batch[i].d;
    k.heads = int64_t(a.shared) * a.kv_heads;
    k.kv_heads = a.kv_heads;
    k.m = a.m;
    k.n = a.n;
    k.d = a.d;
    k.e = a.e;
    return key_of_operand(k, a, OF_Q, k.heads, k.m, k.d) &&
           key_of_operand(k, a, OF_K, k.kv_heads, k.n, k.d) &&
           key_of_operand(k, a, OF_V, k.kv_heads, k.n, k.e) &&
           key_of_operand(k, a, OF_Z, k.heads, k.m, k.e);
}

/* Masks ------------------------------------------------------------------------------------------------ */

bool takes_mask(tsr_dtype dtype)
{
    cudnnDataType_t type;
    return dtype == TSR_BOOL || dnn_type(dtype, &type);
}

/* The mask as it lies, as four dims; what is the same for all of a dim is there once. */
bool view_mask(tsr_tensor *out, const Key &k, const AttentionArgs &a)
{
    const Heads &h = a.of[OF_MASK];
    const int64_t size = tsrc_size(tsr_dtype(a.mask_dtype));
    const int64_t shape[] = { k.batch, k.heads, k.m, k.n };
    int64_t step[] = { 0, h.head, h.row, h.col };
    if (!join_batch(a, OF_MASK, step)) return false;
    *out = packed(h.data, tsr_dtype(a.mask_dtype), OPERAND_DIMS, shape);
    for (int d = 0; d < OPERAND_DIMS; d++) {
        if (step[d] == 0 && d < 3) out->shape[d] = 1;
        out->stride[d] = step[d] / size;
    }
    return true;
}

/* The same with rows of neighbours that begin at multiples of 16 bytes; bools become 0 and -infinity. */
tsr_status lay_mask(const Work &w, Scratch &memory, tsr_tensor *mask)
{
    const tsr_tensor had = *mask;
    const tsr_dtype dtype = had.dtype == TSR_BOOL ? w.op->in[0]->dtype : had.dtype;
    int64_t shape[OPERAND_DIMS];
    std::memcpy(shape, had.shape, sizeof shape);
    shape[3] = (shape[3] + 7) / 8 * 8;
    tsr_tensor all = packed(nullptr, dtype, OPERAND_DIMS, shape);
    TSRC_TRY(memory.take(size_t(numel(&all)) * size_t(tsrc_size(dtype))));
    all.data = memory.bytes();
    *mask = all;
    mask->shape[3] = had.shape[3];
    TSRC_TRY(copy(w, mask, &had));
    if (had.dtype != TSR_BOOL) return TSR_OK;
    tsr_op op = {};
    op.kind = TSR_OP_LOG;
    op.nin = op.nout = 1;
    op.in[0] = op.out[0] = mask;
    return run_elementwise(Work{ &op, w.device, w.stream });
}

/* Puts the mask into the key, as cuDNN is to see it. */
tsr_status key_of_mask(Key &k, const Work &w, Scratch &memory, tsr_tensor *mask)
{
    const bool aligned = reinterpret_cast<uintptr_t>(mask->data) % 16 == 0 && mask->stride[3] == 1;
    bool lies = mask->dtype != TSR_BOOL && aligned;
    for (int d = 0; d < 3; d++)
        lies = lies && (mask->shape[d] == 1 || (mask->stride[d] > 0 && mask->stride[d] % 8 == 0));
    if (!lies) TSRC_TRY(lay_mask(w, memory, mask));
    k.mask = mask->dtype;
    for (int d = OPERAND_DIMS - 1; d >= 0; d--) {
        const bool counts = d == 3 || mask->shape[d] > 1;
        k.mask_shape[d] = mask->shape[d];
        k.mask_stride[d] = counts ? mask->stride[d] : k.mask_shape[d + 1] * k.mask_stride[d + 1];
    }
    return TSR_OK;
}

/* Multiply-adds from which a plan, which takes long to make, is worth it. */
const double ENOUGH = 1e9;

bool is_worth(const Key &k)
{
    const bool decodes = k.heads / k.kv_heads * k.m <= 16; /* there is a kernel of our own for them */
    const double scores = double(k.batch * k.heads) * double(k.m) * double(k.n);
    return dnn.always || (!decodes && scores * double(k.d + k.e) >= ENOUGH);
}

const DnnPlan *plan_for(const Key &k, cudnnHandle_t handle)
{
    if (kept.size() >= MOST_KEPT && !kept.count(k)) return nullptr;
    Kept &have = kept[k];
    if (!have.tried) {
        const Beside beside;
        DnnGraph graph;
        have.tried = true;
        if (Builder(graph, k).build())  (void)graph.plans(handle, &have.plan, 1, 0);
    }
    return have.plan.part ? &have.plan : nullptr;
}

cudnnStatus_t run_plan(cudnnHandle_t handle, const DnnPlan &plan, const Key &k, const AttentionArgs &a,
                       void *mask, void *room)
{
    float scale = float(a.late), hidden = -INFINITY;
    int32_t rows = int32_t(k.m), keys = int32_t(k.n);
    int64_t ids[IDS] = { Q, K, V, Z, SCALE };
    void *data[IDS] = { a.of[OF_Q].data, a.of[OF_K].data, a.of[OF_V].data, a.of[OF_Z].data, &scale };
    int count = 5;
    const auto add = [&](int64_t id, void *number) {
        ids[count] = id;
        data[count++] = number;
    };
    if (k.mask != TSR_BOOL) add(MASK, mask);
    if (k.causal) add(HIDDEN, &hidden);
    if (k.causal && k.m != k.n) {
        add(KEYS, &keys);
        add(ROWS, &rows);
    }
    return dnn_run(handle, plan, count, ids, data, room);
}

} // namespace

bool dnn_attention(const Work &w, const AttentionArgs &a, tsr_status *status)
{
    Key k;
    cudnnHandle_t handle;
    tsr_tensor mask = {};
    Scratch laid(w), room(w);
    const bool masks = a.of[OF_MASK].data;
    const bool fits = tsrc_size(w.op->in[0]->dtype) == 2 && a.n > 0 && devices[w.device].major >= 8 &&
                      (!a.causal || (masks ? a.n == a.m : a.n >= a.m));
    if (!fits || !dnn_is_open() || dnn.cudnnGetVersion() < 91002 || !key_of(k, w, a) || !is_worth(k))
        return false;
    if (masks && (!takes_mask(tsr_dtype(a.mask_dtype)) || !view_mask(&mask, k, a))) return false;
    *status = masks ? key_of_mask(k, w, laid, &mask) : TSR_OK;
    if (*status != TSR_OK) return true;
    std::lock_guard<std::mutex> guard(dnn.lock);
    if (dnn_handle(w, &handle) != CUDNN_STATUS_SUCCESS) return false;
    const DnnPlan *plan = plan_for(k, handle);
    if (!plan) return false;
    *status = plan->room > 0 ? room.take(size_t(plan->room)) : TSR_OK;
    if (*status != TSR_OK) return true;
    return run_plan(handle, *plan, k, a, mask.data, room.bytes()) == CUDNN_STATUS_SUCCESS;
}

} // namespace tsrc

#else

namespace tsrc {

bool dnn_attention(const Work &, const AttentionArgs &, tsr_status *) { return false; }

} // namespace tsrc

#endif
