/* test_attention.c - attention against direct loops in long double, over shapes, groups,
 * masks, strides and dtypes; by the backend's kernel and in parts.
 *
 * What must come out is worked out element by element from the definition. Bounds on the
 * error come from the number of roundings and the sizes that go into a sum, and do not
 * depend on how an op goes about it.
 */
#include <math.h>

#include "core/same_exp.h"
#include "ops/products.h"
#include "ops/dispatch.h"

typedef long double wide;

static const tsr_dtype floats[] = { TSR_F8E4M3, TSR_F8E5M2, TSR_F16, TSR_BF16, TSR_F32, TSR_F64 };
enum { FLOATS = sizeof floats / sizeof *floats, EACH = 600 };

/* Numbers --------------------------------------------------------------------------------- */

static wide load(const tsr_tensor *t, int64_t place) { return value_load(t->dtype, element_at(t, place)).re; }

static void store(const tsr_tensor *t, int64_t place, wide x)
{
    value_store(t->dtype, element_at(t, place), (value){ 0, x, 0 });
}

static wide unit_of(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_F8E4M3: return ldexpl(1, -3);
    case TSR_F8E5M2: return ldexpl(1, -2);
    case TSR_F16:    return ldexpl(1, -10);
    case TSR_BF16:   return ldexpl(1, -7);
    case TSR_F32:    return ldexpl(1, -23);
    default:         return ldexpl(1, -52);
    }
}

/* The smallest step of a dtype, where numbers are no longer normal. */
static wide step_of(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_F8E4M3: return ldexpl(1, -9);
    case TSR_F8E5M2: return ldexpl(1, -16);
    case TSR_F16:    return ldexpl(1, -24);
    default:         return ldexpl(1, -120);
    }
}

/* Multiples of 1/16 between -size and size. */
static void fill_numbers(uint64_t *random, const tsr_tensor *t, int size)
{
    for (int64_t i = 0; i < tsr_numel(t); i++)
        store(t, i, (wide)(test_below(random, 32 * size + 1) - 16 * size) / 16);
}

static void fill_mask(uint64_t *random, const tsr_tensor *t)
{
    for (int64_t i = 0; i < tsr_numel(t); i++) {
        if (t->dtype == TSR_BOOL) *element_at(t, i) = test_below(random, 3) != 0;
        else
            store(t, i,
                  test_below(random, 4) || t->dtype == TSR_F8E4M3 ? (wide)(test_below(random, 33) - 16) / 8
                                                                  : -INFINITY);
    }
}

/* What must come out ------------------------------------------------------------------------ */

typedef struct shapes {
    int     batch;                   /* dims before heads */
    int64_t outer[TSR_MAX_NDIM];     /* and their sizes */
    int64_t count, heads, kv_heads, m, n, d, e;
} shapes;

typedef struct question {
    shapes            s;
    const tsr_tensor *q, *k, *v, *mask;
    double            scale;         /* as it counts */
    bool              causal;
} question;

/* The mask of row i of a head for key j, as a number to add. */
static wide mask_at(const question *x, int64_t batch, int64_t head, int64_t i, int64_t j)
{
    int64_t place = 0, index[TSR_MAX_NDIM];
    const int ndim = x->s.batch + 3;
    if (!x->mask) return 0;
    index[ndim - 1] = j;
    index[ndim - 2] = i;
    index[ndim - 3] = head;
    for (int d = x->s.batch - 1; d >= 0; d--) {
        index[d] = batch % x->s.outer[d];
        batch /= x->s.outer[d];
    }
    for (int d = 0; d < x->mask->ndim; d++)  /* aligned at the right; 1 repeats */
        place = place * x->mask->shape[d] + (x->mask->shape[d] == 1 ? 0 : index[ndim - x->mask->ndim + d]);
    if (x->mask->dtype == TSR_BOOL) return *element_at(x->mask, place) ? 0 : -INFINITY;
    return load(x->mask, place);
}

/* q, k and v in row-major order of their indices. */
typedef struct numbers {
    wide *q, *k, *v;
} numbers;

static wide *load_all(const tsr_tensor *t)
{
    wide *x = malloc(((size_t)tsr_numel(t) + 1) * sizeof *x);
    for (int64_t i = 0; i < tsr_numel(t); i++) x[i] = load(t, i);
    return x;
}

/* Scores of a row, -infinity for what it does not see, then weights; and how far off they may be. */
typedef struct row {
    wide score[4200], error;
    wide high, sum;
} row;

static wide unit_of_scores(const question *x) { return unit_of(x->q->dtype == TSR_F64 ? TSR_F64 : TSR_F32); }

static void score_row(row *r, const question *x, const numbers *v, int64_t batch, int64_t head, int64_t i)
{
    const shapes *s = &x->s;
    const wide *q = v->q + ((batch * s->heads + head) * s->m + i) * s->d;
    r->error = 0;
    r->high = -INFINITY;
    for (int64_t j = 0; j < s->n; j++) {
        const wide mask = x->causal && j > i + s->n - s->m ? -INFINITY : mask_at(x, batch, head, i, j);
        const wide *k = v->k + ((batch * s->kv_heads + head / (s->heads / s->kv_heads)) * s->n + j) * s->d;
        wide sum = 0, size = 0;
        for (int64_t p = 0; p < s->d; p++) {
            sum += q[p] * k[p];
            size += fabsl(q[p] * k[p]);
        }
        r->score[j] = mask == -INFINITY ? -INFINITY : sum * (wide)x->scale + mask;
        if (r->score[j] == -INFINITY) continue;
        if (r->score[j] != r->score[j] || r->score[j] > r->high)
            r->high = r->high != r->high ? r->high : r->score[j];
        r->error = fmaxl(r->error, (size * fabsl((wide)x->scale) * (wide)(s->d + 4) + fabsl(mask) * 3) *
                                       unit_of_scores(x));
    }
}

static void weigh_row(row *r, int64_t n)
{
    r->sum = 0;
    for (int64_t j = 0; j < n && isfinite(r->high); j++) r->sum += r->score[j] = expl(r->score[j] - r->high);
}

