/* gather.c - from tensors to what fits a picture. */
#include "plot.h"

#include <math.h>
#include <stdlib.h>

#include "../numbers.h"
#include "../room.h"

enum { PIECE = 1 << 18 };

static bool read_piece(plot *p, tsr_tensor **numbers, const cut *c, const block *b)
{
    tsr_tensor *piece = NULL;
    bool ok = source_read_block(&piece, p->s, p->index, c, b);
    if (ok && doubles_of(numbers, piece) != TSR_OK) {
        complain(p->s->command, "%s", tsr_last_error());
        ok = false;
    }
    if (ok) p->done += (double)tsr_byte_size(piece);
    tsr_release(&piece);
    progress_draw_bytes(&p->p, p->done, p->total);
    return ok;
}

/* Numbers of a row, from `from` on. A cell is the mean of its numbers: NaN if it has none,
 * infinite if one is. */
static void add_row(matrix *m, int64_t *counts, int64_t row, int64_t from, int64_t count, const double *x)
{
    const int64_t line = row * m->rows / m->full_rows * m->columns;
    for (int64_t j = from; j < from + count;) {
        const int64_t cell = j * m->columns / m->full_columns;
        int64_t end = ((cell + 1) * m->full_columns + m->columns - 1) / m->columns, numbers = 0;
        double sum = 0;
        if (end > from + count) end = from + count;
        for (; j < end; j++)
            if (!isnan(x[j - from])) sum += x[j - from], numbers++;
        m->cells[line + cell] += sum;
        counts[line + cell] += numbers;
    }
}

static matrix new_matrix(int64_t rows, int64_t columns, int most_rows, int most_columns)
{
    matrix m = { .rows = rows < most_rows ? (int)rows : most_rows,
                 .columns = columns < most_columns ? (int)columns : most_columns,
                 .full_rows = rows, .full_columns = columns };
    m.cells = room_for((size_t)m.rows * (size_t)m.columns, sizeof *m.cells);
    return m;
}

/* The last two dims that are left, at the given indices of the others. */
static bool gather_matrix(plot *p, matrix *out, const int64_t *lead, int most_rows, int most_columns)
{
    cut c = p->c;
    block b;
    tsr_tensor *numbers = NULL;
    bool ok = true;
    const int rows = p->axis[p->ndim - 2], columns = p->axis[p->ndim - 1];
    for (int i = 0; i < p->ndim - 2; i++) {
        c.range[p->axis[i]] = range_part(p->c.range[p->axis[i]], lead[i], 1);
        c.length[p->axis[i]] = 1;
    }
    *out = new_matrix(c.length[rows], c.length[columns], most_rows, most_columns);
    int64_t *counts = room_for((size_t)out->rows * (size_t)out->columns, sizeof *counts);
    for (bool more = block_first(&b, c.ndim, c.length, PIECE); more && ok; more = block_next(&b)) {
        ok = read_piece(p, &numbers, &c, &b);
        const double *x = ok ? numbers->data : NULL;
        for (int64_t i = 0; ok && i < b.count[rows]; i++)
            add_row(out, counts, b.from[rows] + i, b.from[columns], b.count[columns],
                    x + i * b.count[columns]);
    }
    for (int64_t k = 0; k < (int64_t)out->rows * out->columns; k++)
        out->cells[k] = counts[k] ? out->cells[k] / (double)counts[k] : NAN;
    free(counts);
    tsr_release(&numbers);
    return ok;
}

static curve new_curve(int64_t length, int most)
{
    curve v = { .points = length < most ? (int)length : most, .length = length };
    v.mean = room_for((size_t)v.points, sizeof *v.mean);
    v.low = room_for((size_t)v.points, sizeof *v.low);
    v.high = room_for((size_t)v.points, sizeof *v.high);
    v.counts = room_for((size_t)v.points, sizeof *v.counts);
    return v;
}

void free_curve(curve *v)
{
    free(v->mean);
    free(v->low);
    free(v->high);
    free(v->counts);
}

static void add_to_curve(curve *v, int64_t i, double x)
{
    const int64_t at = i * v->points / v->length;
    if (!isfinite(x)) return;
    if (v->counts[at] == 0 || x < v->low[at]) v->low[at] = x;
    if (v->counts[at] == 0 || x > v->high[at]) v->high[at] = x;
    v->mean[at] += x;
    v->counts[at]++;
}

/* Row `row` of a matrix, or a vector. */
bool gather_curve(plot *p, curve *out, int64_t row, int most)
{
    cut c = p->c;
    block b;
    tsr_tensor *numbers = NULL;
    bool ok = true;
    const int along = p->axis[p->ndim - 1];
    if (p->ndim == 2) {
        c.range[p->axis[0]] = range_part(p->c.range[p->axis[0]], row, 1);
        c.length[p->axis[0]] = 1;
    }
    *out = new_curve(c.length[along], most);
    for (bool more = block_first(&b, c.ndim, c.length, PIECE); more && ok; more = block_next(&b)) {
        ok = read_piece(p, &numbers, &c, &b);
        for (int64_t k = 0; ok && k < tsr_numel(numbers); k++)
            add_to_curve(out, b.from[along] + k, number_at(numbers, k));
    }
    for (int i = 0; i < out->points; i++)
        if (out->counts[i]) out->mean[i] /= (double)out->counts[i];
    tsr_release(&numbers);
    return ok;
}

