/* gguf.c - magic, version, counts; keys and values; names and shapes of tensors; and, aligned,
 * their elements. Sizes are listed with the fastest dim first, the other way round from here. */
#include "core/alloc.h"
#include "core/tensor_int.h"
#include "gguf_blocks.h"
#include "io_int.h"
#include "json.h"
#include "tessera/move.h"
#include "tessera/ops/quant.h"
#include "tessera/view.h"

enum { DEFAULT_ALIGNMENT = 32, LARGEST_ALIGNMENT = 1 << 20, DEEPEST = 8, WINDOW = 1 << 16 };

/* Types of values. */
enum { U8, I8, U16, I16, U32, I32, F32, BOOL, TEXT, ARRAY, U64, I64, F64 };

static const tsr_dtype dtypes[] = { TSR_U8, TSR_I8, TSR_U16, TSR_I16, TSR_U32, TSR_I32, TSR_F32, TSR_BOOL,
                                    TSR_DTYPE_INVALID, TSR_DTYPE_INVALID, TSR_U64, TSR_I64, TSR_F64 };
enum { VALUE_TYPES = sizeof dtypes / sizeof *dtypes };

/* A cursor over the header, through a window on it ------------------------------------- */

typedef struct cursor {
    tsr_file      *file;
    uint64_t       at;             /* of the next byte to take */
    uint64_t       start;          /* of the window */
    size_t         held;
    unsigned char *window;
} cursor;

static tsr_status take(cursor *c, void *dst, uint64_t n, const char *what)
{
    const tsri_source *s = c->file->parts[0];
    TSRI_SOUND(n <= s->size - c->at, c->file, "byte %llu: %s takes %llu bytes, and the file has %llu more",
               tsri_ull(c->at), what, tsri_ull(n), tsri_ull(s->size - c->at));
    if (n > WINDOW) {
        TSRI_TRY(tsri_source_read(s, dst, c->at, (size_t)n));
    } else if (n > 0) {
        if (c->at + n > c->start + c->held) {
            c->start = c->at;
            c->held = s->size - c->at < WINDOW ? (size_t)(s->size - c->at) : WINDOW;
            TSRI_TRY(tsri_source_read(s, c->window, c->start, c->held));
        }
        memcpy(dst, c->window + (c->at - c->start), (size_t)n);
    }
    c->at += n;
    return TSR_OK;
}

static tsr_status take32(cursor *c, uint32_t *out, const char *what)
{
    unsigned char b[4] = { 0 };
    TSRI_TRY(take(c, b, sizeof b, what));
    *out = tsri_get32(b);
    return TSR_OK;
}

static tsr_status take64(cursor *c, uint64_t *out, const char *what)
{
    unsigned char b[8] = { 0 };
    TSRI_TRY(take(c, b, sizeof b, what));
    *out = tsri_get64(b);
    return TSR_OK;
}

static tsr_status no_room(const cursor *c)
{
    return tsri_fail(TSR_ENOMEM, "file_open: %s: no room for its metadata", c->file->path);
}

/* Is there as much left? Before memory is taken for it. */
static tsr_status check_left(const cursor *c, uint64_t count, uint64_t each, const char *what)
{
    const uint64_t left = c->file->parts[0]->size - c->at;
    TSRI_SOUND(count <= left / each, c->file, "byte %llu: %llu of %s, and the file has %llu bytes more",
               tsri_ull(c->at), tsri_ull(count), what, tsri_ull(left));
    return TSR_OK;
}

static tsr_status take_text(cursor *c, const char **out, size_t *length, const char *what)
{
    uint64_t n = 0;
    TSRI_TRY(take64(c, &n, what));
    TSRI_TRY(check_left(c, n, 1, what));
    char *text = tsri_bump_take(&c->file->memory, (size_t)n + 1);
    if (!text) return no_room(c);
    TSRI_TRY(take(c, text, n, what));
    *out = text;
    *length = (size_t)n;
    return TSR_OK;
}

/* A text that names something: UTF-8 without zeros. */
static tsr_status take_name(cursor *c, const char **out, const char *what)
{
    size_t n = 0;
    const uint64_t at = c->at;
    TSRI_TRY(take_text(c, out, &n, what));
    TSRI_SOUND(tsri_strlen(*out) == n && tsri_is_utf8(*out, n), c->file, "byte %llu: %s is no UTF-8 text",
               tsri_ull(at), what);
    return TSR_OK;
}

