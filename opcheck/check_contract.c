/* check_contract.c - contractions: each dim has a label, and what the result lacks is summed over.
 *
 * einsum, tensordot, vecdot, dot, outer and batches of matmul are one thing here; a rule draws labels
 * and makes the call.
 */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { RESULT, FIRST, OPERANDS = 4, LABELS = 8, RANK = 8 };

typedef struct contraction {
    int n, labels;
    int64_t size[LABELS];
    int rank[OPERANDS], label[OPERANDS][RANK];
    bool one[OPERANDS][RANK]; /* a dim of size 1 that is repeated */
    int out_rank, out[RANK];
    bool conjugate; /* the first operand */
    int axis, naxes, axes[2][RANK];
    char text[160];
} contraction;

static void draw_sizes(trial *t, contraction *c, int labels)
{
    int64_t left = most_elements(t);
    c->labels = labels;
    for (int i = 0; i < labels; i++) {
        c->size[i] = once_in(t, 40) ? 0 : random_size(t, 1, 5, left);
        left /= c->size[i] ? c->size[i] : 1;
    }
}

static void add_dim(contraction *c, int operand, int label) { c->label[operand][c->rank[operand]++] = label; }

static int shape_of(int64_t *shape, const contraction *c, int operand)
{
    for (int d = 0; d < c->rank[operand]; d++)
        shape[d] = c->one[operand][d] ? 1 : c->size[c->label[operand][d]];
    return c->rank[operand];
}

/* The reference ----------------------------------------------------------------------------- */

static value product(value x, value y)
{
    return (value){ x.bits * y.bits, x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re };
}

/* The product of all operands at these values of the labels. */
static value term(const trial *t, const contraction *c, const int64_t *at)
{
    value p = { 1, 1, 0 };
    for (int i = 0; i < c->n; i++) {
        const tsr_tensor *x = t->tensor[FIRST + i];
        int64_t index[RANK];
        for (int d = 0; d < c->rank[i]; d++) index[d] = c->one[i][d] ? 0 : at[c->label[i][d]];
        value v = value_at(x, place_of(index, x->ndim, x->shape));
        if (i == 0 && c->conjugate) v.im = -v.im;
        p = product(p, v);
    }
    return p;
}

/* Labels that are summed over, and how many terms that makes. */
static int64_t summed_labels(const contraction *c, int *summed, int *count)
{
    int64_t terms = 1;
    *count = 0;
    for (int i = 0; i < c->labels; i++) {
        bool used = false, kept = false;
        for (int o = 0; o < c->n; o++)
            for (int d = 0; d < c->rank[o]; d++) used = used || c->label[o][d] == i;
        for (int d = 0; d < c->out_rank; d++) kept = kept || c->out[d] == i;
        if (!used || kept) continue;
        summed[(*count)++] = i;
        terms *= c->size[i];
    }
    return terms;
}

static value sum_terms(const trial *t, const contraction *c, int64_t *at, double *size)
{
    int summed[LABELS], count;
    const int64_t terms = summed_labels(c, summed, &count);
    value sum = { 0 };
    *size = 0;
    for (int64_t k = 0; k < terms; k++) {
        int64_t rest = k;
        for (int i = count - 1; i >= 0; i--) {
            at[summed[i]] = rest % c->size[summed[i]];
            rest /= c->size[summed[i]];
        }
        const value v = term(t, c, at);
        sum = (value){ sum.bits + v.bits, sum.re + v.re, sum.im + v.im };
        *size += hypot(v.re, v.im);
    }
    return sum;
}

static void check_sums(trial *t, const contraction *c)
{
    const tsr_tensor *z = t->tensor[RESULT];
    int summed[LABELS], count;
    GO_ON(t);
    const int64_t n = tsr_numel(z), terms = summed_labels(c, summed, &count), cost = 16 * c->n * (terms + 1);
    for (int64_t k = first_sample(t, n, cost); k >= 0; k = next_sample(t, k, n, cost)) {
        int64_t index[RANK], at[LABELS] = { 0 };
        double size;
        index_of(index, k, z->ndim, z->shape);
        for (int d = 0; d < c->out_rank; d++) at[c->out[d]] = index[d];
        const value wanted = sum_terms(t, c, at, &size);
        check_near(t, RESULT, k, wanted, (8 + sqrt((double)terms)) * c->n * epsilon_of(z->dtype) * size);
    }
}

