/* test_large_files.c - npz with a member of 4 GiB: what 32 bits do not hold stands in fields of 64. Zeros are
 * not written, so that the file has holes in their place and takes hardly any room. */
#define _GNU_SOURCE 1
#include <sys/syscall.h>

#include "sanitizers.h"
#include "unit/files.h"

static int64_t left_out;

#ifdef __GLIBC__
/* In place of the system's, as the library is in this program. */
ssize_t pwrite64(int file, const void *data, size_t bytes, off64_t at)
{
    const char *p = data;
    if (bytes > 4096 && !p[0] && !memcmp(p, p + 1, bytes - 1)) {
        left_out += (int64_t)bytes;
        return (ssize_t)bytes;
    }
    return (ssize_t)syscall(SYS_pwrite64, file, data, bytes, at);
}
#endif

static uint64_t little_endian(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++) v |= (uint64_t)p[i] << 8 * i;
    return v;
}

/* The header before the first member, whose name has 7 bytes: sizes of 32 bits are all ones, and those of 64
 * stand in the first extra field. */
static void expect_wide_header(const char *path, uint64_t least)
{
    unsigned char p[64] = { 0 };
    FILE *f = fopen(path, "rb");
    EXPECT(f && fread(p, 1, sizeof p, f) == sizeof p);
    if (f) fclose(f);
    EXPECT(little_endian(p + 18, 4) == UINT32_MAX && little_endian(p + 22, 4) == UINT32_MAX);
    EXPECT(little_endian(p + 37, 4) == 0x100001);
    EXPECT(little_endian(p + 41, 8) > least && little_endian(p + 41, 8) < least + 4096);
    EXPECT(little_endian(p + 41, 8) == little_endian(p + 49, 8));
}

TEST(test_npz_of_more_than_4_gib_comes_back)
{
    enum { BEHIND = 7 };
    const int64_t n = (INT64_C(1) << 32) + BEHIND;
    const char *path = file_path("large.npz");
    const tsr_file_range end = { n - BEHIND, TSR_NONE, 1 };
    tsr_tensor *zero = NULL, *all = NULL, *small = NULL, *back = NULL;
    tsr_writer *w = NULL;
    tsr_file *f = NULL;
    tsr_file_entry e;
    bool same = false;
#ifndef __GLIBC__
    SKIP("another C library names its functions otherwise");
#endif
    if (UNDER_ASAN) SKIP("checksums of 4 GiB take long");
    EXPECT_OK(tsr_zeros(&zero, TSR_U8, TSR_SHAPE(1)));
    EXPECT_OK(tsr_expand(&all, zero, TSR_SHAPE(n)));
    EXPECT_OK(tsr_from_data(&small, TSR_I32, TSR_SHAPE(3), ((int32_t[]){ 4, 5, 6 })));
    EXPECT_OK(tsr_writer_create(&w, path, &(tsr_writer_opts){ .no_sync = true }));
    EXPECT_OK(tsr_writer_add(w, "all", all, NULL));
    EXPECT_OK(tsr_writer_add(w, "small", small, NULL));
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT(left_out > n / 2);
    expect_wide_header(path, (uint64_t)n);
    EXPECT_OK(tsr_file_open(&f, path, NULL));
    if (!f) return;
    EXPECT(tsr_file_count(f) == 2);
    EXPECT_OK(tsr_file_find(&e, f, "all"));
    EXPECT(e.desc.shape[0] == n && e.bytes >= (uint64_t)n && e.mapped);
    EXPECT_OK(tsr_file_read_slice(&back, f, "all", 1, &end));
    EXPECT(back && tsr_numel(back) == BEHIND);
    tsr_release(&back);
    EXPECT_OK(tsr_file_read(&back, f, "small"));
    EXPECT(tsr_equal(&same, back, small) == TSR_OK && same);
    tsr_file_close(&f);
    tsr_release_all(&zero, &all, &small, &back);
}

TEST_AFTER { files_remove(); }
