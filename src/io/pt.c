/* pt.c - checkpoints of PyTorch: a zip file with a pickle (pickle.h) and a member for each storage. Dicts,
 * lists and tuples in each other give dotted names, model.layers.0.weight, and so do the attributes of
 * objects: whole modules and those of TorchScript have the names of their state_dict.
 *
 *   NAME/data.pkl    what there is
 *   NAME/data/KEY    the bytes of a storage; tensors may share one
 *   NAME/byteorder   "little" or "big"
 *
 * Before version 1.6 it was no zip file, but five pickles (a number, a version, the machine, what there is,
 * the keys of storages) and then each storage, behind the number of its elements.
 *
 * Work is bounded by the size of the file: names and values together, and what a tensor that repeats its
 * elements (a stride of 0) comes to. Checksums of stored members are not tested: torch.save can be told to
 * write none. */
#include "core/alloc.h"
#include "core/storage.h"
#include "core/text.h"
#include "json.h"
#include "pickle.h"
#include "tessera/view.h"
#include "zip.h"

enum {
    LARGEST = 100 << 20,   /* bytes of a pickle */
    PICKLE_TIMES = 16,     /* the most bytes of the pickle for a byte of the file, beside FREE */
    NAME_TIMES = 64,       /* the same of all names, for a byte of the pickle */
    FREE = 1 << 20,
    REPEATS = 1024,        /* elements of a tensor, over bytes of the file */
    DEEPEST = 64,
    LONGEST = 4000         /* bytes of a name */
};

typedef struct checkpoint {
    tsr_file     *f;
    tsri_zip      zip;
    tsri_member **sorted;   /* by name */
    const char   *folder;   /* NAME/ */
    size_t        folder_length;
    bool          swapped;
    int64_t       budget;   /* bytes of names and values that are still believed */
    char          name[LONGEST + 1];
} checkpoint;

/* A deflated storage, and where a tensor begins in it. */
typedef struct packed { const tsri_member *member; uint64_t offset; } packed;

/* Members ------------------------------------------------------------------------------ */

static bool is_wanted(const char *name)
{
    (void)name;
    return true;
}

static bool name_before(const void *a, const void *b)
{
    return tsri_name_order(((const tsri_member *)a)->name, ((const tsri_member *)b)->name) < 0;
}

/* NULL if there is none. */
static tsri_member *find_member(const checkpoint *c, const char *name)
{
    for (uint64_t low = 0, high = c->zip.count; low < high;) {
        const uint64_t middle = low + (high - low) / 2;
        const int order = tsri_name_order(c->sorted[middle]->name, name);
        if (order == 0) return c->sorted[middle];
        if (order < 0) low = middle + 1;
        else           high = middle;
    }
    return NULL;
}

/* The member NAME/... of these two texts; NULL if there is none. */
static tsri_member *member_named(const checkpoint *c, const char *kind, const char *key, size_t length)
{
    char name[LONGEST];
    tsri_text text = tsri_text_into(name, sizeof name);
    if (c->folder_length + length + 16 > sizeof name || memchr(key, 0, length)) return NULL;
    tsri_put(&text, "%.*s%s%.*s", (int)c->folder_length, c->folder, kind, (int)length, key);
    return find_member(c, name);
}

static bool ends_with(const char *name, const char *ending)
{
    const size_t n = tsri_strlen(name), k = tsri_strlen(ending);
    return n >= k && memcmp(name + n - k, ending, k) == 0;
}

/* The pickle, and the folder it lies in: the outermost, if there are several. */
static tsr_status find_pickle(checkpoint *c, tsri_member **out)
{
    tsri_member *found = NULL;
    for (uint64_t i = 0; i < c->zip.count; i++) {
        tsri_member *m = &c->zip.members[i];
        const size_t n = tsri_strlen(m->name);
        if (ends_with(m->name, "/data.pkl") && (!found || n < tsri_strlen(found->name))) found = m;
    }
    TSRI_SOUND(found, c->f, "a zip file without a data.pkl is no checkpoint of PyTorch");
    c->folder = found->name;
    c->folder_length = tsri_strlen(found->name) - tsri_strlen("data.pkl");
    *out = found;
    return TSR_OK;
}

