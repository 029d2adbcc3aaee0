/* io_int.h - what the formats share.
 *
 * A format is a file with a tsri_format and a row in formats.def. To read, it fills a
 * tsr_file with entries from a source; most entries are plain (elements as they lie in
 * memory, maybe of the other byte order), and file.c reads those for all formats. To
 * write, it says where headers and data go in a sink; writer.c does the rest.
 */
#ifndef TSRI_IO_INT_H
#define TSRI_IO_INT_H

#include "bump.h"
#include "core/desc_int.h"
#include "core/mem.h"
#include "core/status_int.h"
#include "disk.h"
#include "names.h"
#include "tessera/io.h"

/* Reading ------------------------------------------------------------------------------ */

/* One tensor of a file. Small: a file may hold a great many. */
typedef struct tsri_entry {
    const char    *name;
    const char    *encoding;
    const int64_t *shape;
    const int64_t *stride;        /* plain, neither row-major nor column-major; NULL: packed */
    tsr_dtype      dtype;         /* TSR_DTYPE_INVALID: cannot be read as elements */
    int32_t        ndim;
    int32_t        part;
    bool           plain;         /* elements as they are in memory; else the format's read() makes them */
    bool           column_major;  /* plain: the first dim varies fastest */
    bool           swapped;       /* plain: the other byte order */
    uint8_t        blocks;        /* quantised: 1 + its tsr_block_kind; else 0 */
    uint64_t       offset, bytes; /* in the part */
    uint64_t       detail;        /* the format's own */
} tsri_entry;

struct tsr_file {
    const struct tsri_format *format;
    tsri_bump        memory;      /* names, shapes, entries, metadata */
    const char      *path;        /* for messages */
    tsr_file_opts    opts;
    tsri_source    **parts;       /* the files; at least one once the first is open */
    tsri_list        part_list, entry_list, meta_list;
    tsri_entry     **entries;     /* in the order of the file */
    tsr_meta       **metas;
    tsri_entry     **by_name;     /* sorted */
    tsr_meta       **by_key;
};

/* Adds an entry with `ndim` sizes, which are copied; the name is the file's already. The
 * shape is checked: no negative dim, no size beyond 2^63 - 1. */
tsr_status tsri_file_add(tsr_file *f, tsri_entry **out, const char *name, tsr_dtype dtype, int ndim,
                         const int64_t *shape);
tsr_status tsri_file_add_meta(tsr_file *f, tsr_meta **out, const char *key);
tsr_status tsri_file_add_text(tsr_file *f, const char *key, const char *text, size_t length);
tsr_status tsri_file_add_part(tsr_file *f, const char *path);

/* Does [offset, offset + bytes) lie in part 0? TSR_EFORMAT names `what`. */
tsr_status tsri_file_range(const tsr_file *f, const char *what, uint64_t offset, uint64_t bytes);

/* The bytes of the elements of a shape; TSR_EFORMAT with words if they leave 63 bits. */
tsr_status tsri_file_shape_bytes(uint64_t *out, const tsr_file *f, const char *name, size_t element, int ndim,
                                 const int64_t *shape);

/* Below 0, 0 or above: the order of names, by their bytes. */
int tsri_name_order(const char *a, const char *b);

/* What comes after the last slash. */
const char *tsri_name_in_folder(const char *path);

tsr_desc tsri_entry_desc(const tsri_entry *e);
tsri_source *tsri_entry_source(const tsr_file *f, const tsri_entry *e);

/* Reads all of a plain entry, mapped if possible; cut (may be NULL) is a desc of a part of
 * it, `start` elements from the first. */
tsr_status tsri_read_plain(tsr_tensor **out, const tsr_file *f, const tsri_entry *e, const tsr_desc *cut,
                           int64_t start);

/* Elements from the bytes of a file that fill a dense tensor of e's dtype: swapped if they are
 * of the other order; a bool is 0 or 1. */
void tsri_make_elements(tsr_tensor *t, const tsri_entry *e);

/* Damage: "file_open: PATH: words". */
#define TSRI_DAMAGE(f, ...) tsri_damage((f)->path, __VA_ARGS__)
tsr_status tsri_damage(const char *path, const char *fmt, ...) TSRI_PRINTF(2, 3) TSRI_COLD;

#define TSRI_SOUND(cond, f, ...)                                   \
    do {                                                           \
        if (!TSRI_LIKELY(cond)) {                                  \
            (void)TSRI_DAMAGE(f, __VA_ARGS__);                     \
            return TSR_EFORMAT;                                    \
        }                                                          \
    } while (0)

static inline unsigned long long tsri_ull(uint64_t v) { return v; }

/* Writing ------------------------------------------------------------------------------ */

/* One tensor of a file being written, declared or added. */
typedef struct tsri_file_entry {
    const char *name;
    const char *encoding;
    tsr_desc    desc;           /* packed, row-major */
    uint64_t    offset, bytes;  /* of its data, from the first data byte; bytes as stored */
    uint32_t    kind;           /* the format's own */
    uint32_t    check;          /* the format's own: a checksum */
    bool        written;
    bool        unnamed;        /* it was planned without a name, which the format gave it */
    int64_t     shard;          /* which file of a set it goes to, and */
    uint64_t    shard_bytes;    /* bytes of elements in that file, this tensor included */
} tsri_file_entry;

