/* fuzz_files.c - any bytes as a file of any format.
 *
 * What opens must list, and each of its tensors must read, whole and in part, or refuse, with
 * words, without harm and without memory out of proportion. Built for libFuzzer as it is, with
 * tests/data/files as the first corpus; with -DTSR_FUZZ_MAIN it mutates those files by itself:
 * fuzz_files [iterations of each format [seed [format]]].
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tessera/tessera.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TENSORS = 8 };  /* of a file that are read */

static void must(int ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "fuzz_files: %s (%s)\n", what, tsr_last_error());
    abort();
}

static int is_a_file_status(tsr_status s)
{
    return s == TSR_OK || s == TSR_EFORMAT || s == TSR_EUNSUPPORTED || s == TSR_ENOMEM;
}

/* Memory is bounded: deflate makes at most 1032 bytes of one, and bits may become four bytes. */
static size_t memory_allowed;

static bool within_bounds(void *context, size_t bytes)
{
    (void)context;
    must(bytes <= memory_allowed, "an allocation out of proportion");
    return true;
}

static volatile unsigned sink;

static void touch(tsr_tensor *t)
{
    must(tsr_check(t) == TSR_OK, "a tensor that is none");
    const unsigned char *p = t->data;
    const int64_t n = tsr_byte_size(t);
    for (int64_t i = 0; tsr_is_contiguous(t) && i < n; i += 64) sink += p[i];
    if (n && tsr_is_contiguous(t)) sink += p[n - 1];
}

static void read_one(const tsr_file *f, const tsr_file_entry *e, int64_t index)
{
    tsr_tensor *t = NULL;
    tsr_clear_error();
    tsr_status s = tsr_file_read(&t, f, e->name);
    if (s == TSR_EINDEX) must(index > 0 || tsr_file_count(f) != 1, "an only tensor that is not found");
    else must(is_a_file_status(s), "a status that no read gives");
    must(s == TSR_OK || tsr_last_error()[0], "a failure without words");
    if (s == TSR_OK) {
        must(tsr_desc_same_shape(&t->desc, &e->desc) && t->dtype == e->desc.dtype,
             "another desc than was listed");
        touch(t);
    }
    tsr_release(&t);
    if (tsr_file_read_raw(&t, f, e->name) == TSR_OK) touch(t);
    tsr_release(&t);
    if (e->desc.ndim > 0 && e->desc.shape[0] > 0 && e->desc.dtype) {
        s = tsr_file_read_slice(&t, f, e->name, 1, (tsr_file_range[]){ { TSR_NONE, TSR_NONE, -1 } });
        must(s == TSR_EINDEX || is_a_file_status(s), "a status that no slice gives");
        if (s == TSR_OK) must(tsr_check(t) == TSR_OK, "a slice that is no tensor");
        tsr_release(&t);
    }
}

static int look_at_meta(const tsr_meta *m)
{
    int n = 1;
    if (m->type == TSR_META_TEXT) sink += (unsigned)strlen(m->text) + (unsigned char)m->text[m->length];
    for (int64_t i = 0; m->type == TSR_META_TEXTS && i < m->count; i++) sink += (unsigned)strlen(m->texts[i]);
    for (int64_t i = 0; m->type == TSR_META_LIST && i < m->count; i++) n += look_at_meta(&m->items[i]);
    if (m->type == TSR_META_NUMBERS && m->count) sink += *(const unsigned char *)m->data;
    return n;
}

/* How many mutants opened, so that a mutator that only makes rubbish shows. */
static long opened;

