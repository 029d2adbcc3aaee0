#define _POSIX_C_SOURCE 200809L
#include "canvas.h"

#include "inline_png.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef enum kind { PATH, SEGMENTS, DASHES, RECT, DISC, TEXT, ROTATED, IMAGE } kind;

typedef struct shape {
    kind     kind;
    uint32_t colour;
    double   x, y, w, h, size;  /* of rects and images; of discs and text; width of lines, radius, font */
    anchor   at;
    int      n, rows;           /* points, or columns and rows */
    void    *data;              /* points, text or bytes */
} shape;

struct canvas {
    double width, height;
    shape *shapes;
    size_t count, room;
    bool   failed;
};

canvas *canvas_new(double width, double height)
{
    canvas *c = calloc(1, sizeof *c);
    if (c) {
        c->width = width;
        c->height = height;
    }
    return c;
}

void canvas_free(canvas *c)
{
    if (!c) return;
    for (size_t i = 0; i < c->count; i++) free(c->shapes[i].data);
    free(c->shapes);
    free(c);
}

static void add(canvas *c, shape s, const void *data, size_t bytes)
{
    if (!c || c->failed) return;
    if (c->count == c->room) {
        const size_t room = c->room ? 2 * c->room : 64;
        shape *more = realloc(c->shapes, room * sizeof *more);
        if (!more) {
            c->failed = true;
            return;
        }
        c->shapes = more;
        c->room = room;
    }
    if (bytes) {
        s.data = malloc(bytes);
        if (!s.data) {
            c->failed = true;
            return;
        }
        memcpy(s.data, data, bytes);
    }
    c->shapes[c->count++] = s;
}

void canvas_path(canvas *c, int n, const double *xy, double width, uint32_t colour)
{
    add(c, (shape){ .kind = PATH, .colour = colour, .size = width, .n = n }, xy, 2 * (size_t)n * sizeof *xy);
}

void canvas_segments(canvas *c, int n, const double *ends, double width, uint32_t colour)
{
    add(c, (shape){ .kind = SEGMENTS, .colour = colour, .size = width, .n = n }, ends,
        4 * (size_t)n * sizeof *ends);
}

void canvas_line(canvas *c, double x0, double y0, double x1, double y1, double width, uint32_t colour)
{
    canvas_path(c, 2, (const double[]){ x0, y0, x1, y1 }, width, colour);
}

void canvas_dashes(canvas *c, double x0, double y0, double x1, double y1, double width, uint32_t colour)
{
    const double xy[] = { x0, y0, x1, y1 };
    add(c, (shape){ .kind = DASHES, .colour = colour, .size = width, .n = 2 }, xy, sizeof xy);
}

void canvas_rect(canvas *c, double x, double y, double w, double h, uint32_t colour)
{
    add(c, (shape){ .kind = RECT, .colour = colour, .x = x, .y = y, .w = w, .h = h }, NULL, 0);
}

void canvas_disc(canvas *c, double x, double y, double radius, uint32_t colour)
{
    add(c, (shape){ .kind = DISC, .colour = colour, .x = x, .y = y, .size = radius }, NULL, 0);
}

void canvas_text(canvas *c, double x, double y, double size, anchor at, uint32_t colour, const char *text)
{
    add(c, (shape){ .kind = TEXT, .colour = colour, .x = x, .y = y, .size = size, .at = at }, text,
        strlen(text) + 1);
}

void canvas_rotated(canvas *c, double x, double y, double size, anchor at, uint32_t colour, const char *text)
{
    add(c, (shape){ .kind = ROTATED, .colour = colour, .x = x, .y = y, .size = size, .at = at }, text,
        strlen(text) + 1);
}

void canvas_image(canvas *c, double x, double y, double w, double h, int rows, int columns,
                  const uint8_t *rgb)
{
    add(c, (shape){ .kind = IMAGE, .x = x, .y = y, .w = w, .h = h, .rows = rows, .n = columns }, rgb,
        3 * (size_t)rows * (size_t)columns);
}

/* Capitals are CAPITAL of the font's size high, which is 14 steps of its grid; letters stand APART steps
 * apart, and their strokes are STROKE steps wide. */
