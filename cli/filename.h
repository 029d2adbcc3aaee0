/* filename.h - any name of a tensor as the name of a file, and back.
 *
 * %XX stands for a byte that no file should have in its name: a slash, a backslash, a control
 * character, '%' itself, and a dot or dash at the beginning. A single '%' is the empty name. Where case
 * alone tells two names apart, their capitals are written so too, since not every file system sees it. */
#ifndef TSR_CLI_FILENAME_H
#define TSR_CLI_FILENAME_H

#include <stdbool.h>

/* Both in room of their own. */
char *filename_of(const char *name, bool codes_capitals);

/* A text that filename_of does not make stands for itself. */
char *name_of_filename(const char *filename);

/* As strcmp, but A is a. */
int compare_folded(const char *a, const char *b);

#endif
