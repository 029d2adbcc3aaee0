/* attention.cpp - attention, and the caches of keys and values that it looks at. */
#include "host.h"

#include <cfloat>

using namespace face;

namespace {

/* A scale of 0 means "the default" to the library, and 0 here: the least double scales all scores to 0. */
double scale_of(float scale) { return scale == 0 ? DBL_MIN : scale; }

/* The same slice of both, from `from` to `to` along an axis. */
tsr_status write_slice(tsr_tensor *cache, int axis, int64_t from, int64_t to, const tsr_tensor *src)
{
    View slot;
    TSR_TRY(tsr_slice(&slot, cache, axis, from, to, 1));
    return tsr_copy(slot, src);
}

} // namespace

/* Attention to a cache ------------------------------------------------------------------------ */

infiniStatus_t infiniopCreateAttentionDescriptor(infiniopHandle_t handle,
                                                 infiniopAttentionDescriptor_t *desc_ptr,
                                                 infiniopTensorDescriptor_t out, infiniopTensorDescriptor_t q,
                                                 infiniopTensorDescriptor_t k, infiniopTensorDescriptor_t v,
                                                 infiniopTensorDescriptor_t k_cache,
                                                 infiniopTensorDescriptor_t v_cache, size_t pos)
{
    Draft draft(TAG_Attention, handle, desc_ptr, 3, { out, k_cache, v_cache, q, k, v });
    draft.op.integer[0] = (int64_t)pos;
    draft.all_dtypes(FLOATS).one_dtype({ 0, 1, 2, 3, 4, 5 });
    for (int i = 0; i < 6; i++) draft.rank(i, 3, 3);
    const int64_t heads = draft.dim(3, 0), seq = draft.dim(3, 1), d = draft.dim(3, 2), kv = draft.dim(4, 0);
    draft.shape(0, { seq, heads, d }).shape(4, { kv, seq, d }).shape(5, { kv, seq, d })
        .need(kv > 0 && heads % kv == 0, INFINI_STATUS_BAD_TENSOR_SHAPE)
        .need(pos <= INT32_MAX, INFINI_STATUS_BAD_PARAM);
    for (int i = 1; i < 3; i++)
        draft.need(draft.dim(i, 0) == kv && draft.dim(i, 1) >= (int64_t)pos + seq && draft.dim(i, 2) == d,
                   INFINI_STATUS_BAD_TENSOR_SHAPE);
    return draft.finish();
}

namespace {

tsr_status attention(tsr_tensor **t, const InfiniopDescriptor &op)
{
    const int64_t pos = op.integer[0], end = pos + t[3]->shape[1];
    tsr_attention_options how = {};
    how.causal = true;
    View keys, values, out;
    TSR_TRY(write_slice(t[1], 1, pos, end, t[4]));
    TSR_TRY(write_slice(t[2], 1, pos, end, t[5]));
    TSR_TRY(tsr_slice(&keys, t[1], 1, 0, end, 1));
    TSR_TRY(tsr_slice(&values, t[2], 1, 0, end, 1));
    TSR_TRY(tsr_transpose(&out, t[0], 0, 1));
    return tsr_attention(&out, t[3], keys, values, nullptr, &how);
}

} // namespace

infiniStatus_t infiniopAttention(infiniopAttentionDescriptor_t desc, void *, size_t, void *out, const void *q,
                                 const void *k, const void *v, void *k_cache, void *v_cache, void *stream)
{
    return run(desc, TAG_Attention, stream, { out, k_cache, v_cache, q, k, v }, attention);
}

/* Caches ---------------------------------------------------------------------------------------- */

infiniStatus_t infiniopCreateKVCachingDescriptor(infiniopHandle_t handle,
                                                 infiniopKVCachingDescriptor_t *desc_ptr,
                                                 infiniopTensorDescriptor_t k_cache,
                                                 infiniopTensorDescriptor_t v_cache,
                                                 infiniopTensorDescriptor_t k, infiniopTensorDescriptor_t v,
                                                 infiniopTensorDescriptor_t past_kv_lengths)
{
    Draft draft(TAG_KVCaching, handle, desc_ptr, 2, { k_cache, v_cache, k, v, past_kv_lengths });
    return draft.one_dtype({ 0, 1, 2, 3 }).dtypes(4, INTEGERS).rank(0, 4, 4).one_shape({ 0, 1 })
        .shape(2, { draft.dim(0, 0), draft.dim(0, 1), draft.dim(2, 2), draft.dim(0, 3) }).one_shape({ 2, 3 })
        .need(draft.dim(2, 2) <= draft.dim(0, 2), INFINI_STATUS_BAD_TENSOR_SHAPE)
        .shape(4, { draft.dim(0, 0) }).finish();
}

