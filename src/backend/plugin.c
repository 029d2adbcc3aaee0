/* plugin.c - backends in shared objects: found by name on the search path, loaded once.
 *
 * A plugin is code that runs with all the rights of the program. So folders are absolute, and neither they
 * nor the files may be such that anyone can write them. The folder beside the library is searched without
 * being named by anyone, so it must belong to root, to the user, or to the owner of the library. (A program
 * in /tmp would else run what another user put into /tmp/tessera.) Parent folders are not checked: whoever
 * may rename those may replace the program too. An elevated program looks for no plugins at all: drivers that
 * plugins open read variables of their own.
 */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE 1  /* dladdr */
#endif
#include "registry.h"
#include "core/atomic.h"
#include "core/env.h"
#include "core/text.h"
#include "core/lock.h"
#include "core/log.h"
#include "core/mem.h"

#if !defined(TSR_NO_LIBRARIES) && defined(__STDC_HOSTED__) && __STDC_HOSTED__ && \
    (defined(__unix__) || defined(__APPLE__))
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_TEXT = 1024, PROBLEM_TEXT = 512, MAX_PROBLEMS = 32 };

#define PREFIX "libtessera-"
#if defined(__APPLE__)
#define SUFFIX ".dylib"
#else
#define SUFFIX ".so"
#endif

static tsri_mutex lock = TSRI_MUTEX_INIT;

/* What went wrong with each file. A text is written once, and read without the lock. */
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

/* Keeps the first problem of a file. With the lock held. */
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

/* The name of the file at a path: what follows the last slash. */
static const char *file_of(const char *path)
{
    const char *file = path;
    for (; *path; path++)
        if (*path == '/') file = path + 1;
    return file;
}

static bool is_name(const char *text, const char *name, size_t length)
{
    return tsri_strlen(text) == length && memcmp(text, name, length) == 0;
}

/* Is this the name of a plugin's file, and, unless `name` is NULL, of the plugin of that name? */
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

/* libtessera-NAME.so is where the backend called NAME is. A file with a name of another sort may hold any. */
static tsr_status check_name(const tsr_backend *backend, const char *path)
{
    const char *file = file_of(path), *name = file + sizeof PREFIX - 1;
    if (!is_plugin(file, NULL, 0)) return TSR_OK;
    TSRI_TRY(tsri_backend_check(backend, path));
    TSRI_CHECK(is_name(backend->name, name, tsri_strlen(file) - (sizeof PREFIX SUFFIX - 1)), TSR_EINVAL,
               "backend_load: %s: the backend is called %s, and not as its file", path, backend->name);
    return TSR_OK;
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
    TSRI_TRY(check_name(backend, path));
    return tsri_backend_add(backend, path);
}

static tsr_status load(const char *path)
{
    TSRI_CHECK(path[0] == '/' || !tsri_is_elevated(), TSR_EINVAL,
               "backend_load: %s: an elevated program loads plugins by absolute paths", path);
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
    for (int slot = 0; tsri_backend_at(slot); slot++)
        if (is_name(tsri_backend_at(slot)->name, name, length)) return true;
    return false;
}

/* With the lock held. Keeps a problem, and says so once in the log. */
static void refuse(const char *path, const char *why)
{
    char line[PROBLEM_TEXT];
    if (is_known(path)) return;
    tsri_text text = tsri_text_into(line, sizeof line);
    tsri_put(&text, "plugins: %s: %s", path, why);
    keep_problem(path, line);
    tsri_log(TSR_LOG_WARNING, line);
}

/* Does it exist, and may not everybody write it? */
static bool is_guarded(const char *path, struct stat *st)
{
    if (stat(path, st) != 0) return false;
    if ((st->st_mode & S_IWOTH) == 0) return true;
    refuse(path, "is left out: anyone may write it (chmod o-w)");
    return false;
}

static void load_file(const char *path)
{
    struct stat st;
    if (is_known(path) || !is_guarded(path, &st)) return;
    if (load(path) != TSR_OK) keep_problem(path, tsr_last_error());
}

