/* faces.cpp - what a call through a face costs beside the library's own call.
 *
 *     bench-faces [FILTER]
 *
 * Each line is one op through one face, on 10^7 elements and on 64: the library's call and the face's
 * alternate over the same memory. Printed are the best of both, in ms or ns, with their ratio (large) or
 * difference (small), then the same of the medians. FILTER runs the lines that contain it; TSR_THREADS is
 * the number of threads. MxBase computes on a device, cuda:0 or else sim:0, and waits: so does the library's
 * call there. */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <infiniop.h>
#include <infinirt.h>
#include <llaisys.h>
#include <llaisys/ops.h>
#include <llaisys/tensor.h>
#include <tech_renaissance.h>
#include <tiny_vec.h>

#include "MxBase/MxBase.h"
#include "tessera/tessera.h"

namespace {

using Call = std::function<void()>;

const int64_t LARGE[2] = { 2500, 4000 }, SMALL[2] = { 8, 8 };

void must(bool good, const char *what)
{
    if (good) return;
    std::fprintf(stderr, "bench-faces: %s: %s\n", what, tsr_last_error());
    std::exit(1);
}

void must(tsr_status s) { must(s == TSR_OK, "a call of the library"); }
void must(infiniStatus_t s) { must(s == INFINI_STATUS_SUCCESS, "a call of InfiniOP"); }
void must(APP_ERROR s) { must(s == APP_ERR_OK, "a call of MxBase"); }

/* A tensor of the library, over its own memory or that of a face. */
class Native {
public:
    explicit Native(const int64_t *shape, bool transposed = false)
    {
        tsr_desc desc;
        const int64_t strides[2] = { transposed ? 1 : shape[1], transposed ? shape[0] : 1 };
        must(tsr_desc_init(&desc, TSR_F32, 2, shape, strides));
        memory_.assign(static_cast<size_t>(shape[0] * shape[1]), 1.5f);
        must(tsr_wrap(&t_, memory_.data(), &desc));
    }

    Native(void *data, const int64_t *shape)
    {
        tsr_desc desc;
        must(tsr_desc_init(&desc, TSR_F32, 2, shape, nullptr));
        must(tsr_wrap(&t_, data, &desc));
    }

    Native(const Native &other, tsr_device device) { must(tsr_to(&t_, other.t_, device)); }
    Native(const Native &) = delete;
    Native &operator=(const Native &) = delete;
    ~Native() { tsr_release(&t_); }

    void *data() const { return t_->data; }
    tsr_tensor *get() const { return t_; }
    tsr_tensor **out() { return &t_; }

private:
    std::vector<float> memory_;
    tsr_tensor *t_ = nullptr;
};

/* Timing ------------------------------------------------------------------------------------- */

double seconds(const Call &call, int repeats)
{
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; i++) call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / repeats;
}

const char *filter = "";

void compare(const char *face, const char *op, bool large, const Call &native, const Call &through)
{
    const std::string name = std::string(face) + " " + op + (large ? " 10^7" : " 64");
    if (name.find(filter) == std::string::npos) return;
    const int rounds = large ? 61 : 301, repeats = large ? 1 : 1000;
    std::vector<double> ours, theirs;
    seconds(native, repeats);
    seconds(through, repeats);
    for (int i = 0; i < rounds; i++) {
        if (i % 2) theirs.push_back(seconds(through, repeats));
        ours.push_back(seconds(native, repeats));
        if (i % 2 == 0) theirs.push_back(seconds(through, repeats));
    }
    std::sort(ours.begin(), ours.end());
    std::sort(theirs.begin(), theirs.end());
    const double unit = large ? 1e3 : 1e9, a = ours[0] * unit, b = theirs[0] * unit;
    const double c = ours[rounds / 2] * unit, d = theirs[rounds / 2] * unit;
    std::printf("%-24s %9.3f %9.3f", name.c_str(), a, b);
    if (large) std::printf(" ms %8.3f   (medians %8.3f)\n", b / a, d / c);
    else std::printf(" ns %+8.1f   (medians %+8.1f)\n", b - a, d - c);
    std::fflush(stdout);
}

/* InfiniOP ----------------------------------------------------------------------------------- */

