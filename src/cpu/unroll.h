/* unroll.h - loops that become straight code. */
#ifndef TSRI_UNROLL_H
#define TSRI_UNROLL_H

/* The next loop has constant bounds and is unrolled: arrays that it indexes can then be in registers. */
#if defined(TSR_FREESTANDING) || !defined(__GNUC__)
#define UNROLL
#elif defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

#endif
