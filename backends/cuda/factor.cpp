/* factor.cpp - factorisations by cuSOLVER, opened by name if it is there.
 *
 * A batch is packed whole, column-major, and its matrices are factorised one after another on the stream. A
 * matrix that holds NaN or an infinity is replaced by the identity, and its results are NaN. Only after
 * the work is done it is known whether every matrix had a result, so ops that can fail wait for it. */
#include "factor.h"
#include "library.h"

#if __has_include(<cusolverDn.h>)

#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include <cusolverDn.h>

namespace tsrc {

/* The library -------------------------------------------------------------------------------------- */

#define FUNCTIONS(X) \
    X(cusolverDnCreate) X(cusolverDnSetStream) X(cusolverDnCreateParams) \
    X(cusolverDnXgetrf_bufferSize) X(cusolverDnXgetrf) X(cusolverDnXgetrs) \
    X(cusolverDnXpotrf_bufferSize) X(cusolverDnXpotrf) X(cusolverDnXgeqrf_bufferSize) X(cusolverDnXgeqrf) \
    X(cusolverDnXsyevd_bufferSize) X(cusolverDnXsyevd) X(cusolverDnXgesvd_bufferSize) X(cusolverDnXgesvd) \
    X(cusolverDnSorgqr_bufferSize) X(cusolverDnSorgqr) X(cusolverDnDorgqr_bufferSize) X(cusolverDnDorgqr) \
    X(cusolverDnCungqr_bufferSize) X(cusolverDnCungqr) X(cusolverDnZungqr_bufferSize) X(cusolverDnZungqr)

struct Solver {
    bool found = false;
    FUNCTIONS(TSRC_POINTER)
    cusolverDnHandle_t handle[MOST_DEVICES] = {};
    cusolverDnParams_t params[MOST_DEVICES] = {};
    std::mutex lock; /* a handle has one stream at a time */
};

static Solver solver;

static void open_solver()
{
#define X(function) TSRC_FUNCTION_OF(solver, function)
    solver.found = open_library("cusolver", CUSOLVER_VER_MAJOR, { FUNCTIONS(X) });
#undef X
}

static bool is_open()
{
    static const bool tried = (open_solver(), true);
    return tried && solver.found;
}

bool has_factor(const tsr_op *op)
{
    for (int i = 0; i < op->nin; i++) {
        const tsr_tensor *t = op->in[i];
        if (!t || t->ndim < 2 || numel(t) == 0) return false;
        if (t->shape[t->ndim - 1] > INT32_MAX || t->shape[t->ndim - 2] > INT32_MAX) return false;
    }
    return op->nin > 0 && is_open();
}

/* One call --------------------------------------------------------------------------------------------- */

/* Memory of the host, while an op is under way. */
struct FactorHostRoom {
    std::unique_ptr<char[]> data;
    size_t bytes = 0;
    tsr_status take(const Work &w, size_t wanted)
    {
        data.reset(new (std::nothrow) char[wanted > 0 ? wanted : 1]);
        bytes = wanted;
        return data ? TSR_OK : say(TSR_ENOMEM, "%s: no memory for %zu bytes", w.name(), wanted);
    }
};

struct Factoring {
    explicit Factoring(const Work &work) : w(work), flags(work), infos(work), room(work) {}
    const Work &w;
    cusolverDnHandle_t handle = nullptr;
    cusolverDnParams_t params = nullptr;
    tsr_dtype dtype;
    bool wide, complex;
    cudaDataType type, real;
    int64_t m, n, k, count;
    Scratch flags, infos, room; /* an int for each matrix, and for infos one more */
    size_t room_bytes = 0;
    FactorHostRoom host_room;
    cusolverStatus_t status = CUSOLVER_STATUS_SUCCESS;

