/* Devices and the backends behind them, with one of the test's own: host memory that plays a
 * device. */
#define TEST_OWN_MAIN
#include "backend/run.h"
#include "test.h"
#include "tessera/backend.h"

/* The toy backend -------------------------------------------------------------------- */

static struct {
    int        allocs, frees, runs, asked;
    int        device;      /* of the latest call */
    size_t     bytes;       /* of the latest alloc or free */
    int64_t    live;
    tsr_memory kind;
    tsr_op     op;          /* the latest that ran */
    tsr_status alloc_fails, run_fails;
    bool       gives_null;
} toy;

static int toy_count(void) { return 2; }

static tsr_status toy_alloc(void **out, int device, size_t bytes, tsr_memory kind)
{
    toy.allocs++;
    toy.device = device;
    toy.bytes = bytes;
    toy.kind = kind;
    if (toy.alloc_fails) return toy.alloc_fails;
    if (toy.gives_null) return TSR_OK;
    *out = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!*out) return TSR_ENOMEM;
    toy.live += (int64_t)bytes;
    return TSR_OK;
}

static void toy_free(int device, void *data, size_t bytes, tsr_memory kind)
{
    toy.frees++;
    toy.device = device;
    toy.bytes = bytes;
    toy.kind = kind;
    toy.live -= (int64_t)bytes;
    free(data);
}

/* Fills and copies, without conversion. */
static bool toy_supports(int device, const tsr_op *op)
{
    (void)device;
    toy.asked++;
    if (op->kind == TSR_OP_FILL) return true;
    return op->kind == TSR_OP_COPY && op->in[0]->dtype == op->out[0]->dtype;
}

/* The toy's memory is the host's, so the CPU can do its work on tensors placed over it. */
static tsr_status toy_run(int device, const tsr_op *op)
{
    tsr_tensor out, in;
    toy.runs++;
    toy.device = device;
    toy.op = *op;
    if (toy.run_fails) return toy.run_fails;
    TSR_TRY(tsr_place(&out, op->out[0]->data, &op->out[0]->desc));
    if (op->kind == TSR_OP_FILL) return tsr_fill(&out, ((const tsr_fill_params *)op->params)->value);
    TSR_TRY(tsr_place(&in, op->in[0]->data, &op->in[0]->desc));
    return tsr_copy(&out, &in);
}

static const tsr_backend toy_table = {
    .abi = TSR_BACKEND_ABI, .size = sizeof(tsr_backend), .name = "toy", .device_count = toy_count,
    .alloc = toy_alloc, .free = toy_free, .supports = toy_supports, .run = toy_run,
};

static tsr_device toy_device(int index)
{
    tsr_device device = -1;
    char name[16];
    (void)snprintf(name, sizeof name, "toy:%d", index);
    EXPECT_OK(tsr_device_parse(&device, name));
    return device;
}

/* f32(2, 3) on a toy device, described. */
static tsr_tensor *declare_on_toy(int index)
{
    tsr_desc d;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 3), NULL));
    EXPECT_OK(tsr_declare(&t, &d, toy_device(index), TSR_MEMORY_HOST));
    return t;
}

/* Registering ------------------------------------------------------------------------ */

static int negative_count(void) { return -5; }
static int huge_count(void) { return 2000000000; }

