/* test_mxbase_memory.cpp - memory by pointers, devices, streams, codes, the log, the first and last call. */
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "MxBase/Asynchron/AscendStream.h"
#include "MxBase/DeviceManager/DeviceManager.h"
#include "MxBase/E2eInfer/GlobalInit/GlobalInit.h"
#include "MxBase/E2eInfer/Tensor/Tensor.h"
#include "MxBase/ErrorCode/ErrorCode.h"
#include "MxBase/ErrorCode/ErrorCodeThirdParty.h"
#include "MxBase/Log/Log.h"
#include "MxBase/MemoryHelper/CustomizedMemoryHelper.h"
#include "MxBase/MemoryHelper/MemoryHelper.h"
#include "MxBase/ModelInfer/ModelInferenceProcessor.h"
#include "MxBase/Tensor/TensorContext/TensorContext.h"
#include "mxbase_test.hpp"

using namespace MxBase;
using Type = MemoryData::MemoryType;

static const Type all_types[] = { MemoryData::MEMORY_HOST, MemoryData::MEMORY_DEVICE, MemoryData::MEMORY_DVPP,
                                  MemoryData::MEMORY_HOST_MALLOC, MemoryData::MEMORY_HOST_NEW };

static uint32_t count_devices()
{
    uint32_t count = 0;
    DeviceManager::GetInstance()->InitDevices();
    DeviceManager::GetInstance()->GetDevicesCount(count);
    return count;
}

static bool is_usable(Type type)
{
    return (type != MemoryData::MEMORY_DEVICE && type != MemoryData::MEMORY_DVPP) || count_devices() > 0;
}

TEST(test_memory_data_has_the_systems_defaults)
{
    MemoryData none, sized(5), full(&none, 7, MemoryData::MEMORY_DVPP, 3);
    EXPECT(none.ptrData == nullptr && none.free == nullptr);
    EXPECT(sized.size == 5 && sized.type == MemoryData::MEMORY_HOST && sized.deviceId == 0 && !sized.ptrData);
    EXPECT(full.ptrData == &none && full.size == 7 && full.type == MemoryData::MEMORY_DVPP &&
           full.deviceId == 3);
}

TEST(test_bytes_are_copied_between_every_two_kinds_of_memory)
{
    const std::string text = "Hello, strided world";
    for (const Type from : all_types)
        for (const Type to : all_types) {
            if (!is_usable(from) || !is_usable(to)) continue;
            MemoryData start(const_cast<char *>(text.data()), text.size(), MemoryData::MEMORY_HOST);
            MemoryData a(text.size(), from, 0), b(text.size() + 1, to, 0),
                end(text.size(), MemoryData::MEMORY_HOST_NEW);
            EXPECT(MemoryHelper::MxbsMallocAndCopy(a, start) == APP_ERR_OK && a.free != nullptr);
            EXPECT(MemoryHelper::MxbsMalloc(b) == APP_ERR_OK);
            EXPECT(MemoryHelper::MxbsMemcpy(b, a, text.size()) == APP_ERR_OK);
            EXPECT(MemoryHelper::MxbsMalloc(end) == APP_ERR_OK &&
                   MemoryHelper::MxbsMemcpy(end, b, text.size()) == APP_ERR_OK);
            EXPECT(memcmp(end.ptrData, text.data(), text.size()) == 0);
            for (MemoryData *d : { &a, &b, &end })
                EXPECT(MemoryHelper::MxbsFree(*d) == APP_ERR_OK && !d->ptrData);
        }
}

TEST(test_malloc_of_no_bytes_or_too_many_is_1004)
{
    for (const Type type : all_types)
        for (const size_t size :
             { size_t(0), static_cast<size_t>(-1), size_t(1000000000000000000u), (size_t(1) << 32) + 1 }) {
            MemoryData data(size, type);
            EXPECT(MemoryHelper::MxbsMalloc(data) == APP_ERR_COMM_INVALID_PARAM && data.ptrData == nullptr);
            EXPECT(MemoryHelper::MxbsMemset(data, 0, 0) != APP_ERR_OK &&
                   MemoryHelper::MxbsFree(data) == 1003);
        }
    MemoryData odd(8, static_cast<Type>(9));
    EXPECT(MemoryHelper::MxbsMalloc(odd) == APP_ERR_ACL_BAD_ALLOC);
    MemoryData far(8, MemoryData::MEMORY_DEVICE, 1000);
    EXPECT(MemoryHelper::MxbsMalloc(far) == APP_ERR_ACL_BAD_ALLOC && far.ptrData == nullptr);
}

