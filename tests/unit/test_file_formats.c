/* test_file_formats.c - each format: files that other programs made (tests/data/files, by
 * tools/make_file_goldens.py), what we write, and what is damaged. */
#define _GNU_SOURCE 1 /* mkdtemp */
#include <math.h>

#include "io/crc.h"
#include "io/decimal.h"
#include "io/gguf_blocks.h"
#include "io/inflate.h"
#include "io/io_int.h"
#include "unit/counted.h"

static const char *golden(const char *name)
{
    static char paths[4][128];
    static int next;
    char *p = paths[next++ % 4];
    snprintf(p, sizeof paths[0], "tests/data/files/%s", name);
    return p;
}

/* npy and npz -------------------------------------------------------------------------- */

TEST(test_every_npy_version_order_and_byte_order_is_read)
{
    static const struct { const char *name; tsr_dtype dtype; bool mapped;
    } files[] = {
        { "v1.npy", TSR_F64, true },   { "v2.npy", TSR_F64, true },
        { "v3.npy", TSR_F64, true },   { "fortran.npy", TSR_F32, true },
        { "big.npy", TSR_I32, false }, { "big_complex.npy", TSR_C128, false },
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (int slices = 0; slices < 2; slices++) {
            tsr_file *f = NULL;
            tsr_tensor *t = NULL;
            tsr_file_entry e;
            EXPECT_OK(tsr_file_open(&f, golden(files[i].name), NULL));
            EXPECT_OK(tsr_file_find(&e, f, NULL));
            EXPECT(e.mapped == files[i].mapped);
            if (slices) EXPECT_OK(tsr_file_read_slice(&t, f, NULL, 1, (tsr_file_range[]){ { 0, 2, 1 } }));
            else        EXPECT_OK(tsr_file_read(&t, f, NULL));
            EXPECT_MSG(t && t->dtype == files[i].dtype && is_counted(t), "%s", files[i].name);
            tsr_release(&t);
            tsr_file_close(&f);
        }
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_file_load(&t, golden("scalar.npy"), NULL));
    EXPECT(tsr_is_scalar(t) && *(double *)t->data == 2.5);
    tsr_release(&t);
    EXPECT_OK(tsr_file_load(&t, golden("empty.npy"), NULL));
    EXPECT(t->ndim == 3 && t->shape[0] == 3 && t->shape[1] == 0 && t->dtype == TSR_I16);
    tsr_release(&t);
}

TEST(test_text_and_records_are_refused_in_words)
{
    tsr_tensor *t = NULL;
    EXPECT_FAILS(tsr_file_load(&t, golden("text.npy"), NULL), TSR_EUNSUPPORTED, "<U3");
    EXPECT_FAILS(tsr_file_load(&t, golden("record.npy"), NULL), TSR_EUNSUPPORTED, "records");
    EXPECT(t == NULL);
}

TEST(test_npz_members_are_read_stored_and_deflated)
{
    tsr_tensor *t = NULL;
    expect_counted_file(golden("stored.npz"), "npz", COUNTED);
    expect_counted_file(golden("deflated.npz"), "npz", COUNTED);
    EXPECT_OK(tsr_file_load(&t, golden("deflated.npz"), "fortran"));
    EXPECT(is_counted(t) && t->stride[0] == 1);
    tsr_release(&t);
    EXPECT_OK(tsr_file_load(&t, golden("deflated.npz"), "big"));
    EXPECT(is_counted(t) && t->dtype == TSR_I16);
    tsr_release(&t);
    EXPECT_OK(tsr_file_load(&t, golden("stored.npz"), "big"));
    EXPECT(is_counted(t));
    tsr_release(&t);
}

/* A zip file whose sizes all stand in zip64 fields, made by hand. */
TEST(test_zip64_sizes_are_read)
{
    size_t bytes = 0;
    unsigned char *npy = read_bytes(golden("v1.npy"), &bytes), zip[1024] = { 0 }, *p = zip;
#define PUT16(v) (*p++ = (unsigned char)(v), *p++ = (unsigned char)((v) >> 8))
#define PUT32(v) (PUT16((v) & 0xFFFF), PUT16((unsigned)(v) >> 16))
#define PUT64(v) (PUT32((unsigned)(v)), PUT32(0))
    PUT32(0x04034b50), PUT16(45), PUT16(0), PUT16(0), PUT32(0), PUT32(0), PUT32(0xFFFFFFFF),
        PUT32(0xFFFFFFFF), PUT16(5), PUT16(0);
    memcpy(p, "a.npy", 5), p += 5;
    memcpy(p, npy, bytes), p += bytes;
    const size_t directory = (size_t)(p - zip);
    const uint32_t crc = tsri_crc32(0, npy, bytes);
    PUT32(0x02014b50), PUT16(45), PUT16(45), PUT16(0), PUT16(0), PUT32(0), PUT32(crc), PUT32(0xFFFFFFFF),
        PUT32(0xFFFFFFFF);
    PUT16(5), PUT16(28), PUT16(0), PUT16(0), PUT16(0), PUT32(0), PUT32(0xFFFFFFFF);
    memcpy(p, "a.npy", 5), p += 5;
    PUT16(1), PUT16(24), PUT64(bytes), PUT64(bytes), PUT64(0);
    const size_t end64 = (size_t)(p - zip);
    PUT32(0x06064b50), PUT64(44), PUT16(45), PUT16(45), PUT32(0), PUT32(0), PUT64(1), PUT64(1),
        PUT64(end64 - directory), PUT64(directory);
    PUT32(0x07064b50), PUT32(0), PUT64(end64), PUT32(1);
    PUT32(0x06054b50), PUT16(0), PUT16(0), PUT16(0xFFFF), PUT16(0xFFFF), PUT32(0xFFFFFFFF), PUT32(0xFFFFFFFF),
        PUT16(0);
    tsr_file *f = NULL;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_file_open_bytes(&f, zip, (size_t)(p - zip), "z.npz", NULL));
    EXPECT_OK(tsr_file_read(&t, f, "a"));
    EXPECT(is_counted(t));
    tsr_release(&t);
    tsr_file_close(&f);
    zip[directory + 46 + 5 + 2] = 23;  /* a field that ends inside its last number */
    EXPECT_FAILS(tsr_file_open_bytes(&f, zip, (size_t)(p - zip), "z.npz", NULL), TSR_EFORMAT,
                 "field is too short");
    free(npy);
}

TEST(test_npz_is_written_stored_and_deflated)
{
    uint64_t r = 5;
    for (int compress = 0; compress < 2; compress++) {
        tsr_tensor *t[30];
        char names[30][16];
        tsr_writer *w = NULL;
        tsr_file *f = NULL;
        EXPECT_OK(tsr_writer_create(&w, file_path("w.npz"), &(tsr_writer_opts){ .compress = compress }));
        for (int i = 0; i < 30; i++) {
            const tsr_dtype dtype = counted[i % COUNTED].dtype;
            t[i] = any_tensor(&r, dtype, 4);
            snprintf(names[i], sizeof names[i], "n%d", i);
            EXPECT_OK(tsr_writer_add(w, names[i], t[i], NULL));
        }
        EXPECT_OK(tsr_writer_finish(&w));
        EXPECT_OK(tsr_file_open(&f, file_path("w.npz"), NULL));
        EXPECT(tsr_file_count(f) == 30);
        for (int i = 0; i < 30; i++) {
            tsr_tensor *back = NULL;
            tsr_file_entry e;
            EXPECT_OK(tsr_file_find(&e, f, names[i]));
            EXPECT(e.mapped == (!compress && e.bytes > 0 && t[i]->dtype != TSR_BOOL));
            EXPECT_OK(tsr_file_read(&back, f, names[i]));
            EXPECT(same_bits(back, t[i]));
            tsr_release_all(&back, &t[i]);
        }
        tsr_file_close(&f);
    }
}

/* Two stored members of 100 f32 each, "a" and "b"; *data is where the elements of a lie. */
static unsigned char *two_members(size_t *bytes, size_t *data)
{
    tsr_tensor *t = NULL;
    tsr_writer *w = NULL;
    tsr_file *f = NULL;
    tsr_file_entry e = { .name = NULL };
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(100)));
    EXPECT_OK(tsr_writer_create(&w, file_path("two.npz"), NULL));
    EXPECT_OK(tsr_writer_add(w, "a", t, NULL));
    EXPECT_OK(tsr_writer_add(w, "b", t, NULL));
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_OK(tsr_file_open(&f, file_path("two.npz"), NULL));
    EXPECT_OK(tsr_file_find(&e, f, "a"));
    *data = (size_t)e.offset;
    tsr_file_close(&f);
    tsr_release(&t);
    return read_bytes(file_path("two.npz"), bytes);
}

/* Where entry `index` of the directory begins. */
static unsigned char *directory_entry(unsigned char *zip, size_t bytes, int index)
{
    for (size_t i = 0; i + 4 < bytes; i++)
        if (!memcmp(zip + i, "PK\1\2", 4) && index-- == 0) return zip + i;
    return NULL;
}

