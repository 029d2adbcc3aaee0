/* index.c - take, put and other ops by indices: every index is checked, and then gather or scatter runs on
 * views; masked_fill. */
#include "index_int.h"
#include "backend/device_run.h"
#include "composed.h"
#include "core/atomic.h"
#include "core/loop.h"
#include "core/mem.h"
#include "dispatch.h"
#include "tessera/move.h"
#include "tessera/ops/index.h"

static void build_loop(tsri_loop *loop, const tsr_tensor *t)
{
    tsri_loop_build(loop, t->ndim, t->shape, 1,
                    (const tsri_operand[]){ { t->data, t->stride, tsri_dtype_size(t->dtype) } },
                    TSRI_ORDERED);
}

/* The index of element k in row-major order. */
static void unflatten(int64_t *index, const tsr_desc *d, int64_t k)
{
    for (int i = d->ndim - 1; i >= 0; i--) {
        index[i] = k % d->shape[i];
        k /= d->shape[i];
    }
}

/* Indices ---------------------------------------------------------------------------- */

tsr_status tsri_as_integers(const tsr_tensor **t, tsr_tensor **temporary, const char *op, const char *what)
{
    TSRI_TRY(tsri_check_kinds(op, what, *t, TSRI_INTEGER));
    return tsri_as_dtype(t, temporary, TSR_I64);
}

typedef struct search {
    tsri_index_range allowed;
    const int64_t *except;
    int64_t        seen, value;
} search;

static bool stop_outside(const tsri_tile *t, void *context)
{
    search *s = context;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++, s->seen++) {
            s->value = *(const int64_t *)(const void *)(t->ptr[0] + r * t->row_step[0] + c * t->col_step[0]);
            if ((s->value < s->allowed.low || s->value > s->allowed.high) &&
                !(s->except && s->value == *s->except))
                return false;
        }
    return true;
}

static bool find_outside(int64_t *value, int64_t *at, const tsr_tensor *t, tsri_index_range allowed,
                         const int64_t *except)
{
    tsri_loop loop;
    search s = { allowed, except, 0, 0 };
    build_loop(&loop, t);
    if (tsri_loop_visit(&loop, stop_outside, &s)) return false;
    *value = s.value;
    unflatten(at, &t->desc, s.seen);
    return true;
}

tsr_status tsri_find_outside(bool *found, int64_t *value, int64_t *at, const tsr_tensor *t,
                             tsri_index_range allowed, const int64_t *except)
{
    tsr_tensor *temporary = NULL;
    *found = false;
    if (!tsri_is_here(t) && t->device != TSR_CPU && tsri_device_in_range(t, allowed.low, allowed.high))
        return TSR_OK;
    TSRI_TRY(tsri_copy_to_host(&t, &temporary));
    *found = find_outside(value, at, t, allowed, except);
    tsr_release(&temporary);
    return TSR_OK;
}

/* Which indices of a dim of `size` there are: negative ones, and some outside -size .. size - 1. */
typedef struct index_signs {
    int64_t size;
    int32_t outside, negative;
} index_signs;

/* The sign of (v + size) | (size - 1 - v) says that v is outside, also where the sums wrap around. */
static void find_signs(const tsri_tile *t, const void *params)
{
    index_signs *found = (index_signs *)(uintptr_t)params;
    const uint64_t size = (uint64_t)found->size;
    uint64_t outside = 0, negative = 0;
    for (int64_t r = 0; r < t->rows; r++) {
        const char *row = t->ptr[0] + r * t->row_step[0];
        const int64_t step = t->col_step[0], n = t->cols;
        if (step == sizeof(int64_t))
            for (int64_t c = 0; c < n; c++) {
                const uint64_t v = ((const uint64_t *)(const void *)row)[c];
                negative |= v;
                outside |= (v + size) | (size - 1 - v);
            }
        else
            for (int64_t c = 0; c < n; c++) {
                const uint64_t v = *(const uint64_t *)(const void *)(row + c * step);
                negative |= v;
                outside |= (v + size) | (size - 1 - v);
            }
    }
    if (outside >> 63) tsri_store_release(&found->outside, 1);
    if (negative >> 63) tsri_store_release(&found->negative, 1);
}

