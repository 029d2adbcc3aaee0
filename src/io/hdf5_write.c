/* hdf5_write.c - HDF5 files: elements as they come, then the headers of datasets and groups, and at the end
 * the first block, which says where the root is.
 *
 * Of the format: superblock and headers of version 2, links in the headers of groups, elements contiguous
 * or, compressed, in chunks that a tree finds. libhdf5 reads it since 1.8. */
#include "hdf5_write.h"
#include "core/alloc.h"
#include "core/sizes.h"
#include "core/tensor_int.h"
#include "hdf5_int.h"
#include "inflate.h"
#include "json.h"
#include "tessera/move.h"
#include "tessera/view.h"

enum { SUPERBLOCK = 48, HEADER = 512, CHUNK = 1 << 20, FANOUT = 64, ALIGNMENT = 64 };

/* Numbers ------------------------------------------------------------------------------- */

typedef struct writing {
    unsigned char *data;
    size_t bytes;
} writing;

/* At most 8 bytes. */
static void put(writing *b, uint64_t value, int n)
{
    for (int i = 0; i < n; i++) b->data[b->bytes++] = (unsigned char)(value >> 8 * i);
}

static void put_bytes(writing *b, const void *data, size_t n)
{
    memcpy(b->data + b->bytes, data, n);
    b->bytes += n;
}

static void put_nowhere(writing *b) { put(b, UINT64_MAX, 8); }

/* Where the next block goes; the file grows to its end. */
static tsr_status append(tsr_writer *w, const void *data, size_t bytes, uint64_t *at)
{
    *at = w->data_start;
    TSRI_TRY(tsri_sink_write(&w->sink, *at, data, bytes));
    w->data_start += tsri_round_up(bytes, 8);
    return TSR_OK;
}

/* What is planned ----------------------------------------------------------------------- */

static bool has_dtype(tsr_dtype dtype) { return dtype != TSR_F8E4M3 && dtype != TSR_F8E5M2; }

/* Names with one slash between them, and not too many. */
static bool is_path(const char *name)
{
    const size_t n = tsri_strlen(name);
    int groups = 0;
    bool sound = n > 0 && n <= TSRI_HDF5_LONGEST && name[0] != '/' && name[n - 1] != '/' &&
                 tsri_is_utf8(name, n);
    for (size_t i = 1; i < n && sound; i++) {
        sound = name[i] != '/' || name[i - 1] != '/';
        groups += name[i] == '/';
    }
    return sound && groups < TSRI_HDF5_DEEPEST;
}

/* The names of all groups of the tensors in the plan. A tensor's groups are added when the next one is
 * planned, so that an add that fails adds none. */
typedef struct groups {
    tsri_names names;
    int64_t noted; /* of the plan */
} groups;

static tsr_status note_groups(tsr_writer *w, groups *g)
{
    for (; g->noted < w->plan_list.count; g->noted++) {
        const char *name = w->plan[g->noted]->name;
        for (size_t i = 0; name[i]; i++) {
            if (name[i] != '/') continue;
            const char *group = tsri_bump_text(&w->memory, name, i);
            TSRI_CHECK(group && (tsri_names_have(&g->names, group) ||
                                 tsri_names_add(&g->names, &w->memory, group)),
                       TSR_ENOMEM, "writer_add: %s: no room", w->path);
        }
    }
    return TSR_OK;
}

static bool is_in_tensor(const tsr_writer *w, const char *name)
{
    char group[TSRI_HDF5_LONGEST + 1];
    bool found = false;
    for (size_t i = 0; name[i] && !found; i++) {
        group[i] = '\0';
        found = name[i] == '/' && tsri_names_have(&w->names, group);
        group[i] = name[i];
    }
    return found;
}

/* The groups of a path are no tensors, and the tensor is no group. */
static tsr_status plan_groups(tsr_writer *w, const char *name)
{
    if (!w->state) w->state = tsri_bump_take(&w->memory, sizeof(groups));
    groups *g = w->state;
    TSRI_CHECK(g, TSR_ENOMEM, "writer_add: %s: no room", w->path);
    TSRI_TRY(note_groups(w, g));
    TSRI_CHECK(!tsri_names_have(&g->names, name) && !is_in_tensor(w, name), TSR_EINVAL,
               "writer_add: %s: \"%s\": a part of its path is a tensor, or it is a group", w->path, name);
    return TSR_OK;
}

