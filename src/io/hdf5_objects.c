/* hdf5_objects.c - blocks of an HDF5 file, and what the headers of its objects say (hdf5_int.h). */
#include "core/alloc.h"
#include "hdf5_int.h"

/* Blocks -------------------------------------------------------------------------------- */

enum { LEAST_WORK = 64 }; /* of a block, however short */

tsr_status tsri_block_load(tsri_hdf5_file *h, tsri_hdf5_block *out, uint64_t address, uint64_t bytes)
{
    const tsri_source *s = h->f->parts[0];
    const uint64_t room = s->size - h->base;
    TSRI_SOUND(address <= room && bytes <= room - address, h->f,
               "byte %llu: a block of %llu bytes, and the file has %llu", tsri_ull(address), tsri_ull(bytes),
               tsri_ull(s->size));
    TSRI_SOUND(h->work >= bytes + LEAST_WORK, h->f, "byte %llu: blocks that lead in circles, or overlap",
               tsri_ull(address));
    h->work -= bytes + LEAST_WORK;
    *out = (tsri_hdf5_block){ .data = tsri_scratch((size_t)bytes), .bytes = (size_t)bytes,
                              .address = address };
    TSRI_CHECK(out->data, TSR_ENOMEM, "file: %s: no room for a block of %zu bytes", h->f->path, out->bytes);
    const tsr_status status = tsri_source_read(s, out->data, h->base + address, out->bytes);
    if (status != TSR_OK) tsri_block_free(out);
    return status;
}

void tsri_block_free(tsri_hdf5_block *b)
{
    tsri_free(b->data, b->bytes);
}

tsr_status tsri_block_load_as(tsri_hdf5_file *h, tsri_hdf5_block *out, uint64_t address, uint64_t bytes,
                              const char *magic)
{
    TSRI_TRY(tsri_block_load(h, out, address, bytes));
    if (out->bytes >= 4 && memcmp(out->data, magic, 4) == 0) {
        out->at = 4;
        return TSR_OK;
    }
    tsri_block_free(out);
    return TSRI_DAMAGE(h->f, "byte %llu: expected %s", tsri_ull(address), magic);
}

void tsri_block_skip(tsri_hdf5_block *b, uint64_t n)
{
    const size_t left = b->bytes - b->at;
    b->ended = b->ended || n > left;
    b->at += n > left ? left : (size_t)n;
}

uint64_t tsri_block_take(tsri_hdf5_block *b, int n)
{
    uint64_t v = 0;
    const size_t from = b->at;
    tsri_block_skip(b, (uint64_t)n);
    for (int i = 0; i < n && !b->ended; i++) v |= (uint64_t)b->data[from + (size_t)i] << 8 * i;
    return v;
}

uint64_t tsri_block_length(const tsri_hdf5_file *h, tsri_hdf5_block *b)
{
    return tsri_block_take(b, h->lengths);
}

/* All ones are nowhere. */
uint64_t tsri_block_address(const tsri_hdf5_file *h, tsri_hdf5_block *b)
{
    const uint64_t v = tsri_block_take(b, h->offsets);
    return v == UINT64_MAX >> (64 - 8 * h->offsets) ? TSRI_NOWHERE : v;
}

tsri_hdf5_block tsri_block_part(tsri_hdf5_block *b, uint64_t n)
{
    const size_t from = b->at;
    tsri_block_skip(b, n);
    return (tsri_hdf5_block){ .data = b->data + from, .bytes = b->at - from, .address = b->address + from };
}

/* Checksums ----------------------------------------------------------------------------- */

static uint32_t rotate(uint32_t v, int n) { return v << n | v >> (32 - n); }

/* Jenkins' hash of words of 32 bits, three at a time, which HDF5 takes for a checksum (lookup3); of a byte or
 * more. */
