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

/* Transposes each four rows within lanes of 16 bytes: vector i of four has word i of each lane. */
V void transpose_fours_in_lanes(vi *z, const vi *a, int rows)
{
    UNROLL(4)
    for (int i = 0; i < rows; i += 4) {
        const vi low = vi_un_low32(a[i], a[i + 1]), high = vi_un_high32(a[i], a[i + 1]);
        const vi low2 = vi_un_low32(a[i + 2], a[i + 3]), high2 = vi_un_high32(a[i + 2], a[i + 3]);
        z[i] = vi_un_low64(low, low2);
        z[i + 1] = vi_un_high64(low, low2);
        z[i + 2] = vi_un_low64(high, high2);
        z[i + 3] = vi_un_high64(high, high2);
    }
}

#endif
