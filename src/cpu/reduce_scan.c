/* reduce_scan.c - scans: op -> lines along the axis, split over threads. */
#include "cpu_run.h"
#include "core/desc_int.h"
#include "core/threads_int.h"
#include "reduce_run.h"

#ifndef TSR_FREESTANDING

enum { SIDE = TSRI_LINES };

typedef struct scan_job {
    tsri_scan_fn scan;
    tsri_lines   lines;
    int64_t      side;
} scan_job;

static int64_t length(int64_t step) { return step < 0 ? -step : step; }

static void scan_tile(const tsri_tile *t, const void *params)
{
    const scan_job *j = params;
    tsri_lines lines = j->lines;
    lines.across[0] = t->col_step[0];
    lines.across[1] = t->col_step[1];
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c += j->side) {
            lines.z = t->ptr[0] + r * t->row_step[0] + c * t->col_step[0];
            lines.x = t->ptr[1] + r * t->row_step[1] + c * t->col_step[1];
            lines.width = t->cols - c < j->side ? t->cols - c : j->side;
            j->scan(&lines);
        }
}

static tsri_scan_fn scan_kernel(const tsr_op *op)
{
    const tsri_scan kind = op->kind == TSR_OP_CUMSUM    ? TSRI_SCAN_SUM
                           : op->kind == TSR_OP_CUMPROD ? TSRI_SCAN_PROD
                           : op->kind == TSR_OP_CUMMAX  ? TSRI_SCAN_MAX
                                                        : TSRI_SCAN_COUNT;
    if (kind == TSRI_SCAN_COUNT || op->nin != 1 || !op->params) return NULL;
    return tsri_cpu_kernels_get()->scan[kind][op->in[0]->dtype];
}

tsr_status tsri_cpu_scan(const tsr_op *op)
{
    tsri_loop outer;
    const tsr_tensor *x = op->in[0];
    const tsr_tensor *z = op->out[0];
    const tsr_reduce_params *params = op->params;
    const int axis = __builtin_ctz(params->axes);
    const tsri_scan_fn kernel = scan_kernel(op);
    TSRI_CHECK(kernel, TSR_EUNSUPPORTED, "%s: there are no kernels for %s", tsr_op_get_info(op->kind)->name,
               TSRI_DESC(&x->desc));
    if (tsr_numel(x) == 0) return TSR_OK;  /* no lines, or empty ones */
    scan_job j = { kernel, { .n = x->shape[axis] }, 1 };
    if (j.lines.n > 1) {  /* the stride of a dim of size 1 may be any number */
        j.lines.step[0] = tsri_strides(&z->desc)[axis] * tsri_dtype_size(z->dtype);
        j.lines.step[1] = tsri_strides(&x->desc)[axis] * tsri_dtype_size(x->dtype);
    }
    tsri_build_outer(&outer, z, x, params->axes, true);
    j.lines.rows = outer.ndim && length(outer.dim[outer.ndim - 1].step[1]) < length(j.lines.step[1]);
    if (j.lines.rows) j.side = SIDE;
    const int64_t bytes = tsri_dtype_size(z->dtype) + tsri_dtype_size(x->dtype);
    j.lines.stream = z->data != x->data && tsri_cpu_streams(tsri_loop_count(&outer) * j.lines.n * bytes);
    return tsri_loop_run_parallel(&outer, &(tsri_kernel){ .fn = scan_tile, .params = &j },
                                  tsri_grain(TSRI_WORK_READ * (2 * (double)j.lines.n + 8)));
}

#else

/* See reduce.c. */
tsr_status tsri_cpu_scan(const tsr_op *op) { (void)op; return TSR_EUNSUPPORTED; }

#endif
