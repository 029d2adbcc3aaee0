/* test_llaisys_program.cpp - a program as LLAISYS' users write them: a decoder with two layers, rotary
 * positions and a cache of keys and values, that generates tokens one by one. Its numbers are compared
 * with the same network on plain arrays of double, which reads the whole text at each step. */
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "llaisys/ops.h"
#include "llaisys/runtime.h"
#include "test.h"

namespace
{

struct Config
{
    size_t layers = 2, hidden = 24, heads = 4, kv_heads = 2, head_dim = 6, inner = 40, vocab = 50,
           max_seq = 16;
    float eps = 1e-6f, theta = 10000.0f;
    size_t kv() const { return kv_heads * head_dim; }
};

/* A handle that destroys itself. */
class Tensor
{
public:
    explicit Tensor(std::vector<size_t> shape, llaisysDataType_t dtype = LLAISYS_DTYPE_F32)
        : t_(tensorCreate(shape.data(), shape.size(), dtype, LLAISYS_DEVICE_CPU, 0))
    {
    }
    explicit Tensor(llaisysTensor_t t) : t_(t) {}
    Tensor(Tensor &&other) noexcept : t_(other.t_) { other.t_ = nullptr; }
    Tensor &operator=(Tensor &&other) noexcept
    {
        std::swap(t_, other.t_);
        return *this;
    }
    ~Tensor() { tensorDestroy(t_); }

    operator llaisysTensor_t() const { return t_; }
    float *floats() const { return static_cast<float *>(tensorGetData(t_)); }
    Tensor view(std::vector<size_t> shape) const
    {
        return Tensor(tensorView(t_, shape.data(), shape.size()));
    }
    Tensor slice(size_t dim, size_t start, size_t end) const
    {
        return Tensor(tensorSlice(t_, dim, start, end));
    }

private:
    llaisysTensor_t t_;
};

/* The weights by name, as floats: both networks are made from them. */
typedef std::map<std::string, std::vector<float>> Weights;

std::vector<float> numbers(size_t n, uint64_t seed, float scale, float middle)
{
    std::vector<float> v(n);
    for (float &x : v) x = middle + scale * (static_cast<float>(test_below(&seed, 2001)) / 1000.0f - 1.0f);
    return v;
}

Weights make_weights(const Config &c)
{
    Weights w;
    uint64_t seed = 1;
    w["embed"] = numbers(c.vocab * c.hidden, seed++, 1.0f, 0.0f);
    w["norm"] = numbers(c.hidden, seed++, 0.1f, 1.0f);
    w["head"] = numbers(c.vocab * c.hidden, seed++, 0.4f, 0.0f);
    for (size_t l = 0; l < c.layers; l++) {
        const std::string p = std::to_string(l) + ".";
        w[p + "norm1"] = numbers(c.hidden, seed++, 0.1f, 1.0f);
        w[p + "norm2"] = numbers(c.hidden, seed++, 0.1f, 1.0f);
        w[p + "q"] = numbers(c.hidden * c.hidden, seed++, 0.3f, 0.0f);
        w[p + "k"] = numbers(c.kv() * c.hidden, seed++, 0.3f, 0.0f);
        w[p + "v"] = numbers(c.kv() * c.hidden, seed++, 0.3f, 0.0f);
        w[p + "qb"] = numbers(c.hidden, seed++, 0.1f, 0.0f);
        w[p + "kb"] = numbers(c.kv(), seed++, 0.1f, 0.0f);
        w[p + "vb"] = numbers(c.kv(), seed++, 0.1f, 0.0f);
        w[p + "o"] = numbers(c.hidden * c.hidden, seed++, 0.3f, 0.0f);
        w[p + "gate"] = numbers(c.inner * c.hidden, seed++, 0.3f, 0.0f);
        w[p + "up"] = numbers(c.inner * c.hidden, seed++, 0.3f, 0.0f);
        w[p + "down"] = numbers(c.hidden * c.inner, seed++, 0.3f, 0.0f);
    }
    return w;
}

/* The model on LLAISYS -------------------------------------------------------------- */

class Model
{
public:
    Model(const Config &config, const Weights &weights) : c(config)
    {
        for (const auto &entry : weights) {
            const size_t rows = rows_of(entry.first, entry.second.size());
            std::vector<size_t> shape = {rows, entry.second.size() / rows};
            if (shape[1] == 1) shape.pop_back();
            Tensor t(shape);
            tensorLoad(t, entry.second.data());
            w_.emplace(entry.first, std::move(t));
        }
        for (size_t l = 0; l < c.layers; l++) {
            keys_.emplace_back(std::vector<size_t>{c.max_seq, c.kv_heads, c.head_dim});
            values_.emplace_back(std::vector<size_t>{c.max_seq, c.kv_heads, c.head_dim});
        }
    }

