/* plan.h - how a length is transformed, and the tables for it.
 *
 * A length whose prime factors are small is transformed in passes, one for each factor. Where passes along
 * one lane would not fill vectors, and where the lane would not stay in the cache, there are two levels: the
 * lane is a matrix of by / rows x rows, whose columns are transformed, multiplied with twiddles and
 * transposed; then columns are transformed again.
 * Any other is a convolution with a chirp (Bluestein), by passes of a length that has
 * small factors. A real transform of an even length is a complex one of half the length
 * and a step that unpacks it.
 *
 * The last few plans used are cached in static memory; those that exceed it are made for each call. */
#ifndef TSRI_FFT_PLAN_H
#define TSRI_FFT_PLAN_H

#include "core/status_int.h"

enum {
    TSRI_FFT_PASSES    = 40, /* 3^34 is beyond any length */
    TSRI_FFT_RADIX_MAX = 61, /* the largest prime that has a pass */
    TSRI_FFT_LONG      = 1 << 17, /* the least length that is transformed group by group */
    TSRI_FFT_GROUP     = 16, /* rows of such a group */
    TSRI_FFT_SPILL     = 8   /* numbers past the end of a buffer or table that vectors may touch */
};

/* Table entries are offsets in elements of the compute type. Pairs of tables follow each
 * other: all real parts, then all imaginary ones. */
typedef struct tsri_fft_pass {
    int32_t radix;
    int64_t m;        /* length of the transforms left after it; radix * m before it */
    int64_t twiddles; /* e^(-2 pi i k p / (radix m)): p in 0 .. m - 1 for each k in 1 .. radix - 1 */
    int64_t roots;    /* of radices without a pass of their own: cos and sin of 2 pi k / radix */
} tsri_fft_pass;

typedef struct tsri_fft_plan {
    int64_t       length;  /* of what is asked for */
    bool          real;    /* is a side of it real? */
    bool          is_double, wide; /* in tensors; in what is computed. Else float */
    int64_t       n;       /* of the complex transform: length, or half of it */
    int64_t       by;      /* length that the passes have: n, or that of the convolution */
    bool          halved;
    int64_t       half;    /* table of e^(-2 pi i k / length), k in 0 .. n / 2, if halved */
    int64_t       chirp;   /* table of e^(-pi i k^2 / n), k in 0 .. n - 1, if by != n */
    int64_t       filter;  /* table of the transform of conj(chirp), of length by, over by */
    int64_t       rows;    /* of two levels; 1: there is one */
    int64_t       between; /* table of twiddles between the levels: e^(-2 pi i k v / by) at k * rows + v. Of
                            * long plans for the first row of each group, at 4 * (group * (by / rows) + k):
                            * real part, what is left of it, and the imaginary ones */
    int64_t       fine;    /* if long: for row v of a group, less 1, at k * TSRI_FFT_GROUP + v; else 0 */
    int           npasses, first; /* in all, and of the first level */
    tsri_fft_pass pass[TSRI_FFT_PASSES];
    void         *table;
    size_t        bytes;   /* of it */
    int           slot;    /* of the cache; -1: not cached */
} tsri_fft_plan;

/* A plan for a length >= 1, in double if the storage type is double or the length
 * needs a convolution. *out is a cached one, or *mine, filled in. TSR_ENOMEM. */
tsr_status tsri_fft_plan_get(const tsri_fft_plan **out, tsri_fft_plan *mine, int64_t length, bool real,
                             bool is_double);
void       tsri_fft_plan_put(const tsri_fft_plan *plan);

static inline bool tsri_fft_convolves(const tsri_fft_plan *plan) { return plan->by != plan->n; }

#endif
