/* test_renaissance_train.cpp - training through the face: steps of optimizers against the chains of ops that
 * Tech Renaissance makes of them, and a perceptron against plain loops in doubles. */
#include "../../bench/faces/mlp.hpp"
#include "renaissance_test.hpp"

using namespace tr;
using Doubles = std::vector<double>;

static std::shared_ptr<CpuBackend> cpu() { return BackendManager::get_cpu_backend(); }

/* Steps against chains --------------------------------------------------------------------- */

/* What a step reads and writes; the second moments are not negative. */
struct State {
    Tensor param, grad, m, v;

    State(Backend &b, const Shape &shape, unsigned int seed)
        : param(b.from_cpu(cpu()->randn(shape, seed))), grad(b.from_cpu(cpu()->randn(shape, seed + 1))),
          m(b.from_cpu(cpu()->randn(shape, seed + 2))), v(b.from_cpu(cpu()->uniform(shape, 0, 2, seed + 3)))
    {
    }
};

static bool same(const Tensor &a, const Tensor &b) { return floats_of(a) == floats_of(b); }
static bool same(const State &a, const State &b)
{
    return same(a.param, b.param) && same(a.m, b.m) && same(a.v, b.v);
}

/* As the system's SGD writes it. */
static void sgd_chain(Backend &b, State &s, float lr, float momentum, float decay)
{
    Tensor change = b.empty(s.param.shape(), DType::FP32);
    if (decay > 0) b.mul_inplace(s.param, 1.0f - lr * decay);
    b.mul_into(s.m, momentum, s.m);
    b.add_into(s.m, s.grad, s.m);
    b.mul_into(s.m, lr, change);
    b.minus_into(s.param, change, s.param);
}

/* As the system's Adam and AdamW write it. */
static void adam_chain(Backend &b, State &s, int step, const AdamSettings &n)
{
    Tensor g = b.copy(s.grad), change = b.empty(s.param.shape(), DType::FP32);
    if (!n.decoupled && n.weight_decay > 0) {
        b.mul_into(s.param, n.weight_decay, g);
        b.add_into(g, s.grad, g);
    }
    b.mul_into(g, 1.0f - n.beta1, change);
    b.mul_inplace(s.m, n.beta1);
    b.add_into(s.m, change, s.m);
    b.mul_into(s.m, n.lr / (1.0f - std::pow(n.beta1, static_cast<float>(step))), change);
    b.square_inplace(g);
    b.mul_inplace(g, 1.0f - n.beta2);
    b.mul_inplace(s.v, n.beta2);
    b.add_into(s.v, g, s.v);
    b.mul_into(s.v, 1.0f / (1.0f - std::pow(n.beta2, static_cast<float>(step))), g);
    if (n.decoupled && n.weight_decay > 0) b.mul_inplace(s.param, 1.0f - n.lr * n.weight_decay);
    b.sqrt_inplace(g);
    b.add_inplace(g, n.eps);
    b.div_into(change, g, change);
    b.minus_into(s.param, change, s.param);
}

static const Shape SHAPES[] = {Shape(), Shape(7), Shape(3, 5), Shape(2, 3, 4, 5), Shape(300, 251)};

static void check_steps(DeviceBackend &b)
{
    AdamSettings plain, added, decoupled;
    added.weight_decay = decoupled.weight_decay = 0.1f;
    added.beta1 = 0.5f;
    decoupled.decoupled = true;
    for (const Shape &shape : SHAPES) {
        for (const float decay : {0.0f, 0.2f}) {
            State a(b, shape, 1), c(b, shape, 1);
            b.sgd_step(a.param, a.grad, a.m, 0.1f, 0.9f, decay);
            sgd_chain(b, c, 0.1f, 0.9f, decay);
            EXPECT_MSG(same(a, c), "SGD of %s, decay %g", shape.to_string().c_str(), decay);
        }
        for (const AdamSettings &n : {plain, added, decoupled})
            for (const int step : {1, 2, 1000}) {
                State a(b, shape, 5), c(b, shape, 5);
                b.adam_step(a.param, a.grad, a.m, a.v, step, n);
                adam_chain(b, c, step, n);
                EXPECT_MSG(same(a, c), "Adam of %s, step %d, decay %g", shape.to_string().c_str(), step,
                           n.weight_decay);
            }
    }
}

TEST(test_steps_round_as_the_chains_of_ops_do) { check_steps(*cpu()); }

