/* blas.cpp - products and sums of vectors, as BLAS names them. */
#include "op.h"

#include <cmath>

using namespace face;

/* Results are the first tensors of a descriptor, whatever place they have in the call. */

namespace {

/* Two vectors and a scalar, of one floating dtype. */
infiniStatus_t create_dot(Tag tag, infiniopHandle_t handle, InfiniopDescriptor **out,
                          infiniopTensorDescriptor_t result, infiniopTensorDescriptor_t a,
                          infiniopTensorDescriptor_t b)
{
    return Draft(tag, handle, out, 1, { result, a, b })
        .all_dtypes(FLOATS).one_dtype({ 0, 1, 2 }).rank(1, 1, 1).one_shape({ 1, 2 }).scalar(0).finish();
}

infiniStatus_t run_dot(const InfiniopDescriptor *desc, Tag tag, void *result, const void *a, const void *b,
                       void *stream)
{
    return run(desc, tag, stream, { result, a, b }, [](tsr_tensor **t, const InfiniopDescriptor &) {
        return tsr_dot(&t[0], t[1], t[2]);
    });
}

/* A vector's norm, as a scalar of its dtype. */
infiniStatus_t create_norm(Tag tag, infiniopHandle_t handle, InfiniopDescriptor **out,
                           infiniopTensorDescriptor_t x, infiniopTensorDescriptor_t result)
{
    return Draft(tag, handle, out, 1, { result, x })
        .all_dtypes(FLOATS).one_dtype({ 0, 1 }).rank(1, 1, 1).scalar(0).finish();
}

infiniStatus_t run_norm(const InfiniopDescriptor *desc, Tag tag, const void *x, void *result, void *stream,
                        double p)
{
    return run(desc, tag, stream, { result, x }, [p](tsr_tensor **t, const InfiniopDescriptor &) {
        return tsr_norm(&t[0], t[1], 0, nullptr, false, p);
    });
}

/* The place of the largest or smallest |x|, counted from 1. */
infiniStatus_t create_place(Tag tag, infiniopHandle_t handle, InfiniopDescriptor **out,
                            infiniopTensorDescriptor_t x, infiniopTensorDescriptor_t result)
{
    Draft draft(tag, handle, out, 1, { result, x });
    return draft.dtypes(0, INTEGERS).dtypes(1, FLOATS).rank(1, 1, 1).scalar(0)
        .need(draft.dim(1, 0) > 0, INFINI_STATUS_BAD_TENSOR_SHAPE).finish();
}

infiniStatus_t run_place(const InfiniopDescriptor *desc, Tag tag, const void *x, void *result, void *stream,
                         tsr_status (*choose)(tsr_tensor **, const tsr_tensor *, int, bool))
{
    return run(desc, tag, stream, { result, x },
               [choose](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
        Temp size, place;
        TSR_TRY(tsr_abs(&size, t[1]));
        TSR_TRY(choose(&place, size, 0, false));
        TSR_TRY(tsr_add(&place, place, TSR_NUMBER(1)));
        return tsr_copy(t[0], place);
    });
}

/* Numbers of the operand, on the host. */
tsr_status read_numbers(double *out, int n, tsr_tensor *const *t)
{
    for (int i = 0; i < n; i++) {
        Temp host;
        TSR_TRY(tsr_to(&host, t[i], TSR_CPU));
        TSR_TRY(tsr_item_f64(&out[i], host));
    }
    return TSR_OK;
}

} // namespace

infiniStatus_t infiniopCreateDotDescriptor(infiniopHandle_t handle, infiniopDotDescriptor_t *desc_ptr,
                                           infiniopTensorDescriptor_t y, infiniopTensorDescriptor_t a,
                                           infiniopTensorDescriptor_t b)
{
    return create_dot(TAG_Dot, handle, desc_ptr, y, a, b);
}

infiniStatus_t infiniopDot(infiniopDotDescriptor_t desc, void *, size_t, void *y, const void *a,
                           const void *b, void *stream)
{
    return run_dot(desc, TAG_Dot, y, a, b, stream);
}

