/* guard.h - memory between pages that cannot be accessed. */
#ifndef TSR_OPCHECK_GUARD_H
#define TSR_OPCHECK_GUARD_H

#include "tessera/tessera.h"

/* A block that ends where a page that cannot be accessed begins (but for its alignment), or that begins
 * where one ends. NULL: no memory. Where the system has no such pages the memory is ordinary. */
void *guard_alloc(size_t bytes, size_t alignment, bool at_end);
void  guard_free(void *data, size_t bytes);

/* A tensor in such memory, in a block of exactly the bytes that desc reaches. */
tsr_status make_guarded(tsr_tensor **out, const tsr_desc *desc, bool at_end);

/* Everything the library allocates lies in such memory from now on, alternately at the end and at the
 * beginning of its pages. TSR_EBUSY while tensors live. false restores the default. */
tsr_status guard_library(bool on);

/* Faults seen when blocks were freed: bytes written beside a block where no page could watch them (alignment
 * moves it away from the end of a page), and sizes other than those asked for. */
int64_t guard_faults(void);

#endif
