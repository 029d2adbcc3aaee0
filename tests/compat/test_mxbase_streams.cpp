/* test_mxbase_streams.cpp - what is done on the default stream is done when the call returns, and work that
 * is queued afterwards on any other stream sees it. The simulated device begins its work late at random. */
#include <functional>
#include <string>
#include <vector>

#include "MxBase/DeviceManager/DeviceManager.h"
#include "MxBase/MxBase.h"
#include "test.h"

using namespace MxBase;
using Shape = std::vector<uint32_t>;
using Bytes = std::vector<uint8_t>;
using Tensors = std::vector<Tensor>;

enum { CHAINS = 10000, PATTERNS = 2 };

static bool has_devices() { return DeviceManager::GetInstance()->CheckDeviceId(0) == APP_ERR_OK; }

/* An op of one source, whose results are made or written into. */
struct Op {
    const char *name;
    Shape shape;
    TensorDType type;
    std::function<APP_ERROR(const Tensor &, Tensors &, AscendStream &)> run;
};

static const Shape IMAGE = { 8, 8, 3 }, GREY = { 8, 8 }, BATCH = { 2, 4, 8 }, LARGE = { 64, 64 };
static const TensorDType U8 = TensorDType::UINT8, F32 = TensorDType::FLOAT32;

using Unary = APP_ERROR (*)(const Tensor &, Tensor &, AscendStream &);
using Binary = APP_ERROR (*)(const Tensor &, const Tensor &, Tensor &, AscendStream &);
using Joined = APP_ERROR (*)(const Tensors &, Tensor &, AscendStream &);

static Op unary(const char *name, const Shape &shape, TensorDType type, Unary op)
{
    return { name, shape, type,
             [op](const Tensor &x, Tensors &out, AscendStream &s) { return op(x, out[0], s); } };
}

static Op binary(const char *name, TensorDType type, Binary op)
{
    return { name, IMAGE, type,
             [op](const Tensor &x, Tensors &out, AscendStream &s) { return op(x, x, out[0], s); } };
}

static Op joined(const char *name, const Shape &shape, Joined op)
{
    return { name, shape, F32,
             [op](const Tensor &x, Tensors &out, AscendStream &s) { return op({ x, x, x }, out[0], s); } };
}

static APP_ERROR regions(const Tensor &x, Tensors &out, AscendStream &s)
{
    Tensor src(x.GetData(), LARGE, U8, 0, false, true);
    if (out[0].IsEmpty()) {
        out[0] = Tensor(LARGE, U8, 0);
        if (out[0].Malloc() != APP_ERR_OK || out[0].SetTensorValue(uint8_t(0)) != APP_ERR_OK) return -1;
    }
    src.SetReferRect({ 0, 0, 32, 32 });
    out[0].SetReferRect({ 16, 16, 48, 48 });
    return out[0].Clone(src, s);
}

static APP_ERROR set_memory(const Tensor &x, Tensors &out, AscendStream &s)
{
    if (out[0].IsEmpty()) out[0] = x.Clone();
    MemoryData data(out[0].GetData(), out[0].GetByteSize(), MemoryData::MEMORY_DEVICE, 0);
    return MemoryHelper::MxbsMemset(data, 7, out[0].GetByteSize(), s);
}

template <typename T>
static APP_ERROR set_value(const Tensor &x, Tensors &out, AscendStream &s, T value)
{
    if (out[0].IsEmpty()) {
        out[0] = Tensor(x.GetShape(), x.GetDataType(), 0);
        if (out[0].Malloc() != APP_ERR_OK) return -1;
    }
    return out[0].SetTensorValue(value, s);
}

static APP_ERROR set_float(const Tensor &x, Tensors &out, AscendStream &s)
{
    if (out[0].IsEmpty()) out[0] = x.Clone();
    return out[0].SetTensorValue(2.5f, false, s);
}

