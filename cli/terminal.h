/* terminal.h - what the output goes to: how wide, in colour or not, and a progress line. */
#ifndef TSR_CLI_TERMINAL_H
#define TSR_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

bool is_terminal(FILE *stream);

/* Does the locale of the environment write UTF-8? */
bool writes_utf8(void);

/* Columns to fill: COLUMNS in the environment, else the terminal's, else 80. */
int terminal_width(void);

/* The same for tables; without a terminal or COLUMNS there is no limit, so names in a pipe are whole. */
int table_width(void);

/* Rows of the terminal, else 24. */
int terminal_height(void);

/* Escape sequences, or "" for each where there is no terminal or NO_COLOR is set. */
typedef struct colours {
    const char *bold, *dim, *red, *green, *off;
} colours;

colours colours_of(FILE *stream);

/* How many colours a picture can have: 0 (NO_COLOR, or no terminal), 256, or 1 << 24. */
int colour_count(FILE *stream);

/* "1.5 GB" in a buffer of the caller's. */
const char *bytes_text(char out[32], double bytes);

/* Seconds of a clock that only runs forward. */
double now(void);

/* Words of text from column `column` on, broken at spaces before `width` and then indented
 * by `indent`. Ends without a newline. */
void print_wrapped(const char *text, int column, int indent, int width);

/* Is stderr a terminal on which a line can be drawn over again? */
bool shows_progress(void);

/* A line on stderr that is drawn over again, if stderr is such a terminal. */
typedef struct progress {
    bool   shown;
    double started, drawn;
} progress;

void progress_begin(progress *p);

/* done / total are drawn as a bar; count is the number of things so far, for the rate. */
void progress_draw(progress *p, double done, double total, int64_t count);

/* The same for work that moves bytes, and only once it has taken a second: a bar, how many, the
 * rate and the time left. */
void progress_draw_bytes(progress *p, double done, double total);

/* Removes the line, if one was drawn. */
void progress_end(progress *p);

/* Could everything be written to stdout? If not, complains (except of a reader that has
 * gone, as that of `tsr ops | head` does) and gives false. */
bool output_is_whole(void);

#endif
