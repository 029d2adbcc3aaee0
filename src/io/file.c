/* file.c - opening, listing and reading, for all formats alike. */
#include "core/alloc.h"
#include "core/text.h"
#include "core/storage.h"
#include "core/tensor_int.h"
#include "io_int.h"
#include "nearest.h"
#include "tessera/move.h"
#include "tessera/view.h"

/* Failing ------------------------------------------------------------------------------ */

tsr_status tsri_damage(const char *path, const char *fmt, ...)
{
    char words[TSRI_MESSAGE];
    va_list args;
    tsri_text text = tsri_text_into(words, sizeof words);
    va_start(args, fmt);
    tsri_putv(&text, fmt, args);
    va_end(args);
    return tsri_fail(TSR_EFORMAT, "file: %s: %s", path, words);
}

static tsr_status no_room(const tsr_file *f)
{
    return tsri_fail(TSR_ENOMEM, "file_open: %s: no room for what it lists", f->path);
}

tsr_status tsri_file_range(const tsr_file *f, const char *what, uint64_t offset, uint64_t bytes)
{
    const uint64_t size = f->parts[0]->size;
    TSRI_SOUND(offset <= size && bytes <= size - offset, f,
               "%s takes %llu bytes from byte %llu on, and the file ends at %llu", what, tsri_ull(bytes),
               tsri_ull(offset), tsri_ull(size));
    return TSR_OK;
}

/* Filling a file: for formats ---------------------------------------------------------- */

tsr_status tsri_file_shape_bytes(uint64_t *out, const tsr_file *f, const char *name, size_t element, int ndim,
                                 const int64_t *shape)
{
    int64_t bytes = (int64_t)element, reach = 1;
    bool fits = true;
    for (int i = 0; i < ndim; i++) {
        TSRI_SOUND(shape[i] >= 0, f, "%s: dim %d is %lld", name, i, (long long)shape[i]);
        fits = fits && tsri_mul(&bytes, bytes, shape[i]) && tsri_mul(&reach, reach, tsri_max(shape[i], 1));
    }
    /* Packed strides count empty dims as 1, and must fit as well. */
    fits = fits && tsri_mul(&reach, reach, (int64_t)element);
    TSRI_SOUND(fits, f, "%s: the shape has more bytes than 63 bits can count", name);
    *out = (uint64_t)bytes;
    return TSR_OK;
}

tsr_status tsri_file_add(tsr_file *f, tsri_entry **out, const char *name, tsr_dtype dtype, int ndim,
                         const int64_t *shape)
{
    TSRI_CHECK(ndim <= TSR_MAX_NDIM, TSR_EUNSUPPORTED, "file_open: %s: %s has %d dims; at most %d are read",
               f->path, name, ndim, TSR_MAX_NDIM);
    uint64_t bytes;
    TSRI_TRY(tsri_file_shape_bytes(&bytes, f, name, dtype ? tsr_dtype_size(dtype) : 1, ndim, shape));
    tsri_entry *e = tsri_bump_take(&f->memory, sizeof *e);
    int64_t *copy = tsri_bump_take(&f->memory, (size_t)ndim * sizeof *copy);
    if (!e || !copy || !tsri_list_grow(&f->memory, &f->entry_list, (void ***)&f->entries)) return no_room(f);
    for (int i = 0; i < ndim; i++) copy[i] = shape[i];
    *e = (tsri_entry){
        .name = name, .encoding = "", .shape = copy, .dtype = dtype, .ndim = ndim, .bytes = bytes
    };
    f->entries[f->entry_list.count++] = e;
    *out = e;
    return TSR_OK;
}

tsr_status tsri_file_add_meta(tsr_file *f, tsr_meta **out, const char *key)
{
    tsr_meta *m = tsri_bump_take(&f->memory, sizeof *m);
    if (!m || !tsri_list_grow(&f->memory, &f->meta_list, (void ***)&f->metas)) return no_room(f);
    m->key = key;
    f->metas[f->meta_list.count++] = m;
    *out = m;
    return TSR_OK;
}

tsr_status tsri_file_add_text(tsr_file *f, const char *key, const char *text, size_t length)
{
    tsr_meta *m = NULL;
    TSRI_TRY(tsri_file_add_meta(f, &m, key));
    m->type = TSR_META_TEXT;
    m->text = text;
    m->length = length;
    return TSR_OK;
}