TEST(test_the_checksum_of_a_stored_member_is_tested_when_it_is_read)
{
    size_t bytes = 0, data = 0;
    unsigned char *zip = two_members(&bytes, &data);
    tsr_tensor *t = NULL, *given = NULL;
    tsr_file *f = NULL;
    zip[data + 7] ^= 1;
    write_bytes(file_path("two.npz"), zip, bytes);
    EXPECT_OK(tsr_empty(&given, TSR_F32, TSR_SHAPE(100)));
    for (int copy = 0; copy < 2; copy++) {
        EXPECT_OK(tsr_file_open(&f, file_path("two.npz"), &(tsr_file_opts){ .copy = copy }));
        EXPECT_FAILS(tsr_file_read(&t, f, "a"), TSR_EFORMAT, "\"a.npy\": its checksum is");
        EXPECT_FAILS(tsr_file_read(&given, f, "a"), TSR_EFORMAT, "\"a.npy\": its checksum is");
        EXPECT_OK(tsr_file_read(&t, f, "b"));
        tsr_release(&t);
        tsr_file_close(&f);
    }
    tsr_release(&given);
    free(zip);
}

TEST(test_members_that_overlap_are_refused)
{
    size_t bytes = 0, data = 0;
    unsigned char *zip = two_members(&bytes, &data), *entry = directory_entry(zip, bytes, 1);
    tsr_file *f = NULL;
    EXPECT(entry != NULL && entry[42] != 0);
    entry[42] = entry[43] = 0;  /* where "b" begins: as "a" */
    EXPECT_FAILS(tsr_file_open_bytes(&f, zip, bytes, "o.npz", NULL), TSR_EFORMAT, "overlap at byte 0");
    free(zip);
}

/* Members whose headers are a megabyte of spaces, in a thousand bytes each. */
TEST(test_headers_are_bounded_by_the_file)
{
    enum { MEMBERS = 40, HEADER = 1 << 20 };
    static uint32_t scratch[TSRI_DEFLATE_SCRATCH / 4];
    unsigned char *plain = calloc(1, HEADER + 8), *packed = malloc(tsri_deflate_room(HEADER)),
                  *zip = malloc(MEMBERS * (16384 + 256)), *p = zip;
    tsr_file *f = NULL;
    static const char head[] = "{'descr':'<f4','fortran_order':False,'shape':(2,)";
    size_t at[MEMBERS];
    memset(plain, ' ', HEADER);
    memcpy(plain, "\x93NUMPY\2\0\xf4\xff\x0f\0", 12);  /* 12 bytes less than HEADER */
    memcpy(plain + 12, head, sizeof head - 1);
    plain[HEADER - 1] = '}';
    const size_t n = tsri_deflate(packed, plain, HEADER + 8, true, scratch);
    EXPECT(n < 16384);
    for (int i = 0; i < MEMBERS; i++) {
        at[i] = (size_t)(p - zip);
        PUT32(0x04034b50), PUT16(20), PUT16(0), PUT16(8), PUT32(0), PUT32(0), PUT32(n), PUT32(HEADER + 8),
            PUT16(6), PUT16(0);
        p += sprintf((char *)p, "%02d.npy", i);
        memcpy(p, packed, n), p += n;
    }
    const size_t directory = (size_t)(p - zip);
    for (int i = 0; i < MEMBERS; i++) {
        PUT32(0x02014b50), PUT16(20), PUT16(20), PUT16(0), PUT16(8), PUT32(0), PUT32(0), PUT32(n),
            PUT32(HEADER + 8);
        PUT16(6), PUT16(0), PUT16(0), PUT16(0), PUT16(0), PUT32(0), PUT32(at[i]);
        p += sprintf((char *)p, "%02d.npy", i);
    }
    const size_t end = (size_t)(p - zip);
    PUT32(0x06054b50), PUT16(0), PUT16(0), PUT16(MEMBERS), PUT16(MEMBERS), PUT32(end - directory),
        PUT32(directory), PUT16(0);
    EXPECT_FAILS(tsr_file_open_bytes(&f, zip, (size_t)(p - zip), "h.npz", NULL), TSR_EFORMAT, "headers of");
    free(plain);
    free(packed);
    free(zip);
}

/* The memory of zlib is ours too: what it lacks is no damage of the file. */
TEST(test_a_large_deflated_member_survives_running_out_of_memory)
{
    tsr_tensor *t = NULL, *back = NULL;
    tsr_writer *w = NULL;
    EXPECT_OK(tsr_arange(&t, TSR_I32, TSR_SCALAR(0), TSR_SCALAR(100000), TSR_SCALAR(1)));
    EXPECT_OK(tsr_writer_create(&w, file_path("z.npz"), &(tsr_writer_opts){ .compress = true }));
    EXPECT_OK(tsr_writer_add(w, "a", t, NULL));
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_SURVIVES(tsr_file_load(&back, file_path("z.npz"), "a"));
    EXPECT(same_bits(back, t));
    const void *data = back->data;  /* and into a tensor that is there */
    EXPECT_OK(tsr_zero(back));
    EXPECT_SURVIVES(tsr_file_load(&back, file_path("z.npz"), "a"));
    EXPECT(same_bits(back, t) && back->data == data);
    tsr_release_all(&back, &t);
}

TEST(test_names_with_quotes_and_backslashes_come_back)
{
    static const char *const names[] = { "a\"b", "c\\d", "\\\"", "\t" };
    tsr_tensor *t = NULL, *back = NULL;
    tsr_writer *w = NULL;
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(2)));
    EXPECT_OK(tsr_writer_create(&w, file_path("names.safetensors"), NULL));
    for (int i = 0; i < 4; i++) EXPECT_OK(tsr_writer_add(w, names[i], t, NULL));
    EXPECT_OK(tsr_writer_finish(&w));
    for (int i = 0; i < 4; i++) EXPECT_OK(tsr_file_load(&back, file_path("names.safetensors"), names[i]));
    tsr_release_all(&t, &back);
}

TEST(test_no_name_is_written_twice)
{
    tsr_tensor *t = NULL;
    tsr_writer *w = NULL;
    char name[16];
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(1)));
    EXPECT_OK(tsr_writer_create(&w, file_path("names.npz"), NULL));
    EXPECT_OK(tsr_writer_add(w, "arr_1", t, NULL));
    EXPECT_FAILS(tsr_writer_add(w, "", t, NULL), TSR_EINVAL, "\"arr_1\" already");
    for (int i = 0; i < 6000; i++) {
        snprintf(name, sizeof name, "n%d", i);
        EXPECT_OK(tsr_writer_add(w, name, t, NULL));
    }
    EXPECT_FAILS(tsr_writer_add(w, "n0", t, NULL), TSR_EINVAL, "\"n0\" already");
    tsr_writer_cancel(&w);
    tsr_release(&t);
}

/* Compression -------------------------------------------------------------------------- */

typedef size_t (*deflate_fn)(void *dst, const void *src, size_t bytes, bool last, void *scratch);
typedef tsri_inflated (*inflate_fn)(void *dst, size_t room, const void *src, size_t bytes, size_t *taken,
                                    size_t *made);

enum { MOST = 200000 };
static unsigned char z_plain[MOST], z_packed[MOST + 4096], z_back[MOST];

/* In two pieces, and back: all of it, all but a byte, and half of the stream. */
static void expect_inflated(deflate_fn deflate, inflate_fn inflate, size_t n, size_t cut)
{
    static uint32_t scratch[TSRI_DEFLATE_SCRATCH / 4];
    size_t made = 0, taken = 0, at = deflate(z_packed, z_plain, cut, false, scratch);
    at += deflate(z_packed + at, z_plain + cut, n - cut, true, scratch);
    EXPECT(at <= tsri_deflate_room(n) + 64 && at < sizeof z_packed);
    z_packed[at] = 0xAA;
    EXPECT(inflate(z_back, n, z_packed, at + 1, &taken, &made) == TSRI_INFLATE_DONE);
    EXPECT(made == n && taken == at && memcmp(z_back, z_plain, n) == 0);
    if (n == 0) return;
    EXPECT(inflate(z_back, n - 1, z_packed, at, NULL, &made) == TSRI_INFLATE_FULL && made == n - 1);
    EXPECT(inflate(z_back, n, z_packed, at / 2, NULL, &made) == TSRI_INFLATE_SHORT);
}

TEST(test_what_is_deflated_is_inflated_again)
{
    uint64_t r = 9;
    for (int k = 0; k < 300; k++) {
        const size_t n = k < 100 ? (size_t)k : (size_t)test_below(&r, MOST),
                     cut = n ? (size_t)test_below(&r, (int64_t)n) : 0;
        const int64_t values = 1 + test_below(&r, k % 3 ? 4 : 256), period = 1 + test_below(&r, 3000);
        for (size_t i = 0; i < n; i++)
            z_plain[i] = i >= (size_t)period && test_below(&r, k % 5 ? 50 : 2)
                           ? z_plain[i - (size_t)period]
                           : (unsigned char)test_below(&r, values);
        expect_inflated(tsri_deflate_alone, tsri_inflate_alone, n, cut);
        expect_inflated(tsri_deflate, tsri_inflate_alone, n, cut);
        expect_inflated(tsri_deflate_alone, tsri_inflate, n, cut);
    }
}

/* Few values are common and many are rare, so that codes have all lengths; matches reach back by any
 * distance. */
