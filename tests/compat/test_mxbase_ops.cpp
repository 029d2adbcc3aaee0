/* test_mxbase_ops.cpp - ops on device tensors, against values computed here. */
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "MxBase/DeviceManager/DeviceManager.h"
#include "MxBase/MxBase.h"
#include "test.h"

using namespace MxBase;
using Shape = std::vector<uint32_t>;
using Numbers = std::vector<double>;

static bool has_devices() { return DeviceManager::GetInstance()->CheckDeviceId(0) == APP_ERR_OK; }

static Tensor on_device(const Shape &shape, TensorDType type, const Numbers &values, bool dvpp = false)
{
    Tensor t(shape, type);
    EXPECT(t.Malloc() == APP_ERR_OK);
    for (size_t i = 0; i < values.size(); i++) {
        if (type == TensorDType::UINT8)
            static_cast<uint8_t *>(t.GetData())[i] = static_cast<uint8_t>(values[i]);
        if (type == TensorDType::FLOAT16) static_cast<uint16_t *>(t.GetData())[i] = tsr_f64_to_f16(values[i]);
        if (type == TensorDType::FLOAT32)
            static_cast<float *>(t.GetData())[i] = static_cast<float>(values[i]);
        if (type == TensorDType::INT32)
            static_cast<int32_t *>(t.GetData())[i] = static_cast<int32_t>(values[i]);
    }
    EXPECT((dvpp ? t.ToDvpp(0) : t.ToDevice(0)) == APP_ERR_OK);
    return t;
}

static Numbers numbers_of(const Tensor &tensor)
{
    Tensor t = tensor.Clone();
    Numbers out;
    EXPECT(!t.IsEmpty() && t.ToHost() == APP_ERR_OK);
    size_t count = 1;
    for (const uint32_t dim : t.GetShape()) count *= dim;
    for (size_t i = 0; i < count; i++) {
        if (t.GetDataType() == TensorDType::UINT8) out.push_back(static_cast<uint8_t *>(t.GetData())[i]);
        if (t.GetDataType() == TensorDType::FLOAT16)
            out.push_back(tsr_f16_to_f32(static_cast<uint16_t *>(t.GetData())[i]));
        if (t.GetDataType() == TensorDType::FLOAT32) out.push_back(static_cast<float *>(t.GetData())[i]);
        if (t.GetDataType() == TensorDType::INT32) out.push_back(static_cast<int32_t *>(t.GetData())[i]);
        if (t.GetDataType() == TensorDType::UINT32) out.push_back(static_cast<uint32_t *>(t.GetData())[i]);
    }
    return out;
}

static bool are_close(const Numbers &got, const Numbers &want)
{
    if (got.size() != want.size()) return false;
    for (size_t i = 0; i < got.size(); i++)
        if (!(std::fabs(got[i] - want[i]) <= 1e-3 + 2e-3 * std::fabs(want[i]))) return false;
    return true;
}

static const TensorDType image_types[] = { TensorDType::UINT8, TensorDType::FLOAT16, TensorDType::FLOAT32 };
static const Numbers left = { 1, 2, 3, 3, 4, 5 }, right_ = { 5, 4, 3, 3, 2, 1 };

using BinaryOp = APP_ERROR (*)(const Tensor &, const Tensor &, Tensor &, AscendStream &);
using UnaryOp = APP_ERROR (*)(const Tensor &, Tensor &, AscendStream &);

