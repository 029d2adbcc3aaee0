/* test_llaisys_tensor.cpp - tensors, views and the runtime of LLAISYS: the document's functions as
 * oracles, and every function with good and bad input. */
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "llaisys/runtime.h"
#include "llaisys/tensor.h"
#include "test.h"

typedef std::vector<size_t> Shape;
typedef std::vector<ptrdiff_t> Strides;

static llaisysTensor_t make(Shape shape, llaisysDataType_t dtype = LLAISYS_DTYPE_F32)
{
    return tensorCreate(shape.data(), shape.size(), dtype, LLAISYS_DEVICE_CPU, 0);
}

static llaisysTensor_t view(llaisysTensor_t t, Shape shape)
{
    return tensorView(t, shape.data(), shape.size());
}
static llaisysTensor_t permute(llaisysTensor_t t, Shape order) { return tensorPermute(t, order.data()); }

static Shape shape_of(llaisysTensor_t t)
{
    Shape s(tensorGetNdim(t));
    tensorGetShape(t, s.data());
    return s;
}

static Strides strides_of(llaisysTensor_t t)
{
    Strides s(tensorGetNdim(t));
    tensorGetStrides(t, s.data());
    return s;
}

static float *floats(llaisysTensor_t t) { return static_cast<float *>(tensorGetData(t)); }

/* 0, 1, 2, ... in row-major order */
static llaisysTensor_t counted(Shape shape)
{
    llaisysTensor_t t = make(shape);
    size_t n = 1;
    for (size_t s : shape) n *= s;
    std::vector<float> values(n);
    for (size_t i = 0; i < n; i++) values[i] = static_cast<float>(i);
    tensorLoad(t, values.data());
    return t;
}

/* Standard error goes nowhere while this lives. */
struct Hushed
{
    int old;
    Hushed()
    {
        fflush(stderr);
        old = dup(2);
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, 2);
        close(null);
    }
    ~Hushed()
    {
        fflush(stderr);
        dup2(old, 2);
        close(old);
    }
};

template <typename E> static bool throws(const std::function<void()> &call)
{
    Hushed hushed;
    try {
        call();
    } catch (const E &e) {
        return e.what()[0] != '\0';
    } catch (...) {
        return false;
    }
    return false;
}

static bool refuses(const std::function<void()> &call) { return throws<std::invalid_argument>(call); }

/* Standard output goes into a pipe while this lives. */
struct Piped
{
    int old, ends[2];
    Piped()
    {
        fflush(stdout);
        old = dup(1);
        if (pipe(ends)) abort();
        dup2(ends[1], 1);
        close(ends[1]);
    }
    ~Piped() { close(ends[0]); }
    void stop()
    {
        fflush(stdout);
        dup2(old, 1);
        close(old);
    }
};

static std::string printed(const std::function<void()> &call)
{
    char text[2048];
    Piped piped;
    try {
        call();
    } catch (...) {
        piped.stop();
        throw;
    }
    piped.stop();
    const ssize_t n = read(piped.ends[0], text, sizeof text);
    return std::string(text, n > 0 ? static_cast<size_t>(n) : 0);
}

/* The document's functions ----------------------------------------------------------- */

/* Its view(), as far as it computes strides. */
static Strides document_view(const Shape &shape)
{
    const size_t ndim_ = shape.size();
    Strides new_strides(ndim_);
    ptrdiff_t stride = 1;
    for (size_t i = 1; i <= ndim_; ++i) {
        new_strides[ndim_ - i] = stride;
        stride *= static_cast<ptrdiff_t>(shape[ndim_ - i]);
    }
    return new_strides;
}

/* Its rule of contiguity: stride[i] == stride[i + 1] * shape[i + 1]. */
static bool document_is_contiguous(const Shape &shape, const Strides &stride)
{
    if (!shape.empty() && stride.back() != 1) return false;
    for (size_t i = 0; i + 1 < shape.size(); i++)
        if (stride[i] != stride[i + 1] * static_cast<ptrdiff_t>(shape[i + 1])) return false;
    return true;
}

TEST(test_document_load_copies_host_data)
{
    llaisysTensor_t t = make({2, 3});
    const float values[6] = {1, 2, 3, 4, 5, 6};
    tensorLoad(t, values);
    EXPECT(!memcmp(tensorGetData(t), values, sizeof values));
    tensorDestroy(t);
}

