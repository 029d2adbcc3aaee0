/* pooling_slide.c - small windows that slide.
 *
 * Lines of x are copied to a buffer as numbers, for a block of rows of outputs at a
 * time. They are padded, and split into phases where windows slide by more than one
 * place: then every tap reads a run of unit stride. Where x itself has such runs nothing is
 * copied. */
#include "core/alloc.h"
#include "core/mem.h"
#include "cpu/cpu_run.h"
#include "pooling_job.h"

enum {
    OUTPUTS = 1024,   /* of a block */
    PAIRS = 2048,     /* of a block of pairs, which needs no other buffers */
    MOST_ALONG = 16   /* taps along the lane, for which lines are split up */
};

/* The layout of lines in the buffer: in phases, each of which has every step-th number of a line. */
typedef struct layout {
    int64_t phases;                 /* of a line: one for each remainder modulo the step that taps see */
    int64_t phase[MOST_ALONG];      /* tap -> its phase */
    int64_t shift[MOST_ALONG];      /* tap -> its offset in the phase */
    int64_t remainder[MOST_ALONG];  /* phase -> the numbers of it, modulo the step */
    int64_t numbers, length;        /* of a phase, and the bytes it takes */
    int64_t lines;                  /* for each place of the two outer axes' windows */
    int64_t n, first;               /* outputs along the lane, and the first of them */
} layout;

static int64_t lines_for(const tsri_slide *a, int64_t rows)
{
    return (rows - 1) * a->step + (a->taps - 1) * a->reach + 1;
}

static void plan_phases(layout *l, const tsri_slide *a, int64_t n, int64_t wide)
{
    int64_t longest = 0;
    l->phases = 0;
    for (int64_t t = 0; t < a->taps; t++) {
        const int64_t offset = t * a->reach, rest = offset % a->step;
        int64_t p = 0;
        while (p < l->phases && l->remainder[p] != rest) p++;
        if (p == l->phases) l->remainder[l->phases++] = rest;
        l->phase[t] = p;
        l->shift[t] = offset / a->step;
        if (l->shift[t] > longest) longest = l->shift[t];
    }
    l->n = n;
    l->numbers = n + longest;
    l->length = (int64_t)tsri_round_up((size_t)(l->numbers * wide), 64);
}

/* Numbers first .. first + n - 1 of a line of x, padded where they are outside x. */
static void load_line(char *numbers, const char *x, int64_t first, int64_t n, const tsri_pooling *j)
{
    const tsri_slide *a = &j->axis[LANE];
    const int64_t ahead = first < 0 ? least(-first, n) : 0,
                  behind = first + n > a->in ? least(first + n - a->in, n) : 0;
    if (ahead > 0) tsri_pooling_fill(numbers, ahead, j);
    if (behind > 0) tsri_pooling_fill(numbers + (n - behind) * j->wide, behind, j);
    if (ahead + behind < n)
        tsri_pooling_load(numbers + ahead * j->wide, x + (first + ahead) * a->x, a->x, n - ahead - behind, j);
}

static void split_numbers(char *z, const char *x, int64_t step, int64_t n, int64_t wide)
{
    for (int64_t i = 0; i < n; i++) {
        if (wide == 4) ((float *)(void *)z)[i] = ((const float *)(const void *)x)[i * step];
        else           ((int64_t *)(void *)z)[i] = ((const int64_t *)(const void *)x)[i * step];
    }
}

/* Are there two phases, and a kernel for two? */
static bool is_split(const layout *l, const tsri_pooling *j)
{
    return j->axis[LANE].step == 2 && l->phases == 2 && l->remainder[0] == 0 && j->k->split;
}

