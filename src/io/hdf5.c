/* hdf5.c - the datasets of an HDF5 file, by their paths: group/name. Through libhdf5 (hdf5_library.h).
 *
 * Contiguous datasets are mapped from where they lie, as other formats are; chunked, compressed and compact
 * ones are read by the library. A file leads to no other: links to other files, datasets that lie in other
 * files, and virtual ones are not followed. */
#include "core/alloc.h"
#include "core/storage.h"
#include "core/tensor_int.h"
#include "core/text.h"
#include "hdf5_library.h"
#include "json.h"
#include "tessera/move.h"
#include "tessera/view.h"

enum {
    INTEGER = 0, FLOAT = 1, COMPOUND = 6, ENUM = 8,          /* classes of types */
    GROUP = 2, DATASET = 5,                                  /* kinds of objects */
    VIRTUAL = 3, HARD = 0, SCALAR = 0, SIMPLE = 1, BIG = 1,
    TRUNCATE = 2,                                            /* to create a file */
    DEEPEST = 32, LONGEST = 1024, NAME_TIMES = 4, FREE = 1 << 16,
    TIMES = 1032, CHUNK = 1 << 20
};

/* Types -------------------------------------------------------------------------------- */

static tsr_dtype integer_type(const tsri_hdf5_library *h, tsri_hid type)
{
    static const tsr_dtype dtypes[2][4] = { { TSR_U8, TSR_U16, TSR_U32, TSR_U64 },
                                            { TSR_I8, TSR_I16, TSR_I32, TSR_I64 } };
    const size_t size = h->H5Tget_size(type);
    const int log = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : -1;
    if (log < 0 || h->H5Tget_precision(type) != 8 * size) return TSR_DTYPE_INVALID;
    return dtypes[h->H5Tget_sign(type) == 1][log];
}

static tsr_dtype float_type(const tsri_hdf5_library *h, tsri_hid type)
{
    size_t sign = 0, at = 0, exponent = 0, low = 0, mantissa = 0;
    const size_t size = h->H5Tget_size(type);
    if (h->H5Tget_fields(type, &sign, &at, &exponent, &low, &mantissa) < 0 || low != 0 ||
        sign != 8 * size - 1)
        return TSR_DTYPE_INVALID;
    if (size == 2 && exponent == 5 && mantissa == 10)  return TSR_F16;
    if (size == 2 && exponent == 8 && mantissa == 7)   return TSR_BF16;
    if (size == 4 && exponent == 8 && mantissa == 23)  return TSR_F32;
    if (size == 8 && exponent == 11 && mantissa == 52) return TSR_F64;
    return TSR_DTYPE_INVALID;
}

static bool has_member(const tsri_hdf5_library *h, tsri_hid type, unsigned i, const char *name)
{
    char *own = h->H5Tget_member_name(type, i);
    const bool same = own && tsri_streq(own, name);
    if (own) (void)h->H5free_memory(own);
    return same;
}

/* As h5py writes bool: FALSE and TRUE of a byte. Other names stand for their numbers. */
static tsr_dtype enum_type(const tsri_hdf5_library *h, tsri_hid type, int *order)
{
    const tsri_hid base = h->H5Tget_super(type);
    tsr_dtype dtype = base >= 0 ? integer_type(h, base) : TSR_DTYPE_INVALID;
    if (base >= 0) {
        *order = h->H5Tget_order(base);
        (void)h->H5Tclose(base);
    }
    if (h->H5Tget_size(type) == 1 && h->H5Tget_nmembers(type) == 2 && has_member(h, type, 0, "FALSE") &&
        has_member(h, type, 1, "TRUE"))
        dtype = TSR_BOOL;
    return dtype;
}

