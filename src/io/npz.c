/* npz.c - a zip file whose members are npy files, stored or deflated.
 *
 * The headers of all members together, once inflated, are not many times longer than the file. */
#include "core/alloc.h"
#include "core/storage.h"
#include "core/text.h"
#include "crc.h"
#include "inflate.h"
#include "json.h"
#include "npy.h"
#include "zip.h"

enum {
    UTF8 = 1 << 11,
    HEADER_TIMES = 16,   /* headers are no longer than this times the file, and some more */
    HEADERS_FREE = 1 << 20,
    PIECE = 1 << 20
};

/* Reading ------------------------------------------------------------------------------ */

static tsr_status add_member(tsr_file *f, tsri_member *m, const unsigned char *head, size_t start)
{
    tsri_npy_header h;
    tsri_entry *e = NULL;
    TSRI_TRY(tsri_npy_parse(&h, f, m->name, head, start));
    const size_t length = tsri_strlen(m->name) - 4;
    const char *name = tsri_bump_text(&f->memory, m->name, length);
    TSRI_CHECK(name, TSR_ENOMEM, "file_open: %s: no room for its names", f->path);
    TSRI_TRY(tsri_npy_add(&e, f, name, &h, m->data + start, m->bytes - start));
    m->start = start;
    e->detail = (uint64_t)(uintptr_t)m;
    if (m->method == TSRI_ZIP_STORED) return TSR_OK;
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
static tsr_status open_member(tsr_file *f, tsri_member *m, uint64_t *headers)
{
    unsigned char fixed[TSRI_NPY_FIXED];
    const size_t n = m->bytes < sizeof fixed ? (size_t)m->bytes : sizeof fixed;
    size_t start = 0;
    TSRI_TRY(tsri_member_front(fixed, f, m, n));
    TSRI_TRY(tsri_npy_data_start(&start, f, m->name, fixed, n));
    TSRI_SOUND(start <= m->bytes, f, "\"%s\" ends inside its header", m->name);
    *headers += start;
    TSRI_SOUND(*headers <= HEADERS_FREE || (*headers - HEADERS_FREE) / HEADER_TIMES <= f->parts[0]->size, f,
               "headers of %llu bytes in a file of %llu", tsri_ull(*headers), tsri_ull(f->parts[0]->size));
    unsigned char *head = tsri_scratch(start);
    TSRI_CHECK(head, TSR_ENOMEM, "file_open: %s: no room for a header of %zu bytes", f->path, start);
    tsr_status s = tsri_member_front(head, f, m, start);
    if (s == TSR_OK) s = add_member(f, m, head, start);
    tsri_free(head, start);
    return s;
}

static tsr_status open_npz(tsr_file *f)
{
    tsri_zip z = { NULL, 0 };
    uint64_t headers = 0;
    TSRI_TRY(tsri_zip_list(&z, f, is_npy_name));
    for (uint64_t i = 0; i < z.count; i++)
        if (is_npy_name(z.members[i].name)) TSRI_TRY(open_member(f, &z.members[i], &headers));
    return TSR_OK;
}

static tsr_status check_stored(const tsr_file *f, const tsri_entry *e)
{
    return tsri_member_check(f, (tsri_member *)(uintptr_t)e->detail);
}

/* Inflates all of a member, header too, to an address that puts the elements on a cache line. */
static tsr_status read_deflated(tsr_tensor **out, const tsr_file *f, const tsri_entry *e)
{
    const tsri_member *m = (const tsri_member *)(uintptr_t)e->detail;
    const size_t pad = (64 - m->start % 64) % 64;
    const tsr_desc d = tsri_entry_desc(e);
    tsr_storage *storage = NULL;
    TSRI_TRY(tsri_storage_create(&storage, pad + (size_t)m->bytes, TSR_CPU, TSR_MEMORY_HOST, "file_read"));
    tsr_status s = tsri_member_inflate((unsigned char *)tsr_storage_data(storage) + pad, f, m);
    if (s == TSR_OK) s = tsr_from_storage(out, storage, pad + m->start, &d);
    if (s == TSR_OK) tsri_make_elements(*out, e);
    tsr_storage_release(&storage);
    return s;
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
    p->kind = w->opts.compress ? TSRI_ZIP_DEFLATED : TSRI_ZIP_STORED;
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
    TSRI_TRY(tsri_each_run(c->w, t, put_run, c));
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

static uint32_t clip32(uint64_t v) { return v < TSRI_ZIP_ONES32 ? (uint32_t)v : TSRI_ZIP_ONES32; }

/* The fields that a local header and the directory share. */
static void put_common(unsigned char *p, const tsri_file_entry *m, uint64_t bytes)
{
    tsri_set16(p, VERSION);
    tsri_set16(p + 2, UTF8);
    tsri_set16(p + 4, m->kind);
    tsri_set16(p + 6, 0);
    tsri_set16(p + 8, 33);  /* 1 January 1980, the first date of zip */
    tsri_set32(p + 10, m->check);
    tsri_set32(p + 14, clip32(m->bytes));
    tsri_set32(p + 18, clip32(bytes));
    tsri_set16(p + 22, (uint32_t)tsri_strlen(m->name) + 4);
}

static tsr_status write_local(tsr_writer *w, const tsri_file_entry *p, size_t extra)
{
    unsigned char head[TSRI_ZIP_LOCAL + ZIP64_EXTRA + 64] = { 0 };
    const size_t name = tsri_strlen(p->name);
    const uint64_t bytes = whole_bytes(p);
    tsri_set32(head, 0x04034b50);
    put_common(head + 4, p, bytes);
    tsri_set16(head + 28, (uint32_t)extra);
    TSRI_TRY(tsri_sink_write(&w->sink, p->offset, head, TSRI_ZIP_LOCAL));
    TSRI_TRY(tsri_sink_write(&w->sink, p->offset + TSRI_ZIP_LOCAL, p->name, name));
    TSRI_TRY(tsri_sink_write(&w->sink, p->offset + TSRI_ZIP_LOCAL + name, ".npy", 4));
    unsigned char *x = head;
    memset(head, 0, sizeof head);
    if (bytes >= TSRI_ZIP_ONES32 || p->bytes >= TSRI_ZIP_ONES32) {
        tsri_set16(x, 1);
        tsri_set16(x + 2, 16);
        tsri_set64(x + 4, bytes);
        tsri_set64(x + 12, p->bytes);
        x += ZIP64_EXTRA;
    }
    tsri_set16(x, 0xD935);  /* the field that others use to align members */
    tsri_set16(x + 2, (uint32_t)(extra - (size_t)(x - head) - 4));
    return tsri_sink_write(&w->sink, p->offset + TSRI_ZIP_LOCAL + name + 4, head, extra);
}

static tsr_status add(tsr_writer *w, tsri_file_entry *p, const tsr_tensor *t)
{
    const uint64_t fixed = w->data_start + TSRI_ZIP_LOCAL + tsri_strlen(p->name) + 4, bytes = whole_bytes(p);
    /* Compressed data may be a little longer than the data, so ZIP64 sizes are kept for that, too. */
    const size_t least = (bytes + bytes / 1024 >= TSRI_ZIP_ONES32 ? ZIP64_EXTRA : 0) + 4;
    const size_t extra = least + (size_t)((64 - (fixed + least) % 64) % 64);
    compressing c = { .w = w, .at = fixed + extra, .deflate = p->kind == TSRI_ZIP_DEFLATED };
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
    unsigned char head[TSRI_ZIP_CENTRAL] = { 0 }, extra[32] = { 0 };
    const size_t name = tsri_strlen(p->name);
    const uint64_t bytes = whole_bytes(p);
    size_t n = 0;
    tsri_set32(head, 0x02014b50);
    tsri_set16(head + 4, VERSION);
    put_common(head + 6, p, bytes);
    tsri_set32(head + 42, clip32(p->offset));
    const uint64_t wide[] = { bytes, p->bytes, p->offset };
    for (int i = 0; i < 3; i++)
        if (wide[i] >= TSRI_ZIP_ONES32) {
            tsri_set64(extra + 4 + n, wide[i]);
            n += 8;
        }
    tsri_set16(extra, 1);
    tsri_set16(extra + 2, (uint32_t)n);
    if (n) n += 4;
    tsri_set16(head + 30, (uint32_t)n);
    TSRI_TRY(tsri_sink_write(&w->sink, w->data_start, head, TSRI_ZIP_CENTRAL));
    TSRI_TRY(tsri_sink_write(&w->sink, w->data_start + TSRI_ZIP_CENTRAL, p->name, name));
    TSRI_TRY(tsri_sink_write(&w->sink, w->data_start + TSRI_ZIP_CENTRAL + name, ".npy", 4));
    TSRI_TRY(tsri_sink_write(&w->sink, w->data_start + TSRI_ZIP_CENTRAL + name + 4, extra, n));
    w->data_start += TSRI_ZIP_CENTRAL + name + 4 + n;
    return TSR_OK;
}

static tsr_status write_end(tsr_writer *w, uint64_t directory_start)
{
    unsigned char p[TSRI_ZIP_END64 + TSRI_ZIP_LOCATOR + TSRI_ZIP_END] = { 0 }, *end = p;
    const uint64_t bytes = w->data_start - directory_start, n = (uint64_t)w->plan_list.count;
    if (directory_start >= TSRI_ZIP_ONES32 || bytes >= TSRI_ZIP_ONES32 || n >= TSRI_ZIP_ONES16) {
        tsri_set32(p, 0x06064b50);
        tsri_set64(p + 4, TSRI_ZIP_END64 - 12);
        tsri_set16(p + 12, VERSION);
        tsri_set16(p + 14, VERSION);
        tsri_set64(p + 24, n);
        tsri_set64(p + 32, n);
        tsri_set64(p + 40, bytes);
        tsri_set64(p + 48, directory_start);
        tsri_set32(p + TSRI_ZIP_END64, 0x07064b50);
        tsri_set64(p + TSRI_ZIP_END64 + 8, w->data_start);
        tsri_set32(p + TSRI_ZIP_END64 + 16, 1);
        end += TSRI_ZIP_END64 + TSRI_ZIP_LOCATOR;
    }
    const uint32_t count = n < TSRI_ZIP_ONES16 ? (uint32_t)n : TSRI_ZIP_ONES16;
    tsri_set32(end, 0x06054b50);
    tsri_set16(end + 8, count);
    tsri_set16(end + 10, count);
    tsri_set32(end + 12, clip32(bytes));
    tsri_set32(end + 16, clip32(directory_start));
    const size_t length = (size_t)(end - p) + TSRI_ZIP_END;
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
    .is = tsri_is_zip,
    .open = open_npz,
    .read = read_deflated,
    .check = check_stored,
    .plan = plan,
    .add = add,
    .finish = finish,
};
