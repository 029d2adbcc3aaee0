/* text.h - text in columns: how wide it is, cut to fit, and the order of names with numbers in them. */
#ifndef TSR_CLI_TEXT_H
#define TSR_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Columns that a text of UTF-8 takes: 2 for a wide character, 0 for a combining one. A byte that is
 * no UTF-8 takes one. */
int text_width(const char *text);

/* Bytes of the first character of a text, which has one, and the columns it takes. */
size_t character_at(const char *text, int *columns);

/* A copy of at most `columns` columns: where a text is longer, its middle becomes an ellipsis. */
char *text_fit(const char *text, int columns);

/* A copy of the beginning of at most `columns` columns. */
char *text_clip(const char *text, int columns);

/* The text, and spaces behind it or before it until it takes `columns`. */
void print_padded(const char *text, int columns, bool right);

/* Less than, equal to or greater than 0. Digits count as numbers: layers.2 comes before layers.10. */
int compare_naturally(const char *a, const char *b);

/* One of several words of a command line, above what is told of it; an empty line before all but the
 * first. */
void print_heading(const char *word, bool first);

/* "s" unless n is 1. */
const char *plural(long long n);

#endif
