/* Devices that work on their own, on the simulated one: plugins, moving tensors, streams, events,
 * graphs, memory that outlives its tensor, faults, and ops that run elsewhere. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#define TEST_OWN_MAIN
#include "test.h"
#include "tessera/backend.h"

static tsr_device sim, sim1;
static void (*inject)(const char *what, int after);

/* sim's tensors are not for the host's eyes; what they hold comes through tsr_to_host. */
static void expect_values(const tsr_tensor *t, int64_t n, const double *want)
{
    tsr_tensor *host = NULL, *wide = NULL;
    EXPECT_OK(tsr_to_host(&host, t));
    EXPECT_OK(tsr_cast(&wide, host, TSR_F64));
    EXPECT_OK(tsr_contiguous(&wide, wide));
    EXPECT(tsr_numel(wide) == n);
    for (int64_t i = 0; wide && i < n && i < tsr_numel(wide); i++)
        EXPECT_MSG(((double *)wide->data)[i] == want[i], "element %lld is %g, not %g", (long long)i,
                   ((double *)wide->data)[i], want[i]);
    tsr_release_all(&host, &wide);
}

static tsr_tensor *on_sim(tsr_dtype dtype, int64_t rows, int64_t cols)
{
    tsr_tensor *host = NULL, *t = NULL;
    EXPECT_OK(tsr_arange(&host, dtype, TSR_SCALAR(0), TSR_SCALAR(rows * cols), TSR_SCALAR(1)));
    EXPECT_OK(tsr_view(&host, host, TSR_SHAPE(rows, cols)));
    EXPECT_OK(tsr_to(&t, host, sim));
    tsr_release(&host);
    return t;
}

/* Plugins ------------------------------------------------------------------------------ */

static void test_devices_plugin_is_found_by_its_name(void)
{
    tsr_device device = TSR_NO_DEVICE;
    char name[16];
    EXPECT_OK(tsr_device_parse(&device, "sim:1"));
    EXPECT(device == sim1 && tsr_device_exists(device));
    EXPECT(tsr_device_name(name, sizeof name, device) == 5 && !strcmp(name, "sim:1"));
    EXPECT(TSR_DEVICE("sim") == sim && TSR_DEVICE("sim:9") == TSR_NO_DEVICE && TSR_DEVICE("cpu") == TSR_CPU);
    EXPECT_FAILS(tsr_device_parse(&device, "sim:7"), TSR_EDEVICE, "there are cpu:0, sim:0, sim:1");
    EXPECT_FAILS(tsr_device_parse(&device, "nowhere"), TSR_EDEVICE, "no device \"nowhere\"");
}

static void test_devices_are_counted_and_described(void)
{
    const int n = tsr_device_count();
    bool seen = false;
    EXPECT(n >= 3 && tsr_device_at(0) == TSR_CPU && tsr_device_at(n) == TSR_NO_DEVICE &&
           tsr_device_at(-1) == TSR_NO_DEVICE);
    for (int i = 0; i < n; i++) seen = seen || tsr_device_at(i) == sim1;
    EXPECT(seen);
    tsr_device_info info;
    EXPECT_OK(tsr_device_get_info(&info, sim));
    EXPECT(info.name[0] && strstr(info.capabilities, "async") && info.memory_total > 0 &&
           info.memory_free <= info.memory_total);
    EXPECT_OK(tsr_device_get_info(&info, TSR_CPU));
    EXPECT(info.units >= 1 && info.memory_total >= info.memory_free);
    EXPECT_FAILS(tsr_device_get_info(&info, 77777), TSR_EDEVICE, "77777");
    EXPECT_FAILS(tsr_device_get_info(NULL, sim), TSR_ENULL, "out");
}

/* Before any test loads a broken one. */
static void test_devices_plugin_that_loads_is_no_problem(void) { EXPECT(tsr_backend_problem(0) == NULL); }

static void test_devices_plugin_that_does_not_load_is_remembered_with_words(void)
{
    char path[] = "/tmp/test_devices_XXXXXX", file[64];
    EXPECT(mkdtemp(path) != NULL);
    snprintf(file, sizeof file, "%s/libtessera-broken.so", path);
    FILE *f = fopen(file, "w");
    EXPECT(f && fputs("no shared object", f) >= 0 && fclose(f) == 0);
    EXPECT_FAILS(tsr_backend_load(file), TSR_EIO, "libtessera-broken.so");
    bool kept = false;
    for (int i = 0; tsr_backend_problem(i); i++)
        kept = kept || strstr(tsr_backend_problem(i), "libtessera-broken.so");
    EXPECT(kept);
    tsr_device device;
    EXPECT_FAILS(tsr_device_parse(&device, "broken:0"), TSR_EDEVICE, "libtessera-broken.so");
    EXPECT_FAILS(tsr_backend_load("/nowhere/libtessera-x.so"), TSR_EIO, "/nowhere/libtessera-x.so");
    EXPECT_FAILS(tsr_backend_load(NULL), TSR_ENULL, "path");
    EXPECT_FAILS(tsr_backend_load(TEST_PLUGINS "/libtessera-sim.so"), TSR_EINVAL, "called sim");
    EXPECT(tsr_backend_problem(-1) == NULL && tsr_backend_problem(1000) == NULL);
    (void)remove(file);
    (void)rmdir(path);
}

/* Memory -------------------------------------------------------------------------------- */

static sigjmp_buf out_of_here;
static void jump(int number) { (void)number; siglongjmp(out_of_here, 1); }

static bool can_touch(volatile char *address)
{
    struct sigaction now = { .sa_handler = jump }, segv, bus;
    volatile bool fine = false;
    (void)sigaction(SIGSEGV, &now, &segv);
    (void)sigaction(SIGBUS, &now, &bus);
    if (sigsetjmp(out_of_here, 1) == 0) {
        (void)*address;
        fine = true;
    }
    (void)sigaction(SIGSEGV, &segv, NULL);
    (void)sigaction(SIGBUS, &bus, NULL);
    return fine;
}

static void test_devices_host_cannot_read_what_is_the_devices(void)
{
    tsr_tensor *t = on_sim(TSR_F32, 2, 3), *shared = NULL;
    void *p;
    EXPECT(t->memory == TSR_MEMORY_DEVICE && tsr_is_device(t) && !tsr_is_host(t));
    EXPECT(!can_touch(t->data));
    EXPECT_FAILS(tsr_pointer(&p, t, TSR_INDEX(0, 0)), TSR_EDEVICE, "device memory");
    EXPECT_OK(tsr_to_memory(&shared, t, sim, TSR_MEMORY_MEDIA));
    EXPECT_OK(tsr_device_sync(sim));
    EXPECT(tsr_is_device(shared) && tsr_is_host(shared) && (uintptr_t)shared->data % 128 == 0);
    EXPECT(can_touch(shared->data) && ((float *)shared->data)[5] == 5);
    ((float *)shared->data)[5] = 50;  /* seen from there too */
    expect_values(shared, 6, (double[]){ 0, 1, 2, 3, 4, 50 });
    tsr_release_all(&t, &shared);
}

static void test_devices_dlpack_has_no_name_for_is_not_exported(void)
{
    tsr_tensor *t = on_sim(TSR_F32, 2, 3);
    tsr_dl_managed_versioned *m = NULL;
    tsr_dl_managed *old = NULL;
    EXPECT_FAILS(tsr_to_dlpack(&m, t, NULL), TSR_EDEVICE, "no name for the device sim");
    EXPECT_FAILS(tsr_to_dlpack_legacy(&old, t, NULL), TSR_EDEVICE, "no name for the device sim");
    EXPECT(m == NULL && old == NULL);
    tsr_dl_tensor look;
    EXPECT(tsr_dlpack_exchange_api()->dltensor_from_object(t, &look) == -1);
    tsr_release(&t);
}

