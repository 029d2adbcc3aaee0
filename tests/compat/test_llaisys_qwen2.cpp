/* test_llaisys_qwen2.cpp - the model of llaisys/models/qwen2.h generates what plain loops generate from the
 * same random weights: in doubles, without a cache, each position anew. */
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "llaisys/models/qwen2.h"
#include "llaisys/runtime.h"
#include "test.h"

using Floats = std::vector<float>;
using Doubles = std::vector<double>;
using Tokens = std::vector<int64_t>;

static Floats random_numbers(size_t n, uint64_t seed, double scale, double offset = 0)
{
    Floats v(n);
    for (float &x : v) x = (float)(offset + scale * ((double)(test_next(&seed) >> 11) * 0x1p-52 - 1));
    return v;
}

/* The weights of one layer, in the order of the struct. */
struct Layer {
    Floats attn_norm, q, qb, k, kb, v, vb, o, mlp_norm, gate, up, down;
};

struct Reference {
    LlaisysQwen2Meta n;
    Floats in_embed, out_embed, out_norm;
    std::vector<Layer> layers;

    Reference(const LlaisysQwen2Meta &meta, uint64_t seed, bool tied) : n(meta)
    {
        const size_t q = n.nh * n.dh, kv = n.nkvh * n.dh;
        in_embed = random_numbers(n.voc * n.hs, seed + 1, 1);
        out_embed = tied ? in_embed : random_numbers(n.voc * n.hs, seed + 2, 1);
        out_norm = random_numbers(n.hs, seed + 3, 0.2, 1);
        for (size_t i = 0; i < n.nlayer; i++) {
            const uint64_t s = seed + 100 * (i + 1);
            const double in = 1 / std::sqrt((double)n.hs);
            layers.push_back({ random_numbers(n.hs, s, 0.2, 1), random_numbers(q * n.hs, s + 1, 2 * in),
                               random_numbers(q, s + 2, 0.5), random_numbers(kv * n.hs, s + 3, 2 * in),
                               random_numbers(kv, s + 4, 0.5), random_numbers(kv * n.hs, s + 5, 2 * in),
                               random_numbers(kv, s + 6, 0.5), random_numbers(n.hs * q, s + 7, 2 * in),
                               random_numbers(n.hs, s + 8, 0.2, 1),
                               random_numbers(n.di * n.hs, s + 9, 2 * in),
                               random_numbers(n.di * n.hs, s + 10, 2 * in),
                               random_numbers(n.hs * n.di, s + 11, in) });
        }
    }

    static Doubles linear(const Doubles &x, const Floats &w, const Floats *b)
    {
        const size_t in = x.size(), out = w.size() / in;
        Doubles y(out, 0);
        for (size_t i = 0; i < out; i++) {
            for (size_t j = 0; j < in; j++) y[i] += (double)w[i * in + j] * x[j];
            if (b) y[i] += (double)(*b)[i];
        }
        return y;
    }

    Doubles norm(const Doubles &x, const Floats &w) const
    {
        double sum = 0;
        for (const double v : x) sum += v * v;
        const double factor = 1 / std::sqrt(sum / (double)x.size() + (double)n.epsilon);
        Doubles y;
        for (size_t i = 0; i < x.size(); i++) y.push_back(x[i] * factor * (double)w[i]);
        return y;
    }

    /* Pairs of the first and second half of each head. */
    void rotate(Doubles &x, size_t position) const
    {
        for (size_t h = 0; h < x.size(); h += n.dh)
            for (size_t j = 0; j < n.dh / 2; j++) {
                const double angle =
                    (double)position / std::pow((double)n.theta, 2 * (double)j / (double)n.dh);
                const double a = x[h + j], b = x[h + j + n.dh / 2];
                x[h + j] = a * std::cos(angle) - b * std::sin(angle);
                x[h + j + n.dh / 2] = b * std::cos(angle) + a * std::sin(angle);
            }
    }

    Doubles attend(const Doubles &q, const std::vector<Doubles> &k, const std::vector<Doubles> &v,
                   size_t last) const
    {
        Doubles out(n.nh * n.dh, 0);
        for (size_t h = 0; h < n.nh; h++) {
            const size_t g = h / (n.nh / n.nkvh) * n.dh;
            Doubles score;
            double most = -INFINITY, sum = 0;
            for (size_t j = 0; j <= last; j++) {
                double s = 0;
                for (size_t e = 0; e < n.dh; e++) s += q[h * n.dh + e] * k[j][g + e];
                score.push_back(s / std::sqrt((double)n.dh));
                most = std::fmax(most, score[j]);
            }
            for (double &s : score) sum += s = std::exp(s - most);
            for (size_t j = 0; j <= last; j++)
                for (size_t e = 0; e < n.dh; e++) out[h * n.dh + e] += score[j] / sum * v[j][g + e];
        }
        return out;
    }

