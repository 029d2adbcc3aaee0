/* ops.c - tsr ops: every op, what it takes and what it gives.
 *
 * Everything printed here comes from the library that was linked: the rows of
 * op.def, and their signatures as the library reads them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json.h"
#include "names.h"
#include "opcheck/op_facts.h"
#include "terminal.h"

static const char name_of_command[] = "ops";

/* What the command line asks for. */
typedef struct request {
    bool        json, markdown, only_names, only_families;
    const char *family;
    int         count;  /* of names; 0: every op */
    char      **names;
} request;

/* Choosing ---------------------------------------------------------------------------- */

/* NULL behind the last one. The library that is found may have more ops than the headers
 * that this was built with, so TSR_OP_COUNT is not asked. */
static const tsr_op_info *op_at(int kind) { return tsr_op_get_info((tsr_op_kind)kind); }

static bool is_named(const request *r, const char *name)
{
    for (int i = 0; i < r->count; i++)
        if (!strcmp(r->names[i], name)) return true;
    return r->count == 0;
}

static bool is_chosen(const request *r, const tsr_op_info *op)
{
    return is_named(r, op->name) && (!r->family || !strcmp(r->family, op->family));
}

/* The first op from `kind` on that is chosen, 0 if there is none. */
static int next_chosen(const request *r, int kind)
{
    for (; op_at(kind); kind++)
        if (is_chosen(r, op_at(kind))) return kind;
    return 0;
}

static bool check_names(const request *r)
{
    bool found = true;
    for (int i = 0; i < r->count; i++) {
        char near[200];
        nearest best = { .word = r->names[i] };
        if (tsr_op_find(r->names[i]) != TSR_OP_NONE) continue;
        for (int kind = 1; op_at(kind); kind++) nearest_add(&best, op_at(kind)->name);
        complain(name_of_command, "no op is called '%s'%s", r->names[i],
                 nearest_text(near, sizeof near, &best));
        found = false;
    }
    return found;
}

static bool check_family(const request *r)
{
    const char *families[FAMILIES_MOST];
    const int count = list_families(families);
    char near[200];
    nearest best = { .word = r->family };
    if (!r->family) return true;
    for (int i = 0; i < count; i++) {
        if (!strcmp(families[i], r->family)) return true;
        nearest_add(&best, families[i]);
    }
    complain(name_of_command, "no family is called '%s'%s", r->family,
             nearest_text(near, sizeof near, &best));
    return false;
}

/* One a line, for scripts -------------------------------------------------------------- */

static void print_names(const request *r)
{
    for (int kind = next_chosen(r, 1); kind; kind = next_chosen(r, kind + 1)) puts(op_at(kind)->name);
}

static void print_families(void)
{
    const char *families[FAMILIES_MOST];
    const int count = list_families(families);
    for (int i = 0; i < count; i++) puts(families[i]);
}

/* A table, by family ------------------------------------------------------------------- */

static int longest_name(const request *r)
{
    size_t longest = 0;
    for (int kind = next_chosen(r, 1); kind; kind = next_chosen(r, kind + 1))
        if (strlen(op_at(kind)->name) > longest) longest = strlen(op_at(kind)->name);
    return (int)longest;
}

/* What the first operand, or the only result, can be. */
static const char *main_dtypes(char out[64], tsr_op_kind kind)
{
    op_facts f;
    out[0] = '\0';
    if (op_facts_get(&f, kind)) dtype_kinds_text(out, 64, f.dtypes[0]);
    return out;
}

static int count_family(const request *r, const char *family)
{
    int count = 0;
    for (int kind = next_chosen(r, 1); kind; kind = next_chosen(r, kind + 1))
        if (!strcmp(op_at(kind)->family, family)) count++;
    return count;
}

static void print_table(const request *r)
{
    const char *families[FAMILIES_MOST];
    const int nfamilies = list_families(families), width = terminal_width(), names = longest_name(r);
    const int kinds = width < 64 ? 0 : 18, indent = 2 + names + 2 + kinds;
    const colours c = colours_of(stdout);
    bool first = true;
    for (int i = 0; i < nfamilies; i++) {
        const int count = count_family(r, families[i]);
        if (count == 0) continue;
        printf("%s%s%s%s (%d)\n", first ? "" : "\n", c.bold, families[i], c.off, count);
        first = false;
        for (int kind = next_chosen(r, 1); kind; kind = next_chosen(r, kind + 1)) {
            char dtypes[64];
            if (strcmp(op_at(kind)->family, families[i])) continue;
            printf("  %-*s  ", names, op_at(kind)->name);
            if (kinds) printf("%s%-*s%s", c.dim, kinds, main_dtypes(dtypes, (tsr_op_kind)kind), c.off);
            print_wrapped(op_at(kind)->doc, indent, indent, width);
            putchar('\n');
        }
    }
}

