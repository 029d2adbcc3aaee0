/* gemm.c - the loops around the microkernel, and the op.
 *
 * One product of matrices, z = alpha * a b + beta * c:
 *
 *     chunk of m, n and k      what is packed at a time, so that scratch memory is bounded
 *       tile of m and n        what a thread takes; its part of both panels stays in its cache
 *         block of k           TSRI_GEMM_BLOCK indices, summed from 0
 *           panel of b, of a   one call of the microkernel
 *
 * Sums live beside each other tile by tile until k is done, then go to z. Products
 * with a vector skip the packing of the matrix. Batches run in parallel where
 * there are enough of them, and one after the other, each in parallel, where not.
 *
 * LIMIT: a product of two vectors runs on one thread. */
#include "gemm.h"
#include "core/alloc.h"
#include "core/atomic.h"
#include "core/desc_int.h"
#include "core/loop.h"
#include "core/memory_int.h"
#include "cpu/kernels.h"
#include "tessera/threads.h"

enum {
    CHUNK = 1024, CHUNK_K = 8 * TSRI_GEMM_BLOCK,
    TILE_M = 64, TILE_N = 128,
    PART_WORK = 1 << 17,  /* products that make a thread worth waking */
    VECTOR_GROUPS = 16,   /* groups of rows that share a packed vector */
#ifdef TSR_FREESTANDING
    STACK_BYTES = 2048, DOT_BLOCKS = 1
#else
    STACK_BYTES = 16384, DOT_BLOCKS = TSRI_GEMM_ROWS
#endif
};

typedef struct gemm {
    const tsri_gemm_ukr   *ukr;
    tsri_gemm_class        cls;
    const tsri_gemm_dtype *a_dtype, *b_dtype, *z_dtype;
    tsri_gemm_scale        scale;
    tsri_gemm_matrix       a, b, c, z;
    int64_t                m, n, k;
} gemm;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t pieces(int64_t n, int64_t size) { return (n + size - 1) / size; }

static tsri_gemm_matrix at(tsri_gemm_matrix x, int64_t row, int64_t col)
{
    if (x.data) x.data += row * x.row + col * x.col;
    return x;
}

static tsri_gemm_matrix transposed(tsri_gemm_matrix x) { return (tsri_gemm_matrix){ x.data, x.col, x.row }; }

/* Products with a vector -------------------------------------------------------------- */

/* Sums of a group of rows, of any class: real parts, then imaginary ones. */
typedef union group {
    float    f[2 * TSRI_GEMM_ROWS];
    double   d[2 * TSRI_GEMM_ROWS];
    uint32_t u32[TSRI_GEMM_ROWS];
    uint64_t u64[TSRI_GEMM_ROWS];
} group;

/* Rows begin .. begin + rows - 1 of a times the only column of b. */
static void multiply_rows(const gemm *g, int64_t begin, int64_t rows)
{
    tsr_c128 x[TSRI_GEMM_BLOCK];  /* a panel of any class fits */
    group sums[VECTOR_GROUPS];
    const tsri_gemm_matrix a = at(g->a, begin, 0), c = at(g->c, begin, 0), z = at(g->z, begin, 0);
    for (int64_t p = 0; p < g->k; p += TSRI_GEMM_BLOCK) {
        const int64_t k = least(g->k - p, TSRI_GEMM_BLOCK);
        g->b_dtype->pack(x, g->b.data + p * g->b.row, 0, g->b.row, 1, k, 1);
        for (int64_t i = 0; i < rows; i += TSRI_GEMM_ROWS)
            g->a_dtype->rows(&sums[i / TSRI_GEMM_ROWS], a.data + i * a.row + p * a.col, a.row, a.col,
                             least(rows - i, TSRI_GEMM_ROWS), k, x, 0, p > 0);
    }
    for (int64_t i = 0; i < rows; i += TSRI_GEMM_ROWS)
        g->z_dtype->store(at(z, i, 0), at(c, i, 0), &sums[i / TSRI_GEMM_ROWS],
                          least(rows - i, TSRI_GEMM_ROWS), 1, TSRI_GEMM_ROWS, 1, &g->scale);
}

static tsr_status multiply_groups(void *context, int64_t begin, int64_t end)
{
    const gemm *g = context;
    const int64_t step = VECTOR_GROUPS * TSRI_GEMM_ROWS, last = least(end * TSRI_GEMM_ROWS, g->m);
    for (int64_t i = begin * TSRI_GEMM_ROWS; i < last; i += step) multiply_rows(g, i, least(last - i, step));
    return TSR_OK;
}