static void fill_with_rare_values(size_t n)
{
    uint64_t r = 4;
    for (size_t i = 0; i < n; i++) {
        const bool again = i > 100 && test_below(&r, 4) == 0;
        const size_t back = again ? 1 + (size_t)test_below(&r, (int64_t)i) : 0;
        if (again && back + 9 < i && i + 9 < n) {
            memcpy(z_plain + i, z_plain + i - back - 9, 9);
            i += 8;
        } else {
            z_plain[i] = (unsigned char)__builtin_ctzll(test_next(&r) | (uint64_t)1 << 40);
        }
    }
}

TEST(test_a_stream_that_ends_anywhere_is_short)
{
    enum { N = 20000 };
    static uint32_t scratch[TSRI_DEFLATE_SCRATCH / 4];
    fill_with_rare_values(N);
    const size_t all = tsri_deflate(z_packed, z_plain, N, true, scratch);
    unsigned char *cut = malloc(all);
    for (size_t n = 0; n < all; n++) {
        size_t made = 0;
        memcpy(cut + all - n, z_packed, n);  /* its end is the block's: reading on would be seen */
        EXPECT_MSG(tsri_inflate_alone(z_back, N, cut + all - n, n, NULL, &made) == TSRI_INFLATE_SHORT &&
                       made < N + (n + 1 == all) && memcmp(z_back, z_plain, made) == 0,
                   "%zu of %zu bytes", n, all);
    }
    free(cut);
}

TEST(test_decimals_are_rounded_as_strtod_does)
{
    static const char *const numbers[] = {
        "9007199254740993.0",
        "9007199254740995.0",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000033306690738754696212708950042724609375",
        "0",
        "-0",
        "1",
        "0.1",
        "1e22",
        "1e23",
        "9007199254740993",
        "9007199254740992.999999999999999999999",
        "5e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e309",
        "1e-400",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        ".5",
        "5.",
        "123456789012345678901234567890e-10",
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946"
        "6490179775872070963302864166928879109465555478519404026306574886715058206819089020007083836762738548"
        "45817711531764475"
        "730270069855571366959622842914819860834936475292719074168444365510704342711559699508093042880",
        "inf",
        "-INFINITY",
        "nan",
    };
    uint64_t r = 2;
    tsr_scalar s;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const double want = strtod(numbers[i], NULL);
        EXPECT(tsri_parse_number(&s, numbers[i], strlen(numbers[i])));
        const double got = tsr_scalar_to_f64(s);
        EXPECT_MSG(memcmp(&got, &want, 8) == 0 || isnan(want), "%s: %a, not %a", numbers[i], got, want);
    }
    for (int i = 0; i < 20000; i++) {
        char text[64];
        const uint64_t bits = test_next(&r);
        double x;
        memcpy(&x, &bits, 8);
        if (!isfinite(x)) continue;
        snprintf(text, sizeof text, "%.*g", (int)(1 + test_below(&r, 25)), x);
        if (i % 4 == 0)
            snprintf(text, sizeof text, "%llu%05lld.%llue%d", (unsigned long long)test_next(&r),
                     (long long)test_below(&r, 99999), (unsigned long long)test_next(&r),
                     (int)test_below(&r, 660) - 350);
        const double want = strtod(text, NULL);
        EXPECT(tsri_parse_number(&s, text, strlen(text)));
        const double got = tsr_scalar_to_f64(s);
        EXPECT_MSG(memcmp(&got, &want, 8) == 0, "%s: %a, not %a", text, got, want);
    }
    EXPECT(tsri_parse_number(&s, "-9223372036854775808", 20) && s.dtype == TSR_I64 && s.as.i == INT64_MIN);
    EXPECT(tsri_parse_number(&s, "18446744073709551615", 20) && s.dtype == TSR_U64 && s.as.u == UINT64_MAX);
    EXPECT(tsri_parse_number(&s, "18446744073709551616", 20) && s.dtype == TSR_F64);
    static const char *const none[] = { "",    "-",    "e5",   "1e", "1e+",   ".",
                                        "1 2", "0x10", "nanx", "in", "1.2.3", "--1" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        EXPECT(!tsri_parse_number(&s, none[i], strlen(none[i])));
}

/* safetensors -------------------------------------------------------------------------- */

TEST(test_safetensors_of_the_official_writer_are_read)
{
    tsr_file *f = NULL;
    tsr_meta m;
    expect_counted_file(golden("tensors.safetensors"), "safetensors", COUNTED - 2);
    EXPECT_OK(tsr_file_open(&f, golden("tensors.safetensors"), NULL));
    EXPECT_OK(tsr_file_find_meta(&m, f, "note"));
    EXPECT(strcmp(m.text, "a \"quote\"\nand \xc3\xa9") == 0);
    tsr_file_close(&f);
}

TEST(test_a_set_of_files_is_read_through_its_index)
{
    tsr_file *f = NULL;
    tsr_meta m;
    EXPECT_OK(tsr_file_open(&f, golden("set.safetensors.index.json"), NULL));
    EXPECT(tsr_file_count(f) == 3 && tsr_file_part(f, 2) != NULL && tsr_file_part(f, 3) == NULL);
    static const char *const names[] = { "a", "b", "c" };
    for (int i = 0; i < 3; i++) {
        tsr_tensor *t = NULL;
        tsr_file_entry e;
        EXPECT_OK(tsr_file_find(&e, f, names[i]));
        EXPECT(e.part == (i < 2 ? 1 : 2));
        EXPECT_OK(tsr_file_read(&t, f, names[i]));
        EXPECT(is_counted(t));
        tsr_release(&t);
    }
    EXPECT_OK(tsr_file_find_meta(&m, f, "kind"));
    EXPECT(strcmp(m.text, "test") == 0);
    tsr_file_close(&f);
    static const char *const bad[][2] = {
        { "{\"weight_map\":{\"a\":\"../v1.npy\"}}", "no name of a file" },
        { "{\"weight_map\":{\"a\":\"none.safetensors\"}}", "No such file" },
        { "{\"weight_map\":{\"a\":\"/etc/passwd\"}}", "no name of a file" },
        { "{\"weight_map\":{\"a\":\"endless.safetensors\"}}", "is a device" },
        { "{\"weight_map\":{\"a\":\"fifo.safetensors\"}}", "is a pipe" },
        { "{\"metadata\":{}}", "without a weight_map" },
        { "{\"weight_map\":{\"a\":\"part.safetensors\"}}", "it is not there" },
    };
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(2)));
    EXPECT_OK(tsr_file_save(file_path("part.safetensors"), t));
    tsr_release(&t);
    EXPECT(symlink("/dev/zero", file_path("endless.safetensors")) == 0);
    EXPECT(mkfifo(file_path("fifo.safetensors"), 0600) == 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_bytes(file_path("bad.safetensors.index.json"), bad[i][0], strlen(bad[i][0]));
        const tsr_status s = tsr_file_open(&f, file_path("bad.safetensors.index.json"), NULL);
        EXPECT_MSG(s != TSR_OK && strstr(tsr_last_error(), bad[i][1]), "%s", tsr_last_error());
    }
    EXPECT_STATUS(tsr_file_open_bytes(&f, bad[0][0], strlen(bad[0][0]), NULL, NULL), TSR_EUNSUPPORTED);
}

/* The length of a header may begin with the byte of a brace, or of a space and a brace. */
TEST(test_a_length_is_not_taken_for_json)
{
    static const size_t lengths[] = { 0x7b, 0x227b, 0x7b20 };
    static const char header[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}";
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const size_t n = lengths[i];
        unsigned char *bytes = calloc(1, 8 + n);
        tsr_file *f = NULL;
        bytes[0] = (unsigned char)n, bytes[1] = (unsigned char)(n >> 8);
        memset(bytes + 8, ' ', n);
        memcpy(bytes + 8, header, sizeof header - 1);
        EXPECT_OK(tsr_file_open_bytes(&f, bytes, 8 + n, NULL, NULL));
        EXPECT(tsr_file_count(f) == 1);
        tsr_file_close(&f);
        free(bytes);
    }
}

/* A safetensors file from its header. */
static tsr_status open_header(tsr_file **f, const char *header, size_t data)
{
    static unsigned char bytes[4096];
    const size_t n = strlen(header);
    memset(bytes, 0, sizeof bytes);
    bytes[0] = (unsigned char)n, bytes[1] = (unsigned char)(n >> 8);
    memcpy(bytes + 8, header, n);
    return tsr_file_open_bytes(f, bytes, 8 + n + data, "h.safetensors", NULL);
}

#define EMPTY_TENSOR "{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}"

