/* zip.c - npz: a zip file whose members are npy files, stored or deflated.
 *
 * A zip file is read from its end: a record there leads to the directory, the directory to
 * the members. Sizes of 32 bits that are all ones stand for 64-bit ones elsewhere (zip64).
 *
 * Work is bounded by the size of the file: members do not overlap, and the headers of all of them
 * together, once inflated, are not many times longer than it. */
#include "core/alloc.h"
#include "core/atomic.h"
#include "core/text.h"
#include "core/storage.h"
#include "crc.h"
#include "inflate.h"
#include "json.h"
#include "npy.h"

enum {
    END = 22, END64 = 56, LOCATOR = 20, CENTRAL = 46, LOCAL = 30, COMMENT = 65535,
    STORED = 0, DEFLATED = 8, ENCRYPTED = 1, UTF8 = 1 << 11,
    MOST_TIMES = 1032,   /* deflate makes no more bytes of one */
    HEADER_TIMES = 16,   /* headers are no longer than this times the file, and some more */
    HEADERS_FREE = 1 << 20,
    PIECE = 1 << 20
};
enum { ONES16 = 0xFFFF };
#define ONES32 0xFFFFFFFFu

/* Reading ------------------------------------------------------------------------------ */

typedef struct directory { uint64_t offset, bytes, count; } directory;

typedef struct member {
    const char *name;
    uint32_t    method, crc;
    uint64_t    stored, bytes;   /* as stored; as unpacked */
    uint64_t    header, data;    /* where its local header and its bytes begin */
    size_t      npy_start;       /* of the elements, in its bytes */
    int32_t     checked;         /* its checksum was found right */
} member;

/* The record at the end, before a comment of any length; searched backwards. */
static tsr_status find_end(uint64_t *out, const tsr_file *f, unsigned char end[END])
{
    const tsri_source *s = f->parts[0];
    TSRI_SOUND(s->size >= END, f, "%llu bytes are too few for a zip file", tsri_ull(s->size));
    const size_t n = s->size < END + COMMENT ? (size_t)s->size : END + COMMENT;
    unsigned char *tail = tsri_scratch(n);
    TSRI_CHECK(tail, TSR_ENOMEM, "file_open: %s: no room for the end of a zip file", f->path);
    tsr_status status = tsri_source_read(s, tail, s->size - n, n);
    bool found = false;
    for (size_t i = n - END + 1; status == TSR_OK && i > 0 && !found; i--) {
        const unsigned char *p = tail + i - 1;
        found = tsri_get32(p) == 0x06054b50 && tsri_get16(p + 20) <= n - END - (i - 1);
        if (!found) continue;
        memcpy(end, p, END);
        *out = s->size - n + i - 1;
    }
    tsri_free(tail, n);
    if (status == TSR_OK && !found)
        status = TSRI_DAMAGE(f, "has no zip directory at its end; it may be cut short");
    return status;
}

/* The 64-bit record, which a locator just before the end leads to. */
static tsr_status read_end64(directory *out, const tsr_file *f, uint64_t end)
{
    unsigned char p[END64];
    TSRI_SOUND(end >= LOCATOR, f, "has no room for a zip64 locator");
    TSRI_TRY(tsri_source_read(f->parts[0], p, end - LOCATOR, LOCATOR));
    TSRI_SOUND(tsri_get32(p) == 0x07064b50, f, "byte %llu: expected a zip64 locator",
               tsri_ull(end - LOCATOR));
    const uint64_t at = tsri_get64(p + 8);
    TSRI_TRY(tsri_file_range(f, "the zip64 record", at, END64));
    TSRI_TRY(tsri_source_read(f->parts[0], p, at, END64));
    TSRI_SOUND(tsri_get32(p) == 0x06064b50, f, "byte %llu: expected a zip64 record", tsri_ull(at));
    *out = (directory){ tsri_get64(p + 48), tsri_get64(p + 40), tsri_get64(p + 32) };
    return TSR_OK;
}

