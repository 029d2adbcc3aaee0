/* lex.c - characters to tokens. */
#include "lex.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool begins_name(char c) { return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80; }
static bool is_name(char c) { return begins_name(c) || isdigit((unsigned char)c); }

/* Copies a number without its underscores; 0 if it is too long. */
static size_t copy_digits(char out[64], const char *p)
{
    size_t n = 0, read = 0;
    const bool hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
    for (; isalnum((unsigned char)p[read]) || p[read] == '_' || p[read] == '.' ||
           ((p[read] == '+' || p[read] == '-') && read > 0 && !hex &&
            (p[read - 1] == 'e' || p[read - 1] == 'E'));
         read++) {
        if (p[read] == '_') continue;
        if (n == 63) return 0;
        out[n++] = p[read];
    }
    out[n] = '\0';
    return read;
}

static bool lex_number(token *t, const char *p, fault *f)
{
    char digits[64], *end = NULL;
    t->kind = TOKEN_NUMBER;
    t->length = copy_digits(digits, p);
    if (t->length == 0) return fault_set(f, EXIT_USAGE, t->at, 1, "this number is too long");
    errno = 0;
    if (!strpbrk(digits, ".eEjJ") || digits[1] == 'x' || digits[1] == 'X') {
        const long long n = strtoll(digits, &end, digits[1] == 'x' || digits[1] == 'X' ? 16 : 10);
        if (errno == ERANGE)
            return fault_set(f, EXIT_USAGE, t->at, t->length, "this integer does not fit 64 bits");
        t->number = tsr_scalar_i64(n);
    } else {
        const double x = strtod(digits, &end);
        const bool imaginary = *end == 'j' || *end == 'J';
        t->number = imaginary ? tsr_scalar_c128(0, x) : tsr_scalar_f64(x);
        end += imaginary;
    }
    if (*end) return fault_set(f, EXIT_USAGE, t->at, t->length, "this is not a number");
    return true;
}

static bool lex_text(token *t, const char *p, fault *f)
{
    size_t n = 1;
    t->kind = TOKEN_TEXT;
    while (p[n] && p[n] != p[0]) n++;
    if (!p[n]) return fault_set(f, EXIT_USAGE, t->at, n, "this text does not end");
    t->length = n + 1;
    return true;
}

static bool lex_sign(token *t, const char *p, fault *f)
{
    static const char *const signs[] = { "...", "**", "//", "<<", ">>", "==", "!=", "<=", ">=", "+",
                                         "-",   "*",  "/",  "%",  "@",  "&",  "|",  "^",  "~",  "<",
                                         ">",   "=",  "(",  ")",  "[",  "]",  ",",  ":",  "." };
    t->kind = TOKEN_SIGN;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        t->length = strlen(signs[i]);
        if (strncmp(p, signs[i], t->length)) continue;
        memcpy(t->sign, signs[i], t->length + 1);
        return true;
    }
    return fault_set(f, EXIT_USAGE, t->at, 1, "'%c' means nothing here",
                     isprint((unsigned char)*p) ? *p : '?');
}

bool lex_next(token *out, const char *text, size_t from, fault *f)
{
    while (isspace((unsigned char)text[from])) from++;
    const char *p = text + from;
    *out = (token){ .kind = TOKEN_END, .at = from };
    if (!*p) return true;
    if (isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1])))
        return lex_number(out, p, f);
    if (*p == '\'' || *p == '"') return lex_text(out, p, f);
    if (!begins_name(*p)) return lex_sign(out, p, f);
    out->kind = TOKEN_NAME;
    while (is_name(p[out->length])) out->length++;
    return true;
}
