/* sort.cu - sorting and searching.
 *
 * An element's place in the order is an unsigned number, its key: -0 and 0 have one, NaN has the largest.
 * Lanes that fit into shared memory are sorted there, key and index as one item, so that equal keys stand
 * by index; longer ones by CUB's radix sorts, of a block or of the device, which are stable. Of long lanes of
 * which a few elements are wanted, those are found first. Elements are then fetched by their index, so that
 * they keep their bits. */
#include <cstring>

#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_radix_sort.cuh>

#include "cuda.h"
#include "nest.cuh"

namespace tsrc {

/* How elements of a dtype become keys. */
struct KeyRule {
    uint64_t sign;   /* the sign bit; 0: unsigned */
    uint64_t finite; /* the largest magnitude that is no NaN; 0: an integer */
    uint64_t all;    /* all bits of the element */
    int size, descending, truth;
};

TSRC_FN uint64_t load_bits(const char *p, int size)
{
    switch (size) {
    case 1: return *reinterpret_cast<const uint8_t *>(p);
    case 2: return *reinterpret_cast<const uint16_t *>(p);
    case 4: return *reinterpret_cast<const uint32_t *>(p);
    default: return *reinterpret_cast<const uint64_t *>(p);
    }
}

TSRC_FN void store_bits(char *p, uint64_t v, int size)
{
    switch (size) {
    case 1: *reinterpret_cast<uint8_t *>(p) = uint8_t(v); break;
    case 2: *reinterpret_cast<uint16_t *>(p) = uint16_t(v); break;
    case 4: *reinterpret_cast<uint32_t *>(p) = uint32_t(v); break;
    default: *reinterpret_cast<uint64_t *>(p) = v; break;
    }
}

/* Reversing the order leaves NaN where it is. */
TSRC_FN uint64_t key_of(uint64_t x, const KeyRule &r)
{
    const uint64_t invert = r.descending ? r.all : 0;
    if (r.truth) x = x != 0;
    if (r.finite == 0) return (x ^ r.sign ^ invert) & r.all;
    const uint64_t size = x & ~r.sign & r.all, b = size ? x : 0;
    if (size > r.finite) return r.all;
    return ((b & r.sign ? ~b : b ^ r.sign) ^ invert) & r.all;
}

struct SortArgs {
    tsrc_place lanes; /* steps of x, then values */
    tsrc_place also;  /* of indices, twice */
    const char *x;
    char *values, *indices; /* NULL: not wanted */
    uint32_t count;         /* lanes */
    uint32_t n, take;       /* elements of a lane; how many come out */
    uint32_t power;         /* 2^k that is not below n */
    uint32_t together;      /* lanes of a block */
    int64_t step_x, step_values, step_indices;
    KeyRule rule;
    /* Of sorted lists: */
    uint32_t first;  /* lane that the list begins with */
    uint32_t listed; /* lanes of it */
    uint64_t *keys;
    uint32_t *places; /* lane of the list * n + index */
    uint32_t *owners; /* lane of the list, by place */
    int key_bits;
    /* Of selecting: */
    uint32_t parts, part; /* shares of a lane, and how long they are; keys has what each found */
};

TSRC_FN void write_item(const SortArgs &a, uint32_t lane, uint32_t rank, uint32_t index)
{
    int64_t x = 0, values = 0, indices = 0, unused = 0;
    find_place(a.lanes, lane, x, values);
    if (a.values)
        store_bits(a.values + values + rank * a.step_values,
                   load_bits(a.x + x + index * a.step_x, a.rule.size), a.rule.size);
    if (a.indices) {
        find_place(a.also, lane, indices, unused);
        *reinterpret_cast<int64_t *>(a.indices + indices + rank * a.step_indices) = index;
    }
}

/* Short lanes --------------------------------------------------------------------------------------- */

/* Items of up to four bytes: key and index in one word. */
struct ShortItems {
    uint64_t *item;
    TSRC_FN ShortItems(unsigned char *raw, uint32_t) : item(reinterpret_cast<uint64_t *>(raw)) {}
    TSRC_FN void set(uint32_t i, uint64_t key, uint32_t index, bool there)
    {
        item[i] = there ? key << 32 | index : ~uint64_t(0);
    }
    TSRC_FN uint32_t index(uint32_t i) const { return uint32_t(item[i]); }
    TSRC_FN bool above(uint32_t i, uint32_t j) const { return item[i] > item[j]; }
    TSRC_FN void swap(uint32_t i, uint32_t j)
    {
        const uint64_t v = item[i];
        item[i] = item[j];
        item[j] = v;
    }
};

struct LongItems {
    uint64_t *key;
    uint32_t *at;
    TSRC_FN LongItems(unsigned char *raw, uint32_t total)
        : key(reinterpret_cast<uint64_t *>(raw)), at(reinterpret_cast<uint32_t *>(key + total))
    {
    }
    TSRC_FN void set(uint32_t i, uint64_t k, uint32_t index, bool there)
    {
        key[i] = there ? k : ~uint64_t(0);
        at[i] = there ? index : ~uint32_t(0);
    }
    TSRC_FN uint32_t index(uint32_t i) const { return at[i]; }
    TSRC_FN bool above(uint32_t i, uint32_t j) const
    {
        return key[i] > key[j] || (key[i] == key[j] && at[i] > at[j]);
    }
    TSRC_FN void swap(uint32_t i, uint32_t j)
    {
        const uint64_t k = key[i];
        const uint32_t v = at[i];
        key[i] = key[j];
        at[i] = at[j];
        key[j] = k;
        at[j] = v;
    }
};

/* Batcher's bitonic network over each lane of `power` items. */
template <class Items> TSRC_FN void sort_shared(Items &items, uint32_t total, uint32_t power)
{
    for (uint32_t k = 2; k <= power; k *= 2)
        for (uint32_t j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            for (uint32_t i = threadIdx.x; i < total / 2; i += blockDim.x) {
                const uint32_t low = 2 * i - (i & (j - 1)), high = low + j;
                const bool up = (low & (power - 1) & k) == 0;
                if (items.above(low, high) == up) items.swap(low, high);
            }
        }
    __syncthreads();
}

template <class Items>
__global__ void __launch_bounds__(1024) short_kernel(const __grid_constant__ SortArgs a)
{
    extern __shared__ __align__(16) unsigned char raw[];
    const uint32_t total = a.power * a.together, first = blockIdx.x * a.together;
    Items items(raw, total);
    for (uint32_t i = threadIdx.x; i < total; i += blockDim.x) {
        const uint32_t lane = first + i / a.power, at = i & (a.power - 1);
        const bool there = lane < a.count && at < a.n;
        int64_t x = 0, unused = 0;
        uint64_t key = 0;
        if (there) {
            find_place(a.lanes, lane, x, unused);
            key = key_of(load_bits(a.x + x + at * a.step_x, a.rule.size), a.rule);
        }
        items.set(i, key, at, there);
    }
    sort_shared(items, total, a.power);
    /* values may be x: all lanes of the block are read before one is written. */
    uint64_t kept[4];
    for (uint32_t k = 0; k < 4; k++) {
        const uint32_t i = threadIdx.x + k * blockDim.x, lane = first + i / a.power, rank = i & (a.power - 1);
        kept[k] = 0;
        if (!a.values || i >= total || lane >= a.count || rank >= a.take) continue;
        int64_t x = 0, unused = 0;
        find_place(a.lanes, lane, x, unused);
        kept[k] = load_bits(a.x + x + items.index(i) * a.step_x, a.rule.size);
    }
    __syncthreads();
    for (uint32_t k = 0; k < 4; k++) {
        const uint32_t i = threadIdx.x + k * blockDim.x, lane = first + i / a.power, rank = i & (a.power - 1);
        if (i >= total || lane >= a.count || rank >= a.take) continue;
        int64_t x = 0, values = 0, indices = 0, unused = 0;
        find_place(a.lanes, lane, x, values);
        if (a.values) store_bits(a.values + values + rank * a.step_values, kept[k], a.rule.size);
        if (!a.indices) continue;
        find_place(a.also, lane, indices, unused);
        *reinterpret_cast<int64_t *>(a.indices + indices + rank * a.step_indices) = items.index(i);
    }
}

/* Middle lanes: a block sorts one in its registers ------------------------------------------------------ */

enum { MIDDLE_THREADS = 512, MIDDLE_ITEMS = 8, MIDDLE = MIDDLE_THREADS * MIDDLE_ITEMS };

/* Keys of up to four bytes. What is past the end has the largest, and comes last as it came. */
__global__ void __launch_bounds__(MIDDLE_THREADS) middle_kernel(const __grid_constant__ SortArgs a)
{
    using Sort = cub::BlockRadixSort<uint32_t, MIDDLE_THREADS, MIDDLE_ITEMS, uint16_t>;
    __shared__ typename Sort::TempStorage room;
    uint32_t key[MIDDLE_ITEMS];
    uint16_t index[MIDDLE_ITEMS];
    int64_t x = 0, values = 0, indices = 0, unused = 0;
    find_place(a.lanes, blockIdx.x, x, values);
    find_place(a.also, blockIdx.x, indices, unused);
#pragma unroll
    for (int k = 0; k < MIDDLE_ITEMS; k++) {
        const uint32_t i = threadIdx.x * MIDDLE_ITEMS + k;
        index[k] = uint16_t(i);
        key[k] = ~0u;
        if (i < a.n) key[k] = uint32_t(key_of(load_bits(a.x + x + i * a.step_x, a.rule.size), a.rule));
    }
    Sort(room).SortBlockedToStriped(key, index, 0, 8 * a.rule.size);
    /* values may be x: the lane is read before it is written. */
    uint64_t kept[MIDDLE_ITEMS];
#pragma unroll
    for (int k = 0; k < MIDDLE_ITEMS; k++)
        if (a.values && index[k] < a.n) kept[k] = load_bits(a.x + x + index[k] * a.step_x, a.rule.size);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < MIDDLE_ITEMS; k++) {
        const uint32_t rank = k * MIDDLE_THREADS + threadIdx.x;
        if (rank >= a.take) continue;
        if (a.values) store_bits(a.values + values + rank * a.step_values, kept[k], a.rule.size);
        if (a.indices)
            *reinterpret_cast<int64_t *>(a.indices + indices + rank * a.step_indices) = index[k];
    }
}

