/* names.h - a set of texts: does it have this one? */
#ifndef TSRI_NAMES_H
#define TSRI_NAMES_H

#include "bump.h"

/* Zeroed, it is empty. A table of a power of two, at most half full. */
typedef struct tsri_names {
    const char **table;
    size_t       room, used;  /* used counts those that were removed too */
} tsri_names;

bool tsri_names_have(const tsri_names *names, const char *name);

/* The text must stay. False when there is no memory. */
bool tsri_names_add(tsri_names *names, tsri_bump *memory, const char *name);
void tsri_names_remove(tsri_names *names, const char *name);

#endif
