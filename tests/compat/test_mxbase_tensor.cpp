/* test_mxbase_tensor.cpp - the newer Tensor: metadata, memory, clones, regions, transposes, set values. */
#include <string>
#include <vector>

#include "MxBase/DeviceManager/DeviceManager.h"
#include "MxBase/E2eInfer/Tensor/Tensor.h"
#include "mxbase_test.hpp"

using namespace MxBase;
using Shape = std::vector<uint32_t>;

static bool has_devices() { return DeviceManager::GetInstance()->CheckDeviceId(0) == APP_ERR_OK; }

/* On device 0, of UINT8 elements 0, 1, 2, ... that wrap. */
static Tensor bytes_on_device(const Shape &shape, uint8_t first = 0)
{
    Tensor t(shape, TensorDType::UINT8);
    EXPECT(t.Malloc() == APP_ERR_OK);
    for (size_t i = 0; i < t.GetByteSize(); i++)
        static_cast<uint8_t *>(t.GetData())[i] = static_cast<uint8_t>(i + first);
    EXPECT(t.ToDevice(0) == APP_ERR_OK);
    return t;
}

static std::vector<uint8_t> bytes_of(Tensor t)
{
    EXPECT(t.ToHost() == APP_ERR_OK);
    const auto *p = static_cast<const uint8_t *>(t.GetData());
    return std::vector<uint8_t>(p, p + t.GetByteSize());
}

TEST(test_no_tensor_answers_every_question)
{
    Tensor none;
    EXPECT(none.IsEmpty() && none.GetData() == nullptr && none.GetShape().empty() && none.GetByteSize() == 0);
    EXPECT(none.GetDataType() == TensorDType::UNDEFINED &&
           none.GetMemoryType() == MemoryData::MEMORY_HOST_NEW);
    EXPECT(none.GetDeviceId() == -1 && !none.IsWithMargin() && none.GetReferRect().x1 == 0 &&
           none.GetValidRoi().x1 == 0);
    EXPECT(none.Malloc() == APP_ERR_COMM_INIT_FAIL && Tensor::TensorMalloc(none) == 1013);
    EXPECT(none.SetShape({ 1 }) == 1013 && none.ToDevice(0) == 1013 && none.ToDvpp(0) == 1013 &&
           none.ToHost() == 1013);
    EXPECT(none.SetValidRoi(Rect(0, 0, 1, 1)) == 1004 && none.SetReferRect(Rect(0, 0, 1, 1)) == 1004);
    EXPECT(Tensor::TensorFree(none) == APP_ERR_OK && Tensor::TensorFree(none) == APP_ERR_OK);
    EXPECT(none.IsEmpty() && none.GetShape().empty() && none.Malloc() == 1013 && none.GetReferRect().x1 == 0);
    Tensor copy(none);
    EXPECT(copy == none);
}

TEST(test_constructors_choose_the_memory_by_device_and_dvpp)
{
    int32_t data[4] = { 1, 2, 3, 4 };
    EXPECT(Tensor({ 4 }, TensorDType::INT32).GetMemoryType() == MemoryData::MEMORY_HOST_NEW);
    EXPECT(Tensor({ 4 }, TensorDType::INT32, -1, true).GetMemoryType() == MemoryData::MEMORY_HOST);
    Tensor over(data, { 4 }, TensorDType::INT32);
    EXPECT(over.GetData() == data && over.GetDeviceId() == -1 && over.GetByteSize() == 16 && !over.IsEmpty());
    Tensor owned(new int32_t[4], { 4 }, TensorDType::INT32, -1, false, false);
    EXPECT(!owned.IsEmpty() && owned.GetDataType() == TensorDType::INT32);
    Tensor null(nullptr, { 4 }, TensorDType::INT32);
    EXPECT(null.IsEmpty() && null.GetShape() == Shape{ 4 });
    EXPECT(throws_runtime_error([] { Tensor({ 4 }, TensorDType::INT32, -2); }));
    EXPECT(throws_runtime_error([] { Tensor({ 4 }, TensorDType::INT32, 1000, true); }));
    EXPECT(throws_runtime_error([&] { Tensor(data, { 4 }, TensorDType::INT32, 1000); }));
    EXPECT(throws_runtime_error([&] { Tensor(data, { 4 }, static_cast<TensorDType>(5), -1, false, true); }));
    EXPECT(throws_runtime_error([] { Tensor({ 1u << 30 }, TensorDType::INT32); }));
    if (!has_devices()) SKIP("no device");
    EXPECT(Tensor({ 4 }, TensorDType::INT32, 0).GetMemoryType() == MemoryData::MEMORY_DEVICE);
    Tensor media({ 4 }, TensorDType::INT32, 0, true);
    EXPECT(media.GetMemoryType() == MemoryData::MEMORY_DVPP && media.IsEmpty());
    EXPECT(media.Malloc() == APP_ERR_OK && media.Malloc() == APP_ERR_OK && !media.IsEmpty());
}

