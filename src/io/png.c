/* png.c - PNG images: every colour type, depth and interlace read; gray and colour, with and
 * without alpha, 8 and 16 bits, written.
 *
 * A palette becomes its colours; samples of 1, 2 or 4 bits are spread over 8; a transparent
 * colour becomes an alpha channel. */
#include "core/alloc.h"
#include "core/tensor_int.h"
#include "crc.h"
#include "inflate.h"
#include "io_int.h"

enum {
    SIGNATURE = 8,
    CHUNK = 12,
    IHDR = 0x49484452,
    PLTE = 0x504c5445,
    TRNS = 0x74524e53,
    IDAT = 0x49444154,
    IEND = 0x49454e44,
    GRAY = 0,
    COLOUR = 2,
    PALETTE = 3,
    GRAY_ALPHA = 4,
    COLOUR_ALPHA = 6,
    MOST_TIMES = 1032,
    LARGEST_SIDE = 1 << 24
};

static const unsigned char signature[SIGNATURE] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n' };

typedef struct picture {
    int64_t       width, height;
    int           depth, type, channels;  /* channels: as stored */
    bool          interlaced;
    bool          has_key;                /* a transparent colour */
    uint16_t      key[3];
    int           colours;                /* of the palette */
    unsigned char palette[256][4];
    uint64_t      first, packed;          /* the first IDAT chunk; bytes of all of them */
    uint64_t      unpacked;               /* with a filter byte to each row */
} picture;

/* Passes ----------------------------------------------------------------------------------
 *
 * An interlaced image is seven small ones: every step-th pixel from start on, across and down. */
static const uint8_t pass_x[8] = { 0, 4, 0, 2, 0, 1, 0, 0 }, step_x[8] = { 8, 8, 4, 4, 2, 2, 1, 1 };
static const uint8_t pass_y[8] = { 0, 0, 4, 0, 2, 0, 1, 0 }, step_y[8] = { 8, 8, 8, 4, 4, 2, 2, 1 };

static int64_t in_steps(int64_t size, int start, int step)
{
    return size > start ? (size - start + step - 1) / step : 0;
}

/* Pass 7 stands for an image that is not interlaced. */
static int64_t pass_width(const picture *p, int pass)
{
    return in_steps(p->width, pass_x[pass], step_x[pass]);
}
static int64_t pass_height(const picture *p, int pass)
{
    return pass_width(p, pass) ? in_steps(p->height, pass_y[pass], step_y[pass]) : 0;
}
static int64_t row_bytes(const picture *p, int64_t width) { return (width * p->channels * p->depth + 7) / 8; }

/* Chunks ------------------------------------------------------------------------------- */

static tsr_status read_header(const tsr_file *f, picture *p, const unsigned char *b, uint32_t length)
{
    TSRI_SOUND(length == 13, f, "an IHDR chunk of %u bytes", (unsigned)length);
    p->width = tsri_get32_big(b);
    p->height = tsri_get32_big(b + 4);
    p->depth = b[8];
    p->type = b[9];
    p->interlaced = b[12] == 1;
    TSRI_SOUND(p->width >= 1 && p->height >= 1 && p->width <= LARGEST_SIDE && p->height <= LARGEST_SIDE, f,
               "an image of %lld x %lld", (long long)p->width, (long long)p->height);
    const bool small = p->depth == 1 || p->depth == 2 || p->depth == 4,
               bytes = p->depth == 8 || p->depth == 16;
    const bool fits = p->type == GRAY ? small || bytes : p->type == PALETTE ? small || p->depth == 8
                    : (p->type == COLOUR || p->type == GRAY_ALPHA || p->type == COLOUR_ALPHA) && bytes;
    TSRI_SOUND(fits && b[10] == 0 && b[11] == 0 && b[12] <= 1, f,
               "colour type %d with %d bits, compression %d, filter %d, interlace %d is no PNG", p->type,
               p->depth, b[10], b[11], b[12]);
    p->channels = p->type == COLOUR ? 3 : p->type == GRAY_ALPHA ? 2 : p->type == COLOUR_ALPHA ? 4 : 1;
    for (int pass = p->interlaced ? 0 : 7; pass < (p->interlaced ? 7 : 8); pass++)
        p->unpacked += (uint64_t)(pass_height(p, pass) * (1 + row_bytes(p, pass_width(p, pass))));
    return TSR_OK;
}

