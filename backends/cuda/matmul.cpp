/* matmul.cpp - products of matrices: cuBLASLt where it multiplies the dtype, kernels of our own elsewhere.
 *
 * cuBLAS counts columns first. A row-major matrix is a column-major one transposed, so z = a @ b with a
 * row-major z is computed as z^T = b^T @ a^T, without moving anything. What no leading dim describes is
 * packed first. */
#include "cublas.h"
#include "gemm.h"

#include <utility>

namespace tsrc {

tsr_status fill(const Work &w, const tsr_tensor *dst, tsr_scalar value);

/* A tensor as the product sees it: itself, or a packed copy. */
struct Operand {
    explicit Operand(const Work &w) : memory(w) {}
    tsr_tensor tensor;
    tsrc_matrix matrix;
    Scratch memory;
};

static int64_t batches(const tsr_tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->ndim - 2; d++) n *= t->shape[d];
    return n;
}

/* A packed tensor like t, in a dtype; transposed: with its last two dims the other way round in memory. */
static tsr_status make_packed(const Work &, Operand &o, const tsr_tensor *t, tsr_dtype dtype, bool transposed)
{
    TSRC_TRY(o.memory.take(size_t(numel(t)) * size_t(tsrc_size(dtype))));
    o.tensor = packed(o.memory.bytes(), dtype, t->ndim, t->shape);
    if (transposed) {
        const int row = t->ndim - 2;
        o.tensor.stride[row] = 1;
        o.tensor.stride[row + 1] = t->shape[row];
    }
    o.matrix = tsrc_matrix_of(&o.tensor);
    return TSR_OK;
}

static tsr_status open_operand(const Work &w, Operand &o, const tsr_tensor *t, tsr_dtype dtype)
{
    o.tensor = *t;
    o.matrix = tsrc_matrix_of(t);
    if (o.matrix.fits && dtype == t->dtype) return TSR_OK;
    TSRC_TRY(make_packed(w, o, t, dtype, false));
    return copy(w, &o.tensor, t);
}

/* Bytes: k must have unit stride in both operands. */
static tsr_status open_bytes(const Work &w, Operand &o, const tsr_tensor *t, bool is_left)
{
    TSRC_TRY(open_operand(w, o, t, t->dtype));
    if (o.matrix.transposed == is_left && o.matrix.lead % 16 == 0 &&
        reinterpret_cast<uintptr_t>(o.tensor.data) % 16 == 0)
        return TSR_OK;
    const tsr_tensor from = o.tensor;
    Operand transposed(w);
    TSRC_TRY(make_packed(w, transposed, t, t->dtype, !is_left));
    TSRC_TRY(copy(w, &transposed.tensor, &from));
    o.tensor = transposed.tensor;
    o.matrix = transposed.matrix;
    o.memory.swap(transposed.memory);
    return TSR_OK;
}

/* Is c one number for each column, the same for all rows and matrices? */
static bool is_bias(const tsr_tensor *c, const tsrc_matrix &z)
{
    const int column = c->ndim - 1;
    for (int d = 0; d < column; d++)
        if (c->shape[d] > 1 && c->stride[d] != 0) return false;
    return z.transposed && c->shape[column] > 1 && c->stride[column] == 1 &&
           (c->dtype == TSR_F32 || c->dtype == TSR_F16 || c->dtype == TSR_BF16);
}

static bool is_one(const double v[2]) { return v[0] == 1 && v[1] == 0; }
static bool is_none(const double v[2]) { return v[0] == 0 && v[1] == 0; }

static bool is_aligned(const void *data, int64_t lead)
{
    return reinterpret_cast<uintptr_t>(data) % 16 == 0 && lead % 8 == 0;
}

/* Does the kernel of the product add the bias itself? Where a product of 16 bits is small, or tensor cores do
 * not take it, it may be rounded first, and the bias left to another kernel. */
static bool adds_bias(const LtProduct &p)
{
    const double large = 1 << 22;
    if (tsrc_size(p.out) != 2) return true;
    return double(p.m) * double(p.n) * double(p.k) >= large && p.m % 8 == 0 && p.k % 8 == 0 &&
           is_aligned(p.first, p.lead[0]) && is_aligned(p.second, p.lead[1]) && is_aligned(p.z, p.lead[3]);
}

