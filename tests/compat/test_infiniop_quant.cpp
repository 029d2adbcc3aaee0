/* test_infiniop_quant.cpp - quantised tensors, against their definitions. */
#include "infiniop_test.h"

static const infiniDtype_t floats[] = { INFINI_DTYPE_F16, INFINI_DTYPE_BF16, INFINI_DTYPE_F32 };

struct Range {
    double low, high;
};

static Range range_of(const Array &x, size_t from, size_t n)
{
    Range r = { x[from], x[from] };
    for (size_t i = from; i < from + n; i++) {
        r.low = std::fmin(r.low, x[i]);
        r.high = std::fmax(r.high, x[i]);
    }
    return r;
}

/* q within one of the exact quotient: a value in the middle may go either way. */
static bool is_rounded(double q, double exact) { return std::fabs(q - exact) <= 0.5 + 1e-3; }

TEST(test_per_channel_quantises_each_row)
{
    Handle handle;
    const size_t m = 4, k = 33;
    for (infiniDtype_t d : floats)
        for (bool symmetric : { true, false }) {
            Array q({ m, k }, INFINI_DTYPE_I8), scale({ m, 1 }, INFINI_DTYPE_F32),
                zero({ m, 1 }, INFINI_DTYPE_F32), x({ m, k }, d);
            x.random(1, -3, 5);
            EXPECT_DONE(RUN_OP(PerChannelQuantI8,
                               (q.desc(), scale.desc(), symmetric ? nullptr : zero.desc(), x.desc()),
                               (q.data(), scale.data(), zero.data(), x.data())));
            for (size_t row = 0; row < m; row++) {
                const Range r = range_of(x, row * k, k);
                const double s = symmetric ? std::fmax(-r.low, r.high) / 127 : (r.high - r.low) / 255;
                const double z = symmetric ? 0 : -r.low / s - 128;
                EXPECT(is_near(scale[row], s, 1e-6));
                if (!symmetric) EXPECT(is_near(zero[row], z, 1e-5));
                for (size_t i = row * k; i < (row + 1) * k; i++) EXPECT(is_rounded(q[i], x[i] / s + z));
            }
        }
    Array q({ m, k }, INFINI_DTYPE_I8), s({ k }, INFINI_DTYPE_F32), x({ m, k }, INFINI_DTYPE_F32);
    EXPECT_INFINI(CREATE_OP(PerChannelQuantI8, q.desc(), s.desc(), nullptr, x.desc()),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(PerChannelQuantI8, x.desc(), s.desc(), nullptr, x.desc()),
                  INFINI_STATUS_BAD_TENSOR_DTYPE);
}

TEST(test_per_tensor_quantises_and_comes_back)
{
    Handle handle;
    for (infiniDtype_t d : floats)
        for (bool symmetric : { true, false })
            for (bool is_static : { false, true }) {
                Array q({ 5, 7 }, INFINI_DTYPE_I8), scale({ 1 }, INFINI_DTYPE_F32),
                    zero({ 1 }, INFINI_DTYPE_F32), x({ 5, 7 }, d), back({ 5, 7 }, d);
                x.random(1, -3, 5);
                scale.set(0, 0.05);
                zero.set(0, -20.5);
                const Range r = range_of(x, 0, 35);
                double s = symmetric ? std::fmax(-r.low, r.high) / 127 : (r.high - r.low) / 255;
                double z = symmetric ? 0 : -r.low / s - 128;
                if (is_static) {
                    s = scale[0];
                    z = symmetric ? 0 : zero[0];
                }
                EXPECT_DONE(RUN_OP(PerTensorQuantI8,
                                   (q.desc(), scale.desc(), symmetric ? nullptr : zero.desc(), x.desc()),
                                   (q.data(), scale.data(), zero.data(), x.data(), is_static)));
                EXPECT(is_near(scale[0], s, 1e-6));
                for (size_t i = 0; i < 35; i++)
                    EXPECT(is_rounded(q[i], std::fmin(std::fmax(x[i] / s + z, -128), 127)));
                EXPECT_DONE(RUN_OP(PerTensorDequantI8,
                                   (back.desc(), q.desc(), scale.desc(), symmetric ? nullptr : zero.desc()),
                                   (back.data(), q.data(), scale.data(), zero.data())));
                expect_elements("back", back,
                                [&](size_t i) { return (q[i] - (symmetric ? 0 : zero[0])) * scale[0]; });
            }
    Array q({ 5 }, INFINI_DTYPE_I8), two({ 2 }, INFINI_DTYPE_F32), x({ 5 }, INFINI_DTYPE_F32);
    EXPECT_INFINI(CREATE_OP(PerTensorQuantI8, q.desc(), two.desc(), nullptr, x.desc()),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(PerTensorDequantI8, x.desc(), q.desc(), two.desc(), nullptr),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(PerTensorDequantI8, x.desc(), x.desc(), two.desc(), nullptr),
                  INFINI_STATUS_BAD_TENSOR_DTYPE);
}

static void fill_with_bits(Array &words, uint64_t seed)
{
    words.fill([&](size_t) { return (double)(int32_t)(uint32_t)test_next(&seed); });
}

static int nibble(double word, int which) { return (int)((uint32_t)(int32_t)word >> (4 * which) & 15); }

