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

/* Frame, grid, ticks, labels. title may be NULL. */
void chart_frame(const chart *ch, const char *title);

/* A round number near `value`, as people write it: 0.25, 1500, 2e-07. */
void chart_number(char *text, size_t room, double value);

/* A colour for the i-th series, told apart also by those who do not tell red from green. */
uint32_t chart_colour(int i);

/* Viridis at 0 <= t <= 1. */
uint32_t chart_viridis(double t);

#endif
