/* interleave.c - see interleave.h.
 *
 * Strips of cells are written one after another. Within a strip, groups of sources are read one after
 * another: few sources at a time, each in a contiguous run, which the hardware prefetcher follows. A cell
 * is the n elements that become neighbours. */
#include "interleave.h"
#include "core/alloc.h"
#include "core/dtype_int.h"
#include "cpu_run.h"
#include "kernels.h"
#include "core/threads_int.h"

enum { STRIP_BYTES = TSRI_PAGE };  /* of a source */

tsri_interleaver tsri_cpu_interleavers[5];

typedef struct interleaving {
    tsr_tensor              *out;
    int                      n;
    const tsr_tensor *const *tensors;
    const tsri_interleaver  *kernels;
    int64_t                  size;
    int                      outer;  /* dims outside the runs */
    int64_t                  run;    /* cells that are contiguous in all tensors */
    int64_t                  strip, strips;  /* cells of a strip, except the last of a run; strips of a run */
    bool                     stream;
} interleaving;

/* Are dims d and d + 1 contiguous, so that they can be one? */
static bool is_contiguous_at(const tsr_tensor *t, int d)
{
    return t->stride[d] == t->stride[d + 1] * t->shape[d + 1];
}

/* Finds the longest runs of cells. False if a tensor is not contiguous. */
static bool find_runs(interleaving *j)
{
    int d = j->out->ndim - 2;
    bool all = j->out->stride[d + 1] == 1;
    for (int i = 0; i < j->n; i++) all = all && j->tensors[i]->stride[d] == 1;
    j->run = j->out->shape[d];
    while (all && d > 0) {
        bool merge = is_contiguous_at(j->out, d - 1);
        for (int i = 0; i < j->n && merge; i++) merge = is_contiguous_at(j->tensors[i], d - 1);
        if (!merge) break;
        j->run *= j->out->shape[--d];
    }
    j->outer = d;
    return all;
}

/* Bytes from the first element to that of run number i. */
static int64_t run_at(const interleaving *j, const tsr_tensor *t, int64_t i)
{
    int64_t at = 0;
    for (int d = j->outer - 1; d >= 0; d--) {
        at += i % j->out->shape[d] * t->stride[d];
        i /= j->out->shape[d];
    }
    return at * j->size;
}

static bool is_aligned(const interleaving *j)
{
    uint64_t places = (uintptr_t)j->out->data;
    if (!j->kernels->wide || j->kernels->width * j->size != TSRI_CACHE_LINE) return false;
    for (int d = 0; d < j->outer; d++) places |= (uint64_t)j->out->stride[d] * (uint64_t)j->size;
    if (j->n > TSRI_INTERLEAVE_SMALL)
        places |= (uint64_t)(j->out->stride[j->out->ndim - 2] * j->size | j->n * j->size);
    return places % TSRI_CACHE_LINE == 0;
}

static tsr_status run_strips(void *context, int64_t begin, int64_t end)
{
    const interleaving *j = context;
    const int width = j->kernels->width, group = j->n < width ? j->n : width;
    const int64_t dz = j->out->stride[j->out->ndim - 2] * j->size;
    const char *x[TSRI_INTERLEAVE_MOST];
    for (int64_t i = begin; i < end; i++) {
        const int64_t run = i / j->strips, first = i % j->strips * j->strip;
        const int64_t cells = i % j->strips == j->strips - 1 ? j->run - first : j->strip;
        char *z = (char *)j->out->data + run_at(j, j->out, run) + first * dz;
        for (int g = 0; g < j->n; g += group) {
            const int from = g + group <= j->n ? g : j->n - group;  /* the last group may overlap */
            for (int k = 0; k < group; k++)
                x[k] = (const char *)j->tensors[from + k]->data + run_at(j, j->tensors[from + k], run) +
                       first * j->size;
            if (j->n <= TSRI_INTERLEAVE_SMALL) j->kernels->small(z, j->n, x, cells, j->stream);
            else                             j->kernels->wide(z + from * j->size, dz, x, cells, j->stream);
        }
    }
    return TSR_OK;
}

bool tsri_cpu_interleave(tsr_status *s, tsr_tensor *out, int n, const tsr_tensor *const *tensors)
{
    const int64_t size = tsri_dtype_size(out->dtype);
    (void)tsri_cpu_kernels_get();  /* fills tsri_cpu_interleavers, too */
    interleaving j = { .out = out, .n = n, .tensors = tensors, .size = size,
                       .kernels = &tsri_cpu_interleavers[__builtin_ctz((unsigned)size)] };
    if (out->ndim < 2 || n < 2 || tsr_numel(out) == 0) return false;
    const bool small = n <= TSRI_INTERLEAVE_SMALL;
    if (small ? !j.kernels->small || out->stride[out->ndim - 2] != n
              : !j.kernels->wide || n < j.kernels->width)
        return false;
    if (!find_runs(&j) || j.run < j.kernels->width) return false;
    j.strip = STRIP_BYTES / size;
    j.strips = j.run / j.strip > 0 ? j.run / j.strip : 1;
    j.stream = tsri_cpu_streams(2 * tsr_numel(out) * size) && is_aligned(&j);
    const int64_t cells = tsr_numel(out) / n, each = 2 * size * n * (j.run < j.strip ? j.run : j.strip);
    *s = tsri_parallel_for(cells / j.run * j.strips, tsri_grain((double)each), run_strips, &j);
    return true;
}
