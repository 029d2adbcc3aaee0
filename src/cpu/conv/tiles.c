/* tiles.c - a grid of floats as tiles of sums: some places by vectors of kernels.
 *
 * k counts rows of taps, channels within them, and the taps of a row. For each index of k a tile broadcasts
 * the input that each of its places sees to a vector, and multiplies it with the weights of
 * neighbouring kernels (conv_kernels.h). Inputs may have any strides. The inputs of a box of outputs are
 * copied only to pad them with zeros, and to convert them to floats: with channels last where they come last
 * in x, else with channels first. The order of loops:
 *
 *     unit               a box of one image and some kernels of one group: what a thread takes
 *       panel of kernels     as wide as tiles are
 *         band of places       whose sums stay in the L1 cache
 *           chunk of k           whose weights stay in the L2 cache
 *             tile
 *               block of k           summed from 0
 *
 * Rows of outputs at an edge of x skip the rows of taps that are outside.
 * Sums are accumulated in z itself where kernels have unit stride there; else they are
 * transposed into z, a band at a time. Inputs of windows of size 1 are not copied. The order of sums is
 * fixed: in order within a block, and the blocks' sums in order. */
#include "core/alloc.h"
#include "core/dtype_int.h"
#include "core/mem.h"
#include "core/memory_int.h"
#include "tiles.h"

enum { TRANSPOSE_FROM = 8 };  /* channels from which on copies are transposed */

/* Geometry ------------------------------------------------------------------------------------ */

/* Bytes of the copy for the current boxes; sets its pitches. The steps between places and channels avoid
 * whole pages and simple fractions of a page: those would fall into the same sets of a cache. */
static int64_t measure_copy(tsri_tiles *j)
{
    tsri_tiles_side *s = j->side;
    const int64_t line = TSRI_CACHE_LINE, channels = pieces(j->g->channels * j->element, line);
    s[2].pitch = !j->last ? j->element : (channels + (channels % 8 == 0)) * line;
    s[1].pitch = tsri_tiles_inputs_of(j, 2, s[2].box) * s[2].pitch;
    s[0].pitch = tsri_tiles_inputs_of(j, 1, s[1].box) * s[1].pitch;
    const int64_t all = tsri_tiles_inputs_of(j, 0, s[0].box) * s[0].pitch;
    j->channel = j->last ? j->element : pieces(all, 2 * line) * 2 * line + line;
    return j->last ? all : j->channel * j->g->channels;
}

static void cut_axis(tsri_tiles_side *s, const tsri_slide *a, int64_t box)
{
    tsri_cut_axis(a->out, box, &s->box, &s->boxes);
}

/* Boxes of whole planes, of whole rows, or of parts of rows, as they fit. */
static bool cut_boxes(tsri_tiles *j)
{
    const tsri_slide *a = j->g->axis;
    for (int d = 0; d < TSRI_AXES; d++) cut_axis(&j->side[d], &a[d], a[d].out);
    for (int d = 0; d < TSRI_AXES; d++) {
        int64_t box = a[d].out;
        const int64_t end = d == 2 ? 8 * j->kernels->places : 1;
        while (box > end && measure_copy(j) > tsri_conv_tuning()->tiles_copy) {
            box = most(end, box - most(1, box / 8));
            cut_axis(&j->side[d], &a[d], box);
        }
    }
    return measure_copy(j) <= tsri_conv_tuning()->copy_most;
}

/* Smaller boxes, where there are too few for the threads: of fewer rows, or of parts of a single row. */
static void cut_for_threads(tsri_tiles *j)
{
    const tsri_slide *a = j->g->axis;
    const int64_t panels = pieces(pieces(j->g->kernels, j->kernels->lanes), j->kernels->across);
    const int64_t units = j->g->batch * j->g->groups * panels * j->side[0].boxes;
    const int d = a[1].out > 1 ? 1 : 2;
    const int64_t wanted = pieces(tsr_threads(), units), least_box = d == 1 ? 1 : 8 * j->kernels->places;
    if (wanted <= j->side[d].boxes) return;
    cut_axis(&j->side[d], &a[d], most(least_box, pieces(a[d].out, wanted)));
    (void)measure_copy(j);
}

