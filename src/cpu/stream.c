/* stream.c - which results are written around the caches.
 *
 * A store that does not read its line first saves a third to a half of the traffic, but
 * leaves nothing in the cache for whoever reads the result next. So it pays where what
 * an op touches would push the result out anyway: beyond the last level's share of a core.
 *
 * Measured as copy or add and then a sum of the result, with a share of 24 MiB: where the op touches
 * 16 MiB the pair loses a third to a half by it, at 24 MiB up to a quarter (copy) or nothing (add), at 30 MiB
 * nothing, and from 32 MiB on it wins a tenth; the op alone wins 1.2 times at 16 MiB and twice at 32. */
#include "cpu_run.h"
#include "core/atomic.h"

enum { LEAST = 8 << 20, USUAL = 32 << 20, MOST = 64 << 20 };

#if defined(__linux__) && !defined(TSR_FREESTANDING)
#include <unistd.h>
#endif

/* A quarter more than a core's share of the last level, if the system says how large that is. */
static int64_t measure(void)
{
#if defined(__linux__) && !defined(TSR_FREESTANDING) && defined(_SC_LEVEL3_CACHE_SIZE)
    const int64_t bytes = sysconf(_SC_LEVEL3_CACHE_SIZE), cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (bytes > 0 && cpus > 0) {
        const int64_t share = bytes / cpus * 5 / 4;
        return share < LEAST ? LEAST : share > MOST ? MOST : share;
    }
#endif
    return USUAL;
}

static int64_t least = LEAST; /* what touches fewer bytes is not looked at further */
static int64_t known;         /* the threshold, or 0 */

void tsri_cpu_stream_from(int64_t bytes)
{
    tsri_store_relaxed(&known, bytes);
    tsri_store_relaxed(&least, bytes > 0 ? bytes : LEAST);
}

bool tsri_cpu_streams(int64_t bytes)
{
    if (bytes < tsri_load_relaxed(&least)) return false;
    int64_t threshold = tsri_load_relaxed(&known);
    if (threshold == 0) {
        threshold = measure();
        tsri_store_relaxed(&known, threshold);
    }
    return bytes >= threshold;
}
