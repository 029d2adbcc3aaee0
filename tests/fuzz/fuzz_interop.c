/* fuzz_interop.c - any DLPack tensor, Arrow column and buffer.
 *
 * The bytes of an input become the structs. What describes memory that it has is read; what is
 * refused is left with its owner, and what is taken is given back once. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tessera/tessera.h"

enum { MEMORY = 512, MOST_DIMS = 24 };

static volatile unsigned sink;

static void end_op(tsr_tensor **out, tsr_status s)
{
    sink += s == TSR_OK;
    tsr_release(out);
}

/* One call of each kind of op; whatever it says. */
static void use_in_ops(const tsr_tensor *t)
{
    const tsr_tensor *const pair[] = { t, t };
    int axes[TSR_MAX_NDIM];
    tsr_tensor *view = NULL, *out = NULL;
    for (int i = 0; i < t->ndim; i++) axes[i] = t->ndim - 1 - i;
    if (tsr_permute(&view, t, t->ndim, axes) == TSR_OK) end_op(&out, tsr_contiguous(&out, view));
    end_op(&view, TSR_OK);
    end_op(&out, tsr_view(&out, t, TSR_SHAPE(-1)));
    end_op(&out, tsr_add(&out, t, t));
    end_op(&out, tsr_sum(&out, t, 0, NULL, false));
    end_op(&out, tsr_concat(&out, 2, pair, 0));
}

/* A copy, a text, and ops. What is empty may have a shape whose packed strides cannot be. */
static void use(const tsr_tensor *t)
{
    tsr_tensor *copy = NULL;
    char text[256];
    size_t length;
    fuzz_must(tsr_check(t) == TSR_OK, "a tensor that is none");
    if (tsr_numel(t) > MEMORY * 64) return;
    use_in_ops(t);
    const tsr_status s = tsr_clone(&copy, t);
    fuzz_must(s == TSR_OK ? tsr_same_shape(copy, t) : s == TSR_EOVERFLOW && tsr_numel(t) == 0,
              "a tensor that cannot be copied");
    fuzz_must(tsr_to_string(text, sizeof text, &length, t, NULL) == TSR_OK, "it cannot be printed");
    sink += (unsigned)text[0];
    tsr_release(&copy);
}

/* Do all elements of a desc lie within `bytes`, from `first` on? In numbers that cannot overflow. */
static bool lies_within(const tsr_desc *d, uint64_t first, size_t bytes)
{
    long double low = 0, high = 0;
    for (int i = 0; i < d->ndim; i++) {
        const long double reach = (long double)(d->shape[i] - 1) * (long double)d->stride[i];
        if (d->shape[i] == 0) return true;
        if (reach < 0) low += reach;
        else high += reach;
    }
    const long double size = (long double)tsr_dtype_size(d->dtype), at = (long double)first;
    return at + low * size >= 0 && at + (high + 1) * size <= (long double)bytes;
}

/* DLPack ------------------------------------------------------------------------------- */

typedef struct producer {
    tsr_dl_managed_versioned managed;
    tsr_dl_managed           legacy;
    int64_t *shape, *strides;   /* blocks that end where the arrays do */
    unsigned char *memory;
    int deleted;
} producer;

static void delete_managed(tsr_dl_managed_versioned *m) { ((producer *)m->manager_ctx)->deleted++; }
static void delete_legacy(tsr_dl_managed *m) { ((producer *)m->manager_ctx)->deleted++; }

static int64_t *take_sizes(fuzz_input *in, int n)
{
    int64_t *sizes = malloc(n > 0 ? (size_t)n * sizeof *sizes : 1);
    for (int i = 0; i < n && sizes; i++) sizes[i] = fuzz_take_size(in);
    return sizes;
}

