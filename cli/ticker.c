/* A signal draws the line: it may use nothing but what signal handlers may, so the text is put
 * together by hand. */
#define _GNU_SOURCE
#include "ticker.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "terminal.h"

/* Columns of the bar, at most, and of what stands behind it. */
enum { TICKS_A_SECOND = 4, BAR = 24, TEXT = 44 };

static volatile sig_atomic_t ticks, done, total, drawn, cells, in_bytes;

static char *put_text(char *at, const char *text)
{
    while (*text) *at++ = *text++;
    return at;
}

static char *put_number(char *at, int x)
{
    char digits[12];
    int n = 0;
    do digits[n++] = (char)('0' + x % 10);
    while ((x /= 10) > 0);
    while (n > 0) *at++ = digits[--n];
    return at;
}

/* "800 MB", "3.2 GB", "105 GB" */
static char *put_megabytes(char *at, int megabytes)
{
    if (megabytes < 1000) return put_text(put_number(at, megabytes), " MB");
    at = put_number(at, megabytes / 1000);
    if (megabytes < 100000) at = put_number(put_text(at, "."), megabytes / 100 % 10);
    return put_text(at, " GB");
}

static char *put_amount(char *at, int n) { return in_bytes ? put_megabytes(at, n) : put_number(at, n); }

/* "[######......]  25%  3 of 12 steps  16 s left", or sizes in place of steps */
static void draw(int signal_number)
{
    char line[160], *at = line;
    (void)signal_number;
    ticks++;
    if (ticks < TICKS_A_SECOND) return;
    const int seconds = (int)ticks / TICKS_A_SECOND, part = done < total ? done : total;
    const int percent = total > 0 ? (int)((int64_t)100 * part / total) : 0;
    at = put_text(at, "\r\033[K[");
    for (int i = 0; i < cells; i++) *at++ = total > 0 && i < (int64_t)cells * part / total ? '#' : '.';
    at = put_text(at, percent < 10 ? "]   " : percent < 100 ? "]  " : "] ");
    at = put_text(put_number(at, percent), "%  ");
    at = put_amount(at, part);
    at = put_text(at, " of ");
    at = put_amount(at, total);
    at = put_text(at, in_bytes ? "  " : " steps  ");
    if (part > 0 && part < total) at = put_number(at, (int)((int64_t)seconds * (total - part) / part));
    else                          at = put_number(at, seconds);
    at = put_text(at, part > 0 && part < total ? " s left" : " s");
    drawn = 1;
    const ssize_t written = write(STDERR_FILENO, line, (size_t)(at - line));
    (void)written;
}

static void set_clock(bool on)
{
    const suseconds_t each = on ? 1000000 / TICKS_A_SECOND : 0;
    const struct itimerval every = { { 0, each }, { 0, each } };
    (void)setitimer(ITIMER_REAL, &every, NULL);
}

static void begin(int steps, bool of_bytes)
{
    struct sigaction action;
    const int room = terminal_width() - TEXT;
    ticks = done = drawn = 0;
    total = steps;
    in_bytes = of_bytes;
    cells = room > BAR ? BAR : room < 4 ? 4 : room;
    if (!shows_progress()) return;
    memset(&action, 0, sizeof action);
    action.sa_handler = draw;
    action.sa_flags = SA_RESTART;
    if (sigaction(SIGALRM, &action, NULL) == 0) set_clock(true);
}

void ticker_begin(int steps) { begin(steps, false); }
void ticker_step(void) { done++; }

static int megabytes(double bytes) { return bytes < 2e15 ? (int)(bytes / 1e6) : 2000000000; }

void ticker_begin_bytes(double bytes) { begin(megabytes(bytes), true); }
void ticker_reach(double bytes) { done = megabytes(bytes); }

void ticker_end(void)
{
    set_clock(false);
    if (drawn) {
        const ssize_t written = write(STDERR_FILENO, "\r\033[K", 4);
        (void)written;
    }
    drawn = 0;
}
