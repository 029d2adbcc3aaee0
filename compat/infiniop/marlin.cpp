/* marlin.cpp - products with weights of 4 and 8 bits in the layouts of particular GPU kernels. Weights are
 * expanded to f32 on the host, and multiplied where the operands are. */
#include "host.h"

#include <algorithm>

using namespace face;

namespace {

constexpr Dtypes WORDS = set_of(INFINI_DTYPE_I32) | set_of(INFINI_DTYPE_U32);

/* Packed<uint32_t> reads words of either sign as they are. */
void read_as_words(Draft &draft, int i)
{
    if (draft.good() && draft.has(i)) draft[i].dtype = TSR_U32;
}

/* out = a w + bias; w is (k, n), bias (n) or NULL. */
tsr_status multiply(tsr_tensor *out, const tsr_tensor *a, const Packed<float> &w, const tsr_tensor *bias)
{
    Temp weights, x, product;
    TSR_TRY(tsr_to(&weights, w.tensor(), tsr_device_of(a)));
    TSR_TRY(tsr_cast(&x, a, TSR_F32));
    TSR_TRY(tsr_matmul(&product, x, weights));
    if (bias) TSR_TRY(tsr_add(&product, product, bias));
    return tsr_copy(out, product);
}

/* Which of the columns of a group comes i-th in a word, for 4 and 8 bits. */
const int in_words[2][8] = { { 0, 2, 4, 6, 1, 3, 5, 7 }, { 0, 2, 1, 3 } };
const int in_words_of_bytes[2][8] = { { 0, 4, 1, 5, 2, 6, 3, 7 }, { 0, 1, 2, 3 } };

/* Marlin's layout: tiles of 16 columns and 16 rows (32 where the other operand is of 8 bits), one after
 * the other, in which each 1024 weights are permuted so that a thread of the kernel finds its own together.
 * `per_word` weights make a word, the first in the lowest bits. */
class Marlin {
public:
    Marlin(int bits, bool bytes, int64_t columns) : rows_(bytes ? 32 : 16), columns_(columns)
    {
        const int per_word = 32 / bits, pairs = bytes ? 4 : 2;
        const int *order = bytes ? in_words_of_bytes[bits == 8] : in_words[bits == 8];
        for (int i = 0; i < 1024; i++) {
            const int from = i / per_word * per_word + order[i % per_word];
            const int lane = from / 32, within = from % (4 * pairs), r = within % (2 * pairs);
            const int row = pairs * (lane % 4) + r % pairs + 4 * pairs * (r / pairs);
            at_[i] =
                128 * pairs * (from % 32 / (4 * pairs)) + 16 * row + lane / 4 + 8 * (within / (2 * pairs));
        }
    }

    /* Where weight i of the layout lies in the matrix, row-major. */
    int64_t place(int64_t i) const
    {
        const int64_t e = i / 1024 * 1024 + at_[i % 1024], tiles = rows_ * columns_, in = e % tiles;
        const int64_t row = e / tiles * rows_ + in / 16 % rows_, column = in / (16 * rows_) * 16 + in % 16;
        return row * columns_ + column;
    }

private:
    int     at_[1024];
    int64_t rows_, columns_;
};

uint32_t field(uint32_t word, int bits, int64_t i) { return word >> (bits * i) & ((1u << bits) - 1); }

} // namespace

/* Repacking ------------------------------------------------------------------------------------ */

namespace {

/* Tensors: output (k / 16, 16 n / per word), input, and maybe perm (k). */
infiniStatus_t create_repack(Draft &draft, int64_t k, int64_t n, int64_t bits, bool bytes)
{
    draft.need(bits == 4 || bits == 8, INFINI_STATUS_BAD_PARAM);
    if (!draft.good()) return draft.finish();
    draft.op.integer[0] = bits;
    draft.op.integer[1] = bytes;
    draft.dtypes(0, WORDS).dtypes(1, WORDS).dtypes(2, INTEGERS)
        .need(k % (bytes ? 32 : 16) == 0 && n % 64 == 0, INFINI_STATUS_BAD_TENSOR_SHAPE)
        .shape(0, { k / 16, n * 16 * bits / 32 });
    read_as_words(draft, 0);
    read_as_words(draft, 1);
    return draft.finish();
}

/* weight(row, column) of the matrix (k, n) to Marlin's layout. */
template <class Weight>
tsr_status repack(tsr_tensor *out, int64_t k, int64_t n, const InfiniopDescriptor &op, Weight &&weight)
{
    const int bits = (int)op.integer[0], per_word = 32 / bits;
    const Marlin layout(bits, op.integer[1], n);
    Packed<uint32_t> words;
    TSR_TRY(words.make(out));
    for (int64_t i = 0; i < k * n; i++) {
        const int64_t at = layout.place(i);
        if (i % per_word == 0) words[i / per_word] = 0;
        words[i / per_word] |= weight(at / n, at % n) << (i % per_word * bits);
    }
    return words.write(out);
}

} // namespace

