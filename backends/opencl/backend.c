/* backend.c - the table, and who does which op. */
#include "nest.h"
#include "numbers.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const tsr_host *ocl_host;

const char *ocl_setting(const char *name)
{
    return ocl_host->size > offsetof(tsr_host, env) ? ocl_host->env(name) : NULL;
}

tsr_status ocl_fail(tsr_status status, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return ocl_host->fail(status, message);
}

/* Ops ------------------------------------------------------------------------------------ */

static const ocl_runner *const runners[TSR_OP_COUNT] = {
    [TSR_OP_COPY] = &ocl_runner_copy,           [TSR_OP_FILL] = &ocl_runner_fill,
    [TSR_OP_WHERE] = &ocl_runner_where,         [TSR_OP_GATHER] = &ocl_runner_gather,
    [TSR_OP_SCATTER] = &ocl_runner_scatter,     [TSR_OP_SORT] = &ocl_runner_sort,
    [TSR_OP_ARGSORT] = &ocl_runner_sort,        [TSR_OP_SEARCHSORTED] = &ocl_runner_search,
    [TSR_OP_MATMUL] = &ocl_runner_matmul,       [TSR_OP_MATMUL_I8] = &ocl_runner_matmul,
    [TSR_OP_UNIFORM] = &ocl_runner_random,      [TSR_OP_RANDN] = &ocl_runner_random,
    [TSR_OP_INTEGERS] = &ocl_runner_random,     [TSR_OP_EXPONENTIAL] = &ocl_runner_random,
    [TSR_OP_SOFTMAX] = &ocl_runner_rows,        [TSR_OP_LOG_SOFTMAX] = &ocl_runner_rows,
    [TSR_OP_CAUSAL_SOFTMAX] = &ocl_runner_rows, [TSR_OP_ROPE] = &ocl_runner_rope,
    [TSR_OP_LAYER_NORM] = &ocl_runner_rows,     [TSR_OP_RMS_NORM] = &ocl_runner_rows,
    [TSR_OP_ADD_RMS_NORM] = &ocl_runner_rows,   [TSR_OP_RESIZE] = &ocl_runner_resize,
    [TSR_OP_GRID_SAMPLE] = &ocl_runner_grid,    [TSR_OP_LP_POOL] = &ocl_runner_pool,
};

/* Families whose ops all have one, but for those above. */
static const ocl_runner *runner_of(tsr_op_kind kind)
{
    static const struct { const char *family; const ocl_runner *runner; } families[] = {
        { "elementwise", &ocl_runner_elementwise },
        { "reduce", &ocl_runner_reduce }, { "scan", &ocl_runner_scan },
    };
    const tsr_op_info *info = ocl_host->op_info(kind);
    if (!info) return NULL;
    if (kind < TSR_OP_COUNT && runners[kind]) return runners[kind];
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
        if (!strcmp(families[i].family, info->family)) return families[i].runner;
    return NULL;
}

/* c32 is stored, moved and asked whether it is zero; nothing is computed in it. */
static bool computes_c32(const tsr_op *op)
{
    const ocl_runner *runner = runner_of(op->kind);
    return op->out[0]->dtype == TSR_C32 &&
           (runner == &ocl_runner_elementwise || runner == &ocl_runner_reduce || runner == &ocl_runner_scan ||
            runner == &ocl_runner_matmul);
}

/* NULL: it can be done. */
static const char *why_not(int index, const tsr_op *op)
{
    const ocl_runner *runner = runner_of(op->kind);
    if (!runner) return "it has no kernel for this op";
    if (computes_c32(op)) return "c32 is for storage";
    return runner->can(ocl_device_at(index), op);
}

static bool supports(int index, const tsr_op *op) { return why_not(index, op) == NULL; }

static tsr_status run(int index, const tsr_op *op)
{
    const ocl_runner *runner = runner_of(op->kind);
    ocl_call call = { .device = ocl_device_at(index), .op = op };
    if (!runner || !call.device)
        return ocl_fail(TSR_EUNSUPPORTED, "opencl:%d: there is no kernel for op %d", index, (int)op->kind);
    call.name = ocl_host->op_info(op->kind)->name;
    if (ocl_numel(op->out[0]) == 0) return TSR_OK;
    OCL_TRY(ocl_stream_of(&call.stream, index, op->stream));
    return runner->run(&call);
}

/* The table ------------------------------------------------------------------------------- */

static const tsr_backend table = {
    .abi = TSR_BACKEND_ABI,
    .size = sizeof(tsr_backend),
    .name = "opencl",
    .device_count = ocl_device_count,
    .alloc = ocl_alloc,
    .free = ocl_free,
    .supports = supports,
    .run = run,
    .sync = ocl_sync,
    .why_not = why_not,
    .device_info = ocl_device_info,
    .host_alloc = ocl_host_alloc,
    .host_free = ocl_host_free,
    .upload = ocl_upload,
    .download = ocl_download,
    .stream_create = ocl_stream_create,
    .stream_destroy = ocl_stream_destroy,
    .stream_sync = ocl_stream_sync,
    .stream_wait = ocl_stream_wait,
    .event_create = ocl_event_create,
    .event_destroy = ocl_event_destroy,
    .event_record = ocl_event_record,
    .event_sync = ocl_event_sync,
    .event_done = ocl_event_done,
    .event_elapsed = ocl_event_elapsed,
};

TSR_API const tsr_backend *tsr_backend_entry(const tsr_host *services);

const tsr_backend *tsr_backend_entry(const tsr_host *services)
{
    if (ocl_host) {
        if (ocl_host == services) return &table;
        (void)services->fail(TSR_EBUSY, "opencl: another copy of the library uses it");
        return NULL;
    }
    ocl_host = services;
    const char *problem = ocl_load();
    if (!problem) problem = ocl_find_devices();
    if (!problem) return &table;
    (void)ocl_fail(TSR_EDEVICE, "opencl: %s", problem);
    ocl_host = NULL;
    return NULL;
}
