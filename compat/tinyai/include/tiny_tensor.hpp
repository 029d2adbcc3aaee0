/* tiny_tensor.hpp - tiny::Tensor: one to four dims of float, row-major.
 *
 * The fields are public and programs read and write them. Everything is inline, so that a program
 * may give the header an allocator of its own (TINY_AI_MALLOC, TINY_AI_FREE in tiny_ai_config.h);
 * a tensor takes its data and nothing else.
 *
 * A tensor owns its data, or looks at a buffer that outlives it (from_data). Copies are deep and
 * own what they hold: a copy that is assigned to a tensor which looks at a buffer leaves the buffer
 * alone. No call throws. Where memory is short, or a dim is negative, or there are more than
 * INT_MAX elements, data is NULL.
 */
#ifndef TINY_TENSOR_HPP
#define TINY_TENSOR_HPP

#include "tiny_ai_config.h"
#include "tiny_matrix.hpp"

#ifdef __cplusplus

#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdint.h>

namespace tiny
{

class Tensor
{
public:
    int    ndim;      /* 1 .. 4; 0 for the empty tensor */
    int    shape[4];  /* 1 where there is no such dim */
    int    size;      /* the product of the dims */
    float *data;
    bool   owns_data; /* is data freed with the tensor? */

    /* Making: all zeros. A dim of 0 makes a tensor without elements and without data. */
    Tensor() noexcept : ndim(0), shape{0, 0, 0, 0}, size(0), data(nullptr), owns_data(false) {}
    explicit Tensor(int n0) : Tensor(1, n0, 1, 1, 1) {}
    Tensor(int n0, int n1) : Tensor(2, n0, n1, 1, 1) {}
    Tensor(int n0, int n1, int n2) : Tensor(3, n0, n1, n2, 1) {}
    Tensor(int n0, int n1, int n2, int n3) : Tensor(4, n0, n1, n2, n3) {}

    Tensor(const Tensor &other) : Tensor()
    {
        take_shape(other);
        alloc();
        copy_from(other);
    }

    Tensor(Tensor &&other) noexcept : Tensor()
    {
        take_shape(other);
        take_data(other);
    }

    ~Tensor() { free_data(); }

    Tensor &operator=(const Tensor &other)
    {
        if (this == &other) return *this;
        if (owns_data && size == other.size) {
            take_shape(other);
            copy_from(other);
            return *this;
        }
        return *this = Tensor(other); /* copied before the old data goes: other may look at it */
    }

    Tensor &operator=(Tensor &&other) noexcept
    {
        if (this == &other) return *this;
        if (looks_into_mine(other)) return *this = static_cast<const Tensor &>(other);
        free_data();
        take_shape(other);
        take_data(other);
        return *this;
    }

    static Tensor zeros(int n0) { return Tensor(n0); }
    static Tensor zeros(int n0, int n1) { return Tensor(n0, n1); }
    static Tensor zeros(int n0, int n1, int n2) { return Tensor(n0, n1, n2); }
    static Tensor zeros(int n0, int n1, int n2, int n3) { return Tensor(n0, n1, n2, n3); }

    static Tensor zeros_like(const Tensor &other)
    {
        Tensor t;
        t.take_shape(other);
        t.alloc();
        return t;
    }

    /* Looks at the caller's buffer. The empty tensor if the shape is none. */
    static Tensor from_data(float *buffer, int dims, const int *new_shape)
    {
        Tensor t;
        const int total = count(dims, new_shape);
        if (total < 0) return t;
        t.put_shape(dims, new_shape, total);
        t.data = buffer;
        return t;
    }

    /* Elements; nothing is checked. */
    float &at(int i) { return data[i]; }
    float &at(int i, int j) { return data[i * shape[1] + j]; }
    float &at(int i, int j, int k) { return data[(i * shape[1] + j) * shape[2] + k]; }
    float &at(int i, int j, int k, int l) { return data[((i * shape[1] + j) * shape[2] + k) * shape[3] + l]; }
    const float &at(int i) const { return data[i]; }
    const float &at(int i, int j) const { return data[i * shape[1] + j]; }
    const float &at(int i, int j, int k) const { return data[(i * shape[1] + j) * shape[2] + k]; }
    const float &at(int i, int j, int k, int l) const
    {
        return data[((i * shape[1] + j) * shape[2] + k) * shape[3] + l];
    }

    /* The document also writes x(i, j, k) for x.at(i, j, k). */
    template <typename... Index> float &operator()(Index... index) { return at(index...); }
    template <typename... Index> const float &operator()(Index... index) const { return at(index...); }

