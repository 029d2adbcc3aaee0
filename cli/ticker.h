/* ticker.h - a progress line for work that is done in a few long steps, inside which nothing can
 * be drawn: a clock draws it. Only on a terminal, and once a second has passed. */
#ifndef TSR_CLI_TICKER_H
#define TSR_CLI_TICKER_H

/* Begins to tick over `steps` steps; one ticker at a time. */
void ticker_begin(int steps);
void ticker_step(void);

/* The same for work that moves bytes: how many there are, and how many were moved so far. */
void ticker_begin_bytes(double bytes);
void ticker_reach(double bytes);

/* Removes the line, if one was drawn. */
void ticker_end(void);

#endif
