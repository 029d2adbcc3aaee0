/* test_llaisys_ops.cpp - the operators of LLAISYS in f32, f16 and bf16, on packed tensors and on views,
 * against loops in double; and what they refuse. */
#include <cmath>
#include <functional>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "llaisys/ops.h"
#include "test.h"

typedef std::vector<size_t> Shape;
typedef std::vector<double> Values;

static const llaisysDataType_t FLOATS[] = {LLAISYS_DTYPE_F32, LLAISYS_DTYPE_F16, LLAISYS_DTYPE_BF16};

/* What one rounding to the dtype may change, relative to the value. */
static double step_of(llaisysDataType_t d)
{
    return d == LLAISYS_DTYPE_F32 ? 1e-6 : d == LLAISYS_DTYPE_F16 ? 1.0 / 2048 : 1.0 / 256;
}

static size_t count(const Shape &s)
{
    size_t n = 1;
    for (size_t d : s) n *= d;
    return n;
}

static double rounded(double x, llaisysDataType_t d)
{
    if (d == LLAISYS_DTYPE_F16) return tsr_f16_to_f32(tsr_f64_to_f16(x));
    if (d == LLAISYS_DTYPE_BF16) return tsr_bf16_to_f32(tsr_f64_to_bf16(x));
    return static_cast<float>(x);
}

/* A tensor, packed or as a view: with its dims backwards in memory and a gap behind the last. */
struct T
{
    llaisysTensor_t t = nullptr, base = nullptr, middle = nullptr;
    Shape shape;
    llaisysDataType_t dtype;

    T(Shape s, llaisysDataType_t d, bool strided = false) : shape(s), dtype(d)
    {
        if (!strided) {
            t = tensorCreate(s.data(), s.size(), d, LLAISYS_DEVICE_CPU, 0);
            return;
        }
        Shape back(s.rbegin(), s.rend()), order(s.size());
        back[0] += 2;
        for (size_t i = 0; i < s.size(); i++) order[i] = s.size() - 1 - i;
        base = tensorCreate(back.data(), back.size(), d, LLAISYS_DEVICE_CPU, 0);
        middle = tensorSlice(base, 0, 1, back[0] - 1);
        t = tensorPermute(middle, order.data());
    }
    T(const T &) = delete;
    ~T()
    {
        tensorDestroy(t);
        tensorDestroy(middle);
        tensorDestroy(base);
    }

    void load(const Values &v)
    {
        std::vector<float> f(v.begin(), v.end());
        std::vector<uint16_t> h(v.size());
        std::vector<int64_t> n(v.begin(), v.end());
        for (size_t i = 0; i < v.size(); i++)
            h[i] = dtype == LLAISYS_DTYPE_F16 ? tsr_f64_to_f16(v[i]) : tsr_f64_to_bf16(v[i]);
        tensorLoad(t, dtype == LLAISYS_DTYPE_F32   ? static_cast<void *>(f.data())
                      : dtype == LLAISYS_DTYPE_I64 ? static_cast<void *>(n.data())
                                                   : static_cast<void *>(h.data()));
    }

    Values values() const
    {
        Values v(count(shape));
        std::vector<ptrdiff_t> stride(shape.size());
        tensorGetStrides(t, stride.data());
        for (size_t i = 0; i < v.size(); i++) {
            ptrdiff_t at = 0;
            for (size_t d = shape.size(), rest = i; d-- > 0; rest /= shape[d])
                at += static_cast<ptrdiff_t>(rest % shape[d]) * stride[d];
            const char *p = static_cast<const char *>(tensorGetData(t));
            if (dtype == LLAISYS_DTYPE_F32) v[i] = reinterpret_cast<const float *>(p)[at];
            if (dtype == LLAISYS_DTYPE_I64)
                v[i] = static_cast<double>(reinterpret_cast<const int64_t *>(p)[at]);
            if (dtype == LLAISYS_DTYPE_F16) v[i] = tsr_f16_to_f32(reinterpret_cast<const uint16_t *>(p)[at]);
            if (dtype == LLAISYS_DTYPE_BF16)
                v[i] = tsr_bf16_to_f32(reinterpret_cast<const uint16_t *>(p)[at]);
        }
        return v;
    }
};

/* Numbers in [-1, 1) that the dtype holds exactly. */
static Values numbers(size_t n, uint64_t seed, llaisysDataType_t d)
{
    Values v(n);
    for (double &x : v) x = rounded(static_cast<double>(test_below(&seed, 2000)) / 1000 - 1, d);
    return v;
}