infiniopTensorDescriptor_t describe(const Native &t)
{
    const tsr_desc *d = tsr_desc_of(t.get());
    const size_t shape[2] = { static_cast<size_t>(d->shape[0]), static_cast<size_t>(d->shape[1]) };
    const ptrdiff_t strides[2] = { d->stride[0], d->stride[1] };
    infiniopTensorDescriptor_t out = nullptr;
    must(infiniopCreateTensorDescriptor(&out, 2, shape, strides, INFINI_DTYPE_F32));
    return out;
}

void run_infiniop(const int64_t *shape, bool large)
{
    Native a(shape), b(shape), c(shape), transposed(shape, true);
    infiniopHandle_t handle = nullptr;
    infiniopTensorDescriptor_t da = describe(a), db = describe(b), dc = describe(c);
    infiniopTensorDescriptor_t dt = describe(transposed);
    infiniopReluDescriptor_t relu = nullptr;
    infiniopAddDescriptor_t add = nullptr;
    infiniopRearrangeDescriptor_t rearrange = nullptr;
    must(infiniopCreateHandle(&handle));
    must(infiniopCreateReluDescriptor(handle, &relu, dc, da));
    must(infiniopCreateAddDescriptor(handle, &add, dc, da, db));
    must(infiniopCreateRearrangeDescriptor(handle, &rearrange, dc, dt));
    compare("InfiniOP", "relu", large, [&] { must(tsr_relu(c.out(), a.get())); },
            [&] { must(infiniopRelu(relu, nullptr, 0, c.data(), a.data(), nullptr)); });
    compare("InfiniOP", "add", large, [&] { must(tsr_add(c.out(), a.get(), b.get())); },
            [&] { must(infiniopAdd(add, nullptr, 0, c.data(), a.data(), b.data(), nullptr)); });
    compare("InfiniOP", "rearrange", large, [&] { must(tsr_rearrange(c.out(), transposed.get())); },
            [&] { must(infiniopRearrange(rearrange, c.data(), transposed.data(), nullptr)); });
    must(infiniopDestroyReluDescriptor(relu));
    must(infiniopDestroyAddDescriptor(add));
    must(infiniopDestroyRearrangeDescriptor(rearrange));
    for (infiniopTensorDescriptor_t d : { da, db, dc, dt }) must(infiniopDestroyTensorDescriptor(d));
    must(infiniopDestroyHandle(handle));
}

/* LLAISYS ------------------------------------------------------------------------------------ */

llaisysTensor_t make_llaisys(const int64_t *shape)
{
    size_t sizes[2] = { static_cast<size_t>(shape[0]), static_cast<size_t>(shape[1]) };
    const std::vector<float> values(sizes[0] * sizes[1], 1.5f);
    llaisysTensor_t t = tensorCreate(sizes, 2, LLAISYS_DTYPE_F32, LLAISYS_DEVICE_CPU, 0);
    must(t != nullptr, "tensorCreate");
    tensorLoad(t, values.data());
    return t;
}

void run_llaisys(const int64_t *shape, bool large)
{
    const int64_t other[2] = { shape[1], shape[0] };
    size_t order[2] = { 1, 0 };
    llaisysTensor_t a = make_llaisys(shape), b = make_llaisys(shape), c = make_llaisys(shape);
    llaisysTensor_t source = make_llaisys(other), transposed = tensorPermute(source, order);
    Native na(tensorGetData(a), shape), nb(tensorGetData(b), shape), nc(tensorGetData(c), shape);
    Native from(tensorGetData(source), other);
    tsr_tensor *nt = nullptr;
    must(tsr_transpose(&nt, from.get(), 0, 1));
    compare("LLAISYS", "add", large, [&] { must(tsr_add(nc.out(), na.get(), nb.get())); },
            [&] { llaisysAdd(c, a, b); });
    compare("LLAISYS", "rearrange", large, [&] { must(tsr_rearrange(nc.out(), nt)); },
            [&] { llaisysRearrange(c, transposed); });
    tsr_release(&nt);
    for (llaisysTensor_t t : { transposed, a, b, c, source }) tensorDestroy(t);
}

/* TinyAI, Tech Renaissance ------------------------------------------------------------------- */

void run_tinyai(const int64_t *shape, bool large)
{
    Native a(shape), b(shape), c(shape);
    const int count = static_cast<int>(shape[0] * shape[1]);
    const float *x = static_cast<const float *>(a.data()), *y = static_cast<const float *>(b.data());
    float *z = static_cast<float *>(c.data());
    compare("TinyAI", "add", large, [&] { must(tsr_add(c.out(), a.get(), b.get())); },
            [&] { must(tiny_vec_add_f32(x, y, z, count, 1, 1, 1) == TINY_OK, "tiny_vec_add_f32"); });
}

