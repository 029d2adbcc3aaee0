/* Which files are loaded as plugins, and what is kept of those that are not. */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/library.h"
#define TEST_OWN_MAIN
#include "test.h"
#include "tessera/backend.h"

/* What a plugin that is refused has allocated stays: there is no entry to give it back with. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:any.so"; }

enum { PATHS = 1200 };

static char folder[64];

static const char *within(const char *name)
{
    static char path[PATHS];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    EXPECT(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static bool copy_file(const char *from, const char *to)
{
    char buffer[4096];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    bool good = in && out;
    for (size_t n; good && (n = fread(buffer, 1, sizeof buffer, in)) > 0;)
        good = fwrite(buffer, 1, n, out) == n;
    if (in) (void)fclose(in);
    if (out) good = fclose(out) == 0 && good;
    return good;
}

static bool is_kept(const char *words)
{
    for (int i = 0; tsr_backend_problem(i); i++)
        if (strstr(tsr_backend_problem(i), words)) return true;
    return false;
}

static char heard[1200];
static void listen(void *context, int level, const char *message)
{
    (void)context;
    if (level == TSR_LOG_WARNING) (void)snprintf(heard, sizeof heard, "%s", message);
}

/* Looks for all plugins with this search path; what the log said is in `heard`. */
static void search(const char *path)
{
    heard[0] = '\0';
    (void)setenv("TSR_BACKEND_PATH", path, 1);
    tsr_set_log(listen, NULL);
    (void)tsr_device_count();
    tsr_set_log(NULL, NULL);
}

/* By their path ------------------------------------------------------------------------------ */

static void test_plugins_library_without_an_entry_is_no_plugin(void)
{
    EXPECT_FAILS(tsr_backend_load("libm.so.6"), TSR_EIO, "libm.so.6 has no tsr_backend_entry");
    EXPECT(is_kept("libm.so.6 has no tsr_backend_entry"));
    int n = 0;
    while (tsr_backend_problem(n)) n++;
    EXPECT_FAILS(tsr_backend_load("libm.so.6"), TSR_EIO, "libm.so.6"); /* told again, kept once */
    EXPECT(tsr_backend_problem(n) == NULL);
}

static void test_plugins_backend_is_called_as_its_file(void)
{
    if (!copy_file(TEST_PLUGINS "/libtessera-sim.so", within("libtessera-other.so"))) SKIP("no plugin sim");
    EXPECT_FAILS(tsr_backend_load(within("libtessera-other.so")), TSR_EINVAL,
                 "the backend is called sim, and not as its file");
    tsr_device device;
    EXPECT_FAILS(tsr_device_parse(&device, "other"), TSR_EDEVICE, "not as its file");
    EXPECT_FAILS(tsr_device_parse(&device, "othex"), TSR_EDEVICE, "there is no device \"othex\"");
    EXPECT(!strstr(tsr_last_error(), "not as its file"));
    EXPECT(remove(within("libtessera-other.so")) == 0);
    EXPECT(copy_file(TEST_PLUGINS "/libtessera-sim.so", within("libtessera-sin.so")));
    EXPECT_FAILS(tsr_backend_load(within("libtessera-sin.so")), TSR_EINVAL, "not as its file");
    EXPECT(remove(within("libtessera-sin.so")) == 0);
    char any[PATHS];
    (void)snprintf(any, sizeof any, "%s", within("any.so"));
    EXPECT(copy_file(TEST_PLUGINS "/libtessera-sim.so", any));
    EXPECT_OK(tsr_backend_load(any)); /* a name of another sort promises nothing */
    EXPECT_OK(tsr_device_parse(&device, "sim:1"));
    EXPECT(rename(any, within("libtessera-sim.so")) == 0);
    search(folder); /* the file of a backend that is there already is not opened */
    EXPECT(heard[0] == '\0' && !is_kept("libtessera-sim.so"));
    EXPECT_FAILS(tsr_backend_load(within("libtessera-sim.so")), TSR_EINVAL, "there is a backend called sim");
    EXPECT(remove(within("libtessera-sim.so")) == 0);
}

/* On the search path ---------------------------------------------------------------------------- */

