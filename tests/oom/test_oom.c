/* The n-th allocation fails, for every n until the call succeeds; of every public function that
 * may allocate, for every kind of result handle.
 *
 * After each failure: the status is TSR_ENOMEM and says so in words, nothing is leaked, result
 * handles and inputs are what they were. Allocations fail in two ways: by the hook, which is
 * asked for each one, and in an allocator of the test's own, with the pool switched off and the
 * library's caches of headers exhausted. tools/check_covered.sh compares the scenarios with the
 * headers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mkstemp */
#endif
#include <unistd.h>

#include "test.h"

/* Failing on purpose ----------------------------------------------------------------- */

typedef enum source {
    BY_HOOK,      /* the n-th allocation is refused */
    EXHAUSTED,    /* the allocator has nothing from the n-th one on */
    ONE_REFUSED   /* the allocator refuses the n-th one: a call may get by with less */
} source;

static struct {
    source from;
    long   countdown;   /* 1: the next allocation fails; 0: none does; -1: every one does */
    bool   fired;
    long   asked;       /* allocations while armed */
} failing;

static bool is_allowed(void)
{
    failing.asked++;
    if (failing.countdown == 0) return true;
    if (failing.countdown > 1) {
        failing.countdown--;
        return true;
    }
    if (failing.countdown == 1) failing.countdown = failing.from == EXHAUSTED ? -1 : 0;
    failing.fired = true;
    return false;
}

static bool hook(void *context, size_t bytes)
{
    (void)context; (void)bytes;
    return is_allowed();
}

static void *failing_alloc(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    if (!is_allowed()) return NULL;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void arm(long n)
{
    failing.fired = false;
    failing.asked = 0;
    failing.countdown = n;
}

static void begin(source from)
{
    failing.from = from;
    arm(0);
    if (from == BY_HOOK) tsr_set_alloc_hook(hook, NULL);
    else EXPECT_OK(tsr_set_allocator(&(tsr_allocator){ NULL, failing_alloc, test_free }));
}

static void end(void)
{
    if (failing.from == BY_HOOK) tsr_set_alloc_hook(NULL, NULL);
    else EXPECT_OK(tsr_set_allocator(NULL));
}

/* What a call works on --------------------------------------------------------------- */

enum { OUTS = 3, ROWS = 20, COLS = 30 };  /* large enough not to lie in a header's slot */

typedef struct fixture {
    tsr_tensor  *a;          /* f32(20, 30 | 30, 1) */
    tsr_tensor  *transposed;     /* its transpose */
    tsr_tensor  *window;     /* rows 1 .. 19 of it: overlaps `shifted` in part */
    tsr_tensor  *shifted;    /* rows 0 .. 18 */
    tsr_tensor  *complex64;  /* c64(20, 30 | 30, 1) */
    tsr_tensor  *ones;       /* f32(1, 30, 1) */
    tsr_tensor  *three;      /* f32(3, 30 | 30, 1) */
    tsr_tensor  *column;     /* f32(20 | 30), of a */
    tsr_tensor  *described;  /* f32(20, 30 | 30, 1), without memory */
    tsr_tensor  *by_dtype[TSR_DTYPE_COUNT]; /* described, of each dtype */
    tsr_storage *storage;    /* of a */
    tsr_tensor  *out[OUTS];  /* results */
    tsr_storage *made;
    tsr_tensor   place[OUTS];
    float        wrapped[ROWS * COLS];
    int          deleted;    /* calls of count_deletion */
    int64_t      owners;     /* of `storage` */
    tsr_desc     desc;       /* of a */
} fixture;

static char  file[] = "/tmp/tessera-test-XXXXXX";
static float numbers[ROWS * COLS];

static void count_deletion(void *context, void *data, size_t bytes)
{
    (void)data; (void)bytes;
    ++*(int *)context;
}

static void make_fixture(fixture *f)
{
    tsr_desc d;
    memset(f, 0, sizeof *f);
    EXPECT_OK(tsr_desc_init(&f->desc, TSR_F32, TSR_SHAPE(ROWS, COLS), NULL));
    EXPECT_OK(tsr_from_data(&f->a, TSR_F32, TSR_SHAPE(ROWS, COLS), numbers));
    EXPECT_OK(tsr_transpose(&f->transposed, f->a, 0, 1));
    EXPECT_OK(tsr_slice(&f->window, f->a, 0, 1, ROWS, 1));
    EXPECT_OK(tsr_slice(&f->shifted, f->a, 0, 0, ROWS - 1, 1));
    EXPECT_OK(tsr_ones(&f->complex64, TSR_C64, TSR_SHAPE(ROWS, COLS)));
    EXPECT_OK(tsr_ones(&f->ones, TSR_F32, TSR_SHAPE(1, COLS, 1)));
    EXPECT_OK(tsr_ones(&f->three, TSR_F32, TSR_SHAPE(3, COLS)));
    EXPECT_OK(tsr_select(&f->column, f->a, 1, 0));
    EXPECT_OK(tsr_declare(&f->described, &f->desc, TSR_CPU, TSR_MEMORY_HOST));
    for (int i = 1; i < TSR_DTYPE_COUNT; i++) {
        EXPECT_OK(tsr_desc_init(&d, (tsr_dtype)i, TSR_SHAPE(ROWS, COLS), NULL));
        EXPECT_OK(tsr_declare(&f->by_dtype[i], &d, TSR_CPU, TSR_MEMORY_HOST));
    }
    f->storage = tsr_storage_retain(f->a->storage);
}

static void drop_fixture(fixture *f)
{
    tsr_tensor **all[] = { &f->a, &f->transposed, &f->window, &f->shifted, &f->complex64, &f->ones, &f->three,
                           &f->column, &f->described };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) tsr_release(all[i]);
    for (int i = 1; i < TSR_DTYPE_COUNT; i++) tsr_release(&f->by_dtype[i]);
    for (int i = 0; i < OUTS; i++) tsr_release(&f->out[i]);
    tsr_storage_release(&f->storage);
    tsr_storage_release(&f->made);
}