/* c where the product adds to it: beside z in the same order, or copied into z. */
static tsr_status place_c(const Work &w, LtProduct &p, const tsr_tensor *c, const Operand &z)
{
    p.c = p.z;
    p.lead[2] = p.lead[3];
    p.apart[2] = p.apart[3];
    if (is_none(p.beta)) return TSR_OK;
    if (is_bias(c, z.matrix) && is_one(p.beta) && c->dtype == z.tensor.dtype && p.batch == 1 &&
        adds_bias(p)) {
        p.bias = c->data;
        p.beta[0] = 0;
        return TSR_OK;
    }
    const tsrc_matrix m = tsrc_matrix_of(c);
    if (c->dtype == z.tensor.dtype && m.fits && m.transposed == z.matrix.transposed) {
        p.c = c->data;
        p.lead[2] = m.lead;
        p.apart[2] = m.batch;
        return TSR_OK;
    }
    return copy(w, &z.tensor, c);
}

static void put_operand(LtProduct &p, int slot, const Operand &o, bool transposed)
{
    (slot ? p.second : p.first) = o.tensor.data;
    (slot ? p.transpose_second : p.transpose_first) = transposed;
    p.lead[slot] = o.matrix.lead;
    p.apart[slot] = o.matrix.batch;
}

/* bias: a row that is_bias says yes of, beside c; or NULL. */
static tsr_status multiply_opened(const Work &w, const Operand &a, const Operand &b, const Operand &z,
                                  const tsr_tensor *c, const tsr_matmul_params *s,
                                  const tsr_tensor *bias = nullptr, LtEpilogue after = LT_NOTHING)
{
    const int row = z.tensor.ndim - 2;
    LtProduct p = {};
    const bool rows = z.matrix.transposed;
    p.in = a.tensor.dtype;
    p.out = z.tensor.dtype;
    p.batch = batches(&z.tensor);
    p.k = a.tensor.shape[row + 1];
    p.m = z.tensor.shape[rows ? row + 1 : row];
    p.n = z.tensor.shape[rows ? row : row + 1];
    put_operand(p, 0, rows ? b : a, rows ? !b.matrix.transposed : a.matrix.transposed);
    put_operand(p, 1, rows ? a : b, rows ? !a.matrix.transposed : b.matrix.transposed);
    p.z = z.tensor.data;
    p.lead[3] = z.matrix.lead;
    p.apart[3] = z.matrix.batch;
    scalar_parts(s->alpha, p.alpha, &p.alpha_i);
    scalar_parts(s->beta, p.beta, &p.beta_i);
    if (!c) {
        p.beta[0] = p.beta[1] = 0;
        p.beta_i = 0;
    }
    if ((bias || after != LT_NOTHING) && !adds_bias(p)) return TSR_EUNSUPPORTED;
    TSRC_TRY(place_c(w, p, c, z));
    if (bias) p.bias = bias->data;
    p.after = after;
    return lt_multiply(w, p);
}

/* The dtypes that operands are converted to and the result is converted from: short floats that tensor cores
 * do not take are multiplied as f16, which holds them, and summed in f32. */
static void dtypes_of_product(tsr_dtype dtype, tsr_dtype *in, tsr_dtype *out)
{
    const bool f8 = dtype == TSR_F8E4M3 || dtype == TSR_F8E5M2;
    *in = f8 ? TSR_F16 : dtype;
    *out = f8 ? TSR_F32 : dtype;
}

static tsr_status multiply_lt(const Work &w, const tsr_tensor *c)
{
    const tsr_op *op = w.op;
    const tsr_tensor *result = op->out[0];
    const tsr_matmul_params *s = static_cast<const tsr_matmul_params *>(op->params);
    const bool bytes = op->kind == TSR_OP_MATMUL_I8;
    static const tsr_matmul_params plain = { { TSR_I64, 0, { 1 } }, { TSR_I64, 0, { 0 } } };
    tsr_dtype in, out;
    Operand a(w), b(w), z(w), wide_c(w);
    dtypes_of_product(op->in[0]->dtype, &in, &out);
    if (bytes) {
        out = TSR_I32;
        s = &plain;
        TSRC_TRY(open_bytes(w, a, op->in[0], true));
        TSRC_TRY(open_bytes(w, b, op->in[1], false));
    } else {
        TSRC_TRY(open_operand(w, a, op->in[0], in));
        TSRC_TRY(open_operand(w, b, op->in[1], in));
    }
    z.tensor = *result;
    z.matrix = tsrc_matrix_of(result);
    const bool is_temporary = !z.matrix.fits || out != result->dtype;
    if (is_temporary) TSRC_TRY(make_packed(w, z, result, out, false));
    if (c && c->dtype != out) {
        TSRC_TRY(make_packed(w, wide_c, c, out, false));
        TSRC_TRY(copy(w, &wide_c.tensor, c));
        c = &wide_c.tensor;
    }
    TSRC_TRY(multiply_opened(w, a, b, z, c, s));
    return is_temporary ? copy(w, result, &z.tensor) : TSR_OK;
}

