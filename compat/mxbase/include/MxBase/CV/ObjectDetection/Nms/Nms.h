/* Nms.h - non-maximum suppression: of boxes of one class that overlap, the best one stays. */
#ifndef NMS_H
#define NMS_H

#include <algorithm>
#include <map>
#include <vector>

#include "MxBase/CV/Core/DataType.h"
#include "MxBase/Common/HiddenAttr.h"
#include "MxBase/ErrorCode/ErrorCode.h"

namespace MxBase {

class ObjectInfo; /* MxBase/PostProcessBases/PostProcessDataType.h */

/* 0 for boxes that have nothing in common or no area, and for those out of 0 .. 8192: of a DetectBox, if
 * x, width or height of the first or y of the second is; of an ObjectInfo, if both boxes are. DIOU of an
 * ObjectInfo is as UNION. */
SDK_AVAILABLE_FOR_OUT float CalcIou(DetectBox a, DetectBox b, IOUMethod method = UNION);
SDK_AVAILABLE_FOR_OUT float CalcIou(ObjectInfo a, ObjectInfo b, IOUMethod method = UNION);

/* Appends to sortBoxes each of dets that overlaps none before it by more than iouThresh. */
SDK_AVAILABLE_FOR_OUT void FilterByIou(std::vector<DetectBox> dets, std::vector<DetectBox> &sortBoxes,
                                       float iouThresh, IOUMethod method = UNION);
SDK_AVAILABLE_FOR_OUT void FilterByIou(std::vector<ObjectInfo> dets, std::vector<ObjectInfo> &sortBoxes,
                                       float iouThresh, IOUMethod method = UNION);

/* Class after class, the likeliest first, without those that overlap a likelier one of their class. */
SDK_AVAILABLE_FOR_OUT void NmsSort(std::vector<DetectBox> &detBoxes, float iouThresh,
                                   IOUMethod method = UNION);
SDK_AVAILABLE_FOR_OUT void NmsSort(std::vector<ObjectInfo> &detBoxes, float iouThresh,
                                   IOUMethod method = UNION);

/* The same with the largest first. */
SDK_AVAILABLE_FOR_OUT void NmsSortByArea(std::vector<DetectBox> &detBoxes, const float iouThresh,
                                         const IOUMethod method = UNION);
SDK_AVAILABLE_FOR_OUT void NmsSortByArea(std::vector<ObjectInfo> &detBoxes, const float iouThresh,
                                         const IOUMethod method = UNION);

} // namespace MxBase

#endif
