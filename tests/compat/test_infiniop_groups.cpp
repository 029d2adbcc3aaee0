/* test_infiniop_groups.cpp - the groups of groups.h, against plain loops. */
#include <algorithm>

#include "infiniop_test.h"

static const infiniDtype_t floats[] = { INFINI_DTYPE_F16, INFINI_DTYPE_BF16, INFINI_DTYPE_F32,
                                        INFINI_DTYPE_F64 };
static const infiniDtype_t F32 = INFINI_DTYPE_F32, I32 = INFINI_DTYPE_I32, I64 = INFINI_DTYPE_I64;

using F1 = double (*)(double);
using F2 = double (*)(double, double);

#define CHECK_UNARY(Name, low, high, function) \
    for (infiniDtype_t dt : floats) { \
        Array result({ 3, 5 }, dt), operand({ 3, 5 }, dt, { -5, 1 }); \
        const F1 f = function; \
        operand.random(dt, low, high); \
        EXPECT_DONE(RUN_OP(Name, (result.desc(), operand.desc()), (result.data(), operand.data()))); \
        expect_elements( \
            #Name, result, [&](size_t i) { return f(operand[i]); }, 2); \
    }

static double digamma(double x)
{
    double sum = 0;
    for (; x < 30; x += 1) sum -= 1 / x;
    const double r = 1 / (x * x);
    return sum + std::log(x) - 0.5 / x - r * (1.0 / 12 - r * (1.0 / 120 - r / 252));
}

TEST(test_functions_of_one)
{
    Handle handle;
    CHECK_UNARY(Acos, -1, 1, std::acos)
    CHECK_UNARY(Asin, -1, 1, std::asin)
    CHECK_UNARY(Asinh, -3, 3, std::asinh)
    CHECK_UNARY(Digamma, 0.1, 20, digamma)
    CHECK_UNARY(Floor, -9, 9, std::floor)
    CHECK_UNARY(Relu6, -3, 9, [](double x) { return std::fmin(std::fmax(x, 0), 6); })
    CHECK_UNARY(Selu, -3, 3, [](double x) {
        return 1.0507009873554804934 * (x > 0 ? x : 1.6732632423543772848 * std::expm1(x));
    })
    CHECK_UNARY(Sinh, -3, 3, std::sinh)
    CHECK_UNARY(Softsign, -3, 3, [](double x) { return x / (1 + std::fabs(x)); })
    CHECK_UNARY(Tanhshrink, -3, 3, [](double x) { return x - std::tanh(x); })
    Array y({ 4 }, F32), x({ 4 }, F32);
    x.fill([](size_t i) { return (double)i - 2; });
    EXPECT_DONE(RUN_OP(Digamma, (y.desc(), x.desc()), (y.data(), x.data())));
    EXPECT(std::isnan(y[0]) && std::isnan(y[1]) && y[2] == -INFINITY && is_near(y[3], -0.5772156649, 1e-6));
    EXPECT_DONE(RUN_OP(Tan, (x.desc(), y.desc()), (y.data(), x.data())));
    expect_elements("Tan", y, [&](size_t i) { return std::tan(x[i]); });
    EXPECT_DONE(RUN_OP(MulScalar, (y.desc(), x.desc()), (y.data(), x.data(), 2.5)));
    expect_elements("MulScalar", y, [&](size_t i) { return 2.5 * x[i]; });
}

#define CHECK_BINARY(Name, low, high, function) \
    for (infiniDtype_t dt : floats) { \
        Array result({ 3, 5 }, dt), left({ 3, 5 }, dt, { 1, 3 }), right({ 3, 5 }, dt); \
        const F2 f = function; \
        left.random(dt, low, high); \
        right.random(dt + 1, low, high); \
        EXPECT_DONE(RUN_OP(Name, (result.desc(), left.desc(), right.desc()), \
                           (result.data(), left.data(), right.data()))); \
        expect_elements( \
            #Name, result, [&](size_t i) { return f(left[i], right[i]); }, 4); \
    }

TEST(test_functions_of_two)
{
    Handle handle;
    CHECK_BINARY(FloorDivide, 1, 9, [](double a, double b) { return std::floor(a / b); })
    CHECK_BINARY(Fmin, -3, 3, std::fmin)
    CHECK_BINARY(Fmod, -3, 3, std::fmod)
    CHECK_BINARY(Hypot, -3, 3, std::hypot)
    CHECK_BINARY(LogAddExp, -3, 3, [](double a, double b) { return std::log(std::exp(a) + std::exp(b)); })
    CHECK_BINARY(LogAddExp2, -3, 3,
                 [](double a, double b) { return std::log2(std::exp2(a) + std::exp2(b)); })
    CHECK_BINARY(Ldexp, -2, 2, [](double a, double b) { return a * std::exp2(b); })
    CHECK_BINARY(Prelu, -3, 3, [](double a, double b) { return a > 0 ? a : a * b; })
    Array c({ 4 }, I32), a({ 4 }, I32), b({ 4 }, I32);
    a.fill([](size_t i) { return (double)i * 77 - 100; });
    b.fill([](size_t i) { return (double)i; });
    EXPECT_DONE(RUN_OP(BitwiseRightShift, (c.desc(), a.desc(), b.desc()), (c.data(), a.data(), b.data())));
    for (size_t i = 0; i < 4; i++) EXPECT((int)c[i] == (int)a[i] >> (int)b[i]);
    Array y({ 2, 3 }, F32), x({ 2, 3 }, F32), w({ 3 }, F32), e({ 2, 3 }, F32);
    x.random(1, 0.1, 3);
    w.random(2);
    e.random(3);
    EXPECT_DONE(RUN_OP(Prelu, (y.desc(), x.desc(), w.desc()), (y.data(), x.data(), w.data())));
    EXPECT_DONE(RUN_OP(Lerp, (y.desc(), x.desc(), e.desc(), w.desc(), 0),
                       (y.data(), x.data(), e.data(), w.data())));
    expect_elements(
        "Lerp", y, [&](size_t i) { return x[i] + w[i % 3] * (e[i] - x[i]); }, 2);
    EXPECT_DONE(RUN_OP(Lerp, (y.desc(), x.desc(), e.desc(), nullptr, 0.25f),
                       (y.data(), x.data(), e.data(), nullptr)));
    expect_elements(
        "Lerp", y, [&](size_t i) { return x[i] + 0.25 * (e[i] - x[i]); }, 2);
    EXPECT_DONE(RUN_OP(FloatPower, (y.desc(), x.desc(), e.desc(), 0), (y.data(), x.data(), e.data())));
    expect_elements("FloatPower", y, [&](size_t i) { return std::pow(x[i], e[i]); });
    EXPECT_DONE(RUN_OP(FloatPower, (y.desc(), x.desc(), nullptr, 3), (y.data(), x.data(), nullptr)));
    expect_elements("FloatPower", y, [&](size_t i) { return std::pow(x[i], 3); });
}

TEST(test_reductions)
{
    Handle handle;
    for (infiniDtype_t dt : floats) {
        size_t both[] = { 0, 2 }, one = 1, none = 9;
        Array x({ 2, 3, 4 }, dt), y({ 3 }, dt), kept({ 1, 3, 1 }, dt), mean({ 2, 4 }, dt),
            var({ 2, 4 }, dt), all({}, dt);
        x.random(dt);
        const auto sum = [&](size_t j) {
            double s = 0;
            for (size_t i = 0; i < 24; i++) s += i / 4 % 3 == j ? x[i] : 0;
            return s;
        };
        EXPECT_DONE(
            RUN_OP(Sum, (y.desc(), x.desc(), both, 2, false), (y.data(), x.data(), both, 2, false)));
        expect_elements("Sum", y, sum, 4);
        EXPECT_DONE(
            RUN_OP(Sum, (kept.desc(), x.desc(), both, 2, true), (kept.data(), x.data(), both, 2, true)));
        expect_elements("Sum", kept, sum, 4);
        EXPECT_DONE(RUN_OP(Sum, (all.desc(), x.desc(), nullptr, 0, false),
                           (all.data(), x.data(), nullptr, 0, false)));
        expect_elements(
            "Sum", all, [&](size_t) { return sum(0) + sum(1) + sum(2); }, 8);
        EXPECT_INFINI(CREATE_OP(Sum, y.desc(), x.desc(), &none, 1, false), INFINI_STATUS_BAD_PARAM);
        EXPECT_INFINI(CREATE_OP(Sum, y.desc(), x.desc(), &one, 1, false), INFINI_STATUS_BAD_TENSOR_SHAPE);
        const auto mean_of = [&](size_t i) {
            double s = 0;
            for (size_t j = 0; j < 3; j++) s += x[(i / 4 * 3 + j) * 4 + i % 4];
            return s / 3;
        };
        const auto var_of = [&](size_t i, double n) {
            double s = 0;
            for (size_t j = 0; j < 3; j++) s += std::pow(x[(i / 4 * 3 + j) * 4 + i % 4] - mean_of(i), 2);
            return s / n;
        };
        EXPECT_DONE(RUN_OP(VarMean, (var.desc(), mean.desc(), x.desc(), &one, 1, true, false),
                           (var.data(), mean.data(), x.data(), &one, 1, true, false)));
        expect_elements("VarMean", mean, mean_of, 4);
        expect_elements(
            "VarMean", var, [&](size_t i) { return var_of(i, 2); }, 4);
        EXPECT_DONE(RUN_OP(Var, (var.desc(), x.desc(), &one, 1, false, false),
                           (var.data(), x.data(), &one, 1, false, false)));
        expect_elements(
            "Var", var, [&](size_t i) { return var_of(i, 3); }, 4);
    }
    size_t dim = 1;
    Array truth({ 2, 3 }, INFINI_DTYPE_BOOL), every({ 2 }, INFINI_DTYPE_BOOL);
    truth.fill([](size_t i) { return i != 4; });
    EXPECT_DONE(RUN_OP(All, (every.desc(), truth.desc(), &dim, 1, false),
                       (every.data(), truth.data(), &dim, 1, false)));
    EXPECT(every[0] == 1 && every[1] == 0);
}

TEST(test_searches_and_scans)
{
    Handle handle;
    for (infiniDtype_t dt : floats) {
        Array x({ 2, 5 }, dt), values({ 2, 3 }, dt), places({ 2, 3 }, I32), value({ 2 }, dt),
            place({ 2 }, I64);
        x.random(dt);
        EXPECT_DONE(RUN_OP(TopK, (values.desc(), places.desc(), x.desc(), 3, 1, true, true),
                           (values.data(), places.data(), x.data(), 3, 1, true, true)));
        EXPECT_DONE(RUN_OP(Kthvalue, (value.desc(), place.desc(), x.desc(), 2, -1, 0),
                           (value.data(), place.data(), x.data())));
        for (size_t r = 0; r < 2; r++) {
            std::vector<double> row;
            for (size_t i = 0; i < 5; i++) row.push_back(x[r * 5 + i]);
            std::sort(row.begin(), row.end());
            for (size_t i = 0; i < 3; i++)
                EXPECT(values[r * 3 + i] == row[4 - i] &&
                       x[r * 5 + (size_t)places[r * 3 + i]] == row[4 - i]);
            EXPECT(value[r] == row[1] && x[r * 5 + (size_t)place[r]] == row[1]);
        }
        EXPECT_INFINI(CREATE_OP(Kthvalue, value.desc(), place.desc(), x.desc(), 6, 1, 0),
                      INFINI_STATUS_BAD_PARAM);
        Array y({ 2, 5 }, dt);
        for (const int reverse : { 0, 1 })
            for (const int exclusive : { 0, 1 }) {
                EXPECT_DONE(RUN_OP(LogCumSumExp, (y.desc(), x.desc(), 1, exclusive, reverse),
                                   (y.data(), x.data())));
                expect_elements(
                    "LogCumSumExp", y,
                    [&](size_t i) {
                        double s = 0;
                        for (size_t j = 0; j < 5; j++)
                            if (reverse ? j + 0 >= i % 5 + (size_t)exclusive
                                        : j + (size_t)exclusive <= i % 5)
                                s += std::exp(x[i / 5 * 5 + j]);
                        return std::log(s);
                    },
                    2);
            }
        Array z({ 2, 5 }, dt), d({}, dt);
        z.random(dt + 5);
        EXPECT_DONE(RUN_OP(Dist, (d.desc(), x.desc(), z.desc(), 3.0), (d.data(), x.data(), z.data())));
        expect_elements(
            "Dist", d,
            [&](size_t) {
                double s = 0;
                for (size_t i = 0; i < 10; i++) s += std::pow(std::fabs(x[i] - z[i]), 3);
                return std::cbrt(s);
            },
            2);
        Array inner({ 2, 2 }, dt);
        EXPECT_DONE(RUN_OP(Inner, (inner.desc(), x.desc(), z.desc()), (inner.data(), x.data(), z.data())));
        expect_elements(
            "Inner", inner,
            [&](size_t i) {
                double s = 0;
                for (size_t k = 0; k < 5; k++) s += x[i / 2 * 5 + k] * z[i % 2 * 5 + k];
                return s;
            },
            4);
    }
}

TEST(test_indices)
{
    Handle handle;
    Array x({ 3, 4 }, F32), y({ 2, 2 }, F32), places({ 2, 2 }, I64);
    x.random(1);
    places.fill([](size_t i) { return (double)(i * 3); });
    EXPECT_DONE(RUN_OP(Take, (y.desc(), x.desc(), places.desc()), (y.data(), x.data(), places.data())));
    expect_elements("Take", y, [&](size_t i) { return x[i * 3]; });
    places.set(0, 12);
    EXPECT_INFINI(RUN_OP(Take, (y.desc(), x.desc(), places.desc()), (y.data(), x.data(), places.data())),
                  INFINI_STATUS_BAD_PARAM);
    Array out({ 3, 4 }, F32), index({ 2 }, I32), source({ 3, 2 }, F32);
    source.random(2);
    index.fill([](size_t i) { return i ? 1 : 3; });
    EXPECT_DONE(RUN_OP(IndexAdd, (out.desc(), x.desc(), 1, index.desc(), source.desc(), 0.5f),
                       (out.data(), x.data(), index.data(), source.data())));
    expect_elements("IndexAdd", out, [&](size_t i) {
        return x[i] + (i % 4 == 3 ? 0.5 * source[i / 4 * 2] : i % 4 == 1 ? 0.5 * source[i / 4 * 2 + 1] : 0);
    });
    EXPECT_DONE(RUN_OP(IndexCopy, (out.desc(), x.desc(), -1, index.desc(), source.desc()),
                       (out.data(), x.data(), index.data(), source.data())));
    expect_elements("IndexCopy", out, [&](size_t i) {
        return i % 4 == 3 ? source[i / 4 * 2] : i % 4 == 1 ? source[i / 4 * 2 + 1] : x[i];
    });
    EXPECT_INFINI(CREATE_OP(IndexCopy, out.desc(), x.desc(), 2, index.desc(), source.desc()),
                  INFINI_STATUS_BAD_PARAM);
    Array at({ 3, 2 }, I64);
    at.fill([](size_t i) { return (double)(i % 4); });
    for (const int reduction : { 0, 1, 2 }) {
        EXPECT_DONE(RUN_OP(Scatter, (out.desc(), x.desc(), at.desc(), source.desc(), 1, reduction),
                           (out.data(), x.data(), at.data(), source.data())));
        expect_elements("Scatter", out, [&](size_t i) {
            double v = x[i];
            for (size_t k = 0; k < 2; k++) {
                const double update = source[i / 4 * 2 + k];
                if ((size_t)at[i / 4 * 2 + k] != i % 4) continue;
                v = reduction == 0 ? update : reduction == 1 ? v + update : v * update;
            }
            return v;
        });
    }
    at.set(1, 4);
    EXPECT_INFINI(RUN_OP(Scatter, (out.desc(), x.desc(), at.desc(), source.desc(), 1, 2),
                         (out.data(), x.data(), at.data(), source.data())),
                  INFINI_STATUS_BAD_PARAM);
    Array far({ 4, 2 }, I64), updates({ 4, 2 }, INFINI_DTYPE_F32);
    for (const int reduction : { 0, 1, 2 }) /* there are but 3 rows */
        EXPECT_INFINI(RUN_OP(Scatter, (out.desc(), x.desc(), far.desc(), updates.desc(), 1, reduction),
                             (out.data(), x.data(), far.data(), updates.data())),
                      INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Scatter, out.desc(), x.desc(), at.desc(), source.desc(), 1, 3),
                  INFINI_STATUS_BAD_PARAM);
}

TEST(test_lookups_without_a_workspace)
{
    Handle handle;
    Array weight({ 5, 3 }, INFINI_DTYPE_F16), index({ 2, 2 }, I32), y({ 2, 2, 3 }, INFINI_DTYPE_F16);
    infiniopEmbeddingDescriptor_t embedding = nullptr;
    weight.random(1);
    index.fill([](size_t i) { return (double)(4 - i); });
    EXPECT_DONE(
        infiniopCreateEmbeddingDescriptor(handle, &embedding, y.desc(), index.desc(), weight.desc()));
    EXPECT_DONE(infiniopEmbedding(embedding, y.data(), index.data(), weight.data(), nullptr));
    expect_elements("Embedding", y, [&](size_t i) { return weight[(4 - i / 3) * 3 + i % 3]; });
    EXPECT_DONE(infiniopDestroyEmbeddingDescriptor(embedding));
    for (const infiniDtype_t dt : { INFINI_DTYPE_F16, INFINI_DTYPE_BF16, F32 }) {
        Array hidden({ 1, 7, 3 }, dt), offsets({ 4 }, I32), last({ 1, 3, 3 }, dt);
        infiniopSelectLastTokenHiddenDescriptor_t select = nullptr;
        const int ends[] = { 0, 2, 3, 7 };
        hidden.random(dt);
        offsets.fill([&](size_t i) { return ends[i]; });
        EXPECT_DONE(infiniopCreateSelectLastTokenHiddenDescriptor(handle, &select, last.desc(),
                                                                  hidden.desc(), offsets.desc()));
        EXPECT_DONE(
            infiniopSelectLastTokenHidden(select, last.data(), hidden.data(), offsets.data(), nullptr));
        expect_elements("SelectLastTokenHidden", last,
                        [&](size_t i) { return hidden[(size_t)(ends[i / 3 + 1] - 1) * 3 + i % 3]; });
        offsets.set(1, 0);
        EXPECT_INFINI(
            infiniopSelectLastTokenHidden(select, last.data(), hidden.data(), offsets.data(), nullptr),
            INFINI_STATUS_BAD_PARAM);
        offsets.set(1, 9);
        EXPECT_INFINI(
            infiniopSelectLastTokenHidden(select, last.data(), hidden.data(), offsets.data(), nullptr),
            INFINI_STATUS_BAD_PARAM);
        EXPECT_DONE(infiniopDestroySelectLastTokenHiddenDescriptor(select));
    }
    Array x({ 2, 3 }, F32), mask({ 2, 3 }, INFINI_DTYPE_BOOL);
    void *found = nullptr;
    size_t count = 0;
    x.fill([](size_t i) { return i % 2 ? (double)i : 0; });
    mask.fill([](size_t i) { return i == 2 || i == 5; });
    EXPECT_DONE(RUN_OP(Argwhere, (x.desc()), (&found, &count, x.data())));
    EXPECT(count == 3 && ((int64_t *)found)[2] == 1 && ((int64_t *)found)[3] == 0);
    EXPECT_DONE(infinirtFree(found));
    EXPECT_DONE(RUN_OP(MaskedSelect, (x.desc(), mask.desc()),
                       (x.data(), (const bool *)mask.data(), &found, &count)));
    EXPECT(count == 2 && ((float *)found)[0] == 0 && ((float *)found)[1] == 5);
    EXPECT_DONE(infinirtFree(found));
}

TEST(test_layouts)
{
    Handle handle;
    for (infiniDtype_t dt : floats) {
        Array a({ 2, 3 }, dt), b({ 1, 2 }, dt), diag({ 3, 5 }, dt), wide({ 4, 2, 3 }, dt),
            flipped({ 2, 3 }, dt), steps({ 2, 1 }, dt), kron({ 2, 6 }, dt);
        a.random(dt);
        b.random(dt + 1);
        infiniopTensorDescriptor_t blocks[] = { a.desc(), b.desc() };
        const void *data[] = { a.data(), b.data() };
        EXPECT_DONE(RUN_OP(BlockDiag, (diag.desc(), blocks, 2), (diag.data(), data)));
        expect_elements("BlockDiag", diag, [&](size_t i) {
            const size_t r = i / 5, c = i % 5;
            return r < 2 && c < 3 ? a[r * 3 + c] : r == 2 && c >= 3 ? b[c - 3] : 0;
        });
        EXPECT_DONE(RUN_OP(BroadcastTo, (wide.desc(), a.desc()), (wide.data(), a.data())));
        expect_elements("BroadcastTo", wide, [&](size_t i) { return a[i % 6]; });
        EXPECT_DONE(RUN_OP(Flipud, (flipped.desc(), a.desc()), (flipped.data(), a.data())));
        expect_elements("Flipud", flipped, [&](size_t i) { return a[(1 - i / 3) * 3 + i % 3]; });
        EXPECT_DONE(RUN_OP(Diff, (steps.desc(), a.desc(), -1, 2), (steps.data(), a.data())));
        expect_elements(
            "Diff", steps, [&](size_t i) { return a[i * 3 + 2] - 2 * a[i * 3 + 1] + a[i * 3]; }, 2);
        EXPECT_DONE(RUN_OP(Kron, (kron.desc(), a.desc(), b.desc()), (kron.data(), a.data(), b.data())));
        expect_elements("Kron", kron, [&](size_t i) { return a[i / 6 * 3 + i % 6 / 2] * b[i % 2]; });
        Array v({ 3 }, dt), powers({ 3, 4 }, dt);
        v.random(dt + 2);
        for (const int increasing : { 0, 1 }) {
            EXPECT_DONE(
                RUN_OP(Vander, (powers.desc(), v.desc(), 4, increasing), (powers.data(), v.data())));
            expect_elements(
                "Vander", powers,
                [&](size_t i) { return std::pow(v[i / 4], (double)(increasing ? i % 4 : 3 - i % 4)); }, 2);
        }
        int pad[] = { 1, 2, 1, 0 };
        Array padded({ 3, 6 }, dt);
        const char *modes[] = { "constant", "replicate", "reflect", "circular" };
        for (int m = 0; m < 4; m++) {
            EXPECT_DONE(RUN_OP(Pad, (padded.desc(), a.desc(), pad, sizeof pad, modes[m], 7.0),
                               (padded.data(), a.data())));
            expect_elements(modes[m], padded, [&](size_t i) {
                const auto place = [&](int at, int n) {
                    if (at >= 0 && at < n) return at;
                    return m == 1   ? (at < 0 ? 0 : n - 1)
                           : m == 2 ? (at < 0 ? -at : 2 * n - 2 - at)
                                    : (at + n) % n;
                };
                const int r = (int)(i / 6) - 1, c = (int)(i % 6) - 1;
                if (m == 0 && (r < 0 || c < 0 || c > 2)) return 7.0;
                return a[(size_t)(place(r, 2) * 3 + place(c, 3))];
            });
        }
    }
    const int kernel[] = { 2, 3 }, step[] = { 1, 2 }, around[] = { 1, 0 }, apart[] = { 2, 1 };
    Array image({ 2, 2, 4, 5 }, F32), columns({ 2, 12, 8 }, F32);
    image.random(3);
    EXPECT_DONE(RUN_OP(Unfold, (columns.desc(), image.desc(), kernel, step, around, apart),
                       (columns.data(), image.data())));
    expect_elements("Unfold", columns, [&](size_t i) {
        const size_t window = i % 8, k = i / 8 % 12, n = i / 96, c = k / 6;
        const int row = (int)(window / 2) + 2 * (int)(k % 6 / 3) - 1,
                  col = (int)(window % 2) * 2 + (int)(k % 3);
        return row < 0 || row > 3 ? 0 : image[((n * 2 + c) * 4 + (size_t)row) * 5 + (size_t)col];
    });
}

TEST(test_pools_and_sizes)
{
    Handle handle;
    for (infiniDtype_t dt : floats) {
        Array x({ 1, 2, 7 }, dt), mean({ 1, 2, 3 }, dt), most({ 1, 2, 3 }, dt);
        x.random(dt);
        const auto range = [](size_t i, size_t *low, size_t *high) {
            *low = i * 7 / 3;
            *high = ((i + 1) * 7 + 2) / 3;
        };
        EXPECT_DONE(RUN_OP(AdaptiveAvgPool1d, (mean.desc(), x.desc()), (mean.data(), x.data())));
        EXPECT_DONE(RUN_OP(AdaptiveMaxPool1d, (most.desc(), x.desc(), 3), (most.data(), x.data())));
        expect_elements(
            "AdaptiveAvgPool1d", mean,
            [&](size_t i) {
                size_t low, high;
                double s = 0;
                range(i % 3, &low, &high);
                for (size_t j = low; j < high; j++) s += x[i / 3 * 7 + j];
                return s / (double)(high - low);
            },
            2);
        expect_elements("AdaptiveMaxPool1d", most, [&](size_t i) {
            size_t low, high;
            double s = -9;
            range(i % 3, &low, &high);
            for (size_t j = low; j < high; j++) s = std::fmax(s, x[i / 3 * 7 + j]);
            return s;
        });
        size_t sizes[] = { 1, 1, 1 };
        Array cube({ 1, 2, 2, 2, 3 }, dt), one({ 1, 2, 1, 1, 1 }, dt);
        cube.random(dt + 1);
        EXPECT_DONE(RUN_OP(AdaptiveAvgPool3D, (one.desc(), cube.desc(), sizes), (one.data(), cube.data())));
        expect_elements(
            "AdaptiveAvgPool3D", one,
            [&](size_t i) {
                double s = 0;
                for (size_t j = 0; j < 12; j++) s += cube[i * 12 + j];
                return s / 12;
            },
            2);
    }
    Array x({ 1, 1, 2, 3 }, F32), y({ 1, 1, 4, 6 }, F32);
    int size[] = { 4, 6 };
    x.random(9);
    const auto linear = [&](size_t i, bool corners) {
        const auto at = [&](size_t k, double m, double n) {
            return corners ? (double)k * (m - 1) / (n - 1) : std::fmax(0, ((double)k + 0.5) * m / n - 0.5);
        };
        const double r = at(i / 6, 2, 4), c = at(i % 6, 3, 6);
        const size_t r0 = (size_t)r, c0 = (size_t)c, r1 = r0 < 1 ? r0 + 1 : r0, c1 = c0 < 2 ? c0 + 1 : c0;
        const double fr = r - (double)r0, fc = c - (double)c0;
        return (1 - fr) * ((1 - fc) * x[r0 * 3 + c0] + fc * x[r0 * 3 + c1]) +
               fr * ((1 - fc) * x[r1 * 3 + c0] + fc * x[r1 * 3 + c1]);
    };
    for (const int corners : { 0, 1 }) {
        EXPECT_DONE(RUN_OP(UpsampleBilinear, (y.desc(), x.desc(), corners), (y.data(), x.data())));
        expect_elements(
            "UpsampleBilinear", y, [&](size_t i) { return linear(i, corners); }, 2);
        EXPECT_DONE(RUN_OP(Interpolate, (y.desc(), x.desc(), "bilinear", size, nullptr, corners),
                           (y.data(), x.data())));
        expect_elements(
            "Interpolate", y, [&](size_t i) { return linear(i, corners); }, 2);
    }
    EXPECT_DONE(RUN_OP(UpsampleNearest, (y.desc(), x.desc()), (y.data(), x.data())));
    expect_elements("UpsampleNearest", y, [&](size_t i) { return x[i / 6 / 2 * 3 + i % 6 / 2]; });
    EXPECT_DONE(
        RUN_OP(Interpolate, (y.desc(), x.desc(), "nearest", size, nullptr, 0), (y.data(), x.data())));
    expect_elements("Interpolate", y, [&](size_t i) { return x[i / 6 / 2 * 3 + i % 6 / 2]; });
    EXPECT_INFINI(CREATE_OP(Interpolate, y.desc(), x.desc(), "cubic", size, nullptr, 0),
                  INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(CREATE_OP(Interpolate, y.desc(), x.desc(), "linear", size, nullptr, 0),
                  INFINI_STATUS_BAD_PARAM);
    Array theta({ 2, 2, 3 }, F32), grid({ 2, 2, 3, 2 }, F32);
    theta.random(4);
    EXPECT_DONE(RUN_OP(AffineGrid, (grid.desc(), theta.desc(), 1), (grid.data(), theta.data())));
    expect_elements(
        "AffineGrid", grid,
        [&](size_t i) {
            const size_t n = i / 12, r = i / 6 % 2, c = i / 2 % 3, k = i % 2;
            return theta[n * 6 + k * 3] * ((double)c - 1) + theta[n * 6 + k * 3 + 1] * (r ? 1 : -1) +
                   theta[n * 6 + k * 3 + 2];
        },
        2);
}

static double reduced(int reduction, size_t i, size_t n, const std::function<double(size_t)> &loss)
{
    double s = 0;
    if (reduction == INFINIOP_REDUCTION_NONE) return loss(i);
    for (size_t j = 0; j < n; j++) s += loss(j);
    return reduction == INFINIOP_REDUCTION_MEAN ? s / (double)n : s;
}

TEST(test_losses_of_pairs)
{
    Handle handle;
    for (infiniDtype_t dt : floats)
        for (int r = INFINIOP_REDUCTION_NONE; r <= INFINIOP_REDUCTION_SUM; r++) {
            Array x({ 3, 4 }, dt), z({ 3, 4 }, dt), v({ 3, 4 }, dt), sign({ 3, 4 }, dt);
            Array y(r ? Sizes{ 1 } : Sizes{ 3, 4 }, dt);
            x.random(dt, -2, 2);
            z.random(dt + 1, -2, 2);
            v.random(dt + 2, 0.1, 1);
            sign.fill([](size_t i) { return i % 3 ? -1 : 1; });
            EXPECT_DONE(
                RUN_OP(HuberLoss, (y.desc(), x.desc(), z.desc(), 0.5f, r), (y.data(), x.data(), z.data())));
            expect_elements(
                "HuberLoss", y,
                [&](size_t i) {
                    return reduced(r, i, 12, [&](size_t j) {
                        const double d = std::fabs(x[j] - z[j]);
                        return d < 0.5 ? 0.5 * d * d : 0.5 * (d - 0.25);
                    });
                },
                4);
            EXPECT_DONE(RUN_OP(SmoothL1Loss, (y.desc(), x.desc(), z.desc(), 0.5f, r),
                               (y.data(), x.data(), z.data())));
            expect_elements(
                "SmoothL1Loss", y,
                [&](size_t i) {
                    return reduced(r, i, 12, [&](size_t j) {
                        const double d = std::fabs(x[j] - z[j]);
                        return d < 0.5 ? d * d : d - 0.25;
                    });
                },
                4);
            EXPECT_DONE(RUN_OP(GaussianNllLoss, (y.desc(), x.desc(), z.desc(), v.desc(), 1, 1e-6, r),
                               (y.data(), x.data(), z.data(), v.data())));
            expect_elements(
                "GaussianNllLoss", y,
                [&](size_t i) {
                    return reduced(r, i, 12, [&](size_t j) {
                        return 0.5 *
                               (std::log(v[j]) + std::pow(x[j] - z[j], 2) / v[j] + std::log(2 * M_PI));
                    });
                },
                8);
            EXPECT_DONE(RUN_OP(HingeEmbeddingLoss, (y.desc(), x.desc(), sign.desc(), 1.0, r),
                               (y.data(), x.data(), sign.data())));
            expect_elements(
                "HingeEmbeddingLoss", y,
                [&](size_t i) {
                    return reduced(r, i, 12,
                                   [&](size_t j) { return j % 3 ? std::fmax(0, 1 - x[j]) : x[j]; });
                },
                4);
            Array rows(r ? Sizes{ 1 } : Sizes{ 3 }, dt), target({ 3 }, I64), weight({ 4 }, dt);
            target.fill([](size_t i) { return (double)(i + 1); });
            weight.random(dt + 3, 0.1, 1);
            EXPECT_DONE(RUN_OP(MultiMarginLoss,
                               (rows.desc(), x.desc(), target.desc(), weight.desc(), 2, 1.0f, r),
                               (rows.data(), x.data(), target.data(), weight.data())));
            expect_elements(
                "MultiMarginLoss", rows,
                [&](size_t i) {
                    return reduced(r, i, 3, [&](size_t j) {
                        double s = 0;
                        for (size_t c = 0; c < 4; c++)
                            if (c != j + 1)
                                s += std::pow(std::fmax(0, 1 - x[j * 4 + j + 1] + x[j * 4 + c]), 2);
                        return s / 4 * weight[j + 1];
                    });
                },
                8);
            const auto distance = [&](const Array &a, const Array &b, size_t j) {
                double s = 0;
                for (size_t c = 0; c < 4; c++) s += std::pow(a[j * 4 + c] - b[j * 4 + c], 2);
                return std::sqrt(s + 1e-6);
            };
            const auto triplet = [&](size_t i) {
                return reduced(r, i, 3, [&](size_t j) {
                    const double apart = std::fmin(distance(x, v, j), distance(z, v, j));
                    return std::fmax(0, distance(x, z, j) - apart + 1);
                });
            };
            EXPECT_DONE(RUN_OP(TripletMarginLoss,
                               (rows.desc(), x.desc(), z.desc(), v.desc(), 1.0f, 2, 1e-6f, 1, r),
                               (rows.data(), x.data(), z.data(), v.data())));
            expect_elements("TripletMarginLoss", rows, triplet, 8);
            EXPECT_DONE(RUN_OP(TripletMarginWithDistanceLoss,
                               (rows.desc(), x.desc(), z.desc(), v.desc(), 1.0f, 1, r),
                               (rows.data(), x.data(), z.data(), v.data())));
            expect_elements("TripletMarginWithDistanceLoss", rows, triplet, 8);
            EXPECT_INFINI(CREATE_OP(HuberLoss, y.desc(), x.desc(), z.desc(), 0.5f, 3),
                          INFINI_STATUS_BAD_PARAM);
        }
}

TEST(test_products_and_routing)
{
    Handle handle;
    for (infiniDtype_t dt : floats) {
        Array y({ 2, 3 }, dt), start({ 3 }, dt), a({ 2, 2, 4 }, dt), b({ 2, 4, 3 }, dt), u({ 2 }, dt),
            v({ 3 }, dt);
        start.random(dt);
        a.random(dt + 1);
        b.random(dt + 2);
        u.random(dt + 3);
        v.random(dt + 4);
        EXPECT_DONE(RUN_OP(Addbmm, (y.desc(), start.desc(), a.desc(), b.desc(), 0.5f, 2.0f),
                           (y.data(), start.data(), a.data(), b.data())));
        expect_elements(
            "Addbmm", y,
            [&](size_t i) {
                double s = 0;
                for (size_t n = 0; n < 2; n++)
                    for (size_t k = 0; k < 4; k++)
                        s += a[(n * 2 + i / 3) * 4 + k] * b[(n * 4 + k) * 3 + i % 3];
                return 2 * start[i % 3] + 0.5 * s;
            },
            4);
        EXPECT_DONE(RUN_OP(Addr, (y.desc(), start.desc(), u.desc(), v.desc(), 2.0f, 0.5f),
                           (y.data(), start.data(), u.data(), v.data())));
        expect_elements(
            "Addr", y, [&](size_t i) { return 2 * start[i % 3] + 0.5 * u[i / 3] * v[i % 3]; }, 2);
        Array x({ 2, 3, 4 }, dt), sum({ 2, 4 }, dt);
        x.random(dt);
        EXPECT_DONE(RUN_OP(MoeSum, (sum.desc(), x.desc()), (sum.data(), x.data())));
        expect_elements(
            "MoeSum", sum,
            [&](size_t i) {
                return x[i / 4 * 12 + i % 4] + x[i / 4 * 12 + 4 + i % 4] + x[i / 4 * 12 + 8 + i % 4];
            },
            4);
    }
    Array gate({ 3, 6 }, F32), bias({ 6 }, F32), weights({ 3, 2 }, F32), experts({ 3, 2 }, I32);
    gate.random(7, -2, 2);
    bias.random(8, -0.2, 0.2);
    for (const bool sigmoid : { false, true })
        for (const bool renormalise : { false, true }) {
            if (sigmoid)
                EXPECT_DONE(RUN_OP(MoeTopkSigmoid,
                                   (weights.desc(), experts.desc(), gate.desc(), bias.desc(), renormalise),
                                   (weights.data(), experts.data(), gate.data(), bias.data())));
            else
                EXPECT_DONE(
                    RUN_OP(MoeTopkSoftmax,
                           (weights.desc(), experts.desc(), gate.desc(), bias.desc(), renormalise, 5.0f),
                           (weights.data(), experts.data(), gate.data(), bias.data())));
            for (size_t n = 0; n < 3; n++) {
                std::vector<double> score(6);
                double sum = 0;
                for (size_t e = 0; e < 6; e++) {
                    const double g = gate[n * 6 + e];
                    score[e] = sigmoid ? 1 / (1 + std::exp(-g)) : std::exp(5 * std::tanh(g / 5));
                    sum += score[e];
                }
                for (size_t e = 0; !sigmoid && e < 6; e++) score[e] /= sum;
                size_t order[] = { 0, 1, 2, 3, 4, 5 };
                std::sort(order, order + 6,
                          [&](size_t p, size_t q) { return score[p] + bias[p] > score[q] + bias[q]; });
                const double kept = renormalise ? score[order[0]] + score[order[1]] : 1;
                for (size_t k = 0; k < 2; k++)
                    EXPECT((size_t)experts[n * 2 + k] == order[k] &&
                           is_near(weights[n * 2 + k], score[order[k]] / kept, 1e-5));
            }
        }
}

TEST(test_draws_in_batches_are_those_of_single_draws)
{
    Handle handle;
    Array probs({ 3, 9 }, F32), batch({ 3 }, I32), single({}, I32), row({ 9 }, F32);
    const float r[] = { 0.1f, 0.5f, 0.9f }, topp[] = { 0.9f, 0.8f, 1.0f },
                temperature[] = { 1.0f, 0.5f, 2.0f };
    const int topk[] = { 3, 5, 9 };
    infiniopRandomSampleDescriptor_t op = nullptr;
    probs.random(3, -2, 2);
    EXPECT_DONE(infiniopCreateRandomSampleBatchDescriptor(handle, &op, batch.desc(), probs.desc()));
    EXPECT_DONE(infiniopRandomSampleBatch(op, nullptr, 0, batch.data(), probs.data(), r, topp, topk,
                                          temperature, 3, nullptr));
    for (size_t i = 0; i < 3; i++) {
        row.fill([&](size_t j) { return probs[i * 9 + j]; });
        EXPECT_DONE(RUN_OP(RandomSample, (single.desc(), row.desc()),
                           (single.data(), row.data(), r[i], topp[i], topk[i], temperature[i])));
        EXPECT(single[0] == batch[i]);
    }
    EXPECT_INFINI(infiniopRandomSampleBatch(op, nullptr, 0, batch.data(), probs.data(), r, topp, topk,
                                            temperature, 2, nullptr),
                  INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infiniopRandomSample(op, nullptr, 0, batch.data(), probs.data(), 0.1f, 1, 1, 1, nullptr),
                  INFINI_STATUS_BAD_PARAM);
    EXPECT_DONE(infiniopDestroyRandomSampleDescriptor(op));
}

/* Handles that are none ------------------------------------------------------------------------- */

TEST(test_handles_that_are_none_are_errors)
{
    Handle handle;
    Array c({ 4 }, F32), a({ 4 }, F32);
    infiniopAcosDescriptor_t acos = nullptr;
    int device = 0;
    size_t size = 0;
    char elsewhere[256] = { 0 };
    EXPECT_DONE(infiniopCreateAcosDescriptor(handle, &acos, c.desc(), a.desc()));
    EXPECT_INFINI(infiniopDestroyAsinDescriptor(acos), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(
        infiniopAcos((infiniopAcosDescriptor_t)(void *)elsewhere, nullptr, 0, c.data(), a.data(), nullptr),
        INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(
        infiniopAcos((infiniopAcosDescriptor_t)(void *)a.desc(), nullptr, 0, c.data(), a.data(), nullptr),
        INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infiniopGetDescriptorDeviceId((InfiniopDescriptor *)(void *)a.desc(), &device),
                  INFINI_STATUS_BAD_PARAM);
    EXPECT_DONE(infiniopDestroyAcosDescriptor(acos));
    EXPECT_INFINI(infiniopDestroyAcosDescriptor(acos), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infiniopGetAcosWorkspaceSize(acos, &size), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infiniopAcos(acos, nullptr, 0, c.data(), a.data(), nullptr), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(
        infiniopCreateAcosDescriptor((infiniopHandle_t)(void *)a.desc(), &acos, c.desc(), a.desc()),
        INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infiniopCreateAcosDescriptor(handle, &acos, (infiniopTensorDescriptor_t)(void *)elsewhere,
                                               a.desc()),
                  INFINI_STATUS_BAD_PARAM);
    infiniopHandle_t h = nullptr;
    infiniopTensorDescriptor_t t = a.take_desc();
    EXPECT_DONE(infiniopCreateHandle(&h));
    EXPECT_DONE(infiniopDestroyHandle(h));
    EXPECT_INFINI(infiniopDestroyHandle(h), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infiniopDestroyHandle((infiniopHandle_t)(void *)t), INFINI_STATUS_BAD_PARAM);
    EXPECT_DONE(infiniopDestroyTensorDescriptor(t));
    EXPECT_INFINI(infiniopDestroyTensorDescriptor(t), INFINI_STATUS_BAD_PARAM);
}

TEST(test_memory_events_and_streams_that_are_none_are_errors)
{
    Handle handle;
    void *p = nullptr;
    infinirtEvent_t event = nullptr;
    infinirtEventStatus_t status;
    float ms = 0;
    char elsewhere[64] = { 0 };
    EXPECT_DONE(infinirtMalloc(&p, 100));
    EXPECT_DONE(infinirtFree(p));
    EXPECT_INFINI(infinirtFree(p), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infinirtFreeHost(elsewhere), INFINI_STATUS_BAD_PARAM);
    EXPECT_DONE(infinirtFree(nullptr));
    EXPECT_DONE(infinirtEventCreate(&event));
    EXPECT_DONE(infinirtEventDestroy(event));
    EXPECT_INFINI(infinirtEventDestroy(event), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infinirtEventRecord(event, nullptr), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infinirtEventQuery(event, &status), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infinirtEventSynchronize((infinirtEvent_t)elsewhere), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infinirtEventElapsedTime(&ms, event, event), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infinirtStreamSynchronize((infinirtStream_t)elsewhere), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(infinirtStreamDestroy((infinirtStream_t)elsewhere), INFINI_STATUS_BAD_PARAM);
}

TEST(test_all_kinds_of_devices_are_counted)
{
    int counts[INFINI_DEVICE_TYPE_COUNT + 1];
    counts[INFINI_DEVICE_TYPE_COUNT] = 77;
    EXPECT(INFINI_DEVICE_TYPE_COUNT == 11 && INFINI_DEVICE_ALI == 10);
    EXPECT_DONE(infinirtGetAllDeviceCount(counts));
    EXPECT(counts[INFINI_DEVICE_CPU] == 1 && counts[INFINI_DEVICE_ALI] == 0 && counts[11] == 77);
}

TEST(test_unequal_heads_in_pages)
{
    Handle handle;
    const size_t dk = 9, dv = 5, block = 4, heads = 4, kv = 2, n = 6;
    Array kc({ 3, kv, block, dk }, F32), vc({ 3, kv, block, dv }, F32), k({ n, kv, dk }, F32),
        v({ n, kv, dv }, F32), slots({ n }, I64), q({ 1, heads, dk }, F32), out({ 1, heads, dv }, F32),
        table({ 1, 2 }, I32), length({ 1 }, I32);
    k.random(1);
    v.random(2);
    q.random(3);
    slots.fill([&](size_t i) { return (double)(i < block ? 2 * block + i : i - block); }); /* blocks 2, 0 */
    table.fill([](size_t i) { return i ? 0 : 2; });
    length.fill([&](size_t) { return (double)n; });
    EXPECT_DONE(RUN_OP(PagedCaching, (kc.desc(), vc.desc(), k.desc(), v.desc(), slots.desc()),
                       (kc.data(), vc.data(), k.data(), v.data(), slots.data())));
    EXPECT_DONE(
        RUN_OP(PagedAttention,
               (out.desc(), q.desc(), kc.desc(), vc.desc(), table.desc(), length.desc(), nullptr, 0.5f),
               (out.data(), q.data(), kc.data(), vc.data(), table.data(), length.data(), nullptr)));
    expect_elements(
        "PagedAttention", out,
        [&](size_t i) {
            const size_t head = i / dv, g = head / 2;
            double sum = 0, mixed = 0;
            for (size_t j = 0; j < n; j++) {
                double s = 0;
                for (size_t e = 0; e < dk; e++) s += q[head * dk + e] * k[(j * kv + g) * dk + e];
                sum += std::exp(0.5 * s);
                mixed += std::exp(0.5 * s) * v[(j * kv + g) * dv + i % dv];
            }
            return mixed / sum;
        },
        4);
}
