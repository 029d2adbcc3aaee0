/* interleave.h - interleaves the elements of several tensors, as when they are stacked on a last axis. */
#ifndef TSRI_CPU_INTERLEAVE_H
#define TSRI_CPU_INTERLEAVE_H

#include "core/status_int.h"
#include "tessera/tensor.h"

/* Element k of each of `width` sources is copied to z + k * dz, for k < n: the elements become neighbours.
 * stream: use non-temporal stores; then every z + k * dz is aligned to a cache line, and width elements
 * fill it. */
typedef void (*tsri_interleave_fn)(char *z, int64_t dz, const char *const *x, int64_t n, bool stream);

/* The same for 2 to TSRI_INTERLEAVE_SMALL sources, with a contiguous result. */
typedef void (*tsri_interleave_small_fn)(char *z, int sources, const char *const *x, int64_t n, bool stream);

enum { TSRI_INTERLEAVE_SMALL = 4, TSRI_INTERLEAVE_MOST = 16 };

typedef struct tsri_interleaver {
    tsri_interleave_fn       wide;   /* n >= width; NULL: none, here and below */
    int                      width;  /* up to TSRI_INTERLEAVE_MOST */
    tsri_interleave_small_fn small;
} tsri_interleaver;

/* By log2 of an element's bytes; filled with the table of kernels. */
extern tsri_interleaver tsri_cpu_interleavers[5];

/* n tensors of one shape and dtype as neighbours along the last dim of `out`, which touches none of them; the
 * host reaches all. False, and nothing was done, if no kernel supports it. */
bool tsri_cpu_interleave(tsr_status *s, tsr_tensor *out, int n, const tsr_tensor *const *tensors);

#endif
