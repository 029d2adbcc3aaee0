/* sparse_attention.cpp - native sparse attention to a cache in pages: each row looks at the means of blocks,
 * at the blocks whose means suit it best, and at a window of the latest tokens.
 *
 * Caches are (pages, kv heads, page size, d). A page has page size / block size blocks; their means are
 * (pages * blocks of a page, kv heads, d). */
#include "host.h"

#include <algorithm>
#include <cmath>

using namespace face;

namespace {

/* k and v means, caches, tables and lengths are the tensors k, k + 1, ..., k + 5. */
void need_blocks(Draft &draft, int k, int block_size)
{
    const int64_t page = draft.dim(k + 2, 2), size = block_size, heads = draft.dim(k + 2, 1);
    draft.need(block_size > 0, INFINI_STATUS_BAD_TENSOR_SHAPE);
    if (!draft.good()) return;
    draft.dtypes(k, FLOATS).one_dtype({ k, k + 1, k + 2, k + 3 }).dtypes(k + 4, INTEGERS)
        .dtypes(k + 5, INTEGERS).rank(k + 2, 4, 4).one_shape({ k + 2, k + 3 })
        .need(page > 0 && page % size == 0 && heads > 0, INFINI_STATUS_BAD_TENSOR_SHAPE)
        .shape(k, { draft.dim(k + 2, 0) * (page / size), heads, draft.dim(k + 2, 3) }).one_shape({ k, k + 1 })
        .rank(k + 4, 2, 2).shape(k + 5, { draft.dim(k + 4, 0) });
    draft.op.integer[0] = size;
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

} // namespace

/* Means of blocks ------------------------------------------------------------------------------ */

infiniStatus_t infiniopCreateNsaCompressPagedCacheDescriptor(Handle handle, Desc *out, T k_cmp, T v_cmp,
                                                             T k_cache, T v_cache, T block_tables, T seq_lens,
                                                             int nsa_block_size, int update_last_only)
{
    Draft draft(TAG_NsaCompressPagedCache, handle, out, 2,
                { k_cmp, v_cmp, k_cache, v_cache, block_tables, seq_lens });
    draft.op.integer[1] = update_last_only;
    need_blocks(draft, 0, nsa_block_size);
    return draft.finish();
}

namespace {

/* Rows from `row` on, n of them, of one page: their mean. */
tsr_status write_mean(tsr_tensor *means, int64_t block, const tsr_tensor *cache, int64_t page, int64_t row,
                      int64_t n)
{
    const int axis = 1;
    Temp numbers, mean;
    View rows, to;
    TSR_TRY(tsr_select(&rows, cache, 0, page));
    TSR_TRY(tsr_slice(&rows, rows, 1, row, row + n, 1));
    TSR_TRY(tsr_cast(&numbers, rows, wide(cache)));
    TSR_TRY(tsr_mean(&mean, numbers, 1, &axis, false));
    TSR_TRY(tsr_select(&to, means, 0, block));
    return tsr_copy(to, mean);
}

tsr_status compress(tsr_tensor **t, const InfiniopDescriptor &op)
{
    const int64_t size = op.integer[0], page = t[2]->shape[2], room = t[4]->shape[1];
    Packed<int64_t> tables, lengths;
    TSR_TRY(tables.read(t[4]));
    TSR_TRY(lengths.read(t[5]));
    for (int64_t s = 0; s < t[4]->shape[0]; s++) {
        const int64_t n = lengths[s];
        if (n <= 0) continue;
        if (n > room * page) return TSR_EINDEX;
        for (int64_t at = op.integer[1] ? (n - 1) / size * size : 0; at < n; at += size) {
            const int64_t where = tables[s * room + at / page], row = at % page,
                          count = std::min(size, n - at);
            if (where < 0 || where >= t[2]->shape[0]) return TSR_EINDEX;
            for (int i = 0; i < 2; i++)
                TSR_TRY(write_mean(t[i], (where * page + row) / size, t[i + 2], where, row, count));
        }
    }
    return TSR_OK;
}

} // namespace

infiniStatus_t infiniopNsaCompressPagedCache(Desc desc, P, size_t, P k_cmp, P v_cmp, C k_cache, C v_cache,
                                             C block_tables, C seq_lens, P stream)
{
    return run(desc, TAG_NsaCompressPagedCache, stream,
               { k_cmp, v_cmp, k_cache, v_cache, block_tables, seq_lens }, compress);
}

/* Attention ------------------------------------------------------------------------------------ */

infiniStatus_t infiniopCreateNsaPagedAttentionDescriptor(Handle handle, Desc *out, T y, T q, T k_cmp, T v_cmp,
                                                         T k_cache, T v_cache, T block_tables, T seq_lens,
                                                         T gates, float scale, int nsa_block_size,
                                                         int window_size, int select_blocks)
{
    Draft draft(TAG_NsaPagedAttention, handle, out, 1,
                { y, q, k_cmp, v_cmp, k_cache, v_cache, block_tables, seq_lens, gates });
    const int64_t rows = draft.dim(1, 0), heads = draft.dim(1, 1);
    need_blocks(draft, 2, nsa_block_size);
    draft.op.integer[1] = window_size;
    draft.op.integer[2] = select_blocks;
    draft.op.number[0] = scale;
    return draft.one_dtype({ 0, 1, 2 }).dtypes(8, FLOATS).rank(1, 3, 3).one_shape({ 0, 1 })
        .shape(8, { rows, 3, heads }).shape(7, { rows })
        .need(draft.dim(1, 2) == draft.dim(4, 3) && draft.good() && heads % draft.dim(4, 1) == 0 &&
                  window_size >= 0 && select_blocks > 0, INFINI_STATUS_BAD_TENSOR_SHAPE)
        .need(scale == scale && scale - scale == 0, INFINI_STATUS_BAD_PARAM).finish();
}

namespace {

/* Keys and values of one head: n rows of d numbers, `step` apart. */
struct Rows {
    const double *keys, *values;
    int64_t       n, step, d;
};

double score(const Rows &rows, int64_t i, const double *q)
{
    double sum = 0;
    for (int64_t j = 0; j < rows.d; j++) sum += q[j] * rows.keys[i * rows.step + j];
    return sum;
}

/* out += gate softmax(scores) values; -infinity in scores is a row that is not looked at. */
void mix(double *out, const Rows &rows, const double *scores, double gate)
{
    const double most = rows.n ? *std::max_element(scores, scores + rows.n) : -INFINITY;
    double sum = 0;
    if (most == -INFINITY) return;
    for (int64_t i = 0; i < rows.n; i++) sum += std::exp(scores[i] - most);
    for (int64_t i = 0; i < rows.n; i++) {
        const double weight = gate * std::exp(scores[i] - most) / sum;
        for (int64_t j = 0; weight != 0 && j < rows.d; j++) out[j] += weight * rows.values[i * rows.step + j];
    }
}

struct Sparse {
    double  scale;
    int64_t size, window, selected;
};

/* The selected blocks' tokens get scores, the others -infinity. Of equal blocks the first is selected. */
void score_selected(double *scores, double *of_blocks, int64_t blocks, const Rows &tokens, const double *q,
                    const Sparse &how)
{
    std::fill_n(scores, tokens.n, -INFINITY);
    for (int64_t k = 0; k < std::min(how.selected, blocks); k++) {
        const int64_t best = std::max_element(of_blocks, of_blocks + blocks) - of_blocks;
        const int64_t end = std::min((best + 1) * how.size, tokens.n);
        if (of_blocks[best] == -INFINITY) return;
        for (int64_t i = best * how.size; i < end; i++) scores[i] = how.scale * score(tokens, i, q);
        of_blocks[best] = -INFINITY;
    }
}

/* Three mixtures, with gates `step` apart. scratch holds tokens.n + means.n numbers. */
void attend_sparsely(double *out, const double *q, const Rows &means, const Rows &tokens,
                     const double *gates, int64_t step, const Sparse &how, double *scratch)
{
    double *scores = scratch, *of_blocks = scratch + tokens.n;
    std::fill_n(out, tokens.d, 0.0);
    for (int64_t i = 0; i < means.n; i++) of_blocks[i] = how.scale * score(means, i, q);
    mix(out, means, of_blocks, gates[0]);
    score_selected(scores, of_blocks, means.n, tokens, q, how);
    mix(out, tokens, scores, gates[step]);
    for (int64_t i = 0; i < tokens.n; i++)
        scores[i] = i >= tokens.n - how.window ? how.scale * score(tokens, i, q) : -INFINITY;
    mix(out, tokens, scores, gates[2 * step]);
}

/* The means of the pages that `table` names, in order: (blocks, kv heads, d). */
tsr_status gather_means(Packed<double> *out, const tsr_tensor *means, const tsr_tensor *table, int64_t pages,
                        int64_t of_page)
{
    const int64_t split[2] = { -1, of_page };
    Temp taken;
    View by_page, used;
    TSR_TRY(tsr_split_dim(&by_page, means, 0, 2, split));
    TSR_TRY(tsr_slice(&used, table, 0, 0, pages, 1));
    TSR_TRY(tsr_take(&taken, by_page, used, 0));
    return out->read(taken);
}

tsr_status gather_tokens(Packed<double> *out, const tsr_tensor *cache, const tsr_tensor *table, int64_t n)
{
    Temp pages;
    TSR_TRY(gather_pages(&pages, cache, table, n));
    return out->read(pages);
}

/* Tensors of infiniopNsaPagedAttention; out, q and gates are those of sequence s. */
tsr_status attend_row(tsr_tensor **t, const Sparse &how, int64_t s, int64_t n, double *out, const double *q,
                      const double *gates)
{
    const int64_t heads = t[1]->shape[1], kv = t[4]->shape[1], page = t[4]->shape[2], d = t[4]->shape[3];
    Packed<double> k, v, k_means, v_means, scratch;
    View table;
    TSR_TRY(tsr_select(&table, t[6], 0, s));
    TSR_TRY(gather_tokens(&k, t[4], table, n));
    TSR_TRY(gather_tokens(&v, t[5], table, n));
    TSR_TRY(gather_means(&k_means, t[2], table, ceil_div(n, page), page / how.size));
    TSR_TRY(gather_means(&v_means, t[3], table, ceil_div(n, page), page / how.size));
    const int64_t blocks = ceil_div(n, how.size);
    TSR_TRY(scratch.make(n + blocks));
    for (int64_t h = 0; h < heads; h++) {
        const int64_t of_kv = h / (heads / kv);
        const Rows means = { k_means + of_kv * d, v_means + of_kv * d, blocks, kv * d, d };
        const Rows tokens = { k + of_kv * n * d, v + of_kv * n * d, n, d, d };
        attend_sparsely(out + h * d, q + h * d, means, tokens, gates + h, heads, how, scratch.get());
    }
    return TSR_OK;
}

} // namespace

infiniStatus_t infiniopNsaPagedAttention(Desc desc, P, size_t, P y, C q, C k_cmp, C v_cmp, C k_cache,
                                         C v_cache, C block_tables, C seq_lens, C gates, P stream)
{
    return run(desc, TAG_NsaPagedAttention, stream,
               { y, q, k_cmp, v_cmp, k_cache, v_cache, block_tables, seq_lens, gates },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
        const Sparse how = { op.number[0], op.integer[0], op.integer[1], op.integer[2] };
        const int64_t row = t[1]->shape[1] * t[1]->shape[2], of_gates = 3 * t[1]->shape[1];
        Packed<int64_t> lengths;
        Packed<double> out, rows, weights;
        TSR_TRY(lengths.read(t[7]));
        TSR_TRY(out.make(t[0]));
        TSR_TRY(rows.read(t[1]));
        TSR_TRY(weights.read(t[8]));
        for (int64_t s = 0; s < t[1]->shape[0]; s++)
            TSR_TRY(attend_row(t, how, s, lengths[s], out + s * row, rows + s * row, weights + s * of_gates));
        return out.write(t[0]);
    });
}
