/* stream.c - which results are written around the caches.
 *
 * A store that does not read its line first saves a third to a half of the traffic, but
 * leaves nothing in the cache for whoever reads the result next. So it pays where what
 * an op touches would push the result out anyway: beyond the last level's share of a core. */
#include "cpu_run.h"
#include "core/atomic.h"

enum { LEAST = 8 << 20, USUAL = 32 << 20, MOST = 64 << 20 };

#if defined(__linux__) && !defined(TSR_FREESTANDING)
#include <unistd.h>
#endif

/* Half as much again as a core's share of the last level, if the system says how large that is. */
static int64_t measure(void)
{
#if defined(__linux__) && !defined(TSR_FREESTANDING) && defined(_SC_LEVEL3_CACHE_SIZE)
    const int64_t bytes = sysconf(_SC_LEVEL3_CACHE_SIZE), cpus = sysconf(_SC_NPROCESSORS_ONLN);
    if (bytes > 0 && cpus > 0) {
        const int64_t share = bytes / cpus * 3 / 2;
        return share < LEAST ? LEAST : share > MOST ? MOST : share;
    }
#endif
    return USUAL;
}

bool tsri_cpu_streams(int64_t bytes)
{
    static int64_t known;
    if (bytes < LEAST) return false;
    int64_t threshold = tsri_load_relaxed(&known);
    if (threshold == 0) {
        threshold = measure();
        tsri_store_relaxed(&known, threshold);
    }
    return bytes >= threshold;
}
