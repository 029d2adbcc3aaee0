/* zip.c - the members of a zip file, stored or deflated (zip.h).
 *
 * A zip file is read from its end: a record there leads to the directory, the directory to
 * the members. Sizes of 32 bits that are all ones stand for 64-bit ones elsewhere (zip64). */
#include "core/alloc.h"
#include "core/atomic.h"
#include "crc.h"
#include "inflate.h"
#include "json.h"
#include "zip.h"

enum {
    ENCRYPTED = 1,
    COMMENT = 65535,
    MOST_TIMES = 1032,   /* deflate makes no more bytes of one */
    PIECE = 1 << 20
};

/* The directory ------------------------------------------------------------------------ */

typedef struct directory { uint64_t offset, bytes, count; } directory;

/* The record at the end, before a comment of any length; searched backwards. */
static tsr_status find_end(uint64_t *out, const tsr_file *f, unsigned char end[TSRI_ZIP_END])
{
    const tsri_source *s = f->parts[0];
    TSRI_SOUND(s->size >= TSRI_ZIP_END, f, "%llu bytes are too few for a zip file", tsri_ull(s->size));
    const size_t n = s->size < TSRI_ZIP_END + COMMENT ? (size_t)s->size : TSRI_ZIP_END + COMMENT;
    unsigned char *tail = tsri_scratch(n);
    TSRI_CHECK(tail, TSR_ENOMEM, "file_open: %s: no room for the end of a zip file", f->path);
    tsr_status status = tsri_source_read(s, tail, s->size - n, n);
    bool found = false;
    for (size_t i = n - TSRI_ZIP_END + 1; status == TSR_OK && i > 0 && !found; i--) {
        const unsigned char *p = tail + i - 1;
        found = tsri_get32(p) == 0x06054b50 && tsri_get16(p + 20) <= n - TSRI_ZIP_END - (i - 1);
        if (!found) continue;
        memcpy(end, p, TSRI_ZIP_END);
        *out = s->size - n + i - 1;
    }
    tsri_free(tail, n);
    if (status == TSR_OK && !found)
        status = TSRI_DAMAGE(f, "has no zip directory at its end; it may be cut short");
    return status;
}

/* Is there a locator of the 64-bit record just before the end? */
static tsr_status find_locator(bool *out, const tsr_file *f, uint64_t end)
{
    unsigned char p[4] = { 0 };
    if (end >= TSRI_ZIP_LOCATOR)
        TSRI_TRY(tsri_source_read(f->parts[0], p, end - TSRI_ZIP_LOCATOR, sizeof p));
    *out = tsri_get32(p) == 0x07064b50;
    return TSR_OK;
}

/* The 64-bit record, which a locator just before the end leads to. */
static tsr_status read_end64(directory *out, const tsr_file *f, uint64_t end)
{
    unsigned char p[TSRI_ZIP_END64];
    TSRI_SOUND(end >= TSRI_ZIP_LOCATOR, f, "has no room for a zip64 locator");
    TSRI_TRY(tsri_source_read(f->parts[0], p, end - TSRI_ZIP_LOCATOR, TSRI_ZIP_LOCATOR));
    TSRI_SOUND(tsri_get32(p) == 0x07064b50, f, "byte %llu: expected a zip64 locator",
               tsri_ull(end - TSRI_ZIP_LOCATOR));
    const uint64_t at = tsri_get64(p + 8);
    TSRI_TRY(tsri_file_range(f, "the zip64 record", at, TSRI_ZIP_END64));
    TSRI_TRY(tsri_source_read(f->parts[0], p, at, TSRI_ZIP_END64));
    TSRI_SOUND(tsri_get32(p) == 0x06064b50, f, "byte %llu: expected a zip64 record", tsri_ull(at));
    *out = (directory){ tsri_get64(p + 48), tsri_get64(p + 40), tsri_get64(p + 32) };
    return TSR_OK;
}

static tsr_status find_directory(directory *out, const tsr_file *f)
{
    unsigned char end[TSRI_ZIP_END] = { 0 };
    uint64_t at = 0;
    TSRI_TRY(find_end(&at, f, end));
    *out = (directory){ tsri_get32(end + 16), tsri_get32(end + 12), tsri_get16(end + 10) };
    TSRI_CHECK(tsri_get16(end + 4) == 0 || tsri_get16(end + 4) == TSRI_ZIP_ONES16, TSR_EUNSUPPORTED,
               "file_open: %s: a zip file in several parts", f->path);
    bool is_wide = out->offset == TSRI_ZIP_ONES32 || out->bytes == TSRI_ZIP_ONES32;
    /* 65535 members need no 64-bit record, and some writers give them none. */
    if (out->count == TSRI_ZIP_ONES16 && !is_wide) TSRI_TRY(find_locator(&is_wide, f, at));
    if (is_wide) TSRI_TRY(read_end64(out, f, at));
    TSRI_TRY(tsri_file_range(f, "the directory", out->offset, out->bytes));
    TSRI_SOUND(out->count <= out->bytes / TSRI_ZIP_CENTRAL, f, "%llu members in a directory of %llu bytes",
               tsri_ull(out->count), tsri_ull(out->bytes));
    return TSR_OK;
}