    /* What the dims mean by rank. */
    int batch() const { return ndim >= 3 ? shape[0] : 1; }
    int rows() const { return ndim >= 2 ? shape[ndim - 2] : shape[0]; }
    int cols() const { return ndim >= 1 ? shape[ndim - 1] : 0; }
    int channels() const { return ndim == 4 ? shape[1] : 1; }

    /* These are not inlined: a compiler that sees data compared with NULL warns of every at() after
     * it. */
    [[gnu::noinline]] void zero()
    {
        if (data) std::memset(data, 0, bytes());
    }

    [[gnu::noinline]] void fill(float val)
    {
        if (!data) return;
        for (int i = 0; i < size; i++) data[i] = val;
    }

    /* The elements of a tensor with as many; nothing happens if there are more or fewer. */
    [[gnu::noinline]] void copy_from(const Tensor &src)
    {
        if (data && src.data && size == src.size) std::memmove(data, src.data, bytes());
    }

    Tensor clone() const { return Tensor(*this); }

    /* Another shape for the same elements. TINY_ERR_AI_INVALID_SHAPE, and nothing changes, if it has
     * more or fewer, or is no shape of one to four dims. */
    tiny_error_t reshape(int dims, const int *new_shape)
    {
        if (count(dims, new_shape) != size) return TINY_ERR_AI_INVALID_SHAPE;
        put_shape(dims, new_shape, size);
        return TINY_OK;
    }

    tiny_error_t reshape_2d(int n0, int n1)
    {
        const int s[2] = {n0, n1};
        return reshape(2, s);
    }

    tiny_error_t reshape_3d(int n0, int n1, int n2)
    {
        const int s[3] = {n0, n1, n2};
        return reshape(3, s);
    }

    /* The same memory as a matrix of rows() by cols(): all of a tensor with two dims, the first
     * matrix of one with more. */
    Mat to_mat() const { return Mat(data, data ? rows() : 0, data ? cols() : 0); }

    bool same_shape(const Tensor &other) const
    {
        if (ndim != other.ndim) return false;
        for (int i = 0; i < ndim && i < 4; i++)
            if (shape[i] != other.shape[i]) return false;
        return true;
    }

    /* The shape and the first 32 elements, to standard output. */
    void print(const char *name = "") const
    {
        std::printf("Tensor '%s'  ndim=%d  shape=[", name ? name : "", ndim);
        for (int i = 0; i < ndim; i++) std::printf("%s%d", i ? "," : "", shape[i]);
        std::printf("]  size=%d\n", size);
        if (!data) {
            std::printf("  <null data>\n");
            return;
        }
        const int shown = size < 32 ? size : 32;
        for (int i = 0; i < shown; i++) std::printf("  [%d] %.6f\n", i, static_cast<double>(data[i]));
        if (size > shown) std::printf("  ... (%d more)\n", size - shown);
    }

private:
    Tensor(int dims, int n0, int n1, int n2, int n3)
        : ndim(dims), shape{n0, n1, n2, n3}, size(0), data(nullptr), owns_data(false)
    {
        const int total = count(4, shape);
        size = total < 0 ? 0 : total;
        alloc();
    }

    /* The elements of a shape; -1 if it is none, or has more than INT_MAX. */
    static int count(int dims, const int *of)
    {
        if (dims < 1 || dims > 4 || !of) return -1;
        int64_t total = 1;
        for (int i = 0; i < dims; i++) {
            if (of[i] < 0 || total > INT_MAX) return -1;
            total *= of[i];
        }
        return total > INT_MAX ? -1 : static_cast<int>(total);
    }

    size_t bytes() const { return static_cast<size_t>(size) * sizeof(float); }

    [[gnu::noinline]] void alloc()
    {
        if (size <= 0) return;
        data = static_cast<float *>(TINY_AI_MALLOC(bytes()));
        owns_data = data != nullptr;
        zero();
    }

    void free_data()
    {
        if (owns_data && data) TINY_AI_FREE(data);
        data = nullptr;
        owns_data = false;
    }

    void put_shape(int dims, const int *from, int total)
    {
        ndim = dims;
        for (int i = 0; i < 4; i++) shape[i] = i < dims ? from[i] : 1;
        size = total;
    }

    void take_shape(const Tensor &other)
    {
        ndim = other.ndim;
        std::memcpy(shape, other.shape, sizeof shape);
        size = other.size;
    }

    void take_data(Tensor &other)
    {
        data = other.data;
        owns_data = other.owns_data;
        other.data = nullptr;
        other.owns_data = false;
        other.size = 0;
    }

    bool looks_into_mine(const Tensor &other) const
    {
        const uintptr_t from = reinterpret_cast<uintptr_t>(data), p = reinterpret_cast<uintptr_t>(other.data);
        return owns_data && !other.owns_data && p >= from && p < from + bytes();
    }
};

} // namespace tiny

#endif
#endif