TEST(test_awq_weights_come_out_in_order)
{
    Handle handle;
    const int order[8] = { 0, 4, 1, 5, 2, 6, 3, 7 };
    const size_t rows = 8, words = 3, groups = 2;
    Array out({ rows, words * 8 }, INFINI_DTYPE_F16), q({ rows, words }, INFINI_DTYPE_I32),
        scales({ groups, words * 8 }, INFINI_DTYPE_F16);
    Array zeros({ groups, words }, INFINI_DTYPE_I32);
    fill_with_bits(q, 1);
    fill_with_bits(zeros, 2);
    scales.random(3, 0.01, 0.5);
    EXPECT_DONE(RUN_OP(DequantizeAWQ, (out.desc(), q.desc(), scales.desc(), zeros.desc()),
                       (out.data(), q.data(), scales.data(), zeros.data())));
    expect_elements("AWQ", out, [&](size_t i) {
        const size_t row = i / (words * 8), col = i % (words * 8), g = row / (rows / groups);
        const int value = nibble(q[row * words + col / 8], order[col % 8]),
                  zero = nibble(zeros[g * words + col / 8], order[col % 8]);
        return (value - zero) * scales[g * words * 8 + col];
    });
    Array three({ 3, words * 8 }, INFINI_DTYPE_F16);
    EXPECT_INFINI(CREATE_OP(DequantizeAWQ, out.desc(), q.desc(), three.desc(), zeros.desc()),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(DequantizeAWQ, out.desc(), scales.desc(), scales.desc(), zeros.desc()),
                  INFINI_STATUS_BAD_TENSOR_DTYPE);
}

TEST(test_gptq_weights_take_their_group_from_the_index)
{
    Handle handle;
    const size_t rows = 13, cols = 11, groups = 3, in_words = 2, out_words = 2;
    Array out({ rows, cols }, INFINI_DTYPE_F16), q({ in_words, cols }, INFINI_DTYPE_I32),
        scales({ groups, cols }, INFINI_DTYPE_F16);
    Array zeros({ groups, out_words }, INFINI_DTYPE_I32), index({ rows }, INFINI_DTYPE_I32);
    fill_with_bits(q, 1);
    fill_with_bits(zeros, 2);
    scales.random(3, 0.01, 0.5);
    index.fill([](size_t i) { return (double)i - 4; });
    EXPECT_DONE(RUN_OP(DequantizeGPTQ, (out.desc(), q.desc(), scales.desc(), zeros.desc(), index.desc()),
                       (out.data(), q.data(), scales.data(), zeros.data(), index.data())));
    expect_elements("GPTQ", out, [&](size_t i) {
        const size_t row = i / cols, col = i % cols, g = (size_t)(((int)index[row] % 3 + 3) % 3);
        const int value = nibble(q[row / 8 * cols + col], (int)(row % 8)),
                  zero = nibble(zeros[g * out_words + col / 8], (int)(col % 8));
        return (value - zero - 1) * scales[g * cols + col];
    });
    EXPECT_INFINI(CREATE_OP(DequantizeGPTQ, out.desc(), q.desc(), scales.desc(), zeros.desc(), scales.desc()),
                  INFINI_STATUS_BAD_TENSOR_DTYPE);
}

TEST(test_mxfp4_numbers_are_small_floats_times_powers_of_two)
{
    Handle handle;
    const double values[16] = { 0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6 };
    for (infiniDtype_t d : floats) {
        Array out({ 3, 64 }, d), packed({ 3, 32 }, INFINI_DTYPE_U8), scales({ 3, 2 }, INFINI_DTYPE_U8);
        uint64_t seed = 5;
        packed.fill([&](size_t) { return (double)(test_next(&seed) & 255); });
        scales.fill([](size_t i) { return 122 + (double)i; });
        EXPECT_DONE(RUN_OP(Mxfp4Dequantize, (out.desc(), packed.desc(), scales.desc()),
                           (out.data(), packed.data(), scales.data())));
        expect_elements("Mxfp4", out, [&](size_t i) {
            const int byte = (int)packed[i / 2];
            return values[i % 2 ? byte >> 4 : byte & 15] * std::pow(2, scales[i / 32] - 127);
        });
    }
    Array out({ 3, 32 }, INFINI_DTYPE_F32), packed({ 3, 32 }, INFINI_DTYPE_U8),
        scales({ 3, 2 }, INFINI_DTYPE_U8);
    EXPECT_INFINI(CREATE_OP(Mxfp4Dequantize, out.desc(), packed.desc(), scales.desc()),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
}

TEST(test_gates_of_a_delta_net)
{
    Handle handle;
    for (infiniDtype_t d : floats) {
        Array g({ 2, 3, 5 }, INFINI_DTYPE_F32), beta({ 2, 3, 5 }, INFINI_DTYPE_F32), a_log({ 5 }, d),
            a({ 2, 3, 5 }, d), b({ 2, 3, 5 }, d), bias({ 5 }, d);
        a_log.random(1);
        a.random(2, -3, 3);
        b.random(3);
        bias.random(4);
        EXPECT_DONE(RUN_OP(FusedGatedDeltaNetGating,
                           (g.desc(), beta.desc(), a_log.desc(), a.desc(), b.desc(), bias.desc(), 1.5f, 2.0f),
                           (g.data(), beta.data(), a_log.data(), a.data(), b.data(), bias.data())));
        expect_elements("g", g, [&](size_t i) {
            const double x = a[i] + bias[i % 5];
            return -std::exp(a_log[i % 5]) * (1.5 * x > 2 ? x : std::log1p(std::exp(1.5 * x)) / 1.5);
        }, 2);
        expect_elements("beta", beta, [&](size_t i) { return 1 / (1 + std::exp(-b[i])); });
    }
    Array g({ 2, 5 }, INFINI_DTYPE_F32), four({ 4 }, INFINI_DTYPE_F32), five({ 5 }, INFINI_DTYPE_F32);
    EXPECT_INFINI(CREATE_OP(FusedGatedDeltaNetGating, g.desc(), g.desc(), four.desc(), g.desc(), g.desc(),
                            five.desc(), 1, 20),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
}

/* What is not implemented says so, and makes nothing. */
