/* element.h - reading and writing single elements.
 *
 * Three speeds:
 *
 *   TSR_AT(float, t, i, j)          unchecked; compiles to the address arithmetic
 *                                   and nothing else. For hot loops over tensors
 *                                   you know.
 *   tsr_get_f32(&x, t, TSR_INDEX(i, j))
 *                                   checked: the dtype must be the one named, the
 *                                   number of indices the rank, each in its dim.
 *   tsr_get(&s, t, TSR_INDEX(i, j)) checked and converting: any dtype, as a scalar.
 *
 * Negative indices count from the end in the checked forms, and not in TSR_AT.
 */
#ifndef TESSERA_ELEMENT_H
#define TESSERA_ELEMENT_H

#include "tensor.h"

TSR_BEGIN_C

/* Unchecked ---------------------------------------------------------------- */

static inline int64_t tsr_offset_1(const tsr_tensor *t, int64_t i) { return i * t->stride[0]; }
#if TSR_MAX_NDIM >= 2
static inline int64_t tsr_offset_2(const tsr_tensor *t, int64_t i, int64_t j)
{
    return i * t->stride[0] + j * t->stride[1];
}
#endif
#if TSR_MAX_NDIM >= 3
static inline int64_t tsr_offset_3(const tsr_tensor *t, int64_t i, int64_t j, int64_t k)
{
    return tsr_offset_2(t, i, j) + k * t->stride[2];
}
#endif
#if TSR_MAX_NDIM >= 4
static inline int64_t tsr_offset_4(const tsr_tensor *t, int64_t i, int64_t j, int64_t k, int64_t l)
{
    return tsr_offset_3(t, i, j, k) + l * t->stride[3];
}
#endif
#if TSR_MAX_NDIM >= 5
static inline int64_t tsr_offset_5(const tsr_tensor *t, int64_t i, int64_t j, int64_t k, int64_t l, int64_t m)
{
    return tsr_offset_4(t, i, j, k, l) + m * t->stride[4];
}
#endif
#if TSR_MAX_NDIM >= 6
static inline int64_t tsr_offset_6(const tsr_tensor *t, int64_t i, int64_t j, int64_t k, int64_t l, int64_t m,
                                   int64_t n)
{
    return tsr_offset_5(t, i, j, k, l, m) + n * t->stride[5];
}
#endif

/* An lvalue: the element of C type T at one to six indices. T must be the C type
 * of the tensor's dtype, the number of indices its rank, the tensor allocated
 * and on the host. Nothing is checked. */
#define TSR_AT(T, t, ...) \
    (((T *)(t)->data)[TSR_SELECT_7_(t, __VA_ARGS__, tsr_offset_6, tsr_offset_5, tsr_offset_4, tsr_offset_3, \
                                    tsr_offset_2, tsr_offset_1, 0)((t), __VA_ARGS__)])
#define TSR_SELECT_7_(t, a, b, c, d, e, f, name, ...) name

/* Checked ------------------------------------------------------------------
 *
 * TSR_EDTYPE    the tensor's dtype is not the one in the function's name
 * TSR_ESHAPE    n is not the rank
 * TSR_EINDEX    an index is outside its dim
 * TSR_ESTATE    no memory yet (get; set allocates it)
 * TSR_EDEVICE   memory the host cannot reach
 * TSR_EREADONLY, TSR_EOVERLAP         (set only) */

TSR_API TSR_MUST_CHECK tsr_status tsr_get_bool(bool *out, const tsr_tensor *t, int n, const int64_t *index);
TSR_API TSR_MUST_CHECK tsr_status tsr_get_i8(int8_t *out, const tsr_tensor *t, int n, const int64_t *index);
TSR_API TSR_MUST_CHECK tsr_status tsr_get_i16(int16_t *out, const tsr_tensor *t, int n, const int64_t *index);
TSR_API TSR_MUST_CHECK tsr_status tsr_get_i32(int32_t *out, const tsr_tensor *t, int n, const int64_t *index);
TSR_API TSR_MUST_CHECK tsr_status tsr_get_i64(int64_t *out, const tsr_tensor *t, int n, const int64_t *index);
TSR_API TSR_MUST_CHECK tsr_status tsr_get_u8(uint8_t *out, const tsr_tensor *t, int n, const int64_t *index);
TSR_API TSR_MUST_CHECK tsr_status tsr_get_u16(uint16_t *out, const tsr_tensor *t, int n,
                                              const int64_t *index);
TSR_API TSR_MUST_CHECK tsr_status tsr_get_u32(uint32_t *out, const tsr_tensor *t, int n,
                                              const int64_t *index);
TSR_API TSR_MUST_CHECK tsr_status tsr_get_u64(uint64_t *out, const tsr_tensor *t, int n,
                                              const int64_t *index);
TSR_API TSR_MUST_CHECK tsr_status tsr_get_f8e4m3(uint8_t *out, const tsr_tensor *t, int n,
                                                 const int64_t *index);
TSR_API TSR_MUST_CHECK tsr_status tsr_get_f8e5m2(uint8_t *out, const tsr_tensor *t, int n,
                                                 const int64_t *index);