TEST(test_memory_by_malloc_is_zeroed)
{
    for (int round = 0; round < 4; round++) {
        MemoryData data(4000, MemoryData::MEMORY_HOST_MALLOC);
        EXPECT(MemoryHelper::MxbsMalloc(data) == APP_ERR_OK);
        const auto *bytes = static_cast<const uint8_t *>(data.ptrData);
        int sum = 0;
        for (int i = 0; i < 4000; i++) sum += bytes[i];
        EXPECT(sum == 0);
        memset(data.ptrData, 0xff, 4000);
        EXPECT(MemoryHelper::MxbsFree(data) == APP_ERR_OK);
    }
}

TEST(test_free_takes_back_only_what_was_given)
{
    MemoryData none;
    EXPECT(MemoryHelper::MxbsFree(none) == APP_ERR_COMM_INVALID_POINTER);
    int here = 0;
    for (const Type type : { MemoryData::MEMORY_HOST, MemoryData::MEMORY_DEVICE, MemoryData::MEMORY_DVPP }) {
        MemoryData foreign(&here, sizeof here, type);
        EXPECT(MemoryHelper::MxbsFree(foreign) == APP_ERR_ACL_BAD_FREE && foreign.ptrData == &here);
    }
    MemoryData odd(&here, sizeof here, static_cast<Type>(9));
    EXPECT(MemoryHelper::MxbsFree(odd) == APP_ERR_ACL_BAD_FREE);
    MemoryData twice(16, MemoryData::MEMORY_HOST);
    EXPECT(MemoryHelper::MxbsMalloc(twice) == APP_ERR_OK);
    MemoryData copy = twice;
    EXPECT(MemoryHelper::MxbsFree(twice) == APP_ERR_OK &&
           MemoryHelper::MxbsFree(copy) == APP_ERR_ACL_BAD_FREE);
    for (const Type type : { MemoryData::MEMORY_HOST_MALLOC, MemoryData::MEMORY_HOST_NEW }) {
        MemoryData data(16, type);
        EXPECT(MemoryHelper::MxbsMalloc(data) == APP_ERR_OK && MemoryHelper::MxbsFree(data) == APP_ERR_OK);
        EXPECT(data.free(data.ptrData) == APP_ERR_OK);
    }
}

TEST(test_memset_fills_the_count_and_checks_it)
{
    for (const Type type : all_types) {
        if (!is_usable(type)) continue;
        MemoryData data(10, type), host(10, MemoryData::MEMORY_HOST_MALLOC);
        EXPECT(MemoryHelper::MxbsMalloc(data) == APP_ERR_OK && MemoryHelper::MxbsMalloc(host) == APP_ERR_OK);
        EXPECT(MemoryHelper::MxbsMemset(data, 1, 10) == APP_ERR_OK &&
               MemoryHelper::MxbsMemset(data, 0x1ff, 4) == APP_ERR_OK);
        if (count_devices() > 0) {
            AscendStream stream(0);
            EXPECT(MemoryHelper::MxbsMemset(data, 7, 2, stream) == APP_ERR_OK &&
                   stream.Synchronize() == APP_ERR_OK);
            EXPECT(MemoryHelper::MxbsMemset(data, 255, 2, AscendStream::DefaultStream()) == APP_ERR_OK);
        }
        EXPECT(MemoryHelper::MxbsMemset(data, 1, 11) == 1004 && MemoryHelper::MxbsMemset(data, 1, 0) == 1004);
        EXPECT(MemoryHelper::MxbsMemcpy(host, data, 10) == APP_ERR_OK);
        EXPECT(memcmp(host.ptrData, "\377\377\377\377\1\1\1\1\1\1", 10) == 0);
        EXPECT(MemoryHelper::MxbsFree(data) == APP_ERR_OK && MemoryHelper::MxbsFree(host) == APP_ERR_OK);
    }
}

