/* test_oom_files.c - every piece that a reader or writer of files keeps is once the one for which there is no
 * memory; and the failures of the system that take more than one call to fail. */
#define _GNU_SOURCE 1
#include <signal.h>
#include <sys/wait.h>

#include "io/bump.h"
#include "oom/disk_faults.h"
#include "unit/zip.h"

static int until_refused;

static bool refuse_one(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
    return until_refused-- != 0;
}

/* Allocation n fails, or piece n of a file's memory. */
static void begin_refusal(bool piece, int n)
{
    if (piece) {
        tsri_bump_left = n;
        return;
    }
    until_refused = n;
    tsr_set_alloc_hook(refuse_one, NULL);
}

/* Did it fail? */
static bool end_refusal(bool piece)
{
    const bool refused = (piece ? tsri_bump_left : until_refused) < 0;
    tsri_bump_left = -1;
    tsr_set_alloc_hook(NULL, NULL);
    return refused;
}

/* The first allocation fails, the second, ... until none does; then the first piece, the second, ... */
#define EXPECT_EACH_REFUSAL(call)                                                                        \
    do {                                                                                                 \
        for (int piece_ = 0; piece_ < 2; piece_++) {                                                     \
            bool refused_ = true;                                                                        \
            for (int n_ = 0; refused_ && n_ < 20000; n_++) {                                             \
                begin_refusal(piece_, n_);                                                               \
                const tsr_status s_ = (call);                                                            \
                refused_ = end_refusal(piece_);                                                          \
                EXPECT_MSG(s_ == (refused_ ? TSR_ENOMEM : TSR_OK), "%s: %s: %s", #call,                  \
                           tsr_status_name(s_), tsr_last_error());                                       \
                EXPECT_MSG(!refused_ || !strstr(tsr_last_error(), "(null)"), "%s", tsr_last_error());    \
            }                                                                                            \
            EXPECT(!refused_);                                                                           \
        }                                                                                                \
    } while (0)

/* Opening ------------------------------------------------------------------------------ */

static tsr_status open_named(const unsigned char *data, size_t bytes, const char *name)
{
    static const int64_t shape[] = { -1 };
    tsr_file *f = NULL;
    const tsr_status s =
        tsr_file_open_bytes(&f, data, bytes, name, &(tsr_file_opts){ .ndim = 1, .shape = shape });
    tsr_file_close(&f);
    return s;
}

static void expect_opens(const unsigned char *data, size_t bytes, const char *name)
{
    EXPECT_EACH_REFUSAL(open_named(data, bytes, name));
}

TEST(test_each_piece_of_a_file_is_once_without_room)
{
    static const char *const goldens[] = { "quant.gguf", "tensors.safetensors", "c0d8i0.png", "stored.npz",
                                           "deflated.npz", "v1.npy", "little.pt", "deflated.pt",
                                           "tensors.pt", "big.pt", "old.pt", "module.pt",
                                           "conjugated.pt", "short.pt",
                                           "numbers.onnx", "constants.onnx", "tensors.h5", "outside.h5",
                                           "photo.jpg" };
    static const char *const texts[][2] = { { "x,y,z\n1,2,3\n", ".csv" }, { "P2 1 1 9 5 ", ".pgm" },
                                           { "w,n\na,1\nb,\nc,3\nd,4\ne,5\nf,6\ng,7\nh,8\ni,9\n", ".csv" } };
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
        char path[64];
        size_t bytes = 0;
        snprintf(path, sizeof path, "tests/data/files/%s", goldens[i]);
        unsigned char *data = read_bytes(path, &bytes);
        EXPECT(data != NULL);
        if (data) expect_opens(data, bytes, strrchr(path, '.'));
        free(data);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_opens((const unsigned char *)texts[i][0], strlen(texts[i][0]), texts[i][1]);
}

