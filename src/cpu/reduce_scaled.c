/* reduce_scaled.c - sums, means, variances and deviations of f64 and c128 whose intermediate values overflow.
 *
 * Squares of numbers above 2^512 overflow, those of numbers below 2^-512 lose bits, and a sum may be
 * infinite although the mean is not. Results that may have suffered from this are computed again, one by
 * one, with elements scaled by a power of two so that the largest is near 1. */
#include "reduce_run.h"

#ifndef TSR_FREESTANDING

/* The state of one output. */
typedef struct scaled {
    bool   complex, finite;   /* elements are complex; all of them are finite */
    double largest;           /* the size of the largest part */
    double by;                /* the factor of elements */
    double mean[2], rest[2];  /* of elements times that; what rounding took from it */
    double sum[2], lost[2];
} scaled;

typedef void (*take_fn)(scaled *s, double re, double im);

typedef struct visit {
    scaled *s;
    take_fn take;
} visit;

static bool visit_tile(const tsri_tile *t, void *context)
{
    const visit *v = context;
    for (int64_t i = 0; i < t->rows; i++)
        for (int64_t j = 0; j < t->cols; j++) {
            const double *x =
                (const double *)(const void *)(t->ptr[0] + i * t->row_step[0] + j * t->col_step[0]);
            v->take(v->s, x[0], v->s->complex ? x[1] : 0);
        }
    return v->s->finite;
}

static void take_range(scaled *s, double re, double im)
{
    const double size = fabs(re) > fabs(im) ? fabs(re) : fabs(im);
    s->finite = s->finite && re - re == 0 && im - im == 0;
    s->largest = size > s->largest ? size : s->largest;
}

static void take_sum(scaled *s, double re, double im)
{
    tsri_add_exactly(&s->sum[0], &s->lost[0], re * s->by - s->mean[0]);
    tsri_add_exactly(&s->sum[1], &s->lost[1], im * s->by - s->mean[1]);
}

static void take_deviation(scaled *s, double re, double im)
{
    const double a = re * s->by - s->mean[0] - s->rest[0], b = im * s->by - s->mean[1] - s->rest[1];
    tsri_add_exactly(&s->sum[0], &s->lost[0], a * a + b * b);
}

/* Sums in s->sum, over all elements of the nest. */
static void accumulate(scaled *s, const tsri_loop *nest, take_fn take)
{
    visit v = { s, take };
    s->sum[0] = s->sum[1] = s->lost[0] = s->lost[1] = 0;
    (void)tsri_loop_visit(nest, visit_tile, &v);
    s->sum[0] += s->lost[0];
    s->sum[1] += s->lost[1];
}

/* z[0], and z[1] of complex results, from the elements of the nest. Unchanged if an element is not finite. */
static void reduce_scaled(const tsri_reduction *r, double *z, const tsri_loop *nest)
{
    scaled s = { .complex = r->numbers == TSRI_COMPLEXES, .finite = true };
    const double n = (double)r->count, times = (double)r->times, over = n - r->p;
    const bool spread = r->op == TSR_OP_VAR || r->op == TSR_OP_STD;
    accumulate(&s, nest, take_range);
    if (!s.finite || s.largest == 0 || (spread && !(over > 0))) return;
    double m = s.largest;
    const double e = tsri_take_exponent(&m) + 1;
    s.by = tsri_scaled(1, e > 1000 ? -1000 : e < -1000 ? 1000 : -e);
    const double back = e > 1000 ? 1000 : e < -1000 ? -1000 : e;
    accumulate(&s, nest, take_sum);
    if (!spread) {
        const double by = r->op == TSR_OP_MEAN ? n : 1;
        for (int i = 0; i <= r->complex_result; i++) z[i] = tsri_scaled(s.sum[i] * times / by, back);
        return;
    }
    for (int i = 0; i < 2; i++) s.mean[i] = s.sum[i] * times / n;
    accumulate(&s, nest, take_sum);
    for (int i = 0; i < 2; i++) s.rest[i] = s.sum[i] * times / n;
    accumulate(&s, nest, take_deviation);
    const double var = s.sum[0] * times / over;
    z[0] = r->op == TSR_OP_VAR ? tsri_scaled(var, 2 * back) : tsri_scaled(sqrt(var), back);
}

/* May an intermediate value have overflowed or underflowed? */
static bool is_suspect(const tsri_reduction *r, const double *z)
{
    const double least = r->op == TSR_OP_VAR ? 0x1p-900 : 0x1p-450;
    if (z[0] - z[0] != 0 || (r->complex_result && z[1] - z[1] != 0)) return true;
    return (r->op == TSR_OP_VAR || r->op == TSR_OP_STD) && z[0] < least;
}

/* Is any infinite or NaN? Adding 1 to an exponent of all ones carries into the sign bit. */
static bool are_infinite(const double *z, int64_t n)
{
    const uint64_t exponent = (uint64_t)0x7ff << 52;
    uint64_t any = 0;
    for (int64_t i = 0; i < n; i++) {
        const union { double f; uint64_t u; } v = { z[i] };
        any |= (v.u & exponent) + ((uint64_t)1 << 52);
    }
    return any >> 63;
}

bool tsri_scaled_needed(const tsri_reduction *r, const char *z, int64_t step, int64_t width)
{
    if (!r->rescales) return false;
    if (step == sizeof(double) && (r->op == TSR_OP_SUM || r->op == TSR_OP_MEAN))
        return are_infinite((const double *)(const void *)z, width);
    for (int64_t i = 0; i < width; i++)
        if (is_suspect(r, (const double *)(const void *)(z + i * step))) return true;
    return false;
}

void tsri_scaled_redo(const tsri_block *b, char *z, int64_t step)
{
    const tsri_reduction *r = b->r;
    if (!r->rescales) return;
    for (int64_t i = 0; i < b->width; i++) {
        double *out = (double *)(void *)(z + i * step);
        if (!is_suspect(r, out)) continue;
        tsri_loop nest = r->reduced;
        nest.base[0] = b->x + i * b->across + r->start;
        reduce_scaled(r, out, &nest);
    }
}

bool tsri_scaled_is_for(const tsr_op *op)
{
    const tsr_dtype x = op->in[0]->dtype, z = op->out[0]->dtype;
    const bool known = op->kind == TSR_OP_SUM || op->kind == TSR_OP_MEAN || op->kind == TSR_OP_VAR ||
                       op->kind == TSR_OP_STD;
    return known && (x == TSR_F64 || x == TSR_C128) && (z == TSR_F64 || z == TSR_C128);
}

#endif
