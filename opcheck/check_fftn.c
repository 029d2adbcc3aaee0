/* check_fftn.c - Fourier transforms over several axes, and of halves of spectra, summed directly. */
#include <math.h>
#include <string.h>

#include "trial.h"

enum { X, RESULT, RANK = TRIAL_RANK };

/* What a transform takes and gives along the last of its axes: all, or elements 0 .. n / 2. */
typedef struct kind_of_transform {
    const char *name;
    bool inverse, half_in, half_out, single;
} kind_of_transform;

static const kind_of_transform kinds[] = {
    { "fftn", false, false, false, false }, { "ifftn", true, false, false, false },
    { "rfftn", false, false, true, false }, { "irfftn", true, true, false, false },
    { "hfft", false, true, false, true },   { "ihfft", true, false, true, true },
};

typedef struct transform {
    const kind_of_transform *kind;
    int ndim, naxes, axes[RANK];               /* not negative */
    int64_t in[RANK], out[RANK], length[RANK]; /* a length for each axis in the list */
    tsr_fft_norm norm;
} transform;

/* Lengths multiply to some thousands at most, as each element is a sum over all of them. */
static void draw_lengths(trial *t, transform *f)
{
    int64_t left = 3000;
    for (int i = 0; i < f->naxes; i++) {
        int64_t *size = &f->in[f->axes[i]];
        const bool half = f->kind->half_in && i == f->naxes - 1;
        *size = random_size(t, 1, 9, left / 2);
        if (half && *size < 2) *size = 2; /* of one element no length follows */
        f->length[i] = half ? 2 * (*size - 1) : *size;
        if (once_in(t, 3)) f->length[i] = random_size(t, 1, 9, left / 2);
        left /= *size > f->length[i] ? *size : f->length[i];
        if (left < 2) left = 2;
    }
}

