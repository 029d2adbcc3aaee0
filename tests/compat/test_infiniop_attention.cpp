/* test_infiniop_attention.cpp - attention and its caches, against plain loops. */
#include "infiniop_test.h"

static const infiniDtype_t floats[] = { INFINI_DTYPE_F16, INFINI_DTYPE_BF16, INFINI_DTYPE_F32 };

/* softmax of n scores, then the mean of values so weighted. */
static double mixture(size_t n, const std::function<double(size_t)> &score,
                      const std::function<double(size_t)> &value)
{
    double most = -INFINITY, sum = 0, out = 0;
    for (size_t j = 0; j < n; j++) most = std::fmax(most, score(j));
    for (size_t j = 0; j < n; j++) {
        const double e = std::exp(score(j) - most);
        sum += e;
        out += e * value(j);
    }
    return out / sum;
}

TEST(test_attention_fills_the_caches_and_looks_back)
{
    Handle handle;
    const size_t heads = 4, kv = 2, d = 8, length = 10;
    for (infiniDtype_t dt : floats)
        for (size_t pos : { 0, 3 })
            for (size_t seq : { 1, 4 }) {
                Array out({ seq, heads, d }, dt), q({ heads, seq, d }, dt), k({ kv, seq, d }, dt),
                    v({ kv, seq, d }, dt);
                Array kc({ kv, length, d }, dt), vc({ kv, length, d }, dt);
                q.random(1);
                k.random(2);
                v.random(3);
                kc.random(4);
                vc.random(5);
                EXPECT_DONE(RUN_OP(Attention,
                                   (out.desc(), q.desc(), k.desc(), v.desc(), kc.desc(), vc.desc(), pos),
                                   (out.data(), q.data(), k.data(), v.data(), kc.data(), vc.data())));
                for (size_t g = 0; g < kv; g++)
                    for (size_t i = 0; i < seq * d; i++) {
                        EXPECT(kc[(g * length + pos) * d + i] == k[g * seq * d + i]);
                        EXPECT(vc[(g * length + pos) * d + i] == v[g * seq * d + i]);
                    }
                expect_elements("Attention", out, [&](size_t i) {
                    const size_t row = i / (heads * d), head = i / d % heads, g = head / (heads / kv);
                    return mixture(pos + row + 1, [&](size_t j) {
                        double s = 0;
                        for (size_t e = 0; e < d; e++)
                            s += q[(head * seq + row) * d + e] * kc[(g * length + j) * d + e];
                        return s / std::sqrt((double)d);
                    }, [&](size_t j) { return vc[(g * length + j) * d + i % d]; });
                });
            }
    const infiniDtype_t dt = INFINI_DTYPE_F32;
    Array out({ 4, heads, d }, dt), q({ heads, 4, d }, dt), k({ kv, 4, d }, dt), c({ kv, length, d }, dt),
        k3({ 3, 4, d }, dt);
    EXPECT_INFINI(CREATE_OP(Attention, out.desc(), q.desc(), k.desc(), k.desc(), c.desc(), c.desc(), 7),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Attention, out.desc(), q.desc(), k3.desc(), k3.desc(), c.desc(), c.desc(), 0),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Attention, out.desc(), q.desc(), k.desc(), nullptr, c.desc(), c.desc(), 0),
                  INFINI_STATUS_NULL_POINTER);
}

