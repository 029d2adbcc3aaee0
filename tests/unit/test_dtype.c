/* test_dtype.c - the dtype table, promotion, and names and numbers elsewhere. */
#include "core/dtype_int.h"
#include "test.h"

static const tsr_dtype wrong[] = { TSR_DTYPE_INVALID, TSR_DTYPE_COUNT, (tsr_dtype)1000, (tsr_dtype)-1 };
enum { WRONG = sizeof wrong / sizeof *wrong };

/* The table ----------------------------------------------------------------------- */

TEST(test_dtype_table_says_what_each_dtype_is)
{
    static const struct { tsr_dtype d; size_t size; tsr_kind kind; const char *name, *long_name; } all[] = {
        { TSR_BOOL, 1, TSR_BOOLEAN, "bool", "bool" },
        { TSR_I8, 1, TSR_SIGNED, "i8", "int8" },
        { TSR_I16, 2, TSR_SIGNED, "i16", "int16" },
        { TSR_I32, 4, TSR_SIGNED, "i32", "int32" },
        { TSR_I64, 8, TSR_SIGNED, "i64", "int64" },
        { TSR_U8, 1, TSR_UNSIGNED, "u8", "uint8" },
        { TSR_U16, 2, TSR_UNSIGNED, "u16", "uint16" },
        { TSR_U32, 4, TSR_UNSIGNED, "u32", "uint32" },
        { TSR_U64, 8, TSR_UNSIGNED, "u64", "uint64" },
        { TSR_F8E4M3, 1, TSR_FLOATING, "f8e4m3", "float8_e4m3fn" },
        { TSR_F8E5M2, 1, TSR_FLOATING, "f8e5m2", "float8_e5m2" },
        { TSR_F16, 2, TSR_FLOATING, "f16", "float16" },
        { TSR_BF16, 2, TSR_FLOATING, "bf16", "bfloat16" },
        { TSR_F32, 4, TSR_FLOATING, "f32", "float32" },
        { TSR_F64, 8, TSR_FLOATING, "f64", "float64" },
        { TSR_C32, 4, TSR_COMPLEX, "c32", "complex32" },
        { TSR_C64, 8, TSR_COMPLEX, "c64", "complex64" },
        { TSR_C128, 16, TSR_COMPLEX, "c128", "complex128" },
    };
    EXPECT(sizeof all / sizeof *all == TSR_DTYPE_COUNT - 1);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        EXPECT(all[i].d == (tsr_dtype)(i + 1));
        EXPECT(tsr_dtype_is_valid(all[i].d));
        EXPECT(tsr_dtype_size(all[i].d) == all[i].size);
        EXPECT(tsr_dtype_kind(all[i].d) == all[i].kind);
        EXPECT(strcmp(tsr_dtype_name(all[i].d), all[i].name) == 0);
        EXPECT(strcmp(tsr_dtype_long_name(all[i].d), all[i].long_name) == 0);
    }
}

TEST(test_dtype_queries_answer_for_what_is_no_dtype)
{
    for (int i = 0; i < WRONG; i++) {
        EXPECT(!tsr_dtype_is_valid(wrong[i]));
        EXPECT(tsr_dtype_size(wrong[i]) == 0);
        EXPECT(tsr_dtype_kind(wrong[i]) == TSR_KIND_INVALID);
        EXPECT(strcmp(tsr_dtype_name(wrong[i]), "invalid") == 0);
        EXPECT(strcmp(tsr_dtype_long_name(wrong[i]), "invalid") == 0);
        EXPECT(tsr_dtype_real(wrong[i]) == TSR_DTYPE_INVALID);
    }
}

TEST(test_dtype_sizes_are_the_same_inside)
{
    for (int d = 0; d < TSR_DTYPE_COUNT; d++)
        EXPECT((size_t)tsri_dtype_size((tsr_dtype)d) == tsr_dtype_size((tsr_dtype)d));
}

