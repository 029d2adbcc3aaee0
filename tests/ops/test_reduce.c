/* test_reduce.c - reductions and scans against a slow reference, over any strides and every dtype.
 *
 * x and the result lie in one block of memory, which is compared as a whole
 * afterwards. What must come out is worked out from a copy of the block, element
 * by element, in long double and in integers; bounds on the error are stated
 * where they are computed, and do not depend on how an op goes about it.
 */
#include <math.h>

#include "ops/op.h"
#include "property/reference.h"

enum { CASES = 18 * 220, HALF = REF_BYTES / 2 };

static _Alignas(64) unsigned char memory[REF_BYTES], before[REF_BYTES];

typedef long double wide;

/* Numbers --------------------------------------------------------------------------- */

static wide wide_of(ref_number n)
{
    if (n.kind == REF_NAN) return NAN;
    const wide size = n.kind == REF_INFINITE ? (wide)INFINITY : ldexpl((wide)n.bits, n.exponent);
    return n.negative ? -size : size;
}

/* The real or imaginary part of an element. */
static wide part_of(tsr_dtype dtype, const void *p, int part)
{
    const tsr_dtype real = ref_part(dtype);
    if (part && !ref_is_complex(dtype)) return 0;
    return wide_of(ref_decode(real, (const char *)p + part * ref_size(real)));
}

/* Half the distance between numbers of this floating dtype near x. */
static wide half_step(tsr_dtype dtype, wide x)
{
    const ref_format f = ref_format_of(dtype);
    const int bias = (1 << (f.exponent_bits - 1)) - 1;
    int e = 0;
    (void)frexpl(x, &e);
    if (x == 0 || e - 1 < 1 - bias) e = 2 - bias;
    return ldexpl(1, e - 2 - f.mantissa_bits);
}

static wide largest(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_F8E4M3: return 448;
    case TSR_F8E5M2: return 57344;
    case TSR_F16:    return 65504;
    case TSR_BF16:   return ldexpl(255, 120);
    case TSR_F32:    return ldexpl(16777215, 104);
    default:         return ldexpl(9007199254740991, 971);
    }
}

/* A value that must come out, to within `error` before it is rounded to the dtype. */
typedef struct answer {
    bool     is_bits;
    uint64_t bits;         /* of an integer or bool */
    wide     value[2], error[2];
} answer;

static answer bits_answer(uint64_t bits) { return (answer){ .is_bits = true, .bits = bits }; }
static answer real_answer(wide value, wide error) { return (answer){ .value = { value }, .error = { error } }; }

static bool is_close(tsr_dtype real, const void *p, wide value, wide error)
{
    const wide got = wide_of(ref_decode(real, p));
    if (value != value) return got != got;
    if (isinf(value)) return real == TSR_F8E4M3 ? got != got : got == value;
    const wide slack = error + half_step(real, value);
    if (!isfinite((double)got) && fabsl(value) + slack > largest(real))  /* it may round beyond the last */
        return got != got ? real == TSR_F8E4M3 : (got < 0) == (value < 0);
    return fabsl(got - value) <= slack;
}

static bool is_answer(tsr_dtype dtype, const void *p, const answer *a)
{
    const tsr_dtype real = ref_part(dtype);
    if (!ref_is_float(real)) return ref_load_bits(p, ref_size(dtype)) == (a->bits & ref_low_mask(ref_bits(dtype)));
    if (!is_close(real, p, a->value[0], a->error[0])) return false;
    return !ref_is_complex(dtype) || is_close(real, (const char *)p + ref_size(real), a->value[1], a->error[1]);
}

/* Rounding errors of f64, as counts of 2^-53. */
static wide units(wide n) { return ldexpl(n, -53); }

/* What each op must give: the elements of one output, in row-major order of their indices ------ */

typedef struct elements {
    tsr_dtype   dtype;
    int64_t     n;
    const void *at[REF_ELEMENTS];
} elements;

static wide re_of(const elements *e, int64_t i) { return part_of(e->dtype, e->at[i], 0); }
static wide im_of(const elements *e, int64_t i) { return part_of(e->dtype, e->at[i], 1); }
static bool is_zero(const elements *e, int64_t i) { return re_of(e, i) == 0 && im_of(e, i) == 0; }

