/* test_mxbase_program.cpp - a program in this system's style: a detector's way from pictures to boxes.
 *
 * Pictures are laid out for a model and batched on the device; "inference" is a stand-in that the
 * program does itself on the host; its output tensors go back to the device, as a model's would be, and
 * the postprocess reads them with GetBuffer and GetValue, decodes boxes, suppresses and counts them. */
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "MxBase/DeviceManager/DeviceManager.h"
#include "MxBase/ErrorCode/ErrorCode.h"
#include "MxBase/Log/Log.h"
#include "MxBase/MemoryHelper/MemoryHelper.h"
#include "MxBase/Tensor/TensorBase/TensorBase.h"
#include "MxBase/Tensor/TensorContext/TensorContext.h"
#include "test.h"

namespace {

const uint32_t IMAGE_HEIGHT = 8;
const uint32_t IMAGE_WIDTH = 12;
const uint32_t CHANNELS = 3;
const uint32_t CANDIDATES = 6;
const uint32_t BOX_SIZE = 4;
const uint32_t CLASSES = 3;
const float SCORE_THRESHOLD = 0.5f;
const float IOU_THRESHOLD = 0.4f;

struct InitParam {
    uint32_t deviceId = 0;
    std::map<int, std::string> labels;
};

struct ObjectInfo {
    float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    float confidence = 0;
    int classId = -1;
    std::string className;
};

/* What the stand-in for the model finds: boxes, and logits for each class. */
const float BOXES[CANDIDATES][BOX_SIZE] = {
    { 0, 0, 4, 4 },     { 0.5f, 0, 4.5f, 4 }, { 6, 1, 10, 5 },
    { 6, 1, 10, 5.5f }, { 1, 5, 3, 7 },       { 0, 0, 12, 8 },
};
const float LOGITS[CANDIDATES][CLASSES] = {
    { 4, 0, 0 }, { 3, 0, 0 }, { 0, 5, 1 }, { 0, 1, 4 }, { 0.1f, 0.2f, 0.1f }, { 0, 2.5f, 0 },
};

class Detector {
public:
    APP_ERROR Init(const InitParam &initParam);
    APP_ERROR DeInit();
    APP_ERROR Process(const std::vector<std::vector<uint8_t>> &pictures,
                      std::vector<std::vector<ObjectInfo>> &objects);

    std::vector<float> meansSeen;

private:
    APP_ERROR PictureToTensor(const std::vector<uint8_t> &picture, MxBase::TensorBase &tensor) const;
    APP_ERROR Inference(const MxBase::TensorBase &batch, std::vector<MxBase::TensorBase> &outputs);
    APP_ERROR PostProcess(std::vector<MxBase::TensorBase> &outputs,
                          std::vector<std::vector<ObjectInfo>> &objects) const;
    APP_ERROR DecodeOne(const MxBase::TensorBase &boxes, const MxBase::TensorBase &logits, uint32_t image,
                        std::vector<ObjectInfo> &found) const;
    static void Suppress(std::vector<ObjectInfo> &objects);

