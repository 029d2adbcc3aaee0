/* fuzz_eval.c - any text as an expression of tsr eval.
 *
 * What is read must be worked out, or refused with words and a place inside the text; nothing is
 * left in memory. Built for libFuzzer as it is; with -DTSR_FUZZ_MAIN it mutates a list of valid
 * expressions by itself: fuzz_eval [iterations [seed]].
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../cli/eval/machine.h"
#include "tessera/tessera.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT = 2048, MOST_BYTES = 1 << 22 };

static void must(bool ok, const char *what, const char *text)
{
    if (ok) return;
    fprintf(stderr, "fuzz_eval: %s: \"%s\" (%s)\n", what, text, tsr_last_error());
    abort();
}

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

static void check_text(const char *text, int left)
{
    static const char *const names[] = { "x", "y", "m", NULL };
    const int64_t before = tsr_memory_live(TSR_MEMORY_HOST);
    fault f = { .found = false };
    tree t;
    operand o = { .kind = OPERAND_UNSET };
    machine m = { .f = &f, .lookup = lookup, .names = names };
    tsr_set_alloc_hook(allow, &left);
    const bool read = tree_read(&t, text, &f);
    must(read != f.found, "neither read nor refused", text);
    if (read) must(evaluate(&m, &o, t.root) != f.found, "neither worked out nor refused", text);
    if (f.found) must(f.text[0] && f.at <= strlen(text), "a fault without words or place", text);
    operand_free(&o);
    tree_free(&t);
    tsr_set_alloc_hook(NULL, NULL);
    must(tsr_memory_live(TSR_MEMORY_HOST) == before, "memory is left", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Its own heap block, so that a read past the end is seen. */
    if (size >= TEXT) size = TEXT - 1;
    char *text = malloc(size + 1);
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    text[size] = '\0';
    check_text(text, -1);
    check_text(text, (int)(size * 7 % 23));
    free(text);
    return 0;
}

#ifdef TSR_FUZZ_MAIN

static const char *const seeds[] = {
    "softmax(y @ y.mT / sqrt(64), -1)",
    "where(x > 0, x, 0).mean(axis=0, keepdims=True)",
    "x[0, ::2, ..., None, -1]",
    "einsum('bij,bkj->bik', x, x)",
    "concatenate([x[0], x[1]], axis=1).T",
    "-x ** 2 + 3 // 2 % 5 - ~x & 7 | 1 ^ 2",
    "np.linalg.norm(y.reshape(2, -1), axis=1)",
    "x[m] << 2 >> 1",
    "stack((x, x * 2)).sum((0, 1)) == arange(4)",
    "y.astype(f16).round(2).clip(min=-1, max=1)",
    "sort(y[..., [0, -1]], axis=0, descending=True)",
    "[[1, 2.5], [3j, True]]",
    "full((2, 3), 0.5)[1:, ::-1].shape[0] * pi",
    "fft(y[0, 0]).real.cumsum()",
};

static const char *const pieces[] = {
    "(", ")", "[", "]", ",", ":", ".", "...", "**", "//", "@", "==", "<", "-", "~", "x", "y", "m", "None", "'", "\"", "0", "7",
    "-1", "1e9", "99999999999999999999", "0x", "1j", ".T", ".sum(", "axis=", "sum(", "reshape(", "zeros(", "nan", "f32", " ",
    "\xc3\xa9", "[::0]", "[-9]", "((((((((", "tile(x, ", "repeat(", "matrix_power(", "eye(", "roll(x, ",
};

enum { SEEDS = sizeof seeds / sizeof *seeds, PIECES = sizeof pieces / sizeof *pieces };

typedef struct buffer { char text[TEXT]; size_t size; } buffer;

/* Replaces `gone` characters at `at`; what does not fit is dropped. */
static void splice(buffer *b, size_t at, size_t gone, const char *piece, size_t size)
{
    splice_bytes(b->text, &b->size, TEXT, at, gone, piece, size);
}

static void mutate(buffer *b, uint64_t *r)
{
    const size_t at = next(r) % (b->size + 1);
    const char *piece = pieces[next(r) % PIECES], *seed = seeds[next(r) % SEEDS], byte = (char)next(r);
    switch (next(r) % 5) {
    case 0: splice(b, at, 1, &byte, 1); break;
    case 1: splice(b, at, 1 + next(r) % 4, "", 0); break;
    case 2: splice(b, at, 0, piece, strlen(piece)); break;
    case 3: splice(b, at, 1 + next(r) % 3, piece, strlen(piece)); break;
    default: splice(b, at, next(r) % 3, seed, strlen(seed)); break;
    }
}

int main(int argc, char **argv)
{
    const long iterations = argc > 1 ? strtol(argv[1], NULL, 10) : 60000;
    uint64_t r = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    static buffer b;
    for (long i = 0; i < iterations; i++) {
        const char *seed = seeds[next(&r) % SEEDS];
        b.size = 0;
        splice(&b, 0, 0, seed, strlen(seed));
        for (uint64_t n = next(&r) % 6; n > 0; n--) mutate(&b, &r);
        (void)LLVMFuzzerTestOneInput((const uint8_t *)b.text, b.size);
    }
    printf("1 passed, 0 failed, 0 skipped\n");
    return 0;
}

#endif
