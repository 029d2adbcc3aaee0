/* pad_rows.c - see pad_rows.h.
 *
 * Rows are put together one after the other in a room that stays in the first level cache, padding and all,
 * and leave it as whole lines: where they begin and end in a line costs nothing then. */
#include "pad_rows.h"
#include "boxes.h"
#include "core/alloc.h"
#include "core/mem.h"
#include "tessera/memory.h"
#include "tessera/threads.h"

enum {
    SHORT_BYTES = 2048,       /* of a row; longer ones are pieces by themselves */
    WORTH_BYTES = 1 << 20,    /* of a result */
    ROOM_BYTES  = 24 << 10,
    PART_BYTES  = 256 << 10,  /* worth a thread */
    AHEAD       = 4096        /* bytes by which t is fetched early */
};

bool tsri_pads_rows(const tsr_tensor *out, const tsr_tensor *t)
{
    const int last = out->ndim - 1;
    if (last < 1 || out->device != TSR_CPU || !tsr_memory_is_host(out->memory) || tsr_numel(t) == 0) return false;
    const int64_t size = tsri_dtype_size(out->dtype);
    return tsr_numel(out) * size >= WORTH_BYTES && out->shape[last] * size < SHORT_BYTES &&
           tsri_is_packed(&out->desc) && (t->stride[last] == 1 || t->shape[last] == 1);
}

typedef struct rows {
    tsr_tensor       *out;
    const tsr_tensor *t;
    const int64_t    *before;
    const char       *values;             /* a row of nothing but the value */
    int64_t           whole, ahead, middle;  /* bytes of a row; of it, ahead of t's; of t's */
} rows;

/* A few bytes, or some more: no call, which would cost as much. */
static inline void put(char *z, const char *x, int64_t bytes)
{
    enum { BLOCK = 32 };
    int64_t i = 0;
    if (bytes == 4) {
        memcpy(z, x, 4);
    } else if (bytes >= BLOCK) {
        for (; i + BLOCK <= bytes; i += BLOCK) memcpy(z + i, x + i, BLOCK);
        memcpy(z + bytes - BLOCK, x + bytes - BLOCK, BLOCK);
    } else {
        for (; i < bytes; i++) z[i] = x[i];
    }
}

/* Where the row at these indices lies in t; NULL: it is not from there. */
static const char *row_in_t(const rows *r, const int64_t *at)
{
    int64_t place = 0;
    for (int d = 0; d < r->t->ndim - 1; d++) {
        const int64_t i = at[d] - r->before[d];
        if ((uint64_t)i >= (uint64_t)r->t->shape[d]) return NULL;
        place += i * r->t->stride[d];
    }
    return (const char *)r->t->data + place * tsri_dtype_size(r->t->dtype);
}

static void put_row(char *z, const rows *r, const char *x)
{
    if (!x) {
        put(z, r->values, r->whole);
        return;
    }
    for (int64_t i = 0; i < r->middle; i += 64) __builtin_prefetch(x + AHEAD + i);
    put(z, r->values, r->ahead);
    put(z + r->ahead, x, r->middle);
    put(z + r->ahead + r->middle, r->values, r->whole - r->ahead - r->middle);
}

/* Row number n as indices; the indices of the row after that. */
static void find_row(int64_t *at, const tsr_tensor *t, int64_t n)
{
    for (int d = t->ndim - 2; d >= 0; d--) {
        at[d] = n % t->shape[d];
        n /= t->shape[d];
    }
}
static void step_row(int64_t *at, const tsr_tensor *t)
{
    for (int d = t->ndim - 2; d >= 0 && ++at[d] == t->shape[d]; d--) at[d] = 0;
}

static tsr_status pad_some(void *context, int64_t begin, int64_t end)
{
    const rows *r = context;
    const int64_t cols = r->out->shape[r->out->ndim - 1], most = ROOM_BYTES / r->whole;
    int64_t at[TSR_MAX_NDIM];
    tsr_tensor *room = NULL, full, piece = *r->out;
    tsr_status s = tsr_empty(&room, r->out->dtype, 1, (const int64_t[]){ most * cols });
    find_row(at, r->out, begin);
    piece.ndim = 1;
    piece.stride[0] = 1;
    for (int64_t n = 0; begin < end && s == TSR_OK; begin += n) {
        for (n = 0; n < most && begin + n < end; n++, step_row(at, r->out))
            put_row((char *)room->data + n * r->whole, r, row_in_t(r, at));
        full = *room;
        full.shape[0] = piece.shape[0] = n * cols;
        piece.data = (char *)r->out->data + begin * r->whole;
        s = tsri_copy_piece(&piece, &full, r->out);
    }
    tsr_release(&room);
    return s;
}

tsr_status tsri_pad_rows(tsr_tensor *out, const tsr_tensor *t, const int64_t *before, tsr_scalar value)
{
    const int last = out->ndim - 1;
    const int64_t size = tsri_dtype_size(out->dtype), cols = out->shape[last];
    char values[SHORT_BYTES];
    _Alignas(16) unsigned char element[16];
    rows r = { .out = out, .t = t, .before = before, .values = values, .whole = cols * size,
               .ahead = before[last] * size, .middle = t->shape[last] * size };
    TSRI_TRY(tsr_scalar_store(element, out->dtype, value));
    for (int64_t i = 0; i < cols; i++) memcpy(values + i * size, element, (size_t)size);
    return tsr_parallel_for(tsr_numel(out) / cols, PART_BYTES / r.whole + 1, pad_some, &r);
}