/* Chunks of whole rows of about a MiB: 1, ..., 1, some rows, all of the rest. */
static void chunk_of(const tsr_desc *d, int64_t chunk[TSR_MAX_NDIM])
{
    int64_t row = tsr_desc_bytes(d);
    bool cut = false;
    for (int i = 0; i < d->ndim; i++) {
        row /= d->shape[i];
        chunk[i] = cut ? d->shape[i] : least(d->shape[i], tsri_max(CHUNK / row, 1));
        cut = cut || row <= CHUNK;
    }
}

tsr_status tsri_hdf5_plan(tsr_writer *w, tsri_file_entry *p)
{
    TSRI_CHECK(!p->encoding, TSR_EUNSUPPORTED, "writer_add: %s: hdf5 has no encodings", w->path);
    TSRI_CHECK(is_path(p->name), TSR_EINVAL,
               "writer_add: %s: \"%.100s\" is no path of HDF5: names with one / between, at most %d", w->path,
               p->name, TSRI_HDF5_DEEPEST);
    TSRI_CHECK(has_dtype(p->desc.dtype), TSR_EDTYPE,
               "writer_add: %s: hdf5 has no %s (tsr_cast, or another format)", w->path,
               tsr_dtype_name(p->desc.dtype));
    p->kind = w->opts.compress && p->desc.ndim > 0 && p->bytes > 0;
    return plan_groups(w, p->name);
}

/* Elements ------------------------------------------------------------------------------ */

typedef struct chunk {
    uint64_t at;
    uint32_t bytes;
} chunk;

typedef struct chunks {
    tsr_writer *w;
    const tsr_desc *desc;
    int64_t size[TSR_MAX_NDIM], grid[TSR_MAX_NDIM];
    int64_t count;
    size_t bytes, room; /* of a chunk, and of what it is compressed to */
    chunk *list;
    unsigned char *padded, *packed, *scratch;
} chunks;

static tsr_status put_chunk(chunks *c, chunk *out, const unsigned char *data, size_t bytes)
{
    if (bytes < c->bytes) {
        memcpy(c->padded, data, bytes);
        memset(c->padded + bytes, 0, c->bytes - bytes);
        data = c->padded;
    }
    memcpy(c->packed, "\x78\x9c", 2);
    const size_t n = 2 + tsri_deflate(c->packed + 2, data, c->bytes, true, c->scratch);
    tsri_set32_big(c->packed + n, tsri_adler32(1, data, c->bytes));
    out->bytes = (uint32_t)n + 4;
    return append(c->w, c->packed, n + 4, &out->at);
}

/* Where chunk i begins, in elements, and how many of them it has: rows end before chunks do. */
static int64_t corner_of(const chunks *c, int64_t i, int64_t corner[TSR_MAX_NDIM], int64_t *elements)
{
    int64_t at = 0;
    *elements = 1;
    for (int axis = c->desc->ndim - 1; axis >= 0; axis--) {
        corner[axis] = i % c->grid[axis] * c->size[axis];
        i /= c->grid[axis];
        at += corner[axis] * c->desc->stride[axis];
        *elements *= least(c->size[axis], c->desc->shape[axis] - corner[axis]);
    }
    return at;
}

/* A tree of version 1 ------------------------------------------------------------------- */

/* The bytes of a chunk, no filter left out, and its corner. Behind the last comes a key beyond it. */
static void put_key(const chunks *c, writing *b, int64_t i)
{
    int64_t corner[TSR_MAX_NDIM], elements;
    const bool beyond = i >= c->count;
    (void)corner_of(c, beyond ? c->count - 1 : i, corner, &elements);
    put(b, beyond ? 0 : c->list[i].bytes, 4);
    put(b, 0, 4);
    for (int axis = 0; axis < c->desc->ndim; axis++)
        put(b, (uint64_t)(corner[axis] + (beyond && axis == 0 ? c->size[0] : 0)), 8);
    put(b, 0, 8);
}

typedef struct level {
    int64_t n, each, width;
    uint64_t below;
} level; /* nodes; chunks below one child */

/* A node whose first child is number `first` of the level below. */
static void put_node(const chunks *c, writing *b, const level *l, int depth, int64_t i)
{
    const int64_t first = i * FANOUT, n = least(l->width - first, FANOUT);
    const uint64_t here = c->w->data_start,
                   size = tsri_round_up((size_t)(24 + FANOUT * 8 + (FANOUT + 1) * (16 + 8 * c->desc->ndim)),
                                        8);
    put_bytes(b, "TREE\1", 5);
    put(b, (uint64_t)depth, 1);
    put(b, (uint64_t)n, 2);
    put(b, i > 0 ? here - size : UINT64_MAX, 8);
    put(b, i + 1 < l->n ? here + size : UINT64_MAX, 8);
    for (int64_t k = 0; k < n; k++) {
        put_key(c, b, (first + k) * l->each);
        put(b, depth ? l->below + (uint64_t)(first + k) * size : c->list[first + k].at, 8);
    }
    put_key(c, b, (first + n) * l->each);
    memset(b->data + b->bytes, 0, (size_t)size - b->bytes);
    b->bytes = (size_t)size;
}

