/* onnx.c - the initialisers and constants of an ONNX model: the weights of its graphs, by their names.
 *
 * A model is a protobuf: fields of a number, a wire type and a value; a value may be a message of fields.
 * Read here are ModelProto, its GraphProto, the TensorProtos of that, its nodes as far as they hold constants
 * or graphs, and lists of keys and texts. Everything else (sparse initialisers too) is stepped over.
 * Elements are raw bytes, here or in a file beside the model, or fields of numbers, which read() decodes. */
#include "core/alloc.h"
#include "core/tensor_int.h"
#include "core/text.h"
#include "json.h"

/* Protobuf ----------------------------------------------------------------------------- */

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5, BUFFER = 1 << 14 };

/* Reads the file through a buffer; `at` is where. */
typedef struct reader {
    const tsr_file *f;
    uint64_t        at, begin, end;  /* [begin, end) of the file is in the buffer */
    uint64_t        joined;          /* bytes of names that were made of several */
    unsigned char   buffer[BUFFER];
} reader;

typedef struct field {
    uint32_t number, wire;
    uint64_t value;       /* of a varint */
    uint64_t start, end;  /* in the file, of all others */
} field;

static tsr_status fill_buffer(reader *r)
{
    const tsri_source *s = r->f->parts[0];
    const uint64_t left = s->size - r->at;
    const size_t n = left < BUFFER ? (size_t)left : BUFFER;
    TSRI_TRY(tsri_source_read(s, r->buffer, r->at, n));
    r->begin = r->at;
    r->end = r->at + n;
    return TSR_OK;
}

static tsr_status take_byte(reader *r, unsigned char *out, uint64_t end)
{
    TSRI_SOUND(r->at < end, r->f, "byte %llu: a message ends inside a number", tsri_ull(r->at));
    if (r->at < r->begin || r->at >= r->end) TSRI_TRY(fill_buffer(r));
    *out = r->buffer[r->at - r->begin];
    r->at++;
    return TSR_OK;
}

static tsr_status take_varint(reader *r, uint64_t *out, uint64_t end)
{
    unsigned char c = 0x80;
    *out = 0;
    for (int shift = 0; c & 0x80; shift += 7) {
        TSRI_SOUND(shift < 70, r->f, "byte %llu: a number of more than 64 bits", tsri_ull(r->at));
        TSRI_TRY(take_byte(r, &c, end));
        *out |= (uint64_t)(c & 0x7F) << shift;
    }
    return TSR_OK;
}

/* n bytes of the file from `start` on, wherever the reader is. */
static tsr_status take_bytes(reader *r, unsigned char *dst, uint64_t start, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        r->at = start + i;
        TSRI_TRY(take_byte(r, dst + i, r->f->parts[0]->size));
    }
    return TSR_OK;
}

/* The next field of a message that ends at `end`; a value of bytes is stepped over. */
static tsr_status take_field(reader *r, field *out, uint64_t end)
{
    uint64_t tag = 0, length = 0;
    TSRI_TRY(take_varint(r, &tag, end));
    *out = (field){ .number = (uint32_t)(tag >> 3), .wire = (uint32_t)tag & 7 };
    TSRI_SOUND(tag >> 3 != 0 && tag >> 3 <= UINT32_MAX, r->f, "byte %llu: no field of a message",
               tsri_ull(r->at));
    if (out->wire == VARINT) return take_varint(r, &out->value, end);
    if (out->wire == BYTES) TSRI_TRY(take_varint(r, &length, end));
    else if (out->wire == FIXED64) length = 8;
    else if (out->wire == FIXED32) length = 4;
    else return TSRI_DAMAGE(r->f, "byte %llu: wire type %u of a field", tsri_ull(r->at), (unsigned)out->wire);
    TSRI_SOUND(length <= end - r->at, r->f, "byte %llu: a field of %llu bytes, and the message ends at %llu",
               tsri_ull(r->at), tsri_ull(length), tsri_ull(end));
    out->start = r->at;
    out->end = r->at += length;
    return TSR_OK;
}

