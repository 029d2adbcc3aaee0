/* operands.c - layouts, fillings, and storages that hold the same bytes on both sides. */
#include "operands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"

const values any_values = { -8, 8, 8, true };
const values small_values = { -8, 8, 0, false };
const values plain_values = { -8, 8, 12, false };

/* Shapes --------------------------------------------------------------------------------------- */

int64_t count_of(int ndim, const int64_t *shape)
{
    int64_t n = 1;
    for (int d = 0; d < ndim; d++) n *= shape[d];
    return n;
}

enum { MODERATE, MANY_DIMS, NEXT_TO_NONE, LARGE, STYLES };

static int64_t random_dim(trial *t, int style, int ndim, int64_t left)
{
    int64_t most = style == LARGE      ? (int64_t)pow((double)left, ndim < 3 ? 0.9 : 0.6)
                   : style == MODERATE ? 9
                                       : 4;
    if (style == MODERATE && ndim == 1) most = 70;
    if (most > left) most = left;
    if (once_in(t, style == MANY_DIMS ? 3 : 8)) return 1;
    return random_between(t, 1, most < 1 ? 1 : most);
}

int random_shape(trial *t, int64_t shape[RANK], int low, int high, int64_t most)
{
    const int style = t->number % STYLES;
    if (high > RANK) high = RANK;
    if (style == MODERATE && high > 4 && low <= 4) high = 4;
    const int ndim = (int)random_between(t, style == MANY_DIMS ? low + (high - low) / 2 : low, high);
    int64_t left = style == LARGE ? (once_in(t, 8) ? 100000 : 6000) : 400;
    if (left > most) left = most;
    for (int d = 0; d < ndim; d++) {
        shape[d] = style == NEXT_TO_NONE ? random_between(t, 1, 2) / 2 + once_in(t, 6)
                                         : random_dim(t, style, ndim, left);
        if (shape[d] > 1) left /= shape[d];
    }
    return ndim;
}

/* Strides --------------------------------------------------------------------------------------- */

static void shuffle(trial *t, int n, int *order)
{
    for (int i = 0; i < n; i++) order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        const int64_t k = random_below(t, i + 1);
        const int other = order[k];
        order[k] = order[i];
        order[i] = other;
    }
}

/* Nested steps in a random order of dims, so that no two indices meet. */
static void nest_strides(trial *t, int64_t *stride, int ndim, const int64_t *shape)
{
    int order[TSR_MAX_NDIM];
    const bool turns = once_in(t, 2), gaps = once_in(t, 2), permuted = !once_in(t, 3);
    int64_t step = gaps && once_in(t, 2) ? random_between(t, 2, 3) : 1;
    shuffle(t, ndim, order);
    for (int i = 0; i < ndim; i++) {
        const int d = permuted ? order[i] : ndim - 1 - i;
        stride[d] = turns && once_in(t, 2) ? -step : step;
        step *= shape[d] > 0 ? shape[d] : 1;
        if (gaps) step += random_below(t, 4);
    }
}

void random_strides(trial *t, int64_t stride[TSR_MAX_NDIM], int ndim, const int64_t *shape, bool is_written)
{
    const bool repeats = !is_written && once_in(t, 4);
    nest_strides(t, stride, ndim, shape);
    for (int d = 0; d < ndim; d++) {
        if (repeats && once_in(t, 2)) stride[d] = 0;
        if (shape[d] == 1 && once_in(t, 2)) stride[d] = (int64_t)random_bits(t);
    }
}

/* Values ----------------------------------------------------------------------------------------- */

