/* print.h - tensors as text.
 *
 *     weights: f32(2, 3 | 3, 1)
 *     [[ 0.   1.5 -2. ]
 *      [ 3.   4.   5. ]]
 *
 * One line says what the tensor is (desc.h); below it stand the values, as NumPy
 * (2.3 and later) prints them: columns aligned, floats in the fewest digits that
 * tell them apart within their own format, up to a precision; exponents where a
 * value reaches 1e8 (f64), 1e6 (f32) or 1e3 (shorter floats) or lies below 1e-4,
 * or where the largest exceeds the smallest a thousandfold; the middles of large
 * tensors left out. Every dtype, any strides.
 *
 * A tensor without memory, or in memory the host cannot read, prints as one line
 * that says so. Elements that are left out are not read, and nothing is allocated.
 */
#ifndef TESSERA_PRINT_H
#define TESSERA_PRINT_H

#include "tensor.h"

TSR_BEGIN_C

/* Zero means the default. */
typedef struct tsr_print_opts {
    int         precision;  /* digits after the point, at most; default 8. Negative: 0 digits */
    int         line_width; /* default 75. Negative: lines are never broken */
    int64_t     threshold;  /* more elements than this are summarised; default 32. Negative: any are */
    int64_t     edge_items; /* how many at each end of a summarised dim; default 3 */
    bool        suppress_exponent; /* never 1e+10, however large or small the values */
    const char *name;       /* printed before the rest, "name: "; NULL for none */
    bool        no_header;  /* leave out the line with dtype, shape and strides */
} tsr_print_opts;

/* One line about a tensor: "f32(3, 4 | 4, 1) on cpu:0, host memory, owned, 48
 * bytes". In the place of "owned" may stand "borrowed", "adopted", "mapped" or "not
 * allocated"; "view" and "read-only" follow it where they are true. "no tensor"
 * for none. Cut short to fit; returns the length it would have. t may be NULL. */
TSR_API size_t tsr_describe(char *out, size_t size, const tsr_tensor *t);

/* The text of a tensor, without a newline at its end, cut short to fit `size`
 * bytes with the closing 0. *length receives the length of the whole text; size 0
 * with out NULL only measures. opts and length may be NULL.
 *
 * TSR_ENULL    t is NULL, or out is NULL and size is not 0
 * TSR_EDTYPE   t is a tensor struct that holds none
 * TSR_EINVAL   edge_items is negative */
TSR_API TSR_MUST_CHECK tsr_status tsr_to_string(char *out, size_t size, size_t *length, const tsr_tensor *t,
                                                const tsr_print_opts *opts);

/* The same and a newline, to standard output or to the sink set below.
 *
 * TSR_EIO            standard output took less than all of it
 * TSR_EUNSUPPORTED   no sink is set, in a build without standard output */
TSR_API TSR_MUST_CHECK tsr_status tsr_print(const tsr_tensor *t, const tsr_print_opts *opts);

/* The same under its own name: TSR_SHOW(weights) prints "weights: f32(2, 3 | 3, 1)" and the values. In C. */
#define TSR_SHOW(t) tsr_print((t), &(tsr_print_opts){ .name = #t })

/* Where tsr_print writes, one piece of text at a time (no closing 0, and cut
 * anywhere); NULL: standard output. Not for several threads at once. */
typedef void (*tsr_print_sink)(void *context, const char *text, size_t length);
TSR_API void tsr_set_print_sink(tsr_print_sink sink, void *context);

TSR_END_C

#endif
