/* tiny_math_config.h - what TinyMath is built for. */
#ifndef TINY_MATH_CONFIG_H
#define TINY_MATH_CONFIG_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tiny_toolbox.h"
#include "tiny_error_type.h"
#include "tiny_constants.h"
#include "tiny_export.h"

#define MCU_PLATFORM_GENERIC 0
#define MCU_PLATFORM_ESP32   1
#define MCU_PLATFORM_STM32   2
#define MCU_PLATFORM_RISCV   3

#ifndef MCU_PLATFORM_SELECTED
#define MCU_PLATFORM_SELECTED MCU_PLATFORM_GENERIC
#endif

#endif
