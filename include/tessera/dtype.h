/* dtype.h - what an element is.
 *
 * Eighteen element types, from one list (dtype.def). Integers are two's
 * complement; f16, f32 and f64 are IEEE 754; bf16 is the upper half of an f32;
 * f8e5m2 is the upper half of an f16; f8e4m3 is the OCP format without
 * infinities ("fn", largest value 448, one NaN pattern per sign). Complex types
 * are real part, then imaginary part. A bool is one byte, 0 or 1.
 *
 * Conversion between any two dtypes follows one set of rules, here and in every
 * kernel:
 *
 *   to a float       round to nearest, ties to even, straight from the source
 *                    value (never rounded twice). What is too large becomes
 *                    infinity; f8e4m3 has none, so there it becomes NaN. NaN
 *                    stays NaN with its sign, and becomes quiet. A value that
 *                    keeps its format (f32 to c64) keeps its bits.
 *   float to integer truncate toward zero; what is out of range saturates to
 *                    the nearest end; NaN becomes 0.
 *   integer to integer
 *                    keep the low bits (two's complement wrap).
 *   to bool          true exactly if not zero; NaN is true.
 *   complex to real  drop the imaginary part. To bool: true if either is not 0.
 *   real to complex  imaginary part +0.
 */
#ifndef TESSERA_DTYPE_H
#define TESSERA_DTYPE_H

#include "status.h"

TSR_BEGIN_C

/* Complex elements as they are in memory. c32 holds two f16 patterns. */
typedef struct tsr_c32  { uint16_t re, im; } tsr_c32;
typedef struct tsr_c64  { float    re, im; } tsr_c64;
typedef struct tsr_c128 { double   re, im; } tsr_c128;

typedef enum tsr_dtype {
    TSR_DTYPE_INVALID = 0, /* so that zeroed memory is "no tensor" */
#define X(ID, suffix, S, kind, name) TSR_##ID,
#include "dtype.def"
#undef X
    TSR_DTYPE_COUNT,       /* valid dtypes are 1 .. TSR_DTYPE_COUNT - 1 */
    TSR_DTYPE_MAX_ = 0x7fffffff
} tsr_dtype;

typedef enum tsr_kind {
    TSR_KIND_INVALID = 0,
    TSR_BOOLEAN,
    TSR_SIGNED,
    TSR_UNSIGNED,
    TSR_FLOATING,
    TSR_COMPLEX,
    TSR_KIND_MAX_ = 0x7fffffff
} tsr_kind;

/* Queries return 0, TSR_KIND_INVALID or "invalid" for what is no dtype. */
TSR_API bool        tsr_dtype_is_valid(tsr_dtype dtype);
TSR_API size_t      tsr_dtype_size(tsr_dtype dtype);      /* bytes of one element */
TSR_API const char *tsr_dtype_name(tsr_dtype dtype);      /* "f32" */
TSR_API const char *tsr_dtype_long_name(tsr_dtype dtype); /* "float32", as NumPy and ml_dtypes say */
TSR_API tsr_kind    tsr_dtype_kind(tsr_dtype dtype);
TSR_API const char *tsr_kind_name(tsr_kind kind);         /* "floating" */

/* The dtype of a complex dtype's parts (c64: f32); the dtype itself otherwise. */
TSR_API tsr_dtype tsr_dtype_real(tsr_dtype dtype);

/* Reads a short or long name ("f32", "float32"), or a common alias ("float",
 * "double", "half", "int", "long", "byte", "float8_e4m3"; docs/concepts/dtypes.md
 * lists them). Letter case does not matter. TSR_EDTYPE if it is none of these. */
TSR_API TSR_MUST_CHECK tsr_status tsr_dtype_parse(tsr_dtype *out, const char *name);

/* What a and b together compute in: the Python array API standard's table,
 * with f16 and bf16 giving f32, an f8 with a wider float giving that float, the
 * two f8s giving f16, and c32 with f16 or an f8 giving c32. TSR_EDTYPE where kinds mix
 * (an integer with a float, bool with a number) or no dtype holds both (u64 with
 * a signed integer). The order of operands never matters, and the grouping of
 * three matters only for the two f8s with bf16. */
TSR_API TSR_MUST_CHECK tsr_status tsr_dtype_promote(tsr_dtype *out, tsr_dtype a, tsr_dtype b);

