/* dlpack.c - DLPack in both directions. */
#include "backend/registry.h"
#include "core/alloc.h"
#include "core/text.h"
#include "core/mem.h"
#include "core/storage.h"
#include "core/tensor_int.h"
#include "foreign.h"
#include "tessera/interop.h"
#include "tessera/move.h"

_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(tsr_dl_tensor) == 48 && sizeof(tsr_dl_managed) == 64 &&
                    sizeof(tsr_dl_managed_versioned) == 80 && sizeof(tsr_dl_exchange_api) == 56),
               "the layout of dlpack.h");

/* Devices by name ---------------------------------------------------------------------- */

static const struct { int32_t type; const char *name; } devices[] = {
    { TSR_DL_CPU, "cpu" }, { TSR_DL_CUDA, "cuda" }, { TSR_DL_OPENCL, "opencl" }, { TSR_DL_VULKAN, "vulkan" },
    { TSR_DL_METAL, "metal" }, { TSR_DL_ROCM, "rocm" }, { TSR_DL_ONEAPI, "oneapi" },
};
enum { DEVICES = sizeof devices / sizeof *devices };

/* Memory that the host reaches as its own. */
static bool is_host_type(int32_t type)
{
    return type == TSR_DL_CPU || type == TSR_DL_CUDA_HOST || type == TSR_DL_ROCM_HOST;
}

static tsr_status device_from_dl(tsr_device *out, const char *op, tsr_dl_device d)
{
    const int32_t type = d.type == TSR_DL_CUDA_MANAGED ? TSR_DL_CUDA : d.type;
    char name[48];
    *out = TSR_CPU;
    if (is_host_type(type)) return TSR_OK;
    for (int i = 0; i < DEVICES; i++) {
        if (devices[i].type != type) continue;
        tsri_text text = tsri_text_into(name, sizeof name);
        tsri_put(&text, "%s:%d", devices[i].name, (int)d.id);
        return tsr_device_parse(out, name);
    }
    return tsri_fail(TSR_EDEVICE, "%s: DLPack device type %d is not known here", op, (int)d.type);
}

static tsr_status device_to_dl(tsr_dl_device *out, const char *op, tsr_device device)
{
    char name[64];
    (void)tsr_device_name(name, sizeof name, device);
    size_t n = 0;
    while (name[n] && name[n] != ':') n++;
    for (int i = 0; i < DEVICES; i++) {
        if (tsri_strlen(devices[i].name) != n || memcmp(devices[i].name, name, n) != 0) continue;
        *out = (tsr_dl_device){ devices[i].type, device & 255 };
        return TSR_OK;
    }
    return tsri_fail(TSR_EDEVICE, "%s: DLPack has no name for the device %s", op, name);
}

/* Whoever gets the tensor may use it on any stream: nothing is left to wait for. */
static tsr_status finish_work(const char *op, tsr_device device)
{
    const tsr_backend *b = NULL;
    int index = 0;
    if (device == TSR_CPU) return TSR_OK;
    TSRI_TRY(tsri_backend_of(&b, &index, op, device));
    if (!b->sync) return TSR_OK;
    const uint32_t failures = tsri_failures();
    return tsri_backend_end(b->sync(index), failures, op, b);
}

/* Out ---------------------------------------------------------------------------------- */

/* What stays until the deleter is called. */
typedef struct export {
    union {
        tsr_dl_managed_versioned versioned;
        tsr_dl_managed           legacy;
    } managed;
    tsr_storage *storage;
    int64_t      shape[TSR_MAX_NDIM], strides[TSR_MAX_NDIM];
} export;

static void delete_export(export *e)
{
    tsr_storage_release(&e->storage);
    tsri_free(e, sizeof *e);
}

static void delete_versioned(tsr_dl_managed_versioned *m) { delete_export(m->manager_ctx); }
static void delete_legacy(tsr_dl_managed *m) { delete_export(m->manager_ctx); }

/* The library ignores strides of dims of size 1, but consumers may not, so these are exported as the packed
 * ones. The product may overflow for an empty tensor, of which no element is addressed. */
