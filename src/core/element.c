/* element.c - checked access to single elements. */
#include "device_int.h"
#include "mem.h"
#include "tensor_int.h"
#include "tessera/element.h"

/* Bytes from element (0, ..., 0) to the one (or sub-tensor) at n <= rank indices. */
static TSRI_ALWAYS_INLINE tsr_status find(int64_t *out, const char *op, const tsr_tensor *t, int n,
                                          const int64_t *index)
{
    uint64_t offset = 0;  /* wraps: where there are no elements, strides may be anything */
    TSRI_TRY(tsri_check_list(op, "index", n, index));
    for (int i = 0; i < n; i++) {
        int64_t at;
        TSRI_TRY(tsri_index(&at, op, index[i], i, &t->desc));
        offset += (uint64_t)at * (uint64_t)t->stride[i];
    }
    *out = (int64_t)(offset * (uint64_t)tsri_dtype_size(t->dtype));
    return TSR_OK;
}

static TSRI_ALWAYS_INLINE tsr_status find_element(int64_t *out, const char *op, const tsr_tensor *t, int n,
                                                  const int64_t *index)
{
    TSRI_CHECK(n == t->ndim, TSR_ESHAPE, "%s: %d indices for %s, which has %d dims", op, n,
               TSRI_DESC(&t->desc), (int)t->ndim);
    return find(out, op, t, n, index);
}

/* Can the element be read or written: by the host, or by the tensor's device? */
static tsr_status check_reachable(const char *op, const tsr_tensor *t)
{
    if (TSRI_LIKELY(tsri_is_plain(t)) || t->device != TSR_CPU) return TSR_OK;
    return tsri_check_host(op, "t", t);
}

/* Writes an element at an index; a tensor without memory gets it first. */
static TSRI_ALWAYS_INLINE tsr_status write_element(const char *op, tsr_tensor *t, int n, const int64_t *index,
                                                   const void *value, size_t size)
{
    int64_t offset = 0;
    TSRI_TRY(tsri_check_writable(op, "t", t));
    TSRI_TRY(check_reachable(op, t));
    TSRI_TRY(find_element(&offset, op, t, n, index));
    TSRI_TRY(tsri_ensure_memory(t, op, NULL));
    if (!TSRI_LIKELY(t->device == TSR_CPU)) return tsri_devices_get()->write(t, offset, value);
    memcpy((char *)t->data + offset, value, size);
    return TSR_OK;
}

static tsr_status read_element(void *out, const tsr_tensor *t, int64_t offset)
{
    if (!TSRI_LIKELY(t->device == TSR_CPU)) return tsri_devices_get()->read(out, t, offset);
    memcpy(out, (const char *)t->data + offset, (size_t)tsri_dtype_size(t->dtype));
    return TSR_OK;
}

static tsr_status check_dtype(const char *op, const tsr_tensor *t, tsr_dtype dtype)
{
    TSRI_TRY(tsri_check_tensor(op, "t", t));
    TSRI_CHECK(t->dtype == dtype, TSR_EDTYPE, "%s: %s is not %s (tsr_get and tsr_set convert)", op,
               TSRI_DESC(&t->desc), tsr_dtype_name(dtype));
    return TSR_OK;
}

/* Reads an element where look_up finds no address: the index counts from the end, the tensor is on a device,
 * or something is wrong. One copy for all dtypes. */
static TSRI_NEVER_INLINE tsr_status get_slowly(void *out, size_t size, const char *op, tsr_dtype dtype,
                                               const tsr_tensor *t, int n, const int64_t *index)
{
    int64_t offset = 0;
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", op);
    (void)size;
    TSRI_TRY(check_dtype(op, t, dtype));
    TSRI_TRY(tsri_check_allocated(op, "t", t));
    TSRI_TRY(check_reachable(op, t));
    TSRI_TRY(find_element(&offset, op, t, n, index));
    return read_element(out, t, offset);
}

/* Adds index i times its stride to the offset. False: the index counts from the end, or is outside. */
static TSRI_ALWAYS_INLINE bool step_along(uint64_t *offset, const tsr_tensor *t, int i, const int64_t *index)
{
    if ((uint64_t)index[i] >= (uint64_t)t->shape[i]) return false;
    *offset += (uint64_t)index[i] * (uint64_t)t->stride[i];
    return true;
}

/* The address of an element of host memory, with indices from the front; else NULL. Up to two dims need no
 * loop, as this is most of what a call costs. */
static TSRI_ALWAYS_INLINE const char *look_up(tsr_dtype dtype, size_t size, const tsr_tensor *t, int n,
                                              const int64_t *index)
{
    uint64_t offset = 0;
    if (!t || t->dtype != dtype || !t->data || !tsri_is_plain(t) || n != t->ndim || !index) return NULL;
    if (n > 0 && !step_along(&offset, t, 0, index)) return NULL;
    if (n > 1 && !step_along(&offset, t, 1, index)) return NULL;
    for (int i = 2; i < n; i++)
        if (!step_along(&offset, t, i, index)) return NULL;
    return (const char *)t->data + (int64_t)(offset * size);
}

