/* overlap.c - may two views touch the same bytes?
 *
 * The addresses of a view are a sum of terms: step * x, one per dim, with
 * 0 <= x <= most (a dim walked backwards is walked forwards from its other end).
 * Both questions come down to one: can a sum of such terms be exactly `target`?
 *
 *   two views     low_a + sum_a = low_b + sum_b, byte for byte. Counting b's
 *                 indices from their other end moves sum_b to the left side.
 *   one view      two different indices at one address differ by a vector whose
 *                 sum is 0. Its first entry that is not 0 may be taken as
 *                 positive; the ones after it are of either sign, and are shifted
 *                 to start at 0.
 *
 * That is the bounded subset-sum problem, which is hard in general and easy for
 * the strides of real views. The search takes the largest step first and keeps
 * only those x for which the rest can still make up the difference: it must lie
 * within the rest's reach, and be a multiple of the rest's gcd. The latter fixes
 * x modulo a period, so that the others are never tried. Where the rest reaches
 * every multiple of its gcd, the search is over.
 *
 * All sums are of at most two spans, each below 2^63 (tsr_desc_check), so they
 * fit an uint64_t.
 */
#include "overlap.h"

#include "tessera/tensor.h"

typedef struct term {
    uint64_t step, most; /* neither is 0 */
} term;

enum { MAX_TERMS = 2 * TSR_MAX_NDIM };

typedef struct search {
    int      n;
    int64_t  budget;
    term     term[MAX_TERMS];      /* largest step first */
    uint64_t reach[MAX_TERMS + 1]; /* the largest sum of terms k and on */
    uint64_t gcd[MAX_TERMS + 1];   /* of the steps of terms k and on */
    bool     full[MAX_TERMS];      /* do terms k and on reach every multiple of gcd[k]? */
    uint64_t period[MAX_TERMS];    /* x of term k is fixed modulo this */
    uint64_t inverse[MAX_TERMS];   /* of step[k] / gcd[k], modulo period[k] */
} search;

