/* fft_kernels.h - transforms of several lanes at once.
 *
 * Element k of lane v is at [k * lanes + v], real and imaginary parts apart. The compiler
 * vectorises over lanes. They cost nothing extra: to a pass they look like transforms that an earlier pass
 * has left. The bits of a lane's result do not depend on the other lanes, nor on their number. */
#ifndef TSRI_FFT_KERNELS_H
#define TSRI_FFT_KERNELS_H

#include "plan.h"

/* The operand in re and im, and as much scratch in re2 and im2. A transform swaps the two
 * as it needs, and leaves its result in re and im. */
typedef struct tsri_fft_buffers_f32 { float  *re, *im, *re2, *im2; } tsri_fft_buffers_f32;
typedef struct tsri_fft_buffers_f64 { double *re, *im, *re2, *im2; } tsri_fft_buffers_f64;

/* The transform of a plan, with exponent -1, in buffers of tsri_fft_room(plan).
 *
 *     complex     n complex elements, in and out
 *     from real   halved: even elements in re, odd ones in im; else elements in re, 0 in im.
 *                 Gives elements 0 .. length / 2 of the spectrum
 *     to real     takes those, as the spectrum of exponent +1; imaginary parts of the first and,
 *                 of an even length, of the last do not count. Gives what `from real` takes,
 *                 with odd elements negated. */
typedef enum tsri_fft_side { TSRI_FFT_COMPLEX, TSRI_FFT_FROM_REAL, TSRI_FFT_TO_REAL } tsri_fft_side;

typedef struct tsri_fft_kernels {
    tsr_status (*lanes_f32)(const tsri_fft_plan *plan, tsri_fft_side side, tsri_fft_buffers_f32 *b,
                            int64_t lanes);
    tsr_status (*lanes_f64)(const tsri_fft_plan *plan, tsri_fft_side side, tsri_fft_buffers_f64 *b,
                            int64_t lanes);
    /* The passes of a plan alone: a transform of length plan->by. */
    tsr_status (*passes_f64)(const tsri_fft_plan *plan, tsri_fft_buffers_f64 *b, int64_t lanes);
} tsri_fft_kernels;

/* One set for each instruction set: the same C, the same bits. */
extern const tsri_fft_kernels tsri_fft_kernels_portable, tsri_fft_kernels_avx2, tsri_fft_kernels_avx512;

/* The best that this build has and this machine runs: set with the table of kernels (cpu/sets.def). */
extern const tsri_fft_kernels *tsri_fft_kernels_used;
const tsri_fft_kernels *tsri_fft_kernels_get(void);

/* Elements of a lane in one buffer. */
static inline int64_t tsri_fft_room(const tsri_fft_plan *plan)
{
    return plan->by > plan->n ? plan->by : plan->n + 1;
}

#endif
