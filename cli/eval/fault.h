/* fault.h - what is wrong with an expression, and where. */
#ifndef TSR_CLI_FAULT_H
#define TSR_CLI_FAULT_H

#include <stdbool.h>
#include <stddef.h>

#include "../command.h"

typedef struct fault {
    bool   found;
    int    code;        /* the exit code it means */
    size_t at, length;  /* characters of the expression */
    char   text[600];
} fault;

/* Keeps the first fault. Returns false. */
bool fault_set(fault *f, int code, size_t at, size_t length, const char *format, ...) CLI_PRINTF(5, 6);

/* "tsr: eval: ...", the line of the expression, and carets under the place. */
void fault_print(const fault *f, const char *expression);

#endif
