/* rows.h - ops by their rows: what each one takes, and how it is called.
 *
 * The table and the functions behind it are made by generate.py of op.def and the headers. */
#ifndef TSRPY_ROWS_H
#define TSRPY_ROWS_H

#include <tessera/tessera.h>

typedef enum argument_kind {
    KIND_TENSOR, KIND_TENSORS, KIND_GIVEN, KIND_GIVENS, KIND_AXIS, KIND_AXES, KIND_INT, KIND_INT64,
    KIND_INTS, KIND_SHAPE, KIND_INT3, KIND_DOUBLE3, KIND_DOUBLE, KIND_BOOL, KIND_SCALAR, KIND_DTYPE,
    KIND_SEED, KIND_TEXT, KIND_ENUM,
    KIND_WANT /* is a result that may be left out asked for? */
} argument_kind;

enum { MOST_ARGUMENTS = 16, MOST_RESULTS = 4, MOST_ITEMS = 64 };

/* A parsed argument. */
typedef struct value {
    union {
        const tsr_tensor        *t;
        tsr_tensor              *given;
        const tsr_tensor *const *tensors;
        tsr_tensor *const       *givens;
        const int64_t           *ints;  /* NULL: none */
        const int               *axes;  /* NULL: all */
        int64_t                  i;
        uint64_t                 u;
        double                   d;
        bool                     b;
        tsr_scalar               s;
        tsr_dtype                dtype;
        const char              *text;
        int64_t                  three[3];
        double                   doubles[3];
    };
    int n;  /* length of a list */
} value;

typedef struct argument {
    const char        *name;
    argument_kind      kind;
    bool               shares;        /* a list as long as the one before it, which C is told once */
    const char        *default_text;  /* as op.def writes it; NULL: must be given */
    const char *const *choices;       /* of an enum, in the order of its numbers */
} argument;

typedef enum returns_kind { RETURNS_TENSORS, RETURNS_LIST, RETURNS_BOOL, RETURNS_GIVEN } returns_kind;

typedef tsr_status (*row_function)(tsr_tensor **results, bool *answer, const value *values);

typedef struct row {
    const char     *name, *family, *doc;
    row_function    call;
    const argument *arguments;
    int             count;     /* arguments */
    int             by_place;  /* of those, may be given without their name */
    returns_kind    returns;
    int             results;
} row;

extern const row rows_of_ops[];  /* ends with a NULL name */

/* How a function is called and what it gives, for those that have no row. */
typedef struct example { const char *name, *text; } example;
extern const example examples[];  /* ends with a NULL name */

#endif
