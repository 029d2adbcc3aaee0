/* formats.c - formats by name, by first bytes, by the end of a path. */
#include "io_int.h"

static const tsri_format *const formats[] = {
#define X(name) &tsri_##name,
#include "formats.def"
#undef X
};
const char tsri_format_list[] =
#define X(name) " " #name
#include "formats.def"
#undef X
    ;

enum { FORMATS = sizeof formats / sizeof *formats };

const tsr_format_info *tsr_format_get_info(int index)
{
    return index >= 0 && index < FORMATS ? &formats[index]->info : NULL;
}

const tsri_format *tsri_format_named(const char *name)
{
    for (int i = 0; i < FORMATS; i++)
        if (tsri_streq(formats[i]->info.name, name)) return formats[i];
    return NULL;
}

const tsri_format *tsri_format_of_bytes(const unsigned char *head, size_t bytes)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i]->is && formats[i]->is(head, bytes)) return formats[i];
    return NULL;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool ends_with(const char *path, size_t length, const char *ending, size_t n)
{
    if (length < n) return false;
    for (size_t i = 0; i < n; i++)
        if (lower(path[length - n + i]) != ending[i]) return false;
    return true;
}

const tsri_format *tsri_format_of_path(const char *path)
{
    const size_t length = tsri_strlen(path);
    for (int i = 0; i < FORMATS; i++)
        for (const char *e = formats[i]->info.endings; *e;) {
            size_t n = 0;
            while (e[n] && e[n] != ' ') n++;
            if (ends_with(path, length, e, n)) return formats[i];
            e += n;
            while (*e == ' ') e++;
        }
    return NULL;
}

const tsr_format_info *tsr_format_of_path(const char *path)
{
    const tsri_format *format = path ? tsri_format_of_path(path) : NULL;
    return format ? &format->info : NULL;
}
