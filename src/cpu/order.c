/* order.c - sorting and searching on the CPU.
 *
 * An element's place in the order is an unsigned integer, its key, that says all there
 * is to say: -0 and 0 have one, NaNs have the last. A lane is sorted as keys with their
 * indices, so the lane's strides are walked once, the sort is the same for all dtypes,
 * and elements keep their bits, as they are fetched by index afterwards. Few elements
 * are inserted among the best so far; many are dealt out digit by digit. Both are stable.
 *
 * LIMIT: one lane is sorted by one thread. */
#include "core/alloc.h"
#include "core/atomic.h"
#include "core/half.h"
#include "core/mem.h"
#include "cpu_run.h"
#include "kernels.h"
#include "lanes.h"

enum { FEW = 48, RUN = 64 };

/* What is true of every lane of a call. */
typedef struct lane {
    int64_t n, keep;                      /* elements; of those, how many to write */
    int64_t step_x, step_value, step_index;
    int     digits;                       /* of a key, in bytes */
    bool    descending;
} lane;

/* A list to search in. */
typedef struct list {
    const char *data;
    int64_t     step, n;
    bool        right;
} list;

struct item_32;
struct item_64;
typedef void (*keys_fn_32)(struct item_32 *, const char *x, int64_t step, int64_t first, int64_t n, bool descending);
typedef void (*keys_fn_64)(struct item_64 *, const char *x, int64_t step, int64_t first, int64_t n, bool descending);

typedef struct order {
    keys_fn_32   keys_32; /* for keys of four bytes at most, and indices that fit */
    keys_fn_64   keys_64;
    tsri_tile_fn search;
} order;

#define K uint32_t
#define ITEM item_32
#define NAME(x) x##_32
#include "template/sort_items.inc"
#undef K
#undef ITEM
#undef NAME

#define K uint64_t
#define ITEM item_64
#define NAME(x) x##_64
#include "template/sort_items.inc"
#undef K
#undef ITEM
#undef NAME

#define TEMPLATE "float_order.inc"
#include "template/each_float.inc"
#undef TEMPLATE
#define TEMPLATE "integer_order.inc"
#include "template/each_integer.inc"
#undef TEMPLATE

/* A bool orders as a byte does. */
static const order *const orders[TSR_DTYPE_COUNT] = {
    [TSR_BOOL] = &order_u8, [TSR_I8] = &order_i8, [TSR_I16] = &order_i16, [TSR_I32] = &order_i32,
    [TSR_I64] = &order_i64, [TSR_U8] = &order_u8, [TSR_U16] = &order_u16, [TSR_U32] = &order_u32,
    [TSR_U64] = &order_u64, [TSR_F8E4M3] = &order_f8e4m3, [TSR_F8E5M2] = &order_f8e5m2, [TSR_F16] = &order_f16,
    [TSR_BF16] = &order_bf16, [TSR_F32] = &order_f32, [TSR_F64] = &order_f64,
};

/* Sorting ------------------------------------------------------------------------------ */

typedef struct sorting {
    lane         lane;
    const order *order;
    bool         narrow;      /* keys and indices of 32 bits do */
    bool         has_values, has_indices;
    tsri_tile_fn fetch;       /* gather for the element's size */
    size_t       scratch;     /* bytes that a lane needs; 0: none */
    int32_t     *no_room;     /* set to 1 where there was none */
} sorting;

/* The elements at `place`, and the places, to where they belong. */
static void write_lane(const sorting *s, const int64_t *place, char *values, char *indices, char *x)
{
    const lane *l = &s->lane;
    if (s->has_values)
        s->fetch(&(tsri_tile){ .rows = 1, .cols = l->keep, .ptr = { values, (char *)(uintptr_t)place, x },
                               .col_step = { l->step_value, sizeof(int64_t), 0 } }, &l->step_x);
    if (s->has_indices)
        for (int64_t i = 0; i < l->keep; i++) *(int64_t *)(void *)(indices + i * l->step_index) = place[i];
}

static void sort_lane(const sorting *s, char *values, char *indices, char *x, void *scratch)
{
    int64_t few[FEW];
    int64_t *place = scratch ? scratch : few;
    void *rest = place + (scratch ? s->lane.keep : 0);
    if (!scratch && s->narrow)  sort_few_32(place, &s->lane, x, s->order->keys_32);
    else if (!scratch)          sort_few_64(place, &s->lane, x, s->order->keys_64);
    else if (s->narrow)         sort_many_32(place, &s->lane, x, s->order->keys_32, rest);
    else                        sort_many_64(place, &s->lane, x, s->order->keys_64, rest);
    write_lane(s, place, values, indices, x);
}

