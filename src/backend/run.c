/* run.c - see run.h: on the CPU here, elsewhere by device_run.c. */
#include "run.h"
#include "core/failures.h"
#include "core/op_info.h"
#include "device_run.h"
#include "registry.h"
#include "transfer.h"

static tsr_status check_here(const tsr_op *op, const tsr_tensor *t)
{
    if (TSRI_LIKELY(tsri_is_plain(t))) return TSR_OK;
    const char *name = tsri_op_name(op->kind);
    if (t->device != TSR_CPU) return tsri_fail_devices(name, TSR_CPU, t->device);
    TSRI_CHECK(tsr_memory_is_host(t->memory), TSR_EDEVICE,
               "%s: %s lies in %s memory, which the host cannot reach", name, TSRI_DESC(&t->desc),
               tsr_memory_name(t->memory));
    return TSR_OK;
}

bool tsri_plan_ask(tsri_planned *p, const tsr_op *op)
{
    if (TSRI_LIKELY(p->backend->plan != NULL)) return p->backend->plan(p->index, op, &p->plan);
    p->plan.run = NULL;
    return p->backend->supports(p->index, op);
}

tsr_status tsri_plan_do(const tsri_planned *p, const tsr_op *op)
{
    const uint32_t failures = tsri_failure_count;
    const tsr_status s = TSRI_LIKELY(p->plan.run != NULL) ? p->plan.run(&p->plan, p->index, op)
                                                          : p->backend->run(p->index, op);
    if (TSRI_LIKELY(s == TSR_OK)) return s;
    return tsri_backend_end(s, failures, tsri_op_name(op->kind), p->backend);
}

static tsr_status check_all_here(const tsr_op *op)
{
    for (int i = 0; i < op->nout; i++) TSRI_TRY(check_here(op, op->out[i]));
    for (int i = 0; i < op->nin; i++)
        if (op->in[i]) TSRI_TRY(check_here(op, op->in[i]));
    return TSR_OK;
}

tsr_status tsri_op_run(const tsr_op *op)
{
    tsri_planned p;
    if (!TSRI_LIKELY(op->out[0]->device == TSR_CPU)) return tsri_device_run(op, NULL);
    TSRI_TRY(check_all_here(op));
    TSRI_CHECK(tsri_op_plan(&p, op), TSR_EUNSUPPORTED, "%s: the cpu backend cannot do this with %s",
               tsri_op_name(op->kind), TSRI_DESC(&op->out[0]->desc));
    return tsri_plan_do(&p, op);
}

tsr_status tsri_op_run_converted(const tsr_op *op, const tsr_dtype *dtypes)
{
    TSRI_TRY(check_all_here(op));
    return tsri_host->run_converted(op, dtypes);
}

bool tsri_op_plan(tsri_planned *out, const tsr_op *op)
{
    if (!TSRI_LIKELY(op->out[0]->device == TSR_CPU)) return tsri_device_plan(out, op);
    out->backend = tsri_host_backend;
    out->index = 0;
    return tsri_plan_ask(out, op);
}

tsr_status tsri_planned_run(const tsri_planned *p, const tsr_op *op)
{
    if (!TSRI_LIKELY(op->out[0]->device == TSR_CPU)) return tsri_device_run(op, p);
    TSRI_TRY(check_all_here(op));
    return tsri_plan_do(p, op);
}

bool tsri_takes_all(const tsr_backend *backend, int index, int n, const tsr_op *ops)
{
    bool takes = backend->run_all != NULL;
    for (int i = 0; i < n && takes; i++) takes = backend->supports(index, &ops[i]);
    return takes;
}

bool tsri_op_run_all(tsr_status *s, int n, tsr_op *ops)
{
    if (ops[0].out[0]->device != TSR_CPU) return tsri_device_run_all(s, n, ops);
    if (!tsri_takes_all(tsri_host_backend, 0, n, ops)) return false;
    *s = TSR_OK;
    for (int i = 0; i < n && *s == TSR_OK; i++) *s = check_all_here(&ops[i]);
    if (*s == TSR_OK) *s = tsri_host_backend->run_all(0, n, ops);
    return true;
}

tsr_status tsri_copy_run(tsr_tensor *dst, const tsr_tensor *src)
{
    if (!TSRI_LIKELY(dst->device == src->device)) return tsri_transfer(dst, src, false);
    return tsri_op_run(&(tsr_op){ .kind = TSR_OP_COPY, .nin = 1, .nout = 1, .in = { src }, .out = { dst } });
}

tsr_status tsri_fill_run(tsr_tensor *t, tsr_scalar value)
{
    const tsr_fill_params params = { value };
    return tsri_op_run(&(tsr_op){ .kind = TSR_OP_FILL, .nout = 1, .out = { t }, .params = &params });
}