static void test_devices_kinds_have_names_and_places(void)
{
    tsr_memory kind;
    tsr_storage *s = NULL;
    EXPECT_OK(tsr_memory_find(&kind, "media"));
    EXPECT(kind == TSR_MEMORY_MEDIA && !strcmp(tsr_memory_name(TSR_MEMORY_PINNED), "pinned"));
    EXPECT(!tsr_memory_is_host(TSR_MEMORY_DEVICE) && tsr_memory_is_host(TSR_MEMORY_MANAGED));
    EXPECT_OK(tsr_storage_create(&s, 10, TSR_CPU, TSR_MEMORY_PINNED));
    EXPECT(tsr_storage_device(s) == TSR_CPU && tsr_storage_memory(s) == TSR_MEMORY_PINNED);
    memset(tsr_storage_data(s), 1, 10);
    tsr_storage_release(&s);
    EXPECT_OK(tsr_storage_create(&s, 10, TSR_CPU, TSR_MEMORY_MEDIA));
    EXPECT((uintptr_t)tsr_storage_data(s) % 128 == 0);
    tsr_storage_release(&s);
    EXPECT_OK(tsr_storage_create(&s, 10, TSR_CPU, TSR_MEMORY_DEVICE));
    EXPECT(tsr_storage_memory(s) == TSR_MEMORY_HOST);
    tsr_storage_release(&s);
    EXPECT_FAILS(tsr_storage_create(&s, 10, sim, TSR_MEMORY_PINNED), TSR_EINVAL, "pinned");
}

static void test_devices_memory_is_kept_counted_and_given_back(void)
{
    tsr_device_memory_stats before, stats;
    (void)tsr_device_pool_trim(sim1, 0);
    EXPECT_OK(tsr_device_memory_get_stats(&before, sim1));
    EXPECT(before.live_bytes == 0 && before.cached_bytes == 0);
    tsr_storage *s = NULL;
    EXPECT_OK(tsr_storage_create(&s, 1000, sim1, TSR_MEMORY_DEFAULT));
    const void *first = tsr_storage_data(s);
    EXPECT_OK(tsr_device_memory_get_stats(&stats, sim1));
    EXPECT(stats.live_bytes >= 1000 && stats.allocations == before.allocations + 1);
    tsr_storage_release(&s);
    EXPECT_OK(tsr_storage_create(&s, 990, sim1, TSR_MEMORY_DEFAULT));
    EXPECT(tsr_storage_data(s) == first);
    EXPECT_OK(tsr_device_memory_get_stats(&stats, sim1));
    EXPECT(stats.hits == before.hits + 1 && stats.cached_bytes == 0);
    EXPECT_OK(tsr_device_pool_set_limit(sim1, 0));
    tsr_storage_release(&s);
    EXPECT_OK(tsr_device_memory_get_stats(&stats, sim1));
    EXPECT(stats.cached_bytes == 0 && stats.live_bytes == 0);
    EXPECT_OK(tsr_device_pool_set_limit(sim1, SIZE_MAX));
    EXPECT_FAILS(tsr_device_memory_get_stats(&stats, 9999), TSR_EDEVICE, "9999");
    EXPECT_FAILS(tsr_device_memory_get_stats(NULL, sim), TSR_ENULL, "out");
    EXPECT_FAILS(tsr_device_pool_set_limit(9999, 1), TSR_EDEVICE, "9999");
}

static void test_devices_too_much_memory_is_enomem_and_life_goes_on(void)
{
    tsr_tensor *t = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, TSR_SHAPE((int64_t)1 << 40), NULL));
    EXPECT_OK(tsr_declare(&t, &d, sim, TSR_MEMORY_DEFAULT));
    EXPECT_FAILS(tsr_alloc(t), TSR_ENOMEM, "sim: the device's memory is used up");
    tsr_release(&t);
    tsr_storage *s = NULL;
    for (int power = 40; power < 63; power++)
        EXPECT_STATUS(tsr_storage_create(&s, (size_t)1 << power, sim, TSR_MEMORY_DEFAULT), TSR_ENOMEM);
    EXPECT(s == NULL);
    t = on_sim(TSR_I32, 1, 4);
    expect_values(t, 4, (double[]){ 0, 1, 2, 3 });
    tsr_release(&t);
}

/* What the pool keeps is no loss to a tensor that needs it. */
static void test_devices_kept_memory_makes_room_when_it_runs_short(void)
{
    tsr_storage *s = NULL;
    for (int i = 1; i <= 24; i++) {
        EXPECT_OK(tsr_storage_create(&s, (size_t)i * 10 << 20, sim1, TSR_MEMORY_DEFAULT));
        tsr_storage_release(&s);
    }
    (void)tsr_device_pool_trim(sim1, 0);
}

/* Moving --------------------------------------------------------------------------------- */

static uint64_t state = 12345;
static int64_t draw(int64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)n);
}

/* A view of a larger tensor on a device: permuted, stepped, flipped. */
static tsr_tensor *strange_view(tsr_dtype dtype, int ndim, const int64_t *shape, tsr_device device,
                                uint64_t seed)
{
    int64_t big[4] = { 0 }, axes64[4];
    int axes[4];
    tsr_tensor *base = NULL, *t = NULL;
    for (int i = 0; i < ndim; i++) axes64[i] = i;
    for (int i = ndim; i-- > 1;) {
        const int64_t k = draw(i + 1), kept = axes64[i];
        axes64[i] = axes64[k];
        axes64[k] = kept;
    }
    for (int i = 0; i < ndim; i++) big[axes64[i]] = shape[i] * 2;
    EXPECT_OK(tsr_uniform(&base, TSR_F32, ndim, big, 0, 100, seed));
    EXPECT_OK(tsr_cast(&t, base, dtype));
    tsr_release(&base);
    EXPECT_OK(tsr_to(&base, t, device));
    tsr_release(&t);
    for (int i = 0; i < ndim; i++) axes[i] = (int)axes64[i];
    EXPECT_OK(tsr_permute(&t, base, ndim, axes));
    for (int i = 0; i < ndim; i++) {
        switch (draw(3)) {
        case 0:
            EXPECT_OK(tsr_slice(&t, t, i, draw(shape[i] + 1), TSR_NONE, 1));
            EXPECT_OK(tsr_slice(&t, t, i, 0, shape[i], 1));
            break;
        case 1: EXPECT_OK(tsr_slice(&t, t, i, 1, TSR_NONE, 2)); break;
        default: EXPECT_OK(tsr_slice(&t, t, i, -1, TSR_NONE, -2)); break;
        }
    }
    tsr_release(&base);
    return t;
}

static void test_devices_tensors_move_whatever_their_strides_and_dtypes(void)
{
    const tsr_device devices[] = { TSR_CPU, sim, sim1 };
    const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_I16, TSR_U8, TSR_BF16, TSR_C64 };
    for (int trial = 0; trial < 200; trial++) {
        const int ndim = 1 + (int)draw(4);
        int64_t shape[4];
        for (int i = 0; i < ndim; i++) shape[i] = 1 + draw(7);
        const tsr_dtype from = dtypes[draw(6)], to = trial % 2 ? from : dtypes[draw(6)];
        tsr_tensor *src = strange_view(from, ndim, shape, devices[draw(3)], (uint64_t)trial);
        tsr_tensor *dst = strange_view(to, ndim, shape, devices[draw(3)], 7);
        tsr_tensor *want = NULL, *src_host = NULL, *got = NULL;
        bool same = false;
        EXPECT_OK(tsr_copy(dst, src));
        EXPECT_OK(tsr_to_host(&src_host, src));
        EXPECT_OK(tsr_cast(&want, src_host, to));
        EXPECT_OK(tsr_to_host(&got, dst));
        EXPECT_OK(tsr_equal(&same, got, want));
        EXPECT_MSG(same, "trial %d: %s to %s", trial, tsr_dtype_name(from), tsr_dtype_name(to));
        tsr_release_all(&src, &dst, &want, &src_host, &got);
    }
}

/* Longer than the ring of staging buffers, packed and strided. */
static void test_devices_long_transfers_go_in_chunks(void)
{
    tsr_tensor *host = NULL, *there = NULL, *back = NULL, *transposed = NULL, *short_one = NULL;
    bool same = false;
    EXPECT_OK(tsr_uniform(&host, TSR_F32, TSR_SHAPE(2100, 2300), 0, 1, 3));
    EXPECT_OK(tsr_to(&there, host, sim));
    EXPECT_OK(tsr_to_host(&back, there));
    EXPECT_OK(tsr_equal(&same, host, back));
    EXPECT(same && back->data != host->data);
    EXPECT_OK(tsr_slice(&transposed, host, 1, -1, TSR_NONE, -2));
    EXPECT_OK(tsr_transpose(&transposed, transposed, 0, 1));
    tsr_release(&there);
    EXPECT_OK(tsr_to(&there, transposed, sim));
    EXPECT_OK(tsr_equal(&same, there, transposed));
    EXPECT(same);
    EXPECT_OK(tsr_empty(&short_one, TSR_F16, TSR_SHAPE(1150, 2100)));  /* converts on the way */
    EXPECT_OK(tsr_copy(short_one, there));
    tsr_release(&back);
    EXPECT_OK(tsr_cast(&back, transposed, TSR_F16));
    EXPECT_OK(tsr_equal(&same, short_one, back));
    EXPECT(same);
    tsr_release_all(&host, &there, &back, &transposed, &short_one);
}

