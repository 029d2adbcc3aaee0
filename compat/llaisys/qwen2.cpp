/* qwen2.cpp - llaisys/models/qwen2.h: the model by ops of the library. */
#include "llaisys/models/qwen2.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "rope.hpp"

namespace
{

enum { LISTS = 12, FIRST_ROOM = 256 }; /* lists of weights; tokens that a cache holds at first */

} // namespace

struct LlaisysQwen2Model {
    LlaisysQwen2Meta meta = {};
    llaisysDeviceType_t type = LLAISYS_DEVICE_CPU;
    int id = 0;
    tsr_device device = TSR_CPU;
    tsr_dtype dtype = TSR_F32;
    LlaisysQwen2Weights weights = {};
    std::vector<llaisysTensor_t> list[LISTS], made;
    std::vector<Owned> keys, values; /* (room, nkvh, dh) of each layer */
    int64_t room = 0;
    std::vector<int64_t> tokens; /* that the caches hold */

    LlaisysQwen2Model() = default;
    LlaisysQwen2Model(const LlaisysQwen2Model &) = delete;
    LlaisysQwen2Model &operator=(const LlaisysQwen2Model &) = delete;
    ~LlaisysQwen2Model()
    {
        for (llaisysTensor_t t : made) tensorDestroy(t);
    }
};

namespace
{

typedef LlaisysQwen2Model Model;

void check_meta(const LlaisysQwen2Meta &m)
{
    const size_t sizes[] = {m.nlayer, m.hs, m.nh, m.nkvh, m.dh, m.di, m.maxseq, m.voc};
    for (const size_t n : sizes)
        if (n == 0 || n > INT32_MAX) throw_argument("a size of the model is 0 or too large");
    if (m.nh % m.nkvh) throw_argument("nh is no multiple of nkvh");
    if (m.dh % 2) throw_argument("dh is odd");
    if (!(m.theta > 0.0f) || std::isinf(m.theta)) throw_argument("theta is not positive and finite");
    if (m.dtype != LLAISYS_DTYPE_F32 && m.dtype != LLAISYS_DTYPE_F16 && m.dtype != LLAISYS_DTYPE_BF16)
        throw_argument("the model's dtype is not F32, F16 or BF16");
}

llaisysTensor_t add_weight(Model &m, size_t rows, size_t cols)
{
    size_t shape[2] = {rows, cols};
    llaisysTensor_t t = tensorCreate(shape, cols ? 2 : 1, m.meta.dtype, m.type, m.id);
    if (!t) throw_runtime("no memory for a weight");
    m.made.push_back(t);
    return t;
}

llaisysTensor_t *add_list(Model &m, int i, size_t rows, size_t cols)
{
    for (size_t layer = 0; layer < m.meta.nlayer; layer++) m.list[i].push_back(add_weight(m, rows, cols));
    return m.list[i].data();
}

void make_weights(Model &m)
{
    const LlaisysQwen2Meta &n = m.meta;
    const size_t q = n.nh * n.dh, kv = n.nkvh * n.dh;
    m.weights.in_embed = add_weight(m, n.voc, n.hs);
    m.weights.out_embed = add_weight(m, n.voc, n.hs);
    m.weights.out_norm_w = add_weight(m, n.hs, 0);
    m.weights.attn_norm_w = add_list(m, 0, n.hs, 0);
    m.weights.attn_q_w = add_list(m, 1, q, n.hs);
    m.weights.attn_q_b = add_list(m, 2, q, 0);
    m.weights.attn_k_w = add_list(m, 3, kv, n.hs);
    m.weights.attn_k_b = add_list(m, 4, kv, 0);
    m.weights.attn_v_w = add_list(m, 5, kv, n.hs);
    m.weights.attn_v_b = add_list(m, 6, kv, 0);
    m.weights.attn_o_w = add_list(m, 7, n.hs, q);
    m.weights.mlp_norm_w = add_list(m, 8, n.hs, 0);
    m.weights.mlp_gate_w = add_list(m, 9, n.di, n.hs);
    m.weights.mlp_up_w = add_list(m, 10, n.di, n.hs);
    m.weights.mlp_down_w = add_list(m, 11, n.hs, n.di);
}

/* Caches with room for n tokens, and what was in them. */
void make_room(Model &m, int64_t n)
{
    if (n <= m.room) return;
    const int64_t past = static_cast<int64_t>(m.tokens.size());
    const int64_t most = static_cast<int64_t>(m.meta.maxseq);
    const int64_t room = std::min(most, std::max({n, 2 * m.room, static_cast<int64_t>(FIRST_ROOM)}));
    const int64_t shape[3] = {room, static_cast<int64_t>(m.meta.nkvh), static_cast<int64_t>(m.meta.dh)};
    tsr_desc desc;
    must(tsr_desc_init(&desc, m.dtype, 3, shape, nullptr));
    for (std::vector<Owned> *caches : {&m.keys, &m.values})
        for (Owned &cache : *caches) {
            Owned larger, from, to;
            must(tsr_declare(&larger.t, &desc, m.device, TSR_MEMORY_DEFAULT));
            must(tsr_alloc(larger.t));
            if (past > 0) {
                must(tsr_slice(&from.t, cache.t, 0, 0, past, 1));
                must(tsr_slice(&to.t, larger.t, 0, 0, past, 1));
                must(tsr_copy(to.t, from.t));
            }
            std::swap(cache.t, larger.t);
        }
    m.room = room;
}

const tsr_tensor *weight(llaisysTensor_t w) { return given(w).t; }
const tsr_tensor *bias(llaisysTensor_t w) { return w ? w->t : nullptr; }

/* The tokens of one call, and what all layers need of them. */
struct Step {
    Model &m;
    int64_t past, n;
    Owned sines, cosines, rows;

