/* cpu_shape.cpp - the CPU's backend: dims, ranges and reductions along a dim. */
#include "bridge.hpp"
#include "reduction.hpp"

namespace tr {

using face::Op;
using face::Operand;
using face::Temporary;

/* Repeating ---------------------------------------------------------------------------------- */

namespace {

[[noreturn]] void refuse_expand(const std::string &words) { throw TRException("[CPU Expand] " + words); }

void check_expand_operand(const Tensor &t, const char *name)
{
    if (!face::is_fp32(t))
        throw TRException(std::string("[CPU Broadcast] Currently only supports FP32 tensor operations, ") +
                          name + " data type is: " + dtype_to_string(t.dtype()));
    if (!TensorAccess::device(t).is_cpu())
        throw TRException(std::string("[CPU Broadcast] Device must be CPU, ") + name +
                          " device is: " + TensorAccess::device(t).to_string());
}

void check_expandable(const Shape &from, const Shape &to)
{
    const std::string both = from.to_string() + " cannot expand to " + to.to_string();
    if (from.is_scalar()) return;
    if (from.ndim() != to.ndim()) refuse_expand("Tensor shapes do not meet operation requirements: " + both);
    if (!from.is_broadcastable_to(to)) refuse_expand("Tensor shapes are incompatible for expansion: " + both);
}

void expand_elements(const Op &op, const Tensor &src, Tensor &dst)
{
    Operand to(dst);
    face::View seen;
    op.must(tsr_expand(seen.out(), Operand(src), to->ndim, to->shape));
    op.must(tsr_copy(to, seen));
}

} // namespace

Tensor CpuBackend::expand(const Tensor &tensor_a, const Shape &shape_b) const
{
    check_expand_operand(tensor_a, "tensor_a");
    if (tensor_a.is_empty()) refuse_expand("Cannot expand empty tensor");
    check_expandable(tensor_a.shape(), shape_b);
    const Op op{*this, "expand"};
    Tensor result = op.make(shape_b, DType::FP32);
    expand_elements(op, tensor_a, result);
    return result;
}

void CpuBackend::expand_into(const Tensor &tensor_a, Tensor &tensor_b) const
{
    check_expand_operand(tensor_a, "tensor_a");
    check_expand_operand(tensor_b, "tensor_b");
    if (tensor_a.is_empty() && tensor_b.is_empty()) return;
    if (tensor_a.is_empty()) refuse_expand("Cannot expand empty tensor to non-empty tensor");
    if (tensor_b.is_empty()) throw TRException("[CPU Broadcast] tensor_b is an empty tensor");
    check_expandable(tensor_a.shape(), tensor_b.shape());
    expand_elements({*this, "expand_into"}, tensor_a, tensor_b);
}

/* Dims of size 1 ----------------------------------------------------------------------------- */

namespace {

void check_dimension(const Tensor &t, const char *name)
{
    if (t.dtype() == DType::INT32)
        throw TRException(
            std::string("[CPU Dimension] Currently only supports FP32 and INT8 tensor operations, ") + name +
            " data type is: " + dtype_to_string(t.dtype()));
    if (!TensorAccess::device(t).is_cpu())
        throw TRException(std::string("[CPU Dimension] Device must be CPU, ") + name +
                          " device is: " + TensorAccess::device(t).to_string());
}

Shape unsqueezed(const Shape &shape, int32_t dim)
{
    int32_t dims[4];
    if (dim < 0 || dim > shape.ndim()) throw TRException("[CPU Unsqueeze] Dimension index out of range");
    if (shape.ndim() == 4) throw TRException("[CPU Unsqueeze] Tensor has 4 dimensions already");
    for (int32_t i = 0; i <= shape.ndim(); ++i) dims[i] = i == dim ? 1 : shape.dim(i < dim ? i : i - 1);
    return face::shape_of(dims, shape.ndim() + 1);
}

Shape squeezed(const Shape &shape, int32_t dim)
{
    if (dim < 0 || dim >= shape.ndim()) throw TRException("[CPU Squeeze] Dimension index out of range");
    if (shape.dim(dim) != 1) throw TRException("[CPU Squeeze] Dimension size is not 1");
    return face::reduced_shape(shape, dim, false);
}

/* A copy in another shape of as many elements. */
Tensor copied_as(const Op &op, const Tensor &t, const Shape &shape)
{
    Tensor result = op.make(shape, t.dtype());
    op.must(tsr_copy(Operand(TensorAccess::view(result, t.shape(), t.strides())), Operand(t)));
    return result;
}

void copy_as(const Op &op, const char *name, const Tensor &a, Tensor &b)
{
    const std::string prefix = "[CPU Dimension] ";
    check_dimension(a, "tensor_a");
    check_dimension(b, "tensor_b");
    if (a.is_empty() && b.is_empty()) return;
    if (a.is_empty()) throw TRException(prefix + "Cannot " + name + " empty tensor into non-empty tensor");
    if (b.is_empty()) throw TRException(prefix + "tensor_b is an empty tensor");
    if (a.numel() != b.numel())
        throw TRException(prefix + "Element count mismatch for " + name +
                          "_into: " + std::to_string(a.numel()) + " vs " + std::to_string(b.numel()));
    if (a.dtype() != b.dtype()) throw TRException(prefix + "Data type mismatch for " + name + "_into");
    op.must(tsr_copy(Operand(TensorAccess::view(b, a.shape(), a.strides())), Operand(a)));
}

} // namespace

Tensor CpuBackend::unsqueeze(const Tensor &tensor_a, int32_t dim) const
{
    check_dimension(tensor_a, "tensor_a");
    if (tensor_a.is_empty()) return Tensor();
    return copied_as({*this, "unsqueeze"}, tensor_a, unsqueezed(tensor_a.shape(), dim));
}

void CpuBackend::unsqueeze_inplace(Tensor &tensor_a, int32_t dim) const
{
    check_dimension(tensor_a, "tensor_a");
    if (!tensor_a.is_empty()) tensor_a = unsqueeze(tensor_a, dim);
}

void CpuBackend::unsqueeze_into(const Tensor &tensor_a, Tensor &tensor_b) const
{
    copy_as({*this, "unsqueeze_into"}, "unsqueeze", tensor_a, tensor_b);
}

Tensor CpuBackend::squeeze(const Tensor &tensor_a, int32_t dim) const
{
    check_dimension(tensor_a, "tensor_a");
    if (tensor_a.is_empty()) return Tensor();
    return copied_as({*this, "squeeze"}, tensor_a, squeezed(tensor_a.shape(), dim));
}

void CpuBackend::squeeze_inplace(Tensor &tensor_a, int32_t dim) const
{
    check_dimension(tensor_a, "tensor_a");
    if (!tensor_a.is_empty()) tensor_a = squeeze(tensor_a, dim);
}

void CpuBackend::squeeze_into(const Tensor &tensor_a, Tensor &tensor_b) const
{
    copy_as({*this, "squeeze_into"}, "squeeze", tensor_a, tensor_b);
}

/* Padding ------------------------------------------------------------------------------------ */

namespace {

Shape padded(const Shape &shape, int32_t padding)
{
    int32_t dims[4];
    const int32_t n = shape.ndim();
    if (n < 2) throw TRException("[CPU Pad] Tensor must have at least 2 dimensions");
    for (int32_t i = 0; i < n; ++i) {
        const int64_t size = int64_t{shape.dim(i)} + (i < n - 2 ? 0 : 2 * int64_t{padding});
        if (size > INT32_MAX) throw TRException("[CPU Pad] Padding value is too large");
        dims[i] = static_cast<int32_t>(size);
    }
    return face::shape_of(dims, n);
}

void pad_elements(const Op &op, const Tensor &a, int32_t padding, Tensor &b)
{
    int64_t around[4] = {0, 0, 0, 0};
    Operand out(b);
    for (int32_t i = a.ndim() - 2; i < a.ndim(); ++i) around[i] = padding;
    op.must(tsr_pad(out.out(), Operand(a), a.ndim(), around, around, TSR_PAD_CONSTANT, TSR_SCALAR(0)));
}

} // namespace

Tensor CpuBackend::pad(const Tensor &tensor_a, int32_t padding) const
{
    if (padding < 0) throw TRException("[CPU Pad] Padding value must be non-negative");
    check_dimension(tensor_a, "tensor_a");
    if (tensor_a.is_empty()) return Tensor();
    const Op op{*this, "pad"};
    Tensor result = op.make(padded(tensor_a.shape(), padding), tensor_a.dtype());
    pad_elements(op, tensor_a, padding, result);
    return result;
}

void CpuBackend::pad_into(const Tensor &tensor_a, int32_t padding, Tensor &tensor_b) const
{
    if (padding < 0) throw TRException("[CPU Pad] Padding value must be non-negative");
    check_dimension(tensor_a, "tensor_a");
    check_dimension(tensor_b, "tensor_b");
    if (tensor_a.is_empty() && tensor_b.is_empty()) return;
    if (tensor_a.is_empty()) throw TRException("[CPU Pad] Cannot pad empty tensor into non-empty tensor");
    if (tensor_b.is_empty()) throw TRException("[CPU Dimension] tensor_b is an empty tensor");
    if (tensor_a.dtype() != tensor_b.dtype())
        throw TRException("[CPU Pad] Data type mismatch for pad_into: " + dtype_to_string(tensor_a.dtype()) +
                          " vs " + dtype_to_string(tensor_b.dtype()));
    const Shape expected = padded(tensor_a.shape(), padding);
    if (tensor_b.shape() != expected)
        throw TRException("[CPU Pad] Output tensor shape mismatch for pad_into. Expected: " +
                          expected.to_string() + ", Actual: " + tensor_b.shape().to_string());
    pad_elements({*this, "pad_into"}, tensor_a, padding, tensor_b);
}

/* Ranges ------------------------------------------------------------------------------------- */

namespace {

struct Range {
    int32_t start, end, stride;
};

/* Along N, C, H or W, with the end of the dim for -1. */
Range range_of(const Offset &offset, const Shape &shape, int dim)
{
    static const char *const names[] = {"N", "C", "H", "W"};
    const Range ranges[] = {{offset.n_start(), offset.n_end(), offset.n_stride()},
                            {offset.c_start(), offset.c_end(), offset.c_stride()},
                            {offset.h_start(), offset.h_end(), offset.h_stride()},
                            {offset.w_start(), offset.w_end(), offset.w_stride()}};
    const int32_t sizes[] = {shape.n(), shape.c(), shape.h(), shape.w()};
    const std::string prefix = std::string("CpuBackend::slice: ") + names[dim] + " dimension ";
    Range r = ranges[dim];
    if (r.end == -1) r.end = sizes[dim];
    if (r.end > sizes[dim])
        throw TRException(prefix + "end index " + std::to_string(r.end) + " exceeds tensor size " +
                          std::to_string(sizes[dim]));
    if (r.start < 0 || r.start >= sizes[dim])
        throw TRException(prefix + "start index " + std::to_string(r.start) + " out of range [0, " +
                          std::to_string(sizes[dim]) + "]");
    return r;
}

void check_sliceable(const Tensor &t)
{
    if (!TensorAccess::device(t).is_cpu())
        throw TRException("CpuBackend::slice: tensor must be on CPU device");
    if (t.is_empty()) throw TRException("CpuBackend::slice: tensor storage not allocated");
    if (t.is_scalar()) throw TRException("CpuBackend::slice: cannot slice a scalar tensor");
}

Shape sliced(const Shape &shape, const Offset &offset)
{
    int32_t dims[4];
    const int32_t n = shape.ndim();
    for (int32_t i = 0; i < n; ++i) {
        const Range r = range_of(offset, shape, 4 - n + i);
        dims[i] = (r.end - r.start - 1) / r.stride + 1;
    }
    return face::shape_of(dims, n);
}

void slice_elements(const Op &op, const Tensor &src, Tensor &dst, const Offset &offset)
{
    const int32_t n = src.ndim();
    Operand from(src);
    face::View seen;
    const tsr_tensor *last = from;
    for (int32_t i = 0; i < n; ++i, last = seen) {
        const Range r = range_of(offset, src.shape(), 4 - n + i);
        op.must(tsr_slice(seen.out(), last, i, r.start, r.end, r.stride));
    }
    op.must(tsr_copy(Operand(dst), seen));
}

} // namespace

Tensor CpuBackend::slice(const Tensor &tensor_a, const Offset &offset)
{
    check_sliceable(tensor_a);
    Tensor result = empty(sliced(tensor_a.shape(), offset), tensor_a.dtype());
    slice_elements({*this, "slice"}, tensor_a, result, offset);
    return result;
}

void CpuBackend::slice_into(const Tensor &tensor_a, Tensor &result, const Offset &offset)
{
    const std::string prefix = "CpuBackend::slice_into: ";
    check_sliceable(tensor_a);
    if (!TensorAccess::device(result).is_cpu())
        throw TRException(prefix + "result tensor must be on CPU device");
    if (result.is_empty()) throw TRException(prefix + "result tensor storage not allocated");
    if (tensor_a.dtype() != result.dtype())
        throw TRException(prefix + "data type mismatch. input: " + dtype_to_string(tensor_a.dtype()) +
                          ", result: " + dtype_to_string(result.dtype()));
    const Shape expected = sliced(tensor_a.shape(), offset);
    if (result.shape() != expected)
        throw TRException(prefix + "result shape mismatch. expected: " + expected.to_string() +
                          ", actual: " + result.shape().to_string());
    slice_elements({*this, "slice_into"}, tensor_a, result, offset);
}

/* Along a dim -------------------------------------------------------------------------------- */

void CpuBackend::softmax_inplace(Tensor &tensor_a, int32_t dim) { softmax_into(tensor_a, tensor_a, dim); }

Tensor CpuBackend::sum(const Tensor &x, int32_t dim, bool keep_dim)
{
    const Op op{*this, "sum"};
    const int axis = face::check_along(op, "Sum", x, dim);
    if (!face::is_fp32(x)) face::refuse_along(op, "Sum", "Only supports FP32 tensor");
    Tensor result = empty(face::reduced_shape(x.shape(), axis, keep_dim), DType::FP32);
    sum_into(x, result, axis, keep_dim);
    return result;
}

void CpuBackend::sum_into(const Tensor &x, Tensor &result, int32_t dim, bool keep_dim)
{
    static_cast<const CpuBackend *>(this)->sum_into(x, result, dim, keep_dim);
}

Tensor CpuBackend::max(const Tensor &x, int32_t dim, bool keep_dim)
{
    const int axis = face::check_along({*this, "max"}, "Max", x, dim);
    Tensor result = empty(face::reduced_shape(x.shape(), axis, keep_dim), x.dtype());
    max_into(x, result, axis, keep_dim);
    return result;
}

void CpuBackend::max_into(const Tensor &x, Tensor &result, int32_t dim, bool keep_dim)
{
    const Op op{*this, "max_into"};
    const int axis = face::check_along(op, "Max", x, dim);
    face::check_result_place(op, "Max", result);
    if (x.dtype() != result.dtype()) face::refuse_along(op, "Max", "Data type mismatch");
    face::check_result_shape(op, "Max", result, face::reduced_shape(x.shape(), axis, keep_dim));
    Operand out(result);
    op.must(tsr_max(out.out(), Operand(x), 1, &axis, keep_dim));
}

Tensor CpuBackend::argmax(const Tensor &x, int32_t dim, bool keep_dim)
{
    const int axis = face::check_along({*this, "argmax"}, "ArgMax", x, dim);
    Tensor result = empty(face::reduced_shape(x.shape(), axis, keep_dim), DType::INT32);
    argmax_into(x, result, axis, keep_dim);
    return result;
}

void CpuBackend::argmax_into(const Tensor &x, Tensor &result, int32_t dim, bool keep_dim)
{
    const Op op{*this, "argmax_into"};
    const int axis = face::check_along(op, "ArgMax", x, dim);
    Temporary places;
    face::check_result_place(op, "ArgMax", result);
    if (result.dtype() != DType::INT32) face::refuse_along(op, "ArgMax", "Result tensor must be INT32 type");
    face::check_result_shape(op, "ArgMax", result, face::reduced_shape(x.shape(), axis, keep_dim));
    op.must(tsr_argmax(places.out(), Operand(x), axis, keep_dim));
    op.must(tsr_copy(Operand(result), places));
}

} // namespace tr
