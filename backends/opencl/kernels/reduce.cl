/* reduce.cl - reductions: elements of a lane are taken into a state, states are merged in a fixed
 * order, and a state comes to a result.
 *
 * The nest has the result's dims first, up to `kept`, and then those that are reduced, in which x
 * alone walks. A lane is cut into parts where there are few lanes; the states of parts go through
 * memory. Ops of two passes hand four numbers for each lane, k, to the second (OF_K).
 *
 *     ACCUMULATE_SUM      f[0], f[1]: total and what rounding took from it; f[2], f[3]: of imaginary parts
 *     ACCUMULATE_PROD     f[0], f[2]
 *     ACCUMULATE_LARGEST  f[0]; f[1] is not 0 once a NaN was met
 *     ACCUMULATE_FIND     f[0] or u, and at, where the first of them was; -1: none yet
 *     ACCUMULATE_COUNT    u
 *
 * Integers are in u: sums and products as they are, the others as order-keeping unsigned numbers.
 *
 * Small differences between ops are flags in `how`, so that one program serves several ops. */

/* As in reduce.c. */
typedef struct reduce_flags {
    int which;  /* the op */
    int least;  /* the largest of -x */
    int sizes;  /* of |x| */
    int next;   /* what the second pass adds up, NEXT_...; 0: there is none after this one */
} reduce_flags;

enum { NEXT_DEVIATION = 1, NEXT_EXP, NEXT_SQUARE, NEXT_POWER };

typedef struct state { wide f[4]; ulong u; long at; } state;

#ifdef HAS_F64
#define SCALE_MOST 1000
#else
#define SCALE_MOST 100
#endif

#if defined(CLASS_SIGNED) || defined(CLASS_UNSIGNED)
#define WHOLE
#endif

#define NEGATED(x) (how.least ? -(x) : (x))
#define FLIPPED_BITS(x) (how.least ? ~(x) : (x))

#ifdef CLASS_SIGNED
#define ORDER(x) FLIPPED_BITS((ulong)(x) ^ 0x8000000000000000ul)
#define UNORDER(u) (FLIPPED_BITS(u) ^ 0x8000000000000000ul)
#else
#define ORDER(x) FLIPPED_BITS((ulong)(x))
#define UNORDER(u) FLIPPED_BITS(u)
#endif

static inline state begin_state(void)
{
    state s;
    for (int i = 0; i < 4; i++) s.f[i] = 0;
    s.u = 0;
    s.at = -1;
#if defined(ACCUMULATE_PROD)
    s.f[0] = 1;
    s.u = 1;
#elif defined(ACCUMULATE_LARGEST) || defined(ACCUMULATE_FIND)
    s.f[0] = -(wide)INFINITY;
#endif
    return s;
}

/* What of an element is accumulated ---------------------------------------------------------------- */

#if defined(CLASS_COMPLEX)
static inline wide size_of_value(value x) { return hypot(x.x, x.y); }
static inline int is_set(value x) { return x.x != 0 || x.y != 0; }
#elif defined(WHOLE)
static inline int is_set(value x) { return x != 0; }
#else
static inline wide size_of_value(value x) { return fabs((wide)x); }
static inline int is_set(value x) { return x != 0; }
#endif

#if defined(OF_SQUARE) && defined(CLASS_COMPLEX)
static inline wide of(value x, const wide *k)
{
    const wide re = x.x * k[0], im = x.y * k[0];
    return re * re + im * im;
}
#elif defined(OF_SQUARE)
static inline wide of(value x, const wide *k) { const wide v = (wide)x * k[0]; return v * v; }
#elif defined(OF_DEVIATION) && defined(CLASS_COMPLEX)
static inline wide of(value x, const wide *k)
{
    const wide re = (x.x - k[0]) - k[1], im = (x.y - k[2]) - k[3];
    return re * re + im * im;
}
#elif defined(OF_DEVIATION)
static inline wide of(value x, const wide *k) { const wide d = ((wide)x - k[0]) - k[1]; return d * d; }
#elif defined(OF_POWER)
static inline wide of(value x, const wide *k) { return pow(size_of_value(x) / k[0], k[3]); }
#elif defined(OF_EXP)
static inline wide of(value x, const wide *k) { return exp((wide)x - k[0]); }
#elif defined(OF_SIZE)
static inline wide of(value x, const wide *k) { return size_of_value(x); }
#elif !defined(WHOLE) && !defined(CLASS_COMPLEX)
static inline wide of(value x, const wide *k) { return (wide)x; }
#endif

