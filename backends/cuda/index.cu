/* index.cu - gather and scatter.
 *
 * Scatter has a defined order: items for the same element are applied in the order of their indices. If there
 * are many lanes, a thread goes through each in order; if there are few, items are sorted by destination,
 * stably, and the thread of the first item for an element applies all of them. Indices that are the same for
 * a whole row are sorted once. */
#include <cstring>

#include <cub/device/device_radix_sort.cuh>

#include "convert.cuh"
#include "cuda.h"
#include "nest.cuh"

namespace tsrc {

/* Gather ------------------------------------------------------------------------------------------ */

/* Operands of the nest: z, index, x without its axis. */
struct GatherArgs {
    tsrc_nest nest;
    int64_t step; /* bytes along x's axis */
    int64_t word_step; /* bytes between the four words of a row that a thread moves; 0: it moves one */
};

enum { WORDS = 4 };

/* Whole rows that are not read soon leave the cache to those that are. */
template <class B> TSRC_FN void store_once(B *to, const B &v)
{
    if constexpr (alignof(B) == 16) __stcs(to, v);
    else *to = v;
}

template <class B> TSRC_FN void move_words(char *z, const char *x, int64_t word_step)
{
    B v[WORDS];
#pragma unroll
    for (int k = 0; k < WORDS; k++) v[k] = *reinterpret_cast<const B *>(x + k * word_step);
#pragma unroll
    for (int k = 0; k < WORDS; k++) store_once(reinterpret_cast<B *>(z + k * word_step), v[k]);
}

template <class B>
__global__ void __launch_bounds__(TSRC_THREADS) gather_kernel(const __grid_constant__ GatherArgs p)
{
    const uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x;
    if (i >= p.nest.total) return;
    int64_t at[3];
    find_group(p.nest, i, at);
    const int64_t index = *reinterpret_cast<const int64_t *>(p.nest.data[1] + at[1]);
    char *z = p.nest.data[0] + at[0];
    const char *x = p.nest.data[2] + at[2] + index * p.step;
    if (p.word_step) move_words<B>(z, x, p.word_step);
    else *reinterpret_cast<B *>(z) = *reinterpret_cast<const B *>(x);
}

/* By the logarithm of the size; the last three for 4, 8 and 16 bytes that are aligned by half. */
#define BY_BITS(kernel) \
    { \
        (const void *)kernel<uint8_t>, (const void *)kernel<uint16_t>, (const void *)kernel<uint32_t>, \
            (const void *)kernel<uint64_t>, (const void *)kernel<ulonglong2>, (const void *)kernel<Half4>, \
            (const void *)kernel<Half8>, (const void *)kernel<Bits16> \
    }

static const void *const gathers[] = BY_BITS(gather_kernel);

static int slot_of(int size)
{
    int slot = 0;
    while (1 << slot < size) slot++;
    return slot;
}

struct GatherJob {
    const Work *w;
    tsr_dtype dtype;
    GatherArgs args;
};

/* Rows that lie whole on both sides are moved in wider words: elements of `size` bytes become fewer. */
static int widen_rows(tsr_loop *l, int size, int64_t step)
{
    const int inner = l->ndim - 1;
    if (inner < 0 || l->step[inner][0] != size || l->step[inner][2] != size || l->step[inner][1] != 0)
        return size;
    int width = size;
    while (width < 16) {
        const int64_t next = 2 * width;
        int64_t bits =
            l->n[inner] * size | step | (int64_t)(uintptr_t)l->data[0] | (int64_t)(uintptr_t)l->data[2];
        for (int d = 0; d < inner; d++) bits |= l->step[d][0] | l->step[d][2];
        if (bits % next) break;
        width *= 2;
    }
    l->n[inner] = l->n[inner] * size / width;
    l->step[inner][0] = l->step[inner][2] = width;
    return width;
}

/* Long rows of words of `size` bytes are moved four at a time: a row becomes a quarter as long. */
static int64_t quarter_rows(tsr_loop *l, int size)
{
    const int inner = l->ndim - 1;
    if (inner < 0 || l->step[inner][0] != size || l->step[inner][2] != size || l->step[inner][1] != 0 ||
        l->n[inner] % WORDS || l->n[inner] < 32 * WORDS)
        return 0;
    l->n[inner] /= WORDS;
    return l->n[inner] * size;
}

static int gather_part(const tsr_loop *part, void *context)
{
    GatherJob *j = static_cast<GatherJob *>(context);
    tsr_loop l = *part;
    const int own = tsrc_size(j->dtype);
    const bool by_parts = kind_of(j->dtype) == TSR_COMPLEX &&
                          (!is_aligned(&l, 0, own) || !is_aligned(&l, 2, own) || j->args.step % own);
    const int size = by_parts ? own : widen_rows(&l, own, j->args.step);
    const int sizes[] = { size, 8, size };
    j->args.word_step = by_parts ? 0 : quarter_rows(&l, size);
    tsrc_nest_of(&j->args.nest, &l, sizes, 1);
    const int slot = by_parts ? slot_of(own) + 3 : slot_of(size);
    return launch(*j->w, gathers[slot], tsrc_blocks(j->args.nest.total, TSRC_THREADS), TSRC_THREADS, 0,
                  j->args);
}

static int64_t axis_step(const tsr_tensor *t, int axis)
{
    return t->shape[axis] > 1 ? t->stride[axis] * tsrc_size(t->dtype) : 0;
}

tsr_status run_gather(const Work &w)
{
    const tsr_op *op = w.op;
    const int axis = static_cast<const tsr_axis_params *>(op->params)->axis;
    tsr_tensor x = *op->in[0];
    GatherJob job;
    tsr_loop l;
    job.w = &w;
    job.dtype = x.dtype;
    job.args.step = axis_step(&x, axis);
    x.stride[axis] = 0;
    const tsr_tensor *const tensors[] = { op->out[0], op->in[1], &x };
    host->normalise(&l, 3, tensors);
    return static_cast<tsr_status>(tsrc_split(&l, TSRC_DIMS, TSRC_LIMIT, gather_part, &job));
}

/* Scatter ------------------------------------------------------------------------------------------ */

/* *z takes x as the mode says. */
struct Put {
    int mode, dtype, size;
    TSRC_FN void operator()(char *z, const char *x) const
    {
        if (mode == 0)
            set(z, x);
        else if (mode == 1)
            add(z, x);
        else
            largest(z, x);
    }