static uint8_t byte_of(double x, tsr_dtype dtype)
{
    if (dtype == TSR_U16) x /= 257;
    else if (dtype == TSR_BOOL || tsr_dtype_kind(dtype) == TSR_FLOATING) x *= 255;
    return !(x > 0) ? 0 : x > 255 ? 255 : (uint8_t)lround(x);
}

/* With an alpha, over white. */
static void add_pixel(float *sum, const tsr_tensor *numbers, int64_t at, int channels, tsr_dtype dtype)
{
    uint8_t v[4] = { 0, 0, 0, 255 };
    for (int k = 0; k < channels; k++) v[k] = byte_of(number_at(numbers, at + k), dtype);
    if (channels == 1) v[1] = v[2] = v[0];
    if (channels == 2) v[3] = v[1], v[1] = v[2] = v[0];
    for (int k = 0; k < 3; k++) sum[k] += (float)((v[k] * v[3] + 255 * (255 - v[3]) + 127) / 255);
}

/* Sums of step x step pixels, of fewer at the right and below, become their means. */
static void finish_image(image *out, const float *sums, int64_t step, const int64_t *shape)
{
    for (int i = 0; i < out->rows; i++)
        for (int k = 0; k < out->columns; k++) {
            const int64_t down = shape[0] - i * step, right = shape[1] - k * step;
            const float n = (float)((down < step ? down : step) * (right < step ? right : step));
            const size_t at = 3 * ((size_t)i * (size_t)out->columns + (size_t)k);
            for (int c = 0; c < 3; c++) out->rgb[at + (size_t)c] = (uint8_t)(sums[at + (size_t)c] / n + 0.5f);
        }
}

bool gather_image(plot *p, image *out, int most_rows, int most_columns)
{
    const tsr_dtype dtype = p->s->items[p->index].desc.dtype;
    const int rows = p->axis[0], columns = p->axis[1];
    const int64_t step_rows = (p->shape[0] - 1) / most_rows + 1,
                  step_columns = (p->shape[1] - 1) / most_columns + 1;
    const int64_t step = step_rows > step_columns ? step_rows : step_columns; /* the same both ways */
    const int channels = p->ndim == 3 ? (int)p->shape[2] : 1;
    block b;
    tsr_tensor *numbers = NULL;
    bool ok = true;
    out->rows = (int)((p->shape[0] - 1) / step + 1);
    out->columns = (int)((p->shape[1] - 1) / step + 1);
    out->rgb = room_for(3 * (size_t)out->rows * (size_t)out->columns, 1);
    float *sums = room_for(3 * (size_t)out->rows * (size_t)out->columns, sizeof *sums);
    for (bool more = block_first(&b, p->c.ndim, p->c.length, PIECE); more && ok; more = block_next(&b)) {
        ok = read_piece(p, &numbers, &p->c, &b);
        for (int64_t k = 0; ok && k < tsr_numel(numbers) / channels; k++) {
            const int64_t i = b.from[rows] + k / b.count[columns], j = b.from[columns] + k % b.count[columns];
            float *sum = sums + 3 * (i / step * out->columns + j / step);
            add_pixel(sum, numbers, k * channels, channels, dtype);
        }
    }
    if (ok) finish_image(out, sums, step, p->shape);
    free(sums);
    tsr_release(&numbers);
    return ok;
}

/* Ranges ------------------------------------------------------------------------------- */

static void widen(plot *p, double x)
{
    if (!isfinite(x)) return;
    if (!(p->low <= x)) p->low = x;
    if (!(p->high >= x)) p->high = x;
}

/* What the command line says, or what there is. */
static void choose_range(plot *p)
{
    if (p->r->low_text) p->low = p->r->low;
    if (p->r->high_text) p->high = p->r->high;
    if (isnan(p->low)) p->low = isnan(p->high) ? 0 : p->high;
    if (isnan(p->high)) p->high = p->low;
}

static void range_of_matrices(plot *p, int n, const matrix *m)
{
    for (int k = 0; k < n; k++)
        for (int64_t i = 0; i < (int64_t)m[k].rows * m[k].columns; i++) widen(p, m[k].cells[i]);
    choose_range(p);
}

void range_of_curves(plot *p, int n, const curve *v)
{
    for (int k = 0; k < n; k++)
        for (int i = 0; i < v[k].points; i++)
            if (v[k].counts[i]) widen(p, v[k].low[i]), widen(p, v[k].high[i]);
    choose_range(p);
}

/* Tiles -------------------------------------------------------------------------------- */

void free_tiles(tiles *t)
{
    for (int i = 0; i < t->count; i++) free(t->m[i].cells);
    free(t);
}

/* One matrix of a rank-2 tensor, the first few of any other. NULL after a complaint. */
tiles *gather_tiles(plot *p, int most_rows, int most_columns)
{
    tiles *t = room_for(1, sizeof *t);
    bool ok = true;
    t->all = 1;
    for (int i = 0; i < p->ndim - 2; i++) t->all *= p->shape[i];
    const int wanted = t->all < TILES_MOST ? (int)t->all : TILES_MOST;
    t->across = (int)ceil(sqrt(wanted));
    for (int k = 0; k < wanted && ok; k++) {
        int64_t rest = k;
        for (int i = p->ndim - 3; i >= 0; i--) {
            t->lead[k][i] = rest % p->shape[i];
            rest /= p->shape[i];
        }
        ok = gather_matrix(p, &t->m[k], t->lead[k], most_rows, most_columns);
        t->count++;
    }
    if (ok) {
        range_of_matrices(p, t->count, t->m);
        return t;
    }
    free_tiles(t);
    return NULL;
}
