/* order.c - sorting and searching on the CPU.
 *
 * A lane is read once, as keys (sort.h). If only values are wanted, keys are sorted and
 * converted back to elements. If indices are wanted, a key and an index make an item, and sorting
 * items is stable. Of a key of 64 bits the item has the upper half, and items that are equal
 * in that are sorted again by the lower half; integers within 2^32 of each other need no second sort.
 * -0 and 0 have the same key, and so have all NaNs: such elements are called ambiguous. They are copied
 * from the lane after sorting, in their order.
 *
 * topk with few results: the lane is read in runs, and only items that may be among the best
 * so far are held. */
#include "core/alloc.h"
#include "core/atomic.h"
#include "core/half.h"
#include "core/mem.h"
#include "core/memory_int.h"
#include "cpu_run.h"
#include "kernels.h"
#include "lanes.h"
#include "sort.h"
#include "unroll.h"
#include "core/threads_int.h"

enum {
    INSERTION_MAX = 32, /* up to so many are sorted by insertion */
#ifdef TSR_FREESTANDING  /* stacks are small */
    SHORT = 32,
    RUN = 64
#else
    SHORT = 256, /* elements of a lane that is sorted on the stack */
    RUN = 1024   /* elements that are converted at a time */
#endif
};

#include "template/sort_key_sizes.inc"

#define ITEM uint32_t
#define KEY(item) (item)
#define DIGITS 4
#define NAME(x) x##_32
#include "template/sort_items.inc"

#define ITEM uint64_t
#define KEY(item) (item)
#define DIGITS 8
#define NAME(x) x##_64
#include "template/sort_items.inc"

/* For elements of eight bytes. */
typedef struct wide_item {
    uint64_t key, index;
} wide_item;

#define ITEM wide_item
#define KEY(item) ((item).key)
#define DIGITS 8
#define NAME(x) x##_wide
#include "template/sort_items.inc"

/* Dtypes ------------------------------------------------------------------------------- */

static tsri_key_rule rule_of(tsr_dtype dtype, bool descending)
{
    static const uint64_t finite[TSR_DTYPE_COUNT] = {
        [TSR_F32] = 0x7f800000, [TSR_F64] = 0x7ff0000000000000,
#define X(ID, suffix, S, mant, exp, inf, dlpack) [TSR_##ID] = TSRI_SHORT_NUMBER(mant, exp, inf),
#include "core/short_floats.def"
#undef X
    };
    const int bits = 8 * (int)tsri_dtype_size(dtype);
    const tsr_kind kind = tsr_dtype_kind(dtype);
    const bool has_sign = kind != TSR_UNSIGNED && kind != TSR_BOOLEAN;
    return (tsri_key_rule){ has_sign ? (uint64_t)1 << (bits - 1) : 0, finite[dtype],
                            UINT64_MAX >> (64 - bits), descending };
}

/* Sorting ------------------------------------------------------------------------------ */

typedef struct sorting {
    const tsri_sort_kernels *kernels;
    tsri_key_rule rule;
    int64_t  n, keep;                       /* elements of a lane; of those, how many to write */
    int64_t  size;                          /* bytes of an element */
    int64_t  step_x, step_value, step_index;
    bool     has_values, has_indices;
    bool     counts;                        /* elements of one byte, many of them */
    bool     selects;                           /* holds only items that may be among the `keep` best */
    bool     halves;                        /* items have the upper half of a key of 64 bits */
    int64_t  room;                          /* items, or keys, that fit in scratch */
    int64_t  unit;                          /* bytes of one */
    size_t   scratch;                       /* bytes in all: items or keys, and scratch of the kernel */
    int32_t *no_room;                       /* set to 1 if scratch could not be allocated */
} sorting;

static int slot(const sorting *s) { return __builtin_ctz((unsigned)s->size); }

static bool make_keys(const sorting *s, void *keys, const char *x, int64_t first, int64_t n)
{
    return s->kernels->keys[slot(s)](keys, x + first * s->step_x, s->step_x, n, &s->rule);
}

/* Values alone --------------------------------------------------------------------------- */

static uint64_t key_at(const void *keys, int64_t unit, int64_t i)
{
    return unit == 4 ? ((const uint32_t *)keys)[i] : ((const uint64_t *)keys)[i];
}

/* How many of the sorted keys are below `key`. */
static int64_t count_below(const void *keys, int64_t unit, int64_t n, uint64_t key)
{
    int64_t low = 0, high = n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (key_at(keys, unit, middle) < key) low = middle + 1;
        else                                  high = middle;
    }
    return low;
}

/* The positions of the first zero and of the first NaN in the sorted lane. */
typedef struct ambiguous_places {
    int64_t zero, nan;
} ambiguous_places;