/* One line into its phases. */
static void load_phases(char *to, const char *x, const layout *l, const tsri_pooling *j)
{
    enum { WHOLE = 512 };
    _Alignas(64) char whole[WHOLE * 8];
    const tsri_slide *a = &j->axis[LANE];
    const int64_t from = l->first * a->step + a->first, some = WHOLE / a->step > 0 ? WHOLE / a->step : 1;
    if (a->step == 1) {
        load_line(to, x, from, l->numbers, j);
        return;
    }
    for (int64_t i = 0; i < l->numbers; i += some) {
        const int64_t n = least(l->numbers - i, some), at = from + i * a->step;
        char *z = to + i * j->wide;
        if (a->step <= WHOLE) load_line(whole, x, at, n * a->step, j);
        if (is_split(l, j)) {
            j->k->split(z, z + l->length, 0, whole, 0, 1, n);
            continue;
        }
        for (int64_t p = 0; p < l->phases; p++, z += l->length) {
            if (a->step > WHOLE) load_line(z, x, at + l->remainder[p], 1, j);
            else                 split_numbers(z, whole + l->remainder[p] * j->wide, a->step, n, j->wide);
        }
    }
}

/* Numbers begin .. end - 1 of all phases one by one, each in all of `count` lines. */
static void load_edge(char *to, const char *x, const layout *l, const tsri_pooling *j, int64_t count,
                      int64_t begin, int64_t end)
{
    const tsri_slide *a = &j->axis[LANE];
    const int64_t line = l->phases * l->length;
    for (int64_t p = 0; p < l->phases; p++)
        for (int64_t i = begin; i < end; i++) {
            const int64_t at = (l->first + i) * a->step + a->first + l->remainder[p];
            const bool inside = (uint64_t)at < (uint64_t)a->in;
            const char *from = inside ? x + at * a->x : j->lowest;
            const int64_t between = inside ? j->axis[ROWS].x : 0;
            char *z = to + p * l->length + i * j->wide;
            for (int64_t y = 0; y < count; y++) {
                if (j->wide == 4) memcpy(z + y * line, from + y * between, 4);
                else              memcpy(z + y * line, from + y * between, 8);
            }
        }
}

/* Lines that x holds as numbers, all at once but for the ends of a line; false if x does not. */
static bool load_plain(char *to, const char *x, const layout *l, const tsri_pooling *j, int64_t count)
{
    const tsri_slide *a = &j->axis[LANE];
    const int64_t line = l->phases * l->length, from = l->first * a->step + a->first,
                  between = j->axis[ROWS].x;
    const bool splits = is_split(l, j);
    if (!is_native(j) || a->x != j->wide || !(a->step == 1 || splits)) return false;
    int64_t begin = from < 0 ? (-from - 1) / a->step + 1 : 0, end = (a->in - from) / a->step;
    if (end > l->numbers) end = l->numbers;
    if (begin > end) begin = end = 0;
    char *z = to + begin * j->wide;
    const char *first = x + (from + begin * a->step) * a->x;
    if (begin < end && splits) {
        j->k->split(z, z + l->length, line, first, between, count, end - begin);
    } else if (begin < end) {
        j->all->copy[__builtin_ctz((unsigned)j->wide)](
            &(tsri_tile){ .rows = count, .cols = end - begin, .ptr = { z, (char *)(uintptr_t)first },
                          .row_step = { line, between }, .col_step = { j->wide, j->wide } }, NULL);
    }
    load_edge(to, x, l, j, count, 0, begin);
    load_edge(to, x, l, j, count, end, l->numbers);
    return true;
}

/* Lines begin .. end - 1 of a channel's plane, of which there are l->lines from `at` on. */
static void load_plane(char *to, const char *x, const layout *l, const tsri_pooling *j, int64_t at)
{
    const int64_t line = l->phases * l->length, in = j->axis[ROWS].in;
    const int64_t begin = least(at < 0 ? -at : 0, l->lines),
                  behind = at + l->lines > in ? at + l->lines - in : 0;
    const int64_t end = l->lines - least(behind, l->lines - begin);
    const char *first = x + (at + begin) * j->axis[ROWS].x;
    tsri_pooling_fill(to, begin * line / j->wide, j);
    tsri_pooling_fill(to + end * line, (l->lines - end) * line / j->wide, j);
    if (begin < end && load_plain(to + begin * line, first, l, j, end - begin)) return;
    for (int64_t y = begin; y < end; y++) load_phases(to + y * line, x + (at + y) * j->axis[ROWS].x, l, j);
}

