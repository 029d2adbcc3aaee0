/* test_file_refusals.c - what readers and writers of files refuse, each in words of its own, and what stays
 * good after it; the parts that they share, called directly where no file can lead to them. */
#define _GNU_SOURCE 1 /* mkdtemp, pipe2 */
#include <fcntl.h>
#include <math.h>

#include "io/crc.h"
#include "io/decimal.h"
#include "io/inflate.h"
#include "io/io_int.h"
#include "io/npy.h"
#include "io/zlib.h"
#include "unit/files.h"

/* Writers ------------------------------------------------------------------------------ */

static tsr_writer *writer_of(const char *name)
{
    tsr_writer *w = NULL;
    EXPECT_OK(tsr_writer_create(&w, file_path(name), &(tsr_writer_opts){ .no_sync = true }));
    return w;
}

static tsr_tensor *zeros_of(tsr_dtype dtype, int ndim, const int64_t *shape)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_zeros(&t, dtype, ndim, shape));
    return t;
}

TEST(test_encodings_are_refused_where_there_are_none)
{
    static const char *const names[] = { "e.npy", "e.npz", "e.safetensors", "e.png",
                                         "e.pgm", "e.csv", "e.tsv",         "e.raw" };
    tsr_tensor *t = zeros_of(TSR_U8, TSR_SHAPE(2, 3));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tsr_writer *w = writer_of(names[i]);
        EXPECT_FAILS(tsr_writer_add(w, "a", t, "q8_0"), TSR_EUNSUPPORTED, "no encodings");
        EXPECT_OK(tsr_writer_add(w, "a", t, NULL));
        EXPECT_OK(tsr_writer_finish(&w));
    }
    tsr_release(&t);
}

TEST(test_dtypes_that_a_format_lacks_are_refused)
{
    static const struct { const char *name; tsr_dtype dtype; const char *words; } bad[] = {
        { "d.npy", TSR_BF16, "npy has no bf16" }, { "d.npz", TSR_BF16, "npy has no bf16" },
        { "d.safetensors", TSR_C128, "safetensors has no c128" }, { "d.gguf", TSR_U8, "gguf has no u8" },
        { "d.png", TSR_I8, "an image of i8" }, { "d.ppm", TSR_I8, "an image of i8" },
        { "d.csv", TSR_C64, "a table of c64" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tsr_tensor *t = zeros_of(bad[i].dtype, TSR_SHAPE(2, 3));
        tsr_writer *w = writer_of(bad[i].name);
        EXPECT_FAILS(tsr_writer_add(w, "a", t, NULL), TSR_EDTYPE, bad[i].words);
        tsr_writer_cancel(&w);
        tsr_release(&t);
    }
}

static tsr_status declare(const char *path, tsr_dtype dtype, int ndim, const int64_t *shape)
{
    tsr_writer *w = writer_of(path);
    tsr_desc d;
    EXPECT_OK(tsri_desc_packed(&d, "test", dtype, ndim, shape));
    const tsr_status s = tsr_writer_declare(w, NULL, &d, NULL);
    tsr_writer_cancel(&w);
    return s;
}

/* Nothing of it lies anywhere, but packed strides of its dims would exceed 64 bits. */
TEST(test_dims_that_cannot_be_packed_are_not_declared)
{
    const int64_t shape[] = { 0, (int64_t)1 << 40, (int64_t)1 << 40 }, stride[] = { 0, 0, 0 };
    tsr_writer *w = writer_of("dims.npz");
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, 3, shape, stride));
    EXPECT_FAILS(tsr_writer_declare(w, "a", &d, NULL), TSR_EOVERFLOW, "writer_declare: ");
    tsr_writer_cancel(&w);
}

TEST(test_shapes_that_are_no_image_are_refused)
{
    enum { HUGE_SIDE = INT32_MAX };
    for (int png = 0; png < 2; png++) {
        const char *path = png ? "s.png" : "s.pgm";
        EXPECT_FAILS(declare(path, TSR_U8, TSR_SHAPE(5)), TSR_ESHAPE, "no image");
        EXPECT_FAILS(declare(path, TSR_U8, TSR_SHAPE(2, 2, 2, 2)), TSR_ESHAPE, "no image");
        EXPECT_FAILS(declare(path, TSR_U8, TSR_SHAPE(2, 2, 0)), TSR_ESHAPE, "no image");
        EXPECT_FAILS(declare(path, TSR_U8, TSR_SHAPE(2, 2, 5)), TSR_ESHAPE, "no image");
        EXPECT_FAILS(declare(path, TSR_U8, TSR_SHAPE((int64_t)HUGE_SIDE + 1, 1)), TSR_ESHAPE, "no image");
        EXPECT_FAILS(declare(path, TSR_U8, TSR_SHAPE(1, (int64_t)HUGE_SIDE + 1)), TSR_ESHAPE, "no image");
        EXPECT_OK(declare(path, TSR_U8, TSR_SHAPE(2, 2, 4)));
    }
    EXPECT_FAILS(declare("s.png", TSR_U8, TSR_SHAPE(0, 2)), TSR_ESHAPE, "none of them 0");
    EXPECT_FAILS(declare("s.png", TSR_U8, TSR_SHAPE(2, 0)), TSR_ESHAPE, "none of them 0");
    EXPECT_OK(declare("s.pgm", TSR_U8, TSR_SHAPE(0, 2)));
}

TEST(test_what_was_declared_comes_in_its_order_and_shape)
{
    tsr_tensor *t = zeros_of(TSR_F32, TSR_SHAPE(3)), *wide = zeros_of(TSR_F64, TSR_SHAPE(3)),
               *long_one = zeros_of(TSR_F32, TSR_SHAPE(4));
    tsr_writer *w = writer_of("declared.safetensors");
    EXPECT_OK(tsr_writer_declare(w, NULL, &t->desc, NULL));
    EXPECT_FAILS(tsr_writer_declare(w, "", &t->desc, NULL), TSR_EINVAL, "a tensor \"\" already");
    EXPECT_FAILS(tsr_writer_add(w, NULL, wide, NULL), TSR_ESHAPE, "was declared as f32");
    EXPECT_FAILS(tsr_writer_add(w, NULL, long_one, NULL), TSR_ESHAPE, "was declared as f32");
    EXPECT_OK(tsr_writer_add(w, NULL, t, NULL));
    EXPECT_FAILS(tsr_writer_add(w, "b", t, NULL), TSR_EINVAL, "\"b\" was not declared");
    EXPECT_FAILS(tsr_writer_declare(w, NULL, &t->desc, NULL), TSR_EINVAL,
                 "\"\" comes after the first tensor");
    EXPECT_OK(tsr_writer_finish(&w));
    tsr_file *f = NULL;
    EXPECT_OK(tsr_file_open(&f, file_path("declared.safetensors"), NULL));
    EXPECT(tsr_file_count(f) == 1);
    tsr_file_close(&f);
    tsr_release_all(&t, &wide, &long_one);
}

/* Tensors that share one element may be larger than any file. */
TEST(test_tensors_larger_than_the_disk_are_refused)
{
    tsr_tensor *t = zeros_of(TSR_F32, TSR_SHAPE(1, 1)), *large = NULL;
    tsr_writer *w = writer_of("large.safetensors");
    EXPECT_OK(tsr_expand(&large, t, TSR_SHAPE(INT64_C(1) << 28, INT64_C(1) << 28)));
    EXPECT_FAILS(tsr_writer_add(w, "a", large, NULL), TSR_EIO, "are free there");
    tsr_writer_cancel(&w);
    w = writer_of("large.safetensors");
    EXPECT_OK(tsr_writer_add(w, "b", t, NULL));
    EXPECT_OK(tsr_writer_finish(&w));
    tsr_release_all(&large, &t);
}

