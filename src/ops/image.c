/* image.c - images resized, and sampled at the places of a grid.
 *
 * With other ops, a dim is resized tap by tap: input i of all outputs is one take, times its weights. */
#include "image.h"
#include "composed.h"
#include "conv.h"
#include "core/resample.h"
#include "core/sizes.h"
#include "tessera/move.h"
#include "tessera/ops/elementwise.h"
#include "tessera/ops/image.h"
#include "tessera/ops/index.h"

/* Sizes ------------------------------------------------------------------------------ */

static tsr_status check_spatial(const char *name, int spatial, const tsr_desc *x)
{
    TSRI_CHECK(spatial >= 1 && spatial <= TSRI_SPATIAL, TSR_EINVAL,
               "%s: %d spatial dims; there are 1 to %d", name, spatial, TSRI_SPATIAL);
    TSRI_CHECK(x->ndim == spatial + 1 || x->ndim == spatial + 2, TSR_ESHAPE,
               "%s: x is %s; with %d spatial dims it has %d dims, or %d without a batch", name, TSRI_DESC(x),
               spatial, spatial + 2, spatial + 1);
    return TSR_OK;
}

static bool is_smooth(int mode) { return mode == TSR_INTERPOLATE_LINEAR || mode == TSR_INTERPOLATE_CUBIC; }

/* 0, or a number whose inverse is one too. */
static bool is_scale(double scale) { return scale == 0 || (scale > 0x1p-1000 && scale < 0x1p1000); }

static tsr_status check_params(const char *name, const tsr_resize_params *p)
{
    TSRI_CHECK(p->mode >= TSR_INTERPOLATE_NEAREST && p->mode <= TSR_INTERPOLATE_AREA, TSR_EINVAL,
               "%s: mode is %d; it is 0 (nearest), 1 (nearest_exact), 2 (linear), 3 (cubic) or 4 (area)",
               name, (int)p->mode);
    TSRI_CHECK(is_smooth(p->mode) || (!p->align_corners && !p->antialias), TSR_EINVAL,
               "%s: align_corners or antialias, which only linear and cubic take", name);
    for (int d = 0; d < p->spatial; d++) {
        TSRI_CHECK(p->size[d] >= 0, TSR_EINVAL, "%s: size %lld of spatial dim %d", name,
                   (long long)p->size[d], d);
        TSRI_CHECK(is_scale(p->scale[d]), TSR_EINVAL, "%s: scale %g of spatial dim %d", name, p->scale[d], d);
    }
    return TSR_OK;
}

static tsr_status check_size(const char *name, const tsr_desc *x, int dim, int64_t out)
{
    int64_t product = 0;
    TSRI_CHECK(x->shape[dim] > 0 || out == 0, TSR_ESHAPE,
               "%s: dim %d of x %s is empty, and is to become %lld", name, dim, TSRI_DESC(x), (long long)out);
    TSRI_CHECK(out < INT64_MAX && tsri_mul(&product, out + 1, x->shape[dim]), TSR_EOVERFLOW,
               "%s: dim %d of x %s is to become %lld: too many", name, dim, TSRI_DESC(x), (long long)out);
    return TSR_OK;
}

tsr_status tsri_infer_resize(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params)
{
    const tsr_resize_params *p = params;
    tsr_desc d;
    (void)kind;
    TSRI_TRY(check_spatial(name, p->spatial, in[0]));
    TSRI_TRY(check_params(name, p));
    tsri_desc_copy(&d, in[0]);
    for (int i = 0; i < p->spatial; i++) {
        const int dim = d.ndim - p->spatial + i;
        TSRI_TRY(check_size(name, in[0], dim, p->size[i]));
        d.shape[dim] = p->size[i];
    }
    return tsri_desc_packed_like(out, &d, d.dtype);
}

/* Products, where the dims come one after another. */
double tsri_resize_work(const tsr_desc *const *in, const tsr_desc *out, const void *params)
{
    const tsr_resize_params *p = params;
    double taps = 0;
    for (int d = 0; d < p->spatial && tsr_desc_numel(out) > 0; d++) {
        const tsri_resample r = tsri_resample_of(p, d, in[0]->shape[in[0]->ndim - p->spatial + d]);
        taps += (double)tsri_resample_taps(&r);
    }
    return taps * (double)tsr_desc_numel(out);
}

/* Parts ------------------------------------------------------------------------------ */

/* Tap t of every output of a dim. */
typedef struct taps {
    int64_t *index;
    double  *weight;
} taps;

/* Outputs with fewer taps than others repeat their last tap, and divide its weight among the copies. */
static void describe_taps(const taps *z, const tsri_resample *r, int64_t many, double *w)
{
    for (int64_t o = 0; o < r->out; o++) {
        int64_t first;
        const int64_t n = tsri_resample_at(r, o, &first, w);
        for (int64_t t = 0; t < many; t++) {
            const bool share = t >= n - 1;
            z->index[t * r->out + o] = n == 0 ? 0 : first + least(t, n - 1);
            z->weight[t * r->out + o] = n == 0 ? 0 : share ? w[n - 1] / (double)(many - n + 1) : w[t];
        }
    }
}

