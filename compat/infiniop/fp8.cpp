/* fp8.cpp - queries, keys and latent vectors as 8-bit floats (e4m3) with scales, and attention to them. All
 * are plain loops in f32, on the host. */
#include "host.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace face;

namespace {

constexpr Dtypes F8 = set_of(INFINI_DTYPE_F8), F32 = set_of(INFINI_DTYPE_F32),
                 BF16 = set_of(INFINI_DTYPE_BF16);
constexpr float  MOST = 448; /* that e4m3 holds */

uint8_t encode(float x) { return tsr_f32_to_f8e4m3(std::min(std::max(x, -MOST), MOST)); }

float largest(const float *x, int64_t n)
{
    float most = 0;
    for (int64_t i = 0; i < n; i++) most = std::max(most, std::fabs(x[i]));
    return most;
}

/* The power of two that brings the largest of x within e4m3. */
float power_scale(const float *x, int64_t n)
{
    return std::exp2(std::ceil(std::log2(std::max(largest(x, n), 1e-4f) / MOST)));
}

/* x as a number of this dtype. */
float rounded(float x, tsr_dtype dtype)
{
    if (dtype == TSR_F16) return tsr_f16_to_f32(tsr_f32_to_f16(x));
    if (dtype == TSR_BF16) return tsr_bf16_to_f32(tsr_f32_to_bf16(x));
    return x;
}

float float_at(const uint8_t *p)
{
    float x;
    std::memcpy(&x, p, sizeof x);
    return x;
}

} // namespace

/* Queries of the indexer ----------------------------------------------------------------------- */

infiniStatus_t infiniopCreateFp8IndexerQuantDescriptor(Handle handle, Desc *out, T q_fp8, T weights_fp32, T q,
                                                       T weights)
{
    Draft draft(TAG_Fp8IndexerQuant, handle, out, 2, { q_fp8, weights_fp32, q, weights });
    return draft.dtypes(0, F8).dtypes(1, F32).dtypes(2, FLOATS).one_dtype({ 2, 3 }).rank(2, 3, 3)
        .one_shape({ 0, 2 }).shape(3, { draft.dim(2, 0), draft.dim(2, 1) }).one_shape({ 1, 3 })
        .need(draft.dim(2, 2) > 0, INFINI_STATUS_BAD_TENSOR_SHAPE).finish();
}

namespace {

/* n rows of d numbers, each by its own scale, which goes to scales. */
tsr_status quantise_rows(tsr_tensor *codes, const Packed<float> &x, float *scales, int64_t n, int64_t d)
{
    for (int64_t row = 0; row < n; row++) {
        scales[row] = power_scale(x + row * d, d);
        for (int64_t i = row * d; i < (row + 1) * d; i++)
            x[i] = std::min(std::max(x[i] / scales[row], -MOST), MOST);
    }
    return x.write(codes);
}

} // namespace

infiniStatus_t infiniopFp8IndexerQuant(Desc desc, P q_fp8, P weights_fp32, C q, C weights, P stream)
{
    return run(desc, TAG_Fp8IndexerQuant, stream, { q_fp8, weights_fp32, q, weights },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
        Packed<float> x, weight, scale;
        const int64_t n = t[2]->shape[0] * t[2]->shape[1];
        TSR_TRY(x.read(t[2]));
        TSR_TRY(weight.read(t[3]));
        TSR_TRY(scale.make(n));
        TSR_TRY(quantise_rows(t[0], x, scale.get(), n, t[2]->shape[2]));
        for (int64_t i = 0; i < n; i++) weight[i] *= scale[i];
        return weight.write(t[1]);
    });
}

/* A cache of keys ------------------------------------------------------------------------------
 *
 * (blocks, block size, d + 4) bytes; a block has the codes of its keys first, then their scales as f32. */

namespace {

/* Tensors: q_fp8, weights_fp32, k_cache, q_raw, k_weights, norm_weight, norm_bias, positions,
 * cos_sin_cache, slot_mapping. */
enum { Q_FP8, WEIGHTS, K_CACHE, Q_RAW, K_WEIGHTS, NORM_WEIGHT, NORM_BIAS, POSITIONS, COS_SIN, SLOTS };

} // namespace

