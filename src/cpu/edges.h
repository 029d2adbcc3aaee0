/* edges.h - sizes at which kernels change what they do, for tests.
 *
 * A file whose kernels change at sizes that are not powers of two lists them beside its constants:
 *
 *     const int64_t tsri_edges_copy[] = { MIN_LIST, MAX_LIST, 0 };
 *
 * and has a row in edges.def. Powers of two, the tiles of products and fields of tuning.h need no list. */
#ifndef TSRI_CPU_EDGES_H
#define TSRI_CPU_EDGES_H

#include <stdint.h>

#define X(name) extern const int64_t tsri_edges_##name[]; /* ends with 0 */
#include "edges.def"
#undef X

/* Each once, for the kernels of this machine; returns how many there are, `most` at most. */
int tsri_cpu_edges(int64_t *edges, int most);

#endif
