/* skinny.c - products of few rows with a b of unit stride along k, such as a layer's weights with some
 * inputs: b is read once, and reading it takes most of the time.
 *
 * All of a is packed first. Then, from the outermost loop:
 *
 *     panel of b               what a thread takes
 *       block of k             packs its part of the panel into the L1 cache
 *         panel of a           one call of the micro-kernel
 *
 * So rows of b are read in long runs: a block of k follows the one before it. */
#include "panels.h"
#include "core/alloc.h"
#include "core/dtype_int.h"
#include "core/memory_int.h"
#include "core/status_int.h"
#include "core/threads_int.h"

typedef struct skinny {
    const tsri_gemm              *g;
    const tsri_gemm_microkernels *micro;      /* for whole panels of b */
    int64_t                       a_panels;
    int64_t                       panel;      /* bytes of a packed panel of b */
    char                         *a;          /* packed: block by block of k, then panel by panel */
} skinny;

static int64_t row_of(const skinny *f, int64_t i) { return f->g->m * i / f->a_panels; }
static int64_t col_at(const skinny *f, int64_t j) { return least(j * f->micro->cols, f->g->n); }

static int64_t block_at(const tsri_gemm *g, int64_t p) { return least(g->k - p, block_of(g->kernels)); }

static int64_t panel_bytes(const tsri_gemm *g, const tsri_gemm_microkernels *micro)
{
    const tsri_gemm_kernels *u = g->kernels;
    return micro->cols * (pieces(block_at(g, 0), u->group) + u->start) * u->element;
}

static char *packed_a(const skinny *f, int64_t row, int64_t p)
{
    const tsri_gemm_kernels *u = f->g->kernels;
    return f->a + (p / u->group * f->g->m + row * pieces(block_at(f->g, p), u->group)) * u->element;
}

static void pack_a(const skinny *f)
{
    const tsri_gemm *g = f->g;
    for (int64_t p = 0; p < g->k; p += block_of(g->kernels))
        for (int64_t i = 0; i < f->a_panels; i++) {
            const int64_t row = row_of(f, i), rows = row_of(f, i + 1) - row;
            g->kernels->dtypes[g->a_type].pack(packed_a(f, row, p), tsri_gemm_at(g->a, row, p).data, g->a.row,
                                               g->a.col, rows, block_at(g, p), (int)rows);
        }
}

/* Indices p .. of k of panel j of b. */
static void pack_b(const skinny *f, char *packed, int64_t j, int64_t p)
{
    const tsri_gemm *g = f->g;
    const int64_t col = col_at(f, j), cols = col_at(f, j + 1) - col, k = block_at(g, p);
    const int width = (int)microkernels_for(g->kernels, cols, cols)->cols;
    if (g->blocks)
        tsri_gemm_pack_blocks(g, packed, p, k, col, cols, width);
    else
        g->kernels->right[g->b_type].pack(packed, tsri_gemm_at(g->b, p, col).data, g->b.col, g->b.row, cols,
                                          k, width);
}

/* Adds the block of k from p on to the sums of a panel of b. */
static void sum_panel(const skinny *f, const char *b, char *sums, int64_t cols, int64_t p)
{
    const tsri_gemm_kernels *u = f->g->kernels;
    const tsri_gemm_microkernels *micro = microkernels_for(u, cols, cols);
    tsri_gemm_strip s = { .k = pieces(block_at(f->g, p), u->group), .a_row = u->element, .b = b,
                          .b_row = micro->cols * u->element, .z_row = f->micro->cols * u->sum, .cols = cols,
                          .add = p > 0, .padded = true };
    for (int64_t i = 0; i < f->a_panels; i++) {
        const int64_t row = row_of(f, i);
        s.rows = row_of(f, i + 1) - row;
        s.a = packed_a(f, row, p);
        s.a_col = s.rows * u->element;
        s.z = sums + row * s.z_row;
        micro->run[s.rows](&s);
    }
}

static void multiply_panel(const skinny *f, char *b, char *sums, int64_t j)
{
    const tsri_gemm *g = f->g;
    const int64_t col = col_at(f, j), cols = col_at(f, j + 1) - col;
    for (int64_t p = 0; p < g->k; p += block_of(g->kernels)) {
        pack_b(f, b, j, p);
        sum_panel(f, b, sums, cols, p);
    }
    g->kernels->dtypes[g->z_type].store(tsri_gemm_at(g->z, 0, col), tsri_gemm_at(g->c, 0, col), sums, g->m,
                                        cols, (int)g->m, (int)f->micro->cols, &g->scale);
}

static tsr_status multiply_panels(void *context, int64_t begin, int64_t end)
{
    const skinny *f = context;
    const int64_t sums = f->micro->cols * f->g->m * f->g->kernels->sum;
    size_t reserved = 0;
    char *scratch = tsri_pool_scratch((size_t)(f->panel + sums), &reserved);
    if (!scratch) return TSR_ENOMEM;
    for (int64_t j = begin; j < end; j++) multiply_panel(f, scratch, scratch + f->panel, j);
    tsri_pool_give(scratch, reserved);
    return TSR_OK;
}

/* The widest micro-kernels whose panels stay in the L1 cache. Blocks are unpacked for two vectors of columns,
 * which is twice that for the longest vectors. */
static const tsri_gemm_microkernels *find_microkernels(const tsri_gemm *g)
{
    const tsri_gemm_microkernels *micro = g->kernels->microkernels;
    const int64_t panel = tsri_gemm_tuning()->skinny_panel, room = g->blocks ? 2 * panel : panel;
    while (micro->cols < g->n && micro[1].cols > 0 && panel_bytes(g, micro + 1) <= room) micro++;
    return micro;
}

tsr_status tsri_gemm_skinny(const tsri_gemm *g)
{
    skinny f = { .g = g, .micro = find_microkernels(g) };
    size_t reserved = 0;
    f.a_panels = pieces(g->m, f.micro->rows);
    f.panel = panel_bytes(g, f.micro);
    const int64_t a_bytes = g->m * pieces(g->k, g->kernels->group) * g->kernels->element;
    f.a = tsri_pool_scratch((size_t)a_bytes, &reserved);
    if (!f.a) return TSR_ENOMEM;
    pack_a(&f);
    const double work = TSRI_WORK_PRODUCT * (double)g->m * (double)f.micro->cols * (double)g->k;
    const tsr_status s =
        tsri_parallel_for(pieces(g->n, f.micro->cols), tsri_grain(work), multiply_panels, &f);
    tsri_pool_give(f.a, reserved);
    return s;
}