infiniStatus_t infiniopCreateFusedFp8IndexerDescriptor(Handle handle, Desc *out, T q_fp8, T weights_fp32,
                                                       T k_cache, T q_raw, T k_weights, T norm_weight,
                                                       T norm_bias, T positions, T cos_sin_cache,
                                                       T slot_mapping, uint64_t rope_dim, double eps,
                                                       double weights_scale)
{
    Draft draft(TAG_FusedFp8Indexer, handle, out, 3,
                { q_fp8, weights_fp32, k_cache, q_raw, k_weights, norm_weight, norm_bias, positions,
                  cos_sin_cache, slot_mapping });
    const int64_t n = draft.dim(Q_RAW, 0), heads = draft.dim(Q_RAW, 1), d = draft.dim(Q_RAW, 2);
    draft.op.integer[0] = (int64_t)std::min<uint64_t>(rope_dim, INT32_MAX);
    draft.op.number[0] = eps;
    draft.op.number[1] = weights_scale;
    return draft.dtypes(Q_FP8, F8).dtypes(WEIGHTS, F32).dtypes(K_CACHE, UNSIGNED_BYTES).dtypes(Q_RAW, FLOATS)
        .one_dtype({ Q_RAW, K_WEIGHTS, NORM_WEIGHT, NORM_BIAS, COS_SIN }).dtypes(POSITIONS, INTEGERS)
        .dtypes(SLOTS, INTEGERS).rank(Q_RAW, 3, 3).rank(K_CACHE, 3, 3).one_shape({ Q_FP8, Q_RAW })
        .shape(WEIGHTS, { n, heads }).shape(K_WEIGHTS, { n, d + heads }).shape(NORM_WEIGHT, { d })
        .shape(NORM_BIAS, { d }).shape(POSITIONS, { n }).shape(SLOTS, { n })
        .shape(COS_SIN, { draft.dim(COS_SIN, 0), draft.op.integer[0] })
        .need(d > 0 && rope_dim > 0 && rope_dim <= (uint64_t)d && rope_dim % 2 == 0 &&
                  draft.dim(COS_SIN, 0) > 0 && draft.dim(K_CACHE, 1) > 0 && draft.dim(K_CACHE, 2) == d + 4,
              INFINI_STATUS_BAD_TENSOR_SHAPE)
        .need(eps > 0 && weights_scale > 0, INFINI_STATUS_BAD_PARAM).finish();
}

namespace {

/* The first `dims` numbers are rotated in pairs; angles are dims / 2 cosines and as many sines. */
void rotate_pairs(float *x, const float *angles, int64_t dims)
{
    for (int64_t i = 0; i < dims / 2; i++) {
        const float a = x[2 * i], b = x[2 * i + 1], cosine = angles[i], sine = angles[dims / 2 + i];
        x[2 * i] = a * cosine - b * sine;
        x[2 * i + 1] = a * sine + b * cosine;
    }
}

/* (x - mean) / deviation, times weight, plus bias. */
void normalise(float *x, const float *weight, const float *bias, int64_t n, double eps)
{
    double mean = 0, square = 0;
    for (int64_t i = 0; i < n; i++) mean += x[i];
    mean /= (double)n;
    for (int64_t i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean);
    const double inverse = 1 / std::sqrt(square / (double)n + eps);
    for (int64_t i = 0; i < n; i++) x[i] = (float)((x[i] - mean) * inverse * weight[i] + bias[i]);
}

tsr_status write_key(tsr_tensor *cache, int64_t slot, const float *key, int64_t d)
{
    const int64_t size = cache->shape[1], at = slot % size;
    const float scale = power_scale(key, d);
    Packed<uint8_t> bytes;
    View block;
    TSR_TRY(tsr_select(&block, cache, 0, slot / size));
    TSR_TRY(bytes.read(block));
    for (int64_t i = 0; i < d; i++) bytes[at * d + i] = encode(key[i] / scale);
    std::memcpy(bytes + size * d + at * 4, &scale, 4);
    return bytes.write(block);
}

/* What a token needs besides its numbers. A position outside the table counts as the first. */
struct Rotation {
    Packed<int64_t> positions;
    Packed<float>   table;
    int64_t         dims = 0, rows = 0;

