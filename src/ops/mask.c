/* mask.c - masked_select and nonzero: what a mask names, in the order of its elements. The mask is cut into
 * parts; where each part's results begin is known from how many are true in those before it. */
#include "backend/device_run.h"
#include "core/mem.h"
#include "core/threads_int.h"
#include "statistics.h"
#include "tessera/ops/index.h"

enum {
    WORK = 2,         /* of an element: its byte of the mask is counted, and then looked at */
    MOST_PARTS = 256
};

/* A mask in parts, packed. Once they are counted, count[i] is how many are true before part i. */
typedef struct selection {
    const unsigned char *mask;
    int64_t              n, parts, count[MOST_PARTS + 1];
    const tsr_desc      *desc;   /* of the mask */
    const char          *x;      /* elements that are selected, packed, and the bytes of one */
    int64_t              size;
    char                *out;
} selection;

static int64_t part_begin(const selection *s, int64_t i)
{
    return s->n / s->parts * i + (i < s->n % s->parts ? i : s->n % s->parts);
}

/* Eight bytes of a mask: a 1 in each that is not 0. */
static inline uint64_t ones_of(const unsigned char *mask)
{
    uint64_t w;
    memcpy(&w, mask, sizeof w);
    return ((((w & 0x7f7f7f7f7f7f7f7f) + 0x7f7f7f7f7f7f7f7f) | w) >> 7) & 0x0101010101010101;
}

/* 255 words at most: a byte of the sum holds no more. */
static int64_t count_words(const unsigned char *mask, int64_t words)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < words; i++) sum += ones_of(mask + 8 * i);
    sum = (sum & 0x00ff00ff00ff00ff) + (sum >> 8 & 0x00ff00ff00ff00ff);
    return (int64_t)(sum * 0x0001000100010001 >> 48);
}

static tsr_status count_parts(void *context, int64_t begin, int64_t end)
{
    selection *s = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t at = part_begin(s, i), words = (part_begin(s, i + 1) - at) / 8, count = 0;
        for (int64_t some; words > 0; words -= some, at += 8 * some) {
            some = words < 255 ? words : 255;
            count += count_words(s->mask + at, some);
        }
        for (; at < part_begin(s, i + 1); at++) count += s->mask[at] != 0;
        s->count[i + 1] = count;
    }
    return TSR_OK;
}

/* *n: how many are true. */
static tsr_status count_true(selection *s, int64_t *n)
{
    s->n = tsr_desc_numel(s->desc);
    s->parts = tsri_worth_sharing(s->n, tsri_grain(WORK)) ? TSRI_PARTS_PER_THREAD * tsri_threads_here() : 1;
    if (s->parts > MOST_PARTS) s->parts = MOST_PARTS;
    s->count[0] = 0;
    TSRI_TRY(tsri_parallel_for(s->parts, 1, count_parts, s));
    for (int64_t i = 0; i < s->parts; i++) s->count[i + 1] += s->count[i];
    *n = s->count[s->parts];
    return TSR_OK;
}

/* Elements -------------------------------------------------------------------------------- */

/* Without a branch on the mask: what is not selected is written over. Nothing is written behind `end`. */
static TSRI_ALWAYS_INLINE void select_part(const selection *s, int64_t i, int64_t size)
{
    char *to = s->out + s->count[i] * size, *end = s->out + s->count[i + 1] * size;
    for (int64_t at = part_begin(s, i); to < end && at < s->n; at += 8) {
        const int64_t n = s->n - at < 8 ? s->n - at : 8;
        if (n == 8 && ones_of(s->mask + at) == 0) continue;
        for (int64_t k = at; k < at + n && to < end; k++) {
            memcpy(to, s->x + k * size, (size_t)size);
            to += s->mask[k] ? size : 0;
        }
    }
}

static tsr_status select_parts(void *context, int64_t begin, int64_t end)
{
    const selection *s = context;
    for (int64_t i = begin; i < end; i++)
        switch (s->size) {
        case 1:  select_part(s, i, 1); break;
        case 2:  select_part(s, i, 2); break;
        case 4:  select_part(s, i, 4); break;
        case 8:  select_part(s, i, 8); break;
        default: select_part(s, i, 16); break;
        }
    return TSR_OK;
}

/* t as one of this shape, packed and on the host. */
static tsr_status open_operand(const tsr_tensor **t, tsr_tensor *view, tsr_tensor **temporary, int ndim,
                               const int64_t *shape)
{
    *view = **t;
    TSRI_TRY(tsri_desc_expand(&view->desc, &(*t)->desc, ndim, shape));
    *t = view;
    return tsri_as_packed(t, temporary, "masked_select", view->dtype);
}