static tsr_status read_byte_order(checkpoint *c)
{
    char order[8] = { 0 };
    const tsri_member *m = member_named(c, "byteorder", "", 0);
    if (!m) return TSR_OK;
    const size_t n = m->bytes < sizeof order ? (size_t)m->bytes : sizeof order - 1;
    TSRI_TRY(tsri_member_front(order, c->f, m, n));
    c->swapped = memcmp(order, "big", 4) == 0;
    TSRI_SOUND(c->swapped || memcmp(order, "little", 7) == 0, c->f, "a byte order \"%s\"", order);
    return TSR_OK;
}

/* Tensors ------------------------------------------------------------------------------ */

typedef struct found {
    const tsri_python_name *dtype;
    const tsri_member      *member;
    int                     ndim;
    int64_t                 offset, shape[TSR_MAX_NDIM], stride[TSR_MAX_NDIM];
} found;

static tsr_status read_dims(const checkpoint *c, int64_t out[TSR_MAX_NDIM], const tsri_value *v,
                            const char *what)
{
    const int64_t n = v->as.items.list.count;
    TSRI_CHECK(n <= TSR_MAX_NDIM, TSR_EUNSUPPORTED,
               "file_open: %s: \"%s\" has %lld dims; at most %d are read", c->f->path, c->name, (long long)n,
               TSR_MAX_NDIM);
    for (int64_t i = 0; i < n; i++) {
        const tsri_value *d = v->as.items.at[i];
        TSRI_SOUND(d->kind == TSRI_VALUE_INT && d->as.integer >= 0, c->f, "\"%s\": %s %lld is no size",
                   c->name, what, (long long)i);
        out[i] = d->as.integer;
    }
    return TSR_OK;
}

/* A view that PyTorch conjugates or negates when it is used would be read wrong. */
static bool is_unresolved(const tsri_value *v)
{
    const int64_t last = v->name ? 7 : 6;
    if (v->as.items.list.count <= last) return false;
    const tsri_value *bits = v->as.items.at[last];
    for (int64_t i = 1; bits->kind == TSRI_VALUE_DICT && i < bits->as.items.list.count; i += 2)
        if (bits->as.items.at[i]->kind == TSRI_VALUE_BOOL && bits->as.items.at[i]->as.integer) return true;
    return false;
}

static tsr_status find_storage(const checkpoint *c, found *t, const tsri_value *storage)
{
    tsri_value *const *id = storage->as.items.at;
    const char *key = id[2]->as.text.at;
    const size_t length = id[2]->as.text.length;
    t->member = member_named(c, "data/", key, length);
    TSRI_SOUND(t->member, c->f, "\"%s\" lies in the storage \"%.*s\", which is not there", c->name,
               (int)(length < 40 ? length : 40), key);
    if (!t->dtype) t->dtype = id[1]->name;
    TSRI_SOUND(*t->dtype->encoding, c->f, "\"%s\" has no dtype", c->name);
    return TSR_OK;
}

/* One past the last element of the storage that it reaches; -1 beyond 63 bits. */
static int64_t reach_of(const found *t)
{
    int64_t reach = 1;
    for (int i = 0; i < t->ndim; i++) {
        int64_t steps;
        if (t->shape[i] == 0) return 0;
        if (!tsri_mul(&steps, t->shape[i] - 1, t->stride[i]) || !tsri_add(&reach, reach, steps)) return -1;
    }
    return reach;
}

/* Packed in either order of dims, as most are; else the strides are the entry's. */
static tsr_status set_strides(checkpoint *c, tsri_entry *e, const found *t)
{
    for (int column_major = 0; column_major < 2; column_major++) {
        bool same = true;
        e->column_major = column_major;
        const tsr_desc d = tsri_entry_desc(e);
        for (int i = 0; i < t->ndim; i++) same = same && (t->shape[i] == 1 || t->stride[i] == d.stride[i]);
        if (same || e->bytes == 0) return TSR_OK;
    }
    e->column_major = false;
    int64_t *stride = tsri_bump_take(&c->f->memory, sizeof t->stride);
    TSRI_CHECK(stride, TSR_ENOMEM, "file_open: %s: no room", c->f->path);
    memcpy(stride, t->stride, sizeof t->stride);
    e->stride = stride;
    return TSR_OK;
}

static tsr_status set_packed(checkpoint *c, tsri_entry *e, const tsri_member *m, uint64_t offset)
{
    packed *p = tsri_bump_take(&c->f->memory, sizeof *p);
    TSRI_CHECK(p, TSR_ENOMEM, "file_open: %s: no room", c->f->path);
    *p = (packed){ m, offset };
    e->detail = (uint64_t)(uintptr_t)p;
    e->plain = false;
    e->offset = m->data;
    e->bytes = m->stored;
    return TSR_OK;
}

