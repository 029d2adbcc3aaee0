/* Many threads on one storage, one pool, one list of kinds; and fork() in the midst of them.
 * Meant for the thread sanitizer, which sees races that do no harm today. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread barriers, fork */
#endif
#include "test.h"

#ifdef TSR_NO_THREADS

TEST(test_concurrent_needs_threads) { SKIP("a build without threads"); }

#else

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/atomic.h"
#include "sanitizers.h"
#include "tessera/backend.h"

enum { THREADS = 6, ROUNDS = UNDER_TSAN ? 400 : 2000 };

/* Failures in threads: counted, and expected to be none by the test. */
static int32_t wrong;

#define WANT(cond) ((cond) ? (void)0 : (void)tsri_fetch_add(&wrong, 1))
#define WANT_OK(call) WANT((call) == TSR_OK)

/* Runs fn(number) in THREADS threads at once, from one moment on. */
typedef struct worker { void (*fn)(int number); int number; pthread_barrier_t *start; } worker;

static void *work(void *context)
{
    const worker *w = context;
    (void)pthread_barrier_wait(w->start);
    w->fn(w->number);
    return NULL;
}

static void in_threads(void (*fn)(int number))
{
    pthread_t threads[THREADS];
    worker workers[THREADS];
    pthread_barrier_t start;
    tsri_store_relaxed(&wrong, 0);
    EXPECT(pthread_barrier_init(&start, NULL, THREADS) == 0);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){ fn, i, &start };
        EXPECT(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) EXPECT(pthread_join(threads[i], NULL) == 0);
    (void)pthread_barrier_destroy(&start);
    EXPECT_MSG(wrong == 0, "%d things went wrong in threads", (int)wrong);
}

static tsr_tensor *shared;  /* f32(40, 50), 0 .. 1999 */

static void make_shared(void)
{
    tsr_tensor *flat = NULL;
    EXPECT_OK(tsr_arange(&flat, TSR_F32, tsr_scalar_i64(0), tsr_scalar_i64(2000), tsr_scalar_i64(1)));
    EXPECT_OK(tsr_view(&shared, flat, TSR_SHAPE(40, 50)));
    tsr_release(&flat);
}

/* The first use ---------------------------------------------------------------------- */

static void make_and_release(int number)
{
    tsr_tensor *t = NULL;
    WANT_OK(tsr_empty(&t, TSR_F32, TSR_SHAPE(1000 + number)));
    tsr_release(&t);
    (void)tsr_pool_is_enabled();
    WANT(tsr_pool_limit() > 0);
}

/* Must run first: nobody has asked for the pool, the kernels or a header before. */
TEST(test_concurrent_first_use_sets_up_once) { in_threads(make_and_release); }

/* One storage ------------------------------------------------------------------------ */

static void own_and_view(int number)
{
    for (int i = 0; i < ROUNDS; i++) {
        tsr_tensor *mine = tsr_retain(shared), *view = NULL, *copy = NULL;
        tsr_storage *storage = tsr_storage_retain(mine->storage);
        WANT_OK(tsr_select(&view, mine, 0, (i + number) % 40));
        WANT(TSR_AT(float, view, 7) == (float)((i + number) % 40 * 50 + 7));
        if (i % 16 == 0) {
            WANT_OK(tsr_clone(&copy, mine));
            WANT(copy && copy->data != mine->data && TSR_AT(float, copy, 39, 49) == 1999);
            tsr_release(&copy);
        }
        tsr_release(&mine);
        WANT(tsr_storage_count(storage) >= 2);
        tsr_storage_release(&storage);
        tsr_release(&view);
    }
}

TEST(test_concurrent_owners_of_one_storage)
{
    make_shared();
    const tsr_storage *storage = shared->storage;
    in_threads(own_and_view);
    EXPECT(tsr_storage_count(storage) == 1 && shared->count == 1);
    tsr_release(&shared);
}

