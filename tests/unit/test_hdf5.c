/* test_hdf5.c - HDF5 files: those that h5py made (tests/data/files), what we write, and files that lead to
 * others. The library that knows them may be there or not. */
#define _GNU_SOURCE 1 /* mkdtemp */
#include <sys/wait.h>

#include "unit/hostile.h"

#define GOLDEN "tests/data/files/"

static const struct { const char *name; tsr_dtype dtype; } counted[] = {
    { "bool", TSR_BOOL }, { "i1", TSR_I8 },  { "i2", TSR_I16 }, { "i4", TSR_I32 },   { "i8", TSR_I64 },
    { "u1", TSR_U8 },     { "u2", TSR_U16 }, { "u4", TSR_U32 }, { "u8", TSR_U64 },   { "f2", TSR_F16 },
    { "f4", TSR_F32 },    { "f8", TSR_F64 }, { "c8", TSR_C64 }, { "c16", TSR_C128 },
};
enum { COUNTED = sizeof counted / sizeof *counted };

static bool has_library(void)
{
    tsr_file *f = NULL;
    const tsr_status s = tsr_file_open(&f, GOLDEN "tensors.h5", NULL);
    tsr_file_close(&f);
    return s != TSR_EUNSUPPORTED || !strstr(tsr_last_error(), "needs libhdf5");
}

static bool is_counted(const tsr_tensor *t)
{
    bool ok = t && t->ndim == 3 && t->shape[0] == 2 && t->shape[1] == 3 && t->shape[2] == 4;
    for (int64_t i = 0; ok && i < 24; i++) ok = element(t, i) == (double)(t->dtype == TSR_BOOL ? i % 2 : i);
    return ok;
}

static void expect_counted(const tsr_file *f, const char *folder)
{
    for (int i = 0; i < COUNTED; i++) {
        tsr_tensor *t = NULL;
        char name[32];
        snprintf(name, sizeof name, "%s%s", folder, counted[i].name);
        EXPECT_OK(tsr_file_read(&t, f, name));
        EXPECT_MSG(t && t->dtype == counted[i].dtype && is_counted(t), "%s", name);
        tsr_release(&t);
    }
}

TEST(test_without_a_library_the_package_is_named)
{
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        tsr_file *f = NULL;
        tsr_set_external(false);
        const tsr_status s = tsr_file_open(&f, GOLDEN "tensors.h5", NULL);
        _exit(s == TSR_EUNSUPPORTED && strstr(tsr_last_error(), "install libhdf5-103-1") ? 0 : 1);
    }
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(test_datasets_are_read_contiguous_and_in_chunks_from_files_and_memory)
{
    if (!has_library()) SKIP("libhdf5 is not installed");
    size_t bytes = 0;
    unsigned char *data = read_bytes(GOLDEN "tensors.h5", &bytes);
    for (int memory = 0; memory < 2; memory++) {
        tsr_file *f = NULL;
        tsr_tensor *t = NULL;
        tsr_file_entry e;
        if (memory) EXPECT_OK(tsr_file_open_bytes(&f, data, bytes, "x.h5", NULL));
        else        EXPECT_OK(tsr_file_open(&f, GOLDEN "tensors.h5", NULL));
        EXPECT(!strcmp(tsr_file_format(f), "hdf5"));
        expect_counted(f, "plain/");
        expect_counted(f, "packed/");
        EXPECT_OK(tsr_file_read(&t, f, "big"));
        EXPECT(t->dtype == TSR_I32 && is_counted(t));
        tsr_release(&t);
        const tsr_file_range part[] = { TSR_FILE_AT(1), { 0, 3, 2 } };
        EXPECT_OK(tsr_file_read_slice(&t, f, "packed/f4", 2, part));
        EXPECT(t->ndim == 2 && element(t, 0) == 12 && element(t, 4) == 20);
        tsr_release(&t);
        EXPECT_OK(tsr_file_read(&t, f, "scalar"));
        EXPECT(t->ndim == 0 && element(t, 0) == 2.5);
        tsr_release(&t);
        EXPECT_OK(tsr_file_find(&e, f, "plain/u1"));
        EXPECT(e.mapped == !memory);
        EXPECT_FAILS(tsr_file_read(&t, f, "text"), TSR_EUNSUPPORTED, "text");
        tsr_file_close(&f);
    }
    free(data);
}

