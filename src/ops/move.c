/* move.c - fill, copy, convert, join. */
#include "backend/device_run.h"
#include "join.h"
#include "operands.h"
#include "backend/transfer.h"
#include "core/device_int.h"
#include "core/mem.h"
#include "core/overlap.h"
#include "tessera/move.h"
#include "tessera/view.h"

static tsr_status fill(const char *op, tsr_tensor *t, tsr_scalar value)
{
    bool origin = false;
    TSRI_TRY(tsri_check_writable(op, "t", t));
    TSRI_TRY(tsri_ensure_memory(t, op, &origin));
    return tsri_undo_memory(t, origin, tsri_fill_run(t, value));
}

tsr_status tsr_fill(tsr_tensor *t, tsr_scalar value)
{
    return fill("fill", t, value);
}

tsr_status tsr_zero(tsr_tensor *t)
{
    return fill("zero", t, tsr_scalar_i64(0));
}

/* Do the two see the same elements at the same addresses? */
static bool is_same_memory(const tsr_tensor *a, const tsr_tensor *b)
{
    tsr_desc seen_as = b->desc;
    seen_as.dtype = a->dtype;
    return a->data == b->data && tsr_dtype_size(a->dtype) == tsr_dtype_size(b->dtype) &&
           tsr_desc_same(&a->desc, &seen_as);
}

/* Through a temporary copy of src if the destination partly overlaps it. */
static tsr_status copy_apart(tsr_tensor *dst, const tsr_tensor *src)
{
    tsr_tensor *temporary = NULL;
    TSRI_TRY(tsri_separate(&src, &temporary, dst, TSRI_ORIGIN_GIVEN));
    const tsr_status s = tsri_copy_run(dst, src);
    tsr_release(&temporary);
    return s;
}

/* New memory overlaps nothing. */
static tsr_status copy_to_described(tsr_tensor *dst, const tsr_tensor *src)
{
    bool origin = false;
    TSRI_TRY(tsri_ensure_memory(dst, "copy", &origin));
    return tsri_undo_memory(dst, origin, tsri_copy_run(dst, src));
}

tsr_status tsr_copy(tsr_tensor *dst, const tsr_tensor *src)
{
    TSRI_TRY(tsri_check_tensor("copy", "dst", dst));
    TSRI_TRY(tsri_check_allocated("copy", "src", src));
    TSRI_CHECK(tsr_desc_same_shape(&dst->desc, &src->desc), TSR_ESHAPE, "copy: dst is %s, but src is %s",
               TSRI_DESC(&dst->desc), TSRI_DESC(&src->desc));
    TSRI_TRY(tsri_check_writable("copy", "dst", dst));
    if (!dst->data) return copy_to_described(dst, src);
    if (is_same_memory(dst, src)) return dst->dtype == src->dtype ? TSR_OK : tsri_copy_run(dst, src);
    return copy_apart(dst, src);
}

tsr_status tsr_copy_async(tsr_tensor *dst, const tsr_tensor *src)
{
    if (!tsr_is_allocated(dst) || !tsr_is_allocated(src) || dst->device == src->device)
        return tsr_copy(dst, src);
    TSRI_CHECK(tsr_desc_same_shape(&dst->desc, &src->desc), TSR_ESHAPE,
               "copy_async: dst is %s, but src is %s", TSRI_DESC(&dst->desc), TSRI_DESC(&src->desc));
    TSRI_TRY(tsri_check_writable("copy_async", "dst", dst));
    return tsri_transfer(dst, src, true);
}

static tsr_status copy_into_result(tsr_tensor **out, const char *op, const tsr_desc *desc,
                                   const tsr_tensor *src)
{
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_TRY(tsri_result(out, &origin, op, desc, src));
    return tsri_result_end(out, origin, tsr_copy(*out, src));
}

tsr_status tsr_rearrange(tsr_tensor **out, const tsr_tensor *src)
{
    tsr_desc d;
    TSRI_TRY(tsri_check_allocated("rearrange", "src", src));
    TSRI_TRY(tsr_desc_init(&d, src->dtype, src->ndim, src->shape, NULL));
    return copy_into_result(out, "rearrange", &d, src);
}

