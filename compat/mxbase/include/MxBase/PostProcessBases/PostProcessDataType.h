/* PostProcessDataType.h - what postprocesses take and give: one class for each kind of task. */
#ifndef POST_PROCESS_DATA_TYPE
#define POST_PROCESS_DATA_TYPE

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "MxBase/Common/HiddenAttr.h"

namespace MxBase {

enum TensorArrangementType { TYPE_NHWC = 0, TYPE_NCHW = 1, TYPE_NHW = 2, TYPE_NWH = 3 };

const float COORDINATE_PARAM = 2.0;
const float MEAN_PARAM = 0.5;
const int BOX_DIM = 4;
const uint32_t VECTOR_FIRST_INDEX = 0;
const uint32_t VECTOR_SECOND_INDEX = 1;
const uint32_t VECTOR_THIRD_INDEX = 2;
const uint32_t VECTOR_FOURTH_INDEX = 3;
const uint32_t VECTOR_FIFTH_INDEX = 4;
const uint32_t SHAPE_SIZE_4 = 4;
const uint32_t SHAPE_SIZE_3 = 3;

/* Detection: a box from (x0, y0) to (x1, y1). */
class SDK_AVAILABLE_FOR_OUT ObjectInfo {
public:
    ObjectInfo() = default;
    ObjectInfo(float left, float top, float right, float bottom, float score, float id, std::string name,
               std::vector<std::vector<uint8_t>> pixels)
        : x0(left), y0(top), x1(right), y1(bottom), confidence(score), classId(id), className(name),
          mask(pixels) {}

    float x0 = 0;
    float y0 = 0;
    float x1 = 0;
    float y1 = 0;
    float confidence = 0;
    float classId = 0;
    std::string className;
    std::vector<std::vector<uint8_t>> mask;
};

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

/* How an image became a model's input: point * ratio + bias, of which a part is valid. */
class SDK_AVAILABLE_FOR_OUT ImagePreProcessInfo {
public:
    ImagePreProcessInfo() = default;
    ImagePreProcessInfo(uint32_t width, uint32_t height)
        : ImagePreProcessInfo(width, height, width, height) {}
    ImagePreProcessInfo(uint32_t widthResize, uint32_t heightResize, uint32_t widthOriginal,
                        uint32_t heightOriginal)
        : imageWidth(widthResize), imageHeight(heightResize), originalWidth(widthOriginal),
          originalHeight(heightOriginal), x1Valid(widthResize), y1Valid(heightResize)
    {
        if (widthOriginal == 0 || heightOriginal == 0) return;
        xRatio = widthResize / static_cast<float>(widthOriginal);
        yRatio = heightResize / static_cast<float>(heightOriginal);
    }

    uint32_t imageWidth = 0;
    uint32_t imageHeight = 0;
    uint32_t originalWidth = 0;
    uint32_t originalHeight = 0;
    float xRatio = 1.0;
    float xBias = 0.0;
    float yRatio = 1.0;
    float yBias = 0.0;
    float x0Valid = 0.0;
    float y0Valid = 0.0;
    float x1Valid = 0.0;
    float y1Valid = 0.0;
};

class SDK_AVAILABLE_FOR_OUT ResizedImageInfo {
public:
    ResizedImageInfo() {}
    ResizedImageInfo(uint32_t wResize, uint32_t hResize, uint32_t wOriginal, uint32_t hOriginal,
                     ResizeType rType, float kARScaling)
        : widthResize(wResize), heightResize(hResize), widthOriginal(wOriginal), heightOriginal(hOriginal),
          resizeType(rType), keepAspectRatioScaling(kARScaling) {}

    uint32_t widthResize = 0;
    uint32_t heightResize = 0;
    uint32_t widthOriginal = 0;
    uint32_t heightOriginal = 0;
    ResizeType resizeType = RESIZER_STRETCHING;
    float keepAspectRatioScaling = 0; /* of the original to the resized, where the aspect is kept */
};

class SDK_AVAILABLE_FOR_OUT CropRoiBox {
public:
    float x0;
    float y0;
    float x1;
    float y1;
};

/* Classification. */
class SDK_AVAILABLE_FOR_OUT ClassInfo {
public:
    int classId;
    float confidence;
    std::string className;
};

/* Segmentation: a class for each pixel, by row. */
class SDK_AVAILABLE_FOR_OUT SemanticSegInfo {
public:
    std::vector<std::vector<int>> pixels;
    std::vector<std::string> labelMap;
};

class SDK_AVAILABLE_FOR_OUT AttributeInfo {
public:
    int attrId;
    std::string attrName;
    std::string attrValue;
    float confidence;
};

/* Text generation. */
class SDK_AVAILABLE_FOR_OUT TextsInfo {
public:
    std::vector<std::string> text;
};

/* Text detection: four corners. */
class SDK_AVAILABLE_FOR_OUT TextObjectInfo {
public:
    float x0;
    float y0;
    float x1;
    float y1;
    float x2;
    float y2;
    float x3;
    float y3;
    float confidence;
    std::string result;
};

class SDK_AVAILABLE_FOR_OUT KeyPointDetectionInfo {
public:
    std::map<int, std::vector<float>> keyPointMap;
    std::map<int, float> scoreMap;
    float score;
};

} // namespace MxBase

#endif
