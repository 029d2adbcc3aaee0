/* FastMath.h - exp, sigmoid, softmax and sign, as postprocesses use them.
 *
 * exp holds its argument to -255 .. 255, cuts it to a multiple of 2^-16 and multiplies two numbers of a
 * table, as the system does: the last bits are the system's and not those of std::exp. */
#ifndef FASTMATH_H
#define FASTMATH_H

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

class FastMath {
public:
    FastMath()
    {
        for (int i = 0; i < LENGTH; i++) {
            const float fine = static_cast<float>(i) / STEPS, coarse = static_cast<float>(i) * LENGTH / STEPS;
            down_[0][i] = std::exp(-fine);
            down_[1][i] = std::exp(-coarse);
            up_[0][i] = std::exp(fine);
            up_[1][i] = std::exp(coarse);
        }
    }

    float FExp(const float x) const
    {
        if (std::isnan(x)) return x;
        const float held = std::max(std::min(x, static_cast<float>(BOUND)), -static_cast<float>(BOUND));
        const int steps = static_cast<int>(held * STEPS), size = steps < 0 ? -steps : steps;
        const float(*table)[LENGTH] = steps < 0 ? down_ : up_;
        return table[0][size & (LENGTH - 1)] * table[1][(size >> BITS) & (LENGTH - 1)];
    }

    float Sigmoid(float x) const { return 1.0f / (1.0f + FExp(-x)); }

    /* In place; nothing changes if all is so small that the sum vanishes. */
    void Softmax(std::vector<float> &digits) const
    {
        std::vector<float> exps(digits.size());
        float sum = 0.0f;
        for (size_t i = 0; i < digits.size(); i++) sum += exps[i] = FExp(digits[i]);
        if (std::fabs(sum) < 1e-6f) return;
        for (size_t i = 0; i < digits.size(); i++) digits[i] = exps[i] / sum;
    }

    float sign(float x) const { return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : 0.0f; }

private:
    static const int BITS = 12;
    static const int LENGTH = 1 << BITS;
    static const int STEPS = 1 << 16; /* to 1 */
    static const int BOUND = 255;
    float down_[2][LENGTH];
    float up_[2][LENGTH];
};

namespace fastmath {

inline const FastMath &Table()
{
    static const FastMath table;
    return table;
}

inline float exp(const float x) { return Table().FExp(x); }
inline float sigmoid(float x) { return Table().Sigmoid(x); }
inline void softmax(std::vector<float> &digits) { Table().Softmax(digits); }
inline float sign(float x) { return Table().sign(x); }

} // namespace fastmath

#endif
