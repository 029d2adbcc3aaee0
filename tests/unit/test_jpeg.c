/* test_jpeg.c - photographs: a file that Pillow made, what we write, and what is damaged. The library that
 * knows pixels may be there or not. */
#define _GNU_SOURCE 1 /* mkdtemp */
#include <math.h>
#include <sys/wait.h>

#include "unit/hostile.h"

#define GOLDEN "tests/data/files/"

/* Is libturbojpeg here? */
static bool has_library(void)
{
    tsr_tensor *t = NULL;
    const bool here = tsr_file_load(&t, GOLDEN "photo.jpg", NULL) == TSR_OK;
    tsr_release(&t);
    return here;
}

/* Row y and column x of channel c, as the maker of the file painted it. */
static double painted(int64_t y, int64_t x, int64_t c) { return (double)(4 * y + 2 * x + 40 * c); }

static void expect_painted(const tsr_tensor *t, double most)
{
    double worst = 0;
    const int64_t channels = t->ndim == 3 ? 3 : 1;
    for (int64_t i = 0; i < tsr_numel(t); i++) {
        const double want = painted(i / channels / 30, i / channels % 30, i % channels);
        worst = fmax(worst, fabs(element(t, i) - want));
    }
    EXPECT_MSG(worst <= most, "%g from what was painted", worst);
}

TEST(test_the_size_of_a_photograph_is_read_without_a_library)
{
    tsr_file *f = NULL;
    tsr_file_entry e;
    EXPECT_OK(tsr_file_open(&f, GOLDEN "photo.jpg", NULL));
    EXPECT(!strcmp(tsr_file_format(f), "jpeg"));
    EXPECT_OK(tsr_file_find(&e, f, NULL));
    EXPECT(e.desc.dtype == TSR_U8 && e.desc.ndim == 3 && e.desc.shape[0] == 20 && e.desc.shape[1] == 30);
    tsr_file_close(&f);
    EXPECT_OK(tsr_file_open(&f, GOLDEN "gray.jpg", NULL));
    EXPECT_OK(tsr_file_find(&e, f, NULL));
    EXPECT(e.desc.ndim == 2 && e.desc.shape[0] == 20);
    tsr_file_close(&f);
}

TEST(test_without_a_library_the_package_is_named)
{
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        tsr_tensor *t = NULL;
        tsr_set_external(false);
        const tsr_status s = tsr_file_load(&t, GOLDEN "photo.jpg", NULL);
        TEST_LEAVE(s == TSR_EUNSUPPORTED && strstr(tsr_last_error(), "install libturbojpeg0") ? 0 : 1);
    }
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(test_a_library_that_is_named_and_not_there_is_none)
{
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        tsr_tensor *t = NULL;
        (void)setenv("TSR_JPEG", "/nowhere/libturbojpeg.so", 1);
        const tsr_status s = tsr_file_load(&t, GOLDEN "photo.jpg", NULL);
        TEST_LEAVE(s == TSR_EUNSUPPORTED && strstr(tsr_last_error(), "install libturbojpeg0") ? 0 : 1);
    }
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(test_photographs_are_read)
{
    tsr_tensor *t = NULL;
    if (!has_library()) SKIP("libturbojpeg is not installed");
    EXPECT_OK(tsr_file_load(&t, GOLDEN "photo.jpg", NULL));
    expect_painted(t, 6);
    tsr_release(&t);
    EXPECT_OK(tsr_file_load(&t, GOLDEN "gray.jpg", NULL));
    expect_painted(t, 3);
    tsr_release(&t);
}

TEST(test_photographs_come_back_nearly_as_they_were_written)
{
    tsr_tensor *t = NULL, *transposed = NULL;
    size_t small = 0, large = 0;
    if (!has_library()) SKIP("libturbojpeg is not installed");
    EXPECT_OK(tsr_empty(&t, TSR_U8, TSR_SHAPE(30, 20, 3)));
    for (int64_t i = 0; i < 1800; i++)
        ((unsigned char *)t->data)[i] = (unsigned char)painted(i / 3 % 20, i / 60, i % 3);
    EXPECT_OK(tsr_transpose(&transposed, t, 0, 1));  /* of strides that no library takes */
    for (int quality = 10; quality <= 100; quality += 90) {
        tsr_writer *w = NULL;
        tsr_tensor *back = NULL;
        EXPECT_OK(tsr_writer_create(&w, file_path("p.jpg"), &(tsr_writer_opts){ .quality = quality }));
        EXPECT_OK(tsr_writer_add(w, NULL, transposed, NULL));
        EXPECT_OK(tsr_writer_finish(&w));
        free(read_bytes(file_path("p.jpg"), quality == 10 ? &small : &large));
        EXPECT_OK(tsr_file_load(&back, file_path("p.jpg"), NULL));
        expect_painted(back, quality == 10 ? 30 : 6);
        tsr_release(&back);
    }
    EXPECT(small < large);
    tsr_release_all(&t, &transposed);
}

