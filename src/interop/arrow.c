/* arrow.c - the Arrow C data interface, for columns of numbers. */
#include "core/alloc.h"
#include "core/mem.h"
#include "core/storage.h"
#include "core/tensor_int.h"
#include "foreign.h"
#include "tessera/interop.h"
#include "tessera/view.h"

static const struct { const char *format; tsr_dtype dtype;
} formats[] = {
    { "c", TSR_I8 },  { "C", TSR_U8 },  { "s", TSR_I16 }, { "S", TSR_U16 },
    { "i", TSR_I32 }, { "I", TSR_U32 }, { "l", TSR_I64 }, { "L", TSR_U64 },
    { "e", TSR_F16 }, { "f", TSR_F32 }, { "g", TSR_F64 }, { "b", TSR_BOOL },
};
enum { FORMATS = sizeof formats / sizeof *formats };

static const char *format_of(tsr_dtype dtype)
{
    for (int i = 0; i < FORMATS; i++)
        if (formats[i].dtype == dtype) return formats[i].format;
    return NULL;
}

/* Out ---------------------------------------------------------------------------------- */

typedef struct column {
    const void *buffers[2];  /* validity, which is absent, and data */
    tsr_tensor *elements;
} column;

static void release_array(tsr_arrow_array *a)
{
    column *c = a->private_data;
    tsr_release(&c->elements);
    tsri_free(c, sizeof *c);
    a->release = NULL;
}

static void release_schema(tsr_arrow_schema *s) { s->release = NULL; }

/* Bits in bytes, the lowest first. */
static tsr_status pack_bits(tsr_tensor **out, const tsr_tensor *t)
{
    const int64_t bytes = (t->shape[0] + 7) / 8;
    TSRI_TRY(tsri_make_packed(out, "to_arrow", TSR_U8, 1, &bytes));
    uint8_t *bits = (*out)->data;
    const char *p = t->data;
    for (int64_t i = 0; i < t->shape[0]; i++)
        bits[i / 8] = (uint8_t)((i % 8 ? bits[i / 8] : 0) | (p[i * t->stride[0]] != 0) << i % 8);
    return TSR_OK;
}

tsr_status tsr_to_arrow(tsr_arrow_array *array, tsr_arrow_schema *schema, const tsr_tensor *t)
{
    tsr_tensor *elements = NULL;
    TSRI_CHECK(array, TSR_ENULL, "to_arrow: array is NULL");
    TSRI_CHECK(schema, TSR_ENULL, "to_arrow: schema is NULL");
    TSRI_TRY(tsri_check_host("to_arrow", "t", t));
    TSRI_CHECK(t->ndim == 1, TSR_ESHAPE, "to_arrow: t is %s, and a column has 1 dim", TSRI_DESC(&t->desc));
    TSRI_CHECK(format_of(t->dtype), TSR_EDTYPE, "to_arrow: Arrow has no %s", tsr_dtype_name(t->dtype));
    TSRI_TRY(t->dtype == TSR_BOOL ? pack_bits(&elements, t) : tsr_contiguous(&elements, t));
    column *c = tsri_scratch(sizeof *c);
    if (!c) {
        tsr_release(&elements);
        return tsri_fail(TSR_ENOMEM, "to_arrow: no room for a column");
    }
    tsri_scope_leave(elements);
    *c = (column){ { NULL, elements->data }, elements };
    *array = (tsr_arrow_array){ .length = t->shape[0],
                                .n_buffers = 2,
                                .buffers = c->buffers,
                                .release = release_array,
                                .private_data = c };
    *schema = (tsr_arrow_schema){ .format = format_of(t->dtype), .name = "", .release = release_schema };
    return TSR_OK;
}

/* In ----------------------------------------------------------------------------------- */

