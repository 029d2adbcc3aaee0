/* filename.c - bytes of a name as %XX. */
#include "filename.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "room.h"

static bool is_capital(unsigned char c) { return c >= 'A' && c <= 'Z'; }

static bool is_coded(const char *name, size_t i, bool codes_capitals)
{
    const unsigned char c = (unsigned char)name[i];
    if (i == 0 && (c == '.' || c == '-')) return true;
    return c < 0x20 || c == 0x7f || c == '/' || c == '\\' || c == '%' || (codes_capitals && is_capital(c));
}

char *filename_of(const char *name, bool codes_capitals)
{
    char *out = room_for(3 * strlen(name) + 2, 1);
    size_t n = 0;
    for (size_t i = 0; name[i]; i++) {
        if (is_coded(name, i, codes_capitals))
            n += (size_t)sprintf(out + n, "%%%02X", (unsigned char)name[i]);
        else out[n++] = name[i];
    }
    if (n == 0) out[0] = '%';
    return out;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static char *decode(const char *text)
{
    char *out = room_for(strlen(text) + 1, 1);
    size_t n = 0;
    if (!strcmp(text, "%")) return out;
    for (const char *p = text; *p; p++) {
        const int high = p[0] == '%' ? digit_of(p[1]) : -1, low = high >= 0 ? digit_of(p[2]) : -1;
        if (low >= 0) p += 2;
        out[n++] = low >= 0 ? (char)(16 * high + low) : *p;
    }
    return out;
}

char *name_of_filename(const char *filename)
{
    char *name = decode(filename), *plain = filename_of(name, false), *coded = filename_of(name, true);
    const bool ours = !strcmp(plain, filename) || !strcmp(coded, filename);
    free(plain);
    free(coded);
    if (ours) return name;
    free(name);
    return copy_of_text(filename);
}

static int fold(char c) { return is_capital((unsigned char)c) ? c + ('a' - 'A') : (unsigned char)c; }

int compare_folded(const char *a, const char *b)
{
    while (*a && fold(*a) == fold(*b)) { a++; b++; }
    return fold(*a) - fold(*b);
}
