/* multiply.c - a grid as a product of matrices (im2col), of which only packed panels exist.
 *
 *     z (kernels x places)  =  w (kernels x k)  *  columns (k x places)
 *
 * k counts taps, and channels within them. Weights are packed once, for some hundreds of kernels at a time.
 * Columns are gathered from x directly into panels for gemm.h's micro-kernel, some places and some k at a
 * time, by the thread that multiplies them. The order of loops:
 *
 *     unit                       some places of one image, some kernels of one group: what a thread takes
 *       part of k                whose columns are packed
 *         block of k             summed from 0
 *           rows of weights      that stay in a cache
 *             panel of columns
 *               panel of weights   one call of the micro-kernel
 *
 * Sums are kept in scratch, a micro-tile after the other, until k is done. Their order is gemm.h's, so it
 * depends neither on the units nor on the threads. */
#include "conv.h"
#include "core/alloc.h"
#include "core/dtype_int.h"
#include "core/mem.h"
#include "core/memory_int.h"
#include "core/sizes.h"
#include "cpu/gemm/gemm.h"
#include "cpu/kernels.h"
#include "core/threads_int.h"

enum {
    PART_K = 2 * TSRI_GEMM_BLOCK,    /* whose columns are packed at a time */
    GATHERED = 32                    /* channels gathered at a time, where places have no common stride */
};

static const int64_t OUTSIDE = INT64_MIN;

typedef struct job {
    const tsri_grid       *g;
    const tsri_gemm_kernels   *gemm;
    const tsri_gemm_dtype *dtype;
    tsri_gemm_scale        scale;
    int64_t                element;        /* bytes in memory */
    int64_t                taps, k, places;
    int64_t                first, kernels; /* of each group, whose weights are packed */
    int64_t                panels;         /* of weights, of each group */
    char                  *weights;
    bool                   even;           /* is_even(), of the axes */
    int64_t                row_panels;     /* of weights, that a unit takes */
    int64_t                blocks, slices; /* of places and of kernels, that make units */
} job;

static int64_t tile_bytes(const tsri_gemm_kernels *u) { return (int64_t)u->mr * u->nr * u->sum; }
static int64_t weight_panel_bytes(const job *j) { return j->k * j->gemm->mr * j->gemm->element; }
static int64_t block_panels(const job *j) { return most(1, tsri_conv_tuning()->places / j->gemm->nr); }
static int64_t block_places(const job *j) { return block_panels(j) * j->gemm->nr; }

/* Weights ------------------------------------------------------------------------------------ */

/* Tap number t, split over the axes. */
static void split_tap(int64_t out[TSRI_AXES], const tsri_grid *g, int64_t t)
{
    out[2] = t % g->axis[2].taps;
    out[1] = t / g->axis[2].taps % g->axis[1].taps;
    out[0] = t / g->axis[2].taps / g->axis[1].taps;
}

/* Panels begin .. end - 1, counted through the groups. */
static tsr_status pack_weights(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    const tsri_grid *g = j->g;
    const int mr = j->gemm->mr;
    for (int64_t i = begin; i < end; i++) {
        const int64_t row = i % j->panels * mr;
        const char *w = g->w + i / j->panels * g->w_group + (j->first + row) * g->w_kernel;
        char *panel = j->weights + i * weight_panel_bytes(j);
        for (int64_t t = 0; t < j->taps; t++, panel += g->channels * mr * j->gemm->element) {
            int64_t tap[TSRI_AXES];
            split_tap(tap, g, t);
            const char *from = w;
            for (int d = 0; d < TSRI_AXES; d++) from += tap[d] * g->axis[d].w;
            j->dtype->pack(panel, from, g->w_kernel, g->w_channel, least(j->kernels - row, mr), g->channels,
                           mr);
        }
    }
    return TSR_OK;
}

/* Columns ------------------------------------------------------------------------------------ */

/* The places of one panel: where their windows begin, and which inputs of one tap they see. */
typedef struct lanes {
    int64_t  n;
    bool     one_row;             /* they are consecutive along the last axis */
    int64_t (*at)[TSRI_AXES];     /* o * step */
    int64_t *offset;              /* bytes from x, or OUTSIDE */
    char    *gathered;
} lanes;

static void find_lanes(lanes *l, const tsri_grid *g, int64_t place, int64_t n)
{
    const int64_t cols = g->axis[2].out, rows = g->axis[1].out;
    int64_t o[TSRI_AXES] = { place / cols / rows, place / cols % rows, place % cols };
    l->n = n;
    l->one_row = o[2] + n <= cols;
    for (int64_t i = 0; i < n; i++) {
        for (int d = 0; d < TSRI_AXES; d++) l->at[i][d] = o[d] * g->axis[d].step;
        for (int d = TSRI_AXES - 1; d >= 0 && ++o[d] == g->axis[d].out; d--) o[d] = 0;
    }
}

