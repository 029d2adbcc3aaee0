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

/* The most inputs that an output is made of; 1 of nearest. */
int64_t tsri_resample_taps(const tsri_resample *r);

/* Output o is the sum of w[i] * input[*first + i], for i below what is returned. Weights are not 0 at either
 * end. 0, where a step that was given leads an antialiased window past the inputs. */
int64_t tsri_resample_at(const tsri_resample *r, int64_t o, int64_t *first, double *w);

/* The same of every output: first[o], and weights from w[o * taps] on, followed by zeros. count: how many
 * weights there are; NULL: nobody asks. Returns whether every output is the input of its number. */
bool tsri_resample_table(const tsri_resample *r, int64_t *first, int64_t *count, double *w);

#endif
