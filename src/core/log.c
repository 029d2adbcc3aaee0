/* log.c - the program's sink. */
#include "log.h"
#include "text.h"

static tsr_log_fn sink;
static void *context;

void tsr_set_log(tsr_log_fn fn, void *with)
{
    sink = fn;
    context = with;
}

void tsri_log(int level, const char *message)
{
    if (sink) sink(context, level, message);
}

void tsri_log_op(int level, const char *op, const char *backend, const char *why)
{
    char line[256];
    if (!sink) return;
    tsri_text text = tsri_text_into(line, sizeof line);
    tsri_put(&text, "%s: computed on the CPU, since the %s backend cannot%s%s", op, backend, why ? ": " : "",
             why ? why : "");
    tsri_log(level, line);
}
