/* draw.c - pictures for files. */
#include "plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../room.h"
#include "../text.h"

/* Width and height of a rows x columns matrix in a box, its cells square unless that is thin. */
static void fit(double *w, double *h, double most_w, double most_h, double rows, double columns)
{
    const double shape = rows / columns;
    *w = most_w;
    *h = most_w * shape;
    if (*h > most_h) {
        *h = most_h;
        *w = most_h / shape;
    }
    if (*w < most_w / 6) *w = most_w / 6;
    if (*h < most_h / 6) *h = most_h / 6;
}

canvas *draw_heat(const plot *p, const tiles *t)
{
    double w, h;
    fit(&w, &h, 560, 480, (double)t->m[0].full_rows, (double)t->m[0].full_columns);
    canvas *c = canvas_new(w + 160, h + 80);
    heat_draw(c, &t->m[0], p->low, p->high, 60, 40, w, h, p->title);
    heat_bar(c, p->low, p->high, 60 + w + 18, 40, 14, h);
    return c;
}

static void tile_title(char out[80], const tiles *t, int k, int lead)
{
    size_t used = (size_t)snprintf(out, 80, "[");
    for (int i = 0; i < lead && used < 80; i++)
        used += (size_t)snprintf(out + used, 80 - used, "%s%" PRId64, i ? ", " : "", t->lead[k][i]);
    if (used < 80) snprintf(out + used, 80 - used, "]");
}

canvas *draw_grid(const plot *p, const tiles *t)
{
    const int down = (t->count + t->across - 1) / t->across;
    double w, h;
    fit(&w, &h, 640.0 / t->across, 520.0 / down, (double)t->m[0].full_rows, (double)t->m[0].full_columns);
    const double width = t->across * (w + 12), height = down * (h + 24);
    canvas *c = canvas_new(width + 140, height + 60);
    canvas_text(c, 24, 24, 13, ANCHOR_LEFT, CHART_INK, p->title);
    for (int k = 0; k < t->count; k++) {
        const double x = 24 + k % t->across * (w + 12), y = 54 + k / t->across * (h + 24);
        char title[80];
        uint8_t *rgb = room_for(3 * (size_t)t->m[k].rows * (size_t)t->m[k].columns, 1);
        heat_colours(rgb, &t->m[k], p->low, p->high);
        canvas_image(c, x, y, w, h, t->m[k].rows, t->m[k].columns, rgb);
        free(rgb);
        tile_title(title, t, k, p->ndim - 2);
        canvas_text(c, x, y - 4, 9, ANCHOR_LEFT, CHART_INK, title);
    }
    heat_bar(c, p->low, p->high, 24 + width + 6, 54, 14, height - 24);
    return c;
}

/* A run of points that have numbers, as one path. */
static void draw_run(const chart *ch, const curve *v, int from, int to, uint32_t colour)
{
    double *xy = room_for(2 * (size_t)(to - from), sizeof *xy);
    double *ends = room_for(4 * (size_t)(to - from), sizeof *ends);
    int n = 0;
    for (int i = from; i < to; i++) {
        const double at = ((double)i + 0.5) * (double)v->length / v->points - 0.5, x = chart_x(ch, at);
        const double low = chart_y(ch, v->low[i]), high = chart_y(ch, v->high[i]);
        xy[2 * (i - from)] = x;
        xy[2 * (i - from) + 1] = chart_y(ch, v->mean[i]);
        if (low - high < 1) continue; /* the curve covers it */
        memcpy(ends + 4 * n++, (double[]){ x, low, x, high }, 4 * sizeof *ends);
    }
    if (n) canvas_segments(ch->c, n, ends, 0.4, colour);
    free(ends);
    if (to - from == 1) canvas_disc(ch->c, xy[0], xy[1], 1.5, colour);
    else                canvas_path(ch->c, to - from, xy, 1.4, colour);
    free(xy);
}

/* One line a curve, right of the chart. */
static void draw_legend(const chart *ch, int n)
{
    char text[32];
    for (int k = 0; k < n; k++) {
        const double x = ch->x + ch->w + 14, y = ch->y + 10 + 18 * k;
        canvas_line(ch->c, x, y, x + 16, y, 2, chart_colour(k));
        snprintf(text, sizeof text, "row %d", k);
        canvas_text(ch->c, x + 22, y + 3.5, 10, ANCHOR_LEFT, CHART_INK, text);
    }
}

