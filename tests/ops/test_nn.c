/* test_nn.c - networks' ops against direct loops in long double, over any strides, with the
 * backend's kernels and with parts.
 *
 * Every operand lies in a slot of one block of memory, which is compared as a whole
 * afterwards. What must come out is worked out from a copy of the block, element by
 * element; bounds on the error are stated where they are computed, in units of the type
 * that is computed in, and do not depend on how an op goes about it.
 */
#include <math.h>

#include "ops/dispatch.h"
#include "property/reference.h"

enum { CASES = 6 * 2 * 200, SLOT = 1 << 13, SLOTS = 8, OUT = 6, OUT2 = 7, X = 0 };

static _Alignas(64) unsigned char memory[SLOT * SLOTS], before[SLOT * SLOTS];
static ref_view view[SLOTS];
static tsr_desc desc[SLOTS];

typedef long double wide;

/* Numbers --------------------------------------------------------------------------- */

static wide wide_of(ref_number n)
{
    if (n.kind == REF_NAN) return NAN;
    const wide size = n.kind == REF_INFINITE ? (wide)INFINITY : ldexpl((wide)n.bits, n.exponent);
    return n.negative ? -size : size;
}

/* Element k of operand i, as it was before the call. */
static wide number(int i, int64_t k) { return wide_of(ref_decode(view[i].dtype, before + view[i].at[k])); }

/* The same at an index. */
static wide number_at(int i, const int64_t *index) { return number(i, ref_flat(&view[i], index)); }

static int64_t integer(int i, int64_t k)
{
    int64_t v;
    memcpy(&v, before + view[i].at[k], sizeof v);
    return v;
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
    wide value, error;
} answer;

static bool is_close(tsr_dtype dtype, const void *p, answer a)
{
    const wide got = wide_of(ref_decode(dtype, p));
    if (a.value != a.value) return got != got;
    if (isinf(a.value)) return dtype == TSR_F8E4M3 ? got != got : got == a.value;
    const wide slack = a.error + half_step(dtype, fabsl(a.value) + a.error);
    if (!isfinite((double)got) && fabsl(a.value) + slack > largest(dtype))  /* it may round beyond the last */
        return got != got ? dtype == TSR_F8E4M3 : (got < 0) == (a.value < 0);
    return fabsl(got - a.value) <= slack;
}

/* Plans ------------------------------------------------------------------------------- */

typedef struct plan {
    tsr_dtype     dtype;        /* of x and of the results */
    wide          unit;         /* of the type that is computed in: half its last place at 1 */
    int           ndim, out_ndim;
    int64_t       shape[TSR_MAX_NDIM], out_shape[TSR_MAX_NDIM];
    bool          has[SLOTS];   /* operands that are there */
    int           axis, mode;
    int64_t       count, ignore;
    tsr_reduction reduction;
    double        eps, a, smoothing;
    uint64_t      seed;
} plan;

/* The step between the smallest numbers that are computed with: a product may have lost one. */
static wide smallest(const plan *p) { return ldexpl(1, p->dtype == TSR_F64 ? -1073 : -148); }

typedef struct op_case {
    const char *name;
    bool        two;            /* results */
    void      (*setup)(ref_case *c, plan *p);
    tsr_status (*call)(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2);
    answer    (*want)(const plan *p, int result, const int64_t *index);
} op_case;

static const op_case *current;

enum values { WILD, TAME, POSITIVE, CHANCES };

static void random_number(ref_case *c, tsr_dtype dtype, unsigned char *p, enum values values)
{
    ref_number n = { REF_FINITE, ref_once_in(c, 2), (uint64_t)ref_between(c, 0, 300), -3 };
    if (values == POSITIVE || values == CHANCES) {
        n.negative = false;
        n.bits += values == POSITIVE;
    }
    if (values == CHANCES) n.exponent = -9;
    uint64_t bits = ref_encode_float(dtype, n);
    if (values == WILD && ref_once_in(c, 80)) bits = ref_special_float(c, dtype);
    const wide v = wide_of(ref_decode_float(dtype, bits));
    if (isfinite(v) && fabsl(v) > 1000) bits = 0;
    if (ref_once_in(c, 4) && values == TAME) {  /* some that are no short numbers */
        const double d = (double)test_next(&c->random) * 0x1p-60 - 8;
        ref_convert(dtype, p, TSR_F64, &d);
        return;
    }
    ref_store_bits(p, ref_size(dtype), bits);
}

/* Moves a view so that its lowest byte is at `lowest` or just above, aligned; returns its first
 * element's place. */
static int64_t move_to(ref_view *v, int64_t lowest, int64_t align)
{
    int64_t low, high;
    ref_span(v, &low, &high);
    const int64_t first = (lowest - low + align - 1) / align * align;
    for (int64_t k = 0; k < v->n; k++) v->at[k] += first;
    return first;
}

static bool place(ref_case *c, int i, tsr_dtype dtype, int ndim, const int64_t *shape, bool writable,
                  int64_t lowest)
{
    int64_t low, high;
    tsr_release(&c->t[i]);
    ref_random_desc(c, &desc[i], &view[i], &low, dtype, ndim, shape, writable, SLOT - 128);
    const int64_t first = move_to(&view[i], lowest, ref_align(dtype));
    ref_span(&view[i], &low, &high);
    return ref_make(c, i, memory, first, &desc[i], view[i].n ? low : first, view[i].n ? high : first);
}

static void operand(ref_case *c, plan *p, int i, tsr_dtype dtype, int ndim, const int64_t *shape,
                    enum values values)
{
    p->has[i] = true;
    if (!place(c, i, dtype, ndim, shape, i == X && ref_once_in(c, 2), i * SLOT)) return;
    for (int64_t k = 0; k < view[i].n; k++) random_number(c, dtype, memory + view[i].at[k], values);
}

static void integers(ref_case *c, plan *p, int i, int ndim, const int64_t *shape, int64_t low, int64_t high)
{
    p->has[i] = true;
    if (!place(c, i, TSR_I64, ndim, shape, false, i * SLOT)) return;
    for (int64_t k = 0; k < view[i].n; k++) {
        const int64_t v = p->ignore < 0 && ref_once_in(c, 5) ? p->ignore : ref_between(c, low, high);
        memcpy(memory + view[i].at[k], &v, sizeof v);
    }
}

static tsr_dtype random_float_dtype(ref_case *c) { return (tsr_dtype)ref_between(c, TSR_F8E4M3, TSR_F64); }

/* A shape of this many dims at least. */
static void random_shape(ref_case *c, plan *p, int least)
{
    do p->ndim = ref_random_shape(c, p->shape, REF_RANK, REF_SOURCE / 2);
    while (p->ndim < least);
    p->out_ndim = p->ndim;
    memcpy(p->out_shape, p->shape, sizeof p->shape);
}

/* The result: made, given, x itself, or over x in another way. Returns whether it was given. */
static bool place_result(ref_case *c, const plan *p)
{
    const int64_t kind = ref_below(c, 5);
    ref_set_shape(&view[OUT], p->dtype, p->out_ndim, p->out_shape);
    if (kind == 0) return false;
    const bool same =
        p->out_ndim == p->ndim && !memcmp(p->out_shape, p->shape, sizeof(int64_t) * (size_t)p->ndim);
    if (kind == 1 && same && !ref_repeats(&view[X])) {
        view[OUT] = view[X];
        ref_say(c, "    in place\n");
        const tsr_status s = tsr_wrap(&c->t[OUT], c->t[X]->data, &desc[X]);
        if (s != TSR_OK) ref_fail(c, __FILE__, __LINE__, "wrapped");
        return true;
    }
    (void)place(c, OUT, p->dtype, p->out_ndim, p->out_shape, true, kind == 2 ? ref_below(c, 64) : OUT * SLOT);
    return true;
}

static bool result_is(ref_case *c, const plan *p, int slot, unsigned char *base)
{
    for (REF_EACH(&view[slot], index, k)) {
        const answer a = current->want(p, slot - OUT, index);
        if (is_close(p->dtype, base + view[slot].at[k], a)) continue;
        ref_say(c, "    result %d at ", slot - OUT);
        ref_say_numbers(c, view[slot].ndim, index);
        ref_say(c, ": wanted %.12Lg within %Lg, got %.12Lg\n", a.value, a.error,
                wide_of(ref_decode(p->dtype, base + view[slot].at[k])));
        MUST_TRUE(!"the element is right");
    }
    return true;
}

static bool made_is(ref_case *c, const plan *p, int slot)
{
    const tsr_tensor *t = c->t[slot];
    MUST_TRUE(t && t->dtype == p->dtype && t->ndim == view[slot].ndim && tsr_check(t) == TSR_OK);
    for (int i = 0; i < t->ndim; i++) MUST_TRUE(t->shape[i] == view[slot].shape[i]);
    MUST_TRUE(tsr_desc_is_contiguous(&t->desc));
    ref_of_desc(&view[slot], &t->desc, 0);
    return result_is(c, p, slot, t->data);
}

static void one_case(ref_case *c)
{
    static unsigned char expected[sizeof memory];
    plan p = { .dtype = (tsr_dtype)(TSR_F8E4M3 + c->number % 6), .ignore = 0 };
    const bool parts = c->number / 6 % 2;
    p.unit = p.dtype == TSR_F64 ? ldexpl(1, -53) : ldexpl(1, -24);
    ref_random_bytes(c, memory, sizeof memory);
    ref_say(c, "    %s, %s\n", current->name, parts ? "parts" : "kernel");
    current->setup(c, &p);
    MUST_GO_ON(c);
    const bool given = place_result(c, &p), given2 = current->two && ref_once_in(c, 2);
    ref_set_shape(&view[OUT2], p.dtype, p.out_ndim, p.out_shape);
    if (given2) (void)place(c, OUT2, p.dtype, p.out_ndim, p.out_shape, true, OUT2 * SLOT);
    MUST_GO_ON(c);
    memcpy(before, memory, sizeof memory);
    tsri_prefer_parts(parts);
    const tsr_status s = current->call(&p, c->t, &c->t[OUT], &c->t[OUT2]);
    tsri_prefer_parts(false);
    MUST(s == TSR_OK);
    MUST(given ? result_is(c, &p, OUT, memory) : made_is(c, &p, OUT));
    if (current->two) MUST(given2 ? result_is(c, &p, OUT2, memory) : made_is(c, &p, OUT2));
    memcpy(expected, before, sizeof before);
    for (int r = 0; r < 2; r++)
        for (int64_t k = 0; (r ? given2 : given) && k < view[OUT + r].n; k++)
            memcpy(expected + view[OUT + r].at[k], memory + view[OUT + r].at[k], (size_t)ref_size(p.dtype));
    MUST(!memcmp(memory, expected, sizeof memory));
}

/* Softmax ------------------------------------------------------------------------------ */

static void setup_softmax(ref_case *c, plan *p)
{
    random_shape(c, p, 1);
    p->axis = (int)ref_below(c, p->ndim);
    operand(c, p, X, p->dtype, p->ndim, p->shape, WILD);
}

static tsr_status call_softmax(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)out2;
    return tsr_softmax(out, in[X], p->axis - p->ndim);
}

static tsr_status call_log_softmax(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)out2;
    return tsr_log_softmax(out, in[X], p->axis);
}