infiniStatus_t infiniopCreateBlasDotDescriptor(infiniopHandle_t handle, infiniopBlasDotDescriptor_t *desc_ptr,
                                               infiniopTensorDescriptor_t x, infiniopTensorDescriptor_t y,
                                               infiniopTensorDescriptor_t result)
{
    return create_dot(TAG_BlasDot, handle, desc_ptr, result, x, y);
}

infiniStatus_t infiniopBlasDot(infiniopBlasDotDescriptor_t desc, void *, size_t, const void *x, const void *y,
                               void *result, void *stream)
{
    return run_dot(desc, TAG_BlasDot, result, x, y, stream);
}

infiniStatus_t infiniopCreateAsumDescriptor(infiniopHandle_t handle, infiniopAsumDescriptor_t *desc_ptr,
                                            infiniopTensorDescriptor_t x, infiniopTensorDescriptor_t result)
{
    return create_norm(TAG_Asum, handle, desc_ptr, x, result);
}

infiniStatus_t infiniopAsum(infiniopAsumDescriptor_t desc, void *, size_t, const void *x, void *result,
                            void *stream)
{
    return run_norm(desc, TAG_Asum, x, result, stream, 1);
}

infiniStatus_t infiniopCreateNrm2Descriptor(infiniopHandle_t handle, infiniopNrm2Descriptor_t *desc_ptr,
                                            infiniopTensorDescriptor_t x, infiniopTensorDescriptor_t result)
{
    return create_norm(TAG_Nrm2, handle, desc_ptr, x, result);
}

infiniStatus_t infiniopNrm2(infiniopNrm2Descriptor_t desc, void *, size_t, const void *x, void *result,
                            void *stream)
{
    return run_norm(desc, TAG_Nrm2, x, result, stream, 2);
}

infiniStatus_t infiniopCreateBlasAmaxDescriptor(infiniopHandle_t handle,
                                                infiniopBlasAmaxDescriptor_t *desc_ptr,
                                                infiniopTensorDescriptor_t x,
                                                infiniopTensorDescriptor_t result)
{
    return create_place(TAG_BlasAmax, handle, desc_ptr, x, result);
}

infiniStatus_t infiniopBlasAmax(infiniopBlasAmaxDescriptor_t desc, void *, size_t, const void *x,
                                void *result, void *stream)
{
    return run_place(desc, TAG_BlasAmax, x, result, stream, tsr_argmax);
}

infiniStatus_t infiniopCreateBlasAminDescriptor(infiniopHandle_t handle,
                                                infiniopBlasAminDescriptor_t *desc_ptr,
                                                infiniopTensorDescriptor_t x,
                                                infiniopTensorDescriptor_t result)
{
    return create_place(TAG_BlasAmin, handle, desc_ptr, x, result);
}

infiniStatus_t infiniopBlasAmin(infiniopBlasAminDescriptor_t desc, void *, size_t, const void *x,
                                void *result, void *stream)
{
    return run_place(desc, TAG_BlasAmin, x, result, stream, tsr_argmin);
}

/* In place -------------------------------------------------------------------------------- */

infiniStatus_t infiniopCreateAxpyDescriptor(infiniopHandle_t handle, infiniopAxpyDescriptor_t *desc_ptr,
                                            infiniopTensorDescriptor_t alpha, infiniopTensorDescriptor_t x,
                                            infiniopTensorDescriptor_t y)
{
    return Draft(TAG_Axpy, handle, desc_ptr, 1, { y, alpha, x })
        .all_dtypes(NUMBERS).one_dtype({ 0, 1, 2 }).one_shape({ 0, 2 }).scalar(1).finish();
}

infiniStatus_t infiniopAxpy(infiniopAxpyDescriptor_t desc, void *, size_t, const void *alpha, const void *x,
                            void *y, void *stream)
{
    return run(desc, TAG_Axpy, stream, { y, alpha, x }, [](tsr_tensor **t, const InfiniopDescriptor &) {
        return tsr_fma(&t[0], t[2], t[1], t[0]);
    });
}

