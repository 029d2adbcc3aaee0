/* test_elementwise.c - every elementwise op of op.def, in every dtype it takes.
 *
 * A case is an op, dtypes, shapes that broadcast, strides of any kind, values of any kind, and a
 * result of one of the ways there are. The inputs lie in one block of memory, and so do results
 * that are given; what must come out is worked out from a copy of the block, element by element
 * (opcheck/reference.h), and no byte outside the result may change.
 *
 * A case that fails is tried again with fewer dims and elements, and the smallest that fails is
 * the one that is shown.
 */
#include "opcheck/elementwise_ops.h"
#include "opcheck/reference.h"
#include "property/reference.h"

static _Alignas(64) unsigned char memory[REF_BYTES], before[REF_BYTES];

/* The ops ------------------------------------------------------------------------------- */

static tsr_status call(tsr_tensor **out, tsr_op_kind op, const tsr_tensor *const *in, const double *params)
{
    return elementwise_call(elementwise_find(op), out, in, params);
}

/* What a signature says, read here with strstr and nothing more. */
typedef struct rule {
    tsr_op_kind op;
    int         nin;
    bool        takes[TSR_DTYPE_COUNT];  /* the group; `where` has a bool before it */
    enum { SAME, REAL, BOOL } result;
} rule;

static bool is_elementwise(int op)
{
    return !strcmp(tsr_op_get_info((tsr_op_kind)op)->family, "elementwise");
}
static bool is_grouped(const rule *r, int i) { return r->op != TSR_OP_WHERE || i > 0; }

/* Is a dtype in one of the classes named between dT: and the bar? */
static bool class_has(const char *signature, tsr_dtype d)
{
    enum { BOOLS = 1 << TSR_BOOLEAN, INTEGERS = 1 << TSR_SIGNED | 1 << TSR_UNSIGNED,
           FLOATS = 1 << TSR_FLOATING, COMPLEXES = 1 << TSR_COMPLEX,
           NUMBERS = INTEGERS | FLOATS | COMPLEXES };
    static const struct { const char *name; int kinds; tsr_dtype only; } classes[] = {
        { "any", BOOLS | NUMBERS, 0 },   { "numeric", NUMBERS, 0 },   { "real", INTEGERS | FLOATS, 0 },
        { "integer", INTEGERS, 0 },      { "floating", FLOATS, 0 },   { "complex", COMPLEXES, 0 },
        { "bool", BOOLS, 0 },            { "c64", COMPLEXES, TSR_C64 }, { "c128", COMPLEXES, TSR_C128 },
    };
    const char *at = strstr(signature, "dT:") + 3;
    while (*at != ' ' && *at != '|') {
        const size_t length = strcspn(at, "/ |");
        for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
            if (strlen(classes[i].name) == length && !strncmp(at, classes[i].name, length) &&
                (classes[i].kinds >> ref_kind(d) & 1) && (!classes[i].only || classes[i].only == d))
                return true;
        at += length + (at[length] == '/');
    }
    return false;
}

static rule rule_of(tsr_op_kind op)
{
    const char *signature = tsr_op_get_info(op)->signature, *result = strstr(signature, "-> z{ ") + 6;
    rule r = { .op = op };
    for (const char *p = signature; p < result - 6; p++) r.nin += *p == '{';
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) r.takes[d] = class_has(signature, (tsr_dtype)d);
    r.result = !strncmp(result, "dT", 2) ? SAME : !strncmp(result, "real", 4) ? REAL : BOOL;
    return r;
}

static tsr_dtype result_dtype(const rule *r, tsr_dtype d)
{
    return r->result == BOOL ? TSR_BOOL : r->result == REAL ? ref_part(d) : d;
}

/* A case -------------------------------------------------------------------------------- */

enum { REGION = REF_BYTES / 4, MARGIN = 64, OUT = 3 };

typedef enum way { MADE, DESCRIBED, PLACED_NONE, GIVEN, IN_PLACE, OVERLAPPING, WAYS } way;
static const char *const way_names[] = { "made",  "described", "a placed none",
                                         "given", "in place",  "overlapping" };

/* What a case is about; the rest of it is random. */
typedef struct plan {
    rule      r;
    tsr_dtype dtype[3];
    bool      number[3];
} plan;

static struct {
    plan       p;
    double     params[2];
    tsr_dtype  group, result;          /* what the operands come to, what comes out */
    ref_view   in[3], out;
    tsr_number number[3];
    unsigned char number_bits[3][16];  /* of the number's own dtype */
    const tsr_tensor *operand[3];
    int        ndim;
    int64_t    shape[TSR_MAX_NDIM];
    way        how;
    const char *why;                   /* what was expected and was not so */
} k;

static struct { int dims; int64_t elements; } limit;

#define CHECK(cond)              \
    do {                         \
        if (!(cond)) {           \
            k.why = #cond;       \
            return false;        \
        }                        \
    } while (0)

/* Values ---------------------------------------------------------------------------------- */

static ew_real tame(ref_case *c)
{
    static const ew_real some[] = { 0, 1, -1, 0.5L, -0.5L, 1.5L, 2.5L, -2.5L, 2, 3, -3, 10 };
    if (ref_once_in(c, 2)) return some[ref_below(c, 12)];
    return (ew_real)ref_between(c, -4096, 4096) / (ew_real)(1 << ref_below(c, 13));
}