/* The largest and the sum of exp(x - largest) of elements 0 .. n - 1 of a lane. */
static void lane_exps(wide *most, wide *sum, const int64_t *index, int axis, int64_t n)
{
    int64_t at[TSR_MAX_NDIM];
    memcpy(at, index, sizeof at);
    *most = -INFINITY;
    *sum = 0;
    for (at[axis] = 0; at[axis] < n; at[axis]++) *most = fmaxl(*most, number_at(X, at));
    for (at[axis] = 0; at[axis] < n; at[axis]++) *sum += expl(number_at(X, at) - *most);
}

/* An exponent's rounding becomes a relative error of the exponential. */
static answer softmax_answer(const plan *p, const int64_t *index, int axis, int64_t n)
{
    wide most, sum;
    lane_exps(&most, &sum, index, axis, n);
    const wide x = number_at(X, index), v = expl(x - most) / sum;
    const wide far = isfinite(x) && isfinite(most) ? most - x : 0;
    return (answer){ v, v * p->unit * (2 * far + 16) + smallest(p) };
}

static answer want_softmax(const plan *p, int result, const int64_t *index)
{
    (void)result;
    return softmax_answer(p, index, p->axis, p->shape[p->axis]);
}

static answer want_log_softmax(const plan *p, int result, const int64_t *index)
{
    wide most, sum;
    (void)result;
    lane_exps(&most, &sum, index, p->axis, p->shape[p->axis]);
    const wide v = number_at(X, index) - most - logl(sum);
    return (answer){ v, isfinite(v) ? p->unit * (16 + 4 * fabsl(v)) : 0 };
}

static void setup_causal(ref_case *c, plan *p)
{
    random_shape(c, p, 2);
    operand(c, p, X, p->dtype, p->ndim, p->shape, WILD);
}

static tsr_status call_causal(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)p; (void)out2;
    return tsr_causal_softmax(out, in[X]);
}

static answer want_causal(const plan *p, int result, const int64_t *index)
{
    const int64_t i = index[p->ndim - 2], j = index[p->ndim - 1],
                  past = p->shape[p->ndim - 1] - p->shape[p->ndim - 2];
    (void)result;
    return j > i + past ? (answer){ 0, 0 } : softmax_answer(p, index, p->ndim - 1, i + past + 1);
}

/* Norms --------------------------------------------------------------------------------- */

static const double some_eps[] = { 1e-5, 1e-6, 1e-3, 0.25 };

/* Weight in slot 1 and bias in slot 2, or not, of a dtype of their own. */
static void setup_affine(ref_case *c, plan *p, int ndim, const int64_t *shape)
{
    const tsr_dtype dtype = random_float_dtype(c);
    p->eps = some_eps[ref_below(c, 4)];
    if (!ref_once_in(c, 3)) operand(c, p, 1, dtype, ndim, shape, TAME);
    if (!ref_once_in(c, 3)) operand(c, p, 2, dtype, ndim, shape, TAME);
}

static void setup_layer_norm(ref_case *c, plan *p)
{
    random_shape(c, p, 1);
    p->count = ref_between(c, 1, p->ndim);
    operand(c, p, X, p->dtype, p->ndim, p->shape, ref_once_in(c, 8) ? WILD : TAME);
    setup_affine(c, p, (int)p->count, p->shape + p->ndim - p->count);
}

static tsr_status call_layer_norm(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)out2;
    return tsr_layer_norm(out, in[X], (int)p->count, in[1], in[2], p->eps);
}

/* Of some of x's elements. */
typedef struct moments {
    wide sum, squares, size;  /* size: the largest |x| */
    int64_t n;
} moments;

static void take_in(moments *m, wide x, wide mean)
{
    m->sum += x;
    m->squares += (x - mean) * (x - mean);
    m->size = fmaxl(m->size, fabsl(x));
    m->n++;
}

/* Over the dims from `first` on, and in dim `first` over low .. high - 1 only. */
static moments moments_of(const plan *p, const int64_t *index, int first, int64_t low, int64_t high,
                          bool centred)
{
    moments m = { 0, 0, 0, 0 };
    for (int pass = 0; pass < 2; pass++) {
        const wide mean = pass && centred ? m.sum / (wide)m.n : 0;
        m = (moments){ 0, 0, 0, 0 };
        for (REF_EACH(&view[X], at, k)) {
            bool in = first < p->ndim && at[first] >= low && at[first] < high;
            for (int i = 0; i < first; i++) in &= at[i] == index[i];
            if (in) take_in(&m, number(X, k), mean);
        }
    }
    return m;
}

/* (x - mean) / rms * w + b. An error of x or of the mean by some units of the largest |x|, of the others
 * by some of their own. */
static answer normed(const plan *p, wide x, const moments *m, bool centred, wide w, wide b)
{
    const wide mean = centred ? m->sum / (wide)m->n : 0,
               by = 1 / sqrtl(m->squares / (wide)m->n + (wide)p->eps);
    const wide v = (x - mean) * by * w + b;
    const wide error = p->unit * (16 * fabsl(b) + 32 * fabsl(w) * (m->size * by + fabsl(x - mean) * by));
    return (answer){ v, (isfinite(error) ? error : 0) + (1 + fabsl(w)) * smallest(p) };
}

static wide given_or(const plan *p, int i, int64_t k, wide otherwise)
{
    return p->has[i] ? number(i, k) : otherwise;
}

static answer want_layer_norm(const plan *p, int result, const int64_t *index)
{
    const int first = p->ndim - (int)p->count;
    int64_t k = 0;
    (void)result;
    const moments m = moments_of(p, index, first, 0, INT64_MAX, true);
    for (int i = first; i < p->ndim; i++) k = k * p->shape[i] + index[i];
    return normed(p, number_at(X, index), &m, true, given_or(p, 1, k, 1), given_or(p, 2, k, 0));
}

static void setup_rms_norm(ref_case *c, plan *p)
{
    random_shape(c, p, 1);
    p->eps = some_eps[ref_below(c, 4)];
    operand(c, p, X, p->dtype, p->ndim, p->shape, ref_once_in(c, 8) ? WILD : TAME);
    if (!ref_once_in(c, 3)) operand(c, p, 1, random_float_dtype(c), 1, p->shape + p->ndim - 1, TAME);
}

static tsr_status call_rms_norm(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)out2;
    return tsr_rms_norm(out, in[X], in[1], p->eps);
}

static answer want_rms_norm(const plan *p, int result, const int64_t *index)
{
    (void)result;
    const moments m = moments_of(p, index, p->ndim - 1, 0, INT64_MAX, false);
    return normed(p, number_at(X, index), &m, false, given_or(p, 1, index[p->ndim - 1], 1), 0);
}

/* Results: the sum in OUT, so that it may be x, and the norm in OUT2. */
static void setup_add_rms_norm(ref_case *c, plan *p)
{
    random_shape(c, p, 1);
    p->eps = some_eps[ref_below(c, 4)];
    operand(c, p, X, p->dtype, p->ndim, p->shape, TAME);
    operand(c, p, 2, p->dtype, p->ndim, p->shape, TAME);
    if (!ref_once_in(c, 3)) operand(c, p, 1, random_float_dtype(c), 1, p->shape + p->ndim - 1, TAME);
}

static tsr_status call_add_rms_norm(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    return tsr_add_rms_norm(out2, out, in[X], in[2], in[1], p->eps);
}

/* x + residual, rounded as f32 or f64 and then to the dtype. */
static wide sum_at(const plan *p, const int64_t *index)
{
    unsigned char rounded[8];
    const wide exact = number_at(X, index) + number_at(2, index);
    const double d = (double)exact;
    const float f = (float)exact;
    if (p->dtype == TSR_F64) return (wide)d;
    ref_convert(p->dtype, rounded, TSR_F32, &f);
    return wide_of(ref_decode(p->dtype, rounded));
}

static answer want_add_rms_norm(const plan *p, int result, const int64_t *index)
{
    int64_t at[TSR_MAX_NDIM];
    const int last = p->ndim - 1;
    moments m = { 0, 0, 0, 0 };
    if (result == 0) return (answer){ sum_at(p, index), 0 };
    memcpy(at, index, sizeof at);
    for (at[last] = 0; at[last] < p->shape[last]; at[last]++) take_in(&m, sum_at(p, at), 0);
    return normed(p, sum_at(p, index), &m, false, given_or(p, 1, index[last], 1), 0);
}

static void setup_batch_norm(ref_case *c, plan *p)
{
    const tsr_dtype dtype = random_float_dtype(c);
    random_shape(c, p, 2);
    p->eps = some_eps[ref_below(c, 4)];
    operand(c, p, X, p->dtype, p->ndim, p->shape, ref_once_in(c, 3) ? WILD : TAME);
    operand(c, p, 1, dtype, 1, p->shape + 1, TAME);
    operand(c, p, 2, random_float_dtype(c), 1, p->shape + 1, POSITIVE);
    if (!ref_once_in(c, 3)) operand(c, p, 3, dtype, 1, p->shape + 1, TAME);
    if (!ref_once_in(c, 3)) operand(c, p, 4, dtype, 1, p->shape + 1, TAME);
}

static tsr_status call_batch_norm(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)out2;
    return tsr_batch_norm(out, in[X], in[1], in[2], in[3], in[4], p->eps);
}

static answer want_batch_norm(const plan *p, int result, const int64_t *index)
{
    const int64_t k = index[1];
    const wide x = number_at(X, index), mean = number(1, k);
    (void)result;
    const moments m = { mean, number(2, k), fmaxl(fabsl(x), fabsl(mean)), 1 };
    return normed(p, x, &m, true, given_or(p, 3, k, 1), given_or(p, 4, k, 0));
}

static void setup_group_norm(ref_case *c, plan *p)
{
    random_shape(c, p, 2);
    do p->count = ref_between(c, 1, p->shape[1] ? p->shape[1] : 4);
    while (p->shape[1] % p->count);
    operand(c, p, X, p->dtype, p->ndim, p->shape, ref_once_in(c, 8) ? WILD : TAME);
    setup_affine(c, p, 1, p->shape + 1);
}

static tsr_status call_group_norm(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)out2;
    if (p->count == p->shape[1]) return tsr_instance_norm(out, in[X], in[1], in[2], p->eps);
    return tsr_group_norm(out, in[X], p->count, in[1], in[2], p->eps);
}

static answer want_group_norm(const plan *p, int result, const int64_t *index)
{
    const int64_t each = p->shape[1] / p->count, low = index[1] / each * each;
    (void)result;
    const moments m = moments_of(p, index, 1, low, low + each, true);
    return normed(p, number_at(X, index), &m, true, given_or(p, 1, index[1], 1), given_or(p, 2, index[1], 0));
}

/* Rotary positions ----------------------------------------------------------------------- */

static void setup_rope_x(ref_case *c, plan *p)
{
    do random_shape(c, p, 3);
    while (p->shape[p->ndim - 1] % 2);
    p->mode = (int)ref_below(c, 2);
    operand(c, p, X, p->dtype, p->ndim, p->shape, ref_once_in(c, 4) ? WILD : TAME);
}

static void setup_rope(ref_case *c, plan *p)
{
    setup_rope_x(c, p);
    p->a = ref_once_in(c, 2) ? 10000 : 500;
    integers(c, p, 1, 1, p->shape + p->ndim - 3, ref_once_in(c, 4) ? -50 : 0,
             ref_once_in(c, 2) ? 20 : 100000);
}

