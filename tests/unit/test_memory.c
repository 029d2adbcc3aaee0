/* Storages of every ownership, memory kinds built in and registered, the allocator, the hook,
 * the arena, and the counts and report that say who holds what. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mkstemp */
#endif
#include <fcntl.h>
#include <unistd.h>

#include <pthread.h>

#include "core/alloc.h"
#include "test.h"

static tsr_memory_stats stats_now(void)
{
    tsr_memory_stats stats;
    tsr_memory_get_stats(&stats);
    return stats;
}

static tsr_tensor *make(tsr_memory kind, int64_t bytes)
{
    tsr_desc d;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, TSR_SHAPE(bytes), NULL));
    EXPECT_OK(tsr_declare(&t, &d, TSR_CPU, kind));
    EXPECT_OK(tsr_alloc(t));
    return t;
}

/* Ownership -------------------------------------------------------------------------- */

TEST(test_memory_owned_storage_belongs_to_the_library)
{
    tsr_storage *s = NULL;
    const tsr_memory_stats before = stats_now();
    EXPECT_OK(tsr_storage_create(&s, 1000, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT(tsr_storage_bytes(s) == 1000 && tsr_storage_data(s) && tsr_storage_memory(s) == TSR_MEMORY_HOST);
    EXPECT(tsr_storage_device(s) == TSR_CPU && tsr_storage_ownership(s) == TSR_OWNED);
    EXPECT(!tsr_storage_is_readonly(s) && tsr_storage_count(s) == 1);
    memset(tsr_storage_data(s), 0x5a, 1000);
    EXPECT(tsr_storage_retain(s) == s && tsr_storage_count(s) == 2);
    EXPECT(stats_now().live_bytes == before.live_bytes + 1000 &&
           stats_now().live_storages == before.live_storages + 1);
    tsr_storage *other = s;
    tsr_storage_release(&s);
    EXPECT(s == NULL && tsr_storage_count(other) == 1);
    tsr_storage_release(&other);
    EXPECT(stats_now().live_bytes == before.live_bytes && stats_now().live_storages == before.live_storages);
}

TEST(test_memory_empty_storage_has_an_address)
{
    for (tsr_memory kind = TSR_MEMORY_HOST; kind <= TSR_MEMORY_HUGE; kind++) {
        tsr_storage *s = NULL;
        EXPECT_OK(tsr_storage_create(&s, 0, TSR_CPU, kind));
        EXPECT(tsr_storage_data(s) && tsr_storage_bytes(s) == 0);
        tsr_storage_release(&s);
    }
}

TEST(test_memory_borrowed_is_neither_counted_nor_freed)
{
    static float data[6] = { 1, 2, 3, 4, 5, 6 };
    tsr_storage *s = NULL;
    const tsr_memory_stats before = stats_now();
    EXPECT_OK(tsr_storage_borrow(&s, data, sizeof data, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT(tsr_storage_data(s) == data && tsr_storage_ownership(s) == TSR_BORROWED);
    EXPECT(stats_now().live_bytes == before.live_bytes &&
           stats_now().live_storages == before.live_storages + 1);
    tsr_desc d;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2), (const int64_t[]){ -1 }));
    EXPECT_OK(tsr_from_storage(&t, s, 8, &d));
    EXPECT(tsr_is_borrowed(t) && TSR_AT(float, t, 0) == 3 && TSR_AT(float, t, 1) == 2);
    tsr_storage_release(&s);
    tsr_release(&t);
    EXPECT(data[0] == 1 && data[5] == 6);
}

typedef struct deletion { int calls; void *data; size_t bytes; } deletion;

static void note_deletion(void *context, void *data, size_t bytes)
{
    deletion *d = context;
    *d = (deletion){ d->calls + 1, data, bytes };
}

TEST(test_memory_adopted_goes_to_its_deleter_once_after_the_last_view)
{
    static float data[6];
    deletion gone = { 0, NULL, 0 };
    tsr_desc d;
    tsr_tensor *t = NULL, *view = NULL, *again = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2, 3), NULL));
    EXPECT_OK(tsr_adopt(&t, data, &d, note_deletion, &gone));
    EXPECT(tsr_storage_ownership(t->storage) == TSR_ADOPTED && !tsr_is_borrowed(t));
    EXPECT_OK(tsr_transpose(&view, t, 0, 1));
    again = tsr_retain(view);
    tsr_release_all(&t, &view);
    EXPECT(gone.calls == 0);
    tsr_release(&again);
    EXPECT(gone.calls == 1 && gone.data == data && gone.bytes == sizeof data);

    tsr_storage *s = NULL;
    EXPECT_OK(tsr_storage_adopt(&s, data, 8, TSR_CPU, TSR_MEMORY_HOST, note_deletion, &gone));
    tsr_storage_release(&s);
    EXPECT(gone.calls == 2 && gone.bytes == 8);
}

/* The deleter gets the lowest byte, which for strides that walk backwards is not element 0. */
TEST(test_memory_adopted_backwards_is_deleted_by_its_lowest_byte)
{
    static float data[6];
    deletion gone = { 0, NULL, 0 };
    tsr_desc d;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(6), (const int64_t[]){ -1 }));
    EXPECT_OK(tsr_adopt(&t, data + 5, &d, note_deletion, &gone));
    tsr_release(&t);
    EXPECT(gone.calls == 1 && gone.data == data && gone.bytes == sizeof data);
}

/* A deleter may use the library: here it releases another tensor. */
static void release_another(void *context, void *data, size_t bytes)
{
    (void)data; (void)bytes;
    tsr_release(context);
}

TEST(test_memory_deleter_may_call_the_library)
{
    static float data[2];
    tsr_tensor *t = NULL, *other = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_zeros(&other, TSR_F32, TSR_SHAPE(100)));
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(2), NULL));
    EXPECT_OK(tsr_adopt(&t, data, &d, release_another, &other));
    EXPECT_OK(tsr_wrap(&t, data, &d));  /* replaces, and so deletes */
    EXPECT(other == NULL);
    tsr_release(&t);
}

/* Files ------------------------------------------------------------------------------ */

enum { FILE_FLOATS = 4000 };
static char path[] = "/tmp/tessera-test-XXXXXX";

static float in_file(int i) { return (float)i * 0.5f; }

static bool write_file(void)
{
    const int file = mkstemp(path);
    bool whole = file >= 0;
    for (int i = 0; i < FILE_FLOATS && whole; i++) {
        const float x = in_file(i);
        whole = write(file, &x, sizeof x) == (ssize_t)sizeof x;
    }
    if (file >= 0) (void)close(file);
    return whole;
}

