/* nms.cpp - overlaps of boxes, and non-maximum suppression. */
#include "MxBase/CV/ObjectDetection/Nms/Nms.h"

#include <cmath>

#include "MxBase/PostProcessBases/PostProcessDataType.h"

namespace MxBase {

namespace {

const float TINY = 1e-6f;
const float LARGEST = 8193.0f; /* whole parts of up to 8192 are taken */

struct Corners {
    float x0, y0, x1, y1;
    float Area() const { return (x1 - x0) * (y1 - y0); }
};

Corners corners(const DetectBox &box)
{
    const float dx = box.width / 2, dy = box.height / 2;
    return { box.x - dx, box.y - dy, box.x + dx, box.y + dy };
}

Corners corners(const ObjectInfo &box) { return { box.x0, box.y0, box.x1, box.y1 }; }
float area_of(const DetectBox &box) { return box.width * box.height; }
float area_of(const ObjectInfo &box) { return corners(box).Area(); }
float score_of(const DetectBox &box) { return box.prob; }
float score_of(const ObjectInfo &box) { return box.confidence; }
int class_of(const DetectBox &box) { return box.classID; }
int class_of(const ObjectInfo &box) { return static_cast<int>(box.classId); }

bool is_size(float x) { return x > -1.0f && x < LARGEST; }
bool is_inside(const Corners &c) { return is_size(c.x0) && is_size(c.y0) && is_size(c.x1) && is_size(c.y1); }
float ratio(float part, float whole) { return std::fabs(whole) < TINY ? 0.0f : part / whole; }

/* False if there is none. */
bool common_area(float &out, const Corners &a, const Corners &b)
{
    const float left = std::max(a.x0, b.x0), right = std::min(a.x1, b.x1);
    const float top = std::max(a.y0, b.y0), bottom = std::min(a.y1, b.y1);
    out = (right - left) * (bottom - top);
    return left <= right && top <= bottom;
}

float overlap(float common, float areaA, float areaB, IOUMethod method)
{
    if (method == MAX) return ratio(common, std::max(areaA, areaB));
    if (method == MIN) return ratio(common, std::min(areaA, areaB));
    return ratio(common, areaA + areaB - common);
}

float square(float x) { return x * x; }

/* The squared distance of the centres over the squared diagonal of the box around both. */
float centre_distance(float &diagonal, const Corners &a, const Corners &b)
{
    diagonal = square(std::max(a.x1, b.x1) - std::min(a.x0, b.x0)) +
               square(std::max(a.y1, b.y1) - std::min(a.y0, b.y0));
    return square((a.x0 + a.x1 - b.x0 - b.x1) / 2) + square((a.y0 + a.y1 - b.y0 - b.y1) / 2);
}

template <typename Box>
void filter(const std::vector<Box> &boxes, std::vector<Box> &kept, float iouThresh, IOUMethod method)
{
    const size_t begin = kept.size();
    for (const Box &box : boxes) {
        const auto overlaps = [&](const Box &better) { return CalcIou(better, box, method) > iouThresh; };
        if (std::none_of(kept.begin() + begin, kept.end(), overlaps)) kept.push_back(box);
    }
}

template <typename Box>
void suppress(std::vector<Box> &boxes, float iouThresh, IOUMethod method, float (*rank)(const Box &))
{
    std::map<int, std::vector<Box>> classes;
    for (const Box &box : boxes) classes[class_of(box)].push_back(box);
    boxes.clear();
    for (auto &entry : classes) {
        std::stable_sort(entry.second.begin(), entry.second.end(),
                         [rank](const Box &a, const Box &b) { return rank(a) > rank(b); });
        filter(entry.second, boxes, iouThresh, method);
    }
}

} // namespace

float CalcIou(DetectBox a, DetectBox b, IOUMethod method)
{
    float common, diagonal;
    if (!is_size(a.x) || !is_size(b.y) || !is_size(a.width) || !is_size(a.height)) return 0.0f;
    const Corners ca = corners(a), cb = corners(b);
    if (!common_area(common, ca, cb)) return 0.0f;
    const float iou = overlap(common, area_of(a), area_of(b), method);
    if (method != DIOU || std::fabs(area_of(a) + area_of(b) - common) < TINY) return iou;
    const float distance = centre_distance(diagonal, ca, cb);
    return std::fabs(diagonal) < TINY ? 0.0f : iou - distance / diagonal;
}

float CalcIou(ObjectInfo a, ObjectInfo b, IOUMethod method)
{
    float common;
    const Corners ca = corners(a), cb = corners(b);
    if ((!is_inside(ca) && !is_inside(cb)) || !common_area(common, ca, cb)) return 0.0f;
    return overlap(common, ca.Area(), cb.Area(), method);
}

void FilterByIou(std::vector<DetectBox> dets, std::vector<DetectBox> &sortBoxes, float iouThresh,
                 IOUMethod method)
{
    filter(dets, sortBoxes, iouThresh, method);
}

void FilterByIou(std::vector<ObjectInfo> dets, std::vector<ObjectInfo> &sortBoxes, float iouThresh,
                 IOUMethod method)
{
    filter(dets, sortBoxes, iouThresh, method);
}

void NmsSort(std::vector<DetectBox> &detBoxes, float iouThresh, IOUMethod method)
{
    suppress<DetectBox>(detBoxes, iouThresh, method, score_of);
}

void NmsSort(std::vector<ObjectInfo> &detBoxes, float iouThresh, IOUMethod method)
{
    suppress<ObjectInfo>(detBoxes, iouThresh, method, score_of);
}

void NmsSortByArea(std::vector<DetectBox> &detBoxes, const float iouThresh, const IOUMethod method)
{
    suppress<DetectBox>(detBoxes, iouThresh, method, area_of);
}

void NmsSortByArea(std::vector<ObjectInfo> &detBoxes, const float iouThresh, const IOUMethod method)
{
    suppress<ObjectInfo>(detBoxes, iouThresh, method, area_of);
}

} // namespace MxBase