TEST(test_escapes_of_json_are_read)
{
    static const struct { const char *json, *name; } same[] = {
        { "\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t" },
        { "\\u0041\\u007f\\u0080\\u07FF", "A\x7f\xc2\x80\xdf\xbf" },
        { "\\u0800\\uffff\\uD7ff\\ue000", "\xe0\xa0\x80\xef\xbf\xbf\xed\x9f\xbf\xee\x80\x80" },
        { "\\ud800\\udc00\\uDBFF\\uDFFF\\ud83d\\ude00", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\xf0\x9f\x98\x80" },
        { "\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
          "\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        tsr_file *f = NULL;
        tsr_tensor *t = NULL;
        char header[512];
        snprintf(header, sizeof header, " {\t\"%s\"\r\n:\n" EMPTY_TENSOR " }", same[i].json);
        EXPECT_OK(open_header(&f, header, 0));
        EXPECT_OK(tsr_file_read(&t, f, same[i].name));
        tsr_release(&t);
        tsr_file_close(&f);
    }
}

TEST(test_damaged_json_says_what_is_wrong)
{
#define SHAPE(text) "{\"a\":{\"dtype\":\"F32\",\"shape\":" text ",\"data_offsets\":[0,4]}}"
    static const char *const bad[][2] = {
        { "", "byte 0" },
        { "[]", "'{'" },
        { "{\"a", "a string that ends" },
        { "{\"a\\", "a string that ends" },
        { "{\"a\\\"", "a string that ends" },
        { "{\"a\":", "'{'" },
        { "{\"a\" 1}", "':'" },
        { "{\"a\n\":1}", "control characters" },
        { "{\"\\q\":1}", "an escape" },
        { "{\"\\u12\":1}", "code point" },
        { "{\"\\u12g4\":1}", "code point" },
        { "{\"\\u004G\":1}", "code point" },
        { "{\"\\udc00\":1}", "code point" },
        { "{\"\\ud800\":1}", "the other half" },
        { "{\"\\ud800\\n12345\":1}", "the other half" },
        { "{\"\\ud800\\u0041\":1}", "the other half" },
        { "{\"\\ud800\\ue000\":1}", "the other half" },
        { "{\"\x80\":1}", "UTF-8" },                                  /* a byte that goes on, first */
        { "{\"\xc1\xbf\":1}", "UTF-8" },                             /* longer than it need be */
        { "{\"\xe0\x9f\xbf\":1}", "UTF-8" },
        { "{\"\xf0\x8f\xbf\xbf\":1}", "UTF-8" },
        { "{\"\xed\xa0\x80\":1}", "UTF-8" },                        /* half a code point */
        { "{\"\xf4\x90\x80\x80\":1}", "UTF-8" },                   /* above the last */
        { "{\"\xc3\":1}", "UTF-8" },                                  /* cut off */
        { "{\"\xe2\x82\":1}", "UTF-8" },
        { "{\"\xe2\x28\xa1\":1}", "UTF-8" },
        { SHAPE("[01]"), "leading zeros" },
        { SHAPE("[1.0]"), "whole number" },
        { SHAPE("[1e0]"), "whole number" },
        { SHAPE("[1E0]"), "whole number" },
        { SHAPE("[true]"), "whole number" },
        { SHAPE("[9223372036854775808]"), "2^63" },
        { SHAPE("[1 1]"), "','" },
        { SHAPE("[1,]"), "whole number" },
    };
#undef SHAPE
    tsr_file *f = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const tsr_status s = open_header(&f, bad[i][0], 4);
        EXPECT_MSG(s == TSR_EFORMAT && strstr(tsr_last_error(), bad[i][1]), "%s: %s", bad[i][0],
                   tsr_last_error());
    }
}

/* Opens an index of a set with this as a value that readers step over. */
static tsr_status open_index_with(const char *value)
{
    char text[512];
    tsr_file *f = NULL;
    snprintf(text, sizeof text, "{\"other\":%s,\"weight_map\":{\"0\":\"skip.safetensors\"}}", value);
    write_bytes(file_path("skip.safetensors.index.json"), text, strlen(text));
    const tsr_status s = tsr_file_open(&f, file_path("skip.safetensors.index.json"), NULL);
    tsr_file_close(&f);
    return s;
}

TEST(test_values_of_json_that_nobody_asked_for_are_stepped_over)
{
    static const char *const good[] = { "1", "-1.5e+3", "true", "null", "\"a\\\"b]\"", "{}", "[ ]", "[[],{}]",
                                        "{\"a\":[1,{\"b\":\"}\"}],\"c\":{}}" };
    static const char *const bad[][2] = { { "[}", "bracket" }, { "{]", "bracket" }, { "]", "bracket" },
                                          { "[1", "bracket" }, { "", "a value" }, { ":", "a value" },
                                          { "[&]", "a value" } };
    char deep[256] = "";
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(2)));
    tsr_writer *w = NULL;
    EXPECT_OK(tsr_writer_create(&w, file_path("skip.safetensors"), NULL));
    EXPECT_OK(tsr_writer_add(w, "0", t, NULL));
    EXPECT_OK(tsr_writer_finish(&w));
    tsr_release(&t);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) EXPECT_OK(open_index_with(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT_FAILS(open_index_with(bad[i][0]), TSR_EFORMAT, bad[i][1]);
    memset(deep, '[', 64);
    memset(deep + 64, ']', 64);
    EXPECT_OK(open_index_with(deep));
    memset(deep, '[', 65);
    memset(deep + 65, ']', 65);
    EXPECT_FAILS(open_index_with(deep), TSR_EFORMAT, "fewer than 65");
}

/* An npy file of version 1 from its header. */
static tsr_status open_npy(const char *header, size_t data)
{
    unsigned char bytes[512] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0 };
    tsr_file *f = NULL;
    const size_t n = strlen(header);
    bytes[8] = (unsigned char)n, bytes[9] = (unsigned char)(n >> 8);
    memcpy(bytes + 10, header, n);
    const tsr_status s = tsr_file_open_bytes(&f, bytes, 10 + n + data, "h.npy", NULL);
    tsr_file_close(&f);
    return s;
}

TEST(test_damaged_npy_says_what_is_wrong)
{
#define NPY(descr, order, shape) "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape "}"
    static const struct { const char *header; tsr_status status; const char *words; } bad[] = {
        { "", TSR_EFORMAT, "dictionary" },
        { "{", TSR_EFORMAT, "quoted text" },
        { "{descr", TSR_EFORMAT, "quoted text" },
        { "{'descr", TSR_EFORMAT, "closing quote" },
        { "{'descr' '<f4'}", TSR_EFORMAT, "colon" },
        { "{'descr': '<f4' 'shape': (1,)}", TSR_EFORMAT, "comma" },
        { "{'descr': '<f4'", TSR_EFORMAT, "comma" },
        { "{'descr': '<f4', 'descr': '<f4'}", TSR_EFORMAT, "twice" },
        { "{'descriptor': '<f4'}", TSR_EFORMAT, "not known" },
        { "{'fortran_order': False, 'shape': (1,)}", TSR_EFORMAT, "lacks descr" },
        { "{'descr': '<f4', 'shape': (1,)}", TSR_EFORMAT, "lacks fortran_order" },
        { "{'descr': '<f4', 'fortran_order': False}", TSR_EFORMAT, "lacks shape" },
        { NPY("'<f4'", "Maybe", "(1,)"), TSR_EFORMAT, "True or False" },
        { NPY("'<f4'", "False", "1"), TSR_EFORMAT, "shape" },
        { NPY("'<f4'", "False", "(-1,)"), TSR_EFORMAT, "size" },
        { NPY("'<f4'", "False", "(a,)"), TSR_EFORMAT, "size" },
        { NPY("'<f4'", "False", "(1 1)"), TSR_EFORMAT, "comma" },
        { NPY("'<f4'", "False", "(9223372036854775808,)"), TSR_EFORMAT, "2^63" },
        { NPY("'<f4'", "False", "(3,)"), TSR_EFORMAT, "take 12 bytes, and 8 are there" },
        { NPY("'<f4'", "False", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), TSR_EUNSUPPORTED, "dims" },
        { NPY("'?f4'", "False", "(1,)"), TSR_EFORMAT, "no type" },
        { NPY("'<'", "False", "(1,)"), TSR_EFORMAT, "no type" },
        { NPY("''", "False", "(1,)"), TSR_EFORMAT, "no type" },
        { NPY("[('a', '<f4')]", "False", "(1,)"), TSR_EUNSUPPORTED, "several fields" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const tsr_status s = open_npy(bad[i].header, 8);
        EXPECT_MSG(s == bad[i].status && strstr(tsr_last_error(), bad[i].words), "%s: %s", bad[i].header,
                   tsr_last_error());
    }
    EXPECT_OK(open_npy(NPY("'<f4'", "False", "(2,)"), 8));
    EXPECT_OK(open_npy(" {\t'shape':( 2L , 1, ),\r\n \"descr\" : '=f4','fortran_order':True , }", 8));
    EXPECT_OK(open_npy(NPY("'<f4'", "False", "()"), 8));
    EXPECT_OK(open_npy(NPY("'<f4'", "False", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), 8));
#undef NPY
}

TEST(test_npy_that_ends_early_or_is_of_another_version_is_refused)
{
    static const struct { const char *bytes; size_t n; tsr_status status; const char *words; } bad[] = {
        { "\x93NUMPY\1\0\0", 9, TSR_EFORMAT, "begin as npy" },
        { "\x93NUMPY\1\0\1\0", 10, TSR_EFORMAT, "the header" },
        { "\x93NUMPY\2\0\0\0\0", 11, TSR_EFORMAT, "inside the length" },
        { "\x93NUMPY\2\0\0\0\0\x7f", 12, TSR_EFORMAT, "claims a header" },
        { "\x93NUMPY\0\0\0\0\0\0", 12, TSR_EUNSUPPORTED, "version 0.0" },
        { "\x93NUMPY\4\1\0\0\0\0", 12, TSR_EUNSUPPORTED, "version 4.1" },
    };
    tsr_file *f = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT_FAILS(tsr_file_open_bytes(&f, bad[i].bytes, bad[i].n, "h.npy", NULL), bad[i].status,
                     bad[i].words);
}

TEST(test_damaged_safetensors_say_what_is_wrong)
{
    static const struct { const char *header; size_t data; tsr_status status; const char *words;
    } bad[] = {
        { "{", 0, TSR_EFORMAT, "byte 1" },
        { "{} x", 0, TSR_EFORMAT, "nothing more" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, TSR_EFORMAT,
          "takes 8 bytes, and has 4" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 3, TSR_EFORMAT, "which has 3" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}", 8, TSR_EFORMAT,
          "begins at byte" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 8, TSR_EFORMAT,
          "4 bytes at the end" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 8, TSR_EFORMAT,
          "bytes 4 to 0" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 8, TSR_EFORMAT,
          "whole number" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,4]}}", 4,
          TSR_EFORMAT, "63 bits" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[0,9223372036854775807,9],\"data_offsets\":[0,0]}}", 0,
          TSR_EFORMAT, "63 bits" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,4]}}", 4,
          TSR_EFORMAT, "2^63" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, TSR_EFORMAT, "lacks its data_offsets" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"x\":1}}", 4, TSR_EFORMAT,
          "\"x\"" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},\"a\":{\"dtype\":\"F32\","
          "\"shape\":[0],\"data_offsets\":[0,0]}}",
          0, TSR_EFORMAT, "two tensors" },
        { "{\"a\\u0000b\":1}", 0, TSR_EFORMAT, "code point" },
        { "{\"a\xff\":1}", 0, TSR_EFORMAT, "UTF-8" },
        { "{\"__metadata__\":{\"a\":1}}", 0, TSR_EFORMAT, "'\"'" },
        { "{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}",
          4, TSR_EUNSUPPORTED, "dims" },
    };
    tsr_file *f = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const tsr_status s = open_header(&f, bad[i].header, bad[i].data);
        EXPECT_MSG(s == bad[i].status && strstr(tsr_last_error(), bad[i].words), "%s: %s", bad[i].header,
                   tsr_last_error());
    }
    EXPECT_OK(open_header(&f, "{\"a\":{\"dtype\":\"F4\",\"shape\":[2],\"data_offsets\":[0,1]}}", 1));
    tsr_tensor *t = NULL;
    EXPECT_FAILS(tsr_file_read(&t, f, "a"), TSR_EUNSUPPORTED, "F4");
    EXPECT_OK(tsr_file_read_raw(&t, f, "a"));
    EXPECT(t->dtype == TSR_U8 && tsr_numel(t) == 1);
    tsr_release(&t);
    EXPECT_OK(open_header(&f, "{\"a\":{\"dtype\":\"BOOL\",\"shape\":[],\"data_offsets\":[0,1]}}", 1));
    EXPECT_OK(tsr_file_read(&t, f, "a"));
    EXPECT(tsr_is_scalar(t));
    tsr_release(&t);
    tsr_file_close(&f);
    EXPECT_FAILS(tsr_file_open_bytes(&f, "\xff\xff\xff\xff\xff\xff\xff\x7f{", 9, "x.safetensors", NULL),
                 TSR_EFORMAT, "claims a header");
}

