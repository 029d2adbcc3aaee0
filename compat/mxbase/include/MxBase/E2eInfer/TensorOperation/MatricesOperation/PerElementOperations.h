/* PerElementOperations.h - ops on each element of device tensors.
 *
 * Rules for the whole header: tensors lie on the stream's device (DEVICE or DVPP memory), have 1 to 4
 * dims, one shape, and one type of UINT8, FLOAT16 and FLOAT32, where nothing else is said. An empty
 * dst is made; any other must fit. 1004 where something does not. Without a stream a call is done when
 * it returns. UINT8 sums, differences, products and powers keep their low 8 bits; where a float takes
 * part, UINT8 results are rounded to nearest and held to 0 .. 255.
 */
#ifndef MXBASE_PERELEMENTOPERATIONS_H
#define MXBASE_PERELEMENTOPERATIONS_H

#include "MxBase/Asynchron/AscendStream.h"
#include "MxBase/E2eInfer/Tensor/Tensor.h"

namespace MxBase {

/* src1 + src2, on the regions of the tensors where they have any (SetReferRect). */
SDK_AVAILABLE_FOR_OUT APP_ERROR Add(const Tensor &src1, const Tensor &src2, Tensor &dst,
                                    AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR Subtract(const Tensor &src1, const Tensor &src2, Tensor &dst,
                                         AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR Multiply(const Tensor &src1, const Tensor &src2, Tensor &dst,
                                         AscendStream &stream = AscendStream::DefaultStream());

/* With a scale, and for Divide without one too, the types may differ; the larger is dst's. */
SDK_AVAILABLE_FOR_OUT APP_ERROR Multiply(const Tensor &src1, const Tensor &src2, Tensor &dst, double scale,
                                         AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR Divide(const Tensor &src1, const Tensor &src2, Tensor &dst,
                                       AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR Divide(const Tensor &src1, const Tensor &src2, Tensor &dst, float scale,
                                       AscendStream &stream = AscendStream::DefaultStream());

/* UINT8 only. */
SDK_AVAILABLE_FOR_OUT APP_ERROR BitwiseAnd(const Tensor &src1, const Tensor &src2, Tensor &dst,
                                           AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR BitwiseOr(const Tensor &src1, const Tensor &src2, Tensor &dst,
                                          AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR BitwiseXor(const Tensor &src1, const Tensor &src2, Tensor &dst,
                                           AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR BitwiseNot(const Tensor &src, Tensor &dst,
                                           AscendStream &stream = AscendStream::DefaultStream());

SDK_AVAILABLE_FOR_OUT APP_ERROR Pow(const Tensor &src1, const Tensor &src2, Tensor &dst,
                                    AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR Sqr(const Tensor &src, Tensor &dst,
                                    AscendStream &stream = AscendStream::DefaultStream());

/* FLOAT16 and FLOAT32 only. */
SDK_AVAILABLE_FOR_OUT APP_ERROR Sqrt(const Tensor &src, Tensor &dst,
                                     AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR Exp(const Tensor &src, Tensor &dst,
                                    AscendStream &stream = AscendStream::DefaultStream());
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* there is a class of this name too */
SDK_AVAILABLE_FOR_OUT APP_ERROR Log(const Tensor &src, Tensor &dst,
                                    AscendStream &stream = AscendStream::DefaultStream());
#pragma GCC diagnostic pop

/* maxVal where src > thresh, else 0; the other way round for THRESHOLD_BINARY_INV. */
SDK_AVAILABLE_FOR_OUT APP_ERROR ThresholdBinary(const Tensor &src, Tensor &dst, float thresh, float maxVal,
                                                AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR
Threshold(const Tensor &src, Tensor &dst, float thresh, float maxVal,
          const ThresholdType &thresholdType = ThresholdType::THRESHOLD_BINARY,
          AscendStream &stream = AscendStream::DefaultStream());

/* src1 * alpha + src2 * beta + gamma */
SDK_AVAILABLE_FOR_OUT APP_ERROR AddWeighted(const Tensor &src1, float alpha, const Tensor &src2, float beta,
                                            float gamma, Tensor &dst,
                                            AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR AbsDiff(const Tensor &src1, const Tensor &src2, Tensor &dst,
                                        AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR Abs(const Tensor &src, Tensor &dst,
                                    AscendStream &stream = AscendStream::DefaultStream());

/* src1 * scale + src2 */
SDK_AVAILABLE_FOR_OUT APP_ERROR ScaleAdd(const Tensor &src1, float scale, const Tensor &src2, Tensor &dst,
                                         AscendStream &stream = AscendStream::DefaultStream());

/* From any type to any other: floats to integers lose their fraction. Of a region, where src has one. */
SDK_AVAILABLE_FOR_OUT APP_ERROR ConvertTo(const Tensor &src, Tensor &dst, const MxBase::TensorDType &dataType,
                                          AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR Clip(const Tensor &src, Tensor &dst, float minVal, float maxVal,
                                     AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR Min(const Tensor &src1, const Tensor &src2, Tensor &dst,
                                    AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR Max(const Tensor &src1, const Tensor &src2, Tensor &dst,
                                    AscendStream &stream = AscendStream::DefaultStream());

/* Of a matrix along axis 0 or 1: in order; or where each was, as INT32. Equals keep their order. */
SDK_AVAILABLE_FOR_OUT APP_ERROR SortIdx(const Tensor &src, Tensor &dstIdx, int axis, bool descending,
                                        AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR Sort(const Tensor &src, Tensor &dst, int axis, bool descending,
                                     AscendStream &stream = AscendStream::DefaultStream());

/* 255 where it holds, else 0, in the type of the operands. */
SDK_AVAILABLE_FOR_OUT APP_ERROR Compare(const Tensor &src1, const Tensor &src2, Tensor &dst,
                                        const CmpOp cmpOp = CmpOp::CMP_EQ,
                                        AscendStream &stream = AscendStream::DefaultStream());

/* src * scale + bias */
SDK_AVAILABLE_FOR_OUT APP_ERROR Rescale(const Tensor &src, Tensor &dst, float scale, float bias,
                                        AscendStream &stream = AscendStream::DefaultStream());

} // namespace MxBase

#endif
