/* mem.h - the four memory functions a freestanding compiler needs anyway, and
 * two on strings. */
#ifndef TSRI_MEM_H
#define TSRI_MEM_H

#include <stdbool.h>
#include <stddef.h>

#ifdef TSR_FREESTANDING
void *memcpy(void *dst, const void *src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int   memcmp(const void *a, const void *b, size_t n);
#else
#include <string.h>
#endif

static inline size_t tsri_strlen(const char *s)
{
    size_t n = 0;
    while (s[n] != '\0') n++;
    return n;
}

static inline bool tsri_streq(const char *a, const char *b)
{
    while (*a && *a == *b) { a++; b++; }
    return *a == *b;
}

#endif
