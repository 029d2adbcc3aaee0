/* tuning.h - what suits one family of processors: block sizes, prefetch distances, thresholds and numbers of
 * streams.
 *
 * fields.def lists the fields, each a number. Each family has one file here, and choose.c says which family a
 * machine is of. Kernels and those that call them read the fields once per call. Rows and groups of fields
 * that families share have their values in common.h; a family that has measured them for itself writes them
 * out in its own file.
 *
 * What belongs elsewhere:
 *   - what a kernel is compiled for (vectors, rows and columns of a micro-tile, unrolled loops, buffers on
 *     the stack) stays beside the kernel: it belongs to the instruction set;
 *   - what decides the order of sums (TSRI_GEMM_BLOCK, TSRI_CONV_BLOCK, leaves and strips of reductions,
 *     panels of factorisations, L2_BYTES of nn/rows_run.c, TSRI_FFT_LONG) or which library computes them
 *     (WORTH of gemm/blas.c) stays beside the sums, so that no family changes the bits of a result;
 *   - what an instruction set or the system fixes (cache lines, pages) is a constant.
 *
 * The environment may name a family, change single numbers, or both:
 *
 *     TSR_TUNING=default | intel_avx2 | intel_avx512 | intel_amx | amd_zen
 *     TSR_TUNING=stream_pages=4,products.chunk=1024
 *     TSR_TUNING=default,copy_ahead=4096
 *
 * Without a name, or with an unknown one, it is the machine's own family. Fields that do not exist and
 * numbers outside a field's limits are skipped. `tsr bench --tune` measures which numbers suit a machine.
 *
 * Results do not depend on it, except for the order in which sums are added
 * (docs/concepts/reproducibility.md). docs/howto/add-a-processor.md says how to add a family. */
#ifndef TSRI_CPU_TUNING_H
#define TSRI_CPU_TUNING_H

#include "cpu/isa.h"

#define MEMBER(name, least, most) int64_t name;

typedef struct tsri_tuning_products {
#define PRODUCTS MEMBER
#include "fields.def"
} tsri_tuning_products;

typedef struct tsri_tuning_conv {
#define CONV MEMBER
#include "fields.def"
} tsri_tuning_conv;

typedef struct tsri_tuning_indexing {
#define INDEXING MEMBER
#include "fields.def"
} tsri_tuning_indexing;

typedef struct tsri_tuning_copies {
#define COPIES MEMBER
#include "fields.def"
} tsri_tuning_copies;

typedef struct tsri_tuning_lanes {
#define OF_LANES MEMBER
#include "fields.def"
} tsri_tuning_lanes;

typedef struct tsri_tuning_system {
#define SYSTEM MEMBER
#include "fields.def"
} tsri_tuning_system;

typedef struct tsri_tuning {
    const char *name;
#define PLAIN(type, name, least, most) type name;
#include "fields.def"
    tsri_tuning_products products;
    tsri_tuning_conv     conv;
    tsri_tuning_indexing indexing;
    tsri_tuning_copies   copies;
    tsri_tuning_lanes    lanes;
    tsri_tuning_system   system;
} tsri_tuning;

#undef MEMBER

extern const tsri_tuning tsri_tuning_default, tsri_tuning_intel_avx2, tsri_tuning_intel_avx512,
    tsri_tuning_intel_amx, tsri_tuning_amd_zen;

/* The family of a processor; `wish` is the value of TSR_TUNING, or NULL. If the wish changes numbers, what is
 * returned lives until the next call. */
const tsri_tuning *tsri_tuning_find(tsri_machine machine, const char *wish);

/* All of it as such a wish, with the family's name: "amd_zen,thread_work=262144,...". */
enum { TSRI_TUNING_TEXT = 4096 };
void tsri_tuning_write(char text[TSRI_TUNING_TEXT], const tsri_tuning *t);

/* The one in use. For kernels, which run when it is chosen; others call tsri_tuning_get() (kernels.h). */
extern const tsri_tuning *tsri_tuning_used;

#endif