/* Metadata ----------------------------------------------------------------------------- */

TEST(test_metadata_that_is_none_is_refused)
{
    static const char *const hole[] = { "a", NULL };
    tsr_meta chain[9];
    for (int i = 0; i < 9; i++)
        chain[i] = (tsr_meta){ .type = i == 8 ? TSR_META_NUMBERS : TSR_META_LIST, .dtype = TSR_I32,
                               .count = i == 8 ? 0 : 1, .items = i == 8 ? NULL : &chain[i + 1] };
    static const tsr_meta text = { .type = TSR_META_TEXT, .text = "x", .length = 1 },
                          number = { .type = TSR_META_NUMBER, .dtype = TSR_I32 },
                          halves = { .type = TSR_META_NUMBERS, .dtype = TSR_F16 },
                          texts = { .type = TSR_META_LIST, .count = 1, .items = &text };
    const struct { tsr_meta m; tsr_status status; const char *words;
    } bad[] = {
        { { .type = TSR_META_NUMBERS, .dtype = TSR_F32, .count = -1 }, TSR_EINVAL, "count is -1" },
        { { .type = TSR_META_TEXTS, .count = INT64_C(1) << 31 }, TSR_EINVAL, "count is 2147483648" },
        { { .type = TSR_META_NUMBER, .dtype = (tsr_dtype)99 }, TSR_EDTYPE, "dtype 99 is none" },
        { { .type = TSR_META_NUMBERS, .dtype = (tsr_dtype)99 }, TSR_EDTYPE, "dtype 99 is none" },
        { { .type = TSR_META_NUMBERS, .dtype = TSR_F32, .count = 1 }, TSR_ENULL, "data is NULL" },
        { { .type = TSR_META_TEXTS, .count = 1 }, TSR_ENULL, "texts is NULL" },
        { { .type = TSR_META_TEXTS, .count = 2, .texts = hole }, TSR_ENULL, "text 1 is NULL" },
        { { .type = TSR_META_LIST, .count = 1 }, TSR_ENULL, "items is NULL" },
        { { .type = TSR_META_LIST, .count = 1, .items = chain }, TSR_EINVAL, "lists in lists, 8 deep" },
        { { .type = TSR_META_LIST, .count = 1, .items = &text },
          TSR_EUNSUPPORTED,
          "a list in gguf holds arrays" },
        { { .type = TSR_META_LIST, .count = 1, .items = &number },
          TSR_EUNSUPPORTED,
          "a list in gguf holds arrays" },
        { { .type = TSR_META_LIST, .count = 1, .items = &halves }, TSR_EDTYPE, "no values of f16" },
        { { .type = TSR_META_LIST, .count = 1, .items = &texts }, TSR_EUNSUPPORTED, "holds arrays" },
        { { .type = TSR_META_NUMBER, .dtype = TSR_C64 }, TSR_EDTYPE, "no values of c64" },
        { { .type = TSR_META_NUMBER, .dtype = TSR_I32 }, TSR_EDTYPE, "a scalar is of dtype" },
    };
    tsr_writer *w = writer_of("meta.gguf");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tsr_meta m = bad[i].m;
        m.key = "k";
        EXPECT_FAILS(tsr_writer_meta(w, &m), bad[i].status, bad[i].words);
    }
    EXPECT_OK(
        tsr_writer_meta(w, &(tsr_meta){ .key = "k", .type = TSR_META_LIST, .count = 1, .items = &chain[3] }));
    EXPECT_OK(tsr_writer_meta(w, &(tsr_meta){ .key = "none", .type = TSR_META_NUMBERS, .dtype = TSR_F32 }));
    EXPECT_OK(tsr_writer_meta(w, &(tsr_meta){ .key = "no texts", .type = TSR_META_TEXTS }));
    EXPECT_OK(tsr_writer_meta(w, &(tsr_meta){ .key = "no items", .type = TSR_META_LIST }));
    EXPECT_OK(tsr_writer_finish(&w));
    tsr_file *f = NULL;
    tsr_meta m;
    EXPECT_OK(tsr_file_open(&f, file_path("meta.gguf"), NULL));
    EXPECT(tsr_file_meta_count(f) == 4);
    EXPECT_OK(tsr_file_find_meta(&m, f, "no texts"));
    EXPECT(m.type == TSR_META_TEXTS && m.count == 0);
    EXPECT_STATUS(tsr_file_meta(&m, f, -1), TSR_EINDEX);
    tsr_file_close(&f);
}

TEST(test_safetensors_takes_texts_of_utf8_and_keeps_them)
{
    tsr_writer *w = writer_of("texts.safetensors");
    tsr_file *f = NULL;
    tsr_meta m;
    EXPECT_FAILS(tsr_writer_text(w, "\xff", "a"), TSR_EINVAL, "not UTF-8");
    EXPECT_FAILS(tsr_writer_text(w, "a", "\xff"), TSR_EINVAL, "not UTF-8");
    EXPECT_OK(tsr_writer_text(w, "a", "1"));
    EXPECT_OK(tsr_writer_text(w, "b", "2"));
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_OK(tsr_file_open(&f, file_path("texts.safetensors"), NULL));
    EXPECT_OK(tsr_file_find_meta(&m, f, "b"));
    EXPECT(tsr_file_meta_count(f) == 2 && strcmp(m.text, "2") == 0);
    tsr_file_entry e;
    EXPECT_FAILS(tsr_file_find(&e, f, "x"), TSR_EINDEX, "has no tensors");
    tsr_file_close(&f);
}

/* A header of more than 100 MiB is refused when it is known to be one: at the first tensor or at the end. */
TEST(test_headers_of_safetensors_are_bounded)
{
    enum { LONG = 101 << 20 };
    char *text = malloc(LONG + 1);
    tsr_tensor *t = zeros_of(TSR_F32, TSR_SHAPE(1));
    memset(text, 'x', LONG);
    text[LONG] = '\0';
    tsr_writer *w = writer_of("long.safetensors");
    EXPECT_OK(tsr_writer_text(w, "k", text));
    EXPECT_FAILS(tsr_writer_add(w, "a", t, NULL), TSR_EUNSUPPORTED, "safetensors allows");
    tsr_writer_cancel(&w);
    w = writer_of("long.safetensors");
    EXPECT_OK(tsr_writer_add(w, "a", t, NULL));
    EXPECT_OK(tsr_writer_add(w, text, t, NULL));
    EXPECT_FAILS(tsr_writer_finish(&w), TSR_EUNSUPPORTED, "safetensors allows");
    EXPECT(!file_exists(file_path("long.safetensors")));
    memset(text, ' ', LONG);
    text[0] = '{';
    write_bytes(file_path("long.safetensors.index.json"), text, LONG);
    tsr_file *f = NULL;
    EXPECT_FAILS(tsr_file_open(&f, file_path("long.safetensors.index.json"), NULL), TSR_EFORMAT,
                 "an index of");
    EXPECT(unlink(file_path("long.safetensors.index.json")) == 0);
    free(text);
    tsr_release(&t);
}

/* gguf --------------------------------------------------------------------------------- */

static tsr_status set_alignment(tsr_writer *w, tsr_dtype dtype, uint64_t v)
{
    return tsr_writer_meta(w, &(tsr_meta){ .key = "general.alignment",
                                           .type = TSR_META_NUMBER,
                                           .dtype = dtype,
                                           .number = tsr_scalar_u64(v) });
}

