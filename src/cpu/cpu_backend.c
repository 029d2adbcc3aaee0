/* cpu_backend.c - the CPU as a backend; always present, the oracle for all others. */
#include "attention.h"
#include "blocks.h"
#include "cpu_run.h"
#include "draw.h"
#include "quant.h"
#include "builtin.h"
#include "core/text.h"
#include "fft/fft.h"
#include "conv/conv.h"
#include "gemm/gemm.h"
#include "image/image.h"
#include "nn/nn.h"
#include "interleave.h"
#include "linalg.h"
#include "pad_rows.h"
#include "training.h"
#include "tessera/device.h"
#include "tessera/threads.h"

#if !defined(TSR_FREESTANDING) && (defined(__linux__) || defined(__APPLE__))
#include <unistd.h>
#endif

typedef tsr_status (*run_fn)(const tsr_op *op);

static const run_fn runs[TSR_OP_COUNT] = {
    [TSR_OP_COPY]    = tsri_cpu_copy,
    [TSR_OP_FILL]    = tsri_cpu_fill,
    [TSR_OP_UNIFORM] = tsri_cpu_random,
    [TSR_OP_RANDN]   = tsri_cpu_random,
    [TSR_OP_GATHER]  = tsri_cpu_gather,
    [TSR_OP_SCATTER] = tsri_cpu_scatter,
    [TSR_OP_SORT]    = tsri_cpu_sort,
    [TSR_OP_ARGSORT] = tsri_cpu_sort,
    [TSR_OP_SEARCHSORTED] = tsri_cpu_searchsorted,
    [TSR_OP_INTEGERS] = tsri_cpu_integers,
    [TSR_OP_DEQUANTISE_BLOCKS] = tsri_cpu_dequantise_blocks,
#ifndef TSR_FREESTANDING  /* large, or in need of libm: a small machine composes these from the others */
    [TSR_OP_FFT]     = tsri_cpu_fft,
    [TSR_OP_RFFT]    = tsri_cpu_fft,
    [TSR_OP_IRFFT]   = tsri_cpu_fft,
    [TSR_OP_LU]       = tsri_cpu_factor,
    [TSR_OP_SOLVE]    = tsri_cpu_factor,
    [TSR_OP_INV]      = tsri_cpu_factor,
    [TSR_OP_CHOLESKY] = tsri_cpu_factor,
    [TSR_OP_QR]       = tsri_cpu_factor,
    [TSR_OP_SVD]      = tsri_cpu_factor,
    [TSR_OP_EIGH]     = tsri_cpu_factor,
    [TSR_OP_EIG]      = tsri_cpu_factor,
    [TSR_OP_SUM]     = tsri_cpu_reduce,
    [TSR_OP_PROD]    = tsri_cpu_reduce,
    [TSR_OP_MEAN]    = tsri_cpu_reduce,
    [TSR_OP_VAR]     = tsri_cpu_reduce,
    [TSR_OP_STD]     = tsri_cpu_reduce,
    [TSR_OP_MAX]     = tsri_cpu_reduce,
    [TSR_OP_MIN]     = tsri_cpu_reduce,
    [TSR_OP_ANY]     = tsri_cpu_reduce,
    [TSR_OP_ALL]     = tsri_cpu_reduce,
    [TSR_OP_COUNT_NONZERO] = tsri_cpu_reduce,
    [TSR_OP_LOGSUMEXP] = tsri_cpu_reduce,
    [TSR_OP_NORM]    = tsri_cpu_reduce,
    [TSR_OP_ARGMAX]  = tsri_cpu_reduce,
    [TSR_OP_ARGMIN]  = tsri_cpu_reduce,
    [TSR_OP_CUMSUM]  = tsri_cpu_scan,
    [TSR_OP_CUMPROD] = tsri_cpu_scan,
    [TSR_OP_CUMMAX]  = tsri_cpu_scan,
    [TSR_OP_ATTENTION]   = tsri_cpu_attention,
    [TSR_OP_QUANTISE]    = tsri_cpu_quantise,
    [TSR_OP_DEQUANTISE]  = tsri_cpu_dequantise,
    [TSR_OP_LINEAR_BLOCKS] = tsri_cpu_linear_blocks,
    [TSR_OP_EXPONENTIAL] = tsri_cpu_exponential,
    [TSR_OP_CONV]           = tsri_cpu_conv,
    [TSR_OP_CONV_TRANSPOSE] = tsri_cpu_conv,
    [TSR_OP_MAX_POOL]       = tsri_cpu_pool,
    [TSR_OP_AVG_POOL]       = tsri_cpu_pool,
    [TSR_OP_LP_POOL]        = tsri_cpu_lp_pool,
    [TSR_OP_GRID_SAMPLE]    = tsri_cpu_grid_sample,
    [TSR_OP_RESIZE]         = tsri_cpu_resize,
    [TSR_OP_SOFTMAX]        = tsri_cpu_softmax,
    [TSR_OP_LOG_SOFTMAX]    = tsri_cpu_softmax,
    [TSR_OP_CAUSAL_SOFTMAX] = tsri_cpu_causal_softmax,
    [TSR_OP_LAYER_NORM]     = tsri_cpu_layer_norm,
    [TSR_OP_RMS_NORM]       = tsri_cpu_layer_norm,
    [TSR_OP_ADD_RMS_NORM]   = tsri_cpu_add_rms_norm,
    [TSR_OP_BATCH_NORM]     = tsri_cpu_batch_norm,
    [TSR_OP_GROUP_NORM]     = tsri_cpu_group_norm,
    [TSR_OP_ROPE]           = tsri_cpu_rope,
    [TSR_OP_ROPE_WITH]      = tsri_cpu_rope,
    [TSR_OP_DROPOUT]        = tsri_cpu_dropout,
    [TSR_OP_CROSS_ENTROPY]  = tsri_cpu_class_loss,
    [TSR_OP_NLL_LOSS]       = tsri_cpu_class_loss,
    [TSR_OP_SCALE_EACH]     = tsri_cpu_step,
    [TSR_OP_AXPY_EACH]      = tsri_cpu_step,
    [TSR_OP_SGD_STEP]       = tsri_cpu_step,
    [TSR_OP_ADAM_STEP]      = tsri_cpu_step,
    [TSR_OP_JOINT_NORM]     = tsri_cpu_joint_norm,
#endif
};

