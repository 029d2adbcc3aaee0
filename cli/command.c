/* command.c - complaints and options. */
#include "command.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

void make_printable(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p; p++) {
        if (*p < 0x20 || *p == 0x7f) *p = '?';
        else if (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0) p[0] = p[1] = '?';
    }
}

/* The library names its functions and their arguments; the command has options. */
static void replace(char text[COMPLAINT_BYTES], const char *from, const char *to)
{
    char *at = strstr(text, from);
    const size_t removed = strlen(from), added = strlen(to);
    if (!at || strlen(text) + added >= COMPLAINT_BYTES) return;
    memmove(at + added, at + removed, strlen(at + removed) + 1);
    memcpy(at, to, added);
}

static void use_own_words(char text[COMPLAINT_BYTES])
{
    static const char *const words[][2] = {
        { "/dev/stdin", "standard input" },
        { "/dev/stdout", "standard output" },
        { "file_open: ", "" },
        { "file_read: ", "" },
        { "file_read_slice: ", "" },
        { "file_read_raw: ", "" },
        { "writer_create: ", "" },
        { "writer_declare: ", "" },
        { "writer_add: ", "" },
        { "writer_finish: ", "" },
        { " (tsr_cast, or another format)", "; --dtype f32 converts it" },
        { "(opts.format does)", "(--format does)" },
        { "(opts.dtype does)", "(--dtype does)" },
        { "(opts.separator chooses another)", "(--separator chooses another)" },
        { "(opts.columns chooses columns)", "(--columns chooses columns)" },
        { " (tsr_file_read_raw gives its bytes)", "" },
        { ": writer: ", ": " },
        { "(tsr_cast converts", "(astype converts" },
        { " (tsr_cast)", "; astype converts" },
        { "(tsr_stack)", "(stack has one)" },
        { "tsr_cast one of them", "astype converts one of them" },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) replace(text, words[i][0], words[i][1]);
    if (!strncmp(text, "file: ", 6)) replace(text, "file: ", "");
    if (!strncmp(text, "writer: ", 8)) replace(text, "writer: ", "");
}

static char *kept;

void keep_complaints(char text[COMPLAINT_BYTES]) { kept = text; }

static void print_complaint(const char *name, const char *format, va_list arguments)
{
    char text[COMPLAINT_BYTES];
    vsnprintf(text, sizeof text, format, arguments);
    make_printable(text);
    use_own_words(text);
    if (kept) {
        memcpy(kept, text, sizeof text);
        return;
    }
    fflush(stdout); /* so that the two streams keep their order where they meet */
    fputs("tsr: ", stderr);
    if (name) fprintf(stderr, "%s: ", name);
    fprintf(stderr, "%s\n", text);
}

int complain(const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_complaint(name, format, arguments);
    va_end(arguments);
    return EXIT_NO;
}

int complain_usage(const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_complaint(name, format, arguments);
    va_end(arguments);
    if (name) fprintf(stderr, "tsr: 'tsr help %s' tells more\n", name);
    else      fputs("tsr: 'tsr --help' tells more\n", stderr);
    return EXIT_USAGE;
}

/* Options ------------------------------------------------------------------------ */

static const option *find_option(const option *options, const char *word, size_t length)
{
    for (; options->name; options++)
        if (strlen(options->name) == length && !strncmp(options->name, word, length)) return options;
    return NULL;
}

static void complain_of_option(const char *name, const option *options, const char *word, size_t length)
{
    char text[64], near[200];
    nearest best = { .word = text };
    snprintf(text, sizeof text, "%.*s", (int)(length < 60 ? length : 60), word);
    for (; options->name; options++) nearest_add(&best, options->name);
    complain_usage(name, "there is no option %s%s", text, nearest_text(near, sizeof near, &best));
}

/* Reads the option at argv[*i], and its value. */
static bool read_option(const char *name, const option *options, int argc, char **argv, int *i)
{
    const char *word = argv[*i], *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : strlen(word);
    const option *o = find_option(options, word, length);
    if (!o) {
        complain_of_option(name, options, word, length);
        return false;
    }
    if (!o->value && equals) {
        complain_usage(name, "%s takes no value", o->name);
        return false;
    }
    if (o->value && !equals && *i + 1 >= argc) {
        complain_usage(name, "%s needs a value: %s %s", o->name, o->name, o->value);
        return false;
    }
    if (o->given) *o->given = true;
    if (o->value) *o->text = equals ? equals + 1 : argv[++*i];
    return true;
}

int read_options(const char *name, const option *options, int argc, char **argv)
{
    int words = 0;
    bool reading = true;
    for (int i = 1; i < argc; i++) {
        const bool is_option = reading && argv[i][0] == '-' && argv[i][1] && !strchr(":[", argv[i][1]);
        if (is_option && !strcmp(argv[i], "--"))  reading = false;
        else if (!is_option)                      argv[1 + words++] = argv[i];
        else if (!read_option(name, options, argc, argv, &i)) return -1;
    }
    return words;
}

int option_values(const char **values, int most, const char *name, int argc, char **argv)
{
    const size_t length = strlen(name);
    int count = 0;
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
        if (strncmp(argv[i], name, length) || (argv[i][length] && argv[i][length] != '=')) continue;
        const char *value = argv[i][length] ? argv[i] + length + 1 : i + 1 < argc ? argv[++i] : NULL;
        if (value && count < most) values[count] = value;
        count += value != NULL;
    }
    return count;
}

bool read_count(uint64_t *out, const char *name, const char *label, const char *text)
{
    char *end = NULL;
    errno = 0;
    const unsigned long long n = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno == ERANGE) {
        complain_usage(name, "%s takes a whole number of 0 .. 2^64 - 1, not '%s'", label, text);
        return false;
    }
    *out = n;
    return true;
}

bool read_number(double *out, const char *name, const char *label, const char *text)
{
    char *end = NULL;
    const double x = strtod(text, &end);
    if (end == text || *end || !isfinite(x)) {
        complain_usage(name, "%s takes a number, not '%s'", label, text);
        return false;
    }
    *out = x;
    return true;
}

bool read_seconds(double *out, const char *name, const char *label, const char *text)
{
    char *end = NULL;
    const double x = strtod(text, &end);
    if (end == text || *end || !isfinite(x) || x < 0) {
        complain_usage(name, "%s takes a number of seconds, not '%s'", label, text);
        return false;
    }
    *out = x;
    return true;
}
