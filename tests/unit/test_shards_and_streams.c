/* test_shards_and_streams.c - a model in several files, and files that go down a pipe. */
#define _GNU_SOURCE 1 /* mkdtemp, posix_openpt */
#include <fcntl.h>

#include "io/disk.h"
#include <sys/stat.h>

#include "unit/files.h"

static tsr_tensor *counted(int64_t n)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_arange(&t, TSR_F32, TSR_SCALAR(0), TSR_SCALAR((double)n), TSR_SCALAR(1)));
    return t;
}

/* Shards ------------------------------------------------------------------------------- */

static const int64_t sizes[] = { 10, 20, 30, 100, 5, 5 };
enum { TENSORS = sizeof sizes / sizeof *sizes };

/* Tensors "0", "1", ... of the sizes above, in files of at most 160 bytes: {0, 1} {2} {3} {4, 5}. */
static tsr_status write_set(const char *name, bool declare, uint64_t bytes)
{
    char names[TENSORS][16];
    tsr_writer *w = NULL;
    tsr_status s = tsr_writer_create(&w, file_path(name),
                                     &(tsr_writer_opts){ .no_sync = true, .shard_bytes = bytes });
    if (s == TSR_OK) s = tsr_writer_text(w, "note", "a \"set\"");
    for (int i = 0; i < TENSORS && s == TSR_OK; i++) {
        tsr_desc d;
        snprintf(names[i], sizeof names[i], "%d", i);
        EXPECT_OK(tsr_desc_init(&d, TSR_F32, 1, &sizes[i], NULL));
        if (declare) s = tsr_writer_declare(w, names[i], &d, NULL);
    }
    for (int i = 0; i < TENSORS && s == TSR_OK; i++) {
        tsr_tensor *t = NULL;
        s = tsr_arange(&t, TSR_F32, TSR_SCALAR(0), TSR_SCALAR((double)sizes[i]), TSR_SCALAR(1));
        if (s == TSR_OK) s = tsr_writer_add(w, names[i], t, NULL);
        tsr_release(&t);
    }
    if (s == TSR_OK) return tsr_writer_finish(&w);
    tsr_writer_cancel(&w);
    return s;
}

static void expect_set(const char *index, int files)
{
    tsr_file *f = NULL;
    tsr_meta m;
    EXPECT_OK(tsr_file_open(&f, file_path(index), NULL));
    EXPECT(tsr_file_count(f) == TENSORS && tsr_file_part(f, files) && !tsr_file_part(f, files + 1));
    EXPECT_OK(tsr_file_find_meta(&m, f, "note"));
    EXPECT(!strcmp(m.text, "a \"set\""));
    for (int i = 0; i < TENSORS; i++) {
        char name[8];
        tsr_tensor *t = NULL, *want = counted(sizes[i]);
        snprintf(name, sizeof name, "%d", i);
        EXPECT_OK(tsr_file_read(&t, f, name));
        EXPECT(same_bits(t, want));
        tsr_release_all(&t, &want);
    }
    tsr_file_close(&f);
}

TEST(test_a_set_of_files_is_written_and_read)
{
    for (int declare = 0; declare < 2; declare++) {
        EXPECT_OK(write_set("m.safetensors", declare, 160));
        expect_set("m.safetensors.index.json", 4);
        EXPECT(file_exists(file_path("m-00001-of-00004.safetensors")));
        EXPECT(file_exists(file_path("m-00004-of-00004.safetensors")));
        EXPECT(files_count() == 5);
        EXPECT_OK(write_set("m.safetensors.index.json", declare, 1 << 20));
        expect_set("m.safetensors.index.json", 1);
        EXPECT(file_exists(file_path("m-00001-of-00001.safetensors")));
        EXPECT(remove(file_path("m-00001-of-00001.safetensors")) == 0);
    }
}

TEST(test_a_set_survives_running_out_of_memory)
{
    const int before = files_count();
    files_allowed = 0;
    EXPECT_SURVIVES(write_set("o.safetensors", true, 160));
    expect_set("o.safetensors.index.json", 4);
    EXPECT(files_count() == before + 5);
}

TEST(test_shards_that_are_replaced_keep_their_modes)
{
    struct stat info;
    for (int round = 0; round < 2; round++) {
        EXPECT_OK(write_set("r.safetensors", false, 160));
        for (int i = 1; i <= 4; i++) {
            char name[40];
            snprintf(name, sizeof name, "r-0000%d-of-00004.safetensors", i);
            if (round == 0) EXPECT(chmod(file_path(name), 0600) == 0);
            else EXPECT(stat(file_path(name), &info) == 0 && (info.st_mode & 0777) == 0600);
        }
    }
}