static tsr_status new_part(tsri_source **out, tsr_file *f)
{
    tsri_source *s = tsri_bump_take(&f->memory, sizeof *s);
    if (!s || !tsri_list_grow(&f->memory, &f->part_list, (void ***)&f->parts)) return no_room(f);
    s->file = -1;
    f->parts[f->part_list.count++] = s;
    *out = s;
    return TSR_OK;
}

tsr_status tsri_file_add_part(tsr_file *f, const char *path)
{
    tsri_source *s = NULL;
    const char *copy = tsri_bump_text(&f->memory, path, tsri_strlen(path));
    if (!copy) return no_room(f);
    TSRI_TRY(new_part(&s, f));
    return tsri_source_open(s, copy);
}

/* Names in order ----------------------------------------------------------------------- */

int tsri_name_order(const char *a, const char *b)
{
    while (*a && *a == *b) { a++; b++; }
    return (unsigned char)*a - (unsigned char)*b;
}

const char *tsri_name_in_folder(const char *path)
{
    const char *name = path;
    for (; *path; path++)
        if (*path == '/') name = path + 1;
    return name;
}

static bool entry_before(const void *a, const void *b)
{
    return tsri_name_order(((const tsri_entry *)a)->name, ((const tsri_entry *)b)->name) < 0;
}

static bool meta_before(const void *a, const void *b)
{
    return tsri_name_order(((const tsr_meta *)a)->key, ((const tsr_meta *)b)->key) < 0;
}

static bool sorted(tsr_file *f, void ***out, void *const *array, int64_t n,
                   bool (*before)(const void *, const void *))
{
    void **copy = tsri_bump_take(&f->memory, (size_t)n * sizeof *copy);
    if (!copy) return false;
    if (n) memcpy(copy, array, (size_t)n * sizeof *copy);
    tsri_sort(copy, n, before);
    *out = copy;
    return true;
}

/* Every name leads to one tensor, and every key to one value. */
static tsr_status index_names(tsr_file *f)
{
    const int64_t entries = f->entry_list.count, metas = f->meta_list.count;
    if (!sorted(f, (void ***)&f->by_name, (void *const *)f->entries, entries, entry_before) ||
        !sorted(f, (void ***)&f->by_key, (void *const *)f->metas, metas, meta_before))
        return no_room(f);
    for (int64_t i = 1; i < entries; i++)
        TSRI_SOUND(entry_before(f->by_name[i - 1], f->by_name[i]), f, "two tensors are called \"%s\"",
                   f->by_name[i]->name);
    for (int64_t i = 1; i < metas; i++)
        TSRI_SOUND(meta_before(f->by_key[i - 1], f->by_key[i]), f, "two values of the key \"%s\"",
                   f->by_key[i]->key);
    return TSR_OK;
}

/* Opening ------------------------------------------------------------------------------ */

static tsr_status find_format(tsr_file *f)
{
    unsigned char head[512];
    const tsri_source *s = f->parts[0];
    const size_t n = s->size < sizeof head ? (size_t)s->size : sizeof head;
    if (f->opts.format) {
        f->format = tsri_format_named(f->opts.format);
        TSRI_CHECK(f->format, TSR_EINVAL, "file_open: %s: opts.format is \"%s\"; there are%s", f->path,
                   f->opts.format, tsri_format_list);
        return TSR_OK;
    }
    TSRI_TRY(tsri_source_read(s, head, 0, n));
    f->format = tsri_format_of_bytes(head, n);
    const char *foreign = f->format || f->opts.dtype ? NULL : tsri_format_foreign(head, n);
    TSRI_CHECK(!foreign, TSR_EFORMAT, "file_open: %s: %s", f->path, foreign);
    if (!f->format) f->format = tsri_format_of_path(f->path);
    TSRI_CHECK(
        f->format, TSR_EFORMAT,
        "file_open: %s: neither its first bytes nor the end of its name tell a format (opts.format does)",
        f->path);
    return TSR_OK;
}

