/* test_mxbase_yolov3.cpp - a program in this system's manner: the postprocess of a YOLOv3 detector.
 *
 * A subclass of ObjectPostProcessBase reads its configuration and labels, takes the three output tensors of a
 * model from the device (NCHW), decodes boxes against anchors, suppresses them class by class, and maps what
 * is left back to two pictures that were resized in different ways. The tensors are made here, with objects
 * planted in known cells, so that what must come out is known. */
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "MxBase/CV/ObjectDetection/Nms/Nms.h"
#include "MxBase/DeviceManager/DeviceManager.h"
#include "MxBase/Maths/FastMath.h"
#include "MxBase/PostProcessBases/ObjectPostProcessBase.h"
#include "MxBase/Utils/FileUtils.h"
#include "MxBase/Utils/StringUtils.h"
#include "test.h"

namespace {

using namespace MxBase;

const uint32_t NET = 96; /* edge of the model's input */
const uint32_t GRIDS[] = { NET / 32, NET / 16, NET / 8 };
const uint32_t LAYERS = 3;
const uint32_t BATCH = 2;
const float BACKGROUND = -9.0f; /* a logit that no threshold lets through */
const int BOX_VALUES = 5;       /* x, y, width, height, objectness */

class Yolov3PostProcess : public ObjectPostProcessBase {
public:
    APP_ERROR Init(const std::map<std::string, std::string> &postConfig) override;
    APP_ERROR Process(const std::vector<TensorBase> &tensors,
                      std::vector<std::vector<ObjectInfo>> &objectInfos,
                      const std::vector<ResizedImageInfo> &resizedImageInfos = {},
                      const std::map<std::string, std::shared_ptr<void>> &configParamMap = {}) override;
    uint64_t GetCurrentVersion() override { return MINDX_SDK_VERSION; }

private:
    bool IsValidTensors(const std::vector<TensorBase> &tensors) const;
    void SelectClasses(const float *data, uint32_t layer, uint32_t cell, uint32_t anchor,
                       std::vector<ObjectInfo> &found) const;
    void DecodeLayer(const float *data, uint32_t layer, std::vector<ObjectInfo> &found) const;

