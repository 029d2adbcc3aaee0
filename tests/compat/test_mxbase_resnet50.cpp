/* test_mxbase_resnet50.cpp - programs in this system's manner: a classification of pictures, a segmentation
 * and the reading of a text, each a subclass of its base with a configuration of its own. */
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "MxBase/DeviceManager/DeviceManager.h"
#include "MxBase/Maths/FastMath.h"
#include "MxBase/PostProcessBases/ClassPostProcessBase.h"
#include "MxBase/PostProcessBases/SemanticSegPostProcessBase.h"
#include "MxBase/PostProcessBases/TextGenerationPostProcessBase.h"
#include "MxBase/Utils/FileUtils.h"
#include "test.h"

namespace {

using namespace MxBase;
using Parameters = std::map<std::string, std::shared_ptr<void>>;

/* The best classes of each picture. */
class Resnet50PostProcess : public ClassPostProcessBase {
public:
    APP_ERROR Init(const std::map<std::string, std::string> &postConfig) override
    {
        const APP_ERROR ret = ClassPostProcessBase::Init(postConfig);
        if (ret != APP_ERR_OK) return ret;
        configData_.GetFileValueWarn<uint32_t>("TOP_K", topK_, 1u, classNum_);
        configData_.GetFileValueWarn<bool>("SOFTMAX", softmax_);
        return APP_ERR_OK;
    }

    APP_ERROR Process(const std::vector<TensorBase> &tensors, std::vector<std::vector<ClassInfo>> &classInfos,
                      const Parameters & = {}) override
    {
        std::vector<TensorBase> inputs = tensors;
        const APP_ERROR ret = CheckAndMoveTensors(inputs);
        if (ret != APP_ERR_OK) return ret;
        if (inputs.size() != 1 || inputs[0].GetShape().back() != classNum_) {
            LogError << GetError(APP_ERR_INPUT_NOT_MATCH) << "The tensor has not one score for each class.";
            return APP_ERR_INPUT_NOT_MATCH;
        }
        for (uint32_t i = 0; i < inputs[0].GetShape()[0]; i++) {
            const float *data = static_cast<const float *>(GetBuffer(inputs[0], i));
            std::vector<float> scores(data, data + classNum_);
            if (softmax_) fastmath::softmax(scores);
            classInfos.push_back(Best(scores));
        }
        return APP_ERR_OK;
    }

private:
    std::vector<ClassInfo> Best(const std::vector<float> &scores)
    {
        std::vector<int> order(scores.size());
        std::iota(order.begin(), order.end(), 0);
        std::partial_sort(order.begin(), order.begin() + topK_, order.end(),
                          [&](int a, int b) { return scores[a] > scores[b]; });
        std::vector<ClassInfo> infos;
        for (uint32_t i = 0; i < topK_; i++) {
            const int id = order[i];
            infos.push_back(ClassInfo{ id, scores[id], configData_.GetClassName(static_cast<size_t>(id)) });
        }
        return infos;
    }

    bool softmax_ = true;
};

/* The best class of each pixel (NHWC), at the size of the picture. */
class UnetPostProcess : public SemanticSegPostProcessBase {
public:
    APP_ERROR Process(const std::vector<TensorBase> &tensors, std::vector<SemanticSegInfo> &semanticSegInfos,
                      const std::vector<ResizedImageInfo> &resizedImageInfos = {},
                      const Parameters & = {}) override
    {
        std::vector<TensorBase> inputs = tensors;
        const APP_ERROR ret = CheckAndMoveTensors(inputs);
        if (ret != APP_ERR_OK) return ret;
        const std::vector<uint32_t> shape = inputs[0].GetShape();
        for (uint32_t i = 0; i < resizedImageInfos.size(); i++) {
            SemanticSegInfo info;
            info.labelMap = labelMap_;
            for (uint32_t y = 0; y < shape[VECTOR_SECOND_INDEX]; y++) {
                std::vector<int> row;
                for (uint32_t x = 0; x < shape[VECTOR_THIRD_INDEX]; x++)
                    row.push_back(Best(inputs[0], i, y, x));
                info.pixels.push_back(row);
            }
            CoordinatesReduction(resizedImageInfos[i], info);
            semanticSegInfos.push_back(info);
        }
        return APP_ERR_OK;
    }

private:
    int Best(const TensorBase &tensor, uint32_t image, uint32_t y, uint32_t x) const
    {
        const float *scores = nullptr;
        EXPECT(tensor.GetBuffer(scores, image, y, x) == APP_ERR_OK);
        return static_cast<int>(std::max_element(scores, scores + classNum_) - scores);
    }
};

/* Labels of the classes in time, repeats and the blank (the last class) left out. */
class CtcPostProcess : public TextGenerationPostProcessBase {
public:
    APP_ERROR Process(const std::vector<TensorBase> &tensors, std::vector<TextsInfo> &textsInfos,
                      const Parameters & = {}) override
    {
        std::vector<TensorBase> inputs = tensors;
        const APP_ERROR ret = CheckAndMoveTensors(inputs);
        if (ret != APP_ERR_OK) return ret;
        const std::vector<uint32_t> shape = inputs[0].GetShape();
        for (uint32_t i = 0; i < shape[0]; i++) {
            std::string text;
            int32_t before = -1, now = -1;
            for (uint32_t t = 0; t < shape[1]; t++, before = now) {
                EXPECT(inputs[0].GetValue(now, i, t) == APP_ERR_OK);
                if (now != before && now != static_cast<int32_t>(classNum_) - 1)
                    text += configData_.GetClassName(static_cast<size_t>(now));
            }
            textsInfos.push_back(TextsInfo{ { text } });
        }
        return APP_ERR_OK;
    }
};

template <typename T>
TensorBase on_device(const std::vector<T> &values, const std::vector<uint32_t> &shape, TensorDataType type)
{
    std::vector<T> copy = values;
    TensorBase host(MemoryData(copy.data(), copy.size() * sizeof(T)), true, shape, type);
    EXPECT(host.ToDevice(0) == APP_ERR_OK && host.IsDevice());
    return host;
}

std::string folder;

std::string write_labels(const std::string &text)
{
    const std::string path = folder + "/labels.names";
    EXPECT(FileUtils::WriteFileContent(path, text));
    return path;
}

bool near(float a, float b) { return std::fabs(a - b) < 1e-5f; }

} // namespace