infiniStatus_t infiniopCreateScalDescriptor(infiniopHandle_t handle, infiniopScalDescriptor_t *desc_ptr,
                                            infiniopTensorDescriptor_t alpha, infiniopTensorDescriptor_t x)
{
    return Draft(TAG_Scal, handle, desc_ptr, 1, { x, alpha })
        .all_dtypes(NUMBERS).one_dtype({ 0, 1 }).scalar(1).finish();
}

infiniStatus_t infiniopScal(infiniopScalDescriptor_t desc, void *, size_t, const void *alpha, void *x,
                            void *stream)
{
    return run(desc, TAG_Scal, stream, { x, alpha }, [](tsr_tensor **t, const InfiniopDescriptor &) {
        return tsr_mul(&t[0], t[0], t[1]);
    });
}

infiniStatus_t infiniopCreateBlasCopyDescriptor(infiniopHandle_t handle,
                                                infiniopBlasCopyDescriptor_t *desc_ptr,
                                                infiniopTensorDescriptor_t x, infiniopTensorDescriptor_t y)
{
    return Draft(TAG_BlasCopy, handle, desc_ptr, 1, { y, x })
        .one_dtype({ 0, 1 })
        .one_shape({ 0, 1 })
        .finish();
}

infiniStatus_t infiniopBlasCopy(infiniopBlasCopyDescriptor_t desc, void *, size_t, const void *x, void *y,
                                void *stream)
{
    return run(desc, TAG_BlasCopy, stream, { y, x }, [](tsr_tensor **t, const InfiniopDescriptor &) {
        return tsr_rearrange(&t[0], t[1]);
    });
}

infiniStatus_t infiniopCreateSwapDescriptor(infiniopHandle_t handle, infiniopSwapDescriptor_t *desc_ptr,
                                            infiniopTensorDescriptor_t x, infiniopTensorDescriptor_t y)
{
    return Draft(TAG_Swap, handle, desc_ptr, 2, { x, y }).one_dtype({ 0, 1 }).one_shape({ 0, 1 }).finish();
}

infiniStatus_t infiniopSwap(infiniopSwapDescriptor_t desc, void *, size_t, void *x, void *y, void *stream)
{
    return run(desc, TAG_Swap, stream, { x, y },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
                   Temp before;
                   TSR_TRY(tsr_clone(&before, t[0]));
                   TSR_TRY(tsr_copy(t[0], t[1]));
                   return tsr_copy(t[1], before);
               });
}

/* Rotations ------------------------------------------------------------------------------- */

namespace {

/* (x, y) = (a x + b y, c x + d y), in f64, rounded once. */
tsr_status rotate(tsr_tensor *x, tsr_tensor *y, double a, double b, double c, double d)
{
    Temp x0, y0, x1, y1, part;
    TSR_TRY(tsr_cast(&x0, x, TSR_F64));
    TSR_TRY(tsr_cast(&y0, y, TSR_F64));
    TSR_TRY(tsr_mul(&x1, x0, TSR_NUMBER(a)));
    TSR_TRY(tsr_mul(&part, y0, TSR_NUMBER(b)));
    TSR_TRY(tsr_add(&x1, x1, part));
    TSR_TRY(tsr_mul(&y1, x0, TSR_NUMBER(c)));
    TSR_TRY(tsr_mul(&part, y0, TSR_NUMBER(d)));
    TSR_TRY(tsr_add(&y1, y1, part));
    TSR_TRY(tsr_copy(x, x1));
    return tsr_copy(y, y1);
}

} // namespace

infiniStatus_t infiniopCreateRotDescriptor(infiniopHandle_t handle, infiniopRotDescriptor_t *desc_ptr,
                                           infiniopTensorDescriptor_t x, infiniopTensorDescriptor_t y,
                                           infiniopTensorDescriptor_t c, infiniopTensorDescriptor_t s)
{
    return Draft(TAG_Rot, handle, desc_ptr, 2, { x, y, c, s })
        .all_dtypes(FLOATS).one_dtype({ 0, 1, 2, 3 }).one_shape({ 0, 1 }).scalar(2).scalar(3).finish();
}