/* The first few of long lanes -------------------------------------------------------------------------- */

enum {
    SELECT_THREADS = 1024,
    DIGIT_BITS = 11,
    BINS = 1 << DIGIT_BITS,
    SELECT_ROOM = 4096, /* items that are sorted */
    MOST_TAKEN = 1024
};

struct Selection {
    uint32_t prefix, wanted, equal; /* digits so far; how many with them come out, of how many */
    uint32_t found;
};

/* Which bin the wanted-th item lies in: the first warp adds them up. */
TSRC_FN void find_bin(const uint32_t *bins, uint32_t width, uint32_t shift, Selection &s)
{
    const uint32_t each = (1u << width) / 32 ? (1u << width) / 32 : 1, lane = threadIdx.x;
    uint32_t own = 0;
    for (uint32_t b = lane * each; b < (lane + 1) * each && b < 1u << width; b++) own += bins[b];
    uint32_t so_far = own;
    for (int o = 1; o < 32; o *= 2) {
        const uint32_t before = __shfl_up_sync(~0u, so_far, o);
        if (lane >= uint32_t(o)) so_far += before;
    }
    uint32_t before = so_far - own;
    const uint32_t wanted = s.wanted;
    __syncwarp();
    if (before >= wanted || so_far < wanted) return;
    uint32_t b = lane * each;
    while (before + bins[b] < wanted) before += bins[b++];
    s.prefix |= b << shift;
    s.wanted = wanted - before;
    s.equal = bins[b];
}

