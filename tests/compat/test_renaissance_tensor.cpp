/* test_renaissance_tensor.cpp - tr::Tensor, what backends make, and .tsr files. */
#include <csignal>
#include <cstdio>
#include <random>

#include <sys/resource.h>
#include <sys/stat.h>

#include "renaissance_test.hpp"

using namespace tr;

static std::shared_ptr<CpuBackend> cpu() { return BackendManager::get_cpu_backend(); }

/* Tensor ---------------------------------------------------------------------------------- */

TEST(test_tensor_tells_its_shape_dtype_and_memory)
{
    const Tensor t = Tensor::empty(Shape(2, 3, 4, 5), DType::INT8);
    EXPECT(t.ndim() == 4 && t.numel() == 120 && t.memory_size() == 120 && t.dtype_size() == 1);
    EXPECT(t.batch() == 2 && t.number() == 2 && t.channel() == 3 && t.height() == 4 && t.width() == 5);
    EXPECT(t.dim_size(3) == 5 && !t.is_scalar() && t.is_contiguous() && !t.is_view() && !t.is_empty());
    EXPECT(t.storage_allocated() && t.storage()->size() == 120 && t.storage()->device() == tr::CPU);
    EXPECT(t.strides() == Strides(t.shape()) && t.data_ptr() == t.storage()->data_ptr());
    EXPECT_REFUSED(t.dim_size(4), "Dimension index out of range");
    EXPECT_REFUSED(t.dim_size(-1), "Dimension index out of range");
    EXPECT_REFUSED(Tensor(Shape(2), static_cast<DType>(7)), "Tensor dtype must be FP32, INT8, or INT32");
    EXPECT_REFUSED(Tensor::empty(Shape(2), DType::UNKNOWN), "Tensor dtype must be");
}

TEST(test_tensor_copies_share_their_storage)
{
    Tensor a = tensor_of(Shape(2, 2), {1, 2, 3, 4});
    const Tensor b = a, c = a.view();
    EXPECT(a == b && a == c && !(a != b) && a.storage().use_count() == 4);
    a.data_ptr<float>()[0] = 9;
    EXPECT(floats_of(b)[0] == 9 && floats_of(c)[0] == 9);
    Tensor d = a.clone();
    EXPECT(d != a && floats_of(d) == floats_of(a));
    a = Tensor();
    EXPECT(a.is_empty() && a.data_ptr() == nullptr && floats_of(b)[0] == 9);
    d = CpuBackend::null_tensor();
    EXPECT(d.is_empty() && !d.storage_allocated());
}

TEST(test_tensor_data_crosses_the_host_whole_or_not_at_all)
{
    Tensor t = Tensor::zeros(Shape(2, 3));
    float values[6] = {1, 2, 3, 4, 5, 6}, back[6];
    t.from_cpu_data(values, sizeof values);
    t.to_cpu_data(back, sizeof back);
    EXPECT(!std::memcmp(values, back, sizeof back));
    EXPECT_REFUSED(t.from_cpu_data(values, 8),
                   "[Tensor::from_cpu_data] Data size mismatch: expected 24 bytes, "
                   "got 8 bytes");
    EXPECT_REFUSED(t.from_cpu_data(nullptr, 24), "[Tensor::from_cpu_data] Input data pointer is null");
    EXPECT_REFUSED(t.to_cpu_data(nullptr, 24), "[Tensor::to_cpu_data] Output data pointer is null");
    EXPECT_REFUSED(Tensor(Shape(2, 3)).from_cpu_data(values, 24), "Cannot copy data to empty Tensor");
    EXPECT_REFUSED(Tensor(Shape(2, 3)).to_cpu_data(back, 24), "Cannot copy data from empty Tensor");
}