static tsr_status check_table_opts(const tsr_file_opts *o)
{
    TSRI_CHECK(o->header >= TSR_HEADER_FOUND && o->header <= TSR_HEADER_NONE, TSR_EINVAL,
               "file_open: opts.header %d is none", (int)o->header);
    TSRI_CHECK(o->separator != '"' && o->separator != '\n' && o->separator != '\r', TSR_EINVAL,
               "file_open: opts.separator is character %d, which ends no field", o->separator);
    TSRI_CHECK(o->ncolumns >= 0, TSR_EINVAL, "file_open: opts.ncolumns is %d", o->ncolumns);
    TSRI_CHECK(o->columns || o->ncolumns == 0, TSR_ENULL, "file_open: opts.columns is NULL");
    for (int i = 0; i < o->ncolumns; i++)
        TSRI_CHECK(o->columns[i], TSR_ENULL, "file_open: opts.columns[%d] is NULL", i);
    return TSR_OK;
}

/* Options that point elsewhere are copied, or not used once the file is open. */
static tsr_status take_opts(tsr_file *f, const tsr_file_opts *opts)
{
    if (!opts) return TSR_OK;
    f->opts = *opts;
    TSRI_CHECK(opts->ndim >= 0 && opts->ndim <= TSR_MAX_NDIM, TSR_EINVAL, "file_open: opts.ndim is %d",
               opts->ndim);
    TSRI_CHECK(opts->shape || opts->ndim == 0, TSR_ENULL, "file_open: opts.shape is NULL");
    TSRI_CHECK(opts->dtype == TSR_DTYPE_INVALID || tsr_dtype_is_valid(opts->dtype), TSR_EDTYPE,
               "file_open: opts.dtype %d is none", (int)opts->dtype);
    TSRI_TRY(check_table_opts(opts));
    int64_t *shape = tsri_bump_take(&f->memory, TSR_MAX_NDIM * sizeof *shape);
    if (!shape) return no_room(f);
    for (int i = 0; i < opts->ndim; i++) shape[i] = opts->shape[i];
    f->opts.shape = opts->shape ? shape : NULL;
    return TSR_OK;
}

static tsr_status new_file(tsr_file **out, const char *path, const tsr_file_opts *opts)
{
    tsr_file *f = tsri_scratch(sizeof *f);
    TSRI_CHECK(f, TSR_ENOMEM, "file_open: %s: no room", path);
    *f = (tsr_file){ .path = path };
    *out = f;
    f->path = tsri_bump_text(&f->memory, path, tsri_strlen(path));
    if (!f->path) {
        f->path = path;
        return no_room(f);
    }
    return take_opts(f, opts);
}

static tsr_status fill(tsr_file *f)
{
    TSRI_CHECK(TSRI_LITTLE_ENDIAN, TSR_EUNSUPPORTED, "file_open: %s: this machine is big-endian",
               f->path);
    TSRI_TRY(find_format(f));
    TSRI_SOUND(f->parts[0]->size || f->format->may_be_empty, f, "the file is empty");
    TSRI_TRY(f->format->open(f));
    f->opts.columns = NULL;
    return index_names(f);
}

static tsr_status hand_over(tsr_file **out, tsr_file *f, tsr_status s)
{
    if (s != TSR_OK) {
        tsr_file_close(&f);
        return s;
    }
    tsr_file *old = *out;
    *out = f;
    tsr_file_close(&old);
    return TSR_OK;
}

static tsr_status open_path(tsr_file *f)
{
    tsri_source *s = NULL;
    TSRI_TRY(new_part(&s, f));
    TSRI_TRY(tsri_source_open(s, f->path));
    return fill(f);
}

tsr_status tsr_file_open(tsr_file **out, const char *path, const tsr_file_opts *opts)
{
    tsr_file *f = NULL;
    TSRI_CHECK(out, TSR_ENULL, "file_open: out is NULL");
    TSRI_CHECK(path, TSR_ENULL, "file_open: path is NULL");
    tsr_status s = new_file(&f, path, opts);
    if (s == TSR_OK) s = open_path(f);
    return hand_over(out, f, s);
}

static tsr_status open_bytes(tsr_file *f, const void *data, size_t bytes)
{
    tsri_source *s = NULL;
    TSRI_TRY(new_part(&s, f));
    tsri_source_open_bytes(s, data, bytes, f->path);
    return fill(f);
}