/* Values ------------------------------------------------------------------------------- */

static tsr_status take_value(cursor *c, tsr_meta *m, uint32_t type, int depth);

static tsr_status check_bools(const cursor *c, const unsigned char *p, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        TSRI_SOUND(p[i] <= 1, c->file, "byte %llu: a bool is %d", tsri_ull(c->at - n + i), p[i]);
    return TSR_OK;
}

static tsr_status take_numbers(cursor *c, tsr_meta *m, uint64_t n)
{
    const size_t size = tsr_dtype_size(m->dtype);
    TSRI_TRY(check_left(c, n, size, "numbers"));
    unsigned char *data = tsri_bump_take(&c->file->memory, (size_t)n * size);
    if (!data) return no_room(c);
    TSRI_TRY(take(c, data, n * size, "an array"));
    m->type = TSR_META_NUMBERS;
    m->data = data;
    return m->dtype == TSR_BOOL ? check_bools(c, data, n) : TSR_OK;
}

static tsr_status take_texts(cursor *c, tsr_meta *m, uint64_t n)
{
    size_t length;
    TSRI_TRY(check_left(c, n, 8, "texts"));
    const char **texts = tsri_bump_take(&c->file->memory, (size_t)n * sizeof *texts);
    if (!texts) return no_room(c);
    for (uint64_t i = 0; i < n; i++) TSRI_TRY(take_text(c, &texts[i], &length, "a text of an array"));
    m->type = TSR_META_TEXTS;
    m->texts = texts;
    return TSR_OK;
}

static tsr_status take_array(cursor *c, tsr_meta *m, int depth)
{
    uint32_t type = 0;
    uint64_t n = 0;
    TSRI_SOUND(depth < DEEPEST, c->file, "byte %llu: arrays in arrays, more than %d deep", tsri_ull(c->at),
               DEEPEST);
    TSRI_TRY(take32(c, &type, "the type of an array"));
    TSRI_TRY(take64(c, &n, "the length of an array"));
    TSRI_SOUND(type < VALUE_TYPES, c->file, "byte %llu: %u is no type of values", tsri_ull(c->at - 12),
               (unsigned)type);
    TSRI_TRY(check_left(c, n, 1, "values"));
    m->count = (int64_t)n;
    m->dtype = dtypes[type];
    if (type == TEXT) return take_texts(c, m, n);
    if (type != ARRAY) return take_numbers(c, m, n);
    TSRI_TRY(check_left(c, n, 12, "arrays"));
    tsr_meta *items = tsri_bump_take(&c->file->memory, (size_t)n * sizeof *items);
    if (!items) return no_room(c);
    for (uint64_t i = 0; i < n; i++) TSRI_TRY(take_value(c, &items[i], ARRAY, depth + 1));
    m->type = TSR_META_LIST;
    m->items = items;
    return TSR_OK;
}

static tsr_status take_value(cursor *c, tsr_meta *m, uint32_t type, int depth)
{
    unsigned char number[8] = { 0 };
    TSRI_SOUND(type < VALUE_TYPES, c->file, "byte %llu: %u is no type of values", tsri_ull(c->at - 4),
               (unsigned)type);
    if (type == ARRAY) return take_array(c, m, depth);
    if (type == TEXT) return take_text(c, &m->text, &m->length, "a text");
    m->type = TSR_META_NUMBER;
    m->dtype = dtypes[type];
    TSRI_TRY(take(c, number, tsr_dtype_size(m->dtype), "a number"));
    if (type == BOOL) TSRI_TRY(check_bools(c, number, 1));
    return tsr_scalar_load(&m->number, m->dtype, number);
}

static tsr_status take_pair(cursor *c)
{
    const char *key = "";
    uint32_t type = 0;
    tsr_meta *m = NULL;
    TSRI_TRY(take_name(c, &key, "a key"));
    TSRI_TRY(take32(c, &type, "the type of a value"));
    TSRI_TRY(tsri_file_add_meta(c->file, &m, key));
    return take_value(c, m, type, 0);
}

/* Tensors ------------------------------------------------------------------------------ */

