/* json.c - a bounded reader of JSON (RFC 8259). */
#include "json.h"

tsr_status tsri_json_expected(const tsri_json *j, const char *what)
{
    return TSRI_DAMAGE(j->file, "byte %lld of its JSON: expected %s", (long long)(j->at - j->begin), what);
}

char tsri_json_peek(tsri_json *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\n' || *j->at == '\r' || *j->at == '\t')) j->at++;
    return j->at < j->end ? *j->at : '\0';
}

bool tsri_json_at_end(tsri_json *j)
{
    (void)tsri_json_peek(j);
    return j->at == j->end;
}

tsr_status tsri_json_take(tsri_json *j, char c)
{
    const char what[] = { '\'', c, '\'', '\0' };
    if (tsri_json_peek(j) != c) return tsri_json_expected(j, what);
    j->at++;
    return TSR_OK;
}

tsr_status tsri_json_next(tsri_json *j, char closing, bool *first, bool *more)
{
    const char c = tsri_json_peek(j);
    *more = true;
    if (c == closing) {
        j->at++;
        *more = false;
        return TSR_OK;
    }
    if (!*first) TSRI_TRY(tsri_json_take(j, ','));
    *first = false;
    return TSR_OK;
}

/* Strings ------------------------------------------------------------------------------ */

static int hex(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* The four digits after \u; -1 if they are none. */
static int32_t take_unit(tsri_json *j)
{
    int32_t v = 0;
    if (j->end - j->at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        const int h = hex(*j->at++);
        if (h < 0) return -1;
        v = v * 16 + h;
    }
    return v;
}

/* A code point above U+FFFF is two units. Zero is refused: names end with one. */
static tsr_status take_point(tsri_json *j, uint32_t *out)
{
    const int32_t high = take_unit(j);
    if (high <= 0 || (high >= 0xDC00 && high <= 0xDFFF))
        return tsri_json_expected(j, "a code point that is not 0");
    *out = (uint32_t)high;
    if (high < 0xD800 || high > 0xDBFF) return TSR_OK;
    if (j->end - j->at < 6 || j->at[0] != '\\' || j->at[1] != 'u')
        return tsri_json_expected(j, "the other half of a code point");
    j->at += 2;
    const int32_t low = take_unit(j);
    if (low < 0xDC00 || low > 0xDFFF) return tsri_json_expected(j, "the other half of a code point");
    *out = 0x10000u + ((uint32_t)(high - 0xD800) << 10) + (uint32_t)(low - 0xDC00);
    return TSR_OK;
}

static char *put_utf8(char *p, uint32_t c)
{
    if (c < 0x80) {
        *p++ = (char)c;
    } else if (c < 0x800) {
        *p++ = (char)(0xC0 | c >> 6);
        *p++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *p++ = (char)(0xE0 | c >> 12);
        *p++ = (char)(0x80 | (c >> 6 & 63));
        *p++ = (char)(0x80 | (c & 63));
    } else {
        *p++ = (char)(0xF0 | c >> 18);
        *p++ = (char)(0x80 | (c >> 12 & 63));
        *p++ = (char)(0x80 | (c >> 6 & 63));
        *p++ = (char)(0x80 | (c & 63));
    }
    return p;
}

/* string_end passes over what follows a backslash, so that there is something. */
static tsr_status take_escape(tsri_json *j, char **p)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char c = *j->at++;
    if (c == 'u') {
        uint32_t point = 0;
        TSRI_TRY(take_point(j, &point));
        *p = put_utf8(*p, point);
        return TSR_OK;
    }
    for (int i = 0; from[i]; i++)
        if (c == from[i]) {
            *(*p)++ = to[i];
            return TSR_OK;
        }
    return tsri_json_expected(j, "an escape that JSON has");
}

/* The end of a string that begins at `at`: its closing quote, or the end of the text. */
static const char *string_end(const tsri_json *j, const char *at)
{
    for (; at < j->end && *at != '"'; at++)
        if (*at == '\\' && at + 1 < j->end) at++;
    return at;
}

