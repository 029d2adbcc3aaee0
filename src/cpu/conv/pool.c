/* pool.c - pools: windows as rows of taps whose numbers lie side by side.
 *
 * Which outputs lie side by side is chosen by how x does: the columns of a row, or the
 * channels of a place. Lines of x are brought into a buffer as numbers (pool.h) for a block
 * of rows of outputs at a time, with what lies outside of x filled in, and split up
 * where windows slide by more than one place: then every tap is a run of numbers. Large
 * and adaptive windows are collected from top to bottom first, and then along the row.
 */
#include "pool.h"
#include "conv.h"
#include "core/alloc.h"
#include "core/dtype_int.h"
#include "core/mem.h"
#include "cpu/kernels.h"
#include "tessera/threads.h"

enum {
    AXES = TSRI_AXES + 1,   /* three that rows are counted along; LANE: outputs lie side by side */
    LANE = TSRI_AXES,
    ROWS = TSRI_AXES - 1,   /* along which rows of a block follow each other */
    BUFFER = 24 << 10,      /* bytes of lines */
    OUTPUTS = 1024,         /* of a block */
    SIDE = 256,             /* of a row of a block */
    TAPS = 256,             /* that are taken at a time */
    MOST_ALONG = 16,        /* taps along the lane, for which lines are split up */
    COLUMNS = 1024,         /* of x that are collected before they are added up */
    AHEAD = 8 << 10,        /* bytes by which x is fetched early */
    PART_WORK = 1 << 15     /* elements that make a thread worth waking */
};

/* What averages of a row are divided by: along the lane, and all together. */
typedef struct counted {
    int64_t outer, around, along[SIDE];  /* along all axes but the lane, and those that a block stays at */
    double  all[SIDE], by[SIDE];
} counted;

typedef struct job {
    tsri_slide             axis[AXES];
    const tsr_pool_params *p;
    bool                   spatial[AXES];  /* does the axis count in the number of a place? */
    bool                   average, adaptive, slides, pairs;
    int64_t                images, channels;
    const char            *x;
    char                  *z, *indices;
    int64_t                x_image, x_channel, z_image, z_channel;  /* bytes, here and below */
    int64_t                i_image, i_channel, i[AXES];             /* of the indices */
    tsr_dtype              dtype;
    int64_t                size, wide;    /* of an element and of a number */
    int                    type;
    const tsri_pool_kernels *k;
    const tsri_cpu_kernels  *all;
    int64_t                rows, side;    /* of a block; outputs of its rows */
    int64_t                blocks;        /* along ROWS */
    _Alignas(8) char       lowest[8];     /* what no number is below */
    counted                common;        /* of most rows, if those are a block wide; else outer is -1 */
    bool                   all_common;    /* for all rows, and one number of them */
} job;

/* A block of outputs: where its image and channel, and its first row, lie. */
typedef struct block {
    const char *x;
    char       *z, *indices;
    int64_t     at[TSRI_AXES];
    int64_t     rows;
} block;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Numbers ---------------------------------------------------------------------------------------- */

static bool is_native(const job *j)
{
    return j->dtype == TSR_F32 || j->dtype == TSR_F64 || j->dtype == TSR_I64;
}

/* Integers of up to 16 bits as floats; u64 in the order of i64. */
static void convert_integers(void *numbers, const char *x, int64_t step, int64_t n, const job *j)
{
    int64_t run[TSRI_RUN];
    for (int64_t i = 0; i < n; i += TSRI_RUN) {
        const int64_t m = smaller(n - i, TSRI_RUN);
        j->all->widen[j->dtype](run, x + i * step, step, m);
        for (int64_t l = 0; l < m; l++) {
            if (j->type == TSRI_POOL_F32) ((float *)numbers)[i + l] = (float)run[l];
            else
                ((int64_t *)numbers)[i + l] =
                    j->dtype == TSR_U64 ? (int64_t)((uint64_t)run[l] ^ (uint64_t)1 << 63) : run[l];
        }
    }
}

/* n elements as numbers. */
static void load(void *numbers, const char *x, int64_t step, int64_t n, const job *j)
{
    const tsr_kind kind = tsr_dtype_kind(j->dtype);
    if (is_native(j) && (step == j->size || n == 1)) memcpy(numbers, x, (size_t)(n * j->size));
    else if (kind == TSR_FLOATING)                   j->all->widen[j->dtype](numbers, x, step, n);
    else                                             convert_integers(numbers, x, step, n, j);
}

