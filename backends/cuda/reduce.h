/* reduce.h - reductions: kernels of accumulators, which do not depend on shapes or ops.
 *
 * A reduction has one or two passes. A pass accumulates the elements of every output into a state of
 * up to four words; where an output's elements are shared out to several blocks, states meet in
 * scratch memory and are merged in order. The last pass makes results of states; the first of
 * two leaves numbers for the second (its constants). */
#ifndef TSRC_REDUCE_H
#define TSRC_REDUCE_H

#include "plan.h"

namespace tsrc {

enum Accumulation {
    ACCUMULATE_SUM,
    ACCUMULATE_PROD,
    ACCUMULATE_LARGEST,
    ACCUMULATE_FIND,
    ACCUMULATE_NONZERO,
    ACCUMULATE_ABS,
    ACCUMULATE_SQUARES,
    ACCUMULATE_POWERS,
    ACCUMULATE_EXPS,
    ACCUMULATE_DEVIATIONS,
    ACCUMULATE_MOMENTS,
    ACCUMULATE_COUNT
};

/* What passes between kernels for an output. */
struct Words {
    double w[4];
};

struct ReduceArgs {
    tsrc_reduction plan;
    double *states;   /* of parts: word w of part p of output i at (p * words + w) * outputs + i, or NULL */
    Words *constants; /* what the pass before came to; NULL: none */
    Words *next;      /* where this pass leaves its constants; NULL: it is the last */
    int kind;         /* Accumulation */
    int op;           /* tsr_op_kind */
    int from, to;     /* dtypes */
    int flag;         /* which of two formats of a size; of integers: signed */
    int least, size;  /* the smallest; of magnitudes */
    int beside;       /* bytes of a result where a thread's lie side by side, aligned; 0: they do not */
    double p;         /* of norm; the correction of var */
    uint64_t mask;    /* bits that make an element not zero */
};

/* A kernel that accumulates, the one for outputs side by side, the one that merges parts, how many
 * neighbours are taken at once, the kernel for outputs side by side in words of 4 bytes, and the words of a
 * state. */
struct Reducer {
    const void *accumulate, *columns, *merge;
    int lanes;
    const void *narrow;
    int words;
};

/* Few parts are merged for neighbouring outputs beside each other, many by a block for each output. */
enum { TSRC_MOST_PARTS_BESIDE = 64, TSRC_MERGED_BESIDE = 32 };

Reducer real_reducer(Accumulation kind, tsr_dtype dtype);
Reducer integer_reducer(Accumulation kind, tsr_dtype dtype);
Reducer complex_reducer(Accumulation kind, tsr_dtype dtype);
Reducer nonzero_reducer(tsr_dtype dtype);

} // namespace tsrc

#endif
