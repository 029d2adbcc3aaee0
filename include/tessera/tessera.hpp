/* tessera.hpp - the library for C++17: handles that release themselves, operators, slices, exceptions.
 *
 *     #include <iostream>
 *     #include <tessera/tessera.hpp>
 *
 *     int main()
 *     {
 *         using namespace tessera;
 *         tensor x = arange<float>(6).view({2, 3});
 *         x(all, 0).fill(9);                            // a view: writes to x
 *         std::cout << x << "\n" << (x * 2 + 1).sum({0}) << "\n";
 *     }
 *
 * A tensor is one pointer, and everything here is inline calls of the C functions, whose headers say what
 * they do. Copying a tensor shares it (tsr_retain); clone() copies elements. A call that fails throws
 * tessera::error with the library's message and status.
 *
 * What has no name here is called by call(), which makes the result:
 *
 *     tensor y = call(tsr_layer_norm, x, weight, bias, 1e-5);
 *     tensor z = call(tsr_norm, x, axes{1}, false, 2.0);
 */
#ifndef TESSERA_TESSERA_HPP
#define TESSERA_TESSERA_HPP

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera.h"

namespace tessera {

/* Failures ------------------------------------------------------------------- */

class error : public std::runtime_error {
public:
    error(tsr_status status, const char *message) : std::runtime_error(message), status_(status) {}
    tsr_status status() const noexcept { return status_; }

private:
    tsr_status status_;
};

/* Throws if a call failed. */
inline void check(tsr_status status)
{
    if (status != TSR_OK) throw error(status, tsr_last_error());
}

/* Dtypes --------------------------------------------------------------------- */

/* The dtype of a C++ number: dtype_of<float> is TSR_F32. */
template <class T> struct dtype_of_number;
template <> struct dtype_of_number<bool>                 { static constexpr tsr_dtype value = TSR_BOOL; };
template <> struct dtype_of_number<std::int8_t>          { static constexpr tsr_dtype value = TSR_I8; };
template <> struct dtype_of_number<std::int16_t>         { static constexpr tsr_dtype value = TSR_I16; };
template <> struct dtype_of_number<std::int32_t>         { static constexpr tsr_dtype value = TSR_I32; };
template <> struct dtype_of_number<std::int64_t>         { static constexpr tsr_dtype value = TSR_I64; };
template <> struct dtype_of_number<std::uint8_t>         { static constexpr tsr_dtype value = TSR_U8; };
template <> struct dtype_of_number<std::uint16_t>        { static constexpr tsr_dtype value = TSR_U16; };
template <> struct dtype_of_number<std::uint32_t>        { static constexpr tsr_dtype value = TSR_U32; };
template <> struct dtype_of_number<std::uint64_t>        { static constexpr tsr_dtype value = TSR_U64; };
template <> struct dtype_of_number<float>                { static constexpr tsr_dtype value = TSR_F32; };
template <> struct dtype_of_number<double>               { static constexpr tsr_dtype value = TSR_F64; };
template <> struct dtype_of_number<std::complex<float>>  { static constexpr tsr_dtype value = TSR_C64; };
template <> struct dtype_of_number<std::complex<double>> { static constexpr tsr_dtype value = TSR_C128; };
template <class T> inline constexpr tsr_dtype dtype_of = dtype_of_number<std::remove_cv_t<T>>::value;

/* Lists of sizes and axes ---------------------------------------------------- */

/* Up to TSR_MAX_NDIM numbers, without allocation: {2, 3}, or from a vector. */
template <class T> class small_list {
public:
    small_list() = default;
    small_list(std::initializer_list<T> list) { copy(list.begin(), list.size()); }
    template <class U> small_list(const std::vector<U> &list) { copy(list.data(), list.size()); }
    small_list(const T *first, int n) { copy(first, static_cast<std::size_t>(n)); }

    int      size() const noexcept { return n_; }
    const T *data() const noexcept { return at_; }
    const T *begin() const noexcept { return at_; }
    const T *end() const noexcept { return at_ + n_; }
    T        operator[](int i) const noexcept { return at_[i]; }

    friend bool operator==(const small_list &a, const small_list &b)
    {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }
    friend bool operator!=(const small_list &a, const small_list &b) { return !(a == b); }

private:
    template <class U> void copy(const U *first, std::size_t n)
    {
        if (n > TSR_MAX_NDIM) throw error(TSR_EINVAL, "more numbers than a tensor has dims");
        for (std::size_t i = 0; i < n; i++) at_[i] = static_cast<T>(first[i]);
        n_ = static_cast<int>(n);
    }

    T   at_[TSR_MAX_NDIM] = {};
    int n_ = 0;
};

using shape = small_list<std::int64_t>;
using axes = small_list<int>;

/* Indices -------------------------------------------------------------------- */

/* slice(1, 5), slice(none, none, -1): as in Python, but that bounds are strict. */
inline constexpr std::int64_t none = TSR_NONE;
struct slice {
    std::int64_t start = TSR_NONE, stop = TSR_NONE, step = 1;
    constexpr slice() = default;
    constexpr slice(std::int64_t first, std::int64_t end, std::int64_t by = 1)
        : start(first), stop(end), step(by) {}
};

struct all_t {};
struct ellipsis_t {};
struct newaxis_t {};
inline constexpr all_t      all{};       /* the whole dim */
inline constexpr ellipsis_t ellipsis{};  /* as many whole dims as are left; once */
inline constexpr newaxis_t  newaxis{};   /* a new dim of size 1 */

/* A number where a call takes a tensor: call(tsr_lerp, x, y, number(0.5)). */
template <class T> tsr_number_value number(T x) { return tsr_number_value(TSR_SCALAR(x)); }

class tensor;

namespace detail {

template <class T> inline constexpr bool is_tensor = std::is_same_v<T, tensor>;
template <class T> inline constexpr bool is_operand = is_tensor<T> || std::is_arithmetic_v<T>;
template <class A, class B>
using if_operands =
    std::enable_if_t<is_operand<A> && is_operand<B> && (is_tensor<A> || is_tensor<B>), tensor>;

/* An argument as the C functions take it: lists are two. */
template <class T> std::tuple<const T &> pass(const T &x) { return std::tuple<const T &>(x); }
inline std::tuple<const tsr_tensor *> pass(const tensor &x);
inline std::tuple<int, const std::int64_t *> pass(const shape &x) { return {x.size(), x.data()}; }
inline std::tuple<int, const int *> pass(const axes &x) { return {x.size(), x.data()}; }

}  // namespace detail

/* Tensors -------------------------------------------------------------------- */

class tensor {
public:
    tensor() noexcept = default;
    tensor(const tensor &other) noexcept : t_(tsr_retain(other.t_)) {}
    tensor(tensor &&other) noexcept : t_(std::exchange(other.t_, nullptr)) {}
    tensor &operator=(tensor other) noexcept
    {
        std::swap(t_, other.t_);
        return *this;
    }
    ~tensor() { tsr_release(&t_); }

