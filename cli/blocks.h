/* blocks.h - pixels and lines made of characters. */
#ifndef TSR_CLI_BLOCKS_H
#define TSR_CLI_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* Makes a colour that of the letters, or of what is behind them; count as of colour_count, not 0. */
void print_colour(bool back, const uint8_t *rgb, int count);

/* Pixels (rows, columns, 3), two rows to a line: half blocks in colour, spaces where the locale
 * has no blocks, letters from ' ' to '@' where there are no colours. */
void blocks_print(int rows, int columns, const uint8_t *rgb);

/* The same width of all colours of a scale, as one line. */
void blocks_print_scale(int columns, uint32_t (*colour)(double t));

/* A field of dots, eight to a character (four rows of two), or one '*' without UTF-8. Of several curves each
 * has a colour, or, where there are none, dots that are its digit; what is drawn later lies on top. */
typedef struct dots {
    int      columns, lines;  /* characters */
    int      across, down;    /* dots of one character */
    int      curves, curve;   /* how many there are, at most 10, and which is being drawn */
    uint32_t (*ink)(int curve);
    uint8_t *cells, *owner;   /* owner: the curve that drew there last */
} dots;

dots dots_new(int columns, int lines, int curves, uint32_t (*ink)(int curve));
void dots_free(dots *d);

/* x 0 .. columns * across - 1 from the left, y 0 .. lines * down - 1 from the top. What is
 * outside is left out. */
void dots_set(dots *d, int x, int y);

/* One line, without a newline. */
void dots_print_line(const dots *d, int line);

/* "rows 0 1 2" as the curves look, as a line. */
void dots_print_legend(const dots *d);

#endif
