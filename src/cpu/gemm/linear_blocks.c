/* linear_blocks.c - a matrix times the transpose of one in quantised blocks.
 *
 *     one row      several rows of blocks at a time are unpacked in registers, and read once
 *     more rows    the loops of skinny.c, whose panels are unpacked from blocks, for some rows after others
 *
 * The sums have the order that gemm.h gives all products, so both have the same bits. */
#include "core/alloc.h"
#include "core/desc_int.h"
#include "core/loop.h"
#include "core/memory_int.h"
#include "core/sizes.h"
#include "core/threads_int.h"
#include "cpu/blocks.h"
#include "cpu/kernels.h"
#include "gemm.h"

enum { ROWS_AT_ONCE = 256 };  /* of x, for which blocks are unpacked */

/* The kernels of a kind, if rows are packed. */
static const tsri_block_kernels *kernels_for(const tsri_blocks *b, int32_t kind)
{
    const tsri_block_kernels *all = tsri_cpu_kernels_get()->blocks;
    const bool packed = b->byte == 1 && b->block == b->type->bytes;
    return all && packed && all[kind].pack ? &all[kind] : NULL;
}

/* Unpacked, in plain C ---------------------------------------------------------------------- */

/* k indices from p on of some rows, each row k floats long. */
static void unpack_rows(const tsri_blocks *b, float *dst, int64_t row, int64_t rows, int64_t p, int64_t k)
{
    const int64_t elements = b->type->elements;
    for (int64_t i = 0; i < rows; i++)
        tsri_blocks_decode(b, dst + i * k, row + i, p / elements, k / elements);
}

static const char *blocks_at(const tsri_blocks *b, int64_t row, int64_t p)
{
    return b->data + row * b->row + p / b->type->elements * b->block;
}

/* What is prefetched while indices p .. of `cols` rows are unpacked: as much of the rows that follow. Rows
 * that lie side by side are read in one run. */
static const char *next_rows(const tsri_blocks *b, int64_t row, int64_t p, int64_t k, int64_t cols)
{
    const int64_t before = p / b->type->elements * b->type->bytes;
    const bool run = b->row == k / b->type->elements * b->type->bytes;
    const int64_t at = (row + cols) * b->row + before * (run ? cols : 1);
    return (const char *)((uintptr_t)b->data + (uintptr_t)at);
}

void tsri_gemm_pack_blocks(const tsri_gemm *g, void *panel, int64_t p, int64_t k, int64_t col, int64_t cols,
                           int width)
{
    const tsri_blocks *b = g->blocks;
    if (b->kernels && cols == b->kernels->cols && width == cols) {
        b->kernels->pack(panel, blocks_at(b, col, p), b->row, k, next_rows(b, col, p, g->k, cols));
        return;
    }
    float rows[TSRI_GEMM_ROWS * TSRI_GEMM_BLOCK];
    for (int64_t j = 0; j < cols; j += TSRI_GEMM_ROWS) {
        unpack_rows(b, rows, col + j, least(cols - j, TSRI_GEMM_ROWS), p, k);
        for (int64_t q = 0; q < k; q++)
            for (int64_t i = j; i < width && i < j + TSRI_GEMM_ROWS; i++)
                ((float *)panel)[q * width + i] = i < cols ? rows[(i - j) * k + q] : 0;
    }
}

/* One row ------------------------------------------------------------------------------------ */

typedef struct row_product {
    const tsri_gemm *g;
    const float     *x;
    int64_t          group;  /* columns that are summed at a time */
} row_product;

enum { MOST_COLS = 128 };

static void sum_plainly(const row_product *r, float *sums, int64_t col, int64_t cols, int64_t p, int64_t k)
{
    float rows[TSRI_GEMM_ROWS * TSRI_GEMM_BLOCK];
    for (int64_t j = 0; j < cols; j += TSRI_GEMM_ROWS) {
        const int64_t n = least(cols - j, TSRI_GEMM_ROWS);
        unpack_rows(r->g->blocks, rows, col + j, n, p, k);
        r->g->kernels->dtypes[TSR_F32].rows(sums + j, (const char *)rows, k * (int64_t)sizeof(float),
                                            sizeof(float), n, k, r->x + p, 0, p > 0);
    }
}

static void sum_group(const row_product *r, int64_t col, int64_t cols)
{
    const tsri_gemm *g = r->g;
    const tsri_block_kernels *fast = g->blocks->kernels;
    float sums[MOST_COLS];
    for (int64_t p = 0; p < g->k; p += TSRI_GEMM_BLOCK) {
        const int64_t k = least(g->k - p, TSRI_GEMM_BLOCK);
        if (fast && cols == fast->sum_cols) {
            fast->sum(sums, blocks_at(g->blocks, col, p), g->blocks->row, k, r->x + p, p > 0,
                      next_rows(g->blocks, col, p, g->k, cols));
        } else {
            sum_plainly(r, sums, col, cols, p, k);
        }
    }
    g->kernels->dtypes[g->z_type].store(tsri_gemm_at(g->z, 0, col), tsri_gemm_at(g->c, 0, col), sums, 1, cols,
                                        1, (int)cols, &g->scale);
}

