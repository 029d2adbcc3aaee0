/* device.h - where tensors live and ops run.
 *
 * A device is a small number. TSR_CPU is always there; backends add theirs: those
 * that the program registers (backend.h), and plugins, libtessera-NAME.so, found
 *
 *   in the folders of the environment variable TSR_BACKEND_PATH (/a:/b:/c; others than
 *   absolute paths are not followed),
 *   then in tessera/ beside the file that the library is in.
 *
 * A folder or file that anyone may write is refused. An elevated program (setuid, setgid, file
 * capabilities) looks for none: it names what it wants (tsr_backend_load).
 *
 * A plugin is loaded when its name is first asked for ("cuda:0"), and all of them
 * when devices are counted. Moving a tensor between devices makes a new tensor
 * (tsr_to in move.h); it never moves one under its other owners.
 */
#ifndef TESSERA_DEVICE_H
#define TESSERA_DEVICE_H

#include "status.h"

TSR_BEGIN_C

/* backend slot * 256 + index of the device in its backend */
typedef int32_t tsr_device;

enum { TSR_CPU = 0, TSR_NO_DEVICE = -1 };

/* "cpu", "cpu:0", "NAME" or "NAME:INDEX". TSR_EDEVICE names the devices there
 * are when it is none of them, and says why a plugin of that name did not load. */
TSR_API TSR_MUST_CHECK tsr_status tsr_device_parse(tsr_device *out, const char *name);

/* The same as a value. If there is no such device it is TSR_NO_DEVICE, for which calls fail with a
 * message.    tsr_to(&y, x, TSR_DEVICE("cuda:0"))  */
TSR_API tsr_device tsr_device_named(const char *name);
#define TSR_DEVICE(name) tsr_device_named(name)

/* Writes "cpu:0" into out, cut short to fit; returns the length it would have. */
TSR_API size_t tsr_device_name(char *out, size_t size, tsr_device device);

/* Is there such a device on this machine? */
TSR_API bool tsr_device_exists(tsr_device device);

/* All devices, the CPU first; plugins on the search path are loaded for this. Index 0 .. count - 1;
 * TSR_NO_DEVICE past the last. */
TSR_API int        tsr_device_count(void);
TSR_API tsr_device tsr_device_at(int index);

typedef struct tsr_device_info {
    char     name[64];           /* "NVIDIA H200" */
    char     capabilities[128];  /* words: "f64 f16 bf16 async graphs peer" */
    uint64_t memory_total, memory_free;  /* bytes; 0: not known */
    int32_t  units;              /* cores, multiprocessors; 0: not known */
} tsr_device_info;

/* What is known of a device. */
TSR_API TSR_MUST_CHECK tsr_status tsr_device_get_info(tsr_device_info *out, tsr_device device);

/* The device on which factories (tsr_zeros, tsr_uniform, ...) allocate, for the whole process; the CPU
 * unless set. Results of ops are allocated on the device of their operands. */
TSR_API TSR_MUST_CHECK tsr_status tsr_device_set_default(tsr_device device);
TSR_API tsr_device                tsr_device_default(void);

/* Plugins that did not load, and why: problem 0, 1, ...; NULL past the last. */
TSR_API const char *tsr_backend_problem(int index);

/* The layout in which a device allocates matrices (results with 2 dims): row-major, the default, or
 * column-major. Indices mean the same either way; only strides differ. TSR_EDEVICE. */
typedef enum tsr_layout { TSR_LAYOUT_ROW = 0, TSR_LAYOUT_COLUMN, TSR_LAYOUT_MAX_ = 0x7fffffff } tsr_layout;
TSR_API TSR_MUST_CHECK tsr_status tsr_device_set_layout(tsr_device device, tsr_layout layout);
TSR_API tsr_layout                tsr_device_layout(tsr_device device);

/* The instructions that the CPU's kernels use: "portable", "avx2" or "avx512". The best
 * that this machine and this build have, unless the environment variable TSR_ISA, read
 * at the first op, names a lower one. */
TSR_API const char *tsr_cpu_isa(void);

/* What suits this machine's processor, as text: a family and its numbers by name,
 * "default,thread_work=262144,...". The environment variable TSR_TUNING, read at the first op, names
 * another family or changes numbers in the same form: TSR_TUNING=copy_ahead=4096. `tsr bench --tune`
 * measures which numbers suit a machine. Names and numbers are those of this version of the library. */
TSR_API const char *tsr_cpu_tuning(void);

/* Ops that did not run where they were asked for ------------------------------------
 *
 * An op that a backend lacks is done with other ops there, if it can be; if not, the
 * environment variable TSR_FALLBACK says: error (the default), or compute it on the
 * CPU, with a line in the log (warn) or without (allow). */
typedef enum tsr_fallback {
    TSR_FALLBACK_ERROR = 0, TSR_FALLBACK_WARN, TSR_FALLBACK_ALLOW,
    TSR_FALLBACK_MAX_ = 0x7fffffff
} tsr_fallback;

TSR_API TSR_MUST_CHECK tsr_status tsr_set_fallback(tsr_fallback policy);
TSR_API tsr_fallback              tsr_get_fallback(void);

/* Libraries of others ----------------------------------------------------------------
 *
 * LAPACK, FFTW, zlib and, where one is named, a BLAS are opened when they are first needed. They end the
 * program where this library would return TSR_ENOMEM. Without them results come from kernels of our own.
 * They are used at first, unless the environment variable TSR_EXTERNAL is off. A build with
 * -DTSR_EXTERNAL=OFF never uses them, whatever is set. For the whole process, from the next call on. */
TSR_API void tsr_set_external(bool used);
TSR_API bool tsr_get_external(void);

TSR_END_C

#endif
