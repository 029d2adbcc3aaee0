/* ObjectPostProcessorBase.h - the earlier base of detections. */
#ifndef OBJECT_POSTPROCESSOR_H
#define OBJECT_POSTPROCESSOR_H

#include "MxBase/CV/ObjectDetection/Nms/Nms.h"
#include "MxBase/Maths/FastMath.h"
#include "MxBase/ModelPostProcessors/ModelPostProcessorBase/ModelPostProcessorBase.h"
#include "MxBase/ModelPostProcessors/ModelPostProcessorBase/ObjectPostDataType.h"

namespace {
const int DEFAULT_CLASS_NUM = 2;
const float DEFAULT_SCORE_THRESH = 0.5;
} // namespace

namespace MxBase {

class SDK_AVAILABLE_FOR_OUT ObjectPostProcessorBase : public MxBase::ModelPostProcessorBase {
public:
    /* CLASS_NUM, SCORE_THRESH, SEPARATE_SCORE_THRESH, and the shapes of the model. */
    APP_ERROR Init(const std::string &configPath, const std::string &labelPath,
                   MxBase::ModelDesc modelDesc) override;
    APP_ERROR DeInit() override;

    /* ObjectDetectionOutput, then boxes from 0 to 1 to pixels of the image, or (useMpPictureCrop) of what it
     * was cut out of. 1004 for edges and places out of 0 .. 8192. */
    using ModelPostProcessorBase::Process;
    virtual APP_ERROR Process(std::vector<std::shared_ptr<void>> &featLayerData,
                              std::vector<ObjDetectInfo> &objInfos, const bool useMpPictureCrop,
                              MxBase::PostImageInfo postImageInfo);
    void SetAspectRatioImageInfo(const MxBase::AspectRatioPostImageInfo &postProcessorImageInfo);

protected:
    virtual void ObjectDetectionOutput(std::vector<std::shared_ptr<void>> &featLayerData,
                                       std::vector<ObjDetectInfo> &objInfos, ImageInfo &imgInfo);
    void CoordinatesReduction(ImageInfo &imgInfo, std::vector<ObjDetectInfo> &objInfos);
    APP_ERROR GetSeparateScoreThresh(std::string &strSeparateScoreThresh);

    /* Of boxes from 0 to 1, which are held to that. Nothing is done if a place is out of 0 .. 8192. */
    void NmsSort(std::vector<ObjDetectInfo> &objInfos, float iouThresh, IOUMethod method = UNION);

    MxBase::AspectRatioPostImageInfo postProcessorImageInfo_;
    std::vector<float> separateScoreThresh_ = {};
    float scoreThresh_ = DEFAULT_SCORE_THRESH;
    int classNum_ = DEFAULT_CLASS_NUM;
};

} // namespace MxBase

#endif