tsr_status tsr_cast(tsr_tensor **out, const tsr_tensor *src, tsr_dtype dtype)
{
    tsr_desc d;
    TSRI_TRY(tsri_check_allocated("cast", "src", src));
    TSRI_CHECK(tsr_dtype_is_valid(dtype), TSR_EDTYPE, "cast: %d is no dtype", (int)dtype);
    TSRI_TRY(tsri_desc_packed_like(&d, &src->desc, dtype));
    return copy_into_result(out, "cast", &d, src);
}

/* Rebinds *out to a packed row-major copy of src, seen as `shape`. src may be *out. */
static tsr_status rebind_to_copy(tsr_tensor **out, const char *op, const tsr_tensor *src,
                                 const tsr_desc *shape)
{
    tsr_tensor *copy = NULL;
    tsr_desc d;
    TSRI_TRY(tsr_desc_init(&d, src->dtype, src->ndim, src->shape, NULL));
    TSRI_TRY(tsri_make(&copy, op, &d, src->device, tsri_memory_beside(src)));
    tsr_status s = tsri_copy_run(copy, src);
    if (s == TSR_OK) s = tsri_bind(out, op, shape, copy->storage, copy->data, copy, 0);
    tsr_release(&copy);
    return s;
}

tsr_status tsr_reshape(tsr_tensor **out, const tsr_tensor *t, int ndim, const int64_t *shape)
{
    tsr_desc d;
    bool is_view = false;
    TSRI_CHECK(out, TSR_ENULL, "reshape: out is NULL");
    TSRI_TRY(tsri_check_allocated("reshape", "t", t));
    TSRI_TRY(tsri_desc_reshape(&d, &is_view, &t->desc, ndim, shape));
    if (is_view) return tsri_bind(out, "reshape", &d, t->storage, t->data, t, TSR_FLAG_VIEW);
    return rebind_to_copy(out, "reshape", t, &d);
}

tsr_status tsr_contiguous(tsr_tensor **out, const tsr_tensor *t)
{
    TSRI_CHECK(out, TSR_ENULL, "contiguous: out is NULL");
    TSRI_TRY(tsri_check_allocated("contiguous", "t", t));
    tsr_desc d = t->desc;
    if (tsr_desc_is_contiguous(&d))
        return tsri_bind(out, "contiguous", &d, t->storage, t->data, t, TSR_FLAG_VIEW);
    TSRI_TRY(tsr_desc_init(&d, t->dtype, t->ndim, t->shape, NULL));
    return rebind_to_copy(out, "contiguous", t, &d);
}

/* How t lies on another device: in the same order of dims, but matrices of a device that
 * keeps them column-major are row-major elsewhere, and vice versa. */
static tsr_status laid_out_for(tsr_desc *out, const tsr_tensor *t, tsr_device device)
{
    tsr_desc d;
    TSRI_TRY(tsri_desc_packed_like(&d, &t->desc, t->dtype));
    if (t->ndim == 2 && t->device != device && tsr_device_layout(device) != tsr_device_layout(t->device))
        TSRI_TRY(tsr_desc_init(&d, t->dtype, t->ndim, t->shape, NULL));
    *out = *tsri_laid_out(&(tsr_desc){ 0 }, &d, device);
    return TSR_OK;
}

tsr_status tsr_to(tsr_tensor **out, const tsr_tensor *t, tsr_device device)
{
    const bool stays = t && !tsr_is_none(t) && t->device == device;
    return tsr_to_memory(out, t, device, stays ? t->memory : TSR_MEMORY_DEFAULT);
}

tsr_status tsr_to_host(tsr_tensor **out, const tsr_tensor *t)
{
    const bool stays = t && !tsr_is_none(t) && tsri_is_here(t);
    return tsr_to_memory(out, t, TSR_CPU, stays ? t->memory : TSR_MEMORY_HOST);
}

tsr_status tsr_to_memory(tsr_tensor **out, const tsr_tensor *t, tsr_device device, tsr_memory memory)
{
    tsr_tensor *copy = NULL;
    TSRI_CHECK(out, TSR_ENULL, "to: out is NULL");
    TSRI_TRY(tsri_check_allocated("to", "t", t));
    tsr_desc d = t->desc;
    if (t->device == device && t->memory == tsri_memory_on(device, memory))
        return tsri_bind(out, "to", &d, t->storage, t->data, t, TSR_FLAG_VIEW);
    TSRI_CHECK(tsr_device_exists(device), TSR_EDEVICE, "to: there is no device %s", TSRI_DEVICE_TEXT(device));
    TSRI_TRY(laid_out_for(&d, t, device));
    TSRI_TRY(tsr_declare(&copy, &d, device, memory));
    tsr_status s = tsr_copy(copy, t);
    if (s == TSR_OK) s = tsri_bind(out, "to", &d, copy->storage, copy->data, copy, 0);
    tsr_release(&copy);
    return s;
}

