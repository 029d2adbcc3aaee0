/* room.h - memory of the command's own. A command that gets none ends with a complaint. */
#ifndef TSR_CLI_ROOM_H
#define TSR_CLI_ROOM_H

#include <stddef.h>

/* Zeroed, for `count` things of `size` bytes. Never NULL. */
void *room_for(size_t count, size_t size);

/* Room for one more in a list of `count`, which has room for a power of two. Never NULL. */
void *room_for_more(void *list, size_t count, size_t size);

/* The first `length` characters of a text, or all of it. */
char *copy_of(const char *text, size_t length);
char *copy_of_text(const char *text);

/* A text as it can go to a terminal: each control character becomes '?'. */
char *printable_copy(const char *text);

/* As snprintf, into room of its own. */
char *text_of(const char *format, ...);

#endif
