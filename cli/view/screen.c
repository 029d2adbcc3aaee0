/* screen.c - termios, escape sequences that every terminal since the VT100 and xterm knows, and signals. */
#if !defined(_WIN32)
#define _DEFAULT_SOURCE
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <termios.h>
#include <unistd.h>
#endif

#include "screen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "../disk.h"
#include "../terminal.h"

#if !defined(_WIN32)

enum { FRAME = 1 << 20 };  /* bytes of the largest frame that goes out in one piece */

static struct termios before, raw;
static int keyboard = -1;
static sigset_t while_waiting;
static volatile sig_atomic_t is_open, must_redraw;
static int put_back = -1;   /* a byte that was read too far */
static char frame[FRAME];

/* Coming and going --------------------------------------------------------------------- */

/* Signal handlers may call these. */
static void put(const char *text)
{
    const ssize_t written = write(STDOUT_FILENO, text, strlen(text));
    (void)written;
}

/* Switches to the alternate screen, hides the cursor, and ends the wrapping of lines. */
static void enter(void)
{
    (void)tcsetattr(keyboard, TCSANOW, &raw);
    put("\033[?1049h\033[?25l\033[?7l\033[2J");
    is_open = 1;
}

static void leave(void)
{
    if (!is_open) return;
    is_open = 0;
    put("\033[0m\033[?7h\033[?25h\033[?1049l");
    (void)tcsetattr(keyboard, TCSANOW, &before);
}

static void on_resize(int number)
{
    (void)number;
    must_redraw = 1;
}

static void catch(int number, void (*handler)(int))
{
    struct sigaction action = { .sa_handler = handler };
    sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

/* Also after SIGSTOP, which nobody sees coming. */
static void on_continue(int number)
{
    const int error = errno;
    (void)number;
    enter();
    must_redraw = 1;
    errno = error;
}

/* Ctrl-Z: stops as if there were no handler, and goes on where it was. */
static void on_stop(int number)
{
    const int error = errno;
    sigset_t this_one;
    leave();
    catch(number, SIG_DFL);
    sigemptyset(&this_one);
    sigaddset(&this_one, number);
    (void)raise(number);
    (void)sigprocmask(SIG_UNBLOCK, &this_one, NULL); /* it stops here */
    (void)sigprocmask(SIG_BLOCK, &this_one, NULL);
    catch(number, on_stop);
    on_continue(SIGCONT);
    errno = error;
}

static void make_raw(void)
{
    raw = before;
    raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO | IEXTEN); /* ISIG stays: Ctrl-C and Ctrl-Z are signals */
    raw.c_iflag &= (tcflag_t) ~(IXON | ICRNL);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
}

bool screen_open(const char *command_name)
{
    const char *term = getenv("TERM");
    if (!is_terminal(stdout) || (term && !strcmp(term, "dumb"))) {
        complain(command_name, "needs a terminal to draw on; 'tsr show' and 'tsr info' print");
        return false;
    }
    keyboard = isatty(STDIN_FILENO) ? STDIN_FILENO : open("/dev/tty", O_RDONLY | O_CLOEXEC);
    if (keyboard < 0 || tcgetattr(keyboard, &before) != 0) {
        complain(command_name, "there is no keyboard: %s", strerror(errno));
        return false;
    }
    sigset_t resize;
    sigemptyset(&resize);
    sigaddset(&resize, SIGWINCH); /* arrives while a key is waited for, and never else */
    (void)sigprocmask(SIG_BLOCK, &resize, &while_waiting);
    sigdelset(&while_waiting, SIGWINCH);
    fflush(stdout);
    (void)setvbuf(stdout, frame, _IOFBF, sizeof frame);
    make_raw();
    before_a_signal_ends(leave);
    catch(SIGWINCH, on_resize);
    catch(SIGTSTP, on_stop);
    catch(SIGCONT, on_continue);
    enter();
    return true;
}

