/* SemanticSegPostProcessBase.h - the base of segmentations. */
#ifndef SEGMENT_POST_PROCESS_H
#define SEGMENT_POST_PROCESS_H

#include "MxBase/PostProcessBases/ImagePostProcessBase.h"

namespace MxBase {

class SDK_AVAILABLE_FOR_OUT SemanticSegPostProcessBase : public ImagePostProcessBase {
public:
    SemanticSegPostProcessBase() = default;
    SemanticSegPostProcessBase(const SemanticSegPostProcessBase &other) = default;
    virtual ~SemanticSegPostProcessBase() = default;
    SemanticSegPostProcessBase &operator=(const SemanticSegPostProcessBase &other);

    /* Configuration, then GetSemanticSegConfigData, whose failure is logged and not returned. */
    APP_ERROR Init(const std::map<std::string, std::string> &postConfig) override;
    APP_ERROR DeInit() override;

    /* The subclass's; 1005 here. */
    virtual APP_ERROR Process(const std::vector<TensorBase> &tensors,
                              std::vector<SemanticSegInfo> &semanticSegInfos,
                              const std::vector<ResizedImageInfo> &resizedImageInfos = {},
                              const std::map<std::string, std::shared_ptr<void>> &configParamMap = {});

protected:
    /* The nearest pixel for each of the original image. Nothing changes if its edges are 0 or over 8192, or
     * keepAspectRatioScaling is not in 0 .. 16. */
    void CoordinatesReduction(const ResizedImageInfo &resizedImageInfo, SemanticSegInfo &semanticSegInfos);

    /* CLASS_NUM, which must be there, MODEL_TYPE, and the labels of all classes. */
    APP_ERROR GetSemanticSegConfigData();

    uint32_t classNum_ = 0;
    int modelType_ = TYPE_NHWC;
    std::vector<std::string> labelMap_;
};

using GetSemanticSegInstanceFunc = std::shared_ptr<SemanticSegPostProcessBase> (*)();

} // namespace MxBase

#endif