    tsr_status read(tsr_tensor *const *t)
    {
        rows = t[COS_SIN]->shape[0];
        dims = t[COS_SIN]->shape[1];
        TSR_TRY(positions.read(t[POSITIONS]));
        return table.read(t[COS_SIN]);
    }
    const float *angles(int64_t token) const
    {
        const int64_t p = positions[token];
        return table + (p >= 0 && p < rows ? p : 0) * dims;
    }
};

void round_all(float *x, int64_t n, tsr_dtype dtype)
{
    for (int64_t i = 0; i < n; i++) x[i] = rounded(x[i], dtype);
}

tsr_status index_queries(tsr_tensor **t, const Rotation &rotation, const Packed<float> &k_weights,
                         double factor)
{
    const int64_t n = t[Q_RAW]->shape[0], heads = t[Q_RAW]->shape[1], d = t[Q_RAW]->shape[2];
    const tsr_dtype dtype = t[Q_RAW]->dtype;
    Packed<float> q, scale;
    TSR_TRY(q.read(t[Q_RAW]));
    TSR_TRY(scale.make(t[WEIGHTS]));
    for (int64_t row = 0; row < n * heads; row++) {
        rotate_pairs(q + row * d, rotation.angles(row / heads), rotation.dims);
        round_all(q + row * d, d, dtype);
    }
    TSR_TRY(quantise_rows(t[Q_FP8], q, scale.get(), n * heads, d));
    for (int64_t row = 0; row < n * heads; row++) {
        const float weight = k_weights[row / heads * (d + heads) + d + row % heads];
        scale[row] *= rounded((float)(weight * (float)factor), dtype);
    }
    return scale.write(t[WEIGHTS]);
}

tsr_status index_keys(tsr_tensor **t, const Rotation &rotation, const Packed<float> &k_weights, double eps)
{
    const int64_t n = t[Q_RAW]->shape[0], heads = t[Q_RAW]->shape[1], d = t[Q_RAW]->shape[2];
    Packed<float> weight, bias;
    Packed<int64_t> slots;
    TSR_TRY(weight.read(t[NORM_WEIGHT]));
    TSR_TRY(bias.read(t[NORM_BIAS]));
    TSR_TRY(slots.read(t[SLOTS]));
    for (int64_t token = 0; token < n; token++) {
        float *key = k_weights + token * (d + heads);
        if (slots[token] < 0 || slots[token] >= t[K_CACHE]->shape[0] * t[K_CACHE]->shape[1]) continue;
        normalise(key, weight.get(), bias.get(), d, eps);
        rotate_pairs(key, rotation.angles(token), rotation.dims);
        round_all(key, d, t[Q_RAW]->dtype);
        TSR_TRY(write_key(t[K_CACHE], slots[token], key, d));
    }
    return TSR_OK;
}

} // namespace

infiniStatus_t infiniopFusedFp8Indexer(Desc desc, P q_fp8, P weights_fp32, P k_cache, C q_raw, C k_weights,
                                       C norm_weight, C norm_bias, C positions, C cos_sin_cache,
                                       C slot_mapping, P stream)
{
    return run(desc, TAG_FusedFp8Indexer, stream,
               { q_fp8, weights_fp32, k_cache, q_raw, k_weights, norm_weight, norm_bias, positions,
                 cos_sin_cache, slot_mapping },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
        Rotation rotation;
        Packed<float> both; /* each token's key, then its weights */
        TSR_TRY(rotation.read(t));
        TSR_TRY(both.read(t[K_WEIGHTS]));
        TSR_TRY(index_queries(t, rotation, both, op.number[1]));
        return index_keys(t, rotation, both, op.number[0]);
    });
}

/* logits[token, i] is the sum over heads of weight max(0, q k[i]), for the keys of the token's request up to
 * its position; -infinity for the others. */
infiniStatus_t infiniopCreateFp8IndexerLogitsDescriptor(Handle handle, Desc *out, T logits, T q_fp8,
                                                        T kv_cache, T block_tables, T weights_fp32,
                                                        T positions, T request_ids)
{
    Draft draft(TAG_Fp8IndexerLogits, handle, out, 1,
                { logits, q_fp8, kv_cache, block_tables, weights_fp32, positions, request_ids });
    const int64_t n = draft.dim(1, 0);
    return draft.dtypes(0, F32).dtypes(1, F8).dtypes(2, UNSIGNED_BYTES).dtypes(3, INTEGERS).dtypes(4, F32)
        .dtypes(5, INTEGERS).dtypes(6, INTEGERS).rank(1, 3, 3).rank(2, 3, 3).rank(3, 2, 2)
        .shape(0, { n, draft.dim(0, 1) }).shape(4, { n, draft.dim(1, 1) }).shape(5, { n }).shape(6, { n })
        .need(draft.dim(2, 1) > 0 && draft.dim(2, 2) == draft.dim(1, 2) + 4, INFINI_STATUS_BAD_TENSOR_SHAPE)
        .finish();
}

