/* panels.c - the loops around the strips.
 *
 *     chunk of n, m and k      what is packed at a time, so that scratch memory is bounded
 *       tile of m and n        what a thread takes; its part of b stays in its cache
 *         panel of a           whose part of z stays near
 *           block of k         TSRI_GEMM_BLOCK indices, summed from 0
 *             panel of b       one strip
 *
 * An operand is packed where strips cannot read it as it lies, or where they would read
 * it often and from far apart. Sums go straight to z where they are what z holds, and
 * else lie beside each other tile by tile until k is done. */
#include "gemm.h"
#include "core/alloc.h"
#include "core/memory_int.h"
#include "tessera/threads.h"

enum {
    CHUNK = 2048,             /* of m and n; of k, a block */
    TILE_ROWS = 256,
    TILE_PANELS = 6,          /* of b */
    PART_WORK = 1 << 17,      /* products that make a thread worth waking */
    FEW_ROWS = 64,            /* that do not pay for packing b */
    FEW_COLS = 192,           /* that do not pay for packing a */
    NEAR_BYTES = 1 << 18,     /* of an operand that is read as fast where it lies */
#ifdef TSR_FREESTANDING
    STACK_BYTES = 2048
#else
    STACK_BYTES = 16384
#endif
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t pieces(int64_t n, int64_t size) { return (n + size - 1) / size; }

/* Indices of k that a strip takes at a time. Classes that take several at once are exact. */
static int64_t block_of(const tsri_gemm_ukr *u) { return TSRI_GEMM_BLOCK * u->group; }

/* Panels ----------------------------------------------------------------------------------- */

/* How n columns are cut into panels of b: all `width` wide, but for the last two, which
 * share where the last would have no more than `share` columns. */
typedef struct cut {
    int64_t n, panels, width, share;
} cut;

static int64_t col_of(const cut *c, int64_t panel)
{
    const int64_t even = panel * c->width;
    if (panel == c->panels) return c->n;
    return panel + 1 == c->panels && panel > 0 && c->n - even <= c->share ? even - c->share : even;
}

/* Strips for panels of n columns, or of as many as the widest have. */
static const tsri_gemm_strips *strips_for(const tsri_gemm_ukr *u, int64_t n, int64_t widest)
{
    const tsri_gemm_strips *s = u->strips;
    while (s->cols < n && s->cols < widest) s++;
    return s;
}

static cut cut_cols(const tsri_gemm_ukr *u, const tsri_gemm_strips *widest, int64_t n)
{
    const int64_t less = widest > u->strips ? widest[-1].cols : widest->cols;
    return (cut){ n, n <= widest->cols ? 1 : pieces(n, widest->cols), widest->cols, widest->cols - less };
}

/* What is true of all chunks. */
typedef struct plan {
    const tsri_gemm        *g;
    const tsri_gemm_strips *widest;                    /* that panels of b have */
    int64_t                 chunk_m, chunk_n, chunk_k; /* at most */
    bool                    pack_a, pack_b, sums;      /* else strips use a, b and z as they lie */
} plan;

/* A chunk on its way. */
typedef struct chunk {
    const plan      *plan;
    tsri_gemm_matrix a, b, c, z;                  /* where the chunk begins */
    int64_t          m, n, k;
    int64_t          a_panels;
    cut              cols;                        /* panels of b */
    int64_t          tile_panels;                 /* of a */
    char            *a_packed, *b_packed, *sums;  /* NULL: none */
    bool             first, last;                 /* along k */
} chunk;

/* Panels of a differ in height by one row at most. */
static int64_t row_of(const chunk *c, int64_t panel)
{
    return c->m / c->a_panels * panel + least(panel, c->m % c->a_panels);
}

/* Packing ---------------------------------------------------------------------------------- */

/* Panels of the chunk's only block of k. */
static char *packed_a(const chunk *c, int64_t row)
{
    const tsri_gemm_ukr *u = c->plan->g->ukr;
    return c->a_packed + row * pieces(c->k, u->group) * u->element;
}

static char *packed_b(const chunk *c, int64_t panel)
{
    const tsri_gemm_ukr *u = c->plan->g->ukr;
    return c->b_packed + panel * (pieces(c->k, u->group) + u->start) * c->plan->widest->cols * u->element;
}

static void pack_a_panel(const chunk *c, int64_t i)
{
    const tsri_gemm *g = c->plan->g;
    const int64_t row = row_of(c, i), rows = row_of(c, i + 1) - row;
    g->ukr->dtypes[g->a_type].pack(packed_a(c, row), c->a.data + row * c->a.row, c->a.row, c->a.col, rows, c->k,
                                   (int)rows);
}

static void pack_b_panel(const chunk *c, int64_t j)
{
    const tsri_gemm *g = c->plan->g;
    const int64_t col = col_of(&c->cols, j), cols = col_of(&c->cols, j + 1) - col;
    g->ukr->right[g->b_type].pack(packed_b(c, j), c->b.data + col * c->b.col, c->b.col, c->b.row, cols, c->k,
                                  (int)strips_for(g->ukr, cols, cols)->cols);
}

/* Those of a that are packed come first, then those of b. */
static tsr_status pack_panels(void *context, int64_t begin, int64_t end)
{
    const chunk *c = context;
    const int64_t of_a = c->a_packed ? c->a_panels : 0;
    for (int64_t i = begin; i < end; i++) {
        if (i < of_a) pack_a_panel(c, i);
        else          pack_b_panel(c, i - of_a);
    }
    return TSR_OK;
}

static tsr_status pack(chunk *c)
{
    const int64_t panels = (c->a_packed ? c->a_panels : 0) + (c->b_packed ? c->cols.panels : 0);
    if (panels == 0) return TSR_OK;
    return tsr_parallel_for(panels, most(1, PART_WORK / (32 * c->k)), pack_panels, c);
}

/* Tiles ------------------------------------------------------------------------------------ */

/* Panels of a and of b. */
typedef struct tile {
    int64_t i, i_end, j, j_end;
} tile;

static int64_t sum_tile_bytes(const plan *p) { return p->widest->rows * p->widest->cols * p->g->ukr->sum; }

static char *sums_of(const chunk *c, int64_t i, int64_t j)
{
    return c->sums + (i * c->cols.panels + j) * sum_tile_bytes(c->plan);
}

/* Finds panel j of b from index p of k on; returns the strips that it is for. */
static const tsri_gemm_strips *aim(tsri_gemm_strip *s, const chunk *c, int64_t j, int64_t p)
{
    const tsri_gemm_ukr *u = c->plan->g->ukr;
    const int64_t col = col_of(&c->cols, j);
    s->cols = col_of(&c->cols, j + 1) - col;
    const tsri_gemm_strips *strips = strips_for(u, s->cols, s->cols);
    s->b_row = c->b_packed ? strips->cols * u->element : c->b.row;
    s->b = c->b_packed ? packed_b(c, j) : c->b.data + p * c->b.row + col * c->b.col;
    s->z = c->z.data + col * c->z.col;
    s->add = p > 0 || !c->first;
    s->k = pieces(least(c->k - p, block_of(u)), u->group);
    return strips;
}

/* Panel by panel of a. */
static void sum_panels(tsri_gemm_strip *s, const chunk *c, const tile *t)
{
    const int64_t element = c->plan->g->ukr->element;
    for (int64_t i = t->i; i < t->i_end; i++) {
        const int64_t row = row_of(c, i), rows = row_of(c, i + 1) - row;
        if (c->a_packed) s->a_row = element;
        if (c->a_packed) s->a_col = rows * element;
        for (int64_t p = 0; p < c->k; p += block_of(c->plan->g->ukr)) {
            s->a = c->a_packed ? packed_a(c, row) : c->a.data + row * c->a.row + p * c->a.col;
            for (int64_t j = t->j; j < t->j_end; j++) {
                const tsri_gemm_strips *strips = aim(s, c, j, p);
                s->z = c->sums ? sums_of(c, i, j) : s->z + row * c->z.row;
                strips->run[rows](s);
            }
        }
    }
}

/* `count` rows of a and z as they lie: in strips as high as there are, and nearly equal. */
static void sum_rows(tsri_gemm_strip *s, const tsri_gemm_strips *strips, int64_t count)
{
    if (count <= strips->rows) {
        strips->run[count](s);
        return;
    }
    const int64_t panels = pieces(count, strips->rows), rows = count / panels;
    for (int64_t high = count % panels, i = panels; i > 0; i--, high--) {
        const int64_t n = high > 0 ? rows + 1 : rows;
        strips->run[n](s);
        s->a += n * s->a_row;
        s->z += n * s->z_row;
    }
}

static void sum_as_they_lie(tsri_gemm_strip *s, const chunk *c, const tile *t)
{
    const int64_t first = row_of(c, t->i), count = row_of(c, t->i_end) - first;
    for (int64_t p = 0; p < c->k; p += block_of(c->plan->g->ukr))
        for (int64_t j = t->j; j < t->j_end; j++) {
            const tsri_gemm_strips *strips = aim(s, c, j, p);
            s->a = c->a.data + first * c->a.row + p * c->a.col;
            s->z += first * c->z.row;
            sum_rows(s, strips, count);
        }
}

static void sum_tile(const chunk *c, const tile *t)
{
    const plan *p = c->plan;
    const bool complex = p->g->cls == TSRI_GEMM_C64 || p->g->cls == TSRI_GEMM_C128;
    const int64_t part = complex ? p->g->ukr->sum / 2 : p->g->ukr->sum;
    tsri_gemm_strip s = { .a_row = c->a.row, .a_col = c->a.col, .padded = c->b_packed != NULL,
                          .z_row = c->sums ? p->widest->cols * part : c->z.row,
                          .z_im = p->widest->rows * p->widest->cols * part };
    if (c->a_packed || c->sums) sum_panels(&s, c, t);
    else                        sum_as_they_lie(&s, c, t);
}

static void store_tile(const chunk *c, const tile *t)
{
    const plan *p = c->plan;
    for (int64_t i = t->i; i < t->i_end; i++)
        for (int64_t j = t->j; j < t->j_end; j++) {
            const int64_t row = row_of(c, i), col = col_of(&c->cols, j);
            p->g->ukr->dtypes[p->g->z_type].store(tsri_gemm_at(c->z, row, col), tsri_gemm_at(c->c, row, col),
                                                  sums_of(c, i, j), row_of(c, i + 1) - row, col_of(&c->cols, j + 1) - col,
                                                  (int)p->widest->rows, (int)p->widest->cols, &p->g->scale);
        }
}

static tsr_status multiply_tiles(void *context, int64_t begin, int64_t end)
{
    const chunk *c = context;
    const int64_t across = pieces(c->cols.panels, TILE_PANELS);
    for (int64_t n = begin; n < end; n++) {
        tile t = { .i = n / across * c->tile_panels, .j = n % across * TILE_PANELS };
        t.i_end = least(t.i + c->tile_panels, c->a_panels);
        t.j_end = least(t.j + TILE_PANELS, c->cols.panels);
        sum_tile(c, &t);
        if (c->last && c->sums) store_tile(c, &t);
    }
    return TSR_OK;
}

/* Chunks ----------------------------------------------------------------------------------- */

/* Tiles of TILE_ROWS, or lower ones where there would be few for the threads. */
static int64_t tile_height(const chunk *c)
{
    const int64_t most_panels = most(1, TILE_ROWS / c->plan->widest->rows), across = pieces(c->cols.panels, TILE_PANELS);
    const int64_t wanted = 4 * (int64_t)tsr_threads();
    if (wanted == 4) return most_panels;
    return most(1, least(most_panels, c->a_panels * across / wanted));
}

static tsr_status multiply_chunk(chunk *c)
{
    const int64_t width = c->plan->widest->cols, height = c->plan->widest->rows;
    c->tile_panels = tile_height(c);
    const int64_t tiles = pieces(c->a_panels, c->tile_panels) * pieces(c->cols.panels, TILE_PANELS);
    const int64_t tile_work = least(c->m, c->tile_panels * height) * least(c->n, TILE_PANELS * width) * c->k;
    TSRI_TRY(pack(c));
    return tsr_parallel_for(tiles, most(1, PART_WORK / tile_work), multiply_tiles, c);
}

static int64_t packed_a_bytes(const plan *p, int64_t m, int64_t k)
{
    return p->pack_a ? m * pieces(k, p->g->ukr->group) * p->g->ukr->element : 0;
}

static int64_t packed_b_bytes(const plan *p, int64_t panels, int64_t k)
{
    const tsri_gemm_ukr *u = p->g->ukr;
    return p->pack_b ? panels * p->widest->cols * (pieces(k, u->group) + u->start) * u->element : 0;
}

static int64_t sums_bytes(const plan *p, int64_t a_panels, int64_t b_panels)
{
    return p->sums ? a_panels * b_panels * sum_tile_bytes(p) : 0;
}

/* The chunk of z that begins at (i, j), for all k, in scratch memory of scratch_bytes(). */
static tsr_status multiply_chunks_of_k(const plan *p, int64_t i, int64_t j, char *scratch)
{
    const tsri_gemm *g = p->g;
    chunk c = { .plan = p, .m = least(g->m - i, p->chunk_m), .n = least(g->n - j, p->chunk_n) };
    c.c = tsri_gemm_at(g->c, i, j);
    c.z = tsri_gemm_at(g->z, i, j);
    c.a_panels = pieces(c.m, p->widest->rows);
    c.cols = cut_cols(g->ukr, p->widest, c.n);
    if (p->sums) c.sums = scratch;
    scratch += sums_bytes(p, c.a_panels, c.cols.panels);
    for (int64_t at = 0; at < g->k; at += p->chunk_k) {
        c.k = least(g->k - at, p->chunk_k);
        c.a = tsri_gemm_at(g->a, i, at);
        c.b = tsri_gemm_at(g->b, at, j);
        if (p->pack_a) c.a_packed = scratch;
        if (p->pack_b) c.b_packed = scratch + packed_a_bytes(p, c.m, c.k);
        c.first = at == 0;
        c.last = at + c.k == g->k;
        TSRI_TRY(multiply_chunk(&c));
    }
    return TSR_OK;
}

static size_t scratch_bytes(const plan *p)
{
    const int64_t m = least(p->g->m, p->chunk_m), k = least(p->g->k, p->chunk_k);
    const int64_t panels = pieces(least(p->g->n, p->chunk_n), p->widest->cols);
    return (size_t)(sums_bytes(p, pieces(m, p->widest->rows), panels) + packed_a_bytes(p, m, k) +
                    packed_b_bytes(p, panels, k));
}

static tsr_status multiply_in(const plan *p, char *scratch)
{
    for (int64_t j = 0; j < p->g->n; j += p->chunk_n)
        for (int64_t i = 0; i < p->g->m; i += p->chunk_m) TSRI_TRY(multiply_chunks_of_k(p, i, j, scratch));
    return TSR_OK;
}

static tsr_status multiply_on_stack(const plan *p)
{
    _Alignas(64) char scratch[STACK_BYTES];
    return multiply_in(p, scratch);
}

static tsr_status multiply_on_heap(const plan *p, size_t bytes)
{
    size_t reserved = 0;
    void *scratch = tsri_alloc_allowed(bytes) ? tsri_pool_take(bytes, &reserved) : NULL;
    if (!scratch) return TSR_ENOMEM;
    const tsr_status s = multiply_in(p, scratch);
    tsri_pool_give(scratch, reserved);
    return s;
}

/* The plan --------------------------------------------------------------------------------- */

static bool packs_a(const tsri_gemm *g)
{
    const int64_t size = g->ukr->element;
    if (g->ukr->packed_only || !g->ukr->dtypes[g->a_type].native) return true;
    if (g->a.row != size && g->a.col != size) return true;
    return g->n > FEW_COLS && g->m * g->k * size > NEAR_BYTES;
}

static bool packs_b(const tsri_gemm *g)
{
    const int64_t size = g->ukr->element;
    if (g->ukr->packed_only || !g->ukr->right[g->b_type].native || g->b.col != size) return true;
    return g->m > FEW_ROWS && g->k * g->n * size > NEAR_BYTES;
}

static bool needs_sums(const tsri_gemm *g)
{
    return !g->ukr->dtypes[g->z_type].native || !g->scale.plain || g->z.col != g->ukr->sum;
}

/* Small products --------------------------------------------------------------------------- */

/* The strips for panels that lie as they are: the widest, if the last panel fills them. */
static const tsri_gemm_strips *direct_strips(const tsri_gemm *g)
{
    const tsri_gemm_strips *s = strips_for(g->ukr, g->n, g->ukr->panel);
    if (s[1].cols == 0 || g->n <= s->cols) return s;
    const int64_t rest = g->n % s[1].cols;
    return rest == 0 || rest > s->cols ? s + 1 : s;
}

/* Calls on a handful of elements come here, so nothing is divided, or kept, that need not be. */
static void multiply_small(const tsri_gemm *g, const char *a, const char *b, char *z)
{
    const tsri_gemm_strips *strips = direct_strips(g);
    tsri_gemm_strip s = { .k = g->k, .a = a, .a_row = g->a.row, .a_col = g->a.col, .b = b, .b_row = g->b.row,
                          .z = z, .z_row = g->z.row, .cols = g->n };
    if (g->n <= strips->cols && g->k <= TSRI_GEMM_BLOCK) {
        sum_rows(&s, strips, g->m);
        return;
    }
    const cut cols = cut_cols(g->ukr, strips, g->n);
    for (int64_t p = 0; p < g->k; p += TSRI_GEMM_BLOCK) {
        s.k = least(g->k - p, TSRI_GEMM_BLOCK);
        s.add = p > 0;
        for (int64_t j = 0; j < cols.panels; j++) {
            const int64_t col = col_of(&cols, j);
            s.cols = col_of(&cols, j + 1) - col;
            s.a = a + p * g->a.col;
            s.b = b + p * g->b.row + col * g->b.col;
            s.z = z + col * g->z.col;
            sum_rows(&s, strips_for(g->ukr, s.cols, s.cols), g->m);
        }
    }
}

/* The whole product is one strip: nothing but pointers change. */
static void multiply_strips(const tsri_gemm *g, const tsri_gemm_strips *strips, int64_t count, const int64_t step[3])
{
    const tsri_gemm_strip_fn run = strips->run[g->m];
    tsri_gemm_strip s = { .k = g->k, .a = g->a.data, .a_row = g->a.row, .a_col = g->a.col, .b = g->b.data,
                          .b_row = g->b.row, .z = g->z.data, .z_row = g->z.row, .cols = g->n };
    for (int64_t i = 0; i < count; i++, s.z += step[0], s.a += step[1], s.b += step[2]) run(&s);
}

void tsri_gemm_small(const tsri_gemm *g, int64_t count, const int64_t step[3])
{
    const tsri_gemm_strips *strips = direct_strips(g);
    if (g->n <= strips->cols && g->m <= strips->rows && g->k <= TSRI_GEMM_BLOCK) {
        multiply_strips(g, strips, count, step);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        multiply_small(g, g->a.data + i * step[1], g->b.data + i * step[2], g->z.data + i * step[0]);
}

bool tsri_gemm_is_small(const tsri_gemm *g, int64_t work)
{
    const int64_t sides = g->m | g->n | g->k;
    return sides < 1 << 16 && g->m * g->n * g->k < work && !packs_a(g) && !packs_b(g) && !needs_sums(g);
}

/* The plan, continued ---------------------------------------------------------------------- */

static tsr_status multiply_with(plan *p)
{
    p->chunk_m = p->pack_a || p->sums ? CHUNK : p->g->m;
    p->chunk_n = p->pack_b || p->sums ? CHUNK / p->widest->cols * p->widest->cols : p->g->n;
    p->chunk_k = p->pack_a || p->pack_b ? block_of(p->g->ukr) : p->g->k;
    const size_t bytes = scratch_bytes(p);
    if (bytes == 0) return multiply_in(p, NULL);
    return bytes <= STACK_BYTES ? multiply_on_stack(p) : multiply_on_heap(p, bytes);
}

tsr_status tsri_gemm_panels(const tsri_gemm *g)
{
    if (tsri_gemm_is_small(g, tsr_threads() == 1 ? TSRI_GEMM_SMALL : 2 * PART_WORK)) {
        multiply_small(g, g->a.data, g->b.data, g->z.data);
        return TSR_OK;
    }
    plan p = { .g = g, .pack_a = packs_a(g), .pack_b = packs_b(g), .sums = needs_sums(g) };
    p.widest = p.pack_a || p.pack_b || p.sums ? strips_for(g->ukr, g->n, g->ukr->panel) : direct_strips(g);
    return multiply_with(&p);
}
