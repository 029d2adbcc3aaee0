/* resize.c - linear, cubic and area: rows of outputs, each a sum of lines.
 *
 * A row of outputs is made of the rows of x that its window reaches over, along rows and slices, and of the
 * columns of each. Either the columns come first: then a line is a row of x with the columns of the result,
 * kept as long as outputs need it. Or they come last: then a line is a row of x, and only the sum gets other
 * columns. The cheaper one is taken, by shape alone, and so the order of sums is the same for all threads. Of
 * bytes all is done with integers (image.h). */
#ifndef TSR_FREESTANDING

#include "image.h"
#include "layout.h"
#include "core/alloc.h"
#include "core/mem.h"
#include "core/resample.h"
#include "core/sizes.h"
#include "core/threads_int.h"
#include "cpu/kernels.h"
#include "tessera/ops/image.h"

enum { SLICES, ROWS, COLUMNS, AXES };

/* Outputs of one axis: as tsri_columns has them, with weights in f64 too. */
typedef struct axis {
    int64_t  in, out, taps;
    int64_t *first, *count;
    double  *weight;
    bool     same;  /* every output is the input of its number */
} axis;

typedef struct job {
    tsri_picture x, z;
    axis         axis[AXES];
    tsri_columns columns;
    tsri_byte_columns byte_columns;
    tsr_dtype    dtype;
    int          type;           /* of lines of floats */
    bool         fixed;          /* bytes, by integers */
    bool         halved;         /* of these, rows and columns are means of two */
    bool         columns_first;
    bool         as_is;          /* rows of x are lines without a conversion */
    int64_t      size, wide;     /* of an element, and of a number of a line */
    int64_t      line, lines;    /* bytes of one, rounded up; how many are kept */
    const tsri_image_kernels *k;
    const tsri_cpu_kernels   *all;
} job;

/* Tables ----------------------------------------------------------------------------------- */

static tsri_resample describe_axis(axis *a, const tsr_op *op, int d)
{
    const tsr_resize_params *p = op->params;
    const int i = d - (AXES - p->spatial), dim = op->in[0]->ndim - AXES + d;
    if (i < 0) {  /* an axis that x lacks */
        *a = (axis){ .in = 1, .out = 1, .taps = 1 };
        return (tsri_resample){ .in = 1, .out = 1, .mode = TSR_INTERPOLATE_LINEAR, .step = 1 };
    }
    const tsri_resample r = tsri_resample_of(p, i, op->in[0]->shape[dim]);
    *a = (axis){ .in = r.in, .out = r.out, .taps = tsri_resample_taps(&r) };
    return r;
}

/* Columns tap by tap. Outputs of fewer taps have their last one several times, with a share of its weight. */
static void fill_by_tap(const axis *a, int64_t inner, int32_t *offset, float *by_tap)
{
    for (int64_t o = 0; o < a->out; o++) {
        const double *w = a->weight + o * a->taps;
        const int64_t n = a->count[o];
        const double last = n == 0 ? 0 : w[n - 1] / (double)(a->taps - n + 1);
        for (int64_t t = 0; t < a->taps; t++) {
            const int64_t at = (n == 0 ? 0 : a->first[o] + least(t, n - 1)) * inner;
            const float weight = (float)(t < n - 1 ? w[t] : last);
            for (int64_t c = 0, i = (t * a->out + o) * inner; c < inner; c++, i++) {
                offset[i] = (int32_t)((at + c) * (int64_t)sizeof(float));
                by_tap[i] = weight;
            }
        }
    }
}

/* The lowest input of block b of `lanes` outputs; -1: others are too far for the kernel. */
static int32_t find_base(const job *j, const int32_t *offset, int64_t n, int64_t b, int64_t lanes)
{
    int32_t low = INT32_MAX, high = 0;
    for (int64_t t = 0; t < j->axis[COLUMNS].taps; t++)
        for (int64_t i = b * lanes; i < least((b + 1) * lanes, n); i++) {
            const int32_t at = offset[t * n + i] / (int32_t)sizeof(float);
            if (at < low) low = at;
            if (at > high) high = at;
        }
    return high - low < 2 * j->k->gathered ? low : -1;
}

/* False if some block reaches too far. */
static bool fill_bases(job *j, int64_t n, int32_t *base, int64_t lanes)
{
    for (int64_t b = 0; b < pieces(n, lanes); b++) {
        base[b] = find_base(j, j->columns.offset, n, b, lanes);
        if (base[b] < 0) return false;
    }
    return true;
}

