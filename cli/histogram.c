/* histogram.c - counting and bars. */
#include "histogram.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "terminal.h"
#include "wide.h"

double histogram_edge(const histogram *h, int i)
{
    const double t = (double)i / h->bins;
    return h->low * (1 - t) + h->high * t; /* the difference may be beyond a double */
}

enum { RUN = 256 };

/* In which bin each number is. The range may be beyond a double, half of it is not. */
static void find_bins(int32_t *out, const histogram *h, const double *x, int64_t n) CLI_WIDE;
static void find_bins(int32_t *out, const histogram *h, const double *x, int64_t n)
{
    const bool    wide = h->low < h->high;
    const double  high = h->high, low = wide ? h->low : high, bins = h->bins;
    const double  half = wide ? high / 2 - low / 2 : 1, nowhere = low <= high ? low : 0;
    const int32_t last = h->bins - 1;
    for (int64_t i = 0; i < n; i++) {
        const bool    inside = (x[i] >= low) & (x[i] <= high);
        const double  v = inside ? x[i] : nowhere;
        const int32_t bin = (int32_t)((v / 2 - nowhere / 2) / half * bins);
        out[i] = !inside ? HISTOGRAM_BINS : bin > last ? last : bin;
    }
}

void histogram_add(histogram *h, const double *x, int64_t n)
{
    int32_t bin[RUN];
    for (int64_t i = 0; i < n; i += RUN) {
        const int64_t count = n - i < RUN ? n - i : RUN;
        find_bins(bin, h, x + i, count);
        for (int64_t k = 0; k < count; k++) h->count[bin[k]]++;
    }
}

/* What is next to 0 only by rounding is 0. */
static int edge_text(char out[32], const histogram *h, int i)
{
    const double edge = histogram_edge(h, i);
    return snprintf(out, 32, "%.4g", fabs(edge) < 1e-6 * (h->high / 2 - h->low / 2) ? 0 : edge);
}

/* A bar of eighths of a column. */
static void print_bar(double columns)
{
    static const char *const eighths[] = { "",       "\u258f", "\u258e", "\u258d",
                                           "\u258c", "\u258b", "\u258a", "\u2589" };
    const int whole = (int)columns, rest = (int)((columns - whole) * 8);
    const bool blocks = writes_utf8();
    for (int i = 0; i < whole; i++) fputs(blocks ? "\u2588" : "#", stdout);
    if (blocks)         fputs(eighths[rest], stdout);
    else if (rest >= 4) putchar(':');
}

void histogram_print(const histogram *h, int indent, int width)
{
    const colours c = colours_of(stdout);
    char low[32], high[32];
    int64_t most = 1;
    int labels = 0, digits = 1;
    for (int i = 0; i < h->bins; i++) {
        const int length = edge_text(low, h, i);
        if (length > labels) labels = length;
        if (h->count[i] > most) most = h->count[i];
    }
    const int last = edge_text(high, h, h->bins);
    if (last > labels) labels = last;
    for (int64_t n = most; n >= 10; n /= 10) digits++;
    const int room = width - indent - 2 * labels - digits - 7;
    for (int i = 0; i < h->bins; i++) {
        edge_text(low, h, i);
        edge_text(high, h, i + 1);
        printf("%*s%*s .. %*s %s%*" PRId64 "%s ", indent, "", labels, low, labels, high, c.dim, digits,
               h->count[i], c.off);
        print_bar((double)h->count[i] / (double)most * (room > 8 ? room : 8));
        putchar('\n');
    }
}

void histogram_sparkline(char out[SPARKLINE_BYTES], const histogram *h)
{
    static const char *const blocks[] = { " ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                          "\u2585", "\u2586", "\u2587", "\u2588" };
    static const char letters[] = " .,:-=+*#";
    const bool utf8 = writes_utf8();
    int64_t most = 1;
    size_t used = 0;
    for (int i = 0; i < h->bins; i++)
        if (h->count[i] > most) most = h->count[i];
    out[0] = '\0';
    for (int i = 0; i < h->bins && i < SPARKLINE_BINS; i++) {
        const double part = log1p((double)h->count[i]) / log1p((double)most);
        const int level = h->count[i] == 0 ? 0 : 1 + (int)(part * 7);
        if (utf8) used += (size_t)snprintf(out + used, SPARKLINE_BYTES - used, "%s", blocks[level]);
        else      used += (size_t)snprintf(out + used, SPARKLINE_BYTES - used, "%c", letters[level]);
    }
}
