#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chart.h"
#include "roofline.h"

typedef struct point {
    char   lib[24], workload[64];
    double seconds, bytes, flops;
} point;

static struct {
    point *at;
    size_t count, room;
} points;

static const struct { char family; const char *name; } families[] = {
    { 'a', "rearranging" }, { 'b', "elementwise" }, { 'c', "reductions, rows" }, { 'd', "products" },
    { 'e', "networks" },    { 'g', "joining, order, random" }, { 'h', "chains" },   { 's', "sizes" },
};
enum { FAMILIES = sizeof families / sizeof families[0] };

/* The text after "key": in a line. */
static const char *value_of(const char *line, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *p = strstr(line, quoted);
    return p ? p + strlen(quoted) : "";
}

static void copy_text(char *to, size_t room, const char *from)
{
    const char *a = strchr(from, '"'), *b = a ? strchr(a + 1, '"') : NULL;
    snprintf(to, room, "%.*s", b ? (int)(b - a - 1) : 0, a ? a + 1 : "");
}

/* False: there is no memory. */
static bool read_points(FILE *f)
{
    char line[512];
    points.count = 0;
    while (fgets(line, sizeof line, f)) {
        point p;
        if (strtol(value_of(line, "threads"), NULL, 10) != 1) continue;
        copy_text(p.lib, sizeof p.lib, value_of(line, "lib"));
        copy_text(p.workload, sizeof p.workload, value_of(line, "workload"));
        p.seconds = strtod(value_of(line, "seconds"), NULL);
        p.bytes = strtod(value_of(line, "bytes"), NULL);
        p.flops = strtod(value_of(line, "flops"), NULL);
        if (!(p.seconds > 0) || !(p.bytes > 0)) continue;
        if (points.count == points.room) {
            const size_t room = points.room ? 2 * points.room : 256;
            point *more = realloc(points.at, room * sizeof *more);
            if (!more) return false;
            points.at = more;
            points.room = room;
        }
        points.at[points.count++] = p;
    }
    return true;
}

static bool ours(const point *p) { return !strcmp(p->lib, "tessera"); }

static int family_of(const point *p)
{
    for (int i = 0; i < FAMILIES; i++)
        if (families[i].family == p->workload[0]) return i;
    return -1;
}

/* The best measured peak, of floats or of i8. */
static double best_flops(bool i8)
{
    double best = 0;
    for (size_t i = 0; i < points.count; i++) {
        const point *p = &points.at[i];
        if (!strcmp(p->lib, "limit.peak") && (strstr(p->workload, ".i8.") != NULL) == i8)
            best = fmax(best, p->flops / p->seconds);
    }
    return best;
}

/* The best of all passes over memory, in or out of the caches. */

static double best_bandwidth(bool in_memory)
{
    double best = 0;
    for (size_t i = 0; i < points.count; i++) {
        const point *p = &points.at[i];
        if (strncmp(p->lib, "limit.", 6) || !strcmp(p->lib, "limit.peak") ||
            (in_memory ? p->bytes < 3e7 : p->bytes > 1e6))
            continue;
        best = fmax(best, p->bytes / p->seconds);
    }
    return best;
}

/* Computing ------------------------------------------------------------------------------------ */

static void draw_roof(const chart *ch, double peak, double bandwidth, const char *name, bool dashed)
{
    const double ridge = peak / bandwidth, left = fmax(ch->across.from, ch->up.from * 1e9 / bandwidth);
    const double x0 = chart_x(ch, left), y0 = chart_y(ch, left * bandwidth * 1e-9);
    const double x1 = chart_x(ch, ridge), y1 = chart_y(ch, peak * 1e-9);
    char text[64];
    (dashed ? canvas_dashes : canvas_line)(ch->c, x0, y0, x1, y1, 1.6, CHART_INK);
    canvas_line(ch->c, x1, y1, ch->x + ch->w, y1, 1.6, CHART_INK);
    snprintf(text, sizeof text, "%s %.0f GB/s", name, bandwidth * 1e-9);
    canvas_text(ch->c, x0 + 0.3 * (x1 - x0) + 10, y0 + 0.3 * (y1 - y0) + 4, 9, ANCHOR_LEFT, CHART_INK, text);
}

