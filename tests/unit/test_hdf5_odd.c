/* test_hdf5_odd.c - HDF5 files that are made here byte by byte: what libhdf5
 * may write and seldom does, and what it never would.
 *
 * A file has its first block at 0, the root at 64, with a link to "x", whose
 * header is at 512. A row gives the messages of that header and other blocks as
 * text: "8:0301ff*8 " is message 8, "@2048:'TREE'01" a block at 2048; a byte is
 * two digits, *n repeats it, and letters stand in quotes. From 4096 on, the
 * bytes are 0, 1, 2, ... */
#define _GNU_SOURCE 1 /* mkdtemp */
#include "fuzz/repair.h"
#include "unit/hostile.h"

enum { ROOT = 64, OBJECT = 512, ELEMENTS = 4096, SIZE = 8192 };

static unsigned char odd[SIZE];

/* Bytes of a row's text up to a ';', to `out`; how many. */
static size_t odd_bytes(unsigned char *out, const char **text)
{
    size_t n = 0;
    const char *p = *text;
    while (*p && *p != ';') {
        if (*p == '\'') {
            for (p++; *p != '\''; p++) out[n++] = (unsigned char)*p;
            p++;
        } else if (*p == ' ') p++;
        else {
            unsigned value = 0, times = 1;
            int used = 0;
            EXPECT_MSG(sscanf(p, "%2x%n", &value, &used) == 1 && used == 2, "no byte: %s", p);
            p += 2;
            if (*p == '*') times = (unsigned)strtoul(p + 1, (char **)&p, 10);
            while (times-- > 0) out[n++] = (unsigned char)value;
        }
    }
    *text = *p ? p + 1 : p;
    return n;
}

static void put_number(unsigned char *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) out[i] = (unsigned char)(value >> 8 * i);
}

/* A message of a header of version 1 or 2 at `to`; how long it is. */
static size_t put_message(unsigned char *to, unsigned type, bool shared, const char **text, bool old)
{
    unsigned char *data = to + (old ? 8 : 4);
    const size_t n = odd_bytes(data, text);
    put_number(to, type, old ? 2 : 1);
    put_number(to + (old ? 2 : 1), n, 2);
    to[old ? 4 : 3] = shared ? 2 : 0;
    return n + (old ? 8 : 4);
}

static void put_header(unsigned char *at, size_t messages, bool old)
{
    if (old) {
        memcpy(at, "\1", 2);
        put_number(at + 8, messages, 4);
    } else {
        memcpy(at, "OHDR\2\2", 6);
        put_number(at + 6, messages, 4);
    }
}

/* The file of a row; "s" before a number: the message is shared. */
static void make_odd(const char *text, bool old)
{
    const char *link = "0100 01'x' 0002000000000000";
    size_t n = 0;
    memset(odd, 0, sizeof odd);
    for (int i = ELEMENTS; i < SIZE; i++) odd[i] = (unsigned char)(i - ELEMENTS);
    memcpy(odd, "\x89HDF\r\n\x1a\n\2\x8\x8", 11);
    put_number(odd + 20, UINT64_MAX, 8);
    put_number(odd + 28, SIZE, 8);
    put_number(odd + 36, ROOT, 8);
    const char *info = "0000 ff*16 ";
    size_t root = put_message(odd + ROOT + 10, 2, false, &info, false);
    root += put_message(odd + ROOT + 10 + root, 6, false, &link, false);
    put_header(odd + ROOT, root, false);
    const size_t front = old ? 16 : 10;
    while (*text) {
        const bool block = *text == '@', shared = *text == 's';
        const unsigned long number = strtoul(text + (block || shared), (char **)&text, 10);
        EXPECT(*text == ':' && number < SIZE);
        text++;
        if (block) (void)odd_bytes(odd + number, &text);
        else n += put_message(odd + OBJECT + front + n, (unsigned)number, shared, &text, old);
    }
    put_header(odd + OBJECT, n, old);
    repair_hdf5(odd, sizeof odd);
}

/* What is made of "x" of a file, or of the first of a group "x": its status and
 * words, or of a tensor of bytes its length and first element. */
typedef struct odd_row {
    const char *text;
    tsr_status status; /* of opening, or of reading; TSR_EINDEX: there is no x */
    const char *words;
    int64_t length;
    double first;
} odd_row;

#define BYTES "3:10000000 01000000 00000800;"
#define FOUR "1:02010000 0400000000000000;"
#define HERE "8:0301 0010000000000000 0400000000000000;"
#define NOWHERE "8:0301 ff*8 00*8;"
#define AT_4096 "0010000000000000"
#define IS_FOUR TSR_OK, NULL, 4

static void expect_row(const odd_row *row, bool old)
{
    tsr_file *f = NULL;
    tsr_tensor *t = NULL;
    make_odd(row->text, old);
    tsr_clear_error();
    tsr_status s = tsr_file_open_bytes(&f, odd, sizeof odd, "x.h5", NULL);
    tsr_file_entry e = { .name = "x" };
    if (s == TSR_OK && tsr_file_count(f)) EXPECT_OK(tsr_file_list(&e, f, 0));
    if (s == TSR_OK) s = tsr_file_read(&t, f, e.name);
    EXPECT_MSG(s == row->status, "%s: %s (%s)", row->text, tsr_status_name(s), tsr_last_error());
    if (row->words) EXPECT_MSG(strstr(tsr_last_error(), row->words), "%s: %s", row->text, tsr_last_error());
    if (t)
        EXPECT_MSG(tsr_numel(t) == row->length && element(t, 0) == row->first, "%s: %lld elements, first %g",
                   row->text, (long long)tsr_numel(t), element(t, 0));
    tsr_release(&t);
    tsr_file_close(&f);
    open_hostile(odd, sizeof odd, "hdf5");
}

static void expect_rows(const odd_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int old = 0; old < 2; old++) expect_row(&rows[i], old);
}

#define EXPECT_ROWS(...)                                  \
    do {                                                  \
        static const odd_row rows_[] = { __VA_ARGS__ };   \
        expect_rows(rows_, sizeof rows_ / sizeof *rows_); \
    } while (0)

TEST(test_spaces_of_each_version)
{
    EXPECT_ROWS(
        { FOUR BYTES HERE, IS_FOUR, 0 }, { "1:01010000 00*4 0400000000000000;" BYTES HERE, IS_FOUR, 0 },
        { "1:02000000;" BYTES HERE, TSR_OK, NULL, 1, 0 }, { "1:02000002;" BYTES HERE, TSR_EINDEX, "x", 0, 0 },
        { "1:01000002 00*4;" BYTES HERE, TSR_OK, NULL, 1, 0 },
        { "1:03010000 0400000000000000;" BYTES HERE, TSR_EINDEX, "x", 0, 0 },
        { "1:00010000 00*4 0400000000000000;" BYTES HERE, TSR_EINDEX, "x", 0, 0 },
        { "1:02ff0000 00*64;" BYTES HERE, TSR_EINDEX, "x", 0, 0 },
        { "1:02010000 0400;" BYTES HERE, TSR_EINDEX, "x", 0, 0 },
        { "1:02010000 ff*8;" BYTES HERE, TSR_EFORMAT, "x", 0, 0 },
        { "s1:02010000 0400000000000000;" BYTES HERE, TSR_EINDEX, "x", 0, 0 },
        { FOUR HERE, TSR_EINDEX, "x", 0, 0 }, { BYTES HERE, TSR_EINDEX, "x", 0, 0 },
        { "2:0001 00*8 ff*16;", TSR_EINDEX, "x", 0, 0 }, { "10:0000;", TSR_EINDEX, "x", 0, 0 });
}

#define OF_OTHER "@2048:'OHDR'02 00 10 03 0c00 00 10000000 01000000 00000800;"
#define SHARED_OTHER "@2048:'OHDR'02 00 10 03 0c00 02 10000000 01000000 00000800;"
#define NO_TYPE "@2048:'OHDR'02 00 10 04 0c00 00 10000000 01000000 00000800;"
#define AT_2048 "0008000000000000;"

