/* test_hdf5.c - HDF5 files: those that h5py made (tests/data/files), what we write, and files that lead to
 * others. */
#define _GNU_SOURCE 1 /* mkdtemp */
#include "fuzz/repair.h"
#include "unit/counted.h"
#include "unit/hostile.h"

#define GOLDEN "tests/data/files/"

TEST(test_datasets_are_read_contiguous_and_in_chunks_from_files_and_memory)
{
    size_t bytes = 0;
    unsigned char *data = read_bytes(GOLDEN "tensors.h5", &bytes);
    for (int memory = 0; memory < 2; memory++) {
        tsr_file *f = NULL;
        tsr_tensor *t = NULL;
        tsr_file_entry e;
        if (memory) EXPECT_OK(tsr_file_open_bytes(&f, data, bytes, "x.h5", NULL));
        else        EXPECT_OK(tsr_file_open(&f, GOLDEN "tensors.h5", NULL));
        EXPECT(!strcmp(tsr_file_format(f), "hdf5"));
        expect_counted(f, "plain/", COUNTED);
        expect_counted(f, "packed/", COUNTED);
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
}

TEST(test_a_group_in_itself_is_listed_once)
{
    tsr_file *f = NULL;
    EXPECT_OK(tsr_file_open(&f, GOLDEN "loop.h5", NULL));
    EXPECT(tsr_file_count(f) == 0);
    tsr_file_close(&f);
}

TEST(test_files_of_hdf5_come_back)
{
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
    static char name[8194];
    static const char *const bad[] = { "", "/a", "a/", "a//b", "\xff", name };
    tsr_writer *w = NULL;
    tsr_tensor *t = NULL, *half = NULL, *other = NULL;
    memset(name, 'a', sizeof name - 1);
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(2)));
    EXPECT_OK(tsr_zeros(&half, TSR_F8E4M3, TSR_SHAPE(2)));
    EXPECT_OK(tsr_writer_create(&w, file_path("n.h5"), NULL));
    for (int i = 0; i < 6; i++)
        EXPECT_FAILS(tsr_writer_add(w, bad[i], t, NULL), TSR_EINVAL, "no path of HDF5");
    EXPECT_OK(tsr_zeros(&other, TSR_F8E5M2, TSR_SHAPE(2)));
    EXPECT_FAILS(tsr_writer_add(w, "a", other, NULL), TSR_EDTYPE, "f8e5m2");
    EXPECT_FAILS(tsr_writer_add(w, "a", half, NULL), TSR_EDTYPE, "f8e4m3");
    EXPECT_FAILS(tsr_writer_add(w, "a", t, "q8_0"), TSR_EUNSUPPORTED, "no encodings");
    EXPECT_OK(tsr_writer_add(w, "a", t, NULL));
    EXPECT_FAILS(tsr_writer_add(w, "a/b", t, NULL), TSR_EINVAL, "a part of its path");
    EXPECT_OK(tsr_writer_add(w, "c/d", t, NULL));
    EXPECT_FAILS(tsr_writer_add(w, "c", t, NULL), TSR_EINVAL, "it is a group");
    char deep[80] = "x";
    for (int i = 0; i < 32; i++) memcpy(deep + 1 + 2 * i, "/x", 3);
    EXPECT_FAILS(tsr_writer_add(w, deep, t, NULL), TSR_EINVAL, "at most 32");
    EXPECT_FAILS(tsr_writer_add(w, "a", t, NULL), TSR_EINVAL, "already");
    tsr_writer_cancel(&w);
    EXPECT(!file_exists(file_path("n.h5")));
    tsr_release_all(&t, &half, &other);
}

TEST(test_what_is_no_hdf5_or_ends_early_is_told)
{
    open_hostile((const unsigned char *)"\x89HDF\r\n\x1a\n", 8, "hdf5");
    open_hostile((const unsigned char *)"hello", 5, "hdf5");
    open_hostile(NULL, 0, "hdf5");
}

