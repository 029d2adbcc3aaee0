/* desc.h - dtype, shape and strides as a plain value.
 *
 * A tsr_desc owns nothing and points at nothing: copy it, return it, put it in
 * an array. Strides count elements and are signed: 0 repeats one element along
 * its dim (a broadcast dim), a negative one walks backwards. The element at
 * index (i, j, ...) lies i * stride[0] + j * stride[1] + ... elements from
 * element (0, 0, ...), which is what `data` of a tensor points at.
 *
 *     tsr_desc d;
 *     tsr_desc_init(&d, TSR_F32, 2, (int64_t[]){ 3, 4 }, NULL);  // f32(3, 4 | 4, 1)
 *
 * Rules for the whole header:
 *
 *   - Rank 0 is a scalar with one element. A dim of size 0 is legal; the desc
 *     then has no elements and counts as contiguous.
 *   - The stride of a dim of size 1 never matters and may be anything.
 *   - Negative axes, indices and slice bounds count from the end.
 *   - Functions that make a desc check their input and leave `out` alone when
 *     they fail; `out` may be the input itself.
 *   - Queries return 0, false or -1 for NULL or an invalid desc.
 */
#ifndef TESSERA_DESC_H
#define TESSERA_DESC_H

#include "dtype.h"

#ifdef __cplusplus
#include <initializer_list>
#endif

TSR_BEGIN_C

typedef struct tsr_desc {
    tsr_dtype dtype;
    int32_t   ndim;
    int64_t   shape[TSR_MAX_NDIM];  /* the first ndim count; the rest is junk */
    int64_t   stride[TSR_MAX_NDIM]; /* elements */
} tsr_desc;

/* A shape (or index, or axis sizes) written in place, as two arguments: the
 * count and the numbers.  tsr_zeros(&t, TSR_F32, TSR_SHAPE(2, 3))  */
#ifdef __cplusplus
#define TSR_LIST_(T, ...) \
    (int)std::initializer_list<T>{ __VA_ARGS__ }.size(), std::initializer_list<T>{ __VA_ARGS__ }.begin()
#else
#define TSR_LIST_(T, ...) (int)(sizeof((T[]){ __VA_ARGS__ }) / sizeof(T)), (T[]){ __VA_ARGS__ }
#endif
#define TSR_SHAPE(...) TSR_LIST_(int64_t, __VA_ARGS__)
#define TSR_INDEX(...) TSR_LIST_(int64_t, __VA_ARGS__)

/* The same for axes, which are ints:  tsr_permute(&v, t, TSR_AXES(1, 0))  */
#define TSR_AXES(...) TSR_LIST_(int, __VA_ARGS__)

/* The shape of a scalar. */
#define TSR_SCALAR_SHAPE 0, NULL

/* A slice bound left out, as in Python's x[:3] or x[::-1]. */
#define TSR_NONE INT64_MIN

/* Making and checking ------------------------------------------------------ */

/* stride NULL: row-major and packed, computed with max(size, 1).
 *
 * TSR_ENULL      shape is NULL and ndim is not 0
 * TSR_EINVAL     ndim is outside 0 .. TSR_MAX_NDIM
 * TSR_EDTYPE     no such dtype
 * TSR_ESHAPE     a dim is negative
 * TSR_EOVERFLOW  the number of elements, their bytes, the packed strides, or the
 *                span that the strides reach over exceeds 2^63 - 1 */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_init(tsr_desc *out, tsr_dtype dtype, int ndim,
                                                const int64_t *shape, const int64_t *stride);

/* The same, row-major and packed, as a value; not checked: the call that takes it does that. */
static inline tsr_desc tsr_desc_packed(tsr_dtype dtype, int ndim, const int64_t *shape)
{
    tsr_desc d;
    uint64_t step = 1;
    d.dtype = dtype;
    d.ndim = ndim;
    for (int i = (ndim < TSR_MAX_NDIM ? ndim : TSR_MAX_NDIM) - 1; i >= 0; i--) {
        d.shape[i] = shape[i];
        d.stride[i] = (int64_t)step;
        step *= shape[i] > 1 ? (uint64_t)shape[i] : 1;
    }
    return d;
}

/* A pointer to one, written in place:  tsr_wrap(&t, memory, TSR_DESC(TSR_F32, 2, 3)). In C. */
#define TSR_DESC(dtype, ...) (const tsr_desc[]){ tsr_desc_packed((dtype), TSR_SHAPE(__VA_ARGS__)) }

/* Column-major ("Fortran") and packed. Same failures. */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_init_column_major(tsr_desc *out, tsr_dtype dtype, int ndim,
                                                             const int64_t *shape);

/* Is this a desc that tsr_desc_init could have made? Same failures. */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_check(const tsr_desc *d);

/* Asking ------------------------------------------------------------------- */

TSR_API int64_t tsr_desc_numel(const tsr_desc *d);  /* elements */
TSR_API int64_t tsr_desc_bytes(const tsr_desc *d);  /* numel * size of one, as if packed */

/* The bytes that the strides reach over: from the lowest byte any element
 * touches, lo <= 0, to one past the highest, hi, both counted from element
 * (0, 0, ...). hi - lo is the smallest storage that fits. Both 0 when there are
 * no elements. Returns hi - lo. lo and hi may be NULL. */
TSR_API int64_t tsr_desc_span(const tsr_desc *d, int64_t *lo, int64_t *hi);