TEST(test_memcpy_checks_pointers_counts_and_types)
{
    char bytes[8] = "1234567";
    MemoryData data(bytes, 8), none(8), odd(bytes, 8, static_cast<Type>(9)), small(bytes, 4);
    EXPECT(MemoryHelper::MxbsMemcpy(data, none, 8) == 1003 &&
           MemoryHelper::MxbsMemcpy(none, data, 8) == 1003);
    EXPECT(MemoryHelper::MxbsMemcpy(small, data, 5) == 1004 &&
           MemoryHelper::MxbsMemcpy(data, data, 0) == 1004);
    EXPECT(MemoryHelper::MxbsMemcpy(data, odd, 8) == APP_ERR_ACL_BAD_COPY &&
           MemoryHelper::MxbsMemcpy(odd, data, 8) == 26);
    MemoryData fresh(4, MemoryData::MEMORY_HOST);
    EXPECT(MemoryHelper::MxbsMallocAndCopy(fresh, data) == APP_ERR_ACL_BAD_COPY && fresh.ptrData == nullptr);
    EXPECT(MemoryHelper::MxbsMallocAndCopy(fresh, none) == 1003);
    MemoryData nothing(bytes, 0);
    EXPECT(MemoryHelper::MxbsMallocAndCopy(fresh, nothing) == 1004);
    if (count_devices() == 0) SKIP("no device");
    MemoryData device(16, MemoryData::MEMORY_DEVICE), host(64, MemoryData::MEMORY_HOST_NEW);
    EXPECT(MemoryHelper::MxbsMalloc(device) == APP_ERR_OK && MemoryHelper::MxbsMalloc(host) == APP_ERR_OK);
    EXPECT(MemoryHelper::MxbsMemcpy(host, device, 64) == APP_ERR_ACL_BAD_COPY);
    EXPECT(MemoryHelper::MxbsFree(device) == APP_ERR_OK && MemoryHelper::MxbsFree(host) == APP_ERR_OK);
}

TEST(test_pointers_into_device_memory_are_found_whoever_gave_it)
{
    if (count_devices() == 0) SKIP("no device");
    char text[9] = "abcdefgh", got[9] = "";
    MemoryData start(text, 8), device(8, MemoryData::MEMORY_DEVICE), end(got, 8);
    EXPECT(MemoryHelper::MxbsMallocAndCopy(device, start) == APP_ERR_OK);
    MemoryData half(static_cast<char *>(device.ptrData) + 4, 4, MemoryData::MEMORY_DEVICE, -3);
    EXPECT(MemoryHelper::MxbsMemcpy(end, half, 4) == APP_ERR_OK && memcmp(got, "efgh", 4) == 0);
    TensorBase t({ 8 }, TENSOR_DTYPE_UINT8, MemoryData::MEMORY_DEVICE, 0);
    EXPECT(TensorBase::TensorBaseMalloc(t) == APP_ERR_OK);
    MemoryData inside(t.GetBuffer(), 8, t.GetTensorType(), t.GetDeviceId());
    EXPECT(MemoryHelper::MxbsMemcpy(inside, device, 8) == APP_ERR_OK);
    EXPECT(MemoryHelper::MxbsFree(inside) == APP_ERR_ACL_BAD_FREE);
    EXPECT(t.ToHost() == APP_ERR_OK && memcmp(t.GetBuffer(), text, 8) == 0);
    TensorBase borrowed(device, true, { 8 }, TENSOR_DTYPE_UINT8);
    EXPECT(borrowed.ToHost() == APP_ERR_OK && memcmp(borrowed.GetBuffer(), text, 8) == 0);
    EXPECT(MemoryHelper::MxbsFree(device) == APP_ERR_OK);
}

TEST(test_the_largest_size_can_be_lowered)
{
    EXPECT(MemoryHelper::SetMaxDataSize(0) == 1004 && MemoryHelper::SetMaxDataSize((1L << 32) + 1) == 1004);
    EXPECT(MemoryHelper::SetMaxDataSize(100) == APP_ERR_OK);
    EXPECT(MemoryHelper::CheckDataSize(100) == APP_ERR_OK && MemoryHelper::CheckDataSize(101) == 1004);
    EXPECT(MemoryHelper::CheckDataSize(0) == 1004 && MemoryHelper::CheckDataSizeAllowZero(0) == APP_ERR_OK);
    EXPECT(MemoryHelper::CheckDataSizeAllowZero(-1) == 1004);
    TensorBase t({ 101 });
    EXPECT(TensorBase::TensorBaseMalloc(t) == 1004);
    EXPECT(MemoryHelper::SetMaxDataSize(1L << 32) == APP_ERR_OK &&
           TensorBase::TensorBaseMalloc(t) == APP_ERR_OK);
}

