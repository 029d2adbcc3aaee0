/* rows_run.h - lanes of tensors, whatever their strides, as rows for kernels. */
#ifndef TSRI_NN_ROWS_RUN_H
#define TSRI_NN_ROWS_RUN_H

#include "cpu/kernels.h"

typedef struct tsri_rows tsri_rows;

/* One lane: row[o] is operand o's, packed, in the type that is computed in; results are
 * written there, the last one as w asks, and result o may be in place of input o.
 * beside[i] points at the element of operand nout + nin + i that belongs to the lane. */
typedef void (*tsri_row_fn)(const tsri_rows *r, void *const *row, char *const *beside,
                            const tsri_row_options *w);

/* `width` lanes of an input, as columns of a tile: number i of all of them is at tile + i * pitch. The
 * result, if there is one, is written in place. beside[i] is the first lane's, others follow
 * by step[i] bytes. */
typedef void (*tsri_side_fn)(const tsri_rows *r, void *tile, int64_t pitch, int64_t width,
                             char *const *beside, const int64_t *step);

/* A call that works lane by lane. Operands are nout results, then nin inputs, all of one
 * floating dtype and one length along the axis, then nbeside others; at most
 * TSRI_MAX_OPERANDS. */
struct tsri_rows {
    const char   *op;
    tsri_row_fn   fn;
    tsri_side_fn  side;                     /* of one input, and one result or none; may be NULL */
    bool          is_softmax, is_log;       /* `side` is softmax's, or log_softmax's */
    const void   *params;
    int           nout, nin, nbeside;
    int           axis;

    /* Filled in by tsri_rows_run. */
    int64_t       n;                        /* elements of a lane */
    const tsri_nn_kernels *k;
    int64_t       wide;                     /* bytes of a number in a row */
    int64_t       pitch;                    /* bytes from row to row in scratch memory */
    tsri_tile_fn   copy;                    /* of elements that need no conversion */
    tsri_widen_fn  widen;
    tsri_narrow_fn narrow;
    int64_t       size;                     /* bytes of an element */
    int64_t       step[TSRI_MAX_OPERANDS];  /* bytes along the axis */
    bool          direct[TSRI_MAX_OPERANDS]; /* lanes are used as rows without a copy */
    bool          stream;                   /* the last result is written with non-temporal stores */
    bool          fetch;                    /* the next row is prefetched */
    bool          beside_each_other;        /* lanes go through `side` */
    bool          in_parts;                 /* or, if they are long, through take_side and give_side */
    int64_t       block;                    /* lanes that are taken together */
    size_t        scratch;                  /* bytes for them; 0: none */
    int32_t      *no_room;                  /* set to 1 where there was no scratch */
};

/* Operands have one rank; dims other than the axis are equal. The strides of the others along the axis
 * do not matter. The result may be exactly an input. The lead operand is the
 * first. TSR_ENOMEM. */
tsr_status tsri_rows_run(tsri_rows *r, const tsr_tensor *const *operands);

/* The kernels for rows of a dtype, and the dtype of their numbers. */
const tsri_nn_kernels *tsri_row_kernels(tsr_dtype dtype);
static inline tsr_dtype tsri_row_dtype(tsr_dtype dtype) { return dtype == TSR_F64 ? TSR_F64 : TSR_F32; }

/* A view of a call's own memory with this shape; packed if strides is NULL. */
void tsri_view_memory(tsr_tensor *v, void *data, tsr_dtype dtype, int ndim, const int64_t *shape,
                     const int64_t *strides);

/* t's elements in row-major order, converted, into packed memory. */
tsr_status tsri_unpack(void *to, tsr_dtype dtype, const tsr_tensor *t);

#endif
