/* reduce_short.c - outputs with few elements each: results are written directly, without states. */
#include "core/threads_int.h"
#include "reduce_run.h"

#ifndef TSR_FREESTANDING

enum { COLUMNS = 256 };  /* for each of several threads, from which on columns need no parts */

/* Are the outputs columns, and enough for all threads? */
static bool has_columns(const tsri_reduction *r)
{
    const tsri_loop *outer = &r->outer;
    const int threads = tsri_threads_here();
    return outer->ndim > 0 && outer->dim[outer->ndim - 1].step[1] == r->bytes &&
           (threads == 1 || tsri_loop_count(outer) >= COLUMNS * threads);
}

/* The largest of integers and short floats, and tests for zero, are found by bits: their kernels accumulate
 * in the result, and no order of elements changes it. So they need no parts, and the choice may depend on the
 * number of threads. */
void tsri_reduce_short_plan(tsri_reduction *r, tsr_dtype dtype)
{
    const tsri_acc_kind kind = r->kind[0];
    const bool by_bits = kind == TSRI_ACC_NONZERO ||
                         (kind == TSRI_ACC_LARGEST && dtype != TSR_F32 && dtype != TSR_F64);
    r->reduce_short = NULL;
    r->any_column = by_bits;
    if (r->passes != 1 || kind > TSRI_ACC_NONZERO || r->op == TSR_OP_COUNT_NONZERO) return;
    if (r->size || r->times != 1 || r->reduced.ndim > 1 || r->joined > 1) return;
    if (r->parts > 1 && !(by_bits && has_columns(r))) return;
    r->reduce_short = tsri_cpu_kernels_get()->reduce_short[kind][dtype];
    if (r->reduce_short) r->parts = 1;
}

static bool is_power_of_two(int64_t n) { return (n & (n - 1)) == 0; }

bool tsri_reduce_short_run(const tsri_reduction *r, const char *x, char *z, const tsri_dim *along)
{
    const int64_t n = r->reduced.ndim ? r->reduced.dim[0].n : 1,
                  step = r->reduced.ndim ? r->reduced.dim[0].step[0] : 0;
    const bool columns = along->step[1] == r->bytes && (n <= TSRI_SHORT_COLUMN || r->any_column) &&
                         (n == 1 || step != r->bytes);
    if (!r->reduce_short || n < 1 || along->step[0] != r->rounded || along->step[1] == 0) return false;
    if (!columns && (n >= TSRI_SHORT_RUN || (n > 1 && step != r->bytes))) return false;
    tsri_short_reduction f = { .z = z, .x = x + r->start, .n = n, .width = along->n, .across = along->step[1],
                               .step = !columns ? r->bytes : n == 1 ? 0 : step, .times = 1,
                               .least = r->least || r->op == TSR_OP_ALL,
                               .over = 1 };
    if (r->op == TSR_OP_MEAN && is_power_of_two(n)) f.times = 1 / (double)n;  /* exact */
    else if (r->op == TSR_OP_MEAN)                  f.over = (double)n;
    if (!r->reduce_short(&f)) return false;
    if (tsri_scaled_needed(r, z, along->step[0], along->n))
        tsri_scaled_redo(&(tsri_block){ .r = r, .x = (char *)(uintptr_t)x, .width = along->n,
                                        .across = along->step[1] }, z, along->step[0]);
    return true;
}

#endif