tsr_status tsr_file_open_bytes(tsr_file **out, const void *data, size_t bytes, const char *name,
                               const tsr_file_opts *opts)
{
    tsr_file *f = NULL;
    TSRI_CHECK(out, TSR_ENULL, "file_open_bytes: out is NULL");
    TSRI_CHECK(data || bytes == 0, TSR_ENULL, "file_open_bytes: data is NULL");
    tsr_status s = new_file(&f, name ? name : "(bytes)", opts);
    if (s == TSR_OK) s = open_bytes(f, data, bytes);
    return hand_over(out, f, s);
}

void tsr_file_close(tsr_file **pf)
{
    if (!pf || !*pf) return;
    tsr_file *f = *pf;
    *pf = NULL;
    for (int64_t i = 0; i < f->part_list.count; i++) tsri_source_close(f->parts[i]);
    tsri_bump_free(&f->memory);
    tsri_free(f, sizeof *f);
}

/* Listing ------------------------------------------------------------------------------ */

const char *tsr_file_format(const tsr_file *f) { return f ? f->format->info.name : ""; }
int64_t tsr_file_count(const tsr_file *f) { return f ? f->entry_list.count : 0; }
int64_t tsr_file_meta_count(const tsr_file *f) { return f ? f->meta_list.count : 0; }

uint64_t tsr_file_size(const tsr_file *f)
{
    uint64_t sum = 0;
    for (int64_t i = 0; f && i < f->part_list.count; i++) sum += f->parts[i]->size;
    return sum;
}

const char *tsr_file_part(const tsr_file *f, int part)
{
    return f && part >= 0 && part < f->part_list.count ? f->parts[part]->path : NULL;
}

tsri_source *tsri_entry_source(const tsr_file *f, const tsri_entry *e) { return f->parts[e->part]; }

/* Shapes were checked when the entry was added. */
tsr_desc tsri_entry_desc(const tsri_entry *e)
{
    tsr_desc d = { .dtype = e->dtype, .ndim = e->ndim };
    int64_t step = 1;
    for (int i = 0; i < e->ndim; i++) {
        const int axis = e->column_major ? i : e->ndim - 1 - i;
        d.shape[axis] = e->shape[axis];
        d.stride[axis] = e->stride ? e->stride[axis] : step;
        step *= tsri_max(e->shape[axis], 1);
    }
    return d;
}

static size_t alignment_of(tsr_dtype dtype)
{
    const size_t size = tsr_dtype_size(dtype);
    return tsr_dtype_kind(dtype) == TSR_COMPLEX ? size / 2 : size;
}

/* The bytes of a file's bool may be anything; those of a tensor are 0 and 1. */
static bool can_map(const tsr_file *f, const tsri_entry *e)
{
    const tsri_source *s = tsri_entry_source(f, e);
    return e->plain && e->dtype != TSR_BOOL && !f->opts.copy &&
           !e->swapped && (s->file >= 0 || s->storage) && e->bytes > 0 &&
           e->offset % alignment_of(e->dtype) == 0;
}

static void describe(tsr_file_entry *out, const tsr_file *f, const tsri_entry *e)
{
    *out = (tsr_file_entry){
        .name = e->name, .encoding = e->encoding, .desc = tsri_entry_desc(e), .offset = e->offset,
        .bytes = e->bytes, .part = e->part, .mapped = can_map(f, e), .blocks = (int8_t)(e->blocks - 1),
    };
}

tsr_status tsr_file_list(tsr_file_entry *out, const tsr_file *f, int64_t index)
{
    TSRI_CHECK(out, TSR_ENULL, "file_list: out is NULL");
    TSRI_CHECK(f, TSR_ENULL, "file_list: f is NULL");
    TSRI_CHECK(index >= 0 && index < f->entry_list.count, TSR_EINDEX, "file_list: %s: tensor %lld of %lld",
               f->path, (long long)index, (long long)f->entry_list.count);
    describe(out, f, f->entries[index]);
    return TSR_OK;
}

/* The name of the file's tensor that is most like this one, but for `taken`. NULL: none is like it. */
static const char *nearest_name(const tsr_file *f, const char *name, const char *taken)
{
    const char *best = NULL;
    int most = 2 + (int)(tsri_strlen(name) / 4);
    for (int64_t i = 0; i < f->entry_list.count; i++) {
        const char *other = f->by_name[i]->name;
        const int d = other == taken ? most : tsri_name_distance(name, other, most);
        if (d < most) {
            most = d;
            best = other;
        }
    }
    return best;
}

