/* test_infiniop_fp8.cpp - 8-bit floats with scales, against a decoder of the test's own. */
#include "infiniop_test.h"

#include <algorithm>

/* A sign, four bits of exponent (bias 7), three of fraction; no infinities. */
static double decoded(int code)
{
    const int exponent = code >> 3 & 15, fraction = code & 7;
    const double size = exponent ? std::ldexp(8 + fraction, exponent - 10) : std::ldexp(fraction, -9);
    return code & 128 ? -size : size;
}

/* The nearest code, of two the even one. */
static int nearest(double x)
{
    int best = 0;
    for (int code = 0; code < 127; code++) {
        const double now = std::fabs(decoded(code) - std::fabs(x)),
                     then = std::fabs(decoded(best) - std::fabs(x));
        if (now < then || (now == then && code % 2 == 0)) best = code;
    }
    return std::signbit(x) ? best | 128 : best;
}

static double power_scale(double largest)
{
    return std::exp2(std::ceil(std::log2(std::fmax(largest, 1e-4) / 448)));
}

static double largest_of(const std::vector<double> &x, size_t from, size_t n)
{
    double most = 0;
    for (size_t i = from; i < from + n; i++) most = std::fmax(most, std::fabs(x[i]));
    return most;
}

static double float_of(const Array &bytes, size_t at)
{
    uint8_t raw[4];
    float x;
    for (size_t i = 0; i < 4; i++) raw[i] = (uint8_t)bytes[at + i];
    memcpy(&x, raw, 4);
    return x;
}

static void set_float(Array &bytes, size_t at, float x)
{
    uint8_t raw[4];
    memcpy(raw, &x, 4);
    for (size_t i = 0; i < 4; i++) bytes.set(at + i, raw[i]);
}

/* Groups without a workspace. */
#define RUN_DIRECT(Name, create_arguments, run_arguments) \
    ([&]() -> infiniStatus_t { \
        infiniop##Name##Descriptor_t op_ = nullptr; \
        infiniStatus_t s_ = infiniopCreate##Name##Descriptor(handle, &op_, STRIP_ create_arguments); \
        if (s_ != INFINI_STATUS_SUCCESS) return s_; \
        s_ = infiniop##Name(op_, STRIP_ run_arguments, nullptr); \
        const infiniStatus_t d_ = infiniopDestroy##Name##Descriptor(op_); \
        return s_ != INFINI_STATUS_SUCCESS ? s_ : d_; \
    }())

TEST(test_queries_get_scales_that_are_powers_of_two)
{
    Handle handle;
    const size_t n = 2, heads = 3, d = 9;
    for (infiniDtype_t dtype : { INFINI_DTYPE_F16, INFINI_DTYPE_BF16 }) {
        Array q({ n, heads, d }, dtype, { 100, 30, 2 }), weights({ n, heads }, dtype),
            codes({ n, heads, d }, INFINI_DTYPE_F8), out({ n, heads }, INFINI_DTYPE_F32);
        q.random(1, -5, 5);
        for (size_t i = 0; i < d; i++) q.set(i, 0); /* a row of zeros */
        weights.random(2);
        EXPECT_DONE(RUN_DIRECT(Fp8IndexerQuant, (codes.desc(), out.desc(), q.desc(), weights.desc()),
                               (codes.data(), out.data(), q.data(), weights.data())));
        for (size_t row = 0; row < n * heads; row++) {
            double most = 0;
            for (size_t i = 0; i < d; i++) most = std::fmax(most, std::fabs(q[row * d + i]));
            const double scale = power_scale(most);
            EXPECT(is_near(out[row], weights[row] * scale, 1e-6));
            for (size_t i = row * d; i < (row + 1) * d; i++) EXPECT((int)codes[i] == nearest(q[i] / scale));
        }
        EXPECT_INFINI(CREATE_OP(Fp8IndexerQuant, q.desc(), out.desc(), q.desc(), weights.desc()),
                      INFINI_STATUS_BAD_TENSOR_DTYPE);
        EXPECT_INFINI(CREATE_OP(Fp8IndexerQuant, codes.desc(), out.desc(), q.desc(), q.desc()),
                      INFINI_STATUS_BAD_TENSOR_SHAPE);
    }
}

