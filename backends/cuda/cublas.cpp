/* cublas.cpp - cuBLASLt, opened by name: the plugin loads without it. Plans to multiply are asked for
 * once for each shape, and kept. */
#include "cublas.h"
#include "library.h"

#if __has_include(<cublasLt.h>)

#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>

#include <cublasLt.h>

namespace tsrc {

/* The library ---------------------------------------------------------------------------------- */

#define FUNCTIONS(X) \
    X(cublasLtCreate) X(cublasLtMatmulDescCreate) X(cublasLtMatmulDescDestroy) \
    X(cublasLtMatmulDescSetAttribute) X(cublasLtMatrixLayoutCreate) X(cublasLtMatrixLayoutDestroy) \
    X(cublasLtMatrixLayoutSetAttribute) X(cublasLtMatmulPreferenceCreate) \
    X(cublasLtMatmulPreferenceDestroy) X(cublasLtMatmulPreferenceSetAttribute) \
    X(cublasLtMatmulAlgoGetHeuristic) X(cublasLtMatmul)

struct Lt {
    bool found = false;
    FUNCTIONS(TSRC_POINTER)
    cublasLtHandle_t handle[MOST_DEVICES] = {};
    std::mutex lock;
    bool fast = false; /* f32 is multiplied as TF32 */
};

static Lt lt;

static void open_lt()
{
#define X(function) TSRC_FUNCTION_OF(lt, function)
    lt.found = open_library("cublasLt", CUBLAS_VER_MAJOR, { FUNCTIONS(X) });
#undef X
    if (!lt.found) host->log(2, "cuda: cuBLASLt was not found; products go to kernels of our own");
    const char *text = setting("TSR_CUDA_TF32");
    lt.fast = text && text[0] == '1';
}

static bool is_open()
{
    static const bool tried = (open_lt(), true);
    return tried && lt.found;
}

static tsr_status failure(const Work &w, const char *what, cublasStatus_t s)
{
    if (s == CUBLAS_STATUS_ALLOC_FAILED) return say(TSR_ENOMEM, "%s: cuBLASLt is out of memory", w.name());
    return say(TSR_EDEVICE, "%s: cuBLASLt: %s gave %d", w.name(), what, static_cast<int>(s));
}

static tsr_status handle_of(const Work &w, cublasLtHandle_t *out)
{
    std::lock_guard<std::mutex> guard(lt.lock);
    if (!lt.handle[w.device]) {
        const Beside beside;
        const cublasStatus_t s = lt.cublasLtCreate(&lt.handle[w.device]);
        if (s != CUBLAS_STATUS_SUCCESS) return failure(w, "opening it", s);
    }
    *out = lt.handle[w.device];
    return TSR_OK;
}

/* Dtypes ------------------------------------------------------------------------------------------ */

struct Types {
    cudaDataType_t in, out, scale;
    cublasComputeType_t compute;
};

static bool types_of(Types *t, tsr_dtype in, tsr_dtype out)
{
    const cublasComputeType_t f32 = lt.fast ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    switch (in) {
    case TSR_F32: *t = { CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, f32 }; return out == in;
    case TSR_F64: *t = { CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F }; return out == in;
    case TSR_BF16: *t = { CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F }; return out == in;
    case TSR_F16:
        *t = { CUDA_R_16F, out == TSR_F32 ? CUDA_R_32F : CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F };
        return out == in || out == TSR_F32;
    case TSR_C64: *t = { CUDA_C_32F, CUDA_C_32F, CUDA_C_32F, f32 }; return out == in;
    case TSR_C128: *t = { CUDA_C_64F, CUDA_C_64F, CUDA_C_64F, CUBLAS_COMPUTE_64F }; return out == in;
    case TSR_I8: *t = { CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I }; return out == TSR_I32;
    default: return false;
    }
}

bool lt_has(tsr_dtype in, tsr_dtype out)
{
    Types t;
    return is_open() && types_of(&t, in, out);
}

/* Plans ---------------------------------------------------------------------------------------------- */

/* What a plan depends on: all of a product but its addresses, of which the alignment counts. */
struct PlanKey {
    int32_t device, in, out, transposes, bias, after;
    int32_t aligned[4];
    int64_t m, n, k, batch, lead[4], apart[4];
    bool operator<(const PlanKey &o) const { return std::memcmp(this, &o, sizeof *this) < 0; }
};

struct Plan {
    bool there = false;
    cublasLtMatmulDesc_t desc = nullptr;
    cublasLtMatrixLayout_t layout[4] = {};
    cublasLtMatmulAlgo_t algo;
    size_t workspace = 0;
};

enum { WORKSPACE = 32 << 20, MOST_PLANS = 4096 };

static std::map<PlanKey, Plan> plans;
static std::shared_mutex plans_lock;

static int32_t alignment_of(const void *p)
{
    int32_t a = 256;
    while (a > 1 && reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(a)) a /= 2;
    return a;
}

static PlanKey key_of(const Work &w, const LtProduct &p)
{
    PlanKey k;
    std::memset(&k, 0, sizeof k);
    k.device = w.device;
    k.in = p.in;
    k.out = p.out;
    k.transposes = p.transpose_first | p.transpose_second << 1;
    k.bias = p.bias != nullptr;
    k.after = p.after;
    const void *data[] = { p.first, p.second, p.c, p.z };
    for (int i = 0; i < 4; i++) {
        k.aligned[i] = alignment_of(data[i]);
        k.lead[i] = p.lead[i];
        k.apart[i] = p.apart[i];
    }
    k.m = p.m;
    k.n = p.n;
    k.k = p.k;
    k.batch = p.batch;
    return k;
}

static bool make_layout(cublasLtMatrixLayout_t *out, cudaDataType_t type, int64_t rows, int64_t columns,
                        int64_t lead, int64_t batch, int64_t apart)
{
    const int32_t count = static_cast<int32_t>(batch);
    if (lt.cublasLtMatrixLayoutCreate(out, type, static_cast<uint64_t>(rows), static_cast<uint64_t>(columns),
                                      lead) != CUBLAS_STATUS_SUCCESS)
        return false;
    if (batch == 1) return true;
    return lt.cublasLtMatrixLayoutSetAttribute(*out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                               sizeof count) == CUBLAS_STATUS_SUCCESS &&
           lt.cublasLtMatrixLayoutSetAttribute(*out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &apart,
                                               sizeof apart) == CUBLAS_STATUS_SUCCESS;
}

static bool make_desc(cublasLtMatmulDesc_t *out, const LtProduct &p, const Types &t)
{
    const cublasOperation_t yes = CUBLAS_OP_T;
    static const cublasLtEpilogue_t epilogues[][2] = {
        { CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS },
        { CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_RELU_BIAS },
        { CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS },
    };
    const cublasLtEpilogue_t after = epilogues[p.after][p.bias != nullptr];
    if (lt.cublasLtMatmulDescCreate(out, t.compute, t.scale) != CUBLAS_STATUS_SUCCESS) return false;
    bool good = true;
    if (p.transpose_first)
        good = lt.cublasLtMatmulDescSetAttribute(*out, CUBLASLT_MATMUL_DESC_TRANSA, &yes, sizeof yes) ==
               CUBLAS_STATUS_SUCCESS;
    if (p.transpose_second && good)
        good = lt.cublasLtMatmulDescSetAttribute(*out, CUBLASLT_MATMUL_DESC_TRANSB, &yes, sizeof yes) ==
               CUBLAS_STATUS_SUCCESS;
    if (after != CUBLASLT_EPILOGUE_DEFAULT && good)
        good = lt.cublasLtMatmulDescSetAttribute(*out, CUBLASLT_MATMUL_DESC_EPILOGUE, &after, sizeof after) ==
               CUBLAS_STATUS_SUCCESS;
    return good;
}

/* What a plan is made for and measured with: a stream and memory. */
struct Try {
    const Work &w;
    const LtProduct &p;
    cublasLtHandle_t handle;
    void *z;
    char *room;
};

/* Milliseconds of a few runs; below 0: it does not run. */
static float measure(const Try &t, const Plan &plan, const cublasLtMatmulAlgo_t &algo, size_t room,
                     const cudaEvent_t (&events)[2])
{
    enum { WARM = 1, RUNS = 3 };
    static const double ones[2] = { 1, 0 }, nones[2] = { 0, 0 };
    const float one = 1, none = 0;
    const bool wide = t.p.in == TSR_F64 || t.p.in == TSR_C128;
    const float complex_one[2] = { 1, 0 }, complex_none[2] = { 0, 0 };
    const bool complex = t.p.in == TSR_C64;
    const void *alpha = wide ? static_cast<const void *>(ones) : complex ? complex_one : &one;
    const void *beta = wide ? static_cast<const void *>(nones) : complex ? complex_none : &none;
    float ms = -1;
    cublasStatus_t s = CUBLAS_STATUS_SUCCESS;
    for (int i = 0; i < WARM + RUNS && s == CUBLAS_STATUS_SUCCESS; i++) {
        if (i == WARM) (void)cudaEventRecord(events[0], t.w.stream);
        s = lt.cublasLtMatmul(t.handle, plan.desc, alpha, t.p.first, plan.layout[0], t.p.second,
                              plan.layout[1], beta, t.z, plan.layout[3], t.z, plan.layout[3], &algo, t.room,
                              room, t.w.stream);
    }
    (void)cudaEventRecord(events[1], t.w.stream);
    if (wait_for_event(t.w.device, events[1]) != cudaSuccess || s != CUBLAS_STATUS_SUCCESS) return -1;
    return cudaEventElapsedTime(&ms, events[0], events[1]) == cudaSuccess ? ms : -1;
}

/* The quickest of those that are proposed; the first where there is no room to try them. */
static int find_quickest(const Work &w, const LtProduct &p, cublasLtHandle_t handle, const Plan &plan,
                         const cublasLtMatmulHeuristicResult_t *found, int count)
{
    cudaEvent_t events[2] = { nullptr, nullptr };
    Scratch z(w), room(w);
    int best = 0;
    float least = -1;
    const size_t bytes = static_cast<size_t>(tsrc_size(p.out)) *
                         static_cast<size_t>(p.lead[3] * p.n + (p.batch - 1) * p.apart[3]);
    if (z.take(bytes) != TSR_OK || room.take(WORKSPACE) != TSR_OK ||
        cudaEventCreate(&events[0]) != cudaSuccess || cudaEventCreate(&events[1]) != cudaSuccess)
        count = 0;
    if (p.bias && lt.cublasLtMatmulDescSetAttribute(plan.desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p.bias,
                                                    sizeof p.bias) != CUBLAS_STATUS_SUCCESS)
        count = 0;
    const Try t = { w, p, handle, z.bytes(), room.bytes() };
    for (int i = 0; i < count; i++) {
        if (found[i].state != CUBLAS_STATUS_SUCCESS) continue;
        const float ms = measure(t, plan, found[i].algo, found[i].workspaceSize, events);
        if (ms < 0 || (least >= 0 && ms >= least)) continue;
        least = ms;
        best = i;
    }
    for (cudaEvent_t e : events)
        if (e) (void)cudaEventDestroy(e);
    (void)cudaGetLastError();
    return best;
}

/* Products of floats that take so long that a better choice pays, on a stream that keeps no graph. */
static bool is_worth_measuring(const Work &w, const LtProduct &p)
{
    static const char *const text = setting("TSR_CUDA_MEASURE");
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    const double products = double(p.m) * double(p.n) * double(p.k) * double(p.batch);
    const size_t most = size_t(1) << 30;
    const size_t bytes = static_cast<size_t>(tsrc_size(p.out)) *
                         static_cast<size_t>(p.lead[3] * p.n + (p.batch - 1) * p.apart[3]);
    if ((text && text[0] == '0') || p.in == TSR_I8 || products < 1e9 || bytes > most) return false;
    (void)cudaStreamIsCapturing(w.stream, &capture);
    return capture == cudaStreamCaptureStatusNone;
}

static bool choose(Plan *plan, const Work &w, const LtProduct &p, cublasLtHandle_t handle, const PlanKey &k)
{
    static const cublasLtMatmulPreferenceAttributes_t names[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
    };
    cublasLtMatmulPreference_t wish = nullptr;
    enum { MOST_FOUND = 6 };
    cublasLtMatmulHeuristicResult_t found[MOST_FOUND];
    const size_t room = WORKSPACE;
    const bool measured = is_worth_measuring(w, p);
    int count = 0;
    if (lt.cublasLtMatmulPreferenceCreate(&wish) != CUBLAS_STATUS_SUCCESS) return false;
    bool good = lt.cublasLtMatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room,
                                                        sizeof room) == CUBLAS_STATUS_SUCCESS;
    const uint32_t sums = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE; /* parts of k meet unrounded */
    good = good && lt.cublasLtMatmulPreferenceSetAttribute(wish, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                                           &sums, sizeof sums) == CUBLAS_STATUS_SUCCESS;
    for (int i = 0; i < 4 && good; i++) {
        const uint32_t aligned = static_cast<uint32_t>(k.aligned[i]);
        good = lt.cublasLtMatmulPreferenceSetAttribute(wish, names[i], &aligned, sizeof aligned) ==
               CUBLAS_STATUS_SUCCESS;
    }
    if (good)
        good = lt.cublasLtMatmulAlgoGetHeuristic(handle, plan->desc, plan->layout[0], plan->layout[1],
                                                 plan->layout[2], plan->layout[3], wish,
                                                 measured ? MOST_FOUND : 1, found,
                                                 &count) == CUBLAS_STATUS_SUCCESS &&
               count > 0 && found[0].state == CUBLAS_STATUS_SUCCESS;
    lt.cublasLtMatmulPreferenceDestroy(wish);
    if (!good) return false;
    const int best = measured && count > 1 ? find_quickest(w, p, handle, *plan, found, count) : 0;
    plan->algo = found[best].algo;
    plan->workspace = found[best].workspaceSize;
    return true;
}

