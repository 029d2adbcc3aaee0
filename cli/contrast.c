/* contrast.c - comparing in pieces, each cut into segments that threads share.
 *
 * First bytes are compared, which is all there is to do for equal tensors. From the first piece that
 * differs the tensor is walked over again, and measured. Segments do not depend on the number of threads,
 * and their results are added in order, so that neither do the sums.
 */
#include "contrast.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "room.h"
#include "wide.h"

enum { PIECE = 1 << 20, SEGMENT = 1 << 16, RUN = 512, SEGMENTS = 2 * PIECE / SEGMENT };

/* The two pieces, packed, as numbers and in the dtype whose steps are counted. */
typedef struct pair {
    tsr_tensor *piece[2], *numbers[2], *steps[2];
    bool        counts_steps, long_integers; /* integers of 64 bits: doubles do not hold them */
    int         parts;                       /* numbers to an element: 2 of complex ones */
} pair;

/* A kind of error at element `at` of a piece. */
typedef struct peak { double size; int64_t at; } peak;
enum { ERROR, RELATIVE, STEPS, PEAKS };

typedef struct segment {
    int64_t changed, differ, nans;
    double  distance, norm_a, norm_b, dot;
    peak    peak[PEAKS];
} segment;

/* Numbers of both sides, and how far they are apart. */
typedef struct run {
    double a[RUN], b[RUN], error[RUN], steps[RUN];
} run;

typedef struct job {
    const pair      *p;
    const tolerance *t;
    int64_t          count;               /* numbers of the piece */
    segment          found[SEGMENTS];
    atomic_bool      differs;             /* of bytes */
} job;

static void release_pair(pair *p)
{
    for (int i = 0; i < 2; i++) {
        tsr_release(&p->steps[i]);
        tsr_release(&p->numbers[i]);
        tsr_release(&p->piece[i]);
    }
}

/* Making pairs ------------------------------------------------------------------------- */

static bool is_complex(tsr_dtype dtype) { return tsr_dtype_kind(dtype) == TSR_COMPLEX; }

/* Complex numbers as twice as many real ones. */
static tsr_status split_parts(tsr_tensor **t)
{
    if (!is_complex((*t)->dtype)) return TSR_OK;
    if ((*t)->ndim == 0) TSR_TRY(tsr_unsqueeze(t, *t, 0));
    return tsr_bit_view(t, *t, tsr_dtype_real((*t)->dtype));
}

/* Both packed; a real one beside a complex one becomes complex. */
static tsr_status pack(pair *p)
{
    const bool mixed = is_complex(p->piece[0]->dtype) != is_complex(p->piece[1]->dtype);
    p->parts = is_complex(p->piece[0]->dtype) || mixed ? 2 : 1;
    for (int i = 0; i < 2; i++) {
        tsr_tensor *wide = NULL;
        if (mixed) {
            TSR_TRY(tsr_cast(&wide, p->piece[i], TSR_C128));
            tsr_release(&p->piece[i]);
            p->piece[i] = wide;
        }
        TSR_TRY(tsr_contiguous(&p->piece[i], p->piece[i]));
        TSR_TRY(split_parts(&p->piece[i]));
    }
    return TSR_OK;
}

/* The dtype in which steps from one to the other can be counted; TSR_DTYPE_INVALID if none. */
static tsr_dtype dtype_of_steps(tsr_dtype a, tsr_dtype b)
{
    const bool floats = tsr_dtype_kind(a) == TSR_FLOATING && tsr_dtype_kind(b) == TSR_FLOATING;
    if (a == b) return a;
    if (!floats) return TSR_DTYPE_INVALID;
    return tsr_dtype_size(a) <= tsr_dtype_size(b) ? a : b;
}

static tsr_status retain_as(tsr_tensor **out, tsr_tensor *t)
{
    tsr_release(out);
    *out = t;
    tsr_retain(t);
    return TSR_OK;
}

