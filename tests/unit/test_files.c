/* test_files.c - one interface to all formats: opening, listing, reading in parts, writing whole. */
#define _GNU_SOURCE 1 /* mkdtemp, usleep */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "core/system.h"
#include "io/nearest.h"
#include "unit/files.h"

static const char *const both[] = { "x.npy", "x.safetensors" };

/* Round trips -------------------------------------------------------------------------- */

static bool has_dtype(const char *name, tsr_dtype dtype)
{
    if (strstr(name, ".npy"))
        return dtype != TSR_BF16 && dtype != TSR_F8E4M3 && dtype != TSR_F8E5M2 && dtype != TSR_C32;
    return dtype != TSR_C32 && dtype != TSR_C128;
}

TEST(test_what_is_saved_is_loaded_whatever_its_strides_and_dtype)
{
    uint64_t r = 1;
    for (int i = 0; i < 2; i++)
        for (int dtype = 1; dtype < TSR_DTYPE_COUNT; dtype++) {
            if (!has_dtype(both[i], (tsr_dtype)dtype)) continue;
            for (int k = 0; k < 20; k++) {
                tsr_tensor *t = any_tensor(&r, (tsr_dtype)dtype, 5), *back = NULL;
                EXPECT(t != NULL);
                EXPECT_OK(tsr_file_save(file_path(both[i]), t));
                EXPECT_OK(tsr_file_load(&back, file_path(both[i]), NULL));
                EXPECT_MSG(same_bits(t, back), "%s %s", both[i], tsr_dtype_name((tsr_dtype)dtype));
                tsr_release_all(&t, &back);
            }
        }
}

TEST(test_large_strided_tensors_are_written_in_pieces)
{
    tsr_tensor *t = NULL, *v = NULL, *back = NULL;
    EXPECT_OK(tsr_arange(&t, TSR_F32, TSR_SCALAR(0), TSR_SCALAR(3000000), TSR_SCALAR(1)));
    EXPECT_OK(tsr_view(&t, t, TSR_SHAPE(3, 1000, 1000)));
    EXPECT_OK(tsr_permute(&v, t, TSR_AXES(2, 0, 1)));
    EXPECT_OK(tsr_file_save(file_path("big.npy"), v));
    EXPECT_OK(tsr_file_load(&back, file_path("big.npy"), NULL));
    EXPECT(same_bits(v, back));
    tsr_release_all(&t, &v, &back);
}

/* Reading ------------------------------------------------------------------------------ */

TEST(test_slices_equal_slices_of_the_whole)
{
    uint64_t r = 7;
    for (int k = 0; k < 400; k++) {
        const tsr_dtype dtype = (tsr_dtype)(1 + test_below(&r, TSR_DTYPE_COUNT - 1));
        const char *name = both[k % 2];
        tsr_tensor *t, *part = NULL, *want = NULL;
        tsr_file *f = NULL;
        tsr_file_range ranges[TSR_MAX_NDIM];
        if (!has_dtype(name, dtype)) continue;
        t = any_tensor(&r, dtype, 4);
        EXPECT_OK(tsr_file_save(file_path(name), t));
        EXPECT_OK(tsr_file_open(&f, file_path(name), &(tsr_file_opts){ .copy = test_below(&r, 2) }));
        EXPECT_OK(tsr_contiguous(&want, t));
        int n = 0;
        for (int axis = 0; n < t->ndim && test_below(&r, 5); n++) {
            const int64_t size = t->shape[n];
            const int64_t a = test_below(&r, size + 1), b = a + test_below(&r, size - a + 1);
            if (size > 0 && test_below(&r, 3) == 0) {
                ranges[n] = (tsr_file_range){ .start = test_below(&r, size) };
                EXPECT_OK(tsr_select(&want, want, axis, ranges[n].start));
            } else {
                ranges[n] = test_below(&r, 3)
                                ? (tsr_file_range){ a, b, 1 + test_below(&r, 3) }
                                : (tsr_file_range){ TSR_NONE, TSR_NONE, -1 - test_below(&r, 2) };
                EXPECT_OK(tsr_slice(&want, want, axis++, ranges[n].start, ranges[n].stop, ranges[n].step));
            }
        }
        EXPECT_OK(tsr_file_read_slice(&part, f, NULL, n, ranges));
        EXPECT_MSG(same_bits(part, want), "%s %s, case %d", name, tsr_dtype_name(dtype), k);
        tsr_release(&part);  /* and into a tensor that is there */
        EXPECT_OK(tsr_empty_like(&part, want));
        EXPECT_OK(tsr_file_read_slice(&part, f, NULL, n, ranges));
        EXPECT(same_bits(part, want));
        tsr_release_all(&part, &want, &t);
        tsr_file_close(&f);
    }
}

TEST(test_reading_maps_what_is_aligned_and_the_file_never_changes)
{
    tsr_tensor *t = NULL, *a = NULL, *b = NULL;
    tsr_file *f = NULL;
    tsr_file_entry e;
    EXPECT_OK(tsr_full(&t, TSR_F64, TSR_SHAPE(100, 10), TSR_SCALAR(2.5)));
    EXPECT_OK(tsr_file_save(file_path("m.npy"), t));
    EXPECT_OK(tsr_file_open(&f, file_path("m.npy"), NULL));
    EXPECT_OK(tsr_file_find(&e, f, NULL));
    EXPECT(e.mapped && e.offset % 64 == 0 && e.bytes == 8000 && strcmp(e.encoding, "<f8") == 0);
    EXPECT_OK(tsr_file_read(&a, f, NULL));
    EXPECT(tsr_memory_of(a) == TSR_MEMORY_FILE);
    EXPECT_OK(tsr_fill(a, TSR_SCALAR(1)));  /* pages of its own */
    tsr_file_close(&f);
    EXPECT_OK(tsr_file_load(&b, file_path("m.npy"), ""));
    EXPECT(same_bits(b, t) && !same_bits(a, t));
    tsr_release(&b);
    EXPECT_OK(tsr_file_open(&f, file_path("m.npy"), &(tsr_file_opts){ .copy = true }));
    EXPECT_OK(tsr_file_read(&b, f, NULL));
    EXPECT(tsr_memory_of(b) == TSR_MEMORY_HOST && same_bits(b, t));
    tsr_file_close(&f);
    tsr_release_all(&t, &a, &b);
}