static tsr_status place_tensor(checkpoint *c, tsri_entry *e, const found *t)
{
    const int64_t size = e->dtype ? (int64_t)tsr_dtype_size(e->dtype) : 1, reach = reach_of(t);
    int64_t first, end;
    TSRI_SOUND(reach >= 0 && tsri_mul(&first, t->offset, size) && tsri_mul(&end, reach, size) &&
                   tsri_add(&end, end, first) && (reach == 0 || (uint64_t)end <= t->member->bytes),
               c->f, "\"%s\" leaves its storage \"%s\" of %llu bytes", c->name, t->member->name,
               tsri_ull(t->member->bytes));
    TSRI_SOUND(e->bytes / REPEATS <= c->f->parts[0]->size, c->f, "\"%s\" repeats its elements to %llu bytes",
               c->name, tsri_ull(e->bytes));
    TSRI_TRY(set_strides(c, e, t));
    e->swapped = c->swapped && size > 1;
    e->plain = e->dtype != TSR_DTYPE_INVALID;
    e->bytes = (uint64_t)(reach * size);
    if (reach == 0) return TSR_OK;
    if (t->member->method == TSRI_ZIP_DEFLATED) return set_packed(c, e, t->member, (uint64_t)first);
    e->offset = t->member->data + (uint64_t)first;
    return TSR_OK;
}

/* The name as it stands, in the file's memory. */
static tsr_status keep_name(checkpoint *c, const char **out)
{
    const size_t n = tsri_strlen(c->name);
    TSRI_SOUND(tsri_is_utf8(c->name, n), c->f, "a name that is no UTF-8");
    *out = tsri_bump_text(&c->f->memory, c->name, n);
    TSRI_CHECK(*out, TSR_ENOMEM, "file_open: %s: no room for its names", c->f->path);
    return TSR_OK;
}

/* A tensor that is there, and is not read. */
static tsr_status add_unread(checkpoint *c, int ndim, const int64_t *shape, const char *encoding)
{
    tsri_entry *e = NULL;
    const char *name = NULL;
    TSRI_TRY(keep_name(c, &name));
    TSRI_TRY(tsri_file_add(c->f, &e, name, TSR_DTYPE_INVALID, ndim, shape));
    e->encoding = encoding;
    e->plain = false;
    e->bytes = 0;
    return TSR_OK;
}

static tsr_status add_tensor(checkpoint *c, const tsri_value *v)
{
    tsri_value *const *args = v->as.items.at;
    found t = { .dtype = v->name, .offset = args[1]->as.integer };
    tsri_entry *e = NULL;
    const char *name = NULL;
    TSRI_TRY(read_dims(c, t.shape, args[2], "dim"));
    if (is_unresolved(v))
        return add_unread(c, (int)args[2]->as.items.list.count, t.shape,
                          "conjugated or negated (resolve_conj() or resolve_neg() before saving)");
    TSRI_TRY(find_storage(c, &t, args[0]));
    TSRI_TRY(read_dims(c, t.stride, args[3], "stride"));
    t.ndim = (int)args[2]->as.items.list.count;
    TSRI_SOUND(t.ndim == args[3]->as.items.list.count && t.offset >= 0, c->f,
               "\"%s\" has %d dims and %lld strides, from element %lld of its storage on", c->name, t.ndim,
               (long long)args[3]->as.items.list.count, (long long)t.offset);
    TSRI_TRY(keep_name(c, &name));
    TSRI_TRY(tsri_file_add(c->f, &e, name, t.dtype->dtype, t.ndim, t.shape));
    e->encoding = t.dtype->encoding;
    return place_tensor(c, e, &t);
}

/* Numbers and texts are metadata ------------------------------------------------------- */

static tsr_scalar scalar_of(const tsri_value *v)
{
    return v->kind == TSRI_VALUE_FLOAT  ? tsr_scalar_f64(v->as.number)
           : v->kind == TSRI_VALUE_BOOL ? tsr_scalar_bool(v->as.integer != 0)
                                        : tsr_scalar_i64(v->as.integer);
}

static tsr_status add_text(checkpoint *c, const char *text, size_t length)
{
    const char *key = NULL;
    TSRI_TRY(keep_name(c, &key));
    TSRI_SOUND(tsri_is_utf8(text, length), c->f, "the text \"%s\" is no UTF-8", key);
    const char *copy = tsri_bump_text(&c->f->memory, text, length);
    TSRI_CHECK(copy, TSR_ENOMEM, "file_open: %s: no room for its texts", c->f->path);
    return tsri_file_add_text(c->f, key, copy, length);
}

