/* sizes.h - the smaller and the larger of two sizes, and in how many pieces n elements are cut. */
#ifndef TSRI_SIZES_H
#define TSRI_SIZES_H

#include <stdint.h>

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t pieces(int64_t n, int64_t size) { return (n + size - 1) / size; }

#endif
