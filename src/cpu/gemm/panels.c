/* panels.c - the loops around the strips.
 *
 *     chunk of n, m and k      what is packed at a time, so that scratch memory is bounded
 *       tile of n and m        what a thread takes
 *         block of k           TSRI_GEMM_BLOCK indices, summed from 0; the tile's part of b stays in a core's cache
 *           panel of a         which stays in the nearest cache
 *             panel of b       one strip
 *
 * Threads share a chunk tile by tile; products of few rows or many columns come here in regions instead, some for
 * each thread (regions.c).
 *
 * What a core's cache does not hold, which is a and z, is sent for a panel of a ahead.
 *
 * An operand is packed where strips cannot read it as it lies, or where they would read
 * it often and from far apart. Sums go straight to z where they are what z holds, and
 * else lie beside each other tile by tile until k is done. */
#include "cpu/edges.h"
#include "panels.h"
#include "core/alloc.h"
#include "core/dtype_int.h"
#include "core/memory_int.h"
#include "core/threads_int.h"
#include "cpu/cpu_run.h"

enum {
    CHUNK = 2048,             /* of m and n */
    NEAR_ROWS = 512,          /* of a chunk whose sums stay near */
    FEW_THREADS = 4,          /* that a chunk of one tile across, and of one block of k, is enough for */
    CHUNK_BLOCKS = 4,         /* of k, for more */
    TILE_ROWS = 256,
    PACK_PANELS = 16,         /* packed side by side */
    ROWS_AT_ONCE = 8,         /* indices of k of them at a time */
    MANY_ROWS = 512,          /* that pay for packing it, however small it is */
    TILE_PANELS = 64,         /* of b, at most */
    NEAR_BYTES = 1 << 18,     /* of an operand that is read as fast where it lies */
#ifdef TSR_FREESTANDING
    STACK_BYTES = 2048,
    LINES = 64
#else
    STACK_BYTES = 16384,
    LINES = 512               /* that are sent for ahead, at most */
#endif
};

const int64_t tsri_edges_panels[] = { FEW_ROWS, FEW_COLS, FAR_K, CHUNK, NEAR_ROWS, MANY_ROWS, TILE_ROWS, 0 };

/* Indices of k that a strip takes at a time. */
static int64_t block_of(const tsri_gemm_ukr *u) { return u->block ? u->block : TSRI_GEMM_BLOCK * u->group; }

/* Panels ----------------------------------------------------------------------------------- */

/* What is true of all chunks. */
typedef struct plan {
    const tsri_gemm        *g;
    const tsri_gemm_strips *widest;                    /* that panels of b have */
    int64_t                 chunk_m, chunk_n, chunk_k; /* at most */
    int                     threads;
    bool                    pack_a, pack_b, sums;      /* else strips use a, b and z as they lie */
    bool                    thin;                      /* all of b is near: z is written row by row */
    bool                    stream;                    /* around the caches */
} plan;

/* A chunk on its way. */
typedef struct chunk {
    const plan      *plan;
    tsri_gemm_matrix a, b, c, z;                  /* where the chunk begins */
    int64_t          m, n, k;
    int64_t          a_panels, low, high;         /* panels of a; rows of most, and how many have one more */
    cut              cols;                        /* panels of b */
    int64_t          tile_high, tile_wide;        /* panels of a, and of b */
    int64_t          pack_a, pack_b;              /* panels that are packed side by side */
    char            *a_packed, *b_packed, *sums;  /* NULL: none */
    bool             first, last;                 /* along k */
    bool             once;                        /* all of k is one block: sums are stored as soon as they are made */
} chunk;

/* Panels of a differ in height by one row at most. */
static int64_t row_of(const chunk *c, int64_t panel)
{
    return c->low * panel + least(panel, c->high);
}

/* Packing ---------------------------------------------------------------------------------- */

/* Indices of the block of k that begins at p. */
static int64_t block_at(const chunk *c, int64_t p) { return least(c->k - p, block_of(c->plan->g->ukr)); }

