/* dtype_map.c - dtypes under other names: words, other systems' numbers, and
 * NumPy's type strings.
 */
#include "mem.h"
#include "status_int.h"
#include "tessera/dtype.h"

/* Words ----------------------------------------------------------------------- */

/* What C, NumPy, PyTorch, safetensors and GGUF say beside the two names that every
 * dtype has. A word that two of them understand differently ("uint", "complex")
 * is left out; where one meaning prevails ("int", "long", "byte") it is C's or
 * PyTorch's. */
static const struct { const char *word; tsr_dtype dtype; } alias[] = {
    { "boolean", TSR_BOOL },
    { "char", TSR_I8 },           { "short", TSR_I16 },
    { "int", TSR_I32 },           { "long", TSR_I64 },
    { "byte", TSR_U8 },           { "ubyte", TSR_U8 },
    { "ushort", TSR_U16 },        { "ulong", TSR_U64 },
    { "half", TSR_F16 },          { "fp16", TSR_F16 },
    { "bfloat", TSR_BF16 },
    { "float", TSR_F32 },         { "single", TSR_F32 },      { "fp32", TSR_F32 },
    { "double", TSR_F64 },        { "fp64", TSR_F64 },
    { "float8_e4m3", TSR_F8E4M3 }, { "f8_e4m3", TSR_F8E4M3 }, { "fp8_e4m3", TSR_F8E4M3 },
    { "f8e4m3fn", TSR_F8E4M3 },
    { "f8_e5m2", TSR_F8E5M2 },    { "fp8_e5m2", TSR_F8E5M2 },
    { "chalf", TSR_C32 },         { "cfloat", TSR_C64 },      { "cdouble", TSR_C128 },
};

/* ASCII only: the words are, and a locale must not decide. */
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool same_word(const char *a, const char *b)
{
    while (*a && lower(*a) == lower(*b)) { a++; b++; }
    return lower(*a) == lower(*b);
}

static tsr_dtype dtype_of_word(const char *word)
{
    for (int d = 1; d < TSR_DTYPE_COUNT; d++)
        if (same_word(word, tsr_dtype_name((tsr_dtype)d)) ||
            same_word(word, tsr_dtype_long_name((tsr_dtype)d)))
            return (tsr_dtype)d;
    for (size_t i = 0; i < sizeof alias / sizeof *alias; i++)
        if (same_word(word, alias[i].word)) return alias[i].dtype;
    return TSR_DTYPE_INVALID;
}

tsr_status tsr_dtype_parse(tsr_dtype *out, const char *name)
{
    TSRI_CHECK(out, TSR_ENULL, "dtype_parse: out is NULL");
    TSRI_CHECK(name, TSR_ENULL, "dtype_parse: name is NULL");
    const tsr_dtype dtype = dtype_of_word(name);
    TSRI_CHECK(dtype != TSR_DTYPE_INVALID, TSR_EDTYPE, "dtype_parse: \"%.40s\" is no dtype's name", name);
    *out = dtype;
    return TSR_OK;
}

/* Numbers --------------------------------------------------------------------- */

/* Indexed by the other system's number. Where two numbers mean one dtype, the
 * higher is the one written: InfiniOP's BYTE, 1, reads as its U8, 7. */
static const uint8_t infiniop[] = {
    [1] = TSR_U8,    [2] = TSR_BOOL,
    [3] = TSR_I8,    [4] = TSR_I16,  [5] = TSR_I32,  [6] = TSR_I64,
    [7] = TSR_U8,    [8] = TSR_U16,  [9] = TSR_U32,  [10] = TSR_U64,
    [11] = TSR_F8E4M3, [12] = TSR_F16, [13] = TSR_F32, [14] = TSR_F64,
    [16] = TSR_C32,  [17] = TSR_C64, [18] = TSR_C128, /* 15, complex of two f8, has no dtype here */
    [19] = TSR_BF16,
};

