/* listing.h - which tensors, and in which order: --select and --sort of every command that lists them. */
#ifndef TSR_CLI_LISTING_H
#define TSR_CLI_LISTING_H

#include "source.h"

enum { SELECTS_MOST = 64 };

/* What the command line asks for. Zeroed, then read. */
typedef struct listing {
    const char *select, *sort;           /* as options give them */
    const char *selects[SELECTS_MOST];
    int         count;
} listing;

#define LISTING_OPTIONS(l)                           \
    { "--select", "PATTERN", NULL, &(l).select },    \
    { "--sort", "ORDER", NULL, &(l).sort }

#define LISTING_HELP                                                                  \
    "  --select PATTERN  only tensors whose names match: 'layers.0.*', 'a,b', [0-9];\n" \
    "                    may be given several times\n"

/* Every --select; called before read_options. False after a complaint. */
bool listing_read(listing *l, const char *who, int argc, char **argv);

/* Is --sort one of these words, separated by spaces, or not given? False after a complaint. */
bool listing_check(const listing *l, const char *who, const char *orders);

/* Keeps the items of a source that match, and sorts them by l->sort, or else by `order`: "file"
 * (as they lie in files), "name", "size" (largest first), "dtype" or "shape"; any other word leaves
 * them by name. */
void listing_apply(const listing *l, source *s, const char *order);

/* Complains that --select left nothing, if it is given. Returns EXIT_NO then, else EXIT_YES. */
int listing_found_none(const listing *l, const char *who);

#endif
