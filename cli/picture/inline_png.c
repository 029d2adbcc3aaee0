/* inline_png.c - pixels inside an SVG: a PNG in base64. The library compresses it on its way through a
 * temporary file; where there can be none, it is stored as it is. */
#if !defined(_WIN32)
#define _DEFAULT_SOURCE
#include <unistd.h>
#endif

#include "inline_png.h"

#include "tessera/tessera.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that go to a file as base64, three at a time. */
typedef struct stream {
    FILE    *f;
    uint8_t  held[3];
    int      count;
    uint32_t crc;
} stream;

static void put_base64(stream *s)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint32_t bits = (uint32_t)s->held[0] << 16 | (uint32_t)s->held[1] << 8 | s->held[2];
    if (s->count == 0) return;
    for (int i = 0; i < 4; i++) fputc(i <= s->count ? digits[bits >> (18 - 6 * i) & 63] : '=', s->f);
    memset(s->held, 0, sizeof s->held);
    s->count = 0;
}

static void put_byte(stream *s, uint8_t byte)
{
    s->crc ^= byte;
    for (int i = 0; i < 8; i++) s->crc = s->crc >> 1 ^ (0xedb88320u & (0u - (s->crc & 1)));
    s->held[s->count++] = byte;
    if (s->count == 3) put_base64(s);
}

static void put_word(stream *s, uint32_t word)
{
    for (int i = 24; i >= 0; i -= 8) put_byte(s, (uint8_t)(word >> i));
}

static void begin_chunk(stream *s, uint32_t length, const char *name)
{
    put_word(s, length);
    s->crc = 0xffffffffu;
    for (int i = 0; i < 4; i++) put_byte(s, (uint8_t)name[i]);
}

static void end_chunk(stream *s) { put_word(s, ~s->crc); }

static void put_header(stream *s, uint32_t rows, uint32_t columns)
{
    static const uint8_t rest[] = { 8, 2, 0, 0, 0 }; /* 8 bits, red green blue */
    begin_chunk(s, 13, "IHDR");
    put_word(s, columns);
    put_word(s, rows);
    for (int i = 0; i < 5; i++) put_byte(s, rest[i]);
    end_chunk(s);
}

/* One stored block of deflate to a row. */
static void put_rows(stream *s, uint32_t rows, uint32_t columns, const uint8_t *rgb)
{
    const uint32_t row = 1 + 3 * columns;
    uint32_t a = 1, b = 0;
    begin_chunk(s, 2 + rows * (5 + row) + 4, "IDAT");
    put_byte(s, 0x78);
    put_byte(s, 0x01);
    for (uint32_t y = 0; y < rows; y++) {
        put_byte(s, y + 1 == rows);
        put_byte(s, (uint8_t)row);
        put_byte(s, (uint8_t)(row >> 8));
        put_byte(s, (uint8_t)~row);
        put_byte(s, (uint8_t)(~row >> 8));
        for (uint32_t x = 0; x < row; x++) {
            const uint8_t byte = x ? rgb[3 * (size_t)columns * y + x - 1] : 0;
            put_byte(s, byte);
            a = (a + byte) % 65521;
            b = (b + a) % 65521;
        }
    }
    put_word(s, b << 16 | a);
    end_chunk(s);
}

static void put_stored(FILE *f, int rows, int columns, const uint8_t *rgb)
{
    static const uint8_t magic[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
    stream s = { .f = f };
    for (int i = 0; i < 8; i++) put_byte(&s, magic[i]);
    put_header(&s, (uint32_t)rows, (uint32_t)columns);
    put_rows(&s, (uint32_t)rows, (uint32_t)columns, rgb);
    begin_chunk(&s, 0, "IEND");
    end_chunk(&s);
    put_base64(&s);
}

#if !defined(_WIN32)

static tsr_status save_pixels(const char *path, int rows, int columns, const uint8_t *rgb)
{
    tsr_tensor t;
    tsr_desc d;
    TSR_TRY(tsr_desc_init(&d, TSR_U8, 3, (int64_t[]){ rows, columns, 3 }, NULL));
    TSR_TRY(tsr_place(&t, (void *)(uintptr_t)rgb, &d));
    return tsr_file_save(path, &t);
}

/* Copies a file as base64. False if nothing was written. */
static bool put_file(FILE *f, const char *path)
{
    FILE *in = fopen(path, "rb");
    stream s = { .f = f };
    if (!in) return false;
    int byte = fgetc(in);
    const bool some = byte != EOF;
    for (; byte != EOF; byte = fgetc(in)) put_byte(&s, (uint8_t)byte);
    put_base64(&s);
    fclose(in);
    return some;
}

static bool put_compressed(FILE *f, int rows, int columns, const uint8_t *rgb)
{
    char path[] = "/tmp/tsr-XXXXXX.png";
    const int descriptor = mkstemps(path, 4);
    if (descriptor < 0) return false;
    close(descriptor);
    const bool ok = save_pixels(path, rows, columns, rgb) == TSR_OK && put_file(f, path);
    unlink(path);
    if (!ok) tsr_clear_error();
    return ok;
}

#else
static bool put_compressed(FILE *f, int rows, int columns, const uint8_t *rgb)
{
    (void)f, (void)rows, (void)columns, (void)rgb;
    return false;
}
#endif

void inline_png(FILE *f, int rows, int columns, const uint8_t *rgb)
{
    if (!put_compressed(f, rows, columns, rgb)) put_stored(f, rows, columns, rgb);
}