/* Results beside a mapped tensor are in memory: no op makes a file. */
TEST(test_ops_on_mapped_tensors_make_results_in_memory)
{
    tsr_tensor *t = NULL, *x = NULL, *z = NULL;
    EXPECT_OK(tsr_uniform(&t, TSR_F32, TSR_SHAPE(64, 32), 0, 1, 1));
    EXPECT_OK(tsr_file_save(file_path("o.npy"), t));
    EXPECT_OK(tsr_file_load(&x, file_path("o.npy"), NULL));
    EXPECT(tsr_memory_of(x) == TSR_MEMORY_FILE);
    for (int i = 0; i < 8; i++) {
        switch (i) {
        case 0: EXPECT_OK(tsr_softmax(&z, x, 0)); break;
        case 1: EXPECT_OK(tsr_rms_norm(&z, x, NULL, 1e-5)); break;
        case 2: EXPECT_OK(tsr_clone(&z, x)); break;
        case 3: EXPECT_OK(tsr_shuffle(&z, x, 0, 1)); break;
        case 4: EXPECT_OK(tsr_multinomial(&z, x, 4, true, 1)); break;
        case 5: EXPECT_OK(tsr_sample(&z, x, 1, 8, 0.9, 1)); break;
        case 6: EXPECT_OK(tsr_zeros_like(&z, x)); break;
        case 7: EXPECT_OK(tsr_sort(&z, x, 0, false)); break;
        }
        EXPECT_MSG(tsr_memory_of(z) == TSR_MEMORY_HOST, "case %d", i);
        tsr_release(&z);
    }
    tsr_release_all(&t, &x);
}

TEST(test_tensors_are_read_into_what_is_given_if_it_fits)
{
    tsr_tensor *t = NULL, *out = NULL, *wide = NULL;
    tsr_file *f = NULL;
    EXPECT_OK(tsr_arange(&t, TSR_I32, TSR_SCALAR(0), TSR_SCALAR(12), TSR_SCALAR(1)));
    EXPECT_OK(tsr_view(&t, t, TSR_SHAPE(3, 4)));
    EXPECT_OK(tsr_file_save(file_path("g.npy"), t));
    EXPECT_OK(tsr_file_open(&f, file_path("g.npy"), NULL));
    EXPECT_OK(tsr_zeros(&wide, TSR_I32, TSR_SHAPE(3, 8)));
    EXPECT_OK(tsr_slice(&out, wide, 1, 0, 8, 2));
    EXPECT_OK(tsr_file_read(&out, f, NULL));
    EXPECT(same_bits(out, t) && TSR_AT(int32_t, wide, 1, 1) == 0);
    tsr_release(&out);
    EXPECT_OK(tsr_zeros(&out, TSR_I32, TSR_SHAPE(4, 3)));
    EXPECT_FAILS(tsr_file_read(&out, f, NULL), TSR_ESHAPE, "i32(4, 3");
    tsr_release(&out);
    EXPECT_OK(tsr_zeros(&out, TSR_F32, TSR_SHAPE(3, 4)));
    EXPECT_FAILS(tsr_file_read(&out, f, NULL), TSR_EDTYPE, "f32(3, 4");
    EXPECT_FAILS(tsr_file_read_slice(&out, f, NULL, 1, (tsr_file_range[]){ TSR_FILE_AT(1) }), TSR_EDTYPE,
                 "f32(3, 4");
    EXPECT_FAILS(tsr_file_read_raw(&out, f, NULL), TSR_EDTYPE, "u8(48");
    tsr_release(&out);
    EXPECT_OK(tsr_wrap_const(&out, wide->data, &t->desc));
    EXPECT_STATUS(tsr_file_read(&out, f, NULL), TSR_EREADONLY);
    tsr_file_close(&f);
    tsr_release_all(&out, &wide, &t);
}

TEST(test_a_pipe_is_read_to_its_end)
{
    tsr_tensor *t = NULL, *back = NULL;
    size_t bytes = 0;
    EXPECT_OK(tsr_arange(&t, TSR_F64, TSR_SCALAR(0), TSR_SCALAR(40000), TSR_SCALAR(1)));
    EXPECT_OK(tsr_file_save(file_path("p.npy"), t));
    unsigned char *data = read_bytes(file_path("p.npy"), &bytes);
    int ends[2];
    char path[40];
    EXPECT(pipe(ends) == 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        for (size_t done = 0; done < bytes;) {
            const ssize_t n = write(ends[1], data + done, bytes - done);
            if (n <= 0) _exit(1);
            done += (size_t)n;
        }
        _exit(0);
    }
    close(ends[1]);
    EXPECT_OK(tsr_file_load(&back, path, NULL));
    EXPECT(same_bits(back, t));
    close(ends[0]);
    EXPECT(waitpid(child, NULL, 0) == child);
    free(data);
    tsr_release_all(&t, &back);
}

/* One that nobody writes to would keep its reader for ever, and a device never end. */
TEST(test_pipes_sockets_and_devices_are_no_files)
{
    tsr_file *f = NULL;
    const char *fifo = file_path("fifo.npy"), *link = file_path("endless.npy");
    EXPECT(mkfifo(fifo, 0600) == 0 && symlink("/dev/zero", link) == 0);
    EXPECT_FAILS(tsr_file_open(&f, fifo, NULL), TSR_EIO, "is a pipe; regular files are read");
    EXPECT_FAILS(tsr_file_open(&f, link, NULL), TSR_EIO, "is a device; regular files are read");
    EXPECT_FAILS(tsr_file_open(&f, files_folder, NULL), TSR_EIO, "is a folder");
    EXPECT(unlink(fifo) == 0 && unlink(link) == 0);
}

