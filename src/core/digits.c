/* digits.c - see digits.h.
 *
 * Steele and White's Dragon4 as Burger and Dybvig put it ("Printing Floating-Point
 * Numbers Quickly and Accurately"): the number is a fraction of two big integers;
 * its digits fall out one division at a time, and the half-distances to the
 * neighbouring floats, carried along at the same scale, tell when to stop.
 */
#include "digits.h"
#include "mem.h"

/* Big integers ------------------------------------------------------------- */

/* The largest is 10 * 4 * 2^1076 or so, for the smallest f64. */
enum { BIG_WORDS = 36 };

/* Lowest word first; the highest is not 0, so zero has none. */
typedef struct big {
    int      n;
    uint32_t word[BIG_WORDS];
} big;

/* v * 2^bits; v is not 0 */
static void big_set(big *b, uint64_t v, int bits)
{
    const int zeros = bits / 32, shift = bits % 32;
    const uint64_t low = (v & 0xffffffffu) << shift, high = (v >> 32) << shift;
    memset(b->word, 0, ((size_t)zeros + 3) * sizeof *b->word);
    b->word[zeros] = (uint32_t)low;
    b->word[zeros + 1] = (uint32_t)(low >> 32) | (uint32_t)high;
    b->word[zeros + 2] = (uint32_t)(high >> 32);
    for (b->n = zeros + 3; b->word[b->n - 1] == 0;) b->n--;
}

static void big_multiply(big *b, uint32_t by)
{
    uint64_t carry = 0;
    for (int i = 0; i < b->n; i++) {
        carry += (uint64_t)b->word[i] * by;
        b->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry == 0) return;
    TSRI_ASSERT(b->n < BIG_WORDS);
    b->word[b->n++] = (uint32_t)carry;
}

static void big_multiply_pow10(big *b, int power)
{
    for (; power >= 9; power -= 9) big_multiply(b, 1000000000u);
    for (; power > 0; power--) big_multiply(b, 10);
}

/* Below, at or above 0, as a is less than, equal to or greater than b. */
static int big_compare(const big *a, const big *b)
{
    if (a->n != b->n) return a->n - b->n;
    for (int i = a->n - 1; i >= 0; i--)
        if (a->word[i] != b->word[i]) return a->word[i] < b->word[i] ? -1 : 1;
    return 0;
}

/* How a + b compares with c. */
static int big_compare_sum(const big *a, const big *b, const big *c)
{
    big sum = { 0 };
    uint64_t carry = 0;
    for (int i = 0; i < a->n || i < b->n || carry; i++) {
        TSRI_ASSERT(i < BIG_WORDS);
        if (i < a->n) carry += a->word[i];
        if (i < b->n) carry += b->word[i];
        sum.word[sum.n++] = (uint32_t)carry;
        carry >>= 32;
    }
    return big_compare(&sum, c);
}

/* a -= b, where a >= b. */
static void big_subtract(big *a, const big *b)
{
    uint64_t borrow = 0;
    for (int i = 0; i < a->n; i++) {
        const uint64_t d = (uint64_t)a->word[i] - (i < b->n ? b->word[i] : 0) - borrow;
        a->word[i] = (uint32_t)d;
        borrow = d >> 63;
    }
    while (a->n > 0 && a->word[a->n - 1] == 0) a->n--;
}

/* Patterns to numbers ------------------------------------------------------ */

typedef struct layout {
    int  mantissa, exponent;  /* bits of each */
    bool infinity;            /* the highest exponent means infinity and NaN, as IEEE 754 has it */
} layout;

static layout layout_of(tsr_dtype dtype)
{
    switch (dtype) {
#define X(ID, suffix, S, mant, exp, inf, dlpack) case TSR_##ID: return (layout){ mant, exp, inf };
#include "short_floats.def"
#undef X
    case TSR_F32:    return (layout){ 23, 8, true };
    default:         return (layout){ 52, 11, true };
    }
}

tsri_binary tsri_binary_load(tsr_dtype dtype, const void *element)
{
    const layout f = layout_of(dtype);
    const uint64_t bits = tsri_load_bits(element, (size_t)(1 + f.exponent + f.mantissa) / 8);
    const uint64_t fraction_mask = ((uint64_t)1 << f.mantissa) - 1;
    const int top = (1 << f.exponent) - 1, bias = top / 2;
    const uint64_t fraction = bits & fraction_mask;
    const int e = (int)(bits >> f.mantissa) & top;

    tsri_binary v = { .what = TSRI_FINITE, .negative = bits >> (f.mantissa + f.exponent) != 0 };
    if (e == top && f.infinity)
        v.what = fraction ? TSRI_NAN : TSRI_INFINITE;
    else if (e == top && fraction == fraction_mask)
        v.what = TSRI_NAN;
    v.mantissa = e == 0 ? fraction : fraction | (fraction_mask + 1);
    v.exponent = (e == 0 ? 1 : e) - bias - f.mantissa;
    v.near_below = fraction == 0 && e > 1;
    return v;
}

