/* test_renaissance_program.cpp - a program as its users write them: a small network is trained on the
 * CPU backend, saved, loaded, checked on the CUDA backend, and beside it an image is taken through
 * convolutions and pools. Its numbers are checked. */
#define TEST_OWN_MAIN
#include "renaissance_test.hpp"

using namespace tr;

/* A network of two layers: x -> tanh(x W1 + b1) W2 + b2 -> softmax. Buffers are made once, and the
 * _into forms write into them. */
class Mlp {
public:
    Mlp(int batch, int inputs, int hidden, int classes)
        : cpu_(BackendManager::get_cpu_backend()), classes_(classes)
    {
        w1_ = cpu_->mul(cpu_->randn(Shape(inputs, hidden), 1), 0.5f);
        w2_ = cpu_->mul(cpu_->randn(Shape(hidden, classes), 2), 0.5f);
        b1_ = cpu_->zeros(Shape(1, hidden), DType::FP32);
        b2_ = cpu_->zeros(Shape(1, classes), DType::FP32);
        hidden_ = cpu_->empty(Shape(batch, hidden), DType::FP32);
        active_ = cpu_->empty(Shape(batch, hidden), DType::FP32);
        slope_ = cpu_->empty(Shape(batch, hidden), DType::FP32);
        back_ = cpu_->empty(Shape(batch, hidden), DType::FP32);
        logits_ = cpu_->empty(Shape(batch, classes), DType::FP32);
        probs_ = cpu_->empty(Shape(batch, classes), DType::FP32);
        error_ = cpu_->empty(Shape(batch, classes), DType::FP32);
        dw1_ = cpu_->zeros_like(w1_);
        dw2_ = cpu_->zeros_like(w2_);
        db1_ = cpu_->zeros_like(b1_);
        db2_ = cpu_->zeros_like(b2_);
    }

    const Tensor &forward(const Tensor &x)
    {
        cpu_->mm_into(x, w1_, hidden_);
        cpu_->add_broadcast_into(hidden_, b1_, hidden_);
        cpu_->tanh_into(hidden_, active_);
        cpu_->mm_into(active_, w2_, logits_);
        cpu_->add_broadcast_into(logits_, b2_, logits_);
        cpu_->softmax_into(logits_, probs_, 1);
        return probs_;
    }

    float loss(const Tensor &x, const Tensor &target)
    {
        return cpu_->crossentropy(forward(x), target, "mean");
    }

    /* After forward. */
    void backward(const Tensor &x, const Tensor &target)
    {
        cpu_->minus_into(probs_, target, error_);
        cpu_->mul_inplace(error_, 1.0f / static_cast<float>(x.dim_size(0)));
        cpu_->mm_into_transposed(active_, error_, dw2_, true, false);
        cpu_->sum_into(error_, db2_, 0, true);
        cpu_->mm_into_transposed(error_, w2_, back_, false, true);
        cpu_->dtanh_into(hidden_, slope_);
        cpu_->mul_into(back_, slope_, back_);
        cpu_->mm_into_transposed(x, back_, dw1_, true, false);
        cpu_->sum_into(back_, db1_, 0, true);
    }

    void step(float rate)
    {
        descend(w1_, dw1_, rate);
        descend(w2_, dw2_, rate);
        descend(b1_, db1_, rate);
        descend(b2_, db2_, rate);
    }

    float accuracy(const Tensor &x, const Tensor &labels)
    {
        const Tensor right = cpu_->eq(cpu_->argmax(forward(x), 1), labels);
        return cpu_->sum(cpu_->cast(right, DType::FP32), 0).item<float>() / static_cast<float>(right.numel());
    }

    std::vector<Tensor *> parameters() { return {&w1_, &b1_, &w2_, &b2_}; }
    const Tensor &gradient_of_w1() const { return dw1_; }
    const Tensor &logits() const { return logits_; }
    int classes() const { return classes_; }

private:
    void descend(Tensor &w, Tensor &gradient, float rate)
    {
        cpu_->mul_inplace(gradient, rate);
        cpu_->minus_into(w, gradient, w);
    }

    std::shared_ptr<CpuBackend> cpu_;
    int classes_;
    Tensor w1_, w2_, b1_, b2_, hidden_, active_, slope_, back_, logits_, probs_, error_, dw1_, dw2_, db1_,
        db2_;
};

