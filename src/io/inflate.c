/* inflate.c - decompression by tables: a code's first bits lead to its symbol at once. */
#include "core/mem.h"
#include "inflate.h"
#include "zlib.h"

/* Streams from this length on are worth setting up zlib for. */
enum { LARGE = 1 << 16 };

enum { FAST = 10, LONGEST = 15, LITERALS = 288, DISTANCES = 32, LENGTH_CODES = 19 };

/* Codes in canonical order. fast[] has length << 12 | symbol for all FAST bits that begins
 * with a code; codes that are longer (0 there) are counted through. */
typedef struct codes {
    uint16_t fast[1 << FAST];
    uint16_t count[LONGEST + 1];
    uint16_t symbol[LITERALS];
} codes;

typedef struct stream {
    const uint8_t *src, *end;
    uint64_t       bits;
    int            held;          /* of bits */
    uint8_t       *dst;
    size_t         room, made;
    codes          literals, distances;
} stream;

/* Bits --------------------------------------------------------------------------------- */

static inline uint64_t eight(const uint8_t *p)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++) v |= (uint64_t)p[i] << 8 * i;
    return v;
}

/* At least 56 bits are held afterwards; zeros fill up if src has ended. Eight bytes are loaded at once:
 * bits beyond those that `held` counts are loaded again next time, and are the same. */
static inline void refill(stream *s)
{
    if (s->end - s->src >= 8) {
        s->bits |= eight(s->src) << s->held;
        s->src += (63 - s->held) >> 3;
        s->held |= 56;
        return;
    }
    while (s->held <= 56 && s->src < s->end) {
        s->bits |= (uint64_t)*s->src++ << s->held;
        s->held += 8;
    }
}

static inline uint32_t peek(const stream *s, int n) { return (uint32_t)(s->bits & ((UINT64_C(1) << n) - 1)); }

static inline bool drop(stream *s, int n)
{
    s->bits >>= n;
    s->held -= n;
    return s->held >= 0;
}

/* n bits of those held; -1 where src ends first. n <= 16 */
static inline int32_t take_held(stream *s, int n)
{
    const uint32_t v = peek(s, n);
    return drop(s, n) ? (int32_t)v : -1;
}

static int32_t take(stream *s, int n)
{
    refill(s);
    return take_held(s, n);
}

/* Codes -------------------------------------------------------------------------------- */

/* The code that follows, both as their bits lie in the stream: the first one lowest. top is the last one. */
static uint32_t next_code(uint32_t code, uint32_t top)
{
    for (; code & top; top >>= 1) code ^= top;
    return code | top;
}

/* From the length of each symbol's code. False if there are more codes than fit, or some bits begin
 * none, unless there is no code, or one of one bit and `alone` allows that: as in zlib, so that a file is
 * damaged or not whoever reads it. */
static bool make_codes(codes *c, const uint8_t *length, int n, bool alone)
{
    uint16_t offset[LONGEST + 2] = { 0 };
    int left = 1, used = 0;
    memset(c->count, 0, sizeof c->count);
    c->fast[0] = 0;
    for (int i = 0; i < n; i++) c->count[length[i]]++;
    used = n - c->count[0];
    c->count[0] = 0;
    for (int len = 1; len <= LONGEST; len++) {
        left = (left << 1) - c->count[len];
        if (left < 0) return false;
        offset[len + 1] = (uint16_t)(offset[len] + c->count[len]);
    }
    if (left > 0 && used > 0 && !(alone && used == 1 && c->count[1] == 1)) return false;
    for (int i = 0; i < n; i++)
        if (length[i]) c->symbol[offset[length[i]]++] = (uint16_t)i;
    uint32_t code = 0;
    const uint16_t *symbol = c->symbol;
    for (int len = 1; len <= FAST; len++) { /* all that `len` bits begin with */
        const uint32_t top = 1u << (len - 1);
        memcpy(c->fast + top, c->fast, top * sizeof *c->fast);
        for (int i = 0; i < c->count[len]; i++, code = next_code(code, top))
            c->fast[code] = (uint16_t)(len << 12 | *symbol++);
    }
    return true;
}

