/* repair.c - lengths and checksums made right (repair.h). */
#include <stdbool.h>
#include <string.h>

#include "io/crc.h"
#include "io/hdf5_int.h"
#include "io/inflate.h"
#include "io/io_int.h"
#include "repair.h"

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* What a deflate stream makes, as far as there is room. */
enum { ROOM = 1 << 16 };
static uint8_t inflated[ROOM];

/* npy ---------------------------------------------------------------------------------- */

void repair_npy(uint8_t *p, size_t size)
{
    if (size < 12 || memcmp(p, "\x93NUMPY", 6) != 0) return;
    const size_t front = p[6] == 1 ? 10 : 12;
    const uint8_t *end = memchr(p + front, '\n', size - front);
    if (!end) return;
    const size_t length = (size_t)(end + 1 - p) - front;
    if (front == 10) tsri_set16(p + 8, (uint32_t)length);
    else tsri_set32(p + 8, (uint32_t)length);
}

/* npz ---------------------------------------------------------------------------------- */

enum { LOCAL = 0x04034b50, CENTRAL = 0x02014b50, END = 0x06054b50 };

/* The next record from `at` on whose first bytes are these (0: any); size if there is none. */
static size_t find_record(const uint8_t *p, size_t size, size_t at, uint32_t magic)
{
    for (; at + 22 <= size; at++) {
        if (p[at] != 'P' || p[at + 1] != 'K') continue;
        const uint32_t found = tsri_get32(p + at);
        if (magic ? found == magic : found == LOCAL || found == CENTRAL || found == END) return at;
    }
    return size;
}

typedef struct sizes { uint32_t crc, stored, bytes; } sizes;

/* Of a member that begins at `data` and ends where the next record begins. */
static sizes measure(uint8_t *p, size_t size, size_t data, uint32_t method)
{
    size_t taken = find_record(p, size, data, 0) - data, made = taken;
    const uint8_t *bytes = p + data;
    if (method == 0) repair_npy(p + data, taken);
    else {
        (void)tsri_inflate_alone(inflated, ROOM, p + data, taken, &taken, &made);
        bytes = inflated;
    }
    return (sizes){ tsri_crc32(0, bytes, made), (uint32_t)taken, (uint32_t)made };
}

static void set_sizes(uint8_t *at, sizes s)
{
    tsri_set32(at, s.crc);
    tsri_set32(at + 4, s.stored);
    tsri_set32(at + 8, s.bytes);
}

/* A member of the directory, whose bytes are those of the local record at `local`. */
static void repair_member(uint8_t *p, size_t size, size_t central, size_t local)
{
    if (central + 46 > size || local + 30 > size) return;
    const size_t data = local + 30 + tsri_get16(p + local + 26) + tsri_get16(p + local + 28);
    tsri_set32(p + central + 42, (uint32_t)local);
    if (data > size) return;
    const sizes s = measure(p, size, data, tsri_get16(p + central + 10));
    set_sizes(p + central + 16, s);
    set_sizes(p + local + 14, s);
}

void repair_npz(uint8_t *p, size_t size)
{
    const size_t first = find_record(p, size, 0, CENTRAL), end = find_record(p, size, first, END);
    size_t local = find_record(p, size, 0, LOCAL), count = 0;
    for (size_t at = first; at < end; at = find_record(p, size, at + 4, CENTRAL)) {
        if (local >= first) local = find_record(p, size, 0, LOCAL);  /* two names for one member */
        repair_member(p, size, at, local);
        local = find_record(p, size, local < size ? local + 4 : size, LOCAL);
        count++;
    }
    if (end >= size || tsri_get32(p + end + 16) == 0xFFFFFFFF) return;
    tsri_set16(p + end + 10, (uint32_t)count);
    tsri_set32(p + end + 12, (uint32_t)(end - first));
    tsri_set32(p + end + 16, (uint32_t)first);
}

/* safetensors -------------------------------------------------------------------------- */

/* Where the bracket that is open at `at` is closed; size if it is not. */
static size_t find_closing(const uint8_t *p, size_t size, size_t at)
{
    bool quoted = false;
    int depth = 0;
    for (; at < size; at++) {
        if (quoted && p[at] == '\\') at++;
        else if (p[at] == '"') quoted = !quoted;
        else if (!quoted && p[at] == '{') depth++;
        else if (!quoted && p[at] == '}' && --depth == 0) return at;
    }
    return size;
}

void repair_safetensors(uint8_t *p, size_t size)
{
    if (size < 9 || p[8] != '{') return;
    size_t end = find_closing(p, size, 8);
    if (end == size) return;
    do end++; while (end < size && p[end] == ' ');
    tsri_set64(p, end - 8);
}

/* gguf --------------------------------------------------------------------------------- */

typedef struct cursor { uint8_t *at, *end; } cursor;