static uint64_t integer_of(const elements *e, int64_t i)
{
    const uint64_t bits = ref_load_bits(e->at[i], ref_size(e->dtype));
    const int unused = 64 - ref_bits(e->dtype);
    return ref_is_signed(e->dtype) ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

static bool all_finite(const elements *e)
{
    for (int64_t i = 0; i < e->n; i++)
        if (!isfinite(re_of(e, i)) || !isfinite(im_of(e, i))) return false;
    return true;
}

static answer want_sum(const elements *e, double a)
{
    answer out = { .bits = 0 };
    (void)a;
    for (int64_t i = 0; i < e->n; i++) {
        if (!ref_is_float(ref_part(e->dtype))) out.bits += integer_of(e, i);
        for (int part = 0; part < 2; part++) {
            const wide x = part_of(e->dtype, e->at[i], part);
            out.value[part] += x;
            out.error[part] += fabsl(x) * units(16);  /* few units of the sum of |x|, for any n */
        }
    }
    return out;
}

static answer want_prod(const elements *e, double a)
{
    answer out = { .bits = 1, .value = { 1 } };
    wide size = 1;
    (void)a;
    for (int64_t i = 0; i < e->n; i++) {
        const wide re = re_of(e, i), im = im_of(e, i), had = out.value[0];
        if (!ref_is_float(ref_part(e->dtype))) out.bits *= integer_of(e, i);
        if (ref_is_complex(e->dtype)) {
            out.value[0] = had * re - out.value[1] * im;
            out.value[1] = had * im + out.value[1] * re;
        } else out.value[0] *= re;
        size *= hypotl(re, im);
    }
    if (isfinite(size)) out.error[0] = out.error[1] = size * units((wide)(4 * e->n));
    return out;
}

static answer want_mean(const elements *e, double a)
{
    answer out = want_sum(e, a);
    for (int part = 0; part < 2; part++) {
        out.value[part] /= (wide)e->n;
        out.error[part] = out.error[part] / (wide)(e->n ? e->n : 1) + fabsl(out.value[part]) * units(2);
    }
    return out;
}

static wide deviations(const elements *e)
{
    const answer mean = want_mean(e, 0);
    wide sum = 0;
    for (int64_t i = 0; i < e->n; i++) {
        const wide re = re_of(e, i) - mean.value[0], im = im_of(e, i) - mean.value[1];
        sum += re * re + im * im;
    }
    return sum;
}

/* Of v: its own rounding, and that of a mean which is a few units of the largest |x| off. */
static wide variance_error(const elements *e, wide v)
{
    wide size = 0;
    for (int64_t i = 0; i < e->n; i++) size = fmaxl(size, hypotl(re_of(e, i), im_of(e, i)));
    return isfinite(v) ? v * units(64) + size * units(8) * size * units(8) : 0;
}

static answer want_var(const elements *e, double a)
{
    if (e->n == 0 || !all_finite(e)) return real_answer(NAN, 0);
    const wide over = (wide)e->n - (wide)a, v = over > 0 ? deviations(e) / over : NAN;
    return real_answer(v, variance_error(e, v));
}

static answer want_std(const elements *e, double a)
{
    const answer var = want_var(e, a);
    const wide v = sqrtl(var.value[0]);
    return real_answer(v, isfinite(v) ? v * units(64) + sqrtl(variance_error(e, 0)) : 0);
}

static int64_t find(const elements *e, bool max)
{
    int64_t best = 0;
    for (int64_t i = 0; i < e->n; i++) {
        const wide x = re_of(e, i), y = re_of(e, best);
        if (x != x) return i;
        if (max ? x > y : x < y) best = i;
    }
    return best;
}

static answer want_extreme(const elements *e, bool max)
{
    const int64_t i = find(e, max);
    answer out = real_answer(re_of(e, i), 0);
    if (!ref_is_float(e->dtype)) out.bits = integer_of(e, i);
    return out;
}

static answer want_max(const elements *e, double a) { (void)a; return want_extreme(e, true); }
static answer want_min(const elements *e, double a) { (void)a; return want_extreme(e, false); }
static answer want_argmax(const elements *e, double a) { (void)a; return bits_answer((uint64_t)find(e, true)); }
static answer want_argmin(const elements *e, double a) { (void)a; return bits_answer((uint64_t)find(e, false)); }

static answer want_count(const elements *e, double a)
{
    uint64_t count = 0;
    (void)a;
    for (int64_t i = 0; i < e->n; i++) count += !is_zero(e, i);
    return bits_answer(count);
}

static answer want_any(const elements *e, double a) { return bits_answer(want_count(e, a).bits > 0); }
static answer want_all(const elements *e, double a) { return bits_answer(want_count(e, a).bits == (uint64_t)e->n); }

static answer want_logsumexp(const elements *e, double a)
{
    wide sum = 0;
    (void)a;
    if (e->n == 0) return real_answer(-INFINITY, 0);
    const wide m = re_of(e, find(e, true));
    if (!isfinite(m)) return real_answer(m, 0);
    for (int64_t i = 0; i < e->n; i++) sum += expl(re_of(e, i) - m);
    const wide v = m + logl(sum);
    const wide exps = e->dtype == TSR_F64 ? 0 : ldexpl(1, -32);  /* short floats need no better ones */
    return real_answer(v, (1 + fabsl(m) + fabsl(v)) * units(32) + exps);
}

static answer want_norm(const elements *e, double p)
{
    wide sum = 0, low = INFINITY, high = 0, v;
    bool nan = false;
    if (e->n == 0) return real_answer(0, 0);
    for (int64_t i = 0; i < e->n; i++) {
        const wide x = hypotl(re_of(e, i), im_of(e, i));
        nan |= x != x;
        if (x < low) low = x;
        if (x > high) high = x;
        sum += p == 0 ? (wide)!is_zero(e, i) : powl(x, (wide)p);
    }
    if (nan && p != 0) return real_answer(NAN, 0);
    if (isinf(p)) v = p > 0 ? high : low;
    else          v = p == 0 ? sum : powl(sum, 1 / (wide)p);
    return real_answer(v, isfinite(v) ? v * units(ref_is_complex(e->dtype) ? 128 : 96) : 0);
}

/* A scan's last element: of the elements so far. */
static answer want_cumsum(const elements *e, double a) { return want_sum(e, a); }
static answer want_cumprod(const elements *e, double a) { return want_prod(e, a); }
static answer want_cummax(const elements *e, double a) { return want_max(e, a); }

/* The ops --------------------------------------------------------------------------------- */

enum values { TAME, NEAR_ONE, ANY };

typedef struct op_case {
    const char *name;
    tsr_op_kind kind;
    answer    (*want)(const elements *e, double a);
    enum values values;
    tsr_status (*over)(tsr_tensor **, const tsr_tensor *, int, const int *, bool);
    tsr_status (*with)(tsr_tensor **, const tsr_tensor *, int, const int *, bool, double);
    tsr_status (*arg)(tsr_tensor **, const tsr_tensor *, int, bool);
    tsr_status (*scan)(tsr_tensor **, const tsr_tensor *, int);
} op_case;

static const op_case ops[] = {
    { "sum",  TSR_OP_SUM,  want_sum,  TAME,     .over = tsr_sum },
    { "prod", TSR_OP_PROD, want_prod, NEAR_ONE, .over = tsr_prod },
    { "mean", TSR_OP_MEAN, want_mean, TAME,     .over = tsr_mean },
    { "var",  TSR_OP_VAR,  want_var,  TAME,     .with = tsr_var },
    { "std",  TSR_OP_STD,  want_std,  TAME,     .with = tsr_std },
    { "max",  TSR_OP_MAX,  want_max,  ANY,      .over = tsr_max },
    { "min",  TSR_OP_MIN,  want_min,  ANY,      .over = tsr_min },
    { "any",  TSR_OP_ANY,  want_any,  ANY,      .over = tsr_any },
    { "all",  TSR_OP_ALL,  want_all,  ANY,      .over = tsr_all },
    { "count_nonzero", TSR_OP_COUNT_NONZERO, want_count, ANY, .over = tsr_count_nonzero },
    { "logsumexp", TSR_OP_LOGSUMEXP, want_logsumexp, TAME, .over = tsr_logsumexp },
    { "norm", TSR_OP_NORM, want_norm, TAME,     .with = tsr_norm },
    { "argmax", TSR_OP_ARGMAX, want_argmax, ANY, .arg = tsr_argmax },
    { "argmin", TSR_OP_ARGMIN, want_argmin, ANY, .arg = tsr_argmin },
    { "cumsum",  TSR_OP_CUMSUM,  want_cumsum,  TAME,     .scan = tsr_cumsum },
    { "cumprod", TSR_OP_CUMPROD, want_cumprod, NEAR_ONE, .scan = tsr_cumprod },
    { "cummax",  TSR_OP_CUMMAX,  want_cummax,  ANY,      .scan = tsr_cummax },
};
enum { OPS = sizeof ops / sizeof *ops };

static tsr_status call(const op_case *op, tsr_tensor **out, const tsr_tensor *x, int naxes, const int *axes,
                       bool keepdims, double a)
{
    if (op->over) return op->over(out, x, naxes, axes, keepdims);
    if (op->with) return op->with(out, x, naxes, axes, keepdims, a);
    const int axis = naxes ? axes[0] : TSR_ALL_AXES;
    return op->arg ? op->arg(out, x, axis, keepdims) : op->scan(out, x, axis);
}

static bool is_arg(const op_case *op) { return op->arg != NULL; }

static bool takes(const op_case *op, tsr_dtype d)
{
    const bool floating = ref_is_float(d), complex = d == TSR_C64 || d == TSR_C128, whole = d >= TSR_I8 && d <= TSR_U64;
    switch (op->kind) {
    case TSR_OP_ANY: case TSR_OP_ALL: case TSR_OP_COUNT_NONZERO: return true;
    case TSR_OP_SUM: case TSR_OP_PROD: case TSR_OP_CUMSUM: case TSR_OP_CUMPROD: return floating || complex || whole;
    case TSR_OP_MEAN: case TSR_OP_VAR: case TSR_OP_STD: case TSR_OP_NORM: return floating || complex;
    case TSR_OP_LOGSUMEXP: return floating;
    default: return floating || whole || d == TSR_BOOL;
    }
}

static tsr_dtype gives(const op_case *op, tsr_dtype d)
{
    switch (op->kind) {
    case TSR_OP_ANY: case TSR_OP_ALL: return TSR_BOOL;
    case TSR_OP_COUNT_NONZERO: case TSR_OP_ARGMAX: case TSR_OP_ARGMIN: return TSR_I64;
    case TSR_OP_SUM: case TSR_OP_PROD: case TSR_OP_CUMSUM: case TSR_OP_CUMPROD:
        return ref_is_signed(d) ? TSR_I64 : d >= TSR_U8 && d <= TSR_U64 ? TSR_U64 : d;
    case TSR_OP_VAR: case TSR_OP_STD: case TSR_OP_NORM: return ref_part(d);
    default: return d;
    }
}

static bool refuses_nothing(const op_case *op)
{
    return op->kind == TSR_OP_MAX || op->kind == TSR_OP_MIN || is_arg(op);
}

/* Cases ------------------------------------------------------------------------------------ */

/* A float that sums and powers do not carry out of f64's range; special now and then. */
static void random_float(ref_case *c, tsr_dtype dtype, void *p, enum values values)
{
    uint64_t bits = ref_random_real(c, dtype);
    if (dtype == TSR_F64 && values == TAME && !ref_once_in(c, 60)) {
        const double v = ldexp((double)ref_between(c, -1000000, 1000000), (int)ref_between(c, -40, 20));
        memcpy(&bits, &v, 8);
    }
    if (values == NEAR_ONE || (values == TAME && !ref_once_in(c, 3))) {
        const int64_t n = ref_between(c, 6, values == TAME ? 300 : 11);
        ref_number tame = { REF_FINITE, ref_once_in(c, 2), (uint64_t)n, -3 };
        if (ref_once_in(c, 100)) tame.bits = 0;
        bits = ref_encode_float(dtype, tame);
    }
    const bool wild = wide_of(ref_decode_float(dtype, bits)) - wide_of(ref_decode_float(dtype, bits)) != 0;
    if ((wild || (dtype == TSR_F64 && values != ANY && ref_decode_float(dtype, bits).exponent > 100)) &&
        values != ANY && !(wild && ref_once_in(c, 20)))
        bits = 0;
    ref_store_bits(p, ref_size(dtype), bits);
}

static void random_value(ref_case *c, const op_case *op, tsr_dtype dtype, unsigned char *p)
{
    const tsr_dtype real = ref_part(dtype);
    if (!ref_is_float(real)) {
        ref_random_element(c, dtype, p);
        if (ref_once_in(c, 4)) memset(p, 0, (size_t)ref_size(dtype));
        return;
    }
    for (int part = 0; part < (ref_is_complex(dtype) ? 2 : 1); part++) {
        random_float(c, real, p + part * ref_size(real), op->values);
        if (op->values == ANY && ref_once_in(c, 4)) memset(p + part * ref_size(real), 0, (size_t)ref_size(real));
    }
}

/* Complex infinities and NaNs under multiplication are anyone's guess. */
static void calm(const op_case *op, tsr_dtype dtype, unsigned char *p)
{
    const bool product = op->kind == TSR_OP_PROD || op->kind == TSR_OP_CUMPROD;
    if (product && ref_is_complex(dtype) && !(isfinite(part_of(dtype, p, 0)) && isfinite(part_of(dtype, p, 1))))
        memset(p, 0, (size_t)ref_size(dtype));
}

/* Moves a view so that its lowest byte is at `lowest` or just above, aligned; returns its first element's place. */
static int64_t move_to(ref_view *v, int64_t lowest, int64_t align)
{
    int64_t low, high;
    ref_span(v, &low, &high);
    const int64_t first = (lowest - low + align - 1) / align * align;
    for (int64_t k = 0; k < v->n; k++) v->at[k] += first;
    return first;
}

static bool make_tensor(ref_case *c, int handle, ref_view *v, tsr_dtype dtype, int ndim, const int64_t *shape,
                        bool writable, int64_t lowest)
{
    tsr_desc d;
    int64_t low, high;
    ref_random_desc(c, &d, v, &low, dtype, ndim, shape, writable, HALF - 64);
    const int64_t first = move_to(v, lowest, ref_align(dtype));
    ref_span(v, &low, &high);
    return ref_make(c, handle, memory, first, &d, v->n ? low : first, v->n ? high : first);
}

typedef struct choice {
    const op_case *op;
    uint32_t       axes;
    int            naxes, list[TSR_MAX_NDIM];
    bool           keepdims;
    double         a;
} choice;

/* Axes in any order and either way of counting. */
static void choose_axes(ref_case *c, choice *o, int ndim)
{
    int order[TSR_MAX_NDIM];
    ref_shuffle(c, ndim, order);
    o->naxes = o->op->scan ? 1 : is_arg(o->op) ? (int)ref_below(c, 2) : (int)ref_below(c, ndim + 1);
    if (ndim == 0) o->naxes = 0;
    o->axes = o->naxes ? 0 : (1u << ndim) - 1;
    for (int i = 0; i < o->naxes; i++) {
        o->axes |= 1u << order[i];
        o->list[i] = ref_once_in(c, 2) ? order[i] - ndim : order[i];
    }
    o->keepdims = !o->op->scan && ref_once_in(c, 2);
}

static void choose_number(ref_case *c, choice *o)
{
    static const double corrections[] = { 0, 1, 0.5, -1 };
    static const double powers[] = { 0, 1, 2, INFINITY, -INFINITY, 3, 0.5, -1, -2, 10, 2, 2 };
    o->a = o->op->kind == TSR_OP_NORM ? powers[ref_below(c, 12)] : corrections[ref_below(c, 4)];
}

static void say_choice(ref_case *c, const choice *o)
{
    ref_say(c, "    %s over", o->op->name);
    for (int i = 0; i < o->naxes; i++) ref_say(c, " %d", o->list[i]);
    ref_say(c, "%s, a %g\n", o->keepdims ? ", keepdims" : "", o->a);
}

static int result_shape(int64_t *shape, const choice *o, const ref_view *x)
{
    int n = 0;
    for (int d = 0; d < x->ndim; d++) {
        const bool reduced = !o->op->scan && (o->axes >> d & 1);
        if (!reduced || o->keepdims) shape[n++] = reduced ? 1 : x->shape[d];
    }
    return n;
}

/* The elements of x that belong to the result's element k. */
static void elements_for(elements *e, const choice *o, const ref_view *x, const ref_view *z, const int64_t *at)
{
    e->dtype = x->dtype;
    e->n = 0;
    for (REF_EACH(x, index, k)) {
        bool in = true;
        int to = 0;
        for (int d = 0; d < x->ndim; d++) {
            const bool reduced = o->axes >> d & 1;
            if (o->op->scan) in &= reduced ? index[d] <= at[d] : index[d] == at[d];
            else if (!reduced) in &= index[d] == at[to++];
            else to += o->keepdims;
        }
        if (in) e->at[e->n++] = before + x->at[k];
    }
    (void)z;
}

static bool element_is(ref_case *c, const choice *o, const ref_view *x, const ref_view *z, const int64_t *at,
                       const void *got)
{
    static elements e;
    elements_for(&e, o, x, z, at);
    const answer a = o->op->want(&e, o->a);
    if (is_answer(z->dtype, got, &a)) return true;
    if ((o->op->kind == TSR_OP_VAR || o->op->kind == TSR_OP_STD) && (double)e.n <= o->a)
        return !isfinite((double)part_of(z->dtype, got, 0));  /* 0 / 0, or nearly */
    ref_say(c, "    at ");
    ref_say_numbers(c, z->ndim, at);
    ref_say(c, " of %lld elements: wanted %.20Lg %.20Lg (within %Lg), bits %llx;", (long long)e.n, a.value[0],
            a.value[1], a.error[0], (unsigned long long)a.bits);
    ref_say(c, " got %.20Lg %.20Lg, bits %llx\n", part_of(z->dtype, got, 0), part_of(z->dtype, got, 1),
            (unsigned long long)ref_load_bits(got, ref_size(ref_part(z->dtype))));
    for (int64_t i = 0; i < e.n && i < 40; i++) ref_say(c, " %Lg", re_of(&e, i));
    MUST_TRUE(!"the element is right");
}

/* A result that was made. */
static bool made_is(ref_case *c, const choice *o, const ref_view *x, ref_view *z, const tsr_tensor *t)
{
    MUST_TRUE(t && t->dtype == z->dtype && t->ndim == z->ndim && tsr_check(t) == TSR_OK);
    for (int d = 0; d < z->ndim; d++) MUST_TRUE(t->shape[d] == z->shape[d]);
    if (!o->op->scan) MUST_TRUE(tsr_desc_is_contiguous(&t->desc));
    ref_of_desc(z, &t->desc, 0);
    for (REF_EACH(z, index, k))
        if (!element_is(c, o, x, z, index, (const char *)t->data + z->at[k])) return false;
    return !memcmp(memory, before, sizeof memory);
}

/* A result that was given: in memory, and nothing else has changed. */
static bool given_is(ref_case *c, const choice *o, const ref_view *x, const ref_view *z)
{
    static unsigned char expected[REF_BYTES];
    memcpy(expected, before, sizeof before);
    for (REF_EACH(z, index, k)) {
        if (!element_is(c, o, x, z, index, memory + z->at[k])) return false;
        memcpy(expected + z->at[k], memory + z->at[k], (size_t)ref_size(z->dtype));
    }
    MUST_TRUE(!memcmp(memory, expected, sizeof memory));
    return true;
}

static const op_case *current;

static void one_case(ref_case *c)
{
    static ref_view x, z;
    int64_t shape[TSR_MAX_NDIM];
    choice o = { .op = current };
    const tsr_dtype dtype = (tsr_dtype)(1 + c->number % (TSR_DTYPE_COUNT - 1));
    ref_random_bytes(c, memory, sizeof memory);
    int ndim = ref_random_shape(c, shape, REF_RANK, REF_SOURCE);
    if (current->scan && ndim == 0) shape[ndim++] = ref_between(c, 0, 9);
    if (!make_tensor(c, 0, &x, dtype, ndim, shape, false, 0)) return;
    for (int64_t k = 0; k < x.n; k++) {
        random_value(c, current, dtype, memory + x.at[k]);
        calm(current, dtype, memory + x.at[k]);
    }
    choose_axes(c, &o, ndim);
    choose_number(c, &o);
    say_choice(c, &o);
    const int znd = result_shape(shape, &o, &x);
    ref_set_shape(&z, gives(current, dtype), znd, shape);
    const bool given = ref_once_in(c, 2), overlapping = given && ref_once_in(c, 4);
    if (given && !make_tensor(c, 1, &z, z.dtype, znd, shape, true, overlapping ? ref_below(c, 64) : HALF)) return;
    memcpy(before, memory, sizeof memory);
    const tsr_status s = call(current, &c->t[1], c->t[0], o.naxes, o.list, o.keepdims, o.a);
    if (!takes(current, dtype)) {
        MUST(s == TSR_EDTYPE && !memcmp(memory, before, sizeof memory));
    } else if (refuses_nothing(current) && x.n == 0 && z.n > 0) {
        MUST(s == TSR_ESHAPE && strstr(tsr_last_error(), "has no elements"));
    } else {
        MUST(s == TSR_OK);
        MUST(given ? given_is(c, &o, &x, &z) : made_is(c, &o, &x, &z, c->t[1]));
    }
}

static void run_op(const char *name)
{
    for (int i = 0; i < OPS; i++) if (!strcmp(ops[i].name, name)) current = &ops[i];
    ref_cases(CASES, one_case);
}

#define OP_TEST(op) static void test_##op##_is_right_for_every_dtype_and_stride(void) { run_op(#op); }
OP_TEST(sum) OP_TEST(prod) OP_TEST(mean) OP_TEST(var) OP_TEST(std) OP_TEST(max) OP_TEST(min) OP_TEST(any) OP_TEST(all)
OP_TEST(count_nonzero) OP_TEST(logsumexp) OP_TEST(norm) OP_TEST(argmax) OP_TEST(argmin) OP_TEST(cumsum)
OP_TEST(cumprod) OP_TEST(cummax)

/* Differences ----------------------------------------------------------------------------- */

/* x - y as the dtype's own arithmetic has it: f64 in double, other floats in float, rounded once. */
static void subtract(tsr_dtype dtype, void *out, const void *x, const void *y)
{
    const tsr_dtype real = ref_part(dtype);
    const int64_t size = ref_size(real);
    for (int part = 0; part < (ref_is_complex(dtype) ? 2 : 1); part++) {
        const char *a = (const char *)x + part * size, *b = (const char *)y + part * size;
        char *to = (char *)out + part * size;
        if (!ref_is_float(real)) {
            ref_store_bits(to, size, ref_load_bits(a, size) - ref_load_bits(b, size));
        } else if (real == TSR_F64) {
            const double v = (double)part_of(real, a, 0) - (double)part_of(real, b, 0);
            memcpy(to, &v, sizeof v);
        } else {
            const float v = (float)part_of(real, a, 0) - (float)part_of(real, b, 0);
            ref_convert(real, to, TSR_F32, &v);
        }
    }
}

static bool same_value(tsr_dtype dtype, const void *a, const void *b)
{
    for (int part = 0; part < 2; part++) {
        const wide x = part_of(dtype, a, part), y = part_of(dtype, b, part);
        if (x != y && !(x != x && y != y)) return false;
    }
    return true;
}

/* The n-th difference of n + 1 elements. */
static void difference(tsr_dtype dtype, unsigned char e[][16], int64_t n)
{
    for (; n > 0; n--)
        for (int64_t i = 0; i < n; i++) {
            unsigned char d[16];
            subtract(dtype, d, e[i + 1], e[i]);
            memcpy(e[i], d, sizeof d);
        }
}

static bool diff_is(ref_case *c, const ref_view *x, const ref_view *z, const unsigned char *base, int axis, int64_t n)
{
    static unsigned char e[REF_ELEMENTS][16];
    for (REF_EACH(z, at, k)) {
        int64_t index[TSR_MAX_NDIM];
        memcpy(index, at, sizeof index);
        for (int64_t i = 0; i <= n; i++, index[axis]++)
            memcpy(e[i], before + x->at[ref_flat(x, index)], (size_t)ref_size(x->dtype));
        difference(x->dtype, e, n);
        MUST_TRUE(same_value(x->dtype, base + z->at[k], e[0]));
    }
    return true;
}

static void diff_case(ref_case *c)
{
    static ref_view x, z;
    int64_t shape[TSR_MAX_NDIM];
    const tsr_dtype dtype = (tsr_dtype)(1 + c->number % (TSR_DTYPE_COUNT - 1));
    ref_random_bytes(c, memory, sizeof memory);
    int ndim = ref_random_shape(c, shape, REF_RANK, REF_SOURCE);
    if (ndim == 0) shape[ndim++] = ref_between(c, 0, 9);
    if (!make_tensor(c, 0, &x, dtype, ndim, shape, false, 0)) return;
    for (int64_t k = 0; k < x.n; k++) ref_random_element(c, dtype, memory + x.at[k]);
    const int axis = (int)ref_below(c, ndim);
    const int64_t n = ref_between(c, 0, 4);
    ref_say(c, "    diff %lld along %d\n", (long long)n, axis);
    shape[axis] = shape[axis] > n ? shape[axis] - n : 0;
    ref_set_shape(&z, dtype, ndim, shape);
    const bool given = ref_once_in(c, 2), overlapping = given && ref_once_in(c, 4);
    if (given && !make_tensor(c, 1, &z, dtype, ndim, shape, true, overlapping ? ref_below(c, 64) : HALF)) return;
    memcpy(before, memory, sizeof memory);
    const tsr_status s = tsr_diff(&c->t[1], c->t[0], ref_once_in(c, 2) ? axis : axis - ndim, n);
    if (dtype == TSR_BOOL || dtype == TSR_C32) {
        MUST(s == TSR_EDTYPE);
        return;
    }
    MUST(s == TSR_OK);
    if (!given) ref_of_desc(&z, &c->t[1]->desc, 0);
    MUST(c->t[1]->dtype == dtype && z.n == ref_count(ndim, shape));
    MUST(diff_is(c, &x, &z, given ? memory : c->t[1]->data, axis, n));
}

static void test_diff_is_right_for_every_dtype_and_stride(void) { ref_cases(CASES, diff_case); }

/* Large ------------------------------------------------------------------------------------- */

/* Numbers between -1 and 1 that share nothing with the library's generator. */
static void fill_tensor(tsr_tensor *t)
{
    uint64_t state = 7;
    const int64_t n = tsr_numel(t), size = ref_size(t->dtype), parts = ref_is_complex(t->dtype) ? 2 : 1;
    for (int64_t i = 0; i < n * parts; i++) {
        char *p = (char *)t->data + i * size / parts;
        const double v = (double)(int64_t)test_next(&state) * 0x1p-63;
        if (ref_is_float(ref_part(t->dtype))) ref_convert(ref_part(t->dtype), p, TSR_F64, &v);
        else ref_store_bits(p, size, test_next(&state));
    }
}

typedef struct large { int ndim; int64_t shape[3]; int naxes, axes[3]; } large;

static const large larges[] = {
    { 1, { (1 << 20) + 37 }, 0, { 0 } },
    { 2, { 1001, 1100 }, 1, { 0 } },
    { 2, { 500, 700 }, 1, { 1 } },
    { 2, { 650, 501 }, 0, { 0 } },
    { 2, { 70001, 7 }, 1, { 0 } },
    { 2, { 70001, 7 }, 1, { 1 } },
    { 2, { 3, 150001 }, 1, { 1 } },
    { 2, { 10011, 65 }, 1, { 0 } },
    { 2, { 300, 4616 }, 1, { 0 } },  /* two threads leave single outputs between blocks */
    { 3, { 32, 130, 65 }, 2, { 0, 2 } },
    { 3, { 70, 3, 1503 }, 2, { 1, 2 } },
    { 3, { 70, 3, 1503 }, 2, { 0, 1 } },
};

/* Do 2, 3 and 7 threads give the bits that one gives? */
static void expect_same_bits(const op_case *op, const tsr_tensor *x, const large *l)
{
    static const int threads[] = { 1, 2, 3, 7 };
    tsr_tensor *first = NULL;
    for (int i = 0; i < 4; i++) {
        tsr_tensor *z = NULL;
        EXPECT_OK(tsr_set_threads(threads[i]));
        EXPECT_OK(call(op, &z, x, l->naxes, l->axes, false, op->kind == TSR_OP_NORM ? 2 : 1));
        if (i == 0) {
            first = z;
            continue;
        }
        EXPECT_MSG(z && first && !memcmp(z->data, first->data, (size_t)tsr_numel(z) * tsr_dtype_size(z->dtype)),
                   "%s of %s, %d threads", op->name, tsr_dtype_name(x->dtype), threads[i]);
        tsr_release(&z);
    }
    tsr_release(&first);
    EXPECT_OK(tsr_set_threads(0));
}

static void test_thread_counts_give_the_same_bits(void)
{
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_BF16, TSR_I16, TSR_C64 };
    for (size_t l = 0; l < sizeof larges / sizeof *larges; l++)
        for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
            tsr_tensor *x = NULL, *turned = NULL;
            EXPECT_OK(tsr_empty(&x, dtypes[d], larges[l].ndim, larges[l].shape));
            if (!x) return;
            fill_tensor(x);
            EXPECT_OK(tsr_transpose(&turned, x, 0, -1));
            for (int i = 0; i < OPS; i++) {
                if (!takes(&ops[i], dtypes[d])) continue;
                if (d > 0 && l > 1 && ops[i].kind != TSR_OP_SUM && ops[i].kind != TSR_OP_VAR) continue;
                if (ops[i].arg && larges[l].naxes > 1) continue;
                if (ops[i].scan && larges[l].naxes != 1) continue;
                expect_same_bits(&ops[i], x, &larges[l]);
                if (larges[l].ndim > 1 && d == 0) expect_same_bits(&ops[i], turned, &larges[l]);
            }
            tsr_release(&turned);
            tsr_release(&x);
        }
}