/* The bytes of all blocks; a row is whole blocks. */
static tsr_status count_bytes(uint64_t *out, const tsr_file *f, const char *name, const tsri_gguf_type *type,
                              int ndim, const int64_t *shape)
{
    const int64_t row = ndim ? shape[ndim - 1] : 1;
    uint64_t elements = 0;
    TSRI_TRY(tsri_file_shape_bytes(&elements, f, name, 1, ndim, shape));
    TSRI_SOUND(row % type->elements == 0, f, "\"%s\" has rows of %lld, and %s has blocks of %d", name,
               (long long)row, type->name, (int)type->elements);
    int64_t bytes = (int64_t)elements / type->elements;
    TSRI_SOUND(tsri_mul(&bytes, bytes, type->bytes), f, "\"%s\" has more bytes than 63 bits can count", name);
    *out = (uint64_t)bytes;
    return TSR_OK;
}

static tsr_status add_tensor(cursor *c, const char *name, int ndim, const int64_t *shape, uint32_t number,
                             uint64_t offset)
{
    const tsri_gguf_type *type = tsri_gguf_type_numbered(number);
    uint64_t bytes = 0;
    tsri_entry *e = NULL;
    tsr_dtype dtype = TSR_DTYPE_INVALID;
    if (type) {
        TSRI_TRY(count_bytes(&bytes, c->file, name, type, ndim, shape));
        dtype = type->kind >= 0 ? TSR_F32 : type->dtype;
    }
    TSRI_TRY(tsri_file_add(c->file, &e, name, dtype, ndim, shape));
    e->encoding = type ? type->name : "of a type that is not known";
    e->plain = type && type->dtype != TSR_DTYPE_INVALID;
    e->offset = offset;  /* from where the data begins, for now */
    e->bytes = bytes;
    e->detail = number;
    if (type) e->blocks = (uint8_t)(type->kind + 1);
    return TSR_OK;
}

static tsr_status take_tensor(cursor *c)
{
    const char *name = "";
    uint32_t ndim = 0, type = 0;
    uint64_t size = 0, offset = 0;
    int64_t shape[TSR_MAX_NDIM];
    TSRI_TRY(take_name(c, &name, "the name of a tensor"));
    TSRI_TRY(take32(c, &ndim, "a rank"));
    TSRI_CHECK(ndim <= TSR_MAX_NDIM, TSR_EUNSUPPORTED,
               "file_open: %s: \"%s\" has %u dims; at most %d are read", c->file->path, name, (unsigned)ndim,
               TSR_MAX_NDIM);
    for (uint32_t i = 0; i < ndim; i++) {
        TSRI_TRY(take64(c, &size, "a size"));
        TSRI_SOUND(size <= INT64_MAX, c->file, "\"%s\": a dim of %llu", name, tsri_ull(size));
        shape[ndim - 1 - i] = (int64_t)size;
    }
    TSRI_TRY(take32(c, &type, "the type of a tensor"));
    TSRI_TRY(take64(c, &offset, "the place of a tensor"));
    return add_tensor(c, name, (int)ndim, shape, type, offset);
}

/* general.alignment, if it is there and can be. */
static tsr_status find_alignment(uint64_t *out, const tsr_file *f)
{
    *out = DEFAULT_ALIGNMENT;
    for (int64_t i = 0; i < f->meta_list.count; i++) {
        const tsr_meta *m = f->metas[i];
        if (!tsri_streq(m->key, "general.alignment")) continue;
        *out = m->type == TSR_META_NUMBER ? tsr_scalar_to_u64(m->number) : 0;
        TSRI_SOUND(*out >= 8 && *out <= LARGEST_ALIGNMENT && (*out & (*out - 1)) == 0, f,
                   "an alignment of %llu, which is no power of two from 8 to %d", tsri_ull(*out),
                   LARGEST_ALIGNMENT);
    }
    return TSR_OK;
}

