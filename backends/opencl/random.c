/* random.c - uniform, randn, exponential, integers: the library's numbers (random.cl). */
#include "launch.h"
#include "numbers.h"

static const char *can(const ocl_device *d, const tsr_op *op) { return ocl_lacks(d, op->out[0]->dtype); }

/* [low, high) in a floating dtype: a value is (low + width * u) * unit, held to first .. last. */
typedef struct bounds {
    double low, width, unit, first, last;
} bounds;

/* The smallest number of the dtype that is not below v, and the largest that is below v: the patterns
 * of one sign lie in the order of their magnitudes. */
static double at_least(tsr_dtype dtype, double v)
{
    const uint64_t sign = (uint64_t)1 << (8 * ocl_size_of(dtype) - 1), bits = ocl_float_bits(dtype, v);
    if (ocl_float_value(dtype, bits) >= v) return ocl_float_value(dtype, bits);
    return ocl_float_value(dtype, bits == sign ? 1 : bits & sign ? bits - 1 : bits + 1);
}

static double below(tsr_dtype dtype, double v)
{
    const uint64_t sign = (uint64_t)1 << (8 * ocl_size_of(dtype) - 1), bits = ocl_float_bits(dtype, v);
    if (ocl_float_value(dtype, bits) < v) return ocl_float_value(dtype, bits);
    return ocl_float_value(dtype, bits == 0 ? sign | 1 : bits & sign ? bits + 1 : bits - 1);
}

static bounds bounds_of(tsr_dtype dtype, double low, double high)
{
    bounds b;
    const bool   wide = dtype == TSR_F64;
    const double lo = wide ? low : (double)(float)low, hi = wide ? high : (double)(float)high;
    const double width = wide ? hi - lo : (double)((float)hi - (float)lo);
    const bool   fits = width <= (wide ? 1.7976931348623157e308 : 3.4028234663852886e38);
    b.unit = fits ? 1 : 2;
    b.low = fits ? lo : lo / 2;
    b.width = fits ? width : hi / 2 - lo / 2;
    if (!wide) b.width = (double)(float)b.width;
    b.first = at_least(dtype, low);
    b.last = below(dtype, high);
    if (b.first > b.last) b.first = b.last = ocl_float_value(dtype, ocl_float_bits(dtype, low));
    return b;
}

static tsr_dtype part_of(tsr_dtype dtype)
{
    return dtype == TSR_C128 ? TSR_F64 : dtype == TSR_C64 ? TSR_F32 : dtype == TSR_C32 ? TSR_F16 : dtype;
}

static tsr_status begin(ocl_launch *l, ocl_nest *t, const ocl_call *call, const char *kernel)
{
    ocl_operand z;
    const tsr_tensor *out = call->op->out[0];
    const tsr_dtype part = part_of(out->dtype);
    OCL_TRY(ocl_see(&z, out));
    ocl_nest_in_order(t, out->ndim, out->shape, 1, &z);
    t->dtype[0] = (cl_int)part;
    OCL_TRY(ocl_begin(l, call, "random", kernel, part == TSR_F64 ? "-DNUMBERS_DOUBLE" : ""));
    ocl_arg_mem(l, z.mem);
    ocl_arg_nest(l, t);
    ocl_arg_int(l, part == out->dtype ? 1 : 2);
    return TSR_OK;
}

/* Work items for blocks of numbers. */
static tsr_status end(ocl_launch *l, const ocl_nest *t, tsr_dtype dtype)
{
    const tsr_dtype part = part_of(dtype);
    const int64_t numbers = t->count * (part == dtype ? 1 : 2), block = part == TSR_F64 ? 2 : 4;
    return ocl_end(l, (numbers + block - 1) / block);
}

static tsr_status run_integers(const ocl_call *call)
{
    ocl_launch l;
    ocl_nest t;
    const tsr_integers_params *p = call->op->params;
    const uint64_t range = (uint64_t)p->high - (uint64_t)p->low;
    const bool narrow = range <= (uint64_t)1 << 32;
    OCL_TRY(begin(&l, &t, call, narrow ? "integers_narrow" : "integers_wide"));
    ocl_arg(&l, sizeof p->seed, &p->seed);
    ocl_arg_long(&l, p->low);
    ocl_arg(&l, sizeof range, &range);
    return ocl_end(&l, narrow ? (t.count + 3) / 4 : (t.count + 1) / 2);
}

static tsr_status run_exponential(const ocl_call *call)
{
    ocl_launch l;
    ocl_nest t;
    const tsr_exponential_params *p = call->op->params;
    OCL_TRY(begin(&l, &t, call, "exponential_numbers"));
    ocl_arg(&l, sizeof p->seed, &p->seed);
    ocl_arg_wide(&l, p->rate);
    return end(&l, &t, call->op->out[0]->dtype);
}

static tsr_status run(const ocl_call *call)
{
    ocl_launch l;
    ocl_nest t;
    const tsr_op *op = call->op;
    const tsr_random_params *p = op->params;
    if (op->kind == TSR_OP_INTEGERS) return run_integers(call);
    if (op->kind == TSR_OP_EXPONENTIAL) return run_exponential(call);
    OCL_TRY(begin(&l, &t, call, op->kind == TSR_OP_UNIFORM ? "uniform_numbers" : "normal_numbers"));
    ocl_arg(&l, sizeof p->seed, &p->seed);
    if (op->kind == TSR_OP_UNIFORM) {
        const bounds b = bounds_of(part_of(op->out[0]->dtype), p->low, p->high);
        ocl_arg_wide(&l, b.low);
        ocl_arg_wide(&l, b.width);
        ocl_arg_wide(&l, b.unit);
        ocl_arg_wide(&l, b.first);
        ocl_arg_wide(&l, b.last);
    }
    return end(&l, &t, op->out[0]->dtype);
}

const ocl_runner ocl_runner_random = { can, run };