/* n numbers of the host where `beside` is, in its `ndim` last dims of which the first is n long. */
static tsr_status put_beside(tsr_tensor **out, void *numbers, tsr_dtype dtype, int64_t n, int ndim,
                             const tsr_tensor *beside)
{
    tsr_tensor *host = NULL;
    tsr_desc d;
    TSRI_TRY(tsri_desc_packed(&d, "resize", dtype, ndim, (const int64_t[]){ n, 1, 1 }));
    TSRI_TRY(tsr_wrap(&host, numbers, &d));
    const tsr_status s = tsr_to_memory(out, host, beside->device, tsri_memory_beside(beside));
    tsr_release(&host);
    return s;
}

/* *sum = *sum + x at the tap's indices, times its weights; *sum is made by the first. */
static tsr_status add_tap(tsr_tensor **sum, const tsr_tensor *x, int axis, int64_t *index, double *weight,
                          int64_t n)
{
    tsr_tensor *places = NULL, *weights = NULL, *narrow = NULL, *seen = NULL;
    tsr_status s = put_beside(&places, index, TSR_I64, n, 1, x);
    if (s == TSR_OK) s = put_beside(&weights, weight, TSR_F64, n, x->ndim - axis, x);
    if (s == TSR_OK) s = tsr_cast(&narrow, weights, x->dtype);
    if (s == TSR_OK) s = tsr_take(&seen, x, places, axis);
    if (s == TSR_OK) s = *sum ? tsr_fma(sum, seen, narrow, *sum) : tsr_mul(sum, seen, narrow);
    tsr_release(&seen);
    tsr_release(&narrow);
    tsr_release(&weights);
    tsr_release(&places);
    return s;
}

/* *out = x with `axis` resized. */
static tsr_status resize_axis(tsr_tensor **out, const tsr_tensor *x, int axis, const tsri_resample *r)
{
    const int64_t most = tsri_resample_taps(r);
    int64_t count = 0;
    const bool fits = tsri_mul(&count, most, r->out + 1) && count < INT64_MAX / 16;
    const size_t bytes = (size_t)count * (sizeof(int64_t) + sizeof(double));
    double *room = fits ? tsri_scratch(bytes) : NULL;
    tsr_status s = TSR_OK;
    TSRI_CHECK(room, TSR_ENOMEM, "resize: no room for %lld weights", (long long)count);
    const taps z = { .weight = room + most, .index = (int64_t *)(void *)(room + count) };
    describe_taps(&z, r, most, room);
    for (int64_t t = 0; t < most && s == TSR_OK; t++)
        s = add_tap(out, x, axis, z.index + t * r->out, z.weight + t * r->out, r->out);
    tsri_free(room, bytes);
    return s;
}

static tsr_status take_nearest(tsr_tensor **out, const tsr_tensor *x, int axis, const tsri_resample *r)
{
    tsr_tensor *places = NULL;
    double w;
    const size_t bytes = (size_t)r->out * sizeof(int64_t);
    int64_t *index = tsri_scratch(bytes);
    TSRI_CHECK(index, TSR_ENOMEM, "resize: no room for %lld indices", (long long)r->out);
    for (int64_t o = 0; o < r->out; o++) (void)tsri_resample_at(r, o, &index[o], &w);
    tsr_status s = put_beside(&places, index, TSR_I64, r->out, 1, x);
    if (s == TSR_OK) s = tsr_take(out, x, places, axis);
    tsr_release(&places);
    tsri_free(index, bytes);
    return s;
}

/* Numbers as elements of z: bytes are rounded, halves up, and held to what a byte holds. */
static tsr_status finish(tsr_tensor *z, tsr_tensor *numbers)
{
    if (z->dtype == TSR_U8 && numbers->dtype != TSR_U8) {
        TSRI_TRY(tsr_add(&numbers, numbers, TSR_NUMBER(0.5)));
        TSRI_TRY(tsr_floor(&numbers, numbers));
        TSRI_TRY(tsr_clip(&numbers, numbers, TSR_NUMBER(0), TSR_NUMBER(255)));
    }
    return tsr_copy(z, numbers);
}

tsr_status tsri_resize_parts(const tsr_op *op)
{
    const tsr_resize_params *p = op->params;
    const tsr_tensor *x = op->in[0];
    const bool copies = p->mode <= TSR_INTERPOLATE_NEAREST_EXACT;
    tsr_tensor *step[TSRI_SPATIAL + 1] = { NULL };
    if (tsr_desc_numel(&op->out[0]->desc) == 0) return TSR_OK;
    tsr_status s = tsr_cast(&step[0], x, copies ? x->dtype : x->dtype == TSR_F64 ? TSR_F64 : TSR_F32);
    for (int d = 0; d < p->spatial && s == TSR_OK; d++) {
        const int axis = x->ndim - p->spatial + d;
        const tsri_resample r = tsri_resample_of(p, d, x->shape[axis]);
        s = (copies ? take_nearest : resize_axis)(&step[d + 1], step[d], axis, &r);
    }
    if (s == TSR_OK) s = finish(op->out[0], step[p->spatial]);
    for (int d = 0; d <= TSRI_SPATIAL; d++) tsr_release(&step[d]);
    return s;
}

