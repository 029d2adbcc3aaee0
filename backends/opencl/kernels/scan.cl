/* scan.cl - what has come together so far, along an axis. SCAN_SUM, SCAN_PROD or SCAN_MAX.
 *
 * A work group for each line: a work item sums a stretch of it up, stretches before it are put
 * together, and then it writes its stretch. */

#if defined(CLASS_SIGNED) || defined(CLASS_UNSIGNED)
#define WHOLE
typedef value state;
static inline state begin_state(void)
{
#if defined(SCAN_PROD)
    return 1;
#elif defined(SCAN_MAX) && defined(CLASS_SIGNED)
    return (long)0x8000000000000000ul;
#else
    return 0;
#endif
}

static inline void take(state *s, value x)
{
#if defined(SCAN_SUM)
    *s = (value)((ulong)*s + (ulong)x);
#elif defined(SCAN_PROD)
    *s = (value)((ulong)*s * (ulong)x);
#else
    *s = max(*s, x);
#endif
}

static inline void merge(state *s, state other) { take(s, other); }
static inline void give(BYTES z, int dtype, state s) { store_integer(z, dtype, (ulong)s); }

#else

typedef struct state { wide re, re_lost, im, im_lost; } state;

static inline state begin_state(void)
{
    state s = { 0, 0, 0, 0 };
#if defined(SCAN_PROD)
    s.re = 1;
#elif defined(SCAN_MAX)
    s.re = -(wide)INFINITY;
#endif
    return s;
}

static inline void multiply(state *s, wide re, wide im)
{
#ifdef CLASS_COMPLEX
    const wide r = s->re * re - s->im * im;
    s->im = s->re * im + s->im * re;
    s->re = r;
#else
    s->re *= re;
#endif
}

static inline void merge(state *s, state other)
{
#if defined(SCAN_SUM)
    add_exactly(&s->re, &s->re_lost, other.re);
    s->re_lost += other.re_lost;
    add_exactly(&s->im, &s->im_lost, other.im);
    s->im_lost += other.im_lost;
#elif defined(SCAN_PROD)
    multiply(s, other.re, other.im);
#else
    if (other.re > s->re || other.re != other.re) s->re = other.re;
#endif
}

static inline void take(state *s, value x)
{
#ifdef CLASS_COMPLEX
    const state one = { x.x, 0, x.y, 0 };
#else
    const state one = { (wide)x, 0, 0, 0 };
#endif
    merge(s, one);
}

static inline void give(BYTES z, int dtype, state s)
{
#if defined(CLASS_COMPLEX)
    store_complex(z, dtype, (wide2)(with_error(s.re, s.re_lost), with_error(s.im, s.im_lost)));
#else
    store_real(z, dtype, with_error(s.re, s.re_lost));
#endif
}
#endif

/* The nest has all dims but the axis. */
kernel void scan(BYTES z, CONST_BYTES x, nest t, long n, long z_step, long x_step, local state *shared)
{
    const int l = (int)get_local_id(0), width = (int)get_local_size(0);
    const ulong line = get_group_id(0);
    const long stretch = (n + width - 1) / width;
    const long from = min((long)l * stretch, n), to = min(from + stretch, n);
    long at[2] = { t.base[0], t.base[1] };
    place(&t, line, at, 2);
    state s = begin_state();
    for (long i = from; i < to; i++) take(&s, LOAD(x + at[1] + i * x_step, DTYPE1(&t)));
    shared[l] = s;
    barrier(CLK_LOCAL_MEM_FENCE);
    s = begin_state();
    for (int i = 0; i < l; i++) merge(&s, shared[i]);
    for (long i = from; i < to; i++) {
        take(&s, LOAD(x + at[1] + i * x_step, DTYPE1(&t)));
        give(z + at[0] + i * z_step, DTYPE0(&t), s);
    }
}

/* A work item for each line. */
kernel void serial(BYTES z, CONST_BYTES x, nest t, long n, long z_step, long x_step)
{
    const ulong line = get_global_id(0);
    if (line >= (ulong)t.count) return;
    long at[2] = { t.base[0], t.base[1] };
    place(&t, line, at, 2);
    state s = begin_state();
    for (long i = 0; i < n; i++) {
        take(&s, LOAD(x + at[1] + i * x_step, DTYPE1(&t)));
        give(z + at[0] + i * z_step, DTYPE0(&t), s);
    }
}