TEST(test_gguf_is_aligned_as_its_metadata_say)
{
    static const uint64_t bad[] = { 0, 4, 24, INT64_C(1) << 21 };
    tsr_tensor *t = zeros_of(TSR_F32, TSR_SHAPE(3)), *back = NULL;
    tsr_writer *w = writer_of("aligned.gguf");
    tsr_file *f = NULL;
    tsr_file_entry e;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT_FAILS(set_alignment(w, TSR_U32, bad[i]), TSR_EINVAL, "a power of two from 8");
    EXPECT_FAILS(tsr_writer_text(w, "general.alignment", "64"), TSR_EINVAL, "a power of two from 8");
    EXPECT_OK(tsr_writer_text(w, "other", "64"));
    EXPECT_OK(set_alignment(w, TSR_U32, 256));
    EXPECT_OK(tsr_writer_add(w, "a", t, NULL));
    EXPECT_OK(tsr_writer_add(w, "b", t, NULL));
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_OK(tsr_file_open(&f, file_path("aligned.gguf"), NULL));
    EXPECT_OK(tsr_file_find(&e, f, "a"));
    const uint64_t first = (uint64_t)e.offset;
    EXPECT_OK(tsr_file_find(&e, f, "b"));
    EXPECT(first % 256 == 0 && (uint64_t)e.offset == first + 256);
    EXPECT_OK(tsr_file_read(&back, f, "b"));
    EXPECT(same_bits(back, t));
    tsr_release(&back);
    tsr_file_close(&f);
    w = writer_of("aligned.gguf");
    EXPECT_OK(tsr_writer_declare(w, "a", &t->desc, NULL));
    EXPECT_FAILS(set_alignment(w, TSR_U32, 64), TSR_EINVAL, "comes before tensors");
    tsr_writer_cancel(&w);
    tsr_release(&t);
}

TEST(test_what_cannot_be_encoded_is_refused)
{
    static const struct { tsr_dtype dtype; int ndim; int64_t last; const char *encoding; tsr_status status;
                          const char *words; } bad[] = {
        { TSR_U8, 1, 34, "q8_0", TSR_ESHAPE, "blocks of q8_0 are u8(..., blocks, 34)" },
        { TSR_U8, 2, 33, "q8_0", TSR_ESHAPE, "blocks of q8_0 are u8(..., blocks, 34)" },
        { TSR_F32, 0, 0, "q8_0", TSR_ESHAPE, "q8_0 has blocks of 32" },
        { TSR_I32, 2, 32, "q8_0", TSR_EDTYPE, "cannot be encoded as q8_0" },
        { TSR_F32, 2, 32, "i32", TSR_EDTYPE, "cannot be encoded as i32" },
        { TSR_F32, 2, 32, "nothing", TSR_EUNSUPPORTED, "no encoding of gguf" },
    };
    tsr_writer *w = writer_of("encoded.gguf");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const int64_t shape[] = { bad[i].ndim == 1 ? bad[i].last : 2, bad[i].last };
        tsr_tensor *t = zeros_of(bad[i].dtype, bad[i].ndim, shape);
        EXPECT_FAILS(tsr_writer_add(w, "a", t, bad[i].encoding), bad[i].status, bad[i].words);
        tsr_release(&t);
    }
    tsr_tensor *t = zeros_of(TSR_F32, TSR_SHAPE(32));
    EXPECT_FAILS(tsr_writer_add(w, "\xff", t, NULL), TSR_EINVAL, "not UTF-8");
    EXPECT_OK(tsr_writer_add(w, "a", t, "F32"));
    EXPECT_OK(tsr_writer_finish(&w));
    tsr_release(&t);
}

TEST(test_blocks_of_zeros_and_of_nan_are_encoded_as_zeros)
{
    static const char *const encodings[] = { "q8_0", "q4_0" };
    tsr_tensor *t = zeros_of(TSR_F32, TSR_SHAPE(3, 32)), *back = NULL;
    tsr_file *f = NULL;
    TSR_AT(float, t, 1, 7) = NAN;
    TSR_AT(float, t, 2, 7) = NAN;
    TSR_AT(float, t, 2, 8) = 127;
    TSR_AT(float, t, 2, 9) = -127;
    tsr_writer *w = writer_of("zeros.gguf");
    for (int i = 0; i < 2; i++) EXPECT_OK(tsr_writer_add(w, encodings[i], t, encodings[i]));
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_OK(tsr_file_open(&f, file_path("zeros.gguf"), NULL));
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(tsr_file_read(&back, f, encodings[i]));
        for (int64_t k = 0; k < 32; k++) EXPECT(TSR_AT(float, back, 0, k) == 0);
        if (i == 0)
            for (int64_t k = 0; k < 32; k++)
                EXPECT(TSR_AT(float, back, 1, k) == 0 &&
                       TSR_AT(float, back, 2, k) == (k == 8 ? 127 : k == 9 ? -127 : 0));
        tsr_release(&back);
    }
    tsr_file_close(&f);
    tsr_release(&t);
}

/* Empty tensors, so that nothing is moved when the list is known. */
TEST(test_files_of_empty_tensors_are_written_and_read)
{
    static const char *const names[] = { "empty.gguf", "empty.safetensors", "empty.npz" };
    tsr_tensor *t = zeros_of(TSR_F32, TSR_SHAPE(0, 32));
    for (int i = 0; i < 3; i++) {
        tsr_writer *w = writer_of(names[i]);
        tsr_file *f = NULL;
        char name[80];
        for (int k = 0; k < 9; k++) {
            snprintf(name, sizeof name, "%060d", k);
            EXPECT_OK(tsr_writer_add(w, name, t, i == 0 && k % 2 ? "q8_0" : NULL));
        }
        EXPECT_OK(tsr_writer_finish(&w));
        EXPECT_OK(tsr_file_open(&f, file_path(names[i]), NULL));
        EXPECT(tsr_file_count(f) == 9);
        for (int64_t k = 0; k < 9; k++) {
            tsr_tensor *back = NULL;
            tsr_file_entry e;
            EXPECT_OK(tsr_file_list(&e, f, k));
            EXPECT_OK(tsr_file_read_slice(&back, f, e.name, 1, (tsr_file_range[]){ { 0, 0, 1 } }));
            EXPECT(back && back->ndim == 2 && back->shape[0] == 0 && back->shape[1] == 32);
            tsr_release(&back);
        }
        tsr_file_close(&f);
    }
    tsr_release(&t);
}

/* Blocks in a tensor of as many dims as there are: none is left for their bytes. */
TEST(test_blocks_of_the_highest_rank_are_read_whole_and_in_parts)
{
    unsigned char g[512] = "GGUF\3\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0a\x10", *p = g + 37;
    *p = 32, p += 8;
    *p = 2, p += 8;
    for (int i = 2; i < TSR_MAX_NDIM; i++, p += 8) *p = 1;
    *p = 8, p += 4 + 8;  /* q8_0, at 0 */
    const size_t start = ((size_t)(p - g) + 31) / 32 * 32;
    for (int block = 0; block < 2; block++) {
        g[start + 34 * (size_t)block + 1] = 0x3c;  /* a scale of 1 */
        for (int i = 0; i < 32; i++)
            g[start + 34 * (size_t)block + 2 + (size_t)i] = (unsigned char)(32 * block + i);
    }
    tsr_file *f = NULL;
    tsr_tensor *t = NULL;
    tsr_file_range ranges[TSR_MAX_NDIM];
    for (int i = 0; i < TSR_MAX_NDIM; i++) ranges[i] = (tsr_file_range)TSR_FILE_ALL;
    ranges[14] = (tsr_file_range)TSR_FILE_AT(1);
    EXPECT_OK(tsr_file_open_bytes(&f, g, start + 68, "x.gguf", NULL));
    EXPECT_OK(tsr_file_read(&t, f, "a"));
    EXPECT(t->ndim == TSR_MAX_NDIM && tsr_numel(t) == 64 && ((float *)t->data)[33] == 33);
    tsr_release(&t);
    EXPECT_OK(tsr_file_read_slice(&t, f, "a", TSR_MAX_NDIM, ranges));
    EXPECT(t->ndim == TSR_MAX_NDIM - 1 && tsr_numel(t) == 32 && ((float *)t->data)[1] == 33);
    tsr_release(&t);
    EXPECT_OK(tsr_file_read_slice(&t, f, "a", 0, NULL));
    EXPECT(tsr_numel(t) == 64);
    tsr_release(&t);
    EXPECT_OK(tsr_file_read_raw(&t, f, "a"));
    EXPECT(t->ndim == 1 && t->shape[0] == 68);
    tsr_release(&t);
    tsr_file_close(&f);
}

