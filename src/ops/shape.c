/* shape.c - tile, repeat, roll, pad, triangles, diagonals, meshgrid: copies between views. */
#include "boxes.h"
#include "backend/registry.h"
#include "composed.h"
#include "dispatch.h"
#include "tessera/ops/shape.h"
#include "core/threads_int.h"

/* Dim `axis` as outer x inner. */
static void split_dim(tsr_desc *d, int axis, int64_t outer, int64_t inner)
{
    tsri_insert_dim(d, axis, outer, d->stride[axis] * inner);
    d->shape[axis + 1] = inner;
}

/* Tile and repeat -------------------------------------------------------------------- */

static tsr_status times(tsr_desc *d, const char *op, int axis, int64_t count)
{
    TSRI_CHECK(count >= 0, TSR_EINVAL, "%s: %lld times along dim %d", op, (long long)count, axis);
    TSRI_CHECK(tsri_mul(&d->shape[axis], d->shape[axis], count), TSR_EOVERFLOW,
               "%s: dim %d, %lld times, exceeds 2^63 - 1", op, axis, (long long)count);
    return TSR_OK;
}

/* From `axis` on, dst is a whole number of times as long as src. A dim that repeats
 * is walked as two, in one of which src has stride 0; where there is no room for
 * another dim, each repetition is a copy. */
static tsr_status tile_into(const tsr_tensor *dst, const tsr_tensor *src, int axis)
{
    tsr_tensor d, s;
    tsri_see_as(&d, dst);
    tsri_see_as(&s, src);
    while (axis < d.ndim && d.shape[axis] == s.shape[axis]) axis++;
    if (axis == d.ndim) return tsri_copy_run(&d, &s);
    const int64_t size = s.shape[axis], count = d.shape[axis] / size;
    if (size == 1) {
        s.shape[axis] = count;
        s.stride[axis] = 0;
        return tile_into(&d, &s, axis + 1);
    }
    if (d.ndim < TSR_MAX_NDIM) {
        split_dim(&d.desc, axis, count, size);
        tsri_insert_dim(&s.desc, axis, count, 0);
        return tile_into(&d, &s, axis + 2);
    }
    for (int64_t i = 0; i < count; i++) {
        tsri_see_slice(&d, dst, axis, i * size, (i + 1) * size, 1);
        TSRI_TRY(tile_into(&d, &s, axis + 1));
    }
    return TSR_OK;
}

static tsr_status run_tile(const tsr_op *op)
{
    tsr_tensor s;
    if (tsr_numel(op->out[0]) == 0) return TSR_OK;
    tsri_see_as(&s, op->in[0]);
    while (s.ndim < op->out[0]->ndim) tsri_insert_dim(&s.desc, 0, 1, 0);
    return tile_into(op->out[0], &s, 0);
}

typedef struct repetition {
    int            n, axis;
    const int64_t *times;
} repetition;

static tsr_status infer_tile(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params)
{
    const repetition *r = params;
    tsr_desc d;
    (void)kind;
    TSRI_TRY(tsri_check_list(name, "reps", r->n, r->times));
    tsri_desc_copy(&d, in[0]);
    while (d.ndim < r->n) tsri_insert_dim(&d, 0, 1, 0);
    for (int i = 0; i < r->n; i++) TSRI_TRY(times(&d, name, d.ndim - r->n + i, r->times[i]));
    return tsri_desc_packed(out, name, d.dtype, d.ndim, d.shape);
}

tsr_status tsr_tile(tsr_tensor **out, const tsr_tensor *t, int n, const int64_t *reps)
{
    static tsri_composed call = { .row = "tile", .traits = { .infer = infer_tile, .parts = run_tile } };
    return tsri_dispatch_composed(out, &call, &(repetition){ .n = n, .times = reps }, t);
}

static tsr_status infer_repeat(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                               const void *params)
{
    const repetition *r = params;
    int at;
    tsr_desc d;
    (void)kind;
    TSRI_TRY(tsri_axis(&at, name, "axis", r->axis, in[0]));
    tsri_desc_copy(&d, in[0]);
    TSRI_TRY(times(&d, name, at, *r->times));
    return tsri_desc_packed(out, name, d.dtype, d.ndim, d.shape);
}