static tsr_status call_rope(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)out2;
    return tsr_rope(out, in[X], in[1], p->a, (tsr_rope_mode)p->mode);
}

/* The element, with the one that turns with it. */
static answer turned(const plan *p, const int64_t *index, int64_t pair, bool second, wide sine, wide cosine,
                     wide error)
{
    int64_t at[TSR_MAX_NDIM];
    const int last = p->ndim - 1;
    const int64_t half = p->shape[last] / 2;
    memcpy(at, index, sizeof at);
    at[last] = p->mode == TSR_ROPE_PAIRS ? 2 * pair : pair;
    const wide a = number_at(X, at);
    at[last] += p->mode == TSR_ROPE_PAIRS ? 1 : half;
    const wide b = number_at(X, at);
    const wide v = second ? b * cosine + a * sine : a * cosine - b * sine;
    return (answer){ v, isfinite(v) ? (fabsl(a) + fabsl(b)) * (error + 2 * p->unit) : 0 };
}

static int64_t pair_of(const plan *p, const int64_t *index, bool *second)
{
    const int last = p->ndim - 1;
    const int64_t half = p->shape[last] / 2;
    *second = p->mode == TSR_ROPE_PAIRS ? index[last] % 2 : index[last] >= half;
    return p->mode == TSR_ROPE_PAIRS ? index[last] / 2 : index[last] % half;
}

static answer want_rope(const plan *p, int result, const int64_t *index)
{
    bool second;
    const int64_t j = pair_of(p, index, &second), position = integer(1, index[p->ndim - 3]);
    const wide angle = (wide)position / powl((wide)p->a, 2 * (wide)j / (wide)p->shape[p->ndim - 1]);
    (void)result;
    return turned(p, index, j, second, sinl(angle), cosl(angle),
                  fabsl(angle) * ldexpl(1, -50) + ldexpl(1, -50));
}

static void setup_rope_with(ref_case *c, plan *p)
{
    setup_rope_x(c, p);
    const int64_t table[2] = { 1 + ref_below(c, 9), p->shape[p->ndim - 1] / 2 };
    const tsr_dtype dtype = random_float_dtype(c);
    integers(c, p, 1, 1, p->shape + p->ndim - 3, 0, table[0] - 1);
    operand(c, p, 2, dtype, 2, table, TAME);
    operand(c, p, 3, dtype, 2, table, TAME);
}

static tsr_status call_rope_with(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)out2;
    return tsr_rope_with(out, in[X], in[1], in[2], in[3], (tsr_rope_mode)p->mode);
}

static answer want_rope_with(const plan *p, int result, const int64_t *index)
{
    bool second;
    const int64_t j = pair_of(p, index, &second), at[2] = { integer(1, index[p->ndim - 3]), j };
    const wide sine = number_at(2, at), cosine = number_at(3, at);
    (void)result;
    return turned(p, index, j, second, sine, cosine, 40 * p->unit);
}

/* Gates and dropout ------------------------------------------------------------------------ */

static void setup_swiglu(ref_case *c, plan *p)
{
    random_shape(c, p, 0);
    operand(c, p, X, p->dtype, p->ndim, p->shape, WILD);
    operand(c, p, 1, p->dtype, p->ndim, p->shape, TAME);
}

static tsr_status call_swiglu(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)p; (void)out2;
    return tsr_swiglu(out, in[X], in[1]);
}

static answer swiglu_of(const plan *p, wide gate, wide up)
{
    const wide silu = gate == -(wide)INFINITY ? 0 : gate / (1 + expl(-gate)), v = silu * up;
    return (answer){ v, isfinite(v) ? fabsl(v) * 8 * p->unit + smallest(p) * fabsl(up) : 0 };
}

static answer want_swiglu(const plan *p, int result, const int64_t *index)
{
    (void)result;
    return swiglu_of(p, number_at(X, index), number_at(1, index));
}

static void setup_silu_and_mul(ref_case *c, plan *p)
{
    do random_shape(c, p, 1);
    while (p->shape[p->ndim - 1] % 2);
    p->out_shape[p->ndim - 1] /= 2;
    operand(c, p, X, p->dtype, p->ndim, p->shape, TAME);
}

static tsr_status call_silu_and_mul(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)p; (void)out2;
    return tsr_silu_and_mul(out, in[X]);
}

static answer want_silu_and_mul(const plan *p, int result, const int64_t *index)
{
    int64_t at[TSR_MAX_NDIM];
    (void)result;
    memcpy(at, index, sizeof at);
    at[p->ndim - 1] += p->out_shape[p->ndim - 1];
    return swiglu_of(p, number_at(X, index), number_at(X, at));
}

static void setup_dropout(ref_case *c, plan *p)
{
    static const double chances[] = { 0, 1, 0.5, 0.1, 0.9, 1.0 / 3 };
    random_shape(c, p, 0);
    p->a = chances[ref_below(c, 6)];
    p->seed = test_next(&c->random);
    operand(c, p, X, p->dtype, p->ndim, p->shape, WILD);
}

static tsr_status call_dropout(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)out2;
    return tsr_dropout(out, in[X], p->a, p->seed);
}

/* Philox 4x32-10 as its paper has it. */
static uint32_t philox_word(uint64_t seed, uint64_t block, int word)
{
    uint32_t c[4] = { (uint32_t)block, (uint32_t)(block >> 32), 0, 0 },
             k[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)0xD2511F53 * c[0], b = (uint64_t)0xCD9E8D57 * c[2];
        const uint32_t next[4] = { (uint32_t)(b >> 32) ^ c[1] ^ k[0], (uint32_t)b,
                                   (uint32_t)(a >> 32) ^ c[3] ^ k[1], (uint32_t)a };
        memcpy(c, next, sizeof c);
        k[0] += 0x9E3779B9;
        k[1] += 0xBB67AE85;
    }
    return c[word];
}

static answer want_dropout(const plan *p, int result, const int64_t *index)
{
    const uint64_t k = (uint64_t)ref_flat(&view[X], index);
    const double u = (double)(philox_word(p->seed, k / 4, (int)(k % 4)) >> 8) * 0x1p-24;
    (void)result;
    if (u < p->a) return (answer){ 0, 0 };
    const wide v = number_at(X, index) / (1 - (wide)p->a);
    return (answer){ v, p->a == 0 || !isfinite(v) ? 0 : fabsl(v) * 3 * p->unit };
}

/* Losses ---------------------------------------------------------------------------------- */

static void setup_reduction(ref_case *c, plan *p)
{
    p->reduction = (tsr_reduction)ref_below(c, 3);
    if (p->reduction != TSR_REDUCTION_NONE) p->out_ndim = 0;
}

/* x (n, c, ...); the places are all dims but the classes. */
static void setup_classes(ref_case *c, plan *p)
{
    do random_shape(c, p, 2);
    while (p->shape[1] == 0);
    for (int i = 1; i < p->ndim - 1; i++) p->out_shape[i] = p->shape[i + 1];
    p->out_ndim = p->ndim - 1;
    p->ignore = ref_once_in(c, 3) ? 1 : -100;
    operand(c, p, X, p->dtype, p->ndim, p->shape, ref_once_in(c, 8) ? WILD : TAME);
    integers(c, p, 1, p->out_ndim, p->out_shape, 0, p->shape[1] - 1);
    if (!ref_once_in(c, 3)) operand(c, p, 2, random_float_dtype(c), 1, p->shape + 1, POSITIVE);
    setup_reduction(c, p);
}

static void setup_cross_entropy(ref_case *c, plan *p)
{
    setup_classes(c, p);
    p->smoothing = ref_once_in(c, 2) ? 0 : 0.125;
}

static tsr_status call_cross_entropy(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)out2;
    return tsr_cross_entropy(out, in[X], in[1], in[2], p->reduction, p->ignore, p->smoothing);
}

static tsr_status call_nll_loss(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)out2;
    return tsr_nll_loss(out, in[X], in[1], in[2], p->reduction, p->ignore);
}

/* The loss of one place, whose index has `class` for its dim 1, and its weight. */
typedef wide (*place_fn)(const plan *p, int64_t *at, int64_t k, wide *weight, wide *error);

/* All of them together, or the one at the index. */
static answer reduced(const plan *p, const int64_t *index, int ndim, const int64_t *shape, bool classes,
                      place_fn loss)
{
    ref_view places;
    wide total = 0, weights = 0, error = 0;
    ref_set_shape(&places, p->dtype, ndim, shape);
    for (REF_EACH(&places, place_at, k)) {
        int64_t at[TSR_MAX_NDIM] = { 0 };
        wide weight = 1;
        bool here = true;
        for (int i = 0; i < ndim; i++) {
            at[classes && i > 0 ? i + 1 : i] = place_at[i];
            here &= index[i] == place_at[i] || p->reduction != TSR_REDUCTION_NONE;
        }
        if (!here) continue;
        total += loss(p, at, k, &weight, &error);
        weights += weight;
    }
    if (p->reduction != TSR_REDUCTION_MEAN) return (answer){ total, error };
    return (answer){ total / weights, error / weights + fabsl(total / weights) * p->unit * 4 };
}

static wide entropy_of(const plan *p, int64_t *at, int64_t k, wide *weight, wide *error)
{
    wide most, sum, all = 0, size = 0;
    const int64_t target = integer(1, k), classes = p->shape[1];
    *weight = 0;
    if (target == p->ignore) return 0;
    lane_exps(&most, &sum, at, 1, classes);
    for (at[1] = 0; at[1] < classes; at[1]++) {
        const wide part = given_or(p, 2, at[1], 1) * (logl(sum) - (number_at(X, at) - most));
        all += part;
        size += fabsl(part);
    }
    at[1] = target;
    *weight = given_or(p, 2, target, 1);
    const wide log_p = logl(sum) - (number_at(X, at) - most), s = (wide)p->smoothing;
    const wide v = (1 - s) * *weight * log_p + (s == 0 ? 0 : s / (wide)classes * all);
    if (isfinite(v)) *error += p->unit * 32 * *weight * (1 + fabsl(log_p));
    if (isfinite(v) && s != 0) *error += p->unit * 32 * s * (size / (wide)classes + 40);
    return v;
}

static wide likelihood_of(const plan *p, int64_t *at, int64_t k, wide *weight, wide *error)
{
    const int64_t target = integer(1, k);
    *weight = 0;
    if (target == p->ignore) return 0;
    at[1] = target;
    *weight = given_or(p, 2, target, 1);
    const wide v = *weight * -number_at(X, at);
    if (isfinite(v)) *error += p->unit * 16 * fabsl(v);
    return v;
}

static void place_dims(const plan *p, int *ndim, int64_t *shape)
{
    *ndim = 0;
    for (int i = 0; i < p->ndim; i++)
        if (i != 1) shape[(*ndim)++] = p->shape[i];
}

static answer want_cross_entropy(const plan *p, int result, const int64_t *index)
{
    int ndim;
    int64_t shape[TSR_MAX_NDIM];
    (void)result;
    place_dims(p, &ndim, shape);
    return reduced(p, index, ndim, shape, true, entropy_of);
}

