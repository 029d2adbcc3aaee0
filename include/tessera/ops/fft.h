/* fft.h - discrete Fourier transforms.
 *
 *     forward    z[k] = scale * sum over j of x[j] e^(-2 pi i j k / n)
 *     inverse    x[j] = scale * sum over k of z[k] e^(+2 pi i j k / n)
 *
 * Rules for the whole header:
 *
 *   - f32 and c64 give c64 or f32, f64 and c128 give c128 or f64. f16, bf16 and f8 are
 *     converted to f32 first. Integers, bool and c32 are TSR_EDTYPE: cast them.
 *   - n is the length of the transform along its axis: a longer x is cropped, a shorter
 *     one counts as followed by zeros. 0 means as long as x is along the axis (for irfft
 *     and hfft, which take the first half of a spectrum: 2 * (size - 1)). Any length is
 *     fast; one with small prime factors is fastest.
 *   - Axes are negative from the end. A list of axes has naxes numbers, each axis once;
 *     lengths has as many, or is NULL: all 0. axes NULL means the last naxes axes, and
 *     naxes 0 all of them.
 *   - A real transform gives, or takes, elements 0 .. n / 2 of the spectrum, as the rest
 *     are their conjugates. An inverse ignores the imaginary parts of element 0 and, for
 *     even n, of element n / 2, which a spectrum of reals does not have.
 *   - A result that is allocated is contiguous. A given one may be x, if it fits, or
 *     overlap it. If a call over several axes runs out of memory, the contents of a given
 *     result are undefined.
 *   - The results of a lane that holds NaN or an infinity are unspecified; most are NaN.
 *     Other lanes are not affected.
 *   - The result has the same bits for every number of threads. With FFTW (TSR_FFT=fftw
 *     in the environment, if it is installed) the last bits may differ.
 *
 * TSR_EINDEX for an axis that is not there, TSR_EINVAL for one that is named twice, for a
 * negative length or an unknown norm; TSR_ESHAPE where the length comes to 0.
 */
#ifndef TESSERA_OPS_FFT_H
#define TESSERA_OPS_FFT_H

#include "../tensor.h"

TSR_BEGIN_C

/* What the sums are multiplied with; n is the product of all lengths. */
typedef enum tsr_fft_norm {
    TSR_FFT_BACKWARD = 0, /* forward 1, inverse 1 / n */
    TSR_FFT_ORTHO,        /* both 1 / sqrt(n) */
    TSR_FFT_FORWARD,      /* forward 1 / n, inverse 1 */
    TSR_FFT_NORM_MAX_ = 0x7fffffff
} tsr_fft_norm;

/* Along one axis ------------------------------------------------------------- */

/* Complex to complex; a real x counts as complex. */
TSR_API TSR_MUST_CHECK tsr_status tsr_fft(tsr_tensor **out, const tsr_tensor *x, int64_t n, int axis,
                                          tsr_fft_norm norm);
TSR_API TSR_MUST_CHECK tsr_status tsr_ifft(tsr_tensor **out, const tsr_tensor *x, int64_t n, int axis,
                                           tsr_fft_norm norm);

/* Forward, real to half a spectrum, and back. rfft of complex x is TSR_EDTYPE. */
TSR_API TSR_MUST_CHECK tsr_status tsr_rfft(tsr_tensor **out, const tsr_tensor *x, int64_t n, int axis,
                                           tsr_fft_norm norm);
TSR_API TSR_MUST_CHECK tsr_status tsr_irfft(tsr_tensor **out, const tsr_tensor *x, int64_t n, int axis,
                                            tsr_fft_norm norm);

/* The same with directions exchanged: hfft is the forward transform of half a signal whose
 * other half is its conjugate, which is real; ihfft is its inverse, and takes reals. */
TSR_API TSR_MUST_CHECK tsr_status tsr_hfft(tsr_tensor **out, const tsr_tensor *x, int64_t n, int axis,
                                           tsr_fft_norm norm);
TSR_API TSR_MUST_CHECK tsr_status tsr_ihfft(tsr_tensor **out, const tsr_tensor *x, int64_t n, int axis,
                                            tsr_fft_norm norm);

/* Along several --------------------------------------------------------------- */

/* fft and ifft along each of the axes; lengths[i] is that along axes[i]. */
TSR_API TSR_MUST_CHECK tsr_status tsr_fftn(tsr_tensor **out, const tsr_tensor *x, int naxes,
                                           const int64_t *lengths, const int *axes, tsr_fft_norm norm);
TSR_API TSR_MUST_CHECK tsr_status tsr_ifftn(tsr_tensor **out, const tsr_tensor *x, int naxes,
                                            const int64_t *lengths, const int *axes, tsr_fft_norm norm);

/* The last of the axes is the one with half a spectrum. TSR_ESHAPE if there are none. */
TSR_API TSR_MUST_CHECK tsr_status tsr_rfftn(tsr_tensor **out, const tsr_tensor *x, int naxes,
                                            const int64_t *lengths, const int *axes, tsr_fft_norm norm);
TSR_API TSR_MUST_CHECK tsr_status tsr_irfftn(tsr_tensor **out, const tsr_tensor *x, int naxes,
                                             const int64_t *lengths, const int *axes, tsr_fft_norm norm);

/* Frequencies ------------------------------------------------------------------ */

/* Which frequency each element of a spectrum stands for, in cycles per unit of d, the time
 * between samples: 0, 1, .., -2, -1 (of fft), or 0 .. n / 2 (of rfft), over n * d. For even n
 * element n / 2 is negative in fftfreq and positive in rfftfreq. Any floating dtype.
 *
 * TSR_EINVAL   n < 1, or d is 0 or not finite
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_fftfreq(tsr_tensor **out, int64_t n, double d, tsr_dtype dtype);
TSR_API TSR_MUST_CHECK tsr_status tsr_rfftfreq(tsr_tensor **out, int64_t n, double d, tsr_dtype dtype);

/* Element 0 to the middle, n / 2, of each axis in the list (naxes 0: of all), so that frequencies
 * ascend; and back. Any dtype. */
TSR_API TSR_MUST_CHECK tsr_status tsr_fftshift(tsr_tensor **out, const tsr_tensor *x, int naxes,
                                               const int *axes);
TSR_API TSR_MUST_CHECK tsr_status tsr_ifftshift(tsr_tensor **out, const tsr_tensor *x, int naxes,
                                                const int *axes);

TSR_END_C

#endif
