/* test_renaissance_cuda.cpp - CudaBackend on a CUDA device, or on the simulated one that stands in. */
#include "renaissance_test.hpp"

using namespace tr;

static std::shared_ptr<CpuBackend> cpu() { return BackendManager::get_cpu_backend(); }
static std::shared_ptr<CudaBackend> gpu() { return BackendManager::get_cuda_backend(); }

/* Bytes as stored on the device. */
static std::vector<float> memory_of(const Tensor &t)
{
    std::vector<float> values(static_cast<size_t>(t.numel()));
    gpu()->copy_data(values.data(), t.data_ptr(), t.memory_size(), tr::CPU, t.device());
    return values;
}

static Tensor there(const Shape &shape, const std::vector<float> &values)
{
    return tensor_of(shape, values, tr::CUDA[0]);
}

TEST(test_cuda_matrices_lie_in_columns)
{
    NEED_CUDA();
    for (const Shape &shape : {Shape(2, 3), Shape(7, 1), Shape(1, 5), Shape(33, 65)}) {
        const int rows = shape.h(), cols = shape.w();
        const std::vector<float> values = counting(rows * cols);
        std::vector<float> columns(values.size());
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < cols; ++j) columns[j * rows + i] = values[i * cols + j];
        const Tensor t = gpu()->from_cpu(tensor_of(shape, values));
        EXPECT(t.device() == tr::CUDA[0] && t.shape() == shape && t.is_contiguous());
        EXPECT(memory_of(t) == columns);
        EXPECT(floats_of(t) == values && floats_of(gpu()->to_cpu(t)) == values);
        EXPECT(gpu()->to_cpu(t).device() == tr::CPU);
        EXPECT(memory_of(there(shape, values)) == columns && memory_of(gpu()->copy(t)) == columns);
    }
}

TEST(test_cuda_tensors_of_other_ranks_lie_in_rows)
{
    NEED_CUDA();
    for (const Shape &shape : {Shape(), Shape(6), Shape(2, 3, 4), Shape(2, 1, 3, 2)}) {
        const std::vector<float> values = counting(static_cast<int>(shape.numel()));
        const Tensor t = gpu()->from_cpu(tensor_of(shape, values));
        EXPECT(memory_of(t) == values && floats_of(gpu()->to_cpu(t)) == values);
    }
    EXPECT(Tensor::full(Shape(), 4.5f, DType::FP32, tr::CUDA[0]).item<float>() == 4.5f);
    EXPECT(Tensor::full(Shape(), 4.5f, DType::INT32, tr::CUDA[0]).item<int32_t>() == 4);
    EXPECT(Tensor::full(Shape(), 4.5f, DType::INT8, tr::CUDA[0]).item<int8_t>() == 4);
}

TEST(test_cuda_every_dtype_crosses)
{
    NEED_CUDA();
    const Tensor b = integers_of<int8_t>(Shape(2, 3), {1, 2, 3, 4, 5, -6});
    const Tensor i = integers_of<int32_t>(Shape(2, 3), {1, 2, 3, 4, 5, -60000});
    EXPECT(cpu()->equal(gpu()->to_cpu(gpu()->from_cpu(b)), b) &&
           cpu()->equal(gpu()->to_cpu(gpu()->from_cpu(i)), i));
    EXPECT(cpu()->equal(i.cuda().cpu(), i) && cpu()->equal(b.to(tr::CUDA[0]).to(tr::CPU), b));
}

