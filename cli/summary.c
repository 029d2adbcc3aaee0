/* summary.c - passes over a tensor in pieces, each cut into segments that threads share.
 *
 * A thread has tables of its own, which hold counts alone. Moments are kept for each segment and joined in
 * order, so that they do not depend on the number of threads.
 */
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "room.h"
#include "sums.h"

enum { PIECE = 1 << 22, SEGMENT = 1 << 16, SEGMENTS = PIECE / SEGMENT, RUN = SUMS_MOST, THREADS_MOST = 8 };
enum { DIGITS = 1 << 16, RANKS = 2 * SUMMARY_QUANTILES };
enum { SORTED_MOST = 512 };  /* numbers that are sorted: tables would cost more */

/* The search for some ranks: the upper digits of each that are known, and how many numbers
 * with these digits come before it. */
typedef struct search {
    int       ranks, levels, tables;    /* tables: how many different beginnings there are */
    int       set;                      /* tables that a thread has room for */
    uint64_t  beginning[RANKS], table_beginning[RANKS];
    int64_t   rank[RANKS], *counts;     /* DIGITS to a table; NULL if the numbers are sorted. A set of tables
                                         * for each thread, of which the first one gets all in the end */
    uint8_t  *may_match;                /* DIGITS: upper digit of a beginning? */
    uint64_t  sorted[SORTED_MOST];      /* the keys, if they are */
    int64_t   kept;
} search;

/* What a segment, or all of them so far, holds. */
typedef struct tally {
    int64_t    nans, infinities, zeros, finite;
    double     mean, squares, low, high; /* of finite ones; squares of differences from the mean */
    tsr_scalar min, max;                 /* of all but NaN */
} tally;

typedef struct walk {
    summary   *out;
    source    *s;
    int64_t    index;
    cut        c;
    tsr_dtype  dtype;
    int        level, threads;
    search     ranks;
    tally      all, segment[SEGMENTS];
    histogram *bars;                    /* one for each thread */
    double    *sample;                  /* of elements 0, step, 2 step, ... */
    int64_t    step, seen;
    const tsr_tensor *numbers;          /* the piece, packed; magnitudes of complex ones */
    progress  *p;
    double     done, total;
} walk;

/* Ranks ------------------------------------------------------------------------------ */

/* The tables of thread i. */
static int64_t *counts_of(const search *q, int i) { return q->counts + (int64_t)i * q->set * DIGITS; }

/* The tables of the next level: one for each different beginning. */
static void begin_level(search *q, int threads)
{
    q->tables = 0;
    if (!q->counts) return;
    memset(q->may_match, 0, DIGITS);
    for (int i = 0; i < q->ranks; i++) {
        int k = 0;
        while (k < q->tables && q->table_beginning[k] != q->beginning[i]) k++;
        if (k == q->tables) q->table_beginning[q->tables++] = q->beginning[i];
    }
    for (int i = 0; i < threads; i++)
        memset(counts_of(q, i), 0, (size_t)q->tables * DIGITS * sizeof *q->counts);
}

/* What the threads counted, together. */
static void join_tables(search *q, int threads)
{
    for (int i = 1; i < threads && q->counts; i++) {
        const int64_t *counts = counts_of(q, i);
        for (int64_t k = 0; k < (int64_t)q->tables * DIGITS; k++) q->counts[k] += counts[k];
    }
}

static void mark_matches(search *q, int level)
{
    for (int k = 0; k < q->tables && level > 0; k++)
        q->may_match[q->table_beginning[k] >> (16 * (level - 1))] = 1;
}

static void count_first_digits(int64_t *counts, const uint64_t *keys, int64_t n, int bits)
{
    for (int64_t i = 0; i < n; i++) counts[keys[i] >> (bits - 16)]++;
}