#if defined(OF_SQUARE) || defined(OF_DEVIATION) || defined(OF_POWER) || defined(OF_EXP) || defined(OF_SIZE)
#define OF_REAL
#endif

static inline void multiply(wide *re, wide *im, wide by_re, wide by_im)
{
    const wide r = *re * by_re - *im * by_im;
    *im = *re * by_im + *im * by_re;
    *re = r;
}

static inline void take(state *s, value x, long at, const wide *k, reduce_flags how)
{
#if defined(ACCUMULATE_COUNT)
    s->u += is_set(x) ? 1 : 0;
#elif defined(WHOLE) && defined(ACCUMULATE_SUM)
    s->u += (ulong)x;
#elif defined(WHOLE) && defined(ACCUMULATE_PROD)
    s->u *= (ulong)x;
#elif defined(WHOLE) && defined(ACCUMULATE_LARGEST)
    s->u = max(s->u, ORDER(x));
#elif defined(WHOLE) && defined(ACCUMULATE_FIND)
    if (s->at < 0 || ORDER(x) > s->u) {
        s->u = ORDER(x);
        s->at = at;
    }
#elif defined(ACCUMULATE_SUM) && defined(CLASS_COMPLEX) && !defined(OF_REAL)
    add_exactly(&s->f[0], &s->f[1], x.x);
    add_exactly(&s->f[2], &s->f[3], x.y);
#elif defined(ACCUMULATE_SUM)
    add_exactly(&s->f[0], &s->f[1], of(x, k));
#elif defined(ACCUMULATE_PROD) && defined(CLASS_COMPLEX)
    multiply(&s->f[0], &s->f[2], x.x, x.y);
#elif defined(ACCUMULATE_PROD)
    s->f[0] *= (wide)x;
#elif defined(ACCUMULATE_LARGEST)
#ifdef CLASS_COMPLEX
    const wide v = NEGATED(size_of_value(x));
#else
    const wide v = NEGATED(how.sizes ? fabs((wide)x) : (wide)x);
#endif
    s->f[0] = v > s->f[0] ? v : s->f[0];
    s->f[1] = v != v ? 1 : s->f[1];
#elif !defined(CLASS_COMPLEX)
    const wide v = NEGATED((wide)x);
    if (s->at < 0 || v > s->f[0] || (v != v && s->f[0] == s->f[0])) {
        s->f[0] = v;
        s->at = at;
    }
#endif
}

/* Does what was found in b take a's place? */
static inline int beats(const state *b, const state *a)
{
    const int earlier = b->at < a->at;
    if (b->at < 0 || a->at < 0) return a->at < 0;
#ifdef WHOLE
    return b->u > a->u || (earlier && b->u == a->u);
#else
    const wide x = b->f[0], y = a->f[0];
    return x > y || (x != x && y == y) || (earlier && (x == y || (x != x && y != y)));
#endif
}

static inline void merge(state *a, const state *b)
{
#if defined(ACCUMULATE_COUNT) || (defined(WHOLE) && defined(ACCUMULATE_SUM))
    a->u += b->u;
#elif defined(WHOLE) && defined(ACCUMULATE_PROD)
    a->u *= b->u;
#elif defined(WHOLE) && defined(ACCUMULATE_LARGEST)
    a->u = max(a->u, b->u);
#elif defined(ACCUMULATE_FIND)
    if (beats(b, a)) *a = *b;
#elif defined(ACCUMULATE_SUM)
    add_exactly(&a->f[0], &a->f[1], b->f[0]);
    a->f[1] += b->f[1];
#ifdef CLASS_COMPLEX
    add_exactly(&a->f[2], &a->f[3], b->f[2]);
    a->f[3] += b->f[3];
#endif
#elif defined(ACCUMULATE_PROD) && defined(CLASS_COMPLEX)
    multiply(&a->f[0], &a->f[2], b->f[0], b->f[2]);
#elif defined(ACCUMULATE_PROD)
    a->f[0] *= b->f[0];
#else
    a->f[0] = b->f[0] > a->f[0] ? b->f[0] : a->f[0];
    a->f[1] += b->f[1];
#endif
}

