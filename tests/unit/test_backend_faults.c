/* Backends that lack entries, and entries that fail: what the caller gets then, and what is left behind. The
 * devices of these backends are host memory. */
#define TEST_OWN_MAIN
#include "test.h"
#include "tessera/backend.h"
#include "backend/run.h"
#include "backend/streams.h"

/* Memory of the host that runs out when it is told to. */
static bool is_full;

static void *host_memory(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    return is_full ? NULL : aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
}

static void end_host_memory(void *context, void *data, size_t bytes)
{
    (void)context, (void)bytes;
    free(data);
}

/* The backends ------------------------------------------------------------------------ */

enum { DEVICES = 80 };

static struct {
    const char *fails; /* the entry whose call fails, */
    int after;         /* after this many that do not, */
    bool for_good;     /* and every one from then on */
    int devices;
    bool peer_refuses, has_words, is_nameless;
    int uploads, downloads, rows, peers, waits;
    int syncs;
    int live, pinned, streams, events, graphs;
} fake;

static void reset(void)
{
    const int live = fake.live, pinned = fake.pinned, streams = fake.streams, events = fake.events,
              graphs = fake.graphs;
    memset(&fake, 0, sizeof fake);
    fake.devices = DEVICES;
    fake.live = live, fake.pinned = pinned, fake.streams = streams, fake.events = events,
    fake.graphs = graphs;
}

static void fail(const char *entry, int after)
{
    fake.fails = entry;
    fake.after = after;
}

static tsr_status ask(const char *entry)
{
    if (!fake.fails || strcmp(fake.fails, entry) != 0 || fake.after-- > 0) return TSR_OK;
    if (!fake.for_good) fake.fails = NULL;
    return fake.has_words ? tsr_backend_fail(TSR_EIO, "the cable is loose") : TSR_EIO;
}

/* Everything that was made: what was on a device that is gone is never given back, and is no leak. */
static void *volatile all_made[1 << 16];
static int nmade;

static tsr_status make(void **out, const char *entry, size_t bytes, int *live)
{
    TSR_TRY(ask(entry));
    *out = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (nmade < 1 << 16) all_made[nmade++] = *out;
    *live += *out != NULL;
    return *out ? TSR_OK : TSR_ENOMEM;
}

static int count(void) { return fake.devices; }
static tsr_status sync(int device) { return (void)device, fake.syncs++, ask("sync"); }

static tsr_status alloc(void **out, int device, size_t bytes, tsr_memory kind)
{
    (void)device, (void)kind;
    return make(out, "alloc", bytes, &fake.live);
}

static void give(int device, void *data, size_t bytes, tsr_memory kind)
{
    (void)device, (void)bytes, (void)kind;
    fake.live--;
    free(data);
}

static bool supports(int device, const tsr_op *op)
{
    (void)device;
    return op->kind == TSR_OP_FILL || op->kind == TSR_OP_COPY;
}

static tsr_status run_here(int device, const tsr_op *op)
{
    tsr_tensor out, in;
    (void)device;
    TSR_TRY(ask("run"));
    TSR_TRY(tsr_place(&out, op->out[0]->data, &op->out[0]->desc));
    if (op->kind == TSR_OP_FILL) return tsr_fill(&out, ((const tsr_fill_params *)op->params)->value);
    TSR_TRY(tsr_place(&in, op->in[0]->data, &op->in[0]->desc));
    return tsr_copy(&out, &in);
}

static tsr_status info(int device, tsr_device_info *out)
{
    TSR_TRY(ask("device_info"));
    if (!fake.is_nameless) (void)snprintf(out->name, sizeof out->name, "fake number %d", device);
    return TSR_OK;
}

static tsr_status pin(void **out, size_t bytes) { return make(out, "host_alloc", bytes, &fake.pinned); }

static void unpin(void *data, size_t bytes)
{
    (void)bytes;
    fake.pinned--;
    free(data);
}

static tsr_status upload(int device, void *dst, const void *src, size_t bytes, void *stream)
{
    (void)device, (void)stream;
    fake.uploads++;
    TSR_TRY(ask("upload"));
    memcpy(dst, src, bytes);
    return TSR_OK;
}

static tsr_status download(int device, void *dst, const void *src, size_t bytes, void *stream)
{
    (void)device, (void)stream;
    fake.downloads++;
    TSR_TRY(ask("download"));
    memcpy(dst, src, bytes);
    return TSR_OK;
}

static tsr_status move_rows(int device, void *dst, size_t dst_step, const void *src, size_t src_step,
                            size_t bytes, size_t rows, void *stream)
{
    (void)device, (void)stream;
    fake.rows++;
    TSR_TRY(ask("rows"));
    for (size_t i = 0; i < rows; i++)
        memcpy((char *)dst + i * dst_step, (const char *)src + i * src_step, bytes);
    return TSR_OK;
}

static tsr_status peer(int to, void *dst, int from, const void *src, size_t bytes, void *stream)
{
    (void)to, (void)from, (void)stream;
    fake.peers++;
    if (fake.peer_refuses) return TSR_EUNSUPPORTED;
    TSR_TRY(ask("peer"));
    memcpy(dst, src, bytes);
    return TSR_OK;
}

static tsr_status stream_create(void **out, int device)
{
    return (void)device, make(out, "stream_create", 64, &fake.streams);
}
static tsr_status stream_sync(int device, void *stream)
{
    return (void)device, (void)stream, ask("stream_sync");
}
static tsr_status event_create(void **out, int device)
{
    return (void)device, make(out, "event_create", 64, &fake.events);
}
static tsr_status event_sync(int device, void *event) { return (void)device, (void)event, ask("event_sync"); }

static void stream_destroy(int device, void *stream)
{
    (void)device;
    fake.streams--;
    free(stream);
}

static tsr_status stream_wait(int device, void *stream, void *event)
{
    (void)device, (void)stream, (void)event;
    fake.waits++;
    return ask("stream_wait");
}

static void event_destroy(int device, void *event)
{
    (void)device;
    fake.events--;
    free(event);
}

static tsr_status event_record(int device, void *event, void *stream)
{
    (void)device, (void)event, (void)stream;
    return ask("event_record");
}

static tsr_status event_done(int device, void *event, bool *done)
{
    (void)device, (void)event;
    *done = true;
    return ask("event_done");
}

static tsr_status event_elapsed(int device, double *seconds, void *from, void *to)
{
    (void)device, (void)from, (void)to;
    *seconds = 1;
    return TSR_OK;
}

static tsr_status graph_begin(int device, void *stream)
{
    return (void)device, (void)stream, ask("graph_begin");
}

static tsr_status graph_end(int device, void *stream, void **graph)
{
    (void)device, (void)stream;
    return make(graph, "graph_end", 64, &fake.graphs);
}

static tsr_status graph_launch(int device, void *graph, void *stream)
{
    (void)device, (void)graph, (void)stream;
    return ask("graph_launch");
}

static void graph_destroy(int device, void *graph)
{
    (void)device;
    fake.graphs--;
    free(graph);
}

#define REQUIRED \
    .abi = TSR_BACKEND_ABI, .device_count = count, .alloc = alloc, .free = give, .supports = supports, \
    .run = run_here
