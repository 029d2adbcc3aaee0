/* The n-th open, read, write, map, sync, rename, link, close, stat ... fails, for every n until the call
 * succeeds, for several errors, in every reader and writer.
 *
 * After each failure: the status is TSR_EIO and the message has the system's word; no descriptor and no
 * memory is lost; a destination holds what it held, and no temporary file is beside it. An interrupted
 * call, and one that reads or writes less than it was asked to, is no failure. */
#define _GNU_SOURCE 1
#include <fcntl.h>

#include "oom/disk_faults.h"

enum { MOST_CALLS = 400 };

/* Tensors ------------------------------------------------------------------------------ */

static tsr_tensor *numbers, *picture;

static void make_tensors(void)
{
    EXPECT_OK(tsr_arange(&numbers, TSR_F32, TSR_SCALAR(0), TSR_SCALAR(64 * 96), TSR_SCALAR(1)));
    EXPECT_OK(tsr_view(&numbers, numbers, TSR_SHAPE(64, 96)));
    EXPECT_OK(tsr_full(&picture, TSR_U8, TSR_SHAPE(20, 30, 3), TSR_SCALAR(77)));
}

typedef struct kind {
    const char *name;      /* of the file */
    const char *encoding;
    bool        compress, many, is_picture;
} kind;

static const kind kinds[] = {
    { "x.npy", NULL, false, false, false },     { "x.npz", NULL, false, true, false },
    { "z.npz", NULL, true, true, false },       { "x.safetensors", NULL, false, true, false },
    { "x.gguf", NULL, false, true, false },     { "q.gguf", "q8_0", false, true, false },
    { "x.csv", NULL, false, false, false },     { "x.tsv", NULL, false, false, false },
    { "x.png", NULL, false, false, true },      { "x.ppm", NULL, false, false, true },
    { "x.raw", NULL, false, false, false },     { "x.h5", NULL, false, true, false },
    { "z.h5", NULL, true, true, false },        { "x.jpg", NULL, false, false, true },
};

/* Photographs come last, and are not tried without their library. */
static int count_kinds(void)
{
    tsr_tensor *t = NULL;
    const int n = sizeof kinds / sizeof *kinds;
    const bool has_jpeg = tsr_file_load(&t, "tests/data/files/photo.jpg", NULL) == TSR_OK;
    tsr_release(&t);
    if (!has_jpeg) printf("JPEG is not tried: %s\n", tsr_last_error());
    return has_jpeg ? n : n - 1;
}

static int all_kinds;

static const tsr_tensor *tensor_of(const kind *k) { return k->is_picture ? picture : numbers; }

/* Not declared, so that what was written is moved when the list is known. */
static tsr_status write_kind(const kind *k, const char *path)
{
    tsr_writer *w = NULL;
    tsr_status s = tsr_writer_create(&w, path, &(tsr_writer_opts){ .compress = k->compress });
    if (s == TSR_OK) s = tsr_writer_add(w, k->many ? "a" : NULL, tensor_of(k), k->encoding);
    if (s == TSR_OK && k->many) s = tsr_writer_add(w, "b", tensor_of(k), k->encoding);
    if (s == TSR_OK) return tsr_writer_finish(&w);
    tsr_writer_cancel(&w);
    return s;
}

/* Failures ----------------------------------------------------------------------------- */

static void expect_told(const char *what, int n, tsr_status s)
{
    EXPECT_MSG(s == TSR_EIO && fault.fired && fault.error != EINTR &&
                   strstr(tsr_last_error(), strerror(fault.error)),
               "%s, call %d (%d) fails with %s: %s: %s", what, n, fault.which, strerror(fault.error),
               tsr_status_name(s), tsr_last_error());
}

/* Reading ------------------------------------------------------------------------------ */

typedef tsr_status (*read_fn)(tsr_tensor **out, tsr_file *f, const char *name);

static tsr_status read_whole(tsr_tensor **out, tsr_file *f, const char *name)
{
    return tsr_file_read(out, f, name);
}

static tsr_status read_rows(tsr_tensor **out, tsr_file *f, const char *name)
{
    return tsr_file_read_slice(out, f, name, 1, (tsr_file_range[]){ { 1, TSR_NONE, 2 } });
}

static tsr_status read_raw(tsr_tensor **out, tsr_file *f, const char *name)
{
    return tsr_file_read_raw(out, f, name);
}

static const read_fn reads[] = { read_whole, read_rows, read_raw };
enum { READS = sizeof reads / sizeof *reads };