  private:
    TSRC_FN void set(char *z, const char *x) const
    {
        switch (dtype) {
        case TSR_C32: *reinterpret_cast<Half4 *>(z) = *reinterpret_cast<const Half4 *>(x); return;
        case TSR_C64: *reinterpret_cast<Half8 *>(z) = *reinterpret_cast<const Half8 *>(x); return;
        case TSR_C128: *reinterpret_cast<Bits16 *>(z) = *reinterpret_cast<const Bits16 *>(x); return;
        default: break;
        }
        switch (size) {
        case 1: *reinterpret_cast<uint8_t *>(z) = *reinterpret_cast<const uint8_t *>(x); break;
        case 2: *reinterpret_cast<uint16_t *>(z) = *reinterpret_cast<const uint16_t *>(x); break;
        case 4: *reinterpret_cast<uint32_t *>(z) = *reinterpret_cast<const uint32_t *>(x); break;
        default: *reinterpret_cast<uint64_t *>(z) = *reinterpret_cast<const uint64_t *>(x); break;
        }
    }
    TSRC_FN bool is_float() const { return dtype >= TSR_F8E4M3 && dtype <= TSR_F32; }
    TSRC_FN void add(char *z, const char *x) const
    {
        if (is_float()) {
            store_float(dtype, z, load_f32(dtype, z) + load_f32(dtype, x));
        } else if (dtype == TSR_F64) {
            *reinterpret_cast<double *>(z) += *reinterpret_cast<const double *>(x);
        } else if (dtype == TSR_C64) {
            reinterpret_cast<float *>(z)[0] += reinterpret_cast<const float *>(x)[0];
            reinterpret_cast<float *>(z)[1] += reinterpret_cast<const float *>(x)[1];
        } else if (dtype == TSR_C128) {
            reinterpret_cast<double *>(z)[0] += reinterpret_cast<const double *>(x)[0];
            reinterpret_cast<double *>(z)[1] += reinterpret_cast<const double *>(x)[1];
        } else {
            store_integer(dtype, z,
                          int64_t(uint64_t(load_integer(dtype, z)) + uint64_t(load_integer(dtype, x))));
        }
    }
    /* As maximum: NaN if either is; of two zeros +0 is the larger. */
    TSRC_FN void largest(char *z, const char *x) const
    {
        if (is_float() || dtype == TSR_F64) {
            const double a = load_real(dtype, z), b = load_real(dtype, x);
            if (a != a) return;
            if (b != b || b > a || (a == b && signbit(a))) set(z, x);
        } else if (dtype == TSR_U64) {
            if (*reinterpret_cast<const uint64_t *>(x) > *reinterpret_cast<const uint64_t *>(z)) set(z, x);
        } else if (dtype == TSR_BOOL) {
            *z = *z || *x;
        } else if (load_integer(dtype, x) > load_integer(dtype, z)) {
            set(z, x);
        }
    }
};

struct ScatterArgs {
    tsrc_nest nest; /* lanes: z, index, x, each without the axis */
    Put put;
    int64_t n, step[3]; /* the axis: z, index, x */
    /* Of sorted items: */
    const uint64_t *keys;   /* lane * length of z's axis + index, ascending */
    const uint32_t *places; /* lane * n + place along the axis */
    uint32_t items, rows;   /* rows: elements that one index is for */
    uint64_t length;
    tsrc_nest row; /* z, x (as second) over those */
};

__global__ void __launch_bounds__(TSRC_THREADS) scatter_kernel(const __grid_constant__ ScatterArgs p)
{
    const uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x;
    if (i >= p.nest.total) return;
    int64_t at[3];
    find_group(p.nest, i, at);
    const char *index = p.nest.data[1] + at[1], *x = p.nest.data[2] + at[2];
    for (int64_t j = 0; j < p.n; j++) {
        const int64_t to = *reinterpret_cast<const int64_t *>(index + j * p.step[1]);
        p.put(p.nest.data[0] + at[0] + to * p.step[0], x + j * p.step[2]);
    }
}

struct KeyArgs {
    tsrc_nest nest; /* lanes: z, index, x */
    int64_t step;
    uint32_t n, items;
    uint64_t length;
    uint64_t *keys;
    uint32_t *places;
};

__global__ void __launch_bounds__(TSRC_THREADS) item_kernel(const __grid_constant__ KeyArgs p)
{
    const uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x;
    if (i >= p.items) return;
    const uint32_t lane = i / p.n, j = i - lane * p.n;
    int64_t at[3];
    find_group(p.nest, lane, at);
    p.keys[i] =
        lane * p.length + uint64_t(*reinterpret_cast<const int64_t *>(p.nest.data[1] + at[1] + j * p.step));
    p.places[i] = i;
}

/* Where the items end that have this key; all threads of a warp look, from the same place on. */
TSRC_FN uint32_t end_of(const ScatterArgs &p, uint64_t key, uint32_t from)
{
    for (;; from += 32) {
        const uint32_t i = from + threadIdx.x % 32;
        const uint32_t others = __ballot_sync(~0u, i >= p.items || p.keys[i] != key);
        if (others) return from + uint32_t(__ffs(int(others))) - 1;
    }
}

/* Rows of neighbours: a warp has an item, V elements a thread. The first of those that meet takes in all of
 * them, in order, each sum rounded as it would be in memory. */
template <class S, int V, bool SET>
__global__ void __launch_bounds__(TSRC_THREADS) meet_rows_kernel(const __grid_constant__ ScatterArgs p)
{
    using Row = Vec<typename S::Bits, V>;
    enum { AHEAD = 4 };
    const uint32_t item = blockIdx.x * (TSRC_THREADS / 32) + threadIdx.x / 32;
    if (item >= p.items) return;
    const uint64_t key = p.keys[item];
    if (item > 0 && p.keys[item - 1] == key) return;
    const uint32_t end = end_of(p, key, item + 1);
    int64_t at[3];
    find_group(p.nest, uint32_t(key / p.length), at);
    char *z = p.nest.data[0] + at[0] + int64_t(key % p.length) * p.step[0];
    const char *x = p.nest.data[2] + at[2];
    const auto row = [&](uint32_t i) { return x + int64_t(p.places[i] % uint32_t(p.n)) * p.step[2]; };
    for (uint32_t e = threadIdx.x % 32 * V; e < p.rows; e += 32 * V) {
        const int64_t column = int64_t(e) * int64_t(sizeof(typename S::Bits));
        Row *to = reinterpret_cast<Row *>(z + column), sum;
        if (SET) {
            *to = *reinterpret_cast<const Row *>(row(end - 1) + column);
            continue;
        }
        sum = *to;
        for (uint32_t i = item; i < end; i += AHEAD) {
            Row v[AHEAD];
#pragma unroll
            for (uint32_t k = 0; k < AHEAD; k++)
                if (i + k < end) v[k] = *reinterpret_cast<const Row *>(row(i + k) + column);
#pragma unroll
            for (uint32_t k = 0; k < AHEAD; k++)
                if (i + k < end)
#pragma unroll
                    for (int j = 0; j < V; j++)
                        sum.e[j] = S::store(
                            typename S::T(S::load(sum.e[j], 0) + S::load(v[k].e[j], 0)), 0);
        }
        *to = sum;
    }
}

/* Threads: items times rows; the first of those that meet does all of them. */
__global__ void __launch_bounds__(TSRC_THREADS) meet_kernel(const __grid_constant__ ScatterArgs p)
{
    const uint64_t t = uint64_t(blockIdx.x) * TSRC_THREADS + threadIdx.x;
    const uint32_t item = p.rows == 1 ? uint32_t(t) : uint32_t(t / p.rows);
    const uint32_t row = uint32_t(t - uint64_t(item) * p.rows);
    if (item >= p.items) return;
    const uint64_t key = p.keys[item];
    if (item > 0 && p.keys[item - 1] == key) return;
    int64_t lane_at[3], row_at[2];
    find_group(p.nest, uint32_t(key / p.length), lane_at);
    find_group(p.row, row, row_at);
    char *z = p.nest.data[0] + lane_at[0] + row_at[0] + int64_t(key % p.length) * p.step[0];
    for (uint32_t i = item; i < p.items && p.keys[i] == key; i++) {
        const int64_t j = p.places[i] % uint32_t(p.n);
        p.put(z, p.nest.data[2] + lane_at[2] + row_at[1] + j * p.step[2]);
    }
}

bool has_scatter(const tsr_op *op)
{
    if (op->nin < 2 || !op->in[1] || !op->params) return false;
    const tsr_dtype dtype = op->in[1]->dtype;
    const int mode = static_cast<const tsr_scatter_params *>(op->params)->mode;
    const tsr_kind kind = kind_of(dtype);
    if (mode == 0) return true;
    return mode == 1 ? kind != TSR_BOOLEAN && dtype != TSR_C32 : kind != TSR_COMPLEX;
}

struct ScatterJob {
    const Work *w;
    ScatterArgs args;
};

static int scatter_part(const tsr_loop *part, void *context)
{
    ScatterJob *j = static_cast<ScatterJob *>(context);
    const int sizes[] = { j->args.put.size, 8, j->args.put.size };
    tsrc_nest_of(&j->args.nest, part, sizes, 1);
    return launch(*j->w, (const void *)scatter_kernel, tsrc_blocks(j->args.nest.total, TSRC_THREADS),
                  TSRC_THREADS, 0, j->args);
}

/* Few lanes, long ones: worth sorting. */
static bool is_worth_sorting(int64_t lanes, int64_t n)
{
    return n > 64 && lanes < 16384 && lanes * n < TSRC_LIMIT;
}

/* Dims over which indices do not change become rows of their own. False: they do not fit a kernel. */
static bool take_rows(tsr_loop *lanes, tsr_loop *rows)
{
    *rows = *lanes;
    rows->ndim = 0;
    rows->noperands = 2;
    int kept = 0;
    for (int d = 0; d < lanes->ndim; d++) {
        const bool row = lanes->step[d][1] == 0;
        tsr_loop *to = row ? rows : lanes;
        const int at = row ? rows->ndim++ : kept++;
        to->n[at] = lanes->n[d];
        if (row) {
            rows->step[at][0] = lanes->step[d][0];
            rows->step[at][1] = lanes->step[d][2];
        } else {
            for (int o = 0; o < 3; o++) lanes->step[at][o] = lanes->step[d][o];
        }
    }
    lanes->ndim = kept;
    return rows->ndim <= TSRC_DIMS && kept <= TSRC_DIMS;
}

static tsr_status sort_items(const Work &w, KeyArgs &k, Scratch &memory, const uint64_t **keys,
                             const uint32_t **places)
{
    size_t temporary = 0;
    const size_t n = k.items;
    int bits = 1;
    const uint64_t largest = k.length * (k.nest.total ? k.nest.total : 1);
    while (bits < 64 && largest >> bits) bits++;
    cub::DoubleBuffer<uint64_t> key_pair(nullptr, nullptr);
    cub::DoubleBuffer<uint32_t> place_pair(nullptr, nullptr);
    TSRC_TRY(check(
        w.device, w.name(),
        cub::DeviceRadixSort::SortPairs(nullptr, temporary, key_pair, place_pair, n, 0, bits, w.stream)));
    TSRC_TRY(memory.take(2 * n * 12 + 64 + temporary));
    uint64_t *first = memory.as<uint64_t>();
    uint32_t *second = reinterpret_cast<uint32_t *>(first + 2 * n);
    char *rest = reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(second + 2 * n) + 15) / 16 * 16);
    key_pair = cub::DoubleBuffer<uint64_t>(first, first + n);
    place_pair = cub::DoubleBuffer<uint32_t>(second, second + n);
    k.keys = first;
    k.places = second;
    TSRC_TRY(launch(w, (const void *)item_kernel, tsrc_blocks(n, TSRC_THREADS), TSRC_THREADS, 0, k));
    TSRC_TRY(
        check(w.device, w.name(),
              cub::DeviceRadixSort::SortPairs(rest, temporary, key_pair, place_pair, n, 0, bits, w.stream)));
    *keys = key_pair.Current();
    *places = place_pair.Current();
    return TSR_OK;
}