    int64_t bytes(int64_t elements) const { return elements * tsrc_size(dtype); }
    int *info(int64_t i) const { return infos.as<int>() + i; }
    char *part(const Scratch &s, int64_t i, int64_t elements) const
    {
        return s.bytes() + bytes(i * elements);
    }
    FactorArgs args(void *data, int64_t rows, int64_t cols, Triangle triangle) const
    {
        return { data, flags.as<int>(), rows, cols, count, complex ? 2 : 1, wide, triangle };
    }
};

static tsr_status failure(const Factoring &f, const char *what, cusolverStatus_t s)
{
    if (s == CUSOLVER_STATUS_ALLOC_FAILED)
        return say(TSR_ENOMEM, "%s: cuSOLVER is out of memory", f.w.name());
    return say(TSR_EDEVICE, "%s: cuSOLVER: %s gave %d", f.w.name(), what, static_cast<int>(s));
}

#define SOLVER_TRY(f, what, call) \
    do { \
        const cusolverStatus_t tried_ = (call); \
        if (tried_ != CUSOLVER_STATUS_SUCCESS) return failure(f, what, tried_); \
    } while (0)

static tsr_status open_handle(Factoring &f)
{
    const int d = f.w.device;
    const Beside beside;
    if (!solver.handle[d]) SOLVER_TRY(f, "opening it", solver.cusolverDnCreate(&solver.handle[d]));
    if (!solver.params[d]) SOLVER_TRY(f, "opening it", solver.cusolverDnCreateParams(&solver.params[d]));
    SOLVER_TRY(f, "the stream", solver.cusolverDnSetStream(solver.handle[d], f.w.stream));
    f.handle = solver.handle[d];
    f.params = solver.params[d];
    return TSR_OK;
}

static tsr_status open_factoring(Factoring &f)
{
    const tsr_tensor *a = f.w.op->in[0];
    f.dtype = a->dtype;
    f.wide = f.dtype == TSR_F64 || f.dtype == TSR_C128;
    f.complex = f.dtype == TSR_C64 || f.dtype == TSR_C128;
    f.real = f.wide ? CUDA_R_64F : CUDA_R_32F;
    f.type = !f.complex ? f.real : f.wide ? CUDA_C_64F : CUDA_C_32F;
    f.m = a->shape[a->ndim - 2];
    f.n = a->shape[a->ndim - 1];
    f.k = f.m < f.n ? f.m : f.n;
    f.count = numel(a) / (f.m * f.n);
    const size_t infos = sizeof(int) * static_cast<size_t>(f.count + 1);
    TSRC_TRY(f.flags.take(infos));
    TSRC_TRY(f.infos.take(infos));
    TSRC_TRY(check(f.w.device, f.w.name(), cudaMemsetAsync(f.infos.bytes(), 0, infos, f.w.stream)));
    return open_handle(f);
}

static tsr_status take_rooms(Factoring &f, size_t device, size_t host)
{
    f.room_bytes = device;
    TSRC_TRY(f.room.take(device));
    return f.host_room.take(f.w, host);
}

/* Layout ------------------------------------------------------------------------------------------------ */

/* A view of packed matrices with the dims of t: elements from row to row, column to column, and matrix to
 * matrix; of vectors if `across` is 0. */
static tsr_tensor view_of(void *data, tsr_dtype dtype, const tsr_tensor &t, int64_t down, int64_t across,
                          int64_t apart)
{
    tsr_tensor v = t;
    const int inner = across ? 2 : 1;
    v.data = data;
    v.dtype = dtype;
    v.stride[t.ndim - inner] = down;
    if (across) v.stride[t.ndim - 1] = across;
    for (int d = t.ndim - inner - 1; d >= 0; d--) {
        v.stride[d] = apart;
        apart *= t.shape[d];
    }
    return v;
}

/* The matrices of a, column-major; or row-major, which is their transposes column-major. */
static tsr_status pack(const Factoring &f, Scratch &memory, const tsr_tensor &a, bool by_rows)
{
    const int64_t rows = a.shape[a.ndim - 2], cols = a.shape[a.ndim - 1];
    TSRC_TRY(memory.take(static_cast<size_t>(f.bytes(numel(&a)))));
    const tsr_tensor v =
        view_of(memory.bytes(), a.dtype, a, by_rows ? cols : 1, by_rows ? 1 : rows, rows * cols);
    return copy(f.w, &v, &a);
}

static tsr_status unpack(const Factoring &f, int result, void *data, int64_t down, int64_t across,
                         int64_t apart)
{
    const tsr_tensor *z = f.w.op->out[result];
    const tsr_tensor v = view_of(data, z->dtype, *z, down, across, apart);
    return copy(f.w, z, &v);
}

/* The end ------------------------------------------------------------------------------------------------ */

static const char *words_for(tsr_op_kind kind)
{
    if (kind == TSR_OP_CHOLESKY)
        return "is not positive definite: its leading minor of this order is not positive:";
    return kind == TSR_OP_SOLVE || kind == TSR_OP_INV ? "is singular: this pivot, counted from 1, is 0:"
                                                      : "has no result: the iteration did not converge:";
}

static tsr_status fail_matrix(const Factoring &f, int64_t number, int info)
{
    char index[16 * TSR_MAX_NDIM] = "", text[16 * TSR_MAX_NDIM];
    const tsr_tensor *a = f.w.op->in[0];
    if (a->ndim == 2) return say(TSR_EINVAL, "%s: a %s %d", f.w.name(), words_for(f.w.op->kind), info);
    for (int d = a->ndim - 3; d >= 0; d--) {
        std::snprintf(text, sizeof text, "%lld%s%.*s", static_cast<long long>(number % a->shape[d]),
                      *index ? ", " : "", static_cast<int>(sizeof text) - 24, index);
        std::memcpy(index, text, sizeof index);
        number /= a->shape[d];
    }
    return say(TSR_EINVAL, "%s: matrix (%s) of a %s %d", f.w.name(), index, words_for(f.w.op->kind), info);
}

/* Waits for the work, and says whether every matrix had a result. */
static tsr_status look_at_infos(const Factoring &f)
{
    FactorHostRoom room;
    const size_t bytes = sizeof(int) * static_cast<size_t>(f.count);
    TSRC_TRY(room.take(f.w, bytes));
    cudaError_t e =
        cudaMemcpyAsync(room.data.get(), f.infos.bytes(), bytes, cudaMemcpyDeviceToHost, f.w.stream);
    if (e == cudaSuccess) e = wait_for(f.w.device, f.w.stream);
    TSRC_TRY(check(f.w.device, f.w.name(), e));
    for (int64_t i = 0; i < f.count; i++) {
        int info;
        std::memcpy(&info, room.data.get() + static_cast<size_t>(i) * sizeof info, sizeof info);
        if (info != 0) return fail_matrix(f, i, info);
    }
    return TSR_OK;
}

/* Triangles ---------------------------------------------------------------------------------------------- */

/* Lower times upper, in place; k pivots of each matrix. */
static tsr_status factor(Factoring &f, const Scratch &a, const Scratch &pivots)
{
    size_t device = 0, host = 0;
    TSRC_TRY(queue_tame(f.w, f.args(a.bytes(), f.m, f.n, WHOLE)));
    SOLVER_TRY(f, "the size of getrf",
               solver.cusolverDnXgetrf_bufferSize(f.handle, f.params, f.m, f.n, f.type, a.bytes(), f.m,
                                                  f.type, &device, &host));
    TSRC_TRY(take_rooms(f, device, host));
    for (int64_t i = 0; i < f.count; i++)
        SOLVER_TRY(f, "getrf",
                   solver.cusolverDnXgetrf(f.handle, f.params, f.m, f.n, f.type, f.part(a, i, f.m * f.n), f.m,
                                           pivots.as<int64_t>() + i * f.k, f.type, f.room.bytes(), device,
                                           f.host_room.data.get(), host, f.info(i)));
    return TSR_OK;
}

static tsr_status open_lu(Factoring &f, Scratch &a, Scratch &pivots)
{
    TSRC_TRY(pack(f, a, *f.w.op->in[0], false));
    TSRC_TRY(pivots.take(sizeof(int64_t) * static_cast<size_t>(f.count * f.k)));
    return factor(f, a, pivots);
}

static tsr_status lu(Factoring &f)
{
    Scratch a(f.w), pivots(f.w);
    TSRC_TRY(open_lu(f, a, pivots));
    TSRC_TRY(queue_untame(f.w, f.args(a.bytes(), f.m, f.n, WHOLE)));
    TSRC_TRY(queue_pivots(f.w, f.args(pivots.bytes(), f.k, 1, WHOLE)));
    TSRC_TRY(unpack(f, 0, a.bytes(), 1, f.m, f.m * f.n));
    return unpack(f, 1, pivots.bytes(), 1, 0, f.k);
}

/* a @ x = b, with x in b's place: `sides` columns. */
static tsr_status solve_packed(Factoring &f, const Scratch &b, int64_t sides)
{
    Scratch a(f.w), pivots(f.w);
    TSRC_TRY(open_lu(f, a, pivots));
    for (int64_t i = 0; i < f.count; i++)
        SOLVER_TRY(f, "getrs",
                   solver.cusolverDnXgetrs(f.handle, f.params, CUBLAS_OP_N, f.n, sides, f.type,
                                           f.part(a, i, f.n * f.n), f.n, pivots.as<int64_t>() + i * f.n,
                                           f.type, f.part(b, i, f.n * sides), f.n, f.info(f.count)));
    TSRC_TRY(queue_untame(f.w, f.args(b.bytes(), f.n, sides, WHOLE)));
    TSRC_TRY(unpack(f, 0, b.bytes(), 1, f.n, f.n * sides));
    return look_at_infos(f);
}

static tsr_status solve(Factoring &f)
{
    Scratch b(f.w);
    const tsr_tensor *sides = f.w.op->in[1];
    TSRC_TRY(pack(f, b, *sides, false));
    return solve_packed(f, b, sides->shape[sides->ndim - 1]);
}

static tsr_status inv(Factoring &f)
{
    Scratch b(f.w);
    TSRC_TRY(b.take(static_cast<size_t>(f.bytes(f.count * f.n * f.n))));
    TSRC_TRY(queue_identity(f.w, f.args(b.bytes(), f.n, f.n, WHOLE)));
    return solve_packed(f, b, f.n);
}

static tsr_status cholesky(Factoring &f)
{
    Scratch a(f.w);
    size_t device = 0, host = 0;
    const bool upper = static_cast<const tsr_factor_params *>(f.w.op->params)->upper;
    const cublasFillMode_t side = upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    TSRC_TRY(pack(f, a, *f.w.op->in[0], false));
    const FactorArgs args = f.args(a.bytes(), f.n, f.n, upper ? UPPER : LOWER);
    TSRC_TRY(queue_tame(f.w, args));
    SOLVER_TRY(f, "the size of potrf",
               solver.cusolverDnXpotrf_bufferSize(f.handle, f.params, side, f.n, f.type, a.bytes(), f.n,
                                                  f.type, &device, &host));
    TSRC_TRY(take_rooms(f, device, host));
    for (int64_t i = 0; i < f.count; i++)
        SOLVER_TRY(f, "potrf",
                   solver.cusolverDnXpotrf(f.handle, f.params, side, f.n, f.type, f.part(a, i, f.n * f.n),
                                           f.n, f.type, f.room.bytes(), device, f.host_room.data.get(), host,
                                           f.info(i)));
    TSRC_TRY(queue_untame(f.w, args));
    TSRC_TRY(queue_clear(f.w, args));
    TSRC_TRY(unpack(f, 0, a.bytes(), 1, f.n, f.n * f.n));
    return look_at_infos(f);
}

/* Reflectors --------------------------------------------------------------------------------------------- */

/* The columns of q from its reflectors, in place; work NULL: how much room that takes, in elements. */
static cusolverStatus_t make_q(const Factoring &f, int cols, void *q, const void *tau, void *work, int *lwork,
                               int *info)
{
    const int m = static_cast<int>(f.m), k = static_cast<int>(f.k);
#define MAKE_Q(function, T) \
    (work ? solver.function(f.handle, m, cols, k, static_cast<T *>(q), m, static_cast<const T *>(tau), \
                            static_cast<T *>(work), *lwork, info) \
          : solver.function##_bufferSize(f.handle, m, cols, k, static_cast<const T *>(q), m, \
                                         static_cast<const T *>(tau), lwork))
    if (!f.complex) return f.wide ? MAKE_Q(cusolverDnDorgqr, double) : MAKE_Q(cusolverDnSorgqr, float);
    return f.wide ? MAKE_Q(cusolverDnZungqr, cuDoubleComplex) : MAKE_Q(cusolverDnCungqr, cuComplex);
#undef MAKE_Q
}

