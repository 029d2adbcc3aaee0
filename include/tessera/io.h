/* io.h - tensors in files.
 *
 *     tsr_file *f = NULL;
 *     tsr_tensor *w = NULL;
 *     tsr_file_open(&f, "model.safetensors", NULL);
 *     tsr_file_read(&w, f, "layers.0.weight");
 *     tsr_file_close(&f);                         // w stays
 *
 *   npy           one tensor, as NumPy writes it: versions 1 to 3, both orders of
 *                 dims, both byte orders. No strings, objects or records
 *   npz           a zip file of those, stored or deflated
 *   pt            a checkpoint of PyTorch (a zip file), without running what is in it: tensors
 *                 in dicts, lists and tuples, by dotted names. Read only
 *   safetensors   many tensors and texts; also the index of one in several files
 *                 (model.safetensors.index.json)
 *   onnx          the initialisers and constants of a model, also where they lie in files of
 *                 its folder. Read only
 *   gguf          many tensors and metadata, versions 2 and 3; blocks of quantised
 *                 numbers are read as f32
 *   hdf5          the datasets of a file, by their paths
 *   jpeg          a photograph: u8, (height, width) or (height, width, 3), through libjpeg-turbo
 *                 where it is installed; its size is read without
 *   png, pnm      images: u8 or u16, (height, width) or (height, width, channels)
 *   csv, tsv      a table. A column whose first value is no number is one of words: the tensor
 *                 has their codes 0, 1, ... as they first come, and the metadata, as texts, the
 *                 words: "categories.NAME" (or .NUMBER, without a name). Empty fields and NA, N/A,
 *                 null, None are missing: NaN, counted by column in "missing". "columns" are names
 *   raw           bytes alone; the caller knows dtype and shape
 *
 * Rules for the whole header:
 *
 *   - Opening reads headers only (csv and images in text are read through). What it
 *     believes has been checked: nothing in a file makes a call crash, overrun, or take
 *     memory out of proportion to the file. Damage is TSR_EFORMAT, and the message says
 *     what is wrong and at which byte; a part of a format that is not read here is
 *     TSR_EUNSUPPORTED; what the system refuses is TSR_EIO with its words.
 *   - A tensor that lies in the file as it would in memory is mapped: reading it costs
 *     nothing until it is touched. It may be written; the file never changes. Anything
 *     else (compressed, of the other byte order, bool, at an odd address) is read into
 *     memory of its own. Cutting a mapped file short while it is in use ends the
 *     process, as with every mapping.
 *   - A file may be read from any number of threads at once. Tensors outlive the file.
 *   - Names are UTF-8 and end with a 0; they live as long as the file is open.
 */
#ifndef TESSERA_IO_H
#define TESSERA_IO_H

#include "tensor.h"

TSR_BEGIN_C

/* Opening ---------------------------------------------------------------- */

typedef struct tsr_file tsr_file;

/* Are the fields of the first line of a table the names of its columns? */
typedef enum tsr_header {
    TSR_HEADER_FOUND = 0,  /* if one of them is no number */
    TSR_HEADER_FIRST,      /* yes */
    TSR_HEADER_NONE,       /* no */
    TSR_HEADER_MAX_ = 0x7fffffff
} tsr_header;

/* Zeroed means the default. */
typedef struct tsr_file_opts {
    const char    *format;  /* "npy", ...; NULL: what the first bytes say, else the end of the name */
    bool           copy;    /* map nothing: tensors have memory of their own */
    tsr_dtype      dtype;   /* raw: required; csv, tsv: f64 unless given. A number in the text that an
                             * integer dtype has not is an error */
    int            ndim;    /* raw: of shape; 0 with a NULL shape is one dim of all there is */
    const int64_t *shape;   /* raw: one dim may be -1, which is worked out */
    uint64_t       offset;  /* raw: the first byte */
    tsr_header     header;     /* csv, tsv */
    char           separator;  /* csv, tsv: between fields, as ';'; 0 is the format's own */
    const char *const *columns; /* csv, tsv: these ncolumns alone, in this order, each a name or a number
                                 * (from 0; from -1 backwards). NULL is all */
    int            ncolumns;
} tsr_file_opts;