uint32_t tsri_hdf5_checksum(const unsigned char *p, size_t n)
{
    static const int mixing[] = { 4, 6, 8, 16, 19, 4 }, ending[] = { 14, 11, 25, 16, 4, 14, 24 };
    uint32_t v[3] = { 0xdeadbeefu + (uint32_t)n, 0xdeadbeefu + (uint32_t)n, 0xdeadbeefu + (uint32_t)n };
    for (; n > 12; n -= 12, p += 12) {
        for (int i = 0; i < 3; i++) v[i] += tsri_get32(p + 4 * i);
        for (int i = 0; i < 6; i++) {
            uint32_t *a = &v[i % 3], *b = &v[(i + 1) % 3], *c = &v[(i + 2) % 3];
            *a = (*a - *c) ^ rotate(*c, mixing[i]);
            *c += *b;
        }
    }
    for (size_t i = 0; i < n; i++) v[i / 4] += (uint32_t)p[i] << 8 * (i % 4);
    for (int i = 0; i < 7; i++) {
        uint32_t *to = &v[(i + 2) % 3];
        const uint32_t from = v[(i + 1) % 3];
        *to = (*to ^ from) - rotate(from, ending[i]);
    }
    return v[2];
}

/* The last four bytes of a block are the checksum of all before. */
static bool is_sealed(const tsri_hdf5_block *b)
{
    return b->bytes - b->at >= 4 &&
           tsri_get32(b->data + b->bytes - 4) == tsri_hdf5_checksum(b->data, b->bytes - 4);
}

/* Messages ------------------------------------------------------------------------------ */

/* The header of an object: messages in a block, and in others that messages of it lead to. */
enum { MOST_PARTS = 256, CONTINUED = 0x10, IS_SHARED = 2 };

typedef struct header {
    tsri_hdf5_file *h;
    tsri_message_fn fn;
    void *context;
    bool is_new; /* of version 2 */
    int front;   /* bytes before a message */
    int first;   /* version 2: bytes before the first message */
    int count;
    uint64_t at[MOST_PARTS], bytes[MOST_PARTS];
} header;

static tsr_status add_part(header *o, uint64_t at, uint64_t bytes)
{
    TSRI_SOUND(o->count < MOST_PARTS, o->h->f, "byte %llu: a header in more than %d parts", tsri_ull(at),
               MOST_PARTS);
    o->at[o->count] = at;
    o->bytes[o->count++] = bytes;
    return TSR_OK;
}

static tsr_status take_message(header *o, tsri_hdf5_block *b)
{
    const unsigned type = (unsigned)tsri_block_take(b, o->is_new ? 1 : 2);
    const uint64_t bytes = tsri_block_take(b, 2);
    const unsigned flags = (unsigned)tsri_block_take(b, 1);
    tsri_block_skip(b, (uint64_t)(o->front - (o->is_new ? 4 : 5)));
    tsri_hdf5_block body = tsri_block_part(b, bytes);
    TSRI_SOUND(!b->ended, o->h->f, "byte %llu: a message that goes beyond its header",
               tsri_ull(body.address));
    if (type != CONTINUED) return o->fn(o->context, o->h, type, flags & IS_SHARED, &body);
    const uint64_t at = tsri_block_address(o->h, &body);
    return add_part(o, at, tsri_block_length(o->h, &body));
}

static tsr_status take_messages(header *o, tsri_hdf5_block *b)
{
    while (b->bytes - b->at >= (size_t)o->front) TSRI_TRY(take_message(o, b));
    return TSR_OK;
}

/* Parts of version 2 begin with a magic number and end with a checksum. */
static tsr_status take_header_part(header *o, int i)
{
    tsri_hdf5_block b;
    TSRI_TRY(o->is_new ? tsri_block_load_as(o->h, &b, o->at[i], o->bytes[i], i ? "OCHK" : "OHDR")
                       : tsri_block_load(o->h, &b, o->at[i], o->bytes[i]));
    const size_t all = b.bytes;
    if (o->is_new && i == 0) b.at = (size_t)o->first;
    const bool sound = !o->is_new || is_sealed(&b);
    if (o->is_new && sound) b.bytes -= 4;
    const tsr_status s = sound ? take_messages(o, &b) : TSR_OK;
    b.bytes = all;
    tsri_block_free(&b);
    TSRI_SOUND(sound, o->h->f, "byte %llu: the checksum of a header is wrong", tsri_ull(o->at[i]));
    return s;
}

