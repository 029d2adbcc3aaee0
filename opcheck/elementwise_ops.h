/* elementwise_ops.h - the elementwise ops of op.def: how each is called, and the facts of its row. */
#ifndef TSR_OPCHECK_ELEMENTWISE_OPS_H
#define TSR_OPCHECK_ELEMENTWISE_OPS_H

#include "tessera/op.h"

/* Of .errors: f16 and shorter, and the others. */
enum { ERRORS_SHORT, ERRORS_F32, ERRORS_F64, ERRORS_C64, ERRORS_C128, ERRORS_COUNT };

/* What op.def says at the end of a row. */
typedef struct elementwise_facts {
    double range[2];              /* both 0: any number */
    double params[2];
    double errors[ERRORS_COUNT];
    bool   of_terms, narrow;
    double device_error, device_least;
} elementwise_facts;

typedef struct elementwise_op {
    tsr_op_kind kind;
    const char *name;
    int         nin, nparams;
    union {
        tsr_status (*one)(tsr_tensor **out, const tsr_tensor *x);
        tsr_status (*one_a)(tsr_tensor **out, const tsr_tensor *x, double a);
        tsr_status (*one_ab)(tsr_tensor **out, const tsr_tensor *x, double a, double b);
        tsr_status (*two)(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y);
        tsr_status (*three)(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y, const tsr_tensor *w);
        tsr_status (*three_a)(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *y, const tsr_tensor *w,
                              double a);
    } call;
    elementwise_facts facts;
} elementwise_op;

extern const elementwise_op elementwise_ops[];
extern const int elementwise_count;

/* NULL if the op is of another family. */
const elementwise_op *elementwise_find(tsr_op_kind kind);

/* params: a and b; NULL stands for those of the op's row. */
tsr_status elementwise_call(const elementwise_op *op, tsr_tensor **out, const tsr_tensor *const *in,
                            const double *params);

#endif