/* Objects that list, dicts of pairs, and arrays that are not read. */
TEST(test_each_piece_of_an_odd_pickle_is_once_without_room)
{
    static const char pickle[] = "\x80\2}(X\1\0\0\0xca\nB\n)\x81(K\1K\2e"
                                 "X\1\0\0\0yccollections\nOrderedDict\n](]K\1" "aK\2" "ae\x85R"
                                 "X\1\0\0\0zccollections\nOrderedDict\n](K\1K\2\x86" "e\x85R"
                                 "X\1\0\0\0qctorch._utils\n_rebuild_qtensor\n)Ru.";
    const zip_member whole = { "x/data.pkl", pickle, sizeof pickle - 1 };
    unsigned char zip[1024];
    expect_opens(zip, zip_make(zip, &whole, 1), ".pt");
}

static tsr_status open_path(const char *path)
{
    tsr_file *f = NULL;
    const tsr_status s = tsr_file_open(&f, path, NULL);
    tsr_file_close(&f);
    return s;
}

TEST(test_each_piece_of_a_set_is_once_without_room)
{
    EXPECT_EACH_REFUSAL(open_path("tests/data/files/set.safetensors.index.json"));
    EXPECT_EACH_REFUSAL(open_path("tests/data/files/external.onnx"));
}

/* Writing ------------------------------------------------------------------------------ */

static tsr_tensor *numbers;  /* f32 (4, 32), transposed: in pieces to be packed */

static tsr_status put_metadata(tsr_writer *w, bool gguf)
{
    static const char *const words[] = { "one", "two" };
    static const int32_t few[] = { 1, 2, 3 };
    static const tsr_meta item = { .type = TSR_META_NUMBERS, .dtype = TSR_I32, .count = 3, .data = few };
    const tsr_meta metas[] = {
        { .key = "number", .type = TSR_META_NUMBER, .dtype = TSR_I32, .number = tsr_scalar_i64(3) },
        { .key = "numbers", .type = TSR_META_NUMBERS, .dtype = TSR_I32, .count = 3, .data = few },
        { .key = "words", .type = TSR_META_TEXTS, .count = 2, .texts = words },
        { .key = "list", .type = TSR_META_LIST, .count = 1, .items = &item },
    };
    tsr_status s = tsr_writer_text(w, "text", "words");
    for (int i = 0; i < 4 && gguf && s == TSR_OK; i++) s = tsr_writer_meta(w, &metas[i]);
    return s;
}

static tsr_status put_tensors(tsr_writer *w, const char *first, const char *second, const char *encoding)
{
    tsr_status s = tsr_writer_add(w, first, numbers, NULL);
    if (s == TSR_OK) s = tsr_writer_add(w, second, numbers, encoding);
    return s == TSR_OK && encoding ? tsr_writer_add(w, "third", numbers, "q8_0") : s;
}

static tsr_status write_file(const char *name, const tsr_writer_opts *opts)
{
    tsr_writer *w = NULL;
    const bool gguf = strstr(name, "gguf") != NULL, texts = gguf || strstr(name, "safetensors");
    tsr_status s = tsr_writer_create(&w, file_path(name), opts);
    if (s == TSR_OK && texts) s = put_metadata(w, gguf);
    if (s == TSR_OK && opts->shard_bytes && !tsr_writer_part(w, 0)) s = TSR_ENOMEM;
    if (s == TSR_OK) s = put_tensors(w, "first", "groups/second", gguf ? "bf16" : NULL);
    if (s == TSR_OK) return tsr_writer_finish(&w);
    tsr_writer_cancel(&w);
    return s;
}

TEST(test_each_piece_of_a_writer_is_once_without_room)
{
    static const char *const names[] = { "p.gguf", "p.safetensors", "p.npz", "p.h5" };
    static const tsr_writer_opts plain = { .no_sync = true };
    static const tsr_writer_opts shards = { .no_sync = true, .shard_bytes = 512 };
    for (int i = 0; i < 4; i++) EXPECT_EACH_REFUSAL(write_file(names[i], &plain));
    EXPECT_EACH_REFUSAL(write_file("s.safetensors", &shards));
    size_t bytes = 0;
    EXPECT_OK(write_file(names[0], &plain));
    unsigned char *data = read_bytes(file_path(names[0]), &bytes);
    if (data) expect_opens(data, bytes, ".gguf");
    free(data);
}