/* Places of items with the key itself, in order, where they are more than there is room for. */
TSRC_FN void take_in_order(const SortArgs &a, const char *x, uint32_t begin, uint32_t end, const Selection &s,
                           uint64_t *items, uint32_t first, uint32_t *counts)
{
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    uint32_t taken = 0;
    for (uint32_t from = begin; from < end && taken < s.wanted; from += SELECT_THREADS) {
        const uint32_t i = from + threadIdx.x;
        const bool same =
            i < end && uint32_t(key_of(load_bits(x + i * a.step_x, a.rule.size), a.rule)) == s.prefix;
        const uint32_t together = __ballot_sync(~0u, same);
        if (lane == 0) counts[warp] = __popc(together);
        __syncthreads();
        uint32_t rank = taken + __popc(together & ((1u << lane) - 1));
        for (uint32_t w = 0; w < SELECT_THREADS / 32; w++) {
            if (w < warp) rank += counts[w];
            taken += counts[w];
        }
        if (same && rank < s.wanted) items[first + rank] = uint64_t(s.prefix) << 32 | i;
        __syncthreads();
    }
}

/* What a block found of its share of a lane. What there is no item for has the largest. */
TSRC_FN void leave_items(const SortArgs &a, const ShortItems &sorted, uint32_t there)
{
    uint64_t *to = a.keys + uint64_t(blockIdx.x) * a.take;
    for (uint32_t rank = threadIdx.x; rank < a.take; rank += SELECT_THREADS)
        to[rank] = rank < there ? sorted.item[rank] : ~uint64_t(0);
}

