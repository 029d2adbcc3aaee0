/* tensor_int.h - binding tensors, and the checks every call makes of them. */
#ifndef TSRI_TENSOR_INT_H
#define TSRI_TENSOR_INT_H

#include "desc_int.h"
#include "storage.h"
#include "tessera/tensor.h"

/* Makes *out a tensor that looks at `data`, a place in `storage` (which may be
 * NULL) that the desc fits in; device, kind and read-only come from `like`. A
 * placed tensor, or one that only the caller holds, is written where it lies;
 * otherwise a new header is made and the old handle dropped. The storage gains
 * an owner. desc must not be *out's own. TSR_ENOMEM leaves *out as it was. */
tsr_status tsri_bind(tsr_tensor **out, const char *op, const tsr_desc *desc, tsr_storage *storage, void *data,
                     const tsr_tensor *like, uint32_t flags);

/* A new allocated tensor in *out, which is NULL or gets replaced. desc is valid. */
tsr_status tsri_make(tsr_tensor **out, const char *op, const tsr_desc *desc, tsr_device device, tsr_memory memory);

/* Allocates a described tensor, or does nothing. */
tsr_status tsri_ensure_memory(tsr_tensor *t, const char *op);

/* Not NULL, not "none". `what` is the argument's name. */
tsr_status tsri_check_tensor(const char *op, const char *what, const tsr_tensor *t);

/* And has memory. */
tsr_status tsri_check_allocated(const char *op, const char *what, const tsr_tensor *t);

/* And the host can reach it. */
tsr_status tsri_check_host(const char *op, const char *what, const tsr_tensor *t);

/* May be written: not read-only, and no two indices at one address. Allocates it
 * if it is only described. */
tsr_status tsri_check_writable(const char *op, const char *what, tsr_tensor *t);

/* An address for data that has no bytes. */
void *tsri_nowhere(void);

#endif