/* Are these windows of size 1 on floats, all inside x? */
static bool needs_no_copy(const tsri_tiles *j)
{
    const tsri_slide *a = j->g->axis;
    if (j->taps != 1 || tsri_dtype_size(j->g->dtype) != j->element) return false;
    for (int d = 0; d < TSRI_AXES; d++)
        if (tsri_slide_at(&a[d], 0) < 0 || (a[d].out - 1) * a[d].step + tsri_slide_at(&a[d], 0) >= a[d].in)
            return false;
    return true;
}

/* Are sizes small enough that bytes of a copy cannot overflow? */
static bool is_moderate(const tsri_grid *g)
{
    double reach = (double)g->channels, taps = 1;
    for (int d = 0; d < TSRI_AXES; d++) {
        const tsri_slide *a = &g->axis[d];
        const double span = (double)(a->taps - 1) * (double)(a->reach < 0 ? -a->reach : a->reach) + 1;
        if (a->taps < 1) return false;
        taps *= (double)a->taps;
        reach *= (double)(a->out - 1) * (double)a->step + span + 1;
    }
    return reach < 1e15 && taps <= TSRI_GEMM_BLOCK && g->channels > 0;
}

/* Sums ---------------------------------------------------------------------------------------- */

/* Rows of places of a box, all with a panel's kernels. */
typedef struct band {
    int64_t o[TSRI_AXES], rows, cols; /* the first of its places */
    int64_t group, panel, vectors, kernels;
} band;

static int64_t band_cols(const tsri_tiles *j)
{
    return j->writes_z ? j->side[2].box : least(j->side[2].box, tsri_conv_tuning()->band);
}
static int64_t band_rows(const tsri_tiles *j) { return most(2, tsri_conv_tuning()->band / j->side[2].box); }
static int64_t row_tiles(const tsri_tiles *j, int64_t cols) { return pieces(cols, j->kernels->places); }

static char *output_at(const tsri_tiles *j, const tsri_tiles_unit *u, const band *b)
{
    const tsri_grid *g = j->g;
    const int64_t kernel = u->of.group * g->kernels + j->first + b->panel * panel_kernels(j);
    char *z = g->z + u->of.image * g->z_image + kernel * g->z_channel;
    for (int d = 0; d < TSRI_AXES; d++) z += (u->of.o[d] + b->o[d]) * g->axis[d].z;
    return z;
}

/* The first input of the window of output o of the box. */
static const char *window_at(const tsri_tiles *j, const tsri_tiles_unit *u, const int64_t *o)
{
    const char *x = j->no_copy ? u->of.x : u->copy;
    for (int d = 0; d < TSRI_AXES; d++) x += o[d] * j->g->axis[d].step * j->side[d].pitch;
    return x;
}

/* Indices begin .. end - 1 of k. */
typedef struct range {
    int64_t begin, end;
} range;

static bool has_input(const tsri_slide *a, int64_t output, int64_t tap)
{
    const int64_t at = output * a->step + tsri_slide_at(a, tap);
    return at >= 0 && at < a->in;
}

/* The indices of k for which a row of outputs has inputs: rows of taps above x, or below it, would add zeros.
 * All of k if there are none. */
static range row_range(const tsri_tiles *j, int64_t row)
{
    const tsri_slide *a = &j->g->axis[1];
    int64_t low = 0, high = a->taps;
    if (j->g->axis[0].taps == 1) {
        while (low < high && !has_input(a, row, low)) low++;
        while (low < high && !has_input(a, row, high - 1)) high--;
    }
    if (low == high) return (range){ 0, j->k };
    return (range){ low * (j->k / a->taps), high * (j->k / a->taps) };
}

