/* stage.h - tiles of any steps and dtypes for kernels that need contiguous rows of their own dtype. */
#ifndef TSRI_CPU_STAGE_H
#define TSRI_CPU_STAGE_H

#include "kernels.h"

/* How elements of one dtype become those of another. */
typedef struct tsri_cast {
    tsri_tile_fn   fn;      /* its params are the tsri_cast; rows as for elementwise. NULL: no cast */
    tsri_widen_fn  widen;   /* where there is no kernel for the two dtypes */
    tsri_narrow_fn narrow;
    int64_t        size;    /* of a converted element */
} tsri_cast;

typedef struct tsri_stage {
    tsri_tile_fn     fn;
    const void      *params;
    int              nop;
    int64_t          size[TSRI_MAX_OPERANDS];  /* of the operands' elements in memory */
    const tsri_cast *cast;                     /* of each operand, before fn sees it; NULL: none */
} tsri_stage;

/* row_step[0] of a tile that is a part of a longer row, but not its last part. The kernel need not fence its
 * non-temporal stores, and may prefetch operands row_step bytes ahead. */
enum { TSRI_STAGE_CONTINUES = -1 };

/* Are operands plain? That is, contiguous along the innermost dim or repeated there; the result must be
 * contiguous. */
bool tsri_stage_is_plain(const tsri_loop *loop, const int64_t *size);

/* Moves the dim along which an operand that is not plain is contiguous next to the
 * innermost, so that tiles hold blocks of it. */
void tsri_stage_order(tsri_loop *loop, const int64_t *size);

/* The tile in blocks: operands that are not plain are packed into a buffer in the first level cache, those
 * with a cast are converted there, and a result that is not plain is unpacked from there. params is a
 * tsri_stage. */
void tsri_stage_tile(const tsri_tile *tile, const void *params);

#endif