/* A code bit by bit: the first code of each length is known, and so how many come before. */
static int decode_slowly(stream *s, const codes *c)
{
    int code = 0, first = 0, index = 0;
    for (int len = 1; len <= LONGEST; len++) {
        code |= (int)(s->bits >> (len - 1) & 1);
        const int count = c->count[len];
        if (code - count < first) return drop(s, len) ? c->symbol[index + code - first] : -1;
        index += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    return -1;
}

/* The next symbol; -1 if there is none. At least LONGEST bits are held, or all there are. */
static inline int decode(stream *s, const codes *c)
{
    const unsigned entry = c->fast[peek(s, FAST)];
    if (!entry) return decode_slowly(s, c);
    return drop(s, (int)(entry >> 12)) ? (int)(entry & 0xFFF) : -1;
}

/* Blocks ------------------------------------------------------------------------------- */

static const uint16_t length_base[29] = { 3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                          31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258 };
static const uint8_t length_extra[29] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3,
                                          4, 4, 4, 4, 5, 5, 5, 5, 0 };
static const uint16_t distance_base[30] = { 1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                            33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                            1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577 };
static const uint8_t distance_extra[30] = { 0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                            6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13 };

static tsri_inflated ended(const stream *s)
{
    return s->src == s->end && s->held <= 0 ? TSRI_INFLATE_SHORT : TSRI_INFLATE_BAD;
}

static tsri_inflated stored_block(stream *s)
{
    (void)drop(s, s->held & 7);
    const int32_t length = take(s, 16), check = take(s, 16);
    if (length < 0 || check < 0) return TSRI_INFLATE_SHORT;
    if ((length ^ check) != 0xFFFF) return TSRI_INFLATE_BAD;
    s->src -= s->held / 8;  /* whole bytes are given back to src, so that the block is one copy */
    s->bits = 0;
    s->held = 0;
    size_t n = (size_t)length;
    if (n > s->room - s->made) n = s->room - s->made;
    if (n > (size_t)(s->end - s->src)) n = (size_t)(s->end - s->src);
    if (n) memcpy(s->dst + s->made, s->src, n);
    s->made += n;
    s->src += n;
    if (n == (size_t)length) return TSRI_INFLATE_DONE;
    return s->made == s->room ? TSRI_INFLATE_FULL : TSRI_INFLATE_SHORT;
}

/* Bytes that came before, again; they may include the ones being made. */
static tsri_inflated repeat(stream *s, size_t length, size_t distance)
{
    if (distance > s->made) return TSRI_INFLATE_BAD;
    const bool fits = length <= s->room - s->made;
    if (!fits) length = s->room - s->made;
    uint8_t *to = s->dst + s->made;
    const uint8_t *from = to - distance;
    s->made += length;
    if (distance >= length) memcpy(to, from, length);
    else while (length--) *to++ = *from++;
    return fits ? TSRI_INFLATE_DONE : TSRI_INFLATE_FULL;
}

/* A symbol takes up to 15 bits and 5 more, a distance 15 and 13 more: together no more than the 56 held. */
static tsri_inflated match(stream *s, int symbol)
{
    if (symbol > 285) return TSRI_INFLATE_BAD;
    const int l = symbol - 257;
    const int32_t more = take_held(s, length_extra[l]);
    const int d = decode(s, &s->distances);
    if (more < 0 || d < 0) return ended(s);
    if (d > 29) return TSRI_INFLATE_BAD;
    const int32_t further = take_held(s, distance_extra[d]);
    if (further < 0) return ended(s);
    return repeat(s, (size_t)(length_base[l] + more), (size_t)(distance_base[d] + further));
}

static tsri_inflated coded_block(stream *s)
{
    for (;;) {
        refill(s);
        const int symbol = decode(s, &s->literals);
        if (symbol < 0) return ended(s);
        if (symbol == 256) return TSRI_INFLATE_DONE;
        if (symbol < 256) {
            if (s->made == s->room) return TSRI_INFLATE_FULL;
            s->dst[s->made++] = (uint8_t)symbol;
            continue;
        }
        const tsri_inflated r = match(s, symbol);
        if (r != TSRI_INFLATE_DONE) return r;
    }
}

