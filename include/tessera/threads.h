/* threads.h - how many threads, and whose.
 *
 * Long loops are split over a pool that starts when it is first needed. It has
 * as many threads as the process may use: the affinity mask, bounded by the
 * container's CPU quota. TSR_THREADS in the environment names another number, and
 * tsr_set_threads() overrules both. A call made inside a parallel loop runs on
 * its own thread only (nothing nests), and so does one that finds the pool taken
 * by another thread's loop. After fork() the child starts a pool of its own when
 * it needs one. A build with TSR_NO_THREADS has the same calls and one thread.
 */
#ifndef TESSERA_THREADS_H
#define TESSERA_THREADS_H

#include "status.h"

TSR_BEGIN_C

/* One part of a loop: indices begin .. end - 1. A failure ends the loop early. */
typedef tsr_status (*tsr_range_fn)(void *context, int64_t begin, int64_t end);

/* Run fn over 0 .. n - 1 in parts of at least `grain` indices, on the pool or
 * on the replacement below, and wait. If parts fail, the failure of the lowest
 * part that ran and failed is returned, with its message. Which thread runs which
 * part is not defined; the parts do not depend on it: they are the same for a
 * given n, grain and thread count, and no more than a few per thread. grain < 1
 * counts as 1. A loop of one part is a plain call: loops inside it may be split.
 *
 * A part may fork(), if the child does not return from it.
 *
 * TSR_ENULL    fn is NULL
 * TSR_EINVAL   n is negative
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_parallel_for(int64_t n, int64_t grain, tsr_range_fn fn, void *context);

/* 0 restores the default, which is determined again. Waits for a loop that is running
 * on the pool.
 *
 * TSR_EINVAL   negative, or more than 4096
 * TSR_EBUSY    called inside a parallel loop
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_set_threads(int threads);
TSR_API int tsr_threads(void);

/* What the process may use now: affinity and quota. Reads files: not for loops. */
TSR_API int tsr_available_threads(void);

/* A replacement for the pool: run body(context, i) for i in 0 .. parts - 1, in
 * any order, on any threads, and return when all are done. NULL restores the
 * pool. Set it while no loop runs. Loops are cut for tsr_threads() threads all the
 * same; one of a single part does not reach the executor. */
typedef void (*tsr_part_fn)(void *context, int part);
typedef void (*tsr_executor)(void *executor_context, int parts, tsr_part_fn body, void *context);
TSR_API void tsr_set_executor(tsr_executor executor, void *executor_context);

/* Stop the pool's threads and join them. The next loop starts them again. Waits
 * for a loop that is running; inside a parallel loop it does nothing. */
TSR_API void tsr_threads_shutdown(void);

TSR_END_C

#endif
