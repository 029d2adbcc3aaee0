/* sort.h - sorting unsigned integers: the kernels under order.c.
 *
 * An element's place in the order is an unsigned integer, its key: -0 and 0 have one, NaNs
 * have the largest. Elements of up to four bytes have keys of 32 bits, those of eight bytes
 * keys of 64. A key of 32 bits and an index make an item of 64, key first, so that items
 * have an order of their own, in which equal keys stand by index. */
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
    /* Ascending; `room` holds as many, and is written, if they need room. sort_64 may take the bits below
     * `known` as sorted already. */
    void (*sort_32)(uint32_t *keys, uint32_t *room, int64_t n);
    void (*sort_64)(uint64_t *keys, uint64_t *room, int64_t n, int known);

    /* Keys of n elements `step` bytes apart, and back, for elements of 1, 2, 4 and 8 bytes (by the
     * logarithm); keys of 32 bits, but for the last. Returns whether an element was NaN or -0, which do not
     * come back. */
    bool (*keys[4])(void *keys, const char *x, int64_t step, int64_t n, const tsri_key_rule *rule);
    void (*elements[4])(char *z, int64_t step, const void *keys, int64_t n, const tsri_key_rule *rule);

    /* Items of n keys, whose indices begin with `first`; and of those alone that are not above
     * `most`: how many these are. There is room for all, and 8 more. */
    void    (*items)(uint64_t *items, const uint32_t *keys, int64_t n, uint32_t first);
    int64_t (*items_to)(uint64_t *items, const uint32_t *keys, int64_t n, uint32_t first, uint32_t most);

    bool needs_room;

    /* Cuts many keys in two, none of the first above one of the second; how many are in the first, perhaps
     * all or none. NULL: there is no such kernel. */
    int64_t (*part_32)(uint32_t *keys, int64_t n);
    int64_t (*part_64)(uint64_t *keys, int64_t n);

    /* Rows of n keys, TSRI_SHORT_ROW at most, one after another, each by itself. NULL as above. */
    void (*rows_32)(uint32_t *keys, int64_t rows, int64_t n);
    void (*rows_64)(uint64_t *keys, int64_t rows, int64_t n);
} tsri_sort_kernels;

#endif