static answer want_nll_loss(const plan *p, int result, const int64_t *index)
{
    int ndim;
    int64_t shape[TSR_MAX_NDIM];
    (void)result;
    place_dims(p, &ndim, shape);
    return reduced(p, index, ndim, shape, true, likelihood_of);
}

static void setup_soft(ref_case *c, plan *p)
{
    setup_classes(c, p);
    operand(c, p, 1, p->dtype, p->ndim, p->shape, CHANCES);
    p->smoothing = ref_once_in(c, 2) ? 0 : 0.25;
}

static wide soft_of(const plan *p, int64_t *at, int64_t k, wide *weight, wide *error)
{
    wide most, sum, v = 0, size = 0;
    const wide s = (wide)p->smoothing, classes = (wide)p->shape[1];
    (void)k;
    *weight = 1;
    lane_exps(&most, &sum, at, 1, p->shape[1]);
    for (at[1] = 0; at[1] < p->shape[1]; at[1]++) {
        const wide chance = (1 - s) * number_at(1, at) + s / classes, w = given_or(p, 2, at[1], 1);
        const wide log_p = logl(sum) - (number_at(X, at) - most);
        v += chance * w * log_p;
        if (s == 0 && number_at(1, at) == 0 && isinf(log_p)) v = NAN;
        size += (fabsl(chance) + s) * w * (1 + fabsl(log_p));
    }
    if (isfinite(v)) *error += p->unit * 32 * size;
    return v;
}

static answer want_soft(const plan *p, int result, const int64_t *index)
{
    int ndim;
    int64_t shape[TSR_MAX_NDIM];
    (void)result;
    place_dims(p, &ndim, shape);
    return reduced(p, index, ndim, shape, true, soft_of);
}

static void setup_pair(ref_case *c, plan *p)
{
    random_shape(c, p, 0);
    p->a = ref_once_in(c, 2) ? 1 : 2.5;
    operand(c, p, X, p->dtype, p->ndim, p->shape, TAME);
    operand(c, p, 1, p->dtype, p->ndim, p->shape, TAME);
    setup_reduction(c, p);
}

static void setup_smooth_l1(ref_case *c, plan *p)
{
    setup_pair(c, p);
    if (ref_once_in(c, 4)) p->a = 0;
}

static tsr_status call_mse_loss(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)out2;
    return tsr_mse_loss(out, in[X], in[1], p->reduction);
}

static tsr_status call_l1_loss(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)out2;
    return tsr_l1_loss(out, in[X], in[1], p->reduction);
}

static tsr_status call_huber_loss(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)out2;
    return tsr_huber_loss(out, in[X], in[1], p->reduction, p->a);
}

static tsr_status call_smooth_l1_loss(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)out2;
    return tsr_smooth_l1_loss(out, in[X], in[1], p->reduction, p->a);
}

static wide difference(int64_t k) { return fabsl(number(X, k) - number(1, k)); }

static wide note(const plan *p, wide v, int64_t k, wide *error)
{
    const wide size = fabsl(number(X, k)) + fabsl(number(1, k));
    *error += p->unit * 8 * (fabsl(v) + size * (1 + difference(k)));
    return v;
}

static wide square_of(const plan *p, int64_t *at, int64_t k, wide *weight, wide *error)
{
    (void)at; (void)weight;
    return note(p, difference(k) * difference(k), k, error);
}

static wide size_of(const plan *p, int64_t *at, int64_t k, wide *weight, wide *error)
{
    (void)at; (void)weight;
    return note(p, difference(k), k, error);
}

static wide huber_of(const plan *p, int64_t *at, int64_t k, wide *weight, wide *error)
{
    const wide d = difference(k), a = (wide)p->a;
    (void)at; (void)weight;
    return note(p, d <= a ? d * d / 2 : a * (d - a / 2), k, error);
}

static wide smooth_of(const plan *p, int64_t *at, int64_t k, wide *weight, wide *error)
{
    const wide d = difference(k), a = (wide)p->a;
    (void)at; (void)weight;
    return note(p, d < a ? d * d / (2 * a) : d - a / 2, k, error);
}

#define WANT_PAIR(name, loss) \
    static answer name(const plan *p, int result, const int64_t *index) \
    { (void)result; return reduced(p, index, p->ndim, p->shape, false, loss); }
WANT_PAIR(want_mse_loss, square_of)
WANT_PAIR(want_l1_loss, size_of)
WANT_PAIR(want_huber_loss, huber_of)
WANT_PAIR(want_smooth_l1_loss, smooth_of)

/* Pooling -------------------------------------------------------------------------------- */

static void setup_pool(ref_case *c, plan *p)
{
    do random_shape(c, p, 3);
    while (p->ndim != 3);
    p->out_ndim = 2;
    p->out_shape[1] = p->shape[2];
    operand(c, p, X, p->dtype, p->ndim, p->shape, TAME);
}

static tsr_status call_pool(const plan *p, tsr_tensor **in, tsr_tensor **out, tsr_tensor **out2)
{
    (void)p; (void)out2;
    return tsr_global_avg_pool(out, in[X]);
}

static answer want_pool(const plan *p, int result, const int64_t *index)
{
    int64_t at[3] = { index[0], 0, index[1] };
    wide sum = 0, size = 0;
    (void)result;
    for (at[1] = 0; at[1] < p->shape[1]; at[1]++) {
        sum += number_at(X, at);
        size += fabsl(number_at(X, at));
    }
    return (answer){ sum / (wide)p->shape[1], p->shape[1] ? size * p->unit : 0 };
}

/* All of them ------------------------------------------------------------------------------ */

static const op_case ops[] = {
    { "softmax", false, setup_softmax, call_softmax, want_softmax },
    { "log_softmax", false, setup_softmax, call_log_softmax, want_log_softmax },
    { "causal_softmax", false, setup_causal, call_causal, want_causal },
    { "layer_norm", false, setup_layer_norm, call_layer_norm, want_layer_norm },
    { "rms_norm", false, setup_rms_norm, call_rms_norm, want_rms_norm },
    { "add_rms_norm", true, setup_add_rms_norm, call_add_rms_norm, want_add_rms_norm },
    { "batch_norm", false, setup_batch_norm, call_batch_norm, want_batch_norm },
    { "group_norm", false, setup_group_norm, call_group_norm, want_group_norm },
    { "rope", false, setup_rope, call_rope, want_rope },
    { "rope_with", false, setup_rope_with, call_rope_with, want_rope_with },
    { "swiglu", false, setup_swiglu, call_swiglu, want_swiglu },
    { "silu_and_mul", false, setup_silu_and_mul, call_silu_and_mul, want_silu_and_mul },
    { "dropout", false, setup_dropout, call_dropout, want_dropout },
    { "cross_entropy", false, setup_cross_entropy, call_cross_entropy, want_cross_entropy },
    { "cross_entropy_soft", false, setup_soft, call_cross_entropy, want_soft },
    { "nll_loss", false, setup_classes, call_nll_loss, want_nll_loss },
    { "mse_loss", false, setup_pair, call_mse_loss, want_mse_loss },
    { "l1_loss", false, setup_pair, call_l1_loss, want_l1_loss },
    { "huber_loss", false, setup_pair, call_huber_loss, want_huber_loss },
    { "smooth_l1_loss", false, setup_smooth_l1, call_smooth_l1_loss, want_smooth_l1_loss },
    { "global_avg_pool", false, setup_pool, call_pool, want_pool },
};
enum { OPS = sizeof ops / sizeof *ops };

static void run_op(const char *name)
{
    for (int i = 0; i < OPS; i++) if (!strcmp(ops[i].name, name)) current = &ops[i];
    ref_cases(CASES, one_case);
}

#define OP_TEST(op) static void test_##op##_is_right_for_every_dtype_and_stride(void) { run_op(#op); }
OP_TEST(softmax) OP_TEST(log_softmax) OP_TEST(causal_softmax) OP_TEST(layer_norm) OP_TEST(rms_norm)
OP_TEST(add_rms_norm) OP_TEST(batch_norm) OP_TEST(group_norm) OP_TEST(rope) OP_TEST(rope_with) OP_TEST(swiglu)
OP_TEST(silu_and_mul) OP_TEST(dropout) OP_TEST(cross_entropy) OP_TEST(cross_entropy_soft) OP_TEST(nll_loss)
OP_TEST(mse_loss) OP_TEST(l1_loss) OP_TEST(huber_loss) OP_TEST(smooth_l1_loss) OP_TEST(global_avg_pool)

/* Large --------------------------------------------------------------------------------------- */

/* Numbers between -4 and 4 that share nothing with the library's generator. */
static void fill_tensor(tsr_tensor *t)
{
    uint64_t state = 7;
    const int64_t n = tsr_numel(t), size = ref_size(t->dtype);
    for (int64_t i = 0; i < n; i++) {
        char *p = (char *)t->data + i * size;
        const double v = (double)(int64_t)test_next(&state) * 0x1p-61;
        if (ref_is_float(t->dtype)) ref_convert(t->dtype, p, TSR_F64, &v);
        else                        ref_store_bits(p, size, (uint64_t)test_below(&state, 4));
    }
}

static tsr_tensor *filled(tsr_dtype dtype, int ndim, const int64_t *shape)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_empty(&t, dtype, ndim, shape));
    if (t) fill_tensor(t);
    return t;
}

static double value_at(const tsr_tensor *t, int64_t i, int64_t j)
{
    const void *p = (const char *)t->data + (i * t->stride[0] + j * t->stride[1]) * ref_size(t->dtype);
    return (double)wide_of(ref_decode(t->dtype, p));
}

/* Rows of a matrix x, whose last axis it is, as softmax and layer_norm make them. */
static void expect_rows(const tsr_tensor *x, const tsr_tensor *soft, const tsr_tensor *norm)
{
    const double unit = x->dtype == TSR_F64 ? 0x1p-53 : x->dtype == TSR_F32 ? 0x1p-24 : 0x1p-11;
    for (int64_t i = 0; i < x->shape[0]; i += 1 + x->shape[0] / 7) {
        wide exps = 0, sum = 0, squares = 0;
        const int64_t n = x->shape[1];
        for (int64_t j = 0; j < n; j++) {
            exps += expl((wide)value_at(x, i, j));
            sum += (wide)value_at(x, i, j);
        }
        for (int64_t j = 0; j < n; j++) squares += powl((wide)value_at(x, i, j) - sum / (wide)n, 2);
        for (int64_t j = 0; j < n; j++) {
            const double e = (double)(expl((wide)value_at(x, i, j)) / exps);
            const double z =
                (double)(((wide)value_at(x, i, j) - sum / (wide)n) / sqrtl(squares / (wide)n + 1e-5L));
            EXPECT(fabs(value_at(soft, i, j) - e) <= e * unit * 32 + (x->dtype == TSR_F16 ? 0x1p-25 : 0));
            EXPECT(fabs(value_at(norm, i, j) - z) <= (1 + fabs(z)) * unit * 16);
        }
    }
}