TEST(test_types_that_have_names)
{
    EXPECT_ROWS({ FOUR HERE "s3:0302" AT_2048 OF_OTHER, IS_FOUR, 0 },
                { FOUR HERE "s3:0200" AT_2048 OF_OTHER, IS_FOUR, 0 },
                { FOUR HERE "s3:0100 00*14 " AT_2048 OF_OTHER, IS_FOUR, 0 },
                { FOUR HERE "s3:0301" AT_2048 OF_OTHER, TSR_EUNSUPPORTED, "a type of HDF5", 0, 0 },
                { FOUR HERE "s3:0002" AT_2048 OF_OTHER, TSR_EUNSUPPORTED, "a type of HDF5", 0, 0 },
                { FOUR HERE "s3:0402" AT_2048 OF_OTHER, TSR_EUNSUPPORTED, "a type of HDF5", 0, 0 },
                { FOUR HERE "s3:0302" AT_2048 SHARED_OTHER, TSR_EUNSUPPORTED, "a type of HDF5", 0, 0 },
                { FOUR HERE "s3:0302" AT_2048 NO_TYPE, TSR_EUNSUPPORTED, "a type of HDF5", 0, 0 },
                { FOUR HERE "s3:0302 ff*8;", TSR_EFORMAT, "a block of", 0, 0 },
                { FOUR HERE "s3:0302" AT_2048, TSR_EFORMAT, "expected the header of an object", 0, 0 });
}

#define REAL(size, bits, at, precision, fields) "3:11" bits size "000000" at precision fields ";"
#define OF_FLOATS "1:02010000 0100000000000000;8:0301 0010000000000000 0400000000000000;"
#define F32_FIELDS "17080017 7f000000"
#define IS_NO_TYPE TSR_EUNSUPPORTED, ", which is not read here", 0, 0

TEST(test_floats_that_are_not_those_of_ieee)
{
    EXPECT_ROWS(
        { OF_FLOATS REAL("04", "201f00", "0000", "2000", F32_FIELDS), TSR_OK, NULL, 1,
          3.820471434542632e-37 },
        { OF_FLOATS REAL("04", "211f00", "0000", "2000", F32_FIELDS), TSR_OK, NULL, 1, 9.25571648671185e-41 },
        { OF_FLOATS REAL("04", "201f00", "0100", "2000", F32_FIELDS), IS_NO_TYPE },
        { OF_FLOATS REAL("04", "201f00", "0000", "1f00", F32_FIELDS), IS_NO_TYPE },
        { OF_FLOATS REAL("04", "201f00", "0000", "2000", "16080017 7f000000"), IS_NO_TYPE },
        { OF_FLOATS REAL("04", "201f00", "0000", "2000", "17080117 7f000000"), IS_NO_TYPE },
        { OF_FLOATS REAL("04", "201f00", "0000", "2000", "17000017 7f000000"), IS_NO_TYPE },
        { OF_FLOATS REAL("04", "201f00", "0000", "2000", "170c0017 7f000000"), IS_NO_TYPE },
        { OF_FLOATS REAL("04", "201f00", "0000", "2000", "17080017 7e000000"), IS_NO_TYPE },
        { OF_FLOATS REAL("04", "601f00", "0000", "2000", F32_FIELDS), IS_NO_TYPE },
        { OF_FLOATS REAL("04", "001f00", "0000", "2000", F32_FIELDS), IS_NO_TYPE },
        { OF_FLOATS REAL("04", "201e00", "0000", "2000", F32_FIELDS), IS_NO_TYPE },
        { OF_FLOATS REAL("04", "201f00", "0000", "2000", "17080017 7f00"), IS_NO_TYPE },
        { OF_FLOATS REAL("04", "201f00", "0000", "2000", "18070018 3f000000"), IS_NO_TYPE },
        { OF_FLOATS REAL("04", "201f00", "0000", "2000", "16080016 7f000000"), IS_NO_TYPE },
        { OF_FLOATS REAL("02", "200f00", "0000", "1000", "0a05000a 0f000000"), TSR_OK, NULL, 1,
          1.52587890625e-05 },
        { OF_FLOATS REAL("02", "200f00", "0000", "1000", "07080007 7f000000"), TSR_OK, NULL, 1,
          2.350988701644575e-38 },
        { OF_FLOATS REAL("02", "200f00", "0000", "1000", "0708000a 7f000000"), IS_NO_TYPE },
        { OF_FLOATS REAL("02", "200f00", "0000", "1000", "09060009 1f000000"), IS_NO_TYPE },
        { OF_FLOATS REAL("02", "200f00", "0000", "1000", "09050009 0f000000"), IS_NO_TYPE },
        { OF_FLOATS REAL("02", "200f00", "0000", "1000", "06080006 7f000000"), IS_NO_TYPE },
        { OF_FLOATS REAL("08", "203f00", "0000", "4000", "340b0034 ff030000"), TSR_OK, NULL, 1,
          7.949928895127363e-275 },
        { OF_FLOATS REAL("08", "203f00", "0000", "4000", "340a0034 ff010000"), IS_NO_TYPE },
        { OF_FLOATS REAL("08", "203f00", "0000", "4000", "330b0033 ff030000"), IS_NO_TYPE },
        { OF_FLOATS REAL("10", "207f00", "0000", "8000", "340b0034 ff030000"), IS_NO_TYPE },
        { OF_FLOATS "3:13000000 04000000;", TSR_EUNSUPPORTED, "text", 0, 0 },
        { OF_FLOATS "3:10080000 03000000 00001800;", IS_NO_TYPE },
        { OF_FLOATS "3:10080000 04000000 0000;", IS_NO_TYPE },
        { OF_FLOATS "3:10090000 04000000 00002000;", TSR_OK, NULL, 1, 0x010203 },
        { OF_FLOATS "3:10000000 08000000 00004000;", TSR_OK, NULL, 1, 0x0706050403020100 });
}

#define ENUM(version, count, base, names) "3:" version "8" count "0000 01000000" base names ";"
#define INT8 "10080000 01000000 00000800"
#define PARTS(version, count, size, first, second) \
    "3:" version "6" count "0000" size "000000" first second ";"
#define HALF "11201f00 04000000 00002000 17080017 7f000000"
#define SWAPPED "11211f00 04000000 00002000 17080017 7f000000"
#define DOUBLE "11203f00 08000000 00004000 340b0034 ff030000"
#define IS_FIRST(v) TSR_OK, NULL, 1, v
#define OF_PAIRS "1:02010000 0100000000000000;8:0301 0010000000000000 1000000000000000;"

TEST(test_names_of_numbers_and_pairs)
{
    EXPECT_ROWS(
        { FOUR HERE ENUM("3", "02", INT8, "'FALSE'00'TRUE'00 0001"), IS_FOUR, 0 },
        { FOUR HERE ENUM("1", "02", INT8, "'FALSE'00*3'TRUE'00*4 0001"), IS_FOUR, 0 },
        { FOUR HERE ENUM("3", "03", INT8, "'FALSE'00'TRUE'00 0001"), IS_FOUR, 0 },
        { FOUR HERE ENUM("3", "02", INT8, "'FALSO'00'TRUE'00 0001"), IS_FOUR, 0 },
        { FOUR HERE ENUM("3", "02", INT8, "'FALSE'00'TREE'00 0001"), IS_FOUR, 0 },
        { FOUR HERE ENUM("3", "02", INT8, "'FALSE'00'TRUE'00 0002"), IS_FOUR, 0 },
        { FOUR HERE ENUM("3", "02", INT8, "'FALSE'00'TRUE'00 00"), IS_FOUR, 0 },
        { FOUR HERE ENUM("3", "02", INT8, "'FAL'"), IS_FOUR, 0 },
        { FOUR HERE ENUM("3", "02", "10080000 02000000 00001000", ""), IS_NO_TYPE },
        { FOUR HERE ENUM("3", "02", "11080000 01000000 00000800", ""), IS_NO_TYPE },
        { OF_PAIRS PARTS("3", "02", "08", "'r'00 00" HALF, "'i'00 04" HALF),
          IS_FIRST(3.820471434542632e-37) },
        { OF_PAIRS PARTS("3", "02", "08", "'r'00 00" SWAPPED, "'i'00 04" SWAPPED),
          IS_FIRST(9.25571648671185e-41) },
        { OF_PAIRS PARTS("2", "02", "08", "'r'00*7 00*4 " HALF, "'i'00*7 04000000" HALF),
          IS_FIRST(3.820471434542632e-37) },
        { OF_PAIRS PARTS("1", "02", "08", "'r'00*7 00*4 00*28 " HALF, "'i'00*7 04000000 00*28 " HALF),
          IS_FIRST(3.820471434542632e-37) },
        { OF_PAIRS PARTS("1", "02", "08", "'r'00*7 00*4 01 00*27 " HALF, "'i'00*7 04000000 00*28 " HALF),
          IS_NO_TYPE },
        { OF_PAIRS PARTS("3", "02", "10", "'r'00 00" DOUBLE, "'i'00 08" DOUBLE),
          IS_FIRST(7.949928895127363e-275) },
        { OF_PAIRS PARTS("3", "03", "08", "'r'00 00" HALF, "'i'00 04" HALF), IS_NO_TYPE },
        { OF_PAIRS PARTS("3", "02", "0c", "'r'00 00" HALF, "'i'00 04" HALF), IS_NO_TYPE },
        { OF_PAIRS PARTS("3", "02", "08", "'s'00 00" HALF, "'i'00 04" HALF), IS_NO_TYPE },
        { OF_PAIRS PARTS("3", "02", "08", "'r'00 00" HALF, "'j'00 04" HALF), IS_NO_TYPE },
        { OF_PAIRS PARTS("3", "02", "08", "'r'00 01" HALF, "'i'00 04" HALF), IS_NO_TYPE },
        { OF_PAIRS PARTS("3", "02", "08", "'r'00 00" INT8, "'i'00 04" HALF), IS_NO_TYPE },
        { OF_PAIRS PARTS("3", "02", "08", "'r'00 00" HALF, "'i'00 04" SWAPPED), IS_NO_TYPE },
        { OF_PAIRS PARTS("3", "02", "10", "'r'00 00" DOUBLE, "'i'00 08" HALF), IS_NO_TYPE },
        { OF_PAIRS PARTS("3", "02", "10", "'r'00 00" HALF, "'i'00 08" HALF), IS_NO_TYPE },
        { OF_PAIRS PARTS("3", "02", "08", "'r'00 00" DOUBLE, "'i'00 04" DOUBLE), IS_NO_TYPE },
        { OF_PAIRS PARTS("3", "02", "08", "'r'00 00 11200f00 02000000 00001000 0a05000a 0f000000",
                         "'i'00 04 11200f00 02000000 00001000 0a05000a 0f000000"),
          IS_NO_TYPE });
}