static void expect_near(const T &got, const Values &want, double slack)
{
    const Values v = got.values();
    EXPECT(v.size() == want.size());
    for (size_t i = 0; i < v.size(); i++) {
        const double bound = slack * step_of(got.dtype) * (1 + std::fabs(want[i]));
        EXPECT_MSG(std::fabs(v[i] - want[i]) <= bound, "element %zu is %.9g, not %.9g (dtype %d)", i, v[i],
                   want[i],
                   static_cast<int>(got.dtype));
    }
}

/* Each dtype, packed and as views. */
static void for_all(void (*check)(llaisysDataType_t, bool))
{
    for (llaisysDataType_t d : FLOATS)
        for (int strided = 0; strided < 2; strided++) check(d, strided);
}

/* Operators ------------------------------------------------------------------------------ */

static void check_add(llaisysDataType_t d, bool strided)
{
    const Shape s = {3, 5, 7};
    T a(s, d, strided), b(s, d), c(s, d, strided);
    const Values x = numbers(count(s), 1, d), y = numbers(count(s), 2, d);
    a.load(x);
    b.load(y);
    llaisysAdd(c.t, a.t, b.t);
    const Values got = c.values();
    for (size_t i = 0; i < x.size(); i++) EXPECT(got[i] == rounded(x[i] + y[i], d));
    llaisysAdd(a.t, a.t, a.t);
    EXPECT(a.values()[5] == rounded(2 * x[5], d));
}

TEST(test_add_rounds_once) { for_all(check_add); }

static void check_argmax(llaisysDataType_t d, bool strided)
{
    T vals({257}, d, strided), idx({1}, LLAISYS_DTYPE_I64), val({1}, d);
    Values x = numbers(257, 3, d);
    x[100] = x[200] = 5;
    vals.load(x);
    llaisysArgmax(idx.t, val.t, vals.t);
    EXPECT(idx.values()[0] == 100 && val.values()[0] == 5);
}

TEST(test_argmax_is_the_first_of_the_largest) { for_all(check_argmax); }

static void check_embedding(llaisysDataType_t d, bool strided)
{
    T weight({10, 6}, d, strided), index({4}, LLAISYS_DTYPE_I64), out({4, 6}, d, strided);
    const Values w = numbers(60, 4, d);
    weight.load(w);
    index.load({9, 0, 3, 9});
    llaisysEmbedding(out.t, index.t, weight.t);
    const Values got = out.values();
    const int rows[4] = {9, 0, 3, 9};
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 6; c++) EXPECT(got[r * 6 + c] == w[rows[r] * 6 + c]);
}

TEST(test_embedding_picks_rows) { for_all(check_embedding); }

static void check_linear(llaisysDataType_t d, bool strided)
{
    const size_t m = 5, n = 7, k = 33;
    T x({m, k}, d, strided), w({n, k}, d), b({n}, d), out({m, n}, d, strided);
    const Values vx = numbers(m * k, 5, d), vw = numbers(n * k, 6, d), vb = numbers(n, 7, d);
    x.load(vx);
    w.load(vw);
    b.load(vb);
    for (int with_bias = 0; with_bias < 2; with_bias++) {
        Values want(m * n);
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) {
                double sum = with_bias ? vb[j] : 0;
                for (size_t l = 0; l < k; l++) sum += vx[i * k + l] * vw[j * k + l];
                want[i * n + j] = sum;
            }
        llaisysLinear(out.t, x.t, w.t, with_bias ? b.t : nullptr);
        expect_near(out, want, 4);
    }
}

TEST(test_linear_agrees_with_and_without_bias) { for_all(check_linear); }

static void check_rearrange(llaisysDataType_t d, bool strided)
{
    const Shape s = {3, 4, 5};
    T in(s, d, strided), out(s, d, !strided);
    const Values x = numbers(60, 8, d);
    in.load(x);
    llaisysRearrange(out.t, in.t);
    EXPECT(out.values() == x);
}

TEST(test_rearrange_keeps_bits) { for_all(check_rearrange); }