#define CAPITAL 0.715
#define APART 3.6
#define STROKE 1.7

static double grid_of(double size) { return size * CAPITAL / 14; }

static int digit_of(char c) { return c >= 'a' ? c - 'a' + 10 : c - '0'; }

double canvas_text_width(double size, const char *text)
{
    double steps = 0;
    for (; *text; text++) {
        const char *glyph = font_glyph(*text);
        if (glyph[0]) steps += digit_of(glyph[0]) + APART;
    }
    return steps > 0 ? (steps - APART + STROKE) * grid_of(size) : 0;
}

/* Pixels ------------------------------------------------------------------------------------
 * Shapes are drawn without blending at OVER times the size each way, and averaged down. */

enum { OVER = 3 };

typedef struct raster {
    uint8_t *rgb;
    int64_t  width, height;
    double   scale;  /* of points, to these pixels */
} raster;

static void put(const raster *r, int64_t x, int64_t y, uint32_t colour)
{
    uint8_t *p = r->rgb + 3 * (y * r->width + x);
    p[0] = (uint8_t)(colour >> 16);
    p[1] = (uint8_t)(colour >> 8);
    p[2] = (uint8_t)colour;
}

/* Pixels from `a` to `b` of `n`, as far as there are any. */
static int64_t first_pixel(double a) { return a <= 0 ? 0 : a > 1e9 ? (int64_t)1e9 : (int64_t)floor(a); }
static int64_t end_pixel(double b, int64_t n) { return b < 0 ? 0 : b >= (double)n ? n : (int64_t)ceil(b); }

static void fill_rect(const raster *r, double x, double y, double w, double h, uint32_t colour)
{
    const int64_t x0 = first_pixel(x + 0.5), x1 = end_pixel(x + w - 0.5, r->width);
    const int64_t y1 = end_pixel(y + h - 0.5, r->height);
    for (int64_t j = first_pixel(y + 0.5); j < y1; j++)
        for (int64_t i = x0; i < x1; i++) put(r, i, j, colour);
}

/* All that is within `radius` of the segment. */
static void fill_segment(const raster *r, const double *from, const double *to, double radius,
                         uint32_t colour)
{
    const double dx = to[0] - from[0], dy = to[1] - from[1], length = dx * dx + dy * dy;
    const int64_t x0 = first_pixel(fmin(from[0], to[0]) - radius),
                  x1 = end_pixel(fmax(from[0], to[0]) + radius + 1, r->width);
    const int64_t y1 = end_pixel(fmax(from[1], to[1]) + radius + 1, r->height);
    for (int64_t j = first_pixel(fmin(from[1], to[1]) - radius); j < y1; j++)
        for (int64_t i = x0; i < x1; i++) {
            const double px = (double)i + 0.5 - from[0], py = (double)j + 0.5 - from[1];
            const double along = length > 0 ? fmin(1, fmax(0, (px * dx + py * dy) / length)) : 0;
            const double ex = px - along * dx, ey = py - along * dy;
            if (ex * ex + ey * ey <= radius * radius) put(r, i, j, colour);
        }
}

static void draw_path(const raster *r, const shape *s)
{
    const double *xy = s->data;
    for (int i = 0; i + 1 < s->n; i++) {
        const double from[] = { xy[2 * i] * r->scale, xy[2 * i + 1] * r->scale };
        const double to[] = { xy[2 * i + 2] * r->scale, xy[2 * i + 3] * r->scale };
        fill_segment(r, from, to, fmax(0.6, s->size * r->scale / 2), s->colour);
    }
}

static void draw_segments(const raster *r, const shape *s)
{
    double *ends = s->data;
    for (int i = 0; i < s->n; i++)
        draw_path(r, &(shape){ .size = s->size, .colour = s->colour, .n = 2, .data = ends + 4 * i });
}

