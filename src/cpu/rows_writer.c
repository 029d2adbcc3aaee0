/* rows_writer.c - see rows_writer.h: in plain C, rows are written directly. */
#include "rows_writer.h"
#include "core/mem.h"
#include "kernels.h"

static void begin(tsri_rows_writer *w, char *z, bool stream)
{
    w->z = z;
    w->stream = stream;
}

static void rows(tsri_rows_writer *w, const tsri_row_shape *s, const char *x, int64_t step, int64_t n)
{
    for (int64_t k = 0; k < n; k++, w->z += s->ahead + s->middle + s->behind) {
        memcpy(w->z, s->values, (size_t)s->ahead);
        memcpy(w->z + s->ahead, x ? x + k * step : s->values, (size_t)s->middle);
        memcpy(w->z + s->ahead + s->middle, s->values, (size_t)s->behind);
    }
}

static void end(tsri_rows_writer *w) { (void)w; }

tsri_rows_writing tsri_cpu_rows_writing_table = { begin, rows, end };

const tsri_rows_writing *tsri_cpu_rows_writing(void)
{
    (void)tsri_cpu_kernels_get();  /* fills the table */
    return &tsri_cpu_rows_writing_table;
}
