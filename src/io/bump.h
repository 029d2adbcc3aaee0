/* bump.h - memory that is freed all at once, and lists in it.
 *
 * For a file's names, shapes and metadata, which live as long as the file. */
#ifndef TSRI_BUMP_H
#define TSRI_BUMP_H

#include "core/status_int.h"

typedef struct tsri_bump {
    struct tsri_bump_block *blocks;
    size_t                  used, room;  /* of the first block */
} tsri_bump;

/* Zeroed memory for `bytes`, aligned for any type; NULL when there is none. */
void *tsri_bump_take(tsri_bump *b, size_t bytes);

/* A copy with a 0 after it. */
char *tsri_bump_text(tsri_bump *b, const char *text, size_t length);

void tsri_bump_free(tsri_bump *b);

/* For tests: the number of tsri_bump_take() calls that succeed before one fails. Negative, which is the
 * start: none fails. */
extern int tsri_bump_left;

/* How many pointers an array holds, and has room for. */
typedef struct tsri_list { int64_t count, room; } tsri_list;

/* Room for one more pointer in *array, which may move; false when there is no memory. */
bool tsri_list_grow(tsri_bump *b, tsri_list *list, void ***array);

/* Puts n pointers in order; before(a, b) says whether a comes first. */
void tsri_sort(void **array, int64_t n, bool (*before)(const void *a, const void *b));

#endif