static void test_long_lanes_along_every_stride_are_right(void)
{
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_F64, TSR_F16 };
    static const int64_t shapes[][2] = { { 3, 5000 }, { 37, 1201 }, { 700, 33 },
                                          { 1, 513 },  { 50, 512 },  { 64, 2200 }, { 2000, 7 } };
    for (size_t d = 0; d < 3; d++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
            for (int layout = 0; layout < 6; layout++) {
                const bool x_turned = layout & 1, z_turned = layout & 2, parts = layout > 3;
                const int64_t turned[2] = { shapes[k][1], shapes[k][0] };
                tsr_tensor *x = filled(dtypes[d], 2, x_turned ? turned : shapes[k]), *soft = NULL,
                           *norm = NULL;
                EXPECT_OK(tsr_empty(&soft, dtypes[d], 2, z_turned ? turned : shapes[k]));
                EXPECT_OK(tsr_empty(&norm, dtypes[d], 2, z_turned ? turned : shapes[k]));
                if (x_turned) EXPECT_OK(tsr_transpose(&x, x, 0, 1));
                if (z_turned) EXPECT_OK(tsr_transpose(&soft, soft, 0, 1));
                if (z_turned) EXPECT_OK(tsr_transpose(&norm, norm, 0, 1));
                tsri_prefer_parts(parts);
                EXPECT_OK(tsr_softmax(&soft, x, 1));
                EXPECT_OK(tsr_layer_norm(&norm, x, 1, NULL, NULL, 1e-5));
                tsri_prefer_parts(false);
                expect_rows(x, soft, norm);
                tsr_release(&x);
                tsr_release(&soft);
                tsr_release(&norm);
            }
}

/* Lanes that do not stay in a cache are worked on in parts, of which some have nothing to add. */
static void test_long_lanes_may_begin_or_end_with_anything(void)
{
    enum { N = 5000, LANES = 32 };
    for (int log = 0; log < 2; log++) {
        tsr_tensor *x = filled(TSR_F32, 2, (const int64_t[]){ N, LANES }), *rows = NULL, *z = NULL,
                   *want = NULL;
        float *v = x->data;
        const float least = log ? 3e-7f : 3e-45f;
        for (int64_t i = 0; i < N; i++) {
            if (i < 2000) v[i * LANES] = -INFINITY;
            if (i > 100) v[i * LANES + 1] = -INFINITY;
            v[i * LANES + 2] = -INFINITY;
            v[i * LANES + 3] += (float)i;  /* every part has a new largest */
            v[i * LANES + 4] -= (float)i;
        }
        v[(N - 1) * LANES + 5] = NAN;
        v[(N - 1) * LANES + 6] = INFINITY;
        v[7] = INFINITY;
        EXPECT_OK(tsr_transpose(&rows, x, 0, 1));
        EXPECT_OK(tsr_rearrange(&rows, rows));
        EXPECT_OK(log ? tsr_log_softmax(&z, x, 0) : tsr_softmax(&z, x, 0));
        EXPECT_OK(log ? tsr_log_softmax(&want, rows, 1) : tsr_softmax(&want, rows, 1));
        for (int64_t l = 0; l < LANES; l++)
            for (int64_t i = 0; i < N; i++) {
                const float got = ((float *)z->data)[i * LANES + l], w = ((float *)want->data)[l * N + i];
                EXPECT_MSG(got == w || (isnan(got) && isnan(w)) || fabsf(got - w) <= 3e-7f * fabsf(w) + least,
                           "lane %d, %d: %g, not %g", (int)l, (int)i, (double)got, (double)w);
            }
        tsr_release(&x);
        tsr_release(&rows);
        tsr_release(&z);
        tsr_release(&want);
    }
}

static tsr_status large_call(int i, tsr_tensor **z, const tsr_tensor *x, const tsr_tensor *w)
{
    tsr_tensor *v = NULL, *positions = NULL;
    tsr_status s = TSR_OK;
    switch (i) {
    case 0: return tsr_softmax(z, x, 1);
    case 1: return tsr_log_softmax(z, x, 1);
    case 2: return tsr_layer_norm(z, x, 1, w, w, 1e-5);
    case 3: return tsr_rms_norm(z, x, w, 1e-5);
    case 4: return tsr_batch_norm(z, x, w, w, NULL, w, 40);
    default:
        s = tsr_view(&v, x, TSR_SHAPE(1, x->shape[0], x->shape[1]));
        if (s == TSR_OK) s = tsr_zeros(&positions, TSR_I64, TSR_SHAPE(1));
        if (s == TSR_OK) *(int64_t *)positions->data = 5;
        if (s == TSR_OK) s = tsr_rope(z, v, positions, 10000, i == 5 ? TSR_ROPE_HALVES : TSR_ROPE_PAIRS);
        tsr_release(&v);
        tsr_release(&positions);
        return s;
    }
}

/* Results that exceed the caches are written around them; each row is what it is alone. */
static void test_large_results_have_the_bits_of_small_ones(void)
{
    enum { ROWS = 1400, N = 8006 };
    tsr_tensor *x = NULL, *w = filled(TSR_F32, 1, (const int64_t[]){ N }), *z = NULL, *row = NULL,
               *alone = NULL;
    EXPECT_OK(tsr_randn(&x, TSR_F32, TSR_SHAPE(ROWS, N), 3));
    for (int i = 0; i < 7; i++) {
        EXPECT_OK(large_call(i, &z, x, w));
        for (int64_t r = 0; z && r < ROWS; r += 173) {
            EXPECT_OK(tsr_slice(&row, x, 0, r, r + 1, 1));
            EXPECT_OK(large_call(i, &alone, row, w));
            EXPECT_MSG(alone && !memcmp(alone->data, (float *)z->data + r * N, N * sizeof(float)),
                       "call %d, row %lld", i, (long long)r);
            tsr_release(&alone);
        }
        tsr_release(&z);
    }
    tsr_release(&row);
    tsr_release(&x);
    tsr_release(&w);
}

/* One call of each op on the same operands, for tests of threads and of memory. */
typedef struct kit {
    tsr_tensor *x, *channels, *last, *target, *heads, *positions, *table;
} kit;

static bool open_kit(kit *k, tsr_dtype dtype, int64_t n, int64_t c, int64_t l)
{
    k->x = filled(dtype, 3, (const int64_t[]){ n, c, l });
    k->channels = filled(TSR_F32, 1, &c);
    k->last = filled(TSR_F32, 1, &l);
    k->target = filled(TSR_I32, 2, (const int64_t[]){ n, l });
    k->heads = NULL;
    EXPECT_OK(tsr_view(&k->heads, k->x, TSR_SHAPE(n, c, l)));
    k->positions = filled(TSR_I64, 1, &n);
    k->table = filled(TSR_F32, 2, (const int64_t[]){ 5, l / 2 });
    return k->x && k->channels && k->last && k->target && k->heads && k->positions && k->table;
}

static void close_kit(kit *k)
{
    tsr_release(&k->x);
    tsr_release(&k->channels);
    tsr_release(&k->last);
    tsr_release(&k->target);
    tsr_release(&k->heads);
    tsr_release(&k->positions);
    tsr_release(&k->table);
}

enum { CALLS = 24 };

static tsr_status call_number(int i, tsr_tensor **z, const kit *k)
{
    tsr_tensor *sum = NULL;
    tsr_status s;
    switch (i) {
    case 0: return tsr_softmax(z, k->x, 1);
    case 1: return tsr_softmax(z, k->x, -1);
    case 2: return tsr_log_softmax(z, k->x, 0);
    case 3: return tsr_causal_softmax(z, k->x);
    case 4: return tsr_layer_norm(z, k->x, 1, k->last, k->last, 1e-5);
    case 5: return tsr_layer_norm(z, k->x, 2, NULL, NULL, 1e-5);
    case 6: return tsr_rms_norm(z, k->x, k->last, 1e-5);
    case 7:
        s = tsr_add_rms_norm(z, &sum, k->x, k->heads, k->last, 1e-5);
        tsr_release(&sum);
        return s;
    case 8: return tsr_batch_norm(z, k->x, k->channels, k->channels, k->channels, NULL, 5);
    case 9: return tsr_group_norm(z, k->x, 2, k->channels, k->channels, 1e-5);
    case 10: return tsr_instance_norm(z, k->x, k->channels, NULL, 1e-5);
    case 11: return tsr_rope(z, k->heads, k->positions, 10000, TSR_ROPE_HALVES);
    case 12: return tsr_rope_with(z, k->heads, k->positions, k->table, k->table, TSR_ROPE_PAIRS);
    case 13: return tsr_swiglu(z, k->x, k->heads);
    case 14: return tsr_silu_and_mul(z, k->x);
    case 15: return tsr_dropout(z, k->x, 0.25, 9);
    case 16: return tsr_cross_entropy(z, k->x, k->target, k->channels, TSR_REDUCTION_SUM, 3, 0.1);
    case 17: return tsr_cross_entropy(z, k->x, k->x, NULL, TSR_REDUCTION_MEAN, 0, 0.1);
    case 18: return tsr_nll_loss(z, k->x, k->target, k->channels, TSR_REDUCTION_MEAN, 3);
    case 19: return tsr_mse_loss(z, k->x, k->heads, TSR_REDUCTION_MEAN);
    case 20: return tsr_l1_loss(z, k->x, k->heads, TSR_REDUCTION_NONE);
    case 21: return tsr_huber_loss(z, k->x, k->heads, TSR_REDUCTION_SUM, 1);
    case 22: return tsr_smooth_l1_loss(z, k->x, k->heads, TSR_REDUCTION_MEAN, 1);
    default: return tsr_global_avg_pool(z, k->x);
    }
}

static void test_thread_counts_give_the_same_bits(void)
{
    static const tsr_dtype dtypes[] = { TSR_F32, TSR_BF16, TSR_F64 };
    static const int threads[] = { 1, 2, 3, 7 };
    for (int d = 0; d < 3; d++) {
        kit k;
        if (!open_kit(&k, dtypes[d], 61, 46, 130)) return;
        for (int i = 0; i < CALLS; i++) {
            tsr_tensor *first = NULL;
            for (int t = 0; t < 4; t++) {
                tsr_tensor *z = NULL;
                EXPECT_OK(tsr_set_threads(threads[t]));
                EXPECT_OK(call_number(i, &z, &k));
                EXPECT_MSG(!first || (z && !memcmp(z->data, first->data, (size_t)tsr_byte_size(z))),
                           "call %d of %s with %d threads", i, tsr_dtype_name(dtypes[d]), threads[t]);
                if (!first) first = tsr_retain(z);
                tsr_release(&z);
            }
            tsr_release(&first);
        }
        close_kit(&k);
        EXPECT_OK(tsr_set_threads(0));
    }
}

/* Which elements go does not depend on how they lie, or on their dtype. */
static void test_dropout_depends_on_seed_and_index_alone(void)
{
    tsr_tensor *ones = NULL, *z = NULL, *turned = NULL, *column = NULL, *same = NULL;
    int64_t kept = 0;
    EXPECT_OK(tsr_ones(&ones, TSR_F32, TSR_SHAPE(300, 1001)));
    EXPECT_OK(tsr_dropout(&z, ones, 0.3, 42));
    for (int64_t i = 0; z && i < 300300; i++) {
        const float v = ((const float *)z->data)[i];
        EXPECT(v == 0 || v == (float)(1 / (1 - 0.3)));
        kept += v != 0;
    }
    EXPECT_MSG(llabs(kept - 210210) < 5 * 251, "%lld kept", (long long)kept);  /* five deviations */
    EXPECT_OK(tsr_ones(&column, TSR_BF16, TSR_SHAPE(1001, 300)));
    EXPECT_OK(tsr_transpose(&turned, column, 0, 1));
    EXPECT_OK(tsr_dropout(&turned, turned, 0.3, 42));
    for (int64_t i = 0; i < 300; i++)
        for (int64_t j = 0; j < 1001; j++)
            EXPECT((value_at(turned, i, j) != 0) == (value_at(z, i, j) != 0));
    EXPECT_OK(tsr_dropout(&same, ones, 0.3, 43));
    EXPECT(memcmp(same->data, z->data, (size_t)tsr_byte_size(z)));
    tsr_release(&same);
    tsr_release(&ones);
    tsr_release(&z);
    tsr_release(&turned);
    tsr_release(&column);
}

