/* fuzz_eval.c - any text as an expression of tsr eval.
 *
 * What is read must be worked out, or refused with words and a place inside the text; nothing is
 * left in memory. */
#include <stdlib.h>
#include <string.h>

#include "../../cli/eval/machine.h"
#include "fuzz.h"
#include "tessera/tessera.h"

enum { TEXT = 2047, MOST_BYTES = 1 << 22 };

/* zeros(10 ** 9) is refused for want of memory, in place of taking a long time; and so is one
 * allocation of the second try. */
static bool allow(void *context, size_t bytes)
{
    int *left = context; /* until the one that fails; below 0: none does */
    if (*left >= 0 && (*left)-- == 0) return false;
    return bytes <= MOST_BYTES;
}

static bool lookup(void *context, tsr_tensor **out, const char *name, fault *f, const node *at)
{
    const tsr_scalar first = tsr_scalar_i64(-3), last = tsr_scalar_i64(21), step = tsr_scalar_i64(1);
    tsr_tensor *t = NULL;
    tsr_status s = TSR_OK;
    (void)context, (void)f, (void)at;
    if (strcmp(name, "x") && strcmp(name, "y") && strcmp(name, "m")) return false;
    s = tsr_arange(&t, TSR_I64, first, last, step);
    if (s == TSR_OK) s = tsr_view(&t, t, TSR_SHAPE(2, 3, 4));
    if (s == TSR_OK && name[0] == 'y') s = tsr_cast(out, t, TSR_F32);
    else if (s == TSR_OK && name[0] == 'm') s = tsr_gt(out, t, TSR_NUMBER(2));
    else if (s == TSR_OK) *out = tsr_retain(t);
    tsr_release(&t);
    return s == TSR_OK && *out;
}

static bool check_text(const char *text, int left)
{
    static const char *const names[] = { "x", "y", "m", NULL };
    const int64_t before = tsr_memory_live(TSR_MEMORY_HOST);
    fault f = { .found = false };
    tree t;
    operand o = { .kind = OPERAND_UNSET };
    machine m = { .f = &f, .lookup = lookup, .names = names };
    tsr_set_alloc_hook(allow, &left);
    const bool read = tree_read(&t, text, &f);
    fuzz_must(read != f.found, "neither read nor refused");
    if (read) fuzz_must(evaluate(&m, &o, t.root) != f.found, "neither worked out nor refused");
    if (f.found) fuzz_must(f.text[0] && f.at <= strlen(text), "a fault without words or place");
    operand_free(&o);
    tree_free(&t);
    tsr_set_alloc_hook(NULL, NULL);
    fuzz_must(tsr_memory_live(TSR_MEMORY_HOST) == before, "memory is left");
    return !f.found;
}

static bool run_eval(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size, TEXT);
    if (!text) return false;
    const bool taken = check_text(text, -1);
    (void)check_text(text, (int)(size * 7 % 23));
    free(text);
    return taken;
}

static const char *const words[] = {
    "(", ")", "[", "]", ",", ":", ".", "...", "**", "//", "@", "==", "<", "-", "~", "x", "y", "m", "None",
    "'", "\"", "0", "7", "-1", "1e9", "99999999999999999999", "0x", "1j", ".T", ".sum(", "axis=", "sum(",
    "reshape(", "zeros(", "nan", "f32", " ", "\xc3\xa9", "[::0]", "[-9]", "((((((((", "tile(x, ", "repeat(",
    "matrix_power(", "eye(", "roll(x, ", "einsum(''", "concatenate([", ".reshape(", ".astype(", "where(",
    "keepdims=True", ">>", "|", "fft(", "sort(", "cumsum(", NULL,
};

const fuzz_target fuzz_targets[] = {
    { "eval", run_eval, NULL, words, 60000 },
    { NULL, NULL, NULL, NULL, 0 },
};