/* Element y of the row, and how far from it the result may lie. */
static wide mix_row(wide *error, const row *r, const question *x, const numbers *all, int64_t batch,
                    int64_t head, int64_t y)
{
    const shapes *s = &x->s;
    const wide *v = all->v + (batch * s->kv_heads + head / (s->heads / s->kv_heads)) * s->n * s->e + y;
    wide mixed = 0, size = 0;
    *error = 0;
    if (r->high == -INFINITY) return 0;
    if (!isfinite(r->high)) return NAN;
    for (int64_t j = 0; j < s->n; j++) {
        if (r->score[j] == 0) continue;
        mixed += r->score[j] * v[j * s->e];
        size += r->score[j] * fabsl(v[j * s->e]);
    }
    *error = size / r->sum * (4 * r->error + (wide)(s->n + 40) * unit_of_scores(x));
    return mixed / r->sum;
}

static bool is_near(tsr_dtype dtype, wide got, wide wanted, wide error)
{
    if (wanted != wanted) return got != got;
    if (isinf(wanted)) return dtype == TSR_F8E4M3 ? got != got : got == wanted;
    return fabsl(got - wanted) <= error + fabsl(wanted) * unit_of(dtype) / 2 + step_of(dtype);
}

/* Is z, (..., heads, m, e) in row-major order of its indices, what it must be? */
static void expect_attention(const tsr_tensor *z, const question *x, const char *what)
{
    static row r;
    const shapes *s = &x->s;
    const numbers all = { load_all(x->q), load_all(x->k), load_all(x->v) };
    int64_t place = 0;
    for (int64_t b = 0; b < s->count; b++)
        for (int64_t h = 0; h < s->heads; h++)
            for (int64_t i = 0; i < s->m; i++) {
                score_row(&r, x, &all, b, h, i);
                weigh_row(&r, s->n);
                for (int64_t y = 0; y < s->e; y++, place++) {
                    wide error = 0;
                    const wide wanted = mix_row(&error, &r, x, &all, b, h, y), got = load(z, place);
                    EXPECT_MSG(is_near(z->dtype, got, wanted, error),
                               "%s, %s: batch %lld head %lld row %lld, %lld: %Lg, not %Lg (within %Lg); "
                               "heads %lld / %lld, "
                               "m %lld n %lld d %lld e %lld%s",
                               what, tsr_dtype_name(z->dtype), (long long)b, (long long)h, (long long)i,
                               (long long)y, got, wanted, error, (long long)s->heads, (long long)s->kv_heads,
                               (long long)s->m, (long long)s->n, (long long)s->d, (long long)s->e,
                               x->causal ? ", causal" : "");
                }
            }
    free(all.q);
    free(all.k);
    free(all.v);
}

/* Operands --------------------------------------------------------------------------------- */

static int shape_of(int64_t *shape, const shapes *s, int64_t heads, int64_t rows, int64_t cols)
{
    for (int i = 0; i < s->batch; i++) shape[i] = s->outer[i];
    shape[s->batch] = heads;
    shape[s->batch + 1] = rows;
    shape[s->batch + 2] = cols;
    return s->batch + 3;
}

static shapes random_shapes(uint64_t *random)
{
    shapes s = { .batch = (int)test_below(random, 3), .count = 1 };
    for (int i = 0; i < s.batch; i++) s.count *= s.outer[i] = 1 + test_below(random, 2);
    s.kv_heads = 1 + test_below(random, 3);
    s.heads = s.kv_heads * (1 + test_below(random, 3));
    s.m = test_below(random, 8);
    s.n = test_below(random, 10);
    s.d = test_below(random, 7);
    s.e = test_below(random, 6);
    if (test_below(random, 30) == 0) s.heads = s.kv_heads = 0;
    return s;
}

/* A mask that lacks leading dims, and has 1s here and there. */
static strided random_mask(uint64_t *random, const shapes *s)
{
    int64_t shape[TSR_MAX_NDIM];
    const int ndim = shape_of(shape, s, s->heads, s->m, s->n), less = (int)test_below(random, ndim + 1);
    for (int i = 0; i < ndim; i++) if (test_below(random, 4) == 0) shape[i] = 1;
    const tsr_dtype dtype = test_below(random, 2) ? TSR_BOOL : floats[test_below(random, FLOATS)];
    strided mask = strided_make(random, dtype, ndim - less, shape + less, true, false);
    fill_mask(random, mask.t);
    return mask;
}

typedef struct operands {
    strided q, k, v, mask;
} operands;

static void make_operands(operands *o, uint64_t *random, tsr_dtype dtype, const shapes *s, bool masked,
                          bool plain)
{
    int64_t shape[TSR_MAX_NDIM];
    int ndim = shape_of(shape, s, s->heads, s->m, s->d);
    o->q = strided_make(random, dtype, ndim, shape, true, plain);
    ndim = shape_of(shape, s, s->kv_heads, s->n, s->d);
    o->k = strided_make(random, dtype, ndim, shape, true, plain);
    ndim = shape_of(shape, s, s->kv_heads, s->n, s->e);
    o->v = strided_make(random, dtype, ndim, shape, true, plain);
    o->mask = masked ? random_mask(random, s) : (strided){ NULL, NULL };
    fill_numbers(random, o->q.t, 2);
    fill_numbers(random, o->k.t, 2);
    fill_numbers(random, o->v.t, 3);
}

static void free_operands(operands *o)
{
    strided_free(&o->q);
    strided_free(&o->k);
    strided_free(&o->v);
    strided_free(&o->mask);
}

static question ask(const operands *o, const shapes *s, double scale, bool causal)
{
    return (question){ *s, o->q.t, o->k.t, o->v.t, o->mask.t,
                       scale != 0 ? scale : s->d > 0 ? 1 / sqrt((double)s->d) : 1, causal };
}