static uint64_t left(const cursor *c) { return (uint64_t)(c->end - c->at); }
static void skip(cursor *c, uint64_t n) { c->at += least(n, left(c)); }

/* A count of things that take `each` bytes or more, made to fit. */
static uint64_t repair_count(cursor *c, uint64_t each, uint64_t most)
{
    if (left(c) < 8) return skip(c, 8), 0;
    uint64_t n = tsri_get64(c->at);
    if (n > most || n > (left(c) - 8) / each) n = least(n % 16, (left(c) - 8) / each);
    tsri_set64(c->at, n);
    skip(c, 8);
    return n;
}

static void repair_text(cursor *c) { skip(c, repair_count(c, 1, UINT64_MAX)); }

static uint32_t repair_type(cursor *c, uint32_t types)
{
    if (left(c) < 4) return skip(c, 4), 0;
    const uint32_t type = tsri_get32(c->at) % types;
    tsri_set32(c->at, type);
    skip(c, 4);
    return type;
}

static void repair_value(cursor *c, uint32_t type, int depth)
{
    static const uint8_t bytes[13] = { 1, 1, 2, 2, 4, 4, 4, 1, 8, 12, 8, 8, 8 };
    if (type == 8) repair_text(c);
    else if (type != 9) skip(c, bytes[type]);
    else {
        const uint32_t inner = repair_type(c, 13);
        for (uint64_t n = repair_count(c, bytes[inner], UINT64_MAX); n > 0 && left(c) && depth < 9; n--)
            repair_value(c, inner, depth + 1);
    }
}

static void repair_tensor(cursor *c)
{
    repair_text(c);
    const uint32_t ndim = repair_type(c, 17);
    skip(c, 8 * (uint64_t)ndim);
    skip(c, 4);
    if (left(c) < 8) return;
    tsri_set64(c->at, tsri_get64(c->at) % left(c) / 32 * 32);
    skip(c, 8);
}

void repair_gguf(uint8_t *p, size_t size)
{
    cursor c = { p, p + size };
    if (size < 24) return;
    memcpy(p, "GGUF\3\0\0", 8);
    skip(&c, 8);
    uint64_t tensors = repair_count(&c, 24, 64), pairs = repair_count(&c, 13, 64);
    for (; pairs > 0 && left(&c); pairs--) {
        repair_text(&c);
        repair_value(&c, repair_type(&c, 13), 0);
    }
    for (; tensors > 0 && left(&c); tensors--) repair_tensor(&c);
}

/* onnx --------------------------------------------------------------------------------- */

enum { DEEPEST = 5 };  /* model, graph, node, attribute, tensor */

/* A varint, made no larger than `most` in the same bytes. */
static uint64_t repair_varint(cursor *c, uint64_t most)
{
    uint8_t *const start = c->at;
    uint64_t v = 0;
    int shift = 0;
    while (c->at < c->end && shift < 63) {
        v |= (uint64_t)(*c->at & 0x7F) << shift;
        shift += 7;
        if (!(*c->at++ & 0x80)) break;
    }
    if (v <= most) return v;
    v = most ? v % (most + 1) : 0;
    for (uint8_t *p = start; p < c->at; p++)
        *p = (uint8_t)((*p & 0x80) | (v >> 7 * (p - start) & 0x7F));
    return v;
}

/* Messages in fields of the model (graph, metadata), of the graph (nodes, initialisers), and of those. */
static void repair_message(cursor c, int depth)
{
    while (left(&c)) {
        const uint64_t tag = repair_varint(&c, UINT64_MAX);
        if ((tag & 7) == 0) (void)repair_varint(&c, UINT64_MAX);
        else if ((tag & 7) == 1) skip(&c, 8);
        else if ((tag & 7) == 5) skip(&c, 4);
        else if ((tag & 7) == 2) {
            const uint64_t room = left(&c), n = repair_varint(&c, room ? room - 1 : 0);
            const cursor inner = { c.at, c.at + least(n, left(&c)) };
            const bool has_messages = tag >> 3 == 7 || tag >> 3 == 5 || tag >> 3 > 12 ||
                                      (tag >> 3 == 1 && depth == 1) || (tag >> 3 == 6 && depth == 3);
            if (depth < DEEPEST) repair_message(inner, has_messages ? depth + 1 : DEEPEST);
            skip(&c, n);
        } else return;
    }
}

void repair_onnx(uint8_t *p, size_t size) { repair_message((cursor){ p, p + size }, 0); }

/* png ---------------------------------------------------------------------------------- */

static bool is_chunk(const uint8_t *p, const char *name) { return memcmp(p + 4, name, 4) == 0; }

static void repair_crc(uint8_t *chunk, size_t length)
{
    tsri_set32_big(chunk + 8 + length, tsri_crc32(0, chunk + 4, length + 4));
}