static void check_rms_norm(llaisysDataType_t d, bool strided)
{
    T x({4, 9}, d, strided), w({9}, d), out({4, 9}, d, strided);
    const Values vx = numbers(36, 9, d), vw = numbers(9, 10, d);
    Values want(36);
    x.load(vx);
    w.load(vw);
    for (int r = 0; r < 4; r++) {
        double sum = 0;
        for (int c = 0; c < 9; c++) sum += vx[r * 9 + c] * vx[r * 9 + c];
        for (int c = 0; c < 9; c++) want[r * 9 + c] = vx[r * 9 + c] * vw[c] / std::sqrt(sum / 9 + 1e-5f);
    }
    llaisysRmsNorm(out.t, x.t, w.t, 1e-5f);
    expect_near(out, want, 2);
}

TEST(test_rms_norm_agrees) { for_all(check_rms_norm); }

static void check_rope(llaisysDataType_t d, bool strided)
{
    const int seq = 3, heads = 2, dim = 8;
    T x({3, 2, 8}, d, strided), pos({3}, LLAISYS_DTYPE_I64), out({3, 2, 8}, d, strided);
    const Values vx = numbers(48, 11, d), vp = {0, 7, 100};
    Values want(48);
    x.load(vx);
    pos.load(vp);
    for (int s = 0; s < seq; s++)
        for (int h = 0; h < heads; h++)
            for (int j = 0; j < dim / 2; j++) {
                const int at = (s * heads + h) * dim + j;
                const double angle = vp[s] / std::pow(10000.0, 2.0 * j / dim);
                want[at] = vx[at] * std::cos(angle) - vx[at + 4] * std::sin(angle);
                want[at + 4] = vx[at + 4] * std::cos(angle) + vx[at] * std::sin(angle);
            }
    llaisysROPE(out.t, x.t, pos.t, 10000.0f);
    expect_near(out, want, d == LLAISYS_DTYPE_F32 ? 20 : 2);
}

TEST(test_rope_turns_pairs_of_halves) { for_all(check_rope); }

static void check_attention(llaisysDataType_t d, bool strided)
{
    const int m = 3, n = 5, heads = 4, kv = 2, dim = 4;
    T q({3, 4, 4}, d, strided), k({5, 2, 4}, d, strided), v({5, 2, 4}, d), out({3, 4, 4}, d, strided);
    const Values vq = numbers(48, 12, d), vk = numbers(40, 13, d), vv = numbers(40, 14, d);
    q.load(vq);
    k.load(vk);
    v.load(vv);
    for (float scale : {0.5f, 0.0f}) {
        Values want(48, 0.0);
        for (int i = 0; i < m; i++)
            for (int h = 0; h < heads; h++) {
                const int g = h / (heads / kv), seen = i + n - m + 1;
                double p[5], sum = 0;
                for (int j = 0; j < seen; j++) {
                    double dot = 0;
                    for (int c = 0; c < dim; c++)
                        dot += vq[(i * heads + h) * dim + c] * vk[(j * kv + g) * dim + c];
                    sum += p[j] = std::exp(dot * scale);
                }
                for (int j = 0; j < seen; j++)
                    for (int c = 0; c < dim; c++)
                        want[(i * heads + h) * dim + c] += p[j] / sum * vv[(j * kv + g) * dim + c];
            }
        llaisysSelfAttention(out.t, q.t, k.t, v.t, scale);
        expect_near(out, want, 4);
    }
}

TEST(test_self_attention_is_causal_with_grouped_heads) { for_all(check_attention); }

static void check_swiglu(llaisysDataType_t d, bool strided)
{
    T g({4, 6}, d, strided), u({4, 6}, d), out({4, 6}, d, strided);
    const Values vg = numbers(24, 15, d), vu = numbers(24, 16, d);
    Values want(24);
    g.load(vg);
    u.load(vu);
    for (int i = 0; i < 24; i++) want[i] = vu[i] * vg[i] / (1 + std::exp(-vg[i]));
    llaisysSwiGLU(out.t, g.t, u.t);
    expect_near(out, want, 2);
}

TEST(test_swiglu_agrees) { for_all(check_swiglu); }