static tsr_status add_number(checkpoint *c, const tsri_value *v)
{
    tsr_meta *m = NULL;
    const char *key = NULL;
    TSRI_TRY(keep_name(c, &key));
    TSRI_TRY(tsri_file_add_meta(c->f, &m, key));
    m->type = TSR_META_NUMBER;
    m->number = scalar_of(v);
    m->dtype = m->number.dtype;
    return TSR_OK;
}

/* All of it integers, or all numbers? TSR_DTYPE_INVALID: neither. */
static tsr_dtype dtype_of_list(const tsri_value *v)
{
    tsr_dtype dtype = TSR_I64;
    for (int64_t i = 0; i < v->as.items.list.count; i++) {
        const tsri_value_kind kind = v->as.items.at[i]->kind;
        if (kind == TSRI_VALUE_FLOAT)    dtype = TSR_F64;
        else if (kind != TSRI_VALUE_INT) return TSR_DTYPE_INVALID;
    }
    return v->as.items.list.count ? dtype : TSR_DTYPE_INVALID;
}

static tsr_status add_numbers(checkpoint *c, const tsri_value *v, tsr_dtype dtype)
{
    tsr_meta *m = NULL;
    const char *key = NULL;
    const int64_t n = v->as.items.list.count;
    char *data = tsri_bump_take(&c->f->memory, (size_t)n * 8);
    TSRI_CHECK(data, TSR_ENOMEM, "file_open: %s: no room for its numbers", c->f->path);
    for (int64_t i = 0; i < n; i++)
        (void)!tsr_scalar_store(data + 8 * i, dtype, scalar_of(v->as.items.at[i]));
    TSRI_TRY(keep_name(c, &key));
    TSRI_TRY(tsri_file_add_meta(c->f, &m, key));
    m->type = TSR_META_NUMBERS;
    m->dtype = dtype;
    m->count = n;
    m->data = data;
    return TSR_OK;
}

/* The walk ----------------------------------------------------------------------------- */

static tsr_status visit(checkpoint *c, tsri_value *v, size_t length, int depth);

/* Puts one more part after the name, which has `length` bytes; *longer is what it has then. */
static tsr_status extend_name(checkpoint *c, size_t length, const tsri_value *key, size_t *longer)
{
    char number[24];
    const char *part = number;
    size_t n = 0;
    if (key->kind == TSRI_VALUE_INT) {
        tsri_text text = tsri_text_into(number, sizeof number);
        tsri_put(&text, "%lld", (long long)key->as.integer);
        n = text.length;
    } else {
        TSRI_CHECK(key->kind == TSRI_VALUE_TEXT, TSR_EUNSUPPORTED,
                   "file_open: %s: refused: a dict in \"%s\" has a key that is no text and no number",
                   c->f->path, c->name);
        part = key->as.text.at;
        n = key->as.text.length;
    }
    TSRI_SOUND(n < LONGEST && length + n + 1 <= LONGEST && !memchr(part, 0, n), c->f,
               "below \"%.100s\": a name of %zu bytes, or with a zero in it", c->name, length + n + 1);
    if (length) c->name[length++] = '.';
    memcpy(c->name + length, part, n);
    c->name[length + n] = '\0';
    *longer = length + n;
    return TSR_OK;
}

static tsr_status visit_item(checkpoint *c, const tsri_value *key, tsri_value *item, size_t length,
                             int depth)
{
    size_t longer = 0;
    TSRI_TRY(extend_name(c, length, key, &longer));
    TSRI_TRY(visit(c, item, longer, depth + 1));
    c->name[length] = '\0';
    return TSR_OK;
}

static tsr_status visit_items(checkpoint *c, const tsri_value *v, size_t length, int depth)
{
    const bool is_dict = v->kind != TSRI_VALUE_LIST;
    const int64_t step = is_dict ? 2 : 1;
    for (int64_t i = 0; i < v->as.items.list.count; i += step) {
        const tsri_value index = { .kind = TSRI_VALUE_INT, .as = { .integer = i } };
        TSRI_TRY(visit_item(c, is_dict ? v->as.items.at[i] : &index, v->as.items.at[i + step - 1], length,
                            depth));
    }
    return TSR_OK;
}

