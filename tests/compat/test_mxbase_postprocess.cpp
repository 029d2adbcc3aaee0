/* test_mxbase_postprocess.cpp - overlaps and suppression, coordinates back to pictures, and the bases. */
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "MxBase/CV/ObjectDetection/Nms/Nms.h"
#include "MxBase/DeviceManager/DeviceManager.h"
#include "MxBase/DvppWrapper/DvppWrapper.h"
#include "MxBase/GlobalManager/GlobalManager.h"
#include "MxBase/Maths/FastMath.h"
#include "MxBase/Maths/MathFunction.h"
#include "MxBase/Maths/NpySort.h"
#include "MxBase/ModelPostProcessors/ModelPostProcessorBase/ObjectPostProcessorBase.h"
#include "MxBase/PostProcessBases/KeypointPostProcessBase.h"
#include "MxBase/PostProcessBases/ObjectPostProcessBase.h"
#include "MxBase/PostProcessBases/TextObjectPostProcessBase.h"
#include "MxBase/Tensor/TensorBuffer/TensorBuffer.h"
#include "MxBase/Utils/FileUtils.h"
#include "test.h"

namespace {

using namespace MxBase;

bool near(float a, float b) { return std::fabs(a - b) < 1e-4f; }

ObjectInfo object(float x0, float y0, float x1, float y1, float confidence = 0.5f, float id = 0)
{
    return ObjectInfo(x0, y0, x1, y1, confidence, id, "", {});
}

DetectBox detected(float x, float y, float width, float height, float prob = 0.5f, int id = 0)
{
    return DetectBox{ prob, id, x, y, width, height, "", nullptr };
}

bool is_box(const ObjectInfo &box, float x0, float y0, float x1, float y1)
{
    return near(box.x0, x0) && near(box.y0, y0) && near(box.x1, x1) && near(box.y1, y1);
}

/* What the bases give to subclasses. */
class Objects : public ObjectPostProcessBase {
public:
    using ObjectPostProcessBase::CoordinatesReduction;
    using ObjectPostProcessBase::GetBuffer;
    using ObjectPostProcessBase::ResizeReduction;
    std::vector<float> Thresholds() const { return separateScoreThresh_; }
};

class Points : public KeypointPostProcessBase {
public:
    APP_ERROR SetThresholds(uint32_t classes, std::string text)
    {
        classNum_ = classes;
        return GetSeparateScoreThresh(text);
    }
    std::vector<float> Thresholds() const { return separateScoreThresh_; }
};

class Texts : public TextObjectPostProcessBase {
public:
    using TextObjectPostProcessBase::ResizeReduction;
    bool ChecksModel() const { return checkModelFlag_; }
};

class Detector : public ObjectPostProcessorBase {
public:
    using ObjectPostProcessorBase::NmsSort;
    std::vector<std::vector<int>> Shapes() const { return outputTensorShapes_; }
    std::vector<float> Thresholds() const { return separateScoreThresh_; }

protected:
    void ObjectDetectionOutput(std::vector<std::shared_ptr<void>> &featLayerData,
                               std::vector<ObjDetectInfo> &objInfos, ImageInfo &) override
    {
        const float *box = static_cast<const float *>(featLayerData[0].get());
        ObjDetectInfo info;
        info.x0 = box[0];
        info.y0 = box[1];
        info.x1 = box[2];
        info.y1 = box[3];
        objInfos.push_back(info);
    }
};

std::string config(const std::string &more) { return "{\"CLASS_NUM\": \"2\"" + more + "}"; }

APP_ERROR init(PostProcessBase &post, const std::string &content)
{
    return post.Init({ { "postProcessConfigContent", content } });
}

} // namespace

