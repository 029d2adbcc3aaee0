/* pack.c - packs operands of any dtype and strides into panels, and stores tiles of sums. */
#include "core/half.h"
#include "core/status_int.h"
#include "gemm.h"

#define TEMPLATE "cpu/gemm/dtype_float.inc"
#include "cpu/template/each_float.inc"
#undef TEMPLATE
#define TEMPLATE "cpu/gemm/dtype_integer.inc"
#include "cpu/template/each_integer.inc"
#undef TEMPLATE
#define TEMPLATE "cpu/gemm/dtype_complex.inc"
#include "cpu/template/each_complex.inc"
#undef TEMPLATE

#define ROW(suffix, cls, native) \
    { TSRI_GEMM_##cls, native, ISA(pack_##suffix), ISA(store_##suffix), ISA(rows_##suffix), NULL }

const tsri_gemm_dtype tsri_gemm_dtypes[TSR_DTYPE_COUNT] = {
#define X(ID, suffix, S, mant, exp, inf, dlpack) [TSR_##ID] = ROW(suffix, F32, false),
#include "core/short_floats.def"
#undef X
    [TSR_F32] = ROW(f32, F32, true),        [TSR_F64] = ROW(f64, F64, true),
    [TSR_I8] = ROW(i8, I16, false),         [TSR_U8] = ROW(u8, I16, false),
    [TSR_I16] = ROW(i16, I16, false),       [TSR_U16] = ROW(u16, I16, false),
    [TSR_I32] = ROW(i32, U32, true),        [TSR_U32] = ROW(u32, U32, true),
    [TSR_I64] = ROW(i64, U64, true),        [TSR_U64] = ROW(u64, U64, true),
    [TSR_C64] = ROW(c64, C64, false),       [TSR_C128] = ROW(c128, C128, false),
};