TEST(test_tensor_items_are_scalars_only)
{
    EXPECT(Tensor::full(Shape(), -7.9f).item<int32_t>() == -7 &&
           Tensor::full(Shape(), 1e20f).item<int8_t>() == 127);
    EXPECT(Tensor::full(Shape(), 5, DType::INT32).item<float>() == 5.0f);
    EXPECT(Tensor::full(Shape(), 300, DType::INT8).item<int8_t>() == 127);
    EXPECT_REFUSED(Tensor::ones(Shape(2)).item<float>(), "item() only for scalar tensors");
    EXPECT_REFUSED(Tensor().item<float>(), "Cannot get item: Tensor is empty (no Storage allocated)");
    EXPECT_REFUSED(cpu()->get_scalar_float(Tensor::ones(Shape(2))),
                   "get_scalar_float: tensor must be scalar");
    EXPECT_REFUSED(cpu()->get_scalar_int32(Tensor()), "get_scalar_int32: tensor data is null");
}

TEST(test_tensor_factories_fill_every_dtype)
{
    EXPECT(near(Tensor::ones(Shape(3)), Shape(3), {1, 1, 1}));
    EXPECT(values_of<int8_t>(Tensor::full(Shape(2), -3.7f, DType::INT8)) == (std::vector<int8_t>{-3, -3}));
    EXPECT(values_of<int32_t>(Tensor::full(Shape(2), 1e12f, DType::INT32)) ==
           (std::vector<int32_t>{INT32_MAX, INT32_MAX}));
    EXPECT(values_of<int32_t>(Tensor::zeros(Shape(2), DType::INT32)) == (std::vector<int32_t>{0, 0}));
    EXPECT(near(tr::full(Shape(2), 4.5f), Shape(2), {4.5f, 4.5f}) && tr::empty(Shape(2, 2)).numel() == 4);
    EXPECT_REFUSED(Tensor::randn(Shape(2), 1, DType::INT8), "[Tensor::randn] Only FP32 is supported");
}

TEST(test_tensor_older_functions_see_the_same_elements)
{
    const Tensor t = tensor_of(Shape(2, 3), counting(6));
    EXPECT(near(t.reshape(Shape(3, 2)), Shape(3, 2), counting(6)) &&
           t.reshape(Shape(6)).storage() == t.storage());
    EXPECT(t.expand_dim(1).shape() == Shape(2, 1, 3) && t.unsqueeze_dim(2).shape() == Shape(2, 3, 1));
    EXPECT(t.expand_dim(0).squeeze_dim(0).shape() == Shape(2, 3));
    EXPECT(t.to(tr::CPU) == t && t.cpu() == t);
    EXPECT_REFUSED(t.reshape(Shape(5)), "elements");
    EXPECT_REFUSED(t.expand_dim(3), "Dimension index out of range");
    EXPECT_REFUSED(t.squeeze_dim(0), "Dimension size is not 1");
    EXPECT_REFUSED(t.squeeze_dim(2), "Dimension index out of range");
    EXPECT(
        near(Tensor::randint(2, 5, Shape(50), 1), Shape(50), floats_of(Tensor::randint(2, 5, Shape(50), 1))));
    EXPECT(floats_of(Tensor::uniform(Shape(9), 1, 2, 5)) == floats_of(cpu()->uniform(Shape(9), 1, 2, 5)));
}

static std::string printed(const std::function<void()> &call)
{
    std::ostringstream text;
    std::streambuf *const old = std::cout.rdbuf(text.rdbuf());
    call();
    std::cout.rdbuf(old);
    return text.str();
}

TEST(test_tensor_text_of_each_rank)
{
    EXPECT(Tensor::full(Shape(), 1.5f).to_string() ==
           "Tensor(shape=(), dtype=FP32, device=CPU, numel=1, data=1.5000)");
    EXPECT(Tensor(Shape(2, 3)).to_string() == "Tensor(shape=(2,3), dtype=FP32, device=CPU, empty)");
    EXPECT(
        Tensor::zeros(Shape(17)).to_string() ==
        "Tensor(shape=(17), dtype=FP32, device=CPU, numel=17, "
        "data=[...large tensor, use print() for details...])");
    EXPECT(printed([] {
               integers_of<int8_t>(Shape(3), {1, -2, 3}).print();
           }) == "tensor([1, -2, 3], dtype=INT8)\n");
    EXPECT(printed([] { integers_of<int32_t>(Shape(1), {7}).print("n"); }) ==
           "n:\ntensor([7], dtype=INT32)\n");
    EXPECT(printed([] { tensor_of(Shape(2, 2), {1, 2, 3, 4}).print("m", 1); }) ==
           "m:\ntensor([\n  [1.0, 2.0],\n  [3.0, 4.0]\n])\n");
    EXPECT(printed([] { tensor_of(Shape(2, 2, 1), {1, 2, 3, 4}).print("", 0); }) ==
           "tensor([\n  [[1]\n   [2]],\n  [[3]\n   [4]]\n])\n");
    EXPECT(printed([] { tensor_of(Shape(2, 2, 2, 1), counting(8)).print("", 0); }) ==
           "tensor([\n [[[1],\n  [2]]\n [[3],\n  [4]]],\n\n [[[5],\n  [6]]\n [[7],\n  [8]]]\n])\n");
    EXPECT(printed([] { Tensor().print(); }) == "tensor([])\n");
    EXPECT(printed([] { Tensor(Shape(2)).summary("s"); }) ==
           "s: Tensor(shape=(2), dtype=FP32, device=CPU, empty), memory_size=8 bytes\n");
    std::ostringstream text;
    text << Tensor(Shape(2));
    EXPECT(text.str() == Tensor(Shape(2)).to_string());
}

