/* caches.c - how many bytes that are used again stay in a core's own cache. */
#include "cpu_run.h"
#include "core/atomic.h"
#include "kernels.h"

#if defined(__linux__) && !defined(TSR_FREESTANDING)
#include <unistd.h>
#endif

/* Two fifths of a core's own cache, if the system tells its size; the rest is for data that is read once. */
static int64_t measure(const tsri_tuning *t)
{
#if defined(__linux__) && !defined(TSR_FREESTANDING) && defined(_SC_LEVEL2_CACHE_SIZE)
    const int64_t bytes = sysconf(_SC_LEVEL2_CACHE_SIZE) / 5 * 2;
    if (bytes > 0)
        return bytes < t->resident_least ? t->resident_least
                                         : bytes > t->resident_most ? t->resident_most : bytes;
#endif
    return t->resident_usual;
}

int64_t tsri_cpu_resident_bytes(void)
{
    static int64_t known;
    int64_t bytes = tsri_load_relaxed(&known);
    if (bytes == 0) {
        bytes = measure(tsri_tuning_get());
        tsri_store_relaxed(&known, bytes);
    }
    return bytes;
}
