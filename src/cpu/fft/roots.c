/* roots.c - see roots.h. */
#include "roots.h"

/* A number as the sum of two doubles. */
typedef struct pair { double high, low; } pair;

/* a * b exactly (Dekker, with Veltkamp's split of each factor into halves). */
static pair product(double a, double b)
{
    const double split = 134217729.0; /* 2^27 + 1 */
    const double ta = split * a, tb = split * b;
    const double ah = ta - (ta - a), al = a - ah, bh = tb - (tb - b), bl = b - bh;
    const double p = a * b;
    return (pair){ p, ((ah * bh - p) + ah * bl + al * bh) + al * bl };
}

/* a + b exactly, for |a| >= |b|. */
static pair sum(double a, double b)
{
    const double s = a + b;
    return (pair){ s, b - (s - a) };
}

/* r / n of a quarter circle in radians, 0 <= r <= n. */
static pair quarter_angle(int64_t r, int64_t n)
{
    const pair half_pi = { 1.5707963267948966, 6.123233995736766e-17 };
    const double size = (double)n, q = (double)r / size;
    const pair back = product(q, size);
    const double q_low = (((double)r - back.high) - back.low) / size;
    const pair p = product(half_pi.high, q);
    return sum(p.high, p.low + (half_pi.high * q_low + half_pi.low * q));
}

/* sin x and cos x - 1 for 0 <= x <= pi / 4: Taylor's series, leading terms kept separate. */
static void series(pair *sine, pair *cosine_less_1, pair x)
{
    const pair z = product(x.high, x.high);
    const double t = z.high;
    const double odd_high = -1.0 / 39916800 + t * (1.0 / 6227020800.0 + t * (-1.0 / 1307674368000.0));
    const double odd = -1.0 / 6 + t * (1.0 / 120 + t * (-1.0 / 5040 + t * (1.0 / 362880 + t * odd_high)));
    const double even_high = 1.0 / 479001600 + t * (-1.0 / 87178291200.0 + t * (1.0 / 20922789888000.0));
    const double even =
        1.0 / 24 + t * (-1.0 / 720 + t * (1.0 / 40320 + t * (-1.0 / 3628800 + t * even_high)));
    *sine = sum(x.high, t * x.high * odd + x.low * (1 - 0.5 * t));
    *cosine_less_1 = sum(-0.5 * t, t * t * even - 0.5 * z.low - x.high * x.low);
}

/* The first eighth of a circle: r / n of a quarter, 2 r <= n. */
static tsri_fft_root first_eighth(int64_t r, int64_t n)
{
    pair s, c;
    series(&s, &c, quarter_angle(r, n));
    const pair one = sum(1, c.high);
    const pair whole = sum(one.high, one.low + c.low);
    return (tsri_fft_root){ whole.high, whole.low, s.high, s.low };
}

static tsri_fft_root swapped(tsri_fft_root a) { return (tsri_fft_root){ a.s, a.s_low, a.c, a.c_low }; }

static tsri_fft_root quarter_on(tsri_fft_root a) { return (tsri_fft_root){ -a.s, -a.s_low, a.c, a.c_low }; }

void tsri_fft_root_of(tsri_fft_root *out, int64_t k, int64_t n)
{
    int quarters = 0;
    int64_t r = 4 * k; /* of n to a quarter */
    for (; r >= n; r -= n) quarters++;
    tsri_fft_root a = 2 * r <= n ? first_eighth(r, n) : swapped(first_eighth(n - r, n));
    while (quarters-- > 0) a = quarter_on(a);
    *out = a;
}

/* Some sqrt(n) fine roots; a few small n have none but 1. */
static int shift_of(int64_t n)
{
    int bits = 0;
    while (n >> bits > 1) bits++;
    return bits < 9 ? 0 : bits / 2 - 1;
}

static int64_t coarse_count(int64_t n, int shift) { return ((n - 1) >> shift) + 1; }

size_t tsri_fft_roots_bytes(int64_t n)
{
    const int shift = shift_of(n);
    return (size_t)(coarse_count(n, shift) + ((int64_t)1 << shift)) * sizeof(tsri_fft_root);
}

void tsri_fft_roots_init(tsri_fft_roots *roots, int64_t n, void *scratch)
{
    const int shift = shift_of(n);
    const int64_t count = coarse_count(n, shift), fine_count = (int64_t)1 << shift;
    tsri_fft_root *coarse = scratch, *fine = coarse + count;
    for (int64_t a = 0; a < count; a++) tsri_fft_root_of(&coarse[a], a << shift, n);
    for (int64_t b = 0; b < fine_count; b++) {
        pair s, c;
        series(&s, &c, quarter_angle(4 * b, n));
        fine[b] = (tsri_fft_root){ .c = c.high, .s = s.high };
    }
    *roots = (tsri_fft_roots){ n, shift, coarse, fine };
}

/* a + b exactly, whichever is the larger. */
static pair any_sum(double a, double b)
{
    const double s = a + b, part = s - a;
    return (pair){ s, (a - (s - part)) + (b - part) };
}

void tsri_fft_roots_both(tsri_fft_root *out, const tsri_fft_roots *roots, int64_t k)
{
    const tsri_fft_root *a = &roots->coarse[k >> roots->shift];
    const tsri_fft_root *b = &roots->fine[k & (((int64_t)1 << roots->shift) - 1)];
    const pair c = any_sum(a->c, a->c_low + (a->c * b->c - a->s * b->s));
    const pair s = any_sum(a->s, a->s_low + (a->s * b->c + a->c * b->s));
    *out = (tsri_fft_root){ c.high, c.low, s.high, s.low };
}
