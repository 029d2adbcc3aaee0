/* cpu_run.c - see cpu_run.h. */
#include "cpu_run.h"
#include "core/dtype_int.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/randoms.h"
#include "kernels.h"
#include "tessera/threads.h"

/* Elements a thread must have to be worth waking, for work at memory speed. */
enum { GRAIN_BYTES = 256 << 10 };

static tsri_operand operand(const tsr_tensor *t)
{
    return (tsri_operand){ t->data, t->stride, tsri_dtype_size(t->dtype) };
}

static int log2_of(int64_t size) { return __builtin_ctz((unsigned)size); }

/* Copy -------------------------------------------------------------------------- */

typedef struct cast {
    tsri_widen_fn  widen;
    tsri_narrow_fn narrow;
} cast;

static void cast_tile(const tsri_tile *t, const void *params)
{
    const cast *c = params;
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

tsr_status tsri_cpu_copy(const tsr_op *op)
{
    tsri_loop loop;
    tsr_tensor *dst = op->out[0];
    const tsr_tensor *src = op->in[0];
    const tsri_cpu_kernels *k = tsri_cpu_kernels_get();
    const tsri_operand operands[] = { operand(dst), operand(src) };
    const int64_t grain = GRAIN_BYTES / (operands[0].size + operands[1].size);
    tsri_loop_build(&loop, dst->ndim, dst->shape, 2, operands, 0);
    if (dst->dtype == src->dtype)
        return tsri_loop_run_parallel(&loop, k->copy[log2_of(operands[0].size)], NULL, grain);
    const cast c = { k->widen[src->dtype], k->narrow[k->wide[src->dtype]][dst->dtype] };
    return tsri_loop_run_parallel(&loop, cast_tile, &c, grain);
}

/* Fill -------------------------------------------------------------------------- */

/* Is the element one byte over and over? Then memset fills. */
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
        return tsri_loop_run_parallel(&loop, set_bytes, element, GRAIN_BYTES);
    }
    return tsri_loop_run_parallel(&loop, tsri_cpu_kernels_get()->fill[log2_of(size)], element, GRAIN_BYTES / size);
}

/* Elementwise ------------------------------------------------------------------- */

static tsri_tile_fn elementwise_kernel(const tsr_op *op)
{
    return op->nin > 0 ? tsri_cpu_kernels_get()->elementwise[op->kind][op->in[op->nin - 1]->dtype] : NULL;
}

bool tsri_cpu_has_elementwise(const tsr_op *op) { return elementwise_kernel(op) != NULL; }

tsr_status tsri_cpu_elementwise(const tsr_op *op)
{
    tsri_loop loop;
    tsri_operand operands[TSRI_MAX_OPERANDS];
    const tsr_tensor *out = op->out[0];
    int64_t bytes = 0;
    operands[0] = operand(out);
    for (int i = 0; i < op->nin; i++) operands[i + 1] = operand(op->in[i]);
    for (int i = 0; i <= op->nin; i++) bytes += operands[i].size;
    tsri_loop_build(&loop, out->ndim, out->shape, op->nin + 1, operands, 0);
    /* Work that computes is worth sharing sooner than work that waits for memory. */
    const int64_t cost = bytes + 4 * (int64_t)tsr_op_get_info(op->kind)->flops;
    return tsri_loop_run_parallel(&loop, elementwise_kernel(op), op->params, GRAIN_BYTES / cost);
}

/* Random ------------------------------------------------------------------------- */

typedef struct random {
    tsr_dtype         dtype;
    uint64_t          seed;
    const tsri_range *range;  /* NULL: normal */
    char             *data;   /* of a packed destination */
    tsri_tile_fn      copy;
    int64_t           next;   /* element that a strided walk comes to */
} random;

static tsr_status random_packed(void *context, int64_t begin, int64_t end)
{
    const random *r = context;
    char *at = r->data + begin * (int64_t)tsr_dtype_size(r->dtype);
    tsri_random_elements(at, r->dtype, r->seed, r->range, begin, end - begin);
    return TSR_OK;
}

/* A tile in row-major order: values are made a run at a time and laid out. */
static bool random_tile(const tsri_tile *t, void *context)
{
    random *r = context;
    tsr_c128 run[TSRI_RUN];
    const int64_t size = (int64_t)tsr_dtype_size(r->dtype);
    for (int64_t row = 0; row < t->rows; row++)
        for (int64_t i = 0; i < t->cols; i += TSRI_RUN) {
            const int64_t n = t->cols - i < TSRI_RUN ? t->cols - i : TSRI_RUN;
            tsri_random_elements(run, r->dtype, r->seed, r->range, r->next, n);
            r->next += n;
            r->copy(&(tsri_tile){ .rows = 1, .cols = n,
                                  .ptr = { t->ptr[0] + row * t->row_step[0] + i * t->col_step[0], (char *)run },
                                  .col_step = { t->col_step[0], size } }, NULL);
        }
    return true;
}

tsr_status tsri_cpu_random(const tsr_op *op)
{
    tsr_tensor *dst = op->out[0];
    const tsr_random_params *params = op->params;
    const bool uniform = op->kind == TSR_OP_UNIFORM;
    tsri_range range;
    if (uniform) range = tsri_range_of(tsr_dtype_real(dst->dtype), params->low, params->high);
    random r = { dst->dtype, params->seed, uniform ? &range : NULL, dst->data,
                 tsri_cpu_kernels_get()->copy[log2_of((int64_t)tsr_dtype_size(dst->dtype))], 0 };
    if (tsr_desc_is_contiguous(&dst->desc)) return tsr_parallel_for(tsr_numel(dst), 4096, random_packed, &r);
    tsri_loop loop;
    tsri_loop_build(&loop, dst->ndim, dst->shape, 1, (const tsri_operand[]){ operand(dst) }, TSRI_ORDERED);
    (void)tsri_loop_visit(&loop, random_tile, &r);
    return TSR_OK;
}