tsr_status tsri_json_text(tsri_json *j, tsr_file *f, const char **out, size_t *length)
{
    TSRI_TRY(tsri_json_take(j, '"'));
    const char *stop = string_end(j, j->at);
    if (stop >= j->end) return tsri_json_expected(j, "a string that ends");
    /* No escape is shorter than what it stands for. */
    char *text = tsri_bump_take(&f->memory, (size_t)(stop - j->at) + 1), *p = text;
    TSRI_CHECK(text, TSR_ENOMEM, "file_open: %s: no room for its names", f->path);
    while (j->at < stop) {
        const unsigned char c = (unsigned char)*j->at++;
        if (c < 0x20) return tsri_json_expected(j, "a string without control characters");
        if (c == '\\') TSRI_TRY(take_escape(j, &p));
        else *p++ = (char)c;
    }
    j->at = stop + 1;
    *length = (size_t)(p - text);
    if (!tsri_is_utf8(text, *length)) return tsri_json_expected(j, "UTF-8 in the string before it");
    *out = text;
    return TSR_OK;
}

tsr_status tsri_json_key(tsri_json *j, tsr_file *f, const char **out)
{
    size_t length;
    TSRI_TRY(tsri_json_text(j, f, out, &length));
    return tsri_json_take(j, ':');
}

bool tsri_is_utf8(const char *s, size_t length)
{
    const unsigned char *p = (const unsigned char *)s, *end = p + length;
    while (p < end) {
        const unsigned c = *p++;
        const int more = c < 0x80                ? 0
                         : c >= 0xC2 && c < 0xE0 ? 1
                         : c >= 0xE0 && c < 0xF0 ? 2
                         : c >= 0xF0 && c < 0xF5 ? 3
                                                 : -1;
        if (more < 0 || end - p < more) return false;
        uint32_t point = more == 0 ? c : c & (0x3Fu >> more);
        for (int i = 0; i < more; i++) {
            if ((p[i] & 0xC0) != 0x80) return false;
            point = point << 6 | (p[i] & 0x3Fu);
        }
        p += more;
        if ((more == 2 && (point < 0x800 || (point >= 0xD800 && point < 0xE000))) ||
            (more == 3 && (point < 0x10000 || point > 0x10FFFF)))
            return false;
    }
    return true;
}

/* Numbers and other values ------------------------------------------------------------- */

tsr_status tsri_json_size(tsri_json *j, int64_t *out)
{
    int64_t v = 0;
    const char c = tsri_json_peek(j);
    if (c < '0' || c > '9') return tsri_json_expected(j, "a whole number");
    if (c == '0' && j->end - j->at > 1 && j->at[1] >= '0' && j->at[1] <= '9')
        return tsri_json_expected(j, "a number without leading zeros");
    for (; j->at < j->end && *j->at >= '0' && *j->at <= '9'; j->at++)
        if (!tsri_mul(&v, v, 10) || !tsri_add(&v, v, *j->at - '0'))
            return tsri_json_expected(j, "a number below 2^63");
    if (j->at < j->end && (*j->at == '.' || *j->at == 'e' || *j->at == 'E'))
        return tsri_json_expected(j, "a whole number");
    *out = v;
    return TSR_OK;
}

static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.';
}

/* Brackets are matched by a stack of bits; what stands between them is not looked at closely. */
tsr_status tsri_json_skip(tsri_json *j)
{
    uint64_t braces = 0;
    int depth = 0;
    do {
        const char c = tsri_json_peek(j);
        if (c == '{' || c == '[') {
            if (depth == 64) return tsri_json_expected(j, "fewer than 65 brackets in each other");
            braces = braces << 1 | (c == '{');
            depth++;
            j->at++;
        } else if (c == '}' || c == ']') {
            if (depth == 0 || (braces & 1) != (c == '}'))
                return tsri_json_expected(j, "a bracket that matches");
            braces >>= 1;
            depth--;
            j->at++;
        } else if (c == '"') {
            const char *stop = string_end(j, j->at + 1);
            if (stop >= j->end) return tsri_json_expected(j, "a string that ends");
            j->at = stop + 1;
        } else if (is_plain(c)) {
            while (j->at < j->end && is_plain(*j->at)) j->at++;
        } else if ((c == ',' || c == ':') && depth > 0) {
            j->at++;
        } else {
            return tsri_json_expected(j, "a value");
        }
    } while (depth > 0);
    return TSR_OK;
}

void tsri_put_json(tsri_text *text, const char *s, size_t length)
{
    tsri_put_char(text, '"');
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\') {
            tsri_put_char(text, '\\');
            tsri_put_char(text, (char)c);
        } else if (c < 0x20) {
            static const char digits[] = "0123456789abcdef";
            tsri_put(text, "\\u00");
            tsri_put_char(text, digits[c >> 4]);
            tsri_put_char(text, digits[c & 15]);
        } else {
            tsri_put_char(text, (char)c);
        }
    }
    tsri_put_char(text, '"');
}