/* Texts and arrays longer than the window through which headers are read. */
TEST(test_long_values_of_gguf_come_back)
{
    enum { LONG = 200000 };
    char *text = malloc(LONG + 1);
    int32_t *numbers = malloc(LONG * sizeof *numbers);
    for (int i = 0; i < LONG; i++) text[i] = (char)('a' + i % 26), numbers[i] = i;
    text[LONG] = '\0';
    tsr_writer *w = writer_of("long.gguf");
    EXPECT_OK(tsr_writer_text(w, "text", text));
    EXPECT_OK(tsr_writer_meta(w, &(tsr_meta){ .key = "numbers", .type = TSR_META_NUMBERS, .dtype = TSR_I32,
                                              .count = LONG, .data = numbers }));
    EXPECT_OK(tsr_writer_text(w, "last", "z"));
    EXPECT_OK(tsr_writer_finish(&w));
    tsr_file *f = NULL;
    tsr_meta m;
    EXPECT_OK(tsr_file_open(&f, file_path("long.gguf"), NULL));
    EXPECT_OK(tsr_file_find_meta(&m, f, "text"));
    EXPECT(m.length == LONG && strcmp(m.text, text) == 0);
    EXPECT_OK(tsr_file_find_meta(&m, f, "numbers"));
    EXPECT(m.count == LONG && memcmp(m.data, numbers, LONG * sizeof *numbers) == 0);
    EXPECT_OK(tsr_file_find_meta(&m, f, "last"));
    EXPECT(strcmp(m.text, "z") == 0);
    tsr_file_close(&f);
    free(text);
    free(numbers);
}

/* npz ---------------------------------------------------------------------------------- */

TEST(test_names_of_npz_are_short_utf8_and_its_own_ones_are_free)
{
    static char name[60001];
    tsr_tensor *t = zeros_of(TSR_F32, TSR_SHAPE(2));
    tsr_writer *w = writer_of("names.npz");
    tsr_file *f = NULL;
    memset(name, 'n', 60000);
    EXPECT_FAILS(tsr_writer_add(w, name, t, NULL), TSR_EINVAL, "a name of 60000 bytes");
    EXPECT_FAILS(tsr_writer_add(w, "\xff", t, NULL), TSR_EINVAL, "npz takes UTF-8");
    name[59999] = '\0';
    EXPECT_OK(tsr_writer_add(w, name, t, NULL));
    EXPECT_OK(tsr_writer_add(w, NULL, t, NULL));
    EXPECT_OK(tsr_writer_add(w, "arr_3", t, NULL));
    EXPECT_FAILS(tsr_writer_add(w, NULL, t, NULL), TSR_EINVAL, "\"arr_3\" already");
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_OK(tsr_file_open(&f, file_path("names.npz"), NULL));
    tsr_file_entry e;
    EXPECT(tsr_file_count(f) == 3);
    EXPECT_OK(tsr_file_find(&e, f, "arr_1"));
    EXPECT_FAILS(tsr_file_find(&e, f, "a"), TSR_EINDEX, "the first is \"arr_1\"");
    EXPECT_FAILS(tsr_file_find(&e, f, "arr_2"), TSR_EINDEX, "did you mean \"arr_1\" or \"arr_3\"?");
    EXPECT_FAILS(tsr_file_find(&e, f, "rar_1"), TSR_EINDEX, "did you mean \"arr_1\"");  /* two exchanged */
    EXPECT_FAILS(tsr_file_find(&e, f, "arr_1xyz"), TSR_EINDEX, "did you mean \"arr_1\"");
    EXPECT_FAILS(tsr_file_find(&e, f, "arr_1vwxyz"), TSR_EINDEX, "the first is \"arr_1\"");
    tsr_file_close(&f);
    tsr_release(&t);
}

/* As many members as 16 bits count, and no record of 64 bits: Python's zipfile writes none then. */
TEST(test_members_that_16_bits_just_count_are_read)
{
    enum { MEMBERS = 65535, WIDE = 56 + 20, END = 22 };
    tsr_tensor *t = zeros_of(TSR_U8, TSR_SHAPE(0));
    tsr_writer *w = writer_of("most.npz");
    tsr_file *f = NULL;
    tsr_status s = TSR_OK;
    char name[16];
    size_t bytes = 0;
    for (int i = 0; i < MEMBERS && s == TSR_OK; i++) {
        snprintf(name, sizeof name, "%d", i);
        s = tsr_writer_add(w, name, t, NULL);
    }
    EXPECT_OK(s);
    EXPECT_OK(tsr_writer_finish(&w));
    unsigned char *data = read_bytes(file_path("most.npz"), &bytes);
    EXPECT(data && bytes > WIDE + END);
    memmove(data + bytes - WIDE - END, data + bytes - END, END);
    EXPECT_OK(tsr_file_open_bytes(&f, data, bytes - WIDE, "most.npz", NULL));
    EXPECT(tsr_file_count(f) == MEMBERS);
    tsr_file_close(&f);
    free(data);
    EXPECT(unlink(file_path("most.npz")) == 0);
    tsr_release(&t);
}

/* More members than 16 bits count: their number stands in a record of 64 bits. */
TEST(test_more_members_than_16_bits_count_are_written_and_read)
{
    enum { MEMBERS = 65536 };
    tsr_tensor *t = zeros_of(TSR_U8, TSR_SHAPE(0));
    tsr_writer *w = writer_of("many.npz");
    tsr_file *f = NULL;
    tsr_status s = TSR_OK;
    char name[16];
    for (int i = 0; i < MEMBERS && s == TSR_OK; i++) {
        snprintf(name, sizeof name, "%d", i);
        s = tsr_writer_add(w, name, t, NULL);
    }
    EXPECT_OK(s);
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_OK(tsr_file_open(&f, file_path("many.npz"), NULL));
    tsr_file_entry e;
    EXPECT(tsr_file_count(f) == MEMBERS);
    EXPECT_OK(tsr_file_find(&e, f, "65535"));
    tsr_file_close(&f);
    EXPECT(unlink(file_path("many.npz")) == 0);
    tsr_release(&t);
}

/* A member 5 GiB from the beginning: the file has a hole before it. */
TEST(test_members_beyond_32_bits_are_written_and_read)
{
    const uint64_t far = (uint64_t)5 << 30;
    tsr_tensor *t = NULL, *again = NULL;
    tsr_writer *w = writer_of("far.npz");
    tsr_file *f = NULL;
    tsr_file_entry e = { .name = NULL };
    bool same = false;
    EXPECT_OK(tsr_full(&t, TSR_U8, TSR_SHAPE(3), TSR_SCALAR(7)));
    EXPECT_OK(tsr_writer_add(w, "near", t, NULL));
    w->data_start = far;
    EXPECT_OK(tsr_writer_add(w, "far", t, NULL));
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_OK(tsr_file_open(&f, file_path("far.npz"), NULL));
    EXPECT_OK(tsr_file_find(&e, f, "far"));
    EXPECT(tsr_file_count(f) == 2 && e.offset > far && e.offset < far + 512);
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(tsr_file_read(&again, f, i ? "far" : "near"));
        EXPECT_OK(tsr_equal(&same, again, t));
        EXPECT(same);
        tsr_release(&again);
    }
    tsr_file_close(&f);
    EXPECT(unlink(file_path("far.npz")) == 0);
    tsr_release(&t);
}