#define STREAMS \
    .stream_create = stream_create, .stream_destroy = stream_destroy, .stream_sync = stream_sync, \
    .stream_wait = stream_wait, .event_create = event_create, .event_destroy = event_destroy, \
    .event_record = event_record, .event_sync = event_sync, .event_done = event_done, \
    .event_elapsed = event_elapsed
#define GRAPHS \
    .graph_begin = graph_begin, .graph_end = graph_end, .graph_launch = graph_launch, \
    .graph_destroy = graph_destroy

static const tsr_backend backends[] = {
    { REQUIRED, STREAMS, GRAPHS, .size = sizeof(tsr_backend), .name = "full", .sync = sync,
      .device_info = info, .host_alloc = pin, .host_free = unpin, .upload = upload, .download = download,
      .upload_rows = move_rows, .download_rows = move_rows, .peer = peer },
    { REQUIRED, .size = sizeof(tsr_backend), .name = "plain" },
    { REQUIRED, .size = sizeof(tsr_backend), .name = "synced", .sync = sync },
    { REQUIRED, .size = sizeof(tsr_backend), .name = "pinning", .host_alloc = pin, .host_free = unpin,
      .upload = upload, .download = download },
    { REQUIRED, STREAMS, GRAPHS, .size = sizeof(tsr_backend), .name = "reached", .host_alloc = pin,
      .host_free = unpin },
    { REQUIRED, STREAMS, .size = sizeof(tsr_backend), .name = "unpinned", .sync = sync, .upload = upload,
      .download = download },
    { REQUIRED, .size = sizeof(tsr_backend), .name = "vulkan" },
    /* as one built before there were rows */
    { REQUIRED, STREAMS, .size = offsetof(tsr_backend, upload_rows), .name = "opencl", .sync = sync,
      .host_alloc = pin, .host_free = unpin, .upload = upload, .download = download },
};
enum { BACKENDS = sizeof backends / sizeof *backends };

static tsr_device on(const char *backend, int index)
{
    tsr_device device = TSR_NO_DEVICE;
    char name[32];
    (void)snprintf(name, sizeof name, "%s:%d", backend, index);
    EXPECT_OK(tsr_device_parse(&device, name));
    return device;
}

static void test_backend_faults_backends_are_taken(void)
{
    for (int i = 0; i < BACKENDS; i++) EXPECT_OK(tsr_backend_register(&backends[i]));
    EXPECT_FAILS(tsr_backend_register(&backends[0]), TSR_EINVAL, "there is a backend called full");
}

/* Tensors ------------------------------------------------------------------------------- */

/* 0, 1, 2 ... in rows on the host. */
static tsr_tensor *numbers(tsr_dtype dtype, int64_t rows, int64_t cols)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_arange(&t, dtype, TSR_SCALAR(0), TSR_SCALAR(rows * cols), TSR_SCALAR(1)));
    EXPECT_OK(tsr_view(&t, t, TSR_SHAPE(rows, cols)));
    return t;
}

static tsr_tensor *made(const tsr_desc *d, tsr_device device)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_declare(&t, d, device, TSR_MEMORY_DEFAULT));
    EXPECT_OK(tsr_alloc(t));
    return t;
}

static tsr_tensor *made_of(tsr_dtype dtype, int64_t rows, int64_t cols, tsr_device device)
{
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, dtype, TSR_SHAPE(rows, cols), NULL));
    return made(&d, device);
}

/* The same values, whatever their dtypes. */
static bool equal(const tsr_tensor *a, const tsr_tensor *b)
{
    tsr_tensor *x[2] = { NULL };
    bool same = false;
    for (int i = 0; i < 2; i++) {
        tsr_tensor *host = NULL;
        EXPECT_OK(tsr_to_host(&host, i ? b : a));
        EXPECT_OK(tsr_cast(&x[i], host, TSR_F64));
        tsr_release(&host);
    }
    EXPECT_OK(tsr_equal(&same, x[0], x[1]));
    for (int i = 0; i < 2; i++) tsr_release(&x[i]);
    return same;
}

/* Between devices -------------------------------------------------------------------------- */

static void expect_copy(const char *from, const char *to, tsr_dtype dtype)
{
    tsr_tensor *host = numbers(TSR_F32, 3, 4), *src = NULL, *dst = made_of(dtype, 3, 4, on(to, 1)),
               *part = NULL;
    EXPECT_OK(tsr_to(&src, host, on(from, 0)));
    EXPECT_OK(tsr_copy(dst, src));
    EXPECT_MSG(equal(dst, host), "from %s to %s", from, to);
    EXPECT_OK(tsr_fill(dst, tsr_scalar_i64(0)));
    EXPECT_OK(tsr_slice(&part, dst, 0, -1, TSR_NONE, -1));
    EXPECT_OK(tsr_slice(&part, part, 1, 0, TSR_NONE, 2));
    EXPECT_OK(tsr_slice(&src, src, 1, 1, TSR_NONE, 2));
    EXPECT_OK(tsr_copy(part, src));
    for (int64_t i = 0; i < 3; i++)
        for (int64_t j = 0; j < 4; j++) {
            tsr_scalar x = tsr_scalar_i64(-1);
            EXPECT_OK(tsr_get(&x, dst, TSR_INDEX(i, j)));
            EXPECT(tsr_scalar_to_f64(x) == (double)(j % 2 ? 0 : 4 * (2 - i) + j + 1));
        }
    tsr_release_all(&host, &src, &dst, &part);
}

TEST(test_backend_faults_copies_between_devices_go_through_the_host_where_nothing_else_is_left)
{
    reset();
    expect_copy("full", "full", TSR_F32);
    EXPECT(fake.peers == 2);
    fake.peer_refuses = true;
    expect_copy("full", "full", TSR_F32);
    EXPECT(fake.peers == 4);
    expect_copy("full", "full", TSR_F64);
    expect_copy("plain", "plain", TSR_F32);
    EXPECT(fake.peers == 6);
    for (int i = 0; i < BACKENDS; i++)
        for (int k = 0; k < BACKENDS; k++)
            if (i != k) expect_copy(backends[i].name, backends[k].name, i < k ? TSR_F32 : TSR_F64);
    EXPECT(fake.peers == 6);
}

/* Each call in turn fails, until none is left to: the copy says so, with words, and leaks nothing. */
static void expect_faults_told(tsr_tensor *dst, const tsr_tensor *src, const char *entry, int least)
{
    int faults = 0;
    for (;; faults++) {
        fail(entry, faults);
        const tsr_status s = tsr_copy(dst, src);
        const bool failed = fake.fails == NULL;
        fake.fails = NULL;
        if (!failed) break;
        EXPECT_MSG(s == TSR_EIO && strstr(tsr_last_error(), "backend failed"), "%s %d: %s", entry, faults,
                   tsr_last_error());
    }
    EXPECT_MSG(faults >= least, "%s is called %d times", entry, faults);
    EXPECT(equal(dst, src));
}

