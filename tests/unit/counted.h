/* counted.h - tensors that other programs wrote, one of each dtype that NumPy has: 0 .. 23 as (2, 3, 4). */
#ifndef TSR_TEST_COUNTED_H
#define TSR_TEST_COUNTED_H

#include "unit/files.h"

static const struct { const char *name; tsr_dtype dtype; } counted[] = {
    { "bool", TSR_BOOL }, { "i1", TSR_I8 },  { "i2", TSR_I16 }, { "i4", TSR_I32 },   { "i8", TSR_I64 },
    { "u1", TSR_U8 },     { "u2", TSR_U16 }, { "u4", TSR_U32 }, { "u8", TSR_U64 },   { "f2", TSR_F16 },
    { "f4", TSR_F32 },    { "f8", TSR_F64 }, { "c8", TSR_C64 }, { "c16", TSR_C128 },
};
enum { COUNTED = sizeof counted / sizeof *counted };

/* Are these 0, 1, ... 23 (or every other one true), as (2, 3, 4)? */
static inline bool is_counted(const tsr_tensor *t)
{
    bool ok = t && t->ndim == 3 && t->shape[0] == 2 && t->shape[1] == 3 && t->shape[2] == 4;
    for (int64_t i = 0; ok && i < 24; i++) ok = element(t, i) == (double)(t->dtype == TSR_BOOL ? i % 2 : i);
    return ok;
}

/* The first n of them, in a folder of the file. */
static inline void expect_counted(const tsr_file *f, const char *folder, int n)
{
    for (int i = 0; i < n; i++) {
        tsr_tensor *t = NULL;
        char name[32];
        snprintf(name, sizeof name, "%s%s", folder, counted[i].name);
        EXPECT_OK(tsr_file_read(&t, f, name));
        EXPECT_MSG(t && t->dtype == counted[i].dtype && is_counted(t), "%s", name);
        tsr_release(&t);
    }
}

static inline void expect_counted_file(const char *path, const char *format, int n)
{
    tsr_file *f = NULL;
    EXPECT_OK(tsr_file_open(&f, path, NULL));
    EXPECT_MSG(f && !strcmp(tsr_file_format(f), format), "%s", path);
    if (f) expect_counted(f, "", n);
    tsr_file_close(&f);
}

#endif
