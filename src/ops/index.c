/* index.c - elements by number: check every index, and hand views over to gather
 * and scatter; masks, and what is found by looking. */
#include "backend/device_run.h"
#include "composed.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/overlap.h"
#include "tessera/move.h"
#include "tessera/ops/index.h"

/* Everything about one call. Operands that must be copied first are temporaries. */
typedef struct call {
    const char       *op;
    const tsr_tensor *t, *index, *src;
    tsr_tensor       *t_temporary, *index_temporary, *src_temporary;
    unsigned char     number[16];  /* a source that is one */
    tsr_tensor        number_view;
} call;

/* Lets go of the copies; returns s. */
static tsr_status end(call *c, tsr_status s)
{
    tsr_release(&c->t_temporary);
    tsr_release(&c->index_temporary);
    tsr_release(&c->src_temporary);
    return s;
}

static tsr_status check_source(const char *op, tsr_tensor **out, const char *what, const tsr_tensor *t)
{
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", op);
    return tsri_check_allocated(op, what, t);
}

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

typedef struct range {
    int64_t low, high;  /* of all indices; then: that are allowed */
    int64_t seen;
} range;

static bool widen_range(const tsri_tile *t, void *context)
{
    range *all = context;
    int64_t low = all->low, high = all->high;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++) {
            const int64_t v =
                *(const int64_t *)(const void *)(t->ptr[0] + r * t->row_step[0] + c * t->col_step[0]);
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
    all->low = low;
    all->high = high;
    return true;
}

/* Stops at the first that is not allowed, with its number in `seen`. */
static bool find_outside(const tsri_tile *t, void *context)
{
    range *allowed = context;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++, allowed->seen++) {
            const int64_t v =
                *(const int64_t *)(const void *)(t->ptr[0] + r * t->row_step[0] + c * t->col_step[0]);
            if (v < allowed->low || v > allowed->high) return false;
        }
    return true;
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

static TSRI_COLD tsr_status blame_index(const call *c, range allowed, int axis, const tsr_desc *d)
{
    tsri_loop loop;
    int64_t at[TSR_MAX_NDIM];
    char *element = c->index->data;
    build_loop(&loop, c->index);
    (void)tsri_loop_visit(&loop, find_outside, &allowed);
    unflatten(at, &c->index->desc, allowed.seen);
    for (int i = 0; i < c->index->ndim; i++)
        if (at[i] > 0) element += at[i] * c->index->stride[i] * (int64_t)sizeof(int64_t);
    const int64_t v = *(const int64_t *)(const void *)element;
    if (v < 0 && allowed.low == 0)  /* an unsigned one */
        return tsri_fail(TSR_EINDEX, "%s: index %llu at %s is outside dim %d of %s, which has %lld", c->op,
                         (unsigned long long)v, TSRI_DIMS(c->index->ndim, at), axis, TSRI_DESC(d),
                         (long long)d->shape[axis]);
    return tsri_fail(TSR_EINDEX, "%s: index %lld at %s is outside dim %d of %s, which has %lld", c->op,
                     (long long)v, TSRI_DIMS(c->index->ndim, at), axis, TSRI_DESC(d),
                     (long long)d->shape[axis]);
}

/* Brings c->index to i64 in 0 .. size - 1 of dim `axis` of d: as it is where it is so,
 * else a copy. */
static tsr_status open_index_here(call *c, int axis, const tsr_desc *d)
{
    tsri_loop loop;
    const int64_t size = d->shape[axis];
    const tsr_kind kind = tsr_dtype_kind(c->index->dtype);
    range all = { 0, -1, 0 };
    TSRI_TRY(tsri_as_dtype(&c->index, &c->index_temporary, TSR_I64));
    build_loop(&loop, c->index);
    if (tsri_loop_count(&loop) > 0) (void)tsri_loop_visit(&loop, widen_range, &all);
    const range allowed = { kind == TSR_SIGNED ? -size : 0, size - 1, 0 };
    if (all.low < allowed.low || all.high > allowed.high) return blame_index(c, allowed, axis, d);
    if (all.low >= 0) return TSR_OK;
    if (!c->index_temporary) {
        TSRI_TRY(tsr_clone(&c->index_temporary, c->index));
        c->index = c->index_temporary;
    }
    build_loop(&loop, c->index);
    tsri_loop_run(&loop, count_from_start, &size);
    return TSR_OK;
}