/* Opens a regular file. What was piped into the program (/dev/stdin, /dev/fd/N) is read to its end
 * first; other pipes, sockets and devices are refused. opts may be NULL. *out is replaced. */
TSR_API TSR_MUST_CHECK tsr_status tsr_file_open(tsr_file **out, const char *path, const tsr_file_opts *opts);

/* The same for a file that lies in memory, which must stay as it is until the file is
 * closed. Tensors read from it are copies. name stands for the path in messages and
 * where the format is told by its end; it may be NULL. */
TSR_API TSR_MUST_CHECK tsr_status tsr_file_open_bytes(tsr_file **out, const void *data, size_t bytes,
                                                      const char *name, const tsr_file_opts *opts);

/* Closes it and sets *f to NULL. f and *f may be NULL. */
TSR_API void tsr_file_close(tsr_file **f);

/* What is there ---------------------------------------------------------- */

/* One tensor of a file. */
typedef struct tsr_file_entry {
    const char *name;      /* "" for the only tensor of an npy file, an image or a table */
    const char *encoding;  /* as the format says: "F32", "<f8", "q4_K", "u8" */
    tsr_desc    desc;      /* of what tsr_file_read makes. Its dtype is TSR_DTYPE_INVALID if the
                            * encoding has none here: the shape holds, and the bytes can be read */
    uint64_t    offset;    /* of its first byte in its file */
    uint64_t    bytes;     /* that it takes there */
    int32_t     part;      /* which file, of several; tsr_file_part */
    bool        mapped;    /* does tsr_file_read map it? */
    int8_t      blocks;    /* the tsr_block_kind of quantised blocks, which tsr_file_read makes f32 of and
                            * tsr_file_read_raw gives as they are; -1: none, or of a kind that is not read */
} tsr_file_entry;

TSR_API const char *tsr_file_format(const tsr_file *f);    /* "npy"; "" for NULL */
TSR_API uint64_t    tsr_file_size(const tsr_file *f);      /* bytes, all parts together */
TSR_API int64_t     tsr_file_count(const tsr_file *f);     /* tensors; 0 for NULL */
TSR_API const char *tsr_file_part(const tsr_file *f,
                                  int part); /* the path of a part; NULL if there is none */

/* Entry 0 <= index < count, in the order of the file. TSR_EINDEX. */
TSR_API TSR_MUST_CHECK tsr_status tsr_file_list(tsr_file_entry *out, const tsr_file *f, int64_t index);

/* The entry of this name. NULL or "" is the only one of a file that has one. TSR_EINDEX, with names that
 * are near, if there is none. */
TSR_API TSR_MUST_CHECK tsr_status tsr_file_find(tsr_file_entry *out, const tsr_file *f, const char *name);

/* Metadata --------------------------------------------------------------- */

typedef enum tsr_meta_type {
    TSR_META_TEXT = 0,  /* text, length */
    TSR_META_NUMBER,    /* number, of dtype */
    TSR_META_NUMBERS,   /* count elements of dtype at data */
    TSR_META_TEXTS,     /* count texts */
    TSR_META_LIST,      /* count items, which have no keys */
    TSR_META_TYPE_MAX_ = 0x7fffffff
} tsr_meta_type;

/* A key and its value. Pointers are the file's. */
typedef struct tsr_meta {
    const char            *key;
    tsr_meta_type          type;
    tsr_dtype              dtype;
    const char            *text;    /* may hold zeros; one more follows its length */
    size_t                 length;
    tsr_scalar             number;
    int64_t                count;
    const void            *data;
    const char *const     *texts;
    const struct tsr_meta *items;
} tsr_meta;