/* The reflectors' columns of all matrices, in front of q's. */
static tsr_status copy_reflectors(const Factoring &f, const Scratch &q, const Scratch &a, int64_t cols)
{
    const size_t row = static_cast<size_t>(f.bytes(f.m * f.k));
    const size_t to_next = static_cast<size_t>(f.bytes(f.m * cols));
    const size_t from_next = static_cast<size_t>(f.bytes(f.m * f.n));
    const cudaError_t e =
        copy_rows(q.bytes(), to_next, a.bytes(), from_next, row, static_cast<size_t>(f.count),
                  cudaMemcpyDeviceToDevice, f.w.stream);
    return check(f.w.device, f.w.name(), e);
}

static tsr_status reflect(Factoring &f, const Scratch &a, const Scratch &tau)
{
    size_t device = 0, host = 0;
    TSRC_TRY(queue_tame(f.w, f.args(a.bytes(), f.m, f.n, WHOLE)));
    SOLVER_TRY(f, "the size of geqrf",
               solver.cusolverDnXgeqrf_bufferSize(f.handle, f.params, f.m, f.n, f.type, a.bytes(), f.m,
                                                  f.type, tau.bytes(), f.type, &device, &host));
    TSRC_TRY(take_rooms(f, device, host));
    for (int64_t i = 0; i < f.count; i++)
        SOLVER_TRY(f, "geqrf",
                   solver.cusolverDnXgeqrf(f.handle, f.params, f.m, f.n, f.type, f.part(a, i, f.m * f.n), f.m,
                                           f.type, f.part(tau, i, f.k), f.type, f.room.bytes(), device,
                                           f.host_room.data.get(), host, f.info(i)));
    return TSR_OK;
}