/* The only element of t, which is released. */
static double take(tsr_tensor **t)
{
    tsr_scalar s = { 0 };
    double v = NAN;
    EXPECT(*t && tsr_numel(*t) == 1);
    if (*t && tsr_scalar_load(&s, (*t)->dtype, (*t)->data) == TSR_OK) {
        tsr_tensor *as = NULL;
        EXPECT_OK(tsr_cast(&as, *t, TSR_F64));
        if (as) v = *(const double *)as->data;
        tsr_release(&as);
    }
    tsr_release(t);
    return v;
}

static tsr_tensor *vector(tsr_dtype dtype, int64_t n)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_empty(&t, dtype, 1, (const int64_t[]){ n }));
    return t;
}

static void test_large_sums_match_long_double_within_units_of_the_sum_of_sizes(void)
{
    static const tsr_dtype dtypes[] = { TSR_F16, TSR_BF16, TSR_F32, TSR_F64 };
    for (int d = 0; d < 4; d++)
        for (int64_t columns = 1; columns <= 1000; columns *= 1000) {  /* one run, and side by side */
            tsr_tensor *x = NULL, *z = NULL;
            const int64_t rows = 1200000 / columns;
            EXPECT_OK(tsr_empty(&x, dtypes[d], 2, (const int64_t[]){ rows, columns }));
            if (!x) return;
            fill_tensor(x);
            EXPECT_OK(tsr_sum(&z, x, 1, (const int[]){ 0 }, false));
            for (int64_t j = 0; z && j < columns; j += 37) {
                wide sum = 0, size = 0;
                for (int64_t i = 0; i < rows; i++) {
                    const wide v = part_of(x->dtype, (char *)x->data + (i * columns + j) * ref_size(x->dtype), 0);
                    sum += v;
                    size += fabsl(v);
                }
                const char *got = (char *)z->data + j * ref_size(z->dtype);
                EXPECT_MSG(is_close(z->dtype, got, sum, size * units(8)), "%s: %Lg, not %Lg", tsr_dtype_name(x->dtype),
                           part_of(z->dtype, got, 0), sum);
            }
            tsr_release(&z);
            tsr_release(&x);
        }
}