/* As h5py writes complex numbers: r and i. */
static tsr_dtype complex_type(const tsri_hdf5_library *h, tsri_hid type, int *order)
{
    if (h->H5Tget_nmembers(type) != 2 || !has_member(h, type, 0, "r") || !has_member(h, type, 1, "i"))
        return TSR_DTYPE_INVALID;
    tsr_dtype parts[2] = { TSR_DTYPE_INVALID, TSR_DTYPE_INVALID };
    for (unsigned i = 0; i < 2; i++) {
        const tsri_hid part = h->H5Tget_member_type(type, i);
        if (part < 0) return TSR_DTYPE_INVALID;
        if (h->H5Tget_class(part) == FLOAT) parts[i] = float_type(h, part);
        *order = h->H5Tget_order(part);
        (void)h->H5Tclose(part);
    }
    const size_t size = h->H5Tget_size(type);
    if (parts[0] == TSR_F32 && parts[1] == TSR_F32 && size == 8)  return TSR_C64;
    if (parts[0] == TSR_F64 && parts[1] == TSR_F64 && size == 16) return TSR_C128;
    return TSR_DTYPE_INVALID;
}

static tsr_dtype dtype_of(const tsri_hdf5_library *h, tsri_hid type, const char **encoding, bool *swapped)
{
    const int kind = h->H5Tget_class(type);
    int order = kind == INTEGER || kind == FLOAT ? h->H5Tget_order(type) : 0;
    const tsr_dtype dtype = kind == INTEGER    ? integer_type(h, type)
                            : kind == FLOAT    ? float_type(h, type)
                            : kind == ENUM     ? enum_type(h, type, &order)
                            : kind == COMPOUND ? complex_type(h, type, &order)
                                               : TSR_DTYPE_INVALID;
    *swapped = order == BIG;
    *encoding = dtype ? tsr_dtype_name(dtype) : kind == 3 ? "text" : "a type of HDF5";
    return dtype;
}

/* Opening ------------------------------------------------------------------------------ */

typedef struct walk {
    const tsri_hdf5_library *h;
    tsr_file        *f;
    tsri_hid         file;
    int64_t          budget;  /* bytes of names that are still believed */
    char             name[LONGEST + 1];
} walk;

/* The file itself; bytes in memory as an image. Below 0 if it cannot be had. */
static tsri_hid open_file(const tsri_hdf5_library *h, const tsr_file *f)
{
    const tsri_source *s = f->parts[0];
    if (s->file >= 0) return h->H5Fopen(f->path, 0, 0);
    const tsri_hid how = h->H5Pcreate(*h->H5P_CLS_FILE_ACCESS_ID_g);
    tsri_hid file = -1;
    if (how >= 0 && h->H5Pset_fapl_core(how, 1 << 16, false) >= 0 &&
        h->H5Pset_file_image(how, (void *)(uintptr_t)s->base, (size_t)s->size) >= 0)
        file = h->H5Fopen(f->path, 0, how);
    if (how >= 0) (void)h->H5Pclose(how);
    return file;
}

/* Where the elements of a dataset lie, one after another; false if the library has to say. */
static bool find_elements(const walk *w, tsri_hid dataset, tsri_entry *e)
{
    const uint64_t at = w->h->H5Dget_offset(dataset), size = w->f->parts[0]->size;
    if (at == UINT64_MAX || at > size || e->bytes > size - at) return false;
    e->plain = e->dtype != TSR_DTYPE_INVALID;
    e->offset = at;
    return true;
}

/* Does it lie in this file? */
static bool is_here(const walk *w, tsri_hid dataset)
{
    const tsri_hid made = w->h->H5Dget_create_plist(dataset);
    if (made < 0) return false;
    const int layout = w->h->H5Pget_layout(made);
    const bool here = w->h->H5Pget_external_count(made) == 0 && layout >= 0 && layout < VIRTUAL;
    (void)w->h->H5Pclose(made);
    return here;
}