    /* Takes over a handle of C; shares one. */
    static tensor take(tsr_tensor *t) noexcept
    {
        tensor r;
        r.t_ = t;
        return r;
    }
    static tensor share(tsr_tensor *t) noexcept { return take(tsr_retain(t)); }

    /* The handle: lent; given away; and as a result of a C function, with what it held released. */
    tsr_tensor  *get() const noexcept { return t_; }
    tsr_tensor  *detach() noexcept { return std::exchange(t_, nullptr); }
    tsr_tensor **result() noexcept
    {
        tsr_release(&t_);
        return &t_;
    }

    explicit operator bool() const noexcept { return !tsr_is_none(t_); }

    /* Asking. */
    tsr_dtype      dtype() const noexcept { return t_ ? t_->dtype : TSR_DTYPE_INVALID; }
    int            ndim() const noexcept { return t_ ? t_->ndim : 0; }
    tessera::shape shape() const { return t_ ? tessera::shape(t_->shape, t_->ndim) : tessera::shape(); }
    tessera::shape strides() const { return t_ ? tessera::shape(t_->stride, t_->ndim) : tessera::shape(); }
    std::int64_t   size() const noexcept { return tsr_numel(t_); }
    std::int64_t   size(int axis) const
    {
        std::int64_t n = 0;
        check(tsr_dim(&n, t_, axis));
        return n;
    }
    tsr_device device() const noexcept { return tsr_device_of(t_); }
    bool       is_contiguous() const noexcept { return tsr_is_contiguous(t_); }
    bool       is_view() const noexcept { return tsr_is_view(t_); }