static void test_devices_moving_to_where_it_is_shares(void)
{
    tsr_tensor *t = on_sim(TSR_F32, 2, 2), *same = NULL;
    EXPECT_OK(tsr_to(&same, t, sim));
    EXPECT(same->data == t->data && same->storage == t->storage);
    EXPECT_FAILS(tsr_to(&same, t, TSR_DEVICE("nowhere:3")), TSR_EDEVICE,
                 "to: there is no device \"nowhere:3\"");
    EXPECT_FAILS(tsr_to(&same, t, -2), TSR_EDEVICE, "to: there is no device -2");
    EXPECT_FAILS(tsr_to(NULL, t, sim), TSR_ENULL, "out");
    EXPECT_FAILS(tsr_to(&same, NULL, sim), TSR_ENULL, "t");
    EXPECT_FAILS(tsr_to_host(&same, NULL), TSR_ENULL, "t");
    tsr_release_all(&same, &t);
}

/* Ops --------------------------------------------------------------------------------------- */

static void test_devices_ops_run_where_their_operands_are(void)
{
    tsr_tensor *a = on_sim(TSR_F32, 2, 3), *b = NULL, *c = NULL, *d = NULL;
    tsr_op_stats stats;
    tsr_op_reset_stats();
    EXPECT_OK(tsr_add(&b, a, a));
    EXPECT_OK(tsr_mul(&b, b, TSR_NUMBER(0.5)));
    EXPECT_OK(tsr_transpose(&c, b, 0, 1));
    EXPECT_OK(tsr_matmul(&d, a, c));
    EXPECT(b->device == sim && d->device == sim);
    expect_values(d, 4, (double[]){ 5, 14, 14, 50 });
    tsr_tensor *total = NULL;
    EXPECT_OK(tsr_sum(&total, d, 0, NULL, false));
    tsr_release(&total);
    tsr_op_get_stats(&stats, TSR_OP_ADD);
    EXPECT(stats.run == 1);
    tsr_op_get_stats(&stats, TSR_OP_NONE);
    EXPECT(stats.run >= 4 && stats.refused == 0 && stats.elsewhere == 0);
    tsr_release_all(&a, &b, &c, &d);
}

static void test_devices_default_device_is_where_tensors_come_from_nothing(void)
{
    tsr_tensor *t = NULL, *r = NULL;
    EXPECT(tsr_device_default() == TSR_CPU);
    EXPECT_OK(tsr_device_set_default(sim1));
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(3)));
    EXPECT_OK(tsr_uniform(&r, TSR_F32, TSR_SHAPE(100), 0, 1, 5));
    EXPECT(t->device == sim1 && r->device == sim1);
    EXPECT_OK(tsr_device_set_default(TSR_CPU));
    expect_values(t, 3, (double[]){ 0, 0, 0 });
    tsr_tensor *here = NULL;
    bool same = false;
    EXPECT_OK(tsr_uniform(&here, TSR_F32, TSR_SHAPE(100), 0, 1, 5));
    EXPECT_OK(tsr_equal(&same, here, r));
    EXPECT(same);
    EXPECT_FAILS(tsr_device_set_default(4711), TSR_EDEVICE, "4711");
    tsr_release_all(&t, &r, &here);
}

