/* small.c - small products on one thread: nothing is packed, and little is set up beside the micro-kernel's
 * operands.
 *
 * The order of loops, from the outermost: block of k, panel of b, rows of a (run_strip), index of k. */
#include "panels.h"
#include "core/threads_int.h"

/* Calls on a few elements come here, so divisions and stores that can be left out are. */
static void multiply_small(const tsri_gemm *g, const char *a, const char *b, char *z)
{
    const tsri_gemm_microkernels *micro = unpacked_microkernels(g);
    tsri_gemm_strip s = { .k = g->k, .a = a, .a_row = g->a.row, .a_col = g->a.col, .b = b, .b_row = g->b.row,
                          .z = z, .z_row = g->z.row, .cols = g->n };
    if (g->n <= micro->cols && g->k <= TSRI_GEMM_BLOCK) {
        sum_rows(&s, micro, g->m);
        return;
    }
    const cut cols = cut_cols(g->kernels, micro, g->n);
    for (int64_t p = 0; p < g->k; p += TSRI_GEMM_BLOCK) {
        s.k = least(g->k - p, TSRI_GEMM_BLOCK);
        s.add = p > 0;
        for (int64_t j = 0; j < cols.panels; j++) {
            const int64_t col = col_of(&cols, j);
            s.cols = col_of(&cols, j + 1) - col;
            s.a = a + p * g->a.col;
            s.b = b + p * g->b.row + col * g->b.col;
            s.z = z + col * g->z.col;
            sum_rows(&s, microkernels_for(g->kernels, s.cols, s.cols), g->m);
        }
    }
}

/* Each product is one micro-tile: a batch of them is a strip. */
static void multiply_strips(const tsri_gemm *g, const tsri_gemm_microkernels *micro, int64_t count,
                            const int64_t step[3])
{
    tsri_gemm_strip s = { .k = g->k, .a = g->a.data, .a_row = g->a.row, .a_col = g->a.col, .b = g->b.data,
                          .b_row = g->b.row, .z = g->z.data, .z_row = g->z.row, .cols = g->n,
                          .z_next = step[0], .a_next = step[1], .b_next = step[2] };
    if (count > 0) run_strip(&s, micro, g->m, count);
}

bool tsri_gemm_one_panel(const tsri_gemm_kernels *u, const tsr_tensor *z, const tsr_tensor *a,
                         const tsr_tensor *b)
{
    enum { MOST = 64 };  /* of each side */
    const int64_t m = z->shape[0], n = z->shape[1], k = a->shape[1], size = u->element;
    if ((uint64_t)m - 2 > MOST - 2 || (uint64_t)n - 2 > MOST - 2 || (uint64_t)k - 1 > MOST - 1) return false;
    if (z->stride[1] != 1 || b->stride[1] != 1 || (a->stride[1] != 1 && a->stride[0] != 1)) return false;
    if (u->packed_only || m * n * k > tsri_grain(TSRI_WORK_PRODUCT)) return false;
    const tsri_gemm_microkernels *micro = u->microkernels;
    while (micro->cols < n)
        if ((++micro)->cols == 0) return false;
    tsri_gemm_strip s;
    s.k = k;
    s.a = a->data;
    s.a_row = a->stride[0] * size;
    s.a_col = k == 1 ? 0 : a->stride[1] * size; /* of a dim of size 1 it may be any number */
    s.b = b->data;
    s.b_row = k == 1 ? 0 : b->stride[0] * size;
    s.z = z->data;
    s.z_row = z->stride[0] * size;
    s.cols = n;
    s.add = s.padded = s.stream = s.prefetch_z = false;
    s.ahead = NULL;
    s.more = 0;
    s.z_next = 0;
    sum_rows(&s, micro, m);
    return true;
}

void tsri_gemm_small(const tsri_gemm *g, int64_t count, const int64_t step[3])
{
    const tsri_gemm_microkernels *micro = unpacked_microkernels(g);
    if (g->n <= micro->cols && g->m <= micro->rows && g->k <= TSRI_GEMM_BLOCK) {
        multiply_strips(g, micro, count, step);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        multiply_small(g, g->a.data + i * step[1], g->b.data + i * step[2], g->z.data + i * step[0]);
}
