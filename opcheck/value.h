/* value.h - single elements, read and written by hand.
 *
 * Its own arithmetic on formats: nothing here calls the library to decode or
 * convert an element, so that the library can be compared with it.
 */
#ifndef TSR_OPCHECK_VALUE_H
#define TSR_OPCHECK_VALUE_H

#include "tessera/tessera.h"

/* An element of any dtype. bits is an integer's or bool's value, extended to 64 bits by its
 * sign; re and im are the value as doubles (re is rounded for a long integer). */
typedef struct value {
    uint64_t bits;
    double   re, im;
} value;

bool   is_float(tsr_dtype dtype);   /* of any width; complex not among them */
bool   is_complex(tsr_dtype dtype);
bool   is_integer(tsr_dtype dtype); /* bool not among them */
bool   is_signed(tsr_dtype dtype);
size_t size_of(tsr_dtype dtype);
int    bits_of(tsr_dtype dtype);
tsr_dtype part_of(tsr_dtype dtype); /* of a complex dtype; else the dtype itself */

value read_value(tsr_dtype dtype, const void *element);

/* Rounds to the dtype by the rules of dtype.h: an integer dtype takes bits, another re and im. */
void write_value(tsr_dtype dtype, void *element, value v);

value integer_value(tsr_dtype dtype, uint64_t bits); /* cut to the dtype */
value real_value(double re);
value complex_value(double re, double im);

/* *to = *from by the rules of dtype.h. */
void convert(tsr_dtype to_dtype, void *to, tsr_dtype from_dtype, const void *from);

/* The same bits, or both NaN, part by part; same_number takes -0 for 0 as well. */
bool same_bits(tsr_dtype dtype, const void *a, const void *b);
bool same_number(tsr_dtype dtype, const void *a, const void *b);

/* Is the element the wanted value, but for rounding to the dtype and `slack`? Integers and
 * bools must be equal. A value beyond the largest finite one may be that, or infinite. */
bool is_near(tsr_dtype dtype, const void *element, value wanted, double slack);

/* The distance from 1 to the next number of the dtype that an op computes in: f32 for
 * shorter floats. */
double epsilon_of(tsr_dtype dtype);

/* What one rounding to the dtype changes a number near 1 by; of f32 and wider, epsilon_of. */
double rounding_near_1(tsr_dtype dtype);

/* The largest finite number of a float's format, and the smallest above 0. */
double largest_of(tsr_dtype dtype);
double smallest_of(tsr_dtype dtype);

/* "3", "0.5", "1-2i" */
const char *value_text(char out[64], tsr_dtype dtype, const void *element);

#endif
