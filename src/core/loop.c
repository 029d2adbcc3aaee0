/* loop.c - see loop.h. */
#include "loop.h"
#include "desc_int.h"

#include "tessera/threads.h"

/* Walking a dim backwards is walking it forwards from its other end. */
static void flip_backward_dims(tsri_loop *loop, int lead)
{
    for (int d = 0; d < loop->ndim; d++) {
        tsri_dim *dim = &loop->dim[d];
        if (dim->step[lead] >= 0) continue;
        for (int o = 0; o < loop->nop; o++) {
            loop->base[o] += dim->step[o] * (dim->n - 1);
            dim->step[o] = -dim->step[o];
        }
    }
}

static int64_t size_of_step(int64_t step) { return step < 0 ? -step : step; }

/* Is a the outer of the two? The lead operand decides; where it does not care
 * (equal steps, as in a dim it broadcasts) the others do, in turn. */
static bool is_outer(const tsri_loop *loop, const tsri_dim *a, const tsri_dim *b, int lead)
{
    if (a->step[lead] != b->step[lead]) return a->step[lead] > b->step[lead];
    for (int o = 0; o < loop->nop; o++) {
        const int64_t sa = size_of_step(a->step[o]), sb = size_of_step(b->step[o]);
        if (sa != sb) return sa > sb;
    }
    return false;
}

/* Insertion sort: ndim is tiny, the input is usually sorted already, and a
 * stable sort keeps the caller's order where the steps do not decide. */
static void sort_dims(tsri_loop *loop, int lead)
{
    for (int d = 1; d < loop->ndim; d++) {
        if (!is_outer(loop, &loop->dim[d], &loop->dim[d - 1], lead)) continue;
        const tsri_dim key = loop->dim[d];
        int at = d;
        for (; at > 0 && is_outer(loop, &key, &loop->dim[at - 1], lead); at--)
            loop->dim[at] = loop->dim[at - 1];
        loop->dim[at] = key;
    }
}

static bool can_merge(const tsri_loop *loop, const tsri_dim *outer, const tsri_dim *inner)
{
    for (int o = 0; o < loop->nop; o++)
        if (outer->step[o] != tsri_mul_wrapping(inner->step[o], inner->n)) return false;
    return true;
}

static void merge_dims(tsri_loop *loop)
{
    if (loop->ndim < 2) return;
    int last = 0;
    for (int d = 1; d < loop->ndim; d++) {
        tsri_dim *outer = &loop->dim[last], *inner = &loop->dim[d];
        if (can_merge(loop, outer, inner)) {
            const int64_t n = outer->n;
            *outer = *inner;
            outer->n *= n;
        } else {
            loop->dim[++last] = *inner;
        }
    }
    loop->ndim = last + 1;
}

/* Operands that are all packed in one order are one run, whatever dims they have. */
static bool build_run(tsri_loop *loop, int ndim, const int64_t *shape, int nop, const tsri_operand *op)
{
    int64_t n = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        if (shape[d] == 1) continue;
        for (int o = 0; o < nop; o++)
            if (op[o].stride[d] != n) return false;
        n *= shape[d];
    }
    loop->ndim = 1;
    loop->dim[0].n = n;
    for (int o = 0; o < nop; o++) loop->dim[0].step[o] = op[o].size;
    return true;
}

void tsri_loop_build(tsri_loop *loop, int ndim, const int64_t *shape, int nop, const tsri_operand *op,
                     int lead)
{
    TSRI_ASSERT(nop >= 1 && nop <= TSRI_MAX_OPERANDS && lead < nop && ndim <= TSR_MAX_NDIM);
    loop->stream = false;
    loop->nop = nop;
    loop->ndim = 0;
    for (int o = 0; o < nop; o++) loop->base[o] = op[o].data;
    if (TSRI_LIKELY(build_run(loop, ndim, shape, nop, op))) return;
    for (int d = 0; d < ndim; d++) {
        if (shape[d] == 0) {  /* nothing to walk */
            loop->ndim = 1;
            loop->dim[0] = (tsri_dim){ .n = 0 };
            return;
        }
    }
    for (int d = 0; d < ndim; d++) {
        if (shape[d] == 1) continue;
        tsri_dim *dim = &loop->dim[loop->ndim++];
        dim->n = shape[d];
        for (int o = 0; o < nop; o++) dim->step[o] = tsri_mul_wrapping(op[o].stride[d], op[o].size);
    }
    if (lead != TSRI_ORDERED) {
        flip_backward_dims(loop, lead);
        sort_dims(loop, lead);
    }
    merge_dims(loop);
}

int64_t tsri_loop_count(const tsri_loop *loop)
{
    int64_t n = 1;
    for (int d = 0; d < loop->ndim; d++) n *= loop->dim[d].n;
    return n;
}

