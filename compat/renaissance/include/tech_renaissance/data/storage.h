/* storage.h - bytes on a device, shared by the tensors that look at them. */
#pragma once

#include <cstddef>
#include <memory>

#include "tech_renaissance/data/device.h"

namespace tr {

/* Made without memory; a backend gives it some, kept by a holder. */
class TR_EXPORT Storage {
public:
    Storage(size_t size, const Device &device = tr::CPU);

    void *data_ptr() { return data_ptr_; }
    const void *data_ptr() const { return data_ptr_; }
    size_t size() const { return size_; }
    const Device &device() const { return device_; }
    bool is_empty() const { return data_ptr_ == nullptr || size_ == 0; }
    void set_data_ptr(void *ptr, std::shared_ptr<void> holder);

    size_t capacity_bytes() const { return size_; }
    size_t size_bytes() const { return size_; }
    void *raw_ptr() const { return data_ptr_; }
    std::shared_ptr<void> holder() const { return holder_; }

private:
    friend struct TensorAccess;

    void *data_ptr_;
    size_t size_;
    Device device_;
    std::shared_ptr<void> holder_;
    void *memory_; /* the library's storage behind the holder, if it made it */
};

} // namespace tr