/* From AWQ's: (k, n / per word), a word having columns in an order of its own. */
infiniStatus_t infiniopCreateAwqMarlinRepackDescriptor(Handle handle, Desc *out, T output, T input,
                                                       int64_t num_bits, bool is_a_8bit)
{
    Draft draft(TAG_AwqMarlinRepack, handle, out, 1, { output, input });
    draft.rank(1, 2, 2);
    return create_repack(draft, draft.dim(1, 0), draft.dim(1, 1) * (num_bits == 8 ? 4 : 8), num_bits,
                         is_a_8bit);
}

infiniStatus_t infiniopAwqMarlinRepack(Desc desc, P, size_t, P output, C input, P stream)
{
    return run(desc, TAG_AwqMarlinRepack, stream, { output, input },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
        const int bits = (int)op.integer[0], per_word = 32 / bits;
        const int64_t n = t[1]->shape[1] * per_word;
        const int *order = in_words[bits == 8];
        Packed<uint32_t> words;
        TSR_TRY(words.read(t[1]));
        return repack(t[0], t[1]->shape[0], n, op, [&](int64_t row, int64_t column) {
            const int64_t i = std::find(order, order + per_word, column % per_word) - order;
            return field(words[(row * n + column) / per_word], bits, i);
        });
    });
}

/* From GPTQ's: (k / per word, n), a word having rows; row i of the result is row perm[i]. */
infiniStatus_t infiniopCreateGptqMarlinRepackDescriptor(Handle handle, Desc *out, T output, T input, T perm,
                                                        int64_t num_bits, bool is_a_8bit)
{
    Draft draft(TAG_GptqMarlinRepack, handle, out, 1, { output, input, perm }, 1u << 2);
    draft.rank(1, 2, 2);
    const int64_t k = draft.dim(1, 0) * (num_bits == 8 ? 4 : 8);
    if (draft.good() && draft.has(2) && !tsr_desc_numel(&draft[2])) draft.op.given &= ~(1u << 2);
    draft.shape(2, { k });
    return create_repack(draft, k, draft.dim(1, 1), num_bits, is_a_8bit);
}

infiniStatus_t infiniopGptqMarlinRepack(Desc desc, P, size_t, P output, C input, C perm, P stream)
{
    return run(desc, TAG_GptqMarlinRepack, stream, { output, input, perm },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
        const int bits = (int)op.integer[0], per_word = 32 / bits;
        const int64_t k = t[1]->shape[0] * per_word, n = t[1]->shape[1];
        Packed<uint32_t> words;
        Packed<int64_t> from;
        TSR_TRY(words.read(t[1]));
        TSR_TRY(from.read(t[2]));
        for (int64_t i = 0; from.get() && i < k; i++)
            if (from[i] < 0 || from[i] >= k) return TSR_EINDEX;
        return repack(t[0], k, n, op, [&](int64_t row, int64_t column) {
            if (from.get()) row = from[row];
            return field(words[row / per_word * n + column], bits, row % per_word);
        });
    });
}

/* Products ------------------------------------------------------------------------------------- */

