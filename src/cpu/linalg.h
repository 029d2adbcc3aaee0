/* linalg.h - what the factorisations on the CPU share: matrices laid out for LAPACK, and
 * memory to work in.
 *
 * A batch is packed whole: matrix i of a tensor of m x n matrices lies column-major at
 * i * m * n, is worked on in place by LAPACK, and goes from there to where the result is
 * wanted. So any strides are fine on both sides, and results may overlap operands.
 *
 * LIMIT: the matrices of a batch are done one after another, each by the threads that
 * LAPACK itself has.
 */
#ifndef TSRI_CPU_LINALG_H
#define TSRI_CPU_LINALG_H

#include "core/tensor_int.h"
#include "lapack.h"
#include "tessera/backend.h"

enum { TSRI_FACTOR_BLOCKS = 12 };

/* One call: the same for every matrix of its batch. */
typedef struct tsri_factoring {
    tsr_op_kind        kind;
    const char        *op;
    const tsri_lapack *f;
    const tsr_desc    *a;           /* the batch, for messages */
    tsr_dtype          dtype, real; /* of elements, and of their parts */
    int64_t            count;       /* matrices */
    int32_t            m, n, k;     /* rows, columns, the lesser */
    int                nrooms;
    tsr_tensor        *room[TSRI_FACTOR_BLOCKS];
} tsri_factoring;

/* Memory for n elements, until the call ends. */
tsr_status tsri_factor_alloc(tsri_factoring *c, void **out, tsr_dtype dtype, int64_t n);

/* LAPACK's work memory: as many elements as its query returned (`wanted`), and `least` at
 * least. TSR_EINVAL if that is more than a 32-bit integer counts. */
tsr_status tsri_factor_work(tsri_factoring *c, void **out, int32_t *lwork, const tsr_c128 *wanted,
                            double least);

/* Fails with a message about matrix `number`, from the info that LAPACK returned. */
tsr_status tsri_factor_fail(const tsri_factoring *c, int64_t number, int32_t info);

/* TSR_EINVAL if n does not fit LAPACK's 32-bit integers. */
tsr_status tsri_factor_check_count(const tsri_factoring *c, double n);

/* The matrices of a, column-major. */
tsr_status tsri_factor_pack(tsri_factoring *c, void **out, const tsr_tensor *a);

/* The beginnings of packed matrices (rows x cols) or vectors (of rows; cols is 0) to a
 * result whose other dims are the batch's. */
tsr_status tsri_factor_unpack(tsr_tensor *out, void *data, tsr_dtype dtype, int64_t rows, int64_t cols);

/* Element `at` of packed memory. */
static inline void *tsri_factor_at(void *data, tsr_dtype dtype, int64_t at)
{
    return (char *)data + at * tsri_dtype_size(dtype);
}

/* Is none of n elements NaN or infinite? Is none of an n x n matrix's lower (or upper) triangle? */
bool tsri_factor_is_finite(const tsri_factoring *c, const void *data, int64_t n);
bool tsri_factor_is_finite_triangle(const tsri_factoring *c, void *a, bool upper);

/* n elements, both parts, become NaN. */
void tsri_factor_fill_nan(void *data, tsr_dtype dtype, int64_t n);

/* Any op of the family. */
tsr_status tsri_cpu_factor(const tsr_op *op);

/* spectral.c */
tsr_status tsri_factor_svd(tsri_factoring *c, const tsr_op *op);
tsr_status tsri_factor_eigh(tsri_factoring *c, const tsr_op *op);
tsr_status tsri_factor_eig(tsri_factoring *c, const tsr_op *op);

#endif