/* Scenarios -------------------------------------------------------------------------- */

#define OUT (&f->out[0])
#define SCENARIO(name, call) static tsr_status run_##name(fixture *f) { return call; }

SCENARIO(empty, tsr_empty(OUT, TSR_F32, TSR_SHAPE(ROWS, COLS)))
SCENARIO(zeros, tsr_zeros(OUT, TSR_F32, TSR_SHAPE(ROWS, COLS)))
SCENARIO(ones, tsr_ones(OUT, TSR_F32, TSR_SHAPE(ROWS, COLS)))
SCENARIO(full, tsr_full(OUT, TSR_F32, TSR_SHAPE(ROWS, COLS), tsr_scalar_i64(3)))
SCENARIO(small, tsr_zeros(OUT, TSR_F32, TSR_SHAPE(2)))
SCENARIO(eye, tsr_eye(OUT, TSR_F32, ROWS, COLS, 0))
SCENARIO(arange, tsr_arange(OUT, TSR_F32, tsr_scalar_i64(0), tsr_scalar_i64(200), tsr_scalar_i64(1)))
SCENARIO(linspace, tsr_linspace(OUT, TSR_F32, tsr_scalar_i64(0), tsr_scalar_i64(1), 200, true))
SCENARIO(empty_like, tsr_empty_like(OUT, f->transposed))
SCENARIO(zeros_like, tsr_zeros_like(OUT, f->a))
SCENARIO(ones_like, tsr_ones_like(OUT, f->described))
SCENARIO(full_like, tsr_full_like(OUT, f->a, tsr_scalar_i64(3)))
SCENARIO(from_data, tsr_from_data(OUT, TSR_F32, TSR_SHAPE(ROWS, COLS), numbers))
SCENARIO(from_bytes, tsr_from_data(OUT, TSR_F32, TSR_SHAPE(ROWS - 1, COLS), (const char *)numbers + 1))
SCENARIO(uniform, tsr_uniform(OUT, TSR_F32, TSR_SHAPE(ROWS, COLS), 0, 1, 1))
SCENARIO(randn, tsr_randn(OUT, TSR_F32, TSR_SHAPE(ROWS, COLS), 1))
SCENARIO(clone, tsr_clone(OUT, f->transposed))
SCENARIO(clone_described, tsr_clone(OUT, f->described))
SCENARIO(replace, TSR_REPLACE(OUT, tsr_clone, f->transposed))
SCENARIO(rearrange, tsr_rearrange(OUT, f->transposed))
SCENARIO(cast, tsr_cast(OUT, f->transposed, TSR_F64))
SCENARIO(concat, tsr_concat(OUT, 2, (const tsr_tensor *const[]){ f->a, f->three }, 0))
SCENARIO(stack, tsr_stack(OUT, 2, (const tsr_tensor *const[]){ f->a, f->a }, 0))
SCENARIO(batch_join, tsr_batch_join(OUT, 2, (const tsr_tensor *const[]){ f->a, f->three }, true))
SCENARIO(batch_stack, tsr_batch_join(OUT, 2, (const tsr_tensor *const[]){ f->a, f->a }, false))
SCENARIO(to, tsr_to_memory(OUT, f->transposed, TSR_CPU, TSR_MEMORY_ALIGNED))
SCENARIO(to_huge, tsr_to_memory(OUT, f->a, TSR_CPU, TSR_MEMORY_HUGE))
SCENARIO(to_same, tsr_to_memory(OUT, f->a, TSR_CPU, TSR_MEMORY_HOST))