static tsr_status run_repeat(const tsr_op *op)
{
    const tsr_tensor *out = op->out[0], *t = op->in[0];
    const int given = ((const repetition *)op->params)->axis, axis = given < 0 ? given + t->ndim : given;
    if (tsr_numel(out) == 0) return TSR_OK;
    const int64_t size = t->shape[axis], count = out->shape[axis] / size;
    tsr_tensor d, s;
    tsri_see_as(&d, out);
    tsri_see_as(&s, t);
    if (size == 1 || count == 1) return tile_into(&d, &s, axis);
    if (d.ndim < TSR_MAX_NDIM) {
        split_dim(&d.desc, axis, size, count);
        tsri_insert_dim(&s.desc, axis + 1, count, 0);
        return tsri_copy_run(&d, &s);
    }
    for (int64_t i = 0; i < count; i++) {
        tsri_see_slice(&d, out, axis, i, out->shape[axis], count);
        TSRI_TRY(tsri_copy_run(&d, &s));
    }
    return TSR_OK;
}

tsr_status tsr_repeat(tsr_tensor **out, const tsr_tensor *t, int64_t count, int axis)
{
    static tsri_composed call = { .row = "repeat", .traits = { .infer = infer_repeat, .parts = run_repeat } };
    return tsri_dispatch_composed(out, &call, &(repetition){ .axis = axis, .times = &count }, t);
}

/* Roll --------------------------------------------------------------------------------- */

/* shifts[i] in 0 .. size - 1 for each dim from `axis` on: two parts change places. */
static tsr_status roll_into(const tsr_tensor *dst, const tsr_tensor *src, int axis, const int64_t *shifts)
{
    tsr_tensor d, s;
    tsri_see_as(&d, dst);
    tsri_see_as(&s, src);
    while (axis < d.ndim && shifts[axis] == 0) axis++;
    if (axis == d.ndim) return tsri_copy_run(&d, &s);
    const int64_t size = d.shape[axis], by = shifts[axis];
    tsri_see_slice(&d, dst, axis, by, size, 1);
    tsri_see_slice(&s, src, axis, 0, size - by, 1);
    TSRI_TRY(roll_into(&d, &s, axis + 1, shifts));
    tsri_see_slice(&d, dst, axis, 0, by, 1);
    tsri_see_slice(&s, src, axis, size - by, size, 1);
    return roll_into(&d, &s, axis + 1, shifts);
}

tsr_status tsri_roll_run(tsr_tensor *out, const tsr_tensor *t, const int64_t *shifts)
{
    return tsr_numel(out) == 0 ? TSR_OK : roll_into(out, t, 0, shifts);
}

static tsr_status run_roll(const tsr_op *op) { return tsri_roll_run(op->out[0], op->in[0], op->params); }

tsr_status tsr_roll(tsr_tensor **out, const tsr_tensor *t, int n, const int64_t *shifts, const int *axes)
{
    static tsri_composed call = { .row = "roll",
                                  .traits = { .infer = tsri_infer_packed, .parts = run_roll } };
    int64_t total[TSR_MAX_NDIM];
    TSRI_TRY(tsri_check_allocated("roll", "t", t));
    TSRI_TRY(tsri_check_list("roll", "shifts", n, shifts));
    TSRI_TRY(tsri_check_list("roll", "axes", n, axes));
    for (int i = 0; i < t->ndim; i++) total[i] = 0;
    for (int i = 0; i < n; i++) {
        int at;
        TSRI_TRY(tsri_axis(&at, "roll", "axes", axes[i], &t->desc));
        const int64_t size = t->shape[at];
        if (size == 0) continue;
        const int64_t by = shifts[i] % size < 0 ? shifts[i] % size + size : shifts[i] % size;
        total[at] = total[at] >= size - by ? total[at] - (size - by) : total[at] + by;
    }
    return tsri_dispatch_composed(out, &call, total, t);
}

/* Pad ---------------------------------------------------------------------------------- */

typedef struct padding {
    int            n;
    const int64_t *before, *after;
    tsr_pad_mode   mode;
    tsr_scalar     value;
} padding;