TEST(test_elements_that_were_never_written)
{
    EXPECT_ROWS({ FOUR BYTES NOWHERE, IS_FOUR, 0 }, { FOUR BYTES NOWHERE "4:01000000 07;", IS_FOUR, 7 },
                { FOUR BYTES NOWHERE "5:01 0000 00 01000000 07;", IS_FOUR, 7 },
                { FOUR BYTES NOWHERE "5:02 0000 01 01000000 07;", IS_FOUR, 7 },
                { FOUR BYTES NOWHERE "5:02 0000 00 01000000 07;", IS_FOUR, 0 },
                { FOUR BYTES NOWHERE "5:03 20 01000000 07;", IS_FOUR, 7 },
                { FOUR BYTES NOWHERE "5:03 00 01000000 07;", IS_FOUR, 0 },
                { FOUR BYTES NOWHERE "5:03 20 00000000;", IS_FOUR, 0 },
                { FOUR BYTES NOWHERE "5:03 20 11000000 07*17;", IS_FOUR, 0 },
                { FOUR BYTES NOWHERE "5:03 20 02000000 07;", IS_FOUR, 0 },
                { FOUR BYTES NOWHERE "5:03 20 01000000 07;4:01000000 08;", IS_FOUR, 7 },
                { FOUR BYTES NOWHERE "4:01000000 08;5:03 20 01000000 07;", IS_FOUR, 7 },
                { FOUR BYTES NOWHERE "s5:03 20 01000000 07;", IS_FOUR, 0 });
}

#define IS_ELSEWHERE TSR_EUNSUPPORTED, "data in another file", 0, 0

TEST(test_layouts_of_each_version)
{
    EXPECT_ROWS(
        { FOUR BYTES "8:0101 01 00*5 " AT_4096 "04000000;", IS_FOUR, 0 },
        { FOUR BYTES "8:0201 01 00*5 " AT_4096 "04000000;", IS_FOUR, 0 },
        { FOUR BYTES "8:0101 00 00*5 04000000 04000000 09*4;", IS_FOUR, 9 },
        { FOUR BYTES "8:0101 00 00*5 04000000 03000000 09*4;", TSR_EFORMAT, "takes 4 bytes, and has 3", 0,
          0 },
        { FOUR BYTES "8:0300 0400 09*4;", IS_FOUR, 9 },
        { FOUR BYTES "8:0300 0300 09*4;", TSR_EFORMAT, "takes 4 bytes, and has 3", 0, 0 },
        { FOUR BYTES "8:0101 01 00*5 ff*8 04000000;", IS_FOUR, 0 },
        { FOUR BYTES "8:0101 03 00*5 ff*8 04000000;", IS_ELSEWHERE },
        { FOUR BYTES "8:0303 00*16;", IS_ELSEWHERE }, { FOUR BYTES "8:0309 00*16;", IS_ELSEWHERE },
        { FOUR BYTES "8:0001 00*16;", IS_ELSEWHERE }, { FOUR BYTES "8:0601 00*16;", IS_ELSEWHERE },
        { FOUR BYTES "8:0301 00*3;", IS_ELSEWHERE }, { FOUR BYTES HERE "7:00;", IS_ELSEWHERE },
        { FOUR BYTES "8:0301 0020000000000000 0400000000000000;", TSR_EFORMAT, "the file ends at", 0, 0 },
        { FOUR BYTES "8:0301 fd1f000000000000 0400000000000000;", TSR_EFORMAT, "the file ends at", 0, 0 },
        { FOUR BYTES "8:0301 0100000000000080 0400000000000000;", TSR_EFORMAT, "the file ends at", 0, 0 });
}

/* A tree of one chunk at 2048, whose key says so many bytes and leaves out
 * these filters. */
#define TREE(bytes, mask, at) "@2048:'TREE'01 00 0100 ff*16 " bytes mask "00*8 00*8 " at ";"
#define CHUNK(dims, size) "8:0302" dims "0008000000000000" size "01000000;"
#define DEFLATE "11:0201 0100 0000 0100 04000000;"
#define FLETCHER "11:0201 0300 0000 0000;"
#define SHUFFLE "11:0201 0200 0000 0100 01000000;"
#define IS_DAMAGED TSR_EFORMAT, "a damaged chunk", 0, 0

/* Four bytes and a sum of fletcher32: of words, and of those sums. */
#define SUMMED(bytes, ...)                                                             \
    {                                                                                  \
        FOUR BYTES CHUNK("02", "04000000")                                             \
            FLETCHER TREE("08000000", "00*4 ", "000c000000000000") "@3072:" bytes ";", \
            __VA_ARGS__                                                                \
    }

