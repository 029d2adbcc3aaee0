/* einsum.c - Einstein's notation: read, check, and a plan of products in pairs.
 *
 *     read      text -> the names of each operand's dims and of the result's
 *     look      an operand's view: diagonals taken, dims of "..." named from the right
 *     plan      sum what stands in one operand only; then the pair with the smallest
 *               product, until one or two operands are left; those make the result
 *
 * Names are numbers: A .. Z and a .. z by their place in ASCII, then the dims of
 * "..." from the last one on. */
#include "contract.h"
#include "operands.h"
#include "tessera/move.h"
#include "tessera/ops/matmul.h"

enum {
    LETTERS = 52, NAMES = LETTERS + TSR_MAX_NDIM,
    QUOTE = 200  /* of the text, in a message */
};

/* One operand, or the result, as it is written. */
typedef struct term {
    int  column;        /* where it begins, from 1 */
    int  count;         /* letters */
    int  before;        /* of those, before "..."; -1: there is none */
    char letter[TSR_MAX_NDIM];
    int  at[TSR_MAX_NDIM];  /* their columns */
} term;

typedef struct notation {
    const char *text;
    int         n;                          /* operands */
    bool        has_result;                 /* is there a "->"? */
    term        operand[TSR_EINSUM_OPERANDS];
    term        result;
} notation;

/* Reading ----------------------------------------------------------------------------- */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static int number_of(char letter) { return letter < 'a' ? letter - 'A' : letter - 'a' + 26; }

static char letter_of(int name) { return (char)(name < 26 ? 'A' + name : 'a' + name - 26); }

static TSRI_COLD tsr_status blame_text(const notation *e, int at, const char *expected)
{
    const char c = e->text[at];
    if (c == '\0')
        return tsri_fail(TSR_EFORMAT, "einsum: column %d of \"%.*s\": expected %s, found the end", at + 1,
                         QUOTE, e->text, expected);
    return tsri_fail(TSR_EFORMAT, "einsum: column %d of \"%.*s\": expected %s, found '%c'", at + 1, QUOTE,
                     e->text, expected, c);
}

/* Reads one term from *at on, up to what cannot belong to it. */
static tsr_status read_term(const notation *e, term *t, int *at)
{
    t->column = *at + 1;
    t->count = 0;
    t->before = -1;
    for (;; (*at)++) {
        const char c = e->text[*at];
        if (c == ' ') continue;
        if (is_letter(c)) {
            TSRI_CHECK(t->count < TSR_MAX_NDIM, TSR_ESHAPE,
                       "einsum: column %d: more than %d dims, the highest rank", *at + 1, TSR_MAX_NDIM);
            t->at[t->count] = *at + 1;
            t->letter[t->count++] = c;
        } else if (c == '.') {
            if (t->before >= 0) return blame_text(e, *at, "one \"...\" in an operand");
            for (int i = 1; i < 3; i++)
                if (e->text[*at + i] != '.') return blame_text(e, *at + i, "a '.' of \"...\"");
            t->before = t->count;
            *at += 2;
        } else {
            return TSR_OK;
        }
    }
}

static tsr_status read_result(notation *e, int at)
{
    if (e->text[at] != '>') return blame_text(e, at, "the '>' of \"->\"");
    at++;
    TSRI_TRY(read_term(e, &e->result, &at));
    if (e->text[at] != '\0') return blame_text(e, at, "a name, \"...\" or the end");
    e->has_result = true;
    return TSR_OK;
}

static tsr_status read(notation *e, const char *text)
{
    e->text = text;
    e->n = 0;
    e->has_result = false;
    for (int at = 0;; at++) {
        TSRI_CHECK(e->n < TSR_EINSUM_OPERANDS, TSR_EFORMAT, "einsum: column %d: more than %d operands",
                   at + 1, TSR_EINSUM_OPERANDS);
        TSRI_TRY(read_term(e, &e->operand[e->n++], &at));
        if (text[at] == '\0') return TSR_OK;
        if (text[at] == '-') return read_result(e, at + 1);
        if (text[at] != ',') return blame_text(e, at, "a name, \"...\", ',' or \"->\"");
    }
}

