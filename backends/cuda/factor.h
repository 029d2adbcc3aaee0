/* factor.h - what surrounds the factorisations of cuSOLVER, on batches of column-major matrices. */
#ifndef TSRC_FACTOR_H
#define TSRC_FACTOR_H

#include "cuda.h"

namespace tsrc {

/* The elements of a matrix that count. */
enum Triangle { WHOLE, LOWER, UPPER };

/* `count` matrices of rows x cols elements of `parts` numbers, f64 if wide. flags has an int for each. */
struct FactorArgs {
    void *data;
    int *flags;
    int64_t rows, cols, count;
    int32_t parts, wide;
    int32_t triangle;
};

/* flags say which matrices are finite; others become the identity, which every iteration ends on. */
tsr_status queue_tame(const Work &w, const FactorArgs &a);

/* All elements of matrices that were not finite become NaN. */
tsr_status queue_untame(const Work &w, const FactorArgs &a);

/* What lies beside the triangle and the diagonal becomes 0. */
tsr_status queue_clear(const Work &w, const FactorArgs &a);

/* All matrices become the identity. */
tsr_status queue_identity(const Work &w, const FactorArgs &a);

/* `rows` pivots of each matrix are counted from 0; those of matrices that were not finite swap nothing. */
tsr_status queue_pivots(const Work &w, const FactorArgs &a);

} // namespace tsrc

#endif
