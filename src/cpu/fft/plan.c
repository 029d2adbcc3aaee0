/* plan.c - see plan.h. */
#include "plan.h"
#include "core/alloc.h"
#include "core/lock.h"
#include "fft_kernels.h"
#include "roots.h"

/* Shape of a plan ---------------------------------------------------------------------- */

static bool has_only_small_factors(int64_t n)
{
    for (int64_t p = 2; p <= TSRI_FFT_RADIX_MAX; p++)
        while (n % p == 0) n /= p;
    return n == 1;
}

/* The least 2^a * {1, 3, 5, 9, 15} that is at least n, itself at most 2^61. */
static int64_t convolution_length(int64_t n)
{
    static const int64_t odd[] = { 1, 3, 5, 9, 15 };
    int64_t best = INT64_MAX;
    for (int i = 0; i < 5; i++) {
        int64_t length = odd[i];
        while (length < n) length *= 2;
        if (length < best) best = length;
    }
    return best;
}

/* The largest of the prime factors of a length that are not 2; 1 if there is none. */
static int32_t odd_factor(int64_t n)
{
    int32_t largest = 1;
    for (int32_t p = 3; p <= TSRI_FFT_RADIX_MAX; p += 2)
        for (; n % p == 0; n /= p) largest = p;
    return largest;
}

/* The next radix of a length: odd ones first. 16 is 4 * 4: a pass of 2 comes only where nothing else fits. */
static int32_t next_radix(int64_t n)
{
    const int32_t odd = odd_factor(n);
    const int twos = __builtin_ctzll((unsigned long long)n);
    if (odd > 1) return odd;
    return twos == 1 ? 2 : twos == 2 || twos == 4 ? 4 : 8;
}

/* The rows of two levels: the largest divisor up to the root of n. 1: one level, of lengths that begin with a
 * pass of radix 8, and of those with no two factors to speak of. */
static int64_t rows_of(int64_t n)
{
    int64_t d = 0;
    if (n < TSRI_FFT_LONG && (n % 8 == 0 || n < 32)) return 1;
    for (int64_t bit = (int64_t)1 << 31; bit > 0; bit /= 2)
        if ((d | bit) <= n / (d | bit)) d |= bit;
    while (n % d != 0) d--;
    return d < 4 ? 1 : d;
}

static bool has_own_pass(int32_t radix) { return radix <= 8; }

static int64_t take(int64_t *used, int64_t count)
{
    const int64_t at = *used;
    *used += 2 * count;
    return at;
}

/* Adds the passes of a length. The first of all has radix 8 if it can: that one has vectors along a lane. */
static void lay_out_passes(tsri_fft_plan *p, int64_t length, int64_t *used)
{
    for (int64_t left = length; left > 1;) {
        tsri_fft_pass *pass = &p->pass[p->npasses++];
        pass->radix = p->npasses == 1 && left % 8 == 0 ? 8 : next_radix(left);
        left /= pass->radix;
        pass->m = left;
        pass->twiddles = take(used, (pass->radix - 1) * left);
        pass->roots = has_own_pass(pass->radix) ? 0 : take(used, pass->radix);
    }
}

static int64_t group_count(const tsri_fft_plan *p) { return (p->rows + TSRI_FFT_GROUP - 1) / TSRI_FFT_GROUP; }

/* Everything but the tables' contents; returns how many elements they have. */
static int64_t lay_out(tsri_fft_plan *p)
{
    int64_t used = 0;
    p->npasses = 0;
    p->rows = rows_of(p->by);
    const int64_t m = p->by / p->rows;
    const bool is_long = p->by >= TSRI_FFT_LONG && p->rows > 1;
    lay_out_passes(p, m, &used);
    p->first = p->npasses;
    lay_out_passes(p, p->rows, &used);
    p->between = p->rows == 1 ? 0 : take(&used, is_long ? 2 * m * group_count(p) : p->by);
    p->fine = is_long ? take(&used, m * TSRI_FFT_GROUP) : 0;
    if (p->halved) p->half = take(&used, p->n / 2 + 1);
    if (tsri_fft_convolves(p)) {
        p->chirp = take(&used, p->n);
        p->filter = take(&used, p->by);
    }
    return used + TSRI_FFT_SPILL; /* vectors are read past the end of a table */
}