    Step(Model &model, int64_t count) : m(model), past(static_cast<int64_t>(model.tokens.size())), n(count)
    {
        Owned positions;
        count_up(rows, TSR_I64, n, m.device);
        must(tsr_add(&positions.t, rows.t, TSR_NUMBER(past)));
        make_tables(sines, cosines, positions.t, static_cast<int64_t>(m.meta.dh), m.meta.theta);
    }

    /* x w^T + b as heads; rotated if they are of queries or keys. */
    void heads(Owned &out, const tsr_tensor *x, llaisysTensor_t w, llaisysTensor_t b, size_t count,
               bool rotated)
    {
        const int64_t shape[3] = {n, static_cast<int64_t>(count), static_cast<int64_t>(m.meta.dh)};
        Owned flat, split;
        must(tsr_linear(&flat.t, x, weight(w), bias(b)));
        must(tsr_view(rotated ? &split.t : &out.t, flat.t, 3, shape));
        if (rotated) must(tsr_rope_with(&out.t, split.t, rows.t, sines.t, cosines.t, TSR_ROPE_HALVES));
    }

    /* Writes the new rows of a cache; out is all of it up to them. */
    void remember(Owned &out, const Owned &cache, const tsr_tensor *fresh)
    {
        Owned to;
        must(tsr_slice(&to.t, cache.t, 0, past, past + n, 1));
        must(tsr_copy(to.t, fresh));
        must(tsr_slice(&out.t, cache.t, 0, 0, past + n, 1));
    }

    void attend(tsr_tensor *x, size_t layer)
    {
        const LlaisysQwen2Weights &w = m.weights;
        const double scale = 1.0 / std::sqrt(static_cast<double>(m.meta.dh));
        const int64_t flat_shape[2] = {n, static_cast<int64_t>(m.meta.nh * m.meta.dh)};
        Owned normed, q, k, v, all_k, all_v, mixed, flat, out;
        must(tsr_rms_norm(&normed.t, x, weight(w.attn_norm_w[layer]), m.meta.epsilon));
        heads(q, normed.t, w.attn_q_w[layer], w.attn_q_b[layer], m.meta.nh, true);
        heads(k, normed.t, w.attn_k_w[layer], w.attn_k_b[layer], m.meta.nkvh, true);
        heads(v, normed.t, w.attn_v_w[layer], w.attn_v_b[layer], m.meta.nkvh, false);
        remember(all_k, m.keys[layer], k.t);
        remember(all_v, m.values[layer], v.t);
        must(tsr_self_attention(&mixed.t, q.t, all_k.t, all_v.t, scale));
        must(tsr_view(&flat.t, mixed.t, 2, flat_shape));
        must(tsr_linear(&out.t, flat.t, weight(w.attn_o_w[layer]), nullptr));
        must(tsr_add(&x, x, out.t));
    }

