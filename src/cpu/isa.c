/* isa.c - asks the processor, and through it the system, what may be executed. */
#include "isa.h"
#include "core/mem.h"

static const char *const names[TSRI_ISA_COUNT] = { "portable", "avx2", "avx512" };

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

/* The registers whose contents the system saves: the others must not be touched. */
static uint64_t saved_state(void)
{
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static bool all(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

/* `id` is what leaf 1 of CPUID gives: families above 15 are in two parts. */
static tsri_processor ask_processor(uint32_t id)
{
    enum { HYGON_EBX = 0x6f677948 };  /* of HygonGenuine */
    tsri_processor p = { .family = id >> 8 & 15 };
    uint32_t a, b, c, d;
    if (p.family == 15) p.family += id >> 20 & 0xff;
    if (!__get_cpuid(0, &a, &b, &c, &d)) return p;
    if (b == signature_INTEL_ebx) p.vendor = TSRI_VENDOR_INTEL;
    if (b == signature_AMD_ebx || b == HYGON_EBX) p.vendor = TSRI_VENDOR_AMD;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) p.avx512 = all(b, bit_AVX512F);
    return p;
}

static tsri_machine ask(void)
{
    tsri_machine m = { .isa = TSRI_ISA_PORTABLE };
    uint32_t a, b, c, d, b7, c7, d7, a71 = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return m;
    m.processor = ask_processor(a);
    if (!all(c, bit_OSXSAVE)) return m;
    const uint64_t state = saved_state();
    if (!__get_cpuid_count(7, 0, &a, &b7, &c7, &d7)) return m;
    if (!all(c, bit_FMA | bit_F16C | bit_AVX) || !all(b7, bit_AVX2 | bit_BMI2)) return m;
    if ((state & YMM_STATE) != YMM_STATE) return m;
    m.isa = TSRI_ISA_AVX2;
    if (!all(b7, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL | bit_AVX512CD)) return m;
    if ((state & ZMM_STATE) != ZMM_STATE) return m;
    m.isa = TSRI_ISA_AVX512;
    if (__get_cpuid_count(7, 1, &a, &b, &c, &d)) a71 = a;
    if (c7 & 1u << 11) m.extras |= TSRI_EXTRA_VNNI;
    if (c7 & 1u << 1) m.extras |= TSRI_EXTRA_VBMI;
    if (a71 & 1u << 5) m.extras |= TSRI_EXTRA_BF16;
    if (d7 & 1u << 23) m.extras |= TSRI_EXTRA_FP16;
    const bool tiles = all(d7, 1u << 24 | 1u << 25 | 1u << 22) && (state & TILE_STATE) == TILE_STATE;
    if (tiles && may_use_tiles()) m.extras |= TSRI_EXTRA_AMX;
    return m;
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
