/* class_loss.c - cross entropy and negative log likelihood: a loss and a weight for each
 * place, in double, then the reduction. */
#ifndef TSR_FREESTANDING

#include "nn.h"
#include "rows_run.h"
#include "core/alloc.h"
#include "core/desc_int.h"
#include "core/threads_int.h"
#include "cpu/cpu_run.h"
#include "cpu/lanes.h"
#include "tessera/ops/nn.h"

enum { SOME = 64 };  /* places at a time: whole vectors */

typedef struct losing {
    const tsr_loss_params *how;
    const double *weights;        /* of the classes; NULL: all 1 */
    double       *loss, *weight;  /* of the places, packed */
    int64_t       classes;
    int64_t       step;           /* bytes from class to class of x */
    tsri_widen_fn widen;
    bool          wide;           /* widened numbers are doubles */
} losing;

static double weight_of(const losing *l, int64_t class) { return l->weights ? l->weights[class] : 1; }

static double number_at(const losing *l, const void *row, int64_t i)
{
    return l->wide ? ((const double *)row)[i] : (double)((const float *)row)[i];
}

/* Lanes: cross entropy ----------------------------------------------------------------- */

/* The sum of weight * -log p over all classes, whose numbers are `step` numbers apart. */
static double spread(const losing *l, const void *x, int64_t step, double most, double log_sum)
{
    double sum = 0;
    for (int64_t i = 0; i < l->classes; i++)
        sum += weight_of(l, i) * (log_sum - (number_at(l, x, i * step) - most));
    return sum;
}

/* The loss and the weight of a place whose target is not ignored. */
static void lose(const losing *l, double *loss, double *weight, int64_t target, const void *x, int64_t step,
                 double most, double log_sum)
{
    const double smoothing = l->how->smoothing;
    *weight = weight_of(l, target);
    *loss = *weight * (log_sum - (number_at(l, x, target * step) - most));
    if (smoothing != 0)
        *loss = (1 - smoothing) * *loss + smoothing / (double)l->classes * spread(l, x, step, most, log_sum);
}

/* beside: the place's loss, weight and target. */
static void entropy_row(const tsri_rows *r, void *const *row, char *const *beside, const tsri_row_options *w)
{
    const losing *l = r->params;
    double *loss = (double *)(void *)beside[0], *weight = (double *)(void *)beside[1], most, log_sum;
    const int64_t target = *(const int64_t *)(const void *)beside[2];
    (void)w;
    *loss = *weight = 0;
    if (target == l->how->ignore_index) return;
    r->k->log_sum(&most, &log_sum, row[0], r->n);
    lose(l, loss, weight, target, row[0], 1, most, log_sum);
}

static void entropy_side(const tsri_rows *r, void *tile, int64_t pitch, int64_t width, char *const *beside,
                         const int64_t *step)
{
    const losing *l = r->params;
    for (int64_t at = 0; at < width; at += SOME) {
        double most[SOME], log_sum[SOME];
        const int64_t n = width - at < SOME ? width - at : SOME;
        char *first = (char *)tile + at * r->wide;
        r->k->log_sum_side(most, log_sum, first, r->n, pitch, n);
        for (int64_t i = 0; i < n; i++) {
            double *loss = (double *)(void *)(beside[0] + (at + i) * step[0]);
            double *weight = (double *)(void *)(beside[1] + (at + i) * step[1]);
            const int64_t target = *(const int64_t *)(const void *)(beside[2] + (at + i) * step[2]);
            *loss = *weight = 0;
            if (target != l->how->ignore_index)
                lose(l, loss, weight, target, first + i * r->wide, pitch / r->wide, most[i], log_sum[i]);
        }
    }
}

/* Single elements: negative log likelihood ----------------------------------------------- */

/* Operands: x at class 0, loss, weight, target. */
static void likelihood_tile(const tsri_tile *t, const void *params)
{
    const losing *l = params;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++) {
            char *at[4];
            double number;
            for (int o = 0; o < 4; o++) at[o] = t->ptr[o] + r * t->row_step[o] + c * t->col_step[o];
            const int64_t target = *(const int64_t *)(const void *)at[3];
            const bool ignored = target == l->how->ignore_index;
            double *loss = (double *)(void *)at[1], *weight = (double *)(void *)at[2];
            *loss = *weight = 0;
            if (ignored) continue;
            l->widen(&number, at[0] + (target > 0 ? target * l->step : 0), l->step, 1);
            *weight = weight_of(l, target);
            *loss = *weight * -number_at(l, &number, 0);
        }
}

