/* wide.h - loops that the compiler makes for several instruction sets, chosen when the program starts. */
#ifndef TSR_CLI_WIDE_H
#define TSR_CLI_WIDE_H

#include <stdint.h>

/* Where the loader can choose. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GLIBC__) && defined(__GNUC__) && \
    !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if __GNUC__ >= 12 /* vectors of 64 bytes of shorts and bytes too */
#define CLI_WIDE __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define CLI_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#else
#define CLI_WIDE
#endif

/* For functions in which the compiler may fuse products and sums: squares of floats of 16 bits are exact in
 * double, so fusing does not change a bit. */
#if defined(__GNUC__) && !defined(__clang__)
#define CLI_FUSED __attribute__((optimize("fp-contract=fast")))
#else
#define CLI_FUSED
#endif

/* Of a loop: the sums and extremes that it makes, which may be made in any order. */
#define CLI_PRAGMA(text) _Pragma(#text)
#if defined(TSR_CLI_SIMD)
#define CLI_SIMD(reductions) CLI_PRAGMA(omp simd reductions)
#else
#define CLI_SIMD(reductions)
#endif

/* The upper half of a word, a CLI_BF16 or a CLI_F16, as a float; of a CLI_F16 this is 2^-112 times it. */
#define CLI_BF16 0, 0xffff0000u
#define CLI_F16 3, 0x8fffe000u
static inline float cli_upper_half(uint32_t word, int shift, uint32_t mask)
{
    const union { uint32_t bits; float f; } u = { (uint32_t)((int32_t)word >> shift) & mask };
    return u.f;
}

/* The lower and the upper byte of an int16_t or uint16_t as a short of its sign. */
#define CLI_LOWER_BYTE(pair, both) (int16_t)((pair)((uint32_t)(both) << 8) >> 8)
#define CLI_UPPER_BYTE(both) (int16_t)((both) >> 8)

#endif
