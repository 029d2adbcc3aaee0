/* hdf5_groups.c - the links of a group (hdf5_int.h): of its header, of a tree of tables of names, or,
 * where there are many, of a heap that a tree of version 2 leads to. */
#include "core/alloc.h"
#include "hdf5_int.h"

enum { DEEPEST_TREE = 32, LINK = 6, HARD = 0 };

typedef struct group {
    tsri_hdf5_file *h;
    tsri_link_fn fn;
    void *context;
    tsri_hdf5_block names; /* of a table */
} group;

/* Tables of names ----------------------------------------------------------------------- */

static tsr_status take_symbol(group *g, tsri_hdf5_block *b)
{
    enum { NAME_OF_ANOTHER = 2 };
    const uint64_t at = tsri_block_address(g->h, b), address = tsri_block_address(g->h, b);
    const uint64_t kind = tsri_block_take(b, 4);
    tsri_block_skip(b, 4 + 16);
    if (kind == NAME_OF_ANOTHER) return TSR_OK;
    const unsigned char *name = g->names.data + (at < g->names.bytes ? at : g->names.bytes);
    const unsigned char *end = at < g->names.bytes ? memchr(name, 0, g->names.bytes - (size_t)at) : NULL;
    TSRI_SOUND(end, g->h->f, "byte %llu: a name that is not in the heap", tsri_ull(b->address));
    return g->fn(g->context, (const char *)name, (size_t)(end - name), address);
}

static tsr_status take_symbols(group *g, uint64_t address)
{
    tsri_hdf5_block b;
    TSRI_TRY(tsri_block_load_as(g->h, &b, address, 8, "SNOD"));
    tsri_block_skip(&b, 2);
    const uint64_t n = tsri_block_take(&b, 2), each = 2 * (uint64_t)g->h->offsets + 24;
    tsri_block_free(&b);
    TSRI_TRY(tsri_block_load(g->h, &b, address + 8, n * each));
    tsr_status s = TSR_OK;
    for (uint64_t i = 0; i < n && s == TSR_OK; i++) s = take_symbol(g, &b);
    tsri_block_free(&b);
    return s;
}

/* `level` of a node is one less than of the node above; the leaves' is 0, and below them are tables. */
static tsr_status walk_names(group *g, uint64_t address, uint64_t most)
{
    tsri_hdf5_block b;
    const uint64_t front = 8 + 2 * (uint64_t)g->h->offsets, pair = (uint64_t)(g->h->offsets + g->h->lengths);
    TSRI_TRY(tsri_block_load_as(g->h, &b, address, front, "TREE"));
    const uint64_t kind = tsri_block_take(&b, 1), level = tsri_block_take(&b, 1), n = tsri_block_take(&b, 2);
    tsri_block_free(&b);
    TSRI_SOUND(kind == 0 && level <= most, g->h->f,
               "byte %llu: a tree of kind %llu, %llu levels above its end", tsri_ull(address), tsri_ull(kind),
               tsri_ull(level));
    TSRI_TRY(tsri_block_load(g->h, &b, address + front, n * pair));
    tsr_status s = TSR_OK;
    for (uint64_t i = 0; i < n && s == TSR_OK; i++) {
        tsri_block_skip(&b, (uint64_t)g->h->lengths);
        const uint64_t below = tsri_block_address(g->h, &b);
        s = level ? walk_names(g, below, level - 1) : take_symbols(g, below);
    }
    tsri_block_free(&b);
    return s;
}

static tsr_status walk_table(group *g, const tsri_hdf5_object *o)
{
    tsri_hdf5_block b;
    tsri_hdf5_file *h = g->h;
    TSRI_TRY(tsri_block_load_as(h, &b, o->heap, 8 + 2 * (uint64_t)h->lengths + (uint64_t)h->offsets, "HEAP"));
    tsri_block_skip(&b, 4);
    const uint64_t bytes = tsri_block_length(h, &b);
    tsri_block_skip(&b, (uint64_t)h->lengths);
    const uint64_t at = tsri_block_address(h, &b);
    tsri_block_free(&b);
    TSRI_TRY(tsri_block_load(h, &g->names, at, bytes));
    const tsr_status s = walk_names(g, o->tree, DEEPEST_TREE);
    tsri_block_free(&g->names);
    return s;
}

/* Links as messages --------------------------------------------------------------------- */

static tsr_status take_link(void *context, tsri_hdf5_file *h, unsigned type, bool shared, tsri_hdf5_block *b)
{
    group *g = context;
    if (type != LINK || shared) return TSR_OK;
    const uint64_t version = tsri_block_take(b, 1);
    const unsigned flags = (unsigned)tsri_block_take(b, 1);
    const uint64_t kind = flags & 8 ? tsri_block_take(b, 1) : HARD;
    tsri_block_skip(b, (flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0));
    const tsri_hdf5_block name = tsri_block_part(b, tsri_block_take(b, 1 << (flags & 3)));
    const uint64_t address = kind == HARD ? tsri_block_address(h, b) : 0;
    TSRI_SOUND(version == 1 && !b->ended, h->f, "byte %llu: a link of version %llu, or cut short",
               tsri_ull(b->address), tsri_ull(version));
    return kind == HARD ? g->fn(g->context, (const char *)name.data, name.bytes, address) : TSR_OK;
}