/* Tensors of these names, NULL: none, declared first or not. */
static tsr_status write_names(const char *name, const tsr_writer_opts *opts, bool declare,
                              const char *first, const char *second)
{
    tsr_writer *w = NULL;
    const char *const names[] = { first, second };
    tsr_status s = tsr_writer_create(&w, file_path(name), opts);
    for (int i = 0; i < 2 && names[i] && declare && s == TSR_OK; i++)
        s = tsr_writer_declare(w, names[i], &numbers->desc, NULL);
    for (int i = 0; i < 2 && names[i] && s == TSR_OK; i++) s = tsr_writer_add(w, names[i], numbers, NULL);
    if (s == TSR_OK) return tsr_writer_finish(&w);
    tsr_writer_cancel(&w);
    return s;
}

TEST(test_each_name_that_a_writer_keeps_is_once_without_room)
{
    static const tsr_writer_opts plain = { .no_sync = true };
    static const tsr_writer_opts shards = { .no_sync = true, .shard_bytes = 512 };
    EXPECT_EACH_REFUSAL(write_names("n.npz", &plain, false, "", NULL));
    EXPECT_EACH_REFUSAL(write_names("n.h5", &plain, false, "g/h/a", "g/b"));
    EXPECT_EACH_REFUSAL(write_names("n.safetensors", &shards, true, "a", "b"));
    EXPECT_EACH_REFUSAL(write_names("n.safetensors", &shards, false, NULL, NULL));
}

static tsr_status save(const char *name, const tsr_tensor *t)
{
    return tsr_file_save(file_path(name), t);
}

/* In several pieces, each of which is packed. */
TEST(test_strided_tensors_are_written_or_there_is_no_memory_to_pack_them)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_U8, TSR_SHAPE(3 << 20, 4)));
    EXPECT_OK(tsr_transpose(&t, t, 0, 1));
    EXPECT_EACH_REFUSAL(save("strided.npy", t));
    tsr_release(&t);
}

/* So many that lists and tables grow. */
static tsr_status write_keys(void)
{
    tsr_writer *w = NULL;
    char key[16];
    tsr_status s = tsr_writer_create(&w, file_path("keys.gguf"), &(tsr_writer_opts){ .no_sync = true });
    for (int i = 0; i < 40 && s == TSR_OK; i++) {
        snprintf(key, sizeof key, "%d", i);
        s = tsr_writer_text(w, key, "x");
    }
    tsr_writer_cancel(&w);
    return s;
}

TEST(test_tables_of_names_grow_or_say_that_they_cannot)
{
    EXPECT_EACH_REFUSAL(write_keys());
}

/* Reading ------------------------------------------------------------------------------ */

static tsr_status read_rows(const char *path, const char *name, bool copy)
{
    tsr_file *f = NULL;
    tsr_tensor *t = NULL;
    tsr_status s = tsr_file_open(&f, path, &(tsr_file_opts){ .copy = copy });
    if (s == TSR_OK) s = tsr_file_read_slice(&t, f, name, 1, (tsr_file_range[]){ { 0, 1, 1 } });
    tsr_release(&t);
    if (s == TSR_OK) s = tsr_file_read_slice(&t, f, name, 1, (tsr_file_range[]){ { 1, TSR_NONE, -1 } });
    tsr_file_close(&f);
    tsr_release(&t);
    return s;
}

static const char *const rows[][2] = {
    { "tests/data/files/quant.gguf", "q8_0" },   { "tests/data/files/c0d8i0.png", NULL },
    { "tests/data/files/deflated.npz", "f4" },   { "tests/data/files/stored.npz", "f4" },
    { "tests/data/files/fortran.npy", NULL },    { "tests/data/files/tensors.safetensors", "f4" },
    { "tests/data/files/tensors.h5", "plain/f4" },  { "tests/data/files/tensors.h5", "packed/f4" },
    { "tests/data/files/tensors.pt", "views.part" }, { "tests/data/files/raw.onnx", "int4" },
    { "tests/data/files/numbers.onnx", "f8" },
};
enum { ROWS = sizeof rows / sizeof *rows };

static tsr_status load(const char *path, const char *name)
{
    tsr_tensor *t = NULL;
    const tsr_status s = tsr_file_load(&t, path, name);
    tsr_release(&t);
    return s;
}