SCENARIO(declare, tsr_declare(OUT, &f->desc, TSR_CPU, TSR_MEMORY_HOST))
SCENARIO(wrap, tsr_wrap(OUT, f->wrapped, &f->desc))
SCENARIO(wrap_const, tsr_wrap_const(OUT, f->wrapped, &f->desc))
SCENARIO(adopt, tsr_adopt(OUT, f->wrapped, &f->desc, count_deletion, &f->deleted))
SCENARIO(from_storage, tsr_from_storage(OUT, f->storage, 0, &f->desc))
SCENARIO(map_file, tsr_map_file(OUT, file, 0, &f->desc, TSR_MAP_READ))

SCENARIO(view, tsr_view(OUT, f->a, TSR_SHAPE(-1)))
SCENARIO(reshape_as_view, tsr_reshape(OUT, f->a, TSR_SHAPE(-1)))
SCENARIO(reshape, tsr_reshape(OUT, f->transposed, TSR_SHAPE(-1)))
SCENARIO(contiguous_as_view, tsr_contiguous(OUT, f->a))
SCENARIO(contiguous, tsr_contiguous(OUT, f->transposed))
SCENARIO(slice, tsr_slice(OUT, f->a, 0, 2, 9, 3))
SCENARIO(select, tsr_select(OUT, f->a, 1, -1))
SCENARIO(at_prefix, tsr_at_prefix(OUT, f->a, TSR_INDEX(3)))
SCENARIO(permute, tsr_permute(OUT, f->a, TSR_AXES(1, 0)))
SCENARIO(transpose, tsr_transpose(OUT, f->a, 0, 1))
SCENARIO(move_axis, tsr_move_axis(OUT, f->a, 0, 1))
SCENARIO(expand, tsr_expand(OUT, f->ones, TSR_SHAPE(4, COLS, 2)))
SCENARIO(squeeze, tsr_squeeze(OUT, f->ones, 0))
SCENARIO(squeeze_all, tsr_squeeze_all(OUT, f->ones))
SCENARIO(unsqueeze, tsr_unsqueeze(OUT, f->a, 0))
SCENARIO(flip, tsr_flip(OUT, f->a, 0, NULL))
SCENARIO(diagonal, tsr_diagonal(OUT, f->a, 1, 0, 1))
SCENARIO(unfold, tsr_unfold(OUT, f->a, 0, 3, 2))
SCENARIO(merge_dims, tsr_merge_dims(OUT, f->a, 0, 2))
SCENARIO(split_dim, tsr_split_dim(OUT, f->a, 0, TSR_SHAPE(4, 5)))
SCENARIO(as_strided, tsr_as_strided(OUT, f->a, TSR_SHAPE(3), (const int64_t[]){ 7 }, 2))
SCENARIO(view_real, tsr_view_real(OUT, f->complex64))
SCENARIO(view_imag, tsr_view_imag(OUT, f->complex64))
SCENARIO(bit_view, tsr_bit_view(OUT, f->a, TSR_I32))
SCENARIO(split, tsr_split(f->out, f->a, 0, TSR_SHAPE(5, 5, 10)))
SCENARIO(unstack, tsr_unstack(f->out, f->three, 0, OUTS))

SCENARIO(alloc, tsr_alloc(f->described))
SCENARIO(fill, tsr_fill(f->described, tsr_scalar_i64(1)))
SCENARIO(zero, tsr_zero(f->described))
SCENARIO(copy_to_described, tsr_copy(f->described, f->a))
SCENARIO(copy, tsr_copy(f->window, f->shifted))
SCENARIO(load, tsr_load(f->described, numbers, sizeof numbers))
SCENARIO(load_bytes, tsr_load(f->three, (const char *)numbers + 1, 3 * COLS * sizeof(float)))
SCENARIO(store, tsr_store(f->shifted->data, (ROWS - 1) * COLS * sizeof(float), f->window))
SCENARIO(set, tsr_set(f->described, TSR_INDEX(0, 0), tsr_scalar_i64(1)))
SCENARIO(place, tsr_place(&f->place[0], f->wrapped, &f->desc))

