/* DataType.h - the enumerations of tensors, images and operators. */
#ifndef MX_DATATYPE_H
#define MX_DATATYPE_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "MxBase/E2eInfer/Size/Size.h"

namespace MxBase {

enum class TensorDType {
    UNDEFINED = -1,
    FLOAT32 = 0,
    FLOAT16 = 1,
    INT8 = 2,
    INT32 = 3,
    UINT8 = 4,
    INT16 = 6,
    UINT16 = 7,
    UINT32 = 8,
    INT64 = 9,
    UINT64 = 10,
    DOUBLE64 = 11,
    BOOL = 12
};

enum class VisionDataFormat { NCHW = 0, NHWC = 1 };

enum class StreamFormat {
    H265_MAIN_LEVEL = 0,
    H264_BASELINE_LEVEL = 1,
    H264_MAIN_LEVEL = 2,
    H264_HIGH_LEVEL = 3
};

enum class Interpolation {
    HUAWEI_HIGH_ORDER_FILTER = 0,
    BILINEAR_SIMILAR_OPENCV = 1,
    NEAREST_NEIGHBOR_OPENCV = 2,
    BILINEAR_SIMILAR_TENSORFLOW = 3,
    NEAREST_NEIGHBOR_TENSORFLOW = 4,
};

enum class BorderType {
    BORDER_CONSTANT = 0,
    BORDER_REPLICATE = 1,
    BORDER_REFLECT = 2,
    BORDER_REFLECT_101 = 3
};

enum class ImageFormat {
    YUV_400 = 0,
    YUV_SP_420 = 1,
    YVU_SP_420 = 2,
    YUV_SP_422 = 3,
    YVU_SP_422 = 4,
    YUV_SP_444 = 5,
    YVU_SP_444 = 6,
    YUYV_PACKED_422 = 7,
    UYVY_PACKED_422 = 8,
    YVYU_PACKED_422 = 9,
    VYUY_PACKED_422 = 10,
    YUV_PACKED_444 = 11,
    RGB_888 = 12,
    BGR_888 = 13,
    ARGB_8888 = 14,
    ABGR_8888 = 15,
    RGBA_8888 = 16,
    BGRA_8888 = 17,
};

enum class CvtColorMode {
    COLOR_YUVSP4202GRAY = 0,
    COLOR_YVUSP4202GRAY = 1,
    COLOR_YUVSP4202RGB = 2,
    COLOR_YVUSP4202RGB = 3,
    COLOR_YUVSP4202BGR = 4,
    COLOR_YVUSP4202BGR = 5,
    COLOR_RGB2GRAY = 6,
    COLOR_BGR2GRAY = 7,
    COLOR_BGR2RGB = 8,
    COLOR_RGB2BGR = 9,
    COLOR_RGB2RGBA = 10,
    COLOR_RGBA2GRAY = 11,
    COLOR_RGBA2RGB = 12,
    COLOR_GRAY2RGB = 13,
    COLOR_RGBA2mRGBA = 14,
    COLOR_BGR2YUVSP420 = 15,
    COLOR_RGB2YUVSP420 = 16,
    COLOR_RGB2YVUSP420 = 17,
    COLOR_BGR2YVUSP420 = 18
};

enum class ReduceDim { REDUCE_HEIGHT = 0, REDUCE_WIDTH = 1 };
enum class ReduceType { REDUCE_SUM = 0, REDUCE_MEAN = 1, REDUCE_MAX = 2, REDUCE_MIN = 3 };
enum class CmpOp { CMP_EQ = 0, CMP_NE, CMP_LT, CMP_GT, CMP_LE, CMP_GE };
enum class MorphShape { MORPH_RECT = 0, MORPH_CROSS = 1, MORPH_ELLIPSE = 2, MORPH_MAX = 100 };
enum class ThresholdType { THRESHOLD_BINARY = 0, THRESHOLD_BINARY_INV = 1 };

struct ModelLoadOptV2 {
    enum ModelLoadType {
        LOAD_MODEL_FROM_FILE = 1,
        LOAD_MODEL_FROM_FILE_WITH_MEM,
        LOAD_MODEL_FROM_MEM,
        LOAD_MODEL_FROM_MEM_WITH_MEM
    };
    enum ModelType { MODEL_TYPE_OM = 0, MODEL_TYPE_MINDIR };
    ModelType modelType = MODEL_TYPE_OM;
    ModelLoadType loadType = LOAD_MODEL_FROM_FILE;
    std::string modelPath = "";
    void *modelPtr = nullptr;
    void *modelWorkPtr = nullptr;
    void *modelWeightPtr = nullptr;
    size_t modelSize = 0;
    size_t workSize = 0;
    size_t weightSize = 0;
};

struct BlurConfig {
    Size kernelSize = Size(3, 3);
    MorphShape morphShape = MorphShape::MORPH_RECT;
    std::pair<int, int> anchor = std::make_pair(-1, -1);
    uint32_t iterations = 1;
    BorderType borderType = BorderType::BORDER_REPLICATE;
    std::vector<double> borderValue;
};

__attribute__((unused)) static const std::map<ImageFormat, std::string> IMAGE_FORMAT_STRING = {
    { ImageFormat::YUV_400, "YUV_400" },
    { ImageFormat::YUV_SP_420, "YUV_SP_420" },
    { ImageFormat::YVU_SP_420, "YVU_SP_420" },
    { ImageFormat::YUV_SP_422, "YUV_SP_422" },
    { ImageFormat::YVU_SP_422, "YVU_SP_422" },
    { ImageFormat::YUV_SP_444, "YUV_SP_444" },
    { ImageFormat::YVU_SP_444, "YVU_SP_444" },
    { ImageFormat::YUYV_PACKED_422, "YUYV_PACKED_422" },
    { ImageFormat::UYVY_PACKED_422, "UYVY_PACKED_422" },
    { ImageFormat::YVYU_PACKED_422, "YVYU_PACKED_422" },
    { ImageFormat::VYUY_PACKED_422, "VYUY_PACKED_422" },
    { ImageFormat::YUV_PACKED_444, "YUV_PACKED_444" },
    { ImageFormat::RGB_888, "RGB_888" },
    { ImageFormat::BGR_888, "BGR_888" },
    { ImageFormat::ARGB_8888, "ARGB_8888" },
    { ImageFormat::ABGR_8888, "ABGR_8888" },
    { ImageFormat::RGBA_8888, "RGBA_8888" },
    { ImageFormat::BGRA_8888, "BGRA_8888" },
};

} // namespace MxBase

#endif