TEST(test_chunks_of_a_tree)
{
    EXPECT_ROWS({ FOUR BYTES CHUNK("02", "04000000") TREE("04000000", "00*4 ", AT_4096), IS_FOUR, 0 },
                { FOUR BYTES CHUNK("02", "03000000") TREE("03000000", "00*4 ", AT_4096), IS_FOUR, 0 },
                { FOUR BYTES CHUNK("02", "03000000") TREE("04000000", "00*4 ", AT_4096), IS_DAMAGED },
                { FOUR BYTES
                  "8:0102 02 00*5 0008000000000000 04000000 01000000;" TREE("04000000", "00*4 ", AT_4096),
                  IS_FOUR, 0 },
                { FOUR BYTES CHUNK("02", "04000000") TREE("04000000", "00*4 ", "ff*8"), IS_FOUR, 0 },
                { FOUR BYTES CHUNK("02", "04000000") TREE("04000000", "00*4 ", "fe1f000000000000"),
                  TSR_EFORMAT, "a block of", 0, 0 },
                { FOUR BYTES CHUNK("02", "04000000") TREE("01200000", "00*4 ", AT_4096), TSR_EFORMAT,
                  "more bytes than the file", 0, 0 },
                { FOUR BYTES CHUNK("02", "00000000") TREE("04000000", "00*4 ", AT_4096), TSR_EFORMAT,
                  "or empty ones", 0, 0 },
                { FOUR BYTES CHUNK("01", "") TREE("04000000", "00*4 ", AT_4096), TSR_EFORMAT,
                  "chunks of 0 dims", 0, 0 },
                { FOUR BYTES CHUNK("00", "") TREE("04000000", "00*4 ", AT_4096), TSR_EFORMAT,
                  "chunks of -1 dims", 0, 0 },
                { FOUR BYTES CHUNK("ff", "00*9 ") TREE("04000000", "00*4 ", AT_4096), TSR_EFORMAT,
                  "chunks of -1 dims", 0, 0 },
                { "1:02000000;" BYTES CHUNK("01", "") TREE("04000000", "00*4 ", AT_4096), TSR_EFORMAT,
                  "chunks of 0 dims", 0, 0 },
                { FOUR BYTES CHUNK("02", "ffffffff") TREE("04000000", "00*4 ", AT_4096), TSR_EUNSUPPORTED,
                  "does not hold", 0, 0 },
                { FOUR BYTES "8:0302 02 ff*8 04000000 01000000;", IS_FOUR, 0 },
                { FOUR BYTES CHUNK("02", "04000000"), TSR_EFORMAT, "expected TREE", 0, 0 },
                { FOUR BYTES CHUNK("02", "04000000") "@2048:'TREE'00 00 0100 ff*16;", TSR_EFORMAT,
                  "a tree of kind 0", 0, 0 },
                { FOUR BYTES CHUNK("02", "04000000") "@2048:'TREE'01 21 0100 ff*16;", TSR_EFORMAT,
                  "33 levels above its end", 0, 0 },
                { FOUR BYTES CHUNK("02", "04000000") "@2048:'TREE'01 00 ffff ff*16;", TSR_EFORMAT,
                  "a block of", 0, 0 },
                { FOUR BYTES CHUNK("02", "04000000") "@2048:'TREE'01 01 0100 ff*16 00*24 000a000000000000;"
                                                     "@2560:'TREE'01 00 0100 ff*16 04000000 00*4 "
                                                     "00*16 " AT_4096 ";",
                  IS_FOUR, 0 },
                { FOUR BYTES CHUNK("02", "04000000") "@2048:'TREE'01 01 0100 ff*16 00*24 000a000000000000;"
                                                     "@2560:'TREE'01 01 0100 ff*16 04000000 00*4 "
                                                     "00*16 " AT_4096 ";",
                  TSR_EFORMAT, "1 levels above its end", 0, 0 });
}

/* What is not there, and what chunks make of what is. */
TEST(test_filters_of_chunks)
{
    EXPECT_ROWS(
        { FOUR BYTES CHUNK("02", "04000000") DEFLATE TREE("04000000", "01000000", AT_4096), IS_FOUR, 0 },
        { FOUR BYTES CHUNK("02", "04000000") DEFLATE TREE("04000000", "00*4 ", AT_4096), IS_DAMAGED },
        { FOUR BYTES CHUNK("02", "04000000") DEFLATE TREE("08000000", "00*4 ", AT_4096), IS_DAMAGED },
        { FOUR BYTES CHUNK("02", "04000000") SHUFFLE TREE("04000000", "00*4 ", AT_4096), IS_FOUR, 0 },
        { FOUR BYTES CHUNK("02", "04000000") SHUFFLE TREE("09000000", "00*4 ", AT_4096), IS_DAMAGED },
        SUMMED("01020304 06040805", IS_FOUR, 1), SUMMED("01020304 07040805", IS_DAMAGED),
        SUMMED("01020304 06040806", IS_DAMAGED), SUMMED("ffffffff 00*4 ", IS_FOUR, 255),
        SUMMED("ffffffff ffffffff", IS_FOUR, 255),
        { FOUR BYTES CHUNK("02", "04000000") FLETCHER TREE("03000000", "00*4 ", AT_4096), IS_DAMAGED },
        { FOUR BYTES CHUNK("02", "04000000") "11:0101 00*6 0300 0000 0000 0100 00*8;" TREE(
              "04000000", "01000000", AT_4096),
          IS_FOUR, 0 },
        { FOUR BYTES HERE "11:0201 0400 0000 0000;", TSR_EUNSUPPORTED, "the filter szip", 0, 0 },
        { FOUR BYTES HERE "11:0201 0000 0000 0000;", TSR_EUNSUPPORTED, "an unknown filter", 0, 0 },
        { FOUR BYTES HERE "11:0201 0080 0400 0000 0000 'abcd';", TSR_EUNSUPPORTED,
          "an unknown filter", 0, 0 },
        { FOUR BYTES HERE "11:0202 0300 0000 0000 0300 0000 0000;", TSR_EUNSUPPORTED,
          "an unknown filter", 0, 0 },
        { FOUR BYTES HERE "11:0201 0300 00;", TSR_EUNSUPPORTED, "an unknown filter", 0, 0 },
        { FOUR BYTES HERE "11:0001 0300 0000 0000;", TSR_EUNSUPPORTED, "an unknown filter", 0, 0 },
        { FOUR BYTES HERE "11:0301 0300 0000 0000;", TSR_EUNSUPPORTED, "an unknown filter", 0, 0 },
        { FOUR BYTES HERE "11:0200;", IS_FOUR, 0 });
}

/* Indexes of version 4: one chunk, chunks in order, an array, an array that
 * grows, a tree of version 2. */
#define NEW(flags, dims, index) "8:0402" flags dims index ";"
#define BY4 "02 01 04 01"

TEST(test_indexes_of_chunks)
{
    EXPECT_ROWS(
        { FOUR BYTES NEW("00", BY4, "01" AT_4096), IS_FOUR, 0 },
        { FOUR BYTES NEW("02", BY4, "01 0400000000000000 00000000" AT_4096), IS_FOUR, 0 },
        { FOUR BYTES DEFLATE NEW("02", BY4, "01 0400000000000000 01000000" AT_4096), IS_FOUR, 0 },
        { FOUR BYTES NEW("00", BY4, "01 ff*8 "), IS_FOUR, 0 },
        { FOUR BYTES NEW("00", BY4, "02" AT_4096), IS_FOUR, 0 },
        { FOUR BYTES NEW("00", "02 01 03 01", "02" AT_4096), IS_FOUR, 0 },
        { FOUR BYTES NEW("00", "02 01 03 01", "02 fb1f000000000000"), TSR_EFORMAT, "a block of", 0, 0 },
        { FOUR BYTES NEW("00", BY4, "04 00*5 " AT_4096), TSR_EFORMAT, "expected EAHD", 0, 0 },
        { FOUR BYTES NEW("00", BY4, "00" AT_4096), IS_ELSEWHERE },
        { FOUR BYTES NEW("00", BY4, "06" AT_4096), IS_ELSEWHERE },
        { FOUR BYTES NEW("00", "02 09 00*16 ", "01" AT_4096), IS_ELSEWHERE },
        { FOUR BYTES NEW("00", BY4, "01"), IS_ELSEWHERE },
        { FOUR BYTES NEW("00", "02 08 ff*8 0100000000000000", "01" AT_4096), TSR_EFORMAT, "or empty ones", 0,
          0 },
        { FOUR
          "3:10080000 04000000 00002000;" NEW("00", "02 08 0000000000000040 0400000000000000", "01" AT_4096),
          TSR_EFORMAT, "x", 0, 0 },
        { FOUR BYTES "8:0501" AT_4096 "0400000000000000;", IS_FOUR, 0 },
        { FOUR BYTES NEW("00", BY4, "03 00 0008000000000000"), TSR_EFORMAT, "expected FAHD", 0, 0 });
}

/* An array of fixed size at 2048, whose entries lie at 2304. */
#define ARRAY(entry, bits, count, at) "@2048:'FAHD'00 00" entry bits count at ";"
#define AT_2304 "0009000000000000"
#define TWO_CHUNKS NEW("00", "02 01 02 01", "03 00 0008000000000000")