static float read_file(int i)
{
    float x = -1;
    const int file = open(path, O_RDONLY);
    EXPECT(file >= 0 && pread(file, &x, sizeof x, (off_t)i * 4) == (ssize_t)sizeof x);
    (void)close(file);
    return x;
}

TEST(test_memory_mapped_file_reads_at_any_offset)
{
    const int firsts[] = { 0, 1, 1023, 1024, 1025, 3999 };  /* around the end of a page */
    tsr_desc d;
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
        tsr_tensor *t = NULL;
        const int n = FILE_FLOATS - firsts[i];
        EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(n), NULL));
        EXPECT_OK(tsr_map_file(&t, path, (uint64_t)firsts[i] * 4, &d, TSR_MAP_READ));
        EXPECT(TSR_AT(float, t, 0) == in_file(firsts[i]) &&
               TSR_AT(float, t, n - 1) == in_file(FILE_FLOATS - 1));
        EXPECT(tsr_storage_ownership(t->storage) == TSR_MAPPED && tsr_memory_of(t) == TSR_MEMORY_FILE &&
               tsr_is_host(t));
        tsr_release(&t);
    }
}

TEST(test_memory_mapped_file_cannot_be_written)
{
    tsr_tensor *t = NULL, *row = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(40, 100), NULL));
    EXPECT_OK(tsr_map_file(&t, path, 0, &d, TSR_MAP_READ));
    EXPECT(tsr_is_readonly(t) && tsr_storage_is_readonly(t->storage));
    EXPECT_OK(tsr_select(&row, t, 0, 1));
    EXPECT_FAILS(tsr_fill(row, tsr_scalar_i64(1)), TSR_EREADONLY, "fill");
    EXPECT_FAILS(tsr_set_f32(t, TSR_INDEX(0, 0), 1), TSR_EREADONLY, "set_f32");
    EXPECT(TSR_AT(float, row, 0) == in_file(100));
    tsr_release(&t);
    EXPECT(TSR_AT(float, row, 99) == in_file(199));  /* the view keeps the mapping */
    tsr_release(&row);
}

TEST(test_memory_copy_on_write_keeps_the_file)
{
    tsr_tensor *t = NULL;
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(100), NULL));
    EXPECT_OK(tsr_map_file(&t, path, 4 * 1030, &d, TSR_MAP_COPY_ON_WRITE));
    EXPECT(!tsr_is_readonly(t));
    EXPECT_OK(tsr_fill(t, tsr_scalar_i64(-7)));
    EXPECT(TSR_AT(float, t, 99) == -7 && read_file(1030) == in_file(1030));
    tsr_release(&t);
    EXPECT(read_file(1129) == in_file(1129));
}

TEST(test_memory_mapped_storage_to_the_end_of_the_file)
{
    tsr_storage *s = NULL;
    const tsr_memory_stats before = stats_now();
    const int64_t live = tsr_memory_live(TSR_MEMORY_FILE);
    EXPECT_OK(tsr_storage_map_file(&s, path, 100, 0, TSR_MAP_READ));
    EXPECT(tsr_storage_bytes(s) == FILE_FLOATS * 4 - 100);
    EXPECT(stats_now().live_bytes == before.live_bytes + FILE_FLOATS * 4 - 100);
    EXPECT(tsr_memory_live(TSR_MEMORY_FILE) == live + FILE_FLOATS * 4 - 100);
    tsr_storage_release(&s);
    EXPECT_OK(tsr_storage_map_file(&s, path, FILE_FLOATS * 4, 0, TSR_MAP_READ));
    EXPECT(tsr_storage_bytes(s) == 0);
    tsr_storage_release(&s);
}

TEST(test_memory_mapping_says_why_it_cannot_be)
{
    tsr_storage *s = NULL;
    EXPECT_FAILS(tsr_storage_map_file(&s, "/nothing/here", 0, 0, TSR_MAP_READ), TSR_EIO, "No such file");
    EXPECT_FAILS(tsr_storage_map_file(&s, "/tmp", 0, 0, TSR_MAP_READ), TSR_EIO, "/tmp");
    EXPECT_FAILS(tsr_storage_map_file(&s, path, 0, FILE_FLOATS * 4 + 1, TSR_MAP_READ), TSR_EBOUNDS, "16000");
    EXPECT_FAILS(tsr_storage_map_file(&s, path, FILE_FLOATS * 4 + 1, 0, TSR_MAP_READ), TSR_EBOUNDS, "16001");
    EXPECT_FAILS(tsr_storage_map_file(&s, path, FILE_FLOATS * 4 - 3, 4, TSR_MAP_READ), TSR_EBOUNDS, path);
    EXPECT(s == NULL);
}

TEST(test_memory_empty_file_maps_to_an_empty_tensor)
{
    char empty[] = "/tmp/tessera-empty-XXXXXX";
    const int file = mkstemp(empty);
    tsr_tensor *t = NULL;
    tsr_desc d;
    EXPECT(file >= 0);
    (void)close(file);
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(0, 3), NULL));
    EXPECT_OK(tsr_map_file(&t, empty, 0, &d, TSR_MAP_READ));
    EXPECT(t && tsr_numel(t) == 0 && tsr_is_allocated(t));
    EXPECT_OK(tsr_check(t));
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(1), NULL));
    EXPECT_FAILS(tsr_map_file(&t, empty, 0, &d, TSR_MAP_READ), TSR_EBOUNDS, "which has 0");
    tsr_release(&t);
    (void)unlink(empty);
}

TEST(test_memory_likes_of_a_mapping_are_plain_memory)
{
    tsr_tensor *t = NULL, *copy = NULL;
    tsr_desc d;
    bool same = false;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(100), NULL));
    EXPECT_OK(tsr_map_file(&t, path, 0, &d, TSR_MAP_READ));
    EXPECT_OK(tsr_clone(&copy, t));
    EXPECT(tsr_memory_of(copy) == TSR_MEMORY_HOST && !tsr_is_readonly(copy));
    EXPECT_OK(tsr_equal(&same, copy, t));
    EXPECT(same);
    tsr_release_all(&copy, &t);
}

/* Kinds ------------------------------------------------------------------------------ */

