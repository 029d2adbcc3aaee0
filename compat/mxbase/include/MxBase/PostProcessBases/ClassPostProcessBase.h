/* ClassPostProcessBase.h - the base of classifications. */
#ifndef CLASS_POST_PROCESS_H
#define CLASS_POST_PROCESS_H

#include "MxBase/PostProcessBases/PostProcessBase.h"

namespace MxBase {

class SDK_AVAILABLE_FOR_OUT ClassPostProcessBase : public PostProcessBase {
public:
    ClassPostProcessBase() = default;
    ClassPostProcessBase(const ClassPostProcessBase &other) = default;
    virtual ~ClassPostProcessBase() = default;
    ClassPostProcessBase &operator=(const ClassPostProcessBase &other);

    /* Reads CLASS_NUM, held to 0 .. 1000; a warning if it is missing. */
    APP_ERROR Init(const std::map<std::string, std::string> &postConfig) override;
    APP_ERROR DeInit() override;

    /* The subclass's; 1005 here. */
    virtual APP_ERROR Process(const std::vector<TensorBase> &tensors,
                              std::vector<std::vector<ClassInfo>> &classInfos,
                              const std::map<std::string, std::shared_ptr<void>> &configParamMap = {});

protected:
    uint32_t classNum_ = 0;
    uint32_t topK_ = 1;
};

using GetClassInstanceFunc = std::shared_ptr<ClassPostProcessBase> (*)();

} // namespace MxBase

#endif