/* The input that each lane sees through a tap; returns how many lanes see one. */
static int64_t find_inputs(const lanes *l, const tsri_grid *g, const int64_t tap[TSRI_AXES])
{
    int64_t seen = 0, shift[TSRI_AXES];
    for (int d = 0; d < TSRI_AXES; d++) shift[d] = tsri_slide_at(&g->axis[d], tap[d]);
    for (int64_t i = 0; i < l->n; i++) {
        int64_t offset = 0;
        bool inside = true;
        for (int d = 0; d < TSRI_AXES; d++) {
            const int64_t at = l->at[i][d] + shift[d];
            inside &= (uint64_t)at < (uint64_t)g->axis[d].in;
            if (inside) offset += at * g->axis[d].x;
        }
        l->offset[i] = inside ? offset : OUTSIDE;
        seen += inside;
    }
    return seen;
}

static TSRI_ALWAYS_INLINE void gather_size(const lanes *l, const char *x, int64_t step, int64_t channels,
                                           const size_t size)
{
    char *z = l->gathered;
    for (int64_t c = 0; c < channels; c++, x += step)
        for (int64_t i = 0; i < l->n; i++, z += size) {
            if (l->offset[i] == OUTSIDE) memset(z, 0, size);
            else                         memcpy(z, x + l->offset[i], size);
        }
}

static void gather(const lanes *l, const char *x, int64_t step, int64_t channels, int64_t size)
{
    switch (size) {
    case 1:  gather_size(l, x, step, channels, 1); break;
    case 2:  gather_size(l, x, step, channels, 2); break;
    case 4:  gather_size(l, x, step, channels, 4); break;
    case 8:  gather_size(l, x, step, channels, 8); break;
    default: gather_size(l, x, step, channels, 16); break;
    }
}

/* One tap of `channels` channels from x on. */
static void pack_tap(const job *j, const lanes *l, char *panel, const char *x, const int64_t tap[TSRI_AXES],
                     int64_t channels)
{
    const tsri_grid *g = j->g;
    const int64_t seen = find_inputs(l, g, tap), size = j->element,
                  step = (int64_t)j->gemm->nr * j->gemm->element;
    if (seen == 0) {
        memset(panel, 0, (size_t)(channels * step));
    } else if (seen == l->n && l->one_row) {
        j->dtype->pack(panel, x + l->offset[0], tsri_slide_bytes(&g->axis[2]), g->x_channel, l->n, channels,
                       j->gemm->nr);
    } else {
        for (int64_t c = 0; c < channels; c += GATHERED) {
            const int64_t n = least(channels - c, GATHERED);
            gather(l, x + c * g->x_channel, g->x_channel, n, size);
            j->dtype->pack(panel + c * step, l->gathered, size, l->n * size, l->n, n, j->gemm->nr);
        }
    }
}

/* A panel of columns: k indices from `begin` on. x is the group's part of an image. */
static void pack_columns(const job *j, const lanes *l, char *panel, const char *x, int64_t begin, int64_t k)
{
    const int64_t channels = j->g->channels, step = (int64_t)j->gemm->nr * j->gemm->element;
    for (int64_t p = begin; p < begin + k;) {
        const int64_t c = p % channels, n = least(channels - c, begin + k - p);
        int64_t tap[TSRI_AXES];
        split_tap(tap, j->g, p / channels);
        pack_tap(j, l, panel + (p - begin) * step, x + c * j->g->x_channel, tap, n);
        p += n;
    }
}

/* Units -------------------------------------------------------------------------------------- */

/* What a thread works on, in scratch of its own. */
typedef struct unit {
    int64_t     image, group, place, places;  /* places from `place` on */
    int64_t     row, rows;                    /* kernels of the group's that are packed */
    const char *weights;
    char       *columns, *sums;
    lanes       l;
} unit;

static void sum_part(const job *j, const unit *u, int64_t begin, int64_t k)
{
    const tsri_gemm_kernels *gemm = j->gemm;
    const int64_t panels = pieces(u->rows, gemm->mr), across = pieces(u->places, gemm->nr),
                  rows = most(1, tsri_conv_tuning()->rows / gemm->mr);
    const int64_t column_bytes = k * gemm->nr * gemm->element;
    for (int64_t p = 0; p < k; p += TSRI_GEMM_BLOCK)
        for (int64_t top = 0; top < panels; top += rows)
            for (int64_t c = 0; c < across; c++)
                for (int64_t r = top; r < least(top + rows, panels); r++)
                    gemm->run(least(k - p, TSRI_GEMM_BLOCK),
                             u->weights + r * weight_panel_bytes(j) + (begin + p) * gemm->mr * gemm->element,
                             u->columns + c * column_bytes + p * gemm->nr * gemm->element,
                             u->sums + (r * across + c) * tile_bytes(gemm), begin + p > 0);
}