/* The rank, or -1 for what has no elements at all, or too many dims. */
static int shape_of(const walk *w, tsri_hid dataset, int64_t shape[TSR_MAX_NDIM])
{
    uint64_t dims[TSR_MAX_NDIM] = { 0 };
    const tsri_hid space = w->h->H5Dget_space(dataset);
    if (space < 0) return -1;
    const int kind = w->h->H5Sget_simple_extent_type(space);
    int ndim = kind == SCALAR ? 0 : kind == SIMPLE ? w->h->H5Sget_simple_extent_ndims(space) : -1;
    if (ndim > TSR_MAX_NDIM) ndim = -1;
    if (ndim > 0 && w->h->H5Sget_simple_extent_dims(space, dims, NULL) < 0) ndim = -1;
    (void)w->h->H5Sclose(space);
    for (int i = 0; i < ndim; i++) shape[i] = dims[i] > INT64_MAX ? -1 : (int64_t)dims[i];
    return ndim;
}

static tsr_status add_dataset(walk *w, tsri_hid dataset)
{
    int64_t shape[TSR_MAX_NDIM] = { 0 };
    const char *encoding = "", *name = tsri_bump_text(&w->f->memory, w->name, tsri_strlen(w->name));
    bool swapped = false;
    tsri_entry *e = NULL;
    TSRI_CHECK(name, TSR_ENOMEM, "file_open: %s: no room for its names", w->f->path);
    const int ndim = shape_of(w, dataset, shape);
    const tsri_hid type = w->h->H5Dget_type(dataset);
    tsr_dtype dtype = type >= 0 ? dtype_of(w->h, type, &encoding, &swapped) : TSR_DTYPE_INVALID;
    if (type >= 0) (void)w->h->H5Tclose(type);
    if (ndim < 0) return TSR_OK;
    if (!is_here(w, dataset)) {
        dtype = TSR_DTYPE_INVALID;
        encoding = "in another file";
    }
    TSRI_TRY(tsri_file_add(w->f, &e, name, dtype, ndim, shape));
    e->encoding = encoding;
    e->swapped = swapped && tsr_dtype_size(dtype) > 1;
    if (e->dtype && find_elements(w, dataset, e)) return TSR_OK;
    e->bytes = e->dtype ? e->bytes : 0;
    return TSR_OK;
}

static tsr_status visit_group(walk *w, tsri_hid group, size_t length, int depth);

static tsr_status visit(walk *w, tsri_hid group, const char *link, size_t length, int depth)
{
    union { int type; uint64_t room[16]; } info = { 0 };
    if (w->h->link_info(group, link, &info, 0) < 0 || info.type != HARD) return TSR_OK;
    const tsri_hid object = w->h->H5Oopen(group, link, 0);
    TSRI_SOUND(object >= 0, w->f, "\"%s\" is no object", w->name);
    const int kind = w->h->H5Iget_type(object);
    const tsr_status s = kind == DATASET ? add_dataset(w, object)
                         : kind == GROUP ? visit_group(w, object, length, depth + 1)
                                         : TSR_OK;
    (void)w->h->H5Oclose(object);
    return s;
}

static tsr_status visit_link(walk *w, tsri_hid group, uint64_t i, size_t length, int depth)
{
    if (length) w->name[length++] = '/';
    char *link = w->name + length;
    const int64_t n = w->h->H5Lget_name_by_idx(group, ".", 0, 0, i, link, LONGEST + 1 - length, 0);
    TSRI_SOUND(n > 0 && (uint64_t)n <= LONGEST - length && tsri_is_utf8(link, (size_t)n), w->f,
               "below \"%.100s\": a name of %lld bytes, or of no UTF-8", w->name, (long long)n);
    w->budget -= (int64_t)length + n + 8;
    TSRI_SOUND(w->budget >= 0, w->f, "names out of proportion to its size");
    return visit(w, group, link, length + (size_t)n, depth);
}

static tsr_status visit_group(walk *w, tsri_hid group, size_t length, int depth)
{
    struct { int storage; uint64_t links; int64_t order; bool mounted; uint64_t room[4]; } info = { 0 };
    TSRI_SOUND(depth <= DEEPEST, w->f, "\"%.100s...\": groups in groups, more than %d deep", w->name,
               DEEPEST);
    TSRI_SOUND(w->h->H5Gget_info(group, &info) >= 0, w->f, "\"%s\" is no group", w->name);
    for (uint64_t i = 0; i < info.links; i++) {
        TSRI_TRY(visit_link(w, group, i, length, depth));
        w->name[length] = '\0';
    }
    return TSR_OK;
}

