/* transfers.c - elements and bytes between the host, the device and other devices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "operands.h"

enum { X };

static const tolerance equal = { .ulps = 0 }, bits = { .ulps = BITS };

/* Any strides and dtypes ---------------------------------------------------------------------- */

/* Where the source and the destination of the side under test lie. */
typedef struct way {
    const char *name;
    enum place { CPU, DEVICE, SIBLING, STRANGER } from, to;
} way;

static const way ways[] = {
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

static tsr_status copy(trial *t, side s) { return tsr_copy(*RESULT(t, s, 0), IN(t, s, X)); }

/* The CPU's copy beside the one under test; a dtype that is converted on the way in one case of two. */
static void copy_once(trial *t, tsr_dtype dtype, tsr_device from, tsr_device to)
{
    tsr_dtype other = once_in(t, 2) ? dtype : (tsr_dtype)random_between(t, 1, TSR_DTYPE_COUNT - 1);
    int64_t shape[RANK];
    if (excuse_for(t->session, other)) other = dtype;
    const int ndim = random_shape(t, shape, 0, RANK, 60000);
    place_sides(t, TSR_CPU, from);
    make_input(t, X, dtype, ndim, shape, &any_values);
    place_sides(t, TSR_CPU, to);
    make_output(t, IN_MAX, other, ndim, shape);
    GO_ON(t);
    NEED(t, copy(t, HERE));
    NEED(t, copy(t, THERE));
    compare_results(t, 0, other == dtype ? &bits : &equal);
}

/* With the check's dtype, or with all in turn. */
static void check_copy(trial *t)
{
    const way *w = t->check->about;
    const tsr_device from = device_at(t->session, w->from), to = device_at(t->session, w->to);
    if (from == TSR_NO_DEVICE || to == TSR_NO_DEVICE) {
        skip_trial(t, "there is no such device");
        return;
    }
    for (int d = 1; d < TSR_DTYPE_COUNT && !is_over(t); d++) {
        if (t->check->dtype ? (int)t->check->dtype != d : excuse_for(t->session, (tsr_dtype)d) != NULL)
            continue;
        copy_once(t, (tsr_dtype)d, from, to);
        if (!is_over(t)) end_trial(t);
    }
}

/* Sizes -------------------------------------------------------------------------------------------- */

enum { CHUNK = 4 << 20 };

/* There and back, as it lies and strided, of sizes around those that transfers are cut into. */
static const int64_t sizes[] = {
    1, 63, 65536, 65537, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 17, 5 * CHUNK
};

static void go_and_return(trial *t, const tsr_tensor *host)
{
    tsr_tensor *there = NULL, *back = NULL;
    tsr_status s = tsr_to(&there, host, t->session->device);
    if (s == TSR_OK) s = tsr_to_host(&back, there);
    if (s != TSR_OK)
        call_went_wrong(t, "tsr_to and tsr_to_host", s);
    else
        compare_tensors(t, "there and back", back, host, &bits);
    if (!is_over(t)) compare_tensors(t, "from there", there, host, &bits);
    tsr_release(&there);
    tsr_release(&back);
}

static void check_size(trial *t)
{
    const int64_t n = *(const int64_t *)t->check->about;
    tsr_tensor *host = NULL, *view = NULL;
    NEED(t, tsr_integers(&host, TSR_U8, 1, &n, 0, 256, random_bits(t)));
    go_and_return(t, host);
    tsr_status s = tsr_slice(&view, host, 0, -1, TSR_NONE, -1);
    if (s == TSR_OK) go_and_return(t, view);
    if (s == TSR_OK && n > 1000) s = tsr_view(&view, host, 2, (int64_t[]){ 1, n });
    if (s == TSR_OK && n > 1000)
        s = tsr_as_strided(&view, host, 2, (int64_t[]){ n / 700, 300 }, (int64_t[]){ 1, n / 600 }, 0);
    if (s == TSR_OK && n > 1000) go_and_return(t, view);
    if (s != TSR_OK) call_went_wrong(t, "making a view", s);
    tsr_release(&host);
    tsr_release(&view);
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
    tsr_tensor *host = NULL, *in = NULL, *out = NULL, *there = NULL;
    tsr_event *e = NULL;
    tsr_status s = random_floats(t, &host);
    if (s == TSR_OK) s = tsr_to_memory(&in, host, TSR_CPU, TSR_MEMORY_PINNED);
    if (s == TSR_OK) s = make_of_kind(&out, TSR_CPU, TSR_MEMORY_PINNED);
    if (s == TSR_OK) s = make_of_kind(&there, t->session->device, TSR_MEMORY_DEFAULT);
    if (s == TSR_OK) s = tsr_event_create(&e, t->session->device);
    if (s == TSR_OK) s = copy_through(there, out, in, e);
    if (s != TSR_OK) call_went_wrong(t, "queued copies", s);
    compare_tensors(t, "through pinned memory", out, host, &bits);
    tsr_event_destroy(&e);
    tsr_release(&host);
    tsr_release(&in);
    tsr_release(&out);
    tsr_release(&there);
}

/* Memory of the device that the host reaches too. */
static void use_shared(trial *t, tsr_tensor *shared, tsr_memory kind)
{
    tsr_tensor *host = NULL, *twice = NULL, *wanted = NULL;
    MUST(t, tsr_is_host(shared) && tsr_is_device(shared), "the host cannot reach memory of the kind %s",
         tsr_memory_name(kind));
    MUST(t, kind != TSR_MEMORY_MEDIA || (uintptr_t)shared->data % 128 == 0,
         "media memory is not aligned to 128 bytes");
    tsr_status s = random_floats(t, &host);
    if (s == TSR_OK) s = tsr_copy(shared, host);
    if (s == TSR_OK) s = tsr_device_sync(t->session->device);
    if (s == TSR_OK && !t->session->plumbing && memcmp(shared->data, host->data, (size_t)tsr_byte_size(host)))
        fail_trial(t, "the host reads something else than was copied");
    if (s == TSR_OK) ((float *)shared->data)[7] = ((float *)host->data)[7] = 42;
    if (s == TSR_OK) s = tsr_add(&twice, shared, shared);
    if (s == TSR_OK) s = tsr_add(&wanted, host, host);
    if (s != TSR_OK) call_went_wrong(t, "using shared memory", s);
    compare_tensors(t, "from shared memory", twice, wanted, &bits);
    tsr_release(&host);
    tsr_release(&twice);
    tsr_release(&wanted);
}

static const tsr_memory kinds[] = { TSR_MEMORY_MANAGED, TSR_MEMORY_MEDIA };

static void check_shared(trial *t)
{
    const tsr_memory kind = *(const tsr_memory *)t->check->about;
    tsr_tensor *shared = NULL;
    const tsr_status s = make_of_kind(&shared, t->session->device, kind);
    if (s == TSR_EUNSUPPORTED)
        skip_trial(t, "%s", tsr_last_error());
    else if (s != TSR_OK)
        call_went_wrong(t, "memory of this kind", s);
    if (!is_over(t)) use_shared(t, shared, kind);
    tsr_release(&shared);
}

/* Elements ------------------------------------------------------------------------------------------- */

/* A byte that is not one of the dtype's (a bool of 2) is made one by tsr_get. */
static void check_elements(trial *t)
{
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 1, 4, 4000);
    if (count_of(ndim, shape) == 0) return;
    make_output(t, X, t->check->dtype, ndim, shape);
    GO_ON(t);
    for (int i = 0; i < 6 && !is_over(t); i++) {
        int64_t index[RANK];
        tsr_scalar got, wanted;
        for (int d = 0; d < ndim; d++) index[d] = random_between(t, -shape[d], shape[d] - 1);
        const tsr_scalar value = tsr_scalar_i64(random_below(t, 100));
        NEED(t, tsr_set(t->slot[X].at[HERE], ndim, index, value));
        NEED(t, tsr_set(t->slot[X].at[THERE], ndim, index, value));
        NEED(t, tsr_get(&wanted, t->slot[X].at[HERE], ndim, index));
        NEED(t, tsr_get(&got, t->slot[X].at[THERE], ndim, index));
        MUST_BE(t, got.dtype == wanted.dtype && !memcmp(&got.as, &wanted.as, sizeof got.as),
                "tsr_get gives another number than was set");
    }
    for (side s = HERE; s <= THERE; s++) *RESULT(t, s, 0) = tsr_retain(t->slot[X].at[s]);
    t->slot[IN_MAX].same_as = X;
    compare_results(t, 0, &bits);
}

