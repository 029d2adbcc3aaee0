/* CoreOperationsOnTensors.h - ops that lay out device tensors anew. The rules are those of
 * PerElementOperations.h, but for the shapes. */
#ifndef MXBASE_COREOPERATIONSONTENSORS_H
#define MXBASE_COREOPERATIONSONTENSORS_H

#include <vector>

#include "MxBase/Asynchron/AscendStream.h"
#include "MxBase/E2eInfer/Tensor/Tensor.h"

namespace MxBase {

/* One tensor for each index of the first dim, without that dim. isReplace: views of src's memory, which
 * must outlive them; else copies. */
SDK_AVAILABLE_FOR_OUT APP_ERROR BatchSplit(const Tensor &src, std::vector<Tensor> &dst, bool isReplace,
                                           AscendStream &stream = AscendStream::DefaultStream());

/* Two or more images (HW, HWC, NHWC) side by side; below each other. */
SDK_AVAILABLE_FOR_OUT APP_ERROR Hstack(const std::vector<Tensor> &tv, Tensor &dst,
                                       AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR Vstack(const std::vector<Tensor> &tv, Tensor &dst,
                                       AscendStream &stream = AscendStream::DefaultStream());

/* Dim i of dst is dim axes[i] of src. Without axes, in the opposite order. */
SDK_AVAILABLE_FOR_OUT APP_ERROR Transpose(const Tensor &src, Tensor &dst, std::vector<int> axes,
                                          AscendStream &stream = AscendStream::DefaultStream());

/* The 3 or 4 channels of an image (HWC, NHWC), each as an image of one; and together again. */
SDK_AVAILABLE_FOR_OUT APP_ERROR Split(const Tensor &src, std::vector<Tensor> &tv,
                                      AscendStream &stream = AscendStream::DefaultStream());
SDK_AVAILABLE_FOR_OUT APP_ERROR Merge(const std::vector<Tensor> &tv, Tensor &dst,
                                      AscendStream &stream = AscendStream::DefaultStream());

/* src, multiples[i] times along dim i. */
SDK_AVAILABLE_FOR_OUT APP_ERROR Tile(const Tensor &src, Tensor &dst, const std::vector<uint32_t> &multiples,
                                     AscendStream &stream = AscendStream::DefaultStream());

/* Not here: 1005. */
SDK_AVAILABLE_FOR_OUT APP_ERROR CvtColor(const Tensor &inputTensor, Tensor &outputTensor,
                                         const CvtColorMode &mode, bool keepMargin = false,
                                         AscendStream &stream = AscendStream::DefaultStream());

/* Smallest elements of square windows of 3 to 9. src is HW, or HWC of 1, 3 or 4 channels, 64 to 4096 high
 * and wide. */
SDK_AVAILABLE_FOR_OUT APP_ERROR Erode(const Tensor &src, Tensor &dst, const BlurConfig &blurconfig,
                                      AscendStream &stream = AscendStream::DefaultStream());

} // namespace MxBase

#endif
