/* npy.c - NumPy's format: a magic, the length of a header, the header as a Python
 * dictionary in text, and the elements. */
#include "core/alloc.h"
#include "core/text.h"
#include "npy.h"

/* The dictionary ----------------------------------------------------------------------- */

typedef struct reader {
    const tsr_file *file;
    const char     *name;
    const char     *at, *end, *begin;
} reader;

static tsr_status bad(const reader *r, const char *expected)
{
    return TSRI_DAMAGE(r->file, "%s has a header with no %s at its character %lld", r->name, expected,
                       (long long)(r->at - r->begin));
}

static void skip_space(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r')) r->at++;
}

static bool take(reader *r, char c)
{
    skip_space(r);
    if (r->at >= r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static bool take_word(reader *r, const char *word)
{
    skip_space(r);
    const size_t n = tsri_strlen(word);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) return false;
    r->at += n;
    return true;
}

/* A text in either quotes, without escapes; cut to fit. */
static tsr_status take_text(reader *r, char *out, size_t room)
{
    size_t n = 0;
    skip_space(r);
    if (r->at >= r->end || (*r->at != '\'' && *r->at != '"')) return bad(r, "quoted text");
    const char quote = *r->at++;
    for (; r->at < r->end && *r->at != quote; r->at++)
        if (n + 1 < room) out[n++] = *r->at;
    out[n] = '\0';
    if (r->at >= r->end) return bad(r, "closing quote");
    r->at++;
    return TSR_OK;
}

static tsr_status take_size(reader *r, int64_t *out)
{
    int64_t v = 0;
    skip_space(r);
    if (r->at >= r->end || *r->at < '0' || *r->at > '9') return bad(r, "size");
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++)
        if (!tsri_mul(&v, v, 10) || !tsri_add(&v, v, *r->at - '0')) return bad(r, "size below 2^63");
    if (r->at < r->end && *r->at == 'L') r->at++;  /* as Python 2 wrote it */
    *out = v;
    return TSR_OK;
}

static tsr_status take_shape(reader *r, tsri_npy_header *h)
{
    if (!take(r, '(')) return bad(r, "shape");
    for (h->ndim = 0; !take(r, ')'); h->ndim++) {
        if (h->ndim > 0 && !take(r, ',')) return bad(r, "comma");
        if (take(r, ')')) return TSR_OK;
        TSRI_CHECK(h->ndim < TSR_MAX_NDIM, TSR_EUNSUPPORTED, "file_open: %s: %s has more than %d dims",
                   r->file->path, r->name, TSR_MAX_NDIM);
        TSRI_TRY(take_size(r, &h->shape[h->ndim]));
    }
    return TSR_OK;
}

static tsr_status take_order(reader *r, tsri_npy_header *h)
{
    h->column_major = take_word(r, "True");
    return h->column_major || take_word(r, "False") ? TSR_OK : bad(r, "True or False");
}

enum { DESCR = 1, ORDER = 2, SHAPE = 4 };

static tsr_status take_pair(reader *r, tsri_npy_header *h, int *seen)
{
    char key[16];
    TSRI_TRY(take_text(r, key, sizeof key));
    if (!take(r, ':')) return bad(r, "colon");
    const int which = tsri_streq(key, "descr") ? DESCR : tsri_streq(key, "fortran_order") ? ORDER
                    : tsri_streq(key, "shape") ? SHAPE : 0;
    TSRI_SOUND(which && !(*seen & which), r->file, "%s: the header's key '%s' is not known, or there twice",
               r->name, key);
    *seen |= which;
    if (which == SHAPE) return take_shape(r, h);
    if (which == ORDER) return take_order(r, h);
    skip_space(r);
    TSRI_CHECK(r->at >= r->end || *r->at != '[', TSR_EUNSUPPORTED,
               "file_open: %s: %s holds records of several fields", r->file->path, r->name);
    return take_text(r, h->descr, sizeof h->descr);
}

static tsr_status take_dictionary(reader *r, tsri_npy_header *h)
{
    int seen = 0;
    if (!take(r, '{')) return bad(r, "dictionary");
    while (!take(r, '}')) {
        TSRI_TRY(take_pair(r, h, &seen));
        if (!take(r, ',') && (skip_space(r), r->at >= r->end || *r->at != '}')) return bad(r, "comma");
    }
    TSRI_SOUND(seen == (DESCR | ORDER | SHAPE), r->file, "%s: the header lacks %s", r->name,
               !(seen & DESCR) ? "descr" : !(seen & ORDER) ? "fortran_order" : "shape");
    return TSR_OK;
}

