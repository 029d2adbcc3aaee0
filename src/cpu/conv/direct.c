/* direct.c - a grid row by row: each tap is one product for a whole row of outputs.
 *
 * For groups of one channel (depthwise convolutions): rows of a product of matrices would share no
 * operands there. */
#include "conv.h"
#include "core/dtype_int.h"
#include "core/half.h"
#include "core/threads_int.h"

enum {
    ROW = 256,           /* outputs summed together */
    MOST_KERNELS = 3     /* kernels of a group up to which packing does not pay */
};

/* One row of outputs of one kernel: addresses of its image's channel, weights, bias and outputs. */
typedef struct row {
    const char *x, *w, *bias;
    char       *z;
    int64_t     at[2];  /* which row, along the outer axes */
} row;

/* The row of x that a tap of the outer axes sees; false if it is outside. */
static bool find_line(const char **x, const tsri_grid *g, const row *r, int64_t t0, int64_t t1)
{
    const int64_t i0 = r->at[0] * g->axis[0].step + tsri_slide_at(&g->axis[0], t0);
    const int64_t i1 = r->at[1] * g->axis[1].step + tsri_slide_at(&g->axis[1], t1);
    if ((uint64_t)i0 >= (uint64_t)g->axis[0].in || (uint64_t)i1 >= (uint64_t)g->axis[1].in) return false;
    *x = r->x + i0 * g->axis[0].x + i1 * g->axis[1].x;
    return true;
}

#define TEMPLATE "cpu/conv/direct.inc"
#include "cpu/template/each_float.inc"
#undef TEMPLATE

typedef void (*row_fn)(const tsri_grid *g, const row *r);

static const row_fn rows[TSR_DTYPE_COUNT] = {
#define X(ID, suffix, S, mant, exp, inf, dlpack) [TSR_##ID] = ISA(sum_row_##suffix),
#include "core/short_floats.def"
#undef X
    [TSR_F32] = ISA(sum_row_f32), [TSR_F64] = ISA(sum_row_f64),
};

bool tsri_grid_is_direct(const tsri_grid *g)
{
    return g->channels == 1 && g->kernels <= MOST_KERNELS && rows[g->dtype];
}

/* Rows begin .. end - 1 of all images, channels and outer places. */
static tsr_status sum_rows(void *context, int64_t begin, int64_t end)
{
    const tsri_grid *g = context;
    const int64_t deep = g->axis[0].out, high = g->axis[1].out, all = g->groups * g->kernels;
    for (int64_t i = begin; i < end; i++) {
        const int64_t image = i / high / deep / all, kernel = i / high / deep % all,
                      group = kernel / g->kernels;
        row r = { .x = g->x + image * g->x_image + group * g->x_channel,
                  .w = g->w + group * g->w_group + kernel % g->kernels * g->w_kernel,
                  .bias = g->bias ? g->bias + kernel * g->bias_step : NULL,
                  .z = g->z + image * g->z_image + kernel * g->z_channel,
                  .at = { i / high % deep, i % high } };
        r.z += r.at[0] * g->axis[0].z + r.at[1] * g->axis[1].z;
        rows[g->dtype](g, &r);
    }
    return TSR_OK;
}

tsr_status tsri_grid_direct(const tsri_grid *g)
{
    const tsri_slide *a = g->axis;
    const double work = (double)a[2].out * (double)a[0].taps * (double)a[1].taps * (double)(a[2].taps + 1);
    tsri_grid whole = *g;
    return tsri_parallel_for(g->batch * g->groups * g->kernels * a[0].out * a[1].out,
                             tsri_grain(TSRI_WORK_READ * (work + 1)), sum_rows, &whole);
}