static void test_backend_tables_that_cannot_work_are_refused_with_words(void)
{
    tsr_backend b = toy_table;
    EXPECT_FAILS(tsr_backend_register(NULL), TSR_ENULL, "backend is NULL");
    b.abi = TSR_BACKEND_ABI + 1;
    EXPECT_FAILS(tsr_backend_register(&b), TSR_EINVAL, "ABI 2");
    b = toy_table, b.size = (uint32_t)offsetof(tsr_backend, run);
    EXPECT_FAILS(tsr_backend_register(&b), TSR_EINVAL, "lacks required entries");
    b = toy_table, b.name = NULL;
    EXPECT_FAILS(tsr_backend_register(&b), TSR_EINVAL, "name");
    b = toy_table, b.name = "";
    EXPECT_FAILS(tsr_backend_register(&b), TSR_EINVAL, "name");
    b = toy_table, b.name = "cpu";
    EXPECT_FAILS(tsr_backend_register(&b), TSR_EINVAL, "called cpu");
    b = toy_table, b.device_count = NULL;
    EXPECT_FAILS(tsr_backend_register(&b), TSR_EINVAL, "toy");
    b = toy_table, b.alloc = NULL;
    EXPECT_FAILS(tsr_backend_register(&b), TSR_EINVAL, "toy");
    b = toy_table, b.free = NULL;
    EXPECT_FAILS(tsr_backend_register(&b), TSR_EINVAL, "toy");
    b = toy_table, b.supports = NULL;
    EXPECT_FAILS(tsr_backend_register(&b), TSR_EINVAL, "toy");
    b = toy_table, b.run = NULL;
    EXPECT_FAILS(tsr_backend_register(&b), TSR_EINVAL, "toy");
    b = toy_table, b.size = (uint32_t)offsetof(tsr_backend, sync) + 4;
    EXPECT_FAILS(tsr_backend_register(&b), TSR_EINVAL, "ends inside an entry");
    b = toy_table, b.name = "to/y";
    EXPECT_FAILS(tsr_backend_register(&b), TSR_EINVAL, "byte 2 of the name is 0x2f");
    b = toy_table, b.name = "a-name-of-no-less-than-33-letters";
    EXPECT_FAILS(tsr_backend_register(&b), TSR_EINVAL, "the name has more than 32 bytes");
    b = toy_table, b.name = "a-name-of-far-more-than-33-letters-/";
    EXPECT_FAILS(tsr_backend_register(&b), TSR_EINVAL, "the name has more than 32 bytes");
    static const char *const wrong[] = { "a@", "a[", "a`", "a{", "a:", "a ", "a\x7f" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        b = toy_table, b.name = wrong[i];
        EXPECT_FAILS(tsr_backend_register(&b), TSR_EINVAL, "byte 1 of the name is 0x");
    }
    b = toy_table, b.device_count = negative_count;
    EXPECT_FAILS(tsr_backend_register(&b), TSR_EINVAL,
                 "toy: device_count gives -5; a backend has 0 to 256 devices");
    b = toy_table, b.device_count = huge_count;
    EXPECT_FAILS(tsr_backend_register(&b), TSR_EINVAL, "toy: device_count gives 2000000000");
    tsr_device device;
    EXPECT_FAILS(tsr_device_parse(&device, "toy"), TSR_EDEVICE, "there are cpu:0");
}

/* Puts some function, which nobody calls, into an entry; or NULL. */
static void set_entry(tsr_backend *b, size_t offset, bool there)
{
    int (*const some)(void) = there ? toy_count : NULL;
    memcpy((char *)b + offset, &some, sizeof some);
}

/* Of a group of entries that belong together, each in turn is the one that is missing. */
static void expect_whole(const size_t *entries, int n, int first, const char *words)
{
    for (int missing = first; missing < n; missing++) {
        tsr_backend b = toy_table;
        for (int i = 0; i < n; i++) set_entry(&b, entries[i], i != missing);
        EXPECT_FAILS(tsr_backend_register(&b), TSR_EINVAL, words);
    }
}

static void test_backend_entries_that_belong_together_are_all_there(void)
{
#define AT(entry) offsetof(tsr_backend, entry)
    static const size_t streams[] = { AT(stream_create), AT(stream_destroy), AT(stream_sync), AT(stream_wait),
                                      AT(event_create), AT(event_destroy), AT(event_record), AT(event_sync),
                                      AT(event_done), AT(event_elapsed) };
    static const size_t graphs[] = { AT(graph_begin), AT(graph_end), AT(graph_launch), AT(graph_destroy) };
    static const size_t pinned[] = { AT(host_alloc), AT(host_free) },
                        transfers[] = { AT(upload), AT(download) };
    static const size_t rows[] = { AT(upload_rows), AT(download_rows) };
#undef AT
    expect_whole(streams, 10, 1, "entries for streams");  /* without the first there are none */
    expect_whole(graphs, 4, 1, "entries for graphs");
    expect_whole(pinned, 2, 0, "host_alloc and host_free");
    expect_whole(transfers, 2, 0, "upload and download");
    expect_whole(rows, 2, 0, "upload_rows and download_rows");
}

