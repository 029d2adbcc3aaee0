/* training.c - steps of training on the CPU: threads share the elements of all tensors of a list. Operands
 * that are not packed, or of another dtype, are converted a run at a time. */
#ifndef TSR_FREESTANDING

#include <math.h>

#include "training.h"
#include "core/threads_int.h"
#include "cpu_run.h"
#include "kernels.h"
#include "template/isa_suffix.inc"
#include "template/training.inc"

void tsri_cpu_training_portable(tsri_cpu_kernels *k) { k->training = &ISA(training_rows); }

enum { MOST_OPERANDS = 4 };

/* Elements that are worth a thread. */
static int64_t step_grain(void) { return tsri_grain(2 * TSRI_WORK_ELEMENT); }

/* One op: its operands' dtypes, how a run of each is converted, and where it goes. */
typedef struct step {
    const tsri_cpu_kernels *k;
    const tsr_op *op;
    int           n;
    bool          wide, plain;                /* in f64; all operands have the dtype that is computed in */
    bool          written[MOST_OPERANDS];
    tsr_dtype     dtype[MOST_OPERANDS];
    int64_t       size[MOST_OPERANDS];
} step;

static bool takes(tsr_dtype d) { return d == TSR_F32 || d == TSR_F64 || d == TSR_F16 || d == TSR_BF16; }

/* Is it the same tensor? */
static bool is_same(const tsr_tensor *a, const tsr_tensor *b)
{
    bool same = a->data == b->data && a->dtype == b->dtype && a->ndim == b->ndim;
    for (int d = 0; d < a->ndim && same; d++) same = a->shape[d] == 1 || a->stride[d] == b->stride[d];
    return same;
}

bool tsri_cpu_has_step(const tsr_op *op)
{
    bool has = op->nin <= MOST_OPERANDS;
    for (int i = 0; i < op->nin && has; i++) has = takes(op->in[i]->dtype);
    for (int i = 0; i < op->nout && has; i++) has = is_same(op->out[i], op->in[i ? i + 1 : 0]);
    return has;
}

/* Results are operands: the first, and from the third on. */
static void open_step(step *s, const tsr_op *op)
{
    *s = (step){ .k = tsri_cpu_kernels_get(), .op = op, .n = op->nin, .plain = true };
    for (int i = 0; i < s->n; i++) {
        s->dtype[i] = op->in[i]->dtype;
        s->size[i] = tsri_dtype_size(s->dtype[i]);
        s->written[i] = i != 1;
        s->wide |= s->dtype[i] == TSR_F64;
    }
    for (int i = 0; i < s->n; i++) s->plain &= s->dtype[i] == (s->wide ? TSR_F64 : TSR_F32);
}

static void widen_run(const step *s, int i, void *to, const char *from, int64_t at, int64_t n)
{
    float narrow[TSRI_RUN];
    if (!s->wide || s->dtype[i] == TSR_F64) {
        s->k->widen[s->dtype[i]](to, from, at, n);
        return;
    }
    s->k->widen[s->dtype[i]](narrow, from, at, n);
    for (int64_t j = 0; j < n; j++) ((double *)to)[j] = (double)narrow[j];
}

static void compute(const step *s, int64_t n, void *const *x)
{
    if (s->wide) s->k->training->f64(s->op->kind, s->op->params, n, (double *const *)x);
    else         s->k->training->f32(s->op->kind, s->op->params, n, (float *const *)x);
}

static void run_converted(const step *s, const tsri_tile *t, const int64_t *offset, int64_t n)
{
    double room[MOST_OPERANDS][TSRI_RUN];
    void *x[MOST_OPERANDS];
    for (int i = 0; i < s->n; i++) {
        x[i] = room[i];
        widen_run(s, i, x[i], t->ptr[i] + offset[i], t->col_step[i], n);
    }
    compute(s, n, x);
    for (int i = 0; i < s->n; i++)
        if (s->written[i])
            s->k->narrow[s->wide ? TSRI_WIDE_F64 : TSRI_WIDE_F32][s->dtype[i]](t->ptr[i] + offset[i],
                                                                              t->col_step[i], x[i], n);
}

static bool has_runs(const step *s, const tsri_tile *t)
{
    bool has = s->plain;
    for (int i = 0; i < s->n; i++) has = has && (t->col_step[i] == s->size[i] || t->cols == 1);
    return has;
}

static void run_row(const step *s, const tsri_tile *t, int64_t row)
{
    int64_t offset[MOST_OPERANDS];
    void *x[MOST_OPERANDS];
    for (int i = 0; i < s->n; i++) {
        offset[i] = row * t->row_step[i];
        x[i] = t->ptr[i] + offset[i];
    }
    if (has_runs(s, t)) {
        compute(s, t->cols, x);
        return;
    }
    for (int64_t at = 0; at < t->cols; at += TSRI_RUN) {
        run_converted(s, t, offset, t->cols - at < TSRI_RUN ? t->cols - at : TSRI_RUN);
        for (int i = 0; i < s->n; i++) offset[i] += TSRI_RUN * t->col_step[i];
    }
}

static void run_tile(const tsri_tile *t, const void *params)
{
    for (int64_t row = 0; row < t->rows; row++) run_row(params, t, row);
}

static void build(tsri_loop *loop, const step *s)
{
    tsri_operand operands[MOST_OPERANDS];
    const tsr_tensor *first = s->op->in[0];
    for (int i = 0; i < s->n; i++) {
        const tsr_tensor *t = s->op->in[i];
        operands[i] = (tsri_operand){ t->data, t->stride, s->size[i] };
    }
    tsri_loop_build(loop, first->ndim, first->shape, s->n, operands, 0);
    loop->stream = false;
}

tsr_status tsri_cpu_step(const tsr_op *op)
{
    step s;
    tsri_loop loop;
    open_step(&s, op);
    build(&loop, &s);
    return tsri_loop_run_parallel(&loop, &(tsri_kernel){ .fn = run_tile, .params = &s }, step_grain());
}

tsr_status tsri_cpu_joint_norm(const tsr_op *op)
{
    const tsr_reduce_params params = { .axes = (uint32_t)((1ull << op->in[0]->ndim) - 1), .a = 2 };
    tsr_op norm = *op;
    norm.kind = TSR_OP_NORM;
    norm.params = &params;
    return tsri_cpu_reduce(&norm);
}

/* Lists ---------------------------------------------------------------------------------------- */

static tsr_status run_some(void *context, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) TSRI_TRY(tsri_cpu_step((const tsr_op *)context + i));
    return TSR_OK;
}

static bool is_small(const tsr_op *op) { return tsr_numel(op->in[0]) < 2 * step_grain(); }

/* Small tensors that follow one another are shared out, others are split. */
tsr_status tsri_cpu_step_all(int n, const tsr_op *ops)
{
    for (int begin = 0, end; begin < n; begin = end) {
        int64_t total = 0;
        for (end = begin; end < n && is_small(&ops[end]); end++) total += tsr_numel(ops[end].in[0]);
        if (end == begin) {
            TSRI_TRY(tsri_cpu_step(&ops[end++]));
            continue;
        }
        const int64_t each = total / (end - begin) + 1;
        TSRI_TRY(tsri_parallel_for(end - begin, (step_grain() + each - 1) / each, run_some,
                                   (void *)(uintptr_t)(ops + begin)));
    }
    return TSR_OK;
}

#endif
