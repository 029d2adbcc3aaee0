/* fft_int.h - the rules of the Fourier ops for their results and costs (traits.c). */
#ifndef TSRI_OPS_FFT_INT_H
#define TSRI_OPS_FFT_INT_H

#include "dispatch.h"

tsr_status tsri_infer_fft(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                          const void *params);

/* n log2 n for each lane, counted in real numbers of the real side. */
double tsri_fft_work(const tsr_desc *const *in, const tsr_desc *out, const void *params);

#endif
