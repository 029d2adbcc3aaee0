/* csv.c - tables: one row to a line, fields between commas (csv), tabs (tsv) or the separator in the options.
 * If the first row of a csv has no comma, but the first rows have the same number of semicolons each, or of
 * tabs, or of bars, that is the separator. With semicolons a number may have a decimal comma. Lines end with
 * LF, CR LF or CR.
 *
 * Lines that are empty or begin with # are skipped. If a field of the first other line is no number, that
 * line has the names of the columns; the options can say whether there is one. A field in quotes may hold
 * separators, newlines and doubled quotes. A field that is empty or NA is a missing value: NaN in the table,
 * and counted in the metadata.
 *
 * If the first value of a column is no number, its values are words: the table has their codes, and the
 * metadata the words. If they are all true or false, they are 1 and 0.
 *
 * A table of integers is read only if each of its numbers is one that the dtype has.
 *
 * A table that is written with such metadata has names in its first line, and words in place of codes. */
#include "core/alloc.h"
#include "core/digits.h"
#include "core/tensor_int.h"
#include "decimal.h"
#include "io_int.h"
#include "json.h"
#include "nearest.h"
#include "words.h"

typedef struct table { const char *at, *end; char separator; int64_t line; } table;

typedef struct field {
    const char *text;
    size_t      length;
    bool        quoted, doubled;  /* in quotes; with doubled quotes in them */
    bool        broken;           /* the quote does not close, or something follows it */
    bool        decimal_comma;    /* 1,5 may be a number */
} field;

/* Lines and fields --------------------------------------------------------------------- */

static bool is_blank(const table *t, char c) { return (c == ' ' || c == '\t') && c != t->separator; }

static bool ends_line(const table *t, const char *p)
{
    return p == t->end || *p == '\n' || *p == '\r';
}

/* Steps over the end of a line. */
static void end_line(table *t)
{
    if (t->end - t->at >= 2 && t->at[0] == '\r' && t->at[1] == '\n') t->at++;
    if (t->at < t->end) t->at++;
    t->line++;
}

/* To the next line with something on it; false at the end. */
static bool next_row(table *t)
{
    while (t->at < t->end) {
        if (*t->at != '#' && !ends_line(t, t->at)) return true;
        while (!ends_line(t, t->at)) t->at++;
        end_line(t);
    }
    return false;
}

/* What stands in quotes; the text begins after the first. */
static void take_quoted(table *t, field *out)
{
    const char *p = t->at + 1;
    *out = (field){ .text = p, .quoted = true };
    for (; p < t->end; p++) {
        if (*p == '\n') t->line++;
        if (*p != '"') continue;
        if (p + 1 == t->end || p[1] != '"') break;
        out->doubled = true;
        p++;
    }
    out->broken = p == t->end;
    out->length = (size_t)(p - out->text);
    t->at = p < t->end ? p + 1 : p;
    while (t->at < t->end && is_blank(t, *t->at)) t->at++;
}

static void take_plain(table *t, field *out)
{
    const char *p = t->at, *end;
    while (!ends_line(t, p) && *p != t->separator) p++;
    for (end = p; end > t->at && is_blank(t, end[-1]); end--) {}
    *out = (field){ .text = t->at, .length = (size_t)(end - t->at) };
    t->at = p;
}

/* Takes one field; false if it was the last of its row, and the row has ended then. */
static bool next_field(table *t, field *out)
{
    while (t->at < t->end && is_blank(t, *t->at)) t->at++;
    if (t->at < t->end && *t->at == '"') take_quoted(t, out);
    else if (t->at < t->end)             take_plain(t, out);
    else                                 *out = (field){ .text = t->end };
    out->decimal_comma = t->separator == ';';
    if (t->at < t->end && *t->at == t->separator) {
        t->at++;
        return true;
    }
    if (!ends_line(t, t->at)) out->broken = true;
    while (!ends_line(t, t->at)) t->at++;
    end_line(t);
    return false;
}

/* Words that stand for a value that is not there; in quotes they are words. */
static bool is_missing(const field *f)
{
    static const char *const words[] = { "", "NA", "N/A", "n/a", "#N/A", "null", "NULL", "None" };
    for (size_t i = 0; f->length <= 4 && i < sizeof words / sizeof *words; i++)
        if (tsri_strlen(words[i]) == f->length && memcmp(words[i], f->text, f->length) == 0)
            return !f->quoted || f->length == 0;
    return false;
}

