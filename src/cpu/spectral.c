/* spectral.c - singular values and eigenvalues on the CPU, by LAPACK or routines with its interface. See
 * linalg.h. */
#include "linalg.h"

/* Singular values -------------------------------------------------------------------------- */

/* What every matrix of a batch is decomposed with. */
typedef struct singular {
    const char *job;        /* "A": square u and vh; "S": reduced ones; "N": none */
    int32_t     cols, rows; /* of u, of vh */
    void       *work, *rwork, *iwork;
    int32_t     lwork;
} singular;

static void run_svd(const singular *w, const tsri_factoring *c, void *a, void *s, void *u, void *vh,
                    int32_t *info)
{
    if (c->dtype == c->real)
        c->f->gesdd.of_real(w->job, &c->m, &c->n, a, &c->m, s, u, &c->m, vh, &w->rows, w->work, &w->lwork,
                            w->iwork, info, 1);
    else
        c->f->gesdd.of_complex(w->job, &c->m, &c->n, a, &c->m, s, u, &c->m, vh, &w->rows, w->work, &w->lwork,
                               w->rwork, w->iwork, info, 1);
}

/* What LAPACK's documentation asks for at the least, over all its versions. */
static double least_svd_work(const singular *w, const tsri_factoring *c)
{
    const double less = c->k, more = c->m > c->n ? c->m : c->n;
    if (c->dtype == c->real) return *w->job == 'N' ? 10 * less + more : 4 * less * less + 7 * less + more;
    return *w->job == 'N' ? 2 * less + more : less * less + 3 * less + more;
}

static tsr_status open_svd(singular *w, tsri_factoring *c)
{
    const double less = c->k, more = c->m > c->n ? c->m : c->n;
    const double vectors = 5 * less + 7 > 2 * more + 2 * less + 1 ? 5 * less + 7 : 2 * more + 2 * less + 1;
    const double real = less * (*w->job == 'N' ? 7 : vectors), least = least_svd_work(w, c);
    tsr_c128 wanted = { 0, 0 };
    int32_t done = 0;
    TSRI_TRY(tsri_factor_check_count(c, real > least ? real : least));
    TSRI_TRY(tsri_factor_alloc(c, &w->iwork, TSR_I32, 8 * (int64_t)c->k));
    if (c->dtype != c->real) TSRI_TRY(tsri_factor_alloc(c, &w->rwork, c->real, (int64_t)real));
    singular ask = *w;
    ask.work = &wanted;
    ask.lwork = -1;
    run_svd(&ask, c, &wanted, &wanted, &wanted, &wanted, &done);
    return tsri_factor_work(c, &w->work, &w->lwork, &wanted, least);
}

/* One matrix; u and vh do not count where there are none. */
static void factor_svd(const singular *w, const tsri_factoring *c, void *a, void *s, void *u, void *vh,
                       int32_t *info)
{
    if (tsri_factor_is_finite(c, a, (int64_t)c->m * c->n)) {
        run_svd(w, c, a, s, u, vh, info);
        return;
    }
    tsri_factor_fill_nan(s, c->real, c->k);
    if (*w->job == 'N') return;
    tsri_factor_fill_nan(u, c->dtype, (int64_t)c->m * w->cols);
    tsri_factor_fill_nan(vh, c->dtype, (int64_t)c->n * w->rows);
}

tsr_status tsri_factor_svd(tsri_factoring *c, const tsr_op *op)
{
    singular w = { .job = "N", .cols = 1, .rows = 1 };
    void *a = NULL, *s = NULL, *u = NULL, *vh = NULL;
    const bool vectors = op->nout > 1;
    int64_t size_u = 0, size_vh = 0;
    int32_t info = 0;
    if (vectors) {
        w.cols = (int32_t)op->out[1]->shape[op->out[1]->ndim - 1];
        w.rows = (int32_t)op->out[2]->shape[op->out[2]->ndim - 2];
        w.job = w.cols == c->m && w.rows == c->n ? "A" : "S";
        size_u = (int64_t)c->m * w.cols;
        size_vh = (int64_t)c->n * w.rows;
    }
    TSRI_TRY(tsri_factor_pack(c, &a, op->in[0]));
    TSRI_TRY(tsri_factor_alloc(c, &s, c->real, c->count * c->k));
    TSRI_TRY(tsri_factor_alloc(c, &u, c->dtype, c->count * size_u + 1));
    TSRI_TRY(tsri_factor_alloc(c, &vh, c->dtype, c->count * size_vh + 1));
    TSRI_TRY(open_svd(&w, c));
    for (int64_t i = 0; i < c->count; i++) {
        factor_svd(&w, c, tsri_factor_at(a, c->dtype, i * c->m * c->n), tsri_factor_at(s, c->real, i * c->k),
                   tsri_factor_at(u, c->dtype, i * size_u), tsri_factor_at(vh, c->dtype, i * size_vh), &info);
        if (info != 0) return tsri_factor_fail(c, i, info);
    }
    TSRI_TRY(tsri_factor_unpack(op->out[0], s, c->real, c->k, 0));
    if (!vectors) return TSR_OK;
    TSRI_TRY(tsri_factor_unpack(op->out[1], u, c->dtype, c->m, w.cols));
    return tsri_factor_unpack(op->out[2], vh, c->dtype, w.rows, c->n);
}