static void check_file(const uint8_t *data, size_t size, const char *format)
{
    const tsr_file_opts opts = { .format = format,
                                 .dtype =
                                     format && strcmp(format, "raw") == 0 ? TSR_F32 : TSR_DTYPE_INVALID };
    tsr_file *f = NULL;
    tsr_clear_error();
    memory_allowed = size * 1032 * 8 + (2 << 20);
    tsr_set_alloc_hook(within_bounds, NULL);
    const tsr_status s = tsr_file_open_bytes(&f, data, size, "fuzz", &opts);
    must(is_a_file_status(s), "a status that no open gives");
    must(s == TSR_OK || tsr_last_error()[0], "a failure without words");
    if (s == TSR_OK) {
        opened++;
        tsr_meta m;
        for (int64_t i = 0; i < tsr_file_meta_count(f); i++)
            if (tsr_file_meta(&m, f, i) == TSR_OK) sink += (unsigned)look_at_meta(&m);
        for (int64_t i = 0; i < tsr_file_count(f) && i < TENSORS; i++) {
            tsr_file_entry e;
            must(tsr_file_list(&e, f, i) == TSR_OK, "an entry that is not listed");
            read_one(f, &e, i);
        }
    }
    tsr_set_alloc_hook(NULL, NULL);
    tsr_file_close(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_file(data, size, NULL);
    if (size < 4096) check_file(data, size, "csv");  /* which no first bytes tell */
    return 0;
}

#ifdef TSR_FUZZ_MAIN

enum { MOST = 16384, SEEDS = 64 };

typedef struct buffer { size_t size; uint8_t byte[MOST]; } buffer;

static struct { const char *name; const char *files[8]; } formats[] = {
    { "npy", { "v1.npy", "v2.npy", "fortran.npy", "big.npy", "empty.npy", "text.npy" } },
    { "npz", { "stored.npz", "deflated.npz" } },
    { "safetensors", { "tensors.safetensors", "set-00001-of-00002.safetensors" } },
    { "gguf", { "quant.gguf" } },
    { "png", { "c0d8i0.png", "c3d4i1t.png", "c6d16i1.png", "c2d8i0.png", "c0d1i0.png" } },
    { "pnm", { NULL } },
    { "csv", { NULL } },
    { "tsv", { NULL } },
    { "raw", { "v1.npy" } },
};
enum { FORMATS = sizeof formats / sizeof *formats };

static const char *const texts[] = {
    "P1 # c\n2 2\n01 10",
    "P2\n2 2 9\n1 2\n3 9\n",
    "P3 2 2 300 1 2 3 4 5 6 7 8 9 10 11 300",
    "P4 9 2\nabcd",
    "P5 2 2 255\nabcd",
    "P6 2 2 65535\nabcdefghijklabcdefghijkl",
    "P7\nWIDTH 2\nHEIGHT 2\nDEPTH 2\nMAXVAL 255\nTUPLTYPE X\nENDHDR\nabcdefgh",
    "# c\nx,\"y, z\",w\n1,2.5,-3e2\n\n \"4\" ,, inf\n",
    "1\t2\n3\t4e-400\n",
    "1,2\n3,4\n5,123456789123456789123456789\n",
};
enum { TEXTS = sizeof texts / sizeof *texts, TABLES_FROM = 7 };

/* A valid file of format k. */
static void take_seed(buffer *b, int k, uint64_t *r)
{
    static buffer loaded[FORMATS][8];
    int n = 0;
    while (n < 8 && formats[k].files[n]) n++;
    if (n == 0) {
        const int from = strcmp(formats[k].name, "pnm") == 0 ? 0 : TABLES_FROM;
        const int to = from ? TEXTS : TABLES_FROM;
        const char *text = texts[from + (int)(next(r) % (uint64_t)(to - from))];
        b->size = strlen(text);
        memcpy(b->byte, text, b->size);
        return;
    }
    const int i = (int)(next(r) % (uint64_t)n);
    buffer *l = &loaded[k][i];
    if (l->size == 0) {
        char path[128];
        snprintf(path, sizeof path, "tests/data/files/%s", formats[k].files[i]);
        FILE *f = fopen(path, "rb");
        must(f != NULL, path);
        l->size = fread(l->byte, 1, MOST, f);
        fclose(f);
    }
    b->size = l->size;
    memcpy(b->byte, l->byte, l->size);
}

/* Numbers that lengths, offsets and counts break on. */
static uint64_t odd_number(uint64_t *r)
{
    static const uint64_t odd[] = { 0,
                                    1,
                                    7,
                                    255,
                                    256,
                                    65535,
                                    65536,
                                    0x7FFFFFFF,
                                    0x80000000,
                                    0xFFFFFFFF,
                                    UINT64_C(1) << 32,
                                    INT64_MAX,
                                    UINT64_C(1) << 63,
                                    UINT64_MAX,
                                    UINT64_MAX - 7,
                                    UINT64_C(1) << 61 };
    return next(r) % 3 ? odd[next(r) % (sizeof odd / sizeof *odd)] : next(r) % 300;
}

static void splice(buffer *b, size_t at, size_t gone, const void *piece, size_t size)
{
    splice_bytes(b->byte, &b->size, MOST, at, gone, piece, size);
}

/* Mostly near the front, where headers are; a zip file's are at its end. */
static size_t some_place(const buffer *b, uint64_t *r)
{
    const size_t n = b->size ? b->size : 1, near = n < 400 ? n : 400;
    const uint64_t where = next(r) % 4;
    return where < 2 ? next(r) % near : where == 2 ? n - 1 - next(r) % near : next(r) % n;
}

static void mutate(buffer *b, uint64_t *r)
{
    static const char *const words[] = { "[",
                                         "]",
                                         "{",
                                         "}",
                                         ",",
                                         ":",
                                         "\"",
                                         "\\u",
                                         "-1",
                                         "9223372036854775807",
                                         "99999999999999999999",
                                         "1e999",
                                         "nan",
                                         "(",
                                         ")",
                                         "'",
                                         "True",
                                         "\n",
                                         "0",
                                         "[[[[[[[[",
                                         "P6 ",
                                         "F32",
                                         "\\" };
    const size_t at = some_place(b, r);
    const char *word = words[next(r) % (sizeof words / sizeof *words)];
    uint8_t raw[8], run[40];
    const size_t from = some_place(b, r);
    size_t n = next(r) % sizeof run;
    if (n > b->size - (b->size ? from : 0)) n = b->size - (b->size ? from : 0);
    memcpy(run, b->byte + from, n);
    uint64_t v = odd_number(r);
    const size_t width = (size_t)1 << next(r) % 4;
    const bool big = next(r) % 4 == 0;
    for (size_t i = 0; i < width; i++) raw[i] = (uint8_t)(v >> 8 * (big ? width - 1 - i : i));
    switch (next(r) % 8) {
    case 0: case 1: splice(b, at, width, raw, width); break;               /* another number */
    case 2: if (b->size) b->byte[at] ^= (uint8_t)(1u << next(r) % 8); break; /* a bit */
    case 3: splice(b, at, 1 + next(r) % 8, "", 0); break;                  /* a gap */
    case 4: splice(b, at, next(r) % 2, word, strlen(word)); break;         /* a word */
    case 5: b->size = next(r) % (b->size + 1); break;                      /* cut short */
    case 6: splice(b, at, 0, run, n); break;                               /* a part repeated */
    default: raw[0] = (uint8_t)next(r); splice(b, at, 1, raw, 1); break;   /* a byte */
    }
}

/* Its own heap block, so that a read past the end is seen. */
static void check_copy(const buffer *b, const char *format)
{
    uint8_t *copy = malloc(b->size ? b->size : 1);
    if (!copy) return;
    memcpy(copy, b->byte, b->size);
    check_file(copy, b->size, format);
    free(copy);
}

int main(int argc, char **argv)
{
    const long iterations = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
    uint64_t r = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    static buffer b;
    must(tsr_set_threads(1) == TSR_OK, "one thread");
    for (int k = 0; k < FORMATS; k++) {
        if (argc > 3 && strcmp(argv[3], formats[k].name) != 0) continue;
        opened = 0;
        for (long i = 0; i < iterations; i++) {
            take_seed(&b, k, &r);
            for (uint64_t n = next(&r) % 4; n > 0; n--) mutate(&b, &r);
            check_copy(&b, formats[k].name);
        }
        printf("%s: %ld of %ld opened\n", formats[k].name, opened, iterations);
        must(iterations < 1000 || (opened > iterations / 10 && (k == FORMATS - 1 || opened <= iterations)),
             "too few mutants open");
    }
    printf("%d passed, 0 failed, 0 skipped\n", FORMATS);
    return 0;
}

#endif
