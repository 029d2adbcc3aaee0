/* element_text.c - see element_text.h. */
#include "element_text.h"

#include "tessera/scalar.h"

static int max_int(int a, int b) { return a > b ? a : b; }

void tsri_style_init(tsri_style *s, tsr_dtype dtype, int precision, bool no_exponent, bool alone)
{
    const tsr_kind kind = tsr_dtype_kind(dtype);
    *s = (tsri_style){ .dtype = dtype, .part = tsr_dtype_real(dtype) };
    s->parts = kind == TSR_COMPLEX ? 2 : kind == TSR_FLOATING ? 1 : 0;
    s->precision = precision;
    s->no_exponent = no_exponent;
    s->column[1].plus = true;
    /* "True" is padded to the width of "False" even where there is none. */
    if (kind == TSR_BOOLEAN && !alone) s->width = 5;
}

static const char *part_of(const tsri_style *s, const char *element, int part)
{
    return element + (size_t)part * tsr_dtype_size(s->part);
}

/* Sizes and exponents ------------------------------------------------------ */

/* Is a / b, rounded to the dtype as NumPy divides, more than a thousand? */
static bool is_thousandfold(tsr_dtype dtype, double a, double b)
{
    if (dtype == TSR_F64) return a / b > 1000;
    const float q = (float)a / (float)b;
    return (dtype == TSR_F16 ? tsr_f16_to_f32(tsr_f32_to_f16(q)) : q) > 1000;
}

static bool wants_exponent(const tsri_column *c, tsr_dtype dtype)
{
    const double large = dtype == TSR_F64 ? 1e8 : dtype == TSR_F32 ? 1e6 : 1e3;
    const double small = dtype == TSR_F64 ? 1e-4 : (double)1e-4f;
    return c->largest >= large || c->smallest < small || is_thousandfold(dtype, c->largest, c->smallest);
}

static void see_number(tsri_style *s, tsri_column *c, const char *number)
{
    const tsri_binary v = tsri_binary_load(s->part, number);
    c->nan |= v.what == TSRI_NAN;
    c->inf |= v.what == TSRI_INFINITE;
    c->negative_inf |= v.what == TSRI_INFINITE && v.negative;
    if (v.what != TSRI_FINITE || v.mantissa == 0) return;

    tsr_scalar value = { 0 };
    const tsr_status status = tsr_scalar_load(&value, s->part, number);
    TSRI_ASSERT(status == TSR_OK);
    (void)status;
    const double size = v.negative ? -value.as.c.re : value.as.c.re;
    if (size > c->largest) c->largest = size;
    if (c->smallest == 0 || size < c->smallest) c->smallest = size;
    c->scientific = !s->no_exponent && wants_exponent(c, s->part);
}

void tsri_style_see_size(tsri_style *s, const char *element)
{
    for (int i = 0; i < s->parts; i++) see_number(s, &s->column[i], part_of(s, element, i));
}

/* Widths ------------------------------------------------------------------- */

/* All digits down to the units are the exact ones, though fewer may identify the
 * number; from 10^16 on zeros follow the digits that identify it. */
static void positional_digits(tsri_decimal *out, const tsri_style *s, const tsri_binary *v)
{
    tsri_digits(out, v, (tsri_cut){ true, false, s->precision, 0 });
    if (out->exponent >= 16) tsri_digits(out, v, (tsri_cut){ true, false, s->precision, -1 });
}

static void measure_number(const tsri_style *s, tsri_column *c, const char *number)
{
    char room[TSRI_SHORTEST_ROOM];
    tsri_decimal d = { .digit = room, .capacity = sizeof room };
    const tsri_binary v = tsri_binary_load(s->part, number);
    if (v.what != TSRI_FINITE) return;
    if (c->scientific) {
        tsri_digits(&d, &v, (tsri_cut){ true, true, s->precision, -1 });
        c->exponent = max_int(c->exponent, tsri_exponent_length(d.exponent));
        d.exponent = 0;
    } else {
        positional_digits(&d, s, &v);
    }
    c->left = max_int(c->left, tsri_whole_length(&d) + (v.negative || c->plus));
    c->fraction = max_int(c->fraction, tsri_fraction_length(&d));
}