namespace {

/* The sum over heads; `block` are the bytes of a block, `at` the key in it. */
float logit(const float *q, const float *weights, int64_t heads, const uint8_t *block, int64_t at,
            int64_t size, int64_t d)
{
    const float scale = float_at(block + size * d + at * 4);
    float sum = 0;
    for (int64_t h = 0; h < heads; h++) {
        float dot = 0;
        for (int64_t i = 0; i < d; i++) dot += q[h * d + i] * tsr_f8e4m3_to_f32(block[at * d + i]);
        sum += std::max(dot * scale, 0.0f) * weights[h];
    }
    return sum;
}

tsr_status index_logits(tsr_tensor **t, const InfiniopDescriptor &)
{
    const int64_t n = t[1]->shape[0], heads = t[1]->shape[1], d = t[1]->shape[2], blocks = t[2]->shape[0],
                  size = t[2]->shape[1], requests = t[3]->shape[0], room = t[3]->shape[1],
                  length = t[0]->shape[1];
    Packed<float> out, q, weights;
    Packed<int64_t> tables, positions, owners;
    TSR_TRY(out.make(t[0]));
    TSR_TRY(q.read(t[1]));
    TSR_TRY(tables.read(t[3]));
    TSR_TRY(weights.read(t[4]));
    TSR_TRY(positions.read(t[5]));
    TSR_TRY(owners.read(t[6]));
    std::fill_n(out.get(), n * length, -INFINITY);
    for (int64_t token = 0; token < n; token++) {
        if (owners[token] < 0 || owners[token] >= requests) continue;
        const int64_t end = std::min({ positions[token], length - 1, room * size - 1 });
        Packed<uint8_t> bytes;
        for (int64_t i = 0; i <= end; i++) {
            const int64_t where = tables[owners[token] * room + i / size];
            if (where < 0 || where >= blocks) continue;
            if (i % size == 0) {
                View block;
                TSR_TRY(tsr_select(&block, t[2], 0, where));
                TSR_TRY(bytes.read(block));
            }
            out[token * length + i] =
                logit(q + token * heads * d, weights + token * heads, heads, bytes.get(), i % size, size, d);
        }
    }
    return out.write(t[0]);
}

} // namespace

infiniStatus_t infiniopFp8IndexerLogits(Desc desc, P logits, C q_fp8, C kv_cache, C block_tables,
                                        C weights_fp32, C positions, C request_ids, P stream)
{
    return run(desc, TAG_Fp8IndexerLogits, stream,
               { logits, q_fp8, kv_cache, block_tables, weights_fp32, positions, request_ids }, index_logits);
}

/* A cache of latent vectors --------------------------------------------------------------------
 *
 * Each entry has 512 codes, a scale (f32) for each 128 of them, and 64 rotary numbers as bf16, which depend
 * on the position. */

namespace {

enum { LATENT = 512, GROUP = 128, GROUPS = LATENT / GROUP, ROTARY = 64, SCALES_AT = LATENT,
       ROTARY_AT = LATENT + 4 * GROUPS, ENTRY = ROTARY_AT + 2 * ROTARY };

} // namespace

infiniStatus_t infiniopCreateFp8MlaRmsnormCacheDescriptor(Handle handle, Desc *out, T cache, T vendor_cache,
                                                          T compressed_kv, T norm_weight, T rope,
                                                          T slot_mapping, double eps)
{
    Draft draft(TAG_Fp8MlaRmsnormCache, handle, out, 2,
                { cache, vendor_cache, compressed_kv, norm_weight, rope, slot_mapping }, 1u << 1);
    const int64_t n = draft.dim(2, 0), blocks = draft.dim(0, 0), size = draft.dim(0, 1);
    draft.op.number[0] = eps;
    return draft.dtypes(0, UNSIGNED_BYTES).dtypes(1, BF16).dtypes(2, BF16).dtypes(3, BF16).dtypes(4, BF16)
        .dtypes(5, INTEGERS).shape(0, { blocks, size, ENTRY }).shape(1, { blocks, size, LATENT + ROTARY })
        .shape(2, { n, LATENT }).shape(3, { LATENT }).shape(4, { n, ROTARY }).shape(5, { n })
        .need(size > 0, INFINI_STATUS_BAD_TENSOR_SHAPE).need(eps > 0, INFINI_STATUS_BAD_PARAM).finish();
}

