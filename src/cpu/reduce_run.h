/* reduce_run.h - the state of a running reduction. */
#ifndef TSRI_REDUCE_RUN_H
#define TSRI_REDUCE_RUN_H

#include "kernels.h"

/* Dtypes that are accumulated in the same way. */
typedef enum tsri_numbers { TSRI_REALS, TSRI_COMPLEXES, TSRI_SIGNEDS, TSRI_UNSIGNEDS } tsri_numbers;

typedef struct tsri_reduction {
    tsr_op_kind     op;
    int             passes;
    tsri_acc_kind      kind[2];
    tsri_accumulate_fn accumulate[2];
    tsri_numbers    numbers;         /* what x's are */
    bool            bools;           /* x's elements are: a search ends at the first that is set, or is not */
    bool            complex_result;
    bool            least, size;     /* as in tsri_strip */
    uint64_t        flip;
    int64_t         bytes;           /* of x's elements */
    int64_t         wide;            /* of the elements that the kernels read */
    tsri_widen_fn   widen;           /* NULL: kernels read x's elements */
    tsri_tile_fn    cast;            /* the same for contiguous rows; NULL: none */
    tsri_narrow_fn  narrow;          /* from finalised states to the result */
    tsri_tile_fn    round;           /* the same for results that lie `rounded` bytes apart; NULL: none */
    int64_t         rounded;
    tsri_reduce_short_fn reduce_short; /* NULL: states are needed */
    bool            any_column;      /* it takes columns of any length */
    bool            rescales;        /* results that overflowed on the way are computed again, scaled */
    double          p;               /* params->a */
    int64_t         count;           /* elements of one output */
    int64_t         times;           /* how often each element of the reduced nest counts (broadcast dims) */
    bool            by_columns;      /* strips have rows */
    int64_t         joined;          /* rows that are joined to one long row */
    int64_t         start;           /* bytes from an output's first element to the reduced nest's base */
    int             parts, part_dim;
    tsri_loop       reduced;         /* over the elements of one output */
    tsri_loop       outer;            /* over the outputs: the result, and x where its elements begin */
    tsri_dim        side;            /* outputs of one block, if they are not in `outer` */
} tsri_reduction;

/* A block of outputs, `across` bytes apart in x. */
typedef struct tsri_block {
    const tsri_reduction *r;
    const tsri_states *k;
    int                   pass;
    char                 *x;
    int64_t               width, across;
    const char           *next;          /* x of the next block; NULL: none */
} tsri_block;

/* The loop over all dims but those in `axes`, of the result and x (reduce_run.c). */
void tsri_build_outer(tsri_loop *loop, const tsr_tensor *z, const tsr_tensor *x, uint32_t axes,
                      bool keepdims);

/* reduce_states.c ------------------------------------------------------------------- */

/* Memory for the states of `width` outputs, at `words`. */
enum { TSRI_STATE_WORDS = 4 };
static inline tsri_states tsri_states_in(void *words, int64_t width)
{
    double *f = words;
    return (tsri_states){ .f = { f, f + width, f + 2 * width, f + 3 * width } };
}

/* Those from output `first` on. */
static inline tsri_states tsri_states_from(const tsri_states *g, int64_t first)
{
    return (tsri_states){ .f = { g->f[0] + first, g->f[1] + first, g->f[2] + first, g->f[3] + first } };
}

/* Initial values: no elements accumulated. */
void tsri_states_begin(tsri_states *g, tsri_acc_kind kind, tsri_numbers numbers, int64_t width);

/* Merges into a the states b of the elements that follow. */
void tsri_states_merge(tsri_states *a, const tsri_states *b, tsri_acc_kind kind, tsri_numbers numbers,
                       int64_t width);

/* As if every element had been accumulated that many times. */
void tsri_states_repeat(tsri_states *g, tsri_acc_kind kind, tsri_numbers numbers, int64_t width,
                        int64_t times);

/* k of the first pass, and k of the second pass from the states of the first. */
void tsri_states_plain(tsri_states *k, tsri_acc_kind kind, int64_t width);
void tsri_states_constants(tsri_states *k, const tsri_states *g, const tsri_reduction *r, int64_t width);

/* Writes the results to z, `step` bytes apart. Overwrites g. */
void tsri_states_finish(const tsri_reduction *r, char *z, int64_t step, int64_t width, tsri_states *g,
                        const tsri_states *k);

/* reduce_scaled.c --------------------------------------------------------------------- */

/* Are results to be checked and computed again? Those of f64 and c128, of ops that may overflow on the
 * way. */
bool tsri_scaled_is_for(const tsr_op *op);

/* May one of `width` results, `step` bytes apart, be wrong because of an overflow or underflow? */
bool tsri_scaled_needed(const tsri_reduction *r, const char *z, int64_t step, int64_t width);

/* Computes those of a block's results again. */
void tsri_scaled_redo(const tsri_block *b, char *z, int64_t step);

/* reduce_short.c ------------------------------------------------------------------------ */

/* Chooses r->reduce_short. Call it last. */
void tsri_reduce_short_plan(tsri_reduction *r, tsr_dtype dtype);

/* Outputs along a dim of the result and x. False, and nothing done, if they need states. */
bool tsri_reduce_short_run(const tsri_reduction *r, const char *x, char *z, const tsri_dim *along);

/* reduce_walk.c ---------------------------------------------------------------------- */

enum { TSRI_JOINED = 256 };  /* most elements of a joined row */

/* How many outputs are accumulated at a time. */
int64_t tsri_walk_side(const tsri_reduction *r);

/* Accumulates all elements of the nest into g. The first has index `at` among those of its output. */
void tsri_walk(tsri_states *g, const tsri_block *b, const tsri_loop *nest, int64_t at);

#endif
