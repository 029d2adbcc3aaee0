/* tiles.c - a grid of floats as tiles of sums: some places by vectors of kernels.
 *
 * For each index of k, which counts channels and taps within them, a tile spreads what
 * each of its places sees over a vector, and multiplies it with the weights of
 * neighbouring kernels (kernels.h). Inputs may lie in any order. A box of outputs is
 * copied with all that its windows reach only to have zeros where x ends, and floats
 * where x has others: with channels last where they come last in x, else with channels
 * first.
 *
 *     unit               a box of one image and some kernels of one group: what a thread takes
 *       panel of kernels     as wide as tiles are
 *         band of places       whose sums stay near
 *           block of k           summed from 0; its weights stay in the nearest cache
 *             tile
 *
 * Sums are added up in z itself where kernels follow each other there; else they are
 * turned, a band at a time. Windows of one place are not copied. The order of sums is
 * fixed, and that of windows.c. */
#include "conv.h"
#include "core/alloc.h"
#include "core/dtype_int.h"
#include "core/mem.h"
#include "core/memory_int.h"
#include "cpu/kernels.h"
#include "fetch.h"
#include "units.h"

enum {
    KERNELS = 512,          /* whose weights are packed at a time, of each group */
    BOX_BYTES = 300 << 10,  /* of a copy, if it can be */
    MOST_BYTES = 4 << 20,   /* of a copy */
    CHUNK = 640,            /* indices of k, at most, whose weights stay in the second cache */
    BAND = 512,             /* places of a band, or a row of them if that is more and kernels come last in z */
    FEW = 8                 /* channels that are not worth turning */
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t pieces(int64_t n, int64_t size) { return (n + size - 1) / size; }

/* One axis as it is copied: output o of a box sees inputs o * step + low .. o * step + low + reach - 1. */
typedef struct side {
    int64_t low, reach;
    int64_t box, boxes; /* outputs of a box, and how many boxes there are */
    int64_t pitch;      /* bytes from one input to the next */
} side;

typedef struct job {
    const tsri_grid         *g;
    const tsri_conv_kernels *kernels;
    const tsri_gemm_dtype   *dtype;
    int64_t                  element;       /* bytes of a float or double */
    int64_t                  taps, k;
    int64_t                  block;         /* indices of k that are summed from 0 */
    int64_t                  chunk;         /* and those, whole blocks, that a band is done with before others */
    side                     side[TSRI_AXES];
    int64_t                  boxes;
    int64_t                  channel;       /* bytes from one channel of the copy to the next */
    bool                     last;          /* channels come last in the copy, */
    bool                     turned;        /* and places in x */
    bool                     as_it_lies;    /* x is not copied */
    bool                     straight;      /* tiles are written to z */
    int64_t                  first, count;  /* kernels of each group whose weights are packed */
    int64_t                  vectors, panels;
    int64_t                  slices, slice; /* parts that panels are cut into, and panels of one */
    char                    *weights, *bias;
    int64_t                 *offset;        /* k of them */
} job;

/* Geometry ------------------------------------------------------------------------------------ */

static int64_t inputs_of(const job *j, int d, int64_t outputs)
{
    return (outputs - 1) * j->g->axis[d].step + j->side[d].reach;
}

/* Bytes of the copy for boxes as they are; sets its pitches. Neither places nor channels lie a whole number
 * of pages apart, or few parts of a page. */
static int64_t measure_copy(job *j)
{
    side *s = j->side;
    const int64_t line = TSRI_CACHE_LINE, channels = pieces(j->g->channels * j->element, line);
    s[2].pitch = !j->last ? j->element : (channels + (channels % 8 == 0)) * line;
    s[1].pitch = inputs_of(j, 2, s[2].box) * s[2].pitch;
    s[0].pitch = inputs_of(j, 1, s[1].box) * s[1].pitch;
    const int64_t all = inputs_of(j, 0, s[0].box) * s[0].pitch;
    j->channel = j->last ? j->element : pieces(all, 2 * line) * 2 * line + line;
    return j->last ? all : j->channel * j->g->channels;
}

static void cut_axis(side *s, const tsri_slide *a, int64_t box)
{
    tsri_cut_axis(a->out, box, &s->box, &s->boxes);
}

/* Boxes of whole planes, of whole rows, or of parts of rows, as they fit. */
static bool cut_boxes(job *j)
{
    const tsri_slide *a = j->g->axis;
    for (int d = 0; d < TSRI_AXES; d++) cut_axis(&j->side[d], &a[d], a[d].out);
    for (int d = 0; d < TSRI_AXES; d++) {
        int64_t box = a[d].out;
        const int64_t end = d == 2 ? 8 * j->kernels->places : 1;
        while (box > end && measure_copy(j) > BOX_BYTES) {
            box = most(end, box - most(1, box / 8));
            cut_axis(&j->side[d], &a[d], box);
        }
    }
    return measure_copy(j) <= MOST_BYTES;
}

/* Windows of one place, all of which lie in x, of floats. */
static bool lies_well(const job *j)
{
    const tsri_slide *a = j->g->axis;
    if (j->taps != 1 || tsri_dtype_size(j->g->dtype) != j->element) return false;
    for (int d = 0; d < TSRI_AXES; d++)
        if (tsri_slide_at(&a[d], 0) < 0 || (a[d].out - 1) * a[d].step + tsri_slide_at(&a[d], 0) >= a[d].in)
            return false;
    return true;
}

/* Sizes that the copy of any box stays far within 63 bits with. */
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

/* Weights ------------------------------------------------------------------------------------- */

/* Where index p of k lies, relative to the first. */
static int64_t weight_at(const tsri_grid *g, int64_t p)
{
    const tsri_slide *a = g->axis;
    int64_t at = 0;
    for (int d = TSRI_AXES - 1; d >= 0; d--) {
        at += p % a[d].taps * a[d].w;
        p /= a[d].taps;
    }
    return at + p * g->w_channel;
}

/* Indices of k, a divisor of how many there are, that lie `step` apart. */
static int64_t weights_along(const job *j, int64_t *step)
{
    const tsri_grid *g = j->g;
    int64_t n = 1;
    *step = tsri_dtype_size(g->dtype);
    for (int d = TSRI_AXES - 1; d >= -1; d--) {
        const int64_t count = d < 0 ? g->channels : g->axis[d].taps, apart = d < 0 ? g->w_channel : g->axis[d].w;
        if (count == 1) continue;
        if (n > 1 && apart != n * *step) return n;
        if (n == 1) *step = apart;
        n *= count;
    }
    return n;
}

static int64_t panel_vectors(const job *j, int64_t panel)
{
    return least(j->vectors - panel * j->kernels->across, j->kernels->across);
}
static int64_t panel_kernels(const job *j) { return j->kernels->across * j->kernels->lanes; }
static int64_t vector_bytes(const job *j) { return j->kernels->lanes * j->element; }

/* The first vector of a panel, of all groups' vectors. */
static int64_t vector_of(const job *j, int64_t group, int64_t panel)
{
    return group * j->vectors + panel * j->kernels->across;
}

/* Panels begin .. end - 1, counted through the groups. */
static tsr_status pack_weights(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    const tsri_grid *g = j->g;
    int64_t step;
    const int64_t run = weights_along(j, &step);
    for (int64_t i = begin; i < end; i++) {
        const int64_t group = i / j->panels, panel = i % j->panels, row = panel * panel_kernels(j);
        const int64_t n = least(j->count - row, panel_kernels(j)), vectors = panel_vectors(j, panel);
        const int width = (int)(vectors * j->kernels->lanes);
        const char *w = g->w + group * g->w_group + (j->first + row) * g->w_kernel;
        char *z = j->weights + vector_of(j, group, panel) * vector_bytes(j) * j->k;
        for (int64_t p = 0; p < j->k; p += run, z += run * width * j->element)
            j->dtype->pack(z, w + weight_at(g, p), g->w_kernel, step, n, run, width);
        if (g->bias)
            j->dtype->pack(j->bias + vector_of(j, group, panel) * vector_bytes(j),
                           g->bias + (group * g->kernels + j->first + row) * g->bias_step, g->bias_step, 0, n,
                           1, width);
    }
    return TSR_OK;
}

/* Where each index of k looks. */
static void find_offsets(const job *j)
{
    const tsri_slide *a = j->g->axis;
    const side *s = j->side;
    const int64_t channel = j->as_it_lies ? j->g->x_channel : j->channel;
    for (int64_t p = 0; p < j->k; p++) {
        int64_t rest = p, at = 0;
        for (int d = TSRI_AXES - 1; d >= 0; d--) {
            at += (tsri_slide_at(&a[d], rest % a[d].taps) - s[d].low) * s[d].pitch;
            rest /= a[d].taps;
        }
        j->offset[p] = at + rest * channel;
    }
}

/* The copy ------------------------------------------------------------------------------------ */

/* What a thread works on, in scratch of its own. */
typedef struct unit {
    int64_t     image, group, panel, panels;
    int64_t     o[TSRI_AXES], n[TSRI_AXES]; /* the box: its first outputs, and how many there are */
    const char *x;                          /* the group's part of the image */
    char       *copy, *sums;
    tsri_fetch  ahead, results;             /* inputs of the next unit; places in z of the current band */
} unit;

/* Inputs of an axis that a box sees, and those of them that are there. */
typedef struct inputs {
    int64_t first;       /* which input the first is */
    int64_t begin, end;  /* of those that are there; as many as there are else */
    int64_t all;
} inputs;

static inputs see_inputs(const job *j, const unit *u, int d)
{
    const tsri_slide *a = &j->g->axis[d];
    inputs i = { .first = u->o[d] * a->step + j->side[d].low, .all = inputs_of(j, d, u->n[d]) };
    i.begin = least(i.all, most(0, -i.first));
    i.end = most(i.begin, least(i.all, a->in - i.first));
    return i;
}

/* Rows of n elements, `step` apart, with zeros ahead of them and behind, to `all`. */
static void copy_rows(const job *j, char *z, int64_t z_row, const char *x, int64_t x_row, int64_t step,
                      int64_t rows, int64_t ahead, int64_t n, int64_t all)
{
    const int64_t floats = j->element / (int64_t)sizeof(float);
    if (rows <= 0) return;
    if (j->dtype->native && (step == j->element || n <= 1)) {
        j->kernels->pad(z, z_row, x, x_row, rows, ahead * floats, n * floats, all * floats);
        return;
    }
    for (int64_t i = 0; i < rows; i++, z += z_row, x += x_row) {
        memset(z, 0, (size_t)(all * j->element));
        if (n > 0) j->dtype->pack(z + ahead * j->element, x, step, 0, n, 1, (int)n);
    }
}

static void clear(char *z, int64_t bytes)
{
    if (bytes > 0) memset(z, 0, (size_t)bytes);
}

/* Rows of places, with channels last. */
static void copy_places(const job *j, char *z, const char *x, const inputs *in)
{
    const tsri_slide *a = j->g->axis;
    const int64_t row = j->side[1].pitch, place = j->side[2].pitch, n = j->g->channels;
    clear(z, in[1].begin * row);
    for (int64_t i = in[1].begin; i < in[1].end; i++) {
        char *to = z + i * row;
        const char *from = x + (in[1].first + i) * a[1].x + (in[2].first + in[2].begin) * a[2].x;
        const int64_t places = in[2].end - in[2].begin;
        clear(to, in[2].begin * place);
        to += in[2].begin * place;
        if (j->turned) j->kernels->turn(to, place, from, j->g->x_channel, n, places);
        else           copy_rows(j, to, place, from, a[2].x, j->g->x_channel, places, 0, n, n);
        to += places * place;
        clear(to, (in[2].all - in[2].end) * place);
    }
    clear(z + in[1].end * row, (in[1].all - in[1].end) * row);
}

/* Rows of one channel. */
static void copy_plane(const job *j, char *z, const char *x, const inputs *in)
{
    const tsri_slide *a = j->g->axis;
    const int64_t row = j->side[1].pitch;
    clear(z, in[1].begin * row);
    copy_rows(j, z + in[1].begin * row, row,
              x + (in[1].first + in[1].begin) * a[1].x + (in[2].first + in[2].begin) * a[2].x, a[1].x, a[2].x,
              in[1].end - in[1].begin, in[2].begin, in[2].end - in[2].begin, in[2].all);
    clear(z + in[1].end * row, (in[1].all - in[1].end) * row);
}

static void copy_box(const job *j, const unit *u)
{
    const side *s = j->side;
    inputs in[TSRI_AXES];
    for (int d = 0; d < TSRI_AXES; d++) in[d] = see_inputs(j, u, d);
    for (int64_t c = 0; c < (j->last ? 1 : j->g->channels); c++)
        for (int64_t i = 0; i < in[0].all; i++) {
            char *z = u->copy + c * j->channel + i * s[0].pitch;
            const char *x = u->x + c * j->g->x_channel + (in[0].first + i) * j->g->axis[0].x;
            if (i < in[0].begin || i >= in[0].end) clear(z, in[1].all * s[1].pitch);
            else if (j->last)                      copy_places(j, z, x, in);
            else                                   copy_plane(j, z, x, in);
        }
}

/* Sums ---------------------------------------------------------------------------------------- */

/* Rows of places of a box, all with a panel's kernels. */
typedef struct band {
    int64_t o[TSRI_AXES], rows, cols; /* the first of its places */
    int64_t group, panel, vectors, kernels;
} band;

static int64_t band_cols(const job *j) { return j->straight ? j->side[2].box : least(j->side[2].box, BAND); }
static int64_t band_rows(const job *j) { return most(1, BAND / j->side[2].box); }
static int64_t row_tiles(const job *j, int64_t cols) { return pieces(cols, j->kernels->places); }

static char *output_at(const job *j, const unit *u, const band *b)
{
    const tsri_grid *g = j->g;
    const int64_t kernel = u->group * g->kernels + j->first + b->panel * panel_kernels(j);
    char *z = g->z + u->image * g->z_image + kernel * g->z_channel;
    for (int d = 0; d < TSRI_AXES; d++) z += (u->o[d] + b->o[d]) * g->axis[d].z;
    return z;
}

/* Where the windows of output o of the box begin. */
static const char *window_at(const job *j, const unit *u, const int64_t *o)
{
    const char *x = j->as_it_lies ? u->x : u->copy;
    for (int d = 0; d < TSRI_AXES; d++) x += o[d] * j->g->axis[d].step * j->side[d].pitch;
    return x;
}

/* What z has at its place comes nearer while the first block of a tile is summed. */
static void fetch_place(tsri_conv_tile *t, int64_t places)
{
    t->ahead[1] = t->z;
    t->ahead_step[1] = least(TSRI_CACHE_LINE, pieces(places * t->z_row, t->k));
}

/* Indices p .. end - 1 of k for one tile. */
static void sum_tile(const job *j, unit *u, const band *b, tsri_conv_tile *t, int64_t places, int64_t p,
                     int64_t end)
{
    const int64_t vector = vector_of(j, b->group, b->panel) * vector_bytes(j);
    for (; p < end; p += t->k) {
        t->k = least(j->block, j->k - p);
        t->add = p > 0;
        t->w = j->weights + vector * j->k + p * b->vectors * vector_bytes(j);
        t->offset = j->offset + p;
        t->bias = j->g->bias && p + t->k == j->k ? j->bias + vector : NULL;
        t->ahead[0] = tsri_fetch_lines(&u->ahead, t->w, &t->ahead_step[0]);
        t->ahead[1] = tsri_fetch_lines(&u->results, t->w, &t->ahead_step[1]);
        if (j->straight && p == 0 && t->z_row > 0) fetch_place(t, places);
        j->kernels->tile[b->vectors][places](t);
    }
}

/* Where the band's results go comes nearer while they are summed. */
static void plan_results(const job *j, unit *u, const band *b)
{
    const tsri_slide *a = j->g->axis;
    u->results = (tsri_fetch){ .lines = 0 };
    if (j->straight || a[2].z != tsri_dtype_size(j->g->dtype)) return;
    u->results = (tsri_fetch){ .at = output_at(j, u, b),
                          .outer = b->kernels,
                          .outer_step = j->g->z_channel,
                          .inner = b->rows,
                          .inner_step = a[1].z,
                          .bytes = b->cols * a[2].z };
    tsri_fetch_plan(&u->results, b->rows * row_tiles(j, b->cols) * pieces(j->k, j->block), j->block);
}

static void sum_band(const job *j, unit *u, const band *b)
{
    const tsri_slide *a = j->g->axis;
    const int64_t count = row_tiles(j, b->cols), sums_row = panel_kernels(j) * j->element;
    const char *x = window_at(j, u, b->o);
    char *z = j->straight ? output_at(j, u, b) : u->sums;
    tsri_conv_tile t = { .x_step = a[2].step * j->side[2].pitch, .z_row = j->straight ? a[2].z : sums_row };
    t.kernels = j->straight ? b->kernels : b->vectors * j->kernels->lanes;
    plan_results(j, u, b);
    for (int64_t p = 0; p < j->k; p += j->chunk)
        for (int64_t r = 0; r < b->rows; r++)
            for (int64_t i = 0; i < count; i++) {
                const int64_t at = i * b->cols / count, end = (i + 1) * b->cols / count;
                t.x = x + r * a[1].step * j->side[1].pitch + at * t.x_step;
                t.z = z + r * (j->straight ? a[1].z : b->cols * sums_row) + at * t.z_row;
                sum_tile(j, u, b, &t, end - at, p, least(j->k, p + j->chunk));
            }
}

static void store_band(const job *j, const unit *u, const band *b)
{
    const tsri_gemm_scale plain = { .plain = true };
    const tsri_grid *g = j->g;
    const int64_t row = g->axis[1].z, step = g->axis[2].z, size = tsri_dtype_size(g->dtype);
    const int64_t sums_row = panel_kernels(j) * j->element;
    const bool on = b->rows == 1 || row == b->cols * step;  /* rows go on as one */
    const int64_t rows = on ? 1 : b->rows, cols = on ? b->rows * b->cols : b->cols;
    char *z = output_at(j, u, b);
    for (int64_t r = 0; r < rows; r++) {
        const char *sums = u->sums + r * cols * sums_row;
        if (j->dtype->native && (step == size || cols == 1))
            j->kernels->turn(z + r * row, g->z_channel, sums, sums_row, cols, b->kernels);
        else
            j->dtype->store((tsri_gemm_matrix){ z + r * row, step, b->kernels > 1 ? g->z_channel : size },
                            (tsri_gemm_matrix){ NULL, 0, 0 }, sums, cols, b->kernels, (int)cols,
                            (int)panel_kernels(j), &plain);
    }
}

static void sum_panel(const job *j, unit *u, int64_t panel)
{
    const int64_t rows = band_rows(j), cols = band_cols(j);
    band b = { .group = u->group, .panel = panel, .vectors = panel_vectors(j, panel) };
    b.kernels = least(j->count - panel * panel_kernels(j), panel_kernels(j));
    for (b.o[0] = 0; b.o[0] < u->n[0]; b.o[0]++)
        for (b.o[1] = 0; b.o[1] < u->n[1]; b.o[1] += rows)
            for (b.o[2] = 0; b.o[2] < u->n[2]; b.o[2] += cols) {
                b.rows = least(u->n[1] - b.o[1], rows);
                b.cols = least(u->n[2] - b.o[2], cols);
                sum_band(j, u, &b);
                if (!j->straight) store_band(j, u, &b);
            }
}

/* Units --------------------------------------------------------------------------------------- */

static void find_unit(unit *u, const job *j, int64_t i)
{
    const tsri_grid *g = j->g;
    const side *s = j->side;
    const tsri_conv_unit found =
        tsri_find_unit(g, i, j->slices, (const int64_t[]){ s[0].box, s[1].box, s[2].box },
                       (const int64_t[]){ s[0].boxes, s[1].boxes, s[2].boxes });
    u->image = found.image;
    u->group = found.group;
    u->panel = found.slice * j->slice;
    u->panels = least(j->panels - u->panel, j->slice);
    u->x = found.x;
    for (int d = 0; d < TSRI_AXES; d++) {
        u->o[d] = found.o[d];
        u->n[d] = found.n[d];
        if (j->as_it_lies) u->x += (u->o[d] * g->axis[d].step + s[d].low) * g->axis[d].x;
    }
}

/* What the next unit copies comes nearer while this one is summed. */
static void plan_inputs(const job *j, unit *u, const unit *next)
{
    const tsri_slide *a = j->g->axis;
    const bool same = next->image == u->image && next->group == u->group && j->slices > 1;
    const bool last = j->last && !j->turned;
    const int64_t step = last ? a[2].x : tsri_dtype_size(j->g->dtype);
    if (j->as_it_lies || same || a[0].in != 1 || a[2].x != step || step < 0) return;
    const inputs in = see_inputs(j, next, 1), across = see_inputs(j, next, 2);
    u->ahead = (tsri_fetch){ .at = next->x + (in.first + in.begin) * a[1].x +
                                   (across.first + across.begin) * a[2].x,
                             .outer = last ? 1 : j->g->channels,
                             .outer_step = j->g->x_channel,
                             .inner = in.end - in.begin,
                             .inner_step = a[1].x,
                             .bytes = (across.end - across.begin) * a[2].x };
    if (u->ahead.inner <= 0 || u->ahead.bytes <= 0) return;
    tsri_fetch_plan(&u->ahead, u->panels * pieces(j->k, j->block) * u->n[0] * u->n[1] * row_tiles(j, u->n[2]),
               j->block);
}

static size_t rounded(int64_t bytes) { return tsri_round_up((size_t)bytes, TSRI_CACHE_LINE); }
static size_t copy_bytes(const job *j)
{
    const side *s = j->side;
    if (j->as_it_lies) return 0;
    return rounded(j->last ? inputs_of(j, 0, s[0].box) * s[0].pitch : j->channel * j->g->channels);
}
static size_t sums_bytes(const job *j)
{
    return j->straight ? 0 : rounded(band_rows(j) * band_cols(j) * panel_kernels(j) * j->element);
}

static tsr_status multiply_units(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    unit u = { .image = 0 }, next;
    size_t reserved = 0;
    const size_t bytes = (size_t)most(1, (int64_t)(copy_bytes(j) + sums_bytes(j)));
    char *scratch = tsri_alloc_allowed(bytes) ? tsri_pool_take(bytes, &reserved) : NULL;
    TSRI_CHECK(scratch, TSR_ENOMEM, "conv: no memory for %zu bytes of scratch", bytes);
    u.copy = scratch;
    u.sums = scratch + copy_bytes(j);
    for (int64_t i = begin; i < end; i++) {
        find_unit(&u, j, i);
        u.ahead = (tsri_fetch){ .lines = 0 };
        if (i + 1 < end) {
            find_unit(&next, j, i + 1);
            plan_inputs(j, &u, &next);
        }
        if (!j->as_it_lies) copy_box(j, &u);
        for (int64_t p = u.panel; p < u.panel + u.panels; p++) sum_panel(j, &u, p);
    }
    tsri_pool_give(scratch, reserved);
    return TSR_OK;
}

static tsr_status multiply_packed(job *j)
{
    const tsri_conv_shares shares = { .panels = j->panels, .fewest = 1, .boxes = j->boxes,
                                      .box = { j->side[0].box, j->side[1].box, j->side[2].box },
                                      .kernels = j->count, .k = j->k,
                                      .packing = 32, .pack = pack_weights, .multiply = multiply_units };
    return tsri_share_units(&shares, j->g, &j->slice, &j->slices, j);
}

/* Kernels first .. first + count - 1 of each group. */
static tsr_status multiply_kernels(job *j)
{
    size_t reserved = 0;
    j->vectors = pieces(j->count, j->kernels->lanes);
    j->panels = pieces(j->vectors, j->kernels->across);
    const double wanted = (double)j->g->groups * (double)j->vectors * (double)vector_bytes(j) * (double)(j->k + 2);
    const bool fits = wanted < (double)(SIZE_MAX / 4);
    const size_t bias = fits ? (size_t)(j->g->groups * j->vectors * vector_bytes(j)) : 0;
    const size_t weights = bias * (size_t)j->k, bytes = weights + bias + (size_t)j->k * sizeof *j->offset;
    j->weights = fits && tsri_alloc_allowed(bytes) ? tsri_pool_take(bytes, &reserved) : NULL;
    TSRI_CHECK(j->weights, TSR_ENOMEM, "conv: no memory to pack %lld groups of %lld x %lld weights",
               (long long)j->g->groups, (long long)j->count, (long long)j->k);
    j->bias = j->weights + weights;
    j->offset = (int64_t *)(void *)(j->bias + bias);
    find_offsets(j);
    const tsr_status s = multiply_packed(j);
    tsri_pool_give(j->weights, reserved);
    return s;
}

/* The whole ------------------------------------------------------------------------------------ */

/* Do kernels fill more than one vector, and nearly all that they need? */
static bool fills_vectors(const tsri_grid *g, int64_t lanes)
{
    return g->kernels > lanes && g->kernels * 8 >= pieces(g->kernels, lanes) * lanes * 7;
}

static void see_sides(job *j)
{
    for (int d = 0; d < TSRI_AXES; d++) {
        const tsri_slide *a = &j->g->axis[d];
        const int64_t one = tsri_slide_at(a, 0), other = tsri_slide_at(a, a->taps - 1);
        j->side[d] = (side){ .low = least(one, other), .reach = most(one, other) - least(one, other) + 1 };
    }
}

/* Rows are boxes, of as many places as give threads something to share. */
static void leave_inputs(job *j)
{
    const tsri_slide *a = j->g->axis;
    for (int d = 0; d < TSRI_AXES; d++) {
        cut_axis(&j->side[d], &a[d], d < 2 ? 1 : 8 * BAND);
        j->side[d].pitch = a[d].x;
    }
}

static bool plan_job(job *j, const tsri_grid *g)
{
    const tsri_cpu_kernels *k = tsri_cpu_kernels_get();
    if (!k->conv || tsr_dtype_kind(g->dtype) != TSR_FLOATING || !is_moderate(g)) return false;
    const bool wide = g->dtype == TSR_F64;
    *j = (job){ .g = g, .kernels = &k->conv[wide ? 1 : 0], .element = wide ? 8 : 4 };
    if (!fills_vectors(g, j->kernels->lanes)) return false;
    j->dtype = &k->gemm[wide ? TSRI_GEMM_F64 : TSRI_GEMM_F32].dtypes[g->dtype];
    j->taps = g->axis[0].taps * g->axis[1].taps * g->axis[2].taps;
    j->k = j->taps * g->channels;
    j->block = tsri_grid_block(g) * j->taps;
    j->straight = j->dtype->native && g->z_channel == j->element;
    j->last = g->channels > 1 && g->x_channel == tsri_dtype_size(g->dtype);
    j->as_it_lies = lies_well(j);
    j->turned = g->channels >= FEW && !j->as_it_lies && !j->last && j->dtype->native && g->axis[2].x == j->element;
    j->last |= j->turned;
    j->chunk = j->last ? most(1, CHUNK / j->block) * j->block : j->block;
    if (j->taps == 1 && !(j->as_it_lies && j->last && j->straight)) return false;
    see_sides(j);
    if (j->as_it_lies) leave_inputs(j);
    else if (!cut_boxes(j)) return false;
    j->boxes = j->side[0].boxes * j->side[1].boxes * j->side[2].boxes;
    return true;
}

bool tsri_grid_has_tiles(const tsri_grid *g)
{
    job j;
    return plan_job(&j, g);
}

tsr_status tsri_grid_tiles(const tsri_grid *g)
{
    job j;
    (void)plan_job(&j, g);
    for (j.first = 0; j.first < g->kernels; j.first += KERNELS) {
        j.count = least(g->kernels - j.first, KERNELS);
        TSRI_TRY(multiply_kernels(&j));
    }
    return TSR_OK;
}
