/* quant.c - to bytes and back on the CPU.
 *
 * Tiles of four operands: the result, x, scale and zero point, which have steps like x, or
 * steps of 0. A run of elements at a time is widened (kernels.h), computed, and narrowed. */
#include "quant.h"
#include "core/desc_int.h"
#include "core/threads_int.h"
#include "cpu_run.h"
#include "kernels.h"
#include "tessera/ops/reduce.h"

typedef struct quant {
    const tsri_cpu_kernels *kernels;
    tsr_dtype x, scale, zero, z;
    bool      in_f64;       /* x / scale is divided in f64 */
    double    low, high;    /* of the bytes */
} quant;

/* n elements of any real dtype as f64, which holds them all (but for wide integers). */
static void load(double *out, const quant *q, tsr_dtype dtype, const char *at, int64_t step, int64_t n)
{
    union { int64_t i[TSRI_RUN]; float f[TSRI_RUN]; } run;
    const tsri_wide wide = q->kernels->wide[dtype];
    if (wide == TSRI_WIDE_F64) {
        q->kernels->widen[dtype](out, at, step, n);
        return;
    }
    q->kernels->widen[dtype](&run, at, step, n);
    if (wide == TSRI_WIDE_F32) for (int64_t i = 0; i < n; i++) out[i] = (double)run.f[i];
    else                       for (int64_t i = 0; i < n; i++) out[i] = (double)run.i[i];
}

/* Quantising ------------------------------------------------------------------------------ */

static void divide(double *x, const double *scale, int64_t n, bool in_f64)
{
    if (in_f64) for (int64_t i = 0; i < n; i++) x[i] = x[i] / scale[i];
    else        for (int64_t i = 0; i < n; i++) x[i] = (double)((float)x[i] / (float)scale[i]);
}

/* The byte for a quotient: rounded, halves to even, by adding what has a unit of 1. Beyond
 * 2^40 it does not matter which whole number it is. NaN stays NaN, which narrows to 0. */
static double byte_for(const quant *q, double x, double zero)
{
    const double limit = 1099511627776.0, unit = 6755399441055744.0;
    const double held = x < -limit ? -limit : x > limit ? limit : x;
    const double whole = (held + unit) - unit + zero;
    return whole < q->low ? q->low : whole > q->high ? q->high : whole;
}

static void quantise_run(const quant *q, char *const *at, const int64_t *step, int64_t n)
{
    double x[TSRI_RUN], scale[TSRI_RUN], zero[TSRI_RUN];
    load(x, q, q->x, at[1], step[1], n);
    load(scale, q, q->scale, at[2], step[2], n);
    load(zero, q, q->zero, at[3], step[3], n);
    divide(x, scale, n, q->in_f64);
    for (int64_t i = 0; i < n; i++) x[i] = byte_for(q, x[i], zero[i]);
    q->kernels->narrow[TSRI_WIDE_F64][q->z](at[0], step[0], x, n);
}

/* Back ------------------------------------------------------------------------------------ */

static void dequantise_run(const quant *q, char *const *at, const int64_t *step, int64_t n)
{
    double x[TSRI_RUN], scale[TSRI_RUN], zero[TSRI_RUN];
    load(x, q, q->x, at[1], step[1], n);
    load(scale, q, q->scale, at[2], step[2], n);
    load(zero, q, q->zero, at[3], step[3], n);
    for (int64_t i = 0; i < n; i++) x[i] = (x[i] - zero[i]) * scale[i];
    q->kernels->narrow[TSRI_WIDE_F64][q->z](at[0], step[0], x, n);
}

/* The ops --------------------------------------------------------------------------------- */

typedef void (*run_fn)(const quant *q, char *const *at, const int64_t *step, int64_t n);

static void walk(const tsri_tile *t, const quant *q, run_fn run)
{
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t i = 0; i < t->cols; i += TSRI_RUN) {
            char *at[4];
            for (int o = 0; o < 4; o++) at[o] = t->ptr[o] + r * t->row_step[o] + i * t->col_step[o];
            run(q, at, t->col_step, t->cols - i < TSRI_RUN ? t->cols - i : TSRI_RUN);
        }
}

static void quantise_tile(const tsri_tile *t, const void *params) { walk(t, params, quantise_run); }
static void dequantise_tile(const tsri_tile *t, const void *params) { walk(t, params, dequantise_run); }

/* A scale or zero point as an operand: strides are all 0, but along the axis if it runs there. */
static tsri_operand factor(int64_t *stride, const tsr_tensor *f, int axis, int64_t size)
{
    for (int i = 0; i < TSR_MAX_NDIM; i++) stride[i] = 0;
    if (axis != TSR_ALL_AXES && f->ndim == 1 && f->shape[0] == size && size > 1) stride[axis] = f->stride[0];
    return (tsri_operand){ f->data, stride, tsri_dtype_size(f->dtype) };
}

static tsr_status run_tiles(const tsr_op *op, tsri_tile_fn tile)
{
    static const int8_t none;
    int64_t scale_stride[TSR_MAX_NDIM], zero_stride[TSR_MAX_NDIM] = { 0 };
    const tsr_quant_params *p = op->params;
    const tsr_tensor *z = op->out[0], *x = op->in[0], *scale = op->in[1],
                     *zero = op->nin > 2 ? op->in[2] : NULL;
    const int64_t size = p->axis == TSR_ALL_AXES ? 1 : x->shape[p->axis];
    const quant q = { tsri_cpu_kernels_get(), x->dtype, scale->dtype, zero ? zero->dtype : TSR_I8, z->dtype,
                      x->dtype == TSR_F64 || scale->dtype == TSR_F64, z->dtype == TSR_I8 ? -128 : 0,
                      z->dtype == TSR_I8 ? 127 : 255 };
    const tsri_operand operands[] = {
        { z->data, z->stride, tsri_dtype_size(z->dtype) },
        { x->data, x->stride, tsri_dtype_size(x->dtype) },
        factor(scale_stride, scale, p->axis, size),
        zero ? factor(zero_stride, zero, p->axis, size)
             : (tsri_operand){ (char *)(uintptr_t)&none, zero_stride, 1 },
    };
    tsri_loop loop;
    tsri_loop_build(&loop, z->ndim, z->shape, 4, operands, 0);
    return tsri_loop_run_parallel(&loop, &(tsri_kernel){ .fn = tile, .params = &q },
                                  tsri_grain(TSRI_WORK_ELEMENT));
}

tsr_status tsri_cpu_quantise(const tsr_op *op) { return run_tiles(op, quantise_tile); }
tsr_status tsri_cpu_dequantise(const tsr_op *op) { return run_tiles(op, dequantise_tile); }
