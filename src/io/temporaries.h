/* temporaries.h - the temporary files that have a name now, for handlers of signals that end the program. */
#ifndef TSRI_TEMPORARIES_H
#define TSRI_TEMPORARIES_H

/* Adds a path, which must stay valid until tsri_temporary_forget. Returns its slot.
 *
 * LIMIT: 256 at a time. If there are more, returns -1, and a signal leaves that file behind. */
int  tsri_temporary_add(const char *path);
void tsri_temporary_forget(int slot, const char *path);

#endif