/* The largest of the system's own tests, against sums in double at a sample of places. */
TEST(test_linear_of_4096_is_right_to_1e_5)
{
    const size_t m = 8, n = 64, k = 4096;
    T x({ m, k }, LLAISYS_DTYPE_F32), w({ n, k }, LLAISYS_DTYPE_F32), b({ n }, LLAISYS_DTYPE_F32),
        out({ m, n }, LLAISYS_DTYPE_F32);
    Values vx = numbers(m * k, 20, LLAISYS_DTYPE_F32), vw = numbers(n * k, 21, LLAISYS_DTYPE_F32),
           vb = numbers(n, 22, LLAISYS_DTYPE_F32);
    for (double &v : vx) v = static_cast<float>((v + 1) * 0.05);
    for (double &v : vw) v = static_cast<float>((v + 1) * 0.005);
    x.load(vx);
    w.load(vw);
    b.load(vb);
    llaisysLinear(out.t, x.t, w.t, b.t);
    const Values got = out.values();
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double want = vb[j];
            for (size_t l = 0; l < k; l++) want += vx[i * k + l] * vw[j * k + l];
            EXPECT(std::fabs(got[i * n + j] - want) <= 1e-5 + 1e-5 * std::fabs(want));
        }
}

/* Bad input ---------------------------------------------------------------------------------- */

static bool throws(const std::function<void()> &call)
{
    bool threw = false;
    fflush(stderr);
    const int old = dup(2), null = open("/dev/null", O_WRONLY);
    dup2(null, 2);
    close(null);
    try {
        call();
    } catch (const std::exception &) {
        threw = true;
    }
    fflush(stderr);
    dup2(old, 2);
    close(old);
    return threw;
}

TEST(test_null_tensors_are_refused_by_every_op)
{
    T a({2, 2}, LLAISYS_DTYPE_F32);
    EXPECT(throws([&] { llaisysAdd(nullptr, a.t, a.t); }) && throws([&] { llaisysAdd(a.t, a.t, nullptr); }));
    EXPECT(throws([&] { llaisysArgmax(nullptr, a.t, a.t); }) &&
           throws([&] { llaisysArgmax(a.t, a.t, nullptr); }));
    EXPECT(throws([&] { llaisysEmbedding(a.t, nullptr, a.t); }) &&
           throws([&] { llaisysLinear(a.t, nullptr, a.t, nullptr); }));
    EXPECT(throws([&] { llaisysLinear(nullptr, a.t, a.t, nullptr); }) &&
           throws([&] { llaisysRearrange(a.t, nullptr); }));
    EXPECT(throws([&] { llaisysRmsNorm(a.t, a.t, nullptr, 1e-5f); }) &&
           throws([&] { llaisysROPE(a.t, a.t, nullptr, 1e4f); }));
    EXPECT(throws([&] { llaisysSelfAttention(a.t, a.t, nullptr, a.t, 1); }) &&
           throws([&] { llaisysSwiGLU(nullptr, a.t, a.t); }));
}

TEST(test_dtypes_that_do_not_fit_are_refused)
{
    T f({ 2, 2 }, LLAISYS_DTYPE_F32), h({ 2, 2 }, LLAISYS_DTYPE_F16), i({ 2, 2 }, LLAISYS_DTYPE_I64),
        v({ 2 }, LLAISYS_DTYPE_F32);
    T i32({ 1 }, LLAISYS_DTYPE_I32), i1({ 2 }, LLAISYS_DTYPE_I64), x({ 2, 1, 2 }, LLAISYS_DTYPE_F32),
        one({ 1 }, LLAISYS_DTYPE_F32);
    EXPECT(throws([&] { llaisysAdd(f.t, f.t, h.t); }) && throws([&] { llaisysArgmax(i32.t, one.t, v.t); }));
    EXPECT(throws([&] { llaisysEmbedding(f.t, v.t, f.t); }) &&
           throws([&] { llaisysEmbedding(h.t, i1.t, f.t); }));
    EXPECT(throws([&] { llaisysLinear(i.t, i.t, i.t, nullptr); }) &&
           throws([&] { llaisysLinear(f.t, f.t, f.t, i1.t); }));
    EXPECT(throws([&] { llaisysRearrange(f.t, h.t); }) &&
           throws([&] { llaisysRmsNorm(f.t, f.t, i1.t, 1e-5f); }));
    EXPECT(throws([&] { llaisysROPE(x.t, x.t, v.t, 1e4f); }) &&
           throws([&] { llaisysSwiGLU(i.t, i.t, i.t); }));
    EXPECT(throws([&] { llaisysSelfAttention(x.t, x.t, x.t, i.t, 1); }));
}