namespace {

/* Scales, zero points and biases are permuted within 64 columns, or within 32 where there is one group. */
int64_t column_of_64(int64_t i) { return i / 64 * 64 + i % 64 / 8 + 8 * (i % 8); }
int64_t column_of_32(int64_t i) { return i / 32 * 32 + 2 * (i % 32 / 8) + i % 2 + 8 * (i % 8 / 2); }

enum { OUT, A, B, SCALES, ZEROS, G_IDX, PERM, BIAS };

/* Tensors that are given without elements are none. */
infiniStatus_t create_product(Draft &draft)
{
    for (int i = ZEROS; draft.good() && i <= BIAS; i++)
        if (draft.has(i) && !tsr_desc_numel(&draft[i])) draft.op.given &= ~(1u << i);
    const int64_t m = draft.dim(A, 0), k = draft.dim(A, 1), n = draft.dim(OUT, 1),
                  groups = draft.dim(SCALES, 0);
    draft.dtypes(OUT, SHORT_FLOATS).one_dtype({ OUT, A }).dtypes(B, WORDS).dtypes(SCALES, FLOATS)
        .dtypes(ZEROS, WORDS).dtypes(G_IDX, INTEGERS).dtypes(PERM, INTEGERS).dtypes(BIAS, FLOATS)
        .rank(A, 2, 2).shape(OUT, { m, n })
        .need(k > 0 && k % 16 == 0 && n > 0 && n % 64 == 0, INFINI_STATUS_BAD_TENSOR_SHAPE);
    if (!draft.good()) return draft.finish();
    const int64_t per_word = draft.dim(B, 1) ? n * 16 / draft.dim(B, 1) : 0;
    draft.need(per_word == 4 || per_word == 8, INFINI_STATUS_BAD_TENSOR_SHAPE);
    if (!draft.good()) return draft.finish();
    draft.op.integer[0] = 32 / per_word;
    draft.shape(B, { k / 16, n * 16 / per_word }).shape(SCALES, { groups, n })
        .shape(ZEROS, { groups, n / per_word }).shape(G_IDX, { k }).shape(PERM, { k }).shape(BIAS, { n })
        .need(groups > 0 && (draft.has(G_IDX) || k % groups == 0) && draft.has(G_IDX) == draft.has(PERM),
              INFINI_STATUS_BAD_TENSOR_SHAPE);
    read_as_words(draft, B);
    read_as_words(draft, ZEROS);
    return draft.finish();
}

/* What a number of the original's for a kind of weights says. */
struct Kind {
    int64_t exponent, bits, is_signed, bias;
    explicit Kind(int64_t id)
        : exponent(id & 255), bits(id >> 8 & 255), is_signed(id >> 16 & 1), bias((int32_t)(id >> 17))
    {
    }
};

/* Zero points (groups, n): of words where they are given, else the kind's bias. */
tsr_status read_zeros(Packed<float> *out, tsr_tensor *const *t, const Kind &kind)
{
    const int64_t count = tsr_numel(t[SCALES]), per_word = 32 / kind.bits;
    Packed<uint32_t> words;
    TSR_TRY(words.read(t[ZEROS]));
    TSR_TRY(out->make(count));
    for (int64_t i = 0; i < count; i++) {
        const int64_t word = i / per_word;
        const int64_t from = word * per_word + in_words[kind.bits == 8][i % per_word];
        if (words.get())
            (*out)[column_of_64(from)] = (float)field(words[word], (int)kind.bits, i % per_word);
        else
            (*out)[i] = (float)kind.bias;
    }
    return TSR_OK;
}

tsr_status read_scales(Packed<float> *out, const tsr_tensor *scales)
{
    Packed<float> permuted;
    TSR_TRY(permuted.read(scales));
    TSR_TRY(out->make(tsr_numel(scales)));
    for (int64_t i = 0; i < tsr_numel(scales); i++)
        (*out)[scales->shape[0] > 1 ? column_of_64(i) : column_of_32(i)] = permuted[i];
    return TSR_OK;
}

/* The group of each row. */
tsr_status read_groups(Packed<int64_t> *out, tsr_tensor *const *t)
{
    const int64_t k = t[A]->shape[1], groups = t[SCALES]->shape[0];
    if (t[G_IDX]) TSR_TRY(out->read(t[G_IDX]));
    else TSR_TRY(out->make(k));
    for (int64_t i = 0; i < k; i++) {
        if (!t[G_IDX]) (*out)[i] = i / (k / groups);
        if ((*out)[i] < 0 || (*out)[i] >= groups) return TSR_EINDEX;
    }
    return TSR_OK;
}

tsr_status expand_weights(Packed<float> *out, tsr_tensor *const *t, const Kind &kind)
{
    const int64_t n = t[SCALES]->shape[1], shape[2] = { t[A]->shape[1], n }, per_word = 32 / kind.bits;
    const Marlin layout((int)kind.bits, false, n);
    Packed<uint32_t> words;
    Packed<float> scales, zeros;
    Packed<int64_t> groups;
    TSR_TRY(words.read(t[B]));
    TSR_TRY(read_scales(&scales, t[SCALES]));
    TSR_TRY(read_zeros(&zeros, t, kind));
    TSR_TRY(read_groups(&groups, t));
    TSR_TRY(out->make(2, shape));
    for (int64_t i = 0; i < shape[0] * n; i++) {
        const int64_t at = layout.place(i), of_group = groups[at / n] * n + at % n;
        const float q = (float)field(words[i / per_word], (int)kind.bits, i % per_word);
        (*out)[at] = (q - zeros[of_group]) * scales[of_group];
    }
    return TSR_OK;
}

tsr_status read_bias(tsr_tensor **out, const tsr_tensor *bias)
{
    if (!bias) return TSR_OK;
    Packed<float> permuted, straight;
    TSR_TRY(permuted.read(bias));
    TSR_TRY(straight.make(bias));
    for (int64_t i = 0; i < bias->shape[0]; i++) straight[column_of_32(i)] = permuted[i];
    return tsr_to(out, straight.tensor(), tsr_device_of(bias));
}

/* Rows of the weights are sorted by group where there is a perm: column perm[i] of a belongs to row i. */
infiniStatus_t run_product(const InfiniopDescriptor *desc, Tag tag, P stream, const void *const (&data)[8],
                           int64_t kind_id, bool float_zeros)
{
    const Kind kind(kind_id);
    FACE_TRY(check(desc, tag));
    if (kind.exponent || kind.is_signed || float_zeros) return INFINI_STATUS_NOT_IMPLEMENTED;
    const bool has_zeros = desc->given >> ZEROS & 1;
    if (kind.bits != desc->integer[0] || has_zeros != (kind.bias == 0)) return INFINI_STATUS_BAD_PARAM;
    return run_checked(desc, stream, data, [&](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
        Packed<float> weights;
        Temp a, bias;
        TSR_TRY(expand_weights(&weights, t, kind));
        TSR_TRY(read_bias(&bias, t[BIAS]));
        if (t[PERM]) TSR_TRY(tsr_take(&a, t[A], t[PERM], 1));
        return multiply(t[OUT], t[PERM] ? a : t[A], weights, bias);
    });
}

} // namespace