static tsr_status qr(Factoring &f)
{
    Scratch a(f.w), tau(f.w), q(f.w), work(f.w);
    const tsr_tensor *out = f.w.op->out[0];
    const int cols = static_cast<int>(out->shape[out->ndim - 1]);
    int lwork = 0;
    TSRC_TRY(pack(f, a, *f.w.op->in[0], false));
    TSRC_TRY(tau.take(static_cast<size_t>(f.bytes(f.count * f.k))));
    TSRC_TRY(q.take(static_cast<size_t>(f.bytes(f.count * f.m * cols))));
    TSRC_TRY(reflect(f, a, tau));
    TSRC_TRY(copy_reflectors(f, q, a, cols));
    SOLVER_TRY(f, "the size of orgqr", make_q(f, cols, q.bytes(), tau.bytes(), nullptr, &lwork, nullptr));
    TSRC_TRY(work.take(static_cast<size_t>(f.bytes(lwork))));
    for (int64_t i = 0; i < f.count; i++)
        SOLVER_TRY(f, "orgqr",
                   make_q(f, cols, f.part(q, i, f.m * cols), f.part(tau, i, f.k), work.bytes(), &lwork,
                          f.info(f.count)));
    TSRC_TRY(queue_untame(f.w, f.args(q.bytes(), f.m, cols, WHOLE)));
    const FactorArgs triangle = f.args(a.bytes(), f.m, f.n, UPPER);
    TSRC_TRY(queue_untame(f.w, triangle));
    TSRC_TRY(queue_clear(f.w, triangle));
    TSRC_TRY(unpack(f, 0, q.bytes(), 1, f.m, f.m * cols));
    return unpack(f, 1, a.bytes(), 1, f.m, f.m * f.n);
}

