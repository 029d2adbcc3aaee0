/* transfer.h - elements from one device to another. */
#ifndef TSRI_TRANSFER_H
#define TSRI_TRANSFER_H

#include "core/tensor_int.h"

/* dst = src, of one shape, on two devices, of any strides and dtypes. Rearranging and converting
 * are done on the side that is faster at it: the device that is not the CPU; elements are transferred
 * packed, in the shorter of the two dtypes. On return the host's memory has been read or written,
 * but with `async`, pinned memory may still be in use by the stream. */
tsr_status tsri_transfer(tsr_tensor *dst, const tsr_tensor *src, bool async);

/* One element of a tensor that is not here, `offset` bytes from its first. */
tsr_status tsri_element_read(void *out, const tsr_tensor *t, int64_t offset);
tsr_status tsri_element_write(tsr_tensor *t, int64_t offset, const void *value);

/* A packed copy on the host of a tensor on another device, with t's order of dims. */
tsr_status tsri_packed_here(tsr_tensor **out, const tsr_tensor *t);

#endif
