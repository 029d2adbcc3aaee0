/* conv_kernels.h - the kernels for convolutions of floats that an instruction set may have.
 *
 * There are two micro-kernels: a strip has vectors along places, a tile has vectors across kernels. */
#ifndef TSRI_CPU_CONV_KERNELS_H
#define TSRI_CPU_CONV_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TSRI_CONV_ROWS = 8, TSRI_CONV_VECTORS = 3,  /* of a strip, at most */
    TSRI_CONV_PLACES = 6, TSRI_CONV_ACROSS = 4, /* of a tile, at most: places, and vectors of kernels */
    TSRI_CONV_BLOCK = 192  /* indices of k that are summed from 0, if windows have more than one tap */
};

/* z[r][i] = (add ? z[r][i] : 0) + the sum over p < k of w[p][r] times the element i places after x +
 * offset[p], for some rows r and i < cols, which fill all vectors but the last. Places and sums have unit
 * stride; nothing else is written. Prefetches one cache line for each p. */
typedef struct tsri_conv_strip {
    int64_t        k;
    const void    *w;       /* for each p, as many as there are rows */
    const char    *x;
    const int64_t *offset;  /* bytes */
    char          *z;
    int64_t        z_row;   /* bytes */
    int64_t        cols;
    bool           add;
    bool           padded;  /* whole vectors of x may be read; else only `cols` elements */
    bool           stream;  /* non-temporal stores: cols fill aligned vectors, and add is false */
    const char    *ahead;       /* the line to prefetch at the first index of k, */
    int64_t        ahead_step;  /* and bytes from one to the next */
} tsri_conv_strip;

typedef void (*tsri_conv_strip_fn)(const tsri_conv_strip *s);

/* z[i][r] = (add ? z[i][r] : 0) + the sum over p < k of w[p][r] times the element at x + i * x_step +
 * offset[p], and the bias of r, for some places i and r < kernels, which fill all vectors but the last.
 * `first` indices of k are summed from 0, then `block` at a time. Sums of one place have unit stride.
 * Prefetches one cache line for each p. */
typedef struct tsri_conv_tile {
    int64_t        k, first, block;
    const void    *w;       /* for each p, as many as vectors hold */
    const char    *x;
    int64_t        x_step;  /* bytes */
    const int64_t *offset;  /* bytes */
    char          *z;
    int64_t        z_row;   /* bytes */
    int64_t        kernels;
    const void    *bias;    /* as many as vectors hold; NULL: none */
    bool           add;
    const char    *ahead;       /* the line to prefetch at the first index of k, */
    int64_t        ahead_step;  /* and bytes from one to the next */
} tsri_conv_tile;

typedef void (*tsri_conv_tile_fn)(const tsri_conv_tile *t);

/* A window of 3 x 3 floats that slides by one, over one channel: output row h sees input rows h - top ..
 * h - top + 2, and so for columns and left. Inputs outside are 0. Rows have unit stride. */
typedef struct tsri_conv_3x3 {
    const char  *x;
    int64_t      x_row, high, wide;  /* bytes from row to row; rows and columns */
    char        *z;
    int64_t      z_row, rows, cols;
    int64_t      top, left;
    const float *w;                  /* 9 of them */
    float        bias;
    int64_t      x_ahead, z_ahead;   /* bytes to the next channel's x and z, which are prefetched */
} tsri_conv_3x3;

typedef struct tsri_conv_kernels {
    int64_t            rows;   /* of a strip, at most */
    int64_t            lanes;  /* of a vector */
    tsri_conv_strip_fn strip[TSRI_CONV_VECTORS + 1][TSRI_CONV_ROWS + 1];  /* by vectors and rows, from 1 on */

    int64_t           places, across;  /* of a tile, at most */
    tsri_conv_tile_fn tile[TSRI_CONV_ACROSS + 1][TSRI_CONV_PLACES + 1]; /* by vectors and places, from 1 on */

    /* Transposes: z[c * z_row + r elements] = element c of row r of x, for any number of both. Nothing else
     * is read or written. */
    void (*transpose)(char *z, int64_t z_row, const char *x, int64_t x_row, int64_t rows, int64_t cols);

    /* `rows` rows of `all` floats each, of which those from `ahead` on are n of x, and the others 0. */
    void (*pad)(char *z, int64_t z_row, const char *x, int64_t x_row, int64_t rows, int64_t ahead, int64_t n,
                int64_t all);

    void (*three)(const tsri_conv_3x3 *t);  /* of floats; NULL for doubles */

    /* z[i] = the sum over p < k of w[p] times the element i places after x + offset[p], for i < n. Up to two
     * vectors more are read from x, and written to z, which is scratch. */
    void (*sum_one)(void *z, const char *x, const int64_t *offset, const void *w, int64_t k, int64_t n);

    void (*fence)(void);  /* after non-temporal stores, before others read them */
} tsri_conv_kernels;

#endif