/* Values ------------------------------------------------------------------------------------------------- */

/* cuSOLVER takes matrices with no more columns than rows: of others the transpose is decomposed, whose u is
 * transpose(vh), and whose vh is transpose(u). */
static tsr_status svd(Factoring &f)
{
    const tsr_op *op = f.w.op;
    const bool transposed = f.m < f.n, vectors = op->nout > 1;
    const int64_t rows = transposed ? f.n : f.m, cols = f.k;
    const tsr_tensor *tall = vectors ? op->out[transposed ? 2 : 1] : nullptr; /* what comes of u */
    const int64_t of_u = vectors ? tall->shape[tall->ndim - (transposed ? 2 : 1)] : 1;
    const signed char job = !vectors ? 'N' : of_u == rows ? 'A' : 'S';
    size_t device = 0, host = 0;
    Scratch a(f.w), s(f.w), u(f.w), vh(f.w);
    TSRC_TRY(pack(f, a, *op->in[0], transposed));
    TSRC_TRY(s.take(static_cast<size_t>(f.bytes(f.count * f.k))));
    TSRC_TRY(u.take(static_cast<size_t>(f.bytes(vectors ? f.count * rows * of_u : 1))));
    TSRC_TRY(vh.take(static_cast<size_t>(f.bytes(vectors ? f.count * cols * cols : 1))));
    TSRC_TRY(queue_tame(f.w, f.args(a.bytes(), rows, cols, WHOLE)));
    SOLVER_TRY(f, "the size of gesvd",
               solver.cusolverDnXgesvd_bufferSize(f.handle, f.params, job, job, rows, cols, f.type, a.bytes(),
                                                  rows, f.real, s.bytes(), f.type, u.bytes(), rows, f.type,
                                                  vh.bytes(), cols, f.type, &device, &host));
    TSRC_TRY(take_rooms(f, device, host));
    const int64_t value = f.wide ? 8 : 4;
    for (int64_t i = 0; i < f.count; i++)
        SOLVER_TRY(f, "gesvd",
                   solver.cusolverDnXgesvd(f.handle, f.params, job, job, rows, cols, f.type,
                                           f.part(a, i, rows * cols), rows, f.real,
                                           s.bytes() + i * f.k * value, f.type,
                                           f.part(u, i, vectors ? rows * of_u : 0), rows, f.type,
                                           f.part(vh, i, vectors ? cols * cols : 0), cols, f.type,
                                           f.room.bytes(), device, f.host_room.data.get(), host, f.info(i)));
    FactorArgs values = f.args(s.bytes(), f.k, 1, WHOLE);
    values.parts = 1;
    TSRC_TRY(queue_untame(f.w, values));
    TSRC_TRY(unpack(f, 0, s.bytes(), 1, 0, f.k));
    if (!vectors) return look_at_infos(f);
    TSRC_TRY(queue_untame(f.w, f.args(u.bytes(), rows, of_u, WHOLE)));
    TSRC_TRY(queue_untame(f.w, f.args(vh.bytes(), cols, cols, WHOLE)));
    TSRC_TRY(unpack(f, transposed ? 2 : 1, u.bytes(), transposed ? rows : 1, transposed ? 1 : rows,
                    rows * of_u));
    TSRC_TRY(unpack(f, transposed ? 1 : 2, vh.bytes(), transposed ? cols : 1, transposed ? 1 : cols,
                    cols * cols));
    return look_at_infos(f);
}

