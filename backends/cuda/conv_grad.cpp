/* conv_grad.cpp - convolutions back by cuDNN, opened by name if it is there: the transposed one, which is the
 * gradient by data, and the gradient by weights. Algorithms are timed once for each shape; those that add up
 * products in one order come first. */
#include "dnn.h"

#if TSRC_DNN

#include <cstring>
#include <map>
#include <mutex>

#include <cudnn.h>

namespace tsrc {

/* The library -------------------------------------------------------------------------------------- */

#define FUNCTIONS(X) \
    X(cudnnCreate) X(cudnnSetStream) X(cudnnCreateTensorDescriptor) X(cudnnSetTensorNdDescriptor) \
    X(cudnnCreateFilterDescriptor) X(cudnnSetFilterNdDescriptor) X(cudnnCreateConvolutionDescriptor) \
    X(cudnnSetConvolutionNdDescriptor) X(cudnnSetConvolutionGroupCount) X(cudnnSetConvolutionMathType) \
    X(cudnnGetConvolutionBackwardDataAlgorithm_v7) X(cudnnFindConvolutionBackwardDataAlgorithmEx) \
    X(cudnnConvolutionBackwardData) X(cudnnGetConvolutionBackwardFilterAlgorithm_v7) \
    X(cudnnFindConvolutionBackwardFilterAlgorithmEx) X(cudnnConvolutionBackwardFilter) \
    X(cudnnDestroyTensorDescriptor) X(cudnnDestroyFilterDescriptor) X(cudnnDestroyConvolutionDescriptor)

struct Back {
    bool found = false;
    FUNCTIONS(TSRC_POINTER)
    cudnnHandle_t handle[MOST_DEVICES] = {};
    std::mutex lock; /* a handle has one stream at a time */
    bool fast = false;
};

static Back back;

static void open_back()
{
    if (!dnn_is_open()) return;
#define X(function) TSRC_FUNCTION_OF(back, function)
    back.found = open_library("cudnn", CUDNN_MAJOR, { FUNCTIONS(X) });
#undef X
    back.fast = dnn.fast;
}

static bool is_open()
{
    static const bool tried = (open_back(), true);
    return tried && back.found;
}

static tsr_status failure(const Work &w, const char *what, cudnnStatus_t s)
{
    return say(TSR_EDEVICE, "%s: cuDNN: %s gave %d", w.name(), what, static_cast<int>(s));
}

static bool type_of(tsr_dtype dtype, cudnnDataType_t *in)
{
    switch (dtype) {
    case TSR_F32: *in = CUDNN_DATA_FLOAT; return true;
    case TSR_F64: *in = CUDNN_DATA_DOUBLE; return true;
    case TSR_F16: *in = CUDNN_DATA_HALF; return true;
    case TSR_BF16: *in = CUDNN_DATA_BFLOAT16; return true;
    default: return false;
    }
}

/* Shapes: one dim is seen as two, of which the first has size 1 --------------------------------------- */

/* The convolution that went forth: from x by w to z. */
struct BackTrio {
    const tsr_tensor *x, *w, *z;
};

static BackTrio trio_of(const tsr_op *op)
{
    if (op->kind == TSR_OP_CONV_TRANSPOSE) return { op->out[0], op->in[1], op->in[0] };
    return { op->in[1], op->out[0], op->in[0] };
}

static bool fits_32(const tsr_tensor *t)
{
    const int64_t n = t ? numel(t) : 0;
    return n > 0 && n < INT32_MAX;
}

/* cuDNN pads both sides alike; zeros behind x count only where they make the result longer. */
static bool has_padding(const BackTrio &t, const tsr_conv_params *p)
{
    for (int d = 0; d < p->spatial; d++) {
        const int64_t in = t.x->shape[t.x->ndim - p->spatial + d],
                      out = t.z->shape[t.z->ndim - p->spatial + d];
        const int64_t left = in + 2 * p->low[d] - (t.w->shape[2 + d] - 1) * p->dilation[d] - 1;
        if (left < 0 || left / p->stride[d] + 1 != out) return false;
    }
    return true;
}

bool has_conv_grad(const tsr_op *op)
{
    const tsr_conv_params *p = static_cast<const tsr_conv_params *>(op->params);
    cudnnDataType_t in;
    if (op->nin < 2 || !op->in[0] || !op->in[1] || !op->out[0] || !p || !type_of(op->in[0]->dtype, &in))
        return false;
    const bool biased = op->nin > 2 && op->in[2];
    const BackTrio t = trio_of(op);
    if (biased && tsrc_size(op->in[0]->dtype) < 4) return false; /* it would be rounded twice */
    return fits_32(t.x) && fits_32(t.w) && fits_32(t.z) && has_padding(t, p) && is_open();
}

struct BackShape {
    int32_t device, dtype, dims, groups, weights;
    int32_t x[5], w[5], z[5], pad[3], stride[3], dilation[3];
    bool operator<(const BackShape &o) const { return std::memcmp(this, &o, sizeof *this) < 0; }
};

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

static BackShape shape_of(const Work &work)
{
    BackShape s;
    const tsr_conv_params *p = static_cast<const tsr_conv_params *>(work.op->params);
    const BackTrio t = trio_of(work.op);
    std::memset(&s, 0, sizeof s);
    s.device = work.device;
    s.dtype = work.op->in[0]->dtype;
    s.dims = p->spatial < 2 ? 2 : p->spatial;
    s.groups = int32_t(p->groups);
    s.weights = work.op->kind == TSR_OP_CONV_GRAD_WEIGHTS;
    put_shape(s.x, t.x, p->spatial);
    put_shape(s.w, t.w, p->spatial);
    put_shape(s.z, t.z, p->spatial);
    const int skip = s.dims - p->spatial;
    for (int i = 0; i < s.dims; i++) {
        s.pad[i] = i < skip ? 0 : int32_t(p->low[i - skip]);
        s.stride[i] = i < skip ? 1 : int32_t(p->stride[i - skip]);
        s.dilation[i] = i < skip ? 1 : int32_t(p->dilation[i - skip]);
    }
    return s;
}

/* Algorithms ------------------------------------------------------------------------------------------ */

struct BackAlgorithm {
    bool there = false, exact = false; /* exact: without TF32, and so not by the default */
    cudnnTensorDescriptor_t x = nullptr, z = nullptr;
    cudnnFilterDescriptor_t w = nullptr;
    cudnnConvolutionDescriptor_t how = nullptr;
    int algo = 0;
    size_t room = 0;
};

static std::map<BackShape, BackAlgorithm> kept;

static void strides_of(int *out, const int32_t *shape, int n)
{
    out[n - 1] = 1;
    for (int i = n - 1; i-- > 0;) out[i] = out[i + 1] * shape[i + 1];
}

static cudnnStatus_t describe(BackAlgorithm &c, const BackShape &s)
{
    cudnnDataType_t in = CUDNN_DATA_FLOAT;
    int strides[5];
    const int n = s.dims + 2;
    (void)type_of(static_cast<tsr_dtype>(s.dtype), &in);
    const cudnnDataType_t sums = in == CUDNN_DATA_DOUBLE ? in : CUDNN_DATA_FLOAT;
    cudnnStatus_t e = back.cudnnCreateTensorDescriptor(&c.x);
    if (e == CUDNN_STATUS_SUCCESS) e = back.cudnnCreateTensorDescriptor(&c.z);
    if (e == CUDNN_STATUS_SUCCESS) e = back.cudnnCreateFilterDescriptor(&c.w);
    if (e == CUDNN_STATUS_SUCCESS) e = back.cudnnCreateConvolutionDescriptor(&c.how);
    strides_of(strides, s.x, n);
    if (e == CUDNN_STATUS_SUCCESS) e = back.cudnnSetTensorNdDescriptor(c.x, in, n, s.x, strides);
    strides_of(strides, s.z, n);
    if (e == CUDNN_STATUS_SUCCESS) e = back.cudnnSetTensorNdDescriptor(c.z, in, n, s.z, strides);
    if (e == CUDNN_STATUS_SUCCESS) e = back.cudnnSetFilterNdDescriptor(c.w, in, CUDNN_TENSOR_NCHW, n, s.w);
    if (e == CUDNN_STATUS_SUCCESS)
        e = back.cudnnSetConvolutionNdDescriptor(c.how, s.dims, s.pad, s.stride, s.dilation,
                                                 CUDNN_CROSS_CORRELATION, sums);
    if (e == CUDNN_STATUS_SUCCESS) e = back.cudnnSetConvolutionGroupCount(c.how, s.groups);
    const bool short_type = in == CUDNN_DATA_HALF || in == CUDNN_DATA_BFLOAT16;
    c.exact = !short_type && !(back.fast && in == CUDNN_DATA_FLOAT);
    if (e == CUDNN_STATUS_SUCCESS)
        e = back.cudnnSetConvolutionMathType(c.how, c.exact ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH);
    return e;
}

static void forget(BackAlgorithm &c)
{
    if (c.x) back.cudnnDestroyTensorDescriptor(c.x);
    if (c.z) back.cudnnDestroyTensorDescriptor(c.z);
    if (c.w) back.cudnnDestroyFilterDescriptor(c.w);
    if (c.how) back.cudnnDestroyConvolutionDescriptor(c.how);
    c = BackAlgorithm();
}

enum { MOST = 16, ROOM = 256 << 20 }; /* algorithms, with and without TF32; bytes */

static bool is_plain(cudnnConvolutionBwdDataAlgo_t a) { return a == CUDNN_CONVOLUTION_BWD_DATA_ALGO_1; }
static bool is_plain(cudnnConvolutionBwdFilterAlgo_t a) { return a == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1; }

/* How good an algorithm is: 4 adds up products of the elements themselves, 2 gives the same bits each time,
 * and one more for products that are exact where they are to be: cuDNN also tries its default, which may be
 * TF32. */
template <class Found> static int rank_of(const BackAlgorithm &c, const Found &f)
{
    if (f.status != CUDNN_STATUS_SUCCESS || f.memory > ROOM) return -1;
    const int exact = c.exact && f.mathType == CUDNN_FMA_MATH;
    if (f.determinism != CUDNN_DETERMINISTIC) return exact;
    return (is_plain(f.algo) ? 4 : 2) + exact;
}

/* The quickest of the best. */
template <class Found> static bool take_best(BackAlgorithm &c, const Found *found, int count)
{
    int best = -1;
    for (int i = 0; i < count; i++)
        if (rank_of(c, found[i]) >= 0 && (best < 0 || rank_of(c, found[i]) > rank_of(c, found[best])))
            best = i;
    if (best < 0) return false;
    (void)back.cudnnSetConvolutionMathType(c.how, found[best].mathType);
    c.algo = static_cast<int>(found[best].algo);
    c.room = found[best].memory;
    return c.there = true;
}

/* Packed operands and result. */
struct BackMemory {
    const tsr_tensor *x, *w, *z;
};

static void find_data(cudnnHandle_t h, BackAlgorithm &c, const BackMemory &m, void *room)
{
    cudnnConvolutionBwdDataAlgoPerf_t found[MOST];
    int count = 0;
    if (room)
        (void)back.cudnnFindConvolutionBackwardDataAlgorithmEx(
            h, c.w, m.w->data, c.z, m.z->data, c.how, c.x, m.x->data, MOST, &count, found, room, ROOM);
    if (count > 0 && take_best(c, found, count)) return;
    count = 0;
    (void)back.cudnnGetConvolutionBackwardDataAlgorithm_v7(h, c.w, c.z, c.how, c.x, MOST, &count, found);
    (void)take_best(c, found, count);
}

static void find_weights(cudnnHandle_t h, BackAlgorithm &c, const BackMemory &m, void *room)
{
    cudnnConvolutionBwdFilterAlgoPerf_t found[MOST];
    int count = 0;
    if (room)
        (void)back.cudnnFindConvolutionBackwardFilterAlgorithmEx(
            h, c.x, m.x->data, c.z, m.z->data, c.how, c.w, m.w->data, MOST, &count, found, room, ROOM);
    if (count > 0 && take_best(c, found, count)) return;
    count = 0;
    (void)back.cudnnGetConvolutionBackwardFilterAlgorithm_v7(h, c.x, c.z, c.how, c.w, MOST, &count,
                                                             found);
    (void)take_best(c, found, count);
}

/* Timed on the operands themselves, or guessed where the stream keeps a graph or there is no room. */
static tsr_status choose(const Work &w, cudnnHandle_t handle, BackAlgorithm &c, const BackShape &s,
                         const BackMemory &m)
{
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    Scratch room(w);
    (void)cudaStreamIsCapturing(w.stream, &capture);
    if (capture == cudaStreamCaptureStatusNone) (void)room.take(ROOM);
    if (s.weights) find_weights(handle, c, m, room.bytes());
    else find_data(handle, c, m, room.bytes());
    (void)cudaGetLastError();
    return c.there ? TSR_OK : say(TSR_EUNSUPPORTED, "%s: cuDNN has no algorithm for this", w.name());
}

static tsr_status convolve_back(const Work &w, const BackMemory &m)
{
    std::lock_guard<std::mutex> guard(back.lock);
    cudnnHandle_t &handle = back.handle[w.device];
    cudnnStatus_t e = CUDNN_STATUS_SUCCESS;
    if (!handle) {
        const Beside beside;
        e = back.cudnnCreate(&handle);
    }
    if (e == CUDNN_STATUS_SUCCESS) e = back.cudnnSetStream(handle, w.stream);
    if (e != CUDNN_STATUS_SUCCESS) return failure(w, "opening it", e);
    const BackShape shape = shape_of(w);
    BackAlgorithm &c = kept[shape];
    if (!c.there) {
        forget(c);
        e = describe(c, shape);
        if (e != CUDNN_STATUS_SUCCESS) return failure(w, "the shapes", e);
        TSRC_TRY(choose(w, handle, c, shape, m));
    }
    Scratch room(w);
    const float one = 1, none = 0;
    const double wide_one = 1, wide_none = 0;
    const bool wide = shape.dtype == TSR_F64;
    const void *alpha = wide ? static_cast<const void *>(&wide_one) : &one;
    const void *beta = wide ? static_cast<const void *>(&wide_none) : &none;
    if (c.room) TSRC_TRY(room.take(c.room));
    e = shape.weights
            ? back.cudnnConvolutionBackwardFilter(handle, alpha, c.x, m.x->data, c.z, m.z->data, c.how,
                                                  static_cast<cudnnConvolutionBwdFilterAlgo_t>(c.algo),
                                                  room.bytes(), c.room, beta, c.w, m.w->data)
            : back.cudnnConvolutionBackwardData(handle, alpha, c.w, m.w->data, c.z, m.z->data, c.how,
                                                static_cast<cudnnConvolutionBwdDataAlgo_t>(c.algo),
                                                room.bytes(), c.room, beta, c.x, m.x->data);
    return e == CUDNN_STATUS_SUCCESS ? TSR_OK : failure(w, "the convolution", e);
}

/* Operands ---------------------------------------------------------------------------------------------- */

static bool is_packed(const tsr_tensor *t)
{
    int64_t step = 1;
    for (int d = t->ndim - 1; d >= 0; d--) {
        if (t->shape[d] != 1 && t->stride[d] != step) return false;
        step *= t->shape[d];
    }
    return reinterpret_cast<uintptr_t>(t->data) % 16 == 0;
}

/* t packed, in memory of its own where it does not lie so. */
static tsr_status pack(const Work &w, Scratch &memory, tsr_tensor *t, bool read)
{
    const tsr_tensor had = *t;
    if (is_packed(t)) return TSR_OK;
    TSRC_TRY(memory.take(size_t(numel(t)) * size_t(tsrc_size(t->dtype))));
    *t = packed(memory.bytes(), t->dtype, t->ndim, t->shape);
    return read ? copy(w, t, &had) : TSR_OK;
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

tsr_status run_conv_grad(const Work &w)
{
    const tsr_op *op = w.op;
    const bool weights = op->kind == TSR_OP_CONV_GRAD_WEIGHTS;
    const BackTrio t = trio_of(op);
    tsr_tensor x = *t.x, f = *t.w, z = *t.z;
    Scratch x_memory(w), f_memory(w), z_memory(w);
    TSRC_TRY(pack(w, x_memory, &x, weights));
    TSRC_TRY(pack(w, f_memory, &f, !weights));
    TSRC_TRY(pack(w, z_memory, &z, true));
    TSRC_TRY(convolve_back(w, { &x, &f, &z }));
    tsr_tensor &made = weights ? f : x;
    if (op->nin > 2 && op->in[2])
        TSRC_TRY(add_bias(w, &made, op->in[2], static_cast<const tsr_conv_params *>(op->params)->spatial));
    return made.data == op->out[0]->data ? TSR_OK : copy(w, op->out[0], &made);
}

} // namespace tsrc

#else

namespace tsrc {

bool has_conv_grad(const tsr_op *) { return false; }
tsr_status run_conv_grad(const Work &w) { return say(TSR_EUNSUPPORTED, "%s: built without cuDNN", w.name()); }

} // namespace tsrc

#endif