/* The two innermost dims as the first tile; returns how many are outside it. */
static int first_tile(const tsri_loop *loop, tsri_tile *tile)
{
    static const tsri_dim once = { .n = 1 };
    const int nd = loop->ndim;
    const tsri_dim *cols = nd > 0 ? &loop->dim[nd - 1] : &once;
    const tsri_dim *rows = nd > 1 ? &loop->dim[nd - 2] : &once;
    tile->stream = loop->stream;
    tile->rows = rows->n;
    tile->cols = cols->n;
    for (int o = 0; o < loop->nop; o++) {
        tile->ptr[o] = loop->base[o];
        tile->row_step[o] = rows->step[o];
        tile->col_step[o] = cols->step[o];
    }
    return nd > 2 ? nd - 2 : 0;
}

/* Move the tile to the next place in the outer dims; false after the last. */
static bool next_tile(const tsri_loop *loop, int outer, int64_t *index, tsri_tile *tile)
{
    for (int d = outer - 1; d >= 0; d--) {
        const tsri_dim *dim = &loop->dim[d];
        const bool carry = ++index[d] == dim->n;
        const int64_t by = carry ? 1 - dim->n : 1;
        for (int o = 0; o < loop->nop; o++) tile->ptr[o] += by * dim->step[o];
        if (!carry) return true;
        index[d] = 0;
    }
    return false;
}

void tsri_loop_run(const tsri_loop *loop, tsri_tile_fn fn, const void *params)
{
    tsri_tile tile;
    const int outer = first_tile(loop, &tile);
    if (tile.cols == 0) return;
    if (outer == 0) {
        fn(&tile, params);
        return;
    }
    int64_t index[TSR_MAX_NDIM] = { 0 };
    do fn(&tile, params);
    while (next_tile(loop, outer, index, &tile));
}

bool tsri_loop_visit(const tsri_loop *loop, tsri_visit_fn fn, void *context)
{
    tsri_tile tile;
    int64_t index[TSR_MAX_NDIM] = { 0 };
    const int outer = first_tile(loop, &tile);
    if (tile.cols == 0) return true;
    do if (!fn(&tile, context)) return false;
    while (next_tile(loop, outer, index, &tile));
    return true;
}

/* What the kernel needs of parts of dim d. */
static tsri_needs needs_along(const tsri_loop *loop, const tsri_kernel *kernel, int d)
{
    if (d == loop->ndim - 1) return kernel->cols;
    return d == loop->ndim - 2 ? kernel->rows : (tsri_needs){ 0 };
}

bool tsri_loop_meets(const tsri_loop *loop, const tsri_kernel *kernel)
{
    tsri_tile tile;
    (void)first_tile(loop, &tile);
    return tile.rows >= kernel->rows.least && tile.cols >= kernel->cols.least;
}

typedef struct split {
    const tsri_loop   *loop;
    const tsri_kernel *kernel;
    int                dim;
} split;

/* Indices begin .. end - 1 of the split dim, and all of the others. */
static tsr_status run_part(void *context, int64_t begin, int64_t end)
{
    const split *s = context;
    tsri_loop part = *s->loop;
    tsri_dim *dim = &part.dim[s->dim];
    for (int o = 0; o < part.nop; o++) part.base[o] += begin * dim->step[o];
    dim->n = end - begin;
    TSRI_ASSERT(tsri_loop_meets(&part, s->kernel));
    tsri_loop_run(&part, s->kernel->fn, s->kernel->params);
    return TSR_OK;
}

/* Parts that dim d allows. */
static int64_t parts_along(const tsri_loop *loop, const tsri_kernel *kernel, int d)
{
    const tsri_needs needs = needs_along(loop, kernel, d);
    const int64_t each = needs.least > needs.multiple ? needs.least : needs.multiple;
    return each > 1 ? loop->dim[d].n / each : loop->dim[d].n;
}

/* The outermost dim that allows enough parts, or else the one that allows the most. */
static int dim_to_split(const tsri_loop *loop, const tsri_kernel *kernel, int threads)
{
    int best = 0;
    int64_t most = 0;
    for (int d = 0; d < loop->ndim; d++) {
        const int64_t parts = parts_along(loop, kernel, d);
        if (parts >= TSRI_PARTS_PER_THREAD * (int64_t)threads) return d;
        if (parts > most) {
            most = parts;
            best = d;
        }
    }
    return best;
}

tsr_status tsri_loop_run_parallel(const tsri_loop *loop, const tsri_kernel *kernel, int64_t grain)
{
    const int64_t count = tsri_loop_count(loop);
    TSRI_ASSERT(count == 0 || tsri_loop_meets(loop, kernel));
    if (count == 0 || loop->ndim == 0 || !tsri_worth_sharing(count / 2, grain)) {
        tsri_loop_run(loop, kernel->fn, kernel->params);
        return TSR_OK;
    }
    split s = { loop, kernel, dim_to_split(loop, kernel, tsr_threads()) };
    const int64_t n = loop->dim[s.dim].n, each = count / n;
    return tsri_parallel_for_needs(n, (grain + each - 1) / each, needs_along(loop, kernel, s.dim), run_part,
                                   &s);
}