TEST(test_memory_kinds_align_as_promised)
{
    const struct { tsr_memory kind; size_t alignment; const char *name; } kinds[] = {
        { TSR_MEMORY_HOST, 64, "host" },
        { TSR_MEMORY_ALIGNED, 4096, "aligned" },
        { TSR_MEMORY_HUGE, 2 << 20, "huge" },
    };
    const int64_t sizes[] = { 1, 63, 64, 65, 128, 129, 4096, 5000, 100000, (2 << 20) + 1 };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        tsr_memory found = -1;
        EXPECT(!strcmp(tsr_memory_name(kinds[k].kind), kinds[k].name) && tsr_memory_is_host(kinds[k].kind));
        EXPECT_OK(tsr_memory_find(&found, kinds[k].name));
        EXPECT(found == kinds[k].kind);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            tsr_tensor *t = make(kinds[k].kind, sizes[i]);
            EXPECT_MSG((uintptr_t)t->data % kinds[k].alignment == 0, "%s of %lld bytes at %p", kinds[k].name,
                       (long long)sizes[i], t->data);
            EXPECT(tsr_memory_live(kinds[k].kind) == sizes[i]);
            EXPECT_OK(tsr_fill(t, tsr_scalar_i64(0x5a)));
            tsr_release(&t);
        }
    }
    EXPECT(!strcmp(tsr_memory_name(TSR_MEMORY_FILE), "file"));
}

enum { PSRAM_BYTES = 256 * 1024 };
static _Alignas(64) unsigned char psram_block[PSRAM_BYTES];
static tsr_arena psram_arena;
static tsr_memory psram;

static void register_psram(void)
{
    const tsr_memory_kind kind = { .size = sizeof kind,
                                   .name = "psram",
                                   .host_access = true,
                                   .context = &psram_arena,
                                   .alloc = tsr_arena_alloc,
                                   .free = tsr_arena_free };
    EXPECT_OK(tsr_arena_init(&psram_arena, psram_block, sizeof psram_block));
    EXPECT_OK(tsr_memory_register(&psram, &kind));
}

static void unregister_psram(void)
{
    EXPECT(psram_arena.used == 0);
    EXPECT_OK(tsr_memory_unregister(psram));
}

static bool is_in_psram(const tsr_tensor *t)
{
    const unsigned char *data = t->data;
    return data >= psram_block && data + tsr_byte_size(t) <= psram_block + PSRAM_BYTES;
}

TEST(test_memory_registered_kind_is_used_like_any_other)
{
    tsr_tensor *t = NULL, *there = NULL, *back = NULL, *copy = NULL;
    bool same = false;
    register_psram();
    EXPECT(psram >= TSR_MEMORY_COUNT_BUILTIN && tsr_memory_is_host(psram) &&
           !strcmp(tsr_memory_name(psram), "psram"));
    EXPECT_OK(tsr_arange(&t, TSR_F32, tsr_scalar_i64(0), tsr_scalar_i64(1000), tsr_scalar_i64(1)));
    EXPECT_OK(tsr_to_memory(&there, t, TSR_CPU, psram));
    EXPECT(is_in_psram(there) && tsr_memory_of(there) == psram && tsr_memory_live(psram) == 4000);
    EXPECT_OK(tsr_clone(&copy, there));
    EXPECT(is_in_psram(copy) && tsr_memory_live(psram) == 8000);
    EXPECT_OK(tsr_to_memory(&back, copy, TSR_CPU, TSR_MEMORY_ALIGNED));
    EXPECT(tsr_memory_of(back) == TSR_MEMORY_ALIGNED && (uintptr_t)back->data % 4096 == 0);
    EXPECT_OK(tsr_equal(&same, back, t));
    EXPECT(same);
    EXPECT_OK(tsr_to_memory(&back, there, TSR_CPU, psram));  /* there already: seen again */
    EXPECT(back->data == there->data);
    tsr_release_all(&t, &there, &back, &copy);
    unregister_psram();
}

TEST(test_memory_described_tensor_is_allocated_in_its_kind_by_the_first_write)
{
    tsr_desc d;
    tsr_tensor *t = NULL;
    register_psram();
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(10, 20), NULL));
    EXPECT_OK(tsr_declare(&t, &d, TSR_CPU, psram));
    EXPECT(!tsr_is_allocated(t) && psram_arena.used == 0 && tsr_memory_of(t) == psram);
    EXPECT_OK(tsr_fill(t, tsr_scalar_i64(3)));
    EXPECT(is_in_psram(t) && TSR_AT(float, t, 9, 19) == 3);
    tsr_release(&t);
    unregister_psram();
}

TEST(test_memory_exhausted_kind_is_enomem_and_recovers)
{
    tsr_tensor *all[64] = { NULL }, *more = NULL;
    tsr_desc d;
    int n = 0;
    register_psram();
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, TSR_SHAPE(16 * 1024), NULL));
    for (; n < 64; n++) {
        EXPECT_OK(tsr_declare(&all[n], &d, TSR_CPU, psram));
        if (tsr_fill(all[n], tsr_scalar_i64(n)) != TSR_OK) break;
    }
    EXPECT(n == 15);  /* sixteen would fit if they had no tags */
    EXPECT(tsr_last_status() == TSR_ENOMEM && strstr(tsr_last_error(), "psram") &&
           strstr(tsr_last_error(), "16384"));
    EXPECT(!tsr_is_allocated(all[n]));
    EXPECT_FAILS(tsr_clone(&more, all[0]), TSR_ENOMEM, "psram");
    EXPECT(more == NULL);
    tsr_release(&all[3]);
    EXPECT_OK(tsr_fill(all[n], tsr_scalar_i64(n)));
    for (int i = 0; i <= n; i++)
        if (all[i]) EXPECT(((unsigned char *)all[i]->data)[16383] == i);
    for (int i = 0; i <= n; i++) tsr_release(&all[i]);
    unregister_psram();
}

TEST(test_memory_freed_neighbours_merge)
{
    tsr_tensor *all[8];
    tsr_tensor *large = NULL;
    tsr_desc d;
    register_psram();
    for (int i = 0; i < 8; i++) all[i] = make(psram, 31 * 1024);
    for (int i = 0; i < 8; i += 2) tsr_release(&all[i]);
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, TSR_SHAPE(62 * 1024), NULL));
    EXPECT_OK(tsr_declare(&large, &d, TSR_CPU, psram));
    EXPECT_FAILS(tsr_alloc(large), TSR_ENOMEM, "psram");  /* 124 KiB are free, in four holes */
    tsr_release(&all[3]);
    EXPECT_OK(tsr_alloc(large));
    tsr_release(&large);
    for (int i = 1; i < 8; i += 2) tsr_release(&all[i]);
    large = make(psram, 255 * 1024);
    tsr_release(&large);
    unregister_psram();
}