#define X(ID, suffix, T, kind, name) static tsr_status set_##suffix(fixture *f);
#include "tessera/dtype.def"
#undef X
#define SET(ID, suffix, value) \
    static tsr_status set_##suffix(fixture *f) \
    { \
        return tsr_set_##suffix(f->by_dtype[TSR_##ID], TSR_INDEX(0, 0), value); \
    }
SET(BOOL, bool, true)
SET(I8, i8, 1)
SET(I16, i16, 1)
SET(I32, i32, 1)
SET(I64, i64, 1)
SET(U8, u8, 1)
SET(U16, u16, 1)
SET(U32, u32, 1)
SET(U64, u64, 1)
SET(F8E4M3, f8e4m3, 1)
SET(F8E5M2, f8e5m2, 1)
SET(F16, f16, 1)
SET(BF16, bf16, 1)
SET(F32, f32, 1)
SET(F64, f64, 1)
SET(C32, c32, ((tsr_c32){ 1, 1 }))
SET(C64, c64, ((tsr_c64){ 1, 1 }))
SET(C128, c128, ((tsr_c128){ 1, 1 }))

/* Memory of others. */

static void release_array(tsr_arrow_array *a) { a->release = NULL; }
static void release_schema(tsr_arrow_schema *s) { s->release = NULL; }

static tsr_status run_from_arrow(fixture *f)
{
    const void *buffers[2] = { NULL, numbers };
    tsr_arrow_array a = { .length = ROWS, .n_buffers = 2, .buffers = buffers, .release = release_array };
    tsr_arrow_schema s = { .format = "f", .release = release_schema };
    return tsr_from_arrow(OUT, &a, &s);
}

static tsr_status run_to_arrow(fixture *f)
{
    tsr_arrow_array a = { .length = 0 };
    tsr_arrow_schema s = { .format = NULL };
    const tsr_status status = tsr_to_arrow(&a, &s, f->column);
    if (a.release) a.release(&a);
    if (s.release) s.release(&s);
    return status;
}

static tsr_status run_to_dlpack(fixture *f)
{
    tsr_dl_managed_versioned *m = NULL;
    const tsr_status status = tsr_to_dlpack(&m, f->transposed, NULL);
    if (m) m->deleter(m);
    return status;
}

static tsr_status run_from_dlpack(fixture *f)
{
    static int64_t shape[2] = { ROWS, COLS }, strides[2] = { COLS, 1 };
    static tsr_dl_managed_versioned m;
    m = (tsr_dl_managed_versioned){
        .version = { 1, 0 }, .dl_tensor = { .data = f->wrapped, .device = { 1, 0 }, .ndim = 2,
                                            .dtype = { 2, 32, 1 }, .shape = shape, .strides = strides }
    };
    return tsr_from_dlpack(OUT, &m);
}

#define BUFFER (tsr_buffer){ f->wrapped, sizeof f->wrapped, false, count_deletion, &f->deleted }
SCENARIO(from_buffer, tsr_from_buffer(OUT, &BUFFER, 0, &f->desc))
#undef BUFFER

SCENARIO(storage_create, tsr_storage_create(&f->made, 4096, TSR_CPU, TSR_MEMORY_HOST))
SCENARIO(storage_small, tsr_storage_create(&f->made, 8, TSR_CPU, TSR_MEMORY_HOST))
SCENARIO(storage_aligned, tsr_storage_create(&f->made, 8, TSR_CPU, TSR_MEMORY_ALIGNED))
SCENARIO(storage_borrow, tsr_storage_borrow(&f->made, f->wrapped, 8, TSR_CPU, TSR_MEMORY_HOST))
SCENARIO(storage_adopt,
         tsr_storage_adopt(&f->made, f->wrapped, 8, TSR_CPU, TSR_MEMORY_HOST, count_deletion, &f->deleted))
SCENARIO(storage_map_file, tsr_storage_map_file(&f->made, file, 4, 8, TSR_MAP_COPY_ON_WRITE))

static tsr_status run_equal(fixture *f)
{
    bool same;
    return tsr_equal(&same, f->a, f->a);
}

