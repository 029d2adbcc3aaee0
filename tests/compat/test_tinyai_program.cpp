/* test_tinyai_program.cpp - a program as TinyAI's users write them: layers that work on the fields of
 * tensors, a model that owns them, training by hand. Its numbers are compared with the same network
 * written on plain arrays of double. */
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "test.h"
#include "tiny_ai.h"

using namespace tiny;

namespace
{

/* Numbers in [-1, 1) that depend on nothing but how many came before. */
struct Lcg
{
    uint32_t state;
    float next()
    {
        state = state * 1664525u + 1013904223u;
        return static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
    }
};

struct ParamGroup
{
    Tensor *param;
    Tensor *grad;
};

class Layer
{
public:
    virtual ~Layer() {}
    virtual Tensor forward(const Tensor &x) = 0;
    virtual Tensor backward(const Tensor &grad_out) = 0;
    virtual void collect_params(std::vector<ParamGroup> &) {}
};

class Dense : public Layer
{
public:
    Tensor weight, bias, dweight, dbias;

    Dense(int in, int out, Lcg &numbers) : weight(out, in), bias(out), dweight(out, in), dbias(out)
    {
        for (int i = 0; i < weight.size; i++) weight.data[i] = 0.5f * numbers.next();
    }

    Tensor forward(const Tensor &x) override
    {
        x_cache_ = x.clone();
        Tensor out(x.shape[0], weight.shape[0]);
        for (int b = 0; b < x.shape[0]; b++)
            for (int o = 0; o < weight.rows(); o++) {
                float sum = bias.data[o];
                for (int i = 0; i < weight.cols(); i++) sum += weight.at(o, i) * x.at(b, i);
                out.at(b, o) = sum;
            }
        return out;
    }

    Tensor backward(const Tensor &grad_out) override
    {
        Tensor grad_in = Tensor::zeros_like(x_cache_);
        for (int b = 0; b < x_cache_.shape[0]; b++)
            for (int o = 0; o < weight.rows(); o++) {
                const float g = grad_out.at(b, o);
                dbias.at(o) += g;
                for (int i = 0; i < weight.cols(); i++) {
                    dweight.at(o, i) += g * x_cache_.at(b, i);
                    grad_in.at(b, i) += g * weight.at(o, i);
                }
            }
        return grad_in;
    }

    void collect_params(std::vector<ParamGroup> &groups) override
    {
        groups.push_back({&weight, &dweight});
        groups.push_back({&bias, &dbias});
    }

private:
    Tensor x_cache_;
};

class Tanh : public Layer
{
public:
    Tensor forward(const Tensor &x) override
    {
        out_ = x;
        for (int i = 0; i < out_.size; i++) out_.data[i] = tanhf(out_.data[i]);
        return out_;
    }

    Tensor backward(const Tensor &grad_out) override
    {
        Tensor g = grad_out.clone();
        for (int i = 0; i < g.size; i++) g.data[i] *= 1.0f - out_.data[i] * out_.data[i];
        return g;
    }

private:
    Tensor out_;
};

/* [batch, seq, feat] to [batch, seq * feat] and back */
class Flatten : public Layer
{
public:
    Tensor forward(const Tensor &x) override
    {
        ndim_ = x.ndim;
        std::memcpy(shape_, x.shape, sizeof shape_);
        Tensor out = x.clone();
        out.reshape_2d(x.shape[0], x.size / x.shape[0]);
        return out;
    }

    Tensor backward(const Tensor &grad_out) override
    {
        Tensor g = grad_out.clone();
        g.reshape(ndim_, shape_);
        return g;
    }

private:
    int ndim_ = 0, shape_[4] = {0, 0, 0, 0};
};

void softmax_inplace(Tensor &x)
{
    const int cls = x.cols(), rows = x.size / cls;
    for (int r = 0; r < rows; r++) {
        float *row = x.data + r * cls, mx = row[0], sum = 0.0f;
        for (int c = 1; c < cls; c++) mx = row[c] > mx ? row[c] : mx;
        for (int c = 0; c < cls; c++) sum += row[c] = expf(row[c] - mx);
        for (int c = 0; c < cls; c++) row[c] /= sum + TINY_MATH_MIN_DENOMINATOR;
    }
}

class Sequential
{
public:
    void add(Layer *layer) { layers_.emplace_back(layer); }