/* Version 2: OHDR, the version, flags, perhaps times and limits, the length. */
static tsr_status begin_new(header *o, tsri_hdf5_block *b, uint64_t address)
{
    const unsigned flags = (unsigned)tsri_block_take(b, 1);
    o->is_new = true;
    o->front = flags & 4 ? 6 : 4;
    tsri_block_skip(b, (flags & 32 ? 16 : 0) + (flags & 16 ? 4 : 0));
    const uint64_t bytes = tsri_block_take(b, 1 << (flags & 3));
    o->first = (int)b->at;
    TSRI_SOUND(bytes <= o->h->f->parts[0]->size, o->h->f, "byte %llu: a header of %llu bytes",
               tsri_ull(address), tsri_ull(bytes));
    return add_part(o, address, b->at + bytes + 4);
}

static tsr_status begin_old(header *o, tsri_hdf5_block *b, uint64_t address)
{
    o->front = 8;
    tsri_block_skip(b, 3 + 4);
    return add_part(o, address + 16, tsri_block_take(b, 4));
}

static tsr_status begin_header(header *o, uint64_t address)
{
    tsri_hdf5_block b;
    const uint64_t room = o->h->f->parts[0]->size - o->h->base;
    const uint64_t left = address < room ? room - address : 0;
    TSRI_TRY(tsri_block_load(o->h, &b, address, left < 36 ? left : 36));
    tsr_status s;
    if (b.bytes >= 5 && memcmp(b.data, "OHDR\2", 5) == 0) {
        b.at = 5;
        s = begin_new(o, &b, address);
    } else if (b.bytes >= 16 && tsri_block_take(&b, 1) == 1) s = begin_old(o, &b, address);
    else s = TSRI_DAMAGE(o->h->f, "byte %llu: expected the header of an object", tsri_ull(address));
    tsri_block_free(&b);
    return s;
}

tsr_status tsri_hdf5_each_message(tsri_hdf5_file *h, uint64_t address, tsri_message_fn fn, void *context)
{
    header o = { .h = h, .fn = fn, .context = context };
    TSRI_TRY(begin_header(&o, address));
    for (int i = 0; i < o.count; i++) TSRI_TRY(take_header_part(&o, i));
    return TSR_OK;
}

/* What messages say --------------------------------------------------------------------- */

enum {
    SPACE = 1,
    LINKS = 2,
    TYPE = 3,
    OLD_FILL = 4,
    FILL = 5,
    LINK = 6,
    EXTERNAL = 7,
    LAYOUT = 8,
    GROUP = 10,
    FILTERS = 11,
    SYMBOLS = 17
};

static void take_space(tsri_hdf5_object *o, const tsri_hdf5_file *h, tsri_hdf5_block *b)
{
    const unsigned version = (unsigned)tsri_block_take(b, 1), rank = (unsigned)tsri_block_take(b, 1);
    const bool may_grow = tsri_block_take(b, 1) & 1;
    const unsigned kind = (unsigned)tsri_block_take(b, 1); /* since version 2; 2: without elements */
    if (version < 2) tsri_block_skip(b, 4);
    o->has_space = version == 1 || version == 2;
    o->ndim = rank > TSR_MAX_NDIM || (version == 2 && kind == 2) ? -1 : (int)rank;
    for (int i = 0; i < o->ndim; i++) {
        const uint64_t dim = tsri_block_length(h, b);
        o->shape[i] = dim > INT64_MAX ? -1 : (int64_t)dim;
        o->most[i] = dim;
    }
    for (int i = 0; i < o->ndim && may_grow; i++) o->most[i] = tsri_block_length(h, b);
    if (b->ended) o->ndim = -1;
}

static tsr_status take_own_type(void *context, tsri_hdf5_file *h, unsigned type, bool shared,
                                tsri_hdf5_block *b)
{
    tsri_hdf5_object *o = context;
    (void)h;
    if (type != TYPE || shared) return TSR_OK;
    o->type = tsri_hdf5_type_of(b);
    o->has_type = true;
    return TSR_OK;
}

