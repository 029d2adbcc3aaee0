/* test_renaissance_nn.cpp - pools, convolutions, losses and dropout of the CPU backend. */
#include "renaissance_test.hpp"

using namespace tr;

static std::shared_ptr<CpuBackend> cpu() { return BackendManager::get_cpu_backend(); }

/* Convolutions, one product at a time. w is (c_out, c_in, k, k) in both. */
struct Sizes {
    int n, c, h, w, o, k, stride, padding;
};

static std::vector<float> slow_conv(const std::vector<float> &x, const std::vector<float> &w, const Sizes &s)
{
    const int oh = (s.h + 2 * s.padding - s.k) / s.stride + 1,
              ow = (s.w + 2 * s.padding - s.k) / s.stride + 1;
    std::vector<double> y(static_cast<size_t>(s.n * s.o * oh * ow));
    for (int n = 0; n < s.n; ++n)
        for (int o = 0; o < s.o; ++o)
            for (int p = 0; p < oh * ow; ++p)
                for (int c = 0; c < s.c; ++c)
                    for (int t = 0; t < s.k * s.k; ++t) {
                        const int i = p / ow * s.stride - s.padding + t / s.k;
                        const int j = p % ow * s.stride - s.padding + t % s.k;
                        if (i < 0 || j < 0 || i >= s.h || j >= s.w) continue;
                        y[(n * s.o + o) * oh * ow + p] +=
                            double{x[((n * s.c + c) * s.h + i) * s.w + j]} * w[(o * s.c + c) * s.k * s.k + t];
                    }
    return std::vector<float>(y.begin(), y.end());
}

static std::vector<float> slow_transposed(const std::vector<float> &x, const std::vector<float> &w,
                                          const Sizes &s)
{
    const int oh = (s.h - 1) * s.stride + s.k - 2 * s.padding,
              ow = (s.w - 1) * s.stride + s.k - 2 * s.padding;
    std::vector<double> y(static_cast<size_t>(s.n * s.o * oh * ow));
    for (int n = 0; n < s.n; ++n)
        for (int o = 0; o < s.o; ++o)
            for (int c = 0; c < s.c; ++c)
                for (int p = 0; p < s.h * s.w; ++p)
                    for (int t = 0; t < s.k * s.k; ++t) {
                        const int i = p / s.w * s.stride - s.padding + t / s.k;
                        const int j = p % s.w * s.stride - s.padding + t % s.k;
                        if (i < 0 || j < 0 || i >= oh || j >= ow) continue;
                        y[((n * s.o + o) * oh + i) * ow + j] +=
                            double{x[(n * s.c + c) * s.h * s.w + p]} * w[(o * s.c + c) * s.k * s.k + t];
                    }
    return std::vector<float>(y.begin(), y.end());
}

static const Sizes cases[] = {{2, 3, 9, 9, 4, 3, 1, 0}, {2, 3, 9, 9, 4, 3, 1, 1}, {2, 3, 9, 8, 4, 3, 2, 1},
                              {1, 2, 5, 6, 3, 1, 1, 0}, {1, 2, 5, 6, 3, 1, 2, 0}, {2, 3, 9, 9, 1, 7, 2, 3}};

static Shape result_shape(const Sizes &s, bool transposed)
{
    const auto size = [&](int in) {
        return transposed ? (in - 1) * s.stride + s.k - 2 * s.padding
                          : (in + 2 * s.padding - s.k) / s.stride + 1;
    };
    return Shape(s.n, s.o, size(s.h), size(s.w));
}

TEST(test_convolutions_match_single_products)
{
    for (const Sizes &s : cases) {
        const std::vector<float> x = random_values(s.n * s.c * s.h * s.w, 1);
        const std::vector<float> w = random_values(s.o * s.c * s.k * s.k, 2);
        const Tensor input = tensor_of(Shape(s.n, s.c, s.h, s.w), x),
                     kernel = tensor_of(Shape(s.o, s.c, s.k, s.k), w);
        const Shape forward = result_shape(s, false), backward = result_shape(s, true);
        Tensor y = Tensor::ones(forward), z = Tensor::ones(backward);
        EXPECT(near(cpu()->conv(input, kernel, s.stride, s.padding), forward, slow_conv(x, w, s), 1e-5f));
        EXPECT(near(cpu()->transposed_conv(input, kernel, s.stride, s.padding), backward,
                    slow_transposed(x, w, s), 1e-5f));
        cpu()->conv_into(input, kernel, y, s.stride, s.padding);
        cpu()->transposed_conv_into(input, kernel, z, s.stride, s.padding);
        EXPECT(near(y, forward, slow_conv(x, w, s), 1e-5f));
        EXPECT(near(z, backward, slow_transposed(x, w, s), 1e-5f));
    }
}