/* Shares of a lane meet: the least of what they found. */
__global__ void __launch_bounds__(SELECT_THREADS) choose_kernel(const __grid_constant__ SortArgs a)
{
    __shared__ uint64_t items[SELECT_ROOM];
    const uint32_t total = a.parts * a.take, power = max(1u << (32 - __clz(total - 1)), 2u);
    for (uint32_t i = threadIdx.x; i < power; i += SELECT_THREADS)
        items[i] = i < total ? a.keys[uint64_t(blockIdx.x) * total + i] : ~uint64_t(0);
    ShortItems sorted(reinterpret_cast<unsigned char *>(items), power);
    sort_shared(sorted, power, power);
    for (uint32_t rank = threadIdx.x; rank < a.take; rank += SELECT_THREADS)
        write_item(a, blockIdx.x, rank, sorted.index(rank));
}

/* A block has a lane, or a share of one: it finds the key of the last element that comes out, digit by
 * digit, and sorts what is not above it. */
__global__ void __launch_bounds__(SELECT_THREADS) select_kernel(const __grid_constant__ SortArgs a)
{
    __shared__ uint64_t items[SELECT_ROOM];
    __shared__ uint32_t counts[SELECT_THREADS / 32];
    __shared__ Selection s;
    uint32_t *bins = reinterpret_cast<uint32_t *>(items);
    int64_t at = 0, unused = 0;
    const uint32_t share = blockIdx.x % a.parts, begin = share * a.part, end = min(begin + a.part, a.n);
    const uint32_t wanted = min(a.take, end - begin);
    find_place(a.lanes, blockIdx.x / a.parts, at, unused);
    const char *x = a.x + at;
    const auto key = [&](uint32_t i) {
        return uint32_t(key_of(load_bits(x + i * a.step_x, a.rule.size), a.rule));
    };
    if (threadIdx.x == 0) s = { 0, wanted, 0, 0 };
    uint32_t left = 8 * uint32_t(a.rule.size), known = 0;
    while (left > 0) {
        const uint32_t width = min(left, uint32_t(DIGIT_BITS)), all = (1u << width) - 1;
        left -= width;
        for (uint32_t b = threadIdx.x; b < BINS; b += SELECT_THREADS) bins[b] = 0;
        __syncthreads();
        const uint32_t prefix = s.prefix;
#pragma unroll 4
        for (uint32_t i = begin + threadIdx.x; i < end; i += SELECT_THREADS) {
            const uint32_t k = key(i);
            if ((k & known) == prefix) atomicAdd(&bins[k >> left & all], 1u);
        }
        __syncthreads();
        if (threadIdx.x < 32) find_bin(bins, width, left, s);
        known |= all << left;
        __syncthreads();
    }
    const uint32_t last = s.prefix, below = wanted - s.wanted;
    const bool all_fit = below + s.equal <= SELECT_ROOM;
    const uint32_t total = all_fit ? below + s.equal : wanted, power = max(1u << (32 - __clz(total - 1)), 2u);
    for (uint32_t i = threadIdx.x; i < power; i += SELECT_THREADS) items[i] = ~uint64_t(0);
    __syncthreads();
#pragma unroll 4
    for (uint32_t i = begin + threadIdx.x; i < end; i += SELECT_THREADS) {
        const uint32_t k = key(i);
        if (k < last || (all_fit && k == last)) items[atomicAdd(&s.found, 1u)] = uint64_t(k) << 32 | i;
    }
    if (!all_fit) take_in_order(a, x, begin, end, s, items, below, counts);
    ShortItems sorted(reinterpret_cast<unsigned char *>(items), power);
    sort_shared(sorted, power, power);
    if (a.parts > 1) {
        leave_items(a, sorted, wanted);
        return;
    }
    for (uint32_t rank = threadIdx.x; rank < a.take; rank += SELECT_THREADS)
        write_item(a, blockIdx.x, rank, sorted.index(rank));
}