static tsr_status run_allclose(fixture *f)
{
    bool same;
    tsr_close_report report;
    return tsr_allclose(&same, f->a, f->a, NULL, &report);
}

static tsr_status run_to_string(fixture *f)
{
    char text[512];
    return tsr_to_string(text, sizeof text, NULL, f->transposed, &(tsr_print_opts){ .threshold = 10000 });
}

/* What a call does with its result, and so what must hold when it fails. */
typedef enum does {
    MAKES,    /* a tensor in out[0] */
    VIEWS,    /* the same, and with a placed handle it needs no memory at all */
    SPLITS,   /* tensors in all of out[] */
    WRITES,   /* into an input: its contents may change */
    COUNTS,   /* a storage in `made` */
    NOTHING   /* never allocates */
} does;

static const struct scenario {
    const char *name;
    tsr_status (*run)(fixture *f);
    does        does;
} scenarios[] = {
    { "tsr_empty", run_empty, MAKES },
    { "tsr_zeros", run_zeros, MAKES },
    { "tsr_ones", run_ones, MAKES },
    { "tsr_full", run_full, MAKES },
    { "tsr_zeros, small", run_small, MAKES },
    { "tsr_eye", run_eye, MAKES },
    { "tsr_arange", run_arange, MAKES },
    { "tsr_linspace", run_linspace, MAKES },
    { "tsr_empty_like", run_empty_like, MAKES },
    { "tsr_zeros_like", run_zeros_like, MAKES },
    { "tsr_ones_like", run_ones_like, MAKES },
    { "tsr_full_like", run_full_like, MAKES },
    { "tsr_from_data", run_from_data, MAKES },
    { "tsr_from_data, unaligned", run_from_bytes, MAKES },
    { "tsr_uniform", run_uniform, MAKES },
    { "tsr_randn", run_randn, MAKES },
    { "tsr_clone", run_clone, MAKES },
    { "tsr_rearrange", run_rearrange, MAKES },
    { "tsr_cast", run_cast, MAKES },
    { "tsr_concat", run_concat, MAKES },
    { "tsr_stack", run_stack, MAKES },
    { "tsr_batch_join", run_batch_join, MAKES },
    { "tsr_batch_join, stacking", run_batch_stack, MAKES },
    { "tsr_to", run_to, MAKES },
    { "tsr_to, huge", run_to_huge, MAKES },
    { "tsr_wrap", run_wrap, MAKES },
    { "tsr_wrap_const", run_wrap_const, MAKES },
    { "tsr_adopt", run_adopt, MAKES },
    { "tsr_map_file", run_map_file, MAKES },
    { "tsr_reshape", run_reshape, MAKES },
    { "tsr_from_arrow", run_from_arrow, MAKES },
    { "tsr_from_dlpack", run_from_dlpack, MAKES },
    { "tsr_from_buffer", run_from_buffer, MAKES },
    { "tsr_contiguous", run_contiguous, MAKES },

    { "tsr_replace", run_replace, MAKES },
    { "tsr_clone, described", run_clone_described, VIEWS },
    { "tsr_declare", run_declare, VIEWS },
    { "tsr_from_storage", run_from_storage, VIEWS },
    { "tsr_to, same", run_to_same, VIEWS },
    { "tsr_view", run_view, VIEWS },
    { "tsr_reshape, view", run_reshape_as_view, VIEWS },
    { "tsr_contiguous, view", run_contiguous_as_view, VIEWS },
    { "tsr_slice", run_slice, VIEWS },
    { "tsr_select", run_select, VIEWS },
    { "tsr_at_prefix", run_at_prefix, VIEWS },
    { "tsr_permute", run_permute, VIEWS },
    { "tsr_transpose", run_transpose, VIEWS },
    { "tsr_move_axis", run_move_axis, VIEWS },
    { "tsr_expand", run_expand, VIEWS },
    { "tsr_squeeze", run_squeeze, VIEWS },
    { "tsr_squeeze_all", run_squeeze_all, VIEWS },
    { "tsr_unsqueeze", run_unsqueeze, VIEWS },
    { "tsr_flip", run_flip, VIEWS },
    { "tsr_diagonal", run_diagonal, VIEWS },
    { "tsr_unfold", run_unfold, VIEWS },
    { "tsr_merge_dims", run_merge_dims, VIEWS },
    { "tsr_split_dim", run_split_dim, VIEWS },
    { "tsr_as_strided", run_as_strided, VIEWS },
    { "tsr_view_real", run_view_real, VIEWS },
    { "tsr_view_imag", run_view_imag, VIEWS },
    { "tsr_bit_view", run_bit_view, VIEWS },
    { "tsr_split", run_split, SPLITS },
    { "tsr_unstack", run_unstack, SPLITS },

    { "tsr_alloc", run_alloc, WRITES },
    { "tsr_fill", run_fill, WRITES },
    { "tsr_zero", run_zero, WRITES },
    { "tsr_copy, described", run_copy_to_described, WRITES },
    { "tsr_copy, overlapping", run_copy, WRITES },
    { "tsr_load", run_load, WRITES },
    { "tsr_load, unaligned", run_load_bytes, WRITES },
    { "tsr_store, overlapping", run_store, WRITES },
    { "tsr_set", run_set, WRITES },
#define X(ID, suffix, T, kind, name) { "tsr_set_" #suffix, set_##suffix, WRITES },
#include "tessera/dtype.def"
#undef X

    { "tsr_to_arrow", run_to_arrow, COUNTS },
    { "tsr_to_dlpack", run_to_dlpack, COUNTS },
    { "tsr_storage_create", run_storage_create, COUNTS },
    { "tsr_storage_create, small", run_storage_small, COUNTS },
    { "tsr_storage_create, aligned", run_storage_aligned, COUNTS },
    { "tsr_storage_borrow", run_storage_borrow, COUNTS },
    { "tsr_storage_adopt", run_storage_adopt, COUNTS },
    { "tsr_storage_map_file", run_storage_map_file, COUNTS },

    { "tsr_place", run_place, NOTHING },
    { "tsr_equal", run_equal, NOTHING },
    { "tsr_allclose", run_allclose, NOTHING },
    { "tsr_to_string", run_to_string, NOTHING },
};