    Tensor forward(const Tensor &x)
    {
        Tensor y = x;
        for (auto &layer : layers_) y = layer->forward(y);
        return y;
    }

    void backward(const Tensor &grad)
    {
        Tensor g = grad;
        for (size_t i = layers_.size(); i-- > 0;) g = layers_[i]->backward(g);
    }

    std::vector<ParamGroup> params()
    {
        std::vector<ParamGroup> groups;
        for (auto &layer : layers_) layer->collect_params(groups);
        return groups;
    }

private:
    std::vector<std::unique_ptr<Layer>> layers_;
};

void sgd_step(std::vector<ParamGroup> &groups, float rate)
{
    for (auto &g : groups) {
        for (int i = 0; i < g.param->size; i++) g.param->data[i] -= rate * g.grad->data[i];
        g.grad->zero();
    }
}

/* The network, and the samples: three classes by where a point of two times two numbers lies. */
enum { SAMPLES = 48, SEQ = 2, FEAT = 2, IN = SEQ * FEAT, HIDDEN = 6, CLASSES = 3, EPOCHS = 60 };
const float RATE = 0.5f;

void make_samples(float x[SAMPLES][IN], int y[SAMPLES])
{
    Lcg numbers{7};
    for (int s = 0; s < SAMPLES; s++) {
        for (int i = 0; i < IN; i++) x[s][i] = numbers.next();
        y[s] = x[s][0] + x[s][3] > 0.4f ? 0 : x[s][1] > x[s][2] ? 1 : 2;
    }
}

/* One epoch over all samples at once; the loss before it. */
float train(Sequential &model, const Tensor &x, const int *labels)
{
    Tensor p = model.forward(x);
    softmax_inplace(p);
    float loss = 0.0f;
    for (int b = 0; b < SAMPLES; b++) {
        loss -= logf(p.at(b, labels[b]));
        p.at(b, labels[b]) -= 1.0f;
    }
    for (int i = 0; i < p.size; i++) p.data[i] /= SAMPLES;
    model.backward(p);
    std::vector<ParamGroup> groups = model.params();
    sgd_step(groups, RATE);
    return loss / SAMPLES;
}

/* The same on plain arrays ------------------------------------------------------- */

struct Plain
{
    double w1[HIDDEN][IN], b1[HIDDEN] = {0}, w2[CLASSES][HIDDEN], b2[CLASSES] = {0};

    explicit Plain(Lcg numbers)
    {
        for (auto &row : w1) for (double &v : row) v = 0.5 * numbers.next();
        for (auto &row : w2) for (double &v : row) v = 0.5 * numbers.next();
    }

    void forward(const float *x, double h[HIDDEN], double p[CLASSES]) const
    {
        double sum = 0;
        for (int o = 0; o < HIDDEN; o++) {
            h[o] = b1[o];
            for (int i = 0; i < IN; i++) h[o] += w1[o][i] * x[i];
            h[o] = std::tanh(h[o]);
        }
        for (int o = 0; o < CLASSES; o++) {
            p[o] = b2[o];
            for (int i = 0; i < HIDDEN; i++) p[o] += w2[o][i] * h[i];
            sum += p[o] = std::exp(p[o]);
        }
        for (int o = 0; o < CLASSES; o++) p[o] /= sum;
    }

