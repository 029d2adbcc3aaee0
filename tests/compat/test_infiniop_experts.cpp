/* test_infiniop_experts.cpp - routing to experts and their products, against plain loops. */
#include "infiniop_test.h"

#include <algorithm>

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/* Gates ---------------------------------------------------------------------------------------- */

struct Gate {
    size_t groups, kept, shared;
    double factor;
    bool   scale;
};

/* Experts of one row: all are ranked, those of the groups that are dropped are skipped. */
static std::vector<size_t> chosen(const Array &x, const Array &bias, size_t row, const Gate &g, size_t count)
{
    const size_t n = bias.count(), size = n / g.groups;
    std::vector<double> score(n);
    for (size_t e = 0; e < n; e++) score[e] = sigmoid(x[row * n + e]) + bias[e];
    std::vector<std::pair<double, size_t>> groups, all;
    for (size_t i = 0; i < g.groups; i++) {
        std::vector<double> of_group(score.begin() + (ptrdiff_t)(i * size),
                                     score.begin() + (ptrdiff_t)((i + 1) * size));
        std::sort(of_group.rbegin(), of_group.rend());
        groups.push_back({ -(of_group[0] + of_group[1]), i });
    }
    std::sort(groups.begin(), groups.end());
    for (size_t i = 0; i < std::min(g.kept, g.groups); i++)
        for (size_t e = groups[i].second * size; e < (groups[i].second + 1) * size; e++)
            all.push_back({ -score[e], e });
    std::sort(all.begin(), all.end());
    std::vector<size_t> best;
    for (size_t i = 0; i < count; i++) best.push_back(all[i].second);
    return best;
}