/* The text of a field, in the file's memory: UTF-8 without a zero. */
static tsr_status take_text(reader *r, tsr_file *f, const field *v, const char **out, size_t *length)
{
    const size_t n = (size_t)(v->end - v->start);
    TSRI_SOUND(v->wire == BYTES, f, "byte %llu: expected a text", tsri_ull(r->at));
    char *text = tsri_bump_take(&f->memory, n + 1);
    TSRI_CHECK(text, TSR_ENOMEM, "file_open: %s: no room for a text of %zu bytes", f->path, n);
    TSRI_TRY(tsri_source_read(f->parts[0], text, v->start, n));
    TSRI_SOUND(tsri_is_utf8(text, n) && tsri_strlen(text) == n, f, "byte %llu: a text that is no UTF-8",
               tsri_ull(v->start));
    *out = text;
    if (length) *length = n;
    return TSR_OK;
}

/* Tensors ------------------------------------------------------------------------------ */

/* The fields of elements: of numbers, by their kind, and of bytes. */
enum { FLOATS = 4, INT32S = 5, INT64S = 7, DOUBLES = 10, UINT64S = 11, RAW = 9 };

static const struct { const char *name; tsr_dtype dtype; int numbers; } types[] = {
    { "UNDEFINED", TSR_DTYPE_INVALID, 0 },      { "FLOAT", TSR_F32, FLOATS },
    { "UINT8", TSR_U8, INT32S },                { "INT8", TSR_I8, INT32S },
    { "UINT16", TSR_U16, INT32S },              { "INT16", TSR_I16, INT32S },
    { "INT32", TSR_I32, INT32S },               { "INT64", TSR_I64, INT64S },
    { "STRING", TSR_DTYPE_INVALID, 0 },         { "BOOL", TSR_BOOL, INT32S },
    { "FLOAT16", TSR_F16, INT32S },             { "DOUBLE", TSR_F64, DOUBLES },
    { "UINT32", TSR_U32, UINT64S },             { "UINT64", TSR_U64, UINT64S },
    { "COMPLEX64", TSR_C64, FLOATS },           { "COMPLEX128", TSR_C128, DOUBLES },
    { "BFLOAT16", TSR_BF16, INT32S },           { "FLOAT8E4M3FN", TSR_F8E4M3, INT32S },
    { "FLOAT8E4M3FNUZ", TSR_DTYPE_INVALID, 0 }, { "FLOAT8E5M2", TSR_F8E5M2, INT32S },
    { "FLOAT8E5M2FNUZ", TSR_DTYPE_INVALID, 0 }, { "UINT4", TSR_U8, INT32S },
    { "INT4", TSR_I8, INT32S },                 { "FLOAT4E2M1", TSR_DTYPE_INVALID, 0 },
    { "FLOAT8E8M0", TSR_DTYPE_INVALID, 0 },     { "UINT2", TSR_DTYPE_INVALID, 0 },
    { "INT2", TSR_DTYPE_INVALID, 0 },
};
enum { TYPES = sizeof types / sizeof *types, UINT4 = 21, INT4 = 22 };

typedef struct tensor {
    const char *name, *location;
    uint64_t    type;
    int         ndim;
    int64_t     shape[TSR_MAX_NDIM];
    bool        is_raw, is_external, has_length;
    uint64_t    raw, raw_bytes;          /* where */
    uint64_t    offset, length;          /* in the file of `location` */
    uint64_t    number_bytes;            /* of all fields of numbers */
    uint64_t    start, end;              /* of the message */
} tensor;

static tsr_status add_dim(const reader *r, tensor *t, uint64_t v)
{
    TSRI_CHECK(t->ndim < TSR_MAX_NDIM, TSR_EUNSUPPORTED,
               "file_open: %s: byte %llu: a tensor of more than %d dims", r->f->path, tsri_ull(r->at),
               TSR_MAX_NDIM);
    TSRI_SOUND(v <= INT64_MAX, r->f, "byte %llu: a dim of %lld", tsri_ull(r->at), (long long)v);
    t->shape[t->ndim++] = (int64_t)v;
    return TSR_OK;
}

static tsr_status take_dims(reader *r, tensor *t, const field *v)
{
    if (v->wire == VARINT) return add_dim(r, t, v->value);
    TSRI_SOUND(v->wire == BYTES, r->f, "byte %llu: expected dims", tsri_ull(r->at));
    for (r->at = v->start; r->at < v->end;) {
        uint64_t dim = 0;
        TSRI_TRY(take_varint(r, &dim, v->end));
        TSRI_TRY(add_dim(r, t, dim));
    }
    return TSR_OK;
}