static tsr_status make_numbers(pair *p)
{
    const tsr_dtype x = p->piece[0]->dtype, y = p->piece[1]->dtype, steps = dtype_of_steps(x, y);
    const bool is_long = numbers_dtype(x) != TSR_F64 && numbers_dtype(x) == numbers_dtype(y) &&
                         (tsr_dtype_size(x) == 8 || tsr_dtype_size(y) == 8);
    p->counts_steps = steps != TSR_DTYPE_INVALID;
    p->long_integers = is_long;
    for (int i = 0; i < 2; i++) {
        TSR_TRY(is_long ? numbers_of(&p->numbers[i], p->piece[i]) : retain_as(&p->numbers[i], p->piece[i]));
        if (!p->counts_steps) continue;
        if (steps == p->piece[i]->dtype) TSR_TRY(retain_as(&p->steps[i], p->piece[i]));
        else {
            tsr_release(&p->steps[i]);
            TSR_TRY(tsr_cast(&p->steps[i], p->piece[i], steps));
        }
    }
    return TSR_OK;
}

/* Runs ----------------------------------------------------------------------------------- */

/* |a - b| of long integers. */
static void errors_of_integers(double *out, const pair *p, int64_t from, int64_t n)
{
    const uint64_t *x = (const uint64_t *)p->numbers[0]->data + from;
    const uint64_t *y = (const uint64_t *)p->numbers[1]->data + from;
    const uint64_t sign = p->numbers[0]->dtype == TSR_U64 ? 0 : (uint64_t)1 << 63;
    for (int64_t i = 0; i < n; i++) {
        const bool more = (x[i] ^ sign) > (y[i] ^ sign);
        out[i] = (double)(more ? x[i] - y[i] : y[i] - x[i]);
    }
}

static uint64_t ordered_64(uint64_t bits)
{
    return bits >> 63 ? ~bits + 1 : bits | (uint64_t)1 << 63;
}

static void steps_of_f64(double *out, const uint64_t *x, const uint64_t *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const uint64_t a = ordered_64(x[i]), b = ordered_64(y[i]);
        out[i] = (double)(a > b ? a - b : b - a);
    }
}

static void subtract(double *out, const double *a, const double *b, int64_t n) CLI_WIDE;
static void subtract(double *out, const double *a, const double *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = fabs(a[i] - b[i]);
}

static void fill_steps(run *r, const pair *p, int64_t from, int64_t n)
{
    const tsr_dtype dtype = p->counts_steps ? p->steps[0]->dtype : TSR_DTYPE_INVALID;
    if (!p->counts_steps) {
        for (int64_t i = 0; i < n; i++) r->steps[i] = -1;
    } else if (tsr_dtype_kind(dtype) != TSR_FLOATING) {
        memcpy(r->steps, r->error, (size_t)n * sizeof *r->steps);
    } else if (dtype == TSR_F64) {
        steps_of_f64(r->steps, (const uint64_t *)p->steps[0]->data + from,
                     (const uint64_t *)p->steps[1]->data + from, n);
    } else {
        double x[RUN], y[RUN];
        steps_at(x, p->steps[0], from, n);
        steps_at(y, p->steps[1], from, n);
        subtract(r->steps, x, y, n);
    }
}

static void fill_run(run *r, const pair *p, int64_t from, int64_t n)
{
    doubles_at(r->a, p->numbers[0], from, n);
    doubles_at(r->b, p->numbers[1], from, n);
    if (p->long_integers) errors_of_integers(r->error, p, from, n);
    else                  subtract(r->error, r->a, r->b, n);
    fill_steps(r, p, from, n);
}

/* One element ---------------------------------------------------------------------------- */

static void note(peak *e, double size, int64_t at)
{
    if (size > e->size) *e = (peak){ size, at };
}

/* Long integers may differ where their doubles do not: the error tells. */
static bool is_close(double b, double error, double steps, const tolerance *t)
{
    if (error == 0) return true;
    if (t->ulps > 0 && steps >= 0 && steps <= (double)t->ulps) return true;
    return isfinite(b) && error <= t->atol + t->rtol * fabs(b);
}