static tsr_status place_tensors(const cursor *c)
{
    tsr_file *f = c->file;
    const uint64_t size = f->parts[0]->size;
    uint64_t alignment = 0;
    TSRI_TRY(find_alignment(&alignment, f));
    const uint64_t start = (c->at + alignment - 1) / alignment * alignment;
    for (int64_t i = 0; i < f->entry_list.count; i++) {
        tsri_entry *e = f->entries[i];
        TSRI_SOUND(e->offset % alignment == 0, f, "\"%s\" lies at %llu, which is no multiple of %llu",
                   e->name, tsri_ull(e->offset), tsri_ull(alignment));
        TSRI_SOUND(e->bytes == 0 ||
                       (start <= size && e->offset <= size - start && e->bytes <= size - start - e->offset),
                   f, "\"%s\" takes %llu bytes from byte %llu of the data on, and the data has %llu", e->name,
                   tsri_ull(e->bytes), tsri_ull(e->offset), tsri_ull(start <= size ? size - start : 0));
        e->offset = e->bytes ? e->offset + start : 0;
    }
    return TSR_OK;
}

static tsr_status read_header(cursor *c)
{
    uint32_t magic = 0, version = 0;
    uint64_t tensors = 0, pairs = 0;
    TSRI_TRY(take32(c, &magic, "the magic"));
    TSRI_SOUND(magic == 0x46554747, c->file, "does not begin with GGUF");
    TSRI_TRY(take32(c, &version, "the version"));
    TSRI_CHECK(version == 2 || version == 3, TSR_EUNSUPPORTED,
               "file_open: %s: gguf version %u%s; 2 and 3 are read", c->file->path,
               (unsigned)(version >> 24 ? version >> 24 : version),
               version >> 24 && !(version & 0xFFFFFF) ? ", big-endian" : "");
    TSRI_TRY(take64(c, &tensors, "the number of tensors"));
    TSRI_TRY(take64(c, &pairs, "the number of keys"));
    TSRI_TRY(check_left(c, pairs, 13, "keys and values"));
    for (uint64_t i = 0; i < pairs; i++) TSRI_TRY(take_pair(c));
    TSRI_TRY(check_left(c, tensors, 24, "tensors"));
    for (uint64_t i = 0; i < tensors; i++) TSRI_TRY(take_tensor(c));
    return place_tensors(c);
}

static tsr_status open_gguf(tsr_file *f)
{
    cursor c = { .file = f, .window = tsri_scratch(WINDOW) };
    TSRI_CHECK(c.window, TSR_ENOMEM, "file_open: %s: no room", f->path);
    const tsr_status s = read_header(&c);
    tsri_free(c.window, WINDOW);
    return s;
}

static bool is_gguf(const unsigned char *head, size_t n) { return n >= 4 && tsri_get32(head) == 0x46554747; }

/* Blocks ------------------------------------------------------------------------------- */

/* All the blocks at src, which make up t. */
static tsr_status decode_all(tsr_tensor *t, const unsigned char *src, const tsri_gguf_type *type)
{
    const int64_t n = tsr_numel(t) / type->elements;
    tsr_tensor blocks, flat, *out = &flat;
    TSRI_TRY(tsr_place(&blocks, (void *)(uintptr_t)src, TSR_DESC(TSR_U8, n, type->bytes)));
    TSRI_TRY(tsr_place(&flat, t->data, TSR_DESC(TSR_F32, tsr_numel(t))));
    return tsr_dequantise_blocks(&out, &blocks, (tsr_block_kind)type->kind);
}

static tsr_status read_blocks(tsr_tensor **out, const tsr_file *f, const tsri_entry *e)
{
    tsri_source *s = tsri_entry_source(f, e);
    TSRI_TRY(tsri_source_map(s));
    TSRI_TRY(tsri_make_packed(out, "file_read", TSR_F32, e->ndim, e->shape));
    if (e->bytes == 0) return TSR_OK;
    return decode_all(*out, s->base + e->offset, tsri_gguf_type_numbered((uint32_t)e->detail));
}

