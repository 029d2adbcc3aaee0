/* test_infiniop_marlin.cpp - weights of 4 and 8 bits in the kernels' layouts, against matrices that the tests
 * lay out themselves. */
#include "infiniop_test.h"

#include <algorithm>

using Numbers = std::vector<int>;

/* The permutation of 1024 weights as the layout's authors list it: lane by lane. */
static Numbers weight_order(int bits, bool bytes)
{
    Numbers order, mixed;
    for (int lane = 0; lane < 32; lane++) {
        Numbers one;
        for (int half = 0; half < 2; half++)
            for (int part = 0; part < 2; part++)
                for (int i = 0; i < (bytes ? 4 : 2); i++)
                    one.push_back(16 * ((bytes ? 4 : 2) * (lane % 4 + 4 * part) + i) + lane / 4 + 8 * half);
        for (int tile = 0; tile < (bytes ? 2 : 4); tile++)
            for (int p : one) order.push_back(p + (bytes ? 512 : 256) * tile);
    }
    const Numbers within =
        bits == 4 ? (bytes ? Numbers{ 0, 4, 1, 5, 2, 6, 3, 7 } : Numbers{ 0, 2, 4, 6, 1, 3, 5, 7 })
                  : (bytes ? Numbers{ 0, 1, 2, 3 } : Numbers{ 0, 2, 1, 3 });
    for (size_t i = 0; i < order.size(); i += within.size())
        for (int w : within) mixed.push_back(order[i + (size_t)w]);
    return mixed;
}

/* Consecutive fields make words, the first in the lowest bits. */
static void pack(Array &words, const Numbers &fields, int bits)
{
    const size_t per_word = (size_t)(32 / bits);
    words.fill([&](size_t i) {
        uint32_t word = 0;
        for (size_t j = 0; j < per_word; j++) word |= (uint32_t)fields[i * per_word + j] << (bits * (int)j);
        return (double)(int32_t)word;
    });
}

/* q (k, n) by tiles, each 1024 permuted. */
static Numbers in_tiles(const Numbers &q, size_t k, size_t n, int bits, bool bytes)
{
    const size_t rows = bytes ? 32 : 16;
    Numbers tiled, out;
    for (size_t r = 0; r < k; r += rows)
        for (size_t c = 0; c < n; c += 16)
            for (size_t i = 0; i < rows * 16; i++) tiled.push_back(q[(r + i / 16) * n + c + i % 16]);
    const Numbers order = weight_order(bits, bytes);
    for (size_t i = 0; i < tiled.size(); i += 1024)
        for (int p : order) out.push_back(tiled[i + (size_t)p]);
    return out;
}

static Numbers random_fields(size_t n, int bits, uint64_t seed)
{
    Numbers q(n);
    for (int &x : q) x = (int)(test_next(&seed) % (1u << bits));
    return q;
}

TEST(test_weights_are_repacked_for_marlin)
{
    Handle handle;
    const size_t k = 64, n = 128;
    for (int bits : { 4, 8 })
        for (bool bytes : { false, true }) {
            const size_t per_word = (size_t)(32 / bits);
            const Numbers q = random_fields(k * n, bits, 1);
            Array want({ k / 16, n * 16 / per_word }, INFINI_DTYPE_I32),
                got({ k / 16, n * 16 / per_word }, INFINI_DTYPE_I32),
                awq({ k, n / per_word }, INFINI_DTYPE_I32), gptq({ k / per_word, n }, INFINI_DTYPE_I32),
                perm({ k }, INFINI_DTYPE_I32), none({ 0 }, INFINI_DTYPE_I32);
            pack(want, in_tiles(q, k, n, bits, bytes), bits);
            const Numbers within = bits == 4 ? Numbers{ 0, 2, 4, 6, 1, 3, 5, 7 } : Numbers{ 0, 2, 1, 3 };
            Numbers mixed, by_rows, sorted;
            for (size_t i = 0; i < k * n; i += per_word)
                for (int w : within) mixed.push_back(q[i + (size_t)w]);
            pack(awq, mixed, bits);
            EXPECT_DONE(
                RUN_OP(AwqMarlinRepack, (got.desc(), awq.desc(), bits, bytes), (got.data(), awq.data())));
            expect_elements("awq", got, [&](size_t i) { return want[i]; });
            for (size_t i = 0; i < k * n; i++)
                by_rows.push_back(q[(i / (n * per_word) * per_word + i % per_word) * n + i / per_word % n]);
            pack(gptq, by_rows, bits);
            EXPECT_DONE(RUN_OP(GptqMarlinRepack, (got.desc(), gptq.desc(), none.desc(), bits, bytes),
                               (got.data(), gptq.data(), nullptr)));
            expect_elements("gptq", got, [&](size_t i) { return want[i]; });
            perm.fill([&](size_t i) { return (double)((i * 13 + 5) % k); });
            for (size_t i = 0; i < k * n; i++) sorted.push_back(q[(size_t)perm[i / n] * n + i % n]);
            pack(want, in_tiles(sorted, k, n, bits, bytes), bits);
            EXPECT_DONE(RUN_OP(GptqMarlinRepack, (got.desc(), gptq.desc(), perm.desc(), bits, bytes),
                               (got.data(), gptq.data(), perm.data())));
            expect_elements("sorted", got, [&](size_t i) { return want[i]; });
            perm.set(3, (double)k);
            EXPECT_INFINI(RUN_OP(GptqMarlinRepack, (got.desc(), gptq.desc(), perm.desc(), bits, bytes),
                                 (got.data(), gptq.data(), perm.data())),
                          INFINI_STATUS_BAD_PARAM);
            EXPECT_INFINI(CREATE_OP(AwqMarlinRepack, awq.desc(), awq.desc(), bits, bytes),
                          INFINI_STATUS_BAD_TENSOR_SHAPE);
            EXPECT_INFINI(CREATE_OP(AwqMarlinRepack, got.desc(), awq.desc(), 3, bytes),
                          INFINI_STATUS_BAD_PARAM);
        }
}