/* Level by level, from the leaves to the root, which comes last. */
static tsr_status put_tree(const chunks *c, uint64_t *root)
{
    unsigned char node[24 + FANOUT * 8 + (FANOUT + 1) * (16 + 8 * TSR_MAX_NDIM) + 8];
    level l = { .each = 1, .width = c->count };
    for (int depth = 0; depth == 0 || l.width > 1; depth++) {
        uint64_t first = 0;
        l.n = (l.width + FANOUT - 1) / FANOUT;
        for (int64_t i = 0; i < l.n; i++) {
            writing b = { node, 0 };
            put_node(c, &b, &l, depth, i);
            TSRI_TRY(append(c->w, node, b.bytes, root));
            if (i == 0) first = *root;
        }
        l = (level){ .each = l.each * FANOUT, .width = l.n, .below = first };
    }
    return TSR_OK;
}

static tsr_status put_chunks(chunks *c, const tsr_tensor *t, uint64_t *root)
{
    const int64_t size = tsri_dtype_size(t->dtype);
    int64_t corner[TSR_MAX_NDIM], elements;
    for (int64_t i = 0; i < c->count; i++) {
        const int64_t at = corner_of(c, i, corner, &elements);
        TSRI_TRY(
            put_chunk(c, &c->list[i], (const unsigned char *)t->data + at * size, (size_t)(elements * size)));
        if (c->w->progress) c->w->progress(c->w->progress_context, elements * size);
    }
    return put_tree(c, root);
}

/* A packed tensor of the host. */
static tsr_status add_chunked(tsr_writer *w, tsri_file_entry *p, const tsr_tensor *t)
{
    chunks c = { .w = w, .desc = &t->desc, .count = 1, .bytes = tsr_dtype_size(t->dtype) };
    chunk_of(&t->desc, c.size);
    for (int i = 0; i < t->ndim; i++) {
        c.grid[i] = (t->shape[i] + c.size[i] - 1) / c.size[i];
        c.count *= c.grid[i];
        c.bytes *= (size_t)c.size[i];
    }
    c.room = tsri_deflate_room(c.bytes) + 8;
    const size_t list = tsri_round_up((size_t)c.count * sizeof *c.list, 64);
    const size_t all = list + tsri_round_up(c.bytes, 64) + TSRI_DEFLATE_SCRATCH + c.room;
    unsigned char *memory = tsri_scratch(all);
    TSRI_CHECK(memory, TSR_ENOMEM, "writer_add: %s: no room to compress", w->path);
    c.list = (chunk *)(void *)memory;
    c.padded = memory + list;
    c.scratch = c.padded + tsri_round_up(c.bytes, 64);
    c.packed = c.scratch + TSRI_DEFLATE_SCRATCH;
    const tsr_status s = put_chunks(&c, t, &p->offset);
    tsri_free(memory, all);
    return s;
}

static tsr_status add_packed(tsr_writer *w, tsri_file_entry *p, const tsr_tensor *t)
{
    tsr_tensor *host = NULL, *packed = NULL;
    tsr_status s = tsr_is_host(t) ? TSR_OK : tsr_to_host(&host, t);
    if (s == TSR_OK) s = tsr_contiguous(&packed, host ? host : t);
    if (s == TSR_OK) s = add_chunked(w, p, packed);
    tsr_release(&packed);
    tsr_release(&host);
    return s;
}

tsr_status tsri_hdf5_add(tsr_writer *w, tsri_file_entry *p, const tsr_tensor *t)
{
    const uint64_t before = w->data_start;
    w->data_start = tsri_round_up(before < SUPERBLOCK ? SUPERBLOCK : (size_t)before, ALIGNMENT);
    p->offset = w->data_start;
    const tsr_status s = p->kind ? add_packed(w, p, t) : tsri_write_elements(w, p->offset, t);
    if (s == TSR_OK && !p->kind) w->data_start += tsri_round_up((size_t)p->bytes, 8);
    if (s != TSR_OK) w->data_start = before;
    return s;
}

/* Headers ------------------------------------------------------------------------------- */

enum { SPACE = 1, LINKS = 2, TYPE = 3, FILL = 5, LINK = 6, LAYOUT = 8, GROUP = 10, FILTERS = 11 };

