/* resample.h - an axis of another length: which inputs each output is made of, and with which weights.
 *
 * The rules are PyTorch's. Coordinates are computed in f64, but for nearest: there a rounding decides which
 * element is taken, and PyTorch's is that of f32. */
#ifndef TSRI_RESAMPLE_H
#define TSRI_RESAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/op.h"

typedef struct tsri_resample {
    int64_t in, out;   /* both at least 1 */
    int     mode;      /* a tsr_interpolation */
    bool    align_corners, antialias;
    double  step;      /* inputs from one output to the next */
} tsri_resample;

/* Spatial dim d of a resize from `in` elements. */
tsri_resample tsri_resample_of(const tsr_resize_params *p, int d, int64_t in);

/* No output depends on more inputs than this; 1 for nearest. */
int64_t tsri_resample_taps(const tsri_resample *r);

/* Output o is the sum of w[i] * input[*first + i] over i below the number returned. The first and the last
 * weight are not 0. Returns 0 if an antialiased window lies beyond the inputs, as a given scale may cause.
 * w has room for tsri_resample_taps() numbers. */
int64_t tsri_resample_at(const tsri_resample *r, int64_t o, int64_t *first, double *w);

/* The same for every output: first[o], and weights from w[o * taps] on, followed by zeros. count, if not
 * NULL, gets the number of weights of each. Returns whether output o is input o for all o, with weight 1. */
bool tsri_resample_table(const tsri_resample *r, int64_t *first, int64_t *count, double *w);

#endif
