/* hdf5_types.c - the dtype that a type of HDF5 is, if it is one (hdf5_int.h). bool and complex numbers are
 * as h5py has them. */
#include "hdf5_int.h"

enum { INTEGER = 0, FLOAT = 1, COMPOUND = 6, ENUM = 8, VARYING = 9 };

typedef struct front {
    unsigned kind, version;
    uint32_t bits, size;
} front;

static front take_front(tsri_hdf5_block *b)
{
    const unsigned head = (unsigned)tsri_block_take(b, 1);
    front t = { .kind = head & 15, .version = head >> 4, .bits = (uint32_t)tsri_block_take(b, 3) };
    t.size = (uint32_t)tsri_block_take(b, 4);
    return t;
}

static int log_size(uint32_t size)
{
    return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : -1;
}

/* Does the number use all bits of its bytes, from bit 0 on? */
static bool fills(tsri_hdf5_block *b, uint32_t size)
{
    const uint64_t offset = tsri_block_take(b, 2), precision = tsri_block_take(b, 2);
    return offset == 0 && precision == 8 * (uint64_t)size && !b->ended;
}

static tsr_dtype integer_type(const front *t, tsri_hdf5_block *b, bool *swapped)
{
    static const tsr_dtype dtypes[2][4] = { { TSR_U8, TSR_U16, TSR_U32, TSR_U64 },
                                            { TSR_I8, TSR_I16, TSR_I32, TSR_I64 } };
    const int log = log_size(t->size);
    *swapped = t->bits & 1;
    return fills(b, t->size) && log >= 0 ? dtypes[t->bits >> 3 & 1][log] : TSR_DTYPE_INVALID;
}

/* IEEE's layout: a sign, an exponent with half its range as bias, a mantissa without its first bit. */
static tsr_dtype float_type(const front *t, tsri_hdf5_block *b, bool *swapped)
{
    const bool whole = fills(b, t->size);
    const unsigned at = (unsigned)tsri_block_take(b, 1), exponent = (unsigned)tsri_block_take(b, 1);
    const unsigned low = (unsigned)tsri_block_take(b, 1), mantissa = (unsigned)tsri_block_take(b, 1);
    const uint64_t bias = tsri_block_take(b, 4);
    *swapped = t->bits & 1;
    if (!whole || b->ended || at != mantissa || low != 0 || exponent < 1 || exponent > 11 ||
        bias != (1u << (exponent - 1)) - 1 || t->bits & 64 || (t->bits >> 4 & 3) != 2 ||
        (t->bits >> 8 & 255) != 8 * t->size - 1)
        return TSR_DTYPE_INVALID;
    if (t->size == 2 && exponent == 5 && mantissa == 10) return TSR_F16;
    if (t->size == 2 && exponent == 8 && mantissa == 7) return TSR_BF16;
    if (t->size == 4 && exponent == 8 && mantissa == 23) return TSR_F32;
    if (t->size == 8 && exponent == 11 && mantissa == 52) return TSR_F64;
    return TSR_DTYPE_INVALID;
}

/* Does the next name say this? It ends with a zero; before version 3, zeros fill it up to 8 bytes. */
static bool take_name(tsri_hdf5_block *b, unsigned version, const char *name)
{
    const size_t n = tsri_strlen(name) + 1, from = b->at;
    tsri_block_skip(b, version < 3 ? (n + 7) / 8 * 8 : n);
    return !b->ended && memcmp(b->data + from, name, n) == 0;
}

/* FALSE and TRUE of a byte are bool. Other names stand for their numbers. */
static tsr_dtype enum_type(const front *t, tsri_hdf5_block *b, bool *swapped)
{
    const front base = take_front(b);
    const tsr_dtype dtype = base.kind == INTEGER && base.size == t->size ? integer_type(&base, b, swapped)
                                                                         : TSR_DTYPE_INVALID;
    const bool named = base.size == 1 && (t->bits & 0xFFFF) == 2 && take_name(b, t->version, "FALSE") &&
                       take_name(b, t->version, "TRUE");
    return dtype && named && tsri_block_take(b, 2) == 0x100 ? TSR_BOOL : dtype;
}

/* One of the parts r and i: where it lies, and its dtype. */
static tsr_dtype take_part(const front *t, tsri_hdf5_block *b, const char *name, uint64_t at, bool *swapped)
{
    if (!take_name(b, t->version, name)) return TSR_DTYPE_INVALID;
    const uint64_t offset = tsri_block_take(b, t->version < 3 ? 4 : 1); /* of as many bytes as the size */
    const uint64_t dims = t->version == 1 ? tsri_block_take(b, 1) : 0;
    if (t->version == 1) tsri_block_skip(b, 27);
    const front part = take_front(b);
    return offset == at && dims == 0 && part.kind == FLOAT ? float_type(&part, b, swapped)
                                                           : TSR_DTYPE_INVALID;
}

static tsr_dtype complex_type(const front *t, tsri_hdf5_block *b, bool *swapped)
{
    bool other = false;
    if ((t->bits & 0xFFFF) != 2 || (t->size != 8 && t->size != 16)) return TSR_DTYPE_INVALID;
    const tsr_dtype real = take_part(t, b, "r", 0, swapped);
    const tsr_dtype imaginary = real ? take_part(t, b, "i", t->size / 2, &other) : TSR_DTYPE_INVALID;
    if (!real || real != imaginary || *swapped != other) return TSR_DTYPE_INVALID;
    return real == TSR_F32 && t->size == 8    ? TSR_C64
           : real == TSR_F64 && t->size == 16 ? TSR_C128
                                              : TSR_DTYPE_INVALID;
}

/* What has no dtype, in words. */
static const char *other_type(const front *t)
{
    static const char *const names[] = {
        "an integer of unusual bits", "a float of unusual bits", "times",          "text",
        "bits",                       "opaque bytes",            "records",        "references",
        "an enumeration",             "lists of varying length", "arrays",
    };
    if (t->kind == VARYING && (t->bits & 15) == 1) return "text of varying length";
    return t->kind < sizeof names / sizeof *names ? names[t->kind] : "a type of HDF5";
}

tsri_hdf5_type tsri_hdf5_type_of(tsri_hdf5_block *b)
{
    const front t = take_front(b);
    bool swapped = false;
    const tsr_dtype dtype = t.kind == INTEGER    ? integer_type(&t, b, &swapped)
                            : t.kind == FLOAT    ? float_type(&t, b, &swapped)
                            : t.kind == ENUM     ? enum_type(&t, b, &swapped)
                            : t.kind == COMPOUND ? complex_type(&t, b, &swapped)
                                                 : TSR_DTYPE_INVALID;
    const char *encoding = dtype ? tsr_dtype_name(dtype) : other_type(&t);
    return (tsri_hdf5_type){ dtype, encoding, swapped, t.size };
}