    void feed_forward(tsr_tensor *x, size_t layer)
    {
        const LlaisysQwen2Weights &w = m.weights;
        Owned normed, gate, up, out;
        must(tsr_rms_norm(&normed.t, x, weight(w.mlp_norm_w[layer]), m.meta.epsilon));
        must(tsr_linear(&gate.t, normed.t, weight(w.mlp_gate_w[layer]), nullptr));
        must(tsr_linear(&up.t, normed.t, weight(w.mlp_up_w[layer]), nullptr));
        must(tsr_swiglu(&gate.t, gate.t, up.t));
        must(tsr_linear(&out.t, gate.t, weight(w.mlp_down_w[layer]), nullptr));
        must(tsr_add(&x, x, out.t));
    }

    int64_t best(const tsr_tensor *x)
    {
        Owned last, normed, logits, place, host;
        int64_t token = 0;
        must(tsr_slice(&last.t, x, 0, n - 1, n, 1));
        must(tsr_rms_norm(&normed.t, last.t, weight(m.weights.out_norm_w), m.meta.epsilon));
        must(tsr_linear(&logits.t, normed.t, weight(m.weights.out_embed), nullptr));
        must(tsr_argmax(&place.t, logits.t, TSR_ALL_AXES, false));
        must(tsr_to(&host.t, place.t, TSR_CPU));
        must(tsr_item_i64(&token, host.t));
        return token;
    }
};

/* How many of the tokens are in the caches already. Forgets those that do not belong to the sequence. */
size_t known_tokens(Model &m, const int64_t *ids, size_t n)
{
    if (n == 1) return 0; /* the next one */
    if (n > m.tokens.size() && std::equal(m.tokens.begin(), m.tokens.end(), ids)) return m.tokens.size();
    m.tokens.clear();
    return 0;
}

int64_t infer(Model &m, const int64_t *ids, size_t count)
{
    const size_t known = known_tokens(m, ids, count), fresh = count - known;
    const int64_t n = static_cast<int64_t>(fresh);
    for (size_t i = 0; i < count; i++)
        if (ids[i] < 0) throw_argument("a token is negative");
    if (fresh > m.meta.maxseq - m.tokens.size()) throw_argument("the sequence is longer than maxseq");
    Owned host, index, x;
    must(tsr_from_data(&host.t, TSR_I64, 1, &n, ids + known));
    must(tsr_to(&index.t, host.t, m.device));
    must(tsr_embedding(&x.t, weight(m.weights.in_embed), index.t));
    make_room(m, static_cast<int64_t>(m.tokens.size()) + n);
    Step step(m, n);
    for (size_t layer = 0; layer < m.meta.nlayer; layer++) {
        step.attend(x.t, layer);
        step.feed_forward(x.t, layer);
    }
    const int64_t token = step.best(x.t);
    m.tokens.insert(m.tokens.end(), ids + known, ids + count);
    return token;
}

} // namespace

LlaisysQwen2Model *llaisysQwen2ModelCreate(const LlaisysQwen2Meta *meta, llaisysDeviceType_t device,
                                           int *device_ids, int ndevice)
{
    return guarded(static_cast<Model *>(nullptr), [&] {
        if (!meta) throw_argument("meta is NULL");
        if (ndevice < 0 || (device_ids && ndevice == 0)) throw_argument("there is no device");
        check_meta(*meta);
        auto m = std::make_unique<Model>();
        m->meta = *meta;
        m->type = device;
        m->id = device_ids ? device_ids[0] : 0;
        m->device = device_of(device, m->id);
        if (tsr_dtype_from_number(&m->dtype, TSR_NUMBERING_LLAISYS, meta->dtype) != TSR_OK)
            throw_runtime("Unsupported data type");
        make_weights(*m);
        m->keys = std::vector<Owned>(meta->nlayer);
        m->values = std::vector<Owned>(meta->nlayer);
        return m.release();
    });
}

void llaisysQwen2ModelDestroy(LlaisysQwen2Model *model) { delete model; }

LlaisysQwen2Weights *llaisysQwen2ModelWeights(LlaisysQwen2Model *model)
{
    return guarded(static_cast<LlaisysQwen2Weights *>(nullptr), [&] {
        if (!model) throw_argument("the model is NULL");
        return &model->weights;
    });
}

int64_t llaisysQwen2ModelInfer(LlaisysQwen2Model *model, int64_t *token_ids, size_t ntoken)
{
    return guarded(static_cast<int64_t>(-1), [&] {
        if (!model || !token_ids || ntoken == 0) throw_argument("there is no model, or there are no tokens");
        return infer(*model, token_ids, ntoken);
    });
}
