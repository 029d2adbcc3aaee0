/* compare.c - elements side by side, and sentences about the first that differ. */
#include "compare.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operands.h"
#include "value.h"

/* One element -------------------------------------------------------------------------------- */

/* The distance from 1 to the next number of a floating dtype, and its smallest number. */
static double spacing_of(tsr_dtype part)
{
    switch (part) {
    case TSR_F64: return DBL_EPSILON;
    case TSR_F16: return 0x1p-10;
    case TSR_BF16: return 0x1p-7;
    case TSR_F8E4M3: return 0x1p-3;
    case TSR_F8E5M2: return 0x1p-2;
    default: return FLT_EPSILON;
    }
}

static double smallest_of(tsr_dtype part)
{
    switch (part) {
    case TSR_F64: return 0x1p-1074;
    case TSR_F16: return 0x1p-24;
    case TSR_BF16: return 0x1p-133;
    case TSR_F8E4M3: return 0x1p-9;
    case TSR_F8E5M2: return 0x1p-16;
    default: return 0x1p-149;
    }
}

/* One unit in the last place of a number of this size. */
static double ulp_of(double size, double spacing, double smallest)
{
    int exponent;
    if (!(size > 0) || isinf(size)) return smallest;
    (void)frexp(size, &exponent);
    const double ulp = ldexp(spacing, exponent - 1);
    return ulp > smallest ? ulp : smallest;
}

static double allowed_for(tsr_dtype dtype, double size, const tolerance *e, double terms)
{
    const tsr_dtype part = part_of(dtype), in = part == TSR_F64 ? TSR_F64 : TSR_F32;
    double ulps = e->ulps;
    if (e->grows == GROWS_ROOT) ulps *= sqrt(terms > 1 ? terms : 1);
    if (e->grows == GROWS_LINEAR) ulps *= terms > 1 ? terms : 1;
    const double base = size > e->least ? size : e->least;
    double allowed = ulps * ulp_of(base, spacing_of(in), smallest_of(in));
    if (part != in) allowed += ulp_of(size, spacing_of(part), smallest_of(part));
    return allowed;
}

/* The largest finite number of a dtype and infinity are neighbours; f8e4m3 has NaN there. */
static bool is_at_the_end(tsr_dtype part, double x, double wanted)
{
    const double largest = part == TSR_F64      ? DBL_MAX
                           : part == TSR_F16    ? 65504
                           : part == TSR_BF16   ? 3.3895e38
                           : part == TSR_F8E4M3 ? 448
                           : part == TSR_F8E5M2 ? 57344
                                                : (double)FLT_MAX;
    const double near = largest * (1 - 8 * spacing_of(part));
    if (part == TSR_F8E4M3) return (isnan(x) && fabs(wanted) >= 416) || (isnan(wanted) && fabs(x) >= 416);
    if (isinf(x) && !isinf(wanted)) return fabs(wanted) >= near && (x > 0) == (wanted > 0);
    return isinf(wanted) && !isinf(x) && fabs(x) >= near && (x > 0) == (wanted > 0);
}

static bool is_close(tsr_dtype dtype, double got, double wanted, double allowed)
{
    if (got == wanted || (isnan(got) && isnan(wanted))) return true;
    if (is_at_the_end(part_of(dtype), got, wanted)) return true;
    return fabs(got - wanted) <= allowed;
}

/* Parts of complex numbers are measured by the whole; an infinity or NaN in one of them is
 * anywhere in it. */
static bool is_near_enough(tsr_dtype dtype, const void *got, const void *wanted, double size,
                           const tolerance *e, double terms)
{
    const value g = read_value(dtype, got), w = read_value(dtype, wanted);
    if (is_complex(dtype)) {
        if (!isfinite(w.re) || !isfinite(w.im)) return !isfinite(g.re) || !isfinite(g.im);
        const double whole = hypot(w.re, w.im), base = whole > size ? whole : size;
        const double allowed = allowed_for(dtype, base, e, terms);
        return is_close(dtype, g.re, w.re, allowed) && is_close(dtype, g.im, w.im, allowed);
    }
    if (isinf(size) && e->sized && !isfinite(w.re) && !isfinite(g.re))
        return true; /* where sums overflow is open */
    const double base = fabs(w.re) > size ? fabs(w.re) : size;
    return is_close(dtype, g.re, w.re, allowed_for(dtype, base, e, terms));
}