static ambiguous_places find_ambiguous(const sorting *s, const void *keys)
{
    static const uint64_t zero;
    uint64_t key = 0;
    (void)s->kernels->keys[slot(s)](&key, (const char *)&zero, 0, 1, &s->rule);
    return (ambiguous_places){ count_below(keys, s->unit, s->n, key_at(&key, s->unit, 0)),
                     count_below(keys, s->unit, s->n, s->rule.all) };
}

/* Copies zeros and NaNs from the lane, in their order. */
static void put_ambiguous(const sorting *s, char *values, const char *x, ambiguous_places at)
{
    for (int64_t i = 0; i < s->n; i++) {
        uint64_t bits = 0;
        memcpy(&bits, x + i * s->step_x, (size_t)s->size);
        const uint64_t magnitude = bits & ~s->rule.sign;
        if (magnitude != 0 && magnitude <= s->rule.finite) continue;
        const int64_t place = magnitude == 0 ? at.zero++ : at.nan++;
        memcpy(values + place * s->step_value, &bits, (size_t)s->size);
    }
}

/* Elements `from` to from + n - 1 from their keys. */
static void write_keys(const sorting *s, char *values, const char *keys, int64_t from, int64_t n)
{
    s->kernels->elements[slot(s)](values + from * s->step_value, s->step_value, keys + from * s->unit, n,
                                  &s->rule);
}

/* Keys of the elements' size are sorted in the result. */
static bool is_sorted_in_place(const sorting *s) { return s->unit == s->size && s->step_value == s->size; }

static void sort_values(const sorting *s, char *values, const char *x, char *scratch)
{
    const bool in_place = is_sorted_in_place(s);
    void *keys = in_place ? values : scratch, *room = in_place ? scratch : scratch + s->room * s->unit;
    ambiguous_places at = { 0, 0 };
    const bool has_ambiguous = make_keys(s, keys, x, 0, s->n);
    if (s->unit == 4) s->kernels->sort_32(keys, room, s->n);
    else              s->kernels->sort_64(keys, room, s->n, 0);
    if (has_ambiguous) at = find_ambiguous(s, keys);
    write_keys(s, values, keys, 0, s->n);
    if (has_ambiguous) put_ambiguous(s, values, x, at);
}

/* With indices --------------------------------------------------------------------------- */

static void write_indices(const sorting *s, char *indices, const uint64_t *items, int64_t from, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        *(int64_t *)(void *)(indices + (from + i) * s->step_index) = (int64_t)(uint32_t)items[i];
}

/* Elements of items: from their keys, or gathered by their indices. */
static void write_values(const sorting *s, char *values, const char *x, const uint64_t *items, int64_t from,
                         int64_t n, bool ambiguous)
{
    uint32_t keys[RUN];
    if (ambiguous || s->halves) {
        for (int64_t i = 0; i < n; i++) {
            const int64_t at = (int64_t)(uint32_t)items[i];
            memcpy(values + (from + i) * s->step_value, x + at * s->step_x, (size_t)s->size);
        }
        return;
    }
    for (int64_t i = 0; i < n; i++) keys[i] = (uint32_t)(items[i] >> 32);
    s->kernels->elements[slot(s)](values + from * s->step_value, s->step_value, keys, n, &s->rule);
}

/* Results `from` to `to` - 1. */
static void write_items(const sorting *s, char *values, char *indices, const char *x, const uint64_t *items,
                        int64_t from, int64_t to, bool ambiguous)
{
    for (int64_t i = from; i < to; i += RUN) {
        const int64_t n = to - i < RUN ? to - i : RUN;
        if (s->has_values) write_values(s, values, x, items + i, i, n, ambiguous);
        if (s->has_indices) write_indices(s, indices, items + i, i, n);
    }
}

/* The 32 bits that an item has of a key of 64: (key - least) >> shift. */
typedef struct half {
    uint64_t least;
    int      shift;
} half;

/* Integers within 2^32 of each other need no more; of others it is the upper half. */
static half choose_half(const sorting *s, const char *x)
{
    uint64_t keys[RUN], least = UINT64_MAX, most = 0;
    if (!s->halves || s->rule.finite != 0) return (half){ 0, 32 };
    for (int64_t from = 0; from < s->n; from += RUN) {
        const int64_t n = s->n - from < RUN ? s->n - from : RUN;
        (void)make_keys(s, keys, x, from, n);
        for (int64_t i = 0; i < n; i++) {
            least = keys[i] < least ? keys[i] : least;
            most = keys[i] > most ? keys[i] : most;
        }
        if (most - least > UINT32_MAX) return (half){ 0, 32 };
    }
    return (half){ least, 0 };
}

