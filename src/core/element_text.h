/* element_text.h - the elements of a tensor as words of one width.
 *
 * A style is found in two passes over the elements, and then writes each as a word:
 * all have one width, and the points stand in one column:
 *
 *     tsri_style_init(&s, dtype, ...);
 *     for each element: tsri_style_see_size(&s, element);
 *     for each element: tsri_style_see_width(&s, element);
 *     for each element: tsri_put_word(text, &s, element);
 *
 * The rules are those of NumPy's FloatingFormat, ComplexFloatingFormat,
 * IntegerFormat and BoolFormat (arrayprint.py, 2.3 and later).
 */
#ifndef TSRI_ELEMENT_TEXT_H
#define TSRI_ELEMENT_TEXT_H

#include "digits.h"

enum {
    TSRI_MAX_PRECISION = 340, /* the shortest digits of the smallest f64 end before this one */
    TSRI_NUMBER_ROOM = 16 + 309 + TSRI_MAX_PRECISION, /* the largest f64 has 309 digits */
    TSRI_WORD_ROOM = 2 * TSRI_NUMBER_ROOM
};

/* Floats, or one part of complex numbers. */
typedef struct tsri_column {
    bool   plus;              /* a sign always */
    bool   nan, inf, negative_inf;
    double largest, smallest; /* sizes of the finite ones but 0; smallest 0 if there is none */
    bool   scientific;
    int    left;              /* characters before the point */
    int    fraction;          /* digits after it: the most, or of each if scientific */
    int    exponent;          /* digits of the exponent */
} tsri_column;

typedef struct tsri_style {
    tsr_dtype   dtype, part;  /* part: of each number of an element */
    int         parts;        /* numbers with a point in an element: 0, 1 or 2 */
    int         precision;
    bool        no_exponent;
    int         width;        /* of what has no point */
    tsri_column column[2];
} tsri_style;

/* precision: 0 .. TSRI_MAX_PRECISION digits after the point, at most. alone: there is
 * one element and no bracket around it. */
void tsri_style_init(tsri_style *s, tsr_dtype dtype, int precision, bool no_exponent, bool alone);

/* For each element, in two passes: the first decides on exponents, the second finds the widths. */
void tsri_style_see_size(tsri_style *s, const char *element);
void tsri_style_see_width(tsri_style *s, const char *element);

/* An element, padded. At most TSRI_WORD_ROOM - 1 characters. */
void tsri_put_word(tsri_text *text, const tsri_style *s, const char *element);

#endif
