/* reduce.cpp - operators that reduce dims, search or scan along one. */
#include "op.h"

#include <cmath>

using namespace face;

namespace
{

/* Dims to reduce, in integer[1..]; integer[0] is their count, 0 for all. */
Draft &take_dims(Draft &draft, int i, const size_t *dims, size_t count)
{
    draft.need(count <= (size_t)draft.dims(i) && (count == 0 || dims), INFINI_STATUS_BAD_PARAM);
    for (size_t k = 0; draft.good() && k < count; k++) {
        draft.need(dims[k] < (size_t)draft.dims(i), INFINI_STATUS_BAD_PARAM);
        for (size_t j = 0; j < k; j++) draft.need(dims[j] != dims[k], INFINI_STATUS_BAD_PARAM);
        if (draft.good()) draft.op.integer[1 + k] = (int64_t)dims[k];
    }
    draft.op.integer[0] = (int64_t)count;
    return draft;
}

struct Axes {
    explicit Axes(const InfiniopDescriptor &op) : count((int)op.integer[0])
    {
        for (int i = 0; i < count; i++) axis[i] = (int)op.integer[1 + i];
    }
    int count, axis[TSR_MAX_NDIM];
};

/* What is left of tensor i when the dims are gone; result's shape may keep them as 1. */
Draft &reduced_shape(Draft &draft, int result, int i, bool keep)
{
    if (!draft.good()) return draft;
    tsr_desc left = draft[i];
    left.ndim = 0;
    for (int d = 0; d < draft[i].ndim; d++) {
        bool gone = draft.op.integer[0] == 0;
        for (int64_t k = 0; k < draft.op.integer[0]; k++) gone = gone || draft.op.integer[1 + k] == d;
        if (!gone || keep) left.shape[left.ndim++] = gone ? 1 : draft[i].shape[d];
    }
    if (tsr_desc_numel(&left) == 1 && tsr_desc_numel(&draft[result]) == 1) return draft;
    return draft.need(tsr_desc_same_shape(&left, &draft[result]), INFINI_STATUS_BAD_TENSOR_SHAPE);
}

/* The elements of src, in order, where out has as many. */
tsr_status copy_reshaped(tsr_tensor *out, const tsr_tensor *src)
{
    View same;
    TSR_TRY(tsr_view(&same, src, out->ndim, out->shape));
    return tsr_copy(out, same);
}

using Reduction = tsr_status (*)(tsr_tensor **, const tsr_tensor *, int, const int *, bool);

tsr_status reduce(tsr_tensor *out, const tsr_tensor *x, const InfiniopDescriptor &op, Reduction function)
{
    const Axes axes(op);
    Temp wide_x, result;
    TSR_TRY(tsr_cast(&wide_x, x, x->dtype == TSR_BOOL || x->dtype == TSR_U8 ? x->dtype : wide(x)));
    TSR_TRY(function(&result, wide_x, axes.count, axes.axis, false));
    return copy_reshaped(out, result);
}

tsr_status reduce_moment(tsr_tensor *out, const tsr_tensor *x, const InfiniopDescriptor &op)
{
    const Axes axes(op);
    Temp wide_x, result;
    TSR_TRY(tsr_cast(&wide_x, x, wide(x)));
    TSR_TRY(tsr_var(&result, wide_x, axes.count, axes.axis, false, op.number[0]));
    return copy_reshaped(out, result);
}

} // namespace

infiniStatus_t infiniopCreateSumDescriptor(Handle handle, Desc *out, T y, T x, size_t *dim, size_t count,
                                           bool keep)
{
    Draft draft(TAG_Sum, handle, out, 1, { y, x });
    take_dims(draft.all_dtypes(FLOATS).one_dtype({ 0, 1 }), 1, dim, count);
    return reduced_shape(draft, 0, 1, keep).finish();
}