/* Handles ---------------------------------------------------------------------------- */

typedef enum handle {
    FRESH,    /* NULL */
    SHARED,   /* what the same call made before, with a second owner */
    PLACED,   /* a placed "none" */
    HANDLES
} handle;

static const char *const handle_names[] = { "NULL", "a shared tensor", "a placed none" };

/* out[] as `handle` says; the tensors a second owner holds, in others[]. */
static void prepare(fixture *f, const struct scenario *s, handle h, tsr_tensor *others[OUTS])
{
    if (h == SHARED) EXPECT_OK(s->run(f));
    for (int i = 0; i < OUTS; i++) {
        if (h == PLACED) f->out[i] = tsr_place_none(&f->place[i]);
        others[i] = h == SHARED ? tsr_retain(f->out[i]) : NULL;
    }
    if (s->does == SPLITS && h == SHARED) {  /* one of each: NULL, shared, placed */
        tsr_release_all(&f->out[0], &others[0], &f->out[2], &others[2]);
        f->out[2] = tsr_place_none(&f->place[2]);
    }
    if (h == SHARED) tsr_storage_release(&f->made);
}

/* Makes headers until the library has none left, so that the next one needs the allocator. */
enum { DUMMIES = 4096 };
static struct { tsr_tensor *tensor[DUMMIES]; tsr_storage *storage[DUMMIES]; } dummies;

static void exhaust_caches(const fixture *f)
{
    static char byte;
    int tensors = 0, storages = 0;
    arm(-1);
    while (tensors < DUMMIES &&
           tsr_declare(&dummies.tensor[tensors], &f->desc, TSR_CPU, TSR_MEMORY_HOST) == TSR_OK) tensors++;
    while (storages < DUMMIES &&
           tsr_storage_borrow(&dummies.storage[storages], &byte, 1, TSR_CPU, TSR_MEMORY_HOST) == TSR_OK)
        storages++;
    EXPECT(tensors < DUMMIES && storages < DUMMIES);
    arm(0);
}

static void drop_dummies(void)
{
    for (int i = 0; i < DUMMIES; i++) {
        tsr_release(&dummies.tensor[i]);
        tsr_storage_release(&dummies.storage[i]);
    }
}

/* Checks ----------------------------------------------------------------------------- */

static bool has_numbers(const tsr_tensor *t) { return t->data && !memcmp(t->data, numbers, sizeof numbers); }

