/* test_infiniop_sparse.cpp - attention to parts of a cache, and what all groups of the newer kinds refuse. */
#include "infiniop_test.h"

#include <algorithm>

/* softmax of the scores of these rows, then the mean of their values; 0 of none. */
static double mixture(const std::vector<size_t> &rows, const std::function<double(size_t)> &score,
                      const std::function<double(size_t)> &value)
{
    double sum = 0, out = 0;
    for (size_t j : rows) {
        sum += std::exp(score(j));
        out += std::exp(score(j)) * value(j);
    }
    return rows.empty() ? 0 : out / sum;
}

static std::vector<size_t> range(size_t begin, size_t end)
{
    std::vector<size_t> all;
    for (size_t i = begin; i < end; i++) all.push_back(i);
    return all;
}

/* Sequences in scrambled pages: 2 sequences, 4 heads on 2, pages of 4 with blocks of 2. */
struct Cache {
    static constexpr size_t seqs = 2, heads = 4, kv = 2, page = 4, size = 2, d = 3, pages = 7, room = 3;
    size_t lengths[seqs] = { 7, 12 };
    Array  k, v, k_means, v_means, tables, lens;
    explicit Cache(infiniDtype_t dt)
        : k({ pages, kv, page, d }, dt, { 60, 30, 7, 2 }), v({ pages, kv, page, d }, dt),
          k_means({ pages * page / size, kv, d }, dt), v_means({ pages * page / size, kv, d }, dt),
          tables({ seqs, room }, INFINI_DTYPE_I32), lens({ seqs }, INFINI_DTYPE_I32)
    {
        k.random(1);
        v.random(2);
        tables.fill([](size_t i) { return (double)(i * 3 % pages); });
        lens.fill([&](size_t i) { return (double)lengths[i]; });
    }
    size_t token(size_t s, size_t g, size_t j) const
    {
        return (((size_t)tables[s * room + j / page] * kv + g) * page + j % page) * d;
    }
    size_t block(size_t s, size_t g, size_t b) const
    {
        return (((size_t)tables[s * room + b * size / page] * page + b * size % page) / size * kv + g) * d;
    }
    double mean(const Array &x, size_t s, size_t g, size_t b, size_t e) const
    {
        const size_t end = std::min((b + 1) * size, lengths[s]);
        double sum = 0;
        for (size_t j = b * size; j < end; j++) sum += x[token(s, g, j) + e];
        return sum / (double)(end - b * size);
    }
};

#define COMPRESS(c, last) \
    RUN_OP(NsaCompressPagedCache, \
           (c.k_means.desc(), c.v_means.desc(), c.k.desc(), c.v.desc(), c.tables.desc(), c.lens.desc(), \
            c.size, last), \
           (c.k_means.data(), c.v_means.data(), c.k.data(), c.v.data(), c.tables.data(), c.lens.data()))