static tsr_status multiply_vector(gemm *g)
{
    const int64_t groups = pieces(g->m, TSRI_GEMM_ROWS);
    return tsr_parallel_for(groups, most(1, PART_WORK / (TSRI_GEMM_ROWS * g->k)), multiply_groups, g);
}

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

/* A row times a column. Blocks of k stand in for the rows of a matrix. */
static void multiply_dot(const gemm *g)
{
    tsr_c128 x[DOT_BLOCKS * TSRI_GEMM_BLOCK];
    group total = { .d = { 0 } }, sums;
    for (int64_t p = 0; p < g->k;) {
        const bool whole = g->k - p >= DOT_BLOCKS * TSRI_GEMM_BLOCK;
        const int64_t rows = whole ? DOT_BLOCKS : 1, k = least(g->k - p, TSRI_GEMM_BLOCK);
        g->b_dtype->pack(x, g->b.data + p * g->b.row, 0, g->b.row, 1, rows * k, 1);
        g->a_dtype->rows(&sums, g->a.data + p * g->a.col, TSRI_GEMM_BLOCK * g->a.col, g->a.col, rows, k, x, k,
                         false);
        for (int64_t i = 0; i < rows; i++) add_sum(g->cls, &total, &sums, i);
        p += rows * k;
    }
    g->z_dtype->store(g->z, g->c, &total, 1, 1, TSRI_GEMM_ROWS, 1, &g->scale);
}

/* Products of matrices ------------------------------------------------------------------ */

/* A chunk on its way: panels of a, then of b, and the sums, tile by tile of the microkernel. */
typedef struct chunk {
    const gemm      *g;
    tsri_gemm_matrix a, b, c, z;     /* where the chunk begins */
    int64_t          m, n, k;
    int64_t          a_panels, b_panels;
    char            *a_packed, *b_packed, *sums;
    bool             first, last;    /* along k */
} chunk;

static int64_t a_panel_bytes(const chunk *c) { return c->k * c->g->ukr->mr * c->g->ukr->element; }
static int64_t b_panel_bytes(const chunk *c) { return c->k * c->g->ukr->nr * c->g->ukr->element; }
static int64_t sum_tile_bytes(const tsri_gemm_ukr *u) { return (int64_t)u->mr * u->nr * u->sum; }

/* Panels begin .. end - 1: those of a come first, then those of b. */
static tsr_status pack_panels(void *context, int64_t begin, int64_t end)
{
    const chunk *c = context;
    const int mr = c->g->ukr->mr, nr = c->g->ukr->nr;
    for (int64_t i = begin; i < end; i++) {
        const int64_t j = i - c->a_panels;
        if (j < 0)
            c->g->a_dtype->pack(c->a_packed + i * a_panel_bytes(c), at(c->a, i * mr, 0).data, c->a.row,
                                c->a.col, least(c->m - i * mr, mr), c->k, mr);
        else
            c->g->b_dtype->pack(c->b_packed + j * b_panel_bytes(c), at(c->b, 0, j * nr).data, c->b.col,
                                c->b.row, least(c->n - j * nr, nr), c->k, nr);
    }
    return TSR_OK;
}

static char *sums_of(const chunk *c, int64_t i, int64_t j)
{
    return c->sums + (i * c->b_panels + j) * sum_tile_bytes(c->g->ukr);
}

/* The sums of panels i .. i_end - 1 of a with panels j .. j_end - 1 of b. */
static void sum_tile(const chunk *c, int64_t i_begin, int64_t i_end, int64_t j_begin, int64_t j_end)
{
    const tsri_gemm_ukr *u = c->g->ukr;
    for (int64_t p = 0; p < c->k; p += TSRI_GEMM_BLOCK) {
        const int64_t k = least(c->k - p, TSRI_GEMM_BLOCK);
        const bool add = p > 0 || !c->first;
        for (int64_t j = j_begin; j < j_end; j++) {
            const char *b = c->b_packed + j * b_panel_bytes(c) + p * u->nr * u->element;
            for (int64_t i = i_begin; i < i_end; i++)
                u->run(k, c->a_packed + i * a_panel_bytes(c) + p * u->mr * u->element, b, sums_of(c, i, j),
                       add);
        }
    }
}