TEST(test_backend_faults_of_copies_between_devices_are_told)
{
    tsr_tensor *host = numbers(TSR_F32, 3, 4), *src = NULL, *dst = NULL, *transposed = NULL;
    reset();
    EXPECT_OK(tsr_to(&src, host, on("full", 0)));
    dst = made(&src->desc, on("full", 1));
    EXPECT_OK(tsr_transpose(&transposed, src, 0, 1));
    tsr_tensor *other = made_of(TSR_F64, 4, 3, on("full", 1)), *rows = NULL;
    EXPECT_OK(tsr_slice(&rows, dst, 1, 0, TSR_NONE, 2));
    tsr_tensor *cols = NULL;
    EXPECT_OK(tsr_slice(&cols, src, 1, 1, TSR_NONE, 2));
    expect_faults_told(dst, src, "peer", 1);
    expect_faults_told(dst, src, "stream_sync", 2);
    expect_faults_told(dst, src, "run", 1);
    expect_faults_told(rows, cols, "run", 2);
    expect_faults_told(other, transposed, "run", 2);
    expect_faults_told(rows, cols, "peer", 1);
    fake.peer_refuses = true;
    expect_faults_told(dst, src, "download", 1);
    expect_faults_told(dst, src, "upload", 1);
    expect_faults_told(rows, cols, "upload", 1);
    (void)tsr_device_pool_trim(on("full", 0), 0);
    fail("alloc", 0);
    EXPECT_FAILS(tsr_copy(dst, src), TSR_EIO, "alloc");
    EXPECT_OK(tsr_copy(dst, src));
    (void)tsr_device_pool_trim(on("full", 1), 0);
    fail("alloc", 0);
    EXPECT_FAILS(tsr_copy(rows, cols), TSR_EIO, "alloc");
    tsr_release_all(&host, &src, &dst, &transposed, &other, &rows, &cols);
}

/* Up and down ------------------------------------------------------------------------------ */

TEST(test_backend_faults_of_transfers_are_told)
{
    tsr_tensor *host = numbers(TSR_F32, 3, 4), *wide = numbers(TSR_F64, 2, 3), *there = NULL,
               *transposed = NULL;
    reset();
    EXPECT_OK(tsr_to(&there, host, on("full", 0)));
    EXPECT_OK(tsr_transpose(&transposed, there, 0, 1));
    EXPECT_OK(tsr_slice(&transposed, transposed, 0, 0, TSR_NONE, 2));
    expect_faults_told(there, host, "upload", 1);
    expect_faults_told(host, there, "download", 1);
    expect_faults_told(transposed, wide, "run", 1);
    EXPECT_OK(tsr_copy(there, host));
    expect_faults_told(transposed, wide, "upload", 1);
    expect_faults_told(wide, transposed, "run", 1);
    expect_faults_told(wide, transposed, "download", 1);
    (void)tsr_device_pool_trim(on("full", 0), 0);
    fail("alloc", 0);
    EXPECT_FAILS(tsr_copy(transposed, wide), TSR_EIO, "alloc");
    fail("alloc", 0);
    EXPECT_FAILS(tsr_copy(wide, transposed), TSR_EIO, "alloc");
    float x = 0;
    fail("download", 0);
    EXPECT_FAILS(tsr_get_f32(&x, there, TSR_INDEX(0, 0)), TSR_EIO, "the full backend failed");
    tsr_scalar value = tsr_scalar_i64(7);
    fail("download", 0);
    EXPECT_FAILS(tsr_get(&value, there, TSR_INDEX(0, 0)), TSR_EIO, "the full backend failed");
    tsr_tensor *one = made_of(TSR_F32, 1, 1, on("full", 0));
    fail("download", 0);
    EXPECT_FAILS(tsr_item(&value, one), TSR_EIO, "the full backend failed");
    EXPECT(tsr_scalar_to_f64(value) == 7);
    tsr_release(&one);
    fail("upload", 0);
    EXPECT_FAILS(tsr_set_f32(there, TSR_INDEX(0, 0), 1), TSR_EIO, "the full backend failed");
    char text[256];
    fail("download", 0);
    EXPECT_OK(tsr_to_string(text, sizeof text, NULL, there, NULL));
    EXPECT_MSG(strstr(text, "which the host cannot read"), "%s", text);
    tsr_release_all(&host, &there, &transposed, &wide);
}

/* Where the host reaches the memory, work is waited for first. */
TEST(test_backend_faults_of_work_stop_copies_by_the_host)
{
    tsr_tensor *host = numbers(TSR_F32, 3, 4), *there = NULL;
    reset();
    EXPECT_OK(tsr_to(&there, host, on("synced", 0)));
    expect_faults_told(there, host, "sync", 1);
    expect_faults_told(host, there, "sync", 1);
    tsr_release_all(&host, &there);
}

TEST(test_backend_faults_empty_tensors_move_without_a_transfer)
{
    tsr_tensor *host = made_of(TSR_F32, 0, 4, TSR_CPU), *there = made_of(TSR_F32, 0, 4, on("full", 0));
    reset();
    EXPECT_OK(tsr_copy(there, host));
    EXPECT_OK(tsr_copy_async(host, there));
    EXPECT(fake.uploads == 0 && fake.downloads == 0);
    tsr_release_all(&host, &there);
}

/* As many elements as places, but some twice and some not at all. */
TEST(test_backend_faults_view_that_reads_elements_twice_is_not_taken_for_packed)
{
    tsr_tensor *host = numbers(TSR_F32, 1, 8), *there = NULL, *view = NULL, *out = NULL;
    static const float want[] = { 0, 1, 1, 2, 5, 6, 6, 7 };
    reset();
    EXPECT_OK(tsr_to(&there, host, on("full", 0)));
    EXPECT_OK(tsr_as_strided(&view, there, 3, (const int64_t[]){ 2, 2, 2 }, (const int64_t[]){ 5, 1, 1 }, 0));
    EXPECT_OK(tsr_empty(&out, TSR_F32, TSR_SHAPE(2, 2, 2)));
    EXPECT_OK(tsr_copy(out, view));
    EXPECT(!memcmp(out->data, want, sizeof want));
    tsr_release_all(&host, &there, &view, &out);
}

static int allowed;
static bool allow_some(void *context, size_t bytes) { return (void)context, (void)bytes, allowed-- > 0; }

/* The copy through the host, and the packed one on it, need memory there. */
TEST(test_backend_faults_copies_without_memory_on_the_host_are_enomem)
{
    tsr_tensor *host = numbers(TSR_I32, 300, 200), *transposed = NULL, *src = NULL, *dst = NULL;
    reset();
    EXPECT_OK(tsr_transpose(&transposed, host, 0, 1));
    EXPECT_OK(tsr_to(&src, host, on("unpinned", 0)));
    dst = made(&src->desc, on("unpinned", 1));
    tsr_status status = TSR_ENOMEM;
    int most = 0;
    for (; most < 10 && status != TSR_OK; most++) {
        allowed = most;
        tsr_set_alloc_hook(allow_some, NULL);
        status = tsr_copy(dst, src);
        tsr_set_alloc_hook(NULL, NULL);
        EXPECT(status == TSR_OK || status == TSR_ENOMEM);
    }
    EXPECT(status == TSR_OK && most > 1 && equal(dst, src));
    allowed = 0;
    tsr_release(&dst);
    dst = made_of(TSR_I32, 200, 300, on("unpinned", 1));
    tsr_set_alloc_hook(allow_some, NULL);
    EXPECT_STATUS(tsr_copy(dst, transposed), TSR_ENOMEM);
    tsr_set_alloc_hook(NULL, NULL);
    expect_faults_told(dst, transposed, "upload", 1);
    expect_faults_told(transposed, dst, "download", 1);
    tsr_release_all(&host, &transposed, &src, &dst);
}

