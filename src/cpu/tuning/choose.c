/* choose.c - which family of processors a machine is of. */
#include "tuning.h"
#include "core/mem.h"

const tsri_tuning *tsri_tuning_used = &tsri_tuning_default;

#if defined(TSR_FREESTANDING)

const tsri_tuning *tsri_tuning_find(tsri_machine machine, const char *wish)
{
    (void)machine;
    (void)wish;
    return &tsri_tuning_default;
}

#else

static const tsri_tuning *find_named(const char *name)
{
    static const tsri_tuning *const all[] = { &tsri_tuning_default, &tsri_tuning_intel,
                                              &tsri_tuning_amd_zen };
    for (size_t i = 0; name && i < sizeof all / sizeof *all; i++)
        if (tsri_streq(name, all[i]->name)) return all[i];
    return NULL;
}

enum { FIRST_ZEN = 0x17 };  /* the family number of Zen and Zen 2; Zen 3 and 4 are 0x19, Zen 5 is 0x1a */

static const tsri_tuning *find_family(tsri_processor p)
{
    if (p.vendor == TSRI_VENDOR_INTEL) return &tsri_tuning_intel;
    if (p.vendor == TSRI_VENDOR_AMD && p.family >= FIRST_ZEN) return &tsri_tuning_amd_zen;
    return &tsri_tuning_default;
}

const tsri_tuning *tsri_tuning_find(tsri_machine machine, const char *wish)
{
    const tsri_tuning *named = find_named(wish);
    return named ? named : find_family(machine.processor);
}

#endif
