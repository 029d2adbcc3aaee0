/* sort_words.h - what the files of sort kernels share before their words of vectors. */
#ifndef TSRI_SIMD_SORT_WORDS_H
#define TSRI_SIMD_SORT_WORDS_H

#include "core/mem.h"
#include "cpu/kernels.h"
#include "cpu/sort.h"

#define PRAGMA(x) _Pragma(#x)
#define UNROLL(n) PRAGMA(GCC unroll n)

/* n, between 0 and `most`. */
V int64_t held(int64_t n, int64_t most) { return n < 0 ? 0 : n < most ? n : most; }

#endif