/* StringStringEntryProto */
static tsr_status take_pair(reader *r, tsr_file *f, const field *message, const char **key,
                            const char **value, size_t *length)
{
    *key = *value = "";
    *length = 0;
    for (r->at = message->start; r->at < message->end;) {
        field v;
        TSRI_TRY(take_field(r, &v, message->end));
        if (v.number == 1) TSRI_TRY(take_text(r, f, &v, key, NULL));
        if (v.number == 2) TSRI_TRY(take_text(r, f, &v, value, length));
    }
    r->at = message->end;
    return TSR_OK;
}

static tsr_status read_decimal(const tsr_file *f, uint64_t *out, const char *text)
{
    bool fits = *text != '\0';
    *out = 0;
    for (const char *p = text; fits && *p; p++) {
        fits = *p >= '0' && *p <= '9' && *out <= (INT64_MAX - 9) / 10;
        *out = *out * 10 + (uint64_t)(*p - '0');
    }
    TSRI_SOUND(fits, f, "\"%.40s\" is no offset or length of external data", text);
    return TSR_OK;
}

static tsr_status take_external(reader *r, tsr_file *f, tensor *t, const field *message)
{
    const char *key, *value;
    size_t length;
    TSRI_SOUND(message->wire == BYTES, f, "byte %llu: expected external data", tsri_ull(r->at));
    TSRI_TRY(take_pair(r, f, message, &key, &value, &length));
    if (tsri_streq(key, "location")) t->location = value;
    if (tsri_streq(key, "offset")) TSRI_TRY(read_decimal(f, &t->offset, value));
    if (tsri_streq(key, "length")) {
        t->has_length = true;
        TSRI_TRY(read_decimal(f, &t->length, value));
    }
    return TSR_OK;
}

static bool is_numbers(uint32_t number)
{
    return number == FLOATS || number == INT32S || number == INT64S || number == DOUBLES || number == UINT64S;
}

/* One field of a TensorProto. */
static tsr_status take_part(reader *r, tsr_file *f, tensor *t, const field *v)
{
    if (v->number == 1)  return take_dims(r, t, v);
    if (v->number == 8)  return take_text(r, f, v, &t->name, NULL);
    if (v->number == 13) return take_external(r, f, t, v);
    if (v->number == 2 && v->wire == VARINT)  t->type = v->value;
    if (v->number == 14 && v->wire == VARINT) t->is_external = v->value == 1;
    TSRI_CHECK(v->number != 3, TSR_EUNSUPPORTED, "file_open: %s: byte %llu: a tensor in segments", f->path,
               tsri_ull(v->start));
    if (v->number == RAW && v->wire == BYTES) {
        t->is_raw = true;
        t->raw = v->start;
        t->raw_bytes = v->end - v->start;
    }
    if (is_numbers(v->number)) t->number_bytes += v->wire == VARINT ? 1 : v->end - v->start;
    return TSR_OK;
}

static tsr_status take_tensor(reader *r, tsr_file *f, tensor *t, const field *message)
{
    *t = (tensor){ .name = "", .start = message->start, .end = message->end };
    for (r->at = message->start; r->at < message->end;) {
        field v;
        TSRI_TRY(take_field(r, &v, message->end));
        const uint64_t after = r->at;
        TSRI_TRY(take_part(r, f, t, &v));
        r->at = after;
    }
    return TSR_OK;
}

/* External data: a file of the model's folder or of a folder in that, and nowhere else. */
static tsr_status check_location(const tsr_file *f, const char *location)
{
    bool sound = *location && *location != '/';
    for (const char *p = location; sound && *p;) {
        size_t n = 0;
        while (p[n] && p[n] != '/') sound = sound && p[n] != '\\' && p[n] != ':', n++;
        sound = sound && n > 0 && !(n == 1 && p[0] == '.') && !(n == 2 && p[0] == '.' && p[1] == '.');
        p += n;
        if (*p == '/') sound = sound && *++p;
    }
    TSRI_SOUND(sound, f, "\"%.200s\" is no file in the folder of the model", location);
    return TSR_OK;
}

