/* device.h - where tensors live and ops run.
 *
 * A device is a small number. TSR_CPU is always there; backends that the program
 * registers (backend.h) add theirs. Moving a tensor between devices makes a new
 * tensor; it never moves one under its other owners.
 */
#ifndef TESSERA_DEVICE_H
#define TESSERA_DEVICE_H

#include "status.h"

TSR_BEGIN_C

/* backend slot * 256 + index of the device in its backend */
typedef int32_t tsr_device;

enum { TSR_CPU = 0 };

/* "cpu", "cpu:0", "NAME" or "NAME:INDEX". TSR_EDEVICE names the devices there
 * are when it is none of them. */
TSR_API TSR_MUST_CHECK tsr_status tsr_device_parse(tsr_device *out, const char *name);

/* Writes "cpu:0" into out, cut short to fit; returns the length it would have. */
TSR_API size_t tsr_device_name(char *out, size_t size, tsr_device device);

TSR_API bool tsr_device_exists(tsr_device device);

/* The instructions that the CPU's kernels use: "portable", "avx2" or "avx512". The best
 * that this machine and this build have, unless the environment variable TSR_ISA, read
 * at the first op, names a lower one. */
TSR_API const char *tsr_cpu_isa(void);

TSR_END_C

#endif