/* Blocks as they are: (..., blocks of a row, bytes of a block). */
static tsr_status read_raw(tsr_tensor **out, const tsr_file *f, const tsri_entry *e)
{
    const tsri_gguf_type *type = tsri_gguf_type_numbered((uint32_t)e->detail);
    int64_t shape[TSR_MAX_NDIM] = { (int64_t)e->bytes };
    int ndim = 1;
    TSRI_CHECK(type, TSR_EUNSUPPORTED, "file_read_raw: %s: \"%s\" is of type %llu, whose size is not known",
               f->path, e->name, tsri_ull(e->detail));
    if (type->elements > 1 && e->ndim < TSR_MAX_NDIM) {  /* a row is whole blocks, so there is a dim */
        ndim = e->ndim + 1;
        for (int i = 0; i < e->ndim; i++) shape[i] = e->shape[i];
        shape[e->ndim - 1] /= type->elements;
        shape[e->ndim] = type->bytes;
    }
    uint64_t bytes = 0;  /* the shape of elements was checked; that of blocks may be larger if one dim is 0 */
    TSRI_TRY(tsri_file_shape_bytes(&bytes, f, e->name, 1, ndim, shape));
    const tsri_entry raw = { .name = e->name,
                             .encoding = "u8",
                             .shape = shape,
                             .dtype = TSR_U8,
                             .ndim = ndim,
                             .part = e->part,
                             .plain = true,
                             .offset = e->offset,
                             .bytes = e->bytes };
    return tsri_read_plain(out, f, &raw, NULL, 0);
}

/* One range of an axis, which moves on unless the axis goes away. */
static tsr_status cut(tsr_tensor **t, int *axis, const tsr_file_range *r)
{
    if (r->step == 0) return tsr_select(t, *t, *axis, r->start);
    return tsr_slice(t, *t, (*axis)++, r->start, r->stop, r->step);
}

/* Whole rows of packed blocks as f32. */
static tsr_status decode_rows(tsr_tensor **out, const tsr_tensor *blocks, const tsri_gguf_type *type)
{
    int64_t shape[TSR_MAX_NDIM];
    const int ndim = blocks->ndim - 1;
    for (int i = 0; i < ndim; i++) shape[i] = blocks->shape[i];
    shape[ndim - 1] *= type->elements;
    TSRI_TRY(tsri_make_packed(out, "file_read", TSR_F32, ndim, shape));
    return decode_all(*out, blocks->data, type);
}

/* The rows are chosen among the blocks, so that only theirs are touched and decoded. */
static tsr_status cut_rows(tsr_tensor **blocks, tsr_tensor **rows, const tsr_file *f, const tsri_entry *e,
                           int n, const tsr_file_range *ranges)
{
    int axis = 0;
    TSRI_TRY(read_raw(blocks, f, e));
    for (int i = 0; i < n && i < e->ndim - 1; i++) TSRI_TRY(cut(blocks, &axis, &ranges[i]));
    TSRI_TRY(tsr_contiguous(blocks, *blocks));
    TSRI_TRY(decode_rows(rows, *blocks, tsri_gguf_type_numbered((uint32_t)e->detail)));
    axis = (*rows)->ndim - 1;
    return n == e->ndim ? cut(rows, &axis, &ranges[n - 1]) : TSR_OK;
}

/* Decodes all blocks and cuts after that: if there are too many dims for one more, or no rows to choose. */
static tsr_status read_blocks_and_cut(tsr_tensor **out, const tsr_file *f, const tsri_entry *e, int n,
                                      const tsr_file_range *ranges)
{
    tsr_tensor *t = NULL;
    int axis = 0;
    tsr_status s = read_blocks(&t, f, e);
    for (int i = 0; i < n && s == TSR_OK; i++) s = cut(&t, &axis, &ranges[i]);
    if (s != TSR_OK) tsr_release(&t);
    else *out = t;
    return s;
}

static tsr_status read_part(tsr_tensor **out, const tsr_file *f, const tsri_entry *e, int n,
                            const tsr_file_range *ranges)
{
    tsr_tensor *blocks = NULL, *rows = NULL;
    if (n == 0 || e->bytes == 0 || e->ndim == TSR_MAX_NDIM) return read_blocks_and_cut(out, f, e, n, ranges);
    const tsr_status s = cut_rows(&blocks, &rows, f, e, n, ranges);
    tsr_release(&blocks);
    if (s != TSR_OK) tsr_release(&rows);
    else *out = rows;
    return s;
}

/* Writing ---------------------------------------------------------------------------------
 *
 * A tensor's kind is the number of its type. */

static uint64_t alignment_of(const tsr_writer *w)
{
    for (int64_t i = 0; i < w->meta_list.count; i++)
        if (tsri_streq(w->metas[i]->key, "general.alignment")) return tsr_scalar_to_u64(w->metas[i]->number);
    return DEFAULT_ALIGNMENT;
}