/* Block by block of k, then panel by panel. */
static char *packed_a(const chunk *c, int64_t row, int64_t p)
{
    const tsri_gemm_ukr *u = c->plan->g->ukr;
    return c->a_packed + (p / u->group * c->m + row * pieces(block_at(c, p), u->group)) * u->element;
}

static char *packed_b(const chunk *c, int64_t panel, int64_t p)
{
    const tsri_gemm_ukr *u = c->plan->g->ukr;
    const int64_t before = (p / u->group + p / block_of(u) * u->start) * c->cols.panels;
    return c->b_packed + (before + panel * (pieces(block_at(c, p), u->group) + u->start)) *
                             c->plan->widest->cols * u->element;
}

/* Where elements follow each other across panels, several panels are filled from the same few lines of
 * memory; else each on its own. */
static int64_t indices_at_once(const tsri_gemm_ukr *u, int64_t size, int64_t step, int64_t step_k, int64_t k)
{
    const int64_t some = u->group < ROWS_AT_ONCE ? ROWS_AT_ONCE * u->group : u->group;
    return step == size && step_k != size && u->start == 0 ? least(k, some) : k;
}

/* Sends for `count` stretches of `bytes`. */
static void fetch(const char *from, int64_t step, int64_t count, int64_t bytes)
{
    for (; count > 0; count--, from += step)
        for (int64_t at = 0; at < bytes; at += TSRI_CACHE_LINE) __builtin_prefetch(from + at);
}

static void pack_a(const chunk *c, int64_t begin, int64_t end, int64_t p)
{
    const tsri_gemm *g = c->plan->g;
    const tsri_gemm_ukr *u = g->ukr;
    const int64_t k = block_at(c, p),
                  some = indices_at_once(u, tsri_dtype_size(g->a_type), c->a.row, c->a.col, k);
    const int64_t first = row_of(c, begin), across = (row_of(c, end) - first) * c->a.row;
    for (int64_t q = 0; q < k; q += some) {
        if (q + some < k)
            fetch(tsri_gemm_at(c->a, first, p + q + some).data, c->a.col, least(k - q - some, some), across);
        for (int64_t i = begin; i < end; i++) {
            const int64_t row = row_of(c, i), rows = row_of(c, i + 1) - row;
            u->dtypes[g->a_type].pack(packed_a(c, row, p) + q / u->group * rows * u->element,
                                      tsri_gemm_at(c->a, row, p + q).data, c->a.row, c->a.col, rows,
                                      least(k - q, some), (int)rows);
        }
    }
}

static void pack_b(const chunk *c, int64_t begin, int64_t end, int64_t p)
{
    const tsri_gemm *g = c->plan->g;
    const tsri_gemm_ukr *u = g->ukr;
    const int64_t k = block_at(c, p),
                  some = indices_at_once(u, tsri_dtype_size(g->b_type), c->b.col, c->b.row, k);
    for (int64_t q = 0; q < k; q += some)
        for (int64_t j = begin; j < end; j++) {
            const int64_t col = col_of(&c->cols, j), cols = col_of(&c->cols, j + 1) - col;
            const int64_t width = strips_for(u, cols, cols)->cols;
            u->right[g->b_type].pack(packed_b(c, j, p) + q / u->group * width * u->element,
                                     tsri_gemm_at(c->b, p + q, col).data, c->b.col, c->b.row, cols,
                                     least(k - q, some), (int)width);
        }
}

/* Groups of panels of a block of k: those of a that are packed come first, then those of b. */
static int64_t groups_of_a(const chunk *c) { return c->a_packed ? pieces(c->a_panels, c->pack_a) : 0; }
static int64_t groups_of_b(const chunk *c) { return c->b_packed ? pieces(c->cols.panels, c->pack_b) : 0; }

/* Some for each thread, if there are. */
static int64_t panels_of_group(int64_t panels, int64_t threads)
{
    return threads == 1 ? PACK_PANELS : most(1, least(PACK_PANELS, panels / (2 * threads)));
}

