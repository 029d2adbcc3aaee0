/* json.h - just enough JSON: a reader that walks a text once, and a writer of strings.
 *
 * The caller takes the kind of value that it expects next, or skips one. No function recurses:
 * skipping counts brackets. Messages of errors have the offset of the byte. */
#ifndef TSRI_JSON_H
#define TSRI_JSON_H

#include "core/text.h"
#include "io_int.h"

typedef struct tsri_json {
    const tsr_file *file;
    const char     *begin, *at, *end;
} tsri_json;

/* "...: byte 17: expected WHAT". */
tsr_status tsri_json_expected(const tsri_json *j, const char *what);

/* The next character that is no space, without taking it; 0 at the end. */
char tsri_json_peek(tsri_json *j);

/* Takes one character, or fails. */
tsr_status tsri_json_take(tsri_json *j, char c);

/* Steps through "{ key: value, ... }" or "[ value, ... ]": call with *first true, then take what
 * is there, and call again; *more is false when the closing bracket has been taken. */
tsr_status tsri_json_next(tsri_json *j, char closing, bool *first, bool *more);

/* A string, unescaped, in the file's memory, valid UTF-8. TSR_EFORMAT if it holds a zero. */
tsr_status tsri_json_text(tsri_json *j, tsr_file *f, const char **out, size_t *length);

/* A string and the colon after it. */
tsr_status tsri_json_key(tsri_json *j, tsr_file *f, const char **out);

/* A whole number from 0 to 2^63 - 1. */
tsr_status tsri_json_size(tsri_json *j, int64_t *out);

/* Any value, up to 64 brackets deep. */
tsr_status tsri_json_skip(tsri_json *j);

/* Is nothing left but spaces? */
bool tsri_json_at_end(tsri_json *j);

/* "text" with quotes and escapes. */
void tsri_put_json(tsri_text *text, const char *s, size_t length);

/* Are these bytes UTF-8? */
bool tsri_is_utf8(const char *s, size_t length);

#endif