static void test_devices_layout_of_matrices_is_the_devices(void)
{
    tsr_tensor *host = NULL, *there = NULL, *sum = NULL, *back = NULL;
    EXPECT_OK(tsr_arange(&host, TSR_F32, TSR_SCALAR(0), TSR_SCALAR(6), TSR_SCALAR(1)));
    EXPECT_OK(tsr_view(&host, host, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_device_set_layout(sim1, TSR_LAYOUT_COLUMN));
    EXPECT(tsr_device_layout(sim1) == TSR_LAYOUT_COLUMN && tsr_device_layout(sim) == TSR_LAYOUT_ROW);
    EXPECT_OK(tsr_to(&there, host, sim1));
    EXPECT(there->stride[0] == 1 && there->stride[1] == 2);
    float x = 0;
    EXPECT_OK(tsr_get_f32(&x, there, TSR_INDEX(1, 2)));
    EXPECT(x == 5);
    EXPECT_OK(tsr_add(&sum, there, there));
    EXPECT(sum->stride[0] == 1 && sum->stride[1] == 2);
    EXPECT_OK(tsr_to(&back, sum, TSR_CPU));
    EXPECT(back->stride[0] == 3 && back->stride[1] == 1);
    expect_values(back, 6, (double[]){ 0, 2, 4, 6, 8, 10 });
    EXPECT_OK(tsr_device_set_layout(sim1, TSR_LAYOUT_ROW));
    EXPECT_FAILS(tsr_device_set_layout(TSR_CPU, TSR_LAYOUT_COLUMN), TSR_EDEVICE, "CPU");
    EXPECT_FAILS(tsr_device_set_layout(sim, (tsr_layout)9), TSR_EINVAL, "9");
    tsr_release_all(&host, &there, &sum, &back);
}

static char heard[256];
static void listen(void *context, int level, const char *message)
{
    (void)context;
    if (level == TSR_LOG_WARNING) snprintf(heard, sizeof heard, "%s", message);
}

static void test_devices_op_a_backend_lacks_runs_elsewhere_if_that_is_allowed(void)
{
    tsr_tensor *a = on_sim(TSR_F32, 2, 3), *b = NULL;
    tsr_op_stats stats;
    setenv("TSR_SIM_WITHOUT", "exp,scatter,softmax", 1);
    EXPECT(tsr_get_fallback() == TSR_FALLBACK_ERROR);
    tsr_op_reset_stats();
    EXPECT_FAILS(tsr_exp(&b, a), TSR_EUNSUPPORTED, "exp: the sim backend cannot do this with f32(2, 3");
    EXPECT(b == NULL && strstr(tsr_last_error(), "TSR_SIM_WITHOUT leaves it out") &&
           strstr(tsr_last_error(), "TSR_FALLBACK=allow"));
    tsr_op_get_stats(&stats, TSR_OP_EXP);
    EXPECT(stats.refused == 1 && stats.run == 0);
    EXPECT_OK(tsr_set_fallback(TSR_FALLBACK_WARN));
    tsr_set_log(listen, NULL);
    EXPECT_OK(tsr_exp(&b, a));
    tsr_set_log(NULL, NULL);
    EXPECT(strstr(heard, "exp: computed on the CPU"));
    EXPECT(b->device == sim);
    float x = 0;
    EXPECT_OK(tsr_get_f32(&x, b, TSR_INDEX(0, 1)));
    EXPECT(x > 2.718f && x < 2.719f);
    tsr_op_get_stats(&stats, TSR_OP_EXP);
    EXPECT(stats.elsewhere == 1);
    EXPECT_OK(tsr_set_fallback(TSR_FALLBACK_ERROR));
    tsr_release(&b);
    unsetenv("TSR_SIM_WITHOUT");
    setenv("TSR_SIM_WITHOUT", "softmax", 1);
    EXPECT_OK(tsr_softmax(&b, a, 1));  /* with other ops, there */
    tsr_op_get_stats(&stats, TSR_OP_SOFTMAX);
    EXPECT(b->device == sim && stats.in_parts == 1 && stats.elsewhere == 0);
    unsetenv("TSR_SIM_WITHOUT");
    EXPECT_FAILS(tsr_set_fallback((tsr_fallback)7), TSR_EINVAL, "7");
    tsr_release_all(&a, &b);
}

/* A weight that is one number of the host, repeated, is carried to the device, in one op or in its parts. */
static void test_devices_number_of_the_host_is_an_operand_there(void)
{
    tsr_tensor *x = on_sim(TSR_F32, 2, 3), *host = NULL, *weight = NULL, *want = NULL, *got = NULL;
    EXPECT_OK(tsr_full(&weight, TSR_F32, TSR_SCALAR_SHAPE, TSR_SCALAR(3)));
    EXPECT_OK(tsr_expand(&weight, weight, TSR_SHAPE(3)));
    EXPECT_OK(tsr_to_host(&host, x));
    EXPECT_OK(tsr_rms_norm(&want, host, weight, 1e-5));
    for (int in_parts = 0; in_parts < 2; in_parts++) {
        if (in_parts) setenv("TSR_SIM_WITHOUT", "rms_norm", 1);
        EXPECT_OK(tsr_rms_norm(&got, x, weight, 1e-5));
        EXPECT(got && got->device == sim);
        for (int64_t i = 0; i < 6; i++) {
            float a = 0, b = 1;
            EXPECT_OK(tsr_get_f32(&a, want, TSR_INDEX(i / 3, i % 3)));
            EXPECT_OK(tsr_get_f32(&b, got, TSR_INDEX(i / 3, i % 3)));
            EXPECT_MSG(a - b < 1e-6f && b - a < 1e-6f, "element %d is %g, not %g", (int)i, (double)b,
                       (double)a);
        }
        tsr_release(&got);
    }
    unsetenv("TSR_SIM_WITHOUT");
    tsr_release_all(&x, &host, &weight, &want);
    EXPECT_OK(tsr_full(&weight, TSR_F32, TSR_SCALAR_SHAPE, TSR_SCALAR(3)));
    EXPECT_OK(tsr_expand(&weight, weight, TSR_SHAPE(0, 3))); /* no number at all */
    x = on_sim(TSR_F32, 2, 0);
    EXPECT_OK(tsr_matmul(&got, x, weight));
    EXPECT(got && got->device == sim);
    expect_values(got, 6, (const double[6]){ 0 });
    tsr_release_all(&x, &weight, &got);
}

/* An op of the CPU with an operand there: at once, with operands that are converted as they are read, and of
 * those that have parts. */
static void test_devices_ops_of_the_cpu_take_no_operands_there(void)
{
    tsr_tensor *there = on_sim(TSR_F32, 2, 3), *narrow = on_sim(TSR_F16, 2, 3), *here = NULL, *z = NULL;
    EXPECT_OK(tsr_ones(&here, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_clone(&z, here));
    EXPECT_FAILS(tsr_add(&z, here, there), TSR_EDEVICE, "add: operands on cpu:0 and sim:0 (tsr_to moves)");
    EXPECT_FAILS(tsr_add(&z, here, narrow), TSR_EDEVICE, "add: operands on cpu:0 and sim:0");
    EXPECT_FAILS(tsr_swiglu(&z, here, there), TSR_EDEVICE, "swiglu: operands on cpu:0 and sim:0");
    tsr_release_all(&there, &narrow, &here, &z);
}

static void expect_close(const tsr_tensor *there, const tsr_tensor *want)
{
    tsr_tensor *here = NULL;
    bool close = false;
    EXPECT(there && there->device == sim);
    EXPECT_OK(tsr_to_host(&here, there));
    EXPECT_OK(tsr_allclose(&close, here, want, &(tsr_close_opts){ 1e-6, 1e-6, false }, NULL));
    EXPECT(close);
    tsr_release(&here);
}

/* What an op makes from nothing while it is done with others is made where its operands are. */
static void test_devices_parts_of_an_op_stay_where_it_is(void)
{
    tsr_tensor *x = on_sim(TSR_F32, 6, 4), *at = on_sim(TSR_I64, 1, 3), *host[2] = { NULL }, *want = NULL,
               *got = NULL;
    EXPECT_OK(tsr_view(&x, x, TSR_SHAPE(3, 2, 4)));
    EXPECT_OK(tsr_view(&at, at, TSR_SHAPE(3)));
    EXPECT_OK(tsr_to_host(&host[0], x));
    EXPECT_OK(tsr_to_host(&host[1], at));
    EXPECT_OK(tsr_rope(&want, host[0], host[1], 10000, TSR_ROPE_HALVES));
    setenv("TSR_SIM_WITHOUT", "rope,quantisation_range", 1);
    EXPECT_OK(tsr_rope(&got, x, at, 10000, TSR_ROPE_HALVES));
    expect_close(got, want);
    tsr_release_all(&x, &at, &host[0], &host[1], &want, &got);
    tsr_tensor *scale[2] = { NULL }, *zero[2] = { NULL };
    EXPECT_OK(tsr_zeros(&host[0], TSR_F32, TSR_SHAPE(2, 0, 3)));
    EXPECT_OK(tsr_to(&x, host[0], sim));
    for (int axis = -1; axis < 2; axis++) {
        const int along = axis < 0 ? TSR_ALL_AXES : axis;
        EXPECT_OK(tsr_quantisation_range(&scale[0], &zero[0], host[0], along, TSR_U8, false));
        EXPECT_OK(tsr_quantisation_range(&scale[1], &zero[1], x, along, TSR_U8, false));
        expect_close(scale[1], scale[0]);
        expect_close(zero[1], zero[0]);
        tsr_release_all(&scale[0], &scale[1], &zero[0], &zero[1]);
    }
    unsetenv("TSR_SIM_WITHOUT");
    tsr_release_all(&x, &host[0]);
}

/* How often an op has run on a device. */
static int64_t runs_of(tsr_op_kind kind)
{
    tsr_op_stats stats;
    tsr_op_get_stats(&stats, kind);
    return stats.run;
}

TEST(test_devices_statistics_are_computed_where_x_is)
{
    tsr_tensor *x = on_sim(TSR_F32, 3, 4), *i = on_sim(TSR_I32, 3, 4), *q = NULL, *out = NULL, *edges = NULL;
    const int last = 1;
    const int64_t sorts = runs_of(TSR_OP_SORT), scatters = runs_of(TSR_OP_SCATTER);
    EXPECT_OK(tsr_median(&out, x, 1, &last, false));
    expect_values(out, 3, (double[]){ 1.5, 5.5, 9.5 });
    tsr_release(&out);
    EXPECT_OK(tsr_full(&q, TSR_F64, 0, NULL, TSR_SCALAR(0.25)));
    EXPECT_OK(tsr_quantile(&out, x, q, 0, NULL, false, TSR_QUANTILE_HIGHER));
    expect_values(out, 1, (double[]){ 3 });
    tsr_release(&out);
    EXPECT_OK(tsr_histogram(&out, &edges, x, 2, 0, 4, NULL, false));
    expect_values(out, 2, (double[]){ 2, 3 });
    tsr_release(&out);
    EXPECT_OK(tsr_bincount(&out, i, NULL, 0));
    EXPECT(out && tsr_numel(out) == 12 && out->device == sim);
    EXPECT(runs_of(TSR_OP_SORT) == sorts + 4);
    tsr_release_all(&out, &edges);
    EXPECT_OK(tsr_histogram(&out, &edges, x, 2, 0, 4, x, false));
    expect_values(out, 2, (double[]){ 1, 9 });
    EXPECT(runs_of(TSR_OP_SCATTER) == scatters + 1);
    tsr_release_all(&x, &i, &q, &out, &edges);
}

/* Indices that count from the end, or are no i64, are changed for the op, wherever they are. */
static void test_devices_indices_there_count_from_the_end(void)
{
    static const tsr_dtype dtypes[] = { TSR_I64, TSR_I32, TSR_I8 };
    tsr_tensor *x = on_sim(TSR_F32, 3, 2), *host = NULL, *index = NULL, *z = NULL;
    for (int i = 0; i < 3; i++) {
        EXPECT_OK(tsr_arange(&host, dtypes[i], TSR_SCALAR(-1), TSR_SCALAR(2), TSR_SCALAR(1)));
        EXPECT_OK(tsr_to(&index, host, sim));
        EXPECT_OK(tsr_take(&z, x, index, 0));
        EXPECT(z && z->device == sim);
        expect_values(z, 6, (const double[]){ 4, 5, 0, 1, 2, 3 });
        tsr_release_all(&host, &index, &z);
    }
    tsr_release(&x);
}

/* Streams and events -------------------------------------------------------------------------- */

static void test_devices_streams_keep_order_and_events_join_them(void)
{
    tsr_stream *one = NULL, *two = NULL;
    tsr_event *event = NULL, *start = NULL;
    tsr_tensor *t = NULL, *u = NULL;
    EXPECT_OK(tsr_stream_create(&one, sim));
    EXPECT_OK(tsr_stream_create(&two, sim));
    EXPECT_OK(tsr_event_create(&event, sim));
    EXPECT_OK(tsr_event_create(&start, sim));
    EXPECT(tsr_stream_device(one) == sim && tsr_stream_handle(one) && tsr_stream_current(sim) == NULL);
    EXPECT_OK(tsr_stream_use(one));
    EXPECT(tsr_stream_current(sim) == one && tsr_stream_current(sim1) == NULL);
    EXPECT_OK(tsr_event_record(start, NULL));
    EXPECT_OK(tsr_device_set_default(sim));
    EXPECT_OK(tsr_zeros(&t, TSR_F64, TSR_SHAPE(1000)));
    EXPECT_OK(tsr_device_set_default(TSR_CPU));
    for (int i = 0; i < 200; i++) EXPECT_OK(tsr_add(&t, t, TSR_NUMBER(1)));
    EXPECT_OK(tsr_event_record(event, NULL));
    EXPECT_OK(tsr_stream_use(two));
    EXPECT_OK(tsr_stream_wait(two, event));
    EXPECT_OK(tsr_mul(&u, t, TSR_NUMBER(2)));
    EXPECT_OK(tsr_stream_sync(two));
    double x = 0;
    EXPECT_OK(tsr_get_f64(&x, u, TSR_INDEX(999)));
    EXPECT(x == 400);
    bool done = false;
    EXPECT_OK(tsr_event_sync(event));
    EXPECT_OK(tsr_event_done(&done, event));
    double seconds = -1;
    EXPECT_OK(tsr_event_elapsed(&seconds, start, event));
    EXPECT(done && seconds >= 0);
    EXPECT_OK(tsr_stream_use_default(sim));
    EXPECT(tsr_stream_current(sim) == NULL);
    EXPECT_FAILS(tsr_stream_use(NULL), TSR_ENULL, "s");
    EXPECT_FAILS(tsr_stream_sync(NULL), TSR_ENULL, "s");
    EXPECT_FAILS(tsr_event_record(NULL, one), TSR_ENULL, "e");
    EXPECT_FAILS(tsr_event_elapsed(&seconds, start, NULL), TSR_ENULL, "to");
    EXPECT_FAILS(tsr_stream_create(&one, 1234), TSR_EDEVICE, "1234");
    tsr_release_all(&t, &u);
    tsr_event_destroy(&event);
    tsr_event_destroy(&start);
    tsr_stream_destroy(&one);
    tsr_stream_destroy(&two);
    EXPECT(one == NULL && two == NULL && event == NULL);
    tsr_stream_destroy(NULL);
    tsr_event_destroy(&event);
}

static void test_devices_cpu_has_streams_that_do_nothing(void)
{
    tsr_stream *s = NULL;
    tsr_event *e = NULL;
    bool done = false;
    EXPECT_OK(tsr_stream_create(&s, TSR_CPU));
    EXPECT_OK(tsr_event_create(&e, TSR_CPU));
    EXPECT_OK(tsr_event_record(e, s));
    EXPECT_OK(tsr_stream_wait(s, e));
    EXPECT_OK(tsr_event_done(&done, e));
    EXPECT(done);
    EXPECT_OK(tsr_stream_sync(s));
    EXPECT_OK(tsr_device_sync(TSR_CPU));
    EXPECT_FAILS(tsr_graph_begin(s), TSR_EUNSUPPORTED, "graphs");
    tsr_event_destroy(&e);
    tsr_stream_destroy(&s);
}

/* Tensors die while the stream is far behind; their memory is not given out too early. */
static void test_devices_tensor_may_die_while_its_work_is_queued(void)
{
    tsr_stream *streams[3] = { NULL };
    tsr_tensor *sums[3] = { NULL };
    for (int k = 0; k < 3; k++) EXPECT_OK(tsr_stream_create(&streams[k], sim));
    for (int k = 0; k < 3; k++) {
        EXPECT_OK(tsr_stream_use(streams[k]));
        sums[k] = on_sim(TSR_F64, 64, 64);
        EXPECT_OK(tsr_mul(&sums[k], sums[k], TSR_NUMBER(0)));
    }
    for (int i = 1; i <= 60; i++)
        for (int k = 0; k < 3; k++) {
            tsr_tensor *ones = NULL, *more = NULL;
            EXPECT_OK(tsr_stream_use(streams[k]));
            EXPECT_OK(tsr_full_like(&ones, sums[k], tsr_scalar_i64(i)));
            EXPECT_OK(tsr_add(&more, ones, ones));
            EXPECT_OK(tsr_add(&sums[k], sums[k], more));
            tsr_release_all(&ones, &more);
        }
    for (int k = 0; k < 3; k++) {
        double low = 0, high = 0;
        tsr_tensor *edge = NULL;
        EXPECT_OK(tsr_stream_use(streams[k]));
        EXPECT_OK(tsr_min(&edge, sums[k], 0, NULL, false));
        EXPECT_OK(tsr_item_f64(&low, edge));
        tsr_release(&edge);
        EXPECT_OK(tsr_max(&edge, sums[k], 0, NULL, false));
        EXPECT_OK(tsr_item_f64(&high, edge));
        EXPECT(low == 3660 && high == 3660);
        tsr_release_all(&edge, &sums[k]);
    }
    EXPECT_OK(tsr_stream_use_default(sim));
    for (int k = 0; k < 3; k++) tsr_stream_destroy(&streams[k]);
}

static void test_devices_copies_from_pinned_memory_do_not_wait(void)
{
    tsr_tensor *host = NULL, *pinned = NULL, *there = NULL, *back = NULL;
    tsr_desc d;
    tsr_event *e = NULL;
    bool same = false;
    EXPECT_OK(tsr_uniform(&host, TSR_F32, TSR_SHAPE(500, 300), 0, 1, 11));
    EXPECT_OK(tsr_to_memory(&pinned, host, TSR_CPU, TSR_MEMORY_PINNED));
    EXPECT(pinned->memory == TSR_MEMORY_PINNED && tsr_is_host(pinned) && !tsr_is_device(pinned));
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(500, 300), NULL));
    EXPECT_OK(tsr_declare(&there, &d, sim, TSR_MEMORY_DEFAULT));
    EXPECT_OK(tsr_alloc(there));
    EXPECT_OK(tsr_event_create(&e, sim));
    EXPECT_OK(tsr_copy_async(there, pinned));
    EXPECT_OK(tsr_declare(&back, &d, TSR_CPU, TSR_MEMORY_PINNED));
    EXPECT_OK(tsr_alloc(back));
    EXPECT_OK(tsr_copy_async(back, there));
    EXPECT_OK(tsr_event_record(e, NULL));
    EXPECT_OK(tsr_event_sync(e));
    EXPECT_OK(tsr_equal(&same, back, host));
    EXPECT(same);
    tsr_event_destroy(&e);
    tsr_tensor *part = NULL, *other = NULL;
    EXPECT_OK(tsr_slice(&part, pinned, 1, 50, 250, 1));  /* rows as stored, both ways */
    tsr_release(&there);
    EXPECT_OK(tsr_to(&there, part, sim));
    EXPECT_OK(tsr_equal(&same, there, part));
    EXPECT(same);
    EXPECT_OK(tsr_slice(&other, back, 1, 0, 200, 1));
    EXPECT_OK(tsr_copy(other, there));
    EXPECT_OK(tsr_equal(&same, other, part));
    EXPECT(same);
    tsr_release_all(&part, &other);
    tsr_release(&pinned);  /* its memory waits for the stream */
    tsr_release_all(&host, &there, &back);
}

