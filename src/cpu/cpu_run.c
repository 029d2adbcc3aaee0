/* cpu_run.c - see cpu_run.h. */
#include "cpu_run.h"
#include "core/desc_int.h"
#include "core/dtype_int.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/op_info.h"
#include "core/threads_int.h"
#include "kernels.h"
#include "stage.h"
#include "tessera/threads.h"

static tsri_operand operand(const tsr_tensor *t)
{
    return (tsri_operand){ t->data, t->stride, tsri_dtype_size(t->dtype) };
}

/* Runs a nest whose first operand is the result; `bytes` are those of one element of each operand. */
static tsr_status run_staged(tsri_loop *loop, const tsri_stage *stage, int64_t bytes, bool in_place,
                             int64_t grain)
{
    loop->stream = !in_place && tsri_cpu_streams(tsri_loop_count(loop) * bytes);
    if (TSRI_LIKELY(!stage->cast && tsri_stage_is_plain(loop, stage->size)))
        return tsri_loop_run_parallel(loop, &(tsri_kernel){ .fn = stage->fn, .params = stage->params },
                                      grain);
    tsri_stage_order(loop, stage->size);
    return tsri_loop_run_parallel(loop, &(tsri_kernel){ .fn = tsri_stage_tile, .params = stage }, grain);
}

static int log2_of(int64_t size) { return __builtin_ctz((unsigned)size); }

/* Copy -------------------------------------------------------------------------- */

static void cast_tile(const tsri_tile *t, const void *params)
{
    const tsri_cast *c = params;
    tsr_c128 run[TSRI_RUN];  /* any wide type fits */
    for (int64_t r = 0; r < t->rows; r++) {
        char *z = t->ptr[0] + r * t->row_step[0];
        const char *x = t->ptr[1] + r * t->row_step[1];
        for (int64_t i = 0; i < t->cols; i += TSRI_RUN) {
            const int64_t n = t->cols - i < TSRI_RUN ? t->cols - i : TSRI_RUN;
            c->widen(run, x + i * t->col_step[1], t->col_step[1], n);
            c->narrow(z + i * t->col_step[0], t->col_step[0], run, n);
        }
    }
}

static tsri_cast make_cast(tsr_dtype from, tsr_dtype to)
{
    const tsri_cpu_kernels *k = tsri_cpu_kernels_get();
    const tsri_tile_fn direct = k->cast[from][to];
    return (tsri_cast){ direct ? direct : cast_tile, k->widen[from], k->narrow[k->wide[from]][to],
                        tsri_dtype_size(to) };
}

tsr_status tsri_cpu_copy(const tsr_op *op)
{
    tsri_loop loop;
    tsr_tensor *dst = op->out[0];
    const tsr_tensor *src = op->in[0];
    if (dst->dtype == src->dtype) return tsri_cpu_copy_same(dst, src, 0);
    const tsri_cast cast = make_cast(src->dtype, dst->dtype);
    const tsri_operand operands[] = { operand(dst), operand(src) };
    const tsri_stage stage = { cast.fn, &cast, 2, { operands[0].size, operands[1].size }, NULL };
    const int64_t bytes = operands[0].size + operands[1].size;
    tsri_loop_build(&loop, dst->ndim, dst->shape, 2, operands, 0);
    return run_staged(&loop, &stage, bytes, dst->data == src->data, tsri_grain((double)bytes));
}

/* Fill -------------------------------------------------------------------------- */

/* Are all bytes of the element equal? Then memset can fill. */
static bool is_one_byte(const unsigned char *element, int64_t size)
{
    for (int64_t i = 1; i < size; i++)
        if (element[i] != element[0]) return false;
    return true;
}

static void set_bytes(const tsri_tile *t, const void *params)
{
    const unsigned char *element = params;
    for (int64_t r = 0; r < t->rows; r++) memset(t->ptr[0] + r * t->row_step[0], *element, (size_t)t->cols);
}

tsr_status tsri_cpu_fill(const tsr_op *op)
{
    tsri_loop loop;
    tsr_tensor *dst = op->out[0];
    const tsr_fill_params *params = op->params;
    _Alignas(16) unsigned char element[16] = { 0 };
    const int64_t size = tsri_dtype_size(dst->dtype);
    TSRI_TRY(tsr_scalar_store(element, dst->dtype, params->value));
    tsri_loop_build(&loop, dst->ndim, dst->shape, 1, (const tsri_operand[]){ operand(dst) }, 0);
    tsri_dim *inner = &loop.dim[loop.ndim > 0 ? loop.ndim - 1 : 0];
    if (loop.ndim > 0 && inner->step[0] == size && is_one_byte(element, size)) {
        inner->n *= size;  /* the same memory as bytes */
        inner->step[0] = 1;
        return tsri_loop_run_parallel(&loop, &(tsri_kernel){ .fn = set_bytes, .params = element },
                                      tsri_grain(1));
    }
    const tsri_kernel fill = { .fn = tsri_cpu_kernels_get()->fill[log2_of(size)], .params = element };
    return tsri_loop_run_parallel(&loop, &fill, tsri_grain((double)size));
}