/* The same for an index on any device: its values are looked at on the host. */
static tsr_status open_index(call *c, int axis, const tsr_desc *d)
{
    const tsr_tensor *given = c->index;
    tsr_tensor *copy = NULL;
    if (TSRI_LIKELY(tsri_is_here(given))) return open_index_here(c, axis, d);
    TSRI_TRY(tsr_to_host(&copy, given));
    c->index = copy;
    tsr_status s = open_index_here(c, axis, d);
    const bool changed = c->index != copy;
    c->index = given;
    if (s == TSR_OK && changed) {
        s = tsr_to(&c->index_temporary, c->index_temporary, given->device);
        c->index = c->index_temporary;
    }
    tsr_release(&copy);
    return s;
}

static tsr_status check_index(const char *op, const tsr_tensor *index)
{
    TSRI_TRY(tsri_check_allocated(op, "index", index));
    if (index->device == TSR_CPU) TSRI_TRY(tsri_check_host(op, "index", index));
    const tsr_kind kind = tsr_dtype_kind(index->dtype);
    TSRI_CHECK(kind == TSR_SIGNED || kind == TSR_UNSIGNED, TSR_EDTYPE,
               "%s: index is %s, and must be of integers", op, TSRI_DESC(&index->desc));
    return TSR_OK;
}

/* Gather ------------------------------------------------------------------------------- */

static tsr_status gather_run(tsr_tensor *out, const tsr_tensor *t, const tsr_tensor *index, int axis)
{
    const tsr_axis_params params = { axis };
    if (tsr_desc_numel(&out->desc) == 0) return TSR_OK;
    return tsri_op_run(&(tsr_op){
        .kind = TSR_OP_GATHER, .nin = 2, .nout = 1, .in = { t, index }, .out = { out }, .params = &params });
}

/* Makes or fits the result, and separates t and index from it. */
static tsr_status begin_result(call *c, tsr_tensor **out, tsri_origin *origin, const tsr_desc *d)
{
    TSRI_TRY(tsri_result(out, origin, c->op, d, c->t));
    TSRI_TRY(tsri_separate(&c->t, &c->t_temporary, *out, *origin));
    return tsri_separate(&c->index, &c->index_temporary, *out, *origin);
}

/* Result, source and index as three tensors of one rank. The result has all of index's
 * dims where the source has the axis; in those but the first the source has stride 0,
 * and where the source has other dims, the index has. */
static tsr_status take_run(tsr_tensor *out, const tsr_tensor *t, const tsr_tensor *index, int axis)
{
    tsr_tensor z = *out, x = *t, i = *index;
    if (i.ndim == 0) tsri_insert_dim(&z.desc, axis, 1, 0);
    for (int d = 1; d < i.ndim; d++) tsri_insert_dim(&x.desc, axis + d, i.shape[d], 0);
    const tsr_desc had = i.desc;
    i.desc = z.desc;
    i.dtype = TSR_I64;
    for (int d = 0; d < z.ndim; d++)
        i.stride[d] = d >= axis && d < axis + had.ndim ? had.stride[d - axis] : 0;
    return gather_run(&z, &x, &i, axis);
}

static tsr_status take(call *c, tsr_tensor **out, int axis)
{
    tsr_desc d, packed;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    const tsr_tensor *t = c->t, *index = c->index;
    TSRI_CHECK(t->ndim - 1 + index->ndim <= TSR_MAX_NDIM, TSR_EINVAL,
               "%s: %s at the indices %s has too many dims", c->op, TSRI_DESC(&t->desc),
               TSRI_DESC(&index->desc));
    TSRI_TRY(open_index(c, axis, &t->desc));
    tsri_desc_copy(&d, &t->desc);
    tsri_remove_dim(&d, axis);
    for (int i = 0; i < index->ndim; i++) tsri_insert_dim(&d, axis + i, index->shape[i], 0);
    TSRI_TRY(tsri_desc_packed(&packed, c->op, d.dtype, d.ndim, d.shape));
    tsr_status s = begin_result(c, out, &origin, &packed);
    if (s == TSR_OK) s = take_run(*out, c->t, c->index, axis);
    return tsri_result_end(out, origin, s);
}

