/* op.c - the list of ops, and running one by its backend. */
#include "op.h"
#include "device_dispatch.h"
#include "backend/transfer.h"
#include "backend/registry.h"
#include "core/mem.h"

static const tsr_op_info infos[TSR_OP_COUNT] = {
#define X(ID, name, family, params, signature, flops, doc, call) \
    [TSR_OP_##ID] = { name, family, params, signature, doc, flops, call, TSR_OP_##ID },
#include "tessera/op.def"
};

const tsr_op_info *tsr_op_get_info(tsr_op_kind kind)
{
    return kind > TSR_OP_NONE && kind < TSR_OP_COUNT ? &infos[kind] : NULL;
}

tsr_op_kind tsr_op_find(const char *name)
{
    for (int kind = TSR_OP_NONE + 1; name && kind < TSR_OP_COUNT; kind++)
        if (tsri_streq(infos[kind].name, name)) return (tsr_op_kind)kind;
    return TSR_OP_NONE;
}

static tsr_status check_here(const tsr_op *op, const tsr_tensor *t)
{
    if (TSRI_LIKELY(tsri_is_plain(t))) return TSR_OK;
    const char *name = infos[op->kind].name;
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
    TSRI_CHECK(tsri_cpu_backend.supports(0, op), TSR_EUNSUPPORTED,
               "%s: the cpu backend cannot do this with %s", infos[op->kind].name,
               TSRI_DESC(&op->out[0]->desc));
    const uint32_t failures = tsri_failures();
    return tsri_backend_end(tsri_cpu_backend.run(0, op), failures, infos[op->kind].name, &tsri_cpu_backend);
}

bool tsri_op_supported(const tsr_op *op)
{
    if (TSRI_LIKELY(op->out[0]->device == TSR_CPU)) return tsri_cpu_backend.supports(0, op);
    return tsri_device_supports(op);
}

static tsr_status fit_result(tsr_tensor *t, tsri_origin *origin, const char *op, const tsr_desc *desc)
{
    bool allocated = false;
    TSRI_CHECK(t->dtype == desc->dtype, TSR_EDTYPE, "%s: the result is %s, but out holds %s", op,
               TSRI_DESC(desc), TSRI_DESC(&t->desc));
    TSRI_CHECK(tsr_desc_same_shape(&t->desc, desc), TSR_ESHAPE, "%s: the result is %s, but out holds %s", op,
               TSRI_DESC(desc), TSRI_DESC(&t->desc));
    TSRI_TRY(tsri_check_writable(op, "out", t));
    TSRI_TRY(tsri_ensure_memory(t, op, &allocated));
    *origin = allocated ? TSRI_ORIGIN_ALLOCATED : TSRI_ORIGIN_GIVEN;
    return TSR_OK;
}

tsr_status tsri_result_in(tsr_tensor **out, tsri_origin *origin, const char *op, const tsr_desc *desc,
                          tsr_device device, tsr_memory memory)
{
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", op);
    tsr_desc d;
    if (!tsr_is_none(*out)) return fit_result(*out, origin, op, desc);
    *origin = *out ? TSRI_ORIGIN_PLACED : TSRI_ORIGIN_MADE;
    if (!TSRI_LIKELY(device == TSR_CPU)) desc = tsri_laid_out(&d, desc, device);
    return tsri_make(out, op, desc, device, memory);
}

tsr_status tsri_result(tsr_tensor **out, tsri_origin *origin, const char *op, const tsr_desc *desc,
                       const tsr_tensor *beside)
{
    const tsr_device device = beside ? beside->device : tsri_device_here();
    const tsr_memory memory = beside && device != TSR_CPU ? beside->memory : TSR_MEMORY_DEFAULT;
    return tsri_result_in(out, origin, op, desc, device, memory);
}

tsr_status tsri_make_beside(tsr_tensor **out, const char *op, const tsr_desc *desc, const tsr_tensor *beside)
{
    const bool here = beside->device == TSR_CPU;
    return tsri_make(out, op, desc, beside->device, here ? TSR_MEMORY_HOST : beside->memory);
}

const tsr_tensor *tsri_leader(int n, const tsr_tensor *const *in)
{
    for (int i = 0; i < n; i++)
        if (in[i]->device != TSR_CPU) return in[i];
    return in[0];
}

tsr_status tsri_result_end(tsr_tensor **out, tsri_origin origin, tsr_status s)
{
    if (TSRI_LIKELY(s == TSR_OK) || origin == TSRI_ORIGIN_GIVEN) return s;
    if (origin == TSRI_ORIGIN_ALLOCATED) return tsri_undo_memory(*out, true, s);
    tsr_tensor *t = *out;
    tsr_release(out);
    if (origin == TSRI_ORIGIN_PLACED) *out = tsr_place_none(t);
    return s;
}

tsr_status tsri_op_make(tsr_tensor **out, const tsr_desc *desc, tsr_op *op)
{
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_TRY(tsri_result(out, &origin, infos[op->kind].name, desc, NULL));
    op->out[0] = *out;
    return tsri_result_end(out, origin, tsri_op_run(op));
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