static void count_from_start(const tsri_tile *t, const void *params)
{
    const int64_t size = *(const int64_t *)params;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++) {
            int64_t *v = (int64_t *)(void *)(t->ptr[0] + r * t->row_step[0] + c * t->col_step[0]);
            if (*v < 0) *v += size;
        }
}

/* One call: which elements it takes or sets, and how. */
typedef struct choice {
    const char *op;    /* begins the messages */
    int         axis;  /* as given */
    tsr_status (*run)(const tsr_op *op, int axis); /* with indices that are checked */
    bool             broadcast; /* t and index, outside the axis */
    tsr_scatter_mode mode;
    int64_t          depth;     /* of one_hot */
    tsr_dtype        dtype;
    tsr_scalar       value;     /* that masks set */
} choice;

static TSRI_COLD tsr_status blame_index(const char *op, const tsr_tensor *index, tsri_index_range allowed,
                                        int axis, const tsr_desc *d)
{
    int64_t v = 0, at[TSR_MAX_NDIM];
    (void)find_outside(&v, at, index, allowed, NULL);
    if (v < 0 && allowed.low == 0)  /* an unsigned index beyond 2^63 - 1 */
        return tsri_fail(TSR_EINDEX, "%s: index %llu at %s is outside dim %d of %s, which has %lld", op,
                         (unsigned long long)v, TSRI_DIMS(index->ndim, at), axis, TSRI_DESC(d),
                         (long long)d->shape[axis]);
    return tsri_fail(TSR_EINDEX, "%s: index %lld at %s is outside dim %d of %s, which has %lld", op,
                     (long long)v, TSRI_DIMS(index->ndim, at), axis, TSRI_DESC(d),
                     (long long)d->shape[axis]);
}

/* *index as i64 in 0 .. size - 1 of dim `axis` of d: the tensor itself if it is so, else a copy. */
static tsr_status open_index_here(const tsr_tensor **index, tsr_tensor **temporary, const char *op, int axis,
                                  const tsr_desc *d)
{
    tsri_loop loop;
    const int64_t size = d->shape[axis];
    const tsr_kind kind = tsr_dtype_kind((*index)->dtype);
    index_signs found = { size, 0, 0 };
    TSRI_TRY(tsri_as_dtype(index, temporary, TSR_I64));
    build_loop(&loop, *index);
    TSRI_TRY(tsri_loop_run_parallel(&loop, &(tsri_kernel){ .fn = find_signs, .params = &found },
                                    tsri_grain(TSRI_WORK_READ)));
    const tsri_index_range allowed = { kind == TSR_SIGNED ? -size : 0, size - 1 };
    if (found.outside || (found.negative && kind != TSR_SIGNED))
        return blame_index(op, *index, allowed, axis, d);
    if (!found.negative) return TSR_OK;
    if (!*temporary) {
        TSRI_TRY(tsr_clone(temporary, *index));
        *index = *temporary;
    }
    build_loop(&loop, *index);
    tsri_loop_run(&loop, count_from_start, &size);
    return TSR_OK;
}

/* Is an index on a device in 0 .. size - 1, as its backend finds without bringing it here? It becomes i64. */
static bool is_open_there(const tsr_tensor **index, tsr_tensor **temporary, int64_t size)
{
    const tsr_tensor *seen = *index;
    tsr_tensor *own = NULL;
    if (tsri_as_dtype(&seen, &own, TSR_I64) != TSR_OK || !tsri_device_in_range(seen, 0, size - 1)) {
        tsr_release(&own);
        return false;
    }
    *index = seen;
    *temporary = own;
    return true;
}