canvas *draw_curves(const plot *p, int n, const curve *v)
{
    const double room = p->high > p->low ? (p->high - p->low) * 0.04 : 0.5;
    const double last = (double)v[0].length - 1;
    canvas *c = canvas_new(720, 420);
    const chart ch = { c,
                       70,
                       40,
                       n > 1 ? 560 : 620,
                       320,
                       { last > 0 ? 0 : -0.5, last > 0 ? last : 0.5, false, "index", false },
                       { p->low - room, p->high + room, false, "value", false } };
    chart_frame_with(&ch, p->title, CHART_WHOLE_ACROSS);
    if (n > 1) draw_legend(&ch, n);
    for (int k = 0; k < n; k++)
        for (int from = 0, to; from < v[k].points; from = to + 1) {
            for (to = from; to < v[k].points && v[k].counts[to]; to++) {}
            if (to > from) draw_run(&ch, &v[k], from, to, chart_colour(k));
        }
    return c;
}

canvas *draw_image(const plot *p, const image *m)
{
    double w, h;
    fit(&w, &h, 640, 520, m->rows, m->columns);
    canvas *c = canvas_new(w + 100, h + 80);
    const chart ch = { c, 60, 40, w, h, { -0.5, (double)p->shape[1] - 0.5, false, NULL, false },
                       { (double)p->shape[0] - 0.5, -0.5, false, NULL, false } };
    chart_frame_with(&ch, p->title, CHART_WHOLE_ACROSS | CHART_WHOLE_UP | CHART_NO_GRID);
    canvas_image(c, 60, 40, w, h, m->rows, m->columns, m->rgb);
    chart_border(&ch);
    return c;
}

canvas *draw_histogram(const plot *p, const summary *found)
{
    const histogram *b = &found->bars;
    int64_t most = 1;
    canvas *c = canvas_new(720, 420);
    for (int i = 0; i < b->bins; i++)
        if (b->count[i] > most) most = b->count[i];
    const bool widens = b->whole || b->low >= b->high; /* a bar for a number is around it */
    const double low = widens ? b->low - 0.5 : b->low, high = widens ? b->high + 0.5 : b->high;
    const chart ch = { c,
                       70,
                       40,
                       620,
                       320,
                       { low, high, false, "value", false },
                       { 0, (double)most * 1.05, false, "count", false } };
    chart_frame_with(&ch, p->title, CHART_WHOLE_UP | (b->whole ? CHART_WHOLE_ACROSS : 0));
    for (int i = 0; i < b->bins; i++) {
        const double x0 = ch.x + ch.w * i / b->bins, x1 = ch.x + ch.w * (i + 1) / b->bins,
                     y = chart_y(&ch, (double)b->count[i]);
        if (b->count[i])
            canvas_rect(c, x0 + 0.5, y, x1 - x0 - 1 > 0.5 ? x1 - x0 - 1 : 0.5, ch.y + ch.h - y,
                        chart_colour(0));
    }
    chart_border(&ch);
    return c;
}

enum { WORDS_MOST = 40, WORD_COLUMNS = 24 };

/* To be freed. */
static char *word_label(const char *text)
{
    char *word = printable_copy(text), *beginning = text_clip(word, WORD_COLUMNS);
    const bool whole = strlen(beginning) == strlen(word);
    char *label = text_of("%s%s", beginning, whole ? "" : "..");
    free(beginning);
    free(word);
    return label;
}

/* Left of the chart, row by row: the words of these bins. */
static void draw_words(const chart *ch, int n, const int *order, const char *const *words)
{
    for (int i = 0; i < n; i++) {
        char *word = word_label(words[order[i]]);
        canvas_text(ch->c, ch->x - 8, chart_y(ch, i) + 3.5, 10, ANCHOR_RIGHT, CHART_INK, word);
        free(word);
    }
}

canvas *draw_word_histogram(const plot *p, const summary *found, const char *const *words)
{
    const histogram *b = &found->bars;
    const char *const *first = words + (int64_t)b->low;
    const int n = b->bins < WORDS_MOST ? b->bins : WORDS_MOST;
    int order[HISTOGRAM_BINS];
    char title[400];
    double widest = 0;
    histogram_order(order, b);
    for (int i = 0; i < n; i++) {
        char *word = word_label(first[order[i]]);
        widest = fmax(widest, canvas_text_width(10, word));
        free(word);
    }
    const size_t used = (size_t)snprintf(title, sizeof title, "%s", p->title);
    if (n < b->bins)
        snprintf(title + used, sizeof title - used, ", the %d most frequent of %d words", n, b->bins);
    const double left = 30 + widest, height = 18.0 * n;
    canvas *c = canvas_new(720, height + 90);
    const chart ch = { c, left, 40, 690 - left, height,
                       { 0, (double)b->count[order[0]] * 1.05, false, "count", false },
                       { n - 0.5, -0.5, false, NULL, false } };
    chart_frame_with(&ch, title, CHART_WHOLE_ACROSS | CHART_BARE_UP);
    draw_words(&ch, n, order, first);
    for (int i = 0; i < n; i++)
        canvas_rect(c, ch.x, chart_y(&ch, i) - 7, chart_x(&ch, (double)b->count[order[i]]) - ch.x, 14,
                    chart_colour(0));
    chart_border(&ch);
    return c;
}