/* Backends -------------------------------------------------------------------------------- */

TEST(test_manager_knows_its_backends)
{
    BackendManager &m = BackendManager::instance();
    EXPECT(m.get_backend(tr::CPU)->name() == "CpuBackend" && m.get_backend(tr::CPU)->device() == tr::CPU);
    EXPECT(BackendManager::get_backend_static(tr::CPU) == cpu() && m.is_registered(tr::CPU));
    EXPECT_REFUSED(m.get_backend(tr::CUDA[6]), "Backend not found for device: CUDA:6");
    EXPECT_REFUSED(BackendManager::get_cuda_backend(9), "CUDA device index must be between 0 and 7");
    EXPECT_REFUSED(m.register_backend(tr::CUDA[6], nullptr), "is null");
    EXPECT_REFUSED(Backend(), "Backend class cannot be instantiated directly!");
    EXPECT_REFUSED(CudaBackend(-1), "Invalid CUDA device ID: -1");
}

TEST(test_backend_memory_is_aligned_and_goes_back)
{
    auto memory = cpu()->allocate(1000);
    char text[4] = "abc", back[4] = "";
    EXPECT(memory && reinterpret_cast<uintptr_t>(cpu()->get_data_ptr(memory)) % 64 == 0);
    cpu()->copy_data(memory.get(), text, 4, tr::CPU, tr::CPU);
    cpu()->copy_data(back, memory.get(), 4, tr::CPU, tr::CPU);
    EXPECT(!std::strcmp(back, "abc"));
    EXPECT_REFUSED(cpu()->allocate(0), "Cannot allocate zero bytes");
    tsr_set_alloc_hook([](void *, size_t) { return false; }, nullptr);
    EXPECT_REFUSED(cpu()->allocate(1000), "CPU memory allocation failed: 1000 bytes");
    EXPECT_REFUSED(cpu()->zeros(Shape(5), DType::FP32), "CPU memory allocation failed: 20 bytes");
    tsr_set_alloc_hook(nullptr, nullptr);
    EXPECT_REFUSED(cpu()->copy_data(back, nullptr, 4, tr::CPU, tr::CPU), "Null pointer in copy operation");
    EXPECT_REFUSED(cpu()->copy_data(back, text, 4, tr::CUDA[0], tr::CPU),
                   "CpuBackend only supports CPU<->CPU copy");
    EXPECT(cpu()->get_memory_size(Tensor(Shape(5))) == 0 &&
           cpu()->get_memory_size(Tensor::ones(Shape(5))) == 20);
}