/* Where libturbojpeg is not installed, a photograph is listed, and not read or written. */
TEST(test_photographs_are_read_and_written_or_there_is_no_memory_for_them)
{
    static const char photo[] = "tests/data/files/photo.jpg";
    tsr_tensor *t = NULL;
    if (load(photo, NULL) == TSR_EUNSUPPORTED) SKIP("libturbojpeg is not installed");
    EXPECT_EACH_REFUSAL(load(photo, NULL));
    EXPECT_EACH_REFUSAL(read_rows(photo, NULL, false));
    EXPECT_OK(tsr_zeros(&t, TSR_U8, TSR_SHAPE(30, 20)));
    EXPECT_OK(tsr_transpose(&t, t, 0, 1));
    EXPECT_EACH_REFUSAL(save("t.jpg", t));
    tsr_release(&t);
}

TEST(test_parts_are_read_or_there_is_no_memory_for_them)
{
    for (int i = 0; i < ROWS; i++)
        for (int copy = 0; copy < 2; copy++) EXPECT_EACH_REFUSAL(read_rows(rows[i][0], rows[i][1], copy));
    for (int i = 0; i < ROWS; i++) EXPECT_EACH_REFUSAL(load(rows[i][0], rows[i][1]));
    write_bytes(file_path("t.pgm"), "P2 2 2 9 1 2 3 4 ", 17);
    write_bytes(file_path("t.csv"), "1,2\n3,4\n", 8);
    EXPECT_EACH_REFUSAL(read_rows(file_path("t.pgm"), NULL, false));
    EXPECT_EACH_REFUSAL(read_rows(file_path("t.csv"), NULL, false));
    EXPECT_EACH_REFUSAL(load("tests/data/files/deflated.pt", "i8"));
}

static int fail_maps(tsri_system_call call, size_t *bytes)
{
    (void)bytes;
    return call == TSRI_MAP ? ENODEV : 0;
}

/* Neither pages to write on nor pages to read. */
TEST(test_files_that_cannot_be_mapped_are_told_or_read)
{
    write_bytes(file_path("t.pgm"), "P2 2 2 9 1 2 3 4 ", 17);
    write_bytes(file_path("t.csv"), "1,2\n3,4\n", 8);
    tsri_system_fault = fail_maps;
    for (int i = 0; i < ROWS; i++)
        for (int copy = 0; copy < 2; copy++) {
            const bool reads = strstr(rows[i][0], "png") || strstr(rows[i][0], "onnx") ||
                               (copy && (strstr(rows[i][0], "gguf") || strstr(rows[i][0], ".pt"))) ||
                               (rows[i][1] && strstr(rows[i][1], "packed"));
            if (reads) EXPECT_OK(read_rows(rows[i][0], rows[i][1], copy));
            else EXPECT_FAILS(read_rows(rows[i][0], rows[i][1], copy), TSR_EIO, strerror(ENODEV));
        }
    EXPECT_FAILS(read_rows(file_path("t.pgm"), NULL, false), TSR_EIO, strerror(ENODEV));
    EXPECT_FAILS(read_rows(file_path("t.csv"), NULL, false), TSR_EIO, strerror(ENODEV));
    tsr_tensor *t = NULL;
    tsr_file *f = NULL;
    EXPECT_FAILS(load("tests/data/files/deflated.npz", "f4"), TSR_EIO, strerror(ENODEV));
    EXPECT_FAILS(load("tests/data/files/deflated.pt", "i8"), TSR_EIO, strerror(ENODEV));
    EXPECT_OK(tsr_file_open(&f, "tests/data/files/quant.gguf", NULL));
    EXPECT_FAILS(tsr_file_read(&t, f, "q8_0"), TSR_EIO, strerror(ENODEV));
    EXPECT_OK(tsr_file_open(&f, "tests/data/files/v1.npy", &(tsr_file_opts){ .copy = true }));
    EXPECT_OK(tsr_file_read(&t, f, NULL));
    tsri_system_fault = NULL;
    EXPECT(t && tsr_numel(t) == 24);
    tsr_release(&t);
    tsr_file_close(&f);
}