tsr_status tsr_take(tsr_tensor **out, const tsr_tensor *t, const tsr_tensor *index, int axis)
{
    int at;
    call c = { .op = "take", .t = t, .index = index };
    TSRI_TRY(check_source("take", out, "t", t));
    TSRI_TRY(check_index("take", index));
    TSRI_TRY(tsri_axis(&at, "take", "axis", axis, &t->desc));
    return end(&c, take(&c, out, at));
}

tsr_status tsr_embedding(tsr_tensor **out, const tsr_tensor *weight, const tsr_tensor *index)
{
    call c = { .op = "embedding", .t = weight, .index = index };
    TSRI_TRY(check_source("embedding", out, "weight", weight));
    TSRI_TRY(check_index("embedding", index));
    TSRI_CHECK(weight->ndim == 2, TSR_ESHAPE, "embedding: weight is %s, and must be a matrix",
               TSRI_DESC(&weight->desc));
    return end(&c, take(&c, out, 0));
}

static tsr_status check_ranks(const char *op, const tsr_tensor *t, const tsr_tensor *index)
{
    TSRI_CHECK(t->ndim == index->ndim, TSR_ESHAPE, "%s: t is %s, but index is %s: ranks differ", op,
               TSRI_DESC(&t->desc), TSRI_DESC(&index->desc));
    return TSR_OK;
}

/* Dim i of both, by NumPy's rule or by PyTorch's. */
static tsr_status pair_dim(int64_t *size, const call *c, int i, bool broadcast)
{
    const int64_t a = c->t->shape[i], b = c->index->shape[i];
    *size = broadcast && b == 1 ? a : b;
    TSRI_CHECK(broadcast ? a == 1 || a == *size : b <= a, TSR_ESHAPE,
               "%s: dim %d is %lld in t %s and %lld in index %s", c->op, i, (long long)a,
               TSRI_DESC(&c->t->desc), (long long)b, TSRI_DESC(&c->index->desc));
    return TSR_OK;
}

/* t with this shape outside the axis: dims of size 1 repeat, longer ones are cut. */
static void see_paired(tsr_tensor *v, const tsr_tensor *t, const tsr_desc *shape, int axis)
{
    *v = *t;
    for (int i = 0; i < t->ndim; i++) {
        if (i == axis) continue;
        if (t->shape[i] == 1) v->stride[i] = 0;
        v->shape[i] = shape->shape[i];
    }
}

static tsr_status take_along(call *c, tsr_tensor **out, int axis, bool broadcast)
{
    tsr_desc d;
    tsr_tensor x, index;
    int64_t shape[TSR_MAX_NDIM];
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    for (int i = 0; i < c->t->ndim; i++) {
        if (i == axis) shape[i] = c->index->shape[i];
        else           TSRI_TRY(pair_dim(&shape[i], c, i, broadcast));
    }
    TSRI_TRY(open_index(c, axis, &c->t->desc));
    TSRI_TRY(tsri_desc_packed(&d, c->op, c->t->dtype, c->t->ndim, shape));
    tsr_status s = begin_result(c, out, &origin, &d);
    see_paired(&x, c->t, &d, axis);
    see_paired(&index, c->index, &d, axis);
    if (s == TSR_OK) s = gather_run(*out, &x, &index, axis);
    return tsri_result_end(out, origin, s);
}

