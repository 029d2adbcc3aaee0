/* named_inputs.h - the inputs of op_inputs.h with their names, and the calls on them as text. */
#ifndef NAMED_INPUTS_H
#define NAMED_INPUTS_H

#include "oom/op_inputs.h"

#include <ctype.h>

static const struct input { const char *name; tsr_tensor **t; } inputs[] = {
#define I(name) { #name, &name },
    INPUTS(I)
#undef I
};
enum { INPUT_COUNT = sizeof inputs / sizeof *inputs };

/* The calls as text, with the names of their operands. */
#define TEXT(...) #__VA_ARGS__
static const char *const texts[] = {
#define CALL(name, call) TEXT(call),
#define OWN(name, call)  NULL,
#include "oom/op_calls.inc"
#undef CALL
#undef OWN
};

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static bool has_word(const char *text, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += n)
        if ((at == text || !in_word(at[-1])) && !in_word(at[n])) return true;
    return false;
}

/* Does the message of a failure begin with the name of the function that was called? */
static inline bool is_named(const char *call)
{
    const char *name = strstr(call, "tsr_") + 4;
    const size_t n = strcspn(name, "(");
    return !strncmp(tsr_last_error(), name, n) && !strncmp(tsr_last_error() + n, ": ", 2);
}

#endif