TEST(test_dtype_kinds_have_names)
{
    EXPECT(strcmp(tsr_kind_name(TSR_BOOLEAN), "boolean") == 0);
    EXPECT(strcmp(tsr_kind_name(TSR_SIGNED), "signed") == 0);
    EXPECT(strcmp(tsr_kind_name(TSR_UNSIGNED), "unsigned") == 0);
    EXPECT(strcmp(tsr_kind_name(TSR_FLOATING), "floating") == 0);
    EXPECT(strcmp(tsr_kind_name(TSR_COMPLEX), "complex") == 0);
    EXPECT(strcmp(tsr_kind_name(TSR_KIND_INVALID), "invalid") == 0);
    EXPECT(strcmp(tsr_kind_name((tsr_kind)6), "invalid") == 0);
    EXPECT(strcmp(tsr_kind_name((tsr_kind)-1), "invalid") == 0);
}

TEST(test_dtype_real_is_the_part_of_a_complex_and_itself_otherwise)
{
    EXPECT(tsr_dtype_real(TSR_C32) == TSR_F16);
    EXPECT(tsr_dtype_real(TSR_C64) == TSR_F32);
    EXPECT(tsr_dtype_real(TSR_C128) == TSR_F64);
    for (int d = 1; d < TSR_DTYPE_COUNT; d++)
        if (tsr_dtype_kind((tsr_dtype)d) != TSR_COMPLEX) EXPECT(tsr_dtype_real((tsr_dtype)d) == (tsr_dtype)d);
        else EXPECT(2 * tsr_dtype_size(tsr_dtype_real((tsr_dtype)d)) == tsr_dtype_size((tsr_dtype)d));
}

TEST(test_dtype_complex_structs_are_two_parts_and_no_padding)
{
    EXPECT(sizeof(tsr_c32) == 4 && sizeof(tsr_c64) == 8 && sizeof(tsr_c128) == 16);
    EXPECT(sizeof(tsr_dtype) == 4 && sizeof(tsr_kind) == 4 && sizeof(tsr_numbering) == 4);
}

/* Promotion -------------------------------------------------------------------------- */

/* The corners of the standard's table, as a person would write them down. What is
 * outside of both is an error, but for bool with bool. "-" is an error too. */
static const char *const integers =
    "     i8   i16  i32  i64  u8   u16  u32  u64 \n"
    "i8   i8   i16  i32  i64  i16  i32  i64  -   \n"
    "i16  i16  i16  i32  i64  i16  i32  i64  -   \n"
    "i32  i32  i32  i32  i64  i32  i32  i64  -   \n"
    "i64  i64  i64  i64  i64  i64  i64  i64  -   \n"
    "u8   i16  i16  i32  i64  u8   u16  u32  u64 \n"
    "u16  i32  i32  i32  i64  u16  u16  u32  u64 \n"
    "u32  i64  i64  i64  i64  u32  u32  u32  u64 \n"
    "u64  -    -    -    -    u64  u64  u64  u64 \n";

static const char *const inexact =
    "        f8e4m3  f8e5m2  f16   bf16  f32   f64   c32   c64   c128 \n"
    "f8e4m3  f8e4m3  f16     f16   bf16  f32   f64   c32   c64   c128 \n"
    "f8e5m2  f16     f8e5m2  f16   bf16  f32   f64   c32   c64   c128 \n"
    "f16     f16     f16     f16   f32   f32   f64   c32   c64   c128 \n"
    "bf16    bf16    bf16    f32   bf16  f32   f64   c64   c64   c128 \n"
    "f32     f32     f32     f32   f32   f32   f64   c64   c64   c128 \n"
    "f64     f64     f64     f64   f64   f64   f64   c128  c128  c128 \n"
    "c32     c32     c32     c32   c64   c64   c128  c32   c64   c128 \n"
    "c64     c64     c64     c64   c64   c64   c128  c64   c64   c128 \n"
    "c128    c128    c128    c128  c128  c128  c128  c128  c128  c128 \n";

/* The next word, as a dtype; INVALID for "-". */
static tsr_dtype next_word(const char **text)
{
    const size_t skip = strspn(*text, " \n"), length = strcspn(*text + skip, " \n");
    const char *word = *text + skip;
    *text = word + length;
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
        const char *name = tsr_dtype_name((tsr_dtype)d);
        if (strlen(name) == length && strncmp(name, word, length) == 0) return (tsr_dtype)d;
    }
    return TSR_DTYPE_INVALID;
}

static tsr_dtype expected[TSR_DTYPE_COUNT][TSR_DTYPE_COUNT];

