/* chart.h - a frame with axes, into which a caller draws data. */
#ifndef CLI_CHART_H
#define CLI_CHART_H

#include "canvas.h"

typedef struct axis {
    double      from, to;
    bool        log;      /* both ends above 0 */
    const char *label;    /* may be NULL */
    bool        bytes;    /* numbers are amounts of bytes: 64 KB */
} axis;

/* The rectangle that data is drawn into; labels stand outside of it. */
typedef struct chart {
    canvas *c;
    double  x, y, w, h;
    axis    across, up;
} chart;

enum { CHART_INK = 0x333333, CHART_FAINT = 0xe4e4e4 };

/* Where a value lies on the canvas. */
double chart_x(const chart *ch, double value);
double chart_y(const chart *ch, double value);

/* Frame, grid, ticks, labels. title may be NULL. An axis may run from the larger number to the
 * smaller one, unless it is logarithmic. */
void chart_frame(const chart *ch, const char *title);

/* The same with ticks at whole numbers only, on either axis, without a grid, or without ticks up. */
enum { CHART_WHOLE_ACROSS = 1, CHART_WHOLE_UP = 2, CHART_NO_GRID = 4, CHART_BARE_UP = 8 };
void chart_frame_with(const chart *ch, const char *title, int flags);

/* The frame alone, over what was drawn. */
void chart_border(const chart *ch);

/* 1, 2 or 5 times a power of ten, so that about `wanted` steps make a span; 0 if it is none. */
double chart_step(double span, int wanted);

/* A round number near `value`, as people write it: 0.25, 1500, 2e-07. */
void chart_number(char *text, size_t room, double value);

/* A colour for the i-th series, told apart also by those who do not tell red from green. */
uint32_t chart_colour(int i);

/* Viridis at 0 <= t <= 1. */
uint32_t chart_viridis(double t);

#endif