infiniStatus_t infiniopRot(infiniopRotDescriptor_t desc, void *, size_t, void *x, void *y, const void *c,
                           const void *s, void *stream)
{
    return run(desc, TAG_Rot, stream, { x, y, c, s },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
                   double cs[2];
                   TSR_TRY(read_numbers(cs, 2, t + 2));
                   return rotate(t[0], t[1], cs[0], cs[1], -cs[1], cs[0]);
               });
}

infiniStatus_t infiniopCreateRotgDescriptor(infiniopHandle_t handle, infiniopRotgDescriptor_t *desc_ptr,
                                            infiniopTensorDescriptor_t a, infiniopTensorDescriptor_t b,
                                            infiniopTensorDescriptor_t c, infiniopTensorDescriptor_t s)
{
    return Draft(TAG_Rotg, handle, desc_ptr, 4, { a, b, c, s })
        .all_dtypes(FLOATS).one_dtype({ 0, 1, 2, 3 }).scalar(0).scalar(1).scalar(2).scalar(3).finish();
}

infiniStatus_t infiniopRotg(infiniopRotgDescriptor_t desc, void *, size_t, void *a, void *b, void *c, void *s,
                            void *stream)
{
    return run(desc, TAG_Rotg, stream, { a, b, c, s },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
                   double in[2];
                   TSR_TRY(read_numbers(in, 2, t));
                   const bool a_rules = std::fabs(in[0]) > std::fabs(in[1]);
                   const double r = std::copysign(std::hypot(in[0], in[1]), a_rules ? in[0] : in[1]);
                   const double cosine = r == 0 ? 1 : in[0] / r, sine = r == 0 ? 0 : in[1] / r;
                   const double z = r == 0 ? 0 : a_rules ? sine : cosine != 0 ? 1 / cosine : 1;
                   const double out[4] = { r == 0 ? 0 : r, z, cosine, sine };
                   for (int i = 0; i < 4; i++) TSR_TRY(tsr_fill(t[i], TSR_SCALAR(out[i])));
                   return TSR_OK;
               });
}

infiniStatus_t infiniopCreateRotmDescriptor(infiniopHandle_t handle, infiniopRotmDescriptor_t *desc_ptr,
                                            infiniopTensorDescriptor_t x, infiniopTensorDescriptor_t y,
                                            infiniopTensorDescriptor_t param)
{
    return Draft(TAG_Rotm, handle, desc_ptr, 2, { x, y, param })
        .all_dtypes(FLOATS).one_dtype({ 0, 1, 2 }).one_shape({ 0, 1 }).shape(2, { 5 }).finish();
}

infiniStatus_t infiniopRotm(infiniopRotmDescriptor_t desc, void *, size_t, void *x, void *y,
                            const void *param, void *stream)
{
    return run(desc, TAG_Rotm, stream, { x, y, param },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
                   double p[5]; /* flag, h11, h21, h12, h22 */
                   Temp host, numbers;
                   TSR_TRY(tsr_to(&host, t[2], TSR_CPU));
                   TSR_TRY(tsr_cast(&numbers, host, TSR_F64));
                   TSR_TRY(tsr_store(p, sizeof p, numbers));
                   if (p[0] == -2) return TSR_OK;
                   if (p[0] < 0) return rotate(t[0], t[1], p[1], p[3], p[2], p[4]);
                   if (p[0] == 0) return rotate(t[0], t[1], 1, p[3], p[2], 1);
                   return rotate(t[0], t[1], p[1], 1, -1, p[4]);
               });
}

infiniStatus_t infiniopCreateRotmgDescriptor(infiniopHandle_t handle, infiniopRotmgDescriptor_t *desc_ptr,
                                             infiniopTensorDescriptor_t d1, infiniopTensorDescriptor_t d2,
                                             infiniopTensorDescriptor_t x1, infiniopTensorDescriptor_t y1,
                                             infiniopTensorDescriptor_t param)
{
    return Draft(TAG_Rotmg, handle, desc_ptr, 4, { d1, d2, x1, param, y1 })
        .all_dtypes(FLOATS).one_dtype({ 0, 1, 2, 3, 4 }).scalar(0).scalar(1).scalar(2).scalar(4)
        .shape(3, { 5 }).finish();
}

