/* cpu_run.h - op -> loop -> kernel, split over threads. */
#ifndef TSRI_CPU_RUN_H
#define TSRI_CPU_RUN_H

#include "core/loop.h"
#include "core/status_int.h"
#include "tessera/backend.h"

tsr_status tsri_cpu_copy(const tsr_op *op);
/* Copies within one dtype (copy.c). whole: bytes of the result that dst is a part of, or 0. */
tsr_status tsri_cpu_copy_same(tsr_tensor *dst, const tsr_tensor *src, int64_t whole);
tsr_status tsri_cpu_fill(const tsr_op *op);

/* Should an op that reads and writes so many bytes use non-temporal stores (nontemporal.c)? */
bool tsri_cpu_streams(int64_t bytes);

/* For tests: ops that touch so many bytes and more use them; 0: from the machine's own threshold on. */
void tsri_cpu_stream_from(int64_t bytes);

/* Bytes that stay in a core's own cache while other data is read once (caches.c). */
int64_t tsri_cpu_resident_bytes(void);

/* As in tsri_host_entries (builtin.h). */
bool tsri_cpu_run_row(tsr_op_kind kind, const void *params, int64_t n, tsr_tensor *out, int nin,
                      const tsr_tensor *const *in);
bool tsri_cpu_reduce_row(tsr_op_kind kind, int64_t n, tsr_tensor *out, const tsr_tensor *x);
tsr_status tsri_cpu_run_converted(const tsr_op *op, const tsr_dtype *dtypes);

/* The kernel of an op of the elementwise table, NULL if it has none; and the op, done with it. */
tsri_tile_fn tsri_cpu_elementwise_kernel(const tsr_op *op);
tsr_status   tsri_cpu_elementwise(const tsr_op *op, tsri_tile_fn kernel);

/* Reductions and scans (reduce_run.c). */
tsr_status tsri_cpu_reduce(const tsr_op *op);
tsr_status tsri_cpu_scan(const tsr_op *op);

/* index.c, order.c */
tsr_status tsri_cpu_gather(const tsr_op *op);
tsr_status tsri_cpu_scatter(const tsr_op *op);
tsr_status tsri_cpu_sort(const tsr_op *op);
tsr_status tsri_cpu_searchsorted(const tsr_op *op);

#endif
