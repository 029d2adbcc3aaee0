/* reduce_run.h - a reduction under way. */
#ifndef TSRI_REDUCE_RUN_H
#define TSRI_REDUCE_RUN_H

#include "kernels.h"

/* Dtypes that are collected alike. */
typedef enum tsri_numbers { TSRI_REALS, TSRI_COMPLEXES, TSRI_SIGNEDS, TSRI_UNSIGNEDS } tsri_numbers;

typedef struct tsri_reduction {
    tsr_op_kind     op;
    int             passes;
    tsri_acc_kind    kind[2];
    tsri_accumulate_fn collect[2];
    tsri_numbers    numbers;         /* what x's are */
    bool            complex_result;
    bool            least, size;     /* as in tsri_strip */
    uint64_t        flip;
    int64_t         bytes;           /* of x's elements */
    int64_t         wide;            /* and of those that the kernels see */
    tsri_widen_fn   widen;           /* NULL: they are the same */
    tsri_tile_fn    cast;            /* the same for rows that run on; NULL: none */
    tsri_narrow_fn  narrow;          /* what the states come to, to the result */
    tsri_tile_fn    round;           /* the same for numbers that lie `rounded` bytes apart; NULL: none */
    int64_t         rounded;
    tsri_reduce_short_fn     few;             /* NULL: there are states */
    bool            rescales;        /* results whose steps left the range are made again */
    double          p;               /* params->a */
    int64_t         count;           /* elements that come to one output */
    int64_t         times;           /* how often each of the reduced nest's counts */
    bool            by_columns;      /* strips have rows */
    int64_t         fold;            /* rows that are taken as one long row */
    int64_t         start;           /* bytes from an output's first element to where the reduced nest begins */
    int             parts, part_dim;
    tsri_loop       reduced;         /* over the elements of one output */
    tsri_loop       kept;            /* over the outputs: the result, and x where its elements begin */
    tsri_dim        side;            /* outputs of one block, where they are not in `kept` */
} tsri_reduction;

/* A block of outputs, `across` bytes apart in x. */
typedef struct tsri_block {
    const tsri_reduction *r;
    const tsri_states *k;
    int                   pass;
    char                 *x;
    int64_t               width, across;
    const char           *next;          /* x of the block that comes next; NULL: none */
} tsri_block;

/* The loop over all dims but those in `axes`, of the result and x (reduce_run.c). */
void tsri_build_outer(tsri_loop *loop, const tsr_tensor *z, const tsr_tensor *x, uint32_t axes, bool keepdims);

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

/* Nothing collected yet. */
void tsri_states_begin(tsri_states *g, tsri_acc_kind kind, tsri_numbers numbers, int64_t width);

/* a takes in what b collected of the elements that come next. */
void tsri_states_merge(tsri_states *a, const tsri_states *b, tsri_acc_kind kind, tsri_numbers numbers,
                       int64_t width);

/* Every element collected was met that many times. */
void tsri_states_repeat(tsri_states *g, tsri_acc_kind kind, tsri_numbers numbers, int64_t width, int64_t times);

/* What the first pass needs as k, and what the second needs of the first. */
void tsri_states_plain(tsri_states *k, tsri_acc_kind kind, int64_t width);
void tsri_states_constants(tsri_states *k, const tsri_states *g, const tsri_reduction *r, int64_t width);

/* The results, to z, `step` bytes apart. Uses g up. */
void tsri_states_finish(const tsri_reduction *r, char *z, int64_t step, int64_t width, tsri_states *g,
                        const tsri_states *k);

/* reduce_scaled.c --------------------------------------------------------------------- */

/* Can results be made again? Those of f64 and c128, of an op whose steps may leave the range of doubles. */
bool tsri_scaled_is_for(const tsr_op *op);

/* Is there a result, of `width` that lie `step` bytes apart, that looks as if that had happened? */
bool tsri_scaled_needed(const tsri_reduction *r, const char *z, int64_t step, int64_t width);

/* Makes those of a block's results again. */
void tsri_scaled_redo(const tsri_block *b, char *z, int64_t step);

/* reduce_short.c ------------------------------------------------------------------------ */

/* Chooses r->few, when all else is chosen. */
void tsri_reduce_short_plan(tsri_reduction *r, tsr_dtype dtype);

/* Outputs along a dim of the result and x. False, and nothing done, if they need states. */
bool tsri_reduce_short_run(const tsri_reduction *r, const char *x, char *z, const tsri_dim *along);

/* reduce_walk.c ---------------------------------------------------------------------- */

enum { TSRI_JOINED = 256 };  /* elements of a folded row, at most */

/* How many outputs are collected at a time. */
int64_t tsri_walk_side(const tsri_reduction *r);

/* Collects all elements of the nest, of which the first is its output's element `at`, into g. */
void tsri_walk(tsri_states *g, const tsri_block *b, const tsri_loop *nest, int64_t at);

#endif