/* Those of indices p .. p + chunk - 1 that are in the row's range, for one tile. */
static void sum_tile(const tsri_tiles *j, tsri_tiles_unit *u, const band *b, tsri_conv_tile *t,
                     int64_t places, int64_t p, const range *row)
{
    const int64_t vector = vector_of(j, b->group, b->panel) * vector_bytes(j);
    const int64_t begin = most(p, row->begin), end = least(p + j->chunk, row->end);
    if (begin >= end) return;
    t->k = end - begin;
    t->first = least(t->k, j->block - begin % j->block);
    t->block = j->block;
    t->add = begin > row->begin;
    t->w = j->weights + vector * j->k + begin * b->vectors * vector_bytes(j);
    t->offset = j->offset + begin;
    t->bias = j->g->bias && end == row->end ? j->bias + vector : NULL;
    u->odd = !u->odd;
    t->ahead = tsri_prefetch_lines(
        u->results.lines == 0 || (u->odd && u->ahead.lines) ? &u->ahead : &u->results, t->w, &t->ahead_step);
    j->kernels->tile[b->vectors][places](t);
}

/* Plans to prefetch the outputs of band `then` of unit `of` while b is summed. */
static void plan_results(const tsri_tiles *j, tsri_tiles_unit *u, const band *b, const tsri_tiles_unit *of,
                         const band *then)
{
    const tsri_slide *a = j->g->axis;
    const int64_t tiles = b->rows * row_tiles(j, b->cols) * pieces(j->k, j->chunk);
    u->results = (tsri_prefetch){ .lines = 0 };
    if (!of || (a[2].z != tsri_dtype_size(j->g->dtype) && !j->writes_z)) return;
    u->results = (tsri_prefetch){ .at = output_at(j, of, then),
                               .outer = j->writes_z ? 1 : then->kernels,
                               .outer_step = j->g->z_channel,
                               .inner = then->rows,
                               .inner_step = a[1].z,
                               .bytes = then->cols * a[2].z };
    if (u->results.bytes <= 0) u->results.lines = 0;
    else tsri_prefetch_plan(&u->results, pieces(tiles, 2), least(j->k, j->chunk));
}

static void sum_band(const tsri_tiles *j, tsri_tiles_unit *u, const band *b)
{
    const tsri_slide *a = j->g->axis;
    const int64_t count = row_tiles(j, b->cols), sums_row = panel_kernels(j) * j->element;
    const char *x = window_at(j, u, b->o);
    char *z = j->writes_z ? output_at(j, u, b) : u->sums;
    tsri_conv_tile t = { .x_step = a[2].step * j->side[2].pitch, .z_row = j->writes_z ? a[2].z : sums_row };
    t.kernels = j->writes_z ? b->kernels : b->vectors * j->kernels->lanes;
    for (int64_t p = 0; p < j->k; p += j->chunk)
        for (int64_t r = 0; r < b->rows; r++) {
            const range row = row_range(j, u->of.o[1] + b->o[1] + r);
            for (int64_t i = 0; i < count; i++) {
                const int64_t at = i * b->cols / count, end = (i + 1) * b->cols / count;
                t.x = x + r * a[1].step * j->side[1].pitch + at * t.x_step;
                t.z = z + r * (j->writes_z ? a[1].z : b->cols * sums_row) + at * t.z_row;
                sum_tile(j, u, b, &t, end - at, p, &row);
            }
        }
}

static void store_band(const tsri_tiles *j, const tsri_tiles_unit *u, const band *b)
{
    const tsri_gemm_scale plain = { .plain = true };
    const tsri_grid *g = j->g;
    const int64_t row = g->axis[1].z, step = g->axis[2].z, size = tsri_dtype_size(g->dtype);
    const int64_t sums_row = panel_kernels(j) * j->element;
    const bool joined = b->rows == 1 || row == b->cols * step;  /* rows have one stride */
    const int64_t rows = joined ? 1 : b->rows, cols = joined ? b->rows * b->cols : b->cols;
    char *z = output_at(j, u, b);
    for (int64_t r = 0; r < rows; r++) {
        const char *sums = u->sums + r * cols * sums_row;
        if (j->dtype->native && (step == size || cols == 1))
            j->kernels->transpose(z + r * row, g->z_channel, sums, sums_row, cols, b->kernels);
        else
            j->dtype->store((tsri_gemm_matrix){ z + r * row, step, b->kernels > 1 ? g->z_channel : size },
                            (tsri_gemm_matrix){ NULL, 0, 0 }, sums, cols, b->kernels, (int)cols,
                            (int)panel_kernels(j), &plain);
    }
}