/* All lines that a block sees, one place of the outer axes' windows after the other. */
static void load_lines(char *buffer, const tsri_pooling_block *b, const layout *l, const tsri_pooling *j)
{
    const tsri_slide *a = j->axis;
    const int64_t plane = l->lines * l->phases * l->length, at = b->at[2] * a[2].step + a[2].first;
    for (int64_t t0 = 0; t0 < a[0].taps; t0++)
        for (int64_t t1 = 0; t1 < a[1].taps; t1++, buffer += plane) {
            const int64_t i0 = b->at[0] * a[0].step + tsri_slide_at(&a[0], t0);
            const int64_t i1 = b->at[1] * a[1].step + tsri_slide_at(&a[1], t1);
            if ((uint64_t)i0 < (uint64_t)a[0].in && (uint64_t)i1 < (uint64_t)a[1].in)
                load_plane(buffer, b->x + i0 * a[0].x + i1 * a[1].x, l, j, at);
            else
                tsri_pooling_fill(buffer, plane / j->wide, j);
        }
}

/* The first tap of output o's window along an axis that is in x; -1 if none is. */
static int64_t first_inside(const tsri_slide *a, int64_t o)
{
    const int64_t at = o * a->step + a->first;
    const int64_t t = at >= 0 ? 0 : (-at - 1) / a->reach + 1;
    return t < a->taps && at + t * a->reach < a->in ? t : -1;
}

/* Taps, and the places in x that they see. */
typedef struct places {
    int64_t first[SIDE];  /* of each output along the lane: its first tap that is in x; -1: there is none */
    int64_t ahead[TAPS];  /* from where a window begins to a tap */
} places;

static void find_places(places *p, const tsri_pooling *j, const layout *l)
{
    const tsri_slide *a = j->axis;
    int64_t n = 0;
    for (int64_t i = 0; i < l->n; i++) p->first[i] = first_inside(&a[LANE], l->first + i);
    for (int64_t t0 = 0; t0 < a[0].taps; t0++)
        for (int64_t t1 = 0; t1 < a[1].taps; t1++)
            for (int64_t t2 = 0; t2 < a[2].taps; t2++)
                for (int64_t t3 = 0; t3 < a[3].taps; t3++)
                    p->ahead[n++] = t0 * a[0].reach * weight_of(j, 0) + t1 * a[1].reach * weight_of(j, 1) +
                                    t2 * a[2].reach * weight_of(j, 2) + t3 * a[3].reach * weight_of(j, 3);
}

/* The result for windows of equal numbers: the first tap in x. */
static void set_first_taps(char *which, const places *p, const tsri_pooling *j, const int64_t *at, int64_t n)
{
    int64_t outer = 0;
    for (int d = 0; d < LANE; d++) {
        const int64_t t = first_inside(&j->axis[d], at[d]);
        outer = t < 0 || outer < 0 ? -1 : outer * j->axis[d].taps + t;
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t tap = outer < 0 || p->first[i] < 0 ? -1 : outer * j->axis[LANE].taps + p->first[i];
        if (j->wide == 4) ((int32_t *)(void *)which)[i] = (int32_t)tap;
        else              ((int64_t *)(void *)which)[i] = tap;
    }
}

/* Taps as the numbers of places in x. */
static void store_places(char *z, const char *which, const places *p, const tsri_pooling *j,
                         const int64_t *at, const layout *l)
{
    int64_t place = begin_of(j, LANE, l->first) * weight_of(j, LANE);
    const int64_t apart = j->axis[LANE].step * weight_of(j, LANE);
    for (int d = 0; d < LANE; d++) place += begin_of(j, d, at[d]) * weight_of(j, d);
    for (int64_t i = 0; i < l->n; i++, place += apart) {
        const int64_t tap = j->wide == 4 ? ((const int32_t *)(const void *)which)[i]
                                         : ((const int64_t *)(const void *)which)[i];
        *(int64_t *)(void *)(z + (l->first + i) * j->i[LANE]) = tap < 0 ? -1 : place + p->ahead[tap];
    }
}