/* One channel may have a dim of its own. */
TEST(test_gray_photographs_have_two_dims_or_three)
{
    if (!has_library()) SKIP("libturbojpeg is not installed");
    tsr_tensor *t = NULL, *back = NULL;
    EXPECT_OK(tsr_full(&t, TSR_U8, TSR_SHAPE(20, 30, 1), TSR_SCALAR(77)));
    EXPECT_OK(tsr_file_save(file_path("one.jpg"), t));
    EXPECT_OK(tsr_file_load(&back, file_path("one.jpg"), NULL));
    EXPECT(back && back->ndim == 2 && element(back, 5) > 74 && element(back, 5) < 80);
    tsr_release_all(&t, &back);
}

TEST(test_what_is_no_photograph_is_not_written)
{
    if (!has_library()) SKIP("libturbojpeg is not installed");
    static const struct {
        tsr_dtype  dtype;
        int        ndim;
        int64_t    shape[3];
        int        quality;
        tsr_status status;
    } bad[] = {
        { TSR_F32, 2, { 2, 2 }, 0, TSR_EDTYPE },    { TSR_U8, 1, { 2 }, 0, TSR_ESHAPE },
        { TSR_U8, 3, { 2, 2, 4 }, 0, TSR_ESHAPE },  { TSR_U8, 2, { 0, 2 }, 0, TSR_ESHAPE },
        { TSR_U8, 2, { 2, 0 }, 0, TSR_ESHAPE },     { TSR_U8, 2, { 65501, 1 }, 0, TSR_ESHAPE },
        { TSR_U8, 2, { 1, 65501 }, 0, TSR_ESHAPE }, { TSR_U8, 2, { 2, 2 }, 101, TSR_EINVAL },
        { TSR_U8, 2, { 2, 2 }, -1, TSR_EINVAL },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tsr_writer *w = NULL;
        tsr_tensor *t = NULL;
        EXPECT_OK(tsr_zeros(&t, bad[i].dtype, bad[i].ndim, bad[i].shape));
        EXPECT_OK(tsr_writer_create(&w, file_path("b.jpg"), &(tsr_writer_opts){ .quality = bad[i].quality }));
        EXPECT_FAILS(tsr_writer_add(w, NULL, t, "q8_0"), TSR_EUNSUPPORTED, "jpeg has no encodings");
        EXPECT_STATUS(tsr_writer_add(w, NULL, t, NULL), bad[i].status);
        tsr_writer_cancel(&w);
        tsr_release(&t);
    }
}

/* libturbojpeg's longest side is shorter than what 16 bits hold. */
TEST(test_the_longest_photograph_comes_back)
{
    if (!has_library()) SKIP("libturbojpeg is not installed");
    for (int upright = 0; upright < 2; upright++) {
        tsr_tensor *t = NULL, *back = NULL;
        EXPECT_OK(tsr_full(&t, TSR_U8, TSR_SHAPE(upright ? 65500 : 1, upright ? 1 : 65500), TSR_SCALAR(77)));
        EXPECT_OK(tsr_file_save(file_path("long.jpg"), t));
        EXPECT_OK(tsr_file_load(&back, file_path("long.jpg"), NULL));
        EXPECT(back && back->shape[upright ? 0 : 1] == 65500 && element(back, 65499) > 74);
        tsr_release_all(&t, &back);
    }
}

static tsr_status open_jpeg(const char *bytes, size_t n)
{
    tsr_file *f = NULL;
    const tsr_status s = tsr_file_open_bytes(&f, bytes, n, "x.jpg", NULL);
    tsr_file_close(&f);
    return s;
}