/* Long lanes ------------------------------------------------------------------------------------------ */

__global__ void __launch_bounds__(TSRC_THREADS) list_kernel(const __grid_constant__ SortArgs a)
{
    const uint64_t i = uint64_t(blockIdx.x) * TSRC_THREADS + threadIdx.x;
    if (i >= uint64_t(a.listed) * a.n) return;
    const uint32_t lane = uint32_t(i / a.n), at = uint32_t(i - uint64_t(lane) * a.n);
    int64_t x = 0, unused = 0;
    find_place(a.lanes, a.first + lane, x, unused);
    const uint64_t key = key_of(load_bits(a.x + x + at * a.step_x, a.rule.size), a.rule);
    a.keys[i] = a.key_bits < 64 ? uint64_t(lane) << a.key_bits | key : key;
    a.places[i] = uint32_t(i);
}

__global__ void __launch_bounds__(TSRC_THREADS) owner_kernel(const __grid_constant__ SortArgs a)
{
    const uint64_t i = uint64_t(blockIdx.x) * TSRC_THREADS + threadIdx.x;
    if (i < uint64_t(a.listed) * a.n) a.owners[i] = a.places[i] / a.n;
}

/* values may be x: what is fetched goes to keys first. */
__global__ void __launch_bounds__(TSRC_THREADS) fetch_kernel(const __grid_constant__ SortArgs a)
{
    const uint64_t i = uint64_t(blockIdx.x) * TSRC_THREADS + threadIdx.x;
    if (i >= uint64_t(a.listed) * a.take) return;
    const uint32_t lane = uint32_t(i / a.take), rank = uint32_t(i - uint64_t(lane) * a.take);
    const uint32_t index = a.places[uint64_t(lane) * a.n + rank] % a.n;
    int64_t x = 0, unused = 0;
    find_place(a.lanes, a.first + lane, x, unused);
    a.keys[uint64_t(lane) * a.n + rank] = load_bits(a.x + x + index * a.step_x, a.rule.size);
}

__global__ void __launch_bounds__(TSRC_THREADS) give_kernel(const __grid_constant__ SortArgs a)
{
    const uint64_t i = uint64_t(blockIdx.x) * TSRC_THREADS + threadIdx.x;
    if (i >= uint64_t(a.listed) * a.take) return;
    const uint32_t lane = uint32_t(i / a.take), rank = uint32_t(i - uint64_t(lane) * a.take);
    const uint64_t at = uint64_t(lane) * a.n + rank;
    int64_t x = 0, values = 0, indices = 0, unused = 0;
    find_place(a.lanes, a.first + lane, x, values);
    if (a.values) store_bits(a.values + values + rank * a.step_values, a.keys[at], a.rule.size);
    if (!a.indices) return;
    find_place(a.also, a.first + lane, indices, unused);
    *reinterpret_cast<int64_t *>(a.indices + indices + rank * a.step_indices) = a.places[at] % a.n;
}

/* Host -------------------------------------------------------------------------------------------------- */

enum { SHORT = 2048, LIST = 1 << 28 };

