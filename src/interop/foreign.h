/* foreign.h - the address of memory of another library, computed without overflow. */
#ifndef TSRI_FOREIGN_H
#define TSRI_FOREIGN_H

#include <stdint.h>

/* base + offset + lo, the first of `bytes` bytes; NULL if the sum or their end overflows an address. */
static inline char *tsri_foreign_low(const void *base, uint64_t offset, int64_t lo, uint64_t bytes)
{
    uintptr_t at = (uintptr_t)base, end;
    if (__builtin_add_overflow(at, offset, &at) || __builtin_add_overflow(at, lo, &at) ||
        __builtin_add_overflow(at, bytes, &end))
        return (char *)0;
    return (char *)at;
}

#endif
