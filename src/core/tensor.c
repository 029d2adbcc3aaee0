/* tensor.c - a desc looking at a storage: owning, making, placing. */
#include "tensor_int.h"
#include "alloc.h"
#include "device_int.h"
#include "overlap.h"

_Static_assert(offsetof(tsr_tensor, shape) - offsetof(tsr_tensor, dtype) ==
                   offsetof(tsr_desc, shape) - offsetof(tsr_desc, dtype),
               "the short names and desc are the same fields");

void *tsri_nowhere(void)
{
    static _Alignas(64) char nothing[64];
    return nothing;
}

/* Headers ----------------------------------------------------------------------- */

static void free_header(tsr_tensor *t)
{
    if (t->flags & TSR_FLAG_PLACED) t->dtype = TSR_DTYPE_INVALID;
    else                            tsri_header_give(t);
}

tsr_tensor *tsr_retain(tsr_tensor *t)
{
    if (t) tsri_count_up(&t->count);
    return t;
}

void tsr_release(tsr_tensor **out)
{
    if (!out || !*out) return;
    tsr_tensor *t = *out;
    *out = NULL;
    if (!tsri_count_down(&t->count)) return;
    tsr_storage *storage = t->storage;
    t->storage = NULL;
    t->data = NULL;
    free_header(t);
    tsri_storage_release(storage);
}

/* Is the header the caller's alone, to be written again? */
static bool is_reusable(const tsr_tensor *t)
{
    return t && ((t->flags & TSR_FLAG_PLACED) || tsri_load_acquire(&t->count) == 1);
}

static tsr_status bind(tsr_tensor **out, const char *op, const tsr_desc *desc, tsr_storage *storage,
                       void *data, tsr_device device, tsr_memory memory, uint32_t flags)
{
    tsr_tensor *t = *out, *shared = NULL;
    tsr_storage *had = NULL;
    if (is_reusable(t)) {
        had = t->storage;
        flags |= t->flags & TSR_FLAG_PLACED;
    } else {
        shared = t;
        t = tsri_header_take();
        TSRI_CHECK(t, TSR_ENOMEM, "%s: no room for a tensor", op);
        if (shared) tsri_scope_stay(t, shared);
    }
    if (had != storage) {
        tsri_storage_retain(storage);
        tsri_storage_release(had);
    }
    t->data = data;
    t->storage = storage;
    tsri_desc_copy(&t->desc, desc);
    t->flags = flags;
    t->device = device;
    t->memory = memory;
    tsri_store_release(&t->count, 1);
    *out = t;
    tsr_release(&shared);
    return TSR_OK;
}

tsr_status tsri_bind(tsr_tensor **out, const char *op, const tsr_desc *desc, tsr_storage *storage, void *data,
                     const tsr_tensor *like, uint32_t flags)
{
    return bind(out, op, desc, storage, data, like->device, like->memory,
                flags | (like->flags & TSR_FLAG_READONLY));
}

/* Binds a storage made for the purpose: its one owner becomes the tensor. */
static tsr_status bind_new_storage(tsr_tensor **out, const char *op, const tsr_desc *desc,
                                   tsr_storage *storage, void *data)
{
    const tsr_status s = bind(out, op, desc, storage, data, storage->device, storage->memory,
                              storage->readonly ? TSR_FLAG_READONLY : 0);
    tsri_storage_release(storage);
    return s;
}

tsr_status tsri_make(tsr_tensor **out, const char *op, const tsr_desc *desc, tsr_device device,
                     tsr_memory memory)
{
    tsr_storage *storage;
    int64_t lo;
    const int64_t bytes = tsri_desc_span(desc, &lo);
    TSRI_TRY(tsri_storage_create(&storage, (size_t)bytes, device, memory, op));
    if (is_reusable(*out)) return bind_new_storage(out, op, desc, storage, (char *)storage->data - lo);
    /* The usual case: a fresh header for a fresh storage, and no counting. */
    tsr_tensor *t = tsri_header_take(), *old = *out;
    if (!TSRI_LIKELY(t != NULL)) {
        tsri_storage_release(storage);
        return tsri_fail(TSR_ENOMEM, "%s: no room for a tensor", op);
    }
    t->data = (char *)storage->data - lo;
    t->storage = storage;
    tsri_desc_copy(&t->desc, desc);
    t->flags = 0;
    t->device = device;
    t->memory = storage->memory;
    if (old) tsri_scope_stay(t, old);
    tsri_store_release(&t->count, 1);
    *out = t;
    tsr_release(&old);
    return TSR_OK;
}