static tsr_status find_directory(directory *out, const tsr_file *f)
{
    unsigned char end[END] = { 0 };
    uint64_t at = 0;
    TSRI_TRY(find_end(&at, f, end));
    *out = (directory){ tsri_get32(end + 16), tsri_get32(end + 12), tsri_get16(end + 10) };
    TSRI_CHECK(tsri_get16(end + 4) == 0 || tsri_get16(end + 4) == ONES16, TSR_EUNSUPPORTED,
               "file_open: %s: a zip file in several parts", f->path);
    if (out->offset == ONES32 || out->bytes == ONES32 || out->count == ONES16)
        TSRI_TRY(read_end64(out, f, at));
    TSRI_TRY(tsri_file_range(f, "the directory", out->offset, out->bytes));
    TSRI_SOUND(out->count <= out->bytes / CENTRAL, f, "%llu members in a directory of %llu bytes",
               tsri_ull(out->count), tsri_ull(out->bytes));
    return TSR_OK;
}

/* 64-bit numbers take the place of those that are all ones, in this order. */
static tsr_status read_extra(const tsr_file *f, member *m, const unsigned char *p, size_t n)
{
    while (n >= 4) {
        const size_t id = tsri_get16(p), length = tsri_get16(p + 2);
        TSRI_SOUND(length <= n - 4, f, "\"%s\": an extra field of %zu bytes in %zu", m->name, length, n - 4);
        const unsigned char *at = p + 4, *end = at + length;
        uint64_t *const wanted[] = { &m->bytes, &m->stored, &m->header };
        for (int i = 0; id == 1 && i < 3; i++) {
            if (*wanted[i] != ONES32) continue;
            TSRI_SOUND(end - at >= 8, f, "\"%s\": its zip64 field is too short", m->name);
            *wanted[i] = tsri_get64(at);
            at += 8;
        }
        p += 4 + length;
        n -= 4 + length;
    }
    return TSR_OK;
}

static tsr_status read_central(member *m, tsr_file *f, const unsigned char *p, size_t n, size_t *taken)
{
    TSRI_SOUND(n >= CENTRAL && tsri_get32(p) == 0x02014b50, f, "expected one more member in the directory");
    const size_t name = tsri_get16(p + 28), extra = tsri_get16(p + 30), comment = tsri_get16(p + 32);
    TSRI_SOUND(name + extra + comment <= n - CENTRAL, f, "a member leaves the directory");
    *m = (member){ .method = tsri_get16(p + 10), .crc = tsri_get32(p + 16), .stored = tsri_get32(p + 20),
                   .bytes = tsri_get32(p + 24), .header = tsri_get32(p + 42) };
    m->name = tsri_bump_text(&f->memory, (const char *)p + CENTRAL, name);
    TSRI_CHECK(m->name, TSR_ENOMEM, "file_open: %s: no room for its names", f->path);
    TSRI_SOUND(tsri_strlen(m->name) == name && tsri_is_utf8(m->name, name), f,
               "the name of a member is no text");
    TSRI_CHECK(!(tsri_get16(p + 8) & ENCRYPTED), TSR_EUNSUPPORTED, "file_open: %s: \"%s\" is encrypted",
               f->path, m->name);
    *taken = CENTRAL + name + extra + comment;
    return read_extra(f, m, p + CENTRAL + name, extra);
}

/* The bytes come after a local header, whose own lengths count. */
static tsr_status find_data(const tsr_file *f, member *m)
{
    unsigned char p[LOCAL];
    TSRI_TRY(tsri_file_range(f, m->name, m->header, LOCAL));
    TSRI_TRY(tsri_source_read(f->parts[0], p, m->header, LOCAL));
    TSRI_SOUND(tsri_get32(p) == 0x04034b50, f, "\"%s\": byte %llu is no member", m->name,
               tsri_ull(m->header));
    m->data = m->header + LOCAL + tsri_get16(p + 26) + tsri_get16(p + 28);
    TSRI_TRY(tsri_file_range(f, m->name, m->data, m->stored));
    TSRI_CHECK(m->method == STORED || m->method == DEFLATED, TSR_EUNSUPPORTED,
               "file_open: %s: \"%s\" is compressed by method %u; stored and deflated ones are read", f->path,
               m->name, (unsigned)m->method);
    TSRI_SOUND(m->method != STORED || m->stored == m->bytes, f, "\"%s\" is stored, as %llu bytes in %llu",
               m->name, tsri_ull(m->bytes), tsri_ull(m->stored));
    TSRI_SOUND(m->method != DEFLATED || m->bytes / MOST_TIMES <= m->stored, f,
               "\"%s\": %llu bytes cannot come from %llu deflated ones", m->name, tsri_ull(m->bytes),
               tsri_ull(m->stored));
    return TSR_OK;
}

