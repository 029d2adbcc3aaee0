/* plan_copy.c - copies; see plan.h.
 *
 * What matters on a GPU is that a warp's accesses fall into few lines of memory on both sides.
 * Runs that lie on both sides are moved as words; a permutation goes through a tile that is read
 * in runs of src and written in runs of dst. */
#include "plan.h"

enum {
    SIDE = 64,               /* elements of a tile along each side */
    TILE = 4096,             /* elements of a tile, where a side is shorter than that */
    MOST = 1024,             /* elements of the other side then */
    SHARED = 48 << 10,       /* bytes of shared memory that every block may have */
    SECTOR = 32,             /* bytes that memory moves at once */
    SHORT_RUN = 4096         /* bytes; longer runs need no tiles */
};

static int64_t inner_step(const tsr_loop *l, int operand) { return l->step[l->ndim - 1][operand]; }

/* Runs ------------------------------------------------------------------------------------- */

/* The widest word that all runs consist of, aligned. */
static int widest(const tsr_loop *l, int size)
{
    const int inner = l->ndim - 1;
    int64_t bits = l->n[inner] * size | (int64_t)(uintptr_t)l->data[0] | (int64_t)(uintptr_t)l->data[1];
    for (int d = 0; d < inner; d++) bits |= l->step[d][0] | l->step[d][1];
    int width = 16;
    while (width > size && bits % width) width /= 2;
    return width;
}

static void plan_flat(tsrc_copy *c, const tsr_loop *l, int size)
{
    c->kind = TSRC_COPY_FLAT;
    c->bytes = (uint64_t)(l->n[0] * size);
    /* A tail is moved byte by byte: only the addresses limit the width. */
    c->width = 16;
    while (c->width > size && ((uintptr_t)c->dst | (uintptr_t)c->src) % (uintptr_t)c->width) c->width /= 2;
    c->blocks = tsrc_blocks(c->bytes / (uint64_t)c->width + 1, TSRC_THREADS);
}

/* The outer dim whose neighbours lie closest in src. */
static int closest_in_src(const tsr_loop *l)
{
    int best = 0;
    for (int d = 1; d < l->ndim - 1; d++) {
        const int64_t a = l->step[d][1] < 0 ? -l->step[d][1] : l->step[d][1];
        const int64_t b = l->step[best][1] < 0 ? -l->step[best][1] : l->step[best][1];
        if (a != 0 && (a < b || b == 0)) best = d;
    }
    return best;
}

static uint32_t at_most(int64_t n, uint32_t most) { return n < (int64_t)most ? (uint32_t)n : most; }

static uint32_t root_of(uint32_t n)
{
    uint32_t r = 1;
    while (r * r < n) r++;
    return r;
}

/* Tiles of runs: as many as fit of the dim that is next in src, and of the one next in dst. Runs that share
 * sectors with their neighbours have these in the tile on both sides. */
static void plan_run_tiles(tsrc_copy *c, const tsr_loop *l, int near_src, int near_dst)
{
    tsrc_runs *r = &c->as.runs;
    const int dims[2] = { near_src, near_dst };
    const uint32_t room = TSRC_THREADS * tsrc_words(c->width) / r->run;
    const bool shares = r->run * (uint32_t)c->width % SECTOR != 0;
    r->tile[0] = at_most(l->n[near_src], shares ? root_of(room) : room);
    r->tile[1] = at_most(l->n[near_dst], room / r->tile[0] ? room / r->tile[0] : 1);
    for (int i = 0; i < 2; i++) {
        r->size[i] = (uint32_t)l->n[dims[i]];
        r->tiles[i] = tsrc_blocks(r->size[i], r->tile[i]);
        for (int o = 0; o < 2; o++) r->step[i][o] = l->step[dims[i]][o];
    }
    r->by_tile = tsrc_div_by(r->run * r->tile[0]);
    tsrc_place_of(&r->outer, l, 1u << near_src | 1u << near_dst | 1u << (l->ndim - 1));
    c->kind = TSRC_COPY_RUNS;
    c->blocks = r->outer.count * r->tiles[0] * r->tiles[1];
}

static void plan_runs(tsrc_copy *c, const tsr_loop *l, int size)
{
    tsrc_runs *r = &c->as.runs;
    const int inner = l->ndim - 1;
    const int64_t bytes = l->n[inner] * size;
    c->width = widest(l, size);
    r->run = (uint32_t)(bytes / c->width);
    r->by_run = tsrc_div_by(r->run);
    const int near_src = closest_in_src(l), near_dst = inner - 1;
    if (inner > 1 && near_src != near_dst && bytes < SHORT_RUN && bytes >= SECTOR &&
        r->run <= TSRC_THREADS * tsrc_words(c->width) / 2) {
        plan_run_tiles(c, l, near_src, near_dst);
        return;
    }
    c->kind = TSRC_COPY_ROWS;
    tsrc_place_of(&r->outer, l, 1u << inner);
    r->total = r->run * r->outer.count;
    c->blocks = tsrc_blocks(r->total, TSRC_THREADS);
}

/* Transposes --------------------------------------------------------------------------------- */

/* Elements along the sides of a tile that the kernels for transposes have. */
static int wide_side(int size) { return size == 1 ? 128 : 64; }

