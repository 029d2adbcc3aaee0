/* quant.h - bytes that stand for numbers: (q - zero_point) * scale; and blocks of numbers of few bits.
 *
 * Rules for the whole header:
 *
 *   - Quantised tensors are i8 or u8. scale is floating; zero_point is i8, u8, i16 or
 *     i32, and NULL stands for 0.
 *   - Per tensor (axis TSR_ALL_AXES), scale has one element, of any rank. Per channel,
 *     it is a vector as long as x is along the axis. zero_point has as many elements as
 *     scale, or one.
 *   - What scales and zero points hold is not checked: a scale of 0 or NaN is divided
 *     by like any number.
 *   - Results that are allocated are contiguous; given ones may have any strides, and
 *     may overlap an operand.
 *
 * TSR_EDTYPE if a dtype is not taken; TSR_ESHAPE if shapes do not fit; TSR_EINDEX if there
 * is no such axis.
 */
#ifndef TESSERA_OPS_QUANT_H
#define TESSERA_OPS_QUANT_H

#include "../tensor.h"
#include "reduce.h" /* TSR_ALL_AXES */

TSR_BEGIN_C

/* x / scale, rounded to the nearest integer, halves to even, plus zero_point; what leaves
 * the dtype (i8 or u8) becomes its nearest end, and NaN becomes 0. The quotient is that
 * of f32, or of f64 if x or scale is; all after it is exact. */
TSR_API TSR_MUST_CHECK tsr_status tsr_quantise(tsr_tensor **out, const tsr_tensor *x, const tsr_tensor *scale,
                                               const tsr_tensor *zero_point, int axis, tsr_dtype dtype);

/* (x - zero_point) * scale, the difference exact and the product of f64, rounded once to
 * the dtype, which is floating. x is i8, u8, i16 or i32 (the sums of tsr_matmul_i8). */
TSR_API TSR_MUST_CHECK tsr_status tsr_dequantise(tsr_tensor **out, const tsr_tensor *x,
                                                 const tsr_tensor *scale, const tsr_tensor *zero_point,
                                                 int axis, tsr_dtype dtype);

/* The scale and zero point with which the dtype (i8 or u8) covers x: all of it, or each
 * index of the axis by itself. With low and high the smallest and largest of the finite
 * elements and 0,
 *
 *     scale = high / 255 - low / 255       zero_point = round(lowest of dtype - low / scale)
 *
 * or, if symmetric,
 *
 *     scale = max(-low, high) / 127        zero_point = 0 for i8, 128 for u8
 *
 * computed in f64. A scale that comes to 0 is 1. scale is f32 (f64 for an x of f64),
 * zero_point of the dtype; both are scalars, or vectors along the axis. */
TSR_API TSR_MUST_CHECK tsr_status tsr_quantisation_range(tsr_tensor **scale, tsr_tensor **zero_point,
                                                         const tsr_tensor *x, int axis, tsr_dtype dtype,
                                                         bool symmetric);

/* x quantised with the range that tsr_quantisation_range finds, and that range. */
TSR_API TSR_MUST_CHECK tsr_status tsr_quantise_dynamic(tsr_tensor **out, tsr_tensor **scale,
                                                       tsr_tensor **zero_point, const tsr_tensor *x, int axis,
                                                       tsr_dtype dtype, bool symmetric);

/* ((a - a_zero) @ (b - b_zero)) * a_scale * b_scale + bias, for a (..., m, k) and b (...,
 * k, n) of i8 or u8, in any mix; batch dims broadcast. Sums are exact for every k; what
 * comes after them is f64, in that order, rounded once to the dtype: f16, bf16, f32 or
 * f64.
 *
 *     a_scale, a_zero   one element, or one for each row: (m) or (..., m, 1)
 *     b_scale, b_zero   one element, or one for each column: (n) or (..., 1, n)
 *     bias              floating, broadcasts to the result; NULL for none
 *
 * The zero points may be NULL. */
TSR_API TSR_MUST_CHECK tsr_status tsr_matmul_quantised(tsr_tensor **out, const tsr_tensor *a,
                                                       const tsr_tensor *a_scale, const tsr_tensor *a_zero,
                                                       const tsr_tensor *b, const tsr_tensor *b_scale,
                                                       const tsr_tensor *b_zero, const tsr_tensor *bias,
                                                       tsr_dtype dtype);

/* Blocks ---------------------------------------------------------------------
 *
 * Numbers of few bits with a scale for each block of 32 or 256, as GGUF stores them and tsr_file_read_raw
 * gives them: u8(..., blocks of a row, bytes of a block).
 *
 *     tsr_file_find(&entry, f, "blk.0.ffn_up.weight");
 *     tsr_file_read_raw(&w, f, entry.name);      // mapped: nothing is copied
 *     tsr_linear_blocks(&y, x, w, NULL, (tsr_block_kind)entry.blocks);
 */
typedef enum tsr_block_kind {
    TSR_BLOCKS_Q4_0 = 0,
    TSR_BLOCKS_Q4_1,
    TSR_BLOCKS_Q5_0,
    TSR_BLOCKS_Q5_1,
    TSR_BLOCKS_Q8_0,
    TSR_BLOCKS_Q2_K,
    TSR_BLOCKS_Q3_K,
    TSR_BLOCKS_Q4_K,
    TSR_BLOCKS_Q5_K,
    TSR_BLOCKS_Q6_K,
    TSR_BLOCKS_Q8_K,
    TSR_BLOCKS_IQ4_NL,
    TSR_BLOCKS_IQ4_XS,
    TSR_BLOCKS_TQ1_0,
    TSR_BLOCKS_TQ2_0,
    TSR_BLOCKS_MXFP4,
    TSR_BLOCK_KIND_MAX_ = 0x7fffffff
} tsr_block_kind;

/* The numbers that blocks (..., b, bytes) stand for, as f32 (..., b * 32) or (..., b * 256). They are exact
 * for q8_0, q4_0, q5_0, iq4_nl, iq4_xs, tq1_0, tq2_0, mxfp4, q3_K and q6_K, and rounded once for the
 * others. TSR_EINVAL if there is no such kind; TSR_ESHAPE if its blocks have another number of bytes. */
TSR_API TSR_MUST_CHECK tsr_status tsr_dequantise_blocks(tsr_tensor **out, const tsr_tensor *blocks,
                                                        tsr_block_kind kind);

/* x @ transpose(w) + bias for w (n, k) in blocks, u8 (n, b, bytes): what tsr_linear gives for x, bias and
 * tsr_dequantise_blocks of them in f32, rounded once to the dtype of x, which is f32, f16 or bf16. x is not
 * quantised, and the blocks are unpacked a few rows at a time, in cache. bias may be NULL.
 *
 * The sums have the order of all products and the same bits for every number of rows and threads. (Of
 * tsr_linear, one row times one column over more than 1024 indices has another, and so may a BLAS.) q8_0,
 * q4_0, q4_K and q6_K have vector kernels, which read the blocks once; other kinds are several times
 * slower. */
TSR_API TSR_MUST_CHECK tsr_status tsr_linear_blocks(tsr_tensor **out, const tsr_tensor *x,
                                                    const tsr_tensor *blocks, const tsr_tensor *bias,
                                                    tsr_block_kind kind);

TSR_END_C

#endif
