/* gemm.h - products of matrices by kernels of our own: any dtype, any strides. */
#ifndef TSRC_GEMM_H
#define TSRC_GEMM_H

#include "cuda.h"

namespace tsrc {

struct GemmArgs {
    tsrc_nest batch; /* z, a, b, c over the batch dims */
    int64_t m, n, k;
    int64_t a[2], b[2], c[2], z[2]; /* bytes: along rows' index, along columns' */
    int dtype_a, dtype_b, dtype;    /* dtype: of c and z */
    int has_c;
    double alpha[2], beta[2]; /* real and imaginary parts */
    int64_t alpha_i, beta_i;  /* of integers */
    uint32_t tiles_m, tiles_n;
};

/* z = alpha a @ b + beta c. a and b may be i8 and u8 in any mix where z is i32. */
tsr_status gemm(const Work &w, const tsr_tensor *z, const tsr_tensor *a, const tsr_tensor *b,
                const tsr_tensor *c, tsr_scalar alpha, tsr_scalar beta);

/* A number as parts, and as an integer. */
void scalar_parts(tsr_scalar s, double parts[2], int64_t *integer);

} // namespace tsrc

#endif