static void store_integers(char *z, int64_t step, const void *numbers, int64_t n, const job *j)
{
    int64_t run[TSRI_RUN];
    const tsri_wide wide = j->dtype == TSR_U64 ? TSRI_WIDE_U64 : TSRI_WIDE_I64;
    for (int64_t i = 0; i < n; i += TSRI_RUN) {
        const int64_t m = smaller(n - i, TSRI_RUN);
        for (int64_t l = 0; l < m; l++) {
            if (j->type == TSRI_POOL_F32) run[l] = (int64_t)((const float *)numbers)[i + l];
            else run[l] = ((const int64_t *)numbers)[i + l] ^ (j->dtype == TSR_U64 ? INT64_MIN : 0);
        }
        j->all->narrow[wide][j->dtype](z + i * step, step, run, m);
    }
}

static void store(char *z, int64_t step, const void *numbers, int64_t n, const job *j)
{
    if (is_native(j) && (step == j->size || n == 1)) memcpy(z, numbers, (size_t)(n * j->size));
    else if (tsr_dtype_kind(j->dtype) == TSR_FLOATING)
        j->all->narrow[j->all->wide[j->dtype]][j->dtype](z, step, numbers, n);
    else
        store_integers(z, step, numbers, n, j);
}

static void fill(char *numbers, int64_t n, const job *j)
{
    if (j->wide == 4) for (int64_t i = 0; i < n; i++) memcpy(numbers + i * 4, j->lowest, 4);
    else              for (int64_t i = 0; i < n; i++) memcpy(numbers + i * 8, j->lowest, 8);
}

static void set_lowest(job *j)
{
    const float low = j->dtype == TSR_F8E4M3 ? -448.0f : -__builtin_inff();  /* that one has no infinity */
    const double low_wide = -__builtin_inf();
    const int bits = 8 * (int)j->size;
    const bool is_unsigned = tsr_dtype_kind(j->dtype) == TSR_UNSIGNED;
    const int64_t least = j->dtype == TSR_U64 ? INT64_MIN : is_unsigned ? 0 : INT64_MIN >> (64 - bits);
    const float few = (float)least;
    if (j->average) return;  /* of zeros, as they are */
    if (j->type == TSRI_POOL_F64)                           memcpy(j->lowest, &low_wide, 8);
    else if (j->type == TSRI_POOL_I64)                      memcpy(j->lowest, &least, 8);
    else if (tsr_dtype_kind(j->dtype) == TSR_FLOATING)      memcpy(j->lowest, &low, 4);
    else                                                    memcpy(j->lowest, &few, 4);
}

/* Windows ------------------------------------------------------------------------------------------ */

/* Where the window of output o along an axis begins and ends. */
static int64_t begin_of(const job *j, int d, int64_t o)
{
    const tsri_slide *a = &j->axis[d];
    return j->adaptive ? o * a->in / a->out : o * a->step + a->first;
}
static int64_t end_of(const job *j, int d, int64_t o)
{
    const tsri_slide *a = &j->axis[d];
    return j->adaptive ? ((o + 1) * a->in - 1) / a->out + 1
                       : o * a->step + a->first + (a->taps - 1) * a->reach + 1;
}
static int64_t reach_of(const job *j, int d) { return j->adaptive ? 1 : j->axis[d].reach; }

/* How many places the window of output o counts along an axis, for an average. */
static int64_t count_places(const job *j, int d, int64_t o)
{
    const tsri_slide *a = &j->axis[d];
    /* What counts, ahead of x and behind it. */
    const int64_t low = j->adaptive || j->p->exclude_pad ? 0 : -a->first;
    int64_t begin = begin_of(j, d, o), end = end_of(j, d, o);
    if (begin < -low) begin = -low;
    if (end > a->in + low) end = a->in + low;
    return end > begin ? end - begin : 0;
}

static void count_around(counted *c, const job *j, const int64_t *at)
{
    c->outer = -1;
    c->around = count_places(j, 0, at[0]) * count_places(j, 1, at[1]);
}

static void count_along(counted *c, const job *j, const int64_t *at, int64_t first, int64_t n)
{
    count_around(c, j, at);
    for (int64_t i = 0; i < n; i++) c->along[i] = count_places(j, LANE, first + i);
}