/* Indices to .. to + n - 1 along the axis = those from .. from + step * (n - 1). */
static tsr_status copy_strip(const tsr_tensor *t, int axis, int64_t to, int64_t n, int64_t from, int64_t step)
{
    tsr_tensor d, s;
    tsri_see_slice(&d, t, axis, to, to + n, 1);
    tsri_see_slice(&s, t, axis, from, from + 1, 1);
    s.shape[axis] = n;
    s.stride[axis] = t->stride[axis] * step;
    return tsri_copy_run(&d, &s);
}

static tsr_status fill_strip(const tsr_tensor *t, int axis, int64_t to, int64_t n, tsr_scalar value)
{
    tsr_tensor d;
    if (n == 0) return TSR_OK;
    tsri_see_slice(&d, t, axis, to, to + n, 1);
    return tsri_fill_run(&d, value);
}

/* Ahead of `from` and behind `to - 1`, period by period: what lies a period on, or
 * what lies opposite the end. */
static tsr_status extend(const tsr_tensor *t, int axis, int64_t from, int64_t to, bool reflect)
{
    const int64_t size = t->shape[axis], period = reflect ? to - from - 1 : to - from;
    while (from > 0) {
        const int64_t n = from < period ? from : period;
        TSRI_TRY(reflect ? copy_strip(t, axis, from - n, n, from + n, -1)
                         : copy_strip(t, axis, from - n, n, from - n + period, 1));
        from -= n;
    }
    while (to < size) {
        const int64_t n = size - to < period ? size - to : period;
        TSRI_TRY(reflect ? copy_strip(t, axis, to, n, to - 2, -1)
                         : copy_strip(t, axis, to, n, to - period, 1));
        to += n;
    }
    return TSR_OK;
}

/* Indices from .. to - 1 along the axis are there: the rest is made from them. */
static tsr_status pad_axis(const tsr_tensor *t, int axis, int64_t from, int64_t to, const padding *p)
{
    const int64_t size = t->shape[axis];
    if (from == 0 && to == size) return TSR_OK;
    if (p->mode == TSR_PAD_CONSTANT) {
        TSRI_TRY(fill_strip(t, axis, 0, from, p->value));
        return fill_strip(t, axis, to, size - to, p->value);
    }
    if (p->mode == TSR_PAD_WRAP || (p->mode == TSR_PAD_REFLECT && to - from > 1))
        return extend(t, axis, from, to, p->mode == TSR_PAD_REFLECT);
    if (from > 0) TSRI_TRY(copy_strip(t, axis, 0, from, from, 0));
    return to < size ? copy_strip(t, axis, to, size - to, to - 1, 0) : TSR_OK;
}

/* The middle is copied first; then axis after axis is padded, over all that the axes before have filled. */
static tsr_status pad_axes(tsr_tensor *out, const tsr_tensor *t, const padding *p)
{
    for (int axis = -1; axis < t->ndim; axis++) {
        tsr_tensor part = *out;
        for (int i = axis + 1; i < t->ndim; i++)
            tsri_see_slice(&part, &part, i, p->before[i], p->before[i] + t->shape[i], 1);
        if (tsr_desc_numel(&part.desc) == 0) continue;
        TSRI_TRY(axis < 0 ? tsri_copy_piece(&part, t, out)
                          : pad_axis(&part, axis, p->before[axis], p->before[axis] + t->shape[axis], p));
    }
    return TSR_OK;
}

/* A result whose leading dims are not padded, in boxes of those. */
typedef struct boxed {
    tsr_tensor       *out;
    const tsr_tensor *t;
    const padding    *padding;
    tsri_boxes        boxes;
} boxed;

static tsr_status pad_boxes(void *context, int64_t begin, int64_t end)
{
    const boxed *b = context;
    tsr_tensor box, inside, part, *room = NULL;
    tsri_boxes_see(&box, b->out, &b->boxes, 0);
    tsr_status s = tsri_make_packed(&room, "pad", box.dtype, box.ndim, box.shape);
    for (int64_t i = begin; i < end && s == TSR_OK; i++) {
        tsri_boxes_see(&box, b->out, &b->boxes, i);
        tsri_boxes_see(&part, b->t, &b->boxes, i);
        inside = *room;
        for (int d = 0; d < box.ndim; d++) inside.shape[d] = box.shape[d];
        s = pad_axes(&inside, &part, b->padding);
        if (s == TSR_OK) s = tsri_copy_piece(&box, &inside, b->out);
    }
    tsr_release(&room);
    return s;
}