/* Blocks are as wide as inputs allow: what shrinks to less than half has narrow ones. */
static void fill_blocks(job *j, int64_t n, int32_t *base, int32_t *behind)
{
    const int64_t taps = j->axis[COLUMNS].taps;
    int64_t lanes = j->k->gathered;
    while (lanes >= 4 && !fill_bases(j, n, base, lanes)) lanes /= 2;
    if (lanes < 4) return;
    for (int64_t t = 0; t < taps; t++)
        for (int64_t b = 0, i = t * n; b < pieces(n, lanes); b++)
            for (const int64_t end = t * n + least((b + 1) * lanes, n); i < end; i++)
                behind[i] = j->columns.offset[i] / (int32_t)sizeof(float) - base[b];
    j->columns.block = lanes;
    j->columns.base = base;
    j->columns.behind = behind;
}

/* Numbers of floats, of which the tables of columns are made. */
static int64_t column_floats(const job *j)
{
    const axis *a = &j->axis[COLUMNS];
    const int64_t n = a->out * a->taps, each = a->taps > TSRI_TABLE_TAPS ? 0 : n * j->x.inner;
    return n + 3 * each + a->out * j->x.inner;
}

/* Outputs from the first on that may read four elements at each of `taps` places. */
static int64_t count_inside(const axis *a, int64_t inner)
{
    int64_t o = 0;
    while (o < a->out && (a->first[o] + a->taps - 1) * inner + 4 <= a->in * inner) o++;
    return o;
}

static void fill_columns(job *j, float *narrow)
{
    const axis *a = &j->axis[COLUMNS];
    const int64_t n = a->out * a->taps, each = n * j->x.inner;
    float *by_tap = narrow + n;
    int32_t *offset = (int32_t *)(void *)(by_tap + each);
    j->columns = (tsri_columns){ .in = a->in, .out = a->out, .taps = a->taps, .first = a->first,
                                 .count = a->count, .weight = a->weight,
                                 .inside = count_inside(a, j->x.inner) };
    if (j->wide == sizeof(double)) return;
    for (int64_t i = 0; i < n; i++) narrow[i] = (float)a->weight[i];
    j->columns.weight = narrow;
    if (a->taps > TSRI_TABLE_TAPS || a->in * j->x.inner > INT32_MAX / (int64_t)sizeof(float)) return;
    fill_by_tap(a, j->x.inner, offset, by_tap);
    j->columns.offset = offset;
    j->columns.by_tap = by_tap;
    if (j->k->gathered > 0 && j->x.inner <= 4)
        fill_blocks(j, a->out * j->x.inner, offset + 2 * each, offset + each);
}

/* Room for the tables of all axes, in bytes; 0 if that is too much. */
static int64_t table_bytes(const job *j)
{
    int64_t numbers = 0;
    for (int d = 0; d < AXES; d++) {
        int64_t n;
        if (!tsri_mul(&n, j->axis[d].out + 1, j->axis[d].taps + 2) || n > INT64_MAX / 1024 / j->x.inner ||
            !tsri_add(&numbers, numbers, n))
            return 0;
    }
    const axis *c = &j->axis[COLUMNS];
    const int64_t bytes = j->fixed ? tsri_byte_table_bytes(c->in, c->out, c->taps, j->x.inner) : 1;
    if (bytes == 0) return 0;
    return j->fixed ? numbers * 8 + bytes : (numbers + column_floats(j)) * 8;
}

/* Is every output the mean of two inputs of its own? */
static bool is_halved(const axis *a)
{
    bool halved = a->in == 2 * a->out;
    for (int64_t o = 0; o < a->out && halved; o++)
        halved = a->first[o] == 2 * o && a->count[o] == 2 && a->weight[o * a->taps] == 0.5;
    return halved;
}

/* By integers, with no table of columns. */
static bool is_all_halved(const job *j)
{
    const bool dense = j->as_is && j->z.dense && j->x.inner <= 4;
    return j->fixed && j->k->halve_bytes && dense && j->axis[SLICES].same && is_halved(&j->axis[ROWS]) &&
           is_halved(&j->axis[COLUMNS]);
}

static void fill_tables(job *j, const tsri_resample *r, void *room)
{
    double *at = room;
    for (int d = 0; d < AXES; d++) {
        axis *a = &j->axis[d];
        a->weight = at;
        a->first = (int64_t *)(void *)(a->weight + a->out * a->taps);
        a->count = a->first + a->out;
        at = (double *)(void *)(a->count + a->out);
        a->same = tsri_resample_table(&r[d], a->first, a->count, a->weight);
    }
    j->halved = is_all_halved(j);
    if (j->halved) return;
    if (!j->fixed) {
        fill_columns(j, (float *)(void *)at);
        return;
    }
    const axis *c = &j->axis[COLUMNS];
    j->byte_columns = (tsri_byte_columns){ .in = c->in, .out = c->out, .inner = j->x.inner,
                                           .first = c->first, .count = c->count };
    tsri_byte_columns_fill(&j->byte_columns, c->weight, c->taps,
                           j->columns_first ? TSRI_BYTE_WEIGHT_BITS : TSRI_LINE_WEIGHT_BITS, at);
}