static void test_backend_registers_once(void)
{
    EXPECT_OK(tsr_backend_register(&toy_table));
    EXPECT_FAILS(tsr_backend_register(&toy_table), TSR_EINVAL, "called toy");
}

/* What an older plugin hands over: a table that ends before the optional entries. */
static void test_backend_table_without_optional_entries_is_accepted(void)
{
    static struct { tsr_backend table; } old;
    old.table = toy_table;
    old.table.name = "Old_1.azAZ09-";
    old.table.size = (uint32_t)offsetof(tsr_backend, sync);
    EXPECT_OK(tsr_backend_register(&old.table));
    tsr_device device = -1;
    EXPECT_OK(tsr_device_parse(&device, "Old_1.azAZ09-:1"));
    EXPECT(tsr_device_exists(device));
}

/* Plans ------------------------------------------------------------------------------ */

/* A backend that plans what the toy does, and softmax. */
static struct {
    int        planned, ran, asked;
    tsr_status fails;
} planner;

static tsr_status run_plan(const tsr_plan *plan, int device, const tsr_op *op)
{
    planner.ran++;
    EXPECT(plan->data == &planner && plan->number == (int64_t)op->kind);
    if (planner.fails || op->kind == TSR_OP_SOFTMAX) return planner.fails;
    return toy_run(device, op);
}

static bool make_plan(int device, const tsr_op *op, tsr_plan *out)
{
    planner.planned++;
    *out = (tsr_plan){ .run = run_plan, .data = &planner, .number = (int64_t)op->kind };
    return op->kind == TSR_OP_SOFTMAX || toy_supports(device, op);
}

static bool never_supports(int device, const tsr_op *op)
{
    (void)device;
    (void)op;
    planner.asked++;
    return false;
}

static tsr_status never_run(int device, const tsr_op *op)
{
    (void)device;
    (void)op;
    planner.asked++;
    return TSR_EUNSUPPORTED;
}

static tsr_tensor *declare_on_planner(void)
{
    tsr_desc d;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 3), NULL));
    EXPECT_OK(tsr_declare(&t, &d, TSR_DEVICE("planner"), TSR_MEMORY_DEFAULT));
    return t;
}

/* What reaches it has dtypes that fit; the CPU's backend is asked all the same. */
TEST(test_backend_cpu_says_what_it_cannot_do)
{
    tsr_tensor *x = NULL, *z = NULL;
    EXPECT_OK(tsr_ones(&x, TSR_I32, TSR_SHAPE(3)));
    EXPECT_OK(tsr_zeros(&z, TSR_C64, TSR_SHAPE(3)));
    const tsr_op op = { .kind = TSR_OP_EXP, .nin = 1, .nout = 1, .in = { x }, .out = { z } };
    EXPECT_FAILS(tsri_op_run(&op), TSR_EUNSUPPORTED, "exp: the cpu backend cannot do this with c64(3");
    tsr_release_all(&x, &z);
}

/* Nothing is asked twice: neither where an op is run at once, nor where it could be done in parts. */
static void test_backend_plans_once_and_its_plan_is_run(void)
{
    tsr_backend table = toy_table;
    table.name = "planner";
    table.supports = never_supports;
    table.run = never_run;
    table.plan = make_plan;
    EXPECT_OK(tsr_backend_register(&table));
    tsr_tensor *x = declare_on_planner(), *z = declare_on_planner();
    EXPECT_OK(tsr_fill(x, TSR_SCALAR(2)));
    EXPECT(planner.planned == 1 && planner.ran == 1);
    EXPECT_OK(tsr_copy(z, x));
    EXPECT(planner.planned == 2 && planner.ran == 2);
    EXPECT(((const float *)z->data)[5] == 2);
    EXPECT_OK(tsr_softmax(&z, x, 1));
    EXPECT(planner.planned == 3 && planner.ran == 3);
    EXPECT_FAILS(tsr_exp(&z, x), TSR_EUNSUPPORTED, "planner backend cannot do this");
    EXPECT(planner.planned == 4 && planner.ran == 3);
    planner.fails = TSR_EIO;
    EXPECT_FAILS(tsr_copy(z, x), TSR_EIO, "copy: the planner backend failed");
    EXPECT(planner.asked == 0);
    tsr_release(&x);
    tsr_release(&z);
}