infiniStatus_t infiniopSum(Desc desc, P, size_t, P y, C x, size_t *, size_t, bool, P stream)
{
    return run(desc, TAG_Sum, stream, { y, x }, [](tsr_tensor **t, const InfiniopDescriptor &op) {
        return reduce(t[0], t[1], op, tsr_sum);
    });
}

infiniStatus_t infiniopCreateAllDescriptor(Handle handle, Desc *out, T y, T x, size_t *dim, size_t count,
                                           bool keep)
{
    const Dtypes truths = set_of(INFINI_DTYPE_BOOL) | set_of(INFINI_DTYPE_U8);
    Draft draft(TAG_All, handle, out, 1, { y, x });
    take_dims(draft.dtypes(0, truths).dtypes(1, truths | FLOATS), 1, dim, count);
    return reduced_shape(draft, 0, 1, keep).finish();
}

infiniStatus_t infiniopAll(Desc desc, P, size_t, P y, C x, size_t *, size_t, bool, P stream)
{
    return run(desc, TAG_All, stream, { y, x }, [](tsr_tensor **t, const InfiniopDescriptor &op) {
        return reduce(t[0], t[1], op, tsr_all);
    });
}

infiniStatus_t infiniopCreateVarDescriptor(Handle handle, Desc *out, T y, T x, size_t *dim, size_t count,
                                           bool unbiased, bool keep)
{
    Draft draft(TAG_Var, handle, out, 1, { y, x });
    draft.op.number[0] = unbiased;
    take_dims(draft.all_dtypes(FLOATS).one_dtype({ 0, 1 }), 1, dim, count);
    return reduced_shape(draft, 0, 1, keep).finish();
}

infiniStatus_t infiniopVar(Desc desc, P, size_t, P y, C x, size_t *, size_t, bool, bool, P stream)
{
    return run(desc, TAG_Var, stream, { y, x },
               [](tsr_tensor **t, const InfiniopDescriptor &op) { return reduce_moment(t[0], t[1], op); });
}

infiniStatus_t infiniopCreateVarMeanDescriptor(Handle handle, Desc *out, T var, T mean, T x, size_t *dim,
                                               size_t count, bool unbiased, bool keep)
{
    Draft draft(TAG_VarMean, handle, out, 2, { var, mean, x });
    draft.op.number[0] = unbiased;
    take_dims(draft.all_dtypes(FLOATS).one_dtype({ 0, 1, 2 }), 2, dim, count);
    return reduced_shape(reduced_shape(draft, 0, 2, keep), 1, 2, keep).finish();
}

infiniStatus_t infiniopVarMean(Desc desc, P, size_t, P var, P mean, C x, size_t *, size_t, bool, bool,
                               P stream)
{
    return run(desc, TAG_VarMean, stream, { var, mean, x },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   TSR_TRY(reduce_moment(t[0], t[2], op));
                   return reduce(t[1], t[2], op, tsr_mean);
               });
}

/* The p-norm of all differences. */
infiniStatus_t infiniopCreateDistDescriptor(Handle handle, Desc *out, T y, T x1, T x2, double p)
{
    Draft draft(TAG_Dist, handle, out, 1, { y, x1, x2 });
    draft.op.number[0] = p;
    return draft.all_dtypes(FLOATS)
        .one_dtype({ 0, 1, 2 })
        .one_shape({ 1, 2 })
        .scalar(0)
        .need(p >= 0, INFINI_STATUS_BAD_PARAM)
        .finish();
}

infiniStatus_t infiniopDist(Desc desc, P, size_t, P y, C x1, C x2, P stream)
{
    return run(desc, TAG_Dist, stream, { y, x1, x2 },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Temp a, b, distance;
                   TSR_TRY(tsr_cast(&a, t[1], wide(t[1])));
                   TSR_TRY(tsr_cast(&b, t[2], wide(t[1])));
                   TSR_TRY(tsr_sub(&a, a, b));
                   TSR_TRY(tsr_norm(&distance, a, 0, nullptr, false, op.number[0]));
                   return tsr_copy(t[0], distance);
               });
}