static tsri_inflated fixed_block(stream *s)
{
    uint8_t length[LITERALS + DISTANCES];
    for (int i = 0; i < LITERALS; i++) length[i] = (uint8_t)(i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
    memset(length + LITERALS, 5, DISTANCES);
    (void)make_codes(&s->literals, length, LITERALS, true);
    (void)make_codes(&s->distances, length + LITERALS, DISTANCES, true);
    return coded_block(s);
}

/* The lengths of n codes, themselves coded: 16 repeats the latest, 17 and 18 are zeros. */
static tsri_inflated read_lengths(stream *s, uint8_t *length, int n)
{
    for (int i = 0; i < n;) {
        refill(s);
        const int symbol = decode(s, &s->literals);
        if (symbol < 0) return ended(s);
        if (symbol < 16) {
            length[i++] = (uint8_t)symbol;
            continue;
        }
        const int32_t extra = take(s, symbol == 16 ? 2 : symbol == 17 ? 3 : 7);
        if (extra < 0) return ended(s);
        int times = (symbol == 18 ? 11 : 3) + extra;
        if ((symbol == 16 && i == 0) || times > n - i) return TSRI_INFLATE_BAD;
        const uint8_t value = symbol == 16 ? length[i - 1] : 0;
        while (times--) length[i++] = value;
    }
    return TSRI_INFLATE_DONE;
}

static tsri_inflated dynamic_block(stream *s)
{
    static const uint8_t order[LENGTH_CODES] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                 11, 4,  12, 3, 13, 2, 14, 1, 15 };
    uint8_t length[LITERALS + DISTANCES] = { 0 }, own[LENGTH_CODES] = { 0 };
    const int32_t a = take(s, 5), b = take(s, 5), c = take(s, 4);
    if (a < 0 || b < 0 || c < 0) return TSRI_INFLATE_SHORT;
    const int literals = a + 257, distances = b + 1;
    if (literals > 286 || distances > 30) return TSRI_INFLATE_BAD;
    for (int i = 0; i < c + 4; i++) {
        const int32_t bits = take(s, 3);
        if (bits < 0) return TSRI_INFLATE_SHORT;
        own[order[i]] = (uint8_t)bits;
    }
    if (!make_codes(&s->literals, own, LENGTH_CODES, false)) return TSRI_INFLATE_BAD;
    const tsri_inflated r = read_lengths(s, length, literals + distances);
    if (r != TSRI_INFLATE_DONE) return r;
    if (length[256] == 0 || !make_codes(&s->literals, length, literals, true) ||
        !make_codes(&s->distances, length + literals, distances, true))
        return TSRI_INFLATE_BAD;
    return coded_block(s);
}

static tsri_inflated blocks(stream *s)
{
    for (;;) {
        const int32_t head = take(s, 3);
        if (head < 0) return TSRI_INFLATE_SHORT;
        const tsri_inflated r = head >> 1 == 0 ? stored_block(s) : head >> 1 == 1 ? fixed_block(s)
                              : head >> 1 == 2 ? dynamic_block(s) : TSRI_INFLATE_BAD;
        if (r != TSRI_INFLATE_DONE || (head & 1)) return r;
    }
}

tsri_inflated tsri_inflate_alone(void *dst, size_t room, const void *src, size_t bytes, size_t *taken,
                                 size_t *made)
{
    stream s;
    const uint8_t *from = src;
    s.src = from;
    s.end = from + bytes;
    s.bits = 0;
    s.held = 0;
    s.dst = dst;
    s.room = room;
    s.made = 0;
    const tsri_inflated r = blocks(&s);
    /* Whole bytes that were held and not used are not taken. */
    if (taken) *taken = (size_t)(s.src - from) - (size_t)(s.held > 0 ? s.held / 8 : 0);
    if (made) *made = s.made;
    return r;
}

tsri_inflated tsri_inflate(void *dst, size_t room, const void *src, size_t bytes, size_t *taken, size_t *made)
{
    tsri_inflated r;
    const bool large = bytes >= LARGE && room >= LARGE;
    if (large && tsri_zlib_inflate(&r, dst, room, src, bytes, taken, made)) return r;
    return tsri_inflate_alone(dst, room, src, bytes, taken, made);
}

uint32_t tsri_adler32(uint32_t sum, const void *data, size_t bytes)
{
    const uint8_t *p = data;
    uint32_t a = sum & 0xFFFF, b = sum >> 16;
    while (bytes > 0) {
        size_t n = bytes < 5552 ? bytes : 5552;  /* as many as cannot overflow 32 bits */
        bytes -= n;
        while (n--) {
            a += *p++;
            b += a;
        }
        a %= 65521;
        b %= 65521;
    }
    return b << 16 | a;
}