/* What backends are given ------------------------------------------------------------ */

/* Walks the nest: how many places it has, and whether both tensors hold the same value at each. */
static int64_t walk(const tsr_loop *l, int d, const char *a, const char *b, bool *same)
{
    int64_t n = 0;
    if (d == l->ndim) {
        *same = *same && *(const float *)(const void *)a == *(const float *)(const void *)b;
        return 1;
    }
    for (int64_t i = 0; i < l->n[d]; i++)
        n += walk(l, d + 1, a + i * l->step[d][0], b + i * l->step[d][1], same);
    return n;
}

static void test_backend_loops_are_normalised_for_it(void)
{
    const tsr_host *host = tsr_backend_host();
    tsr_tensor *a = NULL, *b = NULL, *other = NULL;
    tsr_loop loop;
    bool same = true;
    EXPECT_OK(tsr_arange(&a, TSR_F32, TSR_SCALAR(0), TSR_SCALAR(24), TSR_SCALAR(1)));
    EXPECT_OK(tsr_reshape(&a, a, TSR_SHAPE(2, 3, 4)));
    EXPECT_OK(tsr_clone(&b, a));
    host->normalise(&loop, 2, (const tsr_tensor *const[]){ a, b });
    EXPECT(loop.ndim == 1 && loop.noperands == 2 && loop.n[0] == 24 && loop.step[0][0] == 4 &&
           loop.step[0][1] == 4);
    EXPECT(loop.data[0] == a->data && loop.data[1] == b->data);
    EXPECT_OK(tsr_transpose(&other, b, 0, 2));
    EXPECT_OK(tsr_rearrange(&other, other));
    EXPECT_OK(tsr_transpose(&other, other, 0, 2));  /* the same values, in another order of memory */
    EXPECT_OK(tsr_flip(&other, other, TSR_AXES(1)));
    EXPECT_OK(tsr_flip(&a, a, TSR_AXES(1)));
    host->normalise(&loop, 2, (const tsr_tensor *const[]){ a, other });
    EXPECT(walk(&loop, 0, loop.data[0], loop.data[1], &same) == 24 && same);
    host->normalise(&loop, 2, (const tsr_tensor *const[]){ a, b });
    same = true;
    EXPECT(walk(&loop, 0, loop.data[0], loop.data[1], &same) == 24 && !same);
    tsr_release_all(&a, &b, &other);
}

static void test_backend_knows_how_long_params_are(void)
{
    const tsr_host *host = tsr_backend_host();
    EXPECT(host->params_size(TSR_OP_FILL) == sizeof(tsr_fill_params));
    EXPECT(host->params_size(TSR_OP_MATMUL) == sizeof(tsr_matmul_params));
    EXPECT(host->params_size(TSR_OP_COPY) == 0 && host->params_size((tsr_op_kind)-1) == 0);
}

static void test_backend_knows_how_dims_are_resized(void)
{
    const tsr_resize_params p = { .spatial = 1, .mode = TSR_INTERPOLATE_LINEAR, .size = { 3 } };
    const tsr_host *host = tsr_backend_host();
    int64_t first[3];
    double w[6];
    EXPECT(host->resize_table(&p, 0, 6, NULL, NULL) == 2);
    EXPECT(host->resize_table(&p, 0, 6, first, w) == 2);
    for (int o = 0; o < 3; o++) EXPECT(first[o] == 2 * o && w[2 * o] == 0.5 && w[2 * o + 1] == 0.5);
}

/* Devices ---------------------------------------------------------------------------- */

