/* model.cpp - models are not run here. */
#include "MxBase/ModelInfer/ModelInferenceProcessor.h"

#include "face.hpp"

namespace MxBase {

namespace {

APP_ERROR refuse() { return mxface::fail(APP_ERR_COMM_UNREALIZED, "Models are not run here."); }

} // namespace

ModelInferenceProcessor::ModelInferenceProcessor() = default;
APP_ERROR ModelInferenceProcessor::Init(std::string, ModelDesc &) { return refuse(); }
APP_ERROR ModelInferenceProcessor::Init(const std::string &) { return refuse(); }
APP_ERROR ModelInferenceProcessor::DeInit(void) { return APP_ERR_OK; }

APP_ERROR ModelInferenceProcessor::ModelInference(std::vector<BaseTensor> &, std::vector<BaseTensor> &,
                                                  size_t)
{
    return refuse();
}

APP_ERROR ModelInferenceProcessor::ModelInference(std::vector<BaseTensor> &, std::vector<BaseTensor> &,
                                                  DynamicInfo)
{
    return refuse();
}

APP_ERROR ModelInferenceProcessor::ModelInference(const std::vector<TensorBase> &, std::vector<TensorBase> &,
                                                  DynamicInfo)
{
    return refuse();
}

const std::vector<ImageSize> &ModelInferenceProcessor::GetDynamicImageSizes() const { return sizes_; }
DynamicType ModelInferenceProcessor::GetDynamicType() const { return STATIC_BATCH; }
const ModelDesc &ModelInferenceProcessor::GetModelDesc() const { return desc_; }
DataFormat ModelInferenceProcessor::GetDataFormat() const { return NCHW; }
std::vector<TensorDataType> ModelInferenceProcessor::GetInputDataType() const { return {}; }
std::vector<TensorDataType> ModelInferenceProcessor::GetOutputDataType() const { return {}; }
std::vector<std::vector<int64_t>> ModelInferenceProcessor::GetInputShape() const { return {}; }
std::vector<std::vector<int64_t>> ModelInferenceProcessor::GetOutputShape() const { return {}; }
std::vector<int64_t> ModelInferenceProcessor::GetDynamicBatch() const { return {}; }
std::vector<size_t> ModelInferenceProcessor::GetInputFormat() const { return {}; }
std::vector<size_t> ModelInferenceProcessor::GetOutputFormat() const { return {}; }
std::vector<std::vector<uint64_t>> ModelInferenceProcessor::GetDynamicGearInfo() { return {}; }

} // namespace MxBase
