/* plan.c - loops, nests and reductions; see plan.h. */
#include "plan.h"

tsrc_div tsrc_div_by(uint32_t d)
{
    tsrc_div f = { d, 0, 0 };
    while (((uint64_t)1 << f.s) < d) f.s++;
    if (d > 1) f.m = (uint32_t)((((uint64_t)1 << 32) * (((uint64_t)1 << f.s) - d)) / d + 1);
    return f;
}

uint32_t tsrc_divide(uint32_t n, tsrc_div by) { return ((uint32_t)((uint64_t)n * by.m >> 32) + n) >> by.s; }

/* Loops ---------------------------------------------------------------------------------- */

int64_t tsrc_count(const tsr_loop *loop)
{
    int64_t n = 1;
    for (int d = 0; d < loop->ndim; d++) n *= loop->n[d];
    return n;
}

static bool continues(const tsr_loop *l, int64_t n, const int64_t *step)
{
    for (int o = 0; o < l->noperands; o++)
        if (l->step[l->ndim - 1][o] != n * step[o]) return false;
    return true;
}

void tsrc_ordered(tsr_loop *out, int n, const tsr_tensor *const *tensors, uint32_t skip)
{
    const tsr_tensor *first = tensors[0];
    out->ndim = 0;
    out->noperands = n;
    for (int o = 0; o < n; o++) out->data[o] = tensors[o]->data;
    for (int d = 0; d < first->ndim; d++) {
        int64_t step[TSR_LOOP_OPERANDS];
        const int64_t size = first->shape[d];
        if ((skip >> d & 1) || size == 1) continue;
        for (int o = 0; o < n; o++) step[o] = tensors[o]->stride[d] * tsrc_size(tensors[o]->dtype);
        const bool merges = out->ndim > 0 && continues(out, size, step);
        const int at = merges ? out->ndim - 1 : out->ndim++;
        out->n[at] = merges ? out->n[at] * size : size;
        for (int o = 0; o < n; o++) out->step[at][o] = step[o];
    }
}

static void remove_dim(tsr_loop *l, int d)
{
    l->ndim--;
    for (; d < l->ndim; d++) {
        l->n[d] = l->n[d + 1];
        for (int o = 0; o < l->noperands; o++) l->step[d][o] = l->step[d + 1][o];
    }
}

/* The dim to cut: the shortest outer one where there are too many, else the outermost. */
static int dim_to_cut(const tsr_loop *l, int dims)
{
    int best = 0;
    if (l->ndim <= dims) return 0;
    for (int d = 1; d < l->ndim - 1; d++)
        if (l->n[d] < l->n[best]) best = d;
    return best;
}

int tsrc_split(const tsr_loop *loop, int dims, int64_t limit, tsrc_part_fn fn, void *context)
{
    const int64_t count = tsrc_count(loop);
    if (count == 0) return 0;
    if (loop->ndim <= dims && count <= limit) return fn(loop, context);
    const int cut = dim_to_cut(loop, dims);
    const int64_t n = loop->n[cut], each = count / n;
    int64_t chunk = loop->ndim <= dims ? limit / each : 1;
    if (chunk < 1) chunk = 1;
    for (int64_t at = 0; at < n; at += chunk) {
        tsr_loop part = *loop;
        part.n[cut] = n - at < chunk ? n - at : chunk;
        for (int o = 0; o < loop->noperands; o++)
            part.data[o] = (char *)loop->data[o] + at * loop->step[cut][o];
        if (part.n[cut] == 1 && part.ndim > 1) remove_dim(&part, cut);
        const int s = tsrc_split(&part, dims, limit, fn, context);
        if (s != 0) return s;
    }
    return 0;
}

void tsrc_place_of(tsrc_place *out, const tsr_loop *loop, uint32_t skip)
{
    out->nd = 0;
    out->count = 1;
    for (int d = loop->ndim - 1; d >= 0; d--) {
        if (skip >> d & 1) continue;
        out->n[out->nd] = tsrc_div_by((uint32_t)loop->n[d]);
        for (int o = 0; o < 2; o++) out->step[out->nd][o] = o < loop->noperands ? loop->step[d][o] : 0;
        out->count *= (uint32_t)loop->n[d];
        out->nd++;
    }
}

/* Nests ---------------------------------------------------------------------------------- */

static bool is_multiple(int64_t v, int64_t of) { return v % of == 0; }

/* Can a thread take `per` neighbours of every operand at once? */
static bool takes(const tsr_loop *l, const int *size, int per)
{
    const int inner = l->ndim - 1;
    if (l->n[inner] < per) return false;
    for (int o = 0; o < l->noperands; o++) {
        const int64_t bytes = (int64_t)per * size[o];
        if (o > 0 && l->step[inner][o] == 0) continue;
        if (l->step[inner][o] != size[o] || !is_multiple((int64_t)(uintptr_t)l->data[o], bytes)) return false;
        for (int d = 0; d < inner; d++)
            if (!is_multiple(l->step[d][o], bytes)) return false;
    }
    return true;
}

