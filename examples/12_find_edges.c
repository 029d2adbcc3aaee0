/* 12_find_edges.c - a convolution finds the edges in a picture, and writes what it found.
 *
 *     12_find_edges [FILE.pgm]
 *
 * The picture is drawn with comparisons and broadcasting; Sobel's two windows are one
 * convolution with two outputs. The result is a PGM file, which most viewers open, and a
 * small copy in characters. */
#include <stdio.h>
#include <tessera/tessera.h>

enum { SIDE = 96, STEP = 4 };

static const float sobel[2][3][3] = { { { -1, 0, 1 }, { -2, 0, 2 }, { -1, 0, 1 } },
                                      { { -1, -2, -1 }, { 0, 0, 0 }, { 1, 2, 1 } } };

/* A disc, and a bar across it: 1 inside, 0 outside. */
static tsr_status draw(tsr_tensor **image)
{
    tsr_tensor *at = NULL, *y = NULL, *x = NULL, *radius = NULL, *disc = NULL, *bar = NULL;
    tsr_status s;
    TSR_GO(tsr_linspace(&at, TSR_F32, TSR_SCALAR(-1), TSR_SCALAR(1), SIDE, true));
    TSR_GO(tsr_view(&x, at, TSR_SHAPE(1, SIDE)));
    TSR_GO(tsr_view(&y, at, TSR_SHAPE(SIDE, 1)));
    TSR_GO(tsr_hypot(&radius, x, y));
    TSR_GO(tsr_lt(&disc, radius, TSR_NUMBER(0.7)));
    TSR_GO(tsr_abs(&y, y));
    TSR_GO(tsr_lt(&bar, y, TSR_NUMBER(0.2)));
    TSR_GO(tsr_logical_xor(&disc, disc, bar));
    TSR_GO(tsr_cast(image, disc, TSR_F32));
done:
    tsr_release_all(&at, &y, &x, &radius, &disc, &bar);
    return s;
}

static bool write_pgm(const char *path, const tsr_tensor *grey)
{
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    fprintf(file, "P5\n%d %d\n255\n", SIDE, SIDE);
    const bool written = fwrite(grey->data, 1, SIDE * SIDE, file) == SIDE * SIDE;
    return fclose(file) == 0 && written;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "edges.pgm";
    tsr_tensor *image = NULL, *seen = NULL, *windows = NULL, *slopes = NULL, *edges = NULL, *grey = NULL,
               *small = NULL;
    tsr_status s;

    TSR_GO(draw(&image));
    TSR_GO(tsr_from_data(&windows, TSR_F32, TSR_SHAPE(2, 1, 3, 3), sobel));

    /* (1, 96, 96) with windows (2, 1, 3, 3) gives both slopes at every place. */
    TSR_GO(tsr_unsqueeze(&seen, image, 0));
    TSR_GO(tsr_conv2d(&slopes, seen, windows, NULL, &(tsr_conv){ .fit = TSR_CONV_SAME }));
    TSR_GO(tsr_norm(&edges, slopes, TSR_AXES(0), false, 2));

    /* To grey levels, and the file. */
    TSR_GO(tsr_mul(&edges, edges, TSR_NUMBER(255 / 6.0)));
    TSR_GO(tsr_cast(&grey, edges, TSR_U8));
    if (!write_pgm(path, grey)) {
        fprintf(stderr, "cannot write %s\n", path);
        s = TSR_EIO;
        goto done;
    }

    /* The strongest of each 4 x 8 places as a character. */
    TSR_GO(tsr_unsqueeze(&seen, grey, 0));
    TSR_GO(tsr_max_pool2d(&small, NULL, seen, &(tsr_pool){ .kernel = { 2 * STEP, STEP } }));
    for (int64_t i = 0; i < small->shape[1]; i++) {
        for (int64_t j = 0; j < small->shape[2]; j++)
            putchar(TSR_AT(uint8_t, small, 0, i, j) > 100 ? '#' : '.');
        putchar('\n');
    }

done:
    if (s != TSR_OK && tsr_last_error()[0]) fprintf(stderr, "%s\n", tsr_last_error());
    tsr_release_all(&image, &seen, &windows, &slopes, &edges, &grey, &small);
    return s != TSR_OK;
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