TEST(test_a_classification_gives_the_best_classes_by_name)
{
    Resnet50PostProcess post;
    const std::string labels = write_labels("# names\ntench\r\ngoldfish\nshark\n\nray\n");
    EXPECT(post.Init({ { "postProcessConfigContent", "{\"CLASS_NUM\": \"5\", \"TOP_K\": \"3\"}" },
                       { "labelPath", labels } }) == APP_ERR_OK);
    const std::vector<float> logits = { 0, 1, 2, 3, -4, 9, -1, 0, 8, 7 };
    std::vector<std::vector<ClassInfo>> infos;
    const TensorBase tensor = on_device(logits, { 2, 5 }, TENSOR_DTYPE_FLOAT32);
    EXPECT(post.Process({ tensor }, infos) == APP_ERR_OK);
    EXPECT(infos.size() == 2 && infos[0].size() == 3 && infos[1].size() == 3);
    float sum = 0;
    for (int i = 0; i < 5; i++) sum += std::exp(logits[i]);
    EXPECT(infos[0][0].classId == 3 && infos[0][0].className.empty());
    EXPECT(infos[0][1].classId == 2 && infos[0][1].className == "shark");
    EXPECT(infos[0][2].classId == 1 && infos[0][2].className == "goldfish");
    EXPECT(near(infos[0][0].confidence, std::exp(3.0f) / sum));
    EXPECT(infos[1][0].className == "tench" && infos[1][1].classId == 3 && infos[1][2].className == "ray");

    const TensorBase other = on_device(std::vector<float>(6), { 1, 6 }, TENSOR_DTYPE_FLOAT32);
    EXPECT(post.Process({ other }, infos) == APP_ERR_INPUT_NOT_MATCH);
    ClassPostProcessBase base;
    EXPECT(base.Process({ tensor }, infos) == APP_ERR_COMM_UNREALIZED);
}

TEST(test_a_segmentation_is_of_the_size_of_its_picture)
{
    UnetPostProcess post;
    EXPECT(post.Init({ { "postProcessConfigContent", "{\"CLASS_NUM\": \"2\", \"MODEL_TYPE\": \"0\"}" },
                       { "labelPath", write_labels("ground\nsky\n") } }) == APP_ERR_OK);
    const std::vector<float> scores = { 1, 0, 0, 1, /**/ 0, 1, 1, 0 };
    const TensorBase tensor = on_device(scores, { 1, 2, 2, 2 }, TENSOR_DTYPE_FLOAT32);
    std::vector<SemanticSegInfo> infos;
    const ResizedImageInfo stretched(2, 2, 4, 3, RESIZER_STRETCHING, 0);
    EXPECT(post.Process({ tensor }, infos, { stretched }) == APP_ERR_OK);
    const std::vector<std::vector<int>> want = { { 0, 0, 1, 1 }, { 0, 0, 1, 1 }, { 1, 1, 0, 0 } };
    EXPECT(infos.size() == 1 && infos[0].pixels == want);
    EXPECT(infos[0].labelMap == (std::vector<std::string>{ "ground", "sky" }));

    /* Half of the width is padding. */
    const ResizedImageInfo padded(2, 2, 2, 4, RESIZER_MS_KEEP_ASPECT_RATIO, 0.5f);
    EXPECT(post.Process({ tensor }, infos, { padded }) == APP_ERR_OK);
    const std::vector<std::vector<int>> narrow = { { 0, 0 }, { 0, 0 }, { 1, 1 }, { 1, 1 } };
    EXPECT(infos.size() == 2 && infos[1].pixels == narrow);

    /* No picture of that size: the pixels stay. */
    const ResizedImageInfo large(2, 2, 9000, 4, RESIZER_STRETCHING, 0);
    EXPECT(post.Process({ tensor }, infos, { large }) == APP_ERR_OK);
    EXPECT(infos.size() == 3 && infos[2].pixels.size() == 2);
}

TEST(test_a_text_is_read_without_repeats_and_blanks)
{
    CtcPostProcess post;
    EXPECT(post.Init({ { "postProcessConfigContent", "{\"CLASS_NUM\": \"4\"}" },
                       { "labelPath", write_labels("l\no\nw\n") } }) == APP_ERR_OK);
    const std::vector<int32_t> steps = { 0, 0, 3, 1, 1, 2, 3, 0, 3, 0, 3, 3 };
    std::vector<TextsInfo> texts;
    EXPECT(post.Process({ on_device(steps, { 2, 6 }, TENSOR_DTYPE_INT32) }, texts) == APP_ERR_OK);
    EXPECT(texts.size() == 2 && texts[0].text[0] == "low" && texts[1].text[0] == "ll");
}

TEST_BEFORE
{
    if (!folder.empty()) return;
    char name[] = "/tmp/mxbase-resnet50-XXXXXX";
    folder = mkdtemp(name);
    setenv("GLOG_minloglevel", "4", 1);
    DeviceManager::GetInstance()->InitDevices();
    std::atexit([] {
        FileUtils::RemoveFile(folder + "/labels.names");
        FileUtils::RemoveDirectories(folder);
    });
}