/* The answer by the kernel or in parts, made or given. */
static void answer(const question *x, const tsr_attention_options *how, uint64_t *random, bool parts)
{
    int64_t shape[TSR_MAX_NDIM];
    const int ndim = shape_of(shape, &x->s, x->s.heads, x->s.m, x->s.e);
    strided given = { NULL, NULL };
    tsr_tensor *z = NULL;
    if (test_below(random, 2)) {
        given = strided_make(random, x->q->dtype, ndim, shape, false, false);
        z = given.t;
    }
    tsri_prefer_parts(parts);
    EXPECT_OK(tsr_attention(&z, x->q, x->k, x->v, x->mask, how));
    tsri_prefer_parts(false);
    EXPECT(z && z->ndim == ndim && tsr_numel(z) == x->s.count * x->s.heads * x->s.m * x->s.e);
    if (z) expect_attention(z, x, parts ? "in parts" : "kernel");
    if (z != given.t) {
        EXPECT(tsr_is_contiguous(z));
        tsr_release(&z);
    }
    strided_free(&given);
}

/* Small ------------------------------------------------------------------------------------- */

TEST(test_attention_matches_direct_loops_for_every_dtype_mask_and_stride)
{
    static const double scales[] = { 0, 0, 0.5, -1, 2 };
    for (int d = 0; d < FLOATS; d++)
        for (int i = 0; i < EACH && test_state.failures < 8; i++) {
            uint64_t random = (uint64_t)(d * 100000 + i);
            operands o;
            const shapes s = random_shapes(&random);
            const tsr_attention_options how = { scales[test_below(&random, 5)], test_below(&random, 2) };
            make_operands(&o, &random, floats[d], &s, test_below(&random, 2), false);
            const question x = ask(&o, &s, how.scale, how.causal);
            answer(&x, &how, &random, false);
            answer(&x, &how, &random, true);
            free_operands(&o);
        }
}

TEST(test_dtypes_are_promoted)
{
    uint64_t random = 5;
    const shapes s = { .batch = 0, .count = 1, .heads = 2, .kv_heads = 1, .m = 3, .n = 4, .d = 2, .e = 3 };
    operands o, p;
    tsr_tensor *z = NULL;
    make_operands(&o, &random, TSR_F16, &s, false, false);
    make_operands(&p, &random, TSR_BF16, &s, false, false);
    EXPECT_OK(tsr_attention(&z, o.q.t, p.k.t, o.v.t, NULL, NULL));
    question x = ask(&o, &s, 0, false);
    x.k = p.k.t;
    EXPECT(z && z->dtype == TSR_F32);
    if (z) expect_attention(z, &x, "mixed");
    tsr_release(&z);
    free_operands(&o);
    free_operands(&p);
}

/* Large ------------------------------------------------------------------------------------- */

/* Lengths about the sizes of blocks. */
TEST(test_lengths_about_the_sizes_of_blocks_match_direct_loops)
{
    static const shapes all[] = {
        { 0, { 0 }, 1, 1, 1, 64, 128, 8, 8 },   { 0, { 0 }, 1, 2, 1, 33, 127, 5, 9 },
        { 0, { 0 }, 1, 3, 3, 65, 129, 16, 7 },  { 0, { 0 }, 1, 4, 2, 63, 257, 3, 1 },
        { 0, { 0 }, 1, 8, 1, 1, 385, 20, 17 },  { 1, { 2 }, 2, 2, 2, 130, 131, 4, 33 },
        { 0, { 0 }, 1, 1, 1, 5, 300, 260, 3 },  { 0, { 0 }, 1, 1, 1, 200, 70, 6, 40 },
        { 0, { 0 }, 1, 2, 1, 129, 257, 3, 50 }, { 0, { 0 }, 1, 1, 1, 257, 255, 4, 3 },
        { 0, { 0 }, 1, 2, 1, 2, 520, 300, 70 },
    };
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_BF16 };
    for (size_t c = 0; c < sizeof all / sizeof *all; c++)
        for (int d = 0; d < 3; d++)
            for (int way = 0; way < 4; way++) {
                uint64_t random = c * 100 + (uint64_t)(d * 10 + way);
                operands o;
                const tsr_attention_options how = { 0, way & 1 };
                make_operands(&o, &random, dtypes[d], &all[c], way > 1, false);
                const question x = ask(&o, &all[c], 0, how.causal);
                answer(&x, &how, &random, false);
                if (d == 0) answer(&x, &how, &random, true);
                free_operands(&o);
            }
}

static int64_t bytes_asked, largest_asked;

static bool count_bytes(void *context, size_t bytes)
{
    (void)context;
    bytes_asked += (int64_t)bytes;
    if ((int64_t)bytes > largest_asked) largest_asked = (int64_t)bytes;
    return true;
}

/* 4096 x 4096 scores are 64 MiB of f32. */
TEST(test_memory_grows_with_the_sequence_and_not_with_its_square)
{
    enum { LENGTH = 4096, MIB = 1 << 20 };
    tsr_tensor *q = NULL, *z[2] = { NULL };
    EXPECT_OK(tsr_set_threads(2));  /* each has scratch memory of its own */
    EXPECT_OK(tsr_randn(&q, TSR_F32, TSR_SHAPE(1, LENGTH, 4), 1));
    for (int parts = 0; parts < 2; parts++) {
        tsr_memory_stats before, after;
        tsr_memory_reset_peak();
        tsr_memory_get_stats(&before);
        bytes_asked = largest_asked = 0;
        tsr_set_alloc_hook(count_bytes, NULL);
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_attention(&z[parts], q, q, q, NULL, &(tsr_attention_options){ .causal = true }));
        tsri_prefer_parts(false);
        tsr_set_alloc_hook(NULL, NULL);
        tsr_memory_get_stats(&after);
        EXPECT_MSG(after.peak_bytes - before.live_bytes < 8 * MIB && largest_asked < 4 * MIB,
                   "peak %lld, largest %lld", (long long)(after.peak_bytes - before.live_bytes),
                   (long long)largest_asked);
        EXPECT_MSG(parts || bytes_asked < 4 * MIB, "%lld", (long long)bytes_asked);
    }
    bool close = false;
    if (z[0] && z[1])
        EXPECT_OK(tsr_allclose(&close, z[0], z[1], &(tsr_close_opts){ 1e-4, 1e-5, false }, NULL));
    EXPECT(close);
    EXPECT_OK(tsr_set_threads(0));
    tsr_release(&z[0]);
    tsr_release(&z[1]);
    tsr_release(&q);
}

/* Hard numbers -------------------------------------------------------------------------------- */

