/* contract.c - a sum of products over named dims, as one batch of products of matrices.
 *
 * Every name has a size and three strides, 0 where a tensor lacks it. Which tensors
 * have it says what it is:
 *
 *     batch   in a, b and z          n   in b and z
 *     m       in a and z             k   in a, and in b if there is one
 *
 * Names of size 1 are nothing. In each group names whose dims merge become
 * one. Of what is left the longest m and the longest n make the matrices, the
 * others join the batch with strides of 0. k must be one: where the strides do not
 * allow it, an operand is packed first. Nothing else is copied, unless there are
 * more dims than a tensor can have. */
#include "contract.h"

enum { Z, A, B };

typedef struct axis {
    int64_t n;
    int64_t stride[3];  /* of Z, A and B */
} axis;

typedef struct group {
    int  count;
    axis axis[TSR_MAX_NDIM];
} group;

typedef struct contraction {
    const char *op;
    tsr_tensor  view[3];   /* memory and dtype; the desc is made when it is needed */
    group       batch, m, n, k;
    tsr_tensor *temporary[3];
    bool        alone;     /* there is no b: a is multiplied with 1 */
    _Alignas(16) unsigned char one[16];
} contraction;

/* Groups ------------------------------------------------------------------------------ */

static int64_t size_of(int64_t stride) { return stride < 0 ? tsri_mul_wrapping(stride, -1) : stride; }

/* The longest stride of tensor t outermost. */
static void sort(group *g, int t)
{
    for (int i = 1; i < g->count; i++)
        for (int j = i; j > 0 && size_of(g->axis[j - 1].stride[t]) < size_of(g->axis[j].stride[t]); j--) {
            const axis swap = g->axis[j];
            g->axis[j] = g->axis[j - 1];
            g->axis[j - 1] = swap;
        }
}

static bool walks_as_one(const axis *outer, const axis *inner, int t)
{
    return outer->stride[t] == tsri_mul_wrapping(inner->stride[t], inner->n);
}

/* Does one tensor walk the whole group as one? */
static bool is_one(const group *g, int t)
{
    for (int i = 1; i < g->count; i++)
        if (!walks_as_one(&g->axis[i - 1], &g->axis[i], t)) return false;
    return true;
}

/* Neighbours that all tensors walk as one become one. */
static void merge(group *g)
{
    int count = 0;
    for (int i = 0; i < g->count; i++) {
        const axis inner = g->axis[i];
        axis *outer = count > 0 ? &g->axis[count - 1] : NULL;
        if (outer && walks_as_one(outer, &inner, Z) && walks_as_one(outer, &inner, A) &&
            walks_as_one(outer, &inner, B)) {
            const int64_t n = outer->n * inner.n;
            *outer = inner;
            outer->n = n;
        } else {
            g->axis[count++] = inner;
        }
    }
    g->count = count;
}

static void add(group *g, int64_t n, int64_t z, int64_t a, int64_t b)
{
    if (n != 1) g->axis[g->count++] = (axis){ n, { z, a, b } };
}

static void sort_names(contraction *c, const tsri_named *z, const tsri_named *a, const tsri_named *b)
{
    for (int i = 0; i < a->view.ndim; i++) {
        const int in_z = tsri_find_dim(z, a->name[i]), in_b = b ? tsri_find_dim(b, a->name[i]) : -1;
        group *g = in_z >= 0 ? (in_b >= 0 ? &c->batch : &c->m) : &c->k;
        add(g, a->view.shape[i], in_z >= 0 ? z->view.stride[in_z] : 0, a->view.stride[i],
            in_b >= 0 ? b->view.stride[in_b] : 0);
    }
    for (int i = 0; b && i < b->view.ndim; i++) {
        const int in_z = tsri_find_dim(z, b->name[i]);
        if (tsri_find_dim(a, b->name[i]) < 0)
            add(&c->n, b->view.shape[i], in_z >= 0 ? z->view.stride[in_z] : 0, 0, b->view.stride[i]);
    }
}