static bool plan_wide(tsrc_copy *c, const tsr_loop *l, int size)
{
    tsrc_wide *w = &c->as.wide;
    const int b = l->ndim - 1, side = wide_side(size), words = size == 1 ? 4 : size == 2 ? 4 : 16;
    int a = -1;
    if (size > 4 || l->step[b][0] != size) return false;
    for (int d = 0; d < b; d++)
        if (l->step[d][1] == size) a = d;
    if (a < 0 || l->n[a] < side || l->n[b] < side / 2) return false;
    for (int d = 0; d <= b; d++) {
        if (d != a && l->step[d][1] % words) return false;
        if (d != b && l->step[d][0] % words) return false;
    }
    if (((uintptr_t)c->dst | (uintptr_t)c->src) % 16) return false;
    tsrc_place_of(&w->outer, l, 1u << a | 1u << b);
    w->na = l->n[a];
    w->nb = l->n[b];
    w->src_b = l->step[b][1];
    w->dst_a = l->step[a][0];
    w->tiles_a = tsrc_blocks((uint64_t)w->na, (uint32_t)side);
    w->tiles_b = tsrc_blocks((uint64_t)w->nb, (uint32_t)side);
    c->kind = TSRC_COPY_WIDE;
    c->width = size;
    c->blocks = w->outer.count * w->tiles_a * w->tiles_b;
    return true;
}

/* Adds a dim to a side, or as much of it as is wanted, rounded up. True: all of it. */
static bool add_to_side(tsrc_side *s, const tsr_loop *l, int d, int operand, uint32_t want)
{
    uint32_t take = (uint32_t)l->n[d];
    if ((uint64_t)s->count * take > want) take = (want + s->count - 1) / s->count;
    s->n[s->nd] = tsrc_div_by(take);
    s->step[s->nd++] = l->step[d][operand];
    s->count *= take;
    s->chunk = take;
    s->rest = (uint32_t)l->n[d];
    s->chunks = tsrc_blocks(s->rest, take);
    for (int o = 0; o < 2; o++) s->to_next[o] = (int64_t)take * l->step[d][o];
    return take == (uint32_t)l->n[d];
}

/* The dims that follow each other in an operand's memory from its element on, until `want`. */
static uint32_t plan_side(tsrc_side *s, const tsr_loop *l, int operand, int size, uint32_t not_these,
                          uint32_t want)
{
    uint32_t used = 0;
    int64_t expect = size;
    s->nd = 0;
    s->count = 1;
    for (bool more = true; more && s->count < want;) {
        int next = -1;
        for (int d = 0; d < l->ndim; d++)
            if (!((not_these | used) >> d & 1) && l->step[d][operand] == expect) next = d;
        if (next < 0) break;
        used |= 1u << next;
        expect *= l->n[next];
        more = add_to_side(s, l, next, 1 - operand, want);
    }
    s->by_count = tsrc_div_by(s->count);
    return used;
}

static uint32_t clamp(uint32_t v, uint32_t low, uint32_t high) { return v < low ? low : v > high ? high : v; }

static bool plan_tile(tsrc_copy *c, const tsr_loop *l, int size)
{
    tsrc_tile *t = &c->as.tile;
    const uint32_t side = size <= 4 ? SIDE : SIDE / 2, room = size <= 4 ? TILE : TILE / 4;
    uint32_t used_a = plan_side(&t->a, l, 1, size, 1u << (l->ndim - 1), side);
    if (used_a == 0) return false;
    /* A short side leaves room for the other. */
    const uint32_t used_b = plan_side(&t->b, l, 0, size, used_a, clamp(room / t->a.count, side, MOST));
    if (used_b == 0) return false;
    if (t->b.count < side)
        used_a = plan_side(&t->a, l, 1, size, used_b, clamp(room / t->b.count, side, MOST));
    t->pitch = t->a.count | 1;
    const uint64_t shared = ((uint64_t)t->pitch * t->b.count * (uint32_t)size + 15) / 16 * 16 +
                            8 * ((uint64_t)t->a.count + t->b.count);
    if (shared > SHARED || t->a.count < 2 || t->b.count < 2) return false;
    tsrc_place_of(&t->outer, l, used_a | used_b);
    c->kind = TSRC_COPY_TILE;
    c->width = size;
    c->blocks = t->outer.count * t->a.chunks * t->b.chunks;
    c->shared = (uint32_t)shared;
    return true;
}

void tsrc_copy_of(tsrc_copy *c, const tsr_loop *l, int size)
{
    const int sizes[2] = { size, size };
    const int inner = l->ndim - 1;
    c->dst = l->data[0];
    c->src = l->data[1];
    c->width = size;
    c->shared = 0;
    c->kind = TSRC_COPY_NOTHING;
    if (tsrc_count(l) == 0) return;
    const bool runs = inner >= 0 && inner_step(l, 0) == size && inner_step(l, 1) == size;
    if (runs && inner == 0)
        plan_flat(c, l, size);
    else if (runs && l->n[inner] * size >= 8)
        plan_runs(c, l, size);
    else if (inner > 0 && (plan_wide(c, l, size) || plan_tile(c, l, size)))
        return;
    else {
        c->kind = TSRC_COPY_EACH;
        tsrc_nest_of(&c->as.nest, l, sizes, 1);
        c->blocks = tsrc_blocks(c->as.nest.total, TSRC_THREADS * 4);
    }
}