static void read_all(int number)
{
    char text[200];
    for (int i = 0; i < ROUNDS / 20; i++) {
        tsr_tensor *transposed = NULL, *copy = NULL;
        bool same = false;
        float x = 0;
        tsr_scalar s;
        WANT_OK(tsr_get_f32(&x, shared, TSR_INDEX(number, i % 50)));
        WANT(x == (float)(number * 50 + i % 50));
        WANT_OK(tsr_get(&s, shared, TSR_INDEX(-1, -1)));
        WANT_OK(tsr_equal(&same, shared, shared));
        WANT(same);
        WANT_OK(tsr_allclose(&same, shared, shared, NULL, NULL));
        WANT_OK(tsr_to_string(text, sizeof text, NULL, shared, NULL));
        WANT_OK(tsr_transpose(&transposed, shared, 0, 1));
        WANT_OK(tsr_rearrange(&copy, transposed));
        WANT_OK(tsr_equal(&same, copy, transposed));
        WANT(same && tsr_desc_is_contiguous(tsr_desc_of(copy)));
        WANT_OK(tsr_check(shared));
        tsr_release_all(&copy, &transposed);
    }
}

TEST(test_concurrent_readers_of_a_const_tensor)
{
    make_shared();
    in_threads(read_all);
    tsr_release(&shared);
}

static int32_t deletions;

static void count_deletion(void *context, void *data, size_t bytes)
{
    (void)data; (void)bytes;
    (void)tsri_fetch_add((int32_t *)context, 1);
}

static tsr_tensor *last_owners[THREADS];

static void let_go(int number) { tsr_release(&last_owners[number]); }

TEST(test_concurrent_last_owner_deletes_once)
{
    static float data[4];
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(4), NULL));
    tsri_store_relaxed(&deletions, 0);
    for (int round = 0; round < 50; round++) {
        tsr_tensor *t = NULL;
        EXPECT_OK(tsr_adopt(&t, data, &d, count_deletion, &deletions));
        for (int i = 0; i < THREADS; i++)
            if (i % 2) last_owners[i] = tsr_retain(t);          /* the same handle, */
            else EXPECT_OK(tsr_view(&last_owners[i], t, TSR_SHAPE(2, 2)));  /* or another on the storage */
        tsr_release(&t);
        in_threads(let_go);
        EXPECT(deletions == round + 1);
    }
}

/* Counting while others work --------------------------------------------------------- */

static int32_t watchers_done;

static void churn_or_watch(int number)
{
    static const char *const names[] = { "one", "another", "" };
    char report[2000];
    if (number < 2) {  /* the watchers */
        for (int i = 0; i < ROUNDS / 10; i++) {
            tsr_memory_stats stats;
            tsr_memory_get_stats(&stats);
            WANT(stats.live_tensors >= 1 && stats.live_storages >= 1 && stats.allocations > 0);
            WANT(tsr_memory_report(report, sizeof report) > 0);
            WANT(tsr_memory_live(TSR_MEMORY_HOST) >= 8000);
            tsr_memory_reset_peak();
        }
        (void)tsri_fetch_add(&watchers_done, 1);
        return;
    }
    for (int i = 0; tsri_load_acquire(&watchers_done) < 2; i++) {
        tsr_tensor *t = NULL, *v = NULL;
        WANT_OK(tsr_zeros(&t, TSR_U8, TSR_SHAPE(1 + (i * 37) % 3000)));
        if (number == 2 && i % 3 == 0) tsr_set_name(t, names[i / 3 % 3]);
        WANT_OK(tsr_view(&v, t, TSR_SHAPE(-1, 1)));
        tsr_release(&t);
        if (number == 2 && i % 5 == 0) tsr_set_name(v, "view");
        tsr_release(&v);
    }
}

TEST(test_concurrent_counts_and_reports_while_others_allocate)
{
    make_shared();
    tsri_store_relaxed(&watchers_done, 0);
    in_threads(churn_or_watch);
    tsr_release(&shared);
}