/* Scales of the other operand, and one for all, are for operands of 8 bits and weights that are floats. */
infiniStatus_t infiniopCreateAwqMarlinGemmDescriptor(Handle handle, Desc *out, T y, T a, T b, T b_bias,
                                                     T b_scales, T a_scales, T global_scales, T b_zeros,
                                                     T g_idx, T perm)
{
    Draft draft(TAG_AwqMarlinGemm, handle, out, 1, { y, a, b, b_scales, b_zeros, g_idx, perm, b_bias },
                15u << ZEROS);
    draft.need(!a_scales && !global_scales, INFINI_STATUS_NOT_IMPLEMENTED);
    return create_product(draft);
}

infiniStatus_t infiniopAwqMarlinGemm(Desc desc, P, size_t, P y, C a, C b, P b_bias, P b_scales, P, P,
                                     P b_zeros, P g_idx, P perm, int64_t b_q_type_id, bool, bool, bool,
                                     bool is_zp_float, P stream)
{
    return run_product(desc, TAG_AwqMarlinGemm, stream, { y, a, b, b_scales, b_zeros, g_idx, perm, b_bias },
                       b_q_type_id, is_zp_float);
}

infiniStatus_t infiniopCreateGptqMarlinGemmDescriptor(Handle handle, Desc *out, T y, T a, T b, T b_scales,
                                                      T global_scale, T b_zeros, T g_idx, T perm)
{
    Draft draft(TAG_GptqMarlinGemm, handle, out, 1, { y, a, b, b_scales, b_zeros, g_idx, perm, nullptr },
                15u << ZEROS);
    draft.need(!global_scale, INFINI_STATUS_NOT_IMPLEMENTED);
    return create_product(draft);
}

infiniStatus_t infiniopGptqMarlinGemm(Desc desc, P, size_t, P y, C a, C b, P b_scales, P, P b_zeros, P g_idx,
                                      P perm, int64_t b_q_type_id, bool, bool, bool, bool is_zp_float,
                                      P stream)
{
    return run_product(desc, TAG_GptqMarlinGemm, stream, { y, a, b, b_scales, b_zeros, g_idx, perm, nullptr },
                       b_q_type_id, is_zp_float);
}

/* Weights in groups and in squares -------------------------------------------------------------
 *
 * b is (k, n) bytes, or (k / 2, n) where bytes hold two weights that are neighbours in a row. What scales
 * belong to, the quant_type says when it runs:
 *     0         (k / group, n) scales and zero points: (q - zero) scale
 *     1         n scales, one for each column
 *     2, 3      a scale for each square of 128, 64 or 32: (squares over n, squares over k) */

