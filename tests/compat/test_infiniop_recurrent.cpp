/* test_infiniop_recurrent.cpp - layers with a state, against their definitions token by token. */
#include "infiniop_test.h"

using Numbers = std::vector<double>;

static Numbers numbers_of(const Array &a)
{
    Numbers all;
    for (size_t i = 0; i < a.count(); i++) all.push_back(a[i]);
    return all;
}

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/* Rows that lie twice as far apart as they need to, and elements too. */
static Steps wide_steps(const Sizes &shape)
{
    Steps steps(shape.size());
    ptrdiff_t step = 2;
    for (size_t i = shape.size(); i-- > 0;) {
        steps[i] = step;
        step *= 2 * (ptrdiff_t)shape[i];
    }
    return steps;
}

/* Delta rules ---------------------------------------------------------------------------------- */

struct Heads {
    size_t batch, time, key_heads, heads, dk, dv;
};

struct Sequence {
    size_t row, begin, end;
    int    from, to;
};

/* decay(token, head, j), beta(token, head); states are (slots, heads, dv, dk). */
struct Delta {
    Heads                                         h;
    double                                        scale;
    bool                                          normalise;
    std::function<double(size_t, size_t, size_t)> decay;
    std::function<double(size_t, size_t)>         beta;

    Numbers vector(const Array &x, size_t token, size_t head, double by) const
    {
        Numbers v;
        double sum = 0;
        for (size_t j = 0; j < h.dk; j++) {
            v.push_back(x[(token * h.key_heads + head / (h.heads / h.key_heads)) * h.dk + j]);
            sum += v[j] * v[j];
        }
        for (double &e : v) e *= by / (normalise ? std::sqrt(sum + 1e-6) : 1);
        return v;
    }

    /* Adds to out; S is dk by dv here. */
    void run(Numbers &out, const Numbers &before, Numbers &after, const Array &q, const Array &k,
             const Array &v, const Sequence &s) const
    {
        for (size_t head = 0; head < h.heads; head++) {
            Numbers S(h.dk * h.dv);
            const size_t size = h.dk * h.dv;
            for (size_t i = 0; i < size; i++)
                S[i % h.dk * h.dv + i / h.dk] = before[((size_t)s.from * h.heads + head) * size + i];
            for (size_t at = s.begin; at < s.end; at++) {
                const size_t token = s.row * h.time + at;
                const Numbers key = vector(k, token, head, 1), query = vector(q, token, head, scale);
                for (size_t i = 0; i < size; i++) S[i] *= decay(token, head, i / h.dv);
                Numbers change(h.dv);
                for (size_t c = 0; c < h.dv; c++) {
                    double known = 0;
                    for (size_t j = 0; j < h.dk; j++) known += key[j] * S[j * h.dv + c];
                    change[c] = beta(token, head) * (v[(token * h.heads + head) * h.dv + c] - known);
                }
                for (size_t i = 0; i < size; i++) S[i] += key[i / h.dv] * change[i % h.dv];
                for (size_t i = 0; i < size; i++)
                    out[(token * h.heads + head) * h.dv + i % h.dv] += query[i / h.dv] * S[i];
            }
            for (size_t i = 0; i < size; i++)
                after[((size_t)s.to * h.heads + head) * size + i] = S[i % h.dk * h.dv + i / h.dk];
        }
    }
};

struct GatedCase {
    Heads h;
    Array q, k, v, g, beta, out;
    GatedCase(const Heads &heads, infiniDtype_t d)
        : h(heads),
          q({ h.batch, h.time, h.key_heads, h.dk }, d, wide_steps({ h.batch, h.time, h.key_heads, h.dk })),
          k({ h.batch, h.time, h.key_heads, h.dk }, d), v({ h.batch, h.time, h.heads, h.dv }, d),
          g({ h.batch, h.time, h.heads }, INFINI_DTYPE_F32),
          beta({ h.batch, h.time, h.heads }, INFINI_DTYPE_F32),
          out({ h.batch, h.time, h.heads, h.dv }, d, wide_steps({ h.batch, h.time, h.heads, h.dv }))
    {
        q.random(1);
        k.random(2);
        v.random(3);
        g.random(4, -2, 0);
        beta.random(5, 0, 1);
    }
    Delta rule(bool normalise) const
    {
        return { h, 1 / std::sqrt((double)h.dk), normalise,
                 [this](size_t t, size_t head, size_t) { return std::exp(g[t * h.heads + head]); },
                 [this](size_t t, size_t head) { return beta[t * h.heads + head]; } };
    }
};