static KeyRule rule_of(tsr_dtype dtype, bool descending)
{
    const int size = tsrc_size(dtype), bits = 8 * size;
    const uint64_t all = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1, sign = uint64_t(1)
                                                                                       << (bits - 1);
    KeyRule r = { 0, 0, all, size, descending, dtype == TSR_BOOL };
    switch (dtype) {
    case TSR_F8E4M3: r.finite = 0x7e; break;
    case TSR_F8E5M2: r.finite = 0x7c; break;
    case TSR_F16: r.finite = 0x7c00; break;
    case TSR_BF16: r.finite = 0x7f80; break;
    case TSR_F32: r.finite = 0x7f800000u; break;
    case TSR_F64: r.finite = 0x7ff0000000000000u; break;
    default: break;
    }
    if (r.finite || kind_of(dtype) == TSR_SIGNED) r.sign = sign;
    return r;
}

bool has_sort(const tsr_op *op)
{
    return op->nin > 0 && op->in[0] && kind_of(op->in[0]->dtype) != TSR_COMPLEX;
}

static tsr_status sort_short(const Work &w, SortArgs &a)
{
    const bool wide = a.rule.size == 8;
    a.power = power_of_2(a.n, SHORT);
    a.together = a.power < 512 ? 512 / a.power : 1;
    if (a.together > a.count) a.together = a.count;
    const uint32_t total = a.power * a.together;
    uint32_t threads = power_of_2(total / 2, 1024);
    if (threads < 32) threads = 32;
    return launch(w, wide ? (const void *)short_kernel<LongItems> : (const void *)short_kernel<ShortItems>,
                  tsrc_blocks(a.count, a.together), threads, size_t(total) * (wide ? 12 : 8), a);
}

/* One sort of pairs; room is measured where memory is NULL. */
template <class K>
static tsr_status sort_pairs(const Work &w, char *memory, size_t *room, cub::DoubleBuffer<K> &keys,
                             cub::DoubleBuffer<uint32_t> &places, int64_t n, int bits)
{
    return check(w.device, w.name(),
                 cub::DeviceRadixSort::SortPairs(memory, *room, keys, places, n, 0, bits, w.stream));
}

static int bits_of(uint64_t n)
{
    int bits = 1;
    while (bits < 64 && n >> bits) bits++;
    return bits;
}

/* Sorts the lanes that a list holds: by key, and where both do not fit one word, by lane after that. */
static tsr_status sort_list(const Work &w, SortArgs &a)
{
    Scratch memory(w);
    const int64_t n = int64_t(a.listed) * a.n;
    const int key_bits = 8 * a.rule.size, lane_bits = bits_of(a.listed - 1);
    const bool in_one = key_bits + lane_bits <= 64 || a.listed == 1;
    size_t room = 0, more = 0;
    cub::DoubleBuffer<uint64_t> keys(nullptr, nullptr);
    cub::DoubleBuffer<uint32_t> places(nullptr, nullptr), owners(nullptr, nullptr);
    TSRC_TRY(sort_pairs(w, nullptr, &room, keys, places, n, 64));
    if (!in_one) TSRC_TRY(sort_pairs(w, nullptr, &more, owners, places, n, 32));
    if (more > room) room = more;
    TSRC_TRY(memory.take(size_t(n) * (in_one ? 24 : 32) + room + 256));
    uint64_t *at = memory.as<uint64_t>();
    uint32_t *words = reinterpret_cast<uint32_t *>(at + 2 * n);
    char *rest = reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(words + (in_one ? 2 : 4) * n) + 255) /
                                          256 * 256);
    keys = cub::DoubleBuffer<uint64_t>(at, at + n);
    places = cub::DoubleBuffer<uint32_t>(words, words + n);
    a.key_bits = in_one ? key_bits : 64;
    if (a.listed == 1) a.key_bits = 64;
    a.keys = at;
    a.places = words;
    const uint32_t blocks = tsrc_blocks(uint64_t(n), TSRC_THREADS);
    TSRC_TRY(launch(w, (const void *)list_kernel, blocks, TSRC_THREADS, 0, a));
    const int bits = a.listed == 1 || !in_one ? key_bits : key_bits + lane_bits;
    TSRC_TRY(sort_pairs(w, rest, &room, keys, places, n, bits));
    if (!in_one) {
        owners = cub::DoubleBuffer<uint32_t>(words + 2 * n, words + 3 * n);
        a.owners = owners.Current();
        a.places = places.Current();
        TSRC_TRY(launch(w, (const void *)owner_kernel, blocks, TSRC_THREADS, 0, a));
        TSRC_TRY(sort_pairs(w, rest, &room, owners, places, n, lane_bits));
    }
    a.keys = keys.Alternate();
    a.places = places.Current();
    const uint32_t taken = tsrc_blocks(uint64_t(a.listed) * a.take, TSRC_THREADS);
    if (a.values) TSRC_TRY(launch(w, (const void *)fetch_kernel, taken, TSRC_THREADS, 0, a));
    return launch(w, (const void *)give_kernel, taken, TSRC_THREADS, 0, a);
}

