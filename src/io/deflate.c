/* deflate.c - compression: matches found through a hash of four bytes, written with the fixed
 * codes; or the bytes as they are, where that is shorter. */
#include "core/mem.h"
#include "inflate.h"
#include "zlib.h"

enum { WINDOW = 32768, SHORTEST = 4, LONGEST = 258, BUCKETS = 1 << 15, STORED = 65535 };

_Static_assert(BUCKETS * sizeof(uint32_t) == TSRI_DEFLATE_SCRATCH, "one place in each bucket");

typedef struct output {
    uint8_t *at;
    uint64_t bits;
    int      held;
    uint16_t code[288];   /* of each literal and length, first bit lowest */
    uint8_t  length[288];
} output;

static inline void put(output *o, uint32_t value, int n)
{
    o->bits |= (uint64_t)value << o->held;
    o->held += n;
    for (; o->held >= 8; o->held -= 8, o->bits >>= 8) *o->at++ = (uint8_t)o->bits;
}

/* A code goes out with its first bit first. */
static uint32_t reversed(uint32_t code, int n)
{
    uint32_t r = 0;
    for (int i = 0; i < n; i++) r |= (code >> i & 1) << (n - 1 - i);
    return r;
}

static void make_codes(output *o)
{
    for (uint32_t s = 0; s < 288; s++) {
        const uint32_t code = s < 144   ? 0x30 + s
                              : s < 256 ? 0x190 + s - 144
                              : s < 280 ? s - 256
                                        : 0xC0 + s - 280;
        o->length[s] = (uint8_t)(s < 144 ? 8 : s < 256 ? 9 : s < 280 ? 7 : 8);
        o->code[s] = (uint16_t)reversed(code, o->length[s]);
    }
}

static inline void put_symbol(output *o, uint32_t s) { put(o, o->code[s], o->length[s]); }

/* Lengths and distances come in groups that double: the group, and the place in it. */
static void put_match(output *o, uint32_t length, uint32_t distance)
{
    uint32_t l = length - 3, d = distance - 1;
    if (length == LONGEST) {
        put_symbol(o, 285);
    } else if (l < 8) {
        put_symbol(o, 257 + l);
    } else {
        int extra = 1;
        while (l >> (extra + 3) != 0) extra++;
        put_symbol(o, 257 + 4 * (uint32_t)extra + (l >> extra));
        put(o, l & ((1u << extra) - 1), extra);
    }
    if (d < 4) {
        put(o, reversed(d, 5), 5);
    } else {
        int extra = 1;
        while (d >> (extra + 2) != 0) extra++;
        put(o, reversed(2 * (uint32_t)extra + (d >> extra), 5), 5);
        put(o, d & ((1u << extra) - 1), extra);
    }
}

static inline uint32_t four(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

static inline uint32_t bucket(const uint8_t *p) { return (four(p) * 2654435761u) >> 17; }

static uint32_t match_length(const uint8_t *a, const uint8_t *b, const uint8_t *end)
{
    uint32_t n = 0;
    const size_t most = (size_t)(end - b) < LONGEST ? (size_t)(end - b) : LONGEST;
    while (n < most && a[n] == b[n]) n++;
    return n;
}

/* Stored blocks of up to 64 KiB, on whole bytes. */
static size_t store(uint8_t *dst, const uint8_t *src, size_t bytes, bool last)
{
    uint8_t *at = dst;
    do {
        const size_t n = bytes < STORED ? bytes : STORED;
        *at++ = last && n == bytes;
        *at++ = (uint8_t)n;
        *at++ = (uint8_t)(n >> 8);
        *at++ = (uint8_t)~n;
        *at++ = (uint8_t)(~n >> 8);
        if (n) memcpy(at, src, n);
        at += n;
        src += n;
        bytes -= n;
    } while (bytes > 0);
    return (size_t)(at - dst);
}

/* The distance back to an earlier place with the same four bytes as at p; 0 if none is known. p becomes the
 * latest place of these bytes. */
static uint32_t find_match(const uint8_t *src, const uint8_t *p, uint32_t *latest)
{
    uint32_t *place = &latest[bucket(p)];
    const size_t before = *place, here = (size_t)(p - src);
    *place = (uint32_t)here;
    const bool found = before < here && here - before <= WINDOW && four(src + before) == four(p);
    return found ? (uint32_t)(here - before) : 0;
}

/* One block; false once it is as long as storing would be. */
static bool code(output *o, const uint8_t *src, size_t bytes, uint32_t *latest, const uint8_t *limit)
{
    const uint8_t *end = src + bytes, *p = src;
    memset(latest, 0xFF, TSRI_DEFLATE_SCRATCH);
    while (p < end && o->at < limit) {
        const uint32_t distance = end - p >= SHORTEST ? find_match(src, p, latest) : 0;
        if (distance) {
            const uint32_t length = match_length(p - distance, p, end);
            put_match(o, length, distance);
            p += length;
        } else {
            put_symbol(o, *p++);
        }
    }
    put_symbol(o, 256);
    return p == end && o->at < limit;
}

static size_t stored_bytes(size_t bytes) { return bytes + 5 * (bytes / STORED + 1); }

size_t tsri_deflate_room(size_t bytes) { return stored_bytes(bytes) + 64; }

size_t tsri_deflate_alone(void *dst, const void *src, size_t bytes, bool last, void *scratch)
{
    output o = { .at = dst };
    if (bytes < 16) return store(dst, src, bytes, last);
    make_codes(&o);
    put(&o, last ? 3 : 2, 3);
    if (!code(&o, src, bytes, scratch, (uint8_t *)dst + stored_bytes(bytes)))
        return store(dst, src, bytes, last);
    if (!last) {  /* an empty stored block ends on a byte */
        put(&o, 0, 3);
        put(&o, 0, (8 - o.held) & 7);
        put(&o, 0, 16);
        put(&o, 0xFFFF, 16);
    }
    put(&o, 0, (8 - o.held) & 7);
    return (size_t)(o.at - (uint8_t *)dst);
}

size_t tsri_deflate(void *dst, const void *src, size_t bytes, bool last, void *scratch)
{
    const size_t made = bytes ? tsri_zlib_deflate(dst, stored_bytes(bytes), src, bytes, last) : 0;
    return made ? made : tsri_deflate_alone(dst, src, bytes, last, scratch);
}
