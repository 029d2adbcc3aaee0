/* matrix.h - batches of random matrices, and small matrices to compute residuals with. */
#ifndef TSR_OPCHECK_MATRIX_H
#define TSR_OPCHECK_MATRIX_H

#include "trial.h"

enum { MATRIX_LARGEST = 40 };

/* Row-major. Functions that take two need shapes that fit. */
typedef struct matrix {
    int64_t rows, cols;
    value x[MATRIX_LARGEST * MATRIX_LARGEST];
} matrix;

value value_times(value a, value b);
value value_minus(value a, value b);
double magnitude(value a);

/* Matrix number `batch` of a tensor in row-major order of the dims before its last two; its last dim alone,
 * as a column. */
matrix read_matrix(const tsr_tensor *t, int64_t batch);
matrix read_column(const tsr_tensor *t, int64_t batch);

matrix product(matrix a, matrix b);
matrix adjoint(matrix a);
matrix identity(int64_t n);
matrix scaled(matrix a, matrix by);          /* each column by an element */
matrix left_columns(matrix a, int64_t cols); /* the first of them */
double norm_of(matrix a);                    /* the root of the sum of squares */
bool is_triangle(matrix a, bool upper);      /* zeros elsewhere */

/* Fails the trial where the norm of the difference exceeds the bound. */
void check_distance(trial *t, const char *what, matrix got, matrix wanted, double bound);

/* What rounding may leave of a matrix of norm 1. */
double matrix_rounding(tsr_dtype dtype, matrix a);

/* A shape of up to two dims of a batch, empty once in a while, and of a matrix; returns the rank. */
int matrix_shape(trial *t, int64_t shape[4], bool square);

/* Matrices in a slot, nowhere 0 and not singular but by chance, with any strides; now and then one that is
 * repeated. */
void make_matrices(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape);

/* The shape of a right-hand side for matrices a: a vector; or matrices whose batch has a's last dims, some of
 * them 1. Returns its rank. And the one that belongs to matrix number `batch` of a, as a column or columns.
 */
int right_side_shape(trial *t, int64_t shape[4], const tsr_tensor *a);
matrix read_broadcast(const tsr_tensor *b, const tsr_tensor *a, int64_t batch);

int64_t matrices_of(const tsr_tensor *a);

/* A result of a call on the matrices in slot `like`: of their batch dims, then rows and cols unless those
 * are negative. Either given with strides of its own or left to be made; then checked. */
void make_result(trial *t, int slot, tsr_dtype dtype, int like, int64_t rows, int64_t cols);
void check_result(trial *t, int slot, tsr_dtype dtype, int like, int64_t rows, int64_t cols);

#endif
