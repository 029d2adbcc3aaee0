/* compare.h - what the device computed against what the CPU did. */
#ifndef TSR_BACKEND_CHECK_COMPARE_H
#define TSR_BACKEND_CHECK_COMPARE_H

#include "check.h"

/* Fails the trial unless result i of both sides agrees. */
void compare_results(trial *t, int i, const tolerance *e);

/* The same of two tensors, wherever they are. */
void compare_tensors(trial *t, const char *what, const tsr_tensor *got, const tsr_tensor *wanted,
                     const tolerance *e);

/* Appends the descs of the operands and results to the trial's sentence. */
void describe_operands(trial *t);

#endif
