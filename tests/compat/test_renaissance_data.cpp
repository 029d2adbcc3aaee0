/* test_renaissance_data.cpp - shapes, dtypes, devices, strides, offsets, storages, and the tools. */
#include <cstdio>
#include <unordered_map>

#include "renaissance_test.hpp"
#include "tech_renaissance/tr_config.h"

using namespace tr;

TEST(test_shape_aligns_sizes_at_the_right)
{
    const Shape s(2, 3), c(4, 2, 3), b(5, 4, 2, 3);
    EXPECT(s.n() == 0 && s.c() == 0 && s.h() == 2 && s.w() == 3);
    EXPECT(s.ndim() == 2 && s.numel() == 6 && s.dim(0) == 2 && s.dim(1) == 3);
    EXPECT(c.ndim() == 3 && c.c() == 4 && c.numel() == 24 && c.dim(0) == 4);
    EXPECT(b.number() == 5 && b.channel() == 4 && b.height() == 2 && b.width() == 3 && b.numel() == 120);
    EXPECT(Shape(7).w() == 7 && Shape(7).ndim() == 1);
    EXPECT((Shape({2, 4, 5}) == Shape(2, 4, 5)) && (Shape{2, 3} == s) && s != Shape(3, 2));
    EXPECT(s.to_string() == "(2,3)" && b.to_string() == "(5,4,2,3)" && Shape().to_string() == "()");
    std::ostringstream text;
    text << c;
    EXPECT(text.str() == "(4,2,3)");
}

TEST(test_shape_of_a_scalar_has_one_element)
{
    EXPECT(Shape().is_scalar() && Shape().ndim() == 0 && Shape().numel() == 1);
    EXPECT(Shape(0).is_scalar() && Shape(0) == Shape() && Shape(std::initializer_list<int32_t>{}) == Shape());
    EXPECT_REFUSED(Shape().dim(0), "[Shape::dim] Dimension index out of range");
}

TEST(test_shape_refuses_bad_sizes)
{
    EXPECT_REFUSED(Shape(-1), "Shape dimensions must be non-negative");
    EXPECT_REFUSED(Shape(2, -3), "Shape dimensions must be non-negative");
    EXPECT_REFUSED(Shape(2, 0, 3), "Shape dimensions cannot be zero");
    EXPECT_REFUSED(Shape({1, 2, 3, 4, 5}), "[Shape::Shape] Shape cannot have more than 4 dimensions");
    EXPECT_REFUSED(Shape(INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX), "Shape dimensions are too large");
    EXPECT(Shape(INT32_MAX, 1000).numel() == 1000LL * INT32_MAX);
}

TEST(test_shape_knows_what_multiplies_and_broadcasts)
{
    EXPECT(Shape(3, 4).is_matmul_compatible(Shape(4, 5)) && !Shape(3, 4).is_matmul_compatible(Shape(5, 4)));
    EXPECT(!Shape(4).is_matmul_compatible(Shape(4, 5)) && !Shape(1, 3, 4).is_matmul_compatible(Shape(4, 5)));
    EXPECT(Shape(1, 3).is_broadcastable_to(Shape(2, 3)) && Shape(3).is_broadcastable_to(Shape(2, 3)));
    EXPECT(Shape().is_broadcastable_to(Shape(2, 3)) && !Shape(2, 3).is_broadcastable_to(Shape(3)));
    EXPECT(!Shape(2, 3).is_broadcastable_to(Shape(4, 3)));
}

TEST(test_dtypes_have_the_numbers_and_names_of_files)
{
    EXPECT(static_cast<int>(DType::FP32) == 1 && static_cast<int>(DType::INT8) == 2);
    EXPECT(static_cast<int>(DType::INT32) == 3);
    EXPECT(dtype_size(DType::FP32) == 4 && dtype_size(DType::INT8) == 1 && dtype_size(DType::INT32) == 4);
    EXPECT(dtype_size(static_cast<DType>(9)) == 0 && dtype_to_string(static_cast<DType>(9)) == "unknown");
    EXPECT(dtype_to_string(DType::FP32) == "FP32" && utils::dtype_to_string(DType::INT32) == "INT32" &&
           dtype_to_string(DType::INT8) == "INT8");
    for (const char *name : { "FP32", "FLOAT32", "fp32", "float32" })
        EXPECT(string_to_dtype(name) == DType::FP32);
    EXPECT(string_to_dtype("INT8") == DType::INT8 && string_to_dtype("INT32") == DType::INT32);
    EXPECT(string_to_dtype("float32") == DType::FP32 && utils::string_to_dtype("int8") == DType::INT8);
    EXPECT(utils::dtype_size(DType::INT8) == 1);
    EXPECT_REFUSED(string_to_dtype("fp16"), "[string_to_dtype] Unsupported dtype string: 'fp16'");
}