TEST(test_large_scores_do_not_overflow)
{
    for (int d = 0; d < FLOATS; d++)
        for (int parts = 0; parts < 2; parts++) {
            tsr_tensor *q = NULL, *k = NULL, *v = NULL, *z = NULL;
            EXPECT_OK(tsr_full(&q, floats[d], TSR_SHAPE(1, 1, 1), TSR_SCALAR(200)));
            EXPECT_OK(tsr_empty(&k, floats[d], TSR_SHAPE(1, 400, 1)));
            EXPECT_OK(tsr_empty(&v, floats[d], TSR_SHAPE(1, 400, 1)));
            for (int64_t j = 0; k && v && j < 400; j++) {
                store(k, j, j == 300 ? 200 : (wide)(j % 7) - 100);  /* exp(40000) is infinite */
                store(v, j, j == 300 ? 3 : 100);
            }
            tsri_prefer_parts(parts);
            EXPECT_OK(tsr_attention(&z, q, k, v, NULL, NULL));
            tsri_prefer_parts(false);
            EXPECT(z && load(z, 0) == 3);
            tsr_release(&z);
            tsr_release(&v);
            tsr_release(&k);
            tsr_release(&q);
        }
}

TEST(test_rows_that_see_nothing_are_zero)
{
    uint64_t random = 9;
    const shapes s = { .batch = 0, .count = 1, .heads = 2, .kv_heads = 2, .m = 70, .n = 5, .d = 3, .e = 2 };
    for (int parts = 0; parts < 2; parts++) {
        operands o;
        tsr_tensor *z = NULL, *mask = NULL;
        make_operands(&o, &random, TSR_F32, &s, false, false);
        store(o.q.t, 0, NAN);  /* of a row that looks nowhere */
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_attention(&z, o.q.t, o.k.t, o.v.t, NULL, &(tsr_attention_options){ .causal = true }));
        for (int64_t i = 0; z && i < 65 * 2; i++) EXPECT(load(z, i) == 0);
        const question x = ask(&o, &s, 0, true);
        if (z) expect_attention(z, &x, "more rows than keys");
        EXPECT_OK(tsr_zeros(&mask, TSR_BOOL, TSR_SHAPE(1, 1)));
        EXPECT_OK(tsr_attention(&z, o.q.t, o.k.t, o.v.t, mask, NULL));
        for (int64_t i = 0; z && i < tsr_numel(z); i++) EXPECT(load(z, i) == 0);
        tsr_release(&mask);
        EXPECT_OK(tsr_full(&mask, TSR_F16, TSR_SHAPE(5), TSR_SCALAR(-INFINITY)));
        EXPECT_OK(tsr_attention(&z, o.q.t, o.k.t, o.v.t, mask, NULL));
        for (int64_t i = 0; z && i < tsr_numel(z); i++) EXPECT(load(z, i) == 0);
        tsri_prefer_parts(false);
        tsr_release(&mask);
        tsr_release(&z);
        free_operands(&o);
    }
}

/* Memory that no row may look at may hold anything. */
TEST(test_what_may_not_be_seen_may_be_nan)
{
    enum { KEYS = 300, SEEN = 140 };
    static const wide wild[] = { NAN, INFINITY, -INFINITY };
    uint64_t random = 11;
    const shapes s = { .batch = 0, .count = 1, .heads = 2, .kv_heads = 1, .m = 9, .n = KEYS, .d = 5, .e = 7 };
    for (int parts = 0; parts < 2; parts++)
        for (int floating = 0; floating < 2; floating++) {
            operands o;
            tsr_tensor *z = NULL;
            make_operands(&o, &random, TSR_F32, &s, false, true);
            o.mask = strided_make(&random, floating ? TSR_F32 : TSR_BOOL, 1, (const int64_t[]){ KEYS }, false,
                                  false);
            for (int64_t j = 0; j < KEYS; j++) {
                if (floating) store(o.mask.t, j, j < SEEN ? 0.25 : -INFINITY);
                else          *element_at(o.mask.t, j) = j < SEEN;
                for (int64_t p = 0; j >= SEEN && p < s.d; p++) store(o.k.t, j * s.d + p, wild[(j + p) % 3]);
                for (int64_t y = 0; j >= SEEN && y < s.e; y++) store(o.v.t, j * s.e + y, wild[(j + y) % 3]);
            }
            const question x = ask(&o, &s, 0, false);
            tsri_prefer_parts(parts);
            EXPECT_OK(tsr_attention(&z, o.q.t, o.k.t, o.v.t, o.mask.t, NULL));
            tsri_prefer_parts(false);
            if (z) expect_attention(z, &x, parts ? "hidden NaN, in parts" : "hidden NaN");
            tsr_release(&z);
            free_operands(&o);
        }
}

/* What may be seen counts: NaN and infinities reach the rows that look at them. */
TEST(test_nan_and_infinities_that_are_seen_come_through)
{
    static const wide wild[] = { NAN, INFINITY, -INFINITY };
    for (int i = 0; i < 300; i++)
        for (int parts = 0; parts < 2; parts++) {
            uint64_t random = (uint64_t)i;
            shapes s = random_shapes(&random);
            operands o;
            tsr_tensor *z = NULL;
            const tsr_attention_options how = { 0.25, test_below(&random, 2) };
            make_operands(&o, &random, i % 2 ? TSR_F32 : TSR_F64, &s, test_below(&random, 2), true);
            fill_numbers(&random, o.q.t, 1);  /* so that no weight vanishes */
            fill_numbers(&random, o.k.t, 1);
            const tsr_tensor *const targets[] = { o.q.t, o.k.t, o.v.t, o.v.t };
            for (int c = 0; c < 3; c++) {
                const tsr_tensor *t = targets[test_below(&random, 4)];
                if (tsr_numel(t) > 0)
                    store(t, test_below(&random, tsr_numel(t)), wild[test_below(&random, 3)]);
            }
            const question x = ask(&o, &s, how.scale, how.causal);
            tsri_prefer_parts(parts);
            EXPECT_OK(tsr_attention(&z, o.q.t, o.k.t, o.v.t, o.mask.t, &how));
            tsri_prefer_parts(false);
            if (z) expect_attention(z, &x, parts ? "wild, in parts" : "wild");
            tsr_release(&z);
            free_operands(&o);
        }
}

