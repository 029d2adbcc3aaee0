/* vector.c - a matrix times a vector, or a few of them, and a vector times a vector.
 *
 * The matrix is read once, unpacked: several rows at a time where rows have unit stride, or column after
 * column (a sweep) where columns do. Only the vector is packed. Further vectors read those rows from cache.
 *
 * The order of loops, from the outermost: by rows, group of rows, block of k, index of k; in a sweep, part of
 * m, block of k, index of k (eight at a time), row. */
#include "gemm.h"
#include "core/alloc.h"
#include "core/dtype_int.h"
#include "core/memory_int.h"
#include "core/sizes.h"
#include "core/status_int.h"
#include "core/threads_int.h"

enum {
    GROUPS = 16,          /* groups of rows that share a packed vector */
#ifdef TSR_FREESTANDING
    VECTOR_BYTES = 4096,  /* of the vector that are packed at a time */
    DOT_BLOCKS = 1
#else
    VECTOR_BYTES = 16384,
    DOT_BLOCKS = 8
#endif
};

/* Sums of a group of rows, of any class: real parts, then imaginary ones. */
typedef union group {
    float    f[2 * TSRI_GEMM_ROWS];
    double   d[2 * TSRI_GEMM_ROWS];
    uint32_t u32[TSRI_GEMM_ROWS];
    uint64_t u64[TSRI_GEMM_ROWS];
} group;

static void pack_vector(const tsri_gemm *g, void *x, int64_t p, int64_t k)
{
    g->kernels->dtypes[g->b_type].pack(x, g->b.data + p * g->b.row, 0, g->b.row, 1, k, 1);
}

static void store_group(const tsri_gemm *g, int64_t row, int64_t rows, const group *sums)
{
    g->kernels->dtypes[g->z_type].store(tsri_gemm_at(g->z, row, 0), tsri_gemm_at(g->c, row, 0), sums, rows, 1,
                                    TSRI_GEMM_ROWS, 1, &g->scale);
}

/* Rows ------------------------------------------------------------------------------------- */

static bool reads_vector(const tsri_gemm *g)
{
    return g->kernels->dtypes[g->b_type].native && (g->b.row == g->kernels->element || g->k == 1);
}

/* Adds indices p .. p + k - 1 of rows of a to their sums, block by block; x is the vector from p on. */
static void add_to_group(const tsri_gemm *g, group *sums, int64_t row, int64_t rows, int64_t p, int64_t k,
                         const char *x)
{
    const char *a = g->a.data + row * g->a.row + p * g->a.col;
    for (int64_t q = 0; q < k; q += TSRI_GEMM_BLOCK)
        g->kernels->dtypes[g->a_type].rows(sums, a + q * g->a.col, g->a.row, g->a.col, rows,
                                           least(k - q, TSRI_GEMM_BLOCK), x + q * g->kernels->element, 0,
                                           p + q > 0);
}

/* Rows begin .. begin + rows - 1 of a times the only column of b. A group's rows are read as far as the
 * vector is packed: long runs of memory. */
static void multiply_rows(const tsri_gemm *g, int64_t begin, int64_t rows)
{
    tsr_c128 packed[VECTOR_BYTES / sizeof(tsr_c128)];
    group sums[GROUPS];
    const bool reads = reads_vector(g);
    const int64_t room =
        reads ? g->k : VECTOR_BYTES / g->kernels->element / TSRI_GEMM_BLOCK * TSRI_GEMM_BLOCK;
    for (int64_t p = 0; p < g->k; p += room) {
        const int64_t k = least(g->k - p, room);
        if (!reads) pack_vector(g, packed, p, k);
        for (int64_t i = 0; i < rows; i += TSRI_GEMM_ROWS)
            add_to_group(g, &sums[i / TSRI_GEMM_ROWS], begin + i, least(rows - i, TSRI_GEMM_ROWS), p, k,
                         reads ? g->b.data : (const char *)packed);
    }
    for (int64_t i = 0; i < rows; i += TSRI_GEMM_ROWS)
        store_group(g, begin + i, least(rows - i, TSRI_GEMM_ROWS), &sums[i / TSRI_GEMM_ROWS]);
}