/* Eigenvalues of Hermitian matrices ----------------------------------------------------------- */

typedef struct hermitian {
    const char *job;
    void       *work, *rwork, *iwork;
    int32_t     lwork, lrwork, liwork;
} hermitian;

static void run_eigh(const hermitian *h, const tsri_factoring *c, void *a, void *w, int32_t *info)
{
    if (c->dtype == c->real)
        c->f->heevd.of_real(h->job, "L", &c->n, a, &c->n, w, h->work, &h->lwork, h->iwork, &h->liwork, info,
                            1, 1);
    else
        c->f->heevd.of_complex(h->job, "L", &c->n, a, &c->n, w, h->work, &h->lwork, h->rwork, &h->lrwork,
                               h->iwork, &h->liwork, info, 1, 1);
}

static tsr_status open_eigh(hermitian *h, tsri_factoring *c)
{
    const double n = c->n;
    const bool vectors = *h->job == 'V';
    const double real = vectors ? 1 + 6 * n + 2 * n * n : 1 + 2 * n, integers = vectors ? 3 + 5 * n : 1;
    const double least = c->dtype == c->real ? real : vectors ? 2 * n + n * n : 1 + n;
    tsr_c128 wanted = { 0, 0 }, rwork = { 0, 0 };
    int32_t iwork = 0, done = 0;
    hermitian ask = { .job = h->job, .work = &wanted, .rwork = &rwork, .iwork = &iwork, .lwork = -1,
                      .lrwork = -1, .liwork = -1 };
    TSRI_TRY(tsri_factor_check_count(c, real > integers ? real : integers));
    h->lrwork = (int32_t)real;
    h->liwork = (int32_t)integers;
    TSRI_TRY(tsri_factor_alloc(c, &h->iwork, TSR_I32, h->liwork));
    if (c->dtype != c->real) TSRI_TRY(tsri_factor_alloc(c, &h->rwork, c->real, h->lrwork));
    run_eigh(&ask, c, &wanted, &wanted, &done);
    return tsri_factor_work(c, &h->work, &h->lwork, &wanted, least);
}

tsr_status tsri_factor_eigh(tsri_factoring *c, const tsr_op *op)
{
    const bool vectors = op->nout > 1;
    hermitian h = { .job = vectors ? "V" : "N" };
    void *a = NULL, *w = NULL;
    const int64_t size = (int64_t)c->n * c->n;
    int32_t info = 0;
    TSRI_TRY(tsri_factor_pack(c, &a, op->in[0]));
    TSRI_TRY(tsri_factor_alloc(c, &w, c->real, c->count * c->n));
    TSRI_TRY(open_eigh(&h, c));
    for (int64_t i = 0; i < c->count; i++) {
        void *ai = tsri_factor_at(a, c->dtype, i * size), *wi = tsri_factor_at(w, c->real, i * c->n);
        if (tsri_factor_is_finite_triangle(c, ai, false)) run_eigh(&h, c, ai, wi, &info);
        else {
            tsri_factor_fill_nan(ai, c->dtype, size);
            tsri_factor_fill_nan(wi, c->real, c->n);
        }
        if (info != 0) return tsri_factor_fail(c, i, info);
    }
    TSRI_TRY(tsri_factor_unpack(op->out[0], w, c->real, c->n, 0));
    return vectors ? tsri_factor_unpack(op->out[1], a, c->dtype, c->n, c->n) : TSR_OK;
}

/* Eigenvalues of any square matrix -------------------------------------------------------------- */

typedef struct general {
    const char *job;
    int32_t     ldv, lwork;
    void       *work;
    void       *real;    /* of complex matrices: LAPACK's room; of real ones: the values' parts, n each */
    void       *vectors; /* of real matrices: n x n, as LAPACK lays them out */
} general;