TEST(test_cuda_products_match_the_cpu)
{
    NEED_CUDA();
    const Tensor a = cpu()->randn(Shape(37, 65), 1), b = cpu()->randn(Shape(65, 20), 2), c = cpu()->mm(a, b);
    const Tensor x = gpu()->from_cpu(a), y = gpu()->from_cpu(b);
    Tensor r = gpu()->empty(Shape(37, 20), DType::FP32);
    gpu()->mm_into(x, y, r);
    EXPECT(near(r, Shape(37, 20), floats_of(c), 1e-4f) &&
           near(gpu()->mm(x, y), Shape(37, 20), floats_of(c), 1e-4f));
    gpu()->mm_into_transposed(gpu()->transpose(x), gpu()->transpose(y), r, true, true);
    EXPECT(near(r, Shape(37, 20), floats_of(c), 1e-4f));
    EXPECT(memory_of(r) == floats_of(cpu()->transpose(gpu()->to_cpu(r))));
    gpu()->synchronize();

    /* (M, K, 1, 1) and (N, K, 1, 1) are a product of rows with rows. */
    const Tensor rows = there(Shape(2, 3, 1, 1), counting(6)),
                 filters = there(Shape(2, 3, 1, 1), {1, 0, 0, 1, 1, 1});
    Tensor wide = gpu()->zeros(Shape(2, 2, 1, 1), DType::FP32);
    gpu()->mm(wide, rows, filters);
    EXPECT(near(wide, Shape(2, 2, 1, 1), {1, 6, 4, 15}) &&
           near(gpu()->mm(rows, filters), Shape(2, 2, 1, 1), {1, 6, 4, 15}));
    EXPECT_REFUSED(gpu()->mm(x, x), "[CudaBackend::mm] Matrix multiplication dimension mismatch");
    EXPECT_REFUSED(gpu()->mm_into(a, y, r), "CudaBackend: tensor device mismatch");
    EXPECT_REFUSED(gpu()->mm_into(x, Tensor(Shape(65, 20), DType::FP32, tr::CUDA[0]), r), "empty tensors");
}

TEST(test_cuda_elements_match_the_cpu)
{
    NEED_CUDA();
    const Tensor a = cpu()->randn(Shape(5, 7), 1), b = cpu()->randn(Shape(5, 7), 2);
    const Tensor x = gpu()->from_cpu(a), y = gpu()->from_cpu(b),
                 row = gpu()->from_cpu(cpu()->randn(Shape(1, 7), 3));
    const Shape s(5, 7);
    Tensor r = gpu()->zeros(s, DType::FP32);
    EXPECT(near(gpu()->add(x, y), s, floats_of(cpu()->add(a, b))));
    EXPECT(near(gpu()->mul(x, y), s, floats_of(cpu()->mul(a, b))));
    gpu()->add(r, x, y);
    EXPECT(near(r, s, floats_of(cpu()->add(a, b))));
    gpu()->minus_into(x, y, r);
    EXPECT(near(r, s, floats_of(cpu()->minus_broadcast(a, b))));
    EXPECT(near(gpu()->mac(x, 2, 3), s, floats_of(cpu()->mac(a, 2, 3))));
    EXPECT(near(gpu()->minus(1.0f, x), s, floats_of(cpu()->minus(1.0f, a))));
    EXPECT(near(gpu()->clamp(x, -0.5f, 0.5f), s, floats_of(cpu()->clamp(a, -0.5f, 0.5f))));
    EXPECT(near(gpu()->add_broadcast(x, row), s, floats_of(cpu()->add_broadcast(a, gpu()->to_cpu(row)))));
    EXPECT(near(gpu()->tanh(x), s, floats_of(cpu()->tanh(a)), 1e-5f) &&
           near(gpu()->relu(x), s, floats_of(cpu()->relu(a))));
    EXPECT(near(gpu()->drelu(x), s, floats_of(cpu()->drelu(a))));
    EXPECT(near(gpu()->softmax(x, 1), s, floats_of(cpu()->softmax(a, 1)), 1e-5f));
    Tensor sums = gpu()->zeros(Shape(7), DType::FP32);
    gpu()->sum_into(x, sums, 0);
    EXPECT(near(sums, Shape(7), floats_of(cpu()->sum(a, 0)), 1e-5f));
    gpu()->mul_inplace(r, 0.0f);
    EXPECT(near(r, s, std::vector<float>(35, 0.0f)));
    EXPECT(gpu()->is_close(x, gpu()->add(x, 1e-6f)) && !gpu()->is_close(x, gpu()->add(x, 0.1f)));
    EXPECT(!gpu()->is_close(x, row) &&
           std::fabs(gpu()->crossentropy(gpu()->softmax(x, 1), gpu()->softmax(y, 1), "mean") -
                     cpu()->crossentropy(cpu()->softmax(a, 1), cpu()->softmax(b, 1))) < 1e-4f);
    EXPECT_REFUSED(gpu()->add_into(x, b, r), "CudaBackend: tensor device mismatch");
    EXPECT_REFUSED(gpu()->add_into(x, row, r), "Tensor shape mismatch: (5,7) vs (1,7)");
}