    float objectnessThresh_ = 0.3f;
    float iouThresh_ = 0.45f;
    uint32_t anchorDim_ = 3;
    std::vector<float> biases_;
};

APP_ERROR Yolov3PostProcess::Init(const std::map<std::string, std::string> &postConfig)
{
    APP_ERROR ret = ObjectPostProcessBase::Init(postConfig);
    if (ret != APP_ERR_OK) {
        LogError << GetError(ret) << "Fail to superinit in ObjectPostProcessBase.";
        return ret;
    }
    configData_.GetFileValueWarn<uint32_t>("ANCHOR_DIM", anchorDim_, 1u, 9u);
    configData_.GetFileValueWarn<float>("OBJECTNESS_THRESH", objectnessThresh_, 0.0f, 1.0f);
    configData_.GetFileValueWarn<float>("IOU_THRESH", iouThresh_, 0.0f, 1.0f);
    std::string biases;
    ret = configData_.GetFileValue<std::string>("BIASES", biases);
    if (ret != APP_ERR_OK) {
        LogError << GetError(ret) << "Fail to read BIASES from config.";
        return ret;
    }
    biases_ = StringUtils::SplitAndCastToFloat(biases, ',');
    return biases_.size() == 2 * anchorDim_ * LAYERS ? APP_ERR_OK : APP_ERR_COMM_INVALID_PARAM;
}

bool Yolov3PostProcess::IsValidTensors(const std::vector<TensorBase> &tensors) const
{
    if (tensors.size() != LAYERS) return false;
    for (uint32_t i = 0; i < LAYERS; i++) {
        const std::vector<uint32_t> shape = tensors[i].GetShape();
        if (shape.size() != SHAPE_SIZE_4 ||
            shape[VECTOR_SECOND_INDEX] != anchorDim_ * (BOX_VALUES + classNum_) ||
            shape[VECTOR_THIRD_INDEX] != GRIDS[i] || shape[VECTOR_FOURTH_INDEX] != GRIDS[i])
            return false;
    }
    return true;
}

/* One box of one cell, for each class that is likely enough. Places are from 0 to 1. */
void Yolov3PostProcess::SelectClasses(const float *data, uint32_t layer, uint32_t cell, uint32_t anchor,
                                      std::vector<ObjectInfo> &found) const
{
    const uint32_t grid = GRIDS[layer], cells = grid * grid;
    const float *box = data + (anchor * (BOX_VALUES + classNum_)) * cells + cell;
    const float objectness = fastmath::sigmoid(box[4 * cells]);
    if (objectness <= objectnessThresh_) return;
    const float *bias = &biases_[2 * (anchorDim_ * (LAYERS - 1 - layer) + anchor)];
    const float x = (cell % grid + fastmath::sigmoid(box[0])) / grid;
    const float y = (cell / grid + fastmath::sigmoid(box[cells])) / grid;
    const float width = fastmath::exp(box[2 * cells]) * bias[0] / NET;
    const float height = fastmath::exp(box[3 * cells]) * bias[1] / NET;
    for (uint32_t c = 0; c < classNum_; c++) {
        const float score = objectness * fastmath::sigmoid(box[(BOX_VALUES + c) * cells]);
        if (score <= separateScoreThresh_[c]) continue;
        ObjectInfo info;
        info.x0 = std::max(0.0f, x - width / COORDINATE_PARAM);
        info.y0 = std::max(0.0f, y - height / COORDINATE_PARAM);
        info.x1 = std::min(1.0f, x + width / COORDINATE_PARAM);
        info.y1 = std::min(1.0f, y + height / COORDINATE_PARAM);
        info.classId = c;
        info.confidence = score;
        found.push_back(info);
    }
}

void Yolov3PostProcess::DecodeLayer(const float *data, uint32_t layer, std::vector<ObjectInfo> &found) const
{
    for (uint32_t cell = 0; cell < GRIDS[layer] * GRIDS[layer]; cell++) {
        for (uint32_t anchor = 0; anchor < anchorDim_; anchor++)
            SelectClasses(data, layer, cell, anchor, found);
    }
}

APP_ERROR Yolov3PostProcess::Process(const std::vector<TensorBase> &tensors,
                                     std::vector<std::vector<ObjectInfo>> &objectInfos,
                                     const std::vector<ResizedImageInfo> &resizedImageInfos,
                                     const std::map<std::string, std::shared_ptr<void>> &)
{
    std::vector<TensorBase> inputs = tensors;
    APP_ERROR ret = CheckAndMoveTensors(inputs);
    if (ret != APP_ERR_OK) return ret;
    if (!IsValidTensors(inputs) || inputs[0].GetShape()[0] != resizedImageInfos.size()) {
        LogError << GetError(APP_ERR_INPUT_NOT_MATCH) << "The tensors are not a YOLOv3's.";
        return APP_ERR_INPUT_NOT_MATCH;
    }
    for (uint32_t image = 0; image < resizedImageInfos.size(); image++) {
        std::vector<ObjectInfo> found;
        for (uint32_t layer = 0; layer < LAYERS; layer++)
            DecodeLayer(static_cast<const float *>(GetBuffer(inputs[layer], image)), layer, found);
        MxBase::NmsSort(found, iouThresh_);
        CoordinatesReduction(image, resizedImageInfos[image], found);
        for (ObjectInfo &info : found)
            info.className = configData_.GetClassName(static_cast<size_t>(info.classId));
        objectInfos.push_back(found);
    }
    LogObjectInfos(objectInfos);
    return APP_ERR_OK;
}

/* What a model would have written ------------------------------------------------------------ */

const uint32_t CLASSES = 3;
const uint32_t ANCHORS = 3;

class Outputs {
public:
    Outputs()
    {
        for (uint32_t i = 0; i < LAYERS; i++)
            data_[i].assign(BATCH * ANCHORS * (BOX_VALUES + CLASSES) * GRIDS[i] * GRIDS[i], BACKGROUND);
    }

