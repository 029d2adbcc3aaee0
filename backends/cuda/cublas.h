/* cublas.h - products of matrices by cuBLASLt, if it is found when it is first needed. */
#ifndef TSRC_CUBLAS_H
#define TSRC_CUBLAS_H

#include "cuda.h"

namespace tsrc {

enum LtEpilogue { LT_NOTHING, LT_RELU, LT_GELU_TANH };

/* A product as cuBLASLt does it: column-major, z = alpha first @ second + beta c. */
struct LtProduct {
    tsr_dtype in, out; /* of the operands; of c and z */
    int64_t m, n, k, batch;
    bool transpose_first, transpose_second; /* as stored they are transposed */
    int64_t lead[4], apart[4];    /* first, second, c, z: leading dims, matrices apart (elements) */
    const void *first, *second, *c;
    void *z;
    const void *bias; /* one number for each row of z, or NULL */
    LtEpilogue after; /* what is done to z last */
    double alpha[2], beta[2];
    int64_t alpha_i, beta_i;
};

/* Is it there, and does it multiply these dtypes? */
bool lt_has(tsr_dtype in, tsr_dtype out);

/* TSR_EUNSUPPORTED, without words, where it cannot compute this product. */
tsr_status lt_multiply(const Work &w, const LtProduct &p);

} // namespace tsrc

#endif