/* The kernel for rows of neighbours, by mode and dtype, and how many elements it takes at once. */
struct RowKernel {
    const void *kernel;
    uint32_t together;
};

template <class S> static RowKernel adding()
{
    constexpr int V = 16 / sizeof(typename S::Bits);
    return { (const void *)meet_rows_kernel<S, V, false>, V };
}

static RowKernel row_kernel(const Put &put)
{
    if (put.mode == 0) {
        const uint32_t together = uint32_t(16 / put.size);
        return { put.size == 1   ? (const void *)meet_rows_kernel<Plain<uint8_t>, 16, true>
                 : put.size == 2 ? (const void *)meet_rows_kernel<Plain<uint16_t>, 8, true>
                 : put.size == 4 ? (const void *)meet_rows_kernel<Plain<uint32_t>, 4, true>
                 : put.size == 8 ? (const void *)meet_rows_kernel<Plain<uint64_t>, 2, true>
                                 : nullptr,
                 together };
    }
    if (put.mode != 1) return { nullptr, 1 };
    switch (put.dtype) {
    case TSR_F32: return adding<SF32>();
    case TSR_F64: return adding<SF64>();
    case TSR_F16: return adding<Quick16<false>>();
    case TSR_BF16: return adding<Quick16<true>>();
    case TSR_I32:
    case TSR_U32: return adding<Plain<uint32_t>>();
    case TSR_I64:
    case TSR_U64: return adding<Plain<uint64_t>>();
    default: return { nullptr, 1 };
    }
}