/* Does a text that need not end in 0 begin with this one? */
static bool starts_with(const char *text, size_t length, const char *start)
{
    const size_t n = tsri_strlen(start);
    return length >= n && memcmp(text, start, n) == 0;
}

static bool is_named(const tsri_python_name *x, const char *name)
{
    return x->name_length == tsri_strlen(name) && memcmp(x->name, name, x->name_length) == 0;
}

/* Adds the result of a class or function that is not read: as an entry without dtype if it is an array of
 * some kind, with the class as encoding; else as metadata. */
static tsr_status add_other(checkpoint *c, const tsri_value *v)
{
    const tsri_python_name *x = v->name;
    const int n = x->module_length < 100 ? (int)x->module_length : 100;
    const int k = x->name_length < 100 ? (int)x->name_length : 100;
    const bool of_arrays = starts_with(x->module, (size_t)n, "torch") ||
                           starts_with(x->module, (size_t)n, "numpy");
    const bool array = of_arrays && starts_with(x->name, (size_t)k, "_re");
    char words[256];
    tsri_text text = tsri_text_into(words, sizeof words);
    TSRI_CHECK(array || *c->name, TSR_EUNSUPPORTED,
               "file_open: %s: refused: %.*s.%.*s is not a tensor; tensors, numbers and texts in dicts, "
               "lists, tuples and attributes of objects are read, and nothing in a pickle is run",
               c->f->path, n, x->module, k, x->name);
    const bool sparse = array && is_named(x, "_rebuild_sparse_tensor");
    const bool quantised = array && is_named(x, "_rebuild_qtensor");
    if (sparse)         tsri_put(&text, "sparse (to_dense() before saving)");
    else if (quantised) tsri_put(&text, "quantised (dequantize() before saving)");
    else tsri_put(&text, array ? "%.*s.%.*s" : "%.*s.%.*s, not read", n, x->module, k, x->name);
    TSRI_SOUND(tsri_is_utf8(words, text.length), c->f, "a name that is no UTF-8");
    if (!array) return add_text(c, words, text.length);
    const char *encoding = tsri_bump_text(&c->f->memory, words, text.length);
    TSRI_CHECK(encoding, TSR_ENOMEM, "file_open: %s: no room for its names", c->f->path);
    return add_unread(c, 0, NULL, encoding);
}

/* The dicts of a module whose names are not part of those in its state_dict. */
static bool is_of_modules(const tsri_value *key, const tsri_value *item)
{
    static const char *const names[] = { "_parameters", "_buffers", "_modules" };
    for (int i = 0; i < 3; i++)
        if (key->kind == TSRI_VALUE_TEXT && item->kind == TSRI_VALUE_DICT &&
            key->as.text.length == tsri_strlen(names[i]) &&
            starts_with(key->as.text.at, key->as.text.length, names[i])) return true;
    return false;
}

static tsr_status visit_attributes(checkpoint *c, const tsri_value *v, size_t length, int depth)
{
    for (int64_t i = 0; i < v->as.items.list.count; i += 2) {
        tsri_value *const *pair = &v->as.items.at[i];
        if (is_of_modules(pair[0], pair[1])) TSRI_TRY(visit(c, pair[1], length, depth + 1));
        else                                 TSRI_TRY(visit_item(c, pair[0], pair[1], length, depth));
    }
    return TSR_OK;
}

/* Once, however many hold it: objects may hold each other. */
static tsr_status visit_object(checkpoint *c, tsri_value *v, size_t length, int depth)
{
    if (v->as.items.list.count == 0 && !v->state) return add_other(c, v);
    v->kind = TSRI_VALUE_NONE;
    TSRI_TRY(visit_items(c, v, length, depth));
    if (!v->state) return TSR_OK;
    return v->state->kind == TSRI_VALUE_DICT ? visit_attributes(c, v->state, length, depth)
                                             : visit_items(c, v->state, length, depth);
}