/* gguf --------------------------------------------------------------------------------- */

static const char *const quants[] = { "q4_0", "q4_1", "q5_0", "q5_1",   "q8_0",   "q2_k",  "q3_k", "q4_k",
                                      "q5_k", "q6_k", "iq4_nl", "iq4_xs", "tq1_0", "tq2_0", "mxfp4" };

TEST(test_quantised_blocks_are_read_as_their_makers_read_them)
{
    tsr_file *f = NULL, *want = NULL;
    tsr_tensor *t = NULL, *w = NULL;
    tsr_file_entry e;
    EXPECT_OK(tsr_file_open(&f, golden("quant.gguf"), NULL));
    EXPECT_OK(tsr_file_open(&want, golden("quant.npz"), NULL));
    for (size_t i = 0; i < sizeof quants / sizeof *quants; i++) {
        EXPECT_OK(tsr_file_read(&t, f, quants[i]));
        EXPECT_OK(tsr_file_read(&w, want, quants[i]));
        EXPECT_MSG(same_bits(t, w), "%s", quants[i]);
        tsr_release(&t);
        EXPECT_OK(
            tsr_file_read_slice(&t, f, quants[i], 2, (tsr_file_range[]){ TSR_FILE_AT(1), { 5, 100, 3 } }));
        EXPECT_OK(tsr_select(&w, w, 0, 1));
        EXPECT_OK(tsr_slice(&w, w, 0, 5, 100, 3));
        EXPECT(same_bits(t, w));
        tsr_release_all(&t, &w);
        EXPECT_OK(tsr_file_read_raw(&t, f, quants[i]));
        EXPECT(t->ndim == 3 && t->shape[0] == 2 && t->dtype == TSR_U8);
        EXPECT_OK(tsr_file_find(&e, f, quants[i]));
        EXPECT_OK(tsr_dequantise_blocks(&w, t, (tsr_block_kind)e.blocks));
        tsr_release(&t);
        EXPECT_OK(tsr_file_read(&t, f, quants[i]));
        EXPECT(same_bits(t, w));
        tsr_release_all(&w, &t);
    }
    EXPECT_FAILS(tsr_file_read(&t, f, "iq2_xxs"), TSR_EUNSUPPORTED, "iq2_xxs");
    EXPECT_OK(tsr_file_read_raw(&t, f, "iq2_xxs"));
    EXPECT(t->ndim == 3 && t->shape[1] == 1 && t->shape[2] == 66);
    tsr_release(&t);
    static const char *const plain[] = { "f4", "f2", "f8", "i1", "i2", "i4", "i8" };
    for (int i = 0; i < 7; i++) {
        EXPECT_OK(tsr_file_read(&t, f, plain[i]));
        EXPECT(is_counted(t));
        tsr_release(&t);
    }
    tsr_file_close(&f);
    tsr_file_close(&want);
}

static void expect_metadata(const tsr_file *f)
{
    static const struct { const char *key; tsr_dtype dtype; double value;
    } numbers[] = {
        { "a.u8", TSR_U8, 100 },    { "a.i8", TSR_I8, 100 },   { "a.u16", TSR_U16, 100 },
        { "a.i16", TSR_I16, 100 },  { "a.u32", TSR_U32, 100 }, { "a.i32", TSR_I32, 100 },
        { "a.u64", TSR_U64, 100 },  { "a.i64", TSR_I64, 100 }, { "a.f32", TSR_F32, 0.5 },
        { "a.f64", TSR_F64, 0.25 }, { "a.bool", TSR_BOOL, 1 },
    };
    tsr_meta m;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        EXPECT_OK(tsr_file_find_meta(&m, f, numbers[i].key));
        EXPECT(m.type == TSR_META_NUMBER && m.dtype == numbers[i].dtype &&
               tsr_scalar_to_f64(m.number) == numbers[i].value);
    }
    EXPECT_OK(tsr_file_find_meta(&m, f, "a.text"));
    EXPECT(m.type == TSR_META_TEXT && strcmp(m.text, "h\xc3\xa9llo") == 0);
    EXPECT_OK(tsr_file_find_meta(&m, f, "a.numbers"));
    EXPECT(m.type == TSR_META_NUMBERS && m.count == 3 && m.dtype == TSR_I32 &&
           ((const int32_t *)m.data)[2] == 3);
    EXPECT_OK(tsr_file_find_meta(&m, f, "a.texts"));
    EXPECT(m.type == TSR_META_TEXTS && m.count == 3 && strcmp(m.texts[1], "yz") == 0 &&
           m.texts[2][0] == '\0');
    EXPECT_OK(tsr_file_find_meta(&m, f, "a.lists"));
    EXPECT(m.type == TSR_META_LIST && m.count == 2 && m.items[0].count == 2 &&
           ((const int32_t *)m.items[1].data)[0] == 3);
}

/* Blocks as the format lists them. With a wrong size, a tensor that is only carried through would be cut. */
TEST(test_gguf_types_have_the_sizes_of_the_format)
{
    static const struct { uint32_t number; int elements, bytes; } types[] = {
        { 0, 1, 4 }, { 1, 1, 2 }, { 2, 32, 18 }, { 3, 32, 20 }, { 6, 32, 22 },
        { 7, 32, 24 }, { 8, 32, 34 }, { 9, 32, 40 }, { 10, 256, 84 }, { 11, 256, 110 },
        { 12, 256, 144 }, { 13, 256, 176 }, { 14, 256, 210 }, { 15, 256, 292 }, { 16, 256, 66 },
        { 17, 256, 74 }, { 18, 256, 98 }, { 19, 256, 50 }, { 20, 32, 18 }, { 21, 256, 110 },
        { 22, 256, 82 }, { 23, 256, 136 }, { 24, 1, 1 }, { 25, 1, 2 }, { 26, 1, 4 },
        { 27, 1, 8 }, { 28, 1, 8 }, { 29, 256, 56 }, { 30, 1, 2 }, { 34, 256, 54 },
        { 35, 256, 66 }, { 39, 32, 17 },
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const tsri_gguf_type *t = tsri_gguf_type_numbered(types[i].number);
        EXPECT_MSG(t && t->elements == types[i].elements && t->bytes == types[i].bytes, "type %u",
                   types[i].number);
        EXPECT(t && tsri_gguf_type_named(t->name) == t);
    }
}

