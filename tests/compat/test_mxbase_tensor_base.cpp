/* test_mxbase_tensor_base.cpp - TensorBase: constructors, questions, elements, moves, batches. */
#include <string>
#include <vector>

#include "MxBase/DeviceManager/DeviceManager.h"
#include "MxBase/MemoryHelper/MemoryHelper.h"
#include "MxBase/Tensor/TensorBase/TensorBase.h"
#include "mxbase_test.hpp"

using namespace MxBase;
using Shape = std::vector<uint32_t>;

static const TensorDataType all_types[] = {
    TENSOR_DTYPE_FLOAT32, TENSOR_DTYPE_FLOAT16, TENSOR_DTYPE_INT8,   TENSOR_DTYPE_INT32,
    TENSOR_DTYPE_UINT8,   TENSOR_DTYPE_INT16,   TENSOR_DTYPE_UINT16, TENSOR_DTYPE_UINT32,
    TENSOR_DTYPE_INT64,   TENSOR_DTYPE_UINT64,  TENSOR_DTYPE_DOUBLE64, TENSOR_DTYPE_BOOL,
};
static const uint32_t all_sizes[] = { 4, 2, 1, 4, 1, 2, 2, 4, 8, 8, 8, 1 };
static const char *const all_names[] = { "float32", "float16", "int8",   "int32",  "uint8",    "int16",
                                         "uint16",  "uint32",  "int64", "uint64", "double64", "bool" };

static bool has_devices()
{
    DeviceManager::GetInstance()->InitDevices();
    uint32_t count = 0;
    DeviceManager::GetInstance()->GetDevicesCount(count);
    return count > 0;
}

/* 0, 1, 2, ... on the host. */
static TensorBase counting(const Shape &shape)
{
    TensorBase t(shape, TENSOR_DTYPE_FLOAT32);
    EXPECT(TensorBase::TensorBaseMalloc(t) == APP_ERR_OK);
    for (size_t i = 0; i < t.GetSize(); i++) static_cast<float *>(t.GetBuffer())[i] = static_cast<float>(i);
    return t;
}

TEST(test_numbers_of_types_and_memory_are_the_documents)
{
    EXPECT(TENSOR_DTYPE_UNDEFINED == -1 && TENSOR_DTYPE_FLOAT32 == 0 && TENSOR_DTYPE_UINT8 == 4);
    EXPECT(TENSOR_DTYPE_INT16 == 6 && TENSOR_DTYPE_DOUBLE64 == 11 && TENSOR_DTYPE_BOOL == 12);
    EXPECT(MemoryData::MEMORY_HOST == 0 && MemoryData::MEMORY_DEVICE == 1 && MemoryData::MEMORY_DVPP == 2);
    EXPECT(MemoryData::MEMORY_HOST_MALLOC == 3 && MemoryData::MEMORY_HOST_NEW == 4);
    EXPECT(TensorDataTypeStr.at(TENSOR_DTYPE_INT64) == "TENSOR_DTYPE_INT64" &&
           TensorDataTypeStr.size() == 13);
}

TEST(test_every_type_has_its_size_and_name)
{
    for (int i = 0; i < 12; i++) {
        TensorBase t({ 3, 2 }, all_types[i]);
        EXPECT(t.GetDataType() == all_types[i] && t.GetDataTypeSize() == all_sizes[i]);
        EXPECT(t.GetByteSize() == 6 * all_sizes[i]);
        EXPECT(GetTensorDataTypeDesc(all_types[i]) == all_names[i]);
    }
    TensorBase none({ 3, 2 }, TENSOR_DTYPE_UNDEFINED);
    EXPECT(none.GetDataTypeSize() == 0 && none.GetByteSize() == 0 && none.GetSize() == 6);
    EXPECT(GetTensorDataTypeDesc(TENSOR_DTYPE_UNDEFINED) == "undefined");
    EXPECT(GetTensorDataTypeDesc(static_cast<TensorDataType>(5)) == "undefined");
    EXPECT(GetTensorDataTypeDesc(static_cast<TensorDataType>(99)) == "undefined");
}