TEST(test_steps_on_the_other_backend)
{
    NEED_CUDA();
    check_steps(*BackendManager::get_cuda_backend());
}

TEST(test_steps_of_tensors_that_do_not_fit_are_refused)
{
    State s(*cpu(), Shape(3, 4), 1);
    Tensor other = cpu()->zeros(Shape(4, 3), DType::FP32), none;
    Tensor whole = cpu()->zeros(Shape(3, 4), DType::INT32);
    const AdamSettings n;
    EXPECT_REFUSED((cpu()->sgd_step(s.param, other, s.m, 0.1f, 0.9f), 0), "Tensor shape mismatch");
    EXPECT_REFUSED((cpu()->sgd_step(s.param, s.grad, whole, 0.1f, 0.9f), 0),
                   "[CpuBackend::sgd_step] Only FP32");
    EXPECT_REFUSED((cpu()->sgd_step(none, s.grad, s.m, 0.1f, 0.9f), 0), "no allocated Storage");
    EXPECT_REFUSED((cpu()->adam_step(s.param, s.grad, s.m, other, 1, n), 0), "Tensor shape mismatch");
    EXPECT_REFUSED((cpu()->adam_step(s.param, s.grad, s.m, s.v, 0, n), 0), "counted from 1, got: 0");
}

/* A perceptron against plain loops ----------------------------------------------------------- */

enum { BATCH = 6 };
static const std::vector<int> SIZES = {9, 7, 5, 4};

/* The same network in doubles: one array of weights for each layer. */
struct Reference {
    mlp::Optimizer optimizer;
    std::vector<Doubles> w, m, v;
    int steps = 0;

    /* inputs (BATCH, 9), classes of the samples; returns the mean loss. */
    double train(const Doubles &input, const std::vector<int32_t> &labels)
    {
        std::vector<Doubles> active = {input}, grad(w.size());
        for (size_t i = 0; i < w.size(); ++i) active.push_back(layer(active[i], i));
        Doubles back = active.back();
        const double loss = cross_entropy(back, labels);
        for (size_t i = w.size(); i-- > 0;) {
            grad[i] = weights_gradient(back, active[i], i);
            if (i > 0) back = input_gradient(back, active[i], i);
        }
        ++steps;
        for (size_t i = 0; i < w.size(); ++i)
            for (size_t j = 0; j < w[i].size(); ++j) update(w[i][j], grad[i][j], m[i][j], v[i][j]);
        return loss;
    }

private:
    Doubles layer(const Doubles &x, size_t i) const
    {
        const int in = SIZES[i], out = SIZES[i + 1];
        Doubles y(static_cast<size_t>(BATCH * out), 0);
        for (int b = 0; b < BATCH; ++b)
            for (int o = 0; o < out; ++o) {
                double &sum = y[static_cast<size_t>(b * out + o)];
                for (int k = 0; k < in; ++k)
                    sum += x[static_cast<size_t>(b * in + k)] * w[i][static_cast<size_t>(o * in + k)];
                if (i + 1 < w.size()) sum = std::tanh(sum);
            }
        return y;
    }

    /* Makes of logits their gradient. */
    static double cross_entropy(Doubles &x, const std::vector<int32_t> &labels)
    {
        const int classes = SIZES.back();
        double loss = 0;
        for (int b = 0; b < BATCH; ++b) {
            double *row = &x[static_cast<size_t>(b * classes)], sum = 0;
            for (int c = 0; c < classes; ++c) sum += std::exp(row[c]);
            for (int c = 0; c < classes; ++c) row[c] = std::exp(row[c]) / sum;
            loss -= std::log(row[labels[static_cast<size_t>(b)]]) / BATCH;
            row[labels[static_cast<size_t>(b)]] -= 1;
            for (int c = 0; c < classes; ++c) row[c] /= BATCH;
        }
        return loss;
    }

    Doubles weights_gradient(const Doubles &back, const Doubles &x, size_t i) const
    {
        const int in = SIZES[i], out = SIZES[i + 1];
        Doubles g(w[i].size(), 0);
        for (int b = 0; b < BATCH; ++b)
            for (int o = 0; o < out; ++o)
                for (int k = 0; k < in; ++k)
                    g[static_cast<size_t>(o * in + k)] +=
                        back[static_cast<size_t>(b * out + o)] * x[static_cast<size_t>(b * in + k)];
        return g;
    }