/* Items of elements `first` to first + n - 1, by halves of their keys. */
static void make_halves(const sorting *s, uint64_t *items, const char *x, int64_t first, int64_t n, half h)
{
    uint64_t keys[RUN];
    (void)make_keys(s, keys, x, first, n);
    for (int64_t i = 0; i < n; i++)
        items[i] = (keys[i] - h.least) >> h.shift << 32 | (uint64_t)(first + i);
}

/* Sorts n items whose upper halves are equal by the lower halves of their keys. */
static void sort_tie(const sorting *s, uint64_t *items, uint64_t *room, int64_t n, const char *x)
{
    for (int64_t i = 0; i < n; i++) {
        const uint32_t index = (uint32_t)items[i];
        const uint64_t key = ISA(key_8)(ISA(load_8)(x + (int64_t)index * s->step_x), &s->rule,
                                        s->rule.finite != 0);
        items[i] = key << 32 | index;
    }
    s->kernels->sort_64(items, room, n, 32);
}

static void break_ties(const sorting *s, uint64_t *items, uint64_t *room, const char *x)
{
    for (int64_t i = 0, next; i < s->n; i = next) {
        const uint64_t upper = items[i] >> 32;
        for (next = i + 1; next < s->n && items[next] >> 32 == upper; next++) {}
        if (next - i > 1) sort_tie(s, items + i, room, next - i, x);
    }
}

/* Items of elements `from` to `to` - 1 of a lane; returns whether some are ambiguous. */
static bool make_items_of(const sorting *s, uint64_t *items, const char *x, int64_t from, int64_t to, half h)
{
    uint32_t keys[RUN];
    bool ambiguous = false;
    for (int64_t i = from; i < to; i += RUN) {
        const int64_t n = to - i < RUN ? to - i : RUN;
        if (s->halves) {
            make_halves(s, items + i, x, i, n, h);
            continue;
        }
        ambiguous |= make_keys(s, keys, x, i, n);
        s->kernels->items(items + i, keys, n, (uint32_t)i);
    }
    return ambiguous;
}

/* The best of a lane, sorted, at the front of items; returns whether it has ambiguous elements. */
static bool choose_items(const sorting *s, uint64_t *items, uint64_t *room, const char *x)
{
    uint32_t keys[RUN], most = UINT32_MAX;
    int64_t have = 0;
    bool ambiguous = false;
    for (int64_t i = 0; i < s->n; i += RUN) {
        const int64_t n = s->n - i < RUN ? s->n - i : RUN;
        ambiguous |= make_keys(s, keys, x, i, n);
        have += s->kernels->items_to(items + have, keys, n, (uint32_t)i, most);
        if (have + RUN <= s->room - 8) continue;
        s->kernels->sort_64(items, room, have, 0);
        have = s->keep;
        const uint32_t worst = (uint32_t)(items[have - 1] >> 32);
        if (worst == 0) break;  /* nothing is better, and equal ones come later */
        most = worst - 1;
    }
    s->kernels->sort_64(items, room, have, 0);
    return ambiguous;
}

static void sort_items(const sorting *s, char *values, char *indices, const char *x, uint64_t *items)
{
    uint64_t *room = items + s->room;
    bool ambiguous;
    if (s->selects) {
        ambiguous = choose_items(s, items, room, x);
    } else {
        const half h = choose_half(s, x);
        ambiguous = make_items_of(s, items, x, 0, s->n, h);
        s->kernels->sort_64(items, room, s->n, 32);
        if (s->halves && h.shift > 0) break_ties(s, items, room, x);
    }
    write_items(s, values, indices, x, items, 0, s->keep, ambiguous);
}

/* topk of elements of eight bytes, and lanes of more than 2^32 elements -------------------- */

static int64_t append_wide(const sorting *s, wide_item *items, const char *x, int64_t first, int64_t n,
                           uint64_t most)
{
    uint64_t keys[RUN];
    uint32_t narrow[RUN];
    int64_t have = 0;
    (void)make_keys(s, s->size < 8 ? (void *)narrow : keys, x, first, n);
    for (int64_t i = 0; i < n && s->size < 8; i++) keys[i] = narrow[i];
    for (int64_t i = 0; i < n; i++) {
        items[have] = (wide_item){ keys[i], (uint64_t)(first + i) };
        have += keys[i] <= most;
    }
    return have;
}