/* The same for an index on any device: values that are not in range from the start are looked at here. */
static tsr_status open_index(const tsr_tensor **index, tsr_tensor **temporary, const char *op, int axis,
                             const tsr_desc *d)
{
    const tsr_tensor *given = *index, *seen;
    tsr_tensor *copy = NULL;
    if (TSRI_LIKELY(tsri_is_here(given))) return open_index_here(index, temporary, op, axis, d);
    if (given->device == TSR_CPU) return tsri_check_host(op, "index", given);
    if (is_open_there(index, temporary, d->shape[axis])) return TSR_OK;
    TSRI_TRY(tsr_to_host(&copy, given));
    seen = copy;
    tsr_status s = open_index_here(&seen, temporary, op, axis, d);
    if (s == TSR_OK && seen != copy) {
        s = tsr_to(temporary, *temporary, given->device);
        *index = *temporary;
    }
    tsr_release(&copy);
    return s;
}

/* The parts of ops of t and an index: operand 1 is checked against t. */
static tsr_status run_chosen(const tsr_op *op)
{
    const choice *how = op->params;
    const tsr_desc *t = &op->in[0]->desc;
    const int axis = how->axis < 0 ? how->axis + t->ndim : how->axis;
    tsr_tensor *temporary = NULL;
    tsr_op seen = *op;
    tsr_status s = open_index(&seen.in[1], &temporary, how->op, axis, t);
    if (s == TSR_OK) s = how->run(&seen, axis);
    tsr_release(&temporary);
    return s;
}

static tsr_status dispatch(tsr_tensor **out, tsri_composed *composed, const choice *how, const tsr_tensor *t,
                           const tsr_tensor *index, const tsr_tensor *src)
{
    return tsri_dispatch(&(tsri_call){ .composed = composed, .name = how->op, .params = how,
                                       .nin = src ? 3 : 2, .in = { t, index, src }, .nout = 1,
                                       .out = { out } });
}

/* Gather ------------------------------------------------------------------------------- */

static tsr_status gather_run(tsr_tensor *out, const tsr_tensor *t, const tsr_tensor *index, int axis)
{
    const tsr_axis_params params = { axis };
    return tsri_op_run(&(tsr_op){
        .kind = TSR_OP_GATHER, .nin = 2, .nout = 1, .in = { t, index }, .out = { out }, .params = &params });
}

/* Result, source and index as three tensors of one rank. The result has all of index's
 * dims where the source has the axis; in those but the first the source has stride 0,
 * and where the source has other dims, the index has. */
static tsr_status take_run(const tsr_op *op, int axis)
{
    tsr_tensor z, x, i;
    const tsr_tensor *index = op->in[1];
    tsri_see_as(&z, op->out[0]);
    tsri_see_as(&x, op->in[0]);
    tsri_see_memory(&i, index);
    if (index->ndim == 0) tsri_insert_dim(&z.desc, axis, 1, 0);
    for (int d = 1; d < index->ndim; d++) tsri_insert_dim(&x.desc, axis + d, index->shape[d], 0);
    tsri_desc_copy(&i.desc, &z.desc);
    i.dtype = TSR_I64;
    for (int d = 0; d < z.ndim; d++)
        i.stride[d] = d >= axis && d < axis + index->ndim ? index->stride[d - axis] : 0;
    return gather_run(&z, &x, &i, axis);
}

static tsr_status infer_take(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params)
{
    int axis;
    tsr_desc d;
    const tsr_desc *t = in[0], *index = in[1];
    (void)kind;
    TSRI_TRY(tsri_axis(&axis, name, "axis", ((const choice *)params)->axis, t));
    TSRI_CHECK(t->ndim - 1 + index->ndim <= TSR_MAX_NDIM, TSR_EINVAL,
               "%s: %s at the indices %s has too many dims", name, TSRI_DESC(t), TSRI_DESC(index));
    tsri_desc_copy(&d, t);
    tsri_remove_dim(&d, axis);
    for (int i = 0; i < index->ndim; i++) tsri_insert_dim(&d, axis + i, index->shape[i], 0);
    return tsri_desc_packed(out, name, d.dtype, d.ndim, d.shape);
}

