/* hostile.h - files that mean harm: cut short anywhere, with any bit changed, or made by hand. */
#ifndef TSR_TEST_HOSTILE_H
#define TSR_TEST_HOSTILE_H

#include "unit/files.h"
#include "unit/zip.h"

static inline bool is_a_file_status(tsr_status s)
{
    return s == TSR_OK || s == TSR_EFORMAT || s == TSR_EUNSUPPORTED;
}

/* Every tensor, whole, in part and as bytes: what is given is a tensor, what is refused has words. */
static inline void read_everything(const tsr_file *f)
{
    for (int64_t i = 0; i < tsr_file_count(f); i++) {
        tsr_file_entry e;
        tsr_tensor *t = NULL, *packed = NULL;
        EXPECT_OK(tsr_file_list(&e, f, i));
        for (int how = 0; how < 3; how++) {
            tsr_clear_error();
            const tsr_status s = how == 0   ? tsr_file_read(&t, f, e.name)
                                 : how == 1 ? tsr_file_read_slice(&t, f, e.name, 0, NULL)
                                            : tsr_file_read_raw(&t, f, e.name);
            EXPECT_MSG(is_a_file_status(s) || s == TSR_EINDEX, "%s: %s", e.name, tsr_status_name(s));
            EXPECT(s == TSR_OK || tsr_last_error()[0]);
            if (s == TSR_OK) EXPECT_OK(tsr_check(t));
            if (s == TSR_OK && tsr_byte_size(t) < 1 << 20) EXPECT_OK(tsr_rearrange(&packed, t));
            tsr_release_all(&t, &packed);
        }
    }
}

static size_t hostile_allowed;

static inline bool hostile_within(void *context, size_t bytes)
{
    (void)context;
    EXPECT_MSG(bytes <= hostile_allowed, "%zu bytes out of proportion", bytes);
    return bytes <= hostile_allowed;
}

static inline void open_hostile(const unsigned char *data, size_t bytes, const char *format)
{
    tsr_file *f = NULL;
    unsigned char *copy = malloc(bytes ? bytes : 1);  /* so that a sanitizer sees its end */
    if (bytes) memcpy(copy, data, bytes);
    hostile_allowed = bytes * 1032 * 32 + (2 << 20);
    tsr_clear_error();
    tsr_set_alloc_hook(hostile_within, NULL);
    const tsr_file_opts opts = { .format = format };
    const tsr_status s = tsr_file_open_bytes(&f, copy, bytes, "hostile", &opts);
    EXPECT_MSG(is_a_file_status(s), "%s: %s", tsr_status_name(s), tsr_last_error());
    EXPECT(s == TSR_OK || tsr_last_error()[0]);
    if (s == TSR_OK) read_everything(f);
    tsr_file_close(&f);
    tsr_set_alloc_hook(NULL, NULL);
    free(copy);
}

/* The file, cut at every byte; and with each byte changed, in one bit and in all. Of a long file every third
 * byte, and others with another seed. A repair, where there is one, makes checksums right, so that changes
 * get past them. */
static inline void expect_repaired_harmless(const char *path, const char *format,
                                            void (*repair)(uint8_t *, size_t))
{
    size_t bytes = 0;
    unsigned char *data = read_bytes(path, &bytes);
    EXPECT(data != NULL);
    unsigned char *changed = malloc(bytes + 1);
    const size_t step = bytes > 2000 ? 3 : 1;
    for (size_t i = test_state.seed % step; data && changed && i < bytes; i += step) {
        open_hostile(data, i, format);
        for (int how = 0; how < 2; how++) {
            memcpy(changed, data, bytes);
            changed[i] ^= (unsigned char)(how ? 255 : 1 << i % 8);
            if (repair) repair(changed, bytes);
            open_hostile(changed, bytes, format);
        }
    }
    free(changed);
    free(data);
}

static inline void expect_harmless(const char *path, const char *format)
{
    expect_repaired_harmless(path, format, NULL);
}

#endif