TEST(test_document_contiguity_agrees)
{
    llaisysTensor_t t = counted({ 3, 4, 5 }), p = permute(t, { 2, 0, 1 }), s = tensorSlice(t, 2, 1, 4),
                    h = tensorSlice(t, 0, 1, 3);
    for (llaisysTensor_t x : {t, p, s, h})
        EXPECT(static_cast<bool>(tensorIsContiguous(x)) ==
               document_is_contiguous(shape_of(x), strides_of(x)));
    EXPECT(tensorIsContiguous(t) == 1 && tensorIsContiguous(p) == 0 && tensorIsContiguous(h) == 1);
    for (llaisysTensor_t x : {t, p, s, h}) tensorDestroy(x);
}

TEST(test_document_view_shares_memory_with_new_strides)
{
    llaisysTensor_t t = counted({3, 4, 5}), v = view(t, {6, 10});
    EXPECT(shape_of(v) == Shape({6, 10}) && strides_of(v) == document_view({6, 10}));
    EXPECT(tensorGetData(v) == tensorGetData(t));
    floats(v)[59] = -1.0f;
    EXPECT(floats(t)[59] == -1.0f);
    tensorDestroy(t);
    EXPECT(floats(v)[59] == -1.0f);
    tensorDestroy(v);
}

TEST(test_document_permute_reorders_shape_and_strides)
{
    llaisysTensor_t t = counted({3, 4, 5}), p = permute(t, {2, 0, 1});
    EXPECT(shape_of(p) == Shape({5, 3, 4}) && strides_of(p) == Strides({1, 20, 5}));
    EXPECT(tensorGetData(p) == tensorGetData(t) && !tensorIsContiguous(p));
    tensorDestroy(p);
    tensorDestroy(t);
}

/* The document's own slice() multiplies its offset by the element size twice when it slices a
 * slice; the address here is the right one. */
TEST(test_document_slice_moves_the_start_and_keeps_strides)
{
    llaisysTensor_t t = counted({3, 4, 5}), s = tensorSlice(t, 2, 1, 4), again = tensorSlice(s, 1, 2, 4);
    EXPECT(shape_of(s) == Shape({3, 4, 3}) && strides_of(s) == Strides({20, 5, 1}) &&
           floats(s) == floats(t) + 1);
    EXPECT(shape_of(again) == Shape({3, 2, 3}) && floats(again) == floats(t) + 1 + 2 * 5 &&
           floats(again)[0] == 11.0f);
    for (llaisysTensor_t x : {t, s, again}) tensorDestroy(x);
}

/* Making and asking --------------------------------------------------------------------- */

TEST(test_every_dtype_that_is_stored_keeps_its_number)
{
    for (int d = LLAISYS_DTYPE_BYTE; d <= LLAISYS_DTYPE_BF16; d++) {
        const llaisysDataType_t dtype = static_cast<llaisysDataType_t>(d);
        if (dtype == LLAISYS_DTYPE_C16) continue;
        llaisysTensor_t t = make({2, 3}, dtype);
        EXPECT(t && tensorGetDataType(t) == dtype && tensorGetDeviceType(t) == LLAISYS_DEVICE_CPU &&
               tensorGetDeviceId(t) == 0);
        tensorDestroy(t);
    }
    EXPECT(throws<std::runtime_error>([] { make({2}, LLAISYS_DTYPE_C16); }));
}

TEST(test_scalars_and_empty_tensors_are_made)
{
    llaisysTensor_t s = tensorCreate(nullptr, 0, LLAISYS_DTYPE_F32, LLAISYS_DEVICE_CPU, 0),
                    e = make({ 2, 0, 3 });
    const float one = 1.5f;
    tensorLoad(s, &one);
    tensorLoad(e, nullptr);
    EXPECT(tensorGetNdim(s) == 0 && *floats(s) == 1.5f && tensorIsContiguous(s));
    EXPECT(shape_of(e) == Shape({2, 0, 3}) && tensorIsContiguous(e));
    tensorDestroy(s);
    tensorDestroy(e);
    tensorDestroy(nullptr);
}

