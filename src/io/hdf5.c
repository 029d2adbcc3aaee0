/* hdf5.c - the datasets of an HDF5 file, by their paths: group/name.
 *
 * Read by code of our own: what libhdf5 does with a damaged file is not ours to bound. Contiguous and
 * compact datasets are mapped from where they lie, as other formats are; chunks are decoded. A file leads
 * to no other: links to other files and datasets that lie in them, virtual ones too, are not followed.
 * hdf5_write.c writes. */
#include "core/alloc.h"
#include "core/tensor_int.h"
#include "core/text.h"
#include "hdf5_int.h"
#include "hdf5_write.h"
#include "json.h"
#include "tessera/move.h"

enum {
    DEEPEST = TSRI_HDF5_DEEPEST,
    LONGEST = TSRI_HDF5_LONGEST,
    NAME_TIMES = 4,
    FREE = 1 << 16,
    TIMES = 1032,
    WORK_TIMES = 32,
    LARGEST_START = 1 << 20
};

/* The superblock ------------------------------------------------------------------------ */

static const char magic[] = "\x89HDF\r\n\x1a\n";

static bool is_hdf5(const unsigned char *head, size_t n) { return n >= 8 && memcmp(head, magic, 8) == 0; }

/* It begins the file, or lies behind 512 bytes of something else, 1024, 2048, ... */
static tsr_status find_start(const tsr_file *f, uint64_t *out)
{
    unsigned char head[8];
    const tsri_source *s = f->parts[0];
    for (uint64_t at = 0; at + sizeof head <= s->size && at <= LARGEST_START; at = at ? 2 * at : 512) {
        TSRI_TRY(tsri_source_read(s, head, at, sizeof head));
        *out = at;
        if (is_hdf5(head, sizeof head)) return TSR_OK;
    }
    return TSRI_DAMAGE(f, "no block begins as HDF5");
}

/* How long addresses and lengths are, and where the root is. */
static tsr_status take_superblock(tsri_hdf5_file *h, tsri_hdf5_block *b, uint64_t *root)
{
    tsri_block_skip(b, 8);
    const uint64_t version = tsri_block_take(b, 1);
    tsri_block_skip(b, version < 2 ? 4 : 0);
    const uint64_t offsets = tsri_block_take(b, 1), lengths = tsri_block_take(b, 1);
    TSRI_CHECK(version <= 3, TSR_EUNSUPPORTED, "file_open: %s: version %llu of HDF5; 0 to 3 are read",
               h->f->path, tsri_ull(version));
    TSRI_SOUND((offsets == 2 || offsets == 4 || offsets == 8) &&
                   (lengths == 2 || lengths == 4 || lengths == 8),
               h->f, "addresses of %llu and lengths of %llu bytes", tsri_ull(offsets), tsri_ull(lengths));
    h->offsets = (int)offsets;
    h->lengths = (int)lengths;
    if (version < 2)
        tsri_block_skip(b, 9 + (version ? 4u : 0u) + 5 * offsets); /* 4 addresses, a place of a name */
    else tsri_block_skip(b, 1 + 3 * offsets);
    *root = tsri_block_address(h, b);
    const uint32_t sum = tsri_hdf5_checksum(b->data, b->at);
    const bool sound = version < 2 || tsri_block_take(b, 4) == sum;
    TSRI_SOUND(!b->ended, h->f, "ends in its first block");
    TSRI_SOUND(sound, h->f, "the checksum of its first block is wrong");
    return TSR_OK;
}

static tsr_status begin(tsri_hdf5_file *h, const tsr_file *f, uint64_t *root)
{
    tsri_hdf5_block b;
    const uint64_t size = f->parts[0]->size;
    *h = (tsri_hdf5_file){ .f = f, .offsets = 8, .lengths = 8, .work = size * WORK_TIMES + FREE };
    TSRI_TRY(find_start(f, &h->base));
    TSRI_TRY(tsri_block_load(h, &b, 0, size - h->base < 96 ? size - h->base : 96));
    const tsr_status s = take_superblock(h, &b, root);
    tsri_block_free(&b);
    return s;
}

/* Datasets ------------------------------------------------------------------------------ */

typedef struct walk {
    tsri_hdf5_file h;
    tsr_file *f;
    int64_t budget; /* bytes of names that are still believed */
    int depth;
    uint64_t groups[DEEPEST]; /* that it is in */
    size_t length; /* of the name */
    char name[LONGEST + 1];
} walk;