static void test_ten_million_tenths_sum_to_a_million(void)
{
    tsr_tensor *x = NULL, *z = NULL;
    EXPECT_OK(tsr_full(&x, TSR_F32, 1, (const int64_t[]){ 10000000 }, TSR_SCALAR(0.1)));
    EXPECT_OK(tsr_sum(&z, x, 0, NULL, false));
    EXPECT(take(&z) == (double)(float)(1e7 * (double)0.1f));
    EXPECT_OK(tsr_mean(&z, x, 0, NULL, false));
    EXPECT(take(&z) == (double)0.1f);
    EXPECT_OK(tsr_var(&z, x, 0, NULL, false, 0));
    EXPECT(take(&z) == 0);
    tsr_release(&x);
}

static void test_more_than_2_to_the_31_elements_are_reduced(void)
{
    tsr_tensor *one = NULL, *x = NULL, *z = NULL;
    const int64_t shape[] = { 65536, 65536 };
    EXPECT_OK(tsr_full(&one, TSR_F32, 0, NULL, TSR_SCALAR(1)));
    EXPECT_OK(tsr_expand(&x, one, 2, shape));
    EXPECT_OK(tsr_sum(&z, x, 0, NULL, false));
    EXPECT(take(&z) == 4294967296.0);
    EXPECT_OK(tsr_max(&z, x, 0, NULL, false));
    EXPECT(take(&z) == 1);
    EXPECT_OK(tsr_mean(&z, x, 0, NULL, false));
    EXPECT(take(&z) == 1);
    EXPECT_OK(tsr_std(&z, x, 0, NULL, false, 1));
    EXPECT(take(&z) == 0);
    EXPECT_OK(tsr_count_nonzero(&z, x, 0, NULL, false));
    EXPECT(take(&z) == 4294967296.0);
    EXPECT_OK(tsr_norm(&z, x, 0, NULL, false, 2));
    EXPECT(take(&z) == 65536);
    EXPECT_OK(tsr_any(&z, x, 0, NULL, false));
    EXPECT(take(&z) == 1);
    tsr_release(&x);
    tsr_release(&one);
}