/* Looking ----------------------------------------------------------------------------- */

/* The size of each name. */
typedef struct sizes {
    bool    known[NAMES];
    int64_t size[NAMES];
    int     from[NAMES];   /* the operand that has this size */
    int     dots;          /* dims of "...", the most that an operand has */
} sizes;

/* The name of dim i of a tensor with `ndim` dims. */
static int name_of_dim(const term *t, int ndim, int i)
{
    const int dots = ndim - t->count;
    if (t->before < 0 || i < t->before) return number_of(t->letter[i]);
    if (i < t->before + dots) return LETTERS + dots - 1 - (i - t->before);
    return number_of(t->letter[i - dots]);
}

static tsr_status check_rank(const term *t, int i, const tsr_tensor *x)
{
    TSRI_CHECK(t->before >= 0 ? x->ndim >= t->count : x->ndim == t->count, TSR_ESHAPE,
               "einsum: column %d: operand %d has %s%d names, but is %s, with %d dims", t->column, i,
               t->before >= 0 ? "\"...\" and " : "", t->count, TSRI_DESC(&x->desc), (int)x->ndim);
    return TSR_OK;
}

/* The column of the name of dim d. */
static int column_of(const term *t, int ndim, int d)
{
    const int dots = ndim - t->count;
    if (t->before < 0 || d < t->before) return t->at[d];
    return d < t->before + dots ? t->column : t->at[d - dots];
}

static TSRI_COLD tsr_status blame_size(const sizes *s, const term *t, int name, int i, int d,
                                       const tsr_tensor *x)
{
    const char letter[] = { letter_of(name), '\0' };
    return tsri_fail(
        TSR_ESHAPE, "einsum: column %d: %s is %lld from operand %d, but dim %d of operand %d is %lld, in %s",
        column_of(t, x->ndim, d), name < LETTERS ? letter : "a dim of \"...\"", (long long)s->size[name],
        s->from[name], d, i, (long long)x->shape[d], TSRI_DESC(&x->desc));
}

static tsr_status learn_sizes(sizes *s, const term *t, int i, const tsr_tensor *x)
{
    TSRI_TRY(check_rank(t, i, x));
    if (t->before >= 0 && x->ndim - t->count > s->dots) s->dots = x->ndim - t->count;
    for (int d = 0; d < x->ndim; d++) {
        const int name = name_of_dim(t, x->ndim, d);
        const int64_t n = x->shape[d];
        if (s->known[name] && s->size[name] != n) {
            if (name < LETTERS || (n != 1 && s->size[name] != 1)) return blame_size(s, t, name, i, d, x);
            if (n == 1) continue;
        }
        s->known[name] = true;
        s->size[name] = n;
        s->from[name] = i;
    }
    return TSR_OK;
}

/* The view with each name once: dims of one name are walked together, and dims that repeat are left out. */
static void look(tsri_named *out, const sizes *s, const term *t, const tsr_tensor *x)
{
    tsr_desc d = { .dtype = x->dtype, .ndim = 0 };
    out->view = *x;
    for (int i = 0; i < x->ndim; i++) {
        const uint8_t name = (uint8_t)name_of_dim(t, x->ndim, i);
        int at = 0;
        if (name >= LETTERS && x->shape[i] != s->size[name]) continue;
        while (at < d.ndim && out->name[at] != name) at++;
        if (at < d.ndim) {
            d.stride[at] = (int64_t)((uint64_t)d.stride[at] + (uint64_t)x->stride[i]);  /* junk may wrap */
            continue;
        }
        out->name[at] = name;
        d.shape[at] = x->shape[i];
        d.stride[at] = x->stride[i];
        d.ndim++;
    }
    tsri_desc_copy(&out->view.desc, &d);
}