struct Data {
    Tensor x, labels, target;
};

/* Points on three rings around the origin; the ring is the class. */
static Data rings(int count, unsigned int seed)
{
    auto cpu = BackendManager::get_cpu_backend();
    Data d;
    d.x = cpu->empty(Shape(count, 3), DType::FP32);
    d.labels = cpu->randint(Shape(count), 0, 3, DType::INT32, seed);
    const Tensor angles = cpu->uniform(Shape(count), 0.0f, 6.2831853f, seed + 1);
    const Tensor noise = cpu->mul(cpu->randn(Shape(count), seed + 2), 0.05f);
    for (int i = 0; i < count; ++i) {
        const float radius =
            0.5f + static_cast<float>(cpu->get_item_int32(d.labels, i)) + cpu->get_item_fp32(noise, i);
        const float angle = cpu->get_item_fp32(angles, i);
        cpu->set_item_fp32(d.x, 3 * i, radius * std::cos(angle));
        cpu->set_item_fp32(d.x, 3 * i + 1, radius * std::sin(angle));
        cpu->set_item_fp32(d.x, 3 * i + 2, radius * radius);
    }
    d.target = cpu->one_hot(d.labels, 3);
    return d;
}

static void test_gradients_are_slopes_of_the_loss(void)
{
    auto cpu = BackendManager::get_cpu_backend();
    const Data d = rings(32, 11);
    Mlp net(32, 3, 8, 3);
    net.loss(d.x, d.target);
    net.backward(d.x, d.target);
    const Tensor gradient = cpu->copy(net.gradient_of_w1());
    Tensor &w = *net.parameters()[0];
    for (const int64_t i : {0, 5, 13, 23}) {
        const float old = cpu->get_item_fp32(w, i), h = 1e-2f;
        cpu->set_item_fp32(w, i, old + h);
        const float up = net.loss(d.x, d.target);
        cpu->set_item_fp32(w, i, old - h);
        const float down = net.loss(d.x, d.target);
        cpu->set_item_fp32(w, i, old);
        const float slope = (up - down) / (2 * h), found = cpu->get_item_fp32(gradient, i);
        EXPECT_MSG(std::fabs(slope - found) < 1e-3f + 0.02f * std::fabs(slope), "%lld: slope %g, gradient %g",
                   static_cast<long long>(i), slope, found);
    }
}

static float train(Mlp &net, const Data &d, int epochs)
{
    for (int epoch = 0; epoch < epochs; ++epoch) {
        net.forward(d.x);
        net.backward(d.x, d.target);
        net.step(0.5f);
    }
    return net.loss(d.x, d.target);
}

static std::string file_of(size_t i) { return "/tmp/tessera-test-renaissance-" + std::to_string(i) + ".tsr"; }

static void test_training_learns_and_is_saved(void)
{
    auto cpu = BackendManager::get_cpu_backend();
    const Data d = rings(256, 21), unseen = rings(256, 99);
    Mlp net(256, 3, 16, 3), loaded(256, 3, 16, 3);
    const float before = net.loss(d.x, d.target), after = train(net, d, 400);
    EXPECT_MSG(before > 0.6f && after < 0.1f, "loss %g, then %g", before, after);
    EXPECT(net.accuracy(unseen.x, unseen.labels) > 0.97f);

    for (size_t i = 0; i < net.parameters().size(); ++i) EXPORT_TENSOR(*net.parameters()[i], file_of(i));
    for (size_t i = 0; i < net.parameters().size(); ++i) {
        *loaded.parameters()[i] = IMPORT_TENSOR(file_of(i));
        EXPECT(std::remove(file_of(i).c_str()) == 0);
    }
    EXPECT(cpu->is_close(loaded.forward(unseen.x), net.forward(unseen.x), 0.0f));
}

static void test_training_gives_the_same_numbers_again(void)
{
    auto cpu = BackendManager::get_cpu_backend();
    const Data d = rings(64, 5);
    Mlp first(64, 3, 16, 3), second(64, 3, 16, 3);
    EXPECT(train(first, d, 20) == train(second, d, 20));
    EXPECT(cpu->get_mean_abs_err(first.forward(d.x), second.forward(d.x)) == 0.0);
}

