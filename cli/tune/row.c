/* row.c - settings and tunings as text, and the file of a family in C. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune.h"

/* A part of "name=number,name=number"; a family's name is a part without '='. */
typedef struct part {
    const char *name, *number;
    int         name_length, number_length;
} part;

static bool next_part(part *p, const char **text)
{
    const char *at = *text;
    if (*at == '\0') return false;
    const int length = (int)strcspn(at, ",");
    const char *equals = memchr(at, '=', (size_t)length);
    const int before = equals ? (int)(equals - at) : length;
    *p = (part){ at, equals ? equals + 1 : at + length, before, equals ? length - before - 1 : 0 };
    *text = at + length + (at[length] == ',');
    return true;
}

static bool have_one_name(const part *a, const part *b)
{
    return a->name_length == b->name_length && !strncmp(a->name, b->name, (size_t)a->name_length);
}

/* The part of a tuning with the name of p. */
static bool find_part(part *found, const part *p, const char *tuning)
{
    while (next_part(found, &tuning))
        if (have_one_name(found, p)) return true;
    return false;
}

bool has_settings(const char *tuning, const char *settings)
{
    part p, own;
    while (next_part(&p, &settings)) {
        if (!find_part(&own, &p, tuning) || own.number_length != p.number_length) return false;
        if (strncmp(own.number, p.number, (size_t)p.number_length)) return false;
    }
    return true;
}

/* Appends to a text. */
static void put(char *out, int room, const char *text, int length)
{
    const int at = (int)strlen(out);
    snprintf(out + at, (size_t)(room - at), "%s%.*s", at > 0 ? " " : "", length, text);
}

void put_names(char *out, int room, const char *settings)
{
    part p;
    for (out[0] = '\0'; next_part(&p, &settings);) put(out, room, p.name, p.name_length);
}

static void put_number(char *out, int room, const part *p)
{
    char text[32];
    snprintf(text, sizeof text, "%.*s", p->number_length, p->number);
    if (strtoll(text, NULL, 10) == INT64_MAX) put(out, room, "never", 5);
    else put(out, room, text, p->number_length);
}

void put_numbers(char *out, int room, const char *settings, const char *tuning)
{
    part p, own;
    for (out[0] = '\0'; next_part(&p, &settings);)
        if (find_part(&own, &p, tuning)) put_number(out, room, &own);
}

/* The file of a family ----------------------------------------------------------------------- */

static void print_processor(void)
{
    char line[512];
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "model name", 10) && strchr(line, ':')) {
            const char *name = strchr(line, ':') + 1 + strspn(strchr(line, ':') + 1, " ");
            printf(": %.*s", (int)strcspn(name, "\n*/"), name);
            break;
        }
    if (f) fclose(f);
}

/* As people write it. */
static void print_number(const part *p)
{
    const int64_t x = strtoll(p->number, NULL, 10);
    if (x == INT64_MAX) printf("INT64_MAX");
    else if (x >= 1 << 20 && x % (1 << 20) == 0 && x < INT32_MAX) printf("%" PRId64 " << 20", x >> 20);
    else if (x >= 16 << 10 && x % (1 << 10) == 0 && x < INT32_MAX) printf("%" PRId64 " << 10", x >> 10);
    else printf("%" PRId64, x);
}

/* The length of "group" in "group.name", or 0. */
static int group_length(const part *p)
{
    const char *dot = memchr(p->name, '.', (size_t)p->name_length);
    return dot ? (int)(dot - p->name) : 0;
}

static void print_field(const part *p, const char *indent)
{
    const int skipped = group_length(p) > 0 ? group_length(p) + 1 : 0;
    printf("%s.%.*s = ", indent, p->name_length - skipped, p->name + skipped);
    print_number(p);
    printf(",\n");
}

static bool in_group(const part *p, const part *of)
{
    const int length = group_length(of);
    return group_length(p) == length && !strncmp(p->name, of->name, (size_t)length);
}

static void print_fields(const char *tuning)
{
    part p, before = { "", "", 0, 0 };
    while (next_part(&p, &tuning)) {
        if (p.number_length == 0) continue;
        if (!in_group(&p, &before)) {
            if (group_length(&before) > 0) printf("    },\n");
            printf("    .%.*s = {\n", group_length(&p), p.name);
        }
        print_field(&p, group_length(&p) > 0 ? "        " : "    ");
        before = p;
    }
    if (group_length(&before) > 0) printf("    },\n");
}

void print_row(const char *tuning)
{
    printf("/* this_machine.c - measured by tsr bench --tune");
    print_processor();
    printf(". */\n#include \"tuning.h\"\n\n#ifndef TSR_FREESTANDING\n\n"
           "const tsri_tuning tsri_tuning_this_machine = {\n    .name = \"this_machine\",\n");
    print_fields(tuning);
    printf("};\n\n#endif\n");
}
