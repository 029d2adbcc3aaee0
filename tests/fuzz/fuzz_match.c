/* fuzz_match.c - any bytes as a signature.
 *
 * What parses must match or refuse any desc without harm, and its normal form
 * must parse to the same normal form and give the same answers. Built for
 * libFuzzer as it is; with -DTSR_FUZZ_MAIN it mutates a list of valid
 * signatures by itself: fuzz_match [iterations [seed]].
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/tessera.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT = 4096, NORMAL = 8192, ROUNDS = 3 };

static void must(int ok, const char *what, const char *text)
{
    if (ok) return;
    fprintf(stderr, "fuzz_match: %s: \"%s\" (%s)\n", what, text, tsr_last_error());
    abort();
}

static uint64_t hash(const char *text)
{
    uint64_t h = 1469598103934665603u;
    for (; *text; text++) h = (h ^ (uint8_t)*text) * 1099511628211u;
    return h;
}

/* Any desc, legal or not: what tsr_match must refuse is part of the input. */
static tsr_desc random_desc(uint64_t *r)
{
    static const int64_t sizes[] = { 0, 1, 1, 2, 2, 3, 4, 5, INT64_MAX, -1 };
    tsr_desc d;
    d.dtype = (tsr_dtype)(next(r) % (TSR_DTYPE_COUNT + 1));
    d.ndim = (int32_t)(next(r) % 16 ? next(r) % 6 : next(r) % (TSR_MAX_NDIM + 3)) - (next(r) % 64 == 0);
    for (int i = 0; i < TSR_MAX_NDIM; i++) {
        d.shape[i] = sizes[next(r) % (next(r) % 8 ? 8 : 10)];
        d.stride[i] = next(r) % 16 ? (int64_t)(next(r) % 8) - 2 : (int64_t)next(r);
    }
    return d;
}

static int is_a_match_status(tsr_status s)
{
    return s == TSR_OK || s == TSR_EDTYPE || s == TSR_ESHAPE || s == TSR_ESTRIDE || s == TSR_EINVAL;
}

static void match_both(const tsr_signature *s, const tsr_signature *again, const char *text, uint64_t *r)
{
    tsr_desc d[TSR_MATCH_OPERANDS];
    const tsr_desc *descs[TSR_MATCH_OPERANDS];
    tsr_bindings b = { 0 }, b2 = { 0 };
    for (int i = 0; i < s->noperands; i++) {
        d[i] = random_desc(r);
        descs[i] = next(r) % 8 ? &d[i] : NULL;
    }
    const tsr_status first = tsr_match(s, next(r) % 2 ? "op" : NULL, s->noperands, descs, &b);
    must(is_a_match_status(first), "a status that no match gives", text);
    must(first == TSR_OK || tsr_last_error()[0] != '\0', "a failure without words", text);
    must(tsr_match(again, "op", s->noperands, descs, &b2) == first, "the normal form matches otherwise",
         text);
    for (int i = 0; i < s->nnames; i++) {
        int64_t v = 0;
        const tsr_status bound = tsr_binding(&v, s, &b, s->names[i]);
        must(bound == TSR_OK || bound == TSR_EINVAL, "a name that cannot be asked for", text);
    }
}

