/* text.c - see text.h. */
#include "text.h"

void tsri_put_chars(tsri_text *text, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const size_t at = text->length++;
        if (at + 1 >= text->size) continue;
        text->out[at] = s[i];
        text->out[at + 1] = '\0';
    }
}

void tsri_put_char(tsri_text *text, char c) { tsri_put_chars(text, &c, 1); }

void tsri_put_repeat(tsri_text *text, char c, int64_t n)
{
    for (; n > 0; n--) tsri_put_char(text, c);
}

/* Digits of v, last first, in base 10 or 16. */
static int digits_of(char digits[24], uint64_t v, unsigned base)
{
    int n = 0;
    do digits[n++] = "0123456789abcdef"[v % base];
    while ((v /= base) != 0);
    return n;
}

static void put_unsigned(tsri_text *text, uint64_t v, unsigned base)
{
    char digits[24];
    for (int n = digits_of(digits, v, base); n > 0;) tsri_put_char(text, digits[--n]);
}

void tsri_put_u64(tsri_text *text, uint64_t v) { put_unsigned(text, v, 10); }

void tsri_put_i64(tsri_text *text, int64_t v)
{
    if (v < 0) tsri_put_char(text, '-');
    put_unsigned(text, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 10);
}

typedef struct spec {
    bool left;
    int  width, precision;   /* precision -1: none */
    char size;               /* 0, 'l', 'L' (long long), 'z', 'j', 't' */
} spec;

static const char *parse_number(const char *p, int *out, va_list *args)
{
    if (*p == '*') {
        *out = va_arg(*args, int);
        return p + 1;
    }
    for (*out = 0; *p >= '0' && *p <= '9'; p++) *out = *out * 10 + (*p - '0');
    return p;
}

static const char *parse_spec(const char *p, spec *s, va_list *args)
{
    *s = (spec){ .precision = -1 };
    if (*p == '-') { s->left = true; p++; }
    p = parse_number(p, &s->width, args);
    if (*p == '.') p = parse_number(p + 1, &s->precision, args);
    switch (*p) {
    case 'l':
        s->size = p[1] == 'l' ? 'L' : 'l';
        p += p[1] == 'l' ? 2 : 1;
        break;
    case 'z': case 'j': case 't':
        s->size = *p++;
        break;
    default:
        break;
    }
    return p;
}

static int64_t next_signed(const spec *s, va_list *args)
{
    switch (s->size) {
    case 'l': return va_arg(*args, long);
    case 'L': return va_arg(*args, long long);
    case 'j': return va_arg(*args, intmax_t);
    case 'z': case 't': return va_arg(*args, ptrdiff_t);
    default:  return va_arg(*args, int);
    }
}

static uint64_t next_unsigned(const spec *s, va_list *args)
{
    switch (s->size) {
    case 'l': return va_arg(*args, unsigned long);
    case 'L': return va_arg(*args, unsigned long long);
    case 'j': return va_arg(*args, uintmax_t);
    case 'z': case 't': return va_arg(*args, size_t);
    default:  return va_arg(*args, unsigned);
    }
}

static void put_string(tsri_text *text, const spec *s, const char *string)
{
    size_t n = 0;
    if (!string) string = "(null)";
    while ((s->precision < 0 || n < (size_t)s->precision) && string[n] != '\0') n++;
    tsri_put_chars(text, string, n);
}

/* One directive, unpadded. */
static void put_directive(tsri_text *text, const spec *s, char what, va_list *args)
{
    switch (what) {
    case 's': put_string(text, s, va_arg(*args, const char *)); break;
    case 'c': tsri_put_char(text, (char)va_arg(*args, int)); break;
    case 'd': case 'i': tsri_put_i64(text, next_signed(s, args)); break;
    case 'u': tsri_put_u64(text, next_unsigned(s, args)); break;
    case 'x': put_unsigned(text, next_unsigned(s, args), 16); break;
    case 'g': tsri_put_f64(text, va_arg(*args, double)); break;
    case 'p':
        tsri_put_chars(text, "0x", 2);
        put_unsigned(text, (uintptr_t)va_arg(*args, void *), 16);
        break;
    default: tsri_put_char(text, what); break;
    }
}

void tsri_putv(tsri_text *text, const char *fmt, va_list list)
{
    va_list args;
    va_copy(args, list);
    for (const char *p = fmt; *p; p++) {
        if (*p != '%') {
            tsri_put_char(text, *p);
            continue;
        }
        spec s;
        p = parse_spec(p + 1, &s, &args);
        if (*p == '\0') break;
        char small[128];
        tsri_text piece = tsri_text_into(small, sizeof small);
        if (s.width == 0) {
            put_directive(text, &s, *p, &args);
            continue;
        }
        put_directive(&piece, &s, *p, &args);
        const size_t n = piece.length < sizeof small ? piece.length : sizeof small - 1;
        const int64_t pad = s.width - (int64_t)n;
        if (!s.left) tsri_put_repeat(text, ' ', pad);
        tsri_put_chars(text, small, n);
        if (s.left) tsri_put_repeat(text, ' ', pad);
    }
    va_end(args);
}

void tsri_put(tsri_text *text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    tsri_putv(text, fmt, args);
    va_end(args);
}