/* The exponential that weights are made with. */
TEST(test_exponentials_are_right_to_their_last_digits)
{
    for (int i = 0; i <= 100000; i++) {
        const float f = -87.3f * (float)i / 100000;
        const double d = -708.0 * i / 100000;
        EXPECT(fabsl((wide)tsri_exp_f32(f) - expl((wide)f)) <= 1.2e-7L * expl((wide)f));
        EXPECT(fabsl((wide)tsri_exp_f64(d) - expl((wide)d)) <= 3e-16L * expl((wide)d));
    }
    EXPECT(tsri_exp_f32(0) == 1 && tsri_exp_f32(-88) == 0 && tsri_exp_f32(-INFINITY) == 0 &&
           isnan(tsri_exp_f32(NAN)));
    EXPECT(tsri_exp_f64(0) == 1 && tsri_exp_f64(-709) == 0 && tsri_exp_f64(-INFINITY) == 0 &&
           isnan(tsri_exp_f64(NAN)));
}

/* Aliasing ------------------------------------------------------------------------------------ */

TEST(test_a_result_may_be_or_overlap_an_operand)
{
    for (int which = 0; which < 4; which++)
        for (int parts = 0; parts < 2; parts++) {
            tsr_tensor *t[3] = { NULL }, *block = NULL, *z = NULL, *want = NULL;
            EXPECT_OK(tsr_randn(&block, TSR_F32, TSR_SHAPE(2, 91, 6), 7));
            for (int i = 0; i < 3; i++)
                EXPECT_OK(tsr_randn(&t[i], TSR_F32, TSR_SHAPE(2, 90, 6), (uint64_t)i));
            if (which == 3) EXPECT_OK(tsr_slice(&t[0], block, 1, 0, 90, 1));
            EXPECT_OK(tsr_attention(&want, t[0], t[1], t[2], NULL, NULL));
            if (which == 3) EXPECT_OK(tsr_slice(&z, block, 1, 1, 91, 1));
            else z = tsr_retain(t[which]);
            tsri_prefer_parts(parts);
            EXPECT_OK(tsr_attention(&z, t[0], t[1], t[2], NULL, NULL));
            tsri_prefer_parts(false);
            bool close = false;
            if (z && want)
                EXPECT_OK(tsr_allclose(&close, z, want, &(tsr_close_opts){ 1e-5, 1e-6, false }, NULL));
            EXPECT(close);
            tsr_release(&z);
            tsr_release(&want);
            tsr_release(&block);
            for (int i = 0; i < 3; i++) tsr_release(&t[i]);
        }
}

/* Self-attention -------------------------------------------------------------------------------- */

TEST(test_self_attention_is_causal_attention_with_heads_in_the_middle)
{
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_BF16, TSR_F64 };
    for (int i = 0; i < 240; i++)
        for (int parts = 0; parts < 2; parts++) {
            uint64_t random = (uint64_t)i;
            const tsr_dtype dtype = dtypes[i % 3];
            shapes s = random_shapes(&random);
            s.batch = 0;
            s.count = 1;
            strided q = strided_make(&random, dtype, 3, (const int64_t[]){ s.m, s.heads, s.d }, true, false);
            strided k =
                strided_make(&random, dtype, 3, (const int64_t[]){ s.n, s.kv_heads, s.d }, true, false);
            strided v =
                strided_make(&random, dtype, 3, (const int64_t[]){ s.n, s.kv_heads, s.e }, true, false);
            strided z = strided_make(&random, dtype, 3, (const int64_t[]){ s.m, s.heads, s.e }, false, false);
            tsr_tensor *made = NULL, *turned[4] = { NULL };
            fill_numbers(&random, q.t, 2);
            fill_numbers(&random, k.t, 2);
            fill_numbers(&random, v.t, 3);
            const double scale = test_below(&random, 2) ? 0 : 0.75;
            tsri_prefer_parts(parts);
            EXPECT_OK(tsr_self_attention(&z.t, q.t, k.t, v.t, scale));
            EXPECT_OK(tsr_self_attention(&made, q.t, k.t, v.t, scale));
            tsri_prefer_parts(false);
            EXPECT(made && tsr_is_contiguous(made) && made->shape[0] == s.m && made->shape[1] == s.heads &&
                   made->shape[2] == s.e);
            const tsr_tensor *const whole[] = { q.t, k.t, v.t, z.t };
            for (int t = 0; t < 4; t++) EXPECT_OK(tsr_transpose(&turned[t], whole[t], 0, 1));
            const operands o = {
                { turned[0], NULL }, { turned[1], NULL }, { turned[2], NULL }, { NULL, NULL }
            };
            const question x = ask(&o, &s, scale, true);
            expect_attention(turned[3], &x, "self-attention");
            bool same = false;
            if (made) EXPECT_OK(tsr_equal(&same, made, z.t));
            EXPECT(same);
            tsr_release(&made);
            for (int t = 0; t < 4; t++) tsr_release(&turned[t]);
            strided_free(&q);
            strided_free(&k);
            strided_free(&v);
            strided_free(&z);
        }
}

/* Layers ------------------------------------------------------------------------------------------ */

/* x w^T + bias, of one row: features of `out`. */
static void project(wide *out, const wide *x, int64_t embed, const tsr_tensor *w, const tsr_tensor *bias)
{
    for (int64_t i = 0; i < w->shape[0]; i++) {
        out[i] = bias ? load(bias, i) : 0;
        for (int64_t p = 0; p < embed; p++) out[i] += x[p] * load(w, i * embed + p);
    }
}

typedef struct layer {
    int64_t batch, seq, embed, features, heads, kv_heads, d, e;
    strided x, w[4], bias[4];
    tsr_attention_weights weights;
} layer;

