/* fft.h - what surrounds a transform of cuFFT: numbers are scaled, and made to be a spectrum of reals. */
#ifndef TSRC_FFT_H
#define TSRC_FFT_H

#include "cuda.h"

namespace tsrc {

/* n complex numbers, side by side: the real parts times `re`, the imaginary ones times `im`. Of real numbers
 * the same factor is given twice, and half as many. A number left over: odd. */
struct ScaleArgs {
    void *data;
    int64_t n;
    double re, im;
    int32_t wide; /* of f64 */
    int32_t odd;
};

tsr_status queue_scale(const Work &w, const ScaleArgs &a);

/* Lanes of `length` complex numbers: imaginary parts become 0 in the first, and in the last if n is even,
 * and change sign elsewhere if so asked. */
struct SpectrumArgs {
    void *data;
    int64_t lanes, length;
    int32_t even, negate, wide;
};

tsr_status queue_spectrum(const Work &w, const SpectrumArgs &a);

} // namespace tsrc

#endif
