/* test_renaissance_cpu.cpp - every op of CpuBackend, against numbers worked out here. */
#include "renaissance_test.hpp"

using namespace tr;

static std::shared_ptr<CpuBackend> cpu() { return BackendManager::get_cpu_backend(); }

static const Shape cube(2, 3, 4, 5);
static const size_t cube_size = 120;

/* One operand ------------------------------------------------------------------------------- */

struct UnaryCase {
    const char *name;
    std::function<float(float)> expected;
    std::function<Tensor(CpuBackend &, const Tensor &)> value;
    std::function<void(CpuBackend &, Tensor &)> inplace;
    std::function<void(CpuBackend &, const Tensor &, Tensor &)> into;
    bool checks_dtype;
};

#define UNARY(name, expression)                                                             \
    UnaryCase{#name, [](float x) -> float { return expression; },                           \
              [](CpuBackend &b, const Tensor &t) { return b.name(t); },                     \
              [](CpuBackend &b, Tensor &t) { b.name##_inplace(t); },                        \
              [](CpuBackend &b, const Tensor &t, Tensor &y) { b.name##_into(t, y); }, true}

static std::vector<UnaryCase> unary_cases()
{
    std::vector<UnaryCase> cases = {
        UNARY(relu, x > 0 ? x : 0), UNARY(drelu, x > 0 ? 1.0f : 0.0f), UNARY(tanh, std::tanh(x)),
        UNARY(dtanh, 1 - std::tanh(x) * std::tanh(x)), UNARY(sign, static_cast<float>((x > 0) - (x < 0))),
        UNARY(square, x *x), UNARY(sqrt, std::sqrt(x)), UNARY(abs, std::fabs(x)), UNARY(negative, -x),
        UNARY(reciprocal, 1 / x), UNARY(round, std::nearbyint(x))};
    cases.push_back({"zeros", [](float) { return 0.0f; },
                     [](CpuBackend &b, const Tensor &t) { return b.zeros_like(t); },
                     [](CpuBackend &b, Tensor &t) { b.zeros_inplace(t); },
                     [](CpuBackend &b, const Tensor &t, Tensor &y) { b.zeros_into(t, y); }, false});
    cases.push_back({"ones", [](float) { return 1.0f; },
                     [](CpuBackend &b, const Tensor &t) { return b.ones_like(t); },
                     [](CpuBackend &b, Tensor &t) { b.ones_inplace(t); },
                     [](CpuBackend &b, const Tensor &t, Tensor &y) { b.ones_into(t, y); }, false});
    return cases;
}

/* Numbers that the op takes. */
static std::vector<float> input_for(const std::string &name)
{
    std::vector<float> values = random_values(cube_size, 7);
    for (float &x : values) {
        if (name == "sqrt") x = std::fabs(x);
        if (name == "reciprocal" && std::fabs(x) < 0.01f) x = 0.5f;
    }
    return values;
}

TEST(test_unary_ops_in_three_forms)
{
    for (const UnaryCase &c : unary_cases()) {
        const std::vector<float> input = input_for(c.name);
        std::vector<float> expected;
        for (const float x : input) expected.push_back(c.expected(x));
        const Tensor x = tensor_of(cube, input);
        EXPECT_MSG(near(c.value(*cpu(), x), cube, expected, 2e-6f), "%s", c.name);
        EXPECT_MSG(floats_of(x) == input, "%s changed its operand", c.name);
        Tensor y = Tensor::full(cube, 77.0f), z = tensor_of(cube, input);
        const void *const place = z.data_ptr();
        c.into(*cpu(), x, y);
        c.inplace(*cpu(), z);
        EXPECT_MSG(near(y, cube, expected, 2e-6f), "%s_into", c.name);
        EXPECT_MSG(near(z, cube, expected, 2e-6f) && z.data_ptr() == place, "%s_inplace", c.name);
        c.into(*cpu(), z, z);
    }
}

TEST(test_unary_ops_refuse_what_does_not_fit)
{
    for (const UnaryCase &c : unary_cases()) {
        const std::string name = c.name;
        Tensor x = Tensor::ones(Shape(2, 3)), wrong = Tensor::ones(Shape(3, 2)), none(Shape(2, 3));
        Tensor whole = Tensor::ones(Shape(2, 3), DType::INT32), away(Shape(2, 3), DType::FP32, tr::CUDA[0]);
        EXPECT_REFUSED(c.into(*cpu(), x, wrong), "[CpuBackend::" + name +
                                                     "_into] Shape mismatch: input shape (2,3) "
                                                     "!= output shape (3,2)");
        EXPECT_REFUSED(c.inplace(*cpu(), none), "[CpuBackend::" + name + "_inplace] ");
        EXPECT_REFUSED(c.into(*cpu(), x, none), "[CpuBackend::" + name + "_into] ");
        EXPECT_REFUSED(c.value(*cpu(), away), "CpuBackend: tensor must be on CPU device");
        EXPECT_REFUSED(c.inplace(*cpu(), away), "must be on CPU");
        EXPECT_REFUSED(c.into(*cpu(), x, away), "must be on CPU");
        if (!c.checks_dtype) continue;
        EXPECT_REFUSED(c.value(*cpu(), none), "Cannot compute " + name + " of empty tensor");
        EXPECT_REFUSED(c.value(*cpu(), whole), "[CpuBackend::" + name + "] Only FP32 tensors are supported");
        EXPECT_REFUSED(c.inplace(*cpu(), whole), "Only FP32 tensors are supported");
        EXPECT_REFUSED(c.into(*cpu(), x, whole), "Only FP32 tensors are supported");
    }
}

TEST(test_unary_ops_refuse_numbers_without_a_result)
{
    Tensor x = tensor_of(Shape(3), {4, -9, 1});
    EXPECT_REFUSED(cpu()->sqrt(x), "[CpuBackend::sqrt] Negative input encountered: -9.000000");
    EXPECT_REFUSED(cpu()->sqrt_inplace(x), "[CpuBackend::sqrt_inplace] Negative input");
    EXPECT_REFUSED(cpu()->sqrt_into(x, x), "[CpuBackend::sqrt_into] Negative input");
    EXPECT(near(x, Shape(3), {4, -9, 1}));
    x = tensor_of(Shape(2), {2, 1e-11f});
    EXPECT_REFUSED(cpu()->reciprocal(x), "[CpuBackend::reciprocal] Division by zero encountered: 0.000000");
    EXPECT_REFUSED(cpu()->reciprocal_inplace(x), "Division by zero");
    EXPECT_REFUSED(cpu()->reciprocal_into(x, x), "Division by zero");
    EXPECT(near(cpu()->round(tensor_of(Shape(4), {0.5f, 1.5f, 2.5f, -0.5f})), Shape(4), {0, 2, 2, 0}));
}

TEST(test_zeros_and_ones_take_every_dtype)
{
    Tensor b = integers_of<int8_t>(Shape(2), {5, 6}), i = integers_of<int32_t>(Shape(2), {5, 6});
    EXPECT(values_of<int8_t>(cpu()->ones_like(b)) == (std::vector<int8_t>{1, 1}));
    EXPECT(values_of<int32_t>(cpu()->zeros_like(i)) == (std::vector<int32_t>{0, 0}));
    cpu()->ones_inplace(i);
    cpu()->zeros_into(b, b);
    EXPECT(values_of<int32_t>(i)[1] == 1 && values_of<int8_t>(b)[1] == 0);
    EXPECT_REFUSED(cpu()->ones_into(i, b),
                   "[CpuBackend::ones_into] Dtype mismatch: input dtype 3 != output dtype 2");
}

TEST(test_transpose_turns_matrices)
{
    Tensor x = tensor_of(Shape(2, 3), counting(6)), y = Tensor::zeros(Shape(3, 2));
    const std::vector<float> transposed = {1, 4, 2, 5, 3, 6};
    EXPECT(near(cpu()->transpose(x), Shape(3, 2), transposed));
    cpu()->transpose_into(x, y);
    EXPECT(near(y, Shape(3, 2), transposed));
    EXPECT_REFUSED(cpu()->transpose_into(x, x),
                   "Dimension mismatch: input shape (2,3) cannot be transposed to output "
                   "shape (2,3). Expected output shape (3,2)");
    cpu()->transpose_inplace(x);
    EXPECT(near(x, Shape(3, 2), transposed));
    Tensor square = tensor_of(Shape(2, 2), {1, 2, 3, 4});
    cpu()->transpose_into(square, square);
    EXPECT(near(square, Shape(2, 2), {1, 3, 2, 4}));
    EXPECT_REFUSED(cpu()->transpose(Tensor::ones(Shape(4))),
                   "Only 2D tensors are supported, but got 1D tensor");
    EXPECT_REFUSED(cpu()->transpose(Tensor::ones(Shape(2, 2), DType::INT8)), "Only FP32");
    EXPECT_REFUSED(cpu()->transpose(Tensor(Shape(2, 2))), "empty");
}

/* Two operands ------------------------------------------------------------------------------- */

TEST(test_arithmetic_of_two_tensors)
{
    const Tensor a = tensor_of(Shape(2, 2), {1, 2, 3, 4}), b = tensor_of(Shape(2, 2), {5, 6, 7, 8});
    Tensor r = Tensor::zeros(Shape(2, 2));
    EXPECT(near(cpu()->add(a, b), Shape(2, 2), {6, 8, 10, 12}));
    EXPECT(near(cpu()->mul(a, b), Shape(2, 2), {5, 12, 21, 32}));
    EXPECT(near(cpu()->div(b, a), Shape(2, 2), {5, 3, 7.0f / 3, 2}));
    cpu()->add_into(a, b, r);
    EXPECT(near(r, Shape(2, 2), {6, 8, 10, 12}));
    cpu()->minus_into(a, b, r);
    EXPECT(near(r, Shape(2, 2), {-4, -4, -4, -4}));
    cpu()->mul_into(a, b, r);
    EXPECT(near(r, Shape(2, 2), {5, 12, 21, 32}));
    cpu()->div_into(a, b, r);
    EXPECT(near(r, Shape(2, 2), {0.2f, 1.0f / 3, 3.0f / 7, 0.5f}));
    cpu()->add(r, a, b);
    EXPECT(near(r, Shape(2, 2), {6, 8, 10, 12}));
    cpu()->mul(r, a, b);
    EXPECT(near(r, Shape(2, 2), {5, 12, 21, 32}));
    cpu()->add_into(r, r, r);
    EXPECT(near(r, Shape(2, 2), {10, 24, 42, 64}));
    cpu()->div_into(a, Tensor::zeros(Shape(2, 2)), r);
    EXPECT(floats_of(r)[0] > 1e9f);
}

TEST(test_arithmetic_refuses_what_does_not_fit)
{
    const Tensor a = Tensor::ones(Shape(2, 3)), wrong = Tensor::ones(Shape(3, 2)), none(Shape(2, 3));
    const Tensor whole = Tensor::ones(Shape(2, 3), DType::INT32), away(Shape(2, 3), DType::FP32, tr::CUDA[0]);
    Tensor r = Tensor::zeros(Shape(2, 3)), no_result(Shape(2, 3)), small = Tensor::zeros(Shape(2));
    EXPECT_REFUSED(cpu()->add(a, wrong),
                   "[CpuBackend::add] Shape mismatch: tensor_a shape (2,3) vs tensor_b shape (3,2)");
    EXPECT_REFUSED(cpu()->mul(a, whole), "Data type mismatch: tensor_a dtype FP32 vs tensor_b dtype INT32");
    EXPECT_REFUSED(cpu()->div(whole, whole), "Only FP32 tensors are supported for tensor division");
    EXPECT_REFUSED(cpu()->add(none, a), "First input tensor has no allocated Storage");
    EXPECT_REFUSED(cpu()->add(a, none), "Second input tensor has no allocated Storage");
    EXPECT_REFUSED(cpu()->add(a, away), "must be on CPU");
    EXPECT_REFUSED(cpu()->add_into(a, wrong, r), "Tensor shape mismatch: (2,3) vs (3,2)");
    EXPECT_REFUSED(cpu()->add_into(a, a, small), "Tensor shape mismatch: (2,3) vs (2)");
    EXPECT_REFUSED(cpu()->mul_into(a, a, no_result),
                   "[CpuBackend::mul_into] Result tensor has no allocated Storage");
    EXPECT_REFUSED(cpu()->minus_into(none, a, r), "Input tensor 'a' has no allocated Storage");
    EXPECT_REFUSED(cpu()->div_into(a, none, r), "Input tensor 'b' has no allocated Storage");
    EXPECT_REFUSED(cpu()->add_into(whole, whole, r), "[CpuBackend::add_into] add_into only supports FP32");
}

TEST(test_arithmetic_with_numbers)
{
    const std::vector<float> v = {-2, -0.5f, 0, 3};
    const Shape s(2, 2);
    const Tensor x = tensor_of(s, v);
    const auto check = [&](const char *name, const Tensor &value,
                           const std::function<void(Tensor &)> &inplace,
                           const std::function<void(Tensor &)> &into, const std::vector<float> &expected) {
        Tensor y = tensor_of(s, v), z = Tensor::zeros(s);
        inplace(y);
        into(z);
        EXPECT_MSG(near(value, s, expected) && near(y, s, expected) && near(z, s, expected), "%s", name);
    };
    CpuBackend &b = *cpu();
    check("add", b.add(x, 1.5f), [&](Tensor &t) { b.add_inplace(t, 1.5f); },
          [&](Tensor &t) { b.add_into(x, 1.5f, t); }, {-0.5f, 1, 1.5f, 4.5f});
    check("mul", b.mul(x, -2.0f), [&](Tensor &t) { b.mul_inplace(t, -2.0f); },
          [&](Tensor &t) { b.mul_into(x, -2.0f, t); }, {4, 1, 0, -6});
    check("minus", b.minus(x, 1.0f), [&](Tensor &t) { b.minus_inplace(t, 1.0f); },
          [&](Tensor &t) { b.minus_into(x, 1.0f, t); }, {-3, -1.5f, -1, 2});
    check("minus from", b.minus(1.0f, x), [&](Tensor &t) { b.minus_inplace(1.0f, t); },
          [&](Tensor &t) { b.minus_into(1.0f, x, t); }, {3, 1.5f, 1, -2});
    check("mac", b.mac(x, 2.0f, 0.5f), [&](Tensor &t) { b.mac_inplace(t, 2.0f, 0.5f); },
          [&](Tensor &t) { b.mac_into(x, 2.0f, 0.5f, t); }, {-3.5f, -0.5f, 0.5f, 6.5f});
    check("clamp", b.clamp(x, -1.0f, 2.0f), [&](Tensor &t) { b.clamp_inplace(t, -1.0f, 2.0f); },
          [&](Tensor &t) { b.clamp_into(x, -1.0f, 2.0f, t); }, {-1, -0.5f, 0, 2});
}

TEST(test_arithmetic_with_numbers_refuses_what_does_not_fit)
{
    Tensor x = Tensor::ones(Shape(2)), none(Shape(2)), whole = Tensor::ones(Shape(2), DType::INT32);
    Tensor wrong = Tensor::ones(Shape(3)), away(Shape(2), DType::FP32, tr::CUDA[0]);
    EXPECT_REFUSED(cpu()->mul(none, 2.0f), "[CpuBackend::mul] Input tensor has no allocated Storage");
    EXPECT_REFUSED(cpu()->add_inplace(whole, 2.0f), "Only FP32 tensors are supported for scalar addition");
    EXPECT_REFUSED(cpu()->minus_into(x, 2.0f, none), "Output tensor has no allocated Storage");
    EXPECT_REFUSED(cpu()->minus_into(2.0f, x, wrong), "Shape mismatch: input shape (2) != output shape (3)");
    EXPECT_REFUSED(cpu()->mac_into(x, 1, 2, whole),
                   "Only FP32 tensors are supported for multiply-add operations");
    EXPECT_REFUSED(cpu()->clamp(x, 2.0f, 1.0f),
                   "min_val (2.000000) cannot be greater than max_val (1.000000)");
    EXPECT_REFUSED(cpu()->clamp_inplace(away, 0, 1), "must be on CPU");
}

TEST(test_broadcasting_repeats_one_of_the_two)
{
    const Tensor m = tensor_of(Shape(2, 3), counting(6)), row = tensor_of(Shape(1, 3), {10, 20, 30});
    const Tensor column = tensor_of(Shape(2, 1), {100, 200}), one = Tensor::full(Shape(), 2.0f);
    Tensor r = Tensor::zeros(Shape(2, 3));
    EXPECT(near(cpu()->add_broadcast(m, row), Shape(2, 3), {11, 22, 33, 14, 25, 36}));
    EXPECT(near(cpu()->minus_broadcast(column, m), Shape(2, 3), {99, 98, 97, 196, 195, 194}));
    EXPECT(near(cpu()->mul_broadcast(one, m), Shape(2, 3), {2, 4, 6, 8, 10, 12}));
    cpu()->add_broadcast_into(m, m, r);
    EXPECT(near(r, Shape(2, 3), {2, 4, 6, 8, 10, 12}));
    cpu()->minus_broadcast_into(m, one, r);
    EXPECT(near(r, Shape(2, 3), {-1, 0, 1, 2, 3, 4}));
    cpu()->mul_broadcast_into(column, m, r);
    EXPECT(near(r, Shape(2, 3), {100, 200, 300, 800, 1000, 1200}));
    EXPECT(cpu()->add_broadcast(Tensor(), Tensor()).is_empty());
    Tensor wrong = Tensor::zeros(Shape(3, 2)), none(Shape(2, 3));
    EXPECT_REFUSED(cpu()->add_broadcast(m, Tensor::ones(Shape(3))),
                   "do not meet operation requirements: (2,3) and (3)");
    EXPECT_REFUSED(cpu()->add_broadcast(row, column),
                   "incompatible and cannot be broadcast: (1,3) and (2,1)");
    EXPECT_REFUSED(cpu()->add_broadcast_into(m, row, wrong),
                   "Output tensor shape mismatch, expected: (2,3), actual: "
                   "(3,2)");
    EXPECT_REFUSED(cpu()->mul_broadcast(m, none), "[CPU Broadcast] tensor_b is an empty tensor");
    EXPECT_REFUSED(cpu()->mul_broadcast(Tensor::ones(Shape(2), DType::INT8), m),
                   "tensor_a data type is: INT8");
    EXPECT_REFUSED(cpu()->mul_broadcast(m, Tensor(Shape(2), DType::FP32, tr::CUDA[0])),
                   "tensor_b device is: CUDA:0");
}

TEST(test_expand_repeats_to_a_shape)
{
    const Tensor row = tensor_of(Shape(1, 3), {1, 2, 3});
    Tensor r = Tensor::zeros(Shape(2, 3)), wrong = Tensor::zeros(Shape(3, 2)), none, unset(Shape(2, 3));
    EXPECT(near(cpu()->expand(row, Shape(2, 3)), Shape(2, 3), {1, 2, 3, 1, 2, 3}));
    EXPECT(near(cpu()->expand(Tensor::full(Shape(), 5.0f), Shape(2, 2)), Shape(2, 2), {5, 5, 5, 5}));
    cpu()->expand_into(tensor_of(Shape(2, 1), {7, 8}), r);
    EXPECT(near(r, Shape(2, 3), {7, 7, 7, 8, 8, 8}));
    cpu()->expand_into(Tensor(), none);
    EXPECT_REFUSED(cpu()->expand_into(row, wrong),
                   "[CPU Expand] Tensor shapes are incompatible for expansion: (1,3) "
                   "cannot expand to (3,2)");
    EXPECT_REFUSED(cpu()->expand(Tensor::ones(Shape(3)), Shape(2, 3)), "do not meet operation requirements");
    EXPECT_REFUSED(cpu()->expand(Tensor(), Shape(2, 3)), "[CPU Expand] Cannot expand empty tensor");
    EXPECT_REFUSED(cpu()->expand_into(Tensor(), r), "Cannot expand empty tensor to non-empty tensor");
    EXPECT_REFUSED(cpu()->expand_into(row, unset), "tensor_b is an empty tensor");
    EXPECT_REFUSED(cpu()->expand(Tensor::ones(Shape(1, 3), DType::INT8), Shape(2, 3)), "only supports FP32");
}

/* Products ----------------------------------------------------------------------------------- */

static std::vector<float> product(const std::vector<float> &a, const std::vector<float> &b, int m, int k,
                                  int n, bool ta = false, bool tb = false)
{
    std::vector<float> c;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            double sum = 0;
            for (int l = 0; l < k; ++l)
                sum += double{a[ta ? l * m + i : i * k + l]} * b[tb ? j * k + l : l * n + j];
            c.push_back(static_cast<float>(sum));
        }
    return c;
}

TEST(test_mm_multiplies_matrices_and_vectors)
{
    const int m = 17, k = 33, n = 9;
    const std::vector<float> a = random_values(m * k, 1), b = random_values(k * n, 2),
                             c = product(a, b, m, k, n);
    const Tensor x = tensor_of(Shape(m, k), a), y = tensor_of(Shape(k, n), b);
    Tensor r = Tensor::zeros(Shape(m, n)), batch = Tensor::zeros(Shape(1, 1, m, n));
    EXPECT(near(cpu()->mm(x, y), Shape(m, n), c, 1e-5f));
    cpu()->mm_into(x, y, r);
    EXPECT(near(r, Shape(m, n), c, 1e-5f));
    cpu()->mm(r, x, y);
    EXPECT(near(r, Shape(m, n), c, 1e-5f));
    cpu()->mm_into(tensor_of(Shape(1, m, k), a), y, batch);
    EXPECT(near(batch, Shape(1, 1, m, n), c, 1e-5f));
    Tensor row = Tensor::zeros(Shape(2)), column = Tensor::zeros(Shape(2));
    cpu()->mm_into(tensor_of(Shape(2), {1, 2}), tensor_of(Shape(2, 2), {1, 2, 3, 4}), row);
    cpu()->mm_into(tensor_of(Shape(2, 2), {1, 2, 3, 4}), tensor_of(Shape(2), {1, 2}), column);
    EXPECT(near(row, Shape(2), {7, 10}) && near(column, Shape(2), {5, 11}));
}

TEST(test_mm_transposes_on_the_way)
{
    const int m = 5, k = 4, n = 3;
    const std::vector<float> a = random_values(m * k, 1), b = random_values(k * n, 2);
    Tensor r = Tensor::zeros(Shape(m, n));
    cpu()->mm_into_transposed(tensor_of(Shape(k, m), a), tensor_of(Shape(k, n), b), r, true, false);
    EXPECT(near(r, Shape(m, n), product(a, b, m, k, n, true, false), 1e-5f));
    cpu()->mm_into_transposed(tensor_of(Shape(m, k), a), tensor_of(Shape(n, k), b), r, false, true);
    EXPECT(near(r, Shape(m, n), product(a, b, m, k, n, false, true), 1e-5f));
    cpu()->mm_into_transposed(tensor_of(Shape(k, m), a), tensor_of(Shape(n, k), b), r, true, true);
    EXPECT(near(r, Shape(m, n), product(a, b, m, k, n, true, true), 1e-5f));
    cpu()->mm_into_transposed(tensor_of(Shape(m, k), a), tensor_of(Shape(k, n), b), r);
    EXPECT(near(r, Shape(m, n), product(a, b, m, k, n), 1e-5f));
}

TEST(test_mm_refuses_what_does_not_fit)
{
    const Tensor a = Tensor::ones(Shape(2, 3)), none(Shape(2, 3)),
                 whole = Tensor::ones(Shape(3, 2), DType::INT8);
    Tensor r = Tensor::zeros(Shape(2, 2)), scalar = Tensor::full(Shape(), 1.0f),
           vector = Tensor::zeros(Shape(3));
    EXPECT_REFUSED(cpu()->mm(a, a),
                   "[CpuBackend::mm] Matrix multiplication dimension mismatch: A.cols(3) != B.rows(2)");
    EXPECT_REFUSED(cpu()->mm_into(a, Tensor::ones(Shape(3, 3)), r), "Result tensor dimension mismatch");
    EXPECT_REFUSED(cpu()->mm_into(a, Tensor::ones(Shape(3, 2)), vector), "Result tensor dimension mismatch");
    EXPECT_REFUSED(cpu()->mm_into(a, whole, r), "Only FP32 tensors are supported for matrix multiplication");
    EXPECT_REFUSED(cpu()->mm_into(none, Tensor::ones(Shape(3, 2)), r),
                   "Cannot perform matrix multiplication on empty");
    EXPECT_REFUSED(cpu()->mm_into(scalar, a, r), "Tensor A must have at least 1 dimension");
    EXPECT_REFUSED(cpu()->mm_into(a, Tensor(Shape(3, 2), DType::FP32, tr::CUDA[0]), r), "must be on CPU");
    EXPECT_REFUSED(cpu()->mm_into_transposed(a, a, r, true, true), "[CpuBackend::mm_into_transposed] Matrix");
}

/* Shapes --------------------------------------------------------------------------------------- */

TEST(test_views_share_and_reshapes_copy)
{
    Tensor x = tensor_of(Shape(2, 3, 4), counting(24));
    Tensor v = cpu()->view(x, Shape(6, 4)), w = cpu()->view(v, Shape(2, 12));
    EXPECT(v.is_view() && !x.is_view() && v.storage() == x.storage() && v.is_contiguous());
    EXPECT(near(w, Shape(2, 12), counting(24)) && w.strides() == Strides(Shape(2, 12)));
    cpu()->fill(v, 5.0f);
    EXPECT(near(x, Shape(2, 3, 4), std::vector<float>(24, 5.0f)));
    EXPECT_REFUSED(cpu()->view(x, Shape(5, 5)),
                   "[CpuBackend::view] Shape mismatch: tensor has 24 elements, but target "
                   "shape (5,5) has 25 elements");
    EXPECT_REFUSED(cpu()->view(Tensor(Shape(2, 3)), Shape(6)), "empty tensor");

    Tensor y = tensor_of(Shape(2, 3), counting(6)), into = Tensor::zeros(Shape(6));
    const Tensor r = cpu()->reshape(y, Shape(1, 6, 1, 1));
    EXPECT(near(r, Shape(1, 6, 1, 1), counting(6)) && r.storage() != y.storage());
    cpu()->reshape_into(y, into, Shape(6));
    EXPECT(near(into, Shape(6), counting(6)));
    cpu()->reshape_inplace(y, Shape(3, 2));
    EXPECT(near(y, Shape(3, 2), counting(6)));
    EXPECT_REFUSED(cpu()->reshape(y, Shape(5)),
                   "[CpuBackend::reshape] Shape mismatch: tensor has 6 elements");
    EXPECT_REFUSED(cpu()->reshape_inplace(y, Shape(7)), "[CpuBackend::reshape_inplace] Shape mismatch");
    Tensor small = Tensor::zeros(Shape(5)), none(Shape(6));
    EXPECT_REFUSED(cpu()->reshape_into(y, small, Shape(6)), "Output tensor has 5 elements");
    EXPECT_REFUSED(cpu()->reshape_into(y, none, Shape(6)), "Output tensor is empty");
    EXPECT_REFUSED(cpu()->reshape(Tensor::ones(Shape(6), DType::INT8), Shape(2, 3)), "Only FP32");
    EXPECT_REFUSED(cpu()->reshape(none, Shape(6)), "Cannot reshape empty tensor");
}

TEST(test_dims_of_one_come_and_go)
{
    Tensor x = tensor_of(Shape(2, 3), counting(6)), flat = Tensor::zeros(Shape(6));
    EXPECT(near(cpu()->unsqueeze(x, 0), Shape(1, 2, 3), counting(6)));
    EXPECT(near(cpu()->unsqueeze(x, 2), Shape(2, 3, 1), counting(6)));
    EXPECT(near(cpu()->squeeze(cpu()->unsqueeze(x, 1), 1), Shape(2, 3), counting(6)));
    EXPECT(cpu()->squeeze(Tensor::ones(Shape(1)), 0).is_scalar());
    cpu()->unsqueeze_inplace(x, 1);
    EXPECT(x.shape() == Shape(2, 1, 3));
    cpu()->squeeze_inplace(x, 1);
    EXPECT(x.shape() == Shape(2, 3));
    cpu()->unsqueeze_into(x, flat);
    EXPECT(near(flat, Shape(6), counting(6)));
    cpu()->squeeze_into(tensor_of(Shape(6), counting(6, 7)), x);
    EXPECT(near(x, Shape(2, 3), counting(6, 7)));
    EXPECT(values_of<int8_t>(cpu()->unsqueeze(integers_of<int8_t>(Shape(2), {3, 4}), 0))[1] == 4);
    EXPECT(cpu()->unsqueeze(Tensor(), 0).is_empty() && cpu()->squeeze(Tensor(), 0).is_empty());
    EXPECT_REFUSED(cpu()->unsqueeze(x, 3), "[CPU Unsqueeze] Dimension index out of range");
    EXPECT_REFUSED(cpu()->unsqueeze(Tensor::ones(cube), 0), "[CPU Unsqueeze]");
    EXPECT_REFUSED(cpu()->squeeze(x, -1), "[CPU Squeeze] Dimension index out of range");
    EXPECT_REFUSED(cpu()->squeeze(x, 0), "[CPU Squeeze] Dimension size is not 1");
    EXPECT_REFUSED(cpu()->unsqueeze(Tensor::ones(Shape(2), DType::INT32), 0), "only supports FP32 and INT8");
    Tensor small = Tensor::zeros(Shape(5)), none(Shape(6));
    EXPECT_REFUSED(cpu()->unsqueeze_into(x, small), "Element count mismatch for unsqueeze_into: 6 vs 5");
    EXPECT_REFUSED(cpu()->squeeze_into(Tensor(), x), "Cannot squeeze empty tensor into non-empty tensor");
    EXPECT_REFUSED(cpu()->squeeze_into(x, none), "tensor_b is an empty tensor");
}

TEST(test_pad_puts_zeros_around)
{
    const Tensor x = tensor_of(Shape(2, 2), {1, 2, 3, 4});
    const std::vector<float> expected = {0, 0, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 0};
    Tensor y = Tensor::ones(Shape(4, 4)), wrong = Tensor::ones(Shape(3, 4)), none(Shape(4, 4));
    EXPECT(near(cpu()->pad(x, 1), Shape(4, 4), expected) &&
           near(cpu()->pad(x, 0), Shape(2, 2), {1, 2, 3, 4}));
    cpu()->pad_into(x, 1, y);
    EXPECT(near(y, Shape(4, 4), expected));
    EXPECT(near(cpu()->pad(tensor_of(Shape(1, 2, 1, 1), {5, 6}), 1), Shape(1, 2, 3, 3),
                {0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0}));
    EXPECT(values_of<int8_t>(cpu()->pad(integers_of<int8_t>(Shape(1, 1), {9}), 1))[4] == 9);
    EXPECT_REFUSED(cpu()->pad(x, -1), "[CPU Pad] Padding value must be non-negative");
    EXPECT_REFUSED(cpu()->pad(Tensor::ones(Shape(3)), 1), "Tensor must have at least 2 dimensions");
    EXPECT_REFUSED(cpu()->pad(x, INT32_MAX), "too large");
    EXPECT_REFUSED(cpu()->pad_into(x, 1, wrong), "Expected: (4,4), Actual: (3,4)");
    EXPECT_REFUSED(cpu()->pad_into(x, 1, none), "tensor_b is an empty tensor");
    EXPECT_REFUSED(cpu()->pad_into(Tensor(), 1, y), "Cannot pad empty tensor into non-empty tensor");
}

TEST(test_slice_cuts_ranges_out)
{
    const Tensor x = tensor_of(cube, counting(120, 0));
    std::vector<float> expected;
    for (int n = 1; n < 2; ++n)
        for (int c = 0; c < 3; c += 2)
            for (int h = 1; h < 4; ++h)
                for (int w = 0; w < 5; w += 3)
                    expected.push_back(static_cast<float>(((n * 3 + c) * 4 + h) * 5 + w));
    Offset o(1, 2, 0, -1, 1, 4, 0, 5);
    o.set_c_stride(2);
    o.set_w_stride(3);
    EXPECT(near(cpu()->slice(x, o), Shape(1, 2, 3, 2), expected));
    Tensor y = Tensor::zeros(Shape(1, 2, 3, 2)), wrong = Tensor::zeros(Shape(2)), none(Shape(1, 2, 3, 2));
    cpu()->slice_into(x, y, o);
    EXPECT(near(y, Shape(1, 2, 3, 2), expected));
    EXPECT(values_of<int32_t>(cpu()->slice(integers_of<int32_t>(Shape(5), {0, 1, 2, 3, 4}), Offset(2, -1))) ==
           (std::vector<int32_t>{2, 3, 4}));
    EXPECT(values_of<int8_t>(
               cpu()->slice(integers_of<int8_t>(Shape(2, 2), {0, 1, 2, 3}), Offset(1, 2, 0, 1)))[0] == 2);
    EXPECT_REFUSED(cpu()->slice(x, Offset(0, 6)), "W dimension end index 6 exceeds tensor size 5");
    EXPECT_REFUSED(cpu()->slice(x, Offset(5, -1)), "W dimension start index 5 out of range [0, 5]");
    EXPECT_REFUSED(cpu()->slice(x, Offset(-2, 3)), "W dimension start index -2 out of range");
    EXPECT_REFUSED(cpu()->slice(Tensor(Shape(4)), Offset(0, 1)), "tensor storage not allocated");
    EXPECT_REFUSED(cpu()->slice(Tensor::full(Shape(), 1.0f), Offset(0, 1)), "scalar");
    EXPECT_REFUSED(cpu()->slice_into(x, wrong, o), "result shape mismatch. expected: (1,2,3,2), actual: (2)");
    EXPECT_REFUSED(cpu()->slice_into(x, none, o), "result tensor storage not allocated");
}

/* Along a dim --------------------------------------------------------------------------------- */

TEST(test_reductions_along_each_dim)
{
    const Tensor x = tensor_of(Shape(2, 3), {1, 5, 3, 4, 2, 6});
    EXPECT(near(cpu()->sum(x, 0), Shape(3), {5, 7, 9}) && near(cpu()->sum(x, -1), Shape(2), {9, 12}));
    EXPECT(near(cpu()->sum(x, 1, true), Shape(2, 1), {9, 12}));
    EXPECT(near(cpu()->max(x, 0, true), Shape(1, 3), {4, 5, 6}) && near(cpu()->max(x, 1), Shape(2), {5, 6}));
    EXPECT(values_of<int32_t>(cpu()->argmax(x, 1)) == (std::vector<int32_t>{1, 2}));
    EXPECT(values_of<int32_t>(cpu()->argmax(x, 0)) == (std::vector<int32_t>{1, 0, 1}));
    EXPECT(values_of<int8_t>(cpu()->max(integers_of<int8_t>(Shape(3), {-5, -2, -9}), 0))[0] == -2);
    EXPECT(values_of<int32_t>(cpu()->argmax(integers_of<int32_t>(Shape(3), {7, 7, 1}), 0))[0] == 0);
    Tensor r = Tensor::zeros(Shape(3)), i = Tensor::zeros(Shape(2, 1), DType::INT32);
    cpu()->sum_into(x, r, 0);
    EXPECT(near(r, Shape(3), {5, 7, 9}));
    static_cast<const CpuBackend &>(*cpu()).sum_into(x, r, -2);
    EXPECT(near(r, Shape(3), {5, 7, 9}));
    cpu()->max_into(x, r, 0);
    EXPECT(near(r, Shape(3), {4, 5, 6}));
    cpu()->argmax_into(x, i, 1, true);
    EXPECT(values_of<int32_t>(i) == (std::vector<int32_t>{1, 2}));
}

TEST(test_softmax_sums_to_one)
{
    Tensor x = tensor_of(Shape(2, 2), {0, std::log(3.0f), 1000, 1000}), y = Tensor::zeros(Shape(2, 2));
    const std::vector<float> expected = {0.25f, 0.75f, 0.5f, 0.5f};
    EXPECT(near(cpu()->softmax(x, 1), Shape(2, 2), expected));
    cpu()->softmax_into(x, y, -1);
    EXPECT(near(y, Shape(2, 2), expected));
    cpu()->softmax_inplace(x, 1);
    EXPECT(near(x, Shape(2, 2), expected));
}

TEST(test_reductions_refuse_what_does_not_fit)
{
    const Tensor x = Tensor::ones(Shape(2, 3)), whole = Tensor::ones(Shape(2, 3), DType::INT32),
                 none(Shape(2, 3));
    Tensor r = Tensor::zeros(Shape(2, 2)), unset(Shape(3));
    EXPECT_REFUSED(cpu()->sum(x, 2), "[CPU Dim] Dimension index out of range");
    EXPECT_REFUSED(cpu()->max(x, -3), "Dimension index out of range");
    EXPECT_REFUSED(cpu()->sum(whole, 0), "[CPU Sum] Only supports FP32 tensor");
    EXPECT_REFUSED(cpu()->softmax(none, 0), "[CPU Softmax] Tensor storage not allocated");
    EXPECT_REFUSED(cpu()->argmax(Tensor::full(Shape(), 1.0f), 0),
                   "Cannot perform operation on scalar tensor");
    EXPECT_REFUSED(cpu()->max_into(x, r, 0), "[CPU Max] Result shape mismatch. expected: (3), actual: (2,2)");
    EXPECT_REFUSED(cpu()->sum_into(x, unset, 0), "[CPU Sum] Result tensor storage not allocated");
    EXPECT_REFUSED(cpu()->max_into(whole, r, 0), "[CPU Max] Data type mismatch");
    EXPECT_REFUSED(cpu()->argmax_into(x, r, 0), "Result tensor must be INT32 type");
    EXPECT_REFUSED(cpu()->softmax_into(x, r, 0), "Input and result shapes must match");
}

/* Casting and comparing ----------------------------------------------------------------------- */

TEST(test_cast_cuts_and_holds)
{
    Tensor f = tensor_of(Shape(5), {1.9f, -1.9f, 200, -200, 0.4f});
    EXPECT(values_of<int8_t>(cpu()->cast(f, DType::INT8)) == (std::vector<int8_t>{1, -1, 127, -128, 0}));
    EXPECT(values_of<int32_t>(cpu()->cast(f, DType::INT32)) == (std::vector<int32_t>{1, -1, 200, -200, 0}));
    const Tensor i = integers_of<int32_t>(Shape(3), {300, -300, 7});
    EXPECT(values_of<int8_t>(cpu()->cast(i, DType::INT8)) == (std::vector<int8_t>{127, -128, 7}));
    EXPECT(near(cpu()->cast(i, DType::FP32), Shape(3), {300, -300, 7}));
    Tensor b = Tensor::zeros(Shape(3), DType::INT8), g = Tensor::zeros(Shape(3));
    cpu()->cast_into(i, DType::INT8, b);
    cpu()->cast_into(b, DType::FP32, g);
    EXPECT(near(g, Shape(3), {127, -128, 7}));
    cpu()->cast_inplace(f, DType::INT32);
    EXPECT(f.dtype() == DType::INT32 && values_of<int32_t>(f)[2] == 200);
    EXPECT_REFUSED(cpu()->cast(g, DType::FP32),
                   "[CpuBackend::cast] Input tensor already has the target dtype");
    EXPECT_REFUSED(cpu()->cast(Tensor(Shape(2)), DType::INT8), "Input tensor cannot be empty");
    EXPECT_REFUSED(cpu()->cast(g, static_cast<DType>(5)), "Target dtype must be FP32, INT8, or INT32");
    EXPECT_REFUSED(cpu()->cast_inplace(b, DType::FP32), "Input tensor dtype must be FP32 or INT32");
    EXPECT_REFUSED(cpu()->cast_inplace(g, DType::INT8), "Target dtype must be FP32 or INT32");
    EXPECT_REFUSED(cpu()->cast_into(i, DType::FP32, b), "Result tensor dtype must match target_dtype");
    EXPECT_REFUSED(cpu()->cast_into(f, DType::INT8, b), "must have the same shape");
}

TEST(test_closeness_is_the_mean_distance)
{
    const Tensor a = tensor_of(Shape(4), {1, 2, 3, 4}), b = tensor_of(Shape(4), {1, 2, 3, 4.4f});
    EXPECT(cpu()->is_close(a, b, 0.11f) && !cpu()->is_close(a, b, 0.09f) && cpu()->is_close(a, a));
    EXPECT(!cpu()->is_close(a, Tensor::ones(Shape(2, 2))) && cpu()->is_close(Tensor(), Tensor()));
    EXPECT(!cpu()->is_close(a, Tensor(Shape(4))));
    EXPECT(std::fabs(cpu()->get_mean_abs_err(a, b) - 0.1) < 1e-6);
    EXPECT(std::fabs(cpu()->get_mean_rel_err(a, b) - 0.04) < 1e-6);
    EXPECT(cpu()->get_mean_rel_err(Tensor::zeros(Shape(4)), b) == 0 &&
           cpu()->get_mean_abs_err(Tensor(), Tensor()) == 0);
    EXPECT_REFUSED(cpu()->is_close(a, Tensor::ones(Shape(4), DType::INT8)),
                   "[CpuBackend::is_close] Only FP32");
    EXPECT_REFUSED(cpu()->get_mean_abs_err(a, Tensor::ones(Shape(5))), "Tensor shapes must be identical");
    EXPECT_REFUSED(cpu()->get_mean_rel_err(a, Tensor(Shape(4))), "Cannot compute error with empty tensor");
}

TEST(test_integers_are_compared_exactly)
{
    const Tensor a = integers_of<int32_t>(Shape(3), {1, 2, 3}), b = integers_of<int32_t>(Shape(3), {1, 0, 3});
    const Tensor s = integers_of<int8_t>(Shape(3), {1, 2, 3});
    EXPECT(cpu()->equal(a, a) && !cpu()->equal(a, b) && cpu()->equal(s, s));
    EXPECT(!cpu()->equal(a, integers_of<int32_t>(Shape(2), {1, 2})));
    EXPECT(values_of<int32_t>(cpu()->eq(a, b)) == (std::vector<int32_t>{1, 0, 1}));
    Tensor r = Tensor::zeros(Shape(3), DType::INT32);
    cpu()->eq_into(a, b, r);
    EXPECT(values_of<int32_t>(r) == (std::vector<int32_t>{1, 0, 1}));
    EXPECT_THROWS(TypeError, cpu()->eq(a, s), "TypeError: [CpuBackend::eq] All tensors must be INT32 type");
    EXPECT_THROWS(TypeError, cpu()->equal(a, s), "Tensors must have the same data type");
    EXPECT_THROWS(TypeError, cpu()->equal(Tensor::ones(Shape(3)), a), "must be INT32 or INT8 type");
    EXPECT_THROWS(ShapeError, cpu()->eq(a, integers_of<int32_t>(Shape(2), {1, 2})),
                  "must have the same shape");
    EXPECT_THROWS(ShapeError, cpu()->eq(a, Tensor(Shape(3), DType::INT32)),
                  "Inconsistent empty tensor status");
}

TEST_BEFORE
{
    Logger::get_instance().set_quiet_mode(true);
    BackendManager::instance();
}