static void make_layer(layer *l, uint64_t *random, tsr_dtype dtype)
{
    l->batch = 1 + test_below(random, 2);
    l->seq = test_below(random, 6);
    l->embed = test_below(random, 6);
    l->features = 1 + test_below(random, 5);
    l->kv_heads = 1 + test_below(random, 2);
    l->heads = l->kv_heads * (1 + test_below(random, 2));
    l->d = 1 + test_below(random, 4);
    l->e = 1 + test_below(random, 3);
    const int64_t out[] = { l->heads * l->d, l->kv_heads * l->d, l->kv_heads * l->e, l->features };
    const int64_t in[] = { l->embed, l->embed, l->embed, l->heads * l->e };
    l->x = strided_make(random, dtype, 3, (const int64_t[]){ l->batch, l->seq, l->embed }, true, false);
    fill_numbers(random, l->x.t, 1);
    for (int i = 0; i < 4; i++) {
        l->w[i] = strided_make(random, dtype, 2, (const int64_t[]){ out[i], in[i] }, true, false);
        fill_numbers(random, l->w[i].t, 1);
        l->bias[i] = (strided){ NULL, NULL };
        if (test_below(random, 2) == 0) continue;
        l->bias[i] = strided_make(random, dtype, 1, &out[i], true, false);
        fill_numbers(random, l->bias[i].t, 1);
    }
    l->weights = (tsr_attention_weights){ l->w[0].t, l->w[1].t, l->w[2].t, l->w[3].t,
                                          l->bias[0].t, l->bias[1].t, l->bias[2].t, l->bias[3].t };
}

static void free_layer(layer *l)
{
    strided_free(&l->x);
    for (int i = 0; i < 4; i++) {
        strided_free(&l->w[i]);
        strided_free(&l->bias[i]);
    }
}

/* The mixture of one head for row i: its e numbers to `out`. */
static void attend(wide *out, const layer *l, wide q[][24], wide k[][24], wide v[][24], int64_t h, int64_t i,
                   bool causal)
{
    const int64_t g = h / (l->heads / l->kv_heads);
    wide sum = 0, high = -INFINITY, score[8];
    for (int64_t j = 0; j < l->seq; j++) {
        score[j] = 0;
        for (int64_t p = 0; p < l->d; p++) score[j] += q[i][h * l->d + p] * k[j][g * l->d + p];
        score[j] = causal && j > i ? -INFINITY : score[j] / sqrtl((wide)l->d);
        high = fmaxl(high, score[j]);
    }
    for (int64_t y = 0; y < l->e; y++) out[y] = 0;
    for (int64_t j = 0; j < l->seq; j++) {
        const wide weight = expl(score[j] - high);
        sum += weight;
        for (int64_t y = 0; y < l->e; y++) out[y] += weight * v[j][g * l->e + y];
    }
    for (int64_t y = 0; y < l->e; y++) out[y] /= sum;
}

static void expect_layer(const tsr_tensor *z, const layer *l, bool causal, wide tolerance)
{
    wide x[8][24], q[8][24], k[8][24], v[8][24], mixed[24], out[24];
    for (int64_t b = 0; b < l->batch; b++) {
        for (int64_t i = 0; i < l->seq; i++) {
            for (int64_t p = 0; p < l->embed; p++) x[i][p] = load(l->x.t, (b * l->seq + i) * l->embed + p);
            project(q[i], x[i], l->embed, l->w[0].t, l->bias[0].t);
            project(k[i], x[i], l->embed, l->w[1].t, l->bias[1].t);
            project(v[i], x[i], l->embed, l->w[2].t, l->bias[2].t);
        }
        for (int64_t i = 0; i < l->seq; i++) {
            for (int64_t h = 0; h < l->heads; h++) attend(mixed + h * l->e, l, q, k, v, h, i, causal);
            project(out, mixed, l->heads * l->e, l->w[3].t, l->bias[3].t);
            for (int64_t f = 0; f < l->features; f++) {
                const wide got = load(z, (b * l->seq + i) * l->features + f);
                EXPECT_MSG(fabsl(got - out[f]) <= tolerance * (1 + fabsl(out[f])), "%Lg, not %Lg", got,
                           out[f]);
            }
        }
    }
}

TEST(test_a_layer_of_attention_matches_direct_loops)
{
    for (int i = 0; i < 400; i++) {
        uint64_t random = (uint64_t)i;
        layer l;
        tsr_tensor *z = NULL;
        const bool causal = i & 1, wide_floats = i & 2;
        make_layer(&l, &random, wide_floats ? TSR_F64 : TSR_F32);
        EXPECT_OK(tsr_multi_head_attention(&z, l.x.t, &l.weights, l.heads, NULL,
                                           &(tsr_attention_options){ .causal = causal }));
        EXPECT(z && z->ndim == 3 && z->shape[1] == l.seq && z->shape[2] == l.features);
        if (z) expect_layer(z, &l, causal, wide_floats ? 1e-12L : 2e-4L);
        tsr_release(&z);
        free_layer(&l);
    }
}

/* What a fused matrix is for: rows of q, then of k, then of v. */
TEST(test_a_fused_matrix_is_three_slices)
{
    uint64_t random = 3;
    layer l;
    tsr_tensor *fused = NULL, *part[3] = { NULL }, *z = NULL, *want = NULL;
    do {
        make_layer(&l, &random, TSR_F64);
        if (l.seq < 2 || l.embed < 2) free_layer(&l);
    } while (l.seq < 2 || l.embed < 2);
    EXPECT_OK(tsr_concat(&fused, 3, (const tsr_tensor *const[]){ l.w[0].t, l.w[1].t, l.w[2].t }, 0));
    const int64_t sizes[] = { l.w[0].t->shape[0], l.w[1].t->shape[0], l.w[2].t->shape[0] };
    EXPECT_OK(tsr_split(part, fused, 0, 3, sizes));
    EXPECT_OK(tsr_multi_head_attention(&want, l.x.t, &l.weights, l.heads, NULL, NULL));
    tsr_attention_weights w = l.weights;
    w.q = part[0];
    w.k = part[1];
    w.v = part[2];
    EXPECT_OK(tsr_multi_head_attention(&z, l.x.t, &w, l.heads, NULL, NULL));
    bool same = false;
    EXPECT_OK(tsr_equal(&same, z, want));
    EXPECT(same);
    for (int i = 0; i < 3; i++) tsr_release(&part[i]);
    tsr_release(&fused);
    tsr_release(&want);
    tsr_release(&z);
    free_layer(&l);
}