/* Given o and the panel: how many rows, columns and kernels the band has. */
static void measure_band(const tsri_tiles *j, const tsri_tiles_unit *u, band *b)
{
    b->rows = least(u->of.n[1] - b->o[1], band_rows(j));
    b->cols = least(u->of.n[2] - b->o[2], band_cols(j));
    b->vectors = panel_vectors(j, b->panel);
    b->kernels = least(j->count - b->panel * panel_kernels(j), panel_kernels(j));
}

static band first_band(const tsri_tiles *j, const tsri_tiles_unit *u)
{
    band b = { .group = u->of.group, .panel = u->panel };
    measure_band(j, u, &b);
    return b;
}

/* Moves on to the unit's next band: along a row, by rows, planes and panels. False: there is none. */
static bool next_band(const tsri_tiles *j, const tsri_tiles_unit *u, band *b)
{
    b->o[2] += b->cols;
    if (b->o[2] >= u->of.n[2]) {
        b->o[2] = 0;
        b->o[1] += b->rows;
    }
    if (b->o[1] >= u->of.n[1]) {
        b->o[1] = 0;
        b->o[0]++;
    }
    if (b->o[0] >= u->of.n[0]) {
        b->o[0] = 0;
        b->panel++;
    }
    if (b->panel >= u->panel + u->panels) return false;
    measure_band(j, u, b);
    return true;
}

/* The sums of a unit; `next` is the one after it, or NULL. */
static void sum_unit(const tsri_tiles *j, tsri_tiles_unit *u, const tsri_tiles_unit *next)
{
    bool more = true;
    for (band b = first_band(j, u), then; more; b = then) {
        then = b;
        more = next_band(j, u, &then);
        if (!more && next) then = first_band(j, next);
        plan_results(j, u, &b, more ? u : next, &then);
        sum_band(j, u, &b);
        if (!j->writes_z) store_band(j, u, &b);
    }
}

/* Units --------------------------------------------------------------------------------------- */

static void find_unit(tsri_tiles_unit *u, const tsri_tiles *j, int64_t i)
{
    const tsri_grid *g = j->g;
    const tsri_tiles_side *s = j->side;
    u->of = tsri_find_unit(g, i, j->slices, (const int64_t[]){ s[0].box, s[1].box, s[2].box },
                           (const int64_t[]){ s[0].boxes, s[1].boxes, s[2].boxes });
    u->panel = u->of.slice * j->slice;
    u->panels = least(j->panels - u->panel, j->slice);
    for (int d = 0; d < TSRI_AXES; d++)
        if (j->no_copy) u->of.x += (u->of.o[d] * g->axis[d].step + s[d].low) * g->axis[d].x;
}

/* Plans to prefetch what the next unit copies while this one is summed. */
static void plan_inputs(const tsri_tiles *j, tsri_tiles_unit *u, const tsri_tiles_unit *next)
{
    const tsri_slide *a = j->g->axis;
    const bool same = next->of.image == u->of.image && next->of.group == u->of.group && j->slices > 1;
    const bool last = j->last && !j->transposed;
    const int64_t step = last ? a[2].x : tsri_dtype_size(j->g->dtype);
    if (j->no_copy || same || a[0].in != 1 || a[2].x != step || step < 0) return;
    const tsri_tiles_inputs in = tsri_tiles_see_inputs(j, next, 1),
                            across = tsri_tiles_see_inputs(j, next, 2);
    u->ahead = (tsri_prefetch){ .at = next->of.x + (in.first + in.begin) * a[1].x +
                                   (across.first + across.begin) * a[2].x,
                             .outer = last ? 1 : j->g->channels,
                             .outer_step = j->g->x_channel,
                             .inner = in.end - in.begin,
                             .inner_step = a[1].x,
                             .bytes = (across.end - across.begin) * a[2].x };
    if (u->ahead.inner <= 0 || u->ahead.bytes <= 0) return;
    tsri_prefetch_plan(&u->ahead,
                       u->panels * pieces(j->k, j->chunk) * u->of.n[0] * u->of.n[1] *
                           row_tiles(j, u->of.n[2]) / 2,
                       least(j->k, j->chunk));
}