    void layer(std::vector<Doubles> &x, const Layer &w) const
    {
        std::vector<Doubles> q, k, v;
        for (size_t t = 0; t < x.size(); t++) {
            const Doubles h = norm(x[t], w.attn_norm);
            q.push_back(linear(h, w.q, &w.qb));
            k.push_back(linear(h, w.k, &w.kb));
            v.push_back(linear(h, w.v, &w.vb));
            rotate(q[t], t);
            rotate(k[t], t);
        }
        for (size_t t = 0; t < x.size(); t++) {
            const Doubles o = linear(attend(q[t], k, v, t), w.o, nullptr);
            for (size_t i = 0; i < n.hs; i++) x[t][i] += o[i];
            const Doubles h = norm(x[t], w.mlp_norm), up = linear(h, w.up, nullptr);
            Doubles gate = linear(h, w.gate, nullptr);
            for (size_t i = 0; i < n.di; i++) gate[i] *= up[i] / (1 + std::exp(-gate[i]));
            const Doubles d = linear(gate, w.down, nullptr);
            for (size_t i = 0; i < n.hs; i++) x[t][i] += d[i];
        }
    }

    /* The next token; *margin is how much likelier than the second it is. */
    int64_t next(const Tokens &tokens, double *margin) const
    {
        std::vector<Doubles> x;
        for (const int64_t id : tokens)
            x.emplace_back(in_embed.begin() + id * (int64_t)n.hs,
                           in_embed.begin() + (id + 1) * (int64_t)n.hs);
        for (const Layer &w : layers) layer(x, w);
        Doubles logits = linear(norm(x.back(), out_norm), out_embed, nullptr);
        const size_t best = (size_t)(std::max_element(logits.begin(), logits.end()) - logits.begin());
        const double most = logits[best];
        logits[best] = -INFINITY;
        *margin = most - *std::max_element(logits.begin(), logits.end());
        return (int64_t)best;
    }
};

/* A model with the weights of a reference, loaded into the tensors that it made. */
static LlaisysQwen2Model *make_model(const Reference &r, bool tied,
                                     llaisysDeviceType_t device = LLAISYS_DEVICE_CPU)
{
    LlaisysQwen2Model *model = llaisysQwen2ModelCreate(&r.n, device, nullptr, 1);
    LlaisysQwen2Weights *w = llaisysQwen2ModelWeights(model);
    const auto load = [](llaisysTensor_t t, const Floats &v) { tensorLoad(t, (void *)(uintptr_t)v.data()); };
    load(w->in_embed, r.in_embed);
    if (tied) w->out_embed = w->in_embed;
    else load(w->out_embed, r.out_embed);
    load(w->out_norm_w, r.out_norm);
    for (size_t i = 0; i < r.n.nlayer; i++) {
        const Layer &l = r.layers[i];
        load(w->attn_norm_w[i], l.attn_norm);
        load(w->attn_q_w[i], l.q);
        load(w->attn_q_b[i], l.qb);
        load(w->attn_k_w[i], l.k);
        load(w->attn_k_b[i], l.kb);
        load(w->attn_v_w[i], l.v);
        load(w->attn_v_b[i], l.vb);
        load(w->attn_o_w[i], l.o);
        load(w->mlp_norm_w[i], l.mlp_norm);
        load(w->mlp_gate_w[i], l.gate);
        load(w->mlp_up_w[i], l.up);
        load(w->mlp_down_w[i], l.down);
    }
    return model;
}

static LlaisysQwen2Meta shape_of(size_t heads, size_t kv_heads)
{
    LlaisysQwen2Meta m = {};
    m.dtype = LLAISYS_DTYPE_F32;
    m.nlayer = 2;
    m.hs = 24;
    m.nh = heads;
    m.nkvh = kv_heads;
    m.dh = 6;
    m.di = 40;
    m.maxseq = 64;
    m.voc = 50;
    m.epsilon = 1e-6f;
    m.theta = 10000;
    m.end_token = 1;
    return m;
}

/* How many tokens could be compared. */
static int compare_tokens(llaisysDeviceType_t device, uint64_t seeds)
{
    int compared = 0;
    for (const size_t kv_heads : { 1, 2, 4 })
        for (const bool tied : { false, true })
            for (uint64_t seed = 1; seed <= seeds; seed++) {
                const Reference r(shape_of(4, kv_heads), 1000 * seed + kv_heads, tied);
                LlaisysQwen2Model *model = make_model(r, tied, device);
                Tokens tokens = { 3, (int64_t)seed, 17, 49, 0 };
                double margin;
                int64_t got = llaisysQwen2ModelInfer(model, tokens.data(), tokens.size());
                for (int i = 0; i < 12; i++) {
                    const int64_t want = r.next(tokens, &margin);
                    if (margin < 1e-4) break; /* a tie: rounding may decide */
                    EXPECT_MSG(got == want, "kv heads %zu, tied %d, seed %d, token %d: %d, not %d", kv_heads,
                               tied, (int)seed, i, (int)got, (int)want);
                    compared++;
                    tokens.push_back(want);
                    got = llaisysQwen2ModelInfer(model, &tokens.back(), 1);
                }
                llaisysQwen2ModelDestroy(model);
            }
    return compared;
}

TEST(test_the_model_generates_what_plain_loops_generate)
{
    EXPECT(compare_tokens(LLAISYS_DEVICE_CPU, 4) > 200);
}

