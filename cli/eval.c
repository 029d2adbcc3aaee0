/* eval.c - tsr eval: expressions over files. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "eval/machine.h"
#include "format.h"
#include "json.h"
#include "json_tensor.h"
#include "names.h"
#include "room.h"
#include "source.h"
#include "terminal.h"
#include "ticker.h"

static const char name_of_command[] = "eval";

typedef struct request {
    bool        json, force, full, functions;
    const char *out, *to, *precision;
    const tsr_format_info *format;  /* of the result; NULL: it is printed */
    reading     how;
} request;

/* A name of the expression: read when it is first used. */
typedef struct variable {
    char       *name;
    const char *text;
    tsr_tensor *value, *stored;  /* stored: as the file gives it, if that is mapped */
} variable;

typedef struct variables {
    int            count;
    variable      *list;
    const char   **names;
    const reading *how;
    int            code;  /* of the file that could not be read */
} variables;

/* Variables ---------------------------------------------------------------------------- */

static bool is_name(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_') return false;
    return length > 0 && !isdigit((unsigned char)text[0]);
}

static bool read_variables(variables *v, int count, char **words)
{
    v->list = room_for((size_t)count, sizeof *v->list);
    v->names = room_for((size_t)count + 1, sizeof *v->names);
    for (int i = 0; i < count; i++) {
        const char *equals = strchr(words[i], '=');
        if (!equals || !is_name(words[i], (size_t)(equals - words[i]))) {
            complain_usage(name_of_command,
                           "behind the expression stand names and their files, as in a=FILE:NAME, not '%s'",
                           words[i]);
            return false;
        }
        v->list[i] = (variable){ .name = copy_of(words[i], (size_t)(equals - words[i])), .text = equals + 1 };
        for (int k = 0; k < i; k++)
            if (!strcmp(v->list[k].name, v->list[i].name)) {
                v->count = i + 1;
                complain_usage(name_of_command, "'%s' is given twice", v->list[i].name);
                return false;
            }
        v->names[i] = v->list[i].name;
        v->count = i + 1;
    }
    return true;
}

static void free_variables(variables *v)
{
    for (int i = 0; i < v->count; i++) {
        free(v->list[i].name);
        tsr_release(&v->list[i].value);
        tsr_release(&v->list[i].stored);
    }
    free(v->list);
    free(v->names);
}

/* Ops make results in the memory kind of their operands, but tensors of kind FILE cannot be made. So a mapped
 * variable is viewed as host memory. */
static bool see_as_memory(variable *x)
{
    if (tsr_memory_of(x->value) != TSR_MEMORY_FILE) return true;
    x->stored = x->value;
    x->value = NULL;
    return tsr_wrap_const(&x->value, x->stored->data, &x->stored->desc) == TSR_OK;
}

/* Reads a variable's file. An exit code, after a complaint if it is not EXIT_YES. */
static int load(variable *x, const reading *how)
{
    source s;
    int code = source_open(&s, name_of_command, x->text, how);
    if (code == EXIT_YES && s.count != 1) {
        complain(name_of_command, "%s=%s: there are %" PRId64 " tensors; choose one as in FILE:NAME", x->name,
                 x->text, s.count);
        code = EXIT_INPUT;
    }
    if (code == EXIT_YES && !source_read(&x->value, &s, 0)) code = EXIT_INPUT;
    if (code == EXIT_YES && !see_as_memory(x)) code = complain(name_of_command, "%s", tsr_last_error());
    source_close(&s);
    return code;
}

static bool lookup(void *context, tsr_tensor **out, const char *name, fault *f, const node *at)
{
    variables *v = context;
    for (int i = 0; i < v->count; i++) {
        if (strcmp(v->list[i].name, name)) continue;
        if (!v->list[i].value) {
            v->code = load(&v->list[i], v->how);
            if (v->code != EXIT_YES)
                return fault_set(f, v->code, at->at, at->length, "'%s' cannot be read", name);
        }
        *out = tsr_retain(v->list[i].value);
        return true;
    }
    return false;
}

/* Results ------------------------------------------------------------------------------ */

static bool is_stream(const request *r) { return !strcmp(r->out, "-"); }

