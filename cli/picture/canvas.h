/* canvas.h - a picture as a list of shapes, kept as drawn, written as SVG or as pixels.
 *
 * Coordinates are in points, x to the right and y down from the top left corner. Colours
 * are 0xRRGGBB. Drawing never fails: a canvas that runs out of memory says so when it is
 * saved. */
#ifndef CLI_CANVAS_H
#define CLI_CANVAS_H

#include <stdint.h>

#include "tessera/tessera.h"

typedef struct canvas canvas;

/* NULL if there is no memory. The background is white. */
canvas *canvas_new(double width, double height);
void    canvas_free(canvas *c);

typedef enum anchor { ANCHOR_LEFT, ANCHOR_MIDDLE, ANCHOR_RIGHT } anchor;

void canvas_line(canvas *c, double x0, double y0, double x1, double y1, double width, uint32_t colour);
void canvas_dashes(canvas *c, double x0, double y0, double x1, double y1, double width, uint32_t colour);
void canvas_path(canvas *c, int n, const double *xy, double width, uint32_t colour);
void canvas_rect(canvas *c, double x, double y, double w, double h, uint32_t colour);
void canvas_disc(canvas *c, double x, double y, double radius, uint32_t colour);

/* ASCII, its baseline at y; `size` is that of the font. Rotated text runs upwards from (x, y). */
void canvas_text(canvas *c, double x, double y, double size, anchor at, uint32_t colour, const char *text);
void canvas_rotated(canvas *c, double x, double y, double size, anchor at, uint32_t colour, const char *text);

/* Rows of squares of one colour each: (rows, columns, 3) bytes, copied. */
void canvas_image(canvas *c, double x, double y, double w, double h, int rows, int columns,
                  const uint8_t *rgb);

/* About how wide this text is. */
double canvas_text_width(double size, const char *text);

/* Pixels as u8 (height, width, 3), `scale` of them to a point. TSR_ENOMEM. */
tsr_status canvas_pixels(tsr_tensor **out, const canvas *c, double scale);

/* "svg", or the format of the library, that the end of a name says; NULL if it says none. */
const char *canvas_format(const char *path);

/* Writes an SVG or, twice as many pixels as points, any image format that the library writes; NULL is the
 * one that the end of the name says. TSR_EIO, TSR_ENOMEM, TSR_EUNSUPPORTED. */
tsr_status canvas_save(const canvas *c, const char *path, const char *format);

/* Segments x0 y0 x1 y1 that belong together: error bars, the strokes between extremes. */
void canvas_segments(canvas *c, int n, const double *ends, double width, uint32_t colour);

/* The glyph of a character, as font.c describes it; "" for none. */
const char *font_glyph(char c);

#endif