/* Trees of version 2 -------------------------------------------------------------------- */

typedef struct tree {
    tsri_hdf5_file *h;
    tsri_record_fn fn;
    void *context;
    uint64_t node, record;             /* bytes of each */
    int count_bytes;                   /* of the number of a node's own records, */
    int total_bytes[DEEPEST_TREE + 1]; /* and of all below one at a depth */
} tree;

enum { NODE_FRONT = 4 + 1 + 1, CHECKSUM = 4 };

static int bytes_of(uint64_t n)
{
    int bytes = 1;
    while (n >>= 8) bytes++;
    return bytes;
}

/* How many records a node holds at most decides how many bytes their numbers take. */
static void measure_tree(tree *t, int depth)
{
    const uint64_t room = t->node - NODE_FRONT - CHECKSUM, leaf = room / t->record;
    uint64_t total = leaf;
    t->count_bytes = bytes_of(leaf);
    t->total_bytes[0] = 0;
    for (int i = 1; i <= depth; i++) {
        const uint64_t pointer = (uint64_t)(t->h->offsets + t->count_bytes + t->total_bytes[i - 1]);
        const uint64_t n = room > pointer ? (room - pointer) / (t->record + pointer) : 0;
        if (total > UINT64_MAX / (n + 2)) total = UINT64_MAX / (n + 2);
        total = (n + 1) * total + n;
        t->total_bytes[i] = bytes_of(total);
    }
}

static tsr_status take_records(tree *t, tsri_hdf5_block *b, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        tsri_hdf5_block record = tsri_block_part(b, t->record);
        TSRI_SOUND(!b->ended, t->h->f, "byte %llu: more records than a node has", tsri_ull(b->address));
        TSRI_TRY(t->fn(t->context, t->h, &record));
    }
    return TSR_OK;
}

static tsr_status walk_node(tree *t, uint64_t address, uint64_t n, int depth)
{
    tsri_hdf5_block b;
    TSRI_TRY(tsri_block_load_as(t->h, &b, address, t->node, depth ? "BTIN" : "BTLF"));
    tsri_block_skip(&b, 2);
    tsr_status s = take_records(t, &b, n);
    for (uint64_t i = 0; i <= n && depth && s == TSR_OK; i++) {
        const uint64_t below = tsri_block_address(t->h, &b), count = tsri_block_take(&b, t->count_bytes);
        tsri_block_skip(&b, (uint64_t)t->total_bytes[depth - 1]);
        s = walk_node(t, below, count, depth - 1);
    }
    tsri_block_free(&b);
    return s;
}

tsr_status tsri_hdf5_each_record(tsri_hdf5_file *h, uint64_t address, tsri_record_fn fn, void *context)
{
    tree t = { .h = h, .fn = fn, .context = context };
    tsri_hdf5_block b;
    TSRI_TRY(tsri_block_load_as(h, &b, address, 16 + (uint64_t)h->offsets + 2, "BTHD"));
    tsri_block_skip(&b, 2);
    t.node = tsri_block_take(&b, 4);
    t.record = tsri_block_take(&b, 2);
    const uint64_t depth = tsri_block_take(&b, 2);
    tsri_block_skip(&b, 2);
    const uint64_t root = tsri_block_address(h, &b), n = tsri_block_take(&b, 2);
    tsri_block_free(&b);
    TSRI_SOUND(depth <= DEEPEST_TREE && t.record > 0 && t.node > NODE_FRONT + CHECKSUM + t.record, h->f,
               "byte %llu: a tree %llu deep, of nodes of %llu bytes", tsri_ull(address), tsri_ull(depth),
               tsri_ull(t.node));
    measure_tree(&t, (int)depth);
    return root == TSRI_NOWHERE ? TSR_OK : walk_node(&t, root, n, (int)depth);
}

/* Heaps --------------------------------------------------------------------------------- */

/* A heap is one space of bytes, in blocks whose sizes double from row to row of a table. */
typedef struct heap {
    uint64_t width, first, largest, root; /* blocks of a row; bytes of the first and of the largest */
    int bits, rows;                       /* of its space; of the table in the root, 0: it is a block
                     itself */
    int place, length;                    /* bytes of the place of an object, and of its length */
} heap;

typedef struct dense {
    group *g;
    heap heap;
} dense;