TEST(test_default_tensor_is_empty_and_not_allocated_by_malloc)
{
    TensorBase t;
    EXPECT(t.GetShape() == Shape{ 0 } && t.GetSize() == 0 && t.GetByteSize() == 0);
    EXPECT(t.GetDataType() == TENSOR_DTYPE_UINT8 && t.GetDeviceId() == -1);
    EXPECT(t.GetTensorType() == MemoryData::MEMORY_HOST_NEW && t.IsHost() && !t.IsDevice());
    EXPECT(t.GetBuffer() == nullptr && t.CheckTensorValid() == APP_ERR_OK);
    EXPECT(TensorBase::TensorBaseMalloc(t) == APP_ERR_COMM_INVALID_PARAM);
}

TEST(test_constructors_describe_and_do_not_allocate)
{
    TensorBase full({ 2, 3 }, TENSOR_DTYPE_INT64, MemoryData::MEMORY_DVPP, 0);
    EXPECT(full.GetTensorType() == MemoryData::MEMORY_DVPP && full.GetDeviceId() == 0 && full.IsDevice());
    TensorBase device({ 2, 3 }, TENSOR_DTYPE_INT64, 1);
    EXPECT(device.GetTensorType() == MemoryData::MEMORY_HOST_NEW && device.GetDeviceId() == 1 &&
           device.IsHost());
    TensorBase typed({ 2, 3 }, TENSOR_DTYPE_INT64);
    EXPECT(typed.GetDeviceId() == -1 && typed.GetByteSize() == 48);
    TensorBase bare({ 2, 3 });
    EXPECT(bare.GetDataType() == TENSOR_DTYPE_UINT8 && bare.GetByteSize() == 6);
    EXPECT(!full.GetBuffer() && !device.GetBuffer() && !typed.GetBuffer() && !bare.GetBuffer());
}

TEST(test_constructors_throw_on_bad_types_sizes_and_totals)
{
    float data[6] = { 0 };
    const TensorDataType bad[] = { static_cast<TensorDataType>(5), static_cast<TensorDataType>(13),
                                   static_cast<TensorDataType>(15), static_cast<TensorDataType>(-2) };
    for (const TensorDataType type : bad) {
        EXPECT(throws_runtime_error([&] { TensorBase({ 2, 3 }, type); }));
        EXPECT(throws_runtime_error([&] { TensorBase({ 2, 3 }, type, 0); }));
        EXPECT(throws_runtime_error([&] { TensorBase({ 2, 3 }, type, MemoryData::MEMORY_HOST, 0); }));
        EXPECT(throws_runtime_error([&] { TensorBase(MemoryData(data, 24), true, { 2, 3 }, type); }));
    }
    EXPECT(throws_runtime_error([&] {
        TensorBase(MemoryData(data, 6), true, { 2, 3 }, TENSOR_DTYPE_FLOAT32);
    }));
    EXPECT(throws_runtime_error([&] {
        TensorBase(MemoryData(data, 25), true, { 2, 3 }, TENSOR_DTYPE_FLOAT32);
    }));
    EXPECT(throws_runtime_error([&] { TensorBase({ 1u << 29 }); }));
    EXPECT(throws_runtime_error([&] { TensorBase({ 1u << 20, 1u << 20 }); }));
    EXPECT(throws_runtime_error([&] { TensorBase({ UINT32_MAX, UINT32_MAX, UINT32_MAX }); }));
    EXPECT(!throws_runtime_error([&] { TensorBase({ 1u << 28 }); }));
}

TEST(test_strides_are_bytes)
{
    EXPECT(TensorBase({ 1, 2, 3, 4 }, TENSOR_DTYPE_UINT8).GetStrides() == (Shape{ 24, 12, 4, 1 }));
    EXPECT(TensorBase({ 1, 2, 3, 4 }, TENSOR_DTYPE_FLOAT32).GetStrides() == (Shape{ 96, 48, 16, 4 }));
    EXPECT(TensorBase({ 5 }, TENSOR_DTYPE_INT64).GetStrides() == Shape{ 8 });
    EXPECT(TensorBase(Shape{}).GetStrides().empty());
}