TEST(test_overlaps_by_each_method)
{
    const ObjectInfo a = object(0, 0, 10, 10), b = object(5, 0, 25, 10); /* 100, 200, in common 50 */
    EXPECT(near(CalcIou(a, b), 50.0f / 250) && near(CalcIou(a, b, UNION), 50.0f / 250));
    EXPECT(near(CalcIou(a, b, MAX), 0.25f) && near(CalcIou(a, b, MIN), 0.5f));
    EXPECT(near(CalcIou(a, b, DIOU), 50.0f / 250));
    EXPECT(CalcIou(a, object(11, 0, 12, 1)) == 0 && CalcIou(object(3, 3, 3, 3), object(3, 3, 3, 3)) == 0);
    const DetectBox c = detected(5, 5, 10, 10), d = detected(15, 5, 20, 10); /* the same two */
    EXPECT(near(CalcIou(c, d), 50.0f / 250) && near(CalcIou(c, d, MAX), 0.25f) &&
           near(CalcIou(c, d, MIN), 0.5f));
    EXPECT(near(CalcIou(c, d, DIOU), 50.0f / 250 - 100.0f / (25 * 25 + 10 * 10)));
    EXPECT(CalcIou(detected(9000, 5, 10, 10), detected(9000, 5, 10, 10)) == 0);
    EXPECT(CalcIou(object(-5, 0, 5, 5), object(-5, 0, 5, 5)) == 0);
    EXPECT(CalcIou(object(-5, 0, 5, 5), object(0, 0, 5, 5)) > 0); /* one of the two lies inside */
}

TEST(test_suppression_goes_class_by_class_from_the_likeliest)
{
    std::vector<ObjectInfo> boxes = { object(0, 0, 10, 10, 0.6f, 1), object(1, 0, 11, 10, 0.9f, 1),
                                      object(0, 0, 10, 10, 0.5f, 0), object(30, 0, 40, 10, 0.7f, 1) };
    std::vector<ObjectInfo> by_area = boxes;
    NmsSort(boxes, 0.5f);
    EXPECT(boxes.size() == 3 && boxes[0].classId == 0);
    EXPECT(boxes[1].confidence == 0.9f && boxes[2].confidence == 0.7f);
    by_area.push_back(object(0, 0, 12, 10, 0.1f, 1));
    NmsSortByArea(by_area, 0.5f);
    EXPECT(by_area.size() == 3 && by_area[1].confidence == 0.1f);
    std::vector<ObjectInfo> none;
    NmsSort(none, 0.5f);
    EXPECT(none.empty());
}

TEST(test_what_is_left_does_not_overlap_and_what_went_did)
{
    std::mt19937 random(7);
    std::uniform_real_distribution<float> place(0, 100), edge(5, 40), score(0, 1);
    for (int round = 0; round < 50; round++) {
        std::vector<DetectBox> all;
        for (int i = 0; i < 40; i++)
            all.push_back(
                detected(place(random), place(random), edge(random), edge(random), score(random), i % 3));
        std::vector<DetectBox> left = all;
        NmsSort(left, 0.3f);
        const auto overlaps_better = [&](const DetectBox &box) {
            for (const DetectBox &better : left) {
                if (better.classID == box.classID && better.prob > box.prob && CalcIou(better, box) > 0.3f)
                    return true;
            }
            return false;
        };
        size_t kept = 0;
        for (const DetectBox &box : all) kept += !overlaps_better(box);
        EXPECT(kept == left.size());
        for (const DetectBox &box : left) EXPECT(!overlaps_better(box));
    }
}

TEST(test_boxes_go_back_to_the_picture)
{
    Objects post;
    const ResizedImageInfo stretched(100, 100, 200, 300, RESIZER_STRETCHING, 0);
    std::vector<ObjectInfo> boxes = { object(10, 20, 50, 40) };
    post.CoordinatesReduction(0, stretched, boxes, false);
    EXPECT(is_box(boxes[0], 20, 60, 100, 120));
    const ResizedImageInfo kept(100, 100, 50, 40, RESIZER_RESCALE, 2.0f);
    boxes = { object(0.1f, 0.1f, 1, 1), object(0.1f, 0.9f, 1, 1) };
    post.ResizeReduction(kept, 50, 40, boxes);
    EXPECT(boxes.size() == 1 && is_box(boxes[0], 5, 5, 50, 40));
    boxes = { object(0.25f, 0, 1, 1) };
    post.ResizeReduction(ResizedImageInfo(1, 1, 9, 9, RESIZER_RESCALE, 0), 9, 9, boxes); /* no ratio */
    post.ResizeReduction(ResizedImageInfo(1, 1, 9, 9, RESIZER_ONLY_PADDING, 1), 9, 9, boxes);
    EXPECT(is_box(boxes[0], 0.25f, 0, 1, 1));
}