namespace {

/* x / sqrt(mean of squares + eps), times weight, as bf16. */
void rms_normalise(float *x, const float *weight, float eps)
{
    float sum = 0;
    for (int i = 0; i < LATENT; i++) sum += x[i] * x[i];
    const float inverse = 1 / std::sqrt(sum / LATENT + eps);
    for (int i = 0; i < LATENT; i++) x[i] = rounded(x[i] * inverse * weight[i], TSR_BF16);
}

/* The entry of x and of what is rotated; x becomes what the entry stands for. */
void make_entry(uint8_t *entry, float *x, const float *rotary)
{
    for (int g = 0; g < GROUPS; g++) {
        const float scale = largest(x + g * GROUP, GROUP) / MOST;
        std::memcpy(entry + SCALES_AT + 4 * g, &scale, 4);
        for (int i = g * GROUP; i < (g + 1) * GROUP; i++) {
            entry[i] = scale > 0 ? encode(x[i] / scale) : 0;
            x[i] = tsr_f8e4m3_to_f32(entry[i]) * scale;
        }
    }
    for (int i = 0; i < ROTARY; i++) {
        const uint16_t bits = tsr_f32_to_bf16(rotary[i]);
        std::memcpy(entry + ROTARY_AT + 2 * i, &bits, 2);
    }
}

/* Entry `slot` of a cache (blocks, block size, ...). */
tsr_status entry_of(tsr_tensor **out, const tsr_tensor *cache, int64_t slot)
{
    TSR_TRY(tsr_select(out, cache, 0, slot / cache->shape[1]));
    return tsr_select(out, *out, 0, slot % cache->shape[1]);
}

tsr_status cache_latents(tsr_tensor **t, const InfiniopDescriptor &op)
{
    Packed<float> x, weight, rotary, plain;
    Packed<int64_t> slots;
    Packed<uint8_t> entry;
    TSR_TRY(x.read(t[2]));
    TSR_TRY(weight.read(t[3]));
    TSR_TRY(rotary.read(t[4]));
    TSR_TRY(slots.read(t[5]));
    TSR_TRY(entry.make(ENTRY));
    TSR_TRY(plain.make(LATENT + ROTARY));
    for (int64_t token = 0; token < t[2]->shape[0]; token++) {
        View bytes, numbers;
        if (slots[token] < 0 || slots[token] >= t[0]->shape[0] * t[0]->shape[1]) continue;
        rms_normalise(x + token * LATENT, weight.get(), (float)op.number[0]);
        make_entry(entry.get(), x + token * LATENT, rotary + token * ROTARY);
        TSR_TRY(entry_of(&bytes, t[0], slots[token]));
        TSR_TRY(entry.write(bytes));
        if (!t[1]) continue;
        std::copy_n(x + token * LATENT, LATENT + 0, plain.get());
        std::copy_n(rotary + token * ROTARY, ROTARY + 0, plain + LATENT);
        TSR_TRY(entry_of(&numbers, t[1], slots[token]));
        TSR_TRY(plain.write(numbers));
    }
    return TSR_OK;
}

} // namespace

infiniStatus_t infiniopFp8MlaRmsnormCache(Desc desc, P cache, P vendor_cache, C compressed_kv, C norm_weight,
                                          C rope, C slot_mapping, P stream)
{
    return run(desc, TAG_Fp8MlaRmsnormCache, stream,
               { cache, vendor_cache, compressed_kv, norm_weight, rope, slot_mapping }, cache_latents);
}

/* Attention to the entries that indices (tokens, 1, k) name, the first topk_lens of them: a key is all of an
 * entry, a value its latent part. */
