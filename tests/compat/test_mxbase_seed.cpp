/* test_mxbase_seed.cpp - the code of the TensorBase document, run.
 *
 * Its code is of three sorts: declarations, which are checked by taking their addresses; bodies of
 * templates, which stand below as members of a class of their own; and short worked examples in words
 * ("tensor [224, 224, 3], tensor.GetSize() -> 224*224*3"), which become tests. The `#` comment in one
 * body is no C++ and is left out. The document's table says "indefined"; the library says "undefined". */
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "MxBase/DeviceManager/DeviceManager.h"
#include "MxBase/Tensor/TensorBase/TensorBase.h"
#include "test.h"

using namespace MxBase;

namespace {

/* The bodies, as the document has them. */
class Documented : public TensorBase {
public:
    using TensorBase::TensorBase;
    Documented(const TensorBase &other) : TensorBase(other) {}

    template<typename... Param>
    static APP_ERROR CreateTensorBase(TensorBase &tensor, Param... params)
    {
        tensor = TensorBase(params...);
        auto ret = tensor.CheckTensorValid();
        if (ret != APP_ERR_OK) {
            LogError << "tensor is invalid";
            return ret;
        }
        return APP_ERR_OK;
    }

    APP_ERROR GetBuffer(void *&ptr, const std::vector<uint32_t> &indices) const
    {
        std::vector<uint32_t> strides;
        uint32_t offset = 0;
        strides = GetStrides();
        for (uint32_t i  = 0; i < indices.size(); i++){
            offset += indices[i] * strides[i];
        }
        ptr = (void*)((uint8_t*)TensorBase::GetBuffer() + offset);
        return APP_ERR_OK;
    }

    template<typename T, typename... Ix>
    APP_ERROR GetBuffer(T* &value, Ix... index) const
    {
        std::vector<uint32_t> indices = {};
        GetIndices(indices, index...);
        void *ptr = nullptr;
        APP_ERROR ret = GetBuffer(ptr, indices);
        if (ret != APP_ERR_OK) {
            LogError << GetError(ret) << "GetBuffer failed.";
            return ret;
        }
        value = (T*)ptr;
        return APP_ERR_OK;
    }

    template<typename T, typename... Ix>
    APP_ERROR GetValue(T &value, Ix... index) const
    {
        if (!IsHost()) {
            LogError << "this tensor is not in host. you should deploy it to host";
            return APP_ERR_COMM_FAILURE;
        }
        if (sizeof(T) != GetDataTypeSize()) {
            LogError << "output date type is not match to tensor date type(" << GetDataType() << ")";
            return APP_ERR_COMM_FAILURE;
        }
        T *ptr = nullptr;
        APP_ERROR ret = GetBuffer(ptr, index...);
        if (ret != APP_ERR_OK) {
            LogError << GetError(ret) << "GetBuffer failed.";
            return ret;
        }
        value = *ptr;
        return APP_ERR_OK;
    }
};

} // namespace

TEST(test_every_declaration_of_the_document_is_there)
{
    using Shape = std::vector<uint32_t>;
    APP_ERROR (*malloc_)(TensorBase &) = &TensorBase::TensorBaseMalloc;
    APP_ERROR (*copy)(TensorBase &, const TensorBase &) = &TensorBase::TensorBaseCopy;
    APP_ERROR (*concat)(const std::vector<TensorBase> &, TensorBase &) = &TensorBase::BatchConcat;
    APP_ERROR (*stack)(const std::vector<TensorBase> &, TensorBase &) = &TensorBase::BatchStack;
    APP_ERROR (*vector)
    (const std::vector<TensorBase> &, TensorBase &, const bool &) = &TensorBase::BatchVector;
    MemoryData::MemoryType (TensorBase::*type)() const = &TensorBase::GetTensorType;
    size_t (TensorBase::*size)() const = &TensorBase::GetSize;
    size_t (TensorBase::*bytes)() const = &TensorBase::GetByteSize;
    Shape (TensorBase::*shape)() const = &TensorBase::GetShape;
    Shape (TensorBase::*strides)() const = &TensorBase::GetStrides;
    int32_t (TensorBase::*id)() const = &TensorBase::GetDeviceId;
    TensorDataType (TensorBase::*dtype)() const = &TensorBase::GetDataType;
    uint32_t (TensorBase::*dtype_size)() const = &TensorBase::GetDataTypeSize;
    bool (TensorBase::*host)() const = &TensorBase::IsHost;
    bool (TensorBase::*device)() const = &TensorBase::IsDevice;
    void *(TensorBase::*buffer)() const = &TensorBase::GetBuffer;
    APP_ERROR (TensorBase::*to_device)(int32_t) = &TensorBase::ToDevice;
    APP_ERROR (TensorBase::*to_dvpp)(int32_t) = &TensorBase::ToDvpp;
    APP_ERROR (TensorBase::*to_host)() = &TensorBase::ToHost;
    std::string (TensorBase::*desc)() = &TensorBase::GetDesc;
    APP_ERROR (TensorBase::*valid)() const = &TensorBase::CheckTensorValid;
    EXPECT(malloc_ && copy && concat && stack && vector && type && size && bytes && shape && strides && id);
    EXPECT(dtype && dtype_size && host && device && buffer && to_device && to_dvpp && to_host && desc &&
           valid);
    EXPECT((std::is_constructible<TensorBase, MemoryData, bool, Shape, TensorDataType>::value));
    EXPECT(
        (std::is_constructible<TensorBase, Shape, TensorDataType, MemoryData::MemoryType, int32_t>::value));
    EXPECT((std::is_constructible<TensorBase, Shape, TensorDataType, int32_t>::value));
    EXPECT((std::is_constructible<TensorBase, Shape, TensorDataType>::value));
    EXPECT((std::is_convertible<Shape, TensorBase>::value));
}