/* The pool --------------------------------------------------------------------------- */

/* Places where threads leave tensors for each other. */
enum { PLACES = 32 };
static struct { pthread_mutex_t lock; tsr_tensor *t; } places[PLACES];

static void exchange(int number)
{
    uint64_t dice = (uint64_t)number + 1;
    for (int i = 0; i < ROUNDS; i++) {
        tsr_tensor *t = NULL;
        const int64_t bytes = 1 + test_below(&dice, (int64_t)1 << test_below(&dice, 18));
        WANT_OK(tsr_empty(&t, TSR_U8, TSR_SHAPE(bytes)));
        if (!t) continue;
        memset(t->data, (int)(bytes & 0xff), (size_t)bytes);
        const int64_t at = test_below(&dice, PLACES);
        (void)pthread_mutex_lock(&places[at].lock);
        tsr_tensor *other = places[at].t;
        places[at].t = t;
        (void)pthread_mutex_unlock(&places[at].lock);
        if (other) {  /* made by another thread, most likely */
            const int64_t n = tsr_byte_size(other);
            const unsigned char *p = other->data;
            WANT(p[0] == (n & 0xff) && p[n - 1] == (n & 0xff) && p[n / 2] == (n & 0xff));
        }
        tsr_release(&other);
        if (i % 100 == 0) (void)tsr_pool_trim((size_t)test_below(&dice, 1 << 20));
        if (i % 151 == 0) tsr_pool_set_limit((size_t)test_below(&dice, 8 << 20));
        if (i % 203 == 0) tsr_pool_enable(test_below(&dice, 4) != 0);
    }
}

TEST(test_concurrent_pool_serves_all_and_mixes_nothing)
{
    const bool was_on = tsr_pool_is_enabled();
    const size_t limit = tsr_pool_limit();
    tsr_memory_stats before, after;
    tsr_memory_get_stats(&before);
    for (int i = 0; i < PLACES; i++) EXPECT(pthread_mutex_init(&places[i].lock, NULL) == 0);
    tsr_pool_enable(true);
    in_threads(exchange);
    for (int i = 0; i < PLACES; i++) {
        tsr_release(&places[i].t);
        (void)pthread_mutex_destroy(&places[i].lock);
    }
    tsr_pool_enable(was_on);
    tsr_pool_set_limit(limit);
    (void)tsr_pool_trim(0);
    tsr_memory_get_stats(&after);
    EXPECT(after.cached_bytes == 0 && after.live_bytes == before.live_bytes);
    EXPECT(after.allocations == before.allocations + THREADS * ROUNDS);
}

/* Kinds ------------------------------------------------------------------------------ */