static int device_count(void) { return 1; }

/* Host memory comes from its kinds (core/memory.c) before a backend is asked. */
static tsr_status no_alloc(void **out, int device, size_t bytes, tsr_memory kind)
{
    (void)out; (void)device; (void)kind;
    return tsri_fail(TSR_EUNSUPPORTED, "cpu: %zu bytes asked of the backend", bytes);
}

static void no_free(int device, void *data, size_t bytes, tsr_memory kind)
{
    (void)device; (void)data; (void)bytes; (void)kind;
}

static tsr_status run_whole(const tsr_plan *plan, int device, const tsr_op *op)
{
    (void)device;
    return ((run_fn)plan->kernel)(op);
}

static tsr_status run_elementwise(const tsr_plan *plan, int device, const tsr_op *op)
{
    (void)device;
    return tsri_cpu_elementwise(op, (tsri_tile_fn)plan->kernel);
}

static tsr_status run_matmul(const tsr_plan *plan, int device, const tsr_op *op)
{
    (void)plan;
    (void)device;
    return tsri_cpu_matmul(op);
}

static bool plan(int device, const tsr_op *op, tsr_plan *out)
{
    (void)device;
    if (op->kind <= TSR_OP_NONE || op->kind >= TSR_OP_COUNT) return false;
    if (op->kind == TSR_OP_MATMUL || op->kind == TSR_OP_MATMUL_I8) {
        out->run = run_matmul;  /* first, as small calls are for this op more often than for those below */
        return tsri_cpu_has_matmul(op);
    }
    if (runs[op->kind]) {
        out->run = run_whole;
        out->kernel = (void (*)(void))runs[op->kind];
#ifndef TSR_FREESTANDING
        if (runs[op->kind] == tsri_cpu_step) return tsri_cpu_has_step(op);
        if (op->kind == TSR_OP_CONV || op->kind == TSR_OP_CONV_TRANSPOSE) return tsri_cpu_has_conv(op);
#endif
        return true;
    }
    out->run = run_elementwise;
    out->kernel = (void (*)(void))tsri_cpu_elementwise_kernel(op);
    return out->kernel != NULL;
}

static bool supports(int device, const tsr_op *op)
{
    tsr_plan found;
    return plan(device, op, &found);
}

static tsr_status run(int device, const tsr_op *op)
{
    tsr_plan found;
    TSRI_CHECK(plan(device, op, &found), TSR_EUNSUPPORTED, "cpu: there is no kernel for op %d",
               (int)op->kind);
    return found.run(&found, device, op);
}

static tsr_status run_all(int device, int n, const tsr_op *ops)
{
    (void)device;
#ifndef TSR_FREESTANDING
    if (runs[ops[0].kind] == tsri_cpu_step) return tsri_cpu_step_all(n, ops);
#endif
    for (int i = 0; i < n; i++) TSRI_TRY(run(0, &ops[i]));
    return TSR_OK;
}

static tsr_status device_info(int device, tsr_device_info *out)
{
    (void)device;
    tsri_text name = tsri_text_into(out->name, sizeof out->name);
    tsri_text words = tsri_text_into(out->capabilities, sizeof out->capabilities);
    tsri_put(&name, "CPU, %s kernels", tsr_cpu_isa());
    tsri_put(&words, "f64 f16 bf16");
    out->units = tsr_threads();
#if !defined(TSR_FREESTANDING) && defined(_SC_PHYS_PAGES) && defined(_SC_AVPHYS_PAGES)
    const long page = sysconf(_SC_PAGESIZE), all = sysconf(_SC_PHYS_PAGES), free = sysconf(_SC_AVPHYS_PAGES);
    if (page > 0 && all > 0 && free > 0) {
        out->memory_total = (uint64_t)page * (uint64_t)all;
        out->memory_free = (uint64_t)page * (uint64_t)free;
    }
#endif
    return TSR_OK;
}

const tsr_backend tsri_cpu_backend = {
    .abi = TSR_BACKEND_ABI, .size = sizeof(tsr_backend), .name = "cpu", .device_count = device_count,
    .alloc = no_alloc, .free = no_free, .supports = supports, .run = run,
    .device_info = device_info, .plan = plan, .run_all = run_all,
};

const tsri_host_entries tsri_cpu_entries = {
    .run_row = tsri_cpu_run_row, .reduce_row = tsri_cpu_reduce_row,
    .run_converted = tsri_cpu_run_converted,
    .stack_last = tsri_cpu_interleave, .pad = tsri_cpu_pad, .copy_piece = tsri_cpu_copy_same,
};
