/* print.c - pictures for terminals. */
#include "plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../blocks.h"
#include "../room.h"

/* A dot for each column, joined up and down to the one before. */
static void dot_curve(const plot *p, dots *d, const curve *v)
{
    const int height = d->lines * d->down;
    int before = -1;
    for (int i = 0; i < v->points; i++) {
        if (!v->counts[i]) {
            before = -1;
            continue;
        }
        const double span = p->high > p->low ? p->high - p->low : 1;
        const int x = v->points > 1 ? (int)((int64_t)i * (d->columns * d->across - 1) / (v->points - 1)) : 0;
        const int top = (int)lround((p->high - v->high[i]) / span * (height - 1));
        const int bottom = (int)lround((p->high - v->low[i]) / span * (height - 1));
        for (int y = top; y <= bottom; y++) dots_set(d, x, y);
        for (int y = before; before >= 0 && y != bottom; y += y < bottom ? 1 : -1) dots_set(d, x, y);
        before = bottom;
    }
}

void print_curves(const plot *p, int n, const curve *v, int width)
{
    const int lines = terminal_height() > 24 ? 18 : 14;
    dots d = dots_new(width - 12, lines, n, chart_colour);
    puts(p->title);
    for (d.curve = 0; d.curve < n; d.curve++) dot_curve(p, &d, &v[d.curve]);
    for (int i = 0; i < lines; i++) {
        char label[32] = "";
        if (i == 0)              chart_number(label, sizeof label, p->high);
        else if (i == lines - 1) chart_number(label, sizeof label, p->low);
        printf("%10.10s |", label);
        dots_print_line(&d, i);
        putchar('\n');
    }
    printf("%10s 0%*" PRId64 "\n", "", width - 13, v[0].length - 1);
    if (n > 1) printf("%12s", "");
    if (n > 1) dots_print_legend(&d);
    dots_free(&d);
}

/* Cells of k x k characters' halves, so that small matrices can be seen. */
static int enlargement(int rows, int columns, int most_rows, int most_columns)
{
    int k = 1;
    while (k < 12 && (k + 1) * columns <= most_columns && (k + 1) * rows <= most_rows &&
           (k + 1) * columns <= 64)
        k++;
    return k;
}

static void copy_enlarged(uint8_t *to, int width, const uint8_t *from, int rows, int columns, int k)
{
    for (int y = 0; y < rows * k; y++)
        for (int x = 0; x < columns * k; x++)
            memcpy(to + 3 * (y * width + x), from + 3 * (y / k * columns + x / k), 3);
}

/* Tiles side by side with a gap of the background. */
void print_tiles(const plot *p, const tiles *t, int width)
{
    const int down = (t->count + t->across - 1) / t->across, gap = t->count > 1 ? 2 : 0;
    const int rows = t->m[0].rows, columns = t->m[0].columns;
    const int k = enlargement(rows, columns, 2 * (terminal_height() - 4) / down, width / t->across);
    const int wide = t->across * (columns * k + gap) - gap, high = down * (rows * k + gap) - gap;
    uint8_t *all = room_for(3 * (size_t)wide * (size_t)high, 1),
            *one = room_for(3 * (size_t)rows * (size_t)columns, 1);
    char low[32], top[32];
    for (int i = 0; i < t->count; i++) {
        heat_colours(one, &t->m[i], p->low, p->high);
        const int x = i % t->across * (columns * k + gap), y = i / t->across * (rows * k + gap);
        copy_enlarged(all + 3 * (y * wide + x), wide, one, rows, columns, k);
    }
    puts(p->title);
    blocks_print(high, wide, all);
    chart_number(low, sizeof low, p->low);
    chart_number(top, sizeof top, p->high);
    printf("%s ", low);
    blocks_print_scale(24, chart_viridis);
    printf(" %s\n", top);
    free(one);
    free(all);
}