TEST(test_gated_delta_rules_are_a_recurrence)
{
    Handle handle;
    for (infiniDtype_t d : { INFINI_DTYPE_F32, INFINI_DTYPE_F16, INFINI_DTYPE_F64 })
        for (bool normalise : { false, true })
            for (size_t time : { (size_t)1, (size_t)5 }) {
                GatedCase c({ 2, time, 2, 4, 3, 2 }, d);
                Array initial({ 2, 4, 2, 3 }, d), final_state({ 2, 4, 2, 3 }, d);
                initial.random(6);
                Numbers want(c.out.count()), states(final_state.count());
                for (size_t b = 0; b < 2; b++)
                    c.rule(normalise).run(want, numbers_of(initial), states, c.q, c.k, c.v,
                                          { b, 0, time, (int)b, (int)b });
                EXPECT_DONE(
                    RUN_OP(ChunkGatedDeltaRule,
                           (c.out.desc(), initial.desc(), final_state.desc(), c.q.desc(), c.k.desc(),
                            c.v.desc(), c.g.desc(), c.beta.desc(), nullptr, nullptr, nullptr, normalise, 64),
                           (c.out.data(), initial.data(), final_state.data(), c.q.data(), c.k.data(),
                            c.v.data(), c.g.data(), c.beta.data(), nullptr, nullptr, nullptr)));
                expect_elements("chunk", c.out, [&](size_t i) { return want[i]; });
                expect_elements("state", final_state, [&](size_t i) { return states[i]; });
                if (time != 1) continue;
                c.out.fill([](size_t) { return 9; });
                EXPECT_DONE(RUN_OP(RecurrentGatedDeltaRule,
                                   (c.out.desc(), initial.desc(), final_state.desc(), c.q.desc(), c.k.desc(),
                                    c.v.desc(), c.g.desc(), c.beta.desc(), nullptr, nullptr, normalise),
                                   (c.out.data(), initial.data(), final_state.data(), c.q.data(), c.k.data(),
                                    c.v.data(), c.g.data(), c.beta.data(), nullptr, nullptr)));
                expect_elements("recurrent", c.out, [&](size_t i) { return want[i]; });
            }
}

TEST(test_states_of_a_pool_are_read_and_written_by_slot)
{
    Handle handle;
    const Sequence sequences[2] = { { 0, 0, 2, 3, 1 },
                                    { 0, 3, 6, 1, 4 } }; /* the second begins where the first ended */
    GatedCase c({ 1, 6, 1, 2, 2, 3 }, INFINI_DTYPE_F32);
    Array pool({ 5, 2, 3, 2 }, INFINI_DTYPE_F32), cu({ 4 }, INFINI_DTYPE_I32), from({ 3 }, INFINI_DTYPE_I64),
        to({ 3 }, INFINI_DTYPE_I64);
    pool.random(6);
    const double bounds[4] = { 0, 2, 3, 6 }, from_slots[3] = { 3, -1, 1 }, to_slots[3] = { 1, 2, 4 };
    cu.fill([&](size_t i) { return bounds[i]; });
    from.fill([&](size_t i) { return from_slots[i]; });
    to.fill([&](size_t i) { return to_slots[i]; });
    Numbers want(c.out.count()), states = numbers_of(pool);
    for (const Sequence &s : sequences) {
        const Numbers before = states;
        c.rule(true).run(want, before, states, c.q, c.k, c.v, s);
    }
    const auto run = [&] {
        return RUN_OP(ChunkGatedDeltaRule,
                      (c.out.desc(), pool.desc(), nullptr, c.q.desc(), c.k.desc(), c.v.desc(), c.g.desc(),
                       c.beta.desc(), cu.desc(), from.desc(), to.desc(), true, 2),
                      (c.out.data(), pool.data(), nullptr, c.q.data(), c.k.data(), c.v.data(), c.g.data(),
                       c.beta.data(), cu.data(), from.data(), to.data()));
    };
    EXPECT_DONE(run());
    expect_elements("out", c.out, [&](size_t i) { return want[i]; }); /* zeros where a sequence is left out */
    expect_elements("pool", pool, [&](size_t i) { return states[i]; });
    from.set(0, 5);
    EXPECT_INFINI(run(), INFINI_STATUS_BAD_PARAM);
    from.set(0, 3);
    cu.set(3, 7);
    EXPECT_INFINI(run(), INFINI_STATUS_BAD_PARAM);
}