static const uint8_t mxbase[] = {
    [0] = TSR_F32,   [1] = TSR_F16,  [2] = TSR_I8,   [3] = TSR_I32,  [4] = TSR_U8,
    [6] = TSR_I16,   [7] = TSR_U16,  [8] = TSR_U32,  [9] = TSR_I64,  [10] = TSR_U64,
    [11] = TSR_F64,  [12] = TSR_BOOL,
};

static const uint8_t renaissance[] = { [1] = TSR_F32, [2] = TSR_I8, [3] = TSR_I32 };

/* In the order of tsr_numbering; DLPack computes its numbers. */
static const struct { const char *name; const uint8_t *dtype; int64_t count; } numbering[] = {
    { "InfiniOP",         infiniop,    sizeof infiniop },
    { "LLAISYS",          infiniop,    sizeof infiniop },
    { "MxBase",           mxbase,      sizeof mxbase },
    { "Tech Renaissance", renaissance, sizeof renaissance },
    { "DLPack",           NULL,        0 },
};

enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_COMPLEX = 5, DL_BOOL = 6 };

static int dlpack_code(tsr_dtype dtype)
{
    switch (dtype) {
#define X(ID, suffix, S, mant, exp, inf, dlpack) case TSR_##ID: return dlpack;
#include "short_floats.def"
#undef X
    default: break;
    }
    switch (tsr_dtype_kind(dtype)) {
    case TSR_BOOLEAN:  return DL_BOOL;
    case TSR_SIGNED:   return DL_INT;
    case TSR_UNSIGNED: return DL_UINT;
    case TSR_FLOATING: return DL_FLOAT;
    default:           return DL_COMPLEX;
    }
}

/* code | bits << 8 | lanes << 16, with one lane. */
static int64_t dlpack_number(tsr_dtype dtype)
{
    return dlpack_code(dtype) | (int64_t)tsr_dtype_size(dtype) * 8 << 8 | (int64_t)1 << 16;
}

static tsr_status from_dlpack(tsr_dtype *out, int64_t number)
{
    for (int d = 1; d < TSR_DTYPE_COUNT; d++)
        if (dlpack_number((tsr_dtype)d) == number) {
            *out = (tsr_dtype)d;
            return TSR_OK;
        }
    TSRI_CHECK(number >= 0 && number <= UINT32_MAX, TSR_EDTYPE,
               "dtype_from_number: %lld is no DLDataType, which has 32 bits", (long long)number);
    return tsri_fail(TSR_EDTYPE,
                     "dtype_from_number: DLPack code %d with %d bits and %d lanes has no dtype here",
                     (int)(number & 0xff), (int)(number >> 8 & 0xff), (int)(number >> 16));
}

/* The number that is written for a dtype, or -1. */
static int64_t number_of(tsr_numbering system, tsr_dtype dtype)
{
    if (system == TSR_NUMBERING_DLPACK) return dlpack_number(dtype);
    for (int64_t n = numbering[system].count - 1; n >= 0; n--)
        if (numbering[system].dtype[n] == dtype) return n;
    return -1;
}

static bool is_numbering(tsr_numbering system) { return (unsigned)system < (unsigned)TSR_NUMBERING_COUNT; }

tsr_status tsr_dtype_from_number(tsr_dtype *out, tsr_numbering system, int64_t number)
{
    TSRI_CHECK(out, TSR_ENULL, "dtype_from_number: out is NULL");
    TSRI_CHECK(is_numbering(system), TSR_EINVAL, "dtype_from_number: system is %d, which is no tsr_numbering",
               (int)system);
    if (system == TSR_NUMBERING_DLPACK) return from_dlpack(out, number);
    const bool known = number >= 0 && number < numbering[system].count;
    const tsr_dtype dtype = known ? (tsr_dtype)numbering[system].dtype[number] : TSR_DTYPE_INVALID;
    TSRI_CHECK(dtype != TSR_DTYPE_INVALID, TSR_EDTYPE, "dtype_from_number: %s number %lld has no dtype here",
               numbering[system].name, (long long)number);
    *out = dtype;
    return TSR_OK;
}