namespace {

struct Modified {
    double d1, d2, x1, flag, h11, h21, h12, h22;
};

/* Brings d back to [1 / 4096^2, 4096^2], as BLAS does, with x and a row of h changed to match. */
void rescale(double *d, double *x, double *h1, double *h2, double *flag)
{
    const double gam = 4096, high = gam * gam, low = 1 / high;
    while (*d != 0 && std::isfinite(*d) && (std::fabs(*d) <= low || std::fabs(*d) >= high)) {
        const double up = std::fabs(*d) <= low ? gam : 1 / gam;
        *flag = -1;
        *d *= up * up;
        if (x) *x /= up;
        *h1 /= up;
        *h2 /= up;
    }
}

/* Spelled out, h has no numbers that the flag implies. */
void spell_out(Modified *m)
{
    if (m->flag == 0) m->h11 = m->h22 = 1;
    if (m->flag == 1) { m->h21 = -1; m->h12 = 1; }
}

void modified_rotation(Modified *m, double y1)
{
    const double p2 = m->d2 * y1, p1 = m->d1 * m->x1, q2 = p2 * y1, q1 = p1 * m->x1;
    if (m->d1 < 0 || (p2 != 0 && std::fabs(q1) <= std::fabs(q2) && q2 < 0)) {
        *m = Modified{ 0, 0, 0, -1, 0, 0, 0, 0 };
        return;
    }
    if (p2 == 0) {
        m->flag = -2;
        return;
    }
    if (std::fabs(q1) > std::fabs(q2)) {
        m->h21 = -y1 / m->x1;
        m->h12 = p2 / p1;
        const double u = 1 - m->h12 * m->h21;
        m->flag = 0;
        m->d1 /= u;
        m->d2 /= u;
        m->x1 *= u;
    } else {
        m->flag = 1;
        m->h11 = p1 / p2;
        m->h22 = m->x1 / y1;
        const double u = 1 + m->h11 * m->h22, d1 = m->d1;
        m->d1 = m->d2 / u;
        m->d2 = d1 / u;
        m->x1 = y1 * u;
    }
    spell_out(m);
    const double flag = m->flag;
    rescale(&m->d1, &m->x1, &m->h11, &m->h12, &m->flag);
    rescale(&m->d2, nullptr, &m->h21, &m->h22, &m->flag);
    if (m->flag == flag && flag == 0) m->h11 = m->h22 = 0;
    if (m->flag == flag && flag == 1) m->h21 = m->h12 = 0;
}

} // namespace

infiniStatus_t infiniopRotmg(infiniopRotmgDescriptor_t desc, void *, size_t, void *d1, void *d2, void *x1,
                             const void *y1, void *param, void *stream)
{
    return run(desc, TAG_Rotmg, stream, { d1, d2, x1, param, y1 },
               [](tsr_tensor **t, const InfiniopDescriptor &) -> tsr_status {
        double in[3], y;
        TSR_TRY(read_numbers(in, 3, t));
        TSR_TRY(read_numbers(&y, 1, t + 4));
        Modified m{ in[0], in[1], in[2], 0, 0, 0, 0, 0 };
        modified_rotation(&m, y);
        const double out[3] = { m.d1, m.d2, m.x1 }, h[5] = { m.flag, m.h11, m.h21, m.h12, m.h22 };
        for (int i = 0; i < 3; i++) TSR_TRY(tsr_fill(t[i], TSR_SCALAR(out[i])));
        for (int i = 0; i < 5; i++) {
            View one;
            TSR_TRY(tsr_select(&one, t[3], 0, i));
            TSR_TRY(tsr_fill(one, TSR_SCALAR(h[i])));
        }
        return TSR_OK;
    });
}