/* x (d) with its first `dims` rotated in pairs by the angles at row p. */
static void rotate_pairs(std::vector<double> &x, const Array &angles, size_t p, size_t dims)
{
    for (size_t i = 0; i < dims; i += 2) {
        const double a = x[i], b = x[i + 1], c = angles[p * dims + i / 2],
                     s = angles[p * dims + dims / 2 + i / 2];
        x[i] = a * c - b * s;
        x[i + 1] = b * c + a * s;
    }
}

/* codes[from...] with this scale are x, as near as 8 bits allow. */
static void expect_codes(const char *what, const Array &codes, size_t from, const std::vector<double> &x,
                         double scale)
{
    for (size_t i = 0; i < x.size(); i++)
        EXPECT_MSG(std::fabs(decoded((int)codes[from + i]) * scale - x[i]) <=
                       std::fabs(x[i]) / 15.9 + scale * 0.00098,
                   "%s %zu: %g of %g", what, i, decoded((int)codes[from + i]) * scale, x[i]);
}

TEST(test_the_indexer_rotates_queries_and_keys)
{
    Handle handle;
    const size_t n = 3, heads = 2, d = 8, dims = 4, size = 4;
    Array q({ n, heads, d }, INFINI_DTYPE_F32), both({ n, d + heads }, INFINI_DTYPE_F32),
        norm({ d }, INFINI_DTYPE_F32), bias({ d }, INFINI_DTYPE_F32), positions({ n }, INFINI_DTYPE_I64),
        angles({ 5, dims }, INFINI_DTYPE_F32), slots({ n }, INFINI_DTYPE_I64),
        codes({ n, heads, d }, INFINI_DTYPE_F8), weights({ n, heads }, INFINI_DTYPE_F32),
        cache({ 2, size, d + 4 }, INFINI_DTYPE_U8);
    q.random(1, -3, 3);
    both.random(2, -3, 3);
    norm.random(3, 0.5, 1.5);
    bias.random(4);
    angles.random(5);
    const double p[3] = { 4, 9, 2 },
                 s[3] = { 6, 1, -1 }; /* a position outside the table counts as the first */
    positions.fill([&](size_t i) { return p[i]; });
    slots.fill([&](size_t i) { return s[i]; });
    cache.fill([](size_t) { return 77; });
    EXPECT_DONE(RUN_DIRECT(FusedFp8Indexer,
                           (codes.desc(), weights.desc(), cache.desc(), q.desc(), both.desc(), norm.desc(),
                            bias.desc(), positions.desc(), angles.desc(), slots.desc(), dims, 1e-5, 0.25),
                           (codes.data(), weights.data(), cache.data(), q.data(), both.data(), norm.data(),
                            bias.data(), positions.data(), angles.data(), slots.data())));
    for (size_t t = 0; t < n; t++) {
        const size_t at = p[t] > 4 ? 0 : (size_t)p[t];
        for (size_t h = 0; h < heads; h++) {
            std::vector<double> x;
            for (size_t i = 0; i < d; i++) x.push_back(q[(t * heads + h) * d + i]);
            rotate_pairs(x, angles, at, dims);
            const double scale = power_scale(largest_of(x, 0, d));
            EXPECT(is_near(weights[t * heads + h], both[t * (d + heads) + d + h] * 0.25 * scale, 1e-6));
            expect_codes("query", codes, (t * heads + h) * d, x, scale);
        }
        if (s[t] < 0) continue;
        std::vector<double> x;
        double mean = 0, square = 0;
        for (size_t i = 0; i < d; i++) x.push_back(both[t * (d + heads) + i]);
        for (double e : x) mean += e / (double)d;
        for (double e : x) square += (e - mean) * (e - mean) / (double)d;
        for (size_t i = 0; i < d; i++) x[i] = (x[i] - mean) / std::sqrt(square + 1e-5) * norm[i] + bias[i];
        rotate_pairs(x, angles, at, dims);
        const size_t block = (size_t)s[t] / size * size * (d + 4), row = (size_t)s[t] % size;
        const double scale = power_scale(largest_of(x, 0, d));
        EXPECT(float_of(cache, block + size * d + row * 4) == scale);
        expect_codes("key", cache, block + row * d, x, scale);
    }
    size_t untouched = 0;
    for (size_t i = 0; i < cache.count(); i++) untouched += cache[i] == 77;
    EXPECT(untouched >= cache.count() - 2 * (d + 4));
    EXPECT_INFINI(CREATE_OP(FusedFp8Indexer, codes.desc(), weights.desc(), cache.desc(), q.desc(),
                            both.desc(), norm.desc(), bias.desc(), positions.desc(), angles.desc(),
                            slots.desc(), 3, 1e-5, 0.25),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(FusedFp8Indexer, codes.desc(), weights.desc(), cache.desc(), q.desc(),
                            both.desc(), norm.desc(), bias.desc(), positions.desc(), angles.desc(),
                            slots.desc(), dims, 0, 0.25),
                  INFINI_STATUS_BAD_PARAM);
}