static tsr_status no_such_tensor(const char *op, const tsr_file *f, const char *name)
{
    const int64_t n = f->entry_list.count;
    if (n == 0) return tsri_fail(TSR_EINDEX, "%s: %s has no tensors", op, f->path);
    const char *first = nearest_name(f, name, NULL), *second = first ? nearest_name(f, name, first) : NULL;
    if (!first)
        return tsri_fail(TSR_EINDEX, "%s: %s has no tensor \"%s\" among its %lld; the first is \"%s\"", op,
                         f->path, name, (long long)n, f->by_name[0]->name);
    return tsri_fail(TSR_EINDEX, "%s: %s has no tensor \"%s\" among its %lld; did you mean \"%s\"%s%s%s?", op,
                     f->path, name, (long long)n, first, second ? " or \"" : "", second ? second : "",
                     second ? "\"" : "");
}

static tsr_status find_entry(const tsri_entry **out, const char *op, const tsr_file *f, const char *name)
{
    TSRI_CHECK(f, TSR_ENULL, "%s: f is NULL", op);
    int64_t low = 0, high = f->entry_list.count;
    if (!name || !*name) {  /* where there are several, one of them may have the empty name */
        TSRI_CHECK(high == 1 || (name && high > 0 && !*f->by_name[0]->name), TSR_EINDEX,
                   "%s: %s has %lld tensors, and no name says which", op, f->path, (long long)high);
        *out = f->by_name[0];
        return TSR_OK;
    }
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const int order = tsri_name_order(f->by_name[middle]->name, name);
        if (order == 0) {
            *out = f->by_name[middle];
            return TSR_OK;
        }
        if (order < 0) low = middle + 1;
        else           high = middle;
    }
    return no_such_tensor(op, f, name);
}

tsr_status tsr_file_find(tsr_file_entry *out, const tsr_file *f, const char *name)
{
    const tsri_entry *e;
    TSRI_CHECK(out, TSR_ENULL, "file_find: out is NULL");
    TSRI_TRY(find_entry(&e, "file_find", f, name));
    describe(out, f, e);
    return TSR_OK;
}

tsr_status tsr_file_meta(tsr_meta *out, const tsr_file *f, int64_t index)
{
    TSRI_CHECK(out, TSR_ENULL, "file_meta: out is NULL");
    TSRI_CHECK(f, TSR_ENULL, "file_meta: f is NULL");
    TSRI_CHECK(index >= 0 && index < f->meta_list.count, TSR_EINDEX, "file_meta: %s: value %lld of %lld",
               f->path, (long long)index, (long long)f->meta_list.count);
    *out = *f->metas[index];
    return TSR_OK;
}

tsr_status tsr_file_find_meta(tsr_meta *out, const tsr_file *f, const char *key)
{
    TSRI_CHECK(out, TSR_ENULL, "file_find_meta: out is NULL");
    TSRI_CHECK(f, TSR_ENULL, "file_find_meta: f is NULL");
    TSRI_CHECK(key, TSR_ENULL, "file_find_meta: key is NULL");
    for (int64_t low = 0, high = f->meta_list.count; low < high;) {
        const int64_t middle = low + (high - low) / 2;
        const int order = tsri_name_order(f->by_key[middle]->key, key);
        if (order == 0) {
            *out = *f->by_key[middle];
            return TSR_OK;
        }
        if (order < 0) low = middle + 1;
        else           high = middle;
    }
    return tsri_fail(TSR_EINDEX, "file_find_meta: %s has no value \"%s\"", f->path, key);
}

/* Reading plain elements --------------------------------------------------------------- */

static void swap_bytes(unsigned char *p, size_t element, int64_t n)
{
    for (int64_t i = 0; i < n; i++, p += element)
        for (size_t a = 0, b = element - 1; a < b; a++, b--) {
            const unsigned char t = p[a];
            p[a] = p[b];
            p[b] = t;
        }
}

void tsri_make_elements(tsr_tensor *t, const tsri_entry *e)
{
    int64_t lo;
    const int64_t bytes = tsri_desc_span(&t->desc, &lo);
    unsigned char *p = (unsigned char *)t->data + lo;
    const size_t part = alignment_of(t->dtype);
    if (e->swapped) swap_bytes(p, part, bytes / (int64_t)part);
    if (t->dtype == TSR_BOOL)
        for (int64_t i = 0; i < bytes; i++) p[i] = p[i] != 0;
}