/* Together --------------------------------------------------------------------------------- */

/* A view of t, which has the places' shape, with x's rank; the stride along classes is 0. */
static void view_places(tsr_tensor *v, const tsr_tensor *t, const tsr_tensor *x)
{
    int64_t strides[TSR_MAX_NDIM] = { 0 };
    for (int i = 0; i < x->ndim; i++)
        if (i != 1) strides[i] = t->stride[i > 1 ? i - 1 : i];
    tsri_view_memory(v, t->data, t->dtype, x->ndim, x->shape, strides);
}

static tsr_status find_losses(const tsr_op *op, losing *l)
{
    tsri_loop loop;
    tsr_tensor packed, seen[3];
    const tsr_tensor *x = op->in[0], *target = op->in[1];
    double *const lists[2] = { l->loss, l->weight };
    for (int i = 0; i < 2; i++) {
        tsri_view_memory(&packed, lists[i], TSR_F64, target->ndim, target->shape, NULL);
        view_places(&seen[i], &packed, x);
    }
    view_places(&seen[2], target, x);
    const tsr_tensor *const operands[] = { x, &seen[0], &seen[1], &seen[2] };
    if (op->kind == TSR_OP_CROSS_ENTROPY) {
        tsri_rows rows = { .op = "cross_entropy",
                           .fn = entropy_row,
                           .side = entropy_side,
                           .params = l,
                           .nin = 1,
                           .nbeside = 3,
                           .axis = 1 };
        return tsri_rows_run(&rows, operands);
    }
    tsri_lanes_build(&loop, &x->desc, 4, operands, 1);
    return tsri_loop_run_parallel(&loop, &(tsri_kernel){ .fn = likelihood_tile, .params = l },
                                  tsri_grain(TSRI_WORK_NUMBER));
}

static tsr_status reduce_losses(tsr_tensor *z, const losing *l, const tsr_tensor *target)
{
    tsr_tensor losses;
    const tsri_nn_kernels *k = tsri_row_kernels(TSR_F64);
    const int64_t places = tsr_desc_numel(&target->desc);
    double total = 0;
    if (l->how->reduction == TSR_REDUCTION_NONE) {
        tsri_view_memory(&losses, l->loss, TSR_F64, target->ndim, target->shape, NULL);
    } else {
        total = k->sum(l->loss, places);
        if (l->how->reduction == TSR_REDUCTION_MEAN) total /= k->sum(l->weight, places);
        tsri_view_memory(&losses, &total, TSR_F64, 0, NULL, NULL);
    }
    return tsri_cpu_copy(
        &(tsr_op){ .kind = TSR_OP_COPY, .nin = 1, .nout = 1, .in = { &losses }, .out = { z } });
}

static tsr_status run_loss(const tsr_op *op, losing *l, double *memory)
{
    const tsr_tensor *x = op->in[0], *target = op->in[1];
    const int64_t places = tsr_desc_numel(&target->desc);
    l->loss = memory;
    l->weight = memory + places;
    if (op->in[2]) {
        TSRI_TRY(tsri_unpack(memory + 2 * places, TSR_F64, op->in[2]));
        l->weights = memory + 2 * places;
    }
    if (tsr_desc_numel(&x->desc) > 0) TSRI_TRY(find_losses(op, l));
    return reduce_losses(op->out[0], l, target);
}

tsr_status tsri_cpu_class_loss(const tsr_op *op)
{
    const tsr_tensor *x = op->in[0];
    const int64_t places = tsr_desc_numel(&op->in[1]->desc), classes = x->shape[1];
    int64_t numbers = 0, bytes = 0;
    losing l = { .how = op->params, .classes = classes, .step = classes > 1 ? tsri_axis_step(x, 1) : 0,
                 .widen = tsri_cpu_kernels_get()->widen[x->dtype], .wide = x->dtype == TSR_F64 };
    const bool fits = tsri_mul(&numbers, places, 2) && tsri_add(&numbers, numbers, classes) &&
                      tsri_mul(&bytes, numbers > 0 ? numbers : 1, sizeof(double)) &&
                      (uint64_t)bytes <= SIZE_MAX;
    double *memory = fits ? tsri_scratch((size_t)bytes) : NULL;
    TSRI_CHECK(memory, TSR_ENOMEM, "%s: no room for the losses of %lld places",
               tsr_op_get_info(op->kind)->name, (long long)places);
    const tsr_status s = run_loss(op, &l, memory);
    tsri_free(memory, (size_t)bytes);
    return s;
}

#endif
