/* MatrixReductions.h - ops that bring the dims of images together. The rules are those of
 * PerElementOperations.h, but for the shapes; sums and means are computed in 32-bit floats. */
#ifndef MXBASE_MATRIXREDUCTIONS_H
#define MXBASE_MATRIXREDUCTIONS_H

#include "MxBase/Asynchron/AscendStream.h"
#include "MxBase/E2eInfer/Tensor/Tensor.h"

namespace MxBase {

/* Of each of the 1 to 4 channels: HWC to (C), NHWC to (N, C), in src's type. */
SDK_AVAILABLE_FOR_OUT APP_ERROR Sum(const Tensor &src, Tensor &dst,
                                    AscendStream &stream = AscendStream::DefaultStream());

/* Rows or columns of HW, HWC or NHWC together; that dim goes away. */
SDK_AVAILABLE_FOR_OUT APP_ERROR Reduce(const Tensor &src, Tensor &dst, const MxBase::ReduceDim &rDim,
                                       const MxBase::ReduceType &rType,
                                       AscendStream &stream = AscendStream::DefaultStream());

/* Of each of the 1 or 3 channels of HWC, as FLOAT32 (C): the sum of |x|; of x * x. */
SDK_AVAILABLE_FOR_OUT APP_ERROR AbsSum(const Tensor &src, Tensor &dst,
                                       AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR SqrSum(const Tensor &src, Tensor &dst,
                                       AscendStream &stream = AscendStream::DefaultStream());

/* The smallest and the largest element of HW, or HWC of 1 channel, as (1) in src's type; and where the first
 * of each is, as UINT32 (2): row, column. */
SDK_AVAILABLE_FOR_OUT APP_ERROR MinMax(const Tensor &src, Tensor &minVal, Tensor &maxVal,
                                       AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR MinMaxLoc(const Tensor &src, Tensor &minVal, Tensor &maxVal, Tensor &minLoc,
                                          Tensor &maxLoc,
                                          AscendStream &stream = AscendStream::DefaultStream());

} // namespace MxBase

#endif
