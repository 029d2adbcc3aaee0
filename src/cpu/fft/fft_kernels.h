/* fft_kernels.h - transforms of several lanes at once.
 *
 * Element k of lane v is at [k * lanes + v], real and imaginary parts apart. Lanes cost nothing extra: to a
 * pass they look like transforms that an earlier pass has left. The bits of a lane's result do not depend on
 * the other lanes, nor on their number. Long plans (plan->fine) take one lane at a time. */
#ifndef TSRI_FFT_KERNELS_H
#define TSRI_FFT_KERNELS_H

#include "plan.h"

/* The operand in re and im, and as much scratch in re2 and im2. A transform swaps the two
 * as it needs, and leaves its result in re and im. x and z, if not NULL, replace the operand and the result
 * of one lane: pairs, imaginary parts times x_im, and parts times z_re and z_im (tsri_fft_takes_pairs). */
typedef struct tsri_fft_buffers_f32 {
    float       *re, *im, *re2, *im2;
    const float *x;
    float       *z;
    float        x_im, z_re, z_im;
} tsri_fft_buffers_f32;

typedef struct tsri_fft_buffers_f64 {
    double       *re, *im, *re2, *im2;
    const double *x;
    double       *z;
    double        x_im, z_re, z_im;
} tsri_fft_buffers_f64;

/* The transform of a plan, with exponent -1, in buffers of tsri_fft_room(plan).
 *
 *     complex     n complex elements, in and out
 *     from real   halved: even elements in re, odd ones in im; else elements in re, 0 in im.
 *                 Gives elements 0 .. length / 2 of the spectrum
 *     to real     takes those, as the spectrum of exponent +1; imaginary parts of the first and,
 *                 of an even length, of the last do not count. Gives what `from real` takes,
 *                 with odd elements negated. */
typedef enum tsri_fft_side { TSRI_FFT_COMPLEX, TSRI_FFT_FROM_REAL, TSRI_FFT_TO_REAL } tsri_fft_side;

/* Pairs of a tensor, and the real and imaginary parts of lanes: count elements of each. Pairs are neighbours
 * along a lane, or from lane to lane. */
typedef struct tsri_fft_pairs {
    char   *tensor;
    int64_t along, lane;        /* steps in it, in bytes */
    int64_t count, lanes;
    void   *re, *im, *re2, *im2; /* parts, and as much scratch */
    double  f_re, f_im;         /* what parts are multiplied with on the way */
} tsri_fft_pairs;

typedef struct tsri_fft_kernels {
    tsr_status (*lanes_f32)(const tsri_fft_plan *plan, tsri_fft_side side, tsri_fft_buffers_f32 *b,
                            int64_t lanes);
    tsr_status (*lanes_f64)(const tsri_fft_plan *plan, tsri_fft_side side, tsri_fft_buffers_f64 *b,
                            int64_t lanes);
    /* The passes of a plan alone: a transform of length plan->by. */
    tsr_status (*passes_f64)(const tsri_fft_plan *plan, tsri_fft_buffers_f64 *b, int64_t lanes);
    /* From a tensor, where f_re is 1, and to it. By type: float, double. */
    void (*take[2])(const tsri_fft_pairs *p);
    void (*give[2])(const tsri_fft_pairs *p);
} tsri_fft_kernels;

/* One set for each instruction set: the same C, the same bits. */
extern const tsri_fft_kernels tsri_fft_kernels_portable, tsri_fft_kernels_avx2, tsri_fft_kernels_avx512;

/* The best that this build has and this machine runs: set with the table of kernels (cpu/sets.def). */
extern const tsri_fft_kernels *tsri_fft_kernels_used;
const tsri_fft_kernels *tsri_fft_kernels_get(void);

/* Elements of a lane in one buffer, which has TSRI_FFT_SPILL numbers more in all. */
static inline int64_t tsri_fft_room(const tsri_fft_plan *plan)
{
    const int64_t between = plan->fine ? plan->rows * TSRI_FFT_GROUP : 0;
    return (plan->by > plan->n ? plan->by : plan->n + 1) + between;
}

/* From row to row between the levels. Those of long plans would evict each other a power of two apart. */
static inline int64_t tsri_fft_apart(const tsri_fft_plan *plan)
{
    return plan->by / plan->rows + (plan->fine ? TSRI_FFT_GROUP : 0);
}

/* Can one lane be read from pairs, and written to them? On a real side they are even and odd elements. */
static inline bool tsri_fft_takes_pairs(const tsri_fft_plan *plan, tsri_fft_side side)
{
    const tsri_fft_pass *first = &plan->pass[0];
    if (side == TSRI_FFT_TO_REAL) return plan->halved && plan->n / 2 >= TSRI_FFT_SPILL;
    return !tsri_fft_convolves(plan) && (side == TSRI_FFT_COMPLEX || plan->halved) &&
           (plan->fine || (plan->rows == 1 && plan->npasses > 0 && first->radix == 8 && first->m >= 8));
}

static inline bool tsri_fft_gives_pairs(const tsri_fft_plan *plan, tsri_fft_side side)
{
    if (side == TSRI_FFT_FROM_REAL) return plan->halved && plan->n / 2 >= TSRI_FFT_SPILL;
    return !tsri_fft_convolves(plan) && (side == TSRI_FFT_COMPLEX || plan->halved) &&
           (plan->fine || (plan->npasses > 1 && plan->by / plan->pass[plan->npasses - 1].radix >= 8));
}

#endif