/* The last six are extremes. */
static double special_real(trial *t, tsr_dtype part, bool extremes)
{
    const double largest = part == TSR_F64      ? 1.7976931348623157e308
                           : part == TSR_F16    ? 65504
                           : part == TSR_F8E4M3 ? 448
                           : part == TSR_F8E5M2 ? 57344
                                                : 3.3895e38;
    const double least = part == TSR_F64      ? 4.9e-324
                         : part == TSR_F16    ? 6e-8
                         : part == TSR_F8E4M3 ? 0x1p-9
                         : part == TSR_F8E5M2 ? 0x1p-16
                         : part == TSR_BF16   ? 0x1p-133
                                              : 1.4e-45;
    const double all[] = { 0.0,      -0.0,      1.0,     -1.0,     0.5,   2.5,    -3.0,       NAN,
                           INFINITY, -INFINITY, largest, -largest, least, -least, 17 * least, 1e4 };
    return all[random_below(t, extremes ? 16 : 10)];
}

static double any_real(trial *t, tsr_dtype part, const values *v)
{
    if (v->special && once_in(t, v->special)) return special_real(t, part, v->extremes);
    if (once_in(t, 5)) return ceil(random_real(t, v->low, v->high) - 0.5); /* ties, and exact results */
    return random_real(t, v->low, v->high);
}

static value random_value(trial *t, tsr_dtype dtype, const values *v)
{
    if (dtype == TSR_BOOL) return integer_value(dtype, random_bits(t) & 1);
    if (!is_integer(dtype)) {
        const double re = any_real(t, part_of(dtype), v);
        const double im = is_complex(dtype) ? any_real(t, part_of(dtype), v) : 0;
        return complex_value(re, im);
    }
    if (v->special && v->extremes && once_in(t, 3)) return integer_value(dtype, random_bits(t));
    if (v->special && v->extremes && once_in(t, 6))
        return integer_value(dtype, (uint64_t)1 << (bits_of(dtype) - 1));
    const double low = is_signed(dtype) || v->low > 0 ? v->low : 0;
    return integer_value(dtype, (uint64_t)(int64_t)random_real(t, low, v->high + 1));
}

/* Storages ----------------------------------------------------------------------------------------- */

static tsr_status see_bytes(tsr_tensor **out, tsr_storage *s, size_t bytes)
{
    tsr_desc d;
    const int64_t n = (int64_t)bytes;
    TSR_TRY(tsr_desc_init(&d, TSR_U8, 1, &n, NULL));
    return tsr_from_storage(out, s, 0, &d);
}

tsr_status load_bytes(tsr_storage *s, const void *from, size_t bytes)
{
    tsr_tensor *all = NULL;
    TSR_TRY(see_bytes(&all, s, bytes));
    const tsr_status status = tsr_load(all, from, bytes);
    tsr_release(&all);
    return status;
}

tsr_status store_bytes(void *to, size_t bytes, tsr_storage *s)
{
    tsr_tensor *all = NULL;
    TSR_TRY(see_bytes(&all, s, bytes));
    const tsr_status status = tsr_store(to, bytes, all);
    tsr_release(&all);
    return status;
}

typedef struct walk {
    const tsr_desc *desc;
    int64_t size;
    void (*fn)(void *context, unsigned char *element);
    void *context;
} walk;

static void walk_dim(const walk *w, int dim, unsigned char *at)
{
    if (dim == w->desc->ndim) {
        w->fn(w->context, at);
        return;
    }
    for (int64_t i = 0; i < w->desc->shape[dim]; i++)
        walk_dim(w, dim + 1, i ? at + i * w->desc->stride[dim] * w->size : at);
}

void each_element(const tsr_desc *d, unsigned char *first, void (*fn)(void *context, unsigned char *element),
                  void *context)
{
    const walk w = { d, (int64_t)tsr_dtype_size(d->dtype), fn, context };
    walk_dim(&w, 0, first);
}

/* Sides ---------------------------------------------------------------------------------------------- */

void place_sides(trial *t, tsr_device here, tsr_device there)
{
    t->place[HERE] = here;
    t->place[THERE] = there;
}