TEST(test_gguf_comes_through_a_copy_whole)
{
    tsr_file *f = NULL, *g = NULL;
    tsr_writer *w = NULL;
    EXPECT_OK(tsr_file_open(&f, golden("quant.gguf"), NULL));
    expect_metadata(f);
    EXPECT_OK(tsr_writer_create(&w, file_path("copy.gguf"), NULL));
    for (int64_t i = 0; i < tsr_file_meta_count(f); i++) {
        tsr_meta m;
        EXPECT_OK(tsr_file_meta(&m, f, i));
        EXPECT_OK(tsr_writer_meta(w, &m));
    }
    for (int64_t i = 0; i < tsr_file_count(f); i++) {
        tsr_file_entry e;
        tsr_tensor *t = NULL;
        EXPECT_OK(tsr_file_list(&e, f, i));
        const bool blocks = e.blocks >= 0 || !e.desc.dtype;
        EXPECT_OK(blocks ? tsr_file_read_raw(&t, f, e.name) : tsr_file_read(&t, f, e.name));
        EXPECT_OK(tsr_writer_add(w, e.name, t, blocks ? e.encoding : NULL));
        tsr_release(&t);
    }
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_OK(tsr_file_open(&g, file_path("copy.gguf"), NULL));
    expect_metadata(g);
    EXPECT(tsr_file_count(f) == tsr_file_count(g));
    for (int64_t i = 0; i < tsr_file_count(f); i++) {
        tsr_file_entry e, c;
        tsr_tensor *t = NULL, *u = NULL;
        EXPECT_OK(tsr_file_list(&e, f, i));
        EXPECT_OK(tsr_file_list(&c, g, i));
        EXPECT(strcmp(e.name, c.name) == 0 && strcmp(e.encoding, c.encoding) == 0 && e.bytes == c.bytes);
        EXPECT(e.desc.ndim == c.desc.ndim && memcmp(e.desc.shape, c.desc.shape, sizeof e.desc.shape) == 0);
        EXPECT_OK(tsr_file_read_raw(&t, f, e.name));
        EXPECT_OK(tsr_file_read_raw(&u, g, e.name));
        EXPECT(same_bits(t, u));
        tsr_release_all(&t, &u);
    }
    tsr_file_close(&f);
    tsr_file_close(&g);
}

/* A block's scale is that of its own numbers: of small ones, and of zeros. */
TEST(test_blocks_of_small_numbers_are_as_exact_as_others)
{
    static const struct { const char *encoding; float steps; } kinds[] = { { "q8_0", 127 }, { "q4_0", 8 } };
    tsr_tensor *t = NULL, *back = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(64)));
    for (int i = 0; i < 32; i++) ((float *)t->data)[i] = (float)(i - 20) * 0x1p-10f;
    for (int k = 0; k < 2; k++) {
        tsr_writer *w = NULL;
        EXPECT_OK(tsr_writer_create(&w, file_path("small.gguf"), NULL));
        EXPECT_OK(tsr_writer_add(w, "t", t, kinds[k].encoding));
        EXPECT_OK(tsr_writer_finish(&w));
        EXPECT_OK(tsr_file_load(&back, file_path("small.gguf"), NULL));
        for (int i = 0; i < 64; i++) {
            const float most = i < 32 ? 20 * 0x1p-10f / kinds[k].steps * 0.51f : 0;
            const float apart = ((float *)t->data)[i] - ((float *)back->data)[i];
            EXPECT_MSG(fabsf(apart) <= most, "%s: element %d is %g apart", kinds[k].encoding, i, apart);
        }
        tsr_release(&back);
    }
    tsr_release(&t);
}

TEST(test_numbers_are_encoded_as_their_makers_encode_them)
{
    static const struct {
        const char *encoding, *bytes;
    } kinds[] = { { "q8_0", "bytes_q8_0" }, { "Q4_0", "bytes_q4_0" }, { "bf16", "bytes_bf16" } };
    tsr_file *want = NULL, *f = NULL;
    tsr_tensor *values = NULL, *wide = NULL;
    tsr_writer *w = NULL;
    EXPECT_OK(tsr_file_open(&want, golden("quant.npz"), NULL));
    EXPECT_OK(tsr_file_read(&values, want, "values"));
    EXPECT_OK(tsr_cast(&wide, values, TSR_F64));
    EXPECT_OK(tsr_writer_create(&w, file_path("e.gguf"), NULL));
    for (int i = 0; i < 3; i++)
        EXPECT_OK(tsr_writer_add(w, kinds[i].encoding, i == 1 ? wide : values, kinds[i].encoding));
    EXPECT_FAILS(tsr_writer_add(w, "x", values, "q4_K"), TSR_EDTYPE, "q4_K");
    EXPECT_FAILS(tsr_writer_add(w, "x", values, "q9"), TSR_EUNSUPPORTED, "q9");
    EXPECT_FAILS(tsr_writer_add(w, "", values, NULL), TSR_EINVAL, "name");
    EXPECT_OK(tsr_slice(&values, values, 1, 0, 33, 1));
    EXPECT_FAILS(tsr_writer_add(w, "x", values, "q8_0"), TSR_ESHAPE, "blocks of 32");
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_OK(tsr_file_open(&f, file_path("e.gguf"), NULL));
    for (int i = 0; i < 3; i++) {
        tsr_tensor *got = NULL, *bytes = NULL;
        EXPECT_OK(tsr_file_read_raw(&got, f, kinds[i].encoding));
        EXPECT_OK(tsr_file_read(&bytes, want, kinds[i].bytes));
        EXPECT_MSG(tsr_numel(got) == tsr_numel(bytes) &&
                       memcmp(got->data, bytes->data, (size_t)tsr_numel(got)) == 0,
                   "%s", kinds[i].encoding);
        tsr_release_all(&got, &bytes);
    }
    tsr_file_close(&f);
    tsr_file_close(&want);
    tsr_release_all(&values, &wide);
}

TEST(test_damaged_gguf_says_what_is_wrong)
{
    static const struct { const char *bytes; size_t n; tsr_status status; const char *words;
    } bad[] = {
        { "GGUF", 4, TSR_EFORMAT, "byte 4: the version takes 4 bytes, and the file has 0 more" },
        { "GGUF\3\0\0\0", 8, TSR_EFORMAT, "number of tensors" },
        { "GGUF\3\0\0\0\1\0\0", 11, TSR_EFORMAT, "takes 8 bytes, and the file has 3 more" },
        { "GGUF\1\0\0\0", 8, TSR_EUNSUPPORTED, "version 1" },
        { "GGUF\0\0\0\3", 8, TSR_EUNSUPPORTED, "big-endian" },
        { "GGUF\3\0\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 24, TSR_EFORMAT,
          "keys and values" },
        { "GGUF\3\0\0\0\xff\xff\xff\xff\xff\xff\xff\x7f\0\0\0\0\0\0\0\0", 24, TSR_EFORMAT, "tensors" },
        { "GGUF\3\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0k\x0d\0\0\0", 37, TSR_EFORMAT,
          "13 is no type" },
    };
    tsr_file *f = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        for (int named = 0; named < 2; named++) {  /* known by its first bytes, whatever it is called */
            const tsr_status s =
                tsr_file_open_bytes(&f, bad[i].bytes, bad[i].n, named ? "x.gguf" : "x", NULL);
            EXPECT_MSG(s == bad[i].status && strstr(tsr_last_error(), bad[i].words), "%zu: %s", i,
                       tsr_last_error());
        }
    }
    tsr_file_close(&f);
}

/* One key whose value is `depth` arrays in one another, the innermost with no numbers. */
static size_t put_nested_gguf(char *out, int depth)
{
    static const char head[] = "GGUF\3\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0k\11\0\0";
    size_t n = sizeof head;
    memcpy(out, head, n);
    for (int i = 1; i <= depth; i++, n += 12) {
        memset(out + n, 0, 12);
        out[n] = i < depth ? 9 : 4;
        out[n + 4] = i < depth;
    }
    memset(out + n, 0, 64);
    return n + 64;
}

TEST(test_gguf_arrays_lie_in_one_another_eight_deep)
{
    char bytes[256];
    tsr_file *f = NULL;
    EXPECT_OK(tsr_file_open_bytes(&f, bytes, put_nested_gguf(bytes, 8), "x.gguf", NULL));
    tsr_file_close(&f);
    EXPECT_FAILS(tsr_file_open_bytes(&f, bytes, put_nested_gguf(bytes, 9), "x.gguf", NULL), TSR_EFORMAT,
                 "more than 8 deep");
}

/* Images ------------------------------------------------------------------------------- */

enum { WIDTH = 13, HEIGHT = 11 };

static unsigned sample(int x, int y, int c, int depth)
{
    return (unsigned)(x * 7 + y * 13 + c * 31) * (depth == 16 ? 257u : 1u) % (1u << depth);
}

static unsigned at(const tsr_tensor *t, int y, int x, int c)
{
    const int64_t i = y * t->stride[0] + x * t->stride[1] + (t->ndim == 3 ? c * t->stride[2] : 0);
    return t->dtype == TSR_U8 ? ((uint8_t *)t->data)[i] : ((uint16_t *)t->data)[i];
}

