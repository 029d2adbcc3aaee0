/* histogram.c - counting and bars. */
#include "histogram.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "terminal.h"

double histogram_edge(const histogram *h, int i)
{
    const double t = (double)i / h->bins;
    return h->low * (1 - t) + h->high * t; /* the difference may be beyond a double */
}

void histogram_add(histogram *h, double x)
{
    if (!(x >= h->low && x <= h->high)) return;
    const double half = h->high / 2 - h->low / 2;
    int bin = half > 0 ? (int)((x / 2 - h->low / 2) / half * h->bins) : 0;
    if (bin >= h->bins) bin = h->bins - 1;
    h->count[bin]++;
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
