/* test_infiniop_elementwise.cpp - the elementwise operators against the C library, in every floating
 * dtype, with strides, broadcasts, odd addresses and what they must refuse. */
#include "infiniop_test.h"

static const infiniDtype_t floats[] = { INFINI_DTYPE_F16, INFINI_DTYPE_BF16, INFINI_DTYPE_F32,
                                        INFINI_DTYPE_F64 };

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/* By bisection: slow, and shares nothing with the library. */
static double erfinv(double x)
{
    double low = -7, high = 7;
    for (int i = 0; i < 200; i++) {
        const double middle = (low + high) / 2;
        const bool below = x < 0 ? std::erfc(-middle) < 1 + x : std::erfc(middle) > 1 - x;
        (below ? low : high) = middle;
    }
    return (low + high) / 2;
}

using Create = infiniStatus_t (*)(infiniopHandle_t, InfiniopDescriptor **, infiniopTensorDescriptor_t,
                                  infiniopTensorDescriptor_t);
using Run = infiniStatus_t (*)(InfiniopDescriptor *, void *, size_t, void *, const void *, void *);
using Workspace = infiniStatus_t (*)(InfiniopDescriptor *, size_t *);
using Destroy = infiniStatus_t (*)(InfiniopDescriptor *);

struct Unary {
    const char *name;
    Create create;
    Workspace workspace;
    Run run;
    Destroy destroy;
    double (*want)(double);
    double low, high; /* of arguments */
};

