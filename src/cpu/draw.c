/* draw.c - random numbers on the CPU. A run of numbers at a time is made in a buffer, by
 * core/random_values.h and core/random_integers.h, and then copied to the result.
 *
 * Elements are numbered in row-major order, and the walk has the same order. A thread can
 * start at any element, so threads share the walk. */
#include "draw.h"
#include "core/random_integers.h"
#include "core/loop.h"
#include "cpu_run.h"
#include "kernels.h"
#include "core/threads_int.h"

enum {
    BLOCKS = TSRI_DRAW_WORDS / 4,  /* made at a time */
    NUMBERS = TSRI_DRAW_WORDS
};

/* A buffer of numbers, in the type they are made in. */
typedef union run {
    float   f[NUMBERS];
    double  d[NUMBERS];
    int64_t i[NUMBERS];
} run;

typedef struct draw {
    const tsri_cpu_kernels *k;
    tsri_loop      loop;
    const void    *params;
    tsri_range     range;     /* of uniform numbers */
    tsr_dtype      from, to;  /* the type that numbers are made in, and the result's */
    int64_t        parts;     /* numbers per element: 2 if complex */
    int64_t        size;      /* bytes of an element */
    int64_t        per_block;
    int64_t        next;      /* number of the next element of the walk */
    /* Numbers `first` to first + n - 1 of the stream: whole blocks, BLOCKS at most. */
    void         (*make)(const struct draw *d, void *out, uint64_t first, int64_t n, bool stream);
    /* Writes floats directly to the result, from number `first` of the stream on, the first of a block: as
     * many of the n as the fast kernel can make. Returns how many, whole blocks. NULL: there is no fast
     * kernel. */
    int64_t      (*make_fast)(const struct draw *d, float *z, uint64_t first, int64_t n);
} draw;

/* Numbers -------------------------------------------------------------------------------- */

static void make_words(const draw *d, uint32_t words[TSRI_DRAW_WORDS], uint64_t seed, uint32_t stream,
                       uint64_t first, int64_t n)
{
    const uint64_t per = (uint64_t)d->per_block;
    d->k->draw->words(words, seed, first / per, stream, n / d->per_block);
}

static void make_uniforms(const draw *d, void *out, uint64_t first, int64_t n, bool stream)
{
    uint32_t words[TSRI_DRAW_WORDS];
    const tsr_random_params *p = d->params;
    make_words(d, words, p->seed, TSRI_STREAM_UNIFORM, first, n);
    if (d->from == TSR_F64) d->k->draw->uniform_f64(out, words, n, &d->range, stream);
    else                    d->k->draw->uniform_f32(out, words, n, &d->range, stream);
}

static void make_normals(const draw *d, void *out, uint64_t first, int64_t n, bool stream)
{
    uint32_t words[TSRI_DRAW_WORDS];
    const tsr_random_params *p = d->params;
    make_words(d, words, p->seed, TSRI_STREAM_NORMAL, first, n);
    if (d->from == TSR_F64) d->k->draw->normal_f64(out, words, n, stream);
    else                    d->k->draw->normal_f32(out, words, n, stream);
}

static int64_t make_uniforms_fast(const draw *d, float *z, uint64_t first, int64_t n)
{
    const tsr_random_params *p = d->params;
    return d->k->draw->uniforms_f32(z, p->seed, first / 4, n, &d->range, d->loop.stream);
}

static int64_t make_normals_fast(const draw *d, float *z, uint64_t first, int64_t n)
{
    const tsr_random_params *p = d->params;
    return d->k->draw->normals_f32(z, p->seed, first / 4, n, d->loop.stream);
}

static void make_integers(const draw *d, void *out, uint64_t first, int64_t n, bool stream)
{
    uint32_t words[TSRI_DRAW_WORDS];
    const tsr_integers_params *p = d->params;
    const uint64_t r = (uint64_t)p->high - (uint64_t)p->low;
    (void)stream;
    make_words(d, words, p->seed, TSRI_STREAM_INTEGERS, first, n);
    if (d->per_block == 4)
        tsri_place_integers_32(out, words, p->seed, first, n, p->low, r);
    else
        tsri_place_integers_64(out, words, p->seed, first, n, p->low, r);
}

static void make_exponentials(const draw *d, void *out, uint64_t first, int64_t n, bool stream)
{
    uint32_t words[TSRI_DRAW_WORDS];
    const tsr_exponential_params *p = d->params;
    double *z = out;
    (void)stream;
    make_words(d, words, p->seed, TSRI_STREAM_EXPONENTIAL, first, n);
    if (d->per_block == 2)
        for (int64_t i = 0; i < n; i++) z[i] = tsri_exponential_f64(words + 2 * i) / p->rate;
    else
        for (int64_t i = 0; i < n; i++) z[i] = (double)tsri_exponential_f32(words[i]) / p->rate;
}