static void copy_dims(export *e, const tsr_desc *d)
{
    int64_t packed = 1;
    for (int i = d->ndim - 1; i >= 0; i--) {
        e->shape[i] = d->shape[i];
        e->strides[i] = d->shape[i] == 1 ? packed : d->stride[i];
        packed = tsri_mul_wrapping(packed, tsri_max(d->shape[i], 1));
    }
}

static tsr_status describe(tsr_dl_tensor *out, const char *op, const tsr_tensor *t, int64_t *shape,
                           int64_t *strides)
{
    int64_t number = 0;
    TSRI_TRY(tsr_dtype_to_number(&number, TSR_NUMBERING_DLPACK, t->dtype));
    *out = (tsr_dl_tensor){ .ndim = t->ndim, .shape = shape, .strides = strides };
    out->dtype =
        (tsr_dl_dtype){ (uint8_t)(number & 255), (uint8_t)(number >> 8 & 255), (uint16_t)(number >> 16) };
    out->data = tsr_numel(t) ? t->data : NULL;
    return device_to_dl(&out->device, op, t->device);
}

static tsr_status make_export(export **out, tsr_dl_tensor *dl, const char *op, const tsr_tensor *t)
{
    TSRI_TRY(finish_work(op, t->device));
    export *e = tsri_scratch(sizeof *e);
    TSRI_CHECK(e, TSR_ENOMEM, "%s: no room to describe %s", op, TSRI_DESC(&t->desc));
    memset(e, 0, sizeof *e);
    copy_dims(e, &t->desc);
    const tsr_status s = describe(dl, op, t, e->shape, e->strides);
    if (s != TSR_OK) {
        tsri_free(e, sizeof *e);
        return s;
    }
    e->storage = tsr_storage_retain(t->storage);
    *out = e;
    return TSR_OK;
}

static tsr_status export_versioned(tsr_dl_managed_versioned **out, const tsr_tensor *t, uint64_t flags)
{
    export *e = NULL;
    tsr_dl_tensor dl;
    TSRI_TRY(make_export(&e, &dl, "to_dlpack", t));
    if (tsr_is_readonly(t)) flags |= TSR_DL_READ_ONLY;
    e->managed.versioned = (tsr_dl_managed_versioned){
        .version = { TSR_DLPACK_MAJOR, TSR_DLPACK_MINOR }, .manager_ctx = e, .deleter = delete_versioned,
        .flags = flags, .dl_tensor = dl,
    };
    *out = &e->managed.versioned;
    return TSR_OK;
}

static tsr_status export_legacy(tsr_dl_managed **out, const tsr_tensor *t)
{
    export *e = NULL;
    tsr_dl_tensor dl;
    TSRI_CHECK(
        !tsr_is_readonly(t), TSR_EREADONLY,
        "to_dlpack_legacy: %s is read-only, which the old struct cannot say (tsr_to_dlpack, or a copy)",
        TSRI_DESC(&t->desc));
    TSRI_TRY(make_export(&e, &dl, "to_dlpack_legacy", t));
    e->managed.legacy = (tsr_dl_managed){ .dl_tensor = dl, .manager_ctx = e, .deleter = delete_legacy };
    *out = &e->managed.legacy;
    return TSR_OK;
}

tsr_status tsr_to_dlpack(tsr_dl_managed_versioned **out, const tsr_tensor *t, const tsr_dlpack_opts *opts)
{
    tsr_tensor *copy = NULL;
    TSRI_CHECK(out, TSR_ENULL, "to_dlpack: out is NULL");
    TSRI_TRY(tsri_check_allocated("to_dlpack", "t", t));
    if (!opts || !opts->copy) return export_versioned(out, t, 0);
    TSRI_TRY(tsr_clone(&copy, t));
    const tsr_status s = export_versioned(out, copy, TSR_DL_IS_COPIED);
    tsr_release(&copy);
    return s;
}

tsr_status tsr_to_dlpack_legacy(tsr_dl_managed **out, const tsr_tensor *t, const tsr_dlpack_opts *opts)
{
    tsr_tensor *copy = NULL;
    TSRI_CHECK(out, TSR_ENULL, "to_dlpack_legacy: out is NULL");
    TSRI_TRY(tsri_check_allocated("to_dlpack_legacy", "t", t));
    if (!opts || !opts->copy) return export_legacy(out, t);
    TSRI_TRY(tsr_clone(&copy, t));
    const tsr_status s = export_legacy(out, copy);
    tsr_release(&copy);
    return s;
}

