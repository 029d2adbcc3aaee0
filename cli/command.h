/* command.h - what a subcommand of tsr is, and what all of them share.
 *
 * A subcommand is a file with one `const command`, declared below and listed in
 * main.c. Results go to stdout, complaints to stderr as "tsr: NAME: sentence".
 * main.c handles --help for all of them, and notices output that could not be
 * written.
 */
#ifndef TSR_CLI_COMMAND_H
#define TSR_CLI_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

/* Exit codes; `tsr --help` and the man page say the same. */
enum { EXIT_YES = 0, EXIT_NO = 1, EXIT_USAGE = 2, EXIT_INPUT = 3 };

typedef struct command {
    const char *name;
    int       (*run)(int argc, char **argv); /* argv[0] is the command's name; returns an exit code */
    const char *summary;                     /* one line of `tsr --help` */
    const char *help;                        /* `tsr help NAME` */
} command;

extern const command info_command;
extern const command show_command;
extern const command view_command;
extern const command stats_command;
extern const command diff_command;
extern const command convert_command;
extern const command plot_command;
extern const command eval_command;
extern const command bench_command;
extern const command devices_command;
extern const command ops_command;
extern const command selftest_command;

#if defined(__GNUC__)
#define CLI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define CLI_PRINTF(text, first)
#endif

enum { COMPLAINT_BYTES = 4096 };

/* "tsr: NAME: ..." and a newline on stderr. A NULL name is left out. Returns EXIT_NO. */
int complain(const char *name, const char *format, ...) CLI_PRINTF(2, 3);

/* The same, with a hint where to read on. Returns EXIT_USAGE. */
int complain_usage(const char *name, const char *format, ...) CLI_PRINTF(2, 3);

/* From now on complaints are written to text, without the command's name, and not printed; NULL: printed. */
void keep_complaints(char text[COMPLAINT_BYTES]);

/* Replaces each control character of a text, also those above U+0080, by '?'. Names in files are not trusted:
 * control characters would be commands for the terminal. */
void make_printable(char *text);

/* Options ------------------------------------------------------------------------ */

/* "--name", or "--name VALUE" and "--name=VALUE" where `value` says what it takes. */
typedef struct option {
    const char  *name;
    const char  *value; /* NULL for a switch */
    bool        *given; /* set to true; may be NULL */
    const char **text;  /* set to the value; NULL for a switch */
} option;

/* Reads the options out of argv[1 ..] and moves the other words to argv[1 ..], in order;
 * after "--" every word is one of these. Returns how many there are, or -1 after a
 * complaint. The list ends with a zeroed option. */
int read_options(const char *name, const option *options, int argc, char **argv);

/* The values of an option that may be given several times, in order: all of them, before
 * read_options is called. Returns how many; no more than `most` are written. */
int option_values(const char **values, int most, const char *name, int argc, char **argv);

/* The value of an option as a number. False after a complaint. */
bool read_count(uint64_t *out, const char *name, const char *label, const char *text);
bool read_number(double *out, const char *name, const char *label, const char *text);
bool read_seconds(double *out, const char *name, const char *label, const char *text);

#endif
