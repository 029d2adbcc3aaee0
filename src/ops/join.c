/* join.c - see join.h. Long runs are copied a tensor at a time; single elements are interleaved
 * by the host's entry for it; other results of short runs are made box by box (boxes.h). */
#include "join.h"
#include "boxes.h"
#include "backend/device_run.h"
#include "backend/registry.h"
#include "core/threads_int.h"
#include "composed.h"

enum {
    SHORT_BYTES = 1024,     /* a run of a tensor in the result, below this */
    WORK = 4                /* of a byte in such a run */
};

typedef struct joining {
    tsr_tensor              *out;
    int                      n, axis;
    const tsr_tensor *const *tensors;
    bool                     stacked;
    tsri_boxes               boxes;
} joining;

/* The place of tensor t in `whole`, which may be a box: *start indices from the first along the axis. */
static void see_place(tsr_tensor *v, const tsr_tensor *whole, const joining *j, const tsr_tensor *t,
                      int64_t *start)
{
    const int64_t length = j->stacked ? 1 : t->shape[j->axis];
    tsri_see_slice(v, whole, j->axis, *start, *start + length, 1);
    if (j->stacked) tsri_remove_dim(&v->desc, j->axis);
    *start += length;
}

/* On a device: some at a time. */
static tsr_status join_there(const joining *j)
{
    tsr_tensor place[TSRI_PIECES];
    int64_t start = 0;
    for (int i = 0, n; i < j->n; i += n) {
        n = j->n - i < TSRI_PIECES ? j->n - i : TSRI_PIECES;
        for (int k = 0; k < n; k++) see_place(&place[k], j->out, j, j->tensors[i + k], &start);
        TSRI_TRY(tsri_device_copies(n, place, j->tensors + i));
    }
    return TSR_OK;
}

static tsr_status join_singly(const joining *j)
{
    int64_t start = 0;
    if (j->out->device != TSR_CPU) return join_there(j);
    for (int i = 0; i < j->n; i++) {
        tsr_tensor place;
        see_place(&place, j->out, j, j->tensors[i], &start);
        TSRI_TRY(tsri_copy_piece(&place, j->tensors[i], j->out));
    }
    return TSR_OK;
}

/* Memory for a box whose shape is that of `box`, laid out so that copies into it have long runs: a
 * stacked axis is outermost. */
static tsr_status make_room(tsr_tensor **room, const joining *j, const tsr_tensor *box)
{
    int64_t shape[TSR_MAX_NDIM];
    if (!j->stacked) return tsri_make_packed(room, "concat", box->dtype, box->ndim, box->shape);
    shape[0] = j->n;
    for (int d = 0, at = 1; d < box->ndim; d++)
        if (d != j->axis) shape[at++] = box->shape[d];
    return tsri_make_packed(room, "concat", box->dtype, box->ndim, shape);
}

/* The room as a box of this shape, which may be smaller. */
static void see_room(tsr_tensor *v, const tsr_tensor *room, const joining *j, const tsr_tensor *box)
{
    *v = *room;
    if (j->stacked) {
        const int64_t stride = v->stride[0];
        tsri_remove_dim(&v->desc, 0);
        tsri_insert_dim(&v->desc, j->axis, j->n, stride);
    }
    for (int d = 0; d < v->ndim; d++) v->shape[d] = box->shape[d];
}

static tsr_status join_box(const joining *j, const tsr_tensor *room, int64_t i)
{
    tsr_tensor box, inside, place, part;
    int64_t start = 0;
    tsri_boxes_see(&box, j->out, &j->boxes, i);
    see_room(&inside, room, j, &box);
    for (int k = 0; k < j->n; k++) {
        tsri_boxes_see(&part, j->tensors[k], &j->boxes, i);
        see_place(&place, &inside, j, &part, &start);
        if (tsr_numel(&part) > 0) TSRI_TRY(tsri_copy_run(&place, &part));
    }
    return tsri_copy_piece(&box, &inside, j->out);
}

static tsr_status join_boxes(void *context, int64_t begin, int64_t end)
{
    const joining *j = context;
    tsr_tensor box, *room = NULL;
    tsri_boxes_see(&box, j->out, &j->boxes, 0);
    tsr_status s = make_room(&room, j, &box);
    for (int64_t i = begin; i < end && s == TSR_OK; i++) s = join_box(j, room, i);
    tsr_release(&room);
    return s;
}

/* Bytes that one tensor fills at a stretch, if the result is packed. */
static int64_t run_bytes(const joining *j)
{
    int64_t n = j->stacked ? 1 : j->out->shape[j->axis] / j->n;
    for (int d = j->axis + 1; d < j->out->ndim; d++) n *= j->out->shape[d];
    return n * tsri_dtype_size(j->out->dtype);
}

static bool all_here(const tsr_tensor *out, int n, const tsr_tensor *const *tensors)
{
    bool here = tsri_is_here(out);
    for (int i = 0; i < n && here; i++) here = tsri_is_here(tensors[i]);
    return here;
}

tsr_status tsri_join_run(tsr_tensor *out, int n, const tsr_tensor *const *tensors, int axis, bool stacked)
{
    joining j = { .out = out, .n = n, .axis = axis, .tensors = tensors, .stacked = stacked };
    const bool is_worth = tsr_numel(out) * tsri_dtype_size(out->dtype) >= tsri_grain(WORK);
    tsr_status s;
    if (stacked && axis == out->ndim - 1 && is_worth && all_here(out, n, tensors) &&
        tsri_host->stack_last(&s, out, n, tensors))
        return s;
    if (n > 1 && out->device == TSR_CPU && is_worth && run_bytes(&j) < SHORT_BYTES &&
        tsri_boxes_cut(&j.boxes, out, axis))
        return tsri_parallel_for(j.boxes.count, 1, join_boxes, &j);
    return join_singly(&j);
}