static tsr_status load_heap(tsri_hdf5_file *h, heap *out, uint64_t address)
{
    tsri_hdf5_block b;
    const uint64_t o = (uint64_t)h->offsets, l = (uint64_t)h->lengths;
    TSRI_TRY(tsri_block_load_as(h, &b, address, 22 + 12 * l + 3 * o, "FRHP"));
    tsri_block_skip(&b, 1 + 2);
    const uint64_t filters = tsri_block_take(&b, 2);
    tsri_block_skip(&b, 1);
    const uint64_t longest = tsri_block_take(&b, 4);
    tsri_block_skip(&b, l + o + l + o + 8 * l);
    *out = (heap){ .width = tsri_block_take(&b, 2) };
    out->first = tsri_block_length(h, &b);
    out->largest = tsri_block_length(h, &b);
    out->bits = (int)tsri_block_take(&b, 2);
    tsri_block_skip(&b, 2);
    out->root = tsri_block_address(h, &b);
    out->rows = (int)tsri_block_take(&b, 2);
    tsri_block_free(&b);
    TSRI_CHECK(filters == 0, TSR_EUNSUPPORTED, "file_open: %s: names that are compressed", h->f->path);
    TSRI_SOUND(out->width > 0 && out->first > 0 && out->largest >= out->first && out->bits > 0 &&
                   out->bits <= 64 && out->rows <= 64,
               h->f, "byte %llu: a heap of no blocks", tsri_ull(address));
    out->place = (out->bits + 7) / 8;
    out->length = bytes_of(longest < out->largest ? longest : out->largest);
    return TSR_OK;
}

static uint64_t row_bytes(const heap *p, int row)
{
    const int doubled = row < 2 ? 0 : row - 1;
    return doubled > 40 || p->first > UINT64_MAX >> 24 >> doubled ? UINT64_MAX >> 24 : p->first << doubled;
}

/* Child i of a table of blocks, in its place. */
static tsr_status child_of(tsri_hdf5_file *h, const heap *p, uint64_t *address, uint64_t i)
{
    tsri_hdf5_block b;
    const uint64_t front = 5 + (uint64_t)(h->offsets + p->place), each = (uint64_t)h->offsets;
    TSRI_TRY(tsri_block_load_as(h, &b, *address, 4, "FHIB"));
    tsri_block_free(&b);
    TSRI_TRY(tsri_block_load(h, &b, *address + front + i * each, each));
    *address = tsri_block_address(h, &b);
    tsri_block_free(&b);
    return TSR_OK;
}

/* The rows of a table that covers as many bytes as a block of another table's row; 0: it is a block of
 * elements. The rows before that one cover as much: it has no more. */
static int rows_of(const heap *p, uint64_t size)
{
    int rows = 0;
    for (uint64_t left = size > p->largest ? size : 0; left > 0; rows++) {
        const uint64_t these = row_bytes(p, rows) * p->width;
        left = left > these ? left - these : 0;
    }
    return rows;
}

/* Finds the block that holds byte *at of the heap; *at becomes the offset in that block. */
static tsr_status find_block(tsri_hdf5_file *h, const heap *p, uint64_t *out, uint64_t *at)
{
    int rows = p->rows;
    *out = p->root;
    for (int depth = 0; rows > 0; depth++) {
        int row = 0;
        for (; row < rows && *at >= row_bytes(p, row) * p->width; row++) *at -= row_bytes(p, row) * p->width;
        TSRI_SOUND(row < rows && depth < DEEPEST_TREE, h->f, "an object beyond the end of its heap");
        const uint64_t size = row_bytes(p, row);
        TSRI_TRY(child_of(h, p, out, (uint64_t)row * p->width + *at / size));
        *at %= size;
        rows = rows_of(p, size);
    }
    return TSR_OK;
}

/* A record: a hash, and where in the heap the link lies. */
static tsr_status take_dense(void *context, tsri_hdf5_file *h, tsri_hdf5_block *record)
{
    dense *d = context;
    uint64_t address = 0;
    tsri_block_skip(record, 4);
    const uint64_t kind = tsri_block_take(record, 1) >> 4 & 3;
    uint64_t at = tsri_block_take(record, d->heap.place);
    const uint64_t bytes = tsri_block_take(record, d->heap.length);
    TSRI_SOUND(kind == 0 && !record->ended, h->f, "byte %llu: a link that is no object of a heap",
               tsri_ull(record->address));
    TSRI_TRY(find_block(h, &d->heap, &address, &at));
    TSRI_SOUND(at <= UINT64_MAX - address, h->f, "an object beyond the end of its heap");
    tsri_hdf5_block b;
    TSRI_TRY(tsri_block_load(h, &b, address + at, bytes));
    const tsr_status s = take_link(d->g, h, LINK, false, &b);
    tsri_block_free(&b);
    return s;
}

static tsr_status walk_dense(group *g, const tsri_hdf5_object *o)
{
    dense d = { .g = g };
    TSRI_TRY(load_heap(g->h, &d.heap, o->link_heap));
    return tsri_hdf5_each_record(g->h, o->link_tree, take_dense, &d);
}

tsr_status tsri_hdf5_each_link(tsri_hdf5_file *h, uint64_t address, const tsri_hdf5_object *object,
                               tsri_link_fn fn, void *context)
{
    group g = { .h = h, .fn = fn, .context = context };
    if (object->tree != TSRI_NOWHERE) return walk_table(&g, object);
    if (object->link_tree != TSRI_NOWHERE) return walk_dense(&g, object);
    return tsri_hdf5_each_message(h, address, take_link, &g);
}
