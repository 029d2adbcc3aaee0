/* tr_config.h - numbers that programs ask for when they are compiled. */
#pragma once

#ifndef TR_VERSION
#define TR_VERSION_MAJOR 1
#define TR_VERSION_MINOR 0
#define TR_VERSION_PATCH 0
#define TR_VERSION "1.0.0"
#endif

#define TR_USE_BUILTIN_LOGGER
#define TR_MEMORY_ALIGNMENT 64
#define TR_MAX_TENSOR_DIMS 4
#define TR_DEFAULT_BATCH_SIZE 32
#define TR_MAX_CHANNELS 2048
#define TR_SUPPORTED_KERNEL_SIZES {1, 3, 5, 7}
