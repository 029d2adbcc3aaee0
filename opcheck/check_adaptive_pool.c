/* check_adaptive_pool.c - pools to a given size, and means of all places.
 *
 * Output o of s along a dim sees floor(o * in / s) .. ceil((o + 1) * in / s) - 1.
 */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { X, RESULT, INDICES, MOST_DIMS = 3, RANK = 2 + MOST_DIMS };

/* x (lead..., in...) becomes (lead..., out...); `asked` are the sizes that are passed to the call. */
typedef struct pooling {
    int lead, dims;
    int64_t shape[RANK], out[RANK], asked[MOST_DIMS];
    bool all;
} pooling;

/* A device without a kernel for windows of many sizes does several ops for each place of x. */
static int64_t most_places(const trial *t)
{
    const int64_t most = most_elements(t);
    return t->device != TSR_CPU && most > 600 ? 600 : most;
}

static void draw_pooling(trial *t, pooling *p)
{
    int64_t left = most_places(t);
    p->dims = (int)random_between(t, 1, MOST_DIMS);
    p->lead = (int)random_between(t, 1, 2);
    p->all = once_in(t, 3);
    for (int d = p->lead + p->dims - 1; d >= 0; d--) {
        const int k = d - p->lead;
        p->shape[d] = p->out[d] = k < 0 && once_in(t, 20) ? 0 : random_size(t, 1, 7, left);
        left /= p->shape[d] ? p->shape[d] : 1;
        if (k < 0) continue;
        p->out[d] =
            p->all ? 1 : random_between(t, 1, p->shape[d] < 9 ? p->shape[d] + 2 : p->shape[d] / 2 + 2);
        p->asked[k] = p->out[d];
        if (p->all || !once_in(t, 5)) continue;
        p->asked[k] = -1;
        p->out[d] = p->shape[d];
    }
}

/* The window of one output: where it begins along each dim, and how long it is. */
static int64_t window_of(const pooling *p, const int64_t *at, int64_t *begin, int64_t *size)
{
    int64_t places = 1;
    for (int k = 0; k < p->dims; k++) {
        const int d = p->lead + k;
        const int64_t in = p->shape[d], out = p->out[d];
        begin[k] = at[d] * in / out;
        size[k] = ((at[d] + 1) * in + out - 1) / out - begin[k];
        places *= size[k];
    }
    return places;
}

static bool is_larger(tsr_dtype dtype, value a, value b)
{
    if (is_float(dtype)) return !isnan(b.re) && (isnan(a.re) || a.re > b.re);
    return is_signed(dtype) ? (int64_t)a.bits > (int64_t)b.bits : a.bits > b.bits;
}

typedef struct seen {
    value largest;
    int64_t where; /* of the first largest, counted over x's last dims */
    double sum, size;
    int64_t places;
} seen;

static seen look(const trial *t, const pooling *p, const int64_t *at)
{
    int64_t begin[MOST_DIMS], size[MOST_DIMS];
    seen s = { .where = -1, .places = window_of(p, at, begin, size) };
    const int64_t *in = p->shape + p->lead;
    const int64_t first = place_of(at, p->lead, p->shape) * count_of(p->dims, in);
    for (int64_t k = 0; k < s.places; k++) {
        int64_t i[MOST_DIMS];
        index_of(i, k, p->dims, size);
        for (int d = 0; d < p->dims; d++) i[d] += begin[d];
        const int64_t place = place_of(i, p->dims, in);
        const value v = value_at(t->tensor[X], first + place);
        s.sum += v.re;
        s.size += fabs(v.re);
        if (s.where >= 0 && !is_larger(t->check->dtype, v, s.largest)) continue;
        s.largest = v;
        s.where = place;
    }
    return s;
}