/* One file of each version, with every kind of index, filter and group. */
TEST(test_files_of_hdf5_cut_or_changed_anywhere_do_no_harm)
{
    static const char *const names[] = { "all-earliest", "all-v108", "all-latest", "array", "tree2",
                                         "dense", "compact", "user", "growing" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[80];
        snprintf(path, sizeof path, "tests/fuzz/corpus/hdf5/%s.h5", names[i]);
        expect_repaired_harmless(path, "hdf5", repair_hdf5);
    }
}

static bool counts_up(const tsr_file *f, const char *name, int64_t count)
{
    tsr_tensor *t = NULL;
    bool ok = tsr_file_read(&t, f, name) == TSR_OK && tsr_numel(t) == count;
    for (int64_t i = 0; ok && i < count; i++) ok = element(t, i) == (double)i;
    tsr_release(&t);
    return ok;
}

TEST(test_datasets_that_may_grow_are_read_as_far_as_they_are)
{
    tsr_file *f = NULL;
    EXPECT_OK(tsr_file_open(&f, "tests/fuzz/corpus/hdf5/growing.h5", NULL));
    EXPECT(counts_up(f, "line", 300));
    EXPECT(counts_up(f, "second", 240));
    EXPECT(counts_up(f, "room", 240));
    EXPECT(counts_up(f, "lzf", 600));
    tsr_file_close(&f);
}

/* Opens bytes with one of them changed. */
static void expect_wrong_sum(unsigned char *data, size_t bytes, size_t at, const char *words)
{
    tsr_file *f = NULL;
    data[at] ^= 0x10;
    EXPECT_FAILS(tsr_file_open_bytes(&f, data, bytes, "x.h5", NULL), TSR_EFORMAT, words);
    tsr_file_close(&f);
    data[at] ^= 0x10;
}

/* The next block of that name; `bytes` if there is none. */
static size_t find_block(const unsigned char *data, size_t bytes, size_t at, const char *name)
{
    while (at + 8 < bytes && memcmp(data + at, name, 4) != 0) at++;
    return at + 8 < bytes ? at : bytes;
}

/* Sums of what has no other check: a time, an address, a name, the sum itself. */
TEST(test_damage_that_only_a_checksum_tells_is_told)
{
    size_t bytes = 0;
    unsigned char *data = read_bytes(GOLDEN "tensors.h5", &bytes);
    for (size_t i = 20; i < 48; i++) expect_wrong_sum(data, bytes, i, "the checksum of its first block");
    int headers = 0, parts = 0;
    for (size_t i = 0; (i = find_block(data, bytes, i, "OHDR")) < bytes; i++, headers++)
        expect_wrong_sum(data, bytes, i + 14, "the checksum of a header");
    for (size_t i = 0; (i = find_block(data, bytes, i, "OCHK")) < bytes; i++, parts++)
        expect_wrong_sum(data, bytes, i + 4, "the checksum of a header");
    EXPECT_MSG(headers == 35 && parts == 2, "%d headers and %d parts", headers, parts);
    free(data);
}

/* Ours have the sums that are asked for. */
TEST(test_each_byte_of_a_header_that_we_write_is_in_a_sum)
{
    size_t bytes = 0;
    tsr_tensor *t = NULL;
    tsr_writer *w = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(2)));
    EXPECT_OK(tsr_writer_create(&w, file_path("s.h5"), &(tsr_writer_opts){ .no_sync = true }));
    EXPECT_OK(tsr_writer_add(w, "group/a name", t, NULL));
    EXPECT_OK(tsr_writer_finish(&w));
    unsigned char *data = read_bytes(file_path("s.h5"), &bytes);
    tsr_file *f = NULL;
    EXPECT_OK(tsr_file_open_bytes(&f, data, bytes, "x.h5", NULL));
    tsr_file_close(&f);
    for (size_t at = 0; (at = find_block(data, bytes, at, "OHDR")) < bytes; at++)
        for (size_t i = 10; i < 10u + data[at + 6] + 4; i++)
            expect_wrong_sum(data, bytes, at + i, "the checksum of a header");
    free(data);
    tsr_release(&t);
}