/* The first n bytes of a member. */
static tsr_status read_front(const tsr_file *f, const member *m, unsigned char *dst, size_t n)
{
    tsri_source *s = f->parts[0];
    size_t made = 0;
    if (m->method == STORED) return tsri_source_read(s, dst, m->data, n);
    TSRI_TRY(tsri_source_map(s));
    const tsri_inflated r = tsri_inflate(dst, n, s->base + m->data, (size_t)m->stored, NULL, &made);
    TSRI_SOUND(made == n && r != TSRI_INFLATE_BAD, f, "\"%s\": %s after %zu bytes", m->name,
               r == TSRI_INFLATE_BAD ? "is no deflate stream" : "ends", made);
    return TSR_OK;
}

static tsr_status add_member(tsr_file *f, const member *m, const unsigned char *head, size_t start)
{
    tsri_npy_header h;
    tsri_entry *e = NULL;
    TSRI_TRY(tsri_npy_parse(&h, f, m->name, head, start));
    const size_t length = tsri_strlen(m->name) - 4;
    const char *name = tsri_bump_text(&f->memory, m->name, length);
    member *copy = tsri_bump_take(&f->memory, sizeof *copy);
    TSRI_CHECK(name && copy, TSR_ENOMEM, "file_open: %s: no room for its names", f->path);
    TSRI_TRY(tsri_npy_add(&e, f, name, &h, m->data + start, m->bytes - start));
    *copy = *m;
    copy->npy_start = start;
    e->detail = (uint64_t)(uintptr_t)copy;
    if (m->method == STORED) return TSR_OK;
    e->plain = false;
    e->offset = m->data;
    e->bytes = m->stored;
    return TSR_OK;
}

static bool is_npy_name(const char *name)
{
    const size_t n = tsri_strlen(name);
    return n > 4 && memcmp(name + n - 4, ".npy", 4) == 0;
}

/* A member's npy header; *headers counts the bytes of all of them. */
static tsr_status open_member(tsr_file *f, const member *m, uint64_t *headers)
{
    unsigned char fixed[TSRI_NPY_FIXED];
    const size_t n = m->bytes < sizeof fixed ? (size_t)m->bytes : sizeof fixed;
    size_t start = 0;
    TSRI_TRY(read_front(f, m, fixed, n));
    TSRI_TRY(tsri_npy_data_start(&start, f, m->name, fixed, n));
    TSRI_SOUND(start <= m->bytes, f, "\"%s\" ends inside its header", m->name);
    *headers += start;
    TSRI_SOUND(*headers <= HEADERS_FREE || (*headers - HEADERS_FREE) / HEADER_TIMES <= f->parts[0]->size, f,
               "headers of %llu bytes in a file of %llu", tsri_ull(*headers), tsri_ull(f->parts[0]->size));
    unsigned char *head = tsri_scratch(start);
    TSRI_CHECK(head, TSR_ENOMEM, "file_open: %s: no room for a header of %zu bytes", f->path, start);
    tsr_status s = read_front(f, m, head, start);
    if (s == TSR_OK) s = add_member(f, m, head, start);
    tsri_free(head, start);
    return s;
}

/* What the directory says of each member. What is no npy file is passed over, but for the place it takes. */
static tsr_status list_members(tsr_file *f, const directory *d, const unsigned char *p, member *m)
{
    size_t left = (size_t)d->bytes;
    for (uint64_t i = 0; i < d->count; i++) {
        size_t taken = 0;
        TSRI_TRY(read_central(&m[i], f, p, left, &taken));
        m[i].data = m[i].header + LOCAL;
        if (is_npy_name(m[i].name)) TSRI_TRY(find_data(f, &m[i]));
        p += taken;
        left -= taken;
    }
    return TSR_OK;
}

