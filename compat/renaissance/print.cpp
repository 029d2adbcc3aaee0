/* print.cpp - tensors as text. Each rank has a layout of its own, which programs read back. */
#include "bridge.hpp"

namespace tr {

namespace {

class Writer {
public:
    Writer(const Tensor &t, int precision) : t_(t), bytes_(t.memory_size())
    {
        t.to_cpu_data(bytes_.data(), bytes_.size());
        text_ << std::fixed << std::setprecision(precision);
    }

    std::string text()
    {
        const Shape &s = t_.shape();
        switch (s.ndim()) {
        case 0: element(0); break;
        case 1: row(0, s.w()); break;
        case 2: matrix(); break;
        case 3: cube(); break;
        default: batch(); break;
        }
        return text_.str();
    }

private:
    template <typename T> T at(int64_t i) const { return reinterpret_cast<const T *>(bytes_.data())[i]; }

    void element(int64_t i)
    {
        if (t_.dtype() == DType::FP32) text_ << at<float>(i);
        else if (t_.dtype() == DType::INT8) text_ << static_cast<int>(at<int8_t>(i));
        else text_ << at<int32_t>(i);
    }

    void row(int64_t from, int32_t count)
    {
        text_ << "[";
        for (int32_t i = 0; i < count; ++i) {
            if (i > 0) text_ << ", ";
            element(from + i);
        }
        text_ << "]";
    }

    void matrix()
    {
        const Shape &s = t_.shape();
        text_ << "[\n";
        for (int32_t h = 0; h < s.h(); ++h) {
            text_ << "  ";
            row(int64_t{h} * s.w(), s.w());
            text_ << (h + 1 < s.h() ? ",\n" : "\n");
        }
        text_ << "]";
    }

    void cube()
    {
        const Shape &s = t_.shape();
        text_ << "[\n";
        for (int32_t c = 0; c < s.c(); ++c) {
            text_ << "  [";
            for (int32_t h = 0; h < s.h(); ++h) {
                if (h > 0) text_ << "\n   ";
                row((int64_t{c} * s.h() + h) * s.w(), s.w());
            }
            text_ << (c + 1 < s.c() ? "],\n" : "]\n");
        }
        text_ << "]";
    }

    void batch()
    {
        const Shape &s = t_.shape();
        text_ << "[\n";
        for (int32_t n = 0; n < s.n(); ++n) {
            text_ << " [";
            for (int32_t c = 0; c < s.c(); ++c) channel(n, c);
            text_ << (n + 1 < s.n() ? "],\n\n" : "]\n");
        }
        text_ << "]";
    }

    void channel(int32_t n, int32_t c)
    {
        const Shape &s = t_.shape();
        text_ << (c > 0 ? "\n [" : "[");
        for (int32_t h = 0; h < s.h(); ++h) {
            if (h > 0) text_ << "\n  ";
            row(((int64_t{n} * s.c() + c) * s.h() + h) * s.w(), s.w());
            if (h + 1 < s.h()) text_ << ",";
        }
        text_ << "]";
    }

    const Tensor &t_;
    std::vector<char> bytes_;
    std::ostringstream text_;
};

std::string content(const Tensor &t, int precision)
{
    try {
        return Writer(t, precision).text();
    } catch (const std::exception &) {
        return "[...data unavailable...]";
    }
}

} // namespace

std::string Tensor::to_string() const
{
    const int64_t most = 16;
    std::string text = "Tensor(shape=" + shape_.to_string() + ", dtype=" + dtype_to_string(dtype_) +
                       ", device=" + device_.to_string();
    if (is_empty()) return text + ", empty)";
    text += ", numel=" + std::to_string(numel()) + ", data=";
    return text + (numel() <= most ? content(*this, 4) : "[...large tensor, use print() for details...]") +
           ")";
}

void Tensor::print(const std::string &name) const { print(name, 4); }

void Tensor::print(const std::string &name, int precision) const
{
    std::string text = name.empty() ? "tensor(" : name + ":\ntensor(";
    text += is_empty() ? "[]" : content(*this, precision);
    if (!device_.is_cpu()) text += ", device='cuda:" + std::to_string(device_.index) + "'";
    if (dtype_ != DType::FP32) text += std::string(", dtype=") + dtype_to_string(dtype_);
    std::cout << text << ")" << std::endl;
}

void Tensor::summary(const std::string &name) const
{
    std::cout << (name.empty() ? "" : name + ": ") << to_string() << ", memory_size=" << memory_size()
              << " bytes" << std::endl;
}

std::ostream &operator<<(std::ostream &os, const Tensor &tensor) { return os << tensor.to_string(); }

} // namespace tr
