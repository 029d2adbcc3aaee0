/* compare.h - four questions about two tensors, with four names.
 *
 *   tsr_same_desc   the same dtype, shape and strides?
 *   tsr_identical   the same memory, seen the same way?
 *   tsr_equal       the same values?  (NaN is unequal to itself; -0 equals 0)
 *   tsr_allclose    values within a tolerance?
 */
#ifndef TESSERA_COMPARE_H
#define TESSERA_COMPARE_H

#include "tensor.h"

TSR_BEGIN_C

/* Strides of dims of size 1 are not compared. */
TSR_API bool tsr_same_desc(const tsr_tensor *a, const tsr_tensor *b);
TSR_API bool tsr_same_shape(const tsr_tensor *a, const tsr_tensor *b);
TSR_API bool tsr_identical(const tsr_tensor *a, const tsr_tensor *b);

/* Tensors of different shape or dtype are unequal; that is no failure. */
TSR_API TSR_MUST_CHECK tsr_status tsr_equal(bool *out, const tsr_tensor *a, const tsr_tensor *b);

/* Zero means the default where noted. */
typedef struct tsr_close_opts {
    double rtol;      /* default 1e-5; give a negative number for exactly 0 */
    double atol;      /* default 1e-8; likewise */
    bool   equal_nan; /* is NaN close to NaN? */
} tsr_close_opts;

/* Where two tensors differ. ulps counts representable values between the two in
 * their dtype (-1 when one is NaN, when they are complex, or when it does not
 * fit). For complex values, error is the distance. */
typedef struct tsr_mismatch {
    int64_t    index[TSR_MAX_NDIM];
    tsr_scalar a, b;
    double     error;  /* |a - b|; NaN if either is NaN */
    int64_t    ulps;
} tsr_mismatch;

typedef struct tsr_close_report {
    int64_t      count;   /* elements compared */
    int64_t      differ;  /* of those, not close */
    tsr_mismatch first;   /* in row-major order; set if differ > 0 */
    tsr_mismatch worst;   /* largest error, NaN first of all; set if differ > 0 */
} tsr_close_report;

/* Is |a - b| <= atol + rtol * |b| everywhere? Infinities are close only to
 * themselves. Integers are compared exactly as integers before tolerance.
 * opts and report may be NULL. Different shapes are TSR_ESHAPE, different dtypes
 * TSR_EDTYPE. */
TSR_API TSR_MUST_CHECK tsr_status tsr_allclose(bool *out, const tsr_tensor *a, const tsr_tensor *b,
                                               const tsr_close_opts *opts, tsr_close_report *report);

/* "2 of 6 differ; first at (0, 1): 2 vs 2.5 (0.5, 2097152 ulps); worst ..." Cut short to fit; returns the length it
 * would have. ndim is the rank of the tensors compared. */
TSR_API size_t tsr_close_report_to_string(char *out, size_t size, const tsr_close_report *report, int ndim);

TSR_END_C

#endif
