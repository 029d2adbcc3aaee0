/* text.c - widths of characters, and natural order. */
#include "text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "room.h"
#include "terminal.h"

typedef struct characters { uint32_t first, last; } characters;

/* East Asian wide ones and pictographs. */
static const characters wide[] = {
    { 0x1100, 0x115f },   { 0x231a, 0x231b },   { 0x2e80, 0x303e },   { 0x3041, 0x33ff },
    { 0x3400, 0x4dbf },   { 0x4e00, 0x9fff },   { 0xa000, 0xa4cf },   { 0xa960, 0xa97f },
    { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },
    { 0xffe0, 0xffe6 },   { 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff },
    { 0x20000, 0x3fffd },
};

/* Marks on the character before them, joiners and variants. */
static const characters combining[] = {
    { 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd }, { 0x064b, 0x065f }, { 0x1ab0, 0x1aff },
    { 0x1dc0, 0x1dff }, { 0x200b, 0x200f }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
};

static bool is_among(uint32_t c, const characters *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].first <= c && c <= list[i].last) return true;
    return false;
}

static int width_of(uint32_t c)
{
    if (c < 0x0300) return 1;
    if (is_among(c, combining, sizeof combining / sizeof *combining)) return 0;
    return is_among(c, wide, sizeof wide / sizeof *wide) ? 2 : 1;
}

size_t character_at(const char *text, int *columns)
{
    const unsigned char *p = (const unsigned char *)text;
    const size_t n = p[0] < 0xc0 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf8 ? 4 : 1;
    uint32_t c = n == 1 ? p[0] : p[0] & (0xffu >> (n + 1));
    *columns = 1;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) return 1;
        c = c << 6 | (p[i] & 0x3f);
    }
    *columns = width_of(c);
    return n;
}

int text_width(const char *text)
{
    int width = 0, columns = 0;
    for (; *text; width += columns) text += character_at(text, &columns);
    return width;
}

/* Bytes of the longest beginning of at most this many columns, and what marks it carries. */
static size_t bytes_of_columns(const char *text, int columns)
{
    size_t at = 0;
    for (int used = 0; text[at];) {
        int more = 0;
        const size_t n = character_at(text + at, &more);
        if (used + more > columns) break;
        used += more;
        at += n;
    }
    return at;
}

char *text_fit(const char *text, int columns)
{
    const char *const dots = writes_utf8() ? "\u2026" : "..";
    const int width = text_width(text), room = columns - text_width(dots);
    if (width <= columns) return copy_of_text(text);
    if (room < 2) return copy_of(text, bytes_of_columns(text, columns > 0 ? columns : 0));
    const int tail = room / 2;
    const size_t head = bytes_of_columns(text, room - tail);
    size_t from = bytes_of_columns(text, width - tail);
    while (text_width(text + from) > tail) { /* a wide character lay across the cut */
        int skipped = 0;
        from += character_at(text + from, &skipped);
    }
    return text_of("%.*s%s%s", (int)head, text, dots, text + from);
}

char *text_clip(const char *text, int columns)
{
    return copy_of(text, bytes_of_columns(text, columns));
}

void print_padded(const char *text, int columns, bool right)
{
    const int spaces = columns - text_width(text);
    if (right) printf("%*s%s", spaces > 0 ? spaces : 0, "", text);
    else       printf("%s%*s", text, spaces > 0 ? spaces : 0, "");
}

const char *plural(long long n) { return n == 1 ? "" : "s"; }

/* Order ------------------------------------------------------------------------------ */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static size_t digits_at(const char *text)
{
    size_t n = 0;
    while (is_digit(text[n])) n++;
    return n;
}

/* Two runs of digits by value, then by how many zeros stand before them. */
static int compare_digits(const char *a, size_t na, const char *b, size_t nb)
{
    size_t za = 0, zb = 0;
    while (za + 1 < na && a[za] == '0') za++;
    while (zb + 1 < nb && b[zb] == '0') zb++;
    if (na - za != nb - zb) return na - za < nb - zb ? -1 : 1;
    const int order = memcmp(a + za, b + zb, na - za);
    return order ? order : (za > zb) - (za < zb);
}

int compare_naturally(const char *a, const char *b)
{
    while (*a && *b) {
        const size_t na = digits_at(a), nb = digits_at(b);
        const int order = na && nb ? compare_digits(a, na, b, nb)
                                   : (unsigned char)*a - (unsigned char)*b;
        if (order) return order;
        a += na && nb ? na : 1;
        b += na && nb ? nb : 1;
    }
    return (*a != '\0') - (*b != '\0');
}

void print_heading(const char *word, bool first)
{
    const colours c = colours_of(stdout);
    char *text = printable_copy(word);
    printf("%s%s%s%s\n", first ? "" : "\n", c.bold, text, c.off);
    free(text);
}
