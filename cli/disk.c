/* disk.c - folders, kinds of paths, and signals. */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#endif

#include "disk.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"

int (*disk_fault)(void);

static bool fails(void)
{
    const int error = disk_fault ? disk_fault() : 0;
    if (error) errno = error;
    return error != 0;
}

/* A signal may interrupt any of these. */
static bool look_at(const char *path, struct stat *out)
{
    int result;
    do result = fails() ? -1 : stat(path, out);
    while (result != 0 && errno == EINTR);
    return result == 0;
}

path_kind kind_of_path(const char *path)
{
    struct stat s;
    if (!look_at(path, &s)) return errno == ENOENT || errno == ENOTDIR ? PATH_NONE : PATH_UNKNOWN;
    return S_ISREG(s.st_mode) ? PATH_FILE : S_ISDIR(s.st_mode) ? PATH_FOLDER : PATH_OTHER;
}

bool may_write_to(const char *command_name, const char *path, bool force)
{
    const path_kind kind = force ? PATH_NONE : kind_of_path(path);
    if (kind == PATH_UNKNOWN) complain(command_name, "%s: %s", path, strerror(errno));
    if (kind == PATH_FILE || kind == PATH_FOLDER)
        complain(command_name, "%s is there already; --force writes over it", path);
    return kind == PATH_NONE || kind == PATH_OTHER;
}

bool identify_file(file_identity *out, const char *path)
{
    struct stat s;
    if (!look_at(path, &s)) return false;
    *out = (file_identity){ (unsigned long long)s.st_dev, (unsigned long long)s.st_ino };
    return true;
}

#if !defined(_WIN32)

bool make_folder(const char *path)
{
    int result;
    do result = fails() ? -1 : mkdir(path, 0777);
    while (result != 0 && errno == EINTR);
    return result == 0 || errno == EEXIST;
}

bool each_name_in(const char *path, name_fn fn, void *context)
{
    DIR *d;
    struct dirent *e = NULL;
    do d = fails() ? NULL : opendir(path);
    while (!d && errno == EINTR);
    if (!d) return false;
    for (;;) {
        errno = 0;
        e = fails() ? NULL : readdir(d);
        if (e) fn(context, e->d_name);
        else if (errno != EINTR) break;
    }
    const int error = errno;
    closedir(d);
    errno = error;
    return error == 0;
}

static void (*volatile before_end)(void);

void before_a_signal_ends(void (*fn)(void)) { before_end = fn; }

static void end_by_signal(int number)
{
    if (before_end) before_end();
    tsr_writer_abandon_all();
    signal(number, SIG_DFL);
    raise(number);
}

/* What was ignored when the program began, as by nohup, stays so. */
static void catch_signal(int number)
{
    struct sigaction now, then = { .sa_handler = end_by_signal };
    sigemptyset(&then.sa_mask);
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_DFL) sigaction(number, &then, NULL);
}

void clean_up_on_signals(void)
{
    static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU };
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) catch_signal(ending[i]);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away is an error of writing too */
}

#else

bool make_folder(const char *path) { (void)path; errno = ENOSYS; return false; }

bool each_name_in(const char *path, name_fn fn, void *context)
{
    (void)path; (void)fn; (void)context;
    errno = EISDIR;
    return false;
}

void clean_up_on_signals(void) { }
void before_a_signal_ends(void (*fn)(void)) { (void)fn; }

#endif

tsr_status write_whole_file(const char *path, const void *data, size_t bytes)
{
    tsr_writer *w = NULL;
    tsr_tensor t;
    tsr_desc d;
    const int64_t n = (int64_t)bytes;
    tsr_status s = tsr_desc_init(&d, TSR_U8, 1, &n, NULL);
    if (s == TSR_OK) s = tsr_place(&t, (void *)(uintptr_t)data, &d);
    if (s == TSR_OK) s = tsr_writer_create(&w, path, &(tsr_writer_opts){ .format = "raw" });
    if (s == TSR_OK) s = tsr_writer_add(w, NULL, &t, NULL);
    if (s == TSR_OK) return tsr_writer_finish(&w);
    tsr_writer_cancel(&w);
    return s;
}