/* What a plan for a length will be; its table is not there yet. */
static void describe(tsri_fft_plan *p, int64_t length, bool real, bool is_double)
{
    p->length = length;
    p->real = real;
    p->is_double = is_double;
    p->halved = real && length % 2 == 0;
    p->n = p->halved ? length / 2 : length;
    const bool small = has_only_small_factors(p->n);
    p->by = small ? p->n : convolution_length(2 * p->n - 1);
    p->wide = is_double || !small;
    p->bytes = (size_t)lay_out(p) * (p->wide ? sizeof(double) : sizeof(float));
    p->slot = -1;
}

/* Contents of the tables --------------------------------------------------------------- */

/* Entry i of a table of `count`: e^(-i angle), given the angle's cos and sin. */
static void put(const tsri_fft_plan *p, int64_t table, int64_t count, int64_t i, double c, double s)
{
    if (p->wide) {
        double *t = (double *)p->table + table;
        t[i] = c;
        t[count + i] = -s;
    } else {
        float *t = (float *)p->table + table;
        t[i] = (float)c;
        t[count + i] = (float)-s;
    }
}

static void fill_pass(const tsri_fft_plan *p, const tsri_fft_pass *pass, const tsri_fft_roots *roots)
{
    double c, s;
    const int64_t m = pass->m, before = p->by / (m * pass->radix), count = (pass->radix - 1) * m;
    for (int64_t k = 1; k < pass->radix; k++)
        for (int64_t i = 0; i < m; i++) {
            tsri_fft_roots_at(&c, &s, roots, i * k * before);
            put(p, pass->twiddles, count, (k - 1) * m + i, c, s);
        }
    for (int64_t k = 0; k < pass->radix && !has_own_pass(pass->radix); k++) {
        tsri_fft_roots_at(&c, &s, roots, k * (p->by / pass->radix));
        put(p, pass->roots, pass->radix, k, c, s);
    }
}

/* A number as the nearest of the compute type, and what is left of it. */
static void put_pair(const tsri_fft_plan *p, int64_t at, double high, double low)
{
    if (p->wide) {
        double *t = (double *)p->table + at;
        t[0] = high;
        t[1] = low;
    } else {
        float *t = (float *)p->table + at;
        t[0] = (float)high;
        t[1] = (float)(high - (double)t[0] + low);
    }
}

/* Of long plans: for each group of rows, and for the rows of one group. */
static void fill_groups(const tsri_fft_plan *p, const tsri_fft_roots *roots)
{
    const int64_t m = p->by / p->rows;
    for (int64_t g = 0; g < group_count(p); g++)
        for (int64_t k = 0; k < m; k++) {
            tsri_fft_root r;
            tsri_fft_roots_both(&r, roots, g * TSRI_FFT_GROUP * k);
            put_pair(p, p->between + 4 * (g * m + k), r.c, r.c_low);
            put_pair(p, p->between + 4 * (g * m + k) + 2, -r.s, -r.s_low);
        }
    for (int64_t k = 0; k < m; k++)
        for (int64_t v = 0; v < TSRI_FFT_GROUP; v++) {
            double c, s;
            tsri_fft_roots_at(&c, &s, roots, k * v % p->by);
            put(p, p->fine, m * TSRI_FFT_GROUP, k * TSRI_FFT_GROUP + v, c > 0 ? -s * s / (1 + c) : c - 1, s);
        }
}

static void fill_between(const tsri_fft_plan *p, const tsri_fft_roots *roots)
{
    for (int64_t k = 0; k < p->by / p->rows; k++)
        for (int64_t v = 0; v < p->rows; v++) {
            double c, s;
            tsri_fft_roots_at(&c, &s, roots, k * v);
            put(p, p->between, p->by, k * p->rows + v, c, s);
        }
}

