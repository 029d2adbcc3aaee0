/* pnm.c - the images of netpbm: P1 to P6 and, for other numbers of channels, P7.
 *
 * Samples are as they are stored, not scaled; those of bitmaps (P1, P4) become 0 for black and
 * 255 for white. More than 8 bits are u16, big-endian in the file. */
#include "core/alloc.h"
#include "core/text.h"
#include "core/tensor_int.h"
#include "io_int.h"

enum { HEADER = 1024, MOST = 65535 };

/* The header --------------------------------------------------------------------------- */

typedef struct reader { const tsr_file *file; const unsigned char *at, *begin, *end; } reader;

static bool is_space(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Spaces, and comments from # to the end of the line. */
static void skip_space(reader *r)
{
    while (r->at < r->end && (is_space(*r->at) || *r->at == '#')) {
        if (*r->at == '#')
            while (r->at < r->end && *r->at != '\n') r->at++;
        else r->at++;
    }
}

static tsr_status take_number(reader *r, int64_t *out, const char *what)
{
    skip_space(r);
    TSRI_SOUND(r->at < r->end && *r->at >= '0' && *r->at <= '9', r->file, "byte %lld: expected %s",
               (long long)(r->at - r->begin), what);
    for (*out = 0; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        *out = *out * 10 + (*r->at - '0');
        TSRI_SOUND(*out < INT32_MAX, r->file, "byte %lld: %s is too large", (long long)(r->at - r->begin),
                   what);
    }
    return TSR_OK;
}

typedef struct image { int kind; int64_t height, width, channels, most; } image;

static bool take_word(reader *r, const char *word)
{
    const size_t n = tsri_strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) return false;
    r->at += n;
    return true;
}

/* P7: a word and a number on each line, up to ENDHDR. */
static tsr_status take_words(reader *r, image *i)
{
    static const char *const words[] = { "WIDTH", "HEIGHT", "DEPTH", "MAXVAL" };
    int64_t *const values[] = { &i->width, &i->height, &i->channels, &i->most };
    for (;;) {
        int which = 0;
        skip_space(r);
        if (take_word(r, "ENDHDR")) return TSR_OK;
        if (take_word(r, "TUPLTYPE")) {
            while (r->at < r->end && *r->at != '\n') r->at++;
            continue;
        }
        while (which < 4 && !take_word(r, words[which])) which++;
        TSRI_SOUND(which < 4, r->file, "byte %lld: expected WIDTH, HEIGHT, DEPTH, MAXVAL, TUPLTYPE or ENDHDR",
                   (long long)(r->at - r->begin));
        TSRI_TRY(take_number(r, values[which], words[which]));
    }
}

static tsr_status take_header(reader *r, image *i)
{
    TSRI_SOUND(r->end - r->at > 2 && r->at[0] == 'P' && r->at[1] >= '1' && r->at[1] <= '7', r->file,
               "does not begin as pnm");
    *i = (image){ .kind = r->at[1] - '0', .channels = 1, .most = 1 };
    r->at += 2;
    if (i->kind == 7) {
        i->channels = 0;
        TSRI_TRY(take_words(r, i));
    } else {
        TSRI_TRY(take_number(r, &i->width, "the width"));
        TSRI_TRY(take_number(r, &i->height, "the height"));
        if (i->kind % 3 != 1) TSRI_TRY(take_number(r, &i->most, "the largest sample"));
        if (i->kind % 3 == 0) i->channels = 3;
    }
    TSRI_SOUND(i->most >= 1 && i->most <= MOST && i->channels >= 1 && i->channels <= 64, r->file,
               "%lld channels of samples up to %lld", (long long)i->channels, (long long)i->most);
    TSRI_SOUND(r->at < r->end && is_space(*r->at), r->file,
               "byte %lld: expected one space before the samples", (long long)(r->at - r->begin));
    r->at++;
    return TSR_OK;
}

/* The least bytes that samples can take: digits and a space each; digits alone in P1; bits in P4. */
static uint64_t least_bytes(const image *i, const tsri_entry *e)
{
    const uint64_t n = (uint64_t)(i->height * i->width * i->channels);
    if (i->kind == 1) return n;
    if (i->kind <= 3) return n ? 2 * n - 1 : 0;
    if (i->kind == 4) return (uint64_t)i->height * (uint64_t)((i->width + 7) / 8);
    return e->bytes;
}

static tsr_status open_pnm(tsr_file *f)
{
    unsigned char head[HEADER];
    const tsri_source *s = f->parts[0];
    const size_t n = s->size < HEADER ? (size_t)s->size : HEADER;
    reader r = { f, head, head, head + n };
    image i = { .kind = 0 };
    tsri_entry *e = NULL;
    TSRI_TRY(tsri_source_read(s, head, 0, n));
    TSRI_TRY(take_header(&r, &i));
    const int64_t shape[] = { i.height, i.width, i.channels };
    const bool plain = i.kind >= 5, wide = i.most > 255;
    TSRI_TRY(tsri_file_add(f, &e, "", wide ? TSR_U16 : TSR_U8, i.channels == 1 ? 2 : 3, shape));
    static const char *const names[] = { "P1", "P2", "P3", "P4", "P5", "P6", "P7" };
    e->encoding = names[i.kind - 1];
    e->plain = plain;
    e->swapped = wide;
    e->offset = (uint64_t)(r.at - head);
    TSRI_TRY(tsri_file_range(f, "the image", e->offset, least_bytes(&i, e)));
    if (!plain) e->bytes = s->size - e->offset;
    e->detail = (uint64_t)i.kind << 32 | (uint64_t)i.most;
    return TSR_OK;
}

/* Samples as text or bits -------------------------------------------------------------- */