/* What the directory says of a member: its sizes, and the field of 64 bits behind its name. */
TEST(test_sizes_beyond_32_bits_stand_in_a_field_of_64)
{
    const int64_t many = (int64_t)5 << 30;
    static const char ones[] = "\xff\xff\xff\xff\xff\xff\xff\xff";
    static const unsigned char field[] = { 1, 0, 16, 0, 128, 0, 0, 64, 1, 0, 0, 0, 1, 0, 0, 64, 1, 0, 0, 0 };
    tsr_tensor *t = zeros_of(TSR_U8, TSR_SHAPE(2));
    tsr_writer *w = writer_of("large.npz");
    size_t bytes = 0;
    EXPECT_OK(tsr_writer_add(w, "x", t, NULL));
    w->plan[0]->desc.shape[0] = many;  /* as if so many had been written */
    w->plan[0]->bytes = (uint64_t)many + 1;
    EXPECT_OK(tsr_writer_finish(&w));
    unsigned char *zip = read_bytes(file_path("large.npz"), &bytes), *at = NULL;
    for (size_t i = 0; i + 46 + 5 + sizeof field <= bytes && !at; i++)
        if (!memcmp(zip + i, "PK\1\2", 4)) at = zip + i;
    EXPECT(at && !memcmp(at + 20, ones, 8) && at[30] == sizeof field && at[42] == 0);
    EXPECT(at && !memcmp(at + 46 + 5, field, sizeof field));
    free(zip);
    tsr_release(&t);
}

/* Images ------------------------------------------------------------------------------- */

typedef struct bytes { unsigned char data[1024]; size_t n; } bytes;

static void put_big(bytes *b, uint32_t v)
{
    for (int i = 0; i < 4; i++) b->data[b->n++] = (unsigned char)(v >> (24 - 8 * i));
}

static void put_chunk(bytes *b, const char *type, const void *data, size_t n)
{
    put_big(b, (uint32_t)n);
    memcpy(b->data + b->n, type, 4);
    if (n) memcpy(b->data + b->n + 4, data, n);
    const uint32_t crc = tsri_crc32(0, b->data + b->n, 4 + n);
    b->n += 4 + n;
    put_big(b, crc);
}

/* An image of 1 x 1 with a palette of one colour; `packed` is what its IDAT chunks hold, in two. */
static bytes small_png(const void *packed, size_t n)
{
    static const unsigned char head[13] = { 0, 0, 0, 1, 0, 0, 0, 1, 8, 3, 0, 0, 0 }, palette[3] = { 1, 2, 3 };
    bytes b = { .n = 8 };
    memcpy(b.data, "\x89PNG\r\n\x1a\n", 8);
    put_chunk(&b, "IHDR", head, sizeof head);
    put_chunk(&b, "PLTE", palette, sizeof palette);
    put_chunk(&b, "IDAT", packed, n / 2);
    put_chunk(&b, "IDAT", (const char *)packed + n / 2, n - n / 2);
    put_chunk(&b, "IEND", "", 0);
    return b;
}

/* The row, stored in a zlib stream. */
static size_t pack_row(unsigned char out[64], unsigned char index)
{
    static uint32_t scratch[TSRI_DEFLATE_SCRATCH / 4];
    const unsigned char row[2] = { 0, index };
    out[0] = 0x78, out[1] = 1;
    const size_t n = 2 + tsri_deflate_alone(out + 2, row, sizeof row, true, scratch);
    tsri_set32_big(out + n, tsri_adler32(1, row, sizeof row));
    return n + 4;
}

static tsr_status read_png(tsr_tensor **t, const bytes *b, const char *change, size_t at)
{
    bytes copy = *b;
    tsr_file *f = NULL;
    tsr_status s = tsr_file_open_bytes(&f, copy.data, copy.n, "x.png", NULL);
    if (s == TSR_OK && change) memcpy(copy.data + at, change, 4);
    if (s == TSR_OK) s = tsr_file_read(t, f, NULL);
    tsr_file_close(&f);
    return s;
}

TEST(test_colours_streams_and_chunks_that_are_none_are_told)
{
    unsigned char packed[64];
    tsr_tensor *t = NULL;
    bytes good = small_png(packed, pack_row(packed, 0));
    EXPECT_OK(read_png(&t, &good, NULL, 0));
    EXPECT(t && t->ndim == 3 && memcmp(t->data, "\1\2\3", 3) == 0);
    tsr_release(&t);
    const bytes colour = small_png(packed, pack_row(packed, 1));
    EXPECT_FAILS(read_png(&t, &colour, NULL, 0), TSR_EFORMAT,
                 "row 0 has a colour that is not in the palette");
    const bytes cut = small_png(packed, 5);
    EXPECT_FAILS(read_png(&t, &cut, NULL, 0), TSR_EFORMAT, "no zlib stream");
    const size_t idat = 8 + 25 + 15;  /* where the first IDAT begins: now it has more than both had */
    EXPECT_FAILS(read_png(&t, &good, "\0\0\0\x20", idat), TSR_EFORMAT, "changed while it was open");
    bytes twice = good;
    twice.n = idat;
    put_chunk(&twice, "PLTE", "\1\2\3", 3);
    EXPECT_FAILS(read_png(&t, &twice, NULL, 0), TSR_EFORMAT, "a palette of 3 bytes");
    EXPECT(t == NULL);
}

TEST(test_images_larger_than_a_piece_come_back)
{
    uint64_t r = 12;
    tsr_tensor *t = zeros_of(TSR_U8, TSR_SHAPE(700, 900)), *back = NULL;
    for (int64_t i = 0; i < 700 * 900; i++) ((uint8_t *)t->data)[i] = (uint8_t)test_below(&r, 256);
    EXPECT_OK(tsr_file_save(file_path("large.png"), t));
    EXPECT_OK(tsr_file_load(&back, file_path("large.png"), NULL));
    EXPECT(same_bits(back, t));
    tsr_release_all(&t, &back);
    t = zeros_of(TSR_U8, TSR_SHAPE(1, 10 << 20));  /* a row that comes in several runs */
    ((uint8_t *)t->data)[10 << 19] = 9;
    EXPECT_OK(tsr_slice(&t, t, 1, 0, 10 << 20, 2));
    EXPECT_OK(tsr_file_save(file_path("large.png"), t));
    EXPECT_OK(tsr_file_load(&back, file_path("large.png"), NULL));
    EXPECT(same_bits(back, t));
    tsr_release_all(&t, &back);
}

static tsr_status load_text(tsr_tensor **t, const char *text, const char *name, tsr_dtype dtype)
{
    tsr_file *f = NULL;
    tsr_status s = tsr_file_open_bytes(&f, text, strlen(text), name, &(tsr_file_opts){ .dtype = dtype });
    if (s == TSR_OK) s = tsr_file_read(t, f, NULL);
    tsr_file_close(&f);
    return s;
}

TEST(test_pnm_of_too_many_channels_or_too_large_samples_is_refused)
{
    static const char *const bad[] = { "P5 1 1 0\n.", "P5 1 1 65536\n..",
                                       "P7\nWIDTH 1\nHEIGHT 1\nMAXVAL 9\nENDHDR\n.",
                                       "P7\nWIDTH 1\nHEIGHT 1\nDEPTH 65\nMAXVAL 9\nENDHDR\n." };
    tsr_tensor *t = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT_FAILS(load_text(&t, bad[i], "x.pnm", TSR_DTYPE_INVALID), TSR_EFORMAT,
                     "channels of samples up to");
}