/* Filters that are not undone here, as the list of registered ones has them. */
static const char *filter_name(unsigned id)
{
    static const struct known { unsigned id; const char *name; } list[] = {
        { 4, "the filter szip" },       { 5, "the filter nbit" },          { 6, "the filter scaleoffset" },
        { 307, "the filter bzip2" },    { 32001, "the filter blosc" },     { 32004, "the filter lz4" },
        { 32008, "the filter bitshuffle" }, { 32013, "the filter zfp" },   { 32015, "the filter zstd" },
        { 32026, "the filter blosc2" },
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (list[i].id == id) return list[i].name;
    return "an unknown filter";
}

/* Whether its elements are read here, and if not, why. */
static void choose_encoding(tsri_entry *e, const tsri_hdf5_object *o)
{
    e->encoding = o->type.encoding;
    if (o->has_data_elsewhere || o->layout == TSRI_ELSEWHERE) e->encoding = "data in another file";
    else if (o->other_filter) e->encoding = filter_name(o->other_filter);
    else return;
    e->dtype = TSR_DTYPE_INVALID;
}

/* Chunks are of the rank of the dataset, not empty, and no larger than what a file of this size holds. */
static tsr_status check_chunks(const walk *w, const tsri_hdf5_object *o)
{
    int64_t shape[TSR_MAX_NDIM];
    uint64_t bytes = 0;
    bool sound = o->chunk_ndim == o->ndim && o->ndim > 0;
    for (int i = 0; i < o->ndim && sound; i++) {
        sound = o->chunk[i] > 0 && o->chunk[i] <= INT64_MAX;
        shape[i] = (int64_t)o->chunk[i];
    }
    TSRI_SOUND(sound, w->f, "\"%s\": chunks of %d dims for a dataset of %d, or empty ones", w->name,
               o->chunk_ndim, o->ndim);
    TSRI_TRY(tsri_file_shape_bytes(&bytes, w->f, w->name, o->type.size, o->ndim, shape));
    TSRI_CHECK(bytes <= FREE || (bytes - FREE) / TIMES <= w->f->parts[0]->size, TSR_EUNSUPPORTED,
               "file_open: %s: \"%s\" has chunks of %llu bytes, which a file of %llu does not hold",
               w->f->path, w->name, tsri_ull(bytes), tsri_ull(w->f->parts[0]->size));
    return TSR_OK;
}

static tsr_status place_elements(const walk *w, tsri_entry *e, const tsri_hdf5_object *o)
{
    const uint64_t room = w->f->parts[0]->size - w->h.base;
    if (o->layout == TSRI_CHUNKED) return check_chunks(w, o);
    if (o->address == TSRI_NOWHERE) return TSR_OK;
    TSRI_SOUND(o->layout != TSRI_COMPACT || o->bytes == e->bytes, w->f,
               "\"%s\" takes %llu bytes, and has %llu", w->name, tsri_ull(e->bytes), tsri_ull(o->bytes));
    TSRI_SOUND(o->address <= room && e->bytes <= room - o->address, w->f,
               "\"%s\" takes %llu bytes from byte %llu on, and the file ends at %llu", w->name,
               tsri_ull(e->bytes), tsri_ull(o->address), tsri_ull(room));
    e->plain = true;
    e->offset = w->h.base + o->address;
    return TSR_OK;
}

static tsr_status add_dataset(walk *w, const tsri_hdf5_object *o, uint64_t address)
{
    tsri_entry *e = NULL;
    if (o->ndim < 0 || !o->has_type) return TSR_OK;
    const char *name = tsri_bump_text(&w->f->memory, w->name, w->length);
    TSRI_CHECK(name, TSR_ENOMEM, "file_open: %s: no room for its names", w->f->path);
    TSRI_TRY(tsri_file_add(w->f, &e, name, o->type.dtype, o->ndim, o->shape));
    choose_encoding(e, o);
    e->swapped = o->type.swapped && o->type.size > 1;
    e->detail = address;
    if (e->dtype) return place_elements(w, e, o);
    e->bytes = 0;
    return TSR_OK;
}

/* Groups -------------------------------------------------------------------------------- */

static tsr_status visit_link(void *context, const char *name, size_t n, uint64_t address);

/* A group that holds itself is listed once. */
static bool is_inside(const walk *w, uint64_t address)
{
    for (int i = 0; i < w->depth; i++)
        if (w->groups[i] == address) return true;
    return false;
}

static tsr_status visit(walk *w, uint64_t address)
{
    tsri_hdf5_object o;
    TSRI_TRY(tsri_hdf5_read_object(&w->h, &o, address));
    if (o.has_layout && o.has_space) return add_dataset(w, &o, address);
    if (!o.is_group || is_inside(w, address)) return TSR_OK;
    TSRI_SOUND(w->depth < DEEPEST, w->f, "\"%.100s...\": groups in groups, more than %d deep", w->name,
               DEEPEST);
    w->groups[w->depth++] = address;
    TSRI_TRY(tsri_hdf5_each_link(&w->h, address, &o, visit_link, w));
    w->depth--;
    return TSR_OK;
}

static tsr_status visit_link(void *context, const char *name, size_t n, uint64_t address)
{
    walk *w = context;
    const size_t before = w->length, slash = before > 0;
    const bool fits = n > 0 && n + slash <= LONGEST - before;
    TSRI_SOUND(fits && tsri_is_utf8(name, n) && !memchr(name, 0, n) && !memchr(name, '/', n), w->f,
               "below \"%.100s\": a name of %zu bytes, or of no UTF-8", w->name, n);
    if (slash) w->name[w->length++] = '/';
    memcpy(w->name + w->length, name, n);
    w->name[w->length += n] = '\0';
    w->budget -= (int64_t)w->length + 8;
    TSRI_SOUND(w->budget >= 0, w->f, "names out of proportion to its size");
    TSRI_TRY(visit(w, address));
    w->name[w->length = before] = '\0';
    return TSR_OK;
}

static tsr_status open_hdf5(tsr_file *f)
{
    uint64_t root = 0;
    walk *w = tsri_scratch(sizeof *w);
    TSRI_CHECK(w, TSR_ENOMEM, "file_open: %s: no room", f->path);
    *w = (walk){ .f = f, .budget = (int64_t)f->parts[0]->size * NAME_TIMES + FREE };
    tsr_status s = begin(&w->h, f, &root);
    if (s == TSR_OK) s = visit(w, root);
    tsri_free(w, sizeof *w);
    return s;
}

/* Reading ------------------------------------------------------------------------------- */

/* Elements that were never written. */
static void fill_elements(tsr_tensor *t, const tsri_hdf5_object *o)
{
    const size_t size = o->type.size;
    unsigned char *p = t->data;
    for (int64_t i = 0, n = tsr_numel(t); i < n; i++) memcpy(p + (size_t)i * size, o->fill, size);
}

static tsr_status read_elements(const tsr_file *f, const tsri_entry *e, tsr_tensor *t)
{
    tsri_hdf5_file h;
    tsri_hdf5_object o;
    uint64_t root = 0;
    TSRI_TRY(begin(&h, f, &root));
    TSRI_TRY(tsri_hdf5_read_object(&h, &o, e->detail));
    tsri_entry now = { .dtype = o.type.dtype };
    choose_encoding(&now, &o);
    bool same = o.has_layout && o.ndim == e->ndim && now.dtype == e->dtype;
    for (int i = 0; i < e->ndim && same; i++) same = o.shape[i] == e->shape[i];
    TSRI_SOUND(same, f, "\"%s\" has changed since it was listed", e->name);
    fill_elements(t, &o);
    const bool chunked = o.layout == TSRI_CHUNKED && o.address != TSRI_NOWHERE;
    const walk w = { .f = (tsr_file *)(uintptr_t)f };
    if (chunked) TSRI_TRY(check_chunks(&w, &o));
    if (chunked) TSRI_TRY(tsri_hdf5_read_chunks(&h, &o, t));
    tsri_make_elements(t, e);
    return TSR_OK;
}

static tsr_status read_hdf5(tsr_tensor **out, const tsr_file *f, const tsri_entry *e)
{
    tsr_tensor *t = NULL;
    TSRI_CHECK(e->bytes <= FREE || (e->bytes - FREE) / TIMES <= f->parts[0]->size, TSR_EUNSUPPORTED,
               "file_read: %s: \"%s\" has %llu bytes, which a file of %llu does not hold", f->path, e->name,
               tsri_ull(e->bytes), tsri_ull(f->parts[0]->size));
    TSRI_TRY(tsri_make_packed(&t, "file_read", e->dtype, e->ndim, e->shape));
    const tsr_status s = tsr_numel(t) ? read_elements(f, e, t) : TSR_OK;
    if (s != TSR_OK) tsr_release(&t);
    else *out = t;
    return s;
}

/* Chunks have no bytes to give as they are. */
static tsr_status read_raw(tsr_tensor **out, const tsr_file *f, const tsri_entry *e)
{
    const int64_t n = (int64_t)e->bytes;
    TSRI_CHECK(e->plain, TSR_EUNSUPPORTED, "file_read_raw: %s: \"%s\" does not lie in one piece", f->path,
               e->name);
    const tsri_entry bytes = { .name = e->name,
                               .encoding = "u8",
                               .shape = &n,
                               .dtype = TSR_U8,
                               .ndim = 1,
                               .plain = true,
                               .offset = e->offset,
                               .bytes = e->bytes };
    return tsri_read_plain(out, f, &bytes, NULL, 0);
}

const tsri_format tsri_hdf5 = {
    .info = { "hdf5", "many tensors, in groups", true, true, true, ".h5 .hdf5" },
    .is = is_hdf5,
    .open = open_hdf5,
    .read = read_hdf5,
    .read_raw = read_raw,
    .plan = tsri_hdf5_plan,
    .add = tsri_hdf5_add,
    .finish = tsri_hdf5_finish,
};