static void check_failure(const fixture *f, const fixture *was, const struct scenario *s, handle h,
                          tsr_status status, const tsr_memory_stats *before)
{
    tsr_memory_stats after;
    tsr_memory_get_stats(&after);
    EXPECT_MSG(status == TSR_ENOMEM, "%s gave %s: %s", s->name, tsr_status_name(status), tsr_last_error());
    EXPECT_MSG(tsr_last_error()[0] && tsr_last_status() == TSR_ENOMEM, "%s left no words", s->name);
    EXPECT_MSG(before->live_tensors == after.live_tensors && before->live_storages == after.live_storages &&
                   before->live_bytes == after.live_bytes,
               "%s with %s leaked %lld tensors, %lld storages, %lld bytes", s->name, handle_names[h],
               (long long)(after.live_tensors - before->live_tensors),
               (long long)(after.live_storages - before->live_storages),
               (long long)(after.live_bytes - before->live_bytes));
    for (int i = 0; i < OUTS; i++) {
        EXPECT_MSG(f->out[i] == was->out[i], "%s with %s changed handle %d", s->name, handle_names[h], i);
        if (h == PLACED) EXPECT_MSG(tsr_is_none(f->out[i]), "%s bound handle %d", s->name, i);
        else if (f->out[i])
            EXPECT_MSG(tsr_is_none(f->out[i]) || tsr_check(f->out[i]) == TSR_OK, "%s broke handle %d",
                       s->name, i);
    }
    EXPECT_MSG(f->made == NULL && f->deleted == was->deleted, "%s made a storage or called a deleter",
               s->name);
    EXPECT_MSG(!tsr_is_allocated(f->described), "%s allocated a tensor and failed", s->name);
    for (int i = 1; i < TSR_DTYPE_COUNT; i++) EXPECT(!tsr_is_allocated(f->by_dtype[i]));
    EXPECT_MSG(tsr_desc_same(&f->a->desc, &was->desc) && tsr_storage_count(f->storage) == was->owners,
               "%s changed its input", s->name);
    EXPECT_MSG(has_numbers(f->a), "%s changed its input's elements", s->name);
}

/* How often the test's file is mapped now; 0 where that cannot be found out. */
static int mappings(void)
{
    char line[512];
    int n = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    if (!maps) return 0;
    while (fgets(line, sizeof line, maps)) n += strstr(line, file) != NULL;
    (void)fclose(maps);
    return n;
}

/* The n-th allocation of the scenario fails; false if there was no n-th. */
static bool fails_at(const struct scenario *s, handle h, source from, long n, long *asked)
{
    static fixture f, was;
    tsr_memory_stats before;
    tsr_tensor *others[OUTS];
    begin(from);
    make_fixture(&f);
    prepare(&f, s, h, others);
    if (from != BY_HOOK) exhaust_caches(&f);
    tsr_clear_error();
    tsr_memory_get_stats(&before);
    f.owners = tsr_storage_count(f.storage);
    was = f;
    arm(n);
    const tsr_status status = s->run(&f);
    const bool fired = failing.fired;
    *asked = failing.asked;
    arm(0);
    if (status == TSR_OK)
        EXPECT_MSG(!fired || from == ONE_REFUSED, "%s succeeded without allocation %ld", s->name, n);
    else check_failure(&f, &was, s, h, status, &before);
    if (status == TSR_OK && f.out[0]) EXPECT_OK(tsr_check(f.out[0]));
    drop_dummies();
    for (int i = 0; i < OUTS; i++) tsr_release(&others[i]);
    drop_fixture(&f);
    if (s->run == run_map_file || s->run == run_storage_map_file)
        EXPECT_MSG(mappings() == 0, "%s leaves a mapping behind", s->name);
    end();
    return fired;
}

static void check_scenario(const struct scenario *s, handle h, source from)
{
    long n = 1, asked = 0;
    while (n < 40 && fails_at(s, h, from, n, &asked)) n++;
    EXPECT_MSG(n < 40, "%s never succeeds", s->name);
    EXPECT_MSG(asked == n - 1, "%s asked for %ld allocations, and %ld failed", s->name, asked, n - 1);
    if (s->does == NOTHING || (s->does == VIEWS && h == PLACED))
        EXPECT_MSG(n == 1, "%s allocates with %s", s->name, handle_names[h]);
    else if (h == FRESH)
        EXPECT_MSG(n > 1, "%s allocates nothing", s->name);
}

/* Only calls that make something have a handle; a described tensor is cloned into none. */
static bool has_handle(const struct scenario *s, handle h)
{
    if (s->run == run_clone_described && h == SHARED) return false;
    return h == FRESH || s->does == MAKES || s->does == VIEWS || s->does == SPLITS;
}