/* A kind that counts: what it gave comes back, with the size that was asked for. */
static struct { int64_t allocs, frees, bytes; size_t alignment; } counted;

static void *counting_alloc(void *context, size_t bytes, size_t alignment)
{
    EXPECT(context == &counted);
    counted.allocs++;
    counted.bytes += (int64_t)bytes;
    counted.alignment = alignment;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void counting_free(void *context, void *data, size_t bytes)
{
    EXPECT(context == &counted && data);
    counted.frees++;
    counted.bytes -= (int64_t)bytes;
    free(data);
}

static tsr_memory register_counting(const char *name, size_t alignment)
{
    tsr_memory out = -1;
    const tsr_memory_kind kind = { .size = sizeof kind,
                                   .name = name,
                                   .context = &counted,
                                   .alloc = counting_alloc,
                                   .free = counting_free,
                                   .alignment = alignment,
                                   .host_access = true };
    memset(&counted, 0, sizeof counted);
    EXPECT_OK(tsr_memory_register(&out, &kind));
    return out;
}

TEST(test_memory_registered_kind_gets_back_what_it_gave)
{
    const tsr_memory kind = register_counting("counting", 256);
    uint64_t dice = 1;
    for (int i = 0; i < 100; i++) {
        tsr_tensor *t = make(kind, test_below(&dice, 5000));
        EXPECT((uintptr_t)t->data % 256 == 0 && counted.alignment == 256);
        EXPECT(counted.bytes == (tsr_byte_size(t) ? tsr_byte_size(t) : 1) &&
               tsr_memory_live(kind) == tsr_byte_size(t));
        tsr_release(&t);
    }
    EXPECT(counted.allocs == 100 && counted.frees == 100 && counted.bytes == 0);
    EXPECT_OK(tsr_memory_unregister(kind));

    const tsr_memory plain = register_counting("plain", 0);
    tsr_tensor *t = make(plain, 10);
    EXPECT(counted.alignment == 64);
    tsr_release(&t);
    EXPECT_OK(tsr_memory_unregister(plain));
}

TEST(test_memory_kind_in_use_is_ebusy)
{
    const tsr_memory kind = register_counting("counting", 0);
    tsr_storage *s = NULL;
    EXPECT_OK(tsr_storage_create(&s, 100, TSR_CPU, kind));
    EXPECT_FAILS(tsr_memory_unregister(kind), TSR_EBUSY, "counting");
    tsr_storage_release(&s);
    EXPECT_OK(tsr_storage_create(&s, 0, TSR_CPU, kind));  /* no bytes, and still the kind's */
    EXPECT_FAILS(tsr_memory_unregister(kind), TSR_EBUSY, "counting");
    tsr_storage_release(&s);
    EXPECT(counted.allocs == counted.frees);
    static char byte;
    EXPECT_OK(tsr_storage_borrow(&s, &byte, 1, TSR_CPU, kind));  /* not given by it, but said to be of it */
    EXPECT(tsr_storage_memory(s) == kind);
    EXPECT_FAILS(tsr_memory_unregister(kind), TSR_EBUSY, "counting");
    tsr_storage_release(&s);
    EXPECT_OK(tsr_memory_unregister(kind));
    EXPECT_FAILS(tsr_memory_unregister(kind), TSR_EINVAL, "no kind that was registered");
}

TEST(test_memory_kind_that_is_gone_is_no_kind)
{
    tsr_tensor *t = NULL;
    tsr_desc d;
    const tsr_memory kind = register_counting("short-lived", 0);
    EXPECT_OK(tsr_desc_init(&d, TSR_U8, TSR_SHAPE(10), NULL));
    EXPECT_OK(tsr_declare(&t, &d, TSR_CPU, kind));
    EXPECT_OK(tsr_memory_unregister(kind));  /* a described tensor holds no memory */
    EXPECT_FAILS(tsr_alloc(t), TSR_EINVAL, "no memory kind");
    EXPECT(!strcmp(tsr_memory_name(kind), "?") && !tsr_is_host(t));
    EXPECT_FAILS(tsr_check(t), TSR_EINVAL, "no memory kind");
    tsr_release(&t);
}

TEST(test_memory_kind_names_are_copied_and_unique)
{
    char name[] = "mine";
    tsr_memory found = -1, again = -1;
    const tsr_memory kind = register_counting(name, 0);
    const tsr_memory_kind same_name = {
        .size = sizeof same_name, .name = "mine", .alloc = counting_alloc, .free = counting_free
    };
    name[0] = 'w';
    EXPECT(!strcmp(tsr_memory_name(kind), "mine"));
    EXPECT_FAILS(tsr_memory_register(&again, &same_name), TSR_EINVAL, "\"mine\" is taken");
    EXPECT_OK(tsr_memory_find(&found, "mine"));
    EXPECT(found == kind && again == -1);
    EXPECT_OK(tsr_memory_unregister(kind));
    EXPECT_FAILS(tsr_memory_find(&found, "mine"), TSR_EINVAL, "mine");
    EXPECT_OK(tsr_memory_register(&again, &same_name));
    EXPECT(!tsr_memory_is_host(again));  /* not asked for */
    EXPECT_OK(tsr_memory_unregister(again));
}

TEST(test_memory_kinds_are_limited_and_places_are_used_again)
{
    tsr_memory kinds[TSR_MEMORY_MAX], extra = -1;
    int n = 0;
    for (; n < TSR_MEMORY_MAX - TSR_MEMORY_COUNT_BUILTIN; n++) {
        char name[20];
        (void)snprintf(name, sizeof name, "kind-%d", n);
        kinds[n] = register_counting(name, 0);
    }
    const tsr_memory_kind more = {
        .size = sizeof more, .name = "more", .alloc = counting_alloc, .free = counting_free
    };
    EXPECT_FAILS(tsr_memory_register(&extra, &more), TSR_ENOMEM, "32 kinds");
    EXPECT_OK(tsr_memory_unregister(kinds[5]));
    EXPECT_OK(tsr_memory_register(&kinds[5], &more));
    EXPECT(!strcmp(tsr_memory_name(kinds[5]), "more"));
    while (n-- > 0) EXPECT_OK(tsr_memory_unregister(kinds[n]));
}

TEST(test_memory_hidden_kind_is_kept_from_the_host)
{
    tsr_memory kind = -1;
    const tsr_memory_kind hidden = { .size = sizeof hidden, .name = "hidden", .context = &counted,
                                     .alloc = counting_alloc, .free = counting_free };
    tsr_tensor *t;
    float x;
    EXPECT_OK(tsr_memory_register(&kind, &hidden));
    t = make(kind, 8);
    EXPECT(!tsr_is_host(t));
    EXPECT_FAILS(tsr_fill(t, tsr_scalar_i64(1)), TSR_EDEVICE, "hidden");
    EXPECT_FAILS(tsr_get_f32(&x, t, TSR_INDEX(0)), TSR_EDTYPE, "u8");
    EXPECT_FAILS(tsr_item_f64(&(double){ 0 }, t), TSR_EDEVICE, "hidden");
    tsr_release(&t);
    EXPECT_OK(tsr_memory_unregister(kind));
}

/* The allocator and the hook --------------------------------------------------------- */

/* Factories, views, conversions, joins and text: what a program does. */
static void run_workload(void)
{
    tsr_tensor *a = NULL, *b = NULL, *c = NULL, *parts[3] = { NULL, NULL, NULL };
    bool same = false;
    char text[400];
    EXPECT_OK(tsr_randn(&a, TSR_F32, TSR_SHAPE(30, 40), 1));
    EXPECT_OK(tsr_transpose(&b, a, 0, 1));
    EXPECT_OK(tsr_rearrange(&c, b));
    EXPECT_OK(tsr_equal(&same, b, c));
    EXPECT(same);
    tsr_release(&c);
    EXPECT_OK(tsr_cast(&c, b, TSR_F64));
    EXPECT_OK(tsr_to_string(text, sizeof text, NULL, c, NULL));
    EXPECT_OK(tsr_split(parts, a, 0, TSR_SHAPE(10, 10, 10)));
    tsr_release(&c);
    EXPECT_OK(tsr_concat(&c, 3, (const tsr_tensor *const *)parts, 0));
    EXPECT_OK(tsr_equal(&same, c, a));
    EXPECT(same);
    EXPECT_OK(tsr_copy(parts[0], parts[1]));
    for (int i = 0; i < 3; i++) tsr_release(&parts[i]);
    tsr_release_all(&a, &b, &c);
}

TEST(test_memory_whole_workload_runs_from_an_arena)
{
    static _Alignas(64) unsigned char block[512 * 1024];
    tsr_arena arena;
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_arena_init(&arena, block, sizeof block));
    EXPECT_OK(tsr_set_allocator(&(tsr_allocator){ &arena, tsr_arena_alloc, tsr_arena_free }));
    for (int i = 0; i < 50; i++) run_workload();
    EXPECT(arena.peak > 10000 && arena.used > 0);  /* the library keeps headers for the next time */

    EXPECT_FAILS(tsr_zeros(&t, TSR_F64, TSR_SHAPE(1024, 1024)), TSR_ENOMEM, "zeros");
    EXPECT(t == NULL);
    EXPECT_OK(tsr_zeros(&t, TSR_F64, TSR_SHAPE(64)));
    EXPECT((unsigned char *)t->data > block && (unsigned char *)t->data < block + sizeof block);
    EXPECT_FAILS(tsr_set_allocator(NULL), TSR_EBUSY, "1 tensor");
    tsr_release(&t);
    EXPECT_OK(tsr_set_allocator(NULL));
    EXPECT(arena.used == 0);  /* and gives them back when it must */
    run_workload();
}

