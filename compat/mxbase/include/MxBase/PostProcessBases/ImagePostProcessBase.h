/* ImagePostProcessBase.h - postprocesses of images, which may have been cut out of larger ones. */
#ifndef IMAGE_POST_PROCESS_H
#define IMAGE_POST_PROCESS_H

#include "MxBase/PostProcessBases/PostProcessBase.h"

namespace MxBase {

class SDK_AVAILABLE_FOR_OUT ImagePostProcessBase : public PostProcessBase {
public:
    void SetCropRoiBoxes(std::vector<MxBase::CropRoiBox> cropRoiBoxes) { cropRoiBoxes_ = cropRoiBoxes; }

protected:
    std::vector<MxBase::CropRoiBox> cropRoiBoxes_ = {};
};

} // namespace MxBase

#endif