static void test_backend_devices_have_numbers_and_names(void)
{
    tsr_device device = -1;
    char text[16];
    EXPECT_OK(tsr_device_parse(&device, "cpu"));
    EXPECT(device == TSR_CPU);
    EXPECT_OK(tsr_device_parse(&device, "cpu:0"));
    EXPECT(device == TSR_CPU);
    EXPECT_OK(tsr_device_parse(&device, "toy"));
    EXPECT(device == toy_device(0) && device % 256 == 0 && device != TSR_CPU);
    EXPECT_OK(tsr_device_parse(&device, "toy:1"));
    EXPECT(device == toy_device(0) + 1);
    EXPECT(tsr_device_exists(device) && !tsr_device_exists(device + 1) && !tsr_device_exists(-1));
    EXPECT(tsr_device_name(text, sizeof text, device) == 5 && !strcmp(text, "toy:1"));
    EXPECT(tsr_device_name(text, 4, TSR_CPU) == 5 && !strcmp(text, "cpu"));
    EXPECT_FAILS(tsr_device_parse(&device, "toy:2"), TSR_EDEVICE, "cpu:0, toy:0, toy:1");
    EXPECT_FAILS(tsr_device_parse(&device, "to"), TSR_EDEVICE, "\"to\"");
    EXPECT_FAILS(tsr_device_parse(&device, "toys"), TSR_EDEVICE, "\"toys\"");
    EXPECT(device == toy_device(1));
}

/* Memory ----------------------------------------------------------------------------- */

static void test_backend_memory_of_a_device_comes_from_its_backend(void)
{
    tsr_tensor *t = declare_on_toy(1), *v = NULL;
    memset(&toy, 0, sizeof toy);
    EXPECT(!tsr_is_allocated(t) && toy.allocs == 0);
    EXPECT_OK(tsr_alloc(t));
    EXPECT(toy.allocs == 1 && toy.device == 1 && toy.bytes >= 24 && toy.kind == TSR_MEMORY_DEVICE);
    const size_t taken = toy.bytes;
    EXPECT(tsr_is_allocated(t) && !tsr_is_host(t) && tsr_device_of(t) == toy_device(1));
    EXPECT(tsr_storage_device(t->storage) == toy_device(1) && tsr_storage_ownership(t->storage) == TSR_OWNED);
    EXPECT_OK(tsr_check(t));
    EXPECT_OK(tsr_transpose(&v, t, 0, 1));
    EXPECT(tsr_device_of(v) == toy_device(1) && v->data == t->data);
    tsr_release_all(&t, &v);
    EXPECT(toy.frees == 0);  /* kept for the next */
    EXPECT(tsr_device_pool_trim(toy_device(1), 0) == taken);
    EXPECT(toy.frees == 1 && toy.device == 1 && toy.bytes == taken && toy.live == 0);
}

static void test_backend_storage_on_a_device_is_made_there(void)
{
    tsr_storage *s = NULL;
    memset(&toy, 0, sizeof toy);
    EXPECT_OK(tsr_storage_create(&s, 100, toy_device(0), TSR_MEMORY_HOST));
    EXPECT(toy.allocs == 1 && toy.bytes >= 100 && tsr_storage_bytes(s) == 100);
    tsr_storage_release(&s);
    EXPECT_OK(tsr_storage_create(&s, 0, toy_device(0), TSR_MEMORY_HOST));
    EXPECT(tsr_storage_data(s) != NULL);
    tsr_storage_release(&s);
    (void)tsr_device_pool_trim(toy_device(0), 0);
    EXPECT(toy.frees == toy.allocs && toy.live == 0);
    EXPECT_FAILS(tsr_storage_create(&s, 1, toy_device(0), TSR_MEMORY_HUGE), TSR_EINVAL,
                 "huge memory is the host's");
    EXPECT_FAILS(tsr_storage_create(&s, 1, toy_device(0), TSR_MEMORY_PINNED), TSR_EINVAL,
                 "pinned memory is the host's");
    EXPECT_FAILS(tsr_storage_create(&s, 1, toy_device(0), 29), TSR_EINVAL, "29");
    EXPECT(s == NULL);
}