/* Rows -------------------------------------------------------------------------------------- */

/* What a part of the rows works with. */
typedef struct work {
    char        *lines, *sum, *packed, *row;  /* row: numbers that a row of z is stored from */
    int64_t     *held;                        /* which row of x each line is; -1: none */
    const void **list;
    void        *weight;
    int16_t     *fixed;                       /* the weights as integers */
    size_t       bytes;
} work;

static int64_t rounded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

static tsr_status begin_work(work *w, const job *j)
{
    const int64_t row = rounded(j->z.columns * j->z.inner * j->wide),
                  packed = rounded(j->x.columns * j->x.inner * 8);
    const int64_t bytes = j->lines * (j->line + 4 * 8) + 2 * packed + row + 64;
    char *room = tsri_scratch((size_t)bytes);
    TSRI_CHECK(room, TSR_ENOMEM, "resize: no room for %lld bytes of lines", (long long)bytes);
    *w = (work){ .lines = room, .bytes = (size_t)bytes };
    w->sum = room + j->lines * j->line;
    w->packed = w->sum + packed;
    w->row = w->packed + packed;
    w->held = (int64_t *)(void *)(w->row + row);
    w->list = (const void **)(void *)(w->held + j->lines);
    w->weight = (void *)(w->list + j->lines);
    w->fixed = (int16_t *)w->weight + 4 * j->lines;
    for (int64_t i = 0; i < j->lines; i++) w->held[i] = -1;
    return TSR_OK;
}

/* The elements of a row of x as a line of numbers; bytes that are resized by integers stay bytes. */
static void pack(void *to, const char *row, const job *j)
{
    const int64_t step = j->x.dense ? j->size : j->x.step, n = j->x.columns * j->x.inner;
    if (j->dtype != TSR_U8)
        j->all->widen[j->dtype](to, row, step, n);
    else if (j->fixed)
        for (int64_t i = 0; i < n; i++) ((uint8_t *)to)[i] = *(const uint8_t *)(row + i * step);
    else
        for (int64_t i = 0; i < n; i++) ((float *)to)[i] = *(const uint8_t *)(row + i * step);
}

/* The line of a row of x, which is number `held` in slot `slot`. */
static const void *find_line(const work *w, const job *j, const char *row, int64_t slot, int64_t held)
{
    char *line = w->lines + slot * j->line;
    if (!j->columns_first && j->as_is) return row;
    if (w->held[slot] == held) return line;
    w->held[slot] = held;
    if (!j->columns_first) {
        pack(line, row, j);
        return line;
    }
    if (!j->as_is) pack(w->packed, row, j);
    const void *x = j->as_is ? (const void *)row : w->packed;
    if (j->fixed) j->k->spread_bytes((int16_t *)(void *)line, x, &j->byte_columns);
    else j->k->spread[j->type](line, x, &j->columns, j->x.inner);
    return line;
}

static void put_weight(work *w, const job *j, int64_t i, double weight)
{
    if (j->fixed || j->wide == sizeof(double)) ((double *)w->weight)[i] = weight;
    else ((float *)w->weight)[i] = (float)weight;
}

/* Lists the lines of a row of outputs, with their weights; returns how many there are. */
static int64_t list_lines(work *w, const job *j, const char *plane, int64_t image, int64_t slice, int64_t row)
{
    const axis *s = &j->axis[SLICES], *r = &j->axis[ROWS];
    int64_t n = 0;
    for (int64_t i = 0; i < s->count[slice]; i++)
        for (int64_t k = 0; k < r->count[row]; k++, n++) {
            const int64_t at = s->first[slice] + i, under = r->first[row] + k,
                          slot = at % s->taps * r->taps + under % r->taps;
            put_weight(w, j, n, s->weight[slice * s->taps + i] * r->weight[row * r->taps + k]);
            w->list[n] = find_line(w, j, plane + at * j->x.slice + under * j->x.row, slot,
                                   (image * s->in + at) * r->in + under);
        }
    return n;
}

/* Rounded, halves up, and held to 0 .. 255. */
static uint8_t byte_of(float x) { return x < 0 ? 0 : x < 255 ? (uint8_t)(x + 0.5f) : 255; }

