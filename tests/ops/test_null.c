/* test_null.c - every op refuses an operand that is NULL, none or described, and a result that is NULL: with
 * the status for it, without results, in words that begin with the function's name and tell which it is. One
 * that may be left out is left out. */
#include "named_inputs.h"

#include <stddef.h>

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
    if (!end || !is_named(call)) return false;
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

/* Operands of another dtype, of too few and too many dims: what is refused is refused by name. */
static void call_with(int k, const struct input *operand, tsr_tensor *instead)
{
    tsr_tensor *const had = *operand->t;
    *operand->t = instead;
    tsr_clear_error();
    const tsr_status s = scenarios[k].run();
    EXPECT_MSG(s == TSR_OK || is_named(texts[k]), "%s, %s is %s: %s", texts[k], operand->name,
               tsr_dtype_name(instead->dtype), tsr_last_error());
    refused += s != TSR_OK;
    *operand->t = had;
    drop_results();
}

TEST(test_every_op_begins_what_it_says_of_operands_with_its_name)
{
    tsr_tensor *unfit[4] = { NULL };
    make_inputs();
    refused = 0;
    EXPECT_OK(tsr_zeros(&unfit[0], TSR_C32, TSR_SHAPE(5)));
    EXPECT_OK(tsr_zeros(&unfit[1], TSR_BOOL, TSR_SCALAR_SHAPE));
    EXPECT_OK(tsr_zeros(&unfit[2], TSR_F32, TSR_SHAPE(2, 1, 3, 1, 2, 1, 5)));
    EXPECT_OK(tsr_zeros(&unfit[3], TSR_I64, TSR_SHAPE(0, 7)));
    for (int k = 0; k < SCENARIOS; k++)
        for (int i = 0; i < INPUT_COUNT; i++)
            for (int u = 0; texts[k] && has_word(texts[k], inputs[i].name) && u < 4; u++)
                call_with(k, &inputs[i], unfit[u]);
    EXPECT_MSG(refused > 2 * SCENARIOS, "%d", refused);
    for (int u = 0; u < 4; u++) tsr_release(&unfit[u]);
    drop_inputs();
}

static bool is_called(const char *name)
{
    char call[64];
    (void)snprintf(call, sizeof call, "tsr_%s(", name);
    for (int k = 0; k < SCENARIOS; k++)
        if (texts[k] && strstr(texts[k], call)) return true;
    return false;
}

/* But for ops that others are called for, those that write into a tensor that is there, and questions. */
TEST(test_every_row_of_op_def_is_tried_so)
{
    const tsr_op_info *info;
    for (int i = 0; (info = tsr_op_row(i)) != NULL; i++)
        EXPECT_MSG(!strncmp(info->call, "by ", 3) || strstr(info->call, ": given") ||
                       strstr(info->call, "-> out: bool") || is_called(info->name),
                   "%s", info->name);
}
