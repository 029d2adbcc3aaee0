/* pooling_numbers.c - elements as numbers (pooling.h), and the divisors of averages. */
#include "core/dtype_int.h"
#include "core/mem.h"
#include "pooling_job.h"

/* Integers of up to 16 bits as floats; u64 in the order of i64. */
static void convert_integers(void *numbers, const char *x, int64_t step, int64_t n, const tsri_pooling *j)
{
    int64_t run[TSRI_RUN];
    for (int64_t i = 0; i < n; i += TSRI_RUN) {
        const int64_t m = least(n - i, TSRI_RUN);
        j->all->widen[j->dtype](run, x + i * step, step, m);
        for (int64_t l = 0; l < m; l++) {
            if (j->type == TSRI_POOL_F32) ((float *)numbers)[i + l] = (float)run[l];
            else
                ((int64_t *)numbers)[i + l] =
                    j->dtype == TSR_U64 ? (int64_t)((uint64_t)run[l] ^ (uint64_t)1 << 63) : run[l];
        }
    }
}

/* n elements as numbers. */
void tsri_pooling_load(void *numbers, const char *x, int64_t step, int64_t n, const tsri_pooling *j)
{
    const tsr_kind kind = tsr_dtype_kind(j->dtype);
    if (is_native(j) && (step == j->size || n == 1)) memcpy(numbers, x, (size_t)(n * j->size));
    else if (kind == TSR_FLOATING)                   j->all->widen[j->dtype](numbers, x, step, n);
    else                                             convert_integers(numbers, x, step, n, j);
}

static void store_integers(char *z, int64_t step, const void *numbers, int64_t n, const tsri_pooling *j)
{
    int64_t run[TSRI_RUN];
    const tsri_wide wide = j->dtype == TSR_U64 ? TSRI_WIDE_U64 : TSRI_WIDE_I64;
    for (int64_t i = 0; i < n; i += TSRI_RUN) {
        const int64_t m = least(n - i, TSRI_RUN);
        for (int64_t l = 0; l < m; l++) {
            if (j->type == TSRI_POOL_F32) run[l] = (int64_t)((const float *)numbers)[i + l];
            else run[l] = ((const int64_t *)numbers)[i + l] ^ (j->dtype == TSR_U64 ? INT64_MIN : 0);
        }
        j->all->narrow[wide][j->dtype](z + i * step, step, run, m);
    }
}

void tsri_pooling_store(char *z, int64_t step, const void *numbers, int64_t n, const tsri_pooling *j)
{
    if (is_native(j) && (step == j->size || n == 1)) memcpy(z, numbers, (size_t)(n * j->size));
    else if (tsr_dtype_kind(j->dtype) == TSR_FLOATING)
        j->all->narrow[j->all->wide[j->dtype]][j->dtype](z, step, numbers, n);
    else
        store_integers(z, step, numbers, n, j);
}

void tsri_pooling_fill(char *numbers, int64_t n, const tsri_pooling *j)
{
    if (j->wide == 4) for (int64_t i = 0; i < n; i++) memcpy(numbers + i * 4, j->lowest, 4);
    else              for (int64_t i = 0; i < n; i++) memcpy(numbers + i * 8, j->lowest, 8);
}

void tsri_pooling_lowest(tsri_pooling *j)
{
    const float low = j->dtype == TSR_F8E4M3 ? -448.0f : -__builtin_inff();  /* it has no infinity */
    const double low_wide = -__builtin_inf();
    const int bits = 8 * (int)j->size;
    const bool is_unsigned = tsr_dtype_kind(j->dtype) == TSR_UNSIGNED;
    const int64_t least = j->dtype == TSR_U64 ? INT64_MIN : is_unsigned ? 0 : INT64_MIN >> (64 - bits);
    const float smallest = (float)least;
    if (j->average) return;  /* sums start from 0 */
    if (j->type == TSRI_POOL_F64)                           memcpy(j->lowest, &low_wide, 8);
    else if (j->type == TSRI_POOL_I64)                      memcpy(j->lowest, &least, 8);
    else if (tsr_dtype_kind(j->dtype) == TSR_FLOATING)      memcpy(j->lowest, &low, 4);
    else                                                    memcpy(j->lowest, &smallest, 4);
}