TEST(test_arrays_of_chunks)
{
    EXPECT_ROWS({ FOUR BYTES TWO_CHUNKS ARRAY("08", "0a", "0200000000000000",
                                              AT_2304) "@2304:'FADB'00 00 0008000000000000 0110000000000000 "
                                                       "0010000000000000;",
                  IS_FOUR, 1 },
                { FOUR BYTES TWO_CHUNKS ARRAY("08", "00", "0200000000000000",
                                              AT_2304) "@2304:'FADB'00 00 0008000000000000 c0 00*4 "
                                                       "0110000000000000 00*4 0010000000000000;",
                  IS_FOUR, 1 },
                { FOUR BYTES TWO_CHUNKS ARRAY("08", "00", "0200000000000000",
                                              AT_2304) "@2304:'FADB'00 00 0008000000000000 40 00*4 "
                                                       "0110000000000000 00*4 0010000000000000;",
                  IS_FOUR, 0 },
                { FOUR BYTES TWO_CHUNKS ARRAY("08", "0a", "0200000000000000", "ff*8"), IS_FOUR, 0 },
                { FOUR BYTES TWO_CHUNKS ARRAY("08", "0a", "0300000000000000", AT_2304), TSR_EFORMAT,
                  "an array of 3 chunks for a dataset of 2", 0, 0 },
                { FOUR BYTES TWO_CHUNKS ARRAY("08", "20", "0200000000000000", AT_2304), TSR_EFORMAT,
                  "an array of 2 chunks", 0, 0 },
                { FOUR BYTES TWO_CHUNKS ARRAY("09", "0a", "0200000000000000", AT_2304), TSR_EFORMAT,
                  "an array of 2 chunks", 0, 0 },
                { FOUR BYTES DEFLATE TWO_CHUNKS ARRAY("0b", "0a", "0200000000000000", AT_2304), TSR_EFORMAT,
                  "an array of 2 chunks", 0, 0 },
                { FOUR BYTES DEFLATE TWO_CHUNKS ARRAY("15", "0a", "0200000000000000", AT_2304), TSR_EFORMAT,
                  "an array of 2 chunks", 0, 0 },
                { FOUR BYTES DEFLATE TWO_CHUNKS ARRAY(
                      "0d", "0a", "0200000000000000",
                      AT_2304) "@2304:'FADB'00 00 0008000000000000 0110000000000000 02 "
                               "01000000 0010000000000000 02 01000000;",
                  IS_FOUR, 1 },
                { FOUR BYTES TWO_CHUNKS ARRAY("08", "0a", "0200000000000000", AT_2304), TSR_EFORMAT,
                  "expected FADB", 0, 0 },
                { FOUR BYTES TWO_CHUNKS ARRAY("08", "0a", "0200000000000000",
                                              AT_2304) "@2304:'FADB'00 00 0008000000000000 ff1f000000000000 "
                                                       "0010000000000000;",
                  TSR_EFORMAT, "a block of", 0, 0 });
}

/* Pages of two entries. */
TEST(test_arrays_in_pages)
{
    EXPECT_ROWS(
        { FOUR BYTES NEW("00", "02 01 01 01", "03 00 0008000000000000") ARRAY(
              "08", "01", "0400000000000000",
              AT_2304) "@2304:'FADB'00 00 0008000000000000 c0 00*4 0310000000000000 0210000000000000 00*4 "
                       "0110000000000000 0010000000000000;",
          IS_FOUR, 3 });
}

/* A tree of version 2 at 2048, whose root is at 2304. */
#define TREE_2(record, depth, n) "@2048:'BTHD'00 0a 00010000" record depth "0000" AT_2304 n ";"
#define BY_TREE_2 FOUR BYTES NEW("00", "02 01 02 01", "05 00*6 0008000000000000")
#define FIRST_RECORD "0110000000000000 00*8 "
#define SECOND_RECORD "0010000000000000 0100000000000000"

/* An array that grows at 2048, with no group in its index block, which lies at 2304 and names three groups:
 * at 2560 of one block of 2 entries, at 3072 of one of 4, at 3584 of two of 4. Pages have two entries. */
#define GROWS(dim, most) "1:02010100 " dim " " most ";" BYTES NEW("00", "02 01 01 01", "04 00*5 " AT_2048_)
#define AT_2048_ "0008000000000000"
#define EAHD(entry, bits, smallest, pointers, page) \
    "@2048:'EAHD'00 00 " entry bits "01" smallest pointers page "00*48 0009000000000000;"
#define EAIB "@2304:'EAIB'00 00 " AT_2048_ AT("14") "000a000000000000 000c000000000000 000e000000000000;"
#define USUAL EAHD("08", "03", "02", "01", "01") EAIB PAGED
#define AT(place) place "10000000000000"
#define PAGED                                                                                           \
    "@2560:'EASB'00 00 " AT_2048_ "00 000b000000000000;"                                                \
    "@2816:'EADB'00 00 " AT_2048_ "00" AT("15") AT("16") ";"                                            \
    "@3072:'EASB'00 00 " AT_2048_ "00 c0 000d000000000000;"                                             \
    "@3328:'EADB'00 00 " AT_2048_ "00 00*4 " AT("17") AT("18") "00*4 " AT("19") AT("1a") ";"            \
    "@3584:'EASB'00 00 " AT_2048_ "00 8000 000f000000000000 ff*8;"                                      \
    "@3840:'EADB'00 00 " AT_2048_ "00 00*4 " AT("1b") AT("1c") "00*4 " AT("1d") AT("1e") ";"

static void expect_elements(const char *text, int64_t n, const int *wanted)
{
    tsr_file *f = NULL;
    tsr_tensor *t = NULL;
    make_odd(text, false);
    EXPECT_OK(tsr_file_open_bytes(&f, odd, sizeof odd, "x.h5", NULL));
    EXPECT_OK(tsr_file_read(&t, f, "x"));
    EXPECT(t && tsr_numel(t) == n);
    for (int64_t i = 0; t && i < n; i++)
        EXPECT_MSG(element(t, i) == wanted[i], "element %d is %g, not %d", (int)i, element(t, i), wanted[i]);
    tsr_release(&t);
    tsr_file_close(&f);
}

/* Pages that were not written, and blocks that are nowhere, are zeros. */
TEST(test_hdf5_odd_arrays_that_grow_have_pages_in_their_later_groups)
{
    static const int wanted[] = { 20, 21, 22, 23, 24, 25, 26, 27, 28, 0, 0, 0, 0 }, none[14] = { 20 };
    expect_elements(GROWS("0d00000000000000", "ff*8 ") USUAL, 13, wanted);
    expect_elements(GROWS("0800000000000000", "ff*8 ") USUAL, 8, wanted);
    expect_elements(GROWS("00*8 ", "ff*8 ") USUAL, 0, wanted);
    expect_elements(GROWS("0d00000000000000", "ff*8 ") EAHD("08", "03", "02", "01", "01")
                    "@2304:'EAIB'00 00 " AT_2048_ "1410000000000000 ff*24;", 13, none);
    expect_elements(GROWS("0d00000000000000", "ff*8 ") "@2048:'EAHD'00 00 08 03 01 02 01 01 00*48 ff*8;", 13,
                    none + 1);
}

TEST(test_hdf5_odd_arrays_that_grow_in_no_known_way_are_refused)
{
#define GROWN GROWS("0d00000000000000", "ff*8 ")
#define NO_WAY TSR_EFORMAT, "an array that grows in no known way", 0, 0
    EXPECT_ROWS({ GROWN EAHD("08", "03", "02", "03", "01") EAIB PAGED, NO_WAY },
                { GROWN EAHD("08", "03", "03", "01", "01") EAIB PAGED, NO_WAY },
                { GROWN EAHD("08", "31", "02", "01", "01") EAIB PAGED, NO_WAY },
                { GROWN EAHD("08", "03", "02", "04", "01") EAIB PAGED, NO_WAY },
                { GROWN EAHD("08", "03", "02", "01", "20") EAIB PAGED, NO_WAY },
                { GROWN EAHD("09", "03", "02", "01", "01") EAIB PAGED, NO_WAY },
                { DEFLATE GROWN EAHD("0b", "03", "02", "01", "01") EAIB PAGED, NO_WAY },
                { DEFLATE GROWN EAHD("15", "03", "02", "01", "01") EAIB PAGED, NO_WAY },
                { GROWS("0d00000000000000", "0d00000000000000") USUAL,
                  NO_WAY },
                { GROWN EAHD("08", "03", "02", "01", "01") EAIB, TSR_EFORMAT, "expected EASB", 0, 0 },
                { GROWN EAHD("08", "03", "04", "02", "01") EAIB PAGED, TSR_EFORMAT,
                  "pages in the first blocks of an array", 0, 0 },
                { GROWS("0d00000000000000", "0c00000000000000") USUAL, TSR_EFORMAT,
                  "a dim of 13 that grows to 12", 0, 0 },
                { "1:02020100 0200000000000000 0200000000000000 ff*16;" BYTES NEW(
                      "00", "03 01 01 01 01", "04 00*5 " AT_2048_) USUAL,
                  TSR_EFORMAT, "a dim of 2 that grows to", 0, 0 },
                { "1:02010000 1027000000000000;" BYTES NEW("00", "02 01 01 01", "03 00 " AT_2048_)
                      ARRAY("08", "0a", "1027000000000000", AT_2304),
                  TSR_EFORMAT, "an array of 10000 chunks", 0, 0 });
}

