/* transfers.c - elements and bytes between the host, the device and other devices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* Any strides and dtypes ---------------------------------------------------------------------- */

enum { SOURCE, RESULT };

/* Where the source and the destination are. */
typedef struct route {
    const char *name;
    enum place { CPU, DEVICE, SIBLING, STRANGER } from, to;
} route;

static const route routes[] = {
    { "host to device", CPU, DEVICE },
    { "device to host", DEVICE, CPU },
    { "device to itself", DEVICE, DEVICE },
    { "device to its sibling", DEVICE, SIBLING },
    { "sibling to device", SIBLING, DEVICE },
    { "device to another backend's", DEVICE, STRANGER },
    { "another backend's to device", STRANGER, DEVICE },
};

static tsr_device device_at(const session *s, enum place p)
{
    return p == CPU ? TSR_CPU : p == DEVICE ? s->device : p == SIBLING ? s->sibling : s->stranger;
}

/* A copy that converts in one case of two. */
static void copy_once(trial *t, tsr_dtype dtype, tsr_device from, tsr_device to)
{
    tsr_dtype other = once_in(t, 2) ? dtype : (tsr_dtype)random_between(t, 1, TSR_DTYPE_COUNT - 1);
    int64_t shape[TRIAL_RANK];
    if (excuse_for(session_of(t), other)) other = dtype;
    const int ndim = random_shape(t, shape, 0, TRIAL_RANK, true);
    t->device = from;
    make_input(t, SOURCE, dtype, ndim, shape, FILL_EXTREME);
    t->device = to;
    make_output(t, RESULT, other, ndim, shape);
    GO_ON(t);
    NEED(t, tsr_copy(t->tensor[RESULT], t->tensor[SOURCE]));
    check_gaps(t, RESULT);
    check_converted(t, RESULT, SOURCE);
}

/* With the check's dtype, or with all in turn. */
static void check_copy(trial *t)
{
    const route *w = t->check->about;
    const session *s = session_of(t);
    const tsr_device from = device_at(s, w->from), to = device_at(s, w->to);
    if (from == TSR_NO_DEVICE || to == TSR_NO_DEVICE) {
        skip_trial(t, "there is no such device");
        return;
    }
    if (t->check->dtype) copy_once(t, t->check->dtype, from, to);
    for (int d = 1; d < TSR_DTYPE_COUNT && !t->check->dtype && !t->failed; d++)
        if (!excuse_for(s, (tsr_dtype)d)) copy_once(t, (tsr_dtype)d, from, to);
}

/* Sizes -------------------------------------------------------------------------------------------- */

enum { CHUNK = 4 << 20 };

/* There and back, packed and strided, of sizes around those that transfers are cut into. */
static const int64_t sizes[] = {
    1, 63, 65536, 65537, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 17, 5 * CHUNK
};

/* Large tensors, of the same shape. */
static void check_same_bytes(trial *t, const tsr_tensor *got, const tsr_tensor *wanted)
{
    const size_t bytes = (size_t)tsr_byte_size(wanted);
    GO_ON(t);
    unsigned char *two = trial_room(t, 2 * bytes);
    GO_ON(t);
    NEED(t, tsr_store(two, bytes, got));
    NEED(t, tsr_store(two + bytes, bytes, wanted));
    MUST(t, !memcmp(two, two + bytes, bytes), "the bytes are others than were sent");
}

enum { HOST, VIEW, THERE, BACK, SUM, WANTED };

static void go_and_return(trial *t, int host)
{
    tsr_tensor **x = t->tensor;
    GO_ON(t);
    tsr_release(&x[THERE]);
    tsr_release(&x[BACK]);
    NEED(t, tsr_to(&x[THERE], x[host], session_of(t)->device));
    NEED(t, tsr_to_host(&x[BACK], x[THERE]));
    check_same_bytes(t, x[BACK], x[host]);
    check_same_bytes(t, x[THERE], x[host]);
}