    /* Elements: the address of the first, if T is the dtype; one, checked; one, unchecked; the only one. */
    template <class T> T *data() const
    {
        need_dtype(dtype_of<T>);
        return static_cast<T *>(t_->data);
    }
    template <class T, class... I> T &at(I... index) const
    {
        void *p = nullptr;
        need_dtype(dtype_of<T>);
        const tessera::shape place{ std::int64_t(index)... };
        check(tsr_pointer(&p, t_, place.size(), place.data()));
        return *static_cast<T *>(p);
    }
    template <class T, class... I> T &ref(I... index) const noexcept
    {
        std::int64_t offset = 0;
        int          axis = 0;
        ((offset += std::int64_t(index) * t_->stride[axis++]), ...);
        return static_cast<T *>(t_->data)[offset];
    }
    template <class T> T item() const
    {
        if constexpr (std::is_floating_point_v<T>) {
            double x = 0;
            check(tsr_item_f64(&x, t_));
            return static_cast<T>(x);
        } else {
            std::int64_t x = 0;
            check(tsr_item_i64(&x, t_));
            return static_cast<T>(x);
        }
    }
    template <class T> std::vector<T> to_vector() const
    {
        /* vector<bool> has no memory to store to. */
        using stored = std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>;
        std::vector<stored> v(static_cast<std::size_t>(size()));
        need_dtype(dtype_of<T>);
        check(tsr_store(v.data(), v.size() * sizeof(T), t_));
        if constexpr (std::is_same_v<T, bool>) return std::vector<bool>(v.begin(), v.end());
        else return v;
    }

    /* Writing. */
    template <class T> const tensor &fill(T value) const
    {
        check(tsr_fill(t_, TSR_SCALAR(value)));
        return *this;
    }
    const tensor &copy_from(const tensor &other) const
    {
        check(tsr_copy(t_, other.t_));
        return *this;
    }

    /* Views: the same memory. x(0, all, slice(2, 5), newaxis), x(ellipsis, -1), x[3]. */
    template <class... I> tensor operator()(I... index) const
    {
        constexpr int used =
            ((std::is_same_v<I, newaxis_t> || std::is_same_v<I, ellipsis_t> ? 0 : 1) + ... + 0);
        tensor v(*this);
        [[maybe_unused]] int axis = 0;
        (v.step(axis, ndim() - used, index), ...);
        return v;
    }
    tensor operator[](std::int64_t index) const { return make(tsr_select, 0, index); }

    tensor view(const tessera::shape &s) const { return make(tsr_view, s.size(), s.data()); }
    tensor reshape(const tessera::shape &s) const { return make(tsr_reshape, s.size(), s.data()); }
    tensor expand(const tessera::shape &s) const { return make(tsr_expand, s.size(), s.data()); }
    tensor permute(const axes &a) const { return make(tsr_permute, a.size(), a.data()); }
    tensor flip(const axes &a = {}) const { return make(tsr_flip, a.size(), a.data()); }
    tensor transpose(int a = -2, int b = -1) const { return make(tsr_transpose, a, b); }
    tensor squeeze(int axis) const { return make(tsr_squeeze, axis); }
    tensor unsqueeze(int axis) const { return make(tsr_unsqueeze, axis); }
    tensor diagonal(std::int64_t k = 0, int a = -2, int b = -1) const { return make(tsr_diagonal, k, a, b); }
    tensor real() const { return make(tsr_view_real); }
    tensor imag() const { return make(tsr_view_imag); }