TEST(test_backend_makes_and_fills)
{
    Tensor f = cpu()->zeros(Shape(2), DType::FP32), b = cpu()->ones(Shape(2), DType::INT8);
    Tensor i = cpu()->ones(Shape(2), DType::INT32);
    EXPECT(near(f, Shape(2), {0, 0}) && values_of<int8_t>(b)[1] == 1 && values_of<int32_t>(i)[1] == 1);
    cpu()->fill(f, 2.5f);
    cpu()->fill(b, static_cast<int8_t>(-4));
    cpu()->fill(i, 70000);
    EXPECT(near(f, Shape(2), {2.5f, 2.5f}) && values_of<int8_t>(b)[0] == -4 &&
           values_of<int32_t>(i)[0] == 70000);
    cpu()->fill_fp32(f, 1);
    cpu()->fill_int8(b, 2);
    cpu()->fill_int32(i, 3);
    EXPECT(near(f, Shape(2), {1, 1}) && values_of<int8_t>(b)[0] == 2 && values_of<int32_t>(i)[0] == 3);
    EXPECT_REFUSED(cpu()->fill(i, 1.0f), "[CpuBackend::fill] fill(float) requires FP32 tensor");
    EXPECT_REFUSED(cpu()->fill(f, 1), "fill(int32_t) requires INT32 tensor");
    EXPECT_REFUSED(cpu()->fill(f, static_cast<int8_t>(1)), "fill(int8_t) requires INT8 tensor");
    Tensor none(Shape(2)), away(Shape(2), DType::FP32, tr::CUDA[0]);
    EXPECT_REFUSED(cpu()->fill(none, 1.0f), "[CpuBackend::fill] Target tensor has no allocated Storage");
    EXPECT_REFUSED(cpu()->fill(away, 1.0f), "CpuBackend: tensor must be on CPU device");
    CpuBackend::full_inplace(f, 9);
    EXPECT(near(f, Shape(2), {9, 9}) && near(cpu()->full(Shape(2), 3), Shape(2), {3, 3}));
    EXPECT_REFUSED(cpu()->full(Shape(2), 3, DType::INT8), "full: only FP32");
    EXPECT_REFUSED(CpuBackend::full_inplace(none, 3), "Cannot operate on empty tensor");
    EXPECT_REFUSED(CpuBackend::full_inplace(i, 3), "only FP32");
}

TEST(test_backend_random_numbers_are_those_of_the_standard_library)
{
    std::mt19937 engine(42);
    std::normal_distribution<float> normal(0.0f, 1.0f);
    std::vector<float> expected;
    for (int i = 0; i < 100; ++i) expected.push_back(normal(engine));
    Tensor t = cpu()->randn(Shape(10, 10), 42);
    EXPECT(floats_of(t) == expected);
    CpuBackend::randn_inplace(t, 43);
    EXPECT(floats_of(t) == floats_of(cpu()->randn(Shape(10, 10), 43)) && floats_of(t) != expected);

    t = cpu()->uniform(Shape(1000), 10.0f, 20.0f, 456);
    bool inside = true;
    for (const float x : floats_of(t)) inside = inside && x >= 10.0f && x < 20.0f;
    EXPECT(inside);
    CpuBackend::uniform_inplace(t, -5.0f, 5.0f, 7);
    EXPECT(floats_of(t) == floats_of(cpu()->uniform(Shape(1000), -5.0f, 5.0f, 7)));
    EXPECT_REFUSED(cpu()->uniform(Shape(2), 2.0f, 1.0f), "min_val must not be greater than max_val");

    double zeros = 0;
    for (const float x : floats_of(cpu()->randbool(Shape(10000), 0.3f, 5))) zeros += x == 0.0f;
    EXPECT(zeros > 2700 && zeros < 3300);
    cpu()->randbool_inplace(t, 1.0f, 5);
    EXPECT(near(t, Shape(1000), std::vector<float>(1000, 0.0f)));
    EXPECT_REFUSED(cpu()->randbool(Shape(2), -0.1f), "randbool: rate_of_zeros must be between 0.0 and 1.0");
    EXPECT_REFUSED(cpu()->randbool(Shape(2), NAN), "rate_of_zeros must be between");
    EXPECT_REFUSED(cpu()->randbool(Shape(2), 0.5f, 0, DType::INT8), "only FP32");
    Tensor none(Shape(2)), whole = Tensor::zeros(Shape(2), DType::INT32);
    EXPECT_REFUSED(cpu()->randbool_inplace(none, 0.5f), "Cannot operate on empty tensor");
    EXPECT_REFUSED(CpuBackend::randn_inplace(whole),
                   "randn_inplace: This function can only be used for FP32");
    EXPECT_REFUSED(CpuBackend::uniform_inplace(none), "uniform_inplace: Cannot operate on empty tensor");
}

