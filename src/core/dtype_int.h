/* dtype_int.h - dtype facts without a call, for paths counted in nanoseconds. */
#ifndef TSRI_DTYPE_INT_H
#define TSRI_DTYPE_INT_H

#include "tessera/dtype.h"

extern const uint8_t tsri_dtype_sizes[TSR_DTYPE_COUNT];

/* One unsigned comparison: the invalid 0 wraps to the top. */
static inline bool tsri_dtype_is_valid(tsr_dtype dtype)
{
    return (unsigned)dtype - 1u < (unsigned)TSR_DTYPE_COUNT - 1u;
}

/* Of a valid dtype. */
static inline int64_t tsri_dtype_size(tsr_dtype dtype) { return tsri_dtype_sizes[dtype]; }

/* What ops that have no kernel of their own compute in: short floats in f32, others as they are. */
static inline tsr_dtype tsri_computed_dtype(tsr_dtype d)
{
    return tsr_dtype_kind(d) == TSR_FLOATING && d != TSR_F64 ? TSR_F32 : d;
}

#endif