static void count_digits(const search *q, int64_t *counts, const uint64_t *keys, int64_t n, int bits,
                         int level)
{
    const int known = bits - 16 * level, shift = known - 16;
    for (int64_t i = 0; i < n; i++) {
        if (!q->may_match[keys[i] >> (bits - 16)]) continue;
        const uint64_t beginning = keys[i] >> known;
        for (int k = 0; k < q->tables; k++)
            if (q->table_beginning[k] == beginning) {
                counts[k * DIGITS + (int64_t)(keys[i] >> shift & 0xffff)]++;
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

/* -0 lies below 0. */
static bool is_less(tsr_scalar a, tsr_scalar b)
{
    if (a.dtype == TSR_I64) return a.as.i < b.as.i;
    if (a.dtype == TSR_U64) return a.as.u < b.as.u;
    const double x = a.as.c.re, y = b.as.c.re;
    return x < y || (x == y && signbit(x) && !signbit(y));
}

/* Joins the mean and the squares of n numbers to those of a tally. */
static void join_moments(tally *t, int64_t n, double mean, double squares)
{
    const double before = (double)t->finite, all = before + (double)n, apart = mean - t->mean;
    if (n == 0) return;
    t->finite += n;
    t->mean += apart * ((double)n / all);
    t->squares += squares + apart * apart * (before * (double)n / all);
}

static void note_extremes(tally *t, tsr_scalar least, tsr_scalar largest)
{
    if (t->min.dtype == TSR_DTYPE_INVALID || is_less(least, t->min)) t->min = least;
    if (t->max.dtype == TSR_DTYPE_INVALID || is_less(t->max, largest)) t->max = largest;
}

/* NaN, as of a tally that has none yet, gives way. Ends of the histogram are not -0. */
static void widen(tally *t, double low, double high)
{
    if (!(t->low <= low)) t->low = low + 0.0;
    if (!(t->high >= high)) t->high = high + 0.0;
}

static void join(tally *to, const tally *from)
{
    to->nans += from->nans;
    to->infinities += from->infinities;
    to->zeros += from->zeros;
    if (from->finite) widen(to, from->low, from->high);
    if (from->min.dtype != TSR_DTYPE_INVALID) note_extremes(to, from->min, from->max);
    join_moments(to, from->finite, from->mean, from->squares);
}

/* The mean of finite numbers whose sums are beyond a double. */
static double mean_of_huge(const double *x, int64_t n, int64_t finite)
{
    double mean = 0;
    for (int64_t i = 0; i < n; i++)
        if (isfinite(x[i])) mean += x[i] / (double)finite;
    return mean;
}

static void add_sums(tally *t, const sums *found, const double *x, int64_t n)
{
    const double finite = (double)found->finite, left = found->squares - found->sum * (found->sum / finite);
    t->zeros += found->zeros;
    if (!found->finite) return;
    widen(t, found->low, found->high);
    note_extremes(t, tsr_scalar_f64(found->low), tsr_scalar_f64(found->high));
    if (isfinite(found->squares))
        join_moments(t, found->finite, found->shift + found->sum / finite, left > 0 ? left : 0);
    else
        join_moments(t, found->finite, mean_of_huge(x, n, found->finite), INFINITY);
}

/* Counts what is not finite. */
static void note_others(tally *t, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        t->nans += isnan(x[i]) != 0;
        t->infinities += isinf(x[i]) != 0;
        if (isinf(x[i])) note_extremes(t, tsr_scalar_f64(x[i]), tsr_scalar_f64(x[i]));
    }
}

/* Of a run, of which room may hold the numbers as doubles. */
static void tally_run(tally *t, const tsr_tensor *numbers, int64_t from, int64_t n, double *room)
{
    sums found;
    sum_numbers(&found, numbers, from, n);
    const bool plain = found.finite == n && isfinite(found.squares);
    const double *all = plain ? NULL : doubles_at(room, numbers, from, n);
    add_sums(t, &found, all, n);
    if (found.finite < n) note_others(t, all, n);
}

/* Doubles tell only about where long integers are. */
#define NOTE_INTEGERS(name, type, scalar)                       \
    static void name(tally *t, const type *x, int64_t n)        \
    {                                                           \
        type low = x[0], high = x[0];                           \
        for (int64_t i = 1; i < n; i++) {                       \
            low = x[i] < low ? x[i] : low;                      \
            high = x[i] > high ? x[i] : high;                   \
        }                                                       \
        t->min = scalar(low);                                   \
        t->max = scalar(high);                                  \
    }
NOTE_INTEGERS(note_i64, int64_t, tsr_scalar_i64)
NOTE_INTEGERS(note_u64, uint64_t, tsr_scalar_u64)

static void note_integers(tally *t, const tsr_tensor *numbers, int64_t from, int64_t n)
{
    if (numbers->dtype == TSR_I64) note_i64(t, (const int64_t *)numbers->data + from, n);
    if (numbers->dtype == TSR_U64) note_u64(t, (const uint64_t *)numbers->data + from, n);
}

/* Passes ----------------------------------------------------------------------------- */

/* Every step-th element, wherever pieces and segments begin. */
static void keep_sample(walk *w, int64_t from, int64_t n)
{
    char packed[RUN * sizeof(double)];
    tsr_tensor some = *w->numbers;
    const size_t size = tsr_dtype_size(some.dtype);
    const char *numbers = (const char *)some.data + (size_t)from * size;
    const int64_t at = w->seen + from, late = at % w->step;
    int64_t count = 0, i = late ? w->step - late : 0;
    double *to = &w->sample[(at + i) / w->step];
    for (some.data = packed; i < n; i += w->step, count++)
        memcpy(packed + (size_t)count * size, numbers + (size_t)i * size, size);
    const double *x = doubles_at(to, &some, 0, count);
    if (x != to) memcpy(to, x, (size_t)count * sizeof *x);
}

/* What the level asks of a run of numbers. */
static void see_run(walk *w, int thread, tally *t, int64_t from, int64_t n)
{
    double room[RUN];
    uint64_t keys[RUN];
    const int bits = key_bits(w->dtype);
    if (w->level == 0) tally_run(t, w->numbers, from, n, room);
    if (w->sample) keep_sample(w, from, n);
    if (w->level == 0 && w->ranks.ranks == 0) return;
    const double *x = doubles_at(room, w->numbers, from, n);
    if (w->level == 1) histogram_add(&w->bars[thread], x, n);
    if (w->level >= w->ranks.levels || w->ranks.ranks == 0) return;
    if (!w->ranks.counts && w->level > 0) return;
    const int64_t count = keys_of(keys, w->dtype, x, w->numbers, from, n);
    if (!w->ranks.counts)   keep_keys(&w->ranks, keys, count);
    else if (w->level == 0) count_first_digits(counts_of(&w->ranks, thread), keys, count, bits);
    else count_digits(&w->ranks, counts_of(&w->ranks, thread), keys, count, bits, w->level);
}

/* Thread i sees segments i, i + threads, ... */
static tsr_status see_segments(void *context, int64_t begin, int64_t end)
{
    walk *w = context;
    const int64_t n = tsr_numel(w->numbers);
    for (int64_t thread = begin; thread < end; thread++)
        for (int64_t k = thread; k * SEGMENT < n; k += w->threads) {
            const int64_t first = k * SEGMENT, last = first + SEGMENT < n ? first + SEGMENT : n;
            tally *t = &w->segment[k];
            *t = (tally){ .low = NAN, .high = NAN };
            for (int64_t i = first; i < last; i += RUN)
                see_run(w, (int)thread, t, i, i + RUN < last ? RUN : last - i);
            if (w->level == 0) note_integers(t, w->numbers, first, last - first);
        }
    return TSR_OK;
}

static tsr_status see_piece(walk *w, const tsr_tensor *numbers)
{
    const int64_t n = tsr_numel(numbers);
    w->numbers = numbers;
    TSR_TRY(tsr_parallel_for(n > SEGMENT ? w->threads : 1, 1, see_segments, w));
    for (int64_t k = 0; k * SEGMENT < n && w->level == 0; k++) join(&w->all, &w->segment[k]);
    w->seen += n;
    if (w->level == 0) w->out->count += n;
    return TSR_OK;
}

static tsr_status pack(tsr_tensor **out, const tsr_tensor *piece)
{
    if (tsr_dtype_kind(piece->dtype) == TSR_COMPLEX) return numbers_of(out, piece);
    return tsr_contiguous(out, piece);
}

static bool pass(walk *w)
{
    tsr_tensor *piece = NULL, *numbers = NULL;
    block b;
    bool ok = true;
    w->seen = 0;
    begin_level(&w->ranks, w->threads);
    mark_matches(&w->ranks, w->level);
    for (bool more = block_first(&b, w->c.ndim, w->c.length, PIECE); more && ok; more = block_next(&b)) {
        tsr_release(&numbers);
        ok = source_read_block(&piece, w->s, w->index, &w->c, &b);
        if (!ok) break;
        ok = pack(&numbers, piece) == TSR_OK && see_piece(w, numbers) == TSR_OK;
        if (!ok) complain(w->s->command, "%s", tsr_last_error());
        w->done += ok ? (double)tsr_byte_size(piece) : 0;
        if (w->p) progress_draw_bytes(w->p, w->done, w->total);
    }
    join_tables(&w->ranks, w->threads);
    tsr_release(&numbers);
    tsr_release(&piece);
    return ok;
}

static double elements_of(const walk *w)
{
    double n = 1;
    for (int i = 0; i < w->c.ndim; i++) n *= (double)w->c.length[i];
    return n;
}

static void begin(walk *w)
{
    summary *out = w->out;
    const double n = elements_of(w);
    const int threads = tsr_threads();
    w->all.low = w->all.high = NAN;
    w->threads = n <= SEGMENT ? 1 : threads < THREADS_MOST ? threads : THREADS_MOST;
    w->ranks.levels = 1;
    w->ranks.ranks = out->quantiles > 0; /* one table of the upper digits, for all ranks */
    w->bars = room_for((size_t)w->threads, sizeof *w->bars);
    if (out->brief) {
        w->step = (int64_t)ceil(n / SUMMARY_SAMPLE) > 1 ? (int64_t)ceil(n / SUMMARY_SAMPLE) : 1;
        w->sample = room_for(SUMMARY_SAMPLE, sizeof *w->sample);
    }
    if (n <= SORTED_MOST || !out->quantiles) return;
    w->ranks.set = 2 * out->quantiles;
    w->ranks.counts = room_for((size_t)w->threads * (size_t)w->ranks.set * DIGITS, sizeof *w->ranks.counts);
    w->ranks.may_match = room_for(DIGITS, 1);
}

static bool is_whole(tsr_dtype d)
{
    return tsr_dtype_kind(d) != TSR_FLOATING && tsr_dtype_kind(d) != TSR_COMPLEX;
}

static void end_first_pass(walk *w)
{
    summary *out = w->out;
    const tally *t = &w->all;
    out->nans = t->nans;
    out->infinities = t->infinities;
    out->zeros = t->zeros;
    out->finite = t->finite;
    out->min = t->min;
    out->max = t->max;
    out->low = t->low;
    out->high = t->high;
    out->mean = t->finite ? t->mean : NAN;
    out->deviation = t->finite ? sqrt(t->squares / (double)t->finite) : NAN;
    out->bars.low = out->low;
    out->bars.high = out->high;
    out->bars.bins = out->low < out->high ? out->bins : 1;
    out->bars.whole = (is_whole(w->dtype) || out->codes) && out->high - out->low < out->bins;
    if (out->bars.whole) out->bars.bins = (int)(out->high - out->low) + 1;
    for (int i = 0; i < w->threads; i++) w->bars[i] = out->bars;
    begin_search(w);
    if (w->ranks.counts) end_level(&w->ranks);
    else                 rank_small(&w->ranks);
}

static void join_bars(walk *w)
{
    for (int i = 0; i < w->threads; i++)
        for (int k = 0; k < w->out->bars.bins; k++) w->out->bars.count[k] += w->bars[i].count[k];
}

static void count_sample(walk *w)
{
    const double ends[] = { w->out->low, w->out->high }; /* which the sample need not hold */
    histogram_add(&w->out->bars, w->sample, (w->seen + w->step - 1) / w->step);
    if (w->step > 1) histogram_add(&w->out->bars, ends, 2);
}

/* The passes after the first one. */
static bool see_again(walk *w)
{
    const int passes = w->ranks.counts && w->ranks.levels > 2 ? w->ranks.levels : 2;
    for (w->level = 1; w->level < passes; w->level++) {
        if (!pass(w)) return false;
        if (w->level == 1) join_bars(w);
        if (w->level < w->ranks.levels) end_level(&w->ranks);
    }
    end_search(w);
    return true;
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
    if (ok) begin(w);
    ok = ok && pass(w);
    if (ok) end_first_pass(w);
    if (ok && w->sample) count_sample(w);
    else                 ok = ok && see_again(w);
    free(w->ranks.counts);
    free(w->ranks.may_match);
    free(w->bars);
    free(w->sample);
    free(w);
    return ok;
}

double summary_work(const summary *wanted, const source *s, int64_t index)
{
    const tsr_desc *d = &s->items[index].desc;
    const double bytes = (double)tsr_desc_bytes(d);
    const bool exact = wanted->exact || tsr_desc_numel(d) <= SUMMARY_EXACT;
    if (wanted->brief) return bytes;
    return bytes * (key_bits(d->dtype) == 32 || !exact ? 2 : 4);
}
