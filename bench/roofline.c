/* roofline.c - a picture of a benchmark run (cli/picture/roofline.h).
 *
 *     bench-roofline BENCH.json PICTURE.svg|PICTURE.png ... */
#include <stdio.h>

#include "../cli/picture/roofline.h"

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: bench-roofline BENCH.json PICTURE.svg|PICTURE.png ...\n");
        return 2;
    }
    FILE *lines = fopen(argv[1], "r");
    if (!lines) {
        perror(argv[1]);
        return 1;
    }
    int status = 0;
    canvas *c = roofline_picture(lines);
    fclose(lines);
    for (int i = 2; i < argc; i++)
        if (canvas_save(c, argv[i], NULL) != TSR_OK) {
            fprintf(stderr, "bench-roofline: %s: %s\n", argv[i], c ? tsr_last_error() : "no memory");
            status = 1;
        }
    canvas_free(c);
    return status;
}