/* Is number i of a run close? Notes its errors. */
static bool compare_number(segment *s, const run *r, int64_t i, int64_t at, const tolerance *t, bool *changed)
{
    const double a = r->a[i], b = r->b[i];
    if (isnan(a) || isnan(b)) {
        const bool same = isnan(a) && isnan(b);
        s->nans += !same;
        *changed = *changed || !same || t->nan_differs;
        return same && !t->nan_differs;
    }
    const double error = isinf(a) && a == b ? 0 : r->error[i];
    if (isfinite(a) && isfinite(b)) {
        s->distance += error * error;
        s->norm_a += a * a;
        s->norm_b += b * b;
        s->dot += a * b;
    }
    if (error == 0) return true;
    *changed = true;
    note(&s->peak[ERROR], error, at);
    note(&s->peak[RELATIVE], b != 0 ? error / fabs(b) : INFINITY, at);
    note(&s->peak[STEPS], r->steps[i], at);
    return is_close(b, error, r->steps[i], t);
}

static void compare_one_by_one(segment *s, const run *r, int64_t from, int64_t n, int parts,
                               const tolerance *t)
{
    for (int64_t i = 0; i < n; i += parts) {
        bool close = true, changed = false;
        for (int k = 0; k < parts; k++)
            close = compare_number(s, r, i + k, from + i + k, t, &changed) && close;
        s->changed += changed;
        s->differ += !close;
    }
}

/* Many at once ---------------------------------------------------------------------------- */

typedef struct sums {
    double  distance, norm_a, norm_b, dot;
    double  above[PEAKS]; /* above 0 where an error is larger than the largest so far */
    int64_t changed;
} sums;

static double sum_of(const lanes *x)
{
    double sum = 0;
    for (int k = 0; k < LANES; k++) sum += (*x)[k];
    return sum;
}

static double largest_of(const lanes *x)
{
    double most = (*x)[0];
    for (int k = 1; k < LANES; k++)
        if ((*x)[k] > most) most = (*x)[k];
    return most;
}

/* Of whole runs. What is NaN shows in the sums. */
static void sum_run(sums *out, const run *r, const peak *peaks) CLI_WIDE;
static void sum_run(sums *out, const run *r, const peak *peaks)
{
    const double best = peaks[RELATIVE].size;
    lanes dd = { 0 }, aa = { 0 }, bb = { 0 }, ab = { 0 }, error = { 0 }, steps = { 0 }, relative = { 0 };
    marks changed = { 0 };
    for (int64_t i = 0; i < RUN; i += LANES) {
        lanes a, b, e, s;
        memcpy(&a, r->a + i, sizeof a);
        memcpy(&b, r->b + i, sizeof b);
        memcpy(&e, r->error + i, sizeof e);
        memcpy(&s, r->steps + i, sizeof s);
        const lanes excess = e - best * LANES_ABS(b);
        dd += e * e;
        aa += a * a;
        bb += b * b;
        ab += a * b;
        changed += e > 0;
        error = LANES_CHOOSE(e > error, e, error);
        steps = LANES_CHOOSE(s > steps, s, steps);
        relative = LANES_CHOOSE(excess > relative, excess, relative);
    }
    *out = (sums){ sum_of(&dd), sum_of(&aa), sum_of(&bb), sum_of(&ab), { 0 }, 0 };
    out->above[ERROR] = largest_of(&error) - peaks[ERROR].size;
    out->above[STEPS] = largest_of(&steps) - peaks[STEPS].size;
    out->above[RELATIVE] = largest_of(&relative);
    for (int k = 0; k < LANES; k++) out->changed -= changed[k];
}

/* The same of two runs of floats, in one go: nothing is stored in between. Neighbours of the dtype are `step`
 * floats apart: 1 of f32, and 2^16 of bf16, whose bits are the upper ones. */
