/* null.c - a device that accepts everything and computes nothing.
 *
 * For measuring the dispatch to a device alone: the cost, allocations and order of calls. Memory is the
 * host's; results hold whatever was there. */
#include <stdlib.h>
#include <string.h>

#include <tessera/backend.h>

static const tsr_host *host;

static int count(void) { return 1; }

static tsr_status take(void **out, int device, size_t bytes, tsr_memory kind)
{
    enum { ALIGNMENT = 128 };
    (void)device; (void)kind;
    if (bytes > SIZE_MAX - ALIGNMENT) return host->fail(TSR_ENOMEM, "null: more bytes than there are");
    *out = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    return *out ? TSR_OK : host->fail(TSR_ENOMEM, "null: the host has no memory left");
}

static void give(int device, void *data, size_t bytes, tsr_memory kind)
{
    (void)device; (void)bytes; (void)kind;
    free(data);
}

static bool can(int device, const tsr_op *op)
{
    (void)device; (void)op;
    return true;
}

static tsr_status run(int device, const tsr_op *op)
{
    (void)device; (void)op;
    return TSR_OK;
}

static tsr_status describe(int device, tsr_device_info *out)
{
    (void)device;
    strcpy(out->name, "nothing");
    strcpy(out->capabilities, "f64 f16 bf16");
    return TSR_OK;
}

static const tsr_backend table = {
    .abi = TSR_BACKEND_ABI, .size = sizeof(tsr_backend), .name = "null", .device_count = count, .alloc = take,
    .free = give, .supports = can, .run = run, .device_info = describe,
};

TSR_API const tsr_backend *tsr_backend_entry(const tsr_host *services);
const tsr_backend *tsr_backend_entry(const tsr_host *services)
{
    host = services;
    return &table;
}