/* 64-bit numbers take the place of those that are all ones, in this order. */
static tsr_status read_extra(const tsr_file *f, tsri_member *m, const unsigned char *p, size_t n)
{
    while (n >= 4) {
        const size_t id = tsri_get16(p), length = tsri_get16(p + 2);
        TSRI_SOUND(length <= n - 4, f, "\"%s\": an extra field of %zu bytes in %zu", m->name, length, n - 4);
        const unsigned char *at = p + 4, *end = at + length;
        uint64_t *const wanted[] = { &m->bytes, &m->stored, &m->header };
        for (int i = 0; id == 1 && i < 3; i++) {
            if (*wanted[i] != TSRI_ZIP_ONES32) continue;
            TSRI_SOUND(end - at >= 8, f, "\"%s\": its zip64 field is too short", m->name);
            *wanted[i] = tsri_get64(at);
            at += 8;
        }
        p += 4 + length;
        n -= 4 + length;
    }
    return TSR_OK;
}

static tsr_status read_central(tsri_member *m, tsr_file *f, const unsigned char *p, size_t n, size_t *taken)
{
    TSRI_SOUND(n >= TSRI_ZIP_CENTRAL && tsri_get32(p) == 0x02014b50, f,
               "expected one more member in the directory");
    const size_t name = tsri_get16(p + 28), extra = tsri_get16(p + 30), comment = tsri_get16(p + 32);
    TSRI_SOUND(name + extra + comment <= n - TSRI_ZIP_CENTRAL, f, "a member leaves the directory");
    *m = (tsri_member){ .method = tsri_get16(p + 10), .crc = tsri_get32(p + 16), .stored = tsri_get32(p + 20),
                   .bytes = tsri_get32(p + 24), .header = tsri_get32(p + 42) };
    m->name = tsri_bump_text(&f->memory, (const char *)p + TSRI_ZIP_CENTRAL, name);
    TSRI_CHECK(m->name, TSR_ENOMEM, "file_open: %s: no room for its names", f->path);
    TSRI_SOUND(tsri_strlen(m->name) == name && tsri_is_utf8(m->name, name), f,
               "the name of a member is no text");
    TSRI_CHECK(!(tsri_get16(p + 8) & ENCRYPTED), TSR_EUNSUPPORTED, "file_open: %s: \"%s\" is encrypted",
               f->path, m->name);
    *taken = TSRI_ZIP_CENTRAL + name + extra + comment;
    return read_extra(f, m, p + TSRI_ZIP_CENTRAL + name, extra);
}

/* The bytes come after a local header, whose own lengths count. */
static tsr_status find_data(const tsr_file *f, tsri_member *m)
{
    unsigned char p[TSRI_ZIP_LOCAL];
    TSRI_TRY(tsri_file_range(f, m->name, m->header, TSRI_ZIP_LOCAL));
    TSRI_TRY(tsri_source_read(f->parts[0], p, m->header, TSRI_ZIP_LOCAL));
    TSRI_SOUND(tsri_get32(p) == 0x04034b50, f, "\"%s\": byte %llu is no member", m->name,
               tsri_ull(m->header));
    m->data = m->header + TSRI_ZIP_LOCAL + tsri_get16(p + 26) + tsri_get16(p + 28);
    TSRI_TRY(tsri_file_range(f, m->name, m->data, m->stored));
    TSRI_CHECK(m->method == TSRI_ZIP_STORED || m->method == TSRI_ZIP_DEFLATED, TSR_EUNSUPPORTED,
               "file_open: %s: \"%s\" is compressed by method %u; stored and deflated ones are read", f->path,
               m->name, (unsigned)m->method);
    TSRI_SOUND(m->method != TSRI_ZIP_STORED || m->stored == m->bytes, f,
               "\"%s\" is stored, as %llu bytes in %llu", m->name, tsri_ull(m->bytes), tsri_ull(m->stored));
    TSRI_SOUND(m->method != TSRI_ZIP_DEFLATED || m->bytes / MOST_TIMES <= m->stored, f,
               "\"%s\": %llu bytes cannot come from %llu deflated ones", m->name, tsri_ull(m->bytes),
               tsri_ull(m->stored));
    return TSR_OK;
}

