/* plan_join.h - many copies in one launch: rows of bytes that lie evenly apart on both sides. Plain C. */
#ifndef TSRC_PLAN_JOIN_H
#define TSRC_PLAN_JOIN_H

#include "plan.h"

TSR_BEGIN_C

enum { TSRC_PIECES = 32 }; /* of a launch */

/* A copy of rows of `run` words. */
typedef struct tsrc_piece {
    char *dst, *src;
    int64_t step[2]; /* bytes from row to row: dst, src */
    uint32_t run, total;
    tsrc_div by_run;
    uint32_t first; /* its first block */
} tsrc_piece;

typedef struct tsrc_join {
    tsrc_piece piece[TSRC_PIECES];
    int32_t n, width; /* bytes of a word */
    uint32_t blocks;
    int32_t even; /* pieces have as many blocks each, and take turns */
} tsrc_join;

/* Adds a copy of elements of `size` bytes. False: it is no such copy, or there is no room. */
bool tsrc_join_add(tsrc_join *join, const tsr_loop *loop, int size);

/* Once all are added: words and blocks. */
void tsrc_join_end(tsrc_join *join);

TSR_END_C

#endif