static tsr_status list_all(walk *w)
{
    const tsri_hid root = w->h->H5Oopen(w->file, "/", 0);
    TSRI_SOUND(root >= 0, w->f, "has no root");
    w->budget = (int64_t)w->f->parts[0]->size * NAME_TIMES + FREE;
    const tsr_status s = visit_group(w, root, 0, 0);
    (void)w->h->H5Oclose(root);
    return s;
}

static tsr_status open_all(walk *w)
{
    w->file = open_file(w->h, w->f);
    TSRI_SOUND(w->file >= 0, w->f, "libhdf5 does not open it");
    const tsr_status s = list_all(w);
    (void)w->h->H5Fclose(w->file);
    return s;
}

static tsr_status open_hdf5(tsr_file *f)
{
    walk *w = tsri_scratch(sizeof *w);
    TSRI_CHECK(w, TSR_ENOMEM, "file_open: %s: no room", f->path);
    *w = (walk){ .f = f };
    tsr_status s = tsri_hdf5_enter(&w->h, "file_open", f->path);
    if (s == TSR_OK) {
        s = open_all(w);
        tsri_hdf5_leave();
    }
    tsri_free(w, sizeof *w);
    return s;
}

static bool is_hdf5(const unsigned char *head, size_t n)
{
    return n >= 8 && memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0;
}

/* Reading ------------------------------------------------------------------------------ */

/* As they are stored: the type of memory is that of the file. */
static bool read_elements(const tsri_hdf5_library *h, tsri_hid file, const tsri_entry *e, tsr_tensor *t)
{
    const tsri_hid dataset = h->H5Dopen2(file, e->name, 0);
    const tsri_hid type = dataset >= 0 ? h->H5Dget_type(dataset) : -1;
    const walk w = { .h = h };
    int64_t shape[TSR_MAX_NDIM] = { 0 };
    bool ok = type >= 0 && h->H5Tget_size(type) == tsr_dtype_size(e->dtype) &&
              shape_of(&w, dataset, shape) == e->ndim && is_here(&w, dataset);
    for (int i = 0; i < e->ndim && ok; i++) ok = shape[i] == e->shape[i];  /* it may have changed since */
    ok = ok && h->H5Dread(dataset, type, 0, 0, 0, t->data) >= 0;
    if (type >= 0) (void)h->H5Tclose(type);
    if (dataset >= 0) (void)h->H5Dclose(dataset);
    return ok;
}

static tsr_status read_dataset(const tsr_file *f, const tsri_entry *e, tsr_tensor *t)
{
    const tsri_hdf5_library *h = NULL;
    TSRI_TRY(tsri_hdf5_enter(&h, "file_read", f->path));
    const tsri_hid file = open_file(h, f);
    const bool ok = file >= 0 && read_elements(h, file, e, t);
    if (file >= 0) (void)h->H5Fclose(file);
    tsri_hdf5_leave();
    TSRI_SOUND(ok, f,
               "\"%s\": libhdf5 does not read it: it is damaged, or needs a filter that is not built in",
               e->name);
    tsri_make_elements(t, e);
    return TSR_OK;
}

static tsr_status read_hdf5(tsr_tensor **out, const tsr_file *f, const tsri_entry *e)
{
    tsr_tensor *t = NULL;
    uint64_t bytes = 0;
    TSRI_TRY(tsri_file_shape_bytes(&bytes, f, e->name, tsr_dtype_size(e->dtype), e->ndim, e->shape));
    TSRI_CHECK(bytes <= FREE || (bytes - FREE) / TIMES <= f->parts[0]->size, TSR_EUNSUPPORTED,
               "file_read: %s: \"%s\" has %llu bytes, which a file of %llu does not hold", f->path, e->name,
               tsri_ull(bytes), tsri_ull(f->parts[0]->size));
    TSRI_TRY(tsr_empty(&t, e->dtype, e->ndim, e->shape));
    const tsr_status s = tsr_numel(t) ? read_dataset(f, e, t) : TSR_OK;
    if (s != TSR_OK) tsr_release(&t);
    else *out = t;
    return s;
}