/* The names of the result where the text has no "->". */
static int implied_names(uint8_t *names, const notation *e, const sizes *s)
{
    int count = 0, seen[LETTERS] = { 0 };
    for (int i = 0; i < e->n; i++)
        for (int l = 0; l < e->operand[i].count; l++) seen[number_of(e->operand[i].letter[l])]++;
    for (int i = s->dots - 1; i >= 0; i--) names[count++] = (uint8_t)(LETTERS + i);
    for (int i = 0; i < LETTERS; i++)
        if (seen[i] == 1 && count < NAMES) names[count++] = (uint8_t)i;
    return count;
}

static tsr_status check_result_letters(const notation *e, const sizes *s)
{
    bool met[LETTERS] = { false };
    for (int i = 0; i < e->result.count; i++) {
        const int name = number_of(e->result.letter[i]);
        TSRI_CHECK(s->known[name], TSR_EFORMAT,
                   "einsum: column %d: %c of the result is in no operand of \"%.*s\"", e->result.at[i],
                   e->result.letter[i], QUOTE, e->text);
        TSRI_CHECK(!met[name], TSR_EFORMAT, "einsum: column %d: %c stands twice in the result of \"%.*s\"",
                   e->result.at[i], e->result.letter[i], QUOTE, e->text);
        met[name] = true;
    }
    return TSR_OK;
}

static tsr_status result_names(uint8_t names[NAMES], int *count, const notation *e, const sizes *s)
{
    if (!e->has_result) {
        *count = implied_names(names, e, s);
        return TSR_OK;
    }
    const term *r = &e->result;
    TSRI_TRY(check_result_letters(e, s));
    const int dots = r->before >= 0 ? s->dots : 0;  /* without "..." they are summed over */
    *count = r->count + dots;
    for (int i = 0; i < *count && i < NAMES; i++) names[i] = (uint8_t)name_of_dim(r, *count, i);
    return TSR_OK;
}

static tsr_status result_desc(tsr_desc *out, uint8_t names[NAMES], const notation *e, const sizes *s,
                              tsr_dtype dtype)
{
    int count = 0;
    int64_t shape[TSR_MAX_NDIM];
    TSRI_TRY(result_names(names, &count, e, s));
    TSRI_CHECK(count <= TSR_MAX_NDIM, TSR_ESHAPE, "einsum: the result of \"%.*s\" has %d dims; %d can be had",
               QUOTE, e->text, count, TSR_MAX_NDIM);
    for (int i = 0; i < count; i++) shape[i] = s->size[names[i]];
    return tsri_desc_packed(out, "einsum", dtype, count, shape);
}

/* The plan ---------------------------------------------------------------------------- */

/* What is still to be multiplied. */
typedef struct work {
    int         n;
    tsri_named  operand[TSR_EINSUM_OPERANDS];
    tsr_tensor *made[TSR_EINSUM_OPERANDS];    /* the operand's memory, if it is a temporary */
    tsri_named  result;
    tsr_dtype   dtype;
} work;

/* Is the name in the result, or in an operand other than a and b? */
static bool is_wanted(const work *w, uint8_t name, int a, int b)
{
    if (tsri_find_dim(&w->result, name) >= 0) return true;
    for (int i = 0; i < w->n; i++)
        if (i != a && i != b && tsri_find_dim(&w->operand[i], name) >= 0) return true;
    return false;
}

/* The names and sizes of the product of a and b (b may be a): those that the result or another operand has.
 * False if they are more than a tensor can have. */
static bool product_dims(tsri_named *out, const work *w, int a, int b)
{
    out->view.ndim = 0;
    for (int side = 0; side < (a == b ? 1 : 2); side++) {
        const tsri_named *t = &w->operand[side ? b : a];
        for (int i = 0; i < t->view.ndim; i++) {
            if (!is_wanted(w, t->name[i], a, b) || tsri_find_dim(out, t->name[i]) >= 0) continue;
            if (out->view.ndim == TSR_MAX_NDIM) return false;
            out->name[out->view.ndim] = t->name[i];
            out->view.shape[out->view.ndim++] = t->view.shape[i];
        }
    }
    return true;
}