/* What channel c of a pixel must be. transparency: a palette's alphas, or the colour of pixel (2, 1). */
static unsigned expected(int type, int depth, bool transparency, int x, int y, int c)
{
    static const int k[] = { 3, 5, 7 };
    if (type == 3) {
        const int i = (int)sample(x, y, 0, depth);
        return c < 3                      ? (unsigned)(i * k[c] + k[c]) % 256
               : i < (depth == 1 ? 2 : 3) ? 255u - (unsigned)i
                                          : 255u;
    }
    const int channels = type == 2 ? 3 : type == 4 ? 2 : type == 6 ? 4 : 1;
    if (transparency && c == channels) {
        for (int i = 0; i < channels; i++)
            if (sample(x, y, i, depth) != sample(2, 1, i, depth)) return depth == 16 ? 65535 : 255;
        return 0;
    }
    return sample(x, y, c, depth) * (depth < 8 ? 255u / ((1u << depth) - 1) : 1);
}

static void expect_png(int type, int depth, int interlaced, bool transparency)
{
    char name[32];
    tsr_tensor *t = NULL;
    int wrong = 0;
    snprintf(name, sizeof name, "c%dd%di%d%s.png", type, depth, interlaced, transparency ? "t" : "");
    EXPECT_OK(tsr_file_load(&t, golden(name), NULL));
    if (!t) return;
    const int channels = (type == 2 || type == 3 ? 3 : type == 4 ? 2 : type == 6 ? 4 : 1) + transparency;
    EXPECT_MSG(t->shape[0] == HEIGHT && t->shape[1] == WIDTH &&
                   (channels == 1 ? t->ndim == 2 : t->shape[2] == channels),
               "%s", name);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < channels; c++)
                wrong += at(t, y, x, c) != expected(type, depth, transparency, x, y, c);
    EXPECT_MSG(wrong == 0, "%s: %d samples", name, wrong);
    tsr_release(&t);
}

TEST(test_png_of_every_kind_is_read)
{
    static const int kinds[][2] = { { 0, 1 }, { 0, 2 },  { 0, 4 },  { 0, 8 }, { 0, 16 },
                                    { 2, 8 }, { 2, 16 }, { 3, 1 },  { 3, 2 }, { 3, 4 },
                                    { 3, 8 }, { 4, 8 },  { 4, 16 }, { 6, 8 }, { 6, 16 } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int interlaced = 0; interlaced < 2; interlaced++) {
            expect_png(kinds[i][0], kinds[i][1], interlaced, false);
            if (kinds[i][0] == 3) expect_png(3, kinds[i][1], interlaced, true);
        }
    expect_png(0, 8, 0, true);
    expect_png(2, 16, 0, true);
}

/* The transparent value of 8 bits stands in 16, of which the upper ones do not count. */
TEST(test_bits_beyond_the_depth_of_a_transparent_value_do_not_count)
{
    unsigned char chunk[14] = { 0, 0, 0, 2, 't', 'R', 'N', 'S', 1, 20 }, *p;
    tsr_tensor *t = NULL;
    tsr_file *f = NULL;
    size_t bytes = 0;
    EXPECT_OK(tsr_from_data(&t, TSR_U8, TSR_SHAPE(1, 3), (const uint8_t[]){ 10, 20, 30 }));
    EXPECT_OK(tsr_file_save(file_path("key.png"), t));
    tsr_release(&t);
    unsigned char *data = read_bytes(file_path("key.png"), &bytes);
    EXPECT(data && (p = realloc(data, bytes + sizeof chunk)) != NULL && (data = p) != NULL);
    tsri_set32_big(chunk + 10, tsri_crc32(0, chunk + 4, 6));
    memmove(data + 33 + sizeof chunk, data + 33, bytes - 33);  /* behind the header */
    memcpy(data + 33, chunk, sizeof chunk);
    EXPECT_OK(tsr_file_open_bytes(&f, data, bytes + sizeof chunk, "key.png", NULL));
    EXPECT_OK(tsr_file_read(&t, f, NULL));
    EXPECT(t && t->ndim == 3 && t->shape[2] == 2);
    EXPECT(at(t, 0, 0, 1) == 255 && at(t, 0, 1, 0) == 20 && at(t, 0, 1, 1) == 0 && at(t, 0, 2, 1) == 255);
    tsr_release(&t);
    tsr_file_close(&f);
    free(data);
}

TEST(test_images_come_back_as_they_were_written)
{
    static const char *const names[] = { "i.png", "i.ppm", "i.pam" };
    uint64_t r = 3;
    for (int k = 0; k < 200; k++) {
        const tsr_dtype dtype = k % 2 ? TSR_U8 : TSR_U16;
        const int64_t shape[] = { 1 + test_below(&r, 40), 1 + test_below(&r, 40), 1 + test_below(&r, 4) };
        const int ndim = test_below(&r, 3) == 0 ? 2 : 3;
        tsr_tensor *t = NULL, *back = NULL;
        EXPECT_OK(tsr_empty(&t, dtype, ndim, shape));
        for (int64_t i = 0; i < tsr_byte_size(t); i++)
            ((unsigned char *)t->data)[i] = (unsigned char)(k % 3 ? test_below(&r, 256) : i / 7);
        if (test_below(&r, 2)) EXPECT_OK(tsr_flip(&t, t, TSR_AXES(0, 1)));
        const char *name = names[k % 3];
        EXPECT_OK(tsr_file_save(file_path(name), t));
        EXPECT_OK(tsr_file_load(&back, file_path(name), NULL));
        if (ndim == 3 && shape[2] == 1) EXPECT_OK(tsr_squeeze(&t, t, 2));
        EXPECT_MSG(same_bits(t, back), "%s %s %d", name, tsr_dtype_name(dtype), k);
        tsr_release_all(&t, &back);
    }
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(3, 4)));
    EXPECT_FAILS(tsr_file_save(file_path("f.png"), t), TSR_EDTYPE, "f32");
    EXPECT_FAILS(tsr_file_save(file_path("f.pgm"), t), TSR_EDTYPE, "f32");
    tsr_release(&t);
    EXPECT_OK(tsr_ones(&t, TSR_U8, TSR_SHAPE(3, 4, 5)));
    EXPECT_FAILS(tsr_file_save(file_path("f.png"), t), TSR_ESHAPE, "no image");
    EXPECT_FAILS(tsr_file_save(file_path("f.pgm"), t), TSR_ESHAPE, "no image");
    tsr_release(&t);
}

/* Opens bytes and reads their only tensor. */
static tsr_status load_text(tsr_tensor **t, const char *text, size_t n, const char *name, tsr_dtype dtype)
{
    tsr_file *f = NULL;
    tsr_status s = tsr_file_open_bytes(&f, text, n, name, &(tsr_file_opts){ .dtype = dtype });
    if (s == TSR_OK) s = tsr_file_read(t, f, NULL);
    tsr_file_close(&f);
    return s;
}

TEST(test_pnm_in_text_and_bits_is_read)
{
    static const struct { const char *text; size_t n; int channels; unsigned first, last; } files[] = {
        { "P1 # a comment\n2 2\n01 10", 24, 1, 255, 255 }, { "P2\n2 2 9\n1 2\n3 9\n", 17, 1, 1, 9 },
        { "P3 2 2 300 1 2 3 4 5 6 7 8 9 10 11 300", 38, 3, 1, 300 }, { "P4 2 2\n\x40\x80", 9, 1, 255, 255 },
        { "P5 2 2 255\nabcd", 15, 1, 'a', 'd' }, { "P6 2 2 255\nabcdefghijkl", 23, 3, 'a', 'l' },
        { "P5 2 2 256\n\0\1\0\2\0\3\1\0", 19, 1, 1, 256 },
        { "P7\nWIDTH 2\nHEIGHT 2\nDEPTH 2\nMAXVAL 255\nTUPLTYPE X\nENDHDR\nabcdefgh", 65, 2, 'a', 'h' },
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        tsr_tensor *t = NULL;
        EXPECT_OK(load_text(&t, files[i].text, files[i].n, NULL, 0));
        EXPECT_MSG(t && t->shape[0] == 2 && t->shape[1] == 2 && at(t, 0, 0, 0) == files[i].first &&
                       at(t, 1, 1, files[i].channels - 1) == (i == 3 ? 255 : files[i].last),
                   "%s", files[i].text);
        tsr_release(&t);
        EXPECT(load_text(&t, files[i].text,
                         files[i].n - (i == 1   ? 3
                                       : i == 2 ? 4
                                                : 1),
                         NULL, 0) == TSR_EFORMAT);
    }
}

/* Tables ------------------------------------------------------------------------------- */