TEST(test_convolutions_of_fewer_dims_give_four)
{
    const std::vector<float> x = counting(16), ones(9, 1.0f);
    const Tensor kernel = tensor_of(Shape(1, 1, 3, 3), ones);
    EXPECT(near(cpu()->conv(tensor_of(Shape(4, 4), x), kernel), Shape(1, 1, 2, 2), {54, 63, 90, 99}));
    EXPECT(near(cpu()->conv(tensor_of(Shape(1, 4, 4), x), kernel), Shape(1, 1, 2, 2), {54, 63, 90, 99}));
    const Tensor small = tensor_of(Shape(2, 2), {1, 2, 3, 4});
    EXPECT(near(cpu()->transposed_conv(small, kernel), Shape(1, 1, 4, 4),
                {1, 3, 3, 2, 4, 10, 10, 6, 4, 10, 10, 6, 3, 7, 7, 4}));
    EXPECT(cpu()->transposed_conv(small, kernel, 2).shape() == Shape(1, 1, 5, 5));
    const Tensor two = cpu()->conv(tensor_of(Shape(3, 3), ones), Tensor::ones(Shape(2, 1, 3, 3)));
    EXPECT(near(two, Shape(1, 2, 1, 1), {9, 9}));
}

TEST(test_convolutions_refuse_what_does_not_fit)
{
    const Tensor x = Tensor::ones(Shape(4, 4)), k = Tensor::ones(Shape(1, 1, 3, 3)), none(Shape(4, 4));
    Tensor wrong = Tensor::ones(Shape(1, 1, 3, 3)), unset(Shape(1, 1, 2, 2)),
           whole(Shape(1, 1, 2, 2), DType::INT32);
    EXPECT_REFUSED(cpu()->conv(x, Tensor::ones(Shape(3, 3))),
                   "[CPU Conv] Kernel tensor must be 4-dimensional");
    EXPECT_REFUSED(cpu()->conv(x, Tensor::ones(Shape(1, 1, 3, 2))), "Only supports square kernels (H=W)");
    EXPECT_REFUSED(cpu()->conv(x, k, 3), "[CPU Conv] Only supports stride 1 or 2");
    EXPECT_REFUSED(cpu()->conv(x, k, 0), "Stride must be positive");
    EXPECT_REFUSED(cpu()->transposed_conv(x, k, 1, -1), "[CPU TransposedConv] Padding must be non-negative");
    EXPECT_REFUSED(cpu()->conv(x, Tensor::ones(Shape(1, 2, 3, 3))),
                   "Input channels (1) do not match kernel's input "
                   "channels (2)");
    EXPECT_REFUSED(cpu()->conv(x, Tensor::ones(Shape(1, 1, 5, 5)), 2),
                   "Invalid output shape due to parameters");
    EXPECT_REFUSED(cpu()->transposed_conv(x, k, 1, 3), "Invalid output shape due to parameters");
    EXPECT_REFUSED(cpu()->conv(x, k, 1, INT32_MAX), "Invalid output shape");
    EXPECT_REFUSED(cpu()->conv(Tensor::ones(Shape(4)), k), "Tensor must have at least 2 dimensions");
    EXPECT_REFUSED(cpu()->conv(none, k), "Tensor storage not allocated");
    EXPECT_REFUSED(cpu()->conv(Tensor::ones(Shape(4, 4), DType::INT8), k), "Only supports FP32 tensor");
    EXPECT_REFUSED(cpu()->conv_into(x, k, wrong),
                   "Result shape mismatch. expected: (1,1,2,2), actual: (1,1,3,3)");
    EXPECT_REFUSED(cpu()->conv_into(x, k, unset), "Result tensor storage not allocated");
    EXPECT_REFUSED(cpu()->transposed_conv_into(x, k, whole), "Result tensor storage not allocated");
    EXPECT_REFUSED(cpu()->conv(Tensor(Shape(4, 4), DType::FP32, tr::CUDA[0]), k), "Device must be CPU");
}

