/* rope.hpp - tensors that are released by themselves, and the tables of rotary positions. */
#ifndef LLAISYS_ROPE_HPP
#define LLAISYS_ROPE_HPP

#include "face.hpp"

#include <utility>

namespace
{

struct Owned {
    tsr_tensor *t = nullptr;
    Owned() = default;
    ~Owned() { tsr_release(&t); }
    Owned(const Owned &) = delete;
    Owned &operator=(const Owned &) = delete;
};

/* 0, 1, ... n - 1 on a device */
inline void count_up(Owned &out, tsr_dtype dtype, int64_t n, tsr_device device)
{
    Owned made;
    must(tsr_arange(&made.t, dtype, TSR_SCALAR(0), TSR_SCALAR(n), TSR_SCALAR(1)));
    if (made.t->device == device)
        std::swap(out.t, made.t);
    else
        must(tsr_to(&out.t, made.t, device));
}

/* Sines and cosines of pos / theta^(2j / d), a row for each position. Each step is rounded to f32,
 * as the system's own tests do: at position 1000 that rotates pairs by 1e-4 more or less than exact
 * angles would. */
inline void make_tables(Owned &sines, Owned &cosines, const tsr_tensor *positions, int64_t d, float theta)
{
    Owned j, base, pos;
    count_up(j, TSR_F32, d / 2, positions->device);
    must(tsr_mul(&j.t, j.t, TSR_NUMBER(2)));
    must(tsr_div(&j.t, j.t, TSR_NUMBER(d)));
    must(tsr_pow(&base.t, TSR_NUMBER(theta), j.t));
    must(tsr_cast(&pos.t, positions, TSR_F32));
    must(tsr_unsqueeze(&pos.t, pos.t, 1));
    must(tsr_div(&cosines.t, pos.t, base.t));
    must(tsr_sin(&sines.t, cosines.t));
    must(tsr_cos(&cosines.t, cosines.t));
}

} // namespace

#endif