TEST(test_borrowed_memory_is_seen_and_left_alone)
{
    std::vector<int32_t> data = { 10, 11, 12, 13, 14, 15 };
    {
        TensorBase t(MemoryData(data.data(), 24, MemoryData::MEMORY_HOST_MALLOC, 7), true, { 2, 3 },
                     TENSOR_DTYPE_INT32);
        int32_t x = 0;
        EXPECT(t.GetBuffer() == data.data() && t.GetDeviceId() == 7);
        EXPECT(t.GetTensorType() == MemoryData::MEMORY_HOST_MALLOC);
        EXPECT(t.GetValue(x, 1, 2) == APP_ERR_OK && x == 15);
        data[5] = 99;
        EXPECT(t.GetValue(x, 1, 2) == APP_ERR_OK && x == 99);
    }
    EXPECT(data[0] == 10);
    TensorBase nothing(MemoryData(nullptr, 24), true, { 6 }, TENSOR_DTYPE_INT32);
    EXPECT(nothing.GetBuffer() == nullptr);
}

TEST(test_memory_of_any_alignment_is_read)
{
    std::vector<uint8_t> raw(64);
    double want = 2.5, got = 0;
    memcpy(raw.data() + 11, &want, sizeof want);
    TensorBase t(MemoryData(raw.data() + 3, 16, MemoryData::MEMORY_HOST), true, { 2 }, TENSOR_DTYPE_DOUBLE64);
    EXPECT(t.GetValue(got, 1) == APP_ERR_OK && got == want);
    TensorBase copy({ 2 }, TENSOR_DTYPE_DOUBLE64);
    EXPECT(TensorBase::TensorBaseMalloc(copy) == APP_ERR_OK &&
           TensorBase::TensorBaseCopy(copy, t) == APP_ERR_OK);
    EXPECT(copy.GetValue(got, 1) == APP_ERR_OK && got == want);
}

TEST(test_owned_memory_of_every_type_is_freed_with_the_last_copy)
{
    const MemoryData::MemoryType types[] = { MemoryData::MEMORY_HOST, MemoryData::MEMORY_DEVICE,
                                             MemoryData::MEMORY_DVPP, MemoryData::MEMORY_HOST_MALLOC,
                                             MemoryData::MEMORY_HOST_NEW };
    for (const auto type : types) {
        if ((type == MemoryData::MEMORY_DEVICE || type == MemoryData::MEMORY_DVPP) && !has_devices())
            continue;
        MemoryData data(24, type, 0);
        EXPECT(MemoryHelper::MxbsMalloc(data) == APP_ERR_OK);
        TensorBase first(data, false, { 2, 3 }, TENSOR_DTYPE_FLOAT32);
        TensorBase second = first;
        EXPECT(second.GetBuffer() == data.ptrData);
    }
    auto *mine = new float[6];
    TensorBase t(MemoryData(mine, 24, MemoryData::MEMORY_HOST_NEW), false, { 6 }, TENSOR_DTYPE_FLOAT32);
    EXPECT(t.GetBuffer() == mine);
}

TEST(test_elements_are_found_by_numbers_and_by_vectors_and_by_prefixes)
{
    TensorBase t = counting({ 2, 3, 4 });
    float x = 0;
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t j = 0; j < 3; j++)
            for (uint32_t k = 0; k < 4; k++) {
                EXPECT(t.GetValue(x, i, j, k) == APP_ERR_OK && x == static_cast<float>(i * 12 + j * 4 + k));
                EXPECT(t.GetValue(x, Shape{ i, j, k }) == APP_ERR_OK &&
                       x == static_cast<float>(i * 12 + j * 4 + k));
            }
    float *row = nullptr;
    void *p = nullptr;
    EXPECT(t.GetBuffer(row, 1, 2) == APP_ERR_OK && row[3] == 23);
    EXPECT(t.GetBuffer(row, static_cast<int64_t>(1)) == APP_ERR_OK && row[0] == 12);
    EXPECT(t.GetBuffer(p, Shape{}) == APP_ERR_OK && p == t.GetBuffer());
    EXPECT(t.GetBuffer(p, Shape{ 0, 1 }) == APP_ERR_OK && static_cast<float *>(p)[0] == 4);
    EXPECT(t.GetBuffer(row, std::vector<int>{ 1, 0 }) == APP_ERR_OK && row[0] == 12);
}