static tsr_status along(tsr_tensor **out, const char *op, const tsr_tensor *t, const tsr_tensor *index,
                        int axis, bool broadcast)
{
    int at;
    call c = { .op = op, .t = t, .index = index };
    TSRI_TRY(check_source(op, out, "t", t));
    TSRI_TRY(check_index(op, index));
    TSRI_TRY(tsri_axis(&at, op, "axis", axis, &t->desc));
    TSRI_TRY(check_ranks(op, t, index));
    return end(&c, take_along(&c, out, at, broadcast));
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

/* out = t, and the sources to their places. c->index and c->src have one shape. */
static tsr_status scatter(call *c, tsr_tensor **out, int axis, tsr_scatter_mode mode)
{
    tsr_desc d;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_TRY(tsri_desc_packed(&d, c->op, c->t->dtype, c->t->ndim, c->t->shape));
    TSRI_TRY(tsri_result(out, &origin, c->op, &d, c->t));
    tsr_status s = tsri_separate(&c->index, &c->index_temporary, *out, origin);
    if (s == TSR_OK) s = tsri_separate(&c->src, &c->src_temporary, *out, origin);
    if (s == TSR_OK) s = tsr_copy(*out, c->t);
    if (s == TSR_OK) s = scatter_run(*out, c->index, c->src, axis, mode);
    return tsri_result_end(out, origin, s);
}

static tsr_status check_mode(const char *op, const tsr_tensor *t, tsr_scatter_mode mode)
{
    static const char *const names[] = { "set", "add", "max" };
    const tsr_kind kind = tsr_dtype_kind(t->dtype);
    TSRI_CHECK((unsigned)mode <= TSR_SCATTER_MAX, TSR_EINVAL, "%s: %d is no mode", op, (int)mode);
    const bool takes =
        mode == TSR_SCATTER_SET ||
        (mode == TSR_SCATTER_ADD ? kind != TSR_BOOLEAN && t->dtype != TSR_C32 : kind != TSR_COMPLEX);
    TSRI_CHECK(takes, TSR_EDTYPE, "%s: %s does not take %s", op, names[mode], TSRI_DESC(&t->desc));
    return TSR_OK;
}

/* Kinds in the order in which each holds those before it. */
static int breadth(tsr_kind kind) { return kind == TSR_UNSIGNED ? TSR_SIGNED : (int)kind; }

/* A number in t's dtype. */
static tsr_status open_number(call *c)
{
    tsr_scalar value;
    const tsr_tensor *src = c->src, *t = c->t;
    TSRI_CHECK(breadth(tsr_dtype_kind(src->dtype)) <= breadth(tsr_dtype_kind(t->dtype)), TSR_EDTYPE,
               "%s: a %s number does not fit %s", c->op, tsr_kind_name(tsr_dtype_kind(src->dtype)),
               tsr_dtype_name(t->dtype));
    TSRI_TRY(tsr_scalar_load(&value, src->dtype, src->data));
    TSRI_TRY(tsr_scalar_store(c->number, t->dtype, value));
    tsri_see_element(&c->number_view, c->number, t->dtype, &src->desc);
    c->src = &c->number_view;
    return TSR_OK;
}

static tsr_status check_src(call *c, tsr_scatter_mode mode)
{
    TSRI_TRY(tsri_check_allocated(c->op, "src", c->src));
    TSRI_TRY(check_mode(c->op, c->t, mode));
    if (c->src->flags & TSR_FLAG_NUMBER) return open_number(c);
    TSRI_CHECK(c->src->dtype == c->t->dtype, TSR_EDTYPE, "%s: t is %s, but src is %s (tsr_cast converts)",
               c->op, TSRI_DESC(&c->t->desc), TSRI_DESC(&c->src->desc));
    return TSR_OK;
}

static tsr_status check_shapes(const call *c, int axis)
{
    const tsr_tensor *t = c->t, *index = c->index, *src = c->src;
    TSRI_TRY(check_ranks("scatter", t, index));
    TSRI_CHECK(src->ndim == index->ndim || src->ndim == 0, TSR_ESHAPE,
               "scatter: index is %s, but src is %s: ranks differ", TSRI_DESC(&index->desc),
               TSRI_DESC(&src->desc));
    for (int i = 0; i < index->ndim; i++) {
        TSRI_CHECK(i == axis || index->shape[i] <= t->shape[i], TSR_ESHAPE,
                   "scatter: dim %d is %lld in index %s, longer than in t %s", i, (long long)index->shape[i],
                   TSRI_DESC(&index->desc), TSRI_DESC(&t->desc));
        TSRI_CHECK(src->ndim == 0 || index->shape[i] <= src->shape[i], TSR_ESHAPE,
                   "scatter: dim %d is %lld in index %s, longer than in src %s", i,
                   (long long)index->shape[i], TSRI_DESC(&index->desc), TSRI_DESC(&src->desc));
    }
    return TSR_OK;
}

tsr_status tsr_scatter(tsr_tensor **out, const tsr_tensor *t, const tsr_tensor *index, const tsr_tensor *src,
                       int axis, tsr_scatter_mode mode)
{
    int at;
    call c = { .op = "scatter", .t = t, .index = index, .src = src };
    TSRI_TRY(check_source("scatter", out, "t", t));
    TSRI_TRY(check_index("scatter", index));
    TSRI_TRY(check_src(&c, mode));
    TSRI_TRY(tsri_axis(&at, "scatter", "axis", axis, &t->desc));
    TSRI_TRY(check_shapes(&c, at));
    tsr_tensor v = *c.src;  /* what the index reaches of it */
    v.ndim = index->ndim;
    for (int i = 0; i < index->ndim; i++) {
        v.shape[i] = index->shape[i];
        if (c.src->ndim == 0) v.stride[i] = 0;
    }
    c.src = &v;
    const tsr_status s = open_index(&c, at, &t->desc);
    return end(&c, s == TSR_OK ? scatter(&c, out, at, mode) : s);
}

static tsr_status check_rows(const call *c, int axis)
{
    const tsr_tensor *t = c->t, *index = c->index, *src = c->src;
    const int64_t n = index->ndim == 0 ? 1 : index->shape[0];
    TSRI_CHECK(index->ndim <= 1, TSR_ESHAPE, "index_add: index is %s, and must be a vector",
               TSRI_DESC(&index->desc));
    TSRI_CHECK(src->ndim == t->ndim, TSR_ESHAPE, "index_add: t is %s, but src is %s: ranks differ",
               TSRI_DESC(&t->desc), TSRI_DESC(&src->desc));
    for (int i = 0; i < t->ndim; i++)
        TSRI_CHECK(src->shape[i] == (i == axis ? n : t->shape[i]), TSR_ESHAPE,
                   "index_add: dim %d of src %s is %lld, not %lld, with t %s and index %s", i,
                   TSRI_DESC(&src->desc), (long long)src->shape[i], (long long)(i == axis ? n : t->shape[i]),
                   TSRI_DESC(&t->desc), TSRI_DESC(&index->desc));
    return TSR_OK;
}

static tsr_status index_add(call *c, tsr_tensor **out, int axis)
{
    TSRI_TRY(open_index(c, axis, &c->t->desc));
    tsr_tensor v = *c->index;
    const int64_t step = c->index->ndim == 0 ? 0 : c->index->stride[0];
    v.ndim = c->src->ndim;
    for (int i = 0; i < v.ndim; i++) {
        v.shape[i] = c->src->shape[i];
        v.stride[i] = i == axis ? step : 0;
    }
    c->index = &v;
    return scatter(c, out, axis, TSR_SCATTER_ADD);
}

tsr_status tsr_index_add(tsr_tensor **out, const tsr_tensor *t, const tsr_tensor *index,
                         const tsr_tensor *src, int axis)
{
    int at;
    call c = { .op = "index_add", .t = t, .index = index, .src = src };
    TSRI_TRY(check_source("index_add", out, "t", t));
    TSRI_TRY(check_index("index_add", index));
    TSRI_TRY(check_src(&c, TSR_SCATTER_ADD));
    TSRI_TRY(tsri_axis(&at, "index_add", "axis", axis, &t->desc));
    TSRI_TRY(check_rows(&c, at));
    return end(&c, index_add(&c, out, at));
}

static tsr_status one_hot(call *c, tsr_tensor **out, const tsr_desc *d)
{
    _Alignas(16) unsigned char one[16];
    tsr_tensor src, index;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_TRY(tsr_scalar_store(one, d->dtype, tsr_scalar_i64(1)));
    TSRI_TRY(open_index(c, d->ndim - 1, d));
    TSRI_TRY(tsri_result(out, &origin, c->op, d, c->index));
    tsr_status s = tsri_separate(&c->index, &c->index_temporary, *out, origin);
    if (s == TSR_OK) s = tsri_fill_run(*out, tsr_scalar_i64(0));
    index = *c->index;
    tsri_insert_dim(&index.desc, index.ndim, 1, 0);
    tsri_see_element(&src, one, d->dtype, &index.desc);
    if (s == TSR_OK) s = scatter_run(*out, &index, &src, d->ndim - 1, TSR_SCATTER_SET);
    return tsri_result_end(out, origin, s);
}

tsr_status tsr_one_hot(tsr_tensor **out, const tsr_tensor *index, int64_t depth, tsr_dtype dtype)
{
    tsr_desc shape, d;
    call c = { .op = "one_hot", .index = index };
    TSRI_CHECK(out, TSR_ENULL, "one_hot: out is NULL");
    TSRI_TRY(check_index("one_hot", index));
    TSRI_CHECK(tsr_dtype_is_valid(dtype), TSR_EDTYPE, "one_hot: %d is no dtype", (int)dtype);
    TSRI_CHECK(depth >= 0, TSR_EINVAL, "one_hot: depth is %lld", (long long)depth);
    TSRI_CHECK(index->ndim < TSR_MAX_NDIM, TSR_EINVAL, "one_hot: %s has the most dims there can be",
               TSRI_DESC(&index->desc));
    tsri_desc_copy(&shape, &index->desc);
    tsri_insert_dim(&shape, shape.ndim, depth, 1);
    TSRI_TRY(tsri_desc_packed(&d, "one_hot", dtype, shape.ndim, shape.shape));
    return end(&c, one_hot(&c, out, &d));
}

/* Masks ---------------------------------------------------------------------------------- */

static tsr_status check_mask(const char *op, const tsr_tensor *mask)
{
    TSRI_TRY(tsri_check_allocated(op, "mask", mask));
    TSRI_CHECK(mask->dtype == TSR_BOOL, TSR_EDTYPE, "%s: mask is %s, and must be bool", op,
               TSRI_DESC(&mask->desc));
    return TSR_OK;
}

static tsr_status masked_fill(call *c, tsr_tensor **out, const tsr_tensor *mask, tsr_tensor **mask_temporary)
{
    tsr_desc d;
    tsr_tensor seen, value;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_TRY(tsri_desc_packed(&d, c->op, c->t->dtype, c->t->ndim, c->t->shape));
    TSRI_TRY(tsri_result(out, &origin, c->op, &d, c->t));
    tsr_status s = tsri_separate(&mask, mask_temporary, *out, origin);
    if (s == TSR_OK && !tsri_is_exactly(c->t, *out))
        s = tsri_separate(&c->t, &c->t_temporary, *out, origin);
    seen = *mask;
    if (s == TSR_OK) s = tsri_desc_expand(&seen.desc, &mask->desc, d.ndim, d.shape);
    tsri_see_element(&value, c->number, d.dtype, &d);
    if (s == TSR_OK) s = tsri_where_run(*out, &seen, &value, c->t);
    return tsri_result_end(out, origin, s);
}

static bool broadcasts_to(const tsr_desc *d, const tsr_desc *shape)
{
    const int more = shape->ndim - d->ndim;
    for (int i = 0; i < d->ndim; i++)
        if (more < 0 || (d->shape[i] != 1 && d->shape[i] != shape->shape[more + i])) return false;
    return true;
}

tsr_status tsr_masked_fill(tsr_tensor **out, const tsr_tensor *t, const tsr_tensor *mask, tsr_scalar value)
{
    tsr_tensor *mask_temporary = NULL;
    call c = { .op = "masked_fill", .t = t };
    TSRI_TRY(check_source("masked_fill", out, "t", t));
    TSRI_TRY(check_mask("masked_fill", mask));
    TSRI_CHECK(broadcasts_to(&mask->desc, &t->desc), TSR_ESHAPE,
               "masked_fill: mask %s does not broadcast to t %s", TSRI_DESC(&mask->desc),
               TSRI_DESC(&t->desc));
    TSRI_TRY(tsr_scalar_store(c.number, t->dtype, value));
    const tsr_status s = masked_fill(&c, out, mask, &mask_temporary);
    tsr_release(&mask_temporary);
    return end(&c, s);
}

static bool count_true(const tsri_tile *t, void *context)
{
    int64_t n = 0;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++) n += t->ptr[0][r * t->row_step[0] + c * t->col_step[0]] != 0;
    *(int64_t *)context += n;
    return true;
}

