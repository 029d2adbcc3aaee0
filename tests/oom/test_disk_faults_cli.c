/* The n-th call to the system fails in tsr convert, info and stats, for every n until the command succeeds.
 *
 * After each failure: the exit status is not 0 and the complaint has the system's word; nothing crashes, no
 * descriptor is lost, every file in the destination is as it was or as it is to be, and no temporary file is
 * beside it. */
#define _GNU_SOURCE 1
#include <fcntl.h>

#include "oom/disk_faults.h"

#include "../../cli/command.h"
#include "../../cli/disk.h"

enum { MOST_CALLS = 2000, MOST_WORDS = 12 };

static int fault_of_command(void) { return fault_count(TSRI_CALLS); }

/* Running a command ---------------------------------------------------------------------- */

static int complaints = -1, real_out = -1;

/* What the command prints goes nowhere, what it complains of to a file. */
static void begin_output(void)
{
    fflush(stdout);
    fflush(stderr);
    real_out = dup(STDOUT_FILENO);
    const int none = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(none, STDOUT_FILENO);
    dup2(complaints, STDERR_FILENO);
    close(none);
    EXPECT(ftruncate(complaints, 0) == 0 && lseek(complaints, 0, SEEK_SET) == 0);
}

static void end_output(char *text, size_t room)
{
    fflush(stdout);
    fflush(stderr);
    dup2(real_out, STDOUT_FILENO);
    close(real_out);
    const ssize_t n = pread(complaints, text, room - 1, 0);
    text[n > 0 ? n : 0] = '\0';
}

/* "convert IN OUT": the exit status. */
static int run_words(const command *c, const char *const *words, char *text, size_t room)
{
    char *argv[MOST_WORDS];
    int argc = 0;
    for (; words[argc]; argc++) argv[argc] = strdup(words[argc]);
    char *copies[MOST_WORDS];
    memcpy(copies, argv, sizeof copies);
    begin_output();
    const int status = c->run(argc, argv);
    end_output(text, room);
    for (int i = 0; i < argc; i++) free(copies[i]);
    return status;
}

/* Destinations ----------------------------------------------------------------------------- */

enum { MOST_FILES = 8 };

/* The files of a folder: as they were, and as they are to be. */
typedef struct place {
    char           folder[300];
    int            count;
    char           path[MOST_FILES][600];
    unsigned char *old[MOST_FILES], *new[MOST_FILES];
    size_t         old_bytes[MOST_FILES], new_bytes[MOST_FILES];
} place;

static void list_place(place *p)
{
    DIR *d = opendir(p->folder);
    for (struct dirent *e = d ? readdir(d) : NULL; e && p->count < MOST_FILES; e = readdir(d)) {
        if (e->d_name[0] == '.') continue;
        char path[600];
        snprintf(path, sizeof path, "%s/%s", p->folder, e->d_name);
        memcpy(p->path[p->count], path, sizeof path);
        p->new[p->count] = read_bytes(path, &p->new_bytes[p->count]);
        p->old[p->count] = (unsigned char *)strdup("old");
        p->old_bytes[p->count++] = 3;
    }
    if (d) closedir(d);
}

static void reset_place(const place *p)
{
    for (int i = 0; i < p->count; i++) write_bytes(p->path[i], p->old[i], p->old_bytes[i]);
}

static void expect_place(const place *p, bool is_new, const char *what, int n)
{
    for (int i = 0; i < p->count; i++)
        EXPECT_MSG(same_file(p->path[i], p->new[i], p->new_bytes[i]) ||
                       (!is_new && same_file(p->path[i], p->old[i], p->old_bytes[i])),
                   "%s, call %d (%d) fails: %s", what, n, fault.which, p->path[i]);
    EXPECT_MSG(count_names(p->folder) == p->count + 2 || fault.which == TSRI_UNLINK,
               "%s, call %d (%d) fails: a temporary file is left", what, n, fault.which);
}

static void free_place(place *p)
{
    for (int i = 0; i < p->count; i++) {
        free(p->old[i]);
        free(p->new[i]);
    }
}

