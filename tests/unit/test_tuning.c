/* test_tuning.c - which family of processors a machine is taken for. */
#include "core/threads_int.h"
#include "cpu/kernels.h"
#include "tessera/device.h"
#include "test.h"

static const tsri_tuning *const families[] = { &tsri_tuning_default, &tsri_tuning_intel_avx2,
                                               &tsri_tuning_intel_avx512, &tsri_tuning_intel_amx,
                                               &tsri_tuning_amd_zen };
enum { FAMILIES = (int)(sizeof families / sizeof *families) };

static const tsri_tuning *find(tsri_processor p, const char *wish)
{
    const tsri_machine m = { .isa = TSRI_ISA_PORTABLE, .processor = p };
    return tsri_tuning_find(m, wish);
}

static const char *family_of(tsri_vendor vendor, uint32_t family, const char *wish)
{
    return find((tsri_processor){ .vendor = vendor, .family = family, .has_avx512 = true }, wish)->name;
}

TEST(test_processors_have_the_tuning_of_their_family)
{
    EXPECT(!strcmp(family_of(TSRI_VENDOR_INTEL, 6, NULL), "intel_avx512"));
    EXPECT(!strcmp(family_of(TSRI_VENDOR_AMD, 0x17, NULL), "amd_zen"));
    EXPECT(!strcmp(family_of(TSRI_VENDOR_AMD, 0x19, NULL), "amd_zen"));
    EXPECT(!strcmp(family_of(TSRI_VENDOR_AMD, 0x1a, NULL), "amd_zen"));
    EXPECT(!strcmp(family_of(TSRI_VENDOR_AMD, 0x15, NULL), "default"));
    EXPECT(!strcmp(family_of(TSRI_VENDOR_OTHER, 6, NULL), "default"));
}

TEST(test_processors_of_intel_differ_by_what_they_have)
{
    tsri_processor p = { .vendor = TSRI_VENDOR_INTEL, .family = 6 };
    EXPECT(find(p, NULL) == &tsri_tuning_intel_avx2);
    p.has_avx512 = true;
    EXPECT(find(p, NULL) == &tsri_tuning_intel_avx512);
    p.has_amx = true;
    EXPECT(find(p, NULL) == &tsri_tuning_intel_amx);
}

TEST(test_a_wish_names_a_family)
{
    EXPECT(!strcmp(family_of(TSRI_VENDOR_INTEL, 6, "amd_zen"), "amd_zen"));
    EXPECT(!strcmp(family_of(TSRI_VENDOR_AMD, 0x19, "intel_amx"), "intel_amx"));
    EXPECT(!strcmp(family_of(TSRI_VENDOR_AMD, 0x19, "default"), "default"));
    EXPECT(!strcmp(family_of(TSRI_VENDOR_AMD, 0x19, "zen"), "amd_zen"));
    EXPECT(!strcmp(family_of(TSRI_VENDOR_INTEL, 6, ""), "intel_avx512"));
    for (int i = 0; i < FAMILIES; i++)
        EXPECT_MSG(find((tsri_processor){ 0 }, families[i]->name) == families[i], "%s", families[i]->name);
}

TEST(test_a_wish_changes_single_numbers)
{
    const tsri_tuning *t = find((tsri_processor){ 0 }, "copy_ahead=4096,products.chunk=1024");
    EXPECT(!strcmp(t->name, "default") && t->copy_ahead == 4096 && t->products.chunk == 1024);
    EXPECT(t->run_ahead == 0 && t->products.tile_rows == tsri_tuning_default.products.tile_rows);
    t = find((tsri_processor){ 0 }, "stream_pages=2,amd_zen,stream_pages=3");
    EXPECT(!strcmp(t->name, "amd_zen") && t->stream_pages == 3);
    t = find((tsri_processor){ 0 }, "stream_least=9223372036854775807,lanes.sort_shared=1024");
    EXPECT(t->stream_least == INT64_MAX && t->lanes.sort_shared == 1024);
}

TEST(test_wishes_that_cannot_be_are_skipped)
{
    static const char *const wishes[] = {
        "copy_ahead", "copy_ahead=", "copy_ahead=x", "copy_ahead=4096x", "copy_ahead=-1", "copy_ahead= 4096",
        "copy_ahead=1048577", "copy_ahead=18446744073709555712", "copy_ahead=99999999999999999999",
        "copy=4096", "copy_ahea=4096", "copy_aheads=4096", "chunk=1024", "products.=1", "products.chunk=63",
        "stream_bytes=128", "copies.repeated=0", "name=x", "=", ",", ",,=,", "=4096", "default=1"
    };
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++)
        EXPECT_MSG(find((tsri_processor){ 0 }, wishes[i]) == &tsri_tuning_default, "%s", wishes[i]);
}

TEST(test_a_tuning_as_text_is_a_wish_for_it)
{
    char text[TSRI_TUNING_TEXT], again[TSRI_TUNING_TEXT];
    for (int i = 0; i < FAMILIES; i++) {
        tsri_tuning_write(text, families[i]);
        EXPECT_MSG(strlen(text) < sizeof text - 256, "%zu", strlen(text));
        EXPECT(find((tsri_processor){ 0 }, text) == families[i]);
        tsri_tuning_write(again, find((tsri_processor){ 0 }, strchr(text, ',')));
        EXPECT_MSG(!strcmp(strchr(again, ','), strchr(text, ',')), "%s", again);
    }
    tsri_tuning_write(text, tsri_tuning_get());
    EXPECT(!strcmp(tsr_cpu_tuning(), text));
}

/* A number outside its limits would be skipped, and so differ from the text. */
TEST(test_every_family_is_complete)
{
    for (int i = 0; i < FAMILIES; i++) {
        const tsri_tuning *t = families[i];
        EXPECT_MSG(t->stream_bytes == 32 || t->stream_bytes == 64, "%s", t->name);
        EXPECT_MSG(t->stream_least <= t->stream_usual && t->stream_usual <= t->stream_most, "%s", t->name);
        EXPECT_MSG(t->resident_least <= t->resident_usual, "%s", t->name);
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
