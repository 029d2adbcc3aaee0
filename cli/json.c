/* json.c - RFC 8259, the writing half. */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Text ------------------------------------------------------------------------------- */

static bool continues(unsigned char c) { return (c & 0xc0) == 0x80; }

/* The length of the UTF-8 character that text begins with; 0 if it begins with none. */
static int character_length(const unsigned char *text)
{
    const unsigned char a = text[0];
    if (a < 0x80) return 1;
    if (a < 0xc2 || a > 0xf4 || !continues(text[1])) return 0;
    if (a < 0xe0) return 2;
    if ((a == 0xe0 && text[1] < 0xa0) || (a == 0xed && text[1] > 0x9f) || !continues(text[2])) return 0;
    if (a < 0xf0) return 3;
    if ((a == 0xf0 && text[1] < 0x90) || (a == 0xf4 && text[1] > 0x8f) || !continues(text[3])) return 0;
    return 4;
}

static void print_string(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    putchar('"');
    while (*p) {
        const int length = character_length(p);
        if (length == 0)                     fputs("\\ufffd", stdout);
        else if (*p == '"' || *p == '\\')    printf("\\%c", *p);
        else if (*p == '\n')                 fputs("\\n", stdout);
        else if (*p == '\t')                 fputs("\\t", stdout);
        else if (*p < 0x20 || *p == 0x7f)    printf("\\u%04x", *p);
        else                                 printf("%.*s", length, (const char *)p);
        p += length ? length : 1;
    }
    putchar('"');
}

/* Structure -------------------------------------------------------------------------- */

static void new_line(const json *j) { printf("\n%*s", 2 * j->depth, ""); }

static void begin_member(json *j, const char *key)
{
    if (j->inside) putchar(',');
    if (j->depth > 0) new_line(j);
    if (key) {
        print_string(key);
        fputs(": ", stdout);
    }
    j->inside = true;
}

void json_open(json *j, const char *key, char bracket)
{
    begin_member(j, key);
    putchar(bracket);
    j->depth++;
    j->inside = false;
}

void json_close(json *j, char bracket)
{
    j->depth--;
    if (j->inside) new_line(j);
    putchar(bracket);
    j->inside = true;
    if (j->depth == 0) putchar('\n');
}

void json_string(json *j, const char *key, const char *text)
{
    begin_member(j, key);
    if (text) print_string(text);
    else      fputs("null", stdout);
}

void json_number(json *j, const char *key, double x)
{
    char text[32];
    begin_member(j, key);
    if (!isfinite(x)) {
        fputs("null", stdout);
        return;
    }
    snprintf(text, sizeof text, "%.15g", x); /* short where that is exact */
    if (strtod(text, NULL) != x) snprintf(text, sizeof text, "%.17g", x);
    fputs(text, stdout);
}

void json_bool(json *j, const char *key, bool x)
{
    begin_member(j, key);
    fputs(x ? "true" : "false", stdout);
}

void json_integers(json *j, const char *key, int n, const int64_t *x)
{
    begin_member(j, key);
    putchar('[');
    for (int i = 0; i < n; i++) printf("%s%" PRId64, i ? ", " : "", x[i]);
    putchar(']');
}

void json_raw(json *j, const char *key, const char *text)
{
    begin_member(j, key);
    fputs(text, stdout);
}

void json_integer(json *j, const char *key, int64_t x)
{
    begin_member(j, key);
    printf("%" PRId64, x);
}

void json_unsigned(json *j, const char *key, uint64_t x)
{
    begin_member(j, key);
    printf("%" PRIu64, x);
}