/* Trials --------------------------------------------------------------------------------- */

/* `folder` is where the command writes; NULL: nowhere. */
static void try_all(const command *c, const char *const *words, const char *folder, int error)
{
    char text[8192];
    place p = { .count = 0 };
    EXPECT_MSG(run_words(c, words, text, sizeof text) == EXIT_YES, "%s: %s", words[0], text);
    if (folder) snprintf(p.folder, sizeof p.folder, "%s", folder);
    if (folder) list_place(&p);
    const int files = open_files();
    bool more = true;
    for (int n = 1; n < MOST_CALLS && more; n++) {
        reset_place(&p);
        fault_arm(n, error);
        disk_fault = fault_of_command;
        const int status = run_words(c, words, text, sizeof text);
        disk_fault = NULL;
        fault_disarm();
        more = fault.fired;
        const bool told = strstr(text, strerror(error)) != NULL;
        EXPECT_MSG(status == EXIT_YES || (told && error != EINTR), "%s, call %d (%d) fails with %s: %d, %s",
                   words[0], n, fault.which, strerror(error), status, text);
        EXPECT_MSG(open_files() == files, "%s, call %d: a descriptor is left", words[0], n);
        if (folder) expect_place(&p, status == EXIT_YES, words[0], n);
    }
    EXPECT(!more);
    free_place(&p);
}

static void try_errors(const command *c, const char *const *words, const char *folder)
{
    for (int i = 0; i < FAULT_ERRORS; i++) try_all(c, words, folder, fault_errors[i]);
}

static char input[300], folder_of_inputs[300];

static void make_inputs(void)
{
    tsr_tensor *t = NULL;
    tsr_writer *w = NULL;
    snprintf(folder_of_inputs, sizeof folder_of_inputs, "%s/in", files_folder);
    snprintf(input, sizeof input, "%s/in/m.safetensors", files_folder);
    EXPECT(mkdir(folder_of_inputs, 0700) == 0);
    EXPECT_OK(tsr_arange(&t, TSR_F32, TSR_SCALAR(0), TSR_SCALAR(2000), TSR_SCALAR(1)));
    EXPECT_OK(tsr_writer_create(&w, input, NULL));
    EXPECT_OK(tsr_writer_add(w, "a/b", t, NULL));
    EXPECT_OK(tsr_writer_add(w, "a_b", t, NULL));
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_OK(tsr_file_save(file_path("in/x.npy"), t));
    tsr_release(&t);
}

TEST(test_info_and_stats_survive_a_disk_that_fails)
{
    try_errors(&info_command, (const char *[]){ "info", input, NULL }, NULL);
    try_errors(&info_command, (const char *[]){ "info", folder_of_inputs, NULL }, NULL);
    try_errors(&stats_command, (const char *[]){ "stats", input, NULL }, NULL);
    try_errors(&stats_command, (const char *[]){ "stats", folder_of_inputs, "--json", NULL }, NULL);
}

static void try_convert(const char *name, const char *out, const char *word, const char *value)
{
    char folder[300], path[600];
    snprintf(folder, sizeof folder, "%s/%s", files_folder, name);
    snprintf(path, sizeof path, "%s/%s", folder, out);
    EXPECT(mkdir(folder, 0700) == 0);
    try_errors(&convert_command, (const char *[]){ "convert", input, path, "--force", word, value, NULL },
               folder);
}

TEST(test_convert_survives_a_disk_that_fails)
{
    try_convert("one", "x.npz", NULL, NULL);
    try_convert("hdf5", "x.h5", NULL, NULL);
    try_convert("gguf", "x.gguf", "--encoding", "f16");
    try_convert("each", "", NULL, NULL);
    try_convert("shards", "x.safetensors", "--shard", "5KB");
}

TEST_BEFORE
{
    fault_folder();
    complaints = open(file_path("complaints"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    EXPECT(complaints >= 0);
    make_inputs();
}

TEST_AFTER
{
    close(complaints);
    files_remove();
}