static bool is_number(const field *f, tsr_scalar *out)
{
    char text[48];
    if (tsri_parse_number(out, f->text, f->length)) return true;
    if (!f->decimal_comma || f->length > sizeof text || memchr(f->text, '.', f->length)) return false;
    for (size_t i = 0; i < f->length; i++) text[i] = f->text[i] == ',' ? '.' : f->text[i];
    return tsri_parse_number(out, text, f->length);
}

/* The comma if the first row has one, or else the first of the others that all of the first rows have equally
 * often; t.separator if there is none. */
static char find_separator(table t)
{
    static const char all[] = ",;\t|";
    for (size_t k = 0; k < sizeof all - 1; k++) {
        table trial = t;
        int64_t first = 0;
        bool same = true;
        trial.separator = all[k];
        for (int row = 0; same && row < 10 && next_row(&trial); row++) {
            int64_t n = 1;
            field v;
            while (next_field(&trial, &v)) n++;
            if (row == 0) first = n;
            same = n == first;
        }
        if (first > 1 && (k == 0 || same)) return all[k];
    }
    return t.separator;
}

static tsri_word word_of(const field *f) { return (tsri_word){ f->text, f->length, f->doubled }; }

static int shown(const field *f) { return f->length < 40 ? (int)f->length : 40; }

/* Columns ------------------------------------------------------------------------------ */

typedef struct column {
    const char *name;           /* NULL: none */
    int64_t     place;          /* in the table that is made; -1: it was not chosen */
    int64_t     missing;
    bool        known, is_text; /* known: a value was seen, and said what it is */
    bool        is_truth;       /* all words are true or false */
    tsri_words  words;
} column;

typedef struct layout {
    column  *columns;
    int64_t  count, chosen, rows;
    uint64_t start;      /* the first byte of the rows, */
    int64_t  line;       /* and the lines before it */
    char     separator;
} layout;

static tsr_status no_room(const tsr_file *f)
{
    return tsri_fail(TSR_ENOMEM, "file_open: %s: no room for its columns", f->path);
}

static bool is_header(const tsr_file *f, table t)
{
    tsr_scalar number;
    field v;
    if (f->opts.header != TSR_HEADER_FOUND) return f->opts.header == TSR_HEADER_FIRST;
    for (bool more = true; more;) {
        more = next_field(&t, &v);
        if (!is_missing(&v) && !is_number(&v, &number)) return true;
    }
    return false;
}

static int64_t count_fields(table t)
{
    field v;
    int64_t n = 1;
    while (next_field(&t, &v)) n++;
    return n;
}

static tsr_status check_quotes(const tsr_file *f, int64_t line, const field *v, int64_t i)
{
    TSRI_SOUND(!v->broken, f,
               "line %lld, field %lld: \"%.*s\": a quote that does not close, or closes too soon",
               (long long)line + 1, (long long)i + 1, shown(v), v->text);
    return TSR_OK;
}

static tsr_status take_names(tsr_file *f, layout *l, table *t)
{
    const int64_t line = t->line;
    for (int64_t i = 0; i < l->count; i++) {
        field v;
        (void)next_field(t, &v);
        TSRI_TRY(check_quotes(f, line, &v, i));
        TSRI_SOUND(tsri_is_utf8(v.text, v.length) && !memchr(v.text, 0, v.length), f,
                   "the name of column %lld is no UTF-8; iconv converts to it", (long long)i);
        l->columns[i].name = tsri_word_copy(&f->memory, word_of(&v));
        if (!l->columns[i].name) return no_room(f);
    }
    return TSR_OK;
}

/* The column of this name, or of this number; -1 if there is none. */
static int64_t find_column(const layout *l, const char *name)
{
    tsr_scalar number;
    for (int64_t i = 0; i < l->count; i++)
        if (l->columns[i].name && tsri_streq(l->columns[i].name, name)) return i;
    if (!tsri_parse_number(&number, name, tsri_strlen(name)) || number.dtype != TSR_I64) return -1;
    const int64_t i = number.as.i < 0 ? number.as.i + l->count : number.as.i;
    return i >= 0 && i < l->count ? i : -1;
}

