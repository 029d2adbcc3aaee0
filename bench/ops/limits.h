/* limits.h - what the machine itself can do, measured in the same run.
 *
 * Passes over memory move as many bytes as a workload does and as many streams: a copy
 * with plain stores; the same around the caches; a read. Peaks are loops of multiply-adds
 * whose operands stay in registers. All run on as many threads as limits_start() was told. */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H

#include "ops.h"

typedef enum limit { LIMIT_COPY, LIMIT_AROUND, LIMIT_READ, LIMITS } limit;

/* Starts `threads` - 1 threads that sleep until there is something to measure. */
void limits_start(int threads);
void limits_stop(void);

/* Seconds for one pass over as many bytes as `j` moves. LIMIT_COPY is memcpy, half of the bytes
 * read and half written; LIMIT_AROUND reads 1, 2 or 3 streams for one written, as the job does. */
double limit_seconds(const job *j, limit which);

/* Flops a second, the best of several tries; measured once. 0 where the instructions are missing. */
double limit_peak(peak which);

/* Nanoseconds for malloc and free of 64 bytes, and for a call of an empty function. */
double limit_malloc(void);
double limit_call(void);

#endif