static bool begins_before(const void *a, const void *b)
{
    return ((const member *)a)->header < ((const member *)b)->header;
}

/* Many members on the same bytes would make a small file cost a large one's work. */
static tsr_status check_overlap(const tsr_file *f, const directory *d, member *m, void **sorted)
{
    for (uint64_t i = 0; i < d->count; i++) sorted[i] = &m[i];
    tsri_sort(sorted, (int64_t)d->count, begins_before);
    for (uint64_t i = 1; i < d->count; i++) {
        const member *a = sorted[i - 1], *b = sorted[i];
        TSRI_SOUND(a->data <= b->header && a->stored <= b->header - a->data, f,
                   "\"%s\" and \"%s\" overlap at byte %llu", a->name, b->name, tsri_ull(b->header));
    }
    return TSR_OK;
}

static tsr_status open_members(tsr_file *f, const directory *d, const unsigned char *p)
{
    const size_t each = sizeof(member) + sizeof(void *), bytes = (size_t)d->count * each;
    uint64_t headers = 0;
    member *m = tsri_scratch(bytes);
    TSRI_CHECK(m, TSR_ENOMEM, "file_open: %s: no room for a list of %llu members", f->path,
               tsri_ull(d->count));
    tsr_status s = list_members(f, d, p, m);
    if (s == TSR_OK) s = check_overlap(f, d, m, (void **)(m + d->count));
    for (uint64_t i = 0; i < d->count && s == TSR_OK; i++)
        if (is_npy_name(m[i].name)) s = open_member(f, &m[i], &headers);
    tsri_free(m, bytes);
    return s;
}

static tsr_status open_npz(tsr_file *f)
{
    directory d = { 0, 0, 0 };
    TSRI_TRY(find_directory(&d, f));
    unsigned char *bytes = tsri_scratch((size_t)d.bytes);
    TSRI_CHECK(bytes, TSR_ENOMEM, "file_open: %s: no room for a directory of %llu bytes", f->path,
               tsri_ull(d.bytes));
    tsr_status s = tsri_source_read(f->parts[0], bytes, d.offset, (size_t)d.bytes);
    if (s == TSR_OK) s = open_members(f, &d, bytes);
    tsri_free(bytes, (size_t)d.bytes);
    return s;
}

static tsr_status check_sum(const tsr_file *f, const member *m, uint32_t crc)
{
    TSRI_SOUND(crc == m->crc, f, "\"%s\": its checksum is %x, and %x was stored", m->name, (unsigned)crc,
               (unsigned)m->crc);
    return TSR_OK;
}

static tsr_status inflate_all(unsigned char *dst, const tsr_file *f, const member *m)
{
    const tsri_source *s = f->parts[0];  /* mapped since its header was inflated */
    size_t made = 0;
    const tsri_inflated r =
        tsri_inflate(dst, (size_t)m->bytes, s->base + m->data, (size_t)m->stored, NULL, &made);
    TSRI_SOUND(r == TSRI_INFLATE_DONE && made == m->bytes, f,
               "\"%s\": its deflate stream %s byte %zu of %llu", m->name,
               r == TSRI_INFLATE_BAD    ? "is damaged near"
               : r == TSRI_INFLATE_FULL ? "goes on beyond"
                                        : "ends at",
               made, tsri_ull(m->bytes));
    return check_sum(f, m, tsri_crc32(0, dst, made));
}

static tsr_status sum_stored(uint32_t *out, const tsr_file *f, const member *m, unsigned char *piece)
{
    *out = 0;
    for (uint64_t done = 0; done < m->bytes;) {
        const size_t n = m->bytes - done < PIECE ? (size_t)(m->bytes - done) : PIECE;
        TSRI_TRY(tsri_source_read(f->parts[0], piece, m->data + done, n));
        *out = tsri_crc32(*out, piece, n);
        done += n;
    }
    return TSR_OK;
}

/* The checksum of a stored member, once for each. Read piece by piece, since a mapping that is cut
 * short would end the process. */