/* Windows over a short vector: as many elements, none of them repeated along a dim of stride 0. */
static void test_overlapping_windows_are_reduced_element_by_element(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    const int64_t side = 5000;
#else
    const int64_t side = 50000;
#endif
    tsr_tensor *v = vector(TSR_I8, 2 * side), *x = NULL, *z = NULL;
    if (!v) return;
    memset(v->data, 1, (size_t)(2 * side));
    ((int8_t *)v->data)[side - 1] = 3;
    EXPECT_OK(tsr_as_strided(&x, v, 2, (const int64_t[]){ side, side }, (const int64_t[]){ 1, 1 }, 0));
    EXPECT_OK(tsr_sum(&z, x, 0, NULL, false));
    EXPECT(take(&z) == (double)(side * side + 2 * side));
    EXPECT_OK(tsr_max(&z, x, 0, NULL, false));
    EXPECT(take(&z) == 3);
    tsr_release(&x);
    tsr_release(&v);
}

/* Hard numbers -------------------------------------------------------------------------------- */

static void test_variance_does_not_cancel_under_a_large_mean(void)
{
    static const double shifts[] = { 0, 1e6, 1e9, 1e12, 1e15 };
    for (int s = 0; s < 5; s++)
        for (int columns = 0; columns < 2; columns++) {
            tsr_tensor *x = NULL, *z = NULL;
            EXPECT_OK(tsr_empty(&x, TSR_F64, 2, (const int64_t[]){ 1000, 20 }));
            if (!x) return;
            for (int i = 0; i < 20000; i++) ((double *)x->data)[i] = shifts[s] + (columns ? i / 20 : i) % 4;
            EXPECT_OK(tsr_var(&z, x, columns ? 1 : 0, (const int[]){ 0 }, false, 0));
            for (int64_t i = 0; z && i < tsr_numel(z); i++) EXPECT(fabs(((double *)z->data)[i] - 1.25) < 1e-12);
            tsr_release(&z);
            tsr_release(&x);
        }
    /* In f32, where 1e7 and 1 meet in the last bit. */
    tsr_tensor *x = vector(TSR_F32, 4000), *z = NULL;
    if (!x) return;
    for (int i = 0; i < 4000; i++) ((float *)x->data)[i] = 1e7f + (float)(i % 4);
    EXPECT_OK(tsr_var(&z, x, 0, NULL, false, 0));
    EXPECT(take(&z) == 1.25);
    tsr_release(&x);
}

