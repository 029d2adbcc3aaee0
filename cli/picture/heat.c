#include "heat.h"

#include <math.h>
#include <stdlib.h>

enum { NO_NUMBER = 0xbbbbbb, BAR = 128 };

static void put_colour(uint8_t *rgb, uint32_t colour)
{
    rgb[0] = (uint8_t)(colour >> 16);
    rgb[1] = (uint8_t)(colour >> 8);
    rgb[2] = (uint8_t)colour;
}

/* Infinities are off the scale at its ends. */
static double place(double x, double low, double high)
{
    if (isinf(x)) return x > 0 ? 1 : 0;
    return high > low ? (x / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
}

void heat_colours(uint8_t *rgb, const matrix *m, double low, double high)
{
    for (int64_t i = 0; i < (int64_t)m->rows * m->columns; i++)
        put_colour(rgb + 3 * i,
                   isnan(m->cells[i]) ? NO_NUMBER : chart_viridis(place(m->cells[i], low, high)));
}

void heat_draw(canvas *c, const matrix *m, double low, double high, double x, double y, double w, double h,
               const char *title)
{
    const chart ch = { c, x, y, w, h, { -0.5, (double)m->full_columns - 0.5, false, "column", false },
                       { (double)m->full_rows - 0.5, -0.5, false, "row", false } };
    uint8_t *rgb = malloc(3 * (size_t)m->rows * (size_t)m->columns + 1);
    chart_frame_with(&ch, title, CHART_WHOLE_ACROSS | CHART_WHOLE_UP | CHART_NO_GRID);
    if (rgb) heat_colours(rgb, m, low, high);
    if (rgb) canvas_image(c, x, y, w, h, m->rows, m->columns, rgb);
    chart_border(&ch);
    free(rgb);
}

static void bar_tick(const chart *ch, double value, double y)
{
    char text[32];
    const double x = ch->x + ch->w;
    canvas_line(ch->c, x, y, x + 4, y, 0.8, CHART_INK);
    chart_number(text, sizeof text, value);
    canvas_text(ch->c, x + 7, y + 3.5, 10, ANCHOR_LEFT, CHART_INK, text);
}

void heat_bar(canvas *c, double low, double high, double x, double y, double w, double h)
{
    const chart ch = { c, x, y, w, h, { 0, 1, false, NULL, false }, { low, high, false, NULL, false } };
    uint8_t rgb[3 * BAR];
    for (int i = 0; i < BAR; i++) put_colour(rgb + 3 * i, chart_viridis(1 - (i + 0.5) / BAR));
    canvas_image(c, x, y, w, h, BAR, 1, rgb);
    const double step = chart_step(high - low, 5);
    if (step == 0) bar_tick(&ch, low, y + h / 2);
    for (double i = ceil(low / step - 1e-9); step > 0 && i * step <= high + 1e-9 * step; i++)
        bar_tick(&ch, i * step + 0.0, chart_y(&ch, i * step));
    chart_border(&ch);
}
