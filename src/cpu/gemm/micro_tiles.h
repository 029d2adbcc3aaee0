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

#endif
