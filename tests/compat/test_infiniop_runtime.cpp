/* test_infiniop_runtime.cpp - InfiniRT: devices, streams, events, memory; and handles. */
#include "infiniop_test.h"

#include <thread>

TEST(test_the_numbers_are_the_originals)
{
    EXPECT(INFINI_STATUS_SUCCESS == 0 && INFINI_STATUS_NOT_IMPLEMENTED == 2 &&
           INFINI_STATUS_NULL_POINTER == 4);
    EXPECT(INFINI_STATUS_DEVICE_ARCHITECTURE_NOT_SUPPORTED == 8 && INFINI_STATUS_BAD_TENSOR_DTYPE == 10);
    EXPECT(INFINI_STATUS_BAD_TENSOR_SHAPE == 11 && INFINI_STATUS_BAD_TENSOR_STRIDES == 12);
    EXPECT(INFINI_STATUS_INSUFFICIENT_WORKSPACE == 13 && INFINI_DTYPE_INVALID == 0 && INFINI_DTYPE_F16 == 12);
    EXPECT(INFINI_DTYPE_F32 == 13 && INFINI_DTYPE_C128 == 18 && INFINI_DTYPE_BF16 == 19);
    EXPECT(INFINI_DEVICE_CPU == 0 && INFINI_DEVICE_NVIDIA == 1 && INFINI_DEVICE_HYGON == 8);
    EXPECT(INFINIRT_MEMCPY_H2H == 0 && INFINIRT_MEMCPY_D2D == 3);
}

TEST(test_the_cpu_is_the_first_device_of_every_thread)
{
    infiniDevice_t type = INFINI_DEVICE_KUNLUN;
    int id = -1, count = -1, all[INFINI_DEVICE_TYPE_COUNT];
    EXPECT_DONE(infinirtInit());
    std::thread([&] { EXPECT_DONE(infinirtGetDevice(&type, &id)); }).join();
    EXPECT(type == INFINI_DEVICE_CPU && id == 0);
    EXPECT_DONE(infinirtGetDeviceCount(INFINI_DEVICE_CPU, &count));
    EXPECT(count == 1);
    EXPECT_DONE(infinirtGetAllDeviceCount(all));
    EXPECT(all[INFINI_DEVICE_CPU] == 1 && all[INFINI_DEVICE_ASCEND] == 0 && all[INFINI_DEVICE_NVIDIA] >= 0);
    EXPECT_DONE(infinirtGetDevice(nullptr, &id));
    EXPECT_INFINI(infinirtGetDevice(nullptr, nullptr), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infinirtGetDeviceCount(INFINI_DEVICE_CPU, nullptr), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infinirtGetAllDeviceCount(nullptr), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infinirtGetDeviceCount((infiniDevice_t)77, &count),
                  INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED);
}

TEST(test_a_device_that_is_not_there_is_refused_and_changes_nothing)
{
    infiniDevice_t type;
    int id, count = 0;
    EXPECT_DONE(infinirtSetDevice(INFINI_DEVICE_CPU, 0));
    EXPECT_INFINI(infinirtSetDevice(INFINI_DEVICE_ASCEND, 0), INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED);
    EXPECT_INFINI(infinirtSetDevice((infiniDevice_t)99, 0), INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED);
    EXPECT_DONE(infinirtGetDeviceCount(INFINI_DEVICE_NVIDIA, &count));
    EXPECT_INFINI(infinirtSetDevice(INFINI_DEVICE_NVIDIA, count), INFINI_STATUS_DEVICE_NOT_FOUND);
    EXPECT_INFINI(infinirtSetDevice(INFINI_DEVICE_NVIDIA, -1), INFINI_STATUS_DEVICE_NOT_FOUND);
    EXPECT_INFINI(infiniopSetRuntimeDevice(INFINI_DEVICE_MOORE, 0), INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED);
    EXPECT_DONE(infiniopSetRuntimeDevice(INFINI_DEVICE_CPU, 0));
    EXPECT_DONE(infinirtGetDevice(&type, &id));
    EXPECT(type == INFINI_DEVICE_CPU && id == 0);
}