/* The part with this file, which is opened when it is first named. */
static tsr_status part_of(int32_t *out, tsr_file *f, const char *location)
{
    const size_t folder = (size_t)(tsri_name_in_folder(f->path) - f->path), length = tsri_strlen(location);
    TSRI_CHECK(f->parts[0]->file >= 0, TSR_EUNSUPPORTED,
               "file_open: %s: external data lies in files beside the model, and this is no file", f->path);
    TSRI_TRY(check_location(f, location));
    for (int64_t i = f->part_list.count - 1; i > 0; i--)  /* usually the latest */
        if (tsri_streq(f->parts[i]->path + folder, location)) {
            *out = (int32_t)i;
            return TSR_OK;
        }
    char *path = tsri_bump_take(&f->memory, folder + length + 1);
    TSRI_CHECK(path, TSR_ENOMEM, "file_open: %s: no room", f->path);
    memcpy(path, f->path, folder);
    memcpy(path + folder, location, length);
    TSRI_TRY(tsri_file_add_part(f, path));
    *out = (int32_t)f->part_list.count - 1;
    return TSR_OK;
}

static tsr_status place_external(tsr_file *f, tsri_entry *e, const tensor *t, uint64_t bytes)
{
    TSRI_SOUND(t->location, f, "\"%s\" is external, and nothing says where", e->name);
    TSRI_TRY(part_of(&e->part, f, t->location));
    const uint64_t size = f->parts[e->part]->size;
    TSRI_SOUND(!t->has_length || !e->dtype || t->length == bytes, f, "\"%s\" takes %llu bytes, and has %llu",
               e->name, tsri_ull(bytes), tsri_ull(t->length));
    e->bytes = e->dtype ? bytes : t->has_length ? t->length : 0;
    e->offset = t->offset;
    TSRI_SOUND(e->offset <= size && e->bytes <= size - e->offset, f,
               "\"%s\" takes %llu bytes from byte %llu of %s on, which has %llu", e->name, tsri_ull(e->bytes),
               tsri_ull(e->offset), t->location, tsri_ull(size));
    return TSR_OK;
}

static tsr_status place_raw(tsr_file *f, tsri_entry *e, const tensor *t, uint64_t bytes)
{
    TSRI_SOUND(!e->dtype || t->raw_bytes == bytes, f, "\"%s\" takes %llu bytes, and has %llu", e->name,
               tsri_ull(bytes), tsri_ull(t->raw_bytes));
    e->offset = t->raw;
    e->bytes = t->raw_bytes;
    return TSR_OK;
}

/* What an entry has for read(): the type, whether the bytes are raw, and else the field of its numbers. */
enum { IS_RAW = 1 << 8, FIELD = 1 << 16 };

static bool is_nibbles(uint64_t type) { return type == UINT4 || type == INT4; }

static tsr_status add_tensor(tsr_file *f, const tensor *t)
{
    tsri_entry *e = NULL;
    const uint64_t type = t->type < TYPES ? t->type : 0;
    TSRI_TRY(tsri_file_add(f, &e, t->name, types[type].dtype, t->ndim, t->shape));
    const uint64_t bytes = is_nibbles(type) ? e->bytes / 2 + e->bytes % 2 : e->bytes;
    const bool raw = t->is_raw || t->is_external;
    e->encoding = types[type].name;
    e->plain = raw && e->dtype && !is_nibbles(type);
    e->detail = type | (raw ? IS_RAW : (uint64_t)types[type].numbers * FIELD);
    if (t->is_external) return place_external(f, e, t, bytes);
    if (t->is_raw) return place_raw(f, e, t, bytes);
    /* A number takes a byte at the least, and makes an element, or two of four bits. */
    TSRI_SOUND(!e->dtype || bytes / tsr_dtype_size(e->dtype) <= t->number_bytes, f,
               "\"%s\" has %llu bytes of numbers for %llu elements", e->name, tsri_ull(t->number_bytes),
               tsri_ull(bytes / tsr_dtype_size(e->dtype)));
    e->offset = t->start;
    e->bytes = t->end - t->start;
    return TSR_OK;
}

/* The model ---------------------------------------------------------------------------- */

static tsr_status add_text(reader *r, tsr_file *f, const char *key, const field *v)
{
    const char *text = NULL;
    size_t length = 0;
    TSRI_TRY(take_text(r, f, v, &text, &length));
    return length ? tsri_file_add_text(f, key, text, length) : TSR_OK;
}

static tsr_status add_number(tsr_file *f, const char *key, uint64_t value)
{
    tsr_meta *m = NULL;
    TSRI_TRY(tsri_file_add_meta(f, &m, key));
    m->type = TSR_META_NUMBER;
    m->dtype = TSR_I64;
    m->number = tsr_scalar_i64((int64_t)value);
    return TSR_OK;
}

