/* room.c - malloc that does not come back empty-handed. */
#include "room.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static void *need(void *p)
{
    if (p) return p;
    complain(NULL, "there is not enough memory");
    exit(EXIT_NO);
}

void *room_for(size_t count, size_t size) { return need(calloc(count ? count : 1, size ? size : 1)); }

void *room_for_more(void *list, size_t count, size_t size)
{
    if (count & (count - 1)) return list; /* between two powers of two */
    if (count > SIZE_MAX / 2 / size) return need(NULL);
    return need(realloc(list, (count ? 2 * count : 1) * size));
}

char *copy_of(const char *text, size_t length)
{
    char *copy = room_for(length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

char *copy_of_text(const char *text) { return copy_of(text, strlen(text)); }

char *printable_copy(const char *text)
{
    char *copy = copy_of_text(text);
    make_printable(copy);
    return copy;
}

char *text_of(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = room_for((size_t)(length < 0 ? 0 : length) + 1, 1);
    va_start(arguments, format);
    vsnprintf(text, (size_t)(length < 0 ? 0 : length) + 1, format, arguments);
    va_end(arguments);
    return text;
}
