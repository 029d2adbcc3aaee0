/* shards.h - a set of safetensors files and their index, written as one.
 *
 * Each file has its own writer. Files are put in their places when all are complete, since their names
 * contain how many there are. */
#ifndef TSRI_SHARDS_H
#define TSRI_SHARDS_H

#include "io_int.h"

/* Begins the first file. The writer has its format and path. */
tsr_status tsri_shards_start(tsr_writer *w);

/* Which file a planned tensor goes to: the last one's while there is room in it. */
void tsri_shards_place(const tsr_writer *w, tsri_file_entry *p);

/* Writes a planned tensor to its file. */
tsr_status tsri_shards_add(tsr_writer *w, const tsri_file_entry *p, const tsr_tensor *t);

/* Completes all files, puts them in their places, and then the index. */
tsr_status tsri_shards_finish(tsr_writer *w);
void       tsri_shards_cancel(tsr_writer *w);

/* The path of file `part`, from 0, of `count`; part == count is the index. Its length, or what it would
 * be. */
size_t tsri_shard_path(char *out, size_t room, const char *path, int64_t part, int64_t count);

#endif