TEST(test_make_shared_gives_null_where_a_constructor_throws)
{
    EXPECT(MemoryHelper::MakeShared<int>(5) != nullptr);
    EXPECT(MemoryHelper::MakeShared<TensorBase>(std::vector<uint32_t>{ 2 },
                                                static_cast<TensorDataType>(77)) == nullptr);
}

static int made, freed;

static APP_ERROR my_device_malloc(void **p, unsigned int size, MxMemMallocPolicy)
{
    made++;
    return (*p = malloc(size)) != nullptr ? APP_ERR_OK : APP_ERR_COMM_ALLOC_MEM;
}

static APP_ERROR my_dvpp_malloc(unsigned int, void **p, unsigned long long size)
{
    made++;
    return (*p = malloc(size)) != nullptr ? APP_ERR_OK : APP_ERR_COMM_ALLOC_MEM;
}

static APP_ERROR my_free(void *p)
{
    freed++;
    free(p);
    return APP_ERR_OK;
}

static APP_ERROR failing_malloc(void **, unsigned int, MxMemMallocPolicy) { return APP_ERR_COMM_ALLOC_MEM; }
static APP_ERROR failing_free(void *) { return APP_ERR_COMM_FREE_MEM; }

TEST(test_allocators_of_the_program_are_used_in_pairs)
{
    if (tsr_device_named("cuda:0") != TSR_NO_DEVICE) SKIP("malloc plays the device's memory here");
    made = freed = 0;
    EXPECT(!CheckDeviceMemoryFuncPair() && !CheckDVPPMemoryFuncPair());
    EXPECT(DeviceMallocFuncHookReg(my_device_malloc) == APP_ERR_OK && !CheckDeviceMemoryFuncPair());
    EXPECT(DeviceFreeFuncHookReg(my_free) == APP_ERR_OK && CheckDeviceMemoryFuncPair());
    EXPECT(DVPPMallocFuncHookReg(my_dvpp_malloc) == APP_ERR_OK && DVPPFreeFuncHookReg(my_free) == APP_ERR_OK);
    for (const Type type : { MemoryData::MEMORY_DEVICE, MemoryData::MEMORY_DVPP }) {
        char text[6] = "12345", got[6] = "";
        MemoryData start(text, 6), data(6, type), end(got, 6);
        EXPECT(MemoryHelper::MxbsMallocAndCopy(data, start) == APP_ERR_OK);
        EXPECT(MemoryHelper::MxbsMemcpy(end, data, 6) == APP_ERR_OK && memcmp(got, text, 6) == 0);
        EXPECT(MemoryHelper::MxbsFree(data) == APP_ERR_OK);
    }
    EXPECT(made == 2 && freed == 2);
    if (count_devices() > 0) {
        TensorBase t({ 4 }, TENSOR_DTYPE_UINT8, MemoryData::MEMORY_DEVICE, 0);
        EXPECT(TensorBase::TensorBaseMalloc(t) == APP_ERR_OK && made == 3);
        TensorBase u({ 4 });
        EXPECT(TensorBase::TensorBaseMalloc(u) == APP_ERR_OK && u.ToDevice(0) == APP_ERR_OK &&
               u.ToHost() == APP_ERR_OK);
    }
    EXPECT(made == freed);
    void *p = nullptr;
    EXPECT(DeviceMallocFuncHookReg(failing_malloc) == APP_ERR_OK);
    EXPECT(DeviceMemoryMallocFunc(&p, 10, MX_MEM_MALLOC_HUGE_FIRST) == APP_ERR_COMM_ALLOC_MEM);
    EXPECT(DeviceFreeFuncHookReg(failing_free) == APP_ERR_OK &&
           DeviceMemoryFreeFunc(&p) == APP_ERR_COMM_FREE_MEM);
    EXPECT(DeviceMallocFuncHookReg(nullptr) == APP_ERR_OK && DeviceFreeFuncHookReg(nullptr) == APP_ERR_OK);
    EXPECT(DVPPMallocFuncHookReg(nullptr) == APP_ERR_OK && DVPPFreeFuncHookReg(nullptr) == APP_ERR_OK);
}