TEST(test_cuda_convolutions_match_the_cpu)
{
    NEED_CUDA();
    const Tensor x = cpu()->randn(Shape(2, 3, 9, 9), 1), k = cpu()->randn(Shape(4, 3, 3, 3), 2);
    const Tensor gx = gpu()->from_cpu(x), gk = gpu()->from_cpu(k);
    for (const int stride : {1, 2}) {
        const Tensor c = cpu()->conv(x, k, stride, 1), y = gpu()->conv(gx, gk, stride, 1);
        EXPECT(near(y, c.shape(), floats_of(c), 1e-4f));
        Tensor into = gpu()->zeros(c.shape(), DType::FP32);
        gpu()->conv_into(gx, gk, into, stride, 1);
        EXPECT(near(into, c.shape(), floats_of(c), 1e-4f));
    }
    /* Here kernels of the transposed kind are (C_in, C_out, k, k). */
    const std::vector<float> w = floats_of(k);
    std::vector<float> transposed(w.size());
    for (size_t o = 0; o < 4; ++o)
        for (size_t c = 0; c < 3; ++c)
            for (size_t t = 0; t < 9; ++t) transposed[(c * 4 + o) * 9 + t] = w[(o * 3 + c) * 9 + t];
    const Tensor c = cpu()->transposed_conv(x, k, 2, 1), tk = there(Shape(3, 4, 3, 3), transposed);
    Tensor into = gpu()->zeros(c.shape(), DType::FP32);
    EXPECT(near(gpu()->transposed_conv(gx, tk, 2, 1), c.shape(), floats_of(c), 1e-4f));
    gpu()->transposed_conv_into(gx, tk, into, 2, 1);
    EXPECT(near(into, c.shape(), floats_of(c), 1e-4f));
    EXPECT(gpu()->conv(there(Shape(3, 9, 9), std::vector<float>(243, 1.0f)), gk).shape() == Shape(4, 7, 7));
    EXPECT_REFUSED(gpu()->conv(gx, tk),
                   "[CUDA Conv] Channel mismatch: Input channels (3) must match kernel channels (4)");
    EXPECT_REFUSED(gpu()->transposed_conv(gx, gk), "[CUDA TransposedConv] Channel mismatch");
    EXPECT_REFUSED(gpu()->conv(x, gk), "[CUDA Conv] Device must be CUDA");
    EXPECT_REFUSED(gpu()->conv(gx, gk, 0), "Stride must be positive");
}

TEST(test_cuda_copies_go_both_ways)
{
    NEED_CUDA();
    const Tensor a = tensor_of(Shape(2, 3), counting(6));
    Tensor x = gpu()->zeros(Shape(2, 3), DType::FP32), back = Tensor::zeros(Shape(2, 3)),
           y = gpu()->ones(Shape(2, 3), DType::FP32);
    gpu()->copy_into(a, x);
    gpu()->copy_into(x, y);
    gpu()->copy_into(y, back);
    EXPECT(floats_of(back) == counting(6));
    EXPECT(gpu()->from_cpu(x) == x && gpu()->to_cpu(a) == a && gpu()->to(x, tr::CUDA[0]) == x);
    EXPECT(floats_of(gpu()->to(a, tr::CUDA[0])) == counting(6) && gpu()->to(x, tr::CPU).device().is_cpu());
    EXPECT(gpu()->get_memory_size(x) == 24 && gpu()->name() == "CudaBackend" &&
           gpu()->device() == tr::CUDA[0]);
    EXPECT_REFUSED(gpu()->copy_into(a, back), "neither tensor belongs to CUDA backend");
    EXPECT_REFUSED(gpu()->copy(a), "CudaBackend: tensor device mismatch");
    EXPECT_REFUSED(gpu()->fill(back, 1.0f), "CudaBackend: tensor device mismatch");
    EXPECT_REFUSED(gpu()->copy_data(x.data_ptr(), nullptr, 4, tr::CUDA[0], tr::CPU), "Null pointer");
    char one, two = 0;
    EXPECT_REFUSED(gpu()->copy_data(&one, &two, 1, tr::CPU, tr::CPU), "Unsupported copy direction");
    if (has_cuda(1)) {
        const Tensor other = a.cuda(1);
        EXPECT(floats_of(other) == counting(6) && other.device() == tr::CUDA[1]);
        EXPECT(floats_of(other.to(tr::CUDA[0])) == counting(6));
        EXPECT_REFUSED(gpu()->add(x, other), "CudaBackend: tensor device mismatch");
    }
}