/* Divisors of averages ----------------------------------------------------------------------------------- */

/* How many places the window of output o counts along an axis, for an average. */
static int64_t count_places(const tsri_pooling *j, int d, int64_t o)
{
    const tsri_slide *a = &j->axis[d];
    /* The padding that counts, before x and after it. */
    const int64_t low = j->adaptive || j->p->exclude_pad ? 0 : -a->first;
    int64_t begin = begin_of(j, d, o), end = end_of(j, d, o);
    if (begin < -low) begin = -low;
    if (end > a->in + low) end = a->in + low;
    return end > begin ? end - begin : 0;
}

void tsri_pooling_around(tsri_pooling_counts *c, const tsri_pooling *j, const int64_t *at)
{
    c->outer = -1;
    c->around = count_places(j, 0, at[0]) * count_places(j, 1, at[1]);
}

static void count_along(tsri_pooling_counts *c, const tsri_pooling *j, const int64_t *at, int64_t first,
                        int64_t n)
{
    tsri_pooling_around(c, j, at);
    for (int64_t i = 0; i < n; i++) c->along[i] = count_places(j, LANE, first + i);
}

/* The divisors of a row of outputs whose windows count `outer` places along the other axes, and their
 * inverses. */
static void count_all(tsri_pooling_counts *c, const tsri_pooling *j, int64_t outer, int64_t n)
{
    const int64_t divisor = j->p->adaptive ? 0 : j->p->divisor;
    c->outer = outer;
    for (int64_t i = 0; i < n; i++) {
        c->all[i] = divisor ? (double)divisor : (double)(outer * c->along[i]);
        c->by[i] = 1 / c->all[i];
    }
}

/* Of one row of outputs first .. first + n - 1; most rows have the same as another. */
const tsri_pooling_counts *tsri_pooling_row(tsri_pooling_counts *c, const tsri_pooling *j, const int64_t *at,
                                            int64_t first, int64_t n)
{
    const int64_t outer = c->around * count_places(j, ROWS, at[ROWS]);
    if (outer == j->common.outer) return &j->common;
    if (outer == c->outer) return c;
    count_along(c, j, at, first, n);
    count_all(c, j, outer, n);
    return c;
}

/* The divisors of windows that are inside x. */
void tsri_pooling_counts_plan(tsri_pooling *j)
{
    const tsri_slide *a = j->axis;
    const int64_t n = a[LANE].out, none[TSRI_AXES] = { 0 };
    const bool divisor = !j->p->adaptive && j->p->divisor != 0;
    bool whole = !j->adaptive;
    j->common.outer = -1;
    if (!j->average || j->adaptive || n > SIDE) return;
    for (int d = 0; d < AXES; d++)
        whole &= begin_of(j, d, 0) >= 0 && end_of(j, d, a[d].out - 1) <= a[d].in;
    count_along(&j->common, j, none, 0, n);
    for (int64_t i = n; i < SIDE; i++) j->common.along[i] = j->common.along[0];
    count_all(&j->common, j, a[0].taps * a[1].taps * a[2].taps, SIDE);
    j->all_common = whole || divisor;
}

/* n sums as averages. */
void tsri_pooling_means(char *z, const double *sums, const tsri_pooling_counts *c, int64_t n,
                        const tsri_pooling *j)
{
    double numbers[SIDE];
    const int64_t step = j->axis[LANE].z;
    if (is_native(j) && (step == j->size || n == 1)) {
        j->k->mean(z, sums, c->all, c->by, n, false);
        return;
    }
    j->k->mean(numbers, sums, c->all, c->by, n, j->size < 4);
    tsri_pooling_store(z, step, numbers, n, j);
}