/* Elementwise ------------------------------------------------------------------- */

tsri_tile_fn tsri_cpu_elementwise_kernel(const tsr_op *op)
{
    const tsr_tensor *last = op->nin > 0 ? op->in[op->nin - 1] : NULL;
    return last ? tsri_cpu_kernels_get()->elementwise[op->kind][last->dtype] : NULL;
}

/* Is the result in place of an operand? */
static bool is_in_place(const tsr_op *op)
{
    for (int i = 0; i < op->nin; i++)
        if (op->in[i]->data == op->out[0]->data) return true;
    return false;
}

bool tsri_cpu_run_row(tsr_op_kind kind, const void *params, int64_t n, tsr_tensor *out, int nin,
                      const tsr_tensor *const *in)
{
    const tsri_tile_fn kernel = tsri_cpu_kernels_get()->elementwise[kind][in[0]->dtype];
    const int64_t size = tsri_dtype_size(in[0]->dtype);
    tsri_tile t;
    if (!kernel) return false;
    t.stream = false;
    t.rows = 1;
    t.cols = n;
    t.ptr[0] = out->data;
    t.row_step[0] = 0;
    t.col_step[0] = tsri_dtype_size(out->dtype);
    for (int i = 0; i < nin; i++) {
        t.ptr[i + 1] = in[i]->data;
        t.row_step[i + 1] = 0;
        t.col_step[i + 1] = size;
    }
    kernel(&t, params);
    return true;
}

/* Does the tensor repeat one element? */
static bool is_repeated(const tsr_tensor *t)
{
    for (int d = 0; d < t->ndim; d++)
        if (t->shape[d] == 0 || (t->shape[d] != 1 && t->stride[d] != 0)) return false;
    return true;
}

/* A power of 2 or -1 becomes a square or 1 / x: the same values, faster. */
static bool simplify(tsr_op *simple, const tsr_op *op)
{
    tsr_scalar value;
    if (op->kind != TSR_OP_POW || tsr_dtype_kind(op->in[1]->dtype) != TSR_FLOATING ||
        !is_repeated(op->in[1]) || tsr_scalar_load(&value, op->in[1]->dtype, op->in[1]->data) != TSR_OK)
        return false;
    const double power = tsr_scalar_to_f64(value);
    if (power != 2 && power != -1) return false;
    *simple = *op;
    simple->kind = power == 2 ? TSR_OP_SQUARE : TSR_OP_RECIPROCAL;
    simple->nin = 1;
    return true;
}

static tsr_status run_elementwise(const tsr_op *op, tsri_tile_fn kernel, const tsri_cast *cast)
{
    tsri_loop loop;
    tsri_operand operands[TSRI_MAX_OPERANDS];
    tsri_stage stage = { kernel, op->params, op->nin + 1, { 0 }, cast };
    const tsr_tensor *out = op->out[0];
    int64_t bytes = 0;
    operands[0] = operand(out);
    for (int i = 0; i < op->nin; i++) operands[i + 1] = operand(op->in[i]);
    for (int i = 0; i <= op->nin; i++) bytes += stage.size[i] = operands[i].size;
    tsri_loop_build(&loop, out->ndim, out->shape, op->nin + 1, operands, 0);
    /* Work that is bound by arithmetic is worth a thread sooner than work that is bound by memory. */
    const double work = (double)(bytes + 4 * (int64_t)tsri_op_infos[op->kind].flops);
    return run_staged(&loop, &stage, bytes, is_in_place(op), tsri_grain(work));
}

tsr_status tsri_cpu_elementwise(const tsr_op *op, tsri_tile_fn kernel)
{
    tsr_op simple;
    if (simplify(&simple, op)) return run_elementwise(&simple, tsri_cpu_elementwise_kernel(&simple), NULL);
    return run_elementwise(op, kernel, NULL);
}

tsr_status tsri_cpu_run_converted(const tsr_op *op, const tsr_dtype *dtypes)
{
    tsr_op simple;
    tsri_cast cast[TSRI_MAX_OPERANDS];
    if (simplify(&simple, op)) op = &simple;
    const tsri_tile_fn kernel = tsri_cpu_kernels_get()->elementwise[op->kind][dtypes[op->nin - 1]];
    TSRI_CHECK(kernel, TSR_EUNSUPPORTED, "%s: the cpu backend cannot do this in %s",
               tsri_op_infos[op->kind].name, tsr_dtype_name(dtypes[op->nin - 1]));
    cast[0].fn = NULL;
    for (int i = 0; i < op->nin; i++) {
        cast[i + 1] = make_cast(op->in[i]->dtype, dtypes[i]);
        if (op->in[i]->dtype == dtypes[i]) cast[i + 1].fn = NULL;
    }
    return run_elementwise(op, kernel, cast);
}