/* Products ------------------------------------------------------------------------------------- */

enum { M = 3, K = 64, N = 64 };

/* A matrix of weights: its fields, scales and zero points, and what they stand for. */
struct Weights {
    int     bits;
    size_t  groups;
    bool    has_zeros;
    Numbers q, zero, group; /* group of each row */
    std::vector<double> scale;

    Weights(int b, size_t g, bool zeros)
        : bits(b), groups(g), has_zeros(zeros), q(random_fields(K * N, b, 1)),
          zero(random_fields(g * N, b, 2))
    {
        for (size_t i = 0; i < g * N; i++) scale.push_back(0.01 * (double)(i % 17 + 1));
        for (size_t i = 0; i < K; i++) group.push_back((int)(i / (K / g)));
        if (!zeros) std::fill(zero.begin(), zero.end(), 1 << (b - 1));
    }
    double operator()(size_t k, size_t n) const
    {
        const size_t at = (size_t)group[k] * N + n;
        return (q[k * N + n] - zero[at]) * scale[at];
    }
    int64_t kind() const { return (int64_t)bits << 8 | (has_zeros ? 0 : (int64_t)1 << (bits - 1)) << 17; }
};

/* Column i of what is stored is this column of the matrix, within 64 and within 32. */
static size_t column_64(size_t i) { return i / 64 * 64 + i % 64 / 8 + i % 8 * 8; }
static size_t column_32(size_t i)
{
    const size_t pairs[8] = { 0, 1, 8, 9, 16, 17, 24, 25 };
    return i / 32 * 32 + i % 32 / 8 * 2 + pairs[i % 8];
}

static void store_zeros(Array &words, const Weights &w)
{
    const Numbers within = w.bits == 4 ? Numbers{ 0, 2, 4, 6, 1, 3, 5, 7 } : Numbers{ 0, 2, 1, 3 };
    Numbers mixed;
    for (size_t i = 0; i < w.zero.size(); i += within.size())
        for (int p : within) mixed.push_back(w.zero[column_64(i + (size_t)p)]);
    pack(words, mixed, w.bits);
}