TEST(test_shards_writer_of_one_file_has_one_part)
{
    tsr_writer *w = NULL;
    EXPECT_OK(tsr_writer_create(&w, file_path("one.npz"), &(tsr_writer_opts){ .no_sync = true }));
    EXPECT(tsr_writer_part(w, 0) && strstr(tsr_writer_part(w, 0), "one.npz") && !tsr_writer_part(w, 1));
    tsr_writer_cancel(&w);
}

static void add_up(void *sum, int64_t bytes) { *(int64_t *)sum += bytes; }

TEST(test_a_writer_tells_how_far_it_is)
{
    static const char *const names[] = { "p.npy", "p.npz", "p.safetensors", "p.gguf", "p.h5", "p.csv", "p" };
    tsr_tensor *t = counted(6), *back = NULL;
    EXPECT_OK(tsr_flip(&back, t, 1, (int[]){ 0 }));
    for (int i = 0; i < 14; i++) {
        int64_t bytes = 0;
        const tsr_writer_opts opts = { .compress = i % 2, .no_sync = true,
                                       .format = i / 2 == 6 ? "safetensors" : NULL,
                                       .shard_bytes = i / 2 == 6 ? 16 : 0 };
        tsr_writer *w = NULL;
        EXPECT_OK(tsr_writer_create(&w, file_path(names[i / 2]), &opts));
        tsr_writer_progress(w, add_up, &bytes);
        EXPECT_OK(tsr_writer_add(w, i / 2 == 0 || i / 2 == 5 ? NULL : "a", i % 2 ? back : t, NULL));
        EXPECT_MSG(bytes == tsr_byte_size(t), "%s: %lld bytes", names[i / 2], (long long)bytes);
        tsr_writer_cancel(&w);
    }
    tsr_release(&t);
    tsr_release(&back);
}

TEST(test_the_files_of_a_set_are_told)
{
    tsr_writer *w = NULL;
    const tsr_writer_opts opts = { .format = "safetensors", .shard_bytes = 16, .no_sync = true };
    tsr_tensor *t = counted(4), *odd = NULL;
    EXPECT_OK(tsr_zeros(&odd, TSR_C128, TSR_SHAPE(1)));
    EXPECT_OK(tsr_writer_create(&w, file_path("p"), &opts));
    EXPECT(strstr(tsr_writer_part(w, 0), "p-00001-of-00001.safetensors"));
    EXPECT(strstr(tsr_writer_part(w, 1), "p.safetensors.index.json") && !tsr_writer_part(w, 2));
    EXPECT(!tsr_writer_part(w, -1) && !tsr_writer_part(NULL, 0));
    EXPECT_OK(tsr_writer_add(w, "a", t, NULL));
    EXPECT_FAILS(tsr_writer_add(w, "b", odd, NULL), TSR_EDTYPE, "c128");
    EXPECT_FAILS(tsr_writer_add(w, "a", t, NULL), TSR_EINVAL, "already");
    EXPECT_OK(tsr_writer_add(w, "b", t, NULL));
    EXPECT(strstr(tsr_writer_part(w, 1), "p-00002-of-00002.safetensors") && tsr_writer_part(w, 2));
    const int before = files_count();
    tsr_writer_cancel(&w);
    EXPECT(files_count() == before);
    EXPECT_OK(tsr_writer_create(&w, file_path("none"), &opts));  /* of no tensors */
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT(file_exists(file_path("none-00001-of-00001.safetensors")));
    EXPECT_FAILS(tsr_writer_create(&w, file_path("p.npz"), &(tsr_writer_opts){ .shard_bytes = 1 }),
                 TSR_EUNSUPPORTED, "shard_bytes is for safetensors");
    EXPECT_FAILS(tsr_writer_create(&w, "/nowhere/p", &opts), TSR_EIO, "/nowhere");
    tsr_release_all(&t, &odd);
}

/* Begins a set in files of 16 bytes and adds "a". */
static tsr_writer *begin_set(const char *name, const tsr_tensor *t)
{
    tsr_writer *w = NULL;
    EXPECT_OK(tsr_writer_create(&w, file_path(name),
                                &(tsr_writer_opts){ .no_sync = true, .shard_bytes = 16 }));
    EXPECT_OK(tsr_writer_text(w, "total_size", "mine"));
    EXPECT_OK(tsr_writer_add(w, "a", t, NULL));
    return w;
}

