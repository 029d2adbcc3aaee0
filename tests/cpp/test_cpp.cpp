/* test_cpp.cpp - tessera.hpp: who owns what, views, operators, exceptions. */
#include "test.h"

#include <sstream>
#include <tessera/tessera.hpp>

using namespace tessera;

static long long owners(const tensor &t) { return t.get() ? t.get()->count : 0; }

/* The call throws an error of this status whose message has this part. */
template <class F> static bool fails(F f, tsr_status status, const char *part)
{
    try {
        f();
    } catch (const error &e) {
        return e.status() == status && strstr(e.what(), part) != nullptr;
    }
    return false;
}

TEST(test_cpp_copies_share_and_moves_move)
{
    tensor a = zeros<float>({2, 3}), b = a, none_yet;
    EXPECT(owners(a) == 2 && a.get() == b.get() && !none_yet && a);
    const tensor c = std::move(b);
    EXPECT(owners(a) == 2 && !b && c.get() == a.get());
    b = c;
    b = tensor();
    tensor &same = a;
    a = same;
    EXPECT(owners(a) == 2);
    a = a.clone();
    EXPECT(owners(a) == 1 && a.get() != c.get());
    tsr_tensor *raw = a.detach();
    EXPECT(!a && raw);
    const tensor back = tensor::take(raw), shared = tensor::share(raw);
    EXPECT(owners(back) == 2);
}

TEST(test_cpp_shapes_are_lists)
{
    const tensor t = ones<double>({2, 3, 4});
    EXPECT((t.shape() == shape{2, 3, 4}) && (t.strides() == shape{12, 4, 1}) && t.ndim() == 3);
    EXPECT(t.size() == 24 && t.size(-1) == 4 && t.dtype() == TSR_F64 && t.is_contiguous());
    EXPECT((shape(std::vector<int>{1, 2}) != shape{1, 3}));
    EXPECT(fails([&] { (void)t.size(3); }, TSR_EINDEX, "axis"));
    EXPECT(fails([] { (void)shape(std::vector<int>(TSR_MAX_NDIM + 1)); }, TSR_EINVAL, "dims"));
    EXPECT(tensor().ndim() == 0 && tensor().shape().size() == 0 && tensor().size() == 0);
}

TEST(test_cpp_indices_are_views)
{
    const tensor x = arange<std::int32_t>(24).view({2, 3, 4});
    EXPECT(x(1, 2, 3).item<int>() == 23 && x[1][2][3].item<int>() == 23);
    EXPECT((x(0, all, slice(1, 3)).shape() == shape{3, 2}));
    EXPECT((x(ellipsis, -1).to_vector<std::int32_t>() == std::vector<std::int32_t>{3, 7, 11, 15, 19, 23}));
    EXPECT((x(all, newaxis, ellipsis, 0).shape() == shape{2, 1, 3}));
    EXPECT((x(slice(none, none, -1), 0, 0).to_vector<std::int32_t>() == std::vector<std::int32_t>{12, 0}));
    EXPECT(x().is_view() == x.is_view());
    EXPECT(owners(x) == 1);
    x(1, all, 0).fill(-5);
    EXPECT(x.at<std::int32_t>(1, 2, 0) == -5 && x.ref<std::int32_t>(1, 0, 0) == -5);
    x[0].copy_from(x[1]);
    EXPECT(equal(x[0], x[1]));
    EXPECT(fails([&] { (void)x(0, 3, 0); }, TSR_EINDEX, "select"));
    EXPECT(fails([&] { (void)x(0, 0, 0, 0); }, TSR_EINDEX, "select"));
    EXPECT(fails([&] { (void)x.at<std::int32_t>(0, 0, 4); }, TSR_EINDEX, ""));
    EXPECT(fails([&] { (void)x.at<float>(0, 0, 0); }, TSR_EDTYPE, "elements are i32, not f32"));
    EXPECT((x.transpose().shape() == shape{2, 4, 3}) && (x.permute({2, 0, 1}).shape() == shape{4, 2, 3}));
    EXPECT((x.unsqueeze(0).squeeze(0).shape() == x.shape()) && (x.reshape({6, -1}).shape() == shape{6, 4}));
    EXPECT((x[0].flip({0})[0].to_vector<std::int32_t>() == x[0][2].to_vector<std::int32_t>()));
    EXPECT((x[0].diagonal().shape() == shape{3}));
    EXPECT((ones<float>({1, 3}).expand({4, 3}).strides() == shape{0, 1}));
}

