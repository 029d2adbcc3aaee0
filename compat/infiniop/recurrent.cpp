/* recurrent.cpp - layers that carry a state from token to token: delta rules, causal convolution,
 * selective scan, RWKV. All are plain loops in f64, on the host. */
#include "host.h"

#include <algorithm>
#include <cmath>

using namespace face;

/* Sequences ------------------------------------------------------------------------------------
 *
 * The first tensors of delta rules and of the convolution are
 *
 *     out, final_state, initial_state, tokens (batch, time, ...), ...
 *
 * and `at`, at + 1, at + 2 are cu_seqlens, initial_indices, final_indices, which may be missing. With
 * cu_seqlens the batch is 1 and sequence i has the tokens cu_seqlens[i] to cu_seqlens[i + 1]. With indices
 * initial_state is a pool of slots; where final_indices say which slots, the states end there too. */

namespace {

enum { OUT, FINAL, INITIAL, TOKENS };

/* Their number. */
int64_t need_sequences(Draft &draft, int at)
{
    int64_t n = draft.dim(TOKENS, 0);
    draft.need(draft.has(FINAL) || draft.has(at + 2), INFINI_STATUS_NULL_POINTER)
        .need(!draft.has(FINAL) || !draft.has(at + 2), INFINI_STATUS_BAD_PARAM);
    if (draft.has(at)) {
        draft.rank(at, 1, 1).need(draft.dim(at, 0) >= 2 && n == 1, INFINI_STATUS_BAD_TENSOR_SHAPE);
        n = draft.dim(at, 0) - 1;
    }
    for (int i = at; i < at + 3; i++) draft.dtypes(i, INTEGERS);
    draft.shape(at + 1, { n }).shape(at + 2, { n });
    draft.op.results = draft.has(at + 2) ? 3 : 2; /* the pool is written */
    return n;
}

void need_state(Draft &draft, int i, int64_t least, int64_t most, std::initializer_list<int64_t> of_one)
{
    if (!draft.good() || !draft.has(i)) return;
    const int n = (int)of_one.size() + 1;
    draft.rank(i, n, n).need(draft.dim(i, 0) >= least && draft.dim(i, 0) <= most,
                             INFINI_STATUS_BAD_TENSOR_SHAPE);
    for (int d = 1; d < n; d++)
        draft.need(draft.dim(i, d) == of_one.begin()[d - 1], INFINI_STATUS_BAD_TENSOR_SHAPE);
}

void need_states(Draft &draft, int at, std::initializer_list<int64_t> of_one)
{
    const int64_t n = need_sequences(draft, at);
    const bool pool = draft.has(at + 1) || draft.has(at + 2);
    need_state(draft, FINAL, n, n, of_one);
    need_state(draft, INITIAL, draft.has(at + 1) ? 0 : n, pool ? INT64_MAX : n, of_one);
}

struct Sequence {
    int64_t row, begin, end; /* of its tokens */
    int64_t from, to;        /* slots of its states; one below 0: the sequence is left out */
};

class Sequences {
public:
    int64_t count = 0;

    tsr_status read(tsr_tensor *const *t, int at)
    {
        time_ = t[TOKENS]->shape[1];
        slots_ = t[INITIAL]->shape[0];
        count = t[at] ? t[at]->shape[0] - 1 : t[TOKENS]->shape[0];
        TSR_TRY(bounds_.read(t[at]));
        TSR_TRY(from_.read(t[at + 1]));
        return to_.read(t[at + 2]);
    }

