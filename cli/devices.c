/* devices.c - tsr devices: where tensors can live and ops can run. */
#include <stdio.h>
#include <string.h>

#include "tessera/tessera.h"

#include "command.h"
#include "json.h"
#include "terminal.h"

static const char name_of_command[] = "devices";

enum { BACKENDS = 16, DEVICES_OF_EACH = 256 };

/* Every device there is, in the order of its number. */
static tsr_device next_device(tsr_device after)
{
    for (tsr_device d = after + 1; d < BACKENDS * DEVICES_OF_EACH; d++)
        if (tsr_device_exists(d)) return d;
    return -1;
}

static void print_json(void)
{
    json j = { 0 };
    json_open(&j, NULL, '{');
    json_open(&j, "devices", '[');
    for (tsr_device d = next_device(-1); d >= 0; d = next_device(d)) {
        char text[64];
        tsr_device_name(text, sizeof text, d);
        json_open(&j, NULL, '{');
        json_string(&j, "name", text);
        json_bool(&j, "host", d == TSR_CPU);
        if (d == TSR_CPU) {
            json_string(&j, "kernels", tsr_cpu_isa());
            json_integer(&j, "threads", tsr_threads());
        }
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
}

static void print_table(void)
{
    printf("%-12s %-10s %s\n", "device", "memory", "what");
    for (tsr_device d = next_device(-1); d >= 0; d = next_device(d)) {
        char text[64];
        tsr_device_name(text, sizeof text, d);
        if (d == TSR_CPU) printf("%-12s %-10s %s kernels, %d threads\n", text, "host", tsr_cpu_isa(), tsr_threads());
        else printf("%-12s %-10s\n", text, "its own");
    }
}

static int run(int argc, char **argv)
{
    bool as_json = false;
    const option options[] = { { "--json", NULL, &as_json, NULL }, { NULL, NULL, NULL, NULL } };
    const int n = read_options(name_of_command, options, argc, argv);
    if (n < 0) return EXIT_USAGE;
    if (n > 0) return complain_usage(name_of_command, "takes no argument, but got '%s'", argv[1]);
    if (as_json) print_json();
    else print_table();
    return EXIT_YES;
}

const command devices_command = {
    .name = name_of_command,
    .run = run,
    .summary = "list the devices that tensors can live on",
    .help =
        "tsr devices - list the devices that tensors can live on\n"
        "\n"
        "usage: tsr devices [--json]\n"
        "\n"
        "The CPU is always there; its line says which kernels this machine uses (the\n"
        "environment variable TSR_ISA lowers them) and on how many threads\n"
        "(TSR_THREADS).\n"
        "\n"
        "options:\n"
        "  --json   one JSON object\n",
};
