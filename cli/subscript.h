/* subscript.h - NumPy's subscripts: [0, ::2, ..., None, -1].
 *
 * Reading a subscript says what was written; cutting with it says what that means for one
 * tensor. Bounds of ranges are held to the dim, as Python does; an index must lie in it.
 */
#ifndef TSR_CLI_SUBSCRIPT_H
#define TSR_CLI_SUBSCRIPT_H

#include "tessera/tessera.h"

typedef enum part_kind { PART_INDEX, PART_RANGE, PART_NEW, PART_REST } part_kind;

typedef struct subscript_part {
    part_kind kind;
    int64_t   start, stop, step; /* of an index: start. Of a range: TSR_NONE where it is left out */
} subscript_part;

enum { PARTS_MOST = 2 * TSR_MAX_NDIM + 1 };

/* count 0: the whole tensor. */
typedef struct subscript {
    int            count;
    subscript_part part[PARTS_MOST];
} subscript;

/* What a subscript leaves of a tensor: a range of each axis (of step 0 where the axis goes
 * away), and then new axes, each where it lies in the result, ascending. */
typedef struct cut {
    int            ndim;
    tsr_file_range range[TSR_MAX_NDIM];
    int64_t        length[TSR_MAX_NDIM]; /* elements of each range; 1 for one index */
    int            news, new_axis[TSR_MAX_NDIM];
} cut;

/* Reads a text "[...]" to its end. NULL if it is a subscript, else what is wrong with it. */
const char *subscript_read(subscript *out, const char *text);

/* NULL, or what is wrong, in `why`. */
const char *subscript_cut(cut *out, const subscript *s, const tsr_desc *d, char why[200]);

/* Elements from .. from + count - 1 of a range of this length. */
tsr_file_range range_part(tsr_file_range r, int64_t from, int64_t count);

/* The tensor's part as a view; and the new axes alone. *out is rebound. */
tsr_status cut_view(tsr_tensor **out, const tsr_tensor *t, const cut *c);
tsr_status cut_add_axes(tsr_tensor **out, const cut *c);

#endif