/* A file that was begun for a tensor that did not come is none of the set. */
TEST(test_a_set_without_the_tensor_that_failed_is_whole)
{
    tsr_tensor *t = counted(4), *packed = NULL;
    tsr_status s = TSR_ENOMEM;
    EXPECT_OK(tsr_view(&packed, t, TSR_SHAPE(2, 2)));
    EXPECT_OK(tsr_transpose(&packed, packed, 0, 1));  /* it takes memory when its file was begun */
    for (int n = 0; n < 100 && s == TSR_ENOMEM; n++) {
        tsr_file *f = NULL;
        tsr_writer *w = begin_set("q.safetensors", t);
        files_allowed = n;
        tsr_set_alloc_hook(files_allow_some, NULL);
        s = tsr_writer_add(w, "b", packed, NULL);
        tsr_set_alloc_hook(NULL, NULL);
        EXPECT_OK(tsr_writer_finish(&w));
        EXPECT_OK(tsr_file_open(&f, file_path("q.safetensors.index.json"), NULL));
        EXPECT(tsr_file_count(f) == (s == TSR_OK ? 2 : 1));
        tsr_file_close(&f);
    }
    EXPECT(s == TSR_OK);
    tsr_release_all(&t, &packed);
}

/* The size of a set is its own, whatever the metadata say. */
TEST(test_the_size_of_a_set_is_told_once)
{
    size_t bytes = 0;
    tsr_tensor *t = counted(4);
    tsr_writer *w = begin_set("t.safetensors", t);
    EXPECT_OK(tsr_writer_finish(&w));
    unsigned char *index = read_bytes(file_path("t.safetensors.index.json"), &bytes);
    index[bytes] = '\0';
    EXPECT(strstr((const char *)index, "\"total_size\": 16") && !strstr((const char *)index, "mine"));
    free(index);
    tsr_release(&t);
}

TEST(test_a_set_that_cannot_have_its_names_is_told)
{
    static char path[8000];
    tsr_writer *w = NULL;
    tsr_tensor *t = counted(4);
    const tsr_writer_opts opts = { .format = "safetensors", .shard_bytes = 16 };
    memset(path, 'a', sizeof path - 1);
    EXPECT_FAILS(tsr_writer_create(&w, path, &opts), TSR_EINVAL, "a path of 7999 bytes");
    EXPECT(mkdir(file_path("d-00001-of-00001.safetensors"), 0700) == 0);
    w = begin_set("d.safetensors", t);
    EXPECT_FAILS(tsr_writer_finish(&w), TSR_EIO, "is no regular file");
    EXPECT(!file_exists(file_path("d.safetensors.index.json")));
    tsr_release(&t);
}

/* Streams ------------------------------------------------------------------------------ */

static tsr_status write_to(const char *path, const char *format, const tsr_tensor *t, bool declare)
{
    tsr_writer *w = NULL;
    const bool many = !strcmp(format, "safetensors") || !strcmp(format, "gguf");
    tsr_status s = tsr_writer_create(&w, path, &(tsr_writer_opts){ .format = format, .no_sync = true });
    for (int i = 0; i < 1 + many && declare && s == TSR_OK; i++)
        s = tsr_writer_declare(w, i ? "b" : "a", &t->desc, NULL);
    for (int i = 0; i < 1 + many && s == TSR_OK; i++) s = tsr_writer_add(w, i ? "b" : "a", t, NULL);
    if (s == TSR_OK) return tsr_writer_finish(&w);
    tsr_writer_cancel(&w);
    return s;
}

TEST(test_what_goes_down_a_pipe_is_what_a_file_has)
{
    static const char *const formats[] = { "npy", "safetensors", "gguf", "csv", "tsv", "raw", "png", "pnm" };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const bool image = formats[i][0] == 'p';
        int ends[2];
        char path[40];
        size_t bytes = 0;
        tsr_tensor *t = NULL;
        EXPECT_OK(tsr_full(&t, image ? TSR_U8 : TSR_F32, TSR_SHAPE(7, 5), TSR_SCALAR(9)));
        EXPECT_OK(write_to(file_path("want"), formats[i], t, true));
        unsigned char *want = read_bytes(file_path("want"), &bytes), *got = malloc(bytes + 1);
        EXPECT(pipe(ends) == 0);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
        EXPECT_OK(write_to(path, formats[i], t, true));
        EXPECT(close(ends[1]) == 0);  /* it was left open */
        const ssize_t n = read(ends[0], got, bytes + 1);
        EXPECT_MSG(n == (ssize_t)bytes && memcmp(want, got, bytes) == 0, "%s: %lld bytes for %zu", formats[i],
                   (long long)n, bytes);
        close(ends[0]);
        tsr_release(&t);
        free(want);
        free(got);
    }
}

/* What was in it stays before what is written. */
TEST(test_a_descriptor_of_a_file_is_gone_on_with)
{
    char path[40];
    size_t bytes = 0;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_full(&t, TSR_U8, TSR_SHAPE(3), TSR_SCALAR('b')));
    const int file = open(file_path("log"), O_CREAT | O_RDWR, 0600);
    EXPECT(write(file, "aa", 2) == 2);
    snprintf(path, sizeof path, "/dev/fd/%d", file);
    EXPECT_OK(write_to(path, "raw", t, false));
    EXPECT(write(file, "c", 1) == 1 && close(file) == 0);
    unsigned char *data = read_bytes(file_path("log"), &bytes);
    EXPECT(bytes == 6 && memcmp(data, "aabbbc", 6) == 0);
    free(data);
    tsr_release(&t);
}

