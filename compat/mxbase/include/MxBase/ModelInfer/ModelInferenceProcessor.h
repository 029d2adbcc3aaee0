/* ModelInferenceProcessor.h - models are not run here: Init returns 1005 (APP_ERR_COMM_UNREALIZED), and the
 * other functions give empty values. Programs that include this for its tensors build and run. */
#ifndef MODLE_INFERENCEPROCESSOR_H
#define MODLE_INFERENCEPROCESSOR_H

#include "MxBase/Common/HiddenAttr.h"
#include "MxBase/ErrorCode/ErrorCode.h"
#include "MxBase/ModelInfer/ModelDataType.h"
#include "MxBase/Tensor/TensorBase/TensorBase.h"

namespace MxBase {

struct AspectRatioPostImageInfo : PostImageInfo {
    enum ResizeType {
        RESIZER_STRETCHING = 0,
        RESIZER_TF_KEEP_ASPECT_RATIO,
        RESIZER_MS_KEEP_ASPECT_RATIO,
        RESIZER_ONLY_PADDING,
        RESIZER_KEEP_ASPECT_RATIO_LONG,
        RESIZER_KEEP_ASPECT_RATIO_SHORT,
        RESIZER_RESCALE,
        RESIZER_RESCALE_DOUBLE,
        RESIZER_MS_YOLOV4,
    };
    float keepAspectRatioScaling = 0;
    ResizeType resizeType = RESIZER_STRETCHING;
};

struct PostProcessorImageInfo {
    std::vector<MxBase::PostImageInfo> postImageInfoVec;
    bool useMpPictureCrop = false;
};

class SDK_AVAILABLE_FOR_OUT ModelInferenceProcessor {
public:
    ModelInferenceProcessor();
    ~ModelInferenceProcessor() = default;
    APP_ERROR Init(std::string modelPath, ModelDesc &modelDesc);
    APP_ERROR Init(const std::string &modelPath);
    APP_ERROR DeInit(void);
    APP_ERROR ModelInference(std::vector<BaseTensor> &inputTensors, std::vector<BaseTensor> &outputTensors,
                             size_t dynamicBatchSize = 0);
    APP_ERROR ModelInference(std::vector<BaseTensor> &inputTensors, std::vector<BaseTensor> &outputTensors,
                             DynamicInfo dynamicInfo);
    APP_ERROR ModelInference(const std::vector<TensorBase> &inputTensors,
                             std::vector<TensorBase> &outputTensors, DynamicInfo dynamicInfo);
    const std::vector<ImageSize> &GetDynamicImageSizes() const;
    DynamicType GetDynamicType() const;
    const ModelDesc &GetModelDesc() const;
    DataFormat GetDataFormat() const;
    std::vector<TensorDataType> GetInputDataType() const;
    std::vector<TensorDataType> GetOutputDataType() const;
    std::vector<std::vector<int64_t>> GetInputShape() const;
    std::vector<std::vector<int64_t>> GetOutputShape() const;
    std::vector<int64_t> GetDynamicBatch() const;
    std::vector<size_t> GetInputFormat() const;
    std::vector<size_t> GetOutputFormat() const;
    std::vector<std::vector<uint64_t>> GetDynamicGearInfo();

private:
    ModelDesc desc_;
    std::vector<ImageSize> sizes_;
};

} // namespace MxBase

#endif
