/* ModelPostProcessorBase.h - the earlier base of postprocesses: results as bare pointers. */
#ifndef MODEL_POSTPROCESSOR_H
#define MODEL_POSTPROCESSOR_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "MxBase/Common/HiddenAttr.h"
#include "MxBase/ConfigUtil/ConfigUtil.h"
#include "MxBase/ErrorCode/ErrorCode.h"
#include "MxBase/Log/Log.h"
#include "MxBase/MemoryHelper/MemoryHelper.h"
#include "MxBase/ModelInfer/ModelInferenceProcessor.h"

namespace MxBase {

class SDK_AVAILABLE_FOR_OUT ModelPostProcessorBase {
public:
    virtual ~ModelPostProcessorBase() = default;
    virtual APP_ERROR Init(const std::string &configPath, const std::string &labelPath,
                           MxBase::ModelDesc modelDesc) = 0;
    virtual APP_ERROR DeInit() = 0;
    virtual APP_ERROR Process(std::vector<std::shared_ptr<void>> &featLayerData); /* nothing here */

    /* Copies of the tensors of one batch, appended. */
    APP_ERROR MemoryDataToHost(const int index, const std::vector<std::vector<MxBase::BaseTensor>> &tensors,
                               std::vector<std::shared_ptr<void>> &featLayerData);

    std::string GetLabelName(int index); /* "" if there is none */

protected:
    /* The configuration is JSON itself or the path of a file of key=value. 1019 (APP_ERR_COMM_OPEN_FAIL) for
     * paths of five characters or fewer. */
    APP_ERROR LoadConfigDataAndLabelMap(const std::string &configPath, const std::string &labelPath);

    /* 1004 if the model has no inputs or no outputs. */
    APP_ERROR GetModelTensorsShape(MxBase::ModelDesc modelDesc);

    bool checkModelFlag_ = true;
    MxBase::ConfigData configData_;
    MxBase::ModelDesc modelDesc_;
    std::vector<std::vector<int>> outputTensorShapes_;
    std::vector<std::vector<int>> inputTensorShapes_;
};

using GetInstanceFunc = std::shared_ptr<ModelPostProcessorBase> (*)();

} // namespace MxBase

#endif
