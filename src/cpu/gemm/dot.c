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

/* The sums of some pieces. */
typedef struct some_pieces {
    const tsri_gemm *g;
    int64_t          p;  /* the index of k that they begin at */
    tsr_c128         sum[SUMS];
} some_pieces;

/* A sum of any class, as `rows` gives it and `store` takes it: the imaginary part, if any, is apart. */
typedef union row_sum {
    float  f[TSRI_GEMM_ROWS + 1];
    double d[TSRI_GEMM_ROWS + 1];
} row_sum;

static bool is_single(const tsri_gemm *g) { return g->cls == TSRI_GEMM_F32 || g->cls == TSRI_GEMM_C64; }
static bool is_complex(const tsri_gemm *g) { return g->cls == TSRI_GEMM_C64 || g->cls == TSRI_GEMM_C128; }

/* Indices of k of a piece: as many numbers, whether or not two make one. */
static int64_t piece_of(const tsri_gemm *g) { return is_complex(g) ? TSRI_GEMM_PIECE / 2 : TSRI_GEMM_PIECE; }

/* The dtype whose elements are those of the class. */
static tsr_dtype dtype_of(const tsri_gemm *g)
{
    return g->cls == TSRI_GEMM_F32 ? TSR_F32 : g->cls == TSRI_GEMM_F64 ? TSR_F64 : g->a_type;
}

bool tsri_gemm_is_long_dot(const tsri_gemm *g)
{
    return g->m == 1 && g->n == 1 && g->k > TSRI_GEMM_LONG && g->kernels->many_accumulators &&
           g->kernels->dtypes[g->a_type].rows;
}

static tsr_c128 sum_long_row(const tsri_gemm *g, tsr_dtype dtype, const char *a, int64_t step, const char *x,
                             int64_t k)
{
    row_sum sum = { .d = { 0 } };
    g->kernels->dtypes[dtype].rows(&sum, a, 0, step, 1, k, x, 0, false);
    return is_single(g) ? (tsr_c128){ (double)sum.f[0], (double)sum.f[TSRI_GEMM_ROWS] }
                        : (tsr_c128){ sum.d[0], sum.d[TSRI_GEMM_ROWS] };
}

/* Both operands, or one, packed as elements of the class. */
static tsr_c128 sum_packed(const tsri_gemm *g, const char *a, const char *b, int64_t k, bool packs_a,
                           bool packs_b)
{
    double a_packed[TSRI_GEMM_PIECE], b_packed[TSRI_GEMM_PIECE];
    const tsr_dtype of_class = dtype_of(g);
    if (packs_a) g->kernels->dtypes[g->a_type].pack(a_packed, a, 0, g->a.col, 1, k, 1);
    if (packs_b) g->kernels->dtypes[g->b_type].pack(b_packed, b, 0, g->b.row, 1, k, 1);
    return sum_long_row(g, packs_a ? of_class : g->a_type, packs_a ? (const char *)a_packed : a,
                          packs_a ? g->kernels->element : g->a.col, packs_b ? (const char *)b_packed : b, k);
}

static tsr_c128 sum_piece(const tsri_gemm *g, int64_t p)
{
    const char *a = g->a.data + p * g->a.col, *b = g->b.data + p * g->b.row;
    const int64_t k = least(g->k - p, piece_of(g));
    const bool packs_a = g->a.col != tsri_dtype_size(g->a_type);
    const bool packs_b = g->b_type != dtype_of(g) || g->b.row != g->kernels->element;
    if (packs_a || packs_b) return sum_packed(g, a, b, k, packs_a, packs_b);
    return sum_long_row(g, g->a_type, a, g->a.col, b, k);
}

static tsr_status sum_pieces(void *context, int64_t begin, int64_t end)
{
    some_pieces *s = context;
    for (int64_t i = begin; i < end; i++) s->sum[i] = sum_piece(s->g, s->p + i * piece_of(s->g));
    return TSR_OK;
}

static void add_sums(const tsri_gemm *g, row_sum *total, const tsr_c128 *sum, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (is_single(g)) {
            total->f[0] += (float)sum[i].re;
            total->f[1] += (float)sum[i].im;
        } else {
            total->d[0] += sum[i].re;
            total->d[1] += sum[i].im;
        }
}

tsr_status tsri_gemm_long_dot(const tsri_gemm *g)
{
    const int64_t piece = piece_of(g);
    row_sum total = { .d = { 0 } };
    some_pieces s = { .g = g };
    for (; s.p < g->k; s.p += SUMS * piece) {
        const int64_t n = least(pieces(g->k - s.p, piece), SUMS);
        TSRI_TRY(tsri_parallel_for(n, tsri_grain(TSRI_WORK_READ * (double)TSRI_GEMM_PIECE), sum_pieces, &s));
        add_sums(g, &total, s.sum, n);
    }
    g->kernels->dtypes[g->z_type].store(g->z, g->c, &total, 1, 1, 1, 1, &g->scale);
    return TSR_OK;
}