static void choose_wide(const sorting *s, wide_item *items, wide_item *room, const char *x)
{
    uint64_t most = UINT64_MAX;
    int64_t have = 0;
    for (int64_t i = 0; i < s->n; i += RUN) {
        const int64_t n = s->n - i < RUN ? s->n - i : RUN;
        have += append_wide(s, items + have, x, i, n, most);
        if (!s->selects || have + RUN <= s->room - 8) continue;
        sort_by_digits_wide(items, room, have, 0);
        have = s->keep;
        if (items[have - 1].key == 0) break;
        most = items[have - 1].key - 1;
    }
    sort_by_digits_wide(items, room, have, 0);
}

static void sort_wide(const sorting *s, char *values, char *indices, const char *x, wide_item *items)
{
    choose_wide(s, items, items + s->room, x);
    for (int64_t i = 0; i < s->keep; i++) {
        const int64_t at = (int64_t)items[i].index;
        if (s->has_values) memcpy(values + i * s->step_value, x + at * s->step_x, (size_t)s->size);
        if (s->has_indices) *(int64_t *)(void *)(indices + i * s->step_index) = at;
    }
}

/* Elements of one byte: counts become places, and every element, also an ambiguous one, goes to its own. */
static void sort_bytes(const sorting *s, char *values, char *indices, const char *x)
{
    unsigned char keys[256];
    int64_t place[256] = { 0 }, at = 0;
    const int64_t n = s->n, step = s->step_x, keep = s->keep;
    const int64_t step_value = s->step_value, step_index = s->step_index;
    for (int i = 0; i < 256; i++)
        keys[i] = (unsigned char)ISA(key_1)((uint8_t)i, &s->rule, s->rule.finite != 0);
    for (int64_t i = 0; i < n; i++) place[keys[ISA(load_1)(x + i * step)]]++;
    for (int i = 0; i < 256; i++) {
        const int64_t count = place[i];
        place[i] = at;
        at += count;
    }
    for (int64_t i = 0; i < n; i++) {
        const uint8_t element = ISA(load_1)(x + i * step);
        const int64_t to = place[keys[element]]++;
        if (values && to < keep) values[to * step_value] = (char)element;
        if (indices && to < keep) *(int64_t *)(void *)(indices + to * step_index) = i;
    }
}

/* Lanes ---------------------------------------------------------------------------------- */

static void sort_lane(const sorting *s, char *values, char *indices, const char *x, void *scratch)
{
    if (s->counts) sort_bytes(s, s->has_values ? values : NULL, s->has_indices ? indices : NULL, x);
    else if (!s->has_indices && s->keep == s->n) sort_values(s, values, x, scratch);
    else if (s->unit == 8)                       sort_items(s, values, indices, x, scratch);
    else                                         sort_wide(s, values, indices, x, scratch);
}

static void sort_lanes(const sorting *s, const tsri_tile *t, void *scratch)
{
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++) {
            char *at[3];
            for (int o = 0; o < 3; o++) at[o] = t->ptr[o] + r * t->row_step[o] + c * t->col_step[o];
            sort_lane(s, at[0], at[1], at[2], scratch);
        }
}

/* Short lanes, many at a time -------------------------------------------------------------- */

enum { TOGETHER = 64 };

/* Up to TOGETHER neighbouring lanes of a tile. `packed`: whether they are contiguous, by operand. */
typedef struct bundle {
    int64_t lanes;
    char   *at[3];
    int64_t step[3];
    bool    packed[3];
} bundle;

static bool bundle_keys(const sorting *s, const bundle *b, char *keys, int64_t unit)
{
    bool ambiguous = false;
    if (b->packed[2]) return make_keys(s, keys, b->at[2], 0, b->lanes * s->n);
    for (int64_t i = 0; i < b->lanes; i++)
        ambiguous |= make_keys(s, keys + i * s->n * unit, b->at[2] + i * b->step[2], 0, s->n);
    return ambiguous;
}

static void bundle_values(const sorting *s, const bundle *b, const char *keys, int64_t unit)
{
    if (b->packed[0]) {
        s->kernels->elements[slot(s)](b->at[0], s->size, keys, b->lanes * s->n, &s->rule);
        return;
    }
    for (int64_t i = 0; i < b->lanes; i++)
        s->kernels->elements[slot(s)](b->at[0] + i * b->step[0], s->step_value, keys + i * s->n * unit, s->n,
                                      &s->rule);
}

static void bundle_indices(const sorting *s, const bundle *b, const uint64_t *items)
{
    for (int64_t i = 0; i < b->lanes; i++)
        write_indices(s, b->at[1] + i * b->step[1], items + i * s->n, 0, s->n);
}