TEST(test_pools_of_two_to_four_dims)
{
    const std::vector<float> x = counting(16);
    Tensor r = Tensor::zeros(Shape(2, 2)), mean = Tensor::zeros(Shape(1, 1));
    EXPECT(near(cpu()->max_pool(tensor_of(Shape(4, 4), x)), Shape(2, 2), {6, 8, 14, 16}));
    EXPECT(near(cpu()->max_pool(tensor_of(Shape(1, 4, 4), x), 3, 1), Shape(1, 2, 2), {11, 12, 15, 16}));
    EXPECT(near(cpu()->max_pool(tensor_of(Shape(2, 2, 2, 2), x)), Shape(2, 2, 1, 1), {4, 8, 12, 16}));
    EXPECT(near(cpu()->max_pool(tensor_of(Shape(2, 8), x), 2, 2), Shape(1, 4), {10, 12, 14, 16}));
    cpu()->max_pool_into(tensor_of(Shape(4, 4), x), r);
    EXPECT(near(r, Shape(2, 2), {6, 8, 14, 16}));
    EXPECT(near(cpu()->global_avg_pool(tensor_of(Shape(4, 4), x)), Shape(1, 1), {8.5f}));
    EXPECT(near(cpu()->global_avg_pool(tensor_of(Shape(2, 2, 4), x)), Shape(2, 1, 1), {4.5f, 12.5f}));
    EXPECT(near(cpu()->global_avg_pool(tensor_of(Shape(2, 2, 2, 2), x)), Shape(2, 2, 1, 1),
                {2.5f, 6.5f, 10.5f, 14.5f}));
    cpu()->global_avg_pool_into(tensor_of(Shape(4, 4), x), mean);
    EXPECT(near(mean, Shape(1, 1), {8.5f}));
}

TEST(test_pools_refuse_what_does_not_fit)
{
    const Tensor x = Tensor::ones(Shape(4, 4));
    Tensor wrong = Tensor::ones(Shape(3, 3)), unset(Shape(2, 2)),
           whole = Tensor::ones(Shape(2, 2), DType::INT32);
    EXPECT_REFUSED(cpu()->max_pool(x, 0), "[CPU MaxPool] Kernel size must be positive");
    EXPECT_REFUSED(cpu()->max_pool(x, 2, 3), "[CPU MaxPool] Only supports stride 1 or 2");
    EXPECT_REFUSED(cpu()->max_pool(x, 2, -1), "Stride must be positive");
    EXPECT_REFUSED(cpu()->max_pool(x, 5), "Kernel size is too large for input tensor");
    EXPECT_REFUSED(cpu()->max_pool(Tensor::ones(Shape(4))), "Tensor must have at least 2 dimensions");
    EXPECT_REFUSED(cpu()->max_pool(Tensor(Shape(4, 4))), "Tensor storage not allocated");
    EXPECT_REFUSED(cpu()->max_pool_into(x, wrong), "[CPU MaxPool] Result shape mismatch. expected: (2,2)");
    EXPECT_REFUSED(cpu()->max_pool_into(x, unset), "Result tensor storage not allocated");
    EXPECT_REFUSED(cpu()->max_pool_into(x, whole), "Result tensor must be FP32 type");
    EXPECT_REFUSED(cpu()->global_avg_pool(Tensor::ones(Shape(4, 4), DType::INT8)),
                   "[CPU GlobalAvgPool] Only supports");
    EXPECT_REFUSED(cpu()->global_avg_pool_into(x, wrong), "[CPU GlobalAvgPool] Result shape mismatch");
}

TEST(test_losses)
{
    const Tensor pred = tensor_of(Shape(2, 2), {0.25f, 0.75f, 0.5f, 0.0f}),
                 label = tensor_of(Shape(2, 2), {0, 1, 0.5f, 0.5f});
    const float sum = -std::log(0.75f) - 0.5f * std::log(0.5f) - 0.5f * std::log(1e-12f);
    EXPECT(std::fabs(cpu()->crossentropy(pred, label, "sum") - sum) < 1e-5f);
    EXPECT(std::fabs(cpu()->crossentropy(pred, label) - sum / 2) < 1e-5f);
    EXPECT(std::fabs(cpu()->mse(pred, label) - (0.0625f * 2 + 0.25f) / 4) < 1e-6f);
    EXPECT(std::fabs(cpu()->mse(pred, label, "sum") - (0.0625f * 2 + 0.25f) / 2) < 1e-6f);
    const Tensor goal = tensor_of(Shape(3), {1, 0, 0.5f}), p = tensor_of(Shape(3), {0.8f, 0.3f, 0.5f});
    const std::vector<float> bce = {-std::log(0.8f), -std::log(0.7f), -std::log(0.5f)};
    Tensor r = Tensor::zeros(Shape(3));
    EXPECT(near(cpu()->bce(goal, p), Shape(3), bce));
    cpu()->bce_into(goal, p, r);
    EXPECT(near(r, Shape(3), bce));
    const Tensor wide = Tensor::ones(Shape(2, 3));
    EXPECT_THROWS(TypeError, cpu()->crossentropy(Tensor::ones(Shape(2, 2), DType::INT32), label),
                  "requires FP32");
    EXPECT_THROWS(ShapeError, cpu()->crossentropy(goal, p),
                  "requires 2D input tensors, got 1D and 1D tensors");
    EXPECT_THROWS(ShapeError, cpu()->crossentropy(pred, wide),
                  "shape (2,2) doesn't match label tensor shape (2,3)");
    EXPECT_THROWS(ShapeError, cpu()->mse(pred, wide), "doesn't match target tensor shape");
    EXPECT_REFUSED(cpu()->mse(pred, Tensor(Shape(2, 2))), "no allocated Storage");
    EXPECT_REFUSED(cpu()->bce(goal, pred),
                   "[CpuBackend::bce] Shape mismatch: goal shape (3) != pred shape (2,2)");
    EXPECT_REFUSED(cpu()->bce_into(goal, p, *std::make_unique<Tensor>(Shape(3))),
                   "Result tensor has no allocated");
}

