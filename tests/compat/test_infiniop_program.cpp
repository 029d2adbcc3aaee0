/* test_infiniop_program.cpp - a program as users of InfiniOP and InfiniRT write them: a small language
 * model that reads a prompt, keeps keys and values in a cache, and says one token after another. The
 * same model in plain loops of doubles must say the same tokens, from the same numbers. */
#include <infiniop.h>
#include <infinirt.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "test.h"

static int program_failures;

#define RUN_INFINI(call)                                                                       \
    do {                                                                                       \
        infiniStatus_t status_ = (call);                                                       \
        if (status_ != INFINI_STATUS_SUCCESS) {                                                \
            std::fprintf(stderr, "%s:%d: %s: error code %d\n", __FILE__, __LINE__, #call, (int)status_); \
            program_failures++;                                                                \
        }                                                                                      \
    } while (0)

/* A tensor on the current device: counted memory, a descriptor, views. */
class Tensor {
public:
    static std::shared_ptr<Tensor> buffer(infiniDtype_t dtype, const std::vector<size_t> &shape)
    {
        auto t = std::make_shared<Tensor>();
        size_t count = 1;
        for (size_t s : shape) count *= s;
        void *memory = nullptr;
        RUN_INFINI(infinirtMalloc(&memory, count * size_of(dtype)));
        t->memory_ = std::shared_ptr<void>(memory, [](void *p) { RUN_INFINI(infinirtFree(p)); });
        t->data_ = memory;
        t->dtype_ = dtype;
        t->shape_ = shape;
        t->strides_.resize(shape.size());
        ptrdiff_t step = 1;
        for (size_t i = shape.size(); i-- > 0; step *= (ptrdiff_t)shape[i]) t->strides_[i] = step;
        return t;
    }
    static std::shared_ptr<Tensor> weight(const std::vector<float> &values, const std::vector<size_t> &shape)
    {
        auto t = buffer(INFINI_DTYPE_F32, shape);
        RUN_INFINI(
            infinirtMemcpy(t->data(), values.data(), values.size() * sizeof(float), INFINIRT_MEMCPY_H2D));
        return t;
    }
    ~Tensor() { infiniopDestroyTensorDescriptor(desc_); }

    std::shared_ptr<Tensor> view_as(const std::vector<size_t> &shape, const std::vector<ptrdiff_t> &strides,
                                    size_t offset = 0)
    {
        auto t = std::make_shared<Tensor>();
        t->memory_ = memory_;
        t->data_ = (char *)data_ + offset * size_of(dtype_);
        t->dtype_ = dtype_;
        t->shape_ = shape;
        t->strides_ = strides;
        return t;
    }
    std::shared_ptr<Tensor> permute(const std::vector<size_t> &order)
    {
        std::vector<size_t> shape;
        std::vector<ptrdiff_t> strides;
        for (size_t i : order) {
            shape.push_back(shape_[i]);
            strides.push_back(strides_[i]);
        }
        return view_as(shape, strides);
    }
    void *data() const { return data_; }
    infiniopTensorDescriptor_t desc()
    {
        if (!desc_)
            RUN_INFINI(infiniopCreateTensorDescriptor(&desc_, shape_.size(), shape_.data(), strides_.data(),
                                                      dtype_));
        return desc_;
    }
    static size_t size_of(infiniDtype_t d) { return d == INFINI_DTYPE_F32 ? 4 : 8; }

private:
    std::shared_ptr<void> memory_;
    void *data_ = nullptr;
    infiniDtype_t dtype_ = INFINI_DTYPE_INVALID;
    std::vector<size_t> shape_;
    std::vector<ptrdiff_t> strides_;
    infiniopTensorDescriptor_t desc_ = nullptr;
};

using T = std::shared_ptr<Tensor>;

/* A handle, a stream, a workspace; operators by name. */
class Context {
public:
    explicit Context(infiniDevice_t device)
    {
        RUN_INFINI(infinirtInit());
        RUN_INFINI(infinirtSetDevice(device, 0));
        RUN_INFINI(infiniopCreateHandle(&handle));
        RUN_INFINI(infinirtStreamCreate(&stream));
    }
    ~Context()
    {
        RUN_INFINI(infinirtStreamDestroy(stream));
        RUN_INFINI(infiniopDestroyHandle(handle));
        RUN_INFINI(infinirtFree(workspace_));
        RUN_INFINI(infinirtSetDevice(INFINI_DEVICE_CPU, 0));
    }
    void *workspace(size_t size)
    {
        if (size > room_) {
            RUN_INFINI(infinirtFree(workspace_));
            RUN_INFINI(infinirtMalloc(&workspace_, size));
            room_ = size;
        }
        return workspace_;
    }

    infiniopHandle_t handle = nullptr;
    infinirtStream_t stream = nullptr;

private:
    void *workspace_ = nullptr;
    size_t room_ = 0;
};

#define OPERATOR(Name, create_arguments, run_arguments)                                          \
    do {                                                                                         \
        infiniop##Name##Descriptor_t desc = nullptr;                                             \
        size_t size = 0;                                                                         \
        RUN_INFINI(infiniopCreate##Name##Descriptor(ctx.handle, &desc, UNPACK create_arguments)); \
        RUN_INFINI(infiniopGet##Name##WorkspaceSize(desc, &size));                               \
        RUN_INFINI(infiniop##Name(desc, ctx.workspace(size), size, UNPACK run_arguments, ctx.stream)); \
        RUN_INFINI(infiniopDestroy##Name##Descriptor(desc));                                     \
    } while (0)
#define UNPACK(...) __VA_ARGS__

struct Config {
    size_t layers = 2, dim = 32, heads = 4, kv = 2, head = 8, inter = 48, vocabulary = 50, length = 24;
    float eps = 1e-5f;
    double theta = 10000;
};

/* The numbers of the model, the same for both implementations. */
struct Weights {
    std::vector<std::vector<float>> norm, qkv, out, ffn_norm, gate_up, down; /* one for each layer */
    std::vector<float> embedding, last_norm, head;

    explicit Weights(const Config &c)
    {
        uint64_t seed = 2024;
        const auto make = [&](size_t n, double size) {
            std::vector<float> v(n);
            for (float &x : v) x = (float)(size * ((double)(test_next(&seed) >> 11) * 0x1p-52 - 1));
            return v;
        };
        for (size_t l = 0; l < c.layers; l++) {
            norm.push_back(make(c.dim, 1));
            qkv.push_back(make((c.heads + 2 * c.kv) * c.head * c.dim, 0.3));
            out.push_back(make(c.dim * c.heads * c.head, 0.3));
            ffn_norm.push_back(make(c.dim, 1));
            gate_up.push_back(make(2 * c.inter * c.dim, 0.3));
            down.push_back(make(c.dim * c.inter, 0.3));
        }
        embedding = make(c.vocabulary * c.dim, 1);
        last_norm = make(c.dim, 1);
        head = make(c.vocabulary * c.dim, 0.5);
    }
};

/* The model with InfiniOP. */
class Model {
public:
    Model(const Config &config, const Weights &w) : c(config), embedding_(w.embedding)
    {
        for (size_t l = 0; l < c.layers; l++) {
            layers.push_back(
                { Tensor::weight(w.norm[l], { c.dim }),
                  Tensor::weight(w.qkv[l], { (c.heads + 2 * c.kv) * c.head, c.dim })->permute({ 1, 0 }),
                  Tensor::weight(w.out[l], { c.dim, c.heads * c.head })->permute({ 1, 0 }),
                  Tensor::weight(w.ffn_norm[l], { c.dim }),
                  Tensor::weight(w.gate_up[l], { 2 * c.inter, c.dim })->permute({ 1, 0 }),
                  Tensor::weight(w.down[l], { c.dim, c.inter })->permute({ 1, 0 }),
                  Tensor::buffer(INFINI_DTYPE_F32, { c.kv, c.length, c.head }),
                  Tensor::buffer(INFINI_DTYPE_F32, { c.kv, c.length, c.head }) });
        }
        last_norm = Tensor::weight(w.last_norm, { c.dim });
        head = Tensor::weight(w.head, { c.vocabulary, c.dim })->permute({ 1, 0 });
        std::vector<float> sines, cosines;
        for (size_t p = 0; p < c.length; p++)
            for (size_t j = 0; j < c.head / 2; j++) {
                const double angle = (double)p / std::pow(c.theta, 2.0 * (double)j / (double)c.head);
                sines.push_back((float)std::sin(angle));
                cosines.push_back((float)std::cos(angle));
            }
        sin = Tensor::weight(sines, { c.length, c.head / 2 });
        cos = Tensor::weight(cosines, { c.length, c.head / 2 });
    }

    /* Reads tokens at positions pos, pos + 1, ...; gives the logits after the last. */
    T forward(Context &ctx, const std::vector<int> &tokens, size_t pos)
    {
        const size_t n = tokens.size(), width = (c.heads + 2 * c.kv) * c.head, row = c.heads * c.head;
        const ptrdiff_t step = (ptrdiff_t)width, h = (ptrdiff_t)c.head;
        T x = Tensor::buffer(INFINI_DTYPE_F32, { n, c.dim }),
          y = Tensor::buffer(INFINI_DTYPE_F32, { n, c.dim });
        T positions = Tensor::buffer(INFINI_DTYPE_I64, { n });
        for (size_t i = 0; i < n; i++) {
            RUN_INFINI(infinirtMemcpyAsync((float *)x->data() + i * c.dim,
                                           embedding_.data() + (size_t)tokens[i] * c.dim,
                                           c.dim * sizeof(float), INFINIRT_MEMCPY_H2D, ctx.stream));
            const int64_t at = (int64_t)(pos + i);
            RUN_INFINI(infinirtMemcpyAsync((int64_t *)positions->data() + i, &at, sizeof at,
                                           INFINIRT_MEMCPY_H2D, ctx.stream));
        }
        for (Layer &l : layers) {
            T qkv = Tensor::buffer(INFINI_DTYPE_F32, { n, width }),
              mixed = Tensor::buffer(INFINI_DTYPE_F32, { n, c.heads, c.head });
            T q = qkv->view_as({ n, c.heads, c.head }, { step, h, 1 }),
              k = qkv->view_as({ n, c.kv, c.head }, { step, h, 1 }, row);
            T v = qkv->view_as({ n, c.kv, c.head }, { step, h, 1 }, row + c.kv * c.head);
            OPERATOR(RMSNorm, (y->desc(), x->desc(), l.norm->desc(), c.eps),
                     (y->data(), x->data(), l.norm->data()));
            OPERATOR(Gemm, (qkv->desc(), y->desc(), l.qkv->desc()),
                     (qkv->data(), y->data(), l.qkv->data(), 1.0f, 0.0f));
            OPERATOR(RoPE,
                     (q->desc(), q->desc(), positions->desc(), sin->desc(), cos->desc(),
                      INFINIOP_ROPE_ALGO_GPT_NEOX),
                     (q->data(), q->data(), positions->data(), sin->data(), cos->data()));
            OPERATOR(RoPE,
                     (k->desc(), k->desc(), positions->desc(), sin->desc(), cos->desc(),
                      INFINIOP_ROPE_ALGO_GPT_NEOX),
                     (k->data(), k->data(), positions->data(), sin->data(), cos->data()));
            T q2 = q->permute({ 1, 0, 2 }), k2 = k->permute({ 1, 0, 2 }), v2 = v->permute({ 1, 0, 2 });
            OPERATOR(
                Attention,
                (mixed->desc(), q2->desc(), k2->desc(), v2->desc(), l.k_cache->desc(), l.v_cache->desc(),
                 pos),
                (mixed->data(), q2->data(), k2->data(), v2->data(), l.k_cache->data(), l.v_cache->data()));
            T flat = mixed->view_as({ n, row }, { (ptrdiff_t)row, 1 });
            OPERATOR(Gemm, (x->desc(), flat->desc(), l.out->desc()),
                     (x->data(), flat->data(), l.out->data(), 1.0f, 1.0f));

            T both = Tensor::buffer(INFINI_DTYPE_F32, { n, 2 * c.inter }),
              act = Tensor::buffer(INFINI_DTYPE_F32, { n, c.inter });
            T gate = both->view_as({ n, c.inter }, { (ptrdiff_t)(2 * c.inter), 1 });
            T up = both->view_as({ n, c.inter }, { (ptrdiff_t)(2 * c.inter), 1 }, c.inter);
            OPERATOR(RMSNorm, (y->desc(), x->desc(), l.ffn_norm->desc(), c.eps),
                     (y->data(), x->data(), l.ffn_norm->data()));
            OPERATOR(Gemm, (both->desc(), y->desc(), l.gate_up->desc()),
                     (both->data(), y->data(), l.gate_up->data(), 1.0f, 0.0f));
            OPERATOR(SwiGLU, (act->desc(), up->desc(), gate->desc()),
                     (act->data(), up->data(), gate->data()));
            OPERATOR(Gemm, (x->desc(), act->desc(), l.down->desc()),
                     (x->data(), act->data(), l.down->data(), 1.0f, 1.0f));
        }
        T last = x->view_as({ 1, c.dim }, { (ptrdiff_t)c.dim, 1 }, (n - 1) * c.dim);
        T normed = Tensor::buffer(INFINI_DTYPE_F32, { 1, c.dim }),
          logits = Tensor::buffer(INFINI_DTYPE_F32, { 1, c.vocabulary });
        OPERATOR(RMSNorm, (normed->desc(), last->desc(), last_norm->desc(), c.eps),
                 (normed->data(), last->data(), last_norm->data()));
        OPERATOR(Gemm, (logits->desc(), normed->desc(), head->desc()),
                 (logits->data(), normed->data(), head->data(), 1.0f, 0.0f));
        return logits;
    }

    int sample(Context &ctx, const T &logits)
    {
        T flat = logits->view_as({ c.vocabulary }, { 1 }), result = Tensor::buffer(INFINI_DTYPE_I64, {});
        int64_t token = -1;
        OPERATOR(RandomSample, (result->desc(), flat->desc()),
                 (result->data(), flat->data(), 0.5f, 0.9f, 1, 1.0f));
        RUN_INFINI(infinirtStreamSynchronize(ctx.stream));
        RUN_INFINI(infinirtMemcpy(&token, result->data(), sizeof token, INFINIRT_MEMCPY_D2H));
        return (int)token;
    }

private:
    struct Layer {
        T norm, qkv, out, ffn_norm, gate_up, down, k_cache, v_cache;
    };
    Config c;
    std::vector<float> embedding_;
    std::vector<Layer> layers;
    T last_norm, head, sin, cos;
};

/* The model in plain loops: the logits after the last of all tokens, from scratch. */
using Row = std::vector<double>;

static Row norm_of(const Row &x, const std::vector<float> &w, double eps)
{
    double ms = 0;
    for (double v : x) ms += v * v / (double)x.size();
    Row y(x.size());
    for (size_t i = 0; i < x.size(); i++) y[i] = x[i] / std::sqrt(ms + eps) * w[i];
    return y;
}

static Row times(const Row &x, const std::vector<float> &w, size_t rows)
{
    Row y(rows);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < x.size(); i++) y[r] += (double)w[r * x.size() + i] * x[i];
    return y;
}

static void rotate(double *v, size_t head, size_t pos, double theta)
{
    for (size_t j = 0; j < head / 2; j++) {
        const double angle = (double)pos / std::pow(theta, 2.0 * (double)j / (double)head), a = v[j],
                     b = v[j + head / 2];
        v[j] = a * std::cos(angle) - b * std::sin(angle);
        v[j + head / 2] = b * std::cos(angle) + a * std::sin(angle);
    }
}

static Row plain_model(const Config &c, const Weights &w, const std::vector<int> &tokens)
{
    std::vector<Row> x;
    for (int t : tokens)
        x.emplace_back(w.embedding.begin() + (long)((size_t)t * c.dim),
                       w.embedding.begin() + (long)((size_t)(t + 1) * c.dim));
    for (size_t l = 0; l < c.layers; l++) {
        std::vector<Row> qkv;
        for (size_t i = 0; i < x.size(); i++) {
            qkv.push_back(times(norm_of(x[i], w.norm[l], c.eps), w.qkv[l], (c.heads + 2 * c.kv) * c.head));
            for (size_t h = 0; h < c.heads + c.kv; h++) rotate(&qkv[i][h * c.head], c.head, i, c.theta);
        }
        for (size_t i = 0; i < x.size(); i++) {
            Row mixed(c.heads * c.head);
            for (size_t h = 0; h < c.heads; h++) {
                const size_t k = (c.heads + h / (c.heads / c.kv)) * c.head, v = k + c.kv * c.head;
                Row score(i + 1);
                double most = -INFINITY, sum = 0;
                for (size_t j = 0; j <= i; j++) {
                    for (size_t e = 0; e < c.head; e++)
                        score[j] += qkv[i][h * c.head + e] * qkv[j][k + e] / std::sqrt((double)c.head);
                    most = std::fmax(most, score[j]);
                }
                for (double &s : score) sum += s = std::exp(s - most);
                for (size_t j = 0; j <= i; j++)
                    for (size_t e = 0; e < c.head; e++)
                        mixed[h * c.head + e] += score[j] / sum * qkv[j][v + e];
            }
            const Row out = times(mixed, w.out[l], c.dim);
            for (size_t e = 0; e < c.dim; e++) x[i][e] += out[e];
        }
        for (Row &row : x) {
            const Row both = times(norm_of(row, w.ffn_norm[l], c.eps), w.gate_up[l], 2 * c.inter);
            Row act(c.inter);
            for (size_t e = 0; e < c.inter; e++)
                act[e] = both[e] / (1 + std::exp(-both[e])) * both[c.inter + e];
            const Row out = times(act, w.down[l], c.dim);
            for (size_t e = 0; e < c.dim; e++) row[e] += out[e];
        }
    }
    return times(norm_of(x.back(), w.last_norm, c.eps), w.head, c.vocabulary);
}

static void say_tokens(infiniDevice_t device)
{
    const Config config;
    const Weights weights(config);
    Context ctx(device);
    Model model(config, weights);
    std::vector<int> tokens = { 3, 14, 15, 9, 2, 6 }, next = tokens;
    size_t pos = 0;
    program_failures = 0;
    while (tokens.size() < 20) {
        const T logits = model.forward(ctx, next, pos);
        const Row want = plain_model(config, weights, tokens);
        std::vector<float> got(config.vocabulary);
        RUN_INFINI(infinirtStreamSynchronize(ctx.stream));
        RUN_INFINI(
            infinirtMemcpy(got.data(), logits->data(), got.size() * sizeof(float), INFINIRT_MEMCPY_D2H));
        size_t best = 0;
        for (size_t i = 0; i < config.vocabulary; i++) {
            EXPECT_MSG(std::fabs(got[i] - want[i]) < 1e-4 * (1 + std::fabs(want[i])),
                       "token %zu: logit %zu is %g, not %g", tokens.size(), i, got[i], want[i]);
            if (want[i] > want[best]) best = i;
        }
        const int token = model.sample(ctx, logits);
        EXPECT(token == (int)best);
        pos += next.size();
        next = { token };
        tokens.push_back(token);
    }
    EXPECT(program_failures == 0);
}

TEST(test_a_language_model_says_what_plain_loops_say) { say_tokens(INFINI_DEVICE_CPU); }

TEST(test_a_language_model_says_the_same_on_a_gpu)
{
    int count = 0;
    RUN_INFINI(infinirtGetDeviceCount(INFINI_DEVICE_NVIDIA, &count));
    if (!count) SKIP("no NVIDIA device");
    say_tokens(INFINI_DEVICE_NVIDIA);
}