static uint64_t aligned(uint64_t at, uint64_t alignment)
{
    return (at + alignment - 1) / alignment * alignment;
}

/* A u8 tensor for an encoding of blocks holds such blocks; its shape is theirs. */
static tsr_status plan_blocks(tsr_writer *w, tsri_file_entry *p, const tsri_gguf_type *type)
{
    tsr_desc *d = &p->desc;
    TSRI_CHECK(d->ndim >= 2 && d->shape[d->ndim - 1] == type->bytes, TSR_ESHAPE,
               "writer_add: %s: \"%s\" is %s; blocks of %s are u8(..., blocks, %d)", w->path, p->name,
               TSRI_DESC(d), type->name, (int)type->bytes);
    return TSR_OK;
}

static tsr_status plan_encoded(tsr_writer *w, tsri_file_entry *p, const tsri_gguf_type *type)
{
    const tsr_desc *d = &p->desc;
    const int64_t row = d->ndim ? d->shape[d->ndim - 1] : 1;
    TSRI_CHECK(tsr_dtype_kind(d->dtype) == TSR_FLOATING &&
                   (type->encode || tsr_dtype_kind(type->dtype) == TSR_FLOATING),
               TSR_EDTYPE, "writer_add: %s: \"%s\" is %s, which cannot be encoded as %s here", w->path,
               p->name, TSRI_DESC(d), type->name);
    TSRI_CHECK(row % type->elements == 0, TSR_ESHAPE, "writer_add: %s: \"%s\" is %s, and %s has blocks of %d",
               w->path, p->name, TSRI_DESC(d), type->name, (int)type->elements);
    p->bytes = (uint64_t)(tsr_desc_numel(d) / type->elements * type->bytes);
    return TSR_OK;
}

static tsr_status plan(tsr_writer *w, tsri_file_entry *p)
{
    const tsri_gguf_type *own = tsri_gguf_type_of(p->desc.dtype);
    const tsri_gguf_type *type = p->encoding ? tsri_gguf_type_named(p->encoding) : own;
    TSRI_CHECK(type || !p->encoding, TSR_EUNSUPPORTED, "writer_add: %s: \"%s\" is no encoding of gguf",
               w->path, p->encoding);
    TSRI_CHECK(type, TSR_EDTYPE, "writer_add: %s: gguf has no %s (tsr_cast, or another format)", w->path,
               tsr_dtype_name(p->desc.dtype));
    TSRI_CHECK(*p->name && tsri_is_utf8(p->name, tsri_strlen(p->name)), TSR_EINVAL,
               "writer_add: %s: the name \"%s\" is empty, or not UTF-8", w->path, p->name);
    if (type->elements > 1 && p->desc.dtype == TSR_U8) TSRI_TRY(plan_blocks(w, p, type));
    else if (type != own)                              TSRI_TRY(plan_encoded(w, p, type));
    p->kind = type->number;
    p->offset = aligned(p->offset, alignment_of(w));
    return TSR_OK;
}

/* Bytes of the header, counted and, if there is room, written. */
typedef struct header { unsigned char *out; size_t length; } header;

static void put(header *h, const void *data, size_t n)
{
    if (h->out && n) memcpy(h->out + h->length, data, n);
    h->length += n;
}

static void put32(header *h, uint32_t v)
{
    unsigned char b[4];
    tsri_set32(b, v);
    put(h, b, sizeof b);
}

static void put64(header *h, uint64_t v)
{
    unsigned char b[8];
    tsri_set64(b, v);
    put(h, b, sizeof b);
}

static void put_text(header *h, const char *text, size_t n)
{
    put64(h, n);
    put(h, text, n);
}

static uint32_t value_type(tsr_dtype dtype)
{
    for (uint32_t i = 0; i < VALUE_TYPES; i++)
        if (dtypes[i] == dtype) return i;
    return VALUE_TYPES;
}