TEST(test_backend_random_integers_are_in_range)
{
    bool inside = true;
    for (const int8_t x : values_of<int8_t>(cpu()->randint(Shape(1000), -50, 50, DType::INT8, 1)))
        inside = inside && x >= -50 && x < 50;
    for (const int32_t x : values_of<int32_t>(cpu()->randint(Shape(1000), 1000, 1003, DType::INT32, 1)))
        inside = inside && x >= 1000 && x < 1003;
    for (const float x : floats_of(cpu()->randint(Shape(1000), 1, 5, DType::FP32, 1)))
        inside = inside && x >= 1 && x < 5 && x == std::floor(x);
    EXPECT(inside);
    Tensor t = Tensor::zeros(Shape(20), DType::INT32);
    CpuBackend::randint_inplace(t, 3, 9, DType::INT32, 8);
    EXPECT(values_of<int32_t>(t) == values_of<int32_t>(cpu()->randint(Shape(20), 3, 9, DType::INT32, 8)));
    Tensor u = Tensor::zeros(Shape(20));
    CpuBackend::randint_inplace(u, 3, 9, 8); /* the older order: the seed, then perhaps a dtype */
    EXPECT(floats_of(u) == floats_of(cpu()->randint(Shape(20), 3, 9, DType::FP32, 8)));
    EXPECT(floats_of(u) == floats_of(cpu()->randint(Shape(20), 3, 9, 8)));
    EXPECT(values_of<int32_t>(t) == values_of<int32_t>(cpu()->randint(Shape(20), 3, 9, 8, DType::INT32)));
    EXPECT_REFUSED(cpu()->randint(Shape(2), 5, 5, DType::FP32), "randint: low must be less than high");
    EXPECT_REFUSED(cpu()->randint(Shape(2), -200, 5, DType::INT8), "INT8 range must be within [-128, 127]");
    EXPECT_REFUSED(cpu()->randint(Shape(2), 0, 5, static_cast<DType>(0)),
                   "only supports FP32, INT8, and INT32");
    EXPECT_REFUSED(CpuBackend::randint_inplace(t, 0, 5, DType::FP32), "tensor dtype must match");
}

TEST(test_backend_copies_deep)
{
    const Tensor a = tensor_of(Shape(2, 2), {1, 2, 3, 4});
    Tensor b = cpu()->copy(a), c = Tensor::zeros(Shape(2, 2));
    EXPECT(b != a && floats_of(b) == floats_of(a));
    cpu()->copy_into(a, c);
    EXPECT(floats_of(c) == floats_of(a));
    EXPECT(cpu()->to_cpu(a) == a && cpu()->from_cpu(a) == a && cpu()->to(a, tr::CPU) == a);
    Tensor wrong = Tensor::zeros(Shape(4)), whole = Tensor::zeros(Shape(2, 2), DType::INT32),
           none(Shape(2, 2));
    EXPECT_REFUSED(cpu()->copy_into(a, wrong), "Tensor shape mismatch: (2,2) vs (4)");
    EXPECT_REFUSED(cpu()->copy_into(a, whole),
                   "[CpuBackend::copy_into] Data type mismatch: source dtype 1 != "
                   "destination dtype 3");
    EXPECT_REFUSED(cpu()->copy_into(a, none), "Null pointer in copy operation");
    EXPECT_REFUSED(cpu()->copy(none), "Null pointer in copy operation");
    EXPECT_REFUSED(cpu()->to(a, tr::CUDA[0]), "CPU backend cannot directly convert to device: CUDA:0");
    EXPECT_REFUSED(cpu()->to_cpu(Tensor(Shape(2), DType::FP32, tr::CUDA[0])), "CpuBackend::to_cpu expects");
    EXPECT_REFUSED(cpu()->from_cpu(Tensor(Shape(2), DType::FP32, tr::CUDA[0])),
                   "CpuBackend::from_cpu expects");
}