static tsr_status no_such_column(const tsr_file *f, const layout *l, const char *name)
{
    const char *best = NULL;
    int most = 2 + (int)(tsri_strlen(name) / 4);
    for (int64_t i = 0; i < l->count && l->columns[i].name; i++) {
        const int d = tsri_name_distance(name, l->columns[i].name, most);
        if (d < most) most = d, best = l->columns[i].name;
    }
    const bool hint = best || (l->count && l->columns[0].name);
    return tsri_fail(TSR_EINDEX, "file_open: %s has no column \"%.100s\" among its %lld%s%.100s%s", f->path,
                     name, (long long)l->count, best ? "; did you mean \"" : hint ? "; the first is \"" : "",
                     best ? best : hint ? l->columns[0].name : "", best ? "\"?" : hint ? "\"" : "");
}

static tsr_status choose(const tsr_file *f, layout *l)
{
    const int n = f->opts.columns ? f->opts.ncolumns : 0;
    l->chosen = n ? n : l->count;
    for (int64_t i = 0; i < l->count; i++) l->columns[i].place = n ? -1 : i;
    for (int k = 0; k < n; k++) {
        const int64_t i = find_column(l, f->opts.columns[k]);
        if (i < 0) return no_such_column(f, l, f->opts.columns[k]);
        TSRI_CHECK(l->columns[i].place < 0, TSR_EINVAL, "file_open: %s: column \"%.100s\" is chosen twice",
                   f->path, f->opts.columns[k]);
        l->columns[i].place = k;
    }
    return TSR_OK;
}

/* What a value says of its column. */
static tsr_status look_at(tsr_file *f, column *c, const field *v)
{
    tsr_scalar number;
    if (is_missing(v)) {
        c->missing++;
        return TSR_OK;
    }
    if (!c->known) {
        c->known = true;
        c->is_text = !is_number(v, &number);
    }
    if (!c->is_text) return TSR_OK;
    TSRI_SOUND(tsri_is_utf8(v->text, v->length) && !memchr(v->text, 0, v->length), f,
               "\"%.*s\" is no UTF-8; iconv converts to it", shown(v), v->text);
    return tsri_words_add(&c->words, &f->memory, word_of(v)) ? TSR_OK : no_room(f);
}

static tsr_status look_at_row(tsr_file *f, layout *l, table *t)
{
    const int64_t line = t->line;
    bool more = true;
    int64_t n = 0;
    for (; more; n++) {
        field v;
        more = next_field(t, &v);
        TSRI_TRY(check_quotes(f, line, &v, n));
        if (n < l->count && l->columns[n].place >= 0) TSRI_TRY(look_at(f, &l->columns[n], &v));
    }
    TSRI_SOUND(n == l->count, f, "line %lld has %lld field%s between '%c', and those before it %lld%s",
               (long long)line + 1, (long long)n, n == 1 ? "" : "s", t->separator, (long long)l->count,
               l->count == 1 || n == 1 ? " (opts.separator chooses another)" : "");
    return TSR_OK;
}

/* 1, 0, or -1 for any other word. */
static int truth_of(const char *text, size_t length)
{
    static const char *const words[] = { "false", "true", "False", "True", "FALSE", "TRUE" };
    for (int i = 0; i < 6; i++)
        if (tsri_strlen(words[i]) == length && memcmp(words[i], text, length) == 0) return i % 2;
    return -1;
}

static void find_truths(column *c)
{
    c->is_truth = c->is_text && c->words.list.count <= 6;
    for (int64_t i = 0; c->is_truth && i < c->words.list.count; i++)
        c->is_truth = truth_of(c->words.texts[i], tsri_strlen(c->words.texts[i])) >= 0;
    if (c->is_truth) c->is_text = false;
}

static void start_rows(layout *l, const table *t, const char *text)
{
    l->start = (uint64_t)(t->at - text);
    l->line = t->line;
}

