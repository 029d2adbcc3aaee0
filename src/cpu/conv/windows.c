/* windows.c - a grid of floats as strips of sums over x itself, or over a padded copy.
 *
 * Consecutive places see, through one tap, consecutive inputs. So no columns need be built (im2col): for each
 * index of k an offset leads from the strip's first place to the inputs (conv_kernels.h).
 * k counts channels, and taps within them.
 *
 * The inputs of a box of outputs are copied, as float or double, padded with zeros, channel by channel. Where
 * windows slide by more than one input, inputs a whole step apart are copied next to each
 * other, one remainder after the other (phases). A strip continues from a row of the copy to the next;
 * the sums at the ends of rows, whose windows span two rows, are dropped. The zeros after a
 * row also serve as the padding before the next. The order of loops:
 *
 *     unit    a box of one image and some kernels of one group: what a thread takes
 *       columns          as many as a strip is wide
 *         block of k     summed from 0; its part of the copy stays in the L1 cache
 *           panel of weights
 *
 * Inputs of windows of size 1 that have unit stride are not copied. Depthwise convolutions
 * (groups of one channel and few kernels) are summed kernel by kernel. The order of sums is
 * fixed: in order within a block of whole channels (block_channels), or of taps, that
 * counts at most TSRI_GEMM_BLOCK, and the blocks' sums in order. */
#include "windows.h"
#include "core/alloc.h"
#include "core/dtype_int.h"
#include "core/mem.h"
#include "core/memory_int.h"
#include "cpu/cpu_run.h"

enum {
    MOST_TAPS = 1 << 16,
    DEPTHWISE_KERNELS = 3 /* kernels of a group of one channel up to which it counts as depthwise */
};

/* Does output i see input i only? */
static bool is_plain(const tsri_slide *a)
{
    return a->taps == 1 && a->step == 1 && a->first == 0 && a->in == a->out;
}

/* Geometry ------------------------------------------------------------------------------------ */

static void cut_axis(tsri_windows_side *s, const tsri_slide *a, int64_t box)
{
    tsri_cut_axis(a->out, box, &s->box, &s->boxes);
}

/* Boxes of whole planes, of whole rows, or of parts of rows, as they fit. */
static bool cut_boxes(tsri_windows *j)
{
    const tsri_slide *a = j->g->axis;
    const int64_t shortest = TSRI_CONV_VECTORS * j->kernels->lanes;
    for (int d = 0; d < TSRI_AXES; d++) cut_axis(&j->side[d], &a[d], a[d].out);
    for (int d = 0; d < TSRI_AXES; d++) {
        int64_t box = a[d].out;
        const int64_t end = d == 2 ? shortest : 1;
        while (box > end && tsri_windows_measure(j) > tsri_conv_tuning()->windows_copy) {
            box = most(end, box - most(1, box / 8));
            cut_axis(&j->side[d], &a[d], box);
        }
    }
    j->boxes = j->side[0].boxes * j->side[1].boxes * j->side[2].boxes;
    return tsri_windows_measure(j) <= tsri_conv_tuning()->copy_most;
}

/* Are these windows of size 1 on floats of unit stride? Then boxes are rows. */
static bool needs_no_copy(const tsri_windows *j)
{
    const tsri_slide *a = j->g->axis;
    if (j->taps != 1 || tsri_dtype_size(j->g->dtype) != j->element) return false;
    for (int d = 0; d < TSRI_AXES; d++)
        if (tsri_slide_at(&a[d], 0) < 0 || (a[d].out - 1) * a[d].step + tsri_slide_at(&a[d], 0) >= a[d].in)
            return false;
    return a[2].out == 1 || tsri_slide_bytes(&a[2]) == j->element;
}

