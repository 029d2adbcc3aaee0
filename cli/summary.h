/* summary.h - the numbers that describe a tensor, found in a few passes over it.
 *
 * Memory does not grow with the tensor. The first pass counts, and finds the extremes and the moments;
 * the second one fills the histogram. Quantiles are found digit by digit: the first pass counts the
 * numbers by their upper 16 bits, each later pass by the next 16 bits, of only the numbers whose upper
 * bits are those of a quantile. Dtypes of up to 32 bits are exact after two passes. Longer ones take
 * four, and stop after two for more than SUMMARY_EXACT elements unless asked to go on: what is reported
 * is then within 2^-20 of the number itself (floats), or 2^-32 of the range (integers).
 */
#ifndef TSR_CLI_SUMMARY_H
#define TSR_CLI_SUMMARY_H

#include "histogram.h"
#include "source.h"
#include "terminal.h"

enum { SUMMARY_QUANTILES = 32, SUMMARY_EXACT = 1 << 24, SUMMARY_SAMPLE = 1 << 14 };

typedef struct summary {
    /* What is asked for. */
    int    quantiles, bins;
    double quantile[SUMMARY_QUANTILES];  /* 0 .. 1 */
    bool   exact;
    bool   codes;                        /* whole numbers, whatever the dtype */
    bool   brief;                        /* one pass: no quantiles, and the histogram is that of up to
                                          * SUMMARY_SAMPLE elements that lie evenly apart */

    /* What is found. Extremes and quantiles are those of all numbers but NaN; the mean and
     * the deviation, and low .. high, of finite numbers only. */
    int64_t    count, nans, infinities, zeros, finite;
    tsr_scalar min, max;                 /* of dtype f64, i64 or u64; NaN if there are none */
    double     low, high, mean, deviation;
    double     value[SUMMARY_QUANTILES];
    bool       is_exact;                 /* the quantiles */
    histogram  bars;
} summary;

/* False after a complaint. Complex numbers are described by their magnitude. */
bool summarise(summary *out, source *s, int64_t index, progress *p, double done, double total);

/* How many bytes are looked at for that, of all passes together. */
double summary_work(const summary *wanted, const source *s, int64_t index);

#endif