infiniStatus_t infiniopCreateFp8SparseMlaDescriptor(Handle handle, Desc *out, T y, T query, T kv_cache,
                                                    T indices, T topk_lens, float scale)
{
    Draft draft(TAG_Fp8SparseMla, handle, out, 1, { y, query, kv_cache, indices, topk_lens });
    const int64_t n = draft.dim(1, 0), heads = draft.dim(1, 1);
    draft.op.number[0] = scale;
    return draft.dtypes(0, BF16)
        .dtypes(1, BF16)
        .dtypes(2, UNSIGNED_BYTES)
        .dtypes(3, INTEGERS)
        .dtypes(4, INTEGERS)
        .shape(1, { n, heads, LATENT + ROTARY })
        .shape(0, { n, heads, LATENT })
        .shape(2, { draft.dim(2, 0), 1, ENTRY })
        .shape(3, { n, 1, draft.dim(3, 2) })
        .shape(4, { n })
        .need(draft.dim(3, 2) > 0, INFINI_STATUS_BAD_TENSOR_SHAPE)
        .need(scale == scale && scale - scale == 0, INFINI_STATUS_BAD_PARAM)
        .finish();
}

namespace {

/* An entry as numbers: LATENT + ROTARY of them. */
void read_entry(float *out, const uint8_t *entry)
{
    for (int i = 0; i < LATENT; i++)
        out[i] = tsr_f8e4m3_to_f32(entry[i]) * float_at(entry + SCALES_AT + i / GROUP * 4);
    for (int i = 0; i < ROTARY; i++) {
        uint16_t bits;
        std::memcpy(&bits, entry + ROTARY_AT + 2 * i, 2);
        out[LATENT + i] = tsr_bf16_to_f32(bits);
    }
}

/* out = softmax(scale q keys) keys, of which LATENT numbers count; 0 without keys. */
void attend_latent(float *out, const float *q, const float *keys, int64_t n, double scale, double *scores)
{
    double most = -INFINITY, sum = 0;
    std::fill_n(out, LATENT + 0, 0.0f);
    for (int64_t i = 0; i < n; i++) {
        double dot = 0;
        for (int j = 0; j < LATENT + ROTARY; j++) dot += (double)q[j] * keys[i * (LATENT + ROTARY) + j];
        scores[i] = dot * scale;
        most = std::max(most, scores[i]);
    }
    for (int64_t i = 0; i < n; i++) sum += scores[i] = std::exp(scores[i] - most);
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < LATENT; j++)
            out[j] += (float)(scores[i] / sum) * keys[i * (LATENT + ROTARY) + j];
}

tsr_status sparse_mla(tsr_tensor **t, const InfiniopDescriptor &op)
{
    const int64_t n = t[1]->shape[0], heads = t[1]->shape[1], most = t[3]->shape[2];
    Packed<float> out, q, keys;
    Packed<double> scores;
    Packed<int64_t> indices, lengths;
    TSR_TRY(out.make(t[0]));
    TSR_TRY(q.read(t[1]));
    TSR_TRY(indices.read(t[3]));
    TSR_TRY(lengths.read(t[4]));
    TSR_TRY(keys.make(most * (LATENT + ROTARY)));
    TSR_TRY(scores.make(most));
    for (int64_t token = 0; token < n; token++) {
        int64_t count = 0;
        for (int64_t i = 0; i < std::min(lengths[token], most); i++) {
            const int64_t where = indices[token * most + i];
            if (where < 0 || where >= t[2]->shape[0]) continue;
            View bytes;
            Packed<uint8_t> entry;
            TSR_TRY(entry_of(&bytes, t[2], where));
            TSR_TRY(entry.read(bytes));
            read_entry(keys + count++ * (LATENT + ROTARY), entry.get());
        }
        for (int64_t h = token * heads; h < (token + 1) * heads; h++)
            attend_latent(out + h * LATENT, q + h * (LATENT + ROTARY), keys.get(), count, op.number[0],
                          scores.get());
    }
    return out.write(t[0]);
}

} // namespace

infiniStatus_t infiniopFp8SparseMla(Desc desc, P, size_t, P y, C query, C kv_cache, C indices, C topk_lens,
                                    P stream)
{
    return run(desc, TAG_Fp8SparseMla, stream, { y, query, kv_cache, indices, topk_lens }, sparse_mla);
}
