/* PostProcessBase.h - the first base of all postprocesses: configuration, labels, tensors to the host. */
#ifndef POST_PROCESS_BASE_H
#define POST_PROCESS_BASE_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "MxBase/Common/HiddenAttr.h"
#include "MxBase/Common/Version.h"
#include "MxBase/ConfigUtil/ConfigUtil.h"
#include "MxBase/ErrorCode/ErrorCode.h"
#include "MxBase/PostProcessBases/PostProcessDataType.h"
#include "MxBase/Tensor/TensorBase/TensorBase.h"

namespace MxBase {

class SDK_AVAILABLE_FOR_OUT PostProcessBase {
public:
    PostProcessBase() = default;
    PostProcessBase(const PostProcessBase &other) = default;
    virtual ~PostProcessBase() = default;
    PostProcessBase &operator=(const PostProcessBase &other);

    /* Keys: "postProcessConfigContent" (JSON), or else "postProcessConfigPath" (a file of key=value);
     * "labelPath". A key that is missing is a warning. */
    virtual APP_ERROR Init(const std::map<std::string, std::string> &postConfig);
    virtual APP_ERROR DeInit();

    /* MINDX_SDK_VERSION; a subclass says for which one it was built. */
    virtual uint64_t GetCurrentVersion();

protected:
    APP_ERROR LoadConfigData(const std::map<std::string, std::string> &postConfig);
    APP_ERROR CheckAndMoveTensors(std::vector<TensorBase> &tensors); /* to the host */

    /* Where the part at `index` of the first dim begins; NULL if there is none. */
    void *GetBuffer(const TensorBase &tensor, uint32_t index) const;

    /* Is the aspect kept in a way that keepAspectRatioScaling undoes? */
    bool JudgeResizeType(const ResizedImageInfo &resizedImageInfo);

    MxBase::ConfigData configData_;
    bool checkModelFlag_ = true;
    bool isInitConfig_ = false;

    const uint32_t ZERO_BYTE = 0;
    const uint32_t ONE_BYTE = 1;
    const uint32_t TWO_BYTE = 2;
    const uint32_t FOUR_BYTE = 4;
    const uint32_t EIGHT_BYTE = 8;
    const uint32_t MAX_TENSOR_VEC_SIZE = 128;
};

} // namespace MxBase

#endif
