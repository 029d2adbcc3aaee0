/* isa.c - asks the processor, and through it the system, what may be executed. */
#include "isa.h"
#include "core/mem.h"

static const char *const names[] = {
#define X(ID, name) #name,
#include "levels.def"
#undef X
};

const char *tsri_isa_name(tsri_isa isa) { return names[isa]; }

#if !defined(TSR_FREESTANDING) && defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

/* Linux gives a process the large state of tiles only when it asks. */
static bool may_use_tiles(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 };
    extern long syscall(long number, ...);
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
}
#else
static bool may_use_tiles(void) { return false; }
#endif

enum { YMM_STATE = 0x6, ZMM_STATE = 0xe6, TILE_STATE = 0x60000 };
enum { AMX_TILES = 1 << 24 | 1 << 25 | 1 << 22 };  /* of leaf 7: tiles, int8 and bf16 */

/* The words of cpuid that are asked for, by leaf, and the registers whose contents the system saves: others
 * must not be touched. */
typedef struct features { uint32_t id, c1, b7, c7, d7, a71; uint64_t saved; } features;

static uint64_t saved_state(void)
{
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static features read_features(void)
{
    features f = { 0 };
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &f.id, &b, &f.c1, &d)) return f;
    if (f.c1 & bit_OSXSAVE) f.saved = saved_state();
    if (!__get_cpuid_count(7, 0, &a, &f.b7, &f.c7, &f.d7)) return f;
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d)) f.a71 = a;
    return f;
}

static bool all(uint64_t word, uint64_t bits) { return (word & bits) == bits; }

static bool has_portable(const features *f) { return f != NULL; }

static bool has_avx2(const features *f)
{
    return all(f->c1, bit_FMA | bit_F16C | bit_AVX) && all(f->b7, bit_AVX2 | bit_BMI2) &&
           all(f->saved, YMM_STATE);
}

static bool has_avx512(const features *f)
{
    return all(f->b7, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL | bit_AVX512CD) &&
           all(f->saved, ZMM_STATE);
}

static uint32_t find_extras(const features *f)
{
    const bool tiles = all(f->d7, AMX_TILES) && all(f->saved, TILE_STATE);
    return (f->c7 & 1u << 11 ? TSRI_EXTRA_VNNI : 0u) | (f->a71 & 1u << 5 ? TSRI_EXTRA_BF16 : 0u) |
           (tiles && may_use_tiles() ? TSRI_EXTRA_AMX : 0u);
}

/* `id` is of leaf 1: families above 15 are in two parts. */
static tsri_processor find_processor(const features *f)
{
    enum { HYGON_EBX = 0x6f677948 };  /* of HygonGenuine */
    tsri_processor p = { .family = f->id >> 8 & 15, .has_avx512 = all(f->b7, bit_AVX512F),
                         .has_amx = all(f->d7, AMX_TILES) };
    uint32_t a, b, c, d;
    if (p.family == 15) p.family += f->id >> 20 & 0xff;
    if (!__get_cpuid(0, &a, &b, &c, &d)) return p;
    if (b == signature_INTEL_ebx) p.vendor = TSRI_VENDOR_INTEL;
    if (b == signature_AMD_ebx || b == HYGON_EBX) p.vendor = TSRI_VENDOR_AMD;
    return p;
}

static tsri_machine ask(void)
{
    static bool (*const has[])(const features *) = {
#define X(ID, name) has_##name,
#include "levels.def"
#undef X
    };
    const features f = read_features();
    int level = TSRI_ISA_PORTABLE;
    while (level + 1 < TSRI_ISA_COUNT && has[level + 1](&f)) level++;
    const uint32_t extras = level >= TSRI_ISA_AVX512 ? find_extras(&f) : 0;
    return (tsri_machine){ (tsri_isa)level, extras, find_processor(&f) };
}

#else
static tsri_machine ask(void) { return (tsri_machine){ .isa = TSRI_ISA_PORTABLE }; }
#endif

tsri_machine tsri_machine_find(const char *wish)
{
    tsri_machine m = ask();
    for (int i = 0; wish && i < TSRI_ISA_COUNT; i++)
        if (tsri_streq(wish, names[i])) {
            if (m.isa > (tsri_isa)i) m.isa = (tsri_isa)i;
            m.extras = 0;
        }
    return m;
}
