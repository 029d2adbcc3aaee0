/* contrast.c - comparing in pieces. */
#include "contrast.h"

#include <math.h>
#include <string.h>

#include "numbers.h"

enum { PIECE = 1 << 18 };

/* The two pieces, packed, as numbers and in the dtype whose steps are counted. */
typedef struct pair {
    tsr_tensor *piece[2], *numbers[2], *steps[2];
    bool        counts_steps;
} pair;

static void release_pair(pair *p)
{
    for (int i = 0; i < 2; i++) {
        tsr_release(&p->steps[i]);
        tsr_release(&p->numbers[i]);
        tsr_release(&p->piece[i]);
    }
}

/* Making pairs ------------------------------------------------------------------------- */

/* Complex numbers as twice as many real ones. */
static tsr_status split_parts(tsr_tensor **t)
{
    if (tsr_dtype_kind((*t)->dtype) != TSR_COMPLEX) return TSR_OK;
    if ((*t)->ndim == 0) TSR_TRY(tsr_unsqueeze(t, *t, 0));
    return tsr_bit_view(t, *t, tsr_dtype_real((*t)->dtype));
}

static tsr_status pack(tsr_tensor **t)
{
    TSR_TRY(tsr_contiguous(t, *t));
    return split_parts(t);
}

/* The dtype in which steps from one to the other can be counted; TSR_DTYPE_INVALID if none. */
static tsr_dtype dtype_of_steps(tsr_dtype a, tsr_dtype b)
{
    const bool floats = tsr_dtype_kind(a) == TSR_FLOATING && tsr_dtype_kind(b) == TSR_FLOATING;
    if (a == b) return a;
    if (!floats) return TSR_DTYPE_INVALID;
    return tsr_dtype_size(a) <= tsr_dtype_size(b) ? a : b;
}

static tsr_status make_numbers(pair *p)
{
    const tsr_dtype as[2] = { numbers_dtype(p->piece[0]->dtype), numbers_dtype(p->piece[1]->dtype) };
    const tsr_dtype steps = dtype_of_steps(p->piece[0]->dtype, p->piece[1]->dtype);
    p->counts_steps = steps != TSR_DTYPE_INVALID;
    for (int i = 0; i < 2; i++) {
        TSR_TRY(as[0] == as[1] ? numbers_of(&p->numbers[i], p->piece[i])
                               : doubles_of(&p->numbers[i], p->piece[i]));
        tsr_release(&p->steps[i]);
        if (p->counts_steps) TSR_TRY(tsr_cast(&p->steps[i], p->piece[i], steps));
    }
    return TSR_OK;
}

static bool same_bytes(const pair *p, const tolerance *t)
{
    const tsr_tensor *a = p->piece[0], *b = p->piece[1];
    if (a->dtype != b->dtype || t->nan_differs) return false;
    return !memcmp(a->data, b->data, (size_t)tsr_byte_size(a));
}

/* One element ---------------------------------------------------------------------------- */

/* The bits of a float as an integer that grows with it; of an integer, itself. */
static int64_t ordered(const tsr_tensor *t, int64_t i)
{
    const size_t size = tsr_dtype_size(t->dtype);
    const char *at = (const char *)t->data + (size_t)i * size;
    uint64_t bits = 0;
    if (size == 1)      bits = *(const uint8_t *)at;
    else if (size == 2) { uint16_t x; memcpy(&x, at, 2); bits = x; }
    else if (size == 4) { uint32_t x; memcpy(&x, at, 4); bits = x; }
    else                memcpy(&bits, at, 8);
    const uint64_t sign = (uint64_t)1 << (8 * size - 1);
    return bits & sign ? -(int64_t)(bits & (sign - 1)) : (int64_t)bits;
}

