/* host.c - what the library does for backends. */
#include "registry.h"
#include "core/env.h"
#include "core/loop.h"
#include "core/log.h"
#include "core/mem.h"
#include "core/resample.h"

_Static_assert((int)TSR_LOOP_OPERANDS == (int)TSRI_MAX_OPERANDS,
               "a loop has room for the same operands inside and outside");

static void normalise(tsr_loop *out, int n, const tsr_tensor *const *tensors)
{
    tsri_operand operands[TSRI_MAX_OPERANDS] = { { NULL, NULL, 0 } };
    tsri_loop loop;
    for (int i = 0; i < n; i++)
        operands[i] = (tsri_operand){ tensors[i]->data, tensors[i]->stride,
                                      (int64_t)tsr_dtype_size(tensors[i]->dtype) };
    tsri_loop_build(&loop, tensors[0]->ndim, tensors[0]->shape, n, operands, 0);
    out->ndim = loop.ndim;
    out->noperands = n;
    for (int k = 0; k < n; k++) out->data[k] = loop.base[k];
    for (int d = 0; d < loop.ndim; d++) {
        out->n[d] = loop.dim[d].n;
        for (int k = 0; k < n; k++) out->step[d][k] = loop.dim[d].step[k];
    }
}

static size_t params_size(tsr_op_kind kind)
{
    static const struct { const char *name; size_t bytes;
    } structs[] = {
#define P(type) { #type, sizeof(type) }
        P(tsr_fill_params),      P(tsr_random_params), P(tsr_pair_params),     P(tsr_matmul_params),
        P(tsr_reduce_params),    P(tsr_axis_params),   P(tsr_scatter_params),  P(tsr_sort_params),
        P(tsr_search_params),    P(tsr_norm_params),   P(tsr_rope_params),     P(tsr_dropout_params),
        P(tsr_loss_params),      P(tsr_conv_params),   P(tsr_pool_params),     P(tsr_factor_params),
        P(tsr_attention_params), P(tsr_quant_params),  P(tsr_integers_params), P(tsr_exponential_params),
        P(tsr_sample_params),    P(tsr_fft_params),    P(tsr_resize_params),   P(tsr_grid_params),
        P(tsr_block_params),     P(tsr_step_params),   P(tsr_activation_params),
#undef P
    };
    const tsr_op_info *info = tsr_op_get_info(kind);
    for (size_t i = 0; info && i < sizeof structs / sizeof structs[0]; i++)
        if (tsri_streq(structs[i].name, info->params)) return structs[i].bytes;
    return 0;
}

static bool can_compute(const tsr_op *op) { return tsri_host_backend->supports(0, op); }
static tsr_status compute(const tsr_op *op) { return tsri_host_backend->run(0, op); }

static int64_t resize_table(const tsr_resize_params *p, int d, int64_t in, int64_t *first, double *weight)
{
    const tsri_resample r = tsri_resample_of(p, d, in);
    if (first) (void)tsri_resample_table(&r, first, NULL, weight);
    return tsri_resample_taps(&r);
}

const tsr_host *tsr_backend_host(void)
{
    static const tsr_host services = {
        .abi = TSR_BACKEND_ABI,
        .size = sizeof(tsr_host),
        .fail = tsr_backend_fail,
        .log = tsri_log,
        .normalise = normalise,
        .parallel_for = tsr_parallel_for,
        .op_info = tsr_op_get_info,
        .last_error = tsr_last_error,
        .params_size = params_size,
        .can_compute = can_compute,
        .compute = compute,
        .env = tsri_env,
        .resize_table = resize_table,
    };
    return &services;
}