    Doubles input_gradient(const Doubles &back, const Doubles &x, size_t i) const
    {
        const int in = SIZES[i], out = SIZES[i + 1];
        Doubles g(x.size(), 0);
        for (int b = 0; b < BATCH; ++b)
            for (int k = 0; k < in; ++k) {
                const size_t at = static_cast<size_t>(b * in + k);
                for (int o = 0; o < out; ++o)
                    g[at] += back[static_cast<size_t>(b * out + o)] * w[i][static_cast<size_t>(o * in + k)];
                g[at] *= 1 - x[at] * x[at];
            }
        return g;
    }

    void update(double &p, double g, double &first, double &second) const
    {
        if (optimizer == mlp::Optimizer::SGD) {
            first = first * mlp::SGD_MOMENTUM + g;
            p -= mlp::SGD_RATE * first;
            return;
        }
        if (optimizer == mlp::Optimizer::ADAMW) p *= 1 - mlp::ADAM_RATE * mlp::ADAMW_DECAY;
        first = 0.9 * first + 0.1 * g;
        second = 0.999 * second + 0.001 * g * g;
        p -= mlp::ADAM_RATE * (first / (1 - std::pow(0.9, steps))) /
             (std::sqrt(second / (1 - std::pow(0.999, steps))) + 1e-8);
    }
};

static Doubles doubles_of(const Tensor &t)
{
    const std::vector<float> values = floats_of(t);
    return Doubles(values.begin(), values.end());
}

/* An epoch of a few batches on both sides. */
static void check_training(mlp::Optimizer optimizer)
{
    mlp::Network net(cpu(), BATCH, SIZES, optimizer);
    Reference reference = {optimizer, {}, {}, {}};
    unsigned int seed = 3;
    for (mlp::Layer &l : net.layers()) {
        l.weight.from_cpu_data(cpu()->uniform(l.weight.shape(), -0.5f, 0.5f, seed++).data_ptr(),
                               l.weight.memory_size());
        reference.w.push_back(doubles_of(l.weight));
        reference.m.emplace_back(reference.w.back().size(), 0);
        reference.v.emplace_back(reference.w.back().size(), 0);
    }
    for (unsigned int batch = 0; batch < 8; ++batch) {
        const Tensor x = cpu()->randn(Shape(BATCH, SIZES[0]), 100 + batch);
        const Tensor labels = cpu()->randint(Shape(BATCH), 0, SIZES.back(), DType::INT32, 200 + batch);
        const double loss = net.train(x, cpu()->one_hot(labels, SIZES.back()));
        const double want = reference.train(doubles_of(x), values_of<int32_t>(labels));
        EXPECT_MSG(std::fabs(loss - want) < 1e-4 * want, "batch %u: loss %g, not %g", batch, loss, want);
    }
    for (size_t i = 0; i < net.layers().size(); ++i) {
        const Doubles got = doubles_of(net.layers()[i].weight);
        for (size_t j = 0; j < got.size(); ++j)
            EXPECT_MSG(std::fabs(got[j] - reference.w[i][j]) < 1e-4, "weight %zu of layer %zu: %g, not %g", j,
                       i, got[j], reference.w[i][j]);
    }
}

TEST(test_sgd_trains_as_plain_loops_do) { check_training(mlp::Optimizer::SGD); }
TEST(test_adam_trains_as_plain_loops_do) { check_training(mlp::Optimizer::ADAM); }
TEST(test_adamw_trains_as_plain_loops_do) { check_training(mlp::Optimizer::ADAMW); }

TEST(test_the_loss_falls)
{
    for (const mlp::Optimizer o : {mlp::Optimizer::SGD, mlp::Optimizer::ADAM, mlp::Optimizer::ADAMW}) {
        mlp::Network net(cpu(), 32, {20, 16, 8, 4}, o);
        unsigned int seed = 3;
        for (mlp::Layer &l : net.layers()) l.weight = cpu()->uniform(l.weight.shape(), -0.3f, 0.3f, seed++);
        const Tensor labels = cpu()->randint(Shape(32), 0, 4, DType::INT32, 1);
        const Tensor target = cpu()->one_hot(labels, 4);
        const Tensor x = cpu()->add(cpu()->randn(Shape(32, 20), 2),
                                    cpu()->mm(target, cpu()->randn(Shape(4, 20), 3)));
        const float first = net.train(x, target);
        float last = first;
        for (int i = 0; i < 200; ++i) last = net.train(x, target);
        EXPECT_MSG(last < 0.5f * first, "loss %g, then %g", first, last);
    }
}