static void test_devices_graph_is_kept_and_done_again(void)
{
    tsr_stream *s = NULL;
    tsr_graph *g = NULL;
    tsr_tensor *x = on_sim(TSR_F32, 1, 4), *y = NULL;
    EXPECT_OK(tsr_empty_like(&y, x));
    EXPECT_OK(tsr_stream_create(&s, sim));
    EXPECT_OK(tsr_device_sync(sim));
    EXPECT_OK(tsr_stream_use(s));
    EXPECT_OK(tsr_graph_begin(s));
    EXPECT_OK(tsr_add(&y, x, x));
    EXPECT_OK(tsr_add(&x, x, y));
    EXPECT_OK(tsr_graph_end(&g, s));
    EXPECT_OK(tsr_stream_sync(s));
    expect_values(x, 4, (double[]){ 0, 1, 2, 3 });  /* nothing was done yet */
    for (int i = 0; i < 3; i++) EXPECT_OK(tsr_graph_launch(g, s));
    expect_values(x, 4, (double[]){ 0, 27, 54, 81 });
    EXPECT_FAILS(tsr_graph_end(&g, s), TSR_EINVAL, "no graph");
    EXPECT_FAILS(tsr_graph_launch(NULL, s), TSR_ENULL, "g");
    tsr_graph_destroy(&g);
    EXPECT_OK(tsr_stream_use_default(sim));
    tsr_stream_destroy(&s);
    tsr_release_all(&x, &y);
}