    tsr_status get(Sequence *s, int64_t i) const
    {
        *s = { i, 0, time_, from_.get() ? from_[i] : i, to_.get() ? to_[i] : i };
        if (bounds_.get()) *s = { 0, bounds_[i], bounds_[i + 1], s->from, s->to };
        if (s->begin < 0 || s->end < s->begin || s->end > time_) return TSR_EINDEX;
        return s->from >= slots_ || (to_.get() && s->to >= slots_) ? TSR_EINDEX : TSR_OK;
    }

private:
    Packed<int64_t> bounds_, from_, to_;
    int64_t time_ = 0, slots_ = 0;
};

/* States before and after. Those that end in the pool do so at once: a later sequence may begin there. */
class States {
public:
    tsr_status read(tsr_tensor *const *t)
    {
        TSR_TRY(before_.read(t[INITIAL]));
        TSR_TRY(after_.read(t[FINAL]));
        size_ = 1;
        for (int d = 1; d < t[INITIAL]->ndim; d++) size_ *= t[INITIAL]->shape[d];
        return TSR_OK;
    }
    double *before(const Sequence &s) const { return before_ + s.from * size_; }
    double *after(const Sequence &s) const { return (after_.get() ? after_ : before_) + s.to * size_; }
    int64_t size() const { return size_; }
    tsr_status write(tsr_tensor *const *t) const
    {
        return t[FINAL] ? after_.write(t[FINAL]) : before_.write(t[INITIAL]);
    }

private:
    Packed<double> before_, after_;
    int64_t size_ = 0;
};

/* body(sequence, state, out) for each sequence: the state, already a copy, is changed in place; out is the
 * result as a whole. Sequences that are left out give zeros. */
template <class Body>
tsr_status run_sequences(tsr_tensor *const *t, int at, Body &&body)
{
    Sequences all;
    States states;
    Packed<double> out;
    TSR_TRY(all.read(t, at));
    TSR_TRY(states.read(t));
    TSR_TRY(out.make(t[OUT]));
    std::fill_n(out.get(), tsr_numel(t[OUT]), 0.0);
    for (int64_t i = 0; i < all.count; i++) {
        Sequence s;
        TSR_TRY(all.get(&s, i));
        if (s.from < 0 || s.to < 0) continue;
        double *state = states.after(s);
        if (state != states.before(s)) std::copy_n(states.before(s), states.size(), state);
        body(s, state, out.get());
    }
    TSR_TRY(out.write(t[OUT]));
    return states.write(t);
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

} // namespace

/* Delta rules ---------------------------------------------------------------------------------- */

namespace {

/* One token and head: the state (dv, dk) decays, learns at the rate beta that k gives v, and is asked q. */
struct Step {
    const double *q, *k, *v, *decay;
    double        beta;
};

void take_step(double *out, double *state, const Step &s, int64_t dk, int64_t dv)
{
    for (int64_t i = 0; i < dv; i++) {
        double *row = state + i * dk, known = 0, answer = 0;
        for (int64_t j = 0; j < dk; j++) {
            row[j] *= s.decay[j];
            known += row[j] * s.k[j];
        }
        const double change = (s.v[i] - known) * s.beta;
        for (int64_t j = 0; j < dk; j++) {
            row[j] += s.k[j] * change;
            answer += row[j] * s.q[j];
        }
        out[i] = answer;
    }
}

/* scale x, or scale x / |x| */
void scaled(double *out, const double *x, int64_t n, double scale, bool normalise)
{
    double sum = 1e-6;
    for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];
    if (normalise) scale /= std::sqrt(sum);
    for (int64_t i = 0; i < n; i++) out[i] = x[i] * scale;
}

/* gates(decay, token, head) -> beta. Tensors TOKENS and on are q, k (batch, time, key heads, dk) and
 * v (batch, time, heads, dv). */
template <class Gates>
tsr_status run_delta(tsr_tensor *const *t, int at, double scale, bool normalise, Gates &&gates)
{
    Packed<double> q, k, v, scratch;
    const int64_t time = t[TOKENS]->shape[1], key_heads = t[TOKENS]->shape[2], dk = t[TOKENS]->shape[3];
    const int64_t heads = t[TOKENS + 2]->shape[2], dv = t[TOKENS + 2]->shape[3], share = heads / key_heads;
    TSR_TRY(q.read(t[TOKENS]));
    TSR_TRY(k.read(t[TOKENS + 1]));
    TSR_TRY(v.read(t[TOKENS + 2]));
    TSR_TRY(scratch.make(3 * dk));
    double *q_now = scratch + 0, *k_now = scratch + dk, *decay = scratch + 2 * dk;
    return run_sequences(t, at, [&](const Sequence &s, double *state, double *out) {
        for (int64_t token = s.row * time + s.begin; token < s.row * time + s.end; token++)
            for (int64_t h = 0; h < heads; h++) {
                const int64_t key = (token * key_heads + h / share) * dk, value = (token * heads + h) * dv;
                scaled(q_now, q + key, dk, scale, normalise);
                scaled(k_now, k + key, dk, 1, normalise);
                const double beta = gates(decay, token, h);
                take_step(out + value, state + h * dv * dk, { q_now, k_now, v + value, decay, beta }, dk, dv);
            }
    });
}

/* out, final_state, initial_state, q, k, v, g, beta; g and beta are (batch, time, heads). */
infiniStatus_t create_gated(Draft &draft, int at, bool normalise)
{
    const int64_t batch = draft.dim(3, 0), time = draft.dim(3, 1), heads = draft.dim(5, 2),
                  dk = draft.dim(3, 3), dv = draft.dim(5, 3);
    draft.op.integer[0] = normalise;
    draft.dtypes(0, FLOATS).one_dtype({ 0, 1, 2, 3, 4, 5 }).dtypes(6, FLOATS).one_dtype({ 6, 7 })
        .rank(3, 4, 4).one_shape({ 3, 4 }).shape(5, { batch, time, heads, dv }).one_shape({ 0, 5 })
        .shape(6, { batch, time, heads }).one_shape({ 6, 7 })
        .need(draft.dim(3, 2) > 0 && heads > 0 && heads % draft.dim(3, 2) == 0 && dk > 0,
              INFINI_STATUS_BAD_TENSOR_SHAPE);
    need_states(draft, at, { heads, dv, dk });
    return draft.finish();
}

tsr_status run_gated(tsr_tensor **t, const InfiniopDescriptor &op)
{
    Packed<double> g, beta;
    const int64_t heads = t[5]->shape[2], dk = t[3]->shape[3];
    TSR_TRY(g.read(t[6]));
    TSR_TRY(beta.read(t[7]));
    return run_delta(t, 8, 1 / std::sqrt((double)dk), op.integer[0],
                     [&](double *decay, int64_t token, int64_t h) {
        std::fill_n(decay, dk, std::exp(g[token * heads + h]));
        return beta[token * heads + h];
    });
}

} // namespace