/* Rules --------------------------------------------------------------------------------------- */

typedef struct contract_rule {
    const char *name;
    void (*draw)(trial *t, contraction *c);
    tsr_status (*call)(tsr_tensor **out, const tsr_tensor *const *in, const contraction *c);
} contract_rule;

static void check_contraction(trial *t)
{
    const contract_rule *r = t->check->about;
    contraction c = { .n = 2 };
    int64_t shape[RANK];
    const tsr_tensor *in[OPERANDS];
    r->draw(t, &c);
    for (int i = 0; i < c.n; i++) {
        const int rank = shape_of(shape, &c, i);
        make_input(t, FIRST + i, t->check->dtype, rank, shape, FILL_SMALL);
        in[i] = t->tensor[FIRST + i];
    }
    for (int d = 0; d < c.out_rank; d++) shape[d] = c.size[c.out[d]];
    const bool given = !once_in(t, 4);
    if (given) make_output(t, RESULT, t->check->dtype, c.out_rank, shape);
    GO_ON(t);
    mirrors_end();
    const tsr_status s = r->call(&t->tensor[RESULT], in, &c);
    if (s != TSR_OK) {
        fail_call(t, c.text[0] ? c.text : r->name, s);
        return;
    }
    if (given) check_gaps(t, RESULT);
    check_shape(t, RESULT, t->check->dtype, c.out_rank, shape);
    check_sums(t, &c);
}

/* einsum ---------------------------------------------------------------------------------------- */

/* Label i as a letter: large and small ones, in no order of the labels. */
static char letter_of(int i) { return "qBzAmYba"[i]; }

static void write_char(contraction *c, trial *t, char letter)
{
    const size_t n = strlen(c->text);
    if (n + 3 > sizeof c->text) return;
    c->text[n] = letter;
    if (once_in(t, 12)) c->text[n + 1] = ' ';
}

/* Dims that have no names stand together: they are labels 0 .. batch - 1. */
static void write_names(contraction *c, trial *t, int rank, const int *label, int batch)
{
    bool written = false;
    for (int d = 0; d < rank; d++) {
        if (label[d] >= batch)
            write_char(c, t, letter_of(label[d]));
        else if (!written)
            written = true, strcat(c->text, "...");
    }
}

static int64_t elements_of(const contraction *c, int operand)
{
    int64_t shape[RANK];
    const int rank = shape_of(shape, c, operand);
    return count_of(rank, shape);
}

/* Names for an operand, repeated now and then, and some of the last dims without names between them. */
static void draw_operand(trial *t, contraction *c, int i, int batch)
{
    const int names = (int)random_between(t, 0, 4), before = (int)random_between(t, 0, names);
    const int unnamed = i == 0 ? batch : (int)random_between(t, 0, batch);
    for (int d = 0; d <= names; d++) {
        for (int b = batch - unnamed; d == before && b < batch; b++) {
            c->one[i][c->rank[i]] = i > 0 && once_in(t, 3);
            add_dim(c, i, b);
        }
        if (d == names || c->labels == batch) continue;
        const int label = (int)random_between(t, batch, c->labels - 1);
        if (elements_of(c, i) * c->size[label] <= 2 * most_elements(t)) add_dim(c, i, label);
    }
}

static int times_used(const contraction *c, int label)
{
    int times = 0;
    for (int i = 0; i < c->n; i++)
        for (int d = 0; d < c->rank[i]; d++) times += c->label[i][d] == label;
    return times;
}

/* Some of the names that are there, in any order, with the dims without names among them; or without those,
 * which sums over them. */
