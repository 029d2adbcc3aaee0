/* fft.c - Fourier transforms: check, crop, fit, and one op for each axis.
 *
 * Transforms over several axes run in the result itself, in a corner of it where axes are
 * still to be lengthened: x is cropped first, so no axis is ever longer than in the end. */
#include "backend/device_run.h"
#include "fft_int.h"
#include "core/same_math.h"
#include "composed.h"
#include "tessera/move.h"
#include "tessera/ops/fft.h"

/* Results and costs -------------------------------------------------------------------- */

static tsr_dtype complex_of(tsr_dtype dtype)
{
    return tsr_dtype_real(dtype) == TSR_F64 ? TSR_C128 : TSR_C64;
}

/* Elements along the axis that x may have, and that the result has. */
static int64_t size_in(tsr_op_kind kind, int64_t n) { return kind == TSR_OP_IRFFT ? n / 2 + 1 : n; }
static int64_t size_out(tsr_op_kind kind, int64_t n) { return kind == TSR_OP_RFFT ? n / 2 + 1 : n; }

tsr_status tsri_infer_fft(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                          const void *params)
{
    const tsr_fft_params *p = params;
    tsr_desc d;
    TSRI_CHECK(p->axis >= 0 && p->axis < in[0]->ndim, TSR_EINDEX, "%s: axis %d of %s, which has %d dims",
               name, (int)p->axis, TSRI_DESC(in[0]), (int)in[0]->ndim);
    TSRI_CHECK(p->n >= 1, TSR_EINVAL, "%s: n is %lld", name, (long long)p->n);
    TSRI_CHECK(in[0]->shape[p->axis] <= size_in(kind, p->n), TSR_ESHAPE,
               "%s: axis %d of %s is longer than the %lld elements that are transformed", name, (int)p->axis,
               TSRI_DESC(in[0]), (long long)size_in(kind, p->n));
    tsri_desc_copy(&d, in[0]);
    d.shape[p->axis] = size_out(kind, p->n);
    const tsr_dtype dtype = kind == TSR_OP_IRFFT ? tsr_dtype_real(d.dtype) : complex_of(d.dtype);
    return tsri_desc_packed(out, name, dtype, d.ndim, d.shape);
}

double tsri_fft_work(const tsr_desc *const *in, const tsr_desc *out, const void *params)
{
    const tsr_fft_params *p = params;
    (void)in;
    const double lanes = (double)tsr_desc_numel(out) / (double)tsri_max(out->shape[p->axis], 1);
    return lanes * (double)p->n * tsri_log_f64((double)p->n) * 1.44269504088896341;
}

/* What is asked for -------------------------------------------------------------------- */

/* Axes, of which the last has a side that is real for rfft and irfft, and how many elements are transformed
 * along each. */
typedef struct lanes {
    int     count;
    int     axis[TSR_MAX_NDIM];
    int64_t n[TSR_MAX_NDIM];
} lanes;

typedef struct request {
    const char    *name;
    tsr_op_kind    kind;
    bool           inverse;
    tsr_fft_norm   norm;
    int            naxes;
    const int64_t *lengths;
    const int     *axes;
    lanes         *along;  /* what these are for the operand */
} request;

static tsr_op_kind kind_along(const request *r, int i)
{
    return i == r->along->count - 1 ? r->kind : TSR_OP_FFT;
}

/* n[i], or what 0 stands for. */
static tsr_status read_length(const request *r, const tsr_desc *x, int i, int64_t n)
{
    const int axis = r->along->axis[i];
    const int64_t size = x->shape[axis];
    const bool halved = kind_along(r, i) == TSR_OP_IRFFT;
    TSRI_CHECK(n >= 0, TSR_EINVAL, "%s: n is %lld for axis %d", r->name, (long long)n, axis);
    TSRI_CHECK(n > 0 || !halved || size <= INT64_MAX / 2, TSR_EOVERFLOW,
               "%s: twice axis %d of %s exceeds 2^63 - 1", r->name, axis, TSRI_DESC(x));
    n = n > 0 ? n : halved ? 2 * (size - 1) : size;
    TSRI_CHECK(n > 0, TSR_ESHAPE, "%s: axis %d of %s leaves nothing to transform; say n", r->name, axis,
               TSRI_DESC(x));
    r->along->n[i] = n;
    return TSR_OK;
}