static tsr_status eigh(Factoring &f)
{
    const bool vectors = f.w.op->nout > 1;
    const cusolverEigMode_t job = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
    const cublasFillMode_t side = CUBLAS_FILL_MODE_LOWER;
    size_t device = 0, host = 0;
    Scratch a(f.w), values(f.w);
    TSRC_TRY(pack(f, a, *f.w.op->in[0], false));
    TSRC_TRY(values.take(static_cast<size_t>(f.bytes(f.count * f.n))));
    TSRC_TRY(queue_tame(f.w, f.args(a.bytes(), f.n, f.n, LOWER)));
    SOLVER_TRY(f, "the size of syevd",
               solver.cusolverDnXsyevd_bufferSize(f.handle, f.params, job, side, f.n, f.type, a.bytes(), f.n,
                                                  f.real, values.bytes(), f.type, &device, &host));
    TSRC_TRY(take_rooms(f, device, host));
    const int64_t value = f.wide ? 8 : 4;
    for (int64_t i = 0; i < f.count; i++)
        SOLVER_TRY(f, "syevd",
                   solver.cusolverDnXsyevd(f.handle, f.params, job, side, f.n, f.type,
                                           f.part(a, i, f.n * f.n), f.n, f.real,
                                           values.bytes() + i * f.n * value, f.type, f.room.bytes(), device,
                                           f.host_room.data.get(), host, f.info(i)));
    FactorArgs of_values = f.args(values.bytes(), f.n, 1, WHOLE);
    of_values.parts = 1;
    TSRC_TRY(queue_untame(f.w, of_values));
    TSRC_TRY(unpack(f, 0, values.bytes(), 1, 0, f.n));
    if (!vectors) return look_at_infos(f);
    TSRC_TRY(queue_untame(f.w, f.args(a.bytes(), f.n, f.n, WHOLE)));
    TSRC_TRY(unpack(f, 1, a.bytes(), 1, f.n, f.n * f.n));
    return look_at_infos(f);
}

/* Dispatch ------------------------------------------------------------------------------------------ */

tsr_status run_factor(const Work &w)
{
    Factoring f(w);
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    const tsr_op_kind kind = w.op->kind;
    (void)cudaStreamIsCapturing(w.stream, &capture);
    if (capture != cudaStreamCaptureStatusNone)
        return say(TSR_EUNSUPPORTED, "%s: no graph can keep it, since it looks at values", w.name());
    std::lock_guard<std::mutex> guard(solver.lock);
    TSRC_TRY(open_factoring(f));
    switch (kind) {
    case TSR_OP_LU: return lu(f);
    case TSR_OP_SOLVE: return solve(f);
    case TSR_OP_INV: return inv(f);
    case TSR_OP_CHOLESKY: return cholesky(f);
    case TSR_OP_QR: return qr(f);
    case TSR_OP_SVD: return svd(f);
    default: return eigh(f);
    }
}

} // namespace tsrc

#else

namespace tsrc {

bool has_factor(const tsr_op *) { return false; }
tsr_status run_factor(const Work &w) { return say(TSR_EUNSUPPORTED, "%s: built without cuSOLVER", w.name()); }

} // namespace tsrc

#endif
