/* files.h - what the tests of files share: a folder of their own, tensors of any strides, and
 * running out of memory. */
#ifndef TSR_TEST_FILES_H
#define TSR_TEST_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static char files_folder[128];

/* A path in the folder; good until eight more are asked for. */
static inline const char *file_path(const char *name)
{
    static char paths[8][256];
    static int next;
    char *p = paths[next++ % 8];
    if (!files_folder[0]) {
        const char *tmp = getenv("TMPDIR");
        snprintf(files_folder, sizeof files_folder, "%.80s/tsr-files-XXXXXX", tmp ? tmp : "/tmp");
        if (!mkdtemp(files_folder)) {
            perror(files_folder);
            exit(1);
        }
    }
    snprintf(p, sizeof paths[0], "%s/%s", files_folder, name);
    return p;
}

static inline void files_remove(void)
{
    char command[200];
    if (!files_folder[0]) return;
    snprintf(command, sizeof command, "rm -rf '%s'", files_folder);
    if (system(command) != 0) perror(command);
}

static inline void write_bytes(const char *path, const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    EXPECT(f != NULL);
    if (!f) return;
    EXPECT(fwrite(data, 1, bytes, f) == bytes);
    EXPECT(fclose(f) == 0);
}

/* The bytes of a file on the heap, and how many; NULL if there is none. */
static inline unsigned char *read_bytes(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    *bytes = (size_t)ftell(f);
    rewind(f);
    unsigned char *p = malloc(*bytes + 1);
    if (p && fread(p, 1, *bytes, f) != *bytes) *bytes = 0;
    fclose(f);
    return p;
}

static inline bool file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

/* How many files the folder has. */
static inline int files_count(void)
{
    char command[200];
    int n = -1;
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", files_folder);
    FILE *f = popen(command, "r");
    if (f && fscanf(f, "%d", &n) != 1) n = -1;
    if (f) pclose(f);
    return n;
}

/* Any bytes that are values of the dtype, in any strides: transposed, flipped, with gaps. */
static inline tsr_tensor *any_tensor(uint64_t *r, tsr_dtype dtype, int most_dims)
{
    tsr_tensor *t = NULL;
    int64_t shape[TSR_MAX_NDIM], wide[TSR_MAX_NDIM];
    const int ndim = (int)test_below(r, most_dims + 1);
    for (int i = 0; i < ndim; i++) {
        shape[i] = test_below(r, 12) == 0 ? 0 : 1 + test_below(r, 5);
        wide[i] = shape[i] * (1 + test_below(r, 2));
    }
    if (tsr_empty(&t, dtype, ndim, wide) != TSR_OK) return NULL;
    unsigned char *p = t->data;
    for (int64_t i = 0; i < tsr_byte_size(t); i++)
        p[i] = (unsigned char)(dtype == TSR_BOOL ? test_below(r, 2) : test_below(r, 256));
    for (int i = 0; i < ndim; i++) {
        if (wide[i] > shape[i] && tsr_slice(&t, t, i, 0, wide[i], 2) != TSR_OK) return NULL;
        if (test_below(r, 4) == 0 && tsr_flip(&t, t, TSR_AXES(i)) != TSR_OK) return NULL;
    }
    if (ndim > 1 && test_below(r, 2) && tsr_transpose(&t, t, 0, (int)(1 + test_below(r, ndim - 1))) != TSR_OK)
        return NULL;
    return t;
}

/* Element i of t, in row-major order. */
static inline double element(const tsr_tensor *t, int64_t i)
{
    int64_t index[TSR_MAX_NDIM];
    tsr_scalar v = tsr_scalar_f64(-1);
    for (int d = t->ndim; d-- > 0; i /= t->shape[d]) index[d] = i % t->shape[d];
    EXPECT_OK(tsr_get(&v, t, t->ndim, index));
    return tsr_scalar_to_f64(v);
}

/* The same dtype, shape and bits? */
static inline bool same_bits(const tsr_tensor *a, const tsr_tensor *b)
{
    tsr_tensor *pa = NULL, *pb = NULL;
    bool same = a && b && a->dtype == b->dtype && tsr_same_shape(a, b);
    if (same && tsr_rearrange(&pa, a) == TSR_OK && tsr_rearrange(&pb, b) == TSR_OK)
        same = memcmp(pa->data, pb->data, (size_t)tsr_byte_size(a)) == 0;
    tsr_release_all(&pa, &pb);
    return same;
}

/* Runs body with one allocation allowed, two, ... until it succeeds. */
static int files_allowed;

static inline bool files_allow_some(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return files_allowed-- > 0;
}

#define EXPECT_SURVIVES(body)                                                              \
    do {                                                                                   \
        tsr_status survived_ = TSR_ENOMEM;                                                 \
        for (int n_ = 0; n_ < 400 && survived_ == TSR_ENOMEM; n_++) {                      \
            files_allowed = n_;                                                            \
            tsr_set_alloc_hook(files_allow_some, NULL);                                    \
            survived_ = (body);                                                            \
            tsr_set_alloc_hook(NULL, NULL);                                                \
        }                                                                                  \
        EXPECT_MSG(survived_ == TSR_OK, "%s: %s", #body, tsr_last_error());                \
    } while (0)

#endif
