/* linalg_int.h - what the functions of linear algebra share: their results, and small views of matrices. */
#ifndef TSRI_LINALG_INT_H
#define TSRI_LINALG_INT_H

#include "composed.h"
#include "dispatch.h"

/* The results of factorisations, and how often the flops of their rows are done (traits.c). */
tsr_status tsri_infer_factors(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                              const void *params);
double tsri_work_factors(const tsr_desc *const *in, const tsr_desc *out, const void *params);

/* x of a @ x = b, where b is a vector or matrices; the operands as a backend sees them. */
tsr_status tsri_infer_system(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params);
tsr_status tsri_broadcast_system(tsri_operands *o, int nin, tsr_tensor **out, tsr_tensor *view);

/* A packed desc with the batch dims of a and then these, of which a negative one is left out. */
tsr_status tsri_batch_desc(tsr_desc *out, const char *op, tsr_dtype dtype, const tsr_desc *a, int64_t rows,
                           int64_t cols);

/* Singular values and, unless u is NULL, vectors; `name` stands in messages. */
tsr_status tsri_svd(const char *name, tsr_tensor **u, tsr_tensor **s, tsr_tensor **vh, const tsr_tensor *a,
                    bool full_matrices);

static inline int64_t tsri_row_count(const tsr_tensor *a) { return a->shape[a->ndim - 2]; }
static inline int64_t tsri_col_count(const tsr_tensor *a) { return a->shape[a->ndim - 1]; }
static inline int64_t tsri_least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline bool    tsri_is_complex(const tsr_tensor *t) { return tsr_dtype_kind(t->dtype) == TSR_COMPLEX; }

static inline void tsri_release_all(int n, tsr_tensor **t)
{
    for (int i = 0; i < n; i++) tsr_release(&t[i]);
}

/* A new last dim of size 1; there is room for it. */
static inline tsr_tensor tsri_as_column(const tsr_tensor *t)
{
    tsr_tensor v = *t;
    tsri_insert_dim(&v.desc, t->ndim, 1, 0);
    return v;
}

/* The last two dims swapped. */
static inline tsr_tensor tsri_as_transposed(const tsr_tensor *a)
{
    tsr_tensor v = *a;
    const int i = a->ndim - 2, j = a->ndim - 1;
    v.shape[i] = a->shape[j];
    v.stride[i] = a->stride[j];
    v.shape[j] = a->shape[i];
    v.stride[j] = a->stride[i];
    return v;
}

#endif
