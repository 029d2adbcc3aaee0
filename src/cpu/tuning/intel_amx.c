/* intel_amx.c - Xeons with AMX, from Sapphire Rapids on. Measured on one of Sapphire Rapids: its memory wants
 * what that of its predecessors does (intel_avx512.c). */
#include "tuning.h"
#include "common.h"

#ifndef TSR_FREESTANDING

const tsri_tuning tsri_tuning_intel_amx = {
    .name = "intel_amx",
    TSRI_COMMON_XEON,
    TSRI_COMMON_STREAMS,
    .products = TSRI_COMMON_PRODUCTS,
    TSRI_COMMON_ROWS
};

#endif
