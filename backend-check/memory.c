/* memory.c - the pool of the device, memory that runs out, and allocations that fail. */
#include <stdio.h>
#include <string.h>

#include "check.h"

static tsr_status stats_of(tsr_device_memory_stats *out, const trial *t)
{
    return tsr_device_memory_get_stats(out, session_of(t)->device);
}

static void check_stats(trial *t)
{
    const tsr_device device = session_of(t)->device;
    tsr_device_memory_stats before, during, after, again;
    tsr_storage *s = NULL;
    (void)tsr_device_pool_trim(device, 0);
    NEED(t, stats_of(&before, t));
    NEED(t, tsr_storage_create(&s, 100000, device, TSR_MEMORY_DEFAULT));
    NEED(t, stats_of(&during, t));
    tsr_storage_release(&s);
    NEED(t, stats_of(&after, t));
    NEED(t, tsr_storage_create(&s, 99000, device, TSR_MEMORY_DEFAULT));
    NEED(t, stats_of(&again, t));
    tsr_storage_release(&s);
    REQUIRE(t, before.cached_bytes == 0, "%lld bytes are kept after a trim", (long long)before.cached_bytes);
    REQUIRE(t, during.live_bytes - before.live_bytes >= 100000 && during.peak_bytes >= during.live_bytes,
            "100000 bytes are not counted");
    REQUIRE(t, after.live_bytes == before.live_bytes && after.cached_bytes >= 100000,
            "freed bytes are not kept");
    REQUIRE(t, again.hits > before.hits && again.cached_bytes < after.cached_bytes,
            "kept bytes are not handed out again");
}

static void check_limit(trial *t)
{
    const tsr_device device = session_of(t)->device;
    tsr_device_memory_stats stats;
    tsr_storage *s = NULL;
    NEED(t, tsr_device_pool_set_limit(device, 0));
    NEED(t, tsr_storage_create(&s, 100000, device, TSR_MEMORY_DEFAULT));
    tsr_storage_release(&s);
    const tsr_status status = tsr_device_sync(device);
    if (status != TSR_OK) fail_call(t, "tsr_device_sync", status);
    (void)tsr_device_pool_trim(device, 0);
    NEED(t, stats_of(&stats, t));
    NEED(t, tsr_device_pool_set_limit(device, SIZE_MAX));
    REQUIRE(t, stats.cached_bytes == 0, "%lld bytes are kept beyond a limit of 0",
            (long long)stats.cached_bytes);
}

/* An op that still works, with what it should give. */
static void expect_life(trial *t)
{
    enum { HOST, THERE, SUM, WANTED };
    tsr_tensor **x = t->tensor;
    GO_ON(t);
    for (int i = 0; i <= WANTED; i++) tsr_release(&x[i]);
    NEED(t, tsr_arange(&x[HOST], TSR_F32, TSR_SCALAR(0), TSR_SCALAR(1000), TSR_SCALAR(1)));
    NEED(t, tsr_to(&x[THERE], x[HOST], session_of(t)->device));
    NEED(t, tsr_add(&x[SUM], x[THERE], x[THERE]));
    NEED(t, tsr_add(&x[WANTED], x[HOST], x[HOST]));
    check_same(t, SUM, WANTED, false);
}

/* More than there is. */
static void check_too_much(trial *t)
{
    const uint64_t total = session_of(t)->info.memory_total;
    const int64_t n = total > 0 && total < (uint64_t)1 << 44 ? (int64_t)(2 * total) : (int64_t)1 << 45;
    tsr_tensor *x = NULL;
    tsr_desc d;
    NEED(t, tsr_desc_init(&d, TSR_U8, 1, &n, NULL));
    NEED(t, tsr_declare(&x, &d, session_of(t)->device, TSR_MEMORY_DEFAULT));
    tsr_clear_error();
    const tsr_status s = tsr_alloc(x);
    if (s != TSR_ENOMEM)
        break_contract(t, "%lld bytes gave %s, not TSR_ENOMEM", (long long)n, tsr_status_name(s));
    else if (!tsr_last_error()[0])
        break_contract(t, "TSR_ENOMEM came without words");
    tsr_release(&x);
    expect_life(t);
}

/* Until it is used up, in pieces of a sixteenth; then an op, then all is given back. Not on devices
 * that share the host's memory, or have very much. */
