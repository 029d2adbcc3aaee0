/* nest.c - from tensors to nests. Sorting and merging are the library's (host->normalise), except
 * where the order of elements matters. */
#include "nest.h"

#include <string.h>

_Static_assert((int)TSR_MAX_NDIM <= (int)OCL_DIMS, "a nest has room for all dims");

size_t ocl_size_of(tsr_dtype dtype)
{
    static const unsigned char sizes[TSR_DTYPE_COUNT] = {
#define X(ID, suffix, S, kind, name) [TSR_##ID] = sizeof(S),
#include <tessera/dtype.def>
#undef X
    };
    return sizes[dtype];
}

int64_t ocl_numel(const tsr_tensor *t)
{
    int64_t n = 1;
    for (int d = 0; d < t->ndim; d++) n *= t->shape[d];
    return n;
}

static void close_nest(ocl_nest *t)
{
    t->count = 1;
    for (int d = 0; d < t->ndim; d++) t->count *= t->n[d];
    t->is_small = t->count <= INT32_MAX;
}

tsr_status ocl_see(ocl_operand *out, const tsr_tensor *t)
{
    ocl_place at;
    const int64_t size = (int64_t)ocl_size_of(t->dtype);
    memset(&at, 0, sizeof at);
    if (ocl_numel(t) > 0) OCL_TRY(ocl_find(&at, t->data));  /* what is empty may have no memory */
    out->mem = at.mem;
    out->base = (int64_t)at.offset;
    out->dtype = t->dtype;
    for (int d = 0; d < t->ndim; d++) out->stride[d] = t->shape[d] == 1 ? 0 : t->stride[d] * size;
    return TSR_OK;
}

tsr_status ocl_nest_of(ocl_nest *out, cl_mem *mems, int n, const tsr_tensor *const *tensors)
{
    tsr_loop loop;
    memset(out, 0, sizeof *out);
    const int64_t loop_numel = ocl_numel(tensors[0]);
    ocl_host->normalise(&loop, n, tensors);
    for (int k = 0; k < n; k++) {
        ocl_place at;
        memset(&at, 0, sizeof at);
        if (loop_numel > 0) OCL_TRY(ocl_find(&at, tensors[k]->data));
        mems[k] = at.mem;
        out->base[k] = (int64_t)at.offset + ((const char *)loop.data[k] - (const char *)tensors[k]->data);
        out->dtype[k] = (cl_int)tensors[k]->dtype;
        for (int d = 0; d < loop.ndim; d++) out->step[k][d] = loop.step[d][k];
    }
    for (int d = 0; d < loop.ndim; d++) out->n[d] = loop.n[d];
    out->ndim = loop.ndim;
    close_nest(out);
    return TSR_OK;
}

/* Does dim d follow on the nest's last one for every operand? */
static bool follows(const ocl_nest *t, int d, int64_t length, int n, const ocl_operand *operands)
{
    bool yes = t->ndim > 0;
    for (int k = 0; k < n && yes; k++) yes = t->step[k][t->ndim - 1] == operands[k].stride[d] * length;
    return yes;
}

static void append(ocl_nest *t, int d, int64_t length, int n, const ocl_operand *operands)
{
    if (length == 1) return;
    if (follows(t, d, length, n, operands)) t->n[t->ndim - 1] *= length;
    else t->n[t->ndim++] = length;
    for (int k = 0; k < n; k++) t->step[k][t->ndim - 1] = operands[k].stride[d];
}

void ocl_nest_lanes(ocl_nest *out, int ndim, const int64_t *shape, int axis, int n,
                    const ocl_operand *operands)
{
    memset(out, 0, sizeof *out);
    for (int k = 0; k < n; k++) {
        out->base[k] = operands[k].base;
        out->dtype[k] = (cl_int)operands[k].dtype;
    }
    for (int d = 0; d < ndim; d++)
        if (d != axis) append(out, d, shape[d], n, operands);
    close_nest(out);
}

void ocl_nest_in_order(ocl_nest *out, int ndim, const int64_t *shape, int n, const ocl_operand *operands)
{
    ocl_nest_lanes(out, ndim, shape, -1, n, operands);
}