static bool has_zero(const group *g)
{
    for (int i = 0; i < g->count; i++)
        if (g->axis[i].n == 0) return true;
    return false;
}

/* Descs ------------------------------------------------------------------------------- */

/* The groups' axes as dims of tensor t. */
static void put_dims(tsr_desc *d, const group *g, int t)
{
    for (int i = 0; i < g->count; i++, d->ndim++) {
        d->shape[d->ndim] = g->axis[i].n;
        d->stride[d->ndim] = g->axis[i].stride[t];
    }
}

static void put_dim(tsr_desc *d, const group *g, int t)
{
    d->shape[d->ndim] = g->count ? g->axis[0].n : 1;
    d->stride[d->ndim++] = g->count ? g->axis[0].stride[t] : 0;
}

static void take_strides(group *g, int t, const tsr_desc *d, int *next)
{
    for (int i = 0; i < g->count; i++) g->axis[i].stride[t] = d->stride[(*next)++];
}

/* The three groups that tensor t has, packed in this order, in memory of its own; with
 * t's elements if `fill`. */
static tsr_status pack(contraction *c, int t, group *first, group *second, group *third, bool fill)
{
    tsr_tensor view = c->view[t];
    tsr_desc packed;
    int next = 0;
    view.ndim = 0;
    put_dims(&view.desc, first, t);
    put_dims(&view.desc, second, t);
    put_dims(&view.desc, third, t);
    TSRI_TRY(tsri_desc_packed(&packed, c->op, view.dtype, view.ndim, view.shape));
    tsr_tensor *origin = NULL;
    TSRI_TRY(tsri_make_beside(&origin, c->op, &packed, &view));
    const tsr_status s = fill ? tsri_copy_run(origin, &view) : TSR_OK;
    tsr_release(&c->temporary[t]);
    c->temporary[t] = origin;
    TSRI_TRY(s);
    c->view[t] = *origin;
    take_strides(first, t, &packed, &next);
    take_strides(second, t, &packed, &next);
    take_strides(third, t, &packed, &next);
    return TSR_OK;
}

/* k becomes one dim of both operands; the fewest operands are packed. */
static tsr_status join_k(contraction *c)
{
    sort(&c->k, A);
    bool a_fits = is_one(&c->k, A), b_fits = is_one(&c->k, B);
    if (!a_fits && !b_fits) {
        sort(&c->k, B);
        a_fits = is_one(&c->k, A);
        b_fits = is_one(&c->k, B);
    }
    if (!a_fits) TSRI_TRY(pack(c, A, &c->batch, &c->m, &c->k, true));
    if (!b_fits) TSRI_TRY(pack(c, B, &c->batch, &c->n, &c->k, true));
    merge(&c->k);
    return TSR_OK;
}

/* The longest axis to the front; the others to the batch. */
static void keep_longest(group *batch, group *g)
{
    int longest = 0;
    for (int i = 1; i < g->count; i++)
        if (g->axis[i].n > g->axis[longest].n) longest = i;
    for (int i = 0; i < g->count; i++)
        if (i != longest) batch->axis[batch->count++] = g->axis[i];
    if (g->count) g->axis[0] = g->axis[longest];
    g->count = g->count ? 1 : 0;
}

static int rank_of_views(const contraction *c)
{
    return c->batch.count + (c->m.count > 1 ? c->m.count - 1 : 0) + (c->n.count > 1 ? c->n.count - 1 : 0) + 2;
}

/* Running ----------------------------------------------------------------------------- */

static tsr_status multiply(contraction *c)
{
    const tsr_matmul_params params = { tsr_scalar_i64(1), tsr_scalar_i64(0) };
    keep_longest(&c->batch, &c->m);
    keep_longest(&c->batch, &c->n);
    for (int t = 0; t < 3; t++) {
        tsr_desc *d = &c->view[t].desc;
        d->ndim = 0;
        put_dims(d, &c->batch, t);
        put_dim(d, t == B ? &c->k : &c->m, t);
        put_dim(d, t == A ? &c->k : &c->n, t);
    }
    return tsri_op_run(&(tsr_op){ .kind = TSR_OP_MATMUL,
                                  .nin = 2,
                                  .nout = 1,
                                  .in = { &c->view[A], &c->view[B] },
                                  .out = { &c->view[Z] },
                                  .params = &params });
}

