/* run.c - see run.h: on the CPU here, elsewhere by device_run.c. */
#include "run.h"
#include "device_run.h"
#include "registry.h"
#include "transfer.h"

static tsr_status check_here(const tsr_op *op, const tsr_tensor *t)
{
    if (TSRI_LIKELY(tsri_is_plain(t))) return TSR_OK;
    const char *name = tsr_op_get_info(op->kind)->name;
    if (t->device != TSR_CPU) return tsri_fail_devices(name, TSR_CPU, t->device);
    TSRI_CHECK(tsr_memory_is_host(t->memory), TSR_EDEVICE,
               "%s: %s lies in %s memory, which the host cannot reach", name, TSRI_DESC(&t->desc),
               tsr_memory_name(t->memory));
    return TSR_OK;
}

tsr_status tsri_op_run(const tsr_op *op)
{
    if (!TSRI_LIKELY(op->out[0]->device == TSR_CPU)) return tsri_device_run(op);
    for (int i = 0; i < op->nout; i++) TSRI_TRY(check_here(op, op->out[i]));
    for (int i = 0; i < op->nin; i++)
        if (op->in[i]) TSRI_TRY(check_here(op, op->in[i]));
    TSRI_CHECK(tsri_host_backend->supports(0, op), TSR_EUNSUPPORTED,
               "%s: the cpu backend cannot do this with %s", tsr_op_get_info(op->kind)->name,
               TSRI_DESC(&op->out[0]->desc));
    const uint32_t failures = tsri_failures();
    const tsr_status s = tsri_host_backend->run(0, op);
    if (TSRI_LIKELY(s == TSR_OK)) return s;
    return tsri_backend_end(s, failures, tsr_op_get_info(op->kind)->name, tsri_host_backend);
}

bool tsri_op_supported(const tsr_op *op)
{
    if (TSRI_LIKELY(op->out[0]->device == TSR_CPU)) return tsri_host_backend->supports(0, op);
    return tsri_device_supports(op);
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