/* What happens where kinds mix, for calls of this thread. TSR_PROMOTE_STANDARD, at first: an error, as above.
 * TSR_PROMOTE_MIXED: NumPy's rules. Bool with a number gives that number's dtype; an integer with a float or
 * a complex number is first converted to tsr_dtype_floating of it; u64 with a signed integer is f64. Ops that
 * take no integers compute in tsr_dtype_floating of them, div in f64; a number that does not fit
 * (TSR_NUMBER(0.5) with i32) counts as a float too. TSR_EINVAL. */
typedef enum tsr_promotion {
    TSR_PROMOTE_STANDARD = 0, TSR_PROMOTE_MIXED,
    TSR_PROMOTE_MAX_ = 0x7fffffff
} tsr_promotion;

TSR_API TSR_MUST_CHECK tsr_status tsr_set_promotion(tsr_promotion rule);
TSR_API tsr_promotion             tsr_get_promotion(void);

/* The float for integers and bool: f16 for one byte, f32 for two, f64 for more. Others are as they are. */
TSR_API tsr_dtype tsr_dtype_floating(tsr_dtype dtype);

/* Numberings of other systems ------------------------------------------------
 *
 * Each map has a "from" that fails with TSR_EDTYPE and words where the other
 * system's number has no dtype here, and a "to" that does so where it has none
 * there. TSR_EINVAL for what is no tsr_numbering. */
typedef enum tsr_numbering {
    TSR_NUMBERING_INFINIOP = 0,   /* infiniDtype_t, 0..19; LLAISYS uses the same numbers */
    TSR_NUMBERING_LLAISYS,
    TSR_NUMBERING_MXBASE,         /* TensorDataType, -1..12 */
    TSR_NUMBERING_RENAISSANCE,    /* tr::DType, FP32 1, INT8 2, INT32 3 */
    TSR_NUMBERING_DLPACK,         /* code | bits << 8 | lanes << 16, as DLDataType lies in memory */
    TSR_NUMBERING_COUNT,
    TSR_NUMBERING_MAX_ = 0x7fffffff
} tsr_numbering;

TSR_API TSR_MUST_CHECK tsr_status tsr_dtype_from_number(tsr_dtype *out, tsr_numbering system, int64_t number);
TSR_API TSR_MUST_CHECK tsr_status tsr_dtype_to_number(int64_t *out, tsr_numbering system, tsr_dtype dtype);

/* NumPy's array-interface type string: "<f4", "|b1", "<c8". Reading accepts '<',
 * '=', '|' and, for one-byte types, '>'; a big-endian type is TSR_EUNSUPPORTED.
 * For what NumPy lacks there is no agreed text (ml_dtypes' bf16 shows as "<V2",
 * which says only "two bytes"), so bf16, the f8s and c32 are TSR_EDTYPE here. */
TSR_API TSR_MUST_CHECK tsr_status tsr_dtype_from_typestr(tsr_dtype *out, const char *typestr);
TSR_API TSR_MUST_CHECK tsr_status tsr_dtype_to_typestr(char out[8], tsr_dtype dtype);

/* Short floats, one value at a time ------------------------------------------
 *
 * The patterns are held in unsigned integers. Rounding is to nearest even,
 * subnormals are kept, and nothing depends on the machine's rounding mode. The
 * _sat forms give the largest finite value where the plain ones give infinity, or
 * NaN for what is no NaN (so an infinity saturates too); NaN itself stays NaN. */
TSR_API float    tsr_f16_to_f32(uint16_t bits);
TSR_API float    tsr_bf16_to_f32(uint16_t bits);
TSR_API float    tsr_f8e4m3_to_f32(uint8_t bits);
TSR_API float    tsr_f8e5m2_to_f32(uint8_t bits);
TSR_API uint16_t tsr_f32_to_f16(float value);
TSR_API uint16_t tsr_f32_to_bf16(float value);
TSR_API uint8_t  tsr_f32_to_f8e4m3(float value);
TSR_API uint8_t  tsr_f32_to_f8e5m2(float value);
TSR_API uint16_t tsr_f64_to_f16(double value);
TSR_API uint16_t tsr_f64_to_bf16(double value);
TSR_API uint8_t  tsr_f64_to_f8e4m3(double value);
TSR_API uint8_t  tsr_f64_to_f8e5m2(double value);
TSR_API uint16_t tsr_f32_to_f16_sat(float value);
TSR_API uint16_t tsr_f32_to_bf16_sat(float value);
TSR_API uint8_t  tsr_f32_to_f8e4m3_sat(float value);
TSR_API uint8_t  tsr_f32_to_f8e5m2_sat(float value);

TSR_END_C

#endif