static tsr_status multiply_groups(void *context, int64_t begin, int64_t end)
{
    const tsri_gemm *g = context;
    const int64_t step = GROUPS * TSRI_GEMM_ROWS, last = least(end * TSRI_GEMM_ROWS, g->m);
    for (int64_t i = begin * TSRI_GEMM_ROWS; i < last; i += step) multiply_rows(g, i, least(last - i, step));
    return TSR_OK;
}

/* Several vectors -------------------------------------------------------------------------- */

typedef struct vectors {
    const tsri_gemm *g;
    const char      *x;  /* the columns of b, packed one after the other */
} vectors;

static void multiply_group(const vectors *v, int64_t row, int64_t rows)
{
    const tsri_gemm *g = v->g;
    group sums[TSRI_GEMM_VECTORS];
    for (int64_t p = 0; p < g->k; p += TSRI_GEMM_BLOCK)
        for (int64_t col = 0; col < g->n; col++)
            add_to_group(g, &sums[col], row, rows, p, least(g->k - p, TSRI_GEMM_BLOCK),
                         v->x + (col * g->k + p) * g->kernels->element);
    for (int64_t col = 0; col < g->n; col++) {
        tsri_gemm own = *g;
        own.z = tsri_gemm_at(g->z, 0, col);
        own.c = tsri_gemm_at(g->c, 0, col);
        store_group(&own, row, rows, &sums[col]);
    }
}

static tsr_status multiply_each_group(void *context, int64_t begin, int64_t end)
{
    const vectors *v = context;
    for (int64_t i = begin * TSRI_GEMM_ROWS; i < least(end * TSRI_GEMM_ROWS, v->g->m); i += TSRI_GEMM_ROWS)
        multiply_group(v, i, least(v->g->m - i, TSRI_GEMM_ROWS));
    return TSR_OK;
}

/* Every block of a group of rows is read once from memory, and from cache for the further vectors. */
static tsr_status multiply_vectors(const tsri_gemm *g, int64_t groups, int64_t grain)
{
    size_t reserved = 0;
    const int64_t bytes = g->k * g->kernels->element;
    char *x = tsri_pool_scratch((size_t)(g->n * bytes), &reserved);
    if (!x) return TSR_ENOMEM;
    for (int64_t col = 0; col < g->n; col++)
        g->kernels->dtypes[g->b_type].pack(x + col * bytes, tsri_gemm_at(g->b, 0, col).data, 0, g->b.row, 1,
                                           g->k, 1);
    vectors v = { g, x };
    const tsr_status s = tsri_parallel_for(groups, grain, multiply_each_group, &v);
    tsri_pool_give(x, reserved);
    return s;
}

/* Sweeps ----------------------------------------------------------------------------------- */

/* The micro-kernel's b is the transpose of a; its a is the vector. */
static void sweep_columns(const tsri_gemm *g, int64_t begin, int64_t n)
{
    double x[TSRI_GEMM_BLOCK], sums[TSRI_GEMM_SWEEP];
    tsri_gemm_strip s = { .a = (const char *)x, .a_row = g->kernels->element, .a_col = g->kernels->element,
                          .b_row = g->a.col, .z = (char *)sums, .z_row = 0, .cols = n };
    for (int64_t p = 0; p < g->k; p += TSRI_GEMM_BLOCK) {
        s.k = least(g->k - p, TSRI_GEMM_BLOCK);
        s.b = g->a.data + begin * g->a.row + p * g->a.col;
        s.add = p > 0;
        pack_vector(g, x, p, s.k);
        g->kernels->dtypes[g->a_type].sweep(&s);
    }
    g->kernels->dtypes[g->z_type].store(tsri_gemm_at(g->z, begin, 0), tsri_gemm_at(g->c, begin, 0), sums, n,
                                        1, (int)n, 1, &g->scale);
}

