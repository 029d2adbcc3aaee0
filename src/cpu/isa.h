/* isa.h - what instructions this machine has, and which of them are used.
 *
 * A level is a set of instructions that whole files of kernels are compiled for.
 * Extras are single extensions above a level that some kernels use. The environment
 * variable TSR_ISA lowers the choice, for tests and comparisons:
 *
 *     TSR_ISA=portable | avx2 | avx512      that level at most, without extras
 */
#ifndef TSRI_ISA_H
#define TSRI_ISA_H

#include <stdbool.h>
#include <stdint.h>

typedef enum tsri_isa {
#define X(ID, name) TSRI_ISA_##ID,
#include "levels.def"
#undef X
    TSRI_ISA_COUNT
} tsri_isa;

enum {
    TSRI_EXTRA_VNNI = 1 << 0,  /* AVX512-VNNI */
    TSRI_EXTRA_BF16 = 1 << 1,  /* AVX512-BF16 */
    TSRI_EXTRA_AMX  = 1 << 2   /* AMX tiles with int8 and bf16, allowed by the system */
};

typedef enum tsri_vendor { TSRI_VENDOR_OTHER, TSRI_VENDOR_INTEL, TSRI_VENDOR_AMD } tsri_vendor;

/* Which processor it is, whatever the level that is used. */
typedef struct tsri_processor {
    tsri_vendor vendor;   /* AMD: Hygon, too, whose processors are of the same make */
    uint32_t    family;
    bool        has_avx512, has_amx;  /* allowed by the system or not */
} tsri_processor;

typedef struct tsri_machine {
    tsri_isa isa;
    uint32_t extras;
    tsri_processor processor;
} tsri_machine;

/* What is used: what the machine has, lowered by `wish` (the value of TSR_ISA; NULL
 * or an unknown word: not lowered). */
tsri_machine tsri_machine_find(const char *wish);

/* "portable", "avx2", "avx512". */
const char *tsri_isa_name(tsri_isa isa);

#endif
