/* backend_manager.h - the backends there are, by device. Any thread may ask.
 *
 * The CPU's is always there. Those of tr::CUDA[i] are there where the library finds CUDA devices;
 * where it finds none, its simulated devices stand in, unless the environment variable
 * TR_SIMULATE_CUDA is 0.
 */
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "tech_renaissance/data/device.h"

namespace tr {

class Backend;
class CpuBackend;
class CudaBackend;

class TR_EXPORT BackendManager {
public:
    static BackendManager &instance();

    /* TRException if there is none for the device. */
    std::shared_ptr<Backend> get_backend(const Device &device);
    static std::shared_ptr<Backend> get_backend_static(const Device &device);
    static std::shared_ptr<CpuBackend> get_cpu_backend();
    static std::shared_ptr<CudaBackend> get_cuda_backend(int device_id = 0);

    /* Takes the place of the one that was there. */
    void register_backend(const Device &device, std::shared_ptr<Backend> backend);
    bool is_registered(const Device &device) const;

    BackendManager(const BackendManager &) = delete;
    BackendManager &operator=(const BackendManager &) = delete;

private:
    BackendManager();
    ~BackendManager();

    std::unordered_map<std::string, std::shared_ptr<Backend>> backends_;
    mutable std::mutex mutex_;
};

} // namespace tr