/* Special values, random bits, or numbers of a size that functions are interesting at. */
static void random_value(ref_case *c, tsr_dtype dtype, unsigned char *p)
{
    const tsr_dtype part = ref_part(dtype);
    const int64_t size = ref_size(part);
    for (int i = 0; i <= (ref_is_complex(dtype) ? 1 : 0); i++) {
        uint64_t bits = ref_random_real(c, part);
        if (ref_once_in(c, 2) && ref_is_float(part)) bits = ref_encode_float(part, ew_number_of(tame(c)));
        if (ref_once_in(c, 2) && !ref_is_float(part) && part != TSR_BOOL)
            bits = (uint64_t)ref_between(c, part >= TSR_U8 ? 0 : -9, 9);
        ref_store_bits(p + i * size, size, bits);
    }
}

static void random_params(ref_case *c)
{
    static const double some[] = { 1, -2, 3, 0, 0.5, -0.25 };
    const bool whole = k.group < TSR_F8E4M3;
    k.params[0] = some[ref_below(c, whole ? 4 : 6)];
    k.params[1] = 0;
    if (k.p.r.op == TSR_OP_HARDTANH) k.params[1] = k.params[0] + (double)ref_below(c, 3);
    if (k.p.r.op == TSR_OP_ELU && ref_once_in(c, 2)) k.params[0] = 1.0;
    ref_say(c, "    params %g, %g\n", k.params[0], k.params[1]);
}

/* Dtypes ---------------------------------------------------------------------------------- */

static tsr_dtype scalar_dtype(ref_case *c)
{
    static const tsr_dtype some[] = { TSR_BOOL, TSR_I64, TSR_I64, TSR_U64, TSR_F64, TSR_F64, TSR_C128 };
    return some[ref_below(c, 7)];
}

static bool number_fits(tsr_dtype number, tsr_dtype group)
{
    if (number == TSR_BOOL) return true;
    if (number == TSR_I64 || number == TSR_U64) return group != TSR_BOOL;
    if (number == TSR_F64) return ref_is_float(group) || ref_is_complex(group);
    return ref_is_complex(group);
}

/* What the operands come to; false if the op must refuse them. */
static bool come_together(const plan *p, tsr_dtype *group)
{
    bool only_numbers = true;
    *group = TSR_DTYPE_INVALID;
    for (int i = 0; i < p->r.nin; i++) if (is_grouped(&p->r, i) && !p->number[i]) only_numbers = false;
    for (int i = 0; i < p->r.nin; i++) {
        if (!is_grouped(&p->r, i)) {
            if (p->dtype[i] != TSR_BOOL) return false;
            continue;
        }
        if (p->number[i] && !only_numbers) continue;
        if (*group == TSR_DTYPE_INVALID) *group = p->dtype[i];
        else if (tsr_dtype_promote(group, *group, p->dtype[i]) != TSR_OK) return false;
    }
    for (int i = 0; i < p->r.nin; i++)
        if (is_grouped(&p->r, i) && p->number[i] && !number_fits(p->dtype[i], *group)) return false;
    return p->r.takes[*group];
}

/* Operands --------------------------------------------------------------------------------- */

/* Fewer dims at the left, and some of size 1. */
static int narrower_shape(ref_case *c, int64_t *out, int ndim, const int64_t *shape)
{
    const int skip = ref_once_in(c, 3) ? (int)ref_below(c, ndim + 1) : 0;
    const bool ones = ref_once_in(c, 2);
    for (int i = skip; i < ndim; i++) out[i - skip] = ones && ref_once_in(c, 2) ? 1 : shape[i];
    return ndim - skip;
}

static void broadcast_into(int *ndim, int64_t *shape, int more, const int64_t *with)
{
    if (more > *ndim) {
        const int up = more - *ndim;
        for (int i = *ndim - 1; i >= 0; i--) shape[i + up] = shape[i];
        for (int i = 0; i < up; i++) shape[i] = 1;
        *ndim = more;
    }
    for (int i = 0; i < more; i++) if (with[i] != 1) shape[*ndim - more + i] = with[i];
}

/* A tensor of this dtype and shape with its lowest byte at `lowest` or just above. */
static bool make_tensor(ref_case *c, int handle, ref_view *v, tsr_dtype dtype, int ndim, const int64_t *shape,
                        bool writable, int64_t lowest)
{
    tsr_desc d;
    int64_t low, high;
    const int64_t align = ref_align(dtype);
    ref_random_desc(c, &d, v, &low, dtype, ndim, shape, writable, REGION - 2 * MARGIN);
    if (v->n == 0 && ndim > 0 && ref_once_in(c, 3)) d.stride[ref_below(c, ndim)] = ref_junk(c);
    const int64_t first = (lowest - low + align - 1) / align * align;
    for (int64_t i = 0; i < v->n; i++) v->at[i] += first;
    ref_span(v, &low, &high);
    return ref_make(c, handle, memory, first, &d, v->n ? low : first, v->n ? high : first);
}

static void make_number(ref_case *c, int i)
{
    tsr_scalar s = { .dtype = TSR_DTYPE_INVALID };
    random_value(c, k.p.dtype[i], k.number_bits[i]);
    if (tsr_scalar_load(&s, k.p.dtype[i], k.number_bits[i]) != TSR_OK) return;
    k.operand[i] = tsr_number_init(&k.number[i], s);
    ref_say(c, "    t%d: a number, %s\n", i, tsr_dtype_name(k.p.dtype[i]));
}