/* A desc of elements as one of their bytes, which lie at any address. */
static void desc_of_bytes(tsr_desc *out, const tsr_desc *d)
{
    const int64_t size = tsri_dtype_size(d->dtype);
    *out = *d;
    out->dtype = TSR_U8;
    for (int i = 0; i < d->ndim; i++) out->stride[i] = d->shape[i] > 1 ? d->stride[i] * size : size;
    out->shape[out->ndim] = size;
    out->stride[out->ndim++] = 1;
}

/* Copies a part of the bytes at `base`, strided, whatever their alignment. */
static tsr_status gather(tsr_tensor *t, const unsigned char *base, const tsr_desc *from)
{
    tsr_tensor src, dst;
    tsr_desc d;
    desc_of_bytes(&d, from);
    TSRI_TRY(tsr_place(&src, (void *)(uintptr_t)base, &d));
    desc_of_bytes(&d, &t->desc);
    TSRI_TRY(tsr_place(&dst, t->data, &d));
    return tsr_copy(&dst, &src);
}

static bool is_whole(const tsr_desc *cut, const tsr_desc *stored) { return tsr_desc_same(cut, stored); }

/* The bytes of `cut`, into a fresh packed tensor of the same order of dims. */
static tsr_status fill_fresh(tsr_tensor *t, tsri_source *s, const tsri_entry *e, const tsr_desc *stored,
                             const tsr_desc *cut, int64_t start)
{
    const int64_t size = tsri_dtype_size(e->dtype);
    int64_t lo;
    if (tsr_desc_numel(cut) == 0) return TSR_OK;
    if (is_whole(cut, stored)) {
        (void)tsri_desc_span(&t->desc, &lo);
        TSRI_TRY(tsri_source_read_wide(s, (char *)t->data + lo, e->offset, (size_t)e->bytes));
    } else {
        TSRI_TRY(tsri_source_map(s));
        TSRI_TRY(gather(t, s->base + e->offset + start * size, cut));
    }
    tsri_make_elements(t, e);
    return TSR_OK;
}

/* A tensor in memory of its own; one with strides (e->stride) only without elements. With TSR_MAX_NDIM dims a
 * part cannot be gathered, as gather() adds a dim for the bytes of an element: all of the tensor is read, and
 * the part taken. */
static tsr_status read_copy(tsr_tensor **out, tsri_source *s, const tsri_entry *e, const tsr_desc *cut,
                            int64_t start)
{
    const tsr_desc stored = tsri_entry_desc(e);
    const bool whole_first = !is_whole(cut, &stored) && cut->ndim == TSR_MAX_NDIM && tsr_desc_numel(cut) > 0;
    tsr_tensor *t = NULL, *part = NULL;
    tsr_desc packed;
    TSRI_TRY(tsr_desc_packed_like(&packed, whole_first ? &stored : cut, e->dtype));
    tsr_status status = tsri_make(&t, "file_read", &packed, TSR_CPU, TSR_MEMORY_HOST);
    if (status == TSR_OK)
        status = fill_fresh(t, s, e, &stored, whole_first ? &stored : cut, whole_first ? 0 : start);
    if (status == TSR_OK && whole_first) {
        status = tsr_as_strided(&part, t, cut->ndim, cut->shape, cut->stride, start);
        tsr_release(&t);
        t = part;
    }
    if (status != TSR_OK) tsr_release(&t);
    else *out = t;
    return status;
}

/* A tensor with strides (e->stride): copies the bytes that these reach, gaps too, and keeps the strides, so
 * that a tensor that repeats its elements takes no more memory than in the file. */
static tsr_status read_strided(tsr_tensor **out, tsri_source *s, const tsri_entry *e, const tsr_desc *cut,
                               int64_t start)
{
    int64_t lo;
    const int64_t bytes = tsri_desc_span(cut, &lo), first = start * tsri_dtype_size(e->dtype) + lo;
    tsr_storage *storage = NULL;
    TSRI_TRY(tsri_storage_create(&storage, (size_t)bytes, TSR_CPU, TSR_MEMORY_HOST, "file_read"));
    tsr_status status = tsri_source_read_wide(s, tsr_storage_data(storage), e->offset + (uint64_t)first,
                                              (size_t)bytes);
    if (status == TSR_OK) status = tsr_from_storage(out, storage, (size_t)-lo, cut);
    if (status == TSR_OK) tsri_make_elements(*out, e);
    tsr_storage_release(&storage);
    return status;
}

