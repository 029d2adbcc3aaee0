/* elementwise.cpp - operators that work element by element.
 *
 * Broadcasting is by strides: all tensors of an operator have the shape of its result. */
#include "elementwise.h"

#include <cmath>

using namespace face;

namespace {

/* x * sigmoid(1.702 x) */
tsr_status quick_gelu(tsr_tensor **y, const tsr_tensor *x)
{
    Temp wide_x, gate;
    TSR_TRY(tsr_cast(&wide_x, x, wide(x)));
    TSR_TRY(tsr_mul(&gate, wide_x, TSR_NUMBER(1.702)));
    TSR_TRY(tsr_sigmoid(&gate, gate));
    TSR_TRY(tsr_mul(&gate, gate, wide_x));
    return tsr_copy(*y, gate);
}

/* One step of Halley's method for erf(y) = x, in f64: with r = (erf(y) - x) sqrt(pi) / 2 exp(y^2),
 * y - r / (1 + y r). Above a half, erfc(y) and 1 - x have the bits that erf(y) and x lack. */
tsr_status erfinv_step(tsr_tensor **y, const tsr_tensor *x, const tsr_tensor *tail,
                       const tsr_tensor *is_small)
{
    Temp low, high, r, slope, factor;
    TSR_TRY(tsr_erf(&low, *y));
    TSR_TRY(tsr_sub(&low, low, x));
    TSR_TRY(tsr_erfc(&high, *y));
    TSR_TRY(tsr_sub(&high, tail, high));
    TSR_TRY(tsr_where(&r, is_small, low, high));
    TSR_TRY(tsr_square(&slope, *y));
    TSR_TRY(tsr_exp(&slope, slope));
    TSR_TRY(tsr_mul(&r, r, slope));
    TSR_TRY(tsr_mul(&r, r, TSR_NUMBER(0.88622692545275801364)));
    TSR_TRY(tsr_mul(&factor, *y, r));
    TSR_TRY(tsr_add(&factor, factor, TSR_NUMBER(1)));
    TSR_TRY(tsr_div(&r, r, factor));
    return tsr_sub(y, *y, r);
}

/* |y| from Winitzki's formula, sqrt(sqrt(t^2 - l / a) - t) with l = log(1 - x^2), t = 2 / (pi a) + l / 2. */
tsr_status erfinv_guess(tsr_tensor **y, const tsr_tensor *size)
{
    const double a = 0.147, pi = 3.14159265358979323846;
    Temp l, t, root;
    TSR_TRY(tsr_mul(&l, size, size));
    TSR_TRY(tsr_neg(&l, l));
    TSR_TRY(tsr_log1p(&l, l));
    TSR_TRY(tsr_mul(&t, l, TSR_NUMBER(0.5)));
    TSR_TRY(tsr_add(&t, t, TSR_NUMBER(2 / (pi * a))));
    TSR_TRY(tsr_mul(&l, l, TSR_NUMBER(-1 / a)));
    TSR_TRY(tsr_square(&root, t));
    TSR_TRY(tsr_add(&root, root, l));
    TSR_TRY(tsr_sqrt(&root, root));
    TSR_TRY(tsr_sub(&root, root, t));
    TSR_TRY(tsr_abs(&root, root)); /* near 0 the difference may round to below it */
    return tsr_sqrt(y, root);
}

tsr_status erfinv(tsr_tensor **out, const tsr_tensor *x)
{
    Temp wide_x, size, tail, is_small, y, is_end, infinite, result;
    TSR_TRY(tsr_cast(&wide_x, x, TSR_F64));
    TSR_TRY(tsr_abs(&size, wide_x));
    TSR_TRY(erfinv_guess(&y, size));
    TSR_TRY(tsr_neg(&tail, size));
    TSR_TRY(tsr_add(&tail, tail, TSR_NUMBER(1)));
    TSR_TRY(tsr_lt(&is_small, size, TSR_NUMBER(0.5)));
    for (int i = 0; i < 3; i++) TSR_TRY(erfinv_step(&y, size, tail, is_small));
    TSR_TRY(tsr_eq(&is_end, size, TSR_NUMBER(1))); /* infinite there; the steps make NaN of it */
    TSR_TRY(tsr_full_like(&infinite, y, TSR_SCALAR(HUGE_VAL)));
    TSR_TRY(tsr_where(&result, is_end, infinite, y));
    TSR_TRY(tsr_copysign(&result, result, wide_x));
    return tsr_copy(*out, result);
}

tsr_status fill_with(tsr_tensor *t, int value) { return tsr_fill(t, TSR_SCALAR(value)); }

} // namespace