/* Asked before anything is worked out. Standard output is npy unless --to says otherwise. */
static int check_result(request *r)
{
    if (!r->out) return r->to ? complain_usage(name_of_command, "--to goes with -o FILE") : EXIT_YES;
    if (is_stream(r) && !r->to) r->to = "npy";
    r->format = format_to_write(name_of_command, r->out, r->to);
    if (!r->format) return EXIT_USAGE;
    return is_stream(r) || may_write_to(name_of_command, r->out, r->force) ? EXIT_YES : EXIT_NO;
}

static tsr_status write_result(tsr_writer **w, const request *r, const tsr_tensor *t)
{
    const char *name = r->format->many ? "tensor" : NULL;
    tsr_status s = tsr_writer_create(w, is_stream(r) ? "/dev/stdout" : r->out,
                                     &(tsr_writer_opts){ .format = r->format->name });
    if (s == TSR_OK) s = tsr_writer_declare(*w, name, &t->desc, NULL);
    if (s == TSR_OK) s = tsr_writer_add(*w, name, t, NULL);
    return s == TSR_OK ? tsr_writer_finish(w) : s;
}

static int save(const request *r, const tsr_tensor *t)
{
    tsr_writer *w = NULL;
    const tsr_status s = write_result(&w, r, t);
    tsr_writer_cancel(&w);
    return s == TSR_OK ? EXIT_YES : complain(name_of_command, "%s", tsr_last_error());
}

static int print_tensor(const request *r, const tsr_tensor *t, bool number)
{
    tsr_print_opts print = { .line_width = terminal_width() - 1,
                             .threshold = r->full ? INT64_MAX : 1000,
                             .no_header = number };
    uint64_t n = 0;
    if (r->precision) {
        if (!read_count(&n, name_of_command, "--precision", r->precision)) return EXIT_USAGE;
        print.precision = n == 0 ? -1 : n > 20 ? 20 : (int)n;
    }
    if (!r->json) return tsr_print(t, &print) == TSR_OK ? EXIT_YES : EXIT_NO;
    json j = { 0 };
    json_open(&j, NULL, '{');
    json_tensor_members(&j, t);
    json_close(&j, '}');
    return EXIT_YES;
}

/* Numbers and texts print as they are; lists as tensors, where they can be. */
static int finish(machine *m, const request *r, const operand *o, const node *root)
{
    tsr_tensor *t = NULL;
    if (o->kind == OPERAND_TEXT && !r->out) {
        puts(o->text);
        return EXIT_YES;
    }
    if (!as_tensor(m, &t, o, root)) return m->f->code;
    const int code = r->out ? save(r, t) : print_tensor(r, t, o->kind == OPERAND_NUMBER);
    tsr_release(&t);
    return code;
}

/* The command ---------------------------------------------------------------------------- */

static int count_nodes(const tree *t)
{
    int n = 0;
    for (const node *each = t->all; each; each = each->next) n++;
    return n;
}

static int work_out(const request *r, const char *expression, variables *v)
{
    fault f = { .found = false };
    tree t;
    operand o = { .kind = OPERAND_UNSET };
    machine m = { .f = &f, .lookup = lookup, .context = v, .names = v->names, .step = ticker_step };
    int code = EXIT_YES;
    if (tree_read(&t, expression, &f)) {
        ticker_begin(count_nodes(&t));
        const bool done = evaluate(&m, &o, t.root);
        ticker_end();
        if (done) code = finish(&m, r, &o, t.root);
    }
    if (f.found) {
        fault_print(&f, expression);
        code = f.code;
    }
    operand_free(&o);
    tree_free(&t);
    return code;
}

static void print_name(void *context, const char *name)
{
    const char *arguments = function_arguments(name);
    int operands = 0;
    (void)context;
    if (arguments && strcmp(op_of_name(name), name)) printf("%s = %s\n", name, op_of_name(name));
    else if (arguments) printf("%s(%s)\n", name, arguments);
    else if (strcmp(op_of_name(name), name)) printf("%s = %s\n", name, op_of_name(name));
    else if (is_elementwise(name, &operands))
        printf("%s(%s)\n", name, operands == 1 ? "x" : operands == 2 ? "x, y" : "x, y, z");
}

static bool takes_value(const char *word)
{
    static const char *const words[] = { "-o",      "--out",   "--to",    "--precision", "--format",
                                         "--dtype", "--shape", "--offset",    "--header",
                                         "--separator", "--columns" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(word, words[i])) return true;
    return false;
}