static void test_plugins_entries_of_the_search_path_that_cannot_be_followed_are_left_out(void)
{
    char path[PATHS + 100];
    search(":/nowhere");
    EXPECT(strstr(heard, "TSR_BACKEND_PATH: an empty entry is not followed"));
    search(":/nowhere");
    EXPECT(heard[0] == '\0'); /* said once */
    search("some/folder");
    EXPECT(strstr(heard, "some/folder: is not followed: TSR_BACKEND_PATH takes absolute paths"));
    memset(path, 'x', sizeof path);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    search(path);
    EXPECT(!is_kept("xxxx"));
}

static void test_plugins_what_anyone_may_write_is_left_out(void)
{
    write_file(within("libtessera-open.so"), "no shared object");
    EXPECT(chmod(within("libtessera-open.so"), 0666) == 0);
    search(folder);
    EXPECT(strstr(heard, "libtessera-open.so: is left out: anyone may write it"));
    search(folder);
    EXPECT(heard[0] == '\0');
    EXPECT(remove(within("libtessera-open.so")) == 0);
    write_file(within("libtessera-torn.so"), "no shared object");
    EXPECT(chmod(folder, 0777) == 0);
    search(folder);
    EXPECT(strstr(heard, folder) && strstr(heard, "is left out: anyone may write it") &&
           !is_kept("libtessera-torn.so"));
    EXPECT(chmod(folder, 0700) == 0);
    search(folder);
    EXPECT(is_kept("libtessera-torn.so"));
    EXPECT(remove(within("libtessera-torn.so")) == 0);
}

static void test_plugins_only_files_named_as_plugins_are_opened(void)
{
    static const char *const others[] = { "libtessera-.so", "libtessera-name.txt", "libother-name.so",
                                          "notes-of-mine-0.so" };
    for (int i = 0; i < 4; i++) write_file(within(others[i]), "no shared object");
    EXPECT(symlink("/nowhere/at/all", within("libtessera-gone.so")) == 0);
    search(folder);
    for (int i = 0; i < 4; i++) {
        EXPECT_MSG(!is_kept(others[i]), "%s was opened", others[i]);
        EXPECT(remove(within(others[i])) == 0);
    }
    EXPECT(!is_kept("libtessera-gone.so") && remove(within("libtessera-gone.so")) == 0);
    search(within("no-folder"));
    EXPECT(heard[0] == '\0');
}

static void test_plugins_file_whose_path_is_too_long_is_left_out(void)
{
    char path[PATHS], file[PATHS + 300];
    size_t n = (size_t)snprintf(path, sizeof path, "%s", folder);
    while (n < 850) {
        n += (size_t)snprintf(path + n, sizeof path - n, "/%0100d", 0);
        EXPECT(mkdir(path, 0700) == 0);
    }
    (void)snprintf(file, sizeof file, "%s/libtessera-%0150d.so", path, 7);
    write_file(file, "no shared object");
    search(path);
    EXPECT(!is_kept("00007.so"));
    (void)remove(file);
    for (; n > strlen(folder); n -= 101) {
        path[n] = '\0';
        EXPECT(rmdir(path) == 0);
    }
}

/* Libraries ----------------------------------------------------------------------------------------- */

static void test_plugins_libraries_are_named_plainly_or_by_absolute_paths(void)
{
    tsr_set_log(listen, NULL);
    heard[0] = '\0';
    EXPECT(tsri_library_open(1, (const char *const[]){ "lib/libm.so.6" }) == NULL);
    EXPECT(strstr(heard, "lib/libm.so.6 was not opened"));
    heard[0] = '\0';
    EXPECT(tsri_library_open(1, (const char *const[]){ "/nowhere/libm.so.6" }) == NULL && heard[0] == '\0');
    tsr_set_log(NULL, NULL);
    EXPECT(tsri_library_open(1, (const char *const[]){ "lib/libm.so.6" }) == NULL); /* nobody listens */
    void *math = tsri_library_open(3, (const char *const[]){ "libnowhere.so", "libm.so.6", "lib/libm.so.6" });
    if (!math) SKIP("no libm.so.6");
    EXPECT(tsri_library_find(math, "cos") != NULL && tsri_library_find(math, "no_such_symbol") == NULL);
}

