/* sums.h - sums and extremes of some numbers of a tensor, in one pass or few over them. */
#ifndef TSR_CLI_SUMS_H
#define TSR_CLI_SUMS_H

#include "tessera/tessera.h"

enum { SUMS_MOST = 2048 }; /* numbers at a time */

/* Of the finite ones: sums of what they are above the shift, and of its squares; NaN or infinite squares are
 * beyond a double. Of the extremes, -0 lies below 0. */
typedef struct sums { double shift, sum, squares, low, high; int64_t zeros, finite; } sums;

/* Of elements from .. from + n - 1 of a packed tensor that is not complex. */
void sum_numbers(sums *out, const tsr_tensor *t, int64_t from, int64_t n);

#endif