/* The first word that is neither an option nor its value. An expression may begin with a '-', and
 * is then no option. */
static char *take_expression(int *argc, char **argv)
{
    for (int i = 1; i < *argc; i++) {
        const char *word = argv[i];
        const bool is_option =
            (!strncmp(word, "--", 2) && (!word[2] || isalpha((unsigned char)word[2]))) || !strcmp(word, "-o");
        if (is_option) {
            if (!strcmp(word, "--")) return NULL;
            i += takes_value(word);
            continue;
        }
        char *expression = argv[i];
        for (int k = i; k + 1 < *argc; k++) argv[k] = argv[k + 1];
        --*argc;
        return expression;
    }
    return NULL;
}

static int run_eval(int argc, char **argv)
{
    request r = { 0 };
    variables v = { .how = &r.how };
    const option options[] = {
        { "-o",          "FILE", NULL,         &r.out },
        { "--out",       "FILE", NULL,         &r.out },
        { "--to",        "FORMAT", NULL,       &r.to },
        { "--force",     NULL,   &r.force,     NULL },
        { "--full",      NULL,   &r.full,      NULL },
        { "--precision", "N",    NULL,         &r.precision },
        { "--functions", NULL,   &r.functions, NULL },
        { "--json",      NULL,   &r.json,      NULL },
        READING_OPTIONS(r.how),
        { NULL, NULL, NULL, NULL },
    };
    const char *expression = take_expression(&argc, argv);
    int count = read_options(name_of_command, options, argc, argv);
    if (count < 0 || !reading_check(&r.how, name_of_command)) return EXIT_USAGE;
    if (r.functions) {
        list_functions(print_name, NULL);
        return EXIT_YES;
    }
    char **words = argv + 1;
    if (!expression && count > 0) expression = *words++, count--;
    if (!expression) return complain_usage(name_of_command, "which expression?");
    int code = check_result(&r);
    if (code != EXIT_YES) return code;
    code = EXIT_USAGE;
    if (read_variables(&v, count, words)) code = work_out(&r, expression, &v);
    free_variables(&v);
    return code;
}

const command eval_command = {
    .name = name_of_command,
    .run = run_eval,
    .summary = "expressions over files, as NumPy writes them",
    .help = "usage: tsr eval EXPRESSION [NAME=FILE[:TENSOR][SLICE]]... [-o FILE] [--json]\n"
            "       tsr eval --functions\n"
            "\n"
            "Works out an expression, and prints the result or writes it to a file. Names in\n"
            "it stand for tensors of files. Operators, functions, broadcasting, slicing and\n"
            "dtypes are those of NumPy: + - * / // % @ ** & | ^ ~ << >> == != < <= > >=,\n"
            "x[0, ::2, ..., None], x[mask], x[[0, 2]], x.T, x.shape, f(x, axis=-1), and\n"
            "x.f(axis=-1). np.f is f. Every elementwise op of 'tsr ops' is a function.\n"
            "\n"
            "  -o FILE           write the result; the end of the name says the format, and -\n"
            "                    is standard output, as npy. --out is the same\n"
            "  --to FORMAT       another format: npy, csv, safetensors, ...\n"
            "  --force           write over what is there\n"
            "  --full            print every element\n"
            "  --precision N     digits after the point, at most; 8 by default\n"
            "  --functions       list the functions and their arguments\n"
            "  --json            print the result as JSON\n"
            READING_HELP
            "\n"
            "Numbers in the expression take the dtype of the tensors they meet. Integers\n"
            "become f64 where a function needs floats.\n"
            "\n"
            "examples:\n"
            "  tsr eval 'softmax(a @ b.T / sqrt(64), -1)' a=m.npz:q b=m.npz:k -o out.npy\n"
            "  tsr eval 'abs(a - b).max()' a=x.npy b=y.npy\n"
            "  tsr eval 'where(x > 0, x, 0).mean(axis=0)' x='model.safetensors:w[:100]'\n"
            "  tsr eval \"einsum('bij,bjk->bik', a, b)\" a=a.npy b=b.npy\n"
            "  tsr eval 'arange(12).reshape(3, 4)' -o table.csv\n"
            "\n"
            "exit status: 0, or 1 if the tensors do not fit or the result cannot be written,\n"
            "2 for an expression or command line that cannot be understood, 3 if a file\n"
            "cannot be read\n",
};