/* Types, bits and lanes that there are, and others. */
static tsr_dl_dtype take_dtype(fuzz_input *in)
{
    static const uint8_t bits[] = { 8, 16, 32, 64, 128, 1, 4, 8 };
    const unsigned code = (unsigned)fuzz_take(in, 1), width = (unsigned)fuzz_take(in, 1);
    const unsigned lanes = (unsigned)fuzz_take(in, 1);
    return (tsr_dl_dtype){ (uint8_t)(code < 240 ? code % 18 : code),
                           width < 240 ? bits[width % 8] : (uint8_t)width,
                           lanes < 250 ? 1 : (uint16_t)(lanes - 250) };
}

static tsr_dl_tensor take_tensor(producer *p, fuzz_input *in)
{
    const unsigned flags = (unsigned)fuzz_take(in, 1), device = (unsigned)fuzz_take(in, 1);
    const int ndim = (int)(fuzz_take(in, 1) % (MOST_DIMS + 1)) - (flags == 255);
    p->shape = take_sizes(in, ndim);
    p->strides = take_sizes(in, ndim);
    p->memory = malloc(MEMORY);
    return (tsr_dl_tensor){
        .data = flags & 1 ? NULL : p->memory,
        .device = { device < 200 ? TSR_DL_CPU : (int32_t)(device - 200), (int32_t)fuzz_take(in, 1) - 1 },
        .ndim = ndim,
        .dtype = take_dtype(in),
        .shape = flags & 2 ? NULL : p->shape,
        .strides = flags & 4 ? NULL : p->strides,
        .byte_offset = flags & 8 ? (uint64_t)fuzz_take_size(in) : fuzz_take(in, 2) % MEMORY,
    };
}

/* Out to another library and in again it is the same. */
static void check_round_trip(const tsr_tensor *t)
{
    tsr_dl_managed_versioned *m = NULL;
    tsr_tensor *back = NULL;
    if (tsr_to_dlpack(&m, t, NULL) != TSR_OK) return;
    const tsr_status s = tsr_from_dlpack(&back, m);
    fuzz_must(s == TSR_OK && tsr_same_shape(back, t) && back->dtype == t->dtype, "it does not come back");
    tsr_release(&back);
}

static bool check_dlpack(producer *p, int how)
{
    tsr_tensor *t = NULL;
    const tsr_dl_tensor *dl = &p->managed.dl_tensor;
    tsr_clear_error();
    const tsr_status s = how == 0 ? tsr_from_dlpack(&t, &p->managed)
                       : how == 1 ? tsr_from_dlpack_legacy(&t, &p->legacy) : tsr_wrap_dlpack(&t, dl, true);
    fuzz_must(s == TSR_OK ? t != NULL : !t && tsr_last_error()[0], "neither a tensor nor words");
    fuzz_must(p->deleted == 0, "deleted too early");
    if (s == TSR_OK && lies_within(&t->desc, dl->byte_offset, MEMORY)) {
        use(t);
        check_round_trip(t);
    }
    tsr_release(&t);
    fuzz_must(p->deleted == (s == TSR_OK && how != 2), "not deleted once");
    return s == TSR_OK;
}

static bool run_dlpack(const uint8_t *data, size_t size)
{
    fuzz_input in = { data, data + size };
    producer p = { .deleted = 0 };
    const unsigned how = (unsigned)fuzz_take(&in, 1);
    const tsr_dl_tensor dl = take_tensor(&p, &in);
    p.managed = (tsr_dl_managed_versioned){ { how < 200 ? 1 : how - 200, (uint32_t)fuzz_take(&in, 1) }, &p,
                                            delete_managed, fuzz_take(&in, 1), dl };
    p.legacy = (tsr_dl_managed){ dl, &p, delete_legacy };
    bool taken = false;
    if (p.shape && p.strides && p.memory) {
        for (size_t i = 0; i < MEMORY; i++) p.memory[i] = (unsigned char)i;
        taken = check_dlpack(&p, (int)(how % 3));
    }
    free(p.shape);
    free(p.strides);
    free(p.memory);
    return taken;
}

/* Buffers: no element leaves them, whatever the desc says ------------------------------- */

