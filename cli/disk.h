/* disk.h - what commands do in the file system besides reading and writing tensors. */
#ifndef TSR_CLI_DISK_H
#define TSR_CLI_DISK_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera/tessera.h"

/* PATH_UNKNOWN: the system does not say, and errno tells why. */
typedef enum path_kind { PATH_NONE, PATH_FILE, PATH_FOLDER, PATH_OTHER, PATH_UNKNOWN } path_kind;

path_kind kind_of_path(const char *path);

/* May a result be written to this path? With `force` it may replace a file. False after a complaint. */
bool may_write_to(const char *command_name, const char *path, bool force);

/* A folder, unless there is one already. False with an errno. */
bool make_folder(const char *path);

/* Calls fn for every name in a folder, in no order. False with an errno; some were then left out. */
typedef void (*name_fn)(void *context, const char *name);
bool each_name_in(const char *path, name_fn fn, void *context);

/* Writes bytes as a file, which takes its place when it is whole. */
tsr_status write_whole_file(const char *path, const void *data, size_t bytes);

/* Numbers that tell a file from every other one; false if it is not there. */
typedef struct file_identity { unsigned long long device, number; } file_identity;
bool identify_file(file_identity *out, const char *path);

/* Signals that end the program first remove its temporary files; a limit on the size of files is an
 * error of writing. Called once, at the beginning. */
void clean_up_on_signals(void);

/* Sets a function that is called first when such a signal arrives, in its handler. NULL: none. */
void before_a_signal_ends(void (*fn)(void));

/* For tests, NULL otherwise: called before each system call here; returns the errno to fail with, or 0. */
extern int (*disk_fault)(void);

#endif
