/* fft.c - from an op to transforms of lanes.
 *
 * A lane of unit stride is read and written by the kernels. Others are gathered into scratch memory, several
 * next to each other so that memory is read in runs whichever axis is transformed; they are transformed there
 * and scattered, scaled, to the result. Threads share the groups of lanes, or the groups of one long lane.
 *
 * A transform of exponent +1 is one of exponent -1 of the conjugate, conjugated: kernels know -1 only.
 *
 * LIMIT: a few long lanes are shared lane by lane, so that more threads than lanes do not help; of a long
 * lane that is not of unit stride, elements are gathered one by one. */
#include "fft.h"
#include "core/alloc.h"
#include "core/atomic.h"
#include "core/env.h"
#include "core/lock.h"
#include "core/mem.h"
#include "core/memory_int.h"
#include "core/sizes.h"
#include "cpu/kernels.h"
#include "cpu/lanes.h"
#include "fftw.h"
#include "fft_kernels.h"
#include "parts.h"
#include "core/threads_int.h"

enum {
    LANE_BYTES = 64,             /* of a scratch buffer that neighbouring lanes fill */
    LINE_BYTES = 64,             /* of the tensor: a cache line */
    CHUNK      = 2048            /* elements of a lane that are moved at a time */
};

/* What is true of all lanes of a call. */
typedef struct job {
    tsri_fft_side         side;
    int64_t               n;          /* of the transform */
    int64_t               m;          /* elements that x has along the axis */
    bool                  mirrored;   /* z has all n elements of a spectrum of reals */
    int64_t               x_step, z_step;
    int64_t               part;       /* bytes of a real number in x and z */
    double                x_sign;     /* of the imaginary parts that are read, */
    double                z_sign;     /* and of those that are written */
    double                scale;
    const tsri_fft_parts *parts;
    const tsri_fft_plan  *plan;       /* one of the two */
    const tsri_fftw_plan *fftw;
    bool                  whole;      /* x has all elements that are transformed */
    int64_t               lanes;      /* at a time, at most */
    int64_t               lane_bytes; /* of scratch memory */
    int32_t              *no_room;    /* set to 1 where there was none */
} job;

/* Lanes of x and z: the first element of the first, and bytes from lane to lane. */
typedef struct group {
    char   *x, *z;
    int64_t x_lane, z_lane;
    int64_t lanes;
} group;

/* Copies ------------------------------------------------------------------------------- */

/* A gather or scatter that is cut into chunks. */
typedef struct copy_job {
    tsri_fft_move         move;
    const tsri_fft_parts *parts;
    bool                  out; /* a scatter, to the tensor */
} copy_job;

static tsr_status move_chunks(void *context, int64_t begin, int64_t end)
{
    const copy_job *h = context;
    tsri_fft_move part = h->move;
    const int64_t from = begin * CHUNK, n = (end - begin) * CHUNK;
    for (int i = 0; i < 2; i++) {
        tsri_fft_stream *s = &part.stream[i];
        s->count = most(least(s->count - from, n), 0);
        s->total = most(least(s->total - from, n), 0);
        if (s->total > 0) s->scratch += from * part.in_scratch.along * h->parts->size;
        if (s->count > 0) s->tensor += from * part.in_tensor.along;
    }
    if (h->out) h->parts->scatter(&part);
    else        h->parts->gather(&part);
    return TSR_OK;
}

static tsr_status run_copy(copy_job *h)
{
    const int64_t total = h->move.stream[0].total, chunks = (total + CHUNK - 1) / CHUNK;
    const double each = CHUNK * (double)h->move.lanes;
    return tsri_parallel_for(chunks, tsri_grain(TSRI_WORK_ELEMENT * each), move_chunks, h);
}

/* Numbers in scratch memory: where the two streams begin, and their steps. */
typedef struct buffers {
    char          *re, *im;
    tsri_fft_steps steps;
    bool           halved;  /* of a real lane: even elements in re, odd ones in im */
} buffers;