/* A type that has a name is an object of its own; those of a heap of shared messages are not read. */
static tsr_status take_shared_type(tsri_hdf5_object *o, tsri_hdf5_file *h, tsri_hdf5_block *b)
{
    const unsigned version = (unsigned)tsri_block_take(b, 1), kind = (unsigned)tsri_block_take(b, 1);
    if (version == 1) tsri_block_skip(b, 6 + (uint64_t)h->lengths);
    o->has_type = true;
    o->type = (tsri_hdf5_type){ .encoding = "a type of HDF5" };
    if (version < 1 || version > 3 || (version == 3 && kind != 2)) return TSR_OK;
    return tsri_hdf5_each_message(h, tsri_block_address(h, b), take_own_type, o);
}

static void take_fill(tsri_hdf5_object *o, tsri_hdf5_block *b, bool is_old)
{
    const unsigned version = is_old ? 0 : (unsigned)tsri_block_take(b, 1);
    bool given = true;
    if (version == 1 || version == 2) {
        tsri_block_skip(b, 2);
        given = tsri_block_take(b, 1) || version == 1;
    } else if (version == 3) given = tsri_block_take(b, 1) & 32;
    const uint64_t bytes = given ? tsri_block_take(b, 4) : 0;
    if (bytes == 0 || bytes > TSRI_HDF5_WIDEST || bytes > b->bytes - b->at) return;
    memcpy(o->fill, b->data + b->at, (size_t)bytes);
    o->has_fill = true;
}

static void take_filters(tsri_hdf5_object *o, tsri_hdf5_block *b)
{
    const unsigned version = (unsigned)tsri_block_take(b, 1);
    int n = (int)tsri_block_take(b, 1);
    if (version == 1) tsri_block_skip(b, 6);
    for (; n > 0 && !b->ended; n--) {
        const uint16_t id = (uint16_t)tsri_block_take(b, 2);
        const uint64_t name = version == 1 || id > 255 ? tsri_block_take(b, 2) : 0;
        tsri_block_skip(b, 2);
        const uint64_t values = tsri_block_take(b, 2);
        tsri_block_skip(b, name + 4 * (values + (version == 1 ? values % 2 : 0)));
        bool known = (id >= TSRI_DEFLATE && id <= TSRI_FLETCHER) || id == TSRI_LZF;
        for (int i = 0; i < o->filters; i++) known = known && o->filter[i] != id;
        if (known) o->filter[o->filters++] = id;
        else o->other_filter = id ? id : 1;
    }
    if (b->ended || version < 1 || version > 2) o->other_filter = UINT16_MAX;
}

/* Layout -------------------------------------------------------------------------------- */

/* Sizes of chunks, and of an element behind them. */
static void take_chunk(tsri_hdf5_object *o, tsri_hdf5_block *b, int dims, int bytes)
{
    o->chunk_ndim = dims < 1 || dims > TSR_MAX_NDIM + 1 ? -1 : dims - 1;
    for (int i = 0; i < o->chunk_ndim; i++) o->chunk[i] = tsri_block_take(b, bytes);
    tsri_block_skip(b, (uint64_t)bytes);
}

static void take_old_layout(tsri_hdf5_object *o, const tsri_hdf5_file *h, tsri_hdf5_block *b)
{
    const int dims = (int)tsri_block_take(b, 1);
    o->layout = (tsri_hdf5_layout)tsri_block_take(b, 1);
    tsri_block_skip(b, 5);
    if (o->layout != TSRI_COMPACT) o->address = tsri_block_address(h, b);
    if (o->layout == TSRI_CHUNKED) take_chunk(o, b, dims, 4);
    else tsri_block_skip(b, 4 * (uint64_t)dims);
    if (o->layout != TSRI_COMPACT) return;
    o->bytes = tsri_block_take(b, 4);
    o->address = b->address + b->at;
}