static void read_table(const char *text, int n)
{
    tsr_dtype column[16];
    for (int i = 0; i < n; i++) column[i] = next_word(&text);
    for (int r = 0; r < n; r++) {
        const tsr_dtype row = next_word(&text);
        for (int i = 0; i < n; i++) expected[row][column[i]] = next_word(&text);
    }
}

/* INVALID where promotion fails, which leaves out untouched. */
static tsr_dtype promoted(tsr_dtype a, tsr_dtype b)
{
    tsr_dtype out = (tsr_dtype)77;
    const tsr_status s = tsr_dtype_promote(&out, a, b);
    EXPECT(s == TSR_OK || (s == TSR_EDTYPE && out == (tsr_dtype)77));
    return s == TSR_OK ? out : TSR_DTYPE_INVALID;
}

TEST(test_dtype_promotion_is_the_table)
{
    expected[TSR_BOOL][TSR_BOOL] = TSR_BOOL;
    read_table(integers, 8);
    read_table(inexact, 9);
    for (int a = 1; a < TSR_DTYPE_COUNT; a++)
        for (int b = 1; b < TSR_DTYPE_COUNT; b++)
            EXPECT_MSG(promoted((tsr_dtype)a, (tsr_dtype)b) == expected[a][b], "%s with %s gives %s, not %s",
                       tsr_dtype_name((tsr_dtype)a), tsr_dtype_name((tsr_dtype)b),
                       tsr_dtype_name(promoted((tsr_dtype)a, (tsr_dtype)b)), tsr_dtype_name(expected[a][b]));
}

static bool is_the_f8_bf16_triple(tsr_dtype a, tsr_dtype b, tsr_dtype c)
{
    const unsigned all = 1u << TSR_F8E4M3 | 1u << TSR_F8E5M2 | 1u << TSR_BF16;
    return (1u << a | 1u << b | 1u << c) == all;
}

TEST(test_dtype_promotion_is_symmetric_and_associative_where_defined)
{
    for (int i = 1; i < TSR_DTYPE_COUNT; i++)
        for (int j = 1; j < TSR_DTYPE_COUNT; j++) {
            const tsr_dtype a = (tsr_dtype)i, b = (tsr_dtype)j, ab = promoted(a, b);
            EXPECT(ab == promoted(b, a));
            for (int k = 1; k < TSR_DTYPE_COUNT; k++) {
                const tsr_dtype c = (tsr_dtype)k, bc = promoted(b, c);
                if (!ab || !bc || !promoted(ab, c) || !promoted(a, bc)) continue;
                EXPECT_MSG(promoted(ab, c) == promoted(a, bc) || is_the_f8_bf16_triple(a, b, c), "%s, %s, %s",
                           tsr_dtype_name(a), tsr_dtype_name(b), tsr_dtype_name(c));
            }
        }
    /* The one triple whose result depends on the order: the two f8s meet in f16. */
    EXPECT(promoted(promoted(TSR_F8E4M3, TSR_F8E5M2), TSR_BF16) == TSR_F32);
    EXPECT(promoted(TSR_F8E4M3, promoted(TSR_F8E5M2, TSR_BF16)) == TSR_BF16);
}

TEST(test_dtype_promotion_says_why_not)
{
    tsr_dtype out = TSR_I8;
    EXPECT_FAILS(tsr_dtype_promote(&out, TSR_I32, TSR_F32), TSR_EDTYPE, "i32 (signed) and f32 (floating)");
    EXPECT_FAILS(tsr_dtype_promote(&out, TSR_I32, TSR_F32), TSR_EDTYPE, "tsr_cast");
    EXPECT_FAILS(tsr_dtype_promote(&out, TSR_BOOL, TSR_U8), TSR_EDTYPE, "bool (boolean) and u8 (unsigned)");
    EXPECT_FAILS(tsr_dtype_promote(&out, TSR_U64, TSR_I8), TSR_EDTYPE, "no integer holds both u64 and i8");
    EXPECT_FAILS(tsr_dtype_promote(NULL, TSR_I8, TSR_I8), TSR_ENULL, "out is NULL");
    for (int i = 0; i < WRONG; i++) {
        EXPECT_FAILS(tsr_dtype_promote(&out, wrong[i], TSR_I8), TSR_EDTYPE, "a is");
        EXPECT_FAILS(tsr_dtype_promote(&out, TSR_I8, wrong[i]), TSR_EDTYPE, "b is");
        EXPECT_FAILS(tsr_dtype_promote(&out, wrong[i], wrong[i]), TSR_EDTYPE, "no dtype");
    }
    EXPECT(out == TSR_I8);
}