/* Temporaries of kept work have left before it is done; nobody else gets their memory. */
static void test_devices_graph_holds_on_to_its_memory(void)
{
    tsr_stream *s = NULL;
    tsr_graph *g = NULL;
    tsr_tensor *x = on_sim(TSR_F32, 8, 8), *y = NULL, *t = NULL, *u = NULL, *other[8] = { NULL };
    bool same = false;
    EXPECT_OK(tsr_stream_create(&s, sim));
    EXPECT_OK(tsr_device_sync(sim));
    EXPECT_OK(tsr_stream_use(s));
    EXPECT_OK(tsr_graph_begin(s));
    EXPECT_FAILS(tsr_graph_begin(s), TSR_EBUSY, "already");
    EXPECT_OK(tsr_add(&t, x, x));
    EXPECT_OK(tsr_add(&u, t, x));
    tsr_release(&t);
    EXPECT_OK(tsr_add(&t, u, u));
    tsr_release(&u);
    EXPECT_OK(tsr_add(&y, t, x));
    tsr_release(&t);
    EXPECT_OK(tsr_graph_end(&g, s));
    for (int i = 0; i < 8; i++) EXPECT_OK(tsr_full_like(&other[i], x, tsr_scalar_i64(i)));
    EXPECT_OK(tsr_graph_launch(g, s));
    EXPECT_OK(tsr_mul(&t, x, TSR_NUMBER(7)));
    EXPECT_OK(tsr_equal(&same, t, y));
    EXPECT(same);
    tsr_release(&t);
    for (int i = 0; i < 8; i++) {
        double low = -1, high = -1;
        EXPECT_OK(tsr_min(&t, other[i], 0, NULL, false));
        EXPECT_OK(tsr_item_f64(&low, t));
        tsr_release(&t);
        EXPECT_OK(tsr_max(&t, other[i], 0, NULL, false));
        EXPECT_OK(tsr_item_f64(&high, t));
        EXPECT(low == i && high == i);
        tsr_release_all(&t, &other[i]);
    }
    tsr_graph_destroy(&g);
    EXPECT_OK(tsr_stream_use_default(sim));
    tsr_stream_destroy(&s);
    tsr_release_all(&x, &y);
}

/* Faults -------------------------------------------------------------------------------------- */

static void test_devices_fault_of_queued_work_is_the_status_of_the_next_call(void)
{
    tsr_tensor *a = on_sim(TSR_F32, 1, 4), *b = NULL, *here = NULL;
    EXPECT_OK(tsr_device_sync(sim));
    inject("work", 0);
    tsr_status s = tsr_neg(&b, a);  /* queued; that it failed may show at once or later */
    if (s == TSR_OK) s = tsr_device_sync(sim);
    EXPECT(s == TSR_EDEVICE && strstr(tsr_last_error(), "neg: queued work on sim failed"));
    EXPECT_OK(tsr_device_sync(sim));  /* told once */
    inject("run", 0);
    tsr_release(&b);
    EXPECT_FAILS(tsr_neg(&b, a), TSR_EDEVICE, "sim: a launch that was to fail");
    EXPECT(b == NULL);
    inject("alloc", 0);
    (void)tsr_device_pool_trim(sim, 0);
    EXPECT_FAILS(tsr_neg(&b, a), TSR_ENOMEM, "sim: an allocation that was to fail");
    inject("upload", 0);
    EXPECT_FAILS(tsr_to_host(&here, a), TSR_EDEVICE, "sim: a transfer that was to fail");
    EXPECT(b == NULL && here == NULL);
    expect_values(a, 4, (double[]){ 0, 1, 2, 3 });
    tsr_release(&a);
}

/* In a child: a lost device stays lost. */
static void test_devices_lost_device_leaves_the_others_working(void)
{
    tsr_tensor *a = NULL, *b = NULL, *c = NULL;
    EXPECT_OK(tsr_ones(&a, TSR_F32, TSR_SHAPE(4)));
    EXPECT_OK(tsr_to(&b, a, sim1));
    EXPECT_OK(tsr_to(&c, a, sim));
    inject("lost", 0);
    tsr_tensor *out = NULL;
    EXPECT_FAILS(tsr_neg(&out, b), TSR_EDEVICE, "lost");
    EXPECT_FAILS(tsr_neg(&out, b), TSR_EDEVICE, "lost");
    EXPECT_FAILS(tsr_device_sync(sim1), TSR_EDEVICE, "lost");
    EXPECT_OK(tsr_neg(&out, c));
    expect_values(out, 4, (double[]){ -1, -1, -1, -1 });
    tsr_release(&out);
    EXPECT_OK(tsr_neg(&out, a));
    tsr_release_all(&out, &a, &b, &c);
}

/* Threads -------------------------------------------------------------------------------------- */

static void *work(void *argument)
{
    bool *good = argument;
    tsr_stream *s = NULL;
    if (tsr_stream_create(&s, sim) != TSR_OK || tsr_stream_use(s) != TSR_OK) return NULL;
    *good = true;
    for (int i = 0; i < 40 && *good; i++) {
        tsr_tensor *host = NULL, *t = NULL, *sum = NULL;
        double x = 0;
        *good = tsr_ones(&host, TSR_F64, TSR_SHAPE(100 + i)) == TSR_OK && tsr_to(&t, host, sim) == TSR_OK &&
                tsr_mul(&t, t, TSR_NUMBER(i)) == TSR_OK && tsr_sum(&sum, t, 0, NULL, false) == TSR_OK &&
                tsr_item_f64(&x, sum) == TSR_OK && x == i * (100.0 + i);
        tsr_release_all(&host, &t, &sum);
    }
    tsr_stream_destroy(&s);
    return NULL;
}

static void test_devices_threads_have_streams_of_their_own(void)
{
    pthread_t threads[4];
    bool good[4] = { false };
    for (int i = 0; i < 4; i++) EXPECT(pthread_create(&threads[i], NULL, work, &good[i]) == 0);
    for (int i = 0; i < 4; i++) {
        EXPECT(pthread_join(threads[i], NULL) == 0);
        EXPECT(good[i]);
    }
}

/* Hostile calls ------------------------------------------------------------------------------- */

static void test_devices_bad_arguments_are_refused_with_words(void)
{
    const tsr_device bad[] = { -2, TSR_NO_DEVICE, 255, 5000, 70000, INT32_MAX };
    tsr_tensor *t = on_sim(TSR_F32, 2, 2), *out = NULL;
    tsr_stream *s = NULL;
    tsr_event *e = NULL, *other = NULL;
    tsr_graph *g = NULL;
    tsr_device_info info;
    tsr_device_memory_stats stats;
    double seconds;
    bool done;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        EXPECT_STATUS(tsr_to(&out, t, bad[i]), TSR_EDEVICE);
        EXPECT_STATUS(tsr_stream_create(&s, bad[i]), TSR_EDEVICE);
        EXPECT_STATUS(tsr_event_create(&e, bad[i]), TSR_EDEVICE);
        EXPECT_STATUS(tsr_stream_use_default(bad[i]), TSR_EDEVICE);
        EXPECT_STATUS(tsr_device_sync(bad[i]), TSR_EDEVICE);
        EXPECT_STATUS(tsr_device_get_info(&info, bad[i]), TSR_EDEVICE);
        EXPECT_STATUS(tsr_device_set_default(bad[i]), TSR_EDEVICE);
        EXPECT_STATUS(tsr_device_set_layout(bad[i], TSR_LAYOUT_ROW), TSR_EDEVICE);
        EXPECT_STATUS(tsr_device_memory_get_stats(&stats, bad[i]), TSR_EDEVICE);
        EXPECT_STATUS(tsr_device_pool_set_limit(bad[i], 1), TSR_EDEVICE);
        EXPECT(tsr_device_pool_trim(bad[i], 0) == 0 && tsr_stream_current(bad[i]) == NULL &&
               tsr_device_layout(bad[i]) == TSR_LAYOUT_ROW && !tsr_device_exists(bad[i]));
    }
    EXPECT(!out && !s && !e && tsr_device_default() == TSR_CPU);
    EXPECT_OK(tsr_stream_create(&s, sim));
    EXPECT_OK(tsr_event_create(&e, sim));
    EXPECT_OK(tsr_event_create(&other, sim1));
    EXPECT_FAILS(tsr_stream_create(NULL, sim), TSR_ENULL, "out");
    EXPECT_FAILS(tsr_event_create(NULL, sim), TSR_ENULL, "out");
    EXPECT_FAILS(tsr_event_record(other, s), TSR_EDEVICE, "event_record");
    EXPECT_FAILS(tsr_stream_wait(s, other), TSR_EDEVICE, "stream_wait");
    EXPECT_FAILS(tsr_stream_wait(s, NULL), TSR_ENULL, "e");
    EXPECT_FAILS(tsr_event_sync(NULL), TSR_ENULL, "e");
    EXPECT_FAILS(tsr_event_done(NULL, e), TSR_ENULL, "out");
    EXPECT_FAILS(tsr_event_done(&done, NULL), TSR_ENULL, "e");
    EXPECT_FAILS(tsr_event_elapsed(NULL, e, e), TSR_ENULL, "seconds");
    EXPECT_FAILS(tsr_event_elapsed(&seconds, NULL, e), TSR_ENULL, "from");
    EXPECT_FAILS(tsr_event_elapsed(&seconds, e, other), TSR_EDEVICE, "event_elapsed");
    EXPECT_FAILS(tsr_event_elapsed(&seconds, e, e), TSR_EINVAL, "not recorded");
    EXPECT_FAILS(tsr_graph_begin(NULL), TSR_ENULL, "s");
    EXPECT_FAILS(tsr_graph_end(NULL, s), TSR_ENULL, "out");
    EXPECT_FAILS(tsr_graph_end(&g, NULL), TSR_ENULL, "s");
    EXPECT_FAILS(tsr_device_parse(NULL, "sim"), TSR_ENULL, "out");
    EXPECT_FAILS(tsr_copy_async(t, NULL), TSR_ENULL, "src");
    EXPECT_FAILS(tsr_copy_async(NULL, t), TSR_ENULL, "dst");
    EXPECT_OK(tsr_ones(&out, TSR_F32, TSR_SHAPE(3)));
    EXPECT_FAILS(tsr_copy_async(t, out), TSR_ESHAPE, "copy_async");
    EXPECT(tsr_device_named(NULL) == TSR_NO_DEVICE && tsr_device_named("") == TSR_NO_DEVICE);
    EXPECT(tsr_stream_device(NULL) == TSR_NO_DEVICE && tsr_stream_handle(NULL) == NULL &&
           !tsr_is_device(NULL));
    tsr_op_get_stats(NULL, TSR_OP_ADD);
    tsr_graph_destroy(NULL);
    tsr_graph_destroy(&g);
    tsr_event_destroy(NULL);
    EXPECT(tsr_backend_host() && tsr_backend_host()->size == sizeof(tsr_host));
    tsr_event_destroy(&e);
    tsr_event_destroy(&other);
    tsr_stream_destroy(&s);
    tsr_release_all(&t, &out);
}