/* False, with nothing written, if there are ambiguous elements. */
static bool sort_bundle(const sorting *s, const bundle *b)
{
    uint64_t items[TOGETHER * TSRI_SHORT_ROW];
    uint32_t keys[TOGETHER * TSRI_SHORT_ROW];
    const int64_t n = b->lanes * s->n;
    if (!s->has_indices) {
        if (bundle_keys(s, b, (char *)items, s->unit)) return false;
        if (s->unit == 4) s->kernels->rows_32((uint32_t *)(void *)items, b->lanes, s->n);
        else              s->kernels->rows_64(items, b->lanes, s->n);
        bundle_values(s, b, (const char *)items, s->unit);
        return true;
    }
    if (bundle_keys(s, b, (char *)keys, sizeof *keys) && s->has_values) return false;
    for (int64_t i = 0; i < b->lanes; i++)
        for (int64_t k = 0; k < s->n; k++)
            items[i * s->n + k] = (uint64_t)keys[i * s->n + k] << 32 | (uint64_t)k;
    s->kernels->rows_64(items, b->lanes, s->n);
    for (int64_t i = 0; i < n && s->has_values; i++) keys[i] = (uint32_t)(items[i] >> 32);
    if (s->has_values) bundle_values(s, b, (const char *)keys, sizeof *keys);
    bundle_indices(s, b, items);
    return true;
}

static bool is_short(const sorting *s)
{
    return s->n <= TSRI_SHORT_ROW && s->keep == s->n && s->unit <= 8 && !s->halves && s->kernels->rows_32;
}

static void sort_short_lanes(const sorting *s, const tsri_tile *t, void *scratch)
{
    const int64_t size[3] = { s->size, sizeof(int64_t), s->size };
    const int64_t step[3] = { s->step_value, s->step_index, s->step_x };
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c += TOGETHER) {
            bundle b = { .lanes = t->cols - c < TOGETHER ? t->cols - c : TOGETHER };
            for (int o = 0; o < 3; o++) {
                b.at[o] = t->ptr[o] + r * t->row_step[o] + c * t->col_step[o];
                b.step[o] = t->col_step[o];
                b.packed[o] = step[o] == size[o] && b.step[o] == s->n * size[o];
            }
            if (sort_bundle(s, &b)) continue;
            for (int64_t i = 0; i < b.lanes; i++)
                sort_lane(s, b.at[0] + i * b.step[0], b.at[1] + i * b.step[1], b.at[2] + i * b.step[2],
                          scratch);
        }
}

/* Operands: values, indices, elements. If one is not wanted, another is in its place. */
static void sort_tile(const tsri_tile *t, const void *params)
{
    const sorting *s = params;
    _Alignas(64) char on_stack[2 * SHORT * sizeof(wide_item)];
    const size_t bytes = s->scratch;
    size_t reserved;
    if (bytes <= sizeof on_stack) {
        if (is_short(s)) sort_short_lanes(s, t, on_stack);
        else             sort_lanes(s, t, on_stack);
        return;
    }
    void *scratch = tsri_pool_scratch(bytes, &reserved);
    if (!scratch) {
        tsri_store_release(s->no_room, 1);
        return;
    }
    sort_lanes(s, t, scratch);
    tsri_pool_give(scratch, reserved);
}

/* One long lane, by several threads ------------------------------------------------------ */

enum { SEGMENTS = 64 };

/* The lane is partitioned into segments: no key of a segment is below one of a segment before it. The
 * result does not depend on where it is partitioned. */
typedef struct long_lane {
    const sorting *s;
    char          *values, *indices, *x, *held;
    half           h;
    int32_t        ambiguous;
    int            segments;
    int64_t        begin[SEGMENTS + 1], middle[SEGMENTS];
} long_lane;

static tsr_status read_part(void *context, int64_t begin, int64_t end)
{
    long_lane *l = context;
    const bool ambiguous = l->s->has_indices
                            ? make_items_of(l->s, (uint64_t *)(void *)l->held, l->x, begin, end, l->h)
                            : make_keys(l->s, l->held + begin * l->s->unit, l->x, begin, end - begin);
    if (ambiguous) tsri_store_release(&l->ambiguous, 1);
    return TSR_OK;
}

static tsr_status cut_segments(void *context, int64_t begin, int64_t end)
{
    long_lane *l = context;
    for (int64_t i = begin; i < end; i++) {
        void *keys = l->held + l->begin[i] * l->s->unit;
        const int64_t n = l->begin[i + 1] - l->begin[i];
        l->middle[i] =
            l->s->unit == 4 ? l->s->kernels->partition_32(keys, n) : l->s->kernels->partition_64(keys, n);
    }
    return TSR_OK;
}

