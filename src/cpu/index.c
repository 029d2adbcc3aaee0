/* index.c - gather and scatter on the CPU.
 *
 * Gathering is a nest over the result. Scattering is a nest over the lanes along the
 * axis: two indices can name the same element only within a lane, and one thread walks
 * a lane in order. So the result does not depend on the number of threads.
 *
 * LIMIT: the scatter of one long lane runs on one thread. */
#include "core/half.h"
#include "core/mem.h"
#include "core/threads_int.h"
#include "cpu_run.h"
#include "index.h"
#include "kernels.h"
#include "lanes.h"
#include "tessera/ops/index.h"

static void gather_rows(const tsri_tile *t, int64_t step, int64_t size)
{
    const int64_t bytes = t->cols * size, ahead = tsri_tuning_used->indexing.rows_ahead;
    for (int64_t r = 0; r < t->rows; r++) {
        if (r + ahead < t->rows) prefetch_row(row_of(t, r + ahead, step), bytes);
        memcpy(t->ptr[0] + r * t->row_step[0], row_of(t, r, step), (size_t)bytes);
    }
}

#define TEMPLATE "gather.inc"
#include "template/each_size.inc"
#undef TEMPLATE
#define TEMPLATE "float_scatter.inc"
#include "template/each_float.inc"
#undef TEMPLATE
#define TEMPLATE "integer_scatter.inc"
#include "template/each_integer.inc"
#undef TEMPLATE
#define TEMPLATE "complex_scatter.inc"
#include "template/each_complex.inc"
#undef TEMPLATE

static inline uint8_t op_or(uint8_t z, uint8_t x) { return z | x; }
static void ISA(scatter_max_bool)(const tsri_tile *t, const void *params)
{
    ISA(scatter_1)(t, params, op_or);
}

static int size_slot(tsr_dtype dtype) { return __builtin_ctz(tsri_dtype_sizes[dtype]); }

void tsri_cpu_index_portable(tsri_cpu_kernels *k)
{
    static const tsri_tile_fn gathers[] = { ISA(gather_1), ISA(gather_2), ISA(gather_4), ISA(gather_8),
                                            ISA(gather_16) };
    static const tsri_tile_fn sets[] = { ISA(scatter_set_1), ISA(scatter_set_2), ISA(scatter_set_4),
                                         ISA(scatter_set_8), ISA(scatter_set_16) };
    for (int i = 0; i < TSRI_SIZES; i++) k->gather[i] = gathers[i];
    k->gather_rows = gather_rows;
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) k->scatter[TSR_SCATTER_SET][d] = sets[size_slot((tsr_dtype)d)];
#define ENTER(ID, dtype)                                            \
    k->scatter[TSR_SCATTER_ADD][TSR_##ID] = ISA(scatter_add_##dtype);    \
    k->scatter[TSR_SCATTER_MAX][TSR_##ID] = ISA(scatter_max_##dtype)
#define X(ID, suffix, S, mant, exp, inf, dlpack) ENTER(ID, suffix);
#include "core/short_floats.def"
#undef X
    ENTER(F32, f32); ENTER(F64, f64);
    ENTER(I8, i8); ENTER(I16, i16); ENTER(I32, i32); ENTER(I64, i64);
    ENTER(U8, u8); ENTER(U16, u16); ENTER(U32, u32); ENTER(U64, u64);
#undef ENTER
    k->scatter[TSR_SCATTER_ADD][TSR_C64] = ISA(scatter_add_c64);
    k->scatter[TSR_SCATTER_ADD][TSR_C128] = ISA(scatter_add_c128);
    k->scatter[TSR_SCATTER_MAX][TSR_BOOL] = ISA(scatter_max_bool);
}

tsr_status tsri_cpu_gather(const tsr_op *op)
{
    tsri_loop loop;
    const tsr_tensor *z = op->out[0], *x = op->in[0], *index = op->in[1];
    const int axis = ((const tsr_axis_params *)op->params)->axis;
    const int64_t step = tsri_axis_step(x, axis);
    int64_t stride[TSR_MAX_NDIM];
    for (int i = 0; i < x->ndim; i++) stride[i] = i == axis ? 0 : x->stride[i];
    const tsri_operand operands[] = {
        { z->data, z->stride, tsri_dtype_size(z->dtype) },
        { index->data, index->stride, sizeof(int64_t) },
        { x->data, stride, tsri_dtype_size(x->dtype) },
    };
    tsri_loop_build(&loop, z->ndim, z->shape, 3, operands, 0);
    loop.stream = tsri_cpu_streams(2 * tsri_loop_count(&loop) * tsri_dtype_size(z->dtype));
    const tsri_kernel kernel = { .fn = tsri_cpu_kernels_get()->gather[size_slot(z->dtype)], .params = &step };
    return tsri_loop_run_parallel(&loop, &kernel, tsri_grain(TSRI_WORK_ELEMENT));
}

tsr_status tsri_cpu_scatter(const tsr_op *op)
{
    tsri_loop loop;
    const tsr_scatter_params *p = op->params;
    const tsr_tensor *z = op->out[0], *index = op->in[0], *x = op->in[1];
    const int64_t n = index->shape[p->axis];
    const scatter_axis lane = {
        n, { tsri_axis_step(z, p->axis), tsri_axis_step(index, p->axis), tsri_axis_step(x, p->axis) },
    };
    if (n == 0) return TSR_OK;
    tsri_lanes_build(&loop, &index->desc, 3, (const tsr_tensor *const[]){ z, index, x }, p->axis);
    const tsri_kernel kernel = { .fn = tsri_cpu_kernels_get()->scatter[p->mode][z->dtype], .params = &lane };
    return tsri_loop_run_parallel(&loop, &kernel, tsri_grain(TSRI_WORK_ELEMENT * (double)n));
}