    uint32_t deviceId_ = 0;
    std::map<int, std::string> labels_;
};

APP_ERROR Detector::Init(const InitParam &initParam)
{
    deviceId_ = initParam.deviceId;
    labels_ = initParam.labels;
    APP_ERROR ret = MxBase::DeviceManager::GetInstance()->InitDevices();
    if (ret != APP_ERR_OK) {
        LogError << "Init devices failed, ret=" << ret << ".";
        return ret;
    }
    ret = MxBase::TensorContext::GetInstance()->SetContext(initParam.deviceId);
    if (ret != APP_ERR_OK) {
        LogError << "Set context failed, ret=" << ret << ".";
        return ret;
    }
    return APP_ERR_OK;
}

APP_ERROR Detector::DeInit()
{
    return MxBase::DeviceManager::GetInstance()->DestroyDevices();
}

/* HWC bytes to CHW floats from 0 to 1, in memory that the tensor owns, on the device. */
APP_ERROR Detector::PictureToTensor(const std::vector<uint8_t> &picture, MxBase::TensorBase &tensor) const
{
    const size_t count = CHANNELS * IMAGE_HEIGHT * IMAGE_WIDTH;
    if (picture.size() != count) {
        LogError << "A picture has " << picture.size() << " bytes."
                 << GetErrorInfo(APP_ERR_COMM_INVALID_PARAM);
        return APP_ERR_COMM_INVALID_PARAM;
    }
    auto *planes = new float[count];
    for (uint32_t c = 0; c < CHANNELS; c++) {
        for (uint32_t i = 0; i < IMAGE_HEIGHT * IMAGE_WIDTH; i++) {
            planes[c * IMAGE_HEIGHT * IMAGE_WIDTH + i] =
                static_cast<float>(picture[i * CHANNELS + c]) / 255.0f;
        }
    }
    MxBase::MemoryData host(static_cast<void *>(planes), count * sizeof(float),
                            MxBase::MemoryData::MEMORY_HOST_NEW, static_cast<int32_t>(deviceId_));
    MxBase::MemoryData device(count * sizeof(float), MxBase::MemoryData::MEMORY_DEVICE,
                              static_cast<int32_t>(deviceId_));
    APP_ERROR ret = MxBase::MemoryHelper::MxbsMallocAndCopy(device, host);
    delete[] planes;
    if (ret != APP_ERR_OK) {
        LogError << GetError(ret) << "Memory malloc failed.";
        return ret;
    }
    const std::vector<uint32_t> shape = { 1, CHANNELS, IMAGE_HEIGHT, IMAGE_WIDTH };
    tensor = MxBase::TensorBase(device, false, shape, MxBase::TENSOR_DTYPE_FLOAT32);
    return APP_ERR_OK;
}

/* The stand-in: notes the mean of each picture, and finds the same boxes in all of them. */
APP_ERROR Detector::Inference(const MxBase::TensorBase &batch, std::vector<MxBase::TensorBase> &outputs)
{
    MxBase::TensorBase pixels(batch.GetShape(), batch.GetDataType());
    APP_ERROR ret = MxBase::TensorBase::TensorBaseMalloc(pixels);
    if (ret == APP_ERR_OK) ret = MxBase::TensorBase::TensorBaseCopy(pixels, batch);
    if (ret != APP_ERR_OK) return ret;
    const uint32_t images = batch.GetShape()[0];
    const size_t each = pixels.GetSize() / images;
    meansSeen.clear();
    for (uint32_t n = 0; n < images; n++) {
        float *data = nullptr;
        ret = pixels.GetBuffer(data, n);
        if (ret != APP_ERR_OK) return ret;
        double sum = 0;
        for (size_t i = 0; i < each; i++) sum += data[i];
        meansSeen.push_back(static_cast<float>(sum / static_cast<double>(each)));
    }
    const std::vector<std::vector<uint32_t>> shapes = { { images, CANDIDATES, BOX_SIZE },
                                                        { images, CANDIDATES, CLASSES } };
    for (size_t i = 0; i < shapes.size(); i++) {
        MxBase::TensorBase tensor(shapes[i], MxBase::TENSOR_DTYPE_FLOAT32,
                                  MxBase::MemoryData::MemoryType::MEMORY_HOST_MALLOC, -1);
        ret = MxBase::TensorBase::TensorBaseMalloc(tensor);
        if (ret != APP_ERR_OK) {
            LogError << "TensorBaseMalloc failed, ret=" << ret << ".";
            return ret;
        }
        const void *from = i == 0 ? static_cast<const void *>(BOXES) : static_cast<const void *>(LOGITS);
        const size_t bytes = i == 0 ? sizeof BOXES : sizeof LOGITS;
        for (uint32_t n = 0; n < images; n++)
            memcpy(static_cast<uint8_t *>(tensor.GetBuffer()) + n * bytes, from, bytes);
        ret = tensor.ToDevice(static_cast<int32_t>(deviceId_));
        if (ret != APP_ERR_OK) return ret;
        outputs.push_back(tensor);
    }
    return APP_ERR_OK;
}

APP_ERROR Detector::DecodeOne(const MxBase::TensorBase &boxes, const MxBase::TensorBase &logits,
                              uint32_t image, std::vector<ObjectInfo> &found) const
{
    for (uint32_t k = 0; k < CANDIDATES; k++) {
        float *scores = nullptr;
        APP_ERROR ret = logits.GetBuffer(scores, image, k);
        if (ret != APP_ERR_OK) return ret;
        const int best = static_cast<int>(std::max_element(scores, scores + CLASSES) - scores);
        float total = 0;
        for (uint32_t c = 0; c < CLASSES; c++) total += std::exp(scores[c] - scores[best]);
        ObjectInfo object;
        object.confidence = 1.0f / total;
        if (object.confidence < SCORE_THRESHOLD) continue;
        object.classId = best;
        object.className = labels_.at(best);
        float *const places[] = { &object.x0, &object.y0, &object.x1, &object.y1 };
        for (uint32_t i = 0; i < BOX_SIZE; i++) {
            ret = boxes.GetValue(*places[i], image, k, i);
            if (ret != APP_ERR_OK) return ret;
        }
        found.push_back(object);
    }
    return APP_ERR_OK;
}

void Detector::Suppress(std::vector<ObjectInfo> &objects)
{
    const auto area = [](const ObjectInfo &o) { return (o.x1 - o.x0) * (o.y1 - o.y0); };
    std::sort(objects.begin(), objects.end(),
              [](const ObjectInfo &a, const ObjectInfo &b) { return a.confidence > b.confidence; });
    std::vector<ObjectInfo> kept;
    for (const ObjectInfo &o : objects) {
        bool alone = true;
        for (const ObjectInfo &k : kept) {
            const float w = std::min(o.x1, k.x1) - std::max(o.x0, k.x0),
                        h = std::min(o.y1, k.y1) - std::max(o.y0, k.y0);
            const float both = w > 0 && h > 0 ? w * h : 0;
            if (o.classId == k.classId && both / (area(o) + area(k) - both) > IOU_THRESHOLD) alone = false;
        }
        if (alone) kept.push_back(o);
    }
    objects = kept;
}

APP_ERROR Detector::PostProcess(std::vector<MxBase::TensorBase> &outputs,
                                std::vector<std::vector<ObjectInfo>> &objects) const
{
    for (MxBase::TensorBase &output : outputs) {
        const APP_ERROR ret = output.ToHost();
        if (ret != APP_ERR_OK) {
            LogError << GetError(ret) << "Copy output to host failed.";
            return ret;
        }
    }
    const uint32_t images = outputs[0].GetShape()[0];
    for (uint32_t n = 0; n < images; n++) {
        std::vector<ObjectInfo> found;
        const APP_ERROR ret = DecodeOne(outputs[0], outputs[1], n, found);
        if (ret != APP_ERR_OK) return ret;
        Suppress(found);
        objects.push_back(found);
    }
    return APP_ERR_OK;
}

APP_ERROR Detector::Process(const std::vector<std::vector<uint8_t>> &pictures,
                            std::vector<std::vector<ObjectInfo>> &objects)
{
    std::vector<MxBase::TensorBase> inputs = {};
    std::vector<MxBase::TensorBase> outputs = {};
    for (const auto &picture : pictures) {
        MxBase::TensorBase tensor;
        const APP_ERROR ret = PictureToTensor(picture, tensor);
        if (ret != APP_ERR_OK) return ret;
        inputs.push_back(tensor);
    }
    MxBase::TensorBase batch;
    APP_ERROR ret = MxBase::TensorBase::BatchVector(inputs, batch, true);
    if (ret != APP_ERR_OK) {
        LogError << "BatchVector failed, ret=" << ret << ".";
        return ret;
    }
    LogDebug << batch.GetDesc();
    ret = Inference(batch, outputs);
    if (ret != APP_ERR_OK) {
        LogError << "Inference failed, ret=" << ret << ".";
        return ret;
    }
    return PostProcess(outputs, objects);
}

InitParam parameters()
{
    InitParam param;
    param.labels = { { 0, "cat" }, { 1, "dog" }, { 2, "bird" } };
    return param;
}

std::vector<uint8_t> picture(uint8_t level)
{
    return std::vector<uint8_t>(CHANNELS * IMAGE_HEIGHT * IMAGE_WIDTH, level);
}

} // namespace