TEST(test_one_hot_rows)
{
    const Tensor label = integers_of<int32_t>(Shape(2), {2, 0});
    Tensor r = Tensor::ones(Shape(2, 4)), wrong = Tensor::ones(Shape(2, 3));
    EXPECT(near(cpu()->one_hot(label, 3), Shape(2, 3), {0, 0, 1, 1, 0, 0}));
    EXPECT(near(cpu()->one_hot(label, 4, 0.2f), Shape(2, 4),
                {0.05f, 0.05f, 0.85f, 0.05f, 0.85f, 0.05f, 0.05f, 0.05f}));
    cpu()->one_hot_into(label, r, 4);
    EXPECT(near(r, Shape(2, 4), {0, 0, 1, 0, 1, 0, 0, 0}));
    EXPECT_THROWS(IndexError, cpu()->one_hot(label, 2), "Label value 2 at position 0 is out of range [0, 1]");
    EXPECT_THROWS(ValueError, cpu()->one_hot(label, 0), "num_classes must be positive, got 0");
    EXPECT_THROWS(ValueError, cpu()->one_hot(label, 3, 1.0f), "label_smoothing must be in [0, 1)");
    EXPECT_THROWS(TypeError, cpu()->one_hot(Tensor::ones(Shape(2)), 3), "requires INT32 input tensor");
    EXPECT_THROWS(ShapeError, cpu()->one_hot(integers_of<int32_t>(Shape(1, 2), {0, 1}), 3), "requires 1D");
    EXPECT_THROWS(ShapeError, cpu()->one_hot_into(label, wrong, 4), "Result tensor number of classes (3)");
}

TEST(test_dropout_keeps_the_mean)
{
    const Tensor x = Tensor::full(Shape(10000), 2.0f);
    Tensor mask = Tensor::zeros(Shape(10000)), y = Tensor::zeros(Shape(10000)),
           g = Tensor::zeros(Shape(10000));
    cpu()->dropout_into(x, mask, y, 0.5f);
    double sum = 0;
    bool right = true;
    const std::vector<float> m = floats_of(mask), v = floats_of(y);
    for (size_t i = 0; i < m.size(); ++i) {
        right = right && v[i] == m[i] * 4.0f;
        sum += v[i];
    }
    EXPECT(right && std::fabs(sum / 10000 - 2) < 0.1);
    cpu()->ddropout_into(x, mask, g, 0.5f);
    EXPECT(floats_of(g) == v);
    cpu()->dropout_into(x, mask, y, 1.0f);
    EXPECT(near(y, Shape(10000), std::vector<float>(10000, 0.0f)));
    EXPECT_THROWS(ValueError, cpu()->dropout_into(x, mask, y, 1.5f), "must be between 0.0 and 1.0, got: 1.5");
    Tensor wrong = Tensor::zeros(Shape(3)), whole = Tensor::zeros(Shape(10000), DType::INT32),
           none(Shape(10000));
    EXPECT_THROWS(ShapeError, cpu()->dropout_into(x, wrong, y, 0.5f), "must have the same shape");
    EXPECT_THROWS(TypeError, cpu()->dropout_into(x, whole, y, 0.5f), "Mask tensor must be FP32 type");
    EXPECT_THROWS(ShapeError, cpu()->ddropout_into(x, none, y, 0.5f), "Mask tensor is empty");
}

TEST_BEFORE
{
    Logger::get_instance().set_quiet_mode(true);
    BackendManager::instance();
}