static tsr_status sort_segments(void *context, int64_t begin, int64_t end)
{
    const long_lane *l = context;
    for (int64_t i = begin; i < end; i++) {
        void *keys = l->held + l->begin[i] * l->s->unit;
        const int64_t n = l->begin[i + 1] - l->begin[i];
        if (l->s->unit == 4) l->s->kernels->sort_32(keys, NULL, n);
        else                 l->s->kernels->sort_64(keys, NULL, n, 0);
    }
    return TSR_OK;
}

static tsr_status write_part(void *context, int64_t begin, int64_t end)
{
    const long_lane *l = context;
    if (l->s->has_indices)
        write_items(l->s, l->values, l->indices, l->x, (const uint64_t *)(const void *)l->held, begin, end,
                    l->ambiguous != 0);
    else
        write_keys(l->s, l->values, l->held, begin, end - begin);
    return TSR_OK;
}

/* Every segment becomes two. */
static tsr_status cut_again(long_lane *l)
{
    TSRI_TRY(tsri_parallel_for(l->segments, 1, cut_segments, l));
    for (int i = l->segments; i > 0; i--) {
        l->begin[2 * i] = l->begin[i];
        l->begin[2 * i - 1] = l->begin[i - 1] + l->middle[i - 1];
    }
    l->segments *= 2;
    return TSR_OK;
}

static tsr_status sort_long(long_lane *l)
{
    const sorting *s = l->s;
    ambiguous_places at = { 0, 0 };
    const int threads = tsr_threads(), wanted = 4 * threads < SEGMENTS ? 4 * threads : SEGMENTS;
    l->h = choose_half(s, l->x);
    TSRI_TRY(tsri_parallel_for(s->n, tsri_grain(TSRI_WORK_ELEMENT), read_part, l));
    l->segments = 1;
    l->begin[0] = 0;
    l->begin[1] = s->n;
    while (2 * l->segments <= wanted) TSRI_TRY(cut_again(l));
    TSRI_TRY(tsri_parallel_for(l->segments, 1, sort_segments, l));
    if (s->halves && l->h.shift > 0) break_ties(s, (uint64_t *)(void *)l->held, NULL, l->x);
    const bool has_ambiguous = tsri_load_acquire(&l->ambiguous) != 0 && !s->has_indices;
    if (has_ambiguous) at = find_ambiguous(s, l->held);
    TSRI_TRY(tsri_parallel_for(s->keep, tsri_grain(TSRI_WORK_ELEMENT), write_part, l));
    if (has_ambiguous) put_ambiguous(s, l->values, l->x, at);
    return TSR_OK;
}

static bool is_long(const sorting *s, const tsri_loop *loop)
{
    return tsri_worth_sharing(s->n, tsri_tuning_get()->lanes.sort_shared) && s->unit <= 8 && !s->selects &&
           !s->counts && s->kernels->partition_32 && tsri_loop_count(loop) == 1 && tsr_threads() > 1;
}

static tsr_status sort_long_lane(const sorting *s, const tsri_loop *loop)
{
    long_lane l = { .s = s, .values = loop->base[0], .indices = loop->base[1], .x = loop->base[2] };
    size_t reserved = 0;
    void *scratch = NULL;
    if (s->scratch > 0) {
        scratch = tsri_pool_scratch(s->scratch, &reserved);
        TSRI_CHECK(scratch, TSR_ENOMEM, "sort: no memory to sort %lld elements", (long long)s->n);
    }
    l.held = scratch ? scratch : l.values;
    const tsr_status status = sort_long(&l);
    tsri_pool_give(scratch, reserved);
    return status;
}

/* Chooses the method and the size of scratch. False if the size overflows. */
static bool plan(sorting *s)
{
    int64_t bytes;
    const bool values = !s->has_indices && s->keep == s->n, narrow = s->n <= UINT32_MAX;
    s->counts = s->size == 1 && s->n > SHORT;
    if (s->counts) return true;
    s->selects = !values && s->keep <= s->n / 8 && s->n > 4 * RUN;
    s->halves = !values && s->size == 8 && narrow && !s->selects;
    s->unit = (int64_t)sizeof(wide_item);
    if (values)                                    s->unit = s->size < 8 ? 4 : 8;
    else if (narrow && (s->size < 8 || s->halves)) s->unit = 8;
    s->room = s->n;
    if (s->selects) {
        s->room = 4 * s->keep + 2 * RUN + 8;
        if (s->room < 4 * RUN) s->room = 4 * RUN;
    }
    const bool held = !values || !is_sorted_in_place(s), needs_room = s->kernels->needs_room || s->unit > 8;
    if (!tsri_mul(&bytes, s->room, s->unit * (held + needs_room)) || (uint64_t)bytes > SIZE_MAX / 2)
        return false;
    s->scratch = (size_t)bytes;
    return true;
}

