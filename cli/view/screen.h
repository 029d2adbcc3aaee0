/* screen.h - the whole terminal as a picture that is drawn anew, and the keys of its keyboard.
 *
 * Frames are printed to stdout between screen_begin and screen_end, and go out in one piece.
 * The terminal is as it was before after screen_close, after a signal that ends the program, and while it is
 * stopped by Ctrl-Z.
 */
#ifndef TSR_CLI_VIEW_SCREEN_H
#define TSR_CLI_VIEW_SCREEN_H

#include <stdbool.h>

/* Keys that are no characters. */
enum {
    KEY_UP = 256, KEY_DOWN, KEY_LEFT, KEY_RIGHT, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME, KEY_END,
    KEY_ENTER, KEY_ESCAPE, KEY_BACKSPACE, KEY_TAB, KEY_REDRAW, KEY_CLOSED
};

/* False after a complaint: there is no terminal, or no keyboard. */
bool screen_open(const char *command_name);
void screen_close(void);

/* The size of the window now. */
void screen_size(int *columns, int *rows);

/* A frame from the upper left corner on, of as many lines as the window has; each is cleared first. */
void screen_begin(void);
void screen_end(void);

/* Goes to the next line. */
void screen_line(void);

/* Waits for a key: a byte of text, or one of those above. KEY_REDRAW: the window has another size, or is
 * in front again. KEY_CLOSED: there will be no more keys. */
int screen_key(void);

#endif