/* Are sizes small enough that bytes of a copy cannot overflow? */
static bool is_moderate(const tsri_grid *g)
{
    double reach = (double)g->channels;
    for (int d = 0; d < TSRI_AXES; d++) {
        const tsri_slide *a = &g->axis[d];
        if (a->taps < 1 || a->taps > MOST_TAPS) return false;
        if ((double)a->taps * (double)a->taps * (double)a->step > 1e8 && a->step > 1) return false;
        const double steps = a->taps > 1 ? (double)(a->taps - 1) *
                                               (double)(a->reach < 0 ? -a->reach : a->reach) / (double)a->step
                                         : 0;
        reach *= ((double)a->out + steps + 2) * (double)least(a->step, a->taps);
    }
    return reach < 1e15 && g->channels > 0;
}

/* Weights ------------------------------------------------------------------------------------- */

/* Panels begin .. end - 1, counted through the groups. */
static tsr_status pack_weights(void *context, int64_t begin, int64_t end)
{
    const tsri_windows *j = context;
    const tsri_grid *g = j->g;
    const tsri_slide *a = g->axis;
    for (int64_t i = begin; i < end; i++) {
        const int64_t panel = i % j->panels, row = row_of(j, panel), rows = row_of(j, panel + 1) - row;
        const char *w = g->w + i / j->panels * g->w_group + (j->first + row) * g->w_kernel;
        char *z = j->weights + (i / j->panels * j->count + row) * j->k * j->element;
        for (int64_t c = 0; c < g->channels; c++)
            for (int64_t t0 = 0; t0 < a[0].taps; t0++)
                for (int64_t t1 = 0; t1 < a[1].taps; t1++, z += a[2].taps * rows * j->element)
                    j->dtype->pack(z, w + c * g->w_channel + t0 * a[0].w + t1 * a[1].w, g->w_kernel, a[2].w,
                                   rows, a[2].taps, (int)rows);
    }
    return TSR_OK;
}

/* Units --------------------------------------------------------------------------------------- */

static void find_unit(tsri_windows_unit *u, const tsri_windows *j, int64_t i)
{
    const tsri_grid *g = j->g;
    const tsri_windows_side *s = j->side;
    u->of = tsri_find_unit(g, i, j->slices, (const int64_t[]){ s[0].box, s[1].box, s[2].box },
                           (const int64_t[]){ s[0].boxes, s[1].boxes, s[2].boxes });
    u->panel = u->of.slice * j->slice;
    u->panels = least(j->panels - u->panel, j->slice);
    for (int d = 0; d < TSRI_AXES; d++)
        if (j->no_copy)
            u->of.x += (u->of.o[d] * g->axis[d].step + tsri_slide_at(&g->axis[d], 0)) * g->axis[d].x;
}

static size_t rounded(int64_t bytes) { return tsri_round_up((size_t)bytes, TSRI_CACHE_LINE); }

static size_t copy_bytes(const tsri_windows *j)
{
    return j->no_copy || j->three
               ? 0
               : rounded(j->channel * j->g->channels * j->element + TSRI_WINDOWS_WHOLE * vectors_bytes(j));
}

static size_t sums_bytes(const tsri_windows *j)
{
    if (j->three) return 0;
    return rounded(j->depthwise ? j->plane * j->element + TSRI_WINDOWS_WHOLE * vectors_bytes(j)
                            : j->slice * j->rows * vectors_bytes(j));
}

static void share_scratch(const tsri_windows *j, tsri_windows_unit *u, char *scratch)
{
    *u = (tsri_windows_unit){ .copy = scratch };
    u->sums = u->copy + copy_bytes(j);
}

/* Strips that a unit runs. */
static int64_t strips_of(const tsri_windows *j, const tsri_windows_unit *u)
{
    return pieces(flat_places(j, u), TSRI_CONV_VECTORS * j->kernels->lanes) * pieces(j->k, block_at(j, 0)) *
           u->panels;
}

