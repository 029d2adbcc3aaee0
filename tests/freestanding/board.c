/* board.c - the least a Cortex-M program needs: a vector table, start-up, the four memory
 * functions a compiler may call, and output by semihosting. No C library. */
#include <stddef.h>
#include <stdint.h>

#include "board.h"

extern uint32_t data_image[], data_start[], data_end[], bss_start[], bss_end[], stack_top[];

void *memcpy(void *dst, const void *src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int   memcmp(const void *a, const void *b, size_t n);

void *memcpy(void *dst, const void *src, size_t n)
{
    unsigned char *d = dst;
    const unsigned char *s = src;
    while (n-- > 0) *d++ = *s++;
    return dst;
}

void *memmove(void *dst, const void *src, size_t n)
{
    unsigned char *d = dst;
    const unsigned char *s = src;
    if ((uintptr_t)d <= (uintptr_t)s) return memcpy(dst, src, n);
    while (n-- > 0) d[n] = s[n];
    return dst;
}

void *memset(void *dst, int c, size_t n)
{
    unsigned char *d = dst;
    while (n-- > 0) *d++ = (unsigned char)c;
    return dst;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;
    for (; n > 0; n--, x++, y++)
        if (*x != *y) return *x - *y;
    return 0;
}

enum { SYS_WRITEC = 0x03, SYS_EXIT_EXTENDED = 0x20 };

/* Ask the debugger, here the emulator. */
static void semihost(uint32_t call, const void *argument)
{
    register uint32_t r0 __asm__("r0") = call;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

void board_write(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) semihost(SYS_WRITEC, &text[i]);
}

void board_exit(int status)
{
    const uint32_t application_exit = 0x20026;
    const uint32_t block[2] = { application_exit, (uint32_t)status };
    semihost(SYS_EXIT_EXTENDED, block);
    for (;;) {}
}

void reset(void);

void reset(void)
{
    for (uint32_t *to = data_start, *from = data_image; to < data_end;) *to++ = *from++;
    for (uint32_t *to = bss_start; to < bss_end;) *to++ = 0;
    board_exit(main());
}

static void fault(void)
{
    static const char text[] = "processor fault\n";
    board_write(text, sizeof text - 1);
    board_exit(2);
}

typedef void (*handler)(void);

/* Reset, NMI, and the four faults. */
static const struct {
    uint32_t *stack;
    handler entry[6];
} vectors __attribute__((section(".vectors"), used)) = {
    stack_top, { reset, fault, fault, fault, fault, fault }
};