void tsri_style_see_width(tsri_style *s, const char *element)
{
    for (int i = 0; i < s->parts; i++) measure_number(s, &s->column[i], part_of(s, element, i));
    if (s->parts > 0) return;
    tsri_text text = tsri_text_into(NULL, 0);
    tsri_put_scalar(&text, s->dtype, element);
    s->width = max_int(s->width, (int)text.length);
}

/* Characters after the point. */
static int right_of(const tsri_column *c)
{
    return c->scientific ? c->fraction + 2 + c->exponent : c->fraction;
}

/* NaN and infinities may be wider than the numbers, and stand across the point. */
static int width_of(const tsri_column *c)
{
    const int numbers = c->left + 1 + right_of(c);
    return c->nan || c->inf ? max_int(numbers, 3 + (c->plus || c->negative_inf)) : numbers;
}

/* Words -------------------------------------------------------------------- */

static void put_sign(tsri_text *text, const tsri_column *c, const tsri_binary *v)
{
    if (v->negative && v->what != TSRI_NAN) tsri_put_char(text, '-');
    else if (c->plus) tsri_put_char(text, '+');
}

/* These return how many characters they put after the point. */

static int put_positional(tsri_text *text, const tsri_style *s, const tsri_binary *v)
{
    char room[TSRI_SHORTEST_ROOM];
    tsri_decimal d = { .digit = room, .capacity = sizeof room };
    positional_digits(&d, s, v);
    tsri_put_whole(text, &d);
    tsri_put_char(text, '.');
    tsri_put_fraction(text, &d);
    return tsri_fraction_length(&d);
}

static int put_scientific(tsri_text *text, const tsri_column *c, const tsri_binary *v)
{
    char room[TSRI_SHORTEST_ROOM];
    tsri_decimal d = { .digit = room, .capacity = sizeof room };
    tsri_digits(&d, v, (tsri_cut){ true, true, c->fraction, c->fraction });
    const int exponent = d.exponent;
    d.exponent = 0;
    tsri_put_whole(text, &d);
    tsri_put_char(text, '.');
    tsri_put_fraction(text, &d);
    tsri_put_repeat(text, '0', c->fraction - tsri_fraction_length(&d));
    tsri_put_exponent(text, exponent, c->exponent);
    return right_of(c);
}

/* NaN and infinities end where the fractions do. */
static int put_unpadded(tsri_text *text, const tsri_style *s, const tsri_column *c, const tsri_binary *v)
{
    put_sign(text, c, v);
    if (v->what != TSRI_FINITE) {
        tsri_put_chars(text, v->what == TSRI_NAN ? "nan" : "inf", 3);
        return right_of(c);
    }
    return c->scientific ? put_scientific(text, c, v) : put_positional(text, s, v);
}

/* Spaces before the number, and after it and its suffix. */
static void put_padded(tsri_text *text, const tsri_style *s, const tsri_column *c, const char *number,
                       const char *suffix)
{
    char small[TSRI_NUMBER_ROOM];
    tsri_text unpadded = tsri_text_into(small, sizeof small);
    const tsri_binary v = tsri_binary_load(s->part, number);
    const int after = right_of(c) - put_unpadded(&unpadded, s, c, &v);
    tsri_put_repeat(text, ' ', width_of(c) - (int64_t)unpadded.length - after);
    tsri_put(text, "%s%s", small, suffix);
    tsri_put_repeat(text, ' ', after);
}

static void put_pointless(tsri_text *text, const tsri_style *s, const char *element)
{
    char small[24];
    tsri_text unpadded = tsri_text_into(small, sizeof small);
    tsri_put_scalar(&unpadded, s->dtype, element);
    tsri_put_repeat(text, ' ', s->width - (int64_t)unpadded.length);
    tsri_put_chars(text, small, unpadded.length);
}

void tsri_put_word(tsri_text *text, const tsri_style *s, const char *element)
{
    if (s->parts == 0) put_pointless(text, s, element);
    if (s->parts > 0) put_padded(text, s, &s->column[0], part_of(s, element, 0), "");
    if (s->parts > 1) put_padded(text, s, &s->column[1], part_of(s, element, 1), "j");
}