/* One op in full ----------------------------------------------------------------------- */

enum { LABEL = 13 };

static void print_label(const char *label)
{
    printf("  %-*s", LABEL - 2, label);
}

static void print_operand(const op_facts *f, int i, int width)
{
    const tsr_match_operand *operand = &f->signature.operand[i];
    char text[200];
    print_label(operand->is_result ? "gives" : "takes");
    const int column = LABEL + printf("%s: ", operand->name);
    if (f->group[i] != i) {
        printf("as %s", f->signature.operand[f->group[i]].name);
    } else {
        dtypes_text(text, sizeof text, f->dtypes[i]);
        print_wrapped(text, column, LABEL, width);
    }
    putchar('\n');
}

static void print_in_full(tsr_op_kind kind)
{
    op_facts f;
    const int width = terminal_width();
    const colours c = colours_of(stdout);
    if (!op_facts_get(&f, kind)) return;
    printf("%s%s%s  %s%s%s\n  ", c.bold, f.info->name, c.off, c.dim, f.info->family, c.off);
    print_wrapped(f.info->doc, 2, 2, width);
    putchar('\n');
    print_label("signature");
    print_wrapped(f.info->signature, LABEL, LABEL, width);
    putchar('\n');
    for (int i = 0; i < f.signature.noperands; i++) print_operand(&f, i, width);
    print_label("params");
    puts(f.info->params);
    print_label("flops");
    printf("%.15g for an element of the result\n", f.info->flops);
}

static void print_each_in_full(const request *r)
{
    bool first = true;
    for (int i = 0; i < r->count; i++) {
        const tsr_op_kind kind = tsr_op_find(r->names[i]);
        if (!is_chosen(r, tsr_op_get_info(kind))) continue;
        if (!first) putchar('\n');
        print_in_full(kind);
        first = false;
    }
}

/* JSON --------------------------------------------------------------------------------- */

static void json_operand(json *j, const op_facts *f, int i)
{
    const tsr_match_operand *operand = &f->signature.operand[i];
    json_open(j, NULL, '{');
    json_string(j, "name", operand->name);
    json_string(j, "dtype_of", f->group[i] == i ? NULL : f->signature.operand[f->group[i]].name);
    json_open(j, "dtypes", '[');
    for (int d = 1; d < TSR_DTYPE_COUNT; d++)
        if (f->dtypes[i] >> d & 1) json_string(j, NULL, tsr_dtype_name((tsr_dtype)d));
    json_close(j, ']');
    json_close(j, '}');
}

static void json_operands(json *j, const op_facts *f, const char *key, bool results)
{
    json_open(j, key, '[');
    for (int i = 0; i < f->signature.noperands; i++)
        if (f->signature.operand[i].is_result == results) json_operand(j, f, i);
    json_close(j, ']');
}

static void json_op(json *j, tsr_op_kind kind)
{
    op_facts f;
    if (!op_facts_get(&f, kind)) return;
    json_open(j, NULL, '{');
    json_string(j, "name", f.info->name);
    json_string(j, "family", f.info->family);
    json_string(j, "doc", f.info->doc);
    json_string(j, "signature", f.info->signature);
    json_operands(j, &f, "takes", false);
    json_operands(j, &f, "gives", true);
    json_string(j, "params", strcmp(f.info->params, "none") ? f.info->params : NULL);
    json_number(j, "flops", f.info->flops);
    json_close(j, '}');
}

static void print_json(const request *r)
{
    json j = { 0 };
    json_open(&j, NULL, '{');
    json_string(&j, "version", tsr_version());
    json_open(&j, "ops", '[');
    for (int kind = next_chosen(r, 1); kind; kind = next_chosen(r, kind + 1)) json_op(&j, (tsr_op_kind)kind);
    json_close(&j, ']');
    json_close(&j, '}');
}

/* The reference page -------------------------------------------------------------------- */

/* Text inside a cell of a table. */
static void print_cell(const char *text)
{
    for (; *text; text++) {
        if (strchr("|\\*_<", *text)) putchar('\\');
        putchar(*text);
    }
}

/* The same as code, where only the bar needs care. */
static void print_code_cell(const char *text)
{
    putchar('`');
    for (; *text; text++) {
        if (*text == '|') putchar('\\');
        putchar(*text);
    }
    putchar('`');
}