TEST(test_memory_of_the_device_and_the_host)
{
    char *a = nullptr, *b = nullptr, *c = nullptr;
    const char text[] = "tensor";
    EXPECT_DONE(infinirtSetDevice(INFINI_DEVICE_CPU, 0));
    EXPECT_DONE(infinirtMalloc((void **)&a, 64));
    EXPECT_DONE(infinirtMallocHost((void **)&b, 64));
    EXPECT_DONE(infinirtMallocAsync((void **)&c, 0, nullptr));
    EXPECT((size_t)a % 64 == 0);
    EXPECT_DONE(infinirtMemcpy(a, text, sizeof text, INFINIRT_MEMCPY_H2D));
    EXPECT_DONE(infinirtMemcpyAsync(b, a, sizeof text, INFINIRT_MEMCPY_D2H, nullptr));
    EXPECT(!strcmp(b, "tensor"));
    EXPECT_DONE(infinirtMemcpy(a + 1, a, sizeof text, INFINIRT_MEMCPY_D2D));
    EXPECT(!strcmp(a, "ttensor"));
    EXPECT_DONE(infinirtMemcpyPeer(b, 0, a, 0, sizeof text));
    EXPECT_DONE(infinirtMemcpyPeerAsync(b, 0, a, 0, 0, nullptr));
    EXPECT_DONE(infinirtMemset(a, 0x1ff, 3));
    EXPECT((unsigned char)a[0] == 0xff && (unsigned char)a[2] == 0xff && a[3] == 'n');
    EXPECT_DONE(infinirtMemsetAsync(a, 0, 64, nullptr));
    EXPECT(a[63] == 0 && a[0] == 0);
    EXPECT_INFINI(infinirtMemsetAsync(a, 0, 64, (infinirtStream_t)a), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infinirtMemcpyPeerAsync(b, 0, a, 0, 1, (infinirtStream_t)a), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infinirtMemcpy(nullptr, a, 4, INFINIRT_MEMCPY_H2H), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infinirtMemcpy(a, nullptr, 4, INFINIRT_MEMCPY_H2H), INFINI_STATUS_NULL_POINTER);
    EXPECT_DONE(infinirtMemcpy(nullptr, nullptr, 0, INFINIRT_MEMCPY_H2H));
    EXPECT_INFINI(infinirtMemcpy(a, b, 4, (infinirtMemcpyKind_t)9), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infinirtMalloc(nullptr, 4), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infinirtMallocHost(nullptr, 4), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infinirtMemset(nullptr, 0, 4), INFINI_STATUS_NULL_POINTER);
    EXPECT_DONE(infinirtFree(a));
    EXPECT_DONE(infinirtFreeHost(b));
    EXPECT_DONE(infinirtFreeAsync(c, nullptr));
    EXPECT_DONE(infinirtFree(nullptr));
}

TEST(test_streams_and_events_of_the_cpu_are_always_ready)
{
    infinirtStream_t stream = nullptr;
    infinirtEvent_t start = nullptr, end = nullptr, untimed = nullptr;
    infinirtEventStatus_t status = INFINIRT_EVENT_NOT_READY;
    float ms = -1;
    EXPECT_DONE(infinirtStreamCreate(&stream));
    EXPECT(stream != nullptr);
    EXPECT_DONE(infinirtEventCreate(&start));
    EXPECT_DONE(infinirtEventCreateWithFlags(&end, INFINIRT_EVENT_BLOCKING_SYNC));
    EXPECT_DONE(infinirtEventCreateWithFlags(&untimed, INFINIRT_EVENT_DISABLE_TIMING));
    EXPECT_INFINI(infinirtEventElapsedTime(&ms, start, end), INFINI_STATUS_BAD_PARAM);
    EXPECT_DONE(infinirtEventRecord(start, stream));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_DONE(infinirtEventRecord(end, nullptr));
    EXPECT_DONE(infinirtEventRecord(untimed, stream));
    EXPECT_DONE(infinirtStreamWaitEvent(stream, end));
    EXPECT_DONE(infinirtEventQuery(end, &status));
    EXPECT(status == INFINIRT_EVENT_COMPLETE);
    EXPECT_DONE(infinirtEventSynchronize(end));
    EXPECT_DONE(infinirtStreamSynchronize(stream));
    EXPECT_DONE(infinirtStreamSynchronize(nullptr));
    EXPECT_DONE(infinirtDeviceSynchronize());
    EXPECT_DONE(infinirtEventElapsedTime(&ms, start, end));
    EXPECT(ms >= 19 && ms < 60000);
    EXPECT_INFINI(infinirtEventElapsedTime(&ms, start, untimed), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infinirtEventElapsedTime(nullptr, start, end), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infinirtStreamCreate(nullptr), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infinirtEventCreate(nullptr), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infinirtEventCreateWithFlags(&end, 0x80), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infinirtEventRecord(nullptr, stream), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infinirtEventQuery(end, nullptr), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infinirtEventSynchronize(nullptr), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infinirtStreamWaitEvent(stream, nullptr), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infinirtEventDestroy(nullptr), INFINI_STATUS_NULL_POINTER);
    EXPECT_DONE(infinirtEventDestroy(start));
    EXPECT_DONE(infinirtEventDestroy(end));
    EXPECT_DONE(infinirtEventDestroy(untimed));
    EXPECT_DONE(infinirtStreamDestroy(stream));
    EXPECT_DONE(infinirtStreamDestroy(nullptr));
}

