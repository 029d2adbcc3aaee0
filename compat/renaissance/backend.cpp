/* backend.cpp - a backend that can do nothing, and the manager of those that can. */
#include "bridge.hpp"

namespace tr {

Backend::Backend(bool allow_construction)
{
    if (!allow_construction)
        throw TRException("Backend class cannot be instantiated directly! "
                          "Use specific backend implementations instead.");
}

Backend::~Backend() = default;

std::string Backend::name() const { return "Backend"; }
Device Backend::device() const { return tr::CPU; }

void Backend::refuse(const char *method) const
{
    throw NotImplementedError("[" + name() + " " + method + "] Operation NOT implemented!");
}

std::shared_ptr<void> Backend::allocate(size_t) { refuse("allocate"); }
void Backend::deallocate(void *) { refuse("deallocate"); }
void *Backend::get_data_ptr(const std::shared_ptr<void> &) { refuse("get_data_ptr"); }
void Backend::copy_data(void *, const void *, size_t, const Device &,
                        const Device &) const { refuse("copy_data"); }
int64_t Backend::get_memory_size(const Tensor &) { refuse("get_memory_size"); }
Tensor Backend::empty(const Shape &, DType) { refuse("empty"); }
Tensor Backend::empty(const Shape &, DType) const { refuse("empty"); }
Tensor Backend::zeros(const Shape &, DType) { refuse("zeros"); }
Tensor Backend::ones(const Shape &, DType) { refuse("ones"); }
Tensor Backend::zeros_like(const Tensor &) const { refuse("zeros_like"); }
Tensor Backend::randn(const Shape &, unsigned int) { refuse("randn"); }
Tensor Backend::uniform(const Shape &, float, float, unsigned int) { refuse("uniform"); }
Tensor Backend::randbool(const Shape &, float, unsigned int, DType) { refuse("randbool"); }
void Backend::randbool_inplace(Tensor &, float, unsigned int) { refuse("randbool_inplace"); }
void Backend::fill(Tensor &, float) { refuse("fill"); }
void Backend::fill(Tensor &, int8_t) { refuse("fill"); }
void Backend::fill(Tensor &, int32_t) { refuse("fill"); }
void Backend::fill_fp32(Tensor &, float) { refuse("fill_fp32"); }
void Backend::fill_int8(Tensor &, int8_t) { refuse("fill_int8"); }
void Backend::fill_int32(Tensor &, int32_t) { refuse("fill_int32"); }
Tensor Backend::to(const Tensor &, const Device &) const { refuse("to"); }
Tensor Backend::to_cpu(const Tensor &) const { refuse("to_cpu"); }
Tensor Backend::from_cpu(const Tensor &) const { refuse("from_cpu"); }
Tensor Backend::copy(const Tensor &) const { refuse("copy"); }
void Backend::copy_into(const Tensor &, Tensor &) const { refuse("copy_into"); }
float Backend::get_scalar_float(const Tensor &) { refuse("get_scalar_float"); }
int32_t Backend::get_scalar_int32(const Tensor &) { refuse("get_scalar_int32"); }
int8_t Backend::get_scalar_int8(const Tensor &) { refuse("get_scalar_int8"); }
Tensor Backend::add(const Tensor &, const Tensor &) const { refuse("add"); }
void Backend::add(Tensor &, const Tensor &, const Tensor &) { refuse("add"); }
void Backend::add_into(const Tensor &, const Tensor &, Tensor &) const { refuse("add_into"); }
void Backend::minus_into(const Tensor &, const Tensor &, Tensor &) const { refuse("minus_into"); }
Tensor Backend::mul(const Tensor &, const Tensor &) const { refuse("mul"); }
void Backend::mul(Tensor &, const Tensor &, const Tensor &) { refuse("mul"); }
void Backend::mul_into(const Tensor &, const Tensor &, Tensor &) const { refuse("mul_into"); }
void Backend::div_into(const Tensor &, const Tensor &, Tensor &) const { refuse("div_into"); }
Tensor Backend::add(const Tensor &, float) const { refuse("add"); }
void Backend::add_inplace(Tensor &, float) const { refuse("add_inplace"); }
void Backend::add_into(const Tensor &, float, Tensor &) const { refuse("add_into"); }
Tensor Backend::mul(const Tensor &, float) const { refuse("mul"); }
void Backend::mul_inplace(Tensor &, float) const { refuse("mul_inplace"); }
void Backend::mul_into(const Tensor &, float, Tensor &) const { refuse("mul_into"); }
Tensor Backend::minus(const Tensor &, float) const { refuse("minus"); }
void Backend::minus_inplace(Tensor &, float) const { refuse("minus_inplace"); }
void Backend::minus_into(const Tensor &, float, Tensor &) const { refuse("minus_into"); }
Tensor Backend::minus(float, const Tensor &) const { refuse("minus"); }
void Backend::minus_inplace(float, Tensor &) const { refuse("minus_inplace"); }
void Backend::minus_into(float, const Tensor &, Tensor &) const { refuse("minus_into"); }
Tensor Backend::mac(const Tensor &, float, float) const { refuse("mac"); }
void Backend::mac_inplace(Tensor &, float, float) const { refuse("mac_inplace"); }
void Backend::mac_into(const Tensor &, float, float, Tensor &) const { refuse("mac_into"); }
Tensor Backend::clamp(const Tensor &, float, float) const { refuse("clamp"); }
void Backend::clamp_inplace(Tensor &, float, float) const { refuse("clamp_inplace"); }
void Backend::clamp_into(const Tensor &, float, float, Tensor &) const { refuse("clamp_into"); }
Tensor Backend::add_broadcast(const Tensor &, const Tensor &) const { refuse("add_broadcast"); }
void Backend::add_broadcast_into(const Tensor &, const Tensor &,
                                 Tensor &) const { refuse("add_broadcast_into"); }
Tensor Backend::minus_broadcast(const Tensor &, const Tensor &) const { refuse("minus_broadcast"); }
void Backend::minus_broadcast_into(const Tensor &, const Tensor &,
                                   Tensor &) const { refuse("minus_broadcast_into"); }
Tensor Backend::mul_broadcast(const Tensor &, const Tensor &) const { refuse("mul_broadcast"); }
void Backend::mul_broadcast_into(const Tensor &, const Tensor &,
                                 Tensor &) const { refuse("mul_broadcast_into"); }
Tensor Backend::relu(const Tensor &) { refuse("relu"); }
void Backend::relu_inplace(Tensor &) { refuse("relu_inplace"); }
void Backend::relu_into(const Tensor &, Tensor &) { refuse("relu_into"); }
Tensor Backend::drelu(const Tensor &) { refuse("drelu"); }
void Backend::drelu_inplace(Tensor &) { refuse("drelu_inplace"); }
void Backend::drelu_into(const Tensor &, Tensor &) { refuse("drelu_into"); }
Tensor Backend::tanh(const Tensor &) { refuse("tanh"); }
void Backend::tanh_inplace(Tensor &) { refuse("tanh_inplace"); }
void Backend::tanh_into(const Tensor &, Tensor &) { refuse("tanh_into"); }
Tensor Backend::dtanh(const Tensor &) { refuse("dtanh"); }
void Backend::dtanh_inplace(Tensor &) { refuse("dtanh_inplace"); }
void Backend::dtanh_into(const Tensor &, Tensor &) { refuse("dtanh_into"); }
Tensor Backend::sqrt(const Tensor &) { refuse("sqrt"); }
void Backend::sqrt_inplace(Tensor &) { refuse("sqrt_inplace"); }
void Backend::sqrt_into(const Tensor &, Tensor &) { refuse("sqrt_into"); }
Tensor Backend::square(const Tensor &) { refuse("square"); }
void Backend::square_inplace(Tensor &) { refuse("square_inplace"); }
void Backend::square_into(const Tensor &, Tensor &) { refuse("square_into"); }
Tensor Backend::mm(const Tensor &, const Tensor &) { refuse("mm"); }
void Backend::mm(Tensor &, const Tensor &, const Tensor &) { refuse("mm"); }
void Backend::mm_into(const Tensor &, const Tensor &, Tensor &) { refuse("mm_into"); }
void Backend::mm_into_transposed(const Tensor &, const Tensor &, Tensor &, bool,
                                 bool) { refuse("mm_into_transposed"); }
Tensor Backend::transpose(const Tensor &) const { refuse("transpose"); }
void Backend::transpose_into(const Tensor &, Tensor &) const { refuse("transpose_into"); }
Tensor Backend::view(const Tensor &, const Shape &) { refuse("view"); }
Tensor Backend::reshape(const Tensor &, const Shape &) { refuse("reshape"); }
void Backend::reshape_inplace(Tensor &, const Shape &) { refuse("reshape_inplace"); }
void Backend::reshape_into(const Tensor &, Tensor &, const Shape &) { refuse("reshape_into"); }
void Backend::sum_into(const Tensor &, Tensor &, int32_t, bool) const { refuse("sum_into"); }
Tensor Backend::softmax(const Tensor &, int) { refuse("softmax"); }
void Backend::softmax_into(const Tensor &, Tensor &, int) { refuse("softmax_into"); }
float Backend::crossentropy(const Tensor &, const Tensor &, std::string) { refuse("crossentropy"); }
Tensor Backend::one_hot(const Tensor &, int32_t, float) { refuse("one_hot"); }
void Backend::one_hot_into(const Tensor &, Tensor &, int32_t, float) { refuse("one_hot_into"); }
void Backend::dropout_into(const Tensor &, Tensor &, Tensor &, float) { refuse("dropout_into"); }
void Backend::ddropout_into(const Tensor &, const Tensor &, Tensor &, float) { refuse("ddropout_into"); }

/* The manager -------------------------------------------------------------------------------- */

BackendManager &BackendManager::instance()
{
    static BackendManager instance;
    return instance;
}

BackendManager::BackendManager()
{
    Logger &log = Logger::get_instance();
    log.info("Initializing backend manager...");
    register_backend(tr::CPU, std::make_shared<CpuBackend>());
    log.info("CPU backend registered successfully");
    for (int i = 0; i < 8; ++i) {
        tsr_device device;
        if (!face::find_cuda(&device, i)) break;
        register_backend(tr::CUDA[static_cast<size_t>(i)], std::make_shared<CudaBackend>(i));
        log.info("CUDA backend registered for device ", i, face::is_simulated(device) ? " (simulated)" : "");
    }
    log.info("Backend manager initialization completed");
}

BackendManager::~BackendManager() = default;

std::shared_ptr<Backend> BackendManager::get_backend(const Device &device)
{
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = backends_.find(device.to_string());
    if (found == backends_.end()) throw TRException("Backend not found for device: " + device.to_string());
    return found->second;
}

std::shared_ptr<Backend> BackendManager::get_backend_static(const Device &device)
{
    return instance().get_backend(device);
}

std::shared_ptr<CpuBackend> BackendManager::get_cpu_backend()
{
    return std::dynamic_pointer_cast<CpuBackend>(instance().get_backend(tr::CPU));
}

std::shared_ptr<CudaBackend> BackendManager::get_cuda_backend(int device_id)
{
    return std::dynamic_pointer_cast<CudaBackend>(instance().get_backend(Device("CUDA", device_id)));
}

void BackendManager::register_backend(const Device &device, std::shared_ptr<Backend> backend)
{
    if (!backend) throw TRException("Backend for device " + device.to_string() + " is null");
    const std::lock_guard<std::mutex> lock(mutex_);
    backends_[device.to_string()] = std::move(backend);
}

bool BackendManager::is_registered(const Device &device) const
{
    const std::lock_guard<std::mutex> lock(mutex_);
    return backends_.count(device.to_string()) > 0;
}

} // namespace tr