UNARY(Atanh, tsr_atanh, FLOATS)
UNARY(Erf, tsr_erf, FLOATS)
UNARY(Erfc, tsr_erfc, FLOATS)
UNARY(Erfinv, erfinv, FLOATS)
UNARY(Gelu, tsr_gelu, FLOATS)
UNARY(GeluTanh, tsr_gelu_tanh, FLOATS)
UNARY(HardSwish, tsr_hardswish, FLOATS)
UNARY(Log10, tsr_log10, FLOATS)
UNARY(Log1p, tsr_log1p, FLOATS)
UNARY(QuickGelu, quick_gelu, FLOATS)
UNARY(Reciprocal, tsr_reciprocal, FLOATS)
UNARY(Relu, tsr_relu, FLOATS)
UNARY(Sigmoid, tsr_sigmoid, FLOATS)
UNARY(Silu, tsr_silu, FLOATS)
UNARY(Tanh, tsr_tanh, FLOATS)

namespace {

tsr_status up_times_silu(tsr_tensor **c, const tsr_tensor *up, const tsr_tensor *gate)
{
    return tsr_swiglu(c, gate, up);
}

} // namespace

BINARY(Add, tsr_add, NUMBERS)
BINARY(Sub, tsr_sub, NUMBERS)
BINARY(Mul, tsr_mul, NUMBERS)
BINARY(SwiGLU, up_times_silu, FLOATS)

infiniStatus_t infiniopCreateEqualDescriptor(infiniopHandle_t handle, infiniopEqualDescriptor_t *desc_ptr,
                                             infiniopTensorDescriptor_t c, infiniopTensorDescriptor_t a,
                                             infiniopTensorDescriptor_t b)
{
    Draft draft(TAG_Equal, handle, desc_ptr, 1, { c, a, b });
    draft.dtypes(0, BYTES | set_of(INFINI_DTYPE_BOOL) | set_of(INFINI_DTYPE_I32))
        .dtypes(1, NUMBERS | BYTES | set_of(INFINI_DTYPE_BOOL))
        .one_dtype({ 1, 2 });
    /* Releases differ: one element for a whole tensor is the older operator, which asks whether all are. */
    const bool all = draft.good() && tsr_desc_numel(&draft[0]) == 1 && tsr_desc_numel(&draft[1]) != 1;
    draft.op.integer[0] = all;
    if (all) draft.scalar(0).one_shape({ 1, 2 });
    else draft.one_shape({ 0, 1, 2 });
    return draft.finish();
}

infiniStatus_t infiniopEqual(infiniopEqualDescriptor_t desc, void *, size_t, void *c, const void *a,
                             const void *b, void *stream)
{
    return run(desc, TAG_Equal, stream, { c, a, b },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Temp same, whole;
                   if (t[0]->dtype == TSR_BOOL && !op.integer[0]) return tsr_eq(&t[0], t[1], t[2]);
                   TSR_TRY(tsr_eq(&same, t[1], t[2]));
                   if (!op.integer[0]) return tsr_copy(t[0], same);
                   TSR_TRY(tsr_all(&whole, same, 0, nullptr, false));
                   return tsr_copy(t[0], whole);
               });
}

/* Fills. x is there by convention, and may as well be NULL. */
#define FILL(Name, value) \
    infiniStatus_t infiniopCreate##Name##Descriptor( \
        infiniopHandle_t handle, infiniop##Name##Descriptor_t *desc_ptr, infiniopTensorDescriptor_t y, \
        infiniopTensorDescriptor_t x) \
    { \
        return Draft(TAG_##Name, handle, desc_ptr, 1, { y, x }, 1u << 1) \
            .one_shape({ 0, 1 }) \
            .dtypes(0, (value) ? ANY & ~set_of(INFINI_DTYPE_C16) : ANY) \
            .finish(); \
    } \
    infiniStatus_t infiniop##Name(infiniop##Name##Descriptor_t desc, void *, size_t, void *y, const void *, \
                                  void *stream) \
    { \
        return run(desc, TAG_##Name, stream, { y }, \
                   [](tsr_tensor **t, const InfiniopDescriptor &) { return fill_with(t[0], value); }); \
    }

FILL(Zeros, 0)
FILL(Ones, 1)

/* With numbers ------------------------------------------------------------------------ */

infiniStatus_t infiniopCreateAddcmulDescriptor(infiniopHandle_t handle, infiniopAddcmulDescriptor_t *desc_ptr,
                                               infiniopTensorDescriptor_t out,
                                               infiniopTensorDescriptor_t input,
                                               infiniopTensorDescriptor_t t1, infiniopTensorDescriptor_t t2,
                                               float value)
{
    Draft draft(TAG_Addcmul, handle, desc_ptr, 1, { out, input, t1, t2 });
    draft.op.number[0] = value;
    return draft.all_dtypes(FLOATS).one_dtype({ 0, 1, 2, 3 }).one_shape({ 0, 1, 2, 3 }).finish();
}

infiniStatus_t infiniopAddcmul(infiniopAddcmulDescriptor_t desc, void *, size_t, void *out, const void *input,
                               const void *t1, const void *t2, void *stream)
{
    return run(desc, TAG_Addcmul, stream, { out, input, t1, t2 },
               [](tsr_tensor **t, const InfiniopDescriptor &op) {
        return tsr_addcmul(&t[0], t[1], t[2], t[3], op.number[0]);
    });
}