TEST(test_create_refuses_bad_input)
{
    EXPECT(refuses([] { make({SIZE_MAX}); }) && refuses([] { make({size_t(1) << 40, size_t(1) << 40}); }));
    EXPECT(refuses([] { make(Shape(17, 1)); }));
    EXPECT(refuses([] { tensorCreate(nullptr, 2, LLAISYS_DTYPE_F32, LLAISYS_DEVICE_CPU, 0); }));
    EXPECT(throws<std::runtime_error>([] { make({2}, LLAISYS_DTYPE_INVALID); }));
    EXPECT(throws<std::runtime_error>([] { make({2}, static_cast<llaisysDataType_t>(20)); }));
    size_t two = 2;
    EXPECT(refuses([&] { tensorCreate(&two, 1, LLAISYS_DTYPE_F32, LLAISYS_DEVICE_CPU, 1); }));
    EXPECT(refuses([&] { tensorCreate(&two, 1, LLAISYS_DTYPE_F32, LLAISYS_DEVICE_CPU, -1); }));
    EXPECT(refuses([&] { tensorCreate(&two, 1, LLAISYS_DTYPE_F32, LLAISYS_DEVICE_NVIDIA, 4000); }));
    EXPECT(throws<std::runtime_error>([&] {
        tensorCreate(&two, 1, LLAISYS_DTYPE_F32, static_cast<llaisysDeviceType_t>(3), 0);
    }));
}

TEST(test_create_bears_want_of_memory)
{
    tsr_set_alloc_hook([](void *, size_t) { return false; }, nullptr);
    EXPECT(throws<std::runtime_error>([] { make({64}); }));
    tsr_set_alloc_hook(nullptr, nullptr);
}

TEST(test_null_tensors_are_refused_by_every_function)
{
    size_t n = 1;
    ptrdiff_t s = 0;
    EXPECT(refuses([] { tensorGetData(nullptr); }) && refuses([] { tensorGetNdim(nullptr); }));
    EXPECT(refuses([&] { tensorGetShape(nullptr, &n); }) && refuses([&] { tensorGetStrides(nullptr, &s); }));
    EXPECT(refuses([] { tensorGetDataType(nullptr); }) && refuses([] { tensorGetDeviceType(nullptr); }));
    EXPECT(refuses([] { tensorGetDeviceId(nullptr); }) && refuses([] { tensorDebug(nullptr); }));
    EXPECT(refuses([] { tensorIsContiguous(nullptr); }) && refuses([&] { tensorLoad(nullptr, &n); }));
    EXPECT(refuses([&] { tensorView(nullptr, &n, 1); }) && refuses([&] { tensorPermute(nullptr, &n); }));
    EXPECT(refuses([] { tensorSlice(nullptr, 0, 0, 1); }));
    llaisysTensor_t t = counted({2, 3});
    EXPECT(refuses([&] { tensorGetShape(t, nullptr); }) && refuses([&] { tensorGetStrides(t, nullptr); }));
    EXPECT(refuses([&] { tensorLoad(t, nullptr); }) && refuses([&] { tensorPermute(t, nullptr); }));
    EXPECT(refuses([&] { tensorView(t, nullptr, 1); }));
    tensorDestroy(t);
}

/* Views ----------------------------------------------------------------------------------- */

TEST(test_view_succeeds_where_strides_allow_it)
{
    llaisysTensor_t t = counted({4, 6}), half = tensorSlice(t, 0, 0, 2), left = tensorSlice(t, 1, 0, 4);
    llaisysTensor_t a = view(half, {12}), b = view(left, {2, 2, 2, 2});
    EXPECT(strides_of(a) == Strides({1}) && shape_of(b) == Shape({2, 2, 2, 2}) &&
           strides_of(b) == Strides({12, 6, 2, 1}));
    EXPECT(refuses([&] { view(left, {16}); }));
    EXPECT(refuses([&] { view(t, {5, 5}); }) && refuses([&] { view(t, {SIZE_MAX, 24}); }));
    for (llaisysTensor_t x : {t, half, left, a, b}) tensorDestroy(x);
}

TEST(test_reshape_views_or_copies)
{
    Shape flat = {20};
    llaisysTensor_t t = counted({4, 5}), v = tensorReshape(t, flat.data(), 1), p = permute(t, {1, 0});
    llaisysTensor_t c = tensorReshape(p, flat.data(), 1);
    EXPECT(tensorGetData(v) == tensorGetData(t) && shape_of(v) == flat);
    EXPECT(tensorGetData(c) != tensorGetData(t) && shape_of(c) == flat && tensorIsContiguous(c));
    for (size_t i = 0; i < 20; i++) EXPECT(floats(c)[i] == floats(t)[i % 4 * 5 + i / 4]);
    flat[0] = 19;
    EXPECT(refuses([&] { tensorReshape(t, flat.data(), 1); }));
    EXPECT(refuses([&] { tensorReshape(nullptr, flat.data(), 1); }));
    for (llaisysTensor_t x : {t, v, p, c}) tensorDestroy(x);
}

TEST(test_permute_refuses_what_is_no_permutation)
{
    llaisysTensor_t t = counted({2, 3});
    EXPECT(refuses([&] { permute(t, {0, 0}); }) && refuses([&] { permute(t, {0, 2}); }) &&
           refuses([&] { permute(t, {SIZE_MAX, 0}); }));
    tensorDestroy(t);
}