TEST(test_copies_are_the_same_tensor_and_clones_are_not)
{
    uint8_t data[4] = { 1, 2, 3, 4 };
    Tensor a(data, { 2, 2 }, TensorDType::UINT8);
    Tensor b(a), c;
    c = a;
    EXPECT(a == b && a == c && b.GetData() == data);
    EXPECT(b.SetShape({ 4 }) == APP_ERR_OK && a.GetShape() == Shape{ 4 });
    EXPECT(a.SetShape({}) == 1004 && a.SetShape({ 5 }) == 1004 &&
           a.SetShape({ 1u << 31, 1u << 31, 1u << 31 }) == 1004);
    if (!has_devices()) SKIP("no device");
    Tensor d = a.Clone();
    EXPECT(!(a == d) && d.GetData() != data && bytes_of(d) == (std::vector<uint8_t>{ 1, 2, 3, 4 }));
    EXPECT(b.ToDevice(0) == APP_ERR_OK && a.GetDeviceId() == 0);
    AscendStream stream(0);
    Tensor e = a.Clone(stream);
    EXPECT(stream.Synchronize() == APP_ERR_OK && e.GetMemoryType() == MemoryData::MEMORY_DEVICE);
    EXPECT(bytes_of(e) == (std::vector<uint8_t>{ 1, 2, 3, 4 }) && Tensor().Clone().IsEmpty());
    EXPECT(Tensor({ 4 }, TensorDType::UINT8).Clone().IsEmpty());
    if (DeviceManager::GetInstance()->CheckDeviceId(1) != APP_ERR_OK) SKIP("no second device");
    EXPECT(a.ToDevice(1) == APP_ERR_OK && a.Clone(stream).IsEmpty());
}

TEST(test_moves_check_the_device_and_keep_the_bytes)
{
    if (!has_devices()) SKIP("no device");
    Tensor t = bytes_on_device({ 3, 5 });
    EXPECT(t.ToDevice(-1) == 1004 && t.ToDevice(1000) == 1004 && t.ToDvpp(-1) == 1004);
    EXPECT(t.ToDvpp(0) == APP_ERR_OK && t.GetMemoryType() == MemoryData::MEMORY_DVPP && t.GetDeviceId() == 0);
    EXPECT(static_cast<uint8_t *>(t.GetData())[14] == 14); /* the host sees this kind */
    EXPECT(bytes_of(t)[14] == 14 && t.GetDeviceId() == -1);
    EXPECT(Tensor({ 4 }, TensorDType::UINT8).ToDevice(0) == 1004);
}

TEST(test_set_value_needs_the_type_and_a_device)
{
    if (!has_devices()) SKIP("no device");
    Tensor host({ 3 }, TensorDType::INT32);
    EXPECT(host.Malloc() == APP_ERR_OK && host.SetTensorValue(5) == APP_ERR_COMM_FAILURE);
    EXPECT(host.SetTensorValue(1.5f) == 1004 && host.SetTensorValue(static_cast<uint8_t>(1)) == 1004);
    Tensor none;
    EXPECT(none.SetTensorValue(5) == 1004 && none.SetTensorValue(5.0f) == 1004);
    EXPECT(Tensor({ 3 }, TensorDType::INT32, 0).SetTensorValue(5) == APP_ERR_COMM_INVALID_POINTER);
    AscendStream stream(0);
    Tensor i32({ 3 }, TensorDType::INT32, 0), u8({ 3 }, TensorDType::UINT8, 0, true),
        f32({ 3 }, TensorDType::FLOAT32, 0), f16({ 3 }, TensorDType::FLOAT16, 0);
    for (Tensor *t : { &i32, &u8, &f32, &f16 }) EXPECT(t->Malloc() == APP_ERR_OK);
    EXPECT(i32.SetTensorValue(-2147483647 - 1) == APP_ERR_OK &&
           u8.SetTensorValue(static_cast<uint8_t>(89)) == APP_ERR_OK);
    EXPECT(f32.SetTensorValue(0.1f, false, stream) == APP_ERR_OK &&
           f16.SetTensorValue(255.0f, true, stream) == APP_ERR_OK);
    EXPECT(stream.Synchronize() == APP_ERR_OK && f32.SetTensorValue(1.0f, true) == 1004 &&
           f16.SetTensorValue(1.0f) == 1004);
    for (Tensor *t : { &i32, &u8, &f32, &f16 }) EXPECT(t->ToHost() == APP_ERR_OK);
    for (int i = 0; i < 3; i++) {
        EXPECT(static_cast<int32_t *>(i32.GetData())[i] == INT32_MIN &&
               static_cast<uint8_t *>(u8.GetData())[i] == 89);
        EXPECT(static_cast<float *>(f32.GetData())[i] == 0.1f &&
               static_cast<uint16_t *>(f16.GetData())[i] == 23544);
    }
}