static void check_binary(BinaryOp op, bool bytes_only, const std::function<double(double, double)> &want)
{
    for (const TensorDType type : image_types) {
        Tensor a = on_device({ 2, 3 }, type, left), b = on_device({ 2, 3 }, type, right_, true), dst,
               ready = on_device({ 2, 3 }, type, {});
        Numbers expected;
        for (size_t i = 0; i < left.size(); i++) {
            const double v = want(left[i], right_[i]);
            expected.push_back(type == TensorDType::UINT8 ? static_cast<uint8_t>(static_cast<int64_t>(v))
                                                          : v);
        }
        AscendStream &stream = AscendStream::DefaultStream();
        if (bytes_only && type != TensorDType::UINT8) {
            EXPECT(op(a, b, dst, stream) == 1004 && dst.IsEmpty());
            continue;
        }
        EXPECT(op(a, b, dst, stream) == APP_ERR_OK && dst.GetDataType() == type &&
               are_close(numbers_of(dst), expected));
        AscendStream own(0);
        EXPECT(op(a, b, ready, own) == APP_ERR_OK && own.Synchronize() == APP_ERR_OK &&
               are_close(numbers_of(ready), expected));
        Tensor none, host({ 2, 3 }, type), other = on_device({ 3, 2 }, type, left),
                                           five = on_device({ 1, 1, 1, 2, 3 }, type, left);
        EXPECT(host.Malloc() == APP_ERR_OK);
        EXPECT(op(none, b, dst, stream) == 1004 && op(a, none, dst, stream) == 1004 &&
               op(a, host, dst, stream) == 1004);
        EXPECT(op(a, other, dst, stream) == 1004 && op(a, b, other, stream) == 1004 &&
               op(a, b, host, stream) == 1004);
        EXPECT(op(five, five, none, stream) == 1004);
        Tensor mixed =
            on_device({ 2, 3 }, type == TensorDType::UINT8 ? TensorDType::FLOAT32 : TensorDType::UINT8, left);
        EXPECT(op(a, mixed, dst, stream) == 1004 && op(a, b, mixed, stream) == 1004);
    }
}

TEST(test_two_operands_give_the_right_numbers_and_refuse_the_wrong_tensors)
{
    if (!has_devices()) SKIP("no device");
    check_binary(Add, false, [](double x, double y) { return x + y; });
    check_binary(Subtract, false, [](double x, double y) { return x - y; });
    check_binary(Multiply, false, [](double x, double y) { return x * y; });
    check_binary(Pow, false, [](double x, double y) { return std::pow(x, y); });
    check_binary(AbsDiff, false, [](double x, double y) { return std::fabs(x - y); });
    check_binary(Min, false, [](double x, double y) { return std::min(x, y); });
    check_binary(Max, false, [](double x, double y) { return std::max(x, y); });
    check_binary(BitwiseAnd, true, [](double x, double y) { return int(x) & int(y); });
    check_binary(BitwiseOr, true, [](double x, double y) { return int(x) | int(y); });
    check_binary(BitwiseXor, true, [](double x, double y) { return int(x) ^ int(y); });
}

static void check_unary(UnaryOp op, bool bytes, bool floats, const std::function<double(double)> &want)
{
    for (const TensorDType type : image_types) {
        const bool taken = type == TensorDType::UINT8 ? bytes : floats;
        Tensor a = on_device({ 2, 3 }, type, left), dst;
        Numbers expected;
        for (const double x : left) expected.push_back(want(x));
        EXPECT(op(a, dst, AscendStream::DefaultStream()) == (taken ? 0 : 1004));
        if (taken) EXPECT(are_close(numbers_of(dst), expected));
        EXPECT(op(Tensor(), dst, AscendStream::DefaultStream()) == 1004);
    }
}

TEST(test_one_operand_gives_the_right_numbers)
{
    if (!has_devices()) SKIP("no device");
    check_unary(Sqr, true, true, [](double x) { return x * x; });
    check_unary(Sqrt, false, true, [](double x) { return std::sqrt(x); });
    check_unary(Exp, false, true, [](double x) { return std::exp(x); });
    check_unary(Log, false, true, [](double x) { return std::log(x); });
    check_unary(Abs, true, true, [](double x) { return std::fabs(x); });
    check_unary(BitwiseNot, true, false, [](double x) { return 255 - x; });
    Tensor negative = on_device({ 2 }, TensorDType::FLOAT32, { -1, 2 }), dst;
    EXPECT(Abs(negative, dst) == APP_ERR_OK && are_close(numbers_of(dst), { 1, 2 }));
}