tsr_status tsr_take(tsr_tensor **out, const tsr_tensor *t, const tsr_tensor *index, int axis)
{
    static tsri_composed take = { .row = "take", .traits = { .infer = infer_take, .parts = run_chosen } };
    return dispatch(out, &take, &(choice){ .op = "take", .axis = axis, .run = take_run }, t, index, NULL);
}

tsr_status tsr_embedding(tsr_tensor **out, const tsr_tensor *weight, const tsr_tensor *index)
{
    static tsri_composed embedding = { .row = "embedding", .traits = { .parts = run_chosen } };
    return dispatch(out, &embedding, &(choice){ .op = "embedding", .run = take_run }, weight, index, NULL);
}

static tsr_status check_ranks(const char *op, const tsr_desc *t, const tsr_desc *index)
{
    TSRI_CHECK(t->ndim == index->ndim, TSR_ESHAPE, "%s: t is %s, but index is %s: ranks differ", op,
               TSRI_DESC(t), TSRI_DESC(index));
    return TSR_OK;
}

/* Dim i of both, by NumPy's rule or by PyTorch's. */
static tsr_status pair_dim(int64_t *size, const choice *how, int i, const tsr_desc *t, const tsr_desc *index)
{
    const int64_t a = t->shape[i], b = index->shape[i];
    *size = how->broadcast && b == 1 ? a : b;
    TSRI_CHECK(how->broadcast ? a == 1 || a == *size : b <= a, TSR_ESHAPE,
               "%s: dim %d is %lld in t %s and %lld in index %s", how->op, i, (long long)a, TSRI_DESC(t),
               (long long)b, TSRI_DESC(index));
    return TSR_OK;
}

static tsr_status infer_along(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                              const void *params)
{
    int axis;
    const choice *how = params;
    int64_t shape[TSR_MAX_NDIM];
    (void)kind;
    TSRI_TRY(tsri_axis(&axis, name, "axis", how->axis, in[0]));
    TSRI_TRY(check_ranks(name, in[0], in[1]));
    for (int i = 0; i < in[0]->ndim; i++) {
        if (i == axis) shape[i] = in[1]->shape[i];
        else           TSRI_TRY(pair_dim(&shape[i], how, i, in[0], in[1]));
    }
    return tsri_desc_packed(out, name, in[0]->dtype, in[0]->ndim, shape);
}

/* t with this shape outside the axis: dims of size 1 repeat, longer ones are cut. */
static void see_paired(tsr_tensor *v, const tsr_tensor *t, const tsr_desc *shape, int axis)
{
    tsri_see_as(v, t);
    for (int i = 0; i < t->ndim; i++) {
        if (i == axis) continue;
        if (t->shape[i] == 1) v->stride[i] = 0;
        v->shape[i] = shape->shape[i];
    }
}

static tsr_status run_along(const tsr_op *op, int axis)
{
    tsr_tensor x, index;
    see_paired(&x, op->in[0], &op->out[0]->desc, axis);
    see_paired(&index, op->in[1], &op->out[0]->desc, axis);
    return gather_run(op->out[0], &x, &index, axis);
}

static tsr_status along(tsr_tensor **out, const char *op, const tsr_tensor *t, const tsr_tensor *index,
                        int axis, bool broadcast)
{
    static tsri_composed along_axis = { .row = "take_along_axis",
                                        .traits = { .infer = infer_along, .parts = run_chosen } };
    const choice how = { .op = op, .axis = axis, .run = run_along, .broadcast = broadcast };
    return dispatch(out, &along_axis, &how, t, index, NULL);
}

tsr_status tsr_take_along_axis(tsr_tensor **out, const tsr_tensor *t, const tsr_tensor *index, int axis)
{
    return along(out, "take_along_axis", t, index, axis, true);
}

tsr_status tsr_gather(tsr_tensor **out, const tsr_tensor *t, const tsr_tensor *index, int axis)
{
    return along(out, "gather", t, index, axis, false);
}