static int64_t trues_in(const tsr_tensor *mask)
{
    tsri_loop loop;
    int64_t n = 0;
    build_loop(&loop, mask);
    (void)tsri_loop_visit(&loop, count_true, &n);
    return n;
}

/* Writes what was found, packed, to `to`. */
typedef void (*list_fn)(char *to, const tsr_tensor *t, const tsr_tensor *mask);

/* The result is packed and touches neither operand: it can be written as it is found. */
static bool is_plain_target(const tsr_tensor *out, const tsr_tensor *t, const tsr_tensor *mask)
{
    return tsri_is_packed(&out->desc) && !tsri_overlap(out->data, &out->desc, t->data, &t->desc) &&
           !tsri_overlap(out->data, &out->desc, mask->data, &mask->desc);
}

static tsr_status list_result(tsr_tensor **out, const char *op, const tsr_desc *d, const tsr_tensor *t,
                              const tsr_tensor *mask, list_fn list)
{
    tsr_tensor *temporary = NULL;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_TRY(tsri_result(out, &origin, op, d, t));
    const bool plain =
        origin != TSRI_ORIGIN_GIVEN ? tsri_is_packed(&(*out)->desc) : is_plain_target(*out, t, mask);
    tsr_status s = plain ? TSR_OK : tsri_make(&temporary, op, d, TSR_CPU, TSR_MEMORY_HOST);
    if (s == TSR_OK) s = tsri_check_host(op, "out", *out);
    if (s == TSR_OK) list(plain ? (*out)->data : temporary->data, t, mask);
    if (s == TSR_OK && !plain) s = tsri_copy_run(*out, temporary);
    tsr_release(&temporary);
    return tsri_result_end(out, origin, s);
}