static std::vector<Op> elements()
{
    using T = const Tensor &;
    using O = Tensors &;
    using S = AscendStream &;
    return {
        binary("Add", F32, Add), binary("Subtract", U8, Subtract), binary("Multiply", U8, Multiply),
        binary("Divide", U8, Divide), binary("BitwiseAnd", U8, BitwiseAnd),
        binary("BitwiseOr", U8, BitwiseOr), binary("BitwiseXor", U8, BitwiseXor),
        unary("BitwiseNot", IMAGE, U8, BitwiseNot),
        binary("Pow", F32, Pow), unary("Sqr", IMAGE, F32, Sqr), unary("Sqrt", IMAGE, F32, Sqrt),
        unary("Exp", IMAGE, F32, Exp), unary("Log", IMAGE, F32, Log), binary("AbsDiff", U8, AbsDiff),
        unary("Abs", IMAGE, F32, Abs), binary("Min", F32, Min), binary("Max", U8, Max),
        { "Multiply, scaled", IMAGE, U8, [](T x, O out, S s) { return Multiply(x, x, out[0], 0.5, s); } },
        { "Divide, scaled", IMAGE, U8, [](T x, O out, S s) { return Divide(x, x, out[0], 9.5f, s); } },
        { "ThresholdBinary", IMAGE, U8, [](T x, O out, S s) { return ThresholdBinary(x, out[0], 3, 9, s); } },
        { "Threshold", IMAGE, F32,
          [](T x, O out, S s) {
              return Threshold(x, out[0], 3, 9, ThresholdType::THRESHOLD_BINARY_INV, s);
          } },
        { "AddWeighted", IMAGE, U8,
          [](T x, O out, S s) { return AddWeighted(x, 0.5f, x, 1.5f, 2, out[0], s); } },
        { "ScaleAdd", IMAGE, U8, [](T x, O out, S s) { return ScaleAdd(x, 1.5f, x, out[0], s); } },
        { "Rescale", IMAGE, U8, [](T x, O out, S s) { return Rescale(x, out[0], 1.1f, 9.85f, s); } },
        { "ConvertTo", IMAGE, F32,
          [](T x, O out, S s) { return ConvertTo(x, out[0], TensorDType::INT32, s); } },
        { "Clip", IMAGE, U8, [](T x, O out, S s) { return Clip(x, out[0], 2, 6, s); } },
        { "SortIdx", GREY, F32, [](T x, O out, S s) { return SortIdx(x, out[0], 1, true, s); } },
        { "Sort", GREY, F32, [](T x, O out, S s) { return Sort(x, out[0], 0, false, s); } },
        { "Compare", IMAGE, U8, [](T x, O out, S s) { return Compare(x, x, out[0], CmpOp::CMP_GE, s); } },
    };
}

static std::vector<Op> others()
{
    using T = const Tensor &;
    using O = Tensors &;
    using S = AscendStream &;
    return {
        unary("Sum", IMAGE, F32, Sum), unary("AbsSum", IMAGE, U8, AbsSum),
        unary("SqrSum", IMAGE, F32, SqrSum),
        { "Reduce", IMAGE, F32,
          [](T x, O out, S s) {
              return Reduce(x, out[0], ReduceDim::REDUCE_HEIGHT, ReduceType::REDUCE_MEAN, s);
          } },
        { "MinMax", GREY, F32, [](T x, O out, S s) { return MinMax(x, out[0], out[1], s); } },
        { "MinMaxLoc", GREY, U8,
          [](T x, O out, S s) { return MinMaxLoc(x, out[0], out[1], out[2], out[3], s); } },
        joined("Hstack", GREY, Hstack), joined("Vstack", IMAGE, Vstack), joined("Merge", { 8, 8, 1 }, Merge),
        { "Split", IMAGE, F32,
          [](T x, O out, S s) {
              out.resize(3);
              return out[0].IsEmpty() ? (out.clear(), Split(x, out, s)) : Split(x, out, s);
          } },
        { "BatchSplit", BATCH, F32,
          [](T x, O out, S s) {
              if (out[0].IsEmpty()) out.clear();
              return BatchSplit(x, out, false, s);
          } },
        { "Transpose", IMAGE, F32, [](T x, O out, S s) { return Transpose(x, out[0], { 2, 0, 1 }, s); } },
        { "Tile", GREY, F32, [](T x, O out, S s) { return Tile(x, out[0], { 2, 3 }, s); } },
        { "Erode", LARGE, U8, [](T x, O out, S s) { return Erode(x, out[0], BlurConfig(), s); } },
        { "Clone", IMAGE, F32, [](T x, O out, S s) { return out[0] = x.Clone(s), APP_ERR_OK; } },
        { "Clone of a region", LARGE, U8, regions },
        { "SetTensorValue, bytes", IMAGE, U8,
          [](T x, O out, S s) { return set_value(x, out, s, uint8_t(7)); } },
        { "SetTensorValue, floats", IMAGE, F32, set_float },
        { "SetTensorValue, integers", IMAGE, TensorDType::INT32,
          [](T x, O out, S s) { return set_value(x, out, s, int32_t(7)); } },
        { "MxbsMemset", IMAGE, U8, set_memory },
    };
}

/* Moves it to the host. */
static Bytes bytes_of(Tensor &t)
{
    EXPECT(!t.IsEmpty() && t.ToHost() == APP_ERR_OK);
    const uint8_t *p = static_cast<const uint8_t *>(t.GetData());
    return Bytes(p, p + t.GetByteSize());
}

