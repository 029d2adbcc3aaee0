/* config.h - what this build of the library may rely on.
 *
 * A hosted build needs nothing set. A microcontroller build defines
 * TSR_FREESTANDING, which switches off everything that needs an operating
 * system; each part can also be switched off alone:
 *
 *   TSR_NO_MALLOC    no default allocator: place tensors in your own memory, or
 *                    give the library an allocator (memory.h)
 *   TSR_NO_STDIO     tsr_print() needs a sink of yours (print.h)
 *   TSR_NO_THREADS   one thread; counts are plain integers; no pool
 *   TSR_NO_FILES     no file mappings
 *
 *   TSR_MAX_NDIM     the highest rank, 16 unless lowered. It sets the size of
 *                    tsr_desc and tsr_tensor, so a program and the library it
 *                    links must agree on it (tsr_build_max_ndim() tells).
 *
 * The library uses no locale and no floating-point environment anywhere.
 */
#ifndef TESSERA_CONFIG_H
#define TESSERA_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TSR_VERSION_MAJOR 0
#define TSR_VERSION_MINOR 2
#define TSR_VERSION_PATCH 0

#ifdef TSR_FREESTANDING
#ifndef TSR_NO_MALLOC
#define TSR_NO_MALLOC
#endif
#ifndef TSR_NO_STDIO
#define TSR_NO_STDIO
#endif
#ifndef TSR_NO_THREADS
#define TSR_NO_THREADS
#endif
#ifndef TSR_NO_FILES
#define TSR_NO_FILES
#endif
#endif

#ifndef TSR_MAX_NDIM
#define TSR_MAX_NDIM 16
#endif

#if defined(_WIN32) && defined(TSR_SHARED)
#ifdef TSR_BUILDING
#define TSR_API __declspec(dllexport)
#else
#define TSR_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define TSR_API __attribute__((visibility("default")))
#else
#define TSR_API
#endif

/* An ignored status is a compiler warning. */
#if defined(__GNUC__)
#define TSR_MUST_CHECK __attribute__((warn_unused_result))
#else
#define TSR_MUST_CHECK
#endif

/* Lets a C11 anonymous struct pass a pedantic C++ compiler. */
#if defined(__GNUC__)
#define TSR_EXTENSION __extension__
#else
#define TSR_EXTENSION
#endif

#ifdef __cplusplus
#define TSR_BEGIN_C extern "C" {
#define TSR_END_C }
#else
#define TSR_BEGIN_C
#define TSR_END_C
#endif

TSR_BEGIN_C

/* "0.2.0", of the library that was linked. */
TSR_API const char *tsr_version(void);

/* TSR_MAX_NDIM of the library that was linked. */
TSR_API int tsr_build_max_ndim(void);

TSR_END_C

#endif
