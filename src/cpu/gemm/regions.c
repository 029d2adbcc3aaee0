/* regions.c - a product for threads: regions of z, each a product of its own.
 *
 * The thread that computes a region packs the columns of b that it reads into its own core's cache, and waits
 * for no other thread. The cost: regions with the same columns pack them again. The grid of regions is the
 * one with the least estimated time. Products of many rows, with few columns for each thread, share packed
 * panels instead (panels.c): there the wait for them is short. Tile registers (`whole_rows`) always take
 * regions: they are faster than panels arrive from another core's cache. */
#include "gemm.h"
#include "core/sizes.h"
#include "core/threads_int.h"

enum {
    LEAST_PARTS = 4,       /* of each thread, that are worth waking one for */
    MOST_DOWN = 16,        /* regions along m */
    MOST_ROUNDS = TSRI_PARTS_PER_THREAD
};

typedef struct grid {
    const tsri_gemm *g;
    int64_t high, wide; /* units of a region's sides: rows of a micro-tile, columns of a panel */
    int64_t          rows, cols;        /* of z, in units */
    int64_t          down, across;      /* regions */
} grid;

/* The estimated time of a grid. At the end threads wait for the last region: the fewer regions each has
 * computed, the larger that share of the time. */
static double time_of(const grid *r, int64_t down, int64_t across, int64_t threads)
{
    const tsri_gemm *g = r->g;
    const tsri_tuning_products *t = tsri_gemm_tuning();
    const double m = (double)(pieces(r->rows, down) * r->high),
                 n = (double)(pieces(r->cols, across) * r->wide);
    const double each = (double)g->k * (m * n + (double)t->read_cost * m + (double)t->pack_cost * n) +
                        (double)t->region_cost;
    return ((double)pieces(down * across, threads) + 1.0 / 16) * each;
}

static void find_grid(grid *r, int64_t threads)
{
    double best = time_of(r, 1, 1, threads);
    r->down = r->across = 1;
    for (int64_t down = 1; down <= least(least(threads, MOST_DOWN), r->rows); down++)
        for (int64_t rounds = 1; rounds <= MOST_ROUNDS; rounds++) {
            const int64_t across = least(r->cols, rounds * threads / down);
            const double time = time_of(r, down, across, threads);
            if (time >= best) continue;
            best = time;
            r->down = down;
            r->across = across;
        }
}

static tsr_status multiply_regions(void *context, int64_t begin, int64_t end)
{
    const grid *r = context;
    for (int64_t n = begin; n < end; n++) {
        const int64_t down = n % r->down, across = n / r->down;
        const int64_t i = r->rows * down / r->down * r->high, j = r->cols * across / r->across * r->wide;
        tsri_gemm g = *r->g;
        g.m = least(r->rows * (down + 1) / r->down * r->high, g.m) - i;
        g.n = least(r->cols * (across + 1) / r->across * r->wide, g.n) - j;
        g.a = tsri_gemm_at(g.a, i, 0);
        g.b = tsri_gemm_at(g.b, 0, j);
        g.c = tsri_gemm_at(g.c, i, j);
        g.z = tsri_gemm_at(g.z, i, j);
        const tsr_status s = tsri_gemm_panels(&g);
        if (s != TSR_OK) return s;
    }
    return TSR_OK;
}

tsr_status tsri_gemm_regions(const tsri_gemm *g)
{
    const int64_t threads = tsri_threads_here();
    const double work = (double)g->m * (double)g->n * (double)g->k;
    const double least_work = LEAST_PARTS * (double)tsri_grain(TSRI_WORK_PRODUCT);
    const tsri_tuning_products *t = tsri_gemm_tuning();
    const bool suits = g->kernels->whole_rows || g->m <= t->region_m || g->n / t->region_n >= threads;
    if (threads == 1 || !suits || work < least_work * (double)threads || !tsri_gemm_packs_b_only(g))
        return tsri_gemm_panels(g);
    const tsri_gemm_microkernels *micro = g->kernels->microkernels;
    while (micro->cols < g->kernels->panel) micro++;
    grid r = { .g = g, .high = micro->rows, .wide = micro->cols };
    r.rows = pieces(g->m, r.high);
    r.cols = pieces(g->n, r.wide);
    find_grid(&r, threads);
    if (r.down * r.across == 1) return tsri_gemm_panels(g);
    return tsri_parallel_for(r.down * r.across, 1, multiply_regions, &r);
}