/* Dashes of 5 points and gaps of 4. */
static void draw_dashes(const raster *r, const shape *s)
{
    const double *xy = s->data, length = hypot(xy[2] - xy[0], xy[3] - xy[1]);
    for (double at = 0; at < length; at += 9) {
        const double a = at / length, b = fmin(1, (at + 5) / length);
        double ends[] = { xy[0] + a * (xy[2] - xy[0]), xy[1] + a * (xy[3] - xy[1]),
                          xy[0] + b * (xy[2] - xy[0]), xy[1] + b * (xy[3] - xy[1]) };
        draw_path(r, &(shape){ .size = s->size, .colour = s->colour, .n = 2, .data = ends });
    }
}

/* Where text goes on the raster: a place of a glyph that begins `before` steps from the text's beginning. */
typedef struct pen { const raster *r; const shape *s; double grid, back, before; } pen;

static void place(double out[2], const pen *p, const char *at)
{
    const double right = (p->before + STROKE / 2 + digit_of(at[0])) * p->grid - p->back;
    const double up = (14 - digit_of(at[1])) * p->grid;
    const bool rotated = p->s->kind == ROTATED;
    out[0] = (rotated ? p->s->x - up : p->s->x + right) * p->r->scale;
    out[1] = (rotated ? p->s->y - right : p->s->y - up) * p->r->scale;
}

/* A parabola as a few segments. */
static void draw_parabola(const pen *p, const double *from, const double *by, const double *to, double radius)
{
    enum { PIECES = 8 };
    double last[2] = { from[0], from[1] };
    for (int i = 1; i <= PIECES; i++) {
        const double t = (double)i / PIECES, a = (1 - t) * (1 - t), b = 2 * t * (1 - t), c = t * t;
        const double at[2] = { a * from[0] + b * by[0] + c * to[0], a * from[1] + b * by[1] + c * to[1] };
        fill_segment(p->r, last, at, radius, p->s->colour);
        memcpy(last, at, sizeof last);
    }
}

static void draw_glyph(const pen *p, const char *strokes, double radius)
{
    double last[2] = { 0 }, control[2], at[2];
    for (const char *c = strokes; *c; memcpy(last, at, sizeof last)) {
        const char what = *c++;
        if (what == 'Q') {
            place(control, p, c);
            c += 2;
        }
        place(at, p, c);
        c += 2;
        if (what == 'L') fill_segment(p->r, last, at, radius, p->s->colour);
        if (what == 'Q') draw_parabola(p, last, control, at, radius);
    }
}

static void draw_text(const raster *r, const shape *s)
{
    const char *text = s->data;
    const double part = s->at == ANCHOR_LEFT ? 0 : s->at == ANCHOR_MIDDLE ? 0.5 : 1;
    pen p = { r, s, grid_of(s->size), part * canvas_text_width(s->size, text), 0 };
    for (; *text; text++) {
        const char *glyph = font_glyph(*text);
        if (!glyph[0]) continue;
        draw_glyph(&p, glyph + 1, fmax(0.6, STROKE / 2 * p.grid * r->scale));
        p.before += digit_of(glyph[0]) + APART;
    }
}

static void draw_image(const raster *r, const shape *s)
{
    const uint8_t *rgb = s->data;
    const double x0 = s->x * r->scale, y0 = s->y * r->scale, w = s->w * r->scale, h = s->h * r->scale;
    const int64_t x1 = end_pixel(x0 + w - 0.5, r->width), y1 = end_pixel(y0 + h - 0.5, r->height);
    for (int64_t j = first_pixel(y0 + 0.5); j < y1; j++)
        for (int64_t i = first_pixel(x0 + 0.5); i < x1; i++) {
            const double u = ((double)i + 0.5 - x0) / w * s->n, v = ((double)j + 0.5 - y0) / h * s->rows;
            const int column = u < 0 ? 0 : u >= s->n ? s->n - 1 : (int)u;
            const int row = v < 0 ? 0 : v >= s->rows ? s->rows - 1 : (int)v;
            memcpy(r->rgb + 3 * (j * r->width + i), rgb + 3 * ((int64_t)row * s->n + column), 3);
        }
}

