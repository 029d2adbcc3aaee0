/* kernels.h - what convolutions of floats are made of, where an instruction set brings it. */
#ifndef TSRI_CONV_KERNELS_H
#define TSRI_CONV_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

enum { TSRI_CONV_ROWS = 8, TSRI_CONV_VECTORS = 3 };  /* of a strip, at most */

/* z[r][i] = (add ? z[r][i] : 0) + the sum over p < k of w[p][r] times the element i places after x +
 * offset[p], for some rows r and i < cols. Places and sums follow each other. */
typedef struct tsri_conv_strip {
    int64_t        k;
    const void    *w;       /* for each p, as many as there are rows */
    const char    *x;
    const int64_t *offset;  /* bytes */
    char          *z;
    int64_t        z_row;   /* bytes */
    int64_t        cols;
    bool           add;
    bool           padded;  /* whole vectors of x can be read */
} tsri_conv_strip;

typedef void (*tsri_conv_strip_fn)(const tsri_conv_strip *s);

/* A window of 3 x 3 floats that moves on by one, over one channel: output row h sees input rows h - top ..
 * h - top + 2, and so for columns and left. What lies outside is 0. Elements of rows follow each other. */
typedef struct tsri_conv_three {
    const char  *x;
    int64_t      x_row, high, wide;  /* bytes from row to row; rows and columns */
    char        *z;
    int64_t      z_row, rows, cols;
    int64_t      top, left;
    const float *w;                  /* 9 of them */
    float        bias;
    int64_t      x_ahead, z_ahead;   /* bytes to what is done next, which comes nearer meanwhile */
} tsri_conv_three;

typedef struct tsri_conv_kernels {
    int64_t            rows;   /* of a strip, at most */
    int64_t            lanes;  /* of a vector */
    tsri_conv_strip_fn strip[TSRI_CONV_VECTORS + 1][TSRI_CONV_ROWS + 1];  /* by vectors and rows, from 1 on */

    /* Whole vectors at x + offset[p], `vectors` of them, for each p < k side by side in a panel. */
    void (*line_up)(void *panel, const char *x, const int64_t *offset, int64_t k, int64_t vectors);

    void (*three)(const tsri_conv_three *t);  /* of floats; NULL for doubles */

    /* z[i] = the sum over p < k of w[p] times the element i places after x + offset[p], for i < n. Whole
     * vectors of x can be read, and of z written. */
    void (*sum_one)(void *z, const char *x, const int64_t *offset, const void *w, int64_t k, int64_t n);
} tsri_conv_kernels;

#endif
