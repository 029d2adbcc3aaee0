/* rows.h - the arithmetic of networks' ops on one row of packed numbers.
 *
 * A row is n numbers of the type that is computed in: float for f32 and shorter dtypes,
 * double for f64. y may lie exactly where x does, or not touch it. Sums have one order
 * for every n: leaves of a fixed length in fixed lanes (rows.inc), so that a set for
 * another machine can keep the bits.
 */
#ifndef TSRI_NN_ROWS_H
#define TSRI_NN_ROWS_H

#include "core/status_int.h"

enum { TSRI_ROW_F32, TSRI_ROW_F64, TSRI_ROW_TYPES };

typedef struct tsri_nn_kernels {
    /* y = exp(x) over the sum of exp(x); its logarithm. */
    void (*softmax)(void *y, const void *x, int64_t n);
    void (*log_softmax)(void *y, const void *x, int64_t n);

    /* The largest, and the logarithm of the sum of exp(x - largest). */
    void (*log_sum)(double *largest, double *log_sum, const void *x, int64_t n);

    /* Of x; of (x - from)^2. */
    double (*sum)(const void *x, int64_t n);
    double (*squares)(const void *x, int64_t n, double from);

    /* y = (x - from) * by + add; y = (x - from) * by * w + b, with w and b for each
     * element. In double, rounded once. */
    void (*scale)(void *y, const void *x, int64_t n, double from, double by, double add);
    void (*scale_each)(void *y, const void *x, int64_t n, double from, double by, const void *w,
                       const void *b);

    /* Pair j of n / 2 turned by turns[j] (cosine, sine); by tsr_rope_mode. */
    void (*rotate[2])(void *y, const void *x, int64_t n, const tsr_c128 *turns);
} tsri_nn_kernels;

struct tsri_cpu_kernels;

/* Fills the slots of rows, and the elementwise ones of this family (rows.c, swiglu.c). */
void tsri_cpu_nn_portable(struct tsri_cpu_kernels *k);
void tsri_cpu_swiglu_portable(struct tsri_cpu_kernels *k);

#endif