static void draw(const raster *r, const shape *s)
{
    const double centre[] = { s->x * r->scale, s->y * r->scale };
    switch (s->kind) {
    case PATH:   draw_path(r, s); break;
    case SEGMENTS: draw_segments(r, s); break;
    case DASHES: draw_dashes(r, s); break;
    case RECT:
        fill_rect(r, s->x * r->scale, s->y * r->scale, s->w * r->scale, s->h * r->scale, s->colour);
        break;
    case DISC:   fill_segment(r, centre, centre, s->size * r->scale, s->colour); break;
    case TEXT:
    case ROTATED: draw_text(r, s); break;
    case IMAGE:  draw_image(r, s); break;
    }
}

/* Means of OVER by OVER pixels. */
static void shrink(uint8_t *out, const raster *r, int64_t width, int64_t height)
{
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++)
            for (int k = 0; k < 3; k++) {
                int sum = OVER * OVER / 2;
                for (int j = 0; j < OVER; j++)
                    for (int i = 0; i < OVER; i++)
                        sum += r->rgb[3 * ((OVER * y + j) * r->width + OVER * x + i) + k];
                out[3 * (y * width + x) + k] = (uint8_t)(sum / (OVER * OVER));
            }
}

tsr_status canvas_pixels(tsr_tensor **out, const canvas *c, double scale)
{
    if (!c || c->failed) return TSR_ENOMEM;
    const int64_t width = (int64_t)ceil(c->width * scale), height = (int64_t)ceil(c->height * scale);
    raster r = { .width = width * OVER, .height = height * OVER, .scale = scale * OVER };
    tsr_tensor *pixels = NULL;
    const tsr_status s = tsr_empty(&pixels, TSR_U8, TSR_SHAPE(height, width, 3));
    if (s != TSR_OK) return s;
    r.rgb = malloc((size_t)(3 * r.width * r.height));
    if (!r.rgb) {
        tsr_release(&pixels);
        return TSR_ENOMEM;
    }
    memset(r.rgb, 255, (size_t)(3 * r.width * r.height));
    for (size_t i = 0; i < c->count; i++) draw(&r, &c->shapes[i]);
    shrink(pixels->data, &r, width, height);
    free(r.rgb);
    tsr_release(out);
    *out = pixels;
    return TSR_OK;
}

/* SVG ------------------------------------------------------------------------------------------ */

static void write_escaped(FILE *f, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '<': fputs("&lt;", f); break;
        case '>': fputs("&gt;", f); break;
        case '&': fputs("&amp;", f); break;
        default: fputc(*text, f);
        }
    }
}

/* Tenths of a point are as fine as a picture needs: " 12.5-3" */
static void write_place(FILE *f, double x, bool *first)
{
    char text[32];
    snprintf(text, sizeof text, "%.1f", x);
    const size_t n = strlen(text);
    if (n > 2 && !strcmp(text + n - 2, ".0")) text[n - 2] = '\0';
    if (!strcmp(text, "-0")) text[0] = '0', text[1] = '\0';
    fprintf(f, "%s%s", *first || text[0] == '-' ? "" : " ", text);
    *first = false;
}

static void begin_path(FILE *f, const shape *s)
{
    fprintf(f, "<path fill=\"none\" stroke=\"#%06x\" stroke-width=\"%.4g\"%s d=\"", (unsigned)s->colour,
            s->size, s->kind == DASHES ? " stroke-dasharray=\"5 4\"" : " stroke-linejoin=\"round\"");
}

/* Are three points on one line, as far as one can see? */
static bool is_straight(const double *a, const double *b, const double *c)
{
    const double dx = c[0] - a[0], dy = c[1] - a[1], length = hypot(dx, dy);
    const double off = fabs((b[0] - a[0]) * dy - (b[1] - a[1]) * dx);
    const double along = (b[0] - a[0]) * dx + (b[1] - a[1]) * dy;
    return length > 0 && off <= 0.08 * length && along >= 0 && along <= length * length;
}