/* Element types ------------------------------------------------------------------------ */

/* "<f8": an order, a letter, a size. What has no dtype still has a size, mostly. */
static tsr_status understand_descr(const tsr_file *f, const char *name, tsri_npy_header *h)
{
    char little[TSRI_NPY_DESCR];
    const char order = h->descr[0], letter = order ? h->descr[1] : '\0';
    const bool known = order == '<' || order == '>' || order == '|' || order == '=';
    TSRI_SOUND(known && letter, f, "%s: descr '%s' is no type", name, h->descr);
    int64_t number = 0;
    for (const char *p = h->descr + 2; *p >= '0' && *p <= '9' && number < 1 << 24; p++)
        number = number * 10 + (*p - '0');
    memcpy(little, h->descr, sizeof little);
    if (order == '>') little[0] = number == 1 ? '|' : '<';
    h->dtype = TSR_DTYPE_INVALID;
    if (tsr_dtype_from_typestr(&h->dtype, little) == TSR_OK) {
        h->element = tsr_dtype_size(h->dtype);
        h->swapped = order == '>' && number > 1;
        return TSR_OK;
    }
    tsr_clear_error();
    h->element = letter == 'O' ? 0 : (size_t)(letter == 'U' ? 4 * number : number);
    if (letter == 'M' || letter == 'm') h->element = 8;
    return TSR_OK;
}

/* Headers ------------------------------------------------------------------------------ */

tsr_status tsri_npy_data_start(size_t *out, const tsr_file *f, const char *name, const unsigned char *head,
                               size_t n)
{
    TSRI_SOUND(n >= 10 && memcmp(head, "\x93NUMPY", 6) == 0, f, "%s does not begin as npy", name);
    TSRI_CHECK(head[6] >= 1 && head[6] <= 3, TSR_EUNSUPPORTED,
               "file_open: %s: %s is npy version %d.%d; 1 to 3 are read", f->path, name, head[6], head[7]);
    TSRI_SOUND(head[6] == 1 || n >= 12, f, "%s ends inside the length of its header", name);
    const uint32_t length = head[6] == 1 ? tsri_get16(head + 8) : tsri_get32(head + 8);
    TSRI_SOUND(length <= TSRI_NPY_HEADER, f, "%s claims a header of %u bytes; at most %d are read", name,
               (unsigned)length, TSRI_NPY_HEADER);
    *out = (head[6] == 1 ? 10u : 12u) + length;
    return TSR_OK;
}

tsr_status tsri_npy_parse(tsri_npy_header *out, const tsr_file *f, const char *name,
                          const unsigned char *head, size_t start)
{
    /* Read again since its length was: a file that changes meanwhile may say otherwise. */
    const size_t fixed = head[6] == 1 ? 10 : 12;
    TSRI_SOUND(start >= fixed, f, "%s changed while it was read", name);
    const char *text = (const char *)head + fixed;
    reader r = { f, name, text, (const char *)head + start, text };
    *out = (tsri_npy_header){ .ndim = 0 };
    TSRI_TRY(take_dictionary(&r, out));
    return understand_descr(f, name, out);
}

/* What a dtype of NumPy that is none here holds. */
static const char *words_of(const char *descr)
{
    switch (descr[0] ? descr[1] : 0) {
    case 'O':           return "objects of Python";
    case 'S': case 'U': return "texts";
    case 'M': case 'm': return "times";
    case 'V':           return "bytes";
    default:            return "long numbers";
    }
}

tsr_status tsri_npy_add(tsri_entry **out, tsr_file *f, const char *name, const tsri_npy_header *h,
                        uint64_t offset, uint64_t room)
{
    tsri_entry *e;
    uint64_t bytes;
    char words[64];
    const char *what = *name ? name : "its shape";
    TSRI_TRY(tsri_file_shape_bytes(&bytes, f, what, h->element ? h->element : 1, h->ndim, h->shape));
    if (h->element == 0) bytes = room;
    TSRI_SOUND(bytes <= room, f, "%s: %s elements of '%s' take %llu bytes, and %llu are there", what,
               TSRI_DIMS(h->ndim, h->shape), h->descr, tsri_ull(bytes), tsri_ull(room));
    TSRI_TRY(tsri_file_add(f, &e, name, h->dtype, h->ndim, h->shape));
    tsri_text text = tsri_text_into(words, sizeof words);
    tsri_put(&text, h->dtype ? "%s" : "%s: %s", h->descr, words_of(h->descr));
    e->encoding = tsri_bump_text(&f->memory, words, text.length);
    TSRI_CHECK(e->encoding, TSR_ENOMEM, "file_open: %s: no room", f->path);
    e->plain = h->dtype != TSR_DTYPE_INVALID;
    e->column_major = h->column_major;
    e->swapped = h->swapped;
    e->offset = offset;
    e->bytes = bytes;
    *out = e;
    return TSR_OK;
}