/* Host buffers ------------------------------------------------------------------- */

/* May elements of this dtype lie at this address? */
static bool suits(const void *data, tsr_dtype dtype)
{
    const size_t size = tsr_dtype_size(dtype);
    return (uintptr_t)data % (tsr_dtype_kind(dtype) == TSR_COMPLEX ? size / 2 : size) == 0;
}

/* The packed row-major host buffer as a tensor like t: in `place`, or, where its
 * address does not suit the elements, in temporary memory. */
static tsr_status open_buffer(tsr_tensor **buffer, tsr_tensor *place, const char *op, const char *what,
                              void *data, size_t bytes, const tsr_tensor *t)
{
    tsr_desc d;
    const int64_t wanted = tsr_byte_size(t);
    TSRI_CHECK(data || wanted == 0, TSR_ENULL, "%s: %s is NULL", op, what);
    TSRI_CHECK(bytes == (uint64_t)wanted, TSR_ESHAPE, "%s: the buffer has %zu bytes, but %s has %lld", op,
               bytes, TSRI_DESC(&t->desc), (long long)wanted);
    TSRI_TRY(tsr_desc_init(&d, t->dtype, t->ndim, t->shape, NULL));
    if (!suits(data, t->dtype)) return tsri_make(buffer, op, &d, TSR_CPU, TSR_MEMORY_HOST);
    *buffer = place;
    return tsr_place(place, data, &d);
}

tsr_status tsr_load(tsr_tensor *t, const void *src, size_t bytes)
{
    tsr_tensor place, *buffer = NULL;
    TSRI_TRY(tsri_check_tensor("load", "t", t));
    TSRI_TRY(open_buffer(&buffer, &place, "load", "src", (void *)(uintptr_t)src, bytes, t));
    if (buffer != &place) memcpy(buffer->data, src, bytes);
    tsr_status s = tsri_check_writable("load", "t", t);
    if (s == TSR_OK) s = tsr_copy(t, buffer);
    tsr_release(&buffer);
    return s;
}

tsr_status tsr_store(void *dst, size_t bytes, const tsr_tensor *t)
{
    tsr_tensor place, *buffer = NULL;
    TSRI_TRY(tsri_check_allocated("store", "t", t));
    TSRI_TRY(open_buffer(&buffer, &place, "store", "dst", dst, bytes, t));
    const tsr_status s = tsr_copy(buffer, t);
    if (s == TSR_OK && buffer != &place) memcpy(dst, buffer->data, bytes);
    tsr_release(&buffer);
    return s;
}

/* Joining -------------------------------------------------------------------------- */

/* What all joins ask of their inputs: tensors with memory, of one dtype and rank. */
static tsr_status check_parts(const char *op, int n, const tsr_tensor *const *tensors)
{
    TSRI_CHECK(n >= 1, TSR_EINVAL, "%s: %d tensors; one at least is needed", op, n);
    TSRI_CHECK(tensors, TSR_ENULL, "%s: tensors is NULL", op);
    for (int i = 0; i < n; i++) {
        const tsr_tensor *t = tensors[i];
        TSRI_TRY(tsri_check_of_list(op, "tensor", i, t));
        TSRI_CHECK(t->dtype == tensors[0]->dtype, TSR_EDTYPE,
                   "%s: tensor %d is %s, but tensor 0 is %s (tsr_cast)", op, i, TSRI_DESC(&t->desc),
                   TSRI_DESC(&tensors[0]->desc));
        TSRI_CHECK(t->ndim == tensors[0]->ndim, TSR_ESHAPE, "%s: tensor %d is %s, but tensor 0 is %s", op, i,
                   TSRI_DESC(&t->desc), TSRI_DESC(&tensors[0]->desc));
    }
    return TSR_OK;
}

/* All dims of all tensors equal, but for `axis` (-1: every dim). */
static tsr_status check_dims(const char *op, int n, const tsr_tensor *const *tensors, int axis)
{
    for (int i = 1; i < n; i++)
        for (int d = 0; d < tensors[0]->ndim; d++)
            TSRI_CHECK(d == axis || tensors[i]->shape[d] == tensors[0]->shape[d], TSR_ESHAPE,
                       "%s: dim %d is %lld in tensor %d %s and %lld in tensor 0 %s", op, d,
                       (long long)tensors[i]->shape[d], i, TSRI_DESC(&tensors[i]->desc),
                       (long long)tensors[0]->shape[d], TSRI_DESC(&tensors[0]->desc));
    return TSR_OK;
}

