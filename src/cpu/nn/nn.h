/* nn.h - networks' ops on the CPU. */
#ifndef TSRI_CPU_NN_H
#define TSRI_CPU_NN_H

#include "core/status_int.h"
#include "tessera/backend.h"

tsr_status tsri_cpu_softmax(const tsr_op *op);        /* softmax.c: and log_softmax */
tsr_status tsri_cpu_causal_softmax(const tsr_op *op);
tsr_status tsri_cpu_layer_norm(const tsr_op *op);     /* norm.c: and rms_norm */
tsr_status tsri_cpu_add_rms_norm(const tsr_op *op);
tsr_status tsri_cpu_batch_norm(const tsr_op *op);
tsr_status tsri_cpu_group_norm(const tsr_op *op);
tsr_status tsri_cpu_rope(const tsr_op *op);           /* rope.c: and rope_with */
tsr_status tsri_cpu_dropout(const tsr_op *op);        /* dropout.c */
tsr_status tsri_cpu_class_loss(const tsr_op *op);     /* class_loss.c: cross_entropy, nll_loss */

#endif
