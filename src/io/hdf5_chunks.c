/* hdf5_chunks.c - elements of a dataset in chunks, each of which may be filtered (hdf5_int.h): deflated,
 * shuffled (first bytes of all elements, second bytes, ...), packed by LZF, or followed by a checksum. */
#include "core/alloc.h"
#include "core/tensor_int.h"
#include "hdf5_int.h"
#include "inflate.h"

enum { DEEPEST_TREE = 32 };

typedef struct chunks {
    tsri_hdf5_file *h;
    const tsri_hdf5_object *o;
    tsr_tensor *t;
    size_t bytes, room; /* of a chunk, and of a buffer */
    unsigned char *buffer[2];
    uint64_t left; /* bytes of the file that no chunk has taken */
    uint64_t along[TSR_MAX_NDIM]; /* chunks along each dim */
    uint64_t places[TSR_MAX_NDIM]; /* the same if the dim had grown as far as it may */
    int free_axis; /* that grows without end, and is the slowest in its array of chunks; -1: none */
} chunks;

/* Filters ------------------------------------------------------------------------------- */

/* Sums of words of 16 bits, the higher byte first. */
static uint32_t fletcher(const unsigned char *p, size_t bytes)
{
    uint32_t first = 0, second = 0;
    for (size_t i = 0; i < bytes; i += 2) {
        first = (first + ((uint32_t)p[i] << 8 | (i + 1 < bytes ? p[i + 1] : 0))) % 65535;
        second = (second + first) % 65535;
    }
    return second << 16 | first;
}

/* Sums of nothing but full words are kept as either of the two zeros. */
static bool same_sum(uint32_t a, uint32_t b)
{
    return (a & 0xFFFF) % 65535 == (b & 0xFFFF) % 65535 && (a >> 16) % 65535 == (b >> 16) % 65535;
}

static void unshuffle(unsigned char *dst, const unsigned char *src, size_t bytes, size_t element)
{
    const size_t n = bytes / element;
    for (size_t k = 0; k < element; k++)
        for (size_t i = 0; i < n; i++) dst[i * element + k] = src[k * n + i];
    memcpy(dst + n * element, src + n * element, bytes - n * element);
}

/* Bytes as they are, and copies of bytes before: a length of at least 3, and a distance. */
static bool unpack_lzf(unsigned char *dst, size_t room, const unsigned char *src, size_t n, size_t *made)
{
    size_t at = 0, to = 0;
    while (at < n) {
        const unsigned head = src[at++];
        if (head < 32) {
            const size_t length = head + 1;
            if (length > n - at || length > room - to) return false;
            memcpy(dst + to, src + at, length);
            at += length;
            to += length;
            continue;
        }
        size_t length = (head >> 5) + 2;
        if (head >> 5 == 7 && at < n) length += src[at++];
        if (at == n) return false;
        const size_t distance = ((size_t)(head & 31) << 8 | src[at++]) + 1;
        if (distance > to || length > room - to) return false;
        for (size_t i = 0; i < length; i++, to++) dst[to] = dst[to - distance]; /* they may overlap */
    }
    *made = to;
    return true;
}

/* What it made goes to dst; *n is its length before and after. Not ok: the bytes are damaged. */
static bool undo(const chunks *c, unsigned filter, unsigned char *dst, const unsigned char *src, size_t *n)
{
    size_t made = 0;
    if (filter == TSRI_SHUFFLE) {
        if (*n > c->room) return false;
        unshuffle(dst, src, *n, c->o->type.size);
        return true;
    }
    if (filter == TSRI_LZF) {
        if (!unpack_lzf(dst, c->room, src, *n, &made)) return false;
        *n = made;
        return true;
    }
    if (*n < 6) return false;
    const tsri_inflated r = tsri_inflate(dst, c->room, src + 2, *n - 2, NULL, &made);
    *n = made;
    return r == TSRI_INFLATE_DONE;
}

