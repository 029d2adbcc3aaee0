/* op.c - see op.h. */
#include "op.h"
#include "backend/device_run.h"
#include "core/overlap.h"
#include "core/text.h"
#include "tessera/move.h"

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

tsr_status tsri_fail_dtype(const char *op, const char *what, uint32_t dtypes, const tsr_desc *d)
{
    char list[96];
    tsri_text text = tsri_text_into(list, sizeof list);
    tsri_put_match_dtypes(&text, dtypes);
    return tsri_fail(TSR_EDTYPE, "%s: %s: dtype must be %s, but %s is %s (tsr_cast converts)", op, what, list,
                     what, TSRI_DESC(d));
}

tsr_status tsri_check_of_list(const char *op, const char *what, int i, const tsr_tensor *t)
{
    if (TSRI_LIKELY(tsr_is_allocated(t))) return TSR_OK;
    char name[24];
    tsri_text text = tsri_text_into(name, sizeof name);
    tsri_put(&text, "%s %d", what, i);
    return tsri_check_allocated(op, name, t);
}

const tsr_tensor *tsri_leader(int n, const tsr_tensor *const *in)
{
    const tsr_tensor *first = NULL;
    for (int i = 0; i < n; i++) {
        if (!in[i]) continue;
        if (in[i]->device != TSR_CPU) return in[i];
        if (!first) first = in[i];
    }
    return first;
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

tsr_status tsri_results_add(tsri_results *r, tsr_tensor **out, const tsr_desc *desc,
                            const tsr_tensor *beside)
{
    TSRI_TRY(tsri_result(out, &r->origin[r->n], r->op, desc, beside));
    r->out[r->n++] = out;
    for (int i = 0; i < r->n - 1; i++)
        TSRI_CHECK(!tsri_overlap((*out)->data, &(*out)->desc, (*r->out[i])->data, &(*r->out[i])->desc),
                   TSR_EOVERLAP, "%s: the results overlap each other: %s and %s", r->op,
                   TSRI_DESC(&(*r->out[i])->desc), TSRI_DESC(&(*out)->desc));
    return TSR_OK;
}

/* How many characters of a message are the name of an op and ": "; 0: it begins with something else. */
static int name_length(const char *message, const char *name)
{
    int n = 0;
    while (name[n] && message[n] == name[n]) n++;
    return name[n] || message[n] != ':' || message[n + 1] != ' ' ? 0 : n + 2;
}

tsr_status tsri_blame(const char *op, tsr_status s)
{
    const char *message = tsr_last_error();
    int skip = name_length(message, op);
    if (skip > 0) return s;
    for (int i = 0; skip == 0 && tsr_op_row(i); i++) skip = name_length(message, tsr_op_row(i)->name);
    return tsri_fail(s, "%s: %s", op, message + skip);
}

tsr_status tsri_results_end(tsri_results *r, tsr_status s)
{
    while (r->n > 0) {
        r->n--;
        (void)tsri_result_end(r->out[r->n], r->origin[r->n], s);
    }
    return tsri_as_of(r->op, s);
}

tsr_status tsri_op_make(tsr_tensor **out, const tsr_desc *desc, tsr_op *op)
{
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_TRY(tsri_result(out, &origin, tsr_op_get_info(op->kind)->name, desc, NULL));
    op->out[0] = *out;
    return tsri_result_end(out, origin, tsri_op_run(op));
}

tsr_status tsri_give(tsr_tensor **out, const char *op, tsr_tensor *made, const tsr_tensor *t, tsr_status s)
{
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    if (s == TSR_OK && !*out && t->device == TSR_CPU) {
        *out = made;
        return TSR_OK;
    }
    if (s == TSR_OK) s = tsri_result(out, &origin, op, &made->desc, t);
    if (s == TSR_OK) s = tsri_result_end(out, origin, tsr_copy(*out, made));
    tsr_release(&made);
    return s;
}

tsr_status tsri_deliver(const char *op, int n, tsr_tensor **const *outs, const tsr_tensor *const *made,
                        const tsr_tensor *x)
{
    tsri_results r = { .op = op };
    tsr_status s = TSR_OK;
    int at = 0;
    for (int i = 0; i < n && s == TSR_OK; i++) {
        tsr_desc d;
        if (!made[i]) continue;
        s = tsri_desc_packed(&d, op, made[i]->dtype, made[i]->ndim, made[i]->shape);
        if (s == TSR_OK) s = tsri_results_add(&r, outs[i], &d, x);
    }
    for (int i = 0; i < n && s == TSR_OK; i++)
        if (made[i]) s = tsri_copy_run(*r.out[at++], made[i]);
    return tsri_results_end(&r, s);
}