/* What the library alone can find has no bytes to give as they are. */
static tsr_status read_raw(tsr_tensor **out, const tsr_file *f, const tsri_entry *e)
{
    const int64_t n = (int64_t)e->bytes;
    TSRI_CHECK(e->plain, TSR_EUNSUPPORTED, "file_read_raw: %s: \"%s\" does not lie in one piece", f->path,
               e->name);
    const tsri_entry bytes = { .name = e->name, .encoding = "u8", .shape = &n, .dtype = TSR_U8, .ndim = 1,
                               .plain = true, .offset = e->offset, .bytes = e->bytes };
    return tsri_read_plain(out, f, &bytes, NULL, 0);
}

/* Writing: an image in memory, which goes to the sink at the end ------------------------- */

typedef struct image { tsri_hid file; } image;

static bool has_dtype(tsr_dtype dtype)
{
    return dtype != TSR_BF16 && dtype != TSR_F8E4M3 && dtype != TSR_F8E5M2;
}

static tsr_status plan(tsr_writer *w, tsri_file_entry *p)
{
    const size_t n = tsri_strlen(p->name);
    bool sound = n > 0 && n <= LONGEST && p->name[0] != '/' && p->name[n - 1] != '/' &&
                 tsri_is_utf8(p->name, n);
    for (size_t i = 1; i < n && sound; i++) sound = p->name[i] != '/' || p->name[i - 1] != '/';
    TSRI_CHECK(!p->encoding, TSR_EUNSUPPORTED, "writer_add: %s: hdf5 has no encodings", w->path);
    TSRI_CHECK(sound, TSR_EINVAL, "writer_add: %s: \"%s\" is no path of HDF5: names with one / between",
               w->path, p->name);
    TSRI_CHECK(has_dtype(p->desc.dtype), TSR_EDTYPE, "writer_add: %s: hdf5 has no %s", w->path,
               tsr_dtype_name(p->desc.dtype));
    return TSR_OK;
}

static tsri_hid number_type(const tsri_hdf5_library *h, tsr_dtype dtype)
{
    switch (dtype) {
    case TSR_I8:   return h->H5Tcopy(*h->H5T_STD_I8LE_g);
    case TSR_I16:  return h->H5Tcopy(*h->H5T_STD_I16LE_g);
    case TSR_I32:  return h->H5Tcopy(*h->H5T_STD_I32LE_g);
    case TSR_I64:  return h->H5Tcopy(*h->H5T_STD_I64LE_g);
    case TSR_U8:   return h->H5Tcopy(*h->H5T_STD_U8LE_g);
    case TSR_U16:  return h->H5Tcopy(*h->H5T_STD_U16LE_g);
    case TSR_U32:  return h->H5Tcopy(*h->H5T_STD_U32LE_g);
    case TSR_U64:  return h->H5Tcopy(*h->H5T_STD_U64LE_g);
    case TSR_F64:  return h->H5Tcopy(*h->H5T_IEEE_F64LE_g);
    default:       return h->H5Tcopy(*h->H5T_IEEE_F32LE_g);
    }
}