void run_renaissance(const int64_t *shape, bool large)
{
    const tr::Shape size(static_cast<int>(shape[0]), static_cast<int>(shape[1]));
    const auto cpu = tr::BackendManager::get_cpu_backend();
    tr::Tensor a = cpu->ones(size, tr::DType::FP32), b = cpu->ones(size, tr::DType::FP32);
    tr::Tensor c = cpu->ones(size, tr::DType::FP32);
    Native na(a.data_ptr(), shape), nb(b.data_ptr(), shape), nc(c.data_ptr(), shape);
    compare("Renaissance", "add", large, [&] { must(tsr_add(nc.out(), na.get(), nb.get())); },
            [&] { cpu->add_into(a, b, c); });
    compare("Renaissance", "relu", large, [&] { must(tsr_relu(nc.out(), na.get())); },
            [&] { cpu->relu_into(a, c); });
}

/* MxBase ------------------------------------------------------------------------------------- */

MxBase::Tensor make_mxbase(const int64_t *shape)
{
    MxBase::Tensor t({ static_cast<uint32_t>(shape[0]), static_cast<uint32_t>(shape[1]), 1 },
                     MxBase::TensorDType::FLOAT32, 0);
    must(t.Malloc());
    must(t.SetTensorValue(1.5f));
    return t;
}

/* Without the wait, which is of a thread for another and hides what the calls themselves cost. */
void run_queued(tsr_device device, MxBase::Tensor &a, MxBase::Tensor &b, MxBase::Tensor &c, const Native &na,
                const Native &nb, Native &nc)
{
    MxBase::AscendStream stream(0);
    tsr_stream *own = nullptr;
    int calls = 0;
    must(tsr_stream_create(&own, device));
    const Call native = [&] {
        tsr_stream *before = tsr_stream_current(device);
        must(tsr_stream_use(own));
        must(tsr_add(nc.out(), na.get(), nb.get()));
        must(before ? tsr_stream_use(before) : tsr_stream_use_default(device));
        if (++calls % 100 == 0) must(tsr_stream_sync(own));
    };
    const Call through = [&] {
        must(MxBase::Add(a, b, c, stream));
        if (++calls % 100 == 0) must(stream.Synchronize());
    };
    compare("MxBase", "Add queued", false, native, through);
    must(tsr_stream_sync(own));
    must(stream.DestroyAscendStream());
    tsr_stream_destroy(&own);
}

void run_mxbase(const int64_t *shape, bool large)
{
    tsr_device device;
    if (tsr_device_parse(&device, "cuda:0") != TSR_OK) must(tsr_device_parse(&device, "sim:0"));
    Native host(shape), na(host, device), nb(host, device), nc(host, device);
    MxBase::Tensor a = make_mxbase(shape), b = make_mxbase(shape), c = make_mxbase(shape);
    const auto wait = [&] { must(tsr_device_sync(device)); };
    compare("MxBase", "Add", large, [&] { must(tsr_add(nc.out(), na.get(), nb.get())); wait(); },
            [&] { must(MxBase::Add(a, b, c)); });
    if (!large) run_queued(device, a, b, c, na, nb, nc);
    compare("MxBase", "Max", large, [&] { must(tsr_maximum(nc.out(), na.get(), nb.get())); wait(); },
            [&] { must(MxBase::Max(a, b, c)); });
    compare("MxBase", "Abs", large, [&] { must(tsr_abs(nc.out(), na.get())); wait(); },
            [&] { must(MxBase::Abs(a, c)); });
}

} // namespace

int main(int argc, char **argv)
{
    if (argc > 1) filter = argv[1];
    must(MxBase::MxInit());
    std::printf("%-24s %9s %9s\n", "face, op, elements", "native", "face");
    for (const bool large : { true, false }) {
        const int64_t *shape = large ? LARGE : SMALL;
        run_infiniop(shape, large);
        run_llaisys(shape, large);
        run_mxbase(shape, large);
        run_tinyai(shape, large);
        run_renaissance(shape, large);
    }
    return MxBase::MxDeInit() == APP_ERR_OK ? 0 : 1;
}