TEST(test_a_file_of_nothing_is_written_and_read)
{
    tsr_writer *w = NULL;
    tsr_file *f = NULL;
    EXPECT_OK(tsr_writer_create(&w, file_path("0.h5"), &(tsr_writer_opts){ .no_sync = true }));
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_OK(tsr_file_open(&f, file_path("0.h5"), NULL));
    EXPECT(tsr_file_count(f) == 0);
    tsr_file_close(&f);
}

/* Chunks of three rows, of which the last has two. */
TEST(test_chunks_that_end_behind_a_tensor_come_back)
{
    tsr_tensor *t = NULL, *back = NULL;
    tsr_writer *w = NULL;
    EXPECT_OK(tsr_integers(&t, TSR_U8, TSR_SHAPE(2, 5, 300000), 0, 3, 7));
    EXPECT_OK(tsr_writer_create(&w, file_path("r.h5"),
                                &(tsr_writer_opts){ .compress = true, .no_sync = true }));
    EXPECT_OK(tsr_writer_add(w, "t", t, NULL));
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_OK(tsr_file_load(&back, file_path("r.h5"), "t"));
    EXPECT(same_bits(back, t));
    tsr_release_all(&t, &back);
}

/* The n-th allocation of an add fails; then the name of its group is free. */
TEST(test_an_add_that_fails_leaves_no_group_behind)
{
    tsr_tensor *t = NULL;
    tsr_status s = TSR_ENOMEM;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(3, 4)));
    EXPECT_OK(tsr_transpose(&t, t, 0, 1));
    for (int n = 0, failed = 0; n < 100 && s == TSR_ENOMEM; n++, failed++) {
        tsr_writer *w = NULL;
        tsr_file *f = NULL;
        tsr_file_entry e;
        EXPECT_OK(tsr_writer_create(&w, file_path("g.h5"),
                                    &(tsr_writer_opts){ .compress = true, .no_sync = true }));
        EXPECT_OK(tsr_writer_add(w, "a", t, NULL));
        files_allowed = n;
        tsr_set_alloc_hook(files_allow_some, NULL);
        s = tsr_writer_add(w, "b/c/d", t, NULL);
        tsr_set_alloc_hook(NULL, NULL);
        EXPECT_MSG(s == TSR_OK || s == TSR_ENOMEM, "%s", tsr_last_error());
        if (s == TSR_OK) EXPECT_SURVIVES(tsr_writer_add(w, "b/c/e", t, NULL));
        if (s == TSR_OK) EXPECT_FAILS(tsr_writer_add(w, "b/c", t, NULL), TSR_EINVAL, "it is a group");
        else             EXPECT_OK(tsr_writer_add(w, n % 2 ? "b/c" : "b", t, NULL));
        EXPECT_OK(tsr_writer_finish(&w));
        EXPECT_OK(tsr_file_open(&f, file_path("g.h5"), NULL));
        EXPECT(tsr_file_count(f) == (s == TSR_OK ? 3 : 2));
        EXPECT_OK(tsr_file_find(&e, f, s == TSR_OK ? "b/c/d" : n % 2 ? "b/c" : "b"));
        tsr_file_close(&f);
        EXPECT(s != TSR_OK || failed > 2);
    }
    EXPECT(s == TSR_OK);
    tsr_release(&t);
}

TEST(test_many_chunks_have_a_tree_of_two_levels)
{
    tsr_tensor *t = NULL, *back = NULL;
    tsr_writer *w = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_U8, TSR_SHAPE(70, 1 << 20)));
    for (int i = 0; i < 70; i++) ((unsigned char *)t->data)[((size_t)i << 20) + (size_t)i] = (unsigned char)i;
    EXPECT_OK(tsr_writer_create(&w, file_path("m.h5"),
                                &(tsr_writer_opts){ .compress = true, .no_sync = true }));
    EXPECT_OK(tsr_writer_add(w, "t", t, NULL));
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_OK(tsr_file_load(&back, file_path("m.h5"), "t"));
    EXPECT(same_bits(back, t));
    tsr_release_all(&t, &back);
}

TEST_AFTER
{
    files_remove();
}