/* The original multiplies chunks of tokens as matrices; the results are the same. */
infiniStatus_t infiniopCreateChunkGatedDeltaRuleDescriptor(Handle handle, Desc *out, T y, T initial_state,
                                                           T final_state, T q, T k, T v, T g, T beta,
                                                           T cu_seqlens, T initial_indices,
                                                           T final_indices, bool normalise, size_t chunk_size)
{
    Draft draft(TAG_ChunkGatedDeltaRule, handle, out, 2,
                { y, final_state, initial_state, q, k, v, g, beta, cu_seqlens, initial_indices,
                  final_indices },
                1u << FINAL | 7u << 8);
    draft.need(chunk_size > 0, INFINI_STATUS_BAD_PARAM);
    return create_gated(draft, 8, normalise);
}

infiniStatus_t infiniopChunkGatedDeltaRule(Desc desc, P, size_t, P y, P initial_state, P final_state, C q,
                                           C k, C v, C g, C beta, C cu_seqlens, C initial_indices,
                                           C final_indices, P stream)
{
    return run(desc, TAG_ChunkGatedDeltaRule, stream,
               { y, final_state, initial_state, q, k, v, g, beta, cu_seqlens, initial_indices,
                 final_indices },
               run_gated);
}

/* One token of each sequence. */
infiniStatus_t infiniopCreateRecurrentGatedDeltaRuleDescriptor(Handle handle, Desc *out, T y, T initial_state,
                                                               T final_state, T q, T k, T v, T g, T beta,
                                                               T initial_indices, T final_indices,
                                                               bool normalise)
{
    Draft draft(TAG_RecurrentGatedDeltaRule, handle, out, 2,
                { y, final_state, initial_state, q, k, v, g, beta, nullptr, initial_indices, final_indices },
                1u << FINAL | 7u << 8);
    draft.rank(3, 4, 4).need(draft.dim(3, 1) == 1, INFINI_STATUS_BAD_TENSOR_SHAPE);
    return create_gated(draft, 8, normalise);
}

