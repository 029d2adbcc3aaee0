/* source.c - from words on a command line to tensors. */
#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "filename.h"
#include "names.h"
#include "rename.h"
#include "room.h"
#include "terminal.h"

/* Options ---------------------------------------------------------------------------- */

static bool read_shape(reading *r, const char *who)
{
    const char *p = r->shape;
    int n = 0;
    while (*p) {
        char *end = NULL;
        errno = 0;
        const long long size = strtoll(p, &end, 10);
        if (end == p || errno == ERANGE || size < -1 || n == TSR_MAX_NDIM || (*end && *end != ',')) {
            complain_usage(who, "--shape takes sizes as in 2,3,-1, not '%s'", r->shape);
            return false;
        }
        r->dims[n++] = size;
        p = *end ? end + 1 : end;
    }
    r->how.ndim = n;
    r->how.shape = r->dims;
    return true;
}

static bool read_header(reading *r, const char *who)
{
    if (!strcmp(r->header, "yes"))     r->how.header = TSR_HEADER_FIRST;
    else if (!strcmp(r->header, "no")) r->how.header = TSR_HEADER_NONE;
    else return complain_usage(who, "--header takes yes or no, not '%s'", r->header), false;
    return true;
}

static bool read_separator(reading *r, const char *who)
{
    const char *text = !strcmp(r->separator, "tab") || !strcmp(r->separator, "\\t") ? "\t" : r->separator;
    if (strlen(text) != 1 || strchr("\"\r\n", *text))
        return complain_usage(who, "--separator takes one character, or tab, not '%s'", r->separator), false;
    r->how.separator = *text;
    return true;
}

/* Names between commas. */
static bool read_columns(reading *r, const char *who)
{
    const size_t most = sizeof r->chosen / sizeof *r->chosen, bytes = strlen(r->columns) + 1;
    size_t names = 1;
    for (const char *p = r->columns; *p; p++) names += *p == ',';
    if (names > most || bytes > sizeof r->words)
        return complain_usage(who, "--columns takes at most %zu names, of %zu bytes", most,
                              sizeof r->words), false;
    memcpy(r->words, r->columns, bytes);
    for (char *p = r->words; p;) {
        char *comma = strchr(p, ',');
        r->chosen[r->how.ncolumns++] = p;
        if (comma) *comma++ = '\0';
        p = comma;
    }
    r->how.columns = r->chosen;
    return true;
}

bool reading_check(reading *r, const char *who)
{
    r->how.format = r->format;
    if (!r->format && (r->shape || r->offset)) r->how.format = "raw";
    if (r->dtype && tsr_dtype_parse(&r->how.dtype, r->dtype) != TSR_OK) {
        complain_usage(who, "no dtype is called '%s'", r->dtype);
        return false;
    }
    if (r->offset && !read_count(&r->how.offset, who, "--offset", r->offset)) return false;
    if (r->header && !read_header(r, who)) return false;
    if (r->separator && !read_separator(r, who)) return false;
    if (r->columns && !read_columns(r, who)) return false;
    return !r->shape || read_shape(r, who);
}

/* Names of files --------------------------------------------------------------------- */

static bool is_standard_input(const char *path) { return !strcmp(path, "-"); }

/* The length of the longest beginning of text, up to a ':', a '[' or the end, that is there;
 * 0 if none is, and *why the errno that says so. *kind is what it is. */
static size_t length_of_path(const char *text, path_kind *kind, int *why)
{
    *why = ENOENT;
    for (size_t n = strlen(text); n > 0; n--) {
        if (text[n] && text[n] != ':' && text[n] != '[') continue;
        char *path = copy_of(text, n);
        *kind = is_standard_input(path) ? PATH_FILE : kind_of_path(path);
        if (*kind == PATH_UNKNOWN) *why = errno;
        free(path);
        if (*kind != PATH_NONE && *kind != PATH_UNKNOWN) return n;
    }
    return 0;
}

/* Where a subscript begins at the end of a name: the '[' that its last ']' closes. */
static const char *find_subscript(const char *text)
{
    const char *end = text + strlen(text);
    while (end > text && end[-1] == ' ') end--;
    if (end == text || end[-1] != ']') return NULL;
    for (const char *p = end - 1; p >= text; p--)
        if (*p == '[') return p;
    return NULL;
}

/* A name in quotes; text goes on behind them. NULL if they do not close. */
static char *read_quoted(const char **text)
{
    char *name = room_for(strlen(*text) + 1, 1);
    size_t n = 0;
    const char *p = *text + 1;
    for (; *p && *p != '"'; p++) {
        if (*p == '\\' && p[1]) p++;
        name[n++] = *p;
    }
    if (!*p) {
        free(name);
        return NULL;
    }
    *text = p + 1;
    return name;
}

