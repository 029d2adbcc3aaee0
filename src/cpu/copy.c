/* copy.c - copies between tensors of one dtype: in which order to walk memory.
 *
 * The loop nest follows the destination. The source's stride along the innermost dim
 * decides:
 *
 *     1, 0 or -1                        copy row by row
 *     other, and another dim has        that dim becomes the rows of the tile, which the
 *     stride 1                          kernel transposes in registers
 *     other, and dims are short         several inner dims become one run; the offsets of its
 *                                       elements in the source are listed once, and gathered
 */
#include "cpu_run.h"
#include "core/dtype_int.h"
#include "core/loop.h"
#include "core/threads_int.h"
#include "kernels.h"

enum {
    MAX_LIST = 1024, /* offsets that are listed */
    MIN_LIST = 8
};

static int64_t length(int64_t step) { return step < 0 ? -step : step; }

/* The dim with the source's smallest step, of those outside the innermost. */
static int densest_dim(const tsri_loop *loop)
{
    int best = -1;
    for (int d = 0; d < loop->ndim - 1; d++) {
        const int64_t step = length(loop->dim[d].step[1]);
        if (step != 0 && (best < 0 || step <= length(loop->dim[best].step[1]))) best = d;
    }
    return best;
}

/* Moves a dim inward to `place`. The order of the others stays. */
static void move_dim(tsri_loop *loop, int from, int place)
{
    const tsri_dim moved = loop->dim[from];
    for (int d = from; d < place; d++) loop->dim[d] = loop->dim[d + 1];
    loop->dim[place] = moved;
}

/* Lists of offsets ---------------------------------------------------------------------- */

typedef struct offset_list {
    tsri_gather_fn           gather;
    tsri_gather_transpose_fn transpose;
    int64_t      n;
    int64_t      reach;  /* the largest |offset| possible */
    int32_t      offset[MAX_LIST];
} offset_list;

static void gather_tile(const tsri_tile *t, const void *params)
{
    const offset_list *p = params;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t c = 0; c < t->cols; c++)
            p->gather(t->ptr[0] + r * t->row_step[0] + c * t->col_step[0],
                    t->ptr[1] + r * t->row_step[1] + c * t->col_step[1], p->offset, p->n);
}

/* The columns of the tile are the dim with the source's smallest step. */
static void transpose_listed_tile(const tsri_tile *t, const void *params)
{
    const offset_list *p = params;
    for (int64_t r = 0; r < t->rows; r++)
        p->transpose(t->ptr[0] + r * t->row_step[0], t->col_step[0], t->ptr[1] + r * t->row_step[1],
                     p->offset, p->n, t->cols);
}

/* Does the dim continue the list without a gap in the destination, and is there room for it? */
static bool extends(const offset_list *p, const tsri_dim *dim, int64_t size)
{
    const int64_t most = INT32_MAX - p->reach, step = length(dim->step[1]);
    return dim->step[0] == p->n * size && dim->n <= MAX_LIST / p->n && step <= most / dim->n;
}

static void append_dim(offset_list *p, const tsri_dim *dim)
{
    for (int64_t i = dim->n - 1; i >= 0; i--)
        for (int64_t k = 0; k < p->n; k++)
            p->offset[i * p->n + k] = p->offset[k] + (int32_t)(i * dim->step[1]);
    p->n *= dim->n;
    p->reach += dim->n * length(dim->step[1]);
}

/* Moves inner dims of the nest to the list, except the source's densest: its elements share cache lines. */
static void list_places(offset_list *p, tsri_loop *loop, int dense, int64_t size)
{
    p->n = 1;
    p->reach = p->offset[0] = 0;
    while (loop->ndim > 0 && loop->ndim - 1 != dense && extends(p, &loop->dim[loop->ndim - 1], size))
        append_dim(p, &loop->dim[--loop->ndim]);
}

/* Choosing a method ---------------------------------------------------------------------- */

/* Are dims too short to fill the blocks that kernels transpose? */
static bool is_short(const tsri_loop *loop, int dense, int64_t size)
{
    return loop->dim[dense].n * size < 16 || loop->dim[loop->ndim - 1].n * size < 64;
}