TEST(test_memory_allocator_gets_every_block_back)
{
    const bool was_on = tsr_pool_is_enabled();
    for (int on = 0; on < 2; on++) {
        tsr_pool_enable(on);
        memset(&counted, 0, sizeof counted);
        EXPECT_OK(tsr_set_allocator(&(tsr_allocator){ &counted, counting_alloc, counting_free }));
        run_workload();
        EXPECT(counted.allocs > 5);
        EXPECT_OK(tsr_set_allocator(NULL));
        EXPECT_MSG(counted.allocs == counted.frees && counted.bytes == 0,
                   "%lld blocks and %lld bytes are missing", (long long)(counted.allocs - counted.frees),
                   (long long)counted.bytes);
    }
    tsr_pool_enable(was_on);
}

/* A quota that asks the library how much it holds: the hook is called with no lock held. */
typedef struct quota { int64_t most; int refused; } quota;

static bool within_quota(void *context, size_t bytes)
{
    quota *q = context;
    const bool fits = stats_now().live_bytes + (int64_t)bytes <= q->most && tsr_memory_report(NULL, 0) > 0;
    if (!fits) q->refused++;
    return fits;
}

TEST(test_memory_hook_can_be_a_quota)
{
    quota q = { stats_now().live_bytes + 10000, 0 };
    tsr_tensor *a = NULL, *b = NULL;
    tsr_set_alloc_hook(within_quota, &q);
    EXPECT_OK(tsr_zeros(&a, TSR_U8, TSR_SHAPE(6000)));
    EXPECT_FAILS(tsr_zeros(&b, TSR_U8, TSR_SHAPE(6000)), TSR_ENOMEM, "zeros");
    EXPECT(b == NULL && q.refused == 1);
    EXPECT_OK(tsr_zeros(&b, TSR_U8, TSR_SHAPE(3000)));
    tsr_release(&a);
    EXPECT_OK(tsr_zeros(&a, TSR_U8, TSR_SHAPE(6000)));
    tsr_set_alloc_hook(NULL, NULL);
    tsr_release_all(&a, &b);
}

static bool note_size(void *context, size_t bytes)
{
    *(size_t *)context += bytes;
    return true;
}

TEST(test_memory_hook_is_asked_for_cached_memory_too)
{
    const bool was_on = tsr_pool_is_enabled();
    tsr_tensor *t = NULL;
    size_t first = 0, second = 0;
    tsr_pool_enable(true);
    tsr_set_alloc_hook(note_size, &first);
    EXPECT_OK(tsr_empty(&t, TSR_U8, TSR_SHAPE(5000)));
    tsr_release(&t);
    tsr_set_alloc_hook(note_size, &second);
    EXPECT_OK(tsr_empty(&t, TSR_U8, TSR_SHAPE(5000)));
    tsr_set_alloc_hook(NULL, NULL);
    tsr_release(&t);
    EXPECT(first == second && first >= 5000);
    tsr_pool_enable(was_on);
}

/* Counting --------------------------------------------------------------------------- */