static bool make_operand(ref_case *c, int i, int ndim, const int64_t *shape)
{
    int64_t own[TSR_MAX_NDIM];
    if (k.p.number[i]) {
        make_number(c, i);
        return true;
    }
    const int n = narrower_shape(c, own, ndim, shape);
    const int64_t lowest = i * REGION + MARGIN + ref_below(c, 32);
    if (!make_tensor(c, i, &k.in[i], k.p.dtype[i], n, own, ref_once_in(c, 2), lowest)) return false;
    for (int64_t e = 0; e < k.in[i].n; e++) random_value(c, k.p.dtype[i], memory + k.in[i].at[e]);
    k.operand[i] = c->t[i];
    broadcast_into(&k.ndim, k.shape, n, own);
    return true;
}

/* Results ------------------------------------------------------------------------------------ */

static bool can_be_in_place(int i)
{
    if (k.p.number[i] || k.p.dtype[i] != k.result || k.in[i].ndim != k.ndim || ref_repeats(&k.in[i]))
        return false;
    for (int a = 0; a < k.ndim; a++) if (k.in[i].shape[a] != k.shape[a]) return false;
    return true;
}

/* A result where memory is: of its own, or across an operand's. */
static bool give_result(ref_case *c)
{
    int64_t lowest = OUT * REGION + MARGIN + ref_below(c, 32), low, high;
    const int i = (int)ref_below(c, k.p.r.nin);
    if (k.how == OVERLAPPING && !k.p.number[i]) {
        ref_span(&k.in[i], &low, &high);
        lowest = low + ref_below(c, high - low < 96 ? high - low + 1 : 96);
    }
    return make_tensor(c, OUT, &k.out, k.result, k.ndim, k.shape, true, lowest);
}

static bool make_result(ref_case *c)
{
    tsr_desc d;
    k.how = (way)ref_below(c, WAYS);
    const int in_place = (int)ref_below(c, k.p.r.nin);
    if (k.how == IN_PLACE && !can_be_in_place(in_place)) k.how = GIVEN;
    ref_say(c, "    result %s%s\n", way_names[k.how],
            k.how == IN_PLACE ? (in_place ? " (not the first)" : " (the first)") : "");
    ref_set_shape(&k.out, k.result, k.ndim, k.shape);
    switch (k.how) {
    case MADE: return true;
    case DESCRIBED:
        CHECK(tsr_desc_init(&d, k.result, k.ndim, k.shape, NULL) == TSR_OK);
        CHECK(tsr_declare(&c->t[OUT], &d, TSR_CPU, TSR_MEMORY_HOST) == TSR_OK);
        return true;
    case PLACED_NONE: c->t[OUT] = tsr_place_none(&c->place[OUT]); return true;
    case IN_PLACE:
        c->t[OUT] = tsr_retain(c->t[in_place]);
        k.out = k.in[in_place];
        return true;
    default: return give_result(c);
    }
}

/* Judging ------------------------------------------------------------------------------------- */

static void say_bits(ref_case *c, const char *what, tsr_dtype dtype, const unsigned char *p)
{
    const tsr_dtype part = ref_part(dtype);
    const int64_t size = ref_size(part);
    ref_say(c, " %s ", what);
    for (int i = 0; i <= (ref_is_complex(dtype) ? 1 : 0); i++) {
        if (ref_is_float(part)) ref_say(c, "%s%.21Lg", i ? ", " : "", ew_load(part, p + i * size));
        else ref_say(c, "%lld", (long long)ew_load_int(dtype, p));
        ref_say(c, "=%llx", (unsigned long long)ref_load_bits(p + i * size, size));
    }
}

/* Element `e` of the result is what the reference makes of the operands' elements. */
static bool element_is(ref_case *c, const int64_t *index, int64_t e, const unsigned char *got)
{
    unsigned char value[3][16];
    const unsigned char *in[3] = { NULL, NULL, NULL };
    for (int i = 0; i < k.p.r.nin; i++) {
        const tsr_dtype to = is_grouped(&k.p.r, i) ? k.group : k.p.dtype[i];
        const unsigned char *from = k.number_bits[i];
        if (!k.p.number[i]) {
            int64_t own[TSR_MAX_NDIM];
            for (int a = 0; a < k.in[i].ndim; a++)
                own[a] = k.in[i].shape[a] == 1 ? 0 : index[k.ndim - k.in[i].ndim + a];
            from = before + k.in[i].at[ref_flat(&k.in[i], own)];
        }
        ref_convert(to, value[i], k.p.dtype[i], from);
        in[i] = value[i];
    }
    const ew_want w = ew_eval(k.p.r.op, k.group, in, k.params);
    if (ew_is_right(k.result, got, &w)) return true;
    ref_say(c, "    element %lld:", (long long)e);
    for (int i = 0; i < k.p.r.nin; i++)
        say_bits(c, "from", is_grouped(&k.p.r, i) ? k.group : k.p.dtype[i], value[i]);
    if (w.how == EW_BITS) say_bits(c, "wanted", k.result, w.bits);
    else ref_say(c, " wanted %.21Lg, %.21Lg to %Lg units and %Lg", w.re, w.im, w.units, w.slack);
    say_bits(c, "got", k.result, got);
    ref_say(c, "\n");
    CHECK(!"the element is right");
}