/* Points between which the path is straight are left out. */
static void write_path(FILE *f, const shape *s)
{
    const double *xy = s->data;
    bool first = true;
    begin_path(f, s);
    fputc('M', f);
    for (int i = 0, kept = 0; i < s->n; i++) {
        bool straight = i > 0 && i + 1 < s->n;
        for (int k = kept + 1; k <= i && straight; k++)
            straight = i - kept < 64 && is_straight(xy + 2 * kept, xy + 2 * k, xy + 2 * i + 2);
        if (straight) continue;
        kept = i;
        write_place(f, xy[2 * i], &first);
        write_place(f, xy[2 * i + 1], &first);
    }
    fputs("\"/>\n", f);
}

static void write_segments(FILE *f, const shape *s)
{
    const double *ends = s->data;
    begin_path(f, s);
    for (int i = 0; i < s->n; i++) {
        const double *e = ends + 4 * i;
        bool first = true;
        fputc('M', f);
        write_place(f, e[0], &first);
        write_place(f, e[1], &first);
        if (e[0] != e[2]) write_place(f, e[2], &first);
        else              fputc('V', f);
        first = e[0] == e[2];
        write_place(f, e[3], &first);
    }
    fputs("\"/>\n", f);
}

static void write_text(FILE *f, const shape *s)
{
    static const char *const anchors[] = { "start", "middle", "end" };
    fprintf(f, "<text x=\"%.6g\" y=\"%.6g\" font-size=\"%.4g\" fill=\"#%06x\" text-anchor=\"%s\"", s->x, s->y,
            s->size, (unsigned)s->colour, anchors[s->at]);
    if (s->kind == ROTATED) fprintf(f, " transform=\"rotate(-90 %.6g %.6g)\"", s->x, s->y);
    fputc('>', f);
    write_escaped(f, s->data);
    fputs("</text>\n", f);
}

/* Runs of one colour in a row become one rectangle. */
static void write_squares(FILE *f, const shape *s)
{
    const uint8_t *rgb = s->data;
    const double w = s->w / s->n, h = s->h / s->rows;
    fputs("<g shape-rendering=\"crispEdges\">\n", f);
    for (int row = 0; row < s->rows; row++)
        for (int from = 0, to; from < s->n; from = to) {
            const uint8_t *p = rgb + 3 * ((size_t)row * (size_t)s->n + (size_t)from);
            for (to = from + 1; to < s->n && !memcmp(p, p + 3 * (to - from), 3); to++) {}
            fprintf(f,
                    "<rect x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" fill=\"#%02x%02x%02x\"/>\n",
                    s->x + from * w, s->y + row * h, (to - from) * w, h, p[0], p[1], p[2]);
        }
    fputs("</g>\n", f);
}

/* Some viewers blur what they enlarge: cells become squares of several pixels, which compress well. */
static void write_pixels(FILE *f, const shape *s)
{
    enum { WANTED = 480, SQUARE_MOST = 8 };
    const int longer = s->rows > s->n ? s->rows : s->n, each = WANTED / longer;
    const int k = each < 1 ? 1 : each > SQUARE_MOST ? SQUARE_MOST : each;
    const int rows = s->rows * k, columns = s->n * k;
    uint8_t *rgb = k > 1 ? malloc(3 * (size_t)rows * (size_t)columns) : NULL;
    for (int y = 0; rgb && y < rows; y++)
        for (int x = 0; x < columns; x++)
            memcpy(rgb + 3 * ((size_t)y * (size_t)columns + (size_t)x),
                   (const uint8_t *)s->data + 3 * ((size_t)(y / k) * (size_t)s->n + (size_t)(x / k)), 3);
    if (rgb) inline_png(f, rows, columns, rgb);
    else     inline_png(f, s->rows, s->n, s->data);
    free(rgb);
}

/* A few squares stay sharp in every viewer as rectangles. */
static void write_image(FILE *f, const shape *s)
{
    enum { SQUARES = 32 };
    if ((int64_t)s->rows * s->n <= SQUARES) {
        write_squares(f, s);
        return;
    }
    fprintf(f, "<image x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" preserveAspectRatio=\"none\" ",
            s->x, s->y, s->w, s->h);
    fputs("style=\"image-rendering:pixelated\" href=\"data:image/png;base64,", f);
    write_pixels(f, s);
    fputs("\"/>\n", f);
}

