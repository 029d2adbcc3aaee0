/* test_infiniop_nn.cpp - softmax, norms, rotary positions, losses and choices, against plain loops. */
#include "infiniop_test.h"

#include <algorithm>
#include <numeric>

static const infiniDtype_t floats[] = { INFINI_DTYPE_F16, INFINI_DTYPE_BF16, INFINI_DTYPE_F32,
                                        INFINI_DTYPE_F64 };

/* Softmax over n values that `at` gives. */
static std::vector<double> softmax_of(size_t n, const std::function<double(size_t)> &at)
{
    std::vector<double> p(n);
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++) most = std::fmax(most, at(i));
    for (size_t i = 0; i < n; i++) sum += p[i] = std::exp(at(i) - most);
    for (double &v : p) v /= sum;
    return p;
}

TEST(test_softmax_and_logsoftmax_along_any_axis)
{
    Handle handle;
    for (infiniDtype_t d : floats)
        for (int axis : { 0, 1, 2, -1, -3 }) {
            Array y({ 3, 4, 5 }, d), x({ 3, 4, 5 }, d, { 1, 3, 12 });
            x.random(9, -4, 4);
            const size_t a = (size_t)(axis < 0 ? axis + 3 : axis);
            const size_t inner = a == 0 ? 20 : a == 1 ? 5 : 1, n = a == 0 ? 3 : a == 1 ? 4 : 5;
            const auto want = [&](size_t i) {
                const size_t k = i / inner % n, first = i - k * inner;
                return softmax_of(n, [&](size_t j) { return x[first + j * inner]; })[k];
            };
            EXPECT_DONE(RUN_OP(Softmax, (y.desc(), x.desc(), axis), (y.data(), x.data())));
            expect_elements("Softmax", y, want);
            EXPECT_DONE(RUN_OP(LogSoftmax, (y.desc(), x.desc(), axis), (y.data(), x.data())));
            expect_elements("LogSoftmax", y, [&](size_t i) { return std::log(want(i)); });
        }
    Array wide({ 2, 6 }, INFINI_DTYPE_F32), narrow({ 2, 6 }, INFINI_DTYPE_F16);
    narrow.random(1, -4, 4);
    EXPECT_DONE(RUN_OP(LogSoftmax, (wide.desc(), narrow.desc(), 1), (wide.data(), narrow.data())));
    expect_elements("mixed", wide, [&](size_t i) {
        return std::log(softmax_of(6, [&](size_t j) { return narrow[i / 6 * 6 + j]; })[i % 6]);
    });
    EXPECT_INFINI(CREATE_OP(Softmax, wide.desc(), wide.desc(), 2), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(CREATE_OP(Softmax, wide.desc(), nullptr, 0), INFINI_STATUS_NULL_POINTER);
}

TEST(test_causal_softmax_sees_the_past_only)
{
    Handle handle;
    for (infiniDtype_t d : floats) {
        Array y({ 2, 3, 5 }, d), x({ 2, 3, 5 }, d);
        x.random(2, -4, 4);
        EXPECT_DONE(RUN_OP(CausalSoftmax, (y.desc(), x.desc()), (y.data(), x.data())));
        expect_elements("CausalSoftmax", y, [&](size_t i) {
            const size_t row = i / 5 % 3, col = i % 5, seen = row + 3;
            if (col >= seen) return 0.0;
            return softmax_of(seen, [&](size_t j) { return x[i / 5 * 5 + j]; })[col];
        });
    }
    Array tall({ 5, 3 }, INFINI_DTYPE_F32), vector({ 5 }, INFINI_DTYPE_F32);
    EXPECT_INFINI(CREATE_OP(CausalSoftmax, tall.desc(), tall.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(CausalSoftmax, vector.desc(), vector.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
}

static double mean_of(size_t n, const std::function<double(size_t)> &at)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += at(i);
    return sum / (double)n;
}

TEST(test_rms_norm_and_add_rms_norm)
{
    Handle handle;
    const size_t n = 16;
    for (infiniDtype_t d : floats)
        for (infiniDtype_t wd : { d, INFINI_DTYPE_F32 }) {
            Array y({ 3, n }, d, { 40, 2 }), x({ 3, n }, d), b({ 3, n }, d), w({ n }, wd), r({ 3, n }, d);
            x.random(1);
            b.random(2);
            w.random(3);
            EXPECT_DONE(
                RUN_OP(RMSNorm, (y.desc(), x.desc(), w.desc(), 1e-5f), (y.data(), x.data(), w.data())));
            expect_elements("RMSNorm", y, [&](size_t i) {
                const double ms = mean_of(n, [&](size_t j) { return x[i / n * n + j] * x[i / n * n + j]; });
                return x[i] / std::sqrt(ms + 1e-5) * w[i % n];
            });
            EXPECT_DONE(RUN_OP(AddRMSNorm, (y.desc(), r.desc(), x.desc(), b.desc(), w.desc(), 1e-5f),
                               (y.data(), r.data(), x.data(), b.data(), w.data())));
            expect_elements("sum", r, [&](size_t i) { return x[i] + b[i]; });
            expect_elements("AddRMSNorm", y, [&](size_t i) {
                const double ms = mean_of(n, [&](size_t j) { return r[i / n * n + j] * r[i / n * n + j]; });
                return r[i] / std::sqrt(ms + 1e-5) * w[i % n];
            });
        }
    Array y({ 3, n }, INFINI_DTYPE_F32), w({ n + 1 }, INFINI_DTYPE_F32), i32({ n }, INFINI_DTYPE_I32);
    EXPECT_INFINI(CREATE_OP(RMSNorm, y.desc(), y.desc(), w.desc(), 1e-5f), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(RMSNorm, y.desc(), y.desc(), i32.desc(), 1e-5f), INFINI_STATUS_BAD_TENSOR_DTYPE);
    EXPECT_INFINI(CREATE_OP(RMSNorm, y.desc(), y.desc(), nullptr, 1e-5f), INFINI_STATUS_NULL_POINTER);
}

TEST(test_layer_norm_gives_its_parts_if_asked)
{
    Handle handle;
    const size_t n = 12;
    for (infiniDtype_t d : floats) {
        Array y({ 2, 3, n }, d), plain({ 2, 3, n }, d), dev({ 2, 3 }, d), x({ 2, 3, n }, d), w({ n }, d),
            b({ n }, d);
        x.random(1);
        w.random(2);
        b.random(3);
        const auto mean = [&](size_t i) { return mean_of(n, [&](size_t j) { return x[i / n * n + j]; }); };
        const auto deviation = [&](size_t i) {
            const double m = mean(i);
            return std::sqrt(1e-5 + mean_of(n, [&](size_t j) { return std::pow(x[i / n * n + j] - m, 2); }));
        };
        EXPECT_DONE(RUN_OP(LayerNorm,
                           (y.desc(), plain.desc(), dev.desc(), x.desc(), w.desc(), b.desc(), 1e-5f),
                           (y.data(), plain.data(), dev.data(), x.data(), w.data(), b.data())));
        expect_elements("plain", plain, [&](size_t i) { return (x[i] - mean(i)) / deviation(i); }, 2);
        expect_elements("deviation", dev, [&](size_t i) { return deviation(i * n); }, 2);
        expect_elements(
            "y", y, [&](size_t i) { return (x[i] - mean(i)) / deviation(i) * w[i % n] + b[i % n]; }, 2);
        EXPECT_DONE(RUN_OP(LayerNorm, (y.desc(), nullptr, nullptr, x.desc(), w.desc(), nullptr, 1e-5f),
                           (y.data(), nullptr, nullptr, x.data(), w.data(), nullptr)));
        expect_elements(
            "no bias", y, [&](size_t i) { return (x[i] - mean(i)) / deviation(i) * w[i % n]; }, 2);
    }
    Array y({ 3, n }, INFINI_DTYPE_F32), w({ n }, INFINI_DTYPE_F32), dev({ 4 }, INFINI_DTYPE_F32);
    EXPECT_INFINI(CREATE_OP(LayerNorm, y.desc(), nullptr, dev.desc(), y.desc(), w.desc(), nullptr, 1e-5f),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
}

TEST(test_lp_norm_divides_by_the_norm)
{
    Handle handle;
    for (infiniDtype_t d : floats)
        for (int p : { 1, 2, 3 }) {
            Array y({ 4, 6 }, d), x({ 4, 6 }, d);
            x.random(1);
            for (size_t j = 0; j < 4; j++) x.set(j * 6, 0); /* column 0: a norm of 0 */
            EXPECT_DONE(RUN_OP(LPNorm, (y.desc(), x.desc(), 0, p, 1e-3f), (y.data(), x.data())));
            expect_elements("LPNorm", y, [&](size_t i) {
                double sum = 0;
                for (size_t j = 0; j < 4; j++) sum += std::pow(std::fabs(x[j * 6 + i % 6]), p);
                return x[i] / std::fmax(std::pow(sum, 1.0 / p), 1e-3);
            });
        }
    Array y({ 4, 6 }, INFINI_DTYPE_F32);
    EXPECT_INFINI(CREATE_OP(LPNorm, y.desc(), y.desc(), 2, 2, 0.1f), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(CREATE_OP(LPNorm, y.desc(), y.desc(), 0, 0, 0.1f), INFINI_STATUS_BAD_PARAM);
}

/* Element i of x (batch, seq, heads, d) rotated. */
static double rotated(const Array &x, size_t i, size_t d, bool pairs,
                      const std::function<size_t(size_t)> &row, const Array &sin, const Array &cos)
{
    const size_t at = i % d, half = d / 2, j = pairs ? at / 2 : at % half;
    const bool second = pairs ? at % 2 : at >= half;
    const size_t other = pairs ? i ^ 1 : second ? i - half : i + half;
    const double s = sin[row(i) * half + j], c = cos[row(i) * half + j];
    return second ? x[i] * c + x[other] * s : x[i] * c - x[other] * s;
}

TEST(test_rope_turns_pairs_by_the_tables)
{
    Handle handle;
    const size_t batch = 2, seq = 3, heads = 2, d = 8, rows = 10;
    for (infiniDtype_t dt : floats)
        for (infiniDtype_t pt : { INFINI_DTYPE_I32, INFINI_DTYPE_U64 })
            for (bool pairs : { true, false })
                for (bool own : { false, true }) {
                    Array y({ batch, seq, heads, d }, dt), x({ batch, seq, heads, d }, dt);
                    Array sin({ rows, d / 2 }, dt), cos({ rows, d / 2 }, dt);
                    Array pos(own ? Sizes{ batch, seq } : Sizes{ seq }, pt);
                    x.random(1);
                    sin.random(2);
                    cos.random(3);
                    pos.fill([&](size_t i) { return (double)((i * 7 + 2) % rows); });
                    const auto row = [&](size_t i) {
                        const size_t s = i / (heads * d) % seq, b = i / (seq * heads * d);
                        return (size_t)pos[own ? b * seq + s : s];
                    };
                    EXPECT_DONE(RUN_OP(RoPE, (y.desc(), x.desc(), pos.desc(), sin.desc(), cos.desc(),
                                              pairs ? INFINIOP_ROPE_ALGO_GPT_J : INFINIOP_ROPE_ALGO_GPT_NEOX),
                                       (y.data(), x.data(), pos.data(), sin.data(), cos.data())));
                    expect_elements("RoPE", y,
                                    [&](size_t i) { return rotated(x, i, d, pairs, row, sin, cos); });
                }
    Array x({ seq, heads, d }, INFINI_DTYPE_F32), table({ rows, d / 2 }, INFINI_DTYPE_F32),
        pos({ seq }, INFINI_DTYPE_I64);
    Array small({ rows, d }, INFINI_DTYPE_F32);
    pos.fill([](size_t) { return 99; });
    EXPECT_INFINI(
        RUN_OP(RoPE, (x.desc(), x.desc(), pos.desc(), table.desc(), table.desc(), INFINIOP_ROPE_ALGO_GPT_J),
               (x.data(), x.data(), pos.data(), table.data(), table.data())),
        INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(
        CREATE_OP(RoPE, x.desc(), x.desc(), pos.desc(), small.desc(), small.desc(), INFINIOP_ROPE_ALGO_GPT_J),
        INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(
        CREATE_OP(RoPE, x.desc(), x.desc(), x.desc(), table.desc(), table.desc(), INFINIOP_ROPE_ALGO_GPT_J),
        INFINI_STATUS_BAD_TENSOR_DTYPE);
    EXPECT_INFINI(
        CREATE_OP(RoPE, x.desc(), x.desc(), pos.desc(), table.desc(), table.desc(), (infiniopRoPEAlgo_t)7),
        INFINI_STATUS_BAD_PARAM);
}

TEST(test_mrope_takes_each_section_from_its_own_position)
{
    Handle handle;
    const size_t tokens = 4, head = 16, rotary = 12, half = rotary / 2, rows = 9;
    for (infiniDtype_t dt : { INFINI_DTYPE_F32, INFINI_DTYPE_F16 })
        for (bool interleaved : { false, true }) {
            Array q({ tokens, 2 * head }, dt), k({ tokens, head }, dt), qo({ tokens, 2 * head }, dt),
                ko({ tokens, head }, dt);
            Array cos({ rows, half }, dt), sin({ rows, half }, dt), pos({ 3, tokens }, INFINI_DTYPE_I64);
            q.random(1);
            k.random(2);
            cos.random(3);
            sin.random(4);
            pos.fill([&](size_t i) { return (double)((i * 5 + 1) % rows); });
            EXPECT_DONE(
                RUN_OP(MRoPE,
                       (qo.desc(), ko.desc(), q.desc(), k.desc(), cos.desc(), sin.desc(), pos.desc(),
                        (int)head, (int)rotary, 2, 2, 2, interleaved),
                       (qo.data(), ko.data(), q.data(), k.data(), cos.data(), sin.data(), pos.data())));
            const auto check = [&](const Array &out, const Array &x, size_t width) {
                expect_elements("MRoPE", out, [&](size_t i) {
                    const size_t at = i % head, token = i / width;
                    if (at >= rotary) return x[i];
                    const size_t j = at % half;
                    size_t s = j < 2 ? 0 : j < 4 ? 1 : 2;
                    if (interleaved) s = j % 3 == 1 && j < 6 ? 1 : j % 3 == 2 && j < 6 ? 2 : 0;
                    const size_t row = (size_t)pos[s * tokens + token];
                    const double c = cos[row * half + j], sn = sin[row * half + j];
                    return at < half ? x[i] * c - x[i + half] * sn : x[i] * c + x[i - half] * sn;
                });
            };
            check(qo, q, 2 * head);
            check(ko, k, head);
        }
    Array q({ 4, 32 }, INFINI_DTYPE_F32), t({ 9, 6 }, INFINI_DTYPE_F32), pos({ 2, 4 }, INFINI_DTYPE_I64);
    EXPECT_INFINI(CREATE_OP(MRoPE, q.desc(), q.desc(), q.desc(), q.desc(), t.desc(), t.desc(), pos.desc(), 16,
                            12, 2, 2, 2, false),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(MRoPE, q.desc(), q.desc(), q.desc(), q.desc(), t.desc(), t.desc(), pos.desc(), 16,
                            13, 2, 2, 2, false),
                  INFINI_STATUS_BAD_PARAM);
}

/* Losses --------------------------------------------------------------------------------------- */

TEST(test_cross_entropy_at_every_place)
{
    Handle handle;
    for (infiniDtype_t d : floats)
        for (const Sizes &places : { Sizes{}, Sizes{ 4 }, Sizes{ 2, 3 } }) {
            Sizes with_classes = places;
            with_classes.push_back(7);
            Array y(places, d), x(with_classes, d), target(places, INFINI_DTYPE_I64);
            x.random(1, -3, 3);
            target.fill([](size_t i) { return (double)(i * 3 % 7); });
            if (places.size() == 2) target.set(1, -100);
            EXPECT_DONE(RUN_OP(CrossEntropy, (y.desc(), x.desc(), target.desc()),
                               (y.data(), x.data(), target.data())));
            expect_elements("CrossEntropy", y, [&](size_t i) {
                if (target[i] < 0) return 0.0;
                return -std::log(softmax_of(7, [&](size_t j) { return x[i * 7 + j]; })[(size_t)target[i]]);
            });
        }
    Array y({ 4 }, INFINI_DTYPE_F32), x({ 4, 7 }, INFINI_DTYPE_F32), target({ 4 }, INFINI_DTYPE_I32),
        f({ 4 }, INFINI_DTYPE_F32);
    target.set(2, 7);
    EXPECT_INFINI(
        RUN_OP(CrossEntropy, (y.desc(), x.desc(), target.desc()), (y.data(), x.data(), target.data())),
        INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(CREATE_OP(CrossEntropy, y.desc(), x.desc(), f.desc()), INFINI_STATUS_BAD_TENSOR_DTYPE);
    EXPECT_INFINI(CREATE_OP(CrossEntropy, x.desc(), x.desc(), target.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
}

TEST(test_bce_with_logits_weighs_and_reduces)
{
    Handle handle;
    for (infiniDtype_t d : floats)
        for (int reduction = 0; reduction < 3; reduction++)
            for (bool weighted : { false, true }) {
                Array x({ 3, 5 }, d), y({ 3, 5 }, d), w({ 5 }, d), pw({ 5 }, d);
                Array out(reduction ? Sizes{} : Sizes{ 3, 5 }, d);
                x.random(1, -3, 3);
                y.random(2, 0, 1);
                w.random(3, 0.5, 2);
                pw.random(4, 0.5, 2);
                EXPECT_DONE(RUN_OP(BCEWithLogits,
                                   (out.desc(), x.desc(), y.desc(), weighted ? w.desc() : nullptr,
                                    weighted ? pw.desc() : nullptr, (infiniopReduction_t)reduction),
                                   (out.data(), x.data(), y.data(), w.data(), pw.data())));
                const auto one = [&](size_t i) {
                    const double p = 1 / (1 + std::exp(-x[i]));
                    const double l =
                        -((weighted ? pw[i % 5] : 1) * y[i] * std::log(p) + (1 - y[i]) * std::log(1 - p));
                    return l * (weighted ? w[i % 5] : 1);
                };
                double sum = 0;
                for (size_t i = 0; i < 15; i++) sum += one(i);
                expect_elements("BCE", out, [&](size_t i) {
                    return reduction == 0 ? one(i) : reduction == 1 ? sum / 15 : sum;
                });
            }
    Array x({ 3 }, INFINI_DTYPE_F32), w({ 2 }, INFINI_DTYPE_F32);
    EXPECT_INFINI(
        CREATE_OP(BCEWithLogits, x.desc(), x.desc(), x.desc(), w.desc(), nullptr, INFINIOP_REDUCTION_NONE),
        INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(
        CREATE_OP(BCEWithLogits, x.desc(), x.desc(), x.desc(), nullptr, nullptr, (infiniopReduction_t)9),
        INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(
        CREATE_OP(BCEWithLogits, x.desc(), x.desc(), x.desc(), nullptr, nullptr, INFINIOP_REDUCTION_SUM),
        INFINI_STATUS_BAD_TENSOR_SHAPE);
}

TEST(test_cdist_is_a_norm_of_differences)
{
    Handle handle;
    for (infiniDtype_t d : floats)
        for (double p : { 1.0, 2.0, 3.5, (double)INFINITY }) {
            Array y({ 2, 3, 4 }, d), a({ 2, 3, 5 }, d), b({ 2, 4, 5 }, d);
            a.random(1);
            b.random(2);
            EXPECT_DONE(RUN_OP(Cdist, (y.desc(), a.desc(), b.desc(), p), (y.data(), a.data(), b.data())));
            expect_elements("Cdist", y, [&](size_t i) {
                double sum = 0, most = 0;
                for (size_t k = 0; k < 5; k++) {
                    const double diff = std::fabs(a[i / 4 * 5 + k] - b[(i / 12 * 4 + i % 4) * 5 + k]);
                    sum += std::pow(diff, p);
                    most = std::fmax(most, diff);
                }
                return std::isinf(p) ? most : std::pow(sum, 1 / p);
            });
        }
    Array y({ 3, 4 }, INFINI_DTYPE_F32), a({ 3, 5 }, INFINI_DTYPE_F32), b({ 4, 6 }, INFINI_DTYPE_F32);
    EXPECT_INFINI(CREATE_OP(Cdist, y.desc(), a.desc(), b.desc(), 2.0), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Cdist, y.desc(), a.desc(), a.desc(), -1.0), INFINI_STATUS_BAD_PARAM);
}

/* Choices ------------------------------------------------------------------------------------------ */

/* As the original's own test has it. */
static size_t sample_of(const Array &x, double r, double topp, size_t topk, double temperature)
{
    const size_t n = x.count();
    std::vector<size_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return x[a] > x[b]; });
    if (r == 0 || topp <= 0 || topk <= 1 || temperature == 0) return order[0];
    const std::vector<double> p = softmax_of(n, [&](size_t i) { return x[order[i]] / temperature; });
    double mass = 0, sum = 0;
    for (size_t i = 0; i < std::min(topk, n); i++) mass += p[i];
    for (size_t i = 0; i < n; i++)
        if ((sum += p[i]) >= r * std::fmin(mass, topp)) return order[i];
    return order[n - 1];
}

TEST(test_random_sample_draws_what_the_definition_says)
{
    Handle handle;
    const struct { size_t n; float r, topp; int topk; float temperature; } cases[] = {
        { 512, 0.8f, 0.8f, 3, 0.5f }, { 4096, 0.05f, 0.9f, 5, 1.0f }, { 1000, 0.15f, 0.85f, 10, 2.0f },
        { 512, 0.08f, 0.0f, 3, 0.5f }, { 512, 0.5f, 0.9f, 1, 1.0f }, { 300, 0.9f, 1.0f, 25, 1.0f },
        { 300, 0.7f, 0.3f, 500, 0.7f }, { 64, 0.0f, 0.9f, 9, 1.0f }, { 64, 0.5f, 0.9f, 9, 0.0f },
    };
    for (infiniDtype_t d : floats)
        for (infiniDtype_t rd : { INFINI_DTYPE_I64, INFINI_DTYPE_U64, INFINI_DTYPE_I32 })
            for (const auto &c : cases) {
                Array result({}, rd), x({ c.n }, d);
                x.random(c.n, -6, 6);
                EXPECT_DONE(RUN_OP(RandomSample, (result.desc(), x.desc()),
                                   (result.data(), x.data(), c.r, c.topp, c.topk, c.temperature)));
                const size_t want = sample_of(x, c.r, c.topp, (size_t)c.topk, c.temperature);
                EXPECT_MSG(result[0] == (double)want || x[(size_t)result[0]] == x[want], "%g, not %zu",
                           result[0], want);
            }
    Array result({}, INFINI_DTYPE_I64), x({ 4 }, INFINI_DTYPE_F32), f({}, INFINI_DTYPE_F32),
        empty({ 0 }, INFINI_DTYPE_F32);
    EXPECT_INFINI(
        RUN_OP(RandomSample, (result.desc(), x.desc()), (result.data(), x.data(), 1.5f, 0.9f, 3, 1.0f)),
        INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(
        RUN_OP(RandomSample, (result.desc(), x.desc()), (result.data(), x.data(), 0.5f, 0.9f, 3, -1.0f)),
        INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(CREATE_OP(RandomSample, f.desc(), x.desc()), INFINI_STATUS_BAD_TENSOR_DTYPE);
    EXPECT_INFINI(CREATE_OP(RandomSample, result.desc(), empty.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
}

TEST(test_topksoftmax_gives_the_best_of_each_row)
{
    Handle handle;
    for (infiniDtype_t d : floats)
        for (int norm : { 0, 1 }) {
            const size_t n = 3, width = 20, topk = 4;
            Array x({ n, width }, d);
            std::vector<float> values(n * topk);
            std::vector<int32_t> indices(n * topk);
            for (size_t i = 0; i < n * width; i++) x.set(i, (double)((i * 37) % 101) / 16);
            EXPECT_DONE(
                RUN_OP(Topksoftmax, (x.desc()), (values.data(), indices.data(), x.data(), topk, norm)));
            for (size_t row = 0; row < n; row++) {
                const std::vector<double> p = softmax_of(width, [&](size_t i) { return x[row * width + i]; });
                std::vector<size_t> order(width);
                std::iota(order.begin(), order.end(), 0);
                std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] > p[b]; });
                double sum = 0;
                for (size_t k = 0; k < topk; k++) sum += p[order[k]];
                for (size_t k = 0; k < topk; k++) {
                    EXPECT(indices[row * topk + k] == (int32_t)order[k]);
                    EXPECT(is_near(values[row * topk + k], p[order[k]] / (norm ? sum : 1), 1e-5));
                }
            }
        }
    Array x({ 3, 5 }, INFINI_DTYPE_F32), flat({ 5 }, INFINI_DTYPE_F32);
    float values[15];
    int32_t indices[15];
    EXPECT_INFINI(RUN_OP(Topksoftmax, (x.desc()), (values, indices, x.data(), 6, 0)),
                  INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(RUN_OP(Topksoftmax, (x.desc()), (nullptr, indices, x.data(), 2, 0)),
                  INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(CREATE_OP(Topksoftmax, flat.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
}

TEST(test_topkrouter_chooses_groups_first)
{
    Handle handle;
    const size_t n = 2, width = 32, topk = 4, size = width / 8;
    Array x({ n, width }, INFINI_DTYPE_F32), bias({ width }, INFINI_DTYPE_F32);
    std::vector<float> values(n * topk);
    std::vector<int32_t> indices(n * topk);
    x.random(5, -3, 3);
    bias.random(6, 0, 1);
    EXPECT_DONE(RUN_OP(Topkrouter, (x.desc(), bias.desc()),
                       (values.data(), indices.data(), x.data(), bias.data(), 2.5f, topk)));
    for (size_t row = 0; row < n; row++) {
        std::vector<double> score(width), choice(width), group(8);
        for (size_t i = 0; i < width; i++) {
            score[i] = 1 / (1 + std::exp(-x[row * width + i]));
            choice[i] = score[i] + bias[i];
        }
        for (size_t g = 0; g < 8; g++) {
            std::vector<double> of(choice.begin() + (long)(g * size),
                                   choice.begin() + (long)((g + 1) * size));
            std::sort(of.rbegin(), of.rend());
            group[g] = of[0] + of[1];
        }
        std::vector<double> sorted = group;
        std::sort(sorted.rbegin(), sorted.rend());
        for (size_t i = 0; i < width; i++)
            if (group[i / size] < sorted[3]) choice[i] = 0;
        std::vector<size_t> order(width);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](size_t a, size_t b) { return choice[a] > choice[b]; });
        double sum = 0;
        for (size_t k = 0; k < topk; k++) sum += score[order[k]];
        for (size_t k = 0; k < topk; k++) {
            EXPECT(indices[row * topk + k] == (int32_t)order[k]);
            EXPECT(is_near(values[row * topk + k], score[order[k]] / sum * 2.5, 1e-5));
        }
    }
    Array odd({ n, 30 }, INFINI_DTYPE_F32), odd_bias({ 30 }, INFINI_DTYPE_F32);
    EXPECT_INFINI(CREATE_OP(Topkrouter, odd.desc(), odd_bias.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Topkrouter, x.desc(), odd_bias.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Topkrouter, x.desc(), nullptr), INFINI_STATUS_NULL_POINTER);
}

TEST(test_histc_counts_what_is_in_range)
{
    Handle handle;
    const struct { double low, high; } ranges[] = { { -1, 1 }, { 0, 0 }, { 0.25, 0.25 } };
    for (infiniDtype_t d : floats)
        for (const auto &r : ranges) {
            Array y({ 6 }, INFINI_DTYPE_F32), x({ 10, 20 }, d, { 1, 10 });
            x.random(8, -2, 2);
            x.set(0, 1);
            x.set(1, NAN);
            if (r.low == 0) x.set(1, 0);
            double low = r.low, high = r.high;
            if (low == 0 && high == 0) {
                low = high = x[0];
                for (size_t i = 0; i < 200; i++) {
                    low = std::fmin(low, x[i]);
                    high = std::fmax(high, x[i]);
                }
            }
            if (low == high) {
                low -= 1;
                high += 1;
            }
            std::vector<double> want(6);
            for (size_t i = 0; i < 200; i++)
                if (x[i] >= low && x[i] <= high)
                    want[std::min((size_t)((x[i] - low) * 6 / (high - low)), (size_t)5)]++;
            EXPECT_DONE(RUN_OP(Histc, (y.desc(), x.desc(), 6, r.low, r.high), (y.data(), x.data())));
            expect_elements("Histc", y, [&](size_t i) { return want[i]; });
        }
    Array y({ 6 }, INFINI_DTYPE_F32), x({ 10 }, INFINI_DTYPE_F32);
    EXPECT_INFINI(CREATE_OP(Histc, y.desc(), x.desc(), 5, 0, 1), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Histc, y.desc(), x.desc(), 6, 2, 1), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(CREATE_OP(Histc, y.desc(), x.desc(), 0, 0, 1), INFINI_STATUS_BAD_PARAM);
}

/* Memory ------------------------------------------------------------------------------------------- */

struct Quota {
    int left;
};

static bool spend(void *quota, size_t) { return ((Quota *)quota)->left-- > 0; }

/* Runs with room for 0, 1, 2, ... allocations until it succeeds; each failure says so and leaks nothing. */
static void expect_survives_want_of_memory(const char *what, const std::function<infiniStatus_t()> &call)
{
    for (int room = 0; room < 200; room++) {
        Quota quota = { room };
        tsr_set_alloc_hook(spend, &quota);
        const infiniStatus_t s = call();
        tsr_set_alloc_hook(nullptr, nullptr);
        if (s == INFINI_STATUS_SUCCESS) return;
        EXPECT_MSG(s == INFINI_STATUS_INTERNAL_ERROR, "%s with room for %d: %d", what, room, (int)s);
    }
    EXPECT_MSG(false, "%s never succeeds", what);
}

TEST(test_want_of_memory_is_an_internal_error_and_no_leak)
{
    Handle handle;
    const infiniDtype_t d = INFINI_DTYPE_F16;
    Array y({ 4, 32 }, d), x({ 4, 32 }, d), r({}, INFINI_DTYPE_I64), v({ 64 }, d),
        bias({ 32 }, INFINI_DTYPE_F32);
    Array odd({ 4, 32 }, d, {}, 1), counts({ 5 }, INFINI_DTYPE_F32), q({ 4, 32 }, INFINI_DTYPE_I8);
    Array scale({ 4 }, INFINI_DTYPE_F32), zero({ 4 }, INFINI_DTYPE_F32);
    float values[16];
    int32_t indices[16];
    x.random(1);
    v.random(2);
    expect_survives_want_of_memory("Erfinv", [&] {
        return RUN_OP(Erfinv, (y.desc(), x.desc()), (y.data(), x.data()));
    });
    expect_survives_want_of_memory("odd", [&] {
        return RUN_OP(Silu, (odd.desc(), x.desc()), (odd.data(), x.data()));
    });
    expect_survives_want_of_memory("LPNorm", [&] {
        return RUN_OP(LPNorm, (y.desc(), x.desc(), 1, 2, 1e-6f), (y.data(), x.data()));
    });
    expect_survives_want_of_memory("RandomSample", [&] {
        return RUN_OP(RandomSample, (r.desc(), v.desc()), (r.data(), v.data(), 0.5f, 0.9f, 5, 1.0f));
    });
    expect_survives_want_of_memory("Topkrouter", [&] {
        return RUN_OP(Topkrouter, (x.desc(), bias.desc()), (values, indices, x.data(), bias.data(), 1.0f, 4));
    });
    expect_survives_want_of_memory("Histc", [&] {
        return RUN_OP(Histc, (counts.desc(), x.desc(), 5, -1, 1), (counts.data(), x.data()));
    });
    expect_survives_want_of_memory("PerChannelQuantI8", [&] {
        return RUN_OP(PerChannelQuantI8, (q.desc(), scale.desc(), zero.desc(), x.desc()),
                      (q.data(), scale.data(), zero.data(), x.data()));
    });
}
