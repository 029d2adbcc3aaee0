/* test_device_groups.c - devices that do many ops at once, copy many tensors at once and look for the range
 * of an index by themselves, and devices that do not: the results are the same. Their memory is the host's.
 */
#define _GNU_SOURCE 1 /* mkdtemp */
#include "unit/files.h"
#include "backend/device_run.h"
#include "backend/run.h"
#include "core/storage.h"
#include "tessera/backend.h"

enum { MOST = 3 };

static struct {
    int count;                     /* of devices */
    int groups, ops, copies, pieces;
    tsr_status answer;             /* of what is done at once */
    bool supports;
    tsr_status ranged;
    int64_t least, most;
} fake;

static int device_count(void) { return fake.count; }

static tsr_status alloc(void **out, int device, size_t bytes, tsr_memory kind)
{
    (void)device, (void)kind;
    *out = aligned_alloc(64, (bytes + 64) / 64 * 64);
    return *out ? TSR_OK : TSR_ENOMEM;
}

static void give(int device, void *data, size_t bytes, tsr_memory kind)
{
    (void)device, (void)bytes, (void)kind;
    free(data);
}

static bool supports(int device, const tsr_op *op)
{
    (void)device;
    return op->kind == TSR_OP_COPY || op->kind == TSR_OP_FILL ||
           (fake.supports && op->kind == TSR_OP_SCALE_EACH);
}

/* The op with tensors of the host that look at the same memory. */
static tsr_status run_here(int device, const tsr_op *op)
{
    tsr_tensor out, in, *result = &out;
    (void)device;
    fake.ops++;
    TSR_TRY(tsr_place(&out, op->out[0]->data, &op->out[0]->desc));
    if (op->kind == TSR_OP_FILL) return tsr_fill(&out, ((const tsr_fill_params *)op->params)->value);
    if (op->kind == TSR_OP_SCALE_EACH) return tsr_scale_each(1, &result, 3);
    TSR_TRY(tsr_place(&in, op->in[0]->data, &op->in[0]->desc));
    return tsr_copy(&out, &in);
}

static tsr_status run_all(int device, int n, const tsr_op *ops)
{
    fake.groups++;
    if (fake.answer != TSR_OK) return fake.answer;
    for (int i = 0; i < n; i++) TSR_TRY(run_here(device, &ops[i]));
    return TSR_OK;
}

static tsr_status copy_pieces(int device, int n, tsr_tensor *const *dst, const tsr_tensor *const *src,
                              void *stream)
{
    (void)stream;
    fake.pieces++;
    if (fake.answer != TSR_OK) return fake.answer;
    for (int i = 0; i < n; i++)
        TSR_TRY(run_here(device, &(tsr_op){ .kind = TSR_OP_COPY, .nin = 1, .nout = 1, .in = { src[i] },
                                            .out = { dst[i] } }));
    return TSR_OK;
}

static tsr_status index_range(int device, const tsr_tensor *t, int64_t *low, int64_t *high, void *stream)
{
    (void)device, (void)t, (void)stream;
    *low = fake.least;
    *high = fake.most;
    return fake.ranged;
}

#define REQUIRED \
    .abi = TSR_BACKEND_ABI, .size = sizeof(tsr_backend), .device_count = device_count, .alloc = alloc, \
    .free = give, .supports = supports, .run = run_here

static const tsr_backend many = { REQUIRED, .name = "many", .run_all = run_all, .copy_pieces = copy_pieces,
                                  .index_range = index_range },
                         single = { REQUIRED, .name = "single" };

static tsr_device on(const char *name)
{
    tsr_device device = TSR_NO_DEVICE;
    EXPECT_OK(tsr_device_parse(&device, name));
    return device;
}

static void reset(void)
{
    memset(&fake, 0, sizeof fake);
    fake.count = 2;
    fake.supports = true;
}

static tsr_tensor *filled(const char *device, double value, int64_t n)
{
    tsr_tensor *t = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(n), NULL));
    EXPECT_OK(tsr_declare(&t, &d, on(device), TSR_MEMORY_DEFAULT));
    EXPECT_OK(tsr_fill(t, tsr_scalar_f64(value)));
    return t;
}

static bool all_are(const tsr_tensor *t, double value)
{
    const float *x = t->data;
    bool are = true;
    for (int64_t i = 0; i < tsr_numel(t); i++) are = are && x[i] == (float)value;
    return are;
}