/* Scatter ------------------------------------------------------------------------------ */

static tsr_status scatter_run(tsr_tensor *out, const tsr_tensor *index, const tsr_tensor *src, int axis,
                              tsr_scatter_mode mode)
{
    const tsr_scatter_params params = { axis, (int32_t)mode };
    if (tsr_desc_numel(&index->desc) == 0) return TSR_OK;
    return tsri_op_run(&(tsr_op){ .kind = TSR_OP_SCATTER,
                                  .nin = 2,
                                  .nout = 1,
                                  .in = { index, src },
                                  .out = { out },
                                  .params = &params });
}

/* out = t, then src is written at the places of index; both have one shape. */
static tsr_status scatter(const tsr_op *op, const tsr_tensor *index, const tsr_tensor *src, int axis)
{
    const tsr_tensor *t = op->in[0];
    tsr_tensor *out = op->out[0];
    if (!tsri_is_exactly(t, out))
        TSRI_TRY(tsri_op_run(
            &(tsr_op){ .kind = TSR_OP_COPY, .nin = 1, .nout = 1, .in = { t }, .out = { out } }));
    return scatter_run(out, index, src, axis, ((const choice *)op->params)->mode);
}

static tsr_status check_mode(const char *op, const tsr_desc *t, tsr_scatter_mode mode)
{
    static const char *const names[] = { "set", "add", "max" };
    const tsr_kind kind = tsr_dtype_kind(t->dtype);
    TSRI_CHECK((unsigned)mode <= TSR_SCATTER_MAX, TSR_EINVAL, "%s: %d is no mode", op, (int)mode);
    const bool takes =
        mode == TSR_SCATTER_SET ||
        (mode == TSR_SCATTER_ADD ? kind != TSR_BOOLEAN && t->dtype != TSR_C32 : kind != TSR_COMPLEX);
    TSRI_CHECK(takes, TSR_EDTYPE, "%s: %s does not take %s", op, names[mode], TSRI_DESC(t));
    return TSR_OK;
}

/* The source is converted to t's dtype, never t to the source's. */
static tsr_status check_src(const char *op, const tsr_tensor *t, const tsr_tensor *src)
{
    TSRI_TRY(tsri_check_allocated(op, "t", t));
    TSRI_TRY(tsri_check_allocated(op, "src", src));
    const bool fits = tsri_is_number(src)
                          ? tsri_number_fits(tsr_dtype_kind(src->dtype), tsr_dtype_kind(t->dtype))
                          : src->dtype == t->dtype;
    TSRI_CHECK(fits, TSR_EDTYPE, "%s: t is %s, but src is %s (tsr_cast converts)", op, TSRI_DESC(&t->desc),
               TSRI_DESC(&src->desc));
    return TSR_OK;
}

static tsr_status check_shapes(const tsr_desc *t, const tsr_desc *index, const tsr_desc *src, int axis)
{
    TSRI_TRY(check_ranks("scatter", t, index));
    TSRI_CHECK(src->ndim == index->ndim || src->ndim == 0, TSR_ESHAPE,
               "scatter: index is %s, but src is %s: ranks differ", TSRI_DESC(index), TSRI_DESC(src));
    for (int i = 0; i < index->ndim; i++) {
        TSRI_CHECK(i == axis || index->shape[i] <= t->shape[i], TSR_ESHAPE,
                   "scatter: dim %d is %lld in index %s, longer than in t %s", i, (long long)index->shape[i],
                   TSRI_DESC(index), TSRI_DESC(t));
        TSRI_CHECK(src->ndim == 0 || index->shape[i] <= src->shape[i], TSR_ESHAPE,
                   "scatter: dim %d is %lld in index %s, longer than in src %s", i,
                   (long long)index->shape[i], TSRI_DESC(index), TSRI_DESC(src));
    }
    return TSR_OK;
}

