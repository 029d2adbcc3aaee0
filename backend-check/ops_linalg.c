/* ops_linalg.c - factors, by what they multiply to, since a matrix has many; Fourier transforms. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "operands.h"

enum { A, B };

static const tolerance solutions = { .ulps = 512, .least = 4 },
                       spectra = { .ulps = 32, .least = 8, .grows = GROWS_ROOT };

/* Results with one value ------------------------------------------------------------------------ */

static tsr_status det(trial *t, side s) { return tsr_det(RESULT(t, s, 0), IN(t, s, A)); }
static tsr_status slogdet(trial *t, side s)
{
    return tsr_slogdet(RESULT(t, s, 0), RESULT(t, s, 1), IN(t, s, A));
}
static tsr_status inv(trial *t, side s) { return tsr_inv(RESULT(t, s, 0), IN(t, s, A)); }
static tsr_status solve(trial *t, side s) { return tsr_solve(RESULT(t, s, 0), IN(t, s, A), IN(t, s, B)); }
static tsr_status cholesky(trial *t, side s)
{
    return tsr_cholesky(RESULT(t, s, 0), IN(t, s, A), t->with.flag);
}
static tsr_status svdvals(trial *t, side s) { return tsr_svdvals(RESULT(t, s, 0), IN(t, s, A)); }
static tsr_status eigvalsh(trial *t, side s) { return tsr_eigvalsh(RESULT(t, s, 0), IN(t, s, A)); }
static tsr_status matrix_power(trial *t, side s) { return tsr_matrix_power(RESULT(t, s, 0), IN(t, s, A), 2); }
static tsr_status trace(trial *t, side s) { return tsr_trace(RESULT(t, s, 0), IN(t, s, A), 0); }
static tsr_status lstsq(trial *t, side s) { return tsr_lstsq(RESULT(t, s, 0), IN(t, s, A), IN(t, s, B), -1); }

/* Factors, multiplied again --------------------------------------------------------------------- */

/* First the factors, on the side's device, then their product there. */
static tsr_status multiply(tsr_tensor **out, tsr_tensor **a, tsr_tensor **b, tsr_status s)
{
    if (s == TSR_OK) s = tsr_matmul(out, *a, *b);
    tsr_release(a);
    tsr_release(b);
    return s;
}

static tsr_status lu(trial *t, side s)
{
    tsr_tensor *p = NULL, *l = NULL, *u = NULL, *product = NULL, *back = NULL;
    tsr_status status = multiply(&product, &l, &u, tsr_lu(&p, &l, &u, IN(t, s, A)));
    if (status == TSR_OK && p->ndim == 2)
        status = tsr_unsqueeze(&p, p, 2);
    else if (status == TSR_OK)
        status = tsr_unsqueeze(&p, p, 1);
    if (status == TSR_OK) status = tsr_expand(&back, p, product->ndim, product->shape);
    tsr_tensor *order = NULL;
    if (status == TSR_OK) status = tsr_argsort(&order, back, -2, false);
    if (status == TSR_OK) status = tsr_take_along_axis(RESULT(t, s, 0), product, order, -2);
    tsr_release(&p);
    tsr_release(&product);
    tsr_release(&back);
    tsr_release(&order);
    return status;
}

static tsr_status qr(trial *t, side s)
{
    tsr_tensor *q = NULL, *r = NULL;
    return multiply(RESULT(t, s, 0), &q, &r, tsr_qr(&q, &r, IN(t, s, A), t->with.flag));
}

/* a scaled by columns. */
static tsr_status scale_columns(tsr_tensor **a, const tsr_tensor *by)
{
    tsr_tensor *row = NULL, *wide = NULL;
    TSR_TRY(tsr_unsqueeze(&row, by, -2));
    tsr_status s = row->dtype == (*a)->dtype ? tsr_mul(a, *a, row) : tsr_cast(&wide, row, (*a)->dtype);
    if (s == TSR_OK && wide) s = tsr_mul(a, *a, wide);
    tsr_release(&row);
    tsr_release(&wide);
    return s;
}

static tsr_status svd(trial *t, side s)
{
    tsr_tensor *u = NULL, *sizes = NULL, *vh = NULL;
    tsr_status status = tsr_svd(&u, &sizes, &vh, IN(t, s, A), false);
    if (status == TSR_OK) status = scale_columns(&u, sizes);
    tsr_release(&sizes);
    return multiply(RESULT(t, s, 0), &u, &vh, status);
}