TEST(test_the_model_generates_the_same_on_a_device)
{
    setenv("LLAISYS_SIMULATE", "1", 1);
    if (llaisysGetRuntimeAPI(LLAISYS_DEVICE_NVIDIA)->get_device_count() == 0) SKIP("no such device");
    EXPECT(compare_tokens(LLAISYS_DEVICE_NVIDIA, 1) > 50);
}

TEST(test_whole_sequences_go_on_and_others_begin_anew)
{
    const Reference r(shape_of(4, 2), 77, false);
    LlaisysQwen2Model *model = make_model(r, false);
    Tokens a = { 5, 6, 7 }, longer = { 5, 6, 7, 9, 11 }, b = { 8, 2 };
    double margin;
    EXPECT(llaisysQwen2ModelInfer(model, a.data(), a.size()) == r.next(a, &margin));
    EXPECT(llaisysQwen2ModelInfer(model, longer.data(), longer.size()) == r.next(longer, &margin));
    EXPECT(llaisysQwen2ModelInfer(model, b.data(), b.size()) == r.next(b, &margin));
    EXPECT(llaisysQwen2ModelInfer(model, a.data(), a.size()) == r.next(a, &margin));
    llaisysQwen2ModelDestroy(model);
}

TEST(test_caches_grow)
{
    LlaisysQwen2Meta meta = shape_of(2, 1);
    meta.maxseq = 700;
    const Reference r(meta, 5, true);
    LlaisysQwen2Model *steps = make_model(r, true), *whole = make_model(r, true);
    Tokens tokens;
    int64_t last = 0;
    for (int64_t i = 0; i < 600; i++) {
        tokens.push_back(i * 7 % 50);
        last = llaisysQwen2ModelInfer(steps, &tokens.back(), 1);
    }
    EXPECT(llaisysQwen2ModelInfer(whole, tokens.data(), tokens.size()) == last);
    llaisysQwen2ModelDestroy(steps);
    llaisysQwen2ModelDestroy(whole);
}

template <typename F> static bool throws(F body)
{
    try {
        body();
    } catch (const std::exception &) {
        return true;
    }
    return false;
}

TEST(test_tensors_of_the_program_and_missing_biases)
{
    const Reference r(shape_of(2, 1), 9, false);
    LlaisysQwen2Model *model = make_model(r, false);
    LlaisysQwen2Weights *w = llaisysQwen2ModelWeights(model);
    size_t shape[] = { r.n.hs };
    llaisysTensor_t own = tensorCreate(shape, 1, LLAISYS_DTYPE_F32, LLAISYS_DEVICE_CPU, 0);
    int64_t tokens[] = { 1, 2, 3 };
    const int64_t before = llaisysQwen2ModelInfer(model, tokens, 3);
    tensorLoad(own, (void *)(uintptr_t)r.out_norm.data());
    w->out_norm_w = own;
    EXPECT(llaisysQwen2ModelInfer(model, tokens, 3) == before);
    for (size_t i = 0; i < r.n.nlayer; i++) w->attn_q_b[i] = w->attn_k_b[i] = w->attn_v_b[i] = nullptr;
    EXPECT(llaisysQwen2ModelInfer(model, tokens, 3) >= 0);
    w->mlp_up_w[1] = nullptr;
    EXPECT(throws([&] { llaisysQwen2ModelInfer(model, tokens, 3); }));
    llaisysQwen2ModelDestroy(model);
    tensorDestroy(own);
}

TEST(test_models_and_tokens_that_are_none_are_refused)
{
    LlaisysQwen2Meta meta = shape_of(4, 3);
    EXPECT(throws([&] { llaisysQwen2ModelCreate(&meta, LLAISYS_DEVICE_CPU, nullptr, 1); }));
    EXPECT(throws([&] { llaisysQwen2ModelCreate(nullptr, LLAISYS_DEVICE_CPU, nullptr, 1); }));
    meta = shape_of(4, 2);
    meta.dtype = LLAISYS_DTYPE_I32;
    EXPECT(throws([&] { llaisysQwen2ModelCreate(&meta, LLAISYS_DEVICE_CPU, nullptr, 1); }));
    const Reference r(shape_of(4, 2), 3, false);
    LlaisysQwen2Model *model = make_model(r, false);
    int64_t outside[] = { 1, 50 }, negative[] = { 1, -1 };
    Tokens many(65, 1);
    EXPECT(throws([&] { llaisysQwen2ModelInfer(model, outside, 2); }));
    EXPECT(throws([&] { llaisysQwen2ModelInfer(model, outside, 0); }));
    EXPECT(throws([&] { llaisysQwen2ModelInfer(model, negative, 2); }));
    EXPECT(throws([&] { llaisysQwen2ModelInfer(model, many.data(), many.size()); }));
    EXPECT(throws([&] { llaisysQwen2ModelWeights(nullptr); }));
    EXPECT(llaisysQwen2ModelInfer(model, many.data(), 64) >= 0);
    EXPECT(throws([&] { llaisysQwen2ModelInfer(model, many.data(), 1); }));
    llaisysQwen2ModelDestroy(model);
    llaisysQwen2ModelDestroy(nullptr);
}