/* Reads what stands behind the path. */
static int read_rest(source *s, const char *text, const char *rest)
{
    const char *part = NULL, *wrong = NULL;
    if (*rest == ':' && rest[1] == '"') {
        rest++;
        s->wanted = read_quoted(&rest);
        if (!s->wanted)
            return complain_usage(s->command, "%s: the quotes around the name do not close", text);
        part = *rest ? rest : NULL;
    } else if (*rest == ':') {
        part = find_subscript(rest + 1);
        s->wanted = part ? copy_of(rest + 1, (size_t)(part - rest - 1)) : copy_of_text(rest + 1);
    } else if (*rest) {
        part = rest;
    }
    if (!part) return EXIT_YES;
    wrong = subscript_read(&s->part, part);
    if (wrong) return complain_usage(s->command, "%s: %s", text, wrong);
    s->has_part = true;
    return EXIT_YES;
}

/* "-:NAME" has no ':' to look for a file before. */
static int read_words(source *s, const char *text)
{
    int why = 0;
    path_kind kind = PATH_FILE;
    const bool is_input = text[0] == '-' && (!text[1] || text[1] == ':' || text[1] == '[');
    const size_t n = is_input ? 1 : length_of_path(text, &kind, &why);
    if (n == 0) {
        const char *colon = strchr(text, ':'), *bracket = find_subscript(text);
        const char *end = colon ? colon : bracket;
        complain(s->command, "%.*s: %s", end && end > text ? (int)(end - text) : (int)strlen(text), text,
                 strerror(why));
        return EXIT_INPUT;
    }
    s->path = copy_of(text, n);
    s->is_directory = kind == PATH_FOLDER;
    return read_rest(s, text, text + n);
}

/* Directories ------------------------------------------------------------------------ */

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static const char index_ending[] = ".safetensors.index.json";

/* Raw bytes do not tell their dtype. */
static bool is_tensor_file(const char *name)
{
    const tsr_format_info *format = name[0] == '.' ? NULL : tsr_format_of_path(name);
    return format && strcmp(format->name, "raw") != 0;
}

/* Indices first: what they list need not be opened again. */
static int by_name(const void *a, const void *b)
{
    const char *x = ((const source_file *)a)->path, *y = ((const source_file *)b)->path;
    const int first = ends_with(y, index_ending) - ends_with(x, index_ending);
    return first ? first : strcmp(x, y);
}

static void add_path(source *s, char *path)
{
    s->file = room_for_more(s->file, (size_t)s->files, sizeof *s->file);
    s->file[s->files++] = (source_file){ .path = path };
}

static void add_name(void *context, const char *name)
{
    source *s = context;
    if (is_tensor_file(name))
        add_path(s, text_of("%s%s%s", s->path, ends_with(s->path, "/") ? "" : "/", name));
}

static int list_directory(source *s)
{
    if (!each_name_in(s->path, add_name, s)) {
        complain(s->command, "%s: %s", s->path, strerror(errno));
        return EXIT_INPUT;
    }
    if (s->files) qsort(s->file, (size_t)s->files, sizeof *s->file, by_name);
    if (s->files) return EXIT_YES;
    complain(s->command, "%s: there are no tensor files in this directory", s->path);
    return EXIT_INPUT;
}

/* Is the path part of an index that was opened before? */
static bool is_listed(char *const *parts, int count, const char *path)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(parts[i], path)) return true;
    return false;
}

/* Items ------------------------------------------------------------------------------ */

/* The name that a file without directory and ending stands for. */
static char *stem_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    char *stem = dot && dot > name ? copy_of(name, (size_t)(dot - name)) : copy_of_text(name);
    char *decoded = name_of_filename(stem);
    free(stem);
    return decoded;
}

static void add_item(source *s, int file, const tsr_file_entry *e)
{
    const char *encoding = e->encoding ? e->encoding : "", *remedy = strstr(encoding, " (");
    char *kind = copy_of(encoding, remedy ? (size_t)(remedy - encoding) : strlen(encoding));
    char *stem = !e->name[0] && s->is_directory ? stem_of(s->file[file].path) : NULL;
    s->items = room_for_more(s->items, (size_t)s->count, sizeof *s->items);
    s->items[s->count] = (item){
        .name = printable_copy(stem ? stem : e->name),
        .entry = copy_of_text(e->name),
        .stem = stem,
        .encoding = printable_copy(kind),
        .remedy = printable_copy(remedy ? remedy : ""),
        .file = file,
        .place = s->count,
        .desc = e->desc,
        .column = -1,
        .bytes = e->bytes,
        .mapped = e->mapped,
        .is_blocks = e->blocks >= 0,
    };
    free(kind);
    s->count++;
}

