/* move.h - moving data: fill, copy, convert, join.
 *
 * Every call honours every legal stride on both sides. A destination that is
 * only described is allocated first. A destination that maps two indices to one
 * address is TSR_EOVERLAP; one that is read-only is TSR_EREADONLY. A destination
 * may overlap a source.
 */
#ifndef TESSERA_MOVE_H
#define TESSERA_MOVE_H

#include "tensor.h"

TSR_BEGIN_C

/* Every element becomes `value`, converted to the dtype of t; every element becomes 0. */
TSR_API TSR_MUST_CHECK tsr_status tsr_fill(tsr_tensor *t, tsr_scalar value);
TSR_API TSR_MUST_CHECK tsr_status tsr_zero(tsr_tensor *t);

/* dst = src, converting the dtype by the rules of dtype.h. TSR_ESHAPE unless the
 * shapes are equal (tsr_expand() repeats, if repeating is meant). */
TSR_API TSR_MUST_CHECK tsr_status tsr_copy(tsr_tensor *dst, const tsr_tensor *src);

/* The elements of src in a packed row-major tensor of the same dtype; into
 * whatever strides *out has, when it exists. Bits are kept. */
TSR_API TSR_MUST_CHECK tsr_status tsr_rearrange(tsr_tensor **out, const tsr_tensor *src);

/* src converted to `dtype`, in src's order of dims. */
TSR_API TSR_MUST_CHECK tsr_status tsr_cast(tsr_tensor **out, const tsr_tensor *src, tsr_dtype dtype);

/* Between a tensor and a packed row-major host buffer of the same dtype. `bytes`
 * must be exactly tsr_byte_size(t) (TSR_ESHAPE). */
TSR_API TSR_MUST_CHECK tsr_status tsr_load(tsr_tensor *t, const void *src, size_t bytes);
TSR_API TSR_MUST_CHECK tsr_status tsr_store(void *dst, size_t bytes, const tsr_tensor *t);

/* Join n >= 1 tensors of one dtype: along an axis they have (all other dims
 * equal), or along a new one (all dims equal). tsr_batch_join joins along axis
 * 0: the existing one if keep_dims, else a new one. */
TSR_API TSR_MUST_CHECK tsr_status tsr_concat(tsr_tensor **out, int n, const tsr_tensor *const *tensors,
                                             int axis);
TSR_API TSR_MUST_CHECK tsr_status tsr_stack(tsr_tensor **out, int n, const tsr_tensor *const *tensors,
                                            int axis);
TSR_API TSR_MUST_CHECK tsr_status tsr_batch_join(tsr_tensor **out, int n, const tsr_tensor *const *tensors,
                                                 bool keep_dims);

/* Devices. Copies go between any two, whatever the strides and dtypes, and rearrange and
 * convert on the faster side.
 *
 * A new tensor on another device (in another memory kind too): the same order of dims, packed,
 * or what the device prefers (tsr_device_set_layout). Where t is there already, the result is a
 * view of it (no copy).
 *
 *     tsr_to(&y, x, TSR_DEVICE("cuda:0"));
 *
 * tsr_to_host gives memory of the host in every case. */
TSR_API TSR_MUST_CHECK tsr_status tsr_to(tsr_tensor **out, const tsr_tensor *t, tsr_device device);
TSR_API TSR_MUST_CHECK tsr_status tsr_to_memory(tsr_tensor **out, const tsr_tensor *t, tsr_device device,
                                                tsr_memory memory);
TSR_API TSR_MUST_CHECK tsr_status tsr_to_host(tsr_tensor **out, const tsr_tensor *t);

/* tsr_copy that may return before it is done, on the current stream of the device (stream.h), where
 * the host's side is pinned memory: until the stream is past it, that must not be read or
 * written. Elsewhere it is tsr_copy. */
TSR_API TSR_MUST_CHECK tsr_status tsr_copy_async(tsr_tensor *dst, const tsr_tensor *src);

TSR_END_C

#endif
