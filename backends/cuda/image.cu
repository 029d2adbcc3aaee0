/* image.cu - resize, a dim at a time by the host's tables, and grid_sample. Sums are in f32, those of f64 in
 * f64; bytes are summed in f32. */
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "cuda.h"
#include "nest.cuh"

#include <tessera/ops/image.h>

namespace tsrc {

/* Tables ------------------------------------------------------------------------------------------ */

/* Bytes of the host that go to the device as an argument: a graph that is being captured keeps them. */
enum { PART = 3840 };
struct PartArgs {
    char *to;
    uint32_t bytes;
    unsigned char data[PART];
};

__global__ void __launch_bounds__(TSRC_THREADS) write_part_kernel(const __grid_constant__ PartArgs a)
{
    for (uint32_t i = threadIdx.x; i < a.bytes; i += TSRC_THREADS) a.to[i] = char(a.data[i]);
}

static tsr_status write_bytes(const Work &w, char *to, const char *from, size_t bytes)
{
    PartArgs a;
    for (size_t at = 0; at < bytes; at += PART) {
        a.to = to + at;
        a.bytes = uint32_t(bytes - at < PART ? bytes - at : PART);
        std::memcpy(a.data, from + at, a.bytes);
        TSRC_TRY(launch(w, (const void *)write_part_kernel, 1, TSRC_THREADS, 0, a));
    }
    return TSR_OK;
}

/* How a dim is made: where each output's first input is, and the weights from there on. */
struct Table {
    int64_t taps;
    int64_t *first;
    char *weight;
};

/* `numbers` has room for all; floats take the place of doubles. */
static tsr_status fill_table(Scratch &room, Table &t, const Work &w, int d, int64_t in, bool wide,
                             int64_t *numbers)
{
    const tsr_resize_params *p = static_cast<const tsr_resize_params *>(w.op->params);
    const int64_t out = p->size[d], n = out * t.taps;
    double *weight = reinterpret_cast<double *>(numbers + out);
    float *narrow = reinterpret_cast<float *>(weight);
    const size_t bytes = size_t(out) * 8 + size_t(n) * (wide ? 8 : 4);
    (void)host->resize_table(p, d, in, numbers, weight);
    for (int64_t i = 0; i < n && !wide; i++) {
        const float one = float(weight[i]);
        std::memcpy(narrow + i, &one, sizeof one);
    }
    TSRC_TRY(room.take(bytes));
    t.first = room.as<int64_t>();
    t.weight = room.bytes() + out * 8;
    return write_bytes(w, room.bytes(), reinterpret_cast<const char *>(numbers), bytes);
}

static tsr_status make_table(Scratch &room, Table &t, const Work &w, int d, int64_t in, bool wide)
{
    const tsr_resize_params *p = static_cast<const tsr_resize_params *>(w.op->params);
    t.taps = host->resize_table(p, d, in, nullptr, nullptr);
    const bool fits = p->size[d] < INT64_MAX / 64 / (t.taps + 1);
    void *numbers = fits ? std::malloc(size_t(p->size[d] * (t.taps + 1)) * 8) : nullptr;
    if (!numbers) return say(TSR_ENOMEM, "resize: no room for %lld weights", (long long)p->size[d]);
    const tsr_status s = fill_table(room, t, w, d, in, wide, static_cast<int64_t *>(numbers));
    std::free(numbers);
    return s;
}

/* Resize ------------------------------------------------------------------------------------------ */

/* Operands of the nest: z, the table's `first`, x without its axis. */
struct ResizeArgs {
    tsrc_nest nest;
    Table table;
    int64_t step; /* bytes along x's axis */
    int z_dtype, x_dtype;
};

template <class V> TSRC_FN V load_pixel(int dtype, const char *p)
{
    if (dtype == TSR_U8) return V(*reinterpret_cast<const uint8_t *>(p));
    if constexpr (sizeof(V) == 8)
        return *reinterpret_cast<const double *>(p);
    else
        return load_f32(dtype, p);
}

template <class V> TSRC_FN void store_pixel(int dtype, char *p, V v)
{
    if (dtype == TSR_U8)
        *reinterpret_cast<uint8_t *>(p) = uint8_t(fminf(fmaxf(floorf(float(v) + 0.5f), 0.0f), 255.0f));
    else
        store_float(dtype, p, v);
}

/* What has no weight is not seen. */
template <class V>
__global__ void __launch_bounds__(TSRC_THREADS) resize_kernel(const __grid_constant__ ResizeArgs a)
{
    const uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x;
    if (i >= a.nest.total) return;
    int64_t at[3];
    find_group(a.nest, i, at);
    const int64_t *first = reinterpret_cast<const int64_t *>(a.nest.data[1] + at[1]);
    const V *weight = reinterpret_cast<const V *>(a.table.weight) + (first - a.table.first) * a.table.taps;
    const char *x = a.nest.data[2] + at[2] + *first * a.step;
    V sum = 0;
    for (int64_t k = 0; k < a.table.taps; k++)
        if (weight[k] != V(0)) sum += weight[k] * load_pixel<V>(a.x_dtype, x + k * a.step);
    store_pixel(a.z_dtype, a.nest.data[0] + at[0], sum);
}

static bool is_nearest(const tsr_op *op)
{
    return static_cast<const tsr_resize_params *>(op->params)->mode <= TSR_INTERPOLATE_NEAREST_EXACT;
}

/* The numbers that sums are in. */
static tsr_dtype sum_dtype(const tsr_op *op)
{
    const tsr_dtype dtype = op->in[0]->dtype;
    return is_nearest(op) ? dtype : dtype == TSR_F64 ? TSR_F64 : TSR_F32;
}

struct ResizeJob {
    const Work *w;
    ResizeArgs args;
};

static int resize_part(const tsr_loop *part, void *context)
{
    ResizeJob *j = static_cast<ResizeJob *>(context);
    const int sizes[] = { tsrc_size(tsr_dtype(j->args.z_dtype)), 8, tsrc_size(tsr_dtype(j->args.x_dtype)) };
    tsrc_nest_of(&j->args.nest, part, sizes, 1);
    const void *kernel = sum_dtype(j->w->op) == TSR_F64 ? (const void *)resize_kernel<double>
                                                        : (const void *)resize_kernel<float>;
    return launch(*j->w, kernel, tsrc_blocks(j->args.nest.total, TSRC_THREADS), TSRC_THREADS, 0, j->args);
}

/* The table's `first` with the shape of z: it walks along the axis alone. */
static tsr_tensor along_axis(const Table &t, const tsr_tensor &z, int axis)
{
    tsr_tensor index = packed(t.first, TSR_I64, z.ndim, z.shape);
    for (int d = 0; d < z.ndim; d++) index.stride[d] = d == axis;
    return index;
}

/* Elements are moved, bit for bit. */
static tsr_status gather_axis(const Work &w, const tsr_tensor &z, const tsr_tensor &index,
                              const tsr_tensor &x, int axis)
{
    const tsr_axis_params along = { axis };
    tsr_tensor out = z;
    tsr_op op;
    std::memset(&op, 0, sizeof op);
    op.kind = TSR_OP_GATHER;
    op.nin = 2;
    op.in[0] = &x;
    op.in[1] = &index;
    op.nout = 1;
    op.out[0] = &out;
    op.params = &along;
    const Work gather = { &op, w.device, w.stream };
    return run_gather(gather);
}

/* z = x with another dim `axis`, which is spatial dim d. */
static tsr_status resize_axis(const Work &w, const tsr_tensor &z, const tsr_tensor &x, int axis, int d)
{
    Scratch room(w);
    ResizeJob job;
    tsr_loop l;
    std::memset(&job, 0, sizeof job);
    TSRC_TRY(make_table(room, job.args.table, w, d, x.shape[axis], sum_dtype(w.op) == TSR_F64));
    const tsr_tensor index = along_axis(job.args.table, z, axis);
    if (is_nearest(w.op)) return gather_axis(w, z, index, x, axis);
    tsr_tensor still = x;
    still.stride[axis] = 0;
    job.w = &w;
    job.args.step = x.shape[axis] > 1 ? x.stride[axis] * tsrc_size(x.dtype) : 0;
    job.args.z_dtype = z.dtype;
    job.args.x_dtype = x.dtype;
    const tsr_tensor *const tensors[] = { &z, &index, &still };
    host->normalise(&l, 3, tensors);
    return static_cast<tsr_status>(tsrc_split(&l, TSRC_DIMS, TSRC_LIMIT, resize_part, &job));
}

bool has_resize(const tsr_op *op)
{
    return host->size > offsetof(tsr_host, resize_table) && op->params && op->in[0];
}

/* The last dim comes first; the first one writes the result. */
tsr_status run_resize(const Work &w)
{
    const tsr_tensor *out = w.op->out[0];
    const int spatial = static_cast<const tsr_resize_params *>(w.op->params)->spatial;
    tsr_tensor x = *w.op->in[0];
    Scratch had(w);
    if (numel(out) == 0) return TSR_OK;
    for (int d = spatial - 1; d >= 0; d--) {
        const int axis = x.ndim - spatial + d;
        Scratch room(w);
        tsr_tensor z = *out;
        if (d > 0) {
            tsr_tensor like = x;
            like.shape[axis] = out->shape[axis];
            TSRC_TRY(room.take(size_t(numel(&like)) * size_t(tsrc_size(sum_dtype(w.op)))));
            z = packed(room.bytes(), sum_dtype(w.op), x.ndim, like.shape);
        }
        TSRC_TRY(resize_axis(w, z, x, axis, d));
        had.swap(room);
        x = z;
    }
    return TSR_OK;
}

/* Grids -------------------------------------------------------------------------------------------- */

/* Operands of the nest: z, x, grid, without channels; x walks along the images alone. */
struct GridArgs {
    tsrc_nest nest;
    int64_t size[3], x_step[3]; /* the outermost first; what x lacks has size 1 */
    int64_t channels, z_channel, x_channel, which;
    int spatial, mode, padding, align_corners, dtype, grid_dtype;
};

/* Elements that a place sees along one axis; -1: one outside. */
struct Taps {
    int n;
    int64_t index[4];
    double weight[4];
};

TSRC_FN double held(double x, double low, double high) { return fmin(fmax(x, low), high); }

/* x, reflected at low and low + span as often as needed. */
TSRC_FN double reflected(double x, double low, double span)
{
    const double from = fabs(x - low);
    if (span == 0) return 0;
    const double flips = from / span < 0x1p53 ? floor(from / span) : 0,
                 extra = held(from - flips * span, 0, span);
    return flips == 2 * floor(flips / 2) ? low + extra : low + span - extra;
}

/* The place in x that is meant by one outside it; still outside, where zeros are seen. */
TSRC_FN double padded(double at, int64_t size, const GridArgs &g)
{
    const double last = double(size - 1);
    if (g.padding == TSR_GRID_REFLECTION)
        at = g.align_corners ? reflected(at, 0, last) : reflected(at, -0.5, double(size));
    return g.padding == TSR_GRID_ZEROS ? held(at, -8, last + 8) : held(at, 0, last);
}

TSRC_FN int64_t inside(double at, int64_t size) { return at >= 0 && at < double(size) ? int64_t(at) : -1; }

/* Keys' cubic at x >= 0, a = -0.75. */
TSRC_FN double cubic(double x)
{
    return x < 1 ? (1.25 * x - 2.25) * x * x + 1 : (((x - 5) * x + 8) * x - 4) * -0.75;
}

TSRC_FN void take_cubic(Taps &t, double at, int64_t size, const GridArgs &g)
{
    const double low = floor(held(at, -0x1p52, 0x1p52)), over = held(at - low, 0, 1);
    t.n = 4;
    for (int i = 0; i < 4; i++) {
        t.index[i] = inside(rint(padded(low - 1 + i, size, g)), size);
        t.weight[i] = cubic(fabs(over + 1 - i));
    }
}

/* What a coordinate of -1 .. 1 sees along an axis. NaN counts as -1; infinity times 0, where there is one
 * element, too. */
TSRC_FN void take_axis(Taps &t, double at, int64_t size, const GridArgs &g)
{
    at = g.align_corners ? (at + 1) / 2 * double(size - 1) : ((at + 1) * double(size) - 1) / 2;
    if (at != at) at = g.align_corners ? 0 : -0.5;
    if (g.mode == TSR_INTERPOLATE_CUBIC) {
        take_cubic(t, at, size, g);
        return;
    }
    at = padded(at, size, g);
    const double low = g.mode == TSR_INTERPOLATE_NEAREST ? rint(at) : floor(at), over = at - low;
    t.n = g.mode == TSR_INTERPOLATE_NEAREST || over == 0 ? 1 : 2;
    t.index[0] = inside(low, size);
    t.index[1] = inside(low + 1, size);
    t.weight[0] = t.n == 1 ? 1 : 1 - over;
    t.weight[1] = over;
}

/* Every combination of taps that lies in x: its offset and weight. Returns how many there are. */
template <class V> TSRC_FN int combine_taps(int64_t *offset, V *weight, const Taps (&t)[3], const GridArgs &g)
{
    int n = 0;
    for (int i = 0; i < t[0].n; i++)
        for (int k = 0; k < t[1].n; k++)
            for (int m = 0; m < t[2].n; m++) {
                const double w = t[0].weight[i] * t[1].weight[k] * t[2].weight[m];
                if (t[0].index[i] < 0 || t[1].index[k] < 0 || t[2].index[m] < 0 || w == 0) continue;
                offset[n] = t[0].index[i] * g.x_step[0] + t[1].index[k] * g.x_step[1] +
                            t[2].index[m] * g.x_step[2];
                weight[n++] = V(w);
            }
    return n;
}

template <class V>
__global__ void __launch_bounds__(TSRC_THREADS) grid_kernel(const __grid_constant__ GridArgs g)
{
    const uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x;
    if (i >= g.nest.total) return;
    int64_t at[3], offset[16];
    V weight[16];
    Taps seen[3];
    find_group(g.nest, i, at);
    for (int d = 0; d < 3; d++) {
        seen[d].n = 1;
        seen[d].index[0] = 0;
        seen[d].weight[0] = 1;
        const char *place = g.nest.data[2] + at[2] + (2 - d) * g.which; /* columns come first */
        if (d >= 3 - g.spatial) take_axis(seen[d], load_real(g.grid_dtype, place), g.size[d], g);
    }
    const int n = combine_taps(offset, weight, seen, g);
    for (int64_t c = 0; c < g.channels; c++) {
        V sum = 0;
        for (int k = 0; k < n; k++)
            sum += weight[k] * load_pixel<V>(g.dtype, g.nest.data[1] + at[1] + c * g.x_channel + offset[k]);
        store_float(g.dtype, g.nest.data[0] + at[0] + c * g.z_channel, sum);
    }
}

static int64_t step_of(const tsr_tensor *t, int d)
{
    return t->shape[d] > 1 ? t->stride[d] * tsrc_size(t->dtype) : 0;
}

static void describe_grid(GridArgs &a, const tsr_op *op)
{
    const tsr_grid_params *p = static_cast<const tsr_grid_params *>(op->params);
    const tsr_tensor *x = op->in[0], *grid = op->in[1];
    const int spatial = x->ndim - 2;
    std::memset(&a, 0, sizeof a);
    for (int d = 0; d < 3; d++) a.size[d] = 1;
    for (int d = 0; d < spatial; d++) {
        a.size[3 - spatial + d] = x->shape[2 + d];
        a.x_step[3 - spatial + d] = step_of(x, 2 + d);
    }
    a.channels = x->shape[1];
    a.z_channel = step_of(op->out[0], 1);
    a.x_channel = step_of(x, 1);
    a.which = step_of(grid, spatial + 1);
    a.spatial = spatial;
    a.mode = p->mode;
    a.padding = p->padding;
    a.align_corners = p->align_corners;
    a.dtype = x->dtype;
    a.grid_dtype = grid->dtype;
}

struct GridJob {
    const Work *w;
    GridArgs args;
};

static int grid_part(const tsr_loop *part, void *context)
{
    GridJob *j = static_cast<GridJob *>(context);
    const int size = tsrc_size(tsr_dtype(j->args.dtype)),
              sizes[] = { size, size, tsrc_size(tsr_dtype(j->args.grid_dtype)) };
    tsrc_nest_of(&j->args.nest, part, sizes, 1);
    const void *kernel =
        j->args.dtype == TSR_F64 ? (const void *)grid_kernel<double> : (const void *)grid_kernel<float>;
    return launch(*j->w, kernel, tsrc_blocks(j->args.nest.total, TSRC_THREADS), TSRC_THREADS, 0, j->args);
}

/* t without channels: images and, if it walks along them, places. */
static tsr_tensor without_channels(const tsr_tensor &t, bool walks)
{
    tsr_tensor seen = t;
    seen.ndim--;
    for (int d = 1; d < seen.ndim; d++) {
        seen.shape[d] = t.shape[d + 1];
        seen.stride[d] = walks ? t.stride[d + 1] : 0;
    }
    return seen;
}

/* A thread for each place. */
tsr_status run_grid_sample(const Work &w)
{
    const tsr_tensor z = without_channels(*w.op->out[0], true), x = without_channels(*w.op->in[0], false);
    tsr_tensor grid = *w.op->in[1];
    GridJob job;
    tsr_loop l;
    if (numel(w.op->out[0]) == 0) return TSR_OK;
    job.w = &w;
    describe_grid(job.args, w.op);
    grid.ndim--;
    const tsr_tensor *const tensors[] = { &z, &x, &grid };
    host->normalise(&l, 3, tensors);
    return static_cast<tsr_status>(tsrc_split(&l, TSRC_DIMS, TSRC_LIMIT, grid_part, &job));
}

} // namespace tsrc