static tsr_status read_text(reader *r, tsr_tensor *t, int kind, int64_t most)
{
    const int64_t n = tsr_numel(t);
    for (int64_t i = 0; i < n; i++) {
        int64_t v = 0;
        if (kind == 1) {  /* single digits, with or without spaces */
            skip_space(r);
            TSRI_SOUND(r->at < r->end && (*r->at == '0' || *r->at == '1'), r->file,
                       "sample %lld is neither 0 nor 1", (long long)i);
            v = *r->at++ == '0' ? 255 : 0;
        } else {
            TSRI_TRY(take_number(r, &v, "a sample"));
            TSRI_SOUND(v <= most, r->file, "sample %lld is %lld, above %lld", (long long)i, (long long)v,
                       (long long)most);
        }
        if (t->dtype == TSR_U8) ((uint8_t *)t->data)[i] = (uint8_t)v;
        else                    ((uint16_t *)t->data)[i] = (uint16_t)v;
    }
    return TSR_OK;
}

static void read_bits(const unsigned char *p, tsr_tensor *t)
{
    uint8_t *out = t->data;
    const int64_t width = t->shape[1], row = (width + 7) / 8;
    for (int64_t y = 0; y < t->shape[0]; y++)
        for (int64_t x = 0; x < width; x++) *out++ = p[y * row + x / 8] >> (7 - x % 8) & 1 ? 0 : 255;
}

static tsr_status read_pnm(tsr_tensor **out, const tsr_file *f, const tsri_entry *e)
{
    tsri_source *s = f->parts[0];
    tsr_tensor *t = NULL;
    const int kind = (int)(e->detail >> 32);
    TSRI_TRY(tsri_source_map(s));
    TSRI_TRY(tsri_make_packed(&t, "file_read", e->dtype, e->ndim, e->shape));
    reader r = { f, s->base + e->offset, s->base, s->base + s->size };
    tsr_status status = TSR_OK;
    if (kind == 4) read_bits(r.at, t);
    else status = read_text(&r, t, kind, (int64_t)(e->detail & MOST));
    if (status != TSR_OK) tsr_release(&t);
    else *out = t;
    return status;
}

static bool is_pnm(const unsigned char *p, size_t n)
{
    return n > 2 && p[0] == 'P' && p[1] >= '1' && p[1] <= '7' && (is_space(p[2]) || p[2] == '#');
}

/* Writing ------------------------------------------------------------------------------ */

static void put_header(tsri_text *text, const tsr_desc *d)
{
    const long long height = (long long)d->shape[0], width = (long long)d->shape[1];
    const long long channels = d->ndim == 3 ? (long long)d->shape[2] : 1;
    const int most = d->dtype == TSR_U8 ? 255 : MOST;
    if (channels == 1 || channels == 3)
        tsri_put(text, "P%d\n%lld %lld\n%d\n", channels == 1 ? 5 : 6, width, height, most);
    else
        tsri_put(text, "P7\nWIDTH %lld\nHEIGHT %lld\nDEPTH %lld\nMAXVAL %d\nTUPLTYPE %s\nENDHDR\n", width,
                 height, channels, most, channels == 2 ? "GRAYSCALE_ALPHA" : "RGB_ALPHA");
}

static tsr_status plan(tsr_writer *w, tsri_file_entry *p)
{
    const tsr_desc *d = &p->desc;
    TSRI_CHECK(!p->encoding, TSR_EUNSUPPORTED, "writer_add: %s: pnm has no encodings", w->path);
    TSRI_CHECK(d->dtype == TSR_U8 || d->dtype == TSR_U16, TSR_EDTYPE,
               "writer_add: %s: an image of %s; u8 and u16 are written", w->path, tsr_dtype_name(d->dtype));
    TSRI_CHECK((d->ndim == 2 || (d->ndim == 3 && d->shape[2] >= 1 && d->shape[2] <= 4)) &&
                   d->shape[0] < INT32_MAX && d->shape[1] < INT32_MAX,
               TSR_ESHAPE, "writer_add: %s: %s is no image: (height, width) or (height, width, 1 to 4)",
               w->path, TSRI_DESC(d));
    return TSR_OK;
}

typedef struct swapping { tsri_sink *sink; uint64_t at; unsigned char room[1 << 14]; } swapping;

static tsr_status write_swapped(void *context, const void *data, size_t bytes)
{
    swapping *s = context;
    const unsigned char *p = data;
    while (bytes > 0) {
        const size_t n = bytes < sizeof s->room ? bytes : sizeof s->room;
        for (size_t i = 0; i < n; i += 2) {
            s->room[i] = p[i + 1];
            s->room[i + 1] = p[i];
        }
        TSRI_TRY(tsri_sink_write(s->sink, s->at, s->room, n));
        s->at += n;
        p += n;
        bytes -= n;
    }
    return TSR_OK;
}

static tsr_status add(tsr_writer *w, tsri_file_entry *p, const tsr_tensor *t)
{
    char head[160];
    tsri_text text = tsri_text_into(head, sizeof head);
    put_header(&text, &p->desc);
    TSRI_TRY(tsri_sink_write(&w->sink, 0, head, text.length));
    if (p->desc.dtype == TSR_U8) return tsri_write_elements(w, text.length, t);
    swapping s;
    s.sink = &w->sink;
    s.at = text.length;
    return tsri_each_run(w, t, write_swapped, &s);
}

const tsri_format tsri_pnm = {
    .info = { "pnm", "an image without compression: pbm, pgm, ppm, pam", true, true, false,
              ".ppm .pgm .pnm .pbm .pam" },
    .is = is_pnm,
    .open = open_pnm,
    .read = read_pnm,
    .plan = plan,
    .add = add, .one_pass = true,
};
