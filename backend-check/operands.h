/* operands.h - random tensors that lie alike on both sides. */
#ifndef TSR_BACKEND_CHECK_OPERANDS_H
#define TSR_BACKEND_CHECK_OPERANDS_H

#include "check.h"

/* What elements are. Reals lie in low .. high; integers do too, as far as their dtype goes. */
typedef struct values {
    double low, high;
    int special;   /* one in so many is NaN, an infinity, a zero, a one; 0: none */
    bool extremes; /* and of those some are the largest, smallest and denormal; integers have any bits */
} values;

extern const values any_values;   /* whatever there is */
extern const values small_values; /* -8 .. 8 and nothing special */
extern const values plain_values; /* the same, with NaN and infinities */

/* A shape of low .. high dims, of which trial 0, 4, .. has a moderate, 1, 5, .. many dims with
 * ones among them, 2, 6, .. no elements or one, 3, 7, .. many; at most `most` elements. Returns
 * the rank. */
int random_shape(trial *t, int64_t shape[RANK], int low, int high, int64_t most);

int64_t count_of(int ndim, const int64_t *shape);

/* Strides of any kind: permuted, turned, with gaps, repeated (unless it is written to), junk on
 * dims of size 1. */
void random_strides(trial *t, int64_t stride[TSR_MAX_NDIM], int ndim, const int64_t *shape, bool is_written);

/* An operand with strides of any kind on both sides. */
void make_input(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape, const values *v);

/* The same with integers low .. high - 1. */
void make_integers(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape, int64_t low,
                   int64_t high);

/* From packed elements that the caller has. */
void make_from(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape, const void *elements);

/* A number, the same for both. */
void make_number(trial *t, int slot, tsr_scalar value);

/* Something to be written, strided; the device's side on this device. */
void make_output(trial *t, int slot, tsr_dtype dtype, int ndim, const int64_t *shape);

/* Where the two sides of the operands to come lie; begin_trial says: the CPU, the device. */
void place_sides(trial *t, tsr_device here, tsr_device there);

/* Bytes of a tensor's whole storage to a buffer, and back. */
tsr_status load_bytes(tsr_storage *s, const void *from, size_t bytes);
tsr_status store_bytes(void *to, size_t bytes, tsr_storage *s);

/* Calls fn with the address of every element, in row-major order; `first` is that of element 0. */
void each_element(const tsr_desc *d, unsigned char *first, void (*fn)(void *context, unsigned char *element),
                  void *context);

#endif