static tsr_status eigh(trial *t, side s)
{
    tsr_tensor *w = NULL, *v = NULL, *scaled = NULL, *back = NULL;
    tsr_status status = tsr_eigh(&w, &v, IN(t, s, A));
    if (status == TSR_OK) status = tsr_clone(&scaled, v);
    if (status == TSR_OK) status = scale_columns(&scaled, w);
    if (status == TSR_OK) status = tsr_adjoint(&back, v);
    tsr_release(&w);
    tsr_release(&v);
    return multiply(RESULT(t, s, 0), &scaled, &back, status);
}

/* a @ v less v * w, which is next to nothing on both sides. */
static tsr_status eig(trial *t, side s)
{
    tsr_tensor *w = NULL, *v = NULL, *wide = NULL, *left = NULL;
    tsr_status status = tsr_eig(&w, &v, IN(t, s, A));
    if (status == TSR_OK) status = tsr_cast(&wide, IN(t, s, A), v->dtype);
    if (status == TSR_OK) status = tsr_matmul(&left, wide, v);
    if (status == TSR_OK) status = scale_columns(&v, w);
    if (status == TSR_OK) status = tsr_sub(RESULT(t, s, 0), left, v);
    tsr_release(&w);
    tsr_release(&v);
    tsr_release(&wide);
    tsr_release(&left);
    return status;
}

enum { ANY_SHAPE, SQUARE, HERMITIAN };

typedef struct row {
    const char *name;
    tsr_op_kind op;
    call_fn call;
    int results;
    int shape; /* below */
    bool two;
} row;

static const row rows[] = {
    { "lu", TSR_OP_LU, lu, 1, ANY_SHAPE, false },
    { "det", TSR_OP_LU, det, 1, SQUARE, false },
    { "slogdet", TSR_OP_LU, slogdet, 2, SQUARE, false },
    { "solve", TSR_OP_SOLVE, solve, 1, SQUARE, true },
    { "inv", TSR_OP_INV, inv, 1, SQUARE, false },
    { "cholesky", TSR_OP_CHOLESKY, cholesky, 1, HERMITIAN, false },
    { "qr", TSR_OP_QR, qr, 1, ANY_SHAPE, false },
    { "svd", TSR_OP_SVD, svd, 1, ANY_SHAPE, false },
    { "svdvals", TSR_OP_SVD, svdvals, 1, ANY_SHAPE, false },
    { "lstsq", TSR_OP_SVD, lstsq, 1, SQUARE, true },
    { "eigh", TSR_OP_EIGH, eigh, 1, HERMITIAN, false },
    { "eigvalsh", TSR_OP_EIGH, eigvalsh, 1, HERMITIAN, false },
    { "eig", TSR_OP_EIG, eig, 1, SQUARE, false },
    { "matrix_power", TSR_OP_MATMUL, matrix_power, 1, SQUARE, false },
    { "trace", TSR_OP_SUM, trace, 1, SQUARE, false },
};

/* Far from singular: the diagonal outweighs the rest. */
static tsr_status weigh_diagonal(tsr_tensor **a, bool hermitian)
{
    tsr_tensor *other = NULL, *eye = NULL;
    const int64_t n = (*a)->shape[(*a)->ndim - 1];
    tsr_status s = TSR_OK;
    if (hermitian) s = tsr_adjoint(&other, *a);
    if (s == TSR_OK && hermitian) s = tsr_add(&other, *a, other);
    if (s == TSR_OK && hermitian) s = tsr_copy(*a, other);
    if (s == TSR_OK) s = tsr_eye(&eye, (*a)->dtype, n, n, 0);
    if (s == TSR_OK) s = tsr_mul(&eye, eye, TSR_NUMBER(64));
    if (s == TSR_OK) s = tsr_add(a, *a, eye);
    tsr_release(&other);
    tsr_release(&eye);
    return s;
}

static tsr_status random_matrices(trial *t, tsr_tensor **out, int ndim, const int64_t *shape, int kind)
{
    TSR_TRY(tsr_uniform(out, t->check->dtype, ndim, shape, -1, 1, random_bits(t)));
    return kind == ANY_SHAPE ? TSR_OK : weigh_diagonal(out, kind == HERMITIAN);
}

static void make_matrices(trial *t, int slot, int ndim, const int64_t *shape, int kind)
{
    tsr_tensor *made = NULL;
    GO_ON(t);
    const tsr_status s = random_matrices(t, &made, ndim, shape, kind);
    if (s == TSR_OK) make_from(t, slot, t->check->dtype, ndim, shape, made->data);
    tsr_release(&made);
    NEED(t, s);
}

