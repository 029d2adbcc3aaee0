/* test_null.c - every op refuses an operand that is NULL, none or described, and a result that is NULL: with
 * the status for it, without results, in words that begin with the function's name and tell which it is. One
 * that may be left out is left out. */
#include "oom/op_inputs.h"

#include <ctype.h>
#include <stddef.h>

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

/* The row of this name in op.def, or NULL. */
static const tsr_op_info *find_row(const char *name, size_t length)
{
    const tsr_op_info *info = NULL;
    for (int i = 0; (info = tsr_op_row(i)) != NULL; i++)
        if (strlen(info->name) == length && !strncmp(info->name, name, length)) break;
    return info;
}

/* For a call of tsr_matmul: "matmul: b is NULL", where b is what its row calls an operand or a result, or an
 * element of a list ("tensor 0"). Gives the name: "b". */
static bool is_told(char *what, size_t size, const char *call)
{
    const char *name = strstr(call, "tsr_") + 4, *message = tsr_last_error(),
               *end = strstr(message, " is ");
    const size_t n = strcspn(name, "(");
    if (!end || strncmp(message, name, n) || strncmp(message + n, ": ", 2)) return false;
    (void)snprintf(what, size, "%.*s", (int)(end - message - (ptrdiff_t)n - 2), message + n + 2);
    const tsr_op_info *info = find_row(name, n);
    return !info || has_word(info->call, what) || strpbrk(what, " .");
}

static int refused;

/* A call of which something is NULL, into results that are there or not. `told` is the name that the message
 * before gave, and must be another. */
static void call_without(int k, const char *what, char told[32], tsr_status status)
{
    char now[32] = "";
    tsr_tensor *had[OUTS];
    memcpy(had, out, sizeof had);
    tsr_clear_error();
    const tsr_status s = scenarios[k].run();
    if (s != TSR_OK) {
        refused++;
        EXPECT_MSG(s == status && !memcmp(had, out, sizeof had), "%s without %s: %s", texts[k], what,
                   tsr_status_name(s));
        EXPECT_MSG(is_told(now, sizeof now, texts[k]) && strcmp(now, told) != 0, "%s without %s: %s",
                   texts[k], what, tsr_last_error());
        strcpy(told, now);
    }
    drop_results();
}

static void call_without_operands(int k, bool given, tsr_tensor *instead, tsr_status status)
{
    char told[32] = "";
    for (int i = 0; i < INPUT_COUNT; i++) {
        tsr_tensor *const had = *inputs[i].t;
        if (!has_word(texts[k], inputs[i].name)) continue;
        if (given) EXPECT_OK(scenarios[k].run());
        *inputs[i].t = instead;
        call_without(k, inputs[i].name, told, status);
        *inputs[i].t = had;
    }
}

TEST(test_every_op_refuses_operands_that_are_null_none_or_described_and_names_them)
{
    tsr_tensor none, *described = NULL;
    make_inputs();
    EXPECT_OK(tsr_declare(&described, &x->desc, TSR_CPU, TSR_MEMORY_HOST));
    for (int k = 0; k < SCENARIOS; k++)
        for (int given = 0; given < 2 && texts[k]; given++) {
            call_without_operands(k, given, NULL, TSR_ENULL);
            call_without_operands(k, given, tsr_place_none(&none), TSR_EDTYPE);
            call_without_operands(k, given, described, TSR_ESTATE);
        }
    EXPECT_MSG(refused > 6 * SCENARIOS, "%d", refused);
    tsr_release(&described);
    drop_inputs();
}

TEST(test_every_op_refuses_a_result_that_is_null_and_names_it)
{
    static const char *const words[OUTS] = { "is_left_out[0]", "is_left_out[1]", "is_left_out[2]",
                                             "is_left_out[3]" };
    make_inputs();
    refused = 0;
    for (int k = 0; k < SCENARIOS; k++) {
        char told[32] = "";
        for (int i = 0; texts[k] && i < OUTS; i++) {
            if (!strstr(texts[k], words[i])) continue;
            is_left_out[i] = true;
            call_without(k, words[i], told, TSR_ENULL);
            is_left_out[i] = false;
        }
    }
    EXPECT_MSG(refused > SCENARIOS / 2, "%d", refused);
    drop_inputs();
}