static const tsr_file_opts *opts_of(tsr_file_opts *o, const char *path, bool copy)
{
    *o = (tsr_file_opts){ .copy = copy };
    if (!strstr(path, ".raw")) return o;
    static const int64_t shape[] = { 64, 96 };
    o->dtype = TSR_F32;
    o->ndim = 2;
    o->shape = shape;
    return o;
}

static tsr_status open_and_read(tsr_tensor **out, const char *path, const char *name, bool copy, read_fn read)
{
    tsr_file *f = NULL;
    tsr_file_opts o;
    tsr_status s = tsr_file_open(&f, path, opts_of(&o, path, copy));
    if (s == TSR_OK) s = read(out, f, name);
    tsr_file_close(&f);
    return s;
}

static void expect_reads(const char *path, const char *name, bool copy, read_fn read, int error)
{
    tsr_tensor *want = NULL;
    const tsr_status whole = open_and_read(&want, path, name, copy, read);
    if (whole == TSR_EUNSUPPORTED && read == read_raw) return;  /* chunks of HDF5 have no such bytes */
    EXPECT_OK(whole);
    const int files = open_files();
    bool more = true;
    for (int n = 1; n < MOST_CALLS && more; n++) {
        tsr_tensor *got = NULL;
        fault_arm(n, error);
        const tsr_status s = open_and_read(&got, path, name, copy, read);
        fault_disarm();
        more = fault.fired;
        if (s != TSR_OK) expect_told(path, n, s);
        else             EXPECT_MSG(same_bits(got, want), "%s, call %d", path, n);
        tsr_release(&got);
        EXPECT_MSG(open_files() == files, "%s, call %d: a descriptor is left", path, n);
    }
    EXPECT(!more);
    tsr_release(&want);
}

static void expect_reads_of_all_kinds(const char *path, const char *name)
{
    for (int error = 0; error < FAULT_ERRORS; error++)
        for (int copy = 0; copy < 2; copy++)
            for (int i = 0; i < READS; i++) expect_reads(path, name, copy, reads[i], fault_errors[error]);
}

/* Without any fault of ours: the system's own word for what cannot be done. */
TEST(test_calls_that_cannot_be_done_say_why)
{
    struct stat info;
    uint64_t space = 0;
    char byte = 0;
    const char *nowhere = "/nowhere/at/all";
    EXPECT(tsri_sys_stat(nowhere, &info) == -1 && errno == ENOENT);
    EXPECT(tsri_sys_fstat(-1, &info) == -1 && errno == EBADF);
    EXPECT(tsri_sys_read(-1, &byte, 1) == -1 && errno == EBADF);
    EXPECT(tsri_sys_pread(-1, &byte, 1, 0) == -1 && errno == EBADF);
    EXPECT(tsri_sys_pwrite(-1, &byte, 1, 0) == -1 && errno == EBADF);
    EXPECT(!tsri_sys_map(-1, 1, 0, true) && errno == EBADF);
    EXPECT(tsri_sys_sync(-1) == -1 && errno == EBADF);
    EXPECT(tsri_sys_truncate(-1, 0) == -1 && errno != 0);
    EXPECT(tsri_sys_rename(nowhere, nowhere) == -1 && errno == ENOENT);
    EXPECT(tsri_sys_unlink(nowhere) == -1 && errno == ENOENT);
    fault_arm(1, EINTR);  /* begun again */
    EXPECT(tsri_sys_unlink(nowhere) == -1 && errno == ENOENT && fault.fired);
    fault_disarm();
    EXPECT(tsri_sys_chmod(-1, 0600) == -1 && errno == EBADF);
    EXPECT(tsri_sys_link(-1, nowhere) == -1 && errno != 0);
    EXPECT(tsri_sys_space(-1, &space) == -1 && errno == EBADF);
    EXPECT(tsri_sys_close(-1) == -1 && errno == EBADF);
}

TEST(test_readers_survive_a_disk_that_fails)
{
    for (int i = 0; i < all_kinds; i++) {
        const char *path = file_path(kinds[i].name);
        EXPECT_OK(write_kind(&kinds[i], path));
        expect_reads_of_all_kinds(path, kinds[i].many ? "b" : NULL);
    }
}

/* Formats that are only read. */
TEST(test_readers_of_what_others_wrote_survive_a_disk_that_fails)
{
    static const char *const files[][2] = { { "little.pt", "b" }, { "big.pt", "b" }, { "deflated.pt", "i8" },
                                            { "old.pt", NULL }, { "module.pt", "weight" },
                                            { "tensors.pt", "views.part" }, { "raw.onnx", "int4" },
                                            { "raw.onnx", "i8" }, { "numbers.onnx", "i8" },
                                            { "external.onnx", "i8" },
                                            { "constants.onnx", "if.else_branch.w" },
                                            { "tensors.h5", "packed/f4" },
                                            { "tensors.h5", "plain/f4" } };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[64];
        snprintf(path, sizeof path, "tests/data/files/%s", files[i][0]);
        expect_reads_of_all_kinds(path, files[i][1]);
    }
}