TEST(test_blocks_of_a_cache_have_means)
{
    Handle handle;
    for (infiniDtype_t dt : { INFINI_DTYPE_F16, INFINI_DTYPE_F32 })
        for (int last : { 0, 1 }) {
            Cache c(dt);
            c.k_means.fill([](size_t) { return 9; });
            EXPECT_DONE(COMPRESS(c, last));
            for (size_t s = 0; s < c.seqs; s++) {
                const size_t blocks = (c.lengths[s] + c.size - 1) / c.size;
                for (size_t b = 0; b < blocks; b++)
                    for (size_t at = 0; at < c.kv * c.d; at++) {
                        const size_t g = at / c.d, e = at % c.d;
                        const bool written = !last || b + 1 == blocks;
                        EXPECT(is_near(c.k_means[c.block(s, g, b) + e], written ? c.mean(c.k, s, g, b, e) : 9,
                                       tolerance(dt)));
                        if (written)
                            EXPECT(is_near(c.v_means[c.block(s, g, b) + e], c.mean(c.v, s, g, b, e),
                                           tolerance(dt)));
                    }
            }
            c.tables.set(1, 7);
            EXPECT_INFINI(COMPRESS(c, 0), INFINI_STATUS_BAD_PARAM);
            c.tables.set(1, 3);
            c.lens.set(0, 13);
            EXPECT_INFINI(COMPRESS(c, 0), INFINI_STATUS_BAD_PARAM);
        }
    Cache c(INFINI_DTYPE_F32);
    EXPECT_INFINI(CREATE_OP(NsaCompressPagedCache, c.k_means.desc(), c.v_means.desc(), c.k.desc(), c.v.desc(),
                            c.tables.desc(), c.lens.desc(), 3, 0),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(NsaCompressPagedCache, c.k_means.desc(), c.v_means.desc(), c.k.desc(), c.v.desc(),
                            c.tables.desc(), c.lens.desc(), 0, 0),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
}

TEST(test_sparse_attention_sees_means_selected_blocks_and_a_window)
{
    Handle handle;
    const double scale = 0.8;
    for (infiniDtype_t dt : { INFINI_DTYPE_F16, INFINI_DTYPE_F32 })
        for (int window : { 0, 3, 100 })
            for (int selected : { 1, 2, 50 }) {
                Cache c(dt);
                Array q({ c.seqs, c.heads, c.d }, dt), out({ c.seqs, c.heads, c.d }, dt, { 40, 9, 2 }),
                    gates({ c.seqs, 3, c.heads }, INFINI_DTYPE_F32);
                q.random(3, -2, 2);
                gates.random(4, 0, 1);
                EXPECT_DONE(COMPRESS(c, 0));
                EXPECT_DONE(RUN_OP(NsaPagedAttention,
                                   (out.desc(), q.desc(), c.k_means.desc(), c.v_means.desc(), c.k.desc(),
                                    c.v.desc(), c.tables.desc(), c.lens.desc(), gates.desc(), (float)scale,
                                    c.size, window, selected),
                                   (out.data(), q.data(), c.k_means.data(), c.v_means.data(), c.k.data(),
                                    c.v.data(), c.tables.data(), c.lens.data(), gates.data())));
                expect_elements("sparse", out, [&](size_t i) {
                    const size_t s = i / (c.heads * c.d), head = i / c.d % c.heads, g = head / 2, e = i % c.d,
                                 n = c.lengths[s];
                    const auto dot = [&](const Array &x, size_t at) {
                        double sum = 0;
                        for (size_t j = 0; j < c.d; j++) sum += q[i - e + j] * x[at + j];
                        return scale * sum;
                    };
                    const auto of_block = [&](size_t b) { return dot(c.k_means, c.block(s, g, b)); };
                    const auto of_token = [&](size_t j) { return dot(c.k, c.token(s, g, j)); };
                    const auto value = [&](size_t j) { return c.v[c.token(s, g, j) + e]; };
                    std::vector<size_t> blocks = range(0, (n + c.size - 1) / c.size), tokens;
                    const double means =
                        mixture(blocks, of_block, [&](size_t b) { return c.v_means[c.block(s, g, b) + e]; });
                    std::stable_sort(blocks.begin(), blocks.end(),
                                     [&](size_t a, size_t b) { return of_block(a) > of_block(b); });
                    blocks.resize(std::min(blocks.size(), (size_t)selected));
                    for (size_t b : blocks)
                        for (size_t j = b * c.size; j < std::min((b + 1) * c.size, n); j++)
                            tokens.push_back(j);
                    const size_t begin = n > (size_t)window ? n - (size_t)window : 0;
                    const auto gate = [&](size_t k) { return gates[(s * 3 + k) * c.heads + head]; };
                    return gate(0) * means + gate(1) * mixture(tokens, of_token, value) +
                           gate(2) * mixture(range(begin, n), of_token, value);
                }, 4);
            }
    Cache c(INFINI_DTYPE_F32);
    Array q({ c.seqs, c.heads, c.d }, INFINI_DTYPE_F32), gates({ c.seqs, 3, c.heads }, INFINI_DTYPE_F32);
#define NSA(gates, scale, block, window, selected) \
    CREATE_OP(NsaPagedAttention, q.desc(), q.desc(), c.k_means.desc(), c.v_means.desc(), c.k.desc(), \
              c.v.desc(), c.tables.desc(), c.lens.desc(), gates.desc(), scale, block, window, selected)
    EXPECT_DONE(NSA(gates, 1, 2, 0, 1));
    EXPECT_INFINI(NSA(q, 1, 2, 0, 1), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(NSA(gates, 1, 4, 0, 1), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(NSA(gates, 1, 2, -1, 1), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(NSA(gates, 1, 2, 0, 0), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(NSA(gates, (float)NAN, 2, 0, 1), INFINI_STATUS_BAD_PARAM);
#undef NSA
}

TEST(test_flash_attention_sees_the_first_keys)
{
    Handle handle;
    const size_t batch = 2, heads = 4, kv = 2, m = 3, n = 6, d = 5, e = 2;
    for (infiniDtype_t dt : { INFINI_DTYPE_F32, INFINI_DTYPE_BF16 })
        for (const int variant : { 0, 1, 2, 3 }) {
            const char causal = variant & 1;
            const float scale = variant & 2 ? 0.7f : 0; /* 0: all keys weigh the same */
            Array q({ batch, heads, m, d }, dt, { 200, 40, 11, 2 }), k({ batch, kv, n, d }, dt),
                v({ batch, kv, n, e }, dt), out({ batch, heads, m, e }, dt),
                lengths({ batch }, INFINI_DTYPE_I64);
            q.random(1);
            k.random(2);
            v.random(3);
            lengths.set(0, 4);
            lengths.set(1, 6);
            const auto run = [&] {
                return RUN_OP(FlashAttention,
                              (out.desc(), q.desc(), k.desc(), v.desc(), lengths.desc(), scale, causal),
                              (out.data(), q.data(), k.data(), v.data(), lengths.data()));
            };
            EXPECT_DONE(run());
            expect_elements("flash", out, [&](size_t i) {
                const size_t b = i / (heads * m * e), head = i / (m * e) % heads, row = i / e % m;
                const size_t seen = (size_t)lengths[b] - (causal ? m - 1 - row : 0),
                             of_kv = b * kv + head / 2;
                return mixture(range(0, seen), [&](size_t j) {
                    double sum = 0;
                    for (size_t x = 0; x < d; x++)
                        sum += q[((b * heads + head) * m + row) * d + x] * k[(of_kv * n + j) * d + x];
                    return scale * sum;
                }, [&](size_t j) { return v[(of_kv * n + j) * e + i % e]; });
            }, 4);
            lengths.set(0, 0);
            EXPECT_DONE(run());
            for (size_t i = 0; i < heads * m * e; i++) EXPECT(out[i] == 0);
            lengths.set(0, 7);
            EXPECT_INFINI(run(), INFINI_STATUS_BAD_PARAM);
            EXPECT_INFINI(CREATE_OP(FlashAttention, out.desc(), q.desc(), q.desc(), v.desc(), lengths.desc(),
                                    1.0f, 0),
                          INFINI_STATUS_BAD_TENSOR_SHAPE);
            EXPECT_INFINI(CREATE_OP(FlashAttention, out.desc(), q.desc(), k.desc(), v.desc(), q.desc(), 1.0f,
                                    0),
                          INFINI_STATUS_BAD_TENSOR_DTYPE);
        }
}

TEST(test_pages_with_keys_of_576_and_values_of_512)
{
    Handle handle;
    const size_t dk = 576, dv = 512, block = 4, heads = 2, n = 5, m = 2;
    for (infiniDtype_t dt : { INFINI_DTYPE_F16, INFINI_DTYPE_F32 }) {
        Array kc({ 2, 1, block, dk }, dt), vc({ 2, 1, block, dv }, dt), q({ m, heads, dk }, dt),
            out({ m, heads, dv }, dt), table({ 1, 2 }, INFINI_DTYPE_I64), length({ 1 }, INFINI_DTYPE_I64),
            starts({ 2 }, INFINI_DTYPE_I64);
        kc.random(1);
        vc.random(2);
        q.random(3);
        table.fill([](size_t i) { return i ? 0 : 1; });
        length.set(0, (double)n);
        starts.set(1, (double)m);
        EXPECT_DONE(RUN_OP(PagedAttentionPrefill,
                           (out.desc(), q.desc(), kc.desc(), vc.desc(), table.desc(), length.desc(),
                            starts.desc(), nullptr, 0.04f),
                           (out.data(), q.data(), kc.data(), vc.data(), table.data(), length.data(),
                            starts.data(), nullptr)));
        const auto slot = [&](size_t j) { return j < block ? block + j : j - block; }; /* blocks 1, 0 */
        for (size_t row = 0; row < m * heads; row++)
            for (size_t i = 0; i < dv; i += 37) {
                const double want = mixture(range(0, n - (m - 1) + row / heads), [&](size_t j) {
                    double sum = 0;
                    for (size_t x = 0; x < dk; x++) sum += q[row * dk + x] * kc[slot(j) * dk + x];
                    return (double)0.04f * sum;
                }, [&](size_t j) { return vc[slot(j) * dv + i]; });
                EXPECT(is_near(out[row * dv + i], want, 4 * tolerance(dt)));
            }
    }
}

/* A descriptor that is none, a handle that is a tensor's, and tensors that fit nothing. */
#define EXPECT_REFUSED(Name, ...) \
    do { \
        infiniop##Name##Descriptor_t op_ = nullptr; \
        size_t size_ = 0; \
        EXPECT(infiniopCreate##Name##Descriptor(handle, &op_, __VA_ARGS__) != INFINI_STATUS_SUCCESS && \
               !op_); \
        EXPECT_INFINI(infiniopCreate##Name##Descriptor((infiniopHandle_t)(void *)t, &op_, __VA_ARGS__), \
                      INFINI_STATUS_BAD_PARAM); \
        EXPECT_INFINI(infiniopCreate##Name##Descriptor(nullptr, &op_, __VA_ARGS__), \
                      INFINI_STATUS_NULL_POINTER); \
        EXPECT_INFINI(infiniopCreate##Name##Descriptor(handle, nullptr, __VA_ARGS__), \
                      INFINI_STATUS_NULL_POINTER); \
        EXPECT_INFINI(infiniopGet##Name##WorkspaceSize(nullptr, &size_), INFINI_STATUS_NULL_POINTER); \
        EXPECT_INFINI(infiniopDestroy##Name##Descriptor(nullptr), INFINI_STATUS_NULL_POINTER); \
        EXPECT_INFINI(infiniopDestroy##Name##Descriptor((infiniop##Name##Descriptor_t)(void *)t), \
                      INFINI_STATUS_BAD_PARAM); \
    } while (0)

TEST(test_nonsense_is_refused_by_every_group)
{
    Handle handle;
    for (infiniDtype_t d : { INFINI_DTYPE_F32, INFINI_DTYPE_I32, INFINI_DTYPE_U8, INFINI_DTYPE_F8 })
        for (const Sizes &shape :
             { Sizes{}, Sizes{ 0 }, Sizes{ 5 }, Sizes{ 3, 5 }, Sizes{ 2, 0, 3 }, Sizes{ 2, 3, 4, 5 } }) {
            Array x(shape, d);
            const infiniopTensorDescriptor_t t = x.desc(), none = nullptr;
            EXPECT_REFUSED(ChunkGatedDeltaRule, t, t, t, t, t, t, t, t, t, t, none, false, 64);
            EXPECT_REFUSED(RecurrentGatedDeltaRule, t, t, t, t, t, t, t, t, none, none, true);
            EXPECT_REFUSED(KimiDeltaAttention, t, t, t, t, t, t, t, t, t, t, t, t, none, 1, -5, true);
            EXPECT_REFUSED(CausalConv1d, t, t, t, t, t, t, t, t, none);
            EXPECT_REFUSED(MambaSelectiveScan, t, t, t, t, t, t, t, t, t, t);
            EXPECT_REFUSED(Rwkv5Wkv, t, t, t, t, t, t, t);
            EXPECT_REFUSED(NsaCompressPagedCache, t, t, t, t, t, t, 2, 0);
            EXPECT_REFUSED(NsaPagedAttention, t, t, t, t, t, t, t, t, t, 1, 2, 4, 2);
            EXPECT_REFUSED(FlashAttention, t, t, t, t, t, 1, 1);
            EXPECT_REFUSED(Fp8IndexerLogits, t, t, t, t, t, t, t);
            EXPECT_REFUSED(Fp8IndexerQuant, t, t, t, t);
            EXPECT_REFUSED(FusedFp8Indexer, t, t, t, t, t, t, t, t, t, t, 2, 1e-5, 1);
            EXPECT_REFUSED(Fp8MlaRmsnormCache, t, t, t, t, t, t, 1e-5);
            EXPECT_REFUSED(Fp8SparseMla, t, t, t, t, t, 1);
            EXPECT_REFUSED(FusedMoeMxfp4, t, t, t, t, t, t, t, t, INFINIOP_FUSED_MOE_ACT_SWIGLU);
            EXPECT_REFUSED(LinearMxfp4, t, t, t, t, t, 1);
            EXPECT_REFUSED(MoeAlign, t, t, t, t, 3, 4);
            EXPECT_REFUSED(MoeFusedDense, t, t, t, t, t, t, t, t, t);
            EXPECT_REFUSED(MoeFusedGate, t, t, t, t, 1, 1, 0, 1, false);
            EXPECT_REFUSED(PrepareMoeInput, t, t, t, t, t, t, t, 3, 4, 4);
            EXPECT_REFUSED(AwqMarlinGemm, t, t, t, t, t, none, none, t, t, t);
            EXPECT_REFUSED(AwqMarlinRepack, t, t, 4, false);
            EXPECT_REFUSED(GptqMarlinGemm, t, t, t, t, none, t, t, t);
            EXPECT_REFUSED(GptqMarlinRepack, t, t, t, 8, true);
            EXPECT_REFUSED(GptqQyblasGemm, t, t, t, t, t);
        }
}