/* Bytes from the block's first number to where each tap finds it. */
static int64_t find_taps(int64_t *tap, const layout *l, const tsri_pooling *j)
{
    const tsri_slide *a = j->axis;
    const int64_t line = l->phases * l->length;
    int64_t n = 0;
    for (int64_t place = 0; place < a[0].taps * a[1].taps; place++)
        for (int64_t t2 = 0; t2 < a[2].taps; t2++)
            for (int64_t t3 = 0; t3 < a[3].taps; t3++)
                tap[n++] = (place * l->lines + t2 * a[2].reach) * line + l->phase[t3] * l->length +
                           l->shift[t3] * j->wide;
    return n;
}

/* The same in x itself. */
static int64_t find_taps_in_x(int64_t *tap, const tsri_pooling *j)
{
    const tsri_slide *a = j->axis;
    int64_t n = 0;
    for (int64_t t0 = 0; t0 < a[0].taps; t0++)
        for (int64_t t1 = 0; t1 < a[1].taps; t1++)
            for (int64_t t2 = 0; t2 < a[2].taps; t2++)
                for (int64_t t3 = 0; t3 < a[3].taps; t3++)
                    tap[n++] = t0 * a[0].reach * a[0].x + t1 * a[1].reach * a[1].x +
                               t2 * a[2].reach * a[2].x + t3 * a[3].reach * a[3].x;
    return n;
}

/* Can all windows of a block be read from x itself? */
static bool is_in_x(const tsri_pooling *j, const tsri_pooling_block *b)
{
    const tsri_slide *a = j->axis;
    if (!is_native(j) || a[LANE].x != j->wide || (a[LANE].step != 1 && a[LANE].out > 1)) return false;
    for (int d = 0; d < AXES; d++) {
        const int64_t low = d == LANE ? 0 : b->at[d], high = d == LANE   ? a[d].out - 1
                                                             : d == ROWS ? low + b->rows - 1
                                                                         : low;
        if (begin_of(j, d, low) < 0 || end_of(j, d, high) > a[d].in) return false;
    }
    return true;
}

/* Averages of a block that all have the same divisor, and are contiguous; false if they are not. */
static bool store_alike(const tsri_pooling_block *b, const layout *l, const char *found,
                        const tsri_pooling *j)
{
    const int64_t n = b->rows * l->n;
    if (!j->all_common || !is_native(j) || l->n != j->axis[LANE].out || j->axis[LANE].z != j->wide ||
        (b->rows > 1 && j->axis[ROWS].z != l->n * j->wide))
        return false;
    for (int64_t i = 0; i < n; i += SIDE)
        j->k->mean(b->z + i * j->wide, (const double *)(const void *)found + i, j->common.all, j->common.by,
                   least(n - i, SIDE), false);
    return true;
}

/* Stores the results of a block, rows of l->n numbers or sums. */
static void store_block(const tsri_pooling_block *b, const layout *l, const char *found, const char *which,
                        const places *p, const tsri_pooling *j)
{
    tsri_pooling_counts c;
    int64_t at[TSRI_AXES] = { b->at[0], b->at[1], b->at[2] };
    if (j->average && store_alike(b, l, found, j)) return;
    if (j->average) tsri_pooling_around(&c, j, at);
    for (int64_t r = 0; r < b->rows; r++, at[ROWS]++) {
        char *z = b->z + r * j->axis[ROWS].z + l->first * j->axis[LANE].z;
        if (j->average) {
            tsri_pooling_means(z, (const double *)(const void *)(found + r * l->n * 8),
                        tsri_pooling_row(&c, j, at, l->first, l->n), l->n, j);
        } else if (found) {
            tsri_pooling_store(z, j->axis[LANE].z, found + r * l->n * j->wide, l->n, j);
        }
        if (j->indices)
            store_places(b->indices + r * j->i[ROWS], which + r * l->n * j->wide, p, j, at, l);
    }
}