static copy_job copy_of(const job *j, const group *g, const buffers *r, bool out)
{
    copy_job h = { .move = { .in_scratch = r->steps, .lanes = g->lanes }, .parts = j->parts, .out = out };
    h.move.in_tensor.along = out ? j->z_step : j->x_step;
    h.move.in_tensor.lane = out ? g->z_lane : g->x_lane;
    return h;
}

/* x to scratch memory. For reals that are not halved im may be NULL. */
static tsr_status gather_lanes(const job *j, const group *g, const buffers *to)
{
    copy_job h = copy_of(j, g, to, false);
    tsri_fft_stream *s = h.move.stream;
    if (j->side != TSRI_FFT_FROM_REAL) {
        const int64_t total = j->side == TSRI_FFT_COMPLEX ? j->n : j->n / 2 + 1;
        s[0] = (tsri_fft_stream){ to->re, g->x, j->m, total, 1 };
        s[1] = (tsri_fft_stream){ to->im, g->x + j->part, j->m, total, j->x_sign };
    } else if (to->halved) {
        h.move.in_tensor.along *= 2;
        s[0] = (tsri_fft_stream){ to->re, g->x, (j->m + 1) / 2, j->n / 2, 1 };
        s[1] = (tsri_fft_stream){ to->im, g->x + j->x_step, j->m / 2, j->n / 2, 1 };
    } else {
        s[0] = (tsri_fft_stream){ to->re, g->x, j->m, j->n, 1 };
        s[1] = (tsri_fft_stream){ to->im, g->x, 0, to->im ? j->n : 0, 1 };
    }
    return run_copy(&h);
}

/* Scratch memory to z. Odd elements of a halved real lane are negated in scratch. */
static tsr_status scatter_lanes(const job *j, const group *g, const buffers *from)
{
    copy_job h = copy_of(j, g, from, true);
    tsri_fft_stream *s = h.move.stream;
    const int64_t half = j->n / 2;
    if (j->side != TSRI_FFT_TO_REAL) {
        const int64_t count = j->side == TSRI_FFT_COMPLEX ? j->n : half + 1;
        s[0] = (tsri_fft_stream){ from->re, g->z, count, count, j->scale };
        s[1] = (tsri_fft_stream){ from->im, g->z + j->part, count, count, j->z_sign * j->scale };
    } else if (from->halved) {
        h.move.in_tensor.along *= 2;
        s[0] = (tsri_fft_stream){ from->re, g->z, half, half, j->scale };
        s[1] = (tsri_fft_stream){ from->im, g->z + j->z_step, half, half, -j->scale };
    } else {
        s[0] = (tsri_fft_stream){ from->re, g->z, j->n, j->n, j->scale };
        s[1] = (tsri_fft_stream){ NULL, g->z, 0, 0, 1 };
    }
    return run_copy(&h);
}

/* The elements after the middle of a spectrum of reals: the conjugates of those before it. */
static tsr_status scatter_mirrored(const job *j, const group *g, const buffers *from)
{
    const int64_t count = (j->n - 1) / 2, skip = from->steps.along * j->parts->size;
    if (count == 0) return TSR_OK;
    char *last = g->z + (j->n - 1) * j->z_step;
    copy_job h = copy_of(j, g, from, true);
    tsri_fft_stream *s = h.move.stream;
    h.move.in_tensor.along = -j->z_step;
    s[0] = (tsri_fft_stream){ from->re + skip, last, count, count, j->scale };
    s[1] = (tsri_fft_stream){ from->im + skip, last + j->part, count, count, -j->z_sign * j->scale };
    return run_copy(&h);
}

static tsr_status scatter_all(const job *j, const group *g, const buffers *from)
{
    if (j->mirrored) TSRI_TRY(scatter_mirrored(j, g, from));
    return scatter_lanes(j, g, from);
}

/* Kernels of our own ------------------------------------------------------------------- */