void screen_close(void)
{
    fflush(stdout);
    leave();
    before_a_signal_ends(NULL);
    catch(SIGTSTP, SIG_DFL);
    catch(SIGCONT, SIG_DFL);
    if (keyboard > STDIN_FILENO) close(keyboard);
    keyboard = -1;
}

/* Drawing -------------------------------------------------------------------------------- */

void screen_size(int *columns, int *rows)
{
    struct winsize size;
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
    *columns = known ? size.ws_col : 80;
    *rows = known ? size.ws_row : 24;
}

void screen_begin(void)
{
    fputs("\033[H\033[K", stdout); /* lines are cleared first: behind a full one, the last cell would be */
}

void screen_line(void) { fputs("\033[0m\r\n\033[K", stdout); }

void screen_end(void)
{
    fputs("\033[0m", stdout);
    fflush(stdout);
}

/* Keys ------------------------------------------------------------------------------------- */

/* Waits for a byte, for at most so many milliseconds unless that is negative. -1: none came; -2: a signal
 * did, or the window changed; -3: there is no keyboard any more. */
static int next_byte(int milliseconds)
{
    const struct timespec limit = { milliseconds / 1000, milliseconds % 1000 * 1000000L };
    unsigned char byte;
    fd_set keys;
    if (must_redraw) return -2;
    FD_ZERO(&keys);
    FD_SET(keyboard, &keys);
    const int ready =
        pselect(keyboard + 1, &keys, NULL, NULL, milliseconds < 0 ? NULL : &limit, &while_waiting);
    if (ready < 0) return errno == EINTR ? -2 : -3;
    if (ready == 0) return -1;
    const ssize_t n = read(keyboard, &byte, 1);
    if (n < 0 && errno == EINTR) return -2;
    return n == 1 ? byte : -3;
}

/* What follows ESC [ or ESC O: digits, and a letter or '~'. */
static int read_sequence(void)
{
    static const struct { int letter, key; } letters[] = {
        { 'A', KEY_UP },   { 'B', KEY_DOWN }, { 'C', KEY_RIGHT }, { 'D', KEY_LEFT },
        { 'H', KEY_HOME }, { 'F', KEY_END },  { 'Z', KEY_TAB },
    };
    int number = 0, byte = next_byte(50);
    for (; (byte >= '0' && byte <= '9') || byte == ';'; byte = next_byte(50))
        number = byte == ';' ? 0 : (10 * number + byte - '0') % 1000;
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (byte == letters[i].letter) return letters[i].key;
    if (byte != '~') return KEY_REDRAW; /* a key that means nothing here */
    if (number == 1 || number == 7) return KEY_HOME;
    if (number == 4 || number == 8) return KEY_END;
    return number == 5 ? KEY_PAGE_UP : number == 6 ? KEY_PAGE_DOWN : KEY_REDRAW;
}

int screen_key(void)
{
    const int byte = put_back >= 0 ? put_back : next_byte(-1);
    put_back = -1;
    if (byte == -2) {
        must_redraw = 0;
        return KEY_REDRAW;
    }
    if (byte < 0) return KEY_CLOSED;
    if (byte == '\r' || byte == '\n') return KEY_ENTER;
    if (byte == '\t') return KEY_TAB;
    if (byte == 0x7f || byte == '\b') return KEY_BACKSPACE;
    if (byte == 4) return KEY_CLOSED; /* Ctrl-D */
    if (byte == 12) return KEY_REDRAW;
    if (byte != 0x1b) return byte;
    const int next = next_byte(50);
    if (next == '[' || next == 'O') return read_sequence();
    put_back = next;
    return KEY_ESCAPE;
}

#else

bool screen_open(const char *command_name)
{
    complain(command_name, "there are no such terminals on this system; 'tsr show' prints");
    return false;
}
void screen_close(void) { }
void screen_size(int *columns, int *rows) { *columns = 80, *rows = 24; }
void screen_begin(void) { }
void screen_line(void) { }
void screen_end(void) { }
int  screen_key(void) { return KEY_CLOSED; }

#endif