static bool elements_are(ref_case *c, const unsigned char *base, const ref_view *v)
{
    for (REF_EACH(v, index, e))
        if (!element_is(c, index, e, base + v->at[e])) return false;
    return true;
}

/* In the order of dims of the first operand that has the result's shape: where that operand's
 * strides differ, the result's differ the same way. */
static bool is_in_order(const tsr_tensor *t)
{
    for (int i = 0; i < k.p.r.nin; i++) {
        const tsr_tensor *x = k.operand[i];
        if (!tsr_desc_same_shape(&x->desc, &t->desc)) continue;
        for (int a = 0; a < t->ndim; a++)
            for (int b = 0; b < t->ndim; b++) {
                if (t->shape[a] <= 1 || t->shape[b] <= 1 || !x->stride[a] || !x->stride[b]) continue;
                if (llabs(x->stride[a]) > llabs(x->stride[b]) && t->stride[a] < t->stride[b]) return false;
            }
        return true;
    }
    return tsr_is_contiguous(t);
}

/* A result with memory of its own. */
static bool new_result_is(ref_case *c)
{
    static ref_view v;
    const tsr_tensor *t = c->t[OUT];
    CHECK(tsr_check(t) == TSR_OK && tsr_is_allocated(t) && t->dtype == k.result && t->ndim == k.ndim);
    for (int a = 0; a < k.ndim; a++) CHECK(t->shape[a] == k.shape[a]);
    CHECK(tsr_desc_is_dense(&t->desc) && (k.how == DESCRIBED || k.out.n == 0 || is_in_order(t)));
    int64_t low = 0;
    (void)tsr_desc_span(&t->desc, &low, NULL);
    ref_of_desc(&v, &t->desc, -low);
    CHECK(!memcmp(before, memory, sizeof memory));
    return elements_are(c, (const unsigned char *)t->data + low, &v);
}

static bool given_result_is(ref_case *c)
{
    if (!elements_are(c, memory, &k.out)) return false;
    for (int64_t e = 0; e < k.out.n; e++)
        memcpy(before + k.out.at[e], memory + k.out.at[e], (size_t)ref_size(k.result));
    CHECK(!memcmp(before, memory, sizeof memory));
    return true;
}

/* Refused in words, with everything as it was. */
static bool is_refused(ref_case *c)
{
    const char *name = tsr_op_get_info(k.p.r.op)->name;
    tsr_clear_error();
    ref_say(c, "    must be refused\n");
    CHECK(call(&c->t[OUT], k.p.r.op, k.operand, k.params) == TSR_EDTYPE);
    CHECK(c->t[OUT] == NULL && !strncmp(tsr_last_error(), name, strlen(name)));
    CHECK(!memcmp(before, memory, sizeof memory));
    return true;
}

/* One case of a plan. */
static bool attempt(ref_case *c, const plan *p)
{
    int64_t shape[TSR_MAX_NDIM];
    const int ndim = ref_random_shape(c, shape, limit.dims, limit.elements);
    k.p = *p;
    k.ndim = 0;
    ref_say(c, "    %s\n", tsr_op_get_info(p->r.op)->name);
    const bool takes = come_together(p, &k.group);
    random_params(c);
    ref_random_bytes(c, memory, sizeof memory);
    for (int i = 0; i < p->r.nin; i++) if (!make_operand(c, i, ndim, shape)) return false;
    memcpy(before, memory, sizeof memory);
    if (!takes) return is_refused(c);
    k.result = result_dtype(&p->r, k.group);
    if (!make_result(c)) return false;
    CHECK(call(&c->t[OUT], p->r.op, k.operand, k.params) == TSR_OK);
    return k.how <= PLACED_NONE ? new_result_is(c) : given_result_is(c);
}

/* Shrinking ------------------------------------------------------------------------------------- */

static void forget(ref_case *c)
{
    for (int h = 0; h < REF_HANDLES; h++) tsr_release(&c->t[h]);
    c->length = 0;
    c->text[0] = '\0';
}

static bool fails_with(ref_case *c, const plan *p, int dims, int64_t elements)
{
    forget(c);
    limit.dims = dims;
    limit.elements = elements;
    return !attempt(c, p);
}

/* After a failure: the first that fails of ever larger cases of the same plan. */
static void shrink(ref_case *c, const plan *p)
{
    static ref_case found;
    found = *c;
    for (int dims = 0; dims <= 3; dims++)
        for (int tries = 0; tries < 60; tries++)
            if (fails_with(c, p, dims, 1 << dims)) return;
    forget(c);
    ref_say(c, "%s", found.text);  /* nothing smaller: the case itself */
}

static void run_plan(ref_case *c, const plan *p)
{
    limit.dims = REF_RANK;
    limit.elements = 100;
    if (attempt(c, p)) return;
    shrink(c, p);
    ref_fail(c, __FILE__, __LINE__, k.why);
}

/* Every op, every dtype --------------------------------------------------------------------- */

static struct { rule r; tsr_dtype dtype; } pairs[TSR_OP_COUNT * TSR_DTYPE_COUNT];
static int npairs;

static void list_pairs(void)
{
    npairs = 0;
    for (int op = 1; op < TSR_OP_COUNT; op++) {
        if (!is_elementwise(op)) continue;
        const rule r = rule_of((tsr_op_kind)op);
        for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
            if (!r.takes[d]) continue;
            pairs[npairs].r = r;
            pairs[npairs++].dtype = (tsr_dtype)d;
        }
    }
}