TEST(test_the_cpu_has_no_graphs_and_no_virtual_memory)
{
    infinirtStream_t stream = nullptr;
    infinirtGraph_t graph = nullptr;
    infinirtPhysicalMemoryHandle_t pages = nullptr;
    size_t granularity = 0;
    void *p = nullptr;
    EXPECT_DONE(infinirtStreamCreate(&stream));
    EXPECT_INFINI(infinirtStreamBeginCapture(stream, INFINIRT_STREAM_CAPTURE_MODE_RELAXED),
                  INFINI_STATUS_NOT_IMPLEMENTED);
    EXPECT_INFINI(infinirtStreamEndCapture(stream, &graph), INFINI_STATUS_NOT_IMPLEMENTED);
    EXPECT_INFINI(infinirtGetMemGranularityMinimum(&granularity), INFINI_STATUS_NOT_IMPLEMENTED);
    EXPECT_INFINI(infinirtCreatePhysicalMem(&pages, 4096), INFINI_STATUS_NOT_IMPLEMENTED);
    EXPECT_INFINI(infinirtCreateVirtualMem(&p, 4096), INFINI_STATUS_NOT_IMPLEMENTED);
    EXPECT_INFINI(infinirtMapVirtualMem(p, 4096, 0, pages), INFINI_STATUS_NOT_IMPLEMENTED);
    EXPECT_INFINI(infinirtUnmapVirtualMem(p, 4096), INFINI_STATUS_NOT_IMPLEMENTED);
    EXPECT_INFINI(infinirtReleaseVirtualMem(p, 4096), INFINI_STATUS_NOT_IMPLEMENTED);
    EXPECT_INFINI(infinirtReleasePhysicalMem(pages), INFINI_STATUS_NOT_IMPLEMENTED);
    EXPECT_DONE(infinirtStreamDestroy(stream));
}

TEST(test_snapshots_say_what_they_know)
{
    infinirtDeviceResourceSnapshot_t s;
    size_t free_bytes = 0, total = 0;
    EXPECT_DONE(infinirtGetDeviceResourceSnapshot(INFINI_DEVICE_CPU, 0, &s));
    EXPECT(s.device_type == INFINI_DEVICE_CPU && s.device_id == 0);
    const infiniStatus_t known = infinirtGetMemInfo(INFINI_DEVICE_CPU, 0, &free_bytes, &total);
    EXPECT(known == INFINI_STATUS_SUCCESS || known == INFINI_STATUS_NOT_IMPLEMENTED);
    EXPECT((s.valid_fields & INFINIRT_RESOURCE_FIELD_MEMORY_CAPACITY) == (known ? 0u : 1u));
    EXPECT_INFINI(infinirtGetMemInfo(INFINI_DEVICE_CPU, 0, nullptr, &total), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infinirtGetDeviceResourceSnapshot(INFINI_DEVICE_METAX, 0, &s),
                  INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED);
    EXPECT_INFINI(infinirtGetDeviceResourceSnapshot(INFINI_DEVICE_CPU, 0, nullptr),
                  INFINI_STATUS_NULL_POINTER);
}

