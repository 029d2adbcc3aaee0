/* crc.h - the checksum of zip and png. */
#ifndef TSRI_CRC_H
#define TSRI_CRC_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of what came before and these bytes; begin with 0. */
uint32_t tsri_crc32(uint32_t crc, const void *data, size_t bytes);

#endif