/* Names ------------------------------------------------------------------------------ */

static void expect_parse(const char *name, tsr_dtype want)
{
    tsr_dtype got = TSR_DTYPE_INVALID;
    EXPECT_OK(tsr_dtype_parse(&got, name));
    EXPECT_MSG(got == want, "\"%s\" reads as %s", name, tsr_dtype_name(got));
}

TEST(test_dtype_parse_reads_both_names_in_any_case)
{
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
        const char *names[] = { tsr_dtype_name((tsr_dtype)d), tsr_dtype_long_name((tsr_dtype)d) };
        for (int n = 0; n < 2; n++) {
            char upper[32] = "";
            for (size_t i = 0; names[n][i]; i++)
                upper[i] = names[n][i] >= 'a' && names[n][i] <= 'z' ? (char)(names[n][i] - 32) : names[n][i];
            expect_parse(names[n], (tsr_dtype)d);
            expect_parse(upper, (tsr_dtype)d);
        }
    }
    expect_parse("Float32", TSR_F32);
    expect_parse("bFloat16", TSR_BF16);
}

TEST(test_dtype_parse_reads_aliases)
{
    static const struct { const char *word; tsr_dtype dtype; } alias[] = {
        { "boolean", TSR_BOOL }, { "char", TSR_I8 }, { "short", TSR_I16 }, { "int", TSR_I32 },
        { "long", TSR_I64 }, { "byte", TSR_U8 }, { "ubyte", TSR_U8 }, { "ushort", TSR_U16 },
        { "ulong", TSR_U64 }, { "half", TSR_F16 }, { "fp16", TSR_F16 }, { "bfloat", TSR_BF16 },
        { "float", TSR_F32 }, { "single", TSR_F32 }, { "fp32", TSR_F32 }, { "double", TSR_F64 },
        { "fp64", TSR_F64 }, { "float8_e4m3", TSR_F8E4M3 },
        { "F8_E4M3", TSR_F8E4M3 }, { "fp8_e4m3", TSR_F8E4M3 }, { "f8e4m3fn", TSR_F8E4M3 },
        { "F8_E5M2", TSR_F8E5M2 }, { "fp8_e5m2", TSR_F8E5M2 }, { "chalf", TSR_C32 }, { "cfloat", TSR_C64 },
        { "cdouble", TSR_C128 }, { "Double", TSR_F64 }, { "HALF", TSR_F16 },
    };
    for (size_t i = 0; i < sizeof alias / sizeof *alias; i++) expect_parse(alias[i].word, alias[i].dtype);
}

TEST(test_dtype_parse_refuses_other_words)
{
    static const char *const words[] = {
        "", " ", "f", "f3", "f322", " f32", "f32 ", "f33", "float3", "floats", "invalid", "int128", "uint",
        "complex", "<f4", "\xc3\xa9", "f32\n", "1",
    };
    tsr_dtype out = TSR_U16;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        EXPECT_FAILS(tsr_dtype_parse(&out, words[i]), TSR_EDTYPE, "is no dtype's name");
    EXPECT_FAILS(tsr_dtype_parse(&out, "quaternion"), TSR_EDTYPE, "\"quaternion\"");
    EXPECT_FAILS(tsr_dtype_parse(&out, NULL), TSR_ENULL, "name is NULL");
    EXPECT_FAILS(tsr_dtype_parse(NULL, "f32"), TSR_ENULL, "out is NULL");
    EXPECT(out == TSR_U16);
}

TEST(test_dtype_parse_shortens_a_long_word_in_its_message)
{
    char word[5000];
    tsr_dtype out;
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    EXPECT_FAILS(tsr_dtype_parse(&out, word), TSR_EDTYPE, "xxxx\" is no dtype's name");
    EXPECT(strlen(tsr_last_error()) < 120);
}

/* Numbers of other systems --------------------------------------------------------------- */