typedef struct listing {
    char   *to;
    int64_t size; /* of an element */
} listing;

/* Operands: elements, mask. */
static TSRI_ALWAYS_INLINE void append_true(const tsri_tile *t, listing *l, size_t size)
{
    for (int64_t r = 0; r < t->rows; r++) {
        const char *x = t->ptr[0] + r * t->row_step[0], *m = t->ptr[1] + r * t->row_step[1];
        for (int64_t c = 0; c < t->cols; c++, x += t->col_step[0], m += t->col_step[1]) {
            if (!*m) continue;
            memcpy(l->to, x, size);
            l->to += size;
        }
    }
}

static bool list_tile(const tsri_tile *t, void *context)
{
    listing *l = context;
    switch (l->size) {
    case 1:  append_true(t, l, 1); break;
    case 2:  append_true(t, l, 2); break;
    case 4:  append_true(t, l, 4); break;
    case 8:  append_true(t, l, 8); break;
    default: append_true(t, l, 16); break;
    }
    return true;
}

static void list_elements(char *to, const tsr_tensor *t, const tsr_tensor *mask)
{
    tsri_loop loop;
    listing l = { to, tsri_dtype_size(t->dtype) };
    const tsri_operand operands[] = { { t->data, t->stride, l.size }, { mask->data, mask->stride, 1 } };
    tsri_loop_build(&loop, t->ndim, t->shape, 2, operands, TSRI_ORDERED);
    (void)tsri_loop_visit(&loop, list_tile, &l);
}