static tsr_status sweep_parts(void *context, int64_t begin, int64_t end)
{
    const tsri_gemm *g = context;
    const int64_t last = least(end * TSRI_GEMM_ROWS, g->m);
    for (int64_t i = begin * TSRI_GEMM_ROWS; i < last; i += TSRI_GEMM_SWEEP)
        sweep_columns(g, i, least(last - i, TSRI_GEMM_SWEEP));
    return TSR_OK;
}

/* Dots ------------------------------------------------------------------------------------- */

/* total[0] += blocks[i] */
static void add_sum(tsri_gemm_class cls, group *total, const group *blocks, int64_t i)
{
    switch (cls) {
    case TSRI_GEMM_F32: total->f[0] += blocks->f[i]; break;
    case TSRI_GEMM_F64: total->d[0] += blocks->d[i]; break;
    case TSRI_GEMM_U64: total->u64[0] += blocks->u64[i]; break;
    case TSRI_GEMM_C64:
        total->f[0] += blocks->f[i];
        total->f[TSRI_GEMM_ROWS] += blocks->f[TSRI_GEMM_ROWS + i];
        break;
    case TSRI_GEMM_C128:
        total->d[0] += blocks->d[i];
        total->d[TSRI_GEMM_ROWS] += blocks->d[TSRI_GEMM_ROWS + i];
        break;
    default: total->u32[0] += blocks->u32[i]; break;
    }
}

/* Adds blocks begin .. end - 1 of k to the total. Several blocks are summed at once, as if they were rows of
 * a matrix. */
static void multiply_blocks(const tsri_gemm *g, int64_t begin, int64_t end, group *total)
{
    tsr_c128 packed[DOT_BLOCKS * TSRI_GEMM_BLOCK];
    group sums;
    const bool unpacked = reads_vector(g);
    const int64_t side = unpacked ? TSRI_GEMM_ROWS : DOT_BLOCKS;
    for (int64_t block = begin; block < end;) {
        const int64_t p = block * TSRI_GEMM_BLOCK, whole = (g->k - p) / TSRI_GEMM_BLOCK;
        const int64_t rows = whole > 0 ? least(least(whole, side), end - block) : 1;
        const int64_t k = least(g->k - p, TSRI_GEMM_BLOCK);
        if (!unpacked) pack_vector(g, packed, p, rows * k);
        g->kernels->dtypes[g->a_type].rows(
            &sums, g->a.data + p * g->a.col, TSRI_GEMM_BLOCK * g->a.col, g->a.col, rows, k,
            unpacked ? (const void *)(g->b.data + p * g->b.row) : packed, k, false);
        for (int64_t i = 0; i < rows; i++) add_sum(g->cls, total, &sums, i);
        block += rows;
    }
}

static void multiply_dot(const tsri_gemm *g)
{
    group total = { .d = { 0 } };
    multiply_blocks(g, 0, pieces(g->k, TSRI_GEMM_BLOCK), &total);
    store_group(g, 0, 1, &total);
}

/* ------------------------------------------------------------------------------------------ */

static bool can_sweep(const tsri_gemm *g)
{
    return g->kernels->dtypes[g->a_type].sweep && g->a.row == tsri_dtype_size(g->a_type) &&
           g->m > TSRI_GEMM_ROWS;
}

tsr_status tsri_gemm_vector(const tsri_gemm *g)
{
    tsri_gemm own = *g;
    const int64_t groups = pieces(g->m, TSRI_GEMM_ROWS);
    const int64_t grain = tsri_grain(TSRI_WORK_READ * TSRI_GEMM_ROWS * (double)g->k);
    if (g->n > 1) return multiply_vectors(g, groups, grain);
    if (tsri_gemm_is_long_dot(g)) return tsri_gemm_long_dot(g);
    if (g->m == 1) {
        multiply_dot(g);
        return TSR_OK;
    }
    return tsri_parallel_for(groups, grain, can_sweep(g) ? sweep_parts : multiply_groups, &own);
}