static void check_text(const char *text)
{
    static tsr_signature s, again;
    static char normal[NORMAL], normal2[NORMAL];
    uint64_t r = hash(text);
    tsr_clear_error();
    const tsr_status status = tsr_signature_parse(&s, text);
    if (status != TSR_OK) {
        must(status == TSR_EFORMAT, "a status that no parse gives", text);
        must(strncmp(tsr_last_error(), "signature: column ", 18) == 0, "a failure without its place", text);
        return;
    }
    must(tsr_last_error()[0] == '\0', "words without a failure", text);
    const size_t length = tsr_signature_to_string(normal, sizeof normal, &s);
    must(length < sizeof normal && strlen(normal) == length, "the length of the normal form", text);
    must(tsr_signature_parse(&again, normal) == TSR_OK, "the normal form does not parse", normal);
    must(tsr_signature_to_string(normal2, sizeof normal2, &again) == length && strcmp(normal, normal2) == 0,
         "the normal form has another normal form", normal);
    for (int i = 0; i < ROUNDS; i++) match_both(&s, &again, normal, &r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Its own heap block, so that a read past the end is seen. */
    if (size >= TEXT) size = TEXT - 1;
    char *text = malloc(size + 1);
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    text[size] = '\0';
    check_text(text);
    free(text);
    return 0;
}

#ifdef TSR_FUZZ_MAIN

static const char *const seeds[] = {
    "{ float32 | (d1, d2) | (..., 1) }",
    "{ dT | ((b,) h, w, c) | (...) }",
    "{ dT | ((...,) m, n) | (~) }",
    "{float32; (d1, d2); (..., 1)}",
    "a{ dT | ((...,) m, k) }  b{ dT | ((...,) k, n) }  -> c{ dT | ((...,) m, n) | (~) }",
    "-> dst{ floating/complex | (...) }",
    "src{ any | (...) } -> dst{ any | (...) }",
    "x{ T:f16/bf16/f32 | (n, c, (d,) h, w) | (s0, _, ..., -1) } w{ T | (k, 3, ...) } -> y{ T | (n, k, ...) }",
    "a{ bool | () | () } b{ u8/signed | (0, 1, 9223372036854775807) | (-9223372036854775808, 0, 1) }",
    "a{ t:real | ((a,) (b,) ..., (c,) d) | ((p,) ..., (q,) 1) } b{ t | (_, d, _) }",
};
enum { SEEDS = sizeof seeds / sizeof *seeds };

static const char *const pieces[] = {
    "(", ")", "{", "}", "|", ";", ",", "/", ":", "...", "..", ".", "~", "_", "-", "->", "-1", "0",
    "99999999999999999999", "(b,)", "(...,)", "dT", "f32", "float64", "any", "integer", "m", "k", "  ", "\n",
    "\x80", "a_name_far_too_long",
    "x{ f32 | (n) }", "| (~) }", "(a, b, c, d, e, f, g, h)",
};
enum { PIECES = sizeof pieces / sizeof *pieces };

typedef struct buffer { uint8_t byte[TEXT]; size_t size; } buffer;

/* Replace `gone` bytes at `at` by the piece; what does not fit is dropped. */
static void splice(buffer *b, size_t at, size_t gone, const void *piece, size_t size)
{
    splice_bytes(b->byte, &b->size, TEXT, at, gone, piece, size);
}

static void mutate(buffer *b, uint64_t *r)
{
    const size_t at = next(r) % (b->size + 1);
    const char *piece = pieces[next(r) % PIECES], *seed = seeds[next(r) % SEEDS];
    const uint8_t byte = (uint8_t)next(r);
    uint8_t run[24];
    const size_t from = b->size ? next(r) % b->size : 0;
    size_t n = next(r) % sizeof run;
    if (n > b->size - from) n = b->size - from;
    memcpy(run, b->byte + from, n);
    switch (next(r) % 6) {
    case 0: splice(b, at, 1, &byte, 1); break;                            /* another byte */
    case 1: splice(b, at, 1 + next(r) % 4, "", 0); break;                 /* a gap */
    case 2: splice(b, at, 0, piece, strlen(piece)); break;                /* a word of the notation more */
    case 3: splice(b, at, 1 + next(r) % 3, piece, strlen(piece)); break;  /* a word instead */
    case 4: splice(b, at, 0, run, n); break;                              /* a part repeated */
    default: splice(b, at, 0, seed, strlen(seed)); break;                 /* a signature inside */
    }
}

int main(int argc, char **argv)
{
    const long iterations = argc > 1 ? strtol(argv[1], NULL, 10) : 200000;
    uint64_t r = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    static buffer b;
    for (long i = 0; i < iterations; i++) {
        const char *seed = seeds[next(&r) % SEEDS];
        b.size = 0;
        splice(&b, 0, 0, seed, strlen(seed));
        for (uint64_t n = next(&r) % 6; n > 0; n--) mutate(&b, &r);
        (void)LLVMFuzzerTestOneInput(b.byte, b.size);
    }
    printf("1 passed, 0 failed, 0 skipped\n");
    return 0;
}

#endif