/* Of rows that count so many places along the other axes. */
static void count_all(counted *c, const job *j, int64_t outer, int64_t n)
{
    const int64_t divisor = j->p->adaptive ? 0 : j->p->divisor;
    c->outer = outer;
    for (int64_t i = 0; i < n; i++) {
        c->all[i] = divisor ? (double)divisor : (double)(outer * c->along[i]);
        c->by[i] = 1 / c->all[i];
    }
}

/* Of one row of outputs first .. first + n - 1: most have what another had. */
static const counted *count_row(counted *c, const job *j, const int64_t *at, int64_t first, int64_t n)
{
    const int64_t outer = c->around * count_places(j, ROWS, at[ROWS]);
    if (outer == j->common.outer) return &j->common;
    if (outer == c->outer) return c;
    count_along(c, j, at, first, n);
    count_all(c, j, outer, n);
    return c;
}

/* Results -------------------------------------------------------------------------------------------- */

/* n sums as averages. */
static void store_means(char *z, const double *sums, const counted *c, int64_t n, const job *j)
{
    double numbers[SIDE];
    const int64_t step = j->axis[LANE].z;
    if (is_native(j) && (step == j->size || n == 1)) {
        j->k->mean(z, sums, c->all, c->by, n, false);
        return;
    }
    j->k->mean(numbers, sums, c->all, c->by, n, j->size < 4);
    store(z, step, numbers, n, j);
}

/* Small windows that slide --------------------------------------------------------------------------- */

/* How lines lie in the buffer: in phases, each of which has every step-th number of a line. */
typedef struct layout {
    int64_t phases;                 /* of a line: those of its remainders that taps look at */
    int64_t phase[MOST_ALONG];      /* tap -> its phase */
    int64_t shift[MOST_ALONG];      /* tap -> numbers ahead of where that begins */
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
        const int64_t far = t * a->reach, rest = far % a->step;
        int64_t p = 0;
        while (p < l->phases && l->remainder[p] != rest) p++;
        if (p == l->phases) l->remainder[l->phases++] = rest;
        l->phase[t] = p;
        l->shift[t] = far / a->step;
        if (l->shift[t] > longest) longest = l->shift[t];
    }
    l->n = n;
    l->numbers = n + longest;
    l->length = (int64_t)tsri_round_up((size_t)(l->numbers * wide), 64);
}

/* Numbers first .. first + n - 1 of a line of x, of which those outside x are filled in. */
static void load_line(char *numbers, const char *x, int64_t first, int64_t n, const job *j)
{
    const tsri_slide *a = &j->axis[LANE];
    const int64_t ahead = first < 0 ? smaller(-first, n) : 0,
                  behind = first + n > a->in ? smaller(first + n - a->in, n) : 0;
    if (ahead > 0) fill(numbers, ahead, j);
    if (behind > 0) fill(numbers + (n - behind) * j->wide, behind, j);
    if (ahead + behind < n)
        load(numbers + ahead * j->wide, x + (first + ahead) * a->x, a->x, n - ahead - behind, j);
}

static void split_numbers(char *z, const char *x, int64_t step, int64_t n, int64_t wide)
{
    for (int64_t i = 0; i < n; i++) {
        if (wide == 4) ((float *)(void *)z)[i] = ((const float *)(const void *)x)[i * step];
        else           ((int64_t *)(void *)z)[i] = ((const int64_t *)(const void *)x)[i * step];
    }
}

/* Are there two phases, and a kernel for those? */
static bool is_split(const layout *l, const job *j)
{
    return j->axis[LANE].step == 2 && l->phases == 2 && l->remainder[0] == 0 && j->k->split;
}

/* One line into its phases. */
static void load_phases(char *to, const char *x, const layout *l, const job *j)
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
        const int64_t n = smaller(l->numbers - i, some), at = from + i * a->step;
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
static void load_edge(char *to, const char *x, const layout *l, const job *j, int64_t count, int64_t begin,
                      int64_t end)
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

/* Lines of numbers as they lie in x, all at once but for what is near the ends of a line; false if they
 * do not lie so. */
