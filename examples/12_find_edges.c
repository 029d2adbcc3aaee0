/* 12_find_edges.c - a convolution finds the edges in a picture, and writes what it found.
 *
 *     12_find_edges [FILE.png]
 *
 * The picture is drawn with comparisons and broadcasting; Sobel's two windows are one
 * convolution with two outputs. The result is a file, which any viewer opens, and a small
 * copy in characters. */
#include <stdio.h>
#include <tessera/tessera.h>

enum { SIDE = 96, STEP = 4 };

static const float sobel[2][3][3] = { { { -1, 0, 1 }, { -2, 0, 2 }, { -1, 0, 1 } },
                                      { { -1, -2, -1 }, { 0, 0, 0 }, { 1, 2, 1 } } };

/* A disc, and a bar across it: 1 inside, 0 outside. */
static tsr_status draw(tsr_tensor **image)
{
    TSR_AUTO tsr_tensor *at = NULL, *y = NULL, *x = NULL, *radius = NULL, *disc = NULL, *bar = NULL;
    TSR_TRY(tsr_linspace(&at, TSR_F32, TSR_SCALAR(-1), TSR_SCALAR(1), SIDE, true));
    TSR_TRY(tsr_view(&x, at, TSR_SHAPE(1, SIDE)));
    TSR_TRY(tsr_view(&y, at, TSR_SHAPE(SIDE, 1)));
    TSR_TRY(tsr_hypot(&radius, x, y));
    TSR_TRY(tsr_lt(&disc, radius, TSR_NUMBER(0.7)));
    TSR_TRY(tsr_abs(&y, y));
    TSR_TRY(tsr_lt(&bar, y, TSR_NUMBER(0.2)));
    TSR_TRY(tsr_logical_xor(&disc, disc, bar));
    return tsr_cast(image, disc, TSR_F32);
}

int main(int argc, char **argv)
{
    TSR_AUTO tsr_tensor *image = NULL, *seen = NULL, *windows = NULL, *slopes = NULL;
    TSR_AUTO tsr_tensor *edges = NULL, *grey = NULL, *small = NULL;

    TSR_MUST(draw(&image));
    TSR_MUST(tsr_from_data(&windows, TSR_F32, TSR_SHAPE(2, 1, 3, 3), sobel));

    /* (1, 96, 96) with windows (2, 1, 3, 3) gives both slopes at every place. */
    TSR_MUST(tsr_unsqueeze(&seen, image, 0));
    TSR_MUST(tsr_conv2d(&slopes, seen, windows, NULL, &(tsr_conv){ .fit = TSR_CONV_SAME }));
    TSR_MUST(tsr_norm(&edges, slopes, TSR_AXES(0), false, 2));

    /* To grey levels, and the file. */
    TSR_MUST(tsr_mul(&edges, edges, TSR_NUMBER(255 / 6.0)));
    TSR_MUST(tsr_cast(&grey, edges, TSR_U8));
    TSR_MUST(tsr_file_save(argc > 1 ? argv[1] : "edges.png", grey));

    /* The strongest of each 4 x 8 places as a character. */
    TSR_MUST(tsr_unsqueeze(&seen, grey, 0));
    TSR_MUST(tsr_max_pool2d(&small, NULL, seen, &(tsr_pool){ .kernel = { 2 * STEP, STEP } }));
    for (int64_t i = 0; i < small->shape[1]; i++) {
        for (int64_t j = 0; j < small->shape[2]; j++)
            putchar(TSR_AT(uint8_t, small, 0, i, j) > 100 ? '#' : '.');
        putchar('\n');
    }
    return 0;
}

/* Output:
........................
.........######.........
......#####..#####......
....###..........###....
########################
#..##..............##..#
#..##..............##..#
########################
....###..........###....
......#####..#####......
.........######.........
........................
*/