TEST(test_built_in_allocators_can_be_called_by_name)
{
    if (count_devices() == 0) SKIP("no device");
    void *p = nullptr;
    EXPECT(DeviceMemoryMallocFunc(&p, 10, MX_MEM_MALLOC_HUGE_FIRST) == APP_ERR_OK &&
           DeviceMemoryFreeFunc(p) == APP_ERR_OK);
    EXPECT(DeviceMemoryMallocFunc(&p, 0, MX_MEM_MALLOC_HUGE_FIRST) == APP_ERR_ACL_BAD_ALLOC);
    EXPECT(DVPPMemoryMallocFunc(0, &p, 10) == APP_ERR_OK && DVPPMemoryFreeFunc(p) == APP_ERR_OK);
    EXPECT(DVPPMemoryMallocFunc(0, &p, 0) == APP_ERR_COMM_ALLOC_MEM &&
           DVPPMemoryMallocFunc(99, &p, 8) == 1007);
    EXPECT(DVPPMemoryMallocFunc(0, nullptr, 8) == 1007 &&
           aclrtMallocAdapter(nullptr, 8, MX_MEM_MALLOC_HUGE_ONLY) != 0);
    EXPECT(DeviceMemoryFreeFunc(nullptr) == APP_ERR_COMM_FREE_MEM && DVPPMemoryFreeFunc(&p) == 1008);
}

TEST(test_devices_are_counted_set_and_asked_for_by_thread)
{
    DeviceManager *manager = DeviceManager::GetInstance();
    const uint32_t count = count_devices();
    EXPECT(manager == DeviceManager::GetInstance() && manager->IsInitDevices());
    EXPECT(manager->CheckDeviceId(-1) == 1004 && manager->CheckDeviceId(static_cast<int32_t>(count)) == 1004);
    DeviceContext device;
    EXPECT(device.devId == 0 && device.devStatus == DeviceContext::IDLE);
    device.devId = 100;
    EXPECT(manager->SetDevice(device) == 1004);
    device.devId = -2;
    EXPECT(manager->SetDevice(device) == 1004);
    EXPECT(DeviceManager::IsAscend310P() && !DeviceManager::IsAscend310() && !DeviceManager::IsAscend310B());
    EXPECT(!DeviceManager::IsAtlas800IA2() && DeviceManager::GetSocName() == "310P");
    if (count == 0) SKIP("no device");
    device.devId = 0;
    EXPECT(manager->SetDevice(device) == APP_ERR_OK);
    device.devId = -1;
    EXPECT(manager->GetCurrentDevice(device) == APP_ERR_OK && device.devId == 0);
    EXPECT(device.devStatus == DeviceContext::USING);
    APP_ERROR other = APP_ERR_OK;
    std::thread([&] { DeviceContext d; other = DeviceManager::GetInstance()->GetCurrentDevice(d); }).join();
    EXPECT(other == APP_ERR_ACL_FAILURE);
    EXPECT(TensorContext::GetInstance()->SetContext(0) == APP_ERR_OK &&
           TensorContext::GetInstance()->SetContext(77) == 1004);
    EXPECT(manager->DestroyDevices() == APP_ERR_OK && manager->DestroyDevices() == APP_ERR_OK);
    EXPECT(manager->InitDevices("ignored.conf") == APP_ERR_OK && manager->CheckDeviceId(0) == APP_ERR_OK);
}

static void note(void *flag) { *static_cast<int *>(flag) += 1; }

