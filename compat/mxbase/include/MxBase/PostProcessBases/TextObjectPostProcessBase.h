/* TextObjectPostProcessBase.h - the base of detections of text. */
#ifndef TEXT_OBJECT_POST_PROCESS_H
#define TEXT_OBJECT_POST_PROCESS_H

#include "MxBase/PostProcessBases/ImagePostProcessBase.h"

namespace MxBase {

class SDK_AVAILABLE_FOR_OUT TextObjectPostProcessBase : public ImagePostProcessBase {
public:
    TextObjectPostProcessBase() = default;
    TextObjectPostProcessBase(const TextObjectPostProcessBase &other) = default;
    virtual ~TextObjectPostProcessBase() = default;
    TextObjectPostProcessBase &operator=(const TextObjectPostProcessBase &other);

    /* Reads CHECK_MODEL_FLAG; a warning if it is missing. */
    APP_ERROR Init(const std::map<std::string, std::string> &postConfig) override;
    APP_ERROR DeInit() override;

    /* The subclass's; 1005 here. */
    virtual APP_ERROR Process(const std::vector<TensorBase> &tensors,
                              std::vector<std::vector<TextObjectInfo>> &textObjectInfos,
                              const std::vector<ResizedImageInfo> &resizedImageInfos = {},
                              const std::map<std::string, std::shared_ptr<void>> &configParamMap = {});

protected:
    /* Corners from 0 to 1 to pixels of the original image, and held to it. */
    void ResizeReduction(const ResizedImageInfo &resizedImageInfo, TextObjectInfo &textObjInfo);
    void FixCoords(uint32_t srcData, float &desData); /* held to 0 .. srcData */
};

using GetTextObjectInstanceFunc = std::shared_ptr<TextObjectPostProcessBase> (*)();

} // namespace MxBase

#endif
