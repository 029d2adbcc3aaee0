/* boxes.c - see boxes.h. */
#include "boxes.h"
#include "backend/registry.h"
#include "tessera/memory.h"

enum { BOX_BYTES = 256 << 10 };

tsr_status tsri_copy_piece(tsr_tensor *dst, const tsr_tensor *src, const tsr_tensor *whole)
{
    if (tsr_numel(dst) == 0) return TSR_OK;
    if (tsri_is_here(dst) && tsri_is_here(src))
        return tsri_host->copy_piece(dst, src, tsr_numel(whole) * tsri_dtype_size(whole->dtype));
    return tsri_op_run(&(tsr_op){ .kind = TSR_OP_COPY, .nin = 1, .nout = 1, .in = { src }, .out = { dst } });
}

bool tsri_boxes_cut(tsri_boxes *b, const tsr_tensor *result, int leading)
{
    int64_t bytes = tsri_dtype_size(result->dtype);
    if (result->device != TSR_CPU || !tsr_memory_is_host(result->memory) || tsr_numel(result) == 0)
        return false;
    for (int d = leading; d < result->ndim; d++) bytes *= result->shape[d];
    for (b->dim = leading - 1; b->dim > 0 && bytes * result->shape[b->dim] <= BOX_BYTES; b->dim--)
        bytes *= result->shape[b->dim];
    if (leading == 0 || bytes > BOX_BYTES) return false;
    b->run = BOX_BYTES / bytes;
    b->count = (result->shape[b->dim] + b->run - 1) / b->run;
    b->shape[b->dim] = result->shape[b->dim];
    for (int d = 0; d < b->dim; d++) b->count *= b->shape[d] = result->shape[d];
    return b->count > 1;
}

void tsri_boxes_see(tsr_tensor *v, const tsr_tensor *t, const tsri_boxes *b, int64_t i)
{
    const int64_t cuts = (b->shape[b->dim] + b->run - 1) / b->run, size = tsri_dtype_size(t->dtype);
    const int64_t from = i % cuts * b->run, left = b->shape[b->dim] - from;
    char *data = t->data;
    if (v != t) *v = *t;
    if (from > 0) data += from * t->stride[b->dim] * size;
    v->shape[b->dim] = left < b->run ? left : b->run;
    i /= cuts;
    for (int d = b->dim - 1; d >= 0; d--) {
        if (i % b->shape[d] > 0) data += i % b->shape[d] * t->stride[d] * size;
        i /= b->shape[d];
        v->shape[d] = 1;
    }
    v->data = data;
}