static void test_logsumexp_and_norm_do_not_overflow(void)
{
    tsr_tensor *x = vector(TSR_F64, 2), *z = NULL;
    if (!x) return;
    double *v = x->data;
    v[0] = v[1] = 1e4;
    EXPECT_OK(tsr_logsumexp(&z, x, 0, NULL, false));
    EXPECT(fabs(take(&z) - (1e4 + log(2))) < 1e-11);
    v[0] = v[1] = -1e4;
    EXPECT_OK(tsr_logsumexp(&z, x, 0, NULL, false));
    EXPECT(fabs(take(&z) - (-1e4 + log(2))) < 1e-11);
    v[1] = INFINITY;
    EXPECT_OK(tsr_logsumexp(&z, x, 0, NULL, false));
    EXPECT(take(&z) == INFINITY);
    v[0] = v[1] = -INFINITY;
    EXPECT_OK(tsr_logsumexp(&z, x, 0, NULL, false));
    EXPECT(take(&z) == -INFINITY);
    static const double scales[] = { 1e300, 1e-300, 5e-324, 1, 1.5e307 };
    for (int i = 0; i < 5; i++) {
        v[0] = 3 * scales[i];
        v[1] = -4 * scales[i];
        EXPECT_OK(tsr_norm(&z, x, 0, NULL, false, 2));
        EXPECT(fabs(take(&z) / scales[i] - 5) < 1e-15 * 16);
        EXPECT_OK(tsr_norm(&z, x, 0, NULL, false, 3));
        if (scales[i] > 1e-320) EXPECT(fabs(take(&z) / scales[i] - cbrt(91)) < 1e-14);
        else                    tsr_release(&z);
        EXPECT_OK(tsr_norm(&z, x, 0, NULL, false, -2));
        if (scales[i] > 1e-320) EXPECT(fabs(take(&z) / scales[i] - 2.4) < 1e-14);
        else                    tsr_release(&z);
    }
    tsr_release(&x);
}

static void test_infinities_in_sums_stay_infinities(void)
{
    tsr_tensor *x = vector(TSR_F64, 1000), *z = NULL;
    if (!x) return;
    double *v = x->data;
    for (int i = 0; i < 1000; i++) v[i] = i;
    v[500] = INFINITY;
    EXPECT_OK(tsr_sum(&z, x, 0, NULL, false));
    EXPECT(take(&z) == INFINITY);
    v[501] = -INFINITY;
    EXPECT_OK(tsr_sum(&z, x, 0, NULL, false));
    EXPECT(isnan(take(&z)));
    EXPECT_OK(tsr_cumsum(&z, x, 0));
    EXPECT(z && ((double *)z->data)[499] == 124750 && ((double *)z->data)[500] == INFINITY &&
           isnan(((double *)z->data)[501]) && isnan(((double *)z->data)[999]));
    tsr_release(&z);
    tsr_release(&x);
}

static void test_argmax_finds_the_first_of_equals_and_the_first_nan(void)
{
    tsr_tensor *x = vector(TSR_F32, 200000), *z = NULL, *turned = NULL;
    if (!x) return;
    float *v = x->data;
    for (int i = 0; i < 200000; i++) v[i] = (float)(i % 1000);
    EXPECT_OK(tsr_argmax(&z, x, 0, false));
    EXPECT(take(&z) == 999);
    EXPECT_OK(tsr_argmin(&z, x, TSR_ALL_AXES, true));
    EXPECT(z && z->ndim == 1);
    EXPECT(take(&z) == 0);
    EXPECT_OK(tsr_flip(&turned, x, 1, (const int[]){ 0 }));
    EXPECT_OK(tsr_argmin(&z, turned, 0, false));
    EXPECT(take(&z) == 999);
    v[150000] = v[170000] = NAN;
    EXPECT_OK(tsr_argmax(&z, x, 0, false));
    EXPECT(take(&z) == 150000);
    EXPECT_OK(tsr_argmin(&z, turned, 0, false));
    EXPECT(take(&z) == 29999);
    EXPECT_OK(tsr_max(&z, x, 0, NULL, false));
    EXPECT(isnan(take(&z)));
    EXPECT_OK(tsr_min(&z, x, 0, NULL, false));
    EXPECT(isnan(take(&z)));
    tsr_release(&turned);
    tsr_release(&x);
}

