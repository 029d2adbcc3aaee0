/* ops_random.c - the same numbers on every device: integers and uniforms bit for bit; what goes
 * through logarithms and roots, nearly. */
#include <string.h>

#include "operands.h"

enum { X, MOST = 40000 };

static const tolerance bits = { .ulps = BITS }, nearly = { .ulps = 32, .least = 4 }, sums = { .ulps = 0 };

#define SHAPE(t) (t)->with.naxes, (t)->with.n

static tsr_status uniform(trial *t, side s)
{
    return tsr_uniform(RESULT(t, s, 0), t->check->dtype, SHAPE(t), t->with.a, t->with.b, t->with.seed);
}
static tsr_status randn(trial *t, side s)
{
    return tsr_randn(RESULT(t, s, 0), t->check->dtype, SHAPE(t), t->with.seed);
}
static tsr_status normal(trial *t, side s)
{
    return tsr_normal(RESULT(t, s, 0), t->check->dtype, SHAPE(t), t->with.a, 1.5, t->with.seed);
}
static tsr_status exponential(trial *t, side s)
{
    return tsr_exponential(RESULT(t, s, 0), t->check->dtype, SHAPE(t), 0.75, t->with.seed);
}
static tsr_status integers(trial *t, side s)
{
    return tsr_integers(RESULT(t, s, 0), t->check->dtype, SHAPE(t), t->with.n[RANK], t->with.n[RANK + 1],
                        t->with.seed);
}
static tsr_status bernoulli(trial *t, side s)
{
    return tsr_bernoulli(RESULT(t, s, 0), SHAPE(t), 0.3, t->with.seed);
}
static tsr_status bernoulli_each(trial *t, side s)
{
    return tsr_bernoulli_each(RESULT(t, s, 0), IN(t, s, X), t->with.seed);
}
static tsr_status permutation(trial *t, side s)
{
    return tsr_permutation(RESULT(t, s, 0), t->with.n[RANK + 1] + 30, t->with.seed);
}
static tsr_status shuffle(trial *t, side s)
{
    return tsr_shuffle(RESULT(t, s, 0), IN(t, s, X), 0, t->with.seed);
}
static tsr_status multinomial(trial *t, side s)
{
    return tsr_multinomial(RESULT(t, s, 0), IN(t, s, X), 3, t->with.flag, t->with.seed);
}
static tsr_status sample(trial *t, side s)
{
    return tsr_sample(RESULT(t, s, 0), IN(t, s, X), t->with.c, t->with.n[RANK + 2], t->with.flag ? 1 : 0.8,
                      t->with.seed);
}

typedef struct row {
    const char *name;
    tsr_op_kind op;
    call_fn call;
    const tolerance *tolerance;
    enum { FROM_NOTHING, FROM_SHARES, FROM_ANY, FROM_ROWS } from;
} row;

static const row rows[] = {
    { "uniform", TSR_OP_UNIFORM, uniform, &bits, FROM_NOTHING },
    { "randn", TSR_OP_RANDN, randn, &nearly, FROM_NOTHING },
    { "normal", TSR_OP_RANDN, normal, &nearly, FROM_NOTHING },
    { "exponential", TSR_OP_EXPONENTIAL, exponential, &nearly, FROM_NOTHING },
    { "integers", TSR_OP_INTEGERS, integers, &bits, FROM_NOTHING },
    { "bernoulli", TSR_OP_UNIFORM, bernoulli, &bits, FROM_NOTHING },
    { "bernoulli_each", TSR_OP_UNIFORM, bernoulli_each, &bits, FROM_SHARES },
    { "permutation", TSR_OP_NONE, permutation, &bits, FROM_NOTHING },
    { "shuffle", TSR_OP_NONE, shuffle, &bits, FROM_ANY },
    { "multinomial", TSR_OP_NONE, multinomial, &sums, FROM_ROWS },
    { "sample", TSR_OP_SAMPLE, sample, &bits, FROM_ROWS },
};

static void check_random(trial *t)
{
    const row *r = t->check->about;
    const values shares = { 0, 1, 0, false }, weights = { 0.1, 4, 0, false };
    int64_t shape[RANK];
    int ndim = random_shape(t, shape, r->from >= FROM_ANY ? 1 : 0, 4, r->from == FROM_ROWS ? 2000 : MOST);
    if (r->from == FROM_ROWS) shape[ndim - 1] += 5;
    t->with.naxes = ndim;
    memcpy(t->with.n, shape, sizeof shape);
    t->with.n[RANK] =
        tsr_dtype_kind(t->check->dtype) == TSR_SIGNED ? -random_below(t, 100) : random_below(t, 5);
    t->with.n[RANK + 1] = random_between(t, 6, 120);
    t->with.n[RANK + 2] = random_below(t, 5);
    t->with.a = random_real(t, -3, 0);
    t->with.b = random_real(t, 0, 7);
    t->with.c = once_in(t, 4) ? 0 : random_real(t, 0.2, 2);
    t->with.flag = once_in(t, 2);
    t->with.seed = random_bits(t);
    if (r->from != FROM_NOTHING)
        make_input(t, X, t->check->dtype, ndim, shape,
                   r->from == FROM_SHARES ? &shares
                   : r->from == FROM_ROWS ? &weights
                                          : &any_values);
    run_op(t, r->call, 1, 0, r->tolerance);
}

static uint32_t dtypes_for(const row *r)
{
    const uint32_t floats = dtypes_of_kind(TSR_FLOATING);
    if (r->call == bernoulli || r->call == permutation) return 0;
    if (r->from == FROM_ANY) return dtypes_of(TSR_OP_COPY, 0);
    if (r->from != FROM_NOTHING || r->call == normal) return floats;
    return dtypes_of(r->op, 0);
}

void list_random(check_list *list)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const check c = { .family = "random", .op = rows[i].op, .run = check_random, .about = &rows[i] };
        const uint32_t dtypes = dtypes_for(&rows[i]);
        if (dtypes)
            add_for_dtypes(list, c, rows[i].name, dtypes);
        else
            add_check(list, c, rows[i].name);
    }
}
