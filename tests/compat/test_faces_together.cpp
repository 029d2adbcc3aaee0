/* All five faces in one program, beside the library itself: no name of one is another's. */
#include <infiniop.h>
#include <infinirt.h>
#include <llaisys.h>
#include <llaisys/ops.h>
#include <llaisys/tensor.h>
#include <tech_renaissance.h>
#include <tiny_tensor.hpp>

#include "MxBase/DeviceManager/DeviceManager.h"
#include "MxBase/Tensor/TensorBase/TensorBase.h"
#include "test.h"

static const float numbers[6] = { 1, 2, 3, 4, 5, 6 };

TEST(test_faces_llaisys_adds)
{
    size_t shape[] = { 2, 3 };
    llaisysTensor_t a = tensorCreate(shape, 2, LLAISYS_DTYPE_F32, LLAISYS_DEVICE_CPU, 0);
    llaisysTensor_t c = tensorCreate(shape, 2, LLAISYS_DTYPE_F32, LLAISYS_DEVICE_CPU, 0);
    tensorLoad(a, const_cast<float *>(numbers));
    llaisysAdd(c, a, a);
    EXPECT(static_cast<float *>(tensorGetData(c))[5] == 12);
    tensorDestroy(a);
    tensorDestroy(c);
}

TEST(test_faces_infiniop_rearranges)
{
    const size_t shape[] = { 3, 2 };
    const ptrdiff_t transposed[] = { 1, 3 }, packed[] = { 2, 1 };
    float out[6] = { 0 };
    infiniopHandle_t handle = nullptr;
    infiniopTensorDescriptor_t from = nullptr, to = nullptr;
    infiniopRearrangeDescriptor_t op = nullptr;
    EXPECT(infiniopCreateHandle(&handle) == INFINI_STATUS_SUCCESS);
    EXPECT(infiniopCreateTensorDescriptor(&from, 2, shape, transposed, INFINI_DTYPE_F32) ==
           INFINI_STATUS_SUCCESS);
    EXPECT(infiniopCreateTensorDescriptor(&to, 2, shape, packed, INFINI_DTYPE_F32) == INFINI_STATUS_SUCCESS);
    EXPECT(infiniopCreateRearrangeDescriptor(handle, &op, to, from) == INFINI_STATUS_SUCCESS);
    EXPECT(infiniopRearrange(op, out, numbers, nullptr) == INFINI_STATUS_SUCCESS);
    EXPECT(out[0] == 1 && out[1] == 4 && out[4] == 3 && out[5] == 6);
    EXPECT(infiniopDestroyRearrangeDescriptor(op) == INFINI_STATUS_SUCCESS);
    EXPECT(infiniopDestroyTensorDescriptor(from) == INFINI_STATUS_SUCCESS);
    EXPECT(infiniopDestroyTensorDescriptor(to) == INFINI_STATUS_SUCCESS);
    EXPECT(infiniopDestroyHandle(handle) == INFINI_STATUS_SUCCESS);
}

TEST(test_faces_tinyai_reshapes)
{
    tiny::Tensor t(2, 3);
    t.fill(2.5f);
    EXPECT(t.size == 6 && t.at(1, 2) == 2.5f);
}

TEST(test_faces_mxbase_allocates)
{
    MxBase::TensorBase t({ 2, 3 }, MxBase::TENSOR_DTYPE_FLOAT32);
    EXPECT(MxBase::TensorBase::TensorBaseMalloc(t) == APP_ERR_OK && t.GetByteSize() == 24);
}

TEST(test_faces_renaissance_multiplies)
{
    tr::Tensor t = tr::Tensor::full(tr::Shape(2, 2), 3.0f, tr::DType::FP32, tr::CPU);
    EXPECT(t.numel() == 4 && t.is_contiguous());
}
