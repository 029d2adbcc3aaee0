/* format.h - in which format a result is written. */
#ifndef TSR_CLI_FORMAT_H
#define TSR_CLI_FORMAT_H

#include "tessera/tessera.h"

/* The one called `to`, or if that is NULL what the end of the path says; "-" is standard output, whose
 * name says none. NULL after a complaint. */
const tsr_format_info *format_to_write(const char *command_name, const char *path, const char *to);

#endif