TEST(test_trees_of_version_2)
{
    EXPECT_ROWS(
        { BY_TREE_2 TREE_2("1000", "0000", "0200") "@2304:'BTLF'00 0a" FIRST_RECORD SECOND_RECORD ";",
          IS_FOUR, 1 },
        { BY_TREE_2 TREE_2("1000", "0100", "0100") "@2304:'BTIN'00 0a" SECOND_RECORD
                                                   "000c000000000000 01 800c000000000000 00;"
                                                   "@3072:'BTLF'00 0a" FIRST_RECORD ";@3200:'BTLF'00 0a;",
          IS_FOUR, 1 },
        { BY_TREE_2 TREE_2("0800", "0000", "0200") "@2304:'BTLF'00 0a" FIRST_RECORD SECOND_RECORD ";",
          TSR_EFORMAT, "an index of chunks that ends early", 0, 0 },
        { BY_TREE_2 TREE_2("1000", "0000", "1000") "@2304:'BTLF'00 0a 00*250;", TSR_EFORMAT,
          "more records than a node has", 0, 0 },
        { BY_TREE_2 TREE_2("1000", "0100", "0100") "@2304:'BTIN'00 0a" SECOND_RECORD "000c000000000000 01;",
          TSR_EFORMAT, "expected BTLF", 0, 0 });
}

/* Addresses and lengths of 2, 4 and 8 bytes; the root is an empty group. */
TEST(test_addresses_of_each_length)
{
    static const int lengths[] = { 2, 4, 8, 3 };
    for (int i = 0; i < 16; i++) {
        const int offset = lengths[i / 4], length = lengths[i % 4];
        tsr_file *f = NULL;
        make_odd("10:0000;", false);
        odd[9] = (unsigned char)offset;
        odd[10] = (unsigned char)length;
        put_number(odd + 12 + 3 * offset, OBJECT, offset);
        repair_hdf5(odd, sizeof odd);
        const tsr_status s = tsr_file_open_bytes(&f, odd, sizeof odd, "x.h5", NULL);
        EXPECT(s == (offset == 3 || length == 3 ? TSR_EFORMAT : TSR_OK));
        EXPECT(s == TSR_OK ? tsr_file_count(f) == 0 : strstr(tsr_last_error(), "addresses of") != NULL);
        tsr_file_close(&f);
    }
}

TEST(test_a_long_file_without_a_first_block_is_none)
{
    const size_t bytes = (4 << 20) + 8;
    unsigned char *data = calloc(1, bytes);
    tsr_file *f = NULL;
    const tsr_file_opts opts = { .format = "hdf5" };
    EXPECT_FAILS(tsr_file_open_bytes(&f, data, bytes, "x.h5", &opts), TSR_EFORMAT, "no block begins as HDF5");
    memcpy(data + (2 << 20), "\x89HDF\r\n\x1a\n", 8); /* too far */
    EXPECT_FAILS(tsr_file_open_bytes(&f, data, bytes, "x.h5", &opts), TSR_EFORMAT, "no block begins as HDF5");
    free(data);
}

/* A file that another program writes to while it is open here: byte `at` becomes `value`. */
static void expect_changed(const char *text, size_t at, unsigned value, const char *words)
{
    tsr_file *f = NULL;
    tsr_tensor *t = NULL;
    make_odd(text, false);
    EXPECT_OK(tsr_file_open_bytes(&f, odd, sizeof odd, "x.h5", NULL));
    odd[at] = (unsigned char)value;
    repair_hdf5(odd, sizeof odd);
    EXPECT_FAILS(tsr_file_read(&t, f, "x"), TSR_EFORMAT, words);
    EXPECT(!t);
    tsr_file_close(&f);
}

TEST(test_files_that_change_after_they_were_listed_are_refused)
{
    enum { SPACE = OBJECT + 10, TYPE = SPACE + 16, LAYOUT = TYPE + 16 };
    static const char words[] = "has changed since it was listed";
    static const char chunked[] = FOUR BYTES NEW("00", BY4, "01" AT_4096);
    expect_changed(FOUR BYTES NOWHERE, LAYOUT, 99, words);
    expect_changed(FOUR BYTES NOWHERE, SPACE + 5, 2, words);
    expect_changed(FOUR BYTES NOWHERE, SPACE + 8, 5, words);
    expect_changed(FOUR BYTES NOWHERE, TYPE + 5, 8, words);
    expect_changed(FOUR BYTES NOWHERE, LAYOUT + 5, 3, words);
    expect_changed(chunked, LAYOUT + 11, 4, words);
    expect_changed(chunked, LAYOUT + 9, 0, "or empty ones");
    expect_changed(FOUR BYTES NOWHERE, OBJECT, 0, "expected the header of an object");
    expect_changed(FOUR BYTES NOWHERE, 0, 0, "no block begins as HDF5");
}

/* Groups: a dataset of four bytes at 3072, by links of each kind. */
#define DATASET                                                             \
    "@3072:'OHDR'02 00 36 01 0c00 00 02010000 0400000000000000 03 0c00 00 " \
    "10000000 01000000 00000800"                                            \
    "08 1200 00 0301" AT_4096 "0400000000000000;"
#define AT_3072 "000c000000000000"
#define IS_DAMAGED_NAME TSR_EFORMAT, "below \"x\": a name of", 0, 0

TEST(test_links_of_groups)
{
    EXPECT_ROWS({ "10:0000;6:0100 01'y'" AT_3072 ";" DATASET, IS_FOUR, 0 },
                { "10:0000;6:0104 00*8 01'y'" AT_3072 ";" DATASET, IS_FOUR, 0 },
                { "10:0000;6:0110 01 01'y'" AT_3072 ";" DATASET, IS_FOUR, 0 },
                { "10:0000;6:0101 0100'y'" AT_3072 ";" DATASET, IS_FOUR, 0 },
                { "10:0000;6:0108 00 01'y'" AT_3072 ";" DATASET, IS_FOUR, 0 },
                { "10:0000;6:0108 01 01'y'" AT_3072 ";" DATASET, TSR_EINDEX, "x", 0, 0 },
                { "10:0000;s6:0100 01'y'" AT_3072 ";" DATASET, TSR_EINDEX, "x", 0, 0 },
                { "10:0000;6:0200 01'y'" AT_3072 ";" DATASET, TSR_EFORMAT, "a link of version 2", 0, 0 },
                { "10:0000;6:0100 01'y'0000;" DATASET, TSR_EFORMAT, "or cut short", 0, 0 },
                { "10:0000;6:0100 02'y'00" AT_3072 ";" DATASET, IS_DAMAGED_NAME },
                { "10:0000;6:0100 03'y/z'" AT_3072 ";" DATASET, IS_DAMAGED_NAME },
                { "10:0000;6:0100 01 ff" AT_3072 ";" DATASET, IS_DAMAGED_NAME },
                { "10:0000;6:0100 00" AT_3072 ";" DATASET, IS_DAMAGED_NAME },
                { "10:0000;6:0100 01'y' ff*8;", TSR_EFORMAT, "a block of", 0, 0 });
}

#define SYMBOLS "17:0008000000000000 000a000000000000;"
#define NODE(kind, level, n, below) "@2048:'TREE'" kind level n "ff*16 00*8 " below ";"
#define TABLE(name, kind) "@2304:'SNOD'01 00 0100" name " " AT_3072 kind "00*4 00*16;"
#define HEAP(bytes, at) "@2560:'HEAP'00*4 " bytes "00*8 " at ";"
#define NAME_AT_8 "0800000000000000"
#define OLD_GROUP SYMBOLS NODE("00", "00", "0100", AT_2304) DATASET
#define NAMES HEAP("1000000000000000", "000b000000000000") "@2816:00*8 'y' 00;"