TEST(test_scales_mix_types_and_cut_fractions_of_bytes)
{
    if (!has_devices()) SKIP("no device");
    Tensor a = on_device({ 3 }, TensorDType::UINT8, { 1, 3, 200 }),
           b = on_device({ 3 }, TensorDType::FLOAT32, { 2, 4, 0.5 });
    Tensor c = on_device({ 3 }, TensorDType::UINT8, { 2, 2, 2 }), dst, bytes, zero;
    EXPECT(Multiply(a, b, dst, 1.5) == APP_ERR_OK && dst.GetDataType() == TensorDType::FLOAT32);
    EXPECT(are_close(numbers_of(dst), { 3, 18, 150 }));
    EXPECT(Multiply(a, c, bytes, 1.5) == APP_ERR_OK && are_close(numbers_of(bytes), { 3, 9, 255 }));
    EXPECT(Divide(a, c, zero) == APP_ERR_OK &&
           are_close(numbers_of(zero), { 0, 1, 100 }));
    EXPECT(Divide(c, a, bytes, 1.9f) == APP_ERR_OK && are_close(numbers_of(bytes), { 3, 1, 0 }));
    EXPECT(Multiply(a, a, bytes) == APP_ERR_OK && are_close(numbers_of(bytes), { 1, 9, 255 }));
    EXPECT(Rescale(a, bytes, 1.1f, 9.85f) == APP_ERR_OK && are_close(numbers_of(bytes), { 10, 13, 229 }));
    EXPECT(Divide(b, c, dst, 10.0f) == APP_ERR_OK && are_close(numbers_of(dst), { 10, 20, 2.5 }));
    EXPECT(AddWeighted(a, 1, c, 2, 3, bytes) == APP_ERR_OK && are_close(numbers_of(bytes), { 8, 10, 207 }));
    EXPECT(ScaleAdd(a, 2, c, bytes) == APP_ERR_OK && are_close(numbers_of(bytes), { 4, 8, 255 }));
    EXPECT(Rescale(a, bytes, -1, 100) == APP_ERR_OK && are_close(numbers_of(bytes), { 99, 97, 0 }));
    EXPECT(Clip(a, bytes, 2, 10.9f) == APP_ERR_OK && are_close(numbers_of(bytes), { 2, 3, 10 }) &&
           Clip(a, bytes, 3, 2) == 1004);
}

TEST(test_thresholds_and_comparisons_give_two_numbers)
{
    if (!has_devices()) SKIP("no device");
    Tensor a = on_device({ 6 }, TensorDType::UINT8, left), b = on_device({ 6 }, TensorDType::UINT8, right_),
           dst;
    EXPECT(ThresholdBinary(a, dst, 2.5f, 9) == APP_ERR_OK &&
           are_close(numbers_of(dst), { 0, 0, 9, 9, 9, 9 }));
    EXPECT(Threshold(a, dst, 3, 9) == APP_ERR_OK && are_close(numbers_of(dst), { 0, 0, 0, 0, 9, 9 }));
    EXPECT(Threshold(a, dst, 3, 9, ThresholdType::THRESHOLD_BINARY_INV) == APP_ERR_OK);
    EXPECT(are_close(numbers_of(dst), { 9, 9, 9, 9, 0, 0 }));
    EXPECT(Threshold(a, dst, 3, 9, static_cast<ThresholdType>(7)) == 1004);
    const Numbers want[] = { { 0, 0, 255, 255, 0, 0 },     { 255, 255, 0, 0, 255, 255 },
                             { 255, 255, 0, 0, 0, 0 },     { 0, 0, 0, 0, 255, 255 },
                             { 255, 255, 255, 255, 0, 0 }, { 0, 0, 255, 255, 255, 255 } };
    for (int op = 0; op < 6; op++) {
        EXPECT(Compare(a, b, dst, static_cast<CmpOp>(op)) == APP_ERR_OK &&
               are_close(numbers_of(dst), want[op]));
    }
    EXPECT(Compare(a, b, dst) == APP_ERR_OK && are_close(numbers_of(dst), want[0]));
    EXPECT(Compare(a, b, dst, static_cast<CmpOp>(6)) == 1004);
}

