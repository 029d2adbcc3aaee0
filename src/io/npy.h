/* npy.h - the header of NumPy's format, which npy and npz share. */
#ifndef TSRI_NPY_H
#define TSRI_NPY_H

#include "io_int.h"

enum {
    TSRI_NPY_FIXED = 12,         /* bytes that tell how long the header is */
    TSRI_NPY_HEADER = 1 << 20,   /* bytes a header may have; real ones have a hundred */
    TSRI_NPY_DESCR = 24,
    TSRI_NPY_WRITTEN = 512       /* room for a header of ours */
};

typedef struct tsri_npy_header {
    tsr_dtype dtype;             /* TSR_DTYPE_INVALID: none here */
    size_t    element;           /* bytes; 0 if only the data tells */
    bool      swapped, column_major;
    int       ndim;
    int64_t   shape[TSR_MAX_NDIM];
    char      descr[TSRI_NPY_DESCR];
} tsri_npy_header;

/* Where the data begins, from the first TSRI_NPY_FIXED bytes (fewer, if there are no more). */
tsr_status tsri_npy_data_start(size_t *out, const tsr_file *f, const char *name, const unsigned char *head,
                               size_t n);

/* The header, from the first `start` bytes, where tsri_npy_data_start said so. */
tsr_status tsri_npy_parse(tsri_npy_header *out, const tsr_file *f, const char *name,
                          const unsigned char *head, size_t start);

/* Adds the tensor of a header, whose data lies at `offset` with `room` bytes to the end. */
tsr_status tsri_npy_add(tsri_entry **out, tsr_file *f, const char *name, const tsri_npy_header *h,
                        uint64_t offset, uint64_t room);

/* Has npy this dtype? TSR_EDTYPE. */
tsr_status tsri_npy_check(const char *path, tsr_dtype dtype);

/* The header for a packed row-major tensor of a dtype that npy has; its length, a multiple of 64. */
size_t tsri_npy_write(unsigned char out[TSRI_NPY_WRITTEN], const tsr_desc *d);

#endif
