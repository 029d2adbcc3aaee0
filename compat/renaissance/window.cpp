/* window.cpp - convolutions of both backends, and the CPU's pools. */
#include "window.hpp"

#include <utility>

#include "reduction.hpp"

namespace tr {

using face::Op;
using face::Operand;
using face::Window;

namespace face {

namespace {

const char *title_of(Window window) { return window == Window::CONV ? "Conv" : "TransposedConv"; }

int32_t window_size(const Op &op, Window window, int64_t size, int64_t kernel, int64_t stride,
                    int64_t padding)
{
    const int64_t room = size + 2 * padding - kernel;
    const int64_t result = window == Window::TRANSPOSED ? (size - 1) * stride + kernel - 2 * padding
                           : room < 0                   ? 0
                                                        : room / stride + 1;
    if (result <= 0 || result > INT32_MAX)
        refuse_window(op, window, "Invalid output shape due to parameters");
    return static_cast<int32_t>(result);
}

} // namespace

void refuse_window(const Op &op, Window window, const std::string &words)
{
    refuse_along(op, title_of(window), words);
}

Sizes window_sizes(const Op &op, Window window, const Shape &input, const Shape &kernel, int32_t stride,
                   int32_t padding)
{
    return {window_size(op, window, input.h(), kernel.h(), stride, padding),
            window_size(op, window, input.w(), kernel.w(), stride, padding)};
}

void check_window(const Op &op, Window window, const Tensor &input, const Tensor &kernel, int32_t stride,
                  int32_t padding)
{
    const int cuda = DeviceAccess::cuda(op.backend);
    if (TensorAccess::device(input).index != cuda || TensorAccess::device(kernel).index != cuda)
        refuse_window(op, window, std::string("Device must be ") + op.kind());
    if (input.is_empty() || kernel.is_empty()) refuse_window(op, window, "Tensor storage not allocated");
    if (!is_fp32(input) || !is_fp32(kernel)) refuse_window(op, window, "Only supports FP32 tensor");
    if (input.ndim() < 2) refuse_window(op, window, "Tensor must have at least 2 dimensions");
    if (kernel.ndim() != 4)
        refuse_window(op, window, "Kernel tensor must be 4-dimensional (N, C, H, W)");
    if (kernel.height() != kernel.width()) refuse_window(op, window, "Only supports square kernels (H=W)");
    if (stride <= 0) refuse_window(op, window, "Stride must be positive");
    if (padding < 0) refuse_window(op, window, "Padding must be non-negative");
}

void check_window_result(const Op &op, Window window, const Tensor &result, const Shape &expected)
{
    check_result_place(op, title_of(window), result);
    if (!is_fp32(result)) refuse_window(op, window, "Result tensor must be FP32 type");
    check_result_shape(op, title_of(window), result, expected);
}

void lengthen(Operand &t, int ndim)
{
    const int more = ndim - t->ndim;
    for (int i = ndim - 1; i >= 0; --i) {
        t->shape[i] = i < more ? 1 : t->shape[i - more];
        t->stride[i] = i < more ? 0 : t->stride[i - more];
    }
    t->ndim = ndim;
}

void run_window(const Op &op, Window window, Operand &input, Operand &kernel, Operand &result, int32_t stride,
                int32_t padding)
{
    tsr_conv how = {};
    how.stride[0] = how.stride[1] = stride;
    how.padding[0] = how.padding[1] = padding;
    op.must(window == Window::CONV ? tsr_conv2d(result.out(), input, kernel, nullptr, &how)
                                   : tsr_conv_transpose2d(result.out(), input, kernel, nullptr, &how));
}

} // namespace face

/* The CPU's convolutions --------------------------------------------------------------------- */

namespace {

/* The checks, and the shape of the result, which has four dims always. */
Shape check_cpu(const Op &op, Window window, const Tensor &input, const Tensor &kernel, int32_t stride,
                int32_t padding)
{
    face::check_window(op, window, input, kernel, stride, padding);
    if (stride > 2) face::refuse_window(op, window, "Only supports stride 1 or 2");
    const int32_t channels = input.ndim() >= 3 ? input.channel() : 1;
    if (channels != kernel.channel())
        face::refuse_window(op, window, "Input channels (" + std::to_string(channels) +
                                            ") do not match kernel's input channels (" +
                                            std::to_string(kernel.channel()) + ")");
    const face::Sizes sizes = face::window_sizes(op, window, input.shape(), kernel.shape(), stride, padding);
    return Shape(input.ndim() == 4 ? input.batch() : 1, kernel.batch(), sizes.h, sizes.w);
}

void run_cpu(const Op &op, Window window, const Tensor &input, const Tensor &kernel, Tensor &result,
             int32_t stride, int32_t padding)
{
    Operand x(input), w(kernel), out(result);
    face::lengthen(x, 4);
    if (window == Window::TRANSPOSED) {
        std::swap(w->shape[0], w->shape[1]);
        std::swap(w->stride[0], w->stride[1]);
    }
    face::run_window(op, window, x, w, out, stride, padding);
}

Tensor window_of(const Op &op, Window window, const Tensor &input, const Tensor &kernel, int32_t stride,
                 int32_t padding)
{
    Tensor result = op.make(check_cpu(op, window, input, kernel, stride, padding), DType::FP32);
    run_cpu(op, window, input, kernel, result, stride, padding);
    return result;
}

void window_into(const Op &op, Window window, const Tensor &input, const Tensor &kernel, Tensor &result,
                 int32_t stride, int32_t padding)
{
    face::check_window_result(op, window, result, check_cpu(op, window, input, kernel, stride, padding));
    run_cpu(op, window, input, kernel, result, stride, padding);
}

} // namespace

Tensor CpuBackend::conv(const Tensor &input, const Tensor &kernel, int32_t stride, int32_t padding)
{
    return window_of({*this, "conv"}, Window::CONV, input, kernel, stride, padding);
}

void CpuBackend::conv_into(const Tensor &input, const Tensor &kernel, Tensor &result, int32_t stride,
                           int32_t padding)
{
    window_into({*this, "conv_into"}, Window::CONV, input, kernel, result, stride, padding);
}

Tensor CpuBackend::transposed_conv(const Tensor &input, const Tensor &kernel, int32_t stride, int32_t padding)
{
    return window_of({*this, "transposed_conv"}, Window::TRANSPOSED, input, kernel, stride, padding);
}

void CpuBackend::transposed_conv_into(const Tensor &input, const Tensor &kernel, Tensor &result,
                                      int32_t stride, int32_t padding)
{
    window_into({*this, "transposed_conv_into"}, Window::TRANSPOSED, input, kernel, result, stride, padding);
}

/* The CPU's pools ---------------------------------------------------------------------------- */

namespace {

void check_pool(const Op &op, const char *title, const Tensor &input)
{
    if (!TensorAccess::device(input).is_cpu()) face::refuse_along(op, title, "Device must be CPU");
    if (input.is_empty()) face::refuse_along(op, title, "Tensor storage not allocated");
    if (!face::is_fp32(input)) face::refuse_along(op, title, "Only supports FP32 tensor");
    if (input.ndim() < 2) face::refuse_along(op, title, "Tensor must have at least 2 dimensions");
}

/* The input's shape with other sizes of H and W. */
Shape with_sizes(const Shape &shape, int32_t h, int32_t w)
{
    if (shape.ndim() == 2) return Shape(h, w);
    return shape.ndim() == 3 ? Shape(shape.c(), h, w) : Shape(shape.n(), shape.c(), h, w);
}

Shape pooled(const Op &op, const Tensor &input, int32_t kernel_size, int32_t stride)
{
    const char *const title = "MaxPool";
    check_pool(op, title, input);
    if (kernel_size <= 0) face::refuse_along(op, title, "Kernel size must be positive");
    if (stride <= 0) face::refuse_along(op, title, "Stride must be positive");
    if (stride > 2) face::refuse_along(op, title, "Only supports stride 1 or 2");
    if (kernel_size > input.height() || kernel_size > input.width())
        face::refuse_along(op, title, "Kernel size is too large for input tensor");
    return with_sizes(input.shape(), (input.height() - kernel_size) / stride + 1,
                      (input.width() - kernel_size) / stride + 1);
}

void check_pool_result(const Op &op, const char *title, const Tensor &result, const Shape &expected)
{
    face::check_result_place(op, title, result);
    if (!face::is_fp32(result)) face::refuse_along(op, title, "Result tensor must be FP32 type");
    face::check_result_shape(op, title, result, expected);
}

void run_max_pool(const Op &op, const Tensor &input, Tensor &result, int32_t kernel_size, int32_t stride)
{
    tsr_pool how = {};
    Operand x(input), out(result);
    how.kernel[0] = how.kernel[1] = kernel_size;
    how.stride[0] = how.stride[1] = stride;
    face::lengthen(x, 4);
    face::lengthen(out, 4);
    op.must(tsr_max_pool2d(out.out(), nullptr, x, &how));
}

void run_avg_pool(const Op &op, const Tensor &input, Tensor &result)
{
    Operand x(input), out(result);
    face::lengthen(x, 4);
    face::lengthen(out, 4);
    op.must(tsr_avg_pool_all(out.out(), x, 2));
}

} // namespace

Tensor CpuBackend::max_pool(const Tensor &input, int32_t kernel_size, int32_t stride)
{
    const Op op{*this, "max_pool"};
    Tensor result = empty(pooled(op, input, kernel_size, stride), DType::FP32);
    run_max_pool(op, input, result, kernel_size, stride);
    return result;
}

void CpuBackend::max_pool_into(const Tensor &input, Tensor &result, int32_t kernel_size, int32_t stride)
{
    const Op op{*this, "max_pool_into"};
    check_pool_result(op, "MaxPool", result, pooled(op, input, kernel_size, stride));
    run_max_pool(op, input, result, kernel_size, stride);
}

Tensor CpuBackend::global_avg_pool(const Tensor &input)
{
    const Op op{*this, "global_avg_pool"};
    check_pool(op, "GlobalAvgPool", input);
    Tensor result = empty(with_sizes(input.shape(), 1, 1), DType::FP32);
    run_avg_pool(op, input, result);
    return result;
}

void CpuBackend::global_avg_pool_into(const Tensor &input, Tensor &result)
{
    const Op op{*this, "global_avg_pool_into"};
    check_pool(op, "GlobalAvgPool", input);
    check_pool_result(op, "GlobalAvgPool", result, with_sizes(input.shape(), 1, 1));
    run_avg_pool(op, input, result);
}

} // namespace tr
