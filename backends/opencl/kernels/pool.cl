/* pool.cl - roots of sums of powers of windows, in f64. */

/* As in pool.c. */
typedef struct window {
    long out[3], in[3], taps[3], stride[3], padding[3];
    long z_step[3], x_step[3];
} window;

/* What one output sees: elements begin .. end - 1 of each dim. */
typedef struct seen {
    long   begin[3], end[3];
    double places, all;  /* in x and its padding, and of a whole window */
} seen;

static inline seen see(const window *w, const long *o)
{
    seen s;
    s.places = s.all = 1;
    for (int d = 0; d < 3; d++) {
        const long at = o[d] * w->stride[d] - w->padding[d];
        s.begin[d] = max(at, 0l);
        s.end[d] = min(at + w->taps[d], w->in[d]);
        s.places *= (double)min(w->taps[d], w->in[d] + w->padding[d] - at);
        s.all *= (double)w->taps[d];
    }
    return s;
}

static inline double power(double x, double p)
{
    return p == 2 ? x * x : p == 1 ? x : p == 3 ? x * x * x : pow(x, p);
}

static inline double root(double sum, double p)
{
    return p == 1 ? sum : p == 2 ? sqrt(sum) : pow(sum, 1 / p);
}

/* The sum of (x * half * rest)^p; of an infinite p the largest |x|, where a NaN stays. */
static inline double accumulate(CONST_BYTES x, int dtype, const window *w, const seen *s, double half_scale,
                                double rest, double p)
{
    double sum = 0;
    for (long i = s->begin[0]; i < s->end[0]; i++)
        for (long k = s->begin[1]; k < s->end[1]; k++)
            for (long m = s->begin[2]; m < s->end[2]; m++) {
                const double v =
                    load_real(x + i * w->x_step[0] + k * w->x_step[1] + m * w->x_step[2], dtype);
                if (!isinf(p)) sum += power(v * half_scale * rest, p);
                else if (fabs(v) > sum || v != v) sum = fabs(v);
            }
    return sum;
}

/* Elements are divided by a power of two near the largest, in two steps: it may be 2^1024. */
static inline double norm_of(CONST_BYTES x, int dtype, const window *w, const seen *s, double p)
{
    const double largest = accumulate(x, dtype, w, s, 1, 1, INFINITY);
    int exponent = isinf(largest) ? 1024 : 0;
    if (isinf(p)) return largest;
    if (isfinite(largest)) (void)frexp(largest, &exponent);
    const double half_scale = ldexp(1.0, -exponent / 2), rest = ldexp(1.0, -exponent - -exponent / 2);
    double sum = accumulate(x, dtype, w, s, half_scale, rest, p);
    if (s->places != s->all) sum = sum / s->places * s->all;
    return root(sum, p) / half_scale / rest;
}

/* The nest has the dims ahead of the spatial ones: z, x. */
kernel void lp_pool(BYTES z, CONST_BYTES x, nest t, window w, double p)
{
    const ulong i = get_global_id(0), places = (ulong)(w.out[0] * w.out[1] * w.out[2]);
    if (i >= (ulong)t.count * places) return;
    long at[2] = { t.base[0], t.base[1] }, rest = (long)(i % places), o[3];
    place(&t, i / places, at, 2);
    for (int d = 2; d >= 0; d--) {
        o[d] = rest % w.out[d];
        rest /= w.out[d];
        at[0] += o[d] * w.z_step[d];
    }
    const seen s = see(&w, o);
    store_real(z + at[0], t.dtype[0], norm_of(x + at[1], t.dtype[1], &w, &s, p));
}