static void draw_result(trial *t, contraction *c, int batch)
{
    int names[LABELS] = { 0 }, n = 0;
    for (int i = batch; i < c->labels; i++) {
        if (!times_used(c, i) || once_in(t, 2)) continue;
        const int k = (int)random_between(t, 0, n);
        names[n++] = names[k];
        names[k] = i;
    }
    const int before = n > 0 && once_in(t, 5) ? -1 : (int)random_between(t, 0, n);
    for (int d = 0; d <= n; d++) {
        for (int b = 0; d == before && b < batch; b++) c->out[c->out_rank++] = b;
        if (d < n) c->out[c->out_rank++] = names[d];
    }
}

/* Without "->": the dims without names, and then the names that stand once, in the order of ASCII. */
static void usual_result(contraction *c, int batch)
{
    for (int b = 0; b < batch; b++) c->out[c->out_rank++] = b;
    for (char letter = 'A'; letter <= 'z'; letter++)
        for (int i = batch; i < c->labels; i++)
            if (letter_of(i) == letter && times_used(c, i) == 1) c->out[c->out_rank++] = i;
}

static void draw_einsum(trial *t, contraction *c)
{
    const int batch = once_in(t, 3) ? (int)random_between(t, 1, 2) : 0;
    c->n = once_in(t, 2) ? 2 : (int)random_between(t, 1, OPERANDS);
    draw_sizes(t, c, batch + (int)random_between(t, 0, 5));
    for (int i = 0; i < c->n; i++) {
        draw_operand(t, c, i, batch);
        if (i) write_char(c, t, ',');
        write_names(c, t, c->rank[i], c->label[i], batch);
    }
    if (once_in(t, 4)) {
        usual_result(c, batch);
        return;
    }
    draw_result(t, c, batch);
    strcat(c->text, "->");
    write_names(c, t, c->out_rank, c->out, batch);
}

static tsr_status einsum(tsr_tensor **out, const tsr_tensor *const *in, const contraction *c)
{
    return tsr_einsum(out, c->text, c->n, in);
}

/* tensordot --------------------------------------------------------------------------------------- */

/* Labels 0 .. naxes - 1 are in both operands, in any places of either; or, for no lists, last and first. */
static void draw_tensordot(trial *t, contraction *c)
{
    const bool lists = once_in(t, 2);
    const int own[2] = { (int)random_between(t, 0, 3), (int)random_between(t, 0, 3) };
    c->naxes = (int)random_between(t, 0, 2);
    c->axis = lists;
    draw_sizes(t, c, c->naxes + own[0] + own[1]);
    for (int i = 0; i < 2; i++) {
        const int before = lists ? (int)random_between(t, 0, own[i]) : i ? 0 : own[0];
        for (int d = 0; d <= own[i]; d++) {
            for (int k = 0; d == before && k < c->naxes; k++) {
                c->axes[i][k] = c->rank[i] - (once_in(t, 3) ? own[i] + c->naxes : 0);
                add_dim(c, i, k);
            }
            if (d == own[i]) continue;
            const int label = c->naxes + (i ? own[0] : 0) + d;
            add_dim(c, i, label);
            c->out[c->out_rank++] = label;
        }
    }
    if (c->naxes == 2 && lists && once_in(t, 2)) /* the pairs in another order */
        for (int i = 0; i < 2; i++) {
            const int k = c->axes[i][0];
            c->axes[i][0] = c->axes[i][1];
            c->axes[i][1] = k;
        }
}

static tsr_status tensordot(tsr_tensor **out, const tsr_tensor *const *in, const contraction *c)
{
    return tsr_tensordot(out, in[0], in[1], c->naxes, c->axis ? c->axes[0] : NULL,
                         c->axis ? c->axes[1] : NULL);
}

/* Vectors ------------------------------------------------------------------------------------------- */

static void draw_dot(trial *t, contraction *c)
{
    draw_sizes(t, c, 1);
    add_dim(c, 0, 0);
    add_dim(c, 1, 0);
}

