/* histogram.c - counting and bars. */
#include "histogram.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "room.h"
#include "terminal.h"
#include "text.h"
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

/* How many columns the counts take. */
static int digits_of(const histogram *h, int64_t *most)
{
    int digits = 1;
    *most = 1;
    for (int i = 0; i < h->bins; i++)
        if (h->count[i] > *most) *most = h->count[i];
    for (int64_t n = *most; n >= 10; n /= 10) digits++;
    return digits;
}

static void print_count_and_bar(const histogram *h, int i, int64_t most, int digits, int room)
{
    const colours c = colours_of(stdout);
    printf(" %s%*" PRId64 "%s ", c.dim, digits, h->count[i], c.off);
    print_bar((double)h->count[i] / (double)most * (room > 8 ? room : 8));
    putchar('\n');
}

static void print_ranges(const histogram *h, int indent, int width)
{
    char low[32], high[32];
    int64_t most;
    int labels = 0;
    const int digits = digits_of(h, &most);
    for (int i = 0; i <= h->bins; i++) {
        const int length = edge_text(low, h, i);
        if (length > labels) labels = length;
    }
    for (int i = 0; i < h->bins; i++) {
        edge_text(low, h, i);
        edge_text(high, h, i + 1);
        printf("%*s%*s .. %*s", indent, "", labels, low, labels, high);
        print_count_and_bar(h, i, most, digits, width - indent - 2 * labels - digits - 7);
    }
}

static int whole_text(char out[32], const histogram *h, int i)
{
    return snprintf(out, 32, "%.0f", h->low + i);
}

static void print_whole(const histogram *h, int indent, int width)
{
    char text[32];
    int64_t most;
    const int digits = digits_of(h, &most);
    const int first = whole_text(text, h, 0), last = whole_text(text, h, h->bins - 1);
    const int labels = first > last ? first : last;
    for (int i = 0; i < h->bins; i++) {
        whole_text(text, h, i);
        printf("%*s%*s", indent, "", labels, text);
        print_count_and_bar(h, i, most, digits, width - indent - labels - digits - 3);
    }
}

void histogram_print(const histogram *h, int indent, int width)
{
    if (h->whole) print_whole(h, indent, width);
    else          print_ranges(h, indent, width);
}

void histogram_order(int order[HISTOGRAM_BINS], const histogram *h)
{
    for (int i = 0; i < h->bins; i++) {
        int k = i;
        for (; k > 0 && h->count[order[k - 1]] < h->count[i]; k--) order[k] = order[k - 1];
        order[k] = i;
    }
}

void histogram_print_words(const histogram *h, const char *const *words, int indent, int width)
{
    int order[HISTOGRAM_BINS], labels = 0;
    int64_t most;
    const int digits = digits_of(h, &most);
    const char *const *first = words + (int64_t)h->low;
    histogram_order(order, h);
    for (int i = 0; i < h->bins; i++) {
        const int columns = text_width(first[i]);
        if (columns > labels) labels = columns;
    }
    if (labels > width / 2) labels = width / 2;
    for (int i = 0; i < h->bins; i++) {
        char *word = printable_copy(first[order[i]]), *fitting = text_fit(word, labels);
        printf("%*s", indent, "");
        print_padded(fitting, labels, false);
        print_count_and_bar(h, order[i], most, digits, width - indent - labels - digits - 3);
        free(fitting);
        free(word);
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