/* Short rows of a large result are worth it: each is padded while it is in the cache. */
static tsr_status run_pad(const tsr_op *op)
{
    enum { SHORT_BYTES = 2048, WORTH_BYTES = 1 << 20 };
    tsr_tensor *out = op->out[0];
    const tsr_tensor *t = op->in[0];
    const padding *p = op->params;
    boxed b = { .out = out, .t = t, .padding = p };
    int leading = 0;
    const int64_t size = tsri_dtype_size(out->dtype);
    tsr_status s;
    if (tsr_numel(out) == 0) return TSR_OK;
    if (p->mode == TSR_PAD_CONSTANT && tsri_is_here(out) && tsri_is_here(t) &&
        tsri_host->pad(&s, out, t, p->before, p->value))
        return s;
    while (leading < out->ndim && out->shape[leading] == t->shape[leading]) leading++;
    if (out->device == TSR_CPU && leading < out->ndim && tsr_numel(out) * size >= WORTH_BYTES &&
        out->shape[out->ndim - 1] * size < SHORT_BYTES && tsri_boxes_cut(&b.boxes, out, leading))
        return tsri_parallel_for(b.boxes.count, 1, pad_boxes, &b);
    return pad_axes(out, t, p);
}

/* Dim i with its padding. */
static tsr_status pad_dim(int64_t *size, const char *name, const tsr_desc *d, int i, const padding *p)
{
    const int64_t before = p->before[i], after = p->after[i];
    TSRI_CHECK(before >= 0 && after >= 0, TSR_EINVAL, "%s: %lld before and %lld after dim %d", name,
               (long long)before, (long long)after, i);
    TSRI_CHECK(p->mode == TSR_PAD_CONSTANT || d->shape[i] > 0 || (before == 0 && after == 0), TSR_ESHAPE,
               "%s: dim %d of %s has nothing to extend it with", name, i, TSRI_DESC(d));
    TSRI_CHECK(tsri_add(size, d->shape[i], before) && tsri_add(size, *size, after), TSR_EOVERFLOW,
               "%s: dim %d exceeds 2^63 - 1", name, i);
    return TSR_OK;
}

static tsr_status infer_pad(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                            const void *params)
{
    const padding *p = params;
    int64_t shape[TSR_MAX_NDIM];
    _Alignas(16) unsigned char element[16];
    (void)kind;
    TSRI_TRY(tsri_check_list(name, "before", p->n, p->before));
    TSRI_TRY(tsri_check_list(name, "after", p->n, p->after));
    TSRI_CHECK(p->n == in[0]->ndim, TSR_ESHAPE, "%s: lengths for %d dims, but t is %s", name, p->n,
               TSRI_DESC(in[0]));
    TSRI_CHECK((unsigned)p->mode <= TSR_PAD_WRAP, TSR_EINVAL, "%s: %d is no mode", name, (int)p->mode);
    if (p->mode == TSR_PAD_CONSTANT)
        TSRI_TRY(tsr_scalar_store(element, in[0]->dtype, p->value)); /* does the dtype hold it? */
    for (int i = 0; i < p->n; i++) TSRI_TRY(pad_dim(&shape[i], name, in[0], i, p));
    return tsri_desc_packed(out, name, in[0]->dtype, p->n, shape);
}

tsr_status tsr_pad(tsr_tensor **out, const tsr_tensor *t, int n, const int64_t *before, const int64_t *after,
                   tsr_pad_mode mode, tsr_scalar value)
{
    static tsri_composed call = { .row = "pad", .traits = { .infer = infer_pad, .parts = run_pad } };
    return tsri_dispatch_composed(out, &call, &(padding){ n, before, after, mode, value }, t);
}

/* Triangles and diagonals ------------------------------------------------------------ */

/* Which elements of a rows x cols matrix stay depends on col - row alone: a list of
 * rows + cols - 1 flags, of which each row of the mask is a part, one further than the row before. */