enum { OPEN_MOST = 32 };

static void close_files(source *s)
{
    for (int i = 0; i < s->files && s->opened; i++) {
        s->opened -= s->file[i].handle != NULL;
        tsr_file_close(&s->file[i].handle);
    }
}

tsr_file *source_file_at(source *s, int index)
{
    source_file *file = &s->file[index];
    tsr_file_opts how = s->how;
    if (file->handle) return file->handle;
    if (s->opened == OPEN_MOST) close_files(s);
    const char *path = is_standard_input(file->path) ? "/dev/stdin" : file->path;
    if (tsr_file_open(&file->handle, path, &how) != TSR_OK) {
        complain(s->command, "%s", tsr_last_error());
        return NULL;
    }
    s->opened++;
    return file->handle;
}

/* Reads the header of a file. What cannot be read is complained of, and counted. */
static void list_file(source *s, int index)
{
    tsr_file *f = source_file_at(s, index);
    source_file *file = &s->file[index];
    const int64_t before = s->count;
    if (!f) {
        s->damaged++;
        return;
    }
    snprintf(file->format, sizeof file->format, "%s", tsr_file_format(f));
    file->bytes = tsr_file_size(f);
    while (tsr_file_part(f, file->parts)) file->parts++;
    for (int64_t i = 0; i < tsr_file_count(f); i++) {
        tsr_file_entry e;
        if (tsr_file_list(&e, f, i) == TSR_OK) add_item(s, index, &e);
    }
    file->count = s->count - before;
}

/* Lists every file; those that an index lists are left out. */
static void list_files(source *s)
{
    char **parts = NULL;
    int count = 0, kept = 0;
    progress p;
    progress_begin(&p);
    for (int i = 0; i < s->files; i++) {
        const source_file file = s->file[i];
        if (now() - p.started > 1) progress_draw(&p, i, s->files, i);
        if (is_listed(parts, count, file.path)) {
            free(file.path);
            continue;
        }
        s->file[kept] = file;
        list_file(s, kept);
        const tsr_file *f = ends_with(file.path, index_ending) ? s->file[kept].handle : NULL;
        for (int k = 0; f && tsr_file_part(f, k); k++) {
            parts = room_for_more(parts, (size_t)count, sizeof *parts);
            parts[count++] = copy_of_text(tsr_file_part(f, k));
        }
        kept++;
    }
    progress_end(&p);
    s->files = kept;
    for (int i = 0; i < count; i++) free(parts[i]);
    free(parts);
}

int64_t source_find(const source *s, const char *name)
{
    for (int64_t i = 0; i < s->count; i++)
        if (!strcmp(s->items[i].name, name) || !strcmp(s->items[i].entry, name) ||
            (s->items[i].stem && !strcmp(s->items[i].stem, name)))
            return i;
    return -1;
}

static void free_item(item *it)
{
    free(it->name);
    free(it->entry);
    free(it->stem);
    free(it->encoding);
    free(it->remedy);
}

void source_forget(source *s)
{
    tsr_release(&s->whole);
    s->whole_index = -1;
}

int64_t source_keep(source *s, name_fits fits, const void *context)
{
    int64_t kept = 0;
    source_forget(s);
    for (int i = 0; i < s->files; i++) s->file[i].count = 0;
    for (int64_t i = 0; i < s->count; i++) {
        item *it = &s->items[i];
        if (!fits(context, it->name)) {
            free_item(it);
            continue;
        }
        s->file[it->file].count++;
        s->items[kept++] = *it;
    }
    s->count = kept;
    return kept;
}

/* Leaves one item. */
static void keep_only(source *s, int64_t index)
{
    const item it = s->items[index];
    for (int64_t i = 0; i < s->count; i++)
        if (i != index) free_item(&s->items[i]);
    s->items[0] = it;
    s->count = 1;
    for (int i = 0; i < s->files; i++) s->file[i].count = i == it.file;
}

/* The words of a column; there are none if its values are numbers. */
static tsr_meta words_of(const tsr_file *f, const char *name)
{
    tsr_meta words = { 0 };
    char *key = text_of("categories.%s", name);
    if (tsr_file_find_meta(&words, f, key) != TSR_OK || words.type != TSR_META_TEXTS) words.count = 0;
    free(key);
    return words;
}

