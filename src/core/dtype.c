/* dtype.c - the table of element types, and what two of them compute in.
 *
 * The table comes from dtype.def. Row 0 stands for everything that is no dtype,
 * so the queries need no second path.
 */
#include "dtype_int.h"
#include "half.h"
#include "memory_int.h"
#include "status_int.h"
#include "tessera/dtype.h"

typedef struct info {
    uint8_t     size;
    uint8_t     kind;
    const char *name;
    const char *long_name;
} info;

static const info table[TSR_DTYPE_COUNT] = {
    { 0, TSR_KIND_INVALID, "invalid", "invalid" },
#define X(ID, suffix, S, kind, long_name) { sizeof(S), TSR_##kind, #suffix, long_name },
#include "tessera/dtype.def"
#undef X
};

const uint8_t tsri_dtype_sizes[TSR_DTYPE_COUNT] = {
    0,
#define X(ID, suffix, S, kind, long_name) sizeof(S),
#include "tessera/dtype.def"
#undef X
};

static const info *row(tsr_dtype dtype) { return &table[tsri_dtype_is_valid(dtype) ? dtype : 0]; }

bool tsr_dtype_is_valid(tsr_dtype dtype) { return tsri_dtype_is_valid(dtype); }

size_t      tsr_dtype_size(tsr_dtype dtype)      { return row(dtype)->size; }
const char *tsr_dtype_name(tsr_dtype dtype)      { return row(dtype)->name; }
const char *tsr_dtype_long_name(tsr_dtype dtype) { return row(dtype)->long_name; }
tsr_kind    tsr_dtype_kind(tsr_dtype dtype)      { return (tsr_kind)row(dtype)->kind; }

const char *tsr_kind_name(tsr_kind kind)
{
    static const char *const name[] = { "invalid", "boolean", "signed", "unsigned", "floating", "complex" };
    return name[(unsigned)kind < sizeof name / sizeof *name ? kind : 0];
}

tsr_dtype tsr_dtype_real(tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_C32:  return TSR_F16;
    case TSR_C64:  return TSR_F32;
    case TSR_C128: return TSR_F64;
    default:       return tsr_dtype_is_valid(dtype) ? dtype : TSR_DTYPE_INVALID;
    }
}

/* Promotion ------------------------------------------------------------------ */

/* The integer of this kind and size. */
static tsr_dtype integer_of(tsr_kind kind, size_t size)
{
    for (int d = TSR_I8; d <= TSR_U64; d++)
        if (table[d].kind == kind && table[d].size == size) return (tsr_dtype)d;
    return TSR_DTYPE_INVALID;
}

static tsr_dtype wider(tsr_dtype a, tsr_dtype b) { return table[a].size >= table[b].size ? a : b; }

/* Signed with unsigned: a signed type that holds both; there is none for u64. */
static tsr_dtype promote_integers(tsr_dtype a, tsr_dtype b)
{
    if (table[a].kind == table[b].kind) return wider(a, b);
    const tsr_dtype s = table[a].kind == TSR_SIGNED ? a : b;
    const tsr_dtype u = table[a].kind == TSR_SIGNED ? b : a;
    return table[s].size > table[u].size ? s : integer_of(TSR_SIGNED, 2u * table[u].size);
}

/* Floats of one size and two formats meet in the next format that holds both. */
static tsr_dtype promote_floats(tsr_dtype a, tsr_dtype b)
{
    if (a == b) return a;
    if (table[a].size != table[b].size) return wider(a, b);
    return table[a].size == 1 ? TSR_F16 : TSR_F32;
}

/* The parts are promoted as floats. No complex dtype has parts of bf16; f8 is promoted to parts of f16. */
static tsr_dtype promote_complex(tsr_dtype a, tsr_dtype b)
{
    switch (promote_floats(tsr_dtype_real(a), tsr_dtype_real(b))) {
    case TSR_F16: return TSR_C32;
    case TSR_F32: return TSR_C64;
    default:      return TSR_C128;
    }
}

static bool is_integer(tsr_dtype d) { return table[d].kind == TSR_SIGNED || table[d].kind == TSR_UNSIGNED; }
static bool is_inexact(tsr_dtype d) { return table[d].kind == TSR_FLOATING || table[d].kind == TSR_COMPLEX; }