static tsr_status make_mask(tsr_tensor **list, tsr_tensor *mask, const tsr_tensor *t, int64_t k, bool lower)
{
    const tsr_desc *d = &t->desc;
    tsr_desc flat;
    tsr_tensor part;
    const int64_t rows = d->shape[d->ndim - 2], cols = d->shape[d->ndim - 1], n = rows + cols - 1;
    k = k < -rows ? -rows : k > cols ? cols : k;
    int64_t from = lower ? 0 : k + rows - 1, to = lower ? k + rows : n;
    from = from < 0 ? 0 : from;
    to = to > n ? n : to;
    TSRI_TRY(tsri_desc_packed(&flat, lower ? "tril" : "triu", TSR_BOOL, 1, &n));
    TSRI_TRY(tsri_make_beside(list, lower ? "tril" : "triu", &flat, t));
    TSRI_TRY(tsri_fill_run(*list, tsr_scalar_bool(false)));
    tsri_see_slice(&part, *list, 0, from, to, 1);
    TSRI_TRY(tsri_fill_run(&part, tsr_scalar_bool(true)));
    tsri_see_element(mask, (char *)(*list)->data + (rows - 1), TSR_BOOL, d);
    mask->storage = (*list)->storage;
    mask->device = (*list)->device;
    mask->memory = (*list)->memory;
    mask->stride[d->ndim - 2] = -1;
    mask->stride[d->ndim - 1] = 1;
    return TSR_OK;
}

typedef struct triangle {
    int64_t k;
    bool    lower;
} triangle;

static tsr_status run_triangle(const tsr_op *op)
{
    const triangle *p = op->params;
    const tsr_tensor *t = op->in[0];
    _Alignas(16) unsigned char zero[16] = { 0 };
    tsr_tensor *list = NULL, mask, nothing;
    if (tsr_numel(t) == 0) return TSR_OK;
    tsri_see_element(&nothing, zero, t->dtype, &t->desc);
    tsr_status s = make_mask(&list, &mask, t, p->k, p->lower);
    if (s == TSR_OK) s = tsri_where_run(op->out[0], &mask, t, &nothing);
    tsr_release(&list);
    return s;
}

tsr_status tsr_tril(tsr_tensor **out, const tsr_tensor *t, int64_t k)
{
    static tsri_composed call = {
        .row = "tril", .traits = { .infer = tsri_infer_packed, .parts = run_triangle, .in_place = 1 }
    };
    return tsri_dispatch_composed(out, &call, &(triangle){ k, true }, t);
}

tsr_status tsr_triu(tsr_tensor **out, const tsr_tensor *t, int64_t k)
{
    static tsri_composed call = {
        .row = "triu", .traits = { .infer = tsri_infer_packed, .parts = run_triangle, .in_place = 1 }
    };
    return tsri_dispatch_composed(out, &call, &(triangle){ k, false }, t);
}

static tsr_status infer_diag(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params)
{
    const int64_t k = *(const int64_t *)params;
    int64_t n = in[0]->shape[0];
    (void)kind;
    if (in[0]->ndim == 2) {
        const int64_t rows = k < 0 ? n + k : n, cols = in[0]->shape[1] - (k > 0 ? k : 0);
        n = tsri_max(0, rows < cols ? rows : cols);
        return tsri_desc_packed(out, name, in[0]->dtype, 1, &n);
    }
    TSRI_CHECK(k > INT64_MIN && tsri_add(&n, n, k < 0 ? -k : k), TSR_EOVERFLOW,
               "%s: %lld more than dim 0 of %s exceeds 2^63 - 1", name, (long long)k, TSRI_DESC(in[0]));
    return tsri_desc_packed(out, name, in[0]->dtype, 2, (const int64_t[]){ n, n });
}

static tsr_status run_diag(const tsr_op *op)
{
    const int64_t k = *(const int64_t *)op->params;
    const tsr_tensor *t = op->in[0];
    tsr_tensor diagonal;
    if (tsr_numel(op->out[0]) == 0) return TSR_OK;
    tsri_see_diagonal(&diagonal, t->ndim == 2 ? t : op->out[0], k);
    if (t->ndim == 2) return tsri_copy_run(op->out[0], &diagonal);
    TSRI_TRY(tsri_fill_run(op->out[0], tsr_scalar_i64(0)));
    return tsr_numel(t) == 0 ? TSR_OK : tsri_copy_run(&diagonal, t);
}

