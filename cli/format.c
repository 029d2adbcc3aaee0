/* format.c - from --to, or the name of a result, to a format. */
#include "format.h"

#include <stdio.h>
#include <string.h>

#include "command.h"

static const tsr_format_info *find_format(const char *name)
{
    for (int i = 0; tsr_format_get_info(i); i++)
        if (!strcmp(tsr_format_get_info(i)->name, name)) return tsr_format_get_info(i);
    return NULL;
}

/* " npy npz ..." */
static const char *written_formats(char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; tsr_format_get_info(i) && used < size; i++)
        if (tsr_format_get_info(i)->writes)
            used += (size_t)snprintf(out + used, size - used, " %s", tsr_format_get_info(i)->name);
    return out;
}

const tsr_format_info *format_to_write(const char *command_name, const char *path, const char *to)
{
    const bool is_stream = !strcmp(path, "-");
    const tsr_format_info *format = to ? find_format(to) : is_stream ? NULL : tsr_format_of_path(path);
    char list[200];
    if (format && format->writes) return format;
    if (!to && is_stream)
        complain_usage(command_name, "standard output has no name that says a format: use --to FORMAT");
    else if (!to && !format)
        complain_usage(command_name, "the name %s does not say which format to write: use --to FORMAT", path);
    else
        complain_usage(command_name, "%s %s; these are written:%s", format ? format->name : to,
                       format ? "is only read" : "is no format", written_formats(list, sizeof list));
    return NULL;
}
