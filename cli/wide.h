/* wide.h - loops that the compiler makes for several instruction sets, chosen when the program starts. */
#ifndef TSR_CLI_WIDE_H
#define TSR_CLI_WIDE_H

#include <stdint.h>

/* Where the loader can choose. Loops keep LANES sums apart, so that they can become vectors. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GLIBC__) && defined(__GNUC__) && \
    !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CLI_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLI_WIDE
#endif

enum { LANES = 16 };

#endif