/* A list of axes; NULL is the last ones, an empty one all. */
static tsr_status read_axes(int *out, int *count, const char *name, const tsr_desc *x, int naxes,
                            const int *axes)
{
    uint32_t set;
    TSRI_TRY(tsri_check_list(name, "axes", naxes, axes ? (const void *)axes : x)); /* it may be NULL */
    TSRI_CHECK(axes || naxes <= x->ndim, TSR_EINDEX, "%s: %d axes of %s", name, naxes, TSRI_DESC(x));
    *count = naxes > 0 ? naxes : x->ndim;
    if (axes) TSRI_TRY(tsri_axis_set(&set, name, x, naxes, axes));
    for (int i = 0; i < *count; i++) {
        const int axis = axes && naxes > 0 ? axes[i] : i - *count;
        out[i] = axis < 0 ? axis + x->ndim : axis;
    }
    return TSR_OK;
}

static tsr_status read_request(const request *r, const tsr_desc *x)
{
    TSRI_CHECK((unsigned)r->norm <= TSR_FFT_FORWARD, TSR_EINVAL, "%s: %d is no norm", r->name, (int)r->norm);
    TSRI_TRY(read_axes(r->along->axis, &r->along->count, r->name, x, r->naxes, r->axes));
    TSRI_CHECK(r->along->count > 0 || r->kind == TSR_OP_FFT, TSR_ESHAPE, "%s: %s has no axis to transform",
               r->name, TSRI_DESC(x));
    for (int i = 0; i < r->along->count; i++) TSRI_TRY(read_length(r, x, i, r->lengths ? r->lengths[i] : 0));
    return TSR_OK;
}

/* The factor for one axis; the product of all factors is what the norm asks for. */
static double scale_of(const request *r, int64_t n)
{
    const double size = (double)n;
    if (r->norm == TSR_FFT_ORTHO) return 1 / tsri_sqrt_f64(size);
    return (r->norm == TSR_FFT_FORWARD) != r->inverse ? 1 / size : 1;
}

/* Running ------------------------------------------------------------------------------ */

static tsr_status run_axis(const request *r, tsr_tensor *z, const tsr_tensor *x, tsr_op_kind kind, int i)
{
    const tsr_fft_params params = { .axis = r->along->axis[i], .inverse = r->inverse, .n = r->along->n[i],
                                    .scale = scale_of(r, r->along->n[i]) };
    const tsr_op op = { .kind = kind, .nin = 1, .nout = 1, .in = { x }, .out = { z }, .params = &params };
    return tsri_op_run(&op);
}

static void shape_of(int64_t *shape, const tsr_tensor *x)
{
    for (int d = 0; d < x->ndim; d++) shape[d] = x->shape[d];
}

/* z as far as `shape` reaches, and whole along the axis. */
static void see_corner(tsr_tensor *v, const tsr_tensor *z, const int64_t *shape, int axis)
{
    tsri_see_as(v, z);
    for (int d = 0; d < z->ndim; d++)
        if (d != axis) v->shape[d] = shape[d];
}

/* The first `count` axes in z itself, the last of them first. `done` says how far z has
 * elements so far; what an axis lacks is filled with zeros. */
static tsr_status run_in_place(const request *r, const tsr_tensor *z, int64_t *done, int count)
{
    for (int i = count - 1; i >= 0; i--) {
        const int axis = r->along->axis[i];
        tsr_tensor corner, rest;
        see_corner(&corner, z, done, axis);
        tsri_see_slice(&rest, &corner, axis, done[axis], r->along->n[i], 1);
        TSRI_TRY(tsri_fill_run(&rest, tsr_scalar_i64(0)));
        TSRI_TRY(run_axis(r, &corner, &corner, TSR_OP_FFT, i));
        done[axis] = r->along->n[i];
    }
    return TSR_OK;
}

/* x to a corner of z along the last axis, then the others there. */
static tsr_status run_forth(const request *r, const tsr_tensor *z, const tsr_tensor *x)
{
    int64_t done[TSR_MAX_NDIM];
    const int last = r->along->count - 1;
    tsr_tensor corner;
    see_corner(&corner, z, x->shape, r->along->axis[last]);
    TSRI_TRY(run_axis(r, &corner, x, r->kind, last));
    shape_of(done, &corner);
    return run_in_place(r, z, done, last);
}