/* Lists have as many elements as the values say, so they are made on the host. */
static tsr_status masked_select_on_device(tsr_tensor **out, const tsr_tensor *t, const tsr_tensor *mask)
{
    tsr_tensor *temporary[2] = { NULL, NULL }, *made = NULL;
    const tsr_tensor *x = t;
    tsr_status s = tsri_copy_to_host(&x, &temporary[0]);
    if (s == TSR_OK) s = tsri_copy_to_host(&mask, &temporary[1]);
    if (s == TSR_OK) s = tsr_masked_select(&made, x, mask);
    for (int i = 0; i < 2; i++) tsr_release(&temporary[i]);
    return tsri_copy_back(out, "masked_select", made, t, s);
}

static tsr_status nonzero_on_device(tsr_tensor **out, const tsr_tensor *t)
{
    tsr_tensor *temporary = NULL, *made = NULL;
    const tsr_tensor *x = t;
    tsr_status s = tsri_copy_to_host(&x, &temporary);
    if (s == TSR_OK) s = tsr_nonzero(&made, x);
    tsr_release(&temporary);
    return tsri_copy_back(out, "nonzero", made, t, s);
}

static bool is_on_device(const tsr_tensor *t) { return tsr_is_allocated(t) && t->device != TSR_CPU; }