static void test_backend_without_memory_left_is_enomem_and_the_tensor_stays_described(void)
{
    tsr_tensor *t = declare_on_toy(0);
    (void)tsr_device_pool_trim(toy_device(0), 0);
    memset(&toy, 0, sizeof toy);
    toy.alloc_fails = TSR_ENOMEM;
    EXPECT_FAILS(tsr_alloc(t), TSR_ENOMEM, "toy");
    EXPECT_FAILS(tsr_fill(t, tsr_scalar_i64(1)), TSR_ENOMEM, "toy");
    toy.alloc_fails = TSR_EIO;
    EXPECT_FAILS(tsr_alloc(t), TSR_EIO, "toy");
    toy.alloc_fails = TSR_OK;
    toy.gives_null = true;
    EXPECT_FAILS(tsr_alloc(t), TSR_ENOMEM, "toy");
    EXPECT(!tsr_is_allocated(t) && toy.runs == 0 && toy.frees == 0);
    toy.gives_null = false;
    EXPECT_OK(tsr_alloc(t));
    tsr_release(&t);
}

/* Ops -------------------------------------------------------------------------------- */

static void test_backend_ops_go_where_their_operands_live(void)
{
    tsr_tensor *a = declare_on_toy(1), *b = declare_on_toy(1), *column = NULL;
    (void)tsr_device_pool_trim(toy_device(1), 0);
    memset(&toy, 0, sizeof toy);
    EXPECT_OK(tsr_fill(a, tsr_scalar_i64(7)));
    EXPECT(toy.runs == 1 && toy.device == 1 && toy.op.kind == TSR_OP_FILL && toy.op.nout == 1 &&
           toy.op.nin == 0);
    EXPECT(toy.op.out[0] == a && toy.asked == 1);
    EXPECT_OK(tsr_select(&column, a, 1, 2));
    EXPECT_OK(tsr_fill(column, tsr_scalar_i64(9)));
    EXPECT_OK(tsr_copy(b, a));
    EXPECT(toy.runs == 3 && toy.op.kind == TSR_OP_COPY && toy.op.in[0] == a && toy.op.out[0] == b);
    const float want[] = { 7, 7, 9, 7, 7, 9 };
    EXPECT(!memcmp(b->data, want, sizeof want));
    tsr_release_all(&column, &b, &a);
    (void)tsr_device_pool_trim(toy_device(1), 0);
    EXPECT(toy.live == 0);
}

static void test_backend_results_like_a_tensor_are_made_on_its_device(void)
{
    tsr_tensor *a = declare_on_toy(1), *transposed = NULL, *out = NULL;
    const tsr_device device = toy_device(1);
    EXPECT_OK(tsr_fill(a, tsr_scalar_i64(7)));
    EXPECT_OK(tsr_transpose(&transposed, a, 0, 1));
    EXPECT_OK(tsr_clone(&out, a));
    EXPECT(tsr_device_of(out) == device && ((float *)out->data)[5] == 7);
    tsr_release(&out);
    EXPECT_OK(tsr_zeros_like(&out, a));
    EXPECT(tsr_device_of(out) == device && ((float *)out->data)[5] == 0);
    tsr_release(&out);
    EXPECT_OK(tsr_contiguous(&out, transposed));
    EXPECT(tsr_device_of(out) == device && out->data != a->data);
    EXPECT_OK(tsr_reshape(&out, transposed, TSR_SHAPE(-1)));
    EXPECT(tsr_device_of(out) == device && out->ndim == 1);
    EXPECT_OK(tsr_to_memory(&out, a, device, TSR_MEMORY_HOST));
    EXPECT(out->data == a->data);
    tsr_release_all(&out, &transposed, &a);
}