/* n numbers as elements of a row of z. */
static void store(char *z, const void *numbers, int64_t n, const job *j)
{
    const int64_t step = j->z.dense ? j->size : j->z.step;
    if (j->dtype != TSR_U8)
        j->all->narrow[j->all->wide[j->dtype]][j->dtype](z, step, numbers, n);
    else
        for (int64_t i = 0; i < n; i++)
            *(uint8_t *)(z + i * step) =
                j->fixed ? ((const uint8_t *)numbers)[i] : byte_of(((const float *)numbers)[i]);
}

/* A line is the one that a row of outputs is made of: nothing is summed. */
static bool is_one_line(const work *w, const job *j, int64_t n)
{
    return n == 1 && (j->wide == sizeof(double) ? *(double *)w->weight == 1 : *(float *)w->weight == 1);
}

/* A row of bytes from its lines: columns are done already, or are done with the sum. */
static void sum_bytes(const work *w, const job *j, uint8_t *to, int64_t lines, int64_t n)
{
    const double *weight = w->weight;
    double largest = 0;
    for (int64_t i = 0; i < lines; i++)
        if (weight[i] > largest || -weight[i] > largest) largest = weight[i] < 0 ? -weight[i] : weight[i];
    const int bits = tsri_weight_bits(largest, j->columns_first ? TSRI_LINE_WEIGHT_BITS
                                                                : TSRI_BYTE_WEIGHT_BITS);
    tsri_fix_weights(w->fixed, weight, lines, bits);
    if (j->columns_first) {
        j->k->combine_bytes(to, w->list, w->fixed, bits, lines, n);
        return;
    }
    j->k->combine_rows((int16_t *)(void *)w->sum, w->list, w->fixed, bits, lines, j->x.columns * j->x.inner);
    j->k->gather_bytes(to, (const int16_t *)(const void *)w->sum, &j->byte_columns);
}

static void make_row(work *w, const job *j, char *z, int64_t lines)
{
    const bool direct = j->z.dense && (j->fixed || j->dtype == TSR_F32 || j->dtype == TSR_F64);
    const int64_t n = j->z.columns * j->z.inner;
    void *to = direct ? (void *)z : w->row;
    if (j->fixed) {
        sum_bytes(w, j, to, lines, n);
    } else if (j->columns_first || j->axis[COLUMNS].same) {
        j->k->combine[j->type](to, w->list, w->weight, lines, n);
    } else if (is_one_line(w, j, lines)) {
        j->k->spread[j->type](to, w->list[0], &j->columns, j->x.inner);
    } else {
        j->k->combine[j->type](w->sum, w->list, w->weight, lines, j->x.columns * j->x.inner);
        j->k->spread[j->type](to, w->sum, &j->columns, j->x.inner);
    }
    if (!direct) store(z, to, n, j);
}

/* Row i of all rows of z. */
static void make_line(work *w, const job *j, int64_t i)
{
    const int64_t row = i % j->z.rows, slice = i / j->z.rows % j->z.slices,
                  plane = i / j->z.rows / j->z.slices;
    const char *x = tsri_picture_plane(&j->x, plane);
    char *z = tsri_picture_plane(&j->z, plane) + slice * j->z.slice + row * j->z.row;
    if (j->halved) {
        const uint8_t *above = (const uint8_t *)x + slice * j->x.slice + 2 * row * j->x.row;
        j->k->halve_bytes((uint8_t *)z, above, above + j->x.row, j->z.columns, j->z.inner);
    } else {
        make_row(w, j, z, list_lines(w, j, x, plane, slice, row));
    }
}

static tsr_status make_rows(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    work w;
    TSRI_TRY(begin_work(&w, j));
    for (int64_t i = begin; i < end; i++) make_line(&w, j, i);
    tsri_free(w.lines, w.bytes);
    return TSR_OK;
}

/* Plan --------------------------------------------------------------------------------------- */

/* Products of one plane if columns come first, and if they come last. Those of columns take longer. */
static double cost(const job *j, bool columns_first)
{
    enum { COLUMN = 3 };
    const axis *s = &j->axis[SLICES], *r = &j->axis[ROWS], *c = &j->axis[COLUMNS];
    const double lines = (double)(s->taps * r->taps), rows = (double)s->out * (double)r->out,
                 all = (double)s->in * (double)r->in, seen = rows * lines < all ? rows * lines : all;
    if (columns_first) return seen * (double)(c->out * c->taps) * COLUMN + rows * lines * (double)c->out;
    return rows * lines * (double)c->in + rows * (double)(c->out * c->taps) * COLUMN;
}

