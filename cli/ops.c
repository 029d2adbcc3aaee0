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
#include "opcheck/elementwise_ops.h"
#include "opcheck/op_facts.h"
#include "op_arguments.h"
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

static bool is_composed(const tsr_op_info *op) { return op->kind == TSR_OP_NONE; }

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

/* The first row from *i on that is chosen, NULL if there is none; *i becomes the one after it. */
static const tsr_op_info *next_chosen(const request *r, int *i)
{
    const tsr_op_info *op;
    while ((op = tsr_op_row((*i)++)))
        if (is_chosen(r, op)) return op;
    return NULL;
}

static const tsr_op_info *find_op(const char *name)
{
    for (int i = 0; tsr_op_row(i); i++)
        if (!strcmp(tsr_op_row(i)->name, name)) return tsr_op_row(i);
    return NULL;
}

static bool check_names(const request *r)
{
    bool found = true;
    for (int i = 0; i < r->count; i++) {
        char near[200];
        nearest best = { .word = r->names[i] };
        if (find_op(r->names[i])) continue;
        for (int row = 0; tsr_op_row(row); row++) nearest_add(&best, tsr_op_row(row)->name);
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
    const tsr_op_info *op;
    for (int i = 0; (op = next_chosen(r, &i));) puts(op->name);
}

static void print_families(void)
{
    const char *families[FAMILIES_MOST];
    const int count = list_families(families);
    for (int i = 0; i < count; i++) puts(families[i]);
}

/* A table, by family ------------------------------------------------------------------- */

/* At most half of a line; a longer name moves its text to the right. */
static int name_column(const request *r, int width)
{
    size_t longest = 0;
    const tsr_op_info *op;
    for (int i = 0; (op = next_chosen(r, &i));)
        if (strlen(op->name) > longest) longest = strlen(op->name);
    return (int)longest < width / 2 - 2 ? (int)longest : width / 2 - 2;
}

/* What the first operand, or the only result, can be. */
static const char *main_dtypes(char out[64], const tsr_op_info *op)
{
    op_facts f;
    out[0] = '\0';
    if (op_facts_of(&f, op)) dtype_kinds_text(out, 64, f.dtypes[0]);
    return out;
}

static int count_family(const request *r, const char *family)
{
    int count = 0;
    const tsr_op_info *op;
    for (int i = 0; (op = next_chosen(r, &i));)
        if (!strcmp(op->family, family)) count++;
    return count;
}

static void print_table_row(const tsr_op_info *op, int names, int width)
{
    const int kinds = width < 64 ? 0 : 18, indent = 2 + names + 2 + kinds;
    const colours c = colours_of(stdout);
    char dtypes[64];
    const int extra = printf("  %-*s  ", names, op->name) - (names + 4);
    if (kinds) printf("%s%-*s%s", c.dim, kinds, main_dtypes(dtypes, op), c.off);
    print_wrapped(op->doc, indent + extra, indent, width);
    putchar('\n');
}

static void print_table(const request *r)
{
    const char *families[FAMILIES_MOST];
    const int nfamilies = list_families(families), width = terminal_width();
    const int names = name_column(r, width);
    const colours c = colours_of(stdout);
    bool first = true;
    for (int i = 0; i < nfamilies; i++) {
        const int count = count_family(r, families[i]);
        if (count == 0) continue;
        printf("%s%s%s%s (%d)\n", first ? "" : "\n", c.bold, families[i], c.off, count);
        first = false;
        const tsr_op_info *op;
        for (int row = 0; (op = next_chosen(r, &row));)
            if (!strcmp(op->family, families[i])) print_table_row(op, names, width);
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

static void print_labelled(const char *label, const char *text, int width)
{
    print_label(label);
    print_wrapped(text, LABEL, LABEL, width);
    putchar('\n');
}

/* Which of an elementwise op's errors are a dtype's. */
static int error_of_dtype(tsr_dtype d)
{
    if (d == TSR_C64 || d == TSR_C128) return d == TSR_C64 ? ERRORS_C64 : ERRORS_C128;
    return d == TSR_F64 ? ERRORS_F64 : d == TSR_F32 ? ERRORS_F32 : ERRORS_SHORT;
}

static bool has_error(const op_facts *f, tsr_dtype d)
{
    const tsr_kind kind = tsr_dtype_kind(d);
    return (f->dtypes[f->signature.noperands - 1 - f->signature.nresults] >> d & 1) &&
           (kind == TSR_FLOATING || kind == TSR_COMPLEX);
}

static void print_errors(const op_facts *f)
{
    static const tsr_dtype shown[] = { TSR_F16, TSR_F32, TSR_F64, TSR_C64, TSR_C128 };
    const elementwise_op *op = elementwise_find(f->info->kind);
    char text[200];
    size_t used = 0;
    for (size_t i = 0; op && i < sizeof shown / sizeof *shown; i++)
        if (has_error(f, shown[i]))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %.15g, ", tsr_dtype_name(shown[i]),
                                     op->facts.errors[error_of_dtype(shown[i])]);
    if (used == 0) return;
    snprintf(text + used, sizeof text - used, "in units in the last place");
    print_labelled("errors", text, terminal_width());
}

static void print_cost(const op_facts *f)
{
    print_label("params");
    puts(f->info->params);
    print_label("flops");
    printf("%.15g for an element of the result\n", f->info->flops);
    print_errors(f);
}

static void print_in_full(const tsr_op_info *op)
{
    op_facts f;
    const int width = terminal_width();
    const colours c = colours_of(stdout);
    if (!op_facts_of(&f, op)) return;
    printf("%s%s%s  %s%s%s%s\n  ", c.bold, op->name, c.off, c.dim, op->family,
           is_composed(op) ? ", composed of other ops" : "", c.off);
    print_wrapped(op->doc, 2, 2, width);
    putchar('\n');
    print_labelled("call", op->call, width);
    print_labelled("signature", op->signature, width);
    for (int i = 0; i < f.signature.noperands; i++) print_operand(&f, i, width);
    if (!is_composed(op)) print_cost(&f);
}

static void print_each_in_full(const request *r)
{
    bool first = true;
    for (int i = 0; i < r->count; i++) {
        const tsr_op_info *op = find_op(r->names[i]);
        if (!is_chosen(r, op)) continue;
        if (!first) putchar('\n');
        print_in_full(op);
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

static const char *text_or_null(const char *text) { return text[0] ? text : NULL; }

static void json_argument(json *j, const op_argument *a)
{
    json_open(j, NULL, '{');
    json_string(j, "name", a->name);
    json_string(j, "kind", a->kind);
    json_string(j, "type", text_or_null(a->type));
    json_string(j, "default", text_or_null(a->value));
    json_close(j, '}');
}

static void json_arguments(json *j, const char *key, const op_argument *a, int count, bool results)
{
    json_open(j, key, '[');
    for (int i = 0; i < count; i++)
        if (a[i].is_result == results) json_argument(j, &a[i]);
    json_close(j, ']');
}

static void json_call(json *j, const char *call)
{
    op_argument a[OP_ARGUMENTS_MOST];
    const int callers = op_callers_read(a, call);
    json_open(j, "called_by", '[');
    for (int i = 0; i < callers; i++) json_string(j, NULL, a[i].name);
    json_close(j, ']');
    const int count = op_arguments_read(a, call);
    json_arguments(j, "arguments", a, count, false);
    json_arguments(j, "results", a, count, true);
}

/* The largest errors of an elementwise op in units in the last place, by dtype. */
static void json_errors(json *j, const op_facts *f)
{
    const elementwise_op *op = elementwise_find(f->info->kind);
    if (!op) return;
    json_open(j, "errors", '{');
    for (int d = 1; d < TSR_DTYPE_COUNT; d++)
        if (has_error(f, (tsr_dtype)d))
            json_number(j, tsr_dtype_name((tsr_dtype)d), op->facts.errors[error_of_dtype((tsr_dtype)d)]);
    json_close(j, '}');
    json_bool(j, "errors_of_terms", op->facts.of_terms);
    json_bool(j, "errors_narrow", op->facts.narrow);
}

static void json_op(json *j, const tsr_op_info *op)
{
    op_facts f;
    if (!op_facts_of(&f, op)) return;
    json_open(j, NULL, '{');
    json_string(j, "name", op->name);
    json_string(j, "family", op->family);
    json_string(j, "kind", is_composed(op) ? "composed" : "op");
    json_string(j, "doc", op->doc);
    json_call(j, op->call);
    json_string(j, "signature", op->signature);
    json_operands(j, &f, "takes", false);
    json_operands(j, &f, "gives", true);
    json_string(j, "params", strcmp(op->params, "none") ? op->params : NULL);
    if (!is_composed(op)) json_number(j, "flops", op->flops);
    json_errors(j, &f);
    json_close(j, '}');
}

static void print_json(const request *r)
{
    json j = { 0 };
    json_open(&j, NULL, '{');
    json_string(&j, "version", tsr_version());
    json_open(&j, "ops", '[');
    const tsr_op_info *op;
    for (int i = 0; (op = next_chosen(r, &i));) json_op(&j, op);
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
    print_code_cell(op->call);
    fputs(" | ", stdout);
    print_code_cell(op->signature);
    fputs(" | ", stdout);
    if (strcmp(op->params, "none")) print_code_cell(op->params);
    if (is_composed(op)) puts("composed | |");
    else                 printf(" | %.15g |\n", op->flops);
}

static void markdown_family(const request *r, const char *family)
{
    if (count_family(r, family) == 0) return;
    printf("\n## %s\n\n| op | | call | signature | params | flops |\n|---|---|---|---|---|---|\n", family);
    const tsr_op_info *op;
    for (int i = 0; (op = next_chosen(r, &i));)
        if (!strcmp(op->family, family)) markdown_op(op);
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
          "Every op, as `tsr ops --markdown` prints it. A *call* is what the public function (`tsr_` and\n"
          "the name) takes and gives, in the notation at the beginning of\n"
          "[op.def](../../include/tessera/op.def): an argument without a kind is a tensor, one with `=` has\n"
          "that default in languages that have defaults, and `by` names the functions that call an op which\n"
          "has none of its own. Ops that are *composed* compute with the others; the others are what a\n"
          "backend runs.\n"
          "\n"
          "A signature says which tensors an op takes and gives, in the\n"
          "[constraint notation](../concepts/constraints.md):\n"
          "operands whose dtype has one name (`dT`) are promoted to one dtype, and a result called `real`\n"
          "has the real dtype of `dT`. c32 is a dtype to store in: ops that compute do not take it, and no\n"
          "signature of theirs names it. *flops* counts an element of the result. The functions, with their\n"
          "contracts, are in [include/tessera/ops/](../../include/tessera/ops),\n"
          "[move.h](../../include/tessera/move.h), [tensor.h](../../include/tessera/tensor.h),\n"
          "[compare.h](../../include/tessera/compare.h) and [random.h](../../include/tessera/random.h).\n",
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
    if (!next_chosen(&r, &(int){ 0 }))
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
            "operand can have. With names, tells all about these ops: what the function\n"
            "takes, what each operand takes, the parameters, how much there is to compute\n"
            "and, of elementwise ops, the largest errors.\n"
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