/* Three texts as one, in the file's memory. The name of a node comes before those of all that is in it:
 * together they stay in proportion to the file. */
static tsr_status join_texts(reader *r, tsr_file *f, const char *a, const char *b, const char *c,
                             const char **out)
{
    enum { TIMES = 4, SOME = 1 << 16 };
    const size_t first = tsri_strlen(a), second = tsri_strlen(b), third = tsri_strlen(c);
    r->joined += first + second + third;
    TSRI_SOUND(r->joined <= TIMES * f->parts[0]->size + SOME, f, "names out of proportion to its size");
    char *text = tsri_bump_take(&f->memory, first + second + third + 1);
    TSRI_CHECK(text, TSR_ENOMEM, "file_open: %s: no room", f->path);
    memcpy(text, a, first);
    memcpy(text + first, b, second);
    memcpy(text + first + second, c, third);
    *out = text;
    return TSR_OK;
}

/* "metadata.KEY" */
static tsr_status add_pair(reader *r, tsr_file *f, const field *v)
{
    const char *key, *value;
    size_t length;
    TSRI_SOUND(v->wire == BYTES, f, "byte %llu: expected metadata", tsri_ull(r->at));
    TSRI_TRY(take_pair(r, f, v, &key, &value, &length));
    TSRI_TRY(join_texts(r, f, "metadata.", key, "", &key));
    return tsri_file_add_text(f, key, value, length);
}

/* Nodes -------------------------------------------------------------------------------- */

enum { DEEPEST = 16, FLOAT = 1, INT64 = 7 };

/* A graph of the model, or of an attribute of a node: then its names begin with those of both. */
typedef struct graph { const char *before; int depth; } graph;

/* Where the texts of a node's output and name lie; length 0: it has none. */
typedef struct node { field output, name; bool is_constant; } node;

static tsr_status take_graph(reader *r, tsr_file *f, const graph *g, const field *message);

/* A text of few bytes; "" if it has more, or there is none. */
enum { SHORT = 16 };

static tsr_status take_short(reader *r, const field *v, char out[SHORT])
{
    const uint64_t n = v->wire == BYTES && v->end - v->start < SHORT ? v->end - v->start : 0;
    out[n] = '\0';
    return take_bytes(r, (unsigned char *)out, v->start, (size_t)n);
}

/* The text of a field, between two others. */
static tsr_status join_name(reader *r, tsr_file *f, const char *before, const field *v, const char *after,
                            const char **out)
{
    const char *own = "";
    if (v->end > v->start) TSRI_TRY(take_text(r, f, v, &own, NULL));
    return join_texts(r, f, before, own, after, out);
}

/* The name of a constant: that of the node's output or, if it has none, of the node. */
static tsr_status constant_name(reader *r, tsr_file *f, const graph *g, const node *n, const char **out)
{
    return join_name(r, f, g->before, n->output.end > n->output.start ? &n->output : &n->name, "", out);
}

/* How many numbers a field has. */
static tsr_status count_field(reader *r, const field *v, bool is_float, int64_t *count)
{
    unsigned char c = 0;
    if (v->wire != BYTES) *count += 1;
    else if (is_float) *count += (int64_t)((v->end - v->start) / 4);
    else
        for (uint64_t at = v->start; at < v->end; at++) {
            TSRI_TRY(take_bytes(r, &c, at, 1));
            *count += !(c & 0x80);
        }
    return TSR_OK;
}

/* Numbers of an attribute: of its fields of this number; one, or a list of them. */
static tsr_status add_numbers(reader *r, tsr_file *f, const char *name, const field *attribute,
                              uint32_t number, bool is_list)
{
    const bool is_float = number == 2 || number == 7;
    int64_t count = 0;
    tsri_entry *e = NULL;
    for (r->at = attribute->start; r->at < attribute->end;) {
        field v;
        TSRI_TRY(take_field(r, &v, attribute->end));
        const uint64_t after = r->at;
        if (v.number == number) TSRI_TRY(count_field(r, &v, is_float, &count));
        r->at = after;
    }
    TSRI_TRY(tsri_file_add(f, &e, name, is_float ? TSR_F32 : TSR_I64, is_list, &count));
    e->encoding = is_float ? "FLOAT" : "INT64";
    e->detail = (is_float ? FLOAT : INT64) | (uint64_t)number * FIELD;
    e->offset = attribute->start;
    e->bytes = attribute->end - attribute->start;
    return TSR_OK;
}

