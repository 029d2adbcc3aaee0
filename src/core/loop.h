/* loop.h - walking strided tensors; nothing else in the library does that.
 *
 * A kernel is not given shapes, but a tile: rows x cols elements, with one
 * byte step per operand in each direction. tsri_loop_build() reduces any set of
 * equally shaped operands to the smallest equivalent loop nest:
 *
 *     drop      dims of size 1
 *     flip      dims the lead operand walks backwards
 *     sort      dims so that the lead operand's largest step is outermost
 *     merge     neighbours that every operand walks as one
 *
 * and tsri_loop_run() walks what is left, two innermost dims at a time. An
 * ordered loop (lead TSRI_ORDERED) only drops and merges, so that elements are
 * met in row-major order of their indices.
 *
 * A broadcast input or a reduced output is an operand with step 0: the nest
 * needs no special case for either.
 *
 * LIMIT: does not block for cache; operands of different memory orders are slow
 * unless the kernel walks its tile in blocks. Overlap is checked by overlap.c.
 */
#ifndef TSRI_LOOP_H
#define TSRI_LOOP_H

#include "status_int.h"
#include "threads_int.h"

enum { TSRI_MAX_OPERANDS = 4, TSRI_ORDERED = -1 };

typedef struct tsri_operand {
    char          *data;
    const int64_t *stride; /* elements, one per dim */
    int64_t        size;   /* bytes of one element */
} tsri_operand;

typedef struct tsri_dim {
    int64_t n;
    int64_t step[TSRI_MAX_OPERANDS]; /* bytes */
} tsri_dim;

typedef struct tsri_loop {
    bool     stream;                  /* given to every tile */
    int      nop;
    int      ndim;                    /* dim[0] is outermost */
    char    *base[TSRI_MAX_OPERANDS];
    tsri_dim dim[TSR_MAX_NDIM];
} tsri_loop;

typedef struct tsri_tile {
    bool    stream;  /* the result is larger than the caches: write around them, if the kernel can */
    int64_t rows, cols;
    char   *ptr[TSRI_MAX_OPERANDS];
    int64_t row_step[TSRI_MAX_OPERANDS];
    int64_t col_step[TSRI_MAX_OPERANDS];
} tsri_tile;

typedef void (*tsri_tile_fn)(const tsri_tile *tile, const void *params);

/* A kernel that runs on many threads: tiles are independent of each other. */
typedef struct tsri_kernel {
    tsri_tile_fn fn;
    const void  *params;
    tsri_needs   rows, cols;  /* what fn needs of a tile; zeros: it takes any */
} tsri_kernel;

/* lead: the operand whose order in memory is walked (the output of elementwise
 * ops, the input of reductions), or TSRI_ORDERED. */
void tsri_loop_build(tsri_loop *loop, int ndim, const int64_t *shape, int nop, const tsri_operand *op,
                     int lead);

void tsri_loop_run(const tsri_loop *loop, tsri_tile_fn fn, const void *params);

/* Elements in the nest. */
int64_t tsri_loop_count(const tsri_loop *loop);

/* Do the tiles of the nest satisfy the kernel's needs? To be called before the kernel is run: if
 * they do, so does every part that tsri_loop_run_parallel cuts. */
bool tsri_loop_meets(const tsri_loop *loop, const tsri_kernel *kernel);

/* Run the nest split over threads: at least `grain` elements a part, and what the kernel needs. */
tsr_status tsri_loop_run_parallel(const tsri_loop *loop, const tsri_kernel *kernel, int64_t grain);

/* A walk that stops when the visitor returns false, for searching. Returns
 * false if it was stopped. */
typedef bool (*tsri_visit_fn)(const tsri_tile *tile, void *context);
bool tsri_loop_visit(const tsri_loop *loop, tsri_visit_fn fn, void *context);

#endif