static void markdown_op(const tsr_op_info *op)
{
    printf("| `%s` | ", op->name);
    print_cell(op->doc);
    fputs(" | ", stdout);
    print_code_cell(op->signature);
    fputs(" | ", stdout);
    if (strcmp(op->params, "none")) print_code_cell(op->params);
    printf(" | %.15g |\n", op->flops);
}

static void markdown_family(const request *r, const char *family)
{
    if (count_family(r, family) == 0) return;
    printf("\n## %s\n\n| op | | signature | params | flops |\n|---|---|---|---|---|\n", family);
    for (int kind = next_chosen(r, 1); kind; kind = next_chosen(r, kind + 1))
        if (!strcmp(op_at(kind)->family, family)) markdown_op(op_at(kind));
}

static void markdown_kinds(void)
{
    fputs("\n## Kinds of dtypes\n\n| in a signature | dtypes |\n|---|---|\n", stdout);
    for (const kind_name *k = kind_names; k->name; k++) {
        char text[200];
        dtypes_text(text, sizeof text, dtypes_of_kinds(k->kinds));
        printf("| `%s` | %s |\n", k->name, text);
    }
}

static void print_markdown(const request *r)
{
    const char *families[FAMILIES_MOST];
    const int count = list_families(families);
    fputs("# Ops\n"
          "\n"
          "Every op that travels to a backend, as `tsr ops --markdown` prints it. A signature says which\n"
          "tensors an op takes and gives, in the [constraint notation](../concepts/constraints.md):\n"
          "operands whose dtype has one name (`dT`) are promoted to one dtype, and a result called `real`\n"
          "has the real dtype of `dT`. c32 is a dtype to store in: ops that compute do not\n"
          "take it, and no signature of theirs names it. *flops* counts an element of the result. The functions, with their contracts, are in\n"
          "[include/tessera/ops/](../../include/tessera/ops), [move.h](../../include/tessera/move.h) and\n"
          "[random.h](../../include/tessera/random.h).\n",
          stdout);
    for (int i = 0; i < count; i++) markdown_family(r, families[i]);
    markdown_kinds();
}

/* The command ---------------------------------------------------------------------------- */

static int run_ops(int argc, char **argv)
{
    request r = { .names = argv + 1 };
    const option options[] = {
        { "--json",     NULL,     &r.json,          NULL },
        { "--markdown", NULL,     &r.markdown,      NULL },
        { "--names",    NULL,     &r.only_names,    NULL },
        { "--families", NULL,     &r.only_families, NULL },
        { "--family",   "FAMILY", NULL,             &r.family },
        { NULL, NULL, NULL, NULL },
    };
    r.count = read_options(name_of_command, options, argc, argv);
    if (r.count < 0) return EXIT_USAGE;
    if (r.json + r.markdown + r.only_names + r.only_families > 1)
        return complain_usage(name_of_command,
                              "one of --json, --markdown, --names and --families, not several");
    if (!check_family(&r) || !check_names(&r)) return EXIT_NO;
    if (!next_chosen(&r, 1))
        return complain(name_of_command, "none of these is in the family '%s'", r.family);
    if (r.json)               print_json(&r);
    else if (r.markdown)      print_markdown(&r);
    else if (r.only_names)    print_names(&r);
    else if (r.only_families) print_families();
    else if (r.count)         print_each_in_full(&r);
    else                      print_table(&r);
    return EXIT_YES;
}

const command ops_command = {
    .name = name_of_command,
    .run = run_ops,
    .summary = "list the ops, or tell all about some",
    .help = "usage: tsr ops [NAME...] [--family FAMILY] [--json | --markdown | --names]\n"
            "       tsr ops --families\n"
            "\n"
            "Lists every op of the library by family, with the dtypes that its first\n"
            "operand can have. With names, tells all about these ops: what each operand\n"
            "takes, the parameters, and how much there is to compute.\n"
            "\n"
            "  --family FAMILY   only ops of this family\n"
            "  --json            one JSON document\n"
            "  --markdown        the reference page\n"
            "  --names           names alone, one a line\n"
            "  --families        the names of the families, one a line\n"
            "\n"
            "Dtypes are those of the op's signature, and no others. c32 is a dtype to store\n"
            "in: ops that compute refuse it, and take c64.\n"
            "\n"
            "exit status: 0, or 1 if there is no such op or family, 2 for a command line\n"
            "that cannot be understood\n",
};
