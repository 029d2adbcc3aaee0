/* TextGenerationPostProcessBase.h - the base of what gives texts: translation, recognition. */
#ifndef TEXT_GENERATION_POST_PROCESS_H
#define TEXT_GENERATION_POST_PROCESS_H

#include "MxBase/PostProcessBases/PostProcessBase.h"

namespace MxBase {

class SDK_AVAILABLE_FOR_OUT TextGenerationPostProcessBase : public PostProcessBase {
public:
    TextGenerationPostProcessBase() = default;
    TextGenerationPostProcessBase(const TextGenerationPostProcessBase &other) = default;
    virtual ~TextGenerationPostProcessBase() = default;
    TextGenerationPostProcessBase &operator=(const TextGenerationPostProcessBase &other);

    /* Reads CLASS_NUM, held to 0 .. 10000; a warning if it is missing. */
    APP_ERROR Init(const std::map<std::string, std::string> &postConfig) override;
    APP_ERROR DeInit() override;

    /* The subclass's; 1005 here. */
    virtual APP_ERROR Process(const std::vector<TensorBase> &tensors, std::vector<TextsInfo> &textsInfos,
                              const std::map<std::string, std::shared_ptr<void>> &configParamMap = {});

protected:
    uint32_t classNum_ = 0;
};

using GetTextGenerationInstanceFunc = std::shared_ptr<TextGenerationPostProcessBase> (*)();

} // namespace MxBase

#endif