TEST(test_devices_are_named_counted_and_hashed)
{
    EXPECT(tr::CPU.to_string() == "CPU" && tr::CUDA[3].str() == "CUDA:3");
    EXPECT(tr::CPU.is_cpu() && !tr::CPU.is_cuda() && tr::CUDA[0].is_cuda());
    EXPECT(tr::CUDA[1] == Device("CUDA", 1) && tr::CUDA[1] != tr::CUDA[2]);
    std::unordered_map<Device, int> map = {{tr::CPU, 1}, {tr::CUDA[2], 2}};
    EXPECT(map[Device("CUDA", 2)] == 2);
    EXPECT_REFUSED(Device("TPU", 0), "Unsupported device type: 'TPU'");
    EXPECT_REFUSED(Device("CPU", 0), "CPU device index must be -1, got: 0");
    EXPECT_REFUSED(Device("CUDA", -1), "CUDA device index must be between 0 and 7, got: -1");
    EXPECT_REFUSED(Device("CUDA", 8), "got: 8");
}

TEST(test_strides_are_those_of_packed_rows)
{
    const Shape shape(2, 3, 4, 5);
    Strides s(shape);
    EXPECT(s.n() == 60 && s.c() == 20 && s.h() == 5 && s.w() == 1 && s.is_contiguous(shape));
    EXPECT(s.get_offset(1, 2, 3, 4) == 119 && s.stride(1) == 20 && s.to_string() == "Strides(60, 20, 5, 1)");
    EXPECT(s == Strides(60, 20, 5, 1) && s != Strides() && s.data()[2] == 5);
    s.data()[3] = 2;
    EXPECT(!s.is_contiguous(shape));
    EXPECT_THROWS(std::out_of_range, s.stride(4), "[Strides::stride] Dimension index out of range: 4");
    EXPECT_THROWS(std::out_of_range, s.stride(-1), "-1");
}

TEST(test_offsets_take_ranges_from_the_last_dim_on)
{
    Offset o(1, 2, 3, 4);
    EXPECT(o.h_start() == 1 && o.h_end() == 2 && o.w_start() == 3 && o.w_end() == 4);
    EXPECT(o.n_start() == 0 && o.n_end() == -1 && o.c_end() == -1 && o.w_stride() == 1);
    o.set_w_stride(3);
    o.set_n_stride(2);
    EXPECT(o.w_stride() == 3 && o.n_stride() == 2 && o.c_stride() == 1 && o.h_stride() == 1);
    const Offset all(1, 2, 3, 4, 5, 6, 7, -1);
    EXPECT(all.n_start() == 1 && all.c_end() == 4 && all.h_start() == 5 && all.w_end() == -1);
    EXPECT(Offset(0, 1, 2, 3, 4, 5).c_end() == 1 && Offset(2, -1).c_start() == 0);
    EXPECT_REFUSED(Offset(3, 3), "Offset: invalid range for W dimension, start=3, end=3");
    EXPECT_REFUSED(Offset(2, 1, 0, 1), "invalid range for H dimension");
    EXPECT_REFUSED(Offset(2, 1, 0, 1, 0, 1), "invalid range for C dimension");
    EXPECT_REFUSED(Offset(2, 1, 0, 1, 0, 1, 0, 1), "invalid range for N dimension");
    EXPECT_REFUSED(o.set_c_stride(0), "Offset: invalid stride for C dimension, stride=0");
    EXPECT_REFUSED(o.set_h_stride(-1), "invalid stride for H dimension");
}

TEST(test_storage_is_empty_until_it_is_given_memory)
{
    Storage s(1024, tr::CPU);
    EXPECT(s.is_empty() && s.size() == 1024 && s.device() == tr::CPU && s.data_ptr() == nullptr);
    auto holder = BackendManager::get_cpu_backend()->allocate(1024);
    s.set_data_ptr(holder.get(), holder);
    EXPECT(!s.is_empty() && s.raw_ptr() == holder.get() && holder.use_count() == 2);
    EXPECT(s.holder() == holder);
    EXPECT(s.capacity_bytes() == 1024 && s.size_bytes() == 1024);
    EXPECT(static_cast<const Storage &>(s).data_ptr() == holder.get());
    EXPECT(reinterpret_cast<uintptr_t>(holder.get()) % TR_MEMORY_ALIGNMENT == 0);
}