TEST(test_boxes_go_back_through_what_was_done_to_the_picture)
{
    Objects post;
    ImagePreProcessInfo info(100, 50, 200, 200);
    EXPECT(near(info.xRatio, 0.5f) && near(info.yRatio, 0.25f) && info.x1Valid == 100 && info.y1Valid == 50);
    info.xBias = 10;
    info.x0Valid = 10;
    std::vector<std::vector<ObjectInfo>> boxes = { { object(0, 0, 0.5f, 0.5f), object(0, 0, 0.05f, 1) }, {} };
    post.CoordinatesReduction(boxes, { info });
    EXPECT(boxes[0].size() == 1 && is_box(boxes[0][0], 0, 0, 80, 100));
    info.xRatio = 0;
    post.CoordinatesReduction(boxes, { info, info, info });
    EXPECT(is_box(boxes[0][0], 0, 0, 80, 100));
    const ImagePreProcessInfo none(10, 10, 0, 0), same(7, 8);
    EXPECT(none.xRatio == 1 && same.xRatio == 1 && same.originalHeight == 8 &&
           ImagePreProcessInfo().x1Valid == 0);
}

TEST(test_thresholds_come_from_the_configuration)
{
    Objects post, other, empty;
    EXPECT(init(post, config(", \"SCORE_THRESH\": \"0.25\"")) == APP_ERR_OK);
    EXPECT(post.Thresholds() == std::vector<float>(2, 0.25f));
    EXPECT(init(other, config(", \"SEPARATE_SCORE_THRESH\": \"0.5,0.75\"")) == APP_ERR_OK);
    EXPECT(other.Thresholds() == (std::vector<float>{ 0.5f, 0.75f }));
    post = other;
    EXPECT(post.Thresholds() == other.Thresholds());
    /* A key that is there keeps its value. */
    EXPECT(init(other, config(", \"SEPARATE_SCORE_THRESH\": \"0.5\"")) == APP_ERR_OK);
    EXPECT(init(empty, config(", \"SEPARATE_SCORE_THRESH\": \"0.5\"")) == APP_ERR_COMM_INVALID_PARAM);
    Objects bare, broken;
    EXPECT(init(bare, "{}") == APP_ERR_COMM_NO_EXIST && bare.Init({}) == APP_ERR_COMM_NO_EXIST);
    EXPECT(init(broken, "{\"CLASS_NUM\": 2}") == APP_ERR_COMM_INVALID_PARAM);
    EXPECT(broken.Init({ { "postProcessConfigPath", "/no/such.cfg" } }) == APP_ERR_COMM_INVALID_PARAM);
    Points points;
    EXPECT(points.SetThresholds(0, "0.5") == APP_ERR_COMM_INVALID_PARAM);
    EXPECT(points.SetThresholds(2, "0.5, 1") == APP_ERR_OK && points.Thresholds()[1] == 1);
    std::vector<std::vector<KeyPointDetectionInfo>> infos;
    EXPECT(points.Process({}, infos) == APP_ERR_COMM_UNREALIZED);
}

TEST(test_corners_of_texts_are_held_to_the_picture)
{
    Texts post;
    EXPECT(init(post, "{\"CHECK_MODEL_FLAG\": \"False\"}") == APP_ERR_OK && !post.ChecksModel());
    TextObjectInfo text = { 0.5f, 0.5f, 2, -1, 0, 0, 1, 1, 0.5f, "" };
    post.ResizeReduction(ResizedImageInfo(10, 10, 40, 20, RESIZER_STRETCHING, 0), text);
    EXPECT(text.x0 == 20 && text.y0 == 10 && text.x1 == 40 && text.y1 == 0 && text.x3 == 40 && text.y3 == 20);
    TextObjectInfo scaled = { 0.5f, 0.5f, 0, 0, 0, 0, 1, 1, 0.5f, "" };
    post.ResizeReduction(ResizedImageInfo(10, 10, 100, 100, RESIZER_RESCALE, 0.5f), scaled);
    EXPECT(scaled.x0 == 10 && scaled.y0 == 10 && scaled.x3 == 20);
}

TEST(test_parts_of_a_tensor_are_found_by_their_first_index)
{
    Objects post;
    TensorBase tensor({ 3, 2 }, TENSOR_DTYPE_FLOAT32);
    EXPECT(post.GetBuffer(tensor, 0) == nullptr); /* no memory yet */
    EXPECT(TensorBase::TensorBaseMalloc(tensor) == APP_ERR_OK);
    EXPECT(post.GetBuffer(tensor, 2) == static_cast<float *>(tensor.GetBuffer()) + 4);
    EXPECT(post.GetBuffer(tensor, 3) == nullptr);
}

