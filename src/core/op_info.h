/* op_info.h - the rows of ops by kind, without a call. */
#ifndef TSRI_OP_INFO_H
#define TSRI_OP_INFO_H

#include "tessera/op.h"

extern const tsr_op_info tsri_op_infos[TSR_OP_COUNT];  /* kinds that there are not have no name */

static inline const char *tsri_op_name(tsr_op_kind kind) { return tsri_op_infos[kind].name; }

#endif