TSR_API bool tsr_desc_is_contiguous(const tsr_desc *d);     /* row-major and packed */
TSR_API bool tsr_desc_is_column_major(const tsr_desc *d);   /* column-major and packed */

/* Do dims from .. to - 1 lie row-major and packed among themselves? */
TSR_API bool tsr_desc_is_contiguous_range(const tsr_desc *d, int from, int to);

/* Is every element's address its own, and are there no gaps: is it a permuted
 * (perhaps flipped) packed tensor? */
TSR_API bool tsr_desc_is_dense(const tsr_desc *d);

/* Is dim `axis` longer than 1 with stride 0? Is any? */
TSR_API bool tsr_desc_is_broadcast_dim(const tsr_desc *d, int axis);
TSR_API bool tsr_desc_has_broadcast(const tsr_desc *d);

/* Are dims axis and axis + 1 contiguous, so that one dim can stand for both? */
TSR_API bool tsr_desc_can_merge(const tsr_desc *d, int axis);

/* Do two indices reach the same byte? Exact, except that a search that would
 * take too long gives true (overlap.c says when). */
TSR_API bool tsr_desc_self_overlaps(const tsr_desc *d);

/* Same rank and sizes? */
TSR_API bool tsr_desc_same_shape(const tsr_desc *a, const tsr_desc *b);

/* Same dtype, shape and strides, strides of dims of size 1 and of empty descs
 * not counted. */
TSR_API bool tsr_desc_same(const tsr_desc *a, const tsr_desc *b);

/* Can a be matrix-multiplied with b: do the last dim of a and the second last
 * of b (the only one, if b is 1-D) agree, and do the batch dims broadcast?
 * TSR_ESHAPE with words if not. */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_matmul_check(const tsr_desc *a, const tsr_desc *b);

/* Size of one dim. TSR_EINDEX if there is no such axis. */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_dim(int64_t *out, const tsr_desc *d, int axis);

/* Where an index lies, in elements from element (0, 0, ...). n may be less than
 * ndim (the rest are 0). TSR_EINDEX if an index is outside its dim. */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_offset(int64_t *out, const tsr_desc *d, int n,
                                                  const int64_t *index);

/* "f32(3, 4 | 4, 1)", cut short to fit `size` bytes with the closing 0. Returns
 * the length it would have, as snprintf does. */
TSR_API size_t tsr_desc_to_string(char *out, size_t size, const tsr_desc *d);

/* Shape arithmetic --------------------------------------------------------- */

/* The shape n shapes broadcast to, by NumPy's rule: aligned at the right, each
 * dim equal or 1. Writes *ndim and shape[0 .. *ndim - 1]. TSR_ESHAPE names the
 * operands and dims that disagree. */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_broadcast(int *ndim, int64_t shape[TSR_MAX_NDIM], int n,
                                                     const tsr_desc *const *descs);

/* Views as desc arithmetic -------------------------------------------------
 *
 * Each makes the desc of a view, and where the view starts somewhere else
 * `offset` receives how far, in elements. offset may be NULL. The tensor forms
 * in view.h do the same to tensors; the contracts are there. */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_view(tsr_desc *out, const tsr_desc *d, int ndim,
                                                const int64_t *shape);
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_slice(tsr_desc *out, int64_t *offset, const tsr_desc *d, int axis,
                                                 int64_t start, int64_t stop, int64_t step);
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_select(tsr_desc *out, int64_t *offset, const tsr_desc *d, int axis,
                                                  int64_t index);
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_permute(tsr_desc *out, const tsr_desc *d, int n, const int *axes);
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_transpose(tsr_desc *out, const tsr_desc *d, int a, int b);
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_move_axis(tsr_desc *out, const tsr_desc *d, int from, int to);
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_expand(tsr_desc *out, const tsr_desc *d, int ndim,
                                                  const int64_t *shape);
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_squeeze(tsr_desc *out, const tsr_desc *d, int axis);
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_squeeze_all(tsr_desc *out, const tsr_desc *d);
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_unsqueeze(tsr_desc *out, const tsr_desc *d, int axis);
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_flip(tsr_desc *out, int64_t *offset, const tsr_desc *d, int n,
                                                const int *axes);
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_diagonal(tsr_desc *out, int64_t *offset, const tsr_desc *d,
                                                    int64_t k, int a, int b);
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_unfold(tsr_desc *out, const tsr_desc *d, int axis, int64_t size,
                                                  int64_t step);
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_merge(tsr_desc *out, const tsr_desc *d, int axis, int count);
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_split(tsr_desc *out, const tsr_desc *d, int axis, int n,
                                                 const int64_t *sizes);
/* The offset of imag is in elements of the part's dtype; element (0,...,0) of a
 * bit view keeps its address. */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_real(tsr_desc *out, const tsr_desc *d);
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_imag(tsr_desc *out, int64_t *offset, const tsr_desc *d);
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_bit_view(tsr_desc *out, const tsr_desc *d, tsr_dtype dtype);

/* The same shape and order of dims in memory, packed: what clone and the _like
 * factories make. Broadcast dims become real ones, flipped dims run forwards. */
TSR_API TSR_MUST_CHECK tsr_status tsr_desc_packed_like(tsr_desc *out, const tsr_desc *d, tsr_dtype dtype);

TSR_END_C

#endif
