/* renaissance_test.hpp - what the tests of the face of Tech Renaissance share. */
#ifndef RENAISSANCE_TEST_HPP
#define RENAISSANCE_TEST_HPP

#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <typeinfo>
#include <vector>

#include "tech_renaissance.h"
#include "test.h"

/* The call throws exactly this type, and its text contains this. */
template <typename E> static inline bool throws(const std::function<void()> &call, const std::string &part)
{
    try {
        call();
    } catch (const E &e) {
        if (typeid(e) == typeid(E) && std::string(e.what()).find(part) != std::string::npos) return true;
        printf("threw \"%s\", which lacks \"%s\" or is of another type\n", e.what(), part.c_str());
        return false;
    } catch (const std::exception &e) {
        printf("threw another type: %s\n", e.what());
        return false;
    }
    printf("threw nothing\n");
    return false;
}

#define EXPECT_THROWS(E, call, part) EXPECT(throws<E>([&] { (void)(call); }, part))
#define EXPECT_REFUSED(call, part) EXPECT_THROWS(tr::TRException, call, part)

/* A tensor of these row-major values. */
static inline tr::Tensor tensor_of(const tr::Shape &shape, const std::vector<float> &values,
                                   const tr::Device &device = tr::CPU)
{
    tr::Tensor t = tr::Tensor::empty(shape, tr::DType::FP32, device);
    t.from_cpu_data(values.data(), values.size() * sizeof(float));
    return t;
}

template <typename T>
static inline tr::Tensor integers_of(const tr::Shape &shape, const std::vector<T> &values)
{
    tr::Tensor t = tr::Tensor::empty(shape, sizeof(T) == 1 ? tr::DType::INT8 : tr::DType::INT32);
    t.from_cpu_data(values.data(), values.size() * sizeof(T));
    return t;
}

template <typename T> static inline std::vector<T> values_of(const tr::Tensor &t)
{
    std::vector<T> values(static_cast<size_t>(t.numel()));
    t.to_cpu_data(values.data(), t.memory_size());
    return values;
}

static inline std::vector<float> floats_of(const tr::Tensor &t) { return values_of<float>(t); }

static inline bool near(const tr::Tensor &t, const tr::Shape &shape, const std::vector<float> &expected,
                        float within = 1e-6f)
{
    const std::vector<float> got = floats_of(t);
    if (t.shape() != shape || got.size() != expected.size()) {
        printf("shape %s, not %s\n", t.shape().to_string().c_str(), shape.to_string().c_str());
        return false;
    }
    for (size_t i = 0; i < got.size(); ++i)
        if (!(std::fabs(got[i] - expected[i]) <= within * std::fmax(1.0f, std::fabs(expected[i])))) {
            printf("element %zu is %.9g, not %.9g\n", i, got[i], expected[i]);
            return false;
        }
    return true;
}

/* 1, 2, 3, ... */
static inline std::vector<float> counting(int n, float first = 1.0f)
{
    std::vector<float> values;
    for (int i = 0; i < n; ++i) values.push_back(first + static_cast<float>(i));
    return values;
}

static inline std::vector<float> random_values(size_t n, uint64_t seed)
{
    std::vector<float> values;
    for (size_t i = 0; i < n; ++i)
        values.push_back(static_cast<float>(test_below(&seed, 2001) - 1000) / 500.0f);
    return values;
}

static inline bool has_cuda(int index = 0)
{
    return tr::BackendManager::instance().is_registered(tr::CUDA[static_cast<size_t>(index)]);
}

#define NEED_CUDA() \
    if (!has_cuda()) SKIP("there is neither a CUDA device nor a simulated one")

#endif