static tsr_status make_side(tsr_tensor **out, const operand *o, const tsr_desc *d, tsr_device device)
{
    tsr_storage *s = NULL;
    TSR_TRY(tsr_storage_create(&s, o->size, device, TSR_MEMORY_DEFAULT));
    tsr_status status = load_bytes(s, o->bytes, o->size);
    if (status == TSR_OK) status = tsr_from_storage(out, s, o->offset, d);
    tsr_storage_release(&s);
    return status;
}

/* Room for a tensor, with bytes before and behind it, and its first element anywhere but at a
 * round address; filled with junk. */
static void make_room(trial *t, int slot, tsr_desc *d, tsr_dtype dtype, int ndim, const int64_t *shape,
                      bool is_written)
{
    operand *o = &t->slot[slot];
    int64_t stride[TSR_MAX_NDIM], lo = 0;
    enum { MARGIN = 3 };
    GO_ON(t);
    random_strides(t, stride, ndim, shape, is_written);
    NEED(t, tsr_desc_init(d, dtype, ndim, shape, once_in(t, 4) ? NULL : stride));
    const size_t size = tsr_dtype_size(dtype), span = (size_t)tsr_desc_span(d, &lo, NULL);
    o->offset = (size_t)-lo + size * (size_t)random_below(t, MARGIN + 1);
    o->size = span + 2 * MARGIN * size + 16;
    o->bytes = malloc(o->size);
    MUST(t, o->bytes, "no memory for %zu bytes", o->size);
    for (size_t i = 0; i < o->size; i++)
        o->bytes[i] = (unsigned char)(dtype == TSR_BOOL ? i & 1 : random_bits(t));
}

static void make_sides(trial *t, int slot, const tsr_desc *d)
{
    operand *o = &t->slot[slot];
    GO_ON(t);
    NEED(t, make_side(&o->at[HERE], o, d, t->place[HERE]));
    NEED(t, make_side(&o->at[THERE], o, d, t->place[THERE]));
}

typedef struct filling {
    trial *t;
    const values *v;
    tsr_dtype dtype;
    int64_t low, high; /* where v is NULL */
    const char *from;  /* or, where that is not NULL, elements that there are */
} filling;

static void fill_one(void *context, unsigned char *element)
{
    filling *f = context;
    const size_t size = tsr_dtype_size(f->dtype);
    if (f->from) {
        memcpy(element, f->from, size);
        f->from += size;
    } else if (f->v) {
        write_value(f->dtype, element, random_value(f->t, f->dtype, f->v));
    } else {
        write_value(f->dtype, element,
                    integer_value(f->dtype, (uint64_t)random_between(f->t, f->low, f->high - 1)));
    }
}

static void make_filled(trial *t, int slot, int ndim, const int64_t *shape, filling f)
{
    tsr_desc d;
    make_room(t, slot, &d, f.dtype, ndim, shape, f.from != NULL);
    GO_ON(t);
    each_element(&d, t->slot[slot].bytes + t->slot[slot].offset, fill_one, &f);
    make_sides(t, slot, &d);
}

void make_input(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape, const values *v)
{
    make_filled(t, slot, ndim, shape, (filling){ .t = t, .v = v, .dtype = dtype });
}

void make_integers(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape, int64_t low,
                   int64_t high)
{
    make_filled(t, slot, ndim, shape, (filling){ .t = t, .dtype = dtype, .low = low, .high = high });
}

void make_from(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape, const void *elements)
{
    make_filled(t, slot, ndim, shape, (filling){ .t = t, .dtype = dtype, .from = elements });
}

void make_output(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    tsr_desc d;
    make_room(t, slot, &d, dtype, ndim, shape, true);
    make_sides(t, slot, &d);
}

void make_number(trial *t, int slot, tsr_scalar number)
{
    operand *o = &t->slot[slot];
    (void)tsr_number_init(&o->number, number);
    o->is_number = true;
    for (int s = 0; s < SIDES; s++) o->at[s] = &o->number.tensor;
}
