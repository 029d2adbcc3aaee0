/* ledger.c - a whole backend outside the library: the device "ledger:0".
 *
 * Its memory is the host's, its kernels are a few of its own and, for everything else, those of
 * the CPU, which the library lends. What it adds is a ledger: TSR_LEDGER=FILE writes a line
 * for each op, with the operands' shapes and the time it took. Build it as a shared object called
 * libtessera-ledger.so, put its folder into TSR_BACKEND_PATH, and ask for "ledger:0".
 *
 * A backend includes one header, exports one symbol, and links nothing of the library. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tessera/backend.h>

static const tsr_host *host; /* what the library does for us */

/* Memory ------------------------------------------------------------------------------- */

enum { ALIGNMENT = 128 };
static const size_t room = (size_t)1 << 30; /* bytes that the device has */
static size_t taken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* True if that many bytes are there; they are taken then. */
static bool reserve(size_t bytes)
{
    pthread_mutex_lock(&lock);
    const bool fits = bytes <= room - taken;
    if (fits) taken += bytes;
    pthread_mutex_unlock(&lock);
    return fits;
}

static void give_up(size_t bytes)
{
    pthread_mutex_lock(&lock);
    taken -= bytes;
    pthread_mutex_unlock(&lock);
}

/* Of any kind: ordinary, managed and media memory are all one here. */
static tsr_status take(void **out, int device, size_t bytes, tsr_memory kind)
{
    (void)device; (void)kind;
    if (!reserve(bytes)) return host->fail(TSR_ENOMEM, "ledger: the device's memory is used up");
    *out = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (*out) return TSR_OK;
    give_up(bytes);
    return host->fail(TSR_ENOMEM, "ledger: the host has no memory left");
}

static void give(int device, void *data, size_t bytes, tsr_memory kind)
{
    (void)device; (void)kind;
    free(data);
    give_up(bytes);
}

/* Kernels of our own -------------------------------------------------------------------
 *
 * The library merges and sorts the dims; a kernel walks what is left, with steps in bytes. */

typedef void (*row_fn)(char *z, const char *x, const char *y, int64_t n, const int64_t *step);

static void add_f32(char *z, const char *x, const char *y, int64_t n, const int64_t *step)
{
    for (; n > 0; n--, z += step[0], x += step[1], y += step[2])
        *(float *)(void *)z = *(const float *)(const void *)x + *(const float *)(const void *)y;
}

static void mul_f32(char *z, const char *x, const char *y, int64_t n, const int64_t *step)
{
    for (; n > 0; n--, z += step[0], x += step[1], y += step[2])
        *(float *)(void *)z = *(const float *)(const void *)x * *(const float *)(const void *)y;
}

/* All dims but the last, one loop inside the other; then a row. */
static void walk(const tsr_loop *loop, int dim, char *z, const char *x, const char *y, row_fn row)
{
    static const int64_t none[TSR_LOOP_OPERANDS];
    if (loop->ndim == 0) row(z, x, y, 1, none);
    else if (dim == loop->ndim - 1) row(z, x, y, loop->n[dim], loop->step[dim]);
    else
        for (int64_t i = 0; i < loop->n[dim]; i++)
            walk(loop, dim + 1, z + i * loop->step[dim][0], x + i * loop->step[dim][1],
                 y + i * loop->step[dim][2], row);
}

static row_fn kernel_of(const tsr_op *op)
{
    if (op->nin != 2 || op->out[0]->dtype != TSR_F32) return NULL;
    switch (op->kind) {
    case TSR_OP_ADD: return add_f32;
    case TSR_OP_MUL: return mul_f32;
    default:         return NULL;
    }
}

static void run_kernel(row_fn row, const tsr_op *op)
{
    tsr_loop loop;
    const tsr_tensor *operands[] = { op->out[0], op->in[0], op->in[1] };
    host->normalise(&loop, 3, operands);
    walk(&loop, 0, loop.data[0], loop.data[1], loop.data[2], row);
}