TEST(test_backend_items_by_index)
{
    Tensor f = Tensor::zeros(Shape(2, 3)), b = Tensor::zeros(Shape(4), DType::INT8);
    Tensor i = Tensor::zeros(Shape(4), DType::INT32);
    cpu()->set_item_fp32(f, 5, 8.5f);
    cpu()->set_item_int8(b, 1, -13);
    cpu()->set_item_int32(i, 3, -5000);
    EXPECT(cpu()->get_item_fp32(f, 5) == 8.5f && cpu()->get_item_int8(b, 1) == -13);
    EXPECT(cpu()->get_item_int32(i, 3) == -5000 && cpu()->get_item_fp32(f, 0) == 0);
    EXPECT_REFUSED(cpu()->get_item_fp32(f, -1), "get_item_fp32: element index -1 out of range [0, 6)");
    EXPECT_REFUSED(cpu()->set_item_fp32(f, 6, 0), "set_item_fp32: element index 6 out of range [0, 6)");
    EXPECT_REFUSED(cpu()->get_item_int8(f, 0), "get_item_int8: tensor dtype must be INT8, got FP32");
    EXPECT_REFUSED(cpu()->set_item_int8(f, 0, 1), "tensor dtype must be INT8");
    EXPECT_REFUSED(cpu()->get_item_int32(Tensor(Shape(2), DType::INT32), 0), "tensor storage not allocated");
    EXPECT_REFUSED(cpu()->set_item_int32(b, 0, 1), "tensor dtype must be INT32, got INT8");
}

/* Files ------------------------------------------------------------------------------------ */

static const char *const path = "/tmp/tessera-test-renaissance.tsr";

static void write_bytes(const std::string &bytes)
{
    std::ofstream(path, std::ios::binary) << bytes;
}