static tsr_status call(trial *t, const pooling *p, bool largest, bool indices)
{
    tsr_tensor **out = &t->tensor[RESULT], **where = indices ? &t->tensor[INDICES] : NULL;
    const tsr_tensor *x = t->tensor[X];
    if (largest)
        return p->all ? tsr_max_pool_all(out, where, x, p->dims)
                      : tsr_adaptive_max_pool(out, where, x, p->dims, p->asked);
    return p->all ? tsr_avg_pool_all(out, x, p->dims) : tsr_adaptive_avg_pool(out, x, p->dims, p->asked);
}

static void check_adaptive(trial *t)
{
    const bool largest = t->check->about != NULL, indices = largest && once_in(t, 2);
    pooling p = { .lead = 1 };
    draw_pooling(t, &p);
    const int rank = p.lead + p.dims;
    make_input(t, X, t->check->dtype, rank, p.shape, largest ? FILL_SPECIAL : FILL_SMALL);
    const bool given = !once_in(t, 4);
    if (given) make_output(t, RESULT, t->check->dtype, rank, p.out);
    if (given && indices) make_output(t, INDICES, TSR_I64, rank, p.out);
    GO_ON(t);
    NEED(t, call(t, &p, largest, indices));
    if (given) check_gaps(t, RESULT);
    if (given && indices) check_gaps(t, INDICES);
    check_shape(t, RESULT, t->check->dtype, rank, p.out);
    if (indices) check_shape(t, INDICES, TSR_I64, rank, p.out);
    const int64_t count = count_of(rank, p.out), cost = count ? 16 * count_of(rank, p.shape) / count + 16 : 1;
    for (int64_t k = first_sample(t, count, cost); k >= 0; k = next_sample(t, k, count, cost)) {
        int64_t at[RANK];
        index_of(at, k, rank, p.out);
        const seen s = look(t, &p, at);
        if (largest)
            check_near(t, RESULT, k, s.largest, 0);
        else
            check_near(t, RESULT, k, real_value(s.sum / (double)s.places),
                       rounding_of(t, t->check->dtype, 1e-14) * s.size);
        if (indices) check_near(t, INDICES, k, integer_value(TSR_I64, (uint64_t)s.where), 0);
    }
}

/* The mean over a sequence: (batch, seq, feat) gives (batch, feat). */
static void check_global(trial *t)
{
    const int64_t most = most_elements(t), feat = random_size(t, 0, 7, most),
                  seq = random_size(t, 1, 7, most / (feat + 1)),
                  shape[] = { random_between(t, 0, 3), seq, feat }, z[] = { shape[0], feat };
    make_input(t, X, t->check->dtype, 3, shape, FILL_SMALL);
    make_output(t, RESULT, t->check->dtype, 2, z);
    GO_ON(t);
    NEED(t, tsr_global_avg_pool(&t->tensor[RESULT], t->tensor[X]));
    check_gaps(t, RESULT);
    const int64_t count = count_of(2, z);
    for (int64_t k = first_sample(t, count, 4 * seq); k >= 0; k = next_sample(t, k, count, 4 * seq)) {
        double sum = 0, size = 0;
        for (int64_t i = 0; i < seq; i++) {
            const double x = value_at(t->tensor[X], (k / feat * seq + i) * feat + k % feat).re;
            sum += x;
            size += fabs(x);
        }
        check_near(t, RESULT, k, real_value(sum / (double)seq),
                   rounding_of(t, t->check->dtype, 1e-14) * size);
    }
}

static bool is_ordered(tsr_dtype dtype) { return is_integer(dtype) || is_float(dtype); }

void list_adaptive_pool(check_list *list)
{
    static const char largest[] = "max";
    const check c = { .family = "pool", .run = check_adaptive, .every = 2 };
    check m = c;
    m.about = largest;
    add_checks(list, m, "adaptive_max_pool", is_ordered);
    add_checks(list, c, "adaptive_avg_pool", is_float);
    add_checks(list, (check){ .family = "pool", .run = check_global, .every = 2 }, "global_avg_pool",
               is_float);
}
