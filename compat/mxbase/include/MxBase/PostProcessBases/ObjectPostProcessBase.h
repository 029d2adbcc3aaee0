/* ObjectPostProcessBase.h - the base of detections: thresholds, and boxes back to the image they are of. */
#ifndef OBJECT_POST_PROCESS_H
#define OBJECT_POST_PROCESS_H

#include "MxBase/PostProcessBases/ImagePostProcessBase.h"

namespace MxBase {

class SDK_AVAILABLE_FOR_OUT ObjectPostProcessBase : public ImagePostProcessBase {
public:
    ObjectPostProcessBase() = default;
    ObjectPostProcessBase(const ObjectPostProcessBase &other) = default;
    virtual ~ObjectPostProcessBase() = default;
    ObjectPostProcessBase &operator=(const ObjectPostProcessBase &other);

    /* Configuration, then GetObjectConfigData. */
    APP_ERROR Init(const std::map<std::string, std::string> &postConfig) override;
    APP_ERROR DeInit() override;

    /* The subclass's; 1005 here. */
    virtual APP_ERROR Process(const std::vector<TensorBase> &tensors,
                              std::vector<std::vector<ObjectInfo>> &objectInfos,
                              const std::vector<ResizedImageInfo> &resizedImageInfos = {},
                              const std::map<std::string, std::shared_ptr<void>> &configParamMap = {});

protected:
    /* Boxes of the model's input, from 0 to 1 or (not normalized) in its pixels, to pixels of image number
     * `index`, or of what it was cut out of. */
    void CoordinatesReduction(const uint32_t index, const ResizedImageInfo &resizedImageInfo,
                              std::vector<ObjectInfo> &objInfos, bool normalizedFlag = true);

    /* Boxes from 0 to 1 to pixels. Where the aspect was kept, what lies beyond the image goes. */
    void ResizeReduction(const ResizedImageInfo &resizedImageInfo, const int imgWidth, const int imgHeight,
                         std::vector<ObjectInfo> &objInfos);

    /* The same of all images, which may be fewer than objInfos, by what was done to them. */
    void CoordinatesReduction(std::vector<std::vector<ObjectInfo>> &objInfos,
                              const std::vector<MxBase::ImagePreProcessInfo> &imagePreProcessInfos,
                              bool normalizedFlag = true);

    void LogObjectInfos(const std::vector<std::vector<ObjectInfo>> &objectInfos);

    /* "0.3,0.5", one for each class. 1004 if they are more or fewer, or no numbers. */
    APP_ERROR GetSeparateScoreThresh(std::string &strSeparateScoreThresh);

    /* CLASS_NUM, which must be there, SCORE_THRESH and SEPARATE_SCORE_THRESH. */
    APP_ERROR GetObjectConfigData();

    std::vector<float> separateScoreThresh_ = {};
    float scoreThresh_ = 0.0;
    uint32_t classNum_ = 0;
};

using GetObjectInstanceFunc = std::shared_ptr<ObjectPostProcessBase> (*)();

} // namespace MxBase

#endif
