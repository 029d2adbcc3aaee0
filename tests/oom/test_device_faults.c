/* The n-th launch on a device, or the n-th allocation, fails in every op, for every n until the op succeeds:
 * by the backend's kernels, done with other ops, and computed on the CPU for a device that cannot.
 *
 * After each failure: the status and the message are those of the fault, nothing is leaked, and a result that
 * was NULL is NULL. The calls are listed in op_calls.inc. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* setenv */
#endif
#include <dlfcn.h>

#define TEST_OWN_MAIN
#include "test.h"
#include "ops/dispatch.h"

static tsr_device sim;
static void (*inject)(const char *what, int after);

/* What fails ------------------------------------------------------------------------------ */

static long countdown;

static bool ask(void *context, size_t bytes)
{
    (void)context; (void)bytes;
    return __atomic_fetch_sub(&countdown, 1, __ATOMIC_RELAXED) != 1;
}

typedef struct fault {
    const char *name;
    const char *what;    /* of the simulated device; NULL: allocations of the host */
    tsr_status  status;
} fault;

static const fault launches = { "launch", "run", TSR_EDEVICE }, uploads = { "upload", "upload", TSR_EDEVICE },
                   host_memory = { "allocation", NULL, TSR_ENOMEM };

static void arm(const fault *f, int n)
{
    if (f->what) {
        inject(f->what, n);
        return;
    }
    countdown = n + 1;
    tsr_set_alloc_hook(ask, NULL);
}

static void disarm(void)
{
    inject("nothing", 0);
    tsr_set_alloc_hook(NULL, NULL);
    countdown = 0;
}

#include "op_inputs.h"

/* One call -------------------------------------------------------------------------------- */

static void check_clean(const struct scenario *s, const fault *f, int n, const tsr_memory_stats *begin)
{
    tsr_memory_stats end;
    for (int i = 0; i < OUTS; i++)
        EXPECT_MSG(!out[i], "%s, %s %d: result %d was made", s->name, f->name, n, i);
    tsr_memory_get_stats(&end);
    EXPECT_MSG(begin->live_tensors == end.live_tensors && begin->live_storages == end.live_storages,
               "%s, %s %d: leaked %lld tensors", s->name, f->name, n,
               (long long)(end.live_tensors - begin->live_tensors));
}

/* The n-th fault happens; true if the call succeeded. */
static bool succeeds_at(const struct scenario *s, const fault *f, int n)
{
    tsr_memory_stats begin;
    if (s->does == WRITES) make_own();
    EXPECT_OK(tsr_device_sync(sim));  /* queued work holds its operands */
    tsr_memory_get_stats(&begin);
    tsr_clear_error();
    arm(f, n);
    tsr_status status = s->run();
    const tsr_status queued = tsr_device_sync(sim);  /* what fails there is told here */
    if (status == TSR_OK) status = queued;
    disarm();
    if (status != TSR_OK && queued != TSR_OK) drop_results();
    EXPECT_MSG(status == TSR_OK || status == f->status, "%s, %s %d gave %s: %s", s->name, f->name, n,
               tsr_status_name(status), tsr_last_error());
    EXPECT_MSG(status == TSR_OK || tsr_last_error()[0], "%s, %s %d: no message", s->name, f->name, n);
    if (status != TSR_OK) check_clean(s, f, n, &begin);
    drop_results();
    drop_own();
    return status == TSR_OK;
}

/* Calls with many launches are stopped at each of the first, and at some of the others. */
static int check_call(const struct scenario *s, const fault *f)
{
    enum { MOST = 1000000, EACH = 48 };
    int n = 0, failed = 0;
    for (; n < MOST && !succeeds_at(s, f, n); n += n < EACH ? 1 : n / 4) failed++;
    EXPECT_MSG(n < MOST, "%s never succeeds", s->name);
    return failed;
}

/* All calls ------------------------------------------------------------------------------- */

/* Can it be done at all? */
static bool is_possible(const struct scenario *s)
{
    if (s->does == WRITES) make_own();
    const tsr_status status = s->run();
    EXPECT_MSG(status == TSR_OK || status == TSR_EUNSUPPORTED, "%s: %s", s->name, tsr_last_error());
    drop_results();
    drop_own();
    return status == TSR_OK;
}