tsr_status tsri_make_packed(tsr_tensor **out, const char *op, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    tsr_desc d;
    TSRI_TRY(tsri_desc_packed(&d, op, dtype, ndim, shape));
    return tsri_make(out, op, &d, TSR_CPU, TSR_MEMORY_HOST);
}

/* Described, wrapped, adopted, placed ----------------------------------------------- */

static tsr_status check_place(const char *op, tsr_device device, tsr_memory memory)
{
    TSRI_CHECK(tsri_device_exists(device), TSR_EDEVICE, "%s: there is no device %s", op,
               TSRI_DEVICE_TEXT(device));
    TSRI_CHECK(tsri_memory_kind(memory), TSR_EINVAL, "%s: %d is no memory kind", op, (int)memory);
    return TSR_OK;
}

tsr_status tsr_declare(tsr_tensor **out, const tsr_desc *desc, tsr_device device, tsr_memory memory)
{
    TSRI_CHECK(out, TSR_ENULL, "declare: out is NULL");
    TSRI_TRY(tsri_desc_check("declare", desc));
    TSRI_TRY(check_place("declare", device, memory));
    const tsr_desc copy = *desc;  /* may be *out's own */
    return bind(out, "declare", &copy, NULL, NULL, device, tsri_memory_on(device, memory), 0);
}

tsr_status tsri_ensure_memory(tsr_tensor *t, const char *op, bool *fresh)
{
    tsr_storage *storage;
    int64_t lo;
    if (fresh) *fresh = !t->data;
    if (TSRI_LIKELY(t->data != NULL)) return TSR_OK;
    const int64_t bytes = tsri_desc_span(&t->desc, &lo);
    TSRI_TRY(tsri_storage_create(&storage, (size_t)bytes, t->device, t->memory, op));
    t->storage = storage;
    t->data = (char *)storage->data - lo;
    return TSR_OK;
}

tsr_status tsri_undo_memory(tsr_tensor *t, bool fresh, tsr_status s)
{
    if (s == TSR_OK || !fresh) return s;
    tsr_storage *storage = t->storage;
    t->storage = NULL;
    t->data = NULL;
    tsri_storage_release(storage);
    return s;
}

tsr_status tsr_alloc(tsr_tensor *t)
{
    TSRI_TRY(tsri_check_tensor("alloc", "t", t));
    return tsri_ensure_memory(t, "alloc", NULL);
}

/* `data` must suit the elements: kernels read them as their C type. */
static tsr_status check_alignment(const char *op, const void *data, tsr_dtype dtype)
{
    const size_t size = tsr_dtype_size(dtype);
    const size_t align = tsr_dtype_kind(dtype) == TSR_COMPLEX ? size / 2 : size;
    TSRI_CHECK((uintptr_t)data % align == 0, TSR_EINVAL,
               "%s: address %p is not aligned to %zu bytes, as %s needs", op, data, align,
               tsr_dtype_name(dtype));
    return TSR_OK;
}

static tsr_status check_foreign(const char *op, const void *out, const void *data, const tsr_desc *desc)
{
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", op);
    TSRI_TRY(tsri_desc_check(op, desc));
    TSRI_CHECK(data || tsr_desc_numel(desc) == 0, TSR_ENULL, "%s: data is NULL", op);
    return check_alignment(op, data, desc->dtype);
}

static tsr_status wrap(tsr_tensor **out, const char *op, void *data, const tsr_desc *desc,
                       tsr_ownership ownership, bool readonly, tsr_deleter deleter, void *context)
{
    tsr_storage *storage;
    int64_t lo;
    TSRI_TRY(check_foreign(op, out, data, desc));
    const tsr_desc copy = *desc;
    const int64_t bytes = tsr_desc_span(desc, &lo, NULL);
    char *element = data ? data : tsri_nowhere();
    char *lowest =
        (char *)((uintptr_t)element + (uintptr_t)lo); /* what the caller describes may lie anywhere */
    TSRI_TRY(tsri_storage_foreign(&storage, lowest, (size_t)bytes, TSR_CPU, TSR_MEMORY_HOST, ownership,
                                  readonly, NULL, NULL, op));
    TSRI_TRY(bind_new_storage(out, op, &copy, storage, element));
    storage->context = context;
    storage->deleter = deleter;  /* last: until here the memory is the caller's */
    return TSR_OK;
}

