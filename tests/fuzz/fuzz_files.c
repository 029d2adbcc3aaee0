/* fuzz_files.c - any bytes as a file of each format, as a deflate stream, and as an index of files.
 *
 * What opens must list, and each of its tensors must read, whole and in part, or refuse, with
 * words, without harm and without memory out of proportion. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/inflate.h"
#include "io/io_int.h"
#include "io/zlib.h"
#include "repair.h"
#include "tessera/tessera.h"
#include "unit/zip.h"

enum { TENSORS = 8 };  /* of a file that are read */

static bool is_a_file_status(tsr_status s)
{
    return s == TSR_OK || s == TSR_EFORMAT || s == TSR_EUNSUPPORTED || s == TSR_ENOMEM;
}

/* Memory is bounded: deflate makes at most 1032 bytes of one, and a bit may become four bytes. */
static size_t memory_allowed;

static bool within_bounds(void *context, size_t bytes)
{
    (void)context;
    fuzz_must(bytes <= memory_allowed, "an allocation out of proportion");
    return true;
}

static volatile unsigned sink;

static void touch(tsr_tensor *t)
{
    fuzz_must(tsr_check(t) == TSR_OK, "a tensor that is none");
    const unsigned char *p = t->data;
    const int64_t n = tsr_byte_size(t);
    for (int64_t i = 0; tsr_is_contiguous(t) && i < n; i += 64) sink += p[i];
    if (n && tsr_is_contiguous(t)) sink += p[n - 1];
}

static void read_whole(const tsr_file *f, const tsr_file_entry *e, int64_t index)
{
    tsr_tensor *t = NULL;
    tsr_clear_error();
    const tsr_status s = tsr_file_read(&t, f, e->name);
    if (s == TSR_EINDEX) fuzz_must(index > 0 || tsr_file_count(f) != 1, "an only tensor that is not found");
    else fuzz_must(is_a_file_status(s), "a status that no read gives");
    fuzz_must(s == TSR_OK || tsr_last_error()[0], "a failure without words");
    if (s == TSR_OK) {
        fuzz_must(tsr_desc_same_shape(&t->desc, &e->desc) && t->dtype == e->desc.dtype,
                  "another desc than was listed");
        touch(t);
    }
    tsr_release(&t);
    if (tsr_file_read_raw(&t, f, e->name) == TSR_OK) touch(t);
    tsr_release(&t);
}