static void sum_floats(sums *out, const float *x, const float *y, double step, const peak *peaks) CLI_WIDE;
static void sum_floats(sums *out, const float *x, const float *y, double step, const peak *peaks)
{
    const double best = peaks[RELATIVE].size;
    lanes dd = { 0 }, aa = { 0 }, bb = { 0 }, ab = { 0 }, error = { 0 }, steps = { 0 }, relative = { 0 };
    marks changed = { 0 };
    for (int64_t i = 0; i < RUN; i += LANES) {
        half_lanes p, q;
        half_marks m, n;
        memcpy(&p, x + i, sizeof p);
        memcpy(&q, y + i, sizeof q);
        memcpy(&m, x + i, sizeof m);
        memcpy(&n, y + i, sizeof n);
        const lanes a = __builtin_convertvector(p, lanes), b = __builtin_convertvector(q, lanes);
        const lanes e = LANES_ABS(a - b), excess = e - best * LANES_ABS(b);
        const half_marks first = ((m & INT32_MAX) ^ (m >> 31)) - (m >> 31); /* from sign and magnitude */
        const half_marks second = ((n & INT32_MAX) ^ (n >> 31)) - (n >> 31);
        const lanes s =
            LANES_ABS(__builtin_convertvector(first, lanes) - __builtin_convertvector(second, lanes));
        dd += e * e;
        aa += a * a;
        bb += b * b;
        ab += a * b;
        changed += e > 0;
        error = LANES_CHOOSE(e > error, e, error);
        steps = LANES_CHOOSE(s > steps, s, steps);
        relative = LANES_CHOOSE(excess > relative, excess, relative);
    }
    *out = (sums){ sum_of(&dd), sum_of(&aa), sum_of(&bb), sum_of(&ab), { 0 }, 0 };
    out->above[ERROR] = largest_of(&error) - peaks[ERROR].size;
    out->above[STEPS] = largest_of(&steps) / step - peaks[STEPS].size;
    out->above[RELATIVE] = largest_of(&relative);
    for (int k = 0; k < LANES; k++) out->changed -= changed[k];
}

/* Two runs of one dtype that is f32 or bf16. False if they are not. */
static bool sum_as_floats(sums *out, const pair *p, int64_t from, const peak *peaks)
{
    const tsr_tensor *a = p->numbers[0], *b = p->numbers[1];
    float x[RUN], y[RUN];
    if (a->dtype != b->dtype || (a->dtype != TSR_F32 && a->dtype != TSR_BF16)) return false;
    if (a->dtype == TSR_F32) {
        sum_floats(out, (const float *)a->data + from, (const float *)b->data + from, 1, peaks);
        return true;
    }
    (void)floats_at(x, a, from, RUN);
    (void)floats_at(y, b, from, RUN);
    sum_floats(out, x, y, 65536, peaks);
    return true;
}

/* How many numbers of a run are not close. */
static int64_t count_far(const run *r, const tolerance *t)
{
    int64_t n = 0;
    for (int64_t i = 0; i < RUN; i++) n += !is_close(r->b[i], r->error[i], r->steps[i], t);
    return n;
}

/* The first number of the run that has the largest error; a division by 0 is infinite. */
static void find_peak(peak *e, const run *r, int kind, int64_t from)
{
    for (int64_t i = 0; i < RUN; i++) {
        const double b = fabs(r->b[i]), error = r->error[i];
        if (!(error > 0)) continue;
        const double relative = b > 0 ? error / b : INFINITY;
        const double size = kind == ERROR ? error : kind == STEPS ? r->steps[i] : relative;
        note(e, size, from + i);
    }
}

static bool has_tolerance(const tolerance *t) { return t->atol > 0 || t->rtol > 0 || t->ulps > 0; }

static void compare_run(segment *s, const pair *p, int64_t from, int64_t n, const tolerance *t)
{
    run r;
    sums found;
    const bool whole = n == RUN && p->parts == 1 && !t->nan_differs;
    const bool filled = !whole || !sum_as_floats(&found, p, from, s->peak);
    if (filled) fill_run(&r, p, from, n);
    if (whole && filled) sum_run(&found, &r, s->peak);
    const bool finite = whole && isfinite(found.norm_a) && isfinite(found.norm_b) && isfinite(found.distance);
    const bool above =
        finite && (found.above[ERROR] > 0 || found.above[RELATIVE] > 0 || found.above[STEPS] > 0);
    if (!filled && (!finite || above || has_tolerance(t))) fill_run(&r, p, from, n);
    if (!finite) {
        compare_one_by_one(s, &r, from, n, p->parts, t);
        return;
    }
    s->distance += found.distance;
    s->norm_a += found.norm_a;
    s->norm_b += found.norm_b;
    s->dot += found.dot;
    s->changed += found.changed;
    s->differ += has_tolerance(t) ? count_far(&r, t) : found.changed;
    for (int k = 0; k < PEAKS && above; k++)
        if (found.above[k] > 0 && found.changed) find_peak(&s->peak[k], &r, k, from);
}

