/* infiniop_test.h - arrays with descriptors, for the tests of InfiniOP's face. */
#ifndef INFINIOP_TEST_H
#define INFINIOP_TEST_H

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "infiniop.h"
#include "infinirt.h"
#include "test.h"

using Sizes = std::vector<size_t>;
using Steps = std::vector<ptrdiff_t>;

inline size_t size_of(infiniDtype_t d)
{
    switch (d) {
    case INFINI_DTYPE_F16: case INFINI_DTYPE_BF16: case INFINI_DTYPE_I16: return 2;
    case INFINI_DTYPE_F32: case INFINI_DTYPE_I32: case INFINI_DTYPE_U32: return 4;
    case INFINI_DTYPE_F64: case INFINI_DTYPE_I64: case INFINI_DTYPE_U64: return 8;
    default: return 1;
    }
}

/* A tensor of the test's own: bytes with room around the elements, and a descriptor. Elements are read
 * and written one by one, as doubles, by row-major index. */
class Array {
public:
    Array(const Sizes &shape, infiniDtype_t dtype, const Steps &strides = {}, size_t shift = 0)
        : shape_(shape), strides_(strides), dtype_(dtype)
    {
        if (strides.empty()) {
            strides_.resize(shape.size());
            ptrdiff_t step = 1;
            for (size_t i = shape.size(); i-- > 0;) {
                strides_[i] = step;
                step *= (ptrdiff_t)shape[i];
            }
        }
        ptrdiff_t low = 0, high = 0;
        for (size_t i = 0; i < shape.size(); i++) {
            const ptrdiff_t reach = shape[i] ? (ptrdiff_t)(shape[i] - 1) * strides_[i] : 0;
            (reach < 0 ? low : high) += reach;
        }
        bytes_.assign((size_t)(high - low + 1) * size_of(dtype) + 80, 0x5a);
        const size_t base = ((size_t)bytes_.data() + 15) / 16 * 16 - (size_t)bytes_.data();
        first_ = base + shift + (size_t)-low * size_of(dtype);
        if (infiniopCreateTensorDescriptor(&desc_, shape.size(), shape.data(), strides_.data(), dtype))
            desc_ = nullptr;
        for (size_t i = 0; i < count(); i++) set(i, 0);
    }
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;
    ~Array() { infiniopDestroyTensorDescriptor(desc_); }

    Array &fill(const std::function<double(size_t)> &value)
    {
        for (size_t i = 0; i < count(); i++) set(i, value(i));
        return *this;
    }
    Array &random(uint64_t seed, double low = -1, double high = 1)
    {
        return fill([&](size_t) { return low + (high - low) * (double)(test_next(&seed) >> 11) * 0x1p-53; });
    }

    size_t count() const
    {
        size_t n = 1;
        for (size_t s : shape_) n *= s;
        return n;
    }
    void *data() { return bytes_.data() + first_; }
    infiniopTensorDescriptor_t desc() const { return desc_; }
    infiniopTensorDescriptor_t take_desc() /* the caller destroys it */
    {
        infiniopTensorDescriptor_t d = desc_;
        desc_ = nullptr;
        return d;
    }
    infiniDtype_t dtype() const { return dtype_; }
    const std::vector<uint8_t> &bytes() const { return bytes_; }

    double operator[](size_t i) const
    {
        const uint8_t *p = at(i);
        switch (dtype_) {
        case INFINI_DTYPE_F16: return tsr_f16_to_f32(read<uint16_t>(p));
        case INFINI_DTYPE_BF16: return tsr_bf16_to_f32(read<uint16_t>(p));
        case INFINI_DTYPE_F32: return read<float>(p);
        case INFINI_DTYPE_F64: return read<double>(p);
        case INFINI_DTYPE_I8: return read<int8_t>(p);
        case INFINI_DTYPE_I16: return read<int16_t>(p);
        case INFINI_DTYPE_I32: return read<int32_t>(p);
        case INFINI_DTYPE_U32: return read<uint32_t>(p);
        case INFINI_DTYPE_I64: return (double)read<int64_t>(p);
        case INFINI_DTYPE_U64: return (double)read<uint64_t>(p);
        default: return *p;
        }
    }
    void set(size_t i, double v)
    {
        uint8_t *p = const_cast<uint8_t *>(at(i));
        switch (dtype_) {
        case INFINI_DTYPE_F16: write<uint16_t>(p, tsr_f64_to_f16(v)); break;
        case INFINI_DTYPE_BF16: write<uint16_t>(p, tsr_f64_to_bf16(v)); break;
        case INFINI_DTYPE_F32: write<float>(p, (float)v); break;
        case INFINI_DTYPE_F64: write<double>(p, v); break;
        case INFINI_DTYPE_I8: write<int8_t>(p, (int8_t)v); break;
        case INFINI_DTYPE_I16: write<int16_t>(p, (int16_t)v); break;
        case INFINI_DTYPE_I32: write<int32_t>(p, (int32_t)v); break;
        case INFINI_DTYPE_U32: write<uint32_t>(p, (uint32_t)v); break;
        case INFINI_DTYPE_I64: write<int64_t>(p, (int64_t)v); break;
        case INFINI_DTYPE_U64: write<uint64_t>(p, (uint64_t)v); break;
        default: *p = (uint8_t)v;
        }
    }

private:
    template <class T> static T read(const uint8_t *p) { T v; memcpy(&v, p, sizeof v); return v; }
    template <class T> static void write(uint8_t *p, T v) { memcpy(p, &v, sizeof v); }