TEST(test_memory_counts_are_exact)
{
    static float data[10];
    tsr_tensor *a = NULL, *b = NULL, *view = NULL, placed;
    tsr_desc d;
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(10), NULL));
    const tsr_memory_stats start = stats_now();
    EXPECT_OK(tsr_empty(&a, TSR_F32, TSR_SHAPE(1000)));
    tsr_memory_stats now = stats_now();
    EXPECT(now.live_bytes == start.live_bytes + 4000 && now.allocations == start.allocations + 1);
    EXPECT(now.live_storages == start.live_storages + 1 && now.live_tensors == start.live_tensors + 1);

    EXPECT_OK(tsr_view(&view, a, TSR_SHAPE(10, 100)));  /* a header, and no storage */
    now = stats_now();
    EXPECT(now.live_bytes == start.live_bytes + 4000 && now.allocations == start.allocations + 1);
    EXPECT(now.live_storages == start.live_storages + 1 && now.live_tensors == start.live_tensors + 2);

    EXPECT_OK(tsr_wrap(&b, data, &d));  /* a storage, and no bytes */
    now = stats_now();
    EXPECT(now.live_bytes == start.live_bytes + 4000 && now.allocations == start.allocations + 2);
    EXPECT(now.live_storages == start.live_storages + 2 && now.live_tensors == start.live_tensors + 3);

    EXPECT_OK(tsr_place(&placed, data, &d));  /* nothing at all */
    now = stats_now();
    EXPECT(now.live_storages == start.live_storages + 2 && now.live_tensors == start.live_tensors + 3);

    EXPECT(tsr_retain(a) == a);  /* an owner, and no tensor */
    EXPECT(stats_now().live_tensors == start.live_tensors + 3);
    tsr_tensor *again = a;
    tsr_release_all(&again, &a);
    now = stats_now();
    EXPECT(now.live_bytes == start.live_bytes + 4000 && now.live_tensors == start.live_tensors + 2);
    tsr_release_all(&view, &b);
    now = stats_now();
    EXPECT(now.live_bytes == start.live_bytes && now.live_storages == start.live_storages);
    EXPECT(now.live_tensors == start.live_tensors && now.allocations == start.allocations + 2);
}

/* More than the largest chunk of headers has. */
TEST(test_memory_many_tensors_are_each_their_own)
{
    enum { MANY = 700 };
    static tsr_tensor *all[MANY];
    const int64_t before = stats_now().live_tensors;
    for (int i = 0; i < MANY; i++) {
        EXPECT_OK(tsr_empty(&all[i], TSR_I32, TSR_SCALAR_SHAPE));
        *(int32_t *)all[i]->data = i;
    }
    EXPECT(stats_now().live_tensors == before + MANY);
    for (int i = 0; i < MANY; i++) {
        EXPECT(*(int32_t *)all[i]->data == i);
        tsr_release(&all[i]);
    }
    EXPECT(stats_now().live_tensors == before);
}

TEST(test_memory_peak_is_the_most_since_it_was_reset)
{
    const int64_t sizes[] = { 10, 1000, 70000, 300, 1 << 20 };  /* around what a thread counts for itself */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tsr_memory_reset_peak();
        const int64_t start = stats_now().live_bytes;
        EXPECT(stats_now().peak_bytes == start);
        tsr_tensor *a = make(TSR_MEMORY_HOST, sizes[i]), *b = make(TSR_MEMORY_HOST, sizes[i]);
        EXPECT(stats_now().peak_bytes == start + 2 * sizes[i]);
        tsr_release(&a);
        EXPECT(stats_now().peak_bytes == start + 2 * sizes[i] && stats_now().live_bytes == start + sizes[i]);
        a = make(TSR_MEMORY_HOST, sizes[i] / 2);
        EXPECT(stats_now().peak_bytes == start + 2 * sizes[i]);
        tsr_memory_reset_peak();
        EXPECT(stats_now().peak_bytes == start + sizes[i] + sizes[i] / 2);
        tsr_release_all(&a, &b);
        EXPECT(stats_now().peak_bytes == start + sizes[i] + sizes[i] / 2);
    }
}

static void *make_and_release(void *bytes)
{
    tsr_tensor *t = make(TSR_MEMORY_HOST, *(int64_t *)bytes);
    tsr_release(&t);
    return NULL;
}

/* What a thread counted for itself is known when it has ended. */
TEST(test_memory_peak_of_threads_that_ended_counts)
{
    int64_t sizes[] = { 10, 1000, 30000, 70000 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        pthread_t thread;
        tsr_memory_reset_peak();
        const int64_t start = stats_now().live_bytes;
        EXPECT(pthread_create(&thread, NULL, make_and_release, &sizes[i]) == 0);
        EXPECT(pthread_join(thread, NULL) == 0);
        EXPECT(stats_now().live_bytes == start && stats_now().peak_bytes == start + sizes[i]);
    }
}

/* The report ------------------------------------------------------------------------- */

static const char *line_with(const char *report, const char *part)
{
    static char line[300];
    const char *at = strstr(report, part);
    line[0] = '\0';
    if (!at) return line;
    while (at > report && at[-1] != '\n') at--;
    (void)snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    return line;
}

TEST(test_memory_report_says_who_holds_what)
{
    static float data[10];
    char report[4000];
    tsr_tensor *weights = NULL, *input = NULL, *borrowed = NULL, *view = NULL;
    tsr_desc d;
    register_psram();
    EXPECT_OK(tsr_zeros(&weights, TSR_F32, TSR_SHAPE(1000)));
    tsr_set_name(weights, "weights");
    input = make(psram, 7000);
    tsr_set_name(input, "input");
    EXPECT_OK(tsr_desc_init(&d, TSR_F32, TSR_SHAPE(10), NULL));
    EXPECT_OK(tsr_wrap(&borrowed, data, &d));
    tsr_set_name(borrowed, "outside");
    EXPECT_OK(tsr_view(&view, weights, TSR_SHAPE(10, 100)));

    const size_t length = tsr_memory_report(report, sizeof report);
    EXPECT(length == strlen(report) && length < sizeof report);
    const char *line = line_with(report, "weights");
    EXPECT_MSG(strstr(line, "4000") && strstr(line, "host") && strstr(line, "owned") && strstr(line, "2") &&
               strstr(line, "zeros"), "%s", line);
    line = line_with(report, "input");
    EXPECT_MSG(strstr(line, "7000") && strstr(line, "psram") && strstr(line, "owned") && strstr(line, "1"),
               "%s", line);
    line = line_with(report, "outside");
    EXPECT_MSG(strstr(line, "40") && strstr(line, "host") && strstr(line, "borrowed") && strstr(line, "wrap"),
               "%s", line);
    EXPECT(strstr(report, "input") < strstr(report, "weights") &&
           strstr(report, "weights") < strstr(report, "outside"));
    EXPECT_MSG(strstr(report, "4 tensors") && strstr(report, "3 storages") && strstr(report, "11000 bytes"),
               "%s", report);

    tsr_release(&weights);
    line = line_with((tsr_memory_report(report, sizeof report), report), "weights");
    EXPECT_MSG(strstr(line, "4000") && strstr(line, "1"), "%s", line);  /* the view holds it */
    tsr_release_all(&view, &input, &borrowed);
    (void)tsr_memory_report(report, sizeof report);
    EXPECT(!strstr(report, "weights") && !strstr(report, "input") && !strstr(report, "outside"));
    unregister_psram();
}

