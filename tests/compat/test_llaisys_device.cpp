/* test_llaisys_device.cpp - device 1 of LLAISYS, or a simulated one: every operator gives there what it gives
 * on the CPU. */
#include <cmath>
#include <vector>

#include "llaisys/ops.h"
#include "llaisys/runtime.h"
#include "test.h"

typedef std::vector<size_t> Shape;

static const LlaisysRuntimeAPI *device()
{
    setenv("LLAISYS_SIMULATE", "1", 1);
    return llaisysGetRuntimeAPI(LLAISYS_DEVICE_NVIDIA);
}

/* A tensor twice, with the same elements: on the CPU and on the device. */
struct Twin
{
    llaisysTensor_t host, there;
    size_t count = 1;
    llaisysDataType_t dtype;

    Twin(Shape shape, llaisysDataType_t d, uint64_t seed, int64_t below = 2000) : dtype(d)
    {
        for (size_t s : shape) count *= s;
        host = tensorCreate(shape.data(), shape.size(), d, LLAISYS_DEVICE_CPU, 0);
        there = tensorCreate(shape.data(), shape.size(), d, LLAISYS_DEVICE_NVIDIA, 0);
        std::vector<unsigned char> bytes(count * size());
        for (size_t i = 0; i < count; i++) put(&bytes[i * size()], test_below(&seed, below));
        tensorLoad(host, bytes.data());
        tensorLoad(there, bytes.data());
    }
    Twin(const Twin &) = delete;
    ~Twin()
    {
        tensorDestroy(host);
        tensorDestroy(there);
    }

    size_t size() const { return dtype == LLAISYS_DTYPE_I64 ? 8 : dtype == LLAISYS_DTYPE_F32 ? 4 : 2; }

    void put(unsigned char *p, int64_t n) const
    {
        const float f = static_cast<float>(n) / 1000.0f - 1.0f;
        const uint16_t h = dtype == LLAISYS_DTYPE_F16 ? tsr_f32_to_f16(f) : tsr_f32_to_bf16(f);
        memcpy(p, dtype == LLAISYS_DTYPE_I64   ? static_cast<const void *>(&n)
                  : dtype == LLAISYS_DTYPE_F32 ? static_cast<const void *>(&f)
                                               : static_cast<const void *>(&h), size());
    }

    double get(const unsigned char *p) const
    {
        int64_t n;
        float f;
        uint16_t h;
        memcpy(&h, p, 2);
        if (dtype == LLAISYS_DTYPE_F16) return tsr_f16_to_f32(h);
        if (dtype == LLAISYS_DTYPE_BF16) return tsr_bf16_to_f32(h);
        if (dtype == LLAISYS_DTYPE_I64) return memcpy(&n, p, 8), static_cast<double>(n);
        return memcpy(&f, p, 4), f;
    }

    bool agrees(double tolerance) const
    {
        std::vector<unsigned char> bytes(count * size());
        device()->memcpy_sync(bytes.data(), tensorGetData(there), bytes.size(), LLAISYS_MEMCPY_D2H);
        const unsigned char *want = static_cast<const unsigned char *>(tensorGetData(host));
        for (size_t i = 0; i < count; i++) {
            const double a = get(&bytes[i * size()]), b = get(want + i * size());
            if (!(std::fabs(a - b) <= tolerance * (1 + std::fabs(b)))) return false;
        }
        return true;
    }
};