const char *const *source_words(source *s, const item *it)
{
    const tsr_file *f = it->words ? source_file_at(s, it->file) : NULL;
    return f ? words_of(f, it->stem).texts : NULL;
}

static item column_item(const item *table, const tsr_file *f, const char *name, int column)
{
    item it = *table;
    it.words = words_of(f, name).count;
    it.name = printable_copy(name);
    it.entry = copy_of_text(table->entry);
    it.stem = copy_of_text(name);
    it.encoding = copy_of_text(table->encoding);
    it.remedy = copy_of_text(table->remedy);
    it.column = column;
    it.place = column;
    return it;
}

bool source_split_table(source *s)
{
    tsr_meta names;
    if (s->count != 1 || s->files != 1 || s->items[0].column >= 0 || s->items[0].desc.ndim != 2) return false;
    const char *format = s->file[0].format;
    const tsr_file *f = strcmp(format, "csv") && strcmp(format, "tsv") ? NULL : source_file_at(s, 0);
    if (!f || tsr_file_find_meta(&names, f, "columns") != TSR_OK || names.type != TSR_META_TEXTS ||
        names.count != s->items[0].desc.shape[1])
        return false;
    item table = s->items[0];
    s->items = NULL;
    s->count = 0;
    for (; s->count < names.count; s->count++) {
        s->items = room_for_more(s->items, (size_t)s->count, sizeof *s->items);
        s->items[s->count] = column_item(&table, f, names.texts[s->count], (int)s->count);
    }
    s->file[0].count = s->count;
    free_item(&table);
    return true;
}

static bool is_pattern(const char *text) { return strpbrk(text, "*?[") != NULL; }

static bool fits_pattern(const void *pattern, const char *name) { return matches_patterns(pattern, name); }

static bool any_fits(const source *s)
{
    for (int64_t i = 0; i < s->count; i++)
        if (matches_patterns(s->wanted, s->items[i].name)) return true;
    return false;
}

static int find_wanted(source *s)
{
    char near[200];
    nearest best = { .word = s->wanted };
    int64_t index = source_find(s, s->wanted);
    const bool is_table = index < 0 && source_split_table(s);
    if (is_table) index = source_find(s, s->wanted);
    if (index >= 0) {
        keep_only(s, index);
        return EXIT_YES;
    }
    if (is_pattern(s->wanted) && any_fits(s)) {
        source_keep(s, fits_pattern, s->wanted);
        return EXIT_YES;
    }
    for (int64_t i = 0; i < s->count; i++) nearest_add(&best, s->items[i].name);
    nearest_text(near, sizeof near, &best);
    if (is_pattern(s->wanted)) complain(s->command, "%s: no name matches '%s'%s", s->path, s->wanted, near);
    else complain(s->command, "%s has no %s '%s'%s", s->path, is_table ? "column" : "tensor", s->wanted,
                  near);
    return EXIT_INPUT;
}

/* FILE:w[0] may be the name of a tensor as it stands. */
static bool try_name_with_brackets(source *s, const char *text)
{
    const char *rest = text + strlen(s->path);
    if (*rest != ':' || rest[1] == '"' || !s->has_part) return false;
    const int64_t index = source_find(s, rest + 1);
    if (index < 0) return false;
    s->has_part = false;
    s->part.count = 0;
    keep_only(s, index);
    return true;
}

int source_open(source *out, const char *who, const char *text, const reading *r)
{
    *out = (source){ .command = who, .whole_index = -1 };
    if (r) out->how = r->how;
    const int code = read_words(out, text);
    if (code != EXIT_YES) return code;
    if (!out->is_directory)            add_path(out, copy_of_text(out->path));
    else if (list_directory(out) != EXIT_YES) return EXIT_INPUT;
    list_files(out);
    if (out->damaged && !out->count) return EXIT_INPUT;
    if (!out->wanted || try_name_with_brackets(out, text)) return EXIT_YES;
    return find_wanted(out);
}

void source_close(source *s)
{
    tsr_release(&s->whole);
    close_files(s);
    for (int64_t i = 0; i < s->count; i++) free_item(&s->items[i]);
    for (int i = 0; i < s->files; i++) free(s->file[i].path);
    free(s->items);
    free(s->file);
    free(s->path);
    free(s->wanted);
    *s = (source){ .whole_index = -1 };
}

/* Reading ---------------------------------------------------------------------------- */