static void forget(Plan *plan)
{
    if (plan->desc) lt.cublasLtMatmulDescDestroy(plan->desc);
    for (cublasLtMatrixLayout_t &l : plan->layout)
        if (l) lt.cublasLtMatrixLayoutDestroy(l);
    *plan = Plan();
}

/* A plan for which there is no room among those that are kept. */
struct OwnPlan {
    Plan plan;
    OwnPlan() = default;
    OwnPlan(const OwnPlan &) = delete;
    OwnPlan &operator=(const OwnPlan &) = delete;
    ~OwnPlan() { forget(&plan); }
};

static Plan make_plan(const Work &w, cublasLtHandle_t handle, const LtProduct &p, const PlanKey &k,
                      const Types &t)
{
    Plan plan;
    const int64_t rows[] = { p.transpose_first ? p.k : p.m, p.transpose_second ? p.n : p.k, p.m, p.m };
    const int64_t columns[] = { p.transpose_first ? p.m : p.k, p.transpose_second ? p.k : p.n, p.n, p.n };
    plan.there = make_desc(&plan.desc, p, t);
    for (int i = 0; i < 4 && plan.there; i++)
        plan.there = make_layout(&plan.layout[i], i < 2 ? t.in : t.out, rows[i], columns[i], p.lead[i],
                                 p.batch, p.apart[i]);
    if (plan.there) plan.there = choose(&plan, w, p, handle, k);
    if (!plan.there) forget(&plan);
    return plan;
}

