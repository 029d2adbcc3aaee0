/* json.h - one JSON document on stdout, indented.
 *
 *     json j = { 0 };
 *     json_open(&j, NULL, '{');
 *     json_string(&j, "name", "add");
 *     json_open(&j, "dtypes", '[');
 *     json_string(&j, NULL, "f32");         // inside [ ], members have no key
 *     json_close(&j, ']');
 *     json_close(&j, '}');
 */
#ifndef TSR_CLI_JSON_H
#define TSR_CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>

typedef struct json {
    int  depth;
    bool inside; /* the innermost bracket has a member already */
} json;

void json_open(json *j, const char *key, char bracket);
void json_close(json *j, char bracket);

/* What is not UTF-8 becomes U+FFFD; NULL becomes null. */
void json_string(json *j, const char *key, const char *text);

/* Infinities and NaN, which JSON lacks, become null. */
void json_number(json *j, const char *key, double x);
void json_bool(json *j, const char *key, bool x);
void json_integer(json *j, const char *key, int64_t x);
void json_unsigned(json *j, const char *key, uint64_t x);

/* A shape, an index: [2, 3] in one line. */
void json_integers(json *j, const char *key, int n, const int64_t *x);

/* Text that is JSON already. */
void json_raw(json *j, const char *key, const char *text);

#endif