static void check_all(source from)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        for (int h = 0; h < HANDLES; h++)
            if (has_handle(&scenarios[i], (handle)h)) check_scenario(&scenarios[i], (handle)h, from);
}

TEST(test_oom_by_the_hook_every_call_fails_cleanly) { check_all(BY_HOOK); }

TEST(test_oom_of_the_allocator_every_call_fails_cleanly)
{
    const bool was_on = tsr_pool_is_enabled();
    tsr_pool_enable(false);
    check_all(EXHAUSTED);
    check_all(ONE_REFUSED);
    tsr_pool_enable(was_on);
}

/* Blocks that are no tensor's or storage's come back too: as many are there after a failure as before. What
 * the library keeps, headers and caches, is there from a first call that succeeds. */
static long blocks;

static void *counting_alloc(void *context, size_t bytes, size_t alignment)
{
    void *block = failing_alloc(context, bytes, alignment);
    blocks += block != NULL;
    return block;
}

static void counting_free(void *context, void *data, size_t bytes)
{
    blocks -= data != NULL;
    test_free(context, data, bytes);
}

static bool loses_blocks(const struct scenario *s, long n, bool *fired)
{
    static fixture f;
    tsr_tensor *others[OUTS];
    make_fixture(&f);
    prepare(&f, s, FRESH, others);
    const long before = blocks;
    tsr_set_alloc_hook(hook, NULL);
    arm(n);
    const tsr_status status = s->run(&f);
    *fired = failing.fired;
    tsr_set_alloc_hook(NULL, NULL);
    arm(0);
    const bool lost = status != TSR_OK && blocks != before;
    drop_fixture(&f);
    return lost;
}

TEST(test_oom_every_block_comes_back)
{
    const bool was_on = tsr_pool_is_enabled();
    tsr_pool_enable(false);
    failing.from = BY_HOOK;
    EXPECT_OK(tsr_set_allocator(&(tsr_allocator){ NULL, counting_alloc, counting_free }));
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        bool fired = false;
        (void)loses_blocks(&scenarios[i], 0, &fired);
        fired = true;
        for (long n = 1; n < 40 && fired; n++)
            EXPECT_MSG(!loses_blocks(&scenarios[i], n, &fired), "%s loses a block when allocation %ld fails",
                       scenarios[i].name, n);
    }
    EXPECT_OK(tsr_set_allocator(NULL));
    tsr_pool_enable(was_on);
}

/* With the pool on, a failing allocator is asked again once the pool is empty. */
TEST(test_oom_cached_blocks_are_given_up_before_a_call_fails)
{
    const bool was_on = tsr_pool_is_enabled();
    tsr_tensor *small = NULL, *large = NULL;
    begin(ONE_REFUSED);
    tsr_pool_enable(true);
    EXPECT_OK(tsr_empty(&small, TSR_F32, TSR_SHAPE(1000)));
    EXPECT_OK(tsr_empty(&large, TSR_F32, TSR_SHAPE(1000)));
    tsr_release(&small);
    arm(1);
    EXPECT_OK(tsr_empty(&small, TSR_F32, TSR_SHAPE(50000)));
    EXPECT(failing.fired);
    tsr_memory_stats stats;
    tsr_memory_get_stats(&stats);
    EXPECT(stats.cached_bytes == 0);
    tsr_release_all(&small, &large);
    (void)tsr_pool_trim(0);
    tsr_pool_enable(was_on);
    end();
}

/* After any number of failures the same calls succeed, and nothing has piled up. */
TEST(test_oom_is_recovered_from)
{
    tsr_memory_stats before, after;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(ROWS, COLS)));
    tsr_release(&t);
    tsr_memory_get_stats(&before);
    begin(BY_HOOK);
    for (int i = 0; i < 1000; i++) {
        arm(1 + i % 2);
        EXPECT_STATUS(tsr_zeros(&t, TSR_F32, TSR_SHAPE(ROWS, COLS)), TSR_ENOMEM);
    }
    end();
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(ROWS, COLS)));
    tsr_release(&t);
    tsr_memory_get_stats(&after);
    EXPECT(before.cached_bytes == after.cached_bytes && before.live_bytes == after.live_bytes);
}

TEST_BEFORE
{
    const int fd = mkstemp(file);
    for (int i = 0; i < ROWS * COLS; i++) numbers[i] = (float)i;
    if (fd < 0 || write(fd, numbers, sizeof numbers) != (ssize_t)sizeof numbers) exit(1);
    (void)close(fd);
}

TEST_AFTER
{
    (void)unlink(file);
}