/* The plan for a product, made if it is the first of its kind. Plans stay where they are. */
static const Plan *plan_for(const Work &w, cublasLtHandle_t handle, const LtProduct &p, const PlanKey &k,
                            const Types &t)
{
    {
        std::shared_lock<std::shared_mutex> guard(plans_lock);
        const auto found = plans.find(k);
        if (found != plans.end()) return &found->second;
    }
    std::unique_lock<std::shared_mutex> guard(plans_lock);
    const auto found = plans.find(k);
    if (found != plans.end()) return &found->second;
    if (plans.size() >= MOST_PLANS) return nullptr;
    return &(plans[k] = make_plan(w, handle, p, k, t));
}

/* Numbers as the scale type has them. */
static void put_scale(unsigned char out[16], cudaDataType_t type, const double v[2], int64_t integer)
{
    const float f[2] = { static_cast<float>(v[0]), static_cast<float>(v[1]) };
    const int32_t i = static_cast<int32_t>(integer);
    switch (type) {
    case CUDA_R_64F:
    case CUDA_C_64F: std::memcpy(out, v, 16); break;
    case CUDA_R_32I: std::memcpy(out, &i, 4); break;
    default: std::memcpy(out, f, 8); break;
    }
}

tsr_status lt_multiply(const Work &w, const LtProduct &p)
{
    Types t;
    cublasLtHandle_t handle = nullptr;
    OwnPlan own;
    Scratch workspace(w);
    alignas(16) unsigned char alpha[16], beta[16];
    if (!is_open() || !types_of(&t, p.in, p.out) || p.batch > INT32_MAX) return TSR_EUNSUPPORTED;
    TSRC_TRY(handle_of(w, &handle));
    const PlanKey key = key_of(w, p);
    const Plan *plan = plan_for(w, handle, p, key, t);
    if (!plan) {
        own.plan = make_plan(w, handle, p, key, t);
        plan = &own.plan;
    }
    if (!plan->there) return TSR_EUNSUPPORTED;
    if (plan->workspace) TSRC_TRY(workspace.take(plan->workspace));
    put_scale(alpha, t.scale, p.alpha, p.alpha_i);
    put_scale(beta, t.scale, p.beta, p.beta_i);
    cublasLtMatmulDescOpaque_t with_bias;
    cublasLtMatmulDesc_t desc = plan->desc;
    if (p.bias) { /* the address is part of the desc: of a copy of it */
        with_bias = *plan->desc;
        desc = &with_bias;
        const cublasStatus_t set = lt.cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                                                     &p.bias, sizeof p.bias);
        if (set != CUBLAS_STATUS_SUCCESS) return failure(w, "the bias", set);
    }
    const cublasStatus_t s = lt.cublasLtMatmul(handle, desc, alpha, p.first, plan->layout[0], p.second,
                                               plan->layout[1], beta, p.c, plan->layout[2], p.z,
                                               plan->layout[3], &plan->algo, workspace.bytes(),
                                               plan->workspace, w.stream);
    if (s == CUBLAS_STATUS_NOT_SUPPORTED) return TSR_EUNSUPPORTED;
    return s == CUBLAS_STATUS_SUCCESS ? TSR_OK : failure(w, "the product", s);
}

} // namespace tsrc

#else

namespace tsrc {

bool lt_has(tsr_dtype, tsr_dtype) { return false; }
tsr_status lt_multiply(const Work &, const LtProduct &) { return TSR_EUNSUPPORTED; }

} // namespace tsrc

#endif
