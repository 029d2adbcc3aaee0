/* op_rows.c - the rows of op.def that are no op of a backend, behind those that are. */
#include "tessera/op.h"

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
