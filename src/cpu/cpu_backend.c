/* cpu_backend.c - the CPU as a backend; always present, the oracle for all others. */
#include "cpu_run.h"
#include "backend/registry.h"
#include "gemm/gemm.h"

typedef tsr_status (*run_fn)(const tsr_op *op);

static const run_fn runs[TSR_OP_COUNT] = {
    [TSR_OP_COPY]    = tsri_cpu_copy,
    [TSR_OP_FILL]    = tsri_cpu_fill,
    [TSR_OP_UNIFORM] = tsri_cpu_random,
    [TSR_OP_RANDN]   = tsri_cpu_random,
    [TSR_OP_MATMUL]    = tsri_cpu_matmul,
    [TSR_OP_MATMUL_I8] = tsri_cpu_matmul,
    [TSR_OP_GATHER]  = tsri_cpu_gather,
    [TSR_OP_SCATTER] = tsri_cpu_scatter,
    [TSR_OP_SORT]    = tsri_cpu_sort,
    [TSR_OP_ARGSORT] = tsri_cpu_sort,
    [TSR_OP_SEARCHSORTED] = tsri_cpu_searchsorted,
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

static bool supports(int device, const tsr_op *op)
{
    (void)device;
    if (op->kind == TSR_OP_MATMUL || op->kind == TSR_OP_MATMUL_I8) return tsri_cpu_has_matmul(op);
    return op->kind > TSR_OP_NONE && op->kind < TSR_OP_COUNT &&
           (runs[op->kind] || tsri_cpu_has_elementwise(op) || tsri_cpu_has_reduce(op) || tsri_cpu_has_scan(op));
}

static tsr_status run(int device, const tsr_op *op)
{
    (void)device;
    if (runs[op->kind]) return runs[op->kind](op);
    if (tsri_cpu_has_elementwise(op)) return tsri_cpu_elementwise(op);
    return tsri_cpu_has_scan(op) ? tsri_cpu_scan(op) : tsri_cpu_reduce(op);
}

const tsr_backend tsri_cpu_backend = {
    .abi = TSR_BACKEND_ABI, .size = sizeof(tsr_backend), .name = "cpu", .device_count = device_count,
    .alloc = no_alloc, .free = no_free, .supports = supports, .run = run,
};