TEST(test_backend_faults_ring_without_memory_for_it_is_done_without)
{
    tsr_tensor *host = numbers(TSR_I32, 300, 200), *there = made_of(TSR_I32, 300, 200, on("full", 40));
    reset();
    const int pinned = fake.pinned;
    is_full = true;
    EXPECT_OK(tsr_copy(there, host));
    is_full = false;
    EXPECT(fake.pinned == pinned && fake.uploads == 1 && equal(there, host));
    tsr_release_all(&host, &there);
}

/* The host converts what it packs; what it cannot convert is told as for any copy. */
TEST(test_backend_faults_copies_convert_as_on_the_host)
{
    static const tsr_dtype dtypes[] = { TSR_C64, TSR_F32, TSR_I16, TSR_BOOL, TSR_BF16 };
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 5; k++) {
            tsr_tensor *src = NULL, *want = NULL, *there = made_of(dtypes[k], 200, 300, on("full", 41)),
                       *got = NULL;
            EXPECT_OK(tsr_zeros(&src, dtypes[i], TSR_SHAPE(200, 300)));
            want = made_of(dtypes[k], 200, 300, TSR_CPU);
            EXPECT_OK(tsr_fill(there, tsr_scalar_i64(1)));
            const tsr_status here = tsr_copy(want, src);
            EXPECT_STATUS(tsr_copy(there, src), here);
            if (here == TSR_OK) {
                EXPECT_OK(tsr_to_host(&got, there));
                EXPECT(!memcmp(got->data, want->data, 200 * 300 * tsr_dtype_size(dtypes[k])));
            }
            tsr_release_all(&src, &want, &there, &got);
        }
}

/* The ring of pinned buffers -------------------------------------------------------------------- */

/* A long tensor goes up, strided, and comes back, strided. */
static void expect_round_trip(tsr_device device)
{
    tsr_tensor *host = numbers(TSR_I32, 300, 200), *there = made_of(TSR_I32, 200, 300, device),
               *transposed = NULL;
    tsr_tensor *back = made_of(TSR_I32, 300, 200, TSR_CPU), *straight = NULL;
    EXPECT_OK(tsr_transpose(&transposed, host, 0, 1));
    EXPECT_OK(tsr_transpose(&straight, back, 0, 1));
    EXPECT_OK(tsr_copy(there, transposed));
    EXPECT_OK(tsr_copy(straight, there));
    EXPECT(equal(back, host));
    EXPECT_OK(tsr_slice(&transposed, straight, 1, -1, TSR_NONE, -1));
    EXPECT_OK(tsr_copy(transposed, there));
    EXPECT(equal(transposed, there));
    tsr_release_all(&host, &there, &transposed, &back, &straight);
}

TEST(test_backend_faults_transfers_work_without_a_ring)
{
    reset();
    for (int i = 0; i < BACKENDS; i++) expect_round_trip(on(backends[i].name, 2));
}

TEST(test_backend_faults_ring_that_cannot_be_made_is_done_without_and_leaves_nothing)
{
    for (int device = 10, after = 0; after < 3; after++) {
        static const char *const entries[] = { "host_alloc", "event_create" };
        for (int k = 0; k < 2; k++, device++) {
            tsr_tensor *host = numbers(TSR_I32, 300, 200), *transposed = NULL,
                       *there = made_of(TSR_I32, 200, 300, on("full", device));
            EXPECT_OK(tsr_transpose(&transposed, host, 0, 1));
            reset();
            const int pinned = fake.pinned, events = fake.events;
            fake.for_good = true;
            fail(entries[k], after);
            EXPECT_OK(tsr_copy(there, transposed));
            EXPECT(fake.after < 0 && fake.pinned == pinned && fake.events == events && fake.uploads == 1);
            fake.for_good = false, fake.fails = NULL;
            EXPECT(equal(there, transposed));
            tsr_release_all(&host, &transposed, &there);
        }
    }
}

TEST(test_backend_faults_in_a_ring_are_told)
{
    tsr_tensor *host = numbers(TSR_I32, 300, 200), *transposed = NULL,
               *there = made_of(TSR_I32, 200, 300, on("full", 3));
    reset();
    EXPECT_OK(tsr_transpose(&transposed, host, 0, 1));
    expect_faults_told(there, transposed, "upload", 1);
    expect_faults_told(there, transposed, "event_record", 1);
    for (int i = 0; i < 3; i++) EXPECT_OK(tsr_copy(there, transposed));
    fail("event_sync", 0);
    EXPECT_FAILS(tsr_copy(there, transposed), TSR_EIO, "copy: the full backend failed");
    expect_faults_told(transposed, there, "download", 1);
    expect_faults_told(transposed, there, "event_record", 1);
    expect_faults_told(transposed, there, "event_sync", 1);
    tsr_release_all(&host, &transposed, &there);
}

/* Rows that are longer than a buffer are cut too. */
TEST(test_backend_faults_long_rows_go_in_pieces)
{
    enum { ROW = (17 << 20) + 3 };
    tsr_tensor *host = NULL, *there = made_of(TSR_U8, 2, ROW, on("full", 4)), *back = NULL;
    reset();
    EXPECT_OK(tsr_empty(&host, TSR_U8, TSR_SHAPE(2, ROW)));
    for (int64_t i = 0; i < 2 * (int64_t)ROW; i++)
        ((uint8_t *)host->data)[i] = (uint8_t)(i * 7 + i / ROW + (i >> 12));
    EXPECT_OK(tsr_copy(there, host));
    EXPECT(fake.uploads == 4);
    EXPECT_OK(tsr_to_host(&back, there));
    EXPECT(fake.downloads == 4 && !memcmp(back->data, host->data, 2 * (size_t)ROW));
    fail("upload", 2);
    EXPECT_FAILS(tsr_copy(there, host), TSR_EIO, "copy: the full backend failed");
    fail("download", 1);
    EXPECT_FAILS(tsr_copy(back, there), TSR_EIO, "copy: the full backend failed");
    EXPECT_OK(tsr_copy(back, there));
    tsr_release_all(&host, &there, &back);
    (void)tsr_device_pool_trim(on("full", 4), 0);
}

/* Pinned memory ------------------------------------------------------------------------------------ */

static tsr_tensor *pinned_numbers(int64_t rows, int64_t cols)
{
    tsr_tensor *host = numbers(TSR_F32, rows, cols), *t = NULL;
    EXPECT_OK(tsr_to_memory(&t, host, TSR_CPU, TSR_MEMORY_PINNED));
    tsr_release(&host);
    return t;
}

/* Moves a view of pinned memory up and down, and says how many times that went by rows. */
static int by_rows(tsr_tensor *view, tsr_dtype dtype, const char *backend, int index)
{
    tsr_tensor *there = made_of(dtype, view->shape[0], view->shape[1], on(backend, index)), *before = NULL;
    reset();
    EXPECT_OK(tsr_clone(&before, view));
    EXPECT_OK(tsr_copy(there, view));
    EXPECT(equal(there, before));
    if (!tsr_self_overlaps(view)) EXPECT_OK(tsr_copy(view, there));
    EXPECT(equal(view, before));
    tsr_release_all(&there, &before);
    return fake.rows;
}

