/* fuzz_ops.c - any bytes as a trial of the net (tests/net/net.h).
 *
 * The first bytes say which check of opcheck/ is tried, how its ops are run and how large tensors are; the
 * check's own draws take the others: ranks, dims, strides, parameters, a few elements. So an input that
 * reaches code that no other does is kept, and trials near it are tried next.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "net/net.h"

static check_list list;
static uint32_t  *places;  /* of the checks, in a circle of 2^24 */

/* Places do not change as checks are added, so that an input goes on meaning the same. */
static uint32_t place_of_name(const char *name)
{
    uint32_t h = 2166136261u;
    for (; *name; name++) h = (h ^ (uint8_t)*name) * 16777619u;
    return (h ^ h >> 24) & 0xffffff;
}

static void begin(void)
{
    if (places) return;
    net_begin(&list);
    places = malloc((size_t)list.count * sizeof *places);
    fuzz_must(places != NULL, "no memory");
    for (int i = 0; i < list.count; i++) places[i] = place_of_name(list.item[i].name);
}

/* The first check from this place on that calls ops and waits for nothing. */
static const check *check_at(uint32_t place)
{
    const check *found = NULL;
    uint32_t nearest = UINT32_MAX;
    for (int i = 0; i < list.count; i++) {
        const check *c = &list.item[i];
        const uint32_t distance = (places[i] - place) & 0xffffff;
        if (distance >= nearest || !strcmp(c->family, "threads") || !strcmp(c->family, "errors")) continue;
        nearest = distance;
        found = c;
    }
    return found;
}

/* What its own draws go on with after the last byte. */
static uint64_t random_of(const fuzz_input *in)
{
    uint64_t h = 14695981039346656037u;
    for (const uint8_t *p = in->at; p < in->end; p++) h = (h ^ *p) * 1099511628211u;
    return h;
}

static bool run_ops(const uint8_t *data, size_t size)
{
    static const int64_t elements[] = { 200, 60, 1000, 5000 };
    static const int threads[] = { 1, 1, 1, 1, 2, 3, 5, 8 };
    fuzz_input in = { data, data + size };
    begin();
    net_trial what = { .check = check_at((uint32_t)fuzz_take(&in, 3)) };
    const uint64_t sizes = fuzz_take(&in, 1), how = fuzz_take(&in, 1);
    what.elements = elements[sizes % 4];
    what.threads = threads[sizes / 4 % 8];
    what.edges = sizes / 32 % 2;
    what.streams = how % 4 == 1;
    what.external = how / 4 % 2;
    what.parts = how / 8 % 4 == 1;
    what.tuning = how / 32 % 2 ? 1 + fuzz_take(&in, 2) : 0;
    what.random = random_of(&in);
    what.bytes = in.at;
    what.bytes_end = in.end;
    const verdict v = net_try(&what);
    if (v.failed) fprintf(stderr, "%s, %d threads: %s\n", what.check->name, what.threads, v.why);
    fuzz_must(!v.failed, "a trial that fails");
    return !v.skipped;
}

const fuzz_target fuzz_targets[] = { { "ops", run_ops, NULL, NULL, 8000 }, { NULL } };