/* All rows: how many, and what their columns hold. */
static tsr_status measure(tsr_file *f, layout *l, table *t, const char *text)
{
    start_rows(l, t, text);
    if (!next_row(t)) return TSR_OK;
    l->count = count_fields(*t);
    l->columns = tsri_bump_take(&f->memory, (size_t)l->count * sizeof *l->columns);
    if (!l->columns) return no_room(f);
    if (is_header(f, *t)) {
        TSRI_TRY(take_names(f, l, t));
        start_rows(l, t, text);
    }
    TSRI_TRY(choose(f, l));
    for (; next_row(t); l->rows++) TSRI_TRY(look_at_row(f, l, t));
    for (int64_t i = 0; i < l->count; i++) find_truths(&l->columns[i]);
    return TSR_OK;
}

/* Metadata ----------------------------------------------------------------------------- */

/* Adds the words as "categories.NAME"; with the column's number if it has no name or another has the same. */
static tsr_status add_categories(tsr_file *f, const column *c, int64_t index, tsri_names *seen)
{
    tsr_meta *m = NULL;
    char number[24];
    const char *name = c->name;
    tsri_text text = tsri_text_into(number, sizeof number);
    tsri_put(&text, "%lld", (long long)index);
    if (!name || tsri_names_have(seen, name)) name = number;
    else if (!tsri_names_add(seen, &f->memory, name)) return no_room(f);
    const size_t n = tsri_strlen(name), before = sizeof "categories." - 1;
    char *key = tsri_bump_take(&f->memory, before + n + 1);
    if (!key) return no_room(f);
    memcpy(key, "categories.", before);
    memcpy(key + before, name, n);
    TSRI_TRY(tsri_file_add_meta(f, &m, key));
    m->type = TSR_META_TEXTS;
    m->count = c->words.list.count;
    m->texts = c->words.texts;
    return TSR_OK;
}

static tsr_status add_names(tsr_file *f, const layout *l)
{
    tsr_meta *m = NULL;
    const char **names = tsri_bump_take(&f->memory, (size_t)l->chosen * sizeof *names);
    if (!names) return no_room(f);
    for (int64_t i = 0; i < l->count; i++)
        if (l->columns[i].place >= 0) names[l->columns[i].place] = l->columns[i].name;
    TSRI_TRY(tsri_file_add_meta(f, &m, "columns"));
    m->type = TSR_META_TEXTS;
    m->count = l->chosen;
    m->texts = names;
    return TSR_OK;
}

/* How many of each column are missing; nothing if none is. */
static tsr_status add_missing(tsr_file *f, const layout *l)
{
    tsr_meta *m = NULL;
    bool any = false;
    int64_t *counts = tsri_bump_take(&f->memory, (size_t)l->chosen * sizeof *counts);
    if (!counts) return no_room(f);
    for (int64_t i = 0; i < l->count; i++) {
        if (l->columns[i].place < 0) continue;
        counts[l->columns[i].place] = l->columns[i].missing;
        any = any || l->columns[i].missing;
    }
    if (!any) return TSR_OK;
    TSRI_TRY(tsri_file_add_meta(f, &m, "missing"));
    m->type = TSR_META_NUMBERS;
    m->dtype = TSR_I64;
    m->count = l->chosen;
    m->data = counts;
    return TSR_OK;
}

/* The codes of all words, of which there is one at least, exactly. */
static bool holds_codes(tsr_dtype dtype, int64_t count)
{
    double stored[2] = { 0 };
    tsr_scalar back = tsr_scalar_i64(0);
    const tsr_scalar last = tsr_scalar_i64(count - 1);
    (void)!tsr_scalar_store(stored, dtype, last);
    (void)!tsr_scalar_load(&back, dtype, stored);
    return tsr_scalar_to_f64(back) == (double)(count - 1);
}

static tsr_status describe(tsr_file *f, const layout *l, tsr_dtype dtype)
{
    tsri_names seen = { 0 };
    if (l->count && l->columns[0].name) TSRI_TRY(add_names(f, l));
    TSRI_TRY(add_missing(f, l));
    for (int64_t i = 0; i < l->count; i++) {
        const column *c = &l->columns[i];
        if (c->place < 0 || !c->is_text) continue;
        TSRI_CHECK(holds_codes(dtype, c->words.list.count), TSR_EUNSUPPORTED,
                   "file_open: %s: column %lld has %lld words, more than %s counts", f->path, (long long)i,
                   (long long)c->words.list.count, tsr_dtype_name(dtype));
        TSRI_TRY(add_categories(f, c, i, &seen));
    }
    return TSR_OK;
}

