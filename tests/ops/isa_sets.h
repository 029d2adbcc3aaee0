/* isa_sets.h - the kernel sets of each level, as sets.def lists them, without those that need extras. */
#ifndef TESTS_ISA_SETS_H
#define TESTS_ISA_SETS_H

#include "cpu/image/image.h"
#include "cpu/kernels.h"

#define X(LEVEL, extras, name) void tsri_cpu_##name(tsri_cpu_kernels *k);
#include "cpu/sets.def"
#undef X

/* Overwrites what sets of one level have; false if this build has none, or this machine not the level. */
static inline bool isa_sets_fill(tsri_cpu_kernels *k, tsri_isa level)
{
    static const struct { tsri_isa level; unsigned extras; void (*fill)(tsri_cpu_kernels *k); } sets[] = {
#define X(LEVEL, extras, name) { TSRI_ISA_##LEVEL, extras, tsri_cpu_##name },
#include "cpu/sets.def"
#undef X
        { TSRI_ISA_COUNT, 0, NULL }
    };
    bool any = false;
    if (tsri_machine_find(NULL).isa < level) return false;
    if (!k->image) tsri_cpu_image_portable(k);  /* which sets extend */
    for (int i = 0; sets[i].fill; i++)
        if (sets[i].level == level && !sets[i].extras) {
            sets[i].fill(k);
            any = true;
        }
    return any;
}

#endif