static bool load_plain(char *to, const char *x, const layout *l, const job *j, int64_t count)
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
static void load_plane(char *to, const char *x, const layout *l, const job *j, int64_t at)
{
    const int64_t line = l->phases * l->length, in = j->axis[ROWS].in;
    const int64_t begin = smaller(at < 0 ? -at : 0, l->lines),
                  behind = at + l->lines > in ? at + l->lines - in : 0;
    const int64_t end = l->lines - smaller(behind, l->lines - begin);
    const char *first = x + (at + begin) * j->axis[ROWS].x;
    fill(to, begin * line / j->wide, j);
    fill(to + end * line, (l->lines - end) * line / j->wide, j);
    if (begin < end && load_plain(to + begin * line, first, l, j, end - begin)) return;
    for (int64_t y = begin; y < end; y++) load_phases(to + y * line, x + (at + y) * j->axis[ROWS].x, l, j);
}

/* All lines that a block looks at: those of each place of the outer axes' windows after each other. */
static void load_lines(char *buffer, const block *b, const layout *l, const job *j)
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
                fill(buffer, plane / j->wide, j);
        }
}

/* The first tap of output o's window along an axis that is in x; -1 if none is. */
static int64_t first_inside(const tsri_slide *a, int64_t o)
{
    const int64_t at = o * a->step + a->first;
    const int64_t t = at >= 0 ? 0 : (-at - 1) / a->reach + 1;
    return t < a->taps && at + t * a->reach < a->in ? t : -1;
}

/* Taps, and the places in x that they look at. */
typedef struct places {
    int64_t first[SIDE];  /* of each output along the lane: its first tap that is in x; -1: there is none */
    int64_t ahead[TAPS];  /* from where a window begins to a tap */
} places;

/* What a step along axis d adds to the number of a place. */
static int64_t weight_of(const job *j, int d)
{
    int64_t weight = j->spatial[d] ? 1 : 0;
    for (int i = d + 1; i < AXES; i++)
        if (j->spatial[i]) weight *= j->axis[i].in;
    return weight;
}

static void find_places(places *p, const job *j, const layout *l)
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

/* Taps that are taken unless there is something larger: for windows of equal numbers, the first in x. */
static void set_first_taps(char *which, const places *p, const job *j, const int64_t *at, int64_t n)
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
static void store_places(char *z, const char *which, const places *p, const job *j, const int64_t *at,
                         const layout *l)
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
static int64_t find_taps(int64_t *tap, const layout *l, const job *j)
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
static int64_t find_taps_in_x(int64_t *tap, const job *j)
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

/* Are all windows of a block numbers as they lie in x? */
static bool is_in_x(const job *j, const block *b)
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

/* Averages of a block that are all over the same number, and lie in one piece; false if they do not. */
static bool store_alike(const block *b, const layout *l, const char *found, const job *j)
{
    const int64_t n = b->rows * l->n;
    if (!j->all_common || !is_native(j) || l->n != j->axis[LANE].out || j->axis[LANE].z != j->wide ||
        (b->rows > 1 && j->axis[ROWS].z != l->n * j->wide))
        return false;
    for (int64_t i = 0; i < n; i += SIDE)
        j->k->mean(b->z + i * j->wide, (const double *)(const void *)found + i, j->common.all, j->common.by,
                   smaller(n - i, SIDE), false);
    return true;
}

/* What a block came to, in rows of l->n numbers or sums. */
static void store_block(const block *b, const layout *l, const char *found, const char *which,
                        const places *p, const job *j)
{
    counted c;
    int64_t at[TSRI_AXES] = { b->at[0], b->at[1], b->at[2] };
    if (j->average && store_alike(b, l, found, j)) return;
    if (j->average) count_around(&c, j, at);
    for (int64_t r = 0; r < b->rows; r++, at[ROWS]++) {
        char *z = b->z + r * j->axis[ROWS].z + l->first * j->axis[LANE].z;
        if (j->average) {
            store_means(z, (const double *)(const void *)(found + r * l->n * 8),
                        count_row(&c, j, at, l->first, l->n), l->n, j);
        } else if (found) {
            store(z, j->axis[LANE].z, found + r * l->n * j->wide, l->n, j);
        }
        if (j->indices)
            store_places(b->indices + r * j->i[ROWS], which + r * l->n * j->wide, p, j, at, l);
    }
}