infiniStatus_t infiniopCreateKthvalueDescriptor(Handle handle, Desc *out, T values, T indices, T x, int k,
                                                int dim, int keep)
{
    Draft draft(TAG_Kthvalue, handle, out, 2, { values, indices, x });
    draft.dtypes(0, NUMBERS)
        .one_dtype({ 0, 2 })
        .dtypes(1, INTEGERS)
        .axis(2, dim)
        .need(k >= 1 && k <= draft.dim(2, dim), INFINI_STATUS_BAD_PARAM);
    const size_t axis = (size_t)(dim < 0 ? dim + draft.dims(2) : dim);
    take_dims(draft, 2, &axis, 1);
    draft.op.integer[2] = k;
    return reduced_shape(reduced_shape(draft, 0, 2, keep), 1, 2, keep).finish();
}

infiniStatus_t infiniopKthvalue(Desc desc, P, size_t, P values, P indices, C x, P stream)
{
    return run(desc, TAG_Kthvalue, stream, { values, indices, x },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Temp value, place;
                   TSR_TRY(tsr_kthvalue(&value, &place, t[2], op.integer[2], (int)op.integer[1], false));
                   TSR_TRY(copy_reshaped(t[0], value));
                   return copy_reshaped(t[1], place);
               });
}

infiniStatus_t infiniopCreateTopKDescriptor(Handle handle, Desc *out, T values, T indices, T x, size_t k,
                                            size_t dim, bool largest, bool sorted)
{
    Draft draft(TAG_TopK, handle, out, 2, { values, indices, x });
    draft.dtypes(0, NUMBERS)
        .one_dtype({ 0, 2 })
        .dtypes(1, INTEGERS)
        .one_shape({ 0, 1 })
        .need(dim < (size_t)draft.dims(2), INFINI_STATUS_BAD_PARAM)
        .need(k <= (size_t)draft.dim(2, (int)dim), INFINI_STATUS_BAD_PARAM);
    if (!draft.good()) return draft.finish();
    draft.op.integer[0] = (int64_t)k;
    draft.op.integer[1] = (int64_t)dim;
    draft.op.integer[2] = largest;
    draft.op.integer[3] = sorted;
    tsr_desc kept = draft[2];
    kept.shape[dim] = (int64_t)k;
    return draft.need(tsr_desc_same_shape(&kept, &draft[0]), INFINI_STATUS_BAD_TENSOR_SHAPE).finish();
}

infiniStatus_t infiniopTopK(Desc desc, P, size_t, P values, P indices, C x, size_t, size_t, bool, bool,
                            P stream)
{
    return run(desc, TAG_TopK, stream, { values, indices, x },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Temp value, place;
                   TSR_TRY(tsr_topk(&value, &place, t[2], op.integer[0], (int)op.integer[1], op.integer[2],
                                    op.integer[3]));
                   TSR_TRY(tsr_copy(t[0], value));
                   return tsr_copy(t[1], place);
               });
}

infiniStatus_t infiniopCreateLogCumSumExpDescriptor(Handle handle, Desc *out, T y, T x, int axis,
                                                    int exclusive, int reverse)
{
    Draft draft(TAG_LogCumSumExp, handle, out, 1, { y, x });
    draft.op.integer[0] = axis < 0 ? axis + draft.dims(1) : axis;
    draft.op.integer[1] = exclusive;
    draft.op.integer[2] = reverse;
    return draft.all_dtypes(FLOATS).one_dtype({ 0, 1 }).one_shape({ 0, 1 }).axis(1, axis).finish();
}