static void slide_some(const tsri_pooling *j, const tsri_pooling_block *b, layout *l)
{
    _Alignas(64) char buffer[BUFFER], found[OUTPUTS * 8], which[OUTPUTS * 8];
    int64_t tap[TAPS], at[TSRI_AXES] = { b->at[0], b->at[1], b->at[2] };
    places p;
    const bool in_x = is_in_x(j, b), writes_z = !j->average && is_native(j) && j->axis[LANE].z == j->wide;
    tsri_pool_block k = { .x = buffer, .tap = tap, .rows = b->rows, .n = l->n, .begin = j->lowest,
                          .z = writes_z ? b->z + l->first * j->wide : found, .which = which,
                          .z_step = writes_z ? j->axis[ROWS].z : l->n * (j->average ? 8 : j->wide),
                          .which_step = l->n * j->wide };
    if (in_x) {
        k.x = b->x + l->first * j->wide;
        for (int d = 0; d < AXES; d++) k.x += begin_of(j, d, d == LANE ? 0 : b->at[d]) * j->axis[d].x;
        k.x_step = tsri_slide_bytes(&j->axis[ROWS]);
        k.ahead = tsri_tuning_get()->pool_ahead;
        k.taps = find_taps_in_x(tap, j);
    } else {
        load_lines(buffer, b, l, j);
        k.x_step = j->axis[ROWS].step * l->phases * l->length;
        k.taps = find_taps(tap, l, j);
    }
    if (j->indices) find_places(&p, j, l);
    for (int64_t r = 0; r < b->rows && j->indices; r++, at[ROWS]++)
        set_first_taps(which + r * l->n * j->wide, &p, j, at, l->n);
    if (j->average)      j->k->sum(&k);
    else if (j->indices) j->k->max_at(&k);
    else                 j->k->max(&k);
    store_block(b, l, writes_z ? NULL : found, which, &p, j);
}

/* Windows of two or three columns that slide by two, read from x itself ------------------------------- */

static bool has_pairs(const tsri_pooling *j)
{
    const tsri_slide *a = j->axis;
    for (int d = 0; d < ROWS; d++)
        if (a[d].taps > 1 || begin_of(j, d, 0) < 0 || end_of(j, d, a[d].out - 1) > a[d].in) return false;
    return j->k->max_pairs && j->dtype == TSR_F32 && !j->indices && a[LANE].x == j->wide &&
           a[LANE].step == 2 && a[LANE].reach == 1 && (a[LANE].taps == 2 || a[LANE].taps == 3);
}

/* How many rows from `at` on, of `rows`, have all of their lines in x; 1 if the first has not. */
static int64_t rows_alike(const tsri_pooling *j, int64_t at, int64_t rows)
{
    int64_t n = 0;
    while (n < rows && begin_of(j, ROWS, at + n) >= 0 && end_of(j, ROWS, at + n) <= j->axis[ROWS].in) n++;
    return n > 0 ? n : 1;
}

/* Bytes of x that blocks read in order: those of a line, and of the lines that continue it without a gap. */
static int64_t bytes_that_follow(const tsri_pooling *j)
{
    const tsri_slide *a = j->axis;
    int64_t n = a[LANE].in * j->wide;
    if (a[0].out > 1 || a[1].out > 1 || a[ROWS].x != n) return n;
    n *= a[ROWS].in;
    if (j->channels > 1 && j->x_channel != n) return n;
    n *= j->channels;
    return j->images > 1 && j->x_image != n ? n : n * j->images;
}

/* Are results contiguous blocks of cache lines, and larger than the caches? */
static bool has_streams(const tsri_pooling *j)
{
    const tsri_slide *a = j->axis;
    const int64_t planes = j->images * j->channels * a[0].out * a[1].out;
    return a[LANE].z == j->wide && j->side == a[LANE].out && a[ROWS].z == a[LANE].out * j->wide &&
           tsri_cpu_streams(planes * (a[ROWS].in * a[LANE].in + a[ROWS].out * a[LANE].out) * j->wide);
}

