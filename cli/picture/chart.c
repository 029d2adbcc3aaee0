#include "chart.h"

#include <math.h>
#include <stdio.h>

static double part(const axis *a, double value)
{
    if (a->log) return log(value / a->from) / log(a->to / a->from);
    return a->to != a->from ? (value - a->from) / (a->to - a->from) : 0.5;
}

double chart_x(const chart *ch, double value) { return ch->x + part(&ch->across, value) * ch->w; }
double chart_y(const chart *ch, double value) { return ch->y + ch->h - part(&ch->up, value) * ch->h; }

void chart_number(char *text, size_t room, double value)
{
    const double size = fabs(value);
    if (size != 0 && (size < 1e-3 || size >= 1e6)) snprintf(text, room, "%.4g", value);
    else snprintf(text, room, "%.6g", value);
}

/* "250k", "1.5M": labels must fit beside the axis. */
static void write_large(char *text, size_t room, double value)
{
    static const char letters[] = "kMGT";
    int unit = 0;
    for (value /= 1000; unit < 3 && fabs(value) >= 1000; unit++) value /= 1000;
    snprintf(text, room, "%.4g%c", value, letters[unit]);
}

static void write_tick(char *text, size_t room, const axis *a, double value)
{
    static const char *const units[] = { "B", "KB", "MB", "GB", "TB" };
    int unit = 0;
    if (!a->bytes) {
        if (fabs(value) >= 1e4 && fabs(value) < 1e15) write_large(text, room, value);
        else chart_number(text, room, value);
        return;
    }
    for (; unit < 4 && value >= 1000; unit++) value /= 1000;
    snprintf(text, room, "%.4g %s", value, units[unit]);
}

static void tick_across(const chart *ch, double value, bool labelled, bool grid)
{
    char text[32];
    const double x = chart_x(ch, value);
    if (grid) canvas_line(ch->c, x, ch->y, x, ch->y + ch->h, 0.5, CHART_FAINT);
    if (!labelled) return;
    canvas_line(ch->c, x, ch->y + ch->h, x, ch->y + ch->h + 4, 0.8, CHART_INK);
    write_tick(text, sizeof text, &ch->across, value);
    canvas_text(ch->c, x, ch->y + ch->h + 15, 10, ANCHOR_MIDDLE, CHART_INK, text);
}

static void tick_up(const chart *ch, double value, bool labelled, bool grid)
{
    char text[32];
    const double y = chart_y(ch, value);
    if (grid) canvas_line(ch->c, ch->x, y, ch->x + ch->w, y, 0.5, CHART_FAINT);
    if (!labelled) return;
    canvas_line(ch->c, ch->x - 4, y, ch->x, y, 0.8, CHART_INK);
    write_tick(text, sizeof text, &ch->up, value);
    canvas_text(ch->c, ch->x - 7, y + 3.5, 10, ANCHOR_RIGHT, CHART_INK, text);
}

typedef void (*tick_fn)(const chart *ch, double value, bool labelled, bool grid);

double chart_step(double span, int wanted)
{
    const double raw = span / wanted, power = pow(10, floor(log10(raw)));
    const double step = power * (raw / power < 1.5 ? 1 : raw / power < 3.5 ? 2 : raw / power < 7.5 ? 5 : 10);
    return raw > 0 && isfinite(step) ? step : 0;
}

static void linear_ticks(const chart *ch, const axis *a, int wanted, tick_fn tick, bool whole, bool grid)
{
    const double low = fmin(a->from, a->to), high = fmax(a->from, a->to);
    double step = chart_step(high - low, wanted);
    if (step == 0) return;
    if (whole && step < 1) step = 1;
    for (double i = ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++)
        tick(ch, i * step + 0.0, true, grid);
}

/* Powers of ten, and 2 and 5 times them where there is room for the labels. */
static void log_ticks(const chart *ch, const axis *a, tick_fn tick)
{
    const double decades = log10(a->to / a->from);
    for (double e = floor(log10(a->from)); e <= log10(a->to); e++)
        for (int m = 1; m < 10; m++) {
            const double value = m * pow(10, e);
            const bool labelled =
                m == 1 ? decades < 9 || fmod(e, 2) == 0 : decades < 3.5 && (m == 2 || m == 5);
            if (value < a->from * 0.999999 || value > a->to * 1.000001) continue;
            if (m == 1 || decades < 7) tick(ch, value, labelled, true);
        }
}

void chart_border(const chart *ch)
{
    const double right = ch->x + ch->w, bottom = ch->y + ch->h;
    const double corners[] = { ch->x, ch->y, right, ch->y, right, bottom, ch->x, bottom, ch->x, ch->y };
    canvas_path(ch->c, 5, corners, 0.8, CHART_INK);
}

void chart_frame_with(const chart *ch, const char *title, int flags)
{
    const bool grid = !(flags & CHART_NO_GRID);
    const int across = ch->w < 250 ? 3 : 6, up = ch->h < 150 ? 3 : 6;
    if (ch->across.log) log_ticks(ch, &ch->across, tick_across);
    else linear_ticks(ch, &ch->across, across, tick_across, flags & CHART_WHOLE_ACROSS, grid);
    if (ch->up.log) log_ticks(ch, &ch->up, tick_up);
    else if (!(flags & CHART_BARE_UP)) linear_ticks(ch, &ch->up, up, tick_up, flags & CHART_WHOLE_UP, grid);
    chart_border(ch);
    if (title) canvas_text(ch->c, ch->x, ch->y - 10, 13, ANCHOR_LEFT, CHART_INK, title);
    if (ch->across.label)
        canvas_text(ch->c, ch->x + ch->w / 2, ch->y + ch->h + 32, 11, ANCHOR_MIDDLE, CHART_INK,
                    ch->across.label);
    if (ch->up.label)
        canvas_rotated(ch->c, ch->x - 44, ch->y + ch->h / 2, 11, ANCHOR_MIDDLE, CHART_INK, ch->up.label);
}

void chart_frame(const chart *ch, const char *title) { chart_frame_with(ch, title, 0); }

uint32_t chart_colour(int i)
{
    static const uint32_t colours[] = { 0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7,
                                        0xe69f00, 0x56b4e9, 0x8c510a, 0x666666 };
    const int n = (int)(sizeof colours / sizeof colours[0]);
    return colours[((i % n) + n) % n];
}

uint32_t chart_viridis(double t)
{
    /* The map at nine places, a straight line between them. */
    static const uint8_t places[9][3] = { { 68, 1, 84 },    { 72, 40, 120 },  { 62, 74, 137 },
                                          { 49, 104, 142 }, { 38, 130, 142 }, { 31, 158, 137 },
                                          { 53, 183, 121 }, { 110, 206, 88 }, { 253, 231, 37 } };
    static const double at[9] = { 0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.86, 1 };
    uint32_t colour = 0;
    int i = 0;
    if (!(t > 0)) t = 0;
    if (t > 1) t = 1;
    while (i < 7 && t > at[i + 1]) i++;
    const double f = (t - at[i]) / (at[i + 1] - at[i]);
    for (int k = 0; k < 3; k++)
        colour = colour << 8 | (uint32_t)lround(places[i][k] + f * (places[i + 1][k] - places[i][k]));
    return colour;
}
