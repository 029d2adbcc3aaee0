/* tiny_toolbox.h - the lowest layer of the system: time and storage of a board. None of it
 * concerns tensors; the header is here because others include it. */
#ifndef TINY_TOOLBOX_H
#define TINY_TOOLBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#endif