/* Packed bytes in and out of a strided tensor. */
static void check_load(trial *t)
{
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 0, 5, 20000);
    make_input(t, X, t->check->dtype, ndim, shape, &any_values);
    make_output(t, IN_MAX, t->check->dtype, ndim, shape);
    GO_ON(t);
    const size_t bytes = (size_t)tsr_byte_size(IN(t, HERE, X));
    unsigned char *packed = malloc(bytes + 1);
    MUST(t, packed, "no memory");
    for (side s = HERE; s <= THERE && !is_over(t); s++) {
        tsr_status status = tsr_store(packed, bytes, IN(t, s, X));
        if (status == TSR_OK) status = tsr_load(*RESULT(t, s, 0), packed, bytes);
        if (status != TSR_OK) call_went_wrong(t, "tsr_store and tsr_load", status);
    }
    free(packed);
    if (!is_over(t)) compare_results(t, 0, &bits);
}

static void check_print(trial *t)
{
    char here[3000], there[3000];
    int64_t shape[RANK];
    const tsr_print_opts how = { .no_header = true };
    const int ndim = random_shape(t, shape, 0, 4, 300);
    make_input(t, X, t->check->dtype, ndim, shape, &any_values);
    GO_ON(t);
    NEED(t, tsr_to_string(here, sizeof here, NULL, IN(t, HERE, X), &how));
    NEED(t, tsr_to_string(there, sizeof there, NULL, IN(t, THERE, X), &how));
    if (strstr(there, "not readable") || strstr(there, "device memory")) return; /* one line that says so */
    MUST_BE(t, !strcmp(here, there), "it prints as\n%s\nnot\n%s", there, here);
}