/* The height that these bytes of an image without interlace have. */
static void repair_height(uint8_t *header, size_t bytes)
{
    static const uint8_t channels[8] = { 1, 1, 3, 1, 2, 1, 4, 1 };
    const uint64_t width = tsri_get32_big(header + 8), bits = (uint64_t)header[16] * channels[header[17] & 7];
    const uint64_t row = 1 + (width * bits + 7) / 8;
    if (header[20] || bytes < row) return;
    tsri_set32_big(header + 12, (uint32_t)(bytes / row));
    repair_crc(header, 13);
}

/* A zlib stream that lies in one chunk: its checksum, and what the header says of it. */
static void repair_stream(uint8_t *chunk, size_t length, uint8_t *header)
{
    size_t taken = 0, made = 0;
    if (length < 6) return;
    (void)tsri_inflate_alone(inflated, ROOM, chunk + 10, length - 6, &taken, &made);
    tsri_set32_big(chunk + 10 + taken, tsri_adler32(1, inflated, made));
    if (header) repair_height(header, made);
}

void repair_png(uint8_t *p, size_t size)
{
    uint8_t *header = NULL;
    size_t length;
    for (size_t at = 8; at + 12 <= size; at += 12 + length) {
        uint8_t *chunk = p + at;
        length = tsri_get32_big(chunk);
        if (length > size - at - 12) tsri_set32_big(chunk, (uint32_t)(length = (size - at - 12) / 2));
        if (is_chunk(chunk, "IHDR") && length == 13) header = chunk;
        if (is_chunk(chunk, "IDAT")) repair_stream(chunk, length, header);
        repair_crc(chunk, length);
    }
}

/* hdf5 --------------------------------------------------------------------------------- */

static void seal(uint8_t *p, size_t bytes) { tsri_set32(p + bytes - 4, tsri_hdf5_checksum(p, bytes - 4)); }

/* A number of n bytes, which are there. */
static uint64_t number_at(const uint8_t *p, int n)
{
    uint64_t v = 0;
    for (int i = 0; i < n && i < 8; i++) v |= (uint64_t)p[i] << 8 * i;
    return v;
}

typedef struct hdf5 { uint8_t *p; size_t size; int offsets, lengths, front; } hdf5;

static void repair_continued(hdf5 *h, const uint8_t *message, int depth);

/* Messages of a part of a header, which ends with a checksum. */
static void repair_part(hdf5 *h, size_t at, size_t end, int depth)
{
    for (size_t front = (size_t)h->front, bytes; at + front + 4 <= end; at += front + bytes) {
        bytes = tsri_get16(h->p + at + 1);
        if (bytes > end - 4 - at - front) return;
        if (h->p[at] == 16 && bytes >= (size_t)(h->offsets + h->lengths))
            repair_continued(h, h->p + at + front, depth);
    }
}

static void repair_continued(hdf5 *h, const uint8_t *message, int depth)
{
    const uint64_t at = number_at(message, h->offsets);
    const uint64_t bytes = number_at(message + h->offsets, h->lengths);
    if (depth == 8 || at > h->size || bytes > h->size - at || bytes < 8) return;
    repair_part(h, (size_t)at + 4, (size_t)(at + bytes), depth + 1);
    seal(h->p + at, (size_t)bytes);
}

static void repair_object(hdf5 *h, size_t at)
{
    const unsigned flags = h->p[at + 5];
    const size_t first = 6 + (flags & 32 ? 16 : 0) + (flags & 16 ? 4 : 0), wide = (size_t)1 << (flags & 3);
    if (h->size - at < first + wide + 4) return;
    const uint64_t bytes = number_at(h->p + at + first, (int)wide);
    if (bytes > h->size - at - first - wide - 4) return;
    h->front = flags & 4 ? 6 : 4;
    repair_part(h, at + first + wide, at + first + wide + (size_t)bytes + 4, 0);
    seal(h->p + at, first + wide + (size_t)bytes + 4);
}

void repair_hdf5(uint8_t *p, size_t size)
{
    hdf5 h = { p, size, 8, 8, 4 };
    for (size_t i = 0; i + 16 <= size; i++) {
        if (p[i] == 0x89 && memcmp(p + i, "\x89HDF\r\n\x1a\n", 8) == 0 && (p[i + 8] == 2 || p[i + 8] == 3)) {
            h.offsets = p[i + 9] <= 8 ? p[i + 9] : 8;
            h.lengths = p[i + 10] <= 8 ? p[i + 10] : 8;
            if (size - i >= 16 + 4 * (size_t)h.offsets) seal(p + i, 16 + 4 * (size_t)h.offsets);
        }
        if (p[i] == 'O' && memcmp(p + i, "OHDR\2", 5) == 0) repair_object(&h, i);
    }
}
