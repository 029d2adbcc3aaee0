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

enum { TICKS_A_SECOND = 4, BAR = 24 };

static volatile sig_atomic_t ticks, done, total, drawn;
static const char *volatile unit = "steps";

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

/* "######......  3/7 steps, 12 s, about 16 s left", or MB in place of steps */
static void draw(int signal_number)
{
    char line[160], *at = line;
    (void)signal_number;
    ticks++;
    if (ticks < TICKS_A_SECOND) return;
    const int seconds = (int)ticks / TICKS_A_SECOND;
    const int filled = total > 0 ? (int)((int64_t)BAR * done / total) : 0;
    at = put_text(at, "\r\033[K");
    for (int i = 0; i < BAR; i++) *at++ = i < filled ? '#' : '.';
    at = put_text(at, "  ");
    at = put_number(at, (int)done);
    at = put_text(at, "/");
    at = put_number(at, (int)total);
    at = put_text(at, " ");
    at = put_text(at, unit);
    at = put_text(at, ", ");
    at = put_number(at, seconds);
    at = put_text(at, " s");
    if (done > 0 && done < total) {
        at = put_text(at, ", about ");
        at = put_number(at, (int)((int64_t)seconds * (total - done) / done));
        at = put_text(at, " s left");
    }
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

static void begin(int steps, const char *what)
{
    struct sigaction action;
    ticks = done = drawn = 0;
    total = steps;
    unit = what;
    if (!is_terminal(stderr)) return;
    memset(&action, 0, sizeof action);
    action.sa_handler = draw;
    action.sa_flags = SA_RESTART;
    if (sigaction(SIGALRM, &action, NULL) == 0) set_clock(true);
}

void ticker_begin(int steps) { begin(steps, "steps"); }
void ticker_step(void) { done++; }

static int megabytes(double bytes) { return bytes < 2e15 ? (int)(bytes / 1e6) : 2000000000; }

void ticker_begin_bytes(double bytes) { begin(megabytes(bytes), "MB"); }
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