static tsr_status pack_groups(void *context, int64_t begin, int64_t end)
{
    const chunk *c = context;
    const int64_t of_a = groups_of_a(c), groups = of_a + groups_of_b(c);
    for (int64_t n = begin; n < end; n++) {
        const int64_t p = n / groups * block_of(c->plan->g->ukr), group = n % groups;
        const int64_t of_b = (group - of_a) * c->pack_b;
        if (group < of_a) pack_a(c, group * c->pack_a, least((group + 1) * c->pack_a, c->a_panels), p);
        else              pack_b(c, of_b, least(of_b + c->pack_b, c->cols.panels), p);
    }
    return TSR_OK;
}

static tsr_status pack(chunk *c)
{
    c->pack_a = panels_of_group(c->a_panels, c->plan->threads);
    c->pack_b = panels_of_group(c->cols.panels, c->plan->threads);
    const int64_t groups = groups_of_a(c) + groups_of_b(c);
    if (groups == 0) return TSR_OK;
    return tsri_parallel_for(groups * pieces(c->k, block_of(c->plan->g->ukr)), 1, pack_groups, c);
}

/* Tiles ------------------------------------------------------------------------------------ */

/* Panels of a and of b. */
typedef struct tile {
    int64_t i, i_end, j, j_end;
} tile;

/* Panels of b whose part of a block stays in a core's cache. */
static int64_t near_panels(const plan *p)
{
    const tsri_gemm_ukr *u = p->g->ukr;
    const int64_t panel = p->widest->cols * pieces(least(block_of(u), p->g->k), u->group) * u->element;
    return least(most(1, tsri_cpu_resident_bytes() / panel), TILE_PANELS);
}

static int64_t sum_tile_bytes(const plan *p) { return p->widest->rows * p->widest->cols * p->g->ukr->sum; }

static char *sums_of(const chunk *c, int64_t i, int64_t j)
{
    return c->sums + (i * c->cols.panels + j) * sum_tile_bytes(c->plan);
}

/* Where strips of one block of k find things; found once, as nothing here is cheap beside a short strip. */
typedef struct k_block {
    int64_t     p, k;       /* the first index; elements */
    const char *a, *b;      /* of the block: packed, or as they lie */
    int64_t     a_row;      /* from a row to the next: in a packed block, rows follow each other */
    int64_t     b_panel;    /* from a packed panel of b to the next */
} k_block;

static k_block block_from(const chunk *c, int64_t p)
{
    const tsri_gemm_ukr *u = c->plan->g->ukr;
    k_block b = { .p = p, .k = pieces(block_at(c, p), u->group), .a = c->a.data + p * c->a.col,
                .b = c->b.data + p * c->b.row, .a_row = c->a.row };
    b.b_panel = (b.k + u->start) * c->plan->widest->cols * u->element;
    if (c->a_packed) b.a = packed_a(c, 0, p);
    if (c->a_packed) b.a_row = b.k * u->element;
    if (c->b_packed) b.b = packed_b(c, 0, p);
    return b;
}

/* A panel of b, and the strips that it is for. */
typedef struct b_panel {
    const tsri_gemm_strips *strips;
    const char             *b;
    char                   *z;  /* where its columns begin */
    int64_t                 b_row, cols;
} b_panel;

static b_panel find_panel(const chunk *c, const k_block *b, int64_t j)
{
    const tsri_gemm_ukr *u = c->plan->g->ukr;
    const int64_t col = col_of(&c->cols, j), cols = col_of(&c->cols, j + 1) - col;
    b_panel p = { .strips = strips_for(u, cols, cols), .z = c->z.data + col * c->z.col, .cols = cols };
    p.b_row = c->b_packed ? p.strips->cols * u->element : c->b.row;
    p.b = b->b + (c->b_packed ? j * b->b_panel : col * c->b.col);
    return p;
}

/* Panels from j on, and before `end`, that have all columns, of which j is one. Of the last two either may have
 * less, also the first alone. */
static int64_t whole_panels(const chunk *c, int64_t j, int64_t end)
{
    int64_t whole_end = most(j + 1, least(end, c->cols.panels - 2));
    while (whole_end < end && col_of(&c->cols, whole_end + 1) - col_of(&c->cols, whole_end) == c->cols.width)
        whole_end++;
    return whole_end - j;
}

static void aim(tsri_gemm_strip *s, const b_panel *p)
{
    s->b = p->b;
    s->b_row = p->b_row;
    s->cols = p->cols;
}