/* What TSR_EXTERNAL asks for, in a process that has not asked before. */
static bool used_with(const char *value)
{
    int status = 0;
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (value)
            (void)setenv("TSR_EXTERNAL", value, 1);
        else
            (void)unsetenv("TSR_EXTERNAL");
        exit(tsr_get_external() ? 3 : 4);
    }
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) >= 3);
    return WEXITSTATUS(status) == 3;
}

static void test_plugins_libraries_are_left_out_by_the_environment(void)
{
    EXPECT(used_with(NULL) && used_with("on") && !used_with("off"));
}

static void test_plugins_libraries_may_be_left_out(void)
{
    const bool used = tsr_get_external();
    tsr_set_external(false);
    EXPECT(!tsr_get_external());
    tsr_set_external(true);
    EXPECT(tsr_get_external());
    tsr_set_external(used);
}

/* Beside the library ------------------------------------------------------------------------------ */

/* What this program, which the library is part of, finds beside itself: 0, a plugin called sim; 1, none; 2,
 * none, and it says of whom the folder is. */
static int look_beside(void)
{
    tsr_device device;
    heard[0] = '\0';
    tsr_set_log(listen, NULL);
    const tsr_status s = tsr_device_parse(&device, "sim:0");
    tsr_set_log(NULL, NULL);
    if (s == TSR_OK) return 0;
    return strstr(heard, "/tessera: is left out: it belongs neither to root nor to you") ? 2 : 1;
}

static int copy_finds(const char *program)
{
    int status = 0;
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        (void)unsetenv("TSR_BACKEND_PATH");
        (void)execl(program, program, "--look-beside", (char *)NULL);
        _exit(99);
    }
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* A folder of somebody else is not looked into, unless the program is theirs too: only root can try it. */
static void test_plugins_beside_the_library_are_found_if_the_folder_is_trusted(void)
{
    char program[PATHS], plugin[PATHS], beside[PATHS];
    (void)snprintf(program, sizeof program, "%s", within("program"));
    (void)snprintf(beside, sizeof beside, "%s", within("tessera"));
    (void)snprintf(plugin, sizeof plugin, "%s", within("tessera/libtessera-sim.so"));
    if (!copy_file("/proc/self/exe", program) || chmod(program, 0755) != 0) SKIP("no copy of the program");
    EXPECT(copy_finds(program) == 1);
    EXPECT(mkdir(beside, 0755) == 0);
    const int found = copy_file(TEST_PLUGINS "/libtessera-sim.so", plugin) ? 0 : 1;
    EXPECT(copy_finds(program) == found);
    if (geteuid() == 0 && chown(beside, 12345, 12345) == 0) {
        EXPECT(copy_finds(program) == 2);
        EXPECT(chown(program, 12345, 12345) == 0 && copy_finds(program) == found);
    }
    (void)remove(plugin);
    EXPECT(remove(program) == 0 && rmdir(beside) == 0);
}

/* Last: what is kept of problems is limited. */
static void test_plugins_problems_are_kept_up_to_a_number(void)
{
    int n = 0;
    for (int i = 0; i < 40; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, "/nowhere/libtessera-%d.so", i);
        EXPECT_FAILS(tsr_backend_load(name), TSR_EIO, name);
    }
    while (tsr_backend_problem(n)) n++;
    EXPECT(n == 32);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--look-beside")) return look_beside();
    TEST_BEGIN(argc, argv);
    (void)snprintf(folder, sizeof folder, "/tmp/test_plugins_XXXXXX");
    if (!mkdtemp(folder)) return 1;
    RUN(test_plugins_libraries_are_left_out_by_the_environment);
    RUN(test_plugins_library_without_an_entry_is_no_plugin);
    RUN(test_plugins_backend_is_called_as_its_file);
    RUN(test_plugins_entries_of_the_search_path_that_cannot_be_followed_are_left_out);
    RUN(test_plugins_what_anyone_may_write_is_left_out);
    RUN(test_plugins_only_files_named_as_plugins_are_opened);
    RUN(test_plugins_file_whose_path_is_too_long_is_left_out);
    RUN(test_plugins_libraries_are_named_plainly_or_by_absolute_paths);
    RUN(test_plugins_libraries_may_be_left_out);
    RUN(test_plugins_beside_the_library_are_found_if_the_folder_is_trusted);
    RUN(test_plugins_problems_are_kept_up_to_a_number);
    (void)rmdir(folder);
    return TEST_END();
}
