/* plot.h - pictures of tensors: what tsr plot gathers and draws.
 *
 * What is drawn is gathered first, piece by piece, into something of the size of the picture:
 * matrices whose cells are means, curves whose points are means and extremes, images whose pixels
 * are means. Then it is drawn, on a canvas for a file or with characters for a terminal.
 */
#ifndef TSR_CLI_PLOT_H
#define TSR_CLI_PLOT_H

#include "../picture/heat.h"
#include "../source.h"
#include "../summary.h"
#include "../terminal.h"

enum { TILES_MOST = 36, SERIES_MOST = 8 };

typedef enum kind { AUTO, HEAT, IMAGE, HISTOGRAM, LINE, GRID } kind;

typedef struct request {
    bool        json, force;
    const char *out, *to, *kind_text, *low_text, *high_text, *bins, *title;
    kind        kind;
    double      low, high;
    reading     how;
} request;

/* What is drawn, and from where. */
typedef struct plot {
    const request *r;
    source        *s;
    int64_t        index;
    cut            c;                  /* with dims of size 1 for indices */
    int            ndim, axis[TSR_MAX_NDIM];  /* dims that are left, as axes of the cut */
    int64_t        shape[TSR_MAX_NDIM];
    kind           kind;
    double         low, high;
    char           title[300];
    progress       p;
    double         done, total;
} plot;

/* Points of a curve: the mean, and how far the numbers of each reach. */
typedef struct curve {
    int     points;
    int64_t length;
    double *mean, *low, *high;
    int64_t *counts;
} curve;

/* Bytes of red, green and blue: (rows, columns, 3), each the mean of as many of the tensor's. */
typedef struct image {
    int      rows, columns;
    uint8_t *rgb;
} image;

/* Matrices beside each other; one for a tensor of two dims. */
typedef struct tiles {
    int     count, across;
    int64_t all;                        /* of which `count` are drawn */
    matrix  m[TILES_MOST];
    int64_t lead[TILES_MOST][TSR_MAX_NDIM];
} tiles;

/* gather.c: reading. Returns false, or NULL, after a complaint; the range of what was found, or
 * the one that was asked for, is p->low .. p->high. ------------------------------------------- */

/* One matrix of a rank-2 tensor, the first few of any other. */
tiles *gather_tiles(plot *p, int most_rows, int most_columns);
void   free_tiles(tiles *t);

/* A vector, or row `row` of a matrix; then the range of n of them. */
bool gather_curve(plot *p, curve *out, int64_t row, int most);
void range_of_curves(plot *p, int n, const curve *v);
void free_curve(curve *v);

/* (height, width) or (height, width, channels). rgb is to be freed either way. */
bool gather_image(plot *p, image *out, int most_rows, int most_columns);

/* draw.c: on a canvas, which is the caller's; NULL if there is no memory. ---------------------- */

canvas *draw_heat(const plot *p, const tiles *t);
canvas *draw_grid(const plot *p, const tiles *t);
canvas *draw_curves(const plot *p, int n, const curve *v);
canvas *draw_image(const plot *p, const image *m);
canvas *draw_histogram(const plot *p, const summary *found);

/* Of codes of these words: a bar for each, the most frequent first. */
canvas *draw_word_histogram(const plot *p, const summary *found, const char *const *words);

/* print.c: with characters on stdout. ---------------------------------------------------------- */

void print_tiles(const plot *p, const tiles *t, int width);
void print_curves(const plot *p, int n, const curve *v, int width);

#endif