static void check_size(trial *t)
{
    const int64_t n = *(const int64_t *)t->check->about;
    tsr_tensor **view = &t->tensor[VIEW], **host = &t->tensor[HOST];
    NEED(t, tsr_integers(host, TSR_U8, 1, &n, 0, 256, random_bits(t)));
    go_and_return(t, HOST);
    NEED(t, tsr_slice(view, *host, 0, -1, TSR_NONE, -1));
    go_and_return(t, VIEW);
    if (n <= 1000) return;
    tsr_release(view);
    NEED(t, tsr_as_strided(view, *host, 2, (int64_t[]){ n / 700, 300 }, (int64_t[]){ 1, n / 600 }, 0));
    go_and_return(t, VIEW);
}

/* Kinds of memory --------------------------------------------------------------------------------- */

static tsr_status make_of_kind(tsr_tensor **out, tsr_device device, tsr_memory kind)
{
    tsr_desc d;
    TSR_TRY(tsr_desc_init(&d, TSR_F32, 2, (int64_t[]){ 70, 310 }, NULL));
    TSR_TRY(tsr_declare(out, &d, device, kind));
    const tsr_status s = tsr_alloc(*out);
    if (s != TSR_OK) tsr_release(out);
    return s;
}

static tsr_status random_floats(trial *t, tsr_tensor **out)
{
    return tsr_uniform(out, TSR_F32, 2, (int64_t[]){ 70, 310 }, -1, 1, random_bits(t));
}

/* Host memory that the device reads and writes by itself; queued, and waited for by an event. */
static tsr_status copy_through(tsr_tensor *there, tsr_tensor *out, const tsr_tensor *in, tsr_event *e)
{
    TSR_TRY(tsr_copy_async(there, in));
    TSR_TRY(tsr_copy_async(out, there));
    TSR_TRY(tsr_event_record(e, NULL));
    TSR_TRY(tsr_event_sync(e));
    bool done = false;
    TSR_TRY(tsr_event_done(&done, e));
    return done ? TSR_OK : TSR_ESTATE;
}

static void check_pinned(trial *t)
{
    enum { IN = VIEW, OUT = BACK };
    tsr_tensor **x = t->tensor;
    const tsr_device device = session_of(t)->device;
    tsr_event *e = NULL;
    NEED(t, random_floats(t, &x[HOST]));
    NEED(t, tsr_to_memory(&x[IN], x[HOST], TSR_CPU, TSR_MEMORY_PINNED));
    NEED(t, make_of_kind(&x[OUT], TSR_CPU, TSR_MEMORY_PINNED));
    NEED(t, make_of_kind(&x[THERE], device, TSR_MEMORY_DEFAULT));
    NEED(t, tsr_event_create(&e, device));
    const tsr_status s = copy_through(x[THERE], x[OUT], x[IN], e);
    if (s != TSR_OK) fail_call(t, "queued copies", s);
    tsr_event_destroy(&e);
    check_same_bytes(t, x[OUT], x[HOST]);
}

/* Memory of the device that the host reaches too. */
static void use_shared(trial *t, tsr_tensor *shared, tsr_memory kind)
{
    tsr_tensor **x = t->tensor;
    REQUIRE(t, tsr_is_host(shared) && tsr_is_device(shared), "the host cannot reach memory of the kind %s",
            tsr_memory_name(kind));
    REQUIRE(t, kind != TSR_MEMORY_MEDIA || (uintptr_t)shared->data % 128 == 0,
            "media memory is not aligned to 128 bytes");
    NEED(t, random_floats(t, &x[HOST]));
    NEED(t, tsr_copy(shared, x[HOST]));
    NEED(t, tsr_device_sync(session_of(t)->device));
    MUST(t, !memcmp(shared->data, x[HOST]->data, (size_t)tsr_byte_size(x[HOST])),
         "the host reads something else than was copied");
    ((float *)shared->data)[7] = ((float *)x[HOST]->data)[7] = 42;
    NEED(t, tsr_add(&x[SUM], shared, shared));
    NEED(t, tsr_add(&x[WANTED], x[HOST], x[HOST]));
    check_same_bytes(t, x[SUM], x[WANTED]);
}

