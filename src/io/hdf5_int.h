/* hdf5_int.h - an HDF5 file that is read: its blocks, objects, types, groups and chunks.
 *
 * A block holds the file offsets of others. Blocks are copied into memory of the library and parsed there.
 * All bytes that are read count against `work`, which is more than a file of this size needs: only blocks
 * that refer to each other in circles use it up, which is an error. */
#ifndef TSRI_HDF5_INT_H
#define TSRI_HDF5_INT_H

#include "io_int.h"

typedef struct tsri_hdf5_file {
    const tsr_file *f;
    uint64_t base;        /* byte 0 of its addresses */
    int offsets, lengths; /* bytes that an address and a length take */
    uint64_t work;        /* bytes that may still be read */
} tsri_hdf5_file;

#define TSRI_NOWHERE UINT64_MAX /* the address of what was never written */

/* Blocks -------------------------------------------------------------------------------- */

/* Bytes of the file in memory; `at` is how far they are taken. */
typedef struct tsri_hdf5_block {
    unsigned char *data;
    size_t bytes, at;
    uint64_t address;
    bool ended; /* more was taken than there is */
} tsri_hdf5_block;

/* From that address on; the block is given back by tsri_block_free. */
tsr_status tsri_block_load(tsri_hdf5_file *h, tsri_hdf5_block *out, uint64_t address, uint64_t bytes);
void tsri_block_free(tsri_hdf5_block *b);

/* The same for a block that begins with a magic number of four bytes, which is taken. */
tsr_status tsri_block_load_as(tsri_hdf5_file *h, tsri_hdf5_block *out, uint64_t address, uint64_t bytes,
                              const char *magic);

/* A number of n bytes, at most 8; 0 past the end. */
uint64_t tsri_block_take(tsri_hdf5_block *b, int n);
uint64_t tsri_block_address(const tsri_hdf5_file *h, tsri_hdf5_block *b);
uint64_t tsri_block_length(const tsri_hdf5_file *h, tsri_hdf5_block *b);
void tsri_block_skip(tsri_hdf5_block *b, uint64_t n);

/* The next n bytes as a block of their own, which is not freed. */
tsri_hdf5_block tsri_block_part(tsri_hdf5_block *b, uint64_t n);

/* Of the first block, and of headers of version 2. */
uint32_t tsri_hdf5_checksum(const unsigned char *p, size_t n);

/* Objects ------------------------------------------------------------------------------- */

typedef struct tsri_hdf5_type {
    tsr_dtype dtype;
    const char *encoding; /* the dtype, or what it is instead */
    bool swapped;
    uint32_t size;
} tsri_hdf5_type;

tsri_hdf5_type tsri_hdf5_type_of(tsri_hdf5_block *b);

typedef enum tsri_hdf5_layout {
    TSRI_COMPACT,
    TSRI_CONTIGUOUS,
    TSRI_CHUNKED,
    TSRI_ELSEWHERE
} tsri_hdf5_layout;

/* How chunks are found. */
typedef enum tsri_hdf5_index {
    TSRI_BY_TREE,
    TSRI_ONE_CHUNK,
    TSRI_IN_ORDER,
    TSRI_BY_ARRAY,
    TSRI_BY_GROWING_ARRAY,
    TSRI_BY_TREE_2
} tsri_hdf5_index;

/* LZF is h5py's. */
typedef enum tsri_hdf5_filter {
    TSRI_DEFLATE = 1,
    TSRI_SHUFFLE = 2,
    TSRI_FLETCHER = 3,
    TSRI_LZF = 32000
} tsri_hdf5_filter;
enum { TSRI_HDF5_FILTERS = 4, TSRI_HDF5_WIDEST = 16 }; /* each filter at most once */

/* What the messages of an object say. */
typedef struct tsri_hdf5_object {
    bool is_group, has_space, has_type, has_layout, has_data_elsewhere;
    uint64_t tree, heap;           /* a group: its table of names; TSRI_NOWHERE: none */
    uint64_t link_heap, link_tree; /* the same of a group of many, since version 1.8 */
    tsri_hdf5_type type;
    int ndim; /* -1: no elements at all, or too many dims */
    int64_t shape[TSR_MAX_NDIM];
    uint64_t most[TSR_MAX_NDIM]; /* what each dim may grow to; UINT64_MAX: without end */
    tsri_hdf5_layout layout;
    uint64_t address, bytes; /* of elements, or of the index of chunks */
    tsri_hdf5_index index;
    int chunk_ndim;
    uint64_t chunk[TSR_MAX_NDIM];
    uint64_t stored; /* of one chunk: its bytes in the file; 0: as it is */
    uint32_t mask;   /* of one chunk: filters that were left out */
    int filters;
    uint16_t filter[TSRI_HDF5_FILTERS];
    uint16_t other_filter; /* one that is not known here; 0: none */
    bool has_fill;
    unsigned char fill[TSRI_HDF5_WIDEST]; /* an element that was never written */
} tsri_hdf5_object;

tsr_status tsri_hdf5_read_object(tsri_hdf5_file *h, tsri_hdf5_object *out, uint64_t address);

/* Calls fn with each message of an object: its number, and what it holds. */
typedef tsr_status (*tsri_message_fn)(void *context, tsri_hdf5_file *h, unsigned type, bool shared,
                                      tsri_hdf5_block *b);
tsr_status tsri_hdf5_each_message(tsri_hdf5_file *h, uint64_t address, tsri_message_fn fn, void *context);

/* Calls fn with the name and the address of each object of a group. Links to names and to other files are
 * left out. */
typedef tsr_status (*tsri_link_fn)(void *context, const char *name, size_t length, uint64_t address);
tsr_status tsri_hdf5_each_link(tsri_hdf5_file *h, uint64_t address, const tsri_hdf5_object *group,
                               tsri_link_fn fn, void *context);

/* Calls fn with each record of a tree of version 2; `bytes` is how long one is. */
typedef tsr_status (*tsri_record_fn)(void *context, tsri_hdf5_file *h, tsri_hdf5_block *record);
tsr_status tsri_hdf5_each_record(tsri_hdf5_file *h, uint64_t address, tsri_record_fn fn, void *context);

/* Elements of a chunked dataset, as they are stored, into a packed tensor. */
tsr_status tsri_hdf5_read_chunks(tsri_hdf5_file *h, const tsri_hdf5_object *o, tsr_tensor *t);

#endif