/* Writing to the result ------------------------------------------------------------------ */

/* Copies n elements from `numbers` to the result, where they are `step` bytes apart. */
static void write_run(const draw *d, char *at, int64_t step, const char *numbers, int64_t n)
{
    const tsri_cpu_kernels *k = d->k;
    const int64_t number = tsri_dtype_size(d->from), part = d->size / d->parts;
    tsri_tile t = { .stream = d->loop.stream, .rows = 1, .cols = n, .ptr = { at, (char *)(uintptr_t)numbers },
                    .col_step = { step, number * d->parts } };
    if (d->from == d->to) {
        k->copy[__builtin_ctz((unsigned)d->size)](&t, NULL);
        return;
    }
    if (d->parts == 2 && step != d->size) {  /* complex elements that are not contiguous */
        for (int64_t i = 0; i < n; i++)
            k->narrow[k->wide[d->from]][d->to](at + i * step, part, numbers + 2 * i * number, 2);
        return;
    }
    t.cols = n * d->parts;
    t.col_step[0] = d->parts == 2 ? part : step;
    t.col_step[1] = number;
    if (k->cast[d->from][d->to] && t.col_step[0] == part) k->cast[d->from][d->to](&t, NULL);
    else k->narrow[k->wide[d->from]][d->to](at, t.col_step[0], numbers, t.cols);
}

/* How many of n elements to make at once, of which the first is number `skip` of its block. With non-temporal
 * stores the first run ends at a cache line, so that the next are aligned. */
static int64_t run_length(const draw *d, const char *at, int64_t skip, int64_t n)
{
    const int64_t to_line = d->loop.stream ? (int64_t)(-(uintptr_t)at % 64) / d->size : 0;
    const int64_t most = to_line > 0 ? to_line : (BLOCKS * d->per_block - skip) / d->parts;
    return most < n ? most : n;
}

/* Can numbers be made in the result? Not if `more` than wanted are made, as blocks are whole. */
static bool is_direct(const draw *d, const char *at, int64_t step, int64_t more)
{
    return more == 0 && d->from == d->to && step == d->size && (!d->loop.stream || (uintptr_t)at % 64 == 0);
}

/* Elements `first` to first + n - 1, which are `step` bytes apart, the first at `at`. */
static void write_elements(const draw *d, char *at, int64_t step, int64_t first, int64_t n)
{
    run numbers;
    for (int64_t i = 0, made; i < n; i += made) {
        const uint64_t number = (uint64_t)(first + i) * (uint64_t)d->parts;
        const int64_t skip = (int64_t)(number % (uint64_t)d->per_block);
        if (d->make_fast && skip == 0 && is_direct(d, at + i * step, step, 0)) {
            made = d->make_fast(d, (float *)(void *)(at + i * step), number, (n - i) * d->parts) / d->parts;
            if (made > 0) continue;
        }
        made = run_length(d, at + i * step, skip, n - i);
        const int64_t count = (skip + made * d->parts + d->per_block - 1) / d->per_block * d->per_block;
        if (is_direct(d, at + i * step, step, count - made * d->parts)) {
            d->make(d, at + i * step, number, count, d->loop.stream);
            continue;
        }
        d->make(d, &numbers, number - (uint64_t)skip, count, false);
        write_run(d, at + i * step, step, (const char *)&numbers + skip * tsri_dtype_size(d->from), made);
    }
}

static bool write_tile(const tsri_tile *t, void *context)
{
    draw *d = context;
    for (int64_t r = 0; r < t->rows; r++, d->next += t->cols)
        write_elements(d, t->ptr[0] + r * t->row_step[0], t->col_step[0], d->next, t->cols);
    return true;
}

/* Indices begin .. end - 1 of the outermost dim. */
static tsr_status write_part(void *context, int64_t begin, int64_t end)
{
    draw d = *(const draw *)context;
    if (d.loop.ndim > 0) {
        d.next = begin * (tsri_loop_count(&d.loop) / d.loop.dim[0].n);
        d.loop.base[0] += begin * d.loop.dim[0].step[0];
        d.loop.dim[0].n = end - begin;
    }
    (void)tsri_loop_visit(&d.loop, write_tile, &d);
    return TSR_OK;
}