tsr_status tsr_masked_select(tsr_tensor **out, const tsr_tensor *t, const tsr_tensor *mask)
{
    int ndim;
    tsr_desc d;
    int64_t shape[TSR_MAX_NDIM];
    TSRI_CHECK(out, TSR_ENULL, "masked_select: out is NULL");
    if (tsr_is_allocated(mask) && is_on_device(t)) return masked_select_on_device(out, t, mask);
    TSRI_TRY(tsri_check_host("masked_select", "t", t));
    TSRI_TRY(check_mask("masked_select", mask));
    TSRI_TRY(tsri_check_host("masked_select", "mask", mask));
    TSRI_CHECK(tsr_desc_broadcast(&ndim, shape, 2, (const tsr_desc *const[]){ &t->desc, &mask->desc }) ==
                   TSR_OK,
               TSR_ESHAPE, "masked_select: t %s and mask %s do not broadcast", TSRI_DESC(&t->desc),
               TSRI_DESC(&mask->desc));
    tsr_tensor x = *t, m = *mask;
    TSRI_TRY(tsri_desc_expand(&x.desc, &t->desc, ndim, shape));
    TSRI_TRY(tsri_desc_expand(&m.desc, &mask->desc, ndim, shape));
    const int64_t n = trues_in(&m);
    TSRI_TRY(tsri_desc_packed(&d, "masked_select", t->dtype, 1, &n));
    return list_result(out, "masked_select", &d, &x, &m, list_elements);
}

typedef struct placing {
    int64_t        *to;
    int64_t         seen;
    const tsr_desc *desc;
} placing;

static bool place_tile(const tsri_tile *t, void *context)
{
    placing *p = context;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++, p->seen++) {
            if (!t->ptr[0][r * t->row_step[0] + c * t->col_step[0]]) continue;
            unflatten(p->to, p->desc, p->seen);
            p->to += p->desc->ndim;
        }
    return true;
}

static void list_places(char *to, const tsr_tensor *t, const tsr_tensor *mask)
{
    tsri_loop loop;
    placing p = { (int64_t *)(void *)to, 0, &mask->desc };
    (void)t;
    build_loop(&loop, mask);
    (void)tsri_loop_visit(&loop, place_tile, &p);
}

tsr_status tsr_nonzero(tsr_tensor **out, const tsr_tensor *t)
{
    tsr_desc d;
    tsr_tensor *temporary = NULL;
    TSRI_CHECK(out, TSR_ENULL, "nonzero: out is NULL");
    if (is_on_device(t)) return nonzero_on_device(out, t);
    TSRI_TRY(tsri_check_host("nonzero", "t", t));
    if (t->dtype != TSR_BOOL) TSRI_TRY(tsr_cast(&temporary, t, TSR_BOOL));
    const tsr_tensor *mask = temporary ? temporary : t;
    tsr_status s = tsri_desc_packed(&d, "nonzero", TSR_I64, 2, (const int64_t[]){ trues_in(mask), t->ndim });
    if (s == TSR_OK) s = list_result(out, "nonzero", &d, mask, mask, list_places);
    tsr_release(&temporary);
    return s;
}