/* As h5py has them. */
static tsri_hid type_of(const tsri_hdf5_library *h, tsr_dtype dtype)
{
    const bool is_complex = tsr_dtype_kind(dtype) == TSR_COMPLEX;
    const size_t size = tsr_dtype_size(dtype);
    const signed char no = 0, yes = 1;
    bool made = false;
    tsri_hid type = -1;
    const tsri_hid base = number_type(h, dtype == TSR_BOOL ? TSR_I8 : dtype == TSR_C128 ? TSR_F64 : dtype);
    if (base < 0 || (dtype != TSR_BOOL && dtype != TSR_F16 && !is_complex)) return base;
    if (dtype == TSR_F16) {
        if (h->H5Tset_fields(base, 15, 10, 5, 0, 10) >= 0 && h->H5Tset_size(base, 2) >= 0 &&
            h->H5Tset_ebias(base, 15) >= 0)
            return base;
    } else if (dtype == TSR_BOOL) {
        type = h->H5Tenum_create(base);
        made = type >= 0 && h->H5Tenum_insert(type, "FALSE", &no) >= 0 &&
               h->H5Tenum_insert(type, "TRUE", &yes) >= 0;
    } else {
        type = h->H5Tcreate(COMPOUND, size);
        made = type >= 0 && h->H5Tinsert(type, "r", 0, base) >= 0 &&
               h->H5Tinsert(type, "i", size / 2, base) >= 0;
    }
    (void)h->H5Tclose(base);
    if (!made && type >= 0) (void)h->H5Tclose(type);
    return made ? type : -1;
}

/* With `compress`, chunks of whole rows of about a MiB, deflated. 0: as it is. */
static tsri_hid chunks_of(const tsri_hdf5_library *h, const tsr_writer *w, const tsr_desc *d)
{
    uint64_t chunk[TSR_MAX_NDIM];
    const int64_t bytes = tsr_desc_bytes(d);
    if (!w->opts.compress || d->ndim == 0 || bytes == 0) return 0;
    for (int i = 0; i < d->ndim; i++) chunk[i] = (uint64_t)d->shape[i];
    for (int i = 0, size = 0; i < d->ndim && !size; i++) {
        int64_t row = tsri_dtype_size(d->dtype);
        for (int k = i + 1; k < d->ndim; k++) row *= d->shape[k];
        const int64_t rows = tsri_max(CHUNK / row, 1);
        if ((uint64_t)rows < chunk[i]) chunk[i] = (uint64_t)rows;
        size = row <= CHUNK;
    }
    const tsri_hid how = h->H5Pcreate(*h->H5P_CLS_DATASET_CREATE_ID_g);
    if (how >= 0 && h->H5Pset_chunk(how, d->ndim, chunk) >= 0 && h->H5Pset_deflate(how, 4) >= 0) return how;
    if (how >= 0) (void)h->H5Pclose(how);
    return -1;
}

static bool put_dataset(const tsri_hdf5_library *h, const tsr_writer *w, tsri_hid file,
                        const tsri_file_entry *p, const tsr_tensor *t)
{
    uint64_t dims[TSR_MAX_NDIM] = { 0 };
    for (int i = 0; i < p->desc.ndim; i++) dims[i] = (uint64_t)p->desc.shape[i];
    const tsri_hid type = type_of(h, p->desc.dtype), links = h->H5Pcreate(*h->H5P_CLS_LINK_CREATE_ID_g);
    const tsri_hid space =
        p->desc.ndim ? h->H5Screate_simple(p->desc.ndim, dims, NULL) : h->H5Screate(SCALAR);
    const tsri_hid how = chunks_of(h, w, &p->desc);
    tsri_hid set = -1;
    if (type >= 0 && space >= 0 && how >= 0 && links >= 0 &&
        h->H5Pset_create_intermediate_group(links, 1) >= 0)
        set = h->H5Dcreate2(file, p->name, type, space, links, how, 0);
    const bool ok = set >= 0 && (tsr_numel(t) == 0 || h->H5Dwrite(set, type, 0, 0, 0, t->data) >= 0);
    if (set >= 0) (void)h->H5Dclose(set);
    if (how > 0) (void)h->H5Pclose(how);
    if (space >= 0) (void)h->H5Sclose(space);
    if (links >= 0) (void)h->H5Pclose(links);
    if (type >= 0) (void)h->H5Tclose(type);
    return ok;
}