struct tsr_writer {
    const struct tsri_format *format;
    tsri_bump        memory;
    tsr_writer_opts  opts;
    const char      *path;
    void           (*progress)(void *context, int64_t bytes);  /* NULL: nobody is told */
    void            *progress_context;
    tsri_sink        sink;
    tsri_list        plan_list, meta_list;
    tsri_file_entry **plan;      /* in order */
    tsr_meta       **metas;
    tsri_names       names, keys;  /* of the plan; of the metadata */
    int64_t          added;     /* how many of the plan are written */
    bool             declared;  /* by tsr_writer_declare; then nothing else is added */
    bool             broken;    /* a failure left the file in pieces */
    bool             headed;    /* a stream: finish() was called already, before the data */
    struct tsr_writer **shards; /* a set: a writer for each file; this one writes the index */
    tsri_list        shard_list;
    char            *part_path; /* what tsr_writer_part gave */
    void            *state;     /* the format's own, in `memory` */
    uint64_t         data_start;  /* where the first data byte lies */
    uint64_t         data_end;    /* from there: how much is written or promised */
};

/* Calls fn with the elements of a tensor of any strides, row-major and packed, in runs, and tells of each. */
typedef tsr_status (*tsri_run_fn)(void *context, const void *data, size_t bytes);
tsr_status tsri_each_run(const tsr_writer *w, const tsr_tensor *t, tsri_run_fn fn, void *context);

/* The elements of a tensor of any strides, row-major, to the sink at `at`. */
tsr_status tsri_write_elements(tsr_writer *w, uint64_t at, const tsr_tensor *t);

/* Formats ------------------------------------------------------------------------------ */

typedef struct tsri_format {
    tsr_format_info info;

    /* Is a file that begins with these bytes (at most 512) of this format? NULL: known by its name only. */
    bool       (*is)(const unsigned char *head, size_t bytes);
    tsr_status (*open)(tsr_file *f);
    /* NULL if all entries are plain. *out is NULL. */
    tsr_status (*read)(tsr_tensor **out, const tsr_file *f, const tsri_entry *e);
    /* Part of an entry that is not plain, by ranges that fit its shape; NULL: all of it is read, and cut. */
    tsr_status (*read_part)(tsr_tensor **out, const tsr_file *f, const tsri_entry *e, int n,
                            const tsr_file_range *ranges);
    /* Tests the checksum of a plain entry before all of it is read. NULL: the format has none. */
    tsr_status (*check)(const tsr_file *f, const tsri_entry *e);
    /* NULL: one row of bytes. *out is NULL. */
    tsr_status (*read_raw)(tsr_tensor **out, const tsr_file *f, const tsri_entry *e);

    /* Writing. plan() checks a tensor to come and sets bytes,
     * kind and offset; data_start() says where data begins, from what is planned so far
     * (NULL: 0); add() writes one; finish() writes headers or directories. */
    tsr_status (*plan)(tsr_writer *w, tsri_file_entry *p);
    tsr_status (*data_start)(tsr_writer *w, uint64_t *out);
    tsr_status (*add)(tsr_writer *w, tsri_file_entry *p, const tsr_tensor *t);
    tsr_status (*finish)(tsr_writer *w);
    tsr_status (*check_meta)(const tsr_writer *w, const tsr_meta *m);  /* NULL: there is no metadata */

    /* Can it be written in order, to a stream? If it has data_start(), only when all tensors are declared
     * first: finish() is then called before the first add(). */
    bool one_pass;
    bool may_be_empty;  /* a file of no bytes is one */
} tsri_format;

#define X(name) extern const tsri_format tsri_##name;
#include "formats.def"
#undef X

/* Their names, a blank before each. */
extern const char tsri_format_list[];

/* The format by name; by the first bytes; by the end of a path. NULL if there is none. */
const tsri_format *tsri_format_named(const char *name);
const tsri_format *tsri_format_of_bytes(const unsigned char *head, size_t bytes);

/* For a file of no format here: what it is and what to do, if its first bytes are known; else NULL. */
const char *tsri_format_foreign(const unsigned char *head, size_t bytes);
const tsri_format *tsri_format_of_path(const char *path);

/* Numbers in files are little-endian unless said otherwise.
 *
 * LIMIT: elements are too, and are not swapped for a machine that is not; open and create refuse
 * there. */
enum { TSRI_LITTLE_ENDIAN = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

static inline uint16_t tsri_get16(const unsigned char *p) { return (uint16_t)(p[0] | p[1] << 8); }
static inline uint32_t tsri_get32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t tsri_get64(const unsigned char *p)
{
    return tsri_get32(p) | (uint64_t)tsri_get32(p + 4) << 32;
}
static inline void tsri_set16(unsigned char *p, uint32_t v)
{
    p[0] = (unsigned char)v;
    p[1] = (unsigned char)(v >> 8);
}
static inline void tsri_set32(unsigned char *p, uint32_t v) { tsri_set16(p, v); tsri_set16(p + 2, v >> 16); }
static inline void tsri_set64(unsigned char *p, uint64_t v)
{
    tsri_set32(p, (uint32_t)v);
    tsri_set32(p + 4, (uint32_t)(v >> 32));
}
static inline uint32_t tsri_get32_big(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static inline void tsri_set32_big(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) p[i] = (unsigned char)(v >> (24 - 8 * i));
}

#endif
