/* inline_png.h - pixels as text, for an SVG. */
#ifndef CLI_INLINE_PNG_H
#define CLI_INLINE_PNG_H

#include <stdint.h>
#include <stdio.h>

/* Bytes (rows, columns, 3), up to 21,000 columns, as the base64 of a PNG. */
void inline_png(FILE *f, int rows, int columns, const uint8_t *rgb);

#endif