static void begin_block(tsri_gemm_strip *s, const chunk *c, const k_block *b)
{
    s->add = b->p > 0 || !c->first;
    s->k = b->k;
}

/* Lines of memory that are needed soon. */
typedef struct lines {
    const char *at[LINES];
    int64_t     n;
} lines;

/* Those of `rows` rows of `bytes` each, as far as there is room. */
static void list_lines(lines *l, const char *from, int64_t step, int64_t rows, int64_t bytes)
{
    const int64_t each = least(pieces(bytes, TSRI_CACHE_LINE), LINES);
    for (; rows > 0 && l->n + each <= LINES; rows--, from += step, l->n += each)
        for (int64_t q = 0; q < each; q++) l->at[l->n + q] = from + q * TSRI_CACHE_LINE;
}

/* What the strips of panel i of a read: its rows, and their sums so far; or where the rows begin, for strips that
 * find their way from there. */
static void list_panel(lines *l, const chunk *c, const tile *t, const k_block *b, int64_t i)
{
    const tsri_gemm_ukr *u = c->plan->g->ukr;
    const int64_t row = row_of(c, i), rows = row_of(c, i + 1) - row, first = col_of(&c->cols, t->j);
    if (u->whole_rows) {
        list_lines(l, b->a + row * b->a_row, b->a_row, rows, 1);
        return;
    }
    if (c->a_packed) list_lines(l, b->a + row * b->a_row, 0, 1, rows * b->k * u->element);
    else             list_lines(l, b->a + row * b->a_row, b->a_row, rows, b->k * u->element);
    if (c->once) return;
    if (c->sums) list_lines(l, sums_of(c, i, t->j), 0, 1, (t->j_end - t->j) * sum_tile_bytes(c->plan));
    else         list_lines(l, c->z.data + row * c->z.row + first * u->sum, c->z.row, rows,
                            (col_of(&c->cols, t->j_end) - first) * u->sum);
}

/* Sums of a strip that are whole and wait to be stored. */
typedef struct ready {
    const char *sums;  /* NULL: none wait */
    int64_t     i, j;
} ready;

static void store_ready(const chunk *c, const ready *r)
{
    if (!r->sums) return;
    const plan *p = c->plan;
    const int64_t row = row_of(c, r->i), col = col_of(&c->cols, r->j);
    p->g->ukr->dtypes[p->g->z_type].store(tsri_gemm_at(c->z, row, col), tsri_gemm_at(c->c, row, col), r->sums,
                                          row_of(c, r->i + 1) - row, col_of(&c->cols, r->j + 1) - col,
                                          (int)p->widest->rows, (int)p->widest->cols, &p->g->scale);
}

/* Where the sums of a strip go. Those that are stored soon take turns with those of the next strip. */
static char *place_of(const chunk *c, const tile *t, const b_panel *panel, int64_t i, int64_t j)
{
    const bool second = ((i - t->i) * (t->j_end - t->j) + j - t->j) % 2 != 0;
    if (!c->sums) return panel->z + row_of(c, i) * c->z.row;
    if (!c->once) return sums_of(c, i, j);
    if (!second)  return sums_of(c, t->i, t->j);
    return t->j + 1 < t->j_end ? sums_of(c, t->i, t->j + 1) : sums_of(c, t->i + 1, t->j);
}

/* One block of k, panel by panel of a. The strips of one send for what the next one reads, each for its share.
 * Whole sums are stored a strip later: they are still near then, and nothing waits for the last of them. */
