/* info.c - tsr info: what is in a file, from its headers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "listing.h"
#include "room.h"
#include "table.h"
#include "terminal.h"
#include "text.h"
#include "tree.h"

static const char name_of_command[] = "info";

typedef struct request {
    bool    json, brief, tree, all, table, names;
    listing list;
    reading how;
} request;

/* The items of a source, file by file: those of file i are index[first[i] .. first[i + 1] - 1]. */
typedef struct by_file { int64_t *index, *first; } by_file;


typedef struct totals {
    int64_t  files, tensors;
    double   elements;
    uint64_t tensor_bytes, file_bytes;
} totals;

/* Text of items ------------------------------------------------------------------------ */

/* "(2, 3)", "(3,)", "()" */
static const char *numbers_text(char *out, size_t size, int n, const int64_t *numbers)
{
    size_t used = (size_t)snprintf(out, size, "(");
    for (int i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%" PRId64, i ? ", " : "", numbers[i]);
    if (used < size) snprintf(out + used, size - used, n == 1 ? ",)" : ")");
    return out;
}

/* How reading goes: "mapped"; "read" where bytes are not in order; with the encoding where that
 * is not the dtype's own. */
static const char *kind_text(char out[64], const item *it)
{
    const bool foreign = it->desc.dtype == TSR_DTYPE_INVALID || it->is_blocks;
    const char *how = it->desc.dtype == TSR_DTYPE_INVALID ? "not read" : it->mapped ? "mapped" : "read";
    if (foreign) snprintf(out, 64, "%s, %s", it->encoding, how);
    else         snprintf(out, 64, "%s", how);
    return out;
}

static int64_t elements_of(const item *it)
{
    int64_t n = 1;
    for (int i = 0; i < it->desc.ndim; i++) n *= it->desc.shape[i];
    return n;
}

/* Metadata --------------------------------------------------------------------------- */

static void print_number_of(const tsr_meta *m, const void *data, int64_t i)
{
    tsr_scalar s = m->number;
    if (data &&
        tsr_scalar_load(&s, m->dtype, (const char *)data + (size_t)i * tsr_dtype_size(m->dtype)) != TSR_OK)
        return;
    if (s.dtype == TSR_BOOL)     fputs(s.as.u ? "true" : "false", stdout);
    else if (s.dtype == TSR_I64) printf("%" PRId64, s.as.i);
    else if (s.dtype == TSR_U64) printf("%" PRIu64, s.as.u);
    else                         printf("%.7g", s.as.c.re);
}

/* A text in one line, cut short between characters. */
static void print_text(const char *text, size_t length, int most)
{
    int used = 0;
    size_t i = 0;
    for (; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        const bool continues = (c & 0xc0) == 0x80;
        if (used >= most && !continues) break;
        if (c == '\n') {
            used += printf("\\n");
        } else if (c < 0x20 || c == 0x7f) {
            used += printf("\\x%02x", c);
        } else if (c == 0xc2 && i + 1 < length && (unsigned char)text[i + 1] < 0xa0) {
            used += printf("\\x%02x", (unsigned char)text[++i]); /* control characters from U+0080 on */
        } else {
            putchar(c);
            used += !continues;
        }
    }
    if (i < length) fputs("...", stdout);
}

/* A text of a list: in quotes if it would look like several, or like none. */
static void print_item(const char *text)
{
    const char *quote = *text && !strchr(text, ',') ? "" : "\"";
    fputs(quote, stdout);
    print_text(text, strlen(text), 24);
    fputs(quote, stdout);
}

static void print_value(const tsr_meta *m, int most)
{
    const int64_t shown = m->count < 8 ? m->count : 8;
    switch (m->type) {
    case TSR_META_TEXT:   print_text(m->text, m->length, most); return;
    case TSR_META_NUMBER: print_number_of(m, NULL, 0); return;
    default: break;
    }
    putchar('[');
    for (int64_t i = 0; i < shown; i++) {
        if (i) fputs(", ", stdout);
        if (m->type == TSR_META_NUMBERS)    print_number_of(m, m->data, i);
        else if (m->type == TSR_META_TEXTS) print_item(m->texts[i]);
        else                                fputs("[...]", stdout);
    }
    if (shown < m->count) printf(", ... %" PRId64 " in all", m->count);
    putchar(']');
}

static void print_metadata(const tsr_file *f, int width)
{
    const colours c = colours_of(stdout);
    const int64_t count = tsr_file_meta_count(f);
    if (count) printf("  %smetadata%s\n", c.dim, c.off);
    for (int64_t i = 0; i < count; i++) {
        tsr_meta m;
        if (tsr_file_meta(&m, f, i) != TSR_OK) continue;
        char *key = printable_copy(m.key);
        const int used = printf("    %s = ", key);
        free(key);
        print_value(&m, width - used > 20 ? width - used : 20);
        putchar('\n');
    }
}

/* Tables ------------------------------------------------------------------------------- */

enum { COLUMNS = 6 };

static by_file group_by_file(const source *s)
{
    by_file g = { .index = room_for((size_t)s->count, sizeof *g.index),
                  .first = room_for((size_t)s->files + 1, sizeof *g.first) };
    int64_t *next = room_for((size_t)s->files + 1, sizeof *next);
    for (int i = 0; i < s->files; i++) next[i + 1] = g.first[i + 1] = g.first[i] + s->file[i].count;
    for (int64_t i = 0; i < s->count; i++) g.index[next[s->items[i].file]++] = i;
    free(next);
    return g;
}

static void free_by_file(by_file *g)
{
    free(g->index);
    free(g->first);
}

/* Every item a line, however long it is: what reads this is a program, or asked for it. */
static void print_table(const source *s, const int64_t *index, int64_t count)
{
    static const table_column columns[COLUMNS] = {
        { "name", TABLE_LEFT, 0 },    { "dtype", TABLE_LEFT, 0 },  { "shape", TABLE_LEFT, 0 },
        { "strides", TABLE_LEFT, 0 }, { "bytes", TABLE_RIGHT, 0 }, { "kind", TABLE_LEFT, 0 },
    };
    table t = table_new(columns, COLUMNS);
    for (int64_t i = 0; i < count; i++) {
        const item *it = &s->items[index[i]];
        const bool known = it->desc.dtype != TSR_DTYPE_INVALID;
        char shape[400], strides[400], bytes[32], kind[64];
        snprintf(bytes, sizeof bytes, "%" PRIu64, it->bytes);
        const char *cells[COLUMNS] = {
            it->name[0] ? it->name : "-",
            known ? tsr_dtype_name(it->desc.dtype) : "-",
            numbers_text(shape, sizeof shape, it->desc.ndim, it->desc.shape),
            numbers_text(strides, sizeof strides, known ? it->desc.ndim : 0, it->desc.stride),
            bytes,
            kind_text(kind, it),
        };
        table_add(&t, cells, "");
    }
    table_print(&t, 2, 1 << 30);
    table_free(&t);
}

static uint64_t bytes_of_items(const source *s, const int64_t *index, int64_t count)
{
    uint64_t bytes = 0;
    for (int64_t i = 0; i < count; i++) bytes += s->items[index[i]].bytes;
    return bytes;
}

static bool draws_tree(const request *r) { return r->tree || r->all || (is_terminal(stdout) && !r->table); }

static bool sorts_by_size(const request *r) { return r->list.sort && !strcmp(r->list.sort, "size"); }

static void print_items(const source *s, const int64_t *index, int64_t count, const request *r, int width)
{
    if (draws_tree(r)) tree_print(s, index, count, !r->all, sorts_by_size(r), width);
    else               print_table(s, index, count);
}

static void print_file(source *s, int index, const by_file *g, const request *r, int width)
{
    const source_file *file = &s->file[index];
    const colours c = colours_of(stdout);
    char text[32], *path = printable_copy(file->path);
    printf("%s%s%s: %s, %" PRId64 " tensor%s, %s\n", c.bold, path, c.off, file->format, file->count,
           plural(file->count), bytes_text(text, (double)file->bytes));
    free(path);
    if (r->brief) return;
    const tsr_file *f = source_file_at(s, index);
    if (f) print_metadata(f, width);
    if (file->count) print_items(s, g->index + g->first[index], file->count, r, width);
}

/* JSON --------------------------------------------------------------------------------- */

static void json_scalar(json *j, const char *key, tsr_scalar s)
{
    if (s.dtype == TSR_BOOL)     json_bool(j, key, s.as.u != 0);
    else if (s.dtype == TSR_I64) json_integer(j, key, s.as.i);
    else if (s.dtype == TSR_U64) json_unsigned(j, key, s.as.u);
    else                         json_number(j, key, s.as.c.re);
}

static void json_value(json *j, const char *key, const tsr_meta *m)
{
    if (m->type == TSR_META_TEXT) {
        json_string(j, key, m->text);
        return;
    }
    if (m->type == TSR_META_NUMBER) {
        json_scalar(j, key, m->number);
        return;
    }
    json_open(j, key, '[');
    for (int64_t i = 0; i < m->count; i++) {
        tsr_scalar s;
        const char *data = m->data;
        if (m->type == TSR_META_TEXTS)                            json_string(j, NULL, m->texts[i]);
        else if (m->type == TSR_META_LIST && j->depth < 32)       json_value(j, NULL, &m->items[i]);
        else if (m->type == TSR_META_NUMBERS &&
                 tsr_scalar_load(&s, m->dtype, data + (size_t)i * tsr_dtype_size(m->dtype)) == TSR_OK)
            json_scalar(j, NULL, s);
    }
    json_close(j, ']');
}

static void json_item(json *j, const item *it)
{
    json_open(j, NULL, '{');
    json_string(j, "name", it->name);
    json_string(j, "dtype", it->desc.dtype == TSR_DTYPE_INVALID ? NULL : tsr_dtype_name(it->desc.dtype));
    json_string(j, "encoding", it->encoding);
    json_integers(j, "shape", it->desc.ndim, it->desc.shape);
    if (it->desc.dtype != TSR_DTYPE_INVALID) json_integers(j, "strides", it->desc.ndim, it->desc.stride);
    json_unsigned(j, "bytes", it->bytes);
    json_bool(j, "mapped", it->mapped);
    json_close(j, '}');
}

static void json_file(json *j, source *s, int index, const by_file *g, const request *r)
{
    const source_file *file = &s->file[index];
    json_open(j, NULL, '{');
    json_string(j, "path", file->path);
    json_string(j, "format", file->format);
    json_unsigned(j, "bytes", file->bytes);
    json_integer(j, "count", file->count);
    const tsr_file *f = r->brief ? NULL : source_file_at(s, index);
    if (f) {
        json_open(j, "metadata", '{');
        for (int64_t i = 0; i < tsr_file_meta_count(f); i++) {
            tsr_meta m;
            if (tsr_file_meta(&m, f, i) == TSR_OK) json_value(j, m.key, &m);
        }
        json_close(j, '}');
    }
    if (!r->brief) {
        json_open(j, "tensors", '[');
        for (int64_t i = g->first[index]; i < g->first[index + 1]; i++) json_item(j, &s->items[g->index[i]]);
        json_close(j, ']');
    }
    json_close(j, '}');
}

/* The command ---------------------------------------------------------------------------- */

static void print_names(const source *s, int index, const by_file *g)
{
    for (int64_t i = g->first[index]; i < g->first[index + 1]; i++) puts(s->items[g->index[i]].name);
}

static void add_to_totals(totals *sum, const source *s, int index, const by_file *g)
{
    const source_file *file = &s->file[index];
    sum->files += file->parts;
    sum->tensors += file->count;
    sum->file_bytes += file->bytes;
    sum->tensor_bytes += bytes_of_items(s, g->index + g->first[index], file->count);
    for (int64_t k = g->first[index]; k < g->first[index + 1]; k++)
        sum->elements += (double)elements_of(&s->items[g->index[k]]);
}

/* One word of the command line. */
static int tell(const char *text, const request *r, json *j, totals *sum)
{
    source s;
    int code = source_open(&s, name_of_command, text, &r->how);
    if (code == EXIT_YES) listing_apply(&r->list, &s, "file");
    const bool some = s.wanted || r->list.count;
    if (code == EXIT_YES) {
        by_file g = group_by_file(&s);
        for (int i = 0; i < s.files; i++) {
            const source_file *file = &s.file[i];
            if (!file->format[0] || (some && !file->count)) continue;
            if (r->names)     print_names(&s, i, &g);
            else if (r->json) json_file(j, &s, i, &g, r);
            else              print_file(&s, i, &g, r, terminal_width());
            add_to_totals(sum, &s, i, &g);
        }
        free_by_file(&g);
    }
    const bool damaged = s.damaged > 0;
    source_close(&s);
    return code != EXIT_YES ? code : damaged ? EXIT_INPUT : EXIT_YES;
}

static void print_totals(const totals *sum)
{
    const colours c = colours_of(stdout);
    char text[32], in_files[32];
    printf("%stotal%s: %" PRId64 " tensor%s, %.15g element%s, %s", c.bold, c.off, sum->tensors,
           plural(sum->tensors), sum->elements, sum->elements == 1 ? "" : "s",
           bytes_text(text, (double)sum->tensor_bytes));
    printf(" in %" PRId64 " file%s of %s\n", sum->files, plural(sum->files),
           bytes_text(in_files, (double)sum->file_bytes));
}

static void json_totals(json *j, const totals *sum)
{
    json_open(j, "total", '{');
    json_integer(j, "files", sum->files);
    json_integer(j, "tensors", sum->tensors);
    json_number(j, "elements", sum->elements);
    json_unsigned(j, "tensor_bytes", sum->tensor_bytes);
    json_unsigned(j, "file_bytes", sum->file_bytes);
    json_close(j, '}');
}

static int run_info(int argc, char **argv)
{
    request r = { 0 };
    totals sum = { 0 };
    json j = { 0 };
    int code = EXIT_YES;
    const option options[] = {
        { "--json",  NULL, &r.json,  NULL },
        { "--brief", NULL, &r.brief, NULL },
        { "--tree",  NULL, &r.tree,  NULL },
        { "--all",   NULL, &r.all,   NULL },
        { "--table", NULL, &r.table, NULL },
        { "--names", NULL, &r.names, NULL },
        LISTING_OPTIONS(r.list),
        READING_OPTIONS(r.how),
        { NULL, NULL, NULL, NULL },
    };
    const bool selects = listing_read(&r.list, name_of_command, argc, argv);
    const int count = selects ? read_options(name_of_command, options, argc, argv) : -1;
    if (count < 0 || !reading_check(&r.how, name_of_command)) return EXIT_USAGE;
    if (!listing_check(&r.list, name_of_command, "file name size dtype shape")) return EXIT_USAGE;
    if (r.names) r.json = false;
    if (r.table && (r.tree || r.all)) return complain_usage(name_of_command, "a tree or a table, not both");
    if (count == 0) return complain_usage(name_of_command, "which file?");
    if (r.json) {
        json_open(&j, NULL, '{');
        json_open(&j, "files", '[');
    }
    for (int i = 1; i <= count; i++) {
        const int one = tell(argv[i], &r, &j, &sum);
        if (one > code) code = one;
    }
    if (r.json) {
        json_close(&j, ']');
        json_totals(&j, &sum);
        json_close(&j, '}');
    } else if (sum.files && !r.names) {
        print_totals(&sum);
    }
    if (code == EXIT_YES && !sum.tensors) code = listing_found_none(&r.list, name_of_command);
    return code;
}

const command info_command = {
    .name = name_of_command,
    .run = run_info,
    .summary = "what is in a tensor file: names, dtypes, shapes, metadata",
    .help = "usage: tsr info FILE... [--select PATTERN] [--sort ORDER] [--all | --table] [--brief] [--json]\n"
            "\n"
            "Lists the tensors of files. On a terminal they are a tree of layers with shape,\n"
            "dtype and size; layers that are alike are folded into one. Elsewhere they are a\n"
            "table, one line a tensor: name, dtype, shape, strides, bytes and kind. Metadata\n"
            "stands above them, totals below. Only headers are read, however large the files.\n"
            "A directory stands for the tensor files in it, '-' for standard input.\n"
            "\n"
            "  --all             a tree of every tensor: nothing is folded\n"
            "  --table           the table, also on a terminal\n"
            "  --tree            the tree, also elsewhere\n"
            LISTING_HELP
            "  --sort ORDER      file (as they lie there), name, size, dtype or shape; names\n"
            "                    count numbers as such, the largest size comes first\n"
            "  --names           the names alone, one a line, as completions need them\n"
            "  --brief           one line a file\n"
            "  --json            one JSON document\n"
            READING_HELP
            "\n"
            "The kind 'mapped' means that the tensor lies in the file as in memory, and is\n"
            "used in place; 'read', that its elements are converted first.\n"
            "\n"
            "examples:\n"
            "  tsr info model.safetensors\n"
            "  tsr info --brief /models/llama          a directory of shards\n"
            "  tsr info 'model.gguf:blk.*.attn_q.weight' --sort size\n"
            "  curl -s https://example.org/x.npy | tsr info -\n"
            "  tsr info --dtype f32 --shape=-1,768 embeddings.bin\n"
            "\n"
            "exit status: 0, or 3 if a file cannot be read, 2 for a command line that\n"
            "cannot be understood\n",
};
