/* launch.cpp - kernels are queued through the driver's interface if it is found: the runtime looks up each
 * kernel by its address at every launch, which takes long beside the rest of a small op. */
#include <new>

#include "cuda.h"

namespace tsrc {

/* cuLaunchKernel, whose types are the runtime's by other names. */
typedef int (*driver_launch)(cudaFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             unsigned, cudaStream_t, void **, void **);

static driver_launch find_launch()
{
    void *entry = nullptr;
#if CUDART_VERSION >= 12050
    const Beside beside;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t e =
        cudaGetDriverEntryPointByVersion("cuLaunchKernel", &entry, 12000, cudaEnableDefault, &found);
    if (e != cudaSuccess || found != cudaDriverEntryPointSuccess) entry = nullptr;
    (void)cudaGetLastError();
#endif
    return reinterpret_cast<driver_launch>(entry);
}

/* The driver's handles of a device's kernels, by the address of the kernel. An entry is written once: one
 * thread sets the address, and then the handle that it found. */
enum { FUNCTIONS = 8192, PROBES = 16 };
struct Function {
    std::atomic<const void *> kernel{ nullptr };
    std::atomic<cudaFunction_t> function{ nullptr };
};
static std::atomic<Function *> functions[MOST_DEVICES];

static Function *functions_of(int device)
{
    Function *list = functions[device].load(std::memory_order_acquire);
    if (list) return list;
    Function *own = new (std::nothrow) Function[FUNCTIONS];
    if (!own || functions[device].compare_exchange_strong(list, own, std::memory_order_acq_rel)) return own;
    delete[] own;
    return list;
}

static cudaFunction_t look_up(const void *kernel)
{
    const Beside beside;
    cudaFunction_t found = nullptr;
    if (cudaGetFuncBySymbol(&found, kernel) != cudaSuccess) found = nullptr;
    (void)cudaGetLastError();
    return found;
}

/* NULL: the runtime is to launch it. */
static cudaFunction_t function_of(int device, const void *kernel)
{
    Function *list = functions_of(device);
    const uintptr_t begin = reinterpret_cast<uintptr_t>(kernel) / 16 * UINT64_C(0x9e3779b97f4a7c15) >> 51;
    if (!list) return nullptr;
    for (uintptr_t i = begin; i < begin + PROBES; i++) {
        Function &f = list[i % FUNCTIONS];
        const void *there = f.kernel.load(std::memory_order_acquire);
        if (there == kernel) return f.function.load(std::memory_order_acquire);
        if (there || !f.kernel.compare_exchange_strong(there, kernel, std::memory_order_acq_rel)) {
            if (there == kernel) return f.function.load(std::memory_order_acquire);
            continue;
        }
        f.function.store(look_up(kernel), std::memory_order_release);
        return f.function.load(std::memory_order_relaxed);
    }
    return nullptr;
}

/* If the driver refuses, as in a thread without a context or after an error, the runtime queues it. */
cudaError_t queue_kernel(int device, const void *kernel, dim3 blocks, dim3 threads, size_t shared,
                         cudaStream_t stream, void **args)
{
    static const driver_launch launch = find_launch();
    const cudaFunction_t f = launch ? function_of(device, kernel) : nullptr;
    if (f && launch(f, blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z,
                    static_cast<unsigned>(shared), stream, args, nullptr) == 0)
        return cudaSuccess;
    return cudaLaunchKernel(kernel, blocks, threads, args, shared, stream);
}

} // namespace tsrc