TEST(test_streams_are_made_used_and_destroyed_more_than_once)
{
    if (count_devices() == 0) SKIP("no device");
    int calls = 0, channel = 5;
    AscendStream stream(0);
    EXPECT(stream.stream != nullptr && stream.GetDeviceId() == 0 && !stream.isDefault_);
    EXPECT(stream.LaunchCallBack(note, &calls) == APP_ERR_ACL_FAILURE && calls == 0);
    EXPECT(stream.CreateAscendStream() == APP_ERR_OK &&
           stream.CreateAscendStream() == APP_ERR_COMM_REPEAT_INITIALIZE);
    EXPECT(stream.LaunchCallBack(note, &calls) == APP_ERR_OK && stream.Synchronize() == APP_ERR_OK &&
           calls == 1);
    EXPECT(stream.LaunchCallBack(nullptr, nullptr) == APP_ERR_COMM_INVALID_POINTER);
    EXPECT(stream.GetChannel(&channel) == APP_ERR_OK && channel == -1 && stream.GetChannel(nullptr) == 1001);
    EXPECT(stream.CreateChannel() == APP_ERR_OK && stream.GetChannel(&channel) == APP_ERR_OK && channel >= 0);
    AscendStream same = stream;
    EXPECT(same.stream == stream.stream && same.Synchronize() == APP_ERR_OK);
    void *handle = stream.stream;
    stream.stream = &calls;
    EXPECT(stream.Synchronize() == APP_ERR_ACL_FAILURE);
    stream.stream = handle;
    EXPECT(stream.DestroyAscendStream() == APP_ERR_OK && stream.stream == nullptr);
    EXPECT(stream.DestroyAscendStream() == APP_ERR_OK && stream.Synchronize() == APP_ERR_OK);
    EXPECT(stream.LaunchCallBack(note, &calls) == APP_ERR_COMM_INVALID_POINTER);
    stream.SetErrorCode(5);
    stream.SetErrorCode(6);
    stream.SetErrorCode(7);
    EXPECT(stream.GetErrorCode() == std::make_pair(5, 7));
}

TEST(test_streams_of_no_device_or_flag_throw)
{
    for (const int32_t id : { -1, 1000 })
        EXPECT(throws_runtime_error([&] { AscendStream(id, AscendStream::DEFAULT); }));
    EXPECT(throws_runtime_error([&] { AscendStream(0, static_cast<AscendStream::FlagType>(5)); }));
}

TEST(test_default_stream_comes_back_after_it_is_destroyed)
{
    if (count_devices() == 0) SKIP("no device");
    AscendStream &stream = AscendStream::DefaultStream();
    EXPECT(&stream == &AscendStream::DefaultStream() && stream.isDefault_ && stream.stream);
    EXPECT(stream.DestroyAscendStream() == APP_ERR_OK);
    EXPECT(AscendStream::DefaultStream().stream && AscendStream::DefaultStream().Synchronize() == APP_ERR_OK);
    stream.SetErrorCode(5);
    EXPECT(stream.GetErrorCode().first == APP_ERR_OK);
}

TEST(test_codes_have_the_systems_numbers_and_words)
{
    EXPECT(APP_ERR_OK == 0 && APP_ERR_ACL_FAILURE == -1 && APP_ERR_ACL_BAD_ALLOC == 2 &&
           APP_ERR_ACL_BAD_FREE == 27);
    EXPECT(APP_ERR_COMM_FAILURE == 1001 && APP_ERR_COMM_INVALID_PARAM == 1004 &&
           APP_ERR_COMM_OUT_OF_RANGE == 1009);
    EXPECT(APP_ERR_COMM_INIT_FAIL == 1013 && APP_ERR_COMM_REPEAT_INITIALIZE == 1030 &&
           APP_ERR_ACL_EVENT_NOT_READY == 12);
    EXPECT(APP_ERR_DVPP_CROP_RESIZE_PASTE_FAIL == 2023 && APP_ERR_INFER_DYNAMIC_IMAGE_SIZE_FAIL == 3010);
    EXPECT(APP_ERR_COMMANDER_INFER_RESULT_ERROR == 4004 && APP_ERR_QUEUE_FULL == 5003);
    EXPECT(APP_ERR_PIPELINE_PROPERTY_CONFIG_ERROR == 6017 &&
           APP_ERR_PLUGIN_TOOLKIT_METADATA_PLUGINNAME_EMPTY == 7025);
    EXPECT(APP_ERR_DEVICE_MANAGER_DESTROY_DEVICE_CHECK_ERROR == 9002 && APP_ERR_SIZE_NOT_MATCH == 10005);
    EXPECT(APP_ERR_MXPLUGINS_PROTOBUF_NAME_MISMATCH == 11004 && APP_ERR_DIVIDE_ZERO == 100039);
    EXPECT(APP_ERR_FEATURE_UNSUPPORTED == 200006 && APP_ERR_STORAGE_OVER_LIMIT == 300000);
    EXPECT(APP_ERR_PROFILING_FAILURE == 500005);
    EXPECT(GetAppErrCodeInfo(0) == "Success" && GetAppErrCodeInfo(1004) == "Invalid parameter");
    EXPECT(GetAppErrCodeInfo(-1) == "ACL: general failure" &&
           GetAppErrCodeInfo(27) == "ACL: memory free fail");
    EXPECT(GetAppErrCodeInfo(100039) == "The denominator must not be equal to 0");
    EXPECT(GetAppErrCodeInfo(1031) == "Undefined error code" &&
           GetAppErrCodeInfo(8000) == "Error code unknown");
    EXPECT(GetAppErrCodeInfo(-5) == "Error code unknown");
    EXPECT(GetErrorInfo(1004) == " (Code = 1004, Message = \"Invalid parameter\") ");
    EXPECT(GetErrorInfo(1004, "f") == GetErrorInfo(1004));
    EXPECT(GetErrorInfo(107002, "aclInit") == " (Calling Function = aclInit, Code = 107002, Message = \"ACL "
                                              "error, please refer to the document of CANN.\") ");
    EXPECT(GetErrorInfo(-2).find("Code = 0xFFFFFFFE, Message = \"Himpi") != std::string::npos);
    EXPECT(GetError(1004) == "[1004][Invalid parameter] " &&
           GetError(1004, "m") == "[m][1004][Invalid parameter] ");
}