/* w and v are complex, except that those of a real matrix are not yet put together. */
static void run_eig(const general *g, const tsri_factoring *c, void *a, void *w, void *v, int32_t *info)
{
    const int32_t one = 1;
    tsr_c128 unused;
    if (c->dtype == c->real)
        c->f->geev.of_real("N", g->job, &c->n, a, &c->n, g->real, tsri_factor_at(g->real, c->real, c->n),
                           &unused, &one, g->vectors, &g->ldv, g->work, &g->lwork, info, 1, 1);
    else
        c->f->geev.of_complex("N", g->job, &c->n, a, &c->n, w, &unused, &one, v, &g->ldv, g->work, &g->lwork,
                              g->real, info, 1, 1);
}

static tsr_status open_eig(general *g, tsri_factoring *c, void *a, void *w, void *v)
{
    const int64_t n = c->n;
    tsr_c128 wanted = { 0, 0 };
    int32_t done = 0;
    TSRI_TRY(tsri_factor_alloc(c, &g->real, c->real, 2 * n));
    TSRI_TRY(tsri_factor_alloc(c, &g->vectors, c->real, c->dtype == c->real && *g->job == 'V' ? n * n : 1));
    general ask = *g;
    ask.work = &wanted;
    ask.lwork = -1;
    run_eig(&ask, c, a, w, v, &done);
    return tsri_factor_work(c, &g->work, &g->lwork, &wanted, 4 * (double)n);
}

static double part_of(const void *data, tsr_dtype real, int64_t i)
{
    return real == TSR_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
}

static void put_number(void *data, tsr_dtype real, int64_t i, double re, double im)
{
    if (real == TSR_F32) ((tsr_c64 *)data)[i] = (tsr_c64){ (float)re, (float)im };
    else ((tsr_c128 *)data)[i] = (tsr_c128){ re, im };
}

/* What LAPACK says of a real matrix, as complex numbers. A pair of conjugate values has its
 * vectors' real parts in one column and the imaginary ones, of the first of the two, in the next. */
static void put_together(const general *g, const tsri_factoring *c, void *w, void *v)
{
    const int64_t n = c->n;
    for (int64_t j = 0; j < n; j++) {
        const double im = part_of(g->real, c->real, n + j), sign = im > 0 ? 1 : im < 0 ? -1 : 0;
        const int64_t column = (sign < 0 ? j - 1 : j) * n;
        put_number(w, c->real, j, part_of(g->real, c->real, j), im);
        for (int64_t i = 0; i < n && *g->job == 'V'; i++)
            put_number(v, c->real, j * n + i, part_of(g->vectors, c->real, column + i),
                       sign == 0 ? 0 : sign * part_of(g->vectors, c->real, column + n + i));
    }
}

static void factor_eig(const general *g, const tsri_factoring *c, tsr_dtype dtype, void *a, void *w, void *v,
                       int32_t *info)
{
    const int64_t n = c->n;
    const bool vectors = *g->job == 'V';
    if (!tsri_factor_is_finite(c, a, n * n)) {
        tsri_factor_fill_nan(w, dtype, n);
        if (vectors) tsri_factor_fill_nan(v, dtype, n * n);
        return;
    }
    run_eig(g, c, a, w, v, info);
    if (*info == 0 && c->dtype == c->real) put_together(g, c, w, v);
}

tsr_status tsri_factor_eig(tsri_factoring *c, const tsr_op *op)
{
    const bool vectors = op->nout > 1;
    const tsr_dtype dtype = op->out[0]->dtype;
    const int64_t n = c->n, size = vectors ? n * n : 0;
    general g = { .job = vectors ? "V" : "N", .ldv = vectors ? c->n : 1 };
    void *a = NULL, *w = NULL, *v = NULL;
    int32_t info = 0;
    TSRI_TRY(tsri_factor_pack(c, &a, op->in[0]));
    TSRI_TRY(tsri_factor_alloc(c, &w, dtype, c->count * n));
    TSRI_TRY(tsri_factor_alloc(c, &v, dtype, c->count * size + 1));
    TSRI_TRY(open_eig(&g, c, a, w, v));
    for (int64_t i = 0; i < c->count; i++) {
        factor_eig(&g, c, dtype, tsri_factor_at(a, c->dtype, i * n * n), tsri_factor_at(w, dtype, i * n),
                   tsri_factor_at(v, dtype, i * size), &info);
        if (info != 0) return tsri_factor_fail(c, i, info);
    }
    TSRI_TRY(tsri_factor_unpack(op->out[0], w, dtype, n, 0));
    return vectors ? tsri_factor_unpack(op->out[1], v, dtype, n, n) : TSR_OK;
}