static void test_backend_operands_on_two_devices_are_edevice(void)
{
    tsr_tensor *here = NULL, *there = declare_on_toy(0), *other = declare_on_toy(1), *out = NULL;
    EXPECT_OK(tsr_ones(&here, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_alloc(there));
    EXPECT_OK(tsr_alloc(other));
    memset(&toy, 0, sizeof toy);
    EXPECT_FAILS(tsr_add(&out, here, there), TSR_EDEVICE, "add: operands on toy:0 and cpu:0 (tsr_to moves)");
    EXPECT_FAILS(tsr_add(&out, other, there), TSR_EDEVICE, "add: operands on toy:1 and toy:0");
    EXPECT_FAILS(tsr_matmul(&out, here, there), TSR_ESHAPE, "");
    EXPECT(out == NULL && toy.runs == 0);
    tsr_release_all(&here, &there, &other);
}

static void test_backend_that_does_not_support_an_op_is_eunsupported(void)
{
    tsr_tensor *a = declare_on_toy(0), *out = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_alloc(a));
    EXPECT_OK(tsr_desc_init(&d, TSR_F64, TSR_SHAPE(2, 3), NULL));
    EXPECT_OK(tsr_declare(&out, &d, toy_device(0), TSR_MEMORY_HOST));
    memset(&toy, 0, sizeof toy);
    EXPECT_FAILS(tsr_copy(out, a), TSR_EUNSUPPORTED, "copy: the toy backend");
    EXPECT(toy.asked == 1 && toy.runs == 0 && !tsr_is_allocated(out));
    tsr_release(&out);

    EXPECT_OK(tsr_declare(&out, &a->desc, toy_device(0), TSR_MEMORY_HOST));
    EXPECT_FAILS(tsr_randn(&out, TSR_F32, TSR_SHAPE(2, 3), 1), TSR_EUNSUPPORTED, "randn: the toy backend");
    EXPECT_FAILS(tsr_uniform(&out, TSR_F32, TSR_SHAPE(2, 3), 0, 1, 1), TSR_EUNSUPPORTED,
                 "uniform: the toy backend");
    tsr_release_all(&out, &a);
}

static void test_backend_failure_while_running_is_passed_on_with_words(void)
{
    tsr_tensor *a = declare_on_toy(0), *out = NULL;
    EXPECT_OK(tsr_fill(a, tsr_scalar_i64(1)));
    toy.run_fails = TSR_EIO;
    EXPECT_FAILS(tsr_fill(a, tsr_scalar_i64(1)), TSR_EIO, "fill: the toy backend");
    EXPECT_FAILS(tsr_clone(&out, a), TSR_EIO, "toy");
    EXPECT_FAILS(tsr_zeros_like(&out, a), TSR_EIO, "toy");
    EXPECT(out == NULL);
    toy.run_fails = TSR_OK;
    tsr_release(&a);
}

/* Words that the backend's own calls left are better than ours. */
static tsr_status run_with_words(int device, const tsr_op *op)
{
    (void)device; (void)op;
    return tsr_backend_fail(TSR_EIO, "wordy: the tape is torn");
}

static void test_backend_words_of_its_own_are_kept(void)
{
    static tsr_backend wordy;
    tsr_tensor *t = NULL;
    tsr_desc d;
    tsr_device device = -1;
    wordy = toy_table, wordy.name = "wordy", wordy.run = run_with_words;
    EXPECT_OK(tsr_backend_register(&wordy));
    EXPECT_OK(tsr_device_parse(&device, "wordy"));
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2), NULL));
    EXPECT_OK(tsr_declare(&t, &d, device, TSR_MEMORY_HOST));
    EXPECT_FAILS(tsr_fill(t, tsr_scalar_i64(1)), TSR_EIO, "wordy: the tape is torn");
    tsr_release(&t);
}

static void test_backend_values_of_a_device_are_fetched_for_the_host(void)
{
    tsr_tensor *a = declare_on_toy(0), *out = NULL;
    float x = 0, buffer[6];
    bool same = false;
    void *p = NULL;
    char text[200];
    EXPECT_OK(tsr_fill(a, tsr_scalar_i64(7)));
    EXPECT_OK(tsr_set_f32(a, TSR_INDEX(1, 2), 9));
    EXPECT_OK(tsr_get_f32(&x, a, TSR_INDEX(-1, -1)));
    EXPECT(x == 9);
    EXPECT_FAILS(tsr_pointer(&p, a, TSR_INDEX(0, 0)), TSR_EDEVICE, "pointer");
    EXPECT_OK(tsr_equal(&same, a, a));
    EXPECT(same);
    EXPECT_OK(tsr_store(buffer, sizeof buffer, a));
    EXPECT(buffer[0] == 7 && buffer[5] == 9);
    buffer[0] = 3;
    EXPECT_OK(tsr_load(a, buffer, sizeof buffer));
    EXPECT_OK(tsr_to_string(text, sizeof text, NULL, a, NULL));
    EXPECT(strstr(text, "3") != NULL && strstr(text, "9") != NULL);
    EXPECT(tsr_describe(text, sizeof text, a) > 0 && strstr(text, "toy:0"));
    EXPECT_OK(tsr_to_host(&out, a));
    EXPECT(tsr_is_host(out) && !tsr_is_device(out) && tsr_is_device(a) && !tsr_is_host(a));
    tsr_release_all(&out, &a);
}

