/* draw.c - random integers and exponential numbers on the CPU: a run of values at a time,
 * by core/draws.h, narrowed to where they belong. */
#include "draw.h"
#include "core/draws.h"
#include "core/loop.h"
#include "kernels.h"
#include "tessera/threads.h"

enum { GRAIN = 4096 };

typedef struct draw {
    const tsr_tensor *z;
    const void       *params;
    tsri_narrow_fn    narrow;
    void            (*make)(const struct draw *d, void *run, int64_t first, int64_t n);
    int64_t           next;  /* element that a strided walk comes to */
} draw;

static void make_integers(const draw *d, void *run, int64_t first, int64_t n)
{
    const tsr_integers_params *p = d->params;
    tsri_draw_integers(run, p->seed, p->low, p->high, first, n);
}

static void make_exponentials(const draw *d, void *run, int64_t first, int64_t n)
{
    const tsr_exponential_params *p = d->params;
    tsri_draw_exponentials(run, d->z->dtype == TSR_F64, p->seed, p->rate, first, n);
}

/* Elements first .. first + n - 1, which lie `step` bytes apart from `at` on. */
static void write_elements(const draw *d, char *at, int64_t step, int64_t first, int64_t n)
{
    union { int64_t i[TSRI_RUN]; double d[TSRI_RUN]; } run;
    for (int64_t i = 0; i < n; i += TSRI_RUN) {
        const int64_t count = n - i < TSRI_RUN ? n - i : TSRI_RUN;
        d->make(d, &run, first + i, count);
        d->narrow(at + i * step, step, &run, count);
    }
}

static tsr_status write_packed(void *context, int64_t begin, int64_t end)
{
    const draw *d = context;
    const int64_t size = tsri_dtype_size(d->z->dtype);
    write_elements(d, (char *)d->z->data + begin * size, size, begin, end - begin);
    return TSR_OK;
}

/* A tile in row-major order. */
static bool write_tile(const tsri_tile *t, void *context)
{
    draw *d = context;
    for (int64_t r = 0; r < t->rows; r++, d->next += t->cols)
        write_elements(d, t->ptr[0] + r * t->row_step[0], t->col_step[0], d->next, t->cols);
    return true;
}

static tsr_status run(draw *d)
{
    const tsr_tensor *z = d->z;
    tsri_loop loop;
    if (tsr_desc_is_contiguous(&z->desc)) return tsr_parallel_for(tsr_numel(z), GRAIN, write_packed, d);
    tsri_loop_build(&loop, z->ndim, z->shape, 1,
                    (const tsri_operand[]){ { z->data, z->stride, tsri_dtype_size(z->dtype) } },
                    TSRI_ORDERED);
    (void)tsri_loop_visit(&loop, write_tile, d);
    return TSR_OK;
}

tsr_status tsri_cpu_integers(const tsr_op *op)
{
    draw d = { op->out[0], op->params, tsri_cpu_kernels_get()->narrow[TSRI_WIDE_I64][op->out[0]->dtype],
               make_integers, 0 };
    return run(&d);
}

tsr_status tsri_cpu_exponential(const tsr_op *op)
{
    draw d = { op->out[0], op->params, tsri_cpu_kernels_get()->narrow[TSRI_WIDE_F64][op->out[0]->dtype],
               make_exponentials, 0 };
    return run(&d);
}