/* Rows and runs of a few elements, of whole numbers: everything is exact. */
static void test_narrow_matrices_are_right_along_both_axes(void)
{
    static const int64_t shapes[][2] = { { 1003, 7 }, { 2000, 8 }, { 301, 63 }, { 7, 1003 }, { 900, 1 }, { 40, 33 } };
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int axis = 0; axis < 2; axis++) {
            const int64_t rows = shapes[k][0], cols = shapes[k][1], n = axis ? cols : rows;
            uint64_t state = 5 + k;
            tsr_tensor *x = NULL, *sum = NULL, *max = NULL, *at = NULL;
            EXPECT_OK(tsr_empty(&x, TSR_F32, 2, shapes[k]));
            if (!x) return;
            float *v = x->data;
            for (int64_t i = 0; i < rows * cols; i++) v[i] = (float)(test_next(&state) >> 50);
            EXPECT_OK(tsr_sum(&sum, x, 1, &axis, false));
            EXPECT_OK(tsr_max(&max, x, 1, &axis, false));
            EXPECT_OK(tsr_argmax(&at, x, axis, false));
            for (int64_t j = 0; sum && max && at && j < tsr_numel(sum); j++) {
                double total = 0;
                int64_t best = 0;
                const int64_t first = axis ? j * cols : j, step = axis ? 1 : cols;
                for (int64_t i = 0; i < n; i++) {
                    total += (double)v[first + i * step];
                    if (v[first + i * step] > v[first + best * step]) best = i;
                }
                EXPECT(((float *)sum->data)[j] == (float)total);
                EXPECT(((float *)max->data)[j] == v[first + best * step]);
                EXPECT(((int64_t *)at->data)[j] == best);
            }
            tsr_release(&sum);
            tsr_release(&max);
            tsr_release(&at);
            tsr_release(&x);
        }
}

static void test_any_and_all_see_one_element_among_many(void)
{
    tsr_tensor *x = NULL, *z = NULL;
    EXPECT_OK(tsr_zeros(&x, TSR_F16, 1, (const int64_t[]){ 300000 }));
    if (!x) return;
    uint16_t *v = x->data;
    for (int at = 0; at < 300000; at += 49999) {
        EXPECT_OK(tsr_any(&z, x, 0, NULL, false));
        EXPECT(take(&z) == 0);
        v[at] = 0x8001;
        EXPECT_OK(tsr_any(&z, x, 0, NULL, false));
        EXPECT(take(&z) == 1);
        v[at] = 0x8000;  /* -0 */
    }
    for (int i = 0; i < 300000; i++) v[i] = 0x7e00;  /* NaN is not zero */
    EXPECT_OK(tsr_all(&z, x, 0, NULL, false));
    EXPECT(take(&z) == 1);
    v[299999] = 0;
    EXPECT_OK(tsr_all(&z, x, 0, NULL, false));
    EXPECT(take(&z) == 0);
    tsr_release(&x);
}

/* Nothing, and one --------------------------------------------------------------------------- */

static void test_no_elements_give_each_ops_neutral_answer(void)
{
    static const struct { int op; double answer; } want[] = {
        { 0, 0 }, { 1, 1 }, { 2, NAN }, { 3, NAN }, { 4, NAN }, { 7, 0 }, { 8, 1 }, { 9, 0 }, { 10, -INFINITY },
        { 11, 0 },
    };
    tsr_tensor *x = NULL, *z = NULL;
    EXPECT_OK(tsr_empty(&x, TSR_F32, 2, (const int64_t[]){ 0, 3 }));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        for (int norm = 0; norm < 5; norm++) {
            const double ps[] = { 2, 0, -INFINITY, 3, -1 };
            EXPECT_OK(call(&ops[want[i].op], &z, x, 0, NULL, false, want[i].op == 11 ? ps[norm] : norm));
            const double got = take(&z);
            EXPECT_MSG(got == want[i].answer || (isnan(got) && isnan(want[i].answer)), "%s: %g", ops[want[i].op].name,
                       got);
        }
    EXPECT_FAILS(tsr_max(&z, x, 0, NULL, false), TSR_ESHAPE, "max: f32(0, 3");
    EXPECT_FAILS(tsr_min(&z, x, 1, (const int[]){ 0 }, false), TSR_ESHAPE, "no elements along axis 0");
    EXPECT_FAILS(tsr_argmax(&z, x, 0, false), TSR_ESHAPE, "argmax");
    EXPECT_FAILS(tsr_argmin(&z, x, TSR_ALL_AXES, false), TSR_ESHAPE, "argmin");
    EXPECT(z == NULL);
    EXPECT_OK(tsr_max(&z, x, 1, (const int[]){ 1 }, false));  /* no outputs: nothing is asked of nothing */
    EXPECT(z && tsr_numel(z) == 0);
    tsr_release(&z);
    tsr_release(&x);
}

static void test_a_scalar_is_reduced_to_itself(void)
{
    tsr_tensor *x = NULL, *z = NULL;
    EXPECT_OK(tsr_full(&x, TSR_I32, 0, NULL, TSR_SCALAR(-7)));
    EXPECT_OK(tsr_sum(&z, x, 0, NULL, true));
    EXPECT(z && z->ndim == 0 && z->dtype == TSR_I64);
    EXPECT(take(&z) == -7);
    EXPECT_OK(tsr_argmax(&z, x, TSR_ALL_AXES, false));
    EXPECT(take(&z) == 0);
    EXPECT_OK(tsr_prod(&z, TSR_NUMBER(2.5), 0, NULL, false));
    EXPECT(take(&z) == 2.5);
    tsr_release(&x);
}

/* Bad input ----------------------------------------------------------------------------------- */

static void test_bad_arguments_are_refused_in_words(void)
{
    tsr_tensor *x = NULL, *b = NULL, *z = NULL, *none = NULL;
    EXPECT_OK(tsr_zeros(&x, TSR_F32, 2, (const int64_t[]){ 2, 3 }));
    EXPECT_OK(tsr_zeros(&b, TSR_BOOL, 1, (const int64_t[]){ 3 }));
    EXPECT_FAILS(tsr_sum(NULL, x, 0, NULL, false), TSR_ENULL, "sum: out is NULL");
    EXPECT_FAILS(tsr_sum(&z, NULL, 0, NULL, false), TSR_ENULL, "sum: x");
    EXPECT_FAILS(tsr_sum(&z, none, 0, NULL, false), TSR_ENULL, "sum: x");
    EXPECT_FAILS(tsr_sum(&z, x, 1, NULL, false), TSR_ENULL, "sum: axes is NULL");
    EXPECT_FAILS(tsr_sum(&z, x, -1, (const int[]){ 0 }, false), TSR_EINVAL, "axes");
    EXPECT_FAILS(tsr_sum(&z, x, 17, (const int[17]){ 0 }, false), TSR_EINVAL, "axes");
    EXPECT_FAILS(tsr_sum(&z, x, 1, (const int[]){ 2 }, false), TSR_EINDEX, "axis 2 of f32(2, 3");
    EXPECT_FAILS(tsr_sum(&z, x, 1, (const int[]){ -3 }, false), TSR_EINDEX, "axis -3");
    EXPECT_FAILS(tsr_sum(&z, x, 2, (const int[]){ 1, -1 }, false), TSR_EINVAL, "axis 1 of f32(2, 3");
    EXPECT_FAILS(tsr_sum(&z, b, 0, NULL, false), TSR_EDTYPE, "sum: x: dtype must be real/c64/c128, but x is bool");
    EXPECT_FAILS(tsr_var(&z, x, 0, NULL, false, NAN), TSR_EINVAL, "correction");
    EXPECT_FAILS(tsr_std(&z, x, 0, NULL, false, INFINITY), TSR_EINVAL, "correction");
    EXPECT_FAILS(tsr_norm(&z, x, 0, NULL, false, NAN), TSR_EINVAL, "p is NaN");
    EXPECT_FAILS(tsr_argmax(&z, x, 2, false), TSR_EINDEX, "argmax: axis 2");
    EXPECT_FAILS(tsr_cumsum(&z, x, TSR_ALL_AXES), TSR_EINDEX, "cumsum: axis");
    EXPECT_FAILS(tsr_cumprod(&z, b, 0), TSR_EDTYPE, "cumprod");
    EXPECT_FAILS(tsr_cummax(NULL, x, 0), TSR_ENULL, "cummax: out");
    EXPECT_FAILS(tsr_diff(&z, x, 0, -1), TSR_EINVAL, "n is -1");
    EXPECT_FAILS(tsr_diff(&z, x, 2, 1), TSR_EINDEX, "diff: axis 2");
    EXPECT_FAILS(tsr_diff(&z, b, 0, 1), TSR_EDTYPE, "diff: x is bool");
    EXPECT_FAILS(tsr_diff(NULL, x, 0, 1), TSR_ENULL, "diff: out");
    EXPECT_FAILS(tsr_sum(&b, x, 0, NULL, false), TSR_EDTYPE, "sum: the result is f32");
    EXPECT_FAILS(tsr_any(&b, x, 0, NULL, false), TSR_ESHAPE, "any: the result is bool");
    EXPECT_FAILS(tsr_diff(&x, x, 0, 1), TSR_ESHAPE, "diff: the result is f32(1, 3");
    EXPECT(z == NULL);
    tsr_release(&x);
    tsr_release(&b);
}

