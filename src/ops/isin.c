/* isin.c - which elements are in a list: by a table of integers that span few numbers, else by search in the
 * sorted list. */
#include "composed.h"
#include "core/alloc.h"
#include "core/loop.h"
#include "core/mem.h"
#include "dispatch.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/index.h"
#include "tessera/ops/order.h"
#include "tessera/ops/reduce.h"
#include "tessera/scope.h"
#include "tessera/view.h"

/* Tables ----------------------------------------------------------------------------------- */

/* A table of a list of integers that span few numbers: a byte for each, and one of 0 for all others. */
typedef struct membership {
    uint64_t       low;     /* the least of the list, and how far the others reach from there */
    uint64_t       span;
    unsigned char *table;
} membership;

/* x as an unsigned number, less the least: differences wrap around, signed or not. */
static TSRI_ALWAYS_INLINE uint64_t place_of(const char *x, uint64_t low, int64_t size)
{
    switch (size) {
    case 1:  return (uint8_t)(*(const uint8_t *)x - low);
    case 2:  return (uint16_t)(*(const uint16_t *)(const void *)x - low);
    case 4:  return (uint32_t)(*(const uint32_t *)(const void *)x - low);
    default: return *(const uint64_t *)(const void *)x - low;
    }
}

static TSRI_ALWAYS_INLINE void mark_rows(const tsri_tile *t, const membership *m, int64_t size)
{
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++)
            m->table[place_of(t->ptr[0] + r * t->row_step[0] + c * t->col_step[0], m->low, size)] = 1;
}

/* Operands: result, elements. */
static TSRI_ALWAYS_INLINE void look_up_rows(const tsri_tile *t, const membership *m, int64_t size)
{
    const uint64_t low = m->low, span = m->span;
    const int64_t dz = t->col_step[0], dx = t->col_step[1];
    const unsigned char *table = m->table;
    for (int64_t r = 0; r < t->rows; r++) {
        char *z = t->ptr[0] + r * t->row_step[0];
        const char *x = t->ptr[1] + r * t->row_step[1];
        for (int64_t c = 0; c < t->cols; c++) {
            const uint64_t at = place_of(x + c * dx, low, size);
            z[c * dz] = (char)table[at <= span ? at : span + 1];
        }
    }
}

static void mark_1(const tsri_tile *t, const void *m) { mark_rows(t, m, 1); }
static void mark_2(const tsri_tile *t, const void *m) { mark_rows(t, m, 2); }
static void mark_4(const tsri_tile *t, const void *m) { mark_rows(t, m, 4); }
static void mark_8(const tsri_tile *t, const void *m) { mark_rows(t, m, 8); }
static void look_up_1(const tsri_tile *t, const void *m) { look_up_rows(t, m, 1); }
static void look_up_2(const tsri_tile *t, const void *m) { look_up_rows(t, m, 2); }
static void look_up_4(const tsri_tile *t, const void *m) { look_up_rows(t, m, 4); }
static void look_up_8(const tsri_tile *t, const void *m) { look_up_rows(t, m, 8); }

static tsri_operand operand_of(const tsr_tensor *t)
{
    return (tsri_operand){ t->data, t->stride, tsri_dtype_size(t->dtype) };
}

static tsr_status look_up(const tsr_op *op, const membership *m)
{
    static const tsri_tile_fn marks[] = { mark_1, mark_2, mark_4, mark_8 },
                              look_ups[] = { look_up_1, look_up_2, look_up_4, look_up_8 };
    const tsr_tensor *z = op->out[0], *x = op->in[0], *list = op->in[1];
    const int slot = __builtin_ctz((unsigned)tsri_dtype_size(x->dtype));
    tsri_loop loop;
    tsri_loop_build(&loop, list->ndim, list->shape, 1, (const tsri_operand[]){ operand_of(list) }, 0);
    tsri_loop_run(&loop, marks[slot], m);
    tsri_loop_build(&loop, z->ndim, z->shape, 2, (const tsri_operand[]){ operand_of(z), operand_of(x) }, 0);
    return tsri_loop_run_parallel(&loop, &(tsri_kernel){ .fn = look_ups[slot], .params = m },
                                  tsri_grain(TSRI_WORK_ELEMENT));
}