/* The first layers again on the other backend, with matrices in columns. */
static void test_cuda_agrees_with_the_trained_network(void)
{
    NEED_CUDA();
    auto cpu = BackendManager::get_cpu_backend();
    auto cuda = BackendManager::get_cuda_backend();
    const Data d = rings(256, 21);
    Mlp net(256, 3, 16, 3);
    train(net, d, 50);
    net.forward(d.x);

    std::vector<Tensor> p;
    for (const Tensor *t : net.parameters()) p.push_back(cuda->from_cpu(*t));
    const Tensor x = cuda->from_cpu(d.x);
    Tensor hidden = cuda->empty(Shape(256, 16), DType::FP32),
           logits = cuda->empty(Shape(256, 3), DType::FP32);
    cuda->mm_into(x, p[0], hidden);
    cuda->add_broadcast_into(hidden, p[1], hidden);
    cuda->tanh_inplace(hidden);
    cuda->mm_into(hidden, p[2], logits);
    cuda->add_broadcast_into(logits, p[3], logits);
    cuda->synchronize();
    const Tensor back = cuda->to_cpu(logits);
    EXPECT(cpu->is_close(back, net.logits(), 1e-5f));
    EXPECT(cpu->get_mean_rel_err(net.logits(), back) < 1e-5);
}

/* Edges of a square in an image, pooled down. */
static void test_an_image_goes_through_convolutions_and_pools(void)
{
    auto cpu = BackendManager::get_cpu_backend();
    Tensor image = cpu->zeros(Shape(1, 1, 8, 8), DType::FP32);
    for (int i = 2; i < 6; ++i)
        for (int j = 2; j < 6; ++j) cpu->set_item_fp32(image, 8 * i + j, 1.0f);
    const Tensor sobel =
        tensor_of(Shape(2, 1, 3, 3), {-1, 0, 1, -2, 0, 2, -1, 0, 1, -1, -2, -1, 0, 0, 0, 1, 2, 1});

    const Tensor edges = cpu->conv(image, sobel, 1, 1);
    EXPECT(edges.shape() == Shape(1, 2, 8, 8));
    EXPECT(cpu->get_item_fp32(edges, 8 * 4 + 1) == 4.0f && cpu->get_item_fp32(edges, 8 * 4 + 6) == -4.0f);
    EXPECT(cpu->get_item_fp32(edges, 64 + 8 * 1 + 4) == 4.0f && cpu->get_item_fp32(edges, 8 * 4 + 3) == 0.0f);

    const Tensor pooled = cpu->max_pool(cpu->relu(edges));
    EXPECT(pooled.shape() == Shape(1, 2, 4, 4));
    const Tensor corner = cpu->slice(pooled, Offset(0, 1, 0, 2, 0, 2));
    EXPECT(near(corner, Shape(1, 1, 2, 2), {1, 1, 4, 4}));
    const Tensor mean = cpu->global_avg_pool(pooled);
    EXPECT(mean.shape() == Shape(1, 2, 1, 1) && cpu->get_item_fp32(mean, 0) == cpu->get_item_fp32(mean, 1));
    const Tensor larger = cpu->transposed_conv(pooled, cpu->ones(Shape(1, 2, 2, 2), DType::FP32), 2, 0);
    EXPECT(larger.shape() == Shape(1, 1, 8, 8));
    EXPECT(std::fabs(cpu->sum(cpu->reshape(larger, Shape(64)), 0).item<float>() -
                     4 * cpu->sum(cpu->reshape(pooled, Shape(32)), 0).item<float>()) < 1e-4f);
}

int main(int argc, char **argv)
{
    Logger::get_instance().set_quiet_mode(true);
    Profiler profiler;
    profiler.start();
    BackendManager::instance();
    TEST_BEGIN(argc, argv);
    RUN(test_gradients_are_slopes_of_the_loss);
    RUN(test_training_learns_and_is_saved);
    RUN(test_training_gives_the_same_numbers_again);
    RUN(test_cuda_agrees_with_the_trained_network);
    RUN(test_an_image_goes_through_convolutions_and_pools);
    profiler.stop();
    std::cout << std::fixed << std::setprecision(1) << profiler.total_time() << " ms" << std::endl;
    return TEST_END();
}