TEST(test_what_cannot_go_down_a_pipe_is_refused)
{
    char path[40];
    int ends[2];
    tsr_tensor *t = counted(3);
    EXPECT(pipe(ends) == 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    EXPECT_FAILS(write_to(path, "npz", t, true), TSR_EUNSUPPORTED, "npz is not written so");
    EXPECT_FAILS(write_to(path, "safetensors", t, false), TSR_EUNSUPPORTED, "declare all tensors first");
    EXPECT_FAILS(write_to(path, "gguf", t, false), TSR_EUNSUPPORTED, "declare all tensors first");
    EXPECT_FAILS(tsr_file_save(path, t), TSR_EINVAL, "tells no format");
    close(ends[0]);
    close(ends[1]);
    EXPECT_FAILS(write_to(path, "npy", t, false), TSR_EIO, "Bad file descriptor");
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal >= 0 && isatty(terminal)) {
        snprintf(path, sizeof path, "/dev/fd/%d", terminal);
        EXPECT_FAILS(write_to(path, "npy", t, false), TSR_EIO, "is a terminal");
    }
    if (terminal >= 0) close(terminal);
    tsr_release(&t);
}

TEST(test_standard_output_is_a_stream)
{
    size_t bytes = 0;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_full(&t, TSR_U8, TSR_SHAPE(3), TSR_SCALAR('b')));
    fflush(stdout);
    const int before = dup(1), file = open(file_path("out"), O_CREAT | O_RDWR, 0600);
    EXPECT(dup2(file, 1) == 1);
    const tsr_status s = write_to("/dev/stdout", "raw", t, false);
    EXPECT(dup2(before, 1) == 1 && close(before) == 0 && close(file) == 0);
    EXPECT(s == TSR_OK);
    unsigned char *data = read_bytes(file_path("out"), &bytes);
    EXPECT(bytes == 3 && memcmp(data, "bbb", 3) == 0);
    free(data);
    tsr_release(&t);
}

TEST(test_paths_that_only_look_like_streams_are_none)
{
    static const char *const paths[] = { "/dev/fd/", "/dev/fd/x", "/dev/fd/!", "/dev/fd/10000000000" };
    tsr_tensor *t = counted(3);
    for (int i = 0; i < 4; i++) EXPECT_STATUS(write_to(paths[i], "npy", t, false), TSR_EIO);
    for (size_t zeros = 100; zeros <= 100000; zeros *= 1000) { /* of a number that is small all the same */
        char *path = calloc(1, zeros + 16);
        memcpy(path, "/dev/fd/", 8);
        memset(path + 8, '0', zeros);
        path[8 + zeros] = '1';
        EXPECT_STATUS(write_to(path, "npy", t, false), TSR_EIO);
        free(path);
    }
    tsr_release(&t);
}

/* No format asks for it. */
TEST(test_a_stream_does_not_go_back)
{
    char path[40], final_path[TSRI_PATH], temporary[TSRI_PATH], scratch[8];
    tsri_sink s = { .file = -1 };
    const int file = open(file_path("s"), O_CREAT | O_RDWR, 0600), locked = open(file_path("s"), O_RDONLY);
    snprintf(path, sizeof path, "/dev/fd/%d", file);
    EXPECT_OK(tsri_sink_create(&s, path, false, final_path, temporary));
    EXPECT_OK(tsri_sink_write(&s, 2, "abcd", 4));
    EXPECT_FAILS(tsri_sink_write(&s, 3, "x", 1), TSR_EUNSUPPORTED, "an earlier one is to change");
    EXPECT_FAILS(tsri_sink_move(&s, 0, 1, 4, scratch, sizeof scratch), TSR_EUNSUPPORTED, "an earlier one");
    EXPECT_FAILS(tsri_sink_cut(&s, 5), TSR_EUNSUPPORTED, "an earlier one is to change");
    EXPECT_OK(tsri_sink_cut(&s, 6));
    tsri_sink_remove(&s);
    snprintf(path, sizeof path, "/dev/fd/%d", locked);
    s = (tsri_sink){ .file = -1 };
    EXPECT_OK(tsri_sink_create(&s, path, false, final_path, temporary));
    EXPECT_FAILS(tsri_sink_write(&s, 2, "abcd", 4), TSR_EIO, "write");
    tsri_sink_remove(&s);
    EXPECT(close(file) == 0 && close(locked) == 0);
}

TEST_AFTER
{
    files_remove();
}
