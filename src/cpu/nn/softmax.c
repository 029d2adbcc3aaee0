/* softmax.c - softmax along an axis. */
#ifndef TSR_FREESTANDING

#include "nn.h"
#include "rows_run.h"
#include "core/alloc.h"
#include "core/desc_int.h"

static void softmax_row(const tsri_rows *r, void *const *row, char *const *beside, const tsri_row_options *w)
{
    (void)beside;
    r->k->softmax(row[0], row[1], r->n, w);
}

static void log_softmax_row(const tsri_rows *r, void *const *row, char *const *beside,
                            const tsri_row_options *w)
{
    (void)beside;
    r->k->log_softmax(row[0], row[1], r->n, w);
}

static void softmax_side(const tsri_rows *r, void *tile, int64_t pitch, int64_t width, char *const *beside,
                         const int64_t *step)
{
    (void)beside; (void)step;
    r->k->softmax_side(tile, r->n, pitch, width, r->is_log);
}

tsr_status tsri_cpu_softmax(const tsr_op *op)
{
    const bool log = op->kind == TSR_OP_LOG_SOFTMAX;
    tsri_rows rows = { .op = log ? "log_softmax" : "softmax", .fn = log ? log_softmax_row : softmax_row,
                       .side = softmax_side, .is_softmax = true, .is_log = log,
                       .nout = 1, .nin = 1, .axis = ((const tsr_axis_params *)op->params)->axis };
    if (tsr_desc_numel(&op->out[0]->desc) == 0) return TSR_OK;
    return tsri_rows_run(&rows, (const tsr_tensor *const[]){ op->out[0], op->in[0] });
}

/* beside: how many columns the row sees. */
static void causal_row(const tsri_rows *r, void *const *row, char *const *beside, const tsri_row_options *w)
{
    const int64_t seen = *(const int64_t *)(const void *)beside[0];
    if (seen > 0) r->k->softmax(row[0], row[1], seen, w);
    r->k->zero((char *)row[0] + seen * r->wide, r->n - seen, w->stream);
}

static void count_seen(int64_t *seen, int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; i++) {
        const int64_t n = i + 1 + columns - rows;
        seen[i] = n < 0 ? 0 : n;
    }
}

tsr_status tsri_cpu_causal_softmax(const tsr_op *op)
{
    tsr_tensor counts;
    const tsr_tensor *z = op->out[0];
    const int last = z->ndim - 1;
    const int64_t rows = z->shape[last - 1], columns = z->shape[last];
    int64_t strides[TSR_MAX_NDIM] = { 0 };
    tsri_rows r = {
        .op = "causal_softmax", .fn = causal_row, .nout = 1, .nin = 1, .nbeside = 1, .axis = last
    };
    if (tsr_desc_numel(&z->desc) == 0) return TSR_OK;
    const size_t bytes = (size_t)rows * sizeof(int64_t);
    int64_t *seen = tsri_scratch(bytes);
    TSRI_CHECK(seen, TSR_ENOMEM, "causal_softmax: no room for %lld numbers", (long long)rows);
    count_seen(seen, rows, columns);
    strides[last - 1] = 1;
    tsri_view_memory(&counts, seen, TSR_I64, z->ndim, z->shape, strides);
    const tsr_status s = tsri_rows_run(&r, (const tsr_tensor *const[]){ z, op->in[0], &counts });
    tsri_free(seen, bytes);
    return s;
}

#endif