/* Tensors of 1, 2, 3 on the device, scaled; then it is looked whether each is `factor` times what it was. */
static tsr_status scale(const char *device, double factor)
{
    tsr_tensor *t[MOST];
    for (int i = 0; i < MOST; i++) t[i] = filled(device, i + 1, 4 + i);
    fake.ops = 0;
    const tsr_status s = tsr_scale_each(MOST, t, 3);
    for (int i = 0; i < MOST; i++) EXPECT(all_are(t[i], factor * (i + 1)));
    for (int i = 0; i < MOST; i++) tsr_release(&t[i]);
    return s;
}

TEST(test_device_groups_ops_of_one_kind_are_done_at_once)
{
    EXPECT_OK(scale("many:0", 3));
    EXPECT(fake.groups == 1 && fake.ops == MOST);
    fake.answer = TSR_EUNSUPPORTED;  /* one by one, then */
    EXPECT_OK(scale("many:1", 3));
    EXPECT(fake.groups == 2 && fake.ops == MOST);
    EXPECT_OK(scale("single:0", 3));
    EXPECT(fake.groups == 2 && fake.ops == MOST);
    fake.answer = TSR_EIO;
    EXPECT_FAILS(scale("many:0", 1), TSR_EIO, "scale_each: the many backend");
    EXPECT(fake.groups == 3 && fake.ops == 0);
    reset();
}

/* The memory of all of them is not reused before the stream is done. */
TEST(test_device_groups_note_the_stream_that_they_are_done_on)
{
    tsr_tensor *x = filled("many:0", 2, 4), *y = filled("many:0", 3, 4);
    tsr_stream *stream = NULL;
    tsr_op op = { .kind = TSR_OP_SCALE_EACH, .nin = 1, .nout = 1, .in = { x }, .out = { x } };
    tsr_op ops[2] = { op, op };
    tsr_status s = TSR_EINVAL;
    ops[1].in[0] = ops[1].out[0] = y;
    EXPECT_OK(tsr_stream_create(&stream, on("many:0")));
    EXPECT_OK(tsr_stream_use(stream));
    const uint64_t before[] = { x->storage->streams, y->storage->streams };
    EXPECT(tsri_op_run_all(&s, 2, ops) && s == TSR_OK && all_are(x, 6) && all_are(y, 9));
    EXPECT(x->storage->streams != before[0] && y->storage->streams != before[1]);
    tsr_stream_destroy(&stream);
    tsr_release_all(&x, &y);
    reset();
}

/* What the front does not ask for: operands on two devices, a device that is gone, ops that it lacks. */
TEST(test_device_groups_are_of_one_device_that_has_the_op)
{
    tsr_tensor *x = filled("many:0", 2, 4), *y = filled("many:1", 5, 4), *host = NULL, *whole = NULL;
    tsr_op op = { .kind = TSR_OP_SCALE_EACH, .nin = 1, .nout = 1, .in = { x }, .out = { x } };
    tsr_op ops[2] = { op, op };
    tsr_status s = TSR_EINVAL;
    EXPECT_OK(tsr_to_host(&host, x));
    EXPECT(tsri_op_run_all(&s, 2, ops) && s == TSR_OK && all_are(x, 18));
    ops[1].in[0] = y;
    EXPECT(!tsri_op_run_all(&s, 2, ops));
    ops[1].in[0] = x;
    ops[0].in[0] = y;  /* one that comes first */
    EXPECT(!tsri_op_run_all(&s, 2, ops));
    ops[0].in[0] = x;
    ops[1].out[0] = y;
    EXPECT(!tsri_op_run_all(&s, 2, ops) && all_are(y, 5));
    ops[1].out[0] = x;
    fake.supports = false;
    EXPECT(!tsri_op_run_all(&s, 2, ops));
    fake.supports = true;
    fake.count = 0;
    EXPECT(!tsri_op_run_all(&s, 2, ops));
    fake.count = 2;
    EXPECT(fake.groups == 1 && all_are(x, 18));
    ops[0].kind = TSR_OP_COPY;
    ops[0].out[0] = host;  /* of the host, from an operand that is not */
    EXPECT(tsri_op_run_all(&s, 1, ops) && s == TSR_EDEVICE && all_are(host, 2));
    EXPECT_OK(tsr_ones(&whole, TSR_F32, TSR_SHAPE(4)));
    ops[1] = (tsr_op){ .kind = TSR_OP_COPY, .nin = 1, .nout = 1, .in = { whole }, .out = { host } };
    EXPECT(tsri_op_run_all(&s, 2, ops) && s == TSR_EDEVICE && all_are(host, 2));
    tsr_release(&whole);
    EXPECT_OK(tsr_cast(&whole, host, TSR_I32));
    ops[0].kind = TSR_OP_SCALE_EACH;
    ops[0].in[0] = ops[0].out[0] = whole;  /* the CPU scales no integers */
    EXPECT(!tsri_op_run_all(&s, 1, ops));
    EXPECT_FAILS(tsri_op_run(&ops[0]), TSR_EUNSUPPORTED, "the cpu backend cannot do this");
    tsr_release_all(&x, &y, &host, &whole);
}

