/* board.h - what main.c needs of the machine. */
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>

int main(void);

void board_write(const char *text, size_t length);
void board_exit(int status) __attribute__((noreturn));

#endif