static void write_shape(FILE *f, const shape *s)
{
    switch (s->kind) {
    case PATH:
    case DASHES: write_path(f, s); break;
    case SEGMENTS: write_segments(f, s); break;
    case RECT:
        fprintf(f, "<rect x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" fill=\"#%06x\"/>\n", s->x,
                s->y, s->w, s->h, (unsigned)s->colour);
        break;
    case DISC:
        fprintf(f, "<circle cx=\"%.6g\" cy=\"%.6g\" r=\"%.4g\" fill=\"#%06x\"/>\n", s->x, s->y, s->size,
                (unsigned)s->colour);
        break;
    case TEXT:
    case ROTATED: write_text(f, s); break;
    case IMAGE: write_image(f, s); break;
    }
}

static void write_svg(FILE *f, const canvas *c)
{
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.6g\" height=\"%.6g\" viewBox=\"0 0 %.6g "
            "%.6g\" font-family=\"Helvetica,Arial,sans-serif\">\n",
            c->width, c->height, c->width, c->height);
    fprintf(f, "<rect width=\"%.6g\" height=\"%.6g\" fill=\"#ffffff\"/>\n", c->width, c->height);
    for (size_t i = 0; i < c->count; i++) write_shape(f, &c->shapes[i]);
    fputs("</svg>\n", f);
}

/* To a terminal or a pipe. */
static tsr_status stream_svg(const canvas *c, const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f) return TSR_EIO;
    write_svg(f, c);
    const bool bad = ferror(f);
    return fclose(f) != 0 || bad ? TSR_EIO : TSR_OK;
}

static tsr_status save_bytes(const char *path, void *data, size_t bytes)
{
    tsr_writer *w = NULL;
    tsr_tensor t;
    tsr_desc d;
    const int64_t n = (int64_t)bytes;
    tsr_status s = tsr_desc_init(&d, TSR_U8, 1, &n, NULL);
    if (s == TSR_OK) s = tsr_place(&t, data, &d);
    if (s == TSR_OK) s = tsr_writer_create(&w, path, &(tsr_writer_opts){ .format = "raw" });
    if (s == TSR_OK) s = tsr_writer_add(w, NULL, &t, NULL);
    if (s == TSR_OK) return tsr_writer_finish(&w);
    tsr_writer_cancel(&w);
    return s;
}

/* Put together in memory, so that the file takes its place when it is whole. */
static tsr_status save_svg(const canvas *c, const char *path)
{
    struct stat there;
    char *text = NULL;
    size_t bytes = 0;
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) return stream_svg(c, path);
    FILE *f = open_memstream(&text, &bytes);
    if (!f) return TSR_ENOMEM;
    write_svg(f, c);
    const bool bad = ferror(f), whole = fclose(f) == 0 && !bad;
    const tsr_status s = whole ? save_bytes(path, text, bytes) : TSR_ENOMEM;
    free(text);
    return s;
}

static tsr_status save_pixels(tsr_writer **w, const tsr_tensor *pixels, const char *path, const char *format)
{
    tsr_status s = tsr_writer_create(w, path, &(tsr_writer_opts){ .format = format });
    if (s == TSR_OK) s = tsr_writer_add(*w, NULL, pixels, NULL);
    return s == TSR_OK ? tsr_writer_finish(w) : s;
}

const char *canvas_format(const char *path)
{
    const size_t n = strlen(path);
    if (n >= 4 && (!strcmp(path + n - 4, ".svg") || !strcmp(path + n - 4, ".SVG"))) return "svg";
    const tsr_format_info *format = tsr_format_of_path(path);
    return format ? format->name : NULL;
}

tsr_status canvas_save(const canvas *c, const char *path, const char *format)
{
    tsr_tensor *pixels = NULL;
    tsr_writer *w = NULL;
    if (!c || c->failed) return TSR_ENOMEM;
    if (!format) format = canvas_format(path);
    if (format && !strcmp(format, "svg")) return save_svg(c, path);
    tsr_status s = canvas_pixels(&pixels, c, 2);
    if (s == TSR_OK) s = save_pixels(&w, pixels, path, format);
    tsr_writer_cancel(&w);
    tsr_release(&pixels);
    return s;
}