/* Do rows lie as such a kernel takes them: one run, aligned to 16 bytes on both sides? */
static bool are_rows(const ScatterArgs &a, const tsr_loop *lanes, const tsr_loop *rows, uint32_t together)
{
    const int64_t size = a.put.size;
    if (rows->ndim != 1 || a.rows % together) return false;
    if (rows->step[0][0] != size || rows->step[0][1] != size) return false;
    uint64_t bits = uint64_t(a.step[0] | a.step[2]) | reinterpret_cast<uintptr_t>(lanes->data[0]) |
                    reinterpret_cast<uintptr_t>(lanes->data[2]);
    for (int d = 0; d < lanes->ndim; d++) bits |= uint64_t(lanes->step[d][0] | lanes->step[d][2]);
    return bits % 16 == 0;
}

static tsr_status scatter_sorted(const Work &w, ScatterArgs &a, const tsr_loop *lanes, const tsr_loop *rows)
{
    Scratch memory(w);
    const int sizes[] = { a.put.size, 8, a.put.size };
    const int row_sizes[] = { a.put.size, a.put.size };
    KeyArgs k;
    tsrc_nest_of(&a.nest, lanes, sizes, 1);
    tsrc_nest_of(&a.row, rows, row_sizes, 1);
    a.row.data[0] = a.row.data[1] = nullptr; /* offsets alone */
    a.rows = a.row.total;
    a.items = uint32_t(a.nest.total * a.n);
    k.nest = a.nest;
    k.step = a.step[1];
    k.n = uint32_t(a.n);
    k.items = a.items;
    k.length = a.length;
    TSRC_TRY(sort_items(w, k, memory, &a.keys, &a.places));
    const RowKernel by_rows = row_kernel(a.put);
    if (by_rows.kernel && are_rows(a, lanes, rows, by_rows.together))
        return launch(w, by_rows.kernel, tsrc_blocks(a.items, TSRC_THREADS / 32), TSRC_THREADS, 0, a);
    const uint64_t threads = uint64_t(a.items) * a.rows;
    return launch(w, (const void *)meet_kernel, tsrc_blocks(threads, TSRC_THREADS), TSRC_THREADS, 0, a);
}

