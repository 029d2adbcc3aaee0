/* op_arguments.c - reads the calls of op.def. */
#include "op_arguments.h"

#include <stdio.h>
#include <string.h>

/* Copies the text from `from` to `to`, without blanks at its ends. */
static void set_word(char out[OP_WORD], const char *from, const char *to)
{
    while (from < to && *from == ' ') from++;
    while (to > from && to[-1] == ' ') to--;
    snprintf(out, OP_WORD, "%.*s", (int)(to - from), from);
}

/* The first `c` of a part of a text, or the part's end. */
static const char *find_in(const char *from, const char *to, char c)
{
    const char *found = memchr(from, c, (size_t)(to - from));
    return found ? found : to;
}

/* A kind that is the argument's name is not repeated in a call. */
static const char *own_kind(const char *name)
{
    static const char *const kinds[] = { "axis", "axes", "shape", "dtype", "seed", "text" };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(name, kinds[i])) return kinds[i];
    return "tensor";
}

/* "name: kind = default" or "name: enum type = default", with what may be left out left out. */
static void read_argument(op_argument *a, const char *from, const char *to, bool is_result)
{
    const char *value = find_in(from, to, '='), *kind = find_in(from, value, ':');
    *a = (op_argument){ .is_result = is_result };
    set_word(a->name, from, kind);
    if (value < to) set_word(a->value, value + 1, to);
    if (kind == value) {
        snprintf(a->kind, sizeof a->kind, "%s", own_kind(a->name));
        return;
    }
    kind += 1 + strspn(kind + 1, " ");
    const char *type = find_in(kind, value, ' ');
    set_word(a->kind, kind, type);
    set_word(a->type, type, value);
}

/* The arguments of a list with commas. Returns how many there are now. */
static int read_list(op_argument *out, int count, const char *from, const char *to, bool is_result)
{
    while (from < to && count < OP_ARGUMENTS_MOST) {
        const char *end = find_in(from, to, ',');
        read_argument(&out[count++], from, end, is_result);
        from = end < to ? end + 1 : to;
    }
    return count;
}

int op_arguments_read(op_argument out[OP_ARGUMENTS_MOST], const char *call)
{
    const char *arrow = strstr(call, "->");
    if (!arrow) return 0;
    const int count = read_list(out, 0, call, arrow, false);
    return read_list(out, count, arrow + 2, arrow + strlen(arrow), true);
}

int op_callers_read(op_argument out[OP_ARGUMENTS_MOST], const char *call)
{
    return strncmp(call, "by ", 3) ? 0 : read_list(out, 0, call + 3, call + strlen(call), false);
}
