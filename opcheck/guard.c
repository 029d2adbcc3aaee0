/* guard.c - see guard.h.
 *
 *     header page | no access | pages of the block | no access
 *
 * A block begins in the first of its pages, so the header is found from its address.
 */
#if (defined(__unix__) || defined(__APPLE__)) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#endif
#include "guard.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__unix__) || defined(__APPLE__)

#include <sys/mman.h>
#include <unistd.h>

enum { PADDING = 0xd7 };

typedef struct header {
    size_t bytes, pages;
} header;

static int64_t faults;

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }
static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

/* Pages whose first byte has the alignment, with two before them and one behind. */
static unsigned char *map_pages(size_t pages, size_t alignment)
{
    const size_t page = page_size(), whole = pages + 3 * page, spare = alignment > page ? alignment : 0;
    unsigned char *base =
        mmap(NULL, whole + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return NULL;
    unsigned char *first = base + 2 * page;
    if (spare) first += (alignment - (uintptr_t)first % alignment) % alignment;
    const size_t before = (size_t)(first - 2 * page - base);
    if (before) munmap(base, before);
    if (spare > before) munmap(first + pages + page, spare - before);
    if (mprotect(first - page, page, PROT_NONE) == 0 && mprotect(first + pages, page, PROT_NONE) == 0)
        return first;
    munmap(first - 2 * page, whole);
    return NULL;
}

static header *header_of(unsigned char *first) { return (header *)(void *)(first - 2 * page_size()); }

void *guard_alloc(size_t bytes, size_t alignment, bool at_end)
{
    const size_t page = page_size(), room = bytes ? bytes : 1, pages = round_up(room, page);
    unsigned char *first = bytes <= SIZE_MAX / 2 ? map_pages(pages, alignment) : NULL;
    if (!first) return NULL;
    unsigned char *end = first + pages, *data = first;
    if (at_end && alignment <= page) data = end - room - (uintptr_t)(end - room) % alignment;
    memset(first, PADDING, (size_t)(data - first));
    memset(data + bytes, PADDING, (size_t)(end - data) - bytes);
    *header_of(first) = (header){ bytes, pages };
    return data;
}

static void check_padding(const unsigned char *from, const unsigned char *to)
{
    for (; from < to; from++)
        if (*from != PADDING) __atomic_fetch_add(&faults, 1, __ATOMIC_RELAXED);
}

void guard_free(void *data, size_t bytes)
{
    const size_t page = page_size();
    unsigned char *block = data, *first = block - (uintptr_t)block % page;
    if (!data) return;
    const header h = *header_of(first);
    if (h.bytes != bytes) __atomic_fetch_add(&faults, 1, __ATOMIC_RELAXED);
    check_padding(first, block);
    check_padding(block + h.bytes, first + h.pages);
    munmap(first - 2 * page, h.pages + 3 * page);
}

#else

void *guard_alloc(size_t bytes, size_t alignment, bool at_end)
{
    (void)at_end;
    return aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
}

void guard_free(void *data, size_t bytes)
{
    (void)bytes;
    free(data);
}

static int64_t faults;

#endif

int64_t guard_faults(void) { return __atomic_load_n(&faults, __ATOMIC_RELAXED); }

/* Tensors ------------------------------------------------------------------------------- */

static void free_storage(void *context, void *data, size_t bytes)
{
    (void)context;
    guard_free(data, bytes);
}

/* Bytes before and from element (0, ..., 0) on. */
static void reach(const tsr_desc *d, size_t *before, size_t *from)
{
    const size_t size = tsr_dtype_size(d->dtype);
    *before = 0;
    *from = size;
    for (int i = 0; i < d->ndim; i++) {
        if (d->shape[i] == 0) {
            *before = *from = 0;
            return;
        }
        if (d->shape[i] == 1) continue;
        const size_t far = (size_t)(d->shape[i] - 1) * size *
                           (size_t)(d->stride[i] < 0 ? -d->stride[i] : d->stride[i]);
        if (d->stride[i] < 0) *before += far;
        else                  *from += far;
    }
}

tsr_status make_guarded(tsr_tensor **out, const tsr_desc *desc, bool at_end)
{
    size_t before, from;
    tsr_storage *storage = NULL;
    reach(desc, &before, &from);
    if (before + from == 0) {
        TSR_TRY(tsr_declare(out, desc, TSR_CPU, TSR_MEMORY_HOST));
        return tsr_alloc(*out);
    }
    const size_t size = tsr_dtype_size(desc->dtype), bytes = before + from;
    void *data = guard_alloc(bytes, size, at_end);
    if (!data) return TSR_ENOMEM;
    tsr_status s = tsr_storage_adopt(&storage, data, bytes, TSR_CPU, TSR_MEMORY_HOST, free_storage, NULL);
    if (s != TSR_OK) {
        guard_free(data, bytes);
        return s;
    }
    s = tsr_from_storage(out, storage, before, desc);
    tsr_storage_release(&storage);
    return s;
}

/* The library ---------------------------------------------------------------------------- */

static void *alloc_block(void *context, size_t bytes, size_t alignment)
{
    static uint32_t count;
    (void)context;
    return guard_alloc(bytes, alignment, __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) % 2 == 0);
}

static void free_block(void *context, void *data, size_t bytes)
{
    (void)context;
    guard_free(data, bytes);
}

tsr_status guard_library(bool on)
{
    static const tsr_allocator guarded = { NULL, alloc_block, free_block };
    static bool pooled;
    if (on) pooled = tsr_pool_is_enabled();
    tsr_pool_enable(on ? false : pooled);
    return tsr_set_allocator(on ? &guarded : NULL);
}