/* Kernels of the CPU ---------------------------------------------------------------------
 *
 * They work on tensors that say they are on the CPU; our memory is the host's, so that is no lie. */

typedef struct borrowed {
    tsr_op     op;
    tsr_tensor operand[TSR_OP_MAX_IN + TSR_OP_MAX_OUT];
} borrowed;

static tsr_tensor *as_host(tsr_tensor *place, const tsr_tensor *t)
{
    *place = *t;
    place->device = TSR_CPU;
    place->memory = TSR_MEMORY_HOST;
    return place;
}

static const tsr_op *borrow(borrowed *b, const tsr_op *op)
{
    b->op = *op;
    for (int i = 0; i < op->nin; i++)
        if (op->in[i]) b->op.in[i] = as_host(&b->operand[i], op->in[i]);
    for (int i = 0; i < op->nout; i++) b->op.out[i] = as_host(&b->operand[TSR_OP_MAX_IN + i], op->out[i]);
    return &b->op;
}

/* The ledger ------------------------------------------------------------------------------ */

static FILE *ledger;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void write_shape(const tsr_tensor *t)
{
    fprintf(ledger, " (");
    for (int i = 0; t && i < t->ndim; i++) fprintf(ledger, "%s%lld", i ? ", " : "", (long long)t->shape[i]);
    fprintf(ledger, ")");
}

static void enter(const tsr_op *op, double seconds)
{
    if (!ledger) return;
    pthread_mutex_lock(&lock);
    fprintf(ledger, "%s", host->op_info(op->kind)->name);
    for (int i = 0; i < op->nin; i++) write_shape(op->in[i]);
    fprintf(ledger, " ->");
    for (int i = 0; i < op->nout; i++) write_shape(op->out[i]);
    fprintf(ledger, " %.1f us\n", seconds * 1e6);
    fflush(ledger);
    pthread_mutex_unlock(&lock);
}

/* The table --------------------------------------------------------------------------------- */

static int count(void) { return 1; }

static bool can(int device, const tsr_op *op)
{
    borrowed b;
    (void)device;
    return kernel_of(op) || host->can_compute(borrow(&b, op));
}

static const char *why_not(int device, const tsr_op *op)
{
    (void)device; (void)op;
    return "neither ledger nor the CPU has a kernel for it";
}

static tsr_status run(int device, const tsr_op *op)
{
    borrowed b;
    (void)device;
    const double start = now();
    const row_fn row = kernel_of(op);
    tsr_status s = TSR_OK;
    if (row) run_kernel(row, op);
    else s = host->compute(borrow(&b, op));
    enter(op, now() - start);
    return s;
}

static tsr_status describe(int device, tsr_device_info *out)
{
    (void)device;
    snprintf(out->name, sizeof out->name, "host memory with a ledger");
    snprintf(out->capabilities, sizeof out->capabilities, "f64 f16 bf16");
    pthread_mutex_lock(&lock);
    out->memory_total = room;
    out->memory_free = room - taken;
    pthread_mutex_unlock(&lock);
    return TSR_OK;
}

static const tsr_backend table = {
    .abi = TSR_BACKEND_ABI, .size = sizeof(tsr_backend), .name = "ledger", .device_count = count,
    .alloc = take, .free = give, .supports = can, .run = run, .why_not = why_not, .device_info = describe,
};

TSR_API const tsr_backend *tsr_backend_entry(const tsr_host *services);
const tsr_backend *tsr_backend_entry(const tsr_host *services)
{
    const char *path = services->env("TSR_LEDGER");
    host = services;
    if (path && !ledger) ledger = fopen(path, "a");
    if (path && !ledger) {
        (void)host->fail(TSR_EIO, "ledger: the file of TSR_LEDGER cannot be written");
        return NULL;
    }
    return &table;
}
