/* pooling_large.c - large and adaptive windows: reduced over lines first, and then along the row. */
#include "core/alloc.h"
#include "core/mem.h"
#include "pooling_job.h"

enum { COLUMNS = 1024 };  /* of x that are reduced over lines at a time */

/* Lines of x that a row of outputs sees: count[d] places along each axis, from begin[d] on. */
typedef struct lines {
    int64_t begin[TSRI_AXES], count[TSRI_AXES], n;
} lines;

static lines find_lines(const tsri_pooling *j, const int64_t *at)
{
    lines f = { .n = 1 };
    for (int d = 0; d < TSRI_AXES; d++) {
        const int64_t reach = reach_of(j, d), end = least(end_of(j, d, at[d]), j->axis[d].in);
        f.begin[d] = begin_of(j, d, at[d]);
        if (f.begin[d] < 0) f.begin[d] += (-f.begin[d] - 1) / reach * reach + reach;
        f.count[d] = end > f.begin[d] ? (end - f.begin[d] - 1) / reach + 1 : 0;
        f.n *= f.count[d];
    }
    return f;
}

/* Line q: its offset in bytes from x, or the index of its first place. */
static int64_t line_at(const tsri_pooling *j, const lines *f, int64_t q, bool in_bytes)
{
    int64_t at = 0;
    for (int d = TSRI_AXES - 1; d >= 0; d--) {
        const int64_t i = f->begin[d] + q % f->count[d] * reach_of(j, d);
        q /= f->count[d];
        at += i * (in_bytes ? j->axis[d].x : weight_of(j, d));
    }
    return at;
}

/* Columns first .. first + n - 1, each reduced over all lines. */
static void reduce_lines(char *found, char *which, const tsri_pooling *j, const char *x, const lines *f,
                    int64_t first, int64_t n)
{
    _Alignas(64) char buffer[BUFFER];
    int64_t tap[TAPS];
    const int64_t step = j->axis[LANE].x, pitch = (int64_t)tsri_round_up((size_t)(n * j->wide), 64);
    const bool in_x = is_native(j) && (step == j->wide || n == 1);
    const int64_t some = in_x || BUFFER / pitch > TAPS ? TAPS : BUFFER / pitch;
    tsri_pool_block k = { .x = in_x ? x + first * step : buffer,
                          .tap = tap,
                          .rows = 1,
                          .n = n,
                          .z = found,
                          .which = which,
                          .begin = j->lowest,
                          .ahead = in_x ? tsri_tuning_get()->pool_ahead : 0 };
    for (int64_t q = 0; q < f->n || q == 0; q += some, k.begin = NULL) {
        k.first = q;
        k.taps = least(f->n - q, some);
        for (int64_t t = 0; t < k.taps; t++) {
            const int64_t at = line_at(j, f, q + t, true);
            tap[t] = in_x ? at : t * pitch;
            if (!in_x) tsri_pooling_load(buffer + t * pitch, x + at + first * step, step, n, j);
        }
        if (j->average)      j->k->sum(&k);
        else if (j->indices) j->k->max_at(&k);
        else                 j->k->max(&k);
    }
}

/* What is known of an output: its sum, or its largest number and where that is. */
typedef struct output {
    union {
        double  f64;
        float   f32;
        int64_t i64;
    } is;
    int64_t place;
} output;