static tsr_status select_elements(tsr_tensor **out, const tsr_tensor *t, const tsr_tensor *mask,
                                  tsr_tensor **temporary)
{
    int ndim;
    int64_t shape[TSR_MAX_NDIM], n;
    tsr_tensor x, m;
    TSRI_CHECK(tsr_desc_broadcast(&ndim, shape, 2, (const tsr_desc *const[]){ &t->desc, &mask->desc }) ==
                   TSR_OK,
               TSR_ESHAPE, "masked_select: t %s and mask %s do not broadcast", TSRI_DESC(&t->desc),
               TSRI_DESC(&mask->desc));
    TSRI_TRY(open_operand(&t, &x, &temporary[0], ndim, shape));
    TSRI_TRY(open_operand(&mask, &m, &temporary[1], ndim, shape));
    selection s = {
        .mask = mask->data, .desc = &mask->desc, .x = t->data, .size = tsri_dtype_size(t->dtype)
    };
    TSRI_TRY(count_true(&s, &n));
    TSRI_TRY(tsri_make_packed(out, "masked_select", t->dtype, 1, &n));
    s.out = (*out)->data;
    return tsri_parallel_for(s.parts, 1, select_parts, &s);
}

tsr_status tsr_masked_select(tsr_tensor **out, const tsr_tensor *t, const tsr_tensor *mask)
{
    tsr_tensor *temporary[2] = { NULL, NULL }, *made = NULL;
    TSRI_CHECK(out, TSR_ENULL, "masked_select: out is NULL");
    TSRI_TRY(tsri_check_allocated("masked_select", "t", t));
    TSRI_TRY(tsri_check_allocated("masked_select", "mask", mask));
    TSRI_CHECK(mask->dtype == TSR_BOOL, TSR_EDTYPE, "masked_select: mask is %s, and must be bool",
               TSRI_DESC(&mask->desc));
    const tsr_status s = select_elements(&made, t, mask, temporary);
    for (int i = 0; i < 2; i++) tsr_release(&temporary[i]);
    return tsri_give(out, "masked_select", made, t, s);
}

/* Indices --------------------------------------------------------------------------------- */

/* Indices of what is true in a row: index[] with the last one from index[ndim - 1] on. As select_part. */
static TSRI_ALWAYS_INLINE int64_t *place_row(int64_t *to, const int64_t *end, const int64_t *index, int ndim,
                                             const unsigned char *mask, int64_t n)
{
    const int64_t first = index[ndim - 1];
    for (int64_t at = 0; at < n && to < end; at += 8) {
        const int64_t here = n - at < 8 ? n - at : 8;
        if (here == 8 && ones_of(mask + at) == 0) continue;
        for (int64_t k = at; k < at + here && to < end; k++) {
            for (int d = 0; d < ndim - 1; d++) to[d] = index[d];
            to[ndim - 1] = first + k;
            to += mask[k] ? ndim : 0;
        }
    }
    return to;
}

/* The index of element k in row-major order. */
static void unflatten(int64_t *index, const tsr_desc *d, int64_t k)
{
    for (int i = d->ndim - 1; i >= 0; i--) {
        index[i] = k % d->shape[i];
        k /= d->shape[i];
    }
}

/* The first index of the next row. */
static void step_row(int64_t *index, const tsr_desc *d)
{
    index[d->ndim - 1] = 0;
    for (int i = d->ndim - 2; i >= 0 && ++index[i] == d->shape[i]; i--) index[i] = 0;
}

static void place_part(const selection *s, int64_t i)
{
    const tsr_desc *d = s->desc;
    const int ndim = d->ndim;
    int64_t index[TSR_MAX_NDIM], at = part_begin(s, i);
    int64_t *to = (int64_t *)(void *)s->out + s->count[i] * ndim;
    const int64_t *end = (int64_t *)(void *)s->out + s->count[i + 1] * ndim;
    if (to == end) return;
    for (unflatten(index, d, at); to < end && at < s->n; step_row(index, d)) {
        const int64_t n = d->shape[ndim - 1] - index[ndim - 1];
        const unsigned char *row = s->mask + at;
        if (ndim == 1)      to = place_row(to, end, index, 1, row, n);
        else if (ndim == 2) to = place_row(to, end, index, 2, row, n);
        else                to = place_row(to, end, index, ndim, row, n);
        at += n;
    }
}

static tsr_status place_parts(void *context, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) place_part(context, i);
    return TSR_OK;
}

static tsr_status list_places(tsr_tensor **out, const tsr_tensor *mask)
{
    int64_t n;
    selection s = { .mask = mask->data, .desc = &mask->desc };
    TSRI_TRY(count_true(&s, &n));
    TSRI_TRY(tsri_make_packed(out, "nonzero", TSR_I64, 2, (const int64_t[]){ n, mask->ndim }));
    s.out = (*out)->data;
    return mask->ndim == 0 ? TSR_OK : tsri_parallel_for(s.parts, 1, place_parts, &s);
}

tsr_status tsr_nonzero(tsr_tensor **out, const tsr_tensor *t)
{
    tsr_tensor *temporary[2] = { NULL, NULL }, *made = NULL;
    const tsr_tensor *mask = t;
    TSRI_CHECK(out, TSR_ENULL, "nonzero: out is NULL");
    TSRI_TRY(tsri_check_allocated("nonzero", "t", t));
    tsr_status s = tsri_as_dtype(&mask, &temporary[0], TSR_BOOL);
    if (s == TSR_OK) s = tsri_as_packed(&mask, &temporary[1], "nonzero", TSR_BOOL);
    if (s == TSR_OK) s = list_places(&made, mask);
    for (int i = 0; i < 2; i++) tsr_release(&temporary[i]);
    return tsri_give(out, "nonzero", made, t, s);
}