TEST(test_types_are_converted_with_fractions_cut)
{
    if (!has_devices()) SKIP("no device");
    Tensor f = on_device({ 4 }, TensorDType::FLOAT32, { 1.1, 3.9, -5, 300 }), bytes, ints, half;
    EXPECT(ConvertTo(f, bytes, TensorDType::UINT8) == APP_ERR_OK &&
           are_close(numbers_of(bytes), { 1, 3, 0, 255 }));
    EXPECT(ConvertTo(f, ints, TensorDType::INT32) == APP_ERR_OK &&
           are_close(numbers_of(ints), { 1, 3, -5, 300 }));
    EXPECT(ConvertTo(ints, half, TensorDType::FLOAT16) == APP_ERR_OK &&
           are_close(numbers_of(half), { 1, 3, -5, 300 }));
    EXPECT(ConvertTo(f, half, TensorDType::FLOAT32) == 1004 &&
           ConvertTo(f, half, TensorDType::UNDEFINED) == 1004);
    EXPECT(ConvertTo(f, bytes, TensorDType::INT32) == 1004 &&
           ConvertTo(Tensor(), half, TensorDType::INT32) == 1004);
    EXPECT(ConvertTo(f, half, static_cast<TensorDType>(5)) == 1004);
}

TEST(test_add_and_convert_work_on_regions)
{
    if (!has_devices()) SKIP("no device");
    Numbers ones(20, 1), values(20);
    for (int i = 0; i < 20; i++) values[i] = i;
    Tensor a = on_device({ 5, 4 }, TensorDType::UINT8, values),
           b = on_device({ 5, 4 }, TensorDType::UINT8, ones);
    Tensor dst = on_device({ 10, 10 }, TensorDType::UINT8, Numbers(100, 7));
    Tensor ra(a, Rect(1, 1, 3, 3)), rb(b, Rect(0, 0, 2, 2)), rd(dst, Rect(8, 8, 10, 10));
    EXPECT(Add(ra, rb, rd) == APP_ERR_OK);
    const Numbers got = numbers_of(dst);
    EXPECT(got[88] == 6 && got[89] == 7 && got[98] == 10 && got[99] == 11 && got[87] == 7 && got[0] == 7);
    EXPECT(Add(ra, rb, dst) == 1004 && Add(ra, b, rd) == 1004 && Subtract(ra, rb, rd) == 1004);
    Tensor wide(b, Rect(0, 0, 3, 2)), out;
    EXPECT(Add(ra, wide, rd) == 1004);
    EXPECT(ConvertTo(ra, out, TensorDType::FLOAT32) == APP_ERR_OK && out.GetShape() == (Shape{ 2, 2 }));
    EXPECT(are_close(numbers_of(out), { 5, 6, 9, 10 }) && ConvertTo(ra, out, TensorDType::INT32) == 1004);
    EXPECT(ConvertTo(a, rd, TensorDType::FLOAT32) == 1004);
}

TEST(test_matrices_are_sorted_along_either_axis)
{
    if (!has_devices()) SKIP("no device");
    Tensor a = on_device({ 2, 3 }, TensorDType::FLOAT32, { 3, 1, 2, 0, 5, 4 }), dst, places;
    EXPECT(Sort(a, dst, 1, false) == APP_ERR_OK && are_close(numbers_of(dst), { 1, 2, 3, 0, 4, 5 }));
    EXPECT(Sort(a, dst, 0, true) == APP_ERR_OK && are_close(numbers_of(dst), { 3, 5, 4, 0, 1, 2 }));
    EXPECT(SortIdx(a, places, 1, true) == APP_ERR_OK && places.GetDataType() == TensorDType::INT32);
    EXPECT(are_close(numbers_of(places), { 0, 2, 1, 1, 2, 0 }));
    EXPECT(Sort(a, dst, 2, true) == 1004 && SortIdx(a, places, -1, true) == 1004 &&
           Sort(Tensor(), dst, 0, true) == 1004);
    EXPECT(Sort(on_device({ 6 }, TensorDType::FLOAT32, left), dst, 0, true) == 1004);
}

