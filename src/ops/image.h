/* image.h - the rules and parts of resizing and of sampling grids (image.c, grid.c). */
#ifndef TSRI_IMAGE_H
#define TSRI_IMAGE_H

#include "dispatch.h"

tsr_status tsri_infer_resize(tsr_desc *out, const char *name, tsr_op_kind kind, const tsr_desc *const *in,
                             const void *params);
tsr_status tsri_resize_parts(const tsr_op *op);
double     tsri_resize_work(const tsr_desc *const *in, const tsr_desc *out, const void *params);

tsr_status tsri_infer_grid_sample(tsr_desc *out, const char *name, tsr_op_kind kind,
                                  const tsr_desc *const *in, const void *params);
tsr_status tsri_grid_sample_parts(const tsr_op *op);  /* grid.c */

#endif