bool has_matmul(const tsr_op *op)
{
    if (op->nin < 2 || !op->in[0] || !op->in[1]) return false;
    const tsr_dtype dtype = op->in[0]->dtype;
    return dtype != TSR_C32 && dtype != TSR_BOOL &&
           (op->kind == TSR_OP_MATMUL_I8 || dtype == op->in[1]->dtype);
}

/* Products that cuBLAS supports, and that are large enough for it. */
static bool suits_lt(const tsr_op *op)
{
    const tsr_tensor *a = op->in[0], *b = op->in[1];
    const int row = a->ndim - 2;
    tsr_dtype in, out;
    if (a->shape[row + 1] == 0) return false;
    if (op->kind == TSR_OP_MATMUL_I8)
        return a->dtype == TSR_I8 && b->dtype == TSR_I8 && a->shape[row + 1] % 16 == 0 &&
               b->shape[row + 1] % 16 == 0 && a->shape[row] % 4 == 0 && lt_has(TSR_I8, TSR_I32);
    dtypes_of_product(a->dtype, &in, &out);
    return lt_has(in, out);
}

/* Linear, and what follows it ------------------------------------------------------------------------- */

/* The rows of t as one matrix, if their dims merge. */
static bool see_rows(tsr_tensor *out, const tsr_tensor *t)
{
    int64_t rows = 1, step = 0;
    const int last = t->ndim - 1;
    for (int d = last - 1; d >= 0; d--) {
        if (t->shape[d] == 1) continue;
        if (rows > 1 && t->stride[d] != rows * step) return false;
        if (rows == 1) step = t->stride[d];
        rows *= t->shape[d];
    }
    *out = *t;
    out->ndim = 2;
    out->shape[0] = rows;
    out->stride[0] = rows > 1 ? step : t->shape[last];
    out->shape[1] = t->shape[last];
    out->stride[1] = t->stride[last];
    return true;
}

/* A row for all rows of a matrix. */
static tsr_tensor see_bias(const tsr_tensor *bias, const tsr_tensor &z)
{
    tsr_tensor b = z;
    b.data = bias->data;
    b.dtype = bias->dtype;
    b.stride[0] = 0;
    b.stride[1] = bias->stride[0];
    return b;
}

static tsr_op_kind kind_after(const tsr_op *op)
{
    static const tsr_op_kind kinds[] = { TSR_OP_NONE, TSR_OP_RELU, TSR_OP_GELU, TSR_OP_GELU_TANH,
                                         TSR_OP_SILU };
    return kinds[static_cast<const tsr_activation_params *>(op->params)->activation];
}

bool has_linear_activation(const tsr_op *op)
{
    tsr_tensor rows;
    if (op->nin < 2 || !op->in[0] || !op->in[1] || !op->out[0] || numel(op->in[0]) == 0) return false;
    const tsr_dtype dtype = op->in[0]->dtype;
    if (dtype != TSR_F32 && dtype != TSR_F64 && dtype != TSR_F16 && dtype != TSR_BF16) return false;
    if (op->nin > 3 && op->in[3] && !see_rows(&rows, op->in[3])) return false;
    return see_rows(&rows, op->in[0]) && see_rows(&rows, op->out[0]) && lt_has(dtype, dtype);
}

/* z = f(z), or f(z + row). */
static tsr_status run_after(const Work &w, tsr_op_kind kind, const tsr_tensor &z, const tsr_tensor *row)
{
    tsr_op op = {};
    op.kind = kind;
    op.nin = row ? 2 : 1;
    op.nout = 1;
    op.in[0] = &z;
    op.in[1] = row;
    op.out[0] = const_cast<tsr_tensor *>(&z);
    return run_elementwise(Work{ &op, w.device, w.stream });
}

/* What cuBLASLt does last by itself: its tanh has 11 bits. */
static LtEpilogue epilogue_for(tsr_op_kind kind, tsr_dtype dtype)
{
    const bool is_short = dtype == TSR_F16 || dtype == TSR_BF16;
    if (kind == TSR_OP_RELU && dtype != TSR_F64) return LT_RELU;
    return kind == TSR_OP_GELU_TANH && is_short ? LT_GELU_TANH : LT_NOTHING;
}