/* Before there is data -------------------------------------------------------------------------- */

TEST(test_infer_and_cost_need_no_data)
{
    tsr_desc q, k, v, z;
    tsr_cost cost;
    const tsr_attention_params params = { 1, false }, causal = { 1, true };
    EXPECT_OK(tsr_desc_init(&q, TSR_F16, TSR_SHAPE(2, 8, 10, 4), NULL));
    EXPECT_OK(tsr_desc_init(&k, TSR_F16, TSR_SHAPE(2, 2, 20, 4), NULL));
    EXPECT_OK(tsr_desc_init(&v, TSR_F16, TSR_SHAPE(2, 2, 20, 6), NULL));
    EXPECT_OK(tsr_infer(&z, TSR_OP_ATTENTION, 3, (const tsr_desc *const[]){ &q, &k, &v }, &params));
    EXPECT(z.dtype == TSR_F16 && z.ndim == 4 && z.shape[0] == 2 && z.shape[1] == 8 && z.shape[2] == 10 &&
           z.shape[3] == 6);
    EXPECT_OK(tsr_op_cost(&cost, TSR_OP_ATTENTION, 3, (const tsr_desc *const[]){ &q, &k, &v }, &params));
    EXPECT(cost.flops == 2.0 * 2 * 8 * 10 * 20 * (4 + 6));
    EXPECT_OK(tsr_op_cost(&cost, TSR_OP_ATTENTION, 3, (const tsr_desc *const[]){ &q, &k, &v }, &causal));
    EXPECT(cost.flops == 2.0 * 2 * 8 * (11 + 12 + 13 + 14 + 15 + 16 + 17 + 18 + 19 + 20) * (4 + 6));
    EXPECT_OK(tsr_desc_init(&q, TSR_F32, TSR_SHAPE(5, 8, 4), NULL));
    EXPECT_OK(tsr_desc_init(&k, TSR_F32, TSR_SHAPE(7, 2, 4), NULL));
    EXPECT_OK(tsr_infer(&z, TSR_OP_SELF_ATTENTION, 3, (const tsr_desc *const[]){ &q, &k, &k }, &causal));
    EXPECT(z.ndim == 3 && z.shape[0] == 5 && z.shape[1] == 8 && z.shape[2] == 4);
    EXPECT_OK(tsr_op_cost(&cost, TSR_OP_SELF_ATTENTION, 3, (const tsr_desc *const[]){ &q, &k, &k }, &causal));
    EXPECT(cost.flops == 2.0 * 8 * (3 + 4 + 5 + 6 + 7) * 8);
}

/* Bad input ---------------------------------------------------------------------------------------- */

TEST(test_bad_arguments_are_refused_in_words)
{
    tsr_tensor *q = NULL, *k = NULL, *v = NULL, *z = NULL, *i = NULL, *mask = NULL, *flat = NULL,
               *other = NULL;
    const tsr_attention_options endless = { INFINITY, false };
    EXPECT_OK(tsr_zeros(&q, TSR_F32, TSR_SHAPE(2, 4, 3, 5)));
    EXPECT_OK(tsr_zeros(&k, TSR_F32, TSR_SHAPE(2, 2, 6, 5)));
    EXPECT_OK(tsr_zeros(&v, TSR_F32, TSR_SHAPE(2, 2, 6, 7)));
    EXPECT_OK(tsr_zeros(&i, TSR_I32, TSR_SHAPE(2, 2, 6, 5)));
    EXPECT_OK(tsr_zeros(&mask, TSR_BOOL, TSR_SHAPE(3, 5)));
    EXPECT_OK(tsr_zeros(&flat, TSR_F32, TSR_SHAPE(3, 5)));
    EXPECT_FAILS(tsr_attention(NULL, q, k, v, NULL, NULL), TSR_ENULL, "attention: out is NULL");
    EXPECT_FAILS(tsr_attention(&z, NULL, k, v, NULL, NULL), TSR_ENULL, "attention: q is NULL");
    EXPECT_FAILS(tsr_attention(&z, q, NULL, v, NULL, NULL), TSR_ENULL, "attention: k is NULL");
    EXPECT_FAILS(tsr_attention(&z, q, k, NULL, NULL, NULL), TSR_ENULL, "attention: v is NULL");
    EXPECT_FAILS(tsr_attention(&z, q, k, v, NULL, &endless), TSR_EINVAL, "scale is inf");
    EXPECT_FAILS(tsr_attention(&z, q, i, v, NULL, NULL), TSR_EDTYPE, "i32");
    EXPECT_FAILS(tsr_attention(&z, i, i, i, NULL, NULL), TSR_EDTYPE, "attention: q");
    EXPECT_FAILS(tsr_attention(&z, q, k, v, i, NULL), TSR_EDTYPE, "mask");
    EXPECT_FAILS(tsr_attention(&z, q, k, v, mask, NULL), TSR_ESHAPE, "does not broadcast to (2, 4, 3, 6)");
    EXPECT_FAILS(tsr_attention(&z, flat, k, v, NULL, NULL), TSR_ESHAPE, "attention: q");
    EXPECT_FAILS(tsr_attention(&z, q, v, v, NULL, NULL), TSR_ESHAPE, "d is 5");
    EXPECT_FAILS(tsr_attention(&z, k, q, q, NULL, NULL), TSR_ESHAPE, "2 heads do not divide into 4");
    EXPECT_OK(tsr_zeros(&other, TSR_F32, TSR_SHAPE(2, 3, 6, 5)));
    EXPECT_FAILS(tsr_attention(&z, q, other, other, NULL, NULL), TSR_ESHAPE, "4 heads do not divide into 3");
    tsr_release(&other);
    EXPECT_OK(tsr_zeros(&other, TSR_F32, TSR_SHAPE(3, 2, 6, 5)));
    EXPECT_FAILS(tsr_attention(&z, q, other, other, NULL, NULL), TSR_ESHAPE, "differ in the dims (...)");
    EXPECT_FAILS(tsr_attention(&z, q, k, other, NULL, NULL), TSR_ESHAPE, "v is f32(3, 2, 6, 5");
    EXPECT_FAILS(tsr_attention(&q, q, k, v, NULL, NULL), TSR_ESHAPE,
                 "attention: the result is f32(2, 4, 3, 7");
    EXPECT_FAILS(tsr_attention(&i, q, k, v, NULL, NULL), TSR_EDTYPE, "attention: the result is f32");
    EXPECT(z == NULL);
    tsr_release(&other);
    tsr_release(&flat);
    tsr_release(&mask);
    tsr_release(&i);
    tsr_release(&v);
    tsr_release(&k);
    tsr_release(&q);
}

