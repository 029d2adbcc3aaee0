/* hostile.c - a plugin that leaves a file MARK when its code runs, and says of itself what CASE asks for. */
#include <stdlib.h>
#include <fcntl.h>
#include <unistd.h>

#include "tessera/backend.h"

#ifdef MARK
__attribute__((constructor)) static void leave_mark(void)
{
    const int fd = open(MARK, O_CREAT | O_WRONLY, 0666);
    if (fd >= 0) (void)close(fd);
}
#endif

#ifndef CASE
#define CASE NONE
#endif
#ifndef NAME
#define NAME "hostile"
#endif

enum {
    NONE,
    WHOLE,
    OTHER_ABI,
    SHORT,
    ODD,
    NO_NAME,
    EMPTY_NAME,
    PATH_NAME,
    LONG_NAME,
    COLON_NAME,
    OTHER_NAME,
    NO_COUNT,
    NO_ALLOC,
    NO_FREE,
    NO_SUPPORTS,
    NO_RUN,
    HALF_STREAMS,
    NEGATIVE,
    TOO_MANY,
    HUGE,
    LATER
};

static int asked;

static int count(void)
{
    switch (CASE) {
    case NEGATIVE: return -5;
    case TOO_MANY: return TSR_BACKEND_DEVICES + 1;
    case HUGE: return 2000000000;
    case LATER: return asked++ ? 2000000000 : 1;
    default: return 1;
    }
}

static tsr_status allocate(void **out, int device, size_t bytes, tsr_memory kind)
{
    (void)device, (void)kind;
    *out = malloc(bytes);
    return *out ? TSR_OK : TSR_ENOMEM;
}

static void release(int device, void *data, size_t bytes, tsr_memory kind)
{
    (void)device, (void)bytes, (void)kind;
    free(data);
}

static bool supports(int device, const tsr_op *op) { return (void)device, (void)op, false; }
static tsr_status run(int device, const tsr_op *op) { return (void)device, (void)op, TSR_EUNSUPPORTED; }
static tsr_status create(void **out, int device) { return (void)out, (void)device, TSR_OK; }

TSR_API const tsr_backend *tsr_backend_entry(const tsr_host *services);
const tsr_backend *tsr_backend_entry(const tsr_host *services)
{
    static tsr_backend b = { .abi = TSR_BACKEND_ABI, .size = sizeof b, .name = NAME, .device_count = count,
                             .alloc = allocate, .free = release, .supports = supports, .run = run };
    (void)services;
    switch (CASE) {
    case NONE: return NULL;
    case OTHER_ABI: b.abi = 99; break;
    case SHORT: b.size = 8, b.name = (const char *)8; break;
    case ODD: b.size = offsetof(tsr_backend, why_not) + 3; break;
    case NO_NAME: b.name = NULL; break;
    case EMPTY_NAME: b.name = ""; break;
    case PATH_NAME: b.name = "../../x"; break;
    case LONG_NAME: b.name = "a-name-that-goes-on-and-on-and-on-and-on-and-on-and-on"; break;
    case COLON_NAME: b.name = "cpu:0"; break;
    case OTHER_NAME: b.name = "cuda"; break;
    case NO_COUNT: b.device_count = NULL; break;
    case NO_ALLOC: b.alloc = NULL; break;
    case NO_FREE: b.free = NULL; break;
    case NO_SUPPORTS: b.supports = NULL; break;
    case NO_RUN: b.run = NULL; break;
    case HALF_STREAMS: b.stream_create = create; break;
    default: break;
    }
    return &b;
}
