/* crc.c - CRC-32 (polynomial 0x04C11DB7, reflected), eight bytes at a step. */
#include "core/lock.h"
#include "crc.h"

static uint32_t table[8][256];
static tsri_once once = TSRI_ONCE_INIT;

/* table[k][b] is what byte b leaves after k more zero bytes. */
static void make_table(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t c = b;
        for (int i = 0; i < 8; i++) c = c >> 1 ^ (0xEDB88320u & (0u - (c & 1)));
        table[0][b] = c;
    }
    for (uint32_t b = 0; b < 256; b++)
        for (int k = 1; k < 8; k++) table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 255];
}

uint32_t tsri_crc32(uint32_t crc, const void *data, size_t bytes)
{
    const unsigned char *p = data;
    uint32_t c = ~crc;
    tsri_once_run(&once, make_table);
    for (; bytes >= 8; bytes -= 8, p += 8)
        c = table[7][(c ^ p[0]) & 255] ^ table[6][(c >> 8 ^ p[1]) & 255] ^ table[5][(c >> 16 ^ p[2]) & 255] ^
            table[4][(c >> 24 ^ p[3]) & 255] ^ table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^
            table[0][p[7]];
    for (; bytes > 0; bytes--) c = c >> 8 ^ table[0][(c ^ *p++) & 255];
    return ~c;
}