TEST(test_headers_of_photographs_are_checked)
{
#define JPEG(text) "\xff\xd8" text, sizeof "\xff\xd8" text - 1
#define FRAME(bits, height, width, channels) "\xff\xc0\0\x0b" bits height width channels "\1\x11\0"
    EXPECT_OK(open_jpeg(JPEG(FRAME("\x08", "\0\2", "\0\3", "\1"))));
    EXPECT_OK(open_jpeg(JPEG("\xff\xcc\0\2" FRAME("\x08", "\0\2", "\0\3", "\1"))));
    EXPECT_OK(open_jpeg(JPEG("\xff\xff\xff" FRAME("\x08", "\0\2", "\0\3", "\1"))));
    EXPECT_OK(open_jpeg(JPEG("\xff\xc8\0\2" FRAME("\x08", "\0\2", "\0\3", "\1"))));
    EXPECT_FAILS(open_jpeg(JPEG("\xff\xe0")), TSR_EFORMAT, "a segment");
    EXPECT_FAILS(open_jpeg(JPEG("\xff\xe0\xff\xff")), TSR_EFORMAT, "a segment");
    EXPECT_FAILS(open_jpeg(JPEG("\xff\xe0\0\1")), TSR_EFORMAT, "marker e0");
    EXPECT_FAILS(open_jpeg(JPEG("\xff\x01\0\x0cxxxxxxxxxxxx")), TSR_EFORMAT, "marker 1 before");
    EXPECT_FAILS(open_jpeg(JPEG("\xff\xd7\0\x0cxxxxxxxxxxxx")), TSR_EFORMAT, "marker d7");
    EXPECT_FAILS(open_jpeg(JPEG("\xff\xd9\0\x0cxxxxxxxxxxxx")), TSR_EFORMAT, "marker d9");
    EXPECT_FAILS(open_jpeg(JPEG("\xff\xda\0\x0cxxxxxxxxxxxx")), TSR_EFORMAT, "marker da");
    EXPECT_FAILS(open_jpeg(JPEG("\xff\xe0\0\2xxxx")), TSR_EFORMAT, "expected a marker");
    EXPECT_FAILS(open_jpeg(JPEG("\xff\xc0\0\4xxxx")), TSR_EFORMAT, "a frame of 4 bytes");
    EXPECT_FAILS(open_jpeg(JPEG(FRAME("\x0c", "\0\2", "\0\3", "\1"))), TSR_EUNSUPPORTED, "12 bits");
    EXPECT_FAILS(open_jpeg(JPEG(FRAME("\x08", "\0\2", "\0\3", "\4"))), TSR_EUNSUPPORTED, "4 channels");
    EXPECT_FAILS(open_jpeg(JPEG(FRAME("\x08", "\0\0", "\0\3", "\1"))), TSR_EUNSUPPORTED, "0 high");
    EXPECT_FAILS(open_jpeg(JPEG(FRAME("\x08", "\0\2", "\0\0", "\1"))), TSR_EFORMAT, "without a width");
    EXPECT_FAILS(open_jpeg(JPEG(FRAME("\x08", "\xff\xff", "\xff\xff", "\3"))), TSR_EFORMAT,
                 "bytes of pixels");
}

/* The bytes of a caller change after the file was opened. */
TEST(test_a_photograph_whose_size_changes_while_it_is_open_is_refused)
{
    if (!has_library()) SKIP("libturbojpeg is not installed");
    for (size_t k = 5; k <= 7; k += 2) {  /* the height and the width, behind the marker of the frame */
        tsr_tensor *t = NULL;
        tsr_file *f = NULL;
        size_t bytes = 0, at = 0;
        unsigned char *data = read_bytes(GOLDEN "gray.jpg", &bytes);
        while (at < bytes - 9 && memcmp(data + at, "\xff\xc2", 2) != 0) at++;
        EXPECT_OK(tsr_file_open_bytes(&f, data, bytes, "x.jpg", NULL));
        data[at + k + 1]--;
        EXPECT_FAILS(tsr_file_read(&t, f, NULL), TSR_EFORMAT, "two sizes");
        tsr_file_close(&f);
        free(data);
    }
}

/* A file of 58 KB took 7 seconds: 490 scans, each of which says that nothing changes. */
TEST(test_scans_are_in_proportion_to_the_file)
{
    if (!has_library()) SKIP("libturbojpeg is not installed");
    tsr_tensor *t = NULL;
    tsr_file *f = NULL;
    size_t bytes = 0;
    EXPECT_OK(tsr_zeros(&t, TSR_U8, TSR_SHAPE(4000, 4000)));
    EXPECT_OK(tsr_file_save(file_path("scans.jpg"), t));
    tsr_release(&t);
    unsigned char *data = read_bytes(file_path("scans.jpg"), &bytes);
    unsigned char *more = malloc(bytes + 20000);
    memcpy(more, data, bytes);
    for (int i = 0; i < 10000; i++) memcpy(more + bytes + 2 * i, "\xff\xda", 2);
    EXPECT_OK(tsr_file_open_bytes(&f, more, bytes + 20000, "scans.jpg", NULL));
    EXPECT_FAILS(tsr_file_read(&t, f, NULL), TSR_EFORMAT, "10001 scans over 16000000 bytes");
    tsr_file_close(&f);
    free(data);
    free(more);
}

TEST(test_photographs_cut_or_changed_anywhere_do_no_harm)
{
    expect_harmless(GOLDEN "photo.jpg", "jpeg");
    expect_harmless(GOLDEN "gray.jpg", "jpeg");
}

TEST_AFTER
{
    files_remove();
}