/* A field of n bytes, whose length takes three bytes; where its content is. */
static unsigned char *put_field(unsigned char *p, unsigned tag, size_t n)
{
    const unsigned char head[] = { (unsigned char)tag, (unsigned char)(n & 127) | 128,
                                   (unsigned char)(n >> 7 & 127) | 128, (unsigned char)(n >> 14) };
    memcpy(p, head, sizeof head);
    return p + sizeof head;
}

static unsigned char *put_text(unsigned char *p, const char *text)
{
    memcpy(p, text, strlen(text));
    return p + strlen(text);
}

/* Constants "i" and "f" of 20000 bytes: what stands before and behind them is read again and again. */
static const char *write_long_constants(void)
{
    enum { LONG = 20000, ATTRIBUTE = 4 + LONG + 3, NODE = 10 + 4 + 3 };
    static unsigned char model[3 * LONG];
    static const char *const keys[] = { "\x0a\x0avalue_ints", "\x0a\x0cvalue_floats" };
    const size_t attributes[] = { ATTRIBUTE + 12, ATTRIBUTE + 14 };
    unsigned char *p = put_text(model, "\x08\x0a");
    p = put_field(p, 0x3a, attributes[0] + attributes[1] + 2 * (NODE + 4));
    for (int i = 0; i < 2; i++) {
        p = put_field(p, 0x0a, attributes[i] + NODE);
        p = put_text(p, "\x22\x08" "Constant");
        p = put_field(p, 0x2a, attributes[i]);
        p = put_text(p, keys[i]);
        p = put_field(p, i ? 0x3a : 0x42, LONG);
        memset(p, i ? 0x3f : 1, LONG);
        p = put_text(p + LONG, "\xa0\1\7");
        p = put_text(p, i ? "\x12\1f" : "\x12\1i");
    }
    write_bytes(file_path("long.onnx"), model, (size_t)(p - model));
    return file_path("long.onnx");
}

TEST(test_readers_of_long_constants_survive_a_disk_that_fails)
{
    expect_reads_of_all_kinds(write_long_constants(), "i");
    expect_reads_of_all_kinds(write_long_constants(), "f");
}

/* The index of two files. */
static const char *write_set(void)
{
    static const char text[] = "{\"weight_map\":{\"a\":\"one.safetensors\",\"b\":\"two.safetensors\"}}";
    static const char *const parts[] = { "one.safetensors", "two.safetensors" }, *const names[] = { "a",
                                                                                                    "b" };
    for (int i = 0; i < 2; i++) {
        tsr_writer *w = NULL;
        EXPECT_OK(tsr_writer_create(&w, file_path(parts[i]), NULL));
        EXPECT_OK(tsr_writer_add(w, names[i], numbers, NULL));
        EXPECT_OK(tsr_writer_finish(&w));
    }
    write_bytes(file_path("set.safetensors.index.json"), text, strlen(text));
    return file_path("set.safetensors.index.json");
}

TEST(test_a_set_of_files_survives_a_disk_that_fails)
{
    expect_reads_of_all_kinds(write_set(), "b");
}