/* A message: its length is known when it ends. */
static size_t begin_message(writing *b, unsigned type)
{
    put(b, type, 1);
    put(b, 0, 3);
    return b->bytes;
}

static void end_message(writing *b, size_t from)
{
    tsri_set16(b->data + from - 3, (uint32_t)(b->bytes - from));
}

static void put_integer(writing *b, uint64_t size, bool is_signed)
{
    put(b, 0x10 | (is_signed ? 0x800u : 0), 4);
    put(b, size, 4);
    put(b, 0, 2);
    put(b, 8 * size, 2);
}

/* The sign is the highest bit, the mantissa lacks its first, and the bias is half of the exponent's range. */
static void put_float(writing *b, uint64_t size, uint64_t exponent)
{
    const uint64_t mantissa = 8 * size - 1 - exponent;
    put(b, 0x11 | 0x2000 | (8 * size - 1) << 16, 4);
    put(b, size, 4);
    put(b, 0, 2);
    put(b, 8 * size, 2);
    put(b, mantissa | exponent << 8 | mantissa << 24, 4);
    put(b, ((uint64_t)1 << (exponent - 1)) - 1, 4);
}

static uint64_t exponent_of(tsr_dtype dtype) { return dtype == TSR_F16 ? 5 : dtype == TSR_F64 ? 11 : 8; }

/* bool and complex numbers as h5py has them. */
static void put_type(writing *b, tsr_dtype dtype)
{
    const tsr_kind kind = tsr_dtype_kind(dtype);
    const uint64_t size = tsr_dtype_size(dtype);
    if (dtype == TSR_BOOL) {
        put(b, 0x38 | 2 << 8, 4);
        put(b, 1, 4);
        put_integer(b, 1, true);
        put_bytes(b, "FALSE\0TRUE\0\0\1", 13);
    } else if (kind == TSR_COMPLEX) {
        put(b, 0x36 | 2 << 8, 4);
        put(b, size, 4);
        for (int i = 0; i < 2; i++) {
            put_bytes(b, i ? "i" : "r", 2);
            put(b, i ? size / 2 : 0, 1);
            put_float(b, size / 2, size == 8 ? 8 : 11);
        }
    } else if (kind == TSR_FLOATING) put_float(b, size, exponent_of(dtype));
    else put_integer(b, size, kind == TSR_SIGNED);
}

static void put_space(writing *b, const tsr_desc *d)
{
    put(b, 2 | (uint64_t)d->ndim << 8 | (uint64_t)(d->ndim > 0) << 24, 4);
    for (int i = 0; i < d->ndim; i++) put(b, (uint64_t)d->shape[i], 8);
}

static void put_layout(writing *b, const tsri_file_entry *p)
{
    int64_t size[TSR_MAX_NDIM];
    put(b, 3, 1);
    put(b, p->kind ? 2 : 1, 1);
    if (p->kind) {
        chunk_of(&p->desc, size);
        put(b, (uint64_t)p->desc.ndim + 1, 1);
        put(b, p->offset, 8);
        for (int i = 0; i < p->desc.ndim; i++) put(b, (uint64_t)size[i], 4);
        put(b, tsr_dtype_size(p->desc.dtype), 4);
        return;
    }
    put(b, p->bytes ? p->offset : UINT64_MAX, 8);
    put(b, p->bytes, 8);
}

static void begin_header(writing *b)
{
    put_bytes(b, "OHDR\2\2", 6); /* a length of 4 bytes */
    put(b, 0, 4);
}

static tsr_status end_header(tsr_writer *w, writing *b, uint64_t *at)
{
    tsri_set32(b->data + 6, (uint32_t)(b->bytes - 10));
    put(b, tsri_hdf5_checksum(b->data, b->bytes), 4);
    return append(w, b->data, b->bytes, at);
}

static tsr_status put_dataset(tsr_writer *w, const tsri_file_entry *p, uint64_t *at)
{
    unsigned char data[HEADER];
    writing b = { data, 0 };
    begin_header(&b);
    size_t from = begin_message(&b, SPACE);
    put_space(&b, &p->desc);
    end_message(&b, from);
    from = begin_message(&b, TYPE);
    put_type(&b, p->desc.dtype);
    end_message(&b, from);
    from = begin_message(&b, FILL);
    put(&b, p->kind ? 0x0B03 : 0x0A03, 2); /* none; room is taken when something is written */
    end_message(&b, from);
    from = begin_message(&b, LAYOUT);
    put_layout(&b, p);
    end_message(&b, from);
    if (p->kind) {
        from = begin_message(&b, FILTERS);
        put(&b, 2 | 1 << 8 | 1 << 16, 4); /* version 2, one filter: deflate, */
        put(&b, 1 << 16, 4);              /* with one number: */
        put(&b, 4, 4);                    /* the level */
        end_message(&b, from);
    }
    return end_header(w, &b, at);
}

