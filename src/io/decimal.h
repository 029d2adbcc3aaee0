/* decimal.h - decimal text to numbers, exactly rounded, without locale. */
#ifndef TSRI_DECIMAL_H
#define TSRI_DECIMAL_H

#include "tessera/scalar.h"

/* "12", "-0.5e3", "+inf", "nan" in any case, and nothing else. Whole numbers that fit 64 bits
 * come as such (TSR_I64, or TSR_U64 beyond), all others as TSR_F64, to nearest, ties to even.
 * False if it is no number. */
bool tsri_parse_number(tsr_scalar *out, const char *text, size_t length);

#endif
