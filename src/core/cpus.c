/* cpus.c - how many threads the process may use.
 *
 * The affinity mask counts the CPUs; a control group may grant less time than
 * they have. A limit applies to all groups below it, so the limits of each group from
 * the process's own up to the root are read. Inside a container the path in
 * /proc/self/cgroup may be the host's, and does not exist; the root of the mount
 * is then the container's own group, and is read as well.
 *
 * LIMIT: looks for control groups where every current distribution mounts them.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif

#include "threads_int.h"
#include "text.h"
#include "mem.h"

enum { PATH_TEXT = 1024 };

/* ---- text ---- */

/* A run of digits after blanks; false if there is none, or more than 18. */
static bool take_number(const char **text, int64_t *out)
{
    const char *s = *text;
    int digits = 0;
    *out = 0;
    while (*s == ' ' || *s == '\t') s++;
    for (; *s >= '0' && *s <= '9'; s++, digits++) {
        if (digits == 18) return false;
        *out = *out * 10 + (*s - '0');
    }
    *text = s;
    return digits > 0;
}

static bool at_end(const char *s)
{
    while (*s == ' ' || *s == '\t' || *s == '\n') s++;
    return *s == '\0';
}

static int at_most(int64_t n, int64_t limit) { return (int)(n < limit ? n : limit); }

int tsri_threads_wish(const char *text)
{
    int64_t n;
    if (!text || !take_number(&text, &n) || !at_end(text)) return 0;
    return at_most(n, TSRI_MAX_THREADS);
}

static int whole_cpus(int64_t quota, int64_t period)
{
    if (quota <= 0 || period <= 0) return 0;
    return at_most((quota + period - 1) / period, TSRI_MAX_THREADS);
}

int tsri_quota_v2(const char *cpu_max)
{
    int64_t quota, period;
    if (!take_number(&cpu_max, &quota)) return 0; /* "max", or nothing we know */
    if (!take_number(&cpu_max, &period) || !at_end(cpu_max)) return 0;
    return whole_cpus(quota, period);
}

int tsri_quota_v1(const char *cfs_quota, const char *cfs_period)
{
    int64_t quota, period;
    if (!take_number(&cfs_quota, &quota) || !at_end(cfs_quota)) return 0; /* "-1" */
    if (!take_number(&cfs_period, &period) || !at_end(cfs_period)) return 0;
    return whole_cpus(quota, period);
}

static const char *line_end(const char *s)
{
    while (*s && *s != '\n') s++;
    return s;
}

static const char *next_colon(const char *s, const char *end)
{
    while (s < end && *s != ':') s++;
    return s;
}

/* Is the word one of the list's, which commas part? "" is only in an empty list. */
static bool list_has(const char *list, const char *end, const char *word)
{
    const size_t length = tsri_strlen(word);
    for (;;) {
        const char *comma = list;
        while (comma < end && *comma != ',') comma++;
        if ((size_t)(comma - list) == length && memcmp(list, word, length) == 0) return true;
        if (comma == end) return false;
        list = comma + 1;
    }
}

/* Lines are number:controllers:path; the path itself may contain colons. */
bool tsri_cgroup_path(char *out, size_t size, const char *text, const char *controller)
{
    for (const char *line = text; *line;) {
        const char *end = line_end(line);
        const char *list = next_colon(line, end);
        if (list < end) list++;
        const char *path = next_colon(list, end);
        if (path < end && path[1] == '/' && list_has(list, path, controller)) {
            tsri_text copy = tsri_text_into(out, size);
            tsri_put_chars(&copy, path + 1, (size_t)(end - path - 1));
            return copy.length < size;
        }
        line = *end ? end + 1 : end;
    }
    return false;
}

/* ---- the system ---- */

#ifdef TSR_NO_THREADS

int tsri_cgroup_limit(const char *root, const char *text) { (void)root; (void)text; return 0; }
int tsr_available_threads(void) { return 1; }

#else

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

/* As much of the file as fits; "" if it cannot be read. */
static const char *read_text(char *out, size_t size, const char *dir, const char *name)
{
    char path[PATH_TEXT];
    size_t length = 0;
    tsri_text text = tsri_text_into(path, sizeof path);
    tsri_put(&text, "%s/%s", dir, name);
    out[0] = '\0';
    if (text.length >= sizeof path) return out;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return out;
    while (length + 1 < size) {
        const ssize_t got = read(file, out + length, size - 1 - length);
        if (got <= 0) break;
        length += (size_t)got;
    }
    (void)close(file);
    out[length] = '\0';
    return out;
}

static int limit_v2(const char *dir)
{
    char max[64];
    return tsri_quota_v2(read_text(max, sizeof max, dir, "cpu.max"));
}

static int limit_v1(const char *dir)
{
    char quota[32], period[32];
    return tsri_quota_v1(read_text(quota, sizeof quota, dir, "cpu.cfs_quota_us"),
                         read_text(period, sizeof period, dir, "cpu.cfs_period_us"));
}

/* The smaller limit, where 0 is none. */
static int tighter(int a, int b) { return a == 0 || (b != 0 && b < a) ? b : a; }

static bool leaves_root(const char *path)
{
    for (; *path; path++)
        if (path[0] == '/' && path[1] == '.' && path[2] == '.') return true;
    return false;
}

/* The tightest limit from root/mount/path up to root/mount. */
static int limit_along(const char *root, const char *mount, const char *path,
                       int (*limit_of)(const char *dir))
{
    char dir[PATH_TEXT];
    int limit = 0;
    tsri_text text = tsri_text_into(dir, sizeof dir);
    tsri_put(&text, "%s%s", root, mount);
    const size_t top = text.length;
    /* A group outside the process's namespace shows as "/../..": nothing to walk. */
    if (!leaves_root(path)) tsri_put(&text, "%s", path);
    if (text.length >= sizeof dir) return 0;
    for (size_t end = text.length;; end--) {
        if (end > top && dir[end] != '/' && dir[end] != '\0') continue;
        dir[end] = '\0';
        limit = tighter(limit, limit_of(dir));
        if (end == top) return limit;
    }
}

int tsri_cgroup_limit(const char *root, const char *text)
{
    char path[PATH_TEXT];
    int limit = 0;
    if (tsri_cgroup_path(path, sizeof path, text, ""))
        limit = tighter(limit, limit_along(root, "", path, limit_v2));
    if (tsri_cgroup_path(path, sizeof path, text, "cpu")) {
        limit = tighter(limit, limit_along(root, "/cpu", path, limit_v1));
        limit = tighter(limit, limit_along(root, "/cpu,cpuacct", path, limit_v1));
    }
    return limit;
}

/* CPUs in the affinity mask of the calling thread, which its threads inherit. */
static int affinity_count(void)
{
#ifdef __linux__
    unsigned long mask[256]; /* 16384 CPUs; the kernel refuses a mask shorter than its own */
    int count = 0;
    memset(mask, 0, sizeof mask);
    if (sched_getaffinity(0, sizeof mask, (cpu_set_t *)(void *)mask) == 0)
        for (size_t i = 0; i < sizeof mask / sizeof *mask; i++) count += __builtin_popcountl(mask[i]);
    if (count > 0) return count;
#endif
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? at_most(online, TSRI_MAX_THREADS) : 1;
}

int tsr_available_threads(void)
{
    char groups[8192];
    (void)read_text(groups, sizeof groups, "/proc/self", "cgroup");
    const int limit = tsri_cgroup_limit("/sys/fs/cgroup", groups);
    return tighter(at_most(affinity_count(), TSRI_MAX_THREADS), limit);
}

#endif
