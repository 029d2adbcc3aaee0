/* devices.c - tsr devices: where tensors can live and ops can run. */
#include <stdio.h>
#include <string.h>

#include "tessera/tessera.h"

#include "command.h"
#include "json.h"
#include "terminal.h"

static const char name_of_command[] = "devices";

static void print_json_device(json *j, tsr_device d)
{
    char text[64];
    tsr_device_info info;
    tsr_device_name(text, sizeof text, d);
    json_open(j, NULL, '{');
    json_string(j, "name", text);
    json_bool(j, "host", d == TSR_CPU);
    if (tsr_device_get_info(&info, d) == TSR_OK) {
        json_string(j, "what", info.name);
        json_string(j, "capabilities", info.capabilities);
        json_unsigned(j, "memory_total", info.memory_total);
        json_unsigned(j, "memory_free", info.memory_free);
        json_integer(j, "units", info.units);
    } else json_string(j, "problem", tsr_last_error());
    if (d == TSR_CPU) {
        json_string(j, "kernels", tsr_cpu_isa());
        json_integer(j, "threads", tsr_threads());
    }
    json_close(j, '}');
}

static void print_json(void)
{
    json j = { 0 };
    const int n = tsr_device_count();
    json_open(&j, NULL, '{');
    json_open(&j, "devices", '[');
    for (int i = 0; i < n; i++) print_json_device(&j, tsr_device_at(i));
    json_close(&j, ']');
    json_open(&j, "problems", '[');
    for (int i = 0; tsr_backend_problem(i); i++) json_string(&j, NULL, tsr_backend_problem(i));
    json_close(&j, ']');
    json_close(&j, '}');
}

/* "62.8 GiB", or "?" where it is not known. */
static const char *memory_text(char out[32], uint64_t bytes)
{
    if (bytes == 0) return "?";
    return bytes_text(out, (double)bytes);
}

static void print_device(tsr_device d)
{
    char text[64], total[32], free[32];
    tsr_device_info info;
    tsr_device_name(text, sizeof text, d);
    if (tsr_device_get_info(&info, d) != TSR_OK) {
        printf("%-12s %s\n", text, tsr_last_error());
        return;
    }
    printf("%-12s %-11s %-11s %s", text, memory_text(total, info.memory_total),
           memory_text(free, info.memory_free), info.name);
    if (d == TSR_CPU) printf(", %d threads", tsr_threads());
    else if (info.capabilities[0]) printf(" (%s)", info.capabilities);
    printf("\n");
}

static void print_table(void)
{
    const int n = tsr_device_count();
    printf("%-12s %-11s %-11s %s\n", "device", "memory", "free", "what");
    for (int i = 0; i < n; i++) print_device(tsr_device_at(i));
    for (int i = 0; tsr_backend_problem(i); i++)
        printf("%s%s\n", i ? "" : "\nplugins that did not load:\n", tsr_backend_problem(i));
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
        "(TSR_THREADS). Others come from plugins, libtessera-NAME.so, in the folders of\n"
        "TSR_BACKEND_PATH (absolute paths) and in tessera/ beside the library; one that\n"
        "does not load is listed with the reason.\n"
        "\n"
        "options:\n"
        "  --json   one JSON object\n",
};