/* Opening a file costs its list, and reading a tensor of it nothing, however large they are. */
TEST(test_a_large_file_opens_at_once)
{
    enum { TENSORS = 1000, HEADER = 1 << 17 };
    static char header[HEADER];
    const unsigned long long each = 10000000;
    const char *path = file_path("sparse.safetensors");
    size_t n = 8 + (size_t)snprintf(header + 8, HEADER - 8, "{");
    for (int i = 0; i < TENSORS; i++)
        n += (size_t)snprintf(
            header + n, HEADER - n,
            "%s\"w%d\":{\"dtype\":\"F32\",\"shape\":[1000,2500],\"data_offsets\":[%llu,%llu]}", i ? "," : "",
            i, (unsigned long long)i * each, (unsigned long long)(i + 1) * each);
    header[n++] = '}';
    while (n % 64) header[n++] = ' ';
    for (int i = 0; i < 8; i++) header[i] = (char)((n - 8) >> 8 * i);
    write_bytes(path, header, n);
    if (truncate(path, (off_t)(n + TENSORS * each)) != 0) SKIP("no files of 10 GB here");
    tsr_file *f = NULL;
    tsr_tensor *t = NULL;
    tsr_file_entry e;
    EXPECT_OK(tsr_file_open(&f, path, NULL));
    EXPECT(tsr_file_count(f) == TENSORS);
    EXPECT_OK(tsr_file_find(&e, f, "w999"));
    EXPECT(e.mapped && e.offset == n + 999 * each);
    EXPECT_OK(tsr_file_read(&t, f, "w999"));
    EXPECT(tsr_memory_of(t) == TSR_MEMORY_FILE && TSR_AT(float, t, 999, 2499) == 0);
    tsr_release(&t);
    tsr_file_close(&f);
    unlink(path);
}

typedef struct readers { const tsr_file *file; const tsr_tensor *want; } readers;

static tsr_status read_some(void *context, int64_t begin, int64_t end)
{
    const readers *r = context;
    for (int64_t i = begin; i < end; i++) {
        tsr_tensor *t = NULL;
        char name[16];
        snprintf(name, sizeof name, "t%d", (int)(i % 4));
        TSR_TRY(tsr_file_read(&t, r->file, name));
        const bool same = same_bits(t, r->want);
        tsr_release(&t);
        if (!same) return TSR_EFORMAT;
    }
    return TSR_OK;
}

TEST(test_one_file_serves_many_threads)
{
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_arange(&t, TSR_F32, TSR_SCALAR(0), TSR_SCALAR(1000), TSR_SCALAR(1)));
    for (int compress = 0; compress < 2; compress++) {
        tsr_writer *w = NULL;
        EXPECT_OK(tsr_writer_create(&w, file_path("many.npz"), &(tsr_writer_opts){ .compress = compress }));
        for (int i = 0; i < 4; i++)
            EXPECT_OK(tsr_writer_add(w, (const char *[]){ "t0", "t1", "t2", "t3" }[i], t, NULL));
        EXPECT_OK(tsr_writer_finish(&w));
        for (int round = 0; round < 20; round++) {
            tsr_file *f = NULL;
            EXPECT_OK(tsr_file_open(&f, file_path("many.npz"), NULL));
            EXPECT_OK(tsr_parallel_for(64, 1, read_some, &(readers){ f, t }));
            tsr_file_close(&f);
        }
    }
    tsr_release(&t);
}

TEST(test_raw_bytes_take_the_shape_they_are_given)
{
    static const float numbers[] = { 1, 2, 3, 4, 5, 6 };
    tsr_tensor *t = NULL;
    tsr_file *f = NULL;
    write_bytes(file_path("n.bin"), numbers, sizeof numbers);
    EXPECT_FAILS(tsr_file_open(&f, file_path("n.bin"), NULL), TSR_EINVAL, "opts.dtype");
    EXPECT_OK(tsr_file_open(&f, file_path("n.bin"),
                            &(tsr_file_opts){ .dtype = TSR_F32, .ndim = 2, .shape = (int64_t[]){ -1, 2 } }));
    EXPECT_OK(tsr_file_read(&t, f, NULL));
    EXPECT(t->ndim == 2 && t->shape[0] == 3 && TSR_AT(float, t, 2, 1) == 6);
    tsr_release(&t);
    EXPECT_OK(tsr_file_open(&f, file_path("n.bin"), &(tsr_file_opts){ .dtype = TSR_F32, .offset = 8 }));
    EXPECT_OK(tsr_file_read(&t, f, NULL));
    EXPECT(t->ndim == 1 && t->shape[0] == 4 && TSR_AT(float, t, 0) == 3);
    tsr_release(&t);
    EXPECT_OK(tsr_file_open(
        &f, file_path("n.bin"),
        &(tsr_file_opts){ .dtype = TSR_F32, .offset = 2, .ndim = 1, .shape = (int64_t[]){ 4 } }));
    EXPECT_OK(tsr_file_read(&t, f, NULL));  /* at an odd address: copied */
    EXPECT(tsr_memory_of(t) == TSR_MEMORY_HOST && memcmp(t->data, (const char *)numbers + 2, 16) == 0);
    tsr_release(&t);
    EXPECT_OK(tsr_file_read_slice(&t, f, NULL, 1, &(tsr_file_range){ TSR_NONE, TSR_NONE, -2 }));
    EXPECT(memcmp(t->data, (const char *)numbers + 14, 4) == 0 && t->shape[0] == 2);
    tsr_release(&t);
    EXPECT_FAILS(tsr_file_open(&f, file_path("n.bin"),
                               &(tsr_file_opts){ .dtype = TSR_F32, .ndim = 1, .shape = (int64_t[]){ 7 } }),
                 TSR_EFORMAT, "28 bytes");
    EXPECT_FAILS(
        tsr_file_open(&f, file_path("n.bin"),
                      &(tsr_file_opts){ .dtype = TSR_F32, .ndim = 2, .shape = (int64_t[]){ -1, 4 } }),
        TSR_ESHAPE, "worked out");
    EXPECT_FAILS(
        tsr_file_open(&f, file_path("n.bin"),
                      &(tsr_file_opts){ .dtype = TSR_F32, .ndim = 2, .shape = (int64_t[]){ -1, -1 } }),
        TSR_ESHAPE, "(-1, -1)");
    EXPECT_FAILS(tsr_file_open(&f, file_path("n.bin"), &(tsr_file_opts){ .dtype = TSR_F32, .offset = 25 }),
                 TSR_EFORMAT, "ends at 24");
    write_bytes(file_path("n.bin"), "\0\1\2\xff", 4);  /* a bool is 0 or 1, whatever its byte was */
    EXPECT_OK(tsr_file_open(&f, file_path("n.bin"), &(tsr_file_opts){ .dtype = TSR_BOOL }));
    EXPECT_OK(tsr_file_read(&t, f, NULL));
    EXPECT(memcmp(t->data, "\0\1\1\1", 4) == 0);
    tsr_release(&t);
    EXPECT_OK(tsr_file_read_slice(&t, f, NULL, 1, (tsr_file_range[]){ { 1, 4, 2 } }));
    EXPECT(memcmp(t->data, "\1\1", 2) == 0);
    tsr_release(&t);
    tsr_file_close(&f);
}

