/* random.cpp - std::mt19937 and the C++ library's distributions, whose numbers programs have seen
 * in Tech Renaissance; the library's own generators give others. */
#include "random.hpp"

#include <random>

#include "bridge.hpp"

namespace tr {
namespace face {

namespace {

/* Straight into the tensor on the CPU, by way of the host elsewhere. */
template <typename T, typename F> void draw(Tensor &t, F next)
{
    if (TensorAccess::device(t).is_cpu()) {
        generate(t.data_ptr<T>(), t.numel(), next);
        return;
    }
    std::vector<T> values(static_cast<size_t>(t.numel()));
    generate(values.data(), t.numel(), next);
    t.from_cpu_data(values.data(), t.memory_size());
}

} // namespace

void draw_normal(Tensor &t, unsigned int seed)
{
    std::mt19937 engine(seed);
    std::normal_distribution<float> normal(0.0f, 1.0f);
    draw<float>(t, [&] { return normal(engine); });
}

void draw_uniform(Tensor &t, float low, float high, unsigned int seed)
{
    if (!(low <= high)) throw TRException("uniform: min_val must not be greater than max_val");
    std::mt19937 engine(seed);
    std::uniform_real_distribution<float> uniform(low, high);
    draw<float>(t, [&] { return uniform(engine); });
}

void draw_bool(Tensor &t, float rate_of_zeros, unsigned int seed)
{
    std::mt19937 engine(seed);
    std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
    draw<float>(t, [&] { return uniform(engine) < rate_of_zeros ? 0.0f : 1.0f; });
}

void draw_integers(Tensor &t, int low, int high, unsigned int seed)
{
    std::mt19937 engine(seed);
    std::uniform_int_distribution<int32_t> integers(low, high - 1);
    const auto next = [&] { return integers(engine); };
    if (t.dtype() == DType::FP32) draw<float>(t, next);
    else if (t.dtype() == DType::INT8) draw<int8_t>(t, next);
    else draw<int32_t>(t, next);
}

} // namespace face
} // namespace tr