/* Pieces ----------------------------------------------------------------------------------- */

static tsr_status compare_segments(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    for (int64_t k = begin; k < end; k++) {
        const int64_t last = (k + 1) * SEGMENT < j->count ? (k + 1) * SEGMENT : j->count;
        segment *s = &j->found[k];
        *s = (segment){ .peak = { { -1, 0 }, { -1, 0 }, { -1, 0 } } };
        for (int64_t i = k * SEGMENT; i < last; i += RUN)
            compare_run(s, j->p, i, i + RUN < last ? RUN : last - i, j->t);
    }
    return TSR_OK;
}

static tsr_status compare_bytes(void *context, int64_t begin, int64_t end)
{
    job *j = context;
    const size_t size = tsr_dtype_size(j->p->piece[0]->dtype);
    const int64_t last = end * SEGMENT < j->count ? end * SEGMENT : j->count;
    const size_t at = (size_t)(begin * SEGMENT) * size, bytes = (size_t)(last - begin * SEGMENT) * size;
    if (atomic_load_explicit(&j->differs, memory_order_relaxed)) return TSR_OK;
    if (memcmp((const char *)j->p->piece[0]->data + at, (const char *)j->p->piece[1]->data + at, bytes))
        atomic_store_explicit(&j->differs, true, memory_order_relaxed);
    return TSR_OK;
}

static int64_t segments_of(const job *j) { return (j->count + SEGMENT - 1) / SEGMENT; }

/* Where number i of a piece lies in the tensor; parts of complex numbers lie together. */
static void find_index(int64_t index[TSR_MAX_NDIM], const block *b, int64_t i)
{
    for (int axis = b->ndim - 1; axis >= 0; axis--) {
        index[axis] = b->from[axis] + i % b->count[axis];
        i /= b->count[axis];
    }
}

static void keep_peak(extreme *e, const peak *found, const pair *p, const block *b)
{
    if (!(found->size > e->size)) return;
    e->size = found->size;
    find_index(e->index, b, found->at / p->parts);
    const tsr_tensor *const *t = (const tsr_tensor *const *)p->piece;
    const char *at[2];
    for (int k = 0; k < 2; k++)
        at[k] = (const char *)t[k]->data + (size_t)found->at * tsr_dtype_size(t[k]->dtype);
    if (tsr_scalar_load(&e->a, t[0]->dtype, at[0]) != TSR_OK ||
        tsr_scalar_load(&e->b, t[1]->dtype, at[1]) != TSR_OK)
        e->a = e->b = tsr_scalar_i64(0);
}

static void add_segment(contrast *out, const segment *s, const pair *p, const block *where)
{
    out->changed += s->changed;
    out->differ += s->differ;
    out->nans += s->nans;
    out->distance += s->distance;
    out->norm_a += s->norm_a;
    out->norm_b += s->norm_b;
    out->dot += s->dot;
    keep_peak(&out->error, &s->peak[ERROR], p, where);
    keep_peak(&out->relative, &s->peak[RELATIVE], p, where);
    keep_peak(&out->steps, &s->peak[STEPS], p, where);
}

static tsr_status measure_piece(contrast *out, job *j, pair *p, const block *where)
{
    TSR_TRY(make_numbers(p));
    TSR_TRY(tsr_parallel_for(segments_of(j), 1, compare_segments, j));
    for (int64_t k = 0; k < segments_of(j); k++) add_segment(out, &j->found[k], p, where);
    return TSR_OK;
}

