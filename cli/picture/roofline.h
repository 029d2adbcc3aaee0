/* roofline.h - a picture of a benchmark run: every workload is a point below the machine's roof.
 *
 * On the left, work that computes: flops a second over flops for each byte moved, below the
 * measured peak and the measured bandwidth. On the right, work that moves: bytes a second over
 * the bytes touched, beside a copy, a copy around the caches and a read of as many bytes. Lines
 * of one thread are drawn; colours are families. */
#ifndef CLI_ROOFLINE_H
#define CLI_ROOFLINE_H

#include <stdio.h>

#include "canvas.h"

/* From the lines that bench-ops writes. NULL if there is no memory. */
canvas *roofline_picture(FILE *lines);

#endif