void tsrc_nest_of(tsrc_nest *out, const tsr_loop *loop, const int *size, int most)
{
    const int inner = loop->ndim - 1;
    const bool wide = inner >= 0 && most > 1 && takes(loop, size, most);
    uint32_t rows = 1;
    out->per = wide ? most : 1;
    out->len = inner >= 0 ? (uint32_t)loop->n[inner] : 1;
    out->nd = loop->ndim > 0 ? loop->ndim : 1;
    for (int o = 0; o < loop->noperands; o++) {
        out->data[o] = loop->data[o];
        out->step[0][o] = inner >= 0 ? loop->step[inner][o] : 0;
    }
    const uint32_t groups = tsrc_blocks(out->len, (uint32_t)out->per);
    out->div[0] = tsrc_div_by(groups);
    for (int i = 1; i < out->nd; i++) {
        const int d = inner - i;
        out->div[i] = tsrc_div_by((uint32_t)loop->n[d]);
        rows *= (uint32_t)loop->n[d];
        for (int o = 0; o < loop->noperands; o++) out->step[i][o] = loop->step[d][o];
    }
    out->total = rows * groups;
}

/* Reductions ------------------------------------------------------------------------------- */

enum {
    ENOUGH = 4096,        /* blocks that keep a GPU busy, also when the last of them run */
    ENOUGH_BESIDE = 1024, /* the same where many outputs' states would have to be kept */
    LEAST_PART = 16384,   /* bytes of an output that are worth a block of their own */
    MOST_PARTS = 4096,
    EACH_LANE = 16 /* elements of a column that are worth a lane */
};

static int64_t magnitude(int64_t v) { return v < 0 ? -v : v; }

/* The smallest step of a loop's operand, and its dim's size. */
static int64_t smallest(const tsr_loop *l, int operand, int64_t *n)
{
    int64_t best = INT64_MAX;
    *n = 1;
    for (int d = 0; d < l->ndim; d++)
        if (magnitude(l->step[d][operand]) < best) {
            best = magnitude(l->step[d][operand]);
            *n = l->n[d];
        }
    return best;
}

static uint32_t power_of_2_up_to(int64_t n, uint32_t most)
{
    uint32_t p = 1;
    while (p < most && p < n) p *= 2;
    return p;
}

/* Neighbours that a lane takes at once: elements lie side by side, and all begins are aligned. */
static int neighbours(const tsr_loop *kept, const tsr_loop *reduced, int size, int per)
{
    const int inner = reduced->ndim - 1;
    const int64_t bytes = (int64_t)size * per;
    if (inner < 0 || per == 1 || reduced->step[inner][0] != size || reduced->n[inner] % per) return 1;
    if (!is_multiple((int64_t)(uintptr_t)reduced->data[0], bytes)) return 1;
    for (int d = 0; d < inner; d++)
        if (!is_multiple(reduced->step[d][0], bytes)) return 1;
    for (int d = 0; d < kept->ndim; d++)
        if (!is_multiple(kept->step[d][1], bytes)) return 1;
    return per;
}

/* One row of neighbours, longer than a few groups: it may begin and end anywhere. */
static bool is_ragged(const tsr_loop *reduced, int size, int per)
{
    return per > 1 && reduced->ndim == 1 && reduced->step[0][0] == size && reduced->n[0] >= 4 * per;
}

/* Are `per` neighbours in x neighbouring outputs, and do all begin aligned? */
static bool are_outputs(const tsr_loop *kept, const tsr_loop *reduced, int size, int per)
{
    const int inner = kept->ndim - 1;
    const int64_t bytes = (int64_t)size * per;
    if (inner < 0 || kept->step[inner][1] != size || kept->n[inner] % per) return false;
    if (!is_multiple((int64_t)(uintptr_t)reduced->data[0], bytes)) return false;
    for (int d = 0; d < inner; d++)
        if (!is_multiple(kept->step[d][1], bytes)) return false;
    for (int d = 0; d < reduced->ndim; d++)
        if (!is_multiple(reduced->step[d][0], bytes)) return false;
    return true;
}

/* Outputs that a thread does at once. */
static int outputs_at_once(const tsr_loop *kept, const tsr_loop *reduced, int size, int per)
{
    const int narrow = 4 / size;
    if (per == 1) return 1;
    if (are_outputs(kept, reduced, size, per)) return per;
    return narrow > 1 && narrow < per && are_outputs(kept, reduced, size, narrow) ? narrow : 1;
}