static tsr_status check_stored(const tsr_file *f, const tsri_entry *e)
{
    member *m = (member *)(uintptr_t)e->detail;
    uint32_t crc = 0;
    if (tsri_load_relaxed(&m->checked)) return TSR_OK;
    const size_t bytes = m->bytes < PIECE ? (size_t)m->bytes : PIECE;
    unsigned char *piece = tsri_scratch(bytes);
    TSRI_CHECK(piece, TSR_ENOMEM, "file_read: %s: no room", f->path);
    tsr_status s = sum_stored(&crc, f, m, piece);
    tsri_free(piece, bytes);
    if (s == TSR_OK) s = check_sum(f, m, crc);
    if (s == TSR_OK) tsri_store_relaxed(&m->checked, 1);
    return s;
}

/* All of a member is made at once, so placed that the elements begin on a cache line. */
static tsr_status read_deflated(tsr_tensor **out, const tsr_file *f, const tsri_entry *e)
{
    const member *m = (const member *)(uintptr_t)e->detail;
    const size_t pad = (64 - m->npy_start % 64) % 64;
    const tsr_desc d = tsri_entry_desc(e);
    tsr_storage *storage = NULL;
    TSRI_TRY(tsri_storage_create(&storage, pad + (size_t)m->bytes, TSR_CPU, TSR_MEMORY_HOST, "file_read"));
    tsr_status s = inflate_all((unsigned char *)tsr_storage_data(storage) + pad, f, m);
    if (s == TSR_OK) s = tsr_from_storage(out, storage, pad + m->npy_start, &d);
    if (s == TSR_OK) tsri_make_elements(*out, e);
    tsr_storage_release(&storage);
    return s;
}

static bool is_zip(const unsigned char *p, size_t n)
{
    return n >= 4 && (tsri_get32(p) == 0x04034b50 || tsri_get32(p) == 0x06054b50);
}

/* Writing ---------------------------------------------------------------------------------
 *
 * w->data_start is where the next member goes. */

enum { ZIP64_EXTRA = 20, VERSION = 45 };

static tsr_status plan(tsr_writer *w, tsri_file_entry *p)
{
    unsigned char head[TSRI_NPY_WRITTEN];
    char own[32];
    TSRI_CHECK(!p->encoding, TSR_EUNSUPPORTED, "writer_add: %s: npz has no encodings", w->path);
    if (!*p->name) {  /* as NumPy names those without a name */
        tsri_text text = tsri_text_into(own, sizeof own);
        tsri_put(&text, "arr_%lld", (long long)w->plan_list.count);
        p->name = tsri_bump_text(&w->memory, own, text.length);
        TSRI_CHECK(p->name, TSR_ENOMEM, "writer_add: %s: no room", w->path);
        TSRI_CHECK(!tsri_names_have(&w->names, p->name), TSR_EINVAL,
                   "writer_add: %s has a tensor \"%s\" already", w->path, p->name);
    }
    const size_t name = tsri_strlen(p->name);
    TSRI_CHECK(name < 60000 && tsri_is_utf8(p->name, name), TSR_EINVAL,
               "writer_add: %s: a name of %zu bytes; npz takes UTF-8 of less than 60000", w->path, name);
    TSRI_TRY(tsri_npy_check(w->path, p->desc.dtype));
    p->bytes += tsri_npy_write(head, &p->desc);
    p->kind = w->opts.compress ? DEFLATED : STORED;
    return TSR_OK;
}

typedef struct compressing {
    tsr_writer    *w;
    uint64_t       at;
    uint32_t       crc;
    bool           deflate;
    unsigned char *room, *scratch;
} compressing;

static tsr_status put_piece(compressing *c, const unsigned char *data, size_t bytes, bool last)
{
    const size_t n = tsri_deflate(c->room, data, bytes, last, c->scratch);
    c->at += n;
    return tsri_sink_write(&c->w->sink, c->at - n, c->room, n);
}

static tsr_status put_run(void *context, const void *data, size_t bytes)
{
    compressing *c = context;
    const unsigned char *p = data;
    c->crc = tsri_crc32(c->crc, data, bytes);
    if (!c->deflate) {
        c->at += bytes;
        return tsri_sink_write(&c->w->sink, c->at - bytes, data, bytes);
    }
    for (size_t done = 0; done < bytes;) {
        const size_t n = bytes - done < PIECE ? bytes - done : PIECE;
        TSRI_TRY(put_piece(c, p + done, n, false));
        done += n;
    }
    return TSR_OK;
}