TEST(test_cuda_raw_memory_is_copied_as_it_is)
{
    NEED_CUDA();
    const auto memory = gpu()->allocate(64);
    const std::vector<float> values = counting(16);
    std::vector<float> back(16);
    gpu()->copy_data(gpu()->get_data_ptr(memory), values.data(), 64, tr::CUDA[0], tr::CPU);
    gpu()->copy_data(back.data(), memory.get(), 64, tr::CPU, tr::CUDA[0]);
    EXPECT(back == values);
    EXPECT_REFUSED(gpu()->allocate(0), "Cannot allocate zero bytes");
    EXPECT_REFUSED(gpu()->allocate(size_t{1} << 50), "CUDA memory allocation failed");
}

TEST(test_cuda_views_keep_indices)
{
    NEED_CUDA();
    const Tensor x = there(Shape(2, 3, 4, 5), counting(120));
    const Tensor flat = gpu()->view(x, Shape(2, 60));
    EXPECT(flat.is_view() && flat.storage() == x.storage() && near(flat, Shape(2, 60), counting(120)));
    EXPECT(near(gpu()->to_cpu(gpu()->mm(flat, gpu()->ones(Shape(60, 1), DType::FP32))), Shape(2, 1),
                {1830, 5430}));
    const Tensor m = there(Shape(2, 3), counting(6));
    EXPECT_REFUSED(gpu()->view(m, Shape(6)), "[CudaBackend::view]");
    EXPECT(near(gpu()->view(m, Shape(1, 2, 3)), Shape(1, 2, 3), counting(6)));
    EXPECT(near(gpu()->reshape(m, Shape(3, 2)), Shape(3, 2), counting(6)));
    EXPECT(memory_of(gpu()->reshape(m, Shape(3, 2))) == (std::vector<float>{1, 3, 5, 2, 4, 6}));
    EXPECT(near(gpu()->transpose(m), Shape(3, 2), {1, 4, 2, 5, 3, 6}));
}

TEST(test_cuda_random_numbers_are_the_cpus)
{
    NEED_CUDA();
    EXPECT(floats_of(gpu()->randn(Shape(4, 5), 9)) == floats_of(cpu()->randn(Shape(4, 5), 9)));
    EXPECT(floats_of(gpu()->uniform(Shape(4, 5), 1, 2, 9)) ==
           floats_of(cpu()->uniform(Shape(4, 5), 1, 2, 9)));
    EXPECT(floats_of(Tensor::randn(Shape(4, 5), 9, DType::FP32, tr::CUDA[0])) ==
           floats_of(cpu()->randn(Shape(4, 5), 9)));
    EXPECT(floats_of(gpu()->randbool(Shape(4, 5), 0.5f, 9)) ==
           floats_of(cpu()->randbool(Shape(4, 5), 0.5f, 9)));
}

TEST(test_cuda_text_shows_rows_and_the_device)
{
    NEED_CUDA();
    EXPECT(
        there(Shape(2, 2), {1, 2, 3, 4}).to_string() ==
        "Tensor(shape=(2,2), dtype=FP32, device=CUDA:0, numel=4, data=[\n"
           "  [1.0000, 2.0000],\n  [3.0000, 4.0000]\n])");
}

TEST_BEFORE
{
    Logger::get_instance().set_quiet_mode(true);
    BackendManager::instance();
}