TEST(test_kv_caching_writes_each_row_at_its_own_place)
{
    Handle handle;
    const size_t batch = 3, heads = 2, length = 8, seq = 3, d = 4;
    for (infiniDtype_t dt : { INFINI_DTYPE_F16, INFINI_DTYPE_F32, INFINI_DTYPE_I8 }) {
        Array kc({ batch, heads, length, d }, dt, { 512, 128, 8, 2 }), vc({ batch, heads, length, d }, dt);
        Array k({ batch, heads, seq, d }, dt), v({ batch, heads, seq, d }, dt),
            past({ batch }, INFINI_DTYPE_I64);
        kc.fill([](size_t i) { return (double)(i % 50); });
        vc.fill([](size_t i) { return (double)(i % 40); });
        k.fill([](size_t i) { return 60 + (double)(i % 50); });
        v.fill([](size_t i) { return 70 + (double)(i % 50); });
        past.fill([](size_t i) { return (double)(i * 2 + 1); });
        EXPECT_DONE(RUN_OP(KVCaching, (kc.desc(), vc.desc(), k.desc(), v.desc(), past.desc()),
                           (kc.data(), vc.data(), k.data(), v.data(), past.data())));
        for (size_t i = 0; i < kc.count(); i++) {
            const size_t b = i / (heads * length * d), t = i / d % length, h = i / (length * d) % heads;
            const size_t from = (size_t)past[b];
            const bool new_one = t >= from && t < from + seq;
            const size_t at = ((b * heads + h) * seq + (t - from)) * d + i % d;
            EXPECT(kc[i] == (new_one ? k[at] : (double)(i % 50)));
            EXPECT(vc[i] == (new_one ? v[at] : (double)(i % 40)));
        }
        past.set(2, 6);
        EXPECT_INFINI(RUN_OP(KVCaching, (kc.desc(), vc.desc(), k.desc(), v.desc(), past.desc()),
                             (kc.data(), vc.data(), k.data(), v.data(), past.data())),
                      INFINI_STATUS_BAD_PARAM);
    }
    Array kc({ 1, 2, 3, 4 }, INFINI_DTYPE_F32), k({ 1, 2, 5, 4 }, INFINI_DTYPE_F32),
        past({ 1 }, INFINI_DTYPE_I64);
    EXPECT_INFINI(CREATE_OP(KVCaching, kc.desc(), kc.desc(), k.desc(), k.desc(), past.desc()),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
}

TEST(test_paged_caching_writes_slots_and_skips_negative_ones)
{
    Handle handle;
    const size_t blocks = 4, heads = 2, size = 4, d = 3, tokens = 5;
    Array kc({ blocks, heads, size, d }, INFINI_DTYPE_F32), vc({ blocks, heads, size, d }, INFINI_DTYPE_F32);
    Array k({ tokens, heads, d }, INFINI_DTYPE_F32), v({ tokens, heads, d }, INFINI_DTYPE_F32),
        slots({ tokens }, INFINI_DTYPE_I32);
    const double at[] = { 3, 14, -1, 0, 7 };
    k.random(1);
    v.random(2);
    slots.fill([&](size_t i) { return at[i]; });
    EXPECT_DONE(RUN_OP(PagedCaching, (kc.desc(), vc.desc(), k.desc(), v.desc(), slots.desc()),
                       (kc.data(), vc.data(), k.data(), v.data(), slots.data())));
    for (size_t i = 0; i < kc.count(); i++) {
        const size_t b = i / (heads * size * d), h = i / (size * d) % heads, s = i / d % size;
        double want_k = 0, want_v = 0;
        for (size_t t = 0; t < tokens; t++)
            if (at[t] == (double)(b * size + s)) {
                want_k = k[(t * heads + h) * d + i % d];
                want_v = v[(t * heads + h) * d + i % d];
            }
        EXPECT(kc[i] == want_k && vc[i] == want_v);
    }
    slots.set(0, 16);
    EXPECT_INFINI(RUN_OP(PagedCaching, (kc.desc(), vc.desc(), k.desc(), v.desc(), slots.desc()),
                         (kc.data(), vc.data(), k.data(), v.data(), slots.data())), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(CREATE_OP(PagedCaching, kc.desc(), vc.desc(), k.desc(), v.desc(), k.desc()),
                  INFINI_STATUS_BAD_TENSOR_DTYPE);
}

/* Pages of the test: sequence s has its blocks in a scrambled order. */
struct Pages {
    static constexpr size_t seqs = 3, heads = 4, kv = 2, d = 8, size = 4, per_seq = 4, blocks = 12;
    Array k, v, tables, lengths, slopes;
    Pages(infiniDtype_t dt, infiniDtype_t it)
        : k({ blocks, kv, size, d }, dt), v({ blocks, kv, size, d }, dt), tables({ seqs, per_seq }, it),
          lengths({ seqs }, it), slopes({ heads }, INFINI_DTYPE_F32)
    {
        k.random(1);
        v.random(2);
        slopes.random(3, 0.1, 0.5);
        tables.fill([](size_t i) { return (double)(i * 5 % blocks); });
        lengths.fill([](size_t i) { return (double)(5 + 4 * i); });
    }
    size_t slot(size_t s, size_t g, size_t j) const
    {
        return (((size_t)tables[s * per_seq + j / size] * kv + g) * size + j % size) * d;
    }
    /* Element e of head `head` for a row of q that sees the first `seen` keys of sequence s. */
    double want(const Array &q, size_t row, size_t s, size_t head, size_t e, size_t seen, bool alibi,
                double scale) const
    {
        const size_t g = head / (heads / kv);
        return mixture(seen, [&](size_t j) {
            double sum = 0;
            for (size_t i = 0; i < d; i++) sum += q[(row * heads + head) * d + i] * k[slot(s, g, j) + i];
            return sum * scale + (alibi ? slopes[head] * ((double)j - (double)seen + 1) : 0);
        }, [&](size_t j) { return v[slot(s, g, j) + e]; });
    }
};

TEST(test_paged_attention_follows_the_block_tables)
{
    Handle handle;
    for (infiniDtype_t dt : floats)
        for (infiniDtype_t it : { INFINI_DTYPE_I32, INFINI_DTYPE_I64 })
            for (bool alibi : { false, true }) {
                Pages p(dt, it);
                Array q({ p.seqs, p.heads, p.d }, dt), out({ p.seqs, p.heads, p.d }, dt);
                q.random(7);
                EXPECT_DONE(RUN_OP(PagedAttention,
                                   (out.desc(), q.desc(), p.k.desc(), p.v.desc(), p.tables.desc(),
                                    p.lengths.desc(), alibi ? p.slopes.desc() : nullptr, 0.25f),
                                   (out.data(), q.data(), p.k.data(), p.v.data(), p.tables.data(),
                                    p.lengths.data(), alibi ? p.slopes.data() : nullptr)));
                expect_elements("PagedAttention", out, [&](size_t i) {
                    const size_t s = i / (p.heads * p.d);
                    return p.want(q, s, s, i / p.d % p.heads, i % p.d, (size_t)p.lengths[s], alibi, 0.25);
                });
                p.lengths.set(0, 17);
                EXPECT_INFINI(RUN_OP(PagedAttention,
                                     (out.desc(), q.desc(), p.k.desc(), p.v.desc(), p.tables.desc(),
                                      p.lengths.desc(), nullptr, 0.25f),
                                     (out.data(), q.data(), p.k.data(), p.v.data(), p.tables.data(),
                                      p.lengths.data(), nullptr)),
                              INFINI_STATUS_BAD_PARAM);
                p.lengths.set(0, 5);
                p.tables.set(0, 99);
                EXPECT_INFINI(RUN_OP(PagedAttention,
                                     (out.desc(), q.desc(), p.k.desc(), p.v.desc(), p.tables.desc(),
                                      p.lengths.desc(), nullptr, 0.25f),
                                     (out.data(), q.data(), p.k.data(), p.v.data(), p.tables.data(),
                                      p.lengths.data(), nullptr)),
                              INFINI_STATUS_BAD_PARAM);
            }
    Pages p(INFINI_DTYPE_F32, INFINI_DTYPE_I32);
    Array q({ 2, p.heads, p.d }, INFINI_DTYPE_F32);
    EXPECT_INFINI(CREATE_OP(PagedAttention, q.desc(), q.desc(), p.k.desc(), p.v.desc(), p.tables.desc(),
                            p.lengths.desc(), nullptr, 1.0f),
                  INFINI_STATUS_BAD_TENSOR_SHAPE);
}

TEST(test_paged_attention_prefill_is_causal_within_each_sequence)
{
    Handle handle;
    const size_t rows[] = { 2, 5, 1 };
    for (infiniDtype_t dt : floats)
        for (bool alibi : { false, true }) {
            Pages p(dt, INFINI_DTYPE_I64);
            Array q({ 8, p.heads, p.d }, dt), out({ 8, p.heads, p.d }, dt),
                starts({ p.seqs + 1 }, INFINI_DTYPE_I64);
            q.random(7);
            size_t sum = 0;
            for (size_t s = 0; s <= p.seqs; s++) {
                starts.set(s, (double)sum);
                if (s < p.seqs) sum += rows[s];
            }
            EXPECT_DONE(RUN_OP(PagedAttentionPrefill,
                               (out.desc(), q.desc(), p.k.desc(), p.v.desc(), p.tables.desc(),
                                p.lengths.desc(), starts.desc(), alibi ? p.slopes.desc() : nullptr, 0.3f),
                               (out.data(), q.data(), p.k.data(), p.v.data(), p.tables.data(),
                                p.lengths.data(), starts.data(), p.slopes.data())));
            expect_elements("Prefill", out, [&](size_t i) {
                const size_t row = i / (p.heads * p.d), s = row < 2 ? 0 : row < 7 ? 1 : 2;
                const size_t in_seq = row - (size_t)starts[s],
                             seen = (size_t)p.lengths[s] - rows[s] + in_seq + 1;
                return p.want(q, row, s, i / p.d % p.heads, i % p.d, seen, alibi, (double)0.3f);
            });
            starts.set(3, 9);
            EXPECT_INFINI(RUN_OP(PagedAttentionPrefill,
                                 (out.desc(), q.desc(), p.k.desc(), p.v.desc(), p.tables.desc(),
                                  p.lengths.desc(), starts.desc(), nullptr, 0.3f),
                                 (out.data(), q.data(), p.k.data(), p.v.data(), p.tables.data(),
                                  p.lengths.data(), starts.data(), nullptr)),
                          INFINI_STATUS_BAD_PARAM);
        }
}
