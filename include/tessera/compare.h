/* compare.h - four questions about two tensors, with four names.
 *
 *   tsr_same_desc   the same dtype, shape and strides?
 *   tsr_identical   the same memory under the same desc?
 *   tsr_equal       the same values?  (NaN is unequal to itself; -0 equals 0)
 *   tsr_allclose    values within a tolerance?
 */
#ifndef TESSERA_COMPARE_H
#define TESSERA_COMPARE_H

#include "tensor.h"

TSR_BEGIN_C

/* About the descs alone; memory does not matter. Strides of dims of size 1, and of
 * tensors without elements, are not compared. False if either is "none". */
TSR_API bool tsr_same_desc(const tsr_tensor *a, const tsr_tensor *b);
TSR_API bool tsr_same_shape(const tsr_tensor *a, const tsr_tensor *b);

/* Do a and b have the same desc (tsr_same_desc), and element (0, ..., 0) at the same
 * address of the same device, so that each index reaches the same bytes through both?
 * Tensors without elements must share their storage as well. False if either has no
 * memory. */
TSR_API bool tsr_identical(const tsr_tensor *a, const tsr_tensor *b);

/* Of the two functions below: a described tensor is TSR_ESTATE, memory that the host
 * cannot reach TSR_EDEVICE. Tensors without elements are equal, and close. */

/* Tensors of different shape or dtype are unequal; that is no failure. Complex
 * values are equal if both parts are. */
TSR_API TSR_MUST_CHECK tsr_status tsr_equal(bool *out, const tsr_tensor *a, const tsr_tensor *b);

/* Zero means the default where noted. TSR_EINVAL if rtol or atol is not finite. */
typedef struct tsr_close_opts {
    double rtol;      /* default 1e-5; give a negative number for exactly 0 */
    double atol;      /* default 1e-8; likewise */
    bool   equal_nan; /* is NaN close to NaN? */
} tsr_close_opts;

/* Where two tensors differ. ulps counts the steps from one to the other through
 * the representable values of their dtype (-1 when one is NaN, when they are
 * complex, or when it does not fit): 1 between neighbours, 0 between -0 and 0; for
 * integers it is their exact distance. For complex values, error is the distance. */
typedef struct tsr_mismatch {
    int64_t    index[TSR_MAX_NDIM];
    tsr_scalar a, b;
    double     error;  /* |a - b|; NaN if either is NaN, infinite if one is */
    int64_t    ulps;
} tsr_mismatch;

typedef struct tsr_close_report {
    int64_t      count;   /* elements compared */
    int64_t      differ;  /* of those, not close */
    tsr_mismatch first;   /* in row-major order; set if differ > 0 */
    tsr_mismatch worst;   /* largest error, NaN first of all; the first of equals; set if differ > 0 */
} tsr_close_report;

/* Is |a - b| <= atol + rtol * |b| for all elements? Computed in f64; the difference of
 * integers is exact, whatever their size. An infinity is close only to the same
 * infinity, NaN only to NaN, and that only if equal_nan. |z| of a complex number is its
 * modulus; it counts as NaN or infinite if its real or imaginary part is. opts and
 * report may be NULL. Different shapes are TSR_ESHAPE, different dtypes TSR_EDTYPE; the report is
 * written only on success. */
TSR_API TSR_MUST_CHECK tsr_status tsr_allclose(bool *out, const tsr_tensor *a, const tsr_tensor *b,
                                               const tsr_close_opts *opts, tsr_close_report *report);

/* "2 of 6 differ; first at (0, 1): 2 vs 2.5 (0.5, 2097152 ulps); worst at ...", or
 * "0 of 6 differ". Cut short to fit; returns the length it would have (0 for a NULL
 * report). ndim is the rank of the tensors compared. */
TSR_API size_t tsr_close_report_to_string(char *out, size_t size, const tsr_close_report *report, int ndim);

TSR_END_C

#endif