static void *kind_alloc(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void register_and_use(int number)
{
    char name[20], report[1000];
    (void)snprintf(name, sizeof name, "kind-%d", number);
    const tsr_memory_kind kind = {
        .size = sizeof kind, .name = name, .host_access = true, .alloc = kind_alloc, .free = test_free
    };
    for (int i = 0; i < ROUNDS / 10; i++) {
        tsr_memory memory = -1, found = -1;
        tsr_tensor *t = NULL, *u = NULL;
        WANT_OK(tsr_memory_register(&memory, &kind));
        WANT_OK(tsr_memory_find(&found, name));
        WANT(found == memory && !strcmp(tsr_memory_name(memory), name) && tsr_memory_is_host(memory));
        WANT_OK(tsr_empty(&t, TSR_U8, TSR_SHAPE(500)));
        WANT_OK(tsr_fill(t, tsr_scalar_i64(number)));
        WANT_OK(tsr_to_memory(&u, t, TSR_CPU, memory));
        WANT(u && ((unsigned char *)u->data)[499] == number && tsr_memory_live(memory) == 500);
        WANT(tsr_memory_unregister(memory) == TSR_EBUSY);
        if (i % 8 == 0) (void)tsr_memory_report(report, sizeof report);
        tsr_release_all(&t, &u);
        WANT_OK(tsr_memory_unregister(memory));
    }
}

TEST(test_concurrent_kinds_come_and_go_while_others_allocate) { in_threads(register_and_use); }

static int one_device(void) { return 1; }

static tsr_status no_alloc(void **out, int device, size_t bytes, tsr_memory kind)
{
    (void)out; (void)device; (void)bytes; (void)kind;
    return TSR_ENOMEM;
}

static void no_free(int device, void *data, size_t bytes, tsr_memory kind)
{
    (void)device; (void)data; (void)bytes; (void)kind;
}

static bool no_support(int device, const tsr_op *op)
{
    (void)device; (void)op;
    return false;
}

static tsr_status no_run(int device, const tsr_op *op)
{
    (void)device; (void)op;
    return TSR_EUNSUPPORTED;
}

static tsr_backend tables[THREADS];
static char table_names[THREADS][20];

static void register_backend(int number)
{
    tsr_device device;
    char name[40];
    (void)snprintf(table_names[number], sizeof table_names[number], "dev-%d", number);
    tables[number] = (tsr_backend){ .abi = TSR_BACKEND_ABI, .size = sizeof(tsr_backend),
                                    .name = table_names[number], .device_count = one_device,
                                    .alloc = no_alloc, .free = no_free, .supports = no_support,
                                    .run = no_run };
    for (int i = 0; i < 50; i++)
        (void)tsr_device_exists(i * 256), (void)tsr_device_name(name, sizeof name, i * 256);
    WANT_OK(tsr_backend_register(&tables[number]));
    WANT_OK(tsr_device_parse(&device, table_names[number]));
    WANT(tsr_device_exists(device));
}

TEST(test_concurrent_backends_register_while_devices_are_asked_for)
{
    in_threads(register_backend);
    tsr_device device;
    for (int i = 0; i < THREADS; i++) EXPECT_OK(tsr_device_parse(&device, table_names[i]));
}

/* Threads that come and go ----------------------------------------------------------- */

static tsr_tensor *left[THREADS];

static void leave_tensor(int number)
{
    (void)tsr_release(&left[number]);
    WANT_OK(tsr_full(&left[number], TSR_F32, TSR_SHAPE(100 + number), tsr_scalar_i64(number)));
}

TEST(test_concurrent_tensors_outlive_the_threads_that_made_them)
{
    for (int round = 0; round < 10; round++) {
        in_threads(leave_tensor);
        for (int i = 0; i < THREADS; i++) EXPECT(TSR_AT(float, left[i], 99 + i) == (float)i);
    }
    for (int i = 0; i < THREADS; i++) tsr_release(&left[i]);
}

/* fork ------------------------------------------------------------------------------- */

static pthread_key_t late_key;
static tsr_tensor *late;

/* Runs when its thread ends, before or after the library's own end of thread. */
static void release_late(void *context) { tsr_release(context); }

static void *leave_to_destructor(void *context)
{
    (void)context;
    WANT_OK(tsr_zeros(&late, TSR_F32, TSR_SHAPE(1000)));
    WANT(pthread_setspecific(late_key, &late) == 0);
    return NULL;
}

TEST(test_concurrent_destructor_of_a_thread_may_release_tensors)
{
    pthread_t thread;
    EXPECT(pthread_key_create(&late_key, release_late) == 0);
    tsri_store_relaxed(&wrong, 0);
    for (int i = 0; i < 20; i++) {
        EXPECT(pthread_create(&thread, NULL, leave_to_destructor, NULL) == 0);
        EXPECT(pthread_join(thread, NULL) == 0);
        EXPECT(late == NULL && wrong == 0);
    }
    (void)pthread_key_delete(late_key);
}

/* What a child must be able to do; returns 0 or the number of the step that failed. */
static int use_library(void)
{
    tsr_memory_stats stats;
    tsr_tensor *copy = NULL, *t = NULL;
    bool same = false;
    char report[500];
    if (TSR_AT(float, shared, 39, 49) != 1999) return 1;
    if (tsr_clone(&copy, shared) != TSR_OK || tsr_equal(&same, copy, shared) != TSR_OK || !same) return 2;
    for (int i = 0; i < 300; i++) {
        if (tsr_zeros(&t, TSR_U8, TSR_SHAPE(100 + i * 331)) != TSR_OK) return 3;
        tsr_release(&t);
    }
    tsr_memory_get_stats(&stats);
    if (stats.live_tensors < 2 || tsr_memory_report(report, sizeof report) == 0) return 4;
    tsr_release(&copy);
    (void)tsr_pool_trim(0);
    return 0;
}

static void use_in_thread(int number)
{
    (void)number;
    for (int i = 0; i < 20; i++) WANT(use_library() == 0);
}

static void run_child(bool with_threads)
{
    (void)alarm(60);  /* a lock that nobody holds any more must not keep it for ever */
    int failed = use_library();
    if (!failed && with_threads) {
        in_threads(use_in_thread);
        in_threads(use_in_thread);
        failed = tsri_load_relaxed(&wrong) ? 5 : use_library();
    }
    tsr_release(&shared);
    _exit(failed);
}

static void expect_child_works(bool with_threads)
{
    int status = -1;
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) run_child(with_threads);
    EXPECT(child > 0 && waitpid(child, &status, 0) == child);
    EXPECT_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %s %d",
               WIFEXITED(status) ? "step" : "signal",
               WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

TEST(test_concurrent_child_of_fork_goes_on_alone)
{
    const bool was_on = tsr_pool_is_enabled();
    tsr_tensor *t = NULL;
    make_shared();
    tsr_pool_enable(true);
    EXPECT_OK(tsr_zeros(&t, TSR_U8, TSR_SHAPE(100000)));  /* something warm in the pool */
    tsr_release(&t);
    expect_child_works(!UNDER_TSAN);
    EXPECT(use_library() == 0);
    tsr_pool_enable(was_on);
    tsr_release(&shared);
}

/* A thread that has used the library, and waits. */
static pthread_barrier_t parked, leave;

static void *park(void *context)
{
    const worker *w = context;
    make_and_release(w->number);
    (void)pthread_barrier_wait(&parked);
    (void)pthread_barrier_wait(&leave);
    make_and_release(w->number);
    return NULL;
}

/* Threads of the child come to lie where the parent's threads, which are not there, kept their
 * caches; that must disturb nobody. */
TEST(test_concurrent_child_of_fork_starts_threads_in_place_of_others)
{
    pthread_t threads[THREADS];
    worker workers[THREADS];
    make_shared();
    tsri_store_relaxed(&wrong, 0);
    EXPECT(pthread_barrier_init(&parked, NULL, THREADS + 1) == 0);
    EXPECT(pthread_barrier_init(&leave, NULL, THREADS + 1) == 0);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){ NULL, i, NULL };
        EXPECT(pthread_create(&threads[i], NULL, park, &workers[i]) == 0);
    }
    (void)pthread_barrier_wait(&parked);
    expect_child_works(!UNDER_TSAN);
    EXPECT(use_library() == 0);
    (void)pthread_barrier_wait(&leave);
    for (int i = 0; i < THREADS; i++) EXPECT(pthread_join(threads[i], NULL) == 0);
    EXPECT(wrong == 0);
    (void)pthread_barrier_destroy(&parked);
    (void)pthread_barrier_destroy(&leave);
    tsr_release(&shared);
}