tsr_status tsr_wrap(tsr_tensor **out, void *data, const tsr_desc *desc)
{
    return wrap(out, "wrap", data, desc, TSR_BORROWED, false, NULL, NULL);
}

tsr_status tsr_wrap_const(tsr_tensor **out, const void *data, const tsr_desc *desc)
{
    return wrap(out, "wrap_const", (void *)(uintptr_t)data, desc, TSR_BORROWED, true, NULL, NULL);
}

tsr_status tsr_adopt(tsr_tensor **out, void *data, const tsr_desc *desc, tsr_deleter deleter, void *context)
{
    TSRI_CHECK(deleter, TSR_ENULL, "adopt: deleter is NULL");
    return wrap(out, "adopt", data, desc, TSR_ADOPTED, false, deleter, context);
}

/* Does a desc whose first element lies `offset` bytes into `bytes` stay inside? */
static bool is_inside(const tsr_desc *desc, size_t offset, size_t bytes)
{
    int64_t lo, hi;
    (void)tsr_desc_span(desc, &lo, &hi);
    return offset <= bytes && (uint64_t)-lo <= offset && (uint64_t)hi <= bytes - offset;
}

static tsr_status bind_to_storage(tsr_tensor **out, const char *op, tsr_storage *storage, size_t offset,
                                  const tsr_desc *desc)
{
    TSRI_CHECK(is_inside(desc, offset, storage->bytes), TSR_EBOUNDS,
               "%s: %s from byte %zu on leaves its storage of %zu bytes", op, TSRI_DESC(desc), offset,
               storage->bytes);
    char *data = (storage->data ? (char *)storage->data : (char *)tsri_nowhere()) + offset;
    TSRI_TRY(check_alignment(op, data, desc->dtype));
    const tsr_desc copy = *desc;
    return bind(out, op, &copy, storage, data, storage->device, storage->memory,
                storage->readonly ? TSR_FLAG_READONLY : 0);
}

tsr_status tsr_from_storage(tsr_tensor **out, tsr_storage *storage, size_t offset, const tsr_desc *desc)
{
    TSRI_CHECK(out, TSR_ENULL, "from_storage: out is NULL");
    TSRI_CHECK(storage, TSR_ENULL, "from_storage: storage is NULL");
    TSRI_TRY(tsri_desc_check("from_storage", desc));
    return bind_to_storage(out, "from_storage", storage, offset, desc);
}

tsr_status tsr_map_file(tsr_tensor **out, const char *path, uint64_t offset, const tsr_desc *desc,
                        tsr_map_mode mode)
{
    tsr_storage *storage = NULL;
    int64_t lo;
    TSRI_CHECK(out, TSR_ENULL, "map_file: out is NULL");
    TSRI_TRY(tsri_desc_check("map_file", desc));
    const int64_t bytes = tsr_desc_span(desc, &lo, NULL);
    TSRI_TRY(tsr_storage_map_file(&storage, path, offset, (size_t)bytes, mode));
    const tsr_status s = bind_to_storage(out, "map_file", storage, (size_t)-lo, desc);
    tsri_storage_release(storage);
    return s;
}

tsr_status tsr_place(tsr_tensor *t, void *data, const tsr_desc *desc)
{
    TSRI_CHECK(t, TSR_ENULL, "place: t is NULL");
    TSRI_TRY(check_foreign("place", t, data, desc));
    const tsr_desc copy = *desc;
    t->data = data ? data : tsri_nowhere();
    t->storage = NULL;
    tsri_desc_copy(&t->desc, &copy);
    t->count = 1;
    t->flags = TSR_FLAG_PLACED;
    t->device = TSR_CPU;
    t->memory = TSR_MEMORY_HOST;
    return TSR_OK;
}