/* Tables ------------------------------------------------------------------------------- */

TEST(test_tables_keep_tabs_and_change_under_no_reader)
{
    tsr_tensor *t = NULL;
    tsr_file *f = NULL;
    char text[] = "1,2\n3,4\n";
    EXPECT_OK(load_text(&t, "\t1\n 2 \t 3 \n", "t.tsv", TSR_DTYPE_INVALID));
    EXPECT(isnan(TSR_AT(double, t, 0, 0)) && TSR_AT(double, t, 0, 1) == 1 && TSR_AT(double, t, 1, 0) == 2);
    tsr_release(&t);
    EXPECT_OK(tsr_file_open_bytes(&f, text, sizeof text - 1, "t.csv", NULL));
    text[5] = '4';
    EXPECT_FAILS(tsr_file_read(&t, f, NULL), TSR_EFORMAT, "line 2 changed while the file was open");
    memset(text, '\n', sizeof text - 1);
    EXPECT_FAILS(tsr_file_read(&t, f, NULL), TSR_EFORMAT, "changed while the file was open");
    memcpy(text, "1,2,3,4\n", sizeof text - 1);
    EXPECT_FAILS(tsr_file_read(&t, f, NULL), TSR_EFORMAT, "line 1 changed while the file was open");
    tsr_file_close(&f);
    write_bytes(file_path("none.csv"), "", 0);
    EXPECT_OK(tsr_file_load(&t, file_path("none.csv"), NULL));
    EXPECT(t->ndim == 2 && tsr_numel(t) == 0);
    tsr_release(&t);
}

/* More text than the buffer of a writer. */
TEST(test_long_tables_come_back)
{
    tsr_tensor *t = NULL, *back = NULL;
    EXPECT_OK(tsr_arange(&t, TSR_F64, TSR_SCALAR(0), TSR_SCALAR(30000), TSR_SCALAR(1)));
    EXPECT_OK(tsr_view(&t, t, TSR_SHAPE(10000, 3)));
    EXPECT_OK(tsr_file_save(file_path("long.csv"), t));
    EXPECT_OK(tsr_file_load(&back, file_path("long.csv"), NULL));
    EXPECT(same_bits(back, t));
    tsr_release_all(&t, &back);
}

/* safetensors -------------------------------------------------------------------------- */

static tsr_status open_index(const char *text)
{
    tsr_file *f = NULL;
    write_bytes(file_path("set.safetensors.index.json"), text, strlen(text));
    const tsr_status s = tsr_file_open(&f, file_path("set.safetensors.index.json"), NULL);
    tsr_file_close(&f);
    return s;
}