TEST(test_the_detector_finds_its_boxes_in_every_picture)
{
    Detector detector;
    if (detector.Init(parameters()) != APP_ERR_OK) SKIP("no device");
    std::vector<std::vector<ObjectInfo>> objects;
    EXPECT(detector.Process({ picture(0), picture(51), picture(255) }, objects) == APP_ERR_OK);
    EXPECT(detector.meansSeen.size() == 3 && detector.meansSeen[0] == 0 && detector.meansSeen[2] == 1);
    EXPECT(std::fabs(detector.meansSeen[1] - 0.2f) < 1e-6f);
    EXPECT(objects.size() == 3);
    for (const auto &found : objects) {
        /* Candidate 1 hides behind 0, and 4 is not sure enough. 2 and 3 overlap, but differ in class. */
        EXPECT(found.size() == 4);
        if (found.size() != 4) continue;
        EXPECT(found[0].className == "dog" && found[1].className == "cat" && found[2].className == "bird");
        EXPECT(found[3].className == "dog" && found[3].x1 == 12 && found[0].x0 == 6 && found[1].x0 == 0);
        EXPECT(std::fabs(found[0].confidence - 1 / (1 + std::exp(-5.0f) + std::exp(-4.0f))) < 1e-6f);
    }
    EXPECT(detector.DeInit() == APP_ERR_OK);
}

TEST(test_the_detector_passes_on_what_goes_wrong)
{
    Detector detector;
    InitParam param = parameters();
    param.deviceId = 1000;
    EXPECT(detector.Init(param) == APP_ERR_COMM_INVALID_PARAM);
    std::vector<std::vector<ObjectInfo>> objects;
    EXPECT(detector.Process({}, objects) == APP_ERR_COMM_INVALID_PARAM);
    EXPECT(detector.Process({ { 1, 2, 3 } }, objects) == APP_ERR_COMM_INVALID_PARAM);
    EXPECT(detector.Process({ picture(1) }, objects) != APP_ERR_OK && objects.empty());
}

TEST_BEFORE
{
    setenv("GLOG_minloglevel", "4", 1);
}