static tsr_status dot(tsr_tensor **out, const tsr_tensor *const *in, const contraction *c)
{
    (void)c;
    return tsr_dot(out, in[0], in[1]);
}

static void draw_outer(trial *t, contraction *c)
{
    draw_sizes(t, c, 2);
    add_dim(c, 0, 0);
    add_dim(c, 1, 1);
    c->out[c->out_rank++] = 0;
    c->out[c->out_rank++] = 1;
}

static tsr_status outer(tsr_tensor **out, const tsr_tensor *const *in, const contraction *c)
{
    (void)c;
    return tsr_outer(out, in[0], in[1]);
}

/* Adds the last `dims` of labels 0 .. n - 1 to an operand; a dim that `may` be 1 is that now and then. */
static void add_aligned(trial *t, contraction *c, int operand, int n, int dims, bool may, int axis)
{
    for (int k = n - dims; k < n; k++) {
        c->one[operand][c->rank[operand]] = may && k != axis && once_in(t, 3);
        add_dim(c, operand, k);
    }
}

/* Dims are aligned at the right and broadcast, but for the axis, which both have. */
static void draw_vecdot(trial *t, contraction *c)
{
    const int n = (int)random_between(t, 1, RANK - 1), fewer = (int)random_between(t, 1, n),
              longer = once_in(t, 2);
    draw_sizes(t, c, n);
    c->axis = (int)random_between(t, n - fewer, n - 1);
    c->conjugate = true;
    add_aligned(t, c, longer, n, n, false, c->axis);
    add_aligned(t, c, !longer, n, fewer, true, c->axis);
    for (int k = 0; k < n; k++)
        if (k != c->axis) c->out[c->out_rank++] = k;
    if (once_in(t, 2)) c->axis -= n;
}

static tsr_status vecdot(tsr_tensor **out, const tsr_tensor *const *in, const contraction *c)
{
    return tsr_vecdot(out, in[0], in[1], c->axis);
}

/* Matrices ------------------------------------------------------------------------------------------- */

/* Batches that broadcast; or a row, a column, or both. The labels of m, k and n follow those of the batch. */
static void draw_matmul(trial *t, contraction *c)
{
    const int batch = (int)random_between(t, 0, LABELS - 3), m = batch, k = batch + 1, n = batch + 2;
    const bool row = once_in(t, 4), column = once_in(t, 4);
    draw_sizes(t, c, batch + 3);
    const int longer = row ? 1 : column ? 0 : once_in(t, 2);
    const bool batched = !(row && column);
    for (int i = 0; i < 2; i++) {
        const bool vector = i ? column : row;
        if (!vector)
            add_aligned(t, c, i, batch, i == longer ? batch : (int)random_between(t, 0, batch), i != longer,
                        -1);
        if (i == 0 && !row) add_dim(c, 0, m);
        add_dim(c, i, k);
        if (i == 1 && !column) add_dim(c, 1, n);
    }
    for (int b = 0; batched && b < batch; b++) c->out[c->out_rank++] = b;
    if (!row) c->out[c->out_rank++] = m;
    if (!column) c->out[c->out_rank++] = n;
}

static tsr_status matmul(tsr_tensor **out, const tsr_tensor *const *in, const contraction *c)
{
    (void)c;
    return tsr_matmul(out, in[0], in[1]);
}

static const contract_rule rules[] = {
    { "einsum", draw_einsum, einsum }, { "tensordot", draw_tensordot, tensordot },
    { "dot", draw_dot, dot },          { "outer", draw_outer, outer },
    { "vecdot", draw_vecdot, vecdot }, { "matmul of batches", draw_matmul, matmul },
};

static bool is_multiplied(tsr_dtype dtype) { return dtype != TSR_BOOL && dtype != TSR_C32; }

void list_contract(check_list *list)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        add_checks(list,
                   (check){ .family = "matmul", .run = check_contraction, .every = 2, .about = &rules[i] },
                   rules[i].name, is_multiplied);
}