static void test_infer_needs_no_data(void)
{
    tsr_desc x, z;
    const tsr_reduce_params params = { .axes = 5, .keepdims = true };
    EXPECT_OK(tsr_desc_init(&x, TSR_I16, 3, (const int64_t[]){ 2, 3, 4 }, NULL));
    EXPECT_OK(tsr_infer(&z, TSR_OP_SUM, 1, (const tsr_desc *const[]){ &x }, &params));
    EXPECT(z.dtype == TSR_I64 && z.ndim == 3 && z.shape[0] == 1 && z.shape[1] == 3 && z.shape[2] == 1);
    EXPECT_OK(tsr_infer(&z, TSR_OP_ARGMIN, 1, (const tsr_desc *const[]){ &x }, &(tsr_reduce_params){ .axes = 2 }));
    EXPECT(z.dtype == TSR_I64 && z.ndim == 2 && z.shape[0] == 2 && z.shape[1] == 4);
    EXPECT_OK(tsr_infer(&z, TSR_OP_CUMMAX, 1, (const tsr_desc *const[]){ &x }, &(tsr_reduce_params){ .axes = 2 }));
    EXPECT(tsr_desc_same(&z, &x));
}

/* Memory ---------------------------------------------------------------------------------------- */

static int allowed;

static bool allow_some(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return allowed-- > 0;
}

/* With every number of allocations that is too small, a call fails and changes nothing. */
static void expect_survives(const op_case *op, const tsr_tensor *x, tsr_tensor *given)
{
    for (int n = 0; n < 20; n++) {
        tsr_tensor *z = given;
        allowed = n;
        tsr_set_alloc_hook(allow_some, NULL);
        const tsr_status s = call(op, &z, x, op->scan || op->arg, (const int[]){ 0 }, false, 1);
        tsr_set_alloc_hook(NULL, NULL);
        EXPECT_MSG(s == TSR_OK || s == TSR_ENOMEM, "%s: %s", op->name, tsr_last_error());
        EXPECT(s == TSR_OK || z == given);
        if (z != given) tsr_release(&z);
        if (s == TSR_OK) return;
    }
    EXPECT(!"it ends");
}

static void test_running_out_of_memory_changes_nothing(void)
{
    tsr_tensor *x = NULL, *small = NULL;
    EXPECT_OK(tsr_zeros(&x, TSR_F64, 1, (const int64_t[]){ 200000 }));
    EXPECT_OK(tsr_zeros(&small, TSR_F64, 2, (const int64_t[]){ 3, 4 }));
    for (int i = 0; i < OPS; i++) {
        expect_survives(&ops[i], x, NULL);
        expect_survives(&ops[i], small, NULL);
    }
    tsr_tensor first = { 0 };  /* a result inside x: x is copied */
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_F64, 0, NULL, NULL));
    EXPECT_OK(tsr_place(&first, x->data, &d));
    expect_survives(&ops[0], x, &first);
    for (int n = 0;; n++) {
        tsr_tensor *z = NULL;
        allowed = n;
        tsr_set_alloc_hook(allow_some, NULL);
        const tsr_status s = tsr_diff(&z, small, 1, 3);
        tsr_set_alloc_hook(NULL, NULL);
        EXPECT(s == TSR_OK ? z != NULL : s == TSR_ENOMEM && z == NULL);
        tsr_release(&z);
        if (s == TSR_OK || n > 30) break;
    }
    tsr_release(&x);
    tsr_release(&small);
}

static void test_scans_work_in_place(void)
{
    tsr_tensor *x = NULL;
    EXPECT_OK(tsr_empty(&x, TSR_I64, 2, (const int64_t[]){ 100, 70 }));
    if (!x) return;
    for (int i = 0; i < 7000; i++) ((int64_t *)x->data)[i] = 1;
    EXPECT_OK(tsr_cumsum(&x, x, 0));
    EXPECT_OK(tsr_cumsum(&x, x, 1));
    for (int i = 0; i < 100; i++)
        for (int j = 0; j < 70; j++) EXPECT(((int64_t *)x->data)[i * 70 + j] == (int64_t)(i + 1) * (j + 1));
    tsr_release(&x);
}

int main(int argc, char **argv)
{
    ref_begin(argc, argv);
    RUN(test_sum_is_right_for_every_dtype_and_stride);
    RUN(test_prod_is_right_for_every_dtype_and_stride);
    RUN(test_mean_is_right_for_every_dtype_and_stride);
    RUN(test_var_is_right_for_every_dtype_and_stride);
    RUN(test_std_is_right_for_every_dtype_and_stride);
    RUN(test_max_is_right_for_every_dtype_and_stride);
    RUN(test_min_is_right_for_every_dtype_and_stride);
    RUN(test_any_is_right_for_every_dtype_and_stride);
    RUN(test_all_is_right_for_every_dtype_and_stride);
    RUN(test_count_nonzero_is_right_for_every_dtype_and_stride);
    RUN(test_logsumexp_is_right_for_every_dtype_and_stride);
    RUN(test_norm_is_right_for_every_dtype_and_stride);
    RUN(test_argmax_is_right_for_every_dtype_and_stride);
    RUN(test_argmin_is_right_for_every_dtype_and_stride);
    RUN(test_cumsum_is_right_for_every_dtype_and_stride);
    RUN(test_cumprod_is_right_for_every_dtype_and_stride);
    RUN(test_cummax_is_right_for_every_dtype_and_stride);
    RUN(test_diff_is_right_for_every_dtype_and_stride);
    RUN(test_thread_counts_give_the_same_bits);
    RUN(test_large_sums_match_long_double_within_units_of_the_sum_of_sizes);
    RUN(test_ten_million_tenths_sum_to_a_million);
    RUN(test_more_than_2_to_the_31_elements_are_reduced);
    RUN(test_overlapping_windows_are_reduced_element_by_element);
    RUN(test_variance_does_not_cancel_under_a_large_mean);
    RUN(test_logsumexp_and_norm_do_not_overflow);
    RUN(test_infinities_in_sums_stay_infinities);
    RUN(test_argmax_finds_the_first_of_equals_and_the_first_nan);
    RUN(test_narrow_matrices_are_right_along_both_axes);
    RUN(test_any_and_all_see_one_element_among_many);
    RUN(test_no_elements_give_each_ops_neutral_answer);
    RUN(test_a_scalar_is_reduced_to_itself);
    RUN(test_bad_arguments_are_refused_in_words);
    RUN(test_infer_needs_no_data);
    RUN(test_running_out_of_memory_changes_nothing);
    RUN(test_scans_work_in_place);
    return TEST_END();
}