TEST(test_backend_faults_rows_of_pinned_memory_go_at_once_where_they_lie_so)
{
    tsr_tensor *pinned = pinned_numbers(40, 300), *v = NULL;
    EXPECT_OK(tsr_slice(&v, pinned, 1, 10, 210, 1));
    EXPECT(by_rows(v, TSR_F32, "full", 0) == 2);
    EXPECT(by_rows(v, TSR_F32, "full", 1) == 0); /* another device's pinned memory */
    EXPECT(by_rows(v, TSR_F32, "unpinned", 0) == 0);
    EXPECT(by_rows(v, TSR_I16, "full", 0) == 0);
    EXPECT_OK(tsr_slice(&v, pinned, 1, 10, 100, 1)); /* too short */
    EXPECT(by_rows(v, TSR_F32, "full", 0) == 0);
    EXPECT_OK(tsr_slice(&v, pinned, 1, 0, 280, 2)); /* with gaps in a row */
    EXPECT(by_rows(v, TSR_F32, "full", 0) == 0);
    EXPECT_OK(tsr_slice(&v, pinned, 0, -1, TSR_NONE, -1)); /* backward */
    EXPECT(by_rows(v, TSR_F32, "full", 0) == 0);
    EXPECT_OK(tsr_slice(&v, pinned, 0, 0, 1, 1));
    EXPECT_OK(tsr_slice(&v, v, 1, 0, TSR_NONE, 2)); /* one loop only */
    EXPECT(by_rows(v, TSR_F32, "full", 0) == 0);
    tsr_release_all(&v, &pinned);
}

TEST(test_backend_faults_with_pinned_memory_are_told)
{
    tsr_tensor *pinned = pinned_numbers(40, 300), *v = NULL,
               *there = made_of(TSR_F32, 40, 200, on("full", 0));
    tsr_tensor *all = made_of(TSR_F32, 40, 300, on("full", 0));
    EXPECT_OK(tsr_slice(&v, pinned, 1, 10, 210, 1));
    reset();
    expect_faults_told(there, v, "rows", 1);
    expect_faults_told(v, there, "rows", 1);
    expect_faults_told(there, v, "stream_sync", 1);
    expect_faults_told(all, pinned, "stream_sync", 1);
    fail("stream_sync", 0); /* nobody waits */
    EXPECT_OK(tsr_copy_async(there, v));
    EXPECT_OK(tsr_copy_async(all, pinned));
    EXPECT(fake.fails != NULL);
    fake.fails = NULL;
    EXPECT(equal(there, v) && equal(all, pinned));
    tsr_release_all(&v, &there, &all, &pinned);
}

/* Streams and events ----------------------------------------------------------------------------- */

TEST(test_backend_faults_streams_and_events_that_cannot_be_made_are_told)
{
    tsr_stream *s = NULL;
    tsr_event *e = NULL;
    const tsr_device device = on("full", 5);
    reset();
    fail("stream_create", 0);
    EXPECT_FAILS(tsr_stream_create(&s, device), TSR_EIO, "stream_create: the full backend failed");
    fail("event_create", 0);
    EXPECT_FAILS(tsr_event_create(&e, device), TSR_EIO, "event_create: the full backend failed");
    is_full = true;
    EXPECT_FAILS(tsr_event_create(&e, device), TSR_ENOMEM, "event_create: no room");
    EXPECT_FAILS(tsr_stream_create(&s, on("full", 6)), TSR_ENOMEM, "stream_create: no room");
    is_full = false;
    EXPECT(s == NULL && e == NULL);
    tsr_stream_destroy(&s);
    tsr_event_destroy(&e);
}

/* A number that was not used is there again: all 63 can be had after a failure, and no more. */
TEST(test_backend_faults_streams_of_a_device_are_limited)
{
    tsr_stream *s[64] = { NULL };
    const tsr_device device = on("full", 5);
    reset();
    fail("stream_create", 0);
    EXPECT_FAILS(tsr_stream_create(&s[0], device), TSR_EIO, "stream_create");
    for (int i = 0; i < 63; i++) EXPECT_OK(tsr_stream_create(&s[i], device));
    EXPECT_FAILS(tsr_stream_create(&s[63], device), TSR_ENOMEM, "63 streams already");
    for (int i = 0; i < 63; i++) tsr_stream_destroy(&s[i]);
    EXPECT(fake.streams == 0 && s[63] == NULL);
}

TEST(test_backend_faults_thread_chooses_streams_on_some_devices_only)
{
    tsr_stream *s[17] = { NULL };
    reset();
    for (int i = 0; i < 17; i++) EXPECT_OK(tsr_stream_create(&s[i], on("full", i)));
    EXPECT_OK(tsr_stream_use_default(on("full", 0))); /* where nothing was chosen */
    for (int i = 0; i < 16; i++) EXPECT_OK(tsr_stream_use(s[i]));
    EXPECT_FAILS(tsr_stream_use(s[16]), TSR_ENOMEM, "16 devices already");
    EXPECT(tsr_stream_current(on("full", 15)) == s[15] && tsr_stream_current(on("full", 16)) == NULL);
    EXPECT_OK(tsr_stream_use_default(on("full", 3)));
    EXPECT_OK(tsr_stream_use(s[16]));
    EXPECT(tsr_stream_current(on("full", 3)) == NULL && tsr_stream_current(on("full", 16)) == s[16]);
    for (int i = 0; i < 17; i++) tsr_stream_destroy(&s[i]);
    EXPECT(tsr_stream_current(on("full", 16)) == NULL);
}

TEST(test_backend_faults_backend_without_streams_has_some_in_name)
{
    const tsr_device device = on("plain", 0);
    tsr_stream *s[2] = { NULL };
    tsr_event *e = NULL;
    tsr_tensor *t = NULL;
    double seconds = -1;
    for (int i = 0; i < 2; i++) EXPECT_OK(tsr_stream_create(&s[i], device));
    EXPECT_OK(tsr_event_create(&e, device));
    EXPECT_OK(tsr_event_record(e, s[0]));
    EXPECT_OK(tsr_event_sync(e));
    EXPECT_OK(tsr_event_elapsed(&seconds, e, e));
    EXPECT(seconds == 0);
    EXPECT_OK(tsr_stream_use(s[0]));
    t = made_of(TSR_F32, 10, 10, device);
    EXPECT_OK(tsr_fill(t, tsr_scalar_i64(1)));
    const void *data = t->data;
    tsr_release(&t);
    EXPECT_OK(tsr_stream_use(s[1]));
    t = made_of(TSR_F32, 10, 10, device);
    EXPECT(t->data == data);
    tsr_release(&t);
    tsr_event_destroy(&e);
    for (int i = 0; i < 2; i++) tsr_stream_destroy(&s[i]);
}

