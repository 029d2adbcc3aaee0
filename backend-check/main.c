/* main.c - tsr-backend-check: does a backend do what the library asks of one?
 *
 *   tsr-backend-check NAME[:INDEX] [options]
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "report.h"

static const char usage[] =
    "usage: tsr-backend-check NAME[:INDEX] [options]\n"
    "\n"
    "Checks the backend NAME on one of its devices: the contract of backend.h, transfers, streams, memory\n"
    "and threads; then every op with every dtype and strides of every kind, against references.\n"
    "\n"
    "  --filter TEXT   only checks whose family or name contains TEXT (\"add f32\", \"nn\", \"streams\")\n"
    "  --seed N        other random operands (1)\n"
    "  --cases N       trials of each check (4)\n"
    "  --plugin PATH   load this file first, instead of looking for libtessera-NAME.so\n"
    "  --plumbing      run everything, compare no values (for a device that computes nothing)\n"
    "  --quiet         only what fails, and the table\n"
    "  --list          names of the checks, and no more\n"
    "  --json          one JSON object a line\n"
    "\n"
    "Plugins are looked for in TSR_BACKEND_PATH, or, if that is not set, in the library's folder\n"
    "beside this program's. Exit status: 0 all passed, 1 something failed, 2 there is no such device.\n";

typedef struct options {
    const char *device, *filter, *plugin;
    session session;
    bool list, json, quiet;
} options;

static int complain(const char *what, const char *about)
{
    fprintf(stderr, "tsr-backend-check: %s%s%s\n", what, about ? ": " : "", about ? about : "");
    return 2;
}

static bool read_number(int64_t *out, const char *text, int64_t least)
{
    char *end = NULL;
    errno = 0;
    const long long n = text ? strtoll(text, &end, 10) : 0;
    if (!text || errno || end == text || *end || n < least) return false;
    *out = n;
    return true;
}

/* An option with a value, at argv[*i]; NULL if it is another, or the value is missing. */
static const char *value_of(const char *name, int argc, char **argv, int *i)
{
    return !strcmp(argv[*i], name) && *i + 1 < argc ? argv[++*i] : NULL;
}

static bool read_flag(options *o, const char *text)
{
    if (!strcmp(text, "--list"))
        o->list = true;
    else if (!strcmp(text, "--json"))
        o->json = true;
    else if (!strcmp(text, "--quiet"))
        o->quiet = true;
    else if (!strcmp(text, "--plumbing"))
        o->session.plumbing = true;
    else if (text[0] != '-' && !o->device)
        o->device = text;
    else
        return false;
    return true;
}

static bool read_options(options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *text;
        int64_t n;
        if ((text = value_of("--filter", argc, argv, &i)) != NULL)
            o->filter = text;
        else if ((text = value_of("--plugin", argc, argv, &i)) != NULL)
            o->plugin = text;
        else if ((text = value_of("--seed", argc, argv, &i)) != NULL) {
            if (!read_number(&n, text, 0)) return false;
            o->session.seed = (uint64_t)n;
        } else if ((text = value_of("--cases", argc, argv, &i)) != NULL) {
            if (!read_number(&n, text, 1) || n > 1000000) return false;
            o->session.cases = (int)n;
        } else if (!read_flag(o, argv[i])) {
            return false;
        }
    }
    return o->device || o->list;
}

/* The device ----------------------------------------------------------------------------- */

/* The library's folder, seen from this program's; not where the environment says something else. */
static void look_beside_program(void)
{
    char path[1024], folders[2200];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (getenv("TSR_BACKEND_PATH") || n <= 0) return;
    path[n] = '\0';
    char *slash = strrchr(path, '/');
    if (slash) *slash = '\0';
    snprintf(folders, sizeof folders, "%s/../lib/tessera:%s/%s/tessera", path, path, CHECK_LIB_FROM_BIN);
    (void)setenv("TSR_BACKEND_PATH", folders, 0);
}

