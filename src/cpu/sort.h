/* sort.h - sorting unsigned integers: the kernels of order.c.
 *
 * An element is compared by its key, an unsigned integer: -0 and 0 have the same key, all NaNs
 * have the largest. Elements of up to four bytes have keys of 32 bits, those of eight bytes
 * keys of 64. A key of 32 bits and an index make an item of 64 bits with the key in the upper
 * half, so that comparing items orders equal keys by index. */
#ifndef TSRI_CPU_SORT_H
#define TSRI_CPU_SORT_H

#include <stdbool.h>
#include <stdint.h>

enum { TSRI_SHORT_ROW = 32 };

/* How elements of a dtype become keys. */
typedef struct tsri_key_rule {
    uint64_t sign;   /* the sign bit; 0: unsigned */
    uint64_t finite; /* the largest magnitude that is no NaN; 0: an integer, which never is */
    uint64_t all;    /* all bits of the element */
    bool     descending;
} tsri_key_rule;

typedef struct tsri_sort_kernels {
    /* Ascending. `room` is scratch for n keys, if needs_room. sort_64 may assume that keys are sorted by the
     * bits below `known` already. */
    void (*sort_32)(uint32_t *keys, uint32_t *room, int64_t n);
    void (*sort_64)(uint64_t *keys, uint64_t *room, int64_t n, int known);

    /* Keys of n elements `step` bytes apart, and elements from keys, for elements of 1, 2, 4 and 8 bytes
     * (by the logarithm). Keys have 32 bits, those of 8 bytes 64. Returns whether an element was NaN or
     * -0, which cannot be restored from its key. */
    bool (*keys[4])(void *keys, const char *x, int64_t step, int64_t n, const tsri_key_rule *rule);
    void (*elements[4])(char *z, int64_t step, const void *keys, int64_t n, const tsri_key_rule *rule);

    /* Items of n keys, whose indices begin with `first`. items_to: only of keys up to `most`; returns their
     * number. There is room for n + 8. */
    void    (*items)(uint64_t *items, const uint32_t *keys, int64_t n, uint32_t first);
    int64_t (*items_to)(uint64_t *items, const uint32_t *keys, int64_t n, uint32_t first, uint32_t most);

    bool needs_room;

    /* Partitions keys in two, none of the first part above one of the second. Returns the size of the
     * first part, which may be 0 or n. NULL: there is no such kernel. */
    int64_t (*partition_32)(uint32_t *keys, int64_t n);
    int64_t (*partition_64)(uint64_t *keys, int64_t n);

    /* Sorts each of several contiguous rows of n keys, TSRI_SHORT_ROW at most. NULL as above. */
    void (*rows_32)(uint32_t *keys, int64_t rows, int64_t n);
    void (*rows_64)(uint64_t *keys, int64_t rows, int64_t n);
} tsri_sort_kernels;

#endif