TEST(test_bad_indices_are_1009_and_no_memory_is_1004)
{
    TensorBase t = counting({ 2, 3 });
    float x = 5;
    float *p = &x;
    void *q = &x;
    EXPECT(t.GetValue(x, 2, 0) == APP_ERR_COMM_OUT_OF_RANGE && x == 5);
    EXPECT(t.GetValue(x, 0, 3) == 1009 && t.GetValue(x, -1, 0) == 1009 && t.GetValue(x, 0, 0, 0) == 1009);
    EXPECT(t.GetValue(x, 1ull << 32, 0) == 1009);
    EXPECT(t.GetBuffer(p, 0, 7) == 1009 && p == &x);
    EXPECT(t.GetBuffer(q, Shape{ 0, 0, 0 }) == 1009 && q == &x);
    TensorBase described({ 2, 3 }, TENSOR_DTYPE_FLOAT32, 1);
    EXPECT(described.GetBuffer(q, Shape{ 1, 2 }) == APP_ERR_COMM_INVALID_PARAM);
    EXPECT(described.GetValue(x, 1, 2) == 1004 && described.GetValue(x, 2, 2) == 1009);
}

TEST(test_values_of_another_size_or_on_a_device_are_1001)
{
    TensorBase t = counting({ 2, 3 });
    double d = 0;
    uint8_t b = 0;
    int32_t same_size = 0;
    EXPECT(t.GetValue(d, 0, 0) == APP_ERR_COMM_FAILURE && t.GetValue(b, 0, 0) == 1001);
    EXPECT(t.GetValue(same_size, 0, 1) == APP_ERR_OK && same_size == 0x3f800000);
    if (!has_devices()) SKIP("no device");
    float x = 0;
    EXPECT(t.ToDevice(0) == APP_ERR_OK && t.GetValue(x, 0, 0) == 1001);
}

TEST(test_set_shape_cannot_lead_outside_the_memory)
{
    TensorBase t = counting({ 2, 3 });
    TensorBase copy = t;
    float x = 0;
    EXPECT(t.SetShape({ 3, 2 }) == APP_ERR_OK && copy.GetShape() == (Shape{ 3, 2 }));
    EXPECT(t.GetValue(x, 2, 1) == APP_ERR_OK && x == 5);
    EXPECT(t.SetShape({ 100, 100 }) == APP_ERR_OK);
    EXPECT(t.GetValue(x, 0, 5) == APP_ERR_OK && t.GetValue(x, 0, 6) == 1009 && t.GetValue(x, 99, 99) == 1009);
    TensorBase whole({ 100, 100 }, TENSOR_DTYPE_FLOAT32);
    EXPECT(TensorBase::TensorBaseMalloc(whole) == APP_ERR_OK);
    EXPECT(TensorBase::TensorBaseCopy(whole, t) == 1004);
    TensorBase out;
    EXPECT(TensorBase::BatchStack({ t, t }, out) == 1004);
    EXPECT(throws_runtime_error([&] { t.SetShape({ 1u << 30 }); }));
}

TEST(test_malloc_again_gives_new_memory_and_zeroes_where_malloc_does)
{
    TensorBase t({ 1024 }, TENSOR_DTYPE_UINT8, MemoryData::MEMORY_HOST_MALLOC, -1);
    for (int round = 0; round < 3; round++) {
        EXPECT(TensorBase::TensorBaseMalloc(t) == APP_ERR_OK);
        int sum = 0;
        for (int i = 0; i < 1024; i++) sum += static_cast<uint8_t *>(t.GetBuffer())[i];
        EXPECT(sum == 0);
        memset(t.GetBuffer(), 0x77, 1024);
    }
    uint8_t mine[4] = { 1, 2, 3, 4 };
    TensorBase borrowed(MemoryData(mine, 4), true, { 4 }, TENSOR_DTYPE_UINT8);
    EXPECT(TensorBase::TensorBaseMalloc(borrowed) == APP_ERR_OK && borrowed.GetBuffer() != mine);
}