/* Plans to prefetch the rows that `next` will copy while u is summed. */
static void plan_fetch(const tsri_windows *j, tsri_windows_unit *u, const tsri_windows_unit *next)
{
    const tsri_slide *a = j->g->axis;
    const int64_t size = tsri_dtype_size(j->g->dtype);
    const int64_t first = most(0, (next->of.o[1] + j->side[1].low) * a[1].step);
    const int64_t end =
        least(a[1].in, (next->of.o[1] + next->of.n[1] + j->side[1].low + j->side[1].span) * a[1].step);
    if (j->no_copy || j->three || a[2].x != size || a[0].in != 1 || end <= first || a[2].in < 1) return;
    if (next->of.image == u->of.image && next->of.group == u->of.group && j->slices > 1) return;
    u->ahead = (tsri_prefetch){ .at = next->of.x + first * a[1].x, .outer = j->g->channels,
                             .outer_step = j->g->x_channel, .inner = end - first, .inner_step = a[1].x,
                             .bytes = a[2].in * size };
    tsri_prefetch_plan(&u->ahead, strips_of(j, u), block_at(j, 0));
}

static tsr_status multiply_units(void *context, int64_t begin, int64_t end)
{
    const tsri_windows *j = context;
    tsri_windows_unit u, next;
    size_t reserved = 0;
    const size_t bytes = (size_t)most(1, (int64_t)(copy_bytes(j) + sums_bytes(j)));
    char *scratch = tsri_pool_scratch(bytes, &reserved);
    TSRI_CHECK(scratch, TSR_ENOMEM, "conv: no memory for %zu bytes of scratch", bytes);
    share_scratch(j, &u, scratch);
    for (int64_t i = begin; i < end; i++) {
        find_unit(&u, j, i);
        u.ahead = (tsri_prefetch){ .lines = 0 };
        if (i + 1 < end) {
            find_unit(&next, j, i + 1);
            plan_fetch(j, &u, &next);
        }
        tsri_windows_multiply(j, &u);
    }
    if (j->stream) j->kernels->fence();
    tsri_pool_give(scratch, reserved);
    return TSR_OK;
}

static tsr_status multiply_packed(tsri_windows *j)
{
    const tsri_conv_shares shares = { .panels = j->panels, .fewest = 4, .boxes = j->boxes,
                                      .box = { j->side[0].box, j->side[1].box, j->side[2].box },
                                      .kernels = j->count, .k = j->k, .parts = 1,
                                      .packing = 8, .pack = pack_weights, .multiply = multiply_units };
    return tsri_share_units(&shares, j->g, &j->slice, &j->slices, j);
}

/* Kernels first .. first + count - 1 of each group. */
static tsr_status multiply_kernels(tsri_windows *j)
{
    size_t reserved = 0;
    j->panels = pieces(j->count, j->rows);
    j->low_rows = j->count / j->panels;
    j->high_panels = j->count % j->panels;
    const double wanted = ((double)j->g->groups * (double)j->count + 2) * (double)j->k * 8;
    const bool fits = wanted < (double)(SIZE_MAX / 4);
    const size_t weights = fits ? rounded(j->g->groups * j->count * j->k * j->element) : 0;
    const size_t bytes = fits ? weights + (size_t)j->k * sizeof *j->offset : 0;
    j->weights = fits ? tsri_pool_scratch(bytes, &reserved) : NULL;
    TSRI_CHECK(j->weights, TSR_ENOMEM, "conv: no memory to pack %lld groups of %lld x %lld weights",
               (long long)j->g->groups, (long long)j->count, (long long)j->k);
    j->offset = (int64_t *)(void *)(j->weights + weights);
    tsri_windows_offsets(j);
    const tsr_status s = multiply_packed(j);
    tsri_pool_give(j->weights, reserved);
    return s;
}

/* The whole ------------------------------------------------------------------------------------ */

/* Are these floats of unit stride, and windows of 3 x 3 that slide by one? */
static bool suits_three(const tsri_windows *j)
{
    const tsri_slide *a = j->g->axis;
    if (!j->depthwise || j->g->dtype != TSR_F32 || !j->kernels->three || !is_plain(&a[0]) || a[0].out != 1)
        return false;
    for (int d = 1; d < TSRI_AXES; d++)
        if (a[d].taps != 3 || a[d].step != 1 || a[d].reach != 1 || a[d].in < 1) return false;
    return (a[2].x == j->element || a[2].in == 1) && (a[2].z == j->element || a[2].out == 1);
}