static tsr_status sort_long(const Work &w, SortArgs &a)
{
    const uint32_t lanes = LIST / a.n > 0 ? LIST / a.n : 1;
    for (a.first = 0; a.first < a.count; a.first += lanes) {
        a.listed = a.count - a.first < lanes ? a.count - a.first : lanes;
        TSRC_TRY(sort_list(w, a));
    }
    return TSR_OK;
}

struct SortJob {
    const Work *w;
    SortArgs args;
};

/* Are so few elements wanted, of lanes that a block can read a few times? */
static bool is_for_selecting(const SortArgs &a)
{
    if (a.rule.size > 4 || a.take > MOST_TAKEN) return false;
    const uint32_t shares = SELECT_ROOM / a.take;
    return a.n / shares <= 1 << 20 || uint64_t(a.count) * shares >= 64;
}

/* Lanes are cut into shares of at least a few thousand elements, as long as there are blocks to spare. */
static tsr_status select_some(const Work &w, SortArgs &a)
{
    enum { LEAST = 8192, BLOCKS = 1024 };
    Scratch memory(w);
    a.parts = a.count < BLOCKS ? BLOCKS / a.count : 1;
    if (a.parts > a.n / LEAST) a.parts = a.n / LEAST;
    if (a.parts > SELECT_ROOM / a.take) a.parts = SELECT_ROOM / a.take;
    if (a.parts < 2) a.parts = 1;
    a.part = (a.n + a.parts - 1) / a.parts;
    if (a.parts > 1) TSRC_TRY(memory.take(size_t(a.count) * a.parts * a.take * sizeof(uint64_t)));
    a.keys = memory.as<uint64_t>();
    TSRC_TRY(launch(w, (const void *)select_kernel, a.count * a.parts, SELECT_THREADS, 0, a));
    if (a.parts == 1) return TSR_OK;
    return launch(w, (const void *)choose_kernel, a.count, SELECT_THREADS, 0, a);
}

/* Operands of a part: x, values, indices. */
static int sort_part(const tsr_loop *part, void *context)
{
    SortJob *j = static_cast<SortJob *>(context);
    SortArgs &a = j->args;
    tsr_loop other = *part;
    for (int d = 0; d < part->ndim; d++) other.step[d][0] = part->step[d][2];
    tsrc_place_of(&a.lanes, part, 0);
    tsrc_place_of(&a.also, &other, 0);
    a.x = static_cast<const char *>(part->data[0]);
    if (a.values) a.values = static_cast<char *>(part->data[1]);
    if (a.indices) a.indices = static_cast<char *>(part->data[2]);
    a.count = a.lanes.count;
    if (a.n <= SHORT) return sort_short(*j->w, a);
    if (a.rule.size <= 4 && a.n <= MIDDLE)
        return launch(*j->w, (const void *)middle_kernel, a.count, MIDDLE_THREADS, 0, a);
    if (is_for_selecting(a)) return select_some(*j->w, a);
    return sort_long(*j->w, a);
}

static int64_t axis_step(const tsr_tensor *t, int axis)
{
    return t->shape[axis] > 1 ? t->stride[axis] * tsrc_size(t->dtype) : 0;
}

