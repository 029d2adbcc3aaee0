/* blocks.c - quantised blocks: as numbers, and as the weights of a layer. */
#include "dispatch.h"
#include "quant.h"
#include "tessera/move.h"
#include "tessera/ops/matmul.h"
#include "tessera/ops/quant.h"
#include "tessera/scope.h"

typedef struct block_size { const char *name; int32_t elements, bytes; } block_size;

static const block_size sizes[] = {
#define X(ID, name, number, elements, bytes) [TSR_BLOCKS_##ID] = { name, elements, bytes },
#include "core/blocks.def"
#undef X
};

/* The kind, and blocks of as many bytes as it has. */
static tsr_status check_blocks(const block_size **out, const char *name, const tsr_desc *blocks,
                               const tsr_block_params *p)
{
    const bool known = p && p->kind >= 0 && p->kind < (int)(sizeof sizes / sizeof *sizes);
    TSRI_CHECK(known, TSR_EINVAL, "%s: there is no kind %d of blocks", name, p ? (int)p->kind : -1);
    *out = &sizes[p->kind];
    TSRI_CHECK(blocks->shape[blocks->ndim - 1] == (*out)->bytes, TSR_ESHAPE,
               "%s: blocks is %s; blocks of %s are u8(..., blocks, %d)", name, TSRI_DESC(blocks),
               (*out)->name, (int)(*out)->bytes);
    return TSR_OK;
}

tsr_status tsri_infer_dequantise_blocks(tsr_desc *out, const char *name, tsr_op_kind kind,
                                        const tsr_desc *const *in, const void *params)
{
    const block_size *size = NULL;
    const int last = in[0]->ndim - 2;
    int64_t shape[TSR_MAX_NDIM];
    (void)kind;
    TSRI_TRY(check_blocks(&size, name, in[0], params));
    for (int i = 0; i < last; i++) shape[i] = in[0]->shape[i];
    TSRI_CHECK(tsri_mul(&shape[last], in[0]->shape[last], size->elements), TSR_ESHAPE,
               "%s: blocks is %s, which has more elements than 63 bits can count", name, TSRI_DESC(in[0]));
    return tsri_desc_packed(out, name, TSR_F32, last + 1, shape);
}

tsr_status tsri_infer_linear_blocks(tsr_desc *out, const char *name, tsr_op_kind kind,
                                    const tsr_desc *const *in, const void *params)
{
    const block_size *size = NULL;
    const int last = in[0]->ndim - 1;
    int64_t shape[TSR_MAX_NDIM];
    (void)kind;
    TSRI_TRY(check_blocks(&size, name, in[1], params));
    TSRI_CHECK(in[0]->shape[last] % size->elements == 0 &&
                   in[0]->shape[last] / size->elements == in[1]->shape[1],
               TSR_ESHAPE, "%s: x is %s, and a row of blocks, %s, has %lld times %d elements", name,
               TSRI_DESC(in[0]), TSRI_DESC(in[1]), (long long)in[1]->shape[1], (int)size->elements);
    for (int i = 0; i < last; i++) shape[i] = in[0]->shape[i];
    shape[last] = in[1]->shape[0];
    return tsri_desc_packed(out, name, in[0]->dtype, last + 1, shape);
}

/* In f32, rounded once at the end. */
tsr_status tsri_parts_linear_blocks(const tsr_op *op)
{
    const tsr_block_params *p = op->params;
    const tsr_tensor *b = op->nin > 2 ? op->in[2] : NULL;
    tsr_tensor *w = NULL, *x = NULL, *bias = NULL, *z = NULL;
    tsr_status s = tsr_dequantise_blocks(&w, op->in[1], (tsr_block_kind)p->kind);
    if (s == TSR_OK) s = tsr_cast(&x, op->in[0], TSR_F32);
    if (s == TSR_OK && b) s = tsr_cast(&bias, b, TSR_F32);
    if (s == TSR_OK) s = tsr_linear(&z, x, w, bias);
    if (s == TSR_OK) s = tsr_copy(op->out[0], z);
    tsr_release_all(&z, &bias, &x, &w);
    return s;
}

tsr_status tsr_dequantise_blocks(tsr_tensor **out, const tsr_tensor *blocks, tsr_block_kind kind)
{
    const tsr_block_params params = { (int32_t)kind };
    return tsri_dispatch_unary(out, TSR_OP_DEQUANTISE_BLOCKS, &params, blocks);
}

tsr_status tsr_linear_blocks(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *blocks,
                             const tsr_tensor *bias, tsr_block_kind kind)
{
    const tsr_block_params params = { (int32_t)kind };
    return tsri_dispatch(&(tsri_call){ .kind = TSR_OP_LINEAR_BLOCKS, .params = &params,
                                       .nin = bias ? 3 : 2, .in = { x, blocks, bias }, .nout = 1,
                                       .out = { out } });
}