static tsr_status sum_groups(void *context, int64_t begin, int64_t end)
{
    const row_product *r = context;
    for (int64_t i = begin; i < end; i++)
        sum_group(r, i * r->group, least(r->group, r->g->n - i * r->group));
    return TSR_OK;
}

static tsr_status multiply_row(const tsri_gemm *g)
{
    const tsri_blocks *b = g->blocks;
    row_product r = { .g = g, .group = b->kernels ? b->kernels->sum_cols : TSRI_GEMM_ROWS };
    size_t reserved = 0;
    float *x = tsri_pool_scratch((size_t)g->k * sizeof *x, &reserved);
    if (!x) return TSR_ENOMEM;
    g->kernels->dtypes[g->a_type].pack(x, g->a.data, 0, g->a.col, 1, g->k, 1);
    r.x = x;
    const tsr_status s = tsri_parallel_for(pieces(g->n, r.group),
                                           tsri_grain(TSRI_WORK_READ * (double)g->k * (double)r.group),
                                           sum_groups, &r);
    tsri_pool_give(x, reserved);
    return s;
}

/* The op: rows of x as the loop over its other dims finds them --------------------------------- */

typedef struct rows_of_x {
    tsri_gemm  g;  /* data and rows are the tile's */
    tsr_status status;
} rows_of_x;

static tsr_status multiply(tsri_gemm *g)
{
    const int64_t m = g->m;
    if (g->k == 0) return tsri_gemm_run(g);
    for (int64_t i = 0; i < m; i += g->m) {
        g->m = least(m - i, ROWS_AT_ONCE);
        TSRI_TRY(g->m == 1 ? multiply_row(g) : tsri_gemm_skinny(g));
        g->a = tsri_gemm_at(g->a, g->m, 0);
        g->z = tsri_gemm_at(g->z, g->m, 0);
    }
    return TSR_OK;
}

static bool multiply_tile(const tsri_tile *t, void *context)
{
    rows_of_x *x = context;
    for (int64_t r = 0; r < t->rows && x->status == TSR_OK; r++) {
        tsri_gemm g = x->g;
        g.z.data = t->ptr[0] + r * t->row_step[0];
        g.a.data = t->ptr[1] + r * t->row_step[1];
        g.z.row = t->col_step[0];
        g.a.row = t->col_step[1];
        g.m = t->cols;
        x->status = multiply(&g);
    }
    return x->status == TSR_OK;
}

/* Bytes from an index of a dim to the next, which are never taken where there is one. */
static int64_t step_of(const tsr_tensor *t, int dim)
{
    return t->shape[dim] == 1 ? 0 : tsri_mul_wrapping(t->stride[dim], tsri_dtype_size(t->dtype));
}

static void describe(tsri_gemm *g, const tsr_op *op, const tsri_blocks *b)
{
    const tsr_tensor *x = op->in[0], *z = op->out[0], *bias = op->nin > 2 ? op->in[2] : NULL;
    const int last = x->ndim - 1;
    *g = (tsri_gemm){ .kernels = &tsri_cpu_kernels_get()->gemm[TSRI_GEMM_F32], .cls = TSRI_GEMM_F32,
                      .a_type = x->dtype, .b_type = TSR_F32, .z_type = z->dtype, .blocks = b,
                      .scale = { .alpha = { 1, 0 }, .beta = { 1, 0 }, .plain = !bias },
                      .n = z->shape[last], .k = x->shape[last] };
    g->a.col = step_of(x, last);
    g->z.col = step_of(z, last);
    if (bias) g->c = (tsri_gemm_matrix){ bias->data, 0, step_of(bias, 0) };
}

tsr_status tsri_cpu_linear_blocks(const tsr_op *op)
{
    const tsr_block_params *p = op->params;
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    tsri_blocks b = tsri_blocks_of(op->in[1], p->kind);
    b.kernels = kernels_for(&b, p->kind);
    rows_of_x rows = { .status = TSR_OK };
    if (tsr_numel(z) == 0) return TSR_OK;
    describe(&rows.g, op, &b);
    tsri_loop loop;
    tsri_loop_build(&loop, x->ndim - 1, x->shape, 2,
                    (const tsri_operand[]){ { z->data, z->stride, tsri_dtype_size(z->dtype) },
                                            { x->data, x->stride, tsri_dtype_size(x->dtype) } }, 0);
    (void)tsri_loop_visit(&loop, multiply_tile, &rows);
    if (rows.status == TSR_ENOMEM)
        return tsri_fail(TSR_ENOMEM, "linear_blocks: no memory to multiply %s by %s", TSRI_DESC(&x->desc),
                         TSRI_DESC(&op->in[1]->desc));
    return rows.status;
}