TEST(test_memory_report_is_cut_to_fit_and_returns_its_whole_length)
{
    char whole[4000], cut[4000];
    tsr_tensor *t = NULL;
    EXPECT_OK(tsr_zeros(&t, TSR_F32, TSR_SHAPE(1000)));
    const size_t length = tsr_memory_report(whole, sizeof whole);
    EXPECT(tsr_memory_report(NULL, 0) == length);
    for (size_t size = 1; size <= length + 2; size++) {
        memset(cut, 0x5a, sizeof cut);
        EXPECT(tsr_memory_report(cut, size) == length);
        const size_t fits = size - 1 < length ? size - 1 : length;
        EXPECT(!memcmp(cut, whole, fits) && cut[fits] == '\0' && cut[size] == 0x5a);
    }
    tsr_release(&t);
}

TEST(test_memory_report_of_many_storages_tells_how_many_are_left_out)
{
    char report[8000];
    tsr_tensor *all[200];
    for (int i = 0; i < 200; i++) {
        char name[20];
        all[i] = make(TSR_MEMORY_HOST, 1000 + i);
        (void)snprintf(name, sizeof name, "tensor-%03d", i);
        tsr_set_name(all[i], name);
    }
    EXPECT(tsr_memory_report(report, sizeof report) < sizeof report);
    EXPECT(strstr(report, "tensor-199") && !strstr(report, "tensor-000") && strstr(report, "more"));
    const char *last = report;
    for (int i = 199; i > 190; i--) {  /* largest first */
        char name[20];
        (void)snprintf(name, sizeof name, "tensor-%03d", i);
        const char *at = strstr(report, name);
        EXPECT(at && at > last);
        last = at ? at : last;
    }
    for (int i = 0; i < 200; i++) tsr_release(&all[i]);
}

TEST(test_memory_names_are_cut_and_can_be_taken_away)
{
    char report[2000];
    tsr_tensor *t = make(TSR_MEMORY_HOST, 1000);
    tsr_set_name(t, "abcdefghijklmnopqrstuvwxyz0123456789");
    (void)tsr_memory_report(report, sizeof report);
    EXPECT(strstr(report, "abcdefghijklmnopqrstuvwxyz01234") && !strstr(report, "z012345"));
    tsr_set_name(t, "");
    (void)tsr_memory_report(report, sizeof report);
    EXPECT(!strstr(report, "abc"));
    tsr_set_name(t, "again");
    tsr_release(&t);
    t = make(TSR_MEMORY_HOST, 1000);  /* likely in the same slot: the name must not stay behind */
    (void)tsr_memory_report(report, sizeof report);
    EXPECT(!strstr(report, "again"));
    tsr_release(&t);
}

/* The arena -------------------------------------------------------------------------- */

enum { SLOTS = 200, ARENA_BYTES = 1 << 18 };

typedef struct claim { unsigned char *data; size_t bytes; unsigned char mark; } claim;

static bool is_marked(const claim *c)
{
    for (size_t i = 0; i < c->bytes; i++)
        if (c->data[i] != c->mark) return false;
    return true;
}

/* Random claims and releases; a claim's bytes are marked, so an overlap shows as a wrong mark. */
static void stress_arena(size_t skew, uint64_t seed)
{
    static _Alignas(64) unsigned char block[ARENA_BYTES + 64];
    claim claims[SLOTS] = { { NULL, 0, 0 } };
    tsr_arena arena;
    int refused = 0;
    EXPECT_OK(tsr_arena_init(&arena, block + skew, ARENA_BYTES));
    for (int round = 0; round < 20000; round++) {
        claim *c = &claims[test_below(&seed, SLOTS)];
        if (c->data) {
            EXPECT(is_marked(c));
            tsr_arena_free(&arena, c->data, c->bytes);
            c->data = NULL;
            continue;
        }
        const size_t alignment = (size_t)1 << test_below(&seed, 13);
        c->bytes = (size_t)test_below(&seed, test_below(&seed, 10) ? 2000 : 40000);
        c->mark = (unsigned char)test_next(&seed);
        c->data = tsr_arena_alloc(&arena, c->bytes, alignment);
        if (!c->data) {
            refused++;
            continue;
        }
        EXPECT((uintptr_t)c->data % alignment == 0 && (uintptr_t)c->data % 64 == 0);
        EXPECT(c->data >= block + skew && c->data + c->bytes <= block + skew + ARENA_BYTES);
        memset(c->data, c->mark, c->bytes);
        EXPECT(arena.used <= arena.size && arena.peak >= arena.used);
    }
    EXPECT(refused > 0);
    for (int i = 0; i < SLOTS; i++) {
        if (claims[i].data) EXPECT(is_marked(&claims[i]));
        tsr_arena_free(&arena, claims[i].data, claims[i].bytes);
    }
    EXPECT(arena.used == 0);
    /* All holes have become one again: everything but a tag can be had in one piece. */
    void *all = tsr_arena_alloc(&arena, arena.size - 64, 64);
    EXPECT(all != NULL && arena.used == arena.size);
    tsr_arena_free(&arena, all, arena.size - 64);
}

TEST(test_memory_arena_hands_out_no_byte_twice_and_merges_all)
{
    stress_arena(0, 1);
    stress_arena(1, 2);
    stress_arena(63, 3);
}