TEST(test_tables_are_read_with_names_comments_quotes_and_gaps)
{
    static const char text[] =
        "\xEF\xBB\xBF# made by hand\r\nx, \"y, z\" ,w\r\n1,2.5,-3e2\r\n\r\n \"4\" ,, inf\r\n";
    tsr_file *f = NULL;
    tsr_tensor *t = NULL;
    tsr_meta m;
    EXPECT_OK(tsr_file_open_bytes(&f, text, sizeof text - 1, "t.csv", NULL));
    EXPECT_OK(tsr_file_find_meta(&m, f, "columns"));
    EXPECT(m.count == 3 && strcmp(m.texts[0], "x") == 0 && strcmp(m.texts[1], "y, z") == 0);
    EXPECT_OK(tsr_file_read(&t, f, NULL));
    EXPECT(t->dtype == TSR_F64 && t->shape[0] == 2 && t->shape[1] == 3 && TSR_AT(double, t, 0, 2) == -300);
    EXPECT(TSR_AT(double, t, 1, 0) == 4 && isnan(TSR_AT(double, t, 1, 1)) && isinf(TSR_AT(double, t, 1, 2)));
    tsr_release(&t);
    tsr_file_close(&f);
    EXPECT_FAILS(load_text(&t, "1,2\n3\n", 6, "t.csv", 0), TSR_EFORMAT, "line 2 has 1 field between");
    EXPECT_FAILS(load_text(&t, "a,b\n1,2\n3,x\n", 12, "t.csv", 0), TSR_EFORMAT, "line 3, field 2: \"x\"");
    EXPECT_FAILS(load_text(&t, "1,\n", 3, "t.csv", TSR_I32), TSR_EFORMAT, "no number");
    EXPECT_FAILS(load_text(&t, "1,\n", 3, "t.csv", TSR_C64), TSR_EDTYPE, "c64");
    EXPECT_OK(load_text(&t, "18446744073709551615\t1\n", 23, "t.tsv", TSR_U64));
    EXPECT(TSR_AT(uint64_t, t, 0, 0) == UINT64_MAX);
    tsr_release(&t);
    EXPECT_OK(load_text(&t, "", 0, "t.csv", 0));
    EXPECT(t->shape[0] == 0 && t->shape[1] == 0);
    tsr_release(&t);
}

TEST(test_tables_come_back_as_they_were_written)
{
    uint64_t r = 8;
    for (int k = 0; k < 150; k++) {
        const tsr_dtype dtype = (tsr_dtype)(1 + k % (TSR_DTYPE_COUNT - 1));
        const char *name = k % 2 ? "t.csv" : "t.tsv";
        tsr_file *f = NULL;
        tsr_tensor *t = any_tensor(&r, dtype, 2), *back = NULL, *bits = NULL;
        if (tsr_dtype_kind(dtype) == TSR_FLOATING) {  /* the bits of a NaN are not kept */
            tsr_release(&t);
            EXPECT_OK(tsr_empty(&t, dtype, TSR_SHAPE(7, 3)));
            EXPECT_OK(tsr_normal(&t, dtype, TSR_SHAPE(7, 3), (uint64_t)k, 0.0, 10.0));
        }
        if (tsr_dtype_kind(dtype) == TSR_COMPLEX)
            EXPECT_STATUS(tsr_file_save(file_path(name), t), TSR_EDTYPE);
        else if (tsr_numel(t)) {
            EXPECT_OK(tsr_file_save(file_path(name), t));
            EXPECT_OK(tsr_file_open(&f, file_path(name), &(tsr_file_opts){ .dtype = dtype }));
            EXPECT_OK(tsr_file_read(&back, f, NULL));
            EXPECT_OK(
                tsr_reshape(&bits, t, TSR_SHAPE(t->ndim ? t->shape[0] : 1, t->ndim == 2 ? t->shape[1] : 1)));
            EXPECT_MSG(same_bits(back, bits), "%s %s", name, tsr_dtype_name(dtype));
        }
        tsr_release_all(&t, &back, &bits);
        tsr_file_close(&f);
    }
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(2, 2, 2)));
    EXPECT_FAILS(tsr_file_save(file_path("t.csv"), t), TSR_ESHAPE, "dims");
    tsr_release(&t);
}

/* Every format ------------------------------------------------------------------------- */

static tsr_status save_and_load(const char *path, const tsr_tensor *t, const char *encoding)
{
    tsr_writer *w = NULL;
    tsr_tensor *back = NULL;
    tsr_file *f = NULL;
    tsr_status s = tsr_writer_create(&w, path, &(tsr_writer_opts){ .compress = true, .no_sync = true });
    if (s == TSR_OK) s = tsr_writer_add(w, "t", t, encoding);
    if (s == TSR_OK) s = tsr_writer_finish(&w);
    if (s == TSR_OK) s = tsr_file_open(&f, path, &(tsr_file_opts){ .dtype = t->dtype });
    if (s == TSR_OK) s = tsr_file_read(&back, f, NULL);
    tsr_writer_cancel(&w);
    tsr_file_close(&f);
    tsr_release(&back);
    return s;
}

TEST(test_every_format_survives_running_out_of_memory)
{
    static const char *const names[] = { "o.npy", "o.npz", "o.safetensors", "o.gguf", "o.png",
                                         "o.pgm", "o.csv", "o.tsv",         "o.raw",  "o.h5" };
    tsr_tensor *bytes = NULL, *floats = NULL;
    EXPECT_OK(tsr_ones(&bytes, TSR_U8, TSR_SHAPE(64, 32)));
    EXPECT_OK(tsr_transpose(&bytes, bytes, 0, 1));
    EXPECT_OK(tsr_ones(&floats, TSR_F64, TSR_SHAPE(64, 32)));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const bool gguf = strstr(names[i], "gguf") != NULL;
        EXPECT_SURVIVES(save_and_load(file_path(names[i]), gguf ? floats : bytes, NULL));
        if (gguf) EXPECT_SURVIVES(save_and_load(file_path(names[i]), floats, "q8_0"));
    }
    tsr_file *f = NULL;
    EXPECT_SURVIVES(tsr_file_open(&f, golden("quant.gguf"), NULL));
    for (int64_t i = 0; i < tsr_file_count(f); i++) {
        tsr_file_entry e;
        tsr_tensor *t = NULL;
        EXPECT_OK(tsr_file_list(&e, f, i));
        if (strcmp(e.encoding, "q4_0") == 0) EXPECT_SURVIVES(tsr_file_read_slice(&t, f, e.name, 0, NULL));
        tsr_release(&t);
    }
    int64_t deep[TSR_MAX_NDIM];
    for (int i = 0; i < TSR_MAX_NDIM; i++) deep[i] = i < TSR_MAX_NDIM - 2 ? 1 : i < TSR_MAX_NDIM - 1 ? 2 : 32;
    tsr_writer *w = NULL;
    tsr_tensor *all = NULL, *part = NULL;
    EXPECT_OK(tsr_ones(&all, TSR_F32, TSR_MAX_NDIM, deep));
    EXPECT_OK(tsr_writer_create(&w, file_path("deep.gguf"), NULL));
    EXPECT_OK(tsr_writer_add(w, "a", all, "q8_0"));
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_OK(tsr_file_open(&f, file_path("deep.gguf"), NULL));
    EXPECT_SURVIVES(tsr_file_read_slice(&part, f, "a", 1, (tsr_file_range[]){ TSR_FILE_AT(0) }));
    EXPECT(part && part->ndim == TSR_MAX_NDIM - 1 && tsr_numel(part) == 64);
    tsr_release_all(&all, &part);
    EXPECT_SURVIVES(tsr_file_open(&f, golden("deflated.npz"), NULL));
    EXPECT_SURVIVES(tsr_file_open(&f, golden("set.safetensors.index.json"), NULL));
    tsr_file_close(&f);
    tsr_release_all(&bytes, &floats);
}

/* n tensors, each with a name of this length; read back. */
static tsr_status write_many(const char *path, const tsr_tensor *t, int n, int length)
{
    tsr_writer *w = NULL;
    tsr_file *f = NULL;
    char name[80];
    tsr_status s = tsr_writer_create(&w, path, &(tsr_writer_opts){ .no_sync = true });
    for (int i = 0; i < n && s == TSR_OK; i++) {
        snprintf(name, sizeof name, "%0*d", length, i);
        s = tsr_writer_add(w, name, t, NULL);
    }
    if (s == TSR_OK) s = tsr_writer_finish(&w);
    if (s == TSR_OK) s = tsr_file_open(&f, path, NULL);
    EXPECT(s != TSR_OK || tsr_file_count(f) == n);
    tsr_writer_cancel(&w);
    tsr_file_close(&f);
    return s;
}

static int until_refused;
static bool refuse_one(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return until_refused-- != 0;
}

/* One allocation fails, the first, the second, ... and those after it do not: whoever overlooks it goes on
 * without. Names of many lengths, so that each piece that is kept is once the one that has no room. */
TEST(test_files_of_many_tensors_survive_one_allocation_that_fails)
{
    static const char *const names[] = { "many.npz", "many.safetensors", "many.gguf", "many.h5" };
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(2)));
    for (int i = 0; i < 4; i++)
        for (int length = 3; length < 60; length += 3) {
            bool refused = true;
            for (int n = 0; refused && n < 400; n++) {
                until_refused = n;
                tsr_set_alloc_hook(refuse_one, NULL);
                const tsr_status s = write_many(file_path(names[i]), t, 24, length);
                tsr_set_alloc_hook(NULL, NULL);
                refused = until_refused < 0;
                EXPECT_MSG(s == TSR_OK || (refused && s == TSR_ENOMEM), "%s: %s", names[i], tsr_last_error());
            }
            EXPECT(!refused);
        }
    tsr_release(&t);
}

TEST_AFTER
{
    files_remove();
}