/* Undoes the filters that are not left out; *out is where the elements are then. */
static bool unfilter(const chunks *c, const unsigned char **out, const unsigned char *data, size_t n,
                     uint32_t mask)
{
    int to = 0;
    for (int i = c->o->filters - 1; i >= 0; i--) {
        if (mask >> i & 1) continue;
        if (c->o->filter[i] == TSRI_FLETCHER) {
            if (n < 4 || !same_sum(tsri_get32(data + n - 4), fletcher(data, n - 4))) return false;
            n -= 4;
            continue;
        }
        if (!undo(c, c->o->filter[i], c->buffer[to], data, &n)) return false;
        data = c->buffer[to];
        to ^= 1;
    }
    *out = data;
    return n == c->bytes;
}

/* Places -------------------------------------------------------------------------------- */

/* Copies the part of a chunk that lies in the tensor, row by row. */
static void place(const chunks *c, const uint64_t *corner, const unsigned char *src)
{
    const int last = c->t->ndim - 1;
    const size_t size = c->o->type.size;
    int64_t extent[TSR_MAX_NDIM], at[TSR_MAX_NDIM] = { 0 };
    for (int i = 0; i <= last; i++) {
        if (corner[i] >= (uint64_t)c->t->shape[i]) return;
        const uint64_t left = (uint64_t)c->t->shape[i] - corner[i];
        extent[i] = (int64_t)(left < c->o->chunk[i] ? left : c->o->chunk[i]);
    }
    for (int axis = 0; axis >= 0;) {
        uint64_t from = 0, to = 0;
        for (int i = 0; i <= last; i++) {
            from = from * c->o->chunk[i] + (uint64_t)at[i];
            to = to * (uint64_t)c->t->shape[i] + corner[i] + (uint64_t)at[i];
        }
        memcpy((unsigned char *)c->t->data + to * size, src + from * size, (size_t)extent[last] * size);
        for (axis = last - 1; axis >= 0 && ++at[axis] == extent[axis]; axis--) at[axis] = 0;
    }
}

/* A chunk that lies at `address` in `stored` bytes. No two chunks share bytes of the file. */
static tsr_status take_chunk(chunks *c, const uint64_t *corner, uint64_t address, uint64_t stored,
                             uint32_t mask)
{
    tsri_hdf5_block b;
    const unsigned char *data = NULL;
    if (address == TSRI_NOWHERE) return TSR_OK;
    TSRI_SOUND(stored <= c->left, c->h->f, "byte %llu: chunks of more bytes than the file",
               tsri_ull(address));
    c->left -= stored;
    c->h->work += stored;
    TSRI_TRY(tsri_block_load(c->h, &b, address, stored));
    const bool sound = unfilter(c, &data, b.data, b.bytes, mask);
    if (sound) place(c, corner, data);
    tsri_block_free(&b);
    TSRI_SOUND(sound, c->h->f, "byte %llu: a damaged chunk", tsri_ull(address));
    return TSR_OK;
}

/* Of a dim that is not 0: tensors without elements have no chunks to look for. */
static uint64_t chunks_along(uint64_t dim, uint64_t size) { return (dim - 1) / size + 1; }

/* The corner of chunk i of a grid. */
static void corner_of(const chunks *c, uint64_t corner[TSR_MAX_NDIM], const uint64_t *grid, uint64_t i)
{
    for (int axis = c->t->ndim - 1; axis >= 0; axis--) {
        if (axis == c->free_axis) continue;
        corner[axis] = i % grid[axis] * c->o->chunk[axis];
        i /= grid[axis];
    }
    if (c->free_axis >= 0) corner[c->free_axis] = i * c->o->chunk[c->free_axis];
}

/* The number of chunks in a grid; UINT64_MAX if it overflows, as in a damaged file. */
static uint64_t grid_size(const chunks *c, const uint64_t *grid)
{
    uint64_t n = 1;
    for (int i = 0; i < c->t->ndim; i++) n = grid[i] > UINT64_MAX / n ? UINT64_MAX : n * grid[i];
    return n;
}

/* Indexes ------------------------------------------------------------------------------- */

static tsr_status walk_tree(chunks *c, uint64_t address, uint64_t most);