TEST(test_tables_of_names)
{
    EXPECT_ROWS(
        { OLD_GROUP NAMES TABLE(NAME_AT_8, "00*4 "), IS_FOUR, 0 },
        { OLD_GROUP NAMES TABLE(NAME_AT_8, "02000000"), TSR_EINDEX, "x", 0, 0 },
        { OLD_GROUP NAMES TABLE("1000000000000000", "00*4 "), TSR_EFORMAT, "a name that is not in the heap",
          0, 0 },
        { OLD_GROUP NAMES TABLE("ff*8", "00*4 "), TSR_EFORMAT, "a name that is not in the heap", 0, 0 },
        { OLD_GROUP HEAP("0900000000000000", "000b000000000000") "@2816:00*8 'y' 00;" TABLE(NAME_AT_8,
                                                                                            "00*4 "),
          TSR_EFORMAT, "a name that is not in the heap", 0, 0 },
        { OLD_GROUP NAMES, TSR_EFORMAT, "expected SNOD", 0, 0 },
        { OLD_GROUP NAMES "@2304:'SNOD'01 00 ffff;", TSR_EFORMAT, "a block of", 0, 0 },
        { OLD_GROUP, TSR_EFORMAT, "expected HEAP", 0, 0 },
        { OLD_GROUP HEAP("1000000000000000", "ff*8"), TSR_EFORMAT, "a block of", 0, 0 },
        { SYMBOLS NAMES, TSR_EFORMAT, "expected TREE", 0, 0 },
        { SYMBOLS NAMES NODE("01", "00", "0100", AT_2304), TSR_EFORMAT, "a tree of kind 1", 0, 0 },
        { SYMBOLS NAMES NODE("00", "21", "0100", AT_2304), TSR_EFORMAT, "33 levels above its end", 0, 0 },
        { SYMBOLS NAMES NODE("00", "00", "ffff", AT_2304), TSR_EFORMAT, "a block of", 0, 0 },
        { SYMBOLS NAMES NODE("00", "01", "0100", "000d000000000000") DATASET
          "@3328:'TREE'00 00 0100 ff*16 00*8 " AT_2304 ";" TABLE(NAME_AT_8, "00*4 "),
          IS_FOUR, 0 });
}

/* A part of a header lies at 2048; those of version 2 have a name and a sum. */
#define CONTINUED(bytes) "16:0008000000000000" bytes "00*7;"
#define OLD_PART "@2048:0100 0c00 00*4 02010000 0400000000000000;"
#define NEW_PART "@2048:'OCHK'01 0c00 00 02010000 0400000000000000 00*4;"

TEST(test_headers_in_parts)
{
    expect_row(&(odd_row){ BYTES HERE CONTINUED("14") OLD_PART, IS_FOUR, 0 }, true);
    expect_row(&(odd_row){ BYTES HERE CONTINUED("18") NEW_PART, IS_FOUR, 0 }, false);
    expect_row(&(odd_row){ BYTES HERE CONTINUED("14") OLD_PART, TSR_EFORMAT, "expected OCHK", 0, 0 }, false);
    expect_row(
        &(odd_row){ BYTES HERE CONTINUED("07") NEW_PART, TSR_EFORMAT, "the checksum of a header", 0, 0 },
        false);
    expect_row(&(odd_row){ BYTES HERE CONTINUED("03") NEW_PART, TSR_EFORMAT, "expected OCHK", 0, 0 }, false);
    EXPECT_ROWS({ "16:ff*16;", TSR_EFORMAT, "a block of", 0, 0 },
                { "16:0002000000000000 4000000000000000;", TSR_EFORMAT, NULL, 0, 0 });
}

/* A group whose one link lies in a heap at 2048, by a tree at 2304 with its leaf at 2432. The heap's table
 * of blocks is at 2560, and the link 32 bytes behind the beginning of the block at 2816. */
#define HEAP_OF(width, first, largest, bits, rows)                                              \
    "2:0000 0008000000000000" AT_2304                                                           \
    ";@2048:'FRHP'00 0700 0000 00 00100000 00*8 ff*8 00*8 ff*8 00*64 " width first largest bits \
    "0100 000a000000000000" rows ";"
#define RECORD(bytes, place)                                              \
    "@2304:'BTHD'00 05 80000000" bytes "0000 0000 8009000000000000 0100;" \
    "@2432:'BTLF'00 05 00*4 00" place "0c00;"
#define TABLE_AT(at, blocks) "@" at ":'FHIB'00 00*8 00*4 " blocks ";"
#define LINKED "@2848:0100 01'y'" AT_3072 ";" DATASET
#define AT_2816 "000b000000000000"
#define OF_512 "0002000000000000"
/* 42 addresses of the table that they stand in. */
#define HERE_AGAIN "000a000000000000 000a000000000000 000a000000000000 "
#define SIX_TIMES HERE_AGAIN HERE_AGAIN
#define BY_ITSELF SIX_TIMES SIX_TIMES SIX_TIMES SIX_TIMES SIX_TIMES SIX_TIMES SIX_TIMES
#define IS_BEYOND TSR_EFORMAT, "beyond the end of its heap", 0, 0

TEST(test_heaps_in_tables_of_blocks)
{
    EXPECT_ROWS({ HEAP_OF("0200", OF_512, "0000010000000000", "2000", "0200") RECORD("0b00", "20060000")
                      TABLE_AT("2560", "ff*24 " AT_2816) LINKED,
                  IS_FOUR, 0 },
                { HEAP_OF("0200", OF_512, OF_512, "2000", "0300") RECORD("0b00", "200a0000")
                      TABLE_AT("2560", "ff*32 000d000000000000") TABLE_AT("3328", "ff*8 " AT_2816) LINKED,
                  IS_FOUR, 0 },
                { HEAP_OF("0200", OF_512, OF_512, "2000", "0300") RECORD("0b00", "200a0000")
                      TABLE_AT("2560", "ff*32 000d000000000000") LINKED,
                  TSR_EFORMAT, "expected FHIB", 0, 0 },
                { HEAP_OF("0200", OF_512, OF_512, "2000", "0200") RECORD("0b00", "20060000") LINKED,
                  TSR_EFORMAT, "expected FHIB", 0, 0 },
                { HEAP_OF("0200", OF_512, OF_512, "2000", "0200") RECORD("0b00", "ff*4 ")
                      TABLE_AT("2560", "ff*24 " AT_2816) LINKED,
                  IS_BEYOND },
                { HEAP_OF("0200", OF_512, OF_512, "2000", "0200") RECORD("0b00", "20060000")
                      TABLE_AT("2560", "ff*64 ") LINKED,
                  IS_BEYOND },
                { HEAP_OF("0200", "ff*8 ", "ff*8 ", "2000", "0200") RECORD("0b00", "20060000")
                      TABLE_AT("2560", "ff*64 ") LINKED,
                  IS_BEYOND },
                { HEAP_OF("0100", "0100000000000000", "0100000000000000", "4000", "4000")
                      RECORD("0f00", "0000000000040000") TABLE_AT("2560", "00*8 ") LINKED,
                  TSR_EFORMAT, "expected FHIB", 0, 0 },
                { HEAP_OF("0100", "0100000000000000", "0100000000000000", "4000", "4000")
                      RECORD("0f00", "ff*5 00*3 ") TABLE_AT("2560", "00*4 " BY_ITSELF) DATASET,
                  IS_BEYOND },
                { HEAP_OF("0200", OF_512, OF_512, "2000", "0300") RECORD("0b00", "200a0000")
                      TABLE_AT("2560", "ff*32 fc1f000000000000") "@8188:'FHIB';" LINKED,
                  TSR_EFORMAT, "a block of", 0, 0 });
}

/* Bytes of a file of the corpus that are changed, from the first block of that
 * name on. */
typedef struct patch {
    const char *file, *magic;
    size_t at;
    const char *bytes;
    tsr_status status;
    const char *words;
} patch;

