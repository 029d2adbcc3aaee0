/* op_info.c - the rows of op.def as data: the ops of backends by their kinds, and behind them the
 * composed ones. */
#include "op_info.h"
#include "mem.h"

const tsr_op_info tsri_op_infos[TSR_OP_COUNT] = {
#define X(ID, name, family, params, signature, flops, doc, call) \
    [TSR_OP_##ID] = { name, family, params, signature, doc, flops, call, TSR_OP_##ID },
#include "tessera/op.def"
};

const tsr_op_info *tsr_op_get_info(tsr_op_kind kind)
{
    return kind > TSR_OP_NONE && kind < TSR_OP_COUNT ? &tsri_op_infos[kind] : NULL;
}

tsr_op_kind tsr_op_find(const char *name)
{
    for (int kind = TSR_OP_NONE + 1; name && kind < TSR_OP_COUNT; kind++)
        if (tsri_streq(tsri_op_infos[kind].name, name)) return (tsr_op_kind)kind;
    return TSR_OP_NONE;
}

static const tsr_op_info composed[] = {
#define COMPOSED(name, family, signature, doc, call) \
    { name, family, "none", signature, doc, 0, call, TSR_OP_NONE },
#include "tessera/op.def"
};

enum { OPS = TSR_OP_COUNT - 1, COMPOSED_OPS = sizeof composed / sizeof *composed };

const tsr_op_info *tsr_op_row(int i)
{
    if (i >= 0 && i < OPS) return tsr_op_get_info((tsr_op_kind)(i + 1));
    return i >= OPS && i - OPS < COMPOSED_OPS ? &composed[i - OPS] : NULL;
}
