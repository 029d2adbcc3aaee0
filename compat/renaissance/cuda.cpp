/* cuda.cpp - what only the backend of a CUDA device has. */
#include "bridge.hpp"
#include "window.hpp"

namespace tr {

using face::Op;
using face::Operand;
using face::Temporary;
using face::Window;

namespace {

int32_t device_of(int device_id)
{
    tsr_device device;
    if (device_id < 0 || device_id >= 8)
        throw TRException("Invalid CUDA device ID: " + std::to_string(device_id));
    if (!face::find_cuda(&device, device_id))
        throw TRException("Failed to initialize CUDA context: " + std::string(tsr_last_error()));
    return device;
}

} // namespace

CudaBackend::CudaBackend(int device_id) : DeviceBackend("CudaBackend", device_id, device_of(device_id))
{
    Logger::get_instance().info("CUDA backend initialized for device ", device_id);
}

CudaBackend::~CudaBackend() = default;

void CudaBackend::synchronize() const
{
    if (tsr_device_sync(DeviceAccess::device(*this)) != TSR_OK) throw TRException(tsr_last_error());
}

cudaStream_t CudaBackend::stream() const
{
    const tsr_stream *s = tsr_stream_current(DeviceAccess::device(*this));
    return s ? static_cast<cudaStream_t>(tsr_stream_handle(s)) : nullptr;
}

/* Comparing ---------------------------------------------------------------------------------- */

namespace {

tsr_status largest_distance(float *out, const tsr_tensor *a, const tsr_tensor *b)
{
    Temporary distance, largest;
    TSR_TRY(tsr_sub(distance.out(), a, b));
    TSR_TRY(tsr_abs(distance.out(), distance));
    TSR_TRY(tsr_max(largest.out(), distance, 0, nullptr, false));
    return tsr_store(out, sizeof *out, largest);
}

} // namespace

bool CudaBackend::is_close(const Tensor &a, const Tensor &b, float eps) const
{
    const Op op{*this, "is_close"};
    float distance = 0.0f;
    op.check_device(a);
    op.check_device(b);
    if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
    if (!face::is_fp32(a)) op.refuse("Only FP32 tensors are supported");
    if (a.is_empty() || b.is_empty()) return a.is_empty() && b.is_empty();
    op.must(largest_distance(&distance, Operand(a), Operand(b)));
    return distance <= eps;
}

/* Convolutions ------------------------------------------------------------------------------- */

namespace {

/* The checks, and the shape of the result, which has the input's rank. */
Shape check_cuda(const Op &op, Window window, const Tensor &input, const Tensor &kernel, int32_t stride,
                 int32_t padding)
{
    face::check_window(op, window, input, kernel, stride, padding);
    const bool forward = window == Window::CONV;
    const int32_t channels = input.ndim() >= 3 ? input.channel() : 1;
    const int32_t taken = forward ? kernel.channel() : kernel.batch();
    const int32_t given = forward ? kernel.batch() : kernel.channel();
    if (channels != taken)
        face::refuse_window(op, window, "Channel mismatch: Input channels (" + std::to_string(channels) +
                                            ") must match kernel channels (" + std::to_string(taken) + ")");
    const face::Sizes s = face::window_sizes(op, window, input.shape(), kernel.shape(), stride, padding);
    if (input.ndim() == 4) return Shape(input.batch(), given, s.h, s.w);
    if (input.ndim() == 3) return Shape(given, s.h, s.w);
    if (given != 1) face::refuse_window(op, window, "A matrix takes kernels with one output channel only");
    return Shape(s.h, s.w);
}

void run_cuda(const Op &op, Window window, const Tensor &input, const Tensor &kernel, Tensor &result,
              int32_t stride, int32_t padding)
{
    Operand x(input), w(kernel), out(result);
    face::lengthen(x, 4);
    face::lengthen(out, 4);
    face::run_window(op, window, x, w, out, stride, padding);
}

Tensor window_of(const Op &op, Window window, const Tensor &input, const Tensor &kernel, int32_t stride,
                 int32_t padding)
{
    Tensor result = op.make(check_cuda(op, window, input, kernel, stride, padding), DType::FP32);
    run_cuda(op, window, input, kernel, result, stride, padding);
    return result;
}

void window_into(const Op &op, Window window, const Tensor &input, const Tensor &kernel, Tensor &result,
                 int32_t stride, int32_t padding)
{
    face::check_window_result(op, window, result, check_cuda(op, window, input, kernel, stride, padding));
    run_cuda(op, window, input, kernel, result, stride, padding);
}

} // namespace

Tensor CudaBackend::conv(const Tensor &input, const Tensor &kernel, int32_t stride, int32_t padding)
{
    return window_of({*this, "conv"}, Window::CONV, input, kernel, stride, padding);
}

void CudaBackend::conv_into(const Tensor &input, const Tensor &kernel, Tensor &result, int32_t stride,
                            int32_t padding)
{
    window_into({*this, "conv_into"}, Window::CONV, input, kernel, result, stride, padding);
}

Tensor CudaBackend::transposed_conv(const Tensor &input, const Tensor &kernel, int32_t stride,
                                    int32_t padding)
{
    return window_of({*this, "transposed_conv"}, Window::TRANSPOSED, input, kernel, stride, padding);
}

void CudaBackend::transposed_conv_into(const Tensor &input, const Tensor &kernel, Tensor &result,
                                       int32_t stride, int32_t padding)
{
    window_into({*this, "transposed_conv_into"}, Window::TRANSPOSED, input, kernel, result, stride, padding);
}

} // namespace tr
