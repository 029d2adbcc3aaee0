/* fuzz.h - what mutating needs: numbers from a seed, and bytes cut in and out of a buffer. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdint.h>
#include <string.h>

static inline uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Replaces `gone` of *size bytes at `at` by the piece; what does not fit into `room` is dropped. */
static inline void splice_bytes(void *bytes, size_t *size, size_t room, size_t at, size_t gone, const void *piece,
                                size_t length)
{
    unsigned char *b = bytes;
    if (at > *size) at = *size;
    if (gone > *size - at) gone = *size - at;
    if (*size - gone + length > room) return;
    memmove(b + at + length, b + at + gone, *size - at - gone);
    memcpy(b + at, piece, length);
    *size += length - gone;
}

#endif
