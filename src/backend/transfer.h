/* transfer.h - elements from one device to another. */
#ifndef TSRI_TRANSFER_H
#define TSRI_TRANSFER_H

#include "core/tensor_int.h"

/* dst = src, of one shape, on two devices, of any strides and dtypes. Rearranging and converting
 * are done on the side that is faster at it: the device that is not the CPU; bytes travel
 * packed, in the shorter of the two dtypes. When it returns the host's memory is the
 * caller's again, read or written; `async` leaves pinned memory to the stream. */
tsr_status tsri_transfer(tsr_tensor *dst, const tsr_tensor *src, bool async);

#endif