/* Sums of rows of bytes are quick, and so are columns that lie close together: rows come first where columns
 * are far apart, and no row is summed often. By shape alone, since the order of dims changes the bits. */
static bool rows_of_bytes_first(const job *j)
{
    enum { APART = 4, SHORT_WINDOW = 4, OFTEN = 6 };
    const axis *s = &j->axis[SLICES], *r = &j->axis[ROWS], *c = &j->axis[COLUMNS];
    const double sums = (double)(s->taps * r->taps) * (double)s->out * (double)r->out;
    return sums <= OFTEN * (double)s->in * (double)r->in &&
           (c->taps > SHORT_WINDOW ? c->in / APART >= c->out : c->in / APART > c->out && j->x.inner < 4);
}

/* Weights of a window that is cut off may be of any size, if some are negative. */
static bool is_fixed(const tsr_op *op)
{
    const tsr_resize_params *p = op->params;
    bool cut = p->align_corners;
    for (int d = 0; d < p->spatial; d++) cut = cut || p->scale[d] > 0;
    return op->in[0]->dtype == TSR_U8 && !(p->mode == TSR_INTERPOLATE_CUBIC && p->antialias && cut);
}

static void describe_job(job *j, const tsr_op *op)
{
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    const int spatial = ((const tsr_resize_params *)op->params)->spatial;
    const bool channels = tsri_picture_is_last(x, spatial) && tsri_picture_is_last(z, spatial);
    j->x = tsri_picture_of(x, spatial, channels);
    j->z = tsri_picture_of(z, spatial, channels);
    j->dtype = x->dtype;
    j->size = tsri_dtype_size(x->dtype);
    j->type = x->dtype == TSR_F64 ? TSRI_LINE_F64 : TSRI_LINE_F32;
    j->fixed = is_fixed(op);
    j->wide = x->dtype == TSR_F64 ? 8 : 4;
    j->all = tsri_cpu_kernels_get();
    j->k = x->dtype == TSR_U8 && !j->fixed ? &tsri_image_plain : j->all->image;  /* bytes: the same bits */
}

/* Which lines there are, and of what type. */
static void plan_lines(job *j)
{
    const axis *s = &j->axis[SLICES], *r = &j->axis[ROWS], *c = &j->axis[COLUMNS];
    const int64_t longest = most(j->x.columns, j->z.columns) * j->x.inner;
    j->columns_first = j->fixed ? !rows_of_bytes_first(j)
                                : c->in != c->out && cost(j, true) <= cost(j, false);
    j->as_is = j->x.dense && (j->fixed || j->dtype == TSR_F32 || j->dtype == TSR_F64);
    j->lines = s->taps * r->taps;
    j->line = j->as_is && !j->columns_first ? 0 : rounded(longest * j->wide + 64);
}

/* Can the bytes of lines be counted? */
static bool fits(const job *j)
{
    int64_t bytes = 0;
    return most(j->x.columns, j->z.columns) < INT64_MAX / 64 / j->x.inner &&
           tsri_mul(&bytes, j->lines, j->line + 64) && bytes < INT64_MAX / 4;
}

static tsr_status run(job *j)
{
    const axis *s = &j->axis[SLICES], *r = &j->axis[ROWS];
    TSRI_CHECK(fits(j), TSR_ENOMEM, "resize: no room for lines of %lld columns", (long long)j->x.columns);
    const int64_t planes = tsri_picture_planes(&j->z), rows = s->out * r->out;
    const double products = (double)j->x.inner * (cost(j, j->columns_first) / (double)rows);
    return tsri_parallel_for(planes * rows, tsri_grain(TSRI_WORK_PRODUCT * products), make_rows, j);
}

tsr_status tsri_cpu_resize(const tsr_op *op)
{
    job j;
    tsri_resample r[AXES];
    if (tsr_desc_numel(&op->out[0]->desc) == 0) return TSR_OK;
    if (((const tsr_resize_params *)op->params)->mode <= TSR_INTERPOLATE_NEAREST_EXACT)
        return tsri_cpu_resize_nearest(op);
    describe_job(&j, op);
    for (int d = 0; d < AXES; d++) r[d] = describe_axis(&j.axis[d], op, d);
    plan_lines(&j);
    const int64_t bytes = table_bytes(&j);
    void *room = bytes > 0 ? tsri_scratch((size_t)bytes) : NULL;
    TSRI_CHECK(room, TSR_ENOMEM, "resize: no room for the weights of %lld columns", (long long)j.z.columns);
    fill_tables(&j, r, room);
    const tsr_status s = run(&j);
    tsri_free(room, (size_t)bytes);
    return s;
}

#endif
