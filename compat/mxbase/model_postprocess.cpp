/* model_postprocess.cpp - the earlier bases of postprocesses. */
#include <cmath>

#include "MxBase/ModelPostProcessors/ModelPostProcessorBase/ObjectPostProcessorBase.h"
#include "MxBase/Utils/StringUtils.h"
#include "boxes.hpp"
#include "face.hpp"
#include "json.hpp"

namespace MxBase {

using mxface::fail;

namespace {

const size_t SHORTEST_PATH = 6;
const float LARGEST = 8193.0f; /* whole parts of up to 8192 are taken */

bool is_place(float x) { return x > -1.0f && x < LARGEST; }

bool is_valid(const ObjDetectInfo &box)
{
    return is_place(box.x0) && is_place(box.y0) && is_place(box.x1) && is_place(box.y1) && box.classId >= 0;
}

bool is_valid(const PostImageInfo &info)
{
    return is_place(info.x0) && is_place(info.y0) && is_place(info.x1) && is_place(info.y1) &&
           info.widthResize < LARGEST && info.heightResize < LARGEST && info.widthOriginal < LARGEST &&
           info.heightOriginal < LARGEST;
}

std::vector<std::vector<int>> shapes_of(const std::vector<TensorDesc> &tensors)
{
    std::vector<std::vector<int>> shapes;
    for (const TensorDesc &tensor : tensors)
        shapes.emplace_back(tensor.tensorDims.begin(), tensor.tensorDims.end());
    return shapes;
}

void append(std::vector<std::vector<int>> &to, const std::vector<std::vector<int>> &shapes)
{
    to.insert(to.end(), shapes.begin(), shapes.end());
}

DetectBox to_centre(const ObjDetectInfo &box)
{
    const float width = box.x1 - box.x0, height = box.y1 - box.y0;
    return { box.confidence, box.classId, (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2,
             std::fabs(width), std::fabs(height), "", box.maskPtr };
}

ObjDetectInfo to_corners(const DetectBox &box)
{
    ObjDetectInfo out;
    out.classId = box.classID;
    out.confidence = box.prob;
    out.maskPtr = box.maskPtr;
    out.x0 = std::max(box.x - box.width / 2, 0.0f);
    out.y0 = std::max(box.y - box.height / 2, 0.0f);
    out.x1 = std::min(box.x + box.width / 2, 1.0f);
    out.y1 = std::min(box.y + box.height / 2, 1.0f);
    return out;
}

} // namespace

APP_ERROR ModelPostProcessorBase::Process(std::vector<std::shared_ptr<void>> &) { return APP_ERR_OK; }

APP_ERROR ModelPostProcessorBase::LoadConfigDataAndLabelMap(const std::string &configPath,
                                                            const std::string &labelPath)
{
    mxface::Json json;
    const bool is_content = mxface::Json::Parse(&json, configPath);
    if (!is_content && (labelPath.size() < SHORTEST_PATH || configPath.size() < SHORTEST_PATH))
        return fail(APP_ERR_COMM_OPEN_FAIL, "LoadConfigDataAndLabelMap: a path is too short.");
    const APP_ERROR ret =
        ConfigUtil().LoadConfiguration(configPath, configData_, is_content ? CONFIGCONTENT : CONFIGFILE);
    return ret == APP_ERR_OK ? configData_.LoadLabels(labelPath) : ret;
}

APP_ERROR ModelPostProcessorBase::MemoryDataToHost(const int index,
                                                   const std::vector<std::vector<BaseTensor>> &tensors,
                                                   std::vector<std::shared_ptr<void>> &featLayerData)
{
    if (index < 0 || static_cast<size_t>(index) >= tensors.size())
        return fail(APP_ERR_COMM_INVALID_PARAM, "MemoryDataToHost: index is out of range.");
    for (const BaseTensor &tensor : tensors[static_cast<size_t>(index)]) {
        const MemoryData from(tensor.buf, tensor.size, MemoryData::MEMORY_DEVICE, mxface::current_device());
        MemoryData to(tensor.size, MemoryData::MEMORY_HOST_MALLOC);
        const APP_ERROR ret = MemoryHelper::MxbsMallocAndCopy(to, from);
        if (ret != APP_ERR_OK) return ret;
        featLayerData.emplace_back(to.ptrData, [to](void *) {
            MemoryData given = to;
            MemoryHelper::MxbsFree(given);
        });
    }
    return APP_ERR_OK;
}

std::string ModelPostProcessorBase::GetLabelName(int index)
{
    return configData_.GetClassName(static_cast<size_t>(index));
}

APP_ERROR ModelPostProcessorBase::GetModelTensorsShape(ModelDesc modelDesc)
{
    append(outputTensorShapes_, shapes_of(modelDesc.outputTensors));
    append(inputTensorShapes_, shapes_of(modelDesc.inputTensors));
    modelDesc_ = modelDesc;
    if (!inputTensorShapes_.empty() && !outputTensorShapes_.empty()) return APP_ERR_OK;
    return fail(APP_ERR_COMM_INVALID_PARAM, "GetModelTensorsShape: the model has no inputs or no outputs.");
}

APP_ERROR ObjectPostProcessorBase::GetSeparateScoreThresh(std::string &strSeparateScoreThresh)
{
    separateScoreThresh_ = StringUtils::SplitAndCastToFloat(strSeparateScoreThresh, ',');
    if (classNum_ > 0 && separateScoreThresh_.size() == static_cast<size_t>(classNum_)) return APP_ERR_OK;
    separateScoreThresh_.clear();
    return fail(APP_ERR_COMM_INVALID_PARAM, "SEPARATE_SCORE_THRESH: there is not one number for each class.");
}

APP_ERROR ObjectPostProcessorBase::Init(const std::string &configPath, const std::string &labelPath,
                                        ModelDesc modelDesc)
{
    APP_ERROR ret = LoadConfigDataAndLabelMap(configPath, labelPath);
    if (ret != APP_ERR_OK) return ret;
    configData_.GetFileValueWarn<int>("CLASS_NUM", classNum_, 0, 1000);
    configData_.GetFileValueWarn<float>("SCORE_THRESH", scoreThresh_, 0.0f, 1.0f);
    std::string text;
    separateScoreThresh_.assign(static_cast<size_t>(classNum_), scoreThresh_);
    if (configData_.GetFileValue<std::string>("SEPARATE_SCORE_THRESH", text) == APP_ERR_OK)
        ret = GetSeparateScoreThresh(text);
    return ret == APP_ERR_OK ? GetModelTensorsShape(modelDesc) : ret;
}

APP_ERROR ObjectPostProcessorBase::DeInit() { return APP_ERR_OK; }

void ObjectPostProcessorBase::CoordinatesReduction(ImageInfo &imgInfo, std::vector<ObjDetectInfo> &objInfos)
{
    using Info = AspectRatioPostImageInfo;
    const auto type = postProcessorImageInfo_.resizeType;
    const float ratio = postProcessorImageInfo_.keepAspectRatioScaling;
    const float width = static_cast<float>(imgInfo.imgWidth), height = static_cast<float>(imgInfo.imgHeight);
    if (type == Info::RESIZER_STRETCHING || type == Info::RESIZER_MS_YOLOV4) {
        mxface::scale(objInfos, width, height);
        return;
    }
    if (type != Info::RESIZER_TF_KEEP_ASPECT_RATIO && type != Info::RESIZER_MS_KEEP_ASPECT_RATIO) return;
    if (std::fabs(ratio) < 1e-6f) {
        fail(APP_ERR_COMM_INVALID_PARAM, "CoordinatesReduction: keepAspectRatioScaling is 0.");
        return;
    }
    mxface::scale(objInfos, imgInfo.modelWidth / ratio, imgInfo.modelHeight / ratio);
    mxface::hold(objInfos, width, height);
}

APP_ERROR ObjectPostProcessorBase::Process(std::vector<std::shared_ptr<void>> &featLayerData,
                                           std::vector<ObjDetectInfo> &objInfos, const bool useMpPictureCrop,
                                           PostImageInfo postImageInfo)
{
    const PostImageInfo &info = postImageInfo;
    const auto is_good = [](const ObjDetectInfo &box) { return is_valid(box); };
    if (!is_valid(info) || !std::all_of(objInfos.begin(), objInfos.end(), is_good))
        return fail(APP_ERR_COMM_INVALID_PARAM, "Process: an edge or place is out of 0 .. 8192.");
    ImageInfo image = { static_cast<int>(info.widthResize), static_cast<int>(info.heightResize),
                        static_cast<int>(info.widthOriginal), static_cast<int>(info.heightOriginal) };
    if (useMpPictureCrop) {
        image.imgWidth = static_cast<int>(info.x1 - info.x0);
        image.imgHeight = static_cast<int>(info.y1 - info.y0);
    }
    ObjectDetectionOutput(featLayerData, objInfos, image);
    CoordinatesReduction(image, objInfos);
    if (useMpPictureCrop) /* by whole pixels */
        mxface::shift(objInfos, std::trunc(info.x0), std::trunc(info.y0));
    return APP_ERR_OK;
}

void ObjectPostProcessorBase::SetAspectRatioImageInfo(const AspectRatioPostImageInfo &postProcessorImageInfo)
{
    postProcessorImageInfo_ = postProcessorImageInfo;
}

void ObjectPostProcessorBase::ObjectDetectionOutput(std::vector<std::shared_ptr<void>> &,
                                                    std::vector<ObjDetectInfo> &, ImageInfo &)
{
}

void ObjectPostProcessorBase::NmsSort(std::vector<ObjDetectInfo> &objInfos, float iouThresh, IOUMethod method)
{
    std::vector<DetectBox> boxes;
    for (const ObjDetectInfo &box : objInfos) {
        if (!is_valid(box)) {
            fail(APP_ERR_COMM_INVALID_PARAM, "NmsSort: a place is out of 0 .. 8192.");
            return;
        }
        boxes.push_back(to_centre(box));
    }
    MxBase::NmsSort(boxes, iouThresh, method);
    objInfos.clear();
    for (const DetectBox &box : boxes) objInfos.push_back(to_corners(box));
}

} // namespace MxBase
