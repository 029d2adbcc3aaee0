/* main.c - the tsr command: a table of subcommands. */
#include <stdio.h>
#include <string.h>

#include "tessera/tessera.h"

#include "command.h"
#include "disk.h"
#include "names.h"
#include "terminal.h"

static const command *const commands[] = {
    &info_command,
    &show_command,
    &view_command,
    &stats_command,
    &diff_command,
    &convert_command,
    &plot_command,
    &eval_command,
    &bench_command,
    &devices_command,
    &ops_command,
    &selftest_command,
};

enum { COMMANDS = (int)(sizeof commands / sizeof *commands) };

static int print_help(FILE *to)
{
    fputs("tsr - look at tensors and at the library that computes with them\n"
          "\n"
          "usage: tsr COMMAND [ARGUMENTS]\n"
          "       tsr help [COMMAND]\n"
          "       tsr --version\n"
          "\n"
          "commands:\n",
          to);
    for (int i = 0; i < COMMANDS; i++) fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n"
          "exit status:\n"
          "  0  all is well\n"
          "  1  the answer is no: something was not found, differs or failed, or the\n"
          "     output could not be written\n"
          "  2  the command line cannot be understood\n"
          "  3  an input cannot be read: it is not there, or it is damaged\n"
          "\n"
          "environment:\n"
          "  COLUMNS    how wide to print; by default as wide as the terminal, or 80\n"
          "  NO_COLOR   print no colours, even on a terminal\n"
          "  COLORTERM  'truecolor': pictures in a terminal have all colours, not 256\n"
          "  TSR_THREADS, TSR_POOL, TSR_ISA, TSR_TUNING   as for every program with the library\n",
          to);
    return EXIT_YES;
}

static int print_version(void)
{
    printf("tsr %d.%d.%d, library %s, up to %d dims, %s kernels\n", TSR_VERSION_MAJOR, TSR_VERSION_MINOR,
           TSR_VERSION_PATCH, tsr_version(), tsr_build_max_ndim(), tsr_cpu_isa());
    return EXIT_YES;
}

/* NULL after a complaint. */
static const command *find_command(const char *name)
{
    char near[200];
    nearest best = { .word = name };
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i]->name, name)) return commands[i];
    for (int i = 0; i < COMMANDS; i++) nearest_add(&best, commands[i]->name);
    complain_usage(NULL, "there is no command '%s'%s", name, nearest_text(near, sizeof near, &best));
    return NULL;
}

static int print_command_help(const command *c)
{
    fputs(c->help, stdout);
    return EXIT_YES;
}

/* tsr help, tsr help COMMAND */
static int run_help(int argc, char **argv)
{
    const command *c = NULL;
    if (argc == 1) return print_help(stdout);
    if (argc > 2) return complain_usage(NULL, "help takes one command");
    c = find_command(argv[1]);
    return c ? print_command_help(c) : EXIT_USAGE;
}

static bool is_help(const char *word) { return !strcmp(word, "--help") || !strcmp(word, "-h"); }

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
        if (is_help(argv[i])) return true;
    return false;
}

/* A library of another build may have another tensor. */
static bool library_fits(void)
{
    if (tsr_build_max_ndim() == TSR_MAX_NDIM) return true;
    complain(NULL, "built for tensors of %d dims, but the library that was found has %d", TSR_MAX_NDIM,
             tsr_build_max_ndim());
    return false;
}

static int run(int argc, char **argv)
{
    const command *c = NULL;
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (is_help(argv[1])) return print_help(stdout);
    if (!strcmp(argv[1], "--version")) return print_version();
    if (!strcmp(argv[1], "help")) return run_help(argc - 1, argv + 1);
    if (argv[1][0] == '-') return complain_usage(NULL, "there is no option %s", argv[1]);
    c = find_command(argv[1]);
    if (!c) return EXIT_USAGE;
    if (asks_for_help(argc - 1, argv + 1)) return print_command_help(c);
    return library_fits() ? c->run(argc - 1, argv + 1) : EXIT_NO;
}

int main(int argc, char **argv)
{
    clean_up_on_signals();
    const int status = run(argc, argv);
    if (!output_is_whole() && status == EXIT_YES) return EXIT_NO;
    return status;
}
