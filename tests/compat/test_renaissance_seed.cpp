/* test_renaissance_seed.cpp - the code examples of the document "Tensor API" (seed 004), compiled
 * and run. Where an example lacks a declaration that it uses (cuda_b, i and j), it is added here;
 * the document's snippets do not compile without it anywhere. */
#include "renaissance_test.hpp"

using namespace tr;

TEST(test_basic_creation_makes_tensors_without_memory)
{
    // 创建空张量
    Tensor t1;

    // 创建CPU张量（行主序存储）
    Tensor cpu_tensor(Shape(2, 3), DType::FP32, tr::CPU);

    // 创建CUDA张量（列主序存储）
    Tensor cuda_tensor(Shape(2, 3), DType::FP32, tr::CUDA[0]);

    EXPECT(t1.is_scalar() && t1.dtype() == DType::FP32 && t1.device() == tr::CPU && t1.is_empty());
    EXPECT(cpu_tensor.is_empty() && cpu_tensor.memory_size() == 24 && cpu_tensor.device().is_cpu());
    EXPECT(cuda_tensor.is_empty() && cuda_tensor.numel() == 6 && cuda_tensor.device() == tr::CUDA[0]);
}

TEST(test_access_is_row_major_on_the_cpu_and_column_major_on_cuda)
{
    NEED_CUDA();
    auto cuda_backend = BackendManager::get_cuda_backend();
    const int i = 5, j = 7;

    // 用户代码示例：数据访问一致性
    Tensor cpu_a = Tensor::randn(Shape(1024, 2048), 42);
    Tensor cuda_a = cuda_backend->from_cpu(cpu_a);  // 自动转换为列主序

    // 无论在哪个后端，用户访问都是行主序语义
    float cpu_value = cpu_a.data_ptr<float>()[i * 2048 + j];  // 行主序访问

    /* On hardware the host cannot follow the pointer; the backend copies what it points at. */
    std::vector<float> memory(1024 * 2048);
    cuda_backend->copy_data(memory.data(), cuda_a.data_ptr(), cuda_a.memory_size(), tr::CPU, tr::CUDA[0]);
    float cuda_value = memory[j * 1024 + i];  // 列主序访问
    EXPECT(cpu_value == cuda_value);
    if (tsr_device_named("cuda:0") == TSR_NO_DEVICE) {
        cuda_value = cuda_a.data_ptr<float>()[j * 1024 + i];  // 列主序访问
        EXPECT(cpu_value == cuda_value);
    }
    EXPECT(floats_of(cuda_a) == floats_of(cpu_a));
}

TEST(test_work_across_backends_gives_the_same_product)
{
    NEED_CUDA();
    // 获取后端实例
    auto cuda_backend = BackendManager::get_cuda_backend();
    auto cpu_backend = BackendManager::get_cpu_backend();

    // 创建CPU张量
    Tensor cpu_a = Tensor::randn(Shape(1024, 2048), 42);
    Tensor cpu_b = Tensor::randn(Shape(2048, 512), 43);

    // 转换到CUDA（自动转换为列主序）
    Tensor cuda_a = cuda_backend->from_cpu(cpu_a);
    Tensor cuda_b = cuda_backend->from_cpu(cpu_b);

    // CUDA矩阵乘法（列主序计算）
    Tensor cuda_result = Tensor::empty(Shape(1024, 512), DType::FP32, tr::CUDA[0]);
    cuda_backend->mm(cuda_result, cuda_a, cuda_b);

    // 转换回CPU（自动转换回行主序）
    Tensor cpu_result = cuda_backend->to_cpu(cuda_result);

    // 结果验证：CPU和CUDA结果在行主序下应该一致
    Tensor expected = cpu_backend->mm(cpu_a, cpu_b);
    bool is_close = cpu_backend->is_close(expected, cpu_result, 1e-4f);
    EXPECT(is_close);
    EXPECT(!cpu_backend->is_close(expected, cpu_backend->mul(cpu_result, 1.01f), 1e-4f));
}

TEST(test_new_names_for_dims_and_the_check_of_shapes)
{
    Tensor cpu_a = Tensor::randn(Shape(1024, 2048), 42);
    Tensor cpu_b = Tensor::randn(Shape(2048, 512), 42);

    // 使用新的矩阵维度别名方法
    int32_t M = cpu_a.height();  // 1024
    int32_t K = cpu_a.width();   // 2048
    int32_t N = cpu_b.width();   // 512
    EXPECT(M == 1024 && K == 2048 && N == 512);

    // 形状兼容性检查
    EXPECT(cpu_a.shape().is_matmul_compatible(cpu_b.shape()));
    EXPECT(cpu_a.is_matmul_compatible(cpu_b.shape()));
    EXPECT(!cpu_b.is_matmul_compatible(cpu_b.shape()));
    EXPECT(Tensor(Shape(2, 3, 4, 5)).number() == 2);
}

TEST(test_scalars_are_set_and_read)
{
    // 创建标量张量
    Tensor scalar = Tensor::full(Shape(), 3.14f);

    // 获取标量值
    float value = scalar.item<float>();
    EXPECT(value == 3.14f);

    // 设置标量值
    scalar = Tensor::full(Shape(), 2.718f);
    EXPECT(scalar.item<float>() == 2.718f && scalar.item<int32_t>() == 2 && scalar.item<int8_t>() == 2);
}

