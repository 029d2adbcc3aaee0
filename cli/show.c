/* show.c - tsr show: the elements of tensors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "json_tensor.h"
#include "listing.h"
#include "room.h"
#include "terminal.h"
#include "text.h"

static const char name_of_command[] = "show";

typedef struct request {
    bool           json, full, several;
    const char    *precision, *edge;
    tsr_print_opts print;
    listing        list;
    reading        how;
} request;

static bool read_request(request *r)
{
    uint64_t n = 0;
    r->print.line_width = terminal_width() - 1;
    r->print.threshold = r->full ? INT64_MAX : 1000;
    if (r->precision) {
        if (!read_count(&n, name_of_command, "--precision", r->precision)) return false;
        r->print.precision = n == 0 ? -1 : n > 20 ? 20 : (int)n;
    }
    if (r->edge) {
        if (!read_count(&n, name_of_command, "--edge", r->edge)) return false;
        r->print.edge_items = n > 1000000 ? 1000000 : (int64_t)n;
    }
    if (!listing_check(&r->list, name_of_command, "file name size dtype shape")) return false;
    return reading_check(&r->how, name_of_command);
}

/* Returns an exit code. */
static int show_item(source *s, int64_t index, const request *r, json *j, bool *first)
{
    tsr_tensor *t = NULL;
    tsr_print_opts print = r->print;
    const item *it = &s->items[index];
    int code = EXIT_YES;
    if (!source_read(&t, s, index)) return EXIT_INPUT;
    if (r->json) {
        json_open(j, NULL, '{');
        json_string(j, "file", s->file[it->file].path);
        json_string(j, "name", it->name);
        json_tensor_members(j, t);
        json_close(j, '}');
    } else {
        print.name = it->name[0] ? it->name : NULL;
        if (!*first) putchar('\n');
        *first = false;
        if (tsr_print(t, &print) != TSR_OK) code = EXIT_NO; /* main tells of output that cannot be written */
    }
    tsr_release(&t);
    return code;
}

static int show(const char *text, const request *r, json *j, bool *first, int64_t *found)
{
    source s;
    int code = source_open(&s, name_of_command, text, &r->how);
    if (code == EXIT_YES) listing_apply(&r->list, &s, "file");
    if (s.damaged) code = EXIT_INPUT;
    if (code == EXIT_YES && s.has_part && s.count > 1 && !s.wanted) {
        source_close(&s);
        return complain_usage(name_of_command,
                              "%s has several tensors; a part is of one of them: FILE:NAME[...]", text);
    }
    if (r->several && !r->json && s.count) {
        print_heading(text, *first);
        *first = true;
    }
    const bool opened = code == EXIT_YES || s.damaged;
    for (int64_t i = 0; i < s.count && opened; i++) {
        const int one = show_item(&s, i, r, j, first);
        if (one > code) code = one;
    }
    *found += s.count;
    source_close(&s);
    return code;
}

static int run_show(int argc, char **argv)
{
    request r = { 0 };
    json j = { 0 };
    int code = EXIT_YES;
    bool first = true;
    int64_t found = 0;
    const option options[] = {
        { "--json",      NULL, &r.json, NULL },
        { "--full",      NULL, &r.full, NULL },
        { "--precision", "N",  NULL,    &r.precision },
        { "--edge",      "N",  NULL,    &r.edge },
        LISTING_OPTIONS(r.list),
        READING_OPTIONS(r.how),
        { NULL, NULL, NULL, NULL },
    };
    const bool selects = listing_read(&r.list, name_of_command, argc, argv);
    const int count = selects ? read_options(name_of_command, options, argc, argv) : -1;
    if (count < 0 || !read_request(&r)) return EXIT_USAGE;
    if (count == 0)
        return complain_usage(name_of_command, "which tensor? FILE, FILE:NAME or FILE:NAME[SLICE]");
    r.several = count > 1;
    if (r.json) json_open(&j, NULL, '[');
    for (int i = 1; i <= count; i++) {
        const int one = show(argv[i], &r, &j, &first, &found);
        if (one > code) code = one;
    }
    if (r.json) json_close(&j, ']');
    return code == EXIT_YES && !found ? listing_found_none(&r.list, name_of_command) : code;
}

const command show_command = {
    .name = name_of_command,
    .run = run_show,
    .summary = "print a tensor, or a part of it",
    .help = "usage: tsr show FILE[:NAME][SLICE]... [--full] [--precision N] [--edge N]\n"
            "                [--select PATTERN] [--sort ORDER] [--json]\n"
            "\n"
            "Prints tensors as NumPy does, the middles of large ones left out. A slice is\n"
            "written as in NumPy: indices, ranges with a step of any sign, '...' and None.\n"
            "Only what is shown is read.\n"
            "\n"
            "  --full            every element\n"
            "  --precision N     digits after the point, at most; 8 by default\n"
            "  --edge N          elements at each end of what is shortened; 3 by default\n"
            "  --json            one JSON document, with every element\n"
            LISTING_HELP
            "  --sort ORDER      file (as they lie there), name, size, dtype or shape\n"
            READING_HELP
            "\n"
            "A name that has '[' of its own is looked for as it stands first; in quotes it\n"
            "is never taken for a slice: FILE:'\"w[0]\"[1, :]'. The file ends at the last ':'\n"
            "before which there is a file of that name, so a ':' in names does no harm.\n"
            "\n"
            "examples:\n"
            "  tsr show x.npy\n"
            "  tsr show 'x.npy[0, ::2, ..., -1]'\n"
            "  tsr show 'model.safetensors:layers.0.weight[:4, :4]' --precision 3\n"
            "  cat x.npy | tsr show '-[::-1]'\n"
            "\n"
            "exit status: 0, or 3 if the tensor cannot be read, 2 for a command line that\n"
            "cannot be understood\n",
};