/* Opening ------------------------------------------------------------------------------ */

static tsr_status open_table(tsr_file *f, char separator)
{
    tsri_source *s = f->parts[0];
    tsri_entry *e = NULL;
    const tsr_dtype dtype = f->opts.dtype ? f->opts.dtype : TSR_F64;
    layout *l = tsri_bump_take(&f->memory, sizeof *l);
    if (!l) return no_room(f);
    TSRI_CHECK(tsr_dtype_kind(dtype) != TSR_COMPLEX, TSR_EDTYPE, "file_open: %s: a table of %s", f->path,
               tsr_dtype_name(dtype));
    TSRI_TRY(tsri_source_map(s));
    const char *text = s->size ? (const char *)s->base : "";
    TSRI_CHECK(s->size < 2 || (memcmp(text, "\xFF\xFE", 2) != 0 && memcmp(text, "\xFE\xFF", 2) != 0),
               TSR_EUNSUPPORTED, "file_open: %s: text of 16 bits; iconv -f UTF-16 -t UTF-8 converts it",
               f->path);
    const size_t mark = s->size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;  /* of UTF-8 */
    table t = { text + mark, text + s->size, f->opts.separator ? f->opts.separator : separator, 0 };
    if (t.separator == ',' && !f->opts.separator) t.separator = find_separator(t);
    l->separator = t.separator;
    TSRI_TRY(measure(f, l, &t, text));
    TSRI_TRY(describe(f, l, dtype));
    TSRI_TRY(tsri_file_add(f, &e, "", dtype, 2, (const int64_t[]){ l->rows, l->chosen }));
    e->encoding = "text";
    e->offset = l->start;
    e->bytes = s->size - l->start;
    e->detail = (uint64_t)(uintptr_t)l;
    return TSR_OK;
}

static tsr_status open_csv(tsr_file *f) { return open_table(f, ','); }
static tsr_status open_tsv(tsr_file *f) { return open_table(f, '\t'); }

/* Reading ------------------------------------------------------------------------------ */

/* Does an integer dtype hold the number as it is? */
static bool holds_number(tsr_dtype dtype, tsr_scalar number)
{
    double stored[2] = { 0 };
    tsr_scalar back = tsr_scalar_i64(0);
    (void)!tsr_scalar_store(stored, dtype, number);
    (void)!tsr_scalar_load(&back, dtype, stored);
    const double x = tsr_scalar_to_f64(number);
    const double end = tsr_dtype_kind(dtype) == TSR_SIGNED ? 0x1p63 : 0x1p64; /* it saturates below that */
    if (number.dtype == TSR_F64) return tsr_scalar_to_f64(back) == x && x < end;
    return number.as.u == back.as.u && (x < 0) == (tsr_scalar_to_f64(back) < 0);
}

static bool is_integer(tsr_dtype dtype)
{
    return tsr_dtype_kind(dtype) == TSR_SIGNED || tsr_dtype_kind(dtype) == TSR_UNSIGNED;
}

static tsr_status value_of(tsr_scalar *out, const tsr_file *f, const column *c, const field *v,
                           int64_t line, int64_t i, tsr_dtype dtype)
{
    const bool missing = is_missing(v);
    TSRI_SOUND(!missing || tsr_dtype_kind(dtype) == TSR_FLOATING, f,
               "line %lld, field %lld is missing, and %s has no number for that", (long long)line,
               (long long)i + 1, tsr_dtype_name(dtype));
    if (missing) {
        (void)!tsri_parse_number(out, "nan", 3);
        return TSR_OK;
    }
    const bool coded = c->is_text || c->is_truth;
    const int64_t code = c->is_text    ? tsri_words_find(&c->words, word_of(v))
                         : c->is_truth ? truth_of(v->text, v->length)
                                       : -1;
    *out = tsr_scalar_i64(code);
    TSRI_SOUND(coded ? code >= 0 : is_number(v, out), f,
               "line %lld, field %lld: \"%.*s\" is no number, and the first of its column is "
               "(opts.columns chooses columns)", (long long)line, (long long)i + 1, shown(v), v->text);
    TSRI_SOUND(coded || !is_integer(dtype) || holds_number(dtype, *out), f,
               "line %lld, field %lld: \"%.*s\" is no %s", (long long)line, (long long)i + 1, shown(v),
               v->text, tsr_dtype_name(dtype));
    return TSR_OK;
}