namespace
{

/* y[i] = log(sum of exp(x[j]), j <= i), one index after the other. Exclusive: j < i. */
tsr_status log_cum_sum_exp(tsr_tensor **t, const InfiniopDescriptor &op)
{
    const int axis = (int)op.integer[0];
    const int64_t n = t[1]->shape[axis];
    Temp so_far;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = op.integer[2] ? n - 1 - i : i;
        View x, y;
        Temp wide_x;
        TSR_TRY(tsr_select(&x, t[1], axis, at));
        TSR_TRY(tsr_select(&y, t[0], axis, at));
        TSR_TRY(tsr_cast(&wide_x, x, TSR_F64));
        if (i == 0) TSR_TRY(tsr_full_like(&so_far, wide_x, TSR_SCALAR(-HUGE_VAL)));
        if (op.integer[1]) TSR_TRY(tsr_copy(y, so_far));
        TSR_TRY(tsr_logaddexp(&so_far, so_far, wide_x));
        if (!op.integer[1]) TSR_TRY(tsr_copy(y, so_far));
    }
    return TSR_OK;
}

} // namespace

infiniStatus_t infiniopLogCumSumExp(Desc desc, P, size_t, P y, C x, P stream)
{
    return run(desc, TAG_LogCumSumExp, stream, { y, x }, log_cum_sum_exp);
}

/* log of the determinant; NaN where that is negative. */
infiniStatus_t infiniopCreateLogdetDescriptor(Handle handle, Desc *out, T y, T x)
{
    const Dtypes long_floats = set_of(INFINI_DTYPE_F32) | set_of(INFINI_DTYPE_F64);
    Draft draft(TAG_Logdet, handle, out, 1, { y, x });
    return draft.all_dtypes(long_floats)
        .one_dtype({ 0, 1 })
        .rank(1, 2, 2)
        .need(draft.dim(1, 0) == draft.dim(1, 1), INFINI_STATUS_BAD_TENSOR_SHAPE)
        .scalar(0)
        .finish();
}

infiniStatus_t infiniopLogdet(Desc desc, P, size_t, P y, C x, P stream)
{
    return run(desc, TAG_Logdet, stream, { y, x },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
                   Temp sign, size, negative, none;
                   TSR_TRY(tsr_slogdet(&sign, &size, t[1]));
                   TSR_TRY(tsr_lt(&negative, sign, TSR_NUMBER(0)));
                   TSR_TRY(tsr_full_like(&none, size, TSR_SCALAR((double)NAN)));
                   return tsr_where(&t[0], negative, none, size);
               });
}

/* Sums of products along the last axes. */
infiniStatus_t infiniopCreateInnerDescriptor(Handle handle, Desc *out, T y, T a, T b)
{
    Draft draft(TAG_Inner, handle, out, 1, { y, a, b });
    draft.all_dtypes(FLOATS)
        .one_dtype({ 0, 1, 2 })
        .rank(1, 1, TSR_MAX_NDIM / 2)
        .rank(2, 1, TSR_MAX_NDIM / 2)
        .need(draft.dim(1, -1) == draft.dim(2, -1), INFINI_STATUS_BAD_TENSOR_SHAPE);
    if (!draft.good()) return draft.finish();
    const int na = draft[1].ndim - 1, nb = draft[2].ndim - 1;
    if (na + nb == 0) return draft.scalar(0).finish();
    draft.rank(0, na + nb, na + nb);
    for (int i = 0; draft.good() && i < na + nb; i++)
        draft.need(draft[0].shape[i] == (i < na ? draft[1].shape[i] : draft[2].shape[i - na]),
                   INFINI_STATUS_BAD_TENSOR_SHAPE);
    return draft.finish();
}

infiniStatus_t infiniopInner(Desc desc, P, size_t, P y, C a, C b, P stream)
{
    return run(desc, TAG_Inner, stream, { y, a, b },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
                   const int64_t k = t[1]->shape[t[1]->ndim - 1], rows[2] = { -1, k };
                   Temp x, w, product;
                   if (tsr_numel(t[0]) == 0) return TSR_OK;
                   if (k == 0) return tsr_zero(t[0]);
                   TSR_TRY(tsr_reshape(&x, t[1], 2, rows));
                   TSR_TRY(tsr_reshape(&w, t[2], 2, rows));
                   TSR_TRY(tsr_linear(&product, x, w, nullptr));
                   return copy_reshaped(t[0], product);
               });
}