/* Memory that another stream used is had after that stream's work; if that cannot be said, not at all. */
TEST(test_backend_faults_memory_of_another_stream_waits_for_its_work)
{
    static const char *const entries[] = { "event_create", "event_record", "stream_wait" };
    const tsr_device device = on("full", 7);
    tsr_stream *s[2] = { NULL };
    tsr_desc d;
    reset();
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(10, 10), NULL));
    for (int i = 0; i < 2; i++) EXPECT_OK(tsr_stream_create(&s[i], device));
    EXPECT_OK(tsr_stream_use(s[0]));
    tsr_tensor *t = made(&d, device);
    EXPECT_OK(tsr_fill(t, tsr_scalar_i64(1)));
    const void *data = t->data;
    tsr_release(&t);
    EXPECT_OK(tsr_stream_use(s[1]));
    for (int i = 0; i < 3; i++) {
        const int events = fake.events;
        EXPECT_OK(tsr_declare(&t, &d, device, TSR_MEMORY_DEFAULT));
        fail(entries[i], 0);
        EXPECT_FAILS(tsr_alloc(t), TSR_EIO, "the full backend failed");
        fake.has_words = true;
        fail(entries[i], 0);
        EXPECT_FAILS(tsr_alloc(t), TSR_EIO, "the cable is loose");
        fake.has_words = false;
        EXPECT(!tsr_is_allocated(t) && fake.events == events);
        tsr_release(&t);
    }
    const int waits = fake.waits;
    t = made(&d, device);
    EXPECT(t->data == data && fake.waits == waits + 1);
    tsr_release(&t);
    for (int i = 0; i < 2; i++) tsr_stream_destroy(&s[i]);
    EXPECT(tsr_device_pool_trim(device, 0) > 0);
}

/* Graphs ------------------------------------------------------------------------------------------- */

TEST(test_backend_faults_graphs_that_fail_are_forgotten)
{
    const tsr_device device = on("full", 8);
    tsr_stream *s = NULL, *other = NULL;
    tsr_graph *g = NULL;
    reset();
    EXPECT_OK(tsr_stream_create(&s, device));
    EXPECT_OK(tsr_stream_create(&other, on("full", 9)));
    is_full = true;
    EXPECT_FAILS(tsr_graph_begin(s), TSR_ENOMEM, "graph_begin: no room");
    is_full = false;
    fail("graph_begin", 0);
    EXPECT_FAILS(tsr_graph_begin(s), TSR_EIO, "graph_begin: the full backend failed");
    EXPECT_FAILS(tsr_graph_end(&g, s), TSR_EINVAL, "no graph");
    EXPECT_OK(tsr_graph_begin(s));
    fail("graph_end", 0);
    EXPECT_FAILS(tsr_graph_end(&g, s), TSR_EIO, "graph_end: the full backend failed");
    EXPECT_FAILS(tsr_graph_end(&g, s), TSR_EINVAL, "no graph");
    EXPECT_OK(tsr_graph_begin(s));
    EXPECT_OK(tsr_graph_end(&g, s));
    fail("graph_launch", 0);
    EXPECT_FAILS(tsr_graph_launch(g, s), TSR_EIO, "graph_launch: the full backend failed");
    EXPECT_FAILS(tsr_graph_launch(g, other), TSR_EDEVICE, "graph_launch: the stream is on device");
    tsr_graph_destroy(&g);
    EXPECT(g == NULL && fake.graphs == 0);
    tsr_stream_destroy(&s);
    tsr_stream_destroy(&other);
}

static tsr_tensor *filled(const tsr_desc *d, tsr_device device, tsr_memory kind)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_declare(&t, d, device, kind));
    EXPECT_OK(tsr_fill(t, tsr_scalar_i64(1)));
    return t;
}

/* Several graphs at a time: each keeps what was taken and left on its own stream. */
TEST(test_backend_faults_memory_of_graphs_is_each_ones_own)
{
    const tsr_device device[2] = { on("full", 8), on("reached", 8) };
    tsr_stream *s[3] = { NULL };
    tsr_graph *g[3] = { NULL };
    tsr_desc d, longer;
    reset();
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(1000), NULL));
    EXPECT_OK(tsr_desc_init(&longer, TSR_F32, TSR_SHAPE(5000), NULL));
    for (int i = 0; i < 3; i++) EXPECT_OK(tsr_stream_create(&s[i], device[i / 2]));
    tsr_tensor *early = filled(&d, device[0], TSR_MEMORY_DEFAULT);
    for (int i = 0; i < 3; i++) EXPECT_OK(tsr_graph_begin(s[i]));
    EXPECT_OK(tsr_stream_use(s[0]));
    EXPECT_OK(tsr_stream_use(s[2]));
    const void *left = early->data;
    tsr_release(&early); /* its last work is in the graph */
    tsr_tensor *t = filled(&longer, device[0], TSR_MEMORY_DEFAULT);
    EXPECT(t->data != left);
    tsr_release(&t);
    t = filled(&d, device[0], TSR_MEMORY_MANAGED);
    EXPECT(t->data != left);
    tsr_release(&t);
    EXPECT_OK(tsr_stream_use(s[1]));
    t = filled(&d, device[0], TSR_MEMORY_DEFAULT);
    EXPECT(t->data != left);
    tsr_release(&t);
    EXPECT_OK(tsr_stream_use(s[0]));
    t = filled(&d, device[0], TSR_MEMORY_DEFAULT);
    EXPECT(t->data == left);
    tsr_tensor *elsewhere = filled(&d, device[1], TSR_MEMORY_DEFAULT);
    tsr_release(&elsewhere);
    for (int i = 0; i < 3; i++) EXPECT_OK(tsr_graph_end(&g[i], s[i]));
    EXPECT_OK(tsr_stream_use_default(device[0]));
    tsr_tensor *later = filled(&d, device[0], TSR_MEMORY_DEFAULT);
    EXPECT(later->data != left);
    tsr_release(&later);
    for (int i = 0; i < 3; i++) tsr_graph_destroy(&g[i]);
    tsr_release(&t); /* outlived its graph */
    for (int i = 0; i < 3; i++) tsr_stream_destroy(&s[i]);
    for (int i = 0; i < 2; i++) (void)tsr_device_pool_trim(device[i], 0);
}

TEST(test_backend_faults_graph_without_memory_for_its_list_still_works)
{
    const tsr_device device = on("full", 8);
    tsr_stream *s = NULL;
    tsr_graph *g = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(1000), NULL));
    EXPECT_OK(tsr_stream_create(&s, device));
    tsr_tensor *t = filled(&d, device, TSR_MEMORY_DEFAULT);
    tsr_release(&t);
    EXPECT_OK(tsr_stream_use(s));
    EXPECT_OK(tsr_graph_begin(s));
    EXPECT_OK(tsr_declare(&t, &d, device, TSR_MEMORY_DEFAULT));
    is_full = true;
    EXPECT_OK(tsr_alloc(t));
    is_full = false;
    EXPECT_OK(tsr_graph_end(&g, s));
    EXPECT_OK(tsr_graph_launch(g, s));
    tsr_graph_destroy(&g);
    tsr_stream_destroy(&s);
    tsr_release(&t);
    EXPECT(tsr_device_pool_trim(device, 0) > 0);
}

/* Memory of devices --------------------------------------------------------------------------------- */

TEST(test_backend_faults_memory_goes_back_at_once_if_it_cannot_be_remembered)
{
    const tsr_device device = on("full", 20);
    tsr_tensor *t = made_of(TSR_F32, 10, 10, device), *lost = made_of(TSR_F32, 10, 10, device);
    reset();
    const int live = fake.live;
    is_full = true;
    tsr_release(&t);
    EXPECT(fake.live == live - 1);
    fail("sync", 0); /* work may still use it, so it is not given back */
    tsr_release(&lost);
    EXPECT(fake.live == live - 1);
    is_full = false;
    fake.live--;
}