TEST(test_slice_is_bounded)
{
    llaisysTensor_t t = counted({4, 6}), all = tensorSlice(t, 1, 0, 6), none = tensorSlice(t, 0, 4, 4);
    EXPECT(shape_of(all) == Shape({4, 6}) && shape_of(none) == Shape({0, 6}));
    EXPECT(refuses([&] { tensorSlice(t, 2, 0, 1); }) && refuses([&] { tensorSlice(t, 0, 0, 5); }));
    EXPECT(refuses([&] { tensorSlice(t, 0, 3, 2); }) &&
           refuses([&] { tensorSlice(t, 0, SIZE_MAX, SIZE_MAX); }));
    for (llaisysTensor_t x : {t, all, none}) tensorDestroy(x);
}

TEST(test_load_honours_the_strides_of_a_view)
{
    llaisysTensor_t t = counted({2, 4}), s = tensorSlice(t, 1, 1, 3), p = permute(s, {1, 0});
    const float values[4] = {100, 101, 102, 103};
    tensorLoad(p, values);
    EXPECT(floats(t)[1] == 100.0f && floats(t)[5] == 101.0f && floats(t)[2] == 102.0f &&
           floats(t)[6] == 103.0f);
    EXPECT(floats(t)[0] == 0.0f && floats(t)[3] == 3.0f);
    for (llaisysTensor_t x : {t, s, p}) tensorDestroy(x);
}

/* Text -------------------------------------------------------------------------------------- */

TEST(test_debug_prints_shape_strides_dtype_and_rows)
{
    llaisysTensor_t t = counted({2, 3}), p = permute(t, {1, 0});
    EXPECT(printed([&] { tensorDebug(t); }) ==
           "Tensor: shape[ 2 3 ] strides[ 3 1 ] dtype=13\n0 1 2 \n3 4 5 \n");
    EXPECT(printed([&] { tensorDebug(p); }) ==
           "Tensor: shape[ 3 2 ] strides[ 1 3 ] dtype=13\n0 3 \n1 4 \n2 5 \n");
    tensorDestroy(p);
    tensorDestroy(t);
}

TEST(test_debug_prints_every_dtype_the_original_prints)
{
    for (int d = LLAISYS_DTYPE_BYTE; d <= LLAISYS_DTYPE_BF16; d++) {
        const llaisysDataType_t dtype = static_cast<llaisysDataType_t>(d);
        const bool is_complex = dtype >= LLAISYS_DTYPE_C16 && dtype <= LLAISYS_DTYPE_C128;
        if (dtype == LLAISYS_DTYPE_C16) continue;
        llaisysTensor_t t = make({1, 2}, dtype);
        memset(tensorGetData(t), 0, dtype == LLAISYS_DTYPE_C128 ? 32 : 2);
        if (is_complex || dtype == LLAISYS_DTYPE_F8)
            EXPECT(throws<std::runtime_error>([&] { printed([&] { tensorDebug(t); }); }));
        else
            EXPECT(printed([&] { tensorDebug(t); }).find("Tensor: shape[ 1 2 ] strides[ 2 1 ] dtype=") == 0);
        tensorDestroy(t);
    }
    const uint16_t half[2] = {0x3e00, 0xc000}, brain[2] = {0x3fc0, 0xc000};
    llaisysTensor_t h = make({2}, LLAISYS_DTYPE_F16), b = make({2}, LLAISYS_DTYPE_BF16);
    tensorLoad(h, half);
    tensorLoad(b, brain);
    EXPECT(printed([&] { tensorDebug(h); }) == "Tensor: shape[ 2 ] strides[ 1 ] dtype=12\n1.5 -2 \n");
    EXPECT(printed([&] { tensorDebug(b); }) == "Tensor: shape[ 2 ] strides[ 1 ] dtype=19\n1.5 -2 \n");
    tensorDestroy(h);
    tensorDestroy(b);
}

/* How failures end ----------------------------------------------------------------------------- */

TEST(test_failures_return_null_where_the_environment_says_so)
{
    Hushed hushed;
    llaisysTensor_t t = counted({2, 3});
    setenv("LLAISYS_STRICT", "0", 1);
    EXPECT(view(t, {7}) == nullptr && permute(t, {0, 0}) == nullptr && tensorSlice(t, 0, 0, 9) == nullptr);
    EXPECT(make({SIZE_MAX}) == nullptr && tensorGetData(nullptr) == nullptr && tensorGetNdim(nullptr) == 0);
    EXPECT(llaisysGetRuntimeAPI(static_cast<llaisysDeviceType_t>(3)) == nullptr);
    tensorLoad(nullptr, nullptr);
    tensorDebug(nullptr);
    unsetenv("LLAISYS_STRICT");
    EXPECT(refuses([&] { view(t, {7}); }));
    tensorDestroy(t);
}