TSR_API int64_t tsr_file_meta_count(const tsr_file *f);
TSR_API TSR_MUST_CHECK tsr_status tsr_file_meta(tsr_meta *out, const tsr_file *f, int64_t index);
TSR_API TSR_MUST_CHECK tsr_status tsr_file_find_meta(tsr_meta *out, const tsr_file *f, const char *key);

/* Reading ---------------------------------------------------------------- */

/* A tensor by its name (NULL: the only one). If *out is NULL a tensor is made, which looks at the
 * mapped file where that is possible; otherwise *out must have its dtype and shape, and is overwritten.
 * Tensors that one tsr_file maps share its pages: what is written into one is seen by others of the same
 * place, also those that are read later, but neither by the file nor by another tsr_file.
 *
 * TSR_EINDEX        there is no such tensor
 * TSR_EUNSUPPORTED  its encoding is not read here
 * TSR_EFORMAT       the data is damaged: also a stored member of an npz whose checksum is another, which
 *                   the first read of it tests
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_file_read(tsr_tensor **out, const tsr_file *f, const char *name);

/* Elements start, start + step, ... before stop of one axis, as tsr_slice takes them. A
 * step of 0 is the one index `start`, and the axis is dropped. */
typedef struct tsr_file_range {
    int64_t start, stop, step;
} tsr_file_range;

#define TSR_FILE_ALL       { TSR_NONE, TSR_NONE, 1 }
#define TSR_FILE_AT(index) { (index), 0, 0 }

/* A part of a tensor: n ranges, for its first n axes. Of what is not compressed, only
 * the bytes asked for are touched.
 *
 *     // w[7, 0:64]
 *     tsr_file_read_slice(&row, f, "w", 2, (tsr_file_range[]){ TSR_FILE_AT(7), { 0, 64, 1 } });
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_file_read_slice(tsr_tensor **out, const tsr_file *f, const char *name,
                                                      int n, const tsr_file_range *ranges);

/* The stored bytes as u8, mapped where that is possible: (..., blocks of a row, bytes of a block)
 * for quantised blocks, which tsr_linear_blocks multiplies by; one row of bytes for anything else. */
TSR_API TSR_MUST_CHECK tsr_status tsr_file_read_raw(tsr_tensor **out, const tsr_file *f, const char *name);

/* Open, read one, close. */
TSR_API TSR_MUST_CHECK tsr_status tsr_file_load(tsr_tensor **out, const char *path, const char *name);

/* Writing -------------------------------------------------------------------
 *
 *     tsr_writer *w = NULL;
 *     tsr_writer_create(&w, "model.safetensors", NULL);
 *     tsr_writer_add(w, "a", a, NULL);
 *     tsr_writer_add(w, "b", b, NULL);
 *     tsr_writer_finish(&w);
 *
 * The bytes go to a temporary file beside the path as they come; nothing is held. Only
 * tsr_writer_finish puts it in its place, in one step, once the disk has it: whatever
 * happens before, a file that was there stays whole. The temporary file has no name where the system
 * can do that, and else the name .NAME.PID-N.tmp. A writer is for one thread at a time.
 *
 * safetensors and gguf begin with a list of all tensors. A caller who can should declare
 * them all first, in order; otherwise what was written is moved when the list is known. */

typedef struct tsr_writer tsr_writer;

/* Zeroed means the default. */
typedef struct tsr_writer_opts {
    const char *format;    /* NULL: the end of the name */
    bool        compress;  /* npz, hdf5: deflate */
    bool no_sync; /* do not wait for the disk: faster, and safe only against a crash of the program */
    uint64_t shard_bytes; /* safetensors: files NAME-00001-of-00003.safetensors of at most so many bytes of
                           * elements each (or one tensor), and NAME.safetensors.index.json; 0: one file */
    int quality;          /* jpeg: 1 to 100; 0 is 90 */
} tsr_writer_opts;