TEST(test_backend_faults_nothing_is_given_back_while_work_may_use_it)
{
    const tsr_device device = on("full", 21);
    tsr_tensor *t = made_of(TSR_F32, 10, 10, device);
    reset();
    tsr_release(&t);
    const int live = fake.live;
    fail("sync", 0);
    EXPECT(tsr_device_pool_trim(device, 0) == 0 && fake.live == live);
    EXPECT(tsr_device_pool_trim(device, 0) > 0 && fake.live == live - 1);
}

TEST(test_backend_faults_pinned_memory_is_plain_where_no_device_pins)
{
    tsr_storage *m = NULL;
    reset();
    fake.devices = 0;
    const int pinned = fake.pinned;
    EXPECT_OK(tsr_storage_create(&m, 1000, TSR_CPU, TSR_MEMORY_PINNED));
    EXPECT(fake.pinned == pinned && tsr_storage_memory(m) == TSR_MEMORY_PINNED);
    memset(tsr_storage_data(m), 1, 1000);
    tsr_storage_release(&m);
    reset();
}

TEST(test_backend_faults_use_of_no_storage_is_nothing) { tsri_storage_used(NULL, 3); }

/* Outside ------------------------------------------------------------------------------------- */

/* Whoever gets it may use it on any stream; so does what an older backend, with a shorter table, gives. */
TEST(test_backend_faults_work_is_waited_for_before_a_tensor_is_exported)
{
    tsr_tensor *t = made_of(TSR_F32, 2, 3, on("opencl", 3));
    tsr_dl_managed_versioned *m = NULL;
    reset();
    EXPECT_OK(tsr_to_dlpack(&m, t, NULL));
    EXPECT(fake.syncs == 1 && m && m->dl_tensor.device.type == TSR_DL_OPENCL && m->dl_tensor.device.id == 3);
    if (m) m->deleter(m);
    tsr_dl_tensor look;
    EXPECT(tsr_dlpack_exchange_api()->dltensor_from_object(t, &look) == 0 && fake.syncs == 2);
    tsr_tensor *other = made_of(TSR_F32, 2, 3, on("vulkan", 1)); /* nothing to wait for */
    m = NULL;
    EXPECT_OK(tsr_to_dlpack(&m, other, NULL));
    EXPECT(fake.syncs == 2 && m && m->dl_tensor.device.type == TSR_DL_VULKAN && m->dl_tensor.device.id == 1);
    if (m) m->deleter(m);
    tsr_release(&other);
    fail("sync", 0);
    m = NULL;
    EXPECT_FAILS(tsr_to_dlpack(&m, t, NULL), TSR_EIO, "to_dlpack: the opencl backend failed");
    fake.devices = 2;
    EXPECT_FAILS(tsr_to_dlpack(&m, t, NULL), TSR_EDEVICE, "to_dlpack: there is no device");
    EXPECT(m == NULL && tsr_dlpack_exchange_api()->dltensor_from_object(t, &look) == -1);
    look = (tsr_dl_tensor){ .data = &fake, .device = { TSR_DL_CUDA_MANAGED, 200 }, .dtype = { 0, 32, 1 } };
    tsr_tensor *managed = NULL;
    EXPECT_FAILS(tsr_wrap_dlpack(&managed, &look, false), TSR_EDEVICE, "there is no device \"cuda:200\"");
    reset();
    tsr_release(&t);
}

TEST(test_backend_faults_same_address_on_two_devices_is_no_overlap)
{
    tsr_tensor *t = made_of(TSR_F32, 2, 3, on("plain", 0)), here;
    EXPECT_OK(tsr_place(&here, t->data, &t->desc));
    EXPECT(tsr_may_overlap(t, t) && tsr_may_overlap(&here, &here));
    EXPECT(!tsr_may_overlap(t, &here) && !tsr_may_overlap(&here, t));
    tsr_tensor *there = NULL;
    EXPECT_OK(tsr_declare(&there, &t->desc, on("plain", 0), TSR_MEMORY_MANAGED));
    EXPECT_OK(tsr_alloc(there));
    EXPECT_OK(tsr_place(&here, there->data, &there->desc));
    EXPECT(tsr_is_host(there) && tsr_may_overlap(there, &here)); /* both are the host's */
    tsr_release_all(&t, &there);
}

static char heard[300];
static void listen(void *context, int level, const char *message)
{
    (void)context, (void)level;
    (void)snprintf(heard, sizeof heard, "%s", message);
}

TEST(test_backend_faults_ops_elsewhere_are_logged_without_a_reason_if_there_is_none)
{
    tsr_tensor *t = made_of(TSR_F32, 2, 3, on("plain", 0)), *out = NULL;
    EXPECT_OK(tsr_fill(t, tsr_scalar_i64(2)));
    EXPECT_OK(tsr_set_fallback(TSR_FALLBACK_WARN));
    EXPECT_OK(tsr_neg(&out, t)); /* nobody listens */
    tsr_set_log(listen, NULL);
    EXPECT_OK(tsr_neg(&out, t));
    tsr_set_log(NULL, NULL);
    EXPECT_OK(tsr_set_fallback(TSR_FALLBACK_ERROR));
    EXPECT_MSG(!strcmp(heard, "neg: computed on the CPU, since the plain backend cannot"), "%s", heard);
    float x = 0;
    EXPECT_OK(tsr_get_f32(&x, out, TSR_INDEX(1, 2)));
    EXPECT(x == -2);
    tsr_release_all(&t, &out);
}

/* What the front makes of other ops first, a caller of the backends may have done as it is. */
TEST(test_backend_faults_operands_that_are_left_out_are_left_out_on_the_cpu)
{
    tsr_tensor *x = made_of(TSR_F32, 2, 3, on("plain", 0)), *z = made_of(TSR_F32, 2, 3, on("plain", 0));
    const tsr_norm_params params = { 1, 0 };
    EXPECT_OK(tsr_fill(x, tsr_scalar_i64(2)));
    EXPECT_OK(tsr_set_fallback(TSR_FALLBACK_ALLOW));
    EXPECT_OK(tsri_op_run(&(tsr_op){ .kind = TSR_OP_RMS_NORM, .nin = 2, .nout = 1, .in = { x, NULL },
                                     .out = { z }, .params = &params }));
    EXPECT_OK(tsr_set_fallback(TSR_FALLBACK_ERROR));
    float one = 0;
    EXPECT_OK(tsr_get_f32(&one, z, TSR_INDEX(1, 2)));
    EXPECT(one == 1);
    tsr_release_all(&x, &z);
}

/* What devices say of themselves ------------------------------------------------------------------------ */

TEST(test_backend_faults_device_without_a_description_has_its_name)
{
    tsr_device_info words;
    reset();
    EXPECT_OK(tsr_device_get_info(&words, on("full", 3)));
    EXPECT(!strcmp(words.name, "fake number 3"));
    fake.is_nameless = true;
    EXPECT_OK(tsr_device_get_info(&words, on("full", 3)));
    EXPECT(!strcmp(words.name, "full:3"));
    EXPECT_OK(tsr_device_get_info(&words, on("plain", 3)));
    EXPECT(!strcmp(words.name, "plain:3"));
    fail("device_info", 0);
    EXPECT_FAILS(tsr_device_get_info(&words, on("full", 3)), TSR_EIO,
                 "device_get_info: the full backend failed");
}