tsr_tensor *tsr_place_none(tsr_tensor *t)
{
    if (!t) return NULL;
    *t = (tsr_tensor){ .count = 1, .flags = TSR_FLAG_PLACED };
    return t;
}

const tsr_tensor *tsr_number_init(tsr_number *number, tsr_scalar value)
{
    if (!number) return NULL;
    number->value = value;
    tsr_tensor *t = tsr_place_none(&number->tensor);
    t->data = &number->value.as;
    t->dtype = value.dtype;
    t->flags = TSR_FLAG_PLACED | TSR_FLAG_READONLY | TSR_FLAG_NUMBER;
    return t;
}

/* Checks --------------------------------------------------------------------------- */

tsr_status tsri_check_tensor_slowly(const char *op, const char *what, const tsr_tensor *t)
{
    TSRI_CHECK(t, TSR_ENULL, "%s: %s is NULL", op, what);
    return tsri_fail(TSR_EDTYPE, "%s: %s is no tensor: its dtype is invalid", op, what);
}

tsr_status tsri_check_allocated_slowly(const char *op, const char *what, const tsr_tensor *t)
{
    TSRI_TRY(tsri_check_tensor(op, what, t));
    return tsri_fail(TSR_ESTATE, "%s: %s is %s, which is described but has no memory (tsr_alloc)", op, what,
                     TSRI_DESC(&t->desc));
}

tsr_status tsri_check_host_slowly(const char *op, const char *what, const tsr_tensor *t)
{
    TSRI_TRY(tsri_check_allocated(op, what, t));
    TSRI_CHECK(tsri_is_here(t), TSR_EDEVICE, "%s: %s is %s in %s memory, which the host cannot reach", op,
               what, TSRI_DESC(&t->desc), tsr_memory_name(t->memory));
    return TSR_OK;
}

tsr_status tsri_check_writable_slowly(const char *op, const char *what, const tsr_tensor *t)
{
    TSRI_TRY(tsri_check_tensor(op, what, t));
    TSRI_CHECK(!(t->flags & TSR_FLAG_READONLY), TSR_EREADONLY, "%s: %s is %s in read-only memory", op, what,
               TSRI_DESC(&t->desc));
    TSRI_CHECK(tsr_desc_is_contiguous(&t->desc) || !tsr_desc_self_overlaps(&t->desc), TSR_EOVERLAP,
               "%s: %s is %s, where several indices reach one address, so it cannot be written", op, what,
               TSRI_DESC(&t->desc));
    return TSR_OK;
}

/* Asking ---------------------------------------------------------------------------- */

bool tsr_is_none(const tsr_tensor *t) { return !t || t->dtype == TSR_DTYPE_INVALID; }
bool tsr_is_allocated(const tsr_tensor *t) { return !tsr_is_none(t) && t->data; }
const tsr_desc *tsr_desc_of(const tsr_tensor *t) { return tsr_is_none(t) ? NULL : &t->desc; }
int64_t tsr_numel(const tsr_tensor *t) { return tsr_desc_numel(tsr_desc_of(t)); }
int64_t tsr_byte_size(const tsr_tensor *t) { return tsr_desc_bytes(tsr_desc_of(t)); }
bool tsr_is_scalar(const tsr_tensor *t) { return !tsr_is_none(t) && t->ndim == 0; }
bool tsr_is_matrix(const tsr_tensor *t) { return !tsr_is_none(t) && t->ndim == 2; }
bool tsr_is_contiguous(const tsr_tensor *t) { return tsr_desc_is_contiguous(tsr_desc_of(t)); }
bool tsr_is_view(const tsr_tensor *t) { return !tsr_is_none(t) && (t->flags & TSR_FLAG_VIEW); }
bool tsr_is_readonly(const tsr_tensor *t) { return !tsr_is_none(t) && (t->flags & TSR_FLAG_READONLY); }
tsr_device tsr_device_of(const tsr_tensor *t) { return tsr_is_none(t) ? TSR_CPU : t->device; }
tsr_memory tsr_memory_of(const tsr_tensor *t) { return tsr_is_none(t) ? TSR_MEMORY_HOST : t->memory; }
bool tsr_is_host(const tsr_tensor *t)
{
    return !tsr_is_none(t) && tsr_memory_is_host(t->memory);
}