/* The runtime ------------------------------------------------------------------------------------ */

TEST(test_runtime_of_the_cpu_copies_memory)
{
    const LlaisysRuntimeAPI *api = llaisysGetRuntimeAPI(LLAISYS_DEVICE_CPU);
    EXPECT(api && api->get_device_count() == 1);
    api->set_device(0);
    api->device_synchronize();
    llaisysStream_t stream = api->create_stream();
    api->stream_synchronize(stream);
    char *a = static_cast<char *>(api->malloc_device(100)), *b = static_cast<char *>(api->malloc_host(100));
    for (int i = 0; i < 100; i++) a[i] = static_cast<char>(i);
    api->memcpy_sync(b, a, 100, LLAISYS_MEMCPY_D2H);
    EXPECT(!memcmp(a, b, 100));
    memset(a, 0, 100);
    api->memcpy_async(a, b, 100, LLAISYS_MEMCPY_H2D, stream);
    EXPECT(a[99] == 99);
    api->memcpy_sync(a, nullptr, 0, LLAISYS_MEMCPY_H2H);
    EXPECT(refuses([&] { api->memcpy_sync(a, nullptr, 1, LLAISYS_MEMCPY_H2H); }));
    api->free_device(a);
    api->free_host(b);
    api->free_device(nullptr);
    api->destroy_stream(stream);
}

TEST(test_runtime_of_an_absent_device_counts_none_and_fails)
{
    const LlaisysRuntimeAPI *api = llaisysGetRuntimeAPI(LLAISYS_DEVICE_NVIDIA);
    EXPECT(api != nullptr);
    if (api->get_device_count() > 0) SKIP("there is such a device");
    EXPECT(throws<std::runtime_error>([&] { api->set_device(0); }));
    EXPECT(throws<std::runtime_error>([&] { api->malloc_device(16); }));
    EXPECT(throws<std::runtime_error>([&] { api->malloc_host(16); }));
    EXPECT(throws<std::runtime_error>([&] { api->device_synchronize(); }));
    EXPECT(throws<std::runtime_error>([&] { api->create_stream(); }));
    EXPECT(throws<std::runtime_error>([&] { api->memcpy_sync(nullptr, nullptr, 0, LLAISYS_MEMCPY_D2D); }));
    EXPECT(refuses([] { llaisysSetContextRuntime(LLAISYS_DEVICE_NVIDIA, 0); }));
}

TEST(test_runtime_of_a_device_moves_memory_and_tensors)
{
    const LlaisysRuntimeAPI *api = llaisysGetRuntimeAPI(LLAISYS_DEVICE_NVIDIA);
    if (api->get_device_count() == 0) SKIP("no such device");
    float in[6] = {1, 2, 3, 4, 5, 6}, out[6] = {0};
    size_t shape[2] = {2, 3};
    llaisysSetContextRuntime(LLAISYS_DEVICE_NVIDIA, 0);
    llaisysTensor_t t = tensorCreate(shape, 2, LLAISYS_DTYPE_F32, LLAISYS_DEVICE_NVIDIA, 0);
    tensorLoad(t, in);
    void *p = api->malloc_device(sizeof in);
    api->memcpy_sync(p, tensorGetData(t), sizeof in, LLAISYS_MEMCPY_D2D);
    api->memcpy_sync(out, p, sizeof in, LLAISYS_MEMCPY_D2H);
    EXPECT(!memcmp(in, out, sizeof in) && tensorGetDeviceType(t) == LLAISYS_DEVICE_NVIDIA);
    EXPECT(printed([&] { tensorDebug(t); }) ==
           "Tensor: shape[ 2 3 ] strides[ 3 1 ] dtype=13\n1 2 3 \n4 5 6 \n");
    api->free_device(p);
    tensorDestroy(t);
}

TEST(test_contexts_are_checked)
{
    llaisysSetContextRuntime(LLAISYS_DEVICE_CPU, 0);
    EXPECT(refuses([] { llaisysSetContextRuntime(LLAISYS_DEVICE_CPU, 3); }));
    EXPECT(throws<std::runtime_error>([] { llaisysGetRuntimeAPI(LLAISYS_DEVICE_TYPE_COUNT); }));
}