/* Operands: values, indices, elements; where one is not wanted, another stands for it. */
static void sort_tile(const tsri_tile *t, const void *params)
{
    const sorting *s = params;
    void *scratch = s->scratch ? tsri_scratch(s->scratch) : NULL;
    if (s->scratch && !scratch) {
        tsri_store_release(s->no_room, 1);
        return;
    }
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++) {
            char *at[3];
            for (int o = 0; o < 3; o++) at[o] = t->ptr[o] + r * t->row_step[o] + c * t->col_step[o];
            sort_lane(s, at[0], at[1], at[2], scratch);
        }
    if (scratch) tsri_free(scratch, s->scratch);
}

/* Bytes for places, counts, and two sets of items. */
static bool scratch_of(const sorting *s, size_t *bytes)
{
    int64_t items, places;
    const int64_t counts = (int64_t)(s->narrow ? sizeof(uint32_t) : sizeof(uint64_t)) * 256 * (int64_t)sizeof(int64_t);
    *bytes = 0;
    if (s->lane.keep <= FEW) return true;
    if (!tsri_mul(&items, s->lane.n, 2 * (int64_t)(s->narrow ? sizeof(item_32) : sizeof(item_64))) ||
        !tsri_mul(&places, s->lane.keep, sizeof(int64_t)) || !tsri_add(&items, items, places) ||
        !tsri_add(&items, items, counts))
        return false;
    *bytes = (size_t)items;
    return *bytes == (uint64_t)items;
}

tsr_status tsri_cpu_sort(const tsr_op *op)
{
    tsri_loop loop;
    int32_t no_room = 0;
    const tsr_sort_params *p = op->params;
    const tsr_tensor *x = op->in[0], *first = op->out[0];
    const tsr_tensor *values = op->kind == TSR_OP_SORT ? first : NULL;
    const tsr_tensor *indices = values ? (op->nout > 1 ? op->out[1] : NULL) : first;
    const int64_t n = x->shape[p->axis], keep = first->shape[p->axis], size = tsri_dtype_size(x->dtype);
    sorting s = {
        .lane = { n, keep, tsri_axis_step(x, p->axis), values ? tsri_axis_step(values, p->axis) : 0,
                  indices ? tsri_axis_step(indices, p->axis) : 0, (int)size, p->descending },
        .order = orders[x->dtype], .narrow = size <= 4 && n <= UINT32_MAX, .has_values = values != NULL,
        .has_indices = indices != NULL, .fetch = tsri_cpu_kernels_get()->gather[__builtin_ctz((unsigned)size)],
        .no_room = &no_room,
    };
    if (keep == 0) return TSR_OK;
    TSRI_CHECK(scratch_of(&s, &s.scratch), TSR_ENOMEM, "sort: no room to sort %lld elements", (long long)n);
    tsri_lanes_build(&loop, &first->desc, 3,
                     (const tsr_tensor *const[]){ first, indices ? indices : first, x }, p->axis);
    TSRI_TRY(tsri_loop_run_parallel(&loop, sort_tile, &s, (8 << 10) / n + 1));
    TSRI_CHECK(tsri_load_acquire(&no_room) == 0, TSR_ENOMEM, "sort: no room to sort %lld elements", (long long)n);
    return TSR_OK;
}

/* Searching ---------------------------------------------------------------------------- */

tsr_status tsri_cpu_searchsorted(const tsr_op *op)
{
    tsri_loop loop;
    const tsr_tensor *z = op->out[0], *x = op->in[0], *sorted = op->in[1];
    const list l = { sorted->data, tsri_axis_step(sorted, 0), sorted->shape[0],
                     ((const tsr_search_params *)op->params)->right };
    const tsri_operand operands[] = {
        { z->data, z->stride, sizeof(int64_t) }, { x->data, x->stride, tsri_dtype_size(x->dtype) },
    };
    tsri_loop_build(&loop, z->ndim, z->shape, 2, operands, 0);
    return tsri_loop_run_parallel(&loop, orders[x->dtype]->search, &l, 1024);
}