TEST(test_delta_rules_refuse_what_does_not_fit)
{
    Handle handle;
    GatedCase c({ 2, 3, 2, 4, 3, 2 }, INFINI_DTYPE_F32);
    Array state({ 2, 4, 2, 3 }, INFINI_DTYPE_F32), wrong({ 2, 4, 3, 2 }, INFINI_DTYPE_F32),
        half({ 2, 4, 2, 3 }, INFINI_DTYPE_F16), slots({ 2 }, INFINI_DTYPE_I32),
        three({ 3 }, INFINI_DTYPE_I32);
#define CHUNK(initial, final, q, cu, from, to, size) \
    CREATE_OP(ChunkGatedDeltaRule, c.out.desc(), initial, final, q, c.k.desc(), c.v.desc(), c.g.desc(), \
              c.beta.desc(), cu, from, to, false, size)
    EXPECT_DONE(CHUNK(state.desc(), state.desc(), c.q.desc(), nullptr, nullptr, nullptr, 1));
    EXPECT_INFINI(CHUNK(state.desc(), state.desc(), c.q.desc(), nullptr, nullptr, nullptr, 0),
                  INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(CHUNK(state.desc(), nullptr, c.q.desc(), nullptr, nullptr, nullptr, 1),
                  INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(CHUNK(state.desc(), state.desc(), c.q.desc(), nullptr, nullptr, slots.desc(), 1),
                  INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(CHUNK(wrong.desc(), state.desc(), c.q.desc(), nullptr, nullptr, nullptr, 1),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CHUNK(half.desc(), state.desc(), c.q.desc(), nullptr, nullptr, nullptr, 1),
                  INFINI_STATUS_BAD_TENSOR_DTYPE);
    EXPECT_INFINI(CHUNK(state.desc(), state.desc(), c.v.desc(), nullptr, nullptr, nullptr, 1),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CHUNK(state.desc(), state.desc(), c.q.desc(), slots.desc(), nullptr, nullptr, 1),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CHUNK(state.desc(), nullptr, c.q.desc(), nullptr, three.desc(), slots.desc(), 1),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CHUNK(state.desc(), nullptr, c.q.desc(), nullptr, state.desc(), slots.desc(), 1),
                  INFINI_STATUS_BAD_TENSOR_DTYPE);
#undef CHUNK
    EXPECT_INFINI(CREATE_OP(RecurrentGatedDeltaRule, c.out.desc(), state.desc(), state.desc(), c.q.desc(),
                            c.k.desc(), c.v.desc(), c.g.desc(), c.beta.desc(), nullptr, nullptr, false),
                  INFINI_STATUS_BAD_TENSOR_SHAPE); /* three tokens */
}

TEST(test_kimi_delta_attention_decays_each_number_by_its_own)
{
    Handle handle;
    const size_t heads = 2, d = 3, time = 4;
    for (infiniDtype_t dtype : { INFINI_DTYPE_F32, INFINI_DTYPE_BF16 }) {
        const Sizes shape = { 1, time, heads, d };
        Array q(shape, dtype), k(shape, dtype, wide_steps(shape)), v(shape, dtype), g(shape, dtype),
            out(shape, dtype), beta({ 1, time, heads }, dtype), a_log({ heads }, INFINI_DTYPE_F32),
            bias({ heads, d }, INFINI_DTYPE_F32), pool({ 3, heads, d, d }, dtype),
            cu({ 3 }, INFINI_DTYPE_I64), from({ 2 }, INFINI_DTYPE_I32),
            final_state({ 2, heads, d, d }, dtype);
        q.random(1);
        k.random(2);
        v.random(3);
        g.random(4);
        beta.random(5);
        a_log.random(6);
        bias.random(7);
        pool.random(8);
        cu.fill([&](size_t i) { return i == 0 ? 0.0 : i == 1 ? 1.0 : (double)time; });
        from.fill([](size_t i) { return 2 - (double)i; });
        const Delta rule = { { 1, time, heads, heads, d, d },
                             0.7,
                             true,
                             [&](size_t t, size_t h, size_t j) {
                                 return std::exp(-5 *
                                                 sigmoid(std::exp(a_log[h]) *
                                                         (g[(t * heads + h) * d + j] + bias[h * d + j])));
                             },
                             [&](size_t t, size_t h) { return sigmoid(beta[t * heads + h]); } };
        Numbers want(out.count()), states(final_state.count());
        rule.run(want, numbers_of(pool), states, q, k, v, { 0, 0, 1, 2, 0 });
        rule.run(want, numbers_of(pool), states, q, k, v, { 0, 1, time, 1, 1 });
        EXPECT_DONE(
            RUN_OP(KimiDeltaAttention,
                   (out.desc(), pool.desc(), final_state.desc(), q.desc(), k.desc(), v.desc(), g.desc(),
                    beta.desc(), a_log.desc(), bias.desc(), cu.desc(), from.desc(), nullptr, 0.7f, -5.0f,
                    true),
                   (out.data(), pool.data(), final_state.data(), q.data(), k.data(), v.data(), g.data(),
                    beta.data(), a_log.data(), bias.data(), cu.data(), from.data(), nullptr)));
        expect_elements("kimi", out, [&](size_t i) { return want[i]; });
        expect_elements("states", final_state, [&](size_t i) { return states[i]; });
        EXPECT_INFINI(CREATE_OP(KimiDeltaAttention, out.desc(), pool.desc(), final_state.desc(), q.desc(),
                                k.desc(), v.desc(), g.desc(), beta.desc(), bias.desc(), bias.desc(),
                                cu.desc(), from.desc(), nullptr, 1.0f, -5.0f, true),
                      INFINI_STATUS_BAD_TENSOR_SHAPE);
        EXPECT_INFINI(CREATE_OP(KimiDeltaAttention, out.desc(), pool.desc(), nullptr, q.desc(), k.desc(),
                                v.desc(), g.desc(), beta.desc(), a_log.desc(), bias.desc(), nullptr, nullptr,
                                nullptr, 1.0f, -5.0f, true),
                      INFINI_STATUS_NULL_POINTER);
    }
}

/* Others --------------------------------------------------------------------------------------- */

TEST(test_causal_convolution_remembers_the_last_tokens)
{
    Handle handle;
    for (size_t width : { (size_t)1, (size_t)2, (size_t)4 })
        for (bool has_bias : { false, true }) {
            const size_t channels = 3, time = 7, kept = width - 1;
            Array x({ 1, time, channels }, INFINI_DTYPE_F32, wide_steps({ 1, time, channels })),
                out({ 1, time, channels }, INFINI_DTYPE_F32),
                weight({ channels, 1, width }, INFINI_DTYPE_F32), bias({ channels }, INFINI_DTYPE_F32),
                pool({ 3, channels, kept }, INFINI_DTYPE_F32), cu({ 3 }, INFINI_DTYPE_I32),
                from({ 2 }, INFINI_DTYPE_I32), to({ 2 }, INFINI_DTYPE_I32);
            x.random(1);
            weight.random(2);
            bias.random(3);
            pool.random(4);
            const double bounds[3] = { 0, 2, 7 };
            cu.fill([&](size_t i) { return bounds[i]; });
            from.fill([](size_t i) { return i ? 0.0 : 2.0; });
            to.fill([](size_t i) { return i ? 0.0 : 1.0; });
            const Numbers before = numbers_of(pool);
            Numbers after = before, want(out.count());
            for (size_t s = 0; s < 2; s++)
                for (size_t c = 0; c < channels; c++) {
                    Numbers seen;
                    const size_t begin = (size_t)bounds[s], end = (size_t)bounds[s + 1];
                    for (size_t j = 0; j < kept; j++)
                        seen.push_back(before[((s ? 0 : 2) * channels + c) * kept + j]);
                    for (size_t t = begin; t < end; t++) seen.push_back(x[t * channels + c]);
                    for (size_t t = begin; t < end; t++) {
                        double sum = has_bias ? bias[c] : 0;
                        for (size_t j = 0; j < width; j++) sum += weight[c * width + j] * seen[t - begin + j];
                        want[t * channels + c] = sum;
                    }
                    for (size_t j = 0; j < kept; j++)
                        after[((s ? 0 : 1) * channels + c) * kept + j] = seen[seen.size() - kept + j];
                }
            EXPECT_DONE(RUN_OP(CausalConv1d,
                               (out.desc(), pool.desc(), nullptr, x.desc(), weight.desc(),
                                has_bias ? bias.desc() : nullptr, cu.desc(), from.desc(), to.desc()),
                               (out.data(), pool.data(), nullptr, x.data(), weight.data(), bias.data(),
                                cu.data(), from.data(), to.data())));
            expect_elements("conv", out, [&](size_t i) { return want[i]; });
            expect_elements("pool", pool, [&](size_t i) { return after[i]; });
            EXPECT_INFINI(CREATE_OP(CausalConv1d, out.desc(), x.desc(), nullptr, x.desc(), weight.desc(),
                                    nullptr, cu.desc(), from.desc(), to.desc()),
                          INFINI_STATUS_BAD_TENSOR_SHAPE);
            EXPECT_INFINI(CREATE_OP(CausalConv1d, out.desc(), pool.desc(), nullptr, x.desc(), weight.desc(),
                                    cu.desc(), cu.desc(), from.desc(), to.desc()),
                          INFINI_STATUS_BAD_TENSOR_DTYPE);
        }
}

TEST(test_selective_scan_steps_through_the_tokens)
{
    Handle handle;
    const size_t batch = 2, time = 4, channels = 3, n = 2;
    for (infiniDtype_t d : { INFINI_DTYPE_F32, INFINI_DTYPE_F16 }) {
        const Sizes shape = { batch, time, channels }, small = { batch, time, n };
        Array x(shape, d, wide_steps(shape)), dt(shape, d), gate(shape, d), out(shape, d), b(small, d),
            c(small, d), a_log({ channels, n }, d), skip({ channels }, d), bias({ channels }, d),
            state({ batch + 1, channels, n }, INFINI_DTYPE_F32);
        x.random(1);
        dt.random(2);
        gate.random(3);
        b.random(4);
        c.random(5);
        a_log.random(6);
        skip.random(7);
        bias.random(8);
        state.random(9);
        Numbers s = numbers_of(state), want(out.count());
        for (size_t i = 0; i < batch; i++)
            for (size_t ch = 0; ch < channels; ch++)
                for (size_t t = 0; t < time; t++) {
                    const size_t at = (i * time + t) * channels + ch;
                    const double step = std::log(1 + std::exp(dt[at] + bias[ch]));
                    double sum = 0;
                    for (size_t j = 0; j < n; j++) {
                        double &mine = s[(i * channels + ch) * n + j];
                        mine = std::exp(-std::exp(a_log[ch * n + j]) * step) * mine +
                               step * b[(i * time + t) * n + j] * x[at];
                        sum += mine * c[(i * time + t) * n + j];
                    }
                    want[at] = (sum + x[at] * skip[ch]) * gate[at] * sigmoid(gate[at]);
                }
        EXPECT_DONE(RUN_OP(MambaSelectiveScan,
                           (out.desc(), x.desc(), dt.desc(), b.desc(), c.desc(), a_log.desc(), skip.desc(),
                            gate.desc(), bias.desc(), state.desc()),
                           (out.data(), x.data(), dt.data(), b.data(), c.data(), a_log.data(), skip.data(),
                            gate.data(), bias.data(), state.data())));
        expect_elements("scan", out, [&](size_t i) { return want[i]; });
        expect_elements("state", state, [&](size_t i) { return s[i]; });
        EXPECT_INFINI(CREATE_OP(MambaSelectiveScan, out.desc(), x.desc(), dt.desc(), b.desc(), x.desc(),
                                a_log.desc(), skip.desc(), gate.desc(), bias.desc(), state.desc()),
                      INFINI_STATUS_BAD_TENSOR_SHAPE);
    }
    Array x({ 1, 1, 1 }, INFINI_DTYPE_F16), one({ 1 }, INFINI_DTYPE_F16), m({ 1, 1 }, INFINI_DTYPE_F16);
    EXPECT_INFINI(CREATE_OP(MambaSelectiveScan, x.desc(), x.desc(), x.desc(), x.desc(), x.desc(), m.desc(),
                            one.desc(), x.desc(), one.desc(), x.desc()),
                  INFINI_STATUS_BAD_TENSOR_DTYPE); /* the state is F16 */
}

TEST(test_rwkv5_adds_outer_products)
{
    Handle handle;
    const size_t batch = 2, time = 3, heads = 2, d = 3, width = heads * d;
    for (infiniDtype_t dtype : { INFINI_DTYPE_F32, INFINI_DTYPE_F16 }) {
        const Sizes shape = { batch, time, width };
        Array r(shape, dtype), k(shape, dtype, wide_steps(shape)), v(shape, dtype), out(shape, dtype),
            decay({ heads, d }, dtype), first({ heads, d }, dtype),
            state({ batch, heads, d, d }, INFINI_DTYPE_F32);
        r.random(1);
        k.random(2);
        v.random(3);
        decay.random(4);
        first.random(5);
        state.random(6);
        Numbers S = numbers_of(state), want(out.count());
        for (size_t b = 0; b < batch; b++)
            for (size_t t = 0; t < time; t++)
                for (size_t h = 0; h < heads; h++)
                    for (size_t j = 0; j < d; j++)
                        for (size_t i = 0; i < d; i++) {
                            const size_t row = (b * time + t) * width + h * d, of_row = h * d + i;
                            double &s = S[((b * heads + h) * d + i) * d + j];
                            const double product = k[row + i] * v[row + j];
                            want[row + j] += r[row + i] * (first[of_row] * product + s);
                            s = product + std::exp(-std::exp(decay[of_row])) * s;
                        }
        EXPECT_DONE(
            RUN_OP(Rwkv5Wkv,
                   (out.desc(), r.desc(), k.desc(), v.desc(), decay.desc(), first.desc(), state.desc()),
                   (out.data(), r.data(), k.data(), v.data(), decay.data(), first.data(), state.data())));
        expect_elements("wkv", out, [&](size_t i) { return want[i]; });
        expect_elements("state", state, [&](size_t i) { return S[i]; });
        Array wrong({ 1, heads, d, d }, INFINI_DTYPE_F32);
        EXPECT_INFINI(CREATE_OP(Rwkv5Wkv, out.desc(), r.desc(), k.desc(), v.desc(), decay.desc(),
                                first.desc(), wrong.desc()),
                      INFINI_STATUS_BAD_TENSOR_SHAPE);
        EXPECT_INFINI(
            RUN_OP(Rwkv5Wkv,
                   (out.desc(), r.desc(), k.desc(), v.desc(), decay.desc(), first.desc(), state.desc()),
                   (out.data(), r.data(), nullptr, v.data(), decay.data(), first.data(), state.data())),
            INFINI_STATUS_NULL_POINTER);
    }
}