/* Columns `from` .. from + n - 1 of a tile, which have one stride in z. */
static void store_run(const job *j, const unit *u, const char *tile, int64_t row, int64_t place, int64_t from,
                      int64_t n)
{
    const tsri_grid *g = j->g;
    const int64_t cols = g->axis[2].out, rows = g->axis[1].out,
                  kernel = u->group * g->kernels + j->first + u->row + row;
    const int64_t part = j->gemm->sum / (tsr_dtype_kind(g->dtype) == TSR_COMPLEX ? 2 : 1);
    tsri_gemm_matrix z = { g->z + u->image * g->z_image + kernel * g->z_channel, g->z_channel, g->axis[2].z };
    tsri_gemm_matrix bias = { NULL, g->bias_step, 0 };
    z.data += place / cols / rows * g->axis[0].z + place / cols % rows * g->axis[1].z;
    z.data += place % cols * g->axis[2].z;
    /* The cast drops const: c is only read. */
    if (g->bias) bias.data = (char *)(uintptr_t)(g->bias + kernel * g->bias_step);
    j->dtype->store(z, bias, tile + from * part, least(u->rows - row, j->gemm->mr), n, j->gemm->mr,
                    j->gemm->nr, &j->scale);
}

static void store_sums(const job *j, const unit *u)
{
    const int mr = j->gemm->mr, nr = j->gemm->nr;
    const int64_t cols = j->g->axis[2].out, across = pieces(u->places, nr);
    for (int64_t r = 0; r * mr < u->rows; r++)
        for (int64_t c = 0; c < across; c++) {
            const int64_t width = least(u->places - c * nr, nr);
            const char *tile = u->sums + (r * across + c) * tile_bytes(j->gemm);
            for (int64_t i = 0; i < width;) {
                const int64_t place = u->place + c * nr + i;
                const int64_t n = j->even ? width : least(width - i, cols - place % cols);
                store_run(j, u, tile, r * mr, place, i, n);
                i += n;
            }
        }
}

static void multiply_unit(const job *j, unit *u)
{
    const tsri_grid *g = j->g;
    const tsri_gemm_kernels *gemm = j->gemm;
    const char *x = g->x + u->image * g->x_image + u->group * g->channels * g->x_channel;
    const int64_t across = pieces(u->places, gemm->nr);
    if (j->k == 0) memset(u->sums, 0, (size_t)(pieces(u->rows, gemm->mr) * across * tile_bytes(gemm)));
    for (int64_t p = 0; p < j->k; p += PART_K) {
        const int64_t k = least(j->k - p, PART_K);
        for (int64_t c = 0; c < across; c++) {
            find_lanes(&u->l, g, u->place + c * gemm->nr, least(u->places - c * gemm->nr, gemm->nr));
            pack_columns(j, &u->l, u->columns + c * k * gemm->nr * gemm->element, x, p, k);
        }
        sum_part(j, u, p, k);
    }
    store_sums(j, u);
}

/* Scratch ------------------------------------------------------------------------------------ */

static size_t rounded(int64_t bytes) { return tsri_round_up((size_t)bytes, TSRI_CACHE_LINE); }

static size_t columns_bytes(const job *j)
{
    return rounded(least(j->k, PART_K) * block_places(j) * j->gemm->element);
}

static size_t sums_bytes(const job *j)
{
    return rounded(j->row_panels * block_panels(j) * tile_bytes(j->gemm));
}
static size_t at_bytes(const job *j) { return rounded(j->gemm->nr * TSRI_AXES * (int64_t)sizeof(int64_t)); }
static size_t offset_bytes(const job *j) { return rounded(j->gemm->nr * (int64_t)sizeof(int64_t)); }
static size_t gathered_bytes(const job *j) { return rounded(GATHERED * j->gemm->nr * j->element); }

static size_t scratch_bytes(const job *j)
{
    return columns_bytes(j) + sums_bytes(j) + at_bytes(j) + offset_bytes(j) + gathered_bytes(j);
}

static void share_scratch(const job *j, unit *u, char *scratch)
{
    u->columns = scratch;
    u->sums = u->columns + columns_bytes(j);
    char *at = u->sums + sums_bytes(j), *offset = at + at_bytes(j);
    u->l.at = (int64_t(*)[TSRI_AXES])(void *)at;
    u->l.offset = (int64_t *)(void *)offset;
    u->l.gathered = offset + offset_bytes(j);
}