TEST(test_images_are_stacked_split_merged_tiled_and_transposed)
{
    if (!has_devices()) SKIP("no device");
    Tensor a = on_device({ 1, 2 }, TensorDType::UINT8, { 1, 2 }),
           b = on_device({ 1, 2 }, TensorDType::UINT8, { 3, 4 }), dst, v, tiled;
    EXPECT(Hstack({ a, b }, dst) == APP_ERR_OK && dst.GetShape() == (Shape{ 1, 4 }) &&
           are_close(numbers_of(dst), { 1, 2, 3, 4 }));
    EXPECT(Vstack({ a, b }, v) == APP_ERR_OK && v.GetShape() == (Shape{ 2, 2 }) &&
           are_close(numbers_of(v), { 1, 2, 3, 4 }));
    EXPECT(Hstack({ a }, dst) == 1004 && Hstack({}, dst) == 1004 && Hstack({ a, v }, dst) == 1004 &&
           Vstack({ a, Tensor() }, v) == 1004);
    EXPECT(Tile(a, tiled, { 2, 2 }) == APP_ERR_OK &&
           are_close(numbers_of(tiled), { 1, 2, 1, 2, 1, 2, 1, 2 }));
    EXPECT(Tile(a, tiled, { 2 }) == 1004 && Tile(a, tiled, { 0, 1 }) == 1004 &&
           Tile(a, tiled, { UINT32_MAX, UINT32_MAX }) == 1004);

    Tensor image = on_device({ 1, 2, 3 }, TensorDType::UINT8, { 1, 2, 3, 4, 5, 6 });
    Tensor merged, transposed, reversed;
    std::vector<Tensor> channels;
    EXPECT(Split(image, channels) == APP_ERR_OK && channels.size() == 3 &&
           channels[0].GetShape() == (Shape{ 1, 2, 1 }));
    EXPECT(are_close(numbers_of(channels[1]), { 2, 5 }) && Split(image, channels) == APP_ERR_OK);
    EXPECT(Merge(channels, merged) == APP_ERR_OK && are_close(numbers_of(merged), { 1, 2, 3, 4, 5, 6 }));
    channels.pop_back();
    EXPECT(Split(image, channels) == 1004 && Merge(channels, merged) == 1004 && Split(a, channels) == 1004);
    EXPECT(Transpose(image, transposed, std::vector<int>{ 2, 0, 1 }) == APP_ERR_OK &&
           transposed.GetShape() == (Shape{ 3, 1, 2 }));
    EXPECT(are_close(numbers_of(transposed), { 1, 4, 2, 5, 3, 6 }));
    EXPECT(MxBase::Transpose(image, reversed, std::vector<int>{}) == APP_ERR_OK &&
           reversed.GetShape() == (Shape{ 3, 2, 1 }));
    EXPECT(Transpose(image, transposed, std::vector<int>{ 0, 1 }) == 1004 &&
           Transpose(image, transposed, std::vector<int>{ 0, 1, 3 }) == 1004);
    EXPECT(Transpose(image, transposed, std::vector<int>{ 0, 0, 1 }) != 0 &&
           Transpose(image, transposed, std::vector<int>{ -1, 0, 1 }) == 1004);
    EXPECT(CvtColor(image, dst, CvtColorMode::COLOR_RGB2GRAY) == APP_ERR_COMM_UNREALIZED &&
           Erode(image, dst, BlurConfig()) == 1004);
}

