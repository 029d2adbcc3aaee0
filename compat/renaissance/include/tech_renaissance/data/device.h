/* device.h - where tensors lie: tr::CPU, tr::CUDA[0] .. tr::CUDA[7]. */
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>

#include "tech_renaissance/tr_export.h"

namespace tr {

/* "CPU" has the index -1, "CUDA" 0 .. 7; anything else throws TRException. */
struct TR_EXPORT Device {
    std::string name;
    int index;

    Device(const std::string &device_name, int device_index = 0);

    std::string str() const; /* "CPU", "CUDA:0" */
    std::string to_string() const;
    bool operator==(const Device &other) const;
    bool operator!=(const Device &other) const;
    bool is_cpu() const;
    bool is_cuda() const;
};

inline const Device CPU{"CPU", -1};
inline std::array<Device, 8> CUDA = {Device{"CUDA", 0}, Device{"CUDA", 1}, Device{"CUDA", 2},
                                     Device{"CUDA", 3}, Device{"CUDA", 4}, Device{"CUDA", 5},
                                     Device{"CUDA", 6}, Device{"CUDA", 7}};

struct DeviceHash {
    std::size_t operator()(const Device &device) const noexcept
    {
        return std::hash<std::string>{}(device.name) ^ std::hash<int>{}(device.index);
    }
};

} // namespace tr

template <> struct std::hash<tr::Device> {
    std::size_t operator()(const tr::Device &device) const noexcept { return tr::DeviceHash{}(device); }
};