static std::string read_bytes(void)
{
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST(test_file_has_the_documented_bytes)
{
    cpu()->export_tensor(integers_of<int8_t>(Shape(2, 3), {1, 2, 3, 4, 5, -1}), path);
    const unsigned char expected[] = {'T', 'S', 'R', '!', 1, 0, 0, 0, 64, 0, 0, 0, 0, 0, 0, 0,
                                      2, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0,
                                      2, 0, 0, 0, 3, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0,
                                      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                      1, 2, 3, 4, 5, 255};
    const std::string bytes = read_bytes();
    EXPECT(bytes.size() == sizeof expected && !std::memcmp(bytes.data(), expected, sizeof expected));
    std::remove(path);
}

TEST(test_file_round_trip_of_every_rank_and_dtype)
{
    for (const Shape &shape :
         {Shape(), Shape(5), Shape(3, 4), Shape(2, 3, 4), Shape(1, 1, 3, 4), Shape(2, 1, 3, 1)}) {
        const Tensor f = cpu()->randn(shape, 3), i = cpu()->randint(shape, -100, 100, DType::INT32, 4);
        const Tensor b = cpu()->randint(shape, -50, 50, DType::INT8, 5);
        EXPORT_TENSOR(f, path);
        const Tensor g = IMPORT_TENSOR(path);
        EXPECT(g.shape() == shape && floats_of(g) == floats_of(f));
        cpu()->export_tensor(i, path);
        EXPECT(cpu()->equal(cpu()->import_tensor(path), i));
        cpu()->export_tensor(b, path);
        EXPECT(cpu()->equal(cpu()->import_tensor(path), b));
    }
    std::remove(path);
}

/* A limit on the size of files stands for a full disk. */
TEST(test_file_that_cannot_be_written_leaves_the_old_one)
{
    cpu()->export_tensor(tensor_of(Shape(2, 2), counting(4)), path);
    const std::string old = read_bytes();
    rlimit before;
    EXPECT(getrlimit(RLIMIT_FSIZE, &before) == 0);
    const rlimit small = {1000, before.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    EXPECT(setrlimit(RLIMIT_FSIZE, &small) == 0);
    EXPECT_REFUSED(cpu()->export_tensor(cpu()->zeros(Shape(100, 100), DType::FP32), path), "File too large");
    EXPECT(setrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, handler);
    EXPECT(read_bytes() == old);
    std::remove(path);
}

TEST(test_file_is_no_pipe)
{
    EXPECT(mkfifo(path, 0600) == 0);
    EXPECT_REFUSED(cpu()->import_tensor(path), "is no regular file");
    EXPECT_REFUSED(cpu()->export_tensor(cpu()->zeros(Shape(2), DType::FP32), path), "is no regular file");
    std::remove(path);
}

TEST(test_file_that_is_wrong_is_refused)
{
    cpu()->export_tensor(tensor_of(Shape(2, 2), counting(4)), path);
    const std::string good = read_bytes();
    const auto with = [&](size_t at, const std::string &bytes) {
        std::string bad = good;
        bad.replace(at, bytes.size(), bytes);
        write_bytes(bad);
        return cpu()->import_tensor(path);
    };
    EXPECT_REFUSED(with(0, "TSR?"), "Tensor import failed: TRException: Invalid TSR file magic number");
    EXPECT_REFUSED(with(4, std::string("\2\0\0\0", 4)), "Unsupported TSR format version: 2");
    EXPECT_REFUSED(with(16, std::string("\4\0\0\0", 4)), "Unsupported dtype value: 4");
    EXPECT_REFUSED(with(20, std::string("\5\0\0\0", 4)), "Invalid ndim value: 5");
    EXPECT_REFUSED(with(20, "\xff\xff\xff\xff"), "Invalid ndim value: -1");
    EXPECT_REFUSED(with(32, "\xff\xff\xff\xff"), "Invalid dimension value at index 2: -1");
    EXPECT_REFUSED(with(24, std::string("\2\0\0\0", 4)), "Invalid dimension value at index 0: 2");
    EXPECT_REFUSED(with(32, std::string("\0\0\0\0", 4)), "Invalid dimension value at index 2: 0");
    EXPECT_REFUSED(with(40, std::string("\5\0\0\0", 4)), "Element count mismatch. Header claims 5");
    EXPECT_REFUSED(with(32, "\xff\xff\xff\x7f\xff\xff\xff\x7f"), "Shape dimensions are too large");
    write_bytes(good + "x");
    EXPECT_REFUSED(cpu()->import_tensor(path), "File size mismatch. Expected 80 bytes, got 81 bytes");
    write_bytes(good.substr(0, 63));
    EXPECT_REFUSED(cpu()->import_tensor(path), "File too small to contain valid TSR header");
    std::remove(path);
    EXPECT_REFUSED(cpu()->import_tensor(path), "Failed to open file for reading");
    EXPECT_REFUSED(cpu()->export_tensor(Tensor(Shape(2)), path), "Cannot export empty tensor");
    EXPECT_REFUSED(cpu()->export_tensor(Tensor::ones(Shape(2)), "/proc/no/such/file.tsr"),
                   "Failed to open file");
}

TEST(test_gradients_belong_to_tensors)
{
    Tensor w = Tensor::ones(Shape(2, 3));
    const Tensor &fixed = w;
    EXPECT(!w.has_grad());
    EXPECT_REFUSED(fixed.grad(), "[Tensor::grad] Gradient tensor not initialized");
    w.zero_grad();
    EXPECT(!w.has_grad());
    Tensor &g = w.grad();
    EXPECT(w.has_grad() && g.shape() == w.shape() && g.dtype() == w.dtype() && &fixed.grad() == &g);
    for (int i = 0; i < 6; i++) EXPECT(g.data_ptr<float>()[i] == 0.0f);
    Tensor other = w; /* a handle to the same gradient */
    EXPECT(other.grad() == g && !w.clone().has_grad() && !w.view().has_grad());
    const Tensor given = Tensor::full(Shape(2, 3), 2.5f);
    w.set_grad(given);
    EXPECT(w.grad() == given && other.grad() != given);
    w.zero_grad();
    EXPECT(given.data_ptr<float>()[5] == 0.0f);
    w.set_grad(Tensor::full(Shape(2, 3), 1.0f));
    EXPECT(w.grad().data_ptr<float>()[0] == 1.0f);
    EXPECT_REFUSED(w.set_grad(Tensor::ones(Shape(3, 2))),
                   "[Tensor::set_grad] Gradient tensor shape or dtype mismatch");
    EXPECT_REFUSED(w.set_grad(Tensor::zeros(Shape(2, 3), DType::INT8)), "dtype mismatch");
}

TEST_BEFORE
{
    Logger::get_instance().set_quiet_mode(true);
    BackendManager::instance();
}