TEST(test_batches_are_split_into_copies_or_views)
{
    if (!has_devices()) SKIP("no device");
    Tensor batch = on_device({ 2, 1, 3 }, TensorDType::FLOAT32, { 1, 2, 3, 4, 5, 6 });
    std::vector<Tensor> views, copies;
    EXPECT(BatchSplit(batch, views, true) == APP_ERR_OK && views.size() == 2 &&
           views[1].GetShape() == (Shape{ 1, 3 }));
    EXPECT(views[0].GetData() == batch.GetData() && are_close(numbers_of(views[1]), { 4, 5, 6 }));
    EXPECT(BatchSplit(batch, copies, false) == APP_ERR_OK && copies[0].GetData() != batch.GetData());
    EXPECT(batch.SetTensorValue(9.0f) == APP_ERR_OK && are_close(numbers_of(views[0]), { 9, 9, 9 }));
    EXPECT(are_close(numbers_of(copies[1]), { 4, 5, 6 }) && BatchSplit(Tensor(), copies, true) == 1004);
    EXPECT(BatchSplit(on_device({ 6 }, TensorDType::UINT8, left), copies, true) == 1004);
    EXPECT(BatchSplit(batch, copies, false) == APP_ERR_OK && are_close(numbers_of(copies[1]), { 9, 9, 9 }));
}

TEST(test_batches_on_the_host_are_split_too)
{
    float data[] = { 1, 2, 3, 4, 5, 6 };
    const Tensor batch(data, { 2, 1, 3 }, TensorDType::FLOAT32);
    std::vector<Tensor> copies, views, wrong(2), empty(2);
    EXPECT(BatchSplit(batch, copies, false) == APP_ERR_OK && copies.size() == 2);
    EXPECT(copies[1].GetData() != data + 3 && static_cast<float *>(copies[1].GetData())[2] == 6);
    EXPECT(BatchSplit(batch, views, true) == APP_ERR_OK && views[1].GetData() == data + 3);
    for (Tensor &t : wrong) {
        t = Tensor({ 1, 2 }, TensorDType::FLOAT32);
        EXPECT(t.Malloc() == APP_ERR_OK);
    }
    EXPECT(BatchSplit(batch, wrong, false) == 1007 && BatchSplit(batch, wrong, true) == 1007);
    EXPECT(BatchSplit(batch, empty, false) == 1004);
    copies.pop_back();
    EXPECT(BatchSplit(batch, copies, false) == 1007);
}

TEST(test_dims_of_images_are_brought_together)
{
    if (!has_devices()) SKIP("no device");
    Tensor image = on_device({ 2, 2, 3 }, TensorDType::FLOAT32, { 1, 2, 3, -4, 5, 6, 7, 8, 9, 10, 11, 12 });
    Tensor sum, rows, abs_sum, squares, batches;
    EXPECT(Sum(image, sum) == APP_ERR_OK && sum.GetShape() == Shape{ 3 } &&
           are_close(numbers_of(sum), { 14, 26, 30 }));
    EXPECT(AbsSum(image, abs_sum) == APP_ERR_OK && are_close(numbers_of(abs_sum), { 22, 26, 30 }));
    EXPECT(SqrSum(image, squares) == APP_ERR_OK && are_close(numbers_of(squares), { 166, 214, 270 }));
    EXPECT(Reduce(image, rows, ReduceDim::REDUCE_HEIGHT, ReduceType::REDUCE_SUM) == APP_ERR_OK);
    EXPECT(rows.GetShape() == (Shape{ 2, 3 }) && are_close(numbers_of(rows), { 8, 10, 12, 6, 16, 18 }));
    EXPECT(Reduce(image, rows, ReduceDim::REDUCE_WIDTH, ReduceType::REDUCE_MEAN) == APP_ERR_OK);
    EXPECT(are_close(numbers_of(rows), { -1.5, 3.5, 4.5, 8.5, 9.5, 10.5 }));
    EXPECT(Reduce(image, rows, ReduceDim::REDUCE_WIDTH, ReduceType::REDUCE_MAX) == APP_ERR_OK);
    EXPECT(are_close(numbers_of(rows), { 1, 5, 6, 10, 11, 12 }));
    EXPECT(Reduce(image, rows, ReduceDim::REDUCE_WIDTH, ReduceType::REDUCE_MIN) == APP_ERR_OK);
    EXPECT(are_close(numbers_of(rows), { -4, 2, 3, 7, 8, 9 }));
    EXPECT(Sum(on_device({ 2, 1, 3, 1 }, TensorDType::UINT8, left), batches) == APP_ERR_OK);
    EXPECT(batches.GetShape() == (Shape{ 2, 1 }) && are_close(numbers_of(batches), { 6, 12 }));
    EXPECT(Sum(on_device({ 6 }, TensorDType::UINT8, left), sum) == 1004 && Sum(Tensor(), sum) == 1004);
    EXPECT(Reduce(image, rows, static_cast<ReduceDim>(2), ReduceType::REDUCE_SUM) == 1004);
    EXPECT(Reduce(image, rows, ReduceDim::REDUCE_WIDTH, static_cast<ReduceType>(9)) == 1004);
    EXPECT(AbsSum(on_device({ 2, 3 }, TensorDType::UINT8, left), sum) == 1004);
    EXPECT(MinMax(image, sum, sum) == 1004 && MinMaxLoc(image, sum, sum, sum, sum) == 1004);
}