/* Numbers to digits -------------------------------------------------------- */

/* The number is value / one; the points half-way to its neighbours lie
 * below / one and above / one away from it. */
typedef struct ratio {
    big  value, one, below, above;
    bool even;   /* those points, being ties, read back as this number */
} ratio;

/* floor(log10(2^e)), for |e| < 1650. */
static int log10_of_pow2(int e)
{
    const int scaled = e * 78913;   /* 2^18 * log10(2) */
    return scaled >= 0 ? scaled >> 18 : -((-scaled + 0x3ffff) >> 18);
}

static int log2_of(const tsri_binary *v)
{
    int bits = 0;
    for (uint64_t m = v->mantissa; m > 1; m >>= 1) bits++;
    return bits + v->exponent;
}

/* The number divided by 10^power. Everything is four times as large as it need
 * be, so that a quarter of the last bit is a whole number. */
static void ratio_init(ratio *r, const tsri_binary *v, int power)
{
    const int up = v->exponent > 0 ? v->exponent : 0, down = up - v->exponent;
    big_set(&r->value, v->mantissa, up + 2);
    big_set(&r->one, 1, down + 2);
    big_set(&r->below, v->near_below ? 1 : 2, up);
    big_set(&r->above, 2, up);
    r->even = v->mantissa % 2 == 0;
    big_multiply_pow10(&r->one, power);
    big_multiply_pow10(&r->value, -power);
    big_multiply_pow10(&r->below, -power);
    big_multiply_pow10(&r->above, -power);
}

/* Half-way points that are more than one away stay so for all further digits, and are not multiplied. */
static void ratio_times_ten(ratio *r)
{
    big_multiply(&r->value, 10);
    if (big_compare(&r->below, &r->one) > 0) return;
    big_multiply(&r->below, 10);
    big_multiply(&r->above, 10);
}

/* Removes the digit before the point. */
static int ratio_next_digit(ratio *r)
{
    int digit = 0;
    for (; big_compare(&r->value, &r->one) >= 0; digit++) big_subtract(&r->value, &r->one);
    TSRI_ASSERT(digit <= 9);
    return digit;
}

/* Is the number still the nearest one if the remaining digits are dropped, or rounded up? */
static bool may_round_down(const ratio *r)
{
    const int c = big_compare(&r->value, &r->below);
    return r->even ? c <= 0 : c < 0;
}

static bool may_round_up(const ratio *r)
{
    const int c = big_compare_sum(&r->value, &r->above, &r->one);
    return r->even ? c >= 0 : c > 0;
}

static bool is_nearer_up(ratio *r, int digit)
{
    big_multiply(&r->value, 2);
    const int half = big_compare(&r->value, &r->one);
    return half > 0 || (half == 0 && digit % 2 != 0);
}

/* One more in the last place. */
static void carry_up(tsri_decimal *d)
{
    while (d->n > 0 && d->digit[d->n - 1] == '9') d->n--;
    if (d->n > 0) {
        d->digit[d->n - 1]++;
        return;
    }
    d->digit[d->n++] = '1';
    d->exponent++;
}

static void trim_zeros(tsri_decimal *d)
{
    while (d->n > 1 && d->digit[d->n - 1] == '0') d->n--;
    if (d->digit[0] == '0') d->exponent = 0;
}

/* Digits from 10^place down to 10^last, or fewer if they are enough at 10^first_end
 * or below it. */
static void make_digits(tsri_decimal *out, ratio *r, int place, int first_end, int last, bool shortest)
{
    for (;; place--) {
        const int digit = ratio_next_digit(r);
        const bool down = shortest ? may_round_down(r) : r->value.n == 0;
        const bool up = shortest && may_round_up(r);
        out->digit[out->n++] = (char)('0' + digit);
        if (place == last || ((down || up) && place <= first_end)) {
            if (down == up ? is_nearer_up(r, digit) : up) carry_up(out);
            return;
        }
        ratio_times_ten(r);
    }
}

void tsri_digits(tsri_decimal *out, const tsri_binary *v, tsri_cut cut)
{
    out->n = 0;
    out->exponent = 0;
    if (v->mantissa == 0) {
        out->digit[out->n++] = '0';
        return;
    }
    /* The first digit's place, or one less. A number wholly below the last place
     * is rounded there, to 0 or 1 of it. */
    const bool fixed = !cut.scientific && cut.most >= 0;
    int place = log10_of_pow2(log2_of(v));
    if (fixed && place < -cut.most) place = -cut.most;

    ratio r;
    ratio_init(&r, v, place);
    big ten = r.one;
    big_multiply(&ten, 10);
    if (big_compare(&r.value, &ten) >= 0) {
        r.one = ten;
        place++;
    }
    const int point = cut.scientific ? place : 0;
    int last = place - out->capacity + 1;
    if (cut.most >= 0 && point - cut.most > last) last = point - cut.most;
    const int first_end = cut.least >= 0 && point - cut.least < place ? point - cut.least : place;

    out->exponent = place;
    make_digits(out, &r, place, first_end, last, cut.shortest);
    trim_zeros(out);
}