/* TSR_DTYPE_INVALID where the table has none. */
static tsr_dtype promote_standard(tsr_dtype a, tsr_dtype b)
{
    if (a == b) return a;
    if (is_integer(a) && is_integer(b)) return promote_integers(a, b);
    if (!is_inexact(a) || !is_inexact(b)) return TSR_DTYPE_INVALID;
    if (table[a].kind == TSR_COMPLEX || table[b].kind == TSR_COMPLEX) return promote_complex(a, b);
    return promote_floats(a, b);
}

static tsr_dtype promote_mixed(tsr_dtype a, tsr_dtype b)
{
    if (table[a].kind == TSR_BOOLEAN) return b;
    if (table[b].kind == TSR_BOOLEAN) return a;
    if (is_integer(a) && is_integer(b)) return TSR_F64;
    return promote_standard(tsr_dtype_floating(a), tsr_dtype_floating(b));
}

static tsr_dtype promote(tsr_dtype a, tsr_dtype b)
{
    const tsr_dtype both = promote_standard(a, b);
    return both == TSR_DTYPE_INVALID && tsri_mine.mixes ? promote_mixed(a, b) : both;
}

tsr_dtype tsr_dtype_floating(tsr_dtype dtype)
{
    if (!tsr_dtype_is_valid(dtype) || is_inexact(dtype)) return dtype;
    return table[dtype].size == 1 ? TSR_F16 : table[dtype].size == 2 ? TSR_F32 : TSR_F64;
}

tsr_status tsr_set_promotion(tsr_promotion rule)
{
    TSRI_CHECK(rule == TSR_PROMOTE_STANDARD || rule == TSR_PROMOTE_MIXED, TSR_EINVAL,
               "set_promotion: %d is no rule", (int)rule);
    tsri_mine.mixes = rule == TSR_PROMOTE_MIXED;
    return TSR_OK;
}

tsr_promotion tsr_get_promotion(void) { return tsri_mine.mixes ? TSR_PROMOTE_MIXED : TSR_PROMOTE_STANDARD; }

tsr_status tsr_dtype_promote(tsr_dtype *out, tsr_dtype a, tsr_dtype b)
{
    TSRI_CHECK(out, TSR_ENULL, "dtype_promote: out is NULL");
    TSRI_CHECK(tsr_dtype_is_valid(a), TSR_EDTYPE, "dtype_promote: a is %d, which is no dtype", (int)a);
    TSRI_CHECK(tsr_dtype_is_valid(b), TSR_EDTYPE, "dtype_promote: b is %d, which is no dtype", (int)b);
    const tsr_dtype both = promote(a, b);
    TSRI_CHECK(both != TSR_DTYPE_INVALID || !is_integer(a) || !is_integer(b), TSR_EDTYPE,
               "dtype_promote: no integer holds both %s and %s; tsr_cast one of them to the other",
               tsr_dtype_name(a), tsr_dtype_name(b));
    TSRI_CHECK(both != TSR_DTYPE_INVALID, TSR_EDTYPE,
               "dtype_promote: %s (%s) and %s (%s) are of different kinds; tsr_cast one of them to the other",
               tsr_dtype_name(a), tsr_kind_name(tsr_dtype_kind(a)), tsr_dtype_name(b),
               tsr_kind_name(tsr_dtype_kind(b)));
    *out = both;
    return TSR_OK;
}

/* Short floats, one value at a time -------------------------------------------- */

#define X(ID, suffix, S, mant, exp, inf, dlpack)                                           \
    float tsr_##suffix##_to_f32(S bits)        { return tsri_##suffix##_to_f32(bits); }     \
    S     tsr_f32_to_##suffix(float value)     { return tsri_f32_to_##suffix(value); }      \
    S     tsr_f32_to_##suffix##_sat(float value) { return tsri_f32_to_##suffix##_sat(value); } \
    S     tsr_f64_to_##suffix(double value)    { return tsri_f64_to_##suffix(value); }
#include "short_floats.def"
#undef X