TEST(test_words_stand_at_the_ends_of_every_family)
{
    const struct {
        APP_ERROR code;
        const char *words;
    } known[] = {
        { APP_ERR_ACL_INVALID_PARAM, "ACL: invalid parameter" },
        { APP_ERR_ACL_BAD_ALLOC, "ACL: memory allocation fail" },
        { APP_ERR_ACL_EVENT_NOT_READY, "ACL: event not ready" },
        { APP_ERR_ACL_BAD_COPY, "ACL: memory copy fail" },
        { APP_ERR_COMM_FAILURE, "General Failed" },
        { APP_ERR_COMM_INVALID_POINTER, "Invalid Pointer" },
        { APP_ERR_COMM_UNREALIZED, "Not implemented" },
        { APP_ERR_COMM_ALLOC_MEM, "memory allocation error" },
        { APP_ERR_COMM_OUT_OF_RANGE, "out of range" },
        { APP_ERR_COMM_INIT_FAIL, "initialize failed" },
        { APP_ERR_COMM_NO_EXIST, "Object, file or other resource doesn't exist" },
        { APP_ERR_COMM_OPEN_FAIL, "Device, file or resource open failed" },
        { APP_ERR_COMM_INVALID_PATH, "Invalid path" },
        { APP_ERR_COMM_REPEAT_INITIALIZE, "Repeat initialize" },
        { APP_ERR_DVPP_CROP_FAIL, "DVPP: crop fail" },
        { APP_ERR_DVPP_CROP_RESIZE_PASTE_FAIL, "DVPP: resize and paste fail" },
        { APP_ERR_INFER_SET_INPUT_FAIL, "Infer: set input fail" },
        { APP_ERR_INFER_FIND_MODEL_WEIGHT_FAIL, "Infer: find model weight fail" },
        { APP_ERR_COMMANDER_INFER_RESULT_ERROR, "Commander subtask inference result error." },
        { APP_ERR_QUEUE_FULL, "full queue" },
        { APP_ERR_PIPELINE_PROPERTY_CONFIG_ERROR, "pipeline property config error" },
        { APP_ERR_PLUGIN_TOOLKIT_FLOW_EOS, "plugin toolkit pad is EOS" },
        { APP_ERR_PLUGIN_TOOLKIT_METADATA_PLUGINNAME_EMPTY, "the plugin name cannot be empty" },
        { APP_ERR_DEVICE_MANAGER_QUERY_DEVICE_ERROR, "DeviceManager:query device count error" },
        { APP_ERR_SIZE_NOT_MATCH, "Mismatched size in operator" },
        { APP_ERR_MXPLUGINS_PROTOBUF_NAME_MISMATCH, "MxPlugins: protobuf descriptor name mismatch" },
        { APP_ERR_INVALID_PARAM, "Parameter verification failed" },
        { APP_ERR_WAIT_CALLBACK_TIMEOUT, "Waiting for callback times out" },
        { APP_ERR_FEATURE_UNSUPPORTED, "Feature not supported" },
        { APP_ERR_STORAGE_OVER_LIMIT, "Exceeded the upper limit of storage" },
        { APP_ERR_PROFILING_FAILURE, "Profiling failure" },
    };
    for (const auto &k : known) {
        const std::string got = GetAppErrCodeInfo(k.code);
        EXPECT_MSG(got == k.words, "%d: %s", k.code, got.c_str());
    }
}

