/* DvppWrapperDataType.h - what programs tell the units for images and video, and what they hear of them. */
#ifndef DVPP_WRAPPER_DATA_TYPE_H
#define DVPP_WRAPPER_DATA_TYPE_H

#include <pthread.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "MxBase/Common/HiddenAttr.h"
#include "MxBase/ErrorCode/ErrorCode.h"
#include "MxBase/MemoryHelper/MemoryHelper.h"

namespace MxBase {

enum MxbasePixelFormat {
    MXBASE_PIXEL_FORMAT_YUV_400 = 0,
    MXBASE_PIXEL_FORMAT_YUV_SEMIPLANAR_420 = 1,
    MXBASE_PIXEL_FORMAT_YVU_SEMIPLANAR_420 = 2,
    MXBASE_PIXEL_FORMAT_YUV_SEMIPLANAR_422 = 3,
    MXBASE_PIXEL_FORMAT_YVU_SEMIPLANAR_422 = 4,
    MXBASE_PIXEL_FORMAT_YUV_SEMIPLANAR_444 = 5,
    MXBASE_PIXEL_FORMAT_YVU_SEMIPLANAR_444 = 6,
    MXBASE_PIXEL_FORMAT_YUYV_PACKED_422 = 7,
    MXBASE_PIXEL_FORMAT_UYVY_PACKED_422 = 8,
    MXBASE_PIXEL_FORMAT_YVYU_PACKED_422 = 9,
    MXBASE_PIXEL_FORMAT_VYUY_PACKED_422 = 10,
    MXBASE_PIXEL_FORMAT_YUV_PACKED_444 = 11,
    MXBASE_PIXEL_FORMAT_RGB_888 = 12,
    MXBASE_PIXEL_FORMAT_BGR_888 = 13,
    MXBASE_PIXEL_FORMAT_ARGB_8888 = 14,
    MXBASE_PIXEL_FORMAT_ABGR_8888 = 15,
    MXBASE_PIXEL_FORMAT_RGBA_8888 = 16,
    MXBASE_PIXEL_FORMAT_BGRA_8888 = 17,
    MXBASE_PIXEL_FORMAT_ANY = 100,
    MXBASE_PIXEL_FORMAT_JPEG = 101,
    MXBASE_PIXEL_FORMAT_PNG = 102,
    MXBASE_PIXEL_FORMAT_BOTTOM = 103,
};

enum MxbaseStreamFormat {
    MXBASE_STREAM_FORMAT_H265_MAIN_LEVEL = 0,
    MXBASE_STREAM_FORMAT_H264_BASELINE_LEVEL = 1,
    MXBASE_STREAM_FORMAT_H264_MAIN_LEVEL = 2,
    MXBASE_STREAM_FORMAT_H264_HIGH_LEVEL = 3,
};

enum MxbaseDvppChannelMode {
    MXBASE_DVPP_CHNMODE_DEFAULT = 0,
    MXBASE_DVPP_CHNMODE_VPC = 1,
    MXBASE_DVPP_CHNMODE_JPEGD = 2,
    MXBASE_DVPP_CHNMODE_JPEGE = 3,
    MXBASE_DVPP_CHNMODE_PNGD = 4,
};

/* A picture. The strides are its edges as they lie in memory. */
struct DvppDataInfo {
    uint32_t width = 0;
    uint32_t height = 0;
    uint32_t widthStride = 0;
    uint32_t heightStride = 0;
    MxbasePixelFormat format = MXBASE_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
    uint32_t frameId = 0;
    uint32_t channelId = 0;
    uint32_t dataSize = 0; /* bytes */
    uint32_t outDataSize = 0;
    uint32_t dataType = 0;
    uint8_t *data = nullptr;
    uint8_t *outData = nullptr;
    uint32_t resizeWidth = 0;
    uint32_t resizeHeight = 0;
    std::string device = "host:0"; /* or "device:0" */
    uint32_t deviceId = 0;
    void (*destory)(void *) = nullptr; /* as the system spells it: frees the data */
};

typedef APP_ERROR (*DecodeCallBackFunction)(std::shared_ptr<void> buffer, DvppDataInfo &dvppDataInfo,
                                            void *userData);

struct VdecConfig {
    uint32_t width = 0;
    uint32_t height = 0;
    MxbaseStreamFormat inputVideoFormat = MXBASE_STREAM_FORMAT_H264_MAIN_LEVEL;
    MxbasePixelFormat outputImageFormat = MXBASE_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
    uint32_t channelId = 0;
    uint32_t deviceId = 0;
    pthread_t threadId = 0;
    DecodeCallBackFunction callbackFunc = nullptr;
    uint32_t outMode = 0;
    uint32_t videoChannel = 0;
    uint32_t skipInterval = 0;
    uint32_t cscMatrix = 0;
    void *userData = nullptr;
};

struct EncodeH26xInfo {
    std::function<void(std::shared_ptr<uint8_t>, uint32_t)> func = {};
};

struct DecodeH26xInfo {
    DecodeH26xInfo(uint32_t channel, uint32_t frame, DecodeCallBackFunction function, void *data)
        : channelId(channel), frameId(frame), callbackFunc(function), userData(data) {}
    uint32_t channelId = 0;
    uint32_t frameId = 0;
    DecodeCallBackFunction callbackFunc = nullptr;
    void *userData = nullptr;
    bool userMalloc = false;
};

struct CropRoiConfig {
    uint32_t x0;
    uint32_t x1;
    uint32_t y1;
    uint32_t y0;
};

struct MakeBorderConfig {
    enum BorderType { BORDER_CONSTANT = 0, BORDER_REPLICATE, BORDER_REFLECT, BORDER_REFLECT_101 };
    uint32_t left;
    uint32_t right;
    uint32_t top;
    uint32_t bottom;
    uint32_t channel_zero;
    uint32_t channel_one;
    uint32_t channel_two;
    BorderType borderType;
};

struct CropResizePasteConfig {
    uint32_t cropLeft;
    uint32_t cropRight;
    uint32_t cropTop;
    uint32_t cropBottom;
    uint32_t pasteLeft;
    uint32_t pasteRight;
    uint32_t pasteTop;
    uint32_t pasteBottom;
    uint32_t interpolation;
};

struct ResizeConfig {
    uint32_t height = 0;
    uint32_t width = 0;
    float scale_x = 0.f;
    float scale_y = 0.f;
    uint32_t interpolation = 0;
};

struct DvppImageInfo {
    enum PictureType { PIXEL_FORMAT_ANY = 0, PIXEL_FORMAT_JPEG = 1, PIXEL_FORMAT_PNG = 2 };
    const void *data;
    uint32_t size;
    PictureType pictureType;
};

struct DvppImageOutput {
    uint32_t width;
    uint32_t height;
    int32_t components;
    uint32_t widthStride;
    uint32_t heightStride;
    uint32_t outImgDatasize;
};

/* What edges are aligned to, by the unit that writes the picture. */
const uint32_t VPC_STRIDE_WIDTH = 16;
const uint32_t VPC_STRIDE_HEIGHT = 2;
const uint32_t VDEC_STRIDE_WIDTH = 16;
const uint32_t VDEC_STRIDE_HEIGHT = 2;
const uint32_t VENC_STRIDE_WIDTH = 16;
const uint32_t VENC_STRIDE_HEIGHT = 16;
const uint32_t JPEGD_STRIDE_WIDTH = 128;
const uint32_t JPEGD_STRIDE_HEIGHT = 16;

/* Bytes of a row of pixels, and of three rows over two of YUV 420. */
const uint32_t YUV422_WIDTH_NU = 2;
const uint32_t YUV444_RGB_WIDTH_NU = 3;
const uint32_t XRGB_WIDTH_NU = 4;
const int YUV_BGR_SIZE_CONVERT_3 = 3;
const int YUV_BGR_SIZE_CONVERT_2 = 2;

const uint32_t MIN_RESIZE_WIDTH = 10;
const uint32_t MIN_RESIZE_HEIGHT = 6;
const uint32_t MAX_RESIZE_WIDTH = 8192;
const uint32_t MAX_RESIZE_HEIGHT = 8192;
const uint32_t MIN_CROP_WIDTH = 10;
const uint32_t MIN_CROP_HEIGHT = 6;
const uint32_t MIN_JPEGD_WIDTH = 32;
const uint32_t MIN_JPEGD_HEIGHT = 32;
const uint32_t MAX_JPEGD_WIDTH = 8192;
const uint32_t MAX_JPEGD_HEIGHT = 8192;
const int MODULUS_NUM_2 = 2;

#define CONVERT_TO_ODD(NUM) (((NUM) % MODULUS_NUM_2 != 0) ? (NUM) : ((NUM) - 1))
#define CONVERT_TO_EVEN(NUM) (((NUM) % MODULUS_NUM_2 == 0) ? (NUM) : ((NUM) - 1))
#define CHECK_ODD(num) ((num) % MODULUS_NUM_2 != 0)
#define CHECK_EVEN(num) ((num) % MODULUS_NUM_2 == 0)
#define DVPP_ALIGN_UP(x, align) ((((x) + ((align) - 1)) / (align)) * (align))

inline uint32_t DvppAlignDown(uint32_t x, uint32_t align) { return align ? x - x % align : x; }

} // namespace MxBase

#endif
