/* session.c - what the device may lack, and the list of ops. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* Does the device say that it has this ("f64", "f16")? The words of its capabilities. */
static bool has_capability(const session *s, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = s->info.capabilities; (p = strstr(p, word)) != NULL; p += n)
        if ((p == s->info.capabilities || p[-1] == ' ') && (p[n] == '\0' || p[n] == ' ')) return true;
    return false;
}

const char *excuse_for(const session *s, tsr_dtype dtype)
{
    const tsr_dtype part = tsr_dtype_real(dtype);
    if (part == TSR_F64 && !has_capability(s, "f64")) return "the device has no f64";
    if (part == TSR_F16 && !has_capability(s, "f16")) return "the device has no f16";
    return NULL;
}

const char *excuse_of_trial(const trial *t, tsr_status status)
{
    static const tsr_dtype dtypes[] = { TSR_F64, TSR_C128, TSR_F16, TSR_C32 };
    const session *s = session_of(t);
    const char *words = tsr_last_error();
    if (status != TSR_EUNSUPPORTED) return NULL;
    for (int i = 0; i < 4; i++) {
        const char *at = strstr(words, tsr_dtype_name(dtypes[i]));
        const bool named = at && (at == words || at[-1] != 'b'); /* bf16 is not f16 */
        if (named && excuse_for(s, dtypes[i])) return excuse_for(s, dtypes[i]);
    }
    return excuse_for(s, t->check->dtype);
}

void break_contract(trial *t, const char *format, ...)
{
    char words[sizeof t->why];
    va_list list;
    if (t->failed) return;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    fail_trial(t, "%s", words);
    t->differs = false;
}

void add_op_checks(check_list *list)
{
    int kept = 0;
    list_everything(list);
    for (int i = 0; i < list->count; i++)
        if (!list->item[i].cpu_only) list->item[kept++] = list->item[i];
    list->count = kept;
}
