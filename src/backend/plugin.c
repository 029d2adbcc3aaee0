/* plugin.c - backends in shared objects: found by name on the search path, loaded once. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE 1  /* dladdr */
#endif
#include "registry.h"
#include "core/atomic.h"
#include "core/format.h"
#include "core/lock.h"
#include "core/mem.h"

#if !defined(TSR_NO_LIBRARIES) && defined(__STDC_HOSTED__) && __STDC_HOSTED__ && \
    (defined(__unix__) || defined(__APPLE__))
#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>

enum { PATH_TEXT = 1024, PROBLEM_TEXT = 512, MAX_PROBLEMS = 32 };

#define PREFIX "libtessera-"
#if defined(__APPLE__)
#define SUFFIX ".dylib"
#else
#define SUFFIX ".so"
#endif

static tsri_mutex lock = TSRI_MUTEX_INIT;

/* What went wrong, one text for each file; written once, read without the lock. */
static struct problem {
    char file[PATH_TEXT];
    char text[PROBLEM_TEXT];
} problems[MAX_PROBLEMS];
static int32_t nproblems;

static bool is_known(const char *file)
{
    for (int i = 0; i < nproblems; i++)
        if (tsri_streq(problems[i].file, file)) return true;
    return false;
}

/* With the lock held. A file's first problem stays. */
static void keep_problem(const char *file, const char *text)
{
    if (is_known(file) || nproblems == MAX_PROBLEMS) return;
    struct problem *p = &problems[nproblems];
    tsri_text f = tsri_text_into(p->file, sizeof p->file), t = tsri_text_into(p->text, sizeof p->text);
    tsri_put(&f, "%s", file);
    tsri_put(&t, "%s", text);
    tsri_store_release(&nproblems, nproblems + 1);
}

const char *tsr_backend_problem(int index)
{
    return index >= 0 && index < tsri_load_acquire(&nproblems) ? problems[index].text : NULL;
}

/* The file of a path: what is behind its last slash. */
static const char *file_of(const char *path)
{
    const char *file = path;
    for (; *path; path++)
        if (*path == '/') file = path + 1;
    return file;
}

/* Is this the file of a plugin; of the one with this name, unless that is NULL? */
static bool is_plugin(const char *file, const char *name, size_t length)
{
    const size_t n = tsri_strlen(file), fixed = sizeof PREFIX SUFFIX - 1;
    if (n <= fixed || memcmp(file, PREFIX, sizeof PREFIX - 1) != 0) return false;
    if (memcmp(file + n - (sizeof SUFFIX - 1), SUFFIX, sizeof SUFFIX - 1) != 0) return false;
    return !name || (n - fixed == length && memcmp(file + sizeof PREFIX - 1, name, length) == 0);
}

const char *tsri_plugin_problem_of(const char *name, size_t length)
{
    for (int i = 0; i < tsri_load_acquire(&nproblems); i++)
        if (is_plugin(file_of(problems[i].file), name, length)) return problems[i].text;
    return NULL;
}

static tsr_backend_entry_fn entry_of(void *library)
{
    tsr_backend_entry_fn entry = NULL;
    void *address = dlsym(library, TSR_BACKEND_ENTRY);
    memcpy(&entry, &address, sizeof entry); /* ISO C has no cast from data to code */
    return entry;
}

/* A library whose backend was not taken is closed again. */
static tsr_status take_from(void *library, const char *path)
{
    const tsr_backend_entry_fn entry = entry_of(library);
    TSRI_CHECK(entry, TSR_EIO, "backend_load: %s has no " TSR_BACKEND_ENTRY, path);
    const uint32_t failures = tsri_failures();
    const tsr_backend *backend = entry(tsr_backend_host());
    if (!backend && tsri_failures() != failures) return tsr_last_status();
    TSRI_CHECK(backend, TSR_EUNSUPPORTED, "backend_load: %s has no backend for this machine", path);
    return tsri_backend_add(backend, path);
}

static tsr_status load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        return tsri_fail(TSR_EIO, "backend_load: %s", why ? why : path);
    }
    const tsr_status s = take_from(library, path);
    if (s != TSR_OK) (void)dlclose(library);
    return s;
}

tsr_status tsr_backend_load(const char *path)
{
    TSRI_CHECK(path, TSR_ENULL, "backend_load: path is NULL");
    tsri_lock(&lock);
    const tsr_status s = load(path);
    if (s != TSR_OK) keep_problem(path, tsr_last_error());
    tsri_unlock(&lock);
    return s;
}

/* The search path --------------------------------------------------------------------- */

static bool has_backend(const char *file)
{
    const char *name = file + sizeof PREFIX - 1;
    const size_t length = tsri_strlen(file) - (sizeof PREFIX SUFFIX - 1);
    for (int slot = 0; tsri_backend_at(slot); slot++) {
        const char *there = tsri_backend_at(slot)->name;
        if (tsri_strlen(there) == length && memcmp(there, name, length) == 0) return true;
    }
    return false;
}

/* Loads the plugins of a folder; the thread's last error is as before. */
static void load_folder(const char *folder, const char *name, size_t length)
{
    DIR *d = opendir(folder);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[PATH_TEXT];
        if (!is_plugin(e->d_name, name, length) || has_backend(e->d_name)) continue;
        tsri_text text = tsri_text_into(path, sizeof path);
        tsri_put(&text, "%s/%s", folder, e->d_name);
        if (text.length >= sizeof path || is_known(path)) continue;
        if (load(path) != TSR_OK) keep_problem(path, tsr_last_error());
    }
    (void)closedir(d);
}

/* tessera/ beside the file that this code is in. */
static bool own_folder(char *out, size_t size)
{
    Dl_info info;
    tsri_text text = tsri_text_into(out, size);
    if (!dladdr((const void *)problems, &info) || !info.dli_fname) return false;
    const size_t n = (size_t)(file_of(info.dli_fname) - info.dli_fname);
    tsri_put(&text, "%.*s%stessera", (int)n, info.dli_fname, n ? "" : "./");
    return text.length < size;
}

void tsri_plugins_find(const char *name, size_t length)
{
    char folder[PATH_TEXT];
    tsri_lock(&lock);
    const char *path = getenv("TSR_BACKEND_PATH");
    while (path && *path) {
        size_t n = 0;
        while (path[n] && path[n] != ':') n++;
        if (n > 0 && n < sizeof folder) {
            memcpy(folder, path, n);
            folder[n] = '\0';
            load_folder(folder, name, length);
        }
        path += n + (path[n] == ':');
    }
    if (own_folder(folder, sizeof folder)) load_folder(folder, name, length);
    tsri_unlock(&lock);
}

#else

tsr_status tsr_backend_load(const char *path)
{
    TSRI_CHECK(path, TSR_ENULL, "backend_load: path is NULL");
    return tsri_fail(TSR_EUNSUPPORTED, "backend_load: %s: this build loads no shared objects", path);
}

const char *tsr_backend_problem(int index) { return (void)index, NULL; }
const char *tsri_plugin_problem_of(const char *name, size_t length) { return (void)name, (void)length, NULL; }
void tsri_plugins_find(const char *name, size_t length) { (void)name, (void)length; }

#endif
