/* fault.c - sentences with a caret under the place. */
#include "fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../terminal.h"

bool fault_set(fault *f, int code, size_t at, size_t length, const char *format, ...)
{
    va_list arguments;
    if (f->found) return false;
    f->found = true;
    f->code = code;
    f->at = at;
    f->length = length;
    va_start(arguments, format);
    vsnprintf(f->text, sizeof f->text, format, arguments);
    va_end(arguments);
    return false;
}

static bool continues(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* Of a long line, the part around the place that fits. */
static void choose_part(const char *expression, size_t at, size_t *from, size_t *to)
{
    const size_t room = (size_t)terminal_width() - 4;
    *from = *to = at;
    while (*from > 0 && expression[*from - 1] != '\n') --*from;
    while (expression[*to] && expression[*to] != '\n') ++*to;
    if (*to - *from <= room) return;
    if (at - *from > room / 2) *from = at - room / 2;
    while (continues(expression[*from])) ++*from;
    if (*to - *from > room) *to = *from + room;
    while (continues(expression[*to])) --*to;
}

void fault_print(const fault *f, const char *expression)
{
    const colours c = colours_of(stderr);
    const size_t length = strlen(expression), at = f->at < length ? f->at : length;
    size_t from = 0, to = 0, carets = f->length > 0 ? f->length : 1;
    complain("eval", "%s", f->text);
    choose_part(expression, at, &from, &to);
    fputs("  ", stderr);
    for (size_t i = from; i < to; i++)
        fputc((unsigned char)expression[i] < 0x20 ? ' ' : expression[i], stderr);
    fputs("\n  ", stderr);
    for (size_t i = from; i < at; i++)
        if (!continues(expression[i])) fputc(' ', stderr);
    fputs(c.red, stderr);
    if (at + carets > to) carets = to > at ? to - at : 1;
    for (size_t i = 0; i < carets; i++)
        if (i == 0 || !continues(expression[at + i])) fputc('^', stderr);
    fprintf(stderr, "%s\n", c.off);
}