/* Ranges of many kinds, from the shape of the tensor. */
static void read_part(const tsr_file *f, const tsr_file_entry *e)
{
    tsr_file_range ranges[TSR_MAX_NDIM];
    tsr_tensor *t = NULL;
    int n = 0;
    for (; n < e->desc.ndim && n < 3; n++) {
        const int64_t dim = e->desc.shape[n];
        ranges[n] = dim % 3 == 0   ? (tsr_file_range){ TSR_NONE, TSR_NONE, -1 }
                    : dim % 3 == 1 ? (tsr_file_range){ dim / 2, 0, 0 }
                                   : (tsr_file_range){ 1, dim, 2 };
    }
    const tsr_status s = tsr_file_read_slice(&t, f, e->name, n, ranges);
    fuzz_must(s == TSR_EINDEX || is_a_file_status(s), "a status that no slice gives");
    if (s == TSR_OK) touch(t);
    tsr_release(&t);
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

static void look_at_file(const tsr_file *f)
{
    tsr_meta m;
    tsr_file_entry e;
    for (int64_t i = 0; i < tsr_file_meta_count(f); i++)
        if (tsr_file_meta(&m, f, i) == TSR_OK) sink += (unsigned)look_at_meta(&m);
    for (int64_t i = 0; i < tsr_file_count(f) && i < TENSORS; i++) {
        fuzz_must(tsr_file_list(&e, f, i) == TSR_OK, "an entry that is not listed");
        read_whole(f, &e, i);
        if (e.desc.dtype) read_part(f, &e);
    }
}

static bool check_file(const uint8_t *data, size_t size, const tsr_file_opts *opts)
{
    tsr_file *f = NULL;
    tsr_clear_error();
    memory_allowed = size * 1032 * 32 + (2 << 20);
    tsr_set_alloc_hook(within_bounds, NULL);
    const tsr_status s = tsr_file_open_bytes(&f, data, size, "fuzz", opts);
    fuzz_must(is_a_file_status(s) || (opts->shape && s != TSR_EIO), "a status that no open gives");
    fuzz_must(s == TSR_OK || tsr_last_error()[0], "a failure without words");
    if (s == TSR_OK) look_at_file(f);
    tsr_set_alloc_hook(NULL, NULL);
    tsr_file_close(&f);
    return s == TSR_OK;
}

#define READS(format_, dtype_)                                                                      \
    static bool run_##format_(const uint8_t *data, size_t size)                                     \
    {                                                                                               \
        return check_file(data, size, &(tsr_file_opts){ .format = #format_, .dtype = (dtype_) });   \
    }

READS(npy, TSR_DTYPE_INVALID)
READS(npz, TSR_DTYPE_INVALID)
READS(pt, TSR_DTYPE_INVALID)
READS(safetensors, TSR_DTYPE_INVALID)
READS(gguf, TSR_DTYPE_INVALID)
READS(onnx, TSR_DTYPE_INVALID)
READS(hdf5, TSR_DTYPE_INVALID)
READS(png, TSR_DTYPE_INVALID)
READS(jpeg, TSR_DTYPE_INVALID)
READS(pnm, TSR_DTYPE_INVALID)
READS(csv, size % 4 == 0 ? TSR_F32 : size % 4 == 1 ? TSR_I16 : TSR_DTYPE_INVALID)
READS(tsv, size % 4 == 0 ? TSR_U8 : size % 4 == 1 ? TSR_I64 : TSR_DTYPE_INVALID)

/* A table, by options that the first byte says. */
static bool run_table(const uint8_t *data, size_t size)
{
    static const char *const chosen[] = { "-1", "x" };
    fuzz_input in = { data, data + size };
    const unsigned how = (unsigned)fuzz_take(&in, 1);
    const tsr_file_opts opts = { .format = "csv", .dtype = how & 128 ? TSR_I16 : TSR_F32,
                                 .header = (tsr_header)(how % 3), .separator = "\0;\t|"[how / 4 % 4],
                                 .columns = chosen, .ncolumns = (int)(how / 16 % 3) };
    tsr_file *f = NULL;
    const tsr_status s = tsr_file_open_bytes(&f, in.at, (size_t)(in.end - in.at), "fuzz", &opts);
    tsr_file_close(&f);
    return s != TSR_EINDEX && s != TSR_EINVAL && check_file(in.at, (size_t)(in.end - in.at), &opts);
}

/* The format that the first bytes tell. */
static bool run_any(const uint8_t *data, size_t size)
{
    return check_file(data, size, &(tsr_file_opts){ .format = NULL });
}

/* Dtype, offset and shape come first. */
static bool run_raw(const uint8_t *data, size_t size)
{
    fuzz_input in = { data, data + size };
    int64_t shape[20];
    tsr_file_opts opts = { .format = "raw", .dtype = (tsr_dtype)(fuzz_take(&in, 1) % (TSR_DTYPE_COUNT + 1)) };
    opts.ndim = (int)(fuzz_take(&in, 1) % 20);
    opts.offset = (uint64_t)fuzz_take_size(&in);
    for (int i = 0; i < opts.ndim; i++) shape[i] = fuzz_take_size(&in);
    opts.shape = shape;
    return check_file(in.at, (size_t)(in.end - in.at), &opts);
}

/* JSON is the header of a file without elements. */
static bool run_json(const uint8_t *data, size_t size)
{
    uint8_t *file = malloc(size + 8);
    if (!file) return false;
    tsri_set64(file, size);
    if (size) memcpy(file + 8, data, size);
    const bool taken = run_safetensors(file, size + 8);
    free(file);
    return taken;
}

/* A pickle as that of a checkpoint, with storages "0" and "1". */
static bool run_pickle(const uint8_t *data, size_t size)
{
    static const char storage[48];
    const zip_member members[] = { { "x/data.pkl", data, size }, { "x/data/0", storage, 48 },
                                   { "x/data/1", storage, 7 } };
    uint8_t *file = malloc(size + 512);
    if (!file) return false;
    const bool taken = run_pt(file, zip_make(file, members, 3));
    free(file);
    return taken;
}

/* An index, beside the two files that it may lead to ----------------------------------- */

static char folder[64];

static void remove_folder(void)
{
    static const char *const names[] = { "a.safetensors", "b.safetensors", "set.index.json" };
    char path[128];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        (void)!unlink(path);
    }
    (void)!rmdir(folder);
}

static void write_bytes(const char *name, const void *data, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    fuzz_must(f && fwrite(data, 1, size, f) == size && fclose(f) == 0, path);
}

/* A file of one tensor, x. */
static void write_part(const char *name, char x)
{
    char bytes[256];
    const int n = snprintf(bytes + 8, sizeof bytes - 8,
                           "{\"%c\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}ab", x);
    tsri_set64((unsigned char *)bytes, (uint64_t)n - 2);
    write_bytes(name, bytes, (size_t)n + 8);
}

static void make_folder(void)
{
    const char *above = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/tsr-fuzz-XXXXXX", above);
    fuzz_must(mkdtemp(folder) != NULL, folder);
    (void)atexit(remove_folder);
    write_part("a.safetensors", 'x');
    write_part("b.safetensors", 'y');
}

static bool run_index(const uint8_t *data, size_t size)
{
    char path[128];
    tsr_file *f = NULL;
    if (!folder[0]) make_folder();
    write_bytes("set.index.json", data, size);
    snprintf(path, sizeof path, "%s/set.index.json", folder);
    tsr_clear_error();
    const tsr_status s = tsr_file_open(&f, path, &(tsr_file_opts){ .format = "safetensors" });
    fuzz_must(is_a_file_status(s) || s == TSR_EIO, "a status that no open gives");
    fuzz_must(s == TSR_OK || tsr_last_error()[0], "a failure without words");
    if (s == TSR_OK) look_at_file(f);
    tsr_file_close(&f);
    return s == TSR_OK;
}

/* Deflate streams: our own reader and zlib's give the same ------------------------------- */

enum { ROOM = 1 << 17 };

static void check_zlib(const uint8_t *data, size_t size, tsri_inflated own, size_t taken, const uint8_t *out,
                       size_t made)
{
    static uint8_t other[ROOM];
    size_t other_taken = 0, other_made = 0;
    tsri_inflated r;
    if (!tsri_zlib_inflate(&r, other, ROOM, data, size, &other_taken, &other_made)) return;
    fuzz_must((r == TSRI_INFLATE_DONE) == (own == TSRI_INFLATE_DONE), "zlib ends otherwise");
    if (own != TSRI_INFLATE_DONE) return;
    fuzz_must(made == other_made && taken == other_taken && memcmp(out, other, made) == 0,
              "zlib makes something else");
}

/* What is compressed comes back. */
static void check_deflate(const uint8_t *data, size_t size)
{
    static _Alignas(8) uint8_t scratch[TSRI_DEFLATE_SCRATCH];
    uint8_t *packed = malloc(tsri_deflate_room(size)), *back = malloc(size + 1);
    size_t taken = 0, made = 0;
    if (packed && back) {
        const size_t n = tsri_deflate_alone(packed, data, size, true, scratch);
        const tsri_inflated r = tsri_inflate_alone(back, size + 1, packed, n, &taken, &made);
        fuzz_must(r == TSRI_INFLATE_DONE && taken == n && made == size &&
                      (size == 0 || memcmp(back, data, size) == 0), "deflated bytes do not come back");
    }
    free(packed);
    free(back);
}

static bool run_inflate(const uint8_t *data, size_t size)
{
    uint8_t *out = malloc(ROOM);
    size_t taken = 0, made = 0;
    if (!out) return false;
    const tsri_inflated r = tsri_inflate_alone(out, ROOM, data, size, &taken, &made);
    fuzz_must(taken <= size && made <= ROOM, "more was taken or made than there is");
    check_zlib(data, size, r, taken, out, made);
    free(out);
    check_deflate(data, size);
    return r == TSRI_INFLATE_DONE;
}

/* The list ----------------------------------------------------------------------------- */

static const char *const npy_words[] = {
    "'descr'", "'fortran_order'", "'shape'", "True", "False", "(", ")", ",", ":", "{", "}", "'<f4'",
    "'>i8'", "'|b1'", "'|S3'", "'<c16'", "'|V8'", "'<U2'", "-1", "9223372036854775807",
    "99999999999999999999", "0", "3L", "\n", "\x93NUMPY", "PK\1\2", "PK\3\4", "PK\5\6", ".npy", NULL,
};

static const char *const pickle_words[] = {
    "ctorch._utils\n_rebuild_tensor_v2\n", "ctorch._utils\n_rebuild_parameter\n",
    "ccollections\nOrderedDict\n", "ctorch._tensor\n_rebuild_from_type_v2\n", "ctorch\nFloatStorage\n",
    "ctorch\nBoolStorage\n", "ctorch\nSize\n", "ctorch\nTensor\n", "\x8a\x08", "X\1", "Q", "R", "b", "(",
    "t", "\x85", "\x86", "\x87", "]", "}", "e", "u", "s", "a", "h", "q", "\x94", "K", "J", ".", "0", "1",
    "/data.pkl", "/byteorder", "PK\1\2", "PK\3\4", NULL,
};

static const char *const json_words[] = {
    "[", "]", "{", "}", ",", ":", "\"", "\\u", "\\ud83d\\ude00", "\\u0000", "\\", "-1", "0", "1e9",
    "null", "true", "9223372036854775807", "99999999999999999999", "[[[[[[[[", "\"F32\"", "\"U8\"",
    "\"BF16\"", "\"dtype\":", "\"shape\":", "\"data_offsets\":", "\"__metadata__\":{", "\"weight_map\":{",
    "\"metadata\":", "\"x\"", "\"y\"", "\"a.safetensors\"", "\"b.safetensors\"", "../", "\xc3\xa9",
    "\xff", NULL,
};

static const char *const gguf_words[] = {
    "general.alignment", "\4\0\0\0 \0\0\0", "\x9\0\0\0", "GGUF", "\x8\0\0\0", "\1", "\2", "\xc", "\x1e",
    "\xff", NULL,
};

static const char *const onnx_words[] = {
    "\x08\x0a", "\x3a", "\x2a", "\x0a", "\x10\1", "\x10\x0b", "\x10\x15", "\x10\x16", "\x4a", "\x22", "\x3a",
    "\x52", "\x5a", "\x6a", "\x70\1", "location", "offset", "length", "\xff\xff\xff\xff\x7f", NULL,
};

static const char *const image_words[] = {
    "IHDR", "IDAT", "PLTE", "tRNS", "IEND", "\x89PNG\r\n\x1a\n", "P1 ", "P2 ", "P3 ", "P4 ", "P5 ", "P6 ",
    "P7\n", "WIDTH ", "HEIGHT ", "DEPTH ", "MAXVAL ", "TUPLTYPE ", "ENDHDR\n", "#", "\n", " ", "0", "1",
    "255", "65535", "65536", "99999999999", NULL,
};

static const char *const table_words[] = {
    ",", "\t", "\n", "\r\n", "\"", "#", "nan", "inf", "-", "+", ".", "e", "1e999", "-1e-999", "0x1p3",
    "1_0", "123456789123456789123456789", "18446744073709551616", "9007199254740993",
    "2.2250738585072011e-308", " ", "word", "NA", "\"\"", ";", "|", "\"\n\"", "x", NULL,
};

const fuzz_target fuzz_targets[] = {
    { "npy", run_npy, repair_npy, npy_words, 80000 },
    { "npz", run_npz, repair_npz, npy_words, 80000 },
    { "pt", run_pt, repair_npz, pickle_words, 30000 },
    { "pickle", run_pickle, NULL, pickle_words, 60000 },
    { "safetensors", run_safetensors, repair_safetensors, json_words, 80000 },
    { "gguf", run_gguf, repair_gguf, gguf_words, 80000 },
    { "onnx", run_onnx, repair_onnx, onnx_words, 60000 },
    { "hdf5", run_hdf5, repair_hdf5, NULL, 20000 },
    { "png", run_png, repair_png, image_words, 60000 },
    { "jpeg", run_jpeg, NULL, NULL, 20000 },
    { "pnm", run_pnm, NULL, image_words, 80000 },
    { "csv", run_csv, NULL, table_words, 80000 },
    { "tsv", run_tsv, NULL, table_words, 20000 },
    { "table", run_table, NULL, table_words, 30000 },
    { "raw", run_raw, NULL, NULL, 80000 },
    { "json", run_json, NULL, json_words, 80000 },
    { "index", run_index, NULL, json_words, 10000 },
    { "inflate", run_inflate, NULL, NULL, 20000 },
    { "any", run_any, NULL, npy_words, 80000 },
    { NULL, NULL, NULL, NULL, 0 },
};