/* Groups -------------------------------------------------------------------------------- */

/* Entries in the order of their names: those of a group are one after another. */
typedef struct range {
    tsri_file_entry **first;
    int64_t n;
    size_t above;
} range;

static size_t name_length(const char *name)
{
    size_t n = 0;
    while (name[n] && name[n] != '/') n++;
    return n;
}

/* The first object of the range: a tensor, or a group with all that is in it. */
static range first_child(const range *r, size_t *length, bool *is_group)
{
    const char *name = r->first[0]->name + r->above;
    range child = { r->first, 1, r->above };
    *length = name_length(name);
    *is_group = name[*length] == '/';
    child.above += *length + 1;
    while (*is_group && child.n < r->n && memcmp(r->first[child.n]->name + r->above, name, *length + 1) == 0)
        child.n++;
    return child;
}

static size_t links_bytes(range r)
{
    size_t bytes = 0, length;
    bool is_group;
    for (range child; r.n > 0; r.first += child.n, r.n -= child.n) {
        child = first_child(&r, &length, &is_group);
        bytes += 4 + 13 + length;
    }
    return bytes;
}

static tsr_status put_group(tsr_writer *w, range r, uint64_t *at);

static tsr_status put_links(tsr_writer *w, writing *b, range r)
{
    size_t length;
    bool is_group;
    for (range child; r.n > 0; r.first += child.n, r.n -= child.n) {
        uint64_t at = 0;
        child = first_child(&r, &length, &is_group);
        TSRI_TRY(is_group ? put_group(w, child, &at) : put_dataset(w, r.first[0], &at));
        const size_t from = begin_message(b, LINK);
        put(b, 1 | 0x11 << 8 | 1 << 16, 3); /* version 1, a name of UTF-8 and its length in 2 bytes */
        put(b, length, 2);
        put_bytes(b, r.first[0]->name + r.above, length);
        put(b, at, 8);
        end_message(b, from);
    }
    return TSR_OK;
}

static tsr_status put_group(tsr_writer *w, range r, uint64_t *at)
{
    const size_t bytes = 10 + 4 + 18 + 4 + 2 + links_bytes(r) + 4;
    writing b = { tsri_scratch(bytes), 0 };
    TSRI_CHECK(b.data, TSR_ENOMEM, "writer_finish: %s: no room for its names", w->path);
    begin_header(&b);
    size_t from = begin_message(&b, LINKS);
    put(&b, 0, 2);
    put_nowhere(&b);
    put_nowhere(&b);
    end_message(&b, from);
    from = begin_message(&b, GROUP);
    put(&b, 0, 2);
    end_message(&b, from);
    tsr_status s = put_links(w, &b, r);
    if (s == TSR_OK) s = end_header(w, &b, at);
    tsri_free(b.data, bytes);
    return s;
}

static bool entry_before(const void *a, const void *b)
{
    return tsri_name_order(((const tsri_file_entry *)a)->name, ((const tsri_file_entry *)b)->name) < 0;
}

tsr_status tsri_hdf5_finish(tsr_writer *w)
{
    const int64_t n = w->plan_list.count;
    unsigned char data[SUPERBLOCK];
    writing b = { data, 0 };
    uint64_t root = 0;
    void **sorted = tsri_bump_take(&w->memory, (size_t)n * sizeof *sorted);
    TSRI_CHECK(sorted, TSR_ENOMEM, "writer_finish: %s: no room for its names", w->path);
    if (n) memcpy(sorted, w->plan, (size_t)n * sizeof *sorted);
    tsri_sort(sorted, n, entry_before);
    if (w->data_start < SUPERBLOCK) w->data_start = SUPERBLOCK;
    TSRI_TRY(put_group(w, (range){ (tsri_file_entry **)sorted, n, 0 }, &root));
    put_bytes(&b, "\x89HDF\r\n\x1a\n\2\x8\x8", 12); /* version 2, addresses and lengths of 8 bytes */
    put(&b, 0, 8);
    put_nowhere(&b);
    put(&b, w->data_start, 8);
    put(&b, root, 8);
    put(&b, tsri_hdf5_checksum(data, b.bytes), 4);
    TSRI_TRY(tsri_sink_write(&w->sink, 0, data, b.bytes));
    return tsri_sink_cut(&w->sink, w->data_start);
}