static double elements(const tsri_named *t)
{
    double n = 1;
    for (int i = 0; i < t->view.ndim; i++) n *= (double)t->view.shape[i];
    return n;
}

/* How many multiplications the product of a and b takes. */
static double cost(const work *w, int a, int b)
{
    double n = elements(&w->operand[a]);
    for (int i = 0; i < w->operand[b].view.ndim; i++)
        if (tsri_find_dim(&w->operand[a], w->operand[b].name[i]) < 0)
            n *= (double)w->operand[b].view.shape[i];
    return n;
}

/* The pair to multiply next. False if every product has too many dims. */
static bool choose(const work *w, int *a, int *b)
{
    bool found = false;
    double least = 0, least_cost = 0;
    for (int i = 0; i < w->n; i++)
        for (int j = i + 1; j < w->n; j++) {
            tsri_named product;
            if (!product_dims(&product, w, i, j)) continue;
            const double size = elements(&product), price = cost(w, i, j);
            if (found && (size > least || (size == least && price >= least_cost))) continue;
            found = true;
            least = size;
            least_cost = price;
            *a = i;
            *b = j;
        }
    return found;
}

/* Replaces operand a by the product of a and b, or by its own sums if they are the same. */
static tsr_status replace(work *w, int a, int b)
{
    tsri_named product;
    tsr_desc d;
    tsr_tensor *t = NULL;
    (void)product_dims(&product, w, a, b);
    TSRI_TRY(tsri_desc_packed(&d, "einsum", w->dtype, product.view.ndim, product.view.shape));
    TSRI_TRY(tsri_make_beside(&t, "einsum", &d, &w->operand[a].view));
    product.view = *t;
    const tsr_status s = tsri_contract("einsum", &product, &w->operand[a], a == b ? NULL : &w->operand[b]);
    tsr_release(&w->made[a]);
    w->made[a] = t;
    w->operand[a] = product;
    if (a == b) return s;
    tsr_release(&w->made[b]);
    w->n--;
    w->operand[b] = w->operand[w->n];
    w->made[b] = w->made[w->n];
    w->made[w->n] = NULL;
    return s;
}

/* Does operand i have names that neither the result nor another operand has? */
static bool has_private_names(const work *w, int i)
{
    for (int d = 0; d < w->operand[i].view.ndim; d++)
        if (w->operand[i].view.shape[d] != 1 && !is_wanted(w, w->operand[i].name[d], i, i)) return true;
    return false;
}

static tsr_status multiply_all(work *w)
{
    int a = 0, b = 0;
    for (int i = 0; w->n > 1 && i < w->n; i++)
        if (has_private_names(w, i)) TSRI_TRY(replace(w, i, i));
    while (w->n > 2) {
        TSRI_CHECK(choose(w, &a, &b), TSR_ESHAPE, "einsum: every intermediate product has more than %d dims",
                   TSR_MAX_NDIM);
        TSRI_TRY(replace(w, a, b));
    }
    return tsri_contract("einsum", &w->result, &w->operand[0], w->n > 1 ? &w->operand[1] : NULL);
}

/* Operands ---------------------------------------------------------------------------- */

/* Is there an intermediate product? */
static bool takes_steps(const work *w)
{
    if (w->n > 2) return true;
    for (int i = 0; w->n == 2 && i < w->n; i++)
        if (has_private_names(w, i)) return true;
    return false;
}

/* Operand i in the dtype that is computed in, and apart from out. */
static tsr_status prepare_operand(work *w, int i, const tsr_tensor *out)
{
    const tsr_tensor *t = &w->operand[i].view;
    TSRI_TRY(tsri_as_dtype(&t, &w->made[i], w->dtype));
    TSRI_TRY(tsri_separate(&t, &w->made[i], out, TSRI_ORIGIN_GIVEN));
    if (w->made[i]) w->operand[i].view = *t;
    return TSR_OK;
}