static void check_calls(const fault *f)
{
    int failed = 0;
    for (int i = 0; i < SCENARIOS; i++)
        if (strncmp(scenarios[i].name, "large_", 6) && is_possible(&scenarios[i]))
            failed += check_call(&scenarios[i], f);
    EXPECT_MSG(failed > SCENARIOS / 2, "%d faults only", failed);
}

static void make_inputs_on(tsr_device device)
{
    make_inputs();
#define I(name) EXPECT_OK(tsr_to(&name, name, device));
    INPUTS(I)
#undef I
    EXPECT_OK(tsr_device_set_default(device));
}

static void check_on(tsr_device device, bool in_parts, const fault *f)
{
    make_inputs_on(device);
    tsri_prefer_parts(in_parts);
    check_calls(f);
    tsri_prefer_parts(false);
    EXPECT_OK(tsr_device_set_default(TSR_CPU));
    drop_inputs();
}

static void test_every_op_ends_with_the_fault_of_a_launch(void) { check_on(sim, false, &launches); }
static void test_every_op_in_parts_ends_with_the_fault_of_a_launch(void) { check_on(sim, true, &launches); }
static void test_every_op_in_parts_ends_when_memory_does(void) { check_on(TSR_CPU, true, &host_memory); }
static void test_every_op_of_a_device_ends_when_memory_does(void) { check_on(sim, true, &host_memory); }

/* Comparisons of what lies on a device, which comes to the host. */
static bool told;

static tsr_status run_equal(void) { return tsr_equal(&told, square, square_transposed); }
static tsr_status run_allclose(void) { return tsr_allclose(&told, square, square_transposed, NULL, NULL); }

static void test_comparisons_on_a_device_end_when_memory_does(void)
{
    static const struct scenario comparisons[] = { { "equal", run_equal, MAKES },
                                                   { "allclose", run_allclose, MAKES } };
    make_inputs_on(sim);
    for (int i = 0; i < 2; i++) {
        EXPECT(check_call(&comparisons[i], &host_memory) >= 2);
        EXPECT(told);
    }
    EXPECT_OK(tsr_device_set_default(TSR_CPU));
    drop_inputs();
}

/* A device that can do nothing but what tensors are made with. */
static void leave_out_all_ops(void)
{
    static char names[8192];
    names[0] = '\0';
    for (int kind = TSR_OP_NONE + 1; kind < TSR_OP_COUNT; kind++) {
        if (kind == TSR_OP_FILL || kind == TSR_OP_COPY) continue;
        strcat(names, tsr_op_get_info((tsr_op_kind)kind)->name);
        strcat(names, ",");
    }
    (void)setenv("TSR_SIM_WITHOUT", names, 1);
}

static void test_every_op_computed_elsewhere_ends_with_the_fault_of_a_transfer(void)
{
    EXPECT_OK(tsr_set_fallback(TSR_FALLBACK_ALLOW));
    make_inputs_on(sim);
    leave_out_all_ops();
    check_calls(&uploads);
    check_calls(&host_memory);
    (void)unsetenv("TSR_SIM_WITHOUT");
    EXPECT_OK(tsr_device_set_default(TSR_CPU));
    drop_inputs();
    EXPECT_OK(tsr_set_fallback(TSR_FALLBACK_ERROR));
}

/* Operands and results in two places ------------------------------------------------------ */

static void test_operands_on_two_devices_are_refused(void)
{
    tsr_tensor *here = NULL, *there = NULL, *z = NULL, *found = NULL;
    EXPECT_OK(tsr_full(&here, TSR_F32, TSR_SHAPE(3, 3), TSR_SCALAR(1)));
    EXPECT_OK(tsr_to(&there, here, sim));
    EXPECT_FAILS(tsr_add(&z, here, there), TSR_EDEVICE, "operands on");
    EXPECT_FAILS(tsr_matmul(&z, there, here), TSR_EDEVICE, "operands on");
    EXPECT_FAILS(tsr_matmul(&z, here, there), TSR_EDEVICE, "operands on");
    EXPECT(!z);
    EXPECT_OK(tsr_empty(&found, TSR_I64, TSR_SHAPE(3, 3)));
    EXPECT_FAILS(tsr_sort_with_indices(&z, &found, there, 0, false), TSR_EDEVICE, "operands on");
    EXPECT(!z);
    tsr_release_all(&here, &there, &found);
}