infiniStatus_t infiniopCreateGptqQyblasGemmDescriptor(Handle handle, Desc *out, T y, T a, T b, T b_scales,
                                                      T b_zeros)
{
    Draft draft(TAG_GptqQyblasGemm, handle, out, 1, { y, a, b, b_scales, b_zeros });
    return draft.dtypes(0, SHORT_FLOATS)
        .one_dtype({ 0, 1 })
        .dtypes(2, UNSIGNED_BYTES | set_of(INFINI_DTYPE_I8) | set_of(INFINI_DTYPE_F8))
        .dtypes(3, FLOATS)
        .dtypes(4, FLOATS)
        .rank(0, 2, 2)
        .rank(1, 2, 2)
        .rank(2, 2, 2)
        .rank(3, 2, 2)
        .rank(4, 2, 2)
        .need(draft.dim(0, 0) == draft.dim(1, 0) && draft.dim(0, 1) == draft.dim(2, 1) &&
                  draft.dim(1, 1) > 0 && draft.dim(0, 1) > 0,
              INFINI_STATUS_BAD_TENSOR_SHAPE)
        .finish();
}

namespace {

struct Quantised {
    tsr_tensor *const *t; /* out, a, b, scales, zeros */
    int64_t k, n, rows, columns; /* of the matrix; of the scales */
};

tsr_status expand_groups(Packed<float> *w, const Quantised &q, int64_t bits)
{
    Packed<uint8_t> bytes;
    Packed<float> scales, zeros;
    if (q.columns != q.n || !q.rows || q.k % q.rows || !tsr_same_shape(q.t[3], q.t[4])) return TSR_ESHAPE;
    TSR_TRY(bytes.read(q.t[2]));
    TSR_TRY(scales.read(q.t[3]));
    TSR_TRY(zeros.read(q.t[4]));
    for (int64_t i = 0; i < q.k * q.n; i++) {
        const int64_t at = i / q.n / (q.k / q.rows) * q.n + i % q.n;
        const int value = bits == 8 ? bytes[i] : bytes[i / 2] >> (i % 2 * 4) & 15;
        (*w)[i] = ((float)value - zeros[at]) * scales[at];
    }
    return TSR_OK;
}

/* Blocks of `down` rows and `across` columns; the scales are those of the first columns first. */
tsr_status expand_squares(Packed<float> *w, const Quantised &q, int64_t down, int64_t across)
{
    Packed<float> scales;
    TSR_TRY(w->read(q.t[2]));
    TSR_TRY(scales.read(q.t[3]));
    const int64_t over_k = (q.k + down - 1) / down;
    for (int64_t i = 0; i < q.k * q.n; i++) (*w)[i] *= scales[i % q.n / across * over_k + i / q.n / down];
    return TSR_OK;
}

tsr_status expand_quantised(Packed<float> *w, const Quantised &q, int64_t quant_type, int64_t bits)
{
    if (quant_type == 0) return expand_groups(w, q, bits);
    if (quant_type == 1) return q.rows * q.columns == q.n ? expand_squares(w, q, q.k, 1) : TSR_ESHAPE;
    int64_t size = 128;
    while (size > 32 && (q.n + size - 1) / size < q.rows) size /= 2;
    if ((q.n + size - 1) / size != q.rows || (q.k + size - 1) / size != q.columns) return TSR_ESHAPE;
    return expand_squares(w, q, size, size);
}

} // namespace

infiniStatus_t infiniopGptqQyblasGemm(Desc desc, P, size_t, P y, C a, C b, P b_scales, P b_zeros,
                                      int64_t quant_type, int64_t bit, P stream)
{
    if (quant_type < 0 || quant_type > 3 || (quant_type == 0 && bit != 4 && bit != 8))
        return INFINI_STATUS_BAD_PARAM;
    return run(desc, TAG_GptqQyblasGemm, stream, { y, a, b, b_scales, b_zeros },
               [=](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
        const int64_t k = t[1]->shape[1], n = t[0]->shape[1], shape[2] = { k, n };
        const bool halves = quant_type == 0 && bit == 4;
        Packed<float> w;
        if (t[2]->shape[0] != (halves ? k / 2 : k) || (halves && k % 2)) return TSR_ESHAPE;
        if (quant_type == 0 && !(UNSIGNED_BYTES & set_of(op.dtype[2]))) return TSR_EDTYPE;
        TSR_TRY(w.make(2, shape));
        TSR_TRY(expand_quantised(&w, { t, k, n, t[3]->shape[0], t[3]->shape[1] }, quant_type, bit));
        return multiply(t[0], t[1], w, nullptr);
    });
}
