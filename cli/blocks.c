/* blocks.c - colours by escape sequences, or letters. */
#include "blocks.h"

#include <stdio.h>
#include <stdlib.h>

#include "room.h"
#include "terminal.h"

/* Colours ------------------------------------------------------------------------------ */

/* The nearest of the 6 x 6 x 6 colours, or of the 24 greys. */
static int colour_of_256(const uint8_t *rgb)
{
    static const int levels[6] = { 0, 95, 135, 175, 215, 255 };
    int nearest[3], error = 0;
    for (int k = 0; k < 3; k++) {
        nearest[k] = 0;
        for (int i = 1; i < 6; i++)
            if (abs(levels[i] - rgb[k]) < abs(levels[nearest[k]] - rgb[k])) nearest[k] = i;
        error += (levels[nearest[k]] - rgb[k]) * (levels[nearest[k]] - rgb[k]);
    }
    const int mean = (rgb[0] + rgb[1] + rgb[2]) / 3;
    const int step = mean < 8 ? 0 : mean > 238 ? 23 : (mean - 8 + 5) / 10;
    int grey_error = 0;
    for (int k = 0; k < 3; k++) grey_error += (8 + 10 * step - rgb[k]) * (8 + 10 * step - rgb[k]);
    return grey_error < error ? 232 + step : 16 + 36 * nearest[0] + 6 * nearest[1] + nearest[2];
}

void print_colour(bool back, const uint8_t *rgb, int count)
{
    if (count == 256) printf("\033[%d;5;%dm", back ? 48 : 38, colour_of_256(rgb));
    else              printf("\033[%d;2;%d;%d;%dm", back ? 48 : 38, rgb[0], rgb[1], rgb[2]);
}

/* Darker ones first. */
static char letter_of(const uint8_t *a, const uint8_t *b)
{
    static const char ramp[] = " .:-=+*#%@";
    const int light = 2126 * (a[0] + b[0]) + 7152 * (a[1] + b[1]) + 722 * (a[2] + b[2]); /* 0 .. 5,100,000 */
    const int i = light / 510001;
    return ramp[i > 9 ? 9 : i];
}

static void print_cell(const uint8_t *above, const uint8_t *below, int colours_there, bool halves)
{
    uint8_t mean[3];
    if (colours_there == 0) {
        putchar(letter_of(above, below));
        return;
    }
    for (int k = 0; k < 3; k++) mean[k] = (uint8_t)((above[k] + below[k] + 1) / 2);
    print_colour(true, halves ? below : mean, colours_there);
    if (halves) print_colour(false, above, colours_there);
    fputs(halves ? "\u2580" : " ", stdout);
}

void blocks_print(int rows, int columns, const uint8_t *rgb)
{
    const int count = colour_count(stdout);
    const bool halves = writes_utf8();
    for (int y = 0; y < rows; y += 2) {
        const uint8_t *above = rgb + 3 * (size_t)y * (size_t)columns;
        const uint8_t *below = y + 1 < rows ? above + 3 * (size_t)columns : above;
        for (int x = 0; x < columns; x++) print_cell(above + 3 * x, below + 3 * x, count, halves);
        puts(count ? "\033[0m" : "");
    }
}

void blocks_print_scale(int columns, uint32_t (*colour)(double t))
{
    const int count = colour_count(stdout);
    for (int x = 0; x < columns; x++) {
        const uint32_t c = colour((x + 0.5) / columns);
        const uint8_t rgb[3] = { (uint8_t)(c >> 16), (uint8_t)(c >> 8), (uint8_t)c };
        print_cell(rgb, rgb, count, writes_utf8());
    }
    fputs(count ? "\033[0m" : "", stdout);
}

/* Dots ----------------------------------------------------------------------------------- */

dots dots_new(int columns, int lines, int curves, uint32_t (*ink)(int curve))
{
    const bool braille = writes_utf8() && (curves == 1 || colour_count(stdout));
    const size_t cells = (size_t)columns * (size_t)lines;
    return (dots){ columns, lines, braille ? 2 : 1, braille ? 4 : 1, curves, 0, ink,
                   room_for(cells, 1), room_for(cells, 1) };
}

void dots_free(dots *d)
{
    free(d->cells);
    free(d->owner);
    d->cells = d->owner = NULL;
}

void dots_set(dots *d, int x, int y)
{
    static const uint8_t bits[4][2] = { { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } };
    if (x < 0 || y < 0 || x >= d->columns * d->across || y >= d->lines * d->down) return;
    const int at = y / d->down * d->columns + x / d->across;
    d->cells[at] |= bits[y % d->down][x % d->across];
    d->owner[at] = (uint8_t)d->curve;
}

static void print_ink(const dots *d, int curve)
{
    const uint32_t c = d->ink(curve);
    const uint8_t rgb[3] = { (uint8_t)(c >> 16), (uint8_t)(c >> 8), (uint8_t)c };
    print_colour(false, rgb, colour_count(stdout));
}

void dots_print_legend(const dots *d)
{
    const bool coloured = colour_count(stdout) != 0;
    fputs("rows", stdout);
    for (int k = 0; k < d->curves; k++) {
        putchar(' ');
        if (coloured) print_ink(d, k);
        printf(coloured ? "%d\033[0m" : "%d", k);
    }
    putchar('\n');
}

void dots_print_line(const dots *d, int line)
{
    const bool coloured = d->curves > 1 && colour_count(stdout);
    for (int x = 0; x < d->columns; x++) {
        const uint8_t bits = d->cells[line * d->columns + x], owner = d->owner[line * d->columns + x];
        if (bits && coloured) print_ink(d, owner);
        if (d->across == 1)  putchar(!bits ? ' ' : d->curves > 1 ? '0' + owner : '*');
        else if (bits == 0)  putchar(' ');
        else printf("%c%c%c", 0xe2, 0xa0 | bits >> 6, 0x80 | (bits & 0x3f)); /* U+2800 + bits */
    }
    if (coloured) fputs("\033[0m", stdout);
}