static int32_t stop;

static void *churn(void *context)
{
    for (int i = 0; !tsri_load_acquire(&stop); i++) {
        tsr_tensor *t = NULL;
        tsr_memory_stats stats;
        WANT_OK(tsr_zeros(&t, TSR_U8, TSR_SHAPE(50 + (i * 331) % 90000)));
        if (i % 7 == 0) tsr_set_name(t, "churned");
        if (i % 11 == 0) tsr_memory_get_stats(&stats);
        tsr_release(&t);
    }
    return context;
}

/* The child finds no lock taken, and no list that a thread of the parent's stood in. */
TEST(test_concurrent_fork_while_other_threads_allocate)
{
    pthread_t threads[THREADS];
    const bool was_on = tsr_pool_is_enabled();
    if (UNDER_ASAN) SKIP("the sanitizer's allocator does not survive it");
    make_shared();
    tsr_pool_enable(true);
    tsri_store_relaxed(&stop, 0);
    tsri_store_relaxed(&wrong, 0);
    for (int i = 0; i < THREADS; i++) EXPECT(pthread_create(&threads[i], NULL, churn, NULL) == 0);
    for (int i = 0; i < (UNDER_TSAN ? 5 : 25); i++) expect_child_works(!UNDER_TSAN);
    tsri_store_release(&stop, 1);
    for (int i = 0; i < THREADS; i++) EXPECT(pthread_join(threads[i], NULL) == 0);
    EXPECT(wrong == 0);
    tsr_pool_enable(was_on);
    tsr_release(&shared);
}