static void same_dtype_case(ref_case *c)
{
    plan p = { .r = pairs[c->number % npairs].r };
    for (int i = 0; i < p.r.nin; i++)
        p.dtype[i] = is_grouped(&p.r, i) ? pairs[c->number % npairs].dtype : TSR_BOOL;
    run_plan(c, &p);
}

TEST(test_every_op_in_every_dtype_is_as_the_reference_says_through_any_strides)
{
    list_pairs();
    EXPECT_MSG(npairs > 900, "%d pairs", npairs);
    ref_cases(200 * (int64_t)npairs, same_dtype_case);
}

/* Every pattern of the one-byte floats, which the cases above meet by chance only. */
TEST(test_every_op_of_one_is_right_for_every_f8_value)
{
    static const tsr_dtype dtypes[] = { TSR_F8E4M3, TSR_F8E5M2 };
    const double params[2] = { 0.5, 2 };
    for (int op = 1; op < TSR_OP_COUNT; op++) {
        if (!is_elementwise(op)) continue;
        const rule r = rule_of((tsr_op_kind)op);
        if (r.nin != 1 || !r.takes[TSR_F16]) continue;
        for (int d = 0; d < 2; d++) {
            unsigned char bytes[256];
            tsr_tensor *x = NULL, *z = NULL;
            for (int i = 0; i < 256; i++) bytes[i] = (unsigned char)i;
            EXPECT_OK(tsr_from_data(&x, dtypes[d], TSR_SHAPE(256), bytes));
            EXPECT_OK(call(&z, r.op, (const tsr_tensor *const[3]){ x }, params));
            for (int i = 0; i < 256 && z; i++) {
                const unsigned char *in[3] = { &bytes[i], NULL, NULL };
                const ew_want w = ew_eval(r.op, dtypes[d], in, params);
                EXPECT_MSG(ew_is_right(z->dtype, (unsigned char *)z->data + i, &w), "%s(%02x) of %s is %02x",
                           tsr_op_get_info(r.op)->name, (unsigned)i, tsr_dtype_name(dtypes[d]),
                           (unsigned)((unsigned char *)z->data)[i]);
            }
            tsr_release_all(&x, &z);
        }
    }
}

/* And every two of them under the ops of two. */
TEST(test_every_op_of_two_is_right_for_every_two_f8_values)
{
    static unsigned char bytes[256];
    static const tsr_dtype dtypes[] = { TSR_F8E4M3, TSR_F8E5M2 };
    for (int i = 0; i < 256; i++) bytes[i] = (unsigned char)i;
    for (int op = 1; op < TSR_OP_COUNT; op++) {
        if (!is_elementwise(op) || rule_of((tsr_op_kind)op).nin != 2 ||
            !rule_of((tsr_op_kind)op).takes[TSR_F16])
            continue;
        for (int d = 0; d < 2; d++) {
            tsr_tensor *x = NULL, *y = NULL, *z = NULL;
            EXPECT_OK(tsr_from_data(&x, dtypes[d], TSR_SHAPE(256, 1), bytes));
            EXPECT_OK(tsr_from_data(&y, dtypes[d], TSR_SHAPE(256), bytes));
            EXPECT_OK(call(&z, (tsr_op_kind)op, (const tsr_tensor *const[]){ x, y }, NULL));
            for (int i = 0; i < 256 * 256 && z; i++) {
                const unsigned char *in[3] = { &bytes[i / 256], &bytes[i % 256], NULL };
                const ew_want w = ew_eval((tsr_op_kind)op, dtypes[d], in, NULL);
                EXPECT_MSG(ew_is_right(z->dtype, (unsigned char *)z->data + i, &w),
                           "%s(%02x, %02x) of %s is %02x", tsr_op_get_info((tsr_op_kind)op)->name,
                           (unsigned)i / 256, (unsigned)i % 256, tsr_dtype_name(dtypes[d]),
                           (unsigned)((unsigned char *)z->data)[i]);
            }
            tsr_release_all(&x, &y, &z);
        }
    }
}

/* Promotion and numbers ----------------------------------------------------------------------- */

static rule random_rule(ref_case *c, int least_operands)
{
    for (;;) {
        const int op = (int)ref_between(c, 1, TSR_OP_COUNT - 1);
        if (!is_elementwise(op)) continue;
        const rule r = rule_of((tsr_op_kind)op);
        if (r.nin >= least_operands) return r;
    }
}

/* Dtypes of one kind more often than not, or most cases would be refused. */
static tsr_dtype dtype_beside(ref_case *c, tsr_dtype d)
{
    if (ref_once_in(c, 5)) return ref_random_dtype(c);
    if (d == TSR_BOOL) return d;
    if (d < TSR_F8E4M3) return (tsr_dtype)ref_between(c, TSR_I8, TSR_U64);
    return (tsr_dtype)ref_between(c, TSR_F8E4M3, ref_once_in(c, 3) ? TSR_C128 : TSR_F64);
}

static void mixed_case(ref_case *c)
{
    plan p = { .r = random_rule(c, 2) };
    const tsr_dtype d = ref_random_dtype(c);
    for (int i = 0; i < p.r.nin; i++)
        p.dtype[i] = !is_grouped(&p.r, i) ? TSR_BOOL : dtype_beside(c, d);
    run_plan(c, &p);
}

TEST(test_operands_of_different_dtypes_are_promoted_or_refused) { ref_cases(20000, mixed_case); }