/* Chunks that are read have at most 768 bytes. */
static tsr_status read_palette(const tsr_file *f, picture *p, const unsigned char *b, uint32_t length)
{
    TSRI_SOUND(length % 3 == 0 && length >= 3 && p->colours == 0, f, "a palette of %u bytes",
               (unsigned)length);
    p->colours = (int)length / 3;
    for (int i = 0; i < p->colours; i++) {
        memcpy(p->palette[i], b + 3 * i, 3);
        p->palette[i][3] = 255;
    }
    return TSR_OK;
}

static tsr_status read_transparency(const tsr_file *f, picture *p, const unsigned char *b, uint32_t length)
{
    const int n = p->type == GRAY ? 1 : 3;
    p->has_key = true;
    if (p->type == PALETTE) {
        TSRI_SOUND((int)length <= p->colours, f, "%u transparent colours in a palette of %d",
                   (unsigned)length, p->colours);
        for (uint32_t i = 0; i < length; i++) p->palette[i][3] = b[i];
        return TSR_OK;
    }
    TSRI_SOUND((p->type == GRAY || p->type == COLOUR) && length == 2 * (uint32_t)n, f,
               "a transparent colour of %u bytes", (unsigned)length);
    const int most = (1 << p->depth) - 1; /* bits beyond the depth do not count */
    for (int i = 0; i < n; i++) p->key[i] = (uint16_t)((b[2 * i] << 8 | b[2 * i + 1]) & most);
    return TSR_OK;
}

/* What a chunk says, if it matters. Those for the eye only are passed over. */
static tsr_status read_chunk(const tsr_file *f, picture *p, uint32_t type, uint64_t at, uint32_t length)
{
    unsigned char b[SIGNATURE + 768 + 4];
    TSRI_SOUND((type == IHDR) == (p->width == 0), f, "byte %llu: IHDR comes first, and once", tsri_ull(at));
    if (type == IDAT) {
        if (!p->first) p->first = at;
        p->packed += length;
        return TSR_OK;
    }
    if (type != IHDR && type != PLTE && type != TRNS) {
        TSRI_CHECK(type >> 29 & 1, TSR_EUNSUPPORTED,
                   "file_open: %s: byte %llu: a chunk that must be understood, and is not", f->path,
                   tsri_ull(at));
        return TSR_OK;
    }
    TSRI_SOUND(length <= 768, f, "byte %llu: a chunk of %u bytes", tsri_ull(at), (unsigned)length);
    TSRI_TRY(tsri_source_read(f->parts[0], b, at + 4, length + 8));
    const uint32_t crc = tsri_crc32(0, b, length + 4);
    TSRI_SOUND(crc == tsri_get32_big(b + 4 + length), f, "byte %llu: the checksum of a chunk is wrong",
               tsri_ull(at));
    if (type == IHDR) return read_header(f, p, b + 4, length);
    if (type == PLTE) return read_palette(f, p, b + 4, length);
    return read_transparency(f, p, b + 4, length);
}

static tsr_status next_chunk(const tsr_file *f, uint64_t at, uint32_t *type, uint32_t *length)
{
    unsigned char b[8];
    TSRI_TRY(tsri_file_range(f, "a chunk", at, CHUNK));
    TSRI_TRY(tsri_source_read(f->parts[0], b, at, 8));
    *length = tsri_get32_big(b);
    *type = tsri_get32_big(b + 4);
    return tsri_file_range(f, "a chunk", at, CHUNK + (uint64_t)*length);
}