/* The rows were counted when the file was opened, and may be others by now. */
static tsr_status read_row(const tsr_file *f, const layout *l, table *t, tsr_tensor *out, char *row)
{
    const size_t size = tsr_dtype_size(out->dtype);
    bool more = next_row(t);
    const int64_t line = t->line + 1;
    for (int64_t i = 0; i < l->count; i++) {
        field v;
        tsr_scalar number;
        TSRI_SOUND(more, f, "line %lld changed while the file was open", (long long)line);
        more = next_field(t, &v);
        if (l->columns[i].place < 0) continue;
        TSRI_TRY(value_of(&number, f, &l->columns[i], &v, line, i, out->dtype));
        (void)!tsr_scalar_store(row + (size_t)l->columns[i].place * size, out->dtype, number);
    }
    TSRI_SOUND(!more, f, "line %lld changed while the file was open", (long long)line);
    return TSR_OK;
}

static tsr_status read_rows(const tsr_file *f, const tsri_entry *e, tsr_tensor *out)
{
    const char *text = (const char *)f->parts[0]->base;
    const layout *l = (const layout *)(uintptr_t)e->detail;
    table t = { text + e->offset, text + e->offset + e->bytes, l->separator, l->line };
    const size_t row = (size_t)out->shape[1] * tsr_dtype_size(out->dtype);
    for (int64_t i = 0; i < out->shape[0]; i++)
        TSRI_TRY(read_row(f, l, &t, out, (char *)out->data + (size_t)i * row));
    return TSR_OK;
}