static void put_array(header *h, const tsr_meta *m)
{
    put32(h, m->type == TSR_META_TEXTS ? TEXT : m->type == TSR_META_LIST ? ARRAY : value_type(m->dtype));
    put64(h, (uint64_t)m->count);
    if (m->type == TSR_META_NUMBERS) put(h, m->data, (size_t)m->count * tsr_dtype_size(m->dtype));
    for (int64_t i = 0; m->type == TSR_META_TEXTS && i < m->count; i++)
        put_text(h, m->texts[i], tsri_strlen(m->texts[i]));
    for (int64_t i = 0; m->type == TSR_META_LIST && i < m->count; i++) put_array(h, &m->items[i]);
}

static void put_value(header *h, const tsr_meta *m)
{
    unsigned char number[16];
    if (m->type == TSR_META_TEXT) {
        put32(h, TEXT);
        put_text(h, m->text, m->length);
    } else if (m->type == TSR_META_NUMBER) {
        (void)!tsr_scalar_store(number, m->dtype, m->number);  /* checked when it came */
        put32(h, value_type(m->dtype));
        put(h, number, tsr_dtype_size(m->dtype));
    } else {
        put32(h, ARRAY);
        put_array(h, m);
    }
}

static void put_tensor(header *h, const tsri_file_entry *p)
{
    const tsri_gguf_type *type = tsri_gguf_type_numbered(p->kind);
    const bool blocks = type->elements > 1 && p->desc.dtype == TSR_U8;
    const int ndim = p->desc.ndim - blocks;
    put_text(h, p->name, tsri_strlen(p->name));
    put32(h, (uint32_t)ndim);
    for (int i = ndim - 1; i >= 0; i--)
        put64(h, (uint64_t)p->desc.shape[i] * (blocks && i == ndim - 1 ? (uint64_t)type->elements : 1));
    put32(h, p->kind);
    put64(h, p->offset);
}

static void put_header(header *h, const tsr_writer *w)
{
    put(h, "GGUF", 4);
    put32(h, 3);
    put64(h, (uint64_t)w->plan_list.count);
    put64(h, (uint64_t)w->meta_list.count);
    for (int64_t i = 0; i < w->meta_list.count; i++) {
        put_text(h, w->metas[i]->key, tsri_strlen(w->metas[i]->key));
        put_value(h, w->metas[i]);
    }
    for (int64_t i = 0; i < w->plan_list.count; i++) put_tensor(h, w->plan[i]);
}

static uint64_t header_bytes(const tsr_writer *w)
{
    header h = { NULL, 0 };
    put_header(&h, w);
    return aligned(h.length, alignment_of(w));
}

static tsr_status data_start(tsr_writer *w, uint64_t *out)
{
    *out = header_bytes(w);
    return TSR_OK;
}

typedef struct encoding {
    tsr_writer *w;
    uint64_t at;
    const tsri_gguf_type *type;
    unsigned char *room;
} encoding;

enum { BLOCKS_AT_ONCE = 4096 };

/* Rows are whole blocks, and runs whole rows or parts of one that a block divides. */
static tsr_status encode_run(void *context, const void *data, size_t bytes)
{
    encoding *e = context;
    const float *x = data;
    for (int64_t left = (int64_t)(bytes / sizeof *x) / e->type->elements; left > 0;) {
        const int64_t n = left < BLOCKS_AT_ONCE ? left : BLOCKS_AT_ONCE;
        const size_t made = (size_t)(n * e->type->bytes);
        e->type->encode(e->room, x, n);
        TSRI_TRY(tsri_sink_write(&e->w->sink, e->at, e->room, made));
        e->at += made;
        x += n * e->type->elements;
        left -= n;
    }
    return TSR_OK;
}

static tsr_status add_encoded(tsr_writer *w, uint64_t at, const tsr_tensor *t, const tsri_gguf_type *type)
{
    const size_t bytes = (size_t)BLOCKS_AT_ONCE * (size_t)type->bytes;
    tsr_tensor *f32 = NULL, *packed = NULL;
    encoding e = { w, at, type, tsri_scratch(bytes) };
    TSRI_CHECK(e.room, TSR_ENOMEM, "writer_add: %s: no room to encode", w->path);
    tsr_status s = t->dtype == TSR_F32 ? TSR_OK : tsr_cast(&f32, t, TSR_F32);
    if (s == TSR_OK) s = tsr_contiguous(&packed, f32 ? f32 : t);
    if (s == TSR_OK) s = tsri_each_run(w, packed, encode_run, &e);
    tsr_release(&f32);
    tsr_release(&packed);
    tsri_free(e.room, bytes);
    return s;
}