/* Listed, and not read: a tensor of values and places. */
static tsr_status add_sparse(reader *r, tsr_file *f, const char *name, const field *message)
{
    tensor t = { .name = name };
    tsri_entry *e = NULL;
    for (r->at = message->start; r->at < message->end;) {
        field v;
        TSRI_TRY(take_field(r, &v, message->end));
        const uint64_t after = r->at;
        if (v.number == 3) TSRI_TRY(take_dims(r, &t, &v));
        r->at = after;
    }
    TSRI_TRY(tsri_file_add(f, &e, name, TSR_DTYPE_INVALID, t.ndim, t.shape));
    e->encoding = "SPARSE";
    e->offset = message->start;
    e->bytes = message->end - message->start;
    return TSR_OK;
}

/* An attribute of a Constant; texts are left out. */
static tsr_status take_constant(reader *r, tsr_file *f, const char *name, const field *attribute,
                                const field *key, const field *value)
{
    static const struct { const char *key; uint32_t number; } numbers[] = {
        { "value_float", 2 }, { "value_int", 3 }, { "value_floats", 7 }, { "value_ints", 8 },
    };
    tensor t;
    char own[SHORT];
    TSRI_TRY(take_short(r, key, own));
    for (int i = 0; i < 4; i++)
        if (tsri_streq(own, numbers[i].key))
            return add_numbers(r, f, name, attribute, numbers[i].number, i > 1);
    if (value->wire != BYTES) return TSR_OK;
    if (value->number == 22) return add_sparse(r, f, name, value);
    if (!tsri_streq(own, "value")) return TSR_OK;
    TSRI_TRY(take_tensor(r, f, &t, value));
    t.name = name;
    return add_tensor(f, &t);
}

/* The graph of an attribute, of names "NODE.ATTRIBUTE.NAME". */
static tsr_status take_branch(reader *r, tsr_file *f, const graph *g, const node *n, const field *key,
                              const field *value)
{
    graph inner = { .depth = g->depth + 1 };
    const char *before = NULL;
    TSRI_CHECK(inner.depth <= DEEPEST, TSR_EUNSUPPORTED, "file_open: %s: graphs in graphs, more than %d deep",
               f->path, DEEPEST);
    TSRI_TRY(join_name(r, f, g->before, n->name.end > n->name.start ? &n->name : &n->output, ".", &before));
    TSRI_TRY(join_name(r, f, before, key, ".", &inner.before));
    return take_graph(r, f, &inner, value);
}

static tsr_status take_attribute(reader *r, tsr_file *f, const graph *g, const node *n,
                                 const field *attribute)
{
    field key = { .number = 0 }, value = { .number = 0 };
    for (r->at = attribute->start; r->at < attribute->end;) {
        field v;
        TSRI_TRY(take_field(r, &v, attribute->end));
        if (v.number == 1) key = v;
        if (v.number == 5 || v.number == 6 || v.number == 22) value = v;
    }
    if (value.number == 6 && value.wire == BYTES) return take_branch(r, f, g, n, &key, &value);
    const char *name = NULL;
    if (!n->is_constant) return TSR_OK;
    TSRI_TRY(constant_name(r, f, g, n, &name));
    return take_constant(r, f, name, attribute, &key, &value);
}

/* Reads the fields that name the node first, then the others: they may stand in any order. */
static tsr_status take_node(reader *r, tsr_file *f, const graph *g, const field *message)
{
    node n = { .is_constant = false };
    field kind = { .number = 0 };
    char own[SHORT];
    bool has_attributes = false;
    for (r->at = message->start; r->at < message->end;) {
        field v;
        TSRI_TRY(take_field(r, &v, message->end));
        if (v.number == 2 && n.output.number == 0) n.output = v;
        if (v.number == 3) n.name = v;
        if (v.number == 4) kind = v;
        has_attributes = has_attributes || v.number == 5;
    }
    TSRI_TRY(take_short(r, &kind, own));
    n.is_constant = tsri_streq(own, "Constant");
    for (r->at = message->start; r->at < message->end && has_attributes;) {
        field v;
        TSRI_TRY(take_field(r, &v, message->end));
        const uint64_t after = r->at;
        if (v.number == 5 && v.wire == BYTES) TSRI_TRY(take_attribute(r, f, g, &n, &v));
        r->at = after;
    }
    return TSR_OK;
}