static int64_t allowed, asked;
static bool allow_some(void *context, size_t bytes)
{
    (void)context; (void)bytes;
    return asked++ < allowed;
}

/* All that the host allocates for devices, in one go. */
static tsr_status use_devices(const tsr_tensor *host, tsr_tensor *pinned)
{
    tsr_tensor *t[4] = { NULL };
    tsr_stream *s = NULL;
    tsr_event *e = NULL;
    tsr_status status = tsr_stream_create(&s, sim);
    if (status == TSR_OK) status = tsr_stream_use(s);
    if (status == TSR_OK) status = tsr_event_create(&e, sim);
    if (status == TSR_OK) status = tsr_to(&t[0], host, sim);
    if (status == TSR_OK) status = tsr_transpose(&t[1], t[0], 0, 1);
    if (status == TSR_OK) status = tsr_add(&t[2], t[1], TSR_NUMBER(1));
    if (status == TSR_OK) status = tsr_copy_async(pinned, t[0]);
    if (status == TSR_OK) status = tsr_event_record(e, s);
    if (status == TSR_OK) status = tsr_to_host(&t[3], t[2]);
    if (status == TSR_OK) status = tsr_softmax(&t[2], t[1], 0);
    if (status == TSR_OK) status = tsr_event_sync(e);
    for (int i = 0; i < 4; i++) tsr_release(&t[i]);
    tsr_event_destroy(&e);
    tsr_stream_destroy(&s);
    return status;
}

static void test_devices_any_allocation_of_the_host_may_fail(void)
{
    tsr_tensor *host = NULL, *pinned = NULL;
    tsr_status s = TSR_ENOMEM;
    EXPECT_OK(tsr_uniform(&host, TSR_F32, TSR_SHAPE(300, 200), 0, 1, 2));
    EXPECT_OK(tsr_to_memory(&pinned, host, TSR_CPU, TSR_MEMORY_PINNED));
    for (allowed = 0; allowed < 2000 && s != TSR_OK; allowed++) {
        asked = 0;
        tsr_set_alloc_hook(allow_some, NULL);
        s = use_devices(host, pinned);
        tsr_set_alloc_hook(NULL, NULL);
        EXPECT_MSG(s == TSR_OK || (s == TSR_ENOMEM && tsr_last_error()[0]), "%lld: %s", (long long)allowed,
                   tsr_last_error());
    }
    EXPECT(s == TSR_OK && allowed > 5);
    EXPECT(tsr_stream_current(sim) == NULL);
    tsr_release_all(&host, &pinned);
}

/* A plugin belongs to the copy of the library that loaded it. */
static void test_devices_second_copy_of_the_library_does_not_mix(void)
{
    void *copy = dlopen(TEST_PLUGINS "/../libtessera.so", RTLD_NOW | RTLD_LOCAL);
    if (!copy) SKIP("no shared library beside the plugins");
    tsr_status (*load)(const char *) = NULL;
    const char *(*words)(void) = NULL;
    int (*count)(void) = NULL;
    *(void **)&load = dlsym(copy, "tsr_backend_load");
    *(void **)&words = dlsym(copy, "tsr_last_error");
    *(void **)&count = dlsym(copy, "tsr_device_count");
    EXPECT(load && words && count);
    EXPECT(load(TEST_PLUGINS "/libtessera-sim.so") == TSR_EBUSY && strstr(words(), "another copy"));
    EXPECT(count() >= 1);
    tsr_tensor *t = on_sim(TSR_F32, 1, 2);
    expect_values(t, 2, (double[]){ 0, 1 });
    tsr_release(&t);
    (void)dlclose(copy);
}

static void find_sim(void)
{
    (void)setenv("TSR_BACKEND_PATH", TEST_PLUGINS, 1);
    sim = TSR_DEVICE("sim:0");
    sim1 = TSR_DEVICE("sim:1");
    void *plugin = dlopen(TEST_PLUGINS "/libtessera-sim.so", RTLD_NOW | RTLD_NOLOAD);
    if (plugin) *(void **)&inject = dlsym(plugin, "tsr_sim_inject");
}

/* Files are read and written through the host, whatever the strides. */
static void *own_alloc(void *context, size_t bytes, size_t alignment)
{
    ++*(int *)context;
    (void)alignment;
    return malloc(bytes);
}

static void own_free(void *context, void *data, size_t bytes)
{
    --*(int *)context;
    (void)bytes;
    free(data);
}

/* A kind of the program's own comes from its functions, also for a device. */
static void test_devices_take_memory_of_the_programs_own(void)
{
    int blocks = 0;
    tsr_memory own;
    tsr_storage *s = NULL;
    tsr_tensor *t = on_sim(TSR_F32, 1, 1);
    EXPECT_OK(tsr_memory_register(&own, &(tsr_memory_kind){ .size = sizeof(tsr_memory_kind),
                                                            .name = "own",
                                                            .alloc = own_alloc,
                                                            .free = own_free,
                                                            .context = &blocks }));
    EXPECT_OK(tsr_storage_create(&s, 1000, t->device, own));
    EXPECT(blocks == 1);
    tsr_storage_release(&s);
    EXPECT(blocks == 0);
    tsr_release(&t);
    EXPECT_OK(tsr_memory_unregister(own));
}

/* Compressed chunks are made of what comes to the host. */
static void test_devices_tensors_are_compressed(void)
{
    char path[160];
    const char *tmp = getenv("TMPDIR");
    tsr_tensor *t = on_sim(TSR_F32, 6, 8), *want = NULL, *got = NULL;
    tsr_writer *w = NULL;
    snprintf(path, sizeof path, "%.80s/tsr-devices-%ld.h5", tmp ? tmp : "/tmp", (long)getpid());
    EXPECT_OK(tsr_writer_create(&w, path, &(tsr_writer_opts){ .compress = true, .no_sync = true }));
    EXPECT_OK(tsr_writer_add(w, "t", t, NULL));
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_OK(tsr_file_load(&got, path, "t"));
    EXPECT_OK(tsr_to_host(&want, t));
    EXPECT(got && tsr_same_shape(got, want) && memcmp(got->data, want->data, 6 * 8 * 4) == 0);
    EXPECT(unlink(path) == 0);
    tsr_release_all(&t, &want, &got);
    if (tsr_file_load(&got, "tests/data/files/gray.jpg", NULL) != TSR_OK) return;
    snprintf(path, sizeof path, "%.80s/tsr-devices-%ld.jpg", tmp ? tmp : "/tmp", (long)getpid());
    EXPECT_OK(tsr_to(&t, got, sim));
    EXPECT_OK(tsr_file_save(path, t));
    EXPECT_OK(tsr_file_load(&want, path, NULL));
    EXPECT(tsr_same_shape(got, want));
    EXPECT(unlink(path) == 0);
    tsr_release_all(&t, &want, &got);
}