/* An element goes exactly where its number is below p, however close. */
static void test_dropout_compares_numbers_exactly(void)
{
    for (int parts = 0; parts < 2; parts++)
        for (uint64_t seed = 1; seed < 20; seed++) {
            const double u = (double)(philox_word(seed, 0, 1) >> 8) * 0x1p-24;
            tsr_tensor *x = NULL, *at = NULL, *above = NULL;
            EXPECT_OK(tsr_ones(&x, TSR_F64, TSR_SHAPE(2)));
            tsri_prefer_parts(parts);
            EXPECT_OK(tsr_dropout(&at, x, u, seed));
            EXPECT_OK(tsr_dropout(&above, x, u + 0x1p-30, seed));
            tsri_prefer_parts(false);
            EXPECT(at && ((const double *)at->data)[1] != 0);
            EXPECT(above && ((const double *)above->data)[1] == 0);
            tsr_release(&x);
            tsr_release(&at);
            tsr_release(&above);
        }
}

/* Hard numbers ---------------------------------------------------------------------------------- */

static void test_norms_do_not_cancel_under_a_large_mean(void)
{
    for (int parts = 0; parts < 2; parts++) {
        tsr_tensor *x = NULL, *z = NULL;
        EXPECT_OK(tsr_empty(&x, TSR_F32, TSR_SHAPE(2, 4000)));
        if (!x) return;
        for (int i = 0; i < 8000; i++) ((float *)x->data)[i] = 1e7f + (float)(i % 4);
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_layer_norm(&z, x, 1, NULL, NULL, 0));
        tsri_prefer_parts(false);
        for (int i = 0; z && i < 8000; i++) {
            const double want = (i % 4 - 1.5) / sqrt(1.25);
            EXPECT(fabs((double)((float *)z->data)[i] - want) < 1e-6);
        }
        tsr_release(&x);
        tsr_release(&z);
    }
}

static void test_norms_of_large_numbers_do_not_overflow(void)
{
    for (int parts = 0; parts < 2; parts++) {
        tsr_tensor *x = NULL, *z = NULL;
        EXPECT_OK(tsr_full(&x, TSR_F32, TSR_SHAPE(3, 9), TSR_SCALAR(-1e30)));
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_rms_norm(&z, x, NULL, 1e-5));
        tsri_prefer_parts(false);
        for (int i = 0; z && i < 27; i++) EXPECT(fabs((double)((float *)z->data)[i] + 1) < 1e-6);
        tsr_release(&x);
        tsr_release(&z);
    }
}

/* Weights and biases that are infinite, NaN or 0 of either sign give what multiplying and adding gives. */
static void test_norms_with_hard_weights(void)
{
    enum { N = 41 };
    static const float hard[] = { INFINITY, -INFINITY, NAN, 0.0f, -0.0f, 1e38f, -1e-40f, 1 };
    for (int at = 0; at < 64; at++) {
        tsr_tensor *x = NULL, *w = NULL, *b = NULL, *z = NULL;
        EXPECT_OK(tsr_empty(&x, TSR_F32, TSR_SHAPE(2, N)));
        EXPECT_OK(tsr_empty(&w, TSR_F32, TSR_SHAPE(N)));
        EXPECT_OK(tsr_empty(&b, TSR_F32, TSR_SHAPE(N)));
        if (!x || !w || !b) return;
        for (int i = 0; i < 2 * N; i++) ((float *)x->data)[i] = i % 5 == 0 ? -0.0f : i % 7 == 0 ? 0.0f : (float)sin(i);
        for (int i = 0; i < N; i++) {
            ((float *)w->data)[i] = hard[(i + at) % 8];
            ((float *)b->data)[i] = hard[(i + at / 8) % 8];
        }
        for (int biased = 0; biased < 2; biased++) {
            EXPECT_OK(biased ? tsr_layer_norm(&z, x, 1, w, b, 1e-5) : tsr_rms_norm(&z, x, w, 1e-5));
            for (int r = 0; z && r < 2; r++) {
                const float *row = (const float *)x->data + r * N;
                double mean = 0, squares = 0;
                for (int i = 0; i < N && biased; i++) mean += (double)row[i] / N;
                for (int i = 0; i < N; i++) squares += ((double)row[i] - mean) * ((double)row[i] - mean) / N;
                for (int i = 0; i < N; i++) {
                    const double y = ((double)row[i] - mean) / sqrt(squares + 1e-5);
                    const double add = biased ? (double)((float *)b->data)[i] : 0, by = (double)((float *)w->data)[i];
                    const float want = (float)(biased ? y * by + add : y * by), got = ((float *)z->data)[r * N + i];
                    const double unit = 0x1p-22 * (fabs(y * by) + fabs(add)) + 0x1p-140 * (1 + fabs(by));
                    if (isnan(want)) EXPECT(isnan(got));
                    else if (isinf(want)) EXPECT(got == want);
                    else EXPECT(fabs((double)got - (double)want) <= unit);
                }
            }
        }
        tsr_release(&x);
        tsr_release(&w);
        tsr_release(&b);
        tsr_release(&z);
    }
}

static tsr_tensor *vector_of(tsr_dtype dtype, int n, const double *values)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_empty(&t, dtype, TSR_SHAPE(n)));
    for (int i = 0; t && i < n; i++)
        ref_convert(dtype, (char *)t->data + i * ref_size(dtype), TSR_F64, &values[i]);
    return t;
}

static void expect_values(const tsr_tensor *t, int n, const double *want)
{
    for (int i = 0; t && i < n; i++) {
        const double got =
            (double)wide_of(ref_decode(t->dtype, (const char *)t->data + i * ref_size(t->dtype)));
        EXPECT_MSG(got == want[i] || (isnan(got) && isnan(want[i])) || fabs(got - want[i]) < 1e-6,
                   "%g, not %g", got, want[i]);
    }
}

static void test_softmax_of_infinities_is_as_documented(void)
{
    static const struct { double x[3], soft[3], log[3]; } rows[] = {
        { { 0, -INFINITY, 0 }, { 0.5, 0, 0.5 }, { -0.69314718, -INFINITY, -0.69314718 } },
        { { -INFINITY, -INFINITY, -INFINITY }, { NAN, NAN, NAN }, { NAN, NAN, NAN } },
        { { 1, NAN, 2 }, { NAN, NAN, NAN }, { NAN, NAN, NAN } },
        { { 1, INFINITY, 2 }, { NAN, NAN, NAN }, { NAN, NAN, NAN } },
        { { 1000, -1000, 1000 }, { 0.5, 0, 0.5 }, { -0.69314718, -2000.69314718, -0.69314718 } },
        { { -5000, -5000, -INFINITY }, { 0.5, 0.5, 0 }, { -0.69314718, -0.69314718, -INFINITY } },
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int parts = 0; parts < 2; parts++)
            for (int d = 0; d < 2; d++) {
                tsr_tensor *x = vector_of(d ? TSR_F64 : TSR_F32, 3, rows[r].x), *z = NULL;
                tsri_prefer_parts(parts);
                EXPECT_OK(tsr_log_softmax(&z, x, 0));
                if (d) expect_values(z, 3, rows[r].log);
                else   EXPECT(z && z->dtype == TSR_F32);
                EXPECT_OK(tsr_softmax(&x, x, 0));
                expect_values(x, 3, rows[r].soft);
                tsri_prefer_parts(false);
                tsr_release(&x);
                tsr_release(&z);
            }
}

static void test_causal_rows_that_see_nothing_are_zero(void)
{
    for (int parts = 0; parts < 2; parts++) {
        tsr_tensor *x = NULL;
        EXPECT_OK(tsr_full(&x, TSR_F32, TSR_SHAPE(4, 2), TSR_SCALAR(NAN)));
        if (!x) return;
        for (int i = 4; i < 8; i++) ((float *)x->data)[i] = 1;
        ((float *)x->data)[5] = NAN;  /* row 2 sees column 0 only */
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_causal_softmax(&x, x));
        tsri_prefer_parts(false);
        expect_values(x, 8, (const double[]){ 0, 0, 0, 0, 1, 0, 0.5, 0.5 });
        tsr_release(&x);
    }
}

static void test_add_rms_norm_may_write_the_sum_over_its_operands(void)
{
    for (int over = 0; over < 3; over++) {  /* x, the residual, or the norm over x */
        tsr_tensor *x = NULL, *y = NULL, *z = NULL, *sum = NULL;
        EXPECT_OK(tsr_full(&x, TSR_F32, TSR_SHAPE(5, 8), TSR_SCALAR(1)));
        EXPECT_OK(tsr_full(&y, TSR_F32, TSR_SHAPE(5, 8), TSR_SCALAR(3)));
        EXPECT_OK(tsr_add_rms_norm(over == 2 ? &x : &z,
                                   over == 0   ? &x
                                   : over == 1 ? &y
                                               : &sum,
                                   x, y, NULL, 0));
        const tsr_tensor *s = over == 0 ? x : over == 1 ? y : sum, *n = over == 2 ? x : z;
        for (int i = 0; s && n && i < 40; i++)
            EXPECT(((const float *)s->data)[i] == 4 && ((const float *)n->data)[i] == 1);
        tsr_release(&x);
        tsr_release(&y);
        tsr_release(&z);
        tsr_release(&sum);
    }
}

static void test_losses_of_nothing(void)
{
    tsr_tensor *x = NULL, *target = NULL, *z = NULL;
    for (int parts = 0; parts < 2; parts++) {
        tsri_prefer_parts(parts);
        EXPECT_OK(tsr_zeros(&x, TSR_F32, TSR_SHAPE(0, 3)));
        EXPECT_OK(tsr_zeros(&target, TSR_I64, TSR_SHAPE(0)));
        EXPECT_OK(tsr_cross_entropy(&z, x, target, NULL, TSR_REDUCTION_MEAN, -1, 0));
        expect_values(z, 1, (const double[]){ NAN });
        EXPECT_OK(tsr_cross_entropy(&z, x, target, NULL, TSR_REDUCTION_SUM, -1, 0));
        expect_values(z, 1, (const double[]){ 0 });
        tsr_release(&z);
        EXPECT_OK(tsr_cross_entropy(&z, x, target, NULL, TSR_REDUCTION_NONE, -1, 0));
        EXPECT(z && tsr_numel(z) == 0);
        tsr_release(&z);
        EXPECT_OK(tsr_mse_loss(&z, x, x, TSR_REDUCTION_MEAN));
        expect_values(z, 1, (const double[]){ NAN });
        tsr_release(&x);
        tsr_release(&target);
        EXPECT_OK(tsr_zeros(&x, TSR_F32, TSR_SHAPE(2, 3)));
        EXPECT_OK(tsr_full(&target, TSR_I64, TSR_SHAPE(2), TSR_SCALAR(-100)));
        EXPECT_OK(tsr_cross_entropy(&z, x, target, NULL, TSR_REDUCTION_MEAN, -100, 0));  /* all are ignored */
        expect_values(z, 1, (const double[]){ NAN });
        tsr_release(&x);
        tsr_release(&target);
        tsr_release(&z);
        tsri_prefer_parts(false);
    }
}

