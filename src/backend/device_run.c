/* device_run.c - ops on devices that are not the CPU: on a stream, in parts, or on the CPU. */
#include "device_run.h"
#include "core/atomic.h"
#include "core/env.h"
#include "core/failures.h"
#include "core/lock.h"
#include "core/log.h"
#include "core/mem.h"
#include "streams.h"
#include "transfer.h"

tsr_status tsri_fail_devices(const char *op, tsr_device a, tsr_device b)
{
    char first[40], second[40];
    (void)tsr_device_name(first, sizeof first, a);
    (void)tsr_device_name(second, sizeof second, b);
    return tsri_fail(TSR_EDEVICE, "%s: operands on %s and %s (tsr_to moves)", op, first, second);
}

/* Counting ---------------------------------------------------------------------------- */

enum { RUN, IN_PARTS, ELSEWHERE, REFUSED, OUTCOMES };
static int64_t counts[TSR_OP_COUNT][OUTCOMES];

static void count(tsr_op_kind kind, int outcome) { (void)tsri_fetch_add(&counts[kind][outcome], 1); }

void tsri_count_in_parts(tsr_op_kind kind) { count(kind, IN_PARTS); }

void tsr_op_get_stats(tsr_op_stats *out, tsr_op_kind kind)
{
    if (!out) return;
    *out = (tsr_op_stats){ 0 };
    for (int k = 0; k < TSR_OP_COUNT; k++) {
        if (kind != TSR_OP_NONE && (int)kind != k) continue;
        out->run += tsri_load_relaxed(&counts[k][RUN]);
        out->in_parts += tsri_load_relaxed(&counts[k][IN_PARTS]);
        out->elsewhere += tsri_load_relaxed(&counts[k][ELSEWHERE]);
        out->refused += tsri_load_relaxed(&counts[k][REFUSED]);
    }
}

void tsr_op_reset_stats(void)
{
    for (int k = 0; k < TSR_OP_COUNT; k++)
        for (int outcome = 0; outcome < OUTCOMES; outcome++) tsri_store_relaxed(&counts[k][outcome], 0);
}

/* The policy ---------------------------------------------------------------------------- */

enum { NOT_READ = -1 };
static int32_t policy = NOT_READ;
static tsri_once chosen = TSRI_ONCE_INIT;

static tsr_fallback policy_of_environment(void)
{
    const char *text = tsri_env("TSR_FALLBACK");
    if (text && tsri_streq(text, "warn")) return TSR_FALLBACK_WARN;
    if (text && tsri_streq(text, "allow")) return TSR_FALLBACK_ALLOW;
    return TSR_FALLBACK_ERROR;
}

static void choose(void) { tsri_store_release(&policy, (int32_t)policy_of_environment()); }

/* The variable is read first: a thread that reads it now must not undo this. */
tsr_status tsr_set_fallback(tsr_fallback wanted)
{
    TSRI_CHECK((unsigned)wanted <= TSR_FALLBACK_ALLOW, TSR_EINVAL, "set_fallback: %d is no policy",
               (int)wanted);
    tsri_once_run(&chosen, choose);
    tsri_store_release(&policy, (int32_t)wanted);
    return TSR_OK;
}

tsr_fallback tsr_get_fallback(void)
{
    if (tsri_load_acquire(&policy) == NOT_READ) tsri_once_run(&chosen, choose);
    return (tsr_fallback)tsri_load_acquire(&policy);
}

/* Runs the op on the CPU, with copies of its operands and results. */
static tsr_status run_on_copies(const tsr_op *op)
{
    tsr_tensor *in[TSR_OP_MAX_IN] = { NULL }, *out[TSR_OP_MAX_OUT] = { NULL };
    tsr_op here = *op;
    tsr_status s = TSR_OK;
    for (int i = 0; i < op->nin && s == TSR_OK; i++) {
        here.in[i] = op->in[i];
        if (op->in[i]) s = tsri_copy_to_host(&here.in[i], &in[i]);
    }
    for (int i = 0; i < op->nout && s == TSR_OK; i++) {
        tsr_desc d;
        s = tsri_desc_packed_like(&d, &op->out[i]->desc, op->out[i]->dtype);
        if (s == TSR_OK)
            s = tsri_make(&out[i], tsr_op_get_info(op->kind)->name, &d, TSR_CPU, TSR_MEMORY_HOST);
        /* scatter alone reads its result: elements that no index names stay as they are */
        if (s == TSR_OK && op->kind == TSR_OP_SCATTER) s = tsri_transfer(out[i], op->out[i], false);
        here.out[i] = out[i];
    }
    here.stream = NULL;
    if (s == TSR_OK) s = tsri_op_run(&here);
    for (int i = 0; i < op->nout && s == TSR_OK; i++) s = tsri_transfer(op->out[i], out[i], false);
    for (int i = 0; i < op->nin; i++) tsr_release(&in[i]);
    for (int i = 0; i < op->nout; i++) tsr_release(&out[i]);
    return s;
}