static void count_end(void *context, void *data, size_t bytes)
{
    (void)data, (void)bytes;
    ++*(int *)context;
}

static bool run_buffer(const uint8_t *data, size_t size)
{
    fuzz_input in = { data, data + size };
    tsr_tensor *t = NULL;
    int ended = 0;
    tsr_desc d = { .dtype = (tsr_dtype)(fuzz_take(&in, 1) % (TSR_DTYPE_COUNT + 1)) };
    d.ndim = (int32_t)(fuzz_take(&in, 1) % (TSR_MAX_NDIM + 2)) - 1;
    const size_t offset = (size_t)fuzz_take_size(&in);
    for (int i = 0; i < d.ndim; i++) {
        d.shape[i] = fuzz_take_size(&in);
        d.stride[i] = fuzz_take_size(&in);
    }
    const size_t bytes = (size_t)(in.end - in.at);
    unsigned char *memory = malloc(bytes ? bytes : 1);
    if (!memory) return false;
    if (bytes) memcpy(memory, in.at, bytes);
    const tsr_buffer buffer = { memory, bytes, false, count_end, &ended };
    const tsr_status s = tsr_from_buffer(&t, &buffer, offset, &d);
    if (s == TSR_OK) {
        fuzz_must(lies_within(&t->desc, offset, bytes), "elements outside the buffer");
        use(t);
        check_round_trip(t);
    }
    tsr_release(&t);
    fuzz_must(ended == (s == TSR_OK), "not given back once");
    free(memory);
    return s == TSR_OK;
}

/* Arrow -------------------------------------------------------------------------------- */

static int released;

static void release_array(tsr_arrow_array *a) { released++, a->release = NULL; }
static void release_schema(tsr_arrow_schema *s) { released++, s->release = NULL; }

/* A column whose buffers are as long as it says, unless it says what cannot be. */
static bool run_arrow(const uint8_t *data, size_t size)
{
    fuzz_input in = { data, data + size };
    const unsigned flags = (unsigned)fuzz_take(&in, 1);
    char format[4] = { (char)fuzz_take(&in, 1), flags & 1 ? (char)fuzz_take(&in, 1) : '\0' };
    unsigned char *valid = malloc(MEMORY), *values = malloc(MEMORY);
    const void *buffers[2] = { flags & 2 ? NULL : valid, flags & 4 ? NULL : values };
    tsr_arrow_array a = { fuzz_take_size(&in), fuzz_take_size(&in), fuzz_take_size(&in), 2, 0,
                          .buffers = buffers, .release = flags & 8 ? NULL : release_array };
    tsr_arrow_schema s = { .format = flags & 16 ? NULL : format, .release = release_schema };
    tsr_tensor *t = NULL;
    if (flags & 32) a.n_buffers = fuzz_take_size(&in);
    if (flags & 64) a.n_children = fuzz_take_size(&in);
    /* Lengths are the producer's word: those that no check could refuse are kept within the memory. */
    if (a.length > 0 && a.offset >= 0 && a.length < INT64_MAX / 16 - a.offset) a.length %= 20, a.offset %= 12;
    for (size_t i = 0; i < MEMORY && valid && values; i++)
        valid[i] = values[i] = (unsigned char)fuzz_take(&in, 1);
    released = 0;
    const tsr_status status = valid && values ? tsr_from_arrow(&t, &a, &s) : TSR_ENOMEM;
    if (status == TSR_OK) use(t);
    tsr_release(&t);
    fuzz_must(released == (status == TSR_OK ? 2 : 0), "not released once");
    free(valid);
    free(values);
    return status == TSR_OK;
}

const fuzz_target fuzz_targets[] = {
    { "dlpack", run_dlpack, NULL, NULL, 80000 },
    { "buffer", run_buffer, NULL, NULL, 80000 },
    { "arrow", run_arrow, NULL, NULL, 80000 },
    { NULL, NULL, NULL, NULL, 0 },
};