/* Items ------------------------------------------------------------------------------------ */

/* Two items and how far the walk over them is. */
typedef struct walk {
    source   *a, *b;
    int64_t   ia, ib;
    cut       ca, cb;
    pair      p;
    job       j;
    progress *pr;
    double    done, total;
} walk;

static bool read_pair(walk *w, const block *where)
{
    if (!source_read_block(&w->p.piece[0], w->a, w->ia, &w->ca, where) ||
        !source_read_block(&w->p.piece[1], w->b, w->ib, &w->cb, where))
        return false;
    const double bytes = (double)tsr_byte_size(w->p.piece[0]);
    if (pack(&w->p) != TSR_OK) return complain(w->a->command, "%s", tsr_last_error()), false;
    w->j.count = tsr_numel(w->p.piece[0]);
    w->done += bytes;
    if (w->pr) progress_draw_bytes(w->pr, w->done, w->total);
    return true;
}

/* Are all bytes the same? False also after a failure, which sets *ok. */
static bool same_bytes(walk *w, bool *ok)
{
    block where;
    atomic_store(&w->j.differs, false);
    for (bool more = block_first(&where, w->ca.ndim, w->ca.length, PIECE); more; more = block_next(&where)) {
        *ok = read_pair(w, &where) && tsr_parallel_for(segments_of(&w->j), 4, compare_bytes, &w->j) == TSR_OK;
        if (!*ok || atomic_load(&w->j.differs)) return false;
    }
    return true;
}

static bool measure(contrast *out, walk *w)
{
    block where;
    for (bool more = block_first(&where, w->ca.ndim, w->ca.length, PIECE); more; more = block_next(&where)) {
        if (!read_pair(w, &where)) return false;
        if (measure_piece(out, &w->j, &w->p, &where) == TSR_OK) continue;
        complain(w->a->command, "%s", tsr_last_error());
        return false;
    }
    return true;
}

/* An index of the part as one of the whole tensor. */
static void locate(extreme *e, const cut *c)
{
    for (int i = 0; i < c->ndim; i++) {
        const tsr_file_range *r = &c->range[i];
        e->index[i] = (r->start == TSR_NONE ? 0 : r->start) + e->index[i] * r->step;
    }
}

static int64_t count_of(const cut *c)
{
    int64_t n = 1;
    for (int i = 0; i < c->ndim; i++) n *= c->length[i];
    return n;
}

bool contrast_items(contrast *out, source *a, int64_t ia, source *b, int64_t ib, const tolerance *t,
                    progress *pr, double done, double total)
{
    walk *w = room_for(1, sizeof *w); /* its segments would be much of a stack */
    w->a = a, w->ia = ia;
    w->b = b, w->ib = ib;
    w->pr = pr, w->done = done, w->total = total;
    w->j.p = &w->p, w->j.t = t;
    *out = (contrast){ .error.size = -1, .relative.size = -1, .steps.size = -1 };
    bool ok = source_cut(&w->ca, a, ia) && source_cut(&w->cb, b, ib);
    const bool one_dtype = a->items[ia].desc.dtype == b->items[ib].desc.dtype;
    if (ok && (!one_dtype || t->nan_differs || !same_bytes(w, &ok))) {
        w->done = done;
        ok = ok && measure(out, w);
    }
    if (ok) {
        out->count = count_of(&w->ca);
        locate(&out->error, &w->ca);
        locate(&out->relative, &w->ca);
        locate(&out->steps, &w->ca);
    }
    release_pair(&w->p);
    free(w);
    return ok;
}

double contrast_relative(const contrast *c)
{
    if (c->nans) return NAN;
    if (isinf(c->error.size)) return INFINITY;
    return c->distance == 0 ? 0 : sqrt(c->distance) / sqrt(c->norm_b);
}

double contrast_cosine(const contrast *c)
{
    if (c->nans) return NAN;
    if (!c->changed) return 1;
    const double size = sqrt(c->norm_a) * sqrt(c->norm_b);
    return size > 0 ? c->dot / size : 0;
}