/* The source's smallest steps become innermost, so that a cache line is used again soon. */
static void sort_by_source(tsri_loop *loop)
{
    for (int d = 1; d < loop->ndim; d++)
        for (int at = d; at > 0 && length(loop->dim[at].step[1]) > length(loop->dim[at - 1].step[1]); at--) {
            const tsri_dim swapped = loop->dim[at];
            loop->dim[at] = loop->dim[at - 1];
            loop->dim[at - 1] = swapped;
        }
}

/* If columns are contiguous in the source, the listed elements of several columns are transposed in
 * registers; that kernel needs 16 bytes of columns. Otherwise the elements of each column are gathered. */
static tsri_kernel list_kernel(const offset_list *p, const tsri_loop *outer, int64_t size,
                               const tsri_cpu_kernels *k)
{
    const tsri_kernel transpose = {
        .fn = transpose_listed_tile, .params = p, .cols = { .least = 16 / size }
    };
    const bool dense = outer->ndim > 0 && outer->dim[outer->ndim - 1].step[1] == size;
    const bool fits = p->transpose && dense && p->n * size >= k->gather_transpose_bytes &&
                      tsri_loop_meets(outer, &transpose);
    return fits ? transpose : (tsri_kernel){ .fn = gather_tile, .params = p };
}

static tsr_status copy_by_offsets(tsri_loop *loop, int dense, int64_t size, const tsri_cpu_kernels *k,
                                  bool *done)
{
    offset_list p;
    tsri_loop outer = *loop;
    p.gather = k->gather_offsets[__builtin_ctz((unsigned)size)];
    p.transpose = k->gather_transpose[__builtin_ctz((unsigned)size)];
    list_places(&p, &outer, dense, size);
    const bool narrow = outer.ndim >= loop->ndim - 1 && dense >= 0 && loop->dim[dense].step[1] == size &&
                        loop->dim[dense].n * size >= 16;  /* the tile kernels do one dim as fast */
    *done = p.n >= MIN_LIST && !narrow;
    if (!*done) return TSR_OK;
    sort_by_source(&outer);
    const int64_t grain = tsri_grain((double)(2 * size * p.n));
    const tsri_kernel kernel = list_kernel(&p, &outer, size, k);
    return tsri_loop_run_parallel(&outer, &kernel, grain);
}

tsr_status tsri_cpu_copy_same(tsr_tensor *dst, const tsr_tensor *src, int64_t whole)
{
    tsri_loop loop;
    const tsri_cpu_kernels *k = tsri_cpu_kernels_get();
    const int64_t size = tsri_dtype_size(dst->dtype);
    const tsri_operand operands[] = { { dst->data, dst->stride, size }, { src->data, src->stride, size } };
    tsri_loop_build(&loop, dst->ndim, dst->shape, 2, operands, 0);
    const int inner = loop.ndim - 1;
    bool transposed = false;
    if (inner > 0 && loop.dim[inner].step[0] == size && length(loop.dim[inner].step[1]) > size) {
        const int dense = densest_dim(&loop);
        bool done = false;
        if (dense < 0 || length(loop.dim[dense].step[1]) != size || is_short(&loop, dense, size))
            TSRI_TRY(copy_by_offsets(&loop, dense, size, k, &done));
        if (done) return TSR_OK;
        transposed = dense >= 0 && length(loop.dim[dense].step[1]) < length(loop.dim[inner].step[1]);
        if (transposed) move_dim(&loop, dense, inner - 1);
    }
    const int64_t bytes = tsri_loop_count(&loop) * size;
    const int64_t all = bytes > whole ? bytes : whole;
    loop.stream = (transposed && bytes >= tsri_tuning_get()->stream_transposed) || tsri_cpu_streams(2 * all);
    const tsri_kernel copy = { .fn = k->copy[__builtin_ctz((unsigned)size)], .params = NULL };
    return tsri_loop_run_parallel(&loop, &copy, tsri_grain((double)(2 * size)));
}