TEST(test_handles_and_descriptors_know_their_device)
{
    Handle handle;
    infiniDevice_t type = INFINI_DEVICE_KUNLUN;
    int id = -1;
    Array a({ 2 }, INFINI_DTYPE_F32);
    infiniopAddDescriptor_t op = nullptr;
    EXPECT_INFINI(infiniopCreateHandle(nullptr), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infiniopDestroyHandle(nullptr), INFINI_STATUS_NULL_POINTER);
    EXPECT_DONE(infiniopCreateAddDescriptor(handle, &op, a.desc(), a.desc(), a.desc()));
    EXPECT_DONE(infiniopGetDescriptorDeviceType(op, &type));
    EXPECT_DONE(infiniopGetDescriptorDeviceId(op, &id));
    EXPECT(type == INFINI_DEVICE_CPU && id == 0);
    EXPECT_INFINI(infiniopGetDescriptorDeviceType(nullptr, &type), INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(infiniopGetDescriptorDeviceId(op, nullptr), INFINI_STATUS_NULL_POINTER);
    EXPECT_DONE(infiniopDestroyAddDescriptor(op));
}

TEST(test_one_descriptor_runs_in_many_threads)
{
    Handle handle;
    const size_t n = 1000;
    Array x({ n }, INFINI_DTYPE_F32), y({ n }, INFINI_DTYPE_F32);
    infiniopAddDescriptor_t op = nullptr;
    x.random(1);
    EXPECT_DONE(infiniopCreateAddDescriptor(handle, &op, x.desc(), x.desc(), x.desc()));
    std::vector<std::vector<float>> out(4, std::vector<float>(n));
    std::vector<std::thread> threads;
    for (auto &o : out)
        threads.emplace_back([&] {
            for (int i = 0; i < 200; i++)
                if (infiniopAdd(op, nullptr, 0, o.data(), x.data(), x.data(), nullptr)) o[0] = NAN;
        });
    for (std::thread &t : threads) t.join();
    for (const auto &o : out)
        for (size_t i = 0; i < n; i++) EXPECT(o[i] == (float)(2 * x[i]));
    EXPECT_DONE(infiniopDestroyAddDescriptor(op));
}

/* The same program on a GPU, where there is one. */
TEST(test_nvidia_adds_and_multiplies_in_its_own_memory)
{
    int count = 0;
    EXPECT_DONE(infinirtGetDeviceCount(INFINI_DEVICE_NVIDIA, &count));
    if (!count) SKIP("no NVIDIA device");
    infiniopHandle_t handle = nullptr;
    infinirtStream_t stream = nullptr;
    const size_t n = 64, bytes = n * n * sizeof(float);
    Array a({ n, n }, INFINI_DTYPE_F32), b({ n, n }, INFINI_DTYPE_F32), c({ n, n }, INFINI_DTYPE_F32);
    a.random(1);
    b.random(2);
    EXPECT_DONE(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 0));
    EXPECT_DONE(infiniopCreateHandle(&handle));
    EXPECT_DONE(infinirtStreamCreate(&stream));
    void *da = nullptr, *db = nullptr, *dc = nullptr;
    EXPECT_DONE(infinirtMalloc(&da, bytes));
    EXPECT_DONE(infinirtMalloc(&db, bytes));
    EXPECT_DONE(infinirtMalloc(&dc, bytes));
    EXPECT_DONE(infinirtMemcpy(da, a.data(), bytes, INFINIRT_MEMCPY_H2D));
    EXPECT_DONE(infinirtMemcpy(db, b.data(), bytes, INFINIRT_MEMCPY_H2D));
    infiniopAddDescriptor_t add = nullptr;
    EXPECT_DONE(infiniopCreateAddDescriptor(handle, &add, c.desc(), a.desc(), b.desc()));
    EXPECT_DONE(infiniopAdd(add, nullptr, 0, dc, da, db, stream));
    EXPECT_DONE(infinirtStreamSynchronize(stream));
    EXPECT_DONE(infinirtMemcpy(c.data(), dc, bytes, INFINIRT_MEMCPY_D2H));
    expect_elements("c", c, [&](size_t i) { return a[i] + b[i]; });
    infiniopGemmDescriptor_t gemm = nullptr;
    EXPECT_DONE(infiniopCreateGemmDescriptor(handle, &gemm, c.desc(), a.desc(), b.desc()));
    EXPECT_DONE(infiniopGemm(gemm, nullptr, 0, dc, da, db, 1, 0, stream));
    EXPECT_DONE(infinirtStreamSynchronize(stream));
    EXPECT_DONE(infinirtMemcpy(c.data(), dc, bytes, INFINIRT_MEMCPY_D2H));
    expect_elements("c", c, [&](size_t i) {
        double sum = 0;
        for (size_t k = 0; k < n; k++) sum += a[i / n * n + k] * b[k * n + i % n];
        return sum;
    }, 10);
    EXPECT_DONE(infinirtMemcpyAsync(dc, a.data(), bytes, INFINIRT_MEMCPY_H2D, stream));
    EXPECT_DONE(infinirtMemsetAsync(dc, 0, bytes, stream));
    EXPECT_DONE(infinirtStreamSynchronize(stream));
    EXPECT_DONE(infinirtMemcpy(c.data(), dc, bytes, INFINIRT_MEMCPY_D2H));
    expect_elements("zeros", c, [](size_t) { return 0; });
    infiniopDestroyAddDescriptor(add);
    infiniopDestroyGemmDescriptor(gemm);
    EXPECT_DONE(infinirtFree(da));
    EXPECT_DONE(infinirtFree(db));
    EXPECT_DONE(infinirtFree(dc));
    EXPECT_INFINI(infinirtFree(a.data()), INFINI_STATUS_BAD_PARAM);
    EXPECT_DONE(infinirtStreamDestroy(stream));
    EXPECT_DONE(infiniopDestroyHandle(handle));
    EXPECT_DONE(infinirtSetDevice(INFINI_DEVICE_CPU, 0));
}
