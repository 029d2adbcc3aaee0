/* terminal.c - POSIX terminals; elsewhere there is none, 80 columns wide. */
#if !defined(_WIN32)
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>
#endif

#include "terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command.h"

/* Asking the system ---------------------------------------------------------------- */

#if !defined(_WIN32)
bool is_terminal(FILE *stream) { return isatty(fileno(stream)) != 0; }

static int window_width(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static int window_height(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

static bool reader_is_gone(void)
{
    struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}
#else
bool is_terminal(FILE *stream) { (void)stream; return false; }
static int  window_width(void) { return 0; }
static int  window_height(void) { return 0; }
static bool reader_is_gone(void) { return false; }
#endif

double now(void)
{
    struct timespec t;
#if !defined(_WIN32)
    clock_gettime(CLOCK_MONOTONIC, &t);
#else
    timespec_get(&t, TIME_UTC);
#endif
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* As COLUMNS or the terminal say; else 0. */
static int given_width(void)
{
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;
    if (width <= 0) width = window_width();
    return width <= 0 ? 0 : width < 20 ? 20 : width > 1000 ? 1000 : (int)width;
}

int terminal_width(void)
{
    const int width = given_width();
    return width ? width : 80;
}

int table_width(void)
{
    const int width = given_width();
    return width ? width : 1 << 30;
}

int terminal_height(void)
{
    const int height = window_height();
    return height < 4 ? 24 : height;
}

bool writes_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (int i = 0; i < 3; i++) {
        const char *value = getenv(names[i]);
        if (!value || !*value) continue;
        return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "UTF8") ||
               strstr(value, "utf-8");
    }
    return false;
}

int colour_count(FILE *stream)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM"), *depth = getenv("COLORTERM");
    if (!is_terminal(stream) || (no && *no) || (term && !strcmp(term, "dumb"))) return 0;
    if (depth && (!strcmp(depth, "truecolor") || !strcmp(depth, "24bit"))) return 1 << 24;
    return 256;
}

colours colours_of(FILE *stream)
{
    if (!colour_count(stream))
        return (colours){ "", "", "", "", "" };
    return (colours){ "\033[1m", "\033[2m", "\033[31m", "\033[32m", "\033[0m" };
}

/* Text ------------------------------------------------------------------------------- */

void print_wrapped(const char *text, int column, int indent, int width)
{
    bool first = true;
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (!first && column + 1 + length > width) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            putchar(' ');
            column++;
        }
        printf("%.*s", length, text);
        column += length;
        text += length;
        text += strspn(text, " ");
        first = false;
    }
}

const char *bytes_text(char out[32], double bytes)
{
    static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB" };
    int unit = 0;
    for (; unit < 5 && bytes >= 999.5; unit++) bytes /= 1000;
    snprintf(out, 32, unit && bytes < 99.5 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return out;
}

/* Progress --------------------------------------------------------------------------- */

bool shows_progress(void)
{
    const char *term = getenv("TERM");
    return is_terminal(stderr) && !(term && !strcmp(term, "dumb"));
}

void progress_begin(progress *p)
{
    p->shown = shows_progress();
    p->started = p->drawn = now();
}

/* A bar, which is short where the line is: `text` columns stand behind it. */
static void draw_bar(double part, int text)
{
    enum { CELLS = 24, LEAST = 4 };
    const int room = terminal_width() - text - 9, cells = room > CELLS ? CELLS : room < LEAST ? LEAST : room;
    const int full = (int)(part * cells);
    char bar[CELLS + 1];
    for (int i = 0; i < cells; i++) bar[i] = i < full ? '#' : '.';
    bar[cells] = '\0';
    fprintf(stderr, "\r\033[K[%s] %3d%%", bar, (int)(part * 100));
}

void progress_draw(progress *p, double done, double total, int64_t count)
{
    if (!p->shown) return;
    const double t = now(), elapsed = t - p->started;
    if (t - p->drawn < 0.1 || elapsed <= 0) return;
    const double part = total > 0 && done < total ? done / total : 1;
    p->drawn = t;
    draw_bar(part, 40);
    fprintf(stderr, "  %lld  %.0f/s", (long long)count, (double)count / elapsed);
    if (part > 0) fprintf(stderr, "  %.0f s left", elapsed * (1 - part) / part);
    fflush(stderr);
}

void progress_draw_bytes(progress *p, double done, double total)
{
    char text[32], of[32], rate[32];
    if (!p->shown) return;
    const double t = now(), elapsed = t - p->started;
    if (elapsed < 1 || t - p->drawn < 0.1) return;
    const double part = total > 0 && done < total ? done / total : 1;
    p->drawn = t;
    draw_bar(part, 44);
    fprintf(stderr, "  %s of %s  %s/s", bytes_text(text, done), bytes_text(of, total),
            bytes_text(rate, done / elapsed));
    if (part > 0) fprintf(stderr, "  %.0f s left", elapsed * (1 - part) / part);
    fflush(stderr);
}

void progress_end(progress *p)
{
    if (!p->shown || p->drawn == p->started) return;
    p->drawn = p->started;
    fputs("\r\033[K", stderr);
    fflush(stderr);
}

/* The end ---------------------------------------------------------------------------- */

bool output_is_whole(void)
{
    errno = 0;
    const bool flushed = fflush(stdout) == 0;
    if (flushed && !ferror(stdout)) return true;
    if (!reader_is_gone()) {
        if (errno) complain(NULL, "cannot write the output: %s", strerror(errno));
        else       complain(NULL, "cannot write the output");
    }
    return false;
}