static tsr_status visit(checkpoint *c, tsri_value *v, size_t length, int depth)
{
    TSRI_SOUND(depth <= DEEPEST, c->f, "\"%.100s...\": dicts and lists in each other, more than %d deep",
               c->name, DEEPEST);
    c->budget -= (int64_t)length + 1;
    TSRI_SOUND(c->budget >= 0, c->f, "names and values out of proportion to its size");
    switch (v->kind) {
    case TSRI_VALUE_TENSOR: return add_tensor(c, v);
    case TSRI_VALUE_DICT:   return visit_items(c, v, length, depth);
    case TSRI_VALUE_LIST: {
        const tsr_dtype dtype = dtype_of_list(v);
        if (!dtype) return visit_items(c, v, length, depth);
        c->budget -= 8 * v->as.items.list.count;
        TSRI_SOUND(c->budget >= 0, c->f, "numbers out of proportion to its size");
        return add_numbers(c, v, dtype);
    }
    case TSRI_VALUE_BOOL:
    case TSRI_VALUE_INT:
    case TSRI_VALUE_FLOAT: return add_number(c, v);
    case TSRI_VALUE_TEXT:
        c->budget -= (int64_t)v->as.text.length;
        return add_text(c, v->as.text.at, v->as.text.length);
    case TSRI_VALUE_OBJECT: return visit_object(c, v, length, depth);
    case TSRI_VALUE_NAME:   return v->name->role == TSRI_ROLE_OTHER ? add_other(c, v) : TSR_OK;
    default: return TSR_OK;
    }
}

/* Opening ------------------------------------------------------------------------------ */

static tsr_status visit_all(checkpoint *c, const tsri_pickle *p)
{
    c->budget = (int64_t)p->bytes * NAME_TIMES + FREE;
    return visit(c, p->value, 0, 0);
}

static tsr_status read_values(checkpoint *c, const unsigned char *pickle, size_t bytes)
{
    tsri_bump memory = { 0 };
    tsri_pickle all;
    tsr_status s = tsri_unpickle(&all, c->f, &memory, pickle, bytes);
    if (s == TSR_OK) s = visit_all(c, &all);
    tsri_bump_free(&memory);
    return s;
}

static tsr_status sort_members(checkpoint *c)
{
    c->sorted = tsri_bump_take(&c->f->memory, (size_t)c->zip.count * sizeof *c->sorted);
    TSRI_CHECK(c->sorted, TSR_ENOMEM, "file_open: %s: no room for its list", c->f->path);
    for (uint64_t i = 0; i < c->zip.count; i++) c->sorted[i] = &c->zip.members[i];
    tsri_sort((void **)c->sorted, (int64_t)c->zip.count, name_before);
    return TSR_OK;
}

static tsr_status open_zip(checkpoint *c)
{
    tsri_member *m = NULL;
    const uint64_t size = c->f->parts[0]->size;
    TSRI_TRY(tsri_zip_list(&c->zip, c->f, is_wanted));
    TSRI_TRY(find_pickle(c, &m));
    TSRI_TRY(sort_members(c));
    TSRI_TRY(read_byte_order(c));
    TSRI_SOUND(m->bytes <= LARGEST && (m->bytes <= FREE || (m->bytes - FREE) / PICKLE_TIMES <= size), c->f,
               "a pickle of %llu bytes", tsri_ull(m->bytes));
    unsigned char *pickle = tsri_scratch((size_t)m->bytes);
    TSRI_CHECK(pickle, TSR_ENOMEM, "file_open: %s: no room for a pickle of %llu bytes", c->f->path,
               tsri_ull(m->bytes));
    tsr_status s = tsri_member_front(pickle, c->f, m, (size_t)m->bytes);
    if (s == TSR_OK) s = read_values(c, pickle, (size_t)m->bytes);
    tsri_free(pickle, (size_t)m->bytes);
    return s;
}