/* A key (bytes, filters left out, the corner, 0) and what is below it. */
static tsr_status take_pair(chunks *c, tsri_hdf5_block *b, uint64_t level)
{
    uint64_t corner[TSR_MAX_NDIM];
    const uint64_t stored = tsri_block_take(b, 4);
    const uint32_t mask = (uint32_t)tsri_block_take(b, 4);
    for (int i = 0; i < c->t->ndim; i++) corner[i] = tsri_block_take(b, 8);
    tsri_block_skip(b, 8);
    const uint64_t below = tsri_block_address(c->h, b);
    return level ? walk_tree(c, below, level - 1) : take_chunk(c, corner, below, stored, mask);
}

static tsr_status walk_tree(chunks *c, uint64_t address, uint64_t most)
{
    tsri_hdf5_block b;
    const uint64_t front = 8 + 2 * (uint64_t)c->h->offsets;
    const uint64_t pair = 16 + 8 * (uint64_t)c->t->ndim + (uint64_t)c->h->offsets;
    TSRI_TRY(tsri_block_load_as(c->h, &b, address, front, "TREE"));
    const uint64_t kind = tsri_block_take(&b, 1), level = tsri_block_take(&b, 1), n = tsri_block_take(&b, 2);
    tsri_block_free(&b);
    TSRI_SOUND(kind == 1 && level <= most, c->h->f,
               "byte %llu: a tree of kind %llu, %llu levels above its end", tsri_ull(address), tsri_ull(kind),
               tsri_ull(level));
    TSRI_TRY(tsri_block_load(c->h, &b, address + front, n * pair));
    tsr_status s = TSR_OK;
    for (uint64_t i = 0; i < n && s == TSR_OK; i++) s = take_pair(c, &b, level);
    tsri_block_free(&b);
    return s;
}

/* A chunk of an array or of a tree of version 2: filtered ones say how long they are. */
static tsr_status take_entry(chunks *c, tsri_hdf5_block *b, int size_bytes, const uint64_t *corner)
{
    const uint64_t address = tsri_block_address(c->h, b);
    const uint64_t stored = size_bytes ? tsri_block_take(b, size_bytes) : c->bytes;
    const uint32_t mask = size_bytes ? (uint32_t)tsri_block_take(b, 4) : 0;
    uint64_t own[TSR_MAX_NDIM];
    for (int i = 0; i < c->t->ndim && !corner; i++) own[i] = tsri_block_take(b, 8) * c->o->chunk[i];
    TSRI_SOUND(!b->ended, c->h->f, "byte %llu: an index of chunks that ends early", tsri_ull(b->address));
    return take_chunk(c, corner ? corner : own, address, stored, mask);
}

static tsr_status take_record(void *context, tsri_hdf5_file *h, tsri_hdf5_block *record)
{
    chunks *c = context;
    const int64_t left = (int64_t)record->bytes - h->offsets - 8 * c->t->ndim;
    const int64_t size_bytes = c->o->filters ? left - 4 : 0;
    TSRI_SOUND(size_bytes >= 0 && size_bytes <= 8, h->f, "byte %llu: a record of %zu bytes",
               tsri_ull(record->address), record->bytes);
    return take_entry(c, record, (int)size_bytes, NULL);
}

static bool is_written(const unsigned char *bits, uint64_t i) { return bits[i / 8] >> (7 - i % 8) & 1; }

/* An array of fixed size is one block, in pages where it is long: each page ends with a checksum. */
static tsr_status walk_pages(chunks *c, tsri_hdf5_block *b, int entry, uint64_t page)
{
    const uint64_t n = grid_size(c, c->places);
    uint64_t corner[TSR_MAX_NDIM];
    const unsigned char *written = b->data + b->at; /* a bit of each page */
    if (n > page) tsri_block_skip(b, ((n + page - 1) / page + 7) / 8 + 4);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t k = i / page;
        tsri_hdf5_block one = tsri_block_part(b, (uint64_t)entry);
        if (n > page && i % page == page - 1) tsri_block_skip(b, 4);
        if (n > page && !is_written(written, k)) continue;
        corner_of(c, corner, c->places, i);
        TSRI_TRY(take_entry(c, &one, c->o->filters ? entry - c->h->offsets - 4 : 0, corner));
    }
    return TSR_OK;
}