/* More lengths than plans are kept; returns whether all went well. */
static bool transform_some(void)
{
    for (int n = 1; n < 20; n++) {
        tsr_tensor *x = NULL, *z = NULL;
        const bool made = tsr_ones(&x, TSR_F64, TSR_SHAPE(n)) == TSR_OK &&
                          tsr_fft(&z, x, 0, 0, TSR_FFT_BACKWARD) == TSR_OK;
        const bool right = made && TSR_AT(tsr_c128, z, 0).re == n;
        tsr_release_all(&x, &z);
        if (!right) return false;
    }
    return true;
}

static void *keep_transforming(void *context)
{
    while (!tsri_load_acquire(&stop)) WANT(transform_some());
    return context;
}

/* The lock of the plans is taken often, and plans are in use. */
TEST(test_concurrent_fork_while_other_threads_transform)
{
    pthread_t threads[THREADS];
    if (UNDER_ASAN) SKIP("the sanitizer's allocator does not survive it");
    tsri_store_relaxed(&stop, 0);
    tsri_store_relaxed(&wrong, 0);
    for (int i = 0; i < THREADS; i++)
        EXPECT(pthread_create(&threads[i], NULL, keep_transforming, NULL) == 0);
    for (int i = 0; i < (UNDER_TSAN ? 5 : 100); i++) {
        int status = -1;
        (void)fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            (void)alarm(60);
            _exit(transform_some() ? 0 : 1);
        }
        const bool ended = child > 0 && waitpid(child, &status, 0) == child;
        EXPECT_MSG(ended && WIFEXITED(status) && WEXITSTATUS(status) == 0, "fork %d: %d", i, status);
        if (status != 0) break;
    }
    tsri_store_release(&stop, 1);
    for (int i = 0; i < THREADS; i++) EXPECT(pthread_join(threads[i], NULL) == 0);
    EXPECT(wrong == 0);
}

/* Without its threads, the counts of a child are still those of its parent at the fork. */
TEST(test_concurrent_child_counts_what_lives)
{
    int status = -1;
    make_shared();
    in_threads(leave_tensor);
    tsr_memory_stats before, now;
    tsr_memory_get_stats(&before);
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        tsr_memory_get_stats(&now);
        _exit(now.live_bytes == before.live_bytes && now.live_tensors == before.live_tensors &&
                      now.live_storages == before.live_storages && now.allocations == before.allocations
                  ? 0 : 1);
    }
    EXPECT(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    for (int i = 0; i < THREADS; i++) tsr_release(&left[i]);
    tsr_release(&shared);
}

#endif
