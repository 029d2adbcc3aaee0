/* cuda_backend.h - the backend of one CUDA device (or of a simulated one, backend_manager.h).
 *
 * Matrices are column-major: element (i, j) of (M, N) lies at j * M + i. Tensors of other ranks,
 * and matrices that are views of them, are row-major. from_cpu, to_cpu, copy_into,
 * Tensor::from_cpu_data and to_cpu_data rearrange; data_ptr and copy_data show the memory as it is.
 */
#pragma once

#include "tech_renaissance/backend/backend.h"
#include "tech_renaissance/backend/device_backend.h"
#include "tech_renaissance/data/strides.h"
#include "tech_renaissance/data/tensor.h"

/* Names for handles, so that no header of CUDA is needed. */
struct CUstream_st;
struct cublasContext;
struct cudnnContext;
typedef struct CUstream_st *cudaStream_t;
typedef struct cublasContext *cublasHandle_t;
typedef struct cudnnContext *cudnnHandle_t;

namespace tr {

class TR_EXPORT CudaBackend : public DeviceBackend {
public:
    /* TRException if there is no such device. */
    explicit CudaBackend(int device_id = 0);
    ~CudaBackend() override;

    /* Is the largest |a - b| at most eps? */
    bool is_close(const Tensor &tensor_a, const Tensor &tensor_b, float eps = 5e-5f) const;

    /* Kernels are (C_out, C_in, k, k); those of transposed_conv are (C_in, C_out, k, k). Results
     * have as many dims as the input. */
    Tensor conv(const Tensor &input, const Tensor &kernel, int32_t stride = 1, int32_t padding = 0);
    void conv_into(const Tensor &input, const Tensor &kernel, Tensor &result, int32_t stride = 1,
                   int32_t padding = 0);
    Tensor transposed_conv(const Tensor &input, const Tensor &kernel, int32_t stride = 1,
                           int32_t padding = 0);
    void transposed_conv_into(const Tensor &input, const Tensor &kernel, Tensor &result, int32_t stride = 1,
                              int32_t padding = 0);

    /* Waits for the device's work. */
    void synchronize() const;

    /* The stream that work goes to (nullptr is the default one); the others are not there. */
    cudaStream_t stream() const;
    cublasHandle_t cublas_handle() const { return nullptr; }
    cudnnHandle_t cudnn_handle() const { return nullptr; }
};

} // namespace tr