TEST(test_an_index_says_what_is_where)
{
    static const char *const parts[] = { "one.safetensors", "two.safetensors" }, *const names[] = { "b",
                                                                                                    "d" };
    static const char *const bad[][2] = {
        { "{\"weight_map\":{\"b\":\"one.safetensors\",\"z\":\"two.safetensors\"}}", "\"z\"" },
        { "{\"weight_map\":{\"b\":\"one.safetensors\",\"d\":\"one.safetensors\"}}", "\"d\"" },
        { "{\"weight_map\":{\"b\":\"one.safetensors\",\"d\":\"two.safetensors\",\"c\":\"one.safetensors\"}}",
          "\"c\"" },
        { "{\"weight_map\":{\"d\":\"one.safetensors\",\"b\":\"two.safetensors\"}}", "\"b\"" },
        { "{\"weight_map\":{\"a\":\"x\\\\y.safetensors\"}}", "no name of a file beside" },
        { "{\"weight_map\":{\"a\":\"\"}}", "no name of a file beside" },
        { "{\"weight_map\":{\"b\":\"one.safetensors\" \"d\"}}", "','" },
        { "{\"weight_map\":[]}", "'{'" },
        { "{\"weight_map\":{},\"weight_map\":{}}", "two weight_maps" },
        { "{\"weight_map\":{}} x", "nothing more" },
    };
    tsr_tensor *t = zeros_of(TSR_F32, TSR_SHAPE(2));
    for (int i = 0; i < 2; i++) {
        tsr_writer *w = writer_of(parts[i]);
        EXPECT_OK(tsr_writer_text(w, "note", "of a part"));
        EXPECT_OK(tsr_writer_add(w, names[i], t, NULL));
        EXPECT_OK(tsr_writer_finish(&w));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT_FAILS(open_index(bad[i][0]), TSR_EFORMAT, bad[i][1]);
    static const char damaged[] = "\x14\0\0\0\0\0\0\0{\"__metadata__\" : & }";
    write_bytes(file_path("damaged.safetensors"), damaged, sizeof damaged - 1);
    EXPECT_FAILS(open_index("{\"weight_map\":{\"a\":\"damaged.safetensors\"}}"), TSR_EFORMAT, "a value");
    EXPECT_OK(open_index("{\"weight_map\":{\"d\":\"two.safetensors\",\"b\":\"one.safetensors\"}}"));
    tsr_file *f = NULL;
    EXPECT_OK(tsr_file_open(&f, file_path("set.safetensors.index.json"), NULL));
    EXPECT(tsr_file_count(f) == 2 && tsr_file_meta_count(f) == 0);
    tsr_file_close(&f);
    tsr_release(&t);
}

/* A safetensors file from its header. */
static tsr_status open_header(tsr_file **f, const char *header, size_t data)
{
    static unsigned char file[1024];
    const size_t n = strlen(header);
    memset(file, 0, sizeof file);
    file[0] = (unsigned char)n;
    memcpy(file + 8, header, n);
    return tsr_file_open_bytes(f, file, 8 + n + data, "h.safetensors", NULL);
}

TEST(test_an_empty_name_is_a_name_and_no_name_is_not)
{
    tsr_file *f = NULL;
    tsr_file_entry e;
    tsr_tensor *t = NULL;
    EXPECT_OK(open_header(&f, "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]},"
                              "\"\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 2));
    EXPECT_OK(tsr_file_find(&e, f, ""));
    EXPECT(e.name[0] == '\0');
    EXPECT_FAILS(tsr_file_find(&e, f, NULL), TSR_EINDEX, "has 2 tensors, and no name says which");
    EXPECT_FAILS(tsr_file_find(&e, f, "A"), TSR_EINDEX, "did you mean \"\" or \"a\"?");
    EXPECT_FAILS(tsr_file_find(&e, f, "b"), TSR_EINDEX, "did you mean \"\" or \"a\"?");
    EXPECT_OK(open_header(&f, "{\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
                              "\"b\":{\"dtype\":\"F4\",\"shape\":[2],\"data_offsets\":[0,1]}}", 1));
    EXPECT_FAILS(tsr_file_find(&e, f, ""), TSR_EINDEX, "no name says which");
    EXPECT_FAILS(tsr_file_find(&e, f, "A"), TSR_EINDEX, "did you mean \"a\" or \"b\"?");
    EXPECT_FAILS(tsr_file_read_slice(&t, f, "b", 0, NULL), TSR_EUNSUPPORTED, "encoded as F4");
    EXPECT_OK(open_header(&f, "{}", 0));
    EXPECT_FAILS(tsr_file_find(&e, f, ""), TSR_EINDEX, "has 0 tensors");
    tsr_file_close(&f);
}

/* Files and paths ---------------------------------------------------------------------- */

TEST(test_a_file_that_is_cut_short_while_open_is_told)
{
    tsr_tensor *t = zeros_of(TSR_F32, TSR_SHAPE(1000)), *back = NULL;
    tsr_file *f = NULL;
    EXPECT_OK(tsr_file_save(file_path("cut.npy"), t));
    EXPECT_OK(tsr_file_open(&f, file_path("cut.npy"), &(tsr_file_opts){ .copy = true }));
    EXPECT(truncate(file_path("cut.npy"), 300) == 0);
    EXPECT_FAILS(tsr_file_read(&back, f, NULL), TSR_EFORMAT, "ends at byte 300; it was cut short while open");
    tsr_file_close(&f);
    tsr_release(&t);
}

TEST(test_paths_are_relative_or_long_within_bounds)
{
    tsr_tensor *t = zeros_of(TSR_F32, TSR_SHAPE(2)), *back = NULL;
    char before[4096], path[4200];
    EXPECT(getcwd(before, sizeof before) != NULL && chdir(files_folder) == 0);
    for (int i = 0; i < 2; i++) {  /* the second replaces the first */
        EXPECT_OK(tsr_file_save("relative.npy", t));
        EXPECT_OK(tsr_file_load(&back, "relative.npy", NULL));
        EXPECT(same_bits(back, t));
        tsr_release(&back);
    }
    EXPECT(chdir(before) == 0);
    int n = snprintf(path, sizeof path, "%s", files_folder);
    while (n < 4060) n += snprintf(path + n, sizeof path - (size_t)n, "/.");
    snprintf(path + n, sizeof path - (size_t)n, "/x.npy");
    EXPECT_FAILS(tsr_file_save(path, t), TSR_EINVAL, "between 1 and 4048 are taken");
    tsr_release(&t);
}

/* The names that stand for descriptors. */
TEST(test_descriptors_are_opened_by_each_of_their_names)
{
    static const char table[] = "1,2\n";
    static const char *const names[] = { "/dev/fd/%d", "/proc/self/fd/%d", "/dev/stdin" };
    for (int i = 0; i < 3; i++) {
        int ends[2];
        char path[40];
        const int input = dup(0);
        tsr_file *f = NULL;
        EXPECT(pipe(ends) == 0 && write(ends[1], table, 4) == 4 && close(ends[1]) == 0);
        if (i == 2) EXPECT(dup2(ends[0], 0) == 0);
        snprintf(path, sizeof path, names[i], ends[0]);
        EXPECT_OK(tsr_file_open(&f, path, &(tsr_file_opts){ .format = "csv" }));
        EXPECT(tsr_file_count(f) == 1);
        tsr_file_close(&f);
        close(ends[0]);
        if (input >= 0) EXPECT(dup2(input, 0) == 0 && close(input) == 0);
    }
    char path[40];
    tsr_file *f = NULL;
    FILE *folder = fopen(files_folder, "r");
    EXPECT(folder != NULL);
    snprintf(path, sizeof path, "/dev/fd/%d", folder ? fileno(folder) : -1);
    EXPECT_FAILS(tsr_file_open(&f, path, NULL), TSR_EIO, "is a folder");
    if (folder) fclose(folder);
}

/* A pipe of packets gives one for each read. */
TEST(test_pipes_are_read_byte_by_byte)
{
#ifdef O_DIRECT
    int ends[2];
    char path[40];
    tsr_file *f = NULL;
    tsr_tensor *t = NULL;
    EXPECT(pipe2(ends, O_DIRECT) == 0);
    for (const char *c = "12,3\n4,56\n"; *c; c++) EXPECT(write(ends[1], c, 1) == 1);
    EXPECT(close(ends[1]) == 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    EXPECT_OK(tsr_file_open(&f, path, &(tsr_file_opts){ .format = "csv" }));
    EXPECT_OK(tsr_file_read(&t, f, NULL));
    EXPECT(tsr_numel(t) == 4);
    tsr_release(&t);
    tsr_file_close(&f);
    close(ends[0]);
#endif
}

/* Tensors that are given --------------------------------------------------------------- */

TEST(test_tensors_of_nonsense_are_neither_read_into_nor_written)
{
    tsr_tensor *t = zeros_of(TSR_F32, TSR_SHAPE(2)), *p = NULL;
    tsr_file *f = NULL;
    EXPECT_OK(tsr_file_save(file_path("n.npy"), t));
    EXPECT_OK(tsr_file_open(&f, file_path("n.npy"), NULL));
    tsr_tensor bad = *t;
    bad.ndim = -1;
    p = &bad;
    EXPECT(tsr_file_read(&p, f, NULL) != TSR_OK);
    tsr_tensor none = { .ndim = 0 };
    p = &none;
    EXPECT(tsr_file_read(&p, f, NULL) != TSR_OK && none.data == NULL);
    p = NULL;
    EXPECT_OK(tsr_declare(&p, &t->desc, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_OK(tsr_file_read(&p, f, NULL));  /* described, and given its memory now */
    EXPECT(p->data != NULL && same_bits(p, t));
    tsr_release(&p);
    tsr_writer *w = writer_of("n.npy");
    EXPECT(tsr_writer_add(w, NULL, &bad, NULL) != TSR_OK);
    tsr_writer_cancel(&w);
    p = NULL;
    EXPECT_FAILS(tsr_file_read_slice(&p, f, NULL, 1, (tsr_file_range[]){ { 0, 2, INT64_MIN } }), TSR_EINDEX,
                 "leaves dim 0");
    tsr_file_close(&f);
    tsr_release(&t);
}

/* A row that is larger than a piece is cut in its turn. */
TEST(test_strided_tensors_of_long_rows_are_written)
{
    enum { LONG = 3 << 20 };
    tsr_tensor *t = NULL, *back = NULL;
    EXPECT_OK(tsr_arange(&t, TSR_F32, TSR_SCALAR(0), TSR_SCALAR(2 * LONG), TSR_SCALAR(1)));
    EXPECT_OK(tsr_view(&t, t, TSR_SHAPE(LONG, 2)));
    EXPECT_OK(tsr_transpose(&t, t, 0, 1));
    EXPECT_OK(tsr_file_save(file_path("rows.npy"), t));
    EXPECT_OK(tsr_file_load(&back, file_path("rows.npy"), NULL));
    EXPECT(same_bits(back, t));
    tsr_release_all(&t, &back);
    EXPECT(unlink(file_path("rows.npy")) == 0);
}

/* What they share ---------------------------------------------------------------------- */

TEST(test_shapes_of_files_are_checked_for_every_format)
{
    tsr_file f = { .path = "f" };
    tsri_entry *e = NULL;
    uint64_t n = 0;
    int64_t shape[TSR_MAX_NDIM + 1] = { 0 };
    EXPECT_FAILS(tsri_file_shape_bytes(&n, &f, "a", 4, 1, (const int64_t[]){ -1 }), TSR_EFORMAT,
                 "dim 0 is -1");
    EXPECT_FAILS(tsri_file_add(&f, &e, "a", TSR_F32, TSR_MAX_NDIM + 1, shape), TSR_EUNSUPPORTED,
                 "dims; at most");
    EXPECT(tsri_bump_take(&f.memory, SIZE_MAX) == NULL && f.memory.blocks == NULL);
}

TEST(test_a_header_of_npy_that_changed_is_told)
{
    tsr_file f = { .path = "f" };
    tsri_npy_header h;
    unsigned char head[16] = "\x93NUMPY\2";
    EXPECT_FAILS(tsri_npy_parse(&h, &f, "it", head, 10), TSR_EFORMAT, "changed while it was read");
}

TEST(test_names_are_found_after_others_are_removed)
{
    enum { NAMES = 300 };
    static char names[NAMES][8];
    tsri_names set = { 0 };
    tsri_bump memory = { 0 };
    EXPECT(!tsri_names_have(&set, "a"));
    tsri_names_remove(&set, "a");
    for (int i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof names[i], "%d", i);
        EXPECT(tsri_names_add(&set, &memory, names[i]));
        if (i % 3 == 0) tsri_names_remove(&set, names[i]);
        tsri_names_remove(&set, "none");
    }
    for (int i = 0; i < NAMES; i++) EXPECT(tsri_names_have(&set, names[i]) == (i % 3 != 0));
    tsri_bump_free(&memory);
}

TEST(test_numbers_of_many_digits_are_rounded_as_strtod_does)
{
    static char text[1200];
    static const char *const starts[] = { "9007199254740993.", "9007199254740992.9", "0.0000001", "1" };
    for (int last = 0; last < 2; last++)
        for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
            int n = snprintf(text, sizeof text, "%s", starts[i]);
            memset(text + n, '0', 900);
            n += 900;
            text[n - 1] = (char)('0' + last);
            if (i == 3) n += snprintf(text + n, sizeof text - (size_t)n, "e-890");
            text[n] = '\0';
            tsr_scalar s;
            EXPECT(tsri_parse_number(&s, text, (size_t)n));
            EXPECT_MSG(tsr_scalar_to_f64(s) == strtod(text, NULL), "%s: %a", starts[i], tsr_scalar_to_f64(s));
        }
    tsr_scalar s;
    memset(text, '7', 900);
    EXPECT(tsri_parse_number(&s, text, 900) && isinf(tsr_scalar_to_f64(s)));
}

/* Deflate ------------------------------------------------------------------------------ */

TEST(test_bytes_that_do_not_compress_are_stored_in_blocks)
{
    enum { LONG = 200000 };
    static uint32_t scratch[TSRI_DEFLATE_SCRATCH / 4];
    unsigned char *plain = malloc(LONG), *packed = malloc(tsri_deflate_room(LONG)), *back = malloc(LONG);
    uint64_t r = 77;
    for (int i = 0; i < LONG; i++) plain[i] = (unsigned char)test_below(&r, 256);
    for (int last = 0; last < 2; last++) {
        const size_t n = tsri_deflate_alone(packed, plain, LONG, last, scratch);
        EXPECT(n == LONG + 4 * 5 && n <= tsri_deflate_room(LONG));
        EXPECT(tsri_inflate_alone(back, LONG, packed, n, NULL, NULL) ==
               (last ? TSRI_INFLATE_DONE : TSRI_INFLATE_SHORT));
        EXPECT(memcmp(back, plain, LONG) == 0);
    }
    free(plain);
    free(packed);
    free(back);
}

/* Bytes of which each is half as frequent as the one before: codes of every length; with distances. */
TEST(test_streams_cut_anywhere_end_short)
{
    enum { LONG = 30000 };
    static uint32_t scratch[TSRI_DEFLATE_SCRATCH / 4];
    static unsigned char plain[LONG], packed[2 * LONG], back[LONG];
    uint64_t r = 78;
    for (int i = 0; i < LONG; i++) {
        const uint64_t v = test_next(&r) | UINT64_C(1) << 20;
        plain[i] = (unsigned char)__builtin_ctzll(v);
        if (i > 9000 && v >> 60 == 0) memcpy(plain + i - 8, plain + i - 9000 + (int)(v >> 50 & 1023), 8);
    }
    for (int own = 0; own < 2; own++) {
        const size_t n = own ? tsri_deflate_alone(packed, plain, LONG, true, scratch)
                             : tsri_deflate(packed, plain, LONG, true, scratch);
        size_t made = 0, most = 0;
        EXPECT(tsri_inflate_alone(back, LONG, packed, n, NULL, &made) == TSRI_INFLATE_DONE && made == LONG);
        EXPECT(memcmp(back, plain, LONG) == 0);
        for (size_t cut = 0; cut < n; cut++) {
            unsigned char *exact = malloc(cut + 1);  /* so that a sanitizer sees a read beyond it */
            memcpy(exact, packed, cut);
            EXPECT(tsri_inflate_alone(back, LONG, exact, cut, NULL, &made) == TSRI_INFLATE_SHORT);
            EXPECT(made >= most && made <= LONG && memcmp(back, plain, made) == 0);
            most = made;
            free(exact);
        }
    }
}

/* The first length of a code says "as the one before", and there is none. */
TEST(test_a_code_that_repeats_nothing_is_damage)
{
    static const uint8_t fields[][2] = { { 1, 1 }, { 2, 2 }, { 0, 5 }, { 0, 5 }, { 0, 4 }, { 1, 3 },
                                         { 0, 3 }, { 1, 3 }, { 0, 3 }, { 0, 1 }, { 0, 2 } };
    unsigned char stream[16] = { 0 }, back[16];
    size_t made = 9;
    int at = 0;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        for (int bit = 0; bit < fields[i][1]; bit++, at++)
            stream[at / 8] |= (unsigned char)((fields[i][0] >> bit & 1) << at % 8);
    EXPECT(tsri_inflate_alone(back, sizeof back, stream, sizeof stream, NULL, &made) == TSRI_INFLATE_BAD);
    EXPECT(made == 0);
}

TEST(test_zlib_takes_what_it_can_count_and_says_when_room_is_short)
{
    static unsigned char plain[1000], packed[2000], back[1000];
    tsri_inflated r = TSRI_INFLATE_BAD;
    if (!tsri_zlib_deflate(packed, sizeof packed, plain, sizeof plain, true)) SKIP("there is no zlib here");
    EXPECT(tsri_zlib_deflate(packed, sizeof packed, plain, ((size_t)1 << 30) + 1, true) == 0);
    EXPECT(tsri_zlib_deflate(packed, ((size_t)1 << 30) + 1, plain, sizeof plain, true) == 0);
    EXPECT(tsri_zlib_deflate(packed, 3, plain, sizeof plain, true) == 0);
    EXPECT(tsri_zlib_deflate(packed, 3, plain, sizeof plain, false) == 0);
    const size_t n = tsri_zlib_deflate(packed, sizeof packed, plain, sizeof plain, true);
    memset(back, 1, sizeof back);
    EXPECT(tsri_zlib_inflate(&r, back, sizeof back, packed, n, NULL, NULL) && r == TSRI_INFLATE_DONE);
    EXPECT(memcmp(back, plain, sizeof plain) == 0);
    tsr_set_external(false);
    EXPECT(!tsri_zlib_inflate(&r, back, sizeof back, packed, n, NULL, NULL));
    EXPECT(tsri_zlib_deflate(packed, sizeof packed, plain, sizeof plain, true) == 0);
    tsr_set_external(true);
    files_allowed = 0;
    tsr_set_alloc_hook(files_allow_some, NULL);
    const bool inflated = tsri_zlib_inflate(&r, back, sizeof back, packed, n, NULL, NULL);
    const size_t deflated = tsri_zlib_deflate(packed, sizeof packed, plain, sizeof plain, true);
    tsr_set_alloc_hook(NULL, NULL);
    EXPECT(!inflated && deflated == 0);
}

TEST(test_formats_of_others_are_named)
{
    tsr_file *f = NULL;
    EXPECT_FAILS(tsr_file_open_bytes(&f, "PAR1....", 8, "x", NULL), TSR_EFORMAT, "Parquet is not read");
    EXPECT_FAILS(tsr_file_open_bytes(&f, "RIFF1234WEBP", 12, "x", NULL), TSR_EFORMAT, "a WebP image");
    EXPECT_FAILS(tsr_file_open_bytes(&f, "....TFL3", 8, "x", NULL), TSR_EFORMAT, "TensorFlow Lite");
}

TEST_AFTER
{
    files_remove();
}
