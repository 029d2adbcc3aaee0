/* panels.h - what products in panels, small ones and those of few rows share: how columns are cut into
 * panels, which micro-kernels compute them, blocks of k, and strips of micro-tiles. */
#ifndef TSRI_GEMM_PANELS_H
#define TSRI_GEMM_PANELS_H

#include "core/sizes.h"
#include "gemm.h"

/* Columns ---------------------------------------------------------------------------------- */

/* How n columns are cut into panels of b: all are `width` wide, except that a last panel of no more than
 * `share` columns takes `share` columns from the one before it. That one then has width - share columns, and
 * the last has up to 2 * share, which may be all of `width`. */
typedef struct cut {
    int64_t n, panels, width, share;
} cut;

static inline int64_t col_of(const cut *c, int64_t panel)
{
    const int64_t even = panel * c->width;
    if (panel == c->panels) return c->n;
    return panel + 1 == c->panels && panel > 0 && c->n - even <= c->share ? even - c->share : even;
}

/* The narrowest micro-kernels for panels of n columns, but no wider than `widest`. */
static inline const tsri_gemm_microkernels *microkernels_for(const tsri_gemm_kernels *u, int64_t n,
                                                             int64_t widest)
{
    const tsri_gemm_microkernels *s = u->microkernels;
    while (s->cols < n && s->cols < widest) s++;
    return s;
}

static inline cut cut_cols(const tsri_gemm_kernels *u, const tsri_gemm_microkernels *widest, int64_t n)
{
    const int64_t less = widest > u->microkernels ? widest[-1].cols : widest->cols;
    return (cut){ n, n <= widest->cols ? 1 : pieces(n, widest->cols), widest->cols, widest->cols - less };
}

/* The micro-kernels for unpacked panels of b: the widest, if the last panel fills them. */
static inline const tsri_gemm_microkernels *unpacked_microkernels(const tsri_gemm *g)
{
    const tsri_gemm_microkernels *s = microkernels_for(g->kernels, g->n, g->kernels->panel);
    if (g->n <= s->cols) return s;
    if (s[1].cols == 0) {
        /* Where b is read many times and not from the nearest cache, rather those nearly as wide with more
         * rows. */
        const bool low = s > g->kernels->microkernels && 2 * s[-1].cols > s->cols;
        const tsri_tuning_products *t = tsri_gemm_tuning();
        return low && g->k <= t->short_k && g->m > t->small_m && g->n > t->small_n ? s - 1 : s;
    }
    const int64_t rest = g->n % s[1].cols;
    return rest == 0 || rest > s->cols ? s + 1 : s;
}

/* Indices of k of one call of a micro-kernel. */
static inline int64_t block_of(const tsri_gemm_kernels *u)
{
    return u->block ? u->block : TSRI_GEMM_BLOCK * u->group;
}

/* Strips ----------------------------------------------------------------------------------- */

/* `count` micro-tiles, one at least: at once where the micro-kernel can, else one by one. */
static inline void run_strip(tsri_gemm_strip *s, const tsri_gemm_microkernels *micro, int64_t rows,
                             int64_t count)
{
    if (rows == micro->rows || rows == 8) {
        s->more = count - 1;
        micro->run[rows](s);
        return;
    }
    for (; count > 1; count--, s->z += s->z_next, s->a += s->a_next, s->b += s->b_next) micro->run[rows](s);
    micro->run[rows](s);
}

/* `count` rows of unpacked a and z: micro-tiles of as many rows as there can be, then the rows that are
 * left. */
static inline void sum_rows(tsri_gemm_strip *s, const tsri_gemm_microkernels *micro, int64_t count)
{
    const int64_t rows = micro->rows;
    if (count >= rows) {
        const int64_t whole = count / rows;
        s->a_next = rows * s->a_row;
        s->z_next = rows * s->z_row;
        s->b_next = 0;
        run_strip(s, micro, rows, whole);
        count -= whole * rows;
        s->a += s->a_next;
        s->z += s->z_next;
    }
    if (count > 0) micro->run[count](s);
}

#endif