TEST(test_malloc_refuses_devices_that_are_not_there)
{
    TensorBase negative({ 4 }, TENSOR_DTYPE_UINT8, MemoryData::MEMORY_DEVICE, -1);
    EXPECT(negative.CheckTensorValid() == APP_ERR_COMM_FAILURE);
    EXPECT(TensorBase::TensorBaseMalloc(negative) == 1001);
    TensorBase far({ 4 }, TENSOR_DTYPE_UINT8, MemoryData::MEMORY_DEVICE, 1000);
    EXPECT(TensorBase::TensorBaseMalloc(far) == 1004);
    TensorBase odd({ 4 }, TENSOR_DTYPE_UINT8, static_cast<MemoryData::MemoryType>(42), 0);
    EXPECT(TensorBase::TensorBaseMalloc(odd) != APP_ERR_OK);
    TensorBase created;
    EXPECT(TensorBase::CreateTensorBase(created, Shape{ 4 }, TENSOR_DTYPE_UINT8, MemoryData::MEMORY_DEVICE,
                                        -5) == 1001);
}

TEST(test_copies_share_one_buffer_and_migrate_together)
{
    if (!has_devices()) SKIP("no device");
    TensorBase a = counting({ 2, 3 });
    TensorBase b(a), c;
    c = b;
    EXPECT(a.GetBuffer() == b.GetBuffer() && b.GetBuffer() == c.GetBuffer());
    EXPECT(b.ToDevice(0) == APP_ERR_OK);
    EXPECT(a.IsDevice() && c.IsDevice() && a.GetDeviceId() == 0 &&
           a.GetTensorType() == MemoryData::MEMORY_DEVICE);
    EXPECT(a.GetBuffer() == c.GetBuffer());
    EXPECT(c.ToHost() == APP_ERR_OK && a.IsHost() && a.GetDeviceId() == -1);
    float x = 0;
    EXPECT(a.GetValue(x, 1, 2) == APP_ERR_OK && x == 5);
    c = counting({ 1 });
    EXPECT(a.GetSize() == 6 && c.GetSize() == 1);
}

TEST(test_a_round_of_all_places_keeps_every_bit)
{
    if (!has_devices()) SKIP("no device");
    uint32_t count = 0;
    DeviceManager::GetInstance()->GetDevicesCount(count);
    for (int i = 0; i < 12; i++) {
        TensorBase t({ 5, 7 }, all_types[i]);
        EXPECT(TensorBase::TensorBaseMalloc(t) == APP_ERR_OK);
        std::vector<uint8_t> want(t.GetByteSize());
        for (size_t k = 0; k < want.size(); k++) want[k] = static_cast<uint8_t>(k * 37 + i);
        memcpy(t.GetBuffer(), want.data(), want.size());
        EXPECT(t.ToDevice(0) == APP_ERR_OK && t.ToDvpp(0) == APP_ERR_OK);
        EXPECT(t.GetTensorType() == MemoryData::MEMORY_DVPP);
        if (count > 1)
            EXPECT(t.ToDevice(1) == APP_ERR_OK && t.GetDeviceId() == 1 && t.ToDvpp(1) == APP_ERR_OK);
        EXPECT(t.ToDevice(0) == APP_ERR_OK && t.ToDevice(0) == APP_ERR_OK && t.ToHost() == APP_ERR_OK);
        EXPECT(t.GetTensorType() == MemoryData::MEMORY_HOST_NEW && t.ToHost() == APP_ERR_OK);
        EXPECT(memcmp(t.GetBuffer(), want.data(), want.size()) == 0);
    }
}

TEST(test_moves_fail_without_memory_or_device_and_change_nothing)
{
    TensorBase described({ 2, 3 }, TENSOR_DTYPE_FLOAT32);
    EXPECT(described.ToDevice(0) == 1004 && described.ToDvpp(0) == 1004 && described.ToHost() == APP_ERR_OK);
    EXPECT(described.IsHost() && described.GetDeviceId() == -1);
    TensorBase t = counting({ 2, 3 });
    void *before = t.GetBuffer();
    EXPECT(t.ToDevice(-1) == 1004 && t.ToDevice(1000) == 1004 && t.ToDvpp(-7) == 1004);
    EXPECT(t.GetBuffer() == before && t.IsHost());
    TensorBase empty;
    EXPECT(empty.ToDevice(0) == 1004);
}