static tsr_status list_members(tsr_file *f, const directory *d, const unsigned char *p, tsri_member *m,
                               bool (*wanted)(const char *name))
{
    size_t left = (size_t)d->bytes;
    for (uint64_t i = 0; i < d->count; i++) {
        size_t taken = 0;
        TSRI_TRY(read_central(&m[i], f, p, left, &taken));
        m[i].data = m[i].header + TSRI_ZIP_LOCAL;
        if (wanted(m[i].name)) TSRI_TRY(find_data(f, &m[i]));
        p += taken;
        left -= taken;
    }
    return TSR_OK;
}

static bool begins_before(const void *a, const void *b)
{
    return ((const tsri_member *)a)->header < ((const tsri_member *)b)->header;
}

/* Refuses members that share bytes: with many of them a small file could take the time of a large one. */
static tsr_status check_overlap(const tsr_file *f, const directory *d, tsri_member *m, void **sorted)
{
    for (uint64_t i = 0; i < d->count; i++) sorted[i] = &m[i];
    tsri_sort(sorted, (int64_t)d->count, begins_before);
    for (uint64_t i = 1; i < d->count; i++) {
        const tsri_member *a = sorted[i - 1], *b = sorted[i];
        TSRI_SOUND(a->data <= b->header && a->stored <= b->header - a->data, f,
                   "\"%s\" and \"%s\" overlap at byte %llu", a->name, b->name, tsri_ull(b->header));
    }
    return TSR_OK;
}

static tsr_status take_members(tsri_zip *out, tsr_file *f, const directory *d, const unsigned char *p,
                               bool (*wanted)(const char *name))
{
    tsri_member *m = tsri_bump_take(&f->memory, (size_t)d->count * sizeof *m);
    const size_t bytes = (size_t)d->count * sizeof(void *);
    void **sorted = tsri_scratch(bytes);
    tsr_status s = m && sorted ? TSR_OK
                               : tsri_fail(TSR_ENOMEM, "file_open: %s: no room for a list of %llu members",
                                           f->path, tsri_ull(d->count));
    if (s == TSR_OK) s = list_members(f, d, p, m, wanted);
    if (s == TSR_OK) s = check_overlap(f, d, m, sorted);
    tsri_free(sorted, bytes);
    *out = (tsri_zip){ m, s == TSR_OK ? d->count : 0 };
    return s;
}

tsr_status tsri_zip_list(tsri_zip *out, tsr_file *f, bool (*wanted)(const char *name))
{
    directory d = { 0, 0, 0 };
    TSRI_TRY(find_directory(&d, f));
    unsigned char *bytes = tsri_scratch((size_t)d.bytes);
    TSRI_CHECK(bytes, TSR_ENOMEM, "file_open: %s: no room for a directory of %llu bytes", f->path,
               tsri_ull(d.bytes));
    tsr_status s = tsri_source_read(f->parts[0], bytes, d.offset, (size_t)d.bytes);
    if (s == TSR_OK) s = take_members(out, f, &d, bytes, wanted);
    tsri_free(bytes, (size_t)d.bytes);
    return s;
}

bool tsri_is_zip(const unsigned char *head, size_t n)
{
    return n >= 4 && (tsri_get32(head) == 0x04034b50 || tsri_get32(head) == 0x06054b50);
}

/* Members ------------------------------------------------------------------------------ */

tsr_status tsri_member_front(void *dst, const tsr_file *f, const tsri_member *m, size_t n)
{
    tsri_source *s = f->parts[0];
    size_t made = 0;
    if (m->method == TSRI_ZIP_STORED) return tsri_source_read(s, dst, m->data, n);
    TSRI_TRY(tsri_source_map(s));
    const tsri_inflated r = tsri_inflate(dst, n, s->base + m->data, (size_t)m->stored, NULL, &made);
    TSRI_SOUND(made == n && r != TSRI_INFLATE_BAD, f, "\"%s\": %s after %zu bytes", m->name,
               r == TSRI_INFLATE_BAD ? "is no deflate stream" : "ends", made);
    return TSR_OK;
}

static tsr_status check_sum(const tsr_file *f, const tsri_member *m, uint32_t crc)
{
    TSRI_SOUND(crc == m->crc, f, "\"%s\": its checksum is %x, and %x was stored", m->name, (unsigned)crc,
               (unsigned)m->crc);
    return TSR_OK;
}

tsr_status tsri_member_inflate(void *dst, const tsr_file *f, const tsri_member *m)
{
    tsri_source *s = f->parts[0];
    size_t made = 0;
    TSRI_TRY(tsri_source_map(s));
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

static tsr_status sum_stored(uint32_t *out, const tsr_file *f, const tsri_member *m, unsigned char *piece)
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

/* Read piece by piece, since a mapping that is cut short would end the process. */
tsr_status tsri_member_check(const tsr_file *f, tsri_member *m)
{
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