TEST(test_transpose_turns_host_tensors_in_every_order)
{
    const Shape shape = { 2, 3, 4 };
    std::vector<float> data(24);
    for (int i = 0; i < 24; i++) data[i] = static_cast<float>(i);
    Tensor src(data.data(), shape, TensorDType::FLOAT32);
    const std::vector<Shape> orders = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                        { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    for (const Shape &axes : orders) {
        Tensor out;
        EXPECT(Transpose(src, out, axes) == APP_ERR_OK);
        const Shape got = out.GetShape();
        EXPECT(got == (Shape{ shape[axes[0]], shape[axes[1]], shape[axes[2]] }));
        const auto *p = static_cast<const float *>(out.GetData());
        for (uint32_t i = 0; i < got[0]; i++)
            for (uint32_t j = 0; j < got[1]; j++)
                for (uint32_t k = 0; k < got[2]; k++) {
                    uint32_t at[3];
                    at[axes[0]] = i;
                    at[axes[1]] = j;
                    at[axes[2]] = k;
                    EXPECT(p[(i * got[1] + j) * got[2] + k] == data[(at[0] * 3 + at[1]) * 4 + at[2]]);
                }
    }
    Tensor reversed;
    EXPECT(Transpose(src, reversed) == APP_ERR_OK && reversed.GetShape() == (Shape{ 4, 3, 2 }));
    Tensor ready({ 4, 3, 2 }, TensorDType::FLOAT32);
    EXPECT(ready.Malloc() == APP_ERR_OK);
    void *before = ready.GetData();
    EXPECT(Transpose(src, ready) == APP_ERR_OK && ready.GetData() == before);
    EXPECT(static_cast<float *>(ready.GetData())[1] == 12);
    EXPECT(Transpose(src, src, Shape{ 2, 1, 0 }) == APP_ERR_OK && data[1] == 12 &&
           src.GetShape() == (Shape{ 4, 3, 2 }));
}

TEST(test_transpose_refuses_what_it_does_not_take)
{
    uint8_t data[120] = { 0 };
    Tensor out, none, src(data, { 2, 3 }, TensorDType::UINT8), vector(data, { 6 }, TensorDType::UINT8);
    Tensor five(data, { 1, 1, 1, 2, 3 }, TensorDType::UINT8), ints(data, { 2, 3 }, TensorDType::INT32);
    EXPECT(Transpose(none, out) == 1004 && Transpose(vector, out) == 1004 && Transpose(five, out) == 1004);
    EXPECT(Transpose(ints, out) == 1004 && Transpose(src, out, Shape{ 0 }) == 1004);
    EXPECT(Transpose(src, out, Shape{ 0, 2 }) == 1004 && Transpose(src, out, Shape{ 1, 1 }) == 1004);
    EXPECT(Transpose(src, out, Shape{ 0, UINT32_MAX }) == 1004 && out.IsEmpty());
    if (!has_devices()) SKIP("no device");
    Tensor device = bytes_on_device({ 2, 3 });
    EXPECT(Transpose(device, out) == 1004 && Transpose(src, device) == 1004);
}

TEST(test_batch_concat_joins_tensors)
{
    uint8_t a[4] = { 1, 2, 3, 4 }, b[2] = { 5, 6 };
    Tensor out;
    std::vector<Tensor> inputs = { Tensor(a, { 2, 2 }, TensorDType::UINT8),
                                   Tensor(b, { 1, 2 }, TensorDType::UINT8) };
    EXPECT(BatchConcat(inputs, out) == APP_ERR_OK && out.GetShape() == (Shape{ 3, 2 }));
    EXPECT(static_cast<uint8_t *>(out.GetData())[5] == 6);
    EXPECT(MxBase::BatchConcat({}, out) == 1004 && BatchConcat({ Tensor() }, out) == 1013);
    Tensor freed;
    EXPECT(Tensor::TensorFree(freed) == APP_ERR_OK && BatchConcat(inputs, freed) == APP_ERR_OK);
    EXPECT(freed.GetShape() == (Shape{ 3, 2 }));
}

TEST(test_margins_are_what_the_valid_part_leaves)
{
    Tensor t({ 1, 2, 2, 3 }, TensorDType::INT32);
    EXPECT(t.SetValidRoi(Rect(0, 0, 0, 0)) != APP_ERR_OK && !t.IsWithMargin());
    EXPECT(t.SetValidRoi(Rect(0, 0, 1, 2)) == APP_ERR_OK && t.IsWithMargin() && t.GetValidRoi().x1 == 1);
    EXPECT(t.SetValidRoi(Rect(0, 0, 2, 2)) == APP_ERR_OK && !t.IsWithMargin());
}

TEST(test_regions_are_kept_by_handle_and_checked)
{
    if (!has_devices()) SKIP("no device");
    Tensor t = bytes_on_device({ 32, 32, 3 });
    Tensor part(t, Rect(5, 5, 32, 32));
    EXPECT(part.GetReferRect().x0 == 5 && t.GetReferRect().x1 == 0 && part.GetData() == t.GetData() &&
           !(part == t));
    EXPECT(part.SetReferRect(Rect(0, 0, 16, 16)) == APP_ERR_OK && part.GetReferRect().x1 == 16);
    EXPECT(part.SetReferRect(Rect(0, 0, 33, 16)) == 1004 && part.SetReferRect(Rect(4, 4, 4, 8)) == 1004);
    EXPECT(Tensor({ 32, 32, 2 }, TensorDType::UINT8, 0).SetReferRect(Rect(0, 0, 4, 4)) == 1004);
    EXPECT(Tensor({ 2, 32, 32, 3 }, TensorDType::UINT8, 0).SetReferRect(Rect(0, 0, 4, 4)) == 1004);
    EXPECT(Tensor({ 32 }, TensorDType::UINT8, 0).SetReferRect(Rect(0, 0, 4, 4)) == 1004);
    EXPECT(throws_runtime_error([] { Tensor(Tensor(), Rect(0, 0, 1, 1)); }));
    EXPECT(throws_runtime_error([&] { Tensor(t, Rect(0, 0, 40, 1)); }));
}

TEST(test_clone_copies_a_region_into_a_region)
{
    if (!has_devices()) SKIP("no device");
    for (const Shape &shape : { Shape{ 64, 80 }, Shape{ 64, 80, 3 }, Shape{ 1, 64, 80, 3 } }) {
        const uint32_t channels = shape.size() == 2 ? 1 : 3;
        Tensor src = bytes_on_device(shape), dst = bytes_on_device(shape, 100);
        Tensor from(src, Rect(10, 20, 30, 50)), to(dst, Rect(0, 1, 20, 31));
        EXPECT(to.Clone(from) == APP_ERR_OK);
        const std::vector<uint8_t> got = bytes_of(dst), was = bytes_of(src);
        for (uint32_t y = 0; y < 64; y++)
            for (uint32_t x = 0; x < 80 * channels; x++) {
                const size_t at = y * 80 * channels + x;
                const bool inside = y >= 1 && y < 31 && x < 20 * channels;
                const uint8_t want =
                    inside ? was[at + 19 * 80 * channels + 10 * channels] : static_cast<uint8_t>(at + 100);
                EXPECT_MSG(got[at] == want, "%u %u", y, x);
            }
    }
}

TEST(test_clone_of_regions_refuses_what_does_not_fit)
{
    if (!has_devices()) SKIP("no device");
    Tensor a = bytes_on_device({ 64, 64 }), b = bytes_on_device({ 64, 64 }), none,
           host({ 64, 64 }, TensorDType::UINT8);
    EXPECT(host.Malloc() == APP_ERR_OK);
    const Rect rect(4, 4, 64, 64), other(0, 0, 4, 4);
    Tensor ra(a, rect), rb(b, rect), small(b, other), rh(host, rect);
    EXPECT(none.Clone(ra) == 1003 && ra.Clone(none) == 1003);
    EXPECT(ra.Clone(b) == 1004 && b.Clone(ra) == 1004 && ra.Clone(small) == 1004);
    EXPECT(ra.Clone(rh) == 1004 && rh.Clone(ra) == 1004);
    Tensor tiny = bytes_on_device({ 63, 63 });
    Tensor rt(tiny, Rect(0, 0, 60, 60)), ru(a, Rect(0, 0, 60, 60));
    EXPECT(rt.Clone(ru) == 1004 && ru.Clone(rt) == APP_ERR_OK);
    Tensor floats({ 64, 64 }, TensorDType::FLOAT32, 0);
    EXPECT(floats.Malloc() == APP_ERR_OK);
    Tensor rf(floats, rect);
    EXPECT(rf.Clone(rf) == 1004 && ra.Clone(rf) == 1004);
    EXPECT(ra.Clone(rb) == APP_ERR_OK);
    if (DeviceManager::GetInstance()->CheckDeviceId(1) != APP_ERR_OK) SKIP("no second device");
    AscendStream elsewhere(1);
    EXPECT(ra.Clone(rb, elsewhere) == 1004);
}

TEST_BEFORE
{
    setenv("GLOG_minloglevel", "4", 1);
    DeviceManager::GetInstance()->InitDevices();
}