namespace {

/* Row b of the cache, from past[b] on, becomes row b of src. */
tsr_status write_rows(tsr_tensor *cache, const tsr_tensor *src, const Packed<int64_t> &past)
{
    for (int64_t b = 0; b < cache->shape[0]; b++) {
        View row, mine;
        const int64_t end = past[b] + src->shape[2];
        if (past[b] < 0 || end > cache->shape[2]) return TSR_EINDEX;
        TSR_TRY(tsr_select(&row, cache, 0, b));
        TSR_TRY(tsr_select(&mine, src, 0, b));
        TSR_TRY(write_slice(row, 1, past[b], end, mine));
    }
    return TSR_OK;
}

} // namespace

infiniStatus_t infiniopKVCaching(infiniopKVCachingDescriptor_t desc, void *, size_t, void *k_cache,
                                 void *v_cache, const void *k, const void *v, const void *past_kv_lengths,
                                 void *stream)
{
    return run(desc, TAG_KVCaching, stream, { k_cache, v_cache, k, v, past_kv_lengths },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
        Packed<int64_t> past;
        TSR_TRY(past.read(t[4]));
        TSR_TRY(write_rows(t[0], t[2], past));
        return write_rows(t[1], t[3], past);
    });
}

/* A cache in pages is (blocks, heads, block size, d). */

infiniStatus_t infiniopCreatePagedCachingDescriptor(
    infiniopHandle_t handle, infiniopPagedCachingDescriptor_t *desc_ptr, infiniopTensorDescriptor_t k_cache,
    infiniopTensorDescriptor_t v_cache, infiniopTensorDescriptor_t k, infiniopTensorDescriptor_t v,
    infiniopTensorDescriptor_t slot_mapping)
{
    Draft draft(TAG_PagedCaching, handle, desc_ptr, 2, { k_cache, v_cache, k, v, slot_mapping });
    return draft.one_dtype({ 0, 1, 2, 3 }).dtypes(4, INTEGERS).rank(0, 4, 4).rank(2, 3, 3)
        .shape(1, { draft.dim(0, 0), draft.dim(0, 1), draft.dim(0, 2), draft.dim(1, 3) })
        .shape(2, { draft.dim(2, 0), draft.dim(0, 1), draft.dim(0, 3) })
        .shape(3, { draft.dim(2, 0), draft.dim(0, 1), draft.dim(1, 3) })
        .shape(4, { draft.dim(2, 0) }).finish();
}

namespace {

tsr_status write_slots(tsr_tensor *cache, const tsr_tensor *src, const Packed<int64_t> &slots)
{
    const int64_t size = cache->shape[2], room = cache->shape[0] * size;
    for (int64_t i = 0; i < src->shape[0]; i++) {
        View block, slot, token;
        if (slots[i] < 0) continue;
        if (slots[i] >= room) return TSR_EINDEX;
        TSR_TRY(tsr_select(&block, cache, 0, slots[i] / size));
        TSR_TRY(tsr_select(&slot, block, 1, slots[i] % size));
        TSR_TRY(tsr_select(&token, src, 0, i));
        TSR_TRY(tsr_copy(slot, token));
    }
    return TSR_OK;
}

} // namespace

infiniStatus_t infiniopPagedCaching(infiniopPagedCachingDescriptor_t desc, void *, size_t, void *k_cache,
                                    void *v_cache, const void *k, const void *v, const void *slot_mapping,
                                    void *stream)
{
    return run(desc, TAG_PagedCaching, stream, { k_cache, v_cache, k, v, slot_mapping },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
        Packed<int64_t> slots;
        TSR_TRY(slots.read(t[4]));
        TSR_TRY(write_slots(t[0], t[2], slots));
        return write_slots(t[1], t[3], slots);
    });
}

/* Attention to pages ------------------------------------------------------------------------------ */

namespace {

/* Tensors: out, q, k_cache, v_cache, block_tables, seq_lens, alibi_slopes, and maybe cum_seq_lens_q. */
void need_pages(Draft &draft, float scale)
{
    draft.op.number[0] = scale_of(scale);
    const int64_t heads = draft.dim(1, 1), kv = draft.dim(2, 1);
    draft.dtypes(0, FLOATS).one_dtype({ 0, 1, 2, 3 }).dtypes(4, INTEGERS).dtypes(5, INTEGERS)
        .dtypes(6, FLOATS).rank(1, 3, 3).rank(2, 4, 4)
        .shape(3, { draft.dim(2, 0), kv, draft.dim(2, 2), draft.dim(3, 3) })
        .shape(0, { draft.dim(1, 0), heads, draft.dim(3, 3) })
        .need(draft.dim(2, 3) == draft.dim(1, 2) && kv > 0 && heads % kv == 0 && draft.dim(2, 2) > 0,
              INFINI_STATUS_BAD_TENSOR_SHAPE)
        .rank(4, 2, 2).shape(5, { draft.dim(4, 0) }).shape(6, { heads })
        .need(scale == scale && scale - scale == 0, INFINI_STATUS_BAD_PARAM);
}

} // namespace