TSR_API TSR_MUST_CHECK tsr_status tsr_get_f16(uint16_t *out, const tsr_tensor *t, int n,
                                              const int64_t *index);
TSR_API TSR_MUST_CHECK tsr_status tsr_get_bf16(uint16_t *out, const tsr_tensor *t, int n,
                                               const int64_t *index);
TSR_API TSR_MUST_CHECK tsr_status tsr_get_f32(float *out, const tsr_tensor *t, int n, const int64_t *index);
TSR_API TSR_MUST_CHECK tsr_status tsr_get_f64(double *out, const tsr_tensor *t, int n, const int64_t *index);
TSR_API TSR_MUST_CHECK tsr_status tsr_get_c32(tsr_c32 *out, const tsr_tensor *t, int n, const int64_t *index);
TSR_API TSR_MUST_CHECK tsr_status tsr_get_c64(tsr_c64 *out, const tsr_tensor *t, int n, const int64_t *index);
TSR_API TSR_MUST_CHECK tsr_status tsr_get_c128(tsr_c128 *out, const tsr_tensor *t, int n,
                                               const int64_t *index);

/* Set one element: the same checks, and that it may be written. */
TSR_API TSR_MUST_CHECK tsr_status tsr_set_bool  (tsr_tensor *t, int n, const int64_t *index, bool     value);
TSR_API TSR_MUST_CHECK tsr_status tsr_set_i8    (tsr_tensor *t, int n, const int64_t *index, int8_t   value);
TSR_API TSR_MUST_CHECK tsr_status tsr_set_i16   (tsr_tensor *t, int n, const int64_t *index, int16_t  value);
TSR_API TSR_MUST_CHECK tsr_status tsr_set_i32   (tsr_tensor *t, int n, const int64_t *index, int32_t  value);
TSR_API TSR_MUST_CHECK tsr_status tsr_set_i64   (tsr_tensor *t, int n, const int64_t *index, int64_t  value);
TSR_API TSR_MUST_CHECK tsr_status tsr_set_u8    (tsr_tensor *t, int n, const int64_t *index, uint8_t  value);
TSR_API TSR_MUST_CHECK tsr_status tsr_set_u16   (tsr_tensor *t, int n, const int64_t *index, uint16_t value);
TSR_API TSR_MUST_CHECK tsr_status tsr_set_u32   (tsr_tensor *t, int n, const int64_t *index, uint32_t value);
TSR_API TSR_MUST_CHECK tsr_status tsr_set_u64   (tsr_tensor *t, int n, const int64_t *index, uint64_t value);
TSR_API TSR_MUST_CHECK tsr_status tsr_set_f8e4m3(tsr_tensor *t, int n, const int64_t *index, uint8_t  value);
TSR_API TSR_MUST_CHECK tsr_status tsr_set_f8e5m2(tsr_tensor *t, int n, const int64_t *index, uint8_t  value);
TSR_API TSR_MUST_CHECK tsr_status tsr_set_f16   (tsr_tensor *t, int n, const int64_t *index, uint16_t value);
TSR_API TSR_MUST_CHECK tsr_status tsr_set_bf16  (tsr_tensor *t, int n, const int64_t *index, uint16_t value);
TSR_API TSR_MUST_CHECK tsr_status tsr_set_f32   (tsr_tensor *t, int n, const int64_t *index, float    value);
TSR_API TSR_MUST_CHECK tsr_status tsr_set_f64   (tsr_tensor *t, int n, const int64_t *index, double   value);
TSR_API TSR_MUST_CHECK tsr_status tsr_set_c32   (tsr_tensor *t, int n, const int64_t *index, tsr_c32  value);
TSR_API TSR_MUST_CHECK tsr_status tsr_set_c64   (tsr_tensor *t, int n, const int64_t *index, tsr_c64  value);
TSR_API TSR_MUST_CHECK tsr_status tsr_set_c128  (tsr_tensor *t, int n, const int64_t *index, tsr_c128 value);

/* Converting: any dtype, through a scalar. */
TSR_API TSR_MUST_CHECK tsr_status tsr_get(tsr_scalar *out, const tsr_tensor *t, int n, const int64_t *index);
TSR_API TSR_MUST_CHECK tsr_status tsr_set(tsr_tensor *t, int n, const int64_t *index, tsr_scalar value);

/* The address of the sub-tensor at n <= rank indices. */
TSR_API TSR_MUST_CHECK tsr_status tsr_pointer(void **out, const tsr_tensor *t, int n, const int64_t *index);

/* The value of a tensor with exactly one element, whatever its rank. TSR_ESHAPE
 * if it has more or none. tsr_item_f64 and tsr_item_i64 convert. */
TSR_API TSR_MUST_CHECK tsr_status tsr_item(tsr_scalar *out, const tsr_tensor *t);
TSR_API TSR_MUST_CHECK tsr_status tsr_item_f64(double *out, const tsr_tensor *t);
TSR_API TSR_MUST_CHECK tsr_status tsr_item_i64(int64_t *out, const tsr_tensor *t);

TSR_END_C

#endif
