/* safetensors.c - eight bytes of length, a header in JSON, and the elements, without gaps;
 * and the JSON index of a set of such files. */
#include "core/alloc.h"
#include "json.h"

enum { LENGTH = 8, LARGEST_HEADER = 100 << 20, ALIGNMENT = 64 };

static const struct { const char *name; tsr_dtype dtype; } dtypes[] = {
    { "BOOL", TSR_BOOL }, { "U8", TSR_U8 }, { "I8", TSR_I8 }, { "U16", TSR_U16 }, { "I16", TSR_I16 },
    { "U32", TSR_U32 }, { "I32", TSR_I32 }, { "U64", TSR_U64 }, { "I64", TSR_I64 }, { "F16", TSR_F16 },
    { "BF16", TSR_BF16 }, { "F32", TSR_F32 }, { "F64", TSR_F64 }, { "C64", TSR_C64 },
    { "F8_E4M3", TSR_F8E4M3 }, { "F8_E5M2", TSR_F8E5M2 },
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* TSR_DTYPE_INVALID for what is not read here. */
static tsr_dtype dtype_named(const char *name)
{
    for (int i = 0; i < DTYPES; i++)
        if (tsri_streq(dtypes[i].name, name)) return dtypes[i].dtype;
    return TSR_DTYPE_INVALID;
}

static const char *name_of(tsr_dtype dtype)
{
    for (int i = 0; i < DTYPES; i++)
        if (dtypes[i].dtype == dtype) return dtypes[i].name;
    return NULL;
}

/* Reading a header --------------------------------------------------------------------- */

typedef struct data { uint64_t start, size; int part; } data;  /* where the elements of a file lie */

typedef struct found {
    const char *encoding;
    int         ndim;
    int64_t     shape[TSR_MAX_NDIM];
    int64_t     begin, end;
    bool        has_shape, has_offsets;
} found;

static tsr_status read_shape(tsri_json *j, const char *name, found *t)
{
    bool first = true, more;
    TSRI_TRY(tsri_json_take(j, '['));
    for (t->ndim = 0;; t->ndim++) {
        TSRI_TRY(tsri_json_next(j, ']', &first, &more));
        if (!more) break;
        TSRI_CHECK(t->ndim < TSR_MAX_NDIM, TSR_EUNSUPPORTED, "file_open: %s: \"%s\" has more than %d dims",
                   j->file->path, name, TSR_MAX_NDIM);
        TSRI_TRY(tsri_json_size(j, &t->shape[t->ndim]));
    }
    t->has_shape = true;
    return TSR_OK;
}

static tsr_status read_offsets(tsri_json *j, found *t)
{
    TSRI_TRY(tsri_json_take(j, '['));
    TSRI_TRY(tsri_json_size(j, &t->begin));
    TSRI_TRY(tsri_json_take(j, ','));
    TSRI_TRY(tsri_json_size(j, &t->end));
    t->has_offsets = true;
    return tsri_json_take(j, ']');
}

/* Takes a string that is written as expected, and keeps nothing of it. */
static bool take_word(tsri_json *j, const char *quoted)
{
    const size_t n = tsri_strlen(quoted);
    (void)tsri_json_peek(j);
    if ((size_t)(j->end - j->at) < n || memcmp(j->at, quoted, n) != 0) return false;
    j->at += n;
    return true;
}

/* The name of a known dtype is ours, that of another the file's. */
static tsr_status read_dtype(tsri_json *j, tsr_file *f, found *t)
{
    size_t length;
    for (int i = 0; tsri_json_peek(j) == '"' && i < DTYPES; i++) {
        const size_t n = tsri_strlen(dtypes[i].name);
        if ((size_t)(j->end - j->at) < n + 2 || memcmp(j->at + 1, dtypes[i].name, n) != 0 ||
            j->at[n + 1] != '"')
            continue;
        j->at += n + 2;
        t->encoding = dtypes[i].name;
        return TSR_OK;
    }
    return tsri_json_text(j, f, &t->encoding, &length);
}

/* One of the three things that a tensor has. */
static tsr_status read_part(tsri_json *j, tsr_file *f, const char *name, found *t)
{
    static const char *const keys[] = { "\"dtype\"", "\"shape\"", "\"data_offsets\"" };
    int which = 0;
    while (which < 3 && !take_word(j, keys[which])) which++;
    if (which == 3) {
        const char *key = "";
        TSRI_TRY(tsri_json_key(j, f, &key));
        return TSRI_DAMAGE(f, "\"%s\" has a key \"%s\", which tensors have not", name, key);
    }
    TSRI_TRY(tsri_json_take(j, ':'));
    return which == 0 ? read_dtype(j, f, t) : which == 1 ? read_shape(j, name, t) : read_offsets(j, t);
}

static tsr_status read_tensor(tsri_json *j, tsr_file *f, const char *name, found *t)
{
    bool first = true, more;
    TSRI_TRY(tsri_json_take(j, '{'));
    for (;;) {
        TSRI_TRY(tsri_json_next(j, '}', &first, &more));
        if (!more) break;
        TSRI_TRY(read_part(j, f, name, t));
    }
    TSRI_SOUND(t->encoding && t->has_shape && t->has_offsets, f, "\"%s\" lacks its %s", name,
               !t->encoding ? "dtype" : !t->has_shape ? "shape" : "data_offsets");
    return TSR_OK;
}

static tsr_status add_tensor(tsri_json *j, tsr_file *f, const char *name, const data *d)
{
    found t = { .encoding = NULL };
    tsri_entry *e;
    TSRI_TRY(read_tensor(j, f, name, &t));
    TSRI_SOUND(t.begin <= t.end && (uint64_t)t.end <= d->size, f,
               "\"%s\" lies at bytes %lld to %lld of the data, which has %llu", name, (long long)t.begin,
               (long long)t.end, tsri_ull(d->size));
    TSRI_TRY(tsri_file_add(f, &e, name, dtype_named(t.encoding), t.ndim, t.shape));
    const uint64_t bytes = (uint64_t)(t.end - t.begin);
    TSRI_SOUND(e->dtype == TSR_DTYPE_INVALID || e->bytes == bytes, f,
               "\"%s\" is %s %s, which takes %llu bytes, and has %llu", name, t.encoding,
               TSRI_DIMS(t.ndim, t.shape), tsri_ull(e->bytes), tsri_ull(bytes));
    e->encoding = t.encoding;
    e->plain = e->dtype != TSR_DTYPE_INVALID;
    e->part = d->part;
    e->offset = d->start + (uint64_t)t.begin;
    e->bytes = bytes;
    return TSR_OK;
}

/* Texts become metadata. An index has numbers too (the total size), which are of no use: there
 * what is no text is skipped. */
static tsr_status read_texts(tsri_json *j, tsr_file *f, bool only_texts)
{
    bool first = true, more;
    TSRI_TRY(tsri_json_take(j, '{'));
    for (;;) {
        const char *key, *text;
        size_t length;
        TSRI_TRY(tsri_json_next(j, '}', &first, &more));
        if (!more) return TSR_OK;
        TSRI_TRY(tsri_json_key(j, f, &key));
        if (!only_texts && tsri_json_peek(j) != '"') {
            TSRI_TRY(tsri_json_skip(j));
            continue;
        }
        TSRI_TRY(tsri_json_text(j, f, &text, &length));
        TSRI_TRY(tsri_file_add_text(f, key, text, length));
    }
}

static bool lies_before(const void *pa, const void *pb)
{
    const tsri_entry *a = pa, *b = pb;
    return a->offset != b->offset ? a->offset < b->offset : a->bytes < b->bytes;
}

/* The format allows no gaps, so that nothing can hide in one, and no overlaps. */
static tsr_status check_cover(tsr_file *f, int64_t first_entry, const data *d)
{
    const int64_t n = f->entry_list.count - first_entry;
    void **sorted = tsri_bump_take(&f->memory, (size_t)n * sizeof *sorted);
    TSRI_CHECK(sorted, TSR_ENOMEM, "file_open: %s: no room for its list", f->path);
    if (n) memcpy(sorted, f->entries + first_entry, (size_t)n * sizeof *sorted);
    tsri_sort(sorted, n, lies_before);
    uint64_t end = d->start;
    for (int64_t i = 0; i < n; i++) {
        const tsri_entry *e = sorted[i];
        TSRI_SOUND(e->offset == end, f, "\"%s\" begins at byte %llu, and the one before it ends at %llu",
                   e->name, tsri_ull(e->offset), tsri_ull(end));
        end += e->bytes;
    }
    TSRI_SOUND(end == d->start + d->size, f, "%llu bytes at the end belong to no tensor",
               tsri_ull(d->start + d->size - end));
    return TSR_OK;
}

/* Texts of the files of a set are not read: the index has its own. */
static tsr_status read_header(tsri_json *j, tsr_file *f, const data *d)
{
    bool first = true, more;
    const int64_t before = f->entry_list.count;
    TSRI_TRY(tsri_json_take(j, '{'));
    for (;;) {
        const char *name;
        TSRI_TRY(tsri_json_next(j, '}', &first, &more));
        if (!more) break;
        TSRI_TRY(tsri_json_key(j, f, &name));
        if (!tsri_streq(name, "__metadata__")) TSRI_TRY(add_tensor(j, f, name, d));
        else if (d->part == 0)                 TSRI_TRY(read_texts(j, f, true));
        else                                   TSRI_TRY(tsri_json_skip(j));
    }
    if (!tsri_json_at_end(j)) return tsri_json_expected(j, "nothing more");
    return check_cover(f, before, d);
}

static tsr_status open_part(tsr_file *f, int part)
{
    unsigned char head[LENGTH];
    const tsri_source *s = f->parts[part];
    TSRI_SOUND(s->size >= LENGTH, f, "%s has %llu bytes, too few for safetensors", s->path,
               tsri_ull(s->size));
    TSRI_TRY(tsri_source_read(s, head, 0, LENGTH));
    const uint64_t length = tsri_get64(head);
    TSRI_SOUND(length <= LARGEST_HEADER && length <= s->size - LENGTH, f,
               "%s claims a header of %llu bytes; the file has %llu, and at most %d are read", s->path,
               tsri_ull(length), tsri_ull(s->size), LARGEST_HEADER);
    char *text = tsri_scratch((size_t)length);
    TSRI_CHECK(text, TSR_ENOMEM, "file_open: %s: no room for a header of %llu bytes", s->path,
               tsri_ull(length));
    tsr_status status = tsri_source_read(s, text, LENGTH, (size_t)length);
    const data d = { LENGTH + length, s->size - LENGTH - length, part };
    tsri_json j = { f, text, text, text + length };
    if (status == TSR_OK) status = read_header(&j, f, &d);
    tsri_free(text, (size_t)length);
    return status;
}

/* An index: {"metadata": {...}, "weight_map": {"name": "file", ...}} ------------------- */

/* A file of the set lies beside the index: its name leads nowhere else. */
static tsr_status check_part_name(const tsr_file *f, const char *name)
{
    bool plain = name[0] != '\0' && name[0] != '.';
    for (const char *p = name; *p; p++) plain = plain && *p != '/' && *p != '\\';
    TSRI_SOUND(plain, f, "\"%s\" is no name of a file beside the index", name);
    return TSR_OK;
}

static tsr_status part_named(int *out, tsr_file *f, const char *name)
{
    for (int64_t i = f->part_list.count - 1; i > 0; i--)  /* usually the latest */
        if (tsri_streq(tsri_name_in_folder(f->parts[i]->path), name)) {
            *out = (int)i;
            return TSR_OK;
        }
    TSRI_TRY(check_part_name(f, name));
    const size_t folder = (size_t)(tsri_name_in_folder(f->path) - f->path), length = tsri_strlen(name);
    char *path = tsri_bump_take(&f->memory, folder + length + 1);
    TSRI_CHECK(path, TSR_ENOMEM, "file_open: %s: no room", f->path);
    memcpy(path, f->path, folder);
    memcpy(path + folder, name, length);
    TSRI_TRY(tsri_file_add_part(f, path));
    *out = (int)f->part_list.count - 1;
    return open_part(f, *out);
}

typedef struct place { const char *name; int part; } place;

static bool place_before(const void *a, const void *b)
{
    const char *x = ((const place *)a)->name, *y = ((const place *)b)->name;
    while (*x && *x == *y) { x++; y++; }
    return (unsigned char)*x < (unsigned char)*y;
}

static bool entry_before(const void *a, const void *b)
{
    return place_before(&(place){ ((const tsri_entry *)a)->name, 0 },
                        &(place){ ((const tsri_entry *)b)->name, 0 });
}

/* Is every tensor of the map where the map says? Both are walked in order of names. */
static tsr_status check_places(tsr_file *f, place **places, int64_t n)
{
    const int64_t entries = f->entry_list.count;
    tsri_entry **sorted = tsri_bump_take(&f->memory, (size_t)entries * sizeof *sorted);
    TSRI_CHECK(sorted, TSR_ENOMEM, "file_open: %s: no room", f->path);
    if (entries) memcpy(sorted, f->entries, (size_t)entries * sizeof *sorted);
    tsri_sort((void **)sorted, entries, entry_before);
    tsri_sort((void **)places, n, place_before);
    for (int64_t i = 0, e = 0; i < n; i++) {
        while (e < entries && place_before(&(place){ sorted[e]->name, 0 }, places[i])) e++;
        TSRI_SOUND(e < entries && tsri_streq(sorted[e]->name, places[i]->name) &&
                       sorted[e]->part == places[i]->part,
                   f, "the index has \"%s\" in %s, and it is not there", places[i]->name,
                   f->parts[places[i]->part]->path);
    }
    return TSR_OK;
}

static tsr_status read_map(tsri_json *j, tsr_file *f)
{
    place **places = NULL;
    tsri_list list = { 0, 0 };
    bool first = true, more;
    TSRI_TRY(tsri_json_take(j, '{'));
    for (;;) {
        const char *name, *file;
        size_t length;
        TSRI_TRY(tsri_json_next(j, '}', &first, &more));
        if (!more) return check_places(f, places, list.count);
        TSRI_TRY(tsri_json_key(j, f, &name));
        TSRI_TRY(tsri_json_text(j, f, &file, &length));
        place *p = tsri_bump_take(&f->memory, sizeof *p);
        TSRI_CHECK(p && tsri_list_grow(&f->memory, &list, (void ***)&places), TSR_ENOMEM,
                   "file_open: %s: no room", f->path);
        p->name = name;
        places[list.count++] = p;
        TSRI_TRY(part_named(&p->part, f, file));
    }
}

static tsr_status read_index(tsri_json *j, tsr_file *f)
{
    bool first = true, more, has_map = false;
    TSRI_TRY(tsri_json_take(j, '{'));  /* is_index() has found one */
    for (;;) {
        const char *key;
        TSRI_TRY(tsri_json_next(j, '}', &first, &more));
        if (!more) break;
        TSRI_TRY(tsri_json_key(j, f, &key));
        if (tsri_streq(key, "metadata"))        TSRI_TRY(read_texts(j, f, false));
        else if (!tsri_streq(key, "weight_map")) TSRI_TRY(tsri_json_skip(j));
        else {
            TSRI_SOUND(!has_map, f, "two weight_maps");
            has_map = true;
            TSRI_TRY(read_map(j, f));
        }
    }
    TSRI_SOUND(has_map, f, "a JSON text without a weight_map");
    return tsri_json_at_end(j) ? TSR_OK : tsri_json_expected(j, "nothing more");
}

static tsr_status open_index(tsr_file *f)
{
    const tsri_source *s = f->parts[0];
    const size_t length = (size_t)s->size;
    TSRI_CHECK(s->file >= 0, TSR_EUNSUPPORTED,
               "file_open: %s: an index leads to files beside it, and this is no file", f->path);
    TSRI_SOUND(s->size <= LARGEST_HEADER, f, "an index of %llu bytes; at most %d are read", tsri_ull(s->size),
               LARGEST_HEADER);
    char *text = tsri_scratch(length);
    TSRI_CHECK(text, TSR_ENOMEM, "file_open: %s: no room for an index of %zu bytes", f->path, length);
    tsr_status status = tsri_source_read(s, text, 0, length);
    tsri_json j = { f, text, text, text + length };
    if (status == TSR_OK) status = read_index(&j, f);
    tsri_free(text, length);
    return status;
}

static bool is_space(unsigned char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/* Begins with a brace and no zero byte. A file of tensors begins with a length, which has zero bytes, though
 * its first byte may be that of a brace. */
static bool is_index(const unsigned char *head, size_t n)
{
    size_t i = 0;
    for (size_t k = 0; k < n && k < LENGTH; k++)
        if (head[k] == 0) return false;
    while (i < n && is_space(head[i])) i++;
    return i < n && head[i] == '{';
}

static bool is_safetensors(const unsigned char *head, size_t n)
{
    if (is_index(head, n)) return true;
    return n > LENGTH && tsri_get64(head) <= LARGEST_HEADER && head[LENGTH] == '{';
}

static tsr_status open_safetensors(tsr_file *f)
{
    unsigned char head[64];
    const tsri_source *s = f->parts[0];
    const size_t n = s->size < sizeof head ? (size_t)s->size : sizeof head;
    TSRI_TRY(tsri_source_read(s, head, 0, n));
    return is_index(head, n) ? open_index(f) : open_part(f, 0);
}

/* Writing ------------------------------------------------------------------------------ */

static void put_texts(tsri_text *out, const tsr_writer *w)
{
    tsri_put(out, "\"__metadata__\":{");
    for (int64_t i = 0; i < w->meta_list.count; i++) {
        const tsr_meta *m = w->metas[i];
        if (i) tsri_put_char(out, ',');
        tsri_put_json(out, m->key, tsri_strlen(m->key));
        tsri_put_char(out, ':');
        tsri_put_json(out, m->text, m->length);
    }
    tsri_put_char(out, '}');
}

static void put_tensor(tsri_text *out, const tsri_file_entry *p)
{
    tsri_put_json(out, p->name, tsri_strlen(p->name));
    tsri_put(out, ":{\"dtype\":\"%s\",\"shape\":[", name_of(p->desc.dtype));
    for (int i = 0; i < p->desc.ndim; i++) tsri_put(out, i ? ",%lld" : "%lld", (long long)p->desc.shape[i]);
    tsri_put(out, "],\"data_offsets\":[%llu,%llu]}", tsri_ull(p->offset), tsri_ull(p->offset + p->bytes));
}

static void put_header(tsri_text *out, const tsr_writer *w)
{
    tsri_put_char(out, '{');
    if (w->meta_list.count) put_texts(out, w);
    for (int64_t i = 0; i < w->plan_list.count; i++) {
        if (i || w->meta_list.count) tsri_put_char(out, ',');
        put_tensor(out, w->plan[i]);
    }
    tsri_put_char(out, '}');
}

/* Spaces after the header let the elements begin on a cache line. */
static tsr_status data_start(tsr_writer *w, uint64_t *out)
{
    tsri_text text = tsri_text_into(NULL, 0);
    put_header(&text, w);
    *out = (LENGTH + text.length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    TSRI_CHECK(*out <= LARGEST_HEADER, TSR_EUNSUPPORTED,
               "writer: %s: a header of %zu bytes; safetensors allows %d", w->path, text.length,
               LARGEST_HEADER);
    return TSR_OK;
}

static tsr_status plan(tsr_writer *w, tsri_file_entry *p)
{
    TSRI_CHECK(!p->encoding, TSR_EUNSUPPORTED, "writer_add: %s: safetensors has no encodings", w->path);
    TSRI_CHECK(name_of(p->desc.dtype), TSR_EDTYPE,
               "writer_add: %s: safetensors has no %s (tsr_cast, or another format)", w->path,
               tsr_dtype_name(p->desc.dtype));
    TSRI_CHECK(!tsri_streq(p->name, "__metadata__"), TSR_EINVAL,
               "writer_add: %s: no tensor can be called __metadata__", w->path);
    TSRI_CHECK(tsri_is_utf8(p->name, tsri_strlen(p->name)), TSR_EINVAL,
               "writer_add: %s: the name \"%s\" is not UTF-8", w->path, p->name);
    return TSR_OK;
}

static tsr_status add(tsr_writer *w, tsri_file_entry *p, const tsr_tensor *t)
{
    return tsri_write_elements(w, w->data_start + p->offset, t);
}

static tsr_status move_data(tsr_writer *w, uint64_t to)
{
    enum { ROOM = 1 << 20 };
    void *scratch = tsri_scratch(ROOM);
    TSRI_CHECK(scratch, TSR_ENOMEM, "writer_finish: %s: no room", w->path);
    const tsr_status s = tsri_sink_move(&w->sink, w->data_start, to, w->data_end, scratch, ROOM);
    tsri_free(scratch, ROOM);
    w->data_start = to;
    return s;
}

static tsr_status write_header(tsr_writer *w, char *room, size_t length)
{
    tsri_text text = tsri_text_into(room + LENGTH, length + 1);
    put_header(&text, w);
    tsri_put_repeat(&text, ' ', (int64_t)(length - text.length));
    tsri_set64((unsigned char *)room, length);
    return tsri_sink_write(&w->sink, 0, room, LENGTH + length);
}

static tsr_status finish(tsr_writer *w)
{
    uint64_t start;
    TSRI_TRY(data_start(w, &start));
    if (start > w->data_start) TSRI_TRY(move_data(w, start));
    const size_t bytes = (size_t)w->data_start + 1;
    char *room = tsri_scratch(bytes);
    TSRI_CHECK(room, TSR_ENOMEM, "writer_finish: %s: no room for the header", w->path);
    const tsr_status s = write_header(w, room, (size_t)w->data_start - LENGTH);
    tsri_free(room, bytes);
    TSRI_TRY(s);
    return tsri_sink_cut(&w->sink, w->data_start + w->data_end);
}

static tsr_status check_meta(const tsr_writer *w, const tsr_meta *m)
{
    TSRI_CHECK(m->type == TSR_META_TEXT, TSR_EUNSUPPORTED,
               "writer_meta: %s: \"%s\" is no text, and safetensors holds texts", w->path, m->key);
    TSRI_CHECK(tsri_is_utf8(m->key, tsri_strlen(m->key)) && tsri_is_utf8(m->text, m->length), TSR_EINVAL,
               "writer_meta: %s: \"%s\" is not UTF-8", w->path, m->key);
    return TSR_OK;
}

const tsri_format tsri_safetensors = {
    .info = { "safetensors", "many tensors and texts; also the index of a set of files", true, true, true,
              ".safetensors .safetensors.index.json" },
    .is = is_safetensors,
    .open = open_safetensors,
    .plan = plan,
    .data_start = data_start,
    .add = add,
    .finish = finish,
    .check_meta = check_meta,
    .one_pass = true,
};