static void number_case(ref_case *c)
{
    plan p = { .r = random_rule(c, 1) };
    const tsr_dtype d = ref_random_dtype(c);
    for (int i = 0; i < p.r.nin; i++) {
        p.number[i] = ref_once_in(c, 2);
        p.dtype[i] = p.number[i] ? scalar_dtype(c) : !is_grouped(&p.r, i) ? TSR_BOOL : d;
    }
    run_plan(c, &p);
}

TEST(test_a_number_takes_the_dtype_of_the_tensors_beside_it) { ref_cases(20000, number_case); }

/* Refusals ------------------------------------------------------------------------------------ */

enum { ROWS = 3, COLS = 4 };

static tsr_tensor *ones(tsr_dtype dtype)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_ones(&t, dtype, TSR_SHAPE(ROWS, COLS)));
    return t;
}

/* A dtype that the op takes. */
static tsr_dtype some_dtype(const rule *r)
{
    tsr_dtype d = TSR_F32;
    while (!r->takes[d]) d = (tsr_dtype)(d % (TSR_DTYPE_COUNT - 1) + 1);
    return d;
}

static const double no_params[2] = { 1, 2 };

static void each_op(void (*fn)(const rule *r))
{
    for (int op = 1; op < TSR_OP_COUNT; op++) {
        if (!is_elementwise(op)) continue;
        const rule r = rule_of((tsr_op_kind)op);
        fn(&r);
    }
}

static void refuses_dtypes(const rule *r)
{
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
        if (r->takes[d]) continue;
        tsr_tensor *t = ones((tsr_dtype)d), *c = ones(TSR_BOOL), *out = NULL;
        const tsr_tensor *in[3] = { is_grouped(r, 0) ? t : c, t, t };
        EXPECT_FAILS(call(&out, r->op, in, no_params), TSR_EDTYPE, tsr_op_get_info(r->op)->name);
        EXPECT(strstr(tsr_last_error(), tsr_dtype_name((tsr_dtype)d)) && out == NULL);
        tsr_release_all(&t, &c);
    }
}

TEST(test_every_op_refuses_the_dtypes_it_does_not_take_and_names_them)
{
    each_op(refuses_dtypes);
}

/* Each operand in turn missing, none or described. */
static void refuses_missing(const rule *r)
{
    tsr_tensor *good = ones(some_dtype(r)), *flag = ones(TSR_BOOL), *described = NULL, none, *out = NULL;
    EXPECT_OK(tsr_declare(&described, &good->desc, TSR_CPU, TSR_MEMORY_HOST));
    const tsr_tensor *const bad[] = { NULL, tsr_place_none(&none), described };
    static const tsr_status statuses[] = { TSR_ENULL, TSR_EDTYPE, TSR_ESTATE };
    const char *name = tsr_op_get_info(r->op)->name;
    for (int i = 0; i < r->nin; i++)
        for (int b = 0; b < 3; b++) {
            const tsr_tensor *in[3] = { is_grouped(r, 0) ? good : flag, good, good };
            in[i] = bad[b];
            EXPECT_FAILS(call(&out, r->op, in, no_params), statuses[b], name);
            EXPECT(out == NULL);
        }
    const tsr_tensor *in[3] = { is_grouped(r, 0) ? good : flag, good, good };
    EXPECT_FAILS(call(NULL, r->op, in, no_params), TSR_ENULL, name);
    tsr_release_all(&good, &flag, &described);
}

TEST(test_every_op_refuses_operands_that_are_missing_none_or_described)
{
    each_op(refuses_missing);
}

static void refuses_result(const rule *r, tsr_tensor *out, tsr_status status)
{
    tsr_tensor *good = ones(some_dtype(r)), *flag = ones(TSR_BOOL), *was = out;
    const tsr_tensor *in[3] = { is_grouped(r, 0) ? good : flag, good, good };
    EXPECT_FAILS(call(&out, r->op, in, no_params), status, tsr_op_get_info(r->op)->name);
    EXPECT(out == was);
    tsr_release_all(&good, &flag);
}

/* A result of another dtype, of another shape, read-only, or over itself. */
static void refuses_results(const rule *r)
{
    static const unsigned char bytes[16 * ROWS * COLS];
    const tsr_dtype dtype = result_dtype(r, some_dtype(r)), other = dtype == TSR_I16 ? TSR_I32 : TSR_I16;
    tsr_tensor *out = ones(other), *wide = ones(dtype);
    tsr_desc d;
    refuses_result(r, out, TSR_EDTYPE);
    tsr_release(&out);
    EXPECT_OK(tsr_empty(&out, dtype, TSR_SHAPE(ROWS, COLS + 1)));
    refuses_result(r, out, TSR_ESHAPE);
    tsr_release(&out);
    EXPECT_OK(tsr_wrap_const(&out, bytes, &wide->desc));
    refuses_result(r, out, TSR_EREADONLY);
    tsr_release(&out);
    EXPECT_OK(tsr_desc_init(&d, dtype, TSR_SHAPE(ROWS, COLS), (const int64_t[]){ 1, 1 }));
    EXPECT_OK(tsr_wrap(&out, wide->data, &d));
    refuses_result(r, out, TSR_EOVERLAP);
    tsr_release_all(&out, &wide);
}

TEST(test_every_op_refuses_results_that_do_not_fit) { each_op(refuses_results); }