TEST(test_exceptions_say_type_message_and_place)
{
    const TRException plain("words"), placed("words", "a.cpp", 7), half("words", "a.cpp");
    EXPECT(std::string(plain.what()) == "TRException: words" && plain.file().empty() && plain.line() == 0);
    EXPECT(std::string(placed.what()) == "TRException: words (File: a.cpp, Line: 7)");
    EXPECT(placed.file() == "a.cpp" && placed.line() == 7);
    EXPECT(std::string(half.what()) == "TRException: words (File: a.cpp)");
    EXPECT(std::string(ShapeError("x").what()) == "ShapeError: x" &&
           std::string(plain.type()) == "TRException");
    EXPECT_THROWS(FileNotFoundError, TR_THROW_FILE_NOT_FOUND("f"), "FileNotFoundError: f (File: ");
    EXPECT_THROWS(ZeroDivisionError, TR_THROW_ZERO_DIVISION("z"), "ZeroDivisionError: z");
    EXPECT_THROWS(IndexError, TR_THROW_INDEX_ERROR("i"), "Line: ");
    EXPECT_REFUSED(TR_THROW("t"), "TRException: t (File: ");
    bool caught = false;
    try {
        TR_THROW_IF(1 + 1 == 2, "so");
    } catch (const std::exception &e) {
        caught = dynamic_cast<const TRException *>(&e) != nullptr;
    }
    EXPECT(caught);
}

static std::string read_whole(const char *path)
{
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST(test_logger_writes_what_its_level_lets_through)
{
    const char *path = "/tmp/tessera-test-renaissance.log";
    Logger &log = Logger::get_instance();
    std::remove(path);
    EXPECT(&log == &Logger::get_instance());
    InitLogger(path, LogLevel::DEBUG, false);
    TR_LOG_DEBUG("one ", 1);
    TR_LOG_INFO("two");
    log.set_level(LogLevel::WARN);
    log.info("three");
    log.warn("four ", 4.5, ' ', "x");
    log.set_level(LogLevel::INFO);
    log.be_quiet();
    log.info("five");
    log.error("six");
    log.set_quiet_mode(false);
    log.info("seven");
    log.set_output_file("");
    log.set_quiet_mode(true);
    const std::string text = read_whole(path);
    EXPECT(text.find("] [DEBUG] [TR] one 1\n") != std::string::npos);
    EXPECT(text.find("] [INFO] [TR] two\n") != std::string::npos && text.find("three") == std::string::npos);
    EXPECT(text.find("] [WARN] [TR] four 4.5 x\n") != std::string::npos &&
           text.find("five") == std::string::npos);
    EXPECT(text.find("] [ERROR] [TR] six\n") != std::string::npos && text.find("seven") != std::string::npos);
    std::remove(path);
}

TEST(test_profiler_times_and_counts_work)
{
    Profiler p;
    EXPECT_REFUSED(p.stop(), "[Profiler::stop] Timer has not yet started!");
    EXPECT_REFUSED(p.get_performance(), "Operation type not specified!");
    p.describe_operation("mm", Shape(100, 200), Shape(200, 300));
    EXPECT_REFUSED(p.get_performance(), "Timer has not yet started!");
    p.set_iterations(2);
    p.start();
    EXPECT_REFUSED(p.start(), "Timer has already started!");
    EXPECT_REFUSED(p.total_time(), "Timer is still running!");
    EXPECT_REFUSED(p.avg_time(), "Timer is still running!");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    p.stop();
    EXPECT(p.total_time() >= 5.0 && p.avg_time() * 2 == p.total_time());
    EXPECT(std::fabs(p.get_performance() * p.avg_time() * 1e6 - 2.0 * 100 * 200 * 300) < 1);
    p.describe_operation("conv_k3_s1_p1", Shape(2, 3, 8, 8), Shape(4, 3, 3, 3));
    EXPECT(std::fabs(p.get_performance() * p.avg_time() * 1e6 - 2.0 * 2 * 4 * 3 * 64 * 9) < 1);
    EXPECT_REFUSED(p.describe_operation("conv_k1_s1_p0", Shape(2, 3, 8, 8), Shape(4, 3, 3, 3)),
                   "kernel size");
    EXPECT_REFUSED(p.describe_operation("conv_k3_s1_p1", Shape(2, 2, 8, 8), Shape(4, 3, 3, 3)),
                   "kernel channel");
    EXPECT_REFUSED(p.describe_operation("fft", Shape(2), Shape(2)), "Unsupported operation type!");
    EXPECT_REFUSED(p.set_iterations(0), "Invalid iteration count: 0");
}

TEST_BEFORE
{
    Logger::get_instance().set_quiet_mode(true);
    BackendManager::instance();
}