/* A product with what follows it in one call of cuBLASLt; TSR_EUNSUPPORTED: to be tried without `after`. */
static tsr_status multiply_rows(const Work &w, const tsr_tensor &x, const tsr_tensor &weights,
                                const tsr_tensor &z, const tsr_tensor *bias, const tsr_tensor *residual,
                                LtEpilogue after)
{
    static const tsr_matmul_params plain = { { TSR_I64, 0, { 1 } }, { TSR_I64, 0, { 1 } } };
    Operand a(w), b(w), to(w);
    TSRC_TRY(open_operand(w, a, &x, x.dtype));
    TSRC_TRY(open_operand(w, b, &weights, x.dtype));
    to.tensor = z;
    to.matrix = tsrc_matrix_of(&z);
    const tsr_tensor *c = residual ? residual : bias;
    const tsr_status s = multiply_opened(w, a, b, to, c, &plain, residual ? bias : nullptr, after);
    if (s != TSR_EUNSUPPORTED || after != LT_NOTHING || (residual && bias)) return s;
    return gemm(w, &z, &x, &weights, c, plain.alpha, c ? plain.beta : tsr_scalar_i64(0));
}

tsr_status run_linear_activation(const Work &w)
{
    const tsr_op *op = w.op;
    const tsr_op_kind kind = kind_after(op);
    tsr_tensor x, z, residual, row, weights = *op->in[1];
    Scratch memory(w);
    (void)see_rows(&x, op->in[0]);
    (void)see_rows(&z, op->out[0]);
    const tsr_tensor *bias = op->nin > 2 ? op->in[2] : nullptr;
    const tsr_tensor *more = op->nin > 3 ? op->in[3] : nullptr;
    if (more) (void)see_rows(&residual, more);
    std::swap(weights.shape[0], weights.shape[1]);
    std::swap(weights.stride[0], weights.stride[1]);
    const tsr_tensor result = z;
    if (!tsrc_matrix_of(&z).fits || !tsrc_matrix_of(&z).transposed) {
        TSRC_TRY(memory.take(size_t(numel(&z)) * size_t(tsrc_size(z.dtype))));
        z = packed(memory.bytes(), z.dtype, 2, z.shape);
    }
    if (bias) row = see_bias(bias, z);
    /* beside a residual, a bias goes with the product where it can be told from it */
    const tsrc_matrix matrix = tsrc_matrix_of(&z);
    bool apart = bias && more && (!is_bias(&row, matrix) || is_bias(&residual, matrix));
    const tsr_tensor *added = bias && !apart ? &row : nullptr, *beside = more ? &residual : nullptr;
    LtEpilogue after = apart ? LT_NOTHING : epilogue_for(kind, z.dtype);
    tsr_status s = multiply_rows(w, x, weights, z, added, beside, after);
    if (s == TSR_EUNSUPPORTED && after != LT_NOTHING) {
        after = LT_NOTHING;
        s = multiply_rows(w, x, weights, z, added, beside, after);
    }
    if (s == TSR_EUNSUPPORTED && added && beside) {
        apart = true;
        s = multiply_rows(w, x, weights, z, nullptr, beside, after);
    }
    TSRC_TRY(s);
    if (apart) TSRC_TRY(run_after(w, TSR_OP_ADD, z, &row));
    if (kind != TSR_OP_NONE && after == LT_NOTHING) TSRC_TRY(run_after(w, kind, z, nullptr));
    return z.data == result.data ? TSR_OK : copy(w, &result, &z);
}

tsr_status run_matmul(const Work &w)
{
    const tsr_op *op = w.op;
    const tsr_tensor *z = op->out[0], *c = op->nin > 2 ? op->in[2] : nullptr;
    const tsr_matmul_params *s = static_cast<const tsr_matmul_params *>(op->params);
    const tsr_scalar one = tsr_scalar_i64(1), none = tsr_scalar_i64(0);
    if (numel(z) == 0) return TSR_OK;
    if (suits_lt(op)) {
        const tsr_status status = multiply_lt(w, c);
        if (status != TSR_EUNSUPPORTED) return status;
    }
    return gemm(w, z, op->in[0], op->in[1], c, s ? s->alpha : one, s ? s->beta : none);
}

} // namespace tsrc