infiniStatus_t infiniopRecurrentGatedDeltaRule(Desc desc, P, size_t, P y, P initial_state, P final_state, C q,
                                               C k, C v, C g, C beta, C initial_indices, C final_indices,
                                               P stream)
{
    return run(desc, TAG_RecurrentGatedDeltaRule, stream,
               { y, final_state, initial_state, q, k, v, g, beta, nullptr, initial_indices, final_indices },
               run_gated);
}

/* The decay is a vector: exp(lower_bound sigmoid(exp(A_log) (g + dt_bias))), and the rate sigmoid(beta). */
infiniStatus_t infiniopCreateKimiDeltaAttentionDescriptor(Handle handle, Desc *out, T y, T initial_state,
                                                          T final_state, T q, T k, T v, T g, T beta, T A_log,
                                                          T dt_bias, T cu_seqlens, T initial_indices,
                                                          T final_indices, float scale, float lower_bound,
                                                          bool normalise)
{
    Draft draft(TAG_KimiDeltaAttention, handle, out, 2,
                { y, final_state, initial_state, q, k, v, g, beta, A_log, dt_bias, cu_seqlens,
                  initial_indices, final_indices },
                1u << FINAL | 7u << 10);
    const int64_t heads = draft.dim(3, 2), d = draft.dim(3, 3);
    draft.op.integer[0] = normalise;
    draft.op.number[0] = scale;
    draft.op.number[1] = lower_bound;
    draft.dtypes(0, FLOATS).one_dtype({ 0, 1, 2, 3, 4, 5 }).dtypes(6, FLOATS).one_dtype({ 6, 7 })
        .dtypes(8, FLOATS).dtypes(9, FLOATS).rank(3, 4, 4).one_shape({ 0, 3, 4, 5, 6 })
        .shape(7, { draft.dim(3, 0), draft.dim(3, 1), heads }).shape(8, { heads }).shape(9, { heads, d })
        .need(heads > 0 && d > 0, INFINI_STATUS_BAD_TENSOR_SHAPE);
    need_states(draft, 10, { heads, d, d });
    return draft.finish();
}

infiniStatus_t infiniopKimiDeltaAttention(Desc desc, P, size_t, P y, P initial_state, P final_state, C q, C k,
                                          C v, C g, C beta, C A_log, C dt_bias, C cu_seqlens,
                                          C initial_indices, C final_indices, P stream)
{
    return run(desc, TAG_KimiDeltaAttention, stream,
               { y, final_state, initial_state, q, k, v, g, beta, A_log, dt_bias, cu_seqlens,
                 initial_indices, final_indices },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
        Packed<double> gate, rate, a_log, bias;
        const int64_t heads = t[3]->shape[2], d = t[3]->shape[3];
        TSR_TRY(gate.read(t[6]));
        TSR_TRY(rate.read(t[7]));
        TSR_TRY(a_log.read(t[8]));
        TSR_TRY(bias.read(t[9]));
        return run_delta(t, 10, op.number[0], op.integer[0], [&](double *decay, int64_t token, int64_t h) {
            const double *g_now = gate + (token * heads + h) * d, a = std::exp(a_log[h]);
            for (int64_t j = 0; j < d; j++)
                decay[j] = std::exp(op.number[1] * sigmoid(a * (g_now[j] + bias[h * d + j])));
            return sigmoid(rate[token * heads + h]);
        });
    });
}

/* Causal convolution ---------------------------------------------------------------------------
 *
 * Each channel by itself: out[t] = bias + sum over j of weight[j] x[t + j - (width - 1)], where what is
 * before the first token is the state, (channels, width - 1). */

infiniStatus_t infiniopCreateCausalConv1dDescriptor(Handle handle, Desc *out, T y, T conv_state,
                                                    T final_conv_state, T qkv, T weight, T bias, T cu_seqlens,
                                                    T initial_indices, T final_indices)
{
    Draft draft(TAG_CausalConv1d, handle, out, 2,
                { y, final_conv_state, conv_state, qkv, weight, bias, cu_seqlens, initial_indices,
                  final_indices },
                1u << FINAL | 1u << 5 | 7u << 6);
    const int64_t channels = draft.dim(3, 2), width = draft.dim(4, 2);
    draft.dtypes(0, FLOATS).one_dtype({ 0, 1, 2, 3, 4, 5 }).rank(3, 3, 3).one_shape({ 0, 3 })
        .shape(4, { channels, 1, width }).shape(5, { channels })
        .need(width >= 1, INFINI_STATUS_BAD_TENSOR_SHAPE);
    need_states(draft, 6, { channels, width - 1 });
    return draft.finish();
}