static void fill_passes(const tsri_fft_plan *p, const tsri_fft_roots *roots)
{
    for (int i = 0; i < p->npasses; i++) fill_pass(p, &p->pass[i], roots);
    if (p->fine)          fill_groups(p, roots);
    else if (p->rows > 1) fill_between(p, roots);
}

static void fill_half(const tsri_fft_plan *p, const tsri_fft_roots *roots)
{
    for (int64_t k = 0; k <= p->n / 2; k++) {
        double c, s;
        tsri_fft_roots_at(&c, &s, roots, k);
        put(p, p->half, p->n / 2 + 1, k, c, s);
    }
}

/* k^2 is computed modulo 2 n, step by step, so that it never overflows. */
static void fill_chirp(const tsri_fft_plan *p, const tsri_fft_roots *roots)
{
    double *filter = (double *)p->table + p->filter;
    int64_t square = 0;
    for (int64_t i = 0; i < 2 * p->by; i++) filter[i] = 0;
    for (int64_t k = 0; k < p->n; k++) {
        double c, s;
        tsri_fft_roots_at(&c, &s, roots, square);
        put(p, p->chirp, p->n, k, c, s);
        const int64_t mirrored = k > 0 ? p->by - k : 0;
        filter[k] = filter[mirrored] = c / (double)p->by;
        filter[p->by + k] = filter[p->by + mirrored] = s / (double)p->by;
        square += 2 * k + 1;
        square -= square >= 2 * p->n ? 2 * p->n : 0;
    }
}

/* Runs one of the fills with the roots of n. */
static tsr_status with_roots(const tsri_fft_plan *p, int64_t n,
                             void (*fill)(const tsri_fft_plan *, const tsri_fft_roots *))
{
    tsri_fft_roots roots;
    const size_t bytes = tsri_fft_roots_bytes(n);
    void *scratch = tsri_scratch(bytes);
    if (!scratch) return TSR_ENOMEM;
    tsri_fft_roots_init(&roots, n, scratch);
    fill(p, &roots);
    tsri_free(scratch, bytes);
    return TSR_OK;
}

/* The filter's transform in place of the filter. */
static tsr_status transform_filter(const tsri_fft_plan *p)
{
    const int64_t room = tsri_fft_room(p) + TSRI_FFT_SPILL;
    const size_t bytes = (size_t)(4 * room) * sizeof(double);
    double *scratch = tsri_scratch(bytes), *filter = (double *)p->table + p->filter;
    if (!scratch) return TSR_ENOMEM;
    tsri_fft_buffers_f64 b = { .re = scratch, .im = scratch + room, .re2 = scratch + 2 * room,
                               .im2 = scratch + 3 * room };
    for (int64_t i = 0; i < p->by; i++) {
        b.re[i] = filter[i];
        b.im[i] = filter[p->by + i];
    }
    tsr_status s = tsri_fft_kernels_get()->passes_f64(p, &b, 1);
    for (int64_t i = 0; i < p->by; i++) {
        filter[i] = b.re[i];
        filter[p->by + i] = b.im[i];
    }
    tsri_free(scratch, bytes);
    return s;
}

static tsr_status fill(tsri_fft_plan *p)
{
    TSRI_TRY(with_roots(p, p->by, fill_passes));
    if (p->halved) TSRI_TRY(with_roots(p, p->length, fill_half));
    if (!tsri_fft_convolves(p)) return TSR_OK;
    TSRI_TRY(with_roots(p, 2 * p->n, fill_chirp));
    return transform_filter(p);
}

/* Cache -------------------------------------------------------------------------------- */

/* A few plans may be large. */
#ifdef TSR_FREESTANDING
enum { SLOTS = 1, LARGE_SLOTS = 0, SLOT_BYTES = 64, LARGE_BYTES = 0 };
#else
enum { SLOTS = 8, LARGE_SLOTS = 2, SLOT_BYTES = 512 << 10, LARGE_BYTES = 4 << 20 };
#endif