    /* An object at the centre of a cell, of the anchor's size. */
    void Plant(uint32_t image, uint32_t layer, uint32_t anchor, uint32_t row, uint32_t column, uint32_t id,
               float logit)
    {
        const uint32_t cells = GRIDS[layer] * GRIDS[layer];
        const uint32_t first = (image * ANCHORS + anchor) * (BOX_VALUES + CLASSES);
        float *box = &data_[layer][first * cells + row * GRIDS[layer] + column];
        for (int i = 0; i < 4; i++) box[i * cells] = 0.0f;
        box[4 * cells] = logit;
        box[(BOX_VALUES + id) * cells] = logit;
    }

    std::vector<TensorBase> OnDevice()
    {
        std::vector<TensorBase> tensors;
        for (uint32_t i = 0; i < LAYERS; i++) {
            const uint32_t channels = ANCHORS * (BOX_VALUES + CLASSES);
            const std::vector<uint32_t> shape = { BATCH, channels, GRIDS[i], GRIDS[i] };
            const MemoryData memory(data_[i].data(), data_[i].size() * sizeof(float));
            const TensorBase host(memory, true, shape, TENSOR_DTYPE_FLOAT32);
            TensorBase device(shape, TENSOR_DTYPE_FLOAT32, MemoryData::MEMORY_DEVICE, 0);
            EXPECT(TensorBase::TensorBaseMalloc(device) == APP_ERR_OK);
            EXPECT(TensorBase::TensorBaseCopy(device, host) == APP_ERR_OK);
            tensors.push_back(device);
        }
        return tensors;
    }

private:
    std::vector<float> data_[LAYERS];
};

std::string folder;

std::map<std::string, std::string> configuration()
{
    const std::string config = folder + "/yolov3.cfg", labels = folder + "/coco.names";
    const std::string text = "# a small YOLOv3\n"
                             "CLASS_NUM = 3\nANCHOR_DIM=3\n"
                             "BIASES=8,8,8,16,16,8,16,16,16,32,32,16,32,32,32,64,64,32 # pairs\n"
                             "SCORE_THRESH=0.4\nSEPARATE_SCORE_THRESH=0.4,0.4,0.9\n"
                             "OBJECTNESS_THRESH=0.3\nIOU_THRESH=0.45\n";
    EXPECT(FileUtils::WriteFileContent(config, text));
    EXPECT(FileUtils::WriteFileContent(labels, "# labels\nperson\nbicycle\ncar\n"));
    return { { "postProcessConfigPath", config }, { "labelPath", labels } };
}

bool near(float a, float b) { return std::fabs(a - b) < 1e-3f; }

bool is_box(const ObjectInfo &info, const char *name, float x0, float y0, float x1, float y1)
{
    return info.className == name && near(info.x0, x0) && near(info.y0, y0) && near(info.x1, x1) &&
           near(info.y1, y1);
}

} // namespace

