/* source.h - tensors as a command line names them.
 *
 *     FILE                    all tensors of a file
 *     FILE:NAME               one of them
 *     FILE:PATTERN            those whose names match, as in layers.*.weight
 *     FILE:NAME[0, ::2]       a part of it; FILE[0, ::2] of a file with one tensor
 *     TABLE:COLUMN            a column of a csv or tsv, by its name
 *     DIRECTORY, DIRECTORY:NAME ...
 *     -                       standard input
 *
 * The file is the longest beginning, up to a ':' or to the end, that exists. A name that has
 * brackets of its own, or quotes, can be put in quotes: FILE:"w[0]"[1, :].
 *
 * A directory stands for the tensor files in it, in the order of their names. Only headers
 * are read until data is asked for, and of many files only some are open at a time. In a
 * directory, a tensor without a name is called as its file, without the ending, and with the bytes
 * that %XX stands for (filename.h).
 */
#ifndef TSR_CLI_SOURCE_H
#define TSR_CLI_SOURCE_H

#include "command.h"
#include "subscript.h"

/* One tensor. */
typedef struct item {
    char    *name;      /* for people: printable */
    char    *entry;     /* in its file */
    char    *stem;      /* of a tensor without a name in a directory: what its file is called; else NULL */
    char    *encoding;
    char    *remedy;    /* " (...)": how what is not read could be; or "" */
    int      file;      /* index of source.file */
    int64_t  place;     /* how many come before it in its files */
    tsr_desc desc;      /* with dtype TSR_DTYPE_INVALID if its encoding cannot be read */
    int      column;    /* of a table, which desc is that of; -1: all of it */
    int64_t  words;     /* of a column of words: how many different ones; else 0 */
    uint64_t bytes;     /* that it takes in the file */
    bool     mapped;
    bool     is_blocks; /* of quantised numbers */
} item;

typedef struct source_file {
    char    *path;
    char     format[16];
    uint64_t bytes;     /* of all its parts */
    int64_t  count;     /* items */
    int      parts;     /* files: an index has several */
    tsr_file *handle;   /* NULL if it is not open */
} source_file;

typedef struct source {
    const char   *command;
    char         *path, *wanted;    /* wanted: the name that was given, or NULL */
    bool          is_directory, has_part;
    subscript     part;
    tsr_file_opts how;
    int           files, damaged;   /* damaged: files that could not be read, complained of */
    source_file  *file;
    int64_t       count;
    item         *items;
    int           opened;           /* files that have a handle */
    tsr_tensor   *whole;            /* item whole_index read in one go, or NULL */
    int64_t       whole_index;
} source;

/* How to read files that do not contain their format, dtype or shape: options of every command that reads. */
typedef struct reading {
    const char   *format, *dtype, *shape, *offset, *header, *separator, *columns;
    int64_t       dims[TSR_MAX_NDIM];
    char          words[4096];  /* of columns, cut at their commas */
    const char   *chosen[256];
    tsr_file_opts how;
} reading;

#define READING_OPTIONS(r)                             \
    { "--format", "FORMAT", NULL, &(r).format },       \
    { "--dtype", "DTYPE", NULL, &(r).dtype },          \
    { "--shape", "N,N,...", NULL, &(r).shape },        \
    { "--offset", "BYTES", NULL, &(r).offset },        \
    { "--header", "yes|no", NULL, &(r).header },       \
    { "--separator", "C", NULL, &(r).separator },      \
    { "--columns", "NAMES", NULL, &(r).columns }

#define READING_HELP                                                              \
    "  --format FORMAT   what the file is, where neither its bytes nor its name\n" \
    "                    say it: npy npz pt safetensors onnx gguf hdf5 png\n" \
    "                    jpeg pnm csv tsv raw\n"                                  \
    "  --dtype DTYPE     of a raw file (or of a table); --shape N,N its shape, where\n" \
    "                    one dim may be -1; --offset BYTES where it begins\n"         \
    "  --columns NAMES   of a table: only these, as in age,3,-1; --separator C between\n" \
    "                    fields, as ';' or tab; --header yes|no: does its first line\n" \
    "                    name the columns?\n"

/* False after a complaint. */
bool reading_check(reading *r, const char *who);

/* Opens what the text names and lists its tensors: only the one, if it names one. EXIT_YES, or
 * another code after a complaint. The source is to be closed either way. */
int  source_open(source *out, const char *who, const char *text, const reading *r);
void source_close(source *s);

/* The file an item is in, opened. NULL after a complaint. */
tsr_file *source_file_at(source *s, int index);

/* Reads an item, or the part of it that the source names. A complaint if that fails. */
bool source_read(tsr_tensor **out, source *s, int64_t index);

/* The index of the item of this name; -1 if there is none. */
int64_t source_find(const source *s, const char *name);

/* If the source is one table whose columns have names: makes each an item of its own. False if not. */
bool source_split_table(source *s);

/* The words of a column of words; NULL of any other item. They live as long as the file is open. */
const char *const *source_words(source *s, const item *it);

/* Drops what was read and kept of an item. To be called before items change their order. */
void source_forget(source *s);

/* Leaves the items whose names fit. Returns how many there are. */
typedef bool (*name_fits)(const void *context, const char *name);
int64_t source_keep(source *s, name_fits fits, const void *context);

/* In pieces -------------------------------------------------------------------------- */

/* A box of a tensor's indices, and the walk over all of them in row-major order:
 *     block b;
 *     for (bool more = block_first(&b, ndim, shape, most); more; more = block_next(&b)) ...
 * Each holds `most` elements at the most. */
typedef struct block {
    int     ndim, axis;
    int64_t shape[TSR_MAX_NDIM], from[TSR_MAX_NDIM], count[TSR_MAX_NDIM], rows;
} block;

bool block_first(block *b, int ndim, const int64_t *shape, int64_t most);
bool block_next(block *b);

/* Is an item stored in a way that is read? False after a complaint. */
bool source_can_read(const source *s, const item *it);

/* The cut that the source's subscript makes of an item. False after a complaint. */
bool source_cut(cut *out, const source *s, int64_t index);

/* The shape that is walked over: the cut's lengths, indices among them as 1, no new axes. */
bool source_read_block(tsr_tensor **out, source *s, int64_t index, const cut *c, const block *b);

#endif