static tsr_status read_mapped(tsr_tensor **out, tsri_source *s, const tsri_entry *e, const tsr_desc *cut,
                              int64_t start)
{
    TSRI_TRY(tsri_source_map(s));
    return tsr_from_storage(out, s->storage, (size_t)e->offset + (size_t)start * tsr_dtype_size(e->dtype),
                            cut);
}

tsr_status tsri_read_plain(tsr_tensor **out, const tsr_file *f, const tsri_entry *e, const tsr_desc *cut,
                           int64_t start)
{
    const tsr_desc all = tsri_entry_desc(e);
    tsri_source *s = tsri_entry_source(f, e);
    if (!cut) cut = &all;
    if (can_map(f, e) && tsr_desc_numel(cut) > 0) return read_mapped(out, s, e, cut, start);
    if (e->stride && tsr_desc_numel(cut) > 0) return read_strided(out, s, e, cut, start);
    return read_copy(out, s, e, cut, start);
}

/* Reading ------------------------------------------------------------------------------ */

/* Hands a fresh tensor to the caller: as the result, or copied into the one given, which fits. */
static tsr_status deliver(tsr_tensor **out, tsr_tensor *fresh)
{
    if (!*out) {
        *out = fresh;
        return TSR_OK;
    }
    const tsr_status s = tsr_copy(*out, fresh);
    tsr_release(&fresh);
    return s;
}

/* Before anything is read: does what the file holds fit into what was given? */
static tsr_status check_given(const char *op, const tsr_tensor *out, const tsr_desc *d)
{
    if (!out) return TSR_OK;
    TSRI_TRY(tsri_check_tensor(op, "*out", out));
    TSRI_TRY(tsri_check_writable(op, "*out", out));
    TSRI_CHECK(out->dtype == d->dtype, TSR_EDTYPE, "%s: out is %s, and the file holds %s", op,
               TSRI_DESC(&out->desc), TSRI_DESC(d));
    TSRI_CHECK(tsr_desc_same_shape(&out->desc, d), TSR_ESHAPE, "%s: out is %s, and the file holds %s", op,
               TSRI_DESC(&out->desc), TSRI_DESC(d));
    return TSR_OK;
}

static tsr_status check_readable(const char *op, const tsr_file *f, const tsri_entry *e)
{
    TSRI_CHECK(e->dtype != TSR_DTYPE_INVALID, TSR_EUNSUPPORTED,
               "%s: %s%s%s is encoded as %s, which is not read here (tsr_file_read_raw gives its bytes)", op,
               f->path, e->name[0] ? ":" : "", e->name, e->encoding);
    return TSR_OK;
}

static tsr_status check_entry(const tsr_file *f, const tsri_entry *e)
{
    return e->plain && f->format->check ? f->format->check(f, e) : TSR_OK;
}

static tsr_status read_entry(tsr_tensor **out, const tsr_file *f, const tsri_entry *e)
{
    return e->plain ? tsri_read_plain(out, f, e, NULL, 0) : f->format->read(out, f, e);
}

/* A packed tensor of the host takes the bytes as they come. */
static bool reads_in_place(const tsr_tensor *out, const tsri_entry *e, const tsr_desc *d)
{
    return out && out->data && tsri_is_plain(out) && e->plain && !e->stride && tsr_desc_same(&out->desc, d);
}

tsr_status tsr_file_read(tsr_tensor **out, const tsr_file *f, const char *name)
{
    const tsri_entry *e;
    tsr_tensor *t = NULL;
    TSRI_CHECK(out, TSR_ENULL, "file_read: out is NULL");
    TSRI_TRY(find_entry(&e, "file_read", f, name));
    TSRI_TRY(check_readable("file_read", f, e));
    const tsr_desc d = tsri_entry_desc(e);
    TSRI_TRY(check_given("file_read", *out, &d));
    TSRI_TRY(check_entry(f, e));
    if (reads_in_place(*out, e, &d)) return fill_fresh(*out, tsri_entry_source(f, e), e, &d, &d, 0);
    TSRI_TRY(read_entry(&t, f, e));
    return deliver(out, t);
}