namespace {

/* The tokens of one channel lie `step` apart; the state becomes the last width - 1 of what was seen. */
void convolve(double *out, double *state, const double *x, const double *weight, double bias, int64_t width,
              int64_t n, int64_t step)
{
    for (int64_t i = 0; i < n; i++) {
        double sum = bias + weight[width - 1] * x[i * step];
        for (int64_t j = 0; j < width - 1; j++) sum += weight[j] * state[j];
        out[i * step] = sum;
        for (int64_t j = 0; j + 2 < width; j++) state[j] = state[j + 1];
        if (width > 1) state[width - 2] = x[i * step];
    }
}

tsr_status causal_conv(tsr_tensor **t, const InfiniopDescriptor &)
{
    Packed<double> x, weight, bias;
    const int64_t time = t[3]->shape[1], channels = t[3]->shape[2], width = t[4]->shape[2];
    TSR_TRY(x.read(t[3]));
    TSR_TRY(weight.read(t[4]));
    TSR_TRY(bias.read(t[5]));
    return run_sequences(t, 6, [&](const Sequence &s, double *state, double *out) {
        const int64_t first = (s.row * time + s.begin) * channels;
        for (int64_t c = 0; c < channels; c++)
            convolve(out + first + c, state + c * (width - 1), x + first + c, weight + c * width,
                     bias.get() ? bias[c] : 0, width, s.end - s.begin, channels);
    });
}

} // namespace

infiniStatus_t infiniopCausalConv1d(Desc desc, P, size_t, P y, P conv_state, P final_conv_state, C qkv,
                                    C weight, C bias, C cu_seqlens, C initial_indices, C final_indices,
                                    P stream)
{
    return run(desc, TAG_CausalConv1d, stream,
               { y, final_conv_state, conv_state, qkv, weight, bias, cu_seqlens, initial_indices,
                 final_indices },
               causal_conv);
}

/* Selective scan -------------------------------------------------------------------------------
 *
 * x, dt and gate are (batch, time, channels), b and c (batch, time, n), a_log (channels, n). With
 * step = softplus(dt + dt_bias), each channel's state s of n numbers becomes
 * exp(-exp(a_log) step) s + step b x, and out is (s c + d x) silu(gate). */

infiniStatus_t infiniopCreateMambaSelectiveScanDescriptor(Handle handle, Desc *out, T y, T x, T dt, T b, T c,
                                                          T a_log, T d, T gate, T dt_bias, T state)
{
    Draft draft(TAG_MambaSelectiveScan, handle, out, 2, { y, state, x, dt, b, c, a_log, d, gate, dt_bias });
    const int64_t batch = draft.dim(2, 0), channels = draft.dim(2, 2), n = draft.dim(4, 2);
    draft.dtypes(0, FLOATS).one_dtype({ 0, 2, 3, 4, 5, 6, 7, 8, 9 })
        .dtypes(1, set_of(INFINI_DTYPE_F32) | set_of(INFINI_DTYPE_F64)).rank(2, 3, 3)
        .one_shape({ 0, 2, 3, 8 }).shape(4, { batch, draft.dim(2, 1), n }).one_shape({ 4, 5 })
        .shape(6, { channels, n }).shape(7, { channels }).shape(9, { channels });
    need_state(draft, 1, batch, INT64_MAX, { channels, n });
    return draft.finish();
}