/* Each operator on both sides; what the two may differ by. */
static void check_all(llaisysDataType_t d, double tolerance)
{
    Twin a({ 6, 8 }, d, 1), b({ 6, 8 }, d, 2), c({ 6, 8 }, d, 3), w({ 5, 8 }, d, 4), bias({ 5 }, d, 5),
        out({ 6, 5 }, d, 6);
    Twin row({8}, d, 7), index({6}, LLAISYS_DTYPE_I64, 8, 5), x({6, 4, 8}, d, 9), y({6, 4, 8}, d, 10);
    Twin pos({6}, LLAISYS_DTYPE_I64, 11, 50), k({9, 2, 8}, d, 12), v({9, 2, 8}, d, 13);
    Twin idx({1}, LLAISYS_DTYPE_I64, 14), val({1}, d, 15), flat({8}, d, 16);
    llaisysAdd(c.host, a.host, b.host);
    llaisysAdd(c.there, a.there, b.there);
    EXPECT(c.agrees(0));
    llaisysSwiGLU(c.host, a.host, b.host);
    llaisysSwiGLU(c.there, a.there, b.there);
    EXPECT(c.agrees(tolerance));
    llaisysRmsNorm(c.host, a.host, row.host, 1e-5f);
    llaisysRmsNorm(c.there, a.there, row.there, 1e-5f);
    EXPECT(c.agrees(tolerance));
    llaisysRearrange(c.host, b.host);
    llaisysRearrange(c.there, b.there);
    EXPECT(c.agrees(0));
    llaisysLinear(out.host, a.host, w.host, bias.host);
    llaisysLinear(out.there, a.there, w.there, bias.there);
    EXPECT(out.agrees(tolerance));
    llaisysEmbedding(c.host, index.host, w.host);
    llaisysEmbedding(c.there, index.there, w.there);
    EXPECT(c.agrees(0));
    llaisysArgmax(idx.host, val.host, flat.host);
    llaisysArgmax(idx.there, val.there, flat.there);
    EXPECT(idx.agrees(0) && val.agrees(0));
    llaisysROPE(y.host, x.host, pos.host, 10000.0f);
    llaisysROPE(y.there, x.there, pos.there, 10000.0f);
    EXPECT(y.agrees(tolerance));
    llaisysSelfAttention(y.host, x.host, k.host, v.host, 0.5f);
    llaisysSelfAttention(y.there, x.there, k.there, v.there, 0.5f);
    EXPECT(y.agrees(tolerance));
}

TEST(test_operators_agree_with_the_cpu_in_f32)
{
    if (device()->get_device_count() == 0) SKIP("no such device");
    check_all(LLAISYS_DTYPE_F32, 1e-5);
}

TEST(test_operators_agree_with_the_cpu_in_short_floats)
{
    if (device()->get_device_count() == 0) SKIP("no such device");
    check_all(LLAISYS_DTYPE_F16, 2e-3);
    check_all(LLAISYS_DTYPE_BF16, 2e-2);
}

TEST(test_memory_and_streams_of_the_device)
{
    if (device()->get_device_count() == 0) SKIP("no such device");
    const LlaisysRuntimeAPI *api = device();
    llaisysSetContextRuntime(LLAISYS_DEVICE_NVIDIA, 0);
    api->set_device(0);
    llaisysStream_t stream = api->create_stream();
    unsigned char *in = static_cast<unsigned char *>(api->malloc_host(1000)), out[1000];
    void *a = api->malloc_device(1000), *b = api->malloc_device(1000);
    for (int i = 0; i < 1000; i++) in[i] = static_cast<unsigned char>(i * 7);
    api->memcpy_async(a, in, 1000, LLAISYS_MEMCPY_H2D, stream);
    api->stream_synchronize(stream);
    api->memcpy_sync(b, a, 1000, LLAISYS_MEMCPY_D2D);
    api->memcpy_sync(out, b, 1000, LLAISYS_MEMCPY_D2H);
    api->device_synchronize();
    EXPECT(!memcmp(in, out, 1000));
    api->stream_synchronize(nullptr);
    api->free_device(a);
    api->free_device(b);
    api->free_device(nullptr);
    api->free_host(in);
    api->destroy_stream(stream);
}

TEST(test_simulated_devices_stand_in_only_where_asked)
{
    const int count = device()->get_device_count();
    setenv("LLAISYS_SIMULATE", "0", 1);
    const int real = llaisysGetRuntimeAPI(LLAISYS_DEVICE_NVIDIA)->get_device_count();
    EXPECT(real == 0 || real == count);
}