static const tsr_memory kinds[] = { TSR_MEMORY_MANAGED, TSR_MEMORY_MEDIA };

static void check_shared(trial *t)
{
    const tsr_memory kind = *(const tsr_memory *)t->check->about;
    tsr_tensor **shared = &t->tensor[THERE];
    const tsr_status s = make_of_kind(shared, session_of(t)->device, kind);
    if (s == TSR_EUNSUPPORTED) {
        skip_trial(t, "%s", tsr_last_error());
        return;
    }
    if (s != TSR_OK) fail_call(t, "memory of this kind", s);
    GO_ON(t);
    use_shared(t, *shared, kind);
}

/* Elements ------------------------------------------------------------------------------------------- */

static void check_print(trial *t)
{
    char here[3000], there[3000];
    int64_t shape[TRIAL_RANK];
    const tsr_print_opts how = { .no_header = true };
    const int ndim = random_shape(t, shape, 0, 4, true);
    t->device = session_of(t)->device;
    make_input(t, SOURCE, t->check->dtype, ndim, shape, FILL_EXTREME);
    GO_ON(t);
    NEED(t, tsr_to_host(&t->tensor[RESULT], t->tensor[SOURCE]));
    NEED(t, tsr_to_string(here, sizeof here, NULL, t->tensor[RESULT], &how));
    NEED(t, tsr_to_string(there, sizeof there, NULL, t->tensor[SOURCE], &how));
    if (strstr(there, "not readable") || strstr(there, "device memory")) return; /* one line that says so */
    MUST(t, !strcmp(here, there), "it prints as\n%.300s\nnot\n%.300s", there, here);
}

/* Layouts that the device prefers change strides, not values. */
static void check_column_major(trial *t)
{
    tsr_tensor **x = t->tensor;
    NEED(t, tsr_to(&x[THERE], x[HOST], session_of(t)->device));
    REQUIRE(t, x[THERE]->stride[0] == 1, "a matrix is not column-major");
    NEED(t, tsr_add(&x[SUM], x[THERE], x[THERE]));
    NEED(t, tsr_add(&x[WANTED], x[HOST], x[HOST]));
    check_same_bytes(t, x[SUM], x[WANTED]);
}

static void check_layout(trial *t)
{
    const tsr_device device = session_of(t)->device;
    NEED(t, random_floats(t, &t->tensor[HOST]));
    NEED(t, tsr_device_set_layout(device, TSR_LAYOUT_COLUMN));
    check_column_major(t);
    const tsr_status s = tsr_device_set_layout(device, TSR_LAYOUT_ROW);
    if (s != TSR_OK) fail_call(t, "tsr_device_set_layout", s);
}

void add_transfer_checks(check_list *list)
{
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        const check c = { .family = "transfers", .run = check_copy, .about = &routes[i] };
        if (routes[i].from >= SIBLING || routes[i].to >= SIBLING)
            add_check(list, c, routes[i].name);
        else
            add_checks(list, c, routes[i].name, NULL);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char title[48];
        snprintf(title, sizeof title, "%lld bytes there and back", (long long)sizes[i]);
        add_check(list,
                  (check){ .family = "transfers", .run = check_size, .about = &sizes[i], .every = ONCE },
                  title);
    }
    add_check(list, (check){ .family = "transfers", .run = check_pinned, .every = 2 },
              "queued copies of pinned memory");
    add_check(list, (check){ .family = "transfers", .run = check_shared, .about = &kinds[0], .every = 2 },
              "managed memory");
    add_check(list, (check){ .family = "transfers", .run = check_shared, .about = &kinds[1], .every = 2 },
              "media memory");
    add_check(list, (check){ .family = "transfers", .run = check_layout, .every = ONCE },
              "column-major matrices");
    add_checks(list, (check){ .family = "transfers", .run = check_print, .every = 2 }, "print", NULL);
}