/* What is complex in a tensor, or a real lane of even length: pairs of an even and an odd element. */
static bool has_pairs(const job *j, bool out)
{
    const bool real = j->side == (out ? TSRI_FFT_TO_REAL : TSRI_FFT_FROM_REAL);
    return j->parts->size == j->part && (out || j->whole) && (!real || j->plan->halved);
}

static int64_t pair_count(const job *j)
{
    return j->side == TSRI_FFT_COMPLEX ? j->n : j->n / 2 + 1;
}

/* Takes the lanes from x, or gives them to z, in pairs: if those are neighbours. Of a real side that is so
 * along a lane only. */
static bool move_pairs(const job *j, const group *g, void *const buffer[4], bool out)
{
    const tsri_fft_kernels *k = tsri_fft_kernels_get();
    const bool real = j->side == (out ? TSRI_FFT_TO_REAL : TSRI_FFT_FROM_REAL);
    const int64_t step = (out ? j->z_step : j->x_step) * (real ? 2 : 1), lane = out ? g->z_lane : g->x_lane;
    const double sign = out ? (real ? -1 : j->z_sign) : j->x_sign, scale = out ? j->scale : 1;
    if (!has_pairs(j, out)) return false;
    if (step != 2 * j->part && (real || g->lanes == 1 || lane != 2 * j->part)) return false;
    const tsri_fft_pairs p = { .tensor = out ? g->z : g->x, .along = step, .lane = lane,
                               .count = real ? j->n / 2 : pair_count(j), .lanes = g->lanes,
                               .re = buffer[0], .im = buffer[1], .re2 = buffer[2], .im2 = buffer[3],
                               .f_re = scale, .f_im = sign * scale };
    (out ? k->give : k->take)[j->part == sizeof(double)](&p);
    return true;
}

/* Transforms buffers 0 and 1, with 2 and 3 as scratch; the result is in 0 and 1 again. If x and z are not
 * NULL, they are pairs to read and write instead. */
static tsr_status transform(const job *j, void *buffer[4], int64_t lanes, const void *x, void *z)
{
    const tsri_fft_kernels *k = tsri_fft_kernels_get();
    const double z_im = j->side == TSRI_FFT_TO_REAL ? -j->scale : j->z_sign * j->scale;
    if (j->plan->wide) {
        tsri_fft_buffers_f64 b = { buffer[0], buffer[1], buffer[2], buffer[3], x, z, j->x_sign, j->scale,
                                   z_im };
        TSRI_TRY(k->lanes_f64(j->plan, j->side, &b, lanes));
        buffer[0] = b.re, buffer[1] = b.im, buffer[2] = b.re2, buffer[3] = b.im2;
    } else {
        tsri_fft_buffers_f32 b = { buffer[0], buffer[1], buffer[2], buffer[3], x, z, (float)j->x_sign,
                                   (float)j->scale, (float)z_im };
        TSRI_TRY(k->lanes_f32(j->plan, j->side, &b, lanes));
        buffer[0] = b.re, buffer[1] = b.im, buffer[2] = b.re2, buffer[3] = b.im2;
    }
    return TSR_OK;
}

/* Bytes of a buffer of so many lanes. */
static int64_t buffer_bytes(const job *j, int64_t lanes)
{
    const int64_t bytes = (tsri_fft_room(j->plan) * lanes + TSRI_FFT_SPILL) * j->parts->size;
    return (int64_t)tsri_round_up((size_t)bytes, TSRI_CACHE_LINE);
}

/* Can the kernels themselves read a lane of x, and write one of z? */
static bool reads_pairs(const job *j)
{
    return has_pairs(j, false) && tsri_fft_takes_pairs(j->plan, j->side) &&
           j->x_step == (j->side == TSRI_FFT_FROM_REAL ? 1 : 2) * j->part;
}

static bool writes_pairs(const job *j)
{
    return has_pairs(j, true) && !j->mirrored && tsri_fft_gives_pairs(j->plan, j->side) &&
           j->z_step == (j->side == TSRI_FFT_TO_REAL ? 1 : 2) * j->part;
}