/* Writing ------------------------------------------------------------------------------ */

TEST(test_declared_and_undeclared_tensors_make_the_same_file)
{
    uint64_t r = 3;
    tsr_tensor *t[40];
    char names[40][24];
    for (int i = 0; i < 40; i++) {
        t[i] = any_tensor(&r, TSR_F32, 3);
        snprintf(names[i], sizeof names[i], "tensor.%d", i);
    }
    for (int declared = 0; declared < 2; declared++) {
        tsr_writer *w = NULL;
        EXPECT_OK(tsr_writer_create(&w, file_path(declared ? "d.safetensors" : "u.safetensors"), NULL));
        EXPECT_OK(tsr_writer_text(w, "made \"by\"", "a\ntest"));
        for (int i = 0; declared && i < 40; i++)
            EXPECT_OK(tsr_writer_declare(w, names[i], &t[i]->desc, NULL));
        for (int i = 0; i < 40; i++) EXPECT_OK(tsr_writer_add(w, names[i], t[i], NULL));
        EXPECT_OK(tsr_writer_finish(&w));
        EXPECT(w == NULL);
    }
    size_t na = 0, nb = 0;
    unsigned char *a = read_bytes(file_path("d.safetensors"), &na),
                  *b = read_bytes(file_path("u.safetensors"), &nb);
    EXPECT(na == nb && memcmp(a, b, na) == 0);
    tsr_file *f = NULL;
    tsr_meta m;
    EXPECT_OK(tsr_file_open(&f, file_path("u.safetensors"), NULL));
    EXPECT(tsr_file_count(f) == 40 && tsr_file_meta_count(f) == 1 && tsr_file_size(f) == nb);
    EXPECT_OK(tsr_file_find_meta(&m, f, "made \"by\""));
    EXPECT(m.type == TSR_META_TEXT && strcmp(m.text, "a\ntest") == 0 && m.length == 6);
    for (int i = 0; i < 40; i++) {
        tsr_tensor *back = NULL;
        EXPECT_OK(tsr_file_read(&back, f, names[i]));
        EXPECT(same_bits(back, t[i]));
        tsr_release_all(&back, &t[i]);
    }
    tsr_file_close(&f);
    free(a);
    free(b);
}

/* What a file held before, and whether only it is there. */
static void expect_untouched(const char *path, const tsr_tensor *t)
{
    tsr_tensor *back = NULL;
    EXPECT_OK(tsr_file_load(&back, path, NULL));
    EXPECT(same_bits(back, t));
    tsr_release(&back);
}

TEST(test_the_old_file_stays_until_the_new_one_is_complete)
{
    tsr_tensor *t = NULL, *big = NULL;
    tsr_writer *w = NULL;
    const char *path = file_path("old.safetensors");
    EXPECT_OK(tsr_full(&t, TSR_I8, TSR_SHAPE(5), TSR_SCALAR(3)));
    EXPECT_OK(tsr_zeros(&big, TSR_F32, TSR_SHAPE(100000)));
    EXPECT_OK(tsr_file_save(path, t));
    const int files = files_count();
    EXPECT_OK(tsr_writer_create(&w, path, NULL));
    EXPECT_OK(tsr_writer_add(w, "x", big, NULL));
    expect_untouched(path, t);
    EXPECT(files_count() <= files + 1);  /* the temporary file may have no name */
    tsr_writer_cancel(&w);
    expect_untouched(path, t);
    EXPECT(files_count() == files);
    EXPECT_OK(tsr_writer_create(&w, path, NULL));  /* one that is not complete */
    EXPECT_OK(tsr_writer_declare(w, "x", &big->desc, NULL));
    EXPECT_FAILS(tsr_writer_finish(&w), TSR_EINVAL, "not added");
    expect_untouched(path, t);
    EXPECT(files_count() == files);
    tsr_release_all(&t, &big);
}

/* Files without a name are not to be had: the first open fails, and the next makes one with a name. */
static int refuse_first_open(tsri_system_call call, size_t *bytes)
{
    (void)bytes;
    if (call != TSRI_OPEN) return 0;
    tsri_system_fault = NULL;
    return EOPNOTSUPP;
}

static void create_named(tsr_writer **w, const char *path)
{
    tsri_system_fault = refuse_first_open;
    EXPECT_OK(tsr_writer_create(w, path, NULL));
    EXPECT(tsri_system_fault == NULL);
}