/* Applies ranges to a desc; *start is where the part begins, in elements. */
static tsr_status cut_desc(tsr_desc *d, int64_t *start, const tsr_file *f, const tsri_entry *e, int n,
                           const tsr_file_range *ranges)
{
    TSRI_CHECK(n >= 0 && n <= d->ndim, TSR_EINDEX, "file_read_slice: %s: %d ranges of \"%s\", which is %s",
               f->path, n, e->name, TSRI_DESC(d));
    TSRI_CHECK(ranges || n == 0, TSR_ENULL, "file_read_slice: ranges is NULL");
    *start = 0;
    for (int i = 0, axis = 0; i < n; i++) {
        int64_t offset = 0;
        if (ranges[i].step == 0) TSRI_TRY(tsr_desc_select(d, &offset, d, axis, ranges[i].start));
        else TSRI_TRY(tsr_desc_slice(d, &offset, d, axis++, ranges[i].start, ranges[i].stop, ranges[i].step));
        *start += offset;
    }
    return TSR_OK;
}

/* What cannot be read in parts is read whole, and the part kept. */
static tsr_status cut_after(tsr_tensor **out, const tsr_file *f, const tsri_entry *e, const tsr_desc *cut,
                            int64_t start)
{
    tsr_tensor *whole = NULL;
    TSRI_TRY(f->format->read(&whole, f, e));
    const tsr_status s = tsr_as_strided(out, whole, cut->ndim, cut->shape, cut->stride, start);
    tsr_release(&whole);
    return s;
}

tsr_status tsr_file_read_slice(tsr_tensor **out, const tsr_file *f, const char *name, int n,
                               const tsr_file_range *ranges)
{
    const tsri_entry *e;
    tsr_tensor *t = NULL;
    int64_t start;
    TSRI_CHECK(out, TSR_ENULL, "file_read_slice: out is NULL");
    TSRI_TRY(find_entry(&e, "file_read_slice", f, name));
    TSRI_TRY(check_readable("file_read_slice", f, e));
    tsr_desc d = tsri_entry_desc(e);
    TSRI_TRY(cut_desc(&d, &start, f, e, n, ranges));
    TSRI_TRY(check_given("file_read_slice", *out, &d));
    if (e->plain)                  TSRI_TRY(tsri_read_plain(&t, f, e, &d, start));
    else if (f->format->read_part) TSRI_TRY(f->format->read_part(&t, f, e, n, ranges));
    else                           TSRI_TRY(cut_after(&t, f, e, &d, start));
    return deliver(out, t);
}

/* The stored bytes of an entry as a plain one. */
static tsr_status read_bytes(tsr_tensor **out, const tsr_file *f, const tsri_entry *e)
{
    const int64_t n = (int64_t)e->bytes;
    const tsri_entry bytes = { .name = e->name, .encoding = "u8", .shape = &n, .dtype = TSR_U8, .ndim = 1,
                               .part = e->part, .plain = true, .offset = e->offset, .bytes = e->bytes };
    return tsri_read_plain(out, f, &bytes, NULL, 0);
}

tsr_status tsr_file_read_raw(tsr_tensor **out, const tsr_file *f, const char *name)
{
    const tsri_entry *e;
    tsr_tensor *t = NULL;
    TSRI_CHECK(out, TSR_ENULL, "file_read_raw: out is NULL");
    TSRI_TRY(find_entry(&e, "file_read_raw", f, name));
    TSRI_TRY(f->format->read_raw ? f->format->read_raw(&t, f, e) : read_bytes(&t, f, e));
    const tsr_status s = check_given("file_read_raw", *out, &t->desc);
    if (s != TSR_OK) {
        tsr_release(&t);
        return s;
    }
    return deliver(out, t);
}

tsr_status tsr_file_load(tsr_tensor **out, const char *path, const char *name)
{
    tsr_file *f = NULL;
    TSRI_CHECK(out, TSR_ENULL, "file_load: out is NULL");
    TSRI_TRY(tsr_file_open(&f, path, NULL));
    const tsr_status s = tsr_file_read(out, f, name);
    tsr_file_close(&f);
    return s;
}