/* For irfftn: the others in a tensor between, then the last axis to z. */
static tsr_status run_back(const request *r, tsr_tensor *z, const tsr_tensor *x)
{
    const int last = r->along->count - 1;
    tsr_tensor *middle = NULL;
    tsr_desc d;
    int64_t shape[TSR_MAX_NDIM];
    if (last == 0) return run_axis(r, z, x, TSR_OP_IRFFT, 0);
    lanes rest = *r->along;
    rest.count = last;
    request others = *r;
    others.kind = TSR_OP_FFT;
    others.along = &rest;
    shape_of(shape, x);
    for (int i = 0; i < last; i++) shape[r->along->axis[i]] = r->along->n[i];
    TSRI_TRY(tsri_desc_packed(&d, r->name, x->dtype, x->ndim, shape));
    TSRI_TRY(tsri_make_beside(&middle, r->name, &d, x));
    tsr_status s = run_forth(&others, middle, x);
    if (s == TSR_OK) s = run_axis(r, z, middle, TSR_OP_IRFFT, last);
    tsr_release(&middle);
    return s;
}

/* A view of the part of x that is transformed. */
static void crop(tsr_tensor *v, const request *r, const tsr_tensor *x)
{
    tsri_see_as(v, x);
    for (int i = 0; i < r->along->count; i++) {
        const int axis = r->along->axis[i];
        const int64_t size = size_in(kind_along(r, i), r->along->n[i]);
        if (v->shape[axis] > size) tsri_see_slice(v, v, axis, 0, size, 1);
    }
}

/* The dtype that is transformed: c64 and c128, and f32 and f64 where the op takes them. */
static tsr_dtype computed_dtype(const request *r, tsr_dtype dtype)
{
    dtype = tsri_computed_dtype(dtype);
    return r->kind == TSR_OP_IRFFT || r->along->count == 0 ? complex_of(dtype) : dtype;
}

static tsr_status infer_transform(tsr_desc *out, const char *name, tsr_op_kind kind,
                                  const tsr_desc *const *in, const void *params)
{
    const request *r = params;
    tsr_desc d;
    (void)kind;
    TSRI_TRY(read_request(r, in[0]));
    tsri_desc_copy(&d, in[0]);
    for (int i = 0; i < r->along->count; i++)
        d.shape[r->along->axis[i]] = size_out(kind_along(r, i), r->along->n[i]);
    d.dtype = complex_of(d.dtype);
    if (r->kind == TSR_OP_IRFFT) d.dtype = tsr_dtype_real(d.dtype);
    return tsri_desc_packed(out, name, d.dtype, d.ndim, d.shape);
}

static tsr_status run_transform(const tsr_op *op)
{
    const request *r = op->params;
    tsr_tensor *z = op->out[0], *temporary = NULL, cropped;
    const tsr_tensor *x = &cropped;
    if (tsr_numel(z) == 0) return TSR_OK;
    crop(&cropped, r, op->in[0]);
    TSRI_TRY(tsri_as_dtype(&x, &temporary, computed_dtype(r, x->dtype)));
    const tsr_status s = r->along->count == 0               ? tsri_copy_run(z, x)
                         : r->kind == TSR_OP_IRFFT ? run_back(r, z, x)
                                                   : run_forth(r, z, x);
    tsr_release(&temporary);
    return s;
}

/* The ops ------------------------------------------------------------------------------ */

#define TRANSFORMS { .infer = infer_transform, .parts = run_transform, .in_place = 1 }

/* The signatures of the public calls; the rows of op.def say what a backend is given. */
#define TAKES_FFT   "x{ floating/c64/c128 | (...) } -> out{ c64/c128 | (...) }"
#define TAKES_RFFT  "x{ floating | (...) } -> out{ c64/c128 | (...) }"
#define TAKES_IRFFT "x{ floating/c64/c128 | (...) } -> out{ f32/f64 | (...) }"