static void sum_block(tsri_gemm_strip *s, const chunk *c, const tile *t, const k_block *b)
{
    const bool whole = c->sums && c->last && b->p + block_of(c->plan->g->ukr) >= c->k;
    const int64_t wide = t->j_end - t->j, element = c->plan->g->ukr->element;
    b_panel panels[TILE_PANELS];
    lines ahead;
    ready waiting = { 0 };
    begin_block(s, c, b);
    for (int64_t j = 0; j < wide; j++) panels[j] = find_panel(c, b, t->j + j);
    for (int64_t i = t->i; i < t->i_end; i++) {
        const int64_t row = row_of(c, i), rows = row_of(c, i + 1) - row;
        if (c->a_packed) s->a_row = element;
        if (c->a_packed) s->a_col = rows * element;
        s->rows = rows;
        s->a = b->a + row * b->a_row;
        ahead.n = 0;
        if (i + 1 < t->i_end) list_panel(&ahead, c, t, b, i + 1);
        const int64_t share = pieces(ahead.n, wide);
        for (int64_t j = 0; j < wide; j++) {
            aim(s, &panels[j]);
            s->lines = least(share, ahead.n - j * share);
            s->ahead = s->lines > 0 ? ahead.at + j * share : NULL;
            s->z = place_of(c, t, &panels[j], i, t->j + j);
            panels[j].strips->run[rows](s);
            store_ready(c, &waiting);
            if (whole) waiting = (ready){ s->z, i, t->j + j };
        }
    }
    store_ready(c, &waiting);
    s->ahead = NULL;
}

static void sum_panels(tsri_gemm_strip *s, const chunk *c, const tile *t)
{
    for (int64_t p = 0; p < c->k; p += block_of(c->plan->g->ukr)) {
        const k_block b = block_from(c, p);
        sum_block(s, c, t, &b);
    }
}

/* Row by row of strips: long stretches of z are written one after the other, and sent for a strip ahead where
 * there is time for it. */
static void sum_thin_rows(tsri_gemm_strip *s, const chunk *c, const tile *t)
{
    const k_block b = block_from(c, 0);
    begin_block(s, c, &b);
    s->far = !s->stream && b.k <= FAR_K;
    s->a_next = 0;
    for (int64_t i = t->i; i < t->i_end; i++) {
        const int64_t row = row_of(c, i), rows = row_of(c, i + 1) - row;
        for (int64_t j = t->j; j < t->j_end;) {
            const b_panel panel = find_panel(c, &b, j);
            const int64_t alike = panel.cols == c->cols.width ? whole_panels(c, j, t->j_end) : 1;
            aim(s, &panel);
            s->a = b.a + row * b.a_row;
            s->z = panel.z + row * c->z.row;
            s->z_next = panel.cols * c->z.col;
            s->b_next = panel.cols * c->b.col;
            sum_alike(s, panel.strips, rows, alike);
            j += alike;
        }
    }
}

static void sum_as_they_lie(tsri_gemm_strip *s, const chunk *c, const tile *t)
{
    const int64_t first = row_of(c, t->i), count = row_of(c, t->i_end) - first;
    for (int64_t p = 0; p < c->k; p += block_of(c->plan->g->ukr)) {
        const k_block b = block_from(c, p);
        begin_block(s, c, &b);
        for (int64_t j = t->j; j < t->j_end; j++) {
            const b_panel panel = find_panel(c, &b, j);
            aim(s, &panel);
            s->a = b.a + first * b.a_row;
            s->z = panel.z + first * c->z.row;
            sum_rows(s, panel.strips, count);
        }
    }
}

