/* dot.c - long dots: one row times one column, in several independent accumulators.
 *
 * Pieces of k are summed separately, on any thread, and their sums are added in order. Where the stride is
 * not 1 a piece is packed first, so that strides do not change a bit of the result. */
#include "gemm.h"
#include "core/dtype_int.h"
#include "core/sizes.h"
#include "core/status_int.h"
#include "core/threads_int.h"

enum { SUMS = 256 };  /* sums of pieces that are held at a time */

/* The sums of some pieces; a float is held as a double. */
typedef struct some_pieces {
    const tsri_gemm *g;
    int64_t          p;  /* the index of k that they begin at */
    double           sum[SUMS];
} some_pieces;

bool tsri_gemm_is_long_dot(const tsri_gemm *g)
{
    return g->m == 1 && g->n == 1 && g->k > TSRI_GEMM_LONG && g->kernels->many_accumulators &&
           g->kernels->dtypes[g->a_type].rows;
}

static double sum_long_row(const tsri_gemm *g, tsr_dtype dtype, const char *a, int64_t step, const char *x,
                           int64_t k)
{
    union {
        float  f;
        double d;
    } sum;
    g->kernels->dtypes[dtype].rows(&sum, a, 0, step, 1, k, x, 0, false);
    return g->cls == TSRI_GEMM_F32 ? (double)sum.f : sum.d;
}

/* Both operands, or one, packed as elements of the class. */
static double sum_packed(const tsri_gemm *g, const char *a, const char *b, int64_t k, bool packs_a,
                         bool packs_b)
{
    double a_packed[TSRI_GEMM_PIECE], b_packed[TSRI_GEMM_PIECE];
    const tsr_dtype of_class = g->cls == TSRI_GEMM_F32 ? TSR_F32 : TSR_F64;
    if (packs_a) g->kernels->dtypes[g->a_type].pack(a_packed, a, 0, g->a.col, 1, k, 1);
    if (packs_b) g->kernels->dtypes[g->b_type].pack(b_packed, b, 0, g->b.row, 1, k, 1);
    return sum_long_row(g, packs_a ? of_class : g->a_type, packs_a ? (const char *)a_packed : a,
                          packs_a ? g->kernels->element : g->a.col, packs_b ? (const char *)b_packed : b, k);
}

static double sum_piece(const tsri_gemm *g, int64_t p)
{
    const char *a = g->a.data + p * g->a.col, *b = g->b.data + p * g->b.row;
    const int64_t k = least(g->k - p, TSRI_GEMM_PIECE);
    const bool packs_a = g->a.col != tsri_dtype_size(g->a_type);
    const bool packs_b = !g->kernels->dtypes[g->b_type].native || g->b.row != g->kernels->element;
    if (packs_a || packs_b) return sum_packed(g, a, b, k, packs_a, packs_b);
    return sum_long_row(g, g->a_type, a, g->a.col, b, k);
}

static tsr_status sum_pieces(void *context, int64_t begin, int64_t end)
{
    some_pieces *s = context;
    for (int64_t i = begin; i < end; i++) s->sum[i] = sum_piece(s->g, s->p + i * TSRI_GEMM_PIECE);
    return TSR_OK;
}

tsr_status tsri_gemm_long_dot(const tsri_gemm *g)
{
    union {
        float  f;
        double d;
    } total = { .d = 0 };
    some_pieces s = { .g = g };
    for (; s.p < g->k; s.p += SUMS * TSRI_GEMM_PIECE) {
        const int64_t n = least((g->k - s.p + TSRI_GEMM_PIECE - 1) / TSRI_GEMM_PIECE, SUMS);
        TSRI_TRY(tsri_parallel_for(n, tsri_grain(TSRI_WORK_READ * TSRI_GEMM_PIECE), sum_pieces, &s));
        for (int64_t i = 0; i < n; i++)
            if (g->cls == TSRI_GEMM_F32) total.f += (float)s.sum[i];
            else                         total.d += s.sum[i];
    }
    g->kernels->dtypes[g->z_type].store(g->z, g->c, &total, 1, 1, 1, 1, &g->scale);
    return TSR_OK;
}
