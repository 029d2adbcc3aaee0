/* nontemporal.c - which results are written with non-temporal stores.
 *
 * A non-temporal store does not read its line first, which saves a third to a half of the traffic.
 * But it leaves the result out of the caches. So it pays if the result would be evicted anyway: if an
 * op touches more than a core's share of the last level cache.
 *
 * Measured as copy or add and then a sum of the result, with a share of 24 MiB. If the op touches
 * 16 MiB, the pair is slower by a third to a half; at 24 MiB by up to a quarter (copy) or nothing (add);
 * at 30 MiB it is equal, and from 32 MiB on faster by a tenth. The op alone is 1.2 times as fast at
 * 16 MiB and twice at 32. */
#include "cpu_run.h"
#include "core/atomic.h"
#include "kernels.h"

#if defined(__linux__) && !defined(TSR_FREESTANDING)
#include <unistd.h>
#endif

/* A quarter more than a core's share of the last level, if the system says how large that is. */
static int64_t measure(const tsri_tuning *t)
{
#if defined(__linux__) && !defined(TSR_FREESTANDING) && defined(_SC_LEVEL3_CACHE_SIZE)
    const int64_t bytes = sysconf(_SC_LEVEL3_CACHE_SIZE), cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (bytes > 0 && cpus > 0) {
        const int64_t share = bytes / cpus * 5 / 4;
        return share < t->stream_least ? t->stream_least : share > t->stream_most ? t->stream_most : share;
    }
#endif
    return t->stream_usual;
}

static int64_t known;  /* the threshold, or 0 */

void tsri_cpu_stream_from(int64_t bytes)
{
    tsri_store_relaxed(&known, bytes);
}

bool tsri_cpu_streams(int64_t bytes)
{
    int64_t threshold = tsri_load_relaxed(&known);
    if (threshold == 0) {
        threshold = measure(tsri_tuning_get());
        tsri_store_relaxed(&known, threshold);
    }
    return bytes >= threshold;
}
