/* conv.cpp - convolution by cuDNN, opened by name if it is there. Ways are timed once for each shape. */
#include "cuda.h"

#if __has_include(<cudnn.h>)

#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include <cudnn.h>
#include <dlfcn.h>

namespace tsrc {

/* The library -------------------------------------------------------------------------------------- */

#define FUNCTIONS(X) \
    X(cudnnCreate) X(cudnnSetStream) X(cudnnCreateTensorDescriptor) X(cudnnDestroyTensorDescriptor) \
    X(cudnnSetTensorNdDescriptor) X(cudnnCreateFilterDescriptor) X(cudnnDestroyFilterDescriptor) \
    X(cudnnSetFilterNdDescriptor) X(cudnnCreateConvolutionDescriptor) \
    X(cudnnDestroyConvolutionDescriptor) X(cudnnSetConvolutionNdDescriptor) \
    X(cudnnSetConvolutionGroupCount) X(cudnnSetConvolutionMathType) \
    X(cudnnGetConvolutionForwardAlgorithm_v7) X(cudnnFindConvolutionForwardAlgorithmEx) \
    X(cudnnGetConvolutionForwardWorkspaceSize) X(cudnnConvolutionForward)

struct Dnn {
    void *library = nullptr;
#define X(name) decltype(&::name) name = nullptr;
    FUNCTIONS(X)
#undef X
    cudnnHandle_t handle[MOST_DEVICES] = {};
    std::mutex lock; /* a handle has one stream at a time */
    bool fast = false;
};

static Dnn dnn;

static void open_library()
{
    char name[64];
    std::snprintf(name, sizeof name, "libcudnn.so.%d", CUDNN_MAJOR);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    bool all = true;
#define X(function) \
    all = (dnn.function = reinterpret_cast<decltype(dnn.function)>(dlsym(library, #function))) != nullptr && \
          all;
    FUNCTIONS(X)
#undef X
    const char *text = setting("TSR_CUDA_TF32");
    dnn.fast = text && text[0] == '1';
    if (all) dnn.library = library;
}

static bool is_open()
{
    static const bool tried = (open_library(), true);
    return tried && dnn.library != nullptr;
}

static tsr_status blame(const Work &w, const char *what, cudnnStatus_t s)
{
    return say(TSR_EDEVICE, "%s: cuDNN: %s gave %d", w.name(), what, static_cast<int>(s));
}

static bool type_of(tsr_dtype dtype, cudnnDataType_t *in, cudnnDataType_t *sums)
{
    *sums = CUDNN_DATA_FLOAT;
    switch (dtype) {
    case TSR_F32: *in = CUDNN_DATA_FLOAT; return true;
    case TSR_F16: *in = CUDNN_DATA_HALF; return true;
    case TSR_BF16: *in = CUDNN_DATA_BFLOAT16; return true;
    default: return false;
    }
}

/* Shapes: one dim is seen as two, of which the first has size 1 -------------------------------------- */

struct Shape {
    int32_t device, dtype, dims, groups;
    int32_t widened; /* f32 that was short: the tensor cores multiply it exactly */
    int32_t x[5], w[5], z[5], pad[3], stride[3], dilation[3];
    bool operator<(const Shape &o) const { return std::memcmp(this, &o, sizeof *this) < 0; }
};

struct Chosen {
    bool there = false;
    cudnnTensorDescriptor_t x = nullptr, z = nullptr;
    cudnnFilterDescriptor_t w = nullptr;
    cudnnConvolutionDescriptor_t how = nullptr;
    cudnnConvolutionFwdAlgo_t algo;
    size_t room = 0;
};

static std::map<Shape, Chosen> kept;

static bool fits_32(const tsr_tensor *t)
{
    const int64_t n = numel(t);
    return n > 0 && n < INT32_MAX;
}

bool has_conv(const tsr_op *op)
{
    const tsr_conv_params *p = static_cast<const tsr_conv_params *>(op->params);
    cudnnDataType_t in, sums;
    if (op->nin < 2 || !op->in[0] || !op->in[1] || !p || !type_of(op->in[0]->dtype, &in, &sums)) return false;
    for (int i = 0; i < p->spatial; i++)
        if (p->low[i] != p->high[i] || p->low[i] < 0) return false;
    return fits_32(op->in[0]) && fits_32(op->in[1]) && (!op->out[0] || fits_32(op->out[0])) && is_open();
}

/* (c, spatial...) has one image. */
static void put_shape(int32_t *out, const tsr_tensor *t, int spatial)
{
    const int lead = t->ndim - spatial;
    int at = 0;
    out[at++] = lead == 2 ? int32_t(t->shape[0]) : 1;
    out[at++] = int32_t(t->shape[lead - 1]);
    if (spatial == 1) out[at++] = 1;
    for (int i = 0; i < spatial; i++) out[at++] = int32_t(t->shape[lead + i]);
}

static Shape shape_of(const Work &w, bool widened)
{
    Shape s;
    const tsr_op *op = w.op;
    const tsr_conv_params *p = static_cast<const tsr_conv_params *>(op->params);
    std::memset(&s, 0, sizeof s);
    s.device = w.device;
    s.dtype = widened ? TSR_F32 : op->in[0]->dtype;
    s.widened = widened;
    s.dims = p->spatial < 2 ? 2 : p->spatial;
    s.groups = int32_t(p->groups);
    put_shape(s.x, op->in[0], p->spatial);
    put_shape(s.w, op->in[1], p->spatial);
    put_shape(s.z, op->out[0], p->spatial);
    const int skip = s.dims - p->spatial;
    for (int i = 0; i < s.dims; i++) {
        s.pad[i] = i < skip ? 0 : int32_t(p->low[i - skip]);
        s.stride[i] = i < skip ? 1 : int32_t(p->stride[i - skip]);
        s.dilation[i] = i < skip ? 1 : int32_t(p->dilation[i - skip]);
    }
    return s;
}

static void strides_of(int *out, const int32_t *shape, int n)
{
    out[n - 1] = 1;
    for (int i = n - 1; i-- > 0;) out[i] = out[i + 1] * shape[i + 1];
}

static cudnnStatus_t describe(Chosen &c, const Shape &s)
{
    cudnnDataType_t in = CUDNN_DATA_FLOAT, sums = CUDNN_DATA_FLOAT;
    int strides[5];
    const int n = s.dims + 2;
    (void)type_of(static_cast<tsr_dtype>(s.dtype), &in, &sums);
    cudnnStatus_t e = dnn.cudnnCreateTensorDescriptor(&c.x);
    if (e == CUDNN_STATUS_SUCCESS) e = dnn.cudnnCreateTensorDescriptor(&c.z);
    if (e == CUDNN_STATUS_SUCCESS) e = dnn.cudnnCreateFilterDescriptor(&c.w);
    if (e == CUDNN_STATUS_SUCCESS) e = dnn.cudnnCreateConvolutionDescriptor(&c.how);
    strides_of(strides, s.x, n);
    if (e == CUDNN_STATUS_SUCCESS) e = dnn.cudnnSetTensorNdDescriptor(c.x, in, n, s.x, strides);
    strides_of(strides, s.z, n);
    if (e == CUDNN_STATUS_SUCCESS) e = dnn.cudnnSetTensorNdDescriptor(c.z, in, n, s.z, strides);
    if (e == CUDNN_STATUS_SUCCESS) e = dnn.cudnnSetFilterNdDescriptor(c.w, in, CUDNN_TENSOR_NCHW, n, s.w);
    if (e == CUDNN_STATUS_SUCCESS)
        e = dnn.cudnnSetConvolutionNdDescriptor(c.how, s.dims, s.pad, s.stride, s.dilation,
                                                CUDNN_CROSS_CORRELATION, sums);
    if (e == CUDNN_STATUS_SUCCESS) e = dnn.cudnnSetConvolutionGroupCount(c.how, s.groups);
    if (e == CUDNN_STATUS_SUCCESS)
        e = dnn.cudnnSetConvolutionMathType(
            c.how, in == CUDNN_DATA_FLOAT && !dnn.fast && !s.widened ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH);
    return e;
}

static void forget(Chosen &c)
{
    if (c.x) dnn.cudnnDestroyTensorDescriptor(c.x);
    if (c.z) dnn.cudnnDestroyTensorDescriptor(c.z);
    if (c.w) dnn.cudnnDestroyFilterDescriptor(c.w);
    if (c.how) dnn.cudnnDestroyConvolutionDescriptor(c.how);
    c = Chosen();
}

/* Does an algorithm add up products of the elements themselves? */
static bool is_plain(cudnnConvolutionFwdAlgo_t algo)
{
    return algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
           algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM ||
           algo == CUDNN_CONVOLUTION_FWD_ALGO_GEMM;
}

/* The algorithms, timed on the operands themselves, or guessed where the stream keeps a graph. */
static tsr_status choose(const Work &w, cudnnHandle_t handle, Chosen &c, bool plain, const void *x,
                         const void *f, void *z)
{
    enum { MOST = 8, ROOM = 256 << 20 };
    cudnnConvolutionFwdAlgoPerf_t found[MOST];
    int count = 0;
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    (void)cudaStreamIsCapturing(w.stream, &capture);
    if (capture == cudaStreamCaptureStatusNone) {
        Scratch room(w);
        TSRC_TRY(room.take(ROOM));
        (void)dnn.cudnnFindConvolutionForwardAlgorithmEx(handle, c.x, x, c.w, f, c.how, c.z, z, MOST, &count,
                                                         found, room.bytes(), ROOM);
    }
    if (count == 0)
        (void)dnn.cudnnGetConvolutionForwardAlgorithm_v7(handle, c.x, c.w, c.how, c.z, MOST, &count, found);
    for (int i = 0; i < count; i++) {
        if (found[i].status != CUDNN_STATUS_SUCCESS || found[i].memory > ROOM) continue;
        if (plain && !is_plain(found[i].algo)) continue;
        (void)dnn.cudnnSetConvolutionMathType(c.how, found[i].mathType);
        c.algo = found[i].algo;
        c.room = found[i].memory;
        c.there = true;
        return TSR_OK;
    }
    (void)cudaGetLastError();
    return say(TSR_EUNSUPPORTED, "%s: cuDNN has no algorithm for this", w.name());
}

static tsr_status convolve(const Work &w, bool widened, const tsr_tensor *x, const tsr_tensor *f,
                           const tsr_tensor *z)
{
    std::lock_guard<std::mutex> guard(dnn.lock);
    cudnnHandle_t &handle = dnn.handle[w.device];
    cudnnStatus_t e = CUDNN_STATUS_SUCCESS;
    if (!handle) {
        const Beside beside;
        e = dnn.cudnnCreate(&handle);
    }
    if (e == CUDNN_STATUS_SUCCESS) e = dnn.cudnnSetStream(handle, w.stream);
    if (e != CUDNN_STATUS_SUCCESS) return blame(w, "opening it", e);
    const Shape shape = shape_of(w, widened);
    Chosen &c = kept[shape];
    if (!c.there) {
        forget(c);
        e = describe(c, shape);
        if (e != CUDNN_STATUS_SUCCESS) return blame(w, "the shapes", e);
        TSRC_TRY(choose(w, handle, c, widened, x->data, f->data, z->data));
    }
    Scratch room(w);
    const float one = 1, none = 0;
    if (c.room) TSRC_TRY(room.take(c.room));
    e = dnn.cudnnConvolutionForward(handle, &one, c.x, x->data, c.w, f->data, c.how, c.algo, room.bytes(),
                                    c.room, &none, c.z, z->data);
    return e == CUDNN_STATUS_SUCCESS ? TSR_OK : blame(w, "the convolution", e);
}

/* Operands ---------------------------------------------------------------------------------------------- */

static bool is_packed(const tsr_tensor *t)
{
    int64_t step = 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        if (t->shape[d] != 1 && t->stride[d] != step) return false;
        step *= t->shape[d];
    }
    return true;
}

/* t packed, in memory of its own where it does not lie so, or as f32. */
static tsr_status pack(const Work &w, Scratch &memory, tsr_tensor *t, bool read, bool widen)
{
    const tsr_tensor had = *t;
    const tsr_dtype dtype = widen ? TSR_F32 : t->dtype;
    if (is_packed(t) && dtype == t->dtype) return TSR_OK;
    TSRC_TRY(memory.take(size_t(numel(t)) * size_t(tsrc_size(dtype))));
    *t = packed(memory.bytes(), dtype, t->ndim, t->shape);
    return read ? copy(w, t, &had) : TSR_OK;
}

/* Does every element of z come from the one of x beside it? */
static bool is_pointwise(const tsr_op *op)
{
    const tsr_conv_params *p = static_cast<const tsr_conv_params *>(op->params);
    const tsr_tensor *f = op->in[1];
    bool so = p->groups == 1;
    for (int i = 0; i < p->spatial; i++)
        so = so && f->shape[f->ndim - 1 - i] == 1 && p->stride[i] == 1 && p->low[i] == 0 && p->high[i] == 0;
    return so;
}

/* (n, c, spatial...) as matrices (n, c, all of those); packed. */
static tsr_tensor as_matrices(const tsr_tensor &t, int spatial)
{
    const int lead = t.ndim - spatial;
    int64_t shape[] = { lead == 2 ? t.shape[0] : 1, t.shape[lead - 1], 1 };
    for (int i = 0; i < spatial; i++) shape[2] *= t.shape[lead + i];
    return packed(t.data, t.dtype, 3, shape);
}

/* A product of matrices for each image. */
static tsr_status multiply_points(const Work &w, const tsr_tensor &x, const tsr_tensor &f,
                                  const tsr_tensor &z, int spatial)
{
    static const tsr_matmul_params plain = { { TSR_I64, 0, { 1 } }, { TSR_I64, 0, { 0 } } };
    const tsr_tensor points = as_matrices(x, spatial), result = as_matrices(z, spatial);
    const int64_t shape[] = { points.shape[0], f.shape[0], f.shape[1] };
    tsr_tensor weights = packed(f.data, f.dtype, 3, shape);
    weights.stride[0] = 0;
    tsr_op op = {};
    op.kind = TSR_OP_MATMUL;
    op.nin = 2;
    op.nout = 1;
    op.in[0] = &weights;
    op.in[1] = &points;
    op.out[0] = const_cast<tsr_tensor *>(&result);
    op.params = &plain;
    return run_matmul(Work{ &op, w.device, w.stream });
}

/* z += bias, along the channels. */
static tsr_status add_bias(const Work &w, tsr_tensor *z, const tsr_tensor *bias, int spatial)
{
    tsr_tensor b = *z;
    const int channel = z->ndim - spatial - 1;
    for (int d = 0; d < b.ndim; d++) b.stride[d] = d == channel ? bias->stride[0] : 0;
    b.data = bias->data;
    tsr_op op = {};
    op.kind = TSR_OP_ADD;
    op.nin = 2;
    op.nout = 1;
    op.in[0] = z;
    op.in[1] = &b;
    op.out[0] = z;
    return run_elementwise(Work{ &op, w.device, w.stream });
}

/* cuDNN rounds to the operands' dtype: with a bias short floats are widened, so that it happens once. */
tsr_status run_conv(const Work &w)
{
    const tsr_op *op = w.op;
    const int spatial = static_cast<const tsr_conv_params *>(op->params)->spatial;
    const bool biased = op->nin > 2 && op->in[2], widen = biased && tsrc_size(op->in[0]->dtype) < 4;
    tsr_tensor x = *op->in[0], f = *op->in[1], z = *op->out[0];
    Scratch x_memory(w), f_memory(w), z_memory(w), bias_memory(w);
    if (numel(&z) == 0) return TSR_OK;
    TSRC_TRY(pack(w, x_memory, &x, true, widen));
    TSRC_TRY(pack(w, f_memory, &f, true, widen));
    TSRC_TRY(pack(w, z_memory, &z, false, widen));
    if (is_pointwise(op) && !widen)
        TSRC_TRY(multiply_points(w, x, f, z, spatial));
    else
        TSRC_TRY(convolve(w, widen, &x, &f, &z));
    if (biased) {
        tsr_tensor bias = *op->in[2];
        TSRC_TRY(pack(w, bias_memory, &bias, true, widen));
        TSRC_TRY(add_bias(w, &z, &bias, spatial));
    }
    return z.data == op->out[0]->data ? TSR_OK : copy(w, op->out[0], &z);
}

} // namespace tsrc

#else

namespace tsrc {

bool has_conv(const tsr_op *) { return false; }
tsr_status run_conv(const Work &w) { return say(TSR_EUNSUPPORTED, "%s: built without cuDNN", w.name()); }

} // namespace tsrc

#endif