static uint64_t gcd_of(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* 1 / a modulo m, for a and m without a common factor and m < 2^63. */
static uint64_t inverse_of(uint64_t a, uint64_t m)
{
    int64_t r0 = (int64_t)m, r1 = (int64_t)(a % m), t0 = 0, t1 = 1;
    while (r1 != 0) {
        const int64_t q = r0 / r1, r2 = r0 - q * r1, t2 = t0 - q * t1;
        r0 = r1; r1 = r2;
        t0 = t1; t1 = t2;
    }
    return (uint64_t)(t0 < 0 ? t0 + (int64_t)m : t0);
}

/* a * b modulo m, for a, b < m < 2^63. By doubling: not every machine has a
 * 128-bit product. */
static uint64_t multiply_modulo(uint64_t a, uint64_t b, uint64_t m)
{
    uint64_t product = 0;
    if ((a | b) <= UINT32_MAX) return a * b % m;
    for (; b != 0; b >>= 1) {
        if (b & 1) product = product + a >= m ? product + a - m : product + a;
        a = a + a >= m ? a + a - m : a + a;
    }
    return product;
}

/* Terms of the dims that move, in units of `unit` (1: elements, the dtype's size:
 * bytes), added to list[0 .. n - 1], which stays sorted; equal steps become one
 * term. Returns the new n. */
static int add_terms(term *list, int n, const tsr_desc *d, uint64_t unit)
{
    for (int i = 0; i < d->ndim; i++) {
        if (d->shape[i] == 1 || d->stride[i] == 0) continue;
        const uint64_t size = d->stride[i] < 0 ? 0 - (uint64_t)d->stride[i] : (uint64_t)d->stride[i];
        const term new_term = { size * unit, (uint64_t)d->shape[i] - 1 };
        int at = n;
        while (at > 0 && list[at - 1].step < new_term.step) at--;
        if (at > 0 && list[at - 1].step == new_term.step) {
            list[at - 1].most += new_term.most;
            continue;
        }
        for (int j = n++; j > at; j--) list[j] = list[j - 1];
        list[at] = new_term;
    }
    return n;
}

/* Everything about s->term[0 .. n - 1] that does not depend on the target. */
static void prepare(search *s)
{
    s->reach[s->n] = 0;
    s->gcd[s->n] = 0;
    for (int k = s->n - 1; k >= 0; k--) {
        const term t = s->term[k];
        const uint64_t next = s->gcd[k + 1], g = gcd_of(t.step, next);
        const bool last = k == s->n - 1;
        s->reach[k] = s->reach[k + 1] + t.step * t.most;
        s->gcd[k] = g;
        s->full[k] = last || (s->full[k + 1] && g == next && t.step - g <= s->reach[k + 1]);
        s->period[k] = last ? 1 : next / g;
        s->inverse[k] = last ? 0 : inverse_of(t.step / g, s->period[k]);
    }
}

/* Can terms k and on add up to target, a multiple of gcd[k] up to reach[k]? */
static bool can_reach(search *s, int k, uint64_t target)
{
    if (s->full[k] || s->budget-- <= 0) return true;
    const term     t = s->term[k];
    const uint64_t rest = s->reach[k + 1], period = s->period[k];
    const uint64_t most = target / t.step < t.most ? target / t.step : t.most;
    const uint64_t least = target > rest ? (target - rest - 1) / t.step + 1 : 0;
    const uint64_t fixed = multiply_modulo(target / s->gcd[k] % period, s->inverse[k], period);
    const uint64_t gap = (fixed + period - least % period) % period;
    if (gap > most || least > most - gap) return false;
    for (uint64_t x = least + gap;; x += period) {
        if (can_reach(s, k + 1, target - x * t.step)) return true;
        if (most - x < period) return false;
    }
}

/* Can the terms add up to something within lo .. hi? There is a term, unless lo is 0. lo is no more than all
 * of them together, which is a multiple of their divisor: no target is beyond that. */
static bool can_reach_any(search *s, uint64_t lo, uint64_t hi)
{
    if (lo == 0) return true;
    const uint64_t g = s->gcd[0];
    if (hi > s->reach[0]) hi = s->reach[0];
    for (uint64_t target = lo + (g - lo % g) % g; target <= hi; target += g)
        if (can_reach(s, 0, target)) return true;
    return false;
}

/* The question for two indices that first differ in dim `first` of dims[0 .. n - 1];
 * rest is the reach of the dims after it. */
static bool meets_itself(search *s, const term *dims, int n, int first, uint64_t rest)
{
    if (dims[first].step > rest) return false;
    s->n = 0;
    if (dims[first].most > 1) s->term[s->n++] = (term){ dims[first].step, dims[first].most - 1 };
    for (int i = first + 1; i < n; i++) s->term[s->n++] = (term){ dims[i].step, 2 * dims[i].most };
    prepare(s);
    const uint64_t target = rest - dims[first].step;
    return can_reach_any(s, target, target);
}

bool tsr_desc_self_overlaps(const tsr_desc *d)
{
    term dims[TSR_MAX_NDIM];
    const int64_t span = tsr_desc_span(d, NULL, NULL);
    if (span == 0) return false;
    if (tsr_desc_has_broadcast(d) || tsr_desc_bytes(d) > span) return true;

    int moving = 0;
    for (int i = 0; i < d->ndim; i++) moving += d->shape[i] != 1;
    const int n = add_terms(dims, 0, d, 1);
    if (n < moving) return true; /* two dims with one step */

    /* The usual case ends here: each step is larger than what the smaller ones reach. */
    uint64_t reach = 0;
    int k = n;
    while (k > 0 && dims[k - 1].step > reach) {
        k--;
        reach += dims[k].step * dims[k].most;
    }
    if (k == 0) return false;

    search s;
    s.budget = TSRI_OVERLAP_BUDGET;
    reach = 0;
    for (k = n - 1; k >= 0; k--) {
        if (meets_itself(&s, dims, n, k, reach)) return true;
        reach += dims[k].step * dims[k].most;
    }
    return false;
}

static uint64_t lowest(const void *data, int64_t lo) { return (uint64_t)(uintptr_t)data + (uint64_t)lo; }

bool tsri_overlap(const void *data_a, const tsr_desc *a, const void *data_b, const tsr_desc *b)
{
    int64_t lo_a, lo_b;
    const uint64_t span_a = (uint64_t)tsr_desc_span(a, &lo_a, NULL);
    const uint64_t span_b = (uint64_t)tsr_desc_span(b, &lo_b, NULL);
    if (span_a == 0 || span_b == 0) return false;

    /* How far b's lowest byte lies above a's, modulo 2^64. */
    const uint64_t apart = lowest(data_b, lo_b) - lowest(data_a, lo_a);
    if (apart >= span_a && 0 - apart >= span_b) return false;
    if (data_a == data_b) return true;

    const uint64_t size_a = tsr_dtype_size(a->dtype), size_b = tsr_dtype_size(b->dtype);
    search s;
    s.budget = TSRI_OVERLAP_BUDGET;
    s.n = add_terms(s.term, 0, a, size_a);
    s.n = add_terms(s.term, s.n, b, size_b);
    prepare(&s);
    /* What the terms must add up to for b's last byte to meet a's first; the bytes within an
     * element of each lower that by up to `within`. */
    const uint64_t target = apart + span_b - 1, within = size_a + size_b - 2;
    return can_reach_any(&s, target > within ? target - within : 0, target);
}

bool tsr_may_overlap(const tsr_tensor *a, const tsr_tensor *b)
{
    if (!tsr_is_allocated(a) || !tsr_is_allocated(b)) return false;
    /* Addresses on two devices have nothing to do with each other, unless both are the host's. */
    if (a->device != b->device && !(tsr_is_host(a) && tsr_is_host(b))) return false;
    return tsri_overlap(a->data, &a->desc, b->data, &b->desc);
}

bool tsr_self_overlaps(const tsr_tensor *t)
{
    return tsr_is_allocated(t) && tsr_desc_self_overlaps(&t->desc);
}