TEST(test_memory_arena_takes_the_first_hole_that_fits)
{
    static _Alignas(64) unsigned char block[64 * 1024];
    tsr_arena arena;
    EXPECT_OK(tsr_arena_init(&arena, block, sizeof block));
    void *a = tsr_arena_alloc(&arena, 1000, 64), *b = tsr_arena_alloc(&arena, 1000, 64);
    void *c = tsr_arena_alloc(&arena, 1000, 64);
    EXPECT(a && b && c && a < b && b < c);
    tsr_arena_free(&arena, a, 1000);
    tsr_arena_free(&arena, b, 1000);
    EXPECT(tsr_arena_alloc(&arena, 2000, 64) == a);
    tsr_arena_free(&arena, a, 2000);
    tsr_arena_free(&arena, c, 1000);
    EXPECT(arena.used == 0 && arena.peak >= 3000);
}

/* Corners of the allocator ------------------------------------------------------------- */

TEST(test_memory_default_allocator_takes_any_size_and_alignment)
{
    EXPECT(tsri_alloc(SIZE_MAX - 100, 64) == NULL);
    static const size_t bytes[] = { 0, 10, 0, 100, (size_t)3 << 20, (size_t)3 << 20 };
    static const size_t alignments[] = { 8, 8, 64, 4096, 64, (size_t)4 << 20 };
    for (int i = 0; i < 6; i++) {
        char *p = tsri_alloc(bytes[i], alignments[i]);
        EXPECT_MSG(p && (uintptr_t)p % alignments[i] == 0, "%zu at %zu", bytes[i], alignments[i]);
        if (p) memset(p, 1, bytes[i]);
        tsri_free(p, bytes[i]);
    }
}

TEST(test_memory_without_a_hook_all_is_allowed) { EXPECT(tsri_alloc_ask_hook(100)); }

TEST(test_memory_allocator_stays_while_a_storage_lives)
{
    tsr_storage *s = NULL;
    EXPECT_OK(tsr_storage_create(&s, 100, TSR_CPU, TSR_MEMORY_HOST));
    EXPECT_FAILS(tsr_set_allocator(NULL), TSR_EBUSY, "0 tensors and 1 storages live");
    tsr_storage_release(&s);
    EXPECT_OK(tsr_set_allocator(NULL));
}

static pthread_barrier_t meeting, parting;

/* Keeps slots of its own, and a block if it made one of so many bytes, until it ends; 0: nothing. */
static void *make_and_stay(void *argument)
{
    const int64_t bytes = (intptr_t)argument;
    tsr_memory_stats stats;
    tsr_memory_get_stats(&stats);
    if (bytes > 0) {
        tsr_tensor *t = make(TSR_MEMORY_HOST, bytes);
        tsr_release(&t);
    }
    (void)pthread_barrier_wait(&meeting);
    (void)pthread_barrier_wait(&parting);
    return argument;
}

/* Threads that make tensors of these sizes, one after the other, and stay. */
static void expect_allocator_stays(int n, const intptr_t *bytes, tsr_status status)
{
    pthread_t thread[3];
    EXPECT(pthread_barrier_init(&meeting, NULL, 2) == 0);
    EXPECT(pthread_barrier_init(&parting, NULL, (unsigned)n + 1) == 0);
    for (int i = 0; i < n; i++) {
        EXPECT(pthread_create(&thread[i], NULL, make_and_stay, (void *)bytes[i]) == 0);
        (void)pthread_barrier_wait(&meeting);
    }
    EXPECT_STATUS(tsr_set_allocator(NULL), status);
    if (status != TSR_OK) EXPECT(strstr(tsr_last_error(), "another thread still caches memory") != NULL);
    (void)pthread_barrier_wait(&parting);
    for (int i = 0; i < n; i++) EXPECT(pthread_join(thread[i], NULL) == 0);
    EXPECT_OK(tsr_set_allocator(NULL));
    EXPECT(pthread_barrier_destroy(&meeting) == 0 && pthread_barrier_destroy(&parting) == 0);
}

TEST(test_memory_allocator_stays_while_another_thread_keeps_memory)
{
#ifdef TSR_NO_THREADS
    SKIP("a build for one thread");
#endif
    expect_allocator_stays(1, (intptr_t[]){ 1000 }, TSR_EBUSY);
    expect_allocator_stays(1, (intptr_t[]){ 1 }, TSR_EBUSY);
    expect_allocator_stays(2, (intptr_t[]){ 0, 0 }, TSR_OK);
    expect_allocator_stays(3, (intptr_t[]){ 1000, 1, 0 }, TSR_EBUSY);
    expect_allocator_stays(3, (intptr_t[]){ 0, 1, 1000 }, TSR_EBUSY);
}

static void no_delete(void *context, void *data, size_t bytes) { (void)context, (void)data, (void)bytes; }

TEST(test_memory_of_nobody_is_refused_unless_it_is_empty)
{
    tsr_storage *s = NULL;
    EXPECT_FAILS(tsr_storage_borrow(&s, NULL, 5, TSR_CPU, TSR_MEMORY_HOST), TSR_ENULL,
                 "storage_borrow: data is NULL");
    EXPECT_FAILS(tsr_storage_adopt(&s, NULL, 5, TSR_CPU, TSR_MEMORY_HOST, no_delete, NULL), TSR_ENULL,
                 "storage_adopt: data is NULL");
    EXPECT(s == NULL);
    EXPECT_OK(tsr_storage_borrow(&s, NULL, 0, TSR_CPU, TSR_MEMORY_HOST));
    tsr_storage_release(&s);
    EXPECT_OK(tsr_storage_adopt(&s, NULL, 0, TSR_CPU, TSR_MEMORY_HOST, no_delete, NULL));
    tsr_storage_release(&s);
}

static void *some_alloc(void *context, size_t bytes, size_t alignment)
{
    return (void)context, aligned_alloc(alignment, bytes);
}
static void some_free(void *context, void *data, size_t bytes) { (void)context, (void)bytes, free(data); }

TEST(test_memory_kind_names_have_letters_digits_and_dashes)
{
    static const char *const wrong[] = { "", "a/b", "a:", "a@", "a[", "a`", "a{", "a b", "a\x80" };
    tsr_memory kind = 0;
    tsr_memory_kind k = {
        .size = sizeof k, .alloc = some_alloc, .free = some_free, .alignment = 64, .host_access = true
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        k.name = wrong[i];
        EXPECT_FAILS(tsr_memory_register(&kind, &k), TSR_EINVAL, "memory_register");
    }
    k.name = "aZ_9-Az0";
    EXPECT_OK(tsr_memory_register(&kind, &k));
    EXPECT(!strcmp(tsr_memory_name(kind), "aZ_9-Az0"));
    EXPECT_OK(tsr_memory_unregister(kind));
}

TEST_BEFORE
{
    if (!write_file()) exit(1);
}

TEST_AFTER
{
    (void)unlink(path);
}