/* Graphs ------------------------------------------------------------------------------- */

static tsr_status take_initialiser(reader *r, tsr_file *f, const graph *g, const field *message)
{
    tensor t;
    TSRI_TRY(take_tensor(r, f, &t, message));
    if (*g->before) TSRI_TRY(join_texts(r, f, g->before, t.name, "", &t.name));
    return add_tensor(f, &t);
}

static tsr_status take_graph(reader *r, tsr_file *f, const graph *g, const field *message)
{
    TSRI_SOUND(message->wire == BYTES, f, "byte %llu: expected a graph", tsri_ull(r->at));
    for (r->at = message->start; r->at < message->end;) {
        field v;
        TSRI_TRY(take_field(r, &v, message->end));
        const uint64_t after = r->at;
        if (v.number == 2 && g->depth == 0) TSRI_TRY(add_text(r, f, "graph", &v));
        if (v.number == 1 && v.wire == BYTES) TSRI_TRY(take_node(r, f, g, &v));
        if (v.number == 5 && v.wire == BYTES) TSRI_TRY(take_initialiser(r, f, g, &v));
        r->at = after;
    }
    return TSR_OK;
}

static tsr_status take_model(reader *r, tsr_file *f)
{
    static const char *const texts[] = { NULL, NULL, "producer_name", "producer_version", "domain" };
    const uint64_t end = f->parts[0]->size;
    bool has_graph = false;
    while (r->at < end) {
        field v;
        TSRI_TRY(take_field(r, &v, end));
        const uint64_t after = r->at;
        if (v.number == 1 && v.wire == VARINT)     TSRI_TRY(add_number(f, "ir_version", v.value));
        else if (v.number >= 2 && v.number <= 4)   TSRI_TRY(add_text(r, f, texts[v.number], &v));
        else if (v.number == 7)                    TSRI_TRY(take_graph(r, f, &(graph){ .before = "" }, &v));
        else if (v.number == 14)                   TSRI_TRY(add_pair(r, f, &v));
        has_graph = has_graph || v.number == 7;
        r->at = after;
    }
    TSRI_SOUND(has_graph, f, "no graph, and so no ONNX model");
    return TSR_OK;
}

static tsr_status with_reader(reader **out, const tsr_file *f)
{
    reader *r = tsri_scratch(sizeof *r);
    TSRI_CHECK(r, TSR_ENOMEM, "file_open: %s: no room", f->path);
    r->f = f;
    r->at = r->begin = r->end = r->joined = 0;
    *out = r;
    return TSR_OK;
}

static tsr_status open_onnx(tsr_file *f)
{
    reader *r = NULL;
    TSRI_TRY(with_reader(&r, f));
    const tsr_status s = take_model(r, f);
    tsri_free(r, sizeof *r);
    return s;
}

/* Numbers, and halves of bytes ---------------------------------------------------------- */

/* Takes elements one after another; `kind` is the field that numbers of this type have in a tensor. */
typedef struct filling { tsr_tensor *t; uint64_t type; int kind; int64_t done, total; } filling;

static tsr_status put(const reader *r, filling *to, const void *number, size_t bytes)
{
    TSRI_SOUND(to->done < to->total, r->f, "byte %llu: more numbers than elements", tsri_ull(r->at));
    memcpy((char *)to->t->data + (size_t)to->done * bytes, number, bytes);
    to->done++;
    return TSR_OK;
}

/* Two elements of four bits, the lower first; the last half may be left over. */
static tsr_status put_nibbles(const reader *r, filling *to, unsigned byte)
{
    for (int half = 0; half < 2; half++) {
        const unsigned v = byte >> 4 * half & 15;
        const int8_t i = (int8_t)(to->type == INT4 && v & 8 ? (int)v - 16 : (int)v);
        if (half && to->done == to->total) break;
        TSRI_TRY(put(r, to, &i, 1));
    }
    return TSR_OK;
}

static tsr_status put_integer(const reader *r, filling *to, uint64_t v)
{
    unsigned char bytes[8];
    if (is_nibbles(to->type)) return put_nibbles(r, to, (unsigned)v & 0xFF);
    tsri_set64(bytes, to->t->dtype == TSR_BOOL ? v != 0 : v);
    return put(r, to, bytes, tsr_dtype_size(to->t->dtype));
}