tsr_status face::gather_pages(tsr_tensor **out, const tsr_tensor *cache, const tsr_tensor *table, int64_t n)
{
    const int64_t size = cache->shape[2], blocks = (n + size - 1) / size;
    const int64_t flat[3] = { cache->shape[1], blocks * size, cache->shape[3] };
    Temp pages, joined;
    View used, heads_first;
    if (n < 0 || blocks > table->shape[0]) return TSR_EINDEX;
    TSR_TRY(tsr_slice(&used, table, 0, 0, blocks, 1));
    TSR_TRY(tsr_take(&pages, cache, used, 0));
    TSR_TRY(tsr_transpose(&heads_first, pages, 0, 1));
    TSR_TRY(tsr_reshape(&joined, heads_first, 3, flat));
    return tsr_slice(out, joined, 1, 0, n, 1);
}

namespace {

/* slope * (j - last) for key j of n, (heads, 1, n). Row i of m may look at i + n - m + 1 of them, so its
 * own last key comes earlier; as softmax does not mind a constant, one row serves all. */
tsr_status alibi_mask(tsr_tensor **out, const tsr_tensor *slopes, int64_t n)
{
    Temp host, distance, wide_slopes;
    View column;
    TSR_TRY(tsr_arange(&host, TSR_F32, TSR_SCALAR((double)(1 - n)), TSR_SCALAR(0.5), TSR_SCALAR(1)));
    TSR_TRY(tsr_to(&distance, host, tsr_device_of(slopes)));
    TSR_TRY(tsr_cast(&wide_slopes, slopes, TSR_F32));
    TSR_TRY(tsr_unsqueeze(&column, wide_slopes, 1));
    TSR_TRY(tsr_unsqueeze(&column, column, 2));
    return tsr_mul(out, column, distance);
}

/* Rows first .. end - 1 of q to the n keys of sequence i. */
tsr_status attend(tsr_tensor **t, const InfiniopDescriptor &op, int64_t i, int64_t first, int64_t end,
                  int64_t n)
{
    Temp keys, values, mask;
    View table, q, out;
    tsr_attention_options how = {};
    how.scale = op.number[0];
    how.causal = true;
    TSR_TRY(tsr_select(&table, t[4], 0, i));
    TSR_TRY(gather_pages(&keys, t[2], table, n));
    TSR_TRY(gather_pages(&values, t[3], table, n));
    if (t[6]) TSR_TRY(alibi_mask(&mask, t[6], n));
    TSR_TRY(tsr_slice(&q, t[1], 0, first, end, 1));
    TSR_TRY(tsr_transpose(&q, q, 0, 1));
    TSR_TRY(tsr_slice(&out, t[0], 0, first, end, 1));
    TSR_TRY(tsr_transpose(&out, out, 0, 1));
    return tsr_attention(&out, q, keys, values, mask, &how);
}

} // namespace

infiniStatus_t infiniopCreatePagedAttentionDescriptor(
    infiniopHandle_t handle, infiniopPagedAttentionDescriptor_t *desc_ptr, infiniopTensorDescriptor_t out,
    infiniopTensorDescriptor_t q, infiniopTensorDescriptor_t k_cache, infiniopTensorDescriptor_t v_cache,
    infiniopTensorDescriptor_t block_tables, infiniopTensorDescriptor_t seq_lens,
    infiniopTensorDescriptor_t alibi_slopes, float scale)
{
    Draft draft(TAG_PagedAttention, handle, desc_ptr, 1,
                { out, q, k_cache, v_cache, block_tables, seq_lens, alibi_slopes }, 1u << 6);
    need_pages(draft, scale);
    return draft.need(draft.dim(4, 0) == draft.dim(1, 0), INFINI_STATUS_BAD_TENSOR_SHAPE).finish();
}

infiniStatus_t infiniopPagedAttention(infiniopPagedAttentionDescriptor_t desc, void *, size_t, void *out,
                                      const void *q, const void *k_cache, const void *v_cache,
                                      const void *block_tables, const void *seq_lens,
                                      const void *alibi_slopes, void *stream)
{
    return run(desc, TAG_PagedAttention, stream,
               { out, q, k_cache, v_cache, block_tables, seq_lens, alibi_slopes },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Packed<int64_t> lengths;
                   TSR_TRY(lengths.read(t[5]));
                   for (int64_t i = 0; i < t[1]->shape[0]; i++)
                       TSR_TRY(attend(t, op, i, i, i + 1, lengths[i]));
                   return TSR_OK;
               });
}