static bool agrees(tsr_dtype dtype, const void *got, const void *wanted, double size, const tolerance *e,
                   double terms)
{
    if (!memcmp(got, wanted, tsr_dtype_size(dtype))) return true;
    if (e->ulps == BITS || !is_float(part_of(dtype))) return false;
    if (e->any_zero ? same_number(dtype, got, wanted) : same_bits(dtype, got, wanted)) return true;
    return e->ulps > 0 && is_near_enough(dtype, got, wanted, size, e, terms);
}

/* Packed elements ------------------------------------------------------------------------------- */

static void index_text(char *out, size_t size, int64_t k, const tsr_desc *d)
{
    int64_t index[TSR_MAX_NDIM];
    size_t used = 0;
    for (int i = d->ndim - 1; i >= 0; i--) {
        index[i] = k % d->shape[i];
        k /= d->shape[i];
    }
    snprintf(out, size, "()");
    for (int i = 0; i < d->ndim && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%lld%s", i ? ", " : "(", (long long)index[i],
                                 i == d->ndim - 1 ? ")" : "");
}

static void compare_packed(trial *t, const char *what, const tsr_desc *d, const unsigned char *got,
                           const unsigned char *wanted, const double *sizes, const tolerance *e)
{
    const size_t size = tsr_dtype_size(d->dtype);
    const int64_t n = tsr_desc_numel(d);
    int64_t differ = 0, first = -1;
    for (int64_t k = 0; k < n; k++) {
        if (agrees(d->dtype, got + (size_t)k * size, wanted + (size_t)k * size, sizes ? sizes[k] : 0, e,
                   t->terms))
            continue;
        if (differ++ == 0) first = k;
    }
    if (differ == 0) return;
    char at[128], g[64], w[64];
    index_text(at, sizeof at, first, d);
    fail_trial(t, "%s%s: element %s is %s, not %s (%lld of %lld differ)", what, *what ? "" : "result", at,
               value_text(g, d->dtype, got + (size_t)first * size),
               value_text(w, d->dtype, wanted + (size_t)first * size), (long long)differ, (long long)n);
}

/* Storages ---------------------------------------------------------------------------------------- */

typedef struct packing {
    unsigned char *to;
    size_t size;
} packing;

/* The element moves out; what is left of it is zeros, so that only what lies between stays. */
static void move_out(void *context, unsigned char *element)
{
    packing *p = context;
    memcpy(p->to, element, p->size);
    memset(element, 0, p->size);
    p->to += p->size;
}

static void pack(unsigned char *to, const tsr_desc *d, unsigned char *first)
{
    packing p = { to, tsr_dtype_size(d->dtype) };
    each_element(d, first, move_out, &p);
}

/* Of a result in a storage of ours: its elements, and that nothing else was written. */
static void take_apart(trial *t, const operand *o, const tsr_tensor *tensor, const char *whose,
                       unsigned char *elements)
{
    unsigned char *now = malloc(o->size), *before = malloc(o->size),
                  *dropped = malloc((size_t)tsr_byte_size(tensor) + 1);
    tsr_status s = TSR_ENOMEM;
    if (now && before && dropped) s = store_bytes(now, o->size, tensor->storage);
    if (s == TSR_OK) {
        memcpy(before, o->bytes, o->size);
        pack(elements, &tensor->desc, now + o->offset);
        pack(dropped, &tensor->desc, before + o->offset);
        for (size_t i = 0; i < o->size && !t->session->plumbing; i++)
            if (now[i] != before[i]) {
                fail_trial(
                    t, "%s wrote byte %lld from the first element of its result, which lies between elements",
                    whose, (long long)i - (long long)o->offset);
                break;
            }
    } else {
        call_went_wrong(t, "reading the result", s);
    }
    free(now);
    free(before);
    free(dropped);
}

static void take_elements(trial *t, const operand *o, side s, unsigned char *elements)
{
    const tsr_tensor *tensor = o->at[s];
    if (o->bytes)
        take_apart(t, o, tensor, s == HERE ? "the CPU" : "the device", elements);
    else
        NEED(t, tsr_store(elements, (size_t)tsr_byte_size(tensor), tensor));
}

static tsr_status sizes_of(double **out, const tsr_tensor *t, int64_t n)
{
    tsr_tensor *wide = NULL, *size = NULL;
    *out = NULL;
    if (!t || tsr_numel(t) != n) return TSR_OK;
    const bool is_whole = tsr_dtype_kind(t->dtype) == TSR_COMPLEX;
    TSR_TRY(tsr_cast(&wide, t, is_whole ? TSR_C128 : TSR_F64));
    tsr_status s = tsr_abs(&size, wide);
    *out = malloc((size_t)n * sizeof **out + 1);
    if (s == TSR_OK && *out) s = tsr_store(*out, (size_t)n * sizeof **out, size);
    tsr_release(&wide);
    tsr_release(&size);
    return s;
}

void describe_operands(trial *t)
{
    size_t used = strlen(t->why);
    if (!is_over(t)) return;
    for (int i = 0; i < SLOTS; i++) {
        const operand *o = &t->slot[i];
        const tsr_tensor *x = o->at[THERE] ? o->at[THERE] : o->at[HERE];
        char text[240];
        if (!x || used + 2 >= sizeof t->why) continue;
        tsr_desc_to_string(text, sizeof text, &x->desc);
        used += (size_t)snprintf(t->why + used, sizeof t->why - used, "\n%s %d: %s%s%s",
                                 i < IN_MAX ? "operand" : "result", i < IN_MAX ? i : i - IN_MAX, text,
                                 o->is_number ? ", a number" : "",
                                 o->same_as != i            ? ", in place"
                                 : !o->bytes && i >= IN_MAX ? ", made by the call"
                                                            : "");
    }
}

static void compare_made(trial *t, const operand *o, int i, const tolerance *e)
{
    const tsr_tensor *here = o->at[HERE], *there = o->at[THERE];
    const size_t bytes = (size_t)tsr_byte_size(here);
    const operand *owner = o;
    if (o->same_as != IN_MAX + i) owner = &t->slot[o->same_as];
    unsigned char *got = malloc(bytes + 1), *wanted = malloc(bytes + 1);
    double *sizes = NULL;
    char what[24];
    snprintf(what, sizeof what, "result %d", i);
    tsr_status s = got && wanted ? TSR_OK : TSR_ENOMEM;
    if (s == TSR_OK && e->sized) s = sizes_of(&sizes, o->at[SIZES], tsr_numel(here));
    if (s != TSR_OK) call_went_wrong(t, "comparing", s);
    if (!is_over(t)) take_elements(t, owner, HERE, wanted);
    if (!is_over(t)) take_elements(t, owner, THERE, got);
    if (!is_over(t) && !t->session->plumbing) compare_packed(t, what, &there->desc, got, wanted, sizes, e);
    free(got);
    free(wanted);
    free(sizes);
}

void compare_results(trial *t, int i, const tolerance *e)
{
    const operand *o = &t->slot[IN_MAX + i];
    const tsr_tensor *here = o->at[HERE], *there = o->at[THERE];
    if (!here && !there) return;
    if (!here || !there || here->dtype != there->dtype || !tsr_desc_same_shape(&here->desc, &there->desc)) {
        char h[160] = "none", d[160] = "none";
        if (here) tsr_desc_to_string(h, sizeof h, &here->desc);
        if (there) tsr_desc_to_string(d, sizeof d, &there->desc);
        if (!t->session->plumbing) fail_trial(t, "result %d is %s on the device, %s on the CPU", i, d, h);
    } else if (there->device != t->place[THERE]) {
        fail_trial(t, "result %d is not on the device", i);
    } else {
        compare_made(t, o, i, e);
    }
    describe_operands(t);
}

void compare_tensors(trial *t, const char *what, const tsr_tensor *got, const tsr_tensor *wanted,
                     const tolerance *e)
{
    GO_ON(t);
    MUST(t, got && wanted && got->dtype == wanted->dtype && tsr_desc_same_shape(&got->desc, &wanted->desc),
         "%s: the result has another dtype or shape", what);
    const size_t bytes = (size_t)tsr_byte_size(wanted);
    unsigned char *g = malloc(bytes + 1), *w = malloc(bytes + 1);
    tsr_status s = g && w ? tsr_store(g, bytes, got) : TSR_ENOMEM;
    if (s == TSR_OK) s = tsr_store(w, bytes, wanted);
    if (s != TSR_OK)
        call_went_wrong(t, what, s);
    else if (!t->session->plumbing)
        compare_packed(t, what, &wanted->desc, g, w, NULL, e);
    free(g);
    free(w);
}