/* A file in memory, made for the first tensor or at the end. */
static tsr_status need_image(const tsri_hdf5_library *h, tsr_writer *w)
{
    if (w->state) return TSR_OK;
    image *i = tsri_bump_take(&w->memory, sizeof *i);
    TSRI_CHECK(i, TSR_ENOMEM, "writer_add: %s: no room", w->path);
    char name[64];  /* of no file, and of no other image */
    tsri_text text = tsri_text_into(name, sizeof name);
    tsri_put(&text, "/nowhere/%llu.h5", tsri_ull((uint64_t)(uintptr_t)w));
    const tsri_hid how = h->H5Pcreate(*h->H5P_CLS_FILE_ACCESS_ID_g);
    const bool in_memory = how >= 0 && h->H5Pset_fapl_core(how, CHUNK, false) >= 0;
    i->file = in_memory ? h->H5Fcreate(name, TRUNCATE, 0, how) : -1;
    if (how >= 0) (void)h->H5Pclose(how);
    TSRI_CHECK(i->file >= 0, TSR_ENOMEM, "writer_add: %s: libhdf5 makes no file", w->path);
    w->state = i;
    return TSR_OK;
}

static tsr_status add_packed(tsr_writer *w, const tsri_file_entry *p, const tsr_tensor *t)
{
    const tsri_hdf5_library *h = NULL;
    TSRI_TRY(tsri_hdf5_enter(&h, "writer_add", w->path));
    tsr_status s = need_image(h, w);
    if (s == TSR_OK && !put_dataset(h, w, ((image *)w->state)->file, p, t))
        s = tsri_fail(TSR_EINVAL,
                      "writer_add: %s: libhdf5 does not take \"%s\": no memory, or a part of its path is a "
                      "tensor", w->path, p->name);
    tsri_hdf5_leave();
    return s;
}

static tsr_status add(tsr_writer *w, tsri_file_entry *p, const tsr_tensor *t)
{
    tsr_tensor *host = NULL, *packed = NULL;
    tsr_status s = tsr_is_host(t) ? TSR_OK : tsr_to_host(&host, t);
    if (s == TSR_OK) s = tsr_contiguous(&packed, host ? host : t);
    if (s == TSR_OK) s = add_packed(w, p, packed);
    tsr_release(&packed);
    tsr_release(&host);
    return s;
}

static tsr_status write_image(const tsri_hdf5_library *h, tsr_writer *w)
{
    const tsri_hid file = ((image *)w->state)->file;
    const int64_t bytes = h->H5Fflush(file, 1) >= 0 ? h->H5Fget_file_image(file, NULL, 0) : -1;
    TSRI_CHECK(bytes >= 0, TSR_ENOMEM, "writer_finish: %s: libhdf5 gives no file", w->path);
    void *data = tsri_scratch((size_t)bytes);
    TSRI_CHECK(data, TSR_ENOMEM, "writer_finish: %s: no room for %lld bytes", w->path, (long long)bytes);
    tsr_status s = h->H5Fget_file_image(file, data, (size_t)bytes) == bytes
                       ? tsri_sink_write(&w->sink, 0, data, (size_t)bytes)
                       : tsri_fail(TSR_ENOMEM, "writer_finish: %s: libhdf5 gives no file", w->path);
    tsri_free(data, (size_t)bytes);
    return s;
}

static tsr_status finish(tsr_writer *w)
{
    const tsri_hdf5_library *h = NULL;
    TSRI_TRY(tsri_hdf5_enter(&h, "writer_finish", w->path));
    tsr_status s = need_image(h, w);
    if (s == TSR_OK) s = write_image(h, w);
    tsri_hdf5_leave();
    return s;
}

static void end(tsr_writer *w)
{
    const tsri_hdf5_library *h = NULL;
    if (!w->state || tsri_hdf5_enter(&h, "writer", w->path) != TSR_OK) return;
    (void)h->H5Fclose(((image *)w->state)->file);
    tsri_hdf5_leave();
}

const tsri_format tsri_hdf5 = {
    .info = { "hdf5", "many tensors, through libhdf5 where it is installed", true, true, true, ".h5 .hdf5" },
    .is = is_hdf5, .open = open_hdf5, .read = read_hdf5, .read_raw = read_raw,
    .plan = plan, .add = add, .finish = finish, .end = end, .one_pass = true,
};