TEST(test_cpp_operators_are_ops)
{
    tensor x = from({1.0f, 2.0f, 3.0f});
    EXPECT(((x * 2 + 1) / 2 - x).to_vector<float>() == (std::vector<float>{0.5f, 0.5f, 0.5f}));
    EXPECT((1 - x).to_vector<float>() == (std::vector<float>{0, -1, -2}));
    EXPECT((-x + x).sum().item<float>() == 0 && (x * x).sum().item<double>() == 14);
    EXPECT((x >= 2).to_vector<bool>() == (std::vector<bool>{false, true, true}));
    EXPECT((x == x).all().item<int>() == 1 && (x != x).any().item<int>() == 0);
    EXPECT((x < 0).any().item<int>() == 0 && (x <= 3).all().item<int>() == 1);
    EXPECT((x > 2).any().item<int>() == 1);
    const float *before = x.data<float>();
    x += x;
    x -= 1;
    x *= 2;
    x /= from({2.0f});
    EXPECT(x.data<float>() == before && x.to_vector<float>() == (std::vector<float>{1, 3, 5}));
    const tensor i = from<std::int64_t>({5, 6, 7});
    EXPECT((i % 4).to_vector<std::int64_t>() == (std::vector<std::int64_t>{1, 2, 3}));
    EXPECT(((i & 4) | (i ^ i)).sum().item<int>() == 12 && (~i)[0].item<int>() == -6);
    EXPECT(pow(x, 2).max().item<float>() == 25 && maximum(x, 3).min().item<float>() == 3);
    EXPECT(minimum(3, x).max().item<float>() == 3 && x.argmax(0).item<int>() == 2);
    EXPECT(allclose(exp(log(x)), x) && allclose(sqrt(x * x), abs(-x)));
    EXPECT(allclose(sin(x) / cos(x), call(tsr_tan, x)) && tanh(x).size() == 3 && sigmoid(x).size() == 3);
    EXPECT(allclose(softmax(x).sum(), from({1.0f}).reshape({})));
    EXPECT(fails([&] { (void)(x + ones<float>({2})); }, TSR_ESHAPE, "add"));
    EXPECT(fails([&] { x += ones<float>({2, 3}); }, TSR_ESHAPE, "add"));
}

TEST(test_cpp_calls_make_their_results)
{
    const tensor x = ones<float>({2, 3});
    EXPECT((call(tsr_norm, x, axes{1}, false, 2.0).shape() == shape{2}));
    EXPECT((call(tsr_lerp, x, x * 3, number(0.5)).at<float>(0, 0) == 2));
    EXPECT((matmul(x, x.transpose()).at<float>(1, 1) == 3) && (where(x > 0, x, x)).size() == 6);
    EXPECT((concat({x, x}, 0).shape() == shape{4, 3}) && (stack({x, x, x}, 1).shape() == shape{2, 3, 3}));
    EXPECT((x.sum({0}).shape() == shape{3}) && (x.mean({0, 1}, true).shape() == shape{1, 1}));
    EXPECT(x.prod().item<float>() == 1 && x.min().item<float>() == 1);
    EXPECT(eye<double>(3).sum().item<double>() == 3 && full<float>({2}, 4).sum().item<float>() == 8);
    EXPECT(linspace<double>(0, 1, 5).at<double>(1) == 0.25);
    EXPECT((uniform<float>({9}, 2, 3, 1) >= 2).all().item<int>() == 1);
    EXPECT((from(std::vector<std::complex<float>>{{1, 2}}).imag().at<float>(0) == 2));
    EXPECT(x.to<std::int8_t>().dtype() == TSR_I8 && x.to(TSR_BF16).to<float>().dtype() == TSR_F32);
    EXPECT(x.to_device("cpu").device() == TSR_CPU && x.to_device(TSR_CPU).size() == 6);
    EXPECT(fails([&] { (void)x.to_device("nowhere"); }, TSR_EDEVICE, "nowhere"));
}

TEST(test_cpp_memory_of_others)
{
    float samples[4] = {1, 2, 3, 4};
    const float *constant = samples;
    const tensor t = wrap(samples, {2, 2}), fixed = wrap(constant, {4});
    t(0, 0).fill(9);
    EXPECT(samples[0] == 9 && t.data<float>() == samples);
    EXPECT(fails([&] { fixed.fill(1); }, TSR_EREADONLY, "fill"));
    std::ostringstream out;
    out << t;
    EXPECT(out.str() == "f32(2, 2 | 2, 1)\n[[9. 2.]\n [3. 4.]]");
}

static bool refuse(void *, std::size_t) { return false; }

TEST(test_cpp_failures_throw_and_leak_nothing)
{
    tensor x = ones<float>({100, 100});
    tsr_set_alloc_hook(refuse, nullptr);
    const bool thrown = fails([&] { x = x * 2 + 1; }, TSR_ENOMEM, "");
    tsr_set_alloc_hook(nullptr, nullptr);
    EXPECT(thrown && x.at<float>(99, 99) == 1);
    EXPECT(fails([] { (void)load("/nowhere/x.npy"); }, TSR_EIO, "nowhere"));
    EXPECT(fails([] { (void)(tensor() + 1); }, TSR_ENULL, "add"));
    EXPECT(fails([] { (void)tensor().data<float>(); }, TSR_EDTYPE, ""));
}