infiniStatus_t infiniopCreatePagedAttentionPrefillDescriptor(
    infiniopHandle_t handle, infiniopPagedAttentionPrefillDescriptor_t *desc_ptr,
    infiniopTensorDescriptor_t out, infiniopTensorDescriptor_t q, infiniopTensorDescriptor_t k_cache,
    infiniopTensorDescriptor_t v_cache, infiniopTensorDescriptor_t block_tables,
    infiniopTensorDescriptor_t seq_lens, infiniopTensorDescriptor_t cum_seq_lens_q,
    infiniopTensorDescriptor_t alibi_slopes, float scale)
{
    Draft draft(TAG_PagedAttentionPrefill, handle, desc_ptr, 1,
                { out, q, k_cache, v_cache, block_tables, seq_lens, alibi_slopes, cum_seq_lens_q }, 1u << 6);
    need_pages(draft, scale);
    return draft.dtypes(7, INTEGERS).shape(7, { draft.dim(4, 0) + 1 }).finish();
}

infiniStatus_t infiniopPagedAttentionPrefill(infiniopPagedAttentionPrefillDescriptor_t desc, void *, size_t,
                                             void *out, const void *q, const void *k_cache,
                                             const void *v_cache, const void *block_tables,
                                             const void *seq_lens, const void *cum_seq_lens_q,
                                             const void *alibi_slopes, void *stream)
{
    return run(desc, TAG_PagedAttentionPrefill, stream,
               { out, q, k_cache, v_cache, block_tables, seq_lens, alibi_slopes, cum_seq_lens_q },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
        Packed<int64_t> lengths, starts;
        TSR_TRY(lengths.read(t[5]));
        TSR_TRY(starts.read(t[7]));
        for (int64_t i = 0; i < t[4]->shape[0]; i++) {
            if (starts[i] < 0 || starts[i] > starts[i + 1] || starts[i + 1] > t[1]->shape[0])
                return TSR_EINDEX;
            TSR_TRY(attend(t, op, i, starts[i], starts[i + 1], lengths[i]));
        }
        return TSR_OK;
    });
}

/* Attention to the first keys ------------------------------------------------------------------------ */

/* q (batch, heads, m, d), k and v (batch, kv heads, n, ...): row b sees the first total_kv_len[b] keys. */
infiniStatus_t infiniopCreateFlashAttentionDescriptor(Handle handle, Desc *out, T y, T q, T k, T v,
                                                      T total_kv_len, float scale, char is_causal)
{
    Draft draft(TAG_FlashAttention, handle, out, 1, { y, q, k, v, total_kv_len });
    const int64_t batch = draft.dim(1, 0), heads = draft.dim(1, 1), kv = draft.dim(2, 1);
    draft.op.number[0] = scale_of(scale);
    draft.op.integer[0] = is_causal;
    return draft.dtypes(0, FLOATS).one_dtype({ 0, 1, 2, 3 }).dtypes(4, INTEGERS).rank(1, 4, 4)
        .shape(2, { batch, kv, draft.dim(2, 2), draft.dim(1, 3) })
        .shape(3, { batch, kv, draft.dim(2, 2), draft.dim(3, 3) })
        .shape(0, { batch, heads, draft.dim(1, 2), draft.dim(3, 3) }).shape(4, { batch })
        .need(kv > 0 && heads % kv == 0, INFINI_STATUS_BAD_TENSOR_SHAPE)
        .need(scale == scale && scale - scale == 0, INFINI_STATUS_BAD_PARAM).finish();
}

namespace {

tsr_status attend_to_first(tsr_tensor **t, const InfiniopDescriptor &op, int64_t b, int64_t n)
{
    View part[4];
    tsr_attention_options how = {};
    how.scale = op.number[0];
    how.causal = op.integer[0] != 0;
    if (n < 0 || n > t[2]->shape[2]) return TSR_EINDEX;
    for (int i = 0; i < 4; i++) TSR_TRY(tsr_select(&part[i], t[i], 0, b));
    for (int i = 2; i < 4; i++) TSR_TRY(tsr_slice(&part[i], part[i], 1, 0, n, 1));
    return tsr_attention(&part[0], part[1], part[2], part[3], nullptr, &how);
}

} // namespace

infiniStatus_t infiniopFlashAttention(Desc desc, P, size_t, P y, C q, C k, C v, C total_kv_len, P stream)
{
    return run(desc, TAG_FlashAttention, stream, { y, q, k, v, total_kv_len },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
        Packed<int64_t> lengths;
        TSR_TRY(lengths.read(t[4]));
        for (int64_t b = 0; b < t[1]->shape[0]; b++) TSR_TRY(attend_to_first(t, op, b, lengths[b]));
        return TSR_OK;
    });
}
