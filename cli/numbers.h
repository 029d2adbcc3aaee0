/* numbers.h - the elements of any tensor as plain C numbers, packed.
 *
 * Floats become doubles, integers and bools int64_t, u64 uint64_t: all of them exactly. Of
 * complex numbers the magnitude is taken.
 */
#ifndef TSR_CLI_NUMBERS_H
#define TSR_CLI_NUMBERS_H

#include "tessera/tessera.h"

/* f64, i64 or u64. */
tsr_dtype numbers_dtype(tsr_dtype dtype);

/* A packed tensor of numbers_dtype. *out is replaced. */
tsr_status numbers_of(tsr_tensor **out, const tsr_tensor *t);

/* The same as doubles, whatever it was. */
tsr_status doubles_of(tsr_tensor **out, const tsr_tensor *t);

/* Element i of a packed tensor of doubles, i64 or u64, as a double. */
double number_at(const tsr_tensor *numbers, int64_t i);

/* Elements from .. from + n - 1 of a packed tensor of any dtype that is not complex, as doubles: exactly, but
 * for integers of 64 bits. They are in room, or where they are already. */
const double *doubles_at(double *room, const tsr_tensor *t, int64_t from, int64_t n);

/* The same as floats, exactly; NULL for dtypes of which floats do not hold all numbers. */
const float *floats_at(float *room, const tsr_tensor *t, int64_t from, int64_t n);

/* Keys: numbers of a dtype mapped to unsigned ones of key_bits bits in the same order, so that the number of
 * a rank can be found digit by digit. NaN has none. */
int      key_bits(tsr_dtype dtype);  /* 32 or 64 */

/* The keys of elements from .. from + n - 1 of t, of which doubles_at made x; NaN is left out. The dtype is
 * that of the tensor itself, t holds magnitudes where it is complex. Returns how many there are. */
int64_t keys_of(uint64_t *keys, tsr_dtype dtype, const double *x, const tsr_tensor *t, int64_t from,
                int64_t n);
double   key_value(tsr_dtype dtype, uint64_t key);

#endif