TEST(test_copy_goes_between_all_places_and_checks_sizes)
{
    TensorBase src = counting({ 2, 3 });
    TensorBase dst({ 6 }, TENSOR_DTYPE_FLOAT32), none, other({ 7 }, TENSOR_DTYPE_FLOAT32);
    EXPECT(TensorBase::TensorBaseCopy(dst, src) == 1004);
    EXPECT(TensorBase::TensorBaseMalloc(dst) == APP_ERR_OK &&
           TensorBase::TensorBaseMalloc(other) == APP_ERR_OK);
    EXPECT(TensorBase::TensorBaseCopy(dst, none) == 1004 && TensorBase::TensorBaseCopy(none, dst) == 1004);
    EXPECT(TensorBase::TensorBaseCopy(other, src) == 1004);
    EXPECT(TensorBase::TensorBaseCopy(dst, src) == APP_ERR_OK &&
           static_cast<float *>(dst.GetBuffer())[5] == 5);
    TensorBase bad({ 6 }, TENSOR_DTYPE_FLOAT32, MemoryData::MEMORY_DEVICE, -1);
    EXPECT(TensorBase::TensorBaseCopy(bad, src) == 1001 && TensorBase::TensorBaseCopy(dst, bad) == 1001);
    if (!has_devices()) SKIP("no device");
    TensorBase device({ 6 }, TENSOR_DTYPE_FLOAT32, MemoryData::MEMORY_DEVICE, 0);
    TensorBase media({ 6 }, TENSOR_DTYPE_FLOAT32, MemoryData::MEMORY_DVPP, 0);
    EXPECT(TensorBase::TensorBaseMalloc(device) == APP_ERR_OK &&
           TensorBase::TensorBaseMalloc(media) == APP_ERR_OK);
    static_cast<float *>(src.GetBuffer())[5] = 42;
    EXPECT(TensorBase::TensorBaseCopy(device, src) == APP_ERR_OK);
    EXPECT(TensorBase::TensorBaseCopy(media, device) == APP_ERR_OK);
    EXPECT(TensorBase::TensorBaseCopy(dst, media) == APP_ERR_OK);
    EXPECT(static_cast<float *>(dst.GetBuffer())[5] == 42 && static_cast<float *>(dst.GetBuffer())[4] == 4);
}

TEST(test_batches_join_along_the_first_or_a_new_dim)
{
    const std::vector<TensorBase> inputs = { counting({ 2, 2 }), counting({ 2, 2 }), counting({ 2, 2 }) };
    TensorBase out;
    float x = 0;
    EXPECT(TensorBase::BatchConcat(inputs, out) == APP_ERR_OK && out.GetShape() == (Shape{ 6, 2 }));
    EXPECT(out.GetValue(x, 5, 1) == APP_ERR_OK && x == 3);
    EXPECT(TensorBase::BatchStack(inputs, out) == APP_ERR_OK && out.GetShape() == (Shape{ 3, 2, 2 }));
    EXPECT(out.GetValue(x, 2, 1, 0) == APP_ERR_OK && x == 2);
    EXPECT(TensorBase::BatchVector(inputs, out) == APP_ERR_OK && out.GetShape() == (Shape{ 3, 2, 2 }));
    EXPECT(TensorBase::BatchVector(inputs, out, true) == APP_ERR_OK && out.GetShape() == (Shape{ 6, 2 }));
    EXPECT(TensorBase::BatchConcat({ counting({ 1, 2 }), counting({ 3, 2 }) }, out) == APP_ERR_OK);
    EXPECT(out.GetShape() == (Shape{ 4, 2 }) && out.GetValue(x, 3, 1) == APP_ERR_OK && x == 5);
    std::vector<TensorBase> same = { counting({ 2 }), counting({ 2 }) };
    EXPECT(TensorBase::BatchStack(same, same[0]) == APP_ERR_OK && same[0].GetShape() == (Shape{ 2, 2 }));
}

