/* names.h - names that were mistyped: which ones were meant? */
#ifndef TSR_CLI_NAMES_H
#define TSR_CLI_NAMES_H

#include <stddef.h>

enum { NEAREST_MOST = 4 };

/* The names seen so far that are nearest to a word. Zeroed but for the word. */
typedef struct nearest {
    const char *word;
    int         count;
    const char *name[NEAREST_MOST];
    int         score[NEAREST_MOST]; /* ascending */
} nearest;

void nearest_add(nearest *best, const char *name);

/* "; did you mean softmax, log_softmax?", or "" if none is near. Returns out. */
const char *nearest_text(char *out, size_t size, const nearest *best);

#endif
