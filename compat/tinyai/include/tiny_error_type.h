/* tiny_error_type.h - how a call of TinyMath, TinyDSP or TinyAI ends: 0 is success. */
#ifndef TINY_ERROR_TYPE_H
#define TINY_ERROR_TYPE_H

typedef int tiny_error_t;

#define TINY_OK                   0
#define TINY_FAIL                 (-1)

#define TINY_ERR_NO_MEM           0x101
#define TINY_ERR_INVALID_ARG      0x102
#define TINY_ERR_INVALID_STATE    0x103
#define TINY_ERR_INVALID_SIZE     0x104
#define TINY_ERR_NOT_FOUND        0x105
#define TINY_ERR_NOT_SUPPORTED    0x106
#define TINY_ERR_TIMEOUT          0x107
#define TINY_ERR_INVALID_RESPONSE 0x108
#define TINY_ERR_INVALID_CRC      0x109
#define TINY_ERR_INVALID_VERSION  0x10A
#define TINY_ERR_INVALID_MAC      0x10B
#define TINY_ERR_NOT_FINISHED     0x10C
#define TINY_ERR_NOT_ALLOWED      0x10D

/* Where the numbers of other parts start. */
#define TINY_ERR_WIFI_BASE        0x3000
#define TINY_ERR_MESH_BASE        0x4000
#define TINY_ERR_FLASH_BASE       0x6000
#define TINY_ERR_HW_CRYPTO_BASE   0xc000
#define TINY_ERR_MEMPROT_BASE     0xd000

#define TINY_ERR_MATH_BASE              0x70000
#define TINY_ERR_MATH_INVALID_LENGTH    (TINY_ERR_MATH_BASE + 1)
#define TINY_ERR_MATH_INVALID_PARAM     (TINY_ERR_MATH_BASE + 2)
#define TINY_ERR_MATH_PARAM_OUTOFRANGE  (TINY_ERR_MATH_BASE + 3)
#define TINY_ERR_MATH_UNINITIALIZED     (TINY_ERR_MATH_BASE + 4)
#define TINY_ERR_MATH_REINITIALIZED     (TINY_ERR_MATH_BASE + 5)
#define TINY_ERR_MATH_ARRAY_NOT_ALIGNED (TINY_ERR_MATH_BASE + 6)
#define TINY_ERR_MATH_NULL_POINTER      (TINY_ERR_MATH_BASE + 7)
#define TINY_ERR_MATH_ZERO_DIVISION     (TINY_ERR_MATH_BASE + 8)
#define TINY_ERR_MATH_NEGATIVE_SQRT     (TINY_ERR_MATH_BASE + 9)

#endif