static void expect_number(tsr_numbering system, int64_t number, tsr_dtype want)
{
    tsr_dtype got = TSR_DTYPE_INVALID;
    EXPECT_OK(tsr_dtype_from_number(&got, system, number));
    EXPECT_MSG(got == want, "system %d, number %lld reads as %s", (int)system, (long long)number,
               tsr_dtype_name(got));
}

TEST(test_dtype_numbers_are_those_of_the_other_systems)
{
    static const tsr_dtype infini[20] = {
        0, TSR_U8, TSR_BOOL, TSR_I8, TSR_I16, TSR_I32, TSR_I64, TSR_U8, TSR_U16, TSR_U32, TSR_U64, TSR_F8E4M3,
        TSR_F16, TSR_F32, TSR_F64, 0, TSR_C32, TSR_C64, TSR_C128, TSR_BF16,
    };
    for (int n = 0; n < 20; n++) {
        if (!infini[n]) continue;
        expect_number(TSR_NUMBERING_INFINIOP, n, infini[n]);
        expect_number(TSR_NUMBERING_LLAISYS, n, infini[n]);
    }
    static const tsr_dtype mx[13] = { TSR_F32, TSR_F16, TSR_I8, TSR_I32, TSR_U8, 0, TSR_I16, TSR_U16, TSR_U32,
                                      TSR_I64, TSR_U64, TSR_F64, TSR_BOOL };
    for (int n = 0; n < 13; n++)
        if (mx[n]) expect_number(TSR_NUMBERING_MXBASE, n, mx[n]);
    expect_number(TSR_NUMBERING_RENAISSANCE, 1, TSR_F32);
    expect_number(TSR_NUMBERING_RENAISSANCE, 2, TSR_I8);
    expect_number(TSR_NUMBERING_RENAISSANCE, 3, TSR_I32);
}

static int64_t dl(int code, int bits, int lanes) { return code | (int64_t)bits << 8 | (int64_t)lanes << 16; }

TEST(test_dtype_dlpack_numbers_are_dldatatype_in_memory)
{
    static const struct { int code, bits; tsr_dtype dtype; } all[] = {
        { 6, 8, TSR_BOOL }, { 0, 8, TSR_I8 }, { 0, 16, TSR_I16 }, { 0, 32, TSR_I32 }, { 0, 64, TSR_I64 },
        { 1, 8, TSR_U8 }, { 1, 16, TSR_U16 }, { 1, 32, TSR_U32 }, { 1, 64, TSR_U64 },
        { 10, 8, TSR_F8E4M3 }, { 12, 8, TSR_F8E5M2 }, { 2, 16, TSR_F16 }, { 4, 16, TSR_BF16 },
        { 2, 32, TSR_F32 }, { 2, 64, TSR_F64 }, { 5, 32, TSR_C32 }, { 5, 64, TSR_C64 }, { 5, 128, TSR_C128 },
    };
    EXPECT(sizeof all / sizeof *all == TSR_DTYPE_COUNT - 1);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct { uint8_t code, bits; uint16_t lanes; } raw = { 0, 0, 1 };
        uint32_t word;
        raw.code = (uint8_t)all[i].code;
        raw.bits = (uint8_t)all[i].bits;
        memcpy(&word, &raw, sizeof word);
        expect_number(TSR_NUMBERING_DLPACK, dl(all[i].code, all[i].bits, 1), all[i].dtype);
        expect_number(TSR_NUMBERING_DLPACK, (int64_t)word, all[i].dtype);
    }
}

TEST(test_dtype_numbers_come_back)
{
    for (int system = 0; system < TSR_NUMBERING_COUNT; system++)
        for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
            int64_t number = -77;
            const tsr_status s = tsr_dtype_to_number(&number, (tsr_numbering)system, (tsr_dtype)d);
            if (s == TSR_OK) expect_number((tsr_numbering)system, number, (tsr_dtype)d);
            else EXPECT(s == TSR_EDTYPE && number == -77);
        }
    int64_t number = 0;
    EXPECT_OK(tsr_dtype_to_number(&number, TSR_NUMBERING_INFINIOP, TSR_U8));
    EXPECT(number == 7);
}

