/* test_tuning.c - which family of processors a machine is taken for. */
#include "core/threads_int.h"
#include "cpu/kernels.h"
#include "test.h"

static const char *family_of(tsri_vendor vendor, uint32_t family, const char *wish)
{
    const tsri_machine m = { .isa = TSRI_ISA_PORTABLE, .processor = { .vendor = vendor, .family = family } };
    return tsri_tuning_find(m, wish)->name;
}

TEST(test_processors_have_the_tuning_of_their_family)
{
    EXPECT(!strcmp(family_of(TSRI_VENDOR_INTEL, 6, NULL), "intel"));
    EXPECT(!strcmp(family_of(TSRI_VENDOR_AMD, 0x17, NULL), "amd_zen"));
    EXPECT(!strcmp(family_of(TSRI_VENDOR_AMD, 0x19, NULL), "amd_zen"));
    EXPECT(!strcmp(family_of(TSRI_VENDOR_AMD, 0x1a, NULL), "amd_zen"));
    EXPECT(!strcmp(family_of(TSRI_VENDOR_AMD, 0x15, NULL), "default"));
    EXPECT(!strcmp(family_of(TSRI_VENDOR_OTHER, 6, NULL), "default"));
}

TEST(test_a_wish_names_a_family)
{
    EXPECT(!strcmp(family_of(TSRI_VENDOR_INTEL, 6, "amd_zen"), "amd_zen"));
    EXPECT(!strcmp(family_of(TSRI_VENDOR_AMD, 0x19, "intel"), "intel"));
    EXPECT(!strcmp(family_of(TSRI_VENDOR_AMD, 0x19, "default"), "default"));
    EXPECT(!strcmp(family_of(TSRI_VENDOR_AMD, 0x19, "zen"), "amd_zen"));
    EXPECT(!strcmp(family_of(TSRI_VENDOR_INTEL, 6, ""), "intel"));
}

TEST(test_every_family_is_complete)
{
    static const tsri_tuning *const all[] = { &tsri_tuning_default, &tsri_tuning_intel,
                                              &tsri_tuning_amd_zen };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const tsri_tuning *t = all[i];
        EXPECT_MSG(t->stream_bytes == 32 || t->stream_bytes == 64, "%s", t->name);
        EXPECT_MSG(t->stream_pages >= 1 && t->stream_transposed > 0, "%s", t->name);
        EXPECT_MSG(t->stream_least > 0 && t->stream_least <= t->stream_usual, "%s", t->name);
        EXPECT_MSG(t->stream_usual <= t->stream_most, "%s", t->name);
        EXPECT_MSG(t->result_least > 0, "%s", t->name);
        EXPECT_MSG(t->resident_least > 0 && t->resident_least <= t->resident_usual, "%s", t->name);
        EXPECT_MSG(t->resident_usual <= t->resident_most, "%s", t->name);
    }
    EXPECT(tsri_tuning_get() == tsri_tuning_used);
}

TEST(test_a_part_has_the_work_that_is_worth_a_thread)
{
    const int64_t work = tsri_tuning_get()->thread_work;
    EXPECT(work >= 1 << 10 && tsri_grain(1) == work && tsri_grain(0) == work);
    EXPECT(tsri_grain(TSRI_WORK_PRODUCT) == work / TSRI_WORK_PRODUCT);
    EXPECT(tsri_grain(TSRI_WORK_READ * 1000.0) == work / 8000);
    EXPECT(tsri_grain((double)work) == 1 && tsri_grain(1e300) == 1);
    tsri_set_thread_work(64);
    EXPECT(tsri_grain(TSRI_WORK_ELEMENT) == 4);
    tsri_set_thread_work(work);
}
