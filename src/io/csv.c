/* csv.c - tables of numbers: one row to a line, fields between commas (csv) or tabs (tsv).
 *
 * Lines that are empty or begin with # are passed over. If the first of the others holds a
 * field that is no number, its fields are the names of the columns. A field may stand in
 * quotes; an empty one is NaN. */
#include "core/alloc.h"
#include "core/digits.h"
#include "decimal.h"
#include "io_int.h"
#include "json.h"

typedef struct table { const char *at, *end; char separator; int64_t line; } table;
typedef struct field { const char *text; size_t length; } field;

/* Lines and fields --------------------------------------------------------------------- */

/* The next line with something on it; false at the end. */
static bool next_line(table *t, field *out)
{
    while (t->at < t->end) {
        const char *begin = t->at, *newline = memchr(begin, '\n', (size_t)(t->end - begin));
        const char *stop = newline ? newline : t->end;
        t->at = newline ? newline + 1 : t->end;
        t->line++;
        if (stop > begin && stop[-1] == '\r') stop--;
        if (stop == begin || *begin == '#') continue;
        *out = (field){ begin, (size_t)(stop - begin) };
        return true;
    }
    return false;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static field trimmed(const char *begin, const char *end, char separator)
{
    while (begin < end && is_blank(*begin)) begin++;
    while (begin < end && is_blank(end[-1]) && end[-1] != separator) end--;
    if (end - begin >= 2 && *begin == '"' && end[-1] == '"') begin++, end--;
    return (field){ begin, (size_t)(end - begin) };
}

/* Takes one field off the line; false if it was the last. Separators in quotes do not count. */
static bool next_field(field *line, field *out, char separator)
{
    const char *p = line->text, *end = p + line->length;
    bool quoted = false;
    for (; p < end && (quoted || *p != separator); p++)
        if (*p == '"') quoted = !quoted;
    *out = trimmed(line->text, p, separator);
    const bool more = p < end;
    line->length = more ? (size_t)(end - p) - 1 : 0;
    line->text = more ? p + 1 : end;
    return more;
}

static bool is_number(field f, tsr_scalar *out)
{
    if (f.length == 0) return tsri_parse_number(out, "nan", 3);
    return tsri_parse_number(out, f.text, f.length);
}

static int64_t count_fields(field line, char separator)
{
    field f;
    int64_t n = 1;
    while (next_field(&line, &f, separator)) n++;
    return n;
}

static bool has_names(field line, char separator)
{
    tsr_scalar number;
    field f;
    for (bool more = true; more;) {
        more = next_field(&line, &f, separator);
        if (!is_number(f, &number)) return true;
    }
    return false;
}

/* Opening ------------------------------------------------------------------------------ */

static tsr_status keep_names(tsr_file *f, field line, int64_t n, char separator)
{
    tsr_meta *m = NULL;
    const char **names = tsri_bump_take(&f->memory, (size_t)n * sizeof *names);
    TSRI_CHECK(names, TSR_ENOMEM, "file_open: %s: no room for the names of its columns", f->path);
    for (int64_t i = 0; i < n; i++) {
        field name;
        (void)next_field(&line, &name, separator);
        TSRI_SOUND(tsri_is_utf8(name.text, name.length), f, "the name of column %lld is no UTF-8",
                   (long long)i);
        names[i] = tsri_bump_text(&f->memory, name.text, name.length);
        TSRI_CHECK(names[i], TSR_ENOMEM, "file_open: %s: no room for the names of its columns", f->path);
    }
    TSRI_TRY(tsri_file_add_meta(f, &m, "columns"));
    m->type = TSR_META_TEXTS;
    m->count = n;
    m->texts = names;
    return TSR_OK;
}

typedef struct extent {
    int64_t rows, columns;
    uint64_t start;
} extent; /* start: the first byte of numbers */

/* Counts rows and columns; the first line may name the columns. */
static tsr_status measure(tsr_file *f, table *t, const char *text, extent *e)
{
    field line = { NULL, 0 };
    while (next_line(t, &line)) {
        const int64_t n = count_fields(line, t->separator);
        if (e->columns == 0 && has_names(line, t->separator)) {
            TSRI_TRY(keep_names(f, line, n, t->separator));
            e->start = (uint64_t)(t->at - text);
        } else {
            e->rows++;
        }
        TSRI_SOUND(e->columns == 0 || e->columns == n, f,
                   "line %lld has %lld fields, and those before it %lld", (long long)t->line, (long long)n,
                   (long long)e->columns);
        e->columns = n;
    }
    return TSR_OK;
}

static tsr_status open_table(tsr_file *f, char separator)
{
    tsri_source *s = f->parts[0];
    tsri_entry *e = NULL;
    const tsr_dtype dtype = f->opts.dtype ? f->opts.dtype : TSR_F64;
    TSRI_CHECK(tsr_dtype_kind(dtype) != TSR_COMPLEX, TSR_EDTYPE, "file_open: %s: a table of %s", f->path,
               tsr_dtype_name(dtype));
    TSRI_TRY(tsri_source_map(s));
    const char *text = s->size ? (const char *)s->base : "";
    const size_t mark = s->size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;  /* of UTF-8 */
    table t = { text + mark, text + s->size, separator, 0 };
    extent x = { 0, 0, mark };
    TSRI_TRY(measure(f, &t, text, &x));
    TSRI_TRY(tsri_file_add(f, &e, "", dtype, 2, (const int64_t[]){ x.rows, x.columns }));
    e->encoding = "text";
    e->offset = x.start;
    e->bytes = s->size - x.start;
    return TSR_OK;
}

static tsr_status open_csv(tsr_file *f) { return open_table(f, ','); }
static tsr_status open_tsv(tsr_file *f) { return open_table(f, '\t'); }

/* Reading ------------------------------------------------------------------------------ */

static tsr_status read_row(const tsr_file *f, const table *t, field line, tsr_tensor *out, int64_t row)
{
    const size_t size = tsr_dtype_size(out->dtype);
    char *p = (char *)out->data + (size_t)(row * out->shape[1]) * size;
    for (int64_t i = 0; i < out->shape[1]; i++, p += size) {
        field text;
        tsr_scalar number = tsr_scalar_i64(0);
        (void)next_field(&line, &text, t->separator);
        const bool missing = text.length == 0 && tsr_dtype_kind(out->dtype) != TSR_FLOATING;
        TSRI_SOUND(!missing && is_number(text, &number), f, "line %lld, field %lld: \"%.*s\" is no number",
                   (long long)t->line, (long long)i + 1, (int)(text.length < 40 ? text.length : 40),
                   text.text);
        (void)!tsr_scalar_store(p, out->dtype, number);  /* no table is complex */
    }
    return TSR_OK;
}

/* The lines were counted when the file was opened, and may be others by now. */
static tsr_status read_rows(const tsr_file *f, const tsri_entry *e, tsr_tensor *out)
{
    const char *text = (const char *)f->parts[0]->base;
    const char separator = f->format == &tsri_tsv ? '\t' : ',';
    table t = { text + e->offset, text + e->offset + e->bytes, separator, 0 };
    field line;
    for (const char *p = text; p < t.at; p++) t.line += *p == '\n';
    for (int64_t row = 0; row < out->shape[0]; row++) {
        TSRI_SOUND(next_line(&t, &line) && count_fields(line, separator) == out->shape[1], f,
                   "line %lld changed while the file was open", (long long)t.line);
        TSRI_TRY(read_row(f, &t, line, out, row));
    }
    return TSR_OK;
}

static tsr_status read_table(tsr_tensor **out, const tsr_file *f, const tsri_entry *e)
{
    tsr_tensor *t = NULL;
    TSRI_TRY(tsr_empty(&t, e->dtype, e->ndim, e->shape));
    const tsr_status s = tsr_numel(t) ? read_rows(f, e, t) : TSR_OK;
    if (s != TSR_OK) tsr_release(&t);
    else *out = t;
    return s;
}

/* Writing ------------------------------------------------------------------------------ */

static tsr_status plan(tsr_writer *w, tsri_file_entry *p)
{
    TSRI_CHECK(!p->encoding, TSR_EUNSUPPORTED, "writer_add: %s: a table has no encodings", w->path);
    TSRI_CHECK(p->desc.ndim <= 2, TSR_ESHAPE, "writer_add: %s: %s has more dims than a table", w->path,
               TSRI_DESC(&p->desc));
    TSRI_CHECK(tsr_dtype_kind(p->desc.dtype) != TSR_COMPLEX, TSR_EDTYPE, "writer_add: %s: a table of %s",
               w->path, tsr_dtype_name(p->desc.dtype));
    p->bytes = 2 * (uint64_t)tsr_desc_numel(&p->desc);  /* at the least */
    return TSR_OK;
}

enum { BUFFER = 1 << 15, FIELD = 64 };

typedef struct printing {
    tsr_writer *w;
    tsr_dtype   dtype;
    int64_t     columns, column;
    char        separator;
    uint64_t    at;
    size_t      used;
    char        buffer[BUFFER];
} printing;

static tsr_status flush(printing *p)
{
    TSRI_TRY(tsri_sink_write(&p->w->sink, p->at, p->buffer, p->used));
    p->at += p->used;
    p->used = 0;
    return TSR_OK;
}

static tsr_status print_run(void *context, const void *data, size_t bytes)
{
    printing *p = context;
    const size_t size = tsr_dtype_size(p->dtype);
    const tsr_dtype shown = p->dtype == TSR_BOOL ? TSR_U8 : p->dtype;
    for (const char *e = data, *end = e + bytes; e < end; e += size) {
        if (p->used + FIELD > BUFFER) TSRI_TRY(flush(p));
        tsri_text text = tsri_text_into(p->buffer + p->used, FIELD);
        tsri_put_scalar(&text, shown, e);
        const bool last = ++p->column == p->columns;
        if (last) p->column = 0;
        tsri_put_char(&text, last ? '\n' : p->separator);
        p->used += text.length;
    }
    return TSR_OK;
}

static tsr_status print_table(tsr_writer *w, printing *p, const tsri_file_entry *planned, const tsr_tensor *t)
{
    const tsr_desc *d = &planned->desc;
    p->w = w;
    p->dtype = d->dtype;
    p->columns = d->ndim == 2 ? d->shape[1] : 1;
    p->column = 0;
    p->separator = w->format == &tsri_tsv ? '\t' : ',';
    p->at = 0;
    p->used = 0;
    TSRI_TRY(tsri_each_run(t, print_run, p));
    TSRI_TRY(flush(p));
    return tsri_sink_cut(&w->sink, p->at);
}

static tsr_status add(tsr_writer *w, tsri_file_entry *planned, const tsr_tensor *t)
{
    printing *p = tsri_scratch(sizeof *p);
    TSRI_CHECK(p, TSR_ENOMEM, "writer_add: %s: no room", w->path);
    const tsr_status s = print_table(w, p, planned, t);
    tsri_free(p, sizeof *p);
    return s;
}

const tsri_format tsri_csv = {
    .info = { "csv", "a table of numbers, between commas", true, true, false, ".csv" },
    .open = open_csv, .read = read_table, .plan = plan, .add = add,
};

const tsri_format tsri_tsv = {
    .info = { "tsv", "a table of numbers, between tabs", true, true, false, ".tsv .tab" },
    .open = open_tsv, .read = read_table, .plan = plan, .add = add,
};