/* Images outermost, then groups, then places, then kernels. */
static void find_unit(unit *u, const job *j, int64_t i)
{
    const int64_t slice = i % j->slices, block = i / j->slices % j->blocks, rest = i / j->slices / j->blocks;
    u->image = rest / j->g->groups;
    u->group = rest % j->g->groups;
    u->place = block * block_places(j);
    u->places = least(j->places - u->place, block_places(j));
    u->row = slice * j->row_panels * j->gemm->mr;
    u->rows = least(j->kernels - u->row, j->row_panels * j->gemm->mr);
    u->weights = j->weights + (u->group * j->panels + slice * j->row_panels) * weight_panel_bytes(j);
}

static tsr_status multiply_units(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    unit u;
    size_t reserved = 0;
    const size_t bytes = scratch_bytes(j);
    char *scratch = tsri_pool_scratch(bytes, &reserved);
    TSRI_CHECK(scratch, TSR_ENOMEM, "conv: no memory for %zu bytes of scratch", bytes);
    share_scratch(j, &u, scratch);
    for (int64_t i = begin; i < end; i++) {
        find_unit(&u, j, i);
        multiply_unit(j, &u);
    }
    tsri_pool_give(scratch, reserved);
    return TSR_OK;
}

/* The whole ---------------------------------------------------------------------------------- */

/* Units of all kernels, if there are enough of them for the threads; else of some. */
static void cut_units(job *j)
{
    const int64_t whole = j->g->batch * j->g->groups * j->blocks, wanted = 2 * (int64_t)tsr_threads();
    j->slices = 1;
    j->row_panels = j->panels;
    if (whole >= wanted || tsr_threads() == 1) return;
    j->row_panels = most(pieces(j->panels, pieces(wanted, whole)), least(j->panels, 4));
    j->slices = pieces(j->panels, j->row_panels);
}

/* Products of one unit, at the most. */
static double unit_work(const job *j)
{
    return (double)least(j->places, block_places(j)) * (double)(j->row_panels * j->gemm->mr) *
           (double)(j->k + 1);
}

static tsr_status multiply_packed(job *j)
{
    const int64_t grain = tsri_grain(TSRI_WORK_PRODUCT * 8 * (double)(j->k + 1));
    TSRI_TRY(tsri_parallel_for(j->g->groups * j->panels, grain, pack_weights, j));
    cut_units(j);
    return tsri_parallel_for(j->g->batch * j->g->groups * j->blocks * j->slices,
                            tsri_grain(TSRI_WORK_PRODUCT * unit_work(j)), multiply_units, j);
}

/* Kernels first .. first + kernels - 1 of each group. */
static tsr_status multiply_kernels(job *j)
{
    size_t reserved = 0;
    j->panels = pieces(j->kernels, j->gemm->mr);
    const double wanted =
        (double)j->g->groups * (double)j->panels * (double)j->k * j->gemm->mr * j->gemm->element;
    const bool fits = wanted < (double)(SIZE_MAX / 4);
    const size_t bytes = fits && j->k > 0 ? (size_t)(j->g->groups * j->panels * weight_panel_bytes(j)) : 1;
    j->weights = fits ? tsri_pool_scratch(bytes, &reserved) : NULL;
    TSRI_CHECK(j->weights, TSR_ENOMEM, "conv: no memory to pack %lld groups of %lld x %lld weights",
               (long long)j->g->groups, (long long)j->kernels, (long long)j->k);
    const tsr_status s = multiply_packed(j);
    tsri_pool_give(j->weights, reserved);
    return s;
}

/* Do places of z have one stride, also from row to row? */
static bool is_even(const tsri_slide *a)
{
    int64_t step = a[2].z * a[2].out;
    for (int d = TSRI_AXES - 2; d >= 0; d--) {
        if (a[d].out > 1 && a[d].z != step) return false;
        step *= a[d].out;
    }
    return true;
}

tsr_status tsri_grid_multiply(const tsri_grid *g)
{
    const tsri_slide *a = g->axis;
    job j = { .g = g, .dtype = &tsri_gemm_dtypes[g->dtype], .element = tsri_dtype_size(g->dtype) };
    j.gemm = &tsri_cpu_kernels_get()->gemm[j.dtype->cls];
    j.scale = (tsri_gemm_scale){ { 1, 0 }, { 1, 0 }, 1, 1, !g->bias };
    j.taps = a[0].taps * a[1].taps * a[2].taps;
    j.k = j.taps * g->channels;
    j.places = a[0].out * a[1].out * a[2].out;
    j.blocks = pieces(j.places, block_places(&j));
    j.even = is_even(a);
    const int64_t packed = tsri_conv_tuning()->kernels;
    for (j.first = 0; j.first < g->kernels; j.first += packed) {
        j.kernels = least(g->kernels - j.first, packed);
        TSRI_TRY(multiply_kernels(&j));
    }
    return TSR_OK;
}