static tsr_status run_elsewhere(const tsr_op *op, const tsr_backend *backend, int index)
{
    const char *name = tsr_op_get_info(op->kind)->name,
               *why = backend->why_not ? backend->why_not(index, op) : NULL;
    const tsr_fallback now = tsr_get_fallback();
    if (now == TSR_FALLBACK_ERROR) {
        count(op->kind, REFUSED);
        return tsri_fail(
            TSR_EUNSUPPORTED,
            "%s: the %s backend cannot do this with %s%s%s (TSR_FALLBACK=allow computes it on the CPU)", name,
            backend->name, TSRI_DESC(&op->out[0]->desc), why ? ": " : "", why ? why : "");
    }
    count(op->kind, ELSEWHERE);
    if (now == TSR_FALLBACK_WARN) tsri_log_op(TSR_LOG_WARNING, name, backend->name, why);
    return run_on_copies(op);
}

/* Numbers ------------------------------------------------------------------------------- */

/* Is it one element in the host's memory, repeated by strides of 0? */
static bool is_number(const tsr_tensor *t)
{
    for (int i = 0; i < t->ndim; i++)
        if (t->shape[i] != 1 && t->stride[i] != 0) return false;
    return tsri_is_here(t);
}

/* *view = a copy of the number in the device's memory, with the shape of t. */
static tsr_status carry_number(tsr_tensor *view, tsr_tensor **temporary, const tsr_tensor *t,
                               tsr_device device)
{
    tsr_desc one;
    tsr_scalar value;
    TSRI_TRY(tsr_desc_init(&one, t->dtype, 0, NULL, NULL));
    TSRI_TRY(tsri_make(temporary, "number", &one, device, TSR_MEMORY_DEFAULT));
    if (tsr_numel(t) > 0) {
        TSRI_TRY(tsr_scalar_load(&value, t->dtype, t->data));
        TSRI_TRY(tsri_fill_run(*temporary, value));
    }
    *view = **temporary;
    tsri_desc_copy(&view->desc, &t->desc);
    for (int i = 0; i < view->ndim; i++) view->stride[i] = 0;
    return TSR_OK;
}

/* Running ------------------------------------------------------------------------------- */

typedef struct context {
    tsr_op      op;
    tsr_tensor  view[TSR_OP_MAX_IN];
    tsr_tensor *temporary[TSR_OP_MAX_IN];
} context;

static tsr_status gather_operands(context *j, const tsr_op *op)
{
    const tsr_device device = op->out[0]->device;
    const char *name = tsr_op_get_info(op->kind)->name;
    j->op = *op;
    for (int i = 0; i < op->nout; i++)
        if (op->out[i]->device != device) return tsri_fail_devices(name, device, op->out[i]->device);
    for (int i = 0; i < op->nin; i++) {
        const tsr_tensor *t = op->in[i];
        if (!t || t->device == device) continue;
        if (!is_number(t)) return tsri_fail_devices(name, device, t->device);
        TSRI_TRY(carry_number(&j->view[i], &j->temporary[i], t, device));
        j->op.in[i] = &j->view[i];
    }
    return TSR_OK;
}

/* Notes that the stream uses the operands' memory, which is then not reused before the stream is done. */
static void mark_operands(const tsr_op *op, int stream)
{
    for (int i = 0; i < op->nout; i++) tsri_storage_used(op->out[i]->storage, stream);
    for (int i = 0; i < op->nin; i++)
        if (op->in[i]) tsri_storage_used(op->in[i]->storage, stream);
}

static tsr_status run_there(tsr_op *op, const tsri_planned *planned)
{
    tsri_planned own;
    const tsr_device device = op->out[0]->device;
    if (!planned) {
        TSRI_TRY(tsri_backend_of(&own.backend, &own.index, tsr_op_get_info(op->kind)->name, device));
        if (!tsri_plan_ask(&own, op)) return run_elsewhere(op, own.backend, own.index);
        planned = &own;
    }
    const int stream = tsri_stream_now(device, &op->stream);
    const tsr_status s = tsri_plan_do(planned, op);
    mark_operands(op, stream);
    count(op->kind, RUN);
    return s;
}

static bool has_elements(const tsr_op *op)
{
    bool some = false;
    for (int i = 0; i < op->nout; i++) some = some || tsr_numel(op->out[i]) > 0;
    return some;
}

tsr_status tsri_device_run(const tsr_op *op, const tsri_planned *planned)
{
    context j;
    if (!has_elements(op)) return TSR_OK;
    for (int i = 0; i < op->nin; i++) j.temporary[i] = NULL;
    tsr_status s = gather_operands(&j, op);
    if (s == TSR_OK) s = run_there(&j.op, planned && !planned->carries ? planned : NULL);
    for (int i = 0; i < op->nin; i++)
        if (j.temporary[i]) tsr_release(&j.temporary[i]);
    return s;
}

