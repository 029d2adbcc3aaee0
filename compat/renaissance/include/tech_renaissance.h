/* tech_renaissance.h - the face of Tech Renaissance: all of its tensor headers, in one.
 *
 * Tensors of up to four dims (N, C, H, W) of FP32, INT8 or INT32, made and computed with by
 * backends: CpuBackend keeps everything row-major, CudaBackend keeps matrices column-major.
 * What cannot be done throws tr::TRException.
 */
#pragma once

/* Programs count on these coming along. */
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tech_renaissance/tr_config.h"
#include "tech_renaissance/data/dtype.h"
#include "tech_renaissance/data/device.h"
#include "tech_renaissance/data/shape.h"
#include "tech_renaissance/data/strides.h"
#include "tech_renaissance/data/offset.h"
#include "tech_renaissance/data/tensor.h"
#include "tech_renaissance/data/storage.h"
#include "tech_renaissance/backend/backend.h"
#include "tech_renaissance/backend/backend_manager.h"
#include "tech_renaissance/backend/cpu/cpu_backend.h"
#include "tech_renaissance/backend/cuda/cuda_backend.h"
#include "tech_renaissance/utils/logger.h"
#include "tech_renaissance/utils/tr_exception.h"
#include "tech_renaissance/utils/profiler.h"

/* What stands on tensors is the system's own, where its headers are on the path of this compilation. */
#if __has_include("tech_renaissance/model/model.h")
#include "tech_renaissance/task/dataset.h"
#include "tech_renaissance/task/mnist_dataset.h"
#include "tech_renaissance/model/module.h"
#include "tech_renaissance/model/linear.h"
#include "tech_renaissance/model/flatten.h"
#include "tech_renaissance/model/tanh.h"
#include "tech_renaissance/model/relu.h"
#include "tech_renaissance/model/dropout.h"
#include "tech_renaissance/model/model.h"
#include "tech_renaissance/trainer/trainer.h"
#include "tech_renaissance/trainer/loss.h"
#include "tech_renaissance/trainer/cross_entropy_loss.h"
#include "tech_renaissance/trainer/optimizer.h"
#include "tech_renaissance/trainer/sgd.h"
#include "tech_renaissance/trainer/adam.h"
#include "tech_renaissance/trainer/adamw.h"
#include "tech_renaissance/trainer/state_manager.h"
#include "tech_renaissance/trainer/scheduler.h"
#include "tech_renaissance/trainer/step_lr.h"
#include "tech_renaissance/trainer/multi_step_lr.h"
#include "tech_renaissance/trainer/exponential_lr.h"
#include "tech_renaissance/trainer/cosine_annealing_lr.h"
#include "tech_renaissance/trainer/cosine_annealing_warm_restarts.h"
#include "tech_renaissance/trainer/constant_lr.h"
#include "tech_renaissance/task/task.h"
#include "tech_renaissance/utils/mnist_loader.h"
#endif

/* Where programs keep their files; their build says where. */
#ifndef WORKSPACE_PATH
#define WORKSPACE_PATH "workspace"
#endif

namespace tr {

TR_EXPORT Tensor full(const Shape &shape, float value, DType dtype = DType::FP32, const Device &device = CPU);
TR_EXPORT Tensor empty(const Shape &shape, DType dtype = DType::FP32, const Device &device = CPU);

namespace utils {

inline size_t dtype_size(DType dtype) { return ::tr::dtype_size(dtype); }
inline std::string dtype_to_string(DType dtype) { return ::tr::dtype_to_string(dtype); }
inline DType string_to_dtype(const std::string &str) { return ::tr::string_to_dtype(str); }

} // namespace utils

} // namespace tr