static void refuses_shapes(const rule *r)
{
    tsr_tensor *good = ones(some_dtype(r)), *flag = ones(TSR_BOOL), *bad = NULL, *out = NULL;
    EXPECT_OK(tsr_ones(&bad, some_dtype(r), TSR_SHAPE(COLS + 1)));
    const tsr_tensor *in[3] = { is_grouped(r, 0) ? good : flag, good, good };
    in[r->nin - 1] = bad;
    if (r->nin > 1) EXPECT_FAILS(call(&out, r->op, in, no_params), TSR_ESHAPE, tsr_op_get_info(r->op)->name);
    EXPECT(out == NULL);
    tsr_release_all(&good, &flag, &bad);
}

TEST(test_every_op_of_several_refuses_shapes_that_do_not_broadcast) { each_op(refuses_shapes); }

TEST(test_hardtanh_refuses_bounds_in_the_wrong_order)
{
    tsr_tensor *x = ones(TSR_F32), *out = NULL;
    EXPECT_FAILS(tsr_hardtanh(&out, x, 2, 1), TSR_EINVAL, "hardtanh");
    EXPECT_FAILS(tsr_hardtanh(&out, x, NAN, 1), TSR_EINVAL, "hardtanh");
    EXPECT(out == NULL);
    tsr_release(&x);
}

/* Out of memory -------------------------------------------------------------------------------- */

static int countdown;

static bool fail_at_zero(void *context, size_t bytes)
{
    (void)context; (void)bytes;
    return countdown > 0 && countdown-- > 0;
}

/* There are n allocations and no more, for each n until the call succeeds: nothing has changed
 * and nothing is leaked. Returns how often it failed. */
static int failures_of(tsr_op_kind op, tsr_tensor **out, const tsr_tensor *const *in,
                       const tsr_tensor *watched)
{
    static unsigned char was[1 << 16];
    const tsr_tensor *had = *out;
    const size_t bytes = (size_t)tsr_byte_size(watched);
    memcpy(was, watched->data, bytes);
    for (int n = 0; n < 20; n++) {
        tsr_memory_stats start, now;
        tsr_memory_get_stats(&start);
        countdown = n;
        tsr_set_alloc_hook(fail_at_zero, NULL);
        const tsr_status s = call(out, op, in, no_params);
        tsr_set_alloc_hook(NULL, NULL);
        if (s == TSR_OK) return n;
        tsr_memory_get_stats(&now);
        EXPECT_MSG(s == TSR_ENOMEM, "%s: %s", tsr_op_get_info(op)->name, tsr_status_name(s));
        EXPECT(*out == had && !memcmp(was, watched->data, bytes));
        EXPECT(start.live_bytes == now.live_bytes && start.live_tensors == now.live_tensors &&
               start.live_storages == now.live_storages);
    }
    EXPECT(!"it succeeds once there is memory");
    return 0;
}

enum { MANY = 600 };  /* large enough not to lie in a header's slot */

/* A result that is made, beside operands that must be converted: two or three allocations. */
static void makes_and_converts(const rule *r)
{
    tsr_tensor *x = NULL, *y = NULL, *flag = NULL, *out = NULL;
    if (r->nin < 2 || !r->takes[TSR_I32]) return;
    EXPECT_OK(tsr_ones(&x, TSR_I32, TSR_SHAPE(MANY)));
    EXPECT_OK(tsr_ones(&y, TSR_I16, TSR_SHAPE(MANY)));
    EXPECT_OK(tsr_ones(&flag, TSR_BOOL, TSR_SHAPE(MANY)));
    const tsr_tensor *in[3] = { is_grouped(r, 0) ? x : flag, is_grouped(r, 0) ? y : x, y };
    EXPECT(failures_of(r->op, &out, in, x) >= 2);
    tsr_release_all(&x, &y, &flag, &out);
}

/* A result across an operand, which is copied first. */
static void copies_aside(const rule *r)
{
    tsr_tensor *all = NULL, *low = NULL, *high = NULL, *flag = NULL;
    const tsr_dtype d = some_dtype(r);
    if (r->result != SAME) return;
    EXPECT_OK(tsr_ones(&all, d, TSR_SHAPE(MANY + 1)));
    EXPECT_OK(tsr_ones(&flag, TSR_BOOL, TSR_SHAPE(MANY)));
    EXPECT_OK(tsr_slice(&low, all, 0, 0, MANY, 1));
    EXPECT_OK(tsr_slice(&high, all, 0, 1, MANY + 1, 1));
    const tsr_tensor *in[3] = { is_grouped(r, 0) ? high : flag, high, high };
    EXPECT(failures_of(r->op, &low, in, all) >= 1);
    tsr_release_all(&all, &low, &high, &flag);
}

TEST(test_every_op_without_memory_for_its_temporaries_fails_and_changes_nothing)
{
    each_op(makes_and_converts);
    each_op(copies_aside);
}

/* In place needs no memory at all. */
static bool refuse_all(void *context, size_t bytes)
{
    (void)context; (void)bytes;
    return false;
}

static void runs_in_place(const rule *r)
{
    tsr_tensor *x = NULL, *flag = NULL;
    if (r->result != SAME) return;
    EXPECT_OK(tsr_ones(&x, some_dtype(r), TSR_SHAPE(MANY)));
    EXPECT_OK(tsr_ones(&flag, TSR_BOOL, TSR_SHAPE(MANY)));
    const tsr_tensor *in[3] = { is_grouped(r, 0) ? x : flag, x, x };
    tsr_set_alloc_hook(refuse_all, NULL);
    EXPECT_OK(call(&x, r->op, in, no_params));
    tsr_set_alloc_hook(NULL, NULL);
    tsr_release_all(&x, &flag);
}