static tsr_status walk_array(chunks *c)
{
    tsri_hdf5_file *h = c->h;
    tsri_hdf5_block b;
    TSRI_TRY(tsri_block_load_as(h, &b, c->o->address, 8 + (uint64_t)(h->lengths + h->offsets), "FAHD"));
    tsri_block_skip(&b, 2);
    const int entry = (int)tsri_block_take(&b, 1), bits = (int)tsri_block_take(&b, 1);
    const uint64_t count = tsri_block_length(h, &b), at = tsri_block_address(h, &b);
    const int size_bytes = c->o->filters ? entry - h->offsets - 4 : 0;
    tsri_block_free(&b);
    if (at == TSRI_NOWHERE) return TSR_OK;
    const uint64_t n = grid_size(c, c->places), page = bits < 32 ? (uint64_t)1 << bits : 1;
    TSRI_SOUND(n == count && n <= h->f->parts[0]->size && bits < 32 && size_bytes >= 0 && size_bytes <= 8 &&
                   (c->o->filters || entry == h->offsets),
               h->f, "byte %llu: an array of %llu chunks for a dataset of %llu", tsri_ull(c->o->address),
               tsri_ull(count), tsri_ull(n));
    const uint64_t pages = n > page ? (n + page - 1) / page : 0;
    TSRI_TRY(tsri_block_load_as(h, &b, at,
                                6 + (uint64_t)h->offsets + (pages ? (pages + 7) / 8 + 4 + 4 * pages : 0) +
                                    n * (uint64_t)entry,
                                "FADB"));
    tsri_block_skip(&b, 2 + (uint64_t)h->offsets);
    const tsr_status s = walk_pages(c, &b, entry, page);
    tsri_block_free(&b);
    return s;
}

static tsr_status walk_in_order(chunks *c)
{
    uint64_t corner[TSR_MAX_NDIM];
    for (uint64_t i = 0, n = grid_size(c, c->along); i < n; i++) {
        uint64_t place = 0;
        corner_of(c, corner, c->along, i);
        for (int axis = 0; axis < c->t->ndim; axis++)
            place = place * c->places[axis] + corner[axis] / c->o->chunk[axis];
        TSRI_TRY(take_chunk(c, corner, c->o->address + place * c->bytes, c->bytes, 0));
    }
    return TSR_OK;
}

/* Arrays that grow ---------------------------------------------------------------------- */

/* Its first entries lie in the index block; the rest in data blocks, in groups whose number of entries
 * doubles from one to the next: group g has 2^(g/2) blocks of smallest * 2^((g+1)/2). The index block has
 * the addresses of the blocks of the first groups, and of the others that of a block of addresses. */
typedef struct growing {
    int      entry, size_bytes;     /* of an entry, and of the size in it */
    int      first, smallest;       /* entries of the index block, and of the first data block */
    int      direct, groups;        /* groups whose blocks the index block lists, and all */
    int      page_bits, place_bytes;
    uint64_t count;                 /* entries that can be of chunks of this shape */
} growing;

static tsr_status take_place(chunks *c, const growing *g, tsri_hdf5_block *b, uint64_t i)
{
    uint64_t corner[TSR_MAX_NDIM];
    corner_of(c, corner, c->places, i);
    return take_entry(c, b, g->size_bytes, corner);
}

/* A block of n entries from `first` on. Long ones are in pages, of which bits from `bit` on tell whether they
 * were written. */
static tsr_status walk_data_block(chunks *c, const growing *g, uint64_t address, uint64_t first, uint64_t n,
                                  const unsigned char *bits, uint64_t bit)
{
    const uint64_t page = (uint64_t)1 << g->page_bits, pages = n > page ? n / page : 0;
    const uint64_t front = 2 + (uint64_t)(c->h->offsets + g->place_bytes) + (pages ? 4 : 0);
    tsri_hdf5_block b;
    tsr_status s = TSR_OK;
    if (address == TSRI_NOWHERE) return TSR_OK;
    TSRI_SOUND(!pages || bits, c->h->f, "byte %llu: pages in the first blocks of an array",
               tsri_ull(address));
    TSRI_TRY(tsri_block_load_as(c->h, &b, address, 4 + front + n * (uint64_t)g->entry + 4 * pages, "EADB"));
    tsri_block_skip(&b, front);
    for (uint64_t i = 0; i < n && first + i < g->count && s == TSR_OK; i++) {
        tsri_hdf5_block one = tsri_block_part(&b, (uint64_t)g->entry);
        if (pages && i % page == page - 1) tsri_block_skip(&b, 4);
        if (!pages || is_written(bits, bit + i / page)) s = take_place(c, g, &one, first + i);
    }
    tsri_block_free(&b);
    return s;
}