    /* Copies. */
    tensor clone() const { return make(tsr_clone); }
    tensor contiguous() const { return make(tsr_contiguous); }
    tensor to(tsr_dtype dtype) const { return make(tsr_cast, dtype); }
    template <class T> tensor to() const { return make(tsr_cast, dtype_of<T>); }
    tensor to_device(tsr_device device) const { return make(tsr_to, device); }
    tensor to_device(const char *name) const
    {
        tsr_device device = TSR_CPU;
        check(tsr_device_parse(&device, name));
        return to_device(device);
    }

    /* Reductions, of all axes if none is named. */
    tensor sum(const axes &a = {}, bool keep = false) const { return reduce(tsr_sum, a, keep); }
    tensor prod(const axes &a = {}, bool keep = false) const { return reduce(tsr_prod, a, keep); }
    tensor mean(const axes &a = {}, bool keep = false) const { return reduce(tsr_mean, a, keep); }
    tensor max(const axes &a = {}, bool keep = false) const { return reduce(tsr_max, a, keep); }
    tensor min(const axes &a = {}, bool keep = false) const { return reduce(tsr_min, a, keep); }
    tensor any(const axes &a = {}, bool keep = false) const { return reduce(tsr_any, a, keep); }
    tensor all(const axes &a = {}, bool keep = false) const { return reduce(tsr_all, a, keep); }
    tensor argmax(int axis, bool keep = false) const { return make(tsr_argmax, axis, keep); }
    tensor argmin(int axis, bool keep = false) const { return make(tsr_argmin, axis, keep); }

    /* In place: the result must have this tensor's dtype and shape. */
    template <class B> tensor &operator+=(const B &b) { return update(tsr_add, b); }
    template <class B> tensor &operator-=(const B &b) { return update(tsr_sub, b); }
    template <class B> tensor &operator*=(const B &b) { return update(tsr_mul, b); }
    template <class B> tensor &operator/=(const B &b) { return update(tsr_div, b); }

    std::string to_string(const tsr_print_opts *opts = nullptr) const
    {
        std::size_t length = 0;
        check(tsr_to_string(nullptr, 0, &length, t_, opts));
        std::string text(length + 1, '\0');
        check(tsr_to_string(text.data(), text.size(), &length, t_, opts));
        text.resize(length);
        return text;
    }

private:
    template <class F, class... A> tensor make(F fn, A... args) const
    {
        tensor r;
        check(fn(&r.t_, t_, args...));
        return r;
    }

    template <class F> tensor reduce(F fn, const axes &a, bool keep) const
    {
        return make(fn, a.size(), a.data(), keep);
    }

    template <class F, class B> tensor &update(F fn, const B &b)
    {
        if constexpr (detail::is_tensor<B>) check(fn(&t_, t_, b.t_));
        else check(fn(&t_, t_, number(b)));
        return *this;
    }

    void need_dtype(tsr_dtype wanted) const
    {
        if (dtype() == wanted) return;
        const std::string text = std::string("elements are ") + tsr_dtype_name(dtype()) + ", not " +
                                 tsr_dtype_name(wanted);
        throw error(TSR_EDTYPE, text.c_str());
    }

    /* One index of operator(), at `axis`; ellipsis passes over `rest` dims. */
    void step(int &axis, int, all_t) { axis++; }
    void step(int &axis, int rest, ellipsis_t) { axis += rest; }
    void step(int &axis, int, newaxis_t) { check(tsr_unsqueeze(&t_, t_, axis++)); }
    void step(int &axis, int, const slice &s) { check(tsr_slice(&t_, t_, axis++, s.start, s.stop, s.step)); }
    template <class I> std::enable_if_t<std::is_integral_v<I>> step(int &axis, int, I index)
    {
        check(tsr_select(&t_, t_, axis, std::int64_t(index)));
    }