/* Layouts that the device prefers change strides, not values. */
static void check_layout(trial *t)
{
    const tsr_device device = t->session->device;
    tsr_tensor *host = NULL, *there = NULL, *sum = NULL, *wanted = NULL;
    tsr_status s = random_floats(t, &host);
    if (s == TSR_OK) s = tsr_device_set_layout(device, TSR_LAYOUT_COLUMN);
    if (s == TSR_OK) s = tsr_to(&there, host, device);
    if (s == TSR_OK && there->stride[0] != 1) fail_trial(t, "a matrix is not column-major");
    if (s == TSR_OK) s = tsr_add(&sum, there, there);
    if (s == TSR_OK) s = tsr_add(&wanted, host, host);
    if (s != TSR_OK) call_went_wrong(t, "column-major matrices", s);
    compare_tensors(t, "a column-major sum", sum, wanted, &bits);
    if (tsr_device_set_layout(device, TSR_LAYOUT_ROW) != TSR_OK)
        fail_trial(t, "the layout cannot be set back");
    tsr_release(&host);
    tsr_release(&there);
    tsr_release(&sum);
    tsr_release(&wanted);
}

void list_transfers(check_list *list)
{
    const uint32_t all = dtypes_of(TSR_OP_COPY, 0);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const check c = { .family = "transfers", .run = check_copy, .about = &ways[i] };
        if (ways[i].from >= SIBLING || ways[i].to >= SIBLING)
            add_check(list, c, ways[i].name);
        else
            add_for_dtypes(list, c, ways[i].name, all);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char title[48];
        snprintf(title, sizeof title, "%lld bytes there and back", (long long)sizes[i]);
        add_check(list, (check){ .family = "transfers", .run = check_size, .about = &sizes[i], .most = 1 },
                  title);
    }
    add_check(list, (check){ .family = "transfers", .run = check_pinned, .most = 2 },
              "queued copies of pinned memory");
    add_check(list, (check){ .family = "transfers", .run = check_shared, .about = &kinds[0], .most = 2 },
              "managed memory");
    add_check(list, (check){ .family = "transfers", .run = check_shared, .about = &kinds[1], .most = 2 },
              "media memory");
    add_check(list, (check){ .family = "transfers", .run = check_layout, .most = 1 },
              "column-major matrices");
    add_for_dtypes(list, (check){ .family = "transfers", .run = check_elements }, "get and set", all);
    add_for_dtypes(list, (check){ .family = "transfers", .run = check_load }, "load and store", all);
    add_for_dtypes(list, (check){ .family = "transfers", .run = check_print, .most = 2 }, "print", all);
}