/* One dim for each group that all of them walk as one. */
static void merge_groups(contraction *c)
{
    merge(&c->batch);
    merge(&c->m);
    merge(&c->n);
}

/* More dims than a tensor has: everything is packed by groups, so that each group is one dim. */
static tsr_status multiply_packed(contraction *c)
{
    tsr_tensor z = c->view[Z];
    z.ndim = 0;
    put_dims(&z.desc, &c->batch, Z);
    put_dims(&z.desc, &c->m, Z);
    put_dims(&z.desc, &c->n, Z);
    TSRI_TRY(pack(c, A, &c->batch, &c->m, &c->k, true));
    if (!c->alone) TSRI_TRY(pack(c, B, &c->batch, &c->n, &c->k, true));
    TSRI_TRY(pack(c, Z, &c->batch, &c->m, &c->n, false));
    merge_groups(c);
    TSRI_TRY(multiply(c));
    return tsri_copy_run(&z, c->temporary[Z]);
}

/* Nothing to sum: products of elements, or a copy. */
static tsr_status run_elementwise(contraction *c, bool copy)
{
    for (int t = 0; t < 3; t++) {
        tsr_desc *d = &c->view[t].desc;
        d->ndim = 0;
        put_dims(d, &c->batch, t);
        put_dims(d, &c->m, t);
        put_dims(d, &c->n, t);
    }
    if (copy) return tsri_copy_run(&c->view[Z], &c->view[A]);
    return tsri_op_run(&(tsr_op){ .kind = TSR_OP_MUL, .nin = 2, .nout = 1, .in = { &c->view[A], &c->view[B] },
                                  .out = { &c->view[Z] } });
}

/* A 1 in b's place, in memory of a's device. */
static tsr_status make_one(contraction *c)
{
    tsr_desc d;
    if (c->view[A].device == TSR_CPU) {
        c->view[B].data = c->one;
        return tsr_scalar_store(c->one, c->view[A].dtype, tsr_scalar_i64(1));
    }
    TSRI_TRY(tsri_desc_packed(&d, c->op, c->view[A].dtype, 0, NULL));
    TSRI_TRY(tsri_make_beside(&c->temporary[B], c->op, &d, &c->view[A]));
    c->view[B] = *c->temporary[B];
    return tsri_fill_run(c->temporary[B], tsr_scalar_i64(1));
}

static tsr_status run(contraction *c, const tsri_named *z)
{
    if (has_zero(&c->batch) || has_zero(&c->m) || has_zero(&c->n)) return TSR_OK;
    if (has_zero(&c->k)) {
        tsr_tensor all = z->view;
        return tsri_fill_run(&all, tsr_scalar_i64(0));
    }
    if (c->k.count == 0 && (c->alone || c->batch.count > 0)) return run_elementwise(c, c->alone);
    if (c->alone) TSRI_TRY(make_one(c));
    TSRI_TRY(join_k(c));
    sort(&c->batch, Z);
    sort(&c->m, Z);
    sort(&c->n, Z);
    merge_groups(c);
    return rank_of_views(c) <= TSR_MAX_NDIM ? multiply(c) : multiply_packed(c);
}

tsr_status tsri_contract(const char *op, const tsri_named *z, const tsri_named *a, const tsri_named *b)
{
    contraction c;
    c.op = op;
    c.batch.count = c.m.count = c.n.count = c.k.count = 0;
    c.view[Z] = z->view;
    c.view[A] = a->view;
    c.view[B] = b ? b->view : a->view;
    c.temporary[Z] = c.temporary[A] = c.temporary[B] = NULL;
    c.alone = b == NULL;
    sort_names(&c, z, a, b);
    const tsr_status s = run(&c, z);
    for (int t = 0; t < 3; t++) tsr_release(&c.temporary[t]);
    return s;
}