/* The number that torch.save began with before it wrote zip files, as a pickle of any protocol. */
static bool is_old(const unsigned char *head, size_t n)
{
    return n >= 14 && head[0] == 0x80 &&
           memcmp(head + 2, "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 12) == 0;
}

enum { OLD_NUMBER, OLD_VERSION, OLD_MACHINE, OLD_VALUES, OLD_KEYS, OLD_PICKLES };

static bool key_before(const void *a, const void *b)
{
    const tsri_value *x = ((const tsri_value *)a)->as.items.at[2];
    const tsri_value *y = ((const tsri_value *)b)->as.items.at[2];
    const size_t n = x->as.text.length, k = y->as.text.length;
    const int order = memcmp(x->as.text.at, y->as.text.at, n < k ? n : k);
    return order ? order < 0 : n < k;
}

/* The storage of this key, among those that are sorted; NULL if no tensor is in it. */
static const tsri_value *storage_of_key(const tsri_pickle *p, tsri_value *key)
{
    tsri_value *ids[3] = { NULL, NULL, key };
    const tsri_value wanted = { .as = { .items = { ids, { 3, 3 } } } };
    int64_t low = 0;
    for (int64_t high = p->storage_list.count; low < high;) {
        const int64_t middle = low + (high - low) / 2;
        if (key_before(p->storages[middle], &wanted)) low = middle + 1;
        else                                          high = middle;
    }
    return low < p->storage_list.count && !key_before(&wanted, p->storages[low]) ? p->storages[low] : NULL;
}

/* The storage that begins at *at, as if it were a member of a zip file. */
static tsr_status find_old_storage(checkpoint *c, const tsri_pickle *p, tsri_value *key, uint64_t *at)
{
    const uint64_t size = c->f->parts[0]->size;
    unsigned char head[8];
    const tsri_value *id = key->kind == TSRI_VALUE_TEXT ? storage_of_key(p, key) : NULL;
    TSRI_SOUND(id && key->as.text.length < 100, c->f, "a storage that no tensor is in");
    const tsri_value *const *of = (const tsri_value *const *)id->as.items.at;
    const tsri_python_name *kind = of[1]->name;
    const bool untyped = kind->role == TSRI_ROLE_STORAGE && !kind->dtype; /* counts bytes */
    TSRI_CHECK(kind->dtype || untyped, TSR_EUNSUPPORTED,
               "file_open: %s: refused: a %.*s, as PyTorch wrote it before 1.6", c->f->path,
               kind->name_length < 100 ? (int)kind->name_length : 100, kind->name);
    TSRI_CHECK(id->as.items.list.count < 6 || of[5]->kind == TSRI_VALUE_NONE, TSR_EUNSUPPORTED,
               "file_open: %s: refused: a storage that is part of another", c->f->path);
    TSRI_SOUND(size - *at >= sizeof head, c->f, "it ends before its storages");
    TSRI_TRY(tsri_source_read(c->f->parts[0], head, *at, sizeof head));
    const uint64_t elements = tsri_get64(head);
    const uint64_t each = untyped ? 1 : tsr_dtype_size(kind->dtype);
    *at += sizeof head;
    TSRI_SOUND(elements == (uint64_t)of[4]->as.integer && elements <= (size - *at) / each, c->f,
               "a storage of %llu elements at byte %llu", tsri_ull(elements), tsri_ull(*at));
    tsri_member *m = &c->zip.members[c->zip.count++];
    char name[128];
    tsri_text text = tsri_text_into(name, sizeof name);
    tsri_put(&text, "data/%.*s", (int)key->as.text.length, key->as.text.at);
    *m = (tsri_member){ .name = tsri_bump_text(&c->f->memory, name, text.length), .method = TSRI_ZIP_STORED,
                        .stored = elements * each, .bytes = elements * each, .data = *at };
    TSRI_CHECK(m->name, TSR_ENOMEM, "file_open: %s: no room for its list", c->f->path);
    *at += m->bytes;
    return TSR_OK;
}

static tsr_status find_old_storages(checkpoint *c, tsri_pickle *p, const tsri_value *keys, uint64_t at)
{
    const int64_t n = keys->as.items.list.count;
    TSRI_SOUND(keys->kind == TSRI_VALUE_LIST, c->f, "no list of storages");
    c->zip.members = tsri_bump_take(&c->f->memory, (size_t)n * sizeof *c->zip.members);
    TSRI_CHECK(c->zip.members, TSR_ENOMEM, "file_open: %s: no room for its list", c->f->path);
    tsri_sort((void **)p->storages, p->storage_list.count, key_before);
    for (int64_t i = 0; i < n; i++) TSRI_TRY(find_old_storage(c, p, keys->as.items.at[i], &at));
    c->folder = "";
    return sort_members(c);
}

/* Refuses a file of a big-endian machine, whose numbers have the other byte order. */
static tsr_status check_old_machine(const checkpoint *c, const tsri_value *v)
{
    for (int64_t i = 0; v->kind == TSRI_VALUE_DICT && i < v->as.items.list.count; i += 2) {
        const tsri_value *key = v->as.items.at[i], *item = v->as.items.at[i + 1];
        TSRI_CHECK(key->kind != TSRI_VALUE_TEXT ||
                       !starts_with(key->as.text.at, key->as.text.length, "little_endian") ||
                       item->kind != TSRI_VALUE_BOOL || item->as.integer, TSR_EUNSUPPORTED,
                   "file_open: %s: refused: of PyTorch before 1.6, on a big-endian machine", c->f->path);
    }
    return TSR_OK;
}

/* The pickles that the first n bytes hold; TSR_EFORMAT if these are too few. */
static tsr_status unpickle_old(tsri_pickle p[OLD_PICKLES], checkpoint *c, tsri_bump *memory,
                               const unsigned char *data, size_t n, size_t *end)
{
    *end = 0;
    for (int i = 0; i < OLD_PICKLES; i++) {
        TSRI_TRY(tsri_unpickle(&p[i], c->f, memory, data + *end, n - *end));
        *end += p[i].bytes;
    }
    return TSR_OK;
}

/* *more: all of these bytes were read, and there may be more of the pickles behind them. */
static tsr_status open_old_front(checkpoint *c, unsigned char *data, size_t n, bool *more)
{
    tsri_pickle p[OLD_PICKLES];
    tsri_bump memory = { 0 };
    size_t end = 0;
    tsr_status s = tsri_source_read(c->f->parts[0], data, 0, n);
    if (s == TSR_OK) s = unpickle_old(p, c, &memory, data, n, &end);
    *more = s == TSR_EFORMAT;
    if (s == TSR_OK) s = check_old_machine(c, p[OLD_MACHINE].value);
    if (s == TSR_OK) s = find_old_storages(c, &p[OLD_VALUES], p[OLD_KEYS].value, end);
    if (s == TSR_OK) s = visit_all(c, &p[OLD_VALUES]);
    tsri_bump_free(&memory);
    return s;
}

/* The file does not say how long the pickles are: reads larger and larger parts until they are whole. */
static tsr_status open_old(checkpoint *c)
{
    const uint64_t size = c->f->parts[0]->size;
    tsr_status s = TSR_OK;
    bool more = true;
    for (uint64_t room = FREE; more; room *= 8) {
        const size_t n = (size_t)(size < room ? size : room);
        unsigned char *data = tsri_scratch(n);
        TSRI_CHECK(data, TSR_ENOMEM, "file_open: %s: no room for a pickle of %zu bytes", c->f->path, n);
        s = open_old_front(c, data, n, &more);
        tsri_free(data, n);
        more = more && n < size && room < LARGEST;
    }
    return s;
}

static tsr_status open_pt(tsr_file *f)
{
    unsigned char head[16] = { 0 };
    const uint64_t size = f->parts[0]->size;
    TSRI_TRY(tsri_source_read(f->parts[0], head, 0, size < sizeof head ? (size_t)size : sizeof head));
    checkpoint *c = tsri_scratch(sizeof *c);
    TSRI_CHECK(c, TSR_ENOMEM, "file_open: %s: no room", f->path);
    *c = (checkpoint){ .f = f };
    const tsr_status s = is_old(head, sizeof head) ? open_old(c) : open_zip(c);
    tsri_free(c, sizeof *c);
    return s;
}

/* Its first member is NAME/data.pkl, or as TorchScript has it, NAME/data/0. */
static bool is_pt(const unsigned char *head, size_t n)
{
    static const char ending[] = "/data.pkl";
    const size_t k = sizeof ending - 1;
    if (is_old(head, n)) return true;
    if (n < TSRI_ZIP_LOCAL || !tsri_is_zip(head, n)) return false;
    const size_t length = tsri_get16(head + 26);
    const unsigned char *end = head + TSRI_ZIP_LOCAL + length;
    return length >= k && length <= n - TSRI_ZIP_LOCAL &&
           (memcmp(end - k, ending, k) == 0 || memcmp(end - 7, "/data/0", 7) == 0);
}

/* All of a deflated storage, and the tensor in it. */
static tsr_status read_deflated(tsr_tensor **out, const tsr_file *f, const tsri_entry *e)
{
    const packed *p = (const packed *)(uintptr_t)e->detail;
    const tsr_desc d = tsri_entry_desc(e);
    const size_t bytes = (size_t)p->member->bytes;
    tsr_storage *storage = NULL;
    TSRI_TRY(tsri_storage_create(&storage, bytes, TSR_CPU, TSR_MEMORY_HOST, "file_read"));
    tsr_status s = tsri_member_inflate(tsr_storage_data(storage), f, p->member);
    if (s == TSR_OK) s = tsr_from_storage(out, storage, (size_t)p->offset, &d);
    if (s == TSR_OK) tsri_make_elements(*out, e);
    tsr_storage_release(&storage);
    return s;
}

const tsri_format tsri_pt = {
    .info = { "pt", "a checkpoint of PyTorch; nothing in it is run", true, false, true, ".pt .pth .ckpt" },
    .is = is_pt, .open = open_pt, .read = read_deflated,
};