static void check_matrices(trial *t)
{
    const row *r = t->check->about;
    const int64_t most = t->number % 4 == 3 ? 24 : 6, least = t->number % 4 == 2 ? 0 : 1;
    int64_t shape[3] = { random_between(t, 1, 3), random_between(t, least, most),
                         random_between(t, least, most) };
    const int from = once_in(t, 2) ? 1 : 0;
    if (r->shape != ANY_SHAPE) shape[2] = shape[1];
    t->with.flag = once_in(t, 2);
    make_matrices(t, A, 3 - from, shape + from, r->shape);
    shape[2] = random_between(t, 1, 3);
    if (r->two) make_matrices(t, B, 3 - from, shape + from, ANY_SHAPE);
    run_op(t, r->call, r->results, 0, &solutions);
}

/* A matrix that has no answer: the call says so, or what waits for it. */
static void check_singular(trial *t)
{
    const int64_t shape[] = { 2, 3, 3 };
    tsr_tensor *zeros = NULL;
    NEED(t, tsr_zeros(&zeros, t->check->dtype, 3, shape));
    make_from(t, A, t->check->dtype, 3, shape, zeros->data);
    tsr_release(&zeros);
    GO_ON(t);
    tsr_status s = inv(t, HERE);
    if (s == TSR_EUNSUPPORTED) skip_trial(t, "%s", tsr_last_error());
    GO_ON(t);
    s = inv(t, THERE);
    if (s == TSR_OK) s = tsr_device_sync(t->session->device);
    MUST_BE(t, s == TSR_EINVAL, "the inverse of a singular matrix gave %s", tsr_status_name(s));
}

/* Fourier transforms ------------------------------------------------------------------------------ */

static tsr_fft_norm norm_of(const trial *t) { return (tsr_fft_norm)t->with.mode; }
static tsr_status fft(trial *t, side s)
{
    return tsr_fft(RESULT(t, s, 0), IN(t, s, A), t->with.n[0], t->with.axis, norm_of(t));
}
static tsr_status ifft(trial *t, side s)
{
    return tsr_ifft(RESULT(t, s, 0), IN(t, s, A), t->with.n[0], t->with.axis, norm_of(t));
}
static tsr_status rfft(trial *t, side s)
{
    return tsr_rfft(RESULT(t, s, 0), IN(t, s, A), t->with.n[0], t->with.axis, norm_of(t));
}
static tsr_status irfft(trial *t, side s)
{
    return tsr_irfft(RESULT(t, s, 0), IN(t, s, A), t->with.n[0], t->with.axis, norm_of(t));
}
static tsr_status fftn(trial *t, side s)
{
    return tsr_fftn(RESULT(t, s, 0), IN(t, s, A), 0, NULL, NULL, norm_of(t));
}

typedef struct transform {
    const char *name;
    tsr_op_kind op;
    call_fn call;
} transform;

static const transform transforms[] = {
    { "fft", TSR_OP_FFT, fft },       { "ifft", TSR_OP_FFT, ifft }, { "rfft", TSR_OP_RFFT, rfft },
    { "irfft", TSR_OP_IRFFT, irfft }, { "fftn", TSR_OP_FFT, fftn },
};

static void check_transform(trial *t)
{
    const transform *f = t->check->about;
    int64_t shape[RANK];
    const int ndim = random_shape(t, shape, 1, 3, 4000), axis = (int)random_below(t, ndim);
    for (int d = 0; d < ndim; d++)
        if (shape[d] < 2 && (d == axis || f->call == fftn)) shape[d] = 2;
    t->with.axis = axis;
    t->with.n[0] = once_in(t, 2) ? 0 : random_between(t, 1, 30);
    t->with.mode = (int)random_below(t, 3);
    t->terms = (double)count_of(ndim, shape) + 30;
    make_input(t, A, t->check->dtype, ndim, shape, &(values){ -1, 1, 0, false });
    run_op(t, f->call, 1, 0, &spectra);
}

void list_linalg(check_list *list)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        add_for_dtypes(
            list, (check){ .family = "linalg", .op = rows[i].op, .run = check_matrices, .about = &rows[i] },
            rows[i].name, dtypes_of(TSR_OP_LU, 0));
    add_for_dtypes(list, (check){ .family = "linalg", .op = TSR_OP_INV, .run = check_singular, .most = 1 },
                   "inv of a singular one", dtypes_of(TSR_OP_LU, 0));
    for (size_t i = 0; i < sizeof transforms / sizeof *transforms; i++)
        add_for_dtypes(
            list,
            (check){
                .family = "fft", .op = transforms[i].op, .run = check_transform, .about = &transforms[i] },
            transforms[i].name, dtypes_of(transforms[i].op, 0));
}
