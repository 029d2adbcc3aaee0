/* overlap.h - may two views touch the same bytes?
 *
 * tsr_desc_self_overlaps, tsr_self_overlaps and tsr_may_overlap are public; this
 * is the form for code that holds an address and a desc.
 */
#ifndef TSRI_OVERLAP_H
#define TSRI_OVERLAP_H

#include "status_int.h"

/* Is there a byte that an element of each touches? data is element (0, ..., 0).
 * The dtypes may differ in size. A desc without elements, or an invalid one,
 * touches nothing. Exact, except that a search of more than
 * TSRI_OVERLAP_BUDGET steps gives true. */
bool tsri_overlap(const void *data_a, const tsr_desc *a, const void *data_b, const tsr_desc *b);

/* A step tries one index of one dim: some 20 ns on a large machine, so a search
 * that gives up has taken about a millisecond. Views made by slicing, permuting
 * and flipping take fewer steps than they have dims; only strides that share no
 * factor, in three dims and more, can take long. */
enum { TSRI_OVERLAP_BUDGET = 1 << 16 };

#endif