/* Inlined into one function per dtype, so that the copy has a known size. */
static TSRI_ALWAYS_INLINE tsr_status get(void *out, size_t size, const char *op, tsr_dtype dtype,
                                         const tsr_tensor *t, int n, const int64_t *index)
{
    const char *element = look_up(dtype, size, t, n, index);
    if (TSRI_LIKELY(out && element)) {
        memcpy(out, element, size);
        return TSR_OK;
    }
    return get_slowly(out, size, op, dtype, t, n, index);
}

static TSRI_ALWAYS_INLINE tsr_status set(tsr_tensor *t, int n, const int64_t *index, const char *op,
                                         tsr_dtype dtype, const void *value, size_t size)
{
    TSRI_TRY(check_dtype(op, t, dtype));
    return write_element(op, t, n, index, value, size);
}

/* Elements as callers have them: a bool is no byte. */
#define ELEMENT_BOOLEAN(S) bool
#define ELEMENT_SIGNED(S) S
#define ELEMENT_UNSIGNED(S) S
#define ELEMENT_FLOATING(S) S
#define ELEMENT_COMPLEX(S) S

#define X(ID, suffix, S, kind, name)                                                                     \
    tsr_status tsr_get_##suffix(ELEMENT_##kind(S) *out, const tsr_tensor *t, int n, const int64_t *index) \
    { return get(out, sizeof *out, "get_" #suffix, TSR_##ID, t, n, index); }                             \
    tsr_status tsr_set_##suffix(tsr_tensor *t, int n, const int64_t *index, ELEMENT_##kind(S) value)     \
    { return set(t, n, index, "set_" #suffix, TSR_##ID, &value, sizeof value); }
#include "tessera/dtype.def"
#undef X

tsr_status tsr_get(tsr_scalar *out, const tsr_tensor *t, int n, const int64_t *index)
{
    int64_t offset = 0;
    tsr_c128 bytes;  /* any element fits */
    TSRI_CHECK(out, TSR_ENULL, "get: out is NULL");
    TSRI_TRY(tsri_check_allocated("get", "t", t));
    TSRI_TRY(check_reachable("get", t));
    TSRI_TRY(find_element(&offset, "get", t, n, index));
    TSRI_TRY(read_element(&bytes, t, offset));
    return tsr_scalar_load(out, t->dtype, &bytes);
}

tsr_status tsr_set(tsr_tensor *t, int n, const int64_t *index, tsr_scalar value)
{
    tsr_c128 bytes;
    TSRI_TRY(tsri_check_tensor("set", "t", t));
    TSRI_TRY(tsr_scalar_store(&bytes, t->dtype, value));
    return write_element("set", t, n, index, &bytes, (size_t)tsri_dtype_size(t->dtype));
}

tsr_status tsr_pointer(void **out, const tsr_tensor *t, int n, const int64_t *index)
{
    int64_t offset = 0;
    TSRI_CHECK(out, TSR_ENULL, "pointer: out is NULL");
    TSRI_TRY(tsri_check_host("pointer", "t", t));
    TSRI_CHECK(n <= t->ndim, TSR_ESHAPE, "pointer: %d indices for %s, which has %d dims", n,
               TSRI_DESC(&t->desc), (int)t->ndim);
    TSRI_TRY(find(&offset, "pointer", t, n, index));
    *out = (char *)t->data + (tsr_numel(t) ? offset : 0); /* what has no elements stays where the tensor is */
    return TSR_OK;
}

tsr_status tsr_item(tsr_scalar *out, const tsr_tensor *t)
{
    tsr_c128 bytes;
    TSRI_CHECK(out, TSR_ENULL, "item: out is NULL");
    TSRI_TRY(tsri_check_allocated("item", "t", t));
    TSRI_TRY(check_reachable("item", t));
    TSRI_CHECK(tsr_numel(t) == 1, TSR_ESHAPE, "item: %s has %lld elements, not one", TSRI_DESC(&t->desc),
               (long long)tsr_numel(t));
    TSRI_TRY(read_element(&bytes, t, 0));
    return tsr_scalar_load(out, t->dtype, &bytes);
}

tsr_status tsr_item_f64(double *out, const tsr_tensor *t)
{
    tsr_scalar value;
    TSRI_CHECK(out, TSR_ENULL, "item_f64: out is NULL");
    TSRI_TRY(tsr_item(&value, t));
    *out = tsr_scalar_to_f64(value);
    return TSR_OK;
}

tsr_status tsr_item_i64(int64_t *out, const tsr_tensor *t)
{
    tsr_scalar value;
    TSRI_CHECK(out, TSR_ENULL, "item_i64: out is NULL");
    TSRI_TRY(tsr_item(&value, t));
    *out = tsr_scalar_to_i64(value);
    return TSR_OK;
}