static tsr_status read_chunks(const tsr_file *f, picture *p)
{
    uint32_t type = 0, length = 0;
    for (uint64_t at = SIGNATURE; type != IEND; at += CHUNK + (uint64_t)length) {
        TSRI_TRY(next_chunk(f, at, &type, &length));
        if (type != IEND) TSRI_TRY(read_chunk(f, p, type, at, length));
    }
    TSRI_SOUND(p->first, f, "has no image data");
    TSRI_SOUND(p->type != PALETTE || p->colours > 0, f, "has no palette");
    TSRI_SOUND(p->unpacked / MOST_TIMES <= p->packed, f,
               "%llu bytes of an image cannot come from %llu deflated ones", tsri_ull(p->unpacked),
               tsri_ull(p->packed));
    return TSR_OK;
}

static tsr_status open_picture(tsr_file *f, picture *p)
{
    tsri_entry *e = NULL;
    unsigned char b[SIGNATURE] = { 0 };
    TSRI_TRY(tsri_file_range(f, "the signature", 0, SIGNATURE));
    TSRI_TRY(tsri_source_read(f->parts[0], b, 0, SIGNATURE));
    TSRI_SOUND(memcmp(b, signature, SIGNATURE) == 0, f, "does not begin as PNG");
    TSRI_TRY(read_chunks(f, p));
    const int64_t channels = (p->type == PALETTE ? 3 : p->channels) + p->has_key;
    TSRI_TRY(tsri_file_add(f, &e, "", p->depth == 16 ? TSR_U16 : TSR_U8, channels == 1 ? 2 : 3,
                           (const int64_t[]){ p->height, p->width, channels }));
    e->encoding = p->type == PALETTE ? "palette" : p->depth == 16 ? "u16" : "u8";
    e->offset = p->first;
    e->bytes = p->packed;
    e->detail = (uint64_t)(uintptr_t)p;
    return TSR_OK;
}

static tsr_status open_png(tsr_file *f)
{
    picture *p = tsri_bump_take(&f->memory, sizeof *p);
    TSRI_CHECK(p, TSR_ENOMEM, "file_open: %s: no room", f->path);
    return open_picture(f, p);
}

/* Rows --------------------------------------------------------------------------------- */