static void check_used_up(trial *t)
{
    enum { PIECES = 40 };
    const tsr_device device = session_of(t)->device;
    const uint64_t total = session_of(t)->info.memory_total;
    tsr_storage *piece[PIECES] = { NULL };
    int n = 0;
    if (total == 0 || total > (uint64_t)1 << 30) {
        skip_trial(t, "the device has more than a GiB, or does not say");
        return;
    }
    (void)tsr_device_pool_trim(device, 0);
    while (n < PIECES &&
           tsr_storage_create(&piece[n], (size_t)(total / 16), device, TSR_MEMORY_DEFAULT) == TSR_OK)
        n++;
    if (n == PIECES)
        break_contract(t, "%d sixteenths of the device's memory were had", PIECES);
    else if (tsr_last_status() != TSR_ENOMEM)
        break_contract(t, "used up, it gave %s", tsr_status_name(tsr_last_status()));
    if (n > 0) tsr_storage_release(&piece[--n]);
    expect_life(t);
    while (n > 0) tsr_storage_release(&piece[--n]);
    (void)tsr_device_pool_trim(device, 0);
    expect_life(t);
}

/* More in all than there is, piece by piece, each given back to the device before the next. */
static void check_given_back(trial *t)
{
    const tsr_device device = session_of(t)->device;
    const uint64_t total = session_of(t)->info.memory_total, most = (uint64_t)1 << 30;
    const uint64_t piece = total / 5 < most ? total / 5 : most;
    if (piece == 0 || total / piece > 400) {
        skip_trial(t, "the device has very much memory, or does not say");
        return;
    }
    for (uint64_t i = 0; i <= total / piece + 1; i++) {
        tsr_storage *s = NULL;
        NEED(t, tsr_storage_create(&s, (size_t)piece, device, TSR_MEMORY_DEFAULT));
        tsr_storage_release(&s);
        (void)tsr_device_pool_trim(device, 0);
    }
    expect_life(t);
}

/* Host allocations that fail ---------------------------------------------------------------------- */

typedef struct ration {
    int left;
    bool refused;
} ration;

static bool hand_out(void *context, size_t bytes)
{
    ration *r = context;
    (void)bytes;
    if (r->left-- > 0) return true;
    r->refused = true;
    return false;
}

static tsr_status some_ops(tsr_device device, const tsr_tensor *host)
{
    tsr_tensor *x = NULL, *y = NULL, *z = NULL, *back = NULL;
    tsr_status s = tsr_to(&x, host, device);
    if (s == TSR_OK) s = tsr_mul(&y, x, TSR_NUMBER(3));
    if (s == TSR_OK) s = tsr_transpose(&z, y, 0, 1);
    tsr_release(&x);
    if (s == TSR_OK) s = tsr_matmul(&x, y, z);
    tsr_release(&z);
    if (s == TSR_OK) s = tsr_sum(&z, x, 1, (int[]){ 0 }, false);
    tsr_release(&y);
    if (s == TSR_OK) s = tsr_softmax(&y, x, 1);
    if (s == TSR_OK) s = tsr_to_host(&back, y);
    tsr_release_all(&x, &y, &z, &back);
    return s;
}

/* The n-th allocation fails, for each n until none does: TSR_ENOMEM every time, and nothing is kept. */
static void check_refused(trial *t)
{
    tsr_tensor *host = NULL;
    tsr_memory_stats before, after;
    tsr_status s = TSR_OK;
    NEED(t, tsr_uniform(&host, TSR_F32, 2, (int64_t[]){ 20, 30 }, 0, 1, 5));
    s = some_ops(session_of(t)->device, host); /* what is made once is made now */
    if (s != TSR_OK) fail_call(t, "some ops", s);
    for (int n = 0; n < 400 && !t->failed; n++) {
        ration r = { n, false };
        tsr_memory_get_stats(&before);
        tsr_set_alloc_hook(hand_out, &r);
        s = some_ops(session_of(t)->device, host);
        tsr_set_alloc_hook(NULL, NULL);
        const tsr_status later = tsr_device_sync(session_of(t)->device);
        tsr_memory_get_stats(&after);
        if (s == TSR_OK) s = later;
        if (s != TSR_OK && s != TSR_ENOMEM)
            break_contract(t, "without the %d-th allocation ops gave %s: %s", n, tsr_status_name(s),
                           tsr_last_error());
        else if (before.live_tensors != after.live_tensors || before.live_storages != after.live_storages)
            break_contract(t, "without the %d-th allocation %lld tensors and %lld storages leaked", n,
                           (long long)(after.live_tensors - before.live_tensors),
                           (long long)(after.live_storages - before.live_storages));
        if (!r.refused) break;
    }
    tsr_release(&host);
    expect_life(t);
}

void add_memory_checks(check_list *list)
{
    static const struct {
        const char *name;
        void (*run)(trial *t);
    } rows[] = {
        { "statistics of the pool", check_stats }, { "limit of the pool", check_limit },
        { "more than there is", check_too_much },  { "used up", check_used_up },
        { "given back", check_given_back },        { "host allocations that fail", check_refused },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_check(list, (check){ .family = "memory", .run = rows[i].run, .every = ONCE }, rows[i].name);
}