static int written(tsr_numbering system)
{
    int n = 0;
    int64_t number;
    for (int d = 1; d < TSR_DTYPE_COUNT; d++)
        if (tsr_dtype_to_number(&number, system, (tsr_dtype)d) == TSR_OK) n++;
    return n;
}

TEST(test_dtype_numbers_cover_what_each_system_has)
{
    EXPECT(written(TSR_NUMBERING_INFINIOP) == 17);   /* all but f8e5m2 */
    EXPECT(written(TSR_NUMBERING_LLAISYS) == 17);
    EXPECT(written(TSR_NUMBERING_MXBASE) == 12);
    EXPECT(written(TSR_NUMBERING_RENAISSANCE) == 3);
    EXPECT(written(TSR_NUMBERING_DLPACK) == 18);
}

TEST(test_dtype_numbers_without_a_dtype_are_refused)
{
    static const struct { tsr_numbering system; int64_t number; } bad[] = {
        { TSR_NUMBERING_INFINIOP, 0 }, { TSR_NUMBERING_INFINIOP, 15 }, { TSR_NUMBERING_INFINIOP, 20 },
        { TSR_NUMBERING_INFINIOP, -1 }, { TSR_NUMBERING_INFINIOP, INT64_MAX }, { TSR_NUMBERING_LLAISYS, 15 },
        { TSR_NUMBERING_MXBASE, -1 }, { TSR_NUMBERING_MXBASE, 5 }, { TSR_NUMBERING_MXBASE, 13 },
        { TSR_NUMBERING_MXBASE, INT64_MIN }, { TSR_NUMBERING_RENAISSANCE, 0 },
        { TSR_NUMBERING_RENAISSANCE, 4 }, { TSR_NUMBERING_DLPACK, 0 }, { TSR_NUMBERING_DLPACK, -1 },
        { TSR_NUMBERING_DLPACK, INT64_MAX },
        { TSR_NUMBERING_DLPACK, (int64_t)1 << 32 | 2 | 32 << 8 | 1 << 16 },
    };
    tsr_dtype out = TSR_U16;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        EXPECT_FAILS(tsr_dtype_from_number(&out, bad[i].system, bad[i].number), TSR_EDTYPE,
                     "dtype_from_number");
    EXPECT_FAILS(tsr_dtype_from_number(&out, TSR_NUMBERING_MXBASE, 5), TSR_EDTYPE, "MxBase number 5");
    EXPECT_FAILS(tsr_dtype_from_number(&out, TSR_NUMBERING_DLPACK, dl(2, 32, 4)), TSR_EDTYPE,
                 "code 2 with 32 bits and 4 lanes");
    EXPECT_FAILS(tsr_dtype_from_number(&out, TSR_NUMBERING_DLPACK, dl(8, 8, 1)), TSR_EDTYPE, "code 8");
    EXPECT_FAILS(tsr_dtype_from_number(&out, TSR_NUMBERING_DLPACK, dl(0, 4, 1)), TSR_EDTYPE, "4 bits");
    EXPECT_FAILS(tsr_dtype_from_number(&out, TSR_NUMBERING_COUNT, 1), TSR_EINVAL, "no tsr_numbering");
    EXPECT_FAILS(tsr_dtype_from_number(&out, (tsr_numbering)-1, 1), TSR_EINVAL, "no tsr_numbering");
    EXPECT_FAILS(tsr_dtype_from_number(NULL, TSR_NUMBERING_MXBASE, 1), TSR_ENULL, "out is NULL");
    EXPECT(out == TSR_U16);
}

TEST(test_dtype_without_a_number_there_is_refused)
{
    int64_t out = -9;
    EXPECT_FAILS(tsr_dtype_to_number(&out, TSR_NUMBERING_INFINIOP, TSR_F8E5M2), TSR_EDTYPE,
                 "InfiniOP has no number for f8e5m2");
    EXPECT_FAILS(tsr_dtype_to_number(&out, TSR_NUMBERING_MXBASE, TSR_BF16), TSR_EDTYPE,
                 "MxBase has no number for bf16");
    EXPECT_FAILS(tsr_dtype_to_number(&out, TSR_NUMBERING_RENAISSANCE, TSR_F64), TSR_EDTYPE, "f64");
    EXPECT_FAILS(tsr_dtype_to_number(&out, TSR_NUMBERING_COUNT, TSR_F64), TSR_EINVAL, "no tsr_numbering");
    EXPECT_FAILS(tsr_dtype_to_number(NULL, TSR_NUMBERING_MXBASE, TSR_F64), TSR_ENULL, "out is NULL");
    for (int i = 0; i < WRONG; i++)
        for (int system = 0; system < TSR_NUMBERING_COUNT; system++)
            EXPECT_FAILS(tsr_dtype_to_number(&out, (tsr_numbering)system, wrong[i]), TSR_EDTYPE,
                         "is no dtype");
    EXPECT(out == -9);
}