/* The pickle of a checkpoint is read, and its deflated storage is the first that is to be mapped. */
TEST(test_a_deflated_storage_that_cannot_be_mapped_is_told)
{
    static const char pickle[] = "\x80\2" "ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storage"
                                 "ctorch\nByteStorage\n"
                                 "X\1\0\0\0" "0X\3\0\0\0cpuJ\3\0\0\0tQK\0K\3\x85K\1\x85\x89NtR.",
                      deflated[] = "\1\3\0\xfc\xff" "abc";
    const zip_member members[] = { { "x/data.pkl", pickle, sizeof pickle - 1 }, { "x/data/0", deflated, 8 } };
    unsigned char zip[1024];
    tsr_tensor *t = NULL;
    const size_t n = zip_make(zip, members, 2), local = 30 + 10 + sizeof pickle - 1,
                 central = local + 30 + 8 + 8 + 46 + 10;
    for (int i = 0; i < 2; i++) {
        unsigned char *p = zip + (i ? central + 10 : local + 8);
        tsri_set16(p, 8);
        tsri_set32(p + 6, tsri_crc32(0, "abc", 3));
        tsri_set32(p + 14, 3);
    }
    write_bytes(file_path("d.pt"), zip, n);
    tsri_system_fault = fail_maps;
    EXPECT_FAILS(tsr_file_load(&t, file_path("d.pt"), NULL), TSR_EIO, strerror(ENODEV));
    tsri_system_fault = NULL;
    EXPECT_OK(tsr_file_load(&t, file_path("d.pt"), NULL));
    EXPECT(t && tsr_numel(t) == 3 && memcmp(t->data, "abc", 3) == 0);
    tsr_release(&t);
}

/* A table of 200000 bytes through a pipe, which holds less. */
static tsr_status read_long_pipe(void)
{
    int ends[2];
    char path[40];
    tsr_file *f = NULL;
    EXPECT(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGPIPE, SIG_DFL);
        close(ends[0]);
        for (int i = 0; i < 50000; i++)
            if (write(ends[1], "1,2\n", 4) != 4) _exit(1);
        _exit(0);
    }
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    const tsr_status s = tsr_file_open(&f, path, &(tsr_file_opts){ .format = "csv" });
    tsr_file_entry e = { .name = NULL };
    if (s == TSR_OK) EXPECT(tsr_file_list(&e, f, 0) == TSR_OK && e.desc.shape[0] == 50000);
    tsr_file_close(&f);
    close(ends[0]);
    EXPECT(waitpid(child, NULL, 0) == child);
    return s;
}

TEST(test_a_pipe_is_read_or_there_is_no_memory_for_it) { EXPECT_EACH_REFUSAL(read_long_pipe()); }

/* The system --------------------------------------------------------------------------- */