/* What a state comes to ------------------------------------------------------------------------------ */

static inline wide sum_of(const state *s, int slot) { return with_error(s->f[slot], s->f[slot + 1]); }
static inline wide extreme_of(const state *s, reduce_flags how)
{
    return s->f[1] != 0 ? (wide)NAN : NEGATED(s->f[0]);
}

/* Numbers for the second pass; k[1] keeps the extreme where there is one. */
static inline void hand_on(global wide *k, const state *s, long n, wide p, reduce_flags how)
{
    if (how.next == NEXT_DEVIATION) {
        for (int slot = 0; slot < 4; slot += 2) {
            const wide mean = sum_of(s, slot) / (wide)n;
            k[slot] = mean;
            k[slot + 1] = (fma(-mean, (wide)n, s->f[slot]) + s->f[slot + 1]) / (wide)n;
        }
        return;
    }
    const wide m = extreme_of(s, how);
    const int plain = m - m == 0;
    k[1] = m;
    k[2] = 0;
    k[3] = p;
    if (how.next == NEXT_EXP)         k[0] = plain ? m : 0;
    else if (how.next == NEXT_SQUARE)
        k[0] = plain && m > 0 ? ldexp((wide)1, clamp(-ilogb(m), -SCALE_MOST, SCALE_MOST)) : 1;
    else                              k[0] = plain && m != 0 ? m : 1;
}

static inline void give(BYTES z, int dtype, const state *s, const wide *k, long n, wide p, reduce_flags how)
{
#if defined(ACCUMULATE_COUNT)
    if (how.which == O_ANY)      *z = s->u != 0;
    else if (how.which == O_ALL) *z = s->u == (ulong)n;
    else if (how.which == O_NORM) store_real(z, dtype, (wide)s->u);
    else AT(ulong, z) = s->u;
#elif defined(ACCUMULATE_FIND)
    AT(long, z) = s->at;
#elif defined(WHOLE) && defined(ACCUMULATE_LARGEST)
    store_integer(z, dtype, UNORDER(s->u));
#elif defined(WHOLE)
    store_integer(z, dtype, s->u);
#elif defined(OF_DEVIATION)
    const wide over = (wide)n - p, v = sum_of(s, 0) / (n > 0 && over > 0 ? over : (wide)NAN);
    store_real(z, dtype, how.which == O_STD ? sqrt(v) : v);
#elif defined(OF_EXP)
    store_real(z, dtype, k[1] - k[1] == 0 ? k[1] + log(sum_of(s, 0)) : k[1]);
#elif defined(OF_SQUARE) || defined(OF_POWER)
    const int plain = k[1] - k[1] == 0 && k[1] != 0;
#ifdef OF_SQUARE
    const wide v = sqrt(sum_of(s, 0)) / k[0];
#else
    const wide v = k[1] * pow(sum_of(s, 0), 1 / p);
#endif
    store_real(z, dtype, n == 0 ? 0 : plain ? v : k[1]);
#elif defined(ACCUMULATE_LARGEST)
    store_real(z, dtype, n == 0 ? 0 : extreme_of(s, how));
#elif defined(ACCUMULATE_PROD) && defined(CLASS_COMPLEX)
    store_complex(z, dtype, (wide2)(s->f[0], s->f[2]));
#elif defined(ACCUMULATE_PROD)
    store_real(z, dtype, s->f[0]);
#else
    const wide by = how.which == O_MEAN ? (wide)n : 1;
#if defined(CLASS_COMPLEX) && !defined(OF_SIZE)
    store_complex(z, dtype, (wide2)(sum_of(s, 0) / by, sum_of(s, 2) / by));
#else
    store_real(z, dtype, sum_of(s, 0) / by);
#endif
#endif
}

