/* panels.c - the loops around the micro-kernel.
 *
 * The order of loops, from the outermost:
 *
 *     chunk of n                     multiply_in
 *       chunk of m                   multiply_in
 *         chunk of k                 multiply_chunks_of_k: packs its panels of a and b, so scratch is bounded
 *           tile of n and m          multiply_tiles: what a thread takes
 *             block of k             sum_panels: summed from 0; the tile's part of b stays in L2
 *               panel of a           sum_block: stays in the L1 cache
 *                 panel of b         sum_block: one call of the micro-kernel, for a micro-tile of z
 *                   index of k       the micro-kernel (microkernel_real.inc)
 *
 * In the words of BLIS: a chunk of n is jc (NC columns), of k pc (KC), of m ic (MC); the loops over panels of
 * a and b are ir and jr, here with panels of a outside. Without packing two of them change places: see
 * sum_row_by_row (panels of b innermost, all of k at once) and sum_unpacked (rows innermost).
 *
 * Threads share a chunk tile by tile. Products of few rows or many columns come here in regions instead, some
 * for each thread (regions.c).
 *
 * a and z do not stay in the core's cache: what the next panel of a needs of them is prefetched.
 *
 * An operand is packed if micro-kernels cannot read it unpacked, or if they would read it often with a large
 * stride. Sums are written directly to z where z holds elements of the sums' type; else they are kept in
 * scratch, a micro-tile after the other, until k is done. */
#include "cpu/edges.h"
#include "panels.h"
#include "core/alloc.h"
#include "core/dtype_int.h"
#include "core/memory_int.h"
#include "core/threads_int.h"
#include "cpu/cpu_run.h"

enum {
    PACK_PANELS = 16,         /* panels that are packed together */
    ROWS_AT_ONCE = 8,         /* indices of k of them at a time */
    TILE_PANELS = 64,         /* panels of b of a tile, at most */
#ifdef TSR_FREESTANDING
    STACK_BYTES = 2048,
    LINES = 64
#else
    STACK_BYTES = 16384,
    LINES = 512               /* cache lines that are listed for prefetching, at most */
#endif
};

/* Panels ----------------------------------------------------------------------------------- */

/* What is true of all chunks. */
typedef struct plan {
    const tsri_gemm        *g;
    const tsri_gemm_microkernels *widest;              /* micro-kernels for whole panels of b */
    int64_t                 chunk_m, chunk_n, chunk_k; /* at most */
    int                     threads;
    bool                    pack_a, pack_b, sums;      /* else a, b and z are used unpacked */
    bool                    z_by_rows;                 /* all of b stays in cache: z is written row by row */
    bool                    stream;                    /* with non-temporal stores */
} plan;

/* The chunk that is being multiplied. */
typedef struct chunk {
    const plan      *plan;
    tsri_gemm_matrix a, b, c, z;                  /* where the chunk begins */
    int64_t          m, n, k;
    int64_t          a_panels, low, high;         /* panels of a; rows of most, and how many have one more */
    cut              cols;                        /* panels of b */
    int64_t          tile_high, tile_wide;        /* panels of a, and of b */
    int64_t          pack_a, pack_b;              /* panels that are packed together */
    char            *a_packed, *b_packed, *sums;  /* NULL: none */
    bool             first, last;                 /* along k */
    bool             once;                        /* all of k is one block: sums are stored at once */
} chunk;

/* Panels of a differ in height by one row at most. */
static int64_t row_of(const chunk *c, int64_t panel)
{
    return c->low * panel + least(panel, c->high);
}

/* Packing ---------------------------------------------------------------------------------- */

/* Indices of the block of k that begins at p. */
static int64_t block_at(const chunk *c, int64_t p) { return least(c->k - p, block_of(c->plan->g->kernels)); }

/* Block by block of k, then panel by panel. */
static char *packed_a(const chunk *c, int64_t row, int64_t p)
{
    const tsri_gemm_kernels *u = c->plan->g->kernels;
    return c->a_packed + (p / u->group * c->m + row * pieces(block_at(c, p), u->group)) * u->element;
}