/* Another device of the same backend, and one of another backend. */
static void find_others(session *s)
{
    s->sibling = s->stranger = TSR_NO_DEVICE;
    char own[64], name[64];
    const size_t n = tsr_device_name(own, sizeof own, s->device);
    const size_t prefix = (size_t)(strchr(own, ':') - own) + 1;
    (void)n;
    (void)tsr_device_named("sim:0");
    for (int i = 0; i < tsr_device_count(); i++) {
        const tsr_device d = tsr_device_at(i);
        (void)tsr_device_name(name, sizeof name, d);
        if (d == TSR_CPU || d == s->device || !strncmp(name, "null:", 5)) continue;
        if (!strncmp(own, name, prefix)) {
            if (s->sibling == TSR_NO_DEVICE) s->sibling = d;
        } else if (s->stranger == TSR_NO_DEVICE) {
            s->stranger = d;
        }
    }
}

static bool open_device(options *o)
{
    session *s = &o->session;
    look_beside_program();
    if (o->plugin && tsr_backend_load(o->plugin) != TSR_OK) return false;
    if (tsr_device_parse(&s->device, o->device) != TSR_OK) return false;
    if (tsr_device_get_info(&s->info, s->device) != TSR_OK) return false;
    find_others(s);
    return find_backend(s);
}

/* Running ----------------------------------------------------------------------------------- */

/* First what everything else stands on. Tensors of the second list are on the device. */
typedef struct lists {
    check_list own, ops;
} lists;

static bool list_all(lists *l)
{
    add_contract_checks(&l->own);
    add_transfer_checks(&l->own);
    add_stream_checks(&l->own);
    add_memory_checks(&l->own);
    add_thread_checks(&l->own);
    add_op_checks(&l->ops);
    return !l->own.full && !l->ops.full;
}

static bool is_wanted(const options *o, const check *c)
{
    return !o->filter || strstr(c->name, o->filter) || strstr(c->family, o->filter);
}

static void print_list(const options *o, const check_list *list)
{
    for (int i = 0; i < list->count; i++)
        if (is_wanted(o, &list->item[i])) printf("%-12s %s\n", list->item[i].family, list->item[i].name);
}

static int count_wanted(const options *o, const check_list *list)
{
    int wanted = 0;
    for (int i = 0; i < list->count; i++) wanted += is_wanted(o, &list->item[i]);
    return wanted;
}

static void run_list(report *r, const options *o, const check_list *list, tsr_device device)
{
    for (int i = 0; i < list->count; i++) {
        if (!is_wanted(o, &list->item[i])) continue;
        report_progress(r, list->item[i].name);
        outcome out;
        run_check(&out, &o->session, &list->item[i], device);
        report_check(r, &list->item[i], &out);
    }
}

static int run_all(const options *o, const lists *l)
{
    report r;
    report_begin(&r, &o->session, o->json, o->quiet);
    r.total = count_wanted(o, &l->own) + count_wanted(o, &l->ops);
    run_list(&r, o, &l->own, TSR_CPU);
    run_list(&r, o, &l->ops, o->session.device);
    return report_end(&r);
}

int main(int argc, char **argv)
{
    options o = { .session = { .seed = 1, .cases = 4, .device = TSR_NO_DEVICE } };
    lists all = { { 0 }, { 0 } };
    if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) return fputs(usage, stdout) < 0;
    if (!read_options(&o, argc, argv)) {
        fputs(usage, stderr);
        return 2;
    }
    int status = 0;
    if (!list_all(&all))
        status = complain("no memory for the list of checks", NULL);
    else if (o.list) {
        print_list(&o, &all.own);
        print_list(&o, &all.ops);
    } else if (!open_device(&o))
        status = complain("cannot check this", tsr_last_error());
    else
        status = run_all(&o, &all);
    free(all.own.item);
    free(all.ops.item);
    return status;
}
