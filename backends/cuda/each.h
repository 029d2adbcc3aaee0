/* each.h - elementwise ops: tables of kernels by class of dtypes. */
#ifndef TSRC_EACH_H
#define TSRC_EACH_H

#include "plan.h"

namespace tsrc {

enum { TSRC_EACH_AHEAD = 4 }; /* elements of a thread where it takes no neighbours */

struct EachArgs {
    tsrc_nest nest; /* result first */
    double a, b;    /* of tsr_pair_params */
    int flag;       /* which of two formats of one size (numbers.cuh) */
};

/* A kernel, and how many neighbours its threads do at once. NULL: there is none. */
struct Each {
    const void *kernel;
    int lanes;
};

/* By op, for operands of one class. */
typedef Each EachTable[TSR_OP_COUNT];

enum EachClass {
    CLASS_F8,
    CLASS_F16,
    CLASS_BF16,
    CLASS_F32,
    CLASS_F64,
    CLASS_C64,
    CLASS_C128,
    CLASS_BOOL,
    CLASS_I8,
    CLASS_I16,
    CLASS_I32,
    CLASS_I64,
    CLASS_U8,
    CLASS_U16,
    CLASS_U32,
    CLASS_U64,
    CLASS_COUNT
};

void fill_each_f8(EachTable table);
void fill_each_f16(EachTable table);
void fill_each_bf16(EachTable table);
void fill_each_f32(EachTable table);
void fill_each_f64(EachTable table);
void fill_each_complex(EachTable c64, EachTable c128);
void fill_each_bool(EachTable table);
void fill_each_integers(EachTable *by_class);

/* where(c, x, y) for elements of 2^slot bytes; slots 5 and 6 are for 4 and 8 bytes aligned by half. */
Each where_each(int slot);

} // namespace tsrc

#endif