static void add_along(output *o, const double *x, int64_t n, int64_t reach)
{
    double lane[4] = { 0 };
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int l = 0; l < 4; l++) lane[l] += x[(i + l) * reach];
    for (; i < n; i++) lane[0] += x[i * reach];
    o->is.f64 += (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

/* Does number x at `place` replace the output? Of equal ones, and of NaNs, the first in x is taken. */
static bool is_taken(const output *o, const char *x, int64_t place, const tsri_pooling *j)
{
    bool above, equal;
    if (j->type == TSRI_POOL_I64) {
        const int64_t v = *(const int64_t *)(const void *)x;
        above = v > o->is.i64;
        equal = v == o->is.i64;
    } else {
        const double v =
            j->wide == 4 ? (double)*(const float *)(const void *)x : *(const double *)(const void *)x;
        const double old = j->wide == 4 ? (double)o->is.f32 : o->is.f64;
        above = v > old || (v != v && old == old);
        equal = v == old || (v != v && old != old);
    }
    return above || (equal && (o->place < 0 || place < o->place));
}

/* The largest, where its place is not asked for. */
static void take_largest(output *o, const tsri_pooling *j, const char *found, int64_t n, int64_t reach)
{
    for (int64_t i = 0; i < n; i++) {
        const char *at = found + i * reach * j->wide;
        if (j->type == TSRI_POOL_F32) {
            const float v = *(const float *)(const void *)at;
            o->is.f32 = v > o->is.f32 || v != v ? v : o->is.f32;
        } else if (j->type == TSRI_POOL_F64) {
            const double v = *(const double *)(const void *)at;
            o->is.f64 = v > o->is.f64 || v != v ? v : o->is.f64;
        } else {
            const int64_t v = *(const int64_t *)(const void *)at;
            o->is.i64 = v > o->is.i64 ? v : o->is.i64;
        }
    }
}

/* Reduces columns `from` and on, `reach` apart; found has the columns from `first` on. */
static void take_along(output *o, const tsri_pooling *j, const lines *f, const char *found, const char *which,
                       int64_t first, int64_t from, int64_t n)
{
    const int64_t reach = reach_of(j, LANE);
    if (j->average) {
        add_along(o, (const double *)(const void *)found + (from - first), n, reach);
        return;
    }
    if (!j->indices) {
        take_largest(o, j, found + (from - first) * j->wide, n, reach);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t column = from + i * reach, at = (column - first) * j->wide;
        const int64_t line = j->wide == 4 ? *(const int32_t *)(const void *)(which + at)
                                          : *(const int64_t *)(const void *)(which + at);
        const int64_t place = line_at(j, f, line, false) + (j->spatial[LANE] ? column : 0);
        if (!is_taken(o, found + at, place, j)) continue;
        memcpy(&o->is, found + at, (size_t)j->wide);
        o->place = place;
    }
}

/* Outputs first .. first + n - 1 of a row. */
static void reduce_some(output *o, const tsri_pooling *j, const char *x, const lines *f, int64_t first,
                        int64_t n)
{
    _Alignas(64) char found[COLUMNS * 8], which[COLUMNS * 8];
    const int64_t reach = reach_of(j, LANE), low = begin_of(j, LANE, first);
    const int64_t end = least(end_of(j, LANE, first + n - 1), j->axis[LANE].in);
    for (int64_t at = low < 0 ? 0 : low; at < end; at += COLUMNS) {
        const int64_t columns = least(end - at, COLUMNS);
        memset(which, 0, j->indices ? (size_t)(columns * j->wide) : 0);
        reduce_lines(found, which, j, x, f, at, columns);
        for (int64_t i = 0; i < n; i++) {
            int64_t from = begin_of(j, LANE, first + i);
            const int64_t to = least(end_of(j, LANE, first + i), at + columns);
            if (from < at) from += (at - from - 1) / reach * reach + reach;
            if (from < to) take_along(&o[i], j, f, found, which, at, from, (to - from - 1) / reach + 1);
        }
    }
}

/* One row of outputs. */
void tsri_pooling_reduce(const tsri_pooling *j, const tsri_pooling_block *b)
{
    const lines f = find_lines(j, b->at);
    for (int64_t first = 0; first < j->axis[LANE].out; first += SIDE) {
        output o[SIDE];
        tsri_pooling_counts c;
        double numbers[SIDE];
        const int64_t n = least(j->axis[LANE].out - first, SIDE);
        char *z = b->z + first * j->axis[LANE].z;
        for (int64_t i = 0; i < n; i++) {
            o[i] = (output){ .is.f64 = 0, .place = -1 };
            if (!j->average) memcpy(&o[i].is, j->lowest, (size_t)j->wide);
        }
        if (f.n > 0) reduce_some(o, j, b->x, &f, first, n);
        for (int64_t i = 0; i < n; i++)
            memcpy((char *)numbers + i * (j->average ? 8 : j->wide), &o[i].is,
                   j->average ? 8 : (size_t)j->wide);
        if (j->average) {
            tsri_pooling_around(&c, j, b->at);
            tsri_pooling_means(z, numbers, tsri_pooling_row(&c, j, b->at, first, n), n, j);
        } else {
            tsri_pooling_store(z, j->axis[LANE].z, numbers, n, j);
        }
        for (int64_t i = 0; i < n && j->indices; i++)
            *(int64_t *)(void *)(b->indices + (first + i) * j->i[LANE]) = o[i].place;
    }
}
