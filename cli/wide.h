/* wide.h - loops that the compiler makes for several instruction sets, chosen when the program starts. */
#ifndef TSR_CLI_WIDE_H
#define TSR_CLI_WIDE_H

#include <stdint.h>

/* Where the loader can choose. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GLIBC__) && defined(__GNUC__) && \
    !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CLI_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLI_WIDE
#endif

/* Eight doubles as a vector of the compiler's, and what comparisons of them give: -1 for yes and 0 for no. */
enum { LANES = 8 };
typedef double  lanes __attribute__((vector_size(64)));
typedef int64_t marks __attribute__((vector_size(64)));

/* Eight floats, and sixteen. */
typedef float   half_lanes __attribute__((vector_size(32)));
typedef int32_t half_marks __attribute__((vector_size(32)));
typedef float   short_lanes __attribute__((vector_size(64)));
typedef int32_t short_marks __attribute__((vector_size(64)));
#define SHORT_CHOOSE(mark, a, b) ((short_lanes)(((mark) & (short_marks)(a)) | (~(mark) & (short_marks)(b))))

/* a where a mark is set, b elsewhere; and |a|. */
#define LANES_CHOOSE(mark, a, b) ((lanes)(((mark) & (marks)(a)) | (~(mark) & (marks)(b))))
#define LANES_ABS(a) ((lanes)((marks)(a) & INT64_MAX))

#endif