TEST(test_a_program_that_ends_can_abandon_its_writers)
{
    tsr_tensor *t = NULL;
    tsr_writer *w = NULL, *other = NULL;
    const char *path = file_path("abandoned.npy");
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(3)));
    const int files = files_count();
    create_named(&w, path);
    create_named(&other, path);
    EXPECT_OK(tsr_writer_add(w, NULL, t, NULL));
    EXPECT(files_count() == files + 2);
    const pid_t child = fork();
    if (child == 0) {  /* a child's own writers are none of these */
        tsr_writer_abandon_all();
        _exit(0);
    }
    EXPECT(waitpid(child, NULL, 0) == child && files_count() == files + 2);
    tsr_writer_abandon_all();
    EXPECT(files_count() == files);
    EXPECT_FAILS(tsr_writer_finish(&w), TSR_EIO, "No such file");
    tsr_writer_cancel(&other);
    create_named(&w, path);
    EXPECT_OK(tsr_writer_add(w, NULL, t, NULL));
    EXPECT_OK(tsr_writer_finish(&w));
    tsr_writer_abandon_all();
    EXPECT(files_count() == files + 1 && file_exists(path));
    tsr_release(&t);
}

/* The rights of the only file in the folder whose name begins with a dot. */
static int rights_of_temporary(void)
{
    char command[300];
    int rights = -1;
    snprintf(command, sizeof command, "stat -c %%a '%s'/.*.tmp", files_folder);
    FILE *f = popen(command, "r");
    if (f && fscanf(f, "%o", (unsigned *)&rights) != 1) rights = -1;
    if (f) pclose(f);
    return rights;
}

/* Refuses files without a name, and to change rights. */
static int refuse_rights(tsri_system_call call, size_t *bytes)
{
    static bool refused;
    (void)bytes;
    if (call == TSRI_CHMOD) return EPERM;
    if (call != TSRI_OPEN) return 0;
    refused = !refused;
    return refused ? EOPNOTSUPP : 0;
}

TEST(test_a_temporary_file_has_no_more_rights_than_the_one_in_its_place)
{
    tsr_tensor *t = NULL;
    tsr_writer *w = NULL;
    const char *path = file_path("rights.npy");
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(3)));
    const mode_t before = umask(027);
    create_named(&w, path);
    EXPECT(rights_of_temporary() == 0640);
    tsr_writer_cancel(&w);
    umask(before);
    EXPECT_OK(tsr_file_save(path, t));
    EXPECT(chmod(path, 0440) == 0);
    create_named(&w, path);
    EXPECT(rights_of_temporary() == 0440);
    tsr_writer_cancel(&w);
    tsri_system_fault = refuse_rights;  /* as between its making and the change of its rights */
    EXPECT_OK(tsr_writer_create(&w, path, NULL));
    tsri_system_fault = NULL;
    EXPECT(rights_of_temporary() == 0600);
    tsr_writer_cancel(&w);
    tsr_release(&t);
}

/* A child writes until it is killed; whenever that is, the old file is whole or the new one is. */
TEST(test_a_kill_at_any_moment_leaves_a_whole_file)
{
    tsr_tensor *a = NULL, *b = NULL, *back = NULL;
    const char *path = file_path("killed.npy");
    EXPECT_OK(tsr_full(&a, TSR_I32, TSR_SHAPE(100000), TSR_SCALAR(1)));
    EXPECT_OK(tsr_full(&b, TSR_I32, TSR_SHAPE(150000), TSR_SCALAR(2)));
    for (int i = 0; i < 30; i++) {
        EXPECT_OK(tsr_file_save(path, a));
        const pid_t child = fork();
        if (child == 0) {
            for (;;)
                if (tsr_file_save(path, b) != TSR_OK) _exit(1);
        }
        usleep((useconds_t)(i * 150));
        EXPECT(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
        EXPECT_OK(tsr_file_load(&back, path, NULL));
        EXPECT(same_bits(back, a) || same_bits(back, b));
        tsr_release(&back);
    }
    const pid_t child = fork();
    if (child == 0) _exit(tsr_file_save(path, b) != TSR_OK);
    int left = -1;
    EXPECT(waitpid(child, &left, 0) == child && left == 0);  /* one that is let be writes its file */
    expect_untouched(path, b);
    tsr_release_all(&a, &b);
}

/* A limit on the size of files stands for a full disk. */
TEST(test_a_write_that_fails_is_told_and_leaves_the_old_file)
{
    tsr_tensor *t = NULL, *big = NULL;
    const char *path = file_path("full.npy");
    EXPECT_OK(tsr_full(&t, TSR_I8, TSR_SHAPE(5), TSR_SCALAR(3)));
    EXPECT_OK(tsr_zeros(&big, TSR_F32, TSR_SHAPE(100000)));
    EXPECT_OK(tsr_file_save(path, t));
    const int files = files_count();
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit limit = { 100000, 100000 };
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        const tsr_status s = tsr_file_save(path, big);
        _exit(s == TSR_EIO && strstr(tsr_last_error(), "cannot write") ? 0 : 1);
    }
    int status = 1;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    expect_untouched(path, t);
    EXPECT(files_count() == files);
    tsr_release_all(&t, &big);
}

TEST(test_free_space_is_checked_before_anything_is_written)
{
    tsr_writer *w = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(INT64_C(1) << 60), NULL));
    EXPECT_OK(tsr_writer_create(&w, file_path("huge.safetensors"), NULL));
    EXPECT_FAILS(tsr_writer_declare(w, "x", &d, NULL), TSR_EIO, "are free there");
    tsr_writer_cancel(&w);
    EXPECT(!file_exists(file_path("huge.safetensors")));
    tsr_tensor *t = NULL, *back = NULL;  /* what could not be declared is not in the plan */
    EXPECT_OK(tsr_full(&t, TSR_I8, TSR_SHAPE(5), TSR_SCALAR(3)));
    EXPECT_OK(tsr_writer_create(&w, file_path("huge.safetensors"), NULL));
    EXPECT_FAILS(tsr_writer_declare(w, "x", &d, NULL), TSR_EIO, "are free there");
    EXPECT_OK(tsr_writer_declare(w, "x", &t->desc, NULL));
    EXPECT_OK(tsr_writer_add(w, "x", t, NULL));
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_OK(tsr_file_load(&back, file_path("huge.safetensors"), "x"));
    EXPECT(same_bits(back, t));
    tsr_release_all(&t, &back);
}