TEST(test_flow_codes_become_codes_of_ours)
{
    EXPECT(ConvertReturnCodeToLocal(GST_FLOW_TYPE, APP_ERR_FLOW_CUSTOM_SUCCESS_2) == APP_ERR_OK);
    EXPECT(ConvertReturnCodeToLocal(GST_FLOW_TYPE, APP_ERR_FLOW_EOS) == APP_ERR_PLUGIN_TOOLKIT_FLOW_EOS);
    EXPECT(ConvertReturnCodeToLocal(GST_FLOW_TYPE, APP_ERR_FLOW_CUSTOM_ERROR_2) ==
           APP_ERR_PLUGIN_TOOLKIT_FLOW_NOT_SUPPORTED);
    EXPECT(ConvertReturnCodeToLocal(GST_FLOW_TYPE, 12345) == APP_ERR_PLUGIN_TOOLKIT_BASE);
    EXPECT(ConvertReturnCodeToLocal(static_cast<ReturnCodeType>(3), -1) == APP_ERR_OK);
}

TEST(test_log_macros_are_statements_that_fit_anywhere)
{
    int evaluated = 0;
    std::string text = "text";
    if (evaluated == 0) LogError << "one " << ++evaluated;
    else LogInfo << "never";
    LogDebug << "d" << std::endl;
    LogWarn << text << 1.5 << APP_ERR_OK;
    EXPECT(evaluated == 0);
    EXPECT(LOG_LEVEL_DEBUG == -1 && LOG_LEVEL_FATAL == 3 && LOG_LEVEL_NONE == 4);
    EXPECT(Log::Init() == APP_ERR_OK && Log::InitWithoutCfg() == APP_ERR_OK &&
           Log::logFlowControlFrequency_ == 1);
    Log &logger = Log::getLogger("mine");
    EXPECT(&logger == &Log::getLogger("mine") && &logger != &Log::getLogger());
    logger.Info(FILELINE, text);
    logger.Debug(FILELINE, text);
    logger.Warn(FILELINE, text);
    logger.Error(FILELINE, text);
    logger.Flush();
    EXPECT(Log::Deinit() == APP_ERR_OK);
}

TEST(test_first_and_last_call_check_their_numbers)
{
    AppGlobalCfg small;
    AppGlobalCfgExtra extra;
    EXPECT(MxInit() == APP_ERR_OK && MxInit(small) == APP_ERR_OK && MxInit(extra) == APP_ERR_OK);
    small.vpcChnNum = 0;
    extra.jpegeChnNum = 49;
    EXPECT(MxInit(small) == 1004 && MxInit(extra) == 1004);
    EXPECT(MxInitFromConfig("there/is/none.json") == APP_ERR_COMM_INVALID_PATH &&
           MxInitFromConfig("") == 1029);
    EXPECT(MxInitFromConfig("/dev/null") == 1004 && MxInitFromConfig("/dev/null", small) == 1004);
    if (count_devices() == 0) SKIP("no device");
    EXPECT(MxDeInit() == APP_ERR_OK && MxInit() == APP_ERR_OK);
}

TEST(test_models_say_that_they_do_not_run)
{
    ModelInferenceProcessor model;
    ModelDesc desc;
    std::vector<TensorBase> in, out;
    DynamicInfo info = {};
    EXPECT(model.Init("model.om", desc) == APP_ERR_COMM_UNREALIZED && model.Init("model.om") == 1005);
    EXPECT(model.ModelInference(in, out, info) == 1005 && model.DeInit() == APP_ERR_OK);
    EXPECT(model.GetOutputDataType().empty() && model.GetModelDesc().inputTensors.empty());
}

TEST_BEFORE
{
    setenv("GLOG_minloglevel", "4", 1);
}