static void expect_patch(const patch *p)
{
    char path[80];
    size_t bytes = 0, at = 0;
    tsr_file *f = NULL;
    snprintf(path, sizeof path, "tests/fuzz/corpus/hdf5/%s.h5", p->file);
    unsigned char *data = read_bytes(path, &bytes);
    const char *text = p->bytes;
    while (at + 4 < bytes && memcmp(data + at, p->magic, 4) != 0) at++;
    EXPECT_MSG(at + 4 < bytes, "%s has no %s", p->file, p->magic);
    (void)odd_bytes(data + at + p->at, &text);
    repair_hdf5(data, bytes);
    tsr_clear_error();
    tsr_status s = tsr_file_open_bytes(&f, data, bytes, "x.h5", NULL);
    for (int64_t i = 0; i < tsr_file_count(f) && s == TSR_OK; i++) {
        tsr_file_entry e;
        tsr_tensor *t = NULL;
        EXPECT_OK(tsr_file_list(&e, f, i));
        s = tsr_file_read(&t, f, e.name);
        tsr_release(&t);
    }
    EXPECT_MSG(s == p->status && (!p->words || strstr(tsr_last_error(), p->words)), "%s, %s + %zu: %s (%s)",
               p->file, p->magic, p->at, tsr_status_name(s), tsr_last_error());
    tsr_file_close(&f);
    open_hostile(data, bytes, "hdf5");
    free(data);
}

TEST(test_trees_and_heaps_of_many_links)
{
    static const patch patches[] = {
        { "dense", "FRHP", 7, "0100", TSR_EUNSUPPORTED, "compressed" },
        { "dense", "FRHP", 110, "0000", TSR_EFORMAT, "a heap of no blocks" },
        { "dense", "FRHP", 112, "00*8", TSR_EFORMAT, "a heap of no blocks" },
        { "dense", "FRHP", 120, "01 00*7", TSR_EFORMAT, "a heap of no blocks" },
        { "dense", "FRHP", 128, "0000", TSR_EFORMAT, "a heap of no blocks" },
        { "dense", "FRHP", 128, "4100", TSR_EFORMAT, "a heap of no blocks" },
        { "dense", "FRHP", 140, "4100", TSR_EFORMAT, "a heap of no blocks" },
        { "dense", "FRHP", 132, "ff*8", TSR_EFORMAT, "beyond the end of its heap" },
        { "dense", "BTHD", 6, "0c000000 0100 0100", TSR_EFORMAT, "expected BTIN" },
        { "dense", "BTHD", 10, "0000", TSR_EFORMAT, "a tree 0 deep" },
        { "dense", "BTHD", 6, "0a000000", TSR_EFORMAT, "nodes of 10 bytes" },
        { "dense", "BTHD", 12, "2100", TSR_EFORMAT, "a tree 33 deep" },
        { "dense", "BTHD", 12, "2000", TSR_EFORMAT, "expected BTIN" },
        { "dense", "BTHD", 16, "ff*8", TSR_OK, NULL },
        { "dense", "BTHD", 24, "ffff", TSR_EFORMAT, NULL },
        { "dense", "BTLF", 10, "10", TSR_EFORMAT, "a link that is no object of a heap" },
        { "tree2", "BTHD", 10, "0100", TSR_EFORMAT, "a record of 1 bytes" },
        { "tree2", "BTHD", 24, "ffff", TSR_EFORMAT, NULL },
        { "tree2", "BTHD", 16, "ff*8", TSR_OK, NULL },
    };
    for (size_t i = 0; i < sizeof patches / sizeof *patches; i++) expect_patch(&patches[i]);
}

/* A node of a tree at `at`: n children, all of them at `below`. */
static void put_tree(size_t at, int level, int n, uint64_t below)
{
    unsigned char *p = odd + at;
    memcpy(p, "TREE\1", 5);
    p[5] = (unsigned char)level;
    put_number(p + 6, (uint64_t)n, 2);
    memset(p + 24, 0, (size_t)n * 32);
    for (int i = 0; i < n; i++) put_number(p + 24 + 32 * i + 24, below, 8);
}

TEST(test_blocks_that_are_read_again_and_again_are_refused)
{
    tsr_file *f = NULL;
    tsr_tensor *t = NULL;
    make_odd(FOUR BYTES CHUNK("02", "04000000"), false);
    put_tree(2048, 2, 20, 2800);
    put_tree(2800, 1, 20, 3500);
    put_tree(3500, 0, 10, UINT64_MAX);
    EXPECT_OK(tsr_file_open_bytes(&f, odd, sizeof odd, "x.h5", NULL));
    EXPECT_OK(tsr_file_read(&t, f, "x"));
    tsr_release(&t);
    put_tree(3500, 0, 100, UINT64_MAX);
    EXPECT_FAILS(tsr_file_read(&t, f, "x"), TSR_EFORMAT, "lead in circles");
    tsr_file_close(&f);
}

enum { LONG_NAME = 3000 };

/* A group with one link, of a long name, to `to`; its header begins as the one that make_odd made. */
static void put_long_link(unsigned char *group, size_t to)
{
    unsigned char *p = group + 16;
    memcpy(group + 10, odd + OBJECT + 10, 6);
    memcpy(p, "\6\0\0\0\1\1", 6);
    put_number(p + 1, 4 + LONG_NAME + 8, 2);
    put_number(p + 6, LONG_NAME, 2);
    memset(p + 8, 'a', LONG_NAME);
    put_number(p + 8 + LONG_NAME, to, 8);
    put_header(group, 6 + 4 + 4 + LONG_NAME + 8, false);
}

/* Three groups in each other, of long names. */
TEST(test_paths_that_are_too_long_are_refused)
{
    enum { MIDDLE = SIZE, INNER = SIZE + 4096, LARGER = 2 * SIZE };
    static unsigned char larger[LARGER];
    tsr_file *f = NULL;
    make_odd("10:0000;", false);
    memcpy(larger, odd, SIZE);
    put_number(larger + 28, LARGER, 8);
    put_long_link(larger + OBJECT, MIDDLE);
    put_long_link(larger + MIDDLE, INNER);
    put_long_link(larger + INNER, ROOT);
    repair_hdf5(larger, LARGER);
    EXPECT_FAILS(tsr_file_open_bytes(&f, larger, LARGER, "x.h5", NULL), TSR_EFORMAT, "a name of 3000 bytes");
    tsr_file_close(&f);
}

/* A group with one link "a" to `to`. */
static void put_short_link(unsigned char *group, uint64_t to)
{
    memcpy(group + 10, "\12\2\0\0\0\0\6\x0c\0\0\1\0\1a", 14);
    put_number(group + 24, to, 8);
    put_header(group, 22, false);
}

/* 31 groups in "x", in the root, are read, and 32 are not. */
TEST(test_groups_that_lie_too_deep_are_refused)
{
    for (int deep = 31; deep <= 32; deep++) {
        tsr_file *f = NULL;
        make_odd("10:0000;", false);
        for (int i = 0; i < deep; i++) {
            const uint64_t next = 1024 + 64 * (uint64_t)(i + 1);
            put_short_link(odd + (i ? 1024 + 64 * i : OBJECT), i + 1 < deep ? next : ROOT);
        }
        repair_hdf5(odd, sizeof odd);
        const tsr_status s = tsr_file_open_bytes(&f, odd, sizeof odd, "x.h5", NULL);
        if (deep == 31) EXPECT_OK(s);
        else EXPECT_MSG(s == TSR_EFORMAT && strstr(tsr_last_error(), "more than 32 deep"), "%s: %s",
                        tsr_status_name(s), tsr_last_error());
        tsr_file_close(&f);
    }
}

/* Links with names of 200 bytes, to a group of such links: few bytes of a file,
 * and many of names. */
TEST(test_names_out_of_proportion_are_refused)
{
    enum { LINKS = 16, NAME = 200, GROUP = 4096, DATA = 7800 };
    tsr_file *f = NULL;
    make_odd("10:0000;", false);
    for (int level = 0; level < 2; level++) {
        unsigned char *at = odd + (level ? GROUP : OBJECT), *p = at + 10;
        memcpy(p, "\12\2\0\0\0\0", 6);
        p += 6;
        for (int i = 0; i < LINKS; i++, p += 4 + 3 + NAME + 8) {
            memcpy(p, "\6\0\0\0\1\0", 6);
            put_number(p + 1, 3 + NAME + 8, 2);
            p[6] = NAME;
            memset(p + 7, 'a' + i, NAME);
            put_number(p + 7 + NAME, level ? DATA : GROUP, 8);
        }
        put_header(at, (size_t)(p - at - 10), false);
    }
    memset(odd + DATA, 0, 64);
    put_header(odd + DATA, 0, false);
    repair_hdf5(odd, sizeof odd);
    EXPECT_FAILS(tsr_file_open_bytes(&f, odd, sizeof odd, "x.h5", NULL), TSR_EFORMAT,
                 "names out of proportion");
    tsr_file_close(&f);
}

TEST_AFTER { files_remove(); }