/* What is read of an item: its column, and of that what the words say. */
static subscript part_of(const source *s, const item *it)
{
    subscript part = s->part;
    bool has_rest = it->column < 0;
    for (int i = 0; i < part.count; i++) has_rest = has_rest || part.part[i].kind == PART_REST;
    if (!has_rest && part.count < PARTS_MOST) part.part[part.count++] = (subscript_part){ .kind = PART_REST };
    if (it->column >= 0 && part.count < PARTS_MOST)
        part.part[part.count++] = (subscript_part){ .kind = PART_INDEX, .start = it->column };
    return part;
}

bool source_can_read(const source *s, const item *it)
{
    if (it->desc.dtype != TSR_DTYPE_INVALID) return true;
    complain(s->command, "%s%s%s is %s, which is not read%s", s->path, it->name[0] ? ":" : "", it->name,
             it->encoding, it->remedy);
    return false;
}

bool source_cut(cut *out, const source *s, int64_t index)
{
    char why[200];
    const subscript part = part_of(s, &s->items[index]);
    const char *wrong = subscript_cut(out, &part, &s->items[index].desc, why);
    if (wrong)
        complain(s->command, "%s%s%s: %s", s->path, s->items[index].name[0] ? ":" : "", s->items[index].name,
                 wrong);
    return !wrong;
}

static bool report(const source *s, tsr_status status)
{
    if (status != TSR_OK) complain(s->command, "%s", tsr_last_error());
    return status == TSR_OK;
}

bool source_read(tsr_tensor **out, source *s, int64_t index)
{
    const item *it = &s->items[index];
    tsr_file *f = source_file_at(s, it->file);
    cut c;
    if (!f || !source_can_read(s, it) || !source_cut(&c, s, index)) return false;
    if (!s->has_part && it->column < 0) return report(s, tsr_file_read(out, f, it->entry));
    tsr_status status = tsr_file_read_slice(out, f, it->entry, c.ndim, c.range);
    if (status == TSR_OK) status = cut_add_axes(out, &c);
    return report(s, status);
}

/* Pieces ----------------------------------------------------------------------------- */

bool block_first(block *b, int ndim, const int64_t *shape, int64_t most)
{
    int64_t inner = 1;
    *b = (block){ .ndim = ndim, .axis = ndim - 1 };
    for (int i = 0; i < ndim; i++) {
        b->shape[i] = shape[i];
        if (shape[i] == 0) return false;
    }
    while (b->axis > 0 && inner * shape[b->axis] <= most) inner *= shape[b->axis--];
    b->rows = most / inner > 0 ? most / inner : 1;
    for (int i = 0; i < ndim; i++) b->count[i] = i < b->axis ? 1 : shape[i];
    if (ndim > 0 && b->count[b->axis] > b->rows) b->count[b->axis] = b->rows;
    return true;
}

bool block_next(block *b)
{
    for (int i = b->axis; i >= 0; i--) {
        b->from[i] += b->count[i];
        if (b->from[i] < b->shape[i]) {
            const int64_t left = b->shape[i] - b->from[i];
            if (b->count[i] > left) b->count[i] = left;
            return true;
        }
        b->from[i] = 0;
        b->count[i] = i < b->axis ? 1 : b->shape[i] < b->rows ? b->shape[i] : b->rows;
    }
    return false;
}

/* Are parts of this item read without reading more than them? */
static bool is_read_in_parts(const source *s, const item *it)
{
    const char *format = s->file[it->file].format;
    static const char *const whole[] = { "npz", "pt", "hdf5", "png", "jpeg", "pnm", "csv", "tsv" };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (!strcmp(format, whole[i])) return false;
    return !it->mapped;
}

bool source_read_block(tsr_tensor **out, source *s, int64_t index, const cut *c, const block *b)
{
    const item *it = &s->items[index];
    cut part = { .ndim = c->ndim };
    for (int i = 0; i < c->ndim; i++) part.range[i] = range_part(c->range[i], b->from[i], b->count[i]);
    tsr_file *f = source_file_at(s, it->file);
    if (!f) return false;
    if (is_read_in_parts(s, it)) {
        tsr_release(out);
        return report(s, tsr_file_read_slice(out, f, it->entry, part.ndim, part.range));
    }
    if (s->whole_index < 0 || (s->whole_index != index && it->column < 0)) { /* columns are of one table */
        tsr_release(&s->whole);
        s->whole_index = -1;
        if (!report(s, tsr_file_read(&s->whole, f, it->entry))) return false;
        s->whole_index = index;
    }
    return report(s, cut_view(out, s->whole, &part));
}