static tsr_status add_cast(tsr_writer *w, uint64_t at, const tsr_tensor *t, tsr_dtype dtype)
{
    tsr_tensor *cast = NULL;
    TSRI_TRY(tsr_cast(&cast, t, dtype));
    const tsr_status s = tsri_write_elements(w, at, cast);
    tsr_release(&cast);
    return s;
}

static tsr_status add(tsr_writer *w, tsri_file_entry *p, const tsr_tensor *t)
{
    const tsri_gguf_type *type = tsri_gguf_type_numbered(p->kind);
    const uint64_t at = w->data_start + p->offset;
    if (type->elements > 1 && t->dtype != TSR_U8) return add_encoded(w, at, t, type);
    if (type->elements == 1 && type->dtype != t->dtype) return add_cast(w, at, t, type->dtype);
    return tsri_write_elements(w, at, t);
}

static tsr_status move_data(tsr_writer *w, uint64_t to)
{
    enum { ROOM = 1 << 20 };
    void *scratch = tsri_scratch(ROOM);
    TSRI_CHECK(scratch, TSR_ENOMEM, "writer_finish: %s: no room", w->path);
    const uint64_t written = w->sink.size > w->data_start ? w->sink.size - w->data_start : 0;
    const tsr_status s = tsri_sink_move(&w->sink, w->data_start, to, written, scratch, ROOM);
    tsri_free(scratch, ROOM);
    w->data_start = to;
    return s;
}

static tsr_status finish(tsr_writer *w)
{
    const uint64_t start = header_bytes(w);
    if (start > w->data_start) TSRI_TRY(move_data(w, start));
    header h = { tsri_scratch((size_t)start), 0 };
    TSRI_CHECK(h.out, TSR_ENOMEM, "writer_finish: %s: no room for the header", w->path);
    memset(h.out, 0, (size_t)start);
    put_header(&h, w);
    const tsr_status s = tsri_sink_write(&w->sink, 0, h.out, (size_t)start);
    tsri_free(h.out, (size_t)start);
    TSRI_TRY(s);
    return tsri_sink_cut(&w->sink, start + aligned(w->data_end, alignment_of(w)));
}

static tsr_status check_meta(const tsr_writer *w, const tsr_meta *m)
{
    const bool numbers = m->type == TSR_META_NUMBER || m->type == TSR_META_NUMBERS;
    TSRI_CHECK(!numbers || value_type(m->dtype) < VALUE_TYPES, TSR_EDTYPE,
               "writer_meta: %s: gguf has no values of %s", w->path, tsr_dtype_name(m->dtype));
    unsigned char number[16];
    if (m->type == TSR_META_NUMBER) TSRI_TRY(tsr_scalar_store(number, m->dtype, m->number));
    for (int64_t i = 0; m->type == TSR_META_LIST && i < m->count; i++) {
        TSRI_CHECK(m->items[i].type != TSR_META_TEXT && m->items[i].type != TSR_META_NUMBER, TSR_EUNSUPPORTED,
                   "writer_meta: %s: \"%s\": a list in gguf holds arrays", w->path, m->key ? m->key : "");
        TSRI_TRY(check_meta(w, &m->items[i]));
    }
    if (!m->key || !tsri_streq(m->key, "general.alignment")) return TSR_OK;
    const uint64_t v = m->type == TSR_META_NUMBER ? tsr_scalar_to_u64(m->number) : 0;
    TSRI_CHECK(v >= 8 && v <= LARGEST_ALIGNMENT && (v & (v - 1)) == 0 && w->plan_list.count == 0, TSR_EINVAL,
               "writer_meta: %s: general.alignment is a power of two from 8 to %d, and comes before tensors",
               w->path, LARGEST_ALIGNMENT);
    return TSR_OK;
}

const tsri_format tsri_gguf = {
    .info = { "gguf", "many tensors, some in blocks of quantised numbers, and metadata", true, true, true,
              ".gguf" },
    .is = is_gguf, .open = open_gguf, .read = read_blocks, .read_part = read_part,
    .read_raw = read_raw, .plan = plan,
    .data_start = data_start, .add = add, .finish = finish, .check_meta = check_meta, .one_pass = true,
};
