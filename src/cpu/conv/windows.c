/* windows.c - a grid of floats as strips of sums over x itself, or over a copy in which nothing is missing.
 *
 * Places that follow each other see, through one tap, inputs that follow each other. So a
 * strip needs no columns laid out: for each index of k an offset leads from its first
 * place to what it sees (kernels.h). k counts channels, and taps within them.
 *
 * A box of outputs is copied with all that its windows reach, as float or double, zeros
 * where x ends, channel by channel. Where windows move on by more than one input, inputs
 * that lie a whole step apart are brought together, remainder by remainder (phases). Rows
 * of the copy are as long as rows of windows reach, so that strips run on from row to row;
 * the sums at the ends of rows, whose windows span two rows, are left out. Zeros behind a
 * row serve as those ahead of the next.
 *
 *     unit    a box of one image and some kernels of one group: what a thread takes
 *       columns          as many as a strip is wide
 *         block of k     summed from 0; its part of the copy stays in the nearest cache
 *           panel of weights
 *
 * Windows of one place that follow each other in x are not copied. Few kernels of groups of
 * one channel (depthwise convolutions) are summed one by one. The order of sums is
 * fixed: in order within a block of whole channels (tsri_grid_block), or of taps, that
 * counts at most BLOCK, and the blocks' sums in order. */
#include "conv.h"
#include "core/alloc.h"
#include "core/dtype_int.h"
#include "core/mem.h"
#include "core/memory_int.h"
#include "cpu/cpu_run.h"
#include "cpu/kernels.h"
#include "tessera/threads.h"
#include "units.h"