static void draw_transform(trial *t, transform *f)
{
    const int count = random_shape(t, f->in, 1, RANK, false);
    const int last = count < 3 ? count : 3; /* axes in the list */
    int order[RANK] = { 0 };
    f->ndim = count;
    for (int i = 0; i < count; i++) {
        const int k = (int)random_below(t, i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    f->naxes = f->kind->single ? 1 : (int)random_between(t, 1, last);
    memcpy(f->axes, order, sizeof order);
    f->norm = (tsr_fft_norm)random_below(t, 3);
    for (int d = 0; d < count; d++)
        if (f->in[d] > 40) f->in[d] = 40 / count;
    draw_lengths(t, f);
    memcpy(f->out, f->in, sizeof f->out);
    for (int i = 0; i < f->naxes; i++) f->out[f->axes[i]] = f->length[i];
    if (f->kind->half_out) f->out[f->axes[f->naxes - 1]] = f->length[f->naxes - 1] / 2 + 1;
}

static double scale_of(const transform *f)
{
    double n = 1;
    for (int i = 0; i < f->naxes; i++) n *= (double)f->length[i];
    if (f->norm == TSR_FFT_ORTHO) return 1 / sqrt(n);
    return (f->norm == TSR_FFT_BACKWARD) == f->kind->inverse ? 1 / n : 1;
}

/* How many elements of x count along axis i of the list. */
static int64_t seen_of(const transform *f, int i)
{
    const bool half = f->kind->half_in && i == f->naxes - 1;
    const int64_t n = half ? f->length[i] / 2 + 1 : f->length[i], there = f->in[f->axes[i]];
    return there < n ? there : n;
}

/* Of half a spectrum, an element stands for its conjugate too, but for the first and the middle one. */
static double weight_of(const transform *f, int64_t j)
{
    const int64_t n = f->length[f->naxes - 1];
    return !f->kind->half_in || j == 0 || 2 * j == n ? 1 : 2;
}

static value right(const trial *t, const transform *f, const int64_t *at, double *size)
{
    int64_t index[RANK], seen[RANK];
    value sum = { 0 };
    memcpy(index, at, sizeof index);
    for (int i = 0; i < f->naxes; i++) seen[i] = seen_of(f, i);
    const int64_t terms = count_of(f->naxes, seen);
    *size = 0;
    for (int64_t k = 0; k < terms; k++) {
        int64_t j[RANK];
        double part = 0;
        index_of(j, k, f->naxes, seen);
        for (int i = 0; i < f->naxes; i++) {
            index[f->axes[i]] = j[i];
            part += (double)(j[i] * at[f->axes[i]] % f->length[i]) / (double)f->length[i];
        }
        const value v = value_at(t->tensor[X], place_of(index, f->ndim, f->in));
        const double angle = (f->kind->inverse ? 2 : -2) * acos(-1) * part, w = weight_of(f, j[f->naxes - 1]);
        sum.re += w * (v.re * cos(angle) - v.im * sin(angle));
        sum.im += w * (v.re * sin(angle) + v.im * cos(angle));
        *size += w * hypot(v.re, v.im);
    }
    if (f->kind->half_in) sum.im = 0;
    return sum;
}

static tsr_status call(trial *t, const transform *f)
{
    typedef tsr_status (*many_fn)(tsr_tensor **, const tsr_tensor *, int, const int64_t *, const int *,
                                  tsr_fft_norm);
    static const many_fn many[] = { tsr_fftn, tsr_ifftn, tsr_rfftn, tsr_irfftn };
    const int64_t n = f->length[0];
    const int which = (int)(f->kind - kinds), axis = f->axes[0] - (once_in(t, 2) ? f->ndim : 0);
    if (which == 4) return tsr_hfft(&t->tensor[RESULT], t->tensor[X], n, axis, f->norm);
    if (which == 5) return tsr_ihfft(&t->tensor[RESULT], t->tensor[X], n, axis, f->norm);
    bool usual = true, ordered = true;
    for (int i = 0; i < f->naxes; i++) {
        const bool half = f->kind->half_in && i == f->naxes - 1;
        const int64_t there = f->in[f->axes[i]];
        usual = usual && f->length[i] == (half ? 2 * (there - 1) : there);
        ordered = ordered && f->axes[i] == f->ndim - f->naxes + i;
    }
    return many[which](&t->tensor[RESULT], t->tensor[X], f->naxes, usual && once_in(t, 2) ? NULL : f->length,
                       ordered && once_in(t, 2) ? NULL : f->axes, f->norm);
}

static void check_transform(trial *t)
{
    transform f = { .kind = t->check->about };
    const bool is_long = part_of(t->check->dtype) == TSR_F64;
    const tsr_dtype dtype = f.kind->half_in ? (is_long ? TSR_F64 : TSR_F32) : is_long ? TSR_C128 : TSR_C64;
    draw_transform(t, &f);
    make_input(t, X, t->check->dtype, f.ndim, f.in, FILL_SMALL);
    const bool given = once_in(t, 2);
    if (given) make_output(t, RESULT, dtype, f.ndim, f.out);
    GO_ON(t);
    NEED(t, call(t, &f));
    if (given) check_gaps(t, RESULT);
    check_shape(t, RESULT, dtype, f.ndim, f.out);
    int64_t cost = 32;
    for (int i = 0; i < f.naxes; i++) cost *= seen_of(&f, i);
    const int64_t count = count_of(f.ndim, f.out);
    for (int64_t k = first_sample(t, count, cost); k >= 0; k = next_sample(t, k, count, cost)) {
        int64_t at[RANK];
        double size;
        index_of(at, k, f.ndim, f.out);
        const value sum = right(t, &f, at, &size);
        const double scale = scale_of(&f);
        check_near(t, RESULT, k, complex_value(sum.re * scale, sum.im * scale),
                   16 * epsilon_of(dtype) * size * scale);
    }
}

static bool is_transformed(tsr_dtype dtype) { return is_float(part_of(dtype)) && dtype != TSR_C32; }
static bool is_transformed_real(tsr_dtype dtype) { return is_float(dtype); }

void list_fftn(check_list *list)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        add_checks(list, (check){ .family = "fft", .run = check_transform, .every = 2, .about = &kinds[i] },
                   kinds[i].name, kinds[i].half_out ? is_transformed_real : is_transformed);
}
