/* pad_rows.c - see pad_rows.h. Rows are written one after the other, padding and all (rows_writer.h). */
#include "pad_rows.h"
#include "core/desc_int.h"
#include "core/mem.h"
#include "core/threads_int.h"
#include "cpu_run.h"
#include "kernels.h"
#include "rows_writer.h"

static bool has_short_rows(const tsr_tensor *out, const tsr_tensor *t)
{
    const int last = out->ndim - 1;
    if (last < 1 || tsr_numel(t) == 0) return false;
    const int64_t size = tsri_dtype_size(out->dtype), worth = tsri_tuning_get()->copies.padded;
    return tsr_numel(out) * size >= worth && out->shape[last] * size < TSRI_WRITER_ROW &&
           tsri_is_packed(&out->desc) && (t->stride[last] == 1 || t->shape[last] == 1);
}

typedef struct padding {
    tsr_tensor              *out;
    const tsr_tensor        *t;
    const int64_t           *before;
    const tsri_rows_writing *writing;
    tsri_row_shape           row;
    bool                     stream;
} padding;

/* Where the plane at these indices lies in t; NULL: it is not from there. */
static const char *plane_in_t(const padding *p, const int64_t *at)
{
    int64_t place = 0;
    for (int d = 0; d < p->t->ndim - 2; d++) {
        const int64_t i = at[d] - p->before[d];
        if ((uint64_t)i >= (uint64_t)p->t->shape[d]) return NULL;
        place += i * p->t->stride[d];
    }
    return (const char *)p->t->data + place * tsri_dtype_size(p->t->dtype);
}

static int64_t within(int64_t i, int64_t least, int64_t most)
{
    return i < least ? least : i > most ? most : i;
}

/* n rows of one plane. */
static void write_plane(tsri_rows_writer *w, const padding *p, const int64_t *at, int64_t n)
{
    const int d = p->t->ndim - 2;
    const int64_t step = p->t->shape[d] > 1 ? p->t->stride[d] * tsri_dtype_size(p->t->dtype) : 0;
    const int64_t first = at[d] - p->before[d];
    const char *x = plane_in_t(p, at);
    const int64_t above = x ? within(-first, 0, n) : n,
                  upto = x ? within(p->t->shape[d] - first, above, n) : n;
    p->writing->rows(w, &p->row, NULL, 0, above);
    if (upto > above) p->writing->rows(w, &p->row, x + (first + above) * step, step, upto - above);
    p->writing->rows(w, &p->row, NULL, 0, n - upto);
}

/* Row number n as indices. */
static void find_row(int64_t *at, const tsr_tensor *t, int64_t n)
{
    for (int d = t->ndim - 2; d >= 0; d--) {
        at[d] = n % t->shape[d];
        n /= t->shape[d];
    }
}

static tsr_status pad_some(void *context, int64_t begin, int64_t end)
{
    const padding *p = context;
    const tsr_tensor *out = p->out;
    const int64_t whole = p->row.ahead + p->row.middle + p->row.behind;
    int64_t at[TSR_MAX_NDIM];
    tsri_rows_writer w;
    p->writing->begin(&w, (char *)out->data + begin * whole, p->stream);
    for (int64_t n; begin < end; begin += n) {
        find_row(at, out, begin);
        n = out->shape[out->ndim - 2] - at[out->ndim - 2];
        if (n > end - begin) n = end - begin;
        write_plane(&w, p, at, n);
    }
    p->writing->end(&w);
    return TSR_OK;
}

static tsr_status pad_rows(tsr_tensor *out, const tsr_tensor *t, const int64_t *before, tsr_scalar value)
{
    const int last = out->ndim - 1;
    const int64_t size = tsri_dtype_size(out->dtype), cols = out->shape[last], bytes = tsr_numel(out) * size;
    _Alignas(16) unsigned char element[16];
    char values[TSRI_WRITER_ROW];
    padding p = { .out = out, .t = t, .before = before, .writing = tsri_cpu_rows_writing(),
                  .row = { values, before[last] * size, t->shape[last] * size,
                           (cols - before[last] - t->shape[last]) * size },
                  .stream = tsri_cpu_streams(bytes + tsr_numel(t) * size) };
    TSRI_TRY(tsr_scalar_store(element, out->dtype, value));
    for (int64_t i = 0; i < TSRI_WRITER_ROW; i += size) memcpy(values + i, element, (size_t)size);
    return tsri_parallel_for(tsr_numel(out) / cols, tsri_grain((double)(cols * size)), pad_some, &p);
}

bool tsri_cpu_pad(tsr_status *s, tsr_tensor *out, const tsr_tensor *x, const int64_t *before,
                  tsr_scalar value)
{
    if (!has_short_rows(out, x)) return false;
    *s = pad_rows(out, x, before, value);
    return true;
}
