/* backend.cpp - the table: which family of ops does what. */
#include <cstdio>
#include <cstring>
#include <new>

#include "cuda.h"

namespace tsrc {

/* What does an op, and whether it can; NULL: always. */
struct Family {
    run_fn run;
    has_fn has;
};

static Family families[TSR_OP_COUNT];

static void enter(tsr_op_kind kind, run_fn run, has_fn has) { families[kind] = { run, has }; }

static void enter_range(tsr_op_kind first, tsr_op_kind last, run_fn run, has_fn has)
{
    for (int k = first; k <= last; k++) enter(static_cast<tsr_op_kind>(k), run, has);
}

static void fill_families()
{
    enter(TSR_OP_COPY, run_copy, nullptr);
    enter(TSR_OP_FILL, run_fill, nullptr);
    enter(TSR_OP_UNIFORM, run_random, nullptr);
    enter(TSR_OP_RANDN, run_random, nullptr);
    enter(TSR_OP_INTEGERS, run_random, nullptr);
    enter(TSR_OP_EXPONENTIAL, run_random, nullptr);
#define X(ID, name, family, ...) \
    if (!strcmp(family, "elementwise")) enter(TSR_OP_##ID, run_elementwise, has_elementwise);
#include <tessera/op.def>
#undef X
    enter(TSR_OP_GATHER, run_gather, nullptr);
    enter(TSR_OP_SCATTER, run_scatter, has_scatter);
    enter(TSR_OP_SORT, run_sort, has_sort);
    enter(TSR_OP_ARGSORT, run_sort, has_sort);
    enter(TSR_OP_SEARCHSORTED, run_searchsorted, has_sort);
    enter_range(TSR_OP_SUM, TSR_OP_ARGMIN, run_reduce, has_reduce);
    enter_range(TSR_OP_CUMSUM, TSR_OP_CUMMAX, run_scan, has_scan);
    enter(TSR_OP_MATMUL, run_matmul, has_matmul);
    enter(TSR_OP_MATMUL_I8, run_matmul, has_matmul);
    enter_range(TSR_OP_SOFTMAX, TSR_OP_CAUSAL_SOFTMAX, run_softmax, has_softmax);
    enter_range(TSR_OP_LAYER_NORM, TSR_OP_GROUP_NORM, run_norm, has_norm);
    enter(TSR_OP_ROPE, run_rope, has_rope);
    enter(TSR_OP_ROPE_WITH, run_rope, has_rope);
    enter(TSR_OP_ATTENTION, run_attention, has_attention);
    enter(TSR_OP_SELF_ATTENTION, run_attention, has_attention);
    enter(TSR_OP_DROPOUT, run_dropout, nullptr);
    enter(TSR_OP_CONV, run_conv, has_conv);
    enter(TSR_OP_LINEAR_ACTIVATION, run_linear_activation, has_linear_activation);
    enter(TSR_OP_CONV_TRANSPOSE, run_conv_grad, has_conv_grad);
    enter(TSR_OP_CONV_GRAD_WEIGHTS, run_conv_grad, has_conv_grad);
    enter_range(TSR_OP_SCALE_EACH, TSR_OP_ADAM_STEP, run_step, has_step);
    enter(TSR_OP_JOINT_NORM, run_joint_norm, has_joint_norm);
    enter_range(TSR_OP_FFT, TSR_OP_IRFFT, run_fft, has_fft);
    enter_range(TSR_OP_LU, TSR_OP_EIGH, run_factor, has_factor);
    enter(TSR_OP_RESIZE, run_resize, has_resize);
    enter(TSR_OP_GRID_SAMPLE, run_grid_sample, nullptr);
    enter(TSR_OP_LP_POOL, run_lp_pool, has_lp_pool);
}

static bool supports(int device, const tsr_op *op)
{
    (void)device;
    if (op->kind <= TSR_OP_NONE || op->kind >= TSR_OP_COUNT) return false;
    const Family &f = families[op->kind];
    return f.run && (!f.has || f.has(op));
}

static const char *why_not(int device, const tsr_op *op)
{
    (void)device;
    const bool known = op->kind > TSR_OP_NONE && op->kind < TSR_OP_COUNT && families[op->kind].run;
    return known ? "the cuda backend has no kernel for these operands"
                 : "the cuda backend does not have this op";
}

static tsr_status run(int device, const tsr_op *op)
{
    TSRC_TRY(use_device(device));
    const Work w = { op, device, stream_of(device, op->stream) };
    devices[device].last.store(op->kind, std::memory_order_relaxed);
    try {
        return families[op->kind].run(w);
    } catch (const std::bad_alloc &) { /* by a list of plans; the caller is C */
        return say(TSR_ENOMEM, "%s: out of host memory", w.name());
    }
}

static tsr_status run_all(int device, int n, const tsr_op *ops)
{
    TSRC_TRY(use_device(device));
    const Work w = { ops, device, stream_of(device, ops->stream) };
    devices[device].last.store(ops->kind, std::memory_order_relaxed);
    return run_list(w, n, ops);
}

static int device_count() { return device_total; }

static tsr_status device_info(int device, tsr_device_info *out)
{
    cudaDeviceProp p;
    size_t left = 0, total = 0;
    TSRC_TRY(use_device(device));
    TSRC_TRY(check(device, "device_info", cudaGetDeviceProperties(&p, device)));
    TSRC_TRY(check(device, "device_info", cudaMemGetInfo(&left, &total)));
    std::snprintf(out->name, sizeof out->name, "%.60s", p.name);
    std::snprintf(out->capabilities, sizeof out->capabilities,
                  "f64 f16 bf16 async graphs peer managed sm_%d%d", p.major, p.minor);
    out->memory_total = total;
    out->memory_free = left;
    out->units = p.multiProcessorCount;
    return TSR_OK;
}

static tsr_backend table;

static void fill_table()
{
    table.abi = TSR_BACKEND_ABI;
    table.size = sizeof table;
    table.name = "cuda";
    table.device_count = device_count;
    table.supports = supports;
    table.run = run;
    table.run_all = run_all;
    table.why_not = why_not;
    table.device_info = device_info;
    table.copy_pieces = copy_pieces;
    table.index_range = index_range;
    fill_memory(&table);
    fill_streams(&table);
}

} // namespace tsrc

extern "C" TSR_API const tsr_backend *tsr_backend_entry(const tsr_host *services);
extern "C" const tsr_backend *tsr_backend_entry(const tsr_host *services)
{
    using namespace tsrc;
    int count = 0;
    if (host && host != services) {
        (void)services->fail(TSR_EBUSY, "cuda: another copy of the library uses it");
        return nullptr;
    }
    host = services;
    const cudaError_t e = cudaGetDeviceCount(&count);
    if (e != cudaSuccess || count == 0) {
        (void)say(TSR_EDEVICE, "cuda: no device here (%s)",
                  e == cudaSuccess ? "none found" : cudaGetErrorString(e));
        (void)cudaGetLastError();
        return nullptr;
    }
    device_total = count < MOST_DEVICES ? count : static_cast<int>(MOST_DEVICES);
    fill_families();
    fill_table();
    return &table;
}