TEST(test_extremes_are_found_with_their_places)
{
    if (!has_devices()) SKIP("no device");
    for (const TensorDType type : image_types) {
        Tensor low, high, low_at, high_at;
        const Tensor grey = on_device({ 3, 4 }, type, { 5, 9, 3, 4, 1, 2, 9, 1, 4, 4, 4, 4 });
        EXPECT(MinMaxLoc(grey, low, high, low_at, high_at) == APP_ERR_OK && low.GetDataType() == type);
        EXPECT(numbers_of(low) == Numbers{ 1 } && numbers_of(high) == Numbers{ 9 });
        EXPECT(low_at.GetDataType() == TensorDType::UINT32 && numbers_of(low_at) == (Numbers{ 1, 0 }) &&
               numbers_of(high_at) == (Numbers{ 0, 1 }));
        EXPECT(MinMax(on_device({ 1, 2, 1 }, type, { 7, 6 }), low, high) == APP_ERR_OK &&
               numbers_of(low) == Numbers{ 6 } && numbers_of(high) == Numbers{ 7 });
        EXPECT(MinMaxLoc(grey, low, high, low, high_at) == 1004 && MinMax(grey, high_at, high) == 1004);
    }
}

/* The smallest of a window with the edge repeated, element by element. */
static double smallest_around(const Numbers &x, const int dims[3], int row, int column, int channel, int size)
{
    double least = 256;
    for (int i = row - size / 2; i <= row + (size - 1) / 2; i++)
        for (int j = column - size / 2; j <= column + (size - 1) / 2; j++) {
            const int r = std::min(std::max(i, 0), dims[0] - 1), c = std::min(std::max(j, 0), dims[1] - 1);
            least = std::min(least, x[(r * dims[1] + c) * dims[2] + channel]);
        }
    return least;
}

static Numbers eroded(const Numbers &x, const int dims[3], int size)
{
    Numbers out;
    for (int i = 0; i < dims[0]; i++)
        for (int j = 0; j < dims[1]; j++)
            for (int c = 0; c < dims[2]; c++) out.push_back(smallest_around(x, dims, i, j, c, size));
    return out;
}

TEST(test_images_are_eroded)
{
    if (!has_devices()) SKIP("no device");
    for (int channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1)
        for (uint32_t size = 3; size <= 9; size += 3) {
            const int dims[] = { 64, 67, channels };
            Numbers x;
            for (int i = 0; i < dims[0] * dims[1] * channels; i++) x.push_back(i * 37 % 251);
            const Tensor image = on_device({ 64, 67, uint32_t(channels) }, TensorDType::UINT8, x);
            Tensor once, twice;
            BlurConfig config;
            config.kernelSize = Size(size, size);
            EXPECT(Erode(image, once, config) == APP_ERR_OK);
            EXPECT(numbers_of(once) == eroded(x, dims, static_cast<int>(size)));
            config.iterations = 2;
            EXPECT(Erode(image, twice, config) == APP_ERR_OK &&
                   numbers_of(twice) == eroded(numbers_of(once), dims, static_cast<int>(size)));
        }
}

