/* resample.c - the weights of resampling along one axis. */
#include "resample.h"
#include "sizes.h"
#include "tessera/ops/image.h"

static double larger(double a, double b) { return a > b ? a : b; }
static double absolute(double x) { return x < 0 ? -x : x; }

/* Of a number between -2^62 and 2^62. */
static int64_t floor_of(double x)
{
    const int64_t i = (int64_t)x;
    return i - ((double)i > x);
}

/* x, held to low .. high, which integers can hold. */
static double held(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

tsri_resample tsri_resample_of(const tsr_resize_params *p, int d, int64_t in)
{
    tsri_resample r = { .in = in, .out = p->size[d], .mode = p->mode, .align_corners = p->align_corners,
                        .antialias = p->antialias };
    if (p->align_corners) r.step = r.out > 1 ? (double)(in - 1) / (double)(r.out - 1) : 0;
    else r.step = p->scale[d] > 0 ? 1 / p->scale[d] : (double)in / (double)r.out;
    return r;
}

/* Windows that grow with the step ------------------------------------------------------------------- */

/* How far a window reaches to either side. */
static double support_of(const tsri_resample *r)
{
    return (r->mode == TSR_INTERPOLATE_CUBIC ? 2 : 1) * larger(r->step, 1);
}

/* Keys' cubic at x >= 0. */
static double cubic(double x, double a)
{
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static double filter(const tsri_resample *r, double x)
{
    if (r->mode == TSR_INTERPOLATE_CUBIC) return cubic(x, -0.5);
    return x < 1 ? 1 - x : 0;
}

static int64_t antialiased(const tsri_resample *r, int64_t o, int64_t *first, double *w)
{
    const double centre = r->step * ((double)o + 0.5), support = support_of(r), end = (double)r->in;
    const int64_t begin = (int64_t)held(centre - support + 0.5, 0, end),
                  n = (int64_t)held(centre + support + 0.5, 0, end) - begin;
    double sum = 0;
    *first = begin;
    for (int64_t i = 0; i < n; i++) {
        w[i] = filter(r, absolute((double)(begin + i) - centre + 0.5) / larger(r->step, 1));
        sum += w[i];
    }
    for (int64_t i = 0; i < n && sum != 0; i++) w[i] /= sum;
    return n;
}

/* The mean of adaptive pooling. */
static int64_t averaged(const tsri_resample *r, int64_t o, int64_t *first, double *w)
{
    *first = o * r->in / r->out;
    const int64_t n = ((o + 1) * r->in - 1) / r->out + 1 - *first;
    for (int64_t i = 0; i < n; i++) w[i] = 1 / (double)n;
    return n;
}

/* Windows of one to four inputs ------------------------------------------------------------------------ */

static int64_t copied(int64_t o, int64_t *first, double *w)
{
    *first = o;
    w[0] = 1;
    return 1;
}

static int64_t nearest(const tsri_resample *r, int64_t o, int64_t *first, double *w)
{
    const bool exact = r->mode == TSR_INTERPOLATE_NEAREST_EXACT;
    const float step = (float)r->step, at = ((float)o + (exact ? 0.5f : 0.0f)) * step;
    return copied(at < (float)r->in ? least((int64_t)at, r->in - 1) : r->in - 1, first, w);
}

/* Where output o lies among the inputs. */
static double source_of(const tsri_resample *r, int64_t o)
{
    const double at =
        r->align_corners ? r->step * (double)o : r->step * ((double)o + 0.5) - 0.5;
    return held(at, -4, (double)r->in + 4);
}

static int64_t linear(const tsri_resample *r, int64_t o, int64_t *first, double *w)
{
    const double at = larger(source_of(r, o), 0);
    *first = least((int64_t)at, r->in - 1);
    if (*first == r->in - 1) {
        w[0] = 1;
        return 1;
    }
    w[1] = at - (double)*first;
    w[0] = 1 - w[1];
    return 2;
}

/* Inputs beyond the ends are those at the ends. */
static int64_t cubic_taps(const tsri_resample *r, int64_t o, int64_t *first, double *w)
{
    const double at = source_of(r, o);
    const int64_t base = floor_of(at), low = most(least(base - 1, r->in - 1), 0),
                  n = most(least(base + 2, r->in - 1), 0) - low + 1;
    const double t = at - (double)base;
    for (int64_t i = 0; i < n; i++) w[i] = 0;
    for (int64_t i = 0; i < 4; i++)
        w[most(least(base - 1 + i, r->in - 1), 0) - low] += cubic(absolute(t + 1 - (double)i), -0.75);
    *first = low;
    return n;
}

/* Whatever the scale is, PyTorch copies a dim whose size stays; but not for plain cubic and nearest. */
static bool is_copy(const tsri_resample *r)
{
    return r->in == r->out && (r->mode == TSR_INTERPOLATE_LINEAR || r->antialias);
}

int64_t tsri_resample_taps(const tsri_resample *r)
{
    int64_t taps = 1;
    if (is_copy(r)) return 1;
    if (r->mode == TSR_INTERPOLATE_AREA) taps = r->in / r->out + 2;
    else if (r->antialias) taps = (int64_t)held(2 * support_of(r) + 2, 0, (double)r->in);
    else if (r->mode == TSR_INTERPOLATE_LINEAR) taps = 2;
    else if (r->mode == TSR_INTERPOLATE_CUBIC) taps = 4;
    return least(taps, r->in);
}

int64_t tsri_resample_at(const tsri_resample *r, int64_t o, int64_t *first, double *w)
{
    int64_t n = 0, zeros = 0;
    if (is_copy(r)) return copied(o, first, w);
    switch (r->mode) {
    case TSR_INTERPOLATE_NEAREST:
    case TSR_INTERPOLATE_NEAREST_EXACT: return nearest(r, o, first, w);
    case TSR_INTERPOLATE_AREA: return averaged(r, o, first, w);
    default: n = r->antialias ? antialiased(r, o, first, w)
                              : (r->mode == TSR_INTERPOLATE_CUBIC ? cubic_taps : linear)(r, o, first, w);
    }
    while (n > 0 && w[n - 1] == 0) n--;
    while (zeros < n && w[zeros] == 0) zeros++;
    for (int64_t i = 0; i < n - zeros; i++) w[i] = w[i + zeros];
    *first += zeros;
    return n - zeros;
}

bool tsri_resample_table(const tsri_resample *r, int64_t *first, int64_t *count, double *w)
{
    const int64_t taps = tsri_resample_taps(r);
    bool same = r->in == r->out;
    for (int64_t o = 0; o < r->out; o++, w += taps) {
        const int64_t n = tsri_resample_at(r, o, &first[o], w);
        for (int64_t t = n; t < taps; t++) w[t] = 0;
        same = same && n == 1 && first[o] == o && w[0] == 1;
        if (count) count[o] = n;
    }
    return same;
}