static size_t rounded(int64_t bytes) { return tsri_round_up((size_t)bytes, TSRI_CACHE_LINE); }
static size_t copy_bytes(const tsri_tiles *j)
{
    const tsri_tiles_side *s = j->side;
    if (j->no_copy) return 0;
    return rounded(j->last ? tsri_tiles_inputs_of(j, 0, s[0].box) * s[0].pitch : j->channel * j->g->channels);
}
static size_t sums_bytes(const tsri_tiles *j)
{
    return j->writes_z ? 0 : rounded(band_rows(j) * band_cols(j) * panel_kernels(j) * j->element);
}

static tsr_status multiply_units(void *context, int64_t begin, int64_t end)
{
    const tsri_tiles *j = context;
    tsri_tiles_unit u = { .of.image = 0 }, next;
    size_t reserved = 0;
    const size_t bytes = (size_t)most(1, (int64_t)(copy_bytes(j) + sums_bytes(j)));
    char *scratch = tsri_pool_scratch(bytes, &reserved);
    TSRI_CHECK(scratch, TSR_ENOMEM, "conv: no memory for %zu bytes of scratch", bytes);
    u.copy = scratch;
    u.sums = scratch + copy_bytes(j);
    for (int64_t i = begin; i < end; i++) {
        find_unit(&u, j, i);
        u.ahead = (tsri_prefetch){ .lines = 0 };
        if (i + 1 < end) {
            find_unit(&next, j, i + 1);
            plan_inputs(j, &u, &next);

        }
        if (!j->no_copy) tsri_tiles_copy(j, &u);
        sum_unit(j, &u, i + 1 < end ? &next : NULL);
    }
    tsri_pool_give(scratch, reserved);
    return TSR_OK;
}

static tsr_status multiply_packed(tsri_tiles *j)
{
    const tsri_conv_shares shares = { .panels = j->panels, .fewest = 1, .boxes = j->boxes,
                                      .box = { j->side[0].box, j->side[1].box, j->side[2].box },
                                      .kernels = j->count, .k = j->k,
                                      .parts = tsri_tiles_pack_parts(j), .packing = 1000,
                                      .pack = tsri_tiles_pack, .multiply = multiply_units };
    return tsri_share_units(&shares, j->g, &j->slice, &j->slices, j);
}

/* Kernels first .. first + count - 1 of each group. */
static tsr_status multiply_kernels(tsri_tiles *j)
{
    size_t reserved = 0;
    j->vectors = pieces(j->count, j->kernels->lanes);
    j->panels = pieces(j->vectors, j->kernels->across);
    const double wanted =
        (double)j->g->groups * (double)j->vectors * (double)vector_bytes(j) * (double)(j->k + 2);
    const bool fits = wanted < (double)(SIZE_MAX / 4);
    const size_t bias = fits ? (size_t)(j->g->groups * j->vectors * vector_bytes(j)) : 0;
    const size_t weights = bias * (size_t)j->k, bytes = weights + bias + (size_t)j->k * sizeof *j->offset;
    j->weights = fits ? tsri_pool_scratch(bytes, &reserved) : NULL;
    TSRI_CHECK(j->weights, TSR_ENOMEM, "conv: no memory to pack %lld groups of %lld x %lld weights",
               (long long)j->g->groups, (long long)j->count, (long long)j->k);
    j->bias = j->weights + weights;
    j->offset = (int64_t *)(void *)(j->bias + bias);
    tsri_tiles_offsets(j);
    const tsr_status s = multiply_packed(j);
    tsri_pool_give(j->weights, reserved);
    return s;
}