tsr_status tsr_diag(tsr_tensor **out, const tsr_tensor *t, int64_t k)
{
    static tsri_composed call = { .row = "diag", .traits = { .infer = infer_diag, .parts = run_diag } };
    return tsri_dispatch_composed(out, &call, &k, t);
}

/* Grids -------------------------------------------------------------------------------- */

/* The desc of vector i in a grid of this shape. */
static void grid_desc(tsr_desc *out, const tsr_tensor *v, int n, const int64_t *shape, int along)
{
    out->dtype = v->dtype;
    out->ndim = n;
    for (int i = 0; i < n; i++) {
        out->shape[i] = shape[i];
        out->stride[i] = i == along ? v->stride[0] : 0;
    }
}

/* The dim that vector i runs along. */
static int dim_of(int i, int n, tsr_mesh_order order)
{
    return order == TSR_MESH_XY && n > 1 && i < 2 ? 1 - i : i;
}

static bool is_placed(const tsr_tensor *t) { return t && (t->flags & TSR_FLAG_PLACED); }

/* All of outs are rebound or none: what needs a new header is made first. The vectors
 * are held by copies, as their handles may be among outs. */
static tsr_status bind_grid(tsr_tensor **outs, int n, tsr_tensor *held, const tsr_desc *d)
{
    tsr_tensor *origin[TSR_MAX_NDIM] = { NULL };
    tsr_status s = TSR_OK;
    for (int i = 0; i < n; i++) tsri_storage_retain(held[i].storage);
    for (int i = 0; i < n && s == TSR_OK; i++)
        if (!is_placed(outs[i]))
            s = tsri_bind(&origin[i], "meshgrid", &d[i], held[i].storage, held[i].data, &held[i],
                          TSR_FLAG_VIEW);
    for (int i = 0; i < n && s == TSR_OK; i++) {
        if (origin[i]) {
            if (outs[i]) tsri_scope_stay(origin[i], outs[i]);
            tsr_release(&outs[i]);
            outs[i] = origin[i];
            origin[i] = NULL;
        } else {
            s = tsri_bind(&outs[i], "meshgrid", &d[i], held[i].storage, held[i].data, &held[i],
                          TSR_FLAG_VIEW);
        }
    }
    for (int i = 0; i < n; i++) {
        tsr_release(&origin[i]);
        tsri_storage_release(held[i].storage);
    }
    return s;
}

tsr_status tsr_meshgrid(tsr_tensor **outs, int n, const tsr_tensor *const *vectors, tsr_mesh_order order)
{
    tsr_desc d[TSR_MAX_NDIM];
    tsr_tensor held[TSR_MAX_NDIM];
    int64_t shape[TSR_MAX_NDIM];
    TSRI_CHECK(outs, TSR_ENULL, "meshgrid: outs is NULL");
    TSRI_CHECK(vectors, TSR_ENULL, "meshgrid: vectors is NULL");
    TSRI_CHECK(n >= 1 && n <= TSR_MAX_NDIM, TSR_EINVAL, "meshgrid: %d vectors; 1 to %d are taken", n,
               TSR_MAX_NDIM);
    TSRI_CHECK(order == TSR_MESH_IJ || order == TSR_MESH_XY, TSR_EINVAL, "meshgrid: %d is no order",
               (int)order);
    for (int i = 0; i < n; i++) {
        TSRI_TRY(tsri_check_of_list("meshgrid", "vector", i, vectors[i]));
        TSRI_CHECK(vectors[i]->ndim == 1, TSR_ESHAPE, "meshgrid: vector %d is %s", i,
                   TSRI_DESC(&vectors[i]->desc));
        shape[dim_of(i, n, order)] = vectors[i]->shape[0];
    }
    for (int i = 0; i < n; i++) {
        grid_desc(&d[i], vectors[i], n, shape, dim_of(i, n, order));
        TSRI_TRY(tsri_desc_check("meshgrid", &d[i]));
        held[i] = *vectors[i];
    }
    return bind_grid(outs, n, held, d);
}
