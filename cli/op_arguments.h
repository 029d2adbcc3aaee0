/* op_arguments.h - what a public function takes and gives, read from the call of its row (op.def). */
#ifndef TSR_CLI_OP_ARGUMENTS_H
#define TSR_CLI_OP_ARGUMENTS_H

#include <stdbool.h>

enum { OP_ARGUMENTS_MOST = 16, OP_WORD = 40 };

typedef struct op_argument {
    char name[OP_WORD];
    char kind[OP_WORD];  /* tensor, axes, bool, enum, ... */
    char type[OP_WORD];  /* of an enum, a struct or a report: its name in C */
    char value[OP_WORD]; /* the default; empty if the argument must be given */
    bool is_result;
} op_argument;

/* Arguments and then results, each in the order in C. Returns how many; 0 if the op has no own function. */
int op_arguments_read(op_argument out[OP_ARGUMENTS_MOST], const char *call);

/* The names of the functions that call an op which has none of its own. Returns how many. */
int op_callers_read(op_argument out[OP_ARGUMENTS_MOST], const char *call);

#endif