/* |a - b| of integers. */
static uint64_t apart(const tsr_tensor *a, const tsr_tensor *b, int64_t i)
{
    if (a->dtype == TSR_U64) {
        const uint64_t x = ((const uint64_t *)a->data)[i], y = ((const uint64_t *)b->data)[i];
        return x > y ? x - y : y - x;
    }
    const int64_t x = ((const int64_t *)a->data)[i], y = ((const int64_t *)b->data)[i];
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

static double steps_between(const pair *p, int64_t i, double a, double b)
{
    if (!p->counts_steps) return -1;
    if (p->numbers[0]->dtype != TSR_F64) return (double)apart(p->numbers[0], p->numbers[1], i);
    if (isnan(a) || isnan(b)) return -1;
    const int64_t x = ordered(p->steps[0], i), y = ordered(p->steps[1], i);
    return (double)(x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x);
}

static double error_of(const pair *p, int64_t i, double a, double b)
{
    if (p->numbers[0]->dtype != TSR_F64) return (double)apart(p->numbers[0], p->numbers[1], i);
    if (a == b) return 0;
    return isnan(a) || isnan(b) ? INFINITY : fabs(a - b);
}

/* Walking -------------------------------------------------------------------------------- */

/* Where element i of a piece lies in the tensor; parts of complex numbers lie together. */
static void find_index(int64_t index[TSR_MAX_NDIM], const block *b, int64_t i)
{
    for (int axis = b->ndim - 1; axis >= 0; axis--) {
        index[axis] = b->from[axis] + i % b->count[axis];
        i /= b->count[axis];
    }
}

static void note(extreme *e, double size, const pair *p, int64_t i, const block *b, int parts)
{
    if (!(size > e->size)) return;
    e->size = size;
    find_index(e->index, b, i / parts);
    const tsr_tensor *const *t = (const tsr_tensor *const *)p->piece;
    const char *at[2];
    for (int k = 0; k < 2; k++) at[k] = (const char *)t[k]->data + (size_t)i * tsr_dtype_size(t[k]->dtype);
    if (tsr_scalar_load(&e->a, t[0]->dtype, at[0]) != TSR_OK ||
        tsr_scalar_load(&e->b, t[1]->dtype, at[1]) != TSR_OK)
        e->a = e->b = tsr_scalar_i64(0);
}

/* Is element i close? Notes its errors. */
static bool compare_element(contrast *out, const pair *p, int64_t i, const block *where, int parts,
                            const tolerance *t)
{
    const double a = number_at(p->numbers[0], i), b = number_at(p->numbers[1], i);
    if (isnan(a) && isnan(b)) return !t->nan_differs;
    const double error = error_of(p, i, a, b), steps = steps_between(p, i, a, b);
    if (error == 0) return true;
    note(&out->error, error, p, i, where, parts);
    note(&out->relative, b != 0 ? error / fabs(b) : INFINITY, p, i, where, parts);
    note(&out->steps, steps, p, i, where, parts);
    if (t->ulps > 0 && steps >= 0 && steps <= (double)t->ulps) return true;
    return isfinite(b) && error <= t->atol + t->rtol * fabs(b);
}

static void compare_pieces(contrast *out, const pair *p, const block *where, const tolerance *t)
{
    int64_t elements = 1;
    for (int i = 0; i < where->ndim; i++) elements *= where->count[i];
    const int64_t n = tsr_numel(p->piece[0]);
    const int parts = n > elements ? 2 : 1;
    for (int64_t i = 0; i < n; i += parts) {
        bool close = true;
        for (int k = 0; k < parts; k++) close = compare_element(out, p, i + k, where, parts, t) && close;
        out->differ += !close;
    }
}

/* An index of the part as one of the whole tensor. */
static void locate(extreme *e, const cut *c)
{
    for (int i = 0; i < c->ndim; i++) {
        const tsr_file_range *r = &c->range[i];
        e->index[i] = (r->start == TSR_NONE ? 0 : r->start) + e->index[i] * r->step;
    }
}

static int parts_of(tsr_dtype dtype) { return tsr_dtype_kind(dtype) == TSR_COMPLEX ? 2 : 1; }

bool contrast_items(contrast *out, source *a, int64_t ia, source *b, int64_t ib, const tolerance *t,
                    progress *pr, double done, double total)
{
    pair p = { { NULL, NULL }, { NULL, NULL }, { NULL, NULL }, false };
    cut ca, cb;
    block where;
    bool ok = source_cut(&ca, a, ia) && source_cut(&cb, b, ib);
    *out = (contrast){ .error.size = -1, .relative.size = -1, .steps.size = -1 };
    for (bool more = ok && block_first(&where, ca.ndim, ca.length, PIECE); more && ok;
         more = block_next(&where)) {
        ok = source_read_block(&p.piece[0], a, ia, &ca, &where) &&
             source_read_block(&p.piece[1], b, ib, &cb, &where);
        if (!ok) break;
        const int64_t n = tsr_numel(p.piece[0]);
        done += (double)tsr_byte_size(p.piece[0]);
        tsr_status s = TSR_OK;
        if (parts_of(p.piece[0]->dtype) != parts_of(p.piece[1]->dtype)) /* a real one becomes complex */
            for (int i = 0; i < 2 && s == TSR_OK; i++) {
                tsr_tensor *wide = NULL;
                s = tsr_cast(&wide, p.piece[i], TSR_C128);
                if (s != TSR_OK) break;
                tsr_release(&p.piece[i]);
                p.piece[i] = wide;
            }
        for (int i = 0; i < 2 && s == TSR_OK; i++) s = pack(&p.piece[i]);
        out->count += n;
        if (s == TSR_OK && !same_bytes(&p, t)) {
            s = make_numbers(&p);
            if (s == TSR_OK) compare_pieces(out, &p, &where, t);
        }
        ok = s == TSR_OK;
        if (!ok) complain(a->command, "%s", tsr_last_error());
        if (pr) progress_draw_bytes(pr, done, total);
    }
    if (ok) {
        locate(&out->error, &ca);
        locate(&out->relative, &ca);
        locate(&out->steps, &ca);
    }
    release_pair(&p);
    return ok;
}