    /* The next token after these, which follow those of the calls before. */
    int64_t infer(const std::vector<int64_t> &tokens, std::vector<float> &logits_out)
    {
        const size_t n = tokens.size(), past = length_, total = past + n;
        std::vector<int64_t> places(n);
        for (size_t i = 0; i < n; i++) places[i] = static_cast<int64_t>(past + i);
        Tensor index({n}, LLAISYS_DTYPE_I64), pos({n}, LLAISYS_DTYPE_I64), x({n, c.hidden});
        tensorLoad(index, tokens.data());
        tensorLoad(pos, places.data());
        llaisysEmbedding(x, index, at("embed"));
        for (size_t l = 0; l < c.layers; l++) {
            attend(x, pos, l, past, total);
            feed_forward(x, l);
        }
        length_ = total;
        return choose(x.slice(0, n - 1, n), logits_out);
    }

private:
    size_t rows_of(const std::string &name, size_t size) const
    {
        const std::string last = name.substr(name.find('.') + 1);
        if (last == "embed" || last == "head") return c.vocab;
        if (last == "q" || last == "o" || last == "down") return c.hidden;
        if (last == "k" || last == "v") return c.kv();
        return last == "gate" || last == "up" ? c.inner : size;
    }

    llaisysTensor_t at(const std::string &name) const { return w_.at(name); }

    void attend(Tensor &x, const Tensor &pos, size_t l, size_t past, size_t total)
    {
        const std::string p = std::to_string(l) + ".";
        const size_t n = total - past;
        Tensor h({n, c.hidden}), q({n, c.hidden}), k({n, c.kv()}), v({n, c.kv()}), out({n, c.hidden});
        llaisysRmsNorm(h, x, at(p + "norm1"), c.eps);
        llaisysLinear(q, h, at(p + "q"), at(p + "qb"));
        llaisysLinear(k, h, at(p + "k"), at(p + "kb"));
        llaisysLinear(v, h, at(p + "v"), at(p + "vb"));
        Tensor q3 = q.view({n, c.heads, c.head_dim});
        llaisysROPE(q3, q3, pos, c.theta);
        llaisysROPE(keys_[l].slice(0, past, total), k.view({n, c.kv_heads, c.head_dim}), pos, c.theta);
        llaisysRearrange(values_[l].slice(0, past, total), v.view({n, c.kv_heads, c.head_dim}));
        llaisysSelfAttention(h.view({n, c.heads, c.head_dim}), q3, keys_[l].slice(0, 0, total),
                             values_[l].slice(0, 0, total), 1.0f / sqrtf(static_cast<float>(c.head_dim)));
        llaisysLinear(out, h, at(p + "o"), nullptr);
        llaisysAdd(x, x, out);
    }

    void feed_forward(Tensor &x, size_t l)
    {
        const std::string p = std::to_string(l) + ".";
        size_t shape[2];
        tensorGetShape(x, shape);
        Tensor h({shape[0], c.hidden}), gate({shape[0], c.inner}), up({shape[0], c.inner});
        llaisysRmsNorm(h, x, at(p + "norm2"), c.eps);
        llaisysLinear(gate, h, at(p + "gate"), nullptr);
        llaisysLinear(up, h, at(p + "up"), nullptr);
        llaisysSwiGLU(gate, gate, up);
        llaisysLinear(h, gate, at(p + "down"), nullptr);
        llaisysAdd(x, x, h);
    }

    int64_t choose(const Tensor &last, std::vector<float> &logits_out)
    {
        Tensor h({1, c.hidden}), logits({1, c.vocab}), best({1}, LLAISYS_DTYPE_I64), value({1});
        llaisysRmsNorm(h, last, at("norm"), c.eps);
        llaisysLinear(logits, h, at("head"), nullptr);
        llaisysArgmax(best, value, logits.view({c.vocab}));
        logits_out.assign(logits.floats(), logits.floats() + c.vocab);
        return *static_cast<int64_t *>(tensorGetData(best));
    }