/* Bytes 1 to 9 of a pattern, in another order for each. */
static Tensor pattern(const Shape &shape, int number)
{
    Tensor t(shape, U8);
    EXPECT(t.Malloc() == APP_ERR_OK);
    uint8_t *data = static_cast<uint8_t *>(t.GetData());
    for (size_t i = 0; i < t.GetByteSize(); i++)
        data[i] = static_cast<uint8_t>(1 + (i * (number ? 7 : 4) + number) % 9);
    EXPECT(t.ToDevice(0) == APP_ERR_OK);
    return t;
}

/* The tensors of one op, and what is right. */
struct Case {
    explicit Case(const Op &o) : op(o), source(o.shape, o.type, 0), made(4)
    {
        EXPECT(source.Malloc() == APP_ERR_OK);
        for (int i = 0; i < PATTERNS; i++) {
            patterns.push_back(pattern(op.shape, i));
            Fill(i);
            Tensors out(4);
            EXPECT(op.run(source, out, AscendStream::DefaultStream()) == APP_ERR_OK);
            EXPECT(AscendStream::DefaultStream().Synchronize() == APP_ERR_OK);
            want.push_back(All(out));
        }
    }

    void Fill(int number)
    {
        const Tensor &from = patterns[number];
        if (op.type == U8) EXPECT(BitwiseOr(from, from, source) == APP_ERR_OK);
        else EXPECT(ConvertTo(from, source, op.type) == APP_ERR_OK);
    }

    static std::vector<Bytes> All(Tensors &tensors)
    {
        std::vector<Bytes> all;
        for (Tensor &t : tensors)
            if (!t.IsEmpty()) all.push_back(bytes_of(t));
        return all;
    }

    /* The source and one result on the default stream; then copies and the same op on another one. */
    bool Run(int number, AscendStream &stream)
    {
        Tensors copies, queued(4);
        Fill(number);
        bool good = op.run(source, made, AscendStream::DefaultStream()) == APP_ERR_OK;
        for (const Tensor &t : made)
            if (!t.IsEmpty()) copies.push_back(t.Clone(stream));
        good = good && op.run(source, queued, stream) == APP_ERR_OK && stream.Synchronize() == APP_ERR_OK;
        return good && All(copies) == want[number] && All(queued) == want[number];
    }

    const Op op;
    Tensor source;
    Tensors patterns, made;
    std::vector<std::vector<Bytes>> want;
};

TEST(test_what_the_default_stream_did_is_seen_by_any_other)
{
    if (!has_devices()) SKIP("no device");
    std::vector<Op> ops = elements();
    for (const Op &op : others()) ops.push_back(op);
    AscendStream streams[] = { AscendStream(0), AscendStream(0) };
    const int each = (CHAINS + static_cast<int>(ops.size()) - 1) / static_cast<int>(ops.size());
    for (const Op &op : ops) {
        Case one(op);
        int wrong = 0;
        for (int i = 0; i < each; i++) wrong += !one.Run(i % PATTERNS, streams[i / 2 % 2]);
        if (wrong) printf("%s: %d of %d wrong\n", op.name, wrong, each);
        EXPECT(wrong == 0);
    }
    for (AscendStream &s : streams) EXPECT(s.DestroyAscendStream() == APP_ERR_OK);
}

TEST(test_copies_of_memory_are_seen_by_streams)
{
    if (!has_devices()) SKIP("no device");
    const Tensor from[] = { pattern(IMAGE, 0), pattern(IMAGE, 1) };
    Tensor same[] = { from[0].Clone(), from[1].Clone() };
    const Bytes want[] = { bytes_of(same[0]), bytes_of(same[1]) };
    AscendStream stream(0);
    int wrong = 0;
    for (int i = 0; i < 500; i++) {
        Tensor to(IMAGE, U8, 0), seen;
        EXPECT(to.Malloc() == APP_ERR_OK);
        MemoryData dst(to.GetData(), to.GetByteSize(), MemoryData::MEMORY_DEVICE, 0);
        const MemoryData src(from[i % 2].GetData(), to.GetByteSize(), MemoryData::MEMORY_DEVICE, 0);
        EXPECT(MemoryHelper::MxbsMemcpy(dst, src, to.GetByteSize()) == APP_ERR_OK);
        seen = to.Clone(stream);
        EXPECT(stream.Synchronize() == APP_ERR_OK);
        wrong += bytes_of(seen) != want[i % 2];
    }
    EXPECT(wrong == 0 && stream.DestroyAscendStream() == APP_ERR_OK);
}

TEST_BEFORE
{
    setenv("GLOG_minloglevel", "4", 1);
    setenv("TSR_SIM_DELAY", "100", 1);
    MxInit();
}
