/* zlib.c - zlib through its stable interface: version 1, raw deflate streams. */
#include "core/library.h"
#include "core/alloc.h"
#include "core/lock.h"
#include "core/mem.h"
#include "foreign_library.h"
#include "zlib.h"

enum {
    OK = 0,
    STREAM_END = 1,
    DATA_ERROR = -3,
    BUFFER_ERROR = -5,
    SYNC = 2,
    FINISH = 4,
    RAW = -15,
    LEVEL = 3,
    MEMORY = 8,
    DEFLATED = 8
};
enum { MOST = 1 << 30 };  /* bytes at a time: its counts have 32 bits */

/* z_stream */
typedef struct stream {
    const unsigned char *next_in;
    unsigned             avail_in;
    unsigned long        total_in;
    unsigned char       *next_out;
    unsigned             avail_out;
    unsigned long        total_out;
    const char          *msg;
    void                *state;
    void              *(*alloc)(void *opaque, unsigned items, unsigned size);
    void               (*free)(void *opaque, void *address);
    void                *opaque;
    int                  data_type;
    unsigned long        adler, reserved;
} stream;

static struct {
    int (*inflate_init)(stream *s, int window, const char *version, int size);
    int (*inflate)(stream *s, int flush);
    int (*inflate_end)(stream *s);
    int (*deflate_init)(stream *s, int level, int method, int window, int memory, int strategy,
                        const char *version, int size);
    int (*deflate)(stream *s, int flush);
    int (*deflate_end)(stream *s);
    bool found;
} zlib;

static tsri_once once = TSRI_ONCE_INIT;

static void find(void)
{
    static const char *const names[] = { "libz.so.1", "libz.so", "libz.1.dylib" };
    static const char *const symbols[] = { "inflateInit2_", "inflate", "inflateEnd",
                                           "deflateInit2_", "deflate", "deflateEnd" };
    void (*f[6])(void) = { NULL };
    if (!tsri_foreign_find(f, "TSR_ZLIB", 3, names, 6, symbols)) return;
    zlib.inflate_init = (int (*)(stream *, int, const char *, int))f[0];
    zlib.inflate = (int (*)(stream *, int))f[1];
    zlib.inflate_end = (int (*)(stream *))f[2];
    zlib.deflate_init = (int (*)(stream *, int, int, int, int, int, const char *, int))f[3];
    zlib.deflate = (int (*)(stream *, int))f[4];
    zlib.deflate_end = (int (*)(stream *))f[5];
    zlib.found = true;
}

static bool is_here(void)
{
    if (!tsri_libraries_used()) return false;
    tsri_once_run(&once, find);
    return zlib.found;
}

/* Its memory is the library's, so that a limit on that holds for it too; the size stands before it. */
enum { BEFORE = 64 };

static void *take_memory(void *opaque, unsigned items, unsigned size)
{
    (void)opaque;
    const size_t bytes = (size_t)items * size + BEFORE;
    size_t *p = tsri_scratch(bytes);
    if (!p) return NULL;
    *p = bytes;
    return (char *)p + BEFORE;
}

static void give_memory(void *opaque, void *address)
{
    (void)opaque;
    size_t *p = (size_t *)(void *)((char *)address - BEFORE);
    tsri_free(p, *p);
}

static stream fresh(const void *src, void *dst)
{
    return (stream){ .next_in = src, .next_out = dst, .alloc = take_memory, .free = give_memory };
}

static unsigned some(size_t n) { return n < MOST ? (unsigned)n : MOST; }

/* Until it ends, fills dst, uses up src or breaks. False if that is no fault of src: zlib ran out of memory.
 */
static bool run_inflate(tsri_inflated *result, stream *s, const unsigned char *src_end,
                        const unsigned char *dst_end)
{
    for (;;) {
        s->avail_in = some((size_t)(src_end - s->next_in));
        s->avail_out = some((size_t)(dst_end - s->next_out));
        const int r = zlib.inflate(s, 0);
        if (r == OK) continue;
        if (r == STREAM_END)                                 *result = TSRI_INFLATE_DONE;
        else if (r == DATA_ERROR)                            *result = TSRI_INFLATE_BAD;
        else if (r == BUFFER_ERROR && s->next_in == src_end) *result = TSRI_INFLATE_SHORT;
        else if (r == BUFFER_ERROR)                          *result = TSRI_INFLATE_FULL;
        else return false;
        return true;
    }
}

bool tsri_zlib_inflate(tsri_inflated *result, void *dst, size_t room, const void *src, size_t bytes,
                       size_t *taken, size_t *made)
{
    const unsigned char *from = src;
    unsigned char *to = dst;
    stream s = fresh(src, dst);
    if (!is_here() || zlib.inflate_init(&s, RAW, "1", (int)sizeof s) != OK) return false;
    const bool ran = run_inflate(result, &s, from + bytes, to + room);
    if (ran && *result == TSRI_INFLATE_SHORT && s.next_out == to + room) *result = TSRI_INFLATE_FULL;
    if (taken) *taken = (size_t)(s.next_in - from);
    if (made) *made = (size_t)(s.next_out - to);
    (void)zlib.inflate_end(&s);
    return ran;
}

size_t tsri_zlib_deflate(void *dst, size_t room, const void *src, size_t bytes, bool last)
{
    stream s = fresh(src, dst);
    if (!is_here() || bytes > MOST || room > MOST ||
        zlib.deflate_init(&s, LEVEL, DEFLATED, RAW, MEMORY, 0, "1", (int)sizeof s) != OK)
        return 0;
    s.avail_in = (unsigned)bytes;
    s.avail_out = (unsigned)room;
    const int r = zlib.deflate(&s, last ? FINISH : SYNC);
    const bool all = last ? r == STREAM_END : r == OK && s.avail_in == 0 && s.avail_out > 0;
    const size_t made = (size_t)(s.next_out - (unsigned char *)dst);
    (void)zlib.deflate_end(&s);
    return all ? made : 0;
}