infiniStatus_t infiniopCreateClipDescriptor(infiniopHandle_t handle, infiniopClipDescriptor_t *desc_ptr,
                                            infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x,
                                            infiniopTensorDescriptor_t min_val,
                                            infiniopTensorDescriptor_t max_val)
{
    return Draft(TAG_Clip, handle, desc_ptr, 1, { y, x, min_val, max_val })
        .all_dtypes(NUMBERS).one_dtype({ 0, 1, 2, 3 }).one_shape({ 0, 1, 2, 3 }).finish();
}

infiniStatus_t infiniopClip(infiniopClipDescriptor_t desc, void *, size_t, void *y, const void *x,
                            const void *min_val, const void *max_val, void *stream)
{
    return run(desc, TAG_Clip, stream, { y, x, min_val, max_val },
               [](tsr_tensor **t, const InfiniopDescriptor &) { return tsr_clip(&t[0], t[1], t[2], t[3]); });
}

infiniStatus_t infiniopCreateHardTanhDescriptor(infiniopHandle_t handle,
                                                infiniopHardTanhDescriptor_t *desc_ptr,
                                                infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x,
                                                float min_val, float max_val)
{
    Draft draft(TAG_HardTanh, handle, desc_ptr, 1, { y, x });
    draft.op.number[0] = min_val;
    draft.op.number[1] = max_val;
    return draft.all_dtypes(FLOATS).one_dtype({ 0, 1 }).one_shape({ 0, 1 })
        .need(min_val <= max_val, INFINI_STATUS_BAD_PARAM).finish();
}

infiniStatus_t infiniopHardTanh(infiniopHardTanhDescriptor_t desc, void *, size_t, void *y, const void *x,
                                void *stream)
{
    return run(desc, TAG_HardTanh, stream, { y, x }, [](tsr_tensor **t, const InfiniopDescriptor &op) {
        return tsr_hardtanh(&t[0], t[1], op.number[0], op.number[1]);
    });
}

namespace face {

tsr_status softplus(tsr_tensor **out, const tsr_tensor *x, double beta, double threshold)
{
    Temp scaled, y, above;
    TSR_TRY(tsr_mul(&scaled, x, TSR_NUMBER(beta)));
    TSR_TRY(tsr_softplus(&y, scaled));
    TSR_TRY(tsr_div(&y, y, TSR_NUMBER(beta)));
    TSR_TRY(tsr_gt(&above, scaled, TSR_NUMBER(threshold)));
    return tsr_where(out, above, x, y);
}

} // namespace face

infiniStatus_t infiniopCreateSoftplusDescriptor(infiniopHandle_t handle,
                                                infiniopSoftplusDescriptor_t *desc_ptr,
                                                infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x,
                                                float beta, float threshold)
{
    Draft draft(TAG_Softplus, handle, desc_ptr, 1, { y, x });
    draft.op.number[0] = beta;
    draft.op.number[1] = threshold;
    return draft.all_dtypes(FLOATS).one_dtype({ 0, 1 }).one_shape({ 0, 1 }).finish();
}

infiniStatus_t infiniopSoftplus(infiniopSoftplusDescriptor_t desc, void *, size_t, void *y, const void *x,
                                void *stream)
{
    return run(desc, TAG_Softplus, stream, { y, x },
               [](tsr_tensor **t, const InfiniopDescriptor &op) -> tsr_status {
                   Temp x_wide, y_wide;
                   TSR_TRY(tsr_cast(&x_wide, t[1], wide(t[1])));
                   TSR_TRY(softplus(&y_wide, x_wide, op.number[0], op.number[1]));
                   return tsr_copy(t[0], y_wide);
               });
}

infiniStatus_t infiniopCreateSiluAndMulDescriptor(infiniopHandle_t handle,
                                                  infiniopSiluAndMulDescriptor_t *desc_ptr,
                                                  infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t x)
{
    Draft draft(TAG_SiluAndMul, handle, desc_ptr, 1, { y, x });
    draft.all_dtypes(FLOATS)
        .one_dtype({ 0, 1 })
        .rank(1, 1, TSR_MAX_NDIM)
        .rank(0, draft[1].ndim, draft[1].ndim);
    for (int i = 0; draft.good() && i < draft[1].ndim; i++)
        draft.need(draft[1].shape[i] == draft[0].shape[i] * (i == draft[1].ndim - 1 ? 2 : 1),
                   INFINI_STATUS_BAD_TENSOR_SHAPE);
    return draft.finish();
}

infiniStatus_t infiniopSiluAndMul(infiniopSiluAndMulDescriptor_t desc, void *, size_t, void *y, const void *x,
                                  void *stream)
{
    return run(desc, TAG_SiluAndMul, stream, { y, x }, [](tsr_tensor **t, const InfiniopDescriptor &) {
        return tsr_silu_and_mul(&t[0], t[1]);
    });
}