/* Type strings ------------------------------------------------------------------------------ */

static const struct { const char *text; tsr_dtype dtype; } typestrs[] = {
    { "|b1", TSR_BOOL }, { "|i1", TSR_I8 }, { "<i2", TSR_I16 }, { "<i4", TSR_I32 }, { "<i8", TSR_I64 },
    { "|u1", TSR_U8 }, { "<u2", TSR_U16 }, { "<u4", TSR_U32 }, { "<u8", TSR_U64 }, { "<f2", TSR_F16 },
    { "<f4", TSR_F32 }, { "<f8", TSR_F64 }, { "<c8", TSR_C64 }, { "<c16", TSR_C128 },
};

TEST(test_dtype_typestrs_are_numpys)
{
    for (size_t i = 0; i < sizeof typestrs / sizeof *typestrs; i++) {
        char text[8] = "";
        EXPECT_OK(tsr_dtype_to_typestr(text, typestrs[i].dtype));
        EXPECT_MSG(strcmp(text, typestrs[i].text) == 0, "%s is \"%s\"", tsr_dtype_name(typestrs[i].dtype),
                   text);
    }
}

TEST(test_dtype_typestrs_are_read_in_native_order_only)
{
    for (size_t i = 0; i < sizeof typestrs / sizeof *typestrs; i++)
        for (const char *order = "<=|>"; *order; order++) {
            char text[8] = "";
            tsr_dtype got = TSR_DTYPE_INVALID;
            text[0] = *order;
            strcpy(text + 1, typestrs[i].text + 1);
            if (*order == '>' && tsr_dtype_size(typestrs[i].dtype) > 1) {
                EXPECT_FAILS(tsr_dtype_from_typestr(&got, text), TSR_EUNSUPPORTED, "big-endian");
                EXPECT(got == TSR_DTYPE_INVALID);
            } else {
                EXPECT_OK(tsr_dtype_from_typestr(&got, text));
                EXPECT_MSG(got == typestrs[i].dtype, "\"%s\" reads as %s", text, tsr_dtype_name(got));
            }
        }
}

TEST(test_dtype_typestrs_of_other_types_are_refused)
{
    static const char *const words[] = {
        "", "<", "f4", "<f", "<f3", "<f16", "<c4", "<V2", "|V1", "<M8", "|S8", "<U4", "|O8", "<f4 ", "<f04",
        "<f44", "!f4", "<F4", "<b2", "|b", ">V2", ">f16",
    };
    static const tsr_dtype none[] = { TSR_BF16, TSR_F8E4M3, TSR_F8E5M2, TSR_C32 };
    char text[8] = "kept";
    tsr_dtype out = TSR_U16;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        EXPECT_FAILS(tsr_dtype_from_typestr(&out, words[i]), TSR_EDTYPE, "dtype_from_typestr");
    EXPECT_FAILS(tsr_dtype_from_typestr(&out, NULL), TSR_ENULL, "typestr is NULL");
    EXPECT_FAILS(tsr_dtype_from_typestr(NULL, "<f4"), TSR_ENULL, "out is NULL");
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        EXPECT_FAILS(tsr_dtype_to_typestr(text, none[i]), TSR_EDTYPE, tsr_dtype_name(none[i]));
    for (int i = 0; i < WRONG; i++)
        EXPECT_FAILS(tsr_dtype_to_typestr(text, wrong[i]), TSR_EDTYPE, "no dtype");
    EXPECT_FAILS(tsr_dtype_to_typestr(NULL, TSR_F32), TSR_ENULL, "out is NULL");
    EXPECT(out == TSR_U16 && strcmp(text, "kept") == 0);
}