static tsr_status draw_all(draw *d, const tsr_tensor *z)
{
    d->k = tsri_cpu_kernels_get();
    d->to = tsr_dtype_real(z->dtype);
    d->size = tsri_dtype_size(z->dtype);
    d->parts = d->size / tsri_dtype_size(d->to);
    tsri_loop_build(&d->loop, z->ndim, z->shape, 1, (const tsri_operand[]){ { z->data, z->stride, d->size } },
                    TSRI_ORDERED);
    const int64_t count = tsri_loop_count(&d->loop);
    if (count == 0) return TSR_OK;
    d->loop.stream = tsri_cpu_streams(count * d->size);
    const int64_t n = d->loop.ndim > 0 ? d->loop.dim[0].n : 1, each = count / n;
    return tsri_parallel_for(n, tsri_grain(TSRI_WORK_NUMBER * (double)each), write_part, d);
}

/* Ops ------------------------------------------------------------------------------------ */

tsr_status tsri_cpu_random(const tsr_op *op)
{
    const tsr_tensor *z = op->out[0];
    const tsr_random_params *p = op->params;
    const tsr_dtype real = tsr_dtype_real(z->dtype);
    draw d = { .params = p, .from = real == TSR_F64 ? TSR_F64 : TSR_F32, .per_block = real == TSR_F64 ? 2 : 4,
               .make = op->kind == TSR_OP_UNIFORM ? make_uniforms : make_normals };
    if (op->kind == TSR_OP_UNIFORM) d.range = tsri_range_of(real, p->low, p->high);
    if (real == TSR_F32 && tsri_cpu_kernels_get()->draw->normals_f32)
        d.make_fast = op->kind == TSR_OP_UNIFORM ? make_uniforms_fast : make_normals_fast;
    return draw_all(&d, z);
}

tsr_status tsri_cpu_integers(const tsr_op *op)
{
    const tsr_integers_params *p = op->params;
    const bool narrow = (uint64_t)p->high - (uint64_t)p->low <= (uint64_t)1 << 32;
    draw d = { .params = p, .from = TSR_I64, .per_block = narrow ? 4 : 2, .make = make_integers };
    return draw_all(&d, op->out[0]);
}

tsr_status tsri_cpu_exponential(const tsr_op *op)
{
    draw d = { .params = op->params, .from = TSR_F64, .per_block = op->out[0]->dtype == TSR_F64 ? 2 : 4,
               .make = make_exponentials };
    return draw_all(&d, op->out[0]);
}

/* Portable kernels ----------------------------------------------------------------------- */

static void words_portable(uint32_t *out, uint64_t seed, uint64_t block, uint32_t stream, int64_t blocks)
{
    for (int64_t i = 0; i < blocks; i += TSRI_LANES) {
        uint32_t c[4][TSRI_LANES];
        tsri_random_words_lanes(c, seed, block + (uint64_t)i, stream);
        for (int l = 0; l < TSRI_LANES; l++)
            for (int w = 0; w < 4; w++) out[4 * (i + l) + w] = c[w][l];
    }
}

static void uniform_f32_portable(float *z, const uint32_t *words, int64_t n, const tsri_range *range,
                                 bool stream)
{
    (void)stream;
    const tsri_range r = *range;
    for (int64_t i = 0; i < n; i++) z[i] = tsri_uniform_value_f32(words[i], &r);
}

static void uniform_f64_portable(double *z, const uint32_t *words, int64_t n, const tsri_range *range,
                                 bool stream)
{
    (void)stream;
    const tsri_range r = *range;
    for (int64_t i = 0; i < n; i++)
        z[i] = tsri_uniform_value_f64(tsri_random_bits(words[2 * i], words[2 * i + 1]), &r);
}

static void normal_f32_portable(float *z, const uint32_t *words, int64_t n, bool stream)
{
    (void)stream;
    for (int64_t i = 0; i < n; i += 2) tsri_randn_pair_f32(z + i, z + i + 1, words[i], words[i + 1]);
}

static void normal_f64_portable(double *z, const uint32_t *words, int64_t n, bool stream)
{
    (void)stream;
    for (int64_t i = 0; i < n; i += 2)
        tsri_randn_pair_f64(z + i, z + i + 1, tsri_random_bits(words[2 * i], words[2 * i + 1]),
                            tsri_random_bits(words[2 * i + 2], words[2 * i + 3]));
}

void tsri_cpu_draw_portable(tsri_cpu_kernels *k)
{
    static const tsri_draw_kernels draws = { words_portable, uniform_f32_portable, uniform_f64_portable,
                                             normal_f32_portable, normal_f64_portable, NULL, NULL };
    k->draw = &draws;
}