static bool overlaps_any(const tsr_tensor *out, int n, const tsr_tensor *const *tensors)
{
    for (int i = 0; i < n; i++)
        if (tsri_overlap(out->data, &out->desc, tensors[i]->data, &tensors[i]->desc)) return true;
    return false;
}

static tsr_status join(tsr_tensor **out, const char *op, const tsr_desc *d, int n,
                       const tsr_tensor *const *tensors, int axis, bool stacked)
{
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_TRY(tsri_result(out, &origin, op, d, tensors[0]));
    if (origin != TSRI_ORIGIN_GIVEN || !overlaps_any(*out, n, tensors))
        return tsri_result_end(out, origin, tsri_join_run(*out, n, tensors, axis, stacked));
    tsr_tensor *temporary = NULL;
    TSRI_TRY(tsri_make_beside(&temporary, op, d, *out));
    tsr_status s = tsri_join_run(temporary, n, tensors, axis, stacked);
    if (s == TSR_OK) s = tsri_copy_run(*out, temporary);
    tsr_release(&temporary);
    return s;
}

static tsr_status concat(tsr_tensor **out, const char *op, int n, const tsr_tensor *const *tensors, int axis)
{
    int at;
    int64_t shape[TSR_MAX_NDIM];
    tsr_desc d;
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", op);
    TSRI_TRY(check_parts(op, n, tensors));
    const tsr_tensor *first = tensors[0];
    TSRI_CHECK(first->ndim > 0, TSR_ESHAPE, "%s: scalars have no dim to join along (tsr_stack)", op);
    TSRI_TRY(tsri_axis(&at, op, "axis", axis, &first->desc));
    TSRI_TRY(check_dims(op, n, tensors, at));
    for (int i = 0; i < first->ndim; i++) shape[i] = first->shape[i];
    for (int i = 1; i < n; i++)
        TSRI_CHECK(tsri_add(&shape[at], shape[at], tensors[i]->shape[at]), TSR_EOVERFLOW,
                   "%s: dim %d exceeds 2^63 - 1", op, axis);
    TSRI_TRY(tsr_desc_init(&d, first->dtype, first->ndim, shape, NULL));
    return join(out, op, &d, n, tensors, at, false);
}

static tsr_status stack(tsr_tensor **out, const char *op, int n, const tsr_tensor *const *tensors, int axis)
{
    int64_t shape[TSR_MAX_NDIM];
    tsr_desc d;
    TSRI_CHECK(out, TSR_ENULL, "%s: out is NULL", op);
    TSRI_TRY(check_parts(op, n, tensors));
    const tsr_tensor *first = tensors[0];
    TSRI_TRY(check_dims(op, n, tensors, -1));
    TSRI_CHECK(first->ndim < TSR_MAX_NDIM, TSR_EINVAL, "%s: %s has the most dims there can be", op,
               TSRI_DESC(&first->desc));
    const int at = axis < 0 ? axis + first->ndim + 1 : axis;
    TSRI_CHECK(at >= 0 && at <= first->ndim, TSR_EINDEX, "%s: axis %d of a result with %d dims", op, axis,
               (int)first->ndim + 1);
    for (int i = 0; i <= first->ndim; i++) shape[i] = i == at ? n : first->shape[i < at ? i : i - 1];
    TSRI_TRY(tsr_desc_init(&d, first->dtype, first->ndim + 1, shape, NULL));
    return join(out, op, &d, n, tensors, at, true);
}

tsr_status tsr_concat(tsr_tensor **out, int n, const tsr_tensor *const *tensors, int axis)
{
    return concat(out, "concat", n, tensors, axis);
}

tsr_status tsr_stack(tsr_tensor **out, int n, const tsr_tensor *const *tensors, int axis)
{
    return stack(out, "stack", n, tensors, axis);
}

tsr_status tsr_batch_join(tsr_tensor **out, int n, const tsr_tensor *const *tensors, bool keep_dims)
{
    return keep_dims ? concat(out, "batch_join", n, tensors, 0) : stack(out, "batch_join", n, tensors, 0);
}