enum {
    KERNELS = 512,          /* whose weights are packed at a time, of each group */
    BOX_BYTES = 340 << 10,  /* of a copy, if it can be */
    MOST_BYTES = 4 << 20,   /* of a copy */
    NEAR_BYTES = 16 << 10,  /* of rows that are summed without a copy */
    AHEAD_BYTES = 96 << 10, /* of x that is sent for while others are summed */
    MOST_TAPS = 1 << 16,
    WHOLE = 3,              /* strips' widths that can be read behind a copy */
    BLOCK = TSRI_GEMM_BLOCK,
    ALONE = 3,              /* kernels of groups of one channel that are summed one by one */
    UNIT_WORK = 1 << 17     /* products that make a thread worth waking */
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t pieces(int64_t n, int64_t size) { return (n + size - 1) / size; }

/* One axis as it is copied. Tap t of output o looks at place o + turn - low of a phase, where turn is the
 * number of whole steps from input 0 to where the tap of output 0 looks. */
typedef struct side {
    int64_t low, span;  /* the least of the turns, and how many there are from it to the greatest */
    int64_t phases;     /* remainders that taps have, in the order in which taps bring them */
    int64_t box, boxes; /* outputs of a box, and how many boxes there are */
    int64_t places;     /* of a box, that are copied */
    int64_t pitch;      /* from one place to the next, in places of the last axis */
} side;

typedef struct job {
    const tsri_grid         *g;
    const tsri_conv_kernels *kernels;
    const tsri_gemm_dtype   *dtype;
    int64_t                  element;        /* bytes of a float or double */
    int64_t                  taps, k;
    int64_t                  block;          /* indices of k that are whole channels */
    side                     side[TSRI_AXES];
    int64_t                  plane, channel; /* places of the copy from one phase and channel to the next */
    int64_t                  boxes;
    bool                     as_it_lies;     /* x is not copied */
    bool                     straight;       /* sums are written to z at once, */
    bool                     stream;         /* and around the caches */
    int64_t                  first, count;   /* kernels of each group whose weights are packed */
    int64_t                  panels;         /* of them: so many of one row more than the others */
    int64_t                  high_panels, low_rows;
    int64_t                  slices, slice;  /* parts that panels are cut into, and panels of one */
    bool                     alone;          /* kernels are summed one by one, for all of a box at once */
    bool                     three;          /* by the kernel for windows of 3 x 3 */
    int64_t                  rows;           /* of a panel, at most */
    char                    *weights;
    int64_t                 *offset;         /* k of them */
} job;

/* Each output looks at the input of its own number and at no other. */
static bool is_plain(const tsri_slide *a)
{
    return a->taps == 1 && a->step == 1 && a->first == 0 && a->in == a->out;
}

/* Geometry ------------------------------------------------------------------------------------ */

static int64_t turn_of(const tsri_slide *a, int64_t tap)
{
    const int64_t at = tsri_slide_at(a, tap);
    return at >= 0 ? at / a->step : -((-at - 1) / a->step) - 1;
}

static int64_t rest_of(const tsri_slide *a, int64_t tap)
{
    return tsri_slide_at(a, tap) - turn_of(a, tap) * a->step;
}

/* The phase of a tap: how many other remainders came before its own. */
static int64_t phase_of(const tsri_slide *a, int64_t tap)
{
    int64_t phase = 0;
    for (int64_t t = 0; rest_of(a, t) != rest_of(a, tap); t++) {
        bool again = false;
        for (int64_t u = 0; u < t; u++) again |= rest_of(a, u) == rest_of(a, t);
        phase += !again;
    }
    return phase;
}

/* The first tap of a phase. */
static int64_t tap_of(const tsri_slide *a, int64_t phase)
{
    int64_t t = 0;
    while (phase_of(a, t) != phase) t++;
    return t;
}

static void see_side(side *s, const tsri_slide *a)
{
    int64_t high = turn_of(a, 0);
    *s = (side){ .low = high, .box = a->out };
    for (int64_t t = 0; t < a->taps; t++) {
        s->low = least(s->low, turn_of(a, t));
        high = most(high, turn_of(a, t));
        s->phases = most(s->phases, phase_of(a, t) + 1);
    }
    s->span = high - s->low + 1;
}

/* Places of a whole row that are zeros at its end and at the beginning of the next. */
static int64_t shared_zeros(const side *s, const tsri_slide *a)
{
    int64_t shared = s->span - 1;
    for (int64_t p = 0; p < s->phases; p++) {
        const int64_t rest = rest_of(a, tap_of(a, p));
        const int64_t ahead = most(0, -s->low), there = a->in > rest ? (a->in - rest - 1) / a->step + 1 : 0;
        shared = least(shared, least(ahead, s->low + s->box - 1 + s->span - there));
    }
    return most(shared, 0);
}

static int64_t vectors_bytes(const job *j) { return TSRI_CONV_VECTORS * j->kernels->lanes * j->element; }

/* Bytes of the copy for boxes as they are; sets their pitches. */
static int64_t measure_copy(job *j)
{
    side *s = j->side;
    const int64_t line = TSRI_CACHE_LINE / j->element;
    for (int d = 0; d < TSRI_AXES; d++) s[d].places = s[d].box - 1 + s[d].span;
    const bool whole = s[2].box == j->g->axis[2].out;
    s[2].pitch = 1;
    s[1].pitch = s[2].places - (whole ? shared_zeros(&s[2], &j->g->axis[2]) : 0);
    s[0].pitch = s[1].places * s[1].pitch;
    j->plane = s[0].places * s[0].pitch + s[2].places;
    /* Channels lie an odd number of cache lines apart, and so in different sets. */
    j->channel = pieces(s[0].phases * s[1].phases * s[2].phases * j->plane, 2 * line) * 2 * line + line;
    return j->channel * j->g->channels * j->element + WHOLE * vectors_bytes(j);
}

static void cut_axis(side *s, const tsri_slide *a, int64_t box)
{
    tsri_cut_axis(a->out, box, &s->box, &s->boxes);
}

/* Boxes of whole planes, of whole rows, or of parts of rows, as they fit. */
static bool cut_boxes(job *j)
{
    const tsri_slide *a = j->g->axis;
    const int64_t shortest = TSRI_CONV_VECTORS * j->kernels->lanes;
    for (int d = 0; d < TSRI_AXES; d++) cut_axis(&j->side[d], &a[d], a[d].out);
    for (int d = 0; d < TSRI_AXES; d++) {
        int64_t box = a[d].out;
        const int64_t end = d == 2 ? shortest : 1;
        while (box > end && measure_copy(j) > BOX_BYTES) {
            box = most(end, box - most(1, box / 8));
            cut_axis(&j->side[d], &a[d], box);
        }
    }
    j->boxes = j->side[0].boxes * j->side[1].boxes * j->side[2].boxes;
    return measure_copy(j) <= MOST_BYTES;
}

/* Windows of one place, of floats that follow each other in x: rows are boxes. */
static bool lies_well(const job *j)
{
    const tsri_slide *a = j->g->axis;
    if (j->taps != 1 || tsri_dtype_size(j->g->dtype) != j->element) return false;
    for (int d = 0; d < TSRI_AXES; d++)
        if (tsri_slide_at(&a[d], 0) < 0 || (a[d].out - 1) * a[d].step + tsri_slide_at(&a[d], 0) >= a[d].in)
            return false;
    return a[2].out == 1 || tsri_slide_bytes(&a[2]) == j->element;
}

/* Sizes that the copy of any box stays far within 63 bits with. */
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

/* Panels differ in height by one row at most. */
static int64_t row_of(const job *j, int64_t panel)
{
    return panel * j->low_rows + least(panel, j->high_panels);
}

/* Panels begin .. end - 1, counted through the groups. */
static tsr_status pack_weights(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
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

/* Where each index of k looks. */
static void find_offsets(const job *j)
{
    const tsri_slide *a = j->g->axis;
    const side *s = j->side;
    int64_t p = 0;
    for (int64_t t0 = 0; t0 < a[0].taps; t0++)
        for (int64_t t1 = 0; t1 < a[1].taps; t1++)
            for (int64_t t2 = 0; t2 < a[2].taps; t2++, p++) {
                const int64_t phase =
                    (phase_of(&a[0], t0) * s[1].phases + phase_of(&a[1], t1)) * s[2].phases +
                    phase_of(&a[2], t2);
                j->offset[p] =
                    (phase * j->plane + (turn_of(&a[0], t0) - s[0].low) * s[0].pitch +
                     (turn_of(&a[1], t1) - s[1].low) * s[1].pitch + turn_of(&a[2], t2) - s[2].low) *
                    j->element;
            }
    if (j->as_it_lies) j->offset[0] = 0;
    for (; p < j->k; p++)
        j->offset[p] = j->offset[p - j->taps] + (j->as_it_lies ? j->g->x_channel : j->channel * j->element);
}

/* The copy ------------------------------------------------------------------------------------ */

/* Rows of x that the next unit will copy, which come nearer line by line. */
typedef struct fetch {
    const char *x;            /* the first row of the first channel */
    int64_t rows, bytes;      /* of a channel, and of a row */
    int64_t channel, row, at; /* what comes next */
    int64_t lines;            /* at a time */
} fetch;

/* What a thread works on, in scratch of its own. */
typedef struct unit {
    int64_t image, group, panel, panels;
    int64_t o[TSRI_AXES], n[TSRI_AXES]; /* the box: its first outputs, and how many there are */
    const char *x;                      /* the group's part of the image */
    char *copy, *sums;
    fetch ahead;
} unit;

/* One phase of a box: remainders of the axes, and where the copy of channel 0 begins. */
typedef struct phase {
    int64_t rest[TSRI_AXES];
    int64_t first, end, places; /* of a row: those that have inputs, and all */
    char *z;
} phase;

/* n elements, `step` bytes apart. */
static void copy_elements(const job *j, char *z, const char *x, int64_t step, int64_t n)
{
    if (step == j->element && j->dtype->native)
        memcpy(z, x, (size_t)(n * j->element));
    else
        j->dtype->pack(z, x, step, 0, n, 1, (int)n);
}

static void clear(const job *j, char *z, int64_t n)
{
    if (n > 0) memset(z, 0, (size_t)(n * j->element));
}

/* A row, with zeros where there are no inputs. x is where the row of inputs begins; NULL: it is outside. */
static void copy_row(const job *j, const phase *p, char *z, const char *x)
{
    const tsri_slide *a = &j->g->axis[2];
    if (!x || p->end <= p->first) {
        clear(j, z, p->places);
        return;
    }
    clear(j, z, p->first);
    copy_elements(j, z + p->first * j->element, x, tsri_slide_bytes(a), p->end - p->first);
    clear(j, z + p->end * j->element, p->places - p->end);
}

/* The input of an axis that a place of the box stands for; -1: there is none. */
static int64_t input_of(const job *j, const unit *u, int d, int64_t rest, int64_t place)
{
    const tsri_slide *a = &j->g->axis[d];
    const int64_t at = (u->o[d] + j->side[d].low + place) * a->step + rest;
    return at >= 0 && at < a->in ? at : -1;
}

static void copy_channel(const job *j, const unit *u, const phase *p, char *z, const char *x)
{
    const tsri_slide *a = j->g->axis;
    const side *s = j->side;
    const int64_t start = ((u->o[2] + s[2].low + p->first) * a[2].step + p->rest[2]) * a[2].x;
    for (int64_t i = 0; i < u->n[0] - 1 + s[0].span; i++) {
        const int64_t at0 = input_of(j, u, 0, p->rest[0], i);
        for (int64_t h = 0; h < u->n[1] - 1 + s[1].span; h++) {
            const int64_t at1 = input_of(j, u, 1, p->rest[1], h);
            copy_row(j, p, z + (i * s[0].pitch + h * s[1].pitch) * j->element,
                     at0 < 0 || at1 < 0 ? NULL : x + at0 * a[0].x + at1 * a[1].x + start);
        }
    }
}

static void see_phase(phase *p, const job *j, const unit *u, const int64_t *number)
{
    const tsri_slide *a = j->g->axis;
    const side *s = j->side;
    for (int d = 0; d < TSRI_AXES; d++) p->rest[d] = rest_of(&a[d], tap_of(&a[d], number[d]));
    const int64_t turn = u->o[2] + s[2].low, rest = p->rest[2];
    const int64_t there = a[2].in > rest ? (a[2].in - rest - 1) / a[2].step + 1 - turn : 0;
    p->places = u->n[2] - 1 + s[2].span;
    p->first = turn >= 0 ? 0 : least(p->places, -turn);
    p->end = least(p->places, there);
    p->z =
        u->copy + ((number[0] * s[1].phases + number[1]) * s[2].phases + number[2]) * j->plane * j->element;
}

static void copy_box(const job *j, const unit *u)
{
    const side *s = j->side;
    phase p;
    int64_t n[TSRI_AXES];
    for (n[0] = 0; n[0] < s[0].phases; n[0]++)
        for (n[1] = 0; n[1] < s[1].phases; n[1]++)
            for (n[2] = 0; n[2] < s[2].phases; n[2]++) {
                see_phase(&p, j, u, n);
                for (int64_t c = 0; c < j->g->channels; c++)
                    copy_channel(j, u, &p, p.z + c * j->channel * j->element, u->x + c * j->g->x_channel);
            }
}

/* Sums ---------------------------------------------------------------------------------------- */

/* Indices of k from p on that are summed from 0: whole channels, or some of the taps of one. */
static int64_t block_at(const job *j, int64_t p)
{
    return j->taps > BLOCK ? least(BLOCK, j->taps - p % j->taps) : least(j->block, j->k - p);
}

/* Columns of the flat box: `at` is the first, of places that follow each other. */
typedef struct columns {
    const char *x;
    int64_t at, n;
} columns;

static char *output_at(const job *j, const unit *u, int64_t kernel, const int64_t *o)
{
    const tsri_grid *g = j->g;
    char *z = g->z + u->image * g->z_image + (u->group * g->kernels + kernel) * g->z_channel;
    for (int d = 0; d < TSRI_AXES; d++) z += (u->o[d] + o[d]) * g->axis[d].z;
    return z;
}

static int64_t tile_row(const job *j) { return vectors_bytes(j); }

static char *tile_of(const job *j, const unit *u, int64_t panel)
{
    return u->sums + (panel - u->panel) * j->rows * tile_row(j);
}

static void fetch_ahead(const job *j, fetch *f)
{
    const int64_t row = j->g->axis[1].x;
    for (int64_t i = 0; i < f->lines && f->channel < j->g->channels; i++) {
        __builtin_prefetch(f->x + f->channel * j->g->x_channel + f->row * row + f->at, 0, 2);
        f->at += TSRI_CACHE_LINE;
        if (f->at < f->bytes) continue;
        f->at = 0;
        if (++f->row < f->rows) continue;
        f->row = 0;
        f->channel++;
    }
}

/* One block of k, whose columns are at s->x. */
static void sum_block(const job *j, unit *u, const columns *c, int64_t p, tsri_conv_strip *s)
{
    const tsri_conv_strip_fn *strips = j->kernels->strip[pieces(c->n, j->kernels->lanes)];
    for (int64_t i = u->panel; i < u->panel + u->panels; i++) {
        const int64_t row = row_of(j, i), rows = row_of(j, i + 1) - row;
        s->w = j->weights + ((u->group * j->count + row) * j->k + p * rows) * j->element;
        s->z = j->straight ? output_at(j, u, j->first + row, (const int64_t[]){ 0, 0, c->at })
                           : tile_of(j, u, i);
        s->z_row = j->straight ? j->g->z_channel : tile_row(j);
        s->stream = j->stream && c->n % j->kernels->lanes == 0 &&
                    ((uintptr_t)s->z | (uintptr_t)s->z_row) % (uintptr_t)(j->kernels->lanes * j->element) == 0;
        strips[rows](s);
        if (u->ahead.lines) fetch_ahead(j, &u->ahead);
    }
}

static void sum_columns(const job *j, unit *u, const columns *c)
{
    tsri_conv_strip s = { .cols = c->n, .padded = !j->as_it_lies };
    for (int64_t p = 0; p < j->k; p += s.k) {
        s.k = block_at(j, p);
        s.add = p > 0;
        s.x = c->x;
        s.offset = j->offset + p;
        sum_block(j, u, c, p, &s);
    }
}

/* Adds the bias of a kernel to n sums. */
static void add_bias(const job *j, char *sums, int64_t kernel, int64_t n)
{
    double bias;
    j->dtype->pack(&bias, j->g->bias + kernel * j->g->bias_step, 0, 0, 1, 1, 1);
    if (j->element == (int64_t)sizeof(float)) {
        float *z = (float *)(void *)sums, b;
        memcpy(&b, &bias, sizeof b);
        for (int64_t i = 0; i < n; i++) z[i] += b;
    } else {
        double *z = (double *)(void *)sums;
        for (int64_t i = 0; i < n; i++) z[i] += bias;
    }
}

static void add_biases(const job *j, const unit *u, const columns *c)
{
    for (int64_t i = u->panel; i < u->panel + u->panels; i++)
        for (int64_t row = row_of(j, i); row < row_of(j, i + 1); row++) {
            const int64_t kernel = j->first + row;
            char *sums = j->straight ? output_at(j, u, kernel, (const int64_t[]){ 0, 0, c->at })
                                     : tile_of(j, u, i) + (row - row_of(j, i)) * tile_row(j);
            add_bias(j, sums, u->group * j->g->kernels + kernel, c->n);
        }
}

/* Sums of places `from` .. from + n - 1 of the columns, which are a run of outputs from o on. */
static void store_run(const job *j, const unit *u, int64_t from, int64_t n, const int64_t *o)
{
    const tsri_gemm_scale plain = { .plain = true };
    const int64_t step = j->g->axis[2].z;
    for (int64_t i = u->panel; i < u->panel + u->panels; i++) {
        const tsri_gemm_matrix z = { output_at(j, u, j->first + row_of(j, i), o), j->g->z_channel,
                                     n > 1 ? step : tsri_dtype_size(j->g->dtype) };
        j->dtype->store(z, (tsri_gemm_matrix){ NULL, 0, 0 }, tile_of(j, u, i) + from * j->element,
                        row_of(j, i + 1) - row_of(j, i), n, (int)j->rows, (int)(tile_row(j) / j->element),
                        &plain);
    }
}

static void store_columns(const job *j, const unit *u, const columns *c)
{
    const side *s = j->side;
    for (int64_t i = 0; i < c->n;) {
        const int64_t at = c->at + i, rest = at % s[0].pitch;
        const int64_t o[TSRI_AXES] = { at / s[0].pitch, rest / s[1].pitch, rest % s[1].pitch };
        const int64_t n = least(c->n - i, u->n[2] - o[2]);
        if (n > 0 && o[1] < u->n[1]) store_run(j, u, i, n, o);
        i += n > 0 ? n : least(c->n - i, s[1].pitch - o[2]);
    }
}

/* Strips' widths of columns that are sent for at a time: long runs come cheaper than short ones. */
static int64_t columns_ahead(const job *j)
{
    return least(8, most(1, AHEAD_BYTES / (j->k * vectors_bytes(j))));
}

/* n columns from x on come nearer while `strips` widths of others are summed. */
static void plan_columns(const job *j, unit *u, const char *x, int64_t n, int64_t strips)
{
    u->ahead = (fetch){ .x = x, .rows = 1, .bytes = n * j->element };
    u->ahead.lines = pieces(j->k * pieces(u->ahead.bytes, TSRI_CACHE_LINE),
                            strips * u->panels * pieces(j->k, block_at(j, 0)));
}

/* Places of the flat box. */
static int64_t flat_places(const job *j, const unit *u)
{
    return (u->n[0] - 1) * j->side[0].pitch + (u->n[1] - 1) * j->side[1].pitch + u->n[2];
}

/* Sums of kernel `row` of the group's, which are all of the box's places. */
static void store_rows(const job *j, const unit *u, int64_t row)
{
    const tsri_gemm_scale plain = { .plain = true };
    const int64_t step = j->g->axis[2].z, size = tsri_dtype_size(j->g->dtype);
    int64_t o[TSRI_AXES] = { 0, 0, 0 };
    for (o[0] = 0; o[0] < u->n[0]; o[0]++)
        for (o[1] = 0; o[1] < u->n[1]; o[1]++)
            j->dtype->store(
                (tsri_gemm_matrix){ output_at(j, u, j->first + row, o), 0, u->n[2] > 1 ? step : size },
                (tsri_gemm_matrix){ NULL, 0, 0 },
                u->sums + (o[0] * j->side[0].pitch + o[1] * j->side[1].pitch) * j->element, 1, u->n[2], 1,
                (int)j->side[1].pitch, &plain);
}

/* The outputs of the box come nearer, to be written. */
static void fetch_outputs(const job *j, const unit *u)
{
    const int64_t bytes = u->n[2] * j->g->axis[2].z;
    int64_t o[TSRI_AXES] = { 0, 0, 0 };
    if (j->g->axis[2].z != tsri_dtype_size(j->g->dtype)) return;
    for (o[0] = 0; o[0] < u->n[0]; o[0]++)
        for (o[1] = 0; o[1] < u->n[1]; o[1]++)
            for (int64_t at = 0; at < bytes; at += TSRI_CACHE_LINE)
                __builtin_prefetch(output_at(j, u, j->first + u->panel, o) + at, 1, 3);
}

static void multiply_alone(const job *j, unit *u)
{
    const int64_t all = flat_places(j, u);
    fetch_outputs(j, u);
    copy_box(j, u);
    if (u->ahead.lines) fetch_ahead(j, &u->ahead);
    for (int64_t i = u->panel; i < u->panel + u->panels; i++) {
        const char *w = j->weights + (u->group * j->count + i) * j->k * j->element;
        j->kernels->sum_one(u->sums, u->copy, j->offset, w, j->k, all);
        if (j->g->bias) add_bias(j, u->sums, u->group * j->g->kernels + j->first + i, all);
        store_rows(j, u, i);
    }
}

static void multiply_three(const job *j, const unit *u)
{
    const tsri_grid *g = j->g;
    const tsri_slide *a = g->axis;
    const int64_t zero[TSRI_AXES] = { 0, 0, 0 };
    tsri_conv_three t = { .x = u->x,
                          .x_row = a[1].x,
                          .high = a[1].in,
                          .wide = a[2].in,
                          .z_row = a[1].z,
                          .rows = u->n[1],
                          .cols = u->n[2],
                          .top = -a[1].first - u->o[1],
                          .left = -a[2].first };
    t.x_ahead = j->boxes > 1 ? u->n[1] * a[1].x : g->x_channel;
    t.z_ahead = j->boxes > 1 ? u->n[1] * a[1].z : g->z_channel;
    for (int64_t i = u->panel; i < u->panel + u->panels; i++) {
        t.z = output_at(j, u, j->first + i, zero);
        t.w = (const float *)(const void *)(j->weights + (u->group * j->count + i) * j->k * j->element);
        if (g->bias)
            j->dtype->pack(&t.bias, g->bias + (u->group * g->kernels + j->first + i) * g->bias_step, 0, 0, 1,
                           1, 1);
        j->kernels->three(&t);
    }
}

static void multiply_unit(const job *j, unit *u)
{
    const int64_t width = TSRI_CONV_VECTORS * j->kernels->lanes,
                  all = j->as_it_lies ? u->n[2] : flat_places(j, u);
    if (j->three) {
        multiply_three(j, u);
        return;
    }
    if (j->alone) {
        multiply_alone(j, u);
        return;
    }
    if (!j->as_it_lies) copy_box(j, u);
    const int64_t wide = width * columns_ahead(j);
    for (int64_t at = 0; at < all; at += width) {
        const columns c = { (j->as_it_lies ? u->x : u->copy) + at * j->element, at, least(all - at, width) };
        if (j->as_it_lies && at % wide == 0 && at + wide < all)
            plan_columns(j, u, c.x + wide * j->element, least(all - at - wide, wide), wide / width);
        sum_columns(j, u, &c);
        if (j->g->bias) add_biases(j, u, &c);
        if (!j->straight) store_columns(j, u, &c);
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
        if (j->as_it_lies) u->x += (u->o[d] * g->axis[d].step + tsri_slide_at(&g->axis[d], 0)) * g->axis[d].x;
    }
}

static size_t rounded(int64_t bytes) { return tsri_round_up((size_t)bytes, TSRI_CACHE_LINE); }

static size_t copy_bytes(const job *j)
{
    return j->as_it_lies || j->three
               ? 0
               : rounded(j->channel * j->g->channels * j->element + WHOLE * vectors_bytes(j));
}

static size_t sums_bytes(const job *j)
{
    if (j->three) return 0;
    return rounded(j->alone ? j->plane * j->element + WHOLE * vectors_bytes(j)
                            : j->slice * j->rows * tile_row(j));
}

static void share_scratch(const job *j, unit *u, char *scratch)
{
    *u = (unit){ .copy = scratch };
    u->sums = u->copy + copy_bytes(j);
}

/* Strips that a unit runs. */
static int64_t strips_of(const job *j, const unit *u)
{
    return pieces(flat_places(j, u), TSRI_CONV_VECTORS * j->kernels->lanes) * pieces(j->k, block_at(j, 0)) *
           u->panels;
}

/* The rows that `next` will copy come while u is summed. */
static void plan_fetch(const job *j, unit *u, const unit *next)
{
    const tsri_slide *a = j->g->axis;
    const int64_t size = tsri_dtype_size(j->g->dtype);
    const int64_t first = most(0, (next->o[1] + j->side[1].low) * a[1].step);
    const int64_t end =
        least(a[1].in, (next->o[1] + next->n[1] + j->side[1].low + j->side[1].span) * a[1].step);
    u->ahead = (fetch){ .rows = end - first, .bytes = a[2].in * size };
    if (j->as_it_lies || j->three || a[2].x != size || a[0].in != 1 || end <= first) return;
    if (next->image == u->image && next->group == u->group && j->slices > 1) return;
    u->ahead.x = next->x + first * a[1].x;
    u->ahead.lines = pieces(u->ahead.rows * pieces(u->ahead.bytes, TSRI_CACHE_LINE) * j->g->channels,
                            j->alone ? 1 : strips_of(j, u));
}

static tsr_status multiply_units(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    unit u, next;
    size_t reserved = 0;
    const size_t bytes = (size_t)most(1, (int64_t)(copy_bytes(j) + sums_bytes(j)));
    char *scratch = tsri_alloc_allowed(bytes) ? tsri_pool_take(bytes, &reserved) : NULL;
    TSRI_CHECK(scratch, TSR_ENOMEM, "conv: no memory for %zu bytes of scratch", bytes);
    share_scratch(j, &u, scratch);
    for (int64_t i = begin; i < end; i++) {
        find_unit(&u, j, i);
        u.ahead.lines = 0;
        if (i + 1 < end) {
            find_unit(&next, j, i + 1);
            plan_fetch(j, &u, &next);
        }
        multiply_unit(j, &u);
    }
    if (j->stream) j->kernels->settle();
    tsri_pool_give(scratch, reserved);
    return TSR_OK;
}

/* Units of all kernels, if there are enough of them for the threads; else of some. */
static void cut_units(job *j)
{
    const int64_t units = j->g->batch * j->g->groups * j->boxes, wanted = 2 * (int64_t)tsr_threads();
    j->slice = j->panels;
    if (units < wanted && tsr_threads() > 1)
        j->slice = most(pieces(j->panels, pieces(wanted, units)), least(j->panels, 4));
    j->slices = pieces(j->panels, j->slice);
}

static tsr_status multiply_packed(job *j)
{
    const double work = (double)j->side[0].box * (double)j->side[1].box * (double)j->side[2].box *
                        (double)j->count * (double)j->k;
    TSRI_TRY(tsr_parallel_for(j->g->groups * j->panels, most(1, UNIT_WORK / (8 * j->k)), pack_weights, j));
    cut_units(j);
    return tsr_parallel_for(j->g->batch * j->g->groups * j->boxes * j->slices,
                            most(1, (int64_t)(UNIT_WORK * (double)j->slices / work)), multiply_units, j);
}

/* Kernels first .. first + count - 1 of each group. */
static tsr_status multiply_kernels(job *j)
{
    size_t reserved = 0;
    j->panels = pieces(j->count, j->rows);
    j->low_rows = j->count / j->panels;
    j->high_panels = j->count % j->panels;
    const double wanted = ((double)j->g->groups * (double)j->count + 2) * (double)j->k * 8;
    const bool fits = wanted < (double)(SIZE_MAX / 4);
    const size_t weights = fits ? rounded(j->g->groups * j->count * j->k * j->element) : 0;
    const size_t bytes = fits ? weights + (size_t)j->k * sizeof *j->offset : 0;
    j->weights = fits && tsri_alloc_allowed(bytes) ? tsri_pool_take(bytes, &reserved) : NULL;
    TSRI_CHECK(j->weights, TSR_ENOMEM, "conv: no memory to pack %lld groups of %lld x %lld weights",
               (long long)j->g->groups, (long long)j->count, (long long)j->k);
    j->offset = (int64_t *)(void *)(j->weights + weights);
    find_offsets(j);
    const tsr_status s = multiply_packed(j);
    tsri_pool_give(j->weights, reserved);
    return s;
}

/* The whole ------------------------------------------------------------------------------------ */

/* Rows of floats that follow each other, and windows of 3 x 3 that move on by one. */
static bool suits_three(const job *j)
{
    const tsri_slide *a = j->g->axis;
    if (!j->alone || j->g->dtype != TSR_F32 || !j->kernels->three || !is_plain(&a[0]) || a[0].out != 1)
        return false;
    for (int d = 1; d < TSRI_AXES; d++)
        if (a[d].taps != 3 || a[d].step != 1 || a[d].reach != 1 || a[d].in < 1) return false;
    return (a[2].x == j->element || a[2].in == 1) && (a[2].z == j->element || a[2].out == 1);
}

/* Boxes of whole rows, some of which stay in the nearest cache. */
static void cut_rows(job *j, int64_t bytes)
{
    const tsri_slide *a = j->g->axis;
    cut_axis(&j->side[1], &a[1], most(8, bytes / (a[2].out * j->element)));
    cut_axis(&j->side[2], &a[2], a[2].out);
    j->boxes = j->side[1].boxes;
}

/* Bytes of x and z that a window of one place reads and writes. */
static int64_t touched(const tsri_grid *g)
{
    const double places = (double)g->axis[0].out * (double)g->axis[1].out * (double)g->axis[2].out;
    const double all = (double)g->batch * (double)g->groups * (double)(g->channels + g->kernels) * places;
    return (int64_t)(all < 1e15 ? all * (double)tsri_dtype_size(g->dtype) : 1e15);
}

static bool plan_job(job *j, const tsri_grid *g)
{
    const tsri_cpu_kernels *k = tsri_cpu_kernels_get();
    const tsri_slide *a = g->axis;
    if (!k->conv || tsr_dtype_kind(g->dtype) != TSR_FLOATING || !is_moderate(g)) return false;
    const bool wide = g->dtype == TSR_F64;
    *j = (job){ .g = g, .kernels = &k->conv[wide ? 1 : 0], .element = wide ? 8 : 4 };
    j->dtype = &k->gemm[wide ? TSRI_GEMM_F64 : TSRI_GEMM_F32].dtypes[g->dtype];
    j->taps = a[0].taps * a[1].taps * a[2].taps;
    j->k = j->taps * g->channels;
    if (j->taps > MOST_TAPS) return false;
    j->block = tsri_grid_block(g) * j->taps;
    for (int d = 0; d < TSRI_AXES; d++) see_side(&j->side[d], &a[d]);
    j->alone = g->channels == 1 && g->kernels <= ALONE;
    j->rows = j->alone ? 1 : j->kernels->rows;
    j->as_it_lies = !j->alone && lies_well(j);
    j->three = suits_three(j);
    if (j->three) {
        for (int d = 0; d < TSRI_AXES; d++) cut_axis(&j->side[d], &a[d], a[d].out);
        cut_rows(j, NEAR_BYTES);
        return true;
    }
    if (!cut_boxes(j) && !j->as_it_lies) return false;
    if (j->as_it_lies) {
        for (int d = 0; d < TSRI_AXES; d++)
            cut_axis(&j->side[d], &a[d], d < 2 ? 1 : 48 * TSRI_CONV_VECTORS * j->kernels->lanes);
        j->boxes = j->side[0].boxes * j->side[1].boxes * j->side[2].boxes;
        (void)measure_copy(j);
    }
    const bool one_row = j->side[0].box == 1 && j->side[1].box == 1;
    j->straight = !j->alone && one_row && j->dtype->native && (a[2].z == j->element || a[2].out == 1);
    j->stream = j->straight && j->as_it_lies && !g->bias && j->k <= j->block && tsri_cpu_streams(touched(g));
    return true;
}

int64_t tsri_grid_block(const tsri_grid *g)
{
    const int64_t taps = g->axis[0].taps * g->axis[1].taps * g->axis[2].taps;
    if (taps == 1) return TSRI_GEMM_BLOCK;
    return pieces(g->channels, pieces(g->channels, most(1, TSRI_CONV_BLOCK / taps)));
}

bool tsri_grid_has_windows(const tsri_grid *g)
{
    job j;
    return plan_job(&j, g);
}

tsr_status tsri_grid_windows(const tsri_grid *g)
{
    job j;
    (void)plan_job(&j, g);
    for (j.first = 0; j.first < g->kernels; j.first += KERNELS) {
        j.count = least(g->kernels - j.first, KERNELS);
        TSRI_TRY(multiply_kernels(&j));
    }
    return TSR_OK;
}
