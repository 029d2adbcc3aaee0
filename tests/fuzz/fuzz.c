/* fuzz.c - runs the targets of a program: over the corpus, over mutants, or for libFuzzer. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/tessera.h"
#include "fuzz.h"
#define TEST_OWN_MAIN
#include "test.h"

enum { MOST = 1 << 16 };  /* bytes of a mutant */

static const fuzz_target *current;

void fuzz_must(bool ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "%s: %s (%s)\n", current->name, what, tsr_last_error());
    abort();
}

char *fuzz_text(const uint8_t *data, size_t size, size_t most)
{
    if (size > most) size = most;
    char *text = malloc(size + 1);
    if (!text) return NULL;
    if (size) memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

uint64_t fuzz_take(fuzz_input *in, int bytes)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes && in->at < in->end; i++) v |= (uint64_t)*in->at++ << 8 * i;
    return v;
}

int64_t fuzz_take_size(fuzz_input *in)
{
    const int64_t v = (int64_t)fuzz_take(in, 1);
    return v < 250 ? v % 14 - 2 : (int64_t)fuzz_take(in, 8);
}

/* What follows "--name=" in an argument that begins so; else NULL. */
static const char *option(const char *arg, const char *name)
{
    const size_t n = strlen(name);
    return strncmp(arg, name, n) == 0 ? arg + n : NULL;
}

static void list_targets(void)
{
    for (const fuzz_target *t = fuzz_targets; t->name; t++) puts(t->name);
    exit(0);
}

/* The target of --target=, or the first. */
static void use_target(int argc, char **argv)
{
    const char *name = NULL;
    for (int i = 1; i < argc; i++) {
        if (option(argv[i], "--target=")) name = option(argv[i], "--target=");
        if (strcmp(argv[i], "--list") == 0) list_targets();
    }
    for (current = fuzz_targets; name && current->name && strcmp(current->name, name) != 0;) current++;
    if (current->name) return;
    fprintf(stderr, "there is no target %s\n", name);
    exit(2);
}

/* One thread, so that nothing depends on timing. Blocks that the pool keeps are not seen to be used
 * after their end, or beyond it. */
static void set_up(void)
{
    fuzz_must(tsr_set_threads(1) == TSR_OK, "one thread");
    tsr_pool_enable(false);
}

/* Mutating ----------------------------------------------------------------------------- */

typedef struct buffer { size_t size; uint8_t *byte; } buffer;

/* Replaces `gone` bytes at `at` by the piece; what does not fit into `room` is dropped. */
static void splice(buffer *b, size_t room, size_t at, size_t gone, const void *piece, size_t size)
{
    if (at > b->size) at = b->size;
    if (gone > b->size - at) gone = b->size - at;
    if (b->size - gone + size > room) return;
    memmove(b->byte + at + size, b->byte + at + gone, b->size - at - gone);
    if (size) memcpy(b->byte + at, piece, size);
    b->size += size - gone;
}

/* Numbers that lengths, offsets and counts break on. */
static uint64_t odd_number(uint64_t *r)
{
    static const uint64_t odd[] = {
        0, 1, 7, 255, 256, 65535, 65536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, UINT64_C(1) << 32,
        INT64_MAX, UINT64_C(1) << 63, UINT64_MAX, UINT64_MAX - 7, UINT64_C(1) << 61,
    };
    return test_next(r) % 3 ? odd[test_next(r) % (sizeof odd / sizeof *odd)] : test_next(r) % 300;
}

/* Mostly near the front or the end, where headers are. */
static size_t some_place(const buffer *b, uint64_t *r)
{
    const size_t n = b->size ? b->size : 1, near = n < 400 ? n : 400;
    const uint64_t where = test_next(r) % 4;
    return where < 2 ? test_next(r) % near : where == 2 ? n - 1 - test_next(r) % near : test_next(r) % n;
}

static void put_number(buffer *b, size_t room, uint64_t *r)
{
    const uint64_t v = odd_number(r);
    const size_t width = (size_t)1 << test_next(r) % 4;
    const bool big = test_next(r) % 4 == 0;
    uint8_t raw[8];
    for (size_t i = 0; i < width; i++) raw[i] = (uint8_t)(v >> 8 * (big ? width - 1 - i : i));
    splice(b, room, some_place(b, r), width, raw, width);
}

static void put_word(buffer *b, size_t room, uint64_t *r)
{
    size_t n = 0;
    while (current->words && current->words[n]) n++;
    const char *word = n ? current->words[test_next(r) % n] : "";
    splice(b, room, some_place(b, r), test_next(r) % 4, word, strlen(word));
}

/* A part of `from`, which may be the buffer itself. */
static void put_part(buffer *b, size_t room, const buffer *from, uint64_t *r)
{
    uint8_t run[64];
    const size_t at = from->size ? test_next(r) % from->size : 0;
    size_t n = test_next(r) % sizeof run;
    if (n > from->size - at) n = from->size - at;
    if (n) memcpy(run, from->byte + at, n);
    splice(b, room, some_place(b, r), test_next(r) % 2 * n, run, n);
}