static tsr_status run_own(const job *j, const group *g, char *scratch)
{
    void *buffer[4];
    const int64_t bytes = buffer_bytes(j, g->lanes);
    const bool one = g->lanes == 1, reads = one && reads_pairs(j), writes = one && writes_pairs(j);
    for (int i = 0; i < 4; i++) buffer[i] = scratch + i * bytes;
    buffers r = { buffer[0], buffer[1], { g->lanes, 1 }, j->plan->halved };
    if (!reads && !move_pairs(j, g, buffer, false)) TSRI_TRY(gather_lanes(j, g, &r));
    TSRI_TRY(transform(j, buffer, g->lanes, reads ? g->x : NULL, writes ? g->z : NULL));
    if (writes) return TSR_OK;
    r.re = buffer[0];
    r.im = buffer[1];
    if (j->mirrored) TSRI_TRY(scatter_mirrored(j, g, &r));
    return move_pairs(j, g, buffer, true) ? TSR_OK : scatter_lanes(j, g, &r);
}

/* FFTW --------------------------------------------------------------------------------- */

/* Bytes of a packed lane; and rounded up to cache lines, so that every lane is
 * aligned as the plan is. */
static int64_t side_bytes(const job *j, bool out)
{
    const bool real = j->side == (out ? TSRI_FFT_TO_REAL : TSRI_FFT_FROM_REAL);
    return j->part * (real ? j->n : j->side == TSRI_FFT_COMPLEX ? 2 * j->n : 2 * (j->n / 2 + 1));
}

static int64_t side_room(const job *j, bool out)
{
    return (int64_t)tsri_round_up((size_t)side_bytes(j, out), TSRI_CACHE_LINE);
}

static bool is_direct(const job *j, const group *g)
{
    const int64_t x_size = j->part * (j->side == TSRI_FFT_FROM_REAL ? 1 : 2);
    return j->side != TSRI_FFT_TO_REAL && j->m == j->n && j->x_step == x_size && j->z_step == 2 * j->part &&
           g->x != g->z && tsri_fftw_is_aligned(j->fftw, g->x) && tsri_fftw_is_aligned(j->fftw, g->z) &&
           (g->lanes == 1 || (tsri_fftw_is_aligned(j->fftw, g->x + g->x_lane) &&
                              tsri_fftw_is_aligned(j->fftw, g->z + g->z_lane)));
}

/* From x to z directly; scaled in place. */
static tsr_status run_direct(const job *j, const group *g)
{
    const bool as_it_is = j->scale == 1 && j->z_sign == 1;
    for (int64_t v = 0; v < g->lanes; v++) {
        const group one = { g->x + v * g->x_lane, g->z + v * g->z_lane, 0, 0, 1 };
        const buffers r = { one.z, one.z + j->part, { 2, 0 }, false };
        tsri_fftw_run(j->fftw, one.x, one.z);
        if (j->mirrored) TSRI_TRY(scatter_mirrored(j, &one, &r)); /* before what it reads is scaled */
        if (!as_it_is) TSRI_TRY(scatter_lanes(j, &one, &r));
    }
    return TSR_OK;
}

/* Zeros the imaginary parts that a spectrum of reals cannot have: FFTW needs that. */
static void clear_unseen(const job *j, char *lane)
{
    memset(lane + j->part, 0, (size_t)j->part);
    if (j->n % 2 == 0) memset(lane + (j->n + 1) * j->part, 0, (size_t)j->part);
}