/* /dev/stdout and /dev/fd/N are written in order, as they are given, and not replaced: by the formats that
 * hold one tensor, and by safetensors and gguf if all tensors are declared first. A terminal is refused.
 * opts may be NULL. TSR_EUNSUPPORTED if the format is not written here; TSR_EIO. *out is replaced. */
TSR_API TSR_MUST_CHECK tsr_status tsr_writer_create(tsr_writer **out, const char *path,
                                                    const tsr_writer_opts *opts);

/* safetensors (texts) and gguf; csv and tsv: the names of columns ("columns") and words in place of codes
 * ("categories.NAME"), as they are read. Before the first tensor is added. The value is copied.
 * TSR_EINVAL if the key is there already; TSR_EUNSUPPORTED if the format has no such thing. */
TSR_API TSR_MUST_CHECK tsr_status tsr_writer_meta(tsr_writer *w, const tsr_meta *meta);
TSR_API TSR_MUST_CHECK tsr_status tsr_writer_text(tsr_writer *w, const char *key, const char *text);

/* What will be added: dtype and shape count, strides do not. The free space is checked. */
TSR_API TSR_MUST_CHECK tsr_status tsr_writer_declare(tsr_writer *w, const char *name, const tsr_desc *desc,
                                                     const char *encoding);

/* Writes a tensor of any strides. name may be NULL where a file has one tensor. encoding
 * NULL is the dtype's own; in gguf a floating tensor can also be "f32", "f16", "bf16",
 * "q8_0" or "q4_0", and a u8 tensor of blocks, as tsr_file_read_raw gives it, whatever it is.
 *
 * TSR_EDTYPE  the format has no such dtype
 * TSR_ESHAPE  the format has no such shape, or another one was declared
 * TSR_EINVAL  the name is there already, or was not the next one declared
 * TSR_EIO     no room, or the system refused; the writer can then only be cancelled
 */
TSR_API TSR_MUST_CHECK tsr_status tsr_writer_add(tsr_writer *w, const char *name, const tsr_tensor *t,
                                                 const char *encoding);

/* From now on fn is called by tsr_writer_add after each part of a tensor, of 16 MiB or less, with the part's
 * bytes; not by jpeg, which takes a picture in one go. NULL: nobody is told. */
TSR_API void tsr_writer_progress(tsr_writer *w, void (*fn)(void *context, int64_t bytes), void *context);

/* The path of file `part` of those that finish puts in their places, by what is declared or added so far:
 * 0, or, of shards, each and then the index. NULL past the last. The text is good until the next call. */
TSR_API const char *tsr_writer_part(tsr_writer *w, int part);

/* Completes the file, puts it in its place and ends the writer: *w is NULL afterwards,
 * also on failure, which leaves the old file as it was. */
TSR_API TSR_MUST_CHECK tsr_status tsr_writer_finish(tsr_writer **w);

/* Removes what was written and ends the writer. w and *w may be NULL. */
TSR_API void tsr_writer_cancel(tsr_writer **w);

/* Removes the named temporary files of all writers of this process, which can then only be cancelled.
 * For a program that a signal is about to end: a signal handler may call it. The library sets no
 * handlers of its own. */
TSR_API void tsr_writer_abandon_all(void);

/* Create, add, finish. */
TSR_API TSR_MUST_CHECK tsr_status tsr_file_save(const char *path, const tsr_tensor *t);

/* Formats ---------------------------------------------------------------- */

typedef struct tsr_format_info {
    const char *name, *doc;
    bool        reads, writes, many;  /* many: more than one tensor to a file */
    const char *endings;  /* of names, in lower case, with spaces between: ".tsv .tab" */
} tsr_format_info;

/* Format 0, 1, ...; NULL past the last. */
TSR_API const tsr_format_info *tsr_format_get_info(int index);

/* The format that the end of a path names, in any case; NULL if none does, or if path is NULL. */
TSR_API const tsr_format_info *tsr_format_of_path(const char *path);

TSR_END_C

#endif