tsr_status run_sort(const Work &w)
{
    const tsr_op *op = w.op;
    const tsr_sort_params *p = static_cast<const tsr_sort_params *>(op->params);
    const bool only_indices = op->kind == TSR_OP_ARGSORT;
    const tsr_tensor *values = only_indices ? nullptr : op->out[0];
    const tsr_tensor *indices = only_indices ? op->out[0] : op->nout > 1 ? op->out[1] : nullptr;
    const tsr_tensor *result = values ? values : indices;
    tsr_tensor x = *op->in[0], v = values ? *values : x, i = indices ? *indices : x;
    SortJob job;
    tsr_loop l;
    if (numel(result) == 0) return TSR_OK;
    if (x.shape[p->axis] > INT64_C(0x7fffffff))
        return say(TSR_EUNSUPPORTED, "%s: a lane of %lld elements is too long for cuda", w.name(),
                   static_cast<long long>(x.shape[p->axis]));
    std::memset(&job.args, 0, sizeof job.args);
    job.w = &w;
    job.args.n = uint32_t(x.shape[p->axis]);
    job.args.take = uint32_t(result->shape[p->axis]);
    job.args.step_x = axis_step(&x, p->axis);
    job.args.step_values = axis_step(&v, p->axis);
    job.args.step_indices = axis_step(&i, p->axis);
    job.args.rule = rule_of(x.dtype, p->descending);
    job.args.values = values ? static_cast<char *>(v.data) : nullptr;
    job.args.indices = indices ? static_cast<char *>(i.data) : nullptr;
    x.shape[p->axis] = v.shape[p->axis] = i.shape[p->axis] = 1;
    const tsr_tensor *const tensors[] = { &x, &v, &i };
    host->normalise(&l, 3, tensors);
    return static_cast<tsr_status>(tsrc_split(&l, TSRC_DIMS, TSRC_LIMIT, sort_part, &job));
}

/* Searching --------------------------------------------------------------------------------------------- */

struct SearchArgs {
    tsrc_nest nest; /* z, x */
    const char *sorted;
    int64_t n, step;
    KeyRule rule;
    int right;
};

__global__ void __launch_bounds__(TSRC_THREADS) search_kernel(const __grid_constant__ SearchArgs a)
{
    const uint32_t i = blockIdx.x * TSRC_THREADS + threadIdx.x;
    if (i >= a.nest.total) return;
    int64_t at[2];
    find_group(a.nest, i, at);
    const uint64_t key = key_of(load_bits(a.nest.data[1] + at[1], a.rule.size), a.rule);
    int64_t low = 0, high = a.n;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const uint64_t there = key_of(load_bits(a.sorted + middle * a.step, a.rule.size), a.rule);
        if (there < key || (a.right && there == key))
            low = middle + 1;
        else
            high = middle;
    }
    *reinterpret_cast<int64_t *>(a.nest.data[0] + at[0]) = low;
}

struct SearchJob {
    const Work *w;
    SearchArgs args;
};

static int search_part(const tsr_loop *part, void *context)
{
    SearchJob *j = static_cast<SearchJob *>(context);
    const int sizes[] = { 8, j->args.rule.size };
    tsrc_nest_of(&j->args.nest, part, sizes, 1);
    return launch(*j->w, (const void *)search_kernel, tsrc_blocks(j->args.nest.total, TSRC_THREADS),
                  TSRC_THREADS, 0, j->args);
}

tsr_status run_searchsorted(const Work &w)
{
    const tsr_op *op = w.op;
    const tsr_tensor *sorted = op->in[1];
    SearchJob job;
    tsr_loop l;
    job.w = &w;
    job.args.sorted = static_cast<const char *>(sorted->data);
    job.args.n = sorted->shape[0];
    job.args.step = axis_step(sorted, 0);
    job.args.rule = rule_of(sorted->dtype, false);
    job.args.right = static_cast<const tsr_search_params *>(op->params)->right;
    const tsr_tensor *const tensors[] = { op->out[0], op->in[0] };
    host->normalise(&l, 2, tensors);
    return static_cast<tsr_status>(tsrc_split(&l, TSRC_DIMS, TSRC_LIMIT, search_part, &job));
}

} // namespace tsrc