/* Ops of the CPU while another device is the default ------------------------------------------ */

/* Calls without operands give what the default device holds. */
static bool is_from_nothing(const struct scenario *s)
{
    static const char *const names[] = { "zeros",  "ones",        "full",     "eye",       "arange",
                                         "linspace", "fftfreq",   "rfftfreq", "uniform",   "randn",
                                         "normal", "exponential", "integers", "bernoulli", "permutation" };
    bool found = strstr(s->name, "_window") != NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) found |= !strcmp(s->name, names[i]);
    return found;
}

/* Runs the call with this default; its results become those of the host. */
static void run_with_default(const struct scenario *s, tsr_device device, tsr_tensor *results[OUTS])
{
    if (s->does == WRITES) make_own();
    EXPECT_OK(tsr_device_set_default(device));
    const tsr_status status = s->run();
    EXPECT_OK(tsr_device_set_default(TSR_CPU));
    EXPECT_MSG(status == TSR_OK, "%s: %s", s->name, tsr_last_error());
    if (s->does == WRITES) EXPECT_OK(tsr_clone(&out[0], own));
    for (int i = 0; i < OUTS && status == TSR_OK; i++) {
        if (!out[i]) continue;
        EXPECT_MSG(out[i]->device == (is_from_nothing(s) ? device : TSR_CPU), "%s: result %d is elsewhere",
                   s->name, i);
        EXPECT_OK(tsr_to_host(&results[i], out[i]));
        EXPECT_OK(tsr_contiguous(&results[i], results[i]));
    }
    drop_results();
    drop_own();
}

static bool are_same(const tsr_tensor *a, const tsr_tensor *b)
{
    return (!a && !b) || (a && b && tsr_desc_same(&a->desc, &b->desc) &&
                          !memcmp(a->data, b->data, (size_t)tsr_desc_bytes(&a->desc)));
}

static void test_ops_of_the_cpu_do_not_depend_on_the_default_device(void)
{
    make_inputs();
    for (int k = 0; k < SCENARIOS; k++) {
        tsr_tensor *want[OUTS] = { NULL }, *got[OUTS] = { NULL };
        run_with_default(&scenarios[k], TSR_CPU, want);
        run_with_default(&scenarios[k], sim, got);
        for (int i = 0; i < OUTS; i++) {
            EXPECT_MSG(are_same(want[i], got[i]), "%s: result %d differs", scenarios[k].name, i);
            tsr_release_all(&want[i], &got[i]);
        }
    }
    drop_inputs();
}

static void find_sim(void)
{
    (void)setenv("TSR_BACKEND_PATH", TEST_PLUGINS, 1);
    sim = TSR_DEVICE("sim:0");
    void *plugin = dlopen(TEST_PLUGINS "/libtessera-sim.so", RTLD_NOW | RTLD_NOLOAD);
    if (plugin) *(void **)&inject = dlsym(plugin, "tsr_sim_inject");
}

int main(int argc, char **argv)
{
    TEST_BEGIN(argc, argv);
    find_sim();
    if (sim == TSR_NO_DEVICE || !inject) {
        printf("skipped test_device_faults: %s\n", tsr_last_error());
        test_state.skipped++;
        return TEST_END();
    }
    RUN(test_operands_on_two_devices_are_refused);
    RUN(test_ops_of_the_cpu_do_not_depend_on_the_default_device);
    RUN(test_every_op_ends_with_the_fault_of_a_launch);
    RUN(test_every_op_in_parts_ends_with_the_fault_of_a_launch);
    RUN(test_every_op_in_parts_ends_when_memory_does);
    RUN(test_every_op_of_a_device_ends_when_memory_does);
    RUN(test_comparisons_on_a_device_end_when_memory_does);
    RUN(test_every_op_computed_elsewhere_ends_with_the_fault_of_a_transfer);
    return TEST_END();
}