static tsr_status check_column(const tsr_arrow_array *a, const tsr_arrow_schema *s, tsr_dtype *dtype)
{
    TSRI_CHECK(a->release && s->release, TSR_EINVAL, "from_arrow: the %s was released",
               a->release ? "schema" : "array");
    TSRI_CHECK(s->format, TSR_EFORMAT, "from_arrow: the schema has no format");
    *dtype = TSR_DTYPE_INVALID;
    for (int i = 0; i < FORMATS; i++)
        if (tsri_streq(formats[i].format, s->format)) *dtype = formats[i].dtype;
    TSRI_CHECK(*dtype != TSR_DTYPE_INVALID && !s->dictionary && !a->dictionary && a->n_children == 0,
               TSR_EUNSUPPORTED, "from_arrow: format \"%s\"%s; columns of plain numbers and bools are taken",
               s->format, s->dictionary ? " with a dictionary" : "");
    TSRI_CHECK(a->length >= 0 && a->offset >= 0 && a->length <= INT64_MAX / 16 - a->offset, TSR_EFORMAT,
               "from_arrow: %lld elements from %lld on", (long long)a->length, (long long)a->offset);
    TSRI_CHECK(a->n_buffers == 2 && a->buffers, TSR_EFORMAT, "from_arrow: %lld buffers, and a column has 2",
               (long long)a->n_buffers);
    TSRI_CHECK(a->buffers[1] || a->length == 0, TSR_EFORMAT,
               "from_arrow: the buffer of %lld elements is NULL", (long long)a->length);
    return TSR_OK;
}

static bool bit(const uint8_t *bits, int64_t i) { return bits[i / 8] >> i % 8 & 1; }

/* null_count may be -1, for unknown; the bits are counted then. */
static tsr_status check_no_nulls(const tsr_arrow_array *a)
{
    const uint8_t *valid = a->buffers[0];
    int64_t nulls = 0;
    if (a->null_count == 0 || !valid) return TSR_OK;
    for (int64_t i = 0; i < a->length; i++) nulls += !bit(valid, a->offset + i);
    TSRI_CHECK(nulls == 0, TSR_EUNSUPPORTED,
               "from_arrow: %lld of %lld elements are null, which tensors cannot say", (long long)nulls,
               (long long)a->length);
    return TSR_OK;
}

static tsr_status unpack_bits(tsr_tensor **out, const tsr_arrow_array *a)
{
    tsr_tensor *t = NULL;
    TSRI_TRY(tsri_make_packed(&t, "from_arrow", TSR_BOOL, 1, &a->length));
    for (int64_t i = 0; i < a->length; i++) ((uint8_t *)t->data)[i] = bit(a->buffers[1], a->offset + i);
    if (*out) tsri_scope_stay(t, *out);
    tsr_release(out);
    *out = t;
    return TSR_OK;
}

static void end_column(void *context, void *data, size_t bytes)
{
    tsr_arrow_array *a = context;
    (void)data; (void)bytes;
    a->release(a);
    tsri_free(a, sizeof *a);
}

/* Copies the ArrowArray struct, as Arrow allows, so that the tensor's storage owns it and releases it. */
static tsr_status share(tsr_tensor **out, const tsr_arrow_array *a, tsr_dtype dtype)
{
    tsr_desc d = { .ndim = 0 };
    TSRI_TRY(tsri_desc_packed(&d, "from_arrow", dtype, 1, &a->length));
    const size_t size = tsr_dtype_size(dtype);
    const uint64_t bytes = (uint64_t)a->length * size;
    char *data = bytes ? tsri_foreign_low(a->buffers[1], (uint64_t)a->offset * size, 0, bytes) : NULL;
    TSRI_CHECK(data || !bytes, TSR_EFORMAT, "from_arrow: %lld elements from %lld on leave the address space",
               (long long)a->length, (long long)a->offset);
    tsr_arrow_array *kept = tsri_scratch(sizeof *kept);
    TSRI_CHECK(kept, TSR_ENOMEM, "from_arrow: no room for a column");
    *kept = *a;
    const tsr_buffer buffer = { data, (size_t)bytes, true, end_column, kept };
    const tsr_status s = tsr_from_buffer(out, &buffer, 0, &d);
    if (s != TSR_OK) tsri_free(kept, sizeof *kept);
    return s;
}

tsr_status tsr_from_arrow(tsr_tensor **out, tsr_arrow_array *array, tsr_arrow_schema *schema)
{
    tsr_dtype dtype = TSR_DTYPE_INVALID;
    TSRI_CHECK(out, TSR_ENULL, "from_arrow: out is NULL");
    TSRI_CHECK(array, TSR_ENULL, "from_arrow: array is NULL");
    TSRI_CHECK(schema, TSR_ENULL, "from_arrow: schema is NULL");
    TSRI_TRY(check_column(array, schema, &dtype));
    TSRI_TRY(check_no_nulls(array));
    if (dtype == TSR_BOOL) {
        TSRI_TRY(unpack_bits(out, array));
        array->release(array);
    } else {
        TSRI_TRY(share(out, array, dtype));
    }
    array->release = NULL;
    schema->release(schema);
    schema->release = NULL;
    return TSR_OK;
}