static unsigned char paeth(int a, int b, int c)
{
    const int pa = b > c ? b - c : c - b, pb = a > c ? a - c : c - a, s = a + b - 2 * c, pc = s < 0 ? -s : s;
    return (unsigned char)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

/* Takes the prediction back; up is the row above, or NULL. */
static bool unfilter(unsigned char *row, const unsigned char *up, int64_t n, int64_t pixel, int filter)
{
    for (int64_t i = 0; i < n; i++) {
        const int a = i >= pixel ? row[i - pixel] : 0, b = up ? up[i] : 0,
                  c = up && i >= pixel ? up[i - pixel] : 0;
        const int add = filter == 0   ? 0
                        : filter == 1 ? a
                        : filter == 2 ? b
                        : filter == 3 ? (a + b) / 2
                                      : paeth(a, b, c);
        row[i] = (unsigned char)(row[i] + add);
    }
    return filter <= 4;
}

/* Sample i of a row of any depth, as it is stored. */
static unsigned sample(const unsigned char *row, int64_t i, int depth)
{
    if (depth == 8) return row[i];
    if (depth == 16) return (unsigned)(row[2 * i] << 8 | row[2 * i + 1]);
    const int64_t bit = i * depth;
    return (unsigned)row[bit / 8] >> (8 - depth - bit % 8) & ((1u << depth) - 1);
}

static void put_sample(tsr_tensor *t, int64_t at, unsigned v)
{
    if (t->dtype == TSR_U8) ((uint8_t *)t->data)[at] = (uint8_t)v;
    else                    ((uint16_t *)t->data)[at] = (uint16_t)v;
}

/* One pixel, to its place among all channels. False if the palette has no such colour. */
static bool put_pixel(const picture *p, tsr_tensor *t, int64_t at, const unsigned char *row, int64_t x)
{
    const unsigned spread = p->depth < 8 ? 255u / ((1u << p->depth) - 1) : 1u;
    bool transparent = p->has_key;
    if (p->type == PALETTE) {
        const unsigned index = sample(row, x, p->depth);
        if ((int)index >= p->colours) return false;
        for (int c = 0; c < 3 + p->has_key; c++) put_sample(t, at + c, p->palette[index][c]);
        return true;
    }
    for (int c = 0; c < p->channels; c++) {
        const unsigned v = sample(row, x * p->channels + c, p->depth);
        if (p->has_key && v != p->key[c]) transparent = false;
        put_sample(t, at + c, v * spread);
    }
    if (p->has_key) put_sample(t, at + p->channels, transparent ? 0 : p->depth == 16 ? 65535 : 255);
    return true;
}

/* Are the bytes of a row the elements? */
static bool is_as_stored(const picture *p)
{
    return p->depth == 8 && p->type != PALETTE && !p->has_key && !p->interlaced;
}

/* A row of a pass, unfiltered, to its places in the image. */
static bool put_row_of(const picture *p, tsr_tensor *t, int pass, int64_t y, const unsigned char *row)
{
    const int64_t channels = t->ndim == 3 ? t->shape[2] : 1, width = pass_width(p, pass);
    const int64_t to = (pass_y[pass] + y * step_y[pass]) * p->width;
    if (is_as_stored(p)) {
        memcpy((unsigned char *)t->data + to * channels, row, (size_t)(width * channels));
        return true;
    }
    for (int64_t x = 0; x < width; x++)
        if (!put_pixel(p, t, (to + pass_x[pass] + x * step_x[pass]) * channels, row, x)) return false;
    return true;
}

/* One pass: its rows unfiltered and spread over the image. *at moves behind it. */
static tsr_status read_pass(const tsr_file *f, const picture *p, tsr_tensor *t, int pass, unsigned char **at)
{
    const int64_t height = pass_height(p, pass), n = row_bytes(p, pass_width(p, pass));
    const int64_t pixel = p->channels * p->depth < 8 ? 1 : p->channels * p->depth / 8;
    unsigned char *up = NULL;
    for (int64_t y = 0; y < height; y++) {
        unsigned char *row = *at + 1;
        TSRI_SOUND(unfilter(row, up, n, pixel, **at), f, "row %lld has filter %d; there are 0 to 4",
                   (long long)y, **at);
        TSRI_SOUND(put_row_of(p, t, pass, y, row), f, "row %lld has a colour that is not in the palette",
                   (long long)y);
        up = row;
        *at = row + n;
    }
    return TSR_OK;
}

/* The bytes of all IDAT chunks in a row. */
static tsr_status gather(const tsr_file *f, const picture *p, unsigned char *dst)
{
    uint64_t at = p->first, done = 0;
    while (done < p->packed) {
        uint32_t type = 0, length = 0;
        TSRI_TRY(next_chunk(f, at, &type, &length));
        if (type == IDAT) {
            TSRI_SOUND(length <= p->packed - done, f, "changed while it was open");
            TSRI_TRY(tsri_source_read(f->parts[0], dst + done, at + 8, length));
            done += length;
        }
        at += CHUNK + (uint64_t)length;
    }
    return TSR_OK;
}

static tsr_status unpack(const tsr_file *f, const picture *p, unsigned char *packed, unsigned char *rows)
{
    size_t taken = 0, made = 0;
    TSRI_TRY(gather(f, p, packed));
    TSRI_SOUND(p->packed >= 6 && (packed[0] & 15) == 8 && (packed[0] << 8 | packed[1]) % 31 == 0 &&
                   !(packed[1] & 32),
               f, "the image data is no zlib stream");
    const tsri_inflated r =
        tsri_inflate(rows, (size_t)p->unpacked, packed + 2, (size_t)p->packed - 2, &taken, &made);
    TSRI_SOUND(r != TSRI_INFLATE_BAD && made == p->unpacked, f, "the image data %s after %zu of %llu bytes",
               r == TSRI_INFLATE_BAD ? "is damaged" : "ends", made, tsri_ull(p->unpacked));
    TSRI_SOUND(r != TSRI_INFLATE_DONE || p->packed - 2 - taken < 4 ||
                   tsri_get32_big(packed + 2 + taken) == tsri_adler32(1, rows, made),
               f, "the checksum of the image data is wrong");
    return TSR_OK;
}

static tsr_status make_image(tsr_tensor *t, const tsr_file *f, const picture *p, unsigned char *packed,
                             unsigned char *rows)
{
    TSRI_TRY(unpack(f, p, packed, rows));
    for (int pass = p->interlaced ? 0 : 7; pass < (p->interlaced ? 7 : 8); pass++)
        TSRI_TRY(read_pass(f, p, t, pass, &rows));
    return TSR_OK;
}

static tsr_status read_png(tsr_tensor **out, const tsr_file *f, const tsri_entry *e)
{
    const picture *p = (const picture *)(uintptr_t)e->detail;
    const size_t bytes = (size_t)(p->packed + p->unpacked);
    tsr_tensor *t = NULL;
    unsigned char *room = tsri_scratch(bytes);
    TSRI_CHECK(room, TSR_ENOMEM, "file_read: %s: no room for %zu bytes", f->path, bytes);
    tsr_status s = tsri_make_packed(&t, "file_read", e->dtype, e->ndim, e->shape);
    if (s == TSR_OK) s = make_image(t, f, p, room, room + p->packed);
    tsri_free(room, bytes);
    if (s != TSR_OK) tsr_release(&t);
    else *out = t;
    return s;
}

static bool is_png(const unsigned char *p, size_t n)
{
    return n >= SIGNATURE && memcmp(p, signature, SIGNATURE) == 0;
}

/* Writing ------------------------------------------------------------------------------ */

static tsr_status plan(tsr_writer *w, tsri_file_entry *p)
{
    const tsr_desc *d = &p->desc;
    TSRI_CHECK(!p->encoding, TSR_EUNSUPPORTED, "writer_add: %s: png has no encodings", w->path);
    TSRI_CHECK(d->dtype == TSR_U8 || d->dtype == TSR_U16, TSR_EDTYPE,
               "writer_add: %s: an image of %s; u8 and u16 are written", w->path, tsr_dtype_name(d->dtype));
    TSRI_CHECK((d->ndim == 2 || (d->ndim == 3 && d->shape[2] >= 1 && d->shape[2] <= 4)) && d->shape[0] >= 1 &&
                   d->shape[0] <= LARGEST_SIDE && d->shape[1] >= 1 && d->shape[1] <= LARGEST_SIDE,
               TSR_ESHAPE,
               "writer_add: %s: %s is no image: (height, width) or (height, width, 1 to 4), none of them 0",
               w->path, TSRI_DESC(d));
    return TSR_OK;
}

enum { PIECE = 1 << 18 };  /* filtered bytes to a chunk */

/* Rows come in as elements, go out filtered, deflated and in chunks. */
typedef struct drawing {
    tsr_writer    *w;
    uint64_t       at;
    size_t         row, pixel;           /* bytes */
    size_t         filled, gathered;     /* of this row; of the piece */
    uint64_t       left;                 /* rows to come */
    uint32_t       adler;
    bool           wide, begun;
    unsigned char *now, *before, *piece, *packed, *scratch;
} drawing;

static tsr_status put_chunk(drawing *d, const char *type, unsigned char *data, size_t n)
{
    unsigned char b[8], end[4];
    tsri_set32_big(b, (uint32_t)n);
    memcpy(b + 4, type, 4);
    tsri_set32_big(end, tsri_crc32(tsri_crc32(0, type, 4), data, n));
    TSRI_TRY(tsri_sink_write(&d->w->sink, d->at, b, sizeof b));
    TSRI_TRY(tsri_sink_write(&d->w->sink, d->at + 8, data, n));
    TSRI_TRY(tsri_sink_write(&d->w->sink, d->at + 8 + n, end, sizeof end));
    d->at += CHUNK + n;
    return TSR_OK;
}

static tsr_status put_piece(drawing *d)
{
    const bool last = d->left == 0;
    size_t n = 0;
    if (!d->begun) {
        d->packed[n++] = 0x78;
        d->packed[n++] = 0x01;
    }
    d->begun = true;
    d->adler = tsri_adler32(d->adler, d->piece, d->gathered);
    n += tsri_deflate(d->packed + n, d->piece, d->gathered, last, d->scratch);
    if (last) {
        tsri_set32_big(d->packed + n, d->adler);
        n += 4;
    }
    d->gathered = 0;
    return put_chunk(d, "IDAT", d->packed, n);
}

/* Each byte less what its neighbours predict (filter 4). */
static tsr_status put_row(drawing *d)
{
    unsigned char *to = d->piece + d->gathered;
    *to++ = 4;
    for (size_t i = 0; i < d->row; i++) {
        const bool inside = i >= d->pixel;
        to[i] = (unsigned char)(d->now[i] - paeth(inside ? d->now[i - d->pixel] : 0, d->before[i],
                                                  inside ? d->before[i - d->pixel] : 0));
    }
    unsigned char *t = d->before;
    d->before = d->now;
    d->now = t;
    d->filled = 0;
    d->gathered += d->row + 1;
    d->left--;
    return d->left == 0 || d->gathered >= PIECE ? put_piece(d) : TSR_OK;
}

static tsr_status put_run(void *context, const void *data, size_t bytes)
{
    drawing *d = context;
    const unsigned char *p = data;
    while (bytes > 0) {
        const size_t n = bytes < d->row - d->filled ? bytes : d->row - d->filled;
        for (size_t i = 0; i < n; i++) d->now[d->filled + (d->wide ? i ^ 1 : i)] = p[i];  /* big-endian */
        d->filled += n;
        p += n;
        bytes -= n;
        if (d->filled == d->row) TSRI_TRY(put_row(d));
    }
    return TSR_OK;
}

static tsr_status draw(drawing *d, const tsr_desc *desc, const tsr_tensor *t)
{
    static const uint8_t types[] = { GRAY, GRAY_ALPHA, COLOUR, COLOUR_ALPHA };
    unsigned char head[13] = { 0 };
    tsri_set32_big(head, (uint32_t)desc->shape[1]);
    tsri_set32_big(head + 4, (uint32_t)desc->shape[0]);
    head[8] = d->wide ? 16 : 8;
    head[9] = types[desc->ndim == 3 ? desc->shape[2] - 1 : 0];
    TSRI_TRY(tsri_sink_write(&d->w->sink, 0, signature, SIGNATURE));
    d->at = SIGNATURE;
    TSRI_TRY(put_chunk(d, "IHDR", head, sizeof head));
    TSRI_TRY(tsri_each_run(d->w, t, put_run, d));
    TSRI_TRY(put_chunk(d, "IEND", head, 0));
    return tsri_sink_cut(&d->w->sink, d->at);
}

static tsr_status add(tsr_writer *w, tsri_file_entry *p, const tsr_tensor *t)
{
    const tsr_desc *desc = &p->desc;
    const size_t size = tsr_dtype_size(desc->dtype),
                 pixel = size * (size_t)(desc->ndim == 3 ? desc->shape[2] : 1);
    const size_t row = pixel * (size_t)desc->shape[1], piece = PIECE + row + 1;
    const size_t bytes = TSRI_DEFLATE_SCRATCH + 2 * row + piece + tsri_deflate_room(piece) + 8;
    unsigned char *room = tsri_scratch(bytes);
    TSRI_CHECK(room, TSR_ENOMEM, "writer_add: %s: no room to compress rows of %zu bytes", w->path, row);
    drawing d = { .w = w,
                  .row = row,
                  .pixel = pixel,
                  .left = (uint64_t)desc->shape[0],
                  .adler = 1,
                  .wide = size == 2,
                  .scratch = room };
    d.now = room + TSRI_DEFLATE_SCRATCH;
    d.before = d.now + row;
    d.piece = d.before + row;
    d.packed = d.piece + piece;
    memset(d.before, 0, row);
    const tsr_status s = draw(&d, desc, t);
    tsri_free(room, bytes);
    return s;
}

const tsri_format tsri_png = {
    .info = { "png", "an image: u8 or u16, gray or colour, with or without alpha", true, true, false,
              ".png" },
    .is = is_png, .open = open_png, .read = read_png, .plan = plan, .add = add, .one_pass = true,
};
