/* digits.h - decimal digits of binary floating-point numbers, exactly.
 *
 * Three steps, for every float dtype alike:
 *
 *     tsri_binary v = tsri_binary_load(TSR_F16, element);     pattern to number
 *     tsri_digits(&d, &v, TSRI_SHORTEST);                     number to digits
 *     tsri_put_whole(text, &d);  tsri_put_fraction(text, &d); digits to text
 *
 * "Shortest" is within the number's own format: the fewest digits, and of those
 * the closest, that read back (to nearest, ties to even) as the same value of
 * that format. So 0.1 has one digit in f16, f32 and f64, and the f16 65504 is
 * 655e2: no other f16 lies as near to that.
 *
 * Big integers only: no floating-point arithmetic, no table, no locale.
 */
#ifndef TSRI_DIGITS_H
#define TSRI_DIGITS_H

#include "text.h"

typedef enum tsri_number { TSRI_FINITE, TSRI_INFINITE, TSRI_NAN } tsri_number;

/* mantissa * 2^exponent, negated if negative. */
typedef struct tsri_binary {
    tsri_number what;
    bool        negative;     /* also of zero, infinity and NaN */
    bool        near_below;   /* the next value below is half as far as the one above */
    int         exponent;
    uint64_t    mantissa;
} tsri_binary;

/* One element of a float dtype, at any alignment. */
tsri_binary tsri_binary_load(tsr_dtype dtype, const void *element);

/* digit[0] . digit[1] digit[2] ... * 10^exponent, as characters, n of them, the
 * last not '0'; zero is one '0' with exponent 0. The sign stays with the number.
 * The caller gives the room. */
typedef struct tsri_decimal {
    char *digit;
    int   capacity;
    int   n;
    int   exponent;
} tsri_decimal;

/* Room for the shortest digits of any dtype. */
enum { TSRI_SHORTEST_ROOM = 20 };

/* Which digits. Counts are of digits after the point: of d.ddd if scientific,
 * of the number written out otherwise. */
typedef struct tsri_cut {
    bool shortest;    /* end where the digits identify the number; else where they are exact */
    bool scientific;
    int  most;        /* end here at the latest, correctly rounded; -1: no such end */
    int  least;       /* go on to here even when identified; 0: to the units; -1: no such end */
} tsri_cut;

#define TSRI_SHORTEST       ((tsri_cut){ true, false, -1, -1 })
#define TSRI_WHOLE_SHORTEST ((tsri_cut){ true, false, -1, 0 })  /* with all digits before the point */

/* Digits of a finite number. Rounds to nearest, ties to the even digit, at the
 * end of the room if that comes first. */
void tsri_digits(tsri_decimal *out, const tsri_binary *v, tsri_cut cut);

/* The digits before the point, "0" if there are none; those after it, "" if there
 * are none; and how many characters each takes. */
void tsri_put_whole(tsri_text *text, const tsri_decimal *d);
void tsri_put_fraction(tsri_text *text, const tsri_decimal *d);
int  tsri_whole_length(const tsri_decimal *d);
int  tsri_fraction_length(const tsri_decimal *d);

/* "e+05": the exponent in at least `digits` digits, and how many it needs, which
 * is at least two. */
void tsri_put_exponent(tsri_text *text, int exponent, int digits);
int  tsri_exponent_length(int exponent);

/* One element of any dtype in the shortest text, as in Python's repr but without
 * a closing ".0": "2", "0.1", "1e-05", "1e+16", "-0", "nan", "-inf", "True",
 * "1+2j". Exponents are written below 1e-4 and from 1e16 on; the digits before a
 * point are always those of the value (the f16 65504 is "65504"). For messages and
 * reports; tsri_put_f64 (text.h) does the same to a double. */
void tsri_put_scalar(tsri_text *text, tsr_dtype dtype, const void *element);

#endif