#define TRANSFORM(op, KIND, is_inverse, naxes, lengths, list) \
    { \
        static tsri_composed call = { .row = #op, .signature = TAKES_##KIND, .traits = TRANSFORMS }; \
        lanes along; \
        const request r = { #op, TSR_OP_##KIND, is_inverse, norm, naxes, lengths, list, &along }; \
        return tsri_dispatch_composed(out, &call, &r, x); \
    }
#define ALONG_ONE(op, KIND, is_inverse) \
    tsr_status tsr_##op(tsr_tensor **out, const tsr_tensor *x, int64_t n, int axis, tsr_fft_norm norm) \
    TRANSFORM(op, KIND, is_inverse, 1, &n, &axis)
#define ALONG_MANY(op, KIND, is_inverse) \
    tsr_status tsr_##op(tsr_tensor **out, const tsr_tensor *x, int naxes, const int64_t *lengths, \
                        const int *axes, tsr_fft_norm norm) \
    TRANSFORM(op, KIND, is_inverse, naxes, lengths, axes)

ALONG_ONE(fft, FFT, false)
ALONG_ONE(ifft, FFT, true)
ALONG_ONE(rfft, RFFT, false)
ALONG_ONE(irfft, IRFFT, true)
ALONG_ONE(hfft, IRFFT, false)
ALONG_ONE(ihfft, RFFT, true)
ALONG_MANY(fftn, FFT, false)
ALONG_MANY(ifftn, FFT, true)
ALONG_MANY(rfftn, RFFT, false)
ALONG_MANY(irfftn, IRFFT, true)

/* Frequencies -------------------------------------------------------------------------- */

static bool is_finite(double v) { return v - v == 0; }

/* 0, 1, .. up to `last`, then on from that less n; over n * d. */
static tsr_status fill_frequencies(tsr_tensor *out, int64_t n, int64_t last, double d)
{
    tsr_tensor *values = NULL;
    tsr_status made;
    TSRI_WORK_ON(TSR_CPU, made, tsr_empty(&values, TSR_F64, 1, out->shape));
    TSRI_TRY(made);
    double *v = values->data;
    for (int64_t i = 0; i < out->shape[0]; i++) v[i] = (double)(i <= last ? i : i - n) / ((double)n * d);
    const tsr_status s = tsr_copy(out, values);
    tsr_release(&values);
    return s;
}

static tsr_status frequencies(tsr_tensor **out, const char *name, int64_t n, double d, tsr_dtype dtype,
                              int64_t size, int64_t last)
{
    tsr_desc desc;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", name);
    TSRI_CHECK(n >= 1, TSR_EINVAL, "%s: n is %lld", name, (long long)n);
    TSRI_CHECK(d != 0 && is_finite(d), TSR_EINVAL, "%s: d is %g", name, d);
    TSRI_CHECK(tsr_dtype_kind(dtype) == TSR_FLOATING, TSR_EDTYPE, "%s: %s; a floating dtype is needed", name,
               tsr_dtype_name(dtype));
    TSRI_TRY(tsri_desc_packed(&desc, name, dtype, 1, &size));
    TSRI_TRY(tsri_result(out, &origin, name, &desc, NULL));
    return tsri_result_end(out, origin, fill_frequencies(*out, n, last, d));
}

tsr_status tsr_fftfreq(tsr_tensor **out, int64_t n, double d, tsr_dtype dtype)
{
    return frequencies(out, "fftfreq", n, d, dtype, n, n > 0 ? (n - 1) / 2 : 0);
}

tsr_status tsr_rfftfreq(tsr_tensor **out, int64_t n, double d, tsr_dtype dtype)
{
    return frequencies(out, "rfftfreq", n, d, dtype, n / 2 + 1, n / 2);
}

static tsr_status run_shift(const tsr_op *op) { return tsri_roll_run(op->out[0], op->in[0], op->params); }

static tsr_status shift(tsr_tensor **out, tsri_composed *call, const tsr_tensor *x, int naxes,
                        const int *axes, bool inverse)
{
    int at[TSR_MAX_NDIM], count = 0;
    int64_t by[TSR_MAX_NDIM] = { 0 };
    TSRI_TRY(tsri_check_allocated(call->row, "x", x));
    TSRI_TRY(tsri_check_list(call->row, "axes", naxes, axes));
    TSRI_TRY(read_axes(at, &count, call->row, &x->desc, naxes, axes));
    for (int i = 0; i < count; i++) {
        const int64_t size = x->shape[at[i]], half = size / 2;
        by[at[i]] = inverse && half > 0 ? size - half : half;
    }
    return tsri_dispatch_composed(out, call, by, x);
}

tsr_status tsr_fftshift(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes)
{
    static tsri_composed call = { .row = "fftshift",
                                  .traits = { .infer = tsri_infer_packed, .parts = run_shift } };
    return shift(out, &call, x, naxes, axes, false);
}

tsr_status tsr_ifftshift(tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes)
{
    static tsri_composed call = { .row = "ifftshift",
                                  .traits = { .infer = tsri_infer_packed, .parts = run_shift } };
    return shift(out, &call, x, naxes, axes, true);
}