    Config c;
    std::map<std::string, Tensor> w_;
    std::vector<Tensor> keys_, values_;
    size_t length_ = 0;
};

/* The same on plain arrays ------------------------------------------------------------- */

typedef std::vector<std::vector<double>> Rows;

Rows plain_norm(const Rows &x, const std::vector<float> &w, double eps)
{
    Rows y = x;
    for (auto &row : y) {
        double sum = 0;
        for (double v : row) sum += v * v;
        const double r = 1 / std::sqrt(sum / static_cast<double>(row.size()) + eps);
        for (size_t i = 0; i < row.size(); i++) row[i] *= r * w[i];
    }
    return y;
}

Rows plain_linear(const Rows &x, const std::vector<float> &w, const std::vector<float> *b)
{
    const size_t k = x[0].size(), n = w.size() / k;
    Rows y(x.size(), std::vector<double>(n));
    for (size_t i = 0; i < x.size(); i++)
        for (size_t j = 0; j < n; j++) {
            y[i][j] = b ? (*b)[j] : 0;
            for (size_t l = 0; l < k; l++) y[i][j] += x[i][l] * w[j * k + l];
        }
    return y;
}

void plain_rope(Rows &x, size_t dim, double theta)
{
    for (size_t s = 0; s < x.size(); s++)
        for (size_t h = 0; h < x[s].size(); h += dim)
            for (size_t j = 0; j < dim / 2; j++) {
                const double a = static_cast<double>(s) /
                                 std::pow(theta, 2.0 * static_cast<double>(j) / static_cast<double>(dim));
                const double u = x[s][h + j], v = x[s][h + j + dim / 2];
                x[s][h + j] = u * std::cos(a) - v * std::sin(a);
                x[s][h + j + dim / 2] = v * std::cos(a) + u * std::sin(a);
            }
}

Rows plain_attention(const Config &c, const Rows &q, const Rows &k, const Rows &v)
{
    Rows y(q.size(), std::vector<double>(c.hidden, 0.0));
    for (size_t i = 0; i < q.size(); i++)
        for (size_t h = 0; h < c.heads; h++) {
            const size_t g = h / (c.heads / c.kv_heads);
            std::vector<double> p(i + 1);
            double sum = 0;
            for (size_t j = 0; j <= i; j++) {
                double dot = 0;
                for (size_t d = 0; d < c.head_dim; d++)
                    dot += q[i][h * c.head_dim + d] * k[j][g * c.head_dim + d];
                sum += p[j] = std::exp(dot / std::sqrt(static_cast<double>(c.head_dim)));
            }
            for (size_t j = 0; j <= i; j++)
                for (size_t d = 0; d < c.head_dim; d++)
                    y[i][h * c.head_dim + d] += p[j] / sum * v[j][g * c.head_dim + d];
        }
    return y;
}

void add_to(Rows &x, const Rows &y)
{
    for (size_t i = 0; i < x.size(); i++)
        for (size_t j = 0; j < x[i].size(); j++) x[i][j] += y[i][j];
}

std::vector<double> plain_logits(const Config &c, const Weights &w, const std::vector<int64_t> &tokens)
{
    Rows x;
    for (int64_t t : tokens) {
        const float *row = &w.at("embed")[static_cast<size_t>(t) * c.hidden];
        x.emplace_back(row, row + c.hidden);
    }
    for (size_t l = 0; l < c.layers; l++) {
        const std::string p = std::to_string(l) + ".";
        const Rows h = plain_norm(x, w.at(p + "norm1"), c.eps);
        Rows q = plain_linear(h, w.at(p + "q"), &w.at(p + "qb")),
             k = plain_linear(h, w.at(p + "k"), &w.at(p + "kb"));
        const Rows v = plain_linear(h, w.at(p + "v"), &w.at(p + "vb"));
        plain_rope(q, c.head_dim, c.theta);
        plain_rope(k, c.head_dim, c.theta);
        add_to(x, plain_linear(plain_attention(c, q, k, v), w.at(p + "o"), nullptr));
        const Rows g = plain_norm(x, w.at(p + "norm2"), c.eps);
        Rows gate = plain_linear(g, w.at(p + "gate"), nullptr);
        const Rows up = plain_linear(g, w.at(p + "up"), nullptr);
        for (size_t i = 0; i < gate.size(); i++)
            for (size_t j = 0; j < c.inner; j++)
                gate[i][j] = up[i][j] * gate[i][j] / (1 + std::exp(-gate[i][j]));
        add_to(x, plain_linear(gate, w.at(p + "down"), nullptr));
    }
    return plain_linear(plain_norm({x.back()}, w.at("norm"), c.eps), w.at("head"), nullptr)[0];
}

} // namespace

TEST(test_program_generates_what_plain_arrays_do)
{
    const Config config;
    const Weights weights = make_weights(config);
    llaisysSetContextRuntime(LLAISYS_DEVICE_CPU, 0);
    Model model(config, weights);
    std::vector<int64_t> text = {3, 41, 7, 19}, next = text;
    std::vector<float> logits;
    while (text.size() < config.max_seq) {
        const int64_t token = model.infer(next, logits);
        const std::vector<double> want = plain_logits(config, weights, text);
        size_t best = 0;
        for (size_t i = 0; i < want.size(); i++) {
            EXPECT_MSG(std::fabs(logits[i] - want[i]) < 2e-4 * (1 + std::fabs(want[i])),
                       "token %zu: logit %zu is %g, not %g",
                       text.size(), i, static_cast<double>(logits[i]), want[i]);
            if (want[i] > want[best]) best = i;
        }
        EXPECT(token == static_cast<int64_t>(best));
        text.push_back(token);
        next = {token};
    }
}