TEST(test_a_gate_keeps_the_best_groups)
{
    Handle handle;
    const Gate gates[] = {
        { 4, 2, 0, 1, false }, { 4, 2, 2, 2.5, true }, { 1, 1, 1, 0.5, false }, { 2, 9, 0, 3, true }
    };
    for (infiniDtype_t d : { INFINI_DTYPE_F32, INFINI_DTYPE_BF16 })
        for (const Gate &g : gates) {
            const size_t rows = 5, experts = 16, topk = 5, routed = topk - g.shared;
            Array x({ rows, experts }, d, { 2 * (ptrdiff_t)experts, 1 }), bias({ experts }, INFINI_DTYPE_F32),
                weights({ rows, topk }, INFINI_DTYPE_F32), places({ rows, topk }, INFINI_DTYPE_I32);
            x.random(1, -3, 3);
            bias.random(2, -0.3, 0.3);
            EXPECT_DONE(RUN_OP(MoeFusedGate,
                               (weights.desc(), places.desc(), x.desc(), bias.desc(), g.groups, g.kept,
                                g.shared, (float)g.factor, g.scale),
                               (weights.data(), places.data(), x.data(), bias.data())));
            for (size_t row = 0; row < rows; row++) {
                const std::vector<size_t> best = chosen(x, bias, row, g, routed);
                double sum = 0;
                for (size_t e : best) sum += sigmoid(x[row * experts + e]);
                for (size_t k = 0; k < topk; k++) {
                    const size_t e = k < routed ? best[k] : experts + k - routed;
                    const double w = k < routed ? sigmoid(x[row * experts + e]) / sum : 1 / g.factor;
                    EXPECT((size_t)places[row * topk + k] == e);
                    EXPECT(is_near(weights[row * topk + k], g.scale ? w * g.factor : w, 2e-6));
                }
            }
        }
    Array x({ 2, 8 }, INFINI_DTYPE_F32), bias({ 8 }, INFINI_DTYPE_F32), w({ 2, 3 }, INFINI_DTYPE_F32),
        p({ 2, 3 }, INFINI_DTYPE_I32);
#define GATE(groups, kept, shared) \
    CREATE_OP(MoeFusedGate, w.desc(), p.desc(), x.desc(), bias.desc(), groups, kept, shared, 1.0f, false)
    EXPECT_DONE(GATE(4, 2, 0));
    EXPECT_INFINI(GATE(3, 2, 0), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(GATE(0, 2, 0), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(GATE(4, 0, 0), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(GATE(4, 1, 0), INFINI_STATUS_BAD_TENSOR_SHAPE); /* three of two experts */
    EXPECT_INFINI(GATE(4, 2, 3), INFINI_STATUS_BAD_TENSOR_SHAPE);
#undef GATE
    EXPECT_INFINI(CREATE_OP(MoeFusedGate, p.desc(), p.desc(), x.desc(), bias.desc(), 4, 2, 0, 1.0f, false),
                  INFINI_STATUS_BAD_TENSOR_DTYPE);
}

/* Lists ---------------------------------------------------------------------------------------- */

TEST(test_tokens_are_sorted_by_expert_into_whole_blocks)
{
    Handle handle;
    const int ids[8] = { 2, 0, 2, 2, -1, 0, 2, 2 }; /* of 3 experts; five of them go to expert 2 */
    Array topk({ 4, 2 }, INFINI_DTYPE_I32, { 3, 1 }), sorted({ 24 }, INFINI_DTYPE_I32),
        experts({ 6 }, INFINI_DTYPE_I32), total({ 1 }, INFINI_DTYPE_I32);
    topk.fill([&](size_t i) { return ids[i]; });
    const auto run = [&](const int32_t *map, int pad) {
        sorted.fill([](size_t) { return -7; });
        experts.fill([](size_t) { return -7; });
        return RUN_OP(MoeAlign, (sorted.desc(), experts.desc(), total.desc(), topk.desc(), 3, 4),
                      (sorted.data(), experts.data(), total.data(), topk.data(), map, pad));
    };
    EXPECT_DONE(run(nullptr, 1));
    const int want[24] = { 4, 8, 8, 8, 1, 5, 8, 8, 0, 2, 3, 6, 7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8 };
    const int of_blocks[6] = { -1, 0, 2, 2, -7, -7 };
    EXPECT(total[0] == 16);
    expect_elements("sorted", sorted, [&](size_t i) { return want[i]; });
    expect_elements("experts", experts, [&](size_t i) { return of_blocks[i]; });
    const int32_t map[3] = { 1, -1, 0 }; /* expert 2 is the first here */
    EXPECT_DONE(run(map, 0));
    const int mapped[12] = { 0, 2, 3, 6, 7, -7, -7, -7, 1, 5, -7, -7 };
    EXPECT(total[0] == 12 && experts[0] == 0 && experts[1] == 0 && experts[2] == 1 && experts[3] == -7);
    for (size_t i = 0; i < 24; i++) EXPECT(sorted[i] == (i < 12 ? mapped[i] : -7));
    topk.set(0, 3);
    EXPECT_INFINI(run(nullptr, 1), INFINI_STATUS_BAD_PARAM);
    Array few({ 9 }, INFINI_DTYPE_I32);
    EXPECT_INFINI(CREATE_OP(MoeAlign, few.desc(), experts.desc(), total.desc(), topk.desc(), 3, 4),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(MoeAlign, sorted.desc(), experts.desc(), total.desc(), topk.desc(), 0, 4),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
}

TEST(test_products_of_experts_are_prepared)
{
    Handle handle;
    const int ids[6] = { 1, 2, 2, 1, 2, 9 }; /* 9 is no expert */
    for (bool blocks : { false, true })
        for (bool flat : { false, true }) {
            Array topk({ 3, 2 }, INFINI_DTYPE_I32), offsets({ 4 }, INFINI_DTYPE_I32),
                rounded({ 4 }, INFINI_DTYPE_I32), first(flat ? Sizes{ 9 } : Sizes{ 3, 3 }, INFINI_DTYPE_I32),
                second(flat ? Sizes{ 9 } : Sizes{ 3, 3 }, INFINI_DTYPE_I32), in({ 7 }, INFINI_DTYPE_I32),
                out({ 6 }, INFINI_DTYPE_I32);
            topk.fill([&](size_t i) { return ids[i]; });
            in.fill([](size_t) { return -3; });
            out.fill([](size_t) { return -3; });
            EXPECT_DONE(RUN_OP(PrepareMoeInput,
                               (offsets.desc(), blocks ? rounded.desc() : nullptr, first.desc(),
                                second.desc(), in.desc(), out.desc(), topk.desc(), 3, 10, 20),
                               (offsets.data(), rounded.data(), first.data(), second.data(), in.data(),
                                out.data(), topk.data())));
            const int o[4] = { 0, 0, 2, 5 }, r[4] = { 0, 0, 128, 256 }, counts[3] = { 0, 2, 3 };
            const int sizes1[3] = { 0, 20, 20 }, sizes2[3] = { 0, 20, 10 };
            const int i_want[7] = { 0, 1, 0, 1, 2, -3, -3 }, o_want[6] = { 0, 2, 3, 1, 4, -3 };
            expect_elements("offsets", offsets, [&](size_t i) { return o[i]; });
            expect_elements("rounded", rounded, [&](size_t i) { return blocks ? r[i] : 0; });
            expect_elements("first", first, [&](size_t i) { return i % 3 ? sizes1[i % 3] : counts[i / 3]; });
            expect_elements("second", second,
                            [&](size_t i) { return i % 3 ? sizes2[i % 3] : counts[i / 3]; });
            expect_elements("input", in, [&](size_t i) { return i_want[i]; });
            expect_elements("output", out, [&](size_t i) { return o_want[i]; });
        }
    Array topk({ 3, 2 }, INFINI_DTYPE_I32), offsets({ 3 }, INFINI_DTYPE_I32),
        sizes({ 3, 3 }, INFINI_DTYPE_I32), list({ 6 }, INFINI_DTYPE_I32);
    EXPECT_INFINI(CREATE_OP(PrepareMoeInput, offsets.desc(), nullptr, sizes.desc(), sizes.desc(), list.desc(),
                            list.desc(), topk.desc(), 3, 10, 20),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(PrepareMoeInput, offsets.desc(), nullptr, sizes.desc(), sizes.desc(), list.desc(),
                            list.desc(), topk.desc(), 3, 0, 20),
                  INFINI_STATUS_BAD_PARAM);
}

/* Products ------------------------------------------------------------------------------------- */

static double activated(double gate, double up, bool situ)
{
    if (!situ) return gate * sigmoid(gate) * up;
    return 4 * std::tanh(gate / 4) * sigmoid(gate) * 25 * std::tanh(up / 25);
}

/* Row `token` of x through expert e; w13(e, row, i) and w2(e, row, i). */
using Weight = std::function<double(size_t, size_t, size_t)>;
static std::vector<double> expert_of(const Array &x, size_t token, size_t e, size_t hidden, size_t inner,
                                     const Weight &w13, const Weight &w2, bool situ)
{
    std::vector<double> act(inner), y(hidden);
    for (size_t r = 0; r < inner; r++) {
        double gate = 0, up = 0;
        for (size_t i = 0; i < hidden; i++) {
            gate += w13(e, r, i) * x[token * hidden + i];
            up += w13(e, r + inner, i) * x[token * hidden + i];
        }
        act[r] = activated(gate, up, situ);
    }
    for (size_t r = 0; r < hidden; r++)
        for (size_t i = 0; i < inner; i++) y[r] += w2(e, r, i) * act[i];
    return y;
}

static std::vector<double> mixture(const Array &x, const Array &ids, const Array &weights, size_t experts,
                                   size_t hidden, size_t inner, const Weight &w13, const Weight &w2,
                                   bool situ)
{
    const size_t tokens = x.count() / hidden, topk = ids.count() / tokens;
    std::vector<double> sum(x.count());
    for (size_t at = 0; at < ids.count(); at++) {
        if (ids[at] < 0 || ids[at] >= (double)experts) continue;
        const std::vector<double> y = expert_of(x, at / topk, (size_t)ids[at], hidden, inner, w13, w2, situ);
        for (size_t i = 0; i < hidden; i++) sum[at / topk * hidden + i] += weights[at] * y[i];
    }
    return sum;
}

TEST(test_dense_experts_are_mixed)
{
    Handle handle;
    const size_t n = 3, hidden = 4, inner = 5, experts = 3;
    for (infiniDtype_t d : { INFINI_DTYPE_F32, INFINI_DTYPE_F16 }) {
        Array x({ n, hidden }, d, { 9, 2 }), y({ n, hidden }, d), w13({ experts, 2 * inner, hidden }, d),
            w2({ experts, hidden, inner }, d), weights({ n, 2 }, INFINI_DTYPE_F32),
            ids({ n, 2 }, INFINI_DTYPE_I32), list({ 24 }, INFINI_DTYPE_I32), blocks({ 3 }, INFINI_DTYPE_I32),
            total({ 1 }, INFINI_DTYPE_I32);
        x.random(1);
        w13.random(2);
        w2.random(3);
        weights.random(4, 0, 1);
        const int which[6] = { 2, 0, 1, 1, -1, 3 }; /* the last token chose none */
        ids.fill([&](size_t i) { return which[i]; });
        const std::vector<double> want = mixture(
            x, ids, weights, experts, hidden, inner,
            [&](size_t e, size_t r, size_t i) { return w13[(e * 2 * inner + r) * hidden + i]; },
            [&](size_t e, size_t r, size_t i) { return w2[(e * hidden + r) * inner + i]; }, false);
        EXPECT_DONE(RUN_OP(MoeFusedDense,
                           (y.desc(), x.desc(), w13.desc(), w2.desc(), weights.desc(), ids.desc(),
                            list.desc(), blocks.desc(), total.desc()),
                           (y.data(), x.data(), w13.data(), w2.data(), weights.data(), ids.data(),
                            list.data(), blocks.data(), total.data())));
        expect_elements("mixture", y, [&](size_t i) { return want[i]; });
        EXPECT_INFINI(CREATE_OP(MoeFusedDense, y.desc(), x.desc(), w2.desc(), w2.desc(), weights.desc(),
                                ids.desc(), list.desc(), blocks.desc(), total.desc()),
                      INFINI_STATUS_BAD_TENSOR_SHAPE);
        EXPECT_INFINI(CREATE_OP(MoeFusedDense, y.desc(), x.desc(), w13.desc(), w2.desc(), weights.desc(),
                                weights.desc(), list.desc(), blocks.desc(), total.desc()),
                      INFINI_STATUS_BAD_TENSOR_DTYPE);
    }
}

static void fill_bytes(Array &a, uint64_t seed, int low, int high)
{
    a.fill([&](size_t) { return (double)(low + (int)(test_next(&seed) % (uint64_t)(high - low))); });
}

/* Weight i of a row of `width` that begins at byte row * width / 2. */
static double mxfp4(const Array &packed, const Array &scales, size_t row, size_t width, size_t i)
{
    const double size[8] = { 0, 0.5, 1, 1.5, 2, 3, 4, 6 };
    const int byte = (int)packed[row * width / 2 + i / 2], code = i % 2 ? byte >> 4 : byte & 15;
    const double x = code & 8 ? -size[code & 7] : size[code & 7];
    return std::ldexp(x, (int)scales[row * width / 32 + i / 32] - 127);
}

TEST(test_products_with_mxfp4_weights)
{
    Handle handle;
    const size_t n = 3, k = 64;
    for (infiniDtype_t d : { INFINI_DTYPE_F32, INFINI_DTYPE_F16 })
        for (bool has_bias : { false, true }) {
            Array x({ 2, 1, k }, d), y({ 2, 1, n }, d), packed({ n, k / 2 }, INFINI_DTYPE_U8),
                scales({ n, k / 32 }, INFINI_DTYPE_U8), bias({ n }, d);
            x.random(1);
            bias.random(2);
            fill_bytes(packed, 3, 0, 256);
            fill_bytes(scales, 4, 123, 128);
            EXPECT_DONE(RUN_OP(LinearMxfp4,
                               (y.desc(), x.desc(), packed.desc(), scales.desc(),
                                has_bias ? bias.desc() : nullptr, 0.5f),
                               (y.data(), x.data(), packed.data(), scales.data(), bias.data())));
            expect_elements("linear", y, [&](size_t at) {
                double sum = 0;
                for (size_t i = 0; i < k; i++) sum += x[at / n * k + i] * mxfp4(packed, scales, at % n, k, i);
                return 0.5 * sum + (has_bias ? bias[at % n] : 0);
            });
            EXPECT_INFINI(CREATE_OP(LinearMxfp4, y.desc(), x.desc(), scales.desc(), scales.desc(), nullptr,
                                    1.0f),
                          INFINI_STATUS_BAD_TENSOR_SHAPE);
            EXPECT_INFINI(CREATE_OP(LinearMxfp4, y.desc(), x.desc(), x.desc(), scales.desc(), nullptr, 1.0f),
                          INFINI_STATUS_BAD_TENSOR_DTYPE);
        }
}

TEST(test_experts_with_mxfp4_weights)
{
    Handle handle;
    const size_t n = 3, hidden = 32, inner = 32, experts = 2;
    for (infiniopFusedMoeActivation_t act :
         { INFINIOP_FUSED_MOE_ACT_SWIGLU, INFINIOP_FUSED_MOE_ACT_SITUGLU }) {
        Array x({ n, hidden }, INFINI_DTYPE_F32), y({ n, hidden }, INFINI_DTYPE_F32),
            ids({ n, 2 }, INFINI_DTYPE_I32), weights({ n, 2 }, INFINI_DTYPE_F32),
            w13({ experts, 2 * inner, hidden / 2 }, INFINI_DTYPE_U8),
            s13({ experts, 2 * inner, hidden / 32 }, INFINI_DTYPE_U8),
            w2({ experts, hidden, inner / 2 }, INFINI_DTYPE_U8),
            s2({ experts, hidden, inner / 32 }, INFINI_DTYPE_U8);
        x.random(1);
        weights.random(2);
        fill_bytes(w13, 3, 0, 256);
        fill_bytes(s13, 4, 121, 125);
        fill_bytes(w2, 5, 0, 256);
        fill_bytes(s2, 6, 121, 125);
        const int which[6] = { 1, 0, 0, -1, 1, 1 };
        ids.fill([&](size_t i) { return which[i]; });
        const std::vector<double> want = mixture(
            x, ids, weights, experts, hidden, inner,
            [&](size_t e, size_t r, size_t i) { return mxfp4(w13, s13, e * 2 * inner + r, hidden, i); },
            [&](size_t e, size_t r, size_t i) { return mxfp4(w2, s2, e * hidden + r, inner, i); },
            act == INFINIOP_FUSED_MOE_ACT_SITUGLU);
        EXPECT_DONE(RUN_OP(FusedMoeMxfp4,
                           (y.desc(), x.desc(), ids.desc(), weights.desc(), w13.desc(), s13.desc(), w2.desc(),
                            s2.desc(), act),
                           (y.data(), x.data(), ids.data(), weights.data(), w13.data(), s13.data(), w2.data(),
                            s2.data())));
        expect_elements("experts", y, [&](size_t i) { return want[i]; }, 4);
        EXPECT_INFINI(CREATE_OP(FusedMoeMxfp4, y.desc(), x.desc(), ids.desc(), weights.desc(), w13.desc(),
                                s13.desc(), w2.desc(), s2.desc(), INFINIOP_FUSED_MOE_ACT_SILU),
                      INFINI_STATUS_BAD_PARAM);
        EXPECT_INFINI(CREATE_OP(FusedMoeMxfp4, y.desc(), x.desc(), ids.desc(), weights.desc(), w2.desc(),
                                s13.desc(), w2.desc(), s2.desc(), act),
                      INFINI_STATUS_BAD_TENSOR_SHAPE);
    }
}