static void store_tile(const chunk *c, int64_t i_begin, int64_t i_end, int64_t j_begin, int64_t j_end)
{
    const int mr = c->g->ukr->mr, nr = c->g->ukr->nr;
    for (int64_t i = i_begin; i < i_end; i++)
        for (int64_t j = j_begin; j < j_end; j++)
            c->g->z_dtype->store(at(c->z, i * mr, j * nr), at(c->c, i * mr, j * nr), sums_of(c, i, j),
                                 least(c->m - i * mr, mr), least(c->n - j * nr, nr), mr, nr, &c->g->scale);
}

static int64_t tile_rows(const chunk *c) { return TILE_M / c->g->ukr->mr; }  /* in panels */
static int64_t tile_cols(const chunk *c) { return TILE_N / c->g->ukr->nr; }

static tsr_status multiply_tiles(void *context, int64_t begin, int64_t end)
{
    const chunk *c = context;
    const int64_t across = pieces(c->b_panels, tile_cols(c));
    for (int64_t t = begin; t < end; t++) {
        const int64_t i = t / across * tile_rows(c), j = t % across * tile_cols(c);
        const int64_t i_end = least(i + tile_rows(c), c->a_panels),
                      j_end = least(j + tile_cols(c), c->b_panels);
        sum_tile(c, i, i_end, j, j_end);
        if (c->last) store_tile(c, i, i_end, j, j_end);
    }
    return TSR_OK;
}

static tsr_status multiply_chunk(chunk *c)
{
    const int64_t panels = c->a_panels + c->b_panels;
    const int64_t tiles = pieces(c->a_panels, tile_rows(c)) * pieces(c->b_panels, tile_cols(c));
    const int64_t tile_work = least(c->m, TILE_M) * least(c->n, TILE_N) * c->k;
    TSRI_TRY(tsr_parallel_for(panels, most(1, PART_WORK / (8 * c->k)), pack_panels, c));
    return tsr_parallel_for(tiles, most(1, PART_WORK / tile_work), multiply_tiles, c);
}

/* The chunk of z that begins at (i, j), for all k, in scratch memory of scratch_bytes(). */
static tsr_status multiply_chunks_of_k(const gemm *g, int64_t i, int64_t j, char *scratch)
{
    chunk c = { .g = g, .c = at(g->c, i, j), .z = at(g->z, i, j), .m = least(g->m - i, CHUNK),
                .n = least(g->n - j, CHUNK), .sums = scratch };
    c.a_panels = pieces(c.m, g->ukr->mr);
    c.b_panels = pieces(c.n, g->ukr->nr);
    c.a_packed = scratch + c.a_panels * c.b_panels * sum_tile_bytes(g->ukr);
    for (int64_t p = 0; p < g->k; p += CHUNK_K) {
        c.k = least(g->k - p, CHUNK_K);
        c.a = at(g->a, i, p);
        c.b = at(g->b, p, j);
        c.b_packed = c.a_packed + c.a_panels * a_panel_bytes(&c);
        c.first = p == 0;
        c.last = p + c.k == g->k;
        TSRI_TRY(multiply_chunk(&c));
    }
    return TSR_OK;
}

static size_t scratch_bytes(const gemm *g)
{
    const tsri_gemm_ukr *u = g->ukr;
    const int64_t rows = pieces(least(g->m, CHUNK), u->mr), cols = pieces(least(g->n, CHUNK), u->nr);
    return (size_t)(rows * cols * sum_tile_bytes(u) +
                    (rows * u->mr + cols * u->nr) * least(g->k, CHUNK_K) * u->element);
}

static tsr_status multiply_in(const gemm *g, char *scratch)
{
    for (int64_t i = 0; i < g->m; i += CHUNK)
        for (int64_t j = 0; j < g->n; j += CHUNK) TSRI_TRY(multiply_chunks_of_k(g, i, j, scratch));
    return TSR_OK;
}

static tsr_status multiply_on_stack(const gemm *g)
{
    _Alignas(64) char scratch[STACK_BYTES];
    return multiply_in(g, scratch);
}

static tsr_status multiply_on_heap(const gemm *g, size_t bytes)
{
    size_t reserved = 0;
    void *scratch = tsri_alloc_allowed(bytes) ? tsri_pool_take(bytes, &reserved) : NULL;
    if (!scratch) return TSR_ENOMEM;
    const tsr_status s = multiply_in(g, scratch);
    tsri_pool_give(scratch, reserved);
    return s;
}