tsr_status tsr_dtype_to_number(int64_t *out, tsr_numbering system, tsr_dtype dtype)
{
    TSRI_CHECK(out, TSR_ENULL, "dtype_to_number: out is NULL");
    TSRI_CHECK(is_numbering(system), TSR_EINVAL, "dtype_to_number: system is %d, which is no tsr_numbering",
               (int)system);
    TSRI_CHECK(tsr_dtype_is_valid(dtype), TSR_EDTYPE, "dtype_to_number: %d is no dtype", (int)dtype);
    const int64_t number = number_of(system, dtype);
    TSRI_CHECK(number >= 0, TSR_EDTYPE, "dtype_to_number: %s has no number for %s", numbering[system].name,
               tsr_dtype_name(dtype));
    *out = number;
    return TSR_OK;
}

/* Type strings: byte order, kind letter, bytes ----------------------------------- */

/* 0 for a dtype that NumPy itself does not have. */
static char kind_letter(tsr_dtype dtype)
{
    const tsr_kind kind = tsr_dtype_kind(dtype);
    if (kind == TSR_FLOATING && tsr_dtype_size(dtype) == 1) return 0;
    if (dtype == TSR_BF16 || dtype == TSR_C32) return 0;
    switch (kind) {
    case TSR_BOOLEAN:  return 'b';
    case TSR_SIGNED:   return 'i';
    case TSR_UNSIGNED: return 'u';
    case TSR_FLOATING: return 'f';
    default:           return 'c';
    }
}

/* dtype is one that NumPy has. */
static void write_typestr(char out[8], tsr_dtype dtype)
{
    const size_t size = tsr_dtype_size(dtype);
    size_t n = 0;
    out[n++] = size == 1 ? '|' : '<';
    out[n++] = kind_letter(dtype);
    if (size >= 10) out[n++] = (char)('0' + size / 10);
    out[n++] = (char)('0' + size % 10);
    out[n] = '\0';
}

tsr_status tsr_dtype_to_typestr(char out[8], tsr_dtype dtype)
{
    TSRI_CHECK(out, TSR_ENULL, "dtype_to_typestr: out is NULL");
    TSRI_CHECK(tsr_dtype_is_valid(dtype), TSR_EDTYPE, "dtype_to_typestr: %d is no dtype", (int)dtype);
    TSRI_CHECK(kind_letter(dtype), TSR_EDTYPE, "dtype_to_typestr: NumPy has no type string for %s",
               tsr_dtype_name(dtype));
    write_typestr(out, dtype);
    return TSR_OK;
}

static tsr_dtype dtype_of_typestr(const char *letter_and_size)
{
    for (int d = 1; d < TSR_DTYPE_COUNT; d++) {
        char text[8];
        if (!kind_letter((tsr_dtype)d)) continue;
        write_typestr(text, (tsr_dtype)d);
        if (tsri_streq(text + 1, letter_and_size)) return (tsr_dtype)d;
    }
    return TSR_DTYPE_INVALID;
}

tsr_status tsr_dtype_from_typestr(tsr_dtype *out, const char *typestr)
{
    TSRI_CHECK(out, TSR_ENULL, "dtype_from_typestr: out is NULL");
    TSRI_CHECK(typestr, TSR_ENULL, "dtype_from_typestr: typestr is NULL");
    const char order = typestr[0];
    TSRI_CHECK(order == '<' || order == '=' || order == '|' || order == '>', TSR_EDTYPE,
               "dtype_from_typestr: \"%.40s\" does not begin with a byte order (one of < > = |)", typestr);
    const tsr_dtype dtype = dtype_of_typestr(typestr + 1);
    TSRI_CHECK(dtype != TSR_DTYPE_INVALID, TSR_EDTYPE, "dtype_from_typestr: \"%.40s\" has no dtype here",
               typestr);
    TSRI_CHECK(order != '>' || tsr_dtype_size(dtype) == 1, TSR_EUNSUPPORTED,
               "dtype_from_typestr: \"%s\" is big-endian; swap the bytes and say \"<%s\"", typestr,
               typestr + 1);
    *out = dtype;
    return TSR_OK;
}