    const uint8_t *at(size_t i) const
    {
        ptrdiff_t offset = 0;
        for (size_t d = shape_.size(); d-- > 0;) {
            offset += (ptrdiff_t)(i % shape_[d]) * strides_[d];
            i /= shape_[d];
        }
        return bytes_.data() + first_ + offset * (ptrdiff_t)size_of(dtype_);
    }

    Sizes shape_;
    Steps strides_;
    infiniDtype_t dtype_;
    std::vector<uint8_t> bytes_;
    size_t first_ = 0;
    infiniopTensorDescriptor_t desc_ = nullptr;
};

/* How far results of a dtype may be from the exact ones, as a share of 1 + |exact|. */
inline double tolerance(infiniDtype_t d)
{
    return d == INFINI_DTYPE_F64   ? 1e-12
           : d == INFINI_DTYPE_F32 ? 2e-6
           : d == INFINI_DTYPE_F16 ? 1.5e-3
                                   : 1.2e-2;
}

inline bool is_near(double got, double want, double tol)
{
    if (std::isnan(want)) return std::isnan(got);
    if (std::isinf(want)) return got == want;
    return std::fabs(got - want) <= tol * (1 + std::fabs(want));
}

/* Every element is want(i), as near as the dtype allows (times `slack`). */
inline void expect_elements(const char *what, const Array &got, const std::function<double(size_t)> &want,
                            double slack = 1)
{
    for (size_t i = 0; i < got.count(); i++)
        EXPECT_MSG(is_near(got[i], want(i), slack * tolerance(got.dtype())),
                   "%s[%zu] is %.9g, not %.9g (dtype %d)", what, i, got[i], want(i), (int)got.dtype());
}

#define EXPECT_INFINI(call, status)                                                                 \
    do {                                                                                            \
        const infiniStatus_t infini_got_ = (call);                                                  \
        EXPECT_MSG(infini_got_ == (status), "%s gave %d (%s)", #call, (int)infini_got_, tsr_last_error()); \
    } while (0)
#define EXPECT_DONE(call) EXPECT_INFINI(call, INFINI_STATUS_SUCCESS)

/* A handle for the CPU, to the end of the block. */
class Handle {
public:
    Handle() { if (infinirtSetDevice(INFINI_DEVICE_CPU, 0) || infiniopCreateHandle(&h_)) h_ = nullptr; }
    ~Handle() { infiniopDestroyHandle(h_); }
    operator infiniopHandle_t() const { return h_; }

private:
    infiniopHandle_t h_ = nullptr;
};

/* Create, ask for the workspace, run and destroy an operator; the status of the first that fails.
 *   RUN_OP(Add, (c.desc(), a.desc(), b.desc()), (c.data(), a.data(), b.data())) */
#define STRIP_(...) __VA_ARGS__
#define RUN_OP(Name, create_arguments, run_arguments) \
    ([&]() -> infiniStatus_t { \
        infiniop##Name##Descriptor_t op_ = nullptr; \
        size_t size_ = 77; \
        infiniStatus_t s_ = infiniopCreate##Name##Descriptor(handle, &op_, STRIP_ create_arguments); \
        if (s_ != INFINI_STATUS_SUCCESS) return s_; \
        s_ = infiniopGet##Name##WorkspaceSize(op_, &size_); \
        if (s_ == INFINI_STATUS_SUCCESS) \
            s_ = infiniop##Name(op_, nullptr, size_, STRIP_ run_arguments, nullptr); \
        const infiniStatus_t d_ = infiniopDestroy##Name##Descriptor(op_); \
        return s_ != INFINI_STATUS_SUCCESS ? s_ : d_; \
    }())

/* The status of creating it; a descriptor that is made after all is destroyed. */
#define CREATE_OP(Name, ...)                                                                        \
    ([&]() -> infiniStatus_t {                                                                      \
        infiniop##Name##Descriptor_t op_ = nullptr;                                                 \
        const infiniStatus_t s_ = infiniopCreate##Name##Descriptor(handle, &op_, __VA_ARGS__);       \
        if (s_ == INFINI_STATUS_SUCCESS) infiniopDestroy##Name##Descriptor(op_);                    \
        return s_;                                                                                  \
    }())

#endif