static tsr_status infer_scatter(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                const void *params)
{
    int axis;
    const choice *how = params;
    (void)kind;
    TSRI_TRY(check_mode(name, in[0], how->mode));
    TSRI_TRY(tsri_axis(&axis, name, "axis", how->axis, in[0]));
    TSRI_TRY(check_shapes(in[0], in[1], in[2], axis));
    return tsri_desc_packed(out, name, in[0]->dtype, in[0]->ndim, in[0]->shape);
}

/* The source as far as the index reaches. */
static tsr_status run_scatter(const tsr_op *op, int axis)
{
    const tsr_tensor *index = op->in[1], *src = op->in[2];
    tsr_tensor v;
    tsri_see_as(&v, src);
    v.ndim = index->ndim;
    for (int i = 0; i < index->ndim; i++) {
        v.shape[i] = index->shape[i];
        if (src->ndim == 0) v.stride[i] = 0;
    }
    return scatter(op, index, &v, axis);
}

tsr_status tsr_scatter(tsr_tensor **out, const tsr_tensor *t, const tsr_tensor *index, const tsr_tensor *src,
                       int axis, tsr_scatter_mode mode)
{
    static tsri_composed call = {
        .row = "scatter",
        .signature = "t{ dT | (...) } index{ integer | (...) } src{ dT | (...) } -> out{ dT | (...) }",
        .traits = { .infer = infer_scatter, .parts = run_chosen, .in_place = 1 },
    };
    const choice how = { .op = "scatter", .axis = axis, .run = run_scatter, .mode = mode };
    TSRI_TRY(check_src("scatter", t, src));
    return dispatch(out, &call, &how, t, index, src);
}

static tsr_status infer_index_add(tsr_desc *out, const char *name, tsr_op_kind kind,
                                  const tsr_desc *const *in, const void *params)
{
    int axis;
    const tsr_desc *t = in[0], *index = in[1], *src = in[2];
    const int64_t n = index->ndim == 0 ? 1 : index->shape[0];
    (void)kind;
    TSRI_TRY(tsri_axis(&axis, name, "axis", ((const choice *)params)->axis, t));
    TSRI_CHECK(src->ndim == t->ndim, TSR_ESHAPE, "index_add: t is %s, but src is %s: ranks differ",
               TSRI_DESC(t), TSRI_DESC(src));
    for (int i = 0; i < t->ndim; i++)
        TSRI_CHECK(src->shape[i] == (i == axis ? n : t->shape[i]), TSR_ESHAPE,
                   "index_add: dim %d of src %s is %lld, not %lld, with t %s and index %s", i, TSRI_DESC(src),
                   (long long)src->shape[i], (long long)(i == axis ? n : t->shape[i]), TSRI_DESC(t),
                   TSRI_DESC(index));
    return tsri_desc_packed(out, name, t->dtype, t->ndim, t->shape);
}

static tsr_status run_index_add(const tsr_op *op, int axis)
{
    const tsr_tensor *index = op->in[1], *src = op->in[2];
    tsr_tensor v;
    tsri_see_memory(&v, index);
    tsri_desc_copy(&v.desc, &src->desc);
    v.dtype = TSR_I64;
    for (int i = 0; i < v.ndim; i++) v.stride[i] = i == axis && index->ndim > 0 ? index->stride[0] : 0;
    return scatter(op, &v, src, axis);
}

tsr_status tsr_index_add(tsr_tensor **out, const tsr_tensor *t, const tsr_tensor *index,
                         const tsr_tensor *src, int axis)
{
    static tsri_composed call = {
        .row = "index_add",
        .traits = { .infer = infer_index_add, .parts = run_chosen, .in_place = 1 },
    };
    const choice how = { .op = "index_add", .axis = axis, .run = run_index_add, .mode = TSR_SCATTER_ADD };
    TSRI_TRY(check_src("index_add", t, src));
    return dispatch(out, &call, &how, t, index, src);
}