/* Bad input --------------------------------------------------------------------------------------- */

static void test_bad_arguments_are_refused_in_words(void)
{
    kit k;
    tsr_tensor *z = NULL, *sum = NULL, *ints = NULL, *none = NULL, *three = NULL;
    if (!open_kit(&k, TSR_F32, 2, 4, 6)) return;
    EXPECT_OK(tsr_zeros(&ints, TSR_I32, TSR_SHAPE(2, 4, 6)));
    EXPECT_OK(tsr_zeros(&three, TSR_F32, TSR_SHAPE(3)));
    EXPECT_FAILS(tsr_softmax(NULL, k.x, 0), TSR_ENULL, "softmax: out is NULL");
    EXPECT_FAILS(tsr_softmax(&z, none, 0), TSR_ENULL, "softmax: x");
    EXPECT_FAILS(tsr_softmax(&z, k.x, 3), TSR_EINDEX, "softmax: axis 3 of f32(2, 4, 6");
    EXPECT_FAILS(tsr_softmax(&z, ints, 0), TSR_EDTYPE, "softmax: x");
    EXPECT_FAILS(tsr_softmax(&three, k.x, 0), TSR_ESHAPE, "softmax: the result is f32(2, 4, 6");
    EXPECT_FAILS(tsr_log_softmax(&z, k.x, -4), TSR_EINDEX, "log_softmax: axis -4");
    EXPECT_FAILS(tsr_log_softmax(&z, NULL, 0), TSR_ENULL, "log_softmax: x");
    EXPECT_FAILS(tsr_causal_softmax(&z, k.last), TSR_ESHAPE, "causal_softmax: x");
    EXPECT_FAILS(tsr_causal_softmax(&z, NULL), TSR_ENULL, "causal_softmax: x");
    EXPECT_FAILS(tsr_causal_softmax(NULL, k.x), TSR_ENULL, "causal_softmax: out");
    EXPECT_FAILS(tsr_layer_norm(&z, k.x, 0, NULL, NULL, 1e-5), TSR_EINVAL, "layer_norm: ndims is 0");
    EXPECT_FAILS(tsr_layer_norm(&z, k.x, 4, NULL, NULL, 1e-5), TSR_EINVAL, "layer_norm: ndims is 4");
    EXPECT_FAILS(tsr_layer_norm(&z, k.x, 1, k.channels, NULL, 1e-5), TSR_ESHAPE,
                 "layer_norm: weight is f32(4");
    EXPECT_FAILS(tsr_layer_norm(&z, k.x, 2, NULL, k.last, 1e-5), TSR_ESHAPE, "the last 2 dims of x");
    EXPECT_FAILS(tsr_layer_norm(&z, k.x, 1, NULL, NULL, -1), TSR_EINVAL, "layer_norm: eps is -1");
    EXPECT_FAILS(tsr_layer_norm(&z, NULL, 1, NULL, NULL, 0), TSR_ENULL, "layer_norm: x");
    EXPECT_FAILS(tsr_rms_norm(&z, k.x, k.channels, 0), TSR_ESHAPE, "rms_norm: weight");
    EXPECT_FAILS(tsr_rms_norm(&z, k.x, NULL, NAN), TSR_EINVAL, "rms_norm: eps");
    EXPECT_FAILS(tsr_rms_norm(&z, NULL, NULL, 0), TSR_ENULL, "rms_norm: x");
    EXPECT_FAILS(tsr_rms_norm(&z, k.x, ints, 0), TSR_EDTYPE, "rms_norm: weight");
    EXPECT_FAILS(tsr_add_rms_norm(&z, NULL, k.x, k.heads, NULL, 0), TSR_ENULL, "add_rms_norm: sum_out");
    EXPECT_FAILS(tsr_add_rms_norm(NULL, &sum, k.x, k.heads, NULL, 0), TSR_ENULL, "add_rms_norm: out");
    EXPECT_FAILS(tsr_add_rms_norm(&z, &z, k.x, k.heads, NULL, 0), TSR_EINVAL, "add_rms_norm: two results");
    EXPECT_FAILS(tsr_add_rms_norm(&z, &sum, k.x, NULL, NULL, 0), TSR_ENULL, "add_rms_norm: residual");
    EXPECT_FAILS(tsr_add_rms_norm(&z, &sum, k.x, k.last, NULL, 0), TSR_ESHAPE, "add_rms_norm");
    EXPECT_FAILS(tsr_add_rms_norm(&z, &sum, k.x, k.heads, NULL, INFINITY), TSR_EINVAL, "add_rms_norm: eps");
    EXPECT_FAILS(tsr_add_rms_norm(&k.x, &k.heads, k.x, k.heads, NULL, 0), TSR_EOVERLAP, "overlap each other");
    EXPECT_FAILS(tsr_batch_norm(&z, k.x, NULL, k.channels, NULL, NULL, 1), TSR_ENULL, "batch_norm: mean");
    EXPECT_FAILS(tsr_batch_norm(&z, k.x, k.channels, NULL, NULL, NULL, 1), TSR_ENULL, "batch_norm: var");
    EXPECT_FAILS(tsr_batch_norm(&z, k.x, k.last, k.last, NULL, NULL, 1), TSR_ESHAPE, "batch_norm: mean");
    EXPECT_FAILS(tsr_batch_norm(&z, k.x, k.channels, k.channels, k.last, NULL, 1), TSR_ESHAPE,
                 "batch_norm: weight");
    EXPECT_FAILS(tsr_batch_norm(&z, k.x, k.channels, k.channels, NULL, NULL, -1), TSR_EINVAL,
                 "batch_norm: eps");
    EXPECT_FAILS(tsr_batch_norm(&z, k.last, k.channels, k.channels, NULL, NULL, 1), TSR_ESHAPE,
                 "batch_norm: x");
    EXPECT_FAILS(tsr_group_norm(&z, k.x, 3, NULL, NULL, 1), TSR_EINVAL, "group_norm: 3 groups do not divide");
    EXPECT_FAILS(tsr_group_norm(&z, k.x, 0, NULL, NULL, 1), TSR_EINVAL, "group_norm: 0 groups");
    EXPECT_FAILS(tsr_group_norm(&z, k.x, 2, k.last, NULL, 1), TSR_ESHAPE, "group_norm: weight");
    EXPECT_FAILS(tsr_group_norm(&z, NULL, 2, NULL, NULL, 1), TSR_ENULL, "group_norm: x");
    EXPECT_FAILS(tsr_instance_norm(&z, NULL, NULL, NULL, 1), TSR_ENULL, "instance_norm: x");
    EXPECT_FAILS(tsr_instance_norm(&z, k.last, NULL, NULL, 1), TSR_ESHAPE, "instance_norm: x");
    EXPECT_FAILS(tsr_instance_norm(&z, k.x, NULL, NULL, -2), TSR_EINVAL, "instance_norm: eps is -2");
    EXPECT_FAILS(tsr_rope(&z, k.x, NULL, 1e4, TSR_ROPE_HALVES), TSR_ENULL, "rope: positions");
    EXPECT_FAILS(tsr_rope(&z, NULL, k.positions, 1e4, TSR_ROPE_HALVES), TSR_ENULL, "rope: x");
    EXPECT_FAILS(tsr_rope(&z, k.x, k.positions, 0, TSR_ROPE_HALVES), TSR_EINVAL, "rope: theta is 0");
    EXPECT_FAILS(tsr_rope(&z, k.x, k.positions, 1e4, (tsr_rope_mode)2), TSR_EINVAL, "rope: 2 is no mode");
    EXPECT_FAILS(tsr_rope(&z, k.x, k.last, 1e4, TSR_ROPE_HALVES), TSR_EDTYPE, "rope: positions is f32(6");
    EXPECT_FAILS(tsr_rope(&z, k.x, k.target, 1e4, TSR_ROPE_HALVES), TSR_ESHAPE, "rope: positions");
    EXPECT_FAILS(tsr_rope_with(&z, k.x, k.positions, NULL, k.table, TSR_ROPE_HALVES), TSR_ENULL,
                 "rope_with: sin_table");
    EXPECT_FAILS(tsr_rope_with(&z, k.x, k.positions, k.table, NULL, TSR_ROPE_HALVES), TSR_ENULL,
                 "rope_with: cos_table");
    EXPECT_FAILS(tsr_rope_with(&z, k.x, k.positions, k.x, k.table, TSR_ROPE_HALVES), TSR_ESHAPE,
                 "rope_with: sin_table");
    EXPECT_FAILS(tsr_rope_with(&z, k.x, NULL, k.table, k.table, TSR_ROPE_HALVES), TSR_ENULL,
                 "rope_with: positions");
    ((int64_t *)k.positions->data)[1] = 5;
    EXPECT_FAILS(tsr_rope_with(&z, k.x, k.positions, k.table, k.table, TSR_ROPE_HALVES), TSR_EINDEX,
                 "rope_with: position 5 at (1) is outside the 5 rows");
    EXPECT_FAILS(tsr_swiglu(&z, k.x, NULL), TSR_ENULL, "swiglu: up");
    EXPECT_FAILS(tsr_swiglu(&z, NULL, k.x), TSR_ENULL, "swiglu: gate");
    EXPECT_FAILS(tsr_swiglu(&z, k.x, k.last), TSR_ESHAPE, "swiglu");
    EXPECT_FAILS(tsr_silu_and_mul(&z, NULL), TSR_ENULL, "silu_and_mul: x");
    EXPECT_FAILS(tsr_silu_and_mul(NULL, k.x), TSR_ENULL, "silu_and_mul: out");
    EXPECT_FAILS(tsr_silu_and_mul(&z, three), TSR_ESHAPE, "silu_and_mul: x is f32(3");
    EXPECT_FAILS(tsr_dropout(&z, k.x, 1.5, 0), TSR_EINVAL, "dropout: p is 1.5");
    EXPECT_FAILS(tsr_dropout(&z, k.x, NAN, 0), TSR_EINVAL, "dropout: p is");
    EXPECT_FAILS(tsr_dropout(&z, NULL, 0.5, 0), TSR_ENULL, "dropout: x");
    EXPECT_FAILS(tsr_global_avg_pool(NULL, k.x), TSR_ENULL, "global_avg_pool: out");
    EXPECT_FAILS(tsr_global_avg_pool(&z, NULL), TSR_ENULL, "global_avg_pool: x");
    EXPECT_FAILS(tsr_global_avg_pool(&z, k.last), TSR_ESHAPE, "global_avg_pool: x is f32(6");
    EXPECT_FAILS(tsr_global_avg_pool(&z, ints), TSR_EDTYPE, "global_avg_pool: x is i32");
    EXPECT(z == NULL && sum == NULL);
    tsr_release(&ints);
    tsr_release(&three);
    close_kit(&k);
}