/* Digits to text ----------------------------------------------------------- */

int tsri_whole_length(const tsri_decimal *d) { return d->exponent < 0 ? 1 : d->exponent + 1; }

int tsri_fraction_length(const tsri_decimal *d)
{
    const int n = d->n - 1 - d->exponent;
    return n > 0 ? n : 0;
}

/* The digit at 10^place. */
static char digit_at(const tsri_decimal *d, int place)
{
    const int i = d->exponent - place;
    return i >= 0 && i < d->n ? d->digit[i] : '0';
}

void tsri_put_whole(tsri_text *text, const tsri_decimal *d)
{
    for (int place = tsri_whole_length(d) - 1; place >= 0; place--) tsri_put_char(text, digit_at(d, place));
}

void tsri_put_fraction(tsri_text *text, const tsri_decimal *d)
{
    const int n = tsri_fraction_length(d);
    for (int place = -1; place >= -n; place--) tsri_put_char(text, digit_at(d, place));
}

int tsri_exponent_length(int exponent) { return exponent > 99 || exponent < -99 ? 3 : 2; }

void tsri_put_exponent(tsri_text *text, int exponent, int digits)
{
    const int size = exponent < 0 ? -exponent : exponent;
    tsri_put_chars(text, exponent < 0 ? "e-" : "e+", 2);
    tsri_put_repeat(text, '0', digits - (size > 99 ? 3 : size > 9 ? 2 : 1));
    tsri_put_i64(text, size);
}

/* One element as text ------------------------------------------------------ */

static void put_number(tsri_text *text, const tsri_binary *v)
{
    if (v->what == TSRI_NAN) {
        tsri_put_chars(text, "nan", 3);
        return;
    }
    if (v->negative) tsri_put_char(text, '-');
    if (v->what == TSRI_INFINITE) {
        tsri_put_chars(text, "inf", 3);
        return;
    }
    char room[TSRI_SHORTEST_ROOM];
    tsri_decimal d = { .digit = room, .capacity = sizeof room };
    tsri_digits(&d, v, TSRI_WHOLE_SHORTEST);
    const bool scientific = d.exponent < -4 || d.exponent >= 16;
    if (d.exponent >= 16) tsri_digits(&d, v, TSRI_SHORTEST);
    const int exponent = d.exponent;
    if (scientific) d.exponent = 0;
    tsri_put_whole(text, &d);
    if (tsri_fraction_length(&d) > 0) tsri_put_char(text, '.');
    tsri_put_fraction(text, &d);
    if (scientific) tsri_put_exponent(text, exponent, 2);
}

void tsri_put_f64(tsri_text *text, double v)
{
    const tsri_binary b = tsri_binary_load(TSR_F64, &v);
    put_number(text, &b);
}

static void put_complex(tsri_text *text, tsr_dtype dtype, const char *element)
{
    const tsr_dtype part = tsr_dtype_real(dtype);
    const tsri_binary re = tsri_binary_load(part, element);
    const tsri_binary im = tsri_binary_load(part, element + tsr_dtype_size(part));
    put_number(text, &re);
    if (!im.negative || im.what == TSRI_NAN) tsri_put_char(text, '+');
    put_number(text, &im);
    tsri_put_char(text, 'j');
}

/* Two's complement: the bits above an element's own repeat its sign. */
static int64_t load_signed(const void *element, int bytes)
{
    const uint64_t sign = (uint64_t)1 << (bytes * 8 - 1);
    return (int64_t)((tsri_load_bits(element, (size_t)bytes) ^ sign) - sign);
}

void tsri_put_scalar(tsri_text *text, tsr_dtype dtype, const void *element)
{
    const int bytes = (int)tsr_dtype_size(dtype);
    switch (tsr_dtype_kind(dtype)) {
    case TSR_BOOLEAN:
        tsri_put(text, "%s", tsri_load_bits(element, (size_t)bytes) ? "True" : "False");
        break;
    case TSR_SIGNED:   tsri_put_i64(text, load_signed(element, bytes)); break;
    case TSR_UNSIGNED: tsri_put_u64(text, tsri_load_bits(element, (size_t)bytes)); break;
    case TSR_COMPLEX:  put_complex(text, dtype, element); break;
    default: {  /* TSR_FLOATING */
        const tsri_binary v = tsri_binary_load(dtype, element);
        put_number(text, &v);
        break;
    }
    }
}