TEST(test_planted_objects_come_back_in_pixels_of_their_pictures)
{
    Yolov3PostProcess post;
    EXPECT(post.Init(configuration()) == APP_ERR_OK);
    Outputs out;
    out.Plant(0, 0, 0, 1, 1, 0, 4.0f); /* 32 x 32 around (48, 48) */
    out.Plant(0, 1, 2, 2, 2, 0, 1.5f); /* 32 x 16 around (40, 40): overlaps it by a third */
    out.Plant(0, 2, 2, 0, 0, 2, 1.0f); /* a car below its own threshold */
    out.Plant(0, 2, 0, 3, 9, 1, 3.0f); /* 8 x 8 around (76, 28) */
    out.Plant(1, 0, 0, 0, 0, 2, 5.0f); /* 32 x 32 around (16, 16) */
    out.Plant(1, 0, 2, 0, 0, 2, 3.5f); /* 64 x 32 there, of which two thirds are the other */
    out.Plant(1, 0, 0, 2, 2, 0, 6.0f); /* below the picture, in its padding */

    std::vector<TensorBase> tensors = out.OnDevice();
    const std::vector<ResizedImageInfo> images = {
        ResizedImageInfo(NET, NET, 192, 288, RESIZER_STRETCHING, 0),
        ResizedImageInfo(NET, NET, 192, 96, RESIZER_MS_KEEP_ASPECT_RATIO, 0.5f),
    };
    std::vector<std::vector<ObjectInfo>> objects;
    EXPECT(post.Process(tensors, objects, images) == APP_ERR_OK);
    EXPECT(objects.size() == 2);
    if (objects.size() != 2 || objects[0].size() != 3 || objects[1].size() != 1) {
        EXPECT(!"three objects in the first picture, one in the second");
        return;
    }
    EXPECT(is_box(objects[0][0], "person", 64, 96, 128, 192));
    EXPECT(is_box(objects[0][1], "person", 48, 96, 112, 144));
    EXPECT(is_box(objects[0][2], "bicycle", 144, 72, 160, 96));
    EXPECT(objects[0][0].confidence > objects[0][1].confidence);
    EXPECT(is_box(objects[1][0], "car", 0, 0, 64, 64));
    EXPECT(near(objects[1][0].confidence, 1 / std::pow(1 + std::exp(-5.0f), 2.0f)));
    EXPECT(tensors[0].IsHost()); /* copies share their memory: it has moved */
    EXPECT(post.GetCurrentVersion() == 5000000);
    EXPECT(post.DeInit() == APP_ERR_OK);
}

TEST(test_boxes_of_a_cut_picture_lie_in_the_whole_one)
{
    Yolov3PostProcess post;
    EXPECT(post.Init(configuration()) == APP_ERR_OK);
    post.SetCropRoiBoxes({ CropRoiBox{ 100, 50, 196, 146 } });
    Outputs out;
    out.Plant(0, 0, 0, 1, 1, 0, 4.0f);
    std::vector<TensorBase> tensors = out.OnDevice();
    const ResizedImageInfo image(NET, NET, 500, 500, RESIZER_STRETCHING, 0);
    std::vector<std::vector<ObjectInfo>> objects;
    EXPECT(post.Process(tensors, objects, { image, image }) == APP_ERR_OK);
    EXPECT(objects.size() == 2 && objects[0].size() == 1 && objects[1].empty());
    EXPECT(is_box(objects[0][0], "person", 132, 82, 164, 114));
}

TEST(test_what_is_no_yolov3_is_refused)
{
    Yolov3PostProcess post;
    std::map<std::string, std::string> config = configuration();
    config["postProcessConfigContent"] = "{\"CLASS_NUM\": \"3\"}"; /* comes before the path, without BIASES */
    EXPECT(post.Init(config) == APP_ERR_COMM_NO_EXIST);
    Yolov3PostProcess good;
    EXPECT(good.Init(configuration()) == APP_ERR_OK);
    std::vector<std::vector<ObjectInfo>> objects;
    std::vector<TensorBase> tensors = Outputs().OnDevice();
    EXPECT(good.Process(tensors, objects, {}) == APP_ERR_INPUT_NOT_MATCH);
    tensors.pop_back();
    const std::vector<ResizedImageInfo> images(BATCH);
    EXPECT(good.Process(tensors, objects, images) == APP_ERR_INPUT_NOT_MATCH && objects.empty());
    ObjectPostProcessBase base;
    EXPECT(base.Process(tensors, objects, images) == APP_ERR_COMM_UNREALIZED);
}

TEST_BEFORE
{
    if (!folder.empty()) return;
    char name[] = "/tmp/mxbase-yolov3-XXXXXX";
    folder = mkdtemp(name);
    setenv("GLOG_minloglevel", "4", 1);
    DeviceManager::GetInstance()->InitDevices();
    std::atexit([] {
        FileUtils::RemoveFile(folder + "/yolov3.cfg");
        FileUtils::RemoveFile(folder + "/coco.names");
        FileUtils::RemoveDirectories(folder);
    });
}
