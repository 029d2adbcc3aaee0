/* piece.h - what a copy may tell the CPU's backend by its params: it is a piece of a result of so many
 * bytes, which is written as a whole. Other backends need not look. */
#ifndef TSRI_PIECE_H
#define TSRI_PIECE_H

#include <stdint.h>

typedef struct tsri_piece {
    int64_t whole;
} tsri_piece;

#endif