static void test_devices_tensors_are_saved_and_read_into(void)
{
    char path[160];
    const char *tmp = getenv("TMPDIR");
    snprintf(path, sizeof path, "%.80s/tsr-devices-%ld.npy", tmp ? tmp : "/tmp", (long)getpid());
    for (int strided = 0; strided < 2; strided++) {
        tsr_tensor *t = on_sim(TSR_F32, 6, 8), *want = NULL, *given = NULL, *got = NULL;
        tsr_file *f = NULL;
        if (strided) EXPECT_OK(tsr_transpose(&t, t, 0, 1));
        EXPECT_OK(tsr_file_save(path, t));
        EXPECT_OK(tsr_to_host(&want, t));
        EXPECT_OK(tsr_contiguous(&want, want));
        given = on_sim(TSR_F32, t->shape[0], t->shape[1]);
        EXPECT_OK(tsr_zero(given));
        EXPECT_OK(tsr_file_open(&f, path, NULL));
        EXPECT_OK(tsr_file_read(&given, f, NULL));
        EXPECT_OK(tsr_to_host(&got, given));
        EXPECT(got && tsr_same_shape(got, want) && memcmp(got->data, want->data, 6 * 8 * 4) == 0);
        tsr_file_close(&f);
        tsr_release_all(&t, &want, &given, &got);
    }
    EXPECT(unlink(path) == 0);
}

/* Everything that can be read of an entry, each time as with the CPU as the default. */
static void expect_read_on_the_host(const tsr_file *f, int64_t index)
{
    for (int how = 0; how < 3; how++) {
        tsr_file_entry e;
        tsr_tensor *t[2] = { NULL };
        tsr_status s[2];
        bool same = false;
        EXPECT_OK(tsr_file_list(&e, f, index));
        for (int k = 0; k < 2; k++) {
            EXPECT_OK(tsr_device_set_default(k ? sim : TSR_CPU));
            s[k] = how == 0   ? tsr_file_read(&t[k], f, e.name)
                   : how == 1 ? tsr_file_read_raw(&t[k], f, e.name)
                              : tsr_file_read_slice(&t[k], f, e.name, 1, &(tsr_file_range){ 0, 1, 1 });
        }
        EXPECT_OK(tsr_device_set_default(TSR_CPU));
        EXPECT_MSG(s[0] == s[1], "%s is read with %s, not %s", e.name, tsr_status_name(s[1]),
                   tsr_status_name(s[0]));
        if (t[0] && t[1] && t[1]->device == TSR_CPU) {
            EXPECT_OK(tsr_contiguous(&t[0], t[0]));
            EXPECT_OK(tsr_contiguous(&t[1], t[1]));
            same = !memcmp(t[0]->data, t[1]->data, (size_t)tsr_desc_bytes(&t[0]->desc));
        }
        EXPECT_MSG(same || !t[0], "%s differs", e.name);
        tsr_release_all(&t[0], &t[1]);
    }
}

static void expect_file_read_on_the_host(const char *path)
{
    tsr_file *f = NULL;
    if (tsr_file_open(&f, path, NULL) != TSR_OK) return;
    for (int64_t i = 0; i < tsr_file_count(f); i++) expect_read_on_the_host(f, i);
    tsr_file_close(&f);
}

static void test_devices_files_are_read_on_the_host_whatever_the_default(void)
{
    char path[400];
    const char *tmp = getenv("TMPDIR");
    DIR *folder = opendir("tests/data/files");
    EXPECT(folder);
    for (struct dirent *d; folder && (d = readdir(folder));) {
        snprintf(path, sizeof path, "tests/data/files/%s", d->d_name);
        expect_file_read_on_the_host(path);
    }
    if (folder) (void)closedir(folder);
    for (int k = 0; k < 2; k++) {
        tsr_tensor *t = on_sim(TSR_U8, 6, 8);
        snprintf(path, sizeof path, "%.80s/tsr-devices-%ld.%s", tmp ? tmp : "/tmp", (long)getpid(),
                 k ? "csv" : "pgm");
        EXPECT_OK(tsr_file_save(path, t));
        expect_file_read_on_the_host(path);
        EXPECT(unlink(path) == 0);
        tsr_release(&t);
    }
}

static void test_devices_columns_are_of_the_host_whatever_the_default(void)
{
    tsr_tensor *t = NULL, *back = NULL;
    tsr_arrow_array a;
    tsr_arrow_schema s;
    bool same = false;
    EXPECT_OK(tsr_bernoulli(&t, TSR_SHAPE(100), 0.5, 3));
    EXPECT_OK(tsr_device_set_default(sim));
    EXPECT_OK(tsr_to_arrow(&a, &s, t));
    EXPECT_OK(tsr_from_arrow(&back, &a, &s));
    EXPECT_OK(tsr_device_set_default(TSR_CPU));
    EXPECT(back && back->device == TSR_CPU);
    EXPECT_OK(tsr_equal(&same, t, back));
    EXPECT(same);
    tsr_release_all(&t, &back);
}

int main(int argc, char **argv)
{
    TEST_BEGIN(argc, argv);
    find_sim();
    if (sim == TSR_NO_DEVICE || !inject) {
        printf("skipped test_devices: %s\n", tsr_last_error());
        test_state.skipped++;
        return TEST_END();
    }
    RUN(test_devices_plugin_that_loads_is_no_problem);
    RUN(test_devices_plugin_is_found_by_its_name);
    RUN(test_devices_are_counted_and_described);
    RUN(test_devices_plugin_that_does_not_load_is_remembered_with_words);
    RUN(test_devices_host_cannot_read_what_is_the_devices);
    RUN(test_devices_dlpack_has_no_name_for_is_not_exported);
    RUN(test_devices_kinds_have_names_and_places);
    RUN(test_devices_memory_is_kept_counted_and_given_back);
    RUN(test_devices_too_much_memory_is_enomem_and_life_goes_on);
    RUN(test_devices_kept_memory_makes_room_when_it_runs_short);
    RUN(test_devices_take_memory_of_the_programs_own);
    RUN(test_devices_tensors_are_saved_and_read_into);
    RUN(test_devices_tensors_are_compressed);
    RUN(test_devices_files_are_read_on_the_host_whatever_the_default);
    RUN(test_devices_columns_are_of_the_host_whatever_the_default);
    RUN(test_devices_tensors_move_whatever_their_strides_and_dtypes);
    RUN(test_devices_long_transfers_go_in_chunks);
    RUN(test_devices_moving_to_where_it_is_shares);
    RUN(test_devices_ops_run_where_their_operands_are);
    RUN(test_devices_default_device_is_where_tensors_come_from_nothing);
    RUN(test_devices_layout_of_matrices_is_the_devices);
    RUN(test_devices_op_a_backend_lacks_runs_elsewhere_if_that_is_allowed);
    RUN(test_devices_number_of_the_host_is_an_operand_there);
    RUN(test_devices_ops_of_the_cpu_take_no_operands_there);
    RUN(test_devices_parts_of_an_op_stay_where_it_is);
    RUN(test_devices_statistics_are_computed_where_x_is);
    RUN(test_devices_indices_there_count_from_the_end);
    RUN(test_devices_streams_keep_order_and_events_join_them);
    RUN(test_devices_cpu_has_streams_that_do_nothing);
    RUN(test_devices_tensor_may_die_while_its_work_is_queued);
    RUN(test_devices_copies_from_pinned_memory_do_not_wait);
    RUN(test_devices_graph_is_kept_and_done_again);
    RUN(test_devices_graph_holds_on_to_its_memory);
    RUN(test_devices_fault_of_queued_work_is_the_status_of_the_next_call);
    RUN(test_devices_threads_have_streams_of_their_own);
    RUN(test_devices_bad_arguments_are_refused_with_words);
    RUN(test_devices_any_allocation_of_the_host_may_fail);
    RUN(test_devices_second_copy_of_the_library_does_not_mix);
    RUN(test_devices_lost_device_leaves_the_others_working);
    return TEST_END();
}