/* The data blocks of a group, whose addresses come next in b. */
static tsr_status walk_group(chunks *c, const growing *g, tsri_hdf5_block *b, int group, uint64_t first,
                             const unsigned char *bits)
{
    const uint64_t n = (uint64_t)g->smallest << ((group + 1) / 2), pages = n >> g->page_bits;
    for (uint64_t k = 0; k < (uint64_t)1 << (group / 2); k++)
        TSRI_TRY(walk_data_block(c, g, tsri_block_address(c->h, b), first + k * n, n, bits, k * pages));
    return TSR_OK;
}

/* A group whose addresses lie in a block of their own, behind the bits of pages. */
static tsr_status walk_indirect_group(chunks *c, const growing *g, uint64_t address, int group,
                                      uint64_t first)
{
    const uint64_t n = (uint64_t)g->smallest << ((group + 1) / 2), blocks = (uint64_t)1 << (group / 2);
    const uint64_t pages = n >> g->page_bits, front = 2 + (uint64_t)(c->h->offsets + g->place_bytes);
    const uint64_t bits = pages > 1 ? blocks * ((pages + 7) / 8) : 0;
    tsri_hdf5_block b;
    if (address == TSRI_NOWHERE) return TSR_OK;
    TSRI_TRY(tsri_block_load_as(c->h, &b, address,
                                4 + front + bits + blocks * (uint64_t)c->h->offsets, "EASB"));
    tsri_block_skip(&b, front);
    const unsigned char *written = b.data + b.at;
    tsri_block_skip(&b, bits);
    const tsr_status s = walk_group(c, g, &b, group, first, written);
    tsri_block_free(&b);
    return s;
}

static tsr_status walk_index_block(chunks *c, const growing *g, tsri_hdf5_block *b)
{
    uint64_t first = (uint64_t)g->first;
    for (uint64_t i = 0; i < first; i++) {
        tsri_hdf5_block one = tsri_block_part(b, (uint64_t)g->entry);
        if (i < g->count) TSRI_TRY(take_place(c, g, &one, i));
    }
    for (int k = 0; k < g->groups && first < g->count; k++) {
        if (k < g->direct) TSRI_TRY(walk_group(c, g, b, k, first, NULL));
        else               TSRI_TRY(walk_indirect_group(c, g, tsri_block_address(c->h, b), k, first));
        first += (uint64_t)g->smallest << k;
    }
    return TSR_OK;
}

/* The logarithm of a power of two; -1 of other numbers. */
static int log_of(uint64_t n)
{
    int log = 0;
    while (log < 8 && (uint64_t)1 << log < n) log++;
    return (uint64_t)1 << log == n ? log : -1;
}

/* What the header says; *at is where the index block lies. Not ok: it makes no sense. */
static bool read_growing(const chunks *c, growing *g, tsri_hdf5_block *b, uint64_t *at)
{
    tsri_block_skip(b, 2);
    g->entry = (int)tsri_block_take(b, 1);
    const int bits = (int)tsri_block_take(b, 1);
    g->first = (int)tsri_block_take(b, 1);
    g->smallest = (int)tsri_block_take(b, 1);
    const int pointers = log_of(tsri_block_take(b, 1)), log = log_of((uint64_t)g->smallest);
    g->page_bits = (int)tsri_block_take(b, 1);
    tsri_block_skip(b, 6 * (uint64_t)c->h->lengths);
    *at = tsri_block_address(c->h, b);
    g->direct = 2 * pointers;
    g->groups = 1 + bits - log;
    g->place_bytes = (bits + 7) / 8;
    g->size_bytes = c->o->filters ? g->entry - c->h->offsets - 4 : 0;
    return pointers >= 0 && log >= 0 && bits <= 48 && g->groups >= g->direct &&
           g->page_bits < 32 && g->size_bytes >= 0 && g->size_bytes <= 8 &&
           (c->o->filters || g->entry == c->h->offsets);
}

