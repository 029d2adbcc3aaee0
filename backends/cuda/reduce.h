/* reduce.h - reductions: what is accumulated, by kernels that know neither shapes nor ops.
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
    ACCUMULATE_COUNT
};

/* What passes between kernels for an output. */
struct Words {
    double w[4];
};

struct ReduceArgs {
    tsrc_reduction plan;
    Words *states;    /* of parts: part p of output i at p * outputs + i; NULL: results */
    Words *constants; /* what the pass before came to; NULL: none */
    Words *next;      /* where this pass leaves its constants; NULL: it is the last */
    int kind;         /* Accumulation */
    int op;           /* tsr_op_kind */
    int from, to;     /* dtypes */
    int flag;         /* which of two formats of a size; of integers: signed */
    int least, size;  /* the smallest; of magnitudes */
    double p;         /* of norm; the correction of var */
    uint64_t mask;    /* bits that make an element not zero */
};

/* A kernel that accumulates, the one for outputs side by side, the one that merges parts, and how many
 * neighbours are taken at once. */
struct Reducer {
    const void *accumulate, *columns, *merge;
    int lanes;
};

enum { TSRC_FEW_PARTS = 64 }; /* that a thread merges by itself */

Reducer real_reducer(Accumulation kind, tsr_dtype dtype);
Reducer integer_reducer(Accumulation kind, tsr_dtype dtype);
Reducer complex_reducer(Accumulation kind, tsr_dtype dtype);
Reducer nonzero_reducer(tsr_dtype dtype);

} // namespace tsrc

#endif