TEST(test_bad_arguments_of_self_attention_are_refused_in_words)
{
    tsr_tensor *q = NULL, *k = NULL, *z = NULL, *flat = NULL;
    EXPECT_OK(tsr_zeros(&q, TSR_F32, TSR_SHAPE(3, 4, 5)));
    EXPECT_OK(tsr_zeros(&k, TSR_F32, TSR_SHAPE(6, 3, 5)));
    EXPECT_OK(tsr_zeros(&flat, TSR_F32, TSR_SHAPE(3, 5)));
    EXPECT_FAILS(tsr_self_attention(NULL, q, q, q, 0), TSR_ENULL, "self_attention: out is NULL");
    EXPECT_FAILS(tsr_self_attention(&z, NULL, q, q, 0), TSR_ENULL, "self_attention: q is NULL");
    EXPECT_FAILS(tsr_self_attention(&z, q, NULL, q, 0), TSR_ENULL, "self_attention: k is NULL");
    EXPECT_FAILS(tsr_self_attention(&z, q, q, NULL, 0), TSR_ENULL, "self_attention: v is NULL");
    EXPECT_FAILS(tsr_self_attention(&z, q, q, q, NAN), TSR_EINVAL, "scale is nan");
    EXPECT_FAILS(tsr_self_attention(&z, flat, q, q, 0), TSR_ESHAPE, "self_attention: q");
    EXPECT_FAILS(tsr_self_attention(&z, q, k, k, 0), TSR_ESHAPE, "4 heads do not divide into 3");
    EXPECT_FAILS(tsr_self_attention(&k, q, q, q, 0), TSR_ESHAPE, "self_attention: the result is f32(3, 4, 5");
    EXPECT(z == NULL);
    tsr_release(&flat);
    tsr_release(&k);
    tsr_release(&q);
}

TEST(test_bad_arguments_of_a_layer_are_refused_in_words)
{
    tsr_tensor *x = NULL, *w = NULL, *narrow = NULL, *vector = NULL, *z = NULL, *mask = NULL;
    EXPECT_OK(tsr_zeros(&x, TSR_F32, TSR_SHAPE(2, 3, 6)));
    EXPECT_OK(tsr_zeros(&w, TSR_F32, TSR_SHAPE(6, 6)));
    EXPECT_OK(tsr_zeros(&narrow, TSR_F32, TSR_SHAPE(5, 6)));
    EXPECT_OK(tsr_zeros(&vector, TSR_F32, TSR_SHAPE(6)));
    EXPECT_OK(tsr_zeros(&mask, TSR_BOOL, TSR_SHAPE(4, 4)));
    const tsr_attention_weights good = { w, w, w, w, NULL, NULL, NULL, NULL };
    tsr_attention_weights bad = good;
    EXPECT_FAILS(tsr_multi_head_attention(NULL, x, &good, 2, NULL, NULL), TSR_ENULL,
                 "multi_head_attention: out is NULL");
    EXPECT_FAILS(tsr_multi_head_attention(&z, NULL, &good, 2, NULL, NULL), TSR_ENULL,
                 "multi_head_attention: x is NULL");
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, NULL, 2, NULL, NULL), TSR_ENULL, "weights is NULL");
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, &good, 0, NULL, NULL), TSR_EINVAL, "heads is 0");
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, &good, 4, NULL, NULL), TSR_ESHAPE,
                 "whose rows are not 4 heads");
    EXPECT_FAILS(tsr_multi_head_attention(&z, vector, &good, 2, NULL, NULL), TSR_ESHAPE, "x is f32(6");
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, &good, 2, mask, NULL), TSR_ESHAPE, "does not broadcast");
    bad.v = NULL;
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, &bad, 2, NULL, NULL), TSR_ENULL, "weights.v is NULL");
    bad = good;
    bad.k = narrow;
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, &bad, 2, NULL, NULL), TSR_ESHAPE, "weights.k is f32(5, 6");
    bad = good;
    bad.v = narrow;
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, &bad, 2, NULL, NULL), TSR_ESHAPE, "weights.v is f32(5, 6");
    bad = good;
    bad.out = vector;
    EXPECT_FAILS(tsr_multi_head_attention(&z, x, &bad, 2, NULL, NULL), TSR_ESHAPE, "weights.out is f32(6");
    bad = good;
    bad.q_bias = narrow;
    EXPECT_STATUS(tsr_multi_head_attention(&z, x, &bad, 2, NULL, NULL), TSR_ESHAPE);
    EXPECT(z == NULL);
    tsr_release(&mask);
    tsr_release(&vector);
    tsr_release(&narrow);
    tsr_release(&w);
    tsr_release(&x);
}

/* Memory --------------------------------------------------------------------------------------------- */

/* Operands that do not fit their strides are rare; what does not fit any memory is told. */
TEST(test_a_block_that_no_memory_holds_is_refused)
{
    tsr_tensor *one = NULL, *q = NULL, *v = NULL, *z = NULL;
    EXPECT_OK(tsr_ones(&one, TSR_F32, TSR_SHAPE(1, 1, 1)));
    EXPECT_OK(tsr_expand(&q, one, TSR_SHAPE(1, 1, INT64_MAX / 8)));
    EXPECT_OK(tsr_expand(&v, one, TSR_SHAPE(1, 1, 2)));
    EXPECT_FAILS(tsr_attention(&z, q, q, v, NULL, NULL), TSR_ENOMEM, "attention: no memory");
    EXPECT(z == NULL);
    tsr_release(&v);
    tsr_release(&q);
    tsr_release(&one);
}
