/* mem.h - the four memory functions a freestanding compiler needs anyway, and
 * two on strings, and loads of numbers. */
#ifndef TSRI_MEM_H
#define TSRI_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* An unsigned number of 1, 2, 4 or 8 bytes, at any address. */
static inline uint64_t tsri_load_bits(const void *p, size_t size)
{
    uint8_t b; uint16_t h; uint32_t w; uint64_t d;
    switch (size) {
    case 1:  memcpy(&b, p, 1); return b;
    case 2:  memcpy(&h, p, 2); return h;
    case 4:  memcpy(&w, p, 4); return w;
    default: memcpy(&d, p, 8); return d;
    }
}

#endif