    tsr_tensor *t_ = nullptr;
};

static_assert(sizeof(tensor) == sizeof(void *), "a tensor is its handle");

namespace detail {
inline std::tuple<const tsr_tensor *> pass(const tensor &x) { return {x.get()}; }
}  // namespace detail

/* Calls ---------------------------------------------------------------------- */

/* fn(&result, args...): tensors, lists and number() as they are, the rest as the C function takes it. */
template <class F, class... A> tensor call(F fn, const A &...args)
{
    tensor r;
    std::apply([&](const auto &...a) { check(fn(r.result(), a...)); }, std::tuple_cat(detail::pass(args)...));
    return r;
}

namespace detail {

template <class F, class A, class B> tensor binary(F fn, const A &a, const B &b)
{
    if constexpr (is_tensor<A> && is_tensor<B>) return call(fn, a, b);
    else if constexpr (is_tensor<A>) return call(fn, a, number(b));
    else return call(fn, number(a), b);
}

}  // namespace detail

/* Operators of a tensor and a tensor or number. Comparisons are element by element. */
#define TSR_OPERATOR_(symbol, fn)                                                                  \
    template <class A, class B> detail::if_operands<A, B> operator symbol(const A &a, const B &b) \
    {                                                                                              \
        return detail::binary(fn, a, b);                                                           \
    }
TSR_OPERATOR_(+, tsr_add)
TSR_OPERATOR_(-, tsr_sub)
TSR_OPERATOR_(*, tsr_mul)
TSR_OPERATOR_(/, tsr_div)
TSR_OPERATOR_(%, tsr_remainder)
TSR_OPERATOR_(&, tsr_bitwise_and)
TSR_OPERATOR_(|, tsr_bitwise_or)
TSR_OPERATOR_(^, tsr_bitwise_xor)
TSR_OPERATOR_(==, tsr_eq)
TSR_OPERATOR_(!=, tsr_ne)
TSR_OPERATOR_(<, tsr_lt)
TSR_OPERATOR_(<=, tsr_le)
TSR_OPERATOR_(>, tsr_gt)
TSR_OPERATOR_(>=, tsr_ge)
#undef TSR_OPERATOR_
inline tensor operator-(const tensor &x) { return call(tsr_neg, x); }
inline tensor operator~(const tensor &x) { return call(tsr_bitwise_not, x); }

/* Functions that read better without call(). */
template <class A, class B> detail::if_operands<A, B> pow(const A &a, const B &b)
{
    return detail::binary(tsr_pow, a, b);
}
template <class A, class B> detail::if_operands<A, B> maximum(const A &a, const B &b)
{
    return detail::binary(tsr_maximum, a, b);
}
template <class A, class B> detail::if_operands<A, B> minimum(const A &a, const B &b)
{
    return detail::binary(tsr_minimum, a, b);
}
inline tensor matmul(const tensor &a, const tensor &b) { return call(tsr_matmul, a, b); }
inline tensor where(const tensor &c, const tensor &x, const tensor &y) { return call(tsr_where, c, x, y); }
inline tensor abs(const tensor &x) { return call(tsr_abs, x); }
inline tensor sqrt(const tensor &x) { return call(tsr_sqrt, x); }
inline tensor exp(const tensor &x) { return call(tsr_exp, x); }
inline tensor log(const tensor &x) { return call(tsr_log, x); }
inline tensor sin(const tensor &x) { return call(tsr_sin, x); }
inline tensor cos(const tensor &x) { return call(tsr_cos, x); }
inline tensor tanh(const tensor &x) { return call(tsr_tanh, x); }
inline tensor sigmoid(const tensor &x) { return call(tsr_sigmoid, x); }
inline tensor softmax(const tensor &x, int axis = -1) { return call(tsr_softmax, x, axis); }

/* Joining: concat({a, b}, 0), stack({a, b}, 0). */
namespace detail {
template <class F> tensor join(F fn, std::initializer_list<tensor> list, int axis)
{
    std::vector<const tsr_tensor *> handles;
    for (const tensor &t : list) handles.push_back(t.get());
    tensor r;
    check(fn(r.result(), static_cast<int>(handles.size()), handles.data(), axis));
    return r;
}
}  // namespace detail
using tensors = std::initializer_list<tensor>;
inline tensor concat(tensors list, int axis = 0) { return detail::join(tsr_concat, list, axis); }
inline tensor stack(tensors list, int axis = 0) { return detail::join(tsr_stack, list, axis); }

/* Are they equal; close (rtol 1e-5, atol 1e-8 unless opts say otherwise)? */
inline bool equal(const tensor &a, const tensor &b)
{
    bool same = false;
    check(tsr_equal(&same, a.get(), b.get()));
    return same;
}
inline bool allclose(const tensor &a, const tensor &b, const tsr_close_opts *opts = nullptr)
{
    bool close = false;
    check(tsr_allclose(&close, a.get(), b.get(), opts, nullptr));
    return close;
}

/* Making --------------------------------------------------------------------- */

template <class T> tensor empty(const shape &s) { return call(tsr_empty, dtype_of<T>, s); }
template <class T> tensor zeros(const shape &s) { return call(tsr_zeros, dtype_of<T>, s); }
template <class T> tensor ones(const shape &s) { return call(tsr_ones, dtype_of<T>, s); }
template <class T> tensor full(const shape &s, T value)
{
    return call(tsr_full, dtype_of<T>, s, TSR_SCALAR(value));
}
template <class T> tensor eye(std::int64_t n) { return call(tsr_eye, dtype_of<T>, n, n, 0); }
template <class T> tensor arange(T start, T stop, T step = 1)
{
    return call(tsr_arange, dtype_of<T>, TSR_SCALAR(start), TSR_SCALAR(stop), TSR_SCALAR(step));
}
template <class T> tensor arange(T stop) { return arange<T>(T(0), stop); }
template <class T> tensor linspace(T start, T stop, std::int64_t n)
{
    return call(tsr_linspace, dtype_of<T>, TSR_SCALAR(start), TSR_SCALAR(stop), n, true);
}
template <class T> tensor randn(const shape &s, std::uint64_t seed)
{
    return call(tsr_randn, dtype_of<T>, s, seed);
}
template <class T> tensor uniform(const shape &s, double low, double high, std::uint64_t seed)
{
    return call(tsr_uniform, dtype_of<T>, s, low, high, seed);
}

/* A copy of a list or vector, with one dim. (A list of bools: std::uint8_t and to<bool>().) */
template <class T> tensor from(std::initializer_list<T> list)
{
    return call(tsr_from_data, dtype_of<T>, shape{ static_cast<std::int64_t>(list.size()) },
                static_cast<const void *>(list.begin()));
}
template <class T> tensor from(const std::vector<T> &v)
{
    return call(tsr_from_data, dtype_of<T>, shape{ static_cast<std::int64_t>(v.size()) },
                static_cast<const void *>(v.data()));
}

/* Memory of the caller's, which must outlive the tensor and its views. */
template <class T> tensor wrap(T *data, const shape &s)
{
    tsr_desc d;
    tensor   r;
    check(tsr_desc_init(&d, dtype_of<T>, s.size(), s.data(), nullptr));
    if constexpr (std::is_const_v<T>) check(tsr_wrap_const(r.result(), data, &d));
    else check(tsr_wrap(r.result(), data, &d));
    return r;
}

/* Files: one tensor (name "" if there is one). */
inline tensor load(const char *path, const char *name = "") { return call(tsr_file_load, path, name); }
inline void   save(const char *path, const tensor &t) { check(tsr_file_save(path, t.get())); }

inline std::ostream &operator<<(std::ostream &out, const tensor &t) { return out << t.to_string(); }

}  // namespace tessera

#endif