/* Fills out; where intermediate products have a wider dtype, a temporary of it is summed first. */
static tsr_status run(work *w, tsr_tensor *out)
{
    tsr_tensor *wide = NULL;
    w->result.view = *out;
    w->dtype = takes_steps(w) ? tsri_computed_dtype(out->dtype) : out->dtype;  /* that sums have */
    for (int i = 0; i < w->n; i++) TSRI_TRY(prepare_operand(w, i, out));
    if (w->dtype == out->dtype) return multiply_all(w);
    tsr_desc d;
    TSRI_TRY(tsri_desc_packed(&d, "einsum", w->dtype, out->ndim, out->shape));
    TSRI_TRY(tsri_make_beside(&wide, "einsum", &d, out));
    w->result.view = *wide;
    tsr_status s = multiply_all(w);
    if (s == TSR_OK) s = tsri_copy_run(out, wide);
    tsr_release(&wide);
    return s;
}

/* What all operands are multiplied in. */
static tsr_status product_dtype(tsr_dtype *out, int n, const tsr_tensor *const *operands)
{
    const uint32_t accepts = tsri_rule_of(TSR_OP_MATMUL)->accepts[0];
    TSRI_TRY(tsri_promote_all(out, "einsum", n, operands));
    for (int i = 0; i < n; i++)
        TSRI_CHECK(accepts >> (tsri_is_number(operands[i]) ? *out : operands[i]->dtype) & 1, TSR_EDTYPE,
                   "einsum: operand %d is %s, which is not multiplied (tsr_cast converts)", i,
                   TSRI_DESC(&operands[i]->desc));
    return TSR_OK;
}

/* All that is checked before the result is made. */
static tsr_status prepare(work *w, tsr_desc *d, const char *text, int n, const tsr_tensor *const *operands)
{
    notation e;
    sizes s = { .dots = 0 };
    uint8_t names[NAMES];
    TSRI_TRY(read(&e, text));
    TSRI_CHECK(n == e.n, TSR_EINVAL, "einsum: \"%.*s\" names %d operands, but %d are given", QUOTE, text, e.n,
               n);
    for (int i = 0; i < n; i++) TSRI_TRY(tsri_check_of_list("einsum", "operand", i, operands[i]));
    TSRI_TRY(product_dtype(&w->dtype, n, operands));
    for (int i = 0; i < n; i++) TSRI_TRY(learn_sizes(&s, &e.operand[i], i, operands[i]));
    TSRI_TRY(result_desc(d, names, &e, &s, w->dtype));
    for (int i = 0; i < d->ndim; i++) w->result.name[i] = names[i];
    w->n = n;
    for (int i = 0; i < n; i++) {
        look(&w->operand[i], &s, &e.operand[i], operands[i]);
        w->made[i] = NULL;
    }
    return TSR_OK;
}

tsr_status tsr_einsum(tsr_tensor **out, const char *text, int n, const tsr_tensor *const *operands)
{
    work w;
    tsr_desc d;
    tsri_origin origin = TSRI_ORIGIN_GIVEN;
    TSRI_CHECK(out, TSR_ENULL, "einsum: out is NULL");
    TSRI_CHECK(text, TSR_ENULL, "einsum: text is NULL");
    TSRI_CHECK(n >= 1 && n <= TSR_EINSUM_OPERANDS, TSR_EINVAL, "einsum: %d operands; 1 to %d can be had", n,
               TSR_EINSUM_OPERANDS);
    TSRI_CHECK(operands, TSR_ENULL, "einsum: operands is NULL");
    TSRI_TRY(prepare(&w, &d, text, n, operands));
    TSRI_TRY(tsri_result(out, &origin, "einsum", &d, operands[0]));
    const tsr_status s = run(&w, *out);
    for (int i = 0; i < n; i++) tsr_release(&w.made[i]);
    return tsri_result_end(out, origin, s);
}