static tsr_status read_table(tsr_tensor **out, const tsr_file *f, const tsri_entry *e)
{
    tsr_tensor *t = NULL;
    TSRI_TRY(tsri_make_packed(&t, "file_read", e->dtype, e->ndim, e->shape));
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
    const tsr_meta **words;  /* of each column, NULL for numbers; NULL if there are none at all */
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

static tsr_status put_byte(printing *p, char c)
{
    if (p->used == BUFFER) TSRI_TRY(flush(p));
    p->buffer[p->used++] = c;
    return TSR_OK;
}

/* May a text stand without quotes? */
static bool is_plain_text(const char *text)
{
    const field f = { .text = text, .length = tsri_strlen(text) };
    if (is_missing(&f) || text[0] == '#' || text[0] == ' ' || text[f.length - 1] == ' ') return false;
    for (const char *p = text; *p; p++)
        if (*p == ',' || *p == ';' || *p == '|' || *p == '"' || (unsigned char)*p < ' ') return false;
    return true;
}

static tsr_status put_text(printing *p, const char *text)
{
    const bool quotes = !is_plain_text(text);
    if (quotes) TSRI_TRY(put_byte(p, '"'));
    for (; *text; text++) {
        if (*text == '"') TSRI_TRY(put_byte(p, '"'));
        TSRI_TRY(put_byte(p, *text));
    }
    return quotes ? put_byte(p, '"') : TSR_OK;
}

static tsr_status put_end(printing *p)
{
    const bool last = ++p->column == p->columns;
    if (last) p->column = 0;
    return put_byte(p, last ? '\n' : p->separator);
}

/* The word of a code, of what is missing nothing in quotes; *done is false where it is no code. */
static tsr_status put_word(bool *done, printing *p, const void *e)
{
    const tsr_meta *words = p->words ? p->words[p->column] : NULL;
    tsr_scalar s = tsr_scalar_i64(0);
    *done = words && tsr_scalar_load(&s, p->dtype, e) == TSR_OK;
    if (!*done) return TSR_OK;
    const double code = tsr_scalar_to_f64(s);
    if (code != code) return put_text(p, "");
    *done = code >= 0 && code < (double)words->count && code == (double)(int64_t)code;
    return *done ? put_text(p, words->texts[(int64_t)code]) : TSR_OK;
}

static tsr_status print_run(void *context, const void *data, size_t bytes)
{
    printing *p = context;
    const size_t size = tsr_dtype_size(p->dtype);
    const tsr_dtype shown = p->dtype == TSR_BOOL ? TSR_U8 : p->dtype;
    for (const char *e = data, *end = e + bytes; e < end; e += size) {
        bool is_word = false;
        TSRI_TRY(put_word(&is_word, p, e));
        if (!is_word) {
            if (p->used + FIELD > BUFFER) TSRI_TRY(flush(p));
            tsri_text text = tsri_text_into(p->buffer + p->used, FIELD);
            tsri_put_scalar(&text, shown, e);
            p->used += text.length;
        }
        TSRI_TRY(put_end(p));
    }
    return TSR_OK;
}

static const tsr_meta *find_texts(const tsr_writer *w, const char *key)
{
    for (int64_t i = 0; i < w->meta_list.count; i++)
        if (tsri_streq(w->metas[i]->key, key)) return w->metas[i];
    return NULL;
}

static const char categories[] = "categories.";

static bool is_of_words(const char *key)
{
    const size_t before = sizeof categories - 1;
    return tsri_strlen(key) >= before && memcmp(key, categories, before) == 0;
}

/* The words of column i, which go by its name, or by its number where that is not the first of its name. */
static const tsr_meta *words_of_column(const tsr_writer *w, const tsr_meta *names, int64_t i)
{
    const size_t before = sizeof categories - 1;
    char number[24];
    const char *name = names ? names->texts[i] : number;
    tsri_text text = tsri_text_into(number, sizeof number);
    tsri_put(&text, "%lld", (long long)i);
    for (int64_t k = 0; k < i && names; k++)
        if (tsri_streq(names->texts[k], name)) name = number;
    for (int64_t k = 0; k < w->meta_list.count; k++) {
        const char *key = w->metas[k]->key;
        if (is_of_words(key) && tsri_streq(key + before, name)) return w->metas[k];
    }
    return NULL;
}

/* The first line, and which columns have words. */
static tsr_status begin_columns(printing *p)
{
    const tsr_meta *names = find_texts(p->w, "columns");
    TSRI_CHECK(!names || names->count == p->columns, TSR_EINVAL,
               "writer_add: %s: %lld names for %lld columns", p->w->path, (long long)names->count,
               (long long)p->columns);
    for (int64_t i = 0; names && i < names->count; i++) {
        TSRI_TRY(put_text(p, names->texts[i]));
        TSRI_TRY(put_end(p));
    }
    if (p->w->meta_list.count == 0) return TSR_OK;
    p->words = tsri_bump_take(&p->w->memory, (size_t)p->columns * sizeof *p->words);
    TSRI_CHECK(p->words, TSR_ENOMEM, "writer_add: %s: no room", p->w->path);
    for (int64_t i = 0; i < p->columns; i++) p->words[i] = words_of_column(p->w, names, i);
    return TSR_OK;
}

/* What the reader makes of a table. Missing values say so themselves. */
static tsr_status check_meta(const tsr_writer *w, const tsr_meta *m)
{
    if (tsri_streq(m->key, "missing")) return TSR_OK;
    TSRI_CHECK(tsri_streq(m->key, "columns") || is_of_words(m->key), TSR_EUNSUPPORTED,
               "writer_meta: %s: a table has columns and categories.NAME, not \"%s\"", w->path, m->key);
    TSRI_CHECK(m->type == TSR_META_TEXTS, TSR_EINVAL, "writer_meta: %s: \"%s\" takes texts", w->path, m->key);
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
    p->words = NULL;
    TSRI_TRY(begin_columns(p));
    TSRI_TRY(tsri_each_run(w, t, print_run, p));
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
    .info = { "csv", "a table: numbers, and words as codes, between commas", true, true, false, ".csv" },
    .open = open_csv, .read = read_table, .plan = plan, .add = add, .check_meta = check_meta,
    .one_pass = true, .may_be_empty = true,
};

const tsri_format tsri_tsv = {
    .info = { "tsv", "a table: numbers, and words as codes, between tabs", true, true, false, ".tsv .tab" },
    .open = open_tsv, .read = read_table, .plan = plan, .add = add, .check_meta = check_meta,
    .one_pass = true, .may_be_empty = true,
};