tsr_status tsri_cpu_sort(const tsr_op *op)
{
    tsri_loop loop;
    int32_t no_room = 0;
    const tsr_sort_params *p = op->params;
    const tsr_tensor *x = op->in[0], *first = op->out[0];
    const tsr_tensor *values = op->kind == TSR_OP_SORT ? first : NULL;
    const tsr_tensor *indices = values ? (op->nout > 1 ? op->out[1] : NULL) : first;
    const int64_t n = x->shape[p->axis], keep = first->shape[p->axis];
    sorting s = {
        .kernels = tsri_cpu_kernels_get()->sort, .rule = rule_of(x->dtype, p->descending), .n = n,
        .keep = keep, .size = tsri_dtype_size(x->dtype), .step_x = tsri_axis_step(x, p->axis),
        .step_value = values ? tsri_axis_step(values, p->axis) : 0,
        .step_index = indices ? tsri_axis_step(indices, p->axis) : 0, .has_values = values != NULL,
        .has_indices = indices != NULL, .no_room = &no_room,
    };
    if (keep == 0) return TSR_OK;
    TSRI_CHECK(plan(&s), TSR_ENOMEM, "sort: no memory to sort %lld elements", (long long)n);
    tsri_lanes_build(&loop, &first->desc, 3,
                     (const tsr_tensor *const[]){ first, indices ? indices : first, x }, p->axis);
    if (is_long(&s, &loop)) return sort_long_lane(&s, &loop);
    TSRI_TRY(tsri_loop_run_parallel(&loop, &(tsri_kernel){ .fn = sort_tile, .params = &s },
                                    tsri_grain(TSRI_WORK_DECODED * (double)n)));
    TSRI_CHECK(tsri_load_acquire(&no_room) == 0, TSR_ENOMEM, "sort: no memory to sort %lld elements",
               (long long)n);
    return TSR_OK;
}

/* Searching ---------------------------------------------------------------------------- */

/* A list to search in. */
typedef struct list {
    const char     *data;
    int64_t         step, n;
    tsri_key_rule   rule;
    bool            right;
    const uint64_t *keys;  /* of its elements; NULL: they are made at each step */
} list;

static TSRI_ALWAYS_INLINE uint64_t key_of(const char *p, int size_slot, const tsri_key_rule *rule,
                                         bool is_float)
{
    switch (size_slot) {
    case 0:  return ISA(key_1)(ISA(load_1)(p), rule, is_float);
    case 1:  return ISA(key_2)(ISA(load_2)(p), rule, is_float);
    case 2:  return ISA(key_4)(ISA(load_4)(p), rule, is_float);
    default: return ISA(key_8)(ISA(load_8)(p), rule, is_float);
    }
}

enum { SEARCHES = 8 };  /* side by side: each by itself would wait for its loads */

/* How many of the keys are below each of these, in steps that do not branch, as no branch of a search can be
 * predicted. */
static TSRI_NOINLINE void find_keys(const list *l, int64_t low[SEARCHES], const uint64_t before[SEARCHES])
{
    const uint64_t *at[SEARCHES];
    UNROLL
    for (int i = 0; i < SEARCHES; i++) at[i] = l->keys;
    for (int64_t n = l->n, jump; n > 0; n -= jump) {
        jump = n - n / 2;
        UNROLL
        for (int i = 0; i < SEARCHES; i++) at[i] += jump & -(int64_t)(at[i][jump - 1] < before[i]);
    }
    UNROLL
    for (int i = 0; i < SEARCHES; i++) low[i] = at[i] - l->keys;
}

/* The same of one x, and of a list without keys. */
static TSRI_ALWAYS_INLINE int64_t find_place(const list *l, uint64_t before, int size_slot, bool is_float)
{
    int64_t low = 0;
    for (int64_t n = l->n, jump; n > 0; n -= jump) {
        jump = n - n / 2;
        const uint64_t there = key_of(l->data + (low + jump - 1) * l->step, size_slot, &l->rule, is_float);
        low += jump & -(int64_t)(there < before);
    }
    return low;
}

/* n results of a row. A key below this one is before x; 0: all are. */
static TSRI_ALWAYS_INLINE void search_some(const list *l, char *z, int64_t step_z, const char *x,
                                           int64_t step_x, int64_t n, int size_slot, bool is_float)
{
    uint64_t before[SEARCHES] = { 0 };
    int64_t low[SEARCHES];
    for (int64_t i = 0; i < n; i++)
        before[i] = key_of(x + i * step_x, size_slot, &l->rule, is_float) + l->right;
    if (l->keys) find_keys(l, low, before);
    for (int64_t i = 0; i < n; i++) {
        if (!l->keys) low[i] = find_place(l, before[i], size_slot, is_float);
        *(int64_t *)(void *)(z + i * step_z) = l->right && before[i] == 0 ? l->n : low[i];
    }
}

