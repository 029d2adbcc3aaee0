/* cpu_run.h - op -> loop -> kernel, split over threads. */
#ifndef TSRI_CPU_RUN_H
#define TSRI_CPU_RUN_H

#include "core/status_int.h"
#include "tessera/backend.h"

tsr_status tsri_cpu_copy(const tsr_op *op);
/* Copies within one dtype (copy.c). whole: bytes of the result that dst is a part of, or 0. */
tsr_status tsri_cpu_copy_same(tsr_tensor *dst, const tsr_tensor *src, int64_t whole);
tsr_status tsri_cpu_fill(const tsr_op *op);

/* Should an op that reads and writes so many bytes use non-temporal stores (stream.c)? */
bool tsri_cpu_streams(int64_t bytes);

/* For tests: ops that touch so many bytes and more use them; 0: from the machine's own threshold on. */
void tsri_cpu_stream_from(int64_t bytes);

/* Bytes that stay in a core's own cache while other data is read once (caches.c). */
int64_t tsri_cpu_resident_bytes(void);

/* As tsri_host_entries.run_row (builtin.h). */
bool tsri_cpu_run_row(tsr_op_kind kind, const void *params, int64_t n, tsr_tensor *out, int nin,
                      const tsr_tensor *const *in);

/* Its reductions: sum, mean, largest or smallest of the n > 0 elements of x, which is packed, into out, which
 * has the dtype of x, one element and lies elsewhere. False: nothing was done. */
bool tsri_cpu_reduce_row(tsr_op_kind kind, int64_t n, tsr_tensor *out, const tsr_tensor *x);

/* Any op of the elementwise table. */
bool       tsri_cpu_has_elementwise(const tsr_op *op);
tsr_status tsri_cpu_elementwise(const tsr_op *op);

/* Reductions and scans (reduce_run.c). */
bool       tsri_cpu_has_reduce(const tsr_op *op);
tsr_status tsri_cpu_reduce(const tsr_op *op);
bool       tsri_cpu_has_scan(const tsr_op *op);
tsr_status tsri_cpu_scan(const tsr_op *op);

/* index.c, order.c */
tsr_status tsri_cpu_gather(const tsr_op *op);
tsr_status tsri_cpu_scatter(const tsr_op *op);
tsr_status tsri_cpu_sort(const tsr_op *op);
tsr_status tsri_cpu_searchsorted(const tsr_op *op);

#endif