static void stream_out(char *z, const char *found, int64_t n, const tsri_pooling *j)
{
    const tsri_tile t = { .stream = true, .rows = 1, .cols = n, .ptr = { z, (char *)(uintptr_t)found },
                          .col_step = { j->wide, j->wide } };
    j->all->copy[__builtin_ctz((unsigned)j->wide)](&t, NULL);
}

static void slide_pairs(const tsri_pooling *j, const tsri_pooling_block *b, const layout *l)
{
    _Alignas(64) char found[PAIRS * 8];
    int64_t tap[TAPS];
    const tsri_slide *a = &j->axis[ROWS];
    const bool final = (!j->average || j->all_common) && j->axis[LANE].z == j->wide,
               direct = final && !j->streams;
    const char *x = b->x;
    for (int d = 0; d < ROWS; d++) x += begin_of(j, d, b->at[d]) * j->axis[d].x;
    tsri_pool_block k = { .x_step = tsri_slide_bytes(a), .tap = tap, .n = l->n, .across = j->axis[LANE].taps,
                          .column = begin_of(j, LANE, l->first), .columns = j->axis[LANE].in,
                          .z = direct ? b->z + l->first * j->wide : found,
                          .z_step = direct ? a->z : l->n * (final || !j->average ? j->wide : 8),
                          .begin = j->lowest, .ahead = tsri_tuning_get()->pool_ahead, .follows = j->follows,
                          .count = final && j->average ? j->common.all[0] : 0 };
    for (int64_t r = 0; r < b->rows; r += k.rows, k.z += k.rows * k.z_step) {
        const int64_t at = begin_of(j, ROWS, b->at[ROWS] + r);
        k.rows = rows_alike(j, b->at[ROWS] + r, b->rows - r);
        k.x = x + at * a->x;
        k.taps = 0;
        for (int64_t t = 0; t < a->taps; t++)
            if ((uint64_t)(at + t * a->reach) < (uint64_t)a->in) tap[k.taps++] = t * a->reach * a->x;
        if (j->average) j->k->sum_pairs(&k);
        else            j->k->max_pairs(&k);
    }
    if (!final)          store_block(b, l, found, NULL, NULL, j);
    else if (j->streams) stream_out(b->z, found, b->rows * l->n, j);
}

void tsri_pooling_slide(const tsri_pooling *j, const tsri_pooling_block *b)
{
    layout l = { .lines = lines_for(&j->axis[ROWS], b->rows) };
    for (l.first = 0; l.first < j->axis[LANE].out; l.first += j->side) {
        plan_phases(&l, &j->axis[LANE], least(j->side, j->axis[LANE].out - l.first), j->wide);
        if (j->pairs) slide_pairs(j, b, &l);
        else          slide_some(j, b, &l);
    }
}

/* As many rows and outputs as the buffers hold; false if windows are too large for them. */
bool tsri_pooling_blocks(tsri_pooling *j)
{
    const tsri_slide *a = j->axis;
    const double taps = (double)a[0].taps * (double)a[1].taps * (double)a[2].taps * (double)a[3].taps;
    if (j->adaptive || a[LANE].taps > MOST_ALONG || taps > TAPS) return false;
    if (a[LANE].out < 8 && a[LANE].taps > 4 && !j->indices) return false;  /* too few outputs for a vector */
    for (j->side = least(SIDE, a[LANE].out);; j->side /= 2) {
        layout l = { .phases = 0 };
        if (j->side == 0) return false;
        plan_phases(&l, &a[LANE], j->side, j->wide);
        const int64_t line = a[0].taps * a[1].taps * l.phases * l.length, one = lines_for(&a[ROWS], 1);
        if (one > BUFFER / line) continue;
        j->rows = (BUFFER / line - one) / a[ROWS].step + 1;
        j->pairs = has_pairs(j);
        j->rows = least(j->pairs ? PAIRS / j->side : least(j->rows, OUTPUTS / j->side), a[ROWS].out);
        j->follows = bytes_that_follow(j);
        j->streams = j->pairs && has_streams(j);
        return true;
    }
}