static tsr_status put_member(compressing *c, const tsri_file_entry *p, const tsr_tensor *t)
{
    unsigned char head[TSRI_NPY_WRITTEN];
    TSRI_TRY(put_run(c, head, tsri_npy_write(head, &p->desc)));
    TSRI_TRY(tsri_each_run(t, put_run, c));
    return c->deflate ? put_piece(c, head, 0, true) : TSR_OK;
}

static tsr_status compress_member(compressing *c, const tsri_file_entry *p, const tsr_tensor *t)
{
    const size_t bytes = tsri_deflate_room(PIECE) + TSRI_DEFLATE_SCRATCH;
    if (!c->deflate) return put_member(c, p, t);
    c->scratch = tsri_scratch(bytes);
    TSRI_CHECK(c->scratch, TSR_ENOMEM, "writer_add: %s: no room to compress", c->w->path);
    c->room = c->scratch + TSRI_DEFLATE_SCRATCH;
    const tsr_status s = put_member(c, p, t);
    tsri_free(c->scratch, bytes);
    return s;
}

/* The bytes of a member unpacked, and of its header with an extra field that leads to a cache line. */
static uint64_t whole_bytes(const tsri_file_entry *p)
{
    unsigned char head[TSRI_NPY_WRITTEN];
    return tsri_npy_write(head, &p->desc) + (uint64_t)tsr_desc_bytes(&p->desc);
}

static uint32_t clip32(uint64_t v) { return v < ONES32 ? (uint32_t)v : ONES32; }

/* The fields that a local header and the directory share. */
static void put_common(unsigned char *p, const tsri_file_entry *m, uint64_t bytes)
{
    tsri_set16(p, VERSION);
    tsri_set16(p + 2, UTF8);
    tsri_set16(p + 4, m->kind);
    tsri_set16(p + 6, 0);
    tsri_set16(p + 8, 33);  /* the first day that zip files know */
    tsri_set32(p + 10, m->check);
    tsri_set32(p + 14, clip32(m->bytes));
    tsri_set32(p + 18, clip32(bytes));
    tsri_set16(p + 22, (uint32_t)tsri_strlen(m->name) + 4);
}

static tsr_status write_local(tsr_writer *w, const tsri_file_entry *p, size_t extra)
{
    unsigned char head[LOCAL + ZIP64_EXTRA + 64] = { 0 };
    const size_t name = tsri_strlen(p->name);
    const uint64_t bytes = whole_bytes(p);
    tsri_set32(head, 0x04034b50);
    put_common(head + 4, p, bytes);
    tsri_set16(head + 28, (uint32_t)extra);
    TSRI_TRY(tsri_sink_write(&w->sink, p->offset, head, LOCAL));
    TSRI_TRY(tsri_sink_write(&w->sink, p->offset + LOCAL, p->name, name));
    TSRI_TRY(tsri_sink_write(&w->sink, p->offset + LOCAL + name, ".npy", 4));
    unsigned char *x = head;
    memset(head, 0, sizeof head);
    if (bytes >= ONES32 || p->bytes >= ONES32) {
        tsri_set16(x, 1);
        tsri_set16(x + 2, 16);
        tsri_set64(x + 4, bytes);
        tsri_set64(x + 12, p->bytes);
        x += ZIP64_EXTRA;
    }
    tsri_set16(x, 0xD935);  /* the field that others use to align members */
    tsri_set16(x + 2, (uint32_t)(extra - (size_t)(x - head) - 4));
    return tsri_sink_write(&w->sink, p->offset + LOCAL + name + 4, head, extra);
}