/* Boxes of whole rows, small enough for the L1 cache. */
static void cut_rows(tsri_windows *j, int64_t bytes)
{
    const tsri_slide *a = j->g->axis;
    cut_axis(&j->side[1], &a[1], most(8, bytes / (a[2].out * j->element)));
    cut_axis(&j->side[2], &a[2], a[2].out);
    j->boxes = j->side[1].boxes;
}

/* Bytes of x and z that a window of size 1 reads and writes. */
static int64_t touched(const tsri_grid *g)
{
    const double places = (double)g->axis[0].out * (double)g->axis[1].out * (double)g->axis[2].out;
    const double all = (double)g->batch * (double)g->groups * (double)(g->channels + g->kernels) * places;
    return (int64_t)(all < 1e15 ? all * (double)tsri_dtype_size(g->dtype) : 1e15);
}

/* How many channels are summed from 0 together. */
static int64_t block_channels(const tsri_grid *g)
{
    const int64_t taps = g->axis[0].taps * g->axis[1].taps * g->axis[2].taps;
    if (taps == 1) return TSRI_GEMM_BLOCK;
    return pieces(g->channels, pieces(g->channels, most(1, TSRI_CONV_BLOCK / taps)));
}

static bool plan_job(tsri_windows *j, const tsri_grid *g)
{
    const tsri_cpu_kernels *k = tsri_cpu_kernels_get();
    const tsri_slide *a = g->axis;
    if (!k->conv || tsr_dtype_kind(g->dtype) != TSR_FLOATING || !is_moderate(g)) return false;
    const bool wide = g->dtype == TSR_F64;
    *j = (tsri_windows){ .g = g, .kernels = &k->conv[wide ? 1 : 0], .element = wide ? 8 : 4 };
    j->dtype = &k->gemm[wide ? TSRI_GEMM_F64 : TSRI_GEMM_F32].dtypes[g->dtype];
    j->taps = a[0].taps * a[1].taps * a[2].taps;
    j->k = j->taps * g->channels;
    if (j->taps > MOST_TAPS) return false;
    j->block = block_channels(g) * j->taps;
    for (int d = 0; d < TSRI_AXES; d++) tsri_windows_side_of(&j->side[d], &a[d]);
    j->depthwise = g->channels == 1 && g->kernels <= DEPTHWISE_KERNELS;
    j->rows = j->depthwise ? 1 : j->kernels->rows;
    j->no_copy = !j->depthwise && needs_no_copy(j);
    j->three = suits_three(j);
    if (j->three) {
        for (int d = 0; d < TSRI_AXES; d++) cut_axis(&j->side[d], &a[d], a[d].out);
        cut_rows(j, tsri_conv_tuning()->unpadded);
        return true;
    }
    if (!cut_boxes(j) && !j->no_copy) return false;
    if (j->no_copy) {
        for (int d = 0; d < TSRI_AXES; d++)
            cut_axis(&j->side[d], &a[d], d < 2 ? 1 : 48 * TSRI_CONV_VECTORS * j->kernels->lanes);
        j->boxes = j->side[0].boxes * j->side[1].boxes * j->side[2].boxes;
        (void)tsri_windows_measure(j);
    }
    const bool one_row = j->side[0].box == 1 && j->side[1].box == 1;
    j->writes_z = !j->depthwise && one_row && j->dtype->native && (a[2].z == j->element || a[2].out == 1);
    j->stream = j->writes_z && j->no_copy && !g->bias && j->k <= j->block && tsri_cpu_streams(touched(g));
    return true;
}

bool tsri_grid_has_windows(const tsri_grid *g)
{
    tsri_windows j;
    return plan_job(&j, g);
}

tsr_status tsri_grid_windows(const tsri_grid *g)
{
    tsri_windows j;
    (void)plan_job(&j, g);
    const int64_t packed = tsri_conv_tuning()->kernels;
    for (j.first = 0; j.first < g->kernels; j.first += packed) {
        j.count = least(g->kernels - j.first, packed);
        TSRI_TRY(multiply_kernels(&j));
    }
    return TSR_OK;
}