static void slide_some(const job *j, const block *b, layout *l)
{
    _Alignas(64) char buffer[BUFFER], found[OUTPUTS * 8], which[OUTPUTS * 8];
    int64_t tap[TAPS], at[TSRI_AXES] = { b->at[0], b->at[1], b->at[2] };
    places p;
    const bool in_x = is_in_x(j, b), lies = !j->average && is_native(j) && j->axis[LANE].z == j->wide;
    tsri_pool_block k = { .x = buffer, .tap = tap, .rows = b->rows, .n = l->n, .begin = j->lowest,
                          .z = lies ? b->z + l->first * j->wide : found, .which = which,
                          .z_step = lies ? j->axis[ROWS].z : l->n * (j->average ? 8 : j->wide),
                          .which_step = l->n * j->wide };
    if (in_x) {
        k.x = b->x + l->first * j->wide;
        for (int d = 0; d < AXES; d++) k.x += begin_of(j, d, d == LANE ? 0 : b->at[d]) * j->axis[d].x;
        k.x_step = tsri_slide_bytes(&j->axis[ROWS]);
        k.ahead = AHEAD;
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
    store_block(b, l, lies ? NULL : found, which, &p, j);
}

/* Windows of two or three columns that move on by two, of numbers as they lie in x -------------------- */

static bool has_pairs(const job *j)
{
    const tsri_slide *a = j->axis;
    for (int d = 0; d < ROWS; d++)
        if (a[d].taps > 1 || begin_of(j, d, 0) < 0 || end_of(j, d, a[d].out - 1) > a[d].in) return false;
    return j->k->max_pairs && j->dtype == TSR_F32 && !j->indices && a[LANE].x == j->wide && a[LANE].step == 2 &&
           a[LANE].reach == 1 && (a[LANE].taps == 2 || a[LANE].taps == 3);
}

/* How many rows from `at` on, of `rows`, see all of their lines; one that does not is alone. */
static int64_t rows_alike(const job *j, int64_t at, int64_t rows)
{
    int64_t n = 0;
    while (n < rows && begin_of(j, ROWS, at + n) >= 0 && end_of(j, ROWS, at + n) <= j->axis[ROWS].in) n++;
    return n > 0 ? n : 1;
}

static void slide_pairs(const job *j, const block *b, const layout *l)
{
    _Alignas(64) char found[OUTPUTS * 8];
    int64_t tap[TAPS];
    const tsri_slide *a = &j->axis[ROWS];
    const bool lies = !j->average && j->axis[LANE].z == j->wide;
    const char *x = b->x;
    for (int d = 0; d < ROWS; d++) x += begin_of(j, d, b->at[d]) * j->axis[d].x;
    tsri_pool_block k = { .x_step = tsri_slide_bytes(a), .tap = tap, .n = l->n, .across = j->axis[LANE].taps,
                          .column = begin_of(j, LANE, l->first), .columns = j->axis[LANE].in,
                          .z = lies ? b->z + l->first * j->wide : found,
                          .z_step = lies ? a->z : l->n * (j->average ? 8 : j->wide),
                          .begin = j->lowest, .ahead = AHEAD };
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
    if (!lies) store_block(b, l, found, NULL, NULL, j);
}

static void slide_block(const job *j, const block *b)
{
    layout l = { .lines = lines_for(&j->axis[ROWS], b->rows) };
    for (l.first = 0; l.first < j->axis[LANE].out; l.first += j->side) {
        plan_phases(&l, &j->axis[LANE], smaller(j->side, j->axis[LANE].out - l.first), j->wide);
        if (j->pairs) slide_pairs(j, b, &l);
        else          slide_some(j, b, &l);
    }
}

/* Large windows, and adaptive ones -------------------------------------------------------------------- */

/* Lines of x that a row of outputs looks at: count[d] places along each axis, from begin[d] on. */
typedef struct lines {
    int64_t begin[TSRI_AXES], count[TSRI_AXES], n;
} lines;

static lines find_lines(const job *j, const int64_t *at)
{
    lines f = { .n = 1 };
    for (int d = 0; d < TSRI_AXES; d++) {
        const int64_t reach = reach_of(j, d), end = smaller(end_of(j, d, at[d]), j->axis[d].in);
        f.begin[d] = begin_of(j, d, at[d]);
        if (f.begin[d] < 0) f.begin[d] += (-f.begin[d] - 1) / reach * reach + reach;
        f.count[d] = end > f.begin[d] ? (end - f.begin[d] - 1) / reach + 1 : 0;
        f.n *= f.count[d];
    }
    return f;
}

/* Where line q lies: in bytes from x, or as the number of its first place. */
static int64_t line_at(const job *j, const lines *f, int64_t q, bool in_bytes)
{
    int64_t at = 0;
    for (int d = TSRI_AXES - 1; d >= 0; d--) {
        const int64_t i = f->begin[d] + q % f->count[d] * reach_of(j, d);
        q /= f->count[d];
        at += i * (in_bytes ? j->axis[d].x : weight_of(j, d));
    }
    return at;
}

/* Columns first .. first + n - 1 of all lines, collected from top to bottom. */
static void collect(char *found, char *which, const job *j, const char *x, const lines *f, int64_t first,
                    int64_t n)
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
                          .ahead = in_x ? AHEAD : 0 };
    for (int64_t q = 0; q < f->n || q == 0; q += some, k.begin = NULL) {
        k.first = q;
        k.taps = smaller(f->n - q, some);
        for (int64_t t = 0; t < k.taps; t++) {
            const int64_t at = line_at(j, f, q + t, true);
            tap[t] = in_x ? at : t * pitch;
            if (!in_x) load(buffer + t * pitch, x + at + first * step, step, n, j);
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

/* Is the next number to be taken? Of equal ones, and of NaNs, the one that comes first in x. */
static bool is_taken(const output *o, const char *x, int64_t place, const job *j)
{
    bool above, equal;
    if (j->type == TSRI_POOL_I64) {
        const int64_t v = *(const int64_t *)(const void *)x;
        above = v > o->is.i64;
        equal = v == o->is.i64;
    } else {
        const double v =
            j->wide == 4 ? (double)*(const float *)(const void *)x : *(const double *)(const void *)x;
        const double had = j->wide == 4 ? (double)o->is.f32 : o->is.f64;
        above = v > had || (v != v && had == had);
        equal = v == had || (v != v && had != had);
    }
    return above || (equal && (o->place < 0 || place < o->place));
}

/* The same where nobody asks for the place. */
static void take_largest(output *o, const job *j, const char *found, int64_t n, int64_t reach)
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

/* Numbers of columns `from` and on, `reach` apart, of those that were collected from `first` on. */
static void take_along(output *o, const job *j, const lines *f, const char *found, const char *which,
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
static void reduce_some(output *o, const job *j, const char *x, const lines *f, int64_t first, int64_t n)
{
    _Alignas(64) char found[COLUMNS * 8], which[COLUMNS * 8];
    const int64_t reach = reach_of(j, LANE), low = begin_of(j, LANE, first);
    const int64_t end = smaller(end_of(j, LANE, first + n - 1), j->axis[LANE].in);
    for (int64_t at = low < 0 ? 0 : low; at < end; at += COLUMNS) {
        const int64_t columns = smaller(end - at, COLUMNS);
        memset(which, 0, j->indices ? (size_t)(columns * j->wide) : 0);
        collect(found, which, j, x, f, at, columns);
        for (int64_t i = 0; i < n; i++) {
            int64_t from = begin_of(j, LANE, first + i);
            const int64_t to = smaller(end_of(j, LANE, first + i), at + columns);
            if (from < at) from += (at - from - 1) / reach * reach + reach;
            if (from < to) take_along(&o[i], j, f, found, which, at, from, (to - from - 1) / reach + 1);
        }
    }
}

/* Rows of x's numbers, where outputs are what was collected. */
static void reduce_row(const job *j, const block *b)
{
    const lines f = find_lines(j, b->at);
    for (int64_t first = 0; first < j->axis[LANE].out; first += SIDE) {
        output o[SIDE];
        counted c;
        double numbers[SIDE];
        const int64_t n = smaller(j->axis[LANE].out - first, SIDE);
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
            count_around(&c, j, b->at);
            store_means(z, numbers, count_row(&c, j, b->at, first, n), n, j);
        } else {
            store(z, j->axis[LANE].z, numbers, n, j);
        }
        for (int64_t i = 0; i < n && j->indices; i++)
            *(int64_t *)(void *)(b->indices + (first + i) * j->i[LANE]) = o[i].place;
    }
}

/* Jobs ------------------------------------------------------------------------------------------------ */

/* Bytes from one index of a dim to the next; 0 where there is no next. */
static int64_t bytes_along(const tsr_tensor *t, int axis)
{
    return t->shape[axis] > 1 ? t->stride[axis] * tsri_dtype_size(t->dtype) : 0;
}

static int64_t length(int64_t step) { return step < 0 ? -step : step; }

/* Do all adaptive windows have one size, and follow each other? Then they slide. */
static bool is_adaptive(const tsr_op *op)
{
    const tsr_pool_params *p = op->params;
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    bool whole = true;
    for (int d = z->ndim - p->spatial; d < z->ndim; d++) whole &= x->shape[d] % z->shape[d] == 0;
    return p->adaptive && !whole;
}

static tsri_slide see_axis(const job *j, const tsr_op *op, int d)
{
    const tsr_pool_params *p = j->p;
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    const int at = z->ndim - p->spatial + d;
    tsri_slide a = { .out = z->shape[at],
                     .in = x->shape[at],
                     .taps = 1,
                     .step = 1,
                     .reach = 1,
                     .x = bytes_along(x, at),
                     .z = bytes_along(z, at) };
    if (p->adaptive && !j->adaptive) a.taps = a.step = a.in / a.out;
    if (!p->adaptive) {
        a.taps = p->kernel[d];
        a.step = p->stride[d];
        a.first = -p->padding[d];
        a.reach = p->dilation[d];
    }
    if (a.out == 1) a.step = 1;  /* one of any length leads nowhere */
    return a;
}

/* An axis that only counts. */
static tsri_slide see_places(int64_t n, int64_t x, int64_t z)
{
    return (tsri_slide){ .out = n, .in = n, .taps = 1, .step = 1, .reach = 1, .x = x, .z = z };
}

/* Channels that lie closer together than columns are the lane; otherwise they count images, or rows. */
static void see_axes(job *j, const tsr_op *op)
{
    const tsr_tensor *x = op->in[0], *z = op->out[0], *indices = op->nout > 1 ? op->out[1] : NULL;
    const int c = z->ndim - j->p->spatial - 1, last = z->ndim - 1;
    const bool channels =
        z->shape[c] > 1 && x->shape[last] > 1 && length(bytes_along(x, c)) < length(bytes_along(x, last));
    const int channel = channels             ? LANE
                        : j->p->spatial == 1 ? ROWS
                                             : -1,
              first = (channels ? LANE : AXES) - j->p->spatial;
    for (int d = 0; d < AXES; d++) j->axis[d] = see_places(1, 0, 0);
    for (int d = 0; d < j->p->spatial; d++) {
        j->axis[first + d] = see_axis(j, op, d);
        j->spatial[first + d] = true;
        if (indices) j->i[first + d] = bytes_along(indices, c + 1 + d);
    }
    j->channels = channel < 0 ? z->shape[c] : 1;
    if (channel < 0) {
        j->x_channel = bytes_along(x, c);
        j->z_channel = bytes_along(z, c);
        if (indices) j->i_channel = bytes_along(indices, c);
        return;
    }
    j->axis[channel] = see_places(z->shape[c], bytes_along(x, c), bytes_along(z, c));
    if (indices) j->i[channel] = bytes_along(indices, c);
}

static int type_of(tsr_dtype dtype)
{
    const bool integers = tsr_dtype_kind(dtype) != TSR_FLOATING;
    if (dtype == TSR_F64) return TSRI_POOL_F64;
    return integers && tsri_dtype_size(dtype) > 2 ? TSRI_POOL_I64 : TSRI_POOL_F32;
}

/* As many rows and outputs as the buffers hold; false if windows are too large for them. */
static bool plan_blocks(job *j)
{
    const tsri_slide *a = j->axis;
    const double taps = (double)a[0].taps * (double)a[1].taps * (double)a[2].taps * (double)a[3].taps;
    if (j->adaptive || a[LANE].taps > MOST_ALONG || taps > TAPS) return false;
    if (a[LANE].out < 8 && a[LANE].taps > 4 && !j->indices) return false;  /* too few side by side */
    for (j->side = smaller(SIDE, a[LANE].out);; j->side /= 2) {
        layout l = { .phases = 0 };
        if (j->side == 0) return false;
        plan_phases(&l, &a[LANE], j->side, j->wide);
        const int64_t line = a[0].taps * a[1].taps * l.phases * l.length, one = lines_for(&a[ROWS], 1);
        if (one > BUFFER / line) continue;
        j->rows = (BUFFER / line - one) / a[ROWS].step + 1;
        j->rows = smaller(smaller(j->rows, OUTPUTS / j->side), a[ROWS].out);
        return true;
    }
}

/* What windows count that lie in x as a whole. */
static void plan_counts(job *j)
{
    const tsri_slide *a = j->axis;
    const int64_t n = a[LANE].out, none[TSRI_AXES] = { 0 };
    const bool divisor = !j->p->adaptive && j->p->divisor != 0;
    bool whole = !j->adaptive;
    j->common.outer = -1;
    if (!j->average || j->adaptive || n > SIDE) return;
    for (int d = 0; d < AXES; d++)
        whole &= begin_of(j, d, 0) >= 0 && end_of(j, d, a[d].out - 1) <= a[d].in;
    count_along(&j->common, j, none, 0, n);
    for (int64_t i = n; i < SIDE; i++) j->common.along[i] = j->common.along[0];
    count_all(&j->common, j, a[0].taps * a[1].taps * a[2].taps, SIDE);
    j->all_common = whole || divisor;
}

static void see_job(job *j, const tsr_op *op)
{
    const tsr_tensor *x = op->in[0], *z = op->out[0], *indices = op->nout > 1 ? op->out[1] : NULL;
    *j = (job){ .p = op->params,
                .average = op->kind == TSR_OP_AVG_POOL,
                .adaptive = is_adaptive(op),
                .images = 1,
                .x = x->data,
                .z = z->data,
                .indices = indices ? indices->data : NULL,
                .dtype = x->dtype,
                .size = tsri_dtype_size(x->dtype),
                .type = type_of(x->dtype),
                .all = tsri_cpu_kernels_get(),
                .rows = 1 };
    j->wide = j->type == TSRI_POOL_F32 ? 4 : 8;
    j->k = &j->all->pool[j->type];
    if (z->ndim - j->p->spatial == 2) {
        j->images = z->shape[0];
        j->x_image = bytes_along(x, 0);
        j->z_image = bytes_along(z, 0);
        j->i_image = indices ? bytes_along(indices, 0) : 0;
    }
    see_axes(j, op);
    set_lowest(j);
    j->slides = plan_blocks(j);
    j->pairs = j->slides && has_pairs(j);
    plan_counts(j);
    j->blocks = (j->axis[ROWS].out + j->rows - 1) / j->rows;
}

/* Block `i` of all images, channels and outer places. */
static block find_block(const job *j, int64_t i)
{
    const tsri_slide *a = j->axis;
    block b = { .at = { 0, 0, i % j->blocks * j->rows } };
    b.rows = smaller(j->rows, a[ROWS].out - b.at[ROWS]);
    i /= j->blocks;
    b.at[1] = i % a[1].out;
    i /= a[1].out;
    b.at[0] = i % a[0].out;
    i /= a[0].out;
    const int64_t channel = i % j->channels, image = i / j->channels;
    b.x = j->x + image * j->x_image + channel * j->x_channel;
    b.z = j->z + image * j->z_image + channel * j->z_channel;
    if (j->indices) b.indices = j->indices + image * j->i_image + channel * j->i_channel;
    for (int d = 0; d < TSRI_AXES; d++) {
        b.z += b.at[d] * a[d].z;
        if (j->indices) b.indices += b.at[d] * j->i[d];
    }
    return b;
}

static tsr_status pool_blocks(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    for (int64_t i = begin; i < end; i++) {
        const block b = find_block(j, i);
        if (j->slides) slide_block(j, &b);
        else           reduce_row(j, &b);
    }
    return TSR_OK;
}

/* Elements that a block looks at. */
static double block_work(const job *j)
{
    double work = (double)(j->axis[LANE].out * j->rows);
    for (int d = 0; d < AXES; d++)
        work *= j->adaptive ? (double)j->axis[d].in / (double)j->axis[d].out + 1 : (double)j->axis[d].taps;
    return work;
}

tsr_status tsri_cpu_pool(const tsr_op *op)
{
    job j;
    if (tsr_desc_numel(&op->out[0]->desc) == 0) return TSR_OK;
    see_job(&j, op);
    return tsr_parallel_for(j.images * j.channels * j.axis[0].out * j.axis[1].out * j.blocks,
                            (int64_t)(PART_WORK / block_work(&j)), pool_blocks, &j);
}