tsr_status run_scatter(const Work &w)
{
    const tsr_op *op = w.op;
    const tsr_scatter_params *p = static_cast<const tsr_scatter_params *>(op->params);
    tsr_tensor z = *op->out[0], index = *op->in[0], x = *op->in[1];
    tsr_loop l, rows;
    ScatterJob job;
    std::memset(&job.args, 0, sizeof job.args);
    job.w = &w;
    job.args.put.mode = p->mode;
    job.args.put.dtype = z.dtype;
    job.args.put.size = tsrc_size(z.dtype);
    job.args.n = index.shape[p->axis];
    job.args.length = uint64_t(z.shape[p->axis]);
    job.args.step[0] = axis_step(&z, p->axis);
    job.args.step[1] = axis_step(&index, p->axis);
    job.args.step[2] = axis_step(&x, p->axis);
    if (numel(&index) == 0) return TSR_OK;
    for (int d = 0; d < z.ndim; d++) { /* lanes have the shape of the index */
        z.shape[d] = x.shape[d] = d == p->axis ? 1 : index.shape[d];
        if (d == p->axis) index.shape[d] = 1;
    }
    const tsr_tensor *const tensors[] = { &z, &index, &x };
    host->normalise(&l, 3, tensors);
    tsr_loop lanes = l;
    if (is_worth_sorting(tsrc_count(&l), job.args.n) && take_rows(&lanes, &rows) &&
        uint64_t(tsrc_count(&l)) * uint64_t(job.args.n) < (uint64_t(1) << 38))
        return scatter_sorted(w, job.args, &lanes, &rows);
    return static_cast<tsr_status>(tsrc_split(&l, TSRC_DIMS, TSRC_LIMIT, scatter_part, &job));
}

} // namespace tsrc