static void fill_codes(Array &a, uint64_t seed)
{
    a.fill(
        [&](size_t) { return (double)(test_next(&seed) % 2 * 128 + test_next(&seed) % 100); }); /* no NaN */
}

TEST(test_logits_of_the_indexer)
{
    Handle handle;
    const size_t n = 4, heads = 2, d = 6, size = 4, length = 11;
    Array q({ n, heads, d }, INFINI_DTYPE_F8), cache({ 5, size, d + 4 }, INFINI_DTYPE_U8),
        tables({ 2, 3 }, INFINI_DTYPE_I32), weights({ n, heads }, INFINI_DTYPE_F32),
        positions({ n }, INFINI_DTYPE_I64), owners({ n }, INFINI_DTYPE_I32),
        logits({ n, length }, INFINI_DTYPE_F32, { 15, 1 });
    fill_codes(q, 1);
    fill_codes(cache, 2);
    for (size_t b = 0; b < 5; b++)
        for (size_t i = 0; i < size; i++)
            set_float(cache, b * size * (d + 4) + size * d + i * 4, 0.01f * (float)(b + i + 1));
    const double table[6] = { 3, 0, 4, 1, -1, 2 }, p[4] = { 9, 6, 20, -1 }, who[4] = { 0, 1, 0, 1 };
    tables.fill([&](size_t i) { return table[i]; });
    positions.fill([&](size_t i) { return p[i]; });
    owners.fill([&](size_t i) { return who[i]; });
    weights.random(3);
    const auto run = [&] {
        return RUN_DIRECT(Fp8IndexerLogits,
                          (logits.desc(), q.desc(), cache.desc(), tables.desc(), weights.desc(),
                           positions.desc(), owners.desc()),
                          (logits.data(), q.data(), cache.data(), tables.data(), weights.data(),
                           positions.data(), owners.data()));
    };
    EXPECT_DONE(run());
    expect_elements("logits", logits, [&](size_t at) -> double {
        const size_t t = at / length, i = at % length;
        const double block = table[(size_t)who[t] * 3 + i / size];
        if ((double)i > p[t] || block < 0) return -INFINITY;
        const size_t first = (size_t)block * size * (d + 4);
        double sum = 0;
        for (size_t h = 0; h < heads; h++) {
            double dot = 0;
            for (size_t j = 0; j < d; j++)
                dot +=
                    decoded((int)q[(t * heads + h) * d + j]) * decoded((int)cache[first + i % size * d + j]);
            sum +=
                std::fmax(0, dot * float_of(cache, first + size * d + i % size * 4)) * weights[t * heads + h];
        }
        return sum;
    }, 4);
    owners.set(0, -1);
    owners.set(1, 2);
    EXPECT_DONE(run());
    for (size_t i = 0; i < 2 * length; i++) EXPECT(logits[i] == -INFINITY);
    EXPECT_INFINI(CREATE_OP(Fp8IndexerLogits, logits.desc(), q.desc(), q.desc(), tables.desc(),
                            weights.desc(), positions.desc(), owners.desc()),
                  INFINI_STATUS_BAD_TENSOR_DTYPE);
    EXPECT_INFINI(CREATE_OP(Fp8IndexerLogits, weights.desc(), q.desc(), cache.desc(), tables.desc(),
                            logits.desc(), positions.desc(), owners.desc()),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
}

/* Latent vectors ------------------------------------------------------------------------------- */

enum { LATENT = 512, ROTARY = 64, ENTRY = LATENT + 16 + 2 * ROTARY };

static double bf16_at(const Array &bytes, size_t at)
{
    return tsr_bf16_to_f32((uint16_t)((int)bytes[at] | (int)bytes[at + 1] << 8));
}

TEST(test_latent_vectors_are_cached_with_a_scale_for_each_128)
{
    Handle handle;
    const size_t n = 3;
    Array x({ n, LATENT }, INFINI_DTYPE_BF16), norm({ LATENT }, INFINI_DTYPE_BF16),
        rope({ n, ROTARY }, INFINI_DTYPE_BF16), slots({ n }, INFINI_DTYPE_I32),
        cache({ 2, 2, ENTRY }, INFINI_DTYPE_U8), plain({ 2, 2, LATENT + ROTARY }, INFINI_DTYPE_BF16);
    x.random(1, -2, 2);
    for (size_t i = 128; i < 256; i++) x.set(i, 0); /* a group of zeros */
    norm.random(2, 0.5, 1.5);
    rope.random(3);
    const double s[3] = { 3, -1, 0 };
    slots.fill([&](size_t i) { return s[i]; });
    for (bool has_plain : { true, false }) {
        cache.fill([](size_t) { return 77; });
        EXPECT_DONE(
            RUN_DIRECT(Fp8MlaRmsnormCache,
                       (cache.desc(), has_plain ? plain.desc() : nullptr, x.desc(), norm.desc(), rope.desc(),
                        slots.desc(), 1e-6),
                       (cache.data(), plain.data(), x.data(), norm.data(), rope.data(), slots.data())));
        for (size_t t = 0; t < n; t++) {
            if (s[t] < 0) continue;
            const size_t entry = (size_t)s[t] * ENTRY, row = (size_t)s[t] * (LATENT + ROTARY);
            std::vector<double> y;
            double square = 0;
            for (size_t i = 0; i < LATENT; i++) square += x[t * LATENT + i] * x[t * LATENT + i] / LATENT;
            for (size_t i = 0; i < LATENT; i++)
                y.push_back(
                    tsr_bf16_to_f32(tsr_f64_to_bf16(x[t * LATENT + i] / std::sqrt(square + 1e-6) * norm[i])));
            for (size_t i = 0; i < LATENT; i++) {
                const double scale = float_of(cache, entry + LATENT + i / 128 * 4);
                const double stands_for = decoded((int)cache[entry + i]) * scale;
                EXPECT(is_near(scale, largest_of(y, i / 128 * 128, 128) / 448, 1e-4));
                EXPECT(std::fabs(stands_for - y[i]) <= std::fabs(y[i]) / 15.5 + scale * 0.001);
                EXPECT(is_near(plain[row + i], stands_for, 4e-3));
            }
            for (size_t i = 0; i < ROTARY; i++) {
                EXPECT(bf16_at(cache, entry + LATENT + 16 + 2 * i) == rope[t * ROTARY + i]);
                EXPECT(plain[row + LATENT + i] == rope[t * ROTARY + i]);
            }
        }
        for (size_t i = ENTRY; i < 3 * ENTRY; i++) EXPECT(cache[i] == 77);
    }
    EXPECT_INFINI(CREATE_OP(Fp8MlaRmsnormCache, cache.desc(), nullptr, x.desc(), norm.desc(), x.desc(),
                            slots.desc(), 1e-6),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Fp8MlaRmsnormCache, cache.desc(), nullptr, x.desc(), norm.desc(), rope.desc(),
                            slots.desc(), 0),
                  INFINI_STATUS_BAD_PARAM);
}

