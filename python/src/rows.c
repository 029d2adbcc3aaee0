/* rows.c - the table of ops, as generate.py makes it. */
#include "rows.h"

#include <string.h>

#include "rows.inc"
