/* panels.h - what products in panels and small ones share: how columns are cut, which strips they take, and
 * strips that follow each other. */
#ifndef TSRI_GEMM_PANELS_H
#define TSRI_GEMM_PANELS_H

#include "gemm.h"

enum {
    PART_WORK = 1 << 17,      /* products that make a thread worth waking */
    FEW_ROWS = 64,            /* that do not pay for packing b */
    FEW_COLS = 192,           /* that do not pay for packing a */
    FAR_K = 64                /* indices of k of strips that are shorter than it takes to fetch z */
};

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t pieces(int64_t n, int64_t size) { return (n + size - 1) / size; }

/* Columns ---------------------------------------------------------------------------------- */

/* How n columns are cut into panels of b: all `width` wide, but for the last two, which
 * share where the last would have no more than `share` columns. Then the last but one has width - share
 * columns, and the last up to 2 * share, which may be all of `width`. */
typedef struct cut {
    int64_t n, panels, width, share;
} cut;

static inline int64_t col_of(const cut *c, int64_t panel)
{
    const int64_t even = panel * c->width;
    if (panel == c->panels) return c->n;
    return panel + 1 == c->panels && panel > 0 && c->n - even <= c->share ? even - c->share : even;
}

/* Strips for panels of n columns, or of as many as the widest have. */
static inline const tsri_gemm_strips *strips_for(const tsri_gemm_ukr *u, int64_t n, int64_t widest)
{
    const tsri_gemm_strips *s = u->strips;
    while (s->cols < n && s->cols < widest) s++;
    return s;
}

static inline cut cut_cols(const tsri_gemm_ukr *u, const tsri_gemm_strips *widest, int64_t n)
{
    const int64_t less = widest > u->strips ? widest[-1].cols : widest->cols;
    return (cut){ n, n <= widest->cols ? 1 : pieces(n, widest->cols), widest->cols, widest->cols - less };
}

/* The strips for panels that lie as they are: the widest, if the last panel fills them. */
static inline const tsri_gemm_strips *direct_strips(const tsri_gemm *g)
{
    const tsri_gemm_strips *s = strips_for(g->ukr, g->n, g->ukr->panel);
    if (g->n <= s->cols) return s;
    if (s[1].cols == 0) {
        /* Where b is read from afar again and again, rather those that are nearly as wide, and higher. */
        const bool low = s > g->ukr->strips && 2 * s[-1].cols > s->cols;
        return low && g->k <= FAR_K && g->m > FEW_ROWS && g->n > FEW_COLS ? s - 1 : s;
    }
    const int64_t rest = g->n % s[1].cols;
    return rest == 0 || rest > s->cols ? s + 1 : s;
}

/* Strips that follow each other ------------------------------------------------------------ */

/* A strip and those that follow it: `count`, one at least. */
static inline void sum_alike(tsri_gemm_strip *s, const tsri_gemm_strips *strips, int64_t rows, int64_t count)
{
    if (rows == strips->rows || rows == 8) {
        s->more = count - 1;
        strips->run[rows](s);
        return;
    }
    for (; count > 1; count--, s->z += s->z_next, s->a += s->a_next, s->b += s->b_next) strips->run[rows](s);
    strips->run[rows](s);
}

/* `count` rows of a and z as they lie: in strips as high as there are, and what is left. */
static inline void sum_rows(tsri_gemm_strip *s, const tsri_gemm_strips *strips, int64_t count)
{
    const int64_t rows = strips->rows;
    if (count >= rows) {
        const int64_t whole = count / rows;
        s->a_next = rows * s->a_row;
        s->z_next = rows * s->z_row;
        s->b_next = 0;
        sum_alike(s, strips, rows, whole);
        count -= whole * rows;
        s->a += s->a_next;
        s->z += s->z_next;
    }
    if (count > 0) strips->run[count](s);
}

#endif