#define UNARY(Name, want, low, high) \
    { #Name, infiniopCreate##Name##Descriptor, infiniopGet##Name##WorkspaceSize, infiniop##Name, \
      infiniopDestroy##Name##Descriptor, want, low, high }

static const Unary unaries[] = {
    UNARY(Atanh, [](double x) { return std::atanh(x); }, -0.9, 0.9),
    UNARY(Erf, [](double x) { return std::erf(x); }, -3, 3),
    UNARY(Erfc, [](double x) { return std::erfc(x); }, -3, 3),
    UNARY(Erfinv, erfinv, -0.99, 0.99),
    UNARY(Gelu, [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }, -4, 4),
    UNARY(GeluTanh, [](double x) {
        return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }, -4, 4),
    UNARY(HardSwish, [](double x) { return x * std::fmin(std::fmax(x + 3, 0), 6) / 6; }, -5, 5),
    UNARY(Log10, [](double x) { return std::log10(x); }, 0.1, 20),
    UNARY(Log1p, [](double x) { return std::log1p(x); }, -0.9, 9),
    UNARY(QuickGelu, [](double x) { return x * sigmoid(1.702 * x); }, -4, 4),
    UNARY(Reciprocal, [](double x) { return 1 / x; }, 0.2, 5),
    UNARY(Relu, [](double x) { return x > 0 ? x : 0; }, -2, 2),
    UNARY(Sigmoid, sigmoid, -6, 6),
    UNARY(Silu, [](double x) { return x * sigmoid(x); }, -6, 6),
    UNARY(Tanh, [](double x) { return std::tanh(x); }, -4, 4),
    UNARY(Zeros, [](double) { return 0.0; }, -1, 1),
    UNARY(Ones, [](double) { return 1.0; }, -1, 1),
};

/* Create, destroy the tensors' descriptors, run twice. */
static infiniStatus_t run_unary(const Unary &u, infiniopHandle_t handle, Array &y, Array &x)
{
    InfiniopDescriptor *op = nullptr;
    size_t size = 99;
    infiniopTensorDescriptor_t yd = y.take_desc(), xd = &x == &y ? yd : x.take_desc();
    infiniStatus_t s = u.create(handle, &op, yd, xd);
    infiniopDestroyTensorDescriptor(yd);
    if (&x != &y) infiniopDestroyTensorDescriptor(xd);
    if (s) return s;
    EXPECT_DONE(u.workspace(op, &size));
    EXPECT(size == 0);
    s = u.run(op, nullptr, 0, y.data(), x.data(), nullptr);
    if (!s && &x != &y) s = u.run(op, &size, sizeof size, y.data(), x.data(), nullptr);
    EXPECT_DONE(u.destroy(op));
    return s;
}

TEST(test_unary_operators_are_right_in_every_dtype_and_layout)
{
    Handle handle;
    const struct { Sizes shape; Steps y, x; } cases[] = {
        { { 13 }, {}, {} },
        { { 4, 5, 6 }, {}, {} },
        { { 4, 5 }, { 1, 4 }, { 10, 2 } },
        { { 3, 4 }, { -4, 1 }, { 0, 1 } },
        { {}, {}, {} },
        { { 0, 3 }, {}, {} },
    };
    for (const Unary &u : unaries)
        for (infiniDtype_t d : floats)
            for (const auto &c : cases) {
                Array y(c.shape, d, c.y), x(c.shape, d, c.x);
                x.random(7, u.low, u.high);
                EXPECT_DONE(run_unary(u, handle, y, x));
                expect_elements(u.name, y, [&](size_t i) { return u.want(x[i]); }, 2);
            }
}

TEST(test_unary_operators_work_in_place)
{
    Handle handle;
    for (const Unary &u : unaries) {
        Array x({ 50 }, INFINI_DTYPE_F32), before({ 50 }, INFINI_DTYPE_F32);
        x.random(3, u.low, u.high);
        before.random(3, u.low, u.high);
        EXPECT_DONE(run_unary(u, handle, x, x));
        expect_elements(u.name, x, [&](size_t i) { return u.want(before[i]); }, 2);
    }
}

TEST(test_unary_operators_take_odd_addresses_and_write_nothing_else)
{
    Handle handle;
    for (const Unary &u : unaries)
        for (infiniDtype_t d : floats) {
            Array y({ 3, 4 }, d, { 8, 2 }, 1), x({ 3, 4 }, d, {}, 3), guard({ 3, 4 }, d, { 8, 2 }, 1);
            x.random(5, u.low, u.high);
            EXPECT_DONE(run_unary(u, handle, y, x));
            expect_elements(u.name, y, [&](size_t i) { return u.want(x[i]); }, 2);
            for (size_t i = 0; i < 12; i++) y.set(i, 0);
            EXPECT(y.bytes() == guard.bytes());
        }
}

TEST(test_erfinv_is_infinite_at_the_ends_and_nan_beyond)
{
    Handle handle;
    Array y({ 6 }, INFINI_DTYPE_F64), x({ 6 }, INFINI_DTYPE_F64);
    const double in[] = { 1, -1, 1.5, 0, 1e-12, 1 - 1e-15 };
    x.fill([&](size_t i) { return in[i]; });
    EXPECT_DONE(RUN_OP(Erfinv, (y.desc(), x.desc()), (y.data(), x.data())));
    EXPECT(std::isinf(y[0]) && y[0] > 0 && std::isinf(y[1]) && y[1] < 0 && std::isnan(y[2]) && y[3] == 0);
    EXPECT(std::fabs(y[4] / (1e-12 * std::sqrt(M_PI) / 2) - 1) < 1e-10);
    EXPECT(std::fabs(std::erfc(y[5]) / (1 - x[5]) - 1) < 1e-9);
}

TEST(test_unary_operators_refuse_what_does_not_fit)
{
    Handle handle;
    Array y({ 4 }, INFINI_DTYPE_F32), x({ 4 }, INFINI_DTYPE_F32), other({ 5 }, INFINI_DTYPE_F32);
    Array half({ 4 }, INFINI_DTYPE_F16), whole({ 4 }, INFINI_DTYPE_I32),
        spread({ 4 }, INFINI_DTYPE_F32, { 0 });
    Array folded({ 2, 2 }, INFINI_DTYPE_F32, { 1, 1 }), square({ 2, 2 }, INFINI_DTYPE_F32);
    for (const Unary &u : unaries) {
        const bool fills = !strcmp(u.name, "Zeros") || !strcmp(u.name, "Ones");
        InfiniopDescriptor *op = nullptr;
        size_t size = 0;
        EXPECT_INFINI(u.create(nullptr, &op, y.desc(), x.desc()), INFINI_STATUS_NULL_POINTER);
        EXPECT_INFINI(u.create(handle, nullptr, y.desc(), x.desc()), INFINI_STATUS_NULL_POINTER);
        EXPECT_INFINI(u.create(handle, &op, nullptr, x.desc()), INFINI_STATUS_NULL_POINTER);
        EXPECT_INFINI(u.create(handle, &op, y.desc(), other.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
        EXPECT_INFINI(u.create(handle, &op, spread.desc(), x.desc()), INFINI_STATUS_BAD_TENSOR_STRIDES);
        EXPECT_INFINI(u.create(handle, &op, folded.desc(), square.desc()), INFINI_STATUS_BAD_TENSOR_STRIDES);
        if (!fills) {
            EXPECT_INFINI(u.create(handle, &op, y.desc(), nullptr), INFINI_STATUS_NULL_POINTER);
            EXPECT_INFINI(u.create(handle, &op, y.desc(), half.desc()), INFINI_STATUS_BAD_TENSOR_DTYPE);
            EXPECT_INFINI(u.create(handle, &op, whole.desc(), whole.desc()), INFINI_STATUS_BAD_TENSOR_DTYPE);
        }
        EXPECT(op == nullptr);
        EXPECT_INFINI(u.workspace(nullptr, &size), INFINI_STATUS_NULL_POINTER);
        EXPECT_INFINI(u.run(nullptr, nullptr, 0, y.data(), x.data(), nullptr), INFINI_STATUS_NULL_POINTER);
        EXPECT_INFINI(u.destroy(nullptr), INFINI_STATUS_NULL_POINTER);
        EXPECT_DONE(u.create(handle, &op, y.desc(), x.desc()));
        EXPECT_INFINI(u.workspace(op, nullptr), INFINI_STATUS_NULL_POINTER);
        EXPECT_INFINI(u.run(op, nullptr, 0, nullptr, x.data(), nullptr), INFINI_STATUS_NULL_POINTER);
        if (!fills)
            EXPECT_INFINI(u.run(op, nullptr, 0, y.data(), nullptr, nullptr), INFINI_STATUS_NULL_POINTER);
        EXPECT_INFINI(infiniopAdd(op, nullptr, 0, y.data(), x.data(), x.data(), nullptr),
                      INFINI_STATUS_BAD_PARAM);
        EXPECT_INFINI(infiniopDestroyAddDescriptor(op), INFINI_STATUS_BAD_PARAM);
        EXPECT_DONE(u.destroy(op));
    }
}

TEST(test_fills_take_every_dtype)
{
    Handle handle;
    for (int d = INFINI_DTYPE_BYTE; d <= INFINI_DTYPE_BF16; d++) {
        uint8_t bytes[64];
        const size_t shape = 2;
        infiniopTensorDescriptor_t t = nullptr;
        memset(bytes, 0xff, sizeof bytes);
        EXPECT_DONE(infiniopCreateTensorDescriptor(&t, 1, &shape, nullptr, (infiniDtype_t)d));
        EXPECT_DONE(RUN_OP(Zeros, (t, t), (bytes, nullptr)));
        EXPECT(bytes[0] == 0 && bytes[1] == 0);
        if (d != INFINI_DTYPE_C16) {
            EXPECT_DONE(RUN_OP(Ones, (t, t), (bytes, nullptr)));
            if (d >= INFINI_DTYPE_BYTE && d <= INFINI_DTYPE_U64) EXPECT(bytes[0] == 1);
        } else {
            EXPECT_INFINI(CREATE_OP(Ones, t, t), INFINI_STATUS_BAD_TENSOR_DTYPE);
        }
        infiniopDestroyTensorDescriptor(t);
    }
}

/* Two and three operands ------------------------------------------------------------------- */

TEST(test_binary_operators_are_right_in_every_dtype_and_layout)
{
    Handle handle;
    const struct { Sizes shape; Steps c, a, b; } cases[] = {
        { { 13, 4 }, {}, {}, {} },
        { { 13, 4 }, { 10, 1 }, { 10, 1 }, { 10, 1 } },
        { { 13, 4 }, {}, { 0, 1 }, { 4, 0 } },
        { { 4, 4, 6 }, { 60, 12, 2 }, { 1, 4, 16 }, { -24, 6, 1 } },
        { {}, {}, {}, {} },
    };
    for (infiniDtype_t d : floats)
        for (const auto &k : cases) {
            Array c(k.shape, d, k.c), a(k.shape, d, k.a), b(k.shape, d, k.b);
            a.random(1, -3, 3);
            b.random(2, -3, 3);
            EXPECT_DONE(RUN_OP(Add, (c.desc(), a.desc(), b.desc()), (c.data(), a.data(), b.data())));
            expect_elements("Add", c, [&](size_t i) { return a[i] + b[i]; });
            EXPECT_DONE(RUN_OP(Sub, (c.desc(), a.desc(), b.desc()), (c.data(), a.data(), b.data())));
            expect_elements("Sub", c, [&](size_t i) { return a[i] - b[i]; });
            EXPECT_DONE(RUN_OP(Mul, (c.desc(), a.desc(), b.desc()), (c.data(), a.data(), b.data())));
            expect_elements("Mul", c, [&](size_t i) { return a[i] * b[i]; });
            EXPECT_DONE(RUN_OP(SwiGLU, (c.desc(), a.desc(), b.desc()), (c.data(), a.data(), b.data())));
            expect_elements("SwiGLU", c, [&](size_t i) { return a[i] * b[i] * sigmoid(b[i]); });
        }
}

TEST(test_integers_are_added_and_wrap)
{
    Handle handle;
    Array c({ 3 }, INFINI_DTYPE_I32), a({ 3 }, INFINI_DTYPE_I32), b({ 3 }, INFINI_DTYPE_I32);
    a.fill([](size_t i) { return i == 2 ? 2147483647.0 : (double)i; });
    b.fill([](size_t) { return 1; });
    EXPECT_DONE(RUN_OP(Add, (c.desc(), a.desc(), b.desc()), (c.data(), a.data(), b.data())));
    EXPECT(c[0] == 1 && c[1] == 2 && c[2] == -2147483648.0);
}

TEST(test_add_in_place_onto_either_operand)
{
    Handle handle;
    Array a({ 20 }, INFINI_DTYPE_F32), b({ 20 }, INFINI_DTYPE_F32), a0({ 20 }, INFINI_DTYPE_F32);
    a.random(1);
    a0.random(1);
    b.random(2);
    EXPECT_DONE(RUN_OP(Add, (a.desc(), a.desc(), b.desc()), (a.data(), a.data(), b.data())));
    expect_elements("a", a, [&](size_t i) { return a0[i] + b[i]; });
    EXPECT_DONE(RUN_OP(Sub, (a.desc(), a.desc(), b.desc()), (a.data(), a.data(), b.data())));
    expect_elements("a", a, [&](size_t i) { return a0[i]; });
}

TEST(test_equal_writes_bools_and_bytes)
{
    Handle handle;
    Array a({ 4 }, INFINI_DTYPE_F32), b({ 4 }, INFINI_DTYPE_F32);
    a.fill([](size_t i) { return (double)i; });
    b.fill([](size_t i) { return i == 2 ? 9.0 : (double)i; });
    for (infiniDtype_t d : { INFINI_DTYPE_BOOL, INFINI_DTYPE_U8, INFINI_DTYPE_I8, INFINI_DTYPE_I32 }) {
        Array c({ 4 }, d), all({ 1 }, d);
        EXPECT_DONE(RUN_OP(Equal, (c.desc(), a.desc(), b.desc()), (c.data(), a.data(), b.data())));
        for (size_t i = 0; i < 4; i++) EXPECT(c[i] == (i == 2 ? 0 : 1));
        EXPECT_DONE(RUN_OP(Equal, (all.desc(), a.desc(), b.desc()), (all.data(), a.data(), b.data())));
        EXPECT(all[0] == 0);
        EXPECT_DONE(RUN_OP(Equal, (all.desc(), a.desc(), a.desc()), (all.data(), a.data(), a.data())));
        EXPECT(all[0] == 1);
    }
    Array wrong({ 4 }, INFINI_DTYPE_F32), half({ 4 }, INFINI_DTYPE_F16), c({ 4 }, INFINI_DTYPE_BOOL);
    EXPECT_INFINI(CREATE_OP(Equal, wrong.desc(), a.desc(), b.desc()), INFINI_STATUS_BAD_TENSOR_DTYPE);
    EXPECT_INFINI(CREATE_OP(Equal, c.desc(), a.desc(), half.desc()), INFINI_STATUS_BAD_TENSOR_DTYPE);
}

TEST(test_addcmul_clip_hardtanh_and_softplus)
{
    Handle handle;
    for (infiniDtype_t d : floats) {
        Array y({ 5, 7 }, d), x({ 5, 7 }, d, { 1, 5 }), t1({ 5, 7 }, d), t2({ 5, 7 }, d, { 0, 1 });
        x.random(1, -4, 4);
        t1.random(2);
        t2.random(3);
        EXPECT_DONE(RUN_OP(Addcmul, (y.desc(), x.desc(), t1.desc(), t2.desc(), 0.5f),
                           (y.data(), x.data(), t1.data(), t2.data())));
        expect_elements("Addcmul", y, [&](size_t i) { return x[i] + 0.5 * t1[i] * t2[i]; });

        Array low({ 5, 7 }, d, { 0, 0 }), high({ 5, 7 }, d, { 0, 0 });
        low.fill([](size_t) { return -1; });
        high.fill([](size_t) { return 2; });
        EXPECT_DONE(RUN_OP(Clip, (y.desc(), x.desc(), low.desc(), high.desc()),
                           (y.data(), x.data(), low.data(), high.data())));
        expect_elements("Clip", y, [&](size_t i) { return std::fmin(std::fmax(x[i], -1), 2); });

        EXPECT_DONE(RUN_OP(HardTanh, (y.desc(), x.desc(), -0.5f, 1.5f), (y.data(), x.data())));
        expect_elements("HardTanh", y, [&](size_t i) { return std::fmin(std::fmax(x[i], -0.5), 1.5); });

        EXPECT_DONE(RUN_OP(Softplus, (y.desc(), x.desc(), 2.0f, 3.0f), (y.data(), x.data())));
        expect_elements("Softplus", y, [&](size_t i) {
            return 2 * x[i] > 3 ? x[i] : std::log1p(std::exp(2 * x[i])) / 2;
        });
    }
    Array y({ 3 }, INFINI_DTYPE_F32), x({ 3 }, INFINI_DTYPE_F32), z({ 2 }, INFINI_DTYPE_F32);
    EXPECT_INFINI(CREATE_OP(HardTanh, y.desc(), x.desc(), 1.0f, -1.0f), INFINI_STATUS_BAD_PARAM);
    EXPECT_INFINI(CREATE_OP(Clip, y.desc(), x.desc(), z.desc(), x.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Addcmul, y.desc(), x.desc(), nullptr, x.desc(), 1.0f),
                  INFINI_STATUS_NULL_POINTER);
    EXPECT_INFINI(CREATE_OP(Softplus, z.desc(), x.desc(), 1.0f, 20.0f), INFINI_STATUS_BAD_TENSOR_SHAPE);
}

TEST(test_silu_and_mul_takes_two_halves)
{
    Handle handle;
    for (infiniDtype_t d : floats) {
        Array y({ 3, 4 }, d), x({ 3, 8 }, d);
        x.random(4, -3, 3);
        EXPECT_DONE(RUN_OP(SiluAndMul, (y.desc(), x.desc()), (y.data(), x.data())));
        expect_elements("SiluAndMul", y, [&](size_t i) {
            const double gate = x[i / 4 * 8 + i % 4], up = x[i / 4 * 8 + 4 + i % 4];
            return gate * sigmoid(gate) * up;
        });
    }
    Array y({ 3, 4 }, INFINI_DTYPE_F32), x({ 3, 7 }, INFINI_DTYPE_F32), flat({ 8 }, INFINI_DTYPE_F32);
    EXPECT_INFINI(CREATE_OP(SiluAndMul, y.desc(), x.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(SiluAndMul, y.desc(), flat.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
}

TEST(test_binary_operators_refuse_what_does_not_fit)
{
    Handle handle;
    Array c({ 4 }, INFINI_DTYPE_F32), a({ 4 }, INFINI_DTYPE_F32), longer({ 5 }, INFINI_DTYPE_F32);
    Array half({ 4 }, INFINI_DTYPE_F16), spread({ 4 }, INFINI_DTYPE_F32, { 0 }),
        flags({ 4 }, INFINI_DTYPE_BOOL);
    EXPECT_INFINI(CREATE_OP(Add, c.desc(), a.desc(), longer.desc()), INFINI_STATUS_BAD_TENSOR_SHAPE);
    EXPECT_INFINI(CREATE_OP(Add, c.desc(), a.desc(), half.desc()), INFINI_STATUS_BAD_TENSOR_DTYPE);
    EXPECT_INFINI(CREATE_OP(Mul, spread.desc(), a.desc(), a.desc()), INFINI_STATUS_BAD_TENSOR_STRIDES);
    EXPECT_INFINI(CREATE_OP(Sub, flags.desc(), flags.desc(), flags.desc()), INFINI_STATUS_BAD_TENSOR_DTYPE);
    EXPECT_INFINI(CREATE_OP(SwiGLU, c.desc(), a.desc(), nullptr), INFINI_STATUS_NULL_POINTER);
}
