/* conv.cpp - convolution as one graph of cuDNN, with the bias in it. Algorithms and layouts are timed once
 * for each shape. */
#include "cuda.h"
#include "dnn.h"

#if TSRC_DNN

#include <cfloat>
#include <cstring>
#include <map>

namespace tsrc {

namespace {

/* Operands -------------------------------------------------------------------------------------------- */

enum { X, W, Z, BIAS, IMAGES = 3, OPERANDS = 4, DIMS = 5 };

/* The axis of channels; ahead of it is that of images or results, if there is one. */
int channel_of(const tsr_tensor *t, int spatial) { return t->ndim - spatial - 1; }

/* Strides of packed elements; `last`: channels are innermost. */
void strides_of(int64_t *out, const int64_t *shape, int ndim, int channel, bool last)
{
    int64_t step = last ? shape[channel] : 1;
    for (int d = ndim - 1; d >= 0; d--) {
        if (last && d == channel) continue;
        out[d] = step;
        step *= shape[d];
    }
    if (last) out[channel] = 1;
}

bool is_arranged(const tsr_tensor *t, int channel, bool last)
{
    int64_t stride[TSR_MAX_NDIM];
    strides_of(stride, t->shape, t->ndim, channel, last);
    for (int d = 0; d < t->ndim; d++)
        if (t->shape[d] != 1 && t->stride[d] != stride[d]) return false;
    return reinterpret_cast<uintptr_t>(t->data) % 16 == 0;
}

/* t with its channels in place; copied to scratch where they are not. */
tsr_status arrange(const Work &w, Scratch &memory, tsr_tensor *t, int channel, bool last, bool read)
{
    const tsr_tensor had = *t;
    if (is_arranged(t, channel, last)) return TSR_OK;
    TSRC_TRY(memory.take(size_t(numel(t)) * size_t(tsrc_size(t->dtype))));
    *t = packed(memory.bytes(), t->dtype, t->ndim, t->shape);
    strides_of(t->stride, t->shape, t->ndim, channel, last);
    return read ? copy(w, t, &had) : TSR_OK;
}

/* The same with zeros for further channels, channels innermost. */
tsr_status arrange_wide(const Work &w, Scratch &memory, tsr_tensor *t, int channel, int64_t channels)
{
    const tsr_tensor had = *t;
    int64_t shape[TSR_MAX_NDIM];
    std::memcpy(shape, t->shape, sizeof(int64_t) * size_t(t->ndim));
    shape[channel] = channels;
    tsr_tensor all = packed(nullptr, t->dtype, t->ndim, shape);
    const size_t bytes = size_t(numel(&all)) * size_t(tsrc_size(t->dtype));
    TSRC_TRY(memory.take(bytes));
    TSRC_TRY(check(w.device, w.name(), cudaMemsetAsync(memory.bytes(), 0, bytes, w.stream)));
    *t = packed(memory.bytes(), had.dtype, had.ndim, had.shape);
    strides_of(t->stride, shape, t->ndim, channel, true);
    return copy(w, t, &had);
}

/* Shapes: one dim is seen as two, of which the first has size 1 -------------------------------------- */

struct Shape {
    int32_t device, dtype, dims, biased;
    int32_t plain[IMAGES], last[IMAGES]; /* does it lie so? */
    int64_t of[IMAGES][DIMS], pad_low[3], pad_high[3], stride[3], dilation[3];
    bool operator<(const Shape &o) const { return std::memcmp(this, &o, sizeof *this) < 0; }
};

/* (c, spatial...) has one image. */
void put_shape(int64_t *out, const tsr_tensor *t, int spatial)
{
    const int channel = channel_of(t, spatial);
    *out++ = channel > 0 ? t->shape[0] : 1;
    *out++ = t->shape[channel];
    if (spatial == 1) *out++ = 1;
    for (int i = channel + 1; i < t->ndim; i++) *out++ = t->shape[i];
}

Shape shape_of(const Work &w)
{
    Shape s;
    const tsr_op *op = w.op;
    const tsr_conv_params *p = static_cast<const tsr_conv_params *>(op->params);
    const tsr_tensor *const images[] = { op->in[0], op->in[1], op->out[0] };
    std::memset(&s, 0, sizeof s);
    s.device = w.device;
    s.dtype = op->in[0]->dtype;
    s.biased = op->nin > 2 && op->in[2];
    s.dims = p->spatial < 2 ? 2 : p->spatial;
    for (int o = 0; o < IMAGES; o++) {
        put_shape(s.of[o], images[o], p->spatial);
        s.plain[o] = is_arranged(images[o], channel_of(images[o], p->spatial), false);
        s.last[o] = is_arranged(images[o], channel_of(images[o], p->spatial), true);
    }
    for (int i = 0, from = p->spatial - s.dims; i < s.dims; i++, from++) {
        s.pad_low[i] = from < 0 ? 0 : p->low[from];
        s.pad_high[i] = from < 0 ? 0 : p->high[from];
        s.stride[i] = from < 0 ? 1 : p->stride[from];
        s.dilation[i] = from < 0 ? 1 : p->dilation[from];
    }
    return s;
}

bool all_lie(const int32_t (&so)[IMAGES]) { return so[X] && so[W] && so[Z]; }

double work_of(const Shape &s)
{
    double n = 1;
    for (int d = 0; d < s.dims + 2; d++) n *= double(s.of[Z][d]) * double(d > 0 ? s.of[W][d] : 1);
    return n;
}

/* Algorithms ------------------------------------------------------------------------------------------ */

struct Algorithm {
    DnnPlan plan;
    bool last = false;    /* how images lie */
    int64_t channels = 0; /* of x and w, with zeros; 0: as they are */
};

enum { WIDE = 8 }; /* channels that tensor cores take at a time */

std::map<Shape, Algorithm> kept;

DnnPart image(DnnGraph &g, const Shape &s, int o, cudnnDataType_t type, bool last, DnnPlace place)
{
    int64_t stride[DIMS];
    strides_of(stride, s.of[o], s.dims + 2, 1, last);
    return g.tensor(place == DNN_PASSED ? OPERANDS : o, type, s.dims + 2, s.of[o], stride, place);
}

/* z = x * w + bias, rounded once. */
void add_ops(DnnGraph &g, const Shape &s, bool last)
{
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    (void)dnn_type(tsr_dtype(s.dtype), &type);
    DnnWindows windows = {};
    windows.spatial = s.dims;
    std::memcpy(windows.pad_low, s.pad_low, sizeof s.pad_low);
    std::memcpy(windows.pad_high, s.pad_high, sizeof s.pad_high);
    std::memcpy(windows.stride, s.stride, sizeof s.stride);
    std::memcpy(windows.dilation, s.dilation, sizeof s.dilation);
    const DnnPart x = image(g, s, X, type, last, DNN_MEMORY), w = image(g, s, W, type, last, DNN_MEMORY),
                  z = image(g, s, Z, type, last, DNN_MEMORY);
    if (!s.biased) return g.convolve(windows, x, w, z);
    const int64_t shape[DIMS] = { 1, s.of[Z][1], 1, 1, 1 };
    int64_t stride[DIMS];
    strides_of(stride, shape, s.dims + 2, 1, last);
    const DnnPart bias = g.tensor(BIAS, type, s.dims + 2, shape, stride, DNN_MEMORY);
    const DnnPart sum = image(g, s, Z, CUDNN_DATA_FLOAT, last, DNN_PASSED);
    g.convolve(windows, x, w, sum);
    g.pointwise(CUDNN_POINTWISE_ADD, CUDNN_DATA_FLOAT, sum, bias, nullptr, z);
}

/* Notes of engines to avoid: those that round more than the dtype requires, or differently each time. */
uint32_t avoided(const Shape &s)
{
    uint32_t notes = 1u << CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION |
                     1u << CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
    if (s.dtype == TSR_F32 && !dnn.fast)
        notes |= 1u << CUDNN_NUMERICAL_NOTE_TENSOR_CORE | 1u << CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS;
    if (s.dtype != TSR_F32)
        notes |= 1u << CUDNN_NUMERICAL_NOTE_FFT | 1u << CUDNN_NUMERICAL_NOTE_WINOGRAD |
                 1u << CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4 | 1u << CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6 |
                 1u << CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13;
    return notes;
}

enum { MOST_ALGORITHMS = 12, MOST_ROOM = 512 << 20 };

int list_algorithms(cudnnHandle_t handle, const Shape &s, bool last, int64_t channels, Algorithm *out,
                    int most)
{
    const Beside beside;
    DnnPlan plans[MOST_ALGORITHMS];
    DnnGraph g;
    add_ops(g, s, last);
    const int count = g.plans(handle, plans, most, avoided(s));
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (plans[i].room > MOST_ROOM) dnn_forget(plans[i]);
        if (!plans[i].part) continue;
        out[found].last = last;
        out[found].channels = channels;
        out[found++].plan = plans[i];
    }
    return found;
}

tsr_status failure(const Work &w, const char *what, cudnnStatus_t s)
{
    return say(TSR_EDEVICE, "%s: cuDNN: %s gave %d", w.name(), what, static_cast<int>(s));
}

tsr_status run_algorithm(const Work &w, cudnnHandle_t handle, const Algorithm &algorithm)
{
    static const int64_t ids[] = { X, W, Z, BIAS };
    const tsr_op *op = w.op;
    const int spatial = static_cast<const tsr_conv_params *>(op->params)->spatial;
    const bool biased = op->nin > 2 && op->in[2];
    tsr_tensor t[] = { *op->in[0], *op->in[1], *op->out[0], biased ? *op->in[2] : *op->in[0] };
    Scratch memory[] = { Scratch(w), Scratch(w), Scratch(w), Scratch(w) }, room(w);
    for (int o = 0; o < IMAGES; o++) {
        const int channel = channel_of(&t[o], spatial);
        if (o == Z || algorithm.channels == 0)
            TSRC_TRY(arrange(w, memory[o], &t[o], channel, algorithm.last, o != Z));
        else
            TSRC_TRY(arrange_wide(w, memory[o], &t[o], channel, algorithm.channels));
    }
    if (biased) TSRC_TRY(arrange(w, memory[BIAS], &t[BIAS], 0, false, true));
    if (algorithm.plan.room > 0) TSRC_TRY(room.take(size_t(algorithm.plan.room)));
    void *const data[] = { t[X].data, t[W].data, t[Z].data, t[BIAS].data };
    const cudnnStatus_t e = dnn_run(handle, algorithm.plan, biased ? 4 : 3, ids, data, room.bytes());
    if (e != CUDNN_STATUS_SUCCESS) return failure(w, "the convolution", e);
    return t[Z].data == op->out[0]->data ? TSR_OK : copy(w, op->out[0], &t[Z]);
}

/* Milliseconds of a few times; FLT_MAX: it failed. */
float time_of(const Work &w, cudnnHandle_t handle, const Algorithm &algorithm)
{
    enum { TIMES = 3 };
    cudaEvent_t begin = nullptr, end = nullptr;
    float ms = FLT_MAX;
    bool good = cudaEventCreate(&begin) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess &&
                run_algorithm(w, handle, algorithm) == TSR_OK &&
                cudaEventRecord(begin, w.stream) == cudaSuccess;
    for (int i = 0; i < TIMES; i++) good = good && run_algorithm(w, handle, algorithm) == TSR_OK;
    good = good && cudaEventRecord(end, w.stream) == cudaSuccess &&
           wait_for_event(w.device, end) == cudaSuccess;
    if (good) good = cudaEventElapsedTime(&ms, begin, end) == cudaSuccess;
    if (begin) (void)cudaEventDestroy(begin);
    if (end) (void)cudaEventDestroy(end);
    (void)cudaGetLastError();
    return good ? ms : FLT_MAX;
}

bool may_wait(const Work &w)
{
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(w.stream, &capture) == cudaSuccess && capture == cudaStreamCaptureStatusNone;
}

/* Algorithms with a few more channels, where tensor cores cannot take them as they are. */
int list_wider(cudnnHandle_t handle, const Shape &s, Algorithm *out)
{
    const int64_t channels = s.of[X][1];
    Shape wider = s;
    if (channels % WIDE == 0 || channels >= 4 * WIDE || s.of[W][1] != channels) return 0;
    wider.of[X][1] = wider.of[W][1] = (channels + WIDE - 1) / WIDE * WIDE;
    return list_algorithms(handle, wider, true, wider.of[X][1], out, MOST_ALGORITHMS);
}

/* The fastest algorithm of both layouts; the first, untimed, for little work or while a graph is captured. */
Algorithm choose(const Work &w, cudnnHandle_t handle, const Shape &s)
{
    const double little = 1e7;
    Algorithm algorithms[3 * MOST_ALGORITHMS], best;
    const bool timed = work_of(s) > little && may_wait(w), last = all_lie(s.last) && !all_lie(s.plain);
    const bool both = timed && s.dtype != TSR_F32;
    int count = list_algorithms(handle, s, last, 0, algorithms, timed ? MOST_ALGORITHMS : 1);
    if (both && !last) count += list_algorithms(handle, s, true, 0, algorithms + count, MOST_ALGORITHMS);
    if (both) count += list_wider(handle, s, algorithms + count);
    float least = FLT_MAX;
    for (int i = 0; i < count; i++) {
        const float ms = count > 1 ? time_of(w, handle, algorithms[i]) : 0;
        if (ms >= least) continue;
        least = ms;
        std::swap(best, algorithms[i]);
    }
    for (int i = 0; i < count; i++) dnn_forget(algorithms[i].plan);
    return best;
}

tsr_status convolve(const Work &w)
{
    std::lock_guard<std::mutex> guard(dnn.lock);
    cudnnHandle_t handle;
    const cudnnStatus_t e = dnn_handle(w, &handle);
    if (e != CUDNN_STATUS_SUCCESS) return failure(w, "opening it", e);
    const Shape shape = shape_of(w);
    Algorithm &algorithm = kept[shape];
    if (!algorithm.plan.part) algorithm = choose(w, handle, shape);
    if (!algorithm.plan.part) return say(TSR_EUNSUPPORTED, "%s: cuDNN has no algorithm for this", w.name());
    return run_algorithm(w, handle, algorithm);
}

/* Products of matrices ---------------------------------------------------------------------------------- */

/* Does every element of z come from the one of x beside it? */
bool is_pointwise(const tsr_op *op)
{
    const tsr_conv_params *p = static_cast<const tsr_conv_params *>(op->params);
    const tsr_tensor *f = op->in[1];
    bool so = p->groups == 1;
    for (int i = 0; i < p->spatial; i++)
        so = so && f->shape[f->ndim - 1 - i] == 1 && p->stride[i] == 1 && p->low[i] == 0 && p->high[i] == 0;
    return so;
}

/* (n, c, spatial...) as matrices (n, c, all of those); packed. */
tsr_tensor as_matrices(const tsr_tensor &t, int spatial)
{
    const int lead = t.ndim - spatial;
    int64_t shape[] = { lead == 2 ? t.shape[0] : 1, t.shape[lead - 1], 1 };
    for (int i = 0; i < spatial; i++) shape[2] *= t.shape[lead + i];
    return packed(t.data, t.dtype, 3, shape);
}

/* A product of matrices for each image. */
tsr_status multiply_points(const Work &w, const tsr_tensor &x, const tsr_tensor &f,
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

bool fits_32(const tsr_tensor *t)
{
    const int64_t n = numel(t);
    return n > 0 && n < INT32_MAX;
}

} // namespace

bool has_conv(const tsr_op *op)
{
    const tsr_conv_params *p = static_cast<const tsr_conv_params *>(op->params);
    cudnnDataType_t type;
    if (op->nin < 2 || !op->in[0] || !op->in[1] || !p || !dnn_type(op->in[0]->dtype, &type)) return false;
    for (int i = 0; i < p->spatial; i++)
        if (p->low[i] < 0 || p->high[i] < 0) return false;
    return fits_32(op->in[0]) && fits_32(op->in[1]) && (!op->out[0] || fits_32(op->out[0])) && dnn_is_open();
}

tsr_status run_conv(const Work &w)
{
    const tsr_op *op = w.op;
    const tsr_tensor *x = op->in[0], *f = op->in[1], *z = op->out[0];
    const int spatial = static_cast<const tsr_conv_params *>(op->params)->spatial;
    const bool biased = op->nin > 2 && op->in[2];
    if (numel(z) == 0) return TSR_OK;
    if (biased || !is_pointwise(op) || !is_arranged(x, channel_of(x, spatial), false) ||
        !is_arranged(f, channel_of(f, spatial), false) || !is_arranged(z, channel_of(z, spatial), false))
        return convolve(w);
    return multiply_points(w, *x, *f, *z, spatial);
}

} // namespace tsrc

#else

namespace tsrc {

bool has_conv(const tsr_op *) { return false; }
tsr_status run_conv(const Work &w) { return say(TSR_EUNSUPPORTED, "%s: built without cuDNN", w.name()); }

} // namespace tsrc

#endif