/* Sums over nothing are 0. */
static void store_zeros(const gemm *g)
{
    const group zeros = { .d = { 0 } };
    for (int64_t j = 0; j < g->n; j++)
        for (int64_t i = 0; i < g->m; i += TSRI_GEMM_ROWS)
            g->z_dtype->store(at(g->z, i, j), at(g->c, i, j), &zeros, least(g->m - i, TSRI_GEMM_ROWS), 1,
                              TSRI_GEMM_ROWS, 1, &g->scale);
}

/* The same product seen from the other side: columns for rows. */
static void turn(gemm *g)
{
    const tsri_gemm_matrix a = g->a;
    const tsri_gemm_dtype *a_dtype = g->a_dtype;
    const int64_t m = g->m;
    g->a = transposed(g->b);
    g->b = transposed(a);
    g->c = transposed(g->c);
    g->z = transposed(g->z);
    g->a_dtype = g->b_dtype;
    g->b_dtype = a_dtype;
    g->m = g->n;
    g->n = m;
}

/* TSR_ENOMEM comes without words: another thread may have to say them. */
static tsr_status multiply(gemm *g)
{
    if (g->m == 0 || g->n == 0) return TSR_OK;
    if (g->k == 0) {
        store_zeros(g);
        return TSR_OK;
    }
    if (g->m == 1) turn(g);
    if (g->n == 1 && g->m == 1) {
        multiply_dot(g);
        return TSR_OK;
    }
    if (g->n == 1) return multiply_vector(g);
    const size_t bytes = scratch_bytes(g);
    return bytes <= STACK_BYTES ? multiply_on_stack(g) : multiply_on_heap(g, bytes);
}

/* The op ---------------------------------------------------------------------------------- */

typedef struct batch {
    gemm     g;       /* data is the batch's */
    int32_t *failed;  /* set where memory was short */
} batch;

static void multiply_batch(const tsri_tile *t, const void *params)
{
    const batch *b = params;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t i = 0; i < t->cols; i++) {
            gemm g = b->g;
            g.z.data = t->ptr[0] + r * t->row_step[0] + i * t->col_step[0];
            g.a.data = t->ptr[1] + r * t->row_step[1] + i * t->col_step[1];
            g.b.data = t->ptr[2] + r * t->row_step[2] + i * t->col_step[2];
            if (g.c.data) g.c.data = t->ptr[3] + r * t->row_step[3] + i * t->col_step[3];
            if (multiply(&g) != TSR_OK) tsri_store_relaxed(b->failed, 1);
        }
}

/* Does batch dim d go on where dim `inner` of the matrices ends? */
static bool joins(const tsr_desc *x, int d, int inner)
{
    return x->shape[inner] == 1 || x->shape[d] == 1 || x->stride[d] == x->stride[inner] * x->shape[inner];
}

/* Takes the last batch dim into dim `inner` of a matrix. */
static void join(tsr_desc *x, int d, int inner)
{
    if (x->shape[inner] == 1) x->stride[inner] = x->stride[d];
    x->shape[inner] *= x->shape[d];
}

/* Drops the last batch dim, and moves the two of the matrix up. */
static void drop_batch_dim(tsr_desc *x)
{
    const int d = x->ndim - 3;
    for (int i = d; i < d + 2; i++) {
        x->shape[i] = x->shape[i + 1];
        x->stride[i] = x->stride[i + 1];
    }
    x->ndim--;
}

/* Does an operand repeat along dim d? */
static bool repeats(const tsr_desc *x, int d) { return x->shape[d] == 1 || x->stride[d] == 0; }

/* A batch of products with one matrix b is one product with a longer a; with one matrix a, with a wider b. */
static void fold_batch(tsr_desc *z, tsr_desc *a, tsr_desc *b, tsr_desc *c)
{
    while (z->ndim > 2) {
        const int d = z->ndim - 3, m = d + 1, n = d + 2;
        const bool tall = repeats(b, d) && joins(z, d, m) && joins(a, d, m) && joins(c, d, m);
        const bool wide = !tall && repeats(a, d) && joins(z, d, n) && joins(b, d, n) && joins(c, d, n);
        if (!tall && !wide) return;
        join(z, d, tall ? m : n);
        join(c, d, tall ? m : n);
        join(tall ? a : b, d, tall ? m : n);
        drop_batch_dim(z);
        drop_batch_dim(a);
        drop_batch_dim(b);
        drop_batch_dim(c);
    }
}