/* The whole ------------------------------------------------------------------------------------ */

/* Do kernels fill more than one vector, and most lanes of the last? */
static bool fills_vectors(const tsri_grid *g, int64_t lanes)
{
    return g->kernels > lanes && g->kernels * 8 >= pieces(g->kernels, lanes) * lanes * 7;
}

static void describe_sides(tsri_tiles *j)
{
    for (int d = 0; d < TSRI_AXES; d++) {
        const tsri_slide *a = &j->g->axis[d];
        const int64_t one = tsri_slide_at(a, 0), other = tsri_slide_at(a, a->taps - 1);
        j->side[d] =
            (tsri_tiles_side){ .low = least(one, other), .reach = most(one, other) - least(one, other) + 1 };
    }
}

/* No copy: boxes are parts of rows, enough for the threads. */
static void use_inputs(tsri_tiles *j)
{
    const tsri_slide *a = j->g->axis;
    for (int d = 0; d < TSRI_AXES; d++) {
        cut_axis(&j->side[d], &a[d], d < 2 ? 1 : 8 * tsri_conv_tuning()->band);
        j->side[d].pitch = a[d].x;
    }
}

static bool plan_job(tsri_tiles *j, const tsri_grid *g)
{
    const tsri_cpu_kernels *k = tsri_cpu_kernels_get();
    if (!k->conv || tsr_dtype_kind(g->dtype) != TSR_FLOATING || !is_moderate(g)) return false;
    const bool wide = g->dtype == TSR_F64;
    *j = (tsri_tiles){ .g = g, .kernels = &k->conv[wide ? 1 : 0], .element = wide ? 8 : 4 };
    if (!fills_vectors(g, j->kernels->lanes)) return false;
    j->dtype = &k->gemm[wide ? TSRI_GEMM_F64 : TSRI_GEMM_F32].dtypes[g->dtype];
    j->taps = g->axis[0].taps * g->axis[1].taps * g->axis[2].taps;
    j->k = j->taps * g->channels;
    j->block = j->taps == 1 ? TSRI_GEMM_BLOCK : pieces(j->k, pieces(j->k, TSRI_CONV_BLOCK));
    j->writes_z = j->dtype->native && g->z_channel == j->element;
    j->last = g->channels > 1 && g->x_channel == tsri_dtype_size(g->dtype);
    j->no_copy = needs_no_copy(j);
    j->transposed = g->channels >= TRANSPOSE_FROM && !j->no_copy && !j->last && j->dtype->native &&
                    g->axis[2].x == j->element;
    j->last |= j->transposed;
    j->chunk = j->last ? most(1, tsri_conv_tuning()->chunk / j->block) * j->block : j->block;
    if (j->taps == 1 && !(j->no_copy && j->last && j->writes_z)) return false;
    describe_sides(j);
    if (j->no_copy) use_inputs(j);
    else if (!cut_boxes(j)) return false;
    if (!j->no_copy && tsr_threads() > 1) cut_for_threads(j);
    j->boxes = j->side[0].boxes * j->side[1].boxes * j->side[2].boxes;
    return true;
}

bool tsri_grid_has_tiles(const tsri_grid *g)
{
    tsri_tiles j;
    return plan_job(&j, g);
}

tsr_status tsri_grid_tiles(const tsri_grid *g)
{
    tsri_tiles j;
    (void)plan_job(&j, g);
    const int64_t packed = tsri_conv_tuning()->kernels;
    for (j.first = 0; j.first < g->kernels; j.first += packed) {
        j.count = least(g->kernels - j.first, packed);
        TSRI_TRY(multiply_kernels(&j));
    }
    return TSR_OK;
}