tsr_status tsri_npy_check(const char *path, tsr_dtype dtype)
{
    char typestr[8];
    TSRI_CHECK(tsr_dtype_to_typestr(typestr, dtype) == TSR_OK, TSR_EDTYPE,
               "writer_add: %s: npy has no %s (tsr_cast, or another format)", path, tsr_dtype_name(dtype));
    return TSR_OK;
}

size_t tsri_npy_write(unsigned char out[TSRI_NPY_WRITTEN], const tsr_desc *d)
{
    char typestr[8] = "";
    (void)!tsr_dtype_to_typestr(typestr, d->dtype);
    tsri_text text = tsri_text_into((char *)out + 10, TSRI_NPY_WRITTEN - 10);
    tsri_put(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (", typestr);
    for (int i = 0; i < d->ndim; i++)
        tsri_put(&text, d->ndim == 1 ? "%lld," : i ? ", %lld" : "%lld", (long long)d->shape[i]);
    tsri_put(&text, "), }");
    while ((10 + text.length + 1) % 64 != 0) tsri_put_char(&text, ' ');
    tsri_put_char(&text, '\n');
    TSRI_ASSERT(text.length + 10 < TSRI_NPY_WRITTEN);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    tsri_set16(out + 8, (uint32_t)text.length);
    return 10 + text.length;
}

/* The format --------------------------------------------------------------------------- */

static bool is_npy(const unsigned char *head, size_t n)
{
    return n >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

static tsr_status read_header(tsr_file *f, unsigned char *head, size_t start)
{
    tsri_npy_header h;
    tsri_entry *e;
    const uint64_t size = f->parts[0]->size;
    TSRI_TRY(tsri_source_read(f->parts[0], head, 0, start));
    TSRI_TRY(tsri_npy_parse(&h, f, "it", head, start));
    return tsri_npy_add(&e, f, "", &h, start, size - start);
}

static tsr_status open_npy(tsr_file *f)
{
    unsigned char fixed[TSRI_NPY_FIXED];
    const uint64_t size = f->parts[0]->size;
    const size_t n = size < sizeof fixed ? (size_t)size : sizeof fixed;
    size_t start;
    TSRI_TRY(tsri_source_read(f->parts[0], fixed, 0, n));
    TSRI_TRY(tsri_npy_data_start(&start, f, "it", fixed, n));
    TSRI_TRY(tsri_file_range(f, "the header", 0, start));
    unsigned char *head = tsri_scratch(start);
    TSRI_CHECK(head, TSR_ENOMEM, "file_open: %s: no room for a header of %zu bytes", f->path, start);
    const tsr_status s = read_header(f, head, start);
    tsri_free(head, start);
    return s;
}

static tsr_status plan(tsr_writer *w, tsri_file_entry *p)
{
    unsigned char head[TSRI_NPY_WRITTEN];
    TSRI_CHECK(!p->encoding, TSR_EUNSUPPORTED, "writer_add: %s: npy has no encodings", w->path);
    TSRI_TRY(tsri_npy_check(w->path, p->desc.dtype));
    p->bytes += tsri_npy_write(head, &p->desc);
    return TSR_OK;
}

static tsr_status add(tsr_writer *w, tsri_file_entry *p, const tsr_tensor *t)
{
    unsigned char head[TSRI_NPY_WRITTEN];
    const size_t length = tsri_npy_write(head, &p->desc);
    TSRI_TRY(tsri_sink_write(&w->sink, 0, head, length));
    return tsri_write_elements(w, length, t);
}

const tsri_format tsri_npy = {
    .info = { "npy", "one tensor, as NumPy saves it", true, true, false, ".npy" },
    .is = is_npy, .open = open_npy, .plan = plan, .add = add, .one_pass = true,
};