TEST(test_the_earlier_base_reads_pointers)
{
    char path[] = "/tmp/mxbase-labels-XXXXXX";
    const int file = mkstemp(path);
    EXPECT(write(file, "cat\ndog\n", 8) == 8 && close(file) == 0);
    ModelDesc model;
    model.inputTensors.push_back({ 4, "in", { 1, 1 } });
    model.outputTensors.push_back({ 16, "out", { 1, 4 } });
    Detector post;
    EXPECT(post.Init(config(", \"SEPARATE_SCORE_THRESH\": \"0.5,0.25\""), path, model) == APP_ERR_OK);
    EXPECT(post.Shapes() == std::vector<std::vector<int>>(1, { 1, 4 }) && post.Thresholds()[1] == 0.25f);
    EXPECT(post.GetLabelName(1) == "dog" && post.GetLabelName(2).empty() && post.GetLabelName(-1).empty());
    EXPECT(Detector().Init("a.cfg", path, model) == APP_ERR_COMM_OPEN_FAIL);
    EXPECT(Detector().Init(config(""), path, ModelDesc()) == APP_ERR_COMM_INVALID_PARAM);

    const float box[] = { 0.25f, 0.5f, 0.5f, 1 };
    MemoryData device(sizeof box, MemoryData::MEMORY_DEVICE, 0);
    EXPECT(MemoryHelper::MxbsMallocAndCopy(device, MemoryData(const_cast<float *>(box), sizeof box)) ==
           APP_ERR_OK);
    BaseTensor tensor;
    tensor.buf = device.ptrData;
    tensor.size = sizeof box;
    std::vector<std::shared_ptr<void>> data;
    EXPECT(post.MemoryDataToHost(1, { { tensor } }, data) == APP_ERR_COMM_INVALID_PARAM);
    EXPECT(post.MemoryDataToHost(0, { { tensor } }, data) == APP_ERR_OK && data.size() == 1);
    EXPECT(MemoryHelper::MxbsFree(device) == APP_ERR_OK);
    PostImageInfo image;
    image.widthOriginal = 40;
    image.heightOriginal = 20;
    image.x0 = 10;
    image.x1 = 18;
    image.y1 = 8;
    std::vector<ObjDetectInfo> found;
    EXPECT(post.Process(data, found, false, image) == APP_ERR_OK && found.size() == 1);
    EXPECT(found[0].x0 == 10 && found[0].y0 == 10 && found[0].x1 == 20 && found[0].y1 == 20);
    found.clear();
    EXPECT(post.Process(data, found, true, image) == APP_ERR_OK && found[0].x0 == 12 && found[0].y1 == 8);
    image.widthOriginal = 9000;
    EXPECT(post.Process(data, found, false, image) == APP_ERR_COMM_INVALID_PARAM);
    EXPECT(FileUtils::RemoveFile(path));
}

TEST(test_the_earlier_suppression_holds_boxes_to_one)
{
    Detector post;
    ObjDetectInfo big, small;
    big.x1 = big.y1 = 1.2f;
    big.confidence = 0.9f;
    small.x1 = small.y1 = 1;
    small.confidence = 0.5f;
    std::vector<ObjDetectInfo> boxes = { small, big };
    post.NmsSort(boxes, 0.5f);
    EXPECT(boxes.size() == 1 && boxes[0].confidence == 0.9f && boxes[0].x1 == 1 && near(boxes[0].x0, 0));
    boxes = { big, big };
    boxes[1].classId = -1;
    post.NmsSort(boxes, 0.5f);
    EXPECT(boxes.size() == 2);
}

TEST(test_fast_functions_are_close_to_the_true_ones)
{
    for (float x = -20; x <= 20; x += 0.37f) {
        EXPECT(std::fabs(fastmath::exp(x) / std::exp(x) - 1) < 3e-5f);
        EXPECT(std::fabs(fastmath::sigmoid(x) - 1 / (1 + std::exp(-x))) < 1e-5f);
    }
    EXPECT(fastmath::exp(-1000) < 1e-30f && std::isnan(fastmath::exp(NAN)));
    EXPECT(fastmath::sign(-2) == -1 && fastmath::sign(0) == 0 && fastmath::sign(3) == 1);
    std::vector<float> digits = { 1, 2, 3 };
    fastmath::softmax(digits);
    EXPECT(near(digits[0] + digits[1] + digits[2], 1) && near(digits[2] / digits[1], std::exp(1.0f)));
    EXPECT(IsDenominatorZero(0) && IsDenominatorZero(1e-7f) && !IsDenominatorZero(1e-7) &&
           !IsDenominatorZero(2u));
}

