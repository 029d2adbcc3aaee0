/* nearest.h - which of many names was probably meant. */
#ifndef TSRI_NEAREST_H
#define TSRI_NEAREST_H

#include <stddef.h>

/* How many letters to insert, drop, change or swap with their neighbour make b of a; `most` if it is that
 * many or more, or if what differs is longer than 128 letters. */
int tsri_name_distance(const char *a, const char *b, int most);

#endif