static tsr_status run_fftw(const job *j, const group *g, char *scratch)
{
    const int64_t in_room = side_room(j, false), out_room = side_room(j, true);
    char *to = scratch + g->lanes * in_room;
    const bool from_real = j->side == TSRI_FFT_FROM_REAL, to_real = j->side == TSRI_FFT_TO_REAL;
    const tsri_fft_steps in_steps = { from_real ? 1 : 2, in_room / j->part };
    const tsri_fft_steps out_steps = { to_real ? 1 : 2, out_room / j->part };
    const buffers in = { scratch, from_real ? NULL : scratch + j->part, in_steps, false };
    const buffers out = { to, to_real ? NULL : to + j->part, out_steps, false };
    if (is_direct(j, g)) return run_direct(j, g);
    TSRI_TRY(gather_lanes(j, g, &in));
    for (int64_t v = 0; v < g->lanes; v++) {
        if (to_real) clear_unseen(j, scratch + v * in_room);
        tsri_fftw_run(j->fftw, scratch + v * in_room, to + v * out_room);
    }
    return scatter_all(j, g, &out);
}

/* Lanes -------------------------------------------------------------------------------- */

/* Operands: result, x. */
static void run_tile(const tsri_tile *t, const void *params)
{
    const job *j = params;
    const int64_t lanes = least(j->lanes, t->cols);
    const size_t bytes = (size_t)(j->fftw ? lanes * j->lane_bytes : 4 * buffer_bytes(j, lanes));
    size_t reserved = 0;
    char *scratch = tsri_pool_scratch(bytes, &reserved);
    bool fine = scratch != NULL;
    for (int64_t r = 0; r < t->rows && fine; r++)
        for (int64_t c = 0; c < t->cols && fine; c += lanes) {
            const group g = { t->ptr[1] + r * t->row_step[1] + c * t->col_step[1],
                              t->ptr[0] + r * t->row_step[0] + c * t->col_step[0],
                              t->col_step[1], t->col_step[0], least(lanes, t->cols - c) };
            fine = (j->fftw ? run_fftw(j, &g, scratch) : run_own(j, &g, scratch)) == TSR_OK;
        }
    if (!fine) tsri_store_release(j->no_room, 1);
    tsri_pool_give(scratch, reserved);
}

/* Neighbouring lanes pay where they share cache lines with a lane's elements; else only where one alone does
 * not fill vectors, and all of them stay in cache. */
static int64_t lanes_at_a_time(const job *j, bool wide)
{
    const int64_t many = LANE_BYTES / (int64_t)(wide ? sizeof(double) : sizeof(float));
    const bool packed = (j->x_step == j->part || j->x_step == 2 * j->part) &&
                        (j->z_step == j->part || j->z_step == 2 * j->part);
    const tsri_tuning_lanes *t = &tsri_tuning_get()->lanes;
    if (j->plan && (j->plan->fine || (packed && reads_pairs(j)))) return 1;
    if (many * j->lane_bytes <= (packed ? t->fft_packed : t->fft_strided)) return many;
    return packed ? 1 : LINE_BYTES / (2 * j->part);
}

static tsr_status run_lanes(const tsr_op *op, job *j, bool wide)
{
    tsri_loop loop;
    int32_t no_room = 0;
    const tsr_fft_params *p = op->params;
    j->no_room = &no_room;
    j->lanes = lanes_at_a_time(j, wide);
    const tsr_tensor *const operands[] = { op->out[0], op->in[0] };
    tsri_lanes_build(&loop, &op->out[0]->desc, 2, operands, p->axis);
    TSRI_TRY(tsri_loop_run_parallel(&loop, &(tsri_kernel){ .fn = run_tile, .params = j },
                                    tsri_grain(TSRI_WORK_ELEMENT * (double)j->n)));
    return tsri_load_acquire(&no_room) ? TSR_ENOMEM : TSR_OK;
}

static tsr_status run_with_fftw(const tsr_op *op, job *j, const tsri_fftw_plan *plan)
{
    j->fftw = plan;
    j->parts = plan->is_double ? &tsri_fft_parts_f64 : &tsri_fft_parts_f32;
    j->lane_bytes = side_room(j, false) + side_room(j, true);
    return run_lanes(op, j, plan->is_double);
}

