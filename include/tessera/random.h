/* random.h - random tensors that can be repeated anywhere.
 *
 * Counter-based: the seed and an element's row-major index give its value, by
 * ten rounds of Philox 4x32 on counter (index / values per block) and key
 * (seed). The values do not depend on strides, thread count, instruction set or
 * device, and the first n values of a longer tensor are those of a shorter one.
 * docs/concepts/random.md states the mapping from bits to values exactly.
 *
 * A result handle that is NULL is made, packed and row-major on the host; one that
 * holds a tensor of that dtype and shape is written into, whatever its strides.
 *
 * TSR_EDTYPE  the dtype is neither floating nor complex, or *out's is another
 * TSR_ESHAPE  *out has another shape
 */
#ifndef TESSERA_RANDOM_H
#define TESSERA_RANDOM_H

#include "tensor.h"

TSR_BEGIN_C

/* Philox 4x32-10 itself, as in the paper by Salmon et al. (2011): four words from a
 * counter and a key. Does nothing if a pointer is NULL. */
TSR_API void tsr_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

/* Uniform in [low, high), each part if complex. No value is high or above it, in
 * any dtype; if the dtype has no number in the range (low = high among others),
 * every value is low, rounded. TSR_EINVAL unless both are finite in the dtype and
 * low <= high. */
TSR_API TSR_MUST_CHECK tsr_status tsr_uniform(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape,
                                              double low, double high, uint64_t seed);

/* Normal, mean 0, deviation 1, each part if complex. */
TSR_API TSR_MUST_CHECK tsr_status tsr_randn(tsr_tensor **out, tsr_dtype dtype, int ndim, const int64_t *shape,
                                            uint64_t seed);

TSR_END_C

#endif