static void test_bad_losses_are_refused_in_words(void)
{
    kit k;
    tsr_tensor *z = NULL, *three = NULL;
    const tsr_reduction mean = TSR_REDUCTION_MEAN;
    if (!open_kit(&k, TSR_F32, 2, 5, 6)) return;
    EXPECT_OK(tsr_zeros(&three, TSR_F32, TSR_SHAPE(3)));
    EXPECT_FAILS(tsr_cross_entropy(NULL, k.x, k.target, NULL, mean, 0, 0), TSR_ENULL, "cross_entropy: out");
    EXPECT_FAILS(tsr_cross_entropy(&z, NULL, k.target, NULL, mean, 0, 0), TSR_ENULL, "cross_entropy: logits");
    EXPECT_FAILS(tsr_cross_entropy(&z, k.x, NULL, NULL, mean, 0, 0), TSR_ENULL, "cross_entropy: target");
    EXPECT_FAILS(tsr_cross_entropy(&z, k.x, k.target, k.last, mean, 0, 0), TSR_ESHAPE,
                 "cross_entropy: weight");
    EXPECT_FAILS(tsr_cross_entropy(&z, k.x, k.target, NULL, (tsr_reduction)7, 0, 0), TSR_EINVAL,
                 "7 is no reduction");
    EXPECT_FAILS(tsr_cross_entropy(&z, k.x, k.target, NULL, mean, 0, 1.5), TSR_EINVAL,
                 "label_smoothing is 1.5");
    EXPECT_FAILS(tsr_cross_entropy(&z, k.x, k.positions, NULL, mean, 0, 0), TSR_ESHAPE,
                 "cross_entropy: target is i64(2");
    EXPECT_FAILS(tsr_cross_entropy(&z, k.last, k.positions, NULL, mean, 0, 0), TSR_ESHAPE,
                 "cross_entropy: logits");
    EXPECT_FAILS(tsr_cross_entropy(&z, k.x, three, NULL, mean, 0, 0), TSR_ESHAPE, "cross_entropy: target");
    EXPECT_FAILS(tsr_nll_loss(&z, NULL, k.target, NULL, mean, 0), TSR_ENULL, "nll_loss: log_probs");
    EXPECT_FAILS(tsr_nll_loss(&z, k.x, three, NULL, mean, 0), TSR_EDTYPE, "nll_loss: target is f32(3");
    ((int32_t *)k.target->data)[8] = 5;
    EXPECT_FAILS(tsr_cross_entropy(&z, k.x, k.target, NULL, mean, -1, 0), TSR_EINDEX,
                 "cross_entropy: target 5 at (1, 2) is none of the 5 classes");
    EXPECT_OK(tsr_cross_entropy(&z, k.x, k.target, NULL, mean, 5, 0));
    tsr_release(&z);
    ((int32_t *)k.target->data)[3] = -2;
    EXPECT_FAILS(tsr_nll_loss(&z, k.x, k.target, NULL, mean, 5), TSR_EINDEX, "nll_loss: target -2 at (0, 3)");
    EXPECT_FAILS(tsr_mse_loss(&z, k.x, three, mean), TSR_ESHAPE, "mse_loss: y is f32(3");
    EXPECT_FAILS(tsr_mse_loss(NULL, k.x, k.x, mean), TSR_ENULL, "mse_loss: out");
    EXPECT_FAILS(tsr_l1_loss(&z, k.x, NULL, mean), TSR_ENULL, "l1_loss: y");
    EXPECT_FAILS(tsr_l1_loss(&z, k.x, k.x, (tsr_reduction)-1), TSR_EINVAL, "l1_loss: -1 is no reduction");
    EXPECT_FAILS(tsr_huber_loss(&z, k.x, k.x, mean, 0), TSR_EINVAL, "huber_loss: delta is 0");
    EXPECT_FAILS(tsr_huber_loss(&z, NULL, k.x, mean, 1), TSR_ENULL, "huber_loss: x");
    EXPECT_FAILS(tsr_smooth_l1_loss(&z, k.x, k.x, mean, -1), TSR_EINVAL, "smooth_l1_loss: beta is -1");
    EXPECT_FAILS(tsr_smooth_l1_loss(&z, k.x, NULL, mean, 1), TSR_ENULL, "smooth_l1_loss: y");
    EXPECT_FAILS(tsr_smooth_l1_loss(&z, k.target, k.target, mean, 1), TSR_EDTYPE, "smooth_l1_loss: x");
    EXPECT(z == NULL);
    tsr_release(&three);
    close_kit(&k);
}

static void test_infer_needs_no_data(void)
{
    tsr_desc x, target, z;
    const tsr_loss_params mean = { .reduction = TSR_REDUCTION_MEAN },
                          each = { .reduction = TSR_REDUCTION_NONE };
    tsr_cost cost;
    EXPECT_OK(tsr_desc_init(&x, TSR_F16, 3, (const int64_t[]){ 2, 5, 4 }, NULL));
    EXPECT_OK(tsr_desc_init(&target, TSR_I64, 2, (const int64_t[]){ 2, 4 }, NULL));
    EXPECT_OK(tsr_infer(&z, TSR_OP_SOFTMAX, 1, (const tsr_desc *[]){ &x }, &(tsr_axis_params){ 1 }));
    EXPECT(tsr_desc_same(&z, &x));
    EXPECT_FAILS(tsr_infer(&z, TSR_OP_SOFTMAX, 1, (const tsr_desc *[]){ &x }, &(tsr_axis_params){ 3 }),
                 TSR_EINDEX, "axis 3");
    EXPECT_OK(tsr_infer(&z, TSR_OP_CROSS_ENTROPY, 2, (const tsr_desc *[]){ &x, &target }, &mean));
    EXPECT(z.ndim == 0 && z.dtype == TSR_F16);
    EXPECT_OK(tsr_infer(&z, TSR_OP_CROSS_ENTROPY, 2, (const tsr_desc *[]){ &x, &target }, &each));
    EXPECT(z.ndim == 2 && z.shape[0] == 2 && z.shape[1] == 4 && z.dtype == TSR_F16);
    EXPECT_OK(tsr_op_cost(&cost, TSR_OP_CROSS_ENTROPY, 2, (const tsr_desc *[]){ &x, &target }, &mean));
    EXPECT(cost.flops == 16 * 40 && cost.bytes == 80 + 64 + 2);
}

/* Memory ---------------------------------------------------------------------------------------------- */

static int allowed;

static bool allow_some(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return allowed-- > 0;
}

/* With every number of allocations that is too small, a call fails and leaves nothing behind; and
 * with enough of them it gives what it gives. */
static void expect_survives(int call, const kit *k)
{
    tsr_tensor *want = NULL;
    bool ends = false;
    EXPECT_OK(call_number(call, &want, k));
    for (int n = 0; n < 60 && !ends; n++) {
        tsr_tensor *z = NULL;
        allowed = n;
        tsr_set_alloc_hook(allow_some, NULL);
        const tsr_status s = call_number(call, &z, k);
        tsr_set_alloc_hook(NULL, NULL);
        EXPECT_MSG(s == TSR_OK ? z != NULL : s == TSR_ENOMEM && z == NULL, "call %d: %s", call,
                   tsr_last_error());
        ends = s == TSR_OK;
        EXPECT(!ends || !z || !want || !memcmp(z->data, want->data, (size_t)tsr_byte_size(want)));
        tsr_release(&z);
    }
    EXPECT(ends);
    tsr_release(&want);
}

static void test_running_out_of_memory_changes_nothing(void)
{
    static const int64_t sizes[][3] = { { 2, 4, 6 }, { 2, 6, 4200 }, { 1, 2600, 2 } };
    for (size_t i = 0; i < 3; i++)
        for (int parts = 0; parts < 2; parts++) {
            kit k;
            if (!open_kit(&k, TSR_F16, sizes[i][0], sizes[i][1], sizes[i][2])) return;
            tsri_prefer_parts(parts);
            for (int call = 0; call < CALLS; call++) expect_survives(call, &k);
            tsri_prefer_parts(false);
            close_kit(&k);
        }
}

/* Dims that strides do not let be walked as one are copied first. */
static void test_norms_over_dims_that_do_not_merge_survive_too(void)
{
    kit k;
    if (!open_kit(&k, TSR_F32, 6, 4, 6)) return;
    EXPECT_OK(tsr_transpose(&k.x, k.x, 0, 2));
    expect_survives(5, &k);
    expect_survives(9, &k);
    close_kit(&k);
}

int main(int argc, char **argv)
{
    ref_begin(argc, argv);
    RUN(test_softmax_is_right_for_every_dtype_and_stride);
    RUN(test_log_softmax_is_right_for_every_dtype_and_stride);
    RUN(test_causal_softmax_is_right_for_every_dtype_and_stride);
    RUN(test_layer_norm_is_right_for_every_dtype_and_stride);
    RUN(test_rms_norm_is_right_for_every_dtype_and_stride);
    RUN(test_add_rms_norm_is_right_for_every_dtype_and_stride);
    RUN(test_batch_norm_is_right_for_every_dtype_and_stride);
    RUN(test_group_norm_is_right_for_every_dtype_and_stride);
    RUN(test_rope_is_right_for_every_dtype_and_stride);
    RUN(test_rope_with_is_right_for_every_dtype_and_stride);
    RUN(test_swiglu_is_right_for_every_dtype_and_stride);
    RUN(test_silu_and_mul_is_right_for_every_dtype_and_stride);
    RUN(test_dropout_is_right_for_every_dtype_and_stride);
    RUN(test_cross_entropy_is_right_for_every_dtype_and_stride);
    RUN(test_cross_entropy_soft_is_right_for_every_dtype_and_stride);
    RUN(test_nll_loss_is_right_for_every_dtype_and_stride);
    RUN(test_mse_loss_is_right_for_every_dtype_and_stride);
    RUN(test_l1_loss_is_right_for_every_dtype_and_stride);
    RUN(test_huber_loss_is_right_for_every_dtype_and_stride);
    RUN(test_smooth_l1_loss_is_right_for_every_dtype_and_stride);
    RUN(test_global_avg_pool_is_right_for_every_dtype_and_stride);
    RUN(test_long_lanes_along_every_stride_are_right);
    RUN(test_long_lanes_may_begin_or_end_with_anything);
    RUN(test_large_results_have_the_bits_of_small_ones);
    RUN(test_thread_counts_give_the_same_bits);
    RUN(test_dropout_depends_on_seed_and_index_alone);
    RUN(test_dropout_compares_numbers_exactly);
    RUN(test_norms_do_not_cancel_under_a_large_mean);
    RUN(test_norms_of_large_numbers_do_not_overflow);
    RUN(test_norms_with_hard_weights);
    RUN(test_softmax_of_infinities_is_as_documented);
    RUN(test_causal_rows_that_see_nothing_are_zero);
    RUN(test_add_rms_norm_may_write_the_sum_over_its_operands);
    RUN(test_losses_of_nothing);
    RUN(test_bad_arguments_are_refused_in_words);
    RUN(test_bad_losses_are_refused_in_words);
    RUN(test_infer_needs_no_data);
    RUN(test_running_out_of_memory_changes_nothing);
    RUN(test_norms_over_dims_that_do_not_merge_survive_too);
    return TEST_END();
}
