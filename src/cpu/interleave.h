/* interleave.h - tensors whose elements become neighbours in the result, as when they are stacked on a last axis. */
#ifndef TSRI_CPU_INTERLEAVE_H
#define TSRI_CPU_INTERLEAVE_H

#include "core/status_int.h"
#include "tessera/tensor.h"

/* Element k of n in each of `width` sources: they become neighbours at z + k * dz. stream: around the
 * caches; every place is aligned to a line then, and width elements fill it. */
typedef void (*tsri_interleave_fn)(char *z, int64_t dz, const char *const *x, int64_t n, bool stream);

/* The same of 2 to TSRI_INTERLEAVE_SMALL sources, where neighbours follow neighbours. */
typedef void (*tsri_interleave_small_fn)(char *z, int sources, const char *const *x, int64_t n, bool stream);

enum { TSRI_INTERLEAVE_SMALL = 4, TSRI_INTERLEAVE_MOST = 16 };

typedef struct tsri_interleaver {
    tsri_interleave_fn     many;   /* n >= width; NULL: none, here and below */
    int                    width;  /* up to TSRI_INTERLEAVE_MOST */
    tsri_interleave_small_fn few;
} tsri_interleaver;

/* By log2 of an element's bytes; filled with the table of kernels. */
extern tsri_interleaver tsri_cpu_interleavers[5];

/* n tensors of one shape and dtype as neighbours along the last dim of `out`, which touches none of them.
 * *done is false if there is no fast way, and nothing was done then. */
tsr_status tsri_cpu_interleave(tsr_tensor *out, int n, const tsr_tensor *const *tensors, bool *done);

#endif
