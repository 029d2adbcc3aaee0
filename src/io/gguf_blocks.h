/* gguf_blocks.h - the encodings of gguf: elements and bytes of a block, and the function that encodes f32. */
#ifndef TSRI_GGUF_BLOCKS_H
#define TSRI_GGUF_BLOCKS_H

#include "core/status_int.h"

typedef struct tsri_gguf_type {
    const char *name;
    uint32_t    number;
    tsr_dtype   dtype;     /* of plain elements; else TSR_DTYPE_INVALID */
    int32_t     elements;  /* of a block */
    int32_t     bytes;
    int32_t     kind;      /* of blocks that are read: a tsr_block_kind; else -1 */
    /* Elements to n blocks; NULL where that is not done here. */
    void      (*encode)(unsigned char *dst, const float *src, int64_t n);
} tsri_gguf_type;

/* NULL if there is none. Names are compared without regard to case. */
const tsri_gguf_type *tsri_gguf_type_numbered(uint32_t number);
const tsri_gguf_type *tsri_gguf_type_named(const char *name);
const tsri_gguf_type *tsri_gguf_type_of(tsr_dtype dtype);

#endif