static tsr_status read_pipe_of(tsr_tensor **out, const unsigned char *data, size_t bytes)
{
    int ends[2];
    char path[40];
    EXPECT(pipe(ends) == 0 && write(ends[1], data, bytes) == (ssize_t)bytes && close(ends[1]) == 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    const tsr_status s = tsr_file_load(out, path, NULL);
    close(ends[0]);
    return s;
}

TEST(test_a_pipe_survives_reads_that_fail)
{
    size_t bytes = 0;
    tsr_tensor *want = NULL;
    EXPECT_OK(write_kind(&kinds[0], file_path("x.npy")));
    unsigned char *data = read_bytes(file_path("x.npy"), &bytes);
    EXPECT_OK(read_pipe_of(&want, data, bytes));
    const int files = open_files();
    for (int error = 0; error < FAULT_ERRORS; error++) {
        bool more = true;
        for (int n = 1; n < MOST_CALLS && more; n++) {
            tsr_tensor *got = NULL;
            fault_arm(n, fault_errors[error]);
            const tsr_status s = read_pipe_of(&got, data, bytes);
            fault_disarm();
            more = fault.fired;
            if (s != TSR_OK) expect_told("a pipe", n, s);
            else             EXPECT(same_bits(got, want));
            tsr_release(&got);
            EXPECT(open_files() == files);
        }
        EXPECT(!more);
    }
    tsr_release(&want);
    free(data);
}

TEST(test_mapping_survives_a_disk_that_fails)
{
    const char *path = file_path("x.npy");
    EXPECT_OK(write_kind(&kinds[0], path));
    const int files = open_files();
    for (int error = 0; error < FAULT_ERRORS; error++) {
        bool more = true;
        for (int n = 1; n < MOST_CALLS && more; n++) {
            tsr_storage *s = NULL;
            fault_arm(n, fault_errors[error]);
            const tsr_status status = tsr_storage_map_file(&s, path, 128, 0, TSR_MAP_READ);
            fault_disarm();
            more = fault.fired;
            if (status != TSR_OK)
                EXPECT(status == TSR_EIO && strstr(tsr_last_error(), strerror(fault.error)));
            EXPECT((s != NULL) == (status == TSR_OK));
            tsr_storage_release(&s);
            EXPECT(open_files() == files);
        }
        EXPECT(!more);
    }
}

/* Writing ------------------------------------------------------------------------------ */

/* What the destination held before, and what it is to hold; old is NULL if it was not there. */
typedef struct contents { unsigned char *old, *new; size_t old_bytes, new_bytes; } contents;

static bool is_link(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0 && S_ISLNK(s.st_mode);
}

static unsigned rights_of(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 ? s.st_mode & 0777 : 0;
}

/* A file that is there is written through a link, and has few rights. */
static void prepare(const char *path, const contents *c)
{
    unlink(path);
    if (!c->old) return;
    write_bytes(file_path("target"), c->old, c->old_bytes);
    EXPECT(chmod(file_path("target"), 0600) == 0 && symlink(file_path("target"), path) == 0);
}

static void expect_write(const kind *k, const char *path, const contents *c, int n, int error)
{
    prepare(path, c);
    const int files = open_files(), names = count_names(files_folder);
    fault_arm(n, error);
    const tsr_status s = write_kind(k, path);
    fault_disarm();
    if (s != TSR_OK) expect_told(k->name, n, s);
    EXPECT_MSG(s == TSR_OK ? same_file(path, c->new, c->new_bytes) : same_file(path, c->old, c->old_bytes),
               "%s, call %d (%d) fails with %s: %s", k->name, n, fault.which, strerror(error),
               tsr_status_name(s));
    if (c->old)
        EXPECT_MSG(is_link(path) && rights_of(path) == 0600,
                   "%s, call %d (%d): the link or the rights are lost", k->name, n, fault.which);
    EXPECT_MSG(open_files() == files, "%s, call %d: a descriptor is left", k->name, n);
    const int left = count_names(files_folder) - names - (s == TSR_OK && !c->old);
    EXPECT_MSG(left == 0 || (fault.fired && fault.which == TSRI_UNLINK),
               "%s, call %d (%d): a temporary file is left", k->name, n, fault.which);
}

static void expect_writes(const kind *k, bool replaces)
{
    char path[256];
    contents c = { NULL, NULL, 0, 0 };
    snprintf(path, sizeof path, "%s", file_path(k->name));
    unlink(path);
    EXPECT_OK(write_kind(k, path));
    c.new = read_bytes(path, &c.new_bytes);
    if (replaces) c.old = (unsigned char *)strdup("what was there before"), c.old_bytes = 21;
    for (int error = 0; error < FAULT_ERRORS; error++) {
        bool more = true;
        for (int n = 1; n < MOST_CALLS && more; n++) {
            expect_write(k, path, &c, n, fault_errors[error]);
            more = fault.fired;
        }
        EXPECT(!more);
    }
    unlink(path);
    free(c.old);
    free(c.new);
}

static void expect_writes_of_all_kinds(void)
{
    for (int i = 0; i < all_kinds; i++)
        for (int replaces = 0; replaces < 2; replaces++) expect_writes(&kinds[i], replaces);
}

TEST(test_writers_survive_a_disk_that_fails) { expect_writes_of_all_kinds(); }

TEST(test_writers_without_nameless_files_survive_too)
{
    fault.is_named = true;
    expect_writes_of_all_kinds();
    fault.is_named = false;
}

TEST(test_writers_that_cannot_give_a_name_survive_too)
{
    fault.cannot_link = true;
    expect_writes_of_all_kinds();
    fault.cannot_link = false;
}

/* An error in giving up does not hide the first one, and the sink is gone all the same. */
TEST(test_a_writer_that_is_cancelled_leaves_nothing)
{
    const int files = open_files(), names = count_names(files_folder);
    for (int named = 0; named < 2; named++) {
        tsr_writer *w = NULL;
        fault.is_named = named;
        fault_arm(0, EIO);
        EXPECT_OK(tsr_writer_create(&w, file_path("cancelled.npy"), NULL));
        EXPECT_OK(tsr_writer_add(w, NULL, numbers, NULL));
        fault_arm(1, EIO);  /* the close fails */
        fault.opens = 1;
        tsr_writer_cancel(&w);
        fault_disarm();
        fault.is_named = false;
        EXPECT(fault.fired && open_files() == files && count_names(files_folder) == names);
    }
}

TEST(test_short_reads_and_writes_are_gone_on_with)
{
    fault.is_short = true;
    for (int i = 0; i < all_kinds; i++) {
        tsr_tensor *want = NULL, *got = NULL;
        const char *path = file_path(kinds[i].name), *name = kinds[i].many ? "b" : NULL;
        size_t bytes = 0;
        EXPECT_OK(write_kind(&kinds[i], path));
        unsigned char *data = read_bytes(path, &bytes);
        EXPECT_OK(open_and_read(&want, path, name, true, read_whole));
        fault_arm(0, 0);
        EXPECT_OK(write_kind(&kinds[i], path));
        EXPECT_OK(open_and_read(&got, path, name, true, read_whole));
        fault_disarm();
        EXPECT(same_file(path, data, bytes) && same_bits(got, want));
        tsr_release_all(&want, &got);
        free(data);
    }
    fault.is_short = false;
}

TEST_BEFORE
{
    fault_folder();
    make_tensors();
    all_kinds = count_kinds();
}

/* Shards and streams ------------------------------------------------------------------- */

static tsr_status write_shards(void)
{
    tsr_writer *w = NULL;
    const tsr_writer_opts opts = { .shard_bytes = 1 << 12 };
    tsr_status s = tsr_writer_create(&w, file_path("s.safetensors"), &opts);
    if (s == TSR_OK) s = tsr_writer_add(w, "a", numbers, NULL);
    if (s == TSR_OK) s = tsr_writer_add(w, "b", numbers, NULL);
    if (s == TSR_OK) return tsr_writer_finish(&w);
    tsr_writer_cancel(&w);
    return s;
}

/* The index comes last: until then what was there is what is read. */
TEST(test_a_set_is_written_or_its_old_index_stays)
{
    for (int error = 0; error < FAULT_ERRORS; error++) {
        bool more = true;
        for (int n = 1; n < MOST_CALLS && more; n++) {
            size_t bytes = 0;
            write_bytes(file_path("s.safetensors.index.json"), "old", 3);
            const int files = open_files();
            fault_arm(n, fault_errors[error]);
            const tsr_status s = write_shards();
            fault_disarm();
            more = fault.fired;
            EXPECT_MSG(open_files() == files, "call %d: a descriptor is left", n);
            unsigned char *data = read_bytes(file_path("s.safetensors.index.json"), &bytes);
            if (s != TSR_OK) expect_told("a set", n, s);
            EXPECT_MSG((bytes == 3) == (s != TSR_OK), "call %d: %s, and %zu bytes", n, tsr_status_name(s),
                       bytes);
            free(data);
        }
        EXPECT(!more);
    }
}

TEST(test_a_stream_gets_all_or_says_why_not)
{
    const int files = open_files();
    for (int error = 0; error < FAULT_ERRORS; error++) {
        bool more = true;
        for (int n = 1; n < MOST_CALLS && more; n++) {
            char path[40];
            struct stat info = { 0 };
            const int file = open(file_path("stream"), O_CREAT | O_TRUNC | O_RDWR, 0600);
            snprintf(path, sizeof path, "/dev/fd/%d", file);
            fault_arm(n, fault_errors[error]);
            tsr_writer *w = NULL;
            tsr_status s = tsr_writer_create(&w, path, &(tsr_writer_opts){ .format = "raw" });
            if (s == TSR_OK) s = tsr_writer_add(w, NULL, numbers, NULL);
            if (s == TSR_OK) s = tsr_writer_finish(&w);
            tsr_writer_cancel(&w);
            fault_disarm();
            more = fault.fired;
            EXPECT(fstat(file, &info) == 0 && close(file) == 0);
            if (s != TSR_OK) expect_told("a stream", n, s);
            else             EXPECT(info.st_size == tsr_byte_size(numbers));
            EXPECT(open_files() == files);
        }
        EXPECT(!more);
    }
}

TEST_AFTER
{
    tsr_release_all(&numbers, &picture);
    files_remove();
}
