/* histogram.h - how many numbers lie where, and bars of that in a terminal. */
#ifndef TSR_CLI_HISTOGRAM_H
#define TSR_CLI_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

enum { HISTOGRAM_BINS = 200 };

/* Equal bins between low and high, both of them inside. Zeroed but for these. */
typedef struct histogram {
    double  low, high;
    int     bins;
    bool    whole; /* a bin for each whole number from low to high */
    int64_t count[HISTOGRAM_BINS + 1]; /* the last one counts what is outside */
} histogram;

/* Numbers outside of low .. high are in no bin. */
void histogram_add(histogram *h, const double *x, int64_t n);

/* The lower end of bin i; of bin `bins`, the upper end of all. */
double histogram_edge(const histogram *h, int i);

/* The bins, that with the largest count first; of equal ones the lower first. */
void histogram_order(int order[HISTOGRAM_BINS], const histogram *h);

/* One line a bin, `width` columns wide, with block characters where the locale has them. */
void histogram_print(const histogram *h, int indent, int width);

/* The same of whole numbers that are codes of these words, the most frequent first. */
void histogram_print_words(const histogram *h, const char *const *words, int indent, int width);

/* The bins as characters in one line, SPARKLINE_BINS of them at the most. Heights are logarithms of counts:
 * a single number can be seen beside a million. */
enum { SPARKLINE_BINS = 12, SPARKLINE_BYTES = 4 * SPARKLINE_BINS + 1 };
void histogram_sparkline(char out[SPARKLINE_BYTES], const histogram *h);

#endif