/* n pairs that are all on the device, at once. */
static tsr_status copy_together(const tsr_backend *backend, int index, int n, tsr_tensor *dst,
                                const tsr_tensor *const *src)
{
    tsr_tensor *to[TSRI_PIECES];
    void *handle;
    const uint32_t failures = tsri_failure_count;
    const int stream = tsri_stream_now(dst->device, &handle);
    for (int i = 0; i < n; i++) to[i] = &dst[i];
    const tsr_status s = backend->copy_pieces(index, n, to, src, handle);
    for (int i = 0; i < n; i++) {
        tsri_storage_used(dst[i].storage, stream);
        tsri_storage_used(src[i]->storage, stream);
    }
    count(TSR_OP_COPY, RUN);
    return s == TSR_OK ? s : tsri_backend_end(s, failures, "copy", backend);
}

tsr_status tsri_device_copies(int n, tsr_tensor *dst, const tsr_tensor *const *src)
{
    const tsr_backend *backend;
    int index;
    bool there = true;
    TSRI_TRY(tsri_backend_of(&backend, &index, "copy", dst->device));
    for (int i = 0; i < n; i++) there = there && src[i]->device == dst->device;
    if (there && backend->copy_pieces) return copy_together(backend, index, n, dst, src);
    for (int i = 0; i < n; i++)
        TSRI_TRY(tsri_op_run(
            &(tsr_op){ .kind = TSR_OP_COPY, .nin = 1, .nout = 1, .in = { src[i] }, .out = { &dst[i] } }));
    return TSR_OK;
}

bool tsri_device_in_range(const tsr_tensor *t, int64_t low, int64_t high)
{
    const tsr_backend *backend;
    void *handle;
    int index;
    int64_t least = 0, most = 0;
    if (tsr_numel(t) == 0) return true;
    if (tsri_backend_of(&backend, &index, "index", t->device) != TSR_OK) return false;
    if (!backend->index_range) return false;
    (void)tsri_stream_now(t->device, &handle);
    return backend->index_range(index, t, &least, &most, handle) == TSR_OK && least >= low && most <= high;
}

bool tsri_device_plan(tsri_planned *out, const tsr_op *op)
{
    tsr_op asked = *op;
    tsr_tensor view[TSR_OP_MAX_IN];
    const tsr_device device = op->out[0]->device;
    out->carries = false;
    for (int i = 0; i < op->nin; i++) {
        if (!op->in[i] || op->in[i]->device == device) continue;
        view[i] = *op->in[i];
        view[i].device = device;
        asked.in[i] = &view[i];
        out->carries = true;
    }
    return tsri_backend_of(&out->backend, &out->index, tsr_op_get_info(op->kind)->name, device) == TSR_OK &&
           tsri_plan_ask(out, &asked);
}

/* Are all operands on this device? */
static bool are_on(tsr_device device, int n, const tsr_op *ops)
{
    bool are = true;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < ops[i].nin; k++) are = are && ops[i].in[k]->device == device;
        for (int k = 0; k < ops[i].nout; k++) are = are && ops[i].out[k]->device == device;
    }
    return are;
}

bool tsri_device_run_all(tsr_status *s, int n, tsr_op *ops)
{
    const tsr_backend *backend;
    int index;
    const tsr_device device = ops[0].out[0]->device;
    const char *name = tsr_op_get_info(ops[0].kind)->name;
    if (!are_on(device, n, ops) || tsri_backend_of(&backend, &index, name, device) != TSR_OK ||
        !tsri_takes_all(backend, index, n, ops))
        return false;
    const int stream = tsri_stream_now(device, &ops[0].stream);
    for (int i = 1; i < n; i++) ops[i].stream = ops[0].stream;
    const uint32_t failures = tsri_failure_count;
    const tsr_status status = backend->run_all(index, n, ops);
    if (status == TSR_EUNSUPPORTED) return false;
    *s = tsri_backend_end(status, failures, name, backend);
    for (int i = 0; i < n; i++) {
        mark_operands(&ops[i], stream);
        count(ops[i].kind, RUN);
    }
    return true;
}

/* Copies to the host -------------------------------------------------------------------------- */

tsr_status tsri_copy_to_host(const tsr_tensor **t, tsr_tensor **temporary)
{
    tsr_tensor *copy = NULL;
    if (TSRI_LIKELY(tsri_is_here(*t))) return TSR_OK;
    TSRI_TRY(tsri_packed_here(&copy, *t));
    tsr_release(temporary);
    *t = *temporary = copy;
    return TSR_OK;
}

enum { NOWHERE = -1 };
static TSRI_PER_THREAD tsr_device here = NOWHERE;

tsr_device tsri_device_here(void) { return here == NOWHERE ? tsr_device_default() : here; }

tsr_device tsri_work_on(tsr_device device)
{
    const tsr_device before = here;
    here = device;
    return before;
}

const tsr_desc *tsri_laid_out(tsr_desc *room, const tsr_desc *d, tsr_device device)
{
    if (d->ndim != 2 || tsr_device_layout(device) != TSR_LAYOUT_COLUMN || !tsri_is_packed(d)) return d;
    tsri_desc_copy(room, d);
    room->stride[0] = 1;
    room->stride[1] = d->shape[0] > 1 ? d->shape[0] : 1;
    return room;
}