/* The first call fails, the second, ... until none does; what fails says why. */
#define EXPECT_EACH_FAULT(call)                                                                       \
    do {                                                                                              \
        bool more_ = true;                                                                            \
        for (int n_ = 1; more_ && n_ < 400; n_++) {                                                   \
            fault_arm(n_, ENXIO);                                                                     \
            const tsr_status s_ = (call);                                                             \
            fault_disarm();                                                                           \
            more_ = fault.fired;                                                                      \
            EXPECT_MSG(s_ == TSR_OK || (s_ == TSR_EIO && strstr(tsr_last_error(), strerror(ENXIO))),  \
                       "%s, call %d: %s: %s", #call, n_, tsr_status_name(s_), tsr_last_error());      \
        }                                                                                             \
        EXPECT(!more_);                                                                               \
    } while (0)

/* Files that take several writes or reads of each kind. */
TEST(test_long_files_survive_a_disk_that_fails)
{
    tsr_tensor *image = NULL, *wide = NULL;
    EXPECT_OK(tsr_full(&image, TSR_U8, TSR_SHAPE(700, 900), TSR_SCALAR(7)));
    EXPECT_OK(tsr_full(&wide, TSR_U16, TSR_SHAPE(100, 300), TSR_SCALAR(700)));
    EXPECT_EACH_FAULT(save("f.png", image));
    EXPECT_EACH_FAULT(save("f.pgm", wide));
    EXPECT_EACH_FAULT(save("f.csv", wide));
    tsr_release_all(&image, &wide);
    enum { LONG = 200000 };
    char *text = calloc(1, LONG + 1);
    tsr_writer *w = NULL;
    memset(text, 't', LONG);
    EXPECT_OK(tsr_writer_create(&w, file_path("f.gguf"), NULL));
    EXPECT_OK(tsr_writer_text(w, "text", text));
    EXPECT_OK(tsr_writer_meta(w, &(tsr_meta){ .key = "numbers", .type = TSR_META_NUMBERS, .dtype = TSR_U8,
                                              .count = 150000, .data = text }));
    EXPECT_OK(tsr_writer_text(w, "more", text + LONG - 60000));
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_EACH_FAULT(open_path(file_path("f.gguf")));
    free(text);
}

/* An empty zip file whose directory is found through a record of 64 bits. */
static size_t make_zip64(unsigned char *p)
{
    memset(p, 0, 98);
    memcpy(p, "PK\6\6\x2c", 5);
    memcpy(p + 56, "PK\6\7", 4);
    memcpy(p + 76, "PK\5\6\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 20);
    return 98;
}

static tsr_status open_zip(const unsigned char *zip, size_t bytes)
{
    write_bytes(file_path("z.npz"), zip, bytes);
    return open_path(file_path("z.npz"));
}

TEST(test_records_of_64_bits_are_found_or_told)
{
    unsigned char zip[128];
    const size_t bytes = make_zip64(zip);
    EXPECT_EACH_FAULT(open_zip(zip, bytes));
    EXPECT_OK(open_zip(zip, bytes));
    zip[64] = 50;  /* the place of the record: too far back */
    EXPECT_FAILS(open_zip(zip, bytes), TSR_EFORMAT, "the zip64 record takes 56 bytes");
    zip[64] = 1;
    EXPECT_FAILS(open_zip(zip, bytes), TSR_EFORMAT, "byte 1: expected a zip64 record");
    zip[64] = 0;
    zip[56] = 'p';
    EXPECT_FAILS(open_zip(zip, bytes), TSR_EFORMAT, "expected a zip64 locator");
    EXPECT_FAILS(open_zip(zip + 76, 22), TSR_EFORMAT, "no room for a zip64 locator");
}

static int opens, links, of_links;

static int names_are_taken(tsri_system_call call, size_t *bytes)
{
    (void)bytes;
    return call != TSRI_OPEN ? 0 : opens++ == 0 ? EOPNOTSUPP : EEXIST;
}

static int some_links_are_taken(tsri_system_call call, size_t *bytes)
{
    (void)bytes;
    return call == TSRI_LINK && links++ < of_links ? EEXIST : 0;
}

TEST(test_names_that_are_taken_are_passed_over)
{
    const int before = count_names(files_folder);
    opens = 0;
    tsri_system_fault = names_are_taken;
    EXPECT_FAILS(save("taken.npy", numbers), TSR_EIO, "cannot create a file beside it: File exists");
    EXPECT(opens == 10001);
    tsri_system_fault = some_links_are_taken;
    links = 0, of_links = 3;
    EXPECT_OK(save("taken.npy", numbers));
    EXPECT(links == 4 && count_names(files_folder) == before + 1);
    links = 0, of_links = INT32_MAX;
    EXPECT_OK(save("taken.npy", numbers));  /* under a name of its own */
    tsri_system_fault = NULL;
    EXPECT(links == 10000 && count_names(files_folder) == before + 1);
}

static tsr_status save_unsynced(void)
{
    tsr_writer *w = NULL;
    tsr_status s = tsr_writer_create(&w, file_path("unsynced.npy"), &(tsr_writer_opts){ .no_sync = true });
    if (s == TSR_OK) s = tsr_writer_add(w, NULL, numbers, NULL);
    if (s == TSR_OK) return tsr_writer_finish(&w);
    tsr_writer_cancel(&w);
    return s;
}

TEST(test_files_that_can_be_given_no_name_are_copied)
{
    tsr_tensor *back = NULL;
    fault.cannot_link = true;
    for (int replaces = 0; replaces < 2; replaces++) {
        fault_arm(0, 0);
        EXPECT_EACH_REFUSAL(save_unsynced());
        fault_disarm();
        EXPECT_OK(tsr_file_load(&back, file_path("unsynced.npy"), NULL));
        EXPECT(same_bits(back, numbers));
        tsr_release(&back);
        EXPECT_EACH_FAULT(save_unsynced());
    }
    fault.cannot_link = false;
}

static int cut_file;

static int cut_before_reading(tsri_system_call call, size_t *bytes)
{
    (void)bytes;
    if (call == TSRI_READ) EXPECT(ftruncate(cut_file, 0) == 0);
    return 0;
}

/* Another program cuts the file while it is written and read back. */
TEST(test_a_file_that_is_cut_while_it_is_written_is_told)
{
    tsr_writer *w = NULL;
    cut_file = dup(0);
    EXPECT(cut_file >= 0 && close(cut_file) == 0);
    EXPECT_OK(tsr_writer_create(&w, file_path("cut.safetensors"), NULL));  /* takes the same descriptor */
    EXPECT_OK(tsr_writer_add(w, "a", numbers, NULL));
    EXPECT_OK(tsr_writer_add(w, "a name that needs a longer header than there was before", numbers, NULL));
    tsri_system_fault = cut_before_reading;
    EXPECT_FAILS(tsr_writer_finish(&w), TSR_EIO, "cut short while it was written");
    tsri_system_fault = NULL;
    EXPECT(!file_exists(file_path("cut.safetensors")));
}

static int fail_writes(tsri_system_call call, size_t *bytes)
{
    (void)bytes;
    return call == TSRI_WRITE ? ENOSPC : 0;
}

TEST(test_a_writer_that_failed_takes_nothing_more)
{
    tsr_writer *w = NULL;
    EXPECT_OK(tsr_writer_create(&w, file_path("broken.safetensors"), NULL));
    tsri_system_fault = fail_writes;
    EXPECT_FAILS(tsr_writer_add(w, "a", numbers, NULL), TSR_EIO, strerror(ENOSPC));
    tsri_system_fault = NULL;
    EXPECT_FAILS(tsr_writer_add(w, "b", numbers, NULL), TSR_EINVAL, "an earlier call failed");
    EXPECT_FAILS(tsr_writer_declare(w, "b", &numbers->desc, NULL), TSR_EINVAL, "an earlier call failed");
    EXPECT_FAILS(tsr_writer_finish(&w), TSR_EINVAL, "an earlier call failed");
    EXPECT(w == NULL && !file_exists(file_path("broken.safetensors")));
}

/* More writers than the table of temporary files has places. */
TEST(test_temporary_files_are_abandoned_by_the_process_that_made_them)
{
    enum { WRITERS = 260, PLACES = 256 };
    static tsr_writer *w[WRITERS];
    char name[32];
    const int before = count_names(files_folder);
    fault.is_named = true;
    for (int i = 0; i < WRITERS; i++) {
        snprintf(name, sizeof name, "w%d.npy", i);
        fault_arm(0, 0);
        EXPECT_OK(tsr_writer_create(&w[i], file_path(name), NULL));
    }
    fault.is_named = false;
    fault_disarm();
    const pid_t child = fork();
    if (child == 0) {
        tsr_writer_abandon_all();
        exit(0);
    }
    EXPECT(waitpid(child, NULL, 0) == child && count_names(files_folder) == before + WRITERS);
    tsr_writer_abandon_all();
    EXPECT(count_names(files_folder) == before + WRITERS - PLACES);
    for (int i = 0; i < WRITERS; i++) tsr_writer_cancel(&w[i]);
    EXPECT(count_names(files_folder) == before);
}

TEST_BEFORE
{
    fault_folder();
    EXPECT_OK(tsr_arange(&numbers, TSR_F32, TSR_SCALAR(0), TSR_SCALAR(128), TSR_SCALAR(1)));
    EXPECT_OK(tsr_view(&numbers, numbers, TSR_SHAPE(32, 4)));
    EXPECT_OK(tsr_transpose(&numbers, numbers, 0, 1));
}

TEST_AFTER
{
    tsr_release(&numbers);
    files_remove();
}