static tsr_status extreme_bits(uint64_t *out, const tsr_tensor *t, bool most)
{
    tsr_tensor *found = NULL;
    *out = 0;
    tsr_status s = most ? tsr_max(&found, t, 0, NULL, false) : tsr_min(&found, t, 0, NULL, false);
    if (s == TSR_OK) memcpy(out, found->data, (size_t)tsri_dtype_size(t->dtype));
    tsr_release(&found);
    return s;
}

/* By a table, if the list's integers span so few numbers that it pays; *done says whether they do. */
static tsr_status find_in_table(const tsr_op *op, bool *done)
{
    const tsr_tensor *x = op->in[0], *list = op->in[1];
    const uint64_t most_span = 8 * ((uint64_t)tsr_numel(x) + (uint64_t)tsr_numel(list)) + 256;
    membership m;
    uint64_t high;
    *done = false;
    if (!tsri_is_here(x) || tsr_dtype_kind(x->dtype) == TSR_FLOATING) return TSR_OK;
    TSRI_TRY(extreme_bits(&m.low, list, false));
    TSRI_TRY(extreme_bits(&high, list, true));
    m.span = place_of((const char *)&high, m.low, tsri_dtype_size(x->dtype));
    if (m.span > most_span || m.span > INT32_MAX) return TSR_OK;
    const size_t bytes = (size_t)m.span + 2;
    m.table = tsri_scratch(bytes);
    if (!m.table) return TSR_OK;
    memset(m.table, 0, bytes);
    *done = true;
    const tsr_status s = look_up(op, &m);
    tsri_free(m.table, bytes);
    return s;
}

/* Search ----------------------------------------------------------------------------------- */

/* Where each element of x would stand in the list, and what stands there. Beyond the end is the last one,
 * which such an element is not. */
static tsr_status find_nearest(tsr_tensor **nearest, tsr_tensor **places, const tsr_tensor *list,
                               const tsr_tensor *x)
{
    TSRI_TRY(tsr_searchsorted(places, list, x, false));
    TSRI_TRY(tsr_minimum(places, *places, TSR_NUMBER(tsr_numel(list) - 1)));
    return tsr_take(nearest, list, *places, 0);
}

static tsr_status sort_all(tsr_tensor **out, const tsr_tensor *t)
{
    tsr_tensor *flat = NULL;
    const int64_t n = tsr_numel(t);
    TSRI_TRY(tsr_reshape(&flat, t, 1, &n));
    const tsr_status s = tsr_sort(out, flat, 0, false);
    tsr_release(&flat);
    return s;
}

static tsr_status run_isin(const tsr_op *op)
{
    tsr_tensor *list = NULL, *places = NULL, *nearest = NULL, *out = op->out[0];
    bool done;
    if (tsr_numel(op->in[1]) == 0) return tsri_fill_run(out, tsr_scalar_bool(false));
    TSRI_TRY(find_in_table(op, &done));
    if (done) return TSR_OK;
    tsr_status s = sort_all(&list, op->in[1]);
    if (s == TSR_OK) s = find_nearest(&nearest, &places, list, op->in[0]);
    if (s == TSR_OK) s = tsr_eq(&out, nearest, op->in[0]);
    tsr_release_all(&list, &places, &nearest);
    return s;
}

static tsr_status infer_isin(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params)
{
    (void)kind; (void)params;
    return tsri_desc_packed(out, name, TSR_BOOL, in[0]->ndim, in[0]->shape);
}

tsr_status tsr_isin(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *test)
{
    static tsri_composed isin = { .row = "isin", .traits = { .infer = infer_isin, .parts = run_isin } };
    return tsri_dispatch(&(tsri_call){ .composed = &isin, .nin = 2, .in = { x, test }, .nout = 1,
                                       .out = { out } });
}