namespace {

double silu(double x) { return x * sigmoid(x); }
double softplus_of(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }

tsr_status selective_scan(tsr_tensor **t, const InfiniopDescriptor &)
{
    Packed<double> out, state, in[8];
    enum { X, DT, B, C_, A_LOG, D, GATE, DT_BIAS };
    const int64_t batch = t[2]->shape[0], time = t[2]->shape[1], channels = t[2]->shape[2],
                  n = t[4]->shape[2];
    TSR_TRY(out.make(t[0]));
    TSR_TRY(state.read(t[1]));
    for (int i = 0; i < 8; i++) TSR_TRY(in[i].read(t[i + 2]));
    for (int64_t token = 0; token < batch * time; token++)
        for (int64_t ch = 0; ch < channels; ch++) {
            const int64_t at = token * channels + ch;
            const double x = in[X][at], step = softplus_of(in[DT][at] + in[DT_BIAS][ch]);
            double *s = state + (token / time * channels + ch) * n, sum = in[D][ch] * x;
            for (int64_t i = 0; i < n; i++) {
                s[i] = std::exp(-std::exp(in[A_LOG][ch * n + i]) * step) * s[i] +
                       step * in[B][token * n + i] * x;
                sum += s[i] * in[C_][token * n + i];
            }
            out[at] = sum * silu(in[GATE][at]);
        }
    TSR_TRY(out.write(t[0]));
    return state.write(t[1]);
}

} // namespace

infiniStatus_t infiniopMambaSelectiveScan(Desc desc, P, size_t, P y, C x, C dt, C b, C c, C a_log, C d,
                                          C gate, C dt_bias, P state, P stream)
{
    return run(desc, TAG_MambaSelectiveScan, stream, { y, state, x, dt, b, c, a_log, d, gate, dt_bias },
               selective_scan);
}

/* RWKV 5 ---------------------------------------------------------------------------------------
 *
 * For each head, with the state S (d, d): out = r (first k v^T + S), then S becomes
 * exp(-exp(decay)) S + k v^T, where decay and first belong to the rows of S. */

infiniStatus_t infiniopCreateRwkv5WkvDescriptor(Handle handle, Desc *out, T y, T receptance, T key, T value,
                                                T time_decay, T time_faaaa, T state)
{
    Draft draft(TAG_Rwkv5Wkv, handle, out, 2,
                { y, state, receptance, key, value, time_decay, time_faaaa });
    const int64_t heads = draft.dim(5, 0), d = draft.dim(5, 1);
    draft.dtypes(0, FLOATS).one_dtype({ 0, 2, 3, 4, 5, 6 })
        .dtypes(1, set_of(INFINI_DTYPE_F32) | set_of(INFINI_DTYPE_F64)).rank(2, 3, 3).rank(5, 2, 2)
        .one_shape({ 0, 2, 3, 4 }).one_shape({ 5, 6 })
        .need(draft.dim(2, 2) == heads * d, INFINI_STATUS_BAD_TENSOR_SHAPE);
    need_state(draft, 1, draft.dim(2, 0), INT64_MAX, { heads, d, d });
    return draft.finish();
}

namespace {

tsr_status rwkv5(tsr_tensor **t, const InfiniopDescriptor &)
{
    Packed<double> out, state, r, k, v, decay, first;
    const int64_t batch = t[2]->shape[0], time = t[2]->shape[1], heads = t[5]->shape[0], d = t[5]->shape[1];
    TSR_TRY(out.make(t[0]));
    TSR_TRY(state.read(t[1]));
    TSR_TRY(r.read(t[2]));
    TSR_TRY(k.read(t[3]));
    TSR_TRY(v.read(t[4]));
    TSR_TRY(decay.read(t[5]));
    TSR_TRY(first.read(t[6]));
    std::fill_n(out.get(), tsr_numel(t[0]), 0.0);
    for (int64_t token = 0; token < batch * time; token++)
        for (int64_t row = 0; row < heads * d; row++) {
            double *s = state + (token / time * heads * d + row) * d;
            const double *v_head = v + (token * heads + row / d) * d, keep = std::exp(-std::exp(decay[row])),
                         k_now = k[token * heads * d + row], r_now = r[token * heads * d + row];
            for (int64_t j = 0; j < d; j++) {
                const double product = k_now * v_head[j];
                out[(token * heads + row / d) * d + j] += r_now * (first[row] * product + s[j]);
                s[j] = product + keep * s[j];
            }
        }
    TSR_TRY(out.write(t[0]));
    return state.write(t[1]);
}

} // namespace

infiniStatus_t infiniopRwkv5Wkv(Desc desc, P, size_t, P y, C receptance, C key, C value, C time_decay,
                                C time_faaaa, P state, P stream)
{
    return run(desc, TAG_Rwkv5Wkv, stream, { y, state, receptance, key, value, time_decay, time_faaaa },
               rwkv5);
}