/* Resize ------------------------------------------------------------------------------ */

/* floor(in * scale), or the dim's own size. */
static tsr_status size_of(int64_t *out, int64_t in, double scale, int d)
{
    const double size = scale == 0 ? (double)in : (double)in * scale;
    TSRI_CHECK(is_scale(scale), TSR_EINVAL, "resize: scale %g of spatial dim %d", scale, d);
    TSRI_CHECK(size < 0x1p62, TSR_EOVERFLOW, "resize: scale %g of spatial dim %d: too large", scale, d);
    *out = scale == 0 ? in : (int64_t)size;
    return TSR_OK;
}

tsr_status tsr_resize(tsr_tensor **out, const tsr_tensor *x, int n, const int64_t *sizes,
                      const tsr_resize_options *how)
{
    tsr_resize_params p = { .spatial = n };
    TSRI_CHECK(out, TSR_ENULL, "resize: out is NULL");
    TSRI_TRY(tsri_check_allocated("resize", "x", x));
    TSRI_CHECK(sizes, TSR_ENULL, "resize: sizes is NULL");
    TSRI_TRY(check_spatial("resize", n, &x->desc));
    p.mode = how ? (int32_t)how->mode : TSR_INTERPOLATE_NEAREST;
    p.align_corners = how && how->align_corners;
    p.antialias = how && how->antialias;
    for (int d = 0; d < n; d++) {
        p.scale[d] = how ? how->scale[d] : 0;
        p.size[d] = sizes[d];
        if (sizes[d] == -1) TSRI_TRY(size_of(&p.size[d], x->shape[x->ndim - n + d], p.scale[d], d));
    }
    return tsri_dispatch_unary(out, TSR_OP_RESIZE, &p, x);
}

/* Grids ------------------------------------------------------------------------------- */

static tsr_status check_grid(const char *name, const tsr_grid_params *p, const tsr_desc *x,
                             const tsr_desc *grid)
{
    const int spatial = x->ndim - 2;
    TSRI_CHECK((spatial == 2 || spatial == 3) && grid->ndim == spatial + 2 &&
                   grid->shape[spatial + 1] == spatial && grid->shape[0] == x->shape[0],
               TSR_ESHAPE,
               "%s: x is %s and grid %s; they are (n, c, h, w) and (n, oh, ow, 2), or (n, c, d, h, w) and "
               "(n, od, oh, ow, 3)", name, TSRI_DESC(x), TSRI_DESC(grid));
    TSRI_CHECK(p->mode == TSR_INTERPOLATE_NEAREST || p->mode == TSR_INTERPOLATE_LINEAR ||
                   (p->mode == TSR_INTERPOLATE_CUBIC && spatial == 2),
               TSR_EINVAL, "%s: mode is %d; it is nearest or linear, or cubic in two spatial dims", name,
               (int)p->mode);
    TSRI_CHECK(p->padding >= TSR_GRID_ZEROS && p->padding <= TSR_GRID_REFLECTION, TSR_EINVAL,
               "%s: padding is %d; it is 0 (zeros), 1 (border) or 2 (reflection)", name, (int)p->padding);
    for (int d = 0; d < spatial; d++)
        TSRI_CHECK(x->shape[2 + d] > 0, TSR_ESHAPE, "%s: dim %d of x %s is empty", name, 2 + d, TSRI_DESC(x));
    return TSR_OK;
}

tsr_status tsri_infer_grid_sample(tsr_desc *out, const char *name, tsr_op_kind kind,
                                  const tsr_desc *const *in, const void *params)
{
    const tsr_desc *x = in[0], *grid = in[1];
    int64_t shape[TSRI_SPATIAL + 2];
    (void)kind;
    TSRI_TRY(check_grid(name, params, x, grid));
    for (int d = 0; d < x->ndim; d++) shape[d] = d < 2 ? x->shape[d] : grid->shape[d - 1];
    return tsri_desc_packed(out, name, x->dtype, x->ndim, shape);
}

tsr_status tsr_grid_sample(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *grid,
                           tsr_interpolation mode, tsr_grid_padding padding, bool align_corners)
{
    const tsr_grid_params p = { (int32_t)mode, (int32_t)padding, align_corners };
    return tsri_dispatch(&(tsri_call){ .kind = TSR_OP_GRID_SAMPLE, .params = &p, .nin = 2, .in = { x, grid },
                                       .nout = 1, .out = { out } });
}