/* In ----------------------------------------------------------------------------------- */

static tsr_status dtype_from_dl(tsr_dtype *out, const char *op, tsr_dl_dtype d)
{
    TSRI_CHECK(d.lanes == 1, TSR_EDTYPE, "%s: elements of %u lanes", op, (unsigned)d.lanes);
    TSRI_CHECK(d.bits >= 8, TSR_EDTYPE, "%s: elements of %u bits: those below a byte are not taken", op,
               (unsigned)d.bits);
    return tsr_dtype_from_number(out, TSR_NUMBERING_DLPACK, d.code | (int64_t)d.bits << 8 | INT64_C(1) << 16);
}

static tsr_status desc_from_dl(tsr_desc *out, const char *op, const tsr_dl_tensor *dl)
{
    tsr_dtype dtype = TSR_DTYPE_INVALID;
    TSRI_CHECK(dl->ndim >= 0 && dl->ndim <= TSR_MAX_NDIM, TSR_EUNSUPPORTED,
               "%s: %d dims; at most %d are taken", op, (int)dl->ndim, TSR_MAX_NDIM);
    TSRI_CHECK(dl->shape || dl->ndim == 0, TSR_ENULL, "%s: the shape of %d dims is NULL", op, (int)dl->ndim);
    TSRI_TRY(dtype_from_dl(&dtype, op, dl->dtype));
    return tsri_desc_init(out, op, dtype, dl->ndim, dl->shape, dl->strides);
}

/* A tensor over the memory that a DLTensor describes. `deleter` is set last: until then the
 * memory is the caller's. */
static tsr_status import(tsr_tensor **out, const char *op, const tsr_dl_tensor *dl, bool readonly,
                         tsr_ownership ownership, tsr_deleter deleter, void *context)
{
    tsr_desc d = { .ndim = 0 };
    tsr_device device = TSR_CPU;
    int64_t lo = 0;
    tsr_storage *storage = NULL;
    TSRI_TRY(desc_from_dl(&d, op, dl));
    TSRI_TRY(device_from_dl(&device, op, dl->device));
    const int64_t bytes = tsri_desc_span(&d, &lo);
    TSRI_CHECK(dl->data || bytes == 0, TSR_ENULL, "%s: the data of %s is NULL", op, TSRI_DESC(&d));
    char *low = bytes ? tsri_foreign_low(dl->data, dl->byte_offset, lo, (uint64_t)bytes) : tsri_nowhere();
    TSRI_CHECK(low, TSR_EOVERFLOW, "%s: byte_offset %llu leads %s out of the address space", op,
               (unsigned long long)dl->byte_offset, TSRI_DESC(&d));
    TSRI_TRY(tsri_storage_foreign(&storage, low, (size_t)bytes, device, TSR_MEMORY_HOST, ownership, readonly,
                                  NULL, NULL, op));
    const tsr_status s = tsr_from_storage(out, storage, (size_t)-lo, &d);
    if (s == TSR_OK) {
        storage->context = context;
        storage->deleter = deleter;
    }
    tsr_storage_release(&storage);
    return s;
}

static void end_versioned(void *context, void *data, size_t bytes)
{
    tsr_dl_managed_versioned *m = context;
    (void)data; (void)bytes;
    if (m->deleter) m->deleter(m);
}

static void end_legacy(void *context, void *data, size_t bytes)
{
    tsr_dl_managed *m = context;
    (void)data; (void)bytes;
    if (m->deleter) m->deleter(m);
}

tsr_status tsr_from_dlpack(tsr_tensor **out, tsr_dl_managed_versioned *m)
{
    TSRI_CHECK(out, TSR_ENULL, "from_dlpack: out is NULL");
    TSRI_CHECK(m, TSR_ENULL, "from_dlpack: m is NULL");
    TSRI_CHECK(m->version.major == TSR_DLPACK_MAJOR, TSR_EUNSUPPORTED,
               "from_dlpack: DLPack %u.%u; the structs of version %d are known here",
               (unsigned)m->version.major, (unsigned)m->version.minor, TSR_DLPACK_MAJOR);
    return import(out, "from_dlpack", &m->dl_tensor, (m->flags & TSR_DL_READ_ONLY) != 0, TSR_ADOPTED,
                  end_versioned, m);
}

