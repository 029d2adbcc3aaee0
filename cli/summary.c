/* summary.c - passes over a tensor in pieces. */
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "room.h"

enum { PIECE = 1 << 18, RUN = 1024, DIGITS = 1 << 16, RANKS = 2 * SUMMARY_QUANTILES };
enum { SORTED_MOST = 512 };  /* numbers that are sorted: tables would cost more */

/* The search for some ranks: the upper digits of each that are known, and how many numbers
 * with these digits come before it. */
typedef struct search {
    int       ranks, levels, tables;    /* tables: how many different beginnings there are */
    uint64_t  beginning[RANKS], table_beginning[RANKS];
    int64_t   rank[RANKS], *counts;     /* DIGITS to a table; NULL if the numbers are sorted */
    uint8_t  *may_match;                /* DIGITS: upper digit of a beginning? */
    uint64_t  sorted[SORTED_MOST];      /* the keys, if they are */
    int64_t   kept;
} search;

typedef struct walk {
    summary  *out;
    source   *s;
    int64_t   index;
    cut       c;
    tsr_dtype dtype;
    int       level;
    search    ranks;
    double    sum_of_squares;           /* of differences from the mean so far */
    progress *p;
    double    done, total;
} walk;

/* Ranks ------------------------------------------------------------------------------ */

/* The tables of the next level: one for each different beginning. */
static void begin_level(search *q)
{
    q->tables = 0;
    if (!q->counts) return;
    memset(q->may_match, 0, DIGITS);
    for (int i = 0; i < q->ranks; i++) {
        int k = 0;
        while (k < q->tables && q->table_beginning[k] != q->beginning[i]) k++;
        if (k == q->tables) q->table_beginning[q->tables++] = q->beginning[i];
    }
    memset(q->counts, 0, (size_t)q->tables * DIGITS * sizeof *q->counts);
}

static void mark_matches(search *q, int level)
{
    for (int k = 0; k < q->tables && level > 0; k++)
        q->may_match[q->table_beginning[k] >> (16 * (level - 1))] = 1;
}

static void count_first_digits(search *q, const uint64_t *keys, int64_t n, int bits)
{
    for (int64_t i = 0; i < n; i++) q->counts[keys[i] >> (bits - 16)]++;
}

static void count_digits(search *q, const uint64_t *keys, int64_t n, int bits, int level)
{
    const int known = bits - 16 * level, shift = known - 16;
    for (int64_t i = 0; i < n; i++) {
        if (!q->may_match[keys[i] >> (bits - 16)]) continue;
        const uint64_t beginning = keys[i] >> known;
        for (int k = 0; k < q->tables; k++)
            if (q->table_beginning[k] == beginning) {
                q->counts[k * DIGITS + (int64_t)(keys[i] >> shift & 0xffff)]++;
                break;
            }
    }
}

/* Each rank learns its next digit. */
static void end_level(search *q)
{
    if (!q->counts) return;
    for (int i = 0; i < q->ranks; i++) {
        int k = 0, digit = 0;
        while (q->table_beginning[k] != q->beginning[i]) k++;
        const int64_t *counts = q->counts + k * DIGITS;
        while (digit < DIGITS - 1 && q->rank[i] >= counts[digit]) q->rank[i] -= counts[digit++];
        q->beginning[i] = q->beginning[i] << 16 | (uint64_t)digit;
    }
}