/* Ops as a list ---------------------------------------------------------------------- */

static void test_backend_every_op_is_described_and_its_signature_parses(void)
{
    for (int kind = TSR_OP_NONE + 1; kind < TSR_OP_COUNT; kind++) {
        const tsr_op_info *info = tsr_op_get_info((tsr_op_kind)kind);
        tsr_signature s;
        EXPECT(info != NULL);
        if (!info) continue;
        EXPECT(info->name[0] && info->family[0] && info->params[0] && info->signature[0] && info->doc[0]);
        EXPECT_OK(tsr_signature_parse(&s, info->signature));
        EXPECT_MSG(s.nresults >= 1 && s.nresults <= TSR_OP_MAX_OUT, "%s has %d results", info->name,
                   s.nresults);
        EXPECT_MSG(s.noperands - s.nresults <= TSR_OP_MAX_IN, "%s has too many inputs", info->name);
        for (int other = TSR_OP_NONE + 1; other < kind; other++)
            EXPECT_MSG(strcmp(info->name, tsr_op_get_info((tsr_op_kind)other)->name), "%s is there twice",
                       info->name);
    }
    EXPECT(tsr_op_get_info(TSR_OP_NONE) == NULL && tsr_op_get_info(TSR_OP_COUNT) == NULL);
}

static void test_backend_places_are_limited(void)
{
    static tsr_backend more[64];
    static char names[64][20];
    tsr_status s = TSR_OK;
    int n = 0;
    for (; n < 64 && s == TSR_OK; n++) {
        (void)snprintf(names[n], sizeof names[n], "more-%d", n);
        more[n] = toy_table;
        more[n].name = names[n];
        s = tsr_backend_register(&more[n]);
    }
    EXPECT(n < 64 && s == TSR_ENOMEM && strstr(tsr_last_error(), "backends already"));
    tsr_device device;
    EXPECT_OK(tsr_device_parse(&device, "more-0:1"));
    EXPECT_FAILS(tsr_device_parse(&device, "more-63"), TSR_EDEVICE, "more-0:0");
}

int main(int argc, char **argv)
{
    TEST_BEGIN(argc, argv);
    RUN(test_backend_tables_that_cannot_work_are_refused_with_words);
    RUN(test_backend_entries_that_belong_together_are_all_there);
    RUN(test_backend_loops_are_normalised_for_it);
    RUN(test_backend_knows_how_long_params_are);
    RUN(test_backend_knows_how_dims_are_resized);
    test_state.filter = NULL;  /* the rest stands on this */
    RUN(test_backend_registers_once);
    TEST_BEGIN(argc, argv);
    RUN(test_backend_table_without_optional_entries_is_accepted);
    RUN(test_backend_plans_once_and_its_plan_is_run);
    RUN(test_backend_devices_have_numbers_and_names);
    RUN(test_backend_memory_of_a_device_comes_from_its_backend);
    RUN(test_backend_storage_on_a_device_is_made_there);
    RUN(test_backend_without_memory_left_is_enomem_and_the_tensor_stays_described);
    RUN(test_backend_ops_go_where_their_operands_live);
    RUN(test_backend_results_like_a_tensor_are_made_on_its_device);
    RUN(test_backend_operands_on_two_devices_are_edevice);
    RUN(test_backend_that_does_not_support_an_op_is_eunsupported);
    RUN(test_backend_failure_while_running_is_passed_on_with_words);
    RUN(test_backend_words_of_its_own_are_kept);
    RUN(test_backend_values_of_a_device_are_fetched_for_the_host);
    RUN(test_backend_every_op_is_described_and_its_signature_parses);
    RUN(test_backend_places_are_limited);
    return TEST_END();
}