TEST(test_products_with_weights_in_marlins_layout)
{
    Handle handle;
    for (infiniDtype_t d : { INFINI_DTYPE_F16, INFINI_DTYPE_BF16 })
        for (int bits : { 4, 8 })
            for (size_t groups : { (size_t)1, (size_t)4 })
                for (bool zeros : { false, true }) {
                    const Weights w(bits, groups, zeros);
                    const size_t per_word = (size_t)(32 / bits);
                    Array a({ M, K }, d, { 3 * K, 2 }), y({ M, N }, d),
                        b({ K / 16, N * 16 / per_word }, INFINI_DTYPE_I32), scales({ groups, N }, d),
                        z({ groups, N / per_word }, INFINI_DTYPE_I32), bias({ N }, d),
                        none({ 0 }, INFINI_DTYPE_I32);
                    a.random(3);
                    bias.random(4);
                    pack(b, in_tiles(w.q, K, N, bits, false), bits);
                    scales.fill([&](size_t i) { return w.scale[groups > 1 ? column_64(i) : column_32(i)]; });
                    store_zeros(z, w);
                    Weights rounded = w; /* scales as the dtype holds them */
                    for (size_t i = 0; i < groups * N; i++)
                        rounded.scale[groups > 1 ? column_64(i) : column_32(i)] = scales[i];
                    const auto product = [&](size_t at) {
                        double sum = 0;
                        for (size_t k = 0; k < K; k++) sum += a[at / N * K + k] * rounded(k, at % N);
                        return sum;
                    };
                    EXPECT_DONE(RUN_OP(GptqMarlinGemm,
                                       (y.desc(), a.desc(), b.desc(), scales.desc(), nullptr,
                                        zeros ? z.desc() : nullptr, nullptr, nullptr),
                                       (y.data(), a.data(), b.data(), scales.data(), nullptr, z.data(),
                                        nullptr, nullptr, w.kind(), true, false, false, false)));
                    expect_elements("product", y, product);
                    EXPECT_DONE(
                        RUN_OP(AwqMarlinGemm,
                               (y.desc(), a.desc(), b.desc(), bias.desc(), scales.desc(), nullptr, nullptr,
                                zeros ? z.desc() : none.desc(), none.desc(), none.desc()),
                               (y.data(), a.data(), b.data(), bias.data(), scales.data(), nullptr, nullptr,
                                z.data(), nullptr, nullptr, w.kind(), true, false, true, false)));
                    /* the bias is stored as scales of one group are */
                    expect_elements("with bias", y, [&](size_t at) {
                        size_t i = 0;
                        while (column_32(i) != at % N) i++;
                        return product(at) + bias[i];
                    });
                }
}