TEST(test_device_groups_tensors_are_copied_at_once)
{
    tsr_tensor *x = filled("many:0", 2, 4), *y = filled("many:0", 5, 3), *far = filled("many:1", 7, 3),
               *other = filled("single:0", 9, 4);
    tsr_tensor *z[2] = { filled("many:0", 0, 4), filled("many:0", 0, 3) }, to[2] = { *z[0], *z[1] };
    const tsr_tensor *here[] = { x, y }, *apart[] = { x, far },
                     *apart_first[] = { far, y };
    EXPECT_OK(tsri_device_copies(2, to, here));
    EXPECT(fake.pieces == 1 && all_are(&to[0], 2) && all_are(&to[1], 5));
    EXPECT_FAILS(tsri_device_copies(2, to, apart), TSR_EDEVICE, "copy: operands on many:0 and many:1");
    EXPECT_FAILS(tsri_device_copies(2, to, apart_first), TSR_EDEVICE, "copy: operands on many:0 and many:1");
    EXPECT(fake.pieces == 1 && all_are(&to[1], 5));
    fake.answer = TSR_EIO;
    EXPECT_FAILS(tsri_device_copies(2, to, here), TSR_EIO, "copy: the many backend");
    EXPECT_OK(tsri_device_copies(1, other, (const tsr_tensor *[]){ other }));
    EXPECT(fake.pieces == 2 && all_are(other, 9));
    fake.count = 0;
    EXPECT_FAILS(tsri_device_copies(2, to, here), TSR_EDEVICE, "copy");
    reset();
    tsr_release_all(&x, &y, &far, &other, &z[0], &z[1]);
}

TEST(test_device_groups_the_range_of_an_index_is_asked_for)
{
    tsr_tensor *t = filled("many:0", 0, 4), *other = filled("single:0", 0, 4),
               *none = filled("single:0", 0, 0);
    fake.least = 2;
    fake.most = 6;
    EXPECT(tsri_device_in_range(t, 2, 6) && tsri_device_in_range(t, 0, 9));
    EXPECT(!tsri_device_in_range(t, 3, 6) && !tsri_device_in_range(t, 2, 5));
    fake.ranged = TSR_EIO;
    EXPECT(!tsri_device_in_range(t, 2, 6));
    EXPECT(!tsri_device_in_range(other, INT64_MIN, INT64_MAX) && tsri_device_in_range(none, 0, -1));
    fake.count = 0;
    EXPECT(!tsri_device_in_range(t, INT64_MIN, INT64_MAX));
    reset();
    tsr_release_all(&t, &other, &none);
}

/* Libraries and deflate take whole tensors of the host. */
TEST(test_device_groups_tensors_are_written_or_there_is_no_memory_to_bring_them)
{
    static const char *const names[] = { "x.h5", "x.jpg" };
    tsr_tensor *t = NULL, *host = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, TSR_SHAPE(8, 8), NULL));
    EXPECT_OK(tsr_declare(&t, &d, on("single:0"), TSR_MEMORY_DEFAULT));
    EXPECT_OK(tsr_fill(t, tsr_scalar_i64(7)));
    for (int k = 0; k < 2; k++) {
        tsr_status s = TSR_ENOMEM;
        int failed = 0;
        for (; failed < 100 && s == TSR_ENOMEM; failed++) {
            tsr_writer *w = NULL;
            EXPECT_OK(tsr_writer_create(&w, file_path(names[k]),
                                        &(tsr_writer_opts){ .no_sync = true, .compress = k == 0 }));
            files_allowed = failed;
            tsr_set_alloc_hook(files_allow_some, NULL);
            s = tsr_writer_add(w, k ? NULL : "x", t, NULL);
            tsr_set_alloc_hook(NULL, NULL);
            if (s == TSR_OK) EXPECT_OK(tsr_writer_finish(&w));
            tsr_writer_cancel(&w);
        }
        if (k == 1 && s == TSR_EUNSUPPORTED) continue;  /* no libturbojpeg */
        EXPECT(s == TSR_OK && failed > 1);
        EXPECT_OK(tsr_file_load(&host, file_path(names[k]), NULL));
        EXPECT(tsr_numel(host) == 64 && *(unsigned char *)host->data == 7);
        tsr_release(&host);
    }
    tsr_release(&t);
}

TEST_AFTER { files_remove(); }

TEST_BEFORE
{
    reset();
    EXPECT_OK(tsr_backend_register(&many));
    EXPECT_OK(tsr_backend_register(&single));
}