/* Which threads of a block do what. */
static void share_block(tsrc_reduction *r, const tsr_loop *kept, const tsr_loop *reduced, int size, int per)
{
    int64_t n_kept, n_reduced;
    const int64_t out_step = smallest(kept, 1, &n_kept), in_step = smallest(reduced, 0, &n_reduced);
    r->lanes_first = kept->ndim == 0 || in_step <= out_step;
    r->wide = 1;
    if (r->lanes_first) {
        r->lanes = power_of_2_up_to((int64_t)r->groups, TSRC_THREADS);
        r->across = TSRC_THREADS / r->lanes;
    } else {
        r->wide = outputs_at_once(kept, reduced, size, per);
        n_kept /= r->wide;
        r->across = power_of_2_up_to(n_kept, 32);
        const int64_t most = power_of_2_up_to(n_kept, TSRC_THREADS);
        while (r->across < most && r->groups * r->across < EACH_LANE * TSRC_THREADS) r->across *= 2;
        r->lanes = TSRC_THREADS / r->across;
    }
}

/* Shares of an output's elements, where blocks of whole outputs would be too few. They follow from
 * the shape alone, so that the same sum has the same bits on every device. */
static void share_elements(tsrc_reduction *r, int size)
{
    const uint64_t together = (uint64_t)r->across * (uint64_t)r->wide;
    const uint64_t blocks = tsrc_blocks(r->outputs, (uint32_t)together);
    const uint64_t bytes = r->count * (uint64_t)size * together;
    const uint64_t enough = r->lanes_first ? ENOUGH : ENOUGH_BESIDE;
    uint64_t parts = blocks < enough ? enough / blocks : 1;
    if (parts > bytes / LEAST_PART) parts = bytes / LEAST_PART;
    if (parts > r->groups / r->lanes) parts = r->groups / r->lanes;
    if (parts > MOST_PARTS) parts = MOST_PARTS;
    if (parts < 2) parts = 1;
    const uint64_t round = r->lanes * 4; /* a part is whole rounds of all lanes */
    r->part = ((r->groups + parts - 1) / parts + round - 1) / round * round;
    if (parts == 1 || r->part == 0) r->part = r->groups ? r->groups : 1;
    r->parts = r->groups ? (uint32_t)((r->groups + r->part - 1) / r->part) : 1;
}

bool tsrc_reduction_of(tsrc_reduction *out, const tsr_loop *kept, const tsr_loop *reduced, int size, int per)
{
    const int64_t outputs = tsrc_count(kept), count = tsrc_count(reduced);
    if (kept->ndim > TSRC_DIMS || reduced->ndim > TSRC_DIMS || outputs > TSRC_LIMIT) return false;
    if (reduced->ndim > 1 && count > TSRC_LIMIT) return false;
    out->z = kept->data[0];
    out->x = reduced->data[0];
    out->outputs = (uint32_t)outputs;
    out->count = (uint64_t)count;
    out->per = neighbours(kept, reduced, size, per);
    out->ragged = out->per == 1 && is_ragged(reduced, size, per);
    if (out->ragged) out->per = per;
    out->groups = ((uint64_t)count + (uint64_t)out->per - 1) / (uint64_t)out->per;
    tsrc_place_of(&out->kept, kept, 0);
    out->nd = reduced->ndim;
    for (int i = 0; i < reduced->ndim; i++) {
        const int d = reduced->ndim - 1 - i;
        const int64_t n = i == 0 ? reduced->n[d] / out->per : reduced->n[d];
        out->n[i] = tsrc_div_by(n <= TSRC_LIMIT ? (uint32_t)n : 1); /* an only dim is not divided by */
        out->step[i] = reduced->step[d][0] * (i == 0 ? out->per : 1);
    }
    share_block(out, kept, reduced, size, per);
    share_elements(out, size);
    return true;
}

/* Products ------------------------------------------------------------------------------- */

/* Batches as one dim: their count is 1, or they follow each other evenly. */
static bool batches_of(tsrc_matrix *m, const tsr_tensor *t)
{
    int64_t count = 1, step = 0;
    for (int d = t->ndim - 3; d >= 0; d--) {
        if (t->shape[d] == 1) continue;
        if (count > 1 && t->stride[d] != step * count) return false;
        if (count == 1) step = t->stride[d];
        count *= t->shape[d];
    }
    m->batch = step;
    return step >= 0;
}

/* Dims: `along` must have unit stride, `other` is the leading one. */
static bool runs_on(const tsr_tensor *t, int along, int other, int64_t *lead)
{
    const int64_t n = t->shape[along];
    if (n > 1 && t->stride[along] != 1) return false;
    *lead = t->shape[other] > 1 ? t->stride[other] : n;
    return *lead >= (n > 1 ? n : 1);
}

tsrc_matrix tsrc_matrix_of(const tsr_tensor *t)
{
    tsrc_matrix m = { false, false, 1, 0 };
    const int row = t->ndim - 2, column = t->ndim - 1;
    if (!batches_of(&m, t)) return m;
    if (runs_on(t, column, row, &m.lead)) {
        m.transposed = true;
        m.fits = true;
    } else if (runs_on(t, row, column, &m.lead)) {
        m.fits = true;
    }
    return m;
}