static char *packed_b(const chunk *c, int64_t panel, int64_t p)
{
    const tsri_gemm_kernels *u = c->plan->g->kernels;
    const int64_t before = (p / u->group + p / block_of(u) * u->start) * c->cols.panels;
    return c->b_packed + (before + panel * (pieces(block_at(c, p), u->group) + u->start)) *
                             c->plan->widest->cols * u->element;
}

/* How many indices of k are packed for one panel before the next. Where unit stride runs across panels, a
 * few: panels then share the cache lines that are read. Else all k. */
static int64_t indices_at_once(const tsri_gemm_kernels *u, int64_t size, int64_t step, int64_t step_k,
                               int64_t k)
{
    const int64_t some = u->group < ROWS_AT_ONCE ? ROWS_AT_ONCE * u->group : u->group;
    return step == size && step_k != size && u->start == 0 ? least(k, some) : k;
}

/* Prefetches `count` runs of `bytes`. */
static void prefetch(const char *from, int64_t step, int64_t count, int64_t bytes)
{
    for (; count > 0; count--, from += step)
        for (int64_t at = 0; at < bytes; at += TSRI_CACHE_LINE) __builtin_prefetch(from + at);
}

static void pack_a(const chunk *c, int64_t begin, int64_t end, int64_t p)
{
    const tsri_gemm *g = c->plan->g;
    const tsri_gemm_kernels *u = g->kernels;
    const int64_t k = block_at(c, p),
                  some = indices_at_once(u, tsri_dtype_size(g->a_type), c->a.row, c->a.col, k);
    const int64_t first = row_of(c, begin), across = (row_of(c, end) - first) * c->a.row;
    for (int64_t q = 0; q < k; q += some) {
        if (q + some < k)
            prefetch(tsri_gemm_at(c->a, first, p + q + some).data, c->a.col, least(k - q - some, some),
                     across);
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
    const tsri_gemm_kernels *u = g->kernels;
    const int64_t k = block_at(c, p),
                  some = indices_at_once(u, tsri_dtype_size(g->b_type), c->b.col, c->b.row, k);
    for (int64_t q = 0; q < k; q += some)
        for (int64_t j = begin; j < end; j++) {
            const int64_t col = col_of(&c->cols, j), cols = col_of(&c->cols, j + 1) - col;
            const int64_t width = microkernels_for(u, cols, cols)->cols;
            u->right[g->b_type].pack(packed_b(c, j, p) + q / u->group * width * u->element,
                                     tsri_gemm_at(c->b, p + q, col).data, c->b.col, c->b.row, cols,
                                     least(k - q, some), (int)width);
        }
}

/* Groups of panels that a block of k has to pack: those of a come first, then those of b. */
static int64_t groups_of_a(const chunk *c) { return c->a_packed ? pieces(c->a_panels, c->pack_a) : 0; }
static int64_t groups_of_b(const chunk *c) { return c->b_packed ? pieces(c->cols.panels, c->pack_b) : 0; }

/* Two groups or more for each thread, if there are enough panels. */
static int64_t panels_of_group(int64_t panels, int64_t threads)
{
    return threads == 1 ? PACK_PANELS : most(1, least(PACK_PANELS, panels / (2 * threads)));
}

static tsr_status pack_groups(void *context, int64_t begin, int64_t end)
{
    const chunk *c = context;
    const int64_t of_a = groups_of_a(c), groups = of_a + groups_of_b(c);
    for (int64_t n = begin; n < end; n++) {
        const int64_t p = n / groups * block_of(c->plan->g->kernels), group = n % groups;
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
    return tsri_parallel_for(groups * pieces(c->k, block_of(c->plan->g->kernels)), 1, pack_groups, c);
}

/* Tiles ------------------------------------------------------------------------------------ */

/* Panels of a and of b. */
typedef struct tile {
    int64_t i, i_end, j, j_end;
} tile;

/* Panels of b whose part of a block of k stays in the core's L2 cache. */
static int64_t cached_panels(const plan *p)
{
    const tsri_gemm_kernels *u = p->g->kernels;
    const int64_t panel = p->widest->cols * pieces(least(block_of(u), p->g->k), u->group) * u->element;
    return least(most(1, tsri_cpu_resident_bytes() / panel), TILE_PANELS);
}

static int64_t sum_tile_bytes(const plan *p)
{
    return p->widest->rows * p->widest->cols * p->g->kernels->sum;
}

static char *sums_of(const chunk *c, int64_t i, int64_t j)
{
    return c->sums + (i * c->cols.panels + j) * sum_tile_bytes(c->plan);
}

/* Addresses and steps for one block of k; found once, because a short micro-kernel call takes no longer. */
typedef struct k_block {
    int64_t     p, k;       /* the first index; elements */
    const char *a, *b;      /* of the block, packed or not */
    int64_t     a_row;      /* from a row to the next; in a packed block, k elements */
    int64_t     b_panel;    /* from a packed panel of b to the next */
} k_block;

static k_block block_from(const chunk *c, int64_t p)
{
    const tsri_gemm_kernels *u = c->plan->g->kernels;
    k_block b = { .p = p, .k = pieces(block_at(c, p), u->group), .a = c->a.data + p * c->a.col,
                .b = c->b.data + p * c->b.row, .a_row = c->a.row };
    b.b_panel = (b.k + u->start) * c->plan->widest->cols * u->element;
    if (c->a_packed) b.a = packed_a(c, 0, p);
    if (c->a_packed) b.a_row = b.k * u->element;
    if (c->b_packed) b.b = packed_b(c, 0, p);
    return b;
}

/* A panel of b, and its micro-kernels. */
typedef struct b_panel {
    const tsri_gemm_microkernels *micro;
    const char *b;
    char       *z;  /* where its columns begin */
    int64_t     b_row, cols;
} b_panel;

static b_panel find_panel(const chunk *c, const k_block *b, int64_t j)
{
    const tsri_gemm_kernels *u = c->plan->g->kernels;
    const int64_t col = col_of(&c->cols, j), cols = col_of(&c->cols, j + 1) - col;
    b_panel p = { .micro = microkernels_for(u, cols, cols), .z = c->z.data + col * c->z.col, .cols = cols };
    p.b_row = c->b_packed ? p.micro->cols * u->element : c->b.row;
    p.b = b->b + (c->b_packed ? j * b->b_panel : col * c->b.col);
    return p;
}

/* How many panels from j on, and before `end`, have all columns; panel j does. Of the last two either may be
 * narrower, also the first of them only. */
static int64_t whole_panels(const chunk *c, int64_t j, int64_t end)
{
    int64_t whole_end = most(j + 1, least(end, c->cols.panels - 2));
    while (whole_end < end && col_of(&c->cols, whole_end + 1) - col_of(&c->cols, whole_end) == c->cols.width)
        whole_end++;
    return whole_end - j;
}

static void set_panel(tsri_gemm_strip *s, const b_panel *p)
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

/* What micro-kernels read for panel i of a: its rows, and their sums so far; or only where the rows begin,
 * for micro-kernels of `whole_rows`, which prefetch along them. */
static void list_panel(lines *l, const chunk *c, const tile *t, const k_block *b, int64_t i)
{
    const tsri_gemm_kernels *u = c->plan->g->kernels;
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

/* Sums of a micro-tile that are complete and wait to be stored. */
typedef struct ready {
    const char *sums;  /* NULL: none wait */
    int64_t     i, j;
} ready;

static void store_ready(const chunk *c, const ready *r)
{
    if (!r->sums) return;
    const plan *p = c->plan;
    const int64_t row = row_of(c, r->i), col = col_of(&c->cols, r->j);
    p->g->kernels->dtypes[p->g->z_type].store(
        tsri_gemm_at(c->z, row, col), tsri_gemm_at(c->c, row, col), r->sums, row_of(c, r->i + 1) - row,
        col_of(&c->cols, r->j + 1) - col, (int)p->widest->rows, (int)p->widest->cols, &p->g->scale);
}

/* Where the sums of a micro-tile go. If they are stored at once, two places alternate. */
static char *place_of(const chunk *c, const tile *t, const b_panel *panel, int64_t i, int64_t j)
{
    const bool second = ((i - t->i) * (t->j_end - t->j) + j - t->j) % 2 != 0;
    if (!c->sums) return panel->z + row_of(c, i) * c->z.row;
    if (!c->once) return sums_of(c, i, j);
    if (!second)  return sums_of(c, t->i, t->j);
    return t->j + 1 < t->j_end ? sums_of(c, t->i, t->j + 1) : sums_of(c, t->i + 1, t->j);
}

/* One block of k, panel by panel of a. While a panel of a is multiplied, what the next one reads is
 * prefetched, a share of it with each panel of b. Complete sums are stored after the next micro-tile is
 * computed: they are still in cache then, and the store need not wait for the last multiplications. */
static void sum_block(tsri_gemm_strip *s, const chunk *c, const tile *t, const k_block *b)
{
    const bool whole = c->sums && c->last && b->p + block_of(c->plan->g->kernels) >= c->k;
    const int64_t wide = t->j_end - t->j, element = c->plan->g->kernels->element;
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
            set_panel(s, &panels[j]);
            s->lines = least(share, ahead.n - j * share);
            s->ahead = s->lines > 0 ? ahead.at + j * share : NULL;
            s->z = place_of(c, t, &panels[j], i, t->j + j);
            panels[j].micro->run[rows](s);
            store_ready(c, &waiting);
            if (whole) waiting = (ready){ s->z, i, t->j + j };
        }
    }
    store_ready(c, &waiting);
    s->ahead = NULL;
}

static void sum_panels(tsri_gemm_strip *s, const chunk *c, const tile *t)
{
    for (int64_t p = 0; p < c->k; p += block_of(c->plan->g->kernels)) {
        const k_block b = block_from(c, p);
        sum_block(s, c, t, &b);
    }
}

/* A row of micro-tiles after the other: long runs of z are written in order. The z of the next micro-tile is
 * prefetched where k is short. */
static void sum_row_by_row(tsri_gemm_strip *s, const chunk *c, const tile *t)
{
    const k_block b = block_from(c, 0);
    begin_block(s, c, &b);
    s->prefetch_z = !s->stream && b.k <= tsri_gemm_tuning()->short_k;
    s->a_next = 0;
    for (int64_t i = t->i; i < t->i_end; i++) {
        const int64_t row = row_of(c, i), rows = row_of(c, i + 1) - row;
        for (int64_t j = t->j; j < t->j_end;) {
            const b_panel panel = find_panel(c, &b, j);
            const int64_t alike = panel.cols == c->cols.width ? whole_panels(c, j, t->j_end) : 1;
            set_panel(s, &panel);
            s->a = b.a + row * b.a_row;
            s->z = panel.z + row * c->z.row;
            s->z_next = panel.cols * c->z.col;
            s->b_next = panel.cols * c->b.col;
            run_strip(s, panel.micro, rows, alike);
            j += alike;
        }
    }
}

static void sum_unpacked(tsri_gemm_strip *s, const chunk *c, const tile *t)
{
    const int64_t first = row_of(c, t->i), count = row_of(c, t->i_end) - first;
    for (int64_t p = 0; p < c->k; p += block_of(c->plan->g->kernels)) {
        const k_block b = block_from(c, p);
        begin_block(s, c, &b);
        for (int64_t j = t->j; j < t->j_end; j++) {
            const b_panel panel = find_panel(c, &b, j);
            set_panel(s, &panel);
            s->a = b.a + first * b.a_row;
            s->z = panel.z + first * c->z.row;
            sum_rows(s, panel.micro, count);
        }
    }
}

/* After this, other threads see what non-temporal stores wrote. */
static void fence_stores(void)
{
#ifndef TSR_NO_THREADS
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static void sum_tile(const chunk *c, const tile *t)
{
    const plan *p = c->plan;
    const bool complex = p->g->cls == TSRI_GEMM_C64 || p->g->cls == TSRI_GEMM_C128;
    const int64_t part = complex ? p->g->kernels->sum / 2 : p->g->kernels->sum;
    tsri_gemm_strip s = { .a_row = c->a.row,
                          .a_col = c->a.col * p->g->kernels->group,
                          .padded = c->b_packed != NULL,
                          .z_row = c->sums ? p->widest->cols * part : c->z.row,
                          .z_im = p->widest->rows * p->widest->cols * part };
    s.stream = p->stream;
    if (p->g->kernels->begin) p->g->kernels->begin();
    if (c->a_packed || c->b_packed || c->sums) sum_panels(&s, c, t);
    else if (p->z_by_rows && c->cols.panels > 1) sum_row_by_row(&s, c, t);
    else sum_unpacked(&s, c, t);
    if (p->g->kernels->end) p->g->kernels->end();
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
    if (c->plan->stream) fence_stores();
    return TSR_OK;
}

/* Chunks ----------------------------------------------------------------------------------- */

static int64_t tiles_of(const chunk *c)
{
    return pieces(c->a_panels, c->tile_high) * pieces(c->cols.panels, c->tile_wide);
}

/* Tiles as large as stay in cache; for threads, smaller until there are enough. The longer side is halved:
 * what a tile reads grows with the sum of its sides. */
static void shape_tiles(chunk *c)
{
    const tsri_gemm_microkernels *micro = c->plan->widest;
    const int64_t threads = c->plan->threads;
    c->tile_high = least(c->a_panels, most(1, tsri_gemm_tuning()->tile_rows / micro->rows));
    c->tile_wide = least(c->cols.panels, c->plan->z_by_rows ? TILE_PANELS : cached_panels(c->plan));
    while (threads > 1 && tiles_of(c) < 2 * threads && c->tile_high * c->tile_wide > 1) {
        const bool cut_across = c->tile_wide > 1 && c->tile_wide * micro->cols >= c->tile_high * micro->rows;
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
    const int64_t grain = tsri_grain(TSRI_WORK_PRODUCT * (double)tile_work);
    return tsri_parallel_for(tiles_of(c), grain, multiply_tiles, c);
}

static int64_t packed_a_bytes(const plan *p, int64_t m, int64_t k)
{
    const int64_t bytes = m * pieces(k, p->g->kernels->group) * p->g->kernels->element;
    return p->pack_a ? (bytes + 63) & -64 : 0;
}

static int64_t packed_b_bytes(const plan *p, int64_t panels, int64_t k)
{
    const tsri_gemm_kernels *u = p->g->kernels;
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
    c.cols = cut_cols(g->kernels, p->widest, c.n);
    c.once = p->sums && g->k <= block_of(g->kernels);
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
    const int64_t size = g->kernels->element, group = g->kernels->group;
    if (g->kernels->whole_rows && g->a.col * group == size && g->k % group == 0) return false;
    if (g->kernels->packed_only || !g->kernels->dtypes[g->a_type].native) return true;
    if (g->a.col == size) return false;
    if (g->a.row != size) return true;
    const tsri_tuning_products *t = tsri_gemm_tuning();
    return g->n > t->small_n && g->m * g->k * size > t->cached_bytes;
}

static bool packs_b(const tsri_gemm *g)
{
    const int64_t size = g->kernels->element;
    if (g->kernels->packed_only || !g->kernels->right[g->b_type].native || g->b.col != size) return true;
    const tsri_tuning_products *t = tsri_gemm_tuning();
    if (g->m <= t->small_m) return false;
    /* Also where rows of b do not begin at cache lines, and are read often: each vector would take two
     * lines. */
    return g->k * g->n * size > t->cached_bytes ||
           (g->b.row % TSRI_CACHE_LINE != 0 && g->m > t->large_m && g->n > t->small_n);
}

bool tsri_gemm_packs_b_only(const tsri_gemm *g) { return !packs_a(g) && packs_b(g); }

static bool needs_sums(const tsri_gemm *g)
{
    if (g->kernels->writes && g->n % g->kernels->writes != 0) return true;
    return !g->kernels->dtypes[g->z_type].native || !g->scale.plain || g->z.col != g->kernels->sum;
}

bool tsri_gemm_is_small(const tsri_gemm *g, int64_t work)
{
    const int64_t sides = g->m | g->n | g->k;
    return sides < 1 << 16 && g->m * g->n * g->k < work && !packs_a(g) && !packs_b(g) && !needs_sums(g);
}

/* Are z and its rows aligned to `bytes`? */
static bool is_aligned(const tsri_gemm_matrix *z, int64_t bytes)
{
    return (((uintptr_t)z->data | (uintptr_t)z->row) & (uintptr_t)(bytes - 1)) == 0;
}

static bool streams(const plan *p)
{
    const tsri_gemm *g = p->g;
    const int64_t line = least(g->n, 16) * g->kernels->sum;
    return p->z_by_rows && g->kernels->streams && (line == 32 || line >= 64) &&
           is_aligned(&g->z, least(line, 64)) &&
           tsri_cpu_streams((g->m * g->k + g->k * g->n + g->m * g->n) * g->kernels->sum);
}

static bool has_many_threads(const plan *p) { return p->threads > tsri_gemm_tuning()->chunk_threads; }

/* Columns of a chunk: those of a tile, which is then packed into the cache that it is used from. More if many
 * threads wait for each chunk, or if a would be packed again for each. */
static int64_t chunk_cols(const plan *p)
{
    const int64_t width = p->widest->cols, near = cached_panels(p) * width;
    return p->pack_a || has_many_threads(p) ? most(near, tsri_gemm_tuning()->chunk / width * width) : near;
}

static int64_t chunk_blocks(const plan *p)
{
    return has_many_threads(p) ? tsri_gemm_tuning()->chunk_blocks : 1;
}

/* Rows of a chunk. Where micro-kernels are faster than memory, only so many that sums stay in cache from
 * block to block. */
static int64_t chunk_rows(const plan *p)
{
    const tsri_gemm *g = p->g;
    if (g->kernels->whole_rows && !has_many_threads(p) && g->k > block_of(g->kernels))
        return tsri_gemm_tuning()->cached_rows;
    return p->pack_a || p->sums ? tsri_gemm_tuning()->chunk : g->m;
}

static tsr_status multiply_with(plan *p)
{
    const int64_t b_bytes = p->g->k * p->g->n * p->g->kernels->element;
    p->z_by_rows = !p->pack_a && !p->pack_b && !p->sums && p->g->k <= TSRI_GEMM_BLOCK &&
                   b_bytes <= tsri_gemm_tuning()->cached_bytes;
    p->stream = streams(p);
    p->chunk_m = chunk_rows(p);
    p->chunk_n = p->pack_b || p->sums ? chunk_cols(p) : p->g->n;
    p->chunk_k = p->pack_a || p->pack_b ? chunk_blocks(p) * block_of(p->g->kernels) : p->g->k;
    const size_t bytes = scratch_bytes(p);
    if (bytes == 0) return multiply_in(p, NULL);
    return bytes <= STACK_BYTES ? multiply_on_stack(p) : multiply_on_heap(p, bytes);
}

tsr_status tsri_gemm_panels(const tsri_gemm *g)
{
    const int threads = tsri_threads_here();
    const int64_t small = threads == 1 ? tsri_gemm_tuning()->small_work : 2 * tsri_grain(TSRI_WORK_PRODUCT);
    if (tsri_gemm_is_small(g, small)) {
        tsri_gemm_small(g, 1, (const int64_t[]){ 0, 0, 0 });
        return TSR_OK;
    }
    plan p = {
        .g = g, .threads = threads, .pack_a = packs_a(g), .pack_b = packs_b(g), .sums = needs_sums(g)
    };
    p.widest = p.pack_a || p.pack_b || p.sums ? microkernels_for(g->kernels, g->n, g->kernels->panel)
                                              : unpacked_microkernels(g);
    return multiply_with(&p);
}
