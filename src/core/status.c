/* status.c - names of statuses, and the last failure of each thread. */
#include "status_int.h"
#include "failures.h"
#include "text.h"

static TSRI_PER_THREAD char message[TSRI_MESSAGE];
static TSRI_PER_THREAD tsr_status last = TSR_OK;
TSRI_PER_THREAD uint32_t tsri_failure_count;

#define TSRI_STR_(x) #x
#define TSRI_STR(x) TSRI_STR_(x)

const char *tsr_version(void)
{
    return TSRI_STR(TSR_VERSION_MAJOR) "." TSRI_STR(TSR_VERSION_MINOR) "." TSRI_STR(TSR_VERSION_PATCH);
}

int tsr_build_max_ndim(void) { return TSR_MAX_NDIM; }

const char *tsr_status_name(tsr_status status)
{
    switch (status) {
#define X(ID, number, text) case TSR_##ID: return "TSR_" #ID;
#include "tessera/status.def"
#undef X
    default: return "TSR_?";
    }
}

const char *tsr_status_text(tsr_status status)
{
    switch (status) {
#define X(ID, number, text) case TSR_##ID: return text;
#include "tessera/status.def"
#undef X
    default: return "no such status";
    }
}

const char *tsr_last_error(void) { return message; }
tsr_status tsr_last_status(void) { return last; }

void tsr_clear_error(void)
{
    message[0] = '\0';
    last = TSR_OK;
}

tsr_status tsri_fail(tsr_status status, const char *fmt, ...)
{
    /* Written to another place first: an argument may be the last message itself. */
    char fresh[TSRI_MESSAGE];
    tsri_text text = tsri_text_into(fresh, sizeof fresh);
    va_list args;
    va_start(args, fmt);
    tsri_putv(&text, fmt, args);
    va_end(args);
    return tsri_fail_text(status, fresh);
}

tsr_status tsri_fail_text(tsr_status status, const char *text)
{
    tsri_text copy = tsri_text_into(message, sizeof message);
    for (; *text; text++) tsri_put_char(&copy, *text);
    last = status;
    tsri_failure_count++;
    return status;
}

uint32_t tsri_failures(void) { return tsri_failure_count; }
