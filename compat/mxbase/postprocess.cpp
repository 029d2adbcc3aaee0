/* postprocess.cpp - the bases of postprocesses. */
#include "MxBase/PostProcessBases/ClassPostProcessBase.h"
#include "MxBase/PostProcessBases/KeypointPostProcessBase.h"
#include "MxBase/PostProcessBases/ObjectPostProcessBase.h"
#include "MxBase/PostProcessBases/SemanticSegPostProcessBase.h"
#include "MxBase/PostProcessBases/TextGenerationPostProcessBase.h"
#include "MxBase/PostProcessBases/TextObjectPostProcessBase.h"
#include "MxBase/Utils/StringUtils.h"
#include "boxes.hpp"
#include "face.hpp"

namespace MxBase {

using mxface::fail;

namespace {

using Config = std::map<std::string, std::string>;

const uint32_t MOST_CLASSES = 1000;
const uint32_t MOST_WORDS = 10000;
const int LAST_MODEL_TYPE = 100;
const uint32_t LONGEST_EDGE = 8192;
const float LARGEST_SCALING = 16.0f;
const float TINY = 1e-6f;

/* NULL if there is none, or an empty one. */
const std::string *find(const Config &config, const char *key)
{
    const auto found = config.find(key);
    return found == config.end() || found->second.empty() ? nullptr : &found->second;
}

APP_ERROR refuse_process() { return fail(APP_ERR_COMM_UNREALIZED, "Process is for the subclass to give."); }

/* One threshold for each class. */
APP_ERROR read_thresholds(std::vector<float> &out, std::string &text, uint32_t classes)
{
    if (classes == 0) return fail(APP_ERR_COMM_INVALID_PARAM, "SEPARATE_SCORE_THRESH: there are no classes.");
    out = StringUtils::SplitAndCastToFloat(text, ',');
    if (out.size() == classes) return APP_ERR_OK;
    return fail(APP_ERR_COMM_INVALID_PARAM, "SEPARATE_SCORE_THRESH: there is not one number for each class.");
}

bool is_zero(float denominator, const char *words)
{
    if (denominator >= TINY || denominator <= -TINY) return false;
    fail(APP_ERR_COMM_INVALID_PARAM, words);
    return true;
}

/* Boxes in pixels of the model's input to those of the original image. */
void undo(std::vector<ObjectInfo> &boxes, const ImagePreProcessInfo &info)
{
    mxface::erase_if(boxes, [&](const ObjectInfo &box) {
        return box.x0 > info.x1Valid || box.y0 > info.y1Valid || box.x1 < info.x0Valid ||
               box.y1 < info.y0Valid;
    });
    for (ObjectInfo &box : boxes) {
        box.x0 = (std::max(box.x0, info.x0Valid) - info.xBias) / info.xRatio;
        box.x1 = (std::min(box.x1, info.x1Valid) - info.xBias) / info.xRatio;
        box.y0 = (std::max(box.y0, info.y0Valid) - info.yBias) / info.yRatio;
        box.y1 = (std::min(box.y1, info.y1Valid) - info.yBias) / info.yRatio;
    }
}

} // namespace

PostProcessBase &PostProcessBase::operator=(const PostProcessBase &other)
{
    configData_ = other.configData_;
    checkModelFlag_ = other.checkModelFlag_;
    return *this;
}

APP_ERROR PostProcessBase::Init(const Config &postConfig) { return LoadConfigData(postConfig); }
APP_ERROR PostProcessBase::DeInit() { return APP_ERR_OK; }
uint64_t PostProcessBase::GetCurrentVersion() { return MINDX_SDK_VERSION; }

APP_ERROR PostProcessBase::LoadConfigData(const Config &postConfig)
{
    const std::string *content = find(postConfig, "postProcessConfigContent");
    const std::string *path = find(postConfig, "postProcessConfigPath");
    const std::string *labels = find(postConfig, "labelPath");
    APP_ERROR ret = APP_ERR_OK;
    if (content) ret = ConfigUtil().LoadConfiguration(*content, configData_, CONFIGCONTENT);
    else if (path) ret = ConfigUtil().LoadConfiguration(*path, configData_, CONFIGFILE);
    else LogWarn << "There is neither postProcessConfigContent nor postProcessConfigPath.";
    if (ret != APP_ERR_OK) return ret;
    if (labels) return configData_.LoadLabels(*labels);
    LogWarn << "There is no labelPath.";
    return APP_ERR_OK;
}

APP_ERROR PostProcessBase::CheckAndMoveTensors(std::vector<TensorBase> &tensors)
{
    for (TensorBase &tensor : tensors) {
        const APP_ERROR ret = tensor.ToHost();
        if (ret != APP_ERR_OK) return ret;
    }
    return APP_ERR_OK;
}

void *PostProcessBase::GetBuffer(const TensorBase &tensor, uint32_t index) const
{
    void *buffer = nullptr;
    return tensor.GetBuffer(buffer, std::vector<uint32_t>{ index }) == APP_ERR_OK ? buffer : nullptr;
}

bool PostProcessBase::JudgeResizeType(const ResizedImageInfo &resizedImageInfo)
{
    const ResizeType type = resizedImageInfo.resizeType;
    return type == RESIZER_TF_KEEP_ASPECT_RATIO || type == RESIZER_MS_KEEP_ASPECT_RATIO ||
           type == RESIZER_RESCALE || type == RESIZER_RESCALE_DOUBLE;
}

/* Classification ----------------------------------------------------------------------------- */

ClassPostProcessBase &ClassPostProcessBase::operator=(const ClassPostProcessBase &other) = default;

APP_ERROR ClassPostProcessBase::Init(const Config &postConfig)
{
    const APP_ERROR ret = LoadConfigData(postConfig);
    if (ret == APP_ERR_OK) configData_.GetFileValueWarn("CLASS_NUM", classNum_, 0u, MOST_CLASSES);
    return ret;
}

APP_ERROR ClassPostProcessBase::DeInit() { return APP_ERR_OK; }

APP_ERROR ClassPostProcessBase::Process(const std::vector<TensorBase> &,
                                        std::vector<std::vector<ClassInfo>> &,
                                        const std::map<std::string, std::shared_ptr<void>> &)
{
    return refuse_process();
}

/* Detection ---------------------------------------------------------------------------------- */

ObjectPostProcessBase &ObjectPostProcessBase::operator=(const ObjectPostProcessBase &other) = default;

APP_ERROR ObjectPostProcessBase::Init(const Config &postConfig)
{
    const APP_ERROR ret = LoadConfigData(postConfig);
    return ret == APP_ERR_OK ? GetObjectConfigData() : ret;
}

APP_ERROR ObjectPostProcessBase::DeInit() { return APP_ERR_OK; }

APP_ERROR ObjectPostProcessBase::GetSeparateScoreThresh(std::string &strSeparateScoreThresh)
{
    return read_thresholds(separateScoreThresh_, strSeparateScoreThresh, classNum_);
}

APP_ERROR ObjectPostProcessBase::GetObjectConfigData()
{
    const APP_ERROR ret = configData_.GetFileValue<uint32_t>("CLASS_NUM", classNum_, 0u, MOST_CLASSES);
    if (ret != APP_ERR_OK) return fail(ret, "The configuration has no usable CLASS_NUM.");
    configData_.GetFileValueWarn<float>("SCORE_THRESH", scoreThresh_, 0.0f, 1.0f);
    std::string text;
    if (configData_.GetFileValue<std::string>("SEPARATE_SCORE_THRESH", text) == APP_ERR_OK)
        return GetSeparateScoreThresh(text);
    separateScoreThresh_.assign(classNum_, scoreThresh_);
    return APP_ERR_OK;
}

void ObjectPostProcessBase::ResizeReduction(const ResizedImageInfo &resizedImageInfo, const int imgWidth,
                                            const int imgHeight, std::vector<ObjectInfo> &objInfos)
{
    const ResizedImageInfo &info = resizedImageInfo;
    const float width = static_cast<float>(imgWidth), height = static_cast<float>(imgHeight);
    if (info.resizeType == RESIZER_STRETCHING || info.resizeType == RESIZER_MS_YOLOV4) {
        mxface::scale(objInfos, width, height);
        return;
    }
    const float ratio = info.keepAspectRatioScaling;
    if (!JudgeResizeType(info)) {
        LogWarn << "Boxes stay as they are: the resize type is " << info.resizeType << ".";
        return;
    }
    if (is_zero(ratio, "ResizeReduction: keepAspectRatioScaling is 0.")) return;
    mxface::scale(objInfos, info.widthResize / ratio, info.heightResize / ratio);
    mxface::hold(objInfos, width, height);
}

void ObjectPostProcessBase::CoordinatesReduction(const uint32_t index,
                                                 const ResizedImageInfo &resizedImageInfo,
                                                 std::vector<ObjectInfo> &objInfos, bool normalizedFlag)
{
    const ResizedImageInfo &info = resizedImageInfo;
    const CropRoiBox *crop = index < cropRoiBoxes_.size() ? &cropRoiBoxes_[index] : nullptr;
    const int width = crop ? static_cast<int>(crop->x1 - crop->x0) : static_cast<int>(info.widthOriginal);
    const int height = crop ? static_cast<int>(crop->y1 - crop->y0) : static_cast<int>(info.heightOriginal);
    if (!normalizedFlag && info.widthResize > 0 && info.heightResize > 0) {
        for (ObjectInfo &box : objInfos) {
            box.x0 /= info.widthResize;
            box.x1 /= info.widthResize;
            box.y0 /= info.heightResize;
            box.y1 /= info.heightResize;
        }
    }
    ResizeReduction(info, width, height, objInfos);
    if (crop) mxface::shift(objInfos, crop->x0, crop->y0);
}

void ObjectPostProcessBase::CoordinatesReduction(std::vector<std::vector<ObjectInfo>> &objInfos,
                                                 const std::vector<ImagePreProcessInfo> &imagePreProcessInfos,
                                                 bool normalizedFlag)
{
    const size_t images = std::min(objInfos.size(), imagePreProcessInfos.size());
    for (size_t i = 0; i < images; i++) {
        const ImagePreProcessInfo &info = imagePreProcessInfos[i];
        const char *words = "CoordinatesReduction: a ratio of imagePreProcessInfos is 0.";
        if (is_zero(info.xRatio, words) || is_zero(info.yRatio, words)) continue;
        if (normalizedFlag)
            mxface::scale(objInfos[i], static_cast<float>(info.imageWidth),
                          static_cast<float>(info.imageHeight));
        undo(objInfos[i], info);
    }
}

void ObjectPostProcessBase::LogObjectInfos(const std::vector<std::vector<ObjectInfo>> &objectInfos)
{
    for (size_t i = 0; i < objectInfos.size(); i++) {
        for (const ObjectInfo &box : objectInfos[i]) {
            LogDebug << "Image " << i << ": class " << box.classId << ", confidence " << box.confidence
                     << ", (" << box.x0 << ", " << box.y0 << ") to (" << box.x1 << ", " << box.y1 << ").";
        }
    }
}

APP_ERROR ObjectPostProcessBase::Process(const std::vector<TensorBase> &,
                                         std::vector<std::vector<ObjectInfo>> &,
                                         const std::vector<ResizedImageInfo> &,
                                         const std::map<std::string, std::shared_ptr<void>> &)
{
    return refuse_process();
}

/* Key points --------------------------------------------------------------------------------- */

KeypointPostProcessBase &KeypointPostProcessBase::operator=(const KeypointPostProcessBase &other) = default;

APP_ERROR KeypointPostProcessBase::Init(const Config &postConfig) { return LoadConfigData(postConfig); }
APP_ERROR KeypointPostProcessBase::DeInit() { return APP_ERR_OK; }

void KeypointPostProcessBase::LogKeyPointInfos(
    const std::vector<std::vector<KeyPointDetectionInfo>> &keyPointInfos)
{
    for (size_t i = 0; i < keyPointInfos.size(); i++) {
        for (const KeyPointDetectionInfo &info : keyPointInfos[i])
            LogDebug << "Image " << i << ": key points of score " << info.score << ".";
    }
}

APP_ERROR KeypointPostProcessBase::GetSeparateScoreThresh(std::string &strSeparateScoreThresh)
{
    return read_thresholds(separateScoreThresh_, strSeparateScoreThresh, classNum_);
}

APP_ERROR KeypointPostProcessBase::Process(const std::vector<TensorBase> &,
                                           std::vector<std::vector<KeyPointDetectionInfo>> &,
                                           const std::vector<ResizedImageInfo> &,
                                           const std::map<std::string, std::shared_ptr<void>> &)
{
    return refuse_process();
}

/* Segmentation ------------------------------------------------------------------------------- */

SemanticSegPostProcessBase &
SemanticSegPostProcessBase::operator=(const SemanticSegPostProcessBase &other) = default;

APP_ERROR SemanticSegPostProcessBase::Init(const Config &postConfig)
{
    const APP_ERROR ret = LoadConfigData(postConfig);
    if (ret == APP_ERR_OK) GetSemanticSegConfigData();
    return ret;
}

APP_ERROR SemanticSegPostProcessBase::DeInit() { return APP_ERR_OK; }

APP_ERROR SemanticSegPostProcessBase::GetSemanticSegConfigData()
{
    const APP_ERROR ret = configData_.GetFileValue<uint32_t>("CLASS_NUM", classNum_, 0u, MOST_CLASSES);
    if (ret != APP_ERR_OK) return fail(ret, "The configuration has no usable CLASS_NUM.");
    configData_.GetFileValueWarn<int>("MODEL_TYPE", modelType_, 0, LAST_MODEL_TYPE);
    for (uint32_t i = 0; i < classNum_; i++) labelMap_.push_back(configData_.GetClassName(i));
    return APP_ERR_OK;
}

void SemanticSegPostProcessBase::CoordinatesReduction(const ResizedImageInfo &resizedImageInfo,
                                                      SemanticSegInfo &semanticSegInfos)
{
    const ResizedImageInfo &info = resizedImageInfo;
    const uint32_t height = info.heightOriginal, width = info.widthOriginal;
    const float scaling = info.keepAspectRatioScaling;
    uint32_t rows = info.heightResize, columns = info.widthResize;
    if (rows == height && columns == width) return;
    if (height == 0 || width == 0 || height > LONGEST_EDGE || width > LONGEST_EDGE || rows > LONGEST_EDGE ||
        columns > LONGEST_EDGE || !(scaling > -1.0f && scaling < LARGEST_SCALING + 1.0f)) {
        fail(APP_ERR_COMM_INVALID_PARAM, "CoordinatesReduction: resizedImageInfo is out of range.");
        return;
    }
    if (info.resizeType == RESIZER_TF_KEEP_ASPECT_RATIO || info.resizeType == RESIZER_MS_KEEP_ASPECT_RATIO) {
        rows = static_cast<uint32_t>(height * std::max(scaling, 0.0f));
        columns = static_cast<uint32_t>(width * std::max(scaling, 0.0f));
    }
    const std::vector<std::vector<int>> &from = semanticSegInfos.pixels;
    std::vector<std::vector<int>> to(height, std::vector<int>(width));
    for (uint32_t y = 0; y < height; y++) {
        const uint32_t i = y * rows / height;
        for (uint32_t x = 0; x < width; x++) {
            const uint32_t j = x * columns / width;
            if (i < from.size() && j < from[i].size()) to[y][x] = from[i][j];
        }
    }
    semanticSegInfos.pixels = to;
}

APP_ERROR SemanticSegPostProcessBase::Process(const std::vector<TensorBase> &, std::vector<SemanticSegInfo> &,
                                              const std::vector<ResizedImageInfo> &,
                                              const std::map<std::string, std::shared_ptr<void>> &)
{
    return refuse_process();
}

/* Texts -------------------------------------------------------------------------------------- */

TextGenerationPostProcessBase &
TextGenerationPostProcessBase::operator=(const TextGenerationPostProcessBase &other) = default;

APP_ERROR TextGenerationPostProcessBase::Init(const Config &postConfig)
{
    const APP_ERROR ret = LoadConfigData(postConfig);
    if (ret == APP_ERR_OK) configData_.GetFileValueWarn<uint32_t>("CLASS_NUM", classNum_, 0u, MOST_WORDS);
    return ret;
}

APP_ERROR TextGenerationPostProcessBase::DeInit() { return APP_ERR_OK; }

APP_ERROR TextGenerationPostProcessBase::Process(const std::vector<TensorBase> &, std::vector<TextsInfo> &,
                                                 const std::map<std::string, std::shared_ptr<void>> &)
{
    return refuse_process();
}

TextObjectPostProcessBase &
TextObjectPostProcessBase::operator=(const TextObjectPostProcessBase &other) = default;

APP_ERROR TextObjectPostProcessBase::Init(const Config &postConfig)
{
    const APP_ERROR ret = LoadConfigData(postConfig);
    if (ret == APP_ERR_OK) configData_.GetFileValueWarn<bool>("CHECK_MODEL_FLAG", checkModelFlag_);
    return ret;
}

APP_ERROR TextObjectPostProcessBase::DeInit() { return APP_ERR_OK; }

APP_ERROR TextObjectPostProcessBase::Process(const std::vector<TensorBase> &,
                                             std::vector<std::vector<TextObjectInfo>> &,
                                             const std::vector<ResizedImageInfo> &,
                                             const std::map<std::string, std::shared_ptr<void>> &)
{
    return refuse_process();
}

void TextObjectPostProcessBase::FixCoords(uint32_t srcData, float &desData)
{
    desData = std::max(0.0f, std::min(static_cast<float>(srcData), desData));
}

void TextObjectPostProcessBase::ResizeReduction(const ResizedImageInfo &resizedImageInfo,
                                                TextObjectInfo &textObjInfo)
{
    const ResizedImageInfo &info = resizedImageInfo;
    TextObjectInfo &text = textObjInfo;
    float xScale = 1.0f, yScale = 1.0f;
    if (info.resizeType == RESIZER_STRETCHING) {
        xScale = static_cast<float>(info.widthOriginal);
        yScale = static_cast<float>(info.heightOriginal);
    } else if (JudgeResizeType(info)) {
        const float ratio = info.keepAspectRatioScaling;
        if (is_zero(ratio, "ResizeReduction: keepAspectRatioScaling is 0.")) return;
        xScale = info.widthResize / ratio;
        yScale = info.heightResize / ratio;
    }
    for (float *x : { &text.x0, &text.x1, &text.x2, &text.x3 }) {
        *x *= xScale;
        FixCoords(info.widthOriginal, *x);
    }
    for (float *y : { &text.y0, &text.y1, &text.y2, &text.y3 }) {
        *y *= yScale;
        FixCoords(info.heightOriginal, *y);
    }
}

} // namespace MxBase