/* A backend that counts too many devices has as many as there are numbers for, and none below 0. */
TEST(test_backend_faults_counts_that_change_are_held_to_what_there_may_be)
{
    const tsr_device device = on("full", 0);
    reset();
    const int usual = tsr_device_count();
    fake.devices = 1000;
    EXPECT(tsr_device_count() == usual + BACKENDS * (256 - DEVICES) && tsr_device_exists(device + 255));
    fake.devices = -7;
    EXPECT(tsr_device_count() == usual - BACKENDS * DEVICES && !tsr_device_exists(device));
    reset();
}

/* A device that is unplugged: every call on what was there says so. */
TEST(test_backend_faults_device_that_is_gone_is_edevice_everywhere)
{
    const tsr_device device = on("full", 30);
    tsr_stream *s = NULL;
    tsr_event *e = NULL;
    tsr_graph *g = NULL, *second = NULL;
    tsr_tensor *host = numbers(TSR_F32, 3, 4), *there = NULL, *there_too = NULL;
    double seconds;
    float x = 0;
    bool done;
    reset();
    EXPECT_OK(tsr_to(&there, host, device));
    there_too = made(&there->desc, on("full", 31));
    EXPECT_OK(tsr_stream_create(&s, device));
    EXPECT_OK(tsr_event_create(&e, device));
    EXPECT_OK(tsr_graph_begin(s));
    EXPECT_OK(tsr_graph_end(&g, s));
    EXPECT_OK(tsr_stream_use(s));
    tsr_tensor *used = made(&there->desc, device), *wanted = NULL;
    EXPECT_OK(tsr_fill(used, tsr_scalar_i64(1)));
    tsr_release(&used);
    EXPECT_OK(tsr_stream_use_default(device));
    EXPECT_OK(tsr_declare(&wanted, &there->desc, device, TSR_MEMORY_DEFAULT));
    fake.devices = 30;
    EXPECT_FAILS(tsr_alloc(wanted), TSR_EDEVICE, "stream_wait: there is no device");
    (void)tsr_device_pool_trim(device, 0);
    fake.devices = 31;
    EXPECT_FAILS(tsr_copy(there_too, there), TSR_EDEVICE, "copy: there is no device");
    fake.devices = 30;
    tsr_release(&wanted);
    tsr_storage *m = NULL;
    EXPECT_STATUS(tsri_storage_create(&m, 1 << 20, device, TSR_MEMORY_DEVICE, "test"), TSR_EDEVICE);
    EXPECT_FAILS(tsr_stream_sync(s), TSR_EDEVICE, "stream_sync: there is no device");
    EXPECT_FAILS(tsr_event_record(e, s), TSR_EDEVICE, "event_record: there is no device");
    EXPECT_FAILS(tsr_stream_wait(s, e), TSR_EDEVICE, "stream_wait: there is no device");
    EXPECT_FAILS(tsr_event_sync(e), TSR_EDEVICE, "event_sync: there is no device");
    EXPECT_FAILS(tsr_event_done(&done, e), TSR_EDEVICE, "event_done: there is no device");
    EXPECT_FAILS(tsr_event_elapsed(&seconds, e, e), TSR_EDEVICE, "event_elapsed: there is no device");
    EXPECT_FAILS(tsr_graph_begin(s), TSR_EDEVICE, "graph_begin: there is no device");
    EXPECT_FAILS(tsr_graph_end(&second, s), TSR_EDEVICE, "graph_end: there is no device");
    EXPECT_FAILS(tsr_graph_launch(g, s), TSR_EDEVICE, "graph_launch: there is no device");
    EXPECT_FAILS(tsr_copy(there, host), TSR_EDEVICE, "copy: there is no device");
    EXPECT_FAILS(tsr_copy(host, there), TSR_EDEVICE, "copy: there is no device");
    EXPECT_FAILS(tsr_copy(there_too, there), TSR_EDEVICE, "there is no device");
    EXPECT_FAILS(tsr_get_f32(&x, there, TSR_INDEX(0, 0)), TSR_EDEVICE, "there is no device");
    EXPECT_FAILS(tsr_set_f32(there, TSR_INDEX(0, 0), 1), TSR_EDEVICE, "there is no device");
    tsr_graph_destroy(&g);
    tsr_event_destroy(&e);
    tsr_stream_destroy(&s);
    EXPECT(!g && !e && !s);
    tsr_release_all(&there, &there_too, &host);
    reset();
    (void)tsr_device_pool_trim(device, 0);
}

/* Last, since what is made for a device stays. */
TEST(test_backend_faults_tables_for_devices_are_limited)
{
    int streams = 0, pools = 0;
    tsr_stream *s = NULL;
    tsr_storage *m = NULL;
    reset();
    for (int i = 0; i < DEVICES; i++, streams++) {
        if (tsr_stream_create(&s, on("full", i)) != TSR_OK) break;
        tsr_stream_destroy(&s);
    }
    EXPECT(streams < DEVICES &&
           strstr(tsr_last_error(), "stream_create: no room for the streams of another device"));
    for (int i = 0; i < DEVICES; i++, pools++) {
        if (tsr_storage_create(&m, 100, on("unpinned", i), TSR_MEMORY_DEFAULT) != TSR_OK) break;
        tsr_storage_release(&m);
    }
    EXPECT(pools < DEVICES && strstr(tsr_last_error(), "alloc: no room for a pool of device memory"));
    EXPECT_FAILS(tsr_device_pool_set_limit(on("unpinned", pools), 1), TSR_ENOMEM, "no room for a pool");
    expect_round_trip(on("full", 0));
}

/* Memory of someone else's on more devices than there are rings for. */
TEST(test_backend_faults_rings_are_limited)
{
    tsr_tensor *host = numbers(TSR_I32, 300, 200);
    int32_t *memory = malloc(300 * 200 * sizeof *memory);
    reset();
    const int before = fake.pinned;
    for (int i = 0; i < DEVICES; i++) {
        tsr_tensor *there = NULL;
        const tsr_dl_tensor dl = { .data = memory,
                                   .device = { TSR_DL_OPENCL, i },
                                   .ndim = 2,
                                   .dtype = { 0, 32, 1 },
                                   .shape = (int64_t[]){ 300, 200 } };
        memset(memory, 0, 300 * 200 * sizeof *memory);
        EXPECT_OK(tsr_wrap_dlpack(&there, &dl, false));
        EXPECT_OK(tsr_copy(there, host));
        EXPECT(!memcmp(memory, host->data, 300 * 200 * sizeof *memory));
        tsr_release(&there);
    }
    EXPECT(fake.pinned - before < 3 * DEVICES && fake.uploads == DEVICES);
    tsr_release(&host);
    free(memory);
}

int main(int argc, char **argv)
{
    if (tsr_set_allocator(&(tsr_allocator){ NULL, host_memory, end_host_memory }) != TSR_OK) return 1;
    reset();
    test_begin(0, NULL);
    RUN(test_backend_faults_backends_are_taken);
    TEST_BEGIN(argc, argv);
    return test_all();
}
