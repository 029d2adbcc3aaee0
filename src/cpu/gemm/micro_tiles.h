/* micro_tiles.h - sizes of micro-tiles, and lists of them, for micro-kernels of every instruction set. */
#ifndef TSRI_MICRO_TILES_H
#define TSRI_MICRO_TILES_H

#include "cpu/unroll.h"

enum { ACROSS = 4 };  /* vectors of a micro-tile's row, at most */

/* X(1) ... X(n) */
#define TO_3(X) X(1) X(2) X(3)
#define TO_4(X) TO_3(X) X(4)
#define TO_6(X) TO_4(X) X(5) X(6)
#define TO_7(X) TO_6(X) X(7)
#define TO_8(X) TO_7(X) X(8)
#define TO_12(X) TO_8(X) X(9) X(10) X(11) X(12)
#define TO_14(X) TO_12(X) X(13) X(14)
#define TO_16(X) TO_14(X) X(15) X(16)

/* Micro-kernels of 1 to n rows and c vectors, by the suffix of their names: entries of a table. */
#define KERNEL(r, c, suffix) ISA(microkernel_##r##x##c##_##suffix),
#define KERNELS_3(c, suffix) KERNEL(1, c, suffix) KERNEL(2, c, suffix) KERNEL(3, c, suffix)
#define KERNELS_6(c, suffix) \
    KERNELS_3(c, suffix) KERNEL(4, c, suffix) KERNEL(5, c, suffix) KERNEL(6, c, suffix)
#define KERNELS_8(c, suffix) KERNELS_6(c, suffix) KERNEL(7, c, suffix) KERNEL(8, c, suffix)
#define KERNELS_10(c, suffix) KERNELS_8(c, suffix) KERNEL(9, c, suffix) KERNEL(10, c, suffix)
#define KERNELS_12(c, suffix) KERNELS_10(c, suffix) KERNEL(11, c, suffix) KERNEL(12, c, suffix)
#define KERNELS_14(c, suffix) KERNELS_12(c, suffix) KERNEL(13, c, suffix) KERNEL(14, c, suffix)
#define KERNELS_16(c, suffix) KERNELS_14(c, suffix) KERNEL(15, c, suffix) KERNEL(16, c, suffix)

/* A table of those of one to three vectors of `lanes`. */
#define KERNELS_12_12_8(lanes, suffix) \
    { { (lanes), 12, { NULL, KERNELS_12(1, suffix) } }, \
      { 2 * (lanes), 12, { NULL, KERNELS_12(2, suffix) } }, \
      { 3 * (lanes), 8, { NULL, KERNELS_8(3, suffix) } }, { 0 } }

#endif