static tsr_status add(tsr_writer *w, tsri_file_entry *p, const tsr_tensor *t)
{
    const uint64_t fixed = w->data_start + LOCAL + tsri_strlen(p->name) + 4, bytes = whole_bytes(p);
    /* A little more than it is unpacked, so that the room is there when compression fails to help. */
    const size_t least = (bytes + bytes / 1024 >= ONES32 ? ZIP64_EXTRA : 0) + 4;
    const size_t extra = least + (size_t)((64 - (fixed + least) % 64) % 64);
    compressing c = { .w = w, .at = fixed + extra, .deflate = p->kind == DEFLATED };
    p->offset = w->data_start;
    TSRI_TRY(compress_member(&c, p, t));
    p->check = c.crc;
    p->bytes = c.at - fixed - extra;
    TSRI_TRY(write_local(w, p, extra));
    w->data_start = c.at;
    return TSR_OK;
}

static tsr_status write_central(tsr_writer *w, const tsri_file_entry *p)
{
    unsigned char head[CENTRAL] = { 0 }, extra[32] = { 0 };
    const size_t name = tsri_strlen(p->name);
    const uint64_t bytes = whole_bytes(p);
    size_t n = 0;
    tsri_set32(head, 0x02014b50);
    tsri_set16(head + 4, VERSION);
    put_common(head + 6, p, bytes);
    tsri_set32(head + 42, clip32(p->offset));
    const uint64_t wide[] = { bytes, p->bytes, p->offset };
    for (int i = 0; i < 3; i++)
        if (wide[i] >= ONES32) {
            tsri_set64(extra + 4 + n, wide[i]);
            n += 8;
        }
    tsri_set16(extra, 1);
    tsri_set16(extra + 2, (uint32_t)n);
    if (n) n += 4;
    tsri_set16(head + 30, (uint32_t)n);
    TSRI_TRY(tsri_sink_write(&w->sink, w->data_start, head, CENTRAL));
    TSRI_TRY(tsri_sink_write(&w->sink, w->data_start + CENTRAL, p->name, name));
    TSRI_TRY(tsri_sink_write(&w->sink, w->data_start + CENTRAL + name, ".npy", 4));
    TSRI_TRY(tsri_sink_write(&w->sink, w->data_start + CENTRAL + name + 4, extra, n));
    w->data_start += CENTRAL + name + 4 + n;
    return TSR_OK;
}

static tsr_status write_end(tsr_writer *w, uint64_t directory_start)
{
    unsigned char p[END64 + LOCATOR + END] = { 0 }, *end = p;
    const uint64_t bytes = w->data_start - directory_start, n = (uint64_t)w->plan_list.count;
    if (directory_start >= ONES32 || bytes >= ONES32 || n >= ONES16) {
        tsri_set32(p, 0x06064b50);
        tsri_set64(p + 4, END64 - 12);
        tsri_set16(p + 12, VERSION);
        tsri_set16(p + 14, VERSION);
        tsri_set64(p + 24, n);
        tsri_set64(p + 32, n);
        tsri_set64(p + 40, bytes);
        tsri_set64(p + 48, directory_start);
        tsri_set32(p + END64, 0x07064b50);
        tsri_set64(p + END64 + 8, w->data_start);
        tsri_set32(p + END64 + 16, 1);
        end += END64 + LOCATOR;
    }
    const uint32_t count = n < ONES16 ? (uint32_t)n : ONES16;
    tsri_set32(end, 0x06054b50);
    tsri_set16(end + 8, count);
    tsri_set16(end + 10, count);
    tsri_set32(end + 12, clip32(bytes));
    tsri_set32(end + 16, clip32(directory_start));
    const size_t length = (size_t)(end - p) + END;
    TSRI_TRY(tsri_sink_write(&w->sink, w->data_start, p, length));
    return tsri_sink_cut(&w->sink, w->data_start + length);
}

static tsr_status finish(tsr_writer *w)
{
    const uint64_t start = w->data_start;
    for (int64_t i = 0; i < w->plan_list.count; i++) TSRI_TRY(write_central(w, w->plan[i]));
    return write_end(w, start);
}

const tsri_format tsri_npz = {
    .info = { "npz", "many tensors: a zip file of npy files", true, true, true, ".npz" },
    .is = is_zip,
    .open = open_npz,
    .read = read_deflated,
    .check = check_stored,
    .plan = plan,
    .add = add,
    .finish = finish,
};
