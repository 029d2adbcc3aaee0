/* fuzz_match.c - any bytes as a signature.
 *
 * What parses must match or refuse any desc without harm, and its normal form must parse to the
 * same normal form and give the same answers. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tessera/tessera.h"
#define TEST_OWN_MAIN
#include "test.h"

enum { TEXT = 4095, NORMAL = 8192, ROUNDS = 3 };

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
    d.dtype = (tsr_dtype)(test_next(r) % (TSR_DTYPE_COUNT + 1));
    d.ndim = (int32_t)(test_next(r) % 16 ? test_next(r) % 6 : test_next(r) % (TSR_MAX_NDIM + 3));
    if (test_next(r) % 64 == 0) d.ndim = -1;
    for (int i = 0; i < TSR_MAX_NDIM; i++) {
        d.shape[i] = sizes[test_next(r) % (test_next(r) % 8 ? 8 : 10)];
        d.stride[i] = test_next(r) % 16 ? (int64_t)(test_next(r) % 8) - 2 : (int64_t)test_next(r);
    }
    return d;
}

static int is_a_match_status(tsr_status s)
{
    return s == TSR_OK || s == TSR_EDTYPE || s == TSR_ESHAPE || s == TSR_ESTRIDE || s == TSR_EINVAL;
}

static void match_both(const tsr_signature *s, const tsr_signature *again, uint64_t *r)
{
    tsr_desc d[TSR_MATCH_OPERANDS];
    const tsr_desc *descs[TSR_MATCH_OPERANDS];
    tsr_bindings b = { 0 }, b2 = { 0 };
    for (int i = 0; i < s->noperands; i++) {
        d[i] = random_desc(r);
        descs[i] = test_next(r) % 8 ? &d[i] : NULL;
    }
    const tsr_status first = tsr_match(s, test_next(r) % 2 ? "op" : NULL, s->noperands, descs, &b);
    fuzz_must(is_a_match_status(first), "a status that no match gives");
    fuzz_must(first == TSR_OK || tsr_last_error()[0] != '\0', "a failure without words");
    fuzz_must(tsr_match(again, "op", s->noperands, descs, &b2) == first, "the normal form matches otherwise");
    for (int i = 0; i < s->nnames; i++) {
        int64_t v = 0;
        const tsr_status bound = tsr_binding(&v, s, &b, s->names[i]);
        fuzz_must(bound == TSR_OK || bound == TSR_EINVAL, "a name that cannot be asked for");
    }
}

static bool check_text(const char *text)
{
    static tsr_signature s, again;
    static char normal[NORMAL], normal2[NORMAL];
    uint64_t r = hash(text);
    tsr_clear_error();
    const tsr_status status = tsr_signature_parse(&s, text);
    if (status != TSR_OK) {
        fuzz_must(status == TSR_EFORMAT, "a status that no parse gives");
        fuzz_must(strncmp(tsr_last_error(), "signature: column ", 18) == 0, "a failure without its place");
        return false;
    }
    fuzz_must(tsr_last_error()[0] == '\0', "words without a failure");
    const size_t length = tsr_signature_to_string(normal, sizeof normal, &s);
    fuzz_must(length < sizeof normal && strlen(normal) == length, "the length of the normal form");
    fuzz_must(tsr_signature_parse(&again, normal) == TSR_OK, "the normal form does not parse");
    fuzz_must(tsr_signature_to_string(normal2, sizeof normal2, &again) == length &&
                  strcmp(normal, normal2) == 0, "the normal form has another normal form");
    for (int i = 0; i < ROUNDS; i++) match_both(&s, &again, &r);
    return true;
}

static bool run_match(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size, TEXT);
    if (!text) return false;
    const bool taken = check_text(text);
    free(text);
    return taken;
}

static const char *const words[] = {
    "(", ")", "{", "}", "|", ";", ",", "/", ":", "...", "..", ".", "~", "_", "-", "->", "-1", "0",
    "99999999999999999999", "(b,)", "(...,)", "dT", "f32", "float64", "any", "integer", "m", "k", "  ", "\n",
    "\x80", "a_name_far_too_long",
    "x{ f32 | (n) }", "| (~) }", "(a, b, c, d, e, f, g, h)", NULL,
};

const fuzz_target fuzz_targets[] = {
    { "match", run_match, NULL, words, 200000 },
    { NULL, NULL, NULL, NULL, 0 },
};
