/* op_rows.h - what a row of op.def says of dtypes, for lists that are made of the rows.
 *
 *     #define UNARY(ID, name, dtypes, result, ...) TSR_IF_FLOATS_##dtypes(row(ID, name))
 *
 * keeps the rows that take floats; TSR_IF_NUMBER_##result those whose result is not bool. */
#ifndef TESSERA_OP_ROWS_H
#define TESSERA_OP_ROWS_H

#include "op.h"

#define TSR_IF_YES(...) __VA_ARGS__
#define TSR_IF_NO(...)

#define TSR_IF_FLOATS_FLOATS          TSR_IF_YES
#define TSR_IF_FLOATS_FLOATS_COMPLEX  TSR_IF_YES
#define TSR_IF_FLOATS_REALS           TSR_IF_YES
#define TSR_IF_FLOATS_REALS_COMPLEX   TSR_IF_YES
#define TSR_IF_FLOATS_ORDERED         TSR_IF_YES
#define TSR_IF_FLOATS_ALL             TSR_IF_YES
#define TSR_IF_FLOATS_INTEGERS        TSR_IF_NO
#define TSR_IF_FLOATS_BITS            TSR_IF_NO

#define TSR_IF_COMPLEX_FLOATS         TSR_IF_NO
#define TSR_IF_COMPLEX_FLOATS_COMPLEX TSR_IF_YES
#define TSR_IF_COMPLEX_REALS          TSR_IF_NO
#define TSR_IF_COMPLEX_REALS_COMPLEX  TSR_IF_YES
#define TSR_IF_COMPLEX_ORDERED        TSR_IF_NO
#define TSR_IF_COMPLEX_ALL            TSR_IF_YES
#define TSR_IF_COMPLEX_INTEGERS       TSR_IF_NO
#define TSR_IF_COMPLEX_BITS           TSR_IF_NO

#define TSR_IF_NUMBER_SAME            TSR_IF_YES
#define TSR_IF_NUMBER_PART            TSR_IF_YES
#define TSR_IF_NUMBER_BOOL            TSR_IF_NO

#endif