tsr_status tsr_from_dlpack_legacy(tsr_tensor **out, tsr_dl_managed *m)
{
    TSRI_CHECK(out, TSR_ENULL, "from_dlpack_legacy: out is NULL");
    TSRI_CHECK(m, TSR_ENULL, "from_dlpack_legacy: m is NULL");
    return import(out, "from_dlpack_legacy", &m->dl_tensor, false, TSR_ADOPTED, end_legacy, m);
}

tsr_status tsr_wrap_dlpack(tsr_tensor **out, const tsr_dl_tensor *dl, bool readonly)
{
    TSRI_CHECK(out, TSR_ENULL, "wrap_dlpack: out is NULL");
    TSRI_CHECK(dl, TSR_ENULL, "wrap_dlpack: dl is NULL");
    return import(out, "wrap_dlpack", dl, readonly, TSR_BORROWED, NULL, NULL);
}

/* The table ---------------------------------------------------------------------------- */

static tsr_status allocate(const tsr_dl_tensor *prototype, tsr_dl_managed_versioned **out)
{
    tsr_desc d = { .ndim = 0 };
    tsr_device device = TSR_CPU;
    tsr_tensor *t = NULL;
    TSRI_CHECK(prototype, TSR_ENULL, "dlpack_allocate: the prototype is NULL");
    TSRI_CHECK(out, TSR_ENULL, "dlpack_allocate: out is NULL");
    tsr_dl_tensor packed = *prototype;
    packed.strides = NULL;  /* only dtype, shape and device count */
    TSRI_TRY(desc_from_dl(&d, "dlpack_allocate", &packed));
    TSRI_TRY(device_from_dl(&device, "dlpack_allocate", prototype->device));
    TSRI_TRY(tsri_make(&t, "dlpack_allocate", &d, device, TSR_MEMORY_HOST));
    const tsr_status s = export_versioned(out, t, 0);
    tsr_release(&t);
    return s;
}

static int table_allocate(tsr_dl_tensor *prototype, tsr_dl_managed_versioned **out, void *error_ctx,
                          void (*set_error)(void *error_ctx, const char *kind, const char *message))
{
    const tsr_status s = allocate(prototype, out);
    if (s == TSR_OK) return 0;
    if (set_error) set_error(error_ctx, s == TSR_ENOMEM ? "MemoryError" : "BufferError", tsr_last_error());
    return -1;
}

static int table_from_object(void *object, tsr_dl_managed_versioned **out)
{
    return tsr_to_dlpack(out, object, NULL) == TSR_OK ? 0 : -1;
}

static int table_to_object(tsr_dl_managed_versioned *m, void **out_object)
{
    tsr_tensor *t = NULL;
    if (!out_object || tsr_from_dlpack(&t, m) != TSR_OK) return -1;
    *out_object = t;
    return 0;
}

static int table_look_at_object(void *object, tsr_dl_tensor *out)
{
    tsr_tensor *t = object;
    if (!out || tsri_check_allocated("dltensor_from_object", "object", t) != TSR_OK) return -1;
    if (finish_work("dltensor_from_object", t->device) != TSR_OK) return -1;
    return describe(out, "dltensor_from_object", t, t->shape, t->stride) == TSR_OK ? 0 : -1;
}

/* Work on every device is finished when a call returns it, so its stream is the default one. */
static int table_stream(int32_t device_type, int32_t device_id, void **out_stream)
{
    tsr_device device;
    if (!out_stream ||
        device_from_dl(&device, "current_work_stream", (tsr_dl_device){ device_type, device_id }) != TSR_OK)
        return -1;
    *out_stream = NULL;
    return 0;
}

const tsr_dl_exchange_api *tsr_dlpack_exchange_api(void)
{
    static const tsr_dl_exchange_api api = {
        .header = { { TSR_DLPACK_MAJOR, TSR_DLPACK_MINOR }, NULL },
        .managed_tensor_allocator = table_allocate, .managed_tensor_from_object = table_from_object,
        .managed_tensor_to_object = table_to_object, .dltensor_from_object = table_look_at_object,
        .current_work_stream = table_stream,
    };
    return &api;
}