/* Conjugates, so that the exponent is always -1. */
static tsr_status run_with_own(const tsr_op *op, job *j, bool inverse)
{
    tsri_fft_plan mine;
    const bool is_double = j->part == sizeof(double);
    TSRI_TRY(tsri_fft_plan_get(&j->plan, &mine, j->n, j->side != TSRI_FFT_COMPLEX, is_double));
    const bool wide = j->plan->wide;
    if (j->side == TSRI_FFT_COMPLEX && inverse) j->x_sign = j->z_sign = -1;
    j->parts = is_double ? &tsri_fft_parts_f64 : wide ? &tsri_fft_parts_f32_wide : &tsri_fft_parts_f32;
    j->lane_bytes = 4 * tsri_fft_room(j->plan) * (int64_t)(wide ? sizeof(double) : sizeof(float));
    const tsr_status s = run_lanes(op, j, wide);
    tsri_fft_plan_put(j->plan);
    return s;
}

/* Which kernels ------------------------------------------------------------------------ */

static tsri_fft_choice choice = TSRI_FFT_OWN;
static tsri_once chosen = TSRI_ONCE_INIT;

static void choose(void)
{
    const char *wish = tsri_env("TSR_FFT");
    if (wish && tsri_streq(wish, "fftw")) choice = TSRI_FFT_FFTW;
}

bool tsri_fft_use(tsri_fft_choice wanted)
{
    tsri_once_run(&chosen, choose);
    choice = wanted;
    return choice != TSRI_FFT_OWN && tsri_fftw_is_here(false) && tsri_fftw_is_here(true);
}

static tsri_fftw_kind fftw_kind(const job *j, bool inverse)
{
    if (j->side == TSRI_FFT_FROM_REAL) return TSRI_FFTW_R2C;
    if (j->side == TSRI_FFT_TO_REAL) return TSRI_FFTW_C2R;
    return inverse ? TSRI_FFTW_BACKWARD : TSRI_FFTW_FORWARD;
}

/* The op ------------------------------------------------------------------------------- */

static job job_of(const tsr_op *op)
{
    const tsr_fft_params *p = op->params;
    const tsr_tensor *x = op->in[0], *z = op->out[0];
    const bool from_real = tsr_dtype_kind(x->dtype) == TSR_FLOATING, to_real = op->kind == TSR_OP_IRFFT;
    const double sign = p->inverse ? -1 : 1;
    /* The stride of an axis of size 1 may be any number: it is never taken. */
    const bool x_steps = x->shape[p->axis] > 1, z_steps = z->shape[p->axis] > 1;
    return (job){
        .side = to_real ? TSRI_FFT_TO_REAL : from_real ? TSRI_FFT_FROM_REAL : TSRI_FFT_COMPLEX,
        .n = p->n, .m = x->shape[p->axis], .mirrored = from_real && op->kind == TSR_OP_FFT,
        .whole = x->shape[p->axis] == (to_real ? p->n / 2 + 1 : p->n),
        .x_step = x_steps ? tsri_axis_step(x, p->axis) : 0,
        .z_step = z_steps ? tsri_axis_step(z, p->axis) : 0,
        .part = tsri_dtype_size(tsr_dtype_real(x->dtype)),
        .x_sign = to_real ? -sign : 1, .z_sign = from_real ? sign : 1, .scale = p->scale,
    };
}

tsr_status tsri_cpu_fft(const tsr_op *op)
{
    const tsr_fft_params *p = op->params;
    job j = job_of(op);
    tsri_fftw_plan fftw;
    tsr_status s;
    if (tsr_numel(op->out[0]) == 0) return TSR_OK;
    tsri_once_run(&chosen, choose);
    if (choice != TSRI_FFT_OWN &&
        tsri_fftw_get(&fftw, fftw_kind(&j, p->inverse), j.part == sizeof(double), j.n)) {
        s = run_with_fftw(op, &j, &fftw);
        tsri_fftw_put(&fftw);
    } else {
        s = run_with_own(op, &j, p->inverse);
    }
    TSRI_CHECK(s == TSR_OK, s, "%s: no room for transforms of %lld elements", tsr_op_get_info(op->kind)->name,
               (long long)j.n);
    return TSR_OK;
}