static tsr_status walk_growing_array(chunks *c)
{
    tsri_hdf5_file *h = c->h;
    tsri_hdf5_block b;
    growing g = { .count = grid_size(c, c->places) };
    uint64_t at = 0;
    TSRI_TRY(tsri_block_load_as(h, &b, c->o->address,
                                12 + 6 * (uint64_t)h->lengths + (uint64_t)h->offsets, "EAHD"));
    const bool sound = read_growing(c, &g, &b, &at) && c->free_axis >= 0 && g.count < UINT64_MAX;
    tsri_block_free(&b);
    TSRI_SOUND(sound, h->f, "byte %llu: an array that grows in no known way", tsri_ull(c->o->address));
    if (at == TSRI_NOWHERE) return TSR_OK;
    const uint64_t blocks = 2 * (((uint64_t)1 << g.direct / 2) - 1), far = (uint64_t)(g.groups - g.direct);
    TSRI_TRY(tsri_block_load_as(
        h, &b, at, 6 + (uint64_t)g.first * (uint64_t)g.entry + (1 + blocks + far) * (uint64_t)h->offsets,
        "EAIB"));
    tsri_block_skip(&b, 2 + (uint64_t)h->offsets);
    const tsr_status s = walk_index_block(c, &g, &b);
    tsri_block_free(&b);
    return s;
}

static tsr_status walk(chunks *c)
{
    static const uint64_t first[TSR_MAX_NDIM];
    const tsri_hdf5_object *o = c->o;
    switch (o->index) {
    case TSRI_BY_TREE: return walk_tree(c, o->address, DEEPEST_TREE);
    case TSRI_ONE_CHUNK: return take_chunk(c, first, o->address, o->stored ? o->stored : c->bytes, o->mask);
    case TSRI_IN_ORDER: return walk_in_order(c);
    case TSRI_BY_ARRAY: return walk_array(c);
    case TSRI_BY_GROWING_ARRAY: return walk_growing_array(c);
    case TSRI_BY_TREE_2: break;
    }
    return tsri_hdf5_each_record(c->h, o->address, take_record, c);
}

/* Counts chunks; of the one dim that grows without end, those that are there. */
static tsr_status count_chunks(chunks *c)
{
    const tsri_hdf5_object *o = c->o;
    c->free_axis = -1;
    for (int i = 0; i < c->t->ndim; i++) {
        const uint64_t dim = (uint64_t)c->t->shape[i];
        const bool endless = o->index == TSRI_BY_GROWING_ARRAY && o->most[i] == UINT64_MAX;
        TSRI_SOUND(o->most[i] >= dim && !(endless && c->free_axis >= 0), c->h->f,
                   "a dim of %llu that grows to %llu", tsri_ull(dim), tsri_ull(o->most[i]));
        if (endless) c->free_axis = i;
        c->along[i] = chunks_along(dim, o->chunk[i]);
        c->places[i] = endless ? c->along[i] : chunks_along(o->most[i], o->chunk[i]);
    }
    return TSR_OK;
}

tsr_status tsri_hdf5_read_chunks(tsri_hdf5_file *h, const tsri_hdf5_object *o, tsr_tensor *t)
{
    chunks c = { .h = h, .o = o, .t = t, .left = h->f->parts[0]->size };
    tsr_status s = TSR_OK;
    TSRI_TRY(count_chunks(&c));
    c.bytes = o->type.size;
    for (int i = 0; i < t->ndim; i++) c.bytes *= (size_t)o->chunk[i]; /* checked before */
    c.room = c.bytes + 4; /* a checksum may have been deflated too */
    for (int i = 0; i < 2 && o->filters; i++) c.buffer[i] = tsri_scratch(c.room);
    if (o->filters && (!c.buffer[0] || !c.buffer[1]))
        s = tsri_fail(TSR_ENOMEM, "file_read: %s: no room for a chunk of %zu bytes", h->f->path, c.bytes);
    if (s == TSR_OK) s = walk(&c);
    for (int i = 0; i < 2; i++)
        if (c.buffer[i]) tsri_free(c.buffer[i], c.room);
    return s;
}