bool tsr_is_device(const tsr_tensor *t) { return !tsr_is_none(t) && t->device != TSR_CPU; }

bool tsr_is_borrowed(const tsr_tensor *t)
{
    return tsr_is_allocated(t) && (!t->storage || t->storage->ownership == TSR_BORROWED);
}

tsr_status tsr_check(const tsr_tensor *t)
{
    TSRI_TRY(tsri_check_tensor("check", "t", t));
    TSRI_TRY(tsri_desc_check("check", &t->desc));
    TSRI_TRY(check_place("check", t->device, t->memory));
    TSRI_CHECK(tsri_load_relaxed(&t->count) > 0, TSR_EINVAL, "check: %s was released", TSRI_DESC(&t->desc));
    if (!t->data) return TSR_OK;
    TSRI_TRY(check_alignment("check", t->data, t->dtype));
    if (!t->storage || tsr_desc_numel(&t->desc) == 0) return TSR_OK;
    const uintptr_t base = (uintptr_t)t->storage->data, data = (uintptr_t)t->data;
    TSRI_CHECK(data >= base && is_inside(&t->desc, (size_t)(data - base), t->storage->bytes), TSR_EBOUNDS,
               "check: %s leaves its storage of %zu bytes", TSRI_DESC(&t->desc), t->storage->bytes);
    return TSR_OK;
}

tsr_status tsr_dim(int64_t *out, const tsr_tensor *t, int axis)
{
    TSRI_TRY(tsri_check_tensor("dim", "t", t));
    return tsr_desc_dim(out, &t->desc, axis);
}

/* The size of dim `axis`, or 1 if the rank is below least_rank and so has no dim of that name. */
static int64_t named_dim(const tsr_tensor *t, int least_rank, int axis)
{
    if (tsr_is_none(t) || t->ndim > TSR_MAX_NDIM) return 0;
    if (t->ndim < least_rank) return 1;
    return t->shape[axis < 0 ? axis + t->ndim : axis];
}

int64_t tsr_batch(const tsr_tensor *t) { return named_dim(t, 3, 0); }
int64_t tsr_channels(const tsr_tensor *t) { return named_dim(t, 4, 1); }
int64_t tsr_height(const tsr_tensor *t) { return named_dim(t, 2, -2); }
int64_t tsr_width(const tsr_tensor *t) { return named_dim(t, 1, -1); }
int64_t tsr_rows(const tsr_tensor *t) { return tsr_height(t); }
int64_t tsr_cols(const tsr_tensor *t) { return tsr_width(t); }

tsr_status tsr_as_matrix(tsr_matrix *out, const tsr_tensor *t)
{
    TSRI_CHECK(out, TSR_ENULL, "as_matrix: out is NULL");
    TSRI_TRY(tsri_check_allocated("as_matrix", "t", t));
    TSRI_CHECK(t->ndim == 2, TSR_ESHAPE, "as_matrix: %s has %d dims, not 2", TSRI_DESC(&t->desc),
               (int)t->ndim);
    const int64_t rows = t->shape[0], cols = t->shape[1];
    /* The stride of a dim of size 1 or 0 is not used, and may count as any number. */
    const bool rows_free = rows <= 1 || cols == 0, cols_free = cols <= 1 || rows == 0;
    const bool row_major =
        (cols_free || t->stride[1] == 1) && (rows_free || t->stride[0] >= tsri_max(cols, 1));
    const bool col_major =
        (rows_free || t->stride[0] == 1) && (cols_free || t->stride[1] >= tsri_max(rows, 1));
    TSRI_CHECK(
        row_major || col_major, TSR_ESTRIDE,
        "as_matrix: %s: one stride must be 1 and the other at least that dim's size (tsr_contiguous copies)",
        TSRI_DESC(&t->desc));
    /* If both orders fit, it counts as row-major; if the rows' stride is unused, ld is the packed one. */
    const int64_t ld = !row_major ? t->stride[1] : rows_free ? tsri_max(cols, 1) : t->stride[0];
    *out = (tsr_matrix){ t->data, rows, cols, ld, row_major, t->dtype };
    return TSR_OK;
}

void tsr_set_name(tsr_tensor *t, const char *name)
{
    if (!tsr_is_none(t)) tsr_storage_set_name(t->storage, name);
}