/* Operands: result, elements. */
static TSRI_ALWAYS_INLINE void search_rows(const tsri_tile *t, const list *l, int size_slot, bool is_float)
{
    const int64_t step_z = t->col_step[0], step_x = t->col_step[1];
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c += SEARCHES)
            search_some(l, t->ptr[0] + r * t->row_step[0] + c * step_z, step_z,
                        t->ptr[1] + r * t->row_step[1] + c * step_x, step_x,
                        t->cols - c < SEARCHES ? t->cols - c : SEARCHES, size_slot, is_float);
}

static TSRI_ALWAYS_INLINE void search_tile(const tsri_tile *t, const list *l, int size_slot)
{
    if (l->rule.finite != 0) search_rows(t, l, size_slot, true);
    else                     search_rows(t, l, size_slot, false);
}

static void search_1(const tsri_tile *t, const void *params) { search_tile(t, params, 0); }
static void search_2(const tsri_tile *t, const void *params) { search_tile(t, params, 1); }
static void search_4(const tsri_tile *t, const void *params) { search_tile(t, params, 2); }
static void search_8(const tsri_tile *t, const void *params) { search_tile(t, params, 3); }

/* Keys of the list, in scratch memory. NULL: there is none, or too little is searched for. */
static uint64_t *list_keys(const list *l, int64_t searches, int size_slot, size_t *reserved)
{
    const bool is_float = l->rule.finite != 0;
    if (l->n == 0 || searches < l->n / 4 || (uint64_t)l->n > SIZE_MAX / 2 / sizeof(uint64_t)) return NULL;
    uint64_t *keys = tsri_pool_scratch((size_t)l->n * sizeof *keys, reserved);
    for (int64_t i = 0; keys && i < l->n; i++)
        keys[i] = key_of(l->data + i * l->step, size_slot, &l->rule, is_float);
    return keys;
}

tsr_status tsri_cpu_searchsorted(const tsr_op *op)
{
    static const tsri_tile_fn searches[] = { search_1, search_2, search_4, search_8 };
    tsri_loop loop;
    const tsr_tensor *z = op->out[0], *x = op->in[0], *sorted = op->in[1];
    const int size_slot = __builtin_ctz((unsigned)tsri_dtype_size(x->dtype));
    list l = { sorted->data, tsri_axis_step(sorted, 0), sorted->shape[0], rule_of(x->dtype, false),
               ((const tsr_search_params *)op->params)->right, NULL };
    const tsri_operand operands[] = {
        { z->data, z->stride, sizeof(int64_t) }, { x->data, x->stride, tsri_dtype_size(x->dtype) },
    };
    size_t reserved = 0;
    uint64_t *keys = list_keys(&l, tsr_numel(x), size_slot, &reserved);
    l.keys = keys;
    tsri_loop_build(&loop, z->ndim, z->shape, 2, operands, 0);
    const tsr_status s = tsri_loop_run_parallel(
        &loop, &(tsri_kernel){ .fn = searches[size_slot], .params = &l }, tsri_grain(TSRI_WORK_SEARCH));
    tsri_pool_give(keys, reserved);
    return s;
}

/* Portable kernels ----------------------------------------------------------------------- */

static void sort_32_portable(uint32_t *keys, uint32_t *room, int64_t n)
{
    sort_by_digits_32(keys, room, n, 0);
}

static void sort_64_portable(uint64_t *keys, uint64_t *room, int64_t n, int known)
{
    sort_by_digits_64(keys, room, n, known / 8);
}

static int64_t items_to_portable(uint64_t *items, const uint32_t *keys, int64_t n, uint32_t first,
                                 uint32_t most)
{
    int64_t have = 0;
    for (int64_t i = 0; i < n; i++) {
        items[have] = (uint64_t)keys[i] << 32 | (uint32_t)(first + (uint32_t)i);
        have += keys[i] <= most;
    }
    return have;
}

void tsri_cpu_sort_portable(tsri_cpu_kernels *k)
{
    static const tsri_sort_kernels sorts = {
        sort_32_portable, sort_64_portable, { ISA(keys_1), ISA(keys_2), ISA(keys_4), ISA(keys_8) },
        { ISA(elements_1), ISA(elements_2), ISA(elements_4), ISA(elements_8) }, ISA(make_items),
        items_to_portable, true,
        NULL, NULL, NULL, NULL,
    };
    k->sort = &sorts;
}