TEST(test_shapes_that_do_not_fit_are_refused)
{
    T a({ 2, 3 }, LLAISYS_DTYPE_F32), b({ 3, 2 }, LLAISYS_DTYPE_F32), v({ 3 }, LLAISYS_DTYPE_F32),
        two({ 2 }, LLAISYS_DTYPE_F32);
    T i({ 2 }, LLAISYS_DTYPE_I64), i3({ 3 }, LLAISYS_DTYPE_I64), one({ 1 }, LLAISYS_DTYPE_I64),
        odd({ 2, 1, 3 }, LLAISYS_DTYPE_F32);
    T even({2, 1, 4}, LLAISYS_DTYPE_F32), q({2, 3, 4}, LLAISYS_DTYPE_F32), k({2, 2, 4}, LLAISYS_DTYPE_F32);
    EXPECT(throws([&] { llaisysAdd(a.t, a.t, b.t); }) && throws([&] { llaisysAdd(a.t, a.t, v.t); }));
    EXPECT(throws([&] { llaisysArgmax(i.t, two.t, a.t); }) &&
           throws([&] { llaisysArgmax(one.t, two.t, a.t); }));
    EXPECT(throws([&] { llaisysEmbedding(a.t, i.t, b.t); }) &&
           throws([&] { llaisysEmbedding(a.t, i.t, v.t); }));
    EXPECT(throws([&] { llaisysLinear(a.t, a.t, b.t, nullptr); }) &&
           throws([&] { llaisysLinear(a.t, a.t, v.t, nullptr); }));
    EXPECT(throws([&] { llaisysRearrange(a.t, b.t); }) &&
           throws([&] { llaisysRmsNorm(a.t, a.t, two.t, 1e-5f); }));
    EXPECT(throws([&] { llaisysRmsNorm(a.t, a.t, v.t, -1.0f); }) &&
           throws([&] { llaisysSwiGLU(a.t, a.t, b.t); }));
    EXPECT(throws([&] { llaisysROPE(odd.t, odd.t, i.t, 1e4f); }) &&
           throws([&] { llaisysROPE(even.t, even.t, i3.t, 1e4f); }));
    EXPECT(throws([&] { llaisysROPE(even.t, even.t, i.t, 0.0f); }) &&
           throws([&] { llaisysROPE(a.t, a.t, i.t, 1e4f); }));
    EXPECT(throws([&] { llaisysSelfAttention(q.t, q.t, k.t, k.t, 1); }) &&
           throws([&] { llaisysSelfAttention(even.t, q.t, q.t, q.t, 1); }));
    EXPECT(throws([&] { llaisysSelfAttention(q.t, q.t, q.t, q.t, NAN); }));
}

TEST(test_indices_outside_are_refused_and_leave_the_result)
{
    T w({3, 2}, LLAISYS_DTYPE_F32), out({2, 2}, LLAISYS_DTYPE_F32), i({2}, LLAISYS_DTYPE_I64);
    w.load({1, 2, 3, 4, 5, 6});
    out.load({7, 7, 7, 7});
    i.load({0, 3});
    EXPECT(throws([&] { llaisysEmbedding(out.t, i.t, w.t); }) && out.values() == Values({7, 7, 7, 7}));
    T none({0}, LLAISYS_DTYPE_F32), idx({1}, LLAISYS_DTYPE_I64), val({1}, LLAISYS_DTYPE_F32);
    EXPECT(throws([&] { llaisysArgmax(idx.t, val.t, none.t); }));
}

TEST(test_ops_on_nothing_do_nothing)
{
    T a({ 0, 4 }, LLAISYS_DTYPE_F32), w({ 4 }, LLAISYS_DTYPE_F32), m({ 3, 4 }, LLAISYS_DTYPE_F32),
        o({ 0, 3 }, LLAISYS_DTYPE_F32);
    llaisysAdd(a.t, a.t, a.t);
    llaisysSwiGLU(a.t, a.t, a.t);
    llaisysRearrange(a.t, a.t);
    llaisysRmsNorm(a.t, a.t, w.t, 1e-5f);
    llaisysLinear(o.t, a.t, m.t, nullptr);
    T x({0, 2, 4}, LLAISYS_DTYPE_F32), p({0}, LLAISYS_DTYPE_I64), e({0, 4}, LLAISYS_DTYPE_F32);
    llaisysROPE(x.t, x.t, p.t, 1e4f);
    llaisysEmbedding(e.t, p.t, m.t);
    llaisysSelfAttention(x.t, x.t, x.t, x.t, 1.0f);
    EXPECT(tensorGetNdim(x.t) == 3);
}