/* Loads the plugins of a folder; the thread's last error is as before. */
static void load_folder(const char *folder, const char *name, size_t length)
{
    struct stat st;
    DIR *d = is_guarded(folder, &st) ? opendir(folder) : NULL;
    if (!d) return;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[PATH_TEXT];
        if (!is_plugin(e->d_name, name, length) || has_backend(e->d_name)) continue;
        tsri_text text = tsri_text_into(path, sizeof path);
        tsri_put(&text, "%s/%s", folder, e->d_name);
        if (text.length < sizeof path) load_file(path);
    }
    (void)closedir(d);
}

/* Where this code is ------------------------------------------------------------------------ */

/* A line of /proc/self/maps, "55d0-55f0 r-xp 00001000 fe:01 1234   /usr/lib/x.so": the path, if the mapping
 * holds the address. */
static const char *path_of_mapping(char *line, uintptr_t address)
{
    unsigned long from = 0, to = 0;
    char *path = strchr(line, '/'), *end = strchr(line, '\n');
    if (!path || !end || sscanf(line, "%lx-%lx", &from, &to) != 2) return NULL;
    if (address < from || address >= to) return NULL;
    *end = '\0';
    return path;
}

/* The file this code was mapped from, as the kernel lists it. dladdr gives argv[0] for a program, which
 * whoever starts it chooses. */
static bool own_file_mapped(tsri_text *out)
{
    char line[PATH_TEXT + 128];
    const char *path = NULL;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && !path && fgets(line, sizeof line, maps))
        path = path_of_mapping(line, (uintptr_t)tsr_backend_problem);
    if (path) tsri_put(out, "%s", path);
    if (maps) (void)fclose(maps);
    return path != NULL;
}

static bool own_file(char *out, size_t size)
{
    Dl_info info;
    tsri_text text = tsri_text_into(out, size);
    if (!own_file_mapped(&text) && dladdr((const void *)problems, &info) && info.dli_fname)
        tsri_put(&text, "%s", info.dli_fname);
    return text.length < size && out[0] == '/';
}

/* tessera/ beside the file that this code is in. */
static bool own_folder(char *out, size_t size)
{
    char file[PATH_TEXT];
    struct stat own, there;
    tsri_text text = tsri_text_into(out, size);
    if (!own_file(file, sizeof file)) return false;
    tsri_put(&text, "%.*stessera", (int)(file_of(file) - file), file);
    if (text.length >= size || stat(out, &there) != 0) return false;
    const bool trusted = there.st_uid == 0 || there.st_uid == geteuid() ||
                         (stat(file, &own) == 0 && own.st_uid == there.st_uid);
    if (!trusted)
        refuse(out, "is left out: it belongs neither to root nor to you nor to the owner of the library");
    return trusted;
}

/* The folders ---------------------------------------------------------------------------------- */

/* One entry of TSR_BACKEND_PATH. */
static void load_entry(const char *entry, size_t n, const char *name, size_t length)
{
    char folder[PATH_TEXT];
    tsri_text text = tsri_text_into(folder, sizeof folder);
    tsri_put(&text, "%.*s", (int)(n < sizeof folder ? n : sizeof folder), entry);
    if (n == 0) refuse("TSR_BACKEND_PATH", "an empty entry is not followed");
    else if (n >= sizeof folder) refuse("TSR_BACKEND_PATH", "an entry is too long");
    else if (folder[0] != '/') refuse(folder, "is not followed: TSR_BACKEND_PATH takes absolute paths");
    else load_folder(folder, name, length);
}

void tsri_plugins_find(const char *name, size_t length)
{
    char folder[PATH_TEXT];
    if (tsri_is_elevated()) return;
    tsri_lock(&lock);
    const char *path = tsri_env("TSR_BACKEND_PATH");
    while (path && *path) {
        size_t n = 0;
        while (path[n] && path[n] != ':') n++;
        load_entry(path, n, name, length);
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