TEST(test_batches_that_do_not_fit_are_1004)
{
    TensorBase out = counting({ 1 });
    TensorBase described({ 2, 2 }, TENSOR_DTYPE_FLOAT32), bytes({ 2, 2 });
    EXPECT(TensorBase::TensorBaseMalloc(bytes) == APP_ERR_OK);
    const TensorBase a = counting({ 2, 2 });
    EXPECT(TensorBase::BatchConcat({}, out) == 1004 && TensorBase::BatchStack({}, out) == 1004);
    EXPECT(TensorBase::BatchVector({}, out) == 1004 && TensorBase::BatchVector({}, out, true) == 1004);
    EXPECT(TensorBase::BatchConcat({ a, counting({ 2, 3 }) }, out) == 1004);
    EXPECT(TensorBase::BatchStack({ a, counting({ 3, 2 }) }, out) == 1004);
    EXPECT(TensorBase::BatchConcat({ a, counting({ 2, 2, 1 }) }, out) == 1004);
    EXPECT(TensorBase::BatchConcat({ a, bytes }, out) == 1004 &&
           TensorBase::BatchStack({ a, described }, out) == 1004);
    EXPECT(out.GetShape() == Shape{ 1 });
    TensorBase other_kind({ 2, 2 }, TENSOR_DTYPE_FLOAT32, MemoryData::MEMORY_HOST_MALLOC, -1);
    EXPECT(TensorBase::TensorBaseMalloc(other_kind) == APP_ERR_OK &&
           TensorBase::BatchStack({ a, other_kind }, out) == 1004);
    TensorBase other_id({ 2, 2 }, TENSOR_DTYPE_FLOAT32, MemoryData::MEMORY_HOST_NEW, 0);
    EXPECT(TensorBase::TensorBaseMalloc(other_id) == APP_ERR_OK &&
           TensorBase::BatchStack({ a, other_id }, out) == 1004);
    TensorBase invalid({ 2, 2 }, TENSOR_DTYPE_FLOAT32, MemoryData::MEMORY_DEVICE, -1);
    EXPECT(TensorBase::BatchVector({ invalid }, out) == 1001);
}

TEST(test_batches_stay_on_their_device)
{
    if (!has_devices()) SKIP("no device");
    std::vector<TensorBase> inputs = { counting({ 1, 3 }), counting({ 1, 3 }) };
    TensorBase out;
    for (TensorBase &t : inputs) EXPECT(t.ToDevice(0) == APP_ERR_OK);
    EXPECT(TensorBase::BatchConcat(inputs, out) == APP_ERR_OK);
    EXPECT(out.IsDevice() && out.GetDeviceId() == 0 && out.GetTensorType() == MemoryData::MEMORY_DEVICE);
    EXPECT(TensorBase::BatchConcat({ inputs[0], counting({ 1, 3 }) }, out) == 1004);
    EXPECT(out.ToHost() == APP_ERR_OK && static_cast<float *>(out.GetBuffer())[5] == 2);
}

TEST(test_description_has_the_systems_text)
{
    TensorBase t({ 2, 3 }, TENSOR_DTYPE_FLOAT32);
    EXPECT(t.GetDesc() == "<Tensor>\nshape:\t(2, 3)\ndtype:\tfloat32\ndevice:\t-1");
    TensorBase none(Shape{}, TENSOR_DTYPE_BOOL, 1);
    EXPECT(none.GetDesc() == "<Tensor>\nshape:\t()\ndtype:\tbool\ndevice:\t1");
}

TEST(test_valid_part_begins_at_the_corner_of_an_image)
{
    TensorBase image({ 4, 6, 3 });
    EXPECT(image.GetValidRoi().x1 == 0);
    EXPECT(image.SetValidRoi(Rect(0, 0, 6, 4)) == APP_ERR_OK && image.GetValidRoi().x1 == 6);
    EXPECT(image.SetValidRoi(Rect(0, 0, 7, 4)) == 1004 && image.SetValidRoi(Rect(1, 0, 6, 4)) == 1004);
    EXPECT(image.SetValidRoi(Rect(0, 0, 0, 0)) == 1004 && image.GetValidRoi().y1 == 4);
    EXPECT(TensorBase({ 4 }).SetValidRoi(Rect(0, 0, 1, 1)) == 1004);
    EXPECT(TensorBase({ 2, 4, 4, 3 }).SetValidRoi(Rect(0, 0, 1, 1)) == 1004);
    EXPECT(TensorBase({ 1, 4, 4, 3 }).SetValidRoi(Rect(Point(0, 0), Point(4, 4))) == APP_ERR_OK);
}

TEST_BEFORE
{
    setenv("GLOG_minloglevel", "4", 1);
}
