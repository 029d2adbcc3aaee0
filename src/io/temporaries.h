/* temporaries.h - the temporary files that have a name now, for whoever ends the program by a signal. */
#ifndef TSRI_TEMPORARIES_H
#define TSRI_TEMPORARIES_H

/* The path must stay until it is forgotten.
 *
 * LIMIT: 256 at a time. Of more, -1 is returned, and those a signal leaves behind. */
int  tsri_temporary_add(const char *path);
void tsri_temporary_forget(int slot, const char *path);

#endif