TEST(test_what_cannot_be_eroded_is_refused)
{
    if (!has_devices()) SKIP("no device");
    Tensor image({ 64, 64 }, TensorDType::FLOAT32, 0), small({ 63, 64 }, TensorDType::UINT8, 0), dst;
    EXPECT(image.Malloc() == APP_ERR_OK && small.Malloc() == APP_ERR_OK);
    const auto refused = [&](const std::function<void(BlurConfig &)> &change) {
        BlurConfig config;
        change(config);
        return Erode(image, dst, config) == 1004;
    };
    EXPECT(refused([](BlurConfig &c) { c.iterations = 0; }));
    EXPECT(refused([](BlurConfig &c) { c.iterations = 101; }));
    EXPECT(refused([](BlurConfig &c) { c.kernelSize = Size(2, 2); }));
    EXPECT(refused([](BlurConfig &c) { c.kernelSize = Size(10, 10); }));
    EXPECT(refused([](BlurConfig &c) { c.kernelSize = Size(3, 5); }));
    EXPECT(refused([](BlurConfig &c) { c.morphShape = MorphShape::MORPH_CROSS; }));
    EXPECT(refused([](BlurConfig &c) { c.borderType = BorderType::BORDER_CONSTANT; }));
    EXPECT(refused([](BlurConfig &c) { c.anchor = { 0, 0 }; }));
    EXPECT(Erode(small, dst, BlurConfig()) == 1004 && Erode(Tensor(), dst, BlurConfig()) == 1004);
    EXPECT(Erode(image, dst, BlurConfig()) == APP_ERR_OK);
}

TEST(test_freed_tensors_are_refused_as_inputs_and_made_as_results)
{
    if (!has_devices()) SKIP("no device");
    Tensor a = on_device({ 1, 2, 3 }, TensorDType::UINT8, left), gone, result;
    std::vector<Tensor> list;
    EXPECT(Tensor::TensorFree(gone) == APP_ERR_OK && Tensor::TensorFree(result) == APP_ERR_OK);
    EXPECT(Add(gone, a, result) == 1004 && Add(a, gone, result) == 1004 &&
           ConvertTo(gone, a, TensorDType::INT32) == 1004);
    EXPECT(Sort(gone, a, 0, true) == 1004 && Sum(gone, a) == 1004 && Split(gone, list) == 1004);
    EXPECT(Hstack({ gone, a }, result) == 1004 && Hstack({ a, gone }, result) == 1004 &&
           Tile(gone, a, { 1 }) == 1004);
    EXPECT(Transpose(gone, a, std::vector<int>{}) == 1004 && BatchSplit(gone, list, true) == 1004);
    EXPECT(Compare(gone, gone, gone) == 1004 && gone.Clone().IsEmpty() && gone.SetTensorValue(1) == 1004);
    EXPECT(Add(a, a, result) == APP_ERR_OK && are_close(numbers_of(result), { 2, 4, 6, 6, 8, 10 }));
    EXPECT(Tensor::TensorFree(result) == APP_ERR_OK &&
           Transpose(a, result, std::vector<int>{}) == APP_ERR_OK);
    EXPECT(Tensor::TensorFree(result) == APP_ERR_OK &&
           ConvertTo(a, result, TensorDType::FLOAT32) == APP_ERR_OK);
    EXPECT(Tensor::TensorFree(result) == APP_ERR_OK && Sum(a, result) == APP_ERR_OK);
}

TEST(test_streams_of_another_device_are_refused)
{
    if (DeviceManager::GetInstance()->CheckDeviceId(1) != APP_ERR_OK) SKIP("no second device");
    Tensor a = on_device({ 6 }, TensorDType::UINT8, left), b = a.Clone(), dst, far = a.Clone();
    AscendStream elsewhere(1);
    EXPECT(Add(a, b, dst, elsewhere) == 1004 && dst.IsEmpty());
    EXPECT(far.ToDevice(1) == APP_ERR_OK && Add(a, far, dst) == 1004 && Add(a, b, far) == 1004);
    EXPECT(Add(far, far, dst, elsewhere) == APP_ERR_OK && dst.GetDeviceId() == 1);
}

TEST_BEFORE
{
    setenv("GLOG_minloglevel", "4", 1);
    MxInit();
}