/* Kernels ---------------------------------------------------------------------------------------------- */

static inline void end(BYTES z, int dtype, const state *s, global wide *k, const wide *own, long n, wide p,
                       reduce_flags how)
{
    if (how.next) hand_on(k, s, n, p, how);
    else give(z, dtype, s, own, n, p, how);
}

#define END(s) end(z + at[0], DTYPE0(&t), s, k + 4 * o, own, n, p, how)

#define ARGUMENTS \
    BYTES z, CONST_BYTES x, nest t, global wide *k, global state *states, int kept, long n, int is_small, \
        long parts, long part, wide p, reduce_flags how

static inline void read_k(wide *own, global const wide *k, ulong o)
{
    #ifdef OF_K
    for (int i = 0; i < 4; i++) own[i] = k[4 * o + i];
#else
    for (int i = 0; i < 4; i++) own[i] = 0;
#endif
}

/* A work item for each STRIP of lanes, which it walks side by side: where a work item runs alone, lines of
 * memory are then used up. */
kernel void serial(ARGUMENTS)
{
    const ulong first = get_global_id(0) * STRIP;
    if (first >= (ulong)t.count) return;
    const int lanes = (int)min((ulong)STRIP, (ulong)t.count - first);
    long from[STRIP];
    wide own[STRIP][4];
    state s[STRIP];
    for (int c = 0; c < lanes; c++) {
        long at[2] = { t.base[0], t.base[1] };
        place_dims(&t, 0, kept, first + (ulong)c, t.is_small, at, 2);
        from[c] = at[1];
        read_k(own[c], k, first + (ulong)c);
        s[c] = begin_state();
    }
    for (long j = 0; j < n; j++) {
        long to[2] = { 0, 0 };
        place_dims(&t, kept, t.ndim, (ulong)j, is_small, to, 2);
        for (int c = 0; c < lanes; c++) take(&s[c], LOAD(x + from[c] + to[1], DTYPE1(&t)), j, own[c], how);
    }
    for (int c = 0; c < lanes; c++) {
        const ulong o = first + (ulong)c;
        long at[2] = { t.base[0], t.base[1] };
        place_dims(&t, 0, kept, o, t.is_small, at, 2);
        end(z + at[0], DTYPE0(&t), &s[c], k + 4 * o, own[c], n, p, how);
    }
}

/* A work group for each part of a lane. */
kernel void group(ARGUMENTS, local state *shared)
{
    const ulong o = get_group_id(0);
    const int l = (int)get_local_id(0), width = (int)get_local_size(0);
    const long from = (long)get_group_id(1) * part, to = min(from + part, n);
    long at[2] = { t.base[0], t.base[1] };
    wide own[4];
    state s = begin_state();
    place_dims(&t, 0, kept, o, t.is_small, at, 2);
    read_k(own, k, o);
    for (long j = from + l; j < to; j += width) {
        long where[2] = { 0, at[1] };
        place_dims(&t, kept, t.ndim, (ulong)j, is_small, where, 2);
        take(&s, LOAD(x + where[1], DTYPE1(&t)), j, own, how);
    }
    shared[l] = s;
    for (int half_width = width / 2; half_width > 0; half_width /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < half_width) {
            s = shared[l];
            state other = shared[l + half_width];
            merge(&s, &other);
            shared[l] = s;
        }
    }
    if (l != 0) return;
    s = shared[0];
    if (parts > 1) states[o * (ulong)parts + get_group_id(1)] = s;
    else END(&s);
}

/* The parts of lanes, a work item for each lane. */
kernel void finish(ARGUMENTS)
{
    const ulong o = get_global_id(0);
    if (o >= (ulong)t.count) return;
    long at[2] = { t.base[0], t.base[1] };
    wide own[4];
    state s = begin_state();
    place_dims(&t, 0, kept, o, t.is_small, at, 2);
    read_k(own, k, o);
    for (long i = 0; i < parts; i++) {
        const state other = states[o * (ulong)parts + (ulong)i];
        merge(&s, &other);
    }
    END(&s);
}