/* The numbers of one field: a varint, a float, or a list of either. */
static tsr_status put_field(reader *r, filling *to, const field *v)
{
    const bool is_float = to->kind == FLOATS || to->kind == DOUBLES;
    const size_t size = to->kind == DOUBLES ? 8 : 4;
    unsigned char bytes[8];
    TSRI_SOUND(!is_float || v->wire != VARINT, r->f, "byte %llu: a whole number for a float",
               tsri_ull(r->at));
    if (v->wire == VARINT) return put_integer(r, to, v->value);
    if (!is_float) {
        for (r->at = v->start; r->at < v->end;) {
            uint64_t number = 0;
            TSRI_TRY(take_varint(r, &number, v->end));
            TSRI_TRY(put_integer(r, to, number));
        }
        return TSR_OK;
    }
    TSRI_SOUND((v->end - v->start) % size == 0, r->f, "byte %llu: part of a number", tsri_ull(v->start));
    for (uint64_t at = v->start; at < v->end; at += size) {
        TSRI_TRY(take_bytes(r, bytes, at, size));
        TSRI_TRY(put(r, to, bytes, size));
    }
    return TSR_OK;
}

static tsr_status put_numbers(reader *r, filling *to, const tsri_entry *e)
{
    const uint64_t end = e->offset + e->bytes;
    const uint32_t wanted = (uint32_t)(e->detail / FIELD);
    for (r->at = e->offset; r->at < end;) {
        field v;
        TSRI_TRY(take_field(r, &v, end));
        const uint64_t after = r->at;
        if (v.number == wanted) TSRI_TRY(put_field(r, to, &v));
        r->at = after;
    }
    return TSR_OK;
}

static tsr_status put_raw_nibbles(reader *r, filling *to, const tsri_source *s, const tsri_entry *e)
{
    for (uint64_t done = 0; done < e->bytes;) {
        const size_t n = e->bytes - done < BUFFER ? (size_t)(e->bytes - done) : BUFFER;
        TSRI_TRY(tsri_source_read(s, r->buffer, e->offset + done, n));
        for (size_t i = 0; i < n; i++) TSRI_TRY(put_nibbles(r, to, r->buffer[i]));
        done += n;
    }
    return TSR_OK;
}

static tsr_status fill_tensor(const tsr_file *f, const tsri_entry *e, tsr_tensor *t)
{
    reader *r = NULL;
    const bool is_complex = tsr_dtype_kind(t->dtype) == TSR_COMPLEX;
    const uint64_t type = e->detail % IS_RAW;
    filling to = { t, type, types[type].numbers, 0, tsr_numel(t) * (is_complex ? 2 : 1) };
    TSRI_TRY(with_reader(&r, f));
    tsr_status s = e->detail & IS_RAW ? put_raw_nibbles(r, &to, tsri_entry_source(f, e), e)
                                      : put_numbers(r, &to, e);
    tsri_free(r, sizeof *r);
    if (s == TSR_OK && to.done != to.total)
        s = TSRI_DAMAGE(f, "\"%s\" has %lld numbers of %lld", e->name, (long long)to.done,
                        (long long)to.total);
    return s;
}

static tsr_status read_numbers(tsr_tensor **out, const tsr_file *f, const tsri_entry *e)
{
    tsr_tensor *t = NULL;
    TSRI_TRY(tsri_make_packed(&t, "file_read", e->dtype, e->ndim, e->shape));
    const tsr_status s = fill_tensor(f, e, t);
    if (s != TSR_OK) tsr_release(&t);
    else *out = t;
    return s;
}

/* ONNX has no magic number: accepts a small version, followed by a field that a model may have. */
static bool is_onnx(const unsigned char *head, size_t n)
{
    static const unsigned char next[] = { 0x12, 0x1a, 0x22, 0x28, 0x32, 0x3a, 0x42, 0x72 };
    return n >= 4 && head[0] == 0x08 && head[1] > 0 && head[1] < 32 && memchr(next, head[2], sizeof next);
}

const tsri_format tsri_onnx = {
    .info = { "onnx", "the initialisers and constants of an ONNX model", true, false, true, ".onnx" },
    .is = is_onnx, .open = open_onnx, .read = read_numbers,
};