static void draw_computing(canvas *c, double x, double y, double w, double h)
{
    const double peak = best_flops(false), i8 = best_flops(true), memory = best_bandwidth(true),
                 cache = best_bandwidth(false);
    const chart ch = { c, x, y, w, h, { 0.05, 2000, true, "flops for each byte read or written", false },
                       { 1, 1000, true, "GFLOP/s", false } };
    char text[64];
    chart_frame(&ch, "Computing");
    if (memory > 0 && peak > 0) draw_roof(&ch, peak, memory, "memory", false);
    if (cache > memory && peak > 0) draw_roof(&ch, peak, cache, "cache", true);
    snprintf(text, sizeof text, "f32 peak %.0f GFLOP/s", peak * 1e-9);
    if (peak > 0) canvas_text(c, x + w - 8, chart_y(&ch, peak * 1e-9) - 7, 9, ANCHOR_RIGHT, CHART_INK, text);
    if (i8 > 0) {
        snprintf(text, sizeof text, "i8 peak %.0f GOP/s", i8 * 1e-9);
        canvas_dashes(c, chart_x(&ch, 10), chart_y(&ch, i8 * 1e-9), x + w, chart_y(&ch, i8 * 1e-9), 1.2,
                      CHART_INK);
        canvas_text(c, x + w - 8, chart_y(&ch, i8 * 1e-9) - 7, 9, ANCHOR_RIGHT, CHART_INK, text);
    }
    for (size_t i = 0; i < points.count; i++) {
        const point *p = &points.at[i];
        const double rate = p->flops / p->seconds * 1e-9, each = p->flops / p->bytes;
        if (!ours(p) || family_of(p) < 0 || !(rate >= 1) || rate > 1000 || each < 0.05 || each > 2000)
            continue;
        canvas_disc(c, chart_x(&ch, each), chart_y(&ch, rate), 3, chart_colour(family_of(p)));
    }
}

/* Moving ---------------------------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b)
{
    const double x = ((const point *)a)->bytes, y = ((const point *)b)->bytes;
    return (x > y) - (x < y);
}

/* The best rate of a limit at each footprint (within a factor of 1.6), as a line. */
static void draw_limit(const chart *ch, const char *lib, uint32_t colour, const char *name, int row)
{
    double xy[128];
    int n = 0;
    double from = 0, best = 0;
    for (size_t i = 0; i <= points.count && n < 63; i++) {
        const point *p = i < points.count ? &points.at[i] : NULL;
        if (p && (strcmp(p->lib, lib) != 0 || p->flops > 0)) continue;
        if (best > 0 && (!p || p->bytes > 1.6 * from)) {
            const double rate = fmin(ch->up.to, best * 1e-9);
            if (from >= ch->across.from && from <= ch->across.to && rate >= ch->up.from) {
                xy[2 * n] = chart_x(ch, from);
                xy[2 * n++ + 1] = chart_y(ch, rate);
            }
            best = 0;
        }
        if (!p) break;
        if (best == 0) from = p->bytes;
        best = fmax(best, p->bytes / p->seconds);
    }
    if (n > 1) canvas_path(ch->c, n, xy, 1.4, colour);
    canvas_line(ch->c, ch->x + ch->w - 96, ch->y + 14 + 14 * row, ch->x + ch->w - 76, ch->y + 14 + 14 * row,
                1.6, colour);
    canvas_text(ch->c, ch->x + ch->w - 70, ch->y + 17.5 + 14 * row, 9, ANCHOR_LEFT, CHART_INK, name);
}

static void draw_moving(canvas *c, double x, double y, double w, double h)
{
    const chart ch = { c,
                       x,
                       y,
                       w,
                       h,
                       { 500, 2e9, true, "read and written", .bytes = true },
                       { 0.5, 500, true, "GB/s", false } };
    chart_frame(&ch, "Moving");
    qsort(points.at, points.count, sizeof *points.at, by_bytes);
    draw_limit(&ch, "limit.copy", 0x333333, "copy", 0);
    draw_limit(&ch, "limit.nt", 0x999999, "nt copy", 1);
    draw_limit(&ch, "limit.read", 0xb0b0e0, "read", 2);
    for (size_t i = 0; i < points.count; i++) {
        const point *p = &points.at[i];
        const double rate = p->bytes / p->seconds * 1e-9;
        if (!ours(p) || family_of(p) < 0 || p->flops > 0 || rate < 0.5 || rate > 500 || p->bytes < 500 ||
            p->bytes > 2e9)
            continue;
        canvas_disc(c, chart_x(&ch, p->bytes), chart_y(&ch, rate), 3, chart_colour(family_of(p)));
    }
}

static void draw_legend(canvas *c, double x, double y)
{
    for (int i = 0; i < FAMILIES; i++) {
        canvas_disc(c, x, y - 3, 3.5, chart_colour(i));
        canvas_text(c, x + 8, y, 10, ANCHOR_LEFT, CHART_INK, families[i].name);
        x += 34 + canvas_text_width(10, families[i].name);
    }
}

canvas *roofline_picture(FILE *lines)
{
    canvas *c = read_points(lines) ? canvas_new(1080, 520) : NULL;
    if (c) {
        draw_computing(c, 70, 50, 430, 370);
        draw_moving(c, 600, 50, 430, 370);
        draw_legend(c, 80, 490);
    }
    free(points.at);
    memset(&points, 0, sizeof points);
    return c;
}