/* One change; `other` is an input to take parts of. */
static void mutate(buffer *b, size_t room, const buffer *other, uint64_t *r)
{
    const uint8_t byte = (uint8_t)test_next(r);
    const size_t at = some_place(b, r);
    switch (test_next(r) % 9) {
    case 0: case 1: put_number(b, room, r); break;
    case 2: case 3: put_word(b, room, r); break;
    case 4: put_part(b, room, b, r); break;
    case 5: put_part(b, room, other, r); break;
    case 6: splice(b, room, at, 1 + test_next(r) % 8, NULL, 0); break;
    case 7: if (b->size) b->byte[at] ^= (uint8_t)(1u << byte % 8); break;
    default: splice(b, room, at, 1, &byte, 1); break;
    }
    if (test_next(r) % 64 == 0) b->size = test_next(r) % (b->size + 1);
}

/* Some mutants keep lengths and checksums that are wrong. */
static void repair(buffer *b, uint64_t *r)
{
    if (current->repair && test_next(r) % 4) current->repair(b->byte, b->size);
}

#ifndef TSR_FUZZ_MAIN

/* libFuzzer ---------------------------------------------------------------------------- */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    use_target(*argc, *argv);
    set_up();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)current->run(data, size);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    uint64_t r = seed;
    buffer b = { size, data };
    if (test_next(&r) % 3) b.size = LLVMFuzzerMutate(data, size, room);
    else mutate(&b, room, &b, &r);
    repair(&b, &r);
    return b.size;
}

#else

/* Plain runs --------------------------------------------------------------------------- */

typedef struct corpus { buffer *inputs; size_t count, taken; } corpus;  /* those that are taken come first */

static bool run(const buffer *b)
{
    /* Its own block, so that a read past the end is seen. */
    uint8_t *copy = malloc(b->size ? b->size : 1);
    fuzz_must(copy != NULL, "no memory");
    if (b->size) memcpy(copy, b->byte, b->size);
    const bool taken = current->run(copy, b->size);
    free(copy);
    return taken;
}

static buffer load(const char *path)
{
    buffer b = { 0, malloc(MOST) };
    FILE *f = fopen(path, "rb");
    fuzz_must(f && b.byte, path);
    b.size = fread(b.byte, 1, MOST, f);
    fclose(f);
    return b;
}

/* Runs an input and keeps it to make mutants of. */
static void add(corpus *c, buffer b)
{
    c->inputs = realloc(c->inputs, (c->count + 1) * sizeof *c->inputs);
    fuzz_must(c->inputs != NULL, "no memory");
    c->inputs[c->count++] = b;
    if (!run(&b)) return;
    c->inputs[c->count - 1] = c->inputs[c->taken];
    c->inputs[c->taken++] = b;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_input(const struct dirent *e) { return e->d_name[0] != '.'; }

static void replay(corpus *c)
{
    char folder[160], path[512];
    struct dirent **names = NULL;
    snprintf(folder, sizeof folder, "tests/fuzz/corpus/%s", current->name);
    const int n = scandir(folder, &names, is_input, by_name);
    fuzz_must(n > 0, folder);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        add(c, load(path));
        free(names[i]);
    }
    free(names);
    fuzz_must(c->taken > 0, "no input of the corpus is taken");
}

static long run_mutants(const corpus *c, long runs, uint64_t *r)
{
    static uint8_t bytes[MOST];
    buffer b = { 0, bytes };
    long taken = 0;
    for (long i = 0; i < runs; i++) {
        const buffer *from = &c->inputs[test_next(r) % (test_next(r) % 4 ? c->taken : c->count)];
        b.size = 0;
        splice(&b, MOST, 0, 0, from->byte, from->size);
        for (uint64_t n = test_next(r) % 5; n > 0; n--)
            mutate(&b, MOST, &c->inputs[test_next(r) % c->count], r);
        repair(&b, r);
        taken += run(&b);
    }
    return taken;
}

/* A mutator that only makes rubbish shows: one mutant of twenty is taken. */
static void run_target(long runs, uint64_t seed)
{
    corpus c = { NULL, 0, 0 };
    uint64_t r = seed;
    replay(&c);
    if (runs < 0) runs = current->runs;
    const long taken = run_mutants(&c, runs, &r);
    printf("%s: %zu inputs, %ld mutants, %ld of them taken\n", current->name, c.count, runs, taken);
    fuzz_must(runs < 1000 || taken > runs / 20, "too few mutants are taken");
    for (size_t i = 0; i < c.count; i++) free(c.inputs[i].byte);
    free(c.inputs);
}

static int run_inputs(int n, char **paths)
{
    for (int i = 0; i < n; i++) {
        buffer b = load(paths[i]);
        printf("%s: %s\n", paths[i], run(&b) ? "taken" : tsr_last_error());
        free(b.byte);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *value;
    bool one = false;
    long runs = -1;
    uint64_t seed = 1;
    int i = 1, passed = 0;
    use_target(argc, argv);
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (option(argv[i], "--target=")) one = true;
        else if ((value = option(argv[i], "--runs="))) runs = strtol(value, NULL, 10);
        else if ((value = option(argv[i], "--seed="))) seed = strtoull(value, NULL, 10);
        else return fprintf(stderr, "%s: no option %s\n", argv[0], argv[i]), 2;
    }
    set_up();
    if (i < argc) return run_inputs(argc - i, argv + i);
    for (bool more = true; more && current->name; current++, passed++, more = !one) run_target(runs, seed);
    printf("%d passed, 0 failed, 0 skipped\n", passed);
    return 0;
}

#endif
