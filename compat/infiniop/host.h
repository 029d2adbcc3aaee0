/* host.h - for operators that are plain loops: their tensors as packed arrays of the host. */
#ifndef COMPAT_INFINIOP_HOST_H
#define COMPAT_INFINIOP_HOST_H

#include "op.h"

namespace face {

constexpr tsr_dtype dtype_for(double) { return TSR_F64; }
constexpr tsr_dtype dtype_for(float) { return TSR_F32; }
constexpr tsr_dtype dtype_for(int64_t) { return TSR_I64; }
constexpr tsr_dtype dtype_for(uint32_t) { return TSR_U32; }
constexpr tsr_dtype dtype_for(uint8_t) { return TSR_U8; }

/* The elements of a tensor, row-major, converted to Element. */
template <class Element>
class Packed {
public:
    /* Room for so many elements, not set. */
    tsr_status make(int64_t n) { return make(1, &n); }
    tsr_status make(const tsr_tensor *like) { return make(like->ndim, like->shape); }
    tsr_status make(int ndim, const int64_t *shape)
    {
        tsr_release(&t_);
        return tsr_empty(&t_, dtype_for(Element()), ndim, shape);
    }

    /* A copy of t; of NULL, nothing. */
    tsr_status read(const tsr_tensor *t)
    {
        if (!t) return TSR_OK;
        TSR_TRY(make(t));
        return tsr_copy(t_, t);
    }

    /* The elements go to t, which has the shape. */
    tsr_status write(tsr_tensor *t) const { return tsr_copy(t, t_); }

    Element *get() const { return t_ ? (Element *)t_->data : nullptr; }
    Element *operator+(int64_t i) const { return get() + i; }
    Element &operator[](int64_t i) const { return get()[i]; }
    const tsr_tensor *tensor() const { return t_; }

private:
    Temp t_;
};

/* The first n keys (or values) of a sequence, (kv_heads, n, d), of a cache (blocks, kv_heads, block size, d)
 * from the blocks that `table` names. */
tsr_status gather_pages(tsr_tensor **out, const tsr_tensor *cache, const tsr_tensor *table, int64_t n);

} // namespace face

#endif