TEST(test_factories_fill_tensors_on_every_device)
{
    NEED_CUDA();
    // 创建零张量
    Tensor zeros = Tensor::zeros(Shape(3, 4), DType::FP32, tr::CUDA[0]);

    // 创建单位张量
    Tensor ones = Tensor::ones(Shape(3, 4), DType::FP32, tr::CPU);
    EXPECT(near(zeros, Shape(3, 4), std::vector<float>(12, 0.0f)));
    EXPECT(near(ones, Shape(3, 4), std::vector<float>(12, 1.0f)));

    // 创建常量张量
    if (has_cuda(1)) {
        Tensor constant = Tensor::full(Shape(3, 4), 2.5f, DType::FP32, tr::CUDA[1]);
        EXPECT(near(constant, Shape(3, 4), std::vector<float>(12, 2.5f)));
    }

    // 创建随机张量
    Tensor random = Tensor::randn(Shape(3, 4), 12345, DType::FP32, tr::CPU);
    EXPECT(floats_of(random) == floats_of(Tensor::randn(Shape(3, 4), 12345)));
    EXPECT(floats_of(random) != floats_of(Tensor::randn(Shape(3, 4), 12346)));
}

TEST(test_conversion_lays_out_columns_as_the_document_shows)
{
    NEED_CUDA();
    // 原始行主序数据（CPU）, 内存布局：[1, 2, 3, 4, 5, 6]
    const int32_t M = 2, K = 3;
    auto cuda_backend = BackendManager::get_cuda_backend();
    Tensor cpu = tensor_of(Shape(M, K), {1, 2, 3, 4, 5, 6});
    Tensor cuda = cuda_backend->from_cpu(cpu);
    const std::vector<float> cpu_data = {1, 2, 3, 4, 5, 6};
    std::vector<float> cuda_data(6);

    for (int32_t i = 0; i < M; ++i) {        // i = 0,1
        for (int32_t j = 0; j < K; ++j) {    // j = 0,1,2
            cuda_data[j * M + i] = cpu_data[i * K + j];
        }
    }

    // 内存布局：[1, 4, 2, 5, 3, 6]
    std::vector<float> memory(6);
    cuda_backend->copy_data(memory.data(), cuda.data_ptr(), cuda.memory_size(), tr::CPU, tr::CUDA[0]);
    EXPECT(memory == cuda_data);
    EXPECT(memory == (std::vector<float>{1, 4, 2, 5, 3, 6}));
    EXPECT(floats_of(cuda_backend->to_cpu(cuda)) == cpu_data);
    EXPECT(cuda.strides().h() == 1 && cuda.strides().w() == M && cuda.is_contiguous());
}

TEST(test_failures_are_caught_as_the_document_catches_them)
{
    bool caught = false;
    try {
        Tensor tensor = Tensor::randn(Shape(8, 4), 42);
        tensor.dim_size(2);
    } catch (const TRException &e) {
        caught = std::string(e.what()) == "TRException: [Shape::dim] Dimension index out of range";
    }
    EXPECT(caught);
}

/* "New backends": derive, say how tensors lie, convert, register. */
class ReversedBackend : public Backend {
public:
    ReversedBackend() : Backend(true) {}
    std::string name() const override { return "ReversedBackend"; }
    Device device() const override { return tr::CUDA[7]; }
    std::shared_ptr<void> allocate(size_t size) override
    {
        return std::shared_ptr<void>(std::malloc(size), std::free);
    }
    void *get_data_ptr(const std::shared_ptr<void> &holder) override { return holder.get(); }
    void copy_data(void *dst, const void *src, size_t size, const Device &, const Device &) const override
    {
        const char *from = static_cast<const char *>(src);
        std::reverse_copy(from, from + size, static_cast<char *>(dst));
    }
    void fill(Tensor &dst, float value) override
    {
        float *data = static_cast<float *>(dst.data_ptr());
        std::fill(data, data + dst.numel(), value);
    }
};

TEST(test_a_backend_of_the_program_serves_its_device)
{
    BackendManager &manager = BackendManager::instance();
    if (manager.is_registered(tr::CUDA[7])) SKIP("there is a device CUDA:7");
    manager.register_backend(tr::CUDA[7], std::make_shared<ReversedBackend>());
    Tensor t = Tensor::full(Shape(2, 2), 1.5f, DType::FP32, tr::CUDA[7]);
    EXPECT(static_cast<const float *>(t.data_ptr())[3] == 1.5f);
    t.from_cpu_data("0123456789abcdef", 16);
    EXPECT(!std::memcmp(t.data_ptr(), "fedcba9876543210", 16));
    EXPECT_THROWS(NotImplementedError, manager.get_backend(tr::CUDA[7])->tanh(t),
                  "NotImplementedError: [ReversedBackend tanh] Operation NOT implemented!");
    EXPECT_REFUSED(BackendManager::get_cpu_backend()->tanh(t), "tensor must be on CPU device");
}

TEST_BEFORE
{
    Logger::get_instance().set_quiet_mode(true);
    BackendManager::instance();
}