TEST(test_attention_to_latent_vectors_that_indices_name)
{
    Handle handle;
    const size_t n = 3, heads = 2, k = 4, entries = 6;
    Array q({ n, heads, LATENT + ROTARY }, INFINI_DTYPE_BF16), y({ n, heads, LATENT }, INFINI_DTYPE_BF16),
        cache({ entries, 1, ENTRY }, INFINI_DTYPE_U8), indices({ n, 1, k }, INFINI_DTYPE_I32),
        lengths({ n }, INFINI_DTYPE_I32);
    q.random(1);
    fill_codes(cache, 2);
    for (size_t e = 0; e < entries; e++) {
        for (size_t g = 0; g < 4; g++)
            set_float(cache, e * ENTRY + LATENT + 4 * g, 0.001f * (float)(g + e + 1));
        for (size_t i = 0; i < ROTARY; i++) { /* the upper byte: numbers of moderate size */
            cache.set(e * ENTRY + LATENT + 17 + 2 * i, 0x3f);
        }
    }
    const double which[12] = { 5, 2, 0, 1, 3, -1, 9, 4, 1, 1, 1, 1 }, l[3] = { 3, 7, 0 };
    indices.fill([&](size_t i) { return which[i]; });
    lengths.fill([&](size_t i) { return l[i]; });
    const auto key = [&](size_t e, size_t i) {
        if (i >= LATENT) return bf16_at(cache, e * ENTRY + LATENT + 16 + 2 * (i - LATENT));
        return decoded((int)cache[e * ENTRY + i]) * float_of(cache, e * ENTRY + LATENT + i / 128 * 4);
    };
    EXPECT_DONE(RUN_OP(Fp8SparseMla,
                       (y.desc(), q.desc(), cache.desc(), indices.desc(), lengths.desc(), 0.04f),
                       (y.data(), q.data(), cache.data(), indices.data(), lengths.data())));
    for (size_t row = 0; row < n * heads; row++) {
        std::vector<size_t> seen;
        std::vector<double> weight;
        double sum = 0;
        for (size_t i = 0; i < std::min((size_t)l[row / heads], k); i++) {
            const double e = which[row / heads * k + i];
            if (e < 0 || e >= (double)entries) continue;
            double dot = 0;
            for (size_t j = 0; j < LATENT + ROTARY; j++)
                dot += q[row * (LATENT + ROTARY) + j] * key((size_t)e, j);
            seen.push_back((size_t)e);
            weight.push_back(std::exp(0.04 * dot));
            sum += weight.back();
        }
        for (size_t j = 0; j < LATENT; j++) {
            double want = 0;
            for (size_t i = 0; i < seen.size(); i++) want += weight[i] / sum * key(seen[i], j);
            EXPECT(is_near(y[row * LATENT + j], want, 4e-3));
        }
    }
    EXPECT_INFINI(CREATE_OP(Fp8SparseMla, y.desc(), y.desc(), cache.desc(), indices.desc(), lengths.desc(),
                            1.0f),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Fp8SparseMla, y.desc(), q.desc(), indices.desc(), indices.desc(), lengths.desc(),
                            1.0f),
                  INFINI_STATUS_BAD_TENSOR_DTYPE);
    EXPECT_INFINI(CREATE_OP(Fp8SparseMla, y.desc(), q.desc(), cache.desc(), indices.desc(), lengths.desc(),
                            (float)INFINITY),
                  INFINI_STATUS_BAD_PARAM);
}