TEST(test_numbers_are_ordered_and_lines_fitted)
{
    NpySort sort({ 3, NAN, 1, 3, 2 }, { 0, 1, 2, 3, 4 }), bad({ 1, 2 }, { 0, 2 });
    sort.NpyArgQuickSort(false);
    EXPECT(sort.GetSortIdx() == (std::vector<int>{ 2, 4, 0, 3, 1 }));
    sort.NpyArgQuickSort(true);
    EXPECT(sort.GetSortIdx().front() == 1 && sort.GetSortIdx().back() == 2);
    bad.NpyArgQuickSort(false);
    EXPECT(bad.GetSortIdx() == (std::vector<int>{ 0, 2 }));
    LineRegressionFit line;
    line.SetAlphaAndBeta({ 0, 1, 2, 3 }, { 1, 3, 5, 7 });
    EXPECT(near(static_cast<float>(line.LRFunction(10)), 21));
    line.SetAlphaAndBeta({ 1, 1 }, { 0, 5 });
    line.SetAlphaAndBeta({}, {});
    EXPECT(near(static_cast<float>(line.alpha_), 2) && near(static_cast<float>(line.beta_), 1));
}

TEST(test_buffers_are_copied_between_all_places)
{
    uint8_t in[16], out[16] = {};
    for (int i = 0; i < 16; i++) in[i] = static_cast<uint8_t>(i * 3);
    const TensorBuffer source(in, 16);
    TensorBuffer first(16, MemoryData::MEMORY_DEVICE, 0), second(16, MemoryData::MEMORY_DEVICE, 1),
        back(out, 16);
    EXPECT(TensorBuffer::TensorBufferCopy(first, source) == APP_ERR_COMM_INVALID_PARAM); /* no memory yet */
    EXPECT(TensorBuffer::TensorBufferMalloc(first) == APP_ERR_OK);
    EXPECT(TensorBuffer::TensorBufferMalloc(second) == APP_ERR_OK);
    EXPECT(TensorBuffer::TensorBufferCopy(first, source) == APP_ERR_OK);
    EXPECT(TensorBuffer::CopyBetweenDiffDevice(second, first) == APP_ERR_OK);
    EXPECT(TensorBuffer::CopyBetweenHostDevice(back, second) == APP_ERR_OK && memcmp(in, out, 16) == 0);
    EXPECT(TensorBuffer::CopyBetweenHost(back, second) == APP_ERR_ACL_BAD_COPY);
    EXPECT(TensorBuffer::GetBufferCopyType(first, second) == TensorBufferCopyType::DEVICE_AND_DIFF_DEVICE);
    EXPECT(TensorBuffer::GetBufferCopyType(source, back) == TensorBufferCopyType::HOST_AND_HOST);
    TensorBuffer nowhere(16, MemoryData::MEMORY_DEVICE, 99);
    EXPECT(nowhere.SetContext() == APP_ERR_COMM_INVALID_PARAM && first.IsDevice() && back.IsHost());
    EXPECT(TensorBuffer::TensorBufferMalloc(nowhere) == APP_ERR_COMM_INVALID_PARAM);
}

TEST(test_there_are_no_units_for_images)
{
    DvppWrapper dvpp;
    DvppDataInfo from, to;
    ResizeConfig resize;
    EXPECT(dvpp.Init() == APP_ERR_COMM_UNREALIZED && dvpp.DeInit() == APP_ERR_OK);
    EXPECT(dvpp.VpcResize(from, to, resize) == APP_ERR_COMM_UNREALIZED);
    EXPECT(from.device == "host:0" && from.format == MXBASE_PIXEL_FORMAT_YUV_SEMIPLANAR_420);
    EXPECT(DVPP_ALIGN_UP(17, VPC_STRIDE_WIDTH) == 32 && DvppAlignDown(17, 16) == 16 &&
           CONVERT_TO_EVEN(7) == 6);
}

TEST_BEFORE
{
    setenv("GLOG_minloglevel", "4", 1);
    DeviceManager::GetInstance()->InitDevices();
}