static tsr_status infer_one_hot(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                                const void *params)
{
    tsr_desc shape;
    const choice *how = params;
    (void)kind;
    TSRI_CHECK(tsr_dtype_is_valid(how->dtype), TSR_EDTYPE, "one_hot: %d is no dtype", (int)how->dtype);
    TSRI_CHECK(how->depth >= 0, TSR_EINVAL, "one_hot: depth is %lld", (long long)how->depth);
    TSRI_CHECK(in[0]->ndim < TSR_MAX_NDIM, TSR_EINVAL, "one_hot: %s has the most dims there can be",
               TSRI_DESC(in[0]));
    tsri_desc_copy(&shape, in[0]);
    tsri_insert_dim(&shape, shape.ndim, how->depth, 1);
    return tsri_desc_packed(out, name, how->dtype, shape.ndim, shape.shape);
}

static tsr_status run_one_hot(const tsr_op *op)
{
    _Alignas(16) unsigned char one[16];
    tsr_tensor *out = op->out[0], *temporary = NULL, src, v;
    const tsr_tensor *index = op->in[0];
    const int axis = out->ndim - 1;
    TSRI_TRY(tsr_scalar_store(one, out->dtype, tsr_scalar_i64(1)));
    tsr_status s = open_index(&index, &temporary, "one_hot", axis, &out->desc);
    if (s == TSR_OK) s = tsri_fill_run(out, tsr_scalar_i64(0));
    tsri_see_as(&v, index);
    tsri_insert_dim(&v.desc, v.ndim, 1, 0);
    tsri_see_element(&src, one, out->dtype, &v.desc);
    if (s == TSR_OK) s = scatter_run(out, &v, &src, axis, TSR_SCATTER_SET);
    tsr_release(&temporary);
    return s;
}

tsr_status tsr_one_hot(tsr_tensor **out, const tsr_tensor *index, int64_t depth, tsr_dtype dtype)
{
    static tsri_composed call = { .row = "one_hot",
                                  .traits = { .infer = infer_one_hot, .parts = run_one_hot } };
    return tsri_dispatch(&(tsri_call){ .composed = &call,
                                       .params = &(choice){ .depth = depth, .dtype = dtype },
                                       .nin = 1, .in = { index }, .nout = 1, .out = { out } });
}

/* Masks ---------------------------------------------------------------------------------- */

static bool broadcasts_to(const tsr_desc *d, const tsr_desc *shape)
{
    const int more = shape->ndim - d->ndim;
    for (int i = 0; i < d->ndim; i++)
        if (more < 0 || (d->shape[i] != 1 && d->shape[i] != shape->shape[more + i])) return false;
    return true;
}

static tsr_status infer_masked_fill(tsr_desc *out, const char *name, tsr_op_kind kind,
                                    const tsr_desc *const *in, const void *params)
{
    (void)kind; (void)params;
    TSRI_CHECK(broadcasts_to(in[1], in[0]), TSR_ESHAPE, "%s: mask %s does not broadcast to t %s", name,
               TSRI_DESC(in[1]), TSRI_DESC(in[0]));
    return tsri_desc_packed(out, name, in[0]->dtype, in[0]->ndim, in[0]->shape);
}

static tsr_status run_masked_fill(const tsr_op *op)
{
    _Alignas(16) unsigned char number[16];
    tsr_tensor *out = op->out[0], mask = *op->in[1], value;
    TSRI_TRY(tsr_scalar_store(number, out->dtype, ((const choice *)op->params)->value));
    TSRI_TRY(tsri_desc_expand(&mask.desc, &op->in[1]->desc, out->ndim, out->shape));
    tsri_see_element(&value, number, out->dtype, &out->desc);
    return tsri_where_run(out, &mask, &value, op->in[0]);
}

tsr_status tsr_masked_fill(tsr_tensor **out, const tsr_tensor *t, const tsr_tensor *mask, tsr_scalar value)
{
    static tsri_composed call = {
        .row = "masked_fill",
        .traits = { .infer = infer_masked_fill, .parts = run_masked_fill, .in_place = 1 },
    };
    return dispatch(out, &call, &(choice){ .op = "masked_fill", .value = value }, t, mask, NULL);
}