static void take_new_chunks(tsri_hdf5_object *o, const tsri_hdf5_file *h, tsri_hdf5_block *b)
{
    static const unsigned char parameters[] = { 0, 0, 0, 1, 5, 6 };
    const unsigned flags = (unsigned)tsri_block_take(b, 1);
    const int dims = (int)tsri_block_take(b, 1), bytes = (int)tsri_block_take(b, 1);
    take_chunk(o, b, dims, bytes > 8 ? 8 : bytes);
    const unsigned index = (unsigned)tsri_block_take(b, 1);
    if (index < TSRI_ONE_CHUNK || index > TSRI_BY_TREE_2 || bytes > 8) {
        o->layout = TSRI_ELSEWHERE;
        return;
    }
    o->index = (tsri_hdf5_index)index;
    tsri_block_skip(b, parameters[index]);
    if (index == TSRI_ONE_CHUNK && flags & 2) {
        o->stored = tsri_block_length(h, b);
        o->mask = (uint32_t)tsri_block_take(b, 4);
    }
    o->address = tsri_block_address(h, b);
}

static void take_layout(tsri_hdf5_object *o, const tsri_hdf5_file *h, tsri_hdf5_block *b)
{
    const unsigned version = (unsigned)tsri_block_take(b, 1);
    o->has_layout = true;
    o->address = TSRI_NOWHERE;
    if (version == 1 || version == 2) take_old_layout(o, h, b);
    else if (version >= 3 && version <= 5) {
        o->layout = (tsri_hdf5_layout)tsri_block_take(b, 1);
        if (o->layout == TSRI_COMPACT) {
            o->bytes = tsri_block_take(b, 2);
            o->address = b->address + b->at;
        } else if (o->layout == TSRI_CHUNKED && version > 3) take_new_chunks(o, h, b);
        else if (o->layout == TSRI_CHUNKED) {
            const int dims = (int)tsri_block_take(b, 1);
            o->address = tsri_block_address(h, b);
            take_chunk(o, b, dims, 4);
        } else o->address = tsri_block_address(h, b);
    } else o->layout = TSRI_ELSEWHERE;
    if (b->ended || o->layout > TSRI_ELSEWHERE) o->layout = TSRI_ELSEWHERE;
}

/* Links of a group: many of them have a heap and a tree. */
static void take_link_info(tsri_hdf5_object *o, const tsri_hdf5_file *h, tsri_hdf5_block *b)
{
    tsri_block_skip(b, 1);
    const unsigned flags = (unsigned)tsri_block_take(b, 1);
    tsri_block_skip(b, flags & 1 ? 8 : 0);
    o->link_heap = tsri_block_address(h, b);
    o->link_tree = tsri_block_address(h, b);
}

static tsr_status take_object(void *context, tsri_hdf5_file *h, unsigned type, bool shared,
                              tsri_hdf5_block *b)
{
    tsri_hdf5_object *o = context;
    o->is_group = o->is_group || type == LINKS || type == GROUP || type == SYMBOLS;
    if (type == TYPE && shared) return take_shared_type(o, h, b);
    if (type == TYPE) return take_own_type(o, h, type, shared, b);
    if (shared) return TSR_OK;
    if (type == SPACE) take_space(o, h, b);
    if (type == LAYOUT) take_layout(o, h, b);
    if (type == FILTERS) take_filters(o, b);
    if (type == EXTERNAL) o->has_data_elsewhere = true;
    if (type == LINKS) take_link_info(o, h, b);
    if (type == FILL || (type == OLD_FILL && !o->has_fill)) take_fill(o, b, type == OLD_FILL);
    if (type == SYMBOLS) {
        o->tree = tsri_block_address(h, b);
        o->heap = tsri_block_address(h, b);
    }
    return TSR_OK;
}

tsr_status tsri_hdf5_read_object(tsri_hdf5_file *h, tsri_hdf5_object *out, uint64_t address)
{
    *out = (tsri_hdf5_object){ .tree = TSRI_NOWHERE,
                               .heap = TSRI_NOWHERE,
                               .link_heap = TSRI_NOWHERE,
                               .link_tree = TSRI_NOWHERE,
                               .ndim = -1,
                               .type.encoding = "" };
    return tsri_hdf5_each_message(h, address, take_object, out);
}