    double train(const float x[SAMPLES][IN], const int *y)
    {
        double loss = 0, dw1[HIDDEN][IN] = { { 0 } }, db1[HIDDEN] = { 0 }, dw2[CLASSES][HIDDEN] = { { 0 } },
               db2[CLASSES] = { 0 };
        for (int s = 0; s < SAMPLES; s++) {
            double h[HIDDEN], p[CLASSES];
            forward(x[s], h, p);
            loss -= std::log(p[y[s]]) / SAMPLES;
            p[y[s]] -= 1;
            for (int i = 0; i < HIDDEN; i++) {
                double g = 0;
                for (int o = 0; o < CLASSES; o++) {
                    dw2[o][i] += p[o] * h[i] / SAMPLES;
                    g += p[o] * w2[o][i] / SAMPLES;
                }
                g *= 1 - h[i] * h[i];
                db1[i] += g;
                for (int j = 0; j < IN; j++) dw1[i][j] += g * x[s][j];
            }
            for (int o = 0; o < CLASSES; o++) db2[o] += p[o] / SAMPLES;
        }
        for (int o = 0; o < HIDDEN; o++) {
            b1[o] -= RATE * db1[o];
            for (int i = 0; i < IN; i++) w1[o][i] -= RATE * dw1[o][i];
        }
        for (int o = 0; o < CLASSES; o++) {
            b2[o] -= RATE * db2[o];
            for (int i = 0; i < HIDDEN; i++) w2[o][i] -= RATE * dw2[o][i];
        }
        return loss;
    }
};

} // namespace

TEST(test_program_trains_as_plain_arrays_do)
{
    float samples[SAMPLES][IN];
    int labels[SAMPLES];
    const int shape[3] = {SAMPLES, SEQ, FEAT};
    make_samples(samples, labels);

    Lcg numbers{42};
    Plain plain(numbers);
    Sequential model;
    model.add(new Flatten());
    model.add(new Dense(IN, HIDDEN, numbers));
    model.add(new Tanh());
    model.add(new Dense(HIDDEN, CLASSES, numbers));

    const Tensor x = Tensor::from_data(&samples[0][0], 3, shape);
    float loss = 0, first = 0;
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        loss = train(model, x, labels);
        if (!epoch) first = loss;
        const double want = plain.train(samples, labels);
        EXPECT_MSG(std::fabs(loss - want) < 1e-4 * (1 + want), "epoch %d: loss %g, not %g", epoch,
                   static_cast<double>(loss), want);
    }
    EXPECT_MSG(loss < 0.7f * first, "loss fell from %g to %g", static_cast<double>(first),
               static_cast<double>(loss));

    Tensor p = model.forward(x);
    softmax_inplace(p);
    for (int s = 0; s < SAMPLES; s++) {
        double h[HIDDEN], want[CLASSES];
        plain.forward(samples[s], h, want);
        for (int c = 0; c < CLASSES; c++) EXPECT(std::fabs(p.at(s, c) - want[c]) < 1e-3);
    }
    EXPECT(x.data == &samples[0][0] && !x.owns_data);
}

/* A dense layer by the matrices of TinyMath, as the document suggests. */
TEST(test_program_computes_a_layer_by_matrices)
{
    const int batch = 5, in = 7, out = 3;
    Lcg numbers{3};
    Tensor x(batch, in), w(out, in);
    for (int i = 0; i < x.size; i++) x.data[i] = numbers.next();
    for (int i = 0; i < w.size; i++) w.data[i] = numbers.next();
    Mat xm = x.to_mat(), wm = w.to_mat();
    const Mat y = xm * wm.transpose() + 0.25f;
    for (int b = 0; b < batch; b++)
        for (int o = 0; o < out; o++) {
            double want = 0.25;
            for (int i = 0; i < in; i++) want += static_cast<double>(x.at(b, i)) * w.at(o, i);
            EXPECT(std::fabs(y(b, o) - want) < 1e-5);
        }
    Tensor back(batch, out);
    Mat view = back.to_mat();
    view = y;
    EXPECT(back.at(4, 2) == y(4, 2));
}
