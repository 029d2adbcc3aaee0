/* bump.c - blocks of memory, each used from its beginning to its end. */
#include "bump.h"
#include "core/alloc.h"
#include "core/mem.h"

typedef struct tsri_bump_block {
    struct tsri_bump_block *next;
    size_t                  bytes;
    _Alignas(16) unsigned char data[];
} tsri_bump_block;

enum { FIRST = 2048, LARGEST = 256 << 10 };

/* Blocks double, so that a small file takes little and a large one few. */
static bool add_block(tsri_bump *b, size_t least)
{
    size_t room = b->room ? b->room * 2 : FIRST;
    if (room > LARGEST) room = LARGEST;
    if (room < least) room = least;
    const size_t bytes = sizeof(tsri_bump_block) + room;
    tsri_bump_block *block = tsri_scratch(bytes);
    if (!block) return false;
    block->next = b->blocks;
    block->bytes = bytes;
    b->blocks = block;
    b->used = 0;
    b->room = room;
    return true;
}

int tsri_bump_left = -1;

void *tsri_bump_take(tsri_bump *b, size_t bytes)
{
    if (tsri_bump_left >= 0 && tsri_bump_left-- == 0) return NULL;
    if (bytes > PTRDIFF_MAX / 2) return NULL;
    bytes = (bytes + 15) & ~(size_t)15;
    if ((!b->blocks || bytes > b->room - b->used) && !add_block(b, bytes)) return NULL;
    void *p = b->blocks->data + b->used;
    b->used += bytes;
    return memset(p, 0, bytes);
}

char *tsri_bump_text(tsri_bump *b, const char *text, size_t length)
{
    char *copy = tsri_bump_take(b, length + 1);
    if (copy && length) memcpy(copy, text, length);
    return copy;
}

void tsri_bump_free(tsri_bump *b)
{
    while (b->blocks) {
        tsri_bump_block *block = b->blocks;
        b->blocks = block->next;
        tsri_free(block, block->bytes);
    }
    *b = (tsri_bump){ 0 };
}

bool tsri_list_grow(tsri_bump *b, tsri_list *list, void ***array)
{
    if (list->count < list->room) return true;
    const int64_t room = list->room ? list->room * 2 : 8;
    void **grown = tsri_bump_take(b, (size_t)room * sizeof(void *));
    if (!grown) return false;
    if (list->count) memcpy(grown, *array, (size_t)list->count * sizeof(void *));
    *array = grown;
    list->room = room;
    return true;
}

/* Heap sort: no memory, and no order of the input makes it slow. */
static void sift_down(void **a, int64_t from, int64_t n, bool (*before)(const void *, const void *))
{
    for (int64_t parent = from;;) {
        int64_t child = 2 * parent + 1;
        if (child >= n) return;
        if (child + 1 < n && before(a[child], a[child + 1])) child++;
        if (!before(a[parent], a[child])) return;
        void *t = a[parent];
        a[parent] = a[child];
        a[child] = t;
        parent = child;
    }
}

void tsri_sort(void **a, int64_t n, bool (*before)(const void *, const void *))
{
    for (int64_t i = n / 2; i > 0; i--) sift_down(a, i - 1, n, before);
    for (int64_t last = n - 1; last > 0; last--) {
        void *t = a[0];
        a[0] = a[last];
        a[last] = t;
        sift_down(a, 0, last, before);
    }
}