/* Other threads see what was written around the caches. */
static void settle(void)
{
#ifndef TSR_NO_THREADS
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static void sum_tile(const chunk *c, const tile *t)
{
    const plan *p = c->plan;
    const bool complex = p->g->cls == TSRI_GEMM_C64 || p->g->cls == TSRI_GEMM_C128;
    const int64_t part = complex ? p->g->ukr->sum / 2 : p->g->ukr->sum;
    tsri_gemm_strip s = { .a_row = c->a.row, .a_col = c->a.col * p->g->ukr->group, .padded = c->b_packed != NULL,
                          .z_row = c->sums ? p->widest->cols * part : c->z.row,
                          .z_im = p->widest->rows * p->widest->cols * part };
    s.stream = p->stream;
    if (p->g->ukr->begin) p->g->ukr->begin();
    if (c->a_packed || c->b_packed || c->sums) sum_panels(&s, c, t);
    else if (p->thin && c->cols.panels > 1) sum_thin_rows(&s, c, t);
    else sum_as_they_lie(&s, c, t);
    if (p->g->ukr->end) p->g->ukr->end();
}

static tsr_status multiply_tiles(void *context, int64_t begin, int64_t end)
{
    const chunk *c = context;
    const int64_t down = pieces(c->a_panels, c->tile_high);
    for (int64_t n = begin; n < end; n++) {
        tile t = { .i = n % down * c->tile_high, .j = n / down * c->tile_wide };
        t.i_end = least(t.i + c->tile_high, c->a_panels);
        t.j_end = least(t.j + c->tile_wide, c->cols.panels);
        sum_tile(c, &t);
    }
    if (c->plan->stream) settle();
    return TSR_OK;
}

/* Chunks ----------------------------------------------------------------------------------- */

static int64_t tiles_of(const chunk *c)
{
    return pieces(c->a_panels, c->tile_high) * pieces(c->cols.panels, c->tile_wide);
}

/* As large as is near; for threads, smaller ones until there are enough. The longer side is halved: what a
 * tile reads grows with the sum of its sides. */
static void shape_tiles(chunk *c)
{
    const tsri_gemm_strips *strips = c->plan->widest;
    const int64_t threads = c->plan->threads;
    c->tile_high = least(c->a_panels, most(1, TILE_ROWS / strips->rows));
    c->tile_wide = least(c->cols.panels, c->plan->thin ? TILE_PANELS : near_panels(c->plan));
    while (threads > 1 && tiles_of(c) < 2 * threads && c->tile_high * c->tile_wide > 1) {
        const bool cut_across = c->tile_wide > 1 && c->tile_wide * strips->cols >= c->tile_high * strips->rows;
        if (cut_across || c->tile_high == 1) c->tile_wide = (c->tile_wide + 1) / 2;
        else                                 c->tile_high = (c->tile_high + 1) / 2;
    }
}

static tsr_status multiply_chunk(chunk *c)
{
    const int64_t width = c->plan->widest->cols, height = c->plan->widest->rows;
    shape_tiles(c);
    const int64_t tile_work = least(c->m, c->tile_high * height) * least(c->n, c->tile_wide * width) * c->k;
    TSRI_TRY(pack(c));
    return tsri_parallel_for(tiles_of(c), most(1, PART_WORK / tile_work), multiply_tiles, c);
}

static int64_t packed_a_bytes(const plan *p, int64_t m, int64_t k)
{
    const int64_t bytes = m * pieces(k, p->g->ukr->group) * p->g->ukr->element;
    return p->pack_a ? (bytes + 63) & -64 : 0;
}

static int64_t packed_b_bytes(const plan *p, int64_t panels, int64_t k)
{
    const tsri_gemm_ukr *u = p->g->ukr;
    return p->pack_b ? panels * p->widest->cols * (pieces(k, u->group) + pieces(k, block_of(u)) * u->start) *
                           u->element
                     : 0;
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
    c.low = c.m / c.a_panels;
    c.high = c.m % c.a_panels;
    c.cols = cut_cols(g->ukr, p->widest, c.n);
    c.once = p->sums && g->k <= block_of(g->ukr);
    if (p->sums) {  /* without scratch it is NULL */
        c.sums = scratch;
        scratch += sums_bytes(p, c.a_panels, c.cols.panels);
    }
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
    void *scratch = tsri_pool_scratch(bytes, &reserved);
    if (!scratch) return TSR_ENOMEM;
    const tsr_status s = multiply_in(p, scratch);
    tsri_pool_give(scratch, reserved);
    return s;
}

/* The plan --------------------------------------------------------------------------------- */

static bool packs_a(const tsri_gemm *g)
{
    const int64_t size = g->ukr->element, group = g->ukr->group;
    if (g->ukr->whole_rows && g->a.col * group == size && g->k % group == 0) return false;
    if (g->ukr->packed_only || !g->ukr->dtypes[g->a_type].native) return true;
    if (g->a.col == size) return false;
    if (g->a.row != size) return true;
    return g->n > FEW_COLS && g->m * g->k * size > NEAR_BYTES;
}

static bool packs_b(const tsri_gemm *g)
{
    const int64_t size = g->ukr->element;
    if (g->ukr->packed_only || !g->ukr->right[g->b_type].native || g->b.col != size) return true;
    if (g->m <= FEW_ROWS) return false;
    /* Also where rows begin within lines, so that vectors of b would take two, and are read often. */
    return g->k * g->n * size > NEAR_BYTES || (g->b.row % TSRI_CACHE_LINE != 0 && g->m > MANY_ROWS && g->n > FEW_COLS);
}

bool tsri_gemm_packs_b_only(const tsri_gemm *g) { return !packs_a(g) && packs_b(g); }

static bool needs_sums(const tsri_gemm *g)
{
    if (g->ukr->writes && g->n % g->ukr->writes != 0) return true;
    return !g->ukr->dtypes[g->z_type].native || !g->scale.plain || g->z.col != g->ukr->sum;
}

bool tsri_gemm_is_small(const tsri_gemm *g, int64_t work)
{
    const int64_t sides = g->m | g->n | g->k;
    return sides < 1 << 16 && g->m * g->n * g->k < work && !packs_a(g) && !packs_b(g) && !needs_sums(g);
}

/* Does z begin, and do its rows lie, on whole vectors, of which panels have a whole number? */
static bool is_aligned(const tsri_gemm_matrix *z, int64_t bytes)
{
    return (((uintptr_t)z->data | (uintptr_t)z->row) & (uintptr_t)(bytes - 1)) == 0;
}

static bool streams(const plan *p)
{
    const tsri_gemm *g = p->g;
    const int64_t line = least(g->n, 16) * g->ukr->sum;
    return p->thin && g->ukr->streams && (line == 32 || line >= 64) && is_aligned(&g->z, least(line, 64)) &&
           tsri_cpu_streams((g->m * g->k + g->k * g->n + g->m * g->n) * g->ukr->sum);
}

/* Columns of a chunk: those of a tile, which so is packed into the cache that it is used from, or
 * more, where many threads wait for each chunk or a would be packed for each again. */
static int64_t chunk_cols(const plan *p)
{
    const int64_t width = p->widest->cols, near = near_panels(p) * width;
    return p->pack_a || p->threads > FEW_THREADS ? most(near, CHUNK / width * width) : near;
}

static int64_t chunk_blocks(const plan *p) { return p->threads > FEW_THREADS ? CHUNK_BLOCKS : 1; }

/* Rows of a chunk. Where strips are faster than far memory, only so many that sums stay near from block to block. */
static int64_t chunk_rows(const plan *p)
{
    const tsri_gemm *g = p->g;
    if (g->ukr->whole_rows && p->threads <= FEW_THREADS && g->k > block_of(g->ukr)) return NEAR_ROWS;
    return p->pack_a || p->sums ? CHUNK : g->m;
}

static tsr_status multiply_with(plan *p)
{
    const int64_t b_bytes = p->g->k * p->g->n * p->g->ukr->element;
    p->thin = !p->pack_a && !p->pack_b && !p->sums && p->g->k <= TSRI_GEMM_BLOCK && b_bytes <= NEAR_BYTES;
    p->stream = streams(p);
    p->chunk_m = chunk_rows(p);
    p->chunk_n = p->pack_b || p->sums ? chunk_cols(p) : p->g->n;
    p->chunk_k = p->pack_a || p->pack_b ? chunk_blocks(p) * block_of(p->g->ukr) : p->g->k;
    const size_t bytes = scratch_bytes(p);
    if (bytes == 0) return multiply_in(p, NULL);
    return bytes <= STACK_BYTES ? multiply_on_stack(p) : multiply_on_heap(p, bytes);
}

tsr_status tsri_gemm_panels(const tsri_gemm *g)
{
    const int threads = tsri_threads_here();
    if (tsri_gemm_is_small(g, threads == 1 ? TSRI_GEMM_SMALL : 2 * PART_WORK)) {
        tsri_gemm_small(g, 1, (const int64_t[]){ 0, 0, 0 });
        return TSR_OK;
    }
    plan p = { .g = g, .threads = threads, .pack_a = packs_a(g), .pack_b = packs_b(g), .sums = needs_sums(g) };
    p.widest = p.pack_a || p.pack_b || p.sums ? strips_for(g->ukr, g->n, g->ukr->panel) : direct_strips(g);
    return multiply_with(&p);
}