static int by_key(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void keep_keys(search *q, const uint64_t *keys, int64_t n)
{
    memcpy(q->sorted + q->kept, keys, (size_t)n * sizeof *keys);
    q->kept += n;
}

/* All digits of sorted keys are known at once. */
static void rank_small(search *q)
{
    qsort(q->sorted, (size_t)q->kept, sizeof *q->sorted, by_key);
    for (int i = 0; i < q->ranks; i++) q->beginning[i] = q->sorted[q->rank[i]];
}

/* The two ranks between which quantile i lies, and how far from the first. */
static double ranks_of(const summary *out, int i, int64_t *low)
{
    const double place = (double)(out->count - out->nans - 1) * out->quantile[i];
    *low = (int64_t)floor(place);
    return place - floor(place);
}

static void begin_search(walk *w)
{
    summary *out = w->out;
    search *q = &w->ranks;
    const int64_t numbers = out->count - out->nans;
    const int levels = key_bits(w->dtype) / 16;
    out->is_exact = levels <= 2 || out->exact || out->count <= SUMMARY_EXACT;
    q->levels = out->is_exact ? levels : 2;
    q->ranks = numbers > 0 ? 2 * out->quantiles : 0;
    for (int i = 0; i < out->quantiles && numbers > 0; i++) {
        ranks_of(out, i, &q->rank[2 * i]);
        q->rank[2 * i + 1] = q->rank[2 * i] + 1 < numbers ? q->rank[2 * i] + 1 : q->rank[2 * i];
    }
}

static double found_value(const walk *w, int i)
{
    const int missing = key_bits(w->dtype) - 16 * w->ranks.levels;
    if (missing == 0) return key_value(w->dtype, w->ranks.beginning[i]);
    const uint64_t key = w->ranks.beginning[i] << missing, rest = ((uint64_t)1 << missing) - 1;
    const double middle = key_value(w->dtype, key | (rest / 2 + 1)), first = key_value(w->dtype, key);
    if (!isnan(middle)) return middle;
    return isnan(first) ? key_value(w->dtype, key | rest) : first; /* beside an infinity lie NaNs */
}

static void end_search(walk *w)
{
    for (int i = 0; i < w->out->quantiles; i++) {
        int64_t low = 0;
        const double part = ranks_of(w->out, i, &low);
        if (w->ranks.ranks == 0) {
            w->out->value[i] = NAN;
            continue;
        }
        const double a = found_value(w, 2 * i), b = found_value(w, 2 * i + 1);
        w->out->value[i] = part == 0 || a == b ? a : a + (b - a) * part;
    }
}

/* Moments ---------------------------------------------------------------------------- */

static bool is_less(tsr_scalar a, tsr_scalar b)
{
    if (a.dtype == TSR_I64) return a.as.i < b.as.i;
    if (a.dtype == TSR_U64) return a.as.u < b.as.u;
    return a.as.c.re < b.as.c.re;
}

static tsr_scalar element_at(const tsr_tensor *numbers, int64_t i)
{
    if (numbers->dtype == TSR_I64) return tsr_scalar_i64(((const int64_t *)numbers->data)[i]);
    if (numbers->dtype == TSR_U64) return tsr_scalar_u64(((const uint64_t *)numbers->data)[i]);
    return tsr_scalar_f64(((const double *)numbers->data)[i]);
}

/* Joins the mean and the squares of a run of n numbers to those so far. */
static void join_moments(walk *w, int64_t n, double mean, double squares)
{
    summary *out = w->out;
    const double before = (double)out->finite, all = before + (double)n, apart = mean - out->mean;
    out->finite += n;
    out->mean += apart * ((double)n / all);
    w->sum_of_squares += squares + apart * apart * (before * (double)n / all);
}

/* Runs are short, so that their sums lose little. */
static void add_moments(walk *w, const double *x, int64_t n)
{
    double sum = 0, squares = 0;
    int64_t finite = 0;
    for (int64_t i = 0; i < n; i++)
        if (isfinite(x[i])) sum += x[i], finite++;
    if (finite == 0) return;
    const double mean = sum / (double)finite;
    for (int64_t i = 0; i < n; i++)
        if (isfinite(x[i])) squares += (x[i] - mean) * (x[i] - mean);
    join_moments(w, finite, mean, squares);
}

/* Counts, and the least and the largest of a run. */
static void add_counts(walk *w, const double *x, int64_t n, const tsr_tensor *numbers, int64_t from)
{
    summary *out = w->out;
    int64_t least = -1, largest = -1;
    double low = out->low, high = out->high;
    for (int64_t i = 0; i < n; i++) {
        const double v = x[i];
        if (v != v) {
            out->nans++;
            continue;
        }
        if (least < 0 || v < x[least]) least = i;
        if (largest < 0 || v > x[largest]) largest = i;
        out->zeros += v == 0;
        if (isinf(v)) {
            out->infinities++;
            continue;
        }
        if (!(v >= low)) low = v;
        if (!(v <= high)) high = v;
    }
    out->low = low;
    out->high = high;
    if (least < 0) return;
    const bool exact = numbers->dtype == TSR_F64; /* of long integers, doubles tell only about where */
    for (int64_t i = exact ? least : 0; i < (exact ? least + 1 : n); i++) {
        const tsr_scalar s = element_at(numbers, from + i);
        if (out->min.dtype == TSR_DTYPE_INVALID || is_less(s, out->min)) out->min = s;
    }
    for (int64_t i = exact ? largest : 0; i < (exact ? largest + 1 : n); i++) {
        const tsr_scalar s = element_at(numbers, from + i);
        if (out->max.dtype == TSR_DTYPE_INVALID || is_less(out->max, s)) out->max = s;
    }
}

/* Passes ----------------------------------------------------------------------------- */

/* What the level asks of a run of numbers. */
static void see_run(walk *w, const tsr_tensor *numbers, int64_t from, int64_t n)
{
    double x[RUN];
    uint64_t keys[RUN];
    const int bits = key_bits(w->dtype);
    if (w->level < 2) numbers_at(x, numbers, from, n);
    if (w->level == 0) {
        add_counts(w, x, n, numbers, from);
        add_moments(w, x, n);
    } else if (w->level == 1) {
        for (int64_t i = 0; i < n; i++) histogram_add(&w->out->bars, x[i]);
    }
    if (w->level >= w->ranks.levels || w->ranks.ranks == 0) return;
    if (!w->ranks.counts && w->level > 0) return;
    const int64_t count = keys_of(keys, w->dtype, numbers, from, n);
    if (!w->ranks.counts)   keep_keys(&w->ranks, keys, count);
    else if (w->level == 0) count_first_digits(&w->ranks, keys, count, bits);
    else                    count_digits(&w->ranks, keys, count, bits, w->level);
}

static void see_piece(walk *w, const tsr_tensor *numbers)
{
    const int64_t n = tsr_numel(numbers);
    for (int64_t i = 0; i < n; i += RUN) see_run(w, numbers, i, i + RUN < n ? RUN : n - i);
    if (w->level == 0) w->out->count += n;
}

static bool pass(walk *w)
{
    tsr_tensor *piece = NULL, *numbers = NULL;
    block b;
    bool ok = true;
    begin_level(&w->ranks);
    mark_matches(&w->ranks, w->level);
    for (bool more = block_first(&b, w->c.ndim, w->c.length, PIECE); more && ok; more = block_next(&b)) {
        ok = source_read_block(&piece, w->s, w->index, &w->c, &b);
        if (!ok) break;
        ok = numbers_of(&numbers, piece) == TSR_OK;
        if (!ok) complain(w->s->command, "%s", tsr_last_error());
        else     see_piece(w, numbers);
        w->done += ok ? (double)tsr_byte_size(piece) : 0;
        if (w->p) progress_draw_bytes(w->p, w->done, w->total);
    }
    tsr_release(&numbers);
    tsr_release(&piece);
    return ok;
}

static bool has_many(const walk *w)
{
    int64_t n = 1;
    for (int i = 0; i < w->c.ndim; i++) {
        if (w->c.length[i] == 0) return false;
        n = n > SORTED_MOST / w->c.length[i] ? SORTED_MOST + 1 : n * w->c.length[i];
    }
    return n > SORTED_MOST;
}

static void begin(walk *w)
{
    summary *out = w->out;
    out->low = out->high = NAN;
    w->ranks.levels = 1;
    w->ranks.ranks = out->quantiles > 0; /* one table of the upper digits, for all ranks */
    if (!has_many(w)) return;
    w->ranks.counts =
        room_for((size_t)(out->quantiles ? 2 * out->quantiles : 1) * DIGITS, sizeof *w->ranks.counts);
    w->ranks.may_match = room_for(DIGITS, 1);
}

static void end_first_pass(walk *w)
{
    summary *out = w->out;
    out->deviation = out->finite ? sqrt(w->sum_of_squares / (double)out->finite) : NAN;
    if (!out->finite) out->mean = NAN;
    out->bars.low = out->low;
    out->bars.high = out->high;
    out->bars.bins = out->low < out->high ? out->bins : 1;
    begin_search(w);
    if (w->ranks.counts) end_level(&w->ranks);
    else                 rank_small(&w->ranks);
}

bool summarise(summary *out, source *s, int64_t index, progress *p, double done, double total)
{
    walk *w = room_for(1, sizeof *w); /* it holds keys */
    *w = (walk){ .out = out,
                 .s = s,
                 .index = index,
                 .dtype = s->items[index].desc.dtype,
                 .p = p,
                 .done = done,
                 .total = total };
    bool ok = source_cut(&w->c, s, index);
    begin(w);
    ok = ok && pass(w);
    if (ok) end_first_pass(w);
    const int passes = w->ranks.counts && w->ranks.levels > 2 ? w->ranks.levels : 2;
    for (w->level = 1; ok && w->level < passes; w->level++) {
        ok = pass(w);
        if (ok && w->level < w->ranks.levels) end_level(&w->ranks);
    }
    if (ok) end_search(w);
    free(w->ranks.counts);
    free(w->ranks.may_match);
    free(w);
    return ok;
}

double summary_work(const summary *wanted, const source *s, int64_t index)
{
    const tsr_desc *d = &s->items[index].desc;
    const double bytes = (double)tsr_desc_bytes(d);
    const bool exact = wanted->exact || tsr_desc_numel(d) <= SUMMARY_EXACT;
    return bytes * (key_bits(d->dtype) == 32 || !exact ? 2 : 4);
}