/* A link to another file, elements in another file, a virtual dataset, and more than the file holds. */
TEST(test_a_file_leads_to_no_other)
{
    if (!has_library()) SKIP("libhdf5 is not installed");
    tsr_file *f = NULL;
    tsr_file_entry e;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_file_open(&f, GOLDEN "outside.h5", NULL));
    EXPECT_FAILS(tsr_file_find(&e, f, "link"), TSR_EINDEX, "link");
    EXPECT_FAILS(tsr_file_find(&e, f, "soft"), TSR_EINDEX, "soft");
    EXPECT_FAILS(tsr_file_read(&t, f, "external"), TSR_EUNSUPPORTED, "in another file");
    EXPECT_FAILS(tsr_file_read(&t, f, "virtual"), TSR_EUNSUPPORTED, "in another file");
    EXPECT_FAILS(tsr_file_read(&t, f, "huge"), TSR_EUNSUPPORTED, "does not hold");
    EXPECT_OK(tsr_file_read(&t, f, "here"));
    EXPECT(is_counted(t));
    tsr_release(&t);
    tsr_file_close(&f);
    EXPECT_FAILS(tsr_file_open(&f, GOLDEN "loop.h5", NULL), TSR_EFORMAT, "deep");
}

TEST(test_files_of_hdf5_come_back)
{
    if (!has_library()) SKIP("libhdf5 is not installed");
    for (int compress = 0; compress < 2; compress++) {
        uint64_t r = 4;
        tsr_writer *w = NULL;
        tsr_file *f = NULL;
        tsr_tensor *t[20] = { NULL };
        EXPECT_OK(tsr_writer_create(&w, file_path("w.h5"),
                                    &(tsr_writer_opts){ .compress = compress, .no_sync = true }));
        for (int i = 0; i < 20; i++) {
            char name[16];
            t[i] = any_tensor(&r, counted[i % COUNTED].dtype, 4);
            snprintf(name, sizeof name, "g%d/t%d", i % 3, i);
            EXPECT_OK(tsr_writer_add(w, name, t[i], NULL));
        }
        EXPECT_OK(tsr_writer_finish(&w));
        EXPECT_OK(tsr_file_open(&f, file_path("w.h5"), NULL));
        EXPECT(tsr_file_count(f) == 20);
        for (int i = 0; i < 20; i++) {
            char name[16];
            tsr_tensor *back = NULL;
            snprintf(name, sizeof name, "g%d/t%d", i % 3, i);
            EXPECT_OK(tsr_file_read(&back, f, name));
            EXPECT_MSG(same_bits(back, t[i]), "%s", name);
            tsr_release_all(&back, &t[i]);
        }
        tsr_file_close(&f);
    }
}

TEST(test_what_hdf5_has_not_is_not_written)
{
    if (!has_library()) SKIP("libhdf5 is not installed");
    static const char *const bad[] = { "", "/a", "a/", "a//b" };
    tsr_writer *w = NULL;
    tsr_tensor *t = NULL, *half = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(2)));
    EXPECT_OK(tsr_zeros(&half, TSR_BF16, TSR_SHAPE(2)));
    EXPECT_OK(tsr_writer_create(&w, file_path("n.h5"), NULL));
    for (int i = 0; i < 4; i++)
        EXPECT_FAILS(tsr_writer_add(w, bad[i], t, NULL), TSR_EINVAL, "no path of HDF5");
    EXPECT_FAILS(tsr_writer_add(w, "a", half, NULL), TSR_EDTYPE, "bf16");
    EXPECT_FAILS(tsr_writer_add(w, "a", t, "q8_0"), TSR_EUNSUPPORTED, "no encodings");
    EXPECT_OK(tsr_writer_add(w, "a", t, NULL));
    EXPECT_FAILS(tsr_writer_add(w, "a/b", t, NULL), TSR_EINVAL, "a part of its path");
    EXPECT_FAILS(tsr_writer_add(w, "a", t, NULL), TSR_EINVAL, "already");
    tsr_writer_cancel(&w);
    EXPECT(!file_exists(file_path("n.h5")));
    tsr_release_all(&t, &half);
}

TEST(test_what_is_no_hdf5_or_ends_early_is_told)
{
    if (!has_library()) SKIP("libhdf5 is not installed");
    size_t bytes = 0;
    unsigned char *data = read_bytes(GOLDEN "tensors.h5", &bytes);
    open_hostile((const unsigned char *)"\x89HDF\r\n\x1a\n", 8, "hdf5");
    open_hostile((const unsigned char *)"hello", 5, "hdf5");
    open_hostile(NULL, 0, "hdf5");
    for (size_t n = 0; n < bytes; n += 97) open_hostile(data, n, "hdf5");
    free(data);
}

TEST_AFTER
{
    files_remove();
}