TEST(test_every_op_in_place_allocates_nothing) { each_op(runs_in_place); }

/* Many elements ---------------------------------------------------------------------------------- */

/* A power that all elements have may be taken another way than one that each has of its own. */
static void check_power(tsr_dtype dtype, int power)
{
    double values[] = { 0.0,       -0.0, 1.5, -1.5, 3, -7.25, 1e-3, -2e4, INFINITY,
                        -INFINITY, NAN,  0.1, -0.1, 1, -1,    2,    -2.5, 9 };
    enum { N = sizeof values / sizeof *values };
    tsr_tensor *given = NULL, *x = NULL, *z = NULL, *want = NULL, *powers = NULL;
    EXPECT_OK(
        tsr_wrap(&given, values,
                 &(tsr_desc){ .dtype = TSR_F64, .ndim = 2, .shape = { 2, N / 2 }, .stride = { N / 2, 1 } }));
    EXPECT_OK(tsr_cast(&x, given, dtype));
    EXPECT_OK(tsr_full(&powers, dtype, TSR_SHAPE(2, N / 2), TSR_SCALAR(power)));
    EXPECT_OK(tsr_pow(&z, x, TSR_NUMBER(power)));
    if (power == 2)       EXPECT_OK(tsr_square(&want, x));
    else if (power == -1) EXPECT_OK(tsr_reciprocal(&want, x));
    else                  EXPECT_OK(tsr_pow(&want, x, powers));
    EXPECT(memcmp(z->data, want->data, (size_t)tsr_desc_bytes(&z->desc)) == 0);
    tsr_release_all(&given, &x, &z, &want, &powers);
}

TEST(test_powers_by_a_number_are_squares_and_reciprocals_too)
{
    static const tsr_dtype dtypes[] = { TSR_F16, TSR_BF16, TSR_F32, TSR_F64 };
    for (int d = 0; d < 4; d++)
        for (int power = -2; power <= 3; power++) check_power(dtypes[d], power);
}

/* Every operand and the result have to be packed on the way, and all are as wide as can be. */
TEST(test_long_rows_of_the_widest_dtype_with_gaps_are_as_packed_ones)
{
    tsr_tensor *wide = NULL, *x = NULL, *room = NULL, *got = NULL, *packed = NULL, *want = NULL;
    bool same = false;
    EXPECT_OK(tsr_uniform(&wide, TSR_C128, TSR_SHAPE(5000), -1, 1, 3));
    EXPECT_OK(tsr_zeros(&room, TSR_C128, TSR_SHAPE(5000)));
    EXPECT_OK(tsr_slice(&x, wide, 0, 0, TSR_NONE, 2));
    EXPECT_OK(tsr_slice(&got, room, 0, 0, TSR_NONE, 2));
    EXPECT_OK(tsr_fma(&got, x, x, x));
    EXPECT_OK(tsr_contiguous(&packed, x));
    EXPECT_OK(tsr_fma(&want, packed, packed, packed));
    EXPECT_OK(tsr_equal(&same, got, want));
    EXPECT(same);
    tsr_release_all(&wide, &x, &room, &got, &packed, &want);
}

TEST(test_axpy_takes_numbers_of_its_dtype_and_works_in_place)
{
    tsr_tensor *x = NULL, *y = NULL, *n = NULL, *out = NULL, none;
    EXPECT_OK(tsr_full(&x, TSR_F32, TSR_SHAPE(2, 3), TSR_SCALAR(4)));
    EXPECT_OK(tsr_ones(&y, TSR_F32, TSR_SHAPE(2, 3)));
    EXPECT_OK(tsr_full(&n, TSR_I32, TSR_SHAPE(3), TSR_SCALAR(5)));
    EXPECT_OK(tsr_axpy(&y, TSR_SCALAR(0.5), x, y));
    EXPECT(TSR_AT(float, y, 1, 2) == 3);
    EXPECT_OK(tsr_axpy(&out, TSR_SCALAR(-2), n, n));
    EXPECT(out->dtype == TSR_I32 && TSR_AT(int32_t, out, 2) == -5);
    tsr_release(&out);
    EXPECT_FAILS(tsr_axpy(&out, TSR_SCALAR(0.5), n, n), TSR_EDTYPE, "number does not fit i32");
    EXPECT_FAILS(tsr_axpy(NULL, TSR_SCALAR(1), x, y), TSR_ENULL, "axpy: out");
    EXPECT_FAILS(tsr_axpy(&out, TSR_SCALAR(1), NULL, y), TSR_ENULL, "axpy: x");
    EXPECT_FAILS(tsr_axpy(&out, TSR_SCALAR(1), x, NULL), TSR_ENULL, "axpy: y");
    EXPECT_FAILS(tsr_axpy(&out, TSR_SCALAR(1), x, tsr_place_none(&none)), TSR_EDTYPE, "");
    EXPECT_FAILS(tsr_axpy(&out, (tsr_scalar){ .dtype = TSR_F32 }, x, y), TSR_EDTYPE, "");
    EXPECT(out == NULL);
    tsr_release_all(&x, &y, &n);
}