static tsri_gemm_matrix matrix_of(void *data, const tsr_desc *d)
{
    const int64_t size = tsri_dtype_size(d->dtype);
    return (tsri_gemm_matrix){ data, tsri_mul_wrapping(d->stride[d->ndim - 2], size),
                               tsri_mul_wrapping(d->stride[d->ndim - 1], size) };
}

static bool is_zero(tsr_scalar s)
{
    const tsr_c128 c = tsr_scalar_to_c128(s);
    return c.re == 0 && c.im == 0;
}

static tsri_gemm_scale scale_of(const tsr_matmul_params *p, bool has_c)
{
    const tsr_c128 alpha = tsr_scalar_to_c128(p->alpha);
    return (tsri_gemm_scale){ alpha, tsr_scalar_to_c128(p->beta), tsr_scalar_to_u64(p->alpha),
                              tsr_scalar_to_u64(p->beta), !has_c && alpha.re == 1 && alpha.im == 0 };
}

/* A part of the batch for each thread if there are enough; else one part, whose products are split. */
static int64_t batch_grain(const gemm *g, int64_t count)
{
    const double work = (double)g->m * (double)g->n * (double)(g->k + 1);
    if (count < 2 * tsr_threads() || work > 64.0 * PART_WORK) return most(count, 1);
    return work < 1 ? count : most(1, (int64_t)(PART_WORK / work));
}

static tsr_status run_batch(batch *b, const tsr_desc *z, const tsr_desc *a, const tsr_desc *bd,
                            const tsr_desc *c)
{
    tsri_loop loop;
    const gemm *g = &b->g;
    char *had = g->c.data ? g->c.data : g->z.data;
    tsri_loop_build(&loop, z->ndim - 2, z->shape, 4,
                    (const tsri_operand[]){ { g->z.data, z->stride, tsri_dtype_size(z->dtype) },
                                            { g->a.data, a->stride, tsri_dtype_size(a->dtype) },
                                            { g->b.data, bd->stride, tsri_dtype_size(bd->dtype) },
                                            { had, c->stride, tsri_dtype_size(c->dtype) } }, 0);
    return tsri_loop_run_parallel(&loop, multiply_batch, b, batch_grain(g, tsri_loop_count(&loop)));
}

static bool can_multiply(const tsr_tensor *t) { return tsri_gemm_dtypes[t->dtype].pack != NULL; }

bool tsri_cpu_has_matmul(const tsr_op *op)
{
    return can_multiply(op->in[0]) && can_multiply(op->in[1]) && can_multiply(op->out[0]);
}

tsr_status tsri_cpu_matmul(const tsr_op *op)
{
    const tsr_matmul_params *params = op->params;
    const tsr_tensor *tz = op->out[0], *ta = op->in[0], *tb = op->in[1];
    const tsr_tensor *tc = op->nin > 2 && !is_zero(params->beta) ? op->in[2] : NULL;
    tsr_desc z = tz->desc, a = ta->desc, b = tb->desc, c = tc ? tc->desc : tz->desc;
    int32_t failed = 0;
    fold_batch(&z, &a, &b, &c);
    const tsri_gemm_class cls = tsri_gemm_dtypes[a.dtype].cls;
    batch whole = { .failed = &failed };
    whole.g = (gemm){ &tsri_cpu_kernels_get()->gemm[cls],
                      cls,
                      &tsri_gemm_dtypes[a.dtype],
                      &tsri_gemm_dtypes[b.dtype],
                      &tsri_gemm_dtypes[z.dtype],
                      scale_of(params, tc != NULL),
                      matrix_of(ta->data, &a),
                      matrix_of(tb->data, &b),
                      matrix_of(tc ? tc->data : NULL, &c),
                      matrix_of(tz->data, &z),
                      z.shape[z.ndim - 2],
                      z.shape[z.ndim - 1],
                      a.shape[a.ndim - 1] };
    if (z.ndim == 2) failed = multiply(&whole.g) != TSR_OK;
    else             TSRI_TRY(run_batch(&whole, &z, &a, &b, &c));
    TSRI_CHECK(!failed, TSR_ENOMEM, "%s: no memory to pack %s and %s", tsr_op_get_info(op->kind)->name,
               TSRI_DESC(&ta->desc), TSRI_DESC(&tb->desc));
    return TSR_OK;
}