/* A slot's plan is valid while its length is not 0. One that is being filled in has a
 * user and no length. */
typedef struct slot {
    tsri_fft_plan plan;
    int           users;
    uint64_t      used; /* when, in calls */
} slot;

static tsri_mutex lock = TSRI_MUTEX_INIT;
static slot slots[SLOTS];
static uint64_t calls;
static _Alignas(64) unsigned char tables[(SLOTS - LARGE_SLOTS) * SLOT_BYTES + LARGE_SLOTS * LARGE_BYTES];

/* The child lacks the other threads, so that nobody uses a slot there. */
TSRI_HELD_AT_FORK(lock, for (int i = 0; i < SLOTS; i++) slots[i].users = 0);

/* The large slots are the last ones. */
static unsigned char *slot_table(int i)
{
    const int small = SLOTS - LARGE_SLOTS;
    return tables + (i < small ? (size_t)i * SLOT_BYTES
                               : (size_t)small * SLOT_BYTES + (size_t)(i - small) * LARGE_BYTES);
}

static bool is_for(const tsri_fft_plan *cached, int64_t length, bool real, bool is_double)
{
    return cached->length == length && cached->real == real && cached->is_double == is_double;
}

/* The slot that holds the plan, with one more user; NULL if none does. */
static slot *claim_cached(int64_t length, bool real, bool is_double)
{
    slot *found = NULL;
    tsri_lock(&lock);
    for (int i = 0; i < SLOTS && !found; i++)
        if (is_for(&slots[i].plan, length, real, is_double)) found = &slots[i];
    if (found) {
        found->users++;
        found->used = ++calls;
    }
    tsri_unlock(&lock);
    return found;
}

/* A slot to fill in, of the size for it the one unused for longest, with its first user; NULL if all are in
 * use or it is too large. */
static slot *claim_free(size_t bytes)
{
    slot *oldest = NULL;
    const bool large = bytes > SLOT_BYTES;
    const int small = SLOTS - LARGE_SLOTS, begin = large ? small : 0, end = large ? SLOTS : small;
    if (large && bytes > LARGE_BYTES) return NULL;
    tsri_lock(&lock);
    for (int i = begin; i < end; i++)
        if (slots[i].users == 0 && (!oldest || slots[i].used < oldest->used)) oldest = &slots[i];
    if (oldest) {
        oldest->users = 1;
        oldest->used = ++calls;
        oldest->plan.length = 0;
    }
    tsri_unlock(&lock);
    return oldest;
}

static tsr_status fill_slot(slot *s, const tsri_fft_plan *wanted)
{
    const int i = (int)(s - slots);
    tsri_fft_plan plan = *wanted;
    plan.table = slot_table(i);
    plan.slot = i;
    const tsr_status status = fill(&plan);
    tsri_lock(&lock);
    if (status == TSR_OK) s->plan = plan;
    else                  s->users--;
    tsri_unlock(&lock);
    return status;
}

static tsr_status make_plan(tsri_fft_plan *p)
{
    p->table = tsri_scratch(p->bytes);
    if (!p->table) return TSR_ENOMEM;
    const tsr_status s = fill(p);
    if (s != TSR_OK) tsri_free(p->table, p->bytes);
    return s;
}

tsr_status tsri_fft_plan_get(const tsri_fft_plan **out, tsri_fft_plan *mine, int64_t length, bool real,
                             bool is_double)
{
    slot *s = claim_cached(length, real, is_double);
    if (s) {
        *out = &s->plan;
        return TSR_OK;
    }
    describe(mine, length, real, is_double);
    s = claim_free(mine->bytes);
    *out = s ? &s->plan : mine;
    return s ? fill_slot(s, mine) : make_plan(mine);
}

void tsri_fft_plan_put(const tsri_fft_plan *plan)
{
    if (plan->slot < 0) {
        tsri_free(plan->table, plan->bytes);
        return;
    }
    tsri_lock(&lock);
    slots[plan->slot].users--;
    tsri_unlock(&lock);
}