TEST(test_worked_examples_of_sizes_and_strides_hold)
{
    TensorBase image({ 224, 224, 3 });
    EXPECT(image.GetSize() == 224 * 224 * 3);
    TensorBase half({ 224, 224, 3 }, TENSOR_DTYPE_FLOAT16);
    EXPECT(half.GetByteSize() == 224 * 224 * 3 * 2);
    /* In elements; so for one-byte elements, as the shipped library counts bytes. */
    EXPECT(TensorBase({ 1, 2, 3, 4 }).GetStrides() == (std::vector<uint32_t>{ 24, 12, 4, 1 }));
}

TEST(test_worked_examples_of_batches_hold)
{
    std::vector<TensorBase> four, three;
    for (int i = 0; i < 3; i++) {
        four.push_back(TensorBase({ 1, 224, 224, 3 }));
        three.push_back(TensorBase({ 224, 224, 3 }));
        EXPECT(TensorBase::TensorBaseMalloc(four[i]) == APP_ERR_OK &&
               TensorBase::TensorBaseMalloc(three[i]) == APP_ERR_OK);
        memset(four[i].GetBuffer(), i, four[i].GetByteSize());
        memset(three[i].GetBuffer(), i, three[i].GetByteSize());
    }
    TensorBase out;
    uint8_t x = 9;
    EXPECT(TensorBase::BatchConcat(four, out) == APP_ERR_OK);
    EXPECT(out.GetShape() == (std::vector<uint32_t>{ 3, 224, 224, 3 }) &&
           out.GetValue(x, 2, 223, 223, 2) == 0 && x == 2);
    EXPECT(TensorBase::BatchStack(three, out) == APP_ERR_OK);
    EXPECT(out.GetShape() == (std::vector<uint32_t>{ 3, 224, 224, 3 }) && out.GetValue(x, 1, 0, 0, 0) == 0 &&
           x == 1);
    EXPECT(TensorBase::BatchVector(four, out, true) == APP_ERR_OK && out.GetShape().size() == 4);
    EXPECT(TensorBase::BatchVector(four, out) == APP_ERR_OK && out.GetShape().size() == 5);
}

TEST(test_bodies_of_the_document_agree_with_the_library)
{
    TensorBase t;
    EXPECT(Documented::CreateTensorBase(t, std::vector<uint32_t>{ 2, 3 }, TENSOR_DTYPE_INT32) == APP_ERR_OK);
    EXPECT(TensorBase::CreateTensorBase(t, std::vector<uint32_t>{ 2, 3 }, TENSOR_DTYPE_INT32) == APP_ERR_OK);
    EXPECT(TensorBase::TensorBaseMalloc(t) == APP_ERR_OK);
    for (int i = 0; i < 6; i++) static_cast<int32_t *>(t.GetBuffer())[i] = i * i;
    const Documented d(t);
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t j = 0; j < 3; j++) {
            int32_t a = -1, b = -2;
            int32_t *p = nullptr, *q = nullptr;
            EXPECT(d.GetValue(a, i, j) == APP_ERR_OK && t.GetValue(b, i, j) == APP_ERR_OK && a == b);
            EXPECT(d.GetBuffer(p, i, j) == APP_ERR_OK && t.GetBuffer(q, i, j) == APP_ERR_OK && p == q);
        }
    double wrong = 0;
    EXPECT(d.GetValue(wrong, 0, 0) == t.GetValue(wrong, 0, 0));
    EXPECT(Documented::CreateTensorBase(t, std::vector<uint32_t>{ 2 }, TENSOR_DTYPE_INT8,
                                        MemoryData::MEMORY_DEVICE, -1) == APP_ERR_COMM_FAILURE);
}

TEST(test_memory_made_outside_is_referred_to_as_the_note_says)
{
    MemoryData outside(2 * 3 * 4, MemoryData::MEMORY_HOST_MALLOC, 0);
    EXPECT(MemoryHelper::MxbsMalloc(outside) == APP_ERR_OK);
    {
        TensorBase borrowed(outside, true, { 2, 3 }, TENSOR_DTYPE_FLOAT32);
        EXPECT(borrowed.GetBuffer() == outside.ptrData);
    }
    static_cast<float *>(outside.ptrData)[0] = 1; /* still the program's */
    TensorBase owned(outside, false, { 2, 3 }, TENSOR_DTYPE_FLOAT32);
    float x = 0;
    EXPECT(owned.GetValue(x, 0, 0) == APP_ERR_OK && x == 1);
}

TEST(test_a_tensor_is_deployed_to_every_place_of_the_document)
{
    DeviceManager::GetInstance()->InitDevices();
    if (DeviceManager::GetInstance()->CheckDeviceId(0) != APP_ERR_OK) SKIP("no device");
    TensorBase t({ 2, 3 }, TENSOR_DTYPE_FLOAT32);
    EXPECT(TensorBase::TensorBaseMalloc(t) == APP_ERR_OK && t.IsHost() && !t.IsDevice());
    EXPECT(t.ToDevice(0) == APP_ERR_OK && t.IsDevice() && t.GetTensorType() == MemoryData::MEMORY_DEVICE);
    EXPECT(t.ToDvpp(0) == APP_ERR_OK && t.IsDevice() && t.GetTensorType() == MemoryData::MEMORY_DVPP);
    EXPECT(t.ToHost() == APP_ERR_OK && t.IsHost());
}

TEST_BEFORE
{
    setenv("GLOG_minloglevel", "4", 1);
}