TEST(test_links_are_followed_and_rights_kept)
{
    tsr_tensor *t = NULL, *back = NULL;
    struct stat info;
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(3)));
    const char *path = file_path("real.npy"), *link = file_path("link.npy");
    EXPECT_OK(tsr_file_save(path, t));
    EXPECT(chmod(path, 0640) == 0 && symlink(path, link) == 0);
    EXPECT_OK(tsr_fill(t, TSR_SCALAR(4)));
    EXPECT_OK(tsr_file_save(link, t));
    EXPECT(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
    EXPECT(stat(path, &info) == 0 && (info.st_mode & 0777) == 0640);
    EXPECT_OK(tsr_file_load(&back, path, NULL));
    EXPECT(same_bits(back, t));
    tsr_release_all(&t, &back);
}

/* Hostile callers ---------------------------------------------------------------------- */

TEST(test_bad_arguments_are_told_apart)
{
    tsr_tensor *t = NULL, *out = NULL, *described = NULL;
    tsr_file *f = NULL;
    tsr_writer *w = NULL;
    tsr_file_entry e;
    tsr_meta m;
    const char *path = file_path("bad.safetensors");
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(3)));
    EXPECT_OK(tsr_declare(&described, &t->desc, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_STATUS(tsr_file_open(NULL, path, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_file_open(&f, NULL, NULL), TSR_ENULL);
    EXPECT_FAILS(tsr_file_open(&f, file_path("none.npy"), NULL), TSR_EIO, "none.npy: No such file");
    EXPECT_FAILS(tsr_file_open(&f, files_folder, NULL), TSR_EIO, "is a folder");
    EXPECT_STATUS(tsr_file_open_bytes(NULL, "", 0, NULL, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_file_open_bytes(&f, NULL, 1, NULL, NULL), TSR_ENULL);
    EXPECT_FAILS(tsr_file_open_bytes(&f, NULL, 0, NULL, NULL), TSR_EFORMAT, "(bytes)");
    EXPECT_FAILS(tsr_file_open_bytes(&f, "hello", 5, "x", &(tsr_file_opts){ .format = "tiff" }), TSR_EINVAL,
                 "opts.format is \"tiff\"; there are npy ");
    EXPECT_STATUS(tsr_file_open_bytes(&f, "hello", 5, "x", &(tsr_file_opts){ .ndim = -1 }), TSR_EINVAL);
    EXPECT_STATUS(tsr_file_open_bytes(&f, "hello", 5, "x", &(tsr_file_opts){ .ndim = 2 }), TSR_ENULL);
    EXPECT_STATUS(tsr_file_open_bytes(&f, "hello", 5, "x", &(tsr_file_opts){ .dtype = (tsr_dtype)99 }),
                  TSR_EDTYPE);
    EXPECT(f == NULL);

    EXPECT_STATUS(tsr_file_save(NULL, t), TSR_ENULL);
    EXPECT_STATUS(tsr_file_save(path, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_file_save(path, described), TSR_ESTATE);
    EXPECT_FAILS(tsr_file_save(file_path("x.unknown"), t), TSR_EINVAL, "tells no format");
    EXPECT_FAILS(tsr_file_save(file_path("no/such/folder.npy"), t), TSR_EIO, "No such file");
    EXPECT_FAILS(tsr_file_save("", t), TSR_EINVAL, "");
    EXPECT_OK(tsr_file_save(path, t));
    EXPECT_OK(tsr_file_open(&f, path, NULL));

    EXPECT(tsr_file_count(NULL) == 0 && tsr_file_size(NULL) == 0 && tsr_file_meta_count(NULL) == 0);
    EXPECT(strcmp(tsr_file_format(NULL), "") == 0 && strcmp(tsr_file_format(f), "safetensors") == 0);
    EXPECT(tsr_file_part(NULL, 0) == NULL && tsr_file_part(f, 1) == NULL && tsr_file_part(f, -1) == NULL);
    EXPECT(strcmp(tsr_file_part(f, 0), path) == 0);
    EXPECT(tsr_format_get_info(-1) == NULL && tsr_format_get_info(1000) == NULL);
    EXPECT(tsr_format_of_path(NULL) == NULL && tsr_format_of_path("npy") == NULL);
    EXPECT_STATUS(tsr_file_list(NULL, f, 0), TSR_ENULL);
    EXPECT_STATUS(tsr_file_list(&e, NULL, 0), TSR_ENULL);
    EXPECT_STATUS(tsr_file_list(&e, f, 1), TSR_EINDEX);
    EXPECT_STATUS(tsr_file_list(&e, f, -1), TSR_EINDEX);
    EXPECT_OK(tsr_file_list(&e, f, 0));
    EXPECT_STATUS(tsr_file_find(NULL, f, "tensor"), TSR_ENULL);
    EXPECT_STATUS(tsr_file_find(&e, NULL, "tensor"), TSR_ENULL);
    EXPECT_FAILS(tsr_file_find(&e, f, "tensr"), TSR_EINDEX, "\"tensor\"");
    EXPECT_STATUS(tsr_file_meta(NULL, f, 0), TSR_ENULL);
    EXPECT_STATUS(tsr_file_meta(&m, NULL, 0), TSR_ENULL);
    EXPECT_STATUS(tsr_file_meta(&m, f, 0), TSR_EINDEX);
    EXPECT_STATUS(tsr_file_find_meta(NULL, f, "k"), TSR_ENULL);
    EXPECT_STATUS(tsr_file_find_meta(&m, NULL, "k"), TSR_ENULL);
    EXPECT_STATUS(tsr_file_find_meta(&m, f, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_file_find_meta(&m, f, "k"), TSR_EINDEX);
    EXPECT_STATUS(tsr_file_read(NULL, f, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_file_read(&out, NULL, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_file_read(&out, f, "x"), TSR_EINDEX);
    EXPECT_STATUS(tsr_file_read_raw(NULL, f, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_file_read_raw(&out, NULL, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_file_read_slice(NULL, f, NULL, 0, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_file_read_slice(&out, NULL, NULL, 0, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_file_read_slice(&out, f, NULL, 1, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_file_read_slice(&out, f, NULL, 2, (tsr_file_range[]){ TSR_FILE_AT(0), TSR_FILE_ALL }),
                  TSR_EINDEX);
    EXPECT_STATUS(tsr_file_read_slice(&out, f, NULL, -1, NULL), TSR_EINDEX);
    EXPECT_STATUS(tsr_file_read_slice(&out, f, NULL, 1, (tsr_file_range[]){ TSR_FILE_AT(3) }), TSR_EINDEX);
    EXPECT_STATUS(tsr_file_load(NULL, path, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_file_load(&out, NULL, NULL), TSR_ENULL);
    EXPECT(out == NULL);
    tsr_file_close(&f);
    tsr_file_close(&f);
    tsr_file_close(NULL);

    EXPECT_STATUS(tsr_writer_create(NULL, path, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_writer_create(&w, NULL, NULL), TSR_ENULL);
    EXPECT_FAILS(tsr_writer_create(&w, path, &(tsr_writer_opts){ .format = "tiff" }), TSR_EINVAL, "tiff");
    EXPECT_FAILS(tsr_writer_create(&w, files_folder, &(tsr_writer_opts){ .format = "npy" }), TSR_EIO,
                 "no regular file");
    EXPECT_STATUS(tsr_writer_add(NULL, "a", t, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_writer_declare(NULL, "a", &t->desc, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_writer_meta(NULL, &m), TSR_ENULL);
    EXPECT_STATUS(tsr_writer_text(NULL, "a", "b"), TSR_ENULL);
    EXPECT_STATUS(tsr_writer_finish(NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_writer_finish(&w), TSR_ENULL);
    EXPECT_OK(tsr_writer_create(&w, path, NULL));
    EXPECT_STATUS(tsr_writer_add(w, "a", NULL, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_writer_add(w, "a", described, NULL), TSR_ESTATE);
    EXPECT_STATUS(tsr_writer_add(w, "a", t, "q8_0"), TSR_EUNSUPPORTED);
    EXPECT_STATUS(tsr_writer_add(w, "__metadata__", t, NULL), TSR_EINVAL);
    EXPECT_STATUS(tsr_writer_add(w, "\xff", t, NULL), TSR_EINVAL);
    EXPECT_STATUS(tsr_writer_meta(w, NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_writer_meta(w, &(tsr_meta){ .text = "x" }), TSR_ENULL);
    EXPECT_STATUS(tsr_writer_meta(w, &(tsr_meta){ .key = "x" }), TSR_ENULL);
    EXPECT_STATUS(tsr_writer_meta(w, &(tsr_meta){ .key = "x", .type = (tsr_meta_type)77 }), TSR_EINVAL);
    EXPECT_STATUS(tsr_writer_meta(w, &(tsr_meta){ .key = "x", .type = TSR_META_NUMBER, .dtype = TSR_F32 }),
                  TSR_EUNSUPPORTED);
    EXPECT_STATUS(tsr_writer_text(w, "x", NULL), TSR_ENULL);
    EXPECT_STATUS(tsr_writer_text(w, NULL, "x"), TSR_ENULL);
    EXPECT_OK(tsr_writer_text(w, "x", "1"));
    EXPECT_FAILS(tsr_writer_text(w, "x", "2"), TSR_EINVAL, "already");
    EXPECT_STATUS(tsr_writer_declare(w, "a", NULL, NULL), TSR_ENULL);
    EXPECT_OK(tsr_writer_add(w, "a", t, NULL));
    EXPECT_FAILS(tsr_writer_add(w, "a", t, NULL), TSR_EINVAL, "already");
    EXPECT_FAILS(tsr_writer_declare(w, "b", &t->desc, NULL), TSR_EINVAL, "after the first");
    EXPECT_FAILS(tsr_writer_text(w, "y", "2"), TSR_EINVAL, "after the first");
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_OK(tsr_writer_create(&w, path, NULL));
    EXPECT_OK(tsr_writer_declare(w, "a", &t->desc, NULL));
    EXPECT_FAILS(tsr_writer_add(w, "b", t, NULL), TSR_EINVAL, "where \"a\" was declared");
    tsr_writer_cancel(&w);
    tsr_writer_cancel(&w);
    tsr_writer_cancel(NULL);
    tsr_release_all(&t, &described);
}

TEST(test_the_end_of_a_path_names_the_format)
{
    EXPECT(strcmp(tsr_format_of_path("a/b.npy")->name, "npy") == 0);
    EXPECT(strcmp(tsr_format_of_path("B.Tab")->name, "tsv") == 0);
    EXPECT(strcmp(tsr_format_of_path("m.safetensors.index.json")->name, "safetensors") == 0);
    EXPECT(tsr_format_of_path("a.npy.txt") == NULL && tsr_format_of_path("") == NULL);
    for (int i = 0; tsr_format_get_info(i); i++) {
        const tsr_format_info *format = tsr_format_get_info(i);
        char name[40] = "x";
        EXPECT(format->endings[0] == '.');
        strncat(name, format->endings, strcspn(format->endings, " "));
        EXPECT(tsr_format_of_path(name) == format);
    }
}

TEST(test_a_format_of_one_tensor_takes_one)
{
    tsr_tensor *t = NULL;
    tsr_writer *w = NULL;
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(3)));
    EXPECT_OK(tsr_writer_create(&w, file_path("one.npy"), NULL));
    EXPECT_STATUS(tsr_writer_text(w, "k", "v"), TSR_EUNSUPPORTED);
    EXPECT_OK(tsr_writer_add(w, NULL, t, NULL));
    EXPECT_FAILS(tsr_writer_add(w, "two", t, NULL), TSR_EINVAL, "holds one tensor");
    EXPECT_OK(tsr_writer_finish(&w));
    EXPECT_OK(tsr_writer_create(&w, file_path("one.npy"), NULL));
    EXPECT_FAILS(tsr_writer_finish(&w), TSR_EINVAL, "holds one tensor");
    tsr_release(&t);
}

/* Every step of a whole life, with the n-th allocation failing. */
static tsr_status write_and_read(const char *path, const tsr_tensor *t, tsr_tensor **given)
{
    tsr_file *f = NULL;
    tsr_writer *w = NULL;
    tsr_tensor *back = NULL, *raw = NULL, *part = NULL;
    tsr_status s = tsr_writer_create(&w, path, &(tsr_writer_opts){ .no_sync = true });
    if (s == TSR_OK) s = tsr_writer_text(w, "key", "value");
    if (s == TSR_OK) s = tsr_writer_declare(w, "a", &t->desc, NULL);
    if (s == TSR_OK) s = tsr_writer_add(w, "a", t, NULL);
    if (s == TSR_OK) s = tsr_writer_finish(&w);
    if (s == TSR_OK) s = tsr_file_open(&f, path, NULL);
    if (s == TSR_OK) s = tsr_file_read(&back, f, "a");
    if (s == TSR_OK) s = tsr_file_read_raw(&raw, f, "a");
    if (s == TSR_OK) s = tsr_file_read_slice(&part, f, "a", 1, &(tsr_file_range){ 0, 2, 1 });
    if (s == TSR_OK) s = tsr_file_read(given, f, "a");
    if (s == TSR_OK) EXPECT(same_bits(back, t) && tsr_numel(part) == 6);
    EXPECT(s == TSR_OK || s == TSR_ENOMEM);
    tsr_writer_cancel(&w);
    tsr_file_close(&f);
    tsr_release_all(&back, &raw, &part);
    return s;
}

TEST(test_large_tensors_are_read_in_pieces_by_several_threads)
{
    const int64_t bytes = (12 << 20) + 5;
    tsr_tensor *t = NULL, *back = NULL;
    EXPECT_OK(tsr_empty(&t, TSR_U8, 1, &bytes));
    for (int64_t i = 0; i < bytes; i++) ((uint8_t *)t->data)[i] = (uint8_t)(i * 2654435761 >> 20);
    EXPECT_OK(tsr_set_threads(3));
    EXPECT_OK(tsr_file_save(file_path("large.npy"), t));
    EXPECT_OK(tsr_zeros(&back, TSR_U8, 1, &bytes));
    EXPECT_OK(tsr_file_load(&back, file_path("large.npy"), NULL));
    EXPECT(memcmp(back->data, t->data, (size_t)bytes) == 0);
    EXPECT_OK(tsr_set_threads(0));
    EXPECT(unlink(file_path("large.npy")) == 0);
    tsr_release_all(&t, &back);
}

TEST(test_a_path_of_no_bytes_is_refused)
{
    tsr_writer *w = NULL;
    EXPECT_FAILS(tsr_writer_create(&w, "", &(tsr_writer_opts){ .format = "npz" }), TSR_EINVAL,
                 "a path of 0 bytes");
    EXPECT(w == NULL);
}

TEST(test_running_out_of_memory_leaves_nothing_behind)
{
    tsr_tensor *t = NULL, *bools = NULL, *out = NULL, *given = NULL, *flags = NULL;
    EXPECT_OK(tsr_ones(&t, TSR_F32, TSR_SHAPE(3, 4)));
    EXPECT_OK(tsr_transpose(&t, t, 0, 1));
    EXPECT_OK(tsr_ones(&bools, TSR_BOOL, TSR_SHAPE(4, 3)));
    EXPECT_OK(tsr_ones(&given, TSR_F32, TSR_SHAPE(4, 3)));
    EXPECT_OK(tsr_ones(&flags, TSR_BOOL, TSR_SHAPE(4, 3)));
    EXPECT_SURVIVES(write_and_read(file_path("oom.safetensors"), t, &given));
    EXPECT_SURVIVES(write_and_read(file_path("oom.safetensors"), bools, &flags));
    EXPECT_SURVIVES(tsr_file_save(file_path("oom.npy"), t));
    EXPECT_SURVIVES(tsr_file_load(&out, file_path("oom.npy"), NULL));
    EXPECT(same_bits(out, t));
    tsr_release_all(&t, &bools, &out, &given, &flags);
}

/* Letters that are other, missing, too many, or two that changed places; of names too long to compare, as far
 * as asked for. */
TEST(test_files_names_are_apart_by_what_must_change)
{
    static const struct { const char *a, *b; int most, apart; } all[] = {
        { "", "", 9, 0 },           { "weight", "weight", 9, 0 }, { "weight", "weights", 9, 1 },
        { "weight", "wieght", 9, 1 }, { "weight", "waight", 9, 1 }, { "", "bias", 9, 4 },
        { "kitten", "sitting", 9, 3 }, { "kitten", "sitting", 2, 2 }, { "abcdef", "ghijkl", 9, 6 },
        { "bias", "w", 3, 3 },      { "abcd", "badc", 9, 2 },
    };
    char one[200], other[200];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        EXPECT_MSG(tsri_name_distance(all[i].a, all[i].b, all[i].most) == all[i].apart, "%s, %s", all[i].a,
                   all[i].b);
        EXPECT(tsri_name_distance(all[i].b, all[i].a, all[i].most) == all[i].apart);
    }
    memset(one, 'x', sizeof one);
    memset(other, 'y', sizeof other);
    for (int n = 129; n >= 128; n--) {
        one[n] = other[128] = '\0';
        EXPECT(tsri_name_distance(one, other, 500) == (n == 128 ? 128 : 500));
        EXPECT(tsri_name_distance(other, one, 500) == (n == 128 ? 128 : 500));
    }
}

TEST_AFTER
{
    files_remove();
}
