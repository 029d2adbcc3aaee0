/* columns.h - what factorisations do to columns of real numbers. All are contiguous, of n numbers. */
#ifndef TSRI_CPU_COLUMNS_H
#define TSRI_CPU_COLUMNS_H

#include <stdint.h>

/* The same for both types of number. */
#define TSRI_COLUMN_KERNELS(R)                                                                      \
    R (*dot)(const R *x, const R *y, int64_t n);                                                    \
    /* y += x by */                                                                                 \
    void (*add_scaled)(R *y, const R *x, R by, int64_t n);                                          \
    /* z += x by_x + y by_y */                                                                      \
    void (*add_two)(R *z, const R *x, R by_x, const R *y, R by_y, int64_t n);                       \
    /* y += x by; returns the product of x and v */                                                 \
    R (*add_and_dot)(R *y, const R *x, R by, const R *v, int64_t n);                                \
    /* Rotations count - 1 .. 0 of n rows of a column-major matrix: of the i-th, columns i and i + 1 become \
     * c x - s y and s x + c y. */                                                                  \
    void (*rotate)(R *z, int64_t ld, const R *c, const R *s, int64_t count, int64_t n)

typedef struct tsri_columns_f32 {
    TSRI_COLUMN_KERNELS(float);
} tsri_columns_f32;

typedef struct tsri_columns_f64 {
    TSRI_COLUMN_KERNELS(double);
} tsri_columns_f64;

/* Of this machine: filled with the table of kernels. NULL: there are none. */
extern tsri_columns_f32 tsri_cpu_columns_f32;
extern tsri_columns_f64 tsri_cpu_columns_f64;

#endif