TEST(test_rows_sorted_by_group_take_columns_of_a)
{
    Handle handle;
    Weights w(4, 4, false);
    Array a({ M, K }, INFINI_DTYPE_F32), y({ M, N }, INFINI_DTYPE_F32),
        b({ K / 16, N * 2 }, INFINI_DTYPE_I32), scales({ 4, N }, INFINI_DTYPE_F32),
        index({ K }, INFINI_DTYPE_I32), perm({ K }, INFINI_DTYPE_I32);
    a.random(3);
    pack(b, in_tiles(w.q, K, N, 4, false), 4);
    scales.fill([&](size_t i) { return w.scale[column_64(i)]; });
    perm.fill([](size_t i) { return (double)((i * 29 + 7) % K); });
    for (size_t k = 0; k < K; k++) w.group[k] = (int)(k * k % 4);
    index.fill([&](size_t k) { return w.group[k]; });
    const auto run = [&](int64_t kind, bool float_zeros) {
        return RUN_OP(GptqMarlinGemm,
                      (y.desc(), a.desc(), b.desc(), scales.desc(), nullptr, nullptr, index.desc(),
                       perm.desc()),
                      (y.data(), a.data(), b.data(), scales.data(), nullptr, nullptr, index.data(),
                       perm.data(), kind, true, false, false, float_zeros));
    };
    EXPECT_DONE(run(w.kind(), false));
    expect_elements("sorted", y, [&](size_t at) {
        double sum = 0;
        for (size_t k = 0; k < K; k++) sum += a[at / N * K + (size_t)perm[k]] * w(k, at % N);
        return sum;
    }, 8);
    EXPECT_INFINI(run(w.kind(), true), INFINI_STATUS_NOT_IMPLEMENTED);
    EXPECT_INFINI(run(4 << 8, false), INFINI_STATUS_BAD_PARAM);            /* zero points are wanted */
    EXPECT_INFINI(run(8 << 8 | 128 << 17, false), INFINI_STATUS_BAD_PARAM); /* other bits */
    EXPECT_INFINI(run(w.kind() | 2, false), INFINI_STATUS_NOT_IMPLEMENTED); /* a float */
    index.set(5, 4);
    EXPECT_INFINI(run(w.kind(), false), INFINI_STATUS_BAD_PARAM);
#define GEMM(a, b, scales, global, index, perm) \
    CREATE_OP(GptqMarlinGemm, y.desc(), a.desc(), b.desc(), scales.desc(), global, nullptr, index, perm)
    EXPECT_INFINI(GEMM(a, b, scales, scales.desc(), nullptr, nullptr), INFINI_STATUS_NOT_IMPLEMENTED);
    EXPECT_INFINI(GEMM(a, b, scales, nullptr, index.desc(), nullptr), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(GEMM(y, perm, scales, nullptr, nullptr, nullptr), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(GEMM(a, a, scales, nullptr, nullptr, nullptr), INFINI_STATUS_BAD_TENSOR_DTYPE);
    EXPECT_INFINI(GEMM(a, b, perm, nullptr, nullptr, nullptr), INFINI_STATUS_BAD_TENSOR_DTYPE);
#undef GEMM
}

/* Groups and squares --------------------------------------------------------------------------- */

#define QYBLAS(b, scales, zeros, type, bits) \
    RUN_OP(GptqQyblasGemm, (y.desc(), a.desc(), b.desc(), scales.desc(), zeros.desc()), \
           (y.data(), a.data(), b.data(), scales.data(), zeros.data(), type, bits))

TEST(test_products_with_weights_in_groups)
{
    Handle handle;
    const size_t m = 2, k = 8, n = 6, groups = 2;
    Array a({ m, k }, INFINI_DTYPE_F16), y({ m, n }, INFINI_DTYPE_F16), b({ k, n }, INFINI_DTYPE_U8),
        half({ k / 2, n }, INFINI_DTYPE_U8), scales({ groups, n }, INFINI_DTYPE_F16),
        zeros({ groups, n }, INFINI_DTYPE_F16), columns({ 1, n }, INFINI_DTYPE_F32);
    Array i8({ k, n }, INFINI_DTYPE_I8, { 1, (ptrdiff_t)k });
    a.random(1);
    uint64_t seed = 2;
    b.fill([&](size_t) { return (double)(test_next(&seed) % 256); });
    half.fill([&](size_t) { return (double)(test_next(&seed) % 256); });
    i8.fill([&](size_t) { return (double)(test_next(&seed) % 256) - 128; });
    scales.random(3, 0.01, 0.1);
    zeros.random(4, 0, 15);
    columns.random(5, 0.01, 0.1);
    const auto sum = [&](const std::function<double(size_t, size_t)> &w) {
        return [&, w](size_t at) {
            double s = 0;
            for (size_t i = 0; i < k; i++) s += a[at / n * k + i] * w(i, at % n);
            return s;
        };
    };
    const auto grouped = [&](double q, size_t r, size_t c) {
        const size_t g = r / (k / groups) * n + c;
        return (q - zeros[g]) * scales[g];
    };
    EXPECT_DONE(QYBLAS(b, scales, zeros, 0, 8));
    expect_elements("8 bits", y, sum([&](size_t r, size_t c) { return grouped(b[r * n + c], r, c); }));
    EXPECT_DONE(QYBLAS(half, scales, zeros, 0, 4));
    expect_elements("4 bits", y, sum([&](size_t r, size_t c) {
        const int byte = (int)half[(r * n + c) / 2];
        return grouped(c % 2 ? byte >> 4 : byte & 15, r, c);
    }));
    EXPECT_DONE(QYBLAS(i8, columns, zeros, 1, 8));
    expect_elements("columns", y, sum([&](size_t r, size_t c) { return i8[r * n + c] * columns[c]; }));
    EXPECT_INFINI(QYBLAS(b, scales, zeros, 0, 3), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(QYBLAS(b, scales, zeros, 4, 8), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(QYBLAS(half, scales, zeros, 0, 8), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(QYBLAS(b, columns, zeros, 0, 8), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(QYBLAS(i8, scales, zeros, 0, 8), INFINI_STATUS_BAD_TENSOR_DTYPE);
    EXPECT_INFINI(QYBLAS(b, scales, zeros, 2, 8), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(GptqQyblasGemm, y.desc(), a.desc(), a.desc(), scales.desc(), zeros.desc()),
                  INFINI_STATUS_BAD_TENSOR_DTYPE);
}

TEST(test_products_with_weights_in_squares)
{
    Handle handle;
    const size_t m = 2, k = 70, n = 40; /* squares of 32: two over n, three over k */
    Array a({ m, k }, INFINI_DTYPE_F32), y({ m, n }, INFINI_DTYPE_F32),
        b({ k, n }, INFINI_DTYPE_I8, { 1, (ptrdiff_t)k }), scales({ 2, 3 }, INFINI_DTYPE_F32),
        zeros({ 1, 1 }, INFINI_DTYPE_F32);
    a.random(1);
    uint64_t seed = 2;
    b.fill([&](size_t) { return (double)(test_next(&seed) % 256) - 128; });
    scales.random(3, 0.001, 0.01);
    EXPECT_DONE(QYBLAS(b, scales, zeros, 3, 8));
    expect_elements("squares", y, [&](size_t at) {
        double s = 0;
        for (size_t i = 0; i < k; i++)
            s += a[at / n * k + i] * b[i * n + at % n] * scales[at % n / 32 * 3 + i / 32];
        return s;
    }, 8);
}
